//! A person's decision, made the way of every write. It goes on though the browser hangs up.

use super::doors::Reviewer;
use super::under_way::UnderWay;
use crate::audit::{MAX_WHY, Proposal, ProposalId};
use crate::error::{Code, Failure};
use crate::write::{Apply, Done, Plan, Review, ReviewWarning, SetOutcome};

/// What a person decided.
#[derive(Debug, Clone)]
pub(super) enum Decision {
    /// It is applied, as it was shown.
    Apply {
        /// The digest of what was shown.
        digest: String,
        /// The changes that are left out, by their numbers from 0.
        leave_out: Vec<usize>,
        /// Whether it is made on top of what changed since.
        merge: bool,
    },
    /// It is rejected.
    Reject {
        /// Why.
        reason: String,
    },
}

/// What became of a decision, in a sentence.
#[derive(Debug, Clone)]
pub(super) struct Came {
    /// Whether all of it is as it was decided.
    pub is_good: bool,
    /// The sentence.
    pub news: String,
    /// Whether the set waits on.
    pub is_open: bool,
}

/// A set as a person sees it.
#[derive(Debug)]
pub(super) struct Seen {
    /// What it does.
    pub review: Review,
    /// What is to be said of it.
    pub warnings: Vec<(&'static str, String)>,
}

/// Carries a decision out in a task of its own.
///
/// # Errors
/// Whatever stopped it.
pub(super) async fn carry_out(
    reviewer: &Reviewer,
    proposal: &Proposal,
    decision: Decision,
    under_way: &UnderWay,
) -> Result<Came, Failure> {
    let (reviewer, proposal) = (reviewer.clone(), proposal.clone());
    let under_way = under_way.clone();
    let work = tokio::spawn(async move {
        let what = format!("{}/{}", proposal.locale, proposal.path);
        match decision {
            Decision::Apply {
                digest,
                leave_out,
                merge,
            } => {
                let apply = Apply {
                    id: proposal.id,
                    merge,
                    leave_out,
                    expects: Some(digest),
                };
                let applied = applied(&reviewer, apply, &what);
                under_way.count(proposal.id, applied).await
            }
            Decision::Reject { reason } => {
                let proposals = reviewer.bench.desk.proposals();
                proposals
                    .reject(&reviewer.caller, proposal.id, &reason)
                    .await?;
                Ok(Came {
                    is_good: true,
                    news: format!("Rejected: {what}. The agent can read why."),
                    is_open: false,
                })
            }
        }
    });
    work.await
        .unwrap_or_else(|_| Err(Failure::new(Code::InternalError, "The decision broke off.")))
}

async fn applied(reviewer: &Reviewer, apply: Apply, what: &str) -> Result<Came, Failure> {
    let plan = Plan::Proposal(apply);
    let done = reviewer
        .bench
        .writer
        .confirmed(&reviewer.caller, plan, |_| true)
        .await?;
    let came = |is_good, news, is_open| Came {
        is_good,
        news,
        is_open,
    };
    Ok(match done {
        None => came(false, format!("Not applied: {what}."), true),
        Some(Done::One(one)) if one.is_unchanged => {
            came(true, format!("{what} already is as proposed."), false)
        }
        Some(Done::One(one)) => came(
            true,
            format!(
                "Applied: {what}. To take it back: wikijs-mcp undo {}",
                one.call
            ),
            false,
        ),
        Some(Done::Set(set)) => {
            let made = set.members.iter().filter(|one| one.is_there()).count();
            let of = set.members.len();
            let undo = format!("To take it back: wikijs-mcp undo {}", set.call);
            match set.outcome {
                SetOutcome::Applied => came(true, format!("Applied: {of} changes. {undo}"), false),
                SetOutcome::Unchanged => {
                    came(true, "All pages already are as proposed.".to_owned(), false)
                }
                SetOutcome::Applying => came(
                    true,
                    format!("Being applied: {made} of {of} changes so far. It goes on by itself."),
                    true,
                ),
                SetOutcome::NotApplied => came(
                    false,
                    "Not applied: a change failed, and what had been made was taken back."
                        .to_owned(),
                    true,
                ),
                SetOutcome::PartlyApplied | SetOutcome::Unknown | SetOutcome::Interrupted => came(
                    false,
                    format!(
                        "{made} of {of} changes are made ({}). {undo}",
                        set.outcome.as_str()
                    ),
                    true,
                ),
            }
        }
    })
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

/// The set as it is now, if this reviewer decides about all of its places.
///
/// # Errors
/// That there is none, or what keeps it from being read.
pub(super) async fn look(reviewer: &Reviewer, id: ProposalId) -> Result<Seen, Failure> {
    let desk = &reviewer.bench.desk;
    let review = desk.review(id).await?;
    if !is_within(reviewer, &review.proposal) {
        return Err(none());
    }
    let warnings = desk.warnings_of(&review).await?;
    let warnings = warnings.iter().map(labelled).collect();
    Ok(Seen { review, warnings })
}

/// A sentence with what it is: a rule of the operator, or a warning.
fn labelled(one: &ReviewWarning) -> (&'static str, String) {
    if one.is_rule() {
        ("Rule", one.warning.message.clone())
    } else {
        ("Warning", one.warning.to_string())
    }
}

/// The word for the state of a set, if this reviewer decides about all of its places.
///
/// # Errors
/// That there is none.
pub(super) async fn state(reviewer: &Reviewer, id: ProposalId) -> Result<&'static str, Failure> {
    let proposal = reviewer.bench.desk.audit().proposal(id).await;
    let proposal = proposal.ok().filter(|one| is_within(reviewer, one));
    proposal.map(|one| one.state.as_str()).ok_or_else(none)
}

fn none() -> Failure {
    Failure::new(Code::InvalidInput, "There is no such proposal.")
}

/// Whether a set is of the reviewer's own client, or of a delegate of it: somebody else decides.
pub(super) fn is_of_own_family(reviewer: &Reviewer, proposal: &Proposal) -> bool {
    let own = reviewer.caller.client.id;
    let whose = &proposal.client;
    own.is_some() && (whose.id == own || whose.parent == own)
}

/// Whether a reviewer decides about all places of a set.
pub(super) fn is_within(reviewer: &Reviewer, proposal: &Proposal) -> bool {
    proposal.changes().all(|one| {
        let new = one.new_path.iter();
        std::iter::once(&one.path)
            .chain(new)
            .all(|path| reviewer.decides_about(&one.locale, path))
    })
}

#[cfg(test)]
mod tests {
    use super::reason;

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
}
