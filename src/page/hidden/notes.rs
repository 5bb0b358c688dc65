//! Definitions of links and footnotes, and who refers to them.

use std::collections::HashMap;
use std::ops::Range;

use super::prose::{has_words, is_wordy_address, words};

/// A definition of a link.
pub(super) struct LinkDefinition {
    pub(super) at: Range<usize>,
    pub(super) label: String,
    pub(super) title: String,
    pub(super) address: String,
}

impl LinkDefinition {
    /// True if it holds more than an address with a name.
    pub(super) fn says_something(&self) -> bool {
        let is_address = self.address.contains(['/', '.', ':'])
            || self.address.starts_with('#') && self.address.len() > 1;
        has_words(&self.title)
            || words(&self.label) > 4
            || !is_address
            || is_wordy_address(&self.address)
    }
}

/// Footnotes and who refers to them.
#[derive(Default)]
pub(super) struct Footnotes {
    /// By label: where each is defined, and its labels within.
    defined: HashMap<String, (usize, Vec<String>)>,
    repeated: Vec<usize>,
    /// The definition that is being read.
    pub(super) open: Option<String>,
    referred: Vec<String>,
}

impl Footnotes {
    pub(super) fn begin(&mut self, label: &str, at: usize) {
        if self.defined.contains_key(label) {
            self.repeated.push(at);
        } else {
            self.defined.insert(label.to_owned(), (at, Vec::new()));
        }
        self.open = Some(label.to_owned());
    }

    pub(super) fn refer(&mut self, label: &str) {
        let open = self
            .open
            .as_ref()
            .and_then(|open| self.defined.get_mut(open));
        open.map_or(&mut self.referred, |(_, within)| within)
            .push(label.to_owned());
    }

    /// The places of footnotes that no text leads to.
    pub(super) fn unseen(mut self) -> Vec<usize> {
        while let Some(label) = self.referred.pop() {
            if let Some((_, within)) = self.defined.remove(&label) {
                self.referred.extend(within);
            }
        }
        let mut unseen = self.repeated;
        unseen.extend(self.defined.into_values().map(|(at, _)| at));
        unseen.sort_unstable();
        unseen
    }
}
