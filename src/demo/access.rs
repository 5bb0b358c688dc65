//! Models the rights of a key.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::demo::WikiError;

/// The permission that includes all others.
const EVERYTHING: &str = "manage:system";

/// Permissions, and the beginning of the paths that they hold for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Grant {
    permissions: BTreeSet<String>,
    prefix: String,
}

/// The rights of one caller: the sum of what is granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Access {
    grants: Vec<Grant>,
    /// True if the caller has no key, or none that the wiki knows.
    pub(super) is_guest: bool,
    /// True if the key expired within the renewal time.
    pub(super) has_just_expired: bool,
}

impl Access {
    /// These permissions on every path that begins with `prefix`.
    ///
    /// The comparison is the wiki's own page rule of the kind START: of
    /// characters, not of segments.
    pub(super) fn new(permissions: &[&str], prefix: &str) -> Self {
        Self::of(&[(permissions, prefix)])
    }

    /// All of these, each on every path that begins with its prefix.
    pub(super) fn of(grants: &[(&[&str], &str)]) -> Self {
        let grants = grants.iter().map(|(permissions, prefix)| Grant {
            permissions: permissions.iter().map(|p| (*p).to_owned()).collect(),
            prefix: (*prefix).to_owned(),
        });
        Self {
            grants: grants.collect(),
            is_guest: false,
            has_just_expired: false,
        }
    }

    /// The rights of a caller without a key.
    pub(super) fn guest() -> Self {
        Self {
            is_guest: true,
            ..Self::new(&["read:pages", "read:comments", "read:assets"], "")
        }
    }

    /// The rights of a key that expired within the wiki's renewal time: none at all, not even a
    /// guest's (W3).
    pub(super) fn just_expired() -> Self {
        Self {
            is_guest: true,
            has_just_expired: true,
            ..Self::new(&[], "")
        }
    }

    /// Full access.
    pub(super) fn full() -> Self {
        Self::new(&[EVERYTHING], "")
    }

    /// True if the caller has one of `permissions` on any path at all.
    pub(super) fn has(&self, permissions: &[&str]) -> bool {
        self.is_full() || self.grants.iter().any(|grant| grant.has(permissions))
    }

    /// True if the caller has one of `permissions` on `path`.
    pub(super) fn may(&self, permissions: &[&str], path: &str) -> bool {
        let holds = |grant: &Grant| grant.has(permissions) && path.starts_with(&grant.prefix);
        self.is_full() || self.grants.iter().any(holds)
    }

    /// Refuses whoever lacks `permission` on `path`.
    pub(super) fn demand(
        &self,
        permission: &str,
        path: &str,
        refusal: WikiError,
    ) -> Result<(), WikiError> {
        self.may(&[permission], path).then_some(()).ok_or(refusal)
    }

    /// The rights at `path` as the wiki's HTML states them, in Base64.
    pub(super) fn effective(&self, path: &str) -> String {
        let may = |permission| self.may(&[permission], path);
        let rights = json!({
            "comments": {
                "read": may("read:comments"),
                "write": may("write:comments"),
                "manage": may("manage:comments"),
            },
            "history": {"read": may("read:history")},
            "source": {"read": may("read:source")},
            "pages": {
                "read": may("read:pages"),
                "write": may("write:pages"),
                "manage": may("manage:pages"),
                "delete": may("delete:pages"),
                "script": may("write:scripts"),
                "style": may("write:styles"),
            },
            "system": {"manage": may("manage:system")},
        });
        STANDARD.encode(rights.to_string())
    }

    fn is_full(&self) -> bool {
        self.grants.iter().any(|grant| grant.has(&[EVERYTHING]))
    }
}

impl Grant {
    fn has(&self, permissions: &[&str]) -> bool {
        permissions.iter().any(|p| self.permissions.contains(*p))
    }
}

#[cfg(test)]
mod tests {
    use super::Access;

    #[test]
    fn a_prefix_is_of_characters_as_in_the_wiki() {
        let access = Access::new(&["read:pages"], "docs");
        assert!(access.may(&["read:pages"], "docs/alpha"));
        assert!(access.may(&["read:pages"], "docs-old"));
        assert!(!access.may(&["read:pages"], "blog"));
        assert!(!access.may(&["write:pages"], "docs/alpha"));
    }

    #[test]
    fn several_grants_add_up_each_on_its_paths() {
        let access = Access::of(&[
            (&["read:pages"], ""),
            (&["read:pages", "write:pages"], "docs"),
        ]);
        assert!(access.may(&["read:pages"], "blog"));
        assert!(access.may(&["write:pages"], "docs/alpha"));
        assert!(!access.may(&["write:pages"], "blog"));
    }

    #[test]
    fn full_access_is_bound_by_no_prefix() {
        assert!(Access::full().may(&["write:pages"], "anything"));
    }
}
