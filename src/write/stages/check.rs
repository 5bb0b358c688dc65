//! Checks a set before it is shown or sent: whether it fits into a request, whether new places are
//! free, and which warnings it needs.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::OptionFuture;
use url::Url;

use crate::change::{self, Change, ContentFault, Surroundings, Warning};
use crate::checks;
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, Gate, Gated, Policy, Refusal, SetChange};
use crate::index::ContentIndex;
use crate::page::{Field, LineCounts, LinkedSite, PagePlace, PageReading};
use crate::rules::{ChangeFacts, RuleBook};
use crate::wiki::{AllPages, Wiki, aside};

use super::rights::{self, RightsCheck};
use crate::write::links::linkers::AffectedLinks;
use crate::write::links::missing_targets::KnownTargets;
use crate::write::links::{comments_lost, linkers, new_place};
use crate::write::source::DraftContext;
use crate::write::{ConflictCheck, Notes, Route, Stop, Warrant, faults};

/// The time limit for the operator's checks of a set, all together.
const CHECKING: Duration = Duration::from_mins(1);

/// The time limit for the pictures that a set names.
const LOOKING: Duration = Duration::from_secs(5);

/// The warnings that need the list of all pages.
const OF_LIST: [&str; 2] = ["dead_link", "same_title"];

/// The warnings that need all links.
const OF_LINKS: [&str; 2] = [linkers::BREAKS, linkers::OWN_BREAK];

/// The warning that more tags go than come.
const TAGS_DROPPED: &str = "tags_dropped";

/// The results of a set's checks.
#[derive(Debug, Default)]
pub(crate) struct SetCheck {
    /// The notes for the answer.
    pub(crate) notes: Notes,
    /// The warnings about each change of a list, in order; those of a single change are in the
    /// notes.
    pub(crate) each: Vec<Vec<Warning>>,
    /// The difference of the content; empty for a list.
    pub(crate) diff: String,
    /// The numbers of added and removed lines of content, all changes together.
    pub(crate) lines: LineCounts,
    /// The facts about each change for the rules; empty for an undo.
    pub(crate) facts: Vec<ChangeFacts>,
}

impl SetCheck {
    /// All warnings, about the set and about each change.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = &Warning> {
        self.notes.warnings.iter().chain(self.each.iter().flatten())
    }
}

/// The facts of a set that are known before its checks.
#[derive(Debug)]
pub(crate) struct CheckInput {
    /// With which states its pages were compared.
    pub(crate) conflict: ConflictCheck,
    /// Its source's warnings.
    pub(crate) said: Vec<Warning>,
    /// True if somebody saw this very set before.
    pub(crate) was_shown: bool,
    /// True if the wiki is asked for the key's rights.
    pub(crate) asks_rights: bool,
    /// Places that other changes free or take.
    pub(crate) beside: DraftContext,
}

/// Checks a set whose places are allowed; a set that was shown is checked again before it is sent.
///
/// # Errors
/// `TOO_LARGE`, `PAGE_EXISTS`, `PERMISSION_DENIED`, or what the wiki says.
pub(crate) async fn check(
    index: &Arc<ContentIndex>,
    policy: &Policy,
    set: &ChangeSet,
    input: CheckInput,
) -> Gated<SetCheck> {
    let at_change = Refusal::by(Gate::Change);
    let of_rights = rights_of(&index.wiki, set, input.asks_rights).await;
    let of_rights = of_rights.map_err(&at_change)?;
    let asked = SetToCheck {
        index,
        policy,
        set,
        input: &input,
    };
    let (pages, linked, commented) = asked.surroundings().await;
    let afterwards = pages
        .as_ref()
        .map(|(pages, _)| afterwards(pages, set, &input.beside));
    let around = CheckContext {
        asked,
        pages: afterwards.as_deref(),
        site: pages.as_ref().and_then(|(_, site)| site.as_ref()),
        rights: &of_rights,
        until: Instant::now() + CHECKING,
    };
    let asks_targets = !input.was_shown || policy.rules.names_any(&OF_LIST);
    let targets = asks_targets.then(|| around.targets());
    let mut checked = SetCheck::new(set, input.conflict);
    let mut freed = asked.freed_before();
    let (mut linked, mut commented) = (linked.into_iter(), commented.into_iter());
    let mut linked_from = Vec::new();
    for one in set.iter() {
        let mut found = lost_by(&one.change);
        found.extend(one.warnings.iter().cloned());
        let placed = asked.places(&one.change, &mut freed).await;
        found.extend(placed.map_err(&at_change)?);
        let links = linked.next().unwrap_or_default();
        found.extend(links.warnings);
        found.extend(commented.next().flatten());
        if let Some(targets) = targets.as_ref().filter(|_| one.undoes.is_none()) {
            found.extend(Box::pin(targets.look(&one.change)).await);
        }
        linked_from.extend(links.linked_from);
        checked.add(one, &around, found).await;
    }
    let warnings = &mut checked.notes.warnings;
    warnings.extend(input.said);
    if !input.was_shown {
        warnings.extend(of_rights.warnings);
    }
    checked.notes.linked_from = linkers::first_named(linked_from);
    Ok(checked)
}

impl SetCheck {
    fn new(set: &ChangeSet, conflict: ConflictCheck) -> Self {
        Self {
            notes: Notes {
                is_unchecked: conflict == ConflictCheck::None,
                is_named: conflict == ConflictCheck::Named,
                undoes: set.first().undoes.filter(|_| !set.is_list()),
                note: set.note().cloned(),
                ..Notes::default()
            },
            ..Self::default()
        }
    }

    /// Adds the results of a change, with what was found of it so far.
    async fn add(&mut self, one: &SetChange, around: &CheckContext<'_>, mut found: Vec<Warning>) {
        let (set, change) = (around.asked.set, &one.change);
        let difference = aside(change.bytes(), || change.content_difference());
        let own = difference.counts();
        let difference = (!set.is_list()).then_some(difference);
        let fact = around.look(one, own, &mut found).await;
        found.retain(|warning| !around.rights.refutes(change, warning));
        // The text is made last: the checks take memory of their own.
        if let Some(difference) = difference {
            self.diff = aside(change.bytes(), || difference.unified());
        }
        self.facts.extend(fact.map(|fact| ChangeFacts {
            is_asked_for: set.only_mends(one).is_none(),
            ..fact
        }));
        self.lines.added = self.lines.added.saturating_add(own.added);
        self.lines.removed = self.lines.removed.saturating_add(own.removed);
        if set.is_list() {
            self.each.push(found);
        } else {
            self.notes.warnings.extend(found);
        }
    }
}

/// Checks that each change fits into a request, and that the key may make it, if that is to be
/// asked; with warnings.
async fn rights_of(wiki: &Wiki, set: &ChangeSet, asks: bool) -> Result<RightsCheck> {
    for one in set.iter() {
        aside(one.change.bytes(), || Wiki::check_size(&one.change))?;
    }
    if asks {
        rights::look(wiki, set).await
    } else {
        Ok(RightsCheck::default())
    }
}

/// A set that is checked, and what it is checked with.
#[derive(Clone, Copy)]
struct SetToCheck<'a> {
    index: &'a Arc<ContentIndex>,
    policy: &'a Policy,
    set: &'a ChangeSet,
    input: &'a CheckInput,
}

impl<'a> SetToCheck<'a> {
    /// The changes of the set, and those beside it.
    fn changes(self) -> impl Iterator<Item = &'a Change> {
        let own = self.set.iter().map(|one| &one.change);
        own.chain(&self.input.beside.changes)
    }

    /// The places that are free before the first change is made: changes beside the set leave them,
    /// or pages that move by a temporary place, before they are needed.
    fn freed_before(self) -> HashSet<PagePlace> {
        let stepping = self.set.iter().map(|one| &one.change);
        let stepping = stepping.filter(|change| change.aside().is_some());
        let leaving = self.input.beside.changes.iter().chain(stepping);
        leaving.filter_map(Change::place_left).collect()
    }

    /// Checks the places that a change takes, with warnings. A place that an earlier change of the
    /// set frees counts as free.
    async fn places(self, change: &Change, freed: &mut HashSet<PagePlace>) -> Result<Vec<Warning>> {
        if change.leaves_no_content() {
            return Err(faults::content_failure(ContentFault::Blank, None));
        }
        let mut found = Vec::new();
        let takes = change.place_taken();
        if takes.is_some_and(|place| !freed.contains(&place)) {
            match new_place::look(&self.index.wiki, change).await {
                Ok(there) => found.extend(there),
                Err(failure) if may_come_free(change, &failure, &self.input.beside) => {
                    found.push(not_free_yet());
                }
                Err(failure) => return Err(failure),
            }
        }
        if let Some(first) = change.to_aside() {
            new_place::look(&self.index.wiki, &first).await?;
        }
        freed.extend(change.place_left());
        Ok(found)
    }

    /// Asks the wiki about the surroundings of the set: its pages, the links to those of the set, and
    /// the comments that go with them.
    async fn surroundings(
        self,
    ) -> (
        Option<PagesAndSite>,
        Vec<AffectedLinks>,
        Vec<Option<Warning>>,
    ) {
        let address = &self.index.wiki.settings().base_url;
        let was_shown = self.input.was_shown;
        let (asks_list, asks_links) = asks(&self.policy.rules, self.set, address, was_shown);
        let listed = asks_list.then(|| Box::pin(pages_around(&self.index.wiki)));
        let linked = asks_links.then(|| Box::pin(self.links()));
        let commented =
            (!was_shown).then(|| Box::pin(comments_lost::look(&self.index.wiki, self.set)));
        let (listed, linked, commented) = tokio::join!(
            OptionFuture::from(listed),
            OptionFuture::from(linked),
            OptionFuture::from(commented)
        );
        let (linked, commented) = (linked.unwrap_or_default(), commented.unwrap_or_default());
        (listed.flatten(), linked, commented)
    }

    /// The links around each change of the set; of one that joins a draft, as the whole draft leaves
    /// them. What is mended when the draft is submitted is not said to break.
    async fn links(self) -> Vec<AffectedLinks> {
        let (set, beside) = (self.set, &self.input.beside);
        let whole = match beside.changes.as_slice() {
            [] => None,
            others => {
                let others = others.iter().cloned().map(SetChange::from);
                ChangeSet::list(set.id(), set.iter().cloned().chain(others).collect())
            }
        };
        let whole = whole.as_ref().unwrap_or(set);
        let mut around = linkers::look(self.index, whole).await;
        around.truncate(set.iter().count());
        if beside.mends_links {
            for one in &mut around {
                one.linked_from.clear();
                one.warnings
                    .retain(|warning| !OF_LINKS.contains(&&*warning.code));
            }
        }
        around
    }
}

/// True if a change of a draft may go to a place that is taken, since another may free it.
fn may_come_free(change: &Change, failure: &Failure, beside: &DraftContext) -> bool {
    beside.may_come_free && change.moves() && failure.code == Code::PageExists
}

fn not_free_yet() -> Warning {
    Warning::new(
        "path_taken",
        "a page stands at the new path; the draft can be submitted once it moves or deletes that page.",
    )
    .at(Field::Path, None)
}

/// The difference of a change's content; other calls go on while a large one is made.
pub(super) fn diff_of(change: &Change) -> (String, LineCounts) {
    aside(change.bytes(), || change.content_diff())
}

/// The pages as the set and the changes beside it leave them. Of a change alone, the list stays as
/// it is: the change itself says where its page goes.
fn afterwards(pages: &AllPages, set: &ChangeSet, beside: &DraftContext) -> Vec<Arc<PageReading>> {
    if !set.is_list() && beside.changes.is_empty() {
        return pages.pages.clone();
    }
    let all = set.iter().map(|one| &one.change).chain(&beside.changes);
    let all: Vec<&Change> = all.filter(|change| change.thing().is_none()).collect();
    let changed: HashSet<i64> = all
        .iter()
        .filter_map(|change| change.before()?.id)
        .collect();
    let is_same = |page: &&Arc<PageReading>| page.id.is_none_or(|id| !changed.contains(&id));
    let made = all.iter().filter_map(|change| {
        let after = change.after()?;
        let id = change.before().and_then(|page| page.id);
        let (locale, path) = (after.locale.clone(), after.path.clone());
        let page = PageReading::bare(id, locale, path, after.title.clone());
        Some(Arc::new(page))
    });
    let kept = pages.pages.iter().filter(is_same).cloned();
    kept.chain(made).collect()
}

/// Tells if the checks of a set need the list of all pages, and if they need the links of the wiki.
/// A preview already gave those warnings; then only a rule needs them as of now. An undo is not
/// held against the list.
fn asks(rules: &RuleBook, set: &ChangeSet, wiki: &Url, was_shown: bool) -> (bool, bool) {
    let wants = |codes: &[&str]| !was_shown || rules.names_any(codes);
    let needs_list = |one: &SetChange| {
        let change = &one.change;
        one.undoes.is_none() && aside(change.bytes(), || change.asks_for_neighbours(wiki))
    };
    (
        wants(&OF_LIST) && set.iter().any(needs_list),
        wants(&OF_LINKS),
    )
}

/// True if the wiki is asked for the key's rights: as a write is shown, and of a list once more
/// before it is sent. Another key may apply what stays open, or submit a draft; what a reviewer
/// decided on was shown by another key, too.
pub(crate) fn asks_rights(route: &Route, set: &ChangeSet) -> bool {
    match route {
        Route::Stop(Stop::Propose | Stop::AddToDraft) => false,
        Route::Stop(Stop::Preview | Stop::Ask | Stop::Unchanged)
        | Route::Send(Warrant::StaticToken | Warrant::Reviewer(_)) => true,
        Route::Send(Warrant::Preview(_) | Warrant::Person(_)) => set.is_list(),
    }
}

/// All pages, and the site by which addresses are told.
type PagesAndSite = (Arc<AllPages>, Option<LinkedSite>);

/// The list of all pages and the link settings, once for a whole set; `None` if this key may not
/// list pages.
async fn pages_around(wiki: &Wiki) -> Option<PagesAndSite> {
    let pages = wiki.pages_as_of(Instant::now());
    let (pages, site) = tokio::join!(pages, wiki.linked_site());
    Some((pages.ok()?, site.ok()))
}

/// The context in which the changes of a set are checked.
struct CheckContext<'a> {
    asked: SetToCheck<'a>,
    pages: Option<&'a [Arc<PageReading>]>,
    site: Option<&'a LinkedSite>,
    rights: &'a RightsCheck,
    /// After this time no further check of the operator's is started.
    until: Instant,
}

impl<'a> CheckContext<'a> {
    /// The pages that new links to headings and pictures are held against.
    fn targets(&self) -> KnownTargets<'a> {
        KnownTargets {
            index: self.asked.index,
            pages: self.pages.unwrap_or_default(),
            changes: self.asked.changes().collect(),
            until: Instant::now() + LOOKING,
        }
    }

    /// Adds the warnings of our own checks and the operator's; returns the change's facts for the
    /// rules.
    async fn look(
        &self,
        one: &SetChange,
        lines: LineCounts,
        found: &mut Vec<Warning>,
    ) -> Option<ChangeFacts> {
        let checked = self.checked(one, lines);
        found.extend(checked.warnings);
        if one.undoes.is_some() {
            return None;
        }
        found.extend(by_operator(self.asked.policy, &one.change, self.until).await);
        let checked = change::AdditionReport {
            warnings: found.clone(),
            adds_grave_secret: checked.adds_grave_secret,
        };
        Some(ChangeFacts::new(&one.change, lines, &checked))
    }

    /// Runs our own checks.
    fn checked(&self, one: &SetChange, lines: LineCounts) -> change::AdditionReport {
        let (wiki, policy) = (&self.asked.index.wiki, self.asked.policy);
        let key = wiki.key();
        let around = Surroundings {
            wiki: &wiki.settings().base_url,
            pages: self.pages.filter(|_| one.undoes.is_none()),
            site: self.site,
            own: &policy.secrets_beside(key.expose()),
        };
        let mut checked = aside(one.change.bytes(), || one.change.check(lines, around));
        // An undo takes away what a write added.
        if one.undoes.is_some() {
            checked
                .warnings
                .retain(|warning| warning.code != TAGS_DROPPED);
        }
        checked
    }
}

/// Runs the operator's checks, one after another, on a blocking thread.
async fn by_operator(policy: &Policy, change: &Change, until: Instant) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut input = None;
    for check in policy.checks.iter().filter(|check| check.is_about(change)) {
        let input = Arc::clone(input.get_or_insert_with(|| checks::input(change)));
        let of = check.clone();
        let ran = checks::in_turn(until, move |left| checks::run(&of, &input, left)).await;
        warnings.extend(match ran {
            None => {
                let why = "The check was not run: all checks together took too long.";
                Some(Warning::new(check.code(), why))
            }
            Some(Ok(found)) => {
                let took = u64::try_from(found.took.as_millis()).unwrap_or(u64::MAX);
                tracing::debug!(check = check.name, took_ms = took, "a check was run");
                found.warning
            }
            Some(Err(_)) => Some(Warning::new(check.code(), "The check broke off.")),
        });
    }
    warnings
}

/// Warnings about what a change loses for good or cannot restore, given before and after.
fn lost_by(change: &Change) -> Vec<Warning> {
    let names = |fields: &[Field]| Field::names(fields).join(", ");
    let mut warnings = Vec::new();
    if !change.lost().is_empty() {
        warnings.push(Warning::new("loss_accepted", format!(
            "this key cannot read {}; what stands there is lost, and undo cannot bring it back.",
            names(change.lost())
        )));
    }
    if !change.left_alone().is_empty() {
        warnings.push(Warning::new(
            "not_known",
            format!(
                "the write that this takes back could not read {}; it stays as it is.",
                names(change.left_alone())
            ),
        ));
    }
    warnings
}

#[cfg(test)]
mod tests;
