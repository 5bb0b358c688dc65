//! What the packages and the pages on installing say: it is read here and tried.

use wikijs_gate::config::{SETTINGS, SettingKind};

use super::sources::sources;
use crate::http::hosted::{initialize, speaking};
use crate::prelude::*;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

const UNIT: &str = "packaging/wikijs-gate.service";
const UNITS_SETTINGS: &str = "packaging/config.toml";

fn is_setting(name: &str) -> bool {
    SETTINGS.iter().any(|setting| setting.name == name)
}

/// All pages on installing.
fn pages() -> Vec<(String, String)> {
    let dir = root().join("docs/install");
    let entries = fs::read_dir(dir).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let page = |path: PathBuf| {
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
        let ours = |server: &Value| {
            let command = server["command"].as_str();
            command.is_some_and(|command| command != "npx")
        };
        for server in servers(&page).into_iter().filter(ours) {
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
                server["command"]
                    .as_str()
                    .unwrap()
                    .ends_with("/wikijs-gate"),
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
    let others = [
        "docs/operations.md",
        "docs/http.md",
        "docs/sizing.md",
        "docs/upgrading.md",
        "Dockerfile",
        UNIT,
        UNITS_SETTINGS,
        "packaging/variables.json",
        "packaging/mcpb/manifest.json",
    ];
    for path in others {
        texts.push((path.to_owned(), read(path)));
    }
    for (name, text) in texts {
        let words = text.split(|c: char| !(c.is_ascii_uppercase() || c == '_'));
        for word in words.filter(|word| word.starts_with("WIKI_")) {
            // What names the settings file, and what the pages call the variables of clients.
            let is_other = word == "WIKI_CONFIG" || word.starts_with("WIKI_MCP_");
            assert!(is_setting(word) || is_other, "{name}: {word}");
        }
    }
}

#[test]
fn what_a_source_includes_from_elsewhere_is_in_a_crates_package() {
    let packed = read("Cargo.toml") + &read("src/Cargo.toml");
    let mut found = 0;
    for (source, text) in sources() {
        for rest in text.split("include_").skip(1) {
            let included = rest.split_once("!(").map(|(_, rest)| rest.trim_start());
            let included = included.and_then(|rest| rest.strip_prefix("\"../"));
            let Some((file, _)) = included.and_then(|rest| rest.split_once('"')) else {
                continue;
            };
            let file = file.trim_start_matches("../");
            if !root().join(file).is_file() {
                continue;
            }
            found += 1;
            let mut above = Path::new(file).ancestors();
            let is_packed = above.any(|path| packed.contains(&format!("\"/{}\"", path.display())));
            assert!(
                is_packed,
                "{source} includes {file}, which no package holds"
            );
        }
    }
    assert!(found >= 7, "{found}");
}

/// A template of `packaging/` as JSON; `variables.json` stands where the registry's entry names it.
fn template(path: &str) -> Value {
    let variables = read("packaging/variables.json");
    let text = read(path).replace("\"@VARIABLES@\"", &variables);
    serde_json::from_str(&text).unwrap()
}

#[test]
fn all_packages_are_one_servers() {
    let entry = template("packaging/server.json");
    let name = entry["name"].as_str().unwrap();
    let label = format!("LABEL io.modelcontextprotocol.server.name=\"{name}\"");
    assert!(read("Dockerfile").lines().any(|line| line == label));
    assert_eq!(template("packaging/npm/package.json")["mcpName"], name);
    let metadata = read("packaging/pypi/METADATA");
    assert!(metadata.contains(&format!("<!-- mcp-name: {name} -->")));
    let owned = name.strip_prefix("io.github.").unwrap();
    let address = format!("https://github.com/{owned}");
    assert_eq!(entry["repository"]["url"], *address);
    assert_eq!(env!("CARGO_PKG_REPOSITORY"), address);
    let packages = entry["packages"].as_array().unwrap();
    let named = |kind: &str| {
        let package = packages.iter().find(|one| one["registryType"] == kind);
        package.unwrap()["identifier"].as_str().unwrap()
    };
    assert_eq!(named("oci"), format!("ghcr.io/{owned}:@VERSION@"));
    assert_eq!(named("npm"), template("packaging/npm/package.json")["name"]);
    assert!(metadata.contains(&format!("\nName: {}\n", named("pypi"))));
    assert!(named("mcpb").starts_with(&format!("{address}/releases/download/v@VERSION@/")));
    assert_eq!(packages.len(), 4);
}

#[test]
fn the_version_of_every_package_is_that_of_cargo_toml() {
    let paths = "packaging/server.json packaging/mcpb/manifest.json packaging/npm/package.json \
        packaging/npm/platform.json";
    for path in paths.split(' ') {
        assert_eq!(template(path)["version"], "@VERSION@", "{path}");
        assert!(!read(path).contains(env!("CARGO_PKG_VERSION")), "{path}");
    }
    for package in template("packaging/server.json")["packages"]
        .as_array()
        .unwrap()
    {
        assert_eq!(
            *package.get("version").unwrap_or(&"@VERSION@".into()),
            "@VERSION@"
        );
    }
    let main = template("packaging/npm/package.json");
    let platform = template("packaging/npm/platform.json");
    let platform = platform["name"].as_str().unwrap();
    assert_eq!(main["optionalDependencies"][platform], "@VERSION@");
    assert!(read("packaging/pypi/METADATA").contains("\nVersion: @VERSION@\n"));
}

#[test]
fn the_registrys_entry_names_settings_and_marks_secrets() {
    let entry = template("packaging/server.json");
    assert!(entry["description"].as_str().unwrap().len() <= 100);
    let manifest = template("packaging/mcpb/manifest.json");
    assert_eq!(manifest["description"], entry["description"]);
    for variable in template("packaging/variables.json").as_array().unwrap() {
        let name = variable["name"].as_str().unwrap();
        let setting = SETTINGS
            .iter()
            .find(|setting| setting.name == name)
            .unwrap();
        let is_secret = setting.flag().is_none();
        assert_eq!(
            variable["isSecret"].as_bool().unwrap_or_default(),
            is_secret,
            "{name}"
        );
        assert_eq!(
            variable["isRequired"].as_bool().unwrap_or_default(),
            setting.default == "required" || is_secret,
            "{name}"
        );
        if let SettingKind::Choice(words) = setting.kind {
            assert_eq!(variable["choices"], json!(words), "{name}");
        }
    }
}

/// The commands that a text shows: what follows the program's name in a line of code, or in a span
/// of code that begins with it.
fn commands(text: &str) -> Vec<String> {
    const NAME: &str = "wikijs-gate ";
    let (mut commands, mut is_code) = (Vec::new(), false);
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code || (line.starts_with('#') && !line.contains('`')) {
            let named = line.rsplit_once(NAME);
            // Not where it is the name of a user or group.
            let named =
                named.filter(|(before, _)| !before.ends_with(" -g ") && !before.ends_with(" -o "));
            commands.extend(named.map(|(_, rest)| rest.to_owned()));
        }
        let spans = line.split('`').skip(1).step_by(2);
        commands.extend(
            spans
                .filter_map(|span| span.strip_prefix(NAME))
                .map(str::to_owned),
        );
    }
    commands.retain(|command| command.starts_with(|c: char| c.is_ascii_lowercase()));
    commands
}

#[test]
fn commands_and_flags_that_pages_name_are_the_programs() {
    let reference = wikijs_gate::cli::reference();
    let sections: BTreeMap<&str, &str> = reference
        .split("\n## wikijs-gate ")
        .skip(1)
        .map(|section| section.split_once('\n').unwrap())
        .collect();
    let settings = reference.split("\n## Flags of settings").nth(1).unwrap();
    let mut texts = pages();
    let others = [
        "assets",
        "audit",
        "comments",
        "custom-tools",
        "delegation",
        "doctor",
        "files",
        "http",
        "memory",
        "operations",
        "operators",
        "packages",
        "reading",
        "review",
        "rules",
        "settings",
        "sites",
        "sizing",
        "upgrading",
        "writes",
    ];
    let others = others.map(|name| format!("docs/{name}.md"));
    let more = [
        "README.md",
        "SECURITY.md",
        "Dockerfile",
        UNIT,
        UNITS_SETTINGS,
    ];
    for path in others.iter().map(String::as_str).chain(more) {
        texts.push((path.to_owned(), read(path)));
    }
    let mut checked = 0;
    for (name, text) in texts {
        for command in commands(&text) {
            let words: Vec<&str> = command.split_whitespace().collect();
            // Prose in comments goes on after the name.
            let is_prose = ["is", "and", "over", "serves", "as"].contains(&words[0]);
            if is_prose {
                continue;
            }
            let deepest = [2, 1].into_iter().find_map(|depth| {
                let path = words.get(..depth)?.join(" ");
                sections.get(&*path).copied()
            });
            let Some(section) = deepest else {
                panic!("{name}: there is no command `{command}`");
            };
            for flag in words.iter().take_while(|word| **word != "--") {
                let flag = flag.trim_end_matches([',', '.', ';', ')', '"']);
                let flag = flag.split('=').next().unwrap();
                let is_flag = flag.starts_with("--") && flag.len() > 2;
                let is_there = |section: &str| {
                    let mut words = section.split([' ', '\n', ',', '[', ']', '`']);
                    words.any(|word| word == flag)
                };
                assert!(
                    !is_flag || is_there(section) || is_there(settings),
                    "{name}: `{command}` has no {flag}"
                );
            }
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked}");
}

/// Where a page's form for HTTP has the address and the header, and what stands for the token.
fn http_form(client: &str, page: &str) -> (String, String) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    if client == "codex" {
        let block = page.split("```toml\n[mcp_servers.wiki]\n").nth(2).unwrap();
        let value = |name: &str| {
            let mut lines = block.lines();
            let line = lines.find_map(|line| line.strip_prefix(&format!("{name} = ")));
            line.unwrap().trim_matches('"').to_owned()
        };
        return (
            value("url"),
            format!("Bearer ${}", value("bearer_token_env_var")),
        );
    }
    let key = if client == "vs-code" {
        "servers"
    } else {
        "mcpServers"
    };
    let blocks = page.split("```json\n").skip(1);
    let server = blocks
        .map(|block| -> Value { serde_json::from_str(block.split("```").next().unwrap()).unwrap() })
        .map(|json| json[key]["wiki"].clone())
        .find(|server| {
            server
                .get("env")
                .is_none_or(|env| env.get("WIKI_BASE_URL").is_none())
        })
        .unwrap();
    match client {
        "claude-desktop" => {
            let arguments = vec_of(server["args"].as_array().unwrap().iter().map(text));
            let at = arguments
                .iter()
                .position(|word| word == "--header")
                .unwrap();
            let (header, variable) = arguments[at + 1].split_once(':').unwrap();
            assert_eq!(header, "Authorization");
            let variable = variable.strip_prefix("${").unwrap();
            let variable = variable.strip_suffix('}').unwrap();
            (arguments[at - 1].clone(), text(&server["env"][variable]))
        }
        // What this client calls `url` is an older protocol.
        "gemini-cli" => (
            text(&server["httpUrl"]),
            text(&server["headers"]["Authorization"]),
        ),
        _ => {
            let is_typed = ["claude-code", "vs-code"].contains(&client);
            assert_eq!(
                server.get("type").is_some_and(|kind| kind == "http"),
                is_typed
            );
            (
                text(&server["url"]),
                text(&server["headers"]["Authorization"]),
            )
        }
    }
}

#[tokio::test]
async fn each_client_has_a_form_for_http_that_a_server_answers() {
    let wiki = sample_wiki().await;
    let names = Names::new();
    let with_token = names.client("ci");
    let setup = Setup::readonly(&wiki).with("WIKI_SERVE_ALLOWED_HOSTS", "mcp.example.com");
    let server = setup.naming(&names).host().await;
    let stands_for = [
        "${WIKI_MCP_TOKEN}",
        "${env:WIKI_MCP_TOKEN}",
        "$WIKI_MCP_TOKEN",
        "${input:wiki-token}",
        "wjs_…",
    ];
    let clients = "claude-code claude-desktop codex cursor gemini-cli vs-code";
    for client in clients.split(' ') {
        let page = read(&format!("docs/install/{client}.md"));
        assert!(page.contains("\n## A server over HTTP\n"), "{client}");
        let (url, header) = http_form(client, &page);
        let (host, path) = url
            .strip_prefix("https://")
            .unwrap()
            .split_once('/')
            .unwrap();
        let sent = header.strip_prefix("Bearer ").unwrap();
        assert!(stands_for.contains(&sent), "{client}: {header}");
        let caller = with_token.clone().with("host", host);
        let message = initialize("2025-11-25").to_string();
        let answer = server
            .send("POST", &format!("/{path}"), &speaking(&caller), &message)
            .await;
        assert_eq!(answer.status, 200, "{client}: {answer:?}");
    }
}

#[test]
fn base_images_are_of_one_version_each() {
    let file = read("Dockerfile");
    let mut bases = 0;
    for line in file.lines().filter_map(|line| line.strip_prefix("FROM ")) {
        let image = line.split(' ').next().unwrap();
        if image == "scratch" {
            continue;
        }
        let (_, tag) = image.split_once(':').unwrap();
        let version = tag.split('-').next().unwrap();
        let parts: Vec<Result<u32, _>> = version.split('.').map(str::parse).collect();
        assert_eq!(parts.len(), 3, "{image}");
        assert!(parts.iter().all(Result::is_ok), "{image}");
        bases += 1;
    }
    assert_eq!(bases, 1);
}

/// Runs a command with these settings.
fn with(arguments: &[&str], settings: &[(&str, &str)]) -> Ended {
    let set = |command: Command, (name, value): &(&str, &str)| command.with(name, value);
    settings.iter().fold(Command::new(arguments), set).run()
}

#[test]
fn the_image_serves_http_as_documented_and_its_health_check_sees_it() {
    let (file, page) = (read("Dockerfile"), read("docs/install/as-a-service.md"));
    let dir = TempDir::new().unwrap();
    let state = dir.path().to_str().unwrap();
    // What the image sets, and what the page's line adds.
    let set = file
        .split("ENV ")
        .nth(1)
        .unwrap()
        .split("VOLUME")
        .next()
        .unwrap();
    let mut variables: BTreeMap<String, String> = set
        .split_whitespace()
        .filter_map(|word| word.split_once('='))
        .map(|(name, value)| {
            (
                name.to_owned(),
                value.replace("/var/lib/wikijs-gate", state),
            )
        })
        .collect();
    assert!(variables.len() > 2);
    let run = page
        .split("docker run -d ")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let words: Vec<&str> = run.split_whitespace().collect();
    for pair in words.windows(2).filter(|pair| pair[0] == "-e") {
        let (name, value) = pair[1].split_once('=').unwrap_or((pair[1], "a.b.c"));
        variables.insert(name.to_owned(), value.to_owned());
    }
    assert!(words.contains(&"127.0.0.1:8765:8765"));
    // The first lines of the file say the same.
    let commented = file.lines().filter_map(|line| line.strip_prefix('#'));
    let commented: String = commented.collect();
    let commented: Vec<&str> = commented.split_whitespace().collect();
    assert!(
        commented.windows(words.len()).any(|window| window == words),
        "{words:?}"
    );
    let check = file.split("HEALTHCHECK").nth(1).unwrap();
    let check = check.split("CMD ").nth(1).unwrap().lines().next().unwrap();
    let check: Vec<String> = serde_json::from_str(check).unwrap();
    assert_eq!(check[0], "/usr/local/bin/wikijs-gate");
    let address = variables.remove("WIKI_SERVE_ADDRESS").unwrap();
    let pairs: Vec<(&str, &str)> = variables
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    // The same with its port, which the system chooses.
    let at = |port: u16| {
        let address = address.replace(":8765", &format!(":{port}"));
        assert!(address.ends_with(&format!(":{port}")), "{address}");
        address
    };
    let arguments: Vec<&str> = check[1..].iter().map(String::as_str).collect();
    let ask = |address: &str| {
        let address = ("WIKI_SERVE_ADDRESS", address);
        with(&arguments, &[&pairs[..], &[address]].concat())
    };
    // Without a client it does not begin: it listens at every address.
    let named = with(&["token", "new", "ci"], &pairs);
    assert_eq!(named.code, 0, "{}", named.told);
    let any_port = at(0);
    let serving = [&pairs[..], &[("WIKI_SERVE_ADDRESS", &any_port)]].concat();
    let (server, port) = Program::listening(&["serve"], &serving);
    let ended = ask(&at(port));
    assert_eq!(ended.code, 0, "{}", ended.told);
    assert_eq!(&*ended.stdout, "{\"alive\":true}\n", "{}", ended.told);
    server.kill();
    let ended = ask(&at(port));
    assert_eq!(ended.code, 1, "{}", ended.told);
    assert!(
        ended.stderr.contains("no connection could be opened"),
        "{}",
        ended.told
    );
    // One that serves over stdio has nothing to be asked.
    assert_eq!(with(&arguments, &pairs).code, 0);
}

#[test]
fn health_asks_whether_calls_can_be_served_too() {
    let dir = TempDir::new().unwrap();
    let audit = dir.path().join("audit");
    let variables = [
        ("WIKI_BASE_URL", "http://127.0.0.1:9"),
        ("WIKI_API_TOKEN", "a.b.c"),
        ("WIKI_AUDIT_DIR", audit.to_str().unwrap()),
    ];
    let (server, port) = Program::listening(&["serve", "--http", "127.0.0.1:0"], &variables);
    let address = format!("127.0.0.1:{port}");
    let asked = ["health", "--http", &address];
    assert_eq!(Command::new(&asked).run().code, 0);
    let ended = Command::new(&[&asked[..], &["--ready"]].concat()).run();
    assert_eq!(ended.code, 1, "{}", ended.told);
    says(&ended.stderr, "/readyz answers 503: {");
    assert!(ended.stderr.contains("wiki"), "{}", ended.told);
    server.kill();
}

/// The unit's lines of a name, without it.
fn lines_of_unit(unit: &str, name: &str) -> Vec<String> {
    let lines = unit.lines().filter_map(|line| line.strip_prefix(name));
    lines.map(str::to_owned).collect()
}

#[test]
fn the_unit_starts_with_its_settings_file_and_with_every_example_in_it() {
    let unit = read(UNIT);
    // All that the unit says of settings is where the file is.
    let expected = ["WIKI_CONFIG=/etc/wikijs-gate/config.toml"];
    assert_eq!(lines_of_unit(&unit, "Environment="), expected);
    let starts = lines_of_unit(&unit, "ExecStart=");
    assert_eq!(starts, ["/usr/bin/wikijs-gate serve"]);
    let settings = read(UNITS_SETTINGS);
    let is_example = |line: &str| {
        let rest = line.strip_prefix('#');
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '['))
    };
    let examples = settings.lines().filter(|line| is_example(line)).count();
    assert!(examples > 10, "{examples}");
    let uncommented: Vec<&str> = settings
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(example) if is_example(line) => example,
            _ => line,
        })
        .collect();
    for settings in [settings.clone(), uncommented.join("\n")] {
        let dir = TempDir::new().unwrap();
        let state = dir.path().to_str().unwrap();
        let settings = settings
            .replace("/var/lib/wikijs-gate", state)
            .replace("/etc/wikijs-gate", state)
            .replace("127.0.0.1:8765", "127.0.0.1:0");
        fs::write(dir.path().join("key"), "a.b.c").unwrap();
        let file = dir.path().join("config.toml");
        fs::write(&file, settings).unwrap();
        let variables = [("WIKI_CONFIG", file.to_str().unwrap())];
        let checked = with(&["config", "check"], &variables);
        assert_eq!(checked.code, 0, "{}", checked.told);
        assert_eq!(&*checked.stderr, "", "{}", checked.told);
        // Named clients are made beside the service, with its settings alone.
        if settings_name(&file, "serve_tokens_file") {
            let made = with(&["token", "new", "ci"], &variables);
            assert_eq!(made.code, 0, "{}", made.told);
        }
        let (server, _) = Program::listening(&["serve"], &variables);
        server.kill();
    }
}

/// Whether a settings file sets this.
fn settings_name(file: &Path, name: &str) -> bool {
    let text = fs::read_to_string(file).unwrap();
    text.lines()
        .any(|line| line.starts_with(&format!("{name} = ")))
}
