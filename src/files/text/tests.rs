use proptest::prelude::*;

use super::{PageFileKind, SourceFormat, Texts, read, written};
use crate::page::testing::But as _;
use crate::page::{Date, PageState, testing};

const MD: PageFileKind = PageFileKind::Source(SourceFormat::Markdown);

fn markdown(text: &str) -> Texts {
    [(MD, text.to_owned())].into()
}

#[test]
fn a_page_is_written_as_the_wiki_stores_it_in_git() {
    let page = PageState {
        title: "a: b".to_owned(),
        description: String::new(),
        tags: vec!["x".to_owned(), "y z".to_owned()],
        editor: "markdown".to_owned(),
        is_published: true,
        content: "# A\r\n\n---\nno end".to_owned(),
        publish_start_date: Date::Unset,
        publish_end_date: Date::Unset,
        script_css: String::new(),
        script_js: String::new(),
        ..testing::page()
    };
    assert_eq!(
        written(&page)[&MD],
        "---\ntitle: a: b\ndescription:\npublished: true\ntags: x, y z\neditor: markdown\n---\n\n# A\r\n\n---\nno end"
    );
}

#[test]
fn formats_without_a_place_for_fields_have_them_in_a_file_beside() {
    let page = PageState {
        editor: "asciidoc".to_owned(),
        content: "= A".to_owned(),
        script_js: "alert(1)".to_owned(),
        ..testing::page()
    };
    let texts = written(&page);
    assert_eq!(texts[&PageFileKind::Source(SourceFormat::AsciiDoc)], "= A");
    assert!(
        texts[&PageFileKind::Meta].starts_with("title: "),
        "{texts:?}"
    );
    assert_eq!(texts[&PageFileKind::Scripts], "alert(1)");
}

#[test]
fn a_new_file_needs_no_fields() {
    let place = testing::page().place();
    let page = read(&markdown("# Hello\n"), &place, None).unwrap();
    assert_eq!(page.title, place.1.last_segment());
    assert_eq!(page.content, "# Hello\n");
    assert_eq!(page.editor.as_str(), "markdown");
    assert!(page.is_published);
}

#[test]
fn faults_name_their_lines() {
    let base = testing::page().but(|it| it.editor = "markdown".to_owned());
    let rest = "description:\npublished: true\ntags:\neditor: markdown\n---\n\nx";
    for (text, line, message) in [
        (format!("---\ntitle x\n{rest}"), 2, "name: value"),
        (format!("---\ntitle: a\ntitle: b\n{rest}"), 3, "twice"),
        (format!("---\ntitle: a\ntilte: b\n{rest}"), 3, "no field"),
        (format!("---\ntitle (json): b\n{rest}"), 2, "no JSON"),
        (format!("---\ntitle (json): 7\n{rest}"), 2, "string"),
        (format!("---\n{rest}"), 1, "title: is missing"),
        ("---\ntitle: a\n".to_owned(), 1, "must end"),
        ("no fields".to_owned(), 1, "are gone"),
        (
            format!("\u{feff}---\ntitle: a\n{rest}"),
            1,
            "byte order mark",
        ),
        (
            format!("---\ntitle: a\n{}", rest.replace("true", "yes")),
            4,
            "true or false",
        ),
        (
            format!("---\ntitle: a\n{}", rest.replace("markdown", "code")),
            6,
            "editor",
        ),
        (
            format!("---\ntitle: a\n{}", rest.replace("tags:\n", "")),
            1,
            "tags",
        ),
        (
            format!("---\ntitle: a\n{}", rest.replace("tags:", "tags: [a, b]")),
            5,
            "without brackets",
        ),
        (
            format!("---\ntitle: a\npublishEndDate: soon\n{rest}"),
            3,
            "date",
        ),
    ] {
        let fault = read(&markdown(&text), &base.place(), Some(&base)).unwrap_err();
        assert_eq!(fault.line, line, "{text}: {fault:?}");
        assert!(fault.message.contains(message), "{text}: {fault:?}");
    }
}

#[test]
fn new_tags_are_read_as_the_wiki_stores_them() {
    let base = testing::page().but(|page| {
        page.editor = "markdown".to_owned();
        page.tags = vec!["Odd".to_owned()];
    });
    let text = written(&base)[&MD].replace("tags: Odd", "tags: Odd, New, new, b c");
    let page = read(&markdown(&text), &base.place(), Some(&base)).unwrap();
    assert_eq!(page.tags, ["Odd", "new", "b c"]);
}

#[test]
fn tags_that_look_like_a_list_of_yaml_are_json() {
    let tags = ["[a".to_owned(), "b]".to_owned()];
    let page = testing::page().but(|page| {
        page.editor = "markdown".to_owned();
        page.tags = tags.to_vec();
    });
    let again = read(&written(&page), &page.place(), Some(&page)).unwrap();
    assert_eq!(again.tags, tags);
}

#[test]
fn a_page_without_its_source_or_with_two_is_a_fault() {
    let place = testing::page().place();
    let styles = [(PageFileKind::Styles, "a{}".to_owned())].into();
    assert!(read(&styles, &place, None).is_err());
    let both = [
        (MD, "x".to_owned()),
        (PageFileKind::Source(SourceFormat::Html), "x".to_owned()),
    ]
    .into();
    assert!(read(&both, &place, None).is_err());
}

fn pages() -> impl Strategy<Value = PageState> {
    let editor = prop_oneof!["markdown", "code", "ckeditor", "asciidoc", "redirect"];
    let text = || prop_oneof!["\\PC{0,20}", "[ \n\r\t:>-]{0,8}", Just("--> x".to_owned())];
    (
        (text(), text(), text(), editor),
        prop::collection::btree_set("[a-z, \n]{1,8}", 0..4),
        any::<(bool, bool)>(),
        (text(), text()),
    )
        .prop_map(
            |(
                (title, description, content, editor),
                tags,
                (is_published, is_private),
                (css, js),
            )| {
                PageState {
                    title,
                    description,
                    content,
                    editor,
                    tags: tags.into_iter().collect(),
                    is_published,
                    is_private,
                    script_css: css,
                    script_js: js,
                    ..testing::page()
                }
            },
        )
}

proptest! {
    #[test]
    fn every_page_comes_back_from_its_files_to_the_letter(page in pages()) {
        let texts = written(&page);
        let again = read(&texts, &page.place(), Some(&page));
        let again = again.map(|again| PageState { updated_at: page.updated_at.clone(), ..again });
        prop_assert_eq!(again, Ok(page));
    }

    #[test]
    fn no_text_makes_reading_panic(text in "(---\n|<!--\n)?([a-z]{0,8}( \\(json\\))?: ?\\PC{0,8}\n){0,4}(---|-->)?\\PC{0,20}") {
        let page = testing::page();
        let _ = read(&markdown(&text), &page.place(), None);
    }
}
