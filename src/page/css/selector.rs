//! Selectors of style sheets, as far as they name elements.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

static NAMES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[.#]?[\w-]+|\[[^\]]*\]|\S").ok());

/// A selector of elements by their names: `tag`, `.class`, `#id`, `[attribute]` and
/// `[attribute=value]`.
#[derive(Debug)]
pub(in crate::page) struct CssSelector {
    /// The names that the element has.
    own: Vec<String>,
    /// Names that it has not.
    not: Vec<String>,
    /// Names that the elements around it have.
    around: Vec<String>,
}

impl CssSelector {
    /// Reads a selector; `None` for one with anything else, such as a pseudo-class.
    pub(in crate::page) fn parse(selector: &str) -> Option<Self> {
        let selector = selector.replace('>', " ");
        let (selector, not) = selector.split_once(":not(").unwrap_or((&selector, ")"));
        let mut parts = selector.split_whitespace().map(names_of);
        let read = Self {
            own: parts.next_back()?,
            not: names_of(not.strip_suffix(')')?),
            around: parts.flatten().collect(),
        };
        let mut all = read.own.iter().chain(&read.not).chain(&read.around);
        let is_known = all.all(|name| !name.contains([':', '+', '~']));
        is_known.then_some(read)
    }

    /// The name of the element that fewest others have.
    pub(in crate::page) fn name(&self) -> String {
        let rank = |name: &&String| name.get(..1).and_then(|sign| "[.#".find(sign));
        let name = self.own.iter().max_by_key(rank);
        name.cloned().unwrap_or_default()
    }

    /// True if it is for an element of these names; `around` counts the names of the elements around.
    pub(in crate::page) fn fits(&self, names: &[String], around: &HashMap<String, usize>) -> bool {
        let has = |name: &String| names.contains(name);
        self.own.iter().all(has)
            && !self.not.iter().any(has)
            && self.around.iter().all(|name| around.get(name) > Some(&0))
    }
}

/// The names in a part of a selector that is about one element, and any other sign in it.
fn names_of(part: &str) -> Vec<String> {
    let pieces = NAMES.iter().flat_map(|names| names.find_iter(part));
    let names = pieces.map(|piece| piece.as_str().replace(['"', '\''], ""));
    let names = names.map(|name| match name.split_once(['~', '|', '^', '$', '*']) {
        // A part of the value is asked for: any value will do.
        Some((name, _)) if name.starts_with('[') => format!("{name}]"),
        _ if name.starts_with(char::is_alphabetic) => name.to_ascii_lowercase(),
        _ => name,
    });
    names.filter(|name| name != "*").collect()
}
