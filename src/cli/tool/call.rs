//! `wikijs-mcp tool call`: one call, and for a write its preview, the question and the write.

use std::path::Path;

use serde_json::{Map, Value};
use tokio::sync::watch;

use super::{answer, read};
use crate::cli::exit::Exit;
use crate::cli::{Outcome, print, start};
use crate::server::App;

/// Arguments of `tool call`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-mcp tool call wikijs_search_pages --args '{\"query\": \"backup\"}'\n  wikijs-mcp tool call wikijs_update_page --args @change.json\n  echo '{\"id\": 7}' | wikijs-mcp tool call wikijs_get_page_by_id --args - --json"
)]
pub(super) struct Arguments {
    /// The tool's name, with or without `wikijs_` before it
    pub(super) name: String,
    /// Its arguments: a JSON object, `@` and a file that holds one, or `-` for stdin
    #[arg(long, value_name = "JSON", default_value = "{}")]
    args: String,
    /// Confirm a previewed write without asking
    #[arg(long)]
    yes: bool,
    /// Answer in JSON, as an agent gets it
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(app: &App, tool: &'static str, arguments: &Arguments) -> Outcome {
    let mut given = parse(&arguments.args)?;
    let mut first = ask(app, tool, &given, arguments.json).await?;
    // A preview's token is of use to this process alone.
    let token = first.as_object_mut().and_then(|answer| {
        answer.shift_remove("confirmExpiresAt");
        answer.shift_remove("confirm")
    });
    // A program that writes is given one answer: what came of it.
    let is_passed_over = token.is_some() && arguments.yes && arguments.json;
    if !is_passed_over {
        show(&first, arguments.json);
    }
    let Some(token) = token else {
        if first.get("dryRun") == Some(&Value::Bool(true)) {
            print::note(&not_written(&first));
        }
        return Ok(Exit::Done);
    };
    if !arguments.yes {
        if arguments.json || !print::can_ask() {
            print::note("nothing was written: this is the preview; pass --yes to write it");
            return Ok(Exit::Done);
        }
        if !print::ask("Write it?") {
            return Err((Exit::Refused, "not written".to_owned()));
        }
    }
    given.insert("confirm".to_owned(), token);
    let written = ask(app, tool, &given, arguments.json).await?;
    show(&written, arguments.json);
    Ok(Exit::Done)
}

/// Why a preview without a token is all there is, and how it is written.
fn not_written(preview: &Value) -> String {
    preview.get("proposal").and_then(Value::as_str).map_or_else(
        || "nothing was written: nothing would change".to_owned(),
        |id| {
            format!(
                "nothing was written: writes end as proposals here (WIKI_MUTATION_DRY_RUN, or \
                 WIKI_CONFIRM_FALLBACK=proposal); `wikijs-mcp proposals apply {id}` writes it"
            )
        },
    )
}

async fn ask(
    app: &App,
    tool: &'static str,
    given: &Map<String, Value>,
    is_json: bool,
) -> Result<Value, (Exit, String)> {
    let call = app.call(
        tool,
        start::operator(tool),
        watch::Sender::default(),
        given.clone(),
    );
    let answer = print::in_progress(tool, call).await;
    let unknown = || (Exit::Usage, format!("there is no tool {tool}"));
    answer.ok_or_else(unknown)?.map_err(|failure| {
        answer::details(&failure, is_json);
        print::failure(&failure, is_json)
    })
}

fn show(answer: &Value, is_json: bool) {
    if is_json {
        print::line(&answer.to_string());
    } else {
        answer::print(answer);
    }
}

/// The arguments of the call.
fn parse(text: &str) -> Result<Map<String, Value>, (Exit, String)> {
    let text = match text.strip_prefix('@') {
        Some(file) => read(Some(Path::new(file)))?,
        None if text == "-" => read(None)?,
        None => text.to_owned(),
    };
    let wrong = |fault: String| (Exit::Usage, format!("the arguments {fault}"));
    match serde_json::from_str(&text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(wrong("must be a JSON object".to_owned())),
        Err(error) => Err(wrong(format!(
            "are no JSON at line {}, column {}",
            error.line(),
            error.column()
        ))),
    }
}
