//! The way of every write: read [`Pipeline::through`] once, from top to bottom.
//!
//! 1. The policy and what the caller brought decide the route ([`Route`]).
//! 2. A write to send takes its lock ([`lock`]) before anything is read.
//! 3. The changes are made from the pages as they are ([`read`]).
//! 4. The gate *paths* judges their places ([`gates::paths`]), the checks look at them ([`check`]),
//!    and the operator's rules may demand more ([`rule`]).
//! 5. They end there ([`Stop`]): shown ([`show`]), left open for a person ([`propose`]), in a draft
//!    ([`add_to_draft`]), or a person is asked ([`ask`]), and with the yes everything begins again;
//!    or they are confirmed ([`gates::confirm`]).
//! 6. A confirmed set is recorded, sent, settled and answered ([`send`], [`apply`]).
//!
//! Only the pipeline holds the whole context; a stage is a function that takes what it uses.

use std::mem;
use std::sync::Arc;

use crate::audit::{CallId, DraftChange, HeldDraft, HeldProposal};
use crate::change::Warning;
use crate::error::{Failure, Result};
use crate::gates::{
    self, ChangeSet, Cleared, Gate, Gated, Layer, Policy, Refusal, SetBy, SetChange, THINKING,
    WritePolicy,
};
use crate::render_budget;
use crate::wiki::Sender;

use super::source::{Under, WriteRequest};
use super::stages::ask::{Asking, ToAsk};
use super::stages::check::{CheckInput, SetCheck};
use super::stages::rule::Ruling;
use super::stages::send::{WriteJob, broke_off};
use super::stages::{
    add_to_draft, apply, batch_preview, check, lock, propose, read, rule, send, show,
};
use crate::write::{
    Asker, Brought, Caller, EntryBuilder, Extent, Preview, Route, Stop, Warrant, WriteAnswer,
    WriteContext, WriteLock,
};

/// The result of a write's stages.
enum Passed {
    /// Nothing was sent.
    Answer(WriteAnswer),
    /// Nothing was sent; a person must be asked first.
    Asked(Box<ToAsk>),
    /// Something was sent, or should have been.
    Sent(Result<WriteAnswer>),
}

/// A write on its way.
pub(super) struct Pipeline<'a> {
    context: &'a Arc<WriteContext>,
    sender: &'a Arc<Sender>,
    caller: &'a Caller,
    request: &'a WriteRequest,
    policy: Arc<Policy>,
    record: EntryBuilder,
    held: Held,
}

/// What a write holds while it goes through its stages.
#[derive(Default)]
struct Held {
    /// The draft that it joins.
    draft: Option<HeldDraft>,
    /// The proposal that it applies.
    proposal: Option<HeldProposal>,
    lock: Option<WriteLock>,
}

impl<'a> Pipeline<'a> {
    pub(super) fn new(
        context: &'a Arc<WriteContext>,
        sender: &'a Arc<Sender>,
        caller: &'a Caller,
        request: &'a WriteRequest,
        call: CallId,
    ) -> Self {
        Self {
            context,
            sender,
            caller,
            request,
            policy: Arc::new(context.policy_for(caller)),
            record: EntryBuilder::open(call, caller, context.past.key()),
            held: Held::default(),
        }
    }

    /// Takes the request all the way. If a person's yes is due, it goes twice: up to the question,
    /// without a lock that would block others, and with the yes from the beginning.
    ///
    /// # Errors
    /// What stopped it; on record.
    pub(super) async fn run(&mut self, brought: Brought) -> Result<WriteAnswer> {
        let token = match &brought {
            Brought::Token(token) => Some(token.clone()),
            Brought::Nothing | Brought::Yes(_) | Brought::Decision(_) => None,
        };
        self.request.tell(&self.context.wiki, &mut self.record);
        if let Some(id) = self.request.proposal()
            && let Ok(proposal) = self.context.audit.proposals.get(id).await
        {
            self.record.decides_on(&proposal);
        }
        match self.asking(brought).await {
            Ok(Passed::Answer(mut answer)) => {
                // The log has grown by a proposal.
                if answer.left_to_people().is_some() {
                    self.context.house.purges.start_if_due();
                }
                Ok(answer)
            }
            Ok(Passed::Sent(answer)) => answer,
            Ok(Passed::Asked(_)) => Err(broke_off()),
            Err(refusal) => Err(self.refused(token, refusal).await),
        }
    }

    /// Puts a refusal on record.
    async fn refused(&mut self, token: Option<String>, mut refusal: Refusal) -> Failure {
        let context = self.context;
        if let Some(token) = token {
            let failure = context.of_used(self.caller, &token, refusal.failure);
            refusal.failure = failure.await;
        }
        if let WriteRequest::Undo(undo) = self.request
            && !self.record.knows_page()
        {
            let call = context.call(&self.policy, &self.record, Under::Wiki);
            if let Some(story) = undo.meant_when_refused(call).await {
                self.record.meant(&story);
            }
        }
        context.record_refusal(&self.record, &refusal).await;
        refusal.failure
    }

    async fn asking(&mut self, brought: Brought) -> Gated<Passed> {
        if is_answer_to_a_rule(&self.policy, self.caller) {
            self.ask_by_rule();
        }
        let (asks, mut ignored) = (self.policy.thinking().is_some(), false);
        let brought = if asks {
            ignored = matches!(brought, Brought::Token(_));
            self.questions().brought(&mut self.record).await?
        } else {
            brought
        };
        let mut passed = self.once(brought).await?;
        if let Passed::Asked(asked) = passed {
            if !asks {
                // A rule demands a person's yes in place of the token.
                self.ask_by_rule();
            }
            let questions = self.questions();
            let yes = questions
                .approval(&self.policy, &self.record, *asked)
                .await?;
            passed = self.once(Brought::Yes(yes)).await?;
        }
        if ignored {
            passed.warn(Warning::new(
                "confirm_ignored",
                "writes are confirmed by a person here; confirm counts for nothing.",
            ));
        }
        Ok(passed)
    }

    fn ask_by_rule(&mut self) {
        let by = SetBy::new("then = \"person\"", Layer::Rule);
        self.policy = Arc::new(self.policy.asking(THINKING, by));
    }

    fn questions(&self) -> Asking<'a> {
        Asking {
            context: self.context,
            caller: self.caller,
        }
    }

    /// Goes through the stages once, within the room for pages that are compared; what is shown is
    /// cut to the caller's answer before that ends.
    async fn once(&mut self, brought: Brought) -> Gated<Passed> {
        let extent = self.caller.extent;
        let passed = Box::pin(self.through(brought));
        let passed = render_budget::within(async {
            Ok(match passed.await? {
                Passed::Answer(answer) => Passed::Answer(answer.bounded(extent)),
                passed => passed,
            })
        });
        let passed = passed.await;
        self.held = Held::default();
        passed
    }

    async fn through(&mut self, brought: Brought) -> Gated<Passed> {
        let (context, caller) = (self.context, self.caller);
        let policy = Arc::clone(&self.policy);
        let policy = &*policy;
        self.record.under(policy);
        let (enabled, route) = Route::decide(policy, &caller.session, brought)?;
        let route = self.hold(policy, route).await?;
        let call = context.call(policy, &self.record, self.held.under(&route));
        let read = read::changes(call, self.request, &route, caller.note.as_ref());
        let read = match self.record.stage("write.read", read).await {
            Ok(read) => read,
            Err(stopped) => {
                let (audit, previews) = (&context.audit, &context.memory.previews);
                let merged = show::stopped(audit, previews, enabled, &self.record, stopped);
                return Err(merged.await);
            }
        };
        let input = CheckInput {
            conflict: read.conflict,
            said: self.request.said(call, &read.set).await,
            was_shown: route.was_shown(),
            asks_rights: check::asks_rights(&route, &read.set),
            beside: read.beside,
        };
        self.record.said.clone_from(&input.said);
        self.record.about(&read.set);
        let allowed = gates::paths(enabled, read.set)?;
        let checked = check::check(&context.index, policy, allowed.set(), input);
        let mut checked = self.record.stage("write.check", checked).await?;
        self.record.counted(checked.lines);
        self.record.warned(checked.warnings());
        let facts = rule::facts(&context.audit, policy, &caller.client, &checked.facts);
        let facts = self.record.stage("write.rules", facts).await?;
        let shown = route.previews_token().map(str::to_owned);
        let can_ask = caller.asker.can_ask();
        let (ruling, by_rule) = rule::apply(policy, allowed, &facts, route, can_ask)?;
        checked.notes.warnings.extend(by_rule);
        match ruling.unless_nothing_to_do(caller.proposes) {
            Ruling::Next(cleared, warrant) => self.send(policy, cleared, warrant, checked).await,
            Ruling::Stop(stop, allowed) => {
                if let (Stop::Propose, Some(token)) = (stop, shown) {
                    // The same preview becomes one proposal.
                    let previews = context.previews(caller);
                    Box::pin(Warrant::Preview(token).spend(&previews)).await?;
                }
                self.stop(stop, allowed.set(), checked).await
            }
        }
    }

    /// Takes what the request holds: the draft that it joins; or its lock, and the proposal that it
    /// applies.
    async fn hold(&mut self, policy: &Policy, route: Route) -> Gated<Route> {
        let context = self.context;
        if let Some(drafting) = self.request.joins() {
            self.held.draft = Some(add_to_draft::hold(&context.past, drafting).await?);
            return Ok(Route::Stop(Stop::AddToDraft));
        }
        // An open attempt of an earlier run may interfere, or be what is meant.
        let is_due = matches!(route, Route::Send(_)) || self.request.reads_record();
        if is_due {
            context.recovered().await;
        }
        if let Route::Send(warrant) = &route {
            let call = context.call(policy, &self.record, Under::Wiki);
            let turn = warrant.turn(call, self.request).await?;
            // Held before the locks: the holder of a proposal of many changes waits for the locks
            // of each.
            if let Some(id) = self.request.proposal() {
                let held = context.proposals.hold_open(id).await;
                self.held.proposal = Some(held.map_err(Refusal::by(Gate::Change))?);
            }
            let longest = context.patience.queueing;
            let lock = lock::take(&context.audit, turn, longest);
            self.held.lock = Some(self.record.stage("write.lock", lock).await?);
            self.still_counts(warrant).await?;
        }
        if is_due {
            Box::pin(context.recovered_since()).await?;
        }
        Ok(route)
    }

    /// Refuses a token that another server used up while this call waited for its turn.
    async fn still_counts(&self, warrant: &Warrant) -> Gated<()> {
        let Warrant::Preview(token) = warrant else {
            return Ok(());
        };
        let (context, session) = (self.context, &self.caller.session);
        let fetched = context.fetch_preview(self.caller, token).await;
        let counts = fetched.and_then(|()| context.memory.previews.turn_of(session, token));
        counts.map(drop).map_err(Refusal::by(Gate::Confirm))
    }

    /// Ends a write before anything is sent.
    async fn stop(&mut self, stop: Stop, set: &ChangeSet, mut checked: SetCheck) -> Gated<Passed> {
        let context = self.context;
        let (mut token, mut proposal) = (None, None);
        match stop {
            Stop::Ask => {
                let set = set.clone();
                return Ok(Passed::Asked(Box::new(ToAsk { set, checked })));
            }
            Stop::Unchanged => {
                let (proposals, held) = (&context.proposals, self.held.proposal.take());
                let unchanged = show::unchanged(proposals, &self.record, set, checked.notes, held);
                return Ok(Passed::Answer(unchanged.await?));
            }
            Stop::Preview => {
                let (audit, previews) = (&context.audit, &context.memory.previews);
                token = Some(show::keep(audit, previews, &self.record, set).await?);
            }
            Stop::Propose => {
                self.take(set).await?;
                let review = context.review_for(self.caller);
                let (proposals, record) = (&context.proposals, &mut self.record);
                let kept = propose::keep(proposals, &review, record, set, &mut checked.notes);
                proposal = kept.await?;
            }
            Stop::AddToDraft => {
                let held = self.held.draft.take().zip(self.request.joins());
                let (held, drafting) =
                    held.ok_or_else(|| Refusal::at(Gate::Record, broke_off()))?;
                let audit = &context.audit;
                let change = DraftChange {
                    shown: checked.notes.warnings.clone(),
                    ..drafting.as_drafted(set)
                };
                let joined = add_to_draft::join(audit, &self.record, held, drafting, change);
                let joined = joined.await?;
                checked.notes.join(joined);
            }
        }
        let extent = self.caller.extent;
        let mut shown = Preview {
            confirm: token,
            proposal,
            ..batch_preview::preview(&context.wiki, set, checked, extent)
        };
        if extent == Extent::Brief && self.request.says_whole_content() {
            shown.outline(&set.first().change);
        }
        Ok(Passed::Answer(WriteAnswer::Preview(Box::new(shown))))
    }

    /// Sends a confirmed write, in a task of its own.
    async fn send(
        &mut self,
        policy: &Policy,
        cleared: Cleared<'_>,
        warrant: Warrant,
        checked: SetCheck,
    ) -> Gated<Passed> {
        let (context, caller) = (self.context, self.caller);
        self.take(cleared.set()).await?;
        if let Some(proposal) = &mut self.held.proposal {
            proposal.begin().await?;
        }
        let previews = context.previews(caller);
        let wrote_whole = self.request.says_whole_content() || warrant.wrote_whole(&previews);
        let change = &cleared.set().first().change;
        let knowing = context.knowing(&caller.session, change, wrote_whole).await;
        let confirmation = Box::pin(warrant.spend(&previews)).await?;
        let proposal = cleared.set().proposal();
        self.record.confirmed(policy, &confirmation, proposal);
        let permit = gates::confirm(cleared, confirmation)?;
        render_budget::give_back();
        let held = mem::take(&mut self.held);
        let job = WriteJob {
            record: self.record.clone(),
            checked,
            proposal: held.proposal,
            // Each change of a set takes a lock of its own.
            lock: { held.lock.filter(|_| !permit.set().is_list()) }.unwrap_or_default(),
            knowing,
            family: caller.family.clone(),
        };
        let sent = if permit.set().is_list() {
            apply::in_its_own_task(context, self.sender, permit, job).await
        } else {
            send::in_its_own_task(context, self.sender, permit, job).await
        };
        sent.map(Passed::Sent)
    }

    /// Takes the changes of a set that were asked for from what a delegate may make.
    async fn take(&self, set: &ChangeSet) -> Gated<()> {
        let is_asked = |one: &&SetChange| !one.change.is_empty() && set.only_mends(one).is_none();
        let taken = self.caller.take(set.iter().filter(is_asked).count()).await;
        taken.map_err(Refusal::by(Gate::Rules))
    }
}

impl Held {
    /// The states that the changes build on: for a set that stays open the session's open ones.
    fn under(&self, route: &Route) -> Under<'_> {
        match (&self.draft, &self.proposal, route) {
            (Some(draft), _, _) => Under::Draft(draft.draft()),
            (None, Some(proposal), _) => Under::Held(proposal),
            (None, None, Route::Stop(Stop::Propose)) => Under::OpenSets,
            (None, None, Route::Stop(_) | Route::Send(_)) => Under::Wiki,
        }
    }
}

/// True if the call brings a person's answer to a question that a rule demanded.
fn is_answer_to_a_rule(policy: &Policy, caller: &Caller) -> bool {
    matches!(policy.writes, WritePolicy::Preview) && matches!(caller.asker, Asker::Answered { .. })
}

impl Passed {
    fn warn(&mut self, warning: Warning) {
        if let Self::Answer(answer) | Self::Sent(Ok(answer)) = self {
            answer.notes_mut().warnings.push(warning);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::{Held, Pipeline};
    use crate::audit::CallId;
    use crate::error::Code;
    use crate::gates::{Asked, WritePolicy};
    use crate::write::caller::Asker;
    use crate::write::route::{Brought, Route, Stop, Warrant};
    use crate::write::source::{Delete, Under, WriteRequest};
    use crate::write::testing::{Office, caller, office, policy, set, update};

    #[tokio::test]
    async fn a_token_that_another_server_used_up_during_the_wait_names_its_call() {
        let one = office();
        one.shares_store();
        let two = one.beside(policy(WritePolicy::Preview));
        let (caller, sender) = (caller(Asker::Nobody), Office::sender());
        let (here, session) = (&one.desk.memory.previews, &caller.session);
        let token = here.offer(session, set(update(7))).unwrap().token;
        let asked = Asked::new("wikijs_update_page", Map::new());
        one.desk.keep_asked(&caller, &token, asked).await;
        two.desk.fetch_preview(&caller, &token).await.unwrap();
        let (call, previews) = (CallId::new().unwrap(), one.desk.previews(&caller));
        assert!(call.during(previews.spend(&token)).await.is_ok());
        let request = WriteRequest::Delete(Delete {
            id: 7,
            trash: None,
            if_updated_at: None,
        });
        let id = CallId::new().unwrap();
        let mut late = Pipeline::new(&two.desk, &sender, &caller, &request, id);
        let failure = late.run(Brought::Token(token.clone())).await.unwrap_err();
        assert_eq!(failure.code, Code::ConfirmExpired);
        assert_eq!(failure.details["usedBy"], call.to_string());
        let told = &failure.message;
        assert!(told.contains("nothing of it is on record"), "{told}");
        // One that looked for it before the note was there.
        let three = one.beside(policy(WritePolicy::Preview));
        let gone = three
            .desk
            .memory
            .previews
            .look(session, &token)
            .unwrap_err();
        let failure = three.desk.refuse_input(&caller, Some(&token), gone).await;
        assert_eq!(failure.details["usedBy"], call.to_string());
    }

    #[test]
    fn only_what_stays_open_builds_on_what_is_open() {
        for (route, expected) in [
            (Route::Stop(Stop::Propose), true),
            (Route::Stop(Stop::Preview), false),
            (Route::Stop(Stop::Ask), false),
            (Route::Stop(Stop::AddToDraft), false),
            (Route::Send(Warrant::StaticToken), false),
        ] {
            let held = Held::default();
            let under = held.under(&route);
            assert_eq!(matches!(under, Under::OpenSets), expected, "{under:?}");
            assert_eq!(matches!(under, Under::Wiki), !expected, "{under:?}");
        }
    }
}
