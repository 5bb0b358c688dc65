//! Drafts: a write joins one instead of being shown or sent, and a submitted draft is written as
//! one set.
//!
//! A draft's file is not trusted: each change is compared with the page as it is, and must be one
//! that a call could ask for.

use std::collections::HashMap;

use crate::audit::{AuditError, Draft, DraftChange, DraftName, DraftOwner};
use crate::change::{Change, Warning};
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, DraftMark, LeftOut, Mending, SetChange, TurnOf};
use crate::page::{PagePath, PagePlace, PageState};
use crate::wiki::{Wiki, WikiError};

use super::mending::NewPart;
use super::order::in_order_of_need;
use super::proposal::values;
use super::{
    Agreed, CREATES, ChangeSource, ComparedSet, DraftContext, Made, Stopped, Under, WriteCall,
    WriteRequest, a_few_at_once, checked, digest, mending, whole_page,
};
use crate::write::faults::with_difference;
use crate::write::links::linkers::BREAKS;
use crate::write::{EntryBuilder, ToWrite, broke_off, drafts};

/// The hint if a page was changed since its change joined the draft.
const REBASE: &str = "Make a change of this page with this draft once more, which is then made on the page as it is; or take its change out: wikijs_discard_draft with draft and id.";

/// The warning where headings go to new pages and nobody knows who links to them.
const UNMENDED: &str = "links to the headings that go to new pages are not mended, which needs the content index (WIKI_INDEX); they will lead to the old page.";

/// A write that joins a draft.
#[derive(Debug, Clone)]
pub struct Drafting {
    /// The draft's owner.
    pub owner: DraftOwner,
    /// Its name, or its id.
    pub draft: DraftName,
    /// The write: a plan for one page.
    pub plan: Box<WriteRequest>,
}

impl Drafting {
    /// True if the links to the page are mended if it moves.
    fn updates_links(&self) -> bool {
        matches!(&*self.plan, WriteRequest::Update(update) if update.updates_links)
    }

    /// The page of which the new page is a part.
    fn part_of(&self) -> Option<i64> {
        match &*self.plan {
            WriteRequest::Copy(copy) => copy.section.as_ref().map(|_| copy.from),
            _ => None,
        }
    }

    /// The change of a set, as the draft has it.
    pub(crate) fn as_drafted(&self, set: &ChangeSet) -> DraftChange {
        let change = &set.first().change;
        DraftChange {
            before: change.before().cloned(),
            after: change.after().cloned(),
            lost: change.lost().to_vec(),
            updates_links: self.updates_links(),
            part_of: self.part_of(),
            warnings: set.first().warnings.clone(),
            shown: Vec::new(),
        }
    }
}

impl ChangeSource for Drafting {
    fn tell(&self, wiki: &Wiki, record: &mut EntryBuilder) {
        self.plan.tell(wiki, record);
    }

    async fn turn(&self, _: WriteCall<'_>) -> TurnOf {
        CREATES
    }

    fn says_whole_content(&self) -> bool {
        self.plan.says_whole_content()
    }

    async fn said(&self, call: WriteCall<'_>, set: &ChangeSet) -> Vec<Warning> {
        self.plan.said(call, set).await
    }

    async fn made(&self, call: WriteCall<'_>) -> Made {
        let Under::Draft(draft) = call.under else {
            return Err(broke_off().into());
        };
        let made = self.plan.made(call).await;
        // A merge is not offered here: nothing in a draft can be confirmed alone.
        let made = made.map_err(|stopped| Stopped::from(stopped.failure))?;
        if self.updates_links() && !made.set.first().change.moves() {
            return Err(super::update::needs_move().into());
        }
        let own = self.as_drafted(&made.set);
        let beside = DraftContext {
            changes: beside(draft, &own)?,
            mends_links: self.updates_links(),
            may_come_free: true,
        };
        Ok(ComparedSet { beside, ..made })
    }

    async fn agrees(&self, _: WriteCall<'_>, _: &ChangeSet) -> Agreed {
        Ok(false)
    }
}

/// The other changes of a draft; an error if one of them takes this change's place.
fn beside(draft: &Draft, own: &DraftChange) -> Result<Vec<Change>> {
    let is_own = |one: &&DraftChange| match (one.page(), own.page()) {
        (None, None) => one.place() == own.place(),
        (page, own) => page == own,
    };
    let place = own.place();
    let mut beside = Vec::new();
    for one in draft.changes.iter().filter(|one| !is_own(one)) {
        if place.is_some() && one.place() == place {
            let failure = Failure::new(
                Code::PageExists,
                "Another change of this draft puts a page at that path.",
            );
            return Err(failure
                .detail_if("id", one.page())
                .hint("Choose another path, or take that change out with wikijs_discard_draft."));
        }
        beside.extend(change_of(one.clone()));
    }
    Ok(beside)
}

/// Submits a draft.
#[derive(Debug, Clone)]
pub struct Submit {
    /// The draft's owner.
    pub owner: DraftOwner,
    /// Its name, or its id.
    pub draft: DraftName,
    /// True if applied changes stay if a later one fails.
    pub keeps_on_failure: bool,
}

impl Submit {
    async fn draft(&self, call: WriteCall<'_>) -> Result<Draft> {
        drafts::load(call.past, &self.owner, &self.draft).await
    }

    async fn set(&self, call: WriteCall<'_>, draft: Draft) -> Result<ChangeSet> {
        let mark = DraftMark {
            id: draft.id,
            revision: draft.revision,
            digest: digest::of_draft(&draft.changes),
        };
        let set = set_of(call, draft.changes, self.keeps_on_failure).await?;
        Ok(set.with(|batch| batch.draft = Some(mark)))
    }
}

/// A set of changes that were made earlier, each compared with its page as it is.
pub(super) async fn set_of(
    call: WriteCall<'_>,
    changes: Vec<DraftChange>,
    keeps_on_failure: bool,
) -> Result<ChangeSet> {
    let mends_links = changes.iter().any(|one| one.updates_links);
    let parted: Vec<NewPart> = changes
        .iter()
        .filter_map(|one| one.place().zip(one.part_of))
        .collect();
    let said: HashMap<DraftedPage, Vec<Warning>> = changes
        .iter()
        .map(|one| (drafted(one.page(), one.place()), one.warnings.clone()))
        .collect();
    let fitting = a_few_at_once(changes, |one| fitting(call, one)).await?;
    let (mut changes, mut left_out, mut done) = (Vec::new(), Vec::new(), None);
    for fitting in fitting {
        match fitting {
            Fitting::Change(change) => changes.push(*change),
            Fitting::Done(page) => {
                left_out.push(LeftOut::new(&page, "it already is as drafted"));
                done = Some(page);
            }
        }
    }
    if changes.is_empty() {
        let page = done.ok_or_else(broke_off)?;
        let nothing = Change::between((*page).clone(), *page);
        return ChangeSet::list(call.id, vec![nothing.into()]).ok_or_else(broke_off);
    }
    let (changes, links, warning) = mended(call, changes, (mends_links, &parted)).await?;
    let set = ChangeSet::list(call.id, changes).ok_or_else(broke_off)?;
    let set = set.warned_each(|change| {
        let page = change.before().and_then(|page| page.id);
        let said = said.get(&drafted(page, change.place_taken()));
        said.cloned().unwrap_or_default()
    });
    let set = set.warned(warning);
    Ok(set.with(|batch| {
        batch.mending = links;
        batch.keeps_on_failure = keeps_on_failure;
        batch.left_out = left_out;
    }))
}

/// A page of a draft: its id, or the place of a new one.
type DraftedPage = (Option<i64>, Option<PagePlace>);

fn drafted(page: Option<i64>, place: Option<PagePlace>) -> DraftedPage {
    (page, place.filter(|_| page.is_none()))
}

/// Mends the links to the pages that a draft moves, if that was asked for, and to the headings that
/// go to new pages, if the index knows them; a warning if it does not.
async fn mended(
    call: WriteCall<'_>,
    changes: Vec<Change>,
    (mends_links, parted): (bool, &[NewPart]),
) -> Result<(Vec<SetChange>, Option<Mending>, Option<Warning>)> {
    let is_split = mending::takes_headings(&changes, parted);
    if mends_links || (is_split && call.index.is_on()) {
        let (changes, links) = mending::with_links(call, changes, parted).await?;
        return Ok((changes, Some(links), None));
    }
    let changes = in_order_of_need(changes).into_iter();
    let warning = is_split.then(|| Warning::new(BREAKS, UNMENDED));
    Ok((changes.map(SetChange::from).collect(), None, warning))
}

impl ChangeSource for Submit {
    async fn made(&self, call: WriteCall<'_>) -> Made {
        let draft = self.draft(call).await?;
        Ok(checked(self.set(call, draft).await?))
    }

    async fn agrees(&self, call: WriteCall<'_>, shown: &ChangeSet) -> Agreed {
        let draft = self.draft(call).await?;
        let mark = shown.batch().draft.filter(|mark| mark.id == draft.id);
        let agrees = mark.is_some() && shown.batch().keeps_on_failure == self.keeps_on_failure;
        if agrees && mark.is_some_and(|mark| mark.revision != draft.revision) {
            let failure = Failure::new(
                Code::ConfirmMismatch,
                "The draft was changed since it was shown.",
            );
            return Err(failure.hint(
                "Call wikijs_submit_draft again without confirm, and show the user the new preview.",
            ));
        }
        Ok(agrees)
    }
}

/// A change of a draft, compared with the wiki.
enum Fitting {
    Change(Box<Change>),
    /// The page is already as drafted.
    Done(Box<PageState>),
}

async fn fitting(call: WriteCall<'_>, one: DraftChange) -> Result<Fitting> {
    let path = one.place().or_else(|| one.left()).map(|place| place.1);
    let page = one.page();
    let held = held_against(call, one).await;
    held.map_err(|failure| {
        let failure = failure.detail_if("id", page);
        failure.detail_if("path", path.as_ref().map(PagePath::as_str))
    })
}

/// The change that a draft's file has; `None` if it has neither state.
fn change_of(one: DraftChange) -> Option<Change> {
    let change = Change::of_states(one.before, one.after)?;
    Some(change.with_loss_of(one.lost))
}

async fn held_against(call: WriteCall<'_>, one: DraftChange) -> Result<Fitting> {
    let change = change_of(one).ok_or_else(|| Failure::from(AuditError::BadDraft))?;
    values::check(&change, None)?;
    let wiki = call.wiki();
    let Some((before, id)) = change.before().and_then(|page| Some((page, page.id?))) else {
        // An earlier submit may have made it.
        return Ok(match made_already(wiki, &change).await? {
            Some(page) => Fitting::Done(Box::new(page)),
            None => Fitting::Change(Box::new(change)),
        });
    };
    let read = whole_page::to_write(wiki, id, change.lost()).await;
    if change.after().is_none() && is_gone(&read) {
        return Ok(Fitting::Done(Box::new(before.clone())));
    }
    let read = read.map_err(|failure| match failure.code {
        Code::PageNotFound => Failure {
            details: failure.details,
            ..Failure::new(
                Code::PageNotFound,
                "A page of this draft is gone; nothing was sent.",
            )
        }
        .hint("Take its change out of the draft: wikijs_discard_draft with draft and id."),
        _ => failure,
    })?;
    let is_done = change
        .after()
        .is_some_and(|after| after.difference(&read.page).is_empty());
    if is_done {
        return Ok(Fitting::Done(Box::new(read.page)));
    }
    if read.lost != change.lost() || !before.difference(&read.page).is_empty() {
        return Err(changed(&Change::between(before.clone(), read.page)));
    }
    Ok(Fitting::Change(Box::new(change.on(read.page))))
}

/// True if the page does not exist.
fn is_gone(read: &Result<ToWrite>) -> bool {
    matches!(read, Err(failure) if failure.code == Code::PageNotFound)
}

/// The page that a create shall make, if exactly that page exists.
async fn made_already(wiki: &Wiki, change: &Change) -> Result<Option<PageState>> {
    let Some(after) = change.after() else {
        return Ok(None);
    };
    let there = match wiki.pages_at(&after.locale, &after.path).await {
        Ok(there) => there,
        // A key that may not look learns it from the wiki's refusal.
        Err(WikiError::Forbidden { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let there = there.into_iter().find(|page| page.path == after.path);
    let Some(id) = there.and_then(|page| page.id) else {
        return Ok(None);
    };
    let read = whole_page::to_write(wiki, id, change.lost()).await;
    Ok(read
        .ok()
        .map(|read| read.page)
        .filter(|page| after.difference(page).is_empty()))
}

/// The failure for a page that was changed since its change joined the draft.
pub(super) fn changed(meanwhile: &Change) -> Failure {
    let failure = Failure::new(
        Code::EditConflict,
        "The page was changed since its change joined the draft.",
    );
    with_difference(failure.hint(REBASE), meanwhile)
}

/// The failure for a change of a page that the draft deletes.
pub(super) fn deleted() -> Failure {
    Failure::new(Code::EditNotApplicable, "This draft deletes the page.")
        .hint("Take its change out of the draft first: wikijs_discard_draft with draft and id.")
}
