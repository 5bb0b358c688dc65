//! The places that a text of another format names.

use super::super::link::Carrier;
use super::resolve::{Leads, LinkedSite, PagePlace, Seat, resolve};

/// Words of a text that name places of the wiki as links do, each with where it stands.
pub(super) fn named_places<'a>(
    text: &'a str,
    page: &PagePlace,
    site: &LinkedSite,
) -> Vec<(usize, &'a str, PagePlace)> {
    let ends = |c: char| c.is_whitespace() || "\"'<>()[]{}|`,;".contains(c);
    let mut found = Vec::new();
    let mut at = 0;
    for word in text.split_inclusive(ends) {
        let start = at;
        at += word.len();
        let word = word.trim_end_matches(ends);
        // Macros such as `link:/docs/x[text]`.
        let name = ["link:", "xref:"]
            .into_iter()
            .find_map(|macro_name| word.strip_prefix(macro_name))
            .unwrap_or(word);
        if !name.contains('/') {
            continue;
        }
        if let Leads::Page(_, place) = resolve(name, Carrier::Anchor, Seat::at(page), site) {
            found.push((start, name, place));
        }
    }
    found
}
