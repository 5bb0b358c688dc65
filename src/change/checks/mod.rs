//! Checks for additions that somebody should know of before a change is made.
//!
//! Checks only warn; an operator's rules decide. Each looks only at what the change adds, in time
//! linear in the texts.

mod added;
mod neighbours;
mod texts;

use std::sync::Arc;

use url::Url;

use super::{Change, Warning};
use crate::page::{LineCounts, LinkedSite, PageReading};

/// The codes of all checks, and last of what the call's way of saying its change brings, as rules name
/// them.
pub const CODES: [&str; 19] = [
    "dead_link",
    "same_title",
    "path_differs_by_case",
    "links_break",
    "own_links_break",
    "literal_escapes",
    "markdown_in_html",
    "much_removed",
    "heading_dropped",
    "tags_dropped",
    "script_added",
    "foreign_resource_added",
    "hidden_text_added",
    "secret_added",
    "css_rules_dropped",
    "cannot_return",
    "unpublished",
    "in_code",
    "not_in_block",
];

/// Data of the wiki that checks need beside the change.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The wiki's address.
    pub wiki: &'a Url,
    /// All pages that the key sees, as the other changes of the same set leave them; `None` if they
    /// were not listed, which skips the checks that need them.
    pub pages: Option<&'a [Arc<PageReading>]>,
    /// Settings that decide where links lead; `None` if they were not asked for, which skips the
    /// checks of links.
    pub site: Option<&'a LinkedSite>,
    /// Secrets of this server, which must not be in any page.
    pub own: &'a [&'a str],
}

/// The findings of the checks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdditionReport {
    /// The warnings.
    pub warnings: Vec<Warning>,
    /// True if the change adds a private key or a secret of this wiki.
    pub adds_grave_secret: bool,
}

impl Change {
    /// Checks what the change adds; `lines` are those of its content's difference.
    pub fn check(&self, lines: LineCounts, around: Surroundings<'_>) -> AdditionReport {
        let mut warnings = Vec::new();
        warnings.extend(texts::cannot_return(self));
        neighbours::look(self, around, &mut warnings);
        warnings.extend(texts::much_removed(self, lines));
        warnings.extend(texts::heading_dropped(self));
        warnings.extend(texts::tags_dropped(self));
        warnings.extend(texts::literal_escapes(self));
        warnings.extend(texts::markdown_in_html(self));
        warnings.extend(texts::css_rules_dropped(self));
        warnings.extend(texts::unpublished(self));
        added::active(self, around.wiki, &mut warnings);
        warnings.extend(self.hidden_text_added());
        let adds_grave_secret = added::secrets(self, around.own, &mut warnings);
        AdditionReport {
            warnings,
            adds_grave_secret,
        }
    }

    /// The warning that names the text which the change adds and readers of the page do not see.
    pub fn hidden_text_added(&self) -> Option<Warning> {
        added::hidden(self)
    }

    /// True if a check needs the list of pages: only such a change costs a look at the wiki's list.
    pub fn asks_for_neighbours(&self, wiki: &Url) -> bool {
        neighbours::asks(self, wiki)
    }
}

#[cfg(test)]
mod tests;
