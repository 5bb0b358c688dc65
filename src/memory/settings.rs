//! Models the memory mode: which clients share memories.

/// The mode of memory: which clients share memories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MemoryMode {
    /// Each client has its own.
    #[default]
    Client,
    /// All clients of a site share theirs.
    Site,
    /// Nothing is remembered.
    Off,
}

impl MemoryMode {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Client, Self::Site, Self::Off];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Site => "site",
            Self::Off => "off",
        }
    }

    /// The mode of this word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == word)
    }
}
