use std::time::{Duration, Instant};

use url::Url;

use super::{CheckInput, Warning, afterwards, asks, asks_rights, by_operator, check, lost_by};
use crate::audit::CallId;
use crate::change::{Change, Operation};
use crate::checks::CheckCommand;
use crate::error::Code;
use crate::gates::{ChangeSet, Gate, Policy, Refusal, SetChange, WritePolicy};
use crate::page::testing::{But as _, placed as at};
use crate::page::{Field, Locale, PagePath, PagePlace, PageReading};
use crate::rules::{Rule, RuleBook, RuleCondition, Then};
use crate::wiki::AllPages;
use crate::write::route::{Route, Stop, Warrant};
use crate::write::source::DraftContext;
use crate::write::source::conflict::ConflictCheck;
use crate::write::stages::check::SetCheck;
use crate::write::testing::{Office, list, mending, policy, set, update};

/// The facts of a set that was shown: nothing of it is looked for in the wiki but the places that
/// it takes.
fn seen() -> CheckInput {
    CheckInput {
        conflict: ConflictCheck::Checked,
        said: Vec::new(),
        was_shown: true,
        asks_rights: false,
        beside: DraftContext::default(),
    }
}

async fn checked(policy: &Policy, set: &ChangeSet, seen: CheckInput) -> Result<SetCheck, Refusal> {
    let office = Office::new(policy.clone());
    let desk = &office.desk;
    check(&desk.index, policy, set, seen).await
}

fn place(path: &str) -> PagePlace {
    (Locale::as_stored("en"), PagePath::as_stored(path))
}

fn writes(id: i64, content: &str) -> Change {
    let after = at(id, "docs/a").but(|page| page.content = content.to_owned());
    Change::between(at(id, "docs/a"), after)
}

fn codes<'a>(warnings: impl IntoIterator<Item = &'a Warning>) -> Vec<&'a str> {
    warnings.into_iter().map(|one| &*one.code).collect()
}

fn preview() -> Policy {
    policy(WritePolicy::Preview)
}

/// More than a request to the wiki may have.
const MOST: usize = 8 << 20;
const SCRIPT: &str = "x\n\n<b onclick=\"x()\">y</b>\n";

#[tokio::test]
async fn a_single_write_has_its_warnings_in_its_notes_and_its_facts_for_the_rules() {
    let own = Warning::new("own", "of the source.");
    let known = seen().but(|input| input.said = vec![own]);
    let set = set(writes(1, SCRIPT));
    let found = checked(&preview(), &set, known).await.unwrap();
    assert_eq!(codes(&found.notes.warnings), ["script_added", "own"]);
    assert_eq!(codes(found.warnings()), ["script_added", "own"]);
    assert_eq!(found.each, Vec::<Vec<Warning>>::new());
    assert!(found.diff.contains("+<b onclick"), "{}", found.diff);
    assert_eq!((found.lines.added, found.lines.removed), (2, 0));
    let [facts] = found.facts.as_slice() else {
        panic!("{:?}", found.facts);
    };
    assert_eq!(facts.operation, Operation::Update);
    assert_eq!(facts.warnings, ["script_added"]);
    assert!(facts.is_asked_for);
}

#[tokio::test]
async fn a_list_has_the_warnings_of_each_change_apart_and_all_their_lines_together() {
    let set = list(vec![writes(1, SCRIPT), writes(2, "y\nz\n")]);
    let found = checked(&preview(), &set, seen()).await.unwrap();
    assert_eq!(found.notes.warnings, []);
    let each: Vec<Vec<&str>> = found.each.iter().map(codes).collect();
    assert_eq!(each, [vec!["script_added"], vec![]]);
    assert_eq!(codes(found.warnings()), ["script_added"]);
    assert_eq!(found.diff, "");
    assert_eq!((found.lines.added, found.lines.removed), (4, 1));
    assert_eq!(found.facts.len(), 2);
}

#[tokio::test]
async fn a_change_that_only_mends_links_was_not_asked_for() {
    let mending = mending(2, 1, Vec::new());
    let set =
        list(vec![writes(1, "y\n"), writes(2, "y\n")]).with(|batch| batch.mending = Some(mending));
    let found = checked(&preview(), &set, seen()).await.unwrap();
    let asked: Vec<bool> = found.facts.iter().map(|one| one.is_asked_for).collect();
    assert_eq!(asked, [true, false]);
}

#[tokio::test]
async fn the_notes_say_what_was_compared_and_what_is_taken_back() {
    let call = CallId::new().unwrap();
    let undo = |undoes| SetChange::from(writes(1, SCRIPT)).but(|change| change.undoes = undoes);
    for (undoes, facts) in [(Some(call), 0), (None, 1)] {
        let set = set(undo(undoes));
        let found = checked(&preview(), &set, seen()).await.unwrap();
        assert_eq!(found.notes.undoes, undoes);
        // Rules are not for what is taken back.
        assert_eq!(found.facts.len(), facts);
        assert!(!found.notes.is_unchecked);
    }
    let set = ChangeSet::list(call, vec![undo(Some(call))]).unwrap();
    let unchecked = seen().but(|input| input.conflict = ConflictCheck::None);
    let found = checked(&preview(), &set, unchecked).await.unwrap();
    assert_eq!(found.notes.undoes, None);
    assert!(found.notes.is_unchecked);
}

/// No wiki is to be reached here: whatever is asked of it fails.
#[tokio::test]
async fn the_wiki_is_asked_of_a_place_that_is_taken_unless_another_change_frees_it() {
    let moved = |id, from, to| Change::between(at(id, from), at(id, to));
    let delete = || Change::delete(at(1, "docs/a"));
    for (changes, freed, is_asked) in [
        (vec![update(1)], None, false),
        (vec![delete()], None, false),
        (vec![moved(2, "docs/b", "docs/a")], None, true),
        (vec![moved(2, "docs/b", "docs/a")], Some("docs/a"), false),
        (vec![moved(2, "docs/b", "docs/a")], Some("docs/c"), true),
        (vec![delete(), moved(2, "docs/b", "docs/a")], None, false),
        (
            vec![
                moved(1, "docs/a", "docs/c"),
                Change::recreate(at(0, "docs/a")),
            ],
            Some("docs/c"),
            false,
        ),
        // A later change frees it too late.
        (vec![moved(2, "docs/b", "docs/a"), delete()], None, true),
    ] {
        let told = format!("{changes:?}");
        let known = seen().but(|input| {
            input.beside = DraftContext {
                changes: freed
                    .into_iter()
                    .map(|path| Change::delete(at(9, path)))
                    .collect(),
                mends_links: false,
                may_come_free: false,
            }
        });
        let found = checked(&preview(), &list(changes), known).await;
        assert_eq!(found.is_err(), is_asked, "{told}");
        if let Err(refusal) = found {
            assert_eq!(refusal.gate, Gate::Change);
        }
    }
}

#[tokio::test]
async fn a_change_that_fits_into_no_request_is_refused_in_a_list_as_alone() {
    let large = || writes(1, &"x".repeat(MOST));
    for set in [set(large()), list(vec![update(2), large()])] {
        let refused = checked(&preview(), &set, seen()).await.unwrap_err();
        assert_eq!(refused.failure.code, Code::TooLarge);
    }
}

#[test]
fn pages_are_judged_by_where_the_set_and_the_draft_put_them() {
    let listed = |id, path: &str| {
        let (locale, path) = place(path);
        PageReading::bare(Some(id), locale, path, format!("Page {id}"))
    };
    let pages = AllPages::new(vec![
        listed(1, "docs/a"),
        listed(2, "docs/b"),
        listed(3, "docs/c"),
    ]);
    let told = |set: &ChangeSet, beside: &DraftContext| -> Vec<String> {
        let pages = afterwards(&pages, set, beside).into_iter();
        pages.map(|page| page.path.as_str().to_owned()).collect()
    };
    let many = list(vec![
        Change::delete(at(1, "docs/a")),
        Change::between(at(2, "docs/b"), at(2, "docs/x")),
    ]);
    let beside = DraftContext {
        changes: vec![Change::recreate(at(0, "docs/d"))],
        mends_links: false,
        may_come_free: false,
    };
    assert_eq!(told(&many, &DraftContext::default()), ["docs/c", "docs/x"]);
    assert_eq!(told(&many, &beside), ["docs/c", "docs/x", "docs/d"]);
    let one = set(Change::delete(at(1, "docs/a")));
    assert_eq!(told(&one, &DraftContext::default()).len(), 3);
    assert_eq!(told(&one, &beside), ["docs/b", "docs/c", "docs/d"]);
}

#[test]
fn rights_are_asked_for_as_a_write_is_shown_and_of_a_list_before_it_is_sent() {
    let (one, many) = (set(update(1)), list(vec![update(1)]));
    let preview = || Route::Send(Warrant::Preview("token".to_owned()));
    for (set, route, expected) in [
        (&one, Route::Stop(Stop::Preview), true),
        (&one, Route::Stop(Stop::Ask), true),
        (&one, Route::Send(Warrant::StaticToken), true),
        (&one, preview(), false),
        (&one, Route::Stop(Stop::Propose), false),
        (&one, Route::Stop(Stop::AddToDraft), false),
        (&many, Route::Stop(Stop::Preview), true),
        (&many, preview(), true),
        (&many, Route::Stop(Stop::Propose), false),
    ] {
        assert_eq!(asks_rights(&route, set), expected, "{set:?}");
    }
}

#[test]
fn a_set_that_was_shown_is_held_against_lists_again_only_for_a_rule() {
    let wiki = Url::parse("https://wiki.example.org").unwrap();
    let book = |code: &str| {
        let mut when = RuleCondition::default();
        when.warnings = Some(vec![code.to_owned()]);
        let rule = Rule::new("x", when, Then::Deny, "").unwrap();
        RuleBook::new(vec![rule], &[]).unwrap()
    };
    let none = RuleBook::default();
    let titled = set(update(1));
    for (rules, was_shown, expected) in [
        (&none, false, (true, true)),
        (&none, true, (false, false)),
        (&book("same_title"), true, (true, false)),
        (&book("dead_link"), true, (true, false)),
        (&book("links_break"), true, (false, true)),
        (&book("own_links_break"), true, (false, true)),
        (&book("script_added"), true, (false, false)),
    ] {
        assert_eq!(asks(rules, &titled, &wiki, was_shown), expected);
    }
    // Neither what adds no title and no link needs the list, nor an undo.
    assert_eq!(
        asks(&none, &set(writes(1, "y\n")), &wiki, false),
        (false, true)
    );
    let undo = SetChange::from(update(1)).but(|change| change.undoes = Some(titled.id()));
    let undo = ChangeSet::single(titled.id(), undo);
    assert_eq!(asks(&none, &undo, &wiki, false), (false, true));
}

#[tokio::test]
async fn the_operators_checks_run_in_order_on_what_they_are_about_while_there_is_time() {
    let command = |name: &str, program: &str, path: &str| CheckCommand {
        name: name.to_owned(),
        argv: vec![program.to_owned()],
        cwd: "/".into(),
        environment: vec![("PATH", "/usr/bin:/bin".into())],
        env: Vec::new(),
        paths: Some(vec![crate::page::Prefix::parse(path).unwrap()]),
        timeout: Duration::from_mins(1),
    };
    let checking = preview().but(|policy| {
        policy.checks = vec![
            command("first", "false", "docs"),
            command("good", "true", "docs"),
            command("elsewhere", "false", "team"),
            command("last", "false", "docs/a"),
        ]
        .into();
    });
    let change = update(1);
    let until = |from_now: Duration| Instant::now() + from_now;
    let found = by_operator(&checking, &change, until(Duration::from_mins(1))).await;
    assert_eq!(codes(&found), ["check:first", "check:last"]);
    let late = by_operator(&checking, &change, until(Duration::ZERO)).await;
    assert_eq!(codes(&late), ["check:first", "check:good", "check:last"]);
    assert!(late.iter().all(|one| one.message.contains("not run")));
    // They are asked about each change, but for what is taken back.
    let found = checked(&checking, &set(update(1)), seen()).await.unwrap();
    assert_eq!(found.facts[0].warnings, ["check:first", "check:last"]);
    let undo =
        SetChange::from(update(1)).but(|change| change.undoes = Some(CallId::new().unwrap()));
    let found = checked(&checking, &set(undo), seen()).await.unwrap();
    assert_eq!(found.notes.warnings, []);
}

#[test]
fn what_is_lost_or_stays_is_named_by_field_and_nothing_else_is_said() {
    assert_eq!(lost_by(&update(1)), []);
    let fields = vec![Field::ScriptCss, Field::ScriptJs];
    let warnings = lost_by(&update(1).with_loss_of(fields.clone()));
    assert_eq!(codes(&warnings), ["loss_accepted"]);
    assert!(
        warnings[0]
            .message
            .starts_with("this key cannot read scriptCss, scriptJs;")
    );
    let warnings = lost_by(&update(1).without(fields));
    assert_eq!(codes(&warnings), ["not_known"]);
    assert!(
        warnings[0]
            .message
            .contains("scriptCss, scriptJs; it stays")
    );
}
