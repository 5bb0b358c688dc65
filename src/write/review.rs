//! Shows a proposal.

use std::collections::BTreeSet;

use crate::audit::{
    AuditError, CallId, Proposal, ProposalId, ProposalState, ProposedChange, SaidWhenMade,
};
use crate::change::{Change, Risk, Warning};
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, LinkLeft, SetChange};
use crate::page::{Attached, Blob, PageState, check_asset, is_picture, mime_of};
use crate::rules::Facts;
use crate::view::ChangeView;
use crate::wiki::aside;

use super::source::DraftContext;
use super::source::proposal::Needs;
use super::source::proposal::outdated::read_now;
use super::source::proposal::set::{Looked, digest_of, links_left_without, look, needs_of};
use super::stages::batch_preview::{MAX_DIFFS, lines_with_room};
use super::stages::check::{self, CheckInput};
use crate::write::{ConflictCheck, Extent, KeptChange, WriteContext};

/// A proposal as shown to a person or an agent.
#[derive(Debug)]
pub struct Review {
    /// The proposal.
    pub proposal: Proposal,
    /// Its changes, in order.
    pub changes: Vec<Reviewed>,
    /// The reason why it could not be applied now; `None` if it could, or if it is decided.
    pub hindrance: Option<Failure>,
    /// True if somebody is deciding on it now, or it is being applied.
    pub is_held: bool,
    /// The calls that made some of a set and did not finish it, the newest first.
    pub begun_by: Vec<CallId>,
    /// True if this key may read the fields that the proposal shows.
    pub is_readable: bool,
    /// The reason why its kept states are not shown, if this key may not see them.
    pub unseen: Option<Failure>,
    /// The digest of everything shown here; a decision carries it
    /// ([`Apply::expects`](super::Apply)).
    pub digest: String,
    needs: Needs,
}

impl Review {
    /// These changes, by their numbers from 0, and all that depend on them: what a person leaves out
    /// who leaves out these.
    pub fn left_out_with(&self, wanted: &[usize]) -> Vec<usize> {
        self.needs.left_out_with(wanted)
    }

    /// About how many bytes its differences have.
    pub fn bytes(&self) -> usize {
        let all = self.changes.iter();
        all.map(|one| one.change.diff.len()).sum()
    }
}

/// The effect of one change of a proposal.
#[derive(Debug)]
pub struct Reviewed {
    /// The change as it was asked for.
    pub change: ChangeView,
    /// The reason why this change could not be made as things are.
    pub hindrance: Option<Failure>,
    /// Its effect on top of later changes, where it does not fit and the two do not touch.
    pub merged: Option<Box<ChangeView>>,
}

/// The code for whatever keeps all of a proposal from being applied.
const NOT_APPLICABLE: &str = "cannot_be_applied";

/// A warning about an open proposal as things are now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewWarning {
    /// The warning.
    pub warning: Warning,
    /// The changes of a set that it is about, by their numbers from 0; none if it is about all.
    pub changes: Vec<usize>,
}

impl ReviewWarning {
    /// The code of a rule of the operator that holds for the set.
    pub const RULE: &'static str = "rule";

    fn about_all(warning: Warning) -> Self {
        Self {
            warning,
            changes: Vec::new(),
        }
    }

    /// The same from when the proposal was made.
    pub fn said(said: &SaidWhenMade) -> Self {
        Self {
            warning: said.warning.clone(),
            changes: said.change.into_iter().collect(),
        }
    }

    /// True for a rule of the operator, which is no warning of a check.
    pub fn is_rule(&self) -> bool {
        self.warning.code == Self::RULE
    }
}

impl Review {
    /// The risks of the set: those known when it was made, and those of these warnings.
    pub fn risks(&self, warnings: &[ReviewWarning]) -> BTreeSet<Risk> {
        let is_check = |one: &&ReviewWarning| !one.is_rule() && one.warning.code != NOT_APPLICABLE;
        let checks = warnings.iter().filter(is_check);
        let mut risks = self.proposal.risks();
        risks.extend(checks.map(|one| Risk::of_warning(&one.warning.code)));
        risks
    }

    /// Names the warnings when it was made that nothing gives any more: of a decided proposal, or
    /// mended since.
    pub fn warned_before(&self, warnings: &[ReviewWarning]) -> Option<String> {
        let known = |code: &&String| warnings.iter().any(|one| one.warning.code == **code);
        let others = self.proposal.warnings.iter().filter(|code| !known(code));
        let others: Vec<&str> = others.map(String::as_str).collect();
        (!others.is_empty()).then(|| format!("warned of when it was made: {}", others.join(", ")))
    }

    /// The effect of each change, as far as an answer holds it and this key may read it, and how
    /// many differences have no room. What the proposal itself shows of them is taken from it.
    pub fn take_lines(&mut self, extent: Extent) -> (Vec<ChangeView>, usize) {
        let (mut room, mut hidden) = (MAX_DIFFS, 0_usize);
        let lines = self.changes.drain(..).map(|one| one.change);
        let mut lines: Vec<ChangeView> = lines.collect();
        for line in &mut lines {
            if !self.is_readable {
                line.hide();
            } else if extent != Extent::Brief && !line.fits(&mut room) {
                line.hide();
                hidden = hidden.saturating_add(1);
            }
        }
        if extent == Extent::Brief {
            ChangeView::sample(&mut lines);
        }
        (lines, hidden)
    }
}

impl WriteContext {
    /// A proposal that meets a condition, with what it changes, whether it still fits the page, and
    /// the warnings about an open one as things are now, rules first, each sentence once; of a
    /// decided one those of its makers.
    ///
    /// # Errors
    /// `INVALID_INPUT` if there is no such proposal, `AUDIT_UNAVAILABLE` if what was kept of it
    /// cannot be read, `RATE_LIMITED` if others compare large pages at the moment.
    pub async fn review(
        &self,
        id: ProposalId,
        is_meant: impl Fn(&Proposal) -> bool,
    ) -> Result<(Review, Vec<ReviewWarning>)> {
        // Holding it also detects a decision that was cut short.
        let (proposal, hindrance) = match self.proposals.hold_open_now(id).await {
            // The file agrees with the log, so nothing needs to be looked up again.
            Ok(held) => (held.proposal().clone(), None),
            Err(failure) => (self.proposals.one(id).await?, Some(failure)),
        };
        if !is_meant(&proposal) {
            return Err(AuditError::NoProposal.into());
        }
        let is_open = proposal.state == ProposalState::Open;
        let is_held = is_open && matches!(&hindrance, Some(it) if it.code == Code::Timeout);
        let (changes, unseen) = self.changes_to_show(&proposal).await?;
        let looked = if is_open && hindrance.is_none() {
            Box::pin(look(&self.past, &changes)).await
        } else {
            Vec::new()
        };
        let is_readable = self.is_readable(&changes, &looked).await;
        let bytes = changes.iter().map(|(_, change)| change.bytes()).sum();
        let digest = aside(bytes, || digest_of(&proposal, &changes, &looked));
        let needs = needs_of(&self.wiki, &changes).await;
        // Of what is being applied nothing was left behind.
        let begun_by = if is_held {
            Vec::new()
        } else {
            self.proposals.begun_by(&proposal).await?
        };
        let hindrance = hindrance.filter(|_| is_open);
        let hindrance = hindrance.or_else(|| looked.iter().find_map(|one| one.fault.clone()));
        let set = as_set(changes)?;
        let warnings = match &set {
            Some(set) if is_open => {
                let found = Box::pin(self.warnings_of(set, &proposal, hindrance.is_some()));
                with_said(found.await?, &proposal)
            }
            _ if is_open || unseen.is_some() => Vec::new(),
            _ => proposal.said.iter().map(ReviewWarning::said).collect(),
        };
        // The differences are made last: the checks take memory of their own.
        let changes = set.iter().flat_map(ChangeSet::iter).map(|one| &one.change);
        let reviewed = aside(bytes, || self.reviewed(&proposal, changes, looked));
        drop(set);
        let review = Review {
            changes: reviewed,
            hindrance,
            is_held,
            begun_by,
            is_readable,
            unseen,
            digest,
            needs,
            proposal,
        };
        Ok((review, warnings))
    }

    /// The kept changes of a proposal, or why this key may not see them.
    async fn changes_to_show(
        &self,
        proposal: &Proposal,
    ) -> Result<(Vec<KeptChange>, Option<Failure>)> {
        if proposal.changes().any(|one| one.undoes.is_some()) {
            // What it takes back may be a write that an earlier run left open.
            self.recovered().await;
        }
        match self.proposals.changes_of(proposal).await {
            Ok(changes) => Ok((changes, None)),
            Err(failure) if failure.code == Code::RateLimited => Err(failure),
            // Its pages are named, but not its content.
            Err(failure) if failure.code != Code::AuditUnavailable => {
                Ok((Vec::new(), Some(failure)))
            }
            // A decided proposal is shown even if its states were purged.
            Err(_) if !proposal.is_open() => Ok((Vec::new(), None)),
            Err(failure) => Err(failure),
        }
    }

    /// True if this key may read the pages of all changes.
    async fn is_readable(&self, changes: &[KeptChange], looked: &[Looked]) -> bool {
        let mut is_readable = !changes.is_empty() && looked.iter().all(|one| one.is_readable);
        for (_, change) in changes.iter().skip(looked.len()) {
            let read = read_now(&self.wiki, change).await;
            is_readable &= read.is_none_or(|read| read.is_ok());
        }
        is_readable
    }

    /// The warnings about the changes of an open proposal.
    async fn warnings_of(
        &self,
        set: &ChangeSet,
        proposal: &Proposal,
        has_hindrance: bool,
    ) -> Result<Vec<ReviewWarning>> {
        match self.checked_anew(set, proposal).await {
            Ok(warnings) => Ok(warnings),
            Err(failure) if failure.code == Code::RateLimited => Err(failure),
            // Why it does not fit is said of each change.
            Err(_) if has_hindrance => Ok(Vec::new()),
            Err(failure) => Ok(vec![ReviewWarning::about_all(Warning::new(
                NOT_APPLICABLE,
                format!("as things are, it cannot be applied: {failure}"),
            ))]),
        }
    }

    async fn checked_anew(
        &self,
        set: &ChangeSet,
        proposal: &Proposal,
    ) -> Result<Vec<ReviewWarning>> {
        let seen = CheckInput {
            conflict: ConflictCheck::Checked,
            said: Vec::new(),
            was_shown: false,
            asks_rights: false,
            beside: DraftContext::default(),
        };
        let checked = check::check(&self.index, &self.policy, set, seen).await;
        let checked = checked.map_err(|refusal| refusal.failure)?;
        let facts = Facts {
            clients: proposal.client.names(),
            people: proposal.client.people(),
            writes_of_day: 0,
            changes: checked.facts.clone(),
        };
        let rules = self.policy.rules.all_that_hold(&facts).into_iter();
        let rules = rules.map(|verdict| {
            let (name, then) = (&verdict.name, verdict.then.as_str());
            let why = match &*verdict.why {
                "" => String::new(),
                why => format!(": {why}"),
            };
            let warning = Warning::new(ReviewWarning::RULE, format!("{name} asks for {then}{why}"));
            ReviewWarning::about_all(warning)
        });
        let mut found: Vec<ReviewWarning> = rules.collect();
        let of_all = checked.notes.warnings.iter().cloned();
        found.extend(of_all.map(ReviewWarning::about_all));
        let numbered = set.iter().zip(&checked.each).enumerate();
        for (number, (one, warnings)) in numbered {
            for warning in one.change.lost_for_good().iter().chain(warnings) {
                match found.iter_mut().find(|known| known.warning == *warning) {
                    Some(known) => known.changes.push(number),
                    None => found.push(ReviewWarning {
                        warning: warning.clone(),
                        changes: vec![number],
                    }),
                }
            }
        }
        Ok(found)
    }

    /// The links that lead nowhere if a person leaves these changes of an open proposal out, by
    /// their numbers from 0, and with them what depends on them.
    ///
    /// # Errors
    /// `INVALID_INPUT` if there is no such change, or nothing would stay; whatever keeps the changes
    /// from being seen.
    pub async fn links_left_without(
        &self,
        proposal: &Proposal,
        leave_out: &[usize],
    ) -> Result<Vec<LinkLeft>> {
        let changes = self.proposals.changes_of(proposal).await?;
        links_left_without(&self.wiki, changes, leave_out).await
    }

    /// One change of a proposal, by its number from 0, and what its page becomes; `None` of a delete,
    /// and where there is no such change.
    ///
    /// # Errors
    /// Whatever keeps it from being seen.
    pub async fn new_state(
        &self,
        proposal: &Proposal,
        number: usize,
    ) -> Result<Option<(ProposedChange, PageState)>> {
        let Some(one) = proposal.changes().nth(number) else {
            return Ok(None);
        };
        let change = self.proposals.change_of(one, proposal.key).await?;
        Ok(change.after().map(|after| (one.clone(), after.clone())))
    }

    /// The image that one change of a proposal uploads, by its number from 0; `None` if it uploads
    /// none, or none that is whole.
    ///
    /// # Errors
    /// Whatever keeps it from being seen.
    pub async fn new_picture(
        &self,
        proposal: &Proposal,
        number: usize,
    ) -> Result<Option<(&'static str, Blob)>> {
        let new = self.new_state(proposal, number).await?;
        Ok(new.and_then(|(_, after)| match after.thing {
            Some(Attached::Asset(asset)) if is_picture(&after.path) => {
                check_asset(&after.path, asset.bytes.as_bytes()).ok()?;
                Some((mime_of(&after.path), asset.bytes))
            }
            _ => None,
        }))
    }

    /// The effects of the changes, as they are kept and merged with later changes; only what the
    /// proposal says of those that are not kept.
    fn reviewed<'a>(
        &self,
        proposal: &Proposal,
        kept: impl Iterator<Item = &'a Change>,
        looked: Vec<Looked>,
    ) -> Vec<Reviewed> {
        let kept = kept.map(Some).chain(std::iter::repeat(None));
        let looked = looked.into_iter();
        let looked = looked.chain(std::iter::repeat_with(Looked::default));
        let shown = |one: &ProposedChange, change: Option<&Change>| ChangeView {
            values: change.map(Change::values).unwrap_or_default(),
            diff: change.map_or_else(String::new, |change| change.content_diff().0),
            ..ChangeView::proposed(one, self.wiki.page_url(&one.locale, &one.path))
        };
        let all = proposal.changes().zip(kept).zip(looked);
        all.map(|((one, kept), looked)| Reviewed {
            change: shown(one, kept),
            hindrance: looked.fault,
            merged: { looked.merged }.map(|merged| Box::new(shown(one, Some(&merged)))),
        })
        .collect()
    }

    /// The proposal that a call left to people, if it meets a condition and its pages may be read;
    /// with its changes starting at this number, as far as there is room for the differences. They
    /// are left out if this key may not see them, or if they are not kept any more.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE`; what the wiki says.
    pub async fn proposed_set(
        &self,
        call: CallId,
        is_meant: impl Fn(&Proposal) -> bool,
        (from, extent): (usize, Extent),
    ) -> Result<Option<(Proposal, Vec<ChangeView>)>> {
        let mut found = self.audit.proposals.all().await?.into_iter();
        let Some(proposal) = found.find(|one| one.call == call && is_meant(one)) else {
            return Ok(None);
        };
        if !self.past.admits_proposal(&proposal).await? {
            return Ok(None);
        }
        let changes = match self.proposals.changes_of(&proposal).await {
            Err(failure) if failure.code == Code::RateLimited => return Err(failure),
            changes => changes.unwrap_or_default(),
        };
        let changes = changes
            .into_iter()
            .skip(from)
            .map(|(_, change)| change.into());
        let set = ChangeSet::list(call, changes.collect());
        let lines = set.map(|set| lines_with_room(&self.wiki, &set, &[], extent));
        Ok(Some((proposal, lines.unwrap_or_default())))
    }
}

/// Adds the warnings of those who made the changes, which the checks do not find.
fn with_said(mut found: Vec<ReviewWarning>, proposal: &Proposal) -> Vec<ReviewWarning> {
    for said in &proposal.said {
        let is_it = |known: &ReviewWarning| known.warning.code == said.warning.code;
        if !found.iter().any(is_it) {
            found.push(ReviewWarning::said(said));
        }
    }
    found
}

/// The kept changes of a proposal as a set to check; `None` if there are none.
fn as_set(changes: Vec<KeptChange>) -> Result<Option<ChangeSet>> {
    let call = CallId::new()?;
    let changes = changes.into_iter();
    let changes = changes.map(|(one, change)| SetChange::from(change).undoing(one.undoes));
    Ok(ChangeSet::list(call, changes.collect()))
}
