//! The name of a site: one of several wikis of a settings file.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The name of a site, as it stands in the settings file, in addresses and on record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteName(Arc<str>);

impl SiteName {
    /// The most characters of a name.
    const MOST: usize = 32;

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SiteName {
    type Err = String;

    /// Reads a name, which goes into addresses and file names as it is.
    fn from_str(text: &str) -> Result<Self, String> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_name = (1..=Self::MOST).contains(&text.len())
            && text.chars().all(is_plain)
            && !text.starts_with('-');
        if is_name {
            Ok(Self(text.into()))
        } else {
            let most = Self::MOST;
            Err(format!(
                "a site's name is 1 to {most} small letters, digits and hyphens, and does not begin with a hyphen"
            ))
        }
    }
}

impl fmt::Display for SiteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::SiteName;

    #[test]
    fn a_name_is_plain() {
        for good in ["docs", "1", "team-a", &"x".repeat(32)] {
            let name: SiteName = good.parse().expect("a name");
            assert_eq!(name.to_string(), good);
        }
        for bad in ["", "-a", "Docs", "a.b", "a/b", "ä", &"x".repeat(33)] {
            assert!(bad.parse::<SiteName>().is_err(), "{bad:?}");
        }
    }
}
