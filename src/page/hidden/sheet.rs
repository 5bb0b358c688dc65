//! The rules of a page's own style sheets that may hide something.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::style::Style;
use crate::page::StyleSheet;
use crate::page::css::tokens::decoded;
use crate::page::html::HtmlTag;

/// The most rules that are kept, and of those that end in one name.
const MAX_RULES: usize = 2_000;
const MAX_OF_A_NAME: usize = 8;

/// The longest selector, and attribute, by which an element is known.
const MAX_SELECTOR: usize = 300;

/// The most classes and attributes by which an element is known.
const MAX_NAMES: usize = 32;

static NAMES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[.#]?[\w-]+|\[[^\]]*\]|\S").ok());

/// The rules of style sheets that may hide something, by a name of the element that they are for.
/// Media queries that hold on some screens only, pseudo-classes and nested rules are passed over.
#[derive(Debug, Default)]
pub(super) struct HidingStyles {
    by_name: HashMap<String, Vec<HidingRule>>,
    count: usize,
}

/// A rule. A name is `tag`, `.class`, `#id`, `[attribute]` or `[attribute=value]`.
#[derive(Debug)]
struct HidingRule {
    /// The names that the element has.
    own: Vec<String>,
    /// Names that it has not.
    not: Vec<String>,
    /// Names that the elements around it have.
    around: Vec<String>,
    style: Style,
}

impl HidingStyles {
    /// Adds the rules of a style sheet.
    pub(super) fn add(&mut self, css: &str) {
        for rule in StyleSheet::parse(&decoded(css)).rules() {
            let mut style = Style::default();
            for (name, value) in &rule.declarations {
                style.declare(name, value);
            }
            let Some((selectors, preludes)) = rule.path.split_last() else {
                continue;
            };
            if style.matters() && preludes.iter().all(|prelude| holds(prelude)) {
                for selector in selectors.split(',').filter(|one| one.len() <= MAX_SELECTOR) {
                    self.rule(selector, &style);
                }
            }
        }
    }

    fn rule(&mut self, selector: &str, style: &Style) {
        let selector = selector.replace('>', " ");
        let (selector, not) = selector.split_once(":not(").unwrap_or((&selector, ")"));
        let mut parts = selector.split_whitespace().map(names_of);
        let (Some(not), Some(own)) = (not.strip_suffix(')').map(names_of), parts.next_back())
        else {
            return;
        };
        let around: Vec<String> = parts.flatten().collect();
        let all = own.iter().chain(&not).chain(&around);
        if self.count >= MAX_RULES || all.into_iter().any(|name| name.contains([':', '+', '~'])) {
            return;
        }
        let rank = |name: &&String| name.get(..1).and_then(|sign| "[.#".find(sign));
        let name = own.iter().max_by_key(rank).cloned().unwrap_or_default();
        let rules = self.by_name.entry(name).or_default();
        if rules.len() < MAX_OF_A_NAME {
            self.count += 1;
            let style = style.clone();
            rules.push(HidingRule {
                own,
                not,
                around,
                style,
            });
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The names by which rules know an element; its own alone if there are no rules.
    pub(super) fn names(&self, tag: &HtmlTag) -> Vec<String> {
        let mut names = vec![tag.name().to_owned()];
        let most = if self.is_empty() { 0 } else { MAX_NAMES };
        for (name, value) in tag.attributes().iter().take(most) {
            if name == "class" {
                let classes = value.split_whitespace().take(MAX_NAMES);
                names.extend(classes.map(|class| format!(".{class}")));
            }
            let short = Some(value).filter(|value| value.len() <= MAX_SELECTOR);
            let id = short.filter(|_| name == "id").map(|id| format!("#{id}"));
            let valued = short.map(|value| format!("[{name}={value}]"));
            names.extend(
                [Some(format!("[{name}]")), valued, id]
                    .into_iter()
                    .flatten(),
            );
        }
        names
    }

    /// The style that the rules give an element of these names; `around` counts the names of the
    /// elements around it.
    pub(super) fn style_of(&self, names: &[String], around: &HashMap<String, usize>) -> Style {
        let mut style = Style::default();
        let all = names.iter().map(String::as_str).chain([""]);
        for rule in all.filter_map(|name| self.by_name.get(name)).flatten() {
            let has = |name: &String| names.contains(name);
            if rule.own.iter().all(has)
                && !rule.not.iter().any(has)
                && rule.around.iter().all(|name| around.contains_key(name))
            {
                style.merge(&rule.style);
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
