use super::Could;
use crate::change::{CODES, Operation};
use crate::page::testing::But as _;
use crate::page::{Field, Locale, PagePath, Prefix, TagPattern};
use crate::rules::{ChangeFacts, Facts, Rule, RuleBook, RuleCondition, Then};

fn change(operation: Operation, path: &str) -> ChangeFacts {
    ChangeFacts {
        operation,
        moves: operation == Operation::Move,
        places: vec![(Locale::as_stored("en"), PagePath::as_stored(path))],
        fields: vec![Field::Content],
        tags: vec!["legal".to_owned()],
        warnings: Vec::new(),
        lines_removed: 10,
        adds_grave_secret: false,
        is_asked_for: true,
    }
}

fn facts(changes: Vec<ChangeFacts>) -> Facts {
    Facts {
        clients: vec!["ci".to_owned(), "Claude-Code".to_owned()],
        people: vec!["ada@id.example.com".to_owned(), "s-1".to_owned()],
        writes_of_day: 5,
        changes,
    }
}

fn book(rules: Vec<Rule>) -> RuleBook {
    RuleBook::new(rules, &["secrets", "large-sets"]).unwrap()
}

fn rule(name: &str, when: RuleCondition, then: Then) -> Rule {
    Rule::new(name, when, then, "because").unwrap()
}

/// A condition of this alone.
fn when(set: impl FnOnce(&mut RuleCondition)) -> RuleCondition {
    RuleCondition::default().but(set)
}

fn holds(when: RuleCondition, facts: &Facts) -> bool {
    let book = book(vec![rule("x", when, Then::Deny)]);
    book.verdict(facts).is_some()
}

#[test]
fn each_matcher_holds_from_its_bound_on_and_all_that_are_named_must() {
    let update = facts(vec![change(Operation::Update, "docs/a")]);
    let prefix = |text: &str| {
        Some(vec![
            Prefix::parse("other").unwrap(),
            Prefix::parse(text).unwrap(),
        ])
    };
    let word = |text: &str| Some(vec![text.to_owned()]);
    let tag = |text: &str| Some(vec![TagPattern::new(text)]);
    let cases: [(RuleCondition, bool); 24] = [
        (RuleCondition::default(), true),
        (when(|when| when.paths = prefix("docs")), true),
        (when(|when| when.paths = prefix("en:docs/a")), true),
        (when(|when| when.paths = prefix("de:docs")), false),
        (when(|when| when.paths = prefix("doc")), false),
        (
            when(|when| when.operations = Some(vec![Operation::Update])),
            true,
        ),
        (
            when(|when| when.operations = Some(vec![Operation::Move])),
            false,
        ),
        (
            when(|when| when.fields = Some(vec![Field::Title, Field::Content])),
            true,
        ),
        (when(|when| when.fields = Some(vec![Field::Title])), false),
        (when(|when| when.tags = tag("leg*")), true),
        (when(|when| when.tags = tag("leg")), false),
        (when(|when| when.clients = word("claude-code")), true),
        (when(|when| when.clients = word("claude")), false),
        (when(|when| when.people = word("ADA@id.example.com")), true),
        (when(|when| when.people = word("ci")), false),
        (when(|when| when.warnings = word("script_added")), false),
        (when(|when| when.lines_removed_over = Some(9)), true),
        (when(|when| when.lines_removed_over = Some(10)), false),
        (when(|when| when.writes_per_day_over = Some(4)), true),
        (when(|when| when.writes_per_day_over = Some(5)), false),
        (when(|when| when.pages_over = Some(0)), true),
        (when(|when| when.pages_over = Some(1)), false),
        (
            RuleCondition {
                paths: prefix("docs"),
                clients: word("nobody"),
                ..RuleCondition::default()
            },
            false,
        ),
        (when(|when| when.deletes_over = Some(0)), false),
    ];
    for (when, wanted) in cases {
        assert_eq!(holds(when.clone(), &update), wanted, "{when:?}");
    }
}

#[test]
fn a_rule_on_warnings_holds_for_each_of_their_codes_and_for_no_other() {
    let own = "check:words";
    for code in CODES.into_iter().chain([own]) {
        let warned = change(Operation::Update, "docs/a")
            .but(|facts| facts.warnings = vec!["other".to_owned(), code.to_owned()]);
        let warned = facts(vec![change(Operation::Update, "docs/b"), warned]);
        let wanted = |codes: &[&str]| {
            when(|when| when.warnings = Some(codes.iter().map(|code| (*code).to_owned()).collect()))
        };
        assert!(holds(wanted(&[code]), &warned), "{code}");
        assert!(holds(wanted(&["no_such", code]), &warned), "{code}");
        let others: Vec<&str> = CODES.into_iter().chain([own]).collect();
        let others: Vec<&str> = others.into_iter().filter(|one| *one != code).collect();
        assert!(!holds(wanted(&others), &warned), "{code}");
    }
}

#[test]
fn a_rule_on_deletes_counts_the_deletes_that_it_is_about_and_no_other_change() {
    let set = facts(vec![
        change(Operation::Delete, "docs/a"),
        change(Operation::Delete, "notes/b"),
        change(Operation::Update, "docs/c"),
        change(Operation::Move, "docs/d"),
    ]);
    let deletes = |path: Option<&str>, over: u64| RuleCondition {
        paths: path.map(|path| vec![Prefix::parse(path).unwrap()]),
        deletes_over: Some(over),
        ..RuleCondition::default()
    };
    for (when, wanted) in [
        (deletes(None, 1), true),
        (deletes(None, 2), false),
        (deletes(Some("docs"), 0), true),
        (deletes(Some("docs"), 1), false),
        (deletes(Some("team"), 0), false),
    ] {
        assert_eq!(holds(when.clone(), &set), wanted, "{when:?}");
    }
}

#[test]
fn an_update_that_moves_is_a_move_and_both_places_count() {
    let mut moved = change(Operation::Update, "docs/a");
    moved.moves = true;
    moved
        .places
        .push((Locale::as_stored("en"), PagePath::as_stored("legal/a")));
    let facts = facts(vec![moved]);
    assert!(holds(
        RuleCondition {
            operations: Some(vec![Operation::Move]),
            paths: Some(vec![Prefix::parse("legal").unwrap()]),
            ..RuleCondition::default()
        },
        &facts
    ));
}

/// It is not enough that one change has the place and another has the operation.
#[test]
fn one_change_must_have_all_that_is_asked_of_a_change() {
    let set = facts(vec![
        change(Operation::Update, "docs/a"),
        change(Operation::Delete, "notes/b"),
    ]);
    let deletes_below = |path: &str| RuleCondition {
        paths: Some(vec![Prefix::parse(path).unwrap()]),
        operations: Some(vec![Operation::Delete]),
        ..RuleCondition::default()
    };
    assert!(holds(deletes_below("notes"), &set));
    assert!(!holds(deletes_below("docs"), &set));
}

#[test]
fn sets_are_counted_by_what_was_asked_for_and_is_meant() {
    let mut changes: Vec<ChangeFacts> = (0..3)
        .map(|at| change(Operation::Delete, &format!("docs/{at}")))
        .collect();
    changes.push(change(Operation::Update, "notes/x"));
    let over = |paths: Option<&str>, pages: Option<u64>, deletes: Option<u64>| RuleCondition {
        paths: paths.map(|path| vec![Prefix::parse(path).unwrap()]),
        pages_over: pages,
        deletes_over: deletes,
        ..RuleCondition::default()
    };
    let set = facts(changes.clone());
    for (when, wanted) in [
        (over(None, Some(3), None), true),
        (over(None, Some(4), None), false),
        (over(Some("docs"), Some(2), None), true),
        (over(Some("docs"), Some(3), None), false),
        (over(None, None, Some(2)), true),
        (over(None, None, Some(3)), false),
    ] {
        assert_eq!(holds(when.clone(), &set), wanted, "{when:?}");
    }
    for change in &mut changes {
        change.is_asked_for = false;
    }
    assert!(!holds(over(None, Some(0), None), &facts(changes)));
}

#[test]
fn the_strictest_rule_wins_and_of_equals_the_first() {
    let rules = [
        ("a", Then::Preview),
        ("b", Then::Review),
        ("c", Then::Person),
        ("d", Then::Review),
    ];
    let rules = rules.map(|(name, then)| rule(name, RuleCondition::default(), then));
    let book = book(rules.into());
    let facts = facts(vec![change(Operation::Create, "a")]);
    let verdict = book.verdict(&facts).unwrap();
    assert_eq!((&*verdict.name, verdict.then), ("b", Then::Review));
    assert_eq!(book.all_that_hold(&facts).len(), 4);
    assert_eq!(book.verdict(&self::facts(Vec::new())), None);
}

#[test]
fn the_built_in_rules_hold_until_they_are_switched_off() {
    let built_in = |off: &[&str]| RuleBook::new(Vec::new(), off).unwrap();
    let mut key = change(Operation::Update, "a");
    key.adds_grave_secret = true;
    let key = facts(vec![key]);
    let pages = |count: usize, operation| facts(vec![change(operation, "a"); count]);
    for (off, facts, then) in [
        (&[][..], &key, Some(("secrets", Then::Deny))),
        (&["secrets"], &key, None),
        (&["large-sets"], &key, Some(("secrets", Then::Deny))),
        (&[], &pages(20, Operation::Update), None),
        (
            &[],
            &pages(21, Operation::Update),
            Some(("large-sets", Then::Review)),
        ),
        (&["large-sets"], &pages(21, Operation::Update), None),
        (&[], &pages(1, Operation::Delete), None),
        (
            &[],
            &pages(2, Operation::Delete),
            Some(("large-sets", Then::Review)),
        ),
    ] {
        let book = built_in(off);
        let verdict = book.verdict(facts);
        let found = verdict.map(|rule| (&*rule.name, rule.then));
        assert_eq!(found, then, "{off:?}");
    }
}

#[test]
fn what_could_hold_is_told_before_a_change_is_made() {
    let paths = |text: &str| when(|when| when.paths = Some(vec![Prefix::parse(text).unwrap()]));
    let place = PagePath::as_stored("docs/a");
    let elsewhere = PagePath::as_stored("notes");
    let (en, de) = (Locale::as_stored("en"), Locale::as_stored("de"));
    for (when, client, place, operation, could) in [
        (RuleCondition::default(), None, None, None, Could::Holds),
        (paths("docs"), None, None, None, Could::May),
        (
            paths("docs"),
            None,
            Some((None, &place)),
            None,
            Could::Holds,
        ),
        (
            paths("de:docs"),
            None,
            Some((None, &place)),
            None,
            Could::May,
        ),
        (
            paths("de:docs"),
            None,
            Some((Some(&de), &place)),
            None,
            Could::Holds,
        ),
        (
            paths("de:docs"),
            None,
            Some((Some(&en), &place)),
            Some(Operation::Delete),
            Could::Never,
        ),
        (
            paths("docs"),
            None,
            Some((None, &elsewhere)),
            Some(Operation::Create),
            Could::Never,
        ),
        // A page can be moved from elsewhere to below `docs`.
        (
            paths("docs"),
            None,
            Some((None, &elsewhere)),
            Some(Operation::Move),
            Could::May,
        ),
        (
            when(|when| when.clients = Some(vec!["ci".to_owned()])),
            Some("CI"),
            None,
            None,
            Could::Holds,
        ),
        (
            when(|when| when.clients = Some(vec!["ci".to_owned()])),
            Some("other"),
            None,
            None,
            Could::Never,
        ),
        (
            when(|when| when.operations = Some(vec![Operation::Move])),
            None,
            None,
            Some(Operation::Update),
            Could::May,
        ),
        (
            when(|when| when.operations = Some(vec![Operation::Create])),
            None,
            None,
            Some(Operation::Delete),
            Could::Never,
        ),
        (
            when(|when| when.lines_removed_over = Some(1)),
            None,
            None,
            None,
            Could::May,
        ),
    ] {
        let rule = Rule::new("x", when, Then::Deny, "").unwrap();
        assert_eq!(rule.could(client, place, operation), could, "{rule:?}");
    }
}
