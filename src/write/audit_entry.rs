//! The record of one call, gathered while the call runs.

use std::time::Instant;

use crate::audit::{
    ApprovalId, AuditEntry, AuditEvent, AuditLog, AuditResult, CallHistory, CallId, DraftName,
    Exclusions, KeyDigest, OTHER, Outcome, Proposal, ProposalId, ProposalState, ProposedChange,
    SaidWhenMade,
};
use crate::change::{Change, Operation, Warning};
use crate::error::Failure;
use crate::gates::{
    Asked, ChangeSet, Confirmation, Gate, Policy, Refusal, SessionId, SetChange, WritePolicy,
};
use crate::memory::MemoryPage;
use crate::page::{Date, Field, LineCounts, Locale, Note, PagePath, PageState};
use crate::trace::{self, SpanEnd, SpanKind};
use crate::view::WriteTarget;

use super::caller::Caller;

/// Builds the audit entries of a call from the facts known so far.
#[derive(Debug, Clone)]
pub(crate) struct EntryBuilder {
    began: Instant,
    entry: AuditEntry,
    /// The reason for the write: the note that was shown with the change, if it was shown.
    pub(super) note: Option<Note>,
    /// The call of the tool, as it was given.
    asked: Option<Asked>,
    confirmed: (Gate, &'static str),
    /// What leaves a change to people, where one does: the call, a dry run, the level, or a rule.
    left_open: (Gate, &'static str),
    /// The source's own warning, about no change in particular.
    pub(super) said: Vec<Warning>,
    /// The changes of a proposed set that a person left out.
    pub(super) omitted: Option<Exclusions>,
    /// True if its caller leaves the change to people.
    proposes: bool,
    session: SessionId,
}

impl EntryBuilder {
    pub(super) fn open(call: CallId, caller: &Caller, key: KeyDigest) -> Self {
        let mut entry = AuditEntry::new(call, AuditEvent::Refusal);
        entry.client = Some(caller.client.clone());
        entry.actor.clone_from(&caller.actor);
        entry.key = Some(key);
        entry.tool = Some(caller.tool.to_owned());
        Self {
            began: Instant::now(),
            entry,
            note: caller.note.clone(),
            asked: caller.asked.clone(),
            confirmed: (Gate::Confirm, ""),
            left_open: (Gate::DryRun, "dry_run"),
            said: Vec::new(),
            omitted: None,
            proposes: caller.proposes,
            session: caller.session.clone(),
        }
    }

    /// Runs a stage of this write as a span, which tells the ids that its records have. The end of the
    /// call tells of its failure.
    pub(super) fn stage<F: Future>(
        &self,
        name: &'static str,
        work: F,
    ) -> impl Future<Output = F::Output> {
        let end = |_: &F::Output| {
            let entry = &self.entry;
            let mut attributes = vec![("wikijs_gate.call", entry.call.to_string().into())];
            let set = entry
                .set
                .map(|set| ("wikijs_gate.set", set.to_string().into()));
            attributes.extend(set);
            attributes.extend(entry.id.map(|id| ("wikijs_gate.page", id.into())));
            SpanEnd {
                attributes,
                is_error: false,
            }
        };
        trace::span(|| name.into(), SpanKind::Internal, work, end)
    }

    /// The session of its caller.
    pub(super) const fn session(&self) -> &SessionId {
        &self.session
    }

    /// The call is about a place.
    pub(super) fn is_at(&mut self, operation: Operation, locale: &Locale, path: &PagePath) {
        self.entry.operation = Some(operation);
        self.entry.locale = Some(locale.clone());
        self.entry.path = Some(path.clone());
    }

    /// The call is a set of changes.
    pub(super) const fn is_set(&mut self) {
        self.entry.operation = Some(Operation::Update);
        self.entry.set = Some(self.entry.call);
    }

    /// The record of one change of a set, under its own call.
    pub(super) fn of_member(&self, member: &ChangeSet) -> Self {
        let mut record = self.clone();
        record.entry.set = Some(self.entry.call);
        record.entry.call = member.id();
        record.entry.fields.clear();
        record.about(member);
        record
    }

    /// The record of a change of the set that could not be taken back, or that is there again: under
    /// a call of its own, which takes nothing back.
    pub(super) fn not_taken_back(
        &self,
        call: CallId,
        undone: CallId,
        target: Option<&WriteTarget>,
    ) -> Self {
        let mut record = self.clone();
        record.entry.set = Some(self.entry.call);
        record.entry.call = call;
        record.entry.undoes = Some(undone);
        record.entry.fields.clear();
        if let Some(target) = target {
            record.entry.id = target.id;
            record.entry.locale = Some(Locale::as_stored(target.locale.as_str()));
            record.entry.path = Some(PagePath::as_stored(target.path.as_str()));
        }
        record
    }

    /// The call is about a page of which only the id is known yet.
    pub(super) const fn names(&mut self, operation: Operation, id: i64) {
        self.entry.operation = Some(operation);
        self.entry.id = Some(id);
    }

    /// A call that decides on a proposal without writing.
    pub(super) fn of_proposal(
        call: CallId,
        caller: &Caller,
        key: KeyDigest,
        proposal: &Proposal,
    ) -> Self {
        let mut record = Self::open(call, caller, key);
        record.confirmed = (Gate::Operator, "");
        record.decides_on(proposal);
        record
    }

    /// The call decides on a proposal, whose page is all that is known yet.
    pub(super) fn decides_on(&mut self, proposal: &Proposal) {
        self.entry.operation = Some(proposal.first.operation);
        self.entry.id = proposal.first.page;
        self.entry.locale = Some(proposal.first.locale.clone());
        self.entry.path = Some(proposal.first.path.clone());
        self.entry.new_path.clone_from(&proposal.first.new_path);
        self.entry.aside.clone_from(&proposal.first.aside);
        self.entry.proposer = Some(proposal.client.clone());
        self.proposal(proposal.id);
    }

    /// The call was to take back this call, whose page is all that is known.
    pub(super) fn meant(&mut self, story: &CallHistory) {
        self.entry.undoes = Some(story.call);
        if self.entry.path.is_none() {
            self.entry.id = story.id;
            self.entry.locale = story.latest(|record| record.locale.clone());
            self.entry.path = story.place();
        }
    }

    /// The record of something that is remembered, about a page if it is.
    pub(super) fn memory(&self, page: Option<&MemoryPage>) -> AuditEntry {
        let mut entry = self.entry(AuditEvent::Memory);
        entry.id = page.map(|page| page.id);
        entry.locale = page.map(|page| page.locale.clone());
        entry.path = page.map(|page| page.path.clone());
        entry
    }

    /// The call is under this policy.
    pub(super) const fn under(&mut self, policy: &Policy) {
        self.left_open = match policy.writes {
            WritePolicy::DryRun if self.proposes => (Gate::Confirm, "propose"),
            WritePolicy::Off | WritePolicy::DryRun => (Gate::DryRun, "dry_run"),
            WritePolicy::Review { .. } => (Gate::Confirm, "review"),
            // At these levels only a rule leaves a change to people.
            WritePolicy::Person { .. } | WritePolicy::Token(_) | WritePolicy::Preview => {
                (Gate::Rules, "review")
            }
        };
    }

    /// True if the user of the machine calls, not a client.
    pub(super) const fn is_of_operator(&self) -> bool {
        self.entry.actor.is_some()
    }

    /// The record of changes discarded from a draft: nothing was sent.
    pub(super) fn discarded(&self, draft: &DraftName) -> AuditEntry {
        let mut entry = self.joined(draft);
        entry.decision = Some("discarded".to_owned());
        entry
    }

    /// The record of a change that joined a draft: nothing can be confirmed, and nothing was sent.
    pub(super) fn joined(&self, draft: &DraftName) -> AuditEntry {
        let mut entry = self.at_gate(AuditEvent::Preview, (Gate::Confirm, "drafted"));
        entry.reason = Some(format!("draft {draft}"));
        entry
    }

    /// True if the page is known yet.
    pub(super) const fn knows_page(&self) -> bool {
        self.entry.path.is_some()
    }

    pub(super) const fn call(&self) -> CallId {
        self.entry.call
    }

    /// The changes are made, so their pages are known.
    pub(super) fn about(&mut self, set: &ChangeSet) {
        self.note = set.note().cloned();
        if set.is_list() {
            self.is_set();
            let fields = set.iter().flat_map(|one| one.change.fields());
            self.entry.fields = fields.collect();
            self.entry.undoes = set.batch().undoes;
            let omitted = set.batch().omitted.as_ref();
            self.omitted = omitted.map(|omitted| omitted.all.clone());
            // The first change of a proposal may be left out of its set.
            if self.omitted.is_some() && self.knows_page() {
                self.of_page(&set.first().change);
            }
            return;
        }
        let change = &set.first().change;
        self.of_page(change);
        self.entry.fields = change.fields();
        self.entry.reason = Proposal::loss(change.lost());
        self.entry.undoes = set.first().undoes;
        self.entry.also_undoes.clone_from(&set.first().also_undoes);
        if let Some(id) = set.proposal() {
            self.proposal(id);
        }
    }

    /// Names the page of a change, and what becomes of it.
    fn of_page(&mut self, change: &Change) {
        let target = change.target();
        self.entry.operation = Some(change.operation());
        self.entry.id = target.id;
        self.entry.locale = Some(target.locale.clone());
        self.entry.path = Some(target.path.clone());
        self.entry.new_path = change
            .after()
            .filter(|after| change.moves() && after.path != target.path)
            .map(|after| after.path.clone());
        self.entry.aside = change.aside().cloned();
    }

    /// The call takes another write back.
    pub(super) const fn undoes(&mut self, call: Option<CallId>) {
        self.entry.undoes = call;
    }

    /// The call belongs to a proposal.
    pub(super) fn proposal(&mut self, id: ProposalId) {
        self.entry.proposal = Some(id.to_string());
    }

    /// A proposal of the change; of a set, the first change with the others.
    pub(super) fn as_proposal(
        &self,
        id: ProposalId,
        session: String,
        change: &Change,
        others: Option<Vec<ProposedChange>>,
    ) -> Proposal {
        let is_list = others.is_some();
        Proposal {
            v: Proposal::VERSION,
            id,
            state: ProposalState::Open,
            created: Date::now(),
            call: self.entry.call,
            tool: self.entry.tool.clone().unwrap_or_default(),
            arguments: self.asked.as_ref().map(Asked::digests).unwrap_or_default(),
            client: self.entry.client.clone().unwrap_or_default(),
            actor: self.entry.actor.clone(),
            key: self.entry.key,
            session,
            first: self.as_proposed(change),
            note: self.note.clone(),
            is_list,
            warnings: self.entry.warnings.clone(),
            said: Vec::new(),
            others: others.unwrap_or_default(),
            links_left: Vec::new(),
            links_left_not_kept: 0,
            is_begun: false,
        }
    }

    /// The change, as one of a proposed set.
    pub(super) fn as_proposed(&self, change: &Change) -> ProposedChange {
        let page = change.target();
        let lines = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        ProposedChange {
            operation: change.operation(),
            page: page.id,
            locale: page.locale.clone(),
            path: page.path.clone(),
            new_path: self.entry.new_path.clone(),
            title: page.title.clone(),
            updated_at: change.before().and_then(|page| page.updated_at.clone()),
            fields: change.fields(),
            lines_added: lines(self.entry.lines_added),
            lines_removed: lines(self.entry.lines_removed),
            lost: change.lost().to_vec(),
            undoes: self.entry.undoes,
            before: self.entry.before,
            after: self.entry.after,
            links_mended: None,
            aside: self.entry.aside.clone(),
            renders_anew: change.renders_anew(),
        }
    }

    /// The warnings of the source and of the makers of these changes, for a proposal.
    pub(super) fn said<'a>(
        &self,
        changes: impl Iterator<Item = &'a SetChange>,
    ) -> Vec<SaidWhenMade> {
        let of_all = self.said.iter().map(|warning| (None, warning));
        let of_each = changes.enumerate();
        let of_each = of_each.flat_map(|(number, one)| {
            let warnings = one.warnings.iter();
            warnings.map(move |warning| (Some(number), warning))
        });
        of_all
            .chain(of_each)
            .map(|(change, warning)| SaidWhenMade {
                change,
                warning: warning.clone(),
            })
            .collect()
    }

    /// The record of one change of a proposed set, under the call of the set.
    pub(super) fn of_proposed(&self, one: &SetChange) -> Self {
        let call = self.entry.call;
        let one_of_it = ChangeSet::single(call, one.clone()).noted(self.note.clone());
        let mut record = self.of_member(&one_of_it);
        record.counted(one.change.content_difference().counts());
        record
    }

    /// The record of a proposal's change after the first.
    pub(super) fn proposed(&self) -> AuditEntry {
        let mut entry = self.preview(false);
        entry.decision = Some(OTHER.to_owned());
        entry
    }

    /// The call is confirmed by an approval that it spends; a proposal by the decision on it.
    pub(super) fn confirmed(
        &mut self,
        policy: &Policy,
        by: &Confirmation,
        proposal: Option<ProposalId>,
    ) {
        self.confirmed = if policy.authority.decides() {
            (Gate::Operator, "yes")
        } else {
            (Gate::Confirm, policy.writes.as_str())
        };
        self.entry.confirms = match proposal {
            Some(proposal) => Some(proposal.into()),
            None => by.approval().map(ApprovalId::from),
        };
        self.entry.standing = by.standing().map(|scope| scope.as_str().to_owned());
    }

    /// The lines of the content's difference are counted.
    pub(super) fn counted(&mut self, lines: LineCounts) {
        self.entry.set_lines(lines);
    }

    /// Keeps both states in the audit directory.
    pub(super) async fn keep_states(
        &mut self,
        audit: &AuditLog,
        change: &Change,
    ) -> AuditResult<()> {
        let keep = async |page: Option<&PageState>| match page {
            Some(page) => audit.states.keep(page).await.map(Some),
            None => Ok(None),
        };
        // Each is synced to the disk: both at once take half of the time.
        let kept = tokio::try_join!(keep(change.before()), keep(change.after()));
        (self.entry.before, self.entry.after) = kept?;
        Ok(())
    }

    pub(super) fn refusal(&self, refusal: &Refusal) -> AuditEntry {
        let mut entry = self.at_gate(AuditEvent::Refusal, (refusal.gate, "refused"));
        entry.reason = Some(refusal.failure.message.clone());
        entry.code = Some(refusal.failure.code.as_str().to_owned());
        entry
    }

    /// Notes the warnings of checks.
    pub(super) fn warned<'a>(&mut self, warnings: impl Iterator<Item = &'a Warning>) {
        let mut codes: Vec<String> = warnings.map(|one| one.code.to_string()).collect();
        codes.sort_unstable();
        codes.dedup();
        self.entry.warnings = codes;
    }

    pub(super) fn preview(&self, has_token: bool) -> AuditEntry {
        let decided = if has_token {
            (Gate::Confirm, "to_be_confirmed")
        } else {
            self.left_open
        };
        self.at_gate(AuditEvent::Preview, decided)
    }

    /// The record of an undo that was proposed before and waits.
    pub(super) fn waits(&self, proposal: ProposalId) -> AuditEntry {
        let mut entry = self.preview(false);
        entry.reason = Some(format!("waits already, as the proposal {proposal}"));
        entry
    }

    /// The record of a decision on a proposal.
    pub(super) fn decided(&self, decision: &str, why: Option<&str>) -> AuditEntry {
        let mut entry = self.entry(AuditEvent::Proposal);
        entry.gate =
            (self.confirmed.0 == Gate::Operator).then(|| Gate::Operator.as_str().to_owned());
        entry.decision = Some(decision.to_owned());
        entry.reason = why.map(str::to_owned).or(entry.reason);
        entry
    }

    /// The record of a person's answer, or of a question without one; with the call that asked.
    pub(super) fn approval(&self, decision: &str, asked: Option<CallId>) -> AuditEntry {
        let mut entry = self.at_gate(AuditEvent::Approval, (Gate::Confirm, decision));
        let asked = asked.filter(|asked| *asked != entry.call);
        entry.confirms = asked.map(ApprovalId::from);
        entry
    }

    pub(super) fn attempt(&self, step: Operation) -> AuditEntry {
        let mut entry = self.at_gate(AuditEvent::Attempt, self.confirmed);
        entry.step = Some(step.as_str().to_owned());
        entry
    }

    /// The record of a step's outcome, or of a call that had nothing to send.
    pub(super) fn outcome(
        &self,
        outcome: Outcome,
        step: Option<Operation>,
        failure: Option<&Failure>,
    ) -> AuditEntry {
        let mut entry = self.entry(AuditEvent::Outcome);
        entry.outcome = Some(outcome);
        entry.step = step.map(|step| step.as_str().to_owned());
        entry.code = failure.map(|failure| failure.code.as_str().to_owned());
        entry.reason = failure.map(|failure| failure.message.clone());
        entry
    }

    /// The outcome of a whole set; of a proposed one, also the changes that a person left out.
    pub(super) fn end_of_set(&self, outcome: Outcome) -> AuditEntry {
        let mut entry = self.outcome(outcome, None, None);
        entry.reason = self.omitted.as_ref().map(ToString::to_string);
        entry
    }

    fn at_gate(&self, event: AuditEvent, (gate, decision): (Gate, &str)) -> AuditEntry {
        let mut entry = self.entry(event);
        entry.gate = Some(gate.as_str().to_owned());
        entry.decision = Some(decision.to_owned());
        entry
    }

    fn entry(&self, event: AuditEvent) -> AuditEntry {
        let mut entry = self.entry.clone();
        entry.event = event;
        entry.note = self.note.clone().map(String::from);
        entry.ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        entry
    }
}

/// Puts an entry on record; false if that failed, which the log of the program says.
pub(crate) async fn record_or_log(audit: &AuditLog, entry: AuditEntry, what: &str) -> bool {
    let call = entry.call;
    let recorded = audit.record(entry).await;
    if let Err(error) = &recorded {
        tracing::error!(%error, %call, "{what} could not be put on record");
    }
    recorded.is_ok()
}

/// True if an outcome's record keeps the page that was found, because it is not as promised.
pub(super) fn is_worth_keeping(found: &PageState, promised: Option<&PageState>) -> bool {
    promised.is_none_or(|promised| {
        found.thing != promised.thing
            || !Field::ALL
                .iter()
                .all(|field| found.equals(promised, *field))
    })
}
