//! Checks that the key may make each change of a set and take it back, as far as the wiki tells
//! before anything is sent.

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use crate::change::Change;
use crate::error::{Code, Failure};
use crate::gates::ChangeSet;
use crate::page::{Field, PageReading};
use crate::wiki::{Right, Rights, Wiki};

/// How many pages are asked about concurrently.
const AT_ONCE: usize = 4;
/// The most pages that a refusal names.
const NAMED: usize = 20;

/// Checks the rights of the key at each page of a set. An unknown right stops nothing: the wiki
/// then refuses the step, and the set is taken back.
///
/// # Errors
/// `PERMISSION_DENIED`, with the missing rights at each page.
pub(super) async fn look(wiki: &Wiki, set: &ChangeSet) -> Result<(), Failure> {
    let asked: Vec<(PageReading, Vec<Right>)> =
        set.iter().filter_map(|one| asked(&one.change)).collect();
    let lacking: Vec<Value> = stream::iter(asked)
        .map(|(page, needed)| async move {
            let rights = wiki.rights(&page).await.ok()?;
            told(&page, &lacking(&needed, &rights))
        })
        .buffered(AT_ONCE)
        .filter_map(|lacking| async move { lacking })
        .collect()
        .await;
    if lacking.is_empty() {
        return Ok(());
    }
    let count = lacking.len();
    let named: Vec<Value> = lacking.into_iter().take(NAMED).collect();
    Err(Failure::new(
        Code::PermissionDenied,
        format!("This key may not make all changes of the set, or not take them back: it lacks rights at {count} pages."),
    )
    .hint("Nothing was sent. details.lacking names the pages and the rights; leave these pages out, or tell the user to give the key these rights.")
    .detail("pages", count)
    .detail("lacking", named))
}

/// The page at which the wiki is asked for rights, and those that are needed there; `None` if none
/// are, or if there is no page yet.
fn asked(change: &Change) -> Option<(PageReading, Vec<Right>)> {
    let page = change.before()?;
    let place = PageReading::bare(
        Some(page.id?),
        page.locale.clone(),
        page.path.clone(),
        page.title.clone(),
    );
    let needed = needed(change);
    (!needed.is_empty()).then_some((place, needed))
}

/// A page and the rights that are lacking there, for a refusal; `None` if none are.
fn told(page: &PageReading, lacking: &[&str]) -> Option<Value> {
    (!lacking.is_empty())
        .then(|| json!({ "id": page.id, "path": page.path.as_str(), "rights": lacking }))
}

/// The rights that a change needs at its page's place, and those that its undo needs there.
fn needed(change: &Change) -> Vec<Right> {
    // What belongs to a page has rights that no page tells; the wiki refuses the step then.
    if change.is_empty() || change.thing().is_some() {
        return Vec::new();
    }
    if change.after().is_none() {
        // A deleted page comes back as a new one.
        return vec![Right::WritePages, Right::DeletePages];
    }
    let mut needed = Vec::new();
    let fields = change.fields();
    if fields
        .iter()
        .any(|field| !matches!(field, Field::Path | Field::Locale))
    {
        needed.push(Right::WritePages);
    }
    if change.moves() {
        needed.push(Right::ManagePages);
    }
    if fields.contains(&Field::ScriptCss) {
        needed.push(Right::WriteStyles);
    }
    if fields.contains(&Field::ScriptJs) {
        needed.push(Right::WriteScripts);
    }
    needed
}

/// The names of the rights that the key lacks.
fn lacking(needed: &[Right], rights: &Rights) -> Vec<&'static str> {
    let lacks = |right: &&Right| rights.has(**right) == Some(false);
    needed.iter().filter(lacks).map(|one| one.name()).collect()
}

#[cfg(test)]
mod tests {
    use super::{asked, lacking, needed, told};
    use crate::change::Change;
    use crate::page::{PagePath, PageState};
    use crate::wiki::{Right, Rights};

    fn page() -> PageState {
        let page = r#"{"id":1,"locale":"en","path":"a","title":"A","description":"","content":"x",
            "editor":"markdown","tags":[],"isPublished":true,"isPrivate":false,
            "publishStartDate":"","publishEndDate":"","scriptCss":"","scriptJs":""}"#;
        serde_json::from_str(page).unwrap()
    }

    #[test]
    fn each_kind_of_change_takes_its_rights_and_those_of_the_way_back() {
        let to = |change: fn(&mut PageState)| {
            let mut after = page();
            change(&mut after);
            needed(&Change::between(page(), after))
        };
        assert_eq!(to(|_| ()), []);
        assert_eq!(to(|page| page.title = "B".to_owned()), [Right::WritePages]);
        assert_eq!(
            to(|page| page.path = PagePath::as_stored("b")),
            [Right::ManagePages]
        );
        assert_eq!(
            to(|page| {
                page.path = PagePath::as_stored("b");
                page.content = "y".to_owned();
            }),
            [Right::WritePages, Right::ManagePages]
        );
        assert_eq!(
            to(|page| {
                page.script_css = "a{}".to_owned();
                page.script_js = "1".to_owned();
            }),
            [Right::WritePages, Right::WriteStyles, Right::WriteScripts]
        );
        assert_eq!(
            needed(&Change::delete(page())),
            [Right::WritePages, Right::DeletePages]
        );
    }

    #[test]
    fn a_right_is_lacking_only_where_the_wiki_says_so() {
        let needed = [Right::WritePages, Right::DeletePages, Right::ManagePages];
        let rights = Rights::new([(Right::WritePages, true), (Right::DeletePages, false)]);
        assert_eq!(lacking(&needed, &rights), ["delete:pages"]);
        assert!(lacking(&needed, &Rights::default()).is_empty());
    }

    #[test]
    fn the_wiki_is_asked_only_about_pages_that_are_there_and_change() {
        let titled = PageState {
            title: "B".to_owned(),
            ..page()
        };
        let (place, rights) = asked(&Change::between(page(), titled)).unwrap();
        assert_eq!((place.id, place.path.as_str()), (Some(1), "a"));
        assert_eq!(rights, [Right::WritePages]);
        assert!(asked(&Change::delete(page())).is_some());
        assert!(asked(&Change::between(page(), page())).is_none());
        assert!(asked(&Change::recreate(page())).is_none());
        let told = told(&place, &["write:pages"]).unwrap();
        let expected = serde_json::json!({ "id": 1, "path": "a", "rights": ["write:pages"] });
        assert_eq!(told, expected);
        assert!(super::told(&place, &[]).is_none());
    }
}
