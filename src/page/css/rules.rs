//! The rules of a style sheet, and those that another one lacks.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::{CssKind, CssTokens};

/// The rules of a style sheet, as far as two forms of one sheet can be compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyleSheet {
    /// In the order in which they end.
    pub(in crate::page) rules: Vec<CssRule>,
    /// True if all its comments, quotes, brackets and braces are closed.
    pub is_closed: bool,
}

/// A rule with declarations of its own, or a statement such as `@import …;`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::page) struct CssRule {
    /// The preludes of the rule and of the rules around it, the outermost first.
    pub(in crate::page) path: Vec<String>,
    /// Its declarations: properties in lower case, values as they stand. A statement has none.
    pub(in crate::page) declarations: Vec<(String, String)>,
    /// True if browsers apply it where it stands.
    has_effect: bool,
    /// True if the wiki drops it when it stores the sheet (W25): nested in another rule, or next to
    /// a surplus brace.
    is_dropped: bool,
}

/// Rules that one sheet has and another lacks, by their selectors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DroppedRules {
    /// Those that do something.
    pub effective: Vec<String>,
    /// Those that browsers ignored where they were.
    pub idle: Vec<String>,
}

/// The rules of `sent` that are not in `stored`. Empty rules are ignored, and order, values and the
/// form of a selector do not matter: a minified sheet lacks none.
pub fn dropped_rules(sent: &str, stored: &str) -> DroppedRules {
    let (sent, stored) = (StyleSheet::parse(sent), StyleSheet::parse(stored));
    let mut there: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for rule in &stored.rules {
        for part in rule.parts() {
            *there.entry((rule.key(), part)).or_default() += 1;
        }
    }
    let mut dropped = DroppedRules::default();
    for rule in &sent.rules {
        let key = rule.key();
        let mut parts = rule.parts();
        let all = parts.len();
        parts.retain(|part| {
            let count = there.get_mut(&(key.clone(), *part));
            let left = count.filter(|count| **count > 0);
            left.map(|count| *count -= 1).is_none()
        });
        if parts.is_empty() {
            continue;
        }
        let lists = (&mut dropped.effective, &mut dropped.idle);
        let list = if rule.has_effect { lists.0 } else { lists.1 };
        // A rule that lacks some of its declarations is named with these.
        let name = if parts.len() < all {
            format!("{} {{ {} }}", rule.name(), parts.join("; "))
        } else {
            rule.name()
        };
        if !list.contains(&name) {
            list.push(name);
        }
    }
    dropped
}

impl CssRule {
    fn is_import(&self) -> bool {
        matches!(self.path.as_slice(), [one] if is_import(one))
    }

    /// The same for all forms in which the rule can be written.
    fn key(&self) -> String {
        let preludes: Vec<String> = self.path.iter().map(|text| plain(text)).collect();
        preludes.join("{")
    }

    fn name(&self) -> String {
        let words = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let preludes: Vec<String> = self.path.iter().map(words).collect();
        preludes.join(" { ")
    }

    /// Its properties, each once, without those of old browsers.
    fn parts(&self) -> Vec<&str> {
        let lasting = self.declarations.iter().filter(|one| is_lasting(one));
        let names: BTreeSet<&str> = lasting.map(|(name, _)| name.as_str()).collect();
        if names.is_empty() {
            return vec![""];
        }
        names.into_iter().collect()
    }

    /// Its declarations without white space.
    fn dense(&self) -> String {
        let mut dense = String::new();
        for (name, value) in &self.declarations {
            dense.extend([name, ":"]);
            dense.extend(value.split_whitespace());
            dense.push(';');
        }
        dense
    }
}

/// A selector or an at-rule's prelude, without what minifying may change: white space, quotes,
/// letter case, order and repetition in a list, the two spellings of pseudo-elements and of an
/// imported address.
fn plain(prelude: &str) -> String {
    let mut text: String = prelude
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'' | '\\'))
        .flat_map(char::to_lowercase)
        .collect();
    for (form, plain) in SAME {
        text = text.replace(form, plain);
    }
    if text.starts_with("@import") {
        text = text.replace("url(", "").replace(')', "");
    }
    let mut brackets = 0_usize;
    let is_between = |c: char| {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        c == ',' && brackets == 0
    };
    let parts: BTreeSet<&str> = text.split(is_between).collect();
    let parts = parts.into_iter().map(|part| match part {
        "from" => "0%",
        "to" => "100%",
        part => part,
    });
    parts.collect::<Vec<_>>().join(",")
}

/// Forms of one meaning in selectors, each with the one that it is replaced by.
const SAME: [(&str, &str); 9] = [
    ("::", ":"),
    ("nth-child(1)", "first-child"),
    ("nth-of-type(1)", "first-of-type"),
    ("(even)", "(2n)"),
    ("(odd)", "(2n+1)"),
    // A universal selector may be left out before a narrower one.
    ("*:", ":"),
    ("*.", "."),
    ("*#", "#"),
    ("*[", "["),
];

fn is_import(statement: &str) -> bool {
    let name = statement.get(..7);
    name.is_some_and(|name| name.eq_ignore_ascii_case("@import"))
}

/// The most preludes that are remembered of a rule, besides its own.
const MAX_DEPTH: usize = 32;

/// A style sheet as it is read.
#[derive(Default)]
struct CssParser {
    rules: Vec<CssRule>,
    /// The preludes of the open blocks.
    path: Vec<String>,
    /// The declarations of each open block.
    blocks: Vec<Vec<(String, String)>>,
    /// The text since the last brace or semicolon, without comments.
    text: String,
    /// Braces within the value of a custom property.
    braces: usize,
    brackets: usize,
    has_rules: bool,
    has_surplus_brace: bool,
    /// A surplus brace precedes the next rule.
    is_behind_brace: bool,
}

/// The declarations of a `style` attribute.
pub(in crate::page) fn declarations(style: &str) -> Vec<(String, String)> {
    let sheet = StyleSheet::parse(&format!("*{{{style}}}"));
    let first = sheet.rules.into_iter().next();
    first.map_or_else(Vec::new, |rule| rule.declarations)
}

impl StyleSheet {
    /// Reads a style sheet in linear time, whatever it holds.
    pub fn parse(css: &str) -> Self {
        let mut parser = CssParser::default();
        let mut tokens = CssTokens::of(css);
        for (kind, piece) in tokens.by_ref() {
            parser.take(kind, piece);
        }
        parser.end(tokens.is_closed())
    }

    /// The rules that the wiki will not store, by their selectors (W25).
    pub fn not_stored(&self) -> Vec<String> {
        let dropped = self.rules.iter().filter(|rule| rule.is_dropped);
        dropped.map(CssRule::name).collect()
    }

    /// True if it has a rule with declarations.
    pub fn has_blocks(&self) -> bool {
        self.rules.iter().any(|rule| !rule.declarations.is_empty())
    }

    /// True if both have the same rules with the same declarations in the same order, apart from
    /// `@import`s. The order of selectors in a list does not count: the wiki sorts them for its
    /// editor otherwise than when it stores them.
    pub fn is_same_but_for_imports(&self, other: &Self) -> bool {
        fn others(sheet: &StyleSheet) -> impl Iterator<Item = (String, String)> {
            let others = sheet.rules.iter().filter(|rule| !rule.is_import());
            others.map(|rule| (rule.key(), rule.dense()))
        }
        others(self).eq(others(other))
    }
}

impl CssParser {
    fn take(&mut self, kind: CssKind, piece: &str) {
        let is_plain = self.brackets == 0;
        let is_between = || self.blocks.is_empty() && self.text.trim().is_empty();
        match (kind, piece) {
            // A comment separates the text around it.
            (CssKind::Comment, _) => return self.text.push(' '),
            (CssKind::Mark, _) if is_between() => return,
            (CssKind::Sign, "(" | "[") => self.brackets += 1,
            (CssKind::Sign, ")" | "]") => self.brackets = self.brackets.saturating_sub(1),
            (CssKind::Sign, "{") if is_plain => return self.open(),
            (CssKind::Sign, "}") if is_plain => return self.close(),
            (CssKind::Sign, ";") if is_plain && self.braces == 0 => return self.finish(),
            _ => {}
        }
        self.text.push_str(piece);
    }

    fn open(&mut self) {
        if self.braces > 0 || self.text.trim_start().starts_with("--") {
            self.braces += 1;
            self.text.push('{');
            return;
        }
        let prelude = std::mem::take(&mut self.text);
        self.path.push(prelude.trim().to_owned());
        self.blocks.push(Vec::new());
    }

    fn close(&mut self) {
        if self.braces > 0 {
            self.braces -= 1;
            self.text.push('}');
            return;
        }
        self.finish();
        let (Some(declarations), Some(own)) = (self.blocks.pop(), self.path.pop()) else {
            // A surplus brace: it is ignored.
            (self.has_surplus_brace, self.is_behind_brace) = (true, true);
            return;
        };
        if declarations.iter().any(is_lasting) {
            self.has_rules = true;
            let rule = self.rule(own);
            self.rules.push(CssRule {
                declarations,
                ..rule
            });
        }
        self.is_behind_brace &= !self.path.is_empty();
    }

    /// A rule without declarations, with these words as its own prelude.
    fn rule(&self, own: String) -> CssRule {
        let outer = self.path.iter().take(MAX_DEPTH);
        let is_nested = outer.clone().any(|prelude| !prelude.starts_with('@'));
        CssRule {
            path: outer.cloned().chain([own]).collect(),
            declarations: Vec::new(),
            has_effect: true,
            is_dropped: is_nested || self.is_behind_brace,
        }
    }

    /// Ends a declaration or a statement.
    fn finish(&mut self) {
        let text = std::mem::take(&mut self.text);
        let text = text.trim();
        if text.starts_with('@') {
            let is_charset = text.to_lowercase().starts_with("@charset");
            let is_late = is_import(text) && self.has_rules;
            let statement = self.rule(text.to_owned());
            self.rules.push(CssRule {
                has_effect: !is_charset && !is_late,
                is_dropped: false,
                ..statement
            });
        } else if let Some(block) = self.blocks.last_mut()
            && let Some((name, value)) = text.split_once(':')
            && !value.trim().is_empty()
        {
            block.push((name.trim().to_lowercase(), value.trim().to_owned()));
        }
    }

    fn end(mut self, is_closed: bool) -> StyleSheet {
        let is_even = self.blocks.is_empty() && self.brackets == 0 && self.braces == 0;
        self.braces = 0;
        while !self.blocks.is_empty() {
            self.close();
        }
        self.finish();
        StyleSheet {
            is_closed: is_closed && is_even && !self.has_surplus_brace,
            rules: self.rules,
        }
    }
}

/// False if no current browser knows the declaration: the wiki drops most of these.
fn is_lasting((name, value): &(String, String)) -> bool {
    let value = value.to_lowercase();
    let is_old = name.starts_with(['*', '_'])
        || name == "-ms-filter"
        || value.ends_with("\\9")
        || (name == "filter" && (value.contains("progid:") || value.contains("alpha(")));
    !is_old
}

#[cfg(test)]
mod tests {
    use super::{StyleSheet, dropped_rules};

    fn effective(sent: &str, stored: &str) -> Vec<String> {
        dropped_rules(sent, stored).effective
    }

    /// Sent and stored, all measured on 2.5.314.
    #[test]
    fn rules_that_were_dropped_are_named_by_their_selectors() {
        for (sent, stored, gone) in [
            ("a{&:hover{color:red}}", "", vec!["a { &:hover"]),
            (
                "a{color:red}}b{color:blue}c{top:0}",
                "a{color:red}c{top:0}",
                vec!["b"],
            ),
            ("@layer a,b;a{color:red}", "", vec!["@layer a,b", "a"]),
            ("@unknown foo{a{color:red}}", "", vec!["@unknown foo { a"]),
            (
                ".a{@media (max-width:3px){color:red}}",
                "",
                vec![".a { @media (max-width:3px)"],
            ),
            ("a{color:red} ;b{color:blue}", "a{color:red}", vec!["b"]),
            ("a{top:0;b}c{left:0;left:}", "a{top:0}c{left:0}", vec![]),
            ("a{top:0;left:0}", "a{top:0}", vec!["a { left }"]),
        ] {
            assert_eq!(effective(sent, stored), gone, "{sent}");
        }
    }

    #[test]
    fn what_is_merely_minified_or_empty_was_not_dropped() {
        for (sent, stored) in [
            ("body { color : #ff0000 ; }", "body{color:red}"),
            ("a{}b{top:0}@media print{}", "b{top:0}"),
            ("@import \"x.css\";a{b:c}", "@import url(x.css);a{b:c}"),
            ("a,a{color:red}", "a{color:red}"),
            ("b > c , a{color:red}", "a,b>c{color:red}"),
            ("a{color:red}b{color:blue", "a{color:red}b{color:#00f}"),
            ("a{--x: 1 2;--y:{a:b}}", "a{--x:1 2;--y:{a:b};}"),
            (
                "a{color:red}<!-- b{color:blue} -->c{color:green}",
                "a{color:red}b{color:#00f}c{color:green}",
            ),
            (
                "@keyframes k{from{top:0}to{top:1px}}",
                "@keyframes k{0%{top:0}to{top:1px}}",
            ),
            ("a{*zoom:1;_height:1px}", ""),
        ] {
            assert_eq!(
                dropped_rules(sent, stored),
                super::DroppedRules::default(),
                "{sent}"
            );
        }
    }

    #[test]
    fn a_misplaced_import_does_nothing_and_is_told_apart() {
        let dropped = dropped_rules("a{top:0}@import \"x.css\";b{top:0}", "a{top:0}b{top:0}");
        assert_eq!(dropped.idle, ["@import \"x.css\""]);
        assert!(dropped.effective.is_empty());
    }

    #[test]
    fn sheets_are_held_against_each_other_but_for_their_imports() {
        let is_same =
            |a: &str, b: &str| StyleSheet::parse(a).is_same_but_for_imports(&StyleSheet::parse(b));
        for (stored, shown) in [
            ("@import url(x.css);a{b:c}", "a {\n  b: c\n}"),
            (
                "/*! k */@import url(x.css) layer(a);a{b:c}",
                "/*! k */\na {\n  b: c\n}",
            ),
            (
                "@charset \"utf-8\";@import url(\"a;b\");@import url(a;b{) screen;@namespace x url(y);a{b:c}",
                "@charset \"utf-8\";\n@namespace x url(y);\na {\n  b: c\n}",
            ),
            // Sorted otherwise, measured on 2.5.314.
            (".t a>i,.t>i{b:c}", ".t > i,\n.t a > i {\n  b: c\n}"),
            ("@import url(x)", ""),
        ] {
            assert!(is_same(stored, shown), "{stored}");
        }
        for (a, b) in [
            ("a{b:c}", "a{b:d}"),
            ("a{b:c}", ""),
            ("a{b:c}d{e:f}", "d{e:f}a{b:c}"),
            ("@namespace x url(y);", ""),
            ("a{content:\"@import x;\"}", "a{content:\"\"}"),
        ] {
            assert!(!is_same(a, b), "{a}");
        }
    }

    #[test]
    fn what_is_cut_short_is_not_closed() {
        for css in [
            "a{b:c}",
            "",
            "/*! x */",
            "a{b:url(data:x;'y)}",
            "a{--y:{a:b};}",
        ] {
            assert!(StyleSheet::parse(css).is_closed, "{css}");
        }
        for css in [
            "a{",
            "a{b:\"x",
            "/*! x ",
            "a}",
            "a(",
            "a{b:url(x",
            "@media x{a{b:c}",
            "/*/",
        ] {
            assert!(!StyleSheet::parse(css).is_closed, "{css}");
        }
    }
}
