//! The rules of a page's own style sheets that may hide something.

use std::collections::HashMap;

use super::style::Style;
use crate::page::StyleSheet;
use crate::page::css::selector::CssSelector;
use crate::page::css::tokens::decoded;
use crate::page::html::HtmlTag;

/// The most rules that are kept, and of those that end in one name.
const MAX_RULES: usize = 2_000;
const MAX_OF_A_NAME: usize = 8;

/// The longest selector, and attribute, by which an element is known.
const MAX_SELECTOR: usize = 300;

/// The most classes and attributes by which an element is known.
const MAX_NAMES: usize = 32;

/// The rules of style sheets that may hide something, by a name of the element that they are for.
/// Media queries that hold on some screens only, pseudo-classes and nested rules are passed over.
#[derive(Debug, Default)]
pub(super) struct HidingStyles {
    by_name: HashMap<String, Vec<(CssSelector, Style)>>,
    count: usize,
}

impl HidingStyles {
    /// Adds the rules of a style sheet.
    pub(super) fn add(&mut self, css: &str) {
        let sheet = StyleSheet::parse(&decoded(css));
        let shown = sheet.blocks_of(holds);
        for rule in &sheet.rules {
            let mut style = Style::default();
            for (name, value) in &rule.declarations {
                style.declare(name, value);
            }
            if !style.matters() || !rule.is_within(&shown) {
                continue;
            }
            let short = rule
                .prelude
                .split(',')
                .filter(|one| one.len() <= MAX_SELECTOR);
            for selector in short.filter_map(CssSelector::parse) {
                let rules = self.by_name.entry(selector.name()).or_default();
                if self.count < MAX_RULES && rules.len() < MAX_OF_A_NAME {
                    self.count += 1;
                    rules.push((selector, style.clone()));
                }
            }
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The names by which rules know an element; its own alone if there are no rules.
    pub(super) fn names(&self, tag: &HtmlTag) -> Vec<String> {
        let mut names = vec![tag.name().to_owned()];
        let most = if self.is_empty() { 0 } else { MAX_NAMES };
        for (name, value) in tag.attributes.iter().take(most) {
            if name == "class" {
                let classes = value.split_whitespace().take(MAX_NAMES);
                names.extend(classes.map(|class| format!(".{class}")));
            }
            names.push(format!("[{name}]"));
            if value.len() <= MAX_SELECTOR {
                names.push(format!("[{name}={value}]"));
                names.extend((name == "id").then(|| format!("#{value}")));
            }
        }
        names
    }

    /// The style that the rules give an element of these names; `around` counts the names of the
    /// elements around it.
    pub(super) fn style_of(&self, names: &[String], around: &HashMap<String, usize>) -> Style {
        let mut style = Style::default();
        let all = names.iter().map(String::as_str).chain([""]);
        for (selector, own) in all.filter_map(|name| self.by_name.get(name)).flatten() {
            if selector.fits(names, around) {
                style.merge(own);
            }
        }
        style
    }
}

/// True if an at-rule's condition holds on a usual screen.
fn holds(prelude: &str) -> bool {
    let dense: String = prelude.split_whitespace().collect();
    let dense = dense.to_ascii_lowercase();
    let Some(condition) = dense.strip_prefix("@media") else {
        return dense.starts_with("@supports") || dense.starts_with("@layer");
    };
    let has = |mark| condition.contains(mark);
    let is_limit = has(":") || has("<") || has(">");
    !has("print") && !has("not") && (!is_limit || has("min-width:0") || has("min-width:1px"))
}
