//! Checks that the key may make each change of a set, as far as the wiki tells before anything is
//! sent, and names what it could not take back. Of a list it may also have to.

use std::mem;

use futures_util::{StreamExt as _, stream};

use crate::change::{Change, Warning};
use crate::error::Result;
use crate::gates::{ChangeSet, SetChange};
use crate::page::{Attached, Field, PageReading, PageState};
use crate::wiki::{PageRights, Right, Wiki, WikiError};
use crate::words::first_of;
use crate::write::lacking::{Lacking, denied, denied_set};

/// The number of places that are asked about concurrently.
const AT_ONCE: usize = 4;
/// The most pages that a warning names.
const MOST_NAMED: usize = 20;

/// Rights that a change needs at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RequiredRights {
    place: PageReading,
    /// To make the change.
    rights: Vec<Right>,
    /// To take it back, beside these.
    undo: Vec<Right>,
}

impl RequiredRights {
    fn at(place: PageReading, rights: Vec<Right>, mut undo: Vec<Right>) -> Self {
        undo.retain(|right| !rights.contains(right));
        Self {
            place,
            rights,
            undo,
        }
    }

    fn all(&self) -> impl Iterator<Item = &Right> {
        self.rights.iter().chain(&self.undo)
    }

    /// True if styles or scripts are written.
    fn asks_for_code(&self) -> bool {
        self.all().any(|right| Right::OF_CODE.contains(right))
    }

    /// The place with those of these rights that the key lacks; `None` if none is known to be
    /// lacking.
    fn lacking(&self, these: &[Right], had: &PageRights) -> Option<Lacking> {
        let rights = named(these, |right| had.has(right) == Some(false));
        (!rights.is_empty()).then(|| Lacking {
            id: self.place.id,
            locale: self.place.locale.clone(),
            path: self.place.path.clone(),
            rights,
        })
    }
}

/// The page's own styles and scripts, each with the right to write it.
pub(crate) const CODE: [(Field, Right); 2] = [
    (Field::ScriptCss, Right::WriteStyles),
    (Field::ScriptJs, Right::WriteScripts),
];

/// The result of checking the rights of a set.
#[derive(Debug, Default)]
pub(super) struct RightsCheck {
    /// Its warnings.
    pub(super) warnings: Vec<Warning>,
    /// The rights that the key lacks.
    lacking: Vec<Lacking>,
    /// The places at which pages come back without styles or scripts, with the missing rights.
    code: Vec<Lacking>,
    /// The rights that the key lacks to take the changes back.
    undo: Vec<Lacking>,
    /// The names of the rights of which the wiki tells nothing: to make the changes, and to take them
    /// back.
    unknown: [Vec<&'static str>; 2],
}

impl RightsCheck {
    /// True if a warning is about styles or scripts without which the page comes back.
    pub(super) fn refutes(&self, change: &Change, warning: &Warning) -> bool {
        let Some(page) = change.after() else {
            return false;
        };
        let is_there = |one: &&Lacking| one.locale == page.locale && one.path == page.path;
        let lacks = |right: Right| {
            let mut here = self.code.iter().filter(is_there);
            here.any(|one| one.rights.contains(&right.name()))
        };
        CODE.into_iter()
            .any(|(field, right)| warning.at.as_deref() == Some(field.name()) && lacks(right))
    }
}

/// Checks the rights of the key at each place of a set. An unknown right stops nothing: the wiki
/// then refuses the step, and a list is taken back. The warnings are about unknown rights, about what
/// the key could not take back, and about styles and scripts without which a deleted page comes back.
///
/// # Errors
/// `PERMISSION_DENIED`, with the missing rights at each place.
pub(super) async fn look(wiki: &Wiki, set: &ChangeSet) -> Result<RightsCheck> {
    let needs = set.iter().flat_map(|one| {
        let comes_back = may_lack_code(set) && brings_back(one);
        let needs = needs(&one.change, set.is_list()).into_iter();
        needs.map(move |need| (need, comes_back))
    });
    let mut check = ask(wiki, needs.collect()).await;
    match check.lacking.as_slice() {
        [] => {
            let unknown = unknown(mem::take(&mut check.unknown));
            let stays = stays(&check.undo);
            let incomplete = incomplete(&check.code, set.is_list());
            check.warnings = [unknown, stays, incomplete].into_iter().flatten().collect();
            Ok(check)
        }
        [one] if !set.is_list() => Err(denied(one)),
        all if set.batch().undoes.is_some() => Err(denied_set(all).hint(UNDO_HINT)),
        all => Err(denied_set(all)),
    }
}

/// The hint for a set's undo about rights that the key lacks.
const UNDO_HINT: &str = "Nothing was sent. details.lacking names the pages and the rights. With onConflict \"skip\" (--on-conflict skip) the other changes are taken back, and deleted pages come back without styles or scripts that the key may not write.";

/// Looks why the key may not make one change of an undo that leaves out what cannot be taken back.
/// Only styles and scripts of a page that comes back are no reason.
pub(crate) async fn hindrance(wiki: &Wiki, one: &SetChange) -> Option<String> {
    let comes_back = brings_back(one);
    let needs = needs(&one.change, true).into_iter();
    let needs = needs.map(|need| (need, comes_back));
    let asked = ask(wiki, needs.collect()).await;
    let lacking = asked.lacking.first()?;
    Some(denied(lacking).message)
}

/// Asks for needed rights. Where a deleted page comes back, it is better without its styles and
/// scripts than not there, which is said of each need.
async fn ask(wiki: &Wiki, needs: Vec<(RequiredRights, bool)>) -> RightsCheck {
    let mut check = RightsCheck::default();
    if needs.is_empty() || wiki.full_rights().await.is_some() {
        return check;
    }
    let answers = stream::iter(needs).map(async |(need, comes_back)| {
        let had = rights(wiki, &need).await;
        (need, comes_back, had)
    });
    let answers: Vec<_> = answers.buffered(AT_ONCE).collect().await;
    for (need, comes_back, had) in answers {
        let [to_make, to_undo] = &mut check.unknown;
        to_make.extend(named(&need.rights, |right| had.has(right).is_none()));
        to_undo.extend(named(&need.undo, |right| had.has(right).is_none()));
        check.undo.extend(need.lacking(&need.undo, &had));
        match need.lacking(&need.rights, &had) {
            Some(lacking) if comes_back => {
                let (others, code) = without_code(&lacking);
                check.lacking.extend(others);
                check.code.extend(code);
            }
            lacking => check.lacking.extend(lacking),
        }
    }
    check
}

/// True if pages of a set may come back without their styles and scripts: in the undo of one call,
/// and in an undo that skips changes which the key may not make.
fn may_lack_code(set: &ChangeSet) -> bool {
    !set.is_list() || set.batch().goes_on
}

/// True if a change takes back a deletion.
fn brings_back(one: &SetChange) -> bool {
    let is_there = |page: &PageState| page.is_there();
    one.undoes.is_some() && !one.change.before().is_some_and(is_there)
}

/// Splits lacking rights: first all others, then those to styles and scripts.
fn without_code(lacking: &Lacking) -> (Option<Lacking>, Option<Lacking>) {
    let is_code = |name: &&str| Right::OF_CODE.iter().any(|right| right.name() == *name);
    let (code, others): (Vec<_>, Vec<_>) = lacking.rights.iter().copied().partition(is_code);
    let with = |rights: Vec<&'static str>| {
        (!rights.is_empty()).then(|| Lacking {
            rights,
            ..lacking.clone()
        })
    };
    (with(others), with(code))
}

/// The warning that pages come back without the styles and scripts that the key may not write.
fn incomplete(code: &[Lacking], is_list: bool) -> Option<Warning> {
    let mut rights: Vec<&str> = code.iter().flat_map(|one| one.rights.clone()).collect();
    rights.sort_by_key(|name| *name != Right::WriteStyles.name());
    rights.dedup();
    let rights = rights.join(" and ");
    let message = match code {
        [] => return None,
        [_] if !is_list => format!(
            "this key lacks {rights}, so the page comes back without its own styles or scripts that need this; the same undo with a key that has it adds them."
        ),
        all => {
            let pages: Vec<_> = all.iter().map(Lacking::place).collect();
            let pages = first_of(&pages, MOST_NAMED);
            format!(
                "this key lacks {rights}, so these pages come back without their own styles or scripts that need this: {pages}; the same undo with a key that has it adds them."
            )
        }
    };
    Some(Warning::new("cannot_return", message))
}

/// The warning about changes that the key could make and not take back.
fn stays(undo: &[Lacking]) -> Option<Warning> {
    if undo.is_empty() {
        return None;
    }
    let pages = undo
        .iter()
        .map(|one| format!("{} at {}", one.rights.join(" and "), one.place()));
    let message = format!(
        "this key cannot take this back, for want of {}; a key that has the right can.",
        first_of(&pages.collect::<Vec<_>>(), MOST_NAMED)
    );
    Some(Warning::new("undo_needs_rights", message))
}

/// The warning about rights of which the wiki tells nothing.
fn unknown(unknown: [Vec<&'static str>; 2]) -> Option<Warning> {
    let [to_make, to_undo] = unknown.map(|mut names| {
        names.sort_unstable();
        names.dedup();
        names.join(", ")
    });
    let message = match (&*to_make, &*to_undo) {
        ("", "") => return None,
        ("", names) => format!(
            "the wiki does not tell whether this key has {names} here, which taking this back needs."
        ),
        (names, "") => format!(
            "rights unknown: the wiki does not tell whether this key has {names} here; it decides when the write is sent."
        ),
        (names, more) => format!(
            "rights unknown: the wiki does not tell whether this key has {names} here, and {more}, which taking this back needs; it decides when the write is sent."
        ),
    };
    Some(Warning::new("rights_unknown", message))
}

/// The rights of the key at a place. Of a page with tags, a view tells rights by rules of tags as
/// well, by which the wiki's mutations do not go, so it counts only where it denies styles or
/// scripts. Where the wiki could not be asked, nothing is known.
async fn rights(wiki: &Wiki, need: &RequiredRights) -> PageRights {
    let place = &need.place;
    let are_of = |list: &[Right]| need.all().all(|right| list.contains(right));
    let told = match place.id {
        // No view tells them (W44).
        _ if are_of(&Right::OF_ASSETS) => return PageRights::default(),
        _ if are_of(&Right::OF_COMMENTS) => rights_to_comments(wiki, place).await,
        None => wiki.rights_at(&place.locale, &place.path).await,
        Some(_) if has_tags(place) && need.asks_for_code() => wiki.rights_to_code(place).await,
        Some(_) if has_tags(place) => wiki.rights_by_path(place).await,
        Some(_) => wiki.rights(place).await,
    };
    told.unwrap_or_else(|error| {
        tracing::debug!(%error, "the rights of the key could not be asked for");
        PageRights::default()
    })
}

/// The rights to the comments of a page, as its view tells them: nothing, where the view denies all
/// of them, since it does so while comments are off as well, and for a page with tags, since rules
/// of tags hold in views alone (W47).
async fn rights_to_comments(wiki: &Wiki, place: &PageReading) -> Result<PageRights, WikiError> {
    let Some(id) = place.id else {
        return Ok(PageRights::default());
    };
    let page = wiki.page_by_id(id).await?;
    if has_tags(&page) {
        return Ok(PageRights::default());
    }
    let told = wiki.rights(&page).await?;
    let are_on = told.has(Right::ReadComments) == Some(true);
    Ok(if are_on { told } else { PageRights::default() })
}

fn has_tags(place: &PageReading) -> bool {
    place.tags.as_ref().is_some_and(|tags| !tags.is_empty())
}

/// The rights that a change needs: at its page, and at the place where it puts one. Of a list, also
/// those that its way back needs at the page.
fn needs(change: &Change, is_list: bool) -> Vec<RequiredRights> {
    if change.is_empty() {
        return Vec::new();
    }
    let (before, after) = (
        change.before().filter(|page| page.is_there()),
        change.after(),
    );
    if let Some(thing) = change.thing() {
        let (rights, undo) = (
            of_thing(thing, before, after),
            of_thing(thing, after, before),
        );
        let page = before.or(after).map(place);
        let need = page.map(|place| RequiredRights::at(place, rights, undo));
        return need.into_iter().collect();
    }
    let mut needs = Vec::new();
    if let Some(page) = before {
        let (rights, undo) = at_page(change, is_list);
        needs.push(RequiredRights::at(place(page), rights, undo));
    }
    // The page goes to its temporary place, and on from there.
    if let Some(page) = change.to_aside().as_ref().and_then(Change::after) {
        let rights = vec![Right::WritePages, Right::ManagePages];
        needs.push(RequiredRights::at(free_place(page), rights, Vec::new()));
    }
    if let Some(page) = after.filter(|_| before.is_none() || change.moves()) {
        // Fields are written where the page goes.
        let mut rights = vec![Right::WritePages];
        rights.extend(of_code(change));
        let undo = match before {
            None => Right::DeletePages,
            Some(_) => Right::ManagePages,
        };
        needs.push(RequiredRights::at(free_place(page), rights, vec![undo]));
    }
    needs.retain(|need| need.all().next().is_some());
    needs
}

/// A page's place, with its tags.
fn place(page: &PageState) -> PageReading {
    PageReading {
        tags: Some(page.tags.clone()),
        ..PageReading::bare(
            page.id,
            page.locale.clone(),
            page.path.clone(),
            page.title.clone(),
        )
    }
}

/// A place at which no page is yet.
fn free_place(page: &PageState) -> PageReading {
    PageReading {
        id: None,
        tags: None,
        ..place(page)
    }
}

/// The rights that a change needs at its page's place, and those that its undo needs there. A list
/// needs the latter as well where it deletes the page.
fn at_page(change: &Change, is_list: bool) -> (Vec<Right>, Vec<Right>) {
    // Fields are written where the page comes back to.
    let undo = [Right::WritePages].into_iter().chain(of_code(change));
    if change.after().is_none() {
        // A deleted page comes back as a new one.
        let back = is_list.then_some(Right::WritePages);
        let needed = back.into_iter().chain([Right::DeletePages]).collect();
        return (needed, undo.collect());
    }
    let mut needed = Vec::new();
    if !change.fields().into_iter().all(Field::is_place) || change.renders_anew() {
        needed.push(Right::WritePages);
    }
    if !change.moves() {
        needed.extend(of_code(change));
        return (needed, Vec::new());
    }
    needed.push(Right::ManagePages);
    (needed, undo.collect())
}

/// The rights to the styles and scripts that a change writes.
fn of_code(change: &Change) -> Vec<Right> {
    let fields = change.fields();
    CODE.into_iter()
        .filter(|(field, _)| fields.contains(field))
        .map(|(_, right)| right)
        .collect()
}

/// The rights that a change of a comment (W30 to W32) or an asset (W37, W41) needs.
fn of_thing(thing: &Attached, before: Option<&PageState>, after: Option<&PageState>) -> Vec<Right> {
    match (thing, before, after) {
        (Attached::Comment(_), None, _) => vec![Right::WriteComments],
        (Attached::Comment(_), Some(_), _) => vec![Right::ManageComments],
        (Attached::Asset(_), Some(_), None) => vec![Right::ManageAssets],
        (Attached::Asset(_), Some(before), Some(after)) if !before.same(after, Field::Path) => {
            vec![Right::ManageAssets, Right::WriteAssets]
        }
        (Attached::Asset(_), None, _) | (Attached::Asset(_), Some(_), Some(_)) => {
            vec![Right::WriteAssets]
        }
    }
}

/// The names of those of these rights that are so.
fn named(these: &[Right], is_one: impl Fn(Right) -> bool) -> Vec<&'static str> {
    let named = these.iter().filter(|right| is_one(**right));
    named.map(|right| right.name()).collect()
}

#[cfg(test)]
mod tests;
