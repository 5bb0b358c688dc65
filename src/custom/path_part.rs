//! Values of callers inside of a path: they can name something in a folder, and never lead out.

use unicode_normalization::UnicodeNormalization as _;

/// The longest value inside of a path, in characters.
const MOST: usize = 200;

/// Checks a value that becomes a part of a path; with `slash` it may have several segments.
///
/// # Errors
/// What it must be.
pub(super) fn check(value: &str, slash: bool) -> Result<(), String> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    // The wiki, a file system or a browser may fold letters: `½` becomes `1⁄2`.
    let is_segment = |segment: &str| !segment.is_empty() && segment.nfkc().all(is_plain);
    let fits = if slash {
        value.split('/').all(is_segment)
    } else {
        is_segment(value)
    };
    if fits && value.chars().count() <= MOST {
        return Ok(());
    }
    let also = if slash {
        ", with single slashes between segments"
    } else {
        ""
    };
    Err(format!(
        "becomes a part of a path: it must have 1 to {MOST} letters, digits, - or _{also}"
    ))
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn no_value_leads_out_of_its_folder() {
        for climbing in [
            "",
            ".",
            "..",
            "../x",
            "a/b",
            "/a",
            "a/",
            "a\\b",
            "a..b",
            "a.b",
            "en:x",
            "a b",
            "a\nb",
            "%2e%2e",
            "%2f",
            "a?b",
            "a#b",
            "\u{ff0f}",
            "a\u{2215}b",
            "\u{2025}",
            "\u{2024}",
            "\u{ff0e}\u{ff0e}",
            "\u{2488}",
            "\u{bd}",
            "\u{2100}",
            "a\u{0}b",
            "a\u{202e}b",
        ] {
            assert!(check(climbing, false).is_err(), "{climbing:?}");
        }
        assert!(check(&"a".repeat(1 << 20), false).is_err());
        for climbing in ["", "/", "a//b", "/a", "a/", "a/../b", "./a", "a/.."] {
            assert!(check(climbing, true).is_err(), "{climbing:?}");
        }
        for plain in ["a", "server-3_down", "Übung", "東京", "2026"] {
            assert!(check(plain, false).is_ok(), "{plain}");
            assert!(check(&format!("a/{plain}"), true).is_ok(), "{plain}");
        }
    }
}
