use super::{
    Lacking, RightsCheck, brings_back, incomplete, named, needs, stays, unknown, without_code,
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
fn what_takes_a_change_back_needs_its_rights_too() {
    // Each place with the rights that the undo alone needs there.
    let told = |change: &Change, is_list| -> Vec<(String, Vec<&'static str>)> {
        let told = needs(change, is_list).into_iter().map(|need| {
            let names = named(&need.undo, |_| true);
            (need.place.path.as_str().to_owned(), names)
        });
        told.collect()
    };
    let own = page().path.as_str().to_owned();
    let here = |rights: Vec<&'static str>| (own.clone(), rights);
    let code = ["write:styles", "write:scripts"];
    let coded = page().but(|page| {
        page.script_css = "b{}".to_owned();
        page.script_js = "2".to_owned();
    });
    assert_eq!(
        told(&Change::recreate(page()), false),
        [here(vec!["delete:pages"])]
    );
    let all = here([&["write:pages"][..], &code].concat());
    assert_eq!(told(&Change::delete(coded.clone()), false), [all]);
    assert_eq!(told(&Change::delete(coded), true), [here(code.to_vec())]);
    let titled = to(|page| page.title = "Other".to_owned());
    assert_eq!(told(&titled, false), [here(Vec::new())]);
    let moved = to(|page| page.path = PagePath::as_stored("legal/b"));
    assert_eq!(
        told(&moved, false),
        [
            here(vec!["write:pages"]),
            ("legal/b".to_owned(), vec!["manage:pages"])
        ]
    );
    assert_eq!(stays(&[]), None);
    let lacks = |path: &str| Lacking {
        path: PagePath::as_stored(path),
        id: None,
        locale: page().locale,
        rights: vec!["delete:pages"],
    };
    assert_eq!(
        stays(&[lacks("docs/a"), lacks("docs/b")])
            .unwrap()
            .to_string(),
        "undo_needs_rights: this key cannot take this back, for want of delete:pages at en/docs/a, delete:pages at en/docs/b; a key that has the right can."
    );
}

#[test]
fn a_right_is_lacking_only_where_the_wiki_says_so_and_otherwise_unknown() {
    let need = needs(&Change::delete(page()), false)
        .remove(0)
        .but(|it| it.rights = vec![Right::WritePages, Right::DeletePages, Right::ManagePages]);
    let rights = PageRights::new([(Right::WritePages, true), (Right::DeletePages, false)]);
    let lacks = need.lacking(&need.rights, &rights).unwrap();
    assert_eq!(
        (lacks.id, &*lacks.rights),
        (page().id, &["delete:pages"][..])
    );
    assert_eq!(
        named(&need.rights, |right| rights.has(right).is_none()),
        ["manage:pages"]
    );
    let unknown = PageRights::default();
    assert_eq!(need.lacking(&need.rights, &unknown), None);
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
    assert_eq!(unknown([Vec::new(), Vec::new()]), None);
    let said = |make: &[_], undo: &[_]| unknown([make.to_vec(), undo.to_vec()]).unwrap();
    assert_eq!(
        said(&["write:pages", "manage:pages", "write:pages"], &[]).to_string(),
        "rights_unknown: rights unknown: the wiki does not tell whether this key has manage:pages, write:pages here; it decides when the write is sent."
    );
    assert_eq!(
        said(&[], &["manage:assets", "manage:assets"]).to_string(),
        "rights_unknown: the wiki does not tell whether this key has manage:assets here, which taking this back needs."
    );
    assert_eq!(
        said(&["write:assets"], &["manage:assets"]).to_string(),
        "rights_unknown: rights unknown: the wiki does not tell whether this key has write:assets here, and manage:assets, which taking this back needs; it decides when the write is sent."
    );
}
