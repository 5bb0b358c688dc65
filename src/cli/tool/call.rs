//! `wikijs-gate tool call`: one call, and for a write its preview, the question and the write.

use std::path::Path;
use std::sync::Arc;

use serde_json::Map;
use tokio::sync::watch;

use super::{answer, read};
use crate::cli::prelude::*;
use crate::cli::words::{self, one_of};
use crate::cli::{left_to_people, pager};
use crate::server::site_of;
use crate::write::Extent;

/// Arguments of `tool call`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate tool call wikijs_search_pages --args '{\"query\": \"backup\"}'\n  wikijs-gate tool call wikijs_update_page --args @change.json\n  echo '{\"id\": 7}' | wikijs-gate tool call wikijs_get_page_by_id --args - --json"
)]
pub(in crate::cli) struct Arguments {
    /// The tool's name, with or without `wikijs_` before it
    #[arg(value_parser = one_of(words::tools, words::any), hide_possible_values = true)]
    pub(super) name: String,
    /// Its arguments: a JSON object, `@` and a file that holds one, or `-` for stdin
    #[arg(long, value_name = "JSON", default_value = "{}")]
    args: String,
    /// Why, in one line of at most 200 characters: the argument `note` of a write
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Confirm a previewed write without asking. This is nobody's decision: where the write policy or
    /// a rule wants a person's, the change is proposed (exit 3)
    #[arg(long)]
    yes: bool,
    /// Answer in JSON, as an agent gets it
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(
    app: &Arc<App>,
    tool: &'static str,
    arguments: &Arguments,
) -> CommandResult {
    let mut given = parse(&arguments.args)?;
    if let Some(note) = &arguments.note
        && given
            .insert("note".to_owned(), note.as_str().into())
            .is_some()
    {
        return Err(Exit::usage("the arguments have a note, too: say it once"));
    }
    let mut first = ask(app, tool, &given, arguments.json).await?;
    // A preview's token is of use to this process alone.
    let token = first.as_object_mut().and_then(|answer| {
        answer.shift_remove("confirmExpiresAt");
        answer.shift_remove("confirm")
    });
    // A program gets one answer to a write: the outcome.
    let is_passed_over = token.is_some() && arguments.yes && arguments.json;
    // If somebody can be asked, the preview is shown with the question.
    let asks = token.is_some() && !arguments.yes && !arguments.json && print::can_ask();
    if !is_passed_over && !asks {
        show(&first, arguments.json);
    }
    let Some(token) = token else {
        return unwritten(app, &given, &first, arguments.yes);
    };
    if asks {
        if !pager::agrees(&answer::write(&first), "Write it?") {
            return Err(Exit::refused("not written"));
        }
    } else if !arguments.yes {
        print::note("nothing was written: this is the preview; pass --yes to write it");
        return Ok(Exit::Done);
    }
    given.insert("confirm".to_owned(), token);
    let written = ask(app, tool, &given, arguments.json).await?;
    show(&written, arguments.json);
    unwritten(app, &given, &written, true)
}

/// The end of a call without a token: a read, a write with nothing to do, or one that became a
/// proposal, which is not a success if a person had said yes to it.
fn unwritten(
    app: &Arc<App>,
    given: &Map<String, Value>,
    answer: &Value,
    was_wanted: bool,
) -> CommandResult {
    let waits = answer.get("outcome").and_then(Value::as_str) == Some("waiting");
    if !waits && answer.get("preview") != Some(&Value::Bool(true)) {
        return Ok(Exit::Done);
    }
    if waits && given.get("propose") == Some(&Value::Bool(true)) {
        // It was to be proposed, and the answer says who decides.
        return Ok(Exit::Done);
    }
    let Some(id) = answer.get("proposal").and_then(Value::as_str) else {
        print::note("nothing was written: nothing would change");
        return Ok(Exit::Done);
    };
    let told = left_to_people::sentence(app, id);
    if was_wanted {
        return Err(Exit::refused(told));
    }
    print::note(&told);
    Ok(Exit::Done)
}

async fn ask(
    app: &Arc<App>,
    tool: &'static str,
    given: &Map<String, Value>,
    is_json: bool,
) -> Result<Value, CommandError> {
    let mut caller = start::operator_calling(tool);
    if is_json {
        // A program gets what an agent gets; a person says yes to no more than is seen.
        caller.extent = Extent::Bounded;
    }
    caller.sites = Some(site_of(app, &caller));
    let call = app.call(tool, caller, watch::Sender::default(), given.clone().into());
    let answer = print::in_progress(tool, call).await;
    let unknown = || Exit::usage(format!("there is no tool {tool}"));
    answer.ok_or_else(unknown)?.map_err(|failure| {
        answer::details(&failure, is_json);
        failure.into()
    })
}

fn show(answer: &Value, is_json: bool) {
    if is_json {
        print::value(answer);
    } else {
        answer::print(answer);
    }
}

/// The arguments of the call.
fn parse(given: &str) -> Result<Map<String, Value>, CommandError> {
    let text = match given.strip_prefix('@') {
        Some(file) => read(Some(Path::new(file)))?,
        None if given == "-" => read(None)?,
        None => given.to_owned(),
    };
    let wrong = |fault: String| Exit::usage(format!("the arguments {fault}"));
    match serde_json::from_str(&text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(wrong("must be a JSON object".to_owned())),
        Err(_) if text.trim().is_empty() => {
            let fault = if given == "-" {
                "nothing came on standard input"
            } else {
                "the arguments are empty"
            };
            Err(Exit::usage(format!(
                "{fault}; a JSON object is expected, `{{}}` for no arguments"
            )))
        }
        Err(error) => Err(wrong(format!(
            "are no JSON at line {}, column {}",
            error.line(),
            error.column()
        ))),
    }
}
