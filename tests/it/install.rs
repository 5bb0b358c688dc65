//! What the packages and the pages on installing say: it is read here and tried.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use wikijs_mcp::config::SETTINGS;

use crate::process::Program;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn is_setting(name: &str) -> bool {
    SETTINGS.iter().any(|setting| setting.name == name)
}

/// All pages on installing.
fn pages() -> Vec<(String, String)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/install");
    let entries = fs::read_dir(dir).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let page = |path: std::path::PathBuf| {
        (
            path.display().to_string(),
            fs::read_to_string(path).unwrap(),
        )
    };
    paths.map(page).collect()
}

/// The servers that the JSON of a page configures.
fn servers(page: &str) -> Vec<Value> {
    let blocks = page.split("```json\n").skip(1);
    let mut servers = Vec::new();
    for block in blocks {
        let json: Value = serde_json::from_str(block.split("```").next().unwrap()).unwrap();
        let all = json.get("mcpServers").or(json.get("servers")).unwrap();
        servers.extend(all.as_object().unwrap().values().cloned());
    }
    servers
}

#[test]
fn a_server_starts_with_the_configuration_of_each_page() {
    let mut started = 0;
    for (name, page) in pages() {
        for server in servers(&page) {
            let dir = TempDir::new().unwrap();
            let (key, home) = (dir.path().join("key"), dir.path().to_str().unwrap());
            fs::write(&key, "a.b.c").unwrap();
            let mut variables: BTreeMap<&str, &str> = BTreeMap::from([("HOME", home)]);
            for (variable, value) in server["env"].as_object().unwrap() {
                assert!(is_setting(variable), "{name}: {variable}");
                variables.insert(variable, value.as_str().unwrap());
            }
            // What the pages have in the place of a file and of a key.
            if let Some(file) = variables.get_mut("WIKI_API_TOKEN_FILE") {
                *file = key.to_str().unwrap();
            }
            if let Some(text) = variables.get_mut("WIKI_API_TOKEN") {
                *text = "a.b.c";
            }
            let variables: Vec<(&str, &str)> = variables.into_iter().collect();
            let arguments: Vec<&str> = server["args"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|argument| argument.as_str().unwrap())
                .collect();
            assert!(
                server["command"].as_str().unwrap().ends_with("/wikijs-mcp"),
                "{name}"
            );
            Program::serve(&arguments, &variables).kill();
            started += 1;
        }
    }
    assert!(started > 5);
}

#[test]
fn pages_and_packages_name_no_setting_that_there_is_not() {
    let mut texts = pages();
    for path in ["Dockerfile", "packaging/wikijs-mcp.service", "server.json"] {
        texts.push((path.to_owned(), read(path)));
    }
    for (name, text) in texts {
        let words = text.split(|c: char| !(c.is_ascii_uppercase() || c == '_'));
        for word in words.filter(|word| word.starts_with("WIKI_")) {
            // Those of serving over HTTP are not all known to this version's table.
            assert!(
                is_setting(word) || word.starts_with("WIKI_SERVE_"),
                "{name}: {word}"
            );
        }
    }
}

#[test]
fn the_registrys_entry_and_the_image_are_one_owners() {
    let entry: Value = serde_json::from_str(&read("server.json")).unwrap();
    let name = entry["name"].as_str().unwrap();
    let label = format!("LABEL io.modelcontextprotocol.server.name=\"{name}\"");
    assert!(read("Dockerfile").lines().any(|line| line == label));
    let owned = name.strip_prefix("io.github.").unwrap();
    let image = entry["packages"][0]["identifier"].as_str().unwrap();
    assert!(image.starts_with(&format!("ghcr.io/{owned}:")), "{image}");
}

#[test]
fn the_registrys_entry_is_of_this_version() {
    let entry: Value = serde_json::from_str(&read("server.json")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(entry["version"], version);
    let image = entry["packages"][0]["identifier"].as_str().unwrap();
    assert!(image.ends_with(&format!(":{version}")), "{image}");
    assert!(entry["description"].as_str().unwrap().len() <= 100);
    for variable in entry["packages"][0]["environmentVariables"]
        .as_array()
        .unwrap()
    {
        let is_secret = variable["name"].as_str().unwrap().ends_with("TOKEN");
        assert_eq!(
            variable["isSecret"].as_bool().unwrap_or_default(),
            is_secret
        );
    }
}
