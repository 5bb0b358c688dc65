//! The rules of a page's own style sheets that may hide something.

use std::collections::HashMap;

use super::css::{clean, split};
use super::style::Style;
use crate::page::html::HtmlTag;

/// The most rules that are kept, and of those that end in one name.
const MAX_RULES: usize = 2_000;
const MAX_OF_A_NAME: usize = 8;

/// The rules of style sheets, as far as they may hide something. Media queries that hold on some
/// screens only, pseudo-classes and nested rules are passed over.
#[derive(Debug, Default)]
pub(super) struct HidingStyles {
    rules: Vec<HidingRule>,
    /// The rules by a name of the element that they are for: `#id`, `.class`, `tag` or `*`.
    by_name: HashMap<String, Vec<usize>>,
    /// A rule depends on an element's ancestors.
    pub(super) asks_for_ancestors: bool,
}

#[derive(Debug)]
struct HidingRule {
    own: Compound,
    /// The element's ancestors, from the outermost on.
    ancestors: Vec<Compound>,
    style: Style,
}

/// A part of a selector that is about one element.
#[derive(Debug, Default)]
struct Compound {
    /// `tag`, `.class` and `#id`.
    names: Vec<String>,
    attributes: Vec<(String, char, String)>,
    not: Vec<Compound>,
}

impl HidingStyles {
    /// Adds the rules of a style sheet.
    pub(super) fn add(&mut self, css: &str) {
        let css = clean(css, |_, _| {});
        let mut rest = css.as_str();
        while let Some(at) = rest.find(['{', '}', ';']) {
            let (before, behind) = rest.split_at(at);
            rest = behind.get(1..).unwrap_or_default();
            if !behind.starts_with('{') {
                continue;
            }
            let prelude = before.trim();
            if prelude.starts_with('@') && holds(prelude) {
                // Its rules follow; its closing bracket is passed over.
                continue;
            }
            let (body, behind) = balanced(rest);
            rest = behind;
            if !prelude.starts_with('@') {
                self.rule(prelude, body);
            }
        }
    }

    fn rule(&mut self, selectors: &str, body: &str) {
        let mut style = Style::default();
        style.declare(body);
        if style.is_empty() {
            return;
        }
        for selector in split(selectors, ',') {
            let Some((own, ancestors)) = selector_of(selector) else {
                continue;
            };
            let name = own
                .names
                .iter()
                .max_by_key(|name| match name.bytes().next() {
                    Some(b'#') => 2,
                    Some(b'.') => 1,
                    _ => 0,
                });
            let name = name.map_or("*", String::as_str).to_owned();
            let of_name = self.by_name.entry(name).or_default();
            if self.rules.len() >= MAX_RULES || of_name.len() >= MAX_OF_A_NAME {
                continue;
            }
            of_name.push(self.rules.len());
            self.asks_for_ancestors |= !ancestors.is_empty();
            self.rules.push(HidingRule {
                own,
                ancestors,
                style: style.clone(),
            });
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The style that the rules give an element; `stands_in` counts the names of the elements
    /// around it.
    pub(super) fn style_of(
        &self,
        tag: &HtmlTag,
        names: &[String],
        stands_in: &HashMap<String, usize>,
    ) -> Style {
        let mut style = Style::default();
        let mut all: Vec<usize> = names
            .iter()
            .map(String::as_str)
            .chain(["*"])
            .filter_map(|name| self.by_name.get(name))
            .flatten()
            .copied()
            .collect();
        all.sort_unstable();
        all.dedup();
        for rule in all.into_iter().filter_map(|index| self.rules.get(index)) {
            let is_around = |compound: &Compound| {
                compound
                    .names
                    .iter()
                    .all(|name| stands_in.contains_key(name))
            };
            if rule.own.fits(tag, names) && rule.ancestors.iter().all(is_around) {
                style.merge(&rule.style);
            }
        }
        style
    }
}

/// The names by which rules find an element.
pub(super) fn names(tag: &HtmlTag) -> Vec<String> {
    const MOST: usize = 16;
    let attributes = tag.attributes();
    let classes = attributes.get("class").unwrap_or_default();
    let id = attributes.get("id").map(|id| format!("#{id}"));
    let classes = classes
        .split_whitespace()
        .take(MOST)
        .map(|class| format!(".{class}"));
    [tag.name().to_owned()]
        .into_iter()
        .chain(id)
        .chain(classes)
        .collect()
}

impl Compound {
    fn fits(&self, tag: &HtmlTag, names: &[String]) -> bool {
        self.names.iter().all(|name| names.contains(name))
            && !self.not.iter().any(|not| not.fits(tag, names))
            && self.attributes.iter().all(|(name, sign, wanted)| {
                let wanted = wanted.as_str();
                tag.attributes().get(name).is_some_and(|value| match sign {
                    '=' => value == wanted,
                    '~' => value.split_whitespace().any(|word| word == wanted),
                    '^' => value.starts_with(wanted),
                    '$' => value.ends_with(wanted),
                    '*' | '|' => value.contains(wanted),
                    _ => true,
                })
            })
    }
}

/// True if an at-rule's condition holds on a usual screen.
fn holds(prelude: &str) -> bool {
    let prelude = prelude.to_ascii_lowercase();
    let (name, condition) = prelude
        .split_once(|c: char| c.is_whitespace() || c == '(')
        .unwrap_or((&prelude, ""));
    match name {
        "@supports" | "@layer" => true,
        "@media" => {
            let is_limit =
                condition.contains(':') || condition.contains('<') || condition.contains('>');
            let holds_always = condition.contains("min-width:0")
                || condition.contains("min-width: 0")
                || condition.contains("min-width:1px")
                || condition.contains("min-width: 1px");
            !condition.contains("print")
                && !condition.contains("not")
                && (!is_limit || holds_always)
        }
        _ => false,
    }
}

/// The text up to the closing bracket, and the text after it.
fn balanced(text: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                let (body, behind) = text.split_at(at);
                return (body, behind.get(1..).unwrap_or_default());
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    (text, "")
}

/// The element that a selector is for, and what it stands in; none for a selector that cannot be
/// followed.
fn selector_of(selector: &str) -> Option<(Compound, Vec<Compound>)> {
    const LONGEST: usize = 300;
    if selector.len() > LONGEST {
        return None;
    }
    let selector = selector.replace('>', " ");
    let mut all = Vec::new();
    for part in split(&selector, ' ').flat_map(|part| split(part, '\n')) {
        if !part.trim().is_empty() {
            all.push(compound(part.trim())?);
        }
    }
    let own = all.pop()?;
    Some((own, all))
}

fn compound(text: &str) -> Option<Compound> {
    let mut found = Compound::default();
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let behind = rest.get(sign.len_utf8()..)?;
        let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '\u{FFFD}');
        let end = |text: &str| text.find(|c: char| !is_of_name(c)).unwrap_or(text.len());
        match sign {
            '*' => rest = behind,
            '.' | '#' => {
                let (name, after) = behind.split_at(end(behind));
                found.names.push(format!("{sign}{name}"));
                rest = after;
            }
            '[' => {
                let (inside, after) = behind.split_once(']')?;
                found.attributes.push(attribute(inside));
                rest = after;
            }
            ':' => {
                let (inside, after) = behind.strip_prefix("not(")?.split_once(')')?;
                found.not.push(compound(inside.trim())?);
                rest = after;
            }
            sign if is_of_name(sign) => {
                let (name, after) = rest.split_at(end(rest));
                found.names.push(name.to_ascii_lowercase());
                rest = after;
            }
            _ => return None,
        }
    }
    Some(found)
}

fn attribute(text: &str) -> (String, char, String) {
    let Some((name, value)) = text.split_once('=') else {
        return (text.trim().to_ascii_lowercase(), ' ', String::new());
    };
    let sign = name.chars().next_back().filter(|c| "~^$*|".contains(*c));
    let name = name.trim_end_matches(['~', '^', '$', '*', '|']).trim();
    let value = value.trim().trim_matches(['"', '\'']);
    (
        name.to_ascii_lowercase(),
        sign.unwrap_or('='),
        value.to_owned(),
    )
}
