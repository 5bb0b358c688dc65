//! The one way of every write.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use crate::audit::{AuditLog, CallId, Keep, Outcome};
use crate::change::Change;
use crate::error::{Code, Failure};
use crate::gates::{
    self, Approvals, ConfirmMode, Confirmation, Gate, Permit, Policy, Previews, Proposed, Refusal,
    SessionId, Verdict,
};
use crate::notice;
use crate::page::{Field, LineCounts, PageReading};
use crate::wiki::Wiki;

use super::answer::{Answer, Notes};
use super::conflict::ConflictCheck;
use super::docket::{Docket, unavailable};
use super::last::OwnWrites;
use super::person::{Behind, ToAsk, ask_anew};
use super::plan::{Caller, Plan};
use super::propose;
use super::purge::LastPurge;
use super::reads::{Reads, Sight};
use super::refusals::Refusals;
use super::settle::{Patience, Settled};
use super::show::warnings_of;
use super::turn::Turn;

/// Writes to one wiki, as far as its operator allows.
#[derive(Debug)]
pub struct Writer {
    pub(super) wiki: Arc<Wiki>,
    pub(super) audit: Arc<AuditLog>,
    pub(super) policy: Policy,
    pub(super) previews: Previews,
    /// Changes about which a person is asked between two calls.
    pub(super) questions: Previews,
    pub(super) approvals: Approvals,
    pub(super) patience: Patience,
    pub(super) reads: Reads,
    pub(super) proposed: propose::Proposed,
    pub(super) own_writes: OwnWrites,
    pub(super) keep: Keep,
    pub(super) last_purge: Mutex<LastPurge>,
    pub(super) recovery: OnceCell<()>,
    pub(super) tasks: TaskTracker,
    pub(super) purges: TaskTracker,
    refusals: Arc<Refusals>,
    /// The writer of the server's own key, if this is another's: it settles what earlier runs
    /// left open, has the log purged, and waits at the end for the writes of all.
    root: Option<Arc<Self>>,
}

/// How long the question of a client that is asked one by its own rule is kept at most; the
/// longest time that a person can be given is shorter.
const LONGEST_QUESTION: Duration = Duration::from_secs(601);

impl Writer {
    /// A writer to a wiki.
    #[must_use]
    pub fn new(
        wiki: Arc<Wiki>,
        audit: Arc<AuditLog>,
        policy: Policy,
        previews: Previews,
        patience: Patience,
        keep: Keep,
    ) -> Self {
        // An answer's time is up before its question is forgotten.
        let questions = match policy.confirm {
            ConfirmMode::Person { limit, .. } => limit + Duration::from_secs(1),
            ConfirmMode::Preview => LONGEST_QUESTION,
            ConfirmMode::Token(_) | ConfirmMode::Operator => Duration::ZERO,
        };
        Self {
            wiki,
            audit,
            policy,
            previews,
            questions: Previews::new(questions),
            approvals: Approvals::default(),
            patience,
            reads: Reads::default(),
            proposed: propose::Proposed::default(),
            own_writes: OwnWrites::default(),
            keep,
            last_purge: Mutex::default(),
            recovery: OnceCell::new(),
            tasks: TaskTracker::new(),
            purges: TaskTracker::new(),
            refusals: Arc::default(),
            root: None,
        }
    }

    /// A writer to the same wiki with another key: one log, one policy, but previews, approvals
    /// and remembered reads of its own.
    #[must_use]
    pub fn for_key(self: &Arc<Self>, wiki: Arc<Wiki>) -> Self {
        Self {
            refusals: Arc::clone(&self.refusals),
            root: Some(Arc::clone(self)),
            ..Self::new(
                wiki,
                Arc::clone(&self.audit),
                self.policy.clone(),
                Previews::new(Previews::LIFE),
                self.patience,
                self.keep,
            )
        }
    }

    pub(super) fn root(&self) -> &Self {
        self.root.as_deref().unwrap_or(self)
    }

    /// The record of every attempt.
    #[must_use]
    pub fn audit(&self) -> &AuditLog {
        &self.audit
    }

    /// The refusals of this run.
    #[must_use]
    pub fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// How many static confirm tokens were wrong in this run.
    #[must_use]
    pub fn wrong_tokens(&self) -> u64 {
        self.policy.wrong_tokens()
    }

    /// Takes a plan through the gates, and writes what they let through.
    ///
    /// # Errors
    /// Whatever stopped it, with `details.callId`; on record.
    pub async fn write(
        self: &Arc<Self>,
        caller: Caller,
        plan: Plan,
        confirm: Option<String>,
    ) -> Result<Answer, Failure> {
        let call = CallId::current_or_new().map_err(|error| unavailable(&error))?;
        let mut docket = Docket::open(call, &caller, self.key(), Some(&plan));
        if let Plan::Proposal(apply) = &plan
            && let Ok(proposal) = self.audit.proposal(apply.id).await
        {
            docket.decides_on(&proposal);
        }
        let undo = match &plan {
            Plan::Undo(undo) => Some(undo.clone()),
            Plan::Create(_) | Plan::Update(_) | Plan::Delete { .. } | Plan::Proposal(_) => None,
        };
        let token = confirm.clone();
        let answer = match self.decide(&mut docket, &caller, plan, confirm).await {
            Ok(Passed::Answer(answer)) => {
                if matches!(&answer, Answer::Preview(preview) if preview.proposal.is_some()) {
                    self.root().purge_if_due();
                }
                Ok(answer)
            }
            Ok(Passed::Sent(answer)) => {
                if answer.is_ok() {
                    self.own_writes.note(&caller.session, call);
                }
                self.root().purge_if_due();
                answer
            }
            Ok(Passed::Asked(_)) => Err(broke_off()),
            Err(mut refusal) => {
                if let Some(token) = token {
                    refusal.failure = self.of_used(&caller.session, &token, refusal.failure).await;
                }
                if let Some(undo) = undo.filter(|_| !docket.knows_page()) {
                    self.find_meant(&mut docket, &undo).await;
                }
                self.record_refusal(&docket, &refusal).await;
                Err(refusal.failure)
            }
        };
        answer.map_err(|failure| failure.detail("callId", call.to_string()))
    }

    /// Puts on record that the arguments of a write were no input; gives the call's id.
    pub async fn refuse_input(
        &self,
        caller: &Caller,
        token: Option<&str>,
        mut failure: Failure,
    ) -> Failure {
        if let Some(token) = token {
            failure = self.of_used(&caller.session, token, failure).await;
        }
        let Ok(call) = CallId::current_or_new() else {
            return failure;
        };
        let refusal = Refusal::at(Gate::Input, failure);
        self.record_refusal(&Docket::open(call, caller, self.key(), None), &refusal)
            .await;
        refusal.failure.detail("callId", call.to_string())
    }

    /// A session saw a page: a later change of its content by that session is held against it.
    pub fn note_read(&self, session: &SessionId, page: PageReading, sight: Sight) {
        self.reads.note(session, page, sight);
    }

    /// After its own write a session knows of the page what it knew of it before, or all if it
    /// wrote the content itself. Otherwise it could overwrite a text that it never saw.
    fn knowing(&self, session: &SessionId, change: &Change, wrote_whole: bool) -> Option<Knowing> {
        let knew = change.before().is_some_and(|page| {
            let seen = page.id.and_then(|id| self.reads.last(session, id));
            let at = page.updated_at.as_ref();
            seen.is_some_and(|seen| at.is_some_and(|at| seen.knows_of(at)))
        });
        (wrote_whole || knew).then(|| Knowing {
            session: session.clone(),
            wrote_whole,
        })
    }

    /// A session that knows the page knows it as its own write left it, even in part.
    pub(super) fn note_written(&self, knowing: &Knowing, settled: &Settled) {
        if let (Outcome::Applied | Outcome::PartlyApplied, Some(proof)) =
            (settled.outcome, &settled.proof)
            && !proof.differing.contains(&Field::Content)
            && let (Some(id), Some(at)) = (proof.found.id, &proof.found.updated_at)
        {
            let Knowing {
                session,
                wrote_whole,
            } = knowing;
            self.reads.note_written(session, id, at, *wrote_whole);
        }
    }

    /// Waits for writes under way, then closes the log.
    pub async fn finish(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.purged().await;
        if let Err(error) = self.audit.close().await {
            tracing::error!(%error, "the audit log could not be closed");
        }
    }

    /// Once through the gates.
    pub(super) async fn pass(
        self: &Arc<Self>,
        policy: &Policy,
        docket: &mut Docket,
        session: &SessionId,
        plan: Plan,
        behind: Behind,
    ) -> Result<Passed, Refusal> {
        let confirm = match &behind {
            Behind::Token(token) => Some(token.clone()),
            Behind::Nothing | Behind::Person(_) => None,
        };
        let enabled = gates::enabled(policy, session, confirm.as_deref())?;
        let is_confirmed = !matches!(behind, Behind::Nothing);
        let goes_out = policy.lets_out(is_confirmed);
        if goes_out {
            self.recovered().await;
        }
        // The token of a preview stands for its change; the static one was seen above.
        let token = match &policy.confirm {
            ConfirmMode::Preview | ConfirmMode::Operator => confirm.filter(|_| goes_out),
            ConfirmMode::Token(_) | ConfirmMode::Person { .. } => None,
        };
        let token = token.as_deref();
        let page = self
            .page_of_turn(session, token, &behind, &plan, goes_out)
            .await?;
        // What a confirmed call leaves out was said for the preview.
        let was_asked = |token| self.previews.asked(session, token).ok().flatten();
        let asked = token.and_then(was_asked);
        let wrote_whole =
            plan.says_whole_content() || asked.is_some_and(|asked| asked.says_whole_content());
        let turn = if goes_out {
            Some(self.turn(page, &plan).await?)
        } else {
            None
        };
        let last = plan.undo_of_last();
        let change = match (token, &behind) {
            (_, Behind::Person(approved)) => self
                .confirmed_change(plan, session, approved.proposed().clone())
                .await
                .map_err(ask_anew),
            (Some(token), _) => self.previewed_change(plan, session, token).await,
            (None, _) => self.change(session, plan).await,
        };
        let (proposed, check) = match change {
            Ok(change) => change,
            Err(stopped) => {
                return Err(self
                    .refused(policy, enabled, docket, session, stopped)
                    .await);
            }
        };
        let Proposed {
            change,
            undoes,
            proposal,
        } = proposed;
        docket.about(&change);
        docket.undoes(undoes);
        if let Some(id) = proposal {
            docket.proposal(id);
        }
        let at_change = |failure| Refusal::at(Gate::Change, failure);
        let allowed = gates::paths(enabled, policy, change)?;
        Wiki::check_size(allowed.change()).map_err(|error| at_change(error.into()))?;
        let mut notes = Notes {
            warnings: self
                .look_at_new_place(allowed.change())
                .await
                .map_err(at_change)?,
            is_unchecked: check == ConflictCheck::None,
            undoes,
            replaces: None,
        };
        notes.warnings.extend(self.others_last(last, undoes));
        notes.warnings.extend(warnings_of(allowed.change()));
        let diff = allowed.change().content_diff();
        let lines = diff.1;
        docket.counted(lines);
        match gates::dry_run(policy, allowed, is_confirmed) {
            Verdict::DryRun(allowed) => self.show_dry(docket, &allowed, diff, notes, session).await,
            Verdict::Preview(allowed) | Verdict::Ask(allowed) if allowed.change().is_empty() => {
                self.nothing_to_do(docket, allowed.change(), notes).await
            }
            Verdict::Preview(allowed) => self.show(docket, &allowed, diff, notes, session).await,
            Verdict::Ask(allowed) => Ok(Passed::Asked(Box::new(ToAsk {
                proposed: Proposed {
                    change: allowed.change().clone(),
                    undoes: docket.taken_back(),
                    proposal: docket.proposal_id(),
                },
                diff: diff.0,
                lines,
            }))),
            Verdict::Write(cleared) if cleared.change().is_empty() => {
                self.nothing_to_do(docket, cleared.change(), notes).await
            }
            Verdict::Write(cleared) => {
                let confirmation = self.confirmation(session, token, behind)?;
                let knowing = self.knowing(session, cleared.change(), wrote_whole);
                docket.confirmed(&policy.confirm, confirmation.approval());
                let permit = gates::confirm(cleared, confirmation)?;
                self.let_go(permit, docket.clone(), lines, notes, knowing, turn)
                    .await
            }
        }
    }

    /// The page whose turn a write takes, as far as it is known before the page is read.
    async fn page_of_turn(
        &self,
        session: &SessionId,
        token: Option<&str>,
        behind: &Behind,
        plan: &Plan,
        goes_out: bool,
    ) -> Result<Option<i64>, Refusal> {
        Ok(match (token, behind) {
            (_, Behind::Person(approved)) => approved.page(),
            // A token that counts for nothing must not wait for its turn.
            (Some(token), _) => self
                .previews
                .page_of(session, token)
                .map_err(|failure| Refusal::at(Gate::Confirm, failure))?,
            (None, _) => match plan {
                Plan::Undo(undo) if goes_out => self.page_of(undo).await,
                Plan::Proposal(apply) if goes_out => {
                    // One that cannot be read is refused where it is held.
                    self.audit
                        .proposal(apply.id)
                        .await
                        .ok()
                        .and_then(|of| of.page)
                }
                plan => plan.id(),
            },
        })
    }

    /// What confirms a write; a preview's token is used up for it.
    fn confirmation(
        &self,
        session: &SessionId,
        token: Option<&str>,
        behind: Behind,
    ) -> Result<Confirmation, Refusal> {
        match (token, behind) {
            (_, Behind::Person(approved)) => Ok(Confirmation::Person(approved)),
            (Some(token), _) => self
                .previews
                .spend(session, token)
                .map(Confirmation::Preview)
                .map_err(|failure| Refusal::at(Gate::Confirm, failure)),
            (None, _) => Ok(Confirmation::StaticToken),
        }
    }

    /// Carries a write out in a task of its own: once begun, no cancellation, disconnect or
    /// closed stdin may cut it short.
    async fn let_go(
        self: &Arc<Self>,
        permit: Permit,
        mut docket: Docket,
        lines: LineCounts,
        notes: Notes,
        knowing: Option<Knowing>,
        mut turn: Option<Turn>,
    ) -> Result<Passed, Refusal> {
        // From here on the end of the server waits for this write, or refuses it.
        let tasks = &self.root().tasks;
        let awaited = tasks.token();
        if tasks.is_closed() {
            let failure = Failure::new(
                Code::AuditUnavailable,
                "The server is ending; nothing was sent.",
            );
            return Err(Refusal::at(Gate::Record, failure));
        }
        let writer = Arc::clone(self);
        let write = async move {
            let answer = docket
                .call()
                .during(Box::pin(writer.carry_out(
                    permit,
                    &mut docket,
                    lines,
                    notes,
                    knowing,
                )))
                .await;
            let held = turn.as_mut().and_then(|turn| turn.proposal.take());
            if let (Some(held), Ok(_)) = (held, &answer) {
                writer.applied_proposal(held, &docket).await;
            }
            drop((turn, awaited));
            answer
        };
        let task = tasks.spawn(notice::told_as_here(write.in_current_span()));
        Ok(Passed::Sent(
            task.await.unwrap_or_else(|_| Err(broke_off())),
        ))
    }

    /// A refusal stays a refusal if it cannot be put on record: nothing was sent.
    async fn record_refusal(&self, docket: &Docket, refusal: &Refusal) {
        self.refusals.count(refusal.gate);
        if let Err(error) = self.audit.record(docket.refusal(refusal)).await {
            tracing::error!(%error, call = %docket.call(), "a refusal could not be put on record");
        }
    }
}

/// A session that will know a page as its own write leaves it.
pub(super) struct Knowing {
    session: SessionId,
    /// Whether it said all of the content.
    wrote_whole: bool,
}

pub(super) enum Passed {
    /// Nothing was sent.
    Answer(Answer),
    /// Nothing was sent; a person must be asked first.
    Asked(Box<ToAsk>),
    /// Something was, or should have been.
    Sent(Result<Answer, Failure>),
}

fn broke_off() -> Failure {
    Failure::new(
        Code::OutcomeUnknown,
        "The write broke off in the server itself; the audit log says how far it came.",
    )
    .detail("outcome", Outcome::Unknown.as_str())
}
