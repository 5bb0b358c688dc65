//! Models the requested edits: new values for fields of a page.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::{Map, Value};
use thiserror::Error;

use crate::page::{
    Date, EditFault, Field, Locale, NewPath, PageState, PartFault, PartSelector, PatchFault,
    SectionMode, SourceFormat, TextReplacement, apply_edits, apply_patch, bare_tag, check_content,
    code_ranges, edit_section, escaped, replace_all, replaced, set_properties,
};

use super::warning::{Warning, named, unchecked};

/// The fault if it is unknown which text of a page is code.
const CODE_UNKNOWN: &str = "It cannot be told which text of this page is code: it is too large, or neither Markdown nor HTML. Leave outsideCode out and look at the preview, or use edits";
/// The warning that text in code is replaced.
const IN_CODE: &str = "in_code";
/// The most characters of a tag in a warning.
const MOST_CHARS: usize = 60;

/// A change of a page's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewContent {
    /// All of it.
    Whole(String),
    /// Exact replacements, in order.
    Edits(Vec<TextReplacement>),
    /// Replacements at every occurrence, in order.
    Everywhere(ReplaceAll),
    /// A unified diff that applies exactly.
    Patch(String),
    /// Properties at the head of a Markdown page; `null` removes one.
    FrontMatter(Map<String, Value>),
    /// A part of a Markdown page.
    Section {
        /// The part.
        selector: PartSelector,
        /// The edit to make to it.
        mode: SectionMode,
        /// The text; ignored if the part is removed.
        content: String,
    },
}

/// Texts to replace at every occurrence, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplaceAll {
    /// The texts.
    pub edits: Vec<TextReplacement>,
    /// True if what is in code stays.
    pub outside_code: bool,
}

/// A change of a page's tags, in the wiki's form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewTags {
    /// All of them; an empty list clears them.
    All(Vec<String>),
    /// Adds and removes some; the others stay.
    Some {
        /// Tags to add; an existing one stays.
        add: Vec<String>,
        /// Tags to remove; a missing one is ignored. A leading `#` is only a way to write a tag,
        /// unless the page has a tag that begins with it.
        remove: Vec<String>,
    },
}

/// The reason why a page's source cannot be changed as requested. Nothing was changed then.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ContentFault {
    /// An exact replacement cannot be made.
    #[error(transparent)]
    Edit(#[from] EditFault),
    /// A patch cannot be applied.
    #[error(transparent)]
    Patch(#[from] PatchFault),
    /// A part is missing or ambiguous, or cannot be changed in this way.
    #[error(transparent)]
    Part(#[from] PartFault),
    /// It cannot be changed in this way: what to do instead, as a sentence without its end.
    #[error("{0}")]
    Unfit(String),
    /// Only Markdown has parts and properties.
    #[error("the page is not written in Markdown")]
    NotMarkdown,
    /// Wiki.js refuses a page without content.
    #[error("the page would be left without content")]
    Blank,
}

impl NewContent {
    /// The new source.
    ///
    /// # Errors
    /// Why the source cannot become what was asked for.
    fn onto(&self, before: &PageState) -> Result<String, ContentFault> {
        let content = match self {
            Self::Whole(content) => return Ok(content.clone()),
            Self::Edits(edits) => apply_edits(&before.content, edits)?,
            Self::Everywhere(all) => all.onto(&before.content, &before.editor)?,
            Self::Patch(patch) => apply_patch(&before.content, patch)?,
            Self::Section { .. } | Self::FrontMatter(_) if before.editor != "markdown" => {
                return Err(ContentFault::NotMarkdown);
            }
            Self::FrontMatter(set) => {
                set_properties(&before.content, set).map_err(ContentFault::Unfit)?
            }
            Self::Section {
                selector,
                mode,
                content,
            } => edit_section(&before.content, selector, *mode, content)?.0,
        };
        if content != before.content && check_content(&content).is_err() {
            return Err(ContentFault::Blank);
        }
        Ok(content)
    }

    /// The warning that text in code is replaced, or that appended text does not join the last block.
    pub fn warning(&self, before: &PageState) -> Option<Warning> {
        match self {
            Self::Everywhere(all) => all.warning(&before.content, &before.editor),
            Self::Section {
                selector,
                mode: mode @ SectionMode::Append,
                content,
            } => {
                let edited = edit_section(&before.content, selector, *mode, content);
                let kind = edited.ok()?.1?;
                let message = format!(
                    "the section ends in a {kind}; the appended text is no part of it and stands behind it, as a block of its own."
                );
                Some(Warning::new("not_in_block", message).at(Field::Content, None))
            }
            _ => None,
        }
    }
}

impl ReplaceAll {
    /// The source of a page of this editor with the texts replaced.
    ///
    /// # Errors
    /// A text is not there, the source becomes too large, or its code is not told.
    pub fn onto(&self, content: &str, editor: &str) -> Result<String, ContentFault> {
        let code = self.kept(content, editor);
        let code = code.ok_or_else(|| ContentFault::Unfit(CODE_UNKNOWN.to_owned()))?;
        Ok(replace_all(content, &self.edits, &code)?)
    }

    /// The same; a text need not be there. False with it: none of the texts is.
    ///
    /// # Errors
    /// Why the page is left out.
    pub fn where_found(&self, content: &str, editor: &str) -> Result<(String, bool), &'static str> {
        let code = self.kept(content, editor);
        let code = code.ok_or("it is unknown which of its text is code")?;
        let made = replaced(content, &self.edits, &code);
        let (made, counts) = made.map_err(|_| "it would be too large")?;
        let is_there = counts.is_empty() || counts.iter().any(|count| *count > 0);
        Ok((made, is_there))
    }

    /// The warning about texts that none of these pages has, by the source and editor of each.
    pub fn not_there<'a>(
        &self,
        pages: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Option<Warning> {
        let mut is_there = vec![false; self.edits.len()];
        for (content, editor) in pages {
            let made = self.kept(content, editor);
            let made = made.and_then(|code| replaced(content, &self.edits, &code).ok());
            let counts = made.map(|(_, counts)| counts).unwrap_or_default();
            for (is_there, count) in is_there.iter_mut().zip(counts) {
                *is_there |= count > 0;
            }
        }
        let missing: Vec<String> = { self.edits.iter().zip(is_there) }
            .filter(|(_, is_there)| !is_there)
            .map(|(edit, _)| format!("\"{}\"", escaped(&edit.old_text, MOST_CHARS)))
            .collect();
        let of_code = if self.outside_code {
            " outside code"
        } else {
            ""
        };
        let message = format!(
            "none of these pages has this text{of_code}, so nothing was replaced: {}. Check it: capitals, spaces and line breaks count.",
            named(&missing)
        );
        let warning = Warning::new("text_not_there", message).at(Field::Content, None);
        (!missing.is_empty()).then_some(warning)
    }

    /// The ranges of a source that stay as they are; `None` if they are not told.
    fn kept(&self, content: &str, editor: &str) -> Option<Vec<Range<usize>>> {
        if self.outside_code {
            code_ranges(content, SourceFormat::detect(None, Some(editor)))
        } else {
            Some(Vec::new())
        }
    }

    /// The warning that texts in the code of a page of this editor are replaced.
    pub fn warning(&self, content: &str, editor: &str) -> Option<Warning> {
        let has = |edit: &TextReplacement| content.contains(&edit.old_text);
        if self.outside_code || !self.edits.iter().any(has) {
            return None;
        }
        let Some(code) = code_ranges(content, SourceFormat::detect(None, Some(editor))) else {
            return Some(unchecked(IN_CODE));
        };
        let count = |code| {
            let made = replaced(content, &self.edits, code);
            made.map_or(0, |(_, counts)| counts.into_iter().sum())
        };
        let in_code = usize::saturating_sub(count(&[]), count(&code));
        let message = format!(
            "{in_code} of the replaced texts are in code (blocks, code within a line, code in HTML); outsideCode: true leaves code as it is."
        );
        let warning = Warning::new(IN_CODE, message).at(Field::Content, None);
        (in_code > 0).then_some(warning)
    }
}

impl NewTags {
    /// The tags that the page shall have.
    pub const fn given_mut(&mut self) -> &mut Vec<String> {
        match self {
            Self::Some { add, .. } => add,
            Self::All(tags) => tags,
        }
    }

    /// The warning about tags to remove that none of these pages has, by the tags of each.
    pub fn warning(&self, pages: &[&[String]]) -> Option<Warning> {
        let Self::Some { remove, .. } = self else {
            return None;
        };
        let pages: Vec<HashSet<&str>> = pages.iter().map(|own| set_of(own)).collect();
        let is_nowhere = |tag: &&String| !pages.iter().any(|own| own.contains(meant(tag, own)));
        let missing = remove.iter().filter(is_nowhere);
        let missing: Vec<String> = missing
            .map(|tag| escaped(bare_tag(tag), MOST_CHARS))
            .collect();
        (!missing.is_empty()).then(|| {
            let who = match pages.as_slice() {
                [_] => "the page does not have",
                _ => "none of these pages has",
            };
            let missing = missing.join(", ");
            let message = format!("{who} these tags, so they were not removed: {missing}.");
            Warning::new("tags_not_there", message).at(Field::Tags, None)
        })
    }

    fn onto(self, before: &[String]) -> Vec<String> {
        match self {
            Self::All(tags) => tags,
            Self::Some { add, remove } => {
                let own = set_of(before);
                let gone: HashSet<&str> = remove.iter().map(|tag| meant(tag, &own)).collect();
                let stays = |tag: &&String| !gone.contains(tag.as_str());
                let mut tags: Vec<String> = before.iter().filter(stays).cloned().collect();
                let mut known: HashSet<String> = tags.iter().cloned().collect();
                tags.extend(add.into_iter().filter(|tag| known.insert(tag.clone())));
                tags
            }
        }
    }
}

fn set_of(tags: &[String]) -> HashSet<&str> {
    tags.iter().map(String::as_str).collect()
}

/// The tag of a page that a tag to remove means.
fn meant<'a>(tag: &'a str, own: &HashSet<&str>) -> &'a str {
    if own.contains(tag) {
        tag
    } else {
        bare_tag(tag)
    }
}

/// The fields of a page to change; `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edits {
    /// The new place of the page; was checked.
    pub path: Option<NewPath>,
    /// The locale it shall be filed under.
    pub locale: Option<Locale>,
    /// The new title.
    pub title: Option<String>,
    /// The change of the source.
    pub content: Option<NewContent>,
    /// The new description; empty clears it.
    pub description: Option<String>,
    /// The change of the tags.
    pub tags: Option<NewTags>,
    /// The new publication state.
    pub is_published: Option<bool>,
    /// The new start of publication.
    pub publish_start_date: Option<Date>,
    /// The new end of publication.
    pub publish_end_date: Option<Date>,
    /// The new styles; empty clears them.
    pub script_css: Option<String>,
    /// The new scripts; empty clears them.
    pub script_js: Option<String>,
}

impl Edits {
    /// True if no edit is requested.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The part of the page to change, if the change names one.
    pub const fn section(&self) -> Option<&PartSelector> {
        match &self.content {
            Some(NewContent::Section { selector, .. }) => Some(selector),
            _ => None,
        }
    }

    /// The page with these changes made. A field whose new value means the same as the old keeps
    /// the exact old value, so that it does not count as a change.
    pub(super) fn onto(self, before: &PageState) -> Result<PageState, ContentFault> {
        let Self {
            path,
            locale,
            title,
            content,
            description,
            tags,
            is_published,
            publish_start_date,
            publish_end_date,
            script_css,
            script_js,
        } = self;
        let date = |value: Option<Date>, old: &Date| {
            let is_new = |value: &Date| !value.same(old);
            value.filter(is_new).unwrap_or_else(|| old.clone())
        };
        let mut after = PageState {
            id: before.id,
            content: match content {
                Some(content) => content.onto(before)?,
                None => before.content.clone(),
            },
            tags: match tags {
                Some(tags) => tags.onto(&before.tags),
                None => before.tags.clone(),
            },
            locale: locale.unwrap_or_else(|| before.locale.clone()),
            path: path.map_or_else(|| before.path.clone(), NewPath::into_path),
            title: title.unwrap_or_else(|| before.title.clone()),
            description: description.unwrap_or_else(|| before.description.clone()),
            // An update ignores it (W13).
            editor: before.editor.clone(),
            is_published: is_published.unwrap_or(before.is_published),
            // An update ignores it (W13).
            is_private: before.is_private,
            publish_start_date: date(publish_start_date, &before.publish_start_date),
            publish_end_date: date(publish_end_date, &before.publish_end_date),
            script_css: script_css.unwrap_or_else(|| before.script_css.clone()),
            script_js: script_js.unwrap_or_else(|| before.script_js.clone()),
            updated_at: None,
            unknown: before.unknown.clone(),
            thing: before.thing.clone(),
        };
        if after.same(before, Field::Tags) {
            after.tags.clone_from(&before.tags);
        }
        Ok(after)
    }
}

#[cfg(test)]
mod tests;
