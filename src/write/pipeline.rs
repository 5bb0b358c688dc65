//! The line that every write goes down: read it once, from top to bottom.
//!
//! 1. The policy and what the caller brought decide the route ([`Route`]).
//! 2. A write to send takes its turn ([`turn`]) before anything is read.
//! 3. The changes are made from the pages as they are ([`read`]).
//! 4. The gate *paths* judges their places ([`gates::paths`]), the checks look at them ([`check`]),
//!    and the operator's rules may demand more ([`rule`]).
//! 5. They join a draft ([`join`]), are shown ([`show`]), or are left open for a person ([`open`]);
//!    or a person is asked ([`ask`]), and with the yes everything begins again; or they are
//!    confirmed ([`gates::confirm`]).
//! 6. A confirmed set is recorded, sent, settled and answered ([`send`]).

use std::sync::Arc;

use crate::audit::{HeldDraft, HeldProposal};
use crate::change::Warning;
use crate::error::Failure;
use crate::gates::{
    self, ChangeSet, Gate, Layer, Policy, Refusal, SessionId, SetBy, SetChange, THINKING,
    WritePolicy,
};
use crate::render_budget;
use crate::wiki::Sender;

use super::answer::{Applied, Preview, WriteAnswer};
use super::asker::Asker;
use super::audit_entry::EntryBuilder;
use super::caller::{Caller, Extent};
use super::context::WriteContext;
use super::route::{Brought, Route};
use super::source::WriteRequest;
use super::stages::check::SetCheck;
use super::stages::rule::RuledRoute;
use super::stages::{
    add_to_draft, apply, ask, batch_preview, check, lock, propose, read, rule, send, show,
};

/// The result of a write's stages.
pub(super) enum Passed {
    /// Nothing was sent.
    Answer(WriteAnswer),
    /// Nothing was sent; a person must be asked first.
    Asked(Box<ask::ToAsk>),
    /// Something was sent, or should have been.
    Sent(Result<WriteAnswer, Failure>),
}

/// Takes a plan down the line. If a person's yes is due, it goes twice: up to the question, without
/// a turn that would block others, and with the yes from the beginning.
pub(super) async fn walk(
    desk: &Arc<WriteContext>,
    sender: &Arc<Sender>,
    docket: &mut EntryBuilder,
    caller: &Caller,
    plan: &WriteRequest,
    confirm: Option<String>,
) -> Result<Passed, Refusal> {
    let mut policy = desk.policy_for(caller);
    if is_answer_to_a_rule(&policy, caller) {
        policy = policy.asking(THINKING, a_rule());
    }
    let Some(limit) = policy.thinking() else {
        let brought = confirm.map_or(Brought::Nothing, Brought::Token);
        let passed = once(desk, sender, &policy, docket, caller, plan, brought);
        let passed = Box::pin(passed).await?;
        let Passed::Asked(asked) = passed else {
            return Ok(passed);
        };
        // A rule demands a person's yes in place of the token.
        let policy = policy.asking(THINKING, a_rule());
        let yes = ask::approval((desk, &policy), docket, caller, *asked, THINKING).await?;
        let brought = Brought::Yes(yes);
        return Box::pin(once(desk, sender, &policy, docket, caller, plan, brought)).await;
    };
    let policy = &policy;
    let brought = ask::brought(desk, docket, caller).await?;
    let mut passed = Box::pin(once(desk, sender, policy, docket, caller, plan, brought)).await?;
    if let Passed::Asked(asked) = passed {
        let yes = ask::approval((desk, policy), docket, caller, *asked, limit).await?;
        let brought = Brought::Yes(yes);
        passed = Box::pin(once(desk, sender, policy, docket, caller, plan, brought)).await?;
    }
    if confirm.is_some() {
        passed.warn(Warning::new(
            "confirm_ignored",
            "writes are confirmed by a person here; confirm counts for nothing.",
        ));
    }
    Ok(passed)
}

/// True if the call brings a person's answer to a question that a rule demanded.
fn is_answer_to_a_rule(policy: &Policy, caller: &Caller) -> bool {
    matches!(policy.writes, WritePolicy::Preview) && matches!(caller.asker, Asker::Answered { .. })
}

/// The line that set the level, where a rule has a person asked.
fn a_rule() -> SetBy {
    SetBy::new("then = \"person\"", Layer::Rule)
}

/// Goes down the line once, within the room for pages that are compared; what is shown is cut to the
/// caller's answer before that ends.
async fn once(
    desk: &Arc<WriteContext>,
    sender: &Arc<Sender>,
    policy: &Policy,
    docket: &mut EntryBuilder,
    caller: &Caller,
    plan: &WriteRequest,
    brought: Brought,
) -> Result<Passed, Refusal> {
    let passed = Box::pin(through(desk, sender, policy, docket, caller, plan, brought));
    render_budget::within(async {
        let passed = passed.await?;
        Ok(match caller.extent {
            Extent::Bounded => passed.bounded(),
            Extent::Whole => passed,
        })
    })
    .await
}

async fn through(
    desk: &Arc<WriteContext>,
    sender: &Arc<Sender>,
    policy: &Policy,
    docket: &mut EntryBuilder,
    caller: &Caller,
    plan: &WriteRequest,
    brought: Brought,
) -> Result<Passed, Refusal> {
    let (session, source) = (&caller.session, plan.source());
    docket.under(policy);
    let (enabled, route) = Route::of(policy, session, brought)?;
    let wrote_whole = source.says_whole_content() || route.wrote_whole(desk, session);
    let mut draft = match source.joins() {
        Some(drafting) => Some(add_to_draft::hold(desk, drafting).await?),
        None => None,
    };
    let route = if draft.is_some() { Route::Join } else { route };
    let mut turn = match &route {
        Route::Send(warrant) => lock::take(desk, session, source, warrant).await?,
        Route::Preview | Route::Open | Route::Ask | Route::Join => None,
    };
    let (call, on) = (docket.call(), draft.as_ref().map(HeldDraft::draft));
    let read = match read::changes((desk, policy), caller, call, source, &route, on).await {
        Ok(read) => read,
        Err(stopped) => return Err(show::stopped(desk, enabled, docket, session, stopped).await),
    };
    docket.about(&read.set);
    let allowed = gates::paths(enabled, read.set)?;
    let said = source.said(desk, allowed.set());
    docket.says(said.as_ref());
    let seen = check::CheckInput {
        conflict: read.conflict,
        said,
        was_shown: route.was_shown(),
        stays_open: matches!(route, Route::Open),
        joins: draft.is_some(),
        beside: read.beside,
    };
    let mut checked = check::look(desk, policy, allowed.set(), seen).await?;
    docket.counted(checked.lines);
    docket.warned(checked.warnings());
    let way = rule::held(desk, policy, caller, allowed, &mut checked, route).await?;
    if way.set().is_list() {
        // Each change takes a turn of its own.
        let held = turn.take().and_then(|turn| turn.proposal);
        let all = &mut Many {
            desk,
            sender,
            docket,
            session,
            caller,
            held,
        };
        return all.go(policy, way, checked).await;
    }
    match way {
        RuledRoute::Open(allowed) => {
            take(caller, allowed.set()).await?;
            let preview = propose::open(desk, docket, session, allowed.set(), checked).await;
            preview.map(Passed::previewed)
        }
        way if way.set().is_nothing() && draft.is_none() => {
            let held = turn.as_mut().and_then(|turn| turn.proposal.take());
            let unchanged = show::nothing_to_do(desk, docket, way.set(), checked.notes, held);
            unchanged.await.map(Passed::unchanged)
        }
        RuledRoute::Preview(allowed) => {
            let preview = show::show(desk, docket, session, allowed.set(), checked).await;
            preview.map(Passed::previewed)
        }
        RuledRoute::Ask(allowed) => Ok(Passed::to_ask(allowed.set(), checked)),
        RuledRoute::Join(allowed) => {
            let held = draft.take().zip(source.joins());
            let preview = add_to_draft::join(desk, docket, held, allowed.set(), checked).await;
            preview.map(Passed::previewed)
        }
        RuledRoute::Send(cleared, warrant) => {
            take(caller, cleared.set()).await?;
            let knowing = {
                let change = &cleared.set().first().change;
                desk.memory.knowing(session, change, wrote_whole)
            };
            let confirmation = warrant.spend(desk, session)?;
            docket.confirmed(policy, &confirmation, cleared.set().proposal());
            let permit = gates::confirm(cleared, confirmation)?;
            render_budget::give_back();
            let job = send::WriteJob {
                docket: docket.clone(),
                checked,
                session: session.clone(),
                knowing,
                turn,
            };
            send::in_its_own_task(desk, sender, permit, job)
                .await
                .map(Passed::Sent)
        }
    }
}

/// Takes the changes of a set that were asked for from what a delegate may make.
async fn take(caller: &Caller, set: &ChangeSet) -> Result<(), Refusal> {
    let is_asked = |one: &&SetChange| !one.change.is_empty() && set.only_mends(one).is_none();
    let taken = caller.take(set.iter().filter(is_asked).count()).await;
    taken.map_err(|failure| Refusal::at(Gate::Rules, failure))
}

/// A set that was asked for as a list, at the end of the line.
struct Many<'a> {
    desk: &'a Arc<WriteContext>,
    sender: &'a Arc<Sender>,
    docket: &'a mut EntryBuilder,
    session: &'a SessionId,
    caller: &'a Caller,
    /// The proposal that is applied.
    held: Option<HeldProposal>,
}

impl Many<'_> {
    async fn go(
        &mut self,
        policy: &Policy,
        way: RuledRoute<'_>,
        checked: SetCheck,
    ) -> Result<Passed, Refusal> {
        let (desk, docket, session) = (self.desk, &mut *self.docket, self.session);
        match way {
            way if way.set().is_nothing() => {
                let held = self.held.take();
                let set = way.set();
                let unchanged =
                    batch_preview::nothing_to_do(desk, docket, set, checked, held).await?;
                Ok(Passed::Answer(WriteAnswer::Set(Box::new(unchanged))))
            }
            RuledRoute::Open(allowed) => {
                take(self.caller, allowed.set()).await?;
                let shown =
                    propose::open_set(desk, docket, session, allowed.set(), checked).await?;
                Ok(Passed::Answer(WriteAnswer::SetPreview(Box::new(shown))))
            }
            RuledRoute::Preview(allowed) => {
                let shown = (allowed.set(), self.caller.extent);
                let shown = batch_preview::show(desk, docket, session, shown, checked).await?;
                Ok(Passed::Answer(WriteAnswer::SetPreview(Box::new(shown))))
            }
            RuledRoute::Ask(allowed) | RuledRoute::Join(allowed) => {
                Ok(Passed::to_ask(allowed.set(), checked))
            }
            RuledRoute::Send(cleared, warrant) => {
                take(self.caller, cleared.set()).await?;
                let confirmation = warrant.spend(desk, session)?;
                docket.confirmed(policy, &confirmation, cleared.set().proposal());
                let permit = gates::confirm(cleared, confirmation)?;
                render_budget::give_back();
                let job = apply::SetJob {
                    docket: docket.clone(),
                    checked,
                    held: self.held.take(),
                    family: self.caller.family.clone(),
                };
                apply::in_its_own_task(desk, self.sender, session, permit, job)
                    .await
                    .map(Passed::Sent)
            }
        }
    }
}

impl Passed {
    fn to_ask(set: &ChangeSet, checked: SetCheck) -> Self {
        Self::Asked(Box::new(ask::ToAsk::of(set, checked)))
    }

    fn previewed(preview: Preview) -> Self {
        Self::Answer(WriteAnswer::Preview(Box::new(preview)))
    }

    /// The part of it that fits into an answer.
    fn bounded(self) -> Self {
        let Self::Answer(answer) = self else {
            return self;
        };
        Self::Answer(match answer {
            WriteAnswer::Preview(preview) => WriteAnswer::Preview(Box::new(preview.bounded())),
            WriteAnswer::SetPreview(preview) => {
                WriteAnswer::SetPreview(Box::new(preview.bounded()))
            }
            answer => answer,
        })
    }

    fn unchanged(applied: Applied) -> Self {
        Self::Answer(WriteAnswer::Applied(Box::new(applied)))
    }

    /// True if a proposal was kept, by which the log has grown.
    pub(super) const fn has_proposed(&self) -> bool {
        match self {
            Self::Answer(WriteAnswer::Preview(preview)) => preview.proposal.is_some(),
            Self::Answer(WriteAnswer::SetPreview(preview)) => preview.proposal.is_some(),
            Self::Answer(_) | Self::Asked(_) | Self::Sent(_) => false,
        }
    }

    pub(super) fn into_answer(self) -> Result<WriteAnswer, Failure> {
        match self {
            Self::Answer(answer) => Ok(answer),
            Self::Sent(answer) => answer,
            Self::Asked(_) => Err(send::broke_off()),
        }
    }

    fn warn(&mut self, warning: Warning) {
        let (Self::Answer(answer) | Self::Sent(Ok(answer))) = self else {
            return;
        };
        match answer {
            WriteAnswer::Preview(preview) => &mut preview.notes,
            WriteAnswer::Applied(applied) => &mut applied.notes,
            WriteAnswer::SetPreview(preview) => &mut preview.notes,
            WriteAnswer::Set(set) => &mut set.notes,
        }
        .warnings
        .push(warning);
    }
}
