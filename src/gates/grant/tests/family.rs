//! A delegate may never do more than its maker, nor than it was given.

use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::gates::grant::{ClientConfirm, Grant};
use crate::gates::{Policy, PolicyLevel, WritePolicy};
use crate::page::testing::But as _;
use crate::page::{Locale, PagePath, ReadScope};

fn path() -> impl Strategy<Value = String> {
    vec(prop_oneof!["a", "b", "ab", "A"], 1..4).prop_map(|segments| segments.join("/"))
}

fn prefixes() -> impl Strategy<Value = Option<Vec<String>>> {
    let prefix = (option::of(prop_oneof!["en", "de"]), path()).prop_map(|(locale, path)| {
        locale.map_or(path.clone(), |locale| format!("{locale}:{path}"))
    });
    option::of(vec(prefix, 0..3))
}

fn words(of: &'static str) -> impl Strategy<Value = Option<Vec<String>>> {
    option::of(vec(of.prop_map(String::from), 0..3))
}

fn expires() -> impl Strategy<Value = Option<String>> {
    option::of((2020..2040_i32).prop_map(|year| format!("{year}-01-01T00:00:00Z")))
}

fn grant() -> impl Strategy<Value = Grant> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let places = (prefixes(), prefixes(), prefixes(), words("[xyz*]"));
    let more = (words("[rst]"), option::of(1..200_u32), expires());
    (flags, places, more).prop_map(|(flags, places, (tools, rate, expires))| {
        let (read_only, dry_run, asks, may_apply_in_dry_run) = flags;
        let (prefixes, read_prefixes, denied_read_prefixes, denied_read_tags) = places;
        Grant {
            sites: None,
            read_only,
            tools,
            prefixes,
            read_prefixes,
            denied_read_prefixes,
            denied_read_tags,
            dry_run,
            confirm: asks.then_some(ClientConfirm::Person),
            may_apply_in_dry_run,
            rate,
            expires,
        }
    })
}

/// The rights that a grant gives at a place, each word for itself: more is never less than `false`.
#[derive(Debug, PartialEq, Eq)]
struct GrantedRights {
    writes: bool,
    sends: bool,
    sends_unasked: bool,
    writes_there: bool,
    reads_there: bool,
    reads_tagged: bool,
    calls: bool,
    applies: bool,
}

impl GrantedRights {
    fn by(grant: &Grant, locale: &str, path: &str, tag: &str, tool: &str) -> Self {
        let narrowing = grant.narrowing(Duration::from_secs(9)).expect("a meaning");
        let open = Policy::default().but(|policy| policy.writes = WritePolicy::Preview);
        let policy = open.narrowed_by(&narrowing);
        let (locale, path) = (Locale::as_stored(locale), PagePath::as_stored(path));
        let reads = ReadScope::new(&narrowing.reads);
        let allowed = policy.allowed.as_ref();
        Self {
            writes: policy.writes.level() != PolicyLevel::Off,
            sends: policy.may_write(),
            sends_unasked: narrowing.person.is_none(),
            writes_there: allowed
                .is_none_or(|all| all.iter().any(|prefix| prefix.holds(&locale, &path))),
            reads_there: reads.admits_place(&locale, &path),
            reads_tagged: reads.admits_tags(&[tag.to_owned()]),
            calls: grant
                .tools
                .as_ref()
                .is_none_or(|all| all.iter().any(|name| name == tool)),
            applies: grant.may_apply_in_dry_run,
        }
    }

    fn and(&self, other: &Self) -> Self {
        Self {
            writes: self.writes && other.writes,
            sends: self.sends && other.sends,
            sends_unasked: self.sends_unasked && other.sends_unasked,
            writes_there: self.writes_there && other.writes_there,
            reads_there: self.reads_there && other.reads_there,
            reads_tagged: self.reads_tagged && other.reads_tagged,
            calls: self.calls && other.calls,
            applies: self.applies && other.applies,
        }
    }
}

proptest! {
    #[test]
    fn a_delegate_may_do_exactly_what_it_and_its_maker_both_may(
        own in grant(),
        maker in grant(),
        locale in prop_oneof!["en", "de", "fr"],
        path in path(),
        tag in "[xyz]",
        tool in "[rst]",
    ) {
        let delegate = own.within(&maker).expect("a grant");
        let by = |grant: &Grant| GrantedRights::by(grant, &locale, &path, &tag, &tool);
        prop_assert_eq!(by(&delegate), by(&own).and(&by(&maker)));
        let least = |one: Option<u32>, other: Option<u32>| one.into_iter().chain(other).min();
        prop_assert_eq!(delegate.rate, least(own.rate, maker.rate));
        let end = |grant: &Grant| grant.ends().expect("a time");
        let first = end(&own).into_iter().chain(end(&maker)).min();
        prop_assert_eq!(end(&delegate), first);
        let again = delegate.within(&maker).expect("a grant");
        prop_assert_eq!(by(&again), by(&delegate));
    }
}

#[test]
fn the_sites_of_a_delegate_are_its_makers() {
    let maker = Grant::default().but(|grant| grant.sites = Some(vec!["docs".to_owned()]));
    let wide =
        Grant::default().but(|grant| grant.sites = Some(vec!["docs".to_owned(), "hr".to_owned()]));
    assert_eq!(wide.within(&maker).expect("a grant").sites, maker.sites);
    assert_eq!(wide.within(&Grant::default()).expect("a grant").sites, None);
}

#[test]
fn a_word_that_cannot_be_meant_gives_no_delegate() {
    let broken = Grant::default().but(|it| it.prefixes = Some(vec!["a//b".to_owned()]));
    assert!(broken.within(&Grant::default()).is_err());
    assert!(Grant::default().within(&broken).is_err());
}
