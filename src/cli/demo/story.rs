//! The story: what an agent does, what the gates answer, what is recorded.

use tokio_util::sync::CancellationToken;

use super::client::Client;
use super::{CommandResult, Embedded, Exit, Signals};
use crate::audit::{Against, AuditError, AuditLog, Record};
use crate::cli::prelude::*;

const PAGE: &str = "releases/2-4";
const OLD: &str = "takes about a minute";
const NEW: &str = "takes about two minutes";

/// Tells the story. Each step checks its result; the first unexpected one ends the story with an
/// error.
pub(super) async fn tell() -> CommandResult {
    // An interrupted demo removes what it made too.
    let stop = CancellationToken::new();
    let signals = Signals::listen(stop.clone()).map_err(Exit::failed)?;
    let embedded = Embedded::start().await.map_err(Exit::failed)?;
    let told = tokio::task::spawn_blocking(move || {
        let mut story = Story {
            embedded: &embedded,
            step: 0,
            stop,
        };
        story.tell()
    });
    let told = told.await;
    if let Some(exit) = signals.exit() {
        return Ok(exit);
    }
    match told {
        Ok(Ok(())) => Ok(Exit::Done),
        Ok(Err(error)) => Err(Exit::failed(format!(
            "the demo did not go as told: {error}"
        ))),
        Err(_) => Err(Exit::failed("the demo broke off")),
    }
}

struct Story<'a> {
    embedded: &'a Embedded,
    step: u32,
    stop: CancellationToken,
}

impl Story<'_> {
    fn tell(&mut self) -> Result<(), String> {
        print::line("An embedded Wiki.js, a real server, and a client that speaks MCP to it.");
        let mut reader = Client::start(&self.settings(&[("WIKI_MUTATIONS_ENABLED", "false")]))?;
        let page = self.find_and_read(&mut reader)?;
        self.refused_while_off(&mut reader, &page)?;
        reader.end()?;

        let prefixes = ("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "releases");
        let mut writer = Client::start(&self.settings(&[prefixes]))?;
        let token = self.previewed(&mut writer, &page)?;
        self.refused_outside(&mut writer)?;
        self.confirmed(&mut writer, &page, &token)?;
        self.nothing_else_changed(&mut writer, &page)?;
        writer.end()?;

        self.on_record()?;
        let undo = ("WIKI_TOOLSETS", "pages,undo");
        let mut writer = Client::start(&self.settings(&[prefixes, undo]))?;
        self.deleted_and_taken_back(&mut writer, &page)?;
        writer.end()?;
        print::line(
            "\nThat was all of it; nothing is left behind. Next: point WIKI_BASE_URL and\nWIKI_API_TOKEN at your own wiki. Writes stay off until you switch them on.",
        );
        Ok(())
    }

    fn settings(&self, changed: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
        let mut variables = self.embedded.variables();
        for (name, value) in changed {
            variables.retain(|(variable, _)| variable != name);
            variables.push((name, (*value).to_owned()));
        }
        variables.push(("WIKI_LOG", "error".to_owned()));
        variables
    }

    fn find_and_read(&mut self, client: &mut Client) -> Result<Value, String> {
        self.step("An agent looks for a page")?;
        let found = answer(client.call("wikijs_search_pages", &json!({ "query": "release" }))?)?;
        let hit = found
            .pointer("/hits/0")
            .filter(|hit| hit.get("path") == Some(&json!(PAGE)))
            .ok_or("the search did not find the page")?;
        show(&format!(
            "wikijs_search_pages \"release\" -> {} ({PAGE}), id {}",
            text(hit, "title"),
            number(hit, "id")
        ));
        self.step("It reads the page, with everything that an update could lose")?;
        let page = answer(client.call("wikijs_get_page_by_id", &json!({ "id": hit.get("id") }))?)?;
        show(&format!(
            "tags {}, published {} from {} to {}, {} bytes of styles, {} bytes of script",
            page.get("tags").unwrap_or(&Value::Null),
            page.get("isPublished").unwrap_or(&Value::Bool(true)),
            text(&page, "publishStartDate"),
            text(&page, "publishEndDate"),
            text(&page, "scriptCss").len(),
            text(&page, "scriptJs").len(),
        ));
        if !text(&page, "content").contains(OLD) {
            return Err("the page is not the one that the story is about".to_owned());
        }
        Ok(page)
    }

    fn refused_while_off(&mut self, client: &mut Client, page: &Value) -> Result<(), String> {
        self.step("It tries to change the page, but writing is off by default")?;
        let refused = client.call("wikijs_update_page", &changed(page))?;
        refusal(&refused, "MUTATIONS_DISABLED")
    }

    fn previewed(&mut self, client: &mut Client, page: &Value) -> Result<String, String> {
        self.step("The operator allows writes below releases/, each confirmed; the call answers with a preview")?;
        let preview = answer(client.call("wikijs_update_page", &changed(page))?)?;
        if preview.get("preview") != Some(&json!(true)) {
            return Err("the preview is no preview".to_owned());
        }
        for line in text(&preview, "diff").lines() {
            let paint = match line.as_bytes().first() {
                Some(b'+') => Paint::Green,
                Some(b'-') => Paint::Red,
                _ => Paint::Dim,
            };
            show(&print::painted(line, paint));
        }
        let token = text(&preview, "confirm");
        let shown: String = token.chars().take(8).collect();
        show(&format!(
            "confirm token {shown}..., good for this change, once, until {}",
            text(&preview, "confirmExpiresAt")
        ));
        Ok(token.to_owned())
    }

    fn refused_outside(&mut self, client: &mut Client) -> Result<(), String> {
        self.step("It tries to delete a page outside of what is allowed")?;
        let page = answer(client.call(
            "wikijs_get_page_by_path",
            &json!({ "path": "runbooks/disk-full" }),
        )?)?;
        let refused = client.call("wikijs_delete_page", &json!({ "id": page.get("id") }))?;
        refusal(&refused, "PATH_NOT_ALLOWED")
    }

    fn confirmed(&mut self, client: &mut Client, page: &Value, token: &str) -> Result<(), String> {
        self.step("The change is confirmed with the preview's token, sent once, and read back")?;
        let arguments = json!({ "id": page.get("id"), "confirm": token });
        let applied = answer(client.call("wikijs_update_page", &arguments)?)?;
        if applied.get("outcome") != Some(&json!("applied"))
            || applied.get("changed") != Some(&json!(["content"]))
        {
            return Err(format!("the write was not applied as previewed: {applied}"));
        }
        let told = format!(
            "applied: changed {}, +{} -{} lines, call {}",
            applied.get("changed").unwrap_or(&Value::Null),
            number(&applied, "linesAdded"),
            number(&applied, "linesRemoved"),
            text(&applied, "callId"),
        );
        show(&print::painted(&told, Paint::Green));
        Ok(())
    }

    fn nothing_else_changed(&mut self, client: &mut Client, before: &Value) -> Result<(), String> {
        self.step("Nothing else changed: a plain Wiki.js update would have wiped tags, dates, styles and script")?;
        let after =
            answer(client.call("wikijs_get_page_by_id", &json!({ "id": before.get("id") }))?)?;
        let differing = differing(before, &after);
        if differing != ["content", "updatedAt"] {
            return Err(format!("these fields changed: {differing:?}"));
        }
        show("compared field by field with the page as it was: only content and updatedAt differ");
        Ok(())
    }

    fn deleted_and_taken_back(&mut self, client: &mut Client, page: &Value) -> Result<(), String> {
        self.step(
            "The page is deleted; Wiki.js forgets it with its history, the audit log does not",
        )?;
        let id = json!({ "id": page.get("id") });
        let before = answer(client.call("wikijs_get_page_by_id", &id)?)?;
        let deleted = confirmed(client, "wikijs_delete_page", id.clone())?;
        let told = format!("deleted, call {}", text(&deleted, "callId"));
        show(&print::painted(&told, Paint::Red));
        if client.call("wikijs_get_page_by_id", &id)?.is_ok() {
            return Err("the page is still there".to_owned());
        }
        self.step("The deletion is taken back")?;
        let call = json!({ "callId": deleted.get("callId") });
        let undone = confirmed(client, "wikijs_undo_write", call)?;
        let target = undone.get("target").unwrap_or(&Value::Null);
        let after =
            answer(client.call("wikijs_get_page_by_id", &json!({ "id": target.get("id") }))?)?;
        let differing = differing(&before, &after);
        if differing != ["createdAt", "id", "updatedAt"] {
            return Err(format!("these fields came back otherwise: {differing:?}"));
        }
        let told = format!(
            "the page is back as id {}, with its tags, dates, styles and script; only its history is gone",
            number(target, "id")
        );
        show(&print::painted(&told, Paint::Green));
        Ok(())
    }

    fn on_record(&mut self) -> Result<(), String> {
        self.step("What the audit log says: every refusal, the preview, the attempt before it was sent, its outcome")?;
        let settings = self.embedded.settings();
        let settings = settings.map_err(|error| error.message)?;
        let log = AuditLog::new(settings.store, &settings.wiki.name);
        let unread = |error: AuditError| error.to_string();
        let checked = log.upkeep.verify(&Against::default(), |_, _| {});
        let checked = checked.map_err(unread)?;
        if let Some(finding) = checked.wrong.first() {
            return Err(finding.to_string());
        }
        let (mut events, _) = log.runs.tail(usize::MAX).map_err(unread)?;
        events.retain(|record| record.tool.is_some());
        for record in &events {
            show(&record_line(record));
        }
        let names: Vec<&str> = events.iter().map(|record| record.event.as_str()).collect();
        if names != ["refusal", "preview", "refusal", "attempt", "outcome"] {
            return Err(format!("the log says {names:?}"));
        }
        let told = format!("{} runs, both chains verified", checked.runs.len());
        show(&print::painted(&told, Paint::Dim));
        Ok(())
    }

    /// Begins a step, unless somebody wants the demo to end.
    fn step(&mut self, title: &str) -> Result<(), String> {
        if self.stop.is_cancelled() {
            return Err("it was told to end".to_owned());
        }
        self.step += 1;
        let title = format!("\n{}. {title}", self.step);
        print::line(&print::painted(&title, Paint::Bold));
        Ok(())
    }
}

fn show(line: &str) {
    say!("   {line}");
}

/// Shows that a call was refused as it had to be.
fn refusal(result: &Result<Value, Value>, code: &str) -> Result<(), String> {
    let Err(error) = result else {
        return Err(format!(
            "a write that had to be refused with {code} was not"
        ));
    };
    if error.get("code") != Some(&json!(code)) {
        return Err(format!(
            "refused with {} in place of {code}",
            text(error, "code")
        ));
    }
    let told = format!("refused: {code}. {}", text(error, "message"));
    show(&print::painted(&told, Paint::Red));
    let told = format!("hint: {}", text(error, "hint"));
    show(&print::painted(&told, Paint::Dim));
    Ok(())
}

fn changed(page: &Value) -> Value {
    json!({ "id": page.get("id"), "edits": [{ "oldText": OLD, "newText": NEW }] })
}

/// The names of the members in which two states of a page differ.
fn differing<'a>(before: &'a Value, after: &Value) -> Vec<&'a str> {
    let members = before.as_object().into_iter().flatten();
    let mut names: Vec<&str> = members
        .filter(|(name, value)| after.get(*name) != Some(*value))
        .map(|(name, _)| name.as_str())
        .collect();
    names.sort_unstable();
    names
}

/// Previews a write and confirms it.
fn confirmed(client: &mut Client, tool: &str, mut arguments: Value) -> Result<Value, String> {
    let preview = answer(client.call(tool, &arguments)?)?;
    if let (Some(arguments), Some(token)) = (arguments.as_object_mut(), preview.get("confirm")) {
        arguments.insert("confirm".to_owned(), token.clone());
    }
    let applied = answer(client.call(tool, &arguments)?)?;
    if applied.get("outcome") == Some(&json!("applied")) {
        Ok(applied)
    } else {
        Err(format!("the write was not applied: {applied}"))
    }
}

fn answer(result: Result<Value, Value>) -> Result<Value, String> {
    result.map_err(|error| format!("{}: {}", text(&error, "code"), text(&error, "message")))
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn number(value: &Value, name: &str) -> i64 {
    value.get(name).and_then(Value::as_i64).unwrap_or_default()
}

/// A record in one line for a person.
fn record_line(record: &Record) -> String {
    let operation = record
        .operation
        .map_or("", crate::change::Operation::as_str);
    let path = record.path.as_ref().map_or("", |path| path.as_str());
    let end = record
        .outcome
        .map(|outcome| outcome.as_str().to_owned())
        .or_else(|| record.code.clone())
        .unwrap_or_default();
    format!(
        "{:<8} {operation:<7} {path:<19} {end}",
        record.event.as_str()
    )
    .trim_end()
    .to_owned()
}
