//! Knows what of an element a reader of the page sees.

use std::sync::LazyLock;

use super::words::{WordSet, has_one, is_long, longest_run, speaks, words};
use crate::page::html::HtmlTag;

/// Attributes whose values are names, numbers and settings, not words; besides those of programs
/// (`@`, `:`, `v-`, `on`) and `aria-`.
static OF_STRUCTURE: WordSet = LazyLock::new(|| words(include_str!("lists/attributes.txt")));

/// Elements whose text shows where their own content does not: in other browsers, or in programs.
pub(super) const FALLBACKS: &str = "noscript noembed noframes iframe object video audio canvas \
    progress meter datalist desc metadata defs annotation annotation-xml rp";

/// True if an attribute has words that no reader sees: a title or another text that shows beside
/// an element or in its place is seen, as long as it is not unusually long.
pub(super) fn is_unseen(element: &str, name: &str, value: &str) -> bool {
    // So many words take a letter and a sign each.
    let is_wordy = |most: usize| value.len() >= 2 * most && longest_run(value) > most;
    let is_of_program = |name: &str| {
        let leads = ["v-", "on", "aria-"];
        name.contains([':', '@', '#', '.']) || leads.iter().any(|lead| name.starts_with(lead))
    };
    match name {
        "style" | "d" | "points" | "srcset" | "viewbox" | "transform" => false,
        "alt" | "aria-label" | "aria-description" if element == "img" => is_long(value, 40, 300),
        "title" | "alt" | "aria-label" | "aria-description" | "placeholder" | "summary"
        | "label" => is_long(value, 12, 120),
        "href" | "src" | "action" | "cite" | "data" | "poster" => {
            longest_run(&value.replace("%20", " ").replace('+', " ")) > 12
        }
        "content" if element == "meta" => is_wordy(0) && speaks(value),
        name if is_of_program(name) || OF_STRUCTURE.contains(name) => is_wordy(8),
        name => speaks(value) || !name.starts_with("data-") && speaks(name),
    }
}

/// True if an attribute, a class that Wiki.js knows, or its name hides an element.
pub(super) fn is_hidden(tag: &HtmlTag, is_in_tabs: bool) -> bool {
    let attributes = &tag.attributes;
    let has = |name| attributes.get(name).is_some();
    let leads = |lead: &str| attributes.iter().any(|(name, _)| name.starts_with(lead));
    let is_never = |name| matches!(attributes.get(name), Some("false" | "0" | "''" | "null"));
    let class = attributes.get("class").unwrap_or_default();
    let mut classes = class.split_whitespace();
    let shows = |class: &str| class.starts_with("d-") && class != "d-none";
    let is_shown = classes.clone().any(shows);
    let is_by_name = match tag.name() {
        "script" | "mphantom" => true,
        // Wiki.js shows those that fill a slot of its tabs.
        "template" => !is_in_tabs || !leads("v-slot") && !leads("#"),
        "dialog" => !has("open"),
        _ => false,
    };
    let is_by_class = classes.any(|class| match class {
        // Others of these show it on larger screens.
        "d-none" => !is_shown,
        class => has_one("d-sr-only hidden-screen-only transparent--text", class),
    });
    let is_by_program = is_never("v-if") || is_never("v-show");
    is_by_name || is_by_class || is_by_program || has("hidden") || has("popover")
}

/// True if a comment holds nothing but attributes for the element before it, as Wiki.js has them, or
/// the beginning of a drawing.
pub(super) fn is_markup(comment: &str) -> bool {
    let lead = comment.strip_prefix('{');
    let braces = lead.and_then(|rest| rest.strip_suffix('}'));
    let inside = braces.or_else(|| comment.strip_prefix("?xml "));
    let is_name = |word: &str| word.starts_with(['.', '#']) || word.contains('=');
    inside.is_some_and(|inside| {
        let is_set = inside.contains("=\"") && longest_run(inside) < 3;
        is_set || inside.split_whitespace().all(is_name)
    })
}
