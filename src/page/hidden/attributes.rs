//! Reads a tag's attributes: unseen words, and styles.

use super::css::clean;
use super::prose::{is_long_description, is_long_title, is_wordy_address, longest_run};
use super::style::{Style, StyleEffect};
use crate::page::html::HtmlTag;

/// True if an attribute holds words that only a title or a program shows: a sentence rather than a
/// name, a setting or a list of classes.
pub(super) fn is_wordy(element: &str, name: &str, value: &str) -> bool {
    // Most are short.
    if value.len() < 12 {
        return false;
    }
    match name {
        "style" | "d" | "points" | "srcset" | "viewbox" | "transform" => false,
        "alt" | "aria-label" | "aria-description" if element == "img" => is_long_description(value),
        "title" | "alt" | "aria-label" | "aria-description" | "placeholder" | "summary"
        | "label" => is_long_title(value),
        "href" | "src" | "action" | "cite" | "data" | "poster" => is_wordy_address(value),
        "content" if element == "meta" => is_long_description(value),
        name if name.starts_with("data-") => longest_run(value) > 4,
        _ => longest_run(value) > 8,
    }
}

/// The visual effect of an element's attributes and of the rules that apply to it.
pub(super) fn looks_of(tag: &HtmlTag, style: &mut Style) -> StyleEffect {
    let attributes = tag.attributes();
    for (name, value) in attributes.iter() {
        match name {
            // As drawings have them.
            "display" | "visibility" | "opacity" | "transform" | "font-size" | "fill-opacity"
            | "clip-path" => style.declare(&format!("{name}:{value}")),
            "fill" if matches!(tag.name(), "text" | "tspan") => {
                let value = if value == "none" {
                    "transparent"
                } else {
                    value
                };
                style.declare(&format!("color:{value}"));
            }
            "color" if tag.name() == "font" => style.declare(&format!("color:{value}")),
            "bgcolor" => style.declare(&format!("background-color:{value}")),
            _ => {}
        }
    }
    if let Some(own) = attributes.get("style") {
        let own = clean(own, |_, _| {});
        style.declare(&own);
    }
    let mut looks = style.looks();
    looks.is_gone |= is_hidden(tag);
    looks
}

/// True if an attribute, or a class that Wiki.js knows, hides the element.
fn is_hidden(tag: &HtmlTag) -> bool {
    let attributes = tag.attributes();
    let mut classes = attributes
        .get("class")
        .unwrap_or_default()
        .split_whitespace();
    // Others of these show it on larger screens.
    let is_shown_elsewhere = || {
        let all = attributes.get("class").unwrap_or_default();
        all.split_whitespace()
            .any(|class| class.starts_with("d-") && class != "d-none")
    };
    let is_never = |name| matches!(attributes.get(name), Some("false" | "0" | "''" | "null"));
    attributes.get("hidden").is_some()
        || attributes.get("popover").is_some()
        || is_never("v-if")
        || is_never("v-show")
        || classes.any(|class| match class {
            "d-none" => !is_shown_elsewhere(),
            "d-sr-only" | "hidden-screen-only" | "transparent--text" => true,
            _ => false,
        })
}
