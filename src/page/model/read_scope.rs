//! The read scope: pages outside of it are treated as if they did not exist.

use std::sync::Arc;

use super::path::fold;
use crate::page::{
    Field, Locale, PagePath, PageReading, PageState, Prefix, TagPattern, bare_tag, fold_place,
};

/// The read rule of an operator's setting or of a client's grant. By default everything may be
/// read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadRule {
    /// Only below these prefixes; everywhere if none. Compared exactly.
    allowed: Option<Vec<Prefix>>,
    /// But not below these, which win. Compared without regard to case and Unicode form.
    denied: Vec<Prefix>,
    folded: Vec<Prefix>,
    /// No page with one of these tags; `*` stands for any text.
    tags: Vec<TagPattern>,
    /// The tags as they were given.
    named: Vec<String>,
}

impl ReadRule {
    /// A rule; denied prefixes and tags hold in any spelling.
    pub fn new(allowed: Option<Vec<Prefix>>, denied: Vec<Prefix>, tags: &[String]) -> Self {
        // A sign before a tag is a way to write it, and a tag may really begin with one: both hold.
        let spellings = |tag: &String| {
            let tag = fold(tag.trim());
            let bare = (bare_tag(&tag) != tag).then(|| bare_tag(&tag).to_owned());
            [Some(tag), bare].into_iter().flatten()
        };
        let patterns = tags.iter().flat_map(spellings).map(TagPattern::new);
        Self {
            allowed,
            folded: denied.iter().map(Prefix::folded).collect(),
            denied,
            tags: patterns.collect(),
            named: tags.to_vec(),
        }
    }

    /// The only prefixes below which it lets pages be read; everywhere if none.
    pub fn allowed(&self) -> Option<&[Prefix]> {
        self.allowed.as_deref()
    }

    /// The prefixes below which it lets no page be read.
    pub fn denied(&self) -> &[Prefix] {
        &self.denied
    }

    /// The tags with which it lets no page be read, as they were given.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(String::as_str)
    }

    /// True if it takes nothing away.
    pub fn is_open(&self) -> bool {
        self.allowed.is_none() && self.denied.is_empty() && self.tags.is_empty()
    }

    /// True if it surely takes away nothing that another rule leaves.
    fn admits_all_of(&self, other: &Self) -> bool {
        !Prefix::allow_less(self.allowed.as_deref(), other.allowed.as_deref())
            && Prefix::all_covered(&self.folded, &other.folded)
            && self.tags.iter().all(|tag| other.tags.contains(tag))
    }

    fn admits_place(&self, locale: &Locale, path: &PagePath) -> bool {
        let is_allowed = |all: &Vec<Prefix>| {
            !path.climbs() && all.iter().any(|prefix| prefix.holds(locale, path))
        };
        self.allowed.as_ref().is_none_or(is_allowed) && !self.denies_place(locale, path)
    }

    /// True if something below a folder may be admitted.
    fn admits_below(&self, locale: &Locale, folder: &PagePath) -> bool {
        if folder.as_str().is_empty() {
            return true;
        }
        let meets = |prefix: &Prefix| prefix.holds(locale, folder) || prefix.is_below(folder);
        let is_allowed = |all: &Vec<Prefix>| all.iter().any(meets);
        self.allowed.as_ref().is_none_or(is_allowed) && !self.denies_place(locale, folder)
    }

    fn denies_place(&self, locale: &Locale, path: &PagePath) -> bool {
        if self.folded.is_empty() {
            return false;
        }
        let (locale, path) = fold_place(locale, path);
        let mut denied = self.folded.iter();
        denied.any(|prefix| prefix.holds(&locale, &path))
    }

    fn admits_tags(&self, tags: &[String]) -> bool {
        let is_denied = |tag: &String| {
            let tag = fold(tag);
            self.tags.iter().any(|pattern| pattern.matches(&tag))
        };
        self.tags.is_empty() || !tags.iter().any(is_denied)
    }
}

/// The pages that may be read: all of these rules apply. An added rule can only narrow it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadScope(Arc<[ReadRule]>);

impl ReadScope {
    /// The scope of one rule.
    pub fn new(rule: &ReadRule) -> Self {
        Self::default().narrowed_by(rule)
    }

    /// The scope narrowed by one more rule.
    #[must_use]
    pub fn narrowed_by(&self, rule: &ReadRule) -> Self {
        if rule.is_open() {
            return self.clone();
        }
        Self(self.0.iter().chain([rule]).cloned().collect())
    }

    /// True if everything that another scope admits is surely admitted here, too.
    pub fn admits_all_of(&self, other: &Self) -> bool {
        let admits = |rule: &ReadRule| other.0.iter().any(|other| rule.admits_all_of(other));
        self.0.iter().all(admits)
    }

    /// Its rules.
    pub fn rules(&self) -> impl Iterator<Item = &ReadRule> {
        self.0.iter()
    }

    /// True if everything may be read.
    pub fn is_open(&self) -> bool {
        self.0.is_empty()
    }

    /// True if tags decide, too.
    pub fn asks_for_tags(&self) -> bool {
        self.0.iter().any(|rule| !rule.tags.is_empty())
    }

    /// True if a page at this place may be read, as far as its place decides.
    pub fn admits_place(&self, locale: &Locale, path: &PagePath) -> bool {
        self.0.iter().all(|rule| rule.admits_place(locale, path))
    }

    /// True if something below a folder may be read; an empty path means the root.
    pub fn admits_below(&self, locale: &Locale, folder: &PagePath) -> bool {
        self.0.iter().all(|rule| rule.admits_below(locale, folder))
    }

    /// True if a page with these tags may be read, as far as its tags decide.
    pub fn admits_tags(&self, tags: &[String]) -> bool {
        self.0.iter().all(|rule| rule.admits_tags(tags))
    }

    /// True if a page may be read. Where tags decide and are not known, it may not.
    pub fn admits(&self, page: &PageReading) -> bool {
        self.admits_so(&page.locale, &page.path, page.tags.as_deref())
    }

    /// True if a page may be read as it was. Where tags decide and are not known, it may not.
    pub fn admits_state(&self, page: &PageState) -> bool {
        let tags = page.knows(Field::Tags).then_some(&*page.tags);
        self.admits_so(&page.locale, &page.path, tags)
    }

    /// True if a page may be read at this place and with these tags, if they are known. Where tags decide
    /// and are not known, it may not.
    pub fn admits_so(&self, locale: &Locale, path: &PagePath, tags: Option<&[String]>) -> bool {
        let has_fit_tags =
            tags.map_or_else(|| !self.asks_for_tags(), |tags| self.admits_tags(tags));
        has_fit_tags && self.admits_place(locale, path)
    }

    /// A text that differs for every scope; empty if everything may be read.
    pub fn fingerprint(&self) -> String {
        if self.is_open() {
            return String::new();
        }
        format!("{:?}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{ReadRule, ReadScope};
    use crate::page::{Locale, PagePath, PageReading, Prefix};

    fn scope(allowed: Option<&[&str]>, denied: &[&str], tags: &[&str]) -> ReadScope {
        let parse = |texts: &[&str]| -> Vec<Prefix> {
            let parse = |text: &&str| Prefix::parse(text).expect(text);
            texts.iter().map(parse).collect()
        };
        let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        ReadScope::new(&ReadRule::new(allowed.map(parse), parse(denied), &tags))
    }

    fn at(scope: &ReadScope, locale: &str, path: &str) -> bool {
        scope.admits_place(&Locale::as_stored(locale), &PagePath::as_stored(path))
    }

    #[test]
    fn a_denied_tag_holds_with_its_sign_and_without() {
        let scope = scope(None, &[], &["#secret", "hr"]);
        let admits = |tag: &str| scope.admits_tags(&[tag.to_owned()]);
        assert!(!admits("secret") && !admits("#secret") && !admits("hr"));
        assert!(admits("#hr") && admits("open"));
    }

    #[test]
    fn prefixes_hold_as_those_of_writes_do() {
        let scope = scope(Some(&["docs", "de:handbuch"]), &["docs/caf\u{e9}"], &[]);
        for (locale, path) in [("en", "docs"), ("fr", "docs/a"), ("de", "handbuch/x")] {
            assert!(at(&scope, locale, path), "{locale} {path}");
        }
        for (locale, path) in [
            ("en", "docs-old"),
            ("en", "Docs/a"),
            ("en", "docs/../a"),
            ("en", "handbuch/x"),
            ("en", "docs/cafe\u{301}/a"),
            ("en", "docs/CAF\u{c9}"),
        ] {
            assert!(!at(&scope, locale, path), "{locale} {path}");
        }
    }

    #[test]
    fn a_page_whose_tags_are_not_known_may_not_be_read_where_tags_decide() {
        let scope = scope(None, &[], &["Secret", "hr/*"]);
        let tagged = |tags: Option<&[&str]>| {
            let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("a"));
            let tags = tags.map(|tags| tags.iter().map(|tag| (*tag).to_owned()).collect());
            let page = PageReading::bare(Some(1), locale, path, String::new());
            scope.admits(&PageReading { tags, ..page })
        };
        assert!(tagged(Some(&["open", "hr", "secret2"])));
        assert!(!tagged(Some(&["open", "secret"])));
        assert!(!tagged(Some(&["HR/pay"])));
        assert!(!tagged(None));
    }

    #[test]
    fn a_scope_admits_all_of_another_only_where_that_is_sure() {
        let (open, docs) = (ReadScope::default(), scope(Some(&["docs"]), &[], &[]));
        let below = scope(Some(&["docs/a", "de:docs"]), &[], &[]);
        let denied = scope(None, &["hr"], &["secret"]);
        let less = scope(None, &["hr/pay"], &[]);
        for (wide, narrow) in [
            (&open, &docs),
            (&docs, &below),
            (&less, &denied),
            (&open, &denied),
        ] {
            assert!(wide.admits_all_of(narrow) && wide.admits_all_of(wide));
            assert!(!narrow.admits_all_of(wide), "{narrow:?} {wide:?}");
        }
        assert!(!docs.admits_all_of(&denied) && !denied.admits_all_of(&docs));
    }

    #[test]
    fn one_more_rule_only_narrows() {
        let wide = scope(Some(&["docs"]), &[], &[]);
        let own = ReadRule::new(
            Some(vec![Prefix::parse("team").expect("one")]),
            Vec::new(),
            &[],
        );
        let both = wide.narrowed_by(&own);
        assert!(!at(&both, "en", "docs/a") && !at(&both, "en", "team/a"));
        assert_eq!(wide.narrowed_by(&ReadRule::default()), wide);
        assert!(ReadScope::new(&ReadRule::default()).is_open());
        assert_ne!(wide.fingerprint(), both.fingerprint());
    }
}
