//! Every read tool, view and form of reference against every kind of key: what is answered, what
//! is named as missing, what is refused and with which right. The table is in the docs.

use crate::prelude::*;

/// What an answer or an error comes to, in a cell.
fn cell(answered: &Result<Value, Value>) -> String {
    match answered {
        Ok(answer) => {
            let pages = answer["pages"].as_array().into_iter().flatten();
            let refused = pages.clone().find_map(|page| page.get("error"));
            if let Some(error) = refused {
                return refusal(error);
            }
            let missing = missing(answer);
            if missing.is_empty() {
                "all".to_owned()
            } else {
                format!("without {}", missing.join("; "))
            }
        }
        Err(error) => refusal(error),
    }
}

/// A refusal is explained: by the right that is missing, or because it is about the key.
fn refusal(error: &Value) -> String {
    let code = error["code"].as_str().unwrap();
    assert!(!error["hint"].as_str().unwrap().is_empty(), "{error}");
    if let Some(right) = error["details"]["right"].as_str() {
        format!("`{code}`: {right}")
    } else {
        assert_eq!(code, "KEY_REJECTED", "not explained: {error}");
        format!("`{code}`")
    }
}

/// What an answer says that it lacks, by the right that would give it.
fn missing(answer: &Value) -> Vec<String> {
    let pages = answer["pages"].as_array().into_iter().flatten();
    let mut by_right: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for page in pages.chain([answer]) {
        for (field, right) in page["unavailable"].as_object().into_iter().flatten() {
            let right = right.as_str().unwrap().to_owned();
            by_right.entry(right).or_default().insert(field.clone());
        }
    }
    let notes = answer["index"]["notes"].as_array().into_iter().flatten();
    for note in notes.filter_map(Value::as_str) {
        let (_, right) = note.split_once("(it needs ").unwrap();
        let (right, _) = right.split_once(')').unwrap();
        let fields = by_right.entry(right.to_owned()).or_default();
        fields.insert("content".to_owned());
    }
    by_right
        .into_iter()
        .map(|(right, fields)| {
            let fields: Vec<String> = fields.into_iter().collect();
            format!("{} ({right})", fields.join(", "))
        })
        .collect()
}

/// What is asked, by the name that the table has for it.
fn calls(id: i64, version: &Value, address: &str) -> Vec<(String, &'static str, Value)> {
    let mut calls = Vec::new();
    let mut add = |name: &str, tool: &'static str, arguments: Value| {
        calls.push((
            format!("{} {name}", tool.trim_start_matches("wikijs_")),
            tool,
            arguments,
        ));
    };
    for view in ["content", "outline", "metadata", "rendered", "text"] {
        let arguments = json!({ "id": id, "view": view });
        add(view, BY_ID, arguments);
    }
    let asked = json!({ "id": id, "section": "heading:h2[0]" });
    add("section", BY_ID, asked);
    let asked = json!({ "id": id, "lines": { "from": 1, "to": 3 } });
    add("lines", BY_ID, asked);
    add("several", BY_ID, json!({ "ids": [id, id] }));
    for (name, reference) in [
        ("path", "docs/configuration".to_owned()),
        ("/locale/path", "/en/docs/configuration".to_owned()),
        ("address", format!("{address}/en/docs/configuration")),
        ("[[path]]", "[[docs/configuration]]".to_owned()),
        ("[[Title\\|alias]]", "[[Configuration|how to]]".to_owned()),
        ("title", "conFIGURATION".to_owned()),
        ("last segment", "configuration".to_owned()),
    ] {
        add(name, BY_PATH, json!({ "path": reference }));
    }
    let section = json!({ "path": "[[Configuration#Changing a setting]]" });
    add("[[Title#Section]]", BY_PATH, section);
    for place in ["wiki", "content", "auto"] {
        let arguments = json!({ "query": "configuration", "in": place });
        add(place, SEARCH, arguments);
    }
    add("relatedTo", SEARCH, json!({ "relatedTo": id }));
    let arguments = json!({ "orderBy": "UPDATED", "direction": "DESC" });
    add("newest", LIST, arguments);
    add("linksTo", LIST, json!({ "linksTo": id }));
    add("depth 3", TREE, json!({ "depth": 3 }));
    add("entries", HISTORY, json!({ "id": id }));
    let compare = json!({ "from": version.to_string(), "to": "current" });
    add("compare", HISTORY, json!({ "id": id, "compare": compare }));
    add("all", TAGS, json!({}));
    calls
}

#[tokio::test]
async fn every_read_with_every_kind_of_key_is_answered_or_explained() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "docs/configuration");
    let keys = wiki.keys().clone();
    let columns = [
        ("manage:pages", keys.admin),
        ("write:pages, scripts, styles", keys.scripter),
        ("write:pages", keys.writer),
        ("read:source, read:history", keys.readonly),
        ("read:pages", keys.reader),
        ("no key of this wiki", "nonsense".to_owned()),
        ("revoked", keys.revoked),
    ];
    let mut table = format!(
        "| call | {} |\n|---|{}\n",
        columns.each_ref().map(|(name, _)| *name).join(" | "),
        "---|".repeat(columns.len())
    );
    let mut served: Vec<Served> = Vec::new();
    for (_, key) in &columns {
        served.push(Setup::at(&wiki.address(), key).indexed().serve().await);
    }
    let history = served[0].call(HISTORY, json!({ "id": id }));
    let history = history.await.unwrap();
    let oldest = history["entries"].as_array().unwrap().last().unwrap();
    let version = &oldest["versionId"];
    let mut rows: Vec<(Vec<String>, String)> = Vec::new();
    for (name, tool, arguments) in calls(id, version, &wiki.address()) {
        let mut cells = String::new();
        for served in &served {
            let mut answered = served.call(tool, arguments.clone()).await;
            // What is indexed grows from search to search.
            while matches!(&answered, Ok(answer) if answer["index"]["complete"] == false) {
                answered = served.call(tool, arguments.clone()).await;
            }
            write!(cells, " {} |", cell(&answered)).unwrap();
        }
        match rows.iter_mut().find(|(_, other)| *other == cells) {
            Some((names, _)) => names.push(name),
            None => rows.push((vec![name], cells)),
        }
    }
    for (names, cells) in rows {
        writeln!(table, "| {} |{cells}", names.join("<br>")).unwrap();
    }
    generated("docs/reference.md", "keys", &table, str::to_owned);
}
