//! Checks that the key may make each change of a set, as far as the wiki tells before anything is
//! sent; of a list, that it may take each change back as well.

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
    rights: Vec<Right>,
}

impl RequiredRights {
    const fn at(place: PageReading, rights: Vec<Right>) -> Self {
        Self { place, rights }
    }

    /// True if styles or scripts are written.
    fn asks_for_code(&self) -> bool {
        let is_code = |right: &Right| Right::OF_CODE.contains(right);
        self.rights.iter().any(is_code)
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
    /// The names of the rights of which the wiki tells nothing.
    unknown: Vec<&'static str>,
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
/// then refuses the step, and a list is taken back. The warnings are about unknown rights, and about
/// styles and scripts without which a deleted page comes back.
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
            let unknown = warning(mem::take(&mut check.unknown));
            let incomplete = incomplete(&check.code, set.is_list());
            check.warnings = unknown.into_iter().chain(incomplete).collect();
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
        let rights = rights(wiki, &need).await;
        let unknown = named(&need, |right| rights.has(right).is_none());
        (lacking(&need, &rights), comes_back, unknown)
    });
    let answers: Vec<_> = answers.buffered(AT_ONCE).collect().await;
    for (lacking, comes_back, unknown) in answers {
        check.unknown.extend(unknown);
        match lacking {
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

/// The warning about rights of which the wiki tells nothing.
fn warning(mut unknown: Vec<&'static str>) -> Option<Warning> {
    unknown.sort_unstable();
    unknown.dedup();
    (!unknown.is_empty()).then(|| {
        let message = format!(
            "rights unknown: the wiki does not tell whether this key has {} here; it decides when the write is sent.",
            unknown.join(", ")
        );
        Warning::new("rights_unknown", message)
    })
}

/// The rights of the key at a place. Of a page with tags, a view tells rights by rules of tags as
/// well, by which the wiki's mutations do not go, so it counts only where it denies styles or
/// scripts. Where the wiki could not be asked, nothing is known.
async fn rights(wiki: &Wiki, need: &RequiredRights) -> PageRights {
    let place = &need.place;
    let are_of = |list: &[Right]| need.rights.iter().all(|right| list.contains(right));
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
        let rights = match thing {
            Attached::Asset(_) => of_asset(change),
            Attached::Comment(_) if before.is_none() => vec![Right::WriteComments],
            Attached::Comment(_) => vec![Right::ManageComments],
        };
        let page = before.or(after).map(place);
        let need = page.map(|place| RequiredRights::at(place, rights));
        return need.into_iter().collect();
    }
    let mut needs = Vec::new();
    if let Some(page) = before {
        needs.push(RequiredRights::at(place(page), at_page(change, is_list)));
    }
    // The page goes to its temporary place, and on from there.
    if let Some(page) = change.to_aside().as_ref().and_then(Change::after) {
        let rights = vec![Right::WritePages, Right::ManagePages];
        needs.push(RequiredRights::at(free_place(page), rights));
    }
    if let Some(page) = after.filter(|_| before.is_none() || change.moves()) {
        // Fields are written where the page goes.
        let mut rights = vec![Right::WritePages];
        rights.extend(of_code(change));
        needs.push(RequiredRights::at(free_place(page), rights));
    }
    needs.retain(|need| !need.rights.is_empty());
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

/// The rights that a change needs at its page's place, and in a list those that its undo needs
/// there.
fn at_page(change: &Change, is_list: bool) -> Vec<Right> {
    if change.after().is_none() {
        // A deleted page comes back as a new one.
        let back = is_list.then_some(Right::WritePages);
        return back.into_iter().chain([Right::DeletePages]).collect();
    }
    let mut needed = Vec::new();
    if !change.fields().into_iter().all(Field::is_place) || change.renders_anew() {
        needed.push(Right::WritePages);
    }
    if change.moves() {
        needed.push(Right::ManagePages);
    } else {
        needed.extend(of_code(change));
    }
    needed
}

/// The rights to the styles and scripts that a change writes.
fn of_code(change: &Change) -> Vec<Right> {
    let fields = change.fields();
    CODE.into_iter()
        .filter(|(field, _)| fields.contains(field))
        .map(|(_, right)| right)
        .collect()
}

/// The rights that a change of an asset needs (W37, W41).
fn of_asset(change: &Change) -> Vec<Right> {
    match (change.before().filter(|it| it.is_there()), change.after()) {
        (Some(_), None) => vec![Right::ManageAssets],
        (Some(before), Some(after)) if !before.same(after, Field::Path) => {
            vec![Right::ManageAssets, Right::WriteAssets]
        }
        (None, _) | (Some(_), Some(_)) => vec![Right::WriteAssets],
    }
}

/// The lacking rights of a need; `None` if nothing is known to be lacking.
fn lacking(need: &RequiredRights, rights: &PageRights) -> Option<Lacking> {
    let lacks: Vec<&'static str> = named(need, |right| rights.has(right) == Some(false));
    (!lacks.is_empty()).then(|| Lacking {
        id: need.place.id,
        locale: need.place.locale.clone(),
        path: need.place.path.clone(),
        rights: lacks,
    })
}

/// The names of the rights that are so.
fn named(need: &RequiredRights, is_one: impl Fn(Right) -> bool) -> Vec<&'static str> {
    let those = need.rights.iter().filter(|right| is_one(**right));
    those.map(|right| right.name()).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        Lacking, RightsCheck, brings_back, incomplete, lacking, named, needs, warning, without_code,
    };
    use crate::change::{Change, Warning};
    use crate::gates::SetChange;
    use crate::page::testing::{But as _, at, page};
    use crate::page::{Field, PagePath, PageState};
    use crate::wiki::{PageRights, Right};
    use crate::write::testing::set;

    /// Each place, whether a page is there, and the rights that are needed there.
    fn told(change: &Change, is_list: bool) -> Vec<(String, bool, Vec<&'static str>)> {
        let told = needs(change, is_list).into_iter().map(|need| {
            let rights = need.rights.iter().map(|right| right.name()).collect();
            let path = need.place.path.as_str().to_owned();
            (path, need.place.id.is_some(), rights)
        });
        told.collect()
    }

    fn to(change: fn(&mut PageState)) -> Change {
        let mut after = page();
        change(&mut after);
        Change::between(page(), after)
    }

    #[test]
    fn each_kind_of_change_needs_its_rights_at_its_places() {
        let own = page().path.as_str().to_owned();
        let here = |rights: Vec<&'static str>| (own.clone(), true, rights);
        assert_eq!(told(&to(|_| ()), false), []);
        let titled = to(|page| page.title = "Other".to_owned());
        assert_eq!(told(&titled, false), [here(vec!["write:pages"])]);
        let moved = to(|page| page.path = PagePath::as_stored("legal/b"));
        let there = |rights| ("legal/b".to_owned(), false, rights);
        assert_eq!(
            told(&moved, false),
            [here(vec!["manage:pages"]), there(vec!["write:pages"])]
        );
        let styled = to(|page| {
            page.script_css = "b{}".to_owned();
            page.script_js = "2".to_owned();
        });
        let all = vec!["write:pages", "write:styles", "write:scripts"];
        assert_eq!(told(&styled, false), [here(all)]);
        let new = Change::recreate(PageState {
            script_css: String::new(),
            script_js: String::new(),
            ..page()
        });
        let made = (own.clone(), false, vec!["write:pages"]);
        assert_eq!(told(&new, false), [made]);
        // What a list deletes must be able to come back.
        let gone = Change::delete(page());
        assert_eq!(told(&gone, false), [here(vec!["delete:pages"])]);
        let both = here(vec!["write:pages", "delete:pages"]);
        assert_eq!(told(&gone, true), [both]);
    }

    #[test]
    fn a_right_is_lacking_only_where_the_wiki_says_so_and_otherwise_unknown() {
        let need = needs(&Change::delete(page()), false)
            .remove(0)
            .but(|it| it.rights = vec![Right::WritePages, Right::DeletePages, Right::ManagePages]);
        let rights = PageRights::new([(Right::WritePages, true), (Right::DeletePages, false)]);
        let lacks = lacking(&need, &rights).unwrap();
        assert_eq!(
            (lacks.id, &*lacks.rights),
            (page().id, &["delete:pages"][..])
        );
        assert_eq!(
            named(&need, |right| rights.has(right).is_none()),
            ["manage:pages"]
        );
        assert_eq!(lacking(&need, &PageRights::default()), None);
    }

    #[test]
    fn a_deleted_page_comes_back_without_what_the_key_may_not_write() {
        let of = |rights: Vec<&'static str>| Lacking {
            id: None,
            locale: page().locale,
            path: page().path,
            rights,
        };
        let both = of(vec!["write:styles", "write:scripts"]);
        assert_eq!(without_code(&both), (None, Some(both.clone())));
        assert_eq!(
            without_code(&of(vec!["write:pages", "write:styles"])),
            (
                Some(of(vec!["write:pages"])),
                Some(of(vec!["write:styles"]))
            )
        );
        let gone = of(vec!["delete:pages"]);
        assert_eq!(without_code(&gone), (Some(gone), None));
        let said = |code: &[Lacking], is_list| incomplete(code, is_list).map(|it| it.to_string());
        assert_eq!(said(&[], true), None);
        assert_eq!(
            said(&[both], false).unwrap(),
            "cannot_return: this key lacks write:styles and write:scripts, so the page comes back without its own styles or scripts that need this; the same undo with a key that has it adds them."
        );
        let all = [of(vec!["write:scripts"]), of(vec!["write:scripts"])];
        let told = said(&all, true).unwrap();
        assert!(
            told.contains("lacks write:scripts, so these pages come back"),
            "{told}"
        );

        // What stays away is not warned of as if it came.
        let without = RightsCheck::default().but(|it| it.code = vec![of(vec!["write:scripts"])]);
        let added = |field| Warning::new("script_added", "Why.").at(field, None);
        let back = Change::recreate(page());
        assert!(without.refutes(&back, &added(Field::ScriptJs)));
        assert!(!without.refutes(&back, &added(Field::ScriptCss)));
        assert!(!without.refutes(&back, &Warning::new("links_break", "Why.")));
        let elsewhere = Change::recreate(at("docs/other"));
        assert!(!without.refutes(&elsewhere, &added(Field::ScriptJs)));

        // Only an undo brings a page back; a new one has all that was asked for, or is not made.
        let undo = |change: Change| {
            let undone = set(change.clone()).id();
            SetChange::from(change).undoing(Some(undone))
        };
        assert!(brings_back(&undo(Change::recreate(page()))));
        assert!(!brings_back(&SetChange::from(Change::recreate(page()))));
        assert!(!brings_back(&undo(to(|page| page.title = "x".to_owned()))));
    }

    #[test]
    fn a_page_that_goes_by_a_temporary_place_needs_rights_there_as_well() {
        let swapped = to(|page| page.path = PagePath::as_stored("docs/b"))
            .by_way_of(Some(PagePath::as_stored("docs/b-aside")));
        let told = told(&swapped, true);
        assert_eq!(
            told[1..],
            [
                (
                    "docs/b-aside".to_owned(),
                    false,
                    vec!["write:pages", "manage:pages"]
                ),
                ("docs/b".to_owned(), false, vec!["write:pages"])
            ]
        );
    }

    #[test]
    fn unknown_rights_are_named_once_each() {
        assert_eq!(warning(Vec::new()), None);
        let said = warning(vec!["write:pages", "manage:pages", "write:pages"]).unwrap();
        assert_eq!(
            said.to_string(),
            "rights_unknown: rights unknown: the wiki does not tell whether this key has manage:pages, write:pages here; it decides when the write is sent."
        );
    }
}
