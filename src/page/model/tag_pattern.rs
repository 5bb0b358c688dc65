//! Tags by a pattern: `proj/*`.

/// A tag, or several by a pattern in which `*` stands for any text.
///
/// ```
/// use wikijs_gate_core::page::TagPattern;
///
/// assert!(TagPattern::new("proj/*").matches("proj/alpha/x"));
/// assert!(!TagPattern::new("proj/*").matches("proj"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagPattern(String);

impl TagPattern {
    /// A pattern, in lower case as tags are.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// The pattern.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True if a text is a pattern for more than one tag.
    pub fn is_one(text: &str) -> bool {
        text.contains('*')
    }

    /// True if it matches a tag; in time by the lengths alone.
    pub fn matches(&self, tag: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = tag.strip_prefix(first) else {
            return false;
        };
        let Some(last) = parts.next_back() else {
            return rest.is_empty();
        };
        for part in parts {
            let Some(at) = rest.find(part) else {
                return false;
            };
            rest = rest.get(at + part.len()..).unwrap_or_default();
        }
        rest.ends_with(last)
    }
}

#[cfg(test)]
mod tests {
    use super::TagPattern;

    #[test]
    fn a_star_stands_for_any_text_and_nothing_else_is_special() {
        for (pattern, tag, wanted) in [
            ("proj/*", "proj/a", true),
            ("proj/*", "proj/", true),
            ("proj/*", "proj", false),
            ("*", "", true),
            ("*/x", "a/b/x", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("ab*ba", "aba", false),
            ("a?[b]", "a?[b]", true),
            ("a?", "ab", false),
            ("a", "ab", false),
        ] {
            assert_eq!(
                TagPattern::new(pattern).matches(tag),
                wanted,
                "{pattern} {tag}"
            );
        }
    }
}
