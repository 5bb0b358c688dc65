//! Models the owner of a memory.

use serde::{Deserialize, Serialize};

/// The longest key of an owner in bytes, and the longest name.
const MAX: usize = 300;
/// The key of the owner that all clients of a site share.
const SITE: &str = "site";

/// The owner of a memory: one client, or all clients of the site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryOwner {
    /// The key that identifies it. It outlives names and tokens of a named client.
    pub key: String,
    /// The name to show.
    pub name: String,
}

impl MemoryOwner {
    /// The owner that all clients of the site share.
    pub fn site() -> Self {
        Self {
            key: SITE.to_owned(),
            name: SITE.to_owned(),
        }
    }

    /// A client with this identity and name.
    pub fn client(key: &str, name: &str) -> Self {
        let fit = |text: &str| -> String {
            let plain = text.chars().filter(|c| !c.is_control());
            let mut fit: String = plain.collect();
            fit.truncate(fit.floor_char_boundary(MAX));
            fit
        };
        Self {
            key: fit(key),
            name: fit(name),
        }
    }

    /// True if a text can be an owner's key or name.
    pub fn is_fit(text: &str) -> bool {
        (1..=MAX).contains(&text.len()) && !text.chars().any(char::is_control)
    }

    /// True if this text names this owner: its key, or its name in any letter case.
    pub fn is_called(&self, text: &str) -> bool {
        self.key == text || self.name.to_lowercase() == text.to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::MemoryOwner;

    #[test]
    fn an_owner_is_called_by_key_or_name_and_neither_is_endless() {
        let owner = MemoryOwner::client("user:1000/\nclaude", &"é".repeat(400));
        assert_eq!(owner.key, "user:1000/claude");
        assert_eq!(owner.name, "é".repeat(150));
        assert!(owner.is_called("user:1000/claude") && owner.is_called(&"É".repeat(150)));
        assert!(!owner.is_called("USER:1000/claude"));
        assert!(
            MemoryOwner::is_fit("a") && !MemoryOwner::is_fit("") && !MemoryOwner::is_fit("a\u{1b}")
        );
    }
}
