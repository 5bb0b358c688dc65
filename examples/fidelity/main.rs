//! Tries every way to change a page on a running Wiki.js, and prints what became of each field.
//!
//! ```text
//! WIKI_BASE_URL=https://wiki.example.com WIKI_API_TOKEN=… cargo run --example fidelity
//! WIKI_BASE_URL=https://wiki.example.com cargo run --example fidelity -- --keys keys.json
//! ```
//!
//! With `--keys`, a JSON object of names and keys, every key is tried, and what each may not do is
//! told in its rows; the key called `admin`, if there is one, looks what became of the fields and
//! removes what the others may not.
//!
//! Everything happens below one prefix, which must have no pages: two pages come to be there
//! and are changed, moved, deleted and created again. At the end the program removes what it
//! created, and names what it could not remove. It ends with 1 if a field was lost.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program for people"
)]
#![expect(clippy::indexing_slicing, reason = "JSON gives null where nothing is")]

mod matrix;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use matrix::{Fields, Row, Site, names};
use serde_json::{Value, json};
use tempfile::TempDir;
use wikijs_gate::audit::Client;
use wikijs_gate::config::{Settings, SettingsSource};
use wikijs_gate::gates::SessionId;
use wikijs_gate::page::{Field, PageReading};
use wikijs_gate::server::App;
use wikijs_gate::tools::ToolContext;
use wikijs_gate::write::{Asker, Caller, Extent, Timeouts};

/// Tries every way to change a page on a running Wiki.js
#[derive(Debug, Parser)]
struct Arguments {
    /// Where everything happens: a first segment without pages
    #[arg(long, default_value = "fidelity/")]
    prefix: String,
    /// A file with a JSON object: names of keys, and the keys
    #[arg(long)]
    keys: Option<PathBuf>,
}

/// A server in this very program, and the pages that it created.
struct Local {
    app: Arc<App>,
    caller: Caller,
    created: RefCell<Vec<i64>>,
    /// Who looks what became of the fields.
    eyes: Arc<App>,
}

impl Site for Local {
    async fn call(&self, tool: &'static str, arguments: Value) -> Result<Value, Value> {
        let context = ToolContext {
            wiki: Arc::clone(&self.app.wiki),
            writer: Arc::clone(&self.app.writer),
            desk: Arc::clone(&self.app.desk),
            index: Arc::clone(&self.app.index),
            mirror: None,
            caller: Caller {
                tool,
                ..self.caller.clone()
            },
            progress: tokio::sync::watch::Sender::default(),
        };
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let answer = match self.app.registry().call(tool, context, arguments) {
            Some(answer) => answer.await.map_err(|failure| json!(failure)),
            None => Err(json!({ "code": "no such tool" })),
        };
        if let Ok(answer) = &answer
            && answer["operation"] == "create"
            && answer["outcome"] == "applied"
        {
            self.created
                .borrow_mut()
                .extend(answer["target"]["id"].as_i64());
        }
        answer
    }

    async fn look(&self, id: i64) -> Fields {
        match self.eyes.wiki.page_by_id(id).await {
            Ok(page) => fields(&page),
            Err(_) => Fields::new(),
        }
    }
}

fn fields(page: &PageReading) -> Fields {
    let value = |field: Field| Some((field.name(), page.value(field)?));
    Field::ALL.into_iter().filter_map(value).collect()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match all_tried(&Arguments::parse()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("fidelity: {error}");
            ExitCode::from(2)
        }
    }
}

/// Tries every key; whether no field was lost and nothing was left behind.
async fn all_tried(arguments: &Arguments) -> Result<bool, String> {
    let prefix = arguments.prefix.trim_matches('/');
    if prefix.is_empty() || prefix.contains('/') {
        return Err("--prefix must be one segment, such as fidelity/".to_owned());
    }
    let audit = TempDir::new().map_err(|error| error.to_string())?;
    let Some(file) = &arguments.keys else {
        let site = site(prefix, &audit, None)?;
        return tried(prefix, &site, &[]).await;
    };
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let keys: BTreeMap<String, String> =
        serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let mut helpers = Vec::new();
    if let Some(key) = keys.get("admin") {
        helpers.push(site(prefix, &audit, Some(key))?);
    }
    let mut is_good = true;
    for (name, key) in &keys {
        println!("\n{name}");
        let mut site = site(prefix, &audit, Some(key))?;
        if let Some(helper) = helpers.first() {
            site.eyes = Arc::clone(&helper.app);
        }
        is_good &= tried(prefix, &site, &helpers).await?;
    }
    Ok(is_good)
}

/// Tries everything with one key; whether no field was lost and nothing was left behind.
async fn tried(prefix: &str, site: &Local, helpers: &[Local]) -> Result<bool, String> {
    let listed = site
        .call("wikijs_list_pages", json!({ "path": prefix }))
        .await;
    let listed = listed.map_err(|error| error.to_string())?;
    if listed["pages"]
        .as_array()
        .is_none_or(|pages| !pages.is_empty())
    {
        return Err(format!(
            "there are pages below {prefix}/ already; name another --prefix"
        ));
    }
    let (mut rows, id) = matrix::create(site, &format!("{prefix}/page")).await;
    site.created.borrow_mut().extend(id);
    // A key that may not write at all is refused, and that is all there is to see.
    let refusals = ["PERMISSION_DENIED", "NOT_APPLIED"];
    let is_refused = rows.iter().all(|row| refusals.contains(&&*row.answer)) && id.is_none();
    if let Some(id) = id {
        // What this key could not give the page it must keep all the same.
        if let Some(helper) = helpers
            .first()
            .filter(|_| rows.iter().any(|row| row.answer != "applied"))
        {
            matrix::dressed(helper, id)
                .await
                .map_err(|error| error.to_string())?;
        }
        rows.extend(matrix::run(site, id).await.0);
    }
    print(&rows);
    let mut left = removed(site, site).await;
    for helper in helpers {
        site.created.replace(left);
        left = removed(site, helper).await;
    }
    site.app.writer.finish().await;
    for id in &left {
        println!("Page {id} could not be removed; please remove it by hand.");
    }
    Ok(rows.iter().all(Row::is_good) && (id.is_some() || is_refused) && left.is_empty())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the two settings come from the environment, the others must not"
)]
fn site(prefix: &str, audit: &TempDir, key: Option<&String>) -> Result<Local, String> {
    let trash = format!("{prefix}/trash");
    let get = |name: &str| match name {
        "WIKI_API_TOKEN" if key.is_some() => key.map(Into::into),
        "WIKI_API_TOKEN_FILE" if key.is_some() => None,
        "WIKI_BASE_URL" | "WIKI_API_TOKEN" | "WIKI_API_TOKEN_FILE" => std::env::var_os(name),
        "WIKI_MUTATIONS_ENABLED" => Some("true".into()),
        "WIKI_MUTATION_DRY_RUN" => Some("false".into()),
        "WIKI_ALLOWED_MUTATION_PATH_PREFIXES" => Some(prefix.into()),
        "WIKI_TRASH_PREFIX" => Some(trash.clone().into()),
        "WIKI_TOOLSETS" => Some("pages,undo".into()),
        "WIKI_AUDIT_DIR" => Some(audit.path().into()),
        _ => None,
    };
    let settings = Settings::read(&SettingsSource::new(&get)).map_err(|error| error.to_string())?;
    let app = Arc::new(App::new(settings, Timeouts::default())?);
    Ok(Local {
        eyes: Arc::clone(&app),
        app,
        caller: Caller {
            tool: "",
            client: Client {
                name: "fidelity".to_owned(),
                ..Client::default()
            },
            actor: None,
            family: None,
            sites: None,
            note: None,
            task: None,
            asked: None,
            review: None,
            session: SessionId::new("fidelity"),
            asker: Asker::Nobody,
            narrowing: None,
            extent: Extent::Bounded,
            proposes: false,
        },
        created: RefCell::default(),
    })
}

/// Removes what was created and is still there, with the key of another; gives what is left.
async fn removed(site: &Local, by: &Local) -> Vec<i64> {
    let mut created = site.created.borrow().clone();
    created.sort_unstable();
    created.dedup();
    let mut left = Vec::new();
    for id in created {
        let is_gone = |answer: &Result<Value, Value>| match answer {
            Ok(_) => true,
            Err(error) => error["code"] == "PAGE_NOT_FOUND",
        };
        let answer = matrix::confirmed(by, "wikijs_delete_page", &json!({ "id": id })).await;
        if !is_gone(&answer) {
            left.push(id);
        }
    }
    left
}

fn print(rows: &[Row]) {
    println!(
        "= kept   * as asked for   ! not as asked for, and told   X lost   ? not readable with this key\n"
    );
    println!("{:<34}{:<18}{}", "way", "answer", names().join(" "));
    for row in rows {
        let marks: Vec<String> = names()
            .iter()
            .map(|name| {
                let mark = row
                    .fields
                    .get(name)
                    .map(ToString::to_string)
                    .unwrap_or_default();
                format!("{mark:^width$}", width = name.len())
            })
            .collect();
        println!("{:<34}{:<18}{}", row.way, row.answer, marks.join(" "));
    }
    let bad = rows.iter().filter(|row| !row.is_good()).count();
    println!("\n{} writes, {bad} of them lost a field.", rows.len());
}
