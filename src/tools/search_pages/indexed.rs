//! Describes the coverage of the content index, worded for the kind of search.

use std::time::Duration;

use serde::Serialize;

use crate::index::Coverage;
use crate::words::words;

words! {
    /// The kind of search that needs the index; its words say what an incomplete one does to it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in crate::tools) enum Sought: of_half {
        /// The best pages for words.
        Words = "the best page for these words may be missing",
        /// Every line with a text, or that an expression matches.
        Lines = "lines of the other pages are missing",
        /// Pages whose words resemble a given page's.
        Related = "pages related by their words may be missing",
        /// Links that lead nowhere.
        Broken = "broken links of the other pages may be missing",
        /// Pages that no page links to.
        Orphans = "a page listed here may be linked from one that is not indexed",
        /// Pages with a property.
        Property = "pages with this property may be missing",
    }
}

impl Sought {
    /// The note on pages whose source cannot be read.
    const fn of_unread(self) -> &'static str {
        match self {
            Self::Words => "only their titles, descriptions, tags and paths are searched",
            Self::Lines => "their lines are not searched",
            Self::Related => "only their links, tags, titles and descriptions count",
            Self::Broken | Self::Orphans => {
                "of their links only those in the wiki's own link graph are known"
            }
            Self::Property => "their properties are not known",
        }
    }

    /// The action to repeat later.
    const fn again(self) -> &'static str {
        match self {
            Self::Words | Self::Lines | Self::Related => "search again",
            Self::Broken | Self::Orphans | Self::Property => "list again",
        }
    }
}

/// The coverage of the content index, worded for an answer.
#[derive(Debug, Serialize)]
pub(in crate::tools) struct Indexed {
    pub(in crate::tools) complete: bool,
    #[serde(skip)]
    is_half: bool,
    #[serde(skip)]
    sought: Sought,
    pages: usize,
    of: usize,
    /// Advice while the index is being built.
    hint: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Indexed {
    /// Nothing of the index could be used.
    pub(in crate::tools) fn none(hint: &str, sought: Sought) -> Self {
        Self {
            complete: false,
            is_half: false,
            sought,
            hint: Some(hint.to_owned()),
            pages: 0,
            of: 0,
            notes: Vec::new(),
        }
    }

    /// Words the coverage of the index for a search.
    pub(in crate::tools) fn new(covered: Coverage, sought: Sought) -> Self {
        let Coverage {
            pages,
            of,
            most,
            without_content,
            left,
            ..
        } = covered;
        let again = sought.again();
        let half = covered.wanting().map(|wanted| {
            // An estimate from the first few pages can be off by days.
            const LONGEST: Duration = Duration::from_mins(2);
            let wait = left.unwrap_or(Duration::from_secs(10)).min(LONGEST).as_secs() + 1;
            let missing = sought.of_half();
            let or = match sought {
                Sought::Words => ", or take other words that stand in its title",
                _ => "",
            };
            format!(
                "Only {pages} of {wanted} pages are indexed yet, so {missing}: {again} in {wait} s{or}."
            )
        });
        let hint = half.or_else(|| match of {
            _ if covered.is_complete || of > most => None,
            0 => Some(format!("Nothing is indexed yet: {again} in 2 s.")),
            _ => Some(format!(
                "The wiki did not say what has changed since these pages were indexed: {again} later."
            )),
        });
        let mut notes = Vec::new();
        if of > most {
            notes.push(format!(
                "Only the {most} pages changed last are indexed: that is as much as this server keeps."
            ));
        }
        let indexed = Self {
            complete: covered.is_complete,
            is_half: covered.wanting().is_some(),
            sought,
            pages,
            of,
            hint,
            notes,
        };
        match sought {
            // Words are also searched in what readers see; everything else is only in the source,
            // and the index counts the sources that it lacks.
            Sought::Words | Sought::Related => indexed.lacking("content", without_content),
            _ => indexed,
        }
    }

    /// Adds a note on the pages whose source the key may not read, if there are any.
    pub(in crate::tools) fn lacking_sources(self, pages: usize) -> Self {
        self.lacking("source", pages)
    }

    fn lacking(self, what: &str, pages: usize) -> Self {
        let of = self.sought.of_unread();
        let note = (pages > 0).then(|| {
            format!(
                "The key cannot read the {what} of {pages} indexed pages (it needs read:source): {of}."
            )
        });
        self.note(note)
    }

    /// True if anything is known from the index.
    pub(in crate::tools) const fn knows_pages(&self) -> bool {
        self.pages > 0
    }

    /// The same without another source, which makes the index incomplete.
    pub(in crate::tools) fn without(self, why: &str) -> Self {
        let incomplete = Self {
            complete: false,
            ..self
        };
        incomplete.note(Some(why.to_owned()))
    }

    /// Adds another note.
    pub(in crate::tools) fn note(mut self, note: Option<String>) -> Self {
        self.notes.extend(note);
        self
    }

    /// The same, or `None` if the index is complete and there is nothing to add.
    pub(in crate::tools) fn if_lacking(self) -> Option<Self> {
        (!self.complete || !self.notes.is_empty()).then_some(self)
    }

    /// The mark of a hit from an incomplete index.
    pub(super) fn provisional(&self) -> Option<String> {
        (self.is_half).then(|| format!("found in {} of {} pages", self.pages, self.of))
    }
}
