//! Checks and normalizes paths as the wiki does (W16).

use crate::demo::WikiError;

/// The path as it is stored: one leading and one trailing slash are dropped.
///
/// Everything else that the wiki refuses is refused here; what it should
/// refuse and does not (reserved words, percent signs, an empty path) passes.
pub(super) fn accept(path: &str) -> Result<String, WikiError> {
    let refused = [".", " ", "\\", "//"];
    if refused.iter().any(|part| path.contains(part)) {
        return Err(WikiError::PageIllegalPath);
    }
    let path = path.strip_prefix('/').unwrap_or(path);
    Ok(path.strip_suffix('/').unwrap_or(path).to_owned())
}

/// The text after the last slash of a path.
pub(super) fn last_segment(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::{accept, last_segment};

    #[test]
    fn one_slash_is_dropped_at_each_end() {
        assert_eq!(accept("/docs/alpha/"), Ok("docs/alpha".to_owned()));
        assert_eq!(accept("docs"), Ok("docs".to_owned()));
        assert_eq!(accept("/"), Ok(String::new()));
        assert_eq!(accept(""), Ok(String::new()));
    }

    #[test]
    fn what_the_wiki_should_refuse_passes() {
        for path in ["login", "fr/foo", "a", "100%", "Docs/日本語"] {
            assert_eq!(accept(path), Ok(path.to_owned()));
        }
    }

    #[test]
    fn dots_spaces_backslashes_and_double_slashes_are_refused() {
        for path in ["a.b", "a b", "a\\b", "a//b", "../a", "//a"] {
            assert!(accept(path).is_err(), "{path}");
        }
    }

    #[test]
    fn the_last_segment_of_a_flat_path_is_the_path() {
        assert_eq!(last_segment("docs/install/linux"), "linux");
        assert_eq!(last_segment("home"), "home");
    }
}
