//! Decides where writes are allowed.

use super::Policy;
use crate::change::Change;
use crate::error::{Code, Failure};
use crate::page::{Field, Locale, PagePath, PageState, Prefix, fold_place};

impl Policy {
    /// The reason why a change may not be made; `None` if it may. The page's present place and its
    /// new one must be below an allowed prefix and below no denied one.
    ///
    /// A page's place in the trash need not be allowed: only the move there and back may touch it.
    ///
    /// Allowed prefixes are compared exactly, denied ones in NFC and without case: a spelling that
    /// differs never lets a write through.
    pub fn fault_of(&self, change: &Change) -> Option<Failure> {
        let fault = change.places().find_map(|(locale, path)| {
            let fault = self.denies(locale, path).or_else(|| {
                self.fault_at(locale, path)
                    .filter(|_| !self.is_trash(change, path))
            });
            fault.map(|failure| {
                failure
                    .detail("locale", locale.as_str())
                    .detail("path", path.as_str())
            })
        });
        fault.or_else(|| self.fault_of_tags(change))
    }

    /// The reason why no page at a place may be written; `None` if one may.
    pub fn fault_at(&self, locale: &Locale, path: &PagePath) -> Option<Failure> {
        self.denies(locale, path)
            .or_else(|| self.does_not_allow(locale, path))
            // The message does not name unreadable places: a page that may not be read looks like a
            // missing one.
            .or_else(|| (!self.reads.admits_place(locale, path)).then(|| hidden("at this path")))
    }

    /// A page with a tag that hides pages could be written once and never be seen again.
    fn fault_of_tags(&self, change: &Change) -> Option<Failure> {
        let mut states = change.before().into_iter().chain(change.after());
        let is_hidden = |page: &PageState| !self.reads.admits_tags(&page.tags);
        let is_any = states.any(is_hidden);
        is_any.then(|| hidden("with one of these tags"))
    }

    /// True if the path is the trash place of the page that the change moves there or back.
    fn is_trash(&self, change: &Change, path: &PagePath) -> bool {
        let ends = change.before().zip(change.after());
        let Some((trash, (before, after))) = self.trash.as_ref().zip(ends) else {
            return false;
        };
        let is_end = |end: &PageState, other: &PageState| {
            end.path == *path && trash.is_place_of(path, other)
        };
        let fields = before.difference(after);
        let is_of_trash = |field: &Field| matches!(field, Field::Path | Field::IsPublished);
        fields.iter().all(is_of_trash) && (is_end(before, after) || is_end(after, before))
    }

    fn denies(&self, locale: &Locale, path: &PagePath) -> Option<Failure> {
        let (locale, path) = fold_place(locale, path);
        let holds = |prefix: &Prefix| prefix.folded().holds(&locale, &path);
        let message = "The operator denies writes at this path.";
        let is_denied = self.denied.iter().any(holds);
        is_denied.then(|| Failure::new(Code::PathDenied, message))
    }

    fn does_not_allow(&self, locale: &Locale, path: &PagePath) -> Option<Failure> {
        let prefixes = self.allowed.as_ref()?;
        if !path.climbs() && prefixes.iter().any(|prefix| prefix.holds(locale, path)) {
            return None;
        }
        let names: Vec<String> = prefixes.iter().map(ToString::to_string).collect();
        let message = "This path lies outside the prefixes that may be written.";
        Some(Failure::new(Code::PathNotAllowed, message).detail("allowed", names))
    }
}

fn hidden(which: &str) -> Failure {
    let message = format!("Pages {which} may not be read here, so they may not be written.");
    Failure::new(Code::PathNotAllowed, message)
        .hint("Write elsewhere: the operator sets which pages may be read.")
}

#[cfg(test)]
mod tests {
    use crate::change::Change;
    use crate::error::Code;
    use crate::gates::Policy;
    use crate::page::testing::But as _;
    use crate::page::{
        Locale, PagePath, PageState, Prefix, ReadRule, ReadScope, Trash, testing::at,
    };

    fn policy(allowed: Option<&[&str]>, denied: &[&str]) -> Policy {
        let parse = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| Prefix::parse(text).expect(text))
                .collect()
        };
        Policy {
            allowed: allowed.map(parse),
            denied: parse(denied),
            ..Policy::default()
        }
    }

    fn code(policy: &Policy, locale: &str, path: &str) -> Option<Code> {
        let (locale, path) = (Locale::as_stored(locale), PagePath::as_stored(path));
        let fault = policy.denies(&locale, &path);
        let fault = fault.or_else(|| policy.does_not_allow(&locale, &path));
        fault.map(|failure| failure.code)
    }

    #[test]
    fn whole_segments_of_the_allowed_prefix_pass_and_nothing_beside() {
        let policy = policy(Some(&["docs", "de:handbuch"]), &[]);
        for (locale, path) in [
            ("en", "docs"),
            ("en", "docs/a/b"),
            ("fr", "docs/a"),
            ("de", "handbuch/x"),
        ] {
            assert_eq!(code(&policy, locale, path), None, "{locale} {path}");
        }
        for (locale, path) in [
            ("en", "docs-old"),
            ("en", "Docs/a"),
            ("en", "DOCS"),
            ("en", "doc"),
            ("en", ""),
            ("en", "/docs"),
            ("en", "x/docs"),
            ("en", "docs/../secret"),
            ("en", "docs/./a"),
            ("en", "docs%2Fa"),
            ("en", "d\u{43E}cs/a"),
            ("en", "docs\u{200B}/a"),
            ("en", "handbuch/x"),
            ("DE", "handbuch/x"),
        ] {
            assert_eq!(
                code(&policy, locale, path),
                Some(Code::PathNotAllowed),
                "{locale} {path}"
            );
        }
    }

    #[test]
    fn a_denied_prefix_wins_in_any_spelling() {
        let policy = policy(Some(&["docs"]), &["docs/caf\u{e9}", "de:docs/x"]);
        for (locale, path) in [
            ("en", "docs/caf\u{e9}"),
            ("en", "docs/CAF\u{c9}/a"),
            ("en", "docs/cafe\u{301}/a"),
            ("en", "Docs/Caf\u{e9}"),
            ("de", "docs/X/y"),
            ("DE", "docs/x"),
            ("en", "docs/caf\u{e9}/"),
            ("en", "doc\u{17f}/caf\u{e9}"),
        ] {
            assert_eq!(
                code(&policy, locale, path),
                Some(Code::PathDenied),
                "{locale} {path}"
            );
        }
        assert_eq!(code(&policy, "en", "docs/cafes"), None);
        assert_eq!(code(&policy, "en", "docs/x"), None);
    }

    /// The code of the reason why a change may not be made.
    fn fault(policy: &Policy, change: &Change) -> Option<Code> {
        policy.fault_of(change).map(|failure| failure.code)
    }

    #[test]
    fn the_trash_takes_a_removed_page_alone_wherever_else_may_be_written() {
        let policy = policy(Some(&["docs"]), &[])
            .but(|it| it.trash = Some(Trash::parse("trash").expect("a path")));
        let page = at("docs/a");
        let place = "trash/1-docs/a";
        let removed = at(place).but(|it| it.is_published = false);
        let between =
            |before: &PageState, after: &PageState| Change::between(before.clone(), after.clone());
        assert_eq!(fault(&policy, &between(&page, &removed)), None);
        assert_eq!(fault(&policy, &between(&removed, &page)), None);
        let refused = Some(Code::PathNotAllowed);
        let retitled = removed.clone().but(|it| it.title = "Other".to_owned());
        let elsewhere = at("trash/2-docs/a");
        let outside = at("secret/a");
        for (before, after) in [
            (&page, &retitled),
            (&retitled, &page),
            (&page, &elsewhere),
            (&outside, &at("trash/1-secret/a")),
            (&page, &outside),
        ] {
            assert_eq!(
                fault(&policy, &between(before, after)),
                refused,
                "{after:?}"
            );
        }
        assert_eq!(fault(&policy, &Change::delete(removed.clone())), refused);
        let bare = policy.but(|it| it.trash = None);
        assert_eq!(fault(&bare, &between(&page, &removed)), refused);
    }

    #[test]
    fn what_may_not_be_read_may_not_be_written_by_its_path_or_its_tags() {
        let secret = Prefix::parse("secret").expect("a prefix");
        let rule = ReadRule::new(None, vec![secret], &["hidden".to_owned()]);
        let policy = Policy::default().but(|it| it.reads = ReadScope::default().narrowed_by(&rule));
        let tagged = at("docs/a").but(|it| it.tags = vec!["hidden".to_owned()]);
        let refused = Some(Code::PathNotAllowed);
        assert_eq!(fault(&policy, &Change::delete(at("docs/a"))), None);
        assert_eq!(fault(&policy, &Change::delete(at("secret/a"))), refused);
        assert_eq!(fault(&policy, &Change::recreate(tagged.clone())), refused);
        assert_eq!(
            fault(&policy, &Change::between(tagged, at("docs/a"))),
            refused
        );
    }

    #[test]
    fn a_fault_names_the_place() {
        let policy = policy(Some(&["docs"]), &[]);
        let change = Change::between(at("docs/a"), at("other/b"));
        let failure = policy.fault_of(&change).expect("a fault");
        assert_eq!(failure.details["path"], "other/b");
        assert_eq!(failure.details["locale"], "en");
    }
}
