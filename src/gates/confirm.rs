//! The gate *confirm*: the last, which makes the permit.

use super::{
    AllowedSet, ApprovalScope, Approved, Cleared, Enabled, Gate, Gated, Permit, Policy, Refusal,
    SpentToken, WritePolicy,
};
use crate::audit::{CallId, ProposalId};
use crate::error::Code;

/// The confirmation of a write.
#[derive(Debug)]
pub enum Confirmation {
    /// The operator's static token, which the gate *enabled* has seen.
    StaticToken,
    /// The token of a preview, used up for this.
    Preview(SpentToken),
    /// A person's yes.
    Person(Approved),
    /// A reviewer's yes to a proposal.
    Reviewer(ReviewersYes),
}

/// Proof that a reviewer said yes to a proposal as the review page showed it. Only a policy under
/// which a person decides gives one: that of a reviewer of a server, or of the operator, whose
/// command `review` opens the page.
#[derive(Debug)]
#[must_use]
pub struct ReviewersYes {
    proposal: ProposalId,
}

impl Policy {
    /// Claims that the person who decides under this policy said yes to a proposal; `None` if
    /// nobody decides under it. Within the crate only `write/interactive.rs` calls it.
    pub fn reviewers_yes(&self, proposal: ProposalId) -> Option<ReviewersYes> {
        let decides = self.authority.decides();
        decides.then_some(ReviewersYes { proposal })
    }
}

impl Confirmation {
    /// The call whose approval it is: the preview, or the call in which a person said yes. The
    /// static token approves nothing in particular.
    pub const fn approval(&self) -> Option<CallId> {
        match self {
            Self::Preview(spent) => Some(spent.set.id()),
            Self::Person(approved) => Some(approved.approval()),
            // The decision on the proposal is the approval.
            Self::StaticToken | Self::Reviewer(_) => None,
        }
    }

    /// The scope of a person's earlier yes that covers this write.
    pub const fn standing(&self) -> Option<ApprovalScope> {
        match self {
            Self::Person(approved) => approved.standing(),
            Self::StaticToken | Self::Preview(_) | Self::Reviewer(_) => None,
        }
    }
}

/// Makes the permit of this very set.
///
/// # Errors
/// `CONFIRM_REQUIRED` if what confirms here is missing, `CONFIRM_MISMATCH` if the preview was of
/// other changes, `APPROVAL_DENIED` if no person approved these changes, `MUTATIONS_DISABLED` where
/// no caller can confirm, which ends before this gate.
pub fn confirm(cleared: Cleared<'_>, confirmation: Confirmation) -> Gated<Permit> {
    let AllowedSet { enabled, set } = cleared.allowed;
    let Enabled { policy, has_token } = enabled;
    let refuse =
        |code, message: &str| Err(Refusal::at(Gate::Confirm, policy.refuse(code, message)));
    match (&policy.writes, confirmation) {
        (WritePolicy::Off | WritePolicy::DryRun | WritePolicy::Review { .. }, _) => refuse(
            Code::MutationsDisabled,
            "No caller can confirm a write here.",
        ),
        // The static token covers every write: nobody has seen what this write would lose.
        (WritePolicy::Token(_), Confirmation::StaticToken)
            if set.iter().any(|one| !one.change.lost().is_empty()) =>
        {
            refuse(
                Code::FieldUnreadable,
                "The static token cannot accept the loss of fields; a preview's token or a person can.",
            )
        }
        (WritePolicy::Token(_), Confirmation::StaticToken) if has_token => Ok(Permit::new(set)),
        (WritePolicy::Token(_), _) => refuse(
            Code::ConfirmRequired,
            "This write needs the operator's confirm token.",
        ),
        (WritePolicy::Preview, Confirmation::Preview(spent)) if spent.set.is_same_write(&set) => {
            Ok(Permit::new(set))
        }
        (WritePolicy::Preview, Confirmation::Preview(_)) => refuse(
            Code::ConfirmMismatch,
            "The token was given for the preview of another change.",
        ),
        (WritePolicy::Preview, Confirmation::Reviewer(yes)) if policy.authority.decides() => {
            if set.proposal() == Some(yes.proposal) {
                Ok(Permit::new(set))
            } else {
                refuse(
                    Code::ConfirmMismatch,
                    "The reviewer said yes to another proposal.",
                )
            }
        }
        (WritePolicy::Preview, _) => refuse(
            Code::ConfirmRequired,
            "This write needs the token of its preview.",
        ),
        (WritePolicy::Person { .. }, Confirmation::Person(approved))
            if approved.set().is_same_write(&set) =>
        {
            Ok(Permit::new(set))
        }
        (WritePolicy::Person { .. }, Confirmation::Person(_)) => refuse(
            Code::ApprovalDenied,
            "The person said yes to another change.",
        ),
        (WritePolicy::Person { .. }, _) => {
            refuse(Code::ApprovalDenied, "This write needs a person's yes.")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Confirmation, confirm};
    use crate::audit::CallId;
    use crate::change::Change;
    use crate::error::Code;
    use crate::gates::{
        ApprovalScope, Approved, ChangeSet, ClientLimits, Fallback, Policy, Previews, Ruled,
        SessionId, SetChange, StaticToken, WritePolicy, enabled, paths, rules,
    };
    use crate::page::{Field, testing::titled as page};
    use crate::rules::Facts;

    const TOKEN: &str = "open sesame, please";

    fn call() -> CallId {
        CallId::new().unwrap()
    }

    /// The page gets another title.
    fn retitled(title: &str) -> ChangeSet {
        ChangeSet::single(call(), Change::between(page("A"), page(title)))
    }

    fn lossy() -> ChangeSet {
        let change = Change::between(page("A"), page("B")).with_loss_of(vec![Field::ScriptJs]);
        ChangeSet::single(call(), change)
    }

    fn undoing(of: CallId) -> ChangeSet {
        let undo = SetChange::from(Change::between(page("A"), page("B"))).undoing(Some(of));
        ChangeSet::single(call(), undo)
    }

    fn session() -> SessionId {
        SessionId::new("s")
    }

    fn policy(writes: WritePolicy) -> Policy {
        Policy {
            writes,
            ..Policy::default()
        }
    }

    fn token() -> WritePolicy {
        WritePolicy::Token(StaticToken::new(TOKEN.into()).unwrap())
    }

    fn person() -> WritePolicy {
        WritePolicy::Person {
            limit: Duration::from_secs(1),
            fallback: Fallback::None,
        }
    }

    /// The code with which the gate stays closed; `None` if it opens with a permit of this very
    /// set.
    fn refused(policy: &Policy, set: &ChangeSet, confirmation: Confirmation) -> Option<Code> {
        let opened = enabled(policy, &session(), Some(TOKEN)).unwrap();
        let allowed = paths(opened, set.clone()).unwrap();
        let Ok(Ruled::Cleared(cleared)) = rules(allowed, &Facts::default(), None) else {
            panic!("a rule holds");
        };
        match confirm(cleared, confirmation) {
            Ok(permit) => {
                assert!(permit.set().is_same_write(set));
                None
            }
            Err(refusal) => Some(refusal.failure.code),
        }
    }

    fn previewed(set: &ChangeSet) -> Confirmation {
        let previews = Previews::new(Previews::LIFE);
        let token = previews.offer(&session(), set.clone()).unwrap().token;
        Confirmation::Preview(previews.take(&session(), &token).unwrap())
    }

    fn approved(set: &ChangeSet) -> Confirmation {
        Confirmation::Person(Approved::of(set.clone(), call(), None))
    }

    #[test]
    fn the_token_of_a_preview_confirms_the_previewed_change_and_no_other() {
        let policy = policy(WritePolicy::Preview);
        let shown = retitled("B");
        assert_eq!(refused(&policy, &shown, previewed(&shown)), None);
        assert_eq!(refused(&policy, &lossy(), previewed(&lossy())), None);
        for other in [retitled("C"), lossy(), undoing(call())] {
            assert_eq!(
                refused(&policy, &other, previewed(&shown)),
                Some(Code::ConfirmMismatch),
                "{other:?}"
            );
        }
    }

    #[test]
    fn the_yes_of_a_person_confirms_what_was_shown_and_nothing_else() {
        let policy = policy(person());
        let shown = retitled("B");
        assert_eq!(refused(&policy, &shown, approved(&shown)), None);
        for other in [retitled("C"), lossy(), undoing(call())] {
            assert_eq!(
                refused(&policy, &other, approved(&shown)),
                Some(Code::ApprovalDenied),
                "{other:?}"
            );
        }
    }

    #[test]
    fn the_static_token_confirms_all_but_losses_where_it_was_seen() {
        let confirmed =
            |policy: &Policy, set: &ChangeSet| refused(policy, set, Confirmation::StaticToken);
        assert_eq!(confirmed(&policy(token()), &retitled("B")), None);
        assert_eq!(
            confirmed(&policy(token()), &lossy()),
            Some(Code::FieldUnreadable)
        );
    }

    #[test]
    fn each_level_takes_its_own_confirmation_and_no_other() {
        let set = retitled("B");
        let limit = Duration::from_secs(1);
        let (disabled, required) = (Code::MutationsDisabled, Code::ConfirmRequired);
        for (writes, refusals) in [
            (WritePolicy::DryRun, [Some(disabled); 3]),
            (WritePolicy::Review { limit }, [Some(disabled); 3]),
            (
                person(),
                [Some(Code::ApprovalDenied), Some(Code::ApprovalDenied), None],
            ),
            (token(), [None, Some(required), Some(required)]),
            (WritePolicy::Preview, [Some(required), None, Some(required)]),
        ] {
            let policy = policy(writes);
            let brought = [Confirmation::StaticToken, previewed(&set), approved(&set)];
            let found = brought.map(|brought| refused(&policy, &set, brought));
            assert_eq!(found, refusals, "{policy:?}");
        }
    }

    #[test]
    fn a_reviewers_yes_confirms_the_proposal_that_it_is_of_and_counts_for_nobody_else() {
        let [own, other] = ["00000000000000aa", "00000000000000bb"].map(|id| id.parse().unwrap());
        let reviewer = |writes| policy(writes).for_reviewer(&ClientLimits::default(), false);
        let yes = || {
            let yes = reviewer(WritePolicy::Preview).reviewers_yes(own);
            Confirmation::Reviewer(yes.unwrap())
        };
        let proposed = |id| retitled("B").of_proposal(Some(id));
        // Every level but `off` and a dry run ends with the decision.
        for writes in [person(), WritePolicy::Preview, token()] {
            let policy = reviewer(writes);
            assert_eq!(refused(&policy, &proposed(own), yes()), None);
            for set in [proposed(other), retitled("B")] {
                let code = refused(&policy, &set, yes());
                assert_eq!(code, Some(Code::ConfirmMismatch), "{set:?}");
            }
        }
        let dry_run = reviewer(WritePolicy::DryRun);
        let code = refused(&dry_run, &proposed(own), yes());
        assert_eq!(code, Some(Code::MutationsDisabled));
        // The operator decides on the page that the command `review` opens; a client never does.
        let operator = policy(WritePolicy::DryRun).for_operator();
        let of_operator = operator.reviewers_yes(own).map(Confirmation::Reviewer);
        assert_eq!(
            refused(&operator, &proposed(own), of_operator.unwrap()),
            None
        );
        let client = policy(WritePolicy::Preview);
        assert!(client.reviewers_yes(own).is_none());
        let code = refused(&client, &proposed(own), yes());
        assert_eq!(code, Some(Code::ConfirmRequired));
        assert_eq!((yes().approval(), yes().standing()), (None, None));
    }

    #[test]
    fn what_confirms_a_write_names_the_preview_or_the_yes_that_it_spends() {
        let set = retitled("B");
        let named = |by: &Confirmation| (by.approval(), by.standing());
        assert_eq!(named(&Confirmation::StaticToken), (None, None));
        assert_eq!(named(&previewed(&set)), (Some(set.id()), None));
        for standing in [None, Some(ApprovalScope::Page), Some(ApprovalScope::Kind)] {
            let under = call();
            let yes = Confirmation::Person(Approved::of(set.clone(), under, standing));
            assert_eq!(named(&yes), (Some(under), standing));
        }
    }
}
