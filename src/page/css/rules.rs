//! The rules of a style sheet, and those that another one lacks.

use std::collections::{BTreeMap, BTreeSet};

/// The rules of a style sheet, as far as two forms of one sheet can be compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyleSheet {
    rules: Vec<CssRule>,
    is_closed: bool,
}

/// A rule with declarations of its own, or a statement such as `@import …;`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CssRule {
    /// The preludes of the rule and of the rules around it, the outermost first.
    path: Vec<String>,
    /// Its declared properties, in lower case; none of a statement.
    properties: BTreeSet<String>,
    /// Its declarations without white space.
    declarations: String,
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
#[must_use]
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
        parts.retain(|part| match there.get_mut(&(key.clone(), *part)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        });
        if parts.is_empty() {
            continue;
        }
        let list = if rule.has_effect {
            &mut dropped.effective
        } else {
            &mut dropped.idle
        };
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
        let preludes: Vec<String> = self
            .path
            .iter()
            .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        preludes.join(" { ")
    }

    fn parts(&self) -> Vec<&str> {
        if self.properties.is_empty() {
            return vec![""];
        }
        self.properties.iter().map(String::as_str).collect()
    }
}

/// A selector or an at-rule's prelude, without what minifying may change: white space, quotes,
/// letter case, order and repetition in a list, the two spellings of pseudo-elements and of an
/// imported address.
fn plain(prelude: &str) -> String {
    let mut text = prelude
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'' | '\\'))
        .flat_map(char::to_lowercase)
        .collect::<String>()
        .replace("::", ":")
        .replace("nth-child(1)", "first-child")
        .replace("nth-of-type(1)", "first-of-type")
        .replace("(even)", "(2n)")
        .replace("(odd)", "(2n+1)");
    // A universal selector may be left out before a narrower one.
    for narrower in [":", ".", "#", "["] {
        text = text.replace(&format!("*{narrower}"), narrower);
    }
    if text.starts_with("@import") {
        text = text.replace("url(", "").replace(')', "");
    }
    let mut parts = BTreeSet::new();
    let (mut part, mut brackets) = (String::new(), 0_usize);
    for c in text.chars() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            ',' if brackets == 0 => {
                parts.insert(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    parts.insert(part);
    let parts: Vec<&str> = parts
        .iter()
        .map(|part| match part.as_str() {
            "from" => "0%",
            "to" => "100%",
            part => part,
        })
        .collect();
    parts.join(",")
}

fn is_import(statement: &str) -> bool {
    let name = statement.get(..7);
    name.is_some_and(|name| name.eq_ignore_ascii_case("@import"))
}

/// A block that is open.
#[derive(Default)]
struct CssBlock {
    properties: BTreeSet<String>,
    declarations: String,
}

/// A style sheet as it is read.
struct CssParser {
    sheet: StyleSheet,
    /// The preludes of the open blocks.
    path: Vec<String>,
    blocks: Vec<CssBlock>,
    /// The text since the last brace or semicolon, without comments.
    text: String,
    /// Braces within the value of a custom property.
    braces: usize,
    brackets: usize,
    has_rules: bool,
    /// A surplus brace precedes the next rule.
    is_behind_brace: bool,
}

impl StyleSheet {
    /// Reads a style sheet in linear time, whatever it holds.
    #[must_use]
    pub fn parse(css: &str) -> Self {
        let mut reader = CssParser {
            sheet: Self {
                is_closed: true,
                ..Self::default()
            },
            path: Vec::new(),
            blocks: Vec::new(),
            text: String::new(),
            braces: 0,
            brackets: 0,
            has_rules: false,
            is_behind_brace: false,
        };
        let mut rest = css;
        while let Some(c) = rest.chars().next() {
            let token = token(rest, c, &reader.text);
            let (token, after) = match token {
                CssToken::Comment(length) => {
                    let (comment, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
                    reader.sheet.is_closed &= comment.len() > 3 && comment.ends_with("*/");
                    // A comment separates the text around it.
                    reader.text.push(' ');
                    rest = after;
                    continue;
                }
                CssToken::Text { length, is_closed } => {
                    reader.sheet.is_closed &= is_closed;
                    rest.split_at_checked(length).unwrap_or((rest, ""))
                }
            };
            rest = after;
            reader.take(token);
        }
        reader.end()
    }

    /// True if all its comments, quotes, brackets and braces are closed.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// The rules that the wiki will not store, by their selectors (W25).
    #[must_use]
    pub fn not_stored(&self) -> Vec<String> {
        let dropped = self.rules.iter().filter(|rule| rule.is_dropped);
        dropped.map(CssRule::name).collect()
    }

    /// True if it has a rule with declarations.
    #[must_use]
    pub fn has_blocks(&self) -> bool {
        self.rules.iter().any(|rule| !rule.properties.is_empty())
    }

    /// True if both have the same rules with the same declarations in the same order, apart from
    /// `@import`s. The order of selectors in a list does not count: the wiki sorts them for its
    /// editor otherwise than when it stores them.
    #[must_use]
    pub fn is_same_but_for_imports(&self, other: &Self) -> bool {
        fn others(sheet: &StyleSheet) -> impl Iterator<Item = (String, &str)> {
            let others = sheet.rules.iter().filter(|rule| !rule.is_import());
            others.map(|rule| (rule.key(), rule.declarations.as_str()))
        }
        others(self).eq(others(other))
    }
}

impl CssParser {
    fn take(&mut self, token: &str) {
        let is_plain = self.brackets == 0;
        match token {
            "(" | "[" => self.brackets += 1,
            ")" | "]" => self.brackets = self.brackets.saturating_sub(1),
            "{" if is_plain => return self.open(),
            "}" if is_plain => return self.close(),
            ";" if is_plain && self.braces == 0 => return self.finish(),
            // The marks of HTML comments mean nothing between rules.
            ">" if self.blocks.is_empty() && self.text.trim() == "--" => {
                return self.text.clear();
            }
            "-" if self.blocks.is_empty() && self.text.trim() == "<!-" => {
                return self.text.clear();
            }
            _ => {}
        }
        self.text.push_str(token);
    }

    fn open(&mut self) {
        if self.braces > 0 || self.text.trim_start().starts_with("--") {
            self.braces += 1;
            self.text.push('{');
            return;
        }
        self.path
            .push(std::mem::take(&mut self.text).trim().to_owned());
        self.blocks.push(CssBlock::default());
    }

    fn close(&mut self) {
        if self.braces > 0 {
            self.braces -= 1;
            self.text.push('}');
            return;
        }
        self.finish();
        let Some(block) = self.blocks.pop() else {
            // A surplus brace: it is ignored.
            self.sheet.is_closed = false;
            self.is_behind_brace = true;
            return;
        };
        let outer = self.path.iter().rev().skip(1);
        let is_nested = outer.into_iter().any(|prelude| !prelude.starts_with('@'));
        if !block.properties.is_empty() {
            self.has_rules = true;
            self.sheet.rules.push(CssRule {
                path: self.path.clone(),
                properties: block.properties,
                declarations: block.declarations,
                has_effect: true,
                is_dropped: is_nested || self.is_behind_brace,
            });
        }
        self.path.pop();
        self.is_behind_brace &= !self.path.is_empty();
    }

    /// Ends a declaration or a statement.
    fn finish(&mut self) {
        let text = std::mem::take(&mut self.text);
        let text = text.trim();
        if text.starts_with('@') {
            let is_charset = text.to_lowercase().starts_with("@charset");
            let is_late = is_import(text) && self.has_rules;
            let mut path = self.path.clone();
            path.push(text.to_owned());
            self.sheet.rules.push(CssRule {
                path,
                properties: BTreeSet::new(),
                declarations: String::new(),
                has_effect: !is_charset && !is_late,
                is_dropped: false,
            });
            return;
        }
        let Some(block) = self.blocks.last_mut() else {
            return;
        };
        if let Some((name, value)) = text.split_once(':')
            && !value.trim().is_empty()
        {
            let name = name.trim().to_lowercase();
            block.declarations.extend(text.split_whitespace());
            block.declarations.push(';');
            if !is_of_old_browsers(&name, value) {
                block.properties.insert(name);
            }
        }
    }

    fn end(mut self) -> StyleSheet {
        self.sheet.is_closed &= self.blocks.is_empty() && self.brackets == 0 && self.braces == 0;
        self.braces = 0;
        while !self.blocks.is_empty() {
            self.close();
        }
        self.finish();
        self.sheet
    }
}

/// True if no current browser knows the declaration: the wiki drops most of these.
fn is_of_old_browsers(name: &str, value: &str) -> bool {
    let value = value.to_lowercase();
    name.starts_with(['*', '_'])
        || name == "-ms-filter"
        || value.trim_end().ends_with("\\9")
        || (name == "filter" && (value.contains("progid:") || value.contains("alpha(")))
}

enum CssToken {
    /// A comment of so many bytes.
    Comment(usize),
    /// A string, an unquoted address, or one character.
    Text { length: usize, is_closed: bool },
}

/// The token that begins with `c` at the start of `rest`; `before` is the text before it.
fn token(rest: &str, c: char, before: &str) -> CssToken {
    if let Some(comment) = rest.strip_prefix("/*") {
        return CssToken::Comment(comment.find("*/").map_or(rest.len(), |end| end + 4));
    }
    if matches!(c, '"' | '\'') {
        let (length, is_closed) = quoted(rest, c);
        return CssToken::Text { length, is_closed };
    }
    if c == '\\' {
        let escaped: usize = rest.chars().take(2).map(char::len_utf8).sum();
        return CssToken::Text {
            length: escaped,
            is_closed: escaped > 1,
        };
    }
    let is_address = before
        .len()
        .checked_sub(4)
        .and_then(|at| before.get(at..))
        .is_some_and(|end| end.eq_ignore_ascii_case("url("));
    if is_address && !c.is_whitespace() && c != ')' {
        return CssToken::Text {
            length: rest.find(')').unwrap_or(rest.len()),
            is_closed: rest.contains(')'),
        };
    }
    CssToken::Text {
        length: c.len_utf8(),
        is_closed: true,
    }
}

/// Length of the string that `text` begins with, and whether it is closed.
fn quoted(text: &str, quote: char) -> (usize, bool) {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            c if c == quote => return (at + c.len_utf8(), true),
            _ => {}
        }
    }
    (text.len(), false)
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
            assert!(StyleSheet::parse(css).is_closed(), "{css}");
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
            assert!(!StyleSheet::parse(css).is_closed(), "{css}");
        }
    }
}
