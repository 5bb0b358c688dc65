//! Limits of one client, on top of the server's own.

use std::time::Duration;

use super::{Authority, Fallback, Policy, SetBy, WritePolicy};
use crate::page::{Prefix, ReadRule};

/// Limits of one client, on top of the server's own. The default limits nothing.
#[derive(Debug, Clone, Default)]
pub struct ClientLimits {
    /// It writes nothing.
    pub is_read_only: bool,
    /// Its writes end as previews.
    pub is_dry_run: bool,
    /// A person says yes to each of its writes, within this time.
    pub person: Option<Duration>,
    /// It writes only below these prefixes.
    pub prefixes: Option<Vec<Prefix>>,
    /// It reads only within this.
    pub reads: ReadRule,
}

impl Policy {
    /// The policy narrowed to a client's limits. It never allows more than before.
    ///
    /// A person's yes takes the place of a preview's token, never of the operator's static
    /// token: a client that needs both can confirm nothing, so its writes end as previews.
    pub fn narrowed_by(&self, narrowing: &ClientLimits) -> Self {
        let mut policy = self.clone();
        if let Some(limit) = narrowing.person {
            policy = policy.with_person(limit);
        }
        if narrowing.is_dry_run {
            policy = policy.at_least(WritePolicy::DryRun, SetBy::grant("dry-run"));
        }
        if narrowing.is_read_only {
            policy = policy.at_least(WritePolicy::Off, SetBy::grant("read-only"));
        }
        if let Some(own) = &narrowing.prefixes {
            policy.allowed = Some(match &self.allowed {
                None => own.clone(),
                Some(allowed) => own
                    .iter()
                    .flat_map(|own| allowed.iter().filter_map(|prefix| prefix.and(own)))
                    .collect(),
            });
        }
        policy.reads = policy.reads.narrowed_by(&narrowing.reads);
        policy
    }

    /// The same policy for a client to each of whose writes a person says yes.
    fn with_person(self, limit: Duration) -> Self {
        let line = SetBy::grant("confirm");
        let person = |limit| WritePolicy::Person {
            limit,
            fallback: Fallback::None,
        };
        match self.writes {
            WritePolicy::Preview => self.at_least(person(limit), line),
            // The server's time holds; what holds for clients that cannot ask does not.
            WritePolicy::Person { limit, .. } => self.at_least(person(limit), line),
            WritePolicy::Token(_) => self.at_least(WritePolicy::DryRun, line),
            // A person decides anyway, or nothing is written.
            WritePolicy::Review { .. } | WritePolicy::DryRun | WritePolicy::Off => self,
        }
    }

    /// The policy for a reviewer: a yes on the review page confirms a write. A dry run stays one for
    /// those who may not apply in it, and a pause stops them all.
    pub fn for_reviewer(&self, narrowing: &ClientLimits, ends_dry_run: bool) -> Self {
        self.narrowed_by(narrowing)
            .for_authority(Authority::Reviewer { ends_dry_run })
    }
}

#[cfg(test)]
mod tests {
    use crate::page::testing::But as _;
    use std::time::Duration;

    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::ClientLimits;
    use crate::gates::{Fallback, Policy, PolicyLevel, StaticToken, WritePolicy};
    use crate::page::{Locale, PagePath, Prefix, ReadRule};

    fn path() -> impl Strategy<Value = String> {
        vec(prop_oneof!["a", "b", "ab"], 1..4).prop_map(|segments| segments.join("/"))
    }

    fn prefixes() -> impl Strategy<Value = Vec<Prefix>> {
        let prefix = (option::of(prop_oneof!["en", "de"]), path()).prop_map(|(locale, path)| {
            let text = locale.map_or(path.clone(), |locale| format!("{locale}:{path}"));
            Prefix::parse(&text).expect("a prefix")
        });
        vec(prefix, 0..3)
    }

    fn writes() -> impl Strategy<Value = WritePolicy> {
        let limit = Duration::from_secs(5);
        let person = move |fallback| WritePolicy::Person { limit, fallback };
        prop_oneof![
            Just(WritePolicy::Off),
            Just(WritePolicy::DryRun),
            Just(WritePolicy::Preview),
            Just(WritePolicy::Token(
                StaticToken::new("open sesame, please".into()).expect("long")
            )),
            Just(person(Fallback::None)),
            Just(person(Fallback::Preview)),
            Just(person(Fallback::Proposal)),
            Just(WritePolicy::Review { limit }),
        ]
    }

    fn policy() -> impl Strategy<Value = Policy> {
        let parts = (writes(), option::of(prefixes()));
        parts.prop_map(|(writes, allowed)| Policy {
            writes,
            allowed,
            ..Policy::default()
        })
    }

    fn narrowing() -> impl Strategy<Value = ClientLimits> {
        let parts = (
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
            option::of(prefixes()),
        );
        parts.prop_map(
            |(is_read_only, is_dry_run, person, prefixes)| ClientLimits {
                is_read_only,
                is_dry_run,
                person: person.then_some(Duration::from_secs(9)),
                prefixes,
                reads: ReadRule::default(),
            },
        )
    }

    fn holds(prefixes: Option<&Vec<Prefix>>, locale: &Locale, path: &PagePath) -> bool {
        prefixes.is_none_or(|all| all.iter().any(|prefix| prefix.holds(locale, path)))
    }

    proptest! {
        #[test]
        fn a_client_may_never_do_more_than_the_server_nor_than_it_was_given(
            policy in policy(),
            narrowing in narrowing(),
            locale in prop_oneof!["en", "de", "fr"],
            path in path(),
        ) {
            let narrowed = policy.narrowed_by(&narrowing);
            prop_assert!(!policy.writes.is_stricter_than(&narrowed.writes));
            let level = narrowed.writes.level();
            prop_assert!(!narrowing.is_read_only || level == PolicyLevel::Off);
            prop_assert!(!narrowing.is_dry_run || level >= PolicyLevel::DryRun);
            prop_assert!(narrowing.person.is_none() || level >= PolicyLevel::Person);
            let is_narrowed = narrowed.writes.is_stricter_than(&policy.writes);
            prop_assert_eq!(is_narrowed, narrowed.set_by != policy.set_by);
            prop_assert_eq!(&narrowed.denied, &policy.denied);
            let (locale, path) = (Locale::as_stored(locale), PagePath::as_stored(path));
            prop_assert_eq!(
                holds(narrowed.allowed.as_ref(), &locale, &path),
                holds(policy.allowed.as_ref(), &locale, &path)
                    && holds(narrowing.prefixes.as_ref(), &locale, &path)
            );
            for can_ask in [true, false] {
                let (own, server) = (narrowed.clone(), policy.clone());
                let (own, server) = (own.for_caller(can_ask), server.for_caller(can_ask));
                // Where nobody can be asked, a write that needs a person's yes is refused.
                let is_refused = !can_ask && own.writes.level() == PolicyLevel::Person;
                prop_assert!(is_refused || !server.writes.is_stricter_than(&own.writes));
            }
        }
    }

    #[test]
    fn a_reviewer_confirms_by_the_page_and_ends_a_dry_run_only_where_that_was_granted() {
        let limit = Duration::from_secs(5);
        for (writes, may_apply, expected) in [
            (WritePolicy::Off, true, PolicyLevel::Off),
            (WritePolicy::DryRun, false, PolicyLevel::DryRun),
            (WritePolicy::DryRun, true, PolicyLevel::Preview),
            (WritePolicy::Review { limit }, false, PolicyLevel::Preview),
            (WritePolicy::Preview, false, PolicyLevel::Preview),
        ] {
            let policy = Policy::default().but(|it| it.writes = writes);
            let narrowing = ClientLimits::default()
                .but(|it| it.prefixes = Some(vec![Prefix::parse("docs").expect("a prefix")]));
            let own = policy.for_reviewer(&narrowing, may_apply);
            assert_eq!(own.writes.level(), expected, "{policy:?} {may_apply}");
            assert!(own.authority.decides() && !own.authority.passes_pause());
            assert_eq!(own.allowed, narrowing.prefixes);
        }
    }
}
