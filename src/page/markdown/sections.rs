//! Finds the sections of a Markdown page by a selector.

use std::borrow::Cow;
use std::ops::Range;

use serde::Serialize;
use thiserror::Error;

use crate::nearest::{most_alike, text_likeness};
use crate::page::{Heading, Outline, PartKind, Selector, escaped};

/// Normalizes a text before it is compared.
type Fold = fn(&str) -> Cow<'_, str>;

/// The most characters of a heading's text that are shown.
const MAX_TEXT: usize = 200;

/// A part of a page, as byte ranges of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// All of it, with the heading that it begins at.
    pub range: Range<usize>,
    /// Start of its body: behind the heading's lines; before the first heading behind the front
    /// matter.
    pub body: usize,
}

/// One of several parts that a selector could mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SectionCandidate {
    /// A selector of this part alone.
    pub selector: String,
    /// The level of its heading.
    pub level: u8,
    /// The text of its heading.
    pub text: String,
    /// The line of its heading, from 1.
    pub line: usize,
}

/// The reason that a selector names no part of a page.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SectionFault {
    /// There is none.
    #[error("the page has no such section")]
    NotFound,
    /// There are several.
    #[error("the page has {} such sections", candidates.len())]
    Ambiguous {
        /// All of them, in page order.
        candidates: Vec<SectionCandidate>,
    },
}

impl Outline<'_> {
    /// Finds the part that a selector names.
    ///
    /// A name is compared with whole heading texts, and one with a `/` with paths, too: a heading's
    /// text behind those of the headings that it stands under, from any of them on. So a heading with
    /// a `/` in its own text is found, alone or in a path. White space around texts does not count;
    /// letter case counts only where headings of that very case are there.
    ///
    /// # Errors
    /// There is none, or there are several. White space alone before the first heading is no part.
    pub fn find(&self, selector: &Selector) -> Result<Section, SectionFault> {
        match selector {
            Selector::Nth(PartKind::Headings(level), index) => {
                let mut all = self.headings.iter().filter(|one| one.level == *level);
                let found = all.nth(*index).map(Section::from);
                found.ok_or(SectionFault::NotFound)
            }
            Selector::Nth(PartKind::Sections, 0) => self.lead(),
            Selector::Nth(PartKind::Sections, index) => self.part(*index),
            Selector::Nth(PartKind::Blocks(kind), index) => self.block_at(*kind, *index),
            Selector::Named(name) => self.named(name),
        }
    }

    fn lead(&self) -> Result<Section, SectionFault> {
        let start = self.bounds.start;
        let end = self.first_heading();
        let lead = self.text.get(start..end).unwrap_or_default();
        if lead.trim().is_empty() {
            return Err(SectionFault::NotFound);
        }
        Ok(Section {
            range: start..end,
            body: self.body,
        })
    }

    fn part(&self, number: usize) -> Result<Section, SectionFault> {
        let mut starts = self.part_starts().skip(number.saturating_sub(1));
        let start = starts.next().ok_or(SectionFault::NotFound)?;
        let end = starts.next().unwrap_or(self.bounds.end);
        let heading = |heading: &&Heading| heading.lines.start == start;
        let body = self.headings.iter().find(heading);
        Ok(Section {
            range: start..end,
            body: body.map_or(start, |heading| heading.lines.end),
        })
    }

    fn named(&self, name: &str) -> Result<Section, SectionFault> {
        let name = name.trim();
        let mut found = self.of_name(name, |text| Cow::Borrowed(text));
        if found.is_empty() {
            found = self.of_name(&name.to_lowercase(), |text| Cow::Owned(text.to_lowercase()));
        }
        match found.as_slice() {
            [] => Err(SectionFault::NotFound),
            [only] => Ok(Section::from(*only)),
            several => Err(SectionFault::Ambiguous {
                candidates: self.candidates(several),
            }),
        }
    }

    /// The headings of a name, which was folded as their texts are.
    fn of_name(&self, name: &str, fold: Fold) -> Vec<&Heading> {
        let is_named = |heading: &&Heading| {
            if name.contains('/') {
                self.is_path(heading, name, fold)
            } else {
                fold(&heading.text) == name
            }
        };
        self.headings.iter().filter(is_named).collect()
    }

    /// True if a path leads to a heading, from any heading above it on.
    fn is_path(&self, heading: &Heading, path: &str, fold: Fold) -> bool {
        let Some(rest) = path.strip_suffix(&*fold(&heading.text)) else {
            return false;
        };
        let Some(above) = rest.trim_end().strip_suffix('/') else {
            return rest.is_empty();
        };
        heading
            .parent
            .and_then(|parent| self.headings.get(parent))
            .is_some_and(|parent| self.is_path(parent, above.trim_end(), fold))
    }

    /// Names the headings that a selector most likely means which names none: those whose texts
    /// are most alike, or of the level and about the index that it says.
    pub fn nearest_headings(&self, selector: &Selector, most: usize) -> Vec<SectionCandidate> {
        let all = self.headings.iter();
        match selector {
            Selector::Named(name) => {
                let last = name.rsplit('/').next().unwrap_or_default();
                let likeness = |heading: &&Heading| text_likeness(last, &heading.text);
                most_alike(all, most, 0.0, likeness)
                    .into_iter()
                    .flat_map(|heading| self.candidates(&[heading]))
                    .collect()
            }
            Selector::Nth(PartKind::Headings(level), _) => {
                let of_level: Vec<&Heading> =
                    all.filter(|heading| heading.level == *level).collect();
                let skipped = of_level.len().saturating_sub(most);
                match of_level.get(skipped..) {
                    // The index is behind the last one.
                    Some(last) if !last.is_empty() => self.candidates(last),
                    _ => self.candidates(&self.headings.iter().take(most).collect::<Vec<_>>()),
                }
            }
            Selector::Nth(..) => self.candidates(&all.take(most).collect::<Vec<_>>()),
        }
    }

    /// Names every heading, in page order.
    pub fn named_headings(&self) -> Vec<SectionCandidate> {
        self.candidates(&self.headings.iter().collect::<Vec<_>>())
    }

    /// Names each of these headings; they are in page order.
    fn candidates(&self, several: &[&Heading]) -> Vec<SectionCandidate> {
        let mut wanted = several.iter().peekable();
        let mut seen = [0_usize; 7];
        let mut candidates = Vec::new();
        for heading in &self.headings {
            let Some(index) = seen.get_mut(usize::from(heading.level)) else {
                continue;
            };
            if wanted.next_if(|next| next.lines == heading.lines).is_some() {
                let level = heading.level;
                let selector = Selector::Nth(PartKind::Headings(level), *index);
                candidates.push(SectionCandidate {
                    selector: selector.to_string(),
                    level,
                    text: escaped(&heading.text, MAX_TEXT),
                    line: heading.line,
                });
            }
            *index += 1;
        }
        candidates
    }
}

impl From<&Heading> for Section {
    fn from(heading: &Heading) -> Self {
        Self {
            range: heading.section.clone(),
            body: heading.lines.end,
        }
    }
}

#[cfg(test)]
pub(in crate::page) mod tests;
