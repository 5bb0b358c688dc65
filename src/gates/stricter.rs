//! Compares two policies: which gates of the one are stricter than those of the other.

use super::{Policy, PolicyLevel, WritePolicy};
use crate::page::Prefix;

impl Policy {
    /// The settings and tables, by their names in the settings file, that make this policy stricter
    /// than another. What cannot be compared, and differs, counts as stricter.
    pub fn stricter_than(&self, other: &Self) -> Vec<&'static str> {
        let has_new_rule = |policy: &Self| {
            let mut rules = policy.rules.rules();
            rules.any(|rule| !other.rules.rules().any(|known| known == rule))
        };
        let is_new_check = |check| !other.checks.contains(check);
        let mut found = Vec::new();
        let mut note = |name, is_stricter| found.extend(Some(name).filter(|_| is_stricter));
        let (own, its) = (&self.writes, &other.writes);
        note(name_of(own), refuses_more(own, its));
        let reads_only = self.read_only.is_some() && other.read_only.is_none();
        note("read_only", reads_only);
        let (own, its) = (self.allowed.as_deref(), other.allowed.as_deref());
        note(
            "allowed_mutation_path_prefixes",
            Prefix::allow_less(own, its),
        );
        let is_denied_already = Prefix::all_covered(&self.denied, &other.denied);
        note("denied_mutation_path_prefixes", !is_denied_already);
        note("read limits", !self.reads.admits_all_of(&other.reads));
        let loses_trash = other.trash.is_some() && self.trash != other.trash;
        note("trash_prefix", loses_trash);
        let loses_uploads = other.uploads.is_some() && self.uploads != other.uploads;
        note("upload_dir", loses_uploads);
        note("rules", has_new_rule(self));
        note("checks", self.checks.iter().any(is_new_check));
        found
    }
}

/// The setting that brings a level about.
const fn name_of(writes: &WritePolicy) -> &'static str {
    match writes.level() {
        PolicyLevel::Off => "mutations_enabled",
        PolicyLevel::DryRun => "mutation_dry_run",
        PolicyLevel::Review | PolicyLevel::Person | PolicyLevel::Token | PolicyLevel::Preview => {
            "confirm"
        }
    }
}

/// True if a policy refuses a write that another confirms.
fn refuses_more(own: &WritePolicy, other: &WritePolicy) -> bool {
    match (own, other) {
        (WritePolicy::Token(own), WritePolicy::Token(other)) => own != other,
        // The holder of the token and the person who says yes need not be the same.
        (WritePolicy::Token(_), WritePolicy::Person { .. }) => true,
        (own, other) => own.is_stricter_than(other),
    }
}

#[cfg(test)]
mod tests {
    use crate::page::testing::But as _;
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::time::Duration;

    use super::{Policy, WritePolicy};
    use crate::gates::{Fallback, Layer, SetBy, StaticToken};
    use crate::page::{Prefix, ReadRule, ReadScope, Trash};
    use crate::rules::{Rule, RuleBook, RuleCondition, Then};

    fn prefixes(texts: &[&str]) -> Vec<Prefix> {
        let parse = |text: &&str| Prefix::parse(text).expect(text);
        texts.iter().map(parse).collect()
    }

    fn open() -> Policy {
        writes(WritePolicy::Preview)
    }

    fn writes(writes: WritePolicy) -> Policy {
        Policy::default().but(|it| it.writes = writes)
    }

    fn token(text: &str) -> WritePolicy {
        WritePolicy::Token(StaticToken::new(text.into()).expect("long"))
    }

    fn person(fallback: Fallback) -> WritePolicy {
        let limit = Duration::from_secs(5);
        WritePolicy::Person { limit, fallback }
    }

    fn rules(names: &[&str]) -> Arc<RuleBook> {
        let rule = |name: &&str| {
            Rule::new(*name, RuleCondition::default(), Then::Deny, "").expect("a rule")
        };
        Arc::new(RuleBook::new(names.iter().map(rule).collect(), &[]).expect("rules"))
    }

    #[test]
    fn each_gate_is_stricter_one_way_and_laxer_the_other() {
        let docs = || ReadScope::new(&ReadRule::new(Some(prefixes(&["docs"])), Vec::new(), &[]));
        let review = || WritePolicy::Review {
            limit: Duration::ZERO,
        };
        let two: [(&str, Policy, Policy); 16] = [
            ("mutations_enabled", open(), writes(WritePolicy::Off)),
            (
                "mutations_enabled",
                writes(WritePolicy::DryRun),
                writes(WritePolicy::Off),
            ),
            ("mutation_dry_run", open(), writes(WritePolicy::DryRun)),
            (
                "mutation_dry_run",
                writes(review()),
                writes(WritePolicy::DryRun),
            ),
            ("confirm", open(), writes(token("open sesame, please"))),
            (
                "confirm",
                writes(person(Fallback::Preview)),
                writes(person(Fallback::None)),
            ),
            ("confirm", writes(person(Fallback::None)), writes(review())),
            (
                "read_only",
                open(),
                open().but(|it| it.read_only = Some(open().set_by)),
            ),
            (
                "allowed_mutation_path_prefixes",
                open(),
                open().but(|it| it.allowed = Some(prefixes(&["docs"]))),
            ),
            (
                "allowed_mutation_path_prefixes",
                open().but(|it| it.allowed = Some(prefixes(&["docs", "hr"]))),
                open().but(|it| it.allowed = Some(prefixes(&["docs", "hr/open"]))),
            ),
            (
                "denied_mutation_path_prefixes",
                open().but(|it| it.denied = prefixes(&["hr/pay"])),
                open().but(|it| it.denied = prefixes(&["hr"])),
            ),
            ("read limits", open(), open().but(|it| it.reads = docs())),
            (
                "trash_prefix",
                open().but(|it| it.trash = Some(Trash::parse("trash").expect("one"))),
                open(),
            ),
            (
                "upload_dir",
                open().but(|it| it.uploads = Some(PathBuf::from("/a"))),
                open(),
            ),
            ("rules", open(), open().but(|it| it.rules = rules(&["a"]))),
            (
                "rules",
                open().but(|it| it.rules = rules(&["a"])),
                open().but(|it| it.rules = rules(&["b", "a"])),
            ),
        ];
        for (name, lax, strict) in two {
            assert_eq!(strict.stricter_than(&lax), [name]);
            assert_eq!(lax.stricter_than(&strict), Vec::<&str>::new(), "{name}");
            assert_eq!(strict.stricter_than(&strict), Vec::<&str>::new(), "{name}");
        }
    }

    #[test]
    fn another_static_token_confirms_nothing_that_the_first_did() {
        let of = |text: &str| writes(token(text));
        let (one, other) = (of("open sesame, please"), of("open sesame, thanks"));
        assert_eq!(one.stricter_than(&other), ["confirm"]);
        assert_eq!(other.stricter_than(&one), ["confirm"]);
        assert_eq!(of("open sesame, please"), one);
        assert_ne!(one, other);
    }

    #[test]
    fn where_people_decide_and_lines_stand_is_no_gate() {
        let review = crate::notify::ReviewAddress::parse("https://a.example/review").expect("one");
        let other = Policy { review, ..open() };
        assert_ne!(other, open());
        assert!(other.has_gates_of(&open()) && open().has_gates_of(&other));
        let moved = open().but(|it| it.set_by = SetBy::new("confirm", Layer::Default));
        assert!(moved != open() && moved.has_gates_of(&open()));
        assert!(!writes(WritePolicy::DryRun).has_gates_of(&open()));
    }
}
