//! `wikijs-gate proposals show`

use time::OffsetDateTime;

use super::super::show_change;
use super::{Exit, named};
use crate::audit::{CallId, CallOutcome, Proposal, ProposalState};
use crate::cli::prelude::*;
use crate::write::{Review, ReviewWarning, Reviewed};

/// Arguments of `proposals show`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate proposals show 4f2a\n  wikijs-gate proposals show 4f2a --json"
)]
pub(in crate::cli) struct Arguments {
    /// The proposal's id, or four or more of its first characters
    id: String,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: Arguments) -> CommandResult {
    let app = start::app_for_operator()?;
    let shown = review(&app, arguments.id).await;
    app.writer.finish().await;
    let (review, warnings) = shown?;
    if arguments.json {
        return print::json(&as_json(&review, &warnings));
    }
    let expires = app.desk.proposals().expires(&review.proposal);
    let ending = ending(&app, &review).await;
    tell(&review, &warnings, expires, ending);
    Ok(Exit::Done)
}

/// The outcome of the call that applied it, and the calls that made some of it before; `None` if no call did, or
/// it is no longer on record.
async fn ending(app: &App, review: &Review) -> Option<(CallOutcome, Vec<CallId>)> {
    let ProposalState::Applied { applied_by, .. } = review.proposal.state else {
        return None;
    };
    let story = app.desk.past().story(&applied_by.into(), None).await;
    Some((story.ok()?.ending, review.begun_by.clone()))
}

async fn review(app: &App, id: String) -> Result<(Review, Vec<ReviewWarning>)> {
    match named(app, &[id]).await?.as_slice() {
        [id, ..] => Box::pin(app.desk.review(*id, |_| true)).await,
        [] => Err(super::no_such_proposal()),
    }
}

fn as_json(review: &Review, warnings: &[ReviewWarning]) -> Value {
    let mut changes = review.changes.iter().map(|one| {
        let one = &one.change;
        json!({ "url": one.target.url, "changes": one.values, "diff": one.diff })
    });
    let warned = warnings.iter().map(|one| warning_json(review, one));
    let mut proposal = json!(review.proposal);
    if let (Some(_), Value::Object(proposal)) = (&review.unseen, &mut proposal) {
        proposal.shift_remove("title");
        proposal.shift_remove("said");
    }
    let shown = extended(json!({ "proposal": proposal }), changes.next());
    let risks = json!({ "risks": review.risks(warnings), "warnings": warned.collect::<Value>() });
    let shown = extended(shown, risks);
    let is_list = review.proposal.is_list;
    let others = is_list.then(|| json!({ "others": changes.collect::<Value>() }));
    let shown = extended(shown, others);
    let begun_by = &review.begun_by;
    let begun_by = (!begun_by.is_empty()).then(|| json!({ "begunBy": begun_by }));
    let shown = extended(shown, begun_by);
    let unseen = { review.unseen.as_ref() }.map(|unseen| json!({ "notShown": unseen }));
    let shown = extended(shown, unseen);
    let hindrance = { review.hindrance.as_ref() }.map(|hindrance| json!({ "error": hindrance }));
    extended(shown, hindrance)
}

/// A warning for a program; of a set, with the numbers of its changes as they are listed, from 1.
fn warning_json(review: &Review, one: &ReviewWarning) -> Value {
    let told = json!(one.warning);
    if !review.proposal.is_list {
        return told;
    }
    let numbers: Value = one.changes.iter().map(|number| number + 1).collect();
    extended(told, json!({ "changes": numbers }))
}

/// The risks and the warnings, before what they are about.
fn tell_risks(review: &Review, warnings: &[ReviewWarning]) {
    let risks = super::risks(&review.risks(warnings));
    if !risks.is_empty() {
        print::line(&show_change::marked("risks:", &risks));
    }
    let told = warnings.iter().map(|one| {
        if review.proposal.is_list && !one.changes.is_empty() {
            let numbers = one.changes.iter().map(|number| number + 1);
            format!("{} [change {}]", one.warning, separated(numbers, ", "))
        } else {
            one.warning.to_string()
        }
    });
    print::lines(&show_change::warnings(&told.collect::<Vec<_>>()));
    if let Some(text) = review.warned_before(warnings) {
        print::line(&print::harmless(&text));
    }
}

/// Says how a proposal stands, and who ended it.
fn tell_state(
    state: &ProposalState,
    expires: Option<OffsetDateTime>,
    ending: Option<(CallOutcome, Vec<CallId>)>,
) {
    let told = match state {
        ProposalState::Open => match expires {
            Some(end) => format!("expires {}, at {}", from_now(end), minute(end)),
            None => return,
        },
        ProposalState::Applied {
            decided,
            applied_by,
            ..
        } => {
            let then = match ending {
                Some((CallOutcome::Unchanged, _)) => {
                    "; the page already was as proposed, and nothing was sent".to_owned()
                }
                Some((CallOutcome::Applied, before)) if before.is_empty() => {
                    format!("; `wikijs-gate undo {applied_by}` takes it back")
                }
                Some((CallOutcome::Applied, before)) => {
                    let before = separated(
                        before
                            .iter()
                            .map(|call| format!("`wikijs-gate undo {call}`")),
                        ", ",
                    );
                    format!(
                        "; `wikijs-gate undo {applied_by}` takes the last of it back, then {before} the rest"
                    )
                }
                _ => format!(", call {applied_by}"),
            };
            format!("applied {}{then}", decided.as_str())
        }
        ProposalState::Rejected { decided, reason } => {
            format!("rejected {}: {reason}", decided.as_str())
        }
        ProposalState::Replaced {
            decided,
            replaced_by,
        } => format!("replaced {} by {replaced_by}", decided.as_str()),
        ProposalState::Withdrawn {
            decided,
            withdrawn_by,
        } => format!("withdrawn {} by {withdrawn_by}", decided.as_str()),
    };
    print::line(&print::harmless(&told));
}

fn tell(
    review: &Review,
    warnings: &[ReviewWarning],
    expires: Option<OffsetDateTime>,
    ending: Option<(CallOutcome, Vec<CallId>)>,
) {
    let proposal = &review.proposal;
    let harmless = print::harmless;
    let named = print::painted("proposal", Paint::Bold);
    let what = if proposal.is_list {
        let changes = print::counted(proposal.changes().count(), "change", "changes");
        format!("a set of {changes}")
    } else {
        review.changes.first().map(of_change).unwrap_or_default()
    };
    say!("{named} {}: {what}", proposal.id);
    say!(
        "proposed {} by {}, call {}",
        harmless(proposal.created.as_str()),
        super::asker(proposal),
        proposal.call,
    );
    if let Some(words) = super::words_of(proposal) {
        say!("  {words}");
    }
    tell_state(&proposal.state, expires, ending);
    let is_applied = matches!(proposal.state, ProposalState::Applied { .. });
    for call in review.begun_by.iter().filter(|_| !is_applied) {
        let told = format!(
            "call {call} made some of it, or may have, and did not finish: `wikijs-gate undo {call}` takes that back"
        );
        print::line(&print::painted(&told, Paint::Yellow));
    }
    if let Some(unseen) = &review.unseen {
        print::line(&print::painted(
            &format!("not shown: {unseen}"),
            Paint::Yellow,
        ));
    }
    tell_risks(review, warnings);
    let left_out = proposal.state.left_out();
    for (number, one) in review.changes.iter().enumerate() {
        if proposal.is_list {
            let told = if left_out.contains(&number) {
                print::painted(", left out", Paint::Yellow)
            } else {
                String::new()
            };
            say!("{}. {}{told}", number + 1, of_change(one));
            if let Some(count) = one.change.links_mended {
                let links = print::counted(count, "link", "links");
                say!("{links} mended, nothing else");
            }
        }
        print::lines(&show_change::effect(&one.change));
    }
    links_left(proposal);
    if let Some(hindrance) = &review.hindrance {
        super::hindered(hindrance);
    }
}

/// The links to what moves that stay as they are.
fn links_left(proposal: &Proposal) {
    if proposal.links_left.is_empty() {
        return;
    }
    print::line("links that stay as they are:");
    for left in &proposal.links_left {
        let place = print::place(left.locale.as_str(), left.path.as_str());
        let line = left
            .line
            .map_or_else(String::new, |line| format!(", line {line}"));
        say!("- {place}{line}: {}", print::harmless(&left.why));
    }
    if proposal.links_left_not_kept > 0 {
        say!("and {} more", proposal.links_left_not_kept);
    }
}

fn of_change(one: &Reviewed) -> String {
    show_change::head(&one.change)
}
