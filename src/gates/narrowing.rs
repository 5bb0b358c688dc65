//! Limits of one client, on top of the server's own.

use std::time::Duration;

use super::policy::{ConfirmMode, Fallback, Policy};
use crate::page::{Prefix, ReadRule};

/// Limits of one client, on top of the server's own. The default limits nothing.
#[derive(Debug, Clone, Default)]
pub struct Narrowing {
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
    #[must_use]
    pub fn narrowed_by(&self, narrowing: &Narrowing) -> Self {
        let mut policy = self.clone();
        policy.is_enabled &= !narrowing.is_read_only;
        policy.is_dry_run |= narrowing.is_dry_run;
        if let Some(limit) = narrowing.person {
            match &mut policy.confirm {
                ConfirmMode::Preview => {
                    policy.confirm = ConfirmMode::Person {
                        limit,
                        fallback: Fallback::None,
                    };
                }
                ConfirmMode::Person { fallback, .. } => *fallback = Fallback::None,
                ConfirmMode::Token(_) | ConfirmMode::Operator => policy.is_dry_run = true,
                // A person decides anyway.
                ConfirmMode::Review { .. } => {}
            }
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

    /// The policy for a reviewer: a yes on the review page confirms a write. A dry run stays one for
    /// those who may not apply in it, and a pause stops them all.
    #[must_use]
    pub fn for_reviewer(&self, narrowing: &Narrowing, may_apply_in_dry_run: bool) -> Self {
        let policy = self.narrowed_by(narrowing);
        Self {
            is_dry_run: policy.is_dry_run && !may_apply_in_dry_run,
            confirm: ConfirmMode::Operator,
            ..policy
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::Narrowing;
    use crate::gates::{ConfirmMode, Fallback, Policy, StaticToken};
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

    fn confirm() -> impl Strategy<Value = ConfirmMode> {
        let limit = Duration::from_secs(5);
        let person = move |fallback| ConfirmMode::Person { limit, fallback };
        prop_oneof![
            Just(ConfirmMode::Preview),
            Just(ConfirmMode::Token(
                StaticToken::new("open sesame, please".into()).expect("long")
            )),
            Just(person(Fallback::None)),
            Just(person(Fallback::Preview)),
        ]
    }

    fn policy() -> impl Strategy<Value = Policy> {
        let parts = (
            any::<bool>(),
            any::<bool>(),
            confirm(),
            option::of(prefixes()),
        );
        parts.prop_map(|(is_enabled, is_dry_run, confirm, allowed)| Policy {
            is_enabled,
            is_dry_run,
            confirm,
            allowed,
            ..Policy::default()
        })
    }

    fn narrowing() -> impl Strategy<Value = Narrowing> {
        let parts = (
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
            option::of(prefixes()),
        );
        parts.prop_map(|(is_read_only, is_dry_run, person, prefixes)| Narrowing {
            is_read_only,
            is_dry_run,
            person: person.then_some(Duration::from_secs(9)),
            prefixes,
            reads: ReadRule::default(),
        })
    }

    fn holds(prefixes: Option<&Vec<Prefix>>, locale: &Locale, path: &PagePath) -> bool {
        prefixes.is_none_or(|all| all.iter().any(|prefix| prefix.holds(locale, path)))
    }

    /// How strict a way to confirm is; a person is stricter than a preview.
    fn weight(policy: &Policy, can_ask: bool) -> u8 {
        match policy.for_client(can_ask).confirm {
            ConfirmMode::Preview => 0,
            ConfirmMode::Person { .. } => 1,
            ConfirmMode::Token(_) => 2,
            ConfirmMode::Operator => 3,
        }
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
            prop_assert!(!narrowed.is_enabled || (policy.is_enabled && !narrowing.is_read_only));
            prop_assert!(narrowed.is_dry_run || !(policy.is_dry_run || narrowing.is_dry_run));
            prop_assert_eq!(&narrowed.denied, &policy.denied);
            let (locale, path) = (Locale::as_stored(locale), PagePath::as_stored(path));
            prop_assert_eq!(
                holds(narrowed.allowed.as_ref(), &locale, &path),
                holds(policy.allowed.as_ref(), &locale, &path)
                    && holds(narrowing.prefixes.as_ref(), &locale, &path)
            );
            for can_ask in [true, false] {
                prop_assert!(weight(&narrowed, can_ask) >= weight(&policy, can_ask));
                let is_asked = weight(&narrowed, can_ask) == 1 || narrowed.is_dry_run;
                prop_assert!(narrowing.person.is_none() || is_asked);
            }
        }
    }

    #[test]
    fn a_reviewer_confirms_by_the_page_and_ends_a_dry_run_only_where_that_was_granted() {
        for (is_dry_run, may_apply, still_dry) in [
            (true, false, true),
            (true, true, false),
            (false, false, false),
            (false, true, false),
        ] {
            let policy = Policy {
                is_enabled: true,
                is_dry_run,
                ..Policy::default()
            };
            let narrowing = Narrowing {
                prefixes: Some(vec![Prefix::parse("docs").expect("a prefix")]),
                ..Narrowing::default()
            };
            let own = policy.for_reviewer(&narrowing, may_apply);
            assert_eq!(own.is_dry_run, still_dry, "{is_dry_run} {may_apply}");
            assert!(matches!(own.confirm, ConfirmMode::Operator));
            assert!(own.is_enabled);
            assert_eq!(own.allowed, narrowing.prefixes);
        }
    }
}
