//! A person's decision, made the way of every write. It goes on though the browser hangs up.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::{JoinError, JoinHandle};

use super::auth::Reviewer;
use super::markup::{News, text};
use super::queue::place;
use super::session::short_digest;
use super::under_way::RunningSets;
use crate::audit::{CallId, MAX_WHY, Proposal, ProposalId};
use crate::error::{Code, Failure, Result};
use crate::view::{ChangeView, WriteTarget};
use crate::words::first_of;
use crate::write::{
    AppliedWrite, Apply, Preview, Review, ReviewWarning, SetAnswer, SetMember, SetOutcome,
    UndoRequest, WriteRequest,
};

/// The most pages that a sentence names.
const MOST_NAMED: usize = 5;
/// The greatest age of the list of pages by which the state of a set is shown.
const STATE_AGE: Duration = Duration::from_secs(30);

/// The decision of a person.
#[derive(Debug, Clone)]
pub(super) enum ReviewDecision {
    /// It is applied, as it was shown.
    Apply(Apply),
    /// It is rejected.
    Reject {
        /// The reason given.
        reason: String,
        /// True if what calls made of it that did not finish stays, as the person was shown.
        keeps_made: bool,
    },
    /// The changes that a call made of it are taken back.
    Undo {
        /// The call.
        call: CallId,
        /// The digest of the shown undo ([`digest_of`]).
        digest: String,
    },
}

/// A set as a person sees it.
#[derive(Debug)]
pub(super) struct ReviewedSet {
    /// The set, with the effects of its changes.
    pub review: Review,
    /// The warnings about it.
    pub warnings: Vec<ReviewWarning>,
}

/// The end of a decision: news where its page does not say enough.
pub(super) type Came = Result<Option<News>>;

/// Begins to carry a decision out, in a task of its own.
pub(super) fn begin(
    reviewer: &Reviewer,
    proposal: &Proposal,
    decision: ReviewDecision,
    under_way: &RunningSets,
) -> JoinHandle<Came> {
    let (reviewer, proposal) = (reviewer.clone(), proposal.clone());
    let under_way = under_way.clone();
    let id = proposal.id;
    let work = async move {
        match decision {
            ReviewDecision::Apply(apply) => applied(&reviewer, apply, &proposal).await,
            ReviewDecision::Reject { reason, keeps_made } => {
                let (proposals, caller) = (reviewer.bench.desk.proposals(), &reviewer.caller);
                proposals.reject(caller, id, &reason, keeps_made).await?;
                Ok(None)
            }
            ReviewDecision::Undo { call, digest } => undone(&reviewer, call, &digest).await,
        }
    };
    tokio::spawn(async move { Box::pin(under_way.count(id, work)).await })
}

/// Gives the end of a decision that was begun.
pub(super) fn ended(work: Result<Came, JoinError>) -> Came {
    work.unwrap_or_else(|_| Err(Failure::new(Code::InternalError, "The decision broke off.")))
}

async fn applied(reviewer: &Reviewer, apply: Apply, proposal: &Proposal) -> Came {
    let writer = &reviewer.bench.writer;
    let done = writer.decided(&reviewer.caller, apply);
    let what = place(&proposal.first.locale, &proposal.first.path);
    Ok(match done.await? {
        AppliedWrite::One(one) if one.is_unchanged() => {
            let text = format!("{what} already is as proposed.");
            Some(good(text, one.call))
        }
        // The page of a set that was applied says so, with all that it changed.
        AppliedWrite::One(_) => None,
        AppliedWrite::Set(set) => news_of(&set),
    })
}

/// Says of a set what its page does not.
fn news_of(set: &SetAnswer) -> Option<News> {
    let made = || set.members.iter().filter(|one| one.is_there());
    match set.outcome {
        SetOutcome::Applied | SetOutcome::Applying => None,
        SetOutcome::Unchanged => {
            let text = "All pages already are as proposed.".to_owned();
            Some(good(text, set.call))
        }
        SetOutcome::NotApplied => {
            let failed = set.members.iter().filter(|one| one.failure.is_some());
            let why = set.members.iter().find_map(|one| one.failure.as_ref());
            let why = why.map_or_else(String::new, |failure| format!(" ({})", failure.message));
            let text = format!(
                "Not applied: {} failed{why}, and what had been made was taken back.",
                named(failed)
            );
            Some(bad(text, set.call))
        }
        SetOutcome::PartlyApplied | SetOutcome::Unknown | SetOutcome::Interrupted => {
            let (count, of) = (made().count(), set.members.len());
            let outcome = set.outcome.as_str().replace('_', " ");
            let text = format!(
                "{count} of {of} changes are made ({outcome}): {}.",
                named(made())
            );
            Some(bad(text, set.call))
        }
    }
}

fn good(text: String, call: CallId) -> News {
    News {
        is_good: true,
        ..bad(text, call)
    }
}

fn bad(text: String, call: CallId) -> News {
    News {
        text,
        record: Some(call),
        ..News::default()
    }
}

/// The places of changes, as far as a sentence has room for them.
fn named<'a>(members: impl Iterator<Item = &'a SetMember>) -> String {
    let places: Vec<String> = members.map(|one| place_of(&one.target)).collect();
    listed(&places)
}

fn place_of(target: &WriteTarget) -> String {
    format!("{}/{}", text(&target.locale), text(&target.path))
}

fn listed(places: &[String]) -> String {
    if places.is_empty() {
        return "no page".to_owned();
    }
    first_of(places, MOST_NAMED)
}

/// Takes back the call that applied a set, if that does what a person was shown.
async fn undone(reviewer: &Reviewer, call: CallId, digest: &str) -> Came {
    let plan = undo_of(call);
    let is_as_shown = |shown: &Preview| digest_of(shown) == digest;
    let writer = &reviewer.bench.writer;
    let done = writer.confirmed(&reviewer.caller, plan, is_as_shown);
    Ok(match done.await? {
        None => {
            return Err(Failure::new(
                Code::ProposalOutdated,
                "It would take back something else than what you were shown; nothing was sent.",
            ));
        }
        Some(AppliedWrite::One(one)) => Some(good(
            format!("Taken back: {}.", place_of(&one.change.target)),
            one.call,
        )),
        Some(AppliedWrite::Set(set)) if set.outcome == SetOutcome::Applied => {
            let all = named(set.members.iter());
            Some(good(format!("Taken back: {all}."), set.call))
        }
        Some(AppliedWrite::Set(set)) => news_of(&set),
    })
}

/// The plan that takes back what a call applied, as every undo does.
pub(super) fn undo_of(call: CallId) -> WriteRequest {
    WriteRequest::Undo(UndoRequest::of(call))
}

/// The digest of a shown undo, which its form carries.
pub(super) fn digest_of(shown: &Preview) -> String {
    let told = |one: &ChangeView| {
        json!([
            one.operation,
            one.target,
            one.values,
            one.diff,
            one.lines_added,
            one.lines_removed
        ])
    };
    let told: Value = shown.changes.iter().map(told).collect();
    short_digest(&told.to_string())
}

/// The reason of a rejection: one line that says something.
///
/// # Errors
/// One sentence.
pub(super) fn reason(text: &str) -> Result<String, &'static str> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.chars().count() {
        0 => Err("Say why it is rejected: the agent reads it and can do better."),
        1..=MAX_WHY => Ok(text),
        _ => Err("The reason may have at most 500 characters."),
    }
}

/// The set as it is now, if this reviewer decides about all of its places: those on record, and
/// those where its pages are now.
///
/// # Errors
/// That there is none, or what keeps it from being read.
pub(super) async fn look(reviewer: &Reviewer, id: ProposalId) -> Result<ReviewedSet> {
    let desk = &reviewer.bench.desk;
    let is_meant = |proposal: &Proposal| is_within(reviewer, proposal, &HashSet::new());
    let (review, warnings) = Box::pin(desk.review(id, is_meant)).await?;
    // A page may have moved while it was read.
    let outside = reviewer.ids_outside(Some(Instant::now())).await?;
    if !is_within(reviewer, &review.proposal, &outside) {
        return Err(none());
    }
    Ok(ReviewedSet { review, warnings })
}

/// The word for the state of a set, if this reviewer decides about all of its places, by a list of
/// the wiki that is half a minute old at most: an open page asks every few seconds.
///
/// # Errors
/// That there is none.
pub(super) async fn state(reviewer: &Reviewer, id: ProposalId) -> Result<&'static str> {
    let proposal = reviewer.bench.desk.proposals().one(id).await?;
    let now = Instant::now();
    let as_of = now.checked_sub(STATE_AGE).unwrap_or(now);
    let outside = reviewer.ids_outside(Some(as_of)).await?;
    if is_within(reviewer, &proposal, &outside) {
        Ok(proposal.state.as_str())
    } else {
        Err(none())
    }
}

fn none() -> Failure {
    Failure::new(Code::InvalidInput, "There is no such proposal.")
}

/// The reason why a reviewer may not decide on a set of their own client, or of a delegate of it, if it
/// is one. A person's client is the same wherever they sign in.
pub(super) fn own_family(reviewer: &Reviewer, proposal: &Proposal) -> Option<&'static str> {
    let own = reviewer.caller.client.id;
    let whose = &proposal.client;
    let is_own = own.is_some() && (whose.id == own || whose.parent == own);
    (is_own && !reviewer.decides_own)
        .then_some("It is of your own client, or of a delegate of it: somebody else decides.")
}

/// Tells whether a reviewer decides about all places of a set, and none of its pages is outside
/// ([`Reviewer::ids_outside`]).
pub(super) fn is_within(reviewer: &Reviewer, proposal: &Proposal, outside: &HashSet<i64>) -> bool {
    proposal.changes().all(|one| {
        let new = one.new_path.iter();
        let is_there = one.page.is_none_or(|page| !outside.contains(&page));
        is_there
            && std::iter::once(&one.path)
                .chain(new)
                .all(|path| reviewer.decides_about(&one.locale, path))
    })
}

#[cfg(test)]
mod tests {
    use super::{listed, reason};

    #[test]
    fn a_reason_is_one_line_that_says_something() {
        assert_eq!(
            reason(" belongs\r\n into docs "),
            Ok("belongs into docs".to_owned())
        );
        assert!(reason(" \n ").is_err());
        assert!(reason(&"x".repeat(500)).is_ok());
        assert!(reason(&"x".repeat(501)).is_err());
    }

    #[test]
    fn a_sentence_names_five_pages_and_counts_the_others() {
        let places = |count: usize| (0..count).map(|at| format!("en/p{at}")).collect::<Vec<_>>();
        assert_eq!(listed(&places(0)), "no page");
        assert_eq!(listed(&places(2)), "en/p0, en/p1");
        assert_eq!(
            listed(&places(7)),
            "en/p0, en/p1, en/p2, en/p3, en/p4 and 2 more"
        );
    }
}
