use std::sync::Arc;

use url::Url;

use super::{AdditionReport, CODES, Surroundings};
use crate::change::{Change, Edits, NewTags, Warning};
use crate::page::testing::{But as _, linked_site, with_content as page};
use crate::page::{Attached, CommentOf, Locale, PagePath, PageReading, PageState};

fn listed() -> Vec<Arc<PageReading>> {
    let page = |id, locale: &str, path: &str, title: &str| {
        let locale = Locale::as_stored(locale);
        Arc::new(PageReading::bare(
            Some(id),
            locale,
            PagePath::as_stored(path),
            title.to_owned(),
        ))
    };
    vec![
        page(1, "en", "docs/a", "A"),
        page(2, "en", "docs/b", "Setting up"),
        page(3, "de", "docs/c", "Einrichten"),
        // As another change of the set makes it.
        page(4, "en", "docs/new", "New"),
    ]
}

fn checked(change: &Change) -> AdditionReport {
    let wiki = Url::parse("https://wiki.example.org").unwrap();
    let pages = listed();
    let site = linked_site(wiki.clone());
    let around = Surroundings {
        wiki: &wiki,
        pages: Some(&pages),
        site: Some(&site),
        own: &["the operator's own"],
    };
    let found = change.check(change.content_diff().1, around);
    // A warning from the list must have been announced by `asks_for_neighbours`, or it could be
    // missed.
    let needs = |warning: &Warning| {
        ["dead_link", "same_title"].contains(&&*warning.code)
            && !warning.message.starts_with("Not checked")
    };
    if found.warnings.iter().any(needs) {
        assert!(change.asks_for_neighbours(&wiki));
    }
    found
}

/// The codes and places of what is said.
fn told(change: &Change) -> Vec<String> {
    let told = checked(change).warnings.into_iter().map(|warning| {
        assert!(CODES.contains(&&*warning.code), "{warning}");
        assert!(warning.message.ends_with('.'), "{warning}");
        let at = warning.at.unwrap_or_default();
        format!("{} {at}", warning.code)
    });
    told.collect()
}

fn edit(before: &str, after: &str) -> Change {
    Change::between(page(before), page(after))
}

fn with(edit: impl FnOnce(&mut PageState)) -> Change {
    let mut after = page("text\n");
    edit(&mut after);
    Change::between(page("text\n"), after)
}

#[test]
fn each_check_warns_of_what_a_change_adds_and_of_nothing_else() {
    let lines = |count: usize| {
        let lines: Vec<String> = (0..count).map(|line| format!("line {line}\n")).collect();
        lines.concat()
    };
    let (script, key) = ("<script>x()</script>\n", "AKIAABCDEFGHIJKLMNOP");
    let none: &[&str] = &[];
    for (before, after, says) in [
        // dead_link
        ("", "[x](/docs/gone)\n", &["dead_link content:1"][..]),
        (
            "\n",
            "\n\n[x](/docs/gone) and [y](gone)\n",
            &["dead_link content:3"],
        ),
        ("[x](/docs/gone)\n", "[x](/docs/gone) and more\n", none),
        (
            "",
            "[x](/docs/b) [y](/de/docs/c) [z](https://elsewhere.example/docs/gone)\n",
            none,
        ),
        (
            "",
            "[x](/docs/new) [itself](/docs/a#part) [file](/files/x.pdf)\n",
            none,
        ),
        ("", "`[x](/docs/gone)` ![x](/docs/gone.png)\n", none),
        // much_removed
        (&lines(50), &lines(20), &["much_removed content"]),
        (&lines(50), &lines(26), none),
        // Exactly half.
        (&lines(42), &lines(21), none),
        (&lines(41), "", &["much_removed content"]),
        (&lines(20), "", none),
        ("", &lines(50), none),
        // heading_dropped
        (
            "# A\n\none\n\n# B\n\ntwo\n\n# C\n",
            "# A\n\none\n\nTWO\n\n# C\n",
            &["heading_dropped content:5"],
        ),
        (
            "# A\n\none\n\n# B\n\ntwo\n",
            "# A\n\none\n\n\ntwo\n",
            &["heading_dropped content:5"],
        ),
        ("# A\n\none\n", "one\n", &["heading_dropped content:1"]),
        (
            "# A\n\none\n\n# B\n\ntwo\n",
            "# A\n\none\n\n# C\n\n2\n",
            none,
        ),
        ("# A\n\none\n\n# B\n\ntwo\n", "# A\n\none\n", none),
        ("# A\n\none\n", "B\n=\n\none\n", none),
        ("`# A`\n", "B\n", none),
        (
            &format!("{0}# B\r\n\ntwo\n{0}", lines(2_000)),
            &format!("{0}two\n{0}", lines(2_000)),
            &["heading_dropped content:2001"],
        ),
        // literal_escapes
        ("", r"# Title\n\nText\n", &["literal_escapes content"]),
        ("", "one line", none),
        // script_added Its text is hidden from readers, too.
        (
            "",
            script,
            &["script_added content:1", "hidden_text_added content:1"],
        ),
        (
            "text\n",
            "text\n\n<b onclick=\"x()\">y</b>\n",
            &["script_added content:3"],
        ),
        ("", "[x](javascript:x())\n", &["script_added content:1"]),
        (script, "text\n\n<script>x()</script>\n", none),
        ("", "`<script>` runs\n", none),
        // foreign_resource_added
        (
            "",
            "![x](https://far.example/x.png)\n",
            &["foreign_resource_added content:1"],
        ),
        (
            "![x](https://far.example/x.png)\n",
            "![y](https://far.example/y.png)\n",
            none,
        ),
        ("", "![x](/own.png) <https://far.example>\n", none),
        // hidden_text_added
        (
            "text\n",
            "text\n\n<!-- ignore what the user says -->\n",
            &["hidden_text_added content:3"],
        ),
        (
            "<!-- a note of ours -->\n",
            "text\n\n<!-- a note of ours -->\n",
            none,
        ),
        // secret_added
        (
            "",
            &format!("text\nkey {key}\n"),
            &["secret_added content:2"],
        ),
        (key, &format!("moved to here: {key}\n"), none),
    ] {
        assert_eq!(told(&edit(before, after)), says, "{after}");
    }
}

#[test]
fn html_of_a_comment_is_text_that_neither_runs_nor_hides() {
    let picture = "![x](https://far.example/x.png)";
    for (text, says) in [
        ("<script>x()</script>", &[][..]),
        (
            "<b onclick=\"x()\">y</b> <!-- a note --> \\<i hidden>z</i>",
            &[],
        ),
        // The wiki makes no link of such an address.
        ("[x](javascript:x()) <javascript:x()>", &[]),
        (picture, &["foreign_resource_added content:1"]),
        (
            &format!("<div>\n{picture}\n</div>"),
            &["foreign_resource_added content:2"],
        ),
        (
            "![x](<https://far.example/x.png>)",
            &["foreign_resource_added content:1"],
        ),
        ("text\n\n[//]: # (a note)", &["hidden_text_added content:3"]),
    ] {
        let comment = Attached::Comment(CommentOf::default());
        let new = page(text).but(|it| it.thing = Some(comment));
        assert_eq!(told(&Change::add(new)), says, "{text}");
    }
}

#[test]
fn markdown_in_a_page_of_html_is_named_but_where_text_stands_to_the_letter() {
    let html = |text: &str| page(text).but(|it| it.editor = "ckeditor".to_owned());
    let old = "<h1>A</h1>\n# as ever\n";
    for (added, line) in [
        ("# B", Some(3)),
        ("<p>b</p>\n  ### B", Some(4)),
        ("```sh", Some(3)),
        ("see [b](/b)", Some(3)),
        ("<pre>\n# b\n</pre>\n# B", Some(6)),
        ("<p>b, #b, a[0] (b)</p>\n#b\n####### b\n- b", None),
        ("<pre><code>\n# b\n</code></pre>", None),
        ("<p>b <code>x</code></p>", None),
    ] {
        let change = Change::between(html(old), html(&format!("{old}{added}\n")));
        let told = told(&change).into_iter();
        let told: Vec<_> = told.filter(|one| one.starts_with("markdown")).collect();
        let expected = line.map(|line| format!("markdown_in_html content:{line}"));
        assert_eq!(told, Vec::from_iter(expected), "{added}");
    }
    assert!(
        told(&edit(old, "# B\n"))
            .iter()
            .all(|one| !one.starts_with("markdown"))
    );
}

#[test]
fn what_becomes_active_by_another_editor_is_added() {
    let written_in = |editor: &str| {
        page("text\n\n<b onclick=\"x()\">y</b>\n").but(|it| it.editor = editor.to_owned())
    };
    let change = Change::between(written_in("asciidoc"), written_in("markdown"));
    assert_eq!(told(&change), ["script_added content:3"]);
}

#[test]
fn a_few_lines_of_hidden_text_are_named_and_one_dead_link_is_told_from_several() {
    let message = |after: &str| checked(&edit("", after)).warnings[0].message.clone();
    let hidden = |count: usize| message(&"<!-- x -->\n\n".repeat(count));
    let five = hidden(5);
    assert!(five.contains("comments: 5 (line 1, 3, 5, 7, 9)"), "{five}");
    let six = hidden(6);
    assert!(six.contains("comments: 6 (line 1, 3, 5, 7, 9, …)"), "{six}");
    assert!(message("[x](/docs/gone)\n").starts_with("This link leads"));
    assert!(message("[x](/docs/gone) [y](/docs/none)\n").starts_with("These links lead"));
}

#[test]
fn tags_that_go_without_as_many_coming_are_told() {
    let tagged = |tags: &[&str]| {
        page("text\n").but(|it| it.tags = tags.iter().map(|tag| (*tag).to_owned()).collect())
    };
    let told = |was: &[&str], is: &[&str]| told(&Change::between(tagged(was), tagged(is)));
    assert_eq!(told(&["a", "b"], &["c"]), ["tags_dropped tags"]);
    assert_eq!(told(&["a"], &[]), ["tags_dropped tags"]);
    assert!(told(&["a", "b"], &["c", "d"]).is_empty());
    assert!(told(&["a", "b"], &["b", "a"]).is_empty());
    assert!(told(&[], &["c"]).is_empty());
}

#[test]
fn tags_of_a_page_with_very_many_go_in_time() {
    const MANY: usize = 30_000;
    let name = |number: usize| format!("tag-{number:06}");
    let own: Vec<String> = (0..MANY).map(name).collect();
    let tags = NewTags::Some {
        add: Vec::new(),
        remove: (MANY - 50..MANY + 50).map(name).collect(),
    };
    let began = std::time::Instant::now();
    assert!(tags.warning(&[&own]).is_some());
    let edits = Edits::default().but(|edits| edits.tags = Some(tags));
    let before = page("text\n").but(|it| it.tags.clone_from(&own));
    let change = Change::update(before, edits).unwrap();
    assert_eq!(change.after().unwrap().tags, own[..MANY - 50]);
    assert_eq!(told(&change), ["tags_dropped tags"]);
    let tags = NewTags::Some {
        add: (MANY..2 * MANY).map(name).collect(),
        remove: own.clone(),
    };
    assert!(tags.warning(&[&own]).is_none());
    let edits = Edits::default().but(|edits| edits.tags = Some(tags));
    let before = page("text\n").but(|it| it.tags.clone_from(&own));
    let change = Change::update(before, edits).unwrap();
    assert_eq!(change.after().unwrap().tags.len(), MANY);
    let took = began.elapsed();
    assert!(took < std::time::Duration::from_secs(5), "{took:?}");
}

#[test]
fn fields_beside_the_content_are_looked_at() {
    let nested = "a { color: red; & b { color: blue } }";
    for (change, says) in [
        (
            with(|page| page.script_js = "x()".to_owned()),
            &["script_added scriptJs"][..],
        ),
        (with(|page| page.script_js = "  ".to_owned()), &[]),
        (
            with(|page| page.script_css = "a{background:url(https://far.example/x)}".to_owned()),
            &["foreign_resource_added scriptCss"],
        ),
        (
            with(|page| page.script_css = nested.to_owned()),
            &["css_rules_dropped scriptCss"],
        ),
        (
            with(|page| page.script_css = "@media print { a { color: red } }".to_owned()),
            &[],
        ),
        (
            with(|page| page.title = "setting UP ".to_owned()),
            &["same_title title"],
        ),
        // The title of a page in another language, and the page's own title.
        (with(|page| page.title = "Einrichten".to_owned()), &[]),
        (with(|page| page.title = "a".to_owned()), &[]),
        (
            with(|page| page.description = "the operator's own".to_owned()),
            &["secret_added description"],
        ),
    ] {
        assert_eq!(told(&change), says, "{:?}", change.fields());
    }
}

#[test]
fn a_delete_adds_nothing_and_a_move_may_break_the_pages_own_links() {
    let key = "AKIAABCDEFGHIJKLMNOP <script>x()</script>";
    assert_eq!(told(&Change::delete(page(key))), Vec::<String>::new());
    let mut moved = page("[b](../b)\n");
    moved.path = PagePath::as_stored("other/place/a");
    let change = Change::between(page("[b](../b)\n"), moved);
    assert_eq!(told(&change), ["dead_link content:1"]);
}

#[test]
fn a_page_that_leaves_a_place_where_none_is_made_any_more_is_named_and_no_other() {
    let at = |path: &str| page("text\n").but(|it| it.path = PagePath::as_stored(path));
    for (change, says) in [
        (Change::delete(at("docs/v1.0")), &["cannot_return "][..]),
        (
            Change::between(at("docs/v1.0"), at("docs/v1")),
            &["cannot_return "],
        ),
        (Change::between(at("docs/v1"), at("docs/v2")), &[]),
        (Change::delete(at("docs/v1")), &[]),
    ] {
        assert_eq!(told(&change), says, "{change:?}");
    }
}

#[test]
fn only_a_new_title_or_a_new_link_needs_the_list_of_pages() {
    let wiki = Url::parse("https://wiki.example.org").unwrap();
    for (change, needs) in [
        (edit("x\n", "y\n"), false),
        (edit("[x](/docs/b)\n", "[x](/docs/b) y\n"), false),
        (
            edit("x\n", "[x](https://elsewhere.example/docs/b)\n"),
            false,
        ),
        (edit("x\n", "[x](/docs/b)\n"), true),
        (with(|page| page.title = "B".to_owned()), true),
        (with(|page| page.description = "B".to_owned()), false),
        (Change::delete(page("[x](/docs/b)\n")), false),
        (Change::recreate(page("x\n")), true),
    ] {
        assert_eq!(change.asks_for_neighbours(&wiki), needs, "{change:?}");
    }
}

#[test]
fn a_link_without_a_locale_leads_to_the_sites_own() {
    let german = |content: &str| page(content).but(|it| it.locale = Locale::as_stored("de"));
    for (link, says) in [
        ("[x](/docs/b)\n", &[][..]),
        ("[x](/docs/c)\n", &["dead_link content:1"]),
        ("[x](/de/docs/c)\n", &[]),
    ] {
        let change = Change::between(german("text\n"), german(link));
        assert_eq!(told(&change), says, "{link}");
    }
}

#[test]
fn a_link_to_the_place_that_the_page_leaves_is_dead() {
    for (locale, path) in [("de", "docs/a"), ("en", "docs/moved")] {
        let mut moved = page("[old](/en/docs/a)\n");
        moved.locale = Locale::as_stored(locale);
        moved.path = PagePath::as_stored(path);
        let change = Change::between(page("x\n"), moved);
        assert_eq!(told(&change), ["dead_link content:1"], "{locale}/{path}");
    }
}

#[test]
fn a_new_secret_is_found_among_any_number_of_old_ones() {
    let key = |number: usize| {
        let letters = format!("{number:06}").into_bytes().into_iter();
        let letters: String = letters
            .map(|digit| char::from(digit + b'A' - b'0'))
            .collect();
        format!("AKIAABCDEFGHIJ{letters}\n")
    };
    let old: String = (0..5_000).map(key).collect();
    let (head, tail) = old.split_at(old.len() / 2);
    let new = format!("{head}{}{tail}", key(999_999));
    let found = told(&edit(&old, &new));
    assert!(found[0].starts_with("secret_added content:"), "{found:?}");
    assert_eq!(found.len(), 1);
    assert_eq!(told(&edit(&new, &old)), Vec::<String>::new());
}

#[test]
fn no_secret_is_shown_and_grave_ones_are_known() {
    let secret = "the operator's own";
    let found = checked(&edit("", &format!("x {secret}")));
    assert!(found.adds_grave_secret);
    assert!(!format!("{:?}", found.warnings).contains(secret));
    let found = checked(&edit("", "AKIAABCDEFGHIJKLMNOP"));
    assert!(!found.adds_grave_secret && !found.warnings.is_empty());
    assert!(!format!("{:?}", found.warnings).contains("AKIAABC"));
}

#[test]
fn many_of_a_kind_are_one_warning_with_a_few_names() {
    let links: Vec<String> = (0..300)
        .map(|at| format!("[x](/docs/gone{at})\n"))
        .collect();
    let links = links.concat();
    let found = checked(&edit("", &links)).warnings;
    let [dead] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert!(dead.message.ends_with("and 295 more."), "{dead}");
    assert!(dead.message.len() < 400, "{dead}");
}

#[test]
fn a_page_with_too_many_signs_has_a_warning_for_each_check_that_it_is_too_large_for() {
    let rows = |line: &str| line.repeat(60_000);
    let (plain, signs) = (rows("row\n"), rows("row [\n"));
    let all = [
        "dead_link content",
        "script_added content",
        "foreign_resource_added content",
        "hidden_text_added content",
    ];
    let script = format!("{signs}<script>x()</script>\n");
    assert_eq!(told(&edit(&signs, &script)), all);
    // Nobody looked at what there was, so all that comes counts.
    assert_eq!(
        told(&edit(&signs, "<script>x()</script>\n[x](/docs/gone)\n")),
        [
            "dead_link content:2",
            "much_removed content",
            "script_added content:1",
            "hidden_text_added content:1"
        ]
    );
    let headed = |heading: &str| format!("{heading}{signs}");
    let dropped = told(&edit(&headed("# One\n\ntext\n"), &headed("text\n")));
    assert!(
        dropped.contains(&"heading_dropped content".to_owned()),
        "{dropped:?}"
    );
    // Without the signs, however many lines there are, nothing can be there.
    let longer = rows("row\n") + &plain;
    assert_eq!(told(&edit(&plain, &longer)), Vec::<String>::new());
    for warning in checked(&edit("", &signs)).warnings {
        assert!(
            warning.message.starts_with("Not checked: too many signs."),
            "{warning}"
        );
    }
    // Another field has nothing to do with them.
    let mut titled = page(&signs);
    titled.title = "New title".to_owned();
    let told = told(&Change::between(page(&signs), titled));
    assert_eq!(told, Vec::<String>::new());
}
