//! The recorded answers of a real Wiki.js, replayed against the demo wiki.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;

use crate::prelude::*;
use crate::wiki::wiki_client::{Reply, Sent};

/// One line of a contract file.
struct Line {
    place: String,
    json: Value,
}

impl Line {
    fn text(&self, member: &str) -> Option<&str> {
        self.json.get(member).and_then(Value::as_str)
    }
}

fn files() -> Vec<PathBuf> {
    let folder = fs::read_dir(root().join("tests/contract")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "jsonl"));
    files.sort();
    files
}

fn lines(file: &Path) -> Vec<Line> {
    let text = fs::read_to_string(file).unwrap();
    let name = file.file_name().unwrap().to_string_lossy();
    let read = |(index, line): (usize, &str)| {
        let json: Value = serde_json::from_str(line).unwrap();
        let step = json["step"].as_str().unwrap_or_default();
        Line {
            place: format!("{name}:{} ({step})", index + 1),
            json,
        }
    };
    text.lines().enumerate().map(read).collect()
}

#[tokio::test]
async fn the_demo_wiki_answers_as_the_recorded_one_did() {
    let files = files();
    assert!(files.len() >= 6, "contract files are missing: {files:?}");
    let mut faults = Vec::new();
    for file in &files {
        replay(file, &mut faults).await;
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Replays one file on a wiki of its own.
async fn replay(file: &Path, faults: &mut Vec<String>) {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let mut saved: BTreeMap<String, Value> = BTreeMap::new();
    let client = WikiClient::new(&wiki, None);
    let mut made: BTreeMap<String, String> = BTreeMap::new();
    for line in lines(file) {
        wiki.set_api_disabled(line.text("state") == Some("api-disabled"));
        match line.text("state") {
            Some("comment-limit-over") => wiki.later_for_comments(Duration::from_secs(16)),
            Some("comment-delay-over") => wiki.later_for_comments(Duration::from_secs(31)),
            _ => {}
        }
        let keys = serde_json::to_value(wiki.keys()).unwrap();
        let caller = line.text("as").unwrap();
        let key = match caller {
            "guest" => None,
            "invalid" => Some("this-is-no-key"),
            _ => match keys.get(caller) {
                Some(key) => key.as_str(),
                None => Some(
                    made.entry(caller.to_owned())
                        .or_insert_with(|| key_of(&wiki, caller))
                        .as_str(),
                ),
            },
        };
        let reply = send(&client.with_key(key), &line.json, &saved).await;
        save(&line.json, &reply, &mut saved);
        if let Err(fault) = compare(&line.json, &reply, &saved) {
            faults.push(format!("{}: {fault}", line.place));
        }
    }
    wiki.shutdown().await;
}

/// A key for comments or assets: its rights beside those of every reader, and where they hold.
fn key_of(wiki: &DemoWiki, caller: &str) -> String {
    let (rights, prefix): (&[&str], &str) = match caller {
        "commentreader" => (&["read:comments"], ""),
        "commenter" => (&["read:comments", "write:comments"], ""),
        "moderator" => (&["read:comments", "write:comments", "manage:comments"], ""),
        "section" => (
            &[
                "read:comments",
                "write:comments",
                "manage:comments",
                "read:assets",
                "write:assets",
                "manage:assets",
            ],
            "docs",
        ),
        "sectionwriter" => (&["write:pages", "manage:pages", "delete:pages"], "docs"),
        "below" => (&["write:pages", "manage:pages"], "docs/"),
        "assetreader" => (&["read:assets"], ""),
        "uploader" => (&["read:assets", "write:assets"], ""),
        "librarian" => (&["read:assets", "write:assets", "manage:assets"], ""),
        _ => panic!("there is no key {caller}"),
    };
    let reader = ["read:pages", "read:source", "read:history"];
    wiki.key_with(&[&reader, rights].concat(), prefix)
}

async fn send(client: &WikiClient, line: &Value, saved: &BTreeMap<String, Value>) -> Reply {
    if let Some(query) = line.get("query") {
        let variables = insert(line.get("variables").unwrap_or(&Value::Null), saved);
        return client.post(query.as_str().unwrap(), &variables).await;
    }
    if let Some(upload) = line.get("upload") {
        let text = |member: &str| upload[member].as_str().unwrap_or_default();
        let data = match upload.get("base64") {
            Some(data) => STANDARD.decode(data.as_str().unwrap()).unwrap(),
            None => vec![b'x'; usize::try_from(upload["bytes"].as_u64().unwrap()).unwrap()],
        };
        let sent = Sent {
            field: text("field"),
            name: text("name"),
            mime: text("mime"),
            data,
        };
        let sent = upload["name"].is_string().then_some(sent);
        let folder = insert(&upload["folder"], saved).as_i64();
        return client.upload(folder, sent).await;
    }
    let method: Method = line["method"].as_str().unwrap().parse().unwrap();
    let body = match line.get("body") {
        None => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(repeated) => {
            let bytes = usize::try_from(repeated["bytes"].as_u64().unwrap()).unwrap();
            Some(repeated["repeat"].as_str().unwrap().repeat(bytes))
        }
    };
    client
        .send(method, line["path"].as_str().unwrap(), body)
        .await
}

/// Puts the saved values in the place of their names.
fn insert(value: &Value, saved: &BTreeMap<String, Value>) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix('$') {
            Some(name) => saved.get(name).unwrap_or(value).clone(),
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| insert(item, saved)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, item)| (name.clone(), insert(item, saved)))
            .collect(),
        other => other.clone(),
    }
}

fn save(line: &Value, reply: &Reply, saved: &mut BTreeMap<String, Value>) {
    let Some(names) = line.get("save").and_then(Value::as_object) else {
        return;
    };
    let answer = reply.json();
    for (name, path) in names {
        let pointer = format!("/{}", path.as_str().unwrap().replace('.', "/"));
        if let Some(value) = answer.pointer(&pointer) {
            saved.insert(name.clone(), value.clone());
        }
    }
}

fn compare(line: &Value, reply: &Reply, saved: &BTreeMap<String, Value>) -> Result<(), String> {
    if line["status"] != reply.status {
        return Err(format!(
            "status {} instead of {}: {}",
            reply.status, line["status"], reply.text
        ));
    }
    if line
        .get("compare")
        .is_some_and(|compare| compare == "status")
    {
        return Ok(());
    }
    if let Some(expected) = line.get("permissions") {
        return matches(expected, &permissions(&reply.text), saved, "permissions");
    }
    if let Some(element) = line.get("element").and_then(Value::as_str)
        && !reply.text.contains(element)
    {
        return Err(format!("no {element} in {}", reply.text));
    }
    if let Some(expected) = line.get("content_type") {
        let kind = |text: &str| text.split(';').next().map(|kind| kind.trim().to_owned());
        let (expected, found) = (
            expected.as_str().and_then(kind),
            reply.content_type.as_deref().and_then(kind),
        );
        if expected != found {
            return Err(format!("content type {found:?} instead of {expected:?}"));
        }
    }
    if let Some(expected) = line.get("base64").and_then(Value::as_str) {
        let same = STANDARD.decode(expected).unwrap() == reply.bytes;
        return if same {
            Ok(())
        } else {
            Err("other bytes".to_owned())
        };
    }
    if let Some(expected) = line.get("text") {
        return matches(expected, &Value::String(reply.text.clone()), saved, "text");
    }
    match line.get("response") {
        Some(expected) => matches(expected, &reply.json(), saved, ""),
        None => Ok(()),
    }
}

/// The rights that the view of a page, or its editor, tells its reader, decoded.
fn permissions(view: &str) -> Value {
    let mut element = ["<page ", "<editor "].iter();
    let element = element.find_map(|name| Some(view.split_once(name)?.1));
    let told = element.and_then(|element| element.split_once(" effective-permissions=\""));
    let Some((_, told)) = told else {
        return Value::Null;
    };
    let told = STANDARD.decode(told.split('"').next().unwrap()).unwrap();
    serde_json::from_slice(&told).unwrap()
}

/// Compares an expected value with one that came; names the first place where
/// they differ.
fn matches(
    expected: &Value,
    found: &Value,
    saved: &BTreeMap<String, Value>,
    at: &str,
) -> Result<(), String> {
    let fault = || Err(format!("at `{at}`: {found} instead of {expected}"));
    match (expected, found) {
        (Value::Object(wanted), Value::Object(members)) => {
            if wanted.len() != members.len() {
                return fault();
            }
            wanted.iter().try_for_each(|(name, value)| {
                let at = format!("{at}.{name}");
                match members.get(name) {
                    Some(found) => matches(value, found, saved, &at),
                    None => Err(format!("at `{at}`: nothing instead of {value}")),
                }
            })
        }
        // The database leaves the order of a listed page's tags open.
        (Value::Array(wanted), Value::Array(items))
            if at.contains(".list[") && at.rsplit('.').next() == Some("tags") =>
        {
            let sorted = |tags: &[Value]| {
                let mut tags: Vec<String> = tags.iter().map(Value::to_string).collect();
                tags.sort_unstable();
                tags
            };
            if sorted(wanted) == sorted(items) {
                Ok(())
            } else {
                fault()
            }
        }
        (Value::Array(wanted), Value::Array(items)) => {
            if wanted.len() != items.len() {
                return fault();
            }
            let mut pairs = wanted.iter().zip(items).enumerate();
            pairs.try_for_each(|(index, (value, found))| {
                matches(value, found, saved, &format!("{at}[{index}]"))
            })
        }
        (Value::String(text), _) if is_match(text, found, saved) => Ok(()),
        _ if expected == found => Ok(()),
        _ => fault(),
    }
}

fn is_match(expected: &str, found: &Value, saved: &BTreeMap<String, Value>) -> bool {
    if let Some(value) = expected.strip_prefix('$').and_then(|name| saved.get(name)) {
        // A search's hit has its id as text.
        return found == value || found.as_str() == Some(&value.to_string());
    }
    match (expected, found) {
        ("<id>", found) => found.as_i64().is_some_and(|id| id > 0),
        ("<sql>", Value::String(text)) => text.len() > 60,
        (_, Value::String(text)) => is_text(expected, text),
        _ => false,
    }
}

/// Compares texts in which `<time>` stands for any time.
fn is_text(expected: &str, found: &str) -> bool {
    let mut rest = found;
    for (index, part) in expected.split("<time>").enumerate() {
        if index > 0 {
            let Some((time, after)) = rest.split_at_checked("2000-01-01T00:00:00.000Z".len())
            else {
                return false;
            };
            if !is_time(time) {
                return false;
            }
            rest = after;
        }
        let Some(after) = rest.strip_prefix(part) else {
            return false;
        };
        rest = after;
    }
    rest.is_empty()
}

fn is_time(text: &str) -> bool {
    let form = "0000-00-00T00:00:00.000Z";
    text.len() == form.len()
        && text
            .chars()
            .zip(form.chars())
            .all(|(found, form)| match form {
                '0' => found.is_ascii_digit(),
                _ => found == form,
            })
}

/// The wiki computes its answers: none of the recorded queries may be in it.
#[test]
fn no_recorded_query_is_in_the_demo_wiki_s_source() {
    const WINDOW: usize = 60;
    let sources = files_below(&root().join("src/demo"));
    assert!(!sources.is_empty());
    let lines = vec_of(files().iter().flat_map(|file| lines(file)));
    let queries = lines
        .iter()
        .filter_map(|line| line.text("query").or(line.text("body")));
    let windows: BTreeSet<&[u8]> = queries.flat_map(|q| q.as_bytes().windows(WINDOW)).collect();
    assert!(!windows.is_empty());
    for path in &sources {
        let source = fs::read_to_string(path).unwrap();
        for window in source.as_bytes().windows(WINDOW) {
            let text = String::from_utf8_lossy(window);
            assert!(!windows.contains(window), "{}: {text}", path.display());
        }
    }
}
