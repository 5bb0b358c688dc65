//! Checks that the key may make each change of a set, as far as the wiki tells before anything is
//! sent; of a list, that it may take each change back as well.

use futures_util::{StreamExt as _, stream};

use crate::change::{Change, Warning};
use crate::error::Failure;
use crate::gates::ChangeSet;
use crate::page::{Field, PageReading, PageState, Thing};
use crate::wiki::{Right, Rights, Wiki};
use crate::write::lacking::{Lacking, denied, denied_set};

/// How many places are asked about concurrently.
const AT_ONCE: usize = 4;

/// Rights that a change needs at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Need {
    place: PageReading,
    rights: Vec<Right>,
}

impl Need {
    /// Whether styles or scripts are written.
    fn asks_for_code(&self) -> bool {
        let is_code = |right: &Right| Right::OF_CODE.contains(right);
        self.rights.iter().any(is_code)
    }
}

/// Checks the rights of the key at each place of a set. An unknown right stops nothing: the wiki
/// then refuses the step, and a list is taken back. Returns warnings: about unknown rights, and
/// about styles and scripts without which a deleted page comes back.
///
/// # Errors
/// `PERMISSION_DENIED`, with the missing rights at each place.
pub(super) async fn look(wiki: &Wiki, set: &ChangeSet) -> Result<Vec<Warning>, Failure> {
    let needs: Vec<Need> = set
        .iter()
        .flat_map(|one| needs(&one.change, set.is_list()))
        .collect();
    if needs.is_empty() || wiki.full_rights().await.is_some() {
        return Ok(Vec::new());
    }
    let asked = stream::iter(needs).map(async |need| {
        let rights = rights(wiki, &need).await;
        (lacking(&need, &rights), unknown(&need, &rights))
    });
    let asked: Vec<_> = asked.buffered(AT_ONCE).collect().await;
    let (lacking, unknown): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
    let lacking: Vec<Lacking> = lacking.into_iter().flatten().collect();
    let (lacking, incomplete) = if brings_back(set) {
        without_code(lacking)
    } else {
        (lacking, None)
    };
    match lacking.as_slice() {
        [] => Ok(warning(unknown.concat())
            .into_iter()
            .chain(incomplete)
            .collect()),
        [one] if !set.is_list() => Err(denied(one)),
        all => Err(denied_set(all)),
    }
}

/// Whether a set is the undo of one deletion. A page without its styles and scripts is better than
/// no page.
fn brings_back(set: &ChangeSet) -> bool {
    let only = set.first();
    let is_there = |page: &PageState| page.is_there();
    !set.is_list() && only.undoes.is_some() && !only.change.before().is_some_and(is_there)
}

/// What is lacking beside the rights to styles and scripts, and the warning that the page comes back
/// without these.
fn without_code(lacking: Vec<Lacking>) -> (Vec<Lacking>, Option<Warning>) {
    let (mut others, mut code) = (Vec::new(), Vec::new());
    for one in lacking {
        let is_code = |name: &&str| Right::OF_CODE.iter().any(|right| right.name() == *name);
        let (of_code, rights): (Vec<_>, Vec<_>) = one.rights.into_iter().partition(is_code);
        code.extend(of_code);
        if !rights.is_empty() {
            others.push(Lacking { rights, ..one });
        }
    }
    let warning = (!code.is_empty()).then(|| {
        let message = format!(
            "this key lacks {}, so the page comes back without its own styles or scripts that need this.",
            code.join(" and ")
        );
        Warning::new("cannot_return", message)
    });
    (others, warning)
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
async fn rights(wiki: &Wiki, need: &Need) -> Rights {
    let place = &need.place;
    let told = match place.id {
        // No view tells them (W44).
        _ if need
            .rights
            .iter()
            .all(|right| Right::OF_ASSETS.contains(right)) =>
        {
            return Rights::default();
        }
        None => wiki.rights_at(&place.locale, &place.path).await,
        Some(_) if has_tags(place) && need.asks_for_code() => wiki.rights_to_code(place).await,
        Some(_) if has_tags(place) => wiki.rights_by_path(place).await,
        Some(_) => wiki.rights(place).await,
    };
    told.unwrap_or_else(|error| {
        tracing::debug!(%error, "the rights of the key could not be asked for");
        Rights::default()
    })
}

fn has_tags(place: &PageReading) -> bool {
    place.tags.as_ref().is_some_and(|tags| !tags.is_empty())
}

/// The rights that a change needs: at its page, and at the place where it puts one. Of a list, also
/// those that its way back needs at the page.
fn needs(change: &Change, is_list: bool) -> Vec<Need> {
    if change.is_empty() {
        return Vec::new();
    }
    let (before, after) = (
        change.before().filter(|page| page.is_there()),
        change.after(),
    );
    if let Some(thing) = change.thing() {
        return match (thing, before.or(after)) {
            (Thing::Asset(_), Some(page)) => vec![Need {
                place: place(page),
                rights: of_asset(change),
            }],
            // Of comments, the wiki's view of the page tells them only where comments are on.
            _ => Vec::new(),
        };
    }
    let mut needs = Vec::new();
    if let Some(page) = before {
        needs.push(Need {
            place: place(page),
            rights: at_page(change, is_list),
        });
    }
    if let Some(page) = after.filter(|_| before.is_none() || change.moves()) {
        let mut rights = vec![Right::WritePages];
        if before.is_none() {
            rights.extend(of_code(change));
        }
        let place = PageReading {
            id: None,
            tags: None,
            ..place(page)
        };
        needs.push(Need { place, rights });
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

/// The rights that a change needs at its page's place, and in a list those that its undo needs
/// there.
fn at_page(change: &Change, is_list: bool) -> Vec<Right> {
    if change.after().is_none() {
        // A deleted page comes back as a new one.
        let back = is_list.then_some(Right::WritePages);
        return back.into_iter().chain([Right::DeletePages]).collect();
    }
    let mut needed = Vec::new();
    let is_elsewhere = |field: &Field| matches!(field, Field::Path | Field::Locale);
    if !change.fields().iter().all(is_elsewhere) || change.renders_anew() {
        needed.push(Right::WritePages);
    }
    if change.moves() {
        needed.push(Right::ManagePages);
    }
    needed.extend(of_code(change));
    needed
}

/// The rights to the styles and scripts that a change writes.
fn of_code(change: &Change) -> Vec<Right> {
    let fields = change.fields();
    let both = [
        (Field::ScriptCss, Right::WriteStyles),
        (Field::ScriptJs, Right::WriteScripts),
    ];
    both.into_iter()
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

/// What is lacking of a need; `None` if nothing is known to be.
fn lacking(need: &Need, rights: &Rights) -> Option<Lacking> {
    let lacks: Vec<&'static str> = named(need, |right| rights.has(right) == Some(false));
    (!lacks.is_empty()).then(|| Lacking {
        id: need.place.id,
        locale: need.place.locale.clone(),
        path: need.place.path.clone(),
        rights: lacks,
    })
}

/// The names of the rights of which nothing is known.
fn unknown(need: &Need, rights: &Rights) -> Vec<&'static str> {
    named(need, |right| rights.has(right).is_none())
}

fn named(need: &Need, is_one: impl Fn(Right) -> bool) -> Vec<&'static str> {
    let those = need.rights.iter().filter(|right| is_one(**right));
    those.map(|right| right.name()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Lacking, Need, brings_back, lacking, needs, unknown, warning, without_code};
    use crate::change::Change;
    use crate::gates::{ChangeSet, SetChange};
    use crate::page::testing::page;
    use crate::page::{PagePath, PageState};
    use crate::wiki::{Right, Rights};
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
        let need = Need {
            rights: vec![Right::WritePages, Right::DeletePages, Right::ManagePages],
            ..needs(&Change::delete(page()), false).remove(0)
        };
        let rights = Rights::new([(Right::WritePages, true), (Right::DeletePages, false)]);
        let lacks = lacking(&need, &rights).unwrap();
        assert_eq!(
            (lacks.id, &*lacks.rights),
            (page().id, &["delete:pages"][..])
        );
        assert_eq!(unknown(&need, &rights), ["manage:pages"]);
        assert_eq!(lacking(&need, &Rights::default()), None);
    }

    #[test]
    fn a_deleted_page_comes_back_without_what_the_key_may_not_write() {
        let of = |rights: Vec<&'static str>| Lacking {
            id: None,
            locale: page().locale,
            path: page().path,
            rights,
        };
        let (others, said) = without_code(vec![of(vec!["write:styles", "write:scripts"])]);
        assert_eq!(others, []);
        assert_eq!(
            said.unwrap().to_string(),
            "cannot_return: this key lacks write:styles and write:scripts, so the page comes back without its own styles or scripts that need this."
        );
        let (others, said) = without_code(vec![of(vec!["write:pages", "write:styles"])]);
        assert_eq!(others, [of(vec!["write:pages"])]);
        assert!(said.is_some());
        assert_eq!(without_code(vec![of(vec!["delete:pages"])]).1, None);

        // Only an undo brings a page back; a new one has all that was asked for, or is not made.
        let undo = |change: Change| {
            let one = set(change.clone());
            ChangeSet::of(
                one.id(),
                SetChange {
                    undoes: Some(one.id()),
                    ..SetChange::from(change)
                },
            )
        };
        assert!(brings_back(&undo(Change::recreate(page()))));
        assert!(!brings_back(&set(Change::recreate(page()))));
        assert!(!brings_back(&undo(to(|page| page.title = "x".to_owned()))));
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
