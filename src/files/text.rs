//! A page as the texts of its files.
//!
//! Markdown and HTML files begin with the page's fields, in the form of the wiki's own Git storage:
//! one line per field, values not quoted (`title: a: b` is a title). [`FrontMatter`] reads these lines;
//! they are not YAML. Pages in other formats have them in a file of their own, `.meta`, since a
//! comment in the source would be content. Styles and scripts are files of their own. A value that
//! a line cannot hold exactly is JSON after `(json)`, as in `title (json): "two\nlines"`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::page::{Date, PagePlace, PageState, SourceFormat, stored_tags};

/// The kind of a page's file, by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum PageFileKind {
    /// The source, with the fields before it where the format has a place for them.
    Source(SourceFormat),
    /// The fields, where the source has no place for them: `.meta`.
    Meta,
    /// Styles of this page alone: `.css`.
    Styles,
    /// Scripts of this page alone: `.js`.
    Scripts,
}

impl PageFileKind {
    /// All of them.
    pub(super) const ALL: [Self; 7] = [
        Self::Source(SourceFormat::Markdown),
        Self::Source(SourceFormat::Html),
        Self::Source(SourceFormat::AsciiDoc),
        Self::Source(SourceFormat::Other),
        Self::Meta,
        Self::Styles,
        Self::Scripts,
    ];

    /// The ending of its file.
    pub(super) const fn ending(self) -> &'static str {
        match self {
            Self::Source(SourceFormat::Markdown) => "md",
            Self::Source(SourceFormat::Html) => "html",
            Self::Source(SourceFormat::AsciiDoc) => "adoc",
            Self::Source(SourceFormat::Other) => "txt",
            Self::Meta => "meta",
            Self::Styles => "css",
            Self::Scripts => "js",
        }
    }

    /// The part that a file of this ending holds.
    pub(super) fn from_ending(ending: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.ending() == ending)
    }

    /// A fault in its file.
    fn fault(self, line: usize, message: impl Into<String>) -> PageFileFault {
        PageFileFault {
            part: self,
            line,
            message: message.into(),
        }
    }
}

/// The editor of a page that is new here; `None` if the format does not tell it.
const fn usual_editor(format: SourceFormat) -> Option<&'static str> {
    match format {
        SourceFormat::Markdown => Some("markdown"),
        SourceFormat::Html => Some("code"),
        SourceFormat::AsciiDoc => Some("asciidoc"),
        SourceFormat::Other => None,
    }
}

/// The lines before and after the fields, if the source's file holds the fields.
const fn fences(format: SourceFormat) -> Option<(&'static str, &'static str)> {
    match format {
        SourceFormat::Markdown => Some(("---", "---")),
        SourceFormat::Html => Some(("<!--", "-->")),
        SourceFormat::AsciiDoc | SourceFormat::Other => None,
    }
}

/// The texts of a page's files.
pub(super) type Texts = BTreeMap<PageFileKind, String>;

/// A fault in a page's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageFileFault {
    /// The part of the page whose file is wrong.
    pub(super) part: PageFileKind,
    /// The line in that file, counted from 1.
    pub(super) line: usize,
    /// One sentence without its full stop.
    pub(super) message: String,
}

/// A page as the texts of its files.
pub(super) fn written(page: &PageState) -> Texts {
    let format = page.format();
    let source = PageFileKind::Source(format);
    let mut texts = Texts::new();
    let head = head_of(page);
    if let Some((open, close)) = fences(format) {
        texts.insert(source, format!("{open}\n{head}{close}\n\n{}", page.content));
    } else {
        texts.insert(source, page.content.clone());
        texts.insert(PageFileKind::Meta, head);
    }
    let beside = [
        (PageFileKind::Styles, &page.script_css),
        (PageFileKind::Scripts, &page.script_js),
    ];
    for (part, text) in beside {
        if !text.is_empty() {
            texts.insert(part, text.clone());
        }
    }
    texts
}

fn head_of(page: &PageState) -> String {
    let mut head = String::new();
    push(&mut head, "title", &page.title);
    push(&mut head, "description", &page.description);
    push(&mut head, "published", &page.is_published.to_string());
    // The wiki gives them in any order.
    let mut tags: Vec<&str> = page.tags.iter().map(String::as_str).collect();
    tags.sort_unstable();
    let is_plain = |tag: &&str| !tag.contains(',') && fits(tag) && !tag.is_empty();
    let plain = tags.join(", ");
    if tags.iter().all(is_plain) && !is_in_brackets(&plain) {
        push(&mut head, "tags", &plain);
    } else {
        let tags = tags.into_iter().map(as_json);
        let tags: Vec<String> = tags.collect();
        push_line(&mut head, "tags (json)", &format!("[{}]", tags.join(", ")));
    }
    push(&mut head, "editor", &page.editor);
    for (name, date) in [
        (START, &page.publish_start_date),
        (END, &page.publish_end_date),
    ] {
        if !date.as_str().is_empty() {
            push(&mut head, name, date.as_str());
        }
    }
    head
}

const START: &str = "publishStartDate";
const END: &str = "publishEndDate";

fn push(head: &mut String, name: &str, value: &str) {
    if fits(value) {
        push_line(head, name, value);
    } else {
        push_line(head, &format!("{name} (json)"), &as_json(value));
    }
}

fn push_line(head: &mut String, name: &str, value: &str) {
    head.push_str(name);
    head.push(':');
    if !value.is_empty() {
        head.push(' ');
        head.push_str(value);
    }
    head.push('\n');
}

/// True if a plain line can hold a value exactly, and a browser finds no end of a comment in it.
fn fits(value: &str) -> bool {
    value.trim() == value
        && !value.contains("--")
        && !value
            .chars()
            .any(|sign| sign.is_control() || matches!(sign, '\u{2028}' | '\u{2029}'))
}

/// True if somebody who knows YAML would read tags as a list of it.
fn is_in_brackets(tags: &str) -> bool {
    tags.starts_with('[') && tags.ends_with(']')
}

/// A value as JSON in which no HTML comment can end.
fn as_json(value: &str) -> String {
    Value::from(value).to_string().replace("--", "-\\u002d")
}

/// Reads the page at a place from the texts of its files. Fields that no file holds come from
/// `base`, the page in the wiki, if it exists there.
///
/// # Errors
/// The first fault, with its line.
pub(super) fn read(
    texts: &Texts,
    place: &PagePlace,
    base: Option<&PageState>,
) -> Result<PageState, PageFileFault> {
    let (format, source) = source_of(texts)?;
    let part = PageFileKind::Source(format);
    let (head, content) = if let Some(fences) = fences(format) {
        if texts.contains_key(&PageFileKind::Meta) {
            let second =
                "the page's fields stand before its content; move these there, or delete this file";
            return Err(PageFileKind::Meta.fault(1, second));
        }
        cut(source, part, fences)?
    } else {
        let head = texts.get(&PageFileKind::Meta);
        let head = head.map(|head| (PageFileKind::Meta, head.as_str(), 1));
        (head, source)
    };
    let head = match head {
        Some((at, text, first)) => FrontMatter::parse(at, text, first)?,
        None if base.is_none() => FrontMatter::default(),
        None if fences(format).is_some() => {
            let gone = "the lines title: to editor: before the content are gone; bring them back";
            return Err(part.fault(1, gone));
        }
        None => {
            let gone = "the file with the page's fields is gone; bring them back";
            return Err(PageFileKind::Meta.fault(1, gone));
        }
    };
    let mut page = head.page(place, base, format, part)?;
    content.clone_into(&mut page.content);
    let beside = |part| texts.get(&part).cloned().unwrap_or_default();
    page.script_css = beside(PageFileKind::Styles);
    page.script_js = beside(PageFileKind::Scripts);
    Ok(page)
}

fn source_of(texts: &Texts) -> Result<(SourceFormat, &str), PageFileFault> {
    let mut sources = texts.iter().filter_map(|(part, text)| match part {
        PageFileKind::Source(format) => Some((*format, text.as_str())),
        PageFileKind::Meta | PageFileKind::Styles | PageFileKind::Scripts => None,
    });
    let any = texts.keys().next().copied().unwrap_or(PageFileKind::Meta);
    let first = sources.next();
    let first = first.ok_or_else(|| any.fault(1, "the file with the page's content is missing; rename or delete this one as you did that one"))?;
    match sources.next() {
        None => Ok(first),
        Some((second, _)) => Err(PageFileKind::Source(second).fault(
            1,
            "the page has a file with another ending, too; keep one of them",
        )),
    }
}

type FrontMatterSplit<'a> = (Option<(PageFileKind, &'a str, usize)>, &'a str);

/// Splits a source's file after the fields. Without an opening fence, all of it is content.
fn cut<'a>(
    text: &'a str,
    part: PageFileKind,
    (open, close): (&str, &str),
) -> Result<FrontMatterSplit<'a>, PageFileFault> {
    let Some(rest) = line_of(text, open) else {
        let marked = text.strip_prefix('\u{feff}');
        if marked.is_some_and(|text| line_of(text, open).is_some()) {
            let fault =
                "a byte order mark stands before the fields; save the file as UTF-8 without one";
            return Err(part.fault(1, fault));
        }
        return Ok((None, text));
    };
    let mut passed = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end_matches(['\n', '\r']) == close {
            let head = rest.get(..passed).unwrap_or_default();
            let behind = rest.get(passed + line.len()..).unwrap_or_default();
            // One empty line stands before the content.
            let content = line_of(behind, "").unwrap_or(behind);
            return Ok((Some((part, head, 2)), content));
        }
        passed += line.len();
    }
    Err(part.fault(1, format!("a line {close} must end what {open} begins")))
}

/// The text after a line, if the text begins with that line.
fn line_of<'a>(text: &'a str, line: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(line)?;
    rest.strip_prefix('\n')
        .or_else(|| rest.strip_prefix("\r\n"))
}

/// The fields of a page as its lines give them, each with the number of its line.
#[derive(Debug, Default)]
struct FrontMatter {
    at: Option<PageFileKind>,
    lines: BTreeMap<String, (usize, FrontMatterValue)>,
}

/// A value as a line gives it.
#[derive(Debug)]
enum FrontMatterValue {
    Plain(String),
    Json(Value),
}

/// The fields that lines may name. The last two occur in the wiki's own files and are ignored here.
const KNOWN: [&str; 9] = [
    "title",
    "description",
    "published",
    "tags",
    "editor",
    START,
    END,
    "date",
    "dateCreated",
];

impl FrontMatter {
    fn parse(at: PageFileKind, text: &str, first: usize) -> Result<Self, PageFileFault> {
        let mut lines = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let number = first + index;
            let Some((name, value)) = line.split_once(':') else {
                return Err(at.fault(number, "a field is written as name: value"));
            };
            let value = value.strip_prefix(' ').unwrap_or(value);
            let (name, said) = match name.strip_suffix(" (json)") {
                Some(name) => {
                    let value = serde_json::from_str(value);
                    let value = value.map_err(|error| {
                        at.fault(number, format!("the value is no JSON: {error}"))
                    })?;
                    (name, FrontMatterValue::Json(value))
                }
                None => (name, FrontMatterValue::Plain(value.to_owned())),
            };
            if !KNOWN.contains(&name) {
                let known = KNOWN.join(", ");
                let fault = format!("no field has the name {name:?}; there are {known}");
                return Err(at.fault(number, fault));
            }
            if lines.insert(name.to_owned(), (number, said)).is_some() {
                return Err(at.fault(number, format!("the field {name} is there twice")));
            }
        }
        Ok(Self {
            at: Some(at),
            lines,
        })
    }

    fn page(
        mut self,
        place: &PagePlace,
        base: Option<&PageState>,
        format: SourceFormat,
        part: PageFileKind,
    ) -> Result<PageState, PageFileFault> {
        let (at, is_known) = (self.at.unwrap_or(part), base.is_some());
        let mut text = |name: &str, usual: Option<String>| match self.lines.remove(name) {
            Some((
                line,
                FrontMatterValue::Plain(value) | FrontMatterValue::Json(Value::String(value)),
            )) => Ok((line, value)),
            Some((line, FrontMatterValue::Json(_))) => {
                Err(at.fault(line, format!("{name} must be a string in quotes")))
            }
            // A field left out of an existing page is an error: its value must not get lost
            // unnoticed.
            None if is_known && usual.is_none() => Err(at.fault(
                1,
                format!("the line {name}: is missing; without a value it is empty"),
            )),
            None => Ok((1, usual.unwrap_or_default())),
        };
        let or_new = |value: &str| (!is_known).then(|| value.to_owned());
        let (_, title) = text("title", or_new(place.1.last_segment()))?;
        let (_, description) = text("description", or_new(""))?;
        let (line, published) = text("published", or_new("true"))?;
        let is_published = match published.as_str() {
            "true" => true,
            "false" => false,
            _ => return Err(at.fault(line, "published is true or false")),
        };
        let mut date = |name: &str, base: Option<&Date>| {
            let (line, value) = text(name, Some(String::new()))?;
            if base.is_some_and(|base| base.as_str() == value) {
                return Ok(base.cloned().unwrap_or_default());
            }
            Date::parse(&value).map_err(|why| at.fault(line, format!("{name} {why}")))
        };
        let publish_start_date = date(START, base.map(|page| &page.publish_start_date))?;
        let publish_end_date = date(END, base.map(|page| &page.publish_end_date))?;
        let (line, editor) = text("editor", or_new(usual_editor(format).unwrap_or_default()))?;
        if editor.is_empty() {
            let message = "a page that is new here is .md, .html or .adoc, or names its editor";
            return Err(at.fault(line, message));
        }
        if base.is_some_and(|base| base.editor != editor) {
            let message = "the editor of a page cannot be changed here: Wiki.js ignores it";
            return Err(at.fault(line, message));
        }
        let needed = SourceFormat::detect(None, Some(&editor));
        if needed != format {
            let ending = PageFileKind::Source(needed).ending();
            return Err(at.fault(
                line,
                format!("a page of the editor {editor} is a .{ending} file"),
            ));
        }
        let (line, tags): (usize, Vec<String>) = match self.lines.remove("tags") {
            None if is_known => {
                let message = "the line tags: is missing; without a value there are none";
                return Err(at.fault(1, message));
            }
            None => (1, Vec::new()),
            Some((line, FrontMatterValue::Plain(tags))) if is_in_brackets(&tags) => {
                let message = "tags are written without brackets: a, b; or as JSON: tags (json): [\"a\", \"b\"]";
                return Err(at.fault(line, message));
            }
            Some((line, FrontMatterValue::Plain(tags))) => {
                let tags = tags.split(',').map(str::trim).filter(|tag| !tag.is_empty());
                (line, tags.map(str::to_owned).collect())
            }
            Some((line, FrontMatterValue::Json(tags))) => {
                let tags = serde_json::from_value(tags);
                let message = "tags must be a list of strings";
                (line, tags.map_err(|_| at.fault(line, message))?)
            }
        };
        let own = base.map_or(&[][..], |base| &base.tags);
        let tags = stored_tags(tags, own);
        let tags = tags.map_err(|why| at.fault(line, format!("a tag {why}")))?;
        Ok(PageState {
            id: base.and_then(|page| page.id),
            locale: place.0.clone(),
            path: place.1.clone(),
            title,
            description,
            content: String::new(),
            editor,
            tags,
            is_published,
            is_private: base.is_some_and(|page| page.is_private),
            publish_start_date,
            publish_end_date,
            script_css: String::new(),
            script_js: String::new(),
            updated_at: None,
            unknown: Vec::new(),
            thing: None,
        })
    }
}

#[cfg(test)]
mod tests;
