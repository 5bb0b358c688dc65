use std::time::Duration;

use time::OffsetDateTime;
use time::macros::datetime;

use super::super::expected::{FoundPage, Promise};
use super::{
    ChangedSince, HistoryEvidence, OverwriteCandidates, Overwritten, as_written, asked,
    began_together, follow, holds, is_passed, later, look, of_time, overlap, overwritten,
};
use crate::change::{Change, Operation};
use crate::page::testing::{But as _, page};
use crate::page::{Date, Field, PagePath, PageReading, PageState};
use crate::wiki::{History, HistoryEntry, Version};
use crate::write::testing::{self, office, update};

const SENT: OffsetDateTime = datetime!(2026-01-01 12:00:10 UTC);

fn date(second: &str) -> Date {
    Date::from(format!("2026-01-01T12:00:{second}Z"))
}

fn dated(second: &str, page: PageState) -> PageState {
    page.but(|it| it.updated_at = Some(date(second)))
}

/// The page's version 7.
fn version(page: &PageState) -> Version {
    let mut page = PageReading {
        author_name: Some("Ann".to_owned()),
        updated_at: Some(date("05")),
        ..PageReading::from(page.clone())
    };
    for field in Field::ALL {
        if !field.is_in_versions() {
            page.forget(field);
        }
    }
    Version {
        id: 7,
        ended: date("10"),
        page,
    }
}

/// Versions, newest first, each with its second.
fn history(versions: &[(i64, &str)]) -> History {
    let entry = |(version_id, second): &(i64, &str)| HistoryEntry {
        version_id: *version_id,
        version_date: date(second),
        author_id: 1,
        author_name: "Ann".to_owned(),
        action: "edit".to_owned(),
        moved_from: None,
        moved_to: None,
    };
    History {
        entries: versions.iter().map(entry).collect(),
        total: versions.len(),
    }
}

fn found(promised: &PageState, page: PageState) -> FoundPage {
    let author = Some("Ann \"the\" editor".to_owned());
    testing::found(promised, page).but(|it| it.author = author)
}

#[test]
fn a_version_that_a_failed_write_left_long_before_is_no_overlap() {
    let kept = |times: &[&str]| -> Vec<Date> { times.iter().map(|time| date(time)).collect() };
    for (times, expected) in [
        (&["10.200", "09.100"][..], true),
        (&["10.200", "10.900"], true),
        (&["10.200", "07.000"], true),
        (&["10.200", "06.999"], false),
        (&["10.200"], false),
        (&[], false),
    ] {
        assert_eq!(began_together(&kept(times), SENT), expected, "{times:?}");
    }
}

#[tokio::test]
async fn the_wiki_is_asked_only_about_several_versions_of_one_state() {
    let office = office();
    // Nobody answers, so it was asked where this fails.
    for (same, is_asked) in [(&[][..], false), (&[1], false), (&[1, 2], true)] {
        let told = overlap(&office.desk.wiki, 1, same, SENT).await;
        assert_eq!(told.is_err(), is_asked, "{same:?}");
        assert!(!told.unwrap_or_default());
    }
}

#[test]
fn versions_are_later_or_of_the_same_time_as_the_state_that_was_read() {
    let history = history(&[(4, "06"), (3, "soon"), (2, "05"), (1, "04")]);
    let at = |second: &str| date(second).instant();
    assert_eq!(later(&history, at("05")), [4]);
    assert_eq!(later(&history, at("04")), [4, 2]);
    assert_eq!(later(&history, at("06")), [0; 0]);
    // Of a page that was created.
    assert_eq!(later(&history, None), [4, 3, 2, 1]);
    assert_eq!(of_time(&history, at("05")), [2]);
    assert_eq!(of_time(&history, at("07")), [0; 0]);
}

#[test]
fn others_wrote_if_a_version_is_later_or_none_of_them_is_shown() {
    let of =
        |versions: &[(i64, &str)], total| history(versions).but(|history| history.total = total);
    for (history, later, expected) in [
        (of(&[], 0), &[][..], false),
        (of(&[], 1), &[], true),
        (of(&[(1, "04")], 1), &[], false),
        (of(&[(1, "04")], 20), &[], false),
        (of(&[(1, "04")], 1), &[1], true),
    ] {
        assert_eq!(is_passed(&history, later), expected, "{history:?}");
    }
}

#[test]
fn a_create_asks_for_every_field_and_an_update_for_those_that_it_changes() {
    let change = update(1);
    let after = change.after().unwrap();
    assert_eq!(asked(None, after), Field::ALL);
    assert_eq!(asked(change.before(), after), [Field::Title]);
}

#[test]
fn a_version_shows_a_step_if_every_field_that_the_step_writes_is_there() {
    let after = PageState {
        title: "B".to_owned(),
        path: PagePath::as_stored("docs/b"),
        tags: vec!["t".to_owned()],
        ..page()
    };
    let with = |edit: fn(&mut PageState)| {
        let mut page = after.clone();
        edit(&mut page);
        version(&page)
    };
    let same = || with(|_| ());
    let described = || with(|page| page.description = "other".to_owned());
    let private = || with(|page| page.is_private = true);
    let moved = || with(|page| page.path = PagePath::as_stored("docs/c"));
    let (title, place) = (&[Field::Title][..], &[Field::Path][..]);
    let all = &Field::ALL[..];
    for (version, asked, step, expected) in [
        (same(), title, Operation::Update, true),
        (described(), title, Operation::Update, false),
        // What an update cannot write, it did not, unless it was asked for.
        (private(), title, Operation::Update, true),
        (moved(), title, Operation::Update, true),
        (private(), all, Operation::Create, false),
        (moved(), all, Operation::Create, false),
        (same(), all, Operation::Create, true),
        (same(), place, Operation::Move, true),
        (moved(), place, Operation::Move, false),
        (described(), place, Operation::Move, true),
        // Versions keep no tags, so they prove none.
        (same(), &[Field::Tags], Operation::Update, false),
        (
            same(),
            &[Field::Tags, Field::Title],
            Operation::Update,
            true,
        ),
    ] {
        let told = format!("{version:?} {asked:?}");
        assert_eq!(holds(&version, &after, asked, step), expected, "{told}");
    }
}

#[test]
fn the_page_as_it_was_written_is_what_the_version_has_under_the_id_that_was_found() {
    let promised = PageState {
        id: None,
        script_css: "a{}".to_owned(),
        tags: vec!["t".to_owned()],
        ..page()
    };
    let now = dated(
        "11",
        PageState {
            id: Some(9),
            title: "Later".to_owned(),
            tags: vec!["u".to_owned()],
            ..promised.clone()
        },
    );
    let found = found(&promised, now);
    let asked = [Field::Title, Field::Tags, Field::ScriptCss];
    let since = as_written(&version(&promised), &promised, &asked, &found);
    let expected = dated("05", promised.but(|page| page.id = Some(9)));
    assert_eq!(since.proof.found, expected);
    assert_eq!(since.proof.differing, []);
    // The styles are seen on the page as it is; the scripts were not asked for.
    assert_eq!(since.proof.unverified, [Field::Tags]);
    assert_eq!(since.version, 7);
    assert_eq!(since.fields, [Field::Title, Field::Tags]);
}

#[test]
fn who_wrote_since_is_named_as_far_as_it_is_known() {
    let since = |author: Option<&str>, at| ChangedSince {
        proof: found(&page(), page()).proof,
        version: 7,
        fields: vec![Field::Title, Field::Tags],
        author: author.map(str::to_owned),
        at,
        ours: None,
    };
    let warning = since(Some("Ann \"the\" editor"), Some(date("11"))).warning();
    assert_eq!(
        warning.to_string(),
        "changed_since: after this write somebody changed title, tags, and \"Ann 'the' editor\" wrote the page last at 2026-01-01T12:00:11.000Z; version 7 has it as this write left it."
    );
    assert_eq!(
        since(None, None).warning().message,
        "after this write somebody changed title, tags, and somebody wrote the page last; version 7 has it as this write left it."
    );
    let ours = since(Some("Administrator"), None)
        .but(|it| it.ours = Some("00000000000000aa".parse().unwrap()));
    assert_eq!(
        ours.warning().message,
        "after this write somebody changed title, tags, and \"Administrator\" (ours: the call 00000000000000aa) wrote the page last; version 7 has it as this write left it."
    );
}

#[tokio::test]
async fn the_history_is_read_only_where_it_can_show_the_step() {
    let office = office();
    let wiki = &office.desk.wiki;
    let created = page();
    let changed = |before: PageState| Promise::Changed {
        before: std::borrow::Cow::Owned(before),
        after: std::borrow::Cow::Owned(page()),
        lost: &[],
        step: Operation::Update,
        moves: false,
    };
    let nameless = || PageState { id: None, ..page() };
    // Nobody answers, so it was read where this fails.
    for (promise, now, is_read) in [
        (Promise::Created { after: &created }, page(), true),
        (Promise::Created { after: &created }, nameless(), false),
        (Promise::Deleted { before: &created }, page(), false),
        (changed(dated("05", page())), page(), true),
        (changed(page()), page(), false),
    ] {
        let found = found(&created, now);
        let told = look(wiki, &promise, &found, SENT).await;
        assert_eq!(told.is_err(), is_read);
        assert!(told.is_err() || matches!(told, Ok(HistoryEvidence::Unknown)));
        let told = follow(wiki, &promise, &found, SENT, Duration::from_secs(1)).await;
        assert!(matches!(told, HistoryEvidence::Unknown), "{told:?}");
    }
}

#[test]
fn what_a_write_found_is_the_newest_version_that_is_older_than_it() {
    let left = |versions: &[(i64, &str)]| {
        let (before, written) = (dated("05", page()), dated("08", page()));
        let left = OverwriteCandidates::of(&history(versions), &before, &written)?;
        Some((left.between, left.same))
    };
    for (versions, expected) in [
        (&[][..], None),
        (&[(9, "09"), (8, "08")], None),
        (&[(5, "05")], Some((vec![], vec![5]))),
        (&[(8, "08"), (5, "05")], Some((vec![], vec![5]))),
        (
            &[(9, "09"), (7, "07"), (6, "06"), (5, "05"), (4, "04")],
            Some((vec![7, 6], vec![7])),
        ),
        // Two writes that began from one state.
        (
            &[(6, "05"), (5, "05"), (4, "04")],
            Some((vec![], vec![6, 5])),
        ),
        (&[(4, "04")], Some((vec![], vec![4]))),
    ] {
        assert_eq!(left(versions), expected, "{versions:?}");
    }
}

#[test]
fn only_what_is_neither_old_nor_our_own_was_overwritten() {
    let titled = |title: &str| page().but(|it| it.title = title.to_owned());
    let (before, written) = (titled("A"), titled("B"));
    let warning = |theirs, ours| {
        let found = Overwritten::of(version(&titled(theirs)), &before, &written);
        found.map(|found| found.warning(ours).to_string())
    };
    assert_eq!(warning("A", None), None);
    assert_eq!(warning("B", None), None);
    assert_eq!(
        warning("C", None).unwrap(),
        "overwrote_newer: \"Ann\" changed title just before this write; version 7 of the page has it."
    );
    assert_eq!(
        warning("C", Some("00000000000000aa".parse().unwrap())).unwrap(),
        "overwrote_newer: \"Ann\" (ours: the call 00000000000000aa) changed title just before this write; version 7 of the page has it."
    );
}

#[tokio::test]
async fn that_it_was_not_looked_what_was_overwritten_is_said_of_a_page_that_was_there() {
    let office = office();
    let codes = async |change: &Change| {
        let call = "00000000000000aa".parse().unwrap();
        let told = overwritten((&office.desk.past, call), change, &page(), SENT).await;
        told.map(|warning| warning.code.into_owned())
    };
    let not_checked = Some("overwrite_not_checked".to_owned());
    assert_eq!(codes(&update(1)).await, not_checked);
    assert_eq!(codes(&Change::delete(page())).await, not_checked);
    assert_eq!(codes(&Change::recreate(page())).await, None);
}
