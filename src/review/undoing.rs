//! Takes back what a set applied, or what a call made of it that did not finish, as every undo does: shown on
//! a page of its own first.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use maud::{Markup, html};

use super::deciding::{carry_out, decided, let_go};
use super::decision::{self, ReviewDecision, ReviewedSet};
use super::fields;
use super::markup::{self, Frame, counted, text};
use super::queue::verb;
use super::reply::{BrowserResponse, BrowserResult, page, see_other, trouble};
use super::set_view::After;
use super::visitor::{Reviews, SentForm, Visitor, busy, no_set};
use crate::audit::{CallId, Outcome, ProposalId, ProposalState};
use crate::change::Warning;
use crate::view::ChangeView;
use crate::write::Preview;

/// The member of the form that carries the token.
const TOKEN: &str = "undoes";
/// The member that carries what was shown.
const SHOWN: &str = "shown";

/// Finds the way on from a decided set; `None` for one that waits.
///
/// # Errors
/// That the queue or the record cannot be read.
pub(super) async fn after(
    reviews: &Reviews,
    visitor: &Visitor,
    seen: &ReviewedSet,
) -> Result<Option<After>, BrowserResponse> {
    let proposal = &seen.review.proposal;
    let mut after = After::default();
    match &proposal.state {
        ProposalState::Open => return Ok(None),
        ProposalState::Applied { applied_by, .. } => {
            let past = visitor.reviewer.bench.desk.past();
            // It may be purged: then nothing can take it back.
            if let Ok(story) = past.story(&(*applied_by).into(), None).await {
                after.undone_by = story.undone_by;
                let can_undo =
                    story.outcome == Some(Outcome::Applied) && visitor.reviewer.may_apply;
                after.left_to_others =
                    decision::own_family(&visitor.reviewer, proposal).filter(|_| can_undo);
                after.may_undo = can_undo && after.left_to_others.is_none();
            }
        }
        ProposalState::Rejected { .. }
        | ProposalState::Replaced { .. }
        | ProposalState::Withdrawn { .. } => {}
    }
    if visitor.reviewer.may_decide {
        let queue = reviews.queue_of(visitor).await?;
        after.next = queue.next_after(proposal).cloned();
    }
    Ok(Some(after))
}

/// `GET /review/sets/{id}/undo`: shows what would be taken back, and asks.
pub(super) async fn ask(
    State(reviews): State<Arc<Reviews>>,
    Path(id): Path<String>,
    visitor: Visitor,
) -> BrowserResult {
    let seen = reviews.found(&visitor, &id).await?;
    shown(&reviews, &visitor, &seen, StatusCode::OK, None).await
}

/// `POST /review/sets/{id}/undo`
pub(super) async fn undo(
    State(reviews): State<Arc<Reviews>>,
    Path(id): Path<String>,
    SentForm { visitor, form }: SentForm,
) -> BrowserResult {
    let seen = reviews.found(&visitor, &id).await?;
    let call = to_take_back(&visitor, &seen)?;
    let digest = form.text(SHOWN).to_owned();
    let words = words(seen.review.proposal.id, call, &digest);
    let status = StatusCode::CONFLICT;
    if !visitor.session.is_token_for(&words, form.text(TOKEN)) {
        let wrong = "Look at what would be taken back, then decide.";
        return shown(&reviews, &visitor, &seen, status, Some(wrong)).await;
    }
    let decision = ReviewDecision::Undo { call, digest };
    let proposal = let_go(seen);
    let Some(failure) = carry_out(&reviews, &visitor, &proposal, decision).await? else {
        return Ok(see_other(&decided(&visitor, proposal.id)));
    };
    let seen = reviews.found(&visitor, &id).await?;
    shown(&reviews, &visitor, &seen, status, Some(&failure)).await
}

/// The call that applied a set, or the last one that made some of it, if this visitor may take it back:
/// to take it back is a decision on it.
fn to_take_back(visitor: &Visitor, seen: &ReviewedSet) -> Result<CallId, BrowserResponse> {
    let (reviewer, proposal) = (&visitor.reviewer, &seen.review.proposal);
    let made_by = match proposal.state {
        ProposalState::Applied { applied_by, .. } => Some(applied_by),
        _ => seen.review.begun_by.first().copied(),
    };
    let Some(made_by) = made_by.filter(|_| reviewer.may_apply) else {
        return Err(no_set());
    };
    match decision::own_family(reviewer, proposal) {
        None => Ok(made_by),
        Some(why) => {
            let status = StatusCode::FORBIDDEN;
            Err(trouble(status, "You do not take it back", why, ""))
        }
    }
}

/// All that the token of the form is bound to.
fn words(id: ProposalId, call: CallId, digest: &str) -> [String; 4] {
    [
        "undo".to_owned(),
        id.to_string(),
        call.to_string(),
        digest.to_owned(),
    ]
}

/// The page that shows what would be taken back.
async fn shown(
    reviews: &Reviews,
    visitor: &Visitor,
    seen: &ReviewedSet,
    status: StatusCode,
    wrong: Option<&str>,
) -> BrowserResult {
    let call = to_take_back(visitor, seen)?;
    let reviewer = &visitor.reviewer;
    let mut shown = None;
    let looks = |preview: &Preview| {
        shown = Some(UndoPreview::new(preview));
        false
    };
    let plan = decision::undo_of(call);
    let writer = &reviewer.bench.writer;
    let looked = Box::pin(writer.confirmed(&reviewer.caller, plan, looks)).await;
    let id = seen.review.proposal.id;
    let frame = reviews.frame(visitor).await;
    Ok(match (looked, shown) {
        (Ok(_), Some(preview)) => {
            let token = visitor.session.token_for(&words(id, call, &preview.digest));
            let form_token = &visitor.session.form_token;
            let hidden = [
                ("form_token", &**form_token),
                (SHOWN, &preview.digest),
                (TOKEN, &token),
            ];
            page(status, asking(id, &preview, &hidden, wrong, &frame))
        }
        (Ok(_), None) => {
            let what = "The pages are as they were before it.";
            let trouble = markup::trouble("There is nothing to undo", &frame, what, "");
            page(status, trouble)
        }
        (Err(failure), _) => {
            if let Some(busy) = busy(&failure) {
                return Err(busy);
            }
            let what = text(&failure.to_string());
            let trouble = markup::trouble("It cannot be undone", &frame, &what, "");
            page(StatusCode::CONFLICT, trouble)
        }
    })
}

/// The changes that an undo makes, as its page shows them.
struct UndoPreview {
    digest: String,
    count: usize,
    deletes: bool,
    changes: Markup,
}

impl UndoPreview {
    fn new(shown: &Preview) -> Self {
        let changes = html! {
            (warnings(&shown.notes.warnings))
            @for one in &shown.changes { (change(one)) }
        };
        Self {
            digest: decision::digest_of(shown),
            count: shown.changes.len(),
            deletes: shown.changes.iter().any(|one| one.operation.deletes()),
            changes,
        }
    }
}

fn warnings(all: &[Warning]) -> Markup {
    html! { @for warning in all { p.warning { (text(&warning.to_string())) } } }
}

fn asking(
    id: ProposalId,
    preview: &UndoPreview,
    hidden: &[(&str, &str)],
    wrong: Option<&str>,
    frame: &Frame,
) -> Markup {
    let set = frame.links().set(id);
    let action = frame.links().set(format_args!("{id}/undo"));
    let body = html! {
        main #main.set {
            h1 { "Take back " (counted(preview.count, "change", "changes")) "?" }
            @if let Some(wrong) = wrong { p.news.bad role="alert" { (text(wrong)) } }
            h2.said { "Changes" }
            (preview.changes)
            form.asking method="post" action=(action) data-once="" {
                @for (name, value) in hidden { input type="hidden" name=(name) value=(value); }
                a.button href=(set) autofocus { "Back: leave it as it is" }
                " "
                button #undo.danger[preview.deletes] type="submit" { "Take back" }
            }
        }
    };
    markup::page("Undo", frame, &body)
}

fn change(one: &ChangeView) -> Markup {
    let (target, (values, texts)) = (&one.target, fields::split(&one.values));
    html! {
        section.change {
            div.bar {
                h3 {
                    (verb(one.operation)) " "
                    span.path { (text(&target.locale)) "/" (text(&target.path)) }
                }
                a.wiki href=(target.url) rel="noopener noreferrer" target="_blank" { "in the wiki" }
            }
            (warnings(&one.warnings))
            @if !values.is_empty() { (fields::table(values.iter().copied())) }
            (fields::differences(&texts, &one.diff))
        }
    }
}
