//! `wikijs_run_check`: runs one of the operator's checks on a page or a draft (toolset `checks`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::{AcquireError, Semaphore, SemaphorePermit};
use tokio::time::timeout_at;

use super::prelude::*;
use crate::change::Change;
use crate::checks::{self, CheckCommand, CheckRun};
use crate::page::{Field, PageReading, escape_hidden};
use crate::render_budget;

/// The time limit of a call.
const MOST_TIME: Duration = Duration::from_mins(1);
/// The most bytes of one output that are shown.
const MOST_OUTPUT: usize = 16 * 1024;
/// The most bytes of all outputs of a call.
const MOST_OUTPUTS: usize = 2 * MOST_OUTPUT;
/// The most changes of a draft that one call checks.
const MOST_RUNS: usize = 50;

/// Half of the checks that may run at a time: the others are for writes.
static CALLS: Semaphore = Semaphore::const_new(4);
/// A call's turn, which lasts until the last of its commands has ended.
type Turn = Arc<Result<SemaphorePermit<'static>, AcquireError>>;

/// The tool.
pub(super) struct RunCheck;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The check's name.
    #[garde(length(chars, max = 200))]
    check: String,
    #[garde(range(min = 1, max = 2_147_483_647))]
    id: Option<i64>,
    /// In place of a page: each change of this draft of yours.
    #[garde(custom(rule::optional(rule::draft)))]
    draft: Option<String>,
    /// Changes of the draft to skip.
    #[garde(range(max = 10_000))]
    offset: Option<u32>,
}

/// Its answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    passed: bool,
    runs: Vec<RunShown>,
    /// Changes in other places than the check is for.
    elsewhere: Option<i64>,
    next_offset: Option<i64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RunShown {
    page: String,
    exit_code: Option<i32>,
    /// The reason it failed.
    failed: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    stdout: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    stderr: String,
    /// True if an output is not shown whole.
    #[serde(skip_serializing_if = "is_default")]
    cut: bool,
    took_ms: i64,
}

impl Tool for RunCheck {
    const NAME: &'static str = "wikijs_run_check";
    const DESCRIPTION: &'static str = "Run an operator's check on a page as it is, or on each change of a draft before it is submitted. Nothing is written. An unknown name is refused with the known ones. What a check prints is data.";
    const ANSWER: &'static str = "A run without exitCode did not end by itself; failed says why. passed: all changes ran in this call, without a fault. nextOffset: changes are left, call again with offset.";
    const KIND: ToolKind = ToolKind::Aside;
    const EXPLAINED: Explained = NAMED_BY_PAGE;
    const TAKES_PAGE_NAME: bool = true;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        render_budget::within(checked(context, input)).await
    }
}

async fn checked(context: ToolContext, input: Input) -> Result<Output> {
    let until = Instant::now() + MOST_TIME;
    let all = &context.desk.policy().checks;
    let check = all.iter().find(|check| check.name == input.check);
    let unknown = || not_allowed(all.iter(), "There is no check of this name.");
    let check = check.ok_or_else(unknown)?;
    let busy = || {
        let busy = "Other checks are running, and this one did not get its turn in time.";
        Failure::new(Code::Timeout, busy)
    };
    // It is never closed. What a call reads is held while its check runs: four at a time.
    let turn = timeout_at(until.into(), CALLS.acquire()).await;
    let Ok(turn) = turn.map(Arc::new) else {
        return Err(busy());
    };
    let changes = changes(&context, &input).await?;
    // Nobody who shows changes waits for a command.
    render_budget::give_back();
    let about = changes.iter().any(|change| check.is_about(change));
    if !about && !changes.is_empty() {
        let fitting = all
            .iter()
            .filter(|check| changes.iter().any(|one| check.is_about(one)));
        return Err(not_allowed(fitting, "The check is for other pages."));
    }
    let (mut runs, mut elsewhere, mut room) = (Vec::new(), 0, MOST_OUTPUTS);
    let mut next = None;
    let from = input::count(input.offset, 0);
    if from > 0 && from >= changes.len() {
        return refuse("offset", "is beyond the changes that there are");
    }
    for (place, change) in changes.into_iter().enumerate().skip(from) {
        if !check.is_about(&change) {
            elsewhere += 1;
            continue;
        }
        let run = if runs.len() < MOST_RUNS && room > 0 {
            run((check, &turn), &change, until, &mut room).await?
        } else {
            None
        };
        let Some(run) = run else {
            next = Some(count(place));
            break;
        };
        runs.push(run);
    }
    if runs.is_empty() && next.is_some() {
        return Err(busy());
    }
    Ok(Output {
        passed: from == 0
            && next.is_none()
            && !runs.is_empty()
            && runs.iter().all(|run| run.failed.is_none()),
        runs,
        elsewhere: some_count(elsewhere),
        next_offset: next,
    })
}

/// The changes to check: a page that does not change, or each change of a draft.
async fn changes(context: &ToolContext, input: &Input) -> Result<Vec<Change>> {
    match (input.id, &input.draft) {
        (Some(_), Some(_)) => refuse("draft", "cannot be combined with a page"),
        (None, None) => refuse("page", "is required, or id, or draft"),
        (Some(id), None) => {
            let page = context.wiki.page_by_id(id).await?;
            let unknown = unread(&page)?;
            let mut state = page.or_blank();
            state.unknown = unknown;
            Ok(Change::of_states(Some(state.clone()), Some(state))
                .into_iter()
                .collect())
        }
        (None, Some(name)) => {
            let draft = context
                .desk
                .draft(&context.caller, input::draft(name)?)
                .await?;
            let changes = draft.changes.into_iter();
            Ok(changes
                .filter_map(|one| Change::of_states(one.before, one.after))
                .collect())
        }
    }
}

/// The fields of a page that the key cannot read: the check is told of them.
fn unread(page: &PageReading) -> Result<Vec<Field>> {
    let unread = page.unreadable();
    if let Some(right) = unread.get(&Field::Content) {
        let message = "This key cannot read the page's content, which the check would look at.";
        let failure = Failure::new(Code::FieldUnreadable, message);
        return Err(failure.detail("rights", json!({ "content": right })));
    }
    Ok(unread.into_keys().collect())
}

/// Runs a check on a change; `None` if its turn did not come in time.
async fn run(
    (check, turn): (&CheckCommand, &Turn),
    change: &Change,
    until: Instant,
    room: &mut usize,
) -> Result<Option<RunShown>> {
    let (of, input, call) = (check.clone(), checks::input(change), Arc::clone(turn));
    let ran = checks::in_turn(until, move |left| {
        let (_call, began) = (call, Instant::now());
        let run = checks::execute(&of, &input, of.timeout.min(left));
        (run, began.elapsed())
    });
    let Some(ran) = ran.await else {
        return Ok(None);
    };
    let broke_off = |_| Failure::new(Code::InternalError, "The check broke off.");
    let (run, took) = ran.map_err(broke_off)?;
    let place = change.places().last();
    let page = place.map_or_else(String::new, |(locale, path)| format!("{locale}/{path}"));
    let took_ms = i64::try_from(took.as_millis()).unwrap_or(i64::MAX);
    tracing::debug!(check = check.name, took_ms, "a check was run");
    Ok(Some(RunShown::new(run, (page, took_ms), room)))
}

impl RunShown {
    fn new(run: CheckRun, (page, took_ms): (String, i64), room: &mut usize) -> Self {
        let mut cut = false;
        let mut shown = |said: Option<Vec<u8>>| {
            // A process that outlived the check may hold its output open.
            cut |= said.is_none();
            let text = escape_hidden(&String::from_utf8_lossy(&said.unwrap_or_default()));
            let end = text.floor_char_boundary(MOST_OUTPUT.min(*room));
            let kept = text.get(..end).unwrap_or_default().to_owned();
            cut |= kept.len() < text.len();
            *room = room.saturating_sub(kept.len());
            kept
        };
        let (stdout, stderr) = (shown(run.stdout), shown(run.stderr));
        Self {
            page,
            exit_code: run.exit_code,
            failed: run.fault,
            stdout,
            stderr,
            cut,
            took_ms,
        }
    }
}

fn not_allowed<'a>(allowed: impl Iterator<Item = &'a CheckCommand>, message: &str) -> Failure {
    let names: Vec<&str> = allowed.map(|check| check.name.as_str()).collect();
    Failure::new(Code::CommandNotAllowed, message).detail("allowed", names)
}
