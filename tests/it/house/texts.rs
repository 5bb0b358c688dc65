//! What holds for whatever text a parser is given; beside `invariants`, and used like it.

use serde_json::Map;
use url::Url;
use wikijs_gate::audit::LineHash;
use wikijs_gate::audit::entry::chain::{self, Verified};
use wikijs_gate::error::Code;
use wikijs_gate::page::{
    DroppedRules, HiddenText, Outline, PartSelector, Reference, SectionMode, SourceFormat,
    StyleSheet, TextReplacement, apply_edits, apply_patch, dropped_rules, edit_section,
    escape_hidden, plain_text, same_css, unified_diff,
};
use wikijs_gate::server::mcp::uri;
use wikijs_gate::tools::{Registry, ToolSelection, Toolset, cursor};
use wikijs_gate::wiki::ListQuery;
use wikijs_gate::wiki::pages::front_matter::{ListedMetadata, split};
use wikijs_gate::wiki::pages::{editor_view, rendered};

use crate::prelude::*;

/// Arguments are taken or told as what they are, in words that steer no terminal.
pub(crate) fn arguments(registry: &Registry, arguments: &Map<String, Value>) {
    for definition in registry.definitions() {
        let taken = registry.check(definition.name, arguments.clone()).unwrap();
        if let Err(failure) = taken {
            assert_eq!(failure.code, Code::InvalidInput);
            let said = serde_json::to_string(&failure).unwrap();
            assert!(!said.contains(|c: char| c.is_control()), "{said}");
        }
    }
}

/// All tools.
pub(crate) fn registry() -> Registry {
    Registry::new(&ToolSelection::new(&[Toolset::Pages, Toolset::Undo])).unwrap()
}

/// A selector names a part of the text, or none; and what is made of the part leaves all
/// outside of it as it was.
pub(crate) fn selector(selector: &str, text: &str) {
    let Ok(parsed) = PartSelector::parse(selector) else {
        return;
    };
    let Some(selector) = parsed.section() else {
        return;
    };
    let Ok(section) = Outline::new(text).find(selector) else {
        return;
    };
    let part = text.get(section.range.clone()).expect("a part of the text");
    let (before, behind) = text.split_at(section.range.start);
    let behind = behind.strip_prefix(part).unwrap();
    assert!(section.range.contains(&section.body) || section.body == section.range.end);
    let named = selector.clone().into();
    let (removed, _) = edit_section(text, &named, SectionMode::Remove, "").unwrap();
    assert!(removed.starts_with(before));
    assert!(removed.ends_with(behind));
    let (added, _) = edit_section(text, &named, SectionMode::Append, "new").unwrap();
    assert!(added.contains(part.trim_end()) && added.contains("new"));
    assert!(added.starts_with(before));
    assert!(added.ends_with(behind));
}

/// An outline is of the text: parts within it, in order, none cut through a character.
pub(crate) fn outline(text: &str) {
    for format in [
        SourceFormat::Markdown,
        SourceFormat::Html,
        SourceFormat::AsciiDoc,
        SourceFormat::Other,
    ] {
        let outline = Outline::in_format(text, format);
        let mut before = 0;
        for (index, heading) in outline.headings.iter().enumerate() {
            assert!((1..=6).contains(&heading.level));
            assert!(heading.lines.start >= before, "{heading:?}");
            before = heading.lines.end;
            let section = text.get(heading.section.clone()).expect("a part");
            assert!(section.starts_with(text.get(heading.lines.clone()).expect("lines")));
            assert!(heading.parent.is_none_or(|parent| parent < index));
        }
        for named in outline.named_headings() {
            let selector = PartSelector::parse(&named.selector).expect("a selector");
            let found = outline.find_part(&selector);
            let found = found.expect("the heading that it is of");
            let before = text.get(..found.range.start).expect("whole characters");
            let line = before.matches('\n').count() + 1;
            assert_eq!(line, named.line, "{named:?}");
        }
        let _hidden = HiddenText::of(text, format, Some(text));
    }
    let _text = plain_text(text);
    let shown = escape_hidden(text);
    assert_eq!(escape_hidden(&shown), shown);
}

/// A difference leads from one text to the other, and an edit changes its own place alone.
pub(crate) fn patch(before: &str, after: &str, patch: &str) {
    let (diff, counts) = unified_diff(before, after);
    assert_eq!(diff.is_empty(), before == after);
    if before != after {
        assert_eq!(apply_patch(before, &diff).as_deref(), Ok(after), "{diff}");
        assert!(counts.added + counts.removed > 0);
    }
    let _any = apply_patch(before, patch);
    let edit = TextReplacement {
        old_text: patch.to_owned(),
        new_text: after.to_owned(),
    };
    match apply_edits(before, &[edit]) {
        Ok(edited) => assert_eq!(edited, before.replacen(patch, after, 1)),
        Err(_) => assert!(
            patch.is_empty()
                || before.matches(patch).count() != 1
                || before.find(patch) != before.rfind(patch)
        ),
    }
}

/// What means the same means it both ways.
pub(crate) fn css(a: &str, b: &str) {
    assert!(same_css(a, a));
    assert_eq!(same_css(a, b), same_css(b, a));
    assert_eq!(dropped_rules(a, a), DroppedRules::default());
    let _any = dropped_rules(a, b);
    let (a, b) = (StyleSheet::parse(a), StyleSheet::parse(b));
    assert!(a.is_same_but_for_imports(&a));
    assert_eq!(a.is_same_but_for_imports(&b), b.is_same_but_for_imports(&a));
}

/// A reference means something, or is an address elsewhere; a place leads back to itself.
pub(crate) fn reference(text: &str) {
    for wiki in ["https://wiki.example", "https://wiki.example/docs/"] {
        let wiki = Url::parse(wiki).unwrap();
        if let Ok(reference) = Reference::parse(text, &wiki) {
            assert!(!reference.interpretations.is_empty());
        }
    }
    if let Some((locale, path)) = uri::parse(text) {
        let again = uri::parse(&uri::page_uri(&locale, &path));
        // What climbs would climb in an address.
        assert!(path.climbs() || again == Some((locale, path)));
    }
}

/// A cursor is one that was given for this very list, or none.
pub(crate) fn cursor(text: &str) {
    let wiki = Url::parse("https://wiki.example").unwrap();
    let query = ListQuery::newest_first();
    if let Some(position) = cursor::open(&wiki, &query, text) {
        let sealed = cursor::seal(&wiki, &query, position);
        assert_eq!(cursor::open(&wiki, &query, &sealed), Some(position));
    }
    assert_eq!(cursor::open(&wiki, &ListQuery::default(), text), None);
}

/// What a view of the wiki's gives is in it; of anything else, nothing.
pub(crate) fn views(text: &str) {
    let tags = ["a".to_owned()];
    for content_type in ["markdown", "html", "text"] {
        let known = ListedMetadata {
            title: "T",
            description: "d",
            content_type,
            tags: &tags,
        };
        let source = split(text, &known);
        assert!(
            source
                .content
                .is_none_or(|content| text.ends_with(&content))
        );
    }
    if let Some(contents) = rendered::contents(text, Some(7)) {
        assert!(text.contains(&contents));
    }
    if let Some(view) = editor_view::parse(text) {
        assert!(view.page.id.is_some() && view.page.content.is_some());
    }
}

/// A log of three records, whose chain holds.
pub(crate) fn log() -> Vec<u8> {
    let mut log = Vec::new();
    let mut prev = LineHash::FIRST;
    for (seq, event) in [(1, "start"), (2, "refusal"), (3, "closed")] {
        let body = format!(
            r#"{{"v":1,"seq":{seq},"time":"2026-01-01T00:00:0{seq}Z","run":"00000000000000aa","event":"{event}","wiki":"w","prev":"{prev}""#
        );
        prev = LineHash::new(body.as_bytes());
        log.extend_from_slice(format!("{body},\"hash\":\"{prev}\"}}\n").as_bytes());
    }
    log
}

/// A chain that holds is the one that was written, as far as it is believed.
pub(crate) fn chain(bytes: &[u8]) {
    let written = log();
    if let Ok(Verified { records, .. }) = chain::verify(bytes) {
        let lines = |log: &[u8]| -> Vec<Vec<u8>> {
            let lines = log.split(|byte| *byte == b'\n');
            vec_of(lines.take(records.try_into().unwrap()).map(<[u8]>::to_vec))
        };
        // Whoever finds another chain that holds has made one of their own, from the first line.
        let is_another = lines(bytes).first() != lines(&written).first();
        assert!(is_another || lines(bytes) == lines(&written));
    }
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(record) = Record::parse(line) {
            let _time = record.instant();
        }
    }
}
