//! The rules of a style sheet, and those that another one lacks.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::tokens::{CssKind, CssTokens};

/// The rules of a style sheet, as far as two forms of one sheet can be compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyleSheet {
    /// In the order in which they end.
    pub(in crate::page) rules: Vec<CssRule>,
    /// The blocks around them, each behind the one around it. Rules share them: the prelude of a block
    /// with very many rules may be long.
    blocks: Vec<CssBlock>,
    /// True if all its comments, quotes, brackets and braces are closed.
    pub is_closed: bool,
}

/// A rule with declarations of its own, or a statement such as `@import …;`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::page) struct CssRule {
    /// Its own prelude.
    pub(in crate::page) prelude: String,
    /// The innermost of the blocks around it that are remembered.
    around: Option<usize>,
    /// Its declarations: properties in lower case, values as they stand. A statement has none.
    pub(in crate::page) declarations: Vec<(String, String)>,
    /// True if browsers apply it where it stands.
    has_effect: bool,
    /// True if the wiki drops it when it stores the sheet (W25): nested in another rule, or next to
    /// a surplus brace.
    is_dropped: bool,
}

/// A block with rules in it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CssBlock {
    prelude: String,
    around: Option<usize>,
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
    let mut same = SameRules::default();
    let [of_sent, of_stored] = [&sent, &stored].map(|sheet| same.numbers(sheet));
    let mut there: HashMap<(usize, &str), usize> = HashMap::new();
    for (rule, number) in stored.rules.iter().zip(&of_stored) {
        for part in rule.parts() {
            *there.entry((*number, part)).or_default() += 1;
        }
    }
    let mut dropped = DroppedRules::default();
    let mut named = HashSet::new();
    for (rule, number) in sent.rules.iter().zip(&of_sent) {
        let mut parts = rule.parts();
        let all = parts.len();
        parts.retain(|part| {
            let count = there.get_mut(&(*number, *part));
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
            format!("{} {{ {} }}", sent.name(rule), parts.join("; "))
        } else {
            sent.name(rule)
        };
        if named.insert((rule.has_effect, name.clone())) {
            list.push(name);
        }
    }
    dropped
}

/// Numbers of blocks and rules, the same for all forms in which one can be written.
#[derive(Default)]
struct SameRules(HashMap<(Option<usize>, String), usize>);

impl SameRules {
    fn number(&mut self, around: Option<usize>, prelude: &str) -> usize {
        let next = self.0.len();
        *self.0.entry((around, plain(prelude))).or_insert(next)
    }

    /// The number of each rule of a sheet.
    fn numbers(&mut self, sheet: &StyleSheet) -> Vec<usize> {
        let of = |numbers: &[usize], at: Option<usize>| at.and_then(|at| numbers.get(at).copied());
        let mut blocks: Vec<usize> = Vec::new();
        for block in &sheet.blocks {
            blocks.push(self.number(of(&blocks, block.around), &block.prelude));
        }
        let rules = sheet.rules.iter();
        rules
            .map(|rule| self.number(of(&blocks, rule.around), &rule.prelude))
            .collect()
    }
}

impl CssRule {
    fn is_import(&self) -> bool {
        self.around.is_none() && is_import(&self.prelude)
    }

    /// True if it stands in no block, or in one of these, by their numbers.
    pub(in crate::page) fn is_within(&self, blocks: &[bool]) -> bool {
        self.around.is_none_or(|at| blocks.get(at) == Some(&true))
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

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_import(statement: &str) -> bool {
    let name = statement.get(..7);
    name.is_some_and(|name| name.eq_ignore_ascii_case("@import"))
}

/// The most blocks that are remembered around a rule.
const MAX_DEPTH: usize = 32;
/// The most bytes of the preludes around a rule in its name.
const MOST_AROUND: usize = 200;

/// A block that is open, as far as it was read.
struct OpenBlock {
    prelude: String,
    declarations: Vec<(String, String)>,
    /// Its place among the blocks with rules in them.
    number: Option<usize>,
}

/// A style sheet as it is read.
#[derive(Default)]
struct CssParser {
    sheet: StyleSheet,
    /// The open blocks, the outermost first.
    open: Vec<OpenBlock>,
    /// The text since the last brace or semicolon, without comments and white space before it.
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
        dropped.map(|rule| self.name(rule)).collect()
    }

    /// The preludes of a rule and of the blocks around it, the outermost first; of these only the first
    /// words, since very many rules may be named.
    fn name(&self, rule: &CssRule) -> String {
        let block = |at: usize| self.blocks.get(at);
        let innermost = rule.around.and_then(block);
        let around = std::iter::successors(innermost, |inner| inner.around.and_then(block));
        let around: Vec<&str> = around.map(|block| block.prelude.as_str()).collect();
        let mut name = String::new();
        for prelude in around.into_iter().rev() {
            let room = MOST_AROUND.saturating_sub(name.len());
            let start = prelude.get(..prelude.floor_char_boundary(room));
            name += &words(start.unwrap_or_default());
            if room < prelude.len() {
                name += "… { ";
                break;
            }
            name += " { ";
        }
        name + &words(&rule.prelude)
    }

    /// True of each block that is such, as all around it are.
    pub(in crate::page) fn blocks_of(&self, is_such: impl Fn(&str) -> bool) -> Vec<bool> {
        let mut found: Vec<bool> = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let is_within = block.around.is_none_or(|at| found.get(at) == Some(&true));
            found.push(is_within && is_such(&block.prelude));
        }
        found
    }

    /// True if it has a rule with declarations.
    pub fn has_blocks(&self) -> bool {
        self.rules.iter().any(|rule| !rule.declarations.is_empty())
    }

    /// True if both have the same rules with the same declarations in the same order, apart from
    /// `@import`s. The order of selectors in a list does not count: the wiki sorts them for its
    /// editor otherwise than when it stores them.
    pub fn is_same_but_for_imports(&self, other: &Self) -> bool {
        let mut same = SameRules::default();
        let [own, theirs] = [self, other].map(|sheet| {
            let all = sheet.rules.iter().zip(same.numbers(sheet));
            let others = all.filter(|(rule, _)| !rule.is_import());
            others.map(|(rule, number)| (number, rule.dense()))
        });
        own.eq(theirs)
    }
}

impl CssParser {
    fn take(&mut self, kind: CssKind, piece: &str) {
        let is_plain = self.brackets == 0;
        let is_first = self.text.is_empty();
        match (kind, piece) {
            (CssKind::Comment | CssKind::Space, _) if is_first => return,
            // A comment separates the text around it.
            (CssKind::Comment, _) => return self.text.push(' '),
            (CssKind::Mark, _) if is_first && self.open.is_empty() => return,
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
        if self.braces > 0 || self.text.starts_with("--") {
            self.braces += 1;
            self.text.push('{');
            return;
        }
        let prelude = std::mem::take(&mut self.text);
        self.open.push(OpenBlock {
            prelude: prelude.trim().to_owned(),
            declarations: Vec::new(),
            number: None,
        });
    }

    fn close(&mut self) {
        if self.braces > 0 {
            self.braces -= 1;
            self.text.push('}');
            return;
        }
        self.finish();
        let Some(closed) = self.open.pop() else {
            // A surplus brace: it is ignored.
            (self.has_surplus_brace, self.is_behind_brace) = (true, true);
            return;
        };
        if closed.declarations.iter().any(is_lasting) {
            self.has_rules = true;
            let rule = self.rule(closed.prelude);
            self.sheet.rules.push(CssRule {
                declarations: closed.declarations,
                ..rule
            });
        }
        self.is_behind_brace &= !self.open.is_empty();
    }

    /// A rule without declarations, with these words as its own prelude.
    fn rule(&mut self, prelude: String) -> CssRule {
        let (mut around, mut is_nested) = (None, false);
        for block in self.open.iter_mut().take(MAX_DEPTH) {
            is_nested |= !block.prelude.starts_with('@');
            around = Some(*block.number.get_or_insert_with(|| {
                let prelude = block.prelude.clone();
                self.sheet.blocks.push(CssBlock { prelude, around });
                self.sheet.blocks.len() - 1
            }));
        }
        CssRule {
            prelude,
            around,
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
            self.sheet.rules.push(CssRule {
                has_effect: !is_charset && !is_late,
                is_dropped: false,
                ..statement
            });
        } else if let Some(block) = self.open.last_mut()
            && let Some((name, value)) = text.split_once(':')
            && !value.trim().is_empty()
        {
            let declarations = &mut block.declarations;
            declarations.push((name.trim().to_lowercase(), value.trim().to_owned()));
        }
    }

    fn end(mut self, is_closed: bool) -> StyleSheet {
        let is_even = self.open.is_empty() && self.brackets == 0 && self.braces == 0;
        self.braces = 0;
        while !self.open.is_empty() {
            self.close();
        }
        self.finish();
        self.sheet.is_closed = is_closed && is_even && !self.has_surplus_brace;
        self.sheet
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
    use crate::page::testing::worked;

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
    fn sheets_of_very_many_rules_take_neither_room_nor_time_beyond_their_length() {
        const MANY: usize = 40_000;
        let began = worked();
        let rules = |form: &str| {
            let rule = |n: usize| form.replace('#', &n.to_string());
            (0..MANY).map(rule).collect::<String>()
        };
        let long = "x".repeat(500_000);
        let within = format!("@media {long}{{{}}}", rules("a#{b:c}"));
        assert_eq!(StyleSheet::parse(&within).rules.len(), MANY);
        assert_eq!(effective(&within, "").len(), MANY);
        assert_eq!(effective(&within, &within), Vec::<String>::new());
        let sheet = StyleSheet::parse(&within);
        assert!(sheet.is_same_but_for_imports(&sheet));
        assert_eq!(sheet.blocks_of(|prelude| prelude.len() > MANY), [true]);
        let nested = StyleSheet::parse(&format!("{long} {{{}}}", rules("a#{b:c}")));
        let names = nested.not_stored();
        let name = format!("{}… {{ a{}", "x".repeat(super::MOST_AROUND), MANY - 1);
        assert_eq!((names.len(), names.last()), (MANY, Some(&name)));
        let parts = format!("{long}{{{}}}", rules("b#:c;"));
        assert_eq!(effective(&parts, &format!("{long}{{b0:c}}")).len(), 1);
        let marks = " ".repeat(500_000) + &"<!--".repeat(MANY);
        assert_eq!(StyleSheet::parse(&marks), StyleSheet::parse(""));
        let took = worked().saturating_sub(began);
        assert!(took < std::time::Duration::from_secs(10), "{took:?}");
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
