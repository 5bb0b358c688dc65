//! Keeps paths of recipes within their first folder: values of callers inside of them, and the whole.

use unicode_normalization::UnicodeNormalization as _;

use crate::page::{Locale, is_invisible};

/// Lookalikes of slash and backslash that compatibility normalization leaves as other letters.
const LIKE_SLASHES: [char; 9] = [
    '\\', '\u{2044}', '\u{2215}', '\u{2216}', '\u{2571}', '\u{2572}', '\u{29f5}', '\u{29f8}',
    '\u{29f9}',
];
/// Characters that begin another part of an address, or encode a character there.
const OF_ADDRESSES: [char; 3] = ['%', '?', '#'];

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

/// Checks a whole path that values of callers are part of: it stays in its first folder, also where
/// a wiki, a file system or a browser decodes, folds or resolves it.
///
/// # Errors
/// What is wrong, as a fragment whose subject is the path.
pub(super) fn check_whole(path: &str) -> Result<(), String> {
    let folded: String = path.nfkc().collect();
    let fault = |what: String| Err(format!("could lead out of its first folder: {what}"));
    let is_odd = |c: char| {
        LIKE_SLASHES.contains(&c)
            || OF_ADDRESSES.contains(&c)
            || c.is_control()
            || c.is_whitespace()
            || is_invisible(c)
    };
    if let Some(odd) = path.chars().chain(folded.chars()).find(|c| is_odd(*c)) {
        return fault(format!("it has {}", odd.escape_debug()));
    }
    // A letter that folds to a slash or a dot only looks like one.
    for sign in ['/', '.'] {
        if path.matches(sign).count() != folded.matches(sign).count() {
            return fault(format!("it has what only looks like {sign}"));
        }
    }
    let within = folded.strip_prefix('/').unwrap_or(&folded);
    for segment in within.split('/') {
        if segment.is_empty() {
            return fault("it has an empty segment".to_owned());
        }
        if segment.ends_with('.') || segment.contains("..") {
            return fault(format!("it has the segment {segment:?}"));
        }
    }
    let first = within.split('/').next().unwrap_or_default();
    let (locale, top) = first.split_once(':').unwrap_or(("", first));
    if top.is_empty() || top.contains(':') {
        return fault("its first segment names no folder".to_owned());
    }
    // Behind what the wiki takes for a locale, the next segment would be the first folder.
    if locale.is_empty() && Locale::as_stored(top.to_lowercase()).begins_addresses() {
        return fault(format!(
            "it begins with {top:?}, which is taken for a locale; write it before a colon"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{check, check_whole};

    #[test]
    fn a_whole_path_stays_in_its_first_folder() {
        for good in [
            "inc/a",
            "/inc/a",
            "inc/2026/a-b_c",
            "de:inc/a",
            "docs/v1.2/a",
            "docs/a.png",
            "Übung/東京",
        ] {
            assert_eq!(check_whole(good), Ok(()), "{good}");
        }
        for bad in [
            "inc/../a",
            "inc/./a",
            "./a",
            "../a",
            "inc/a/..",
            "inc//a",
            "//inc/a",
            "inc/a/",
            "inc./a",
            "inc/a.",
            "inc/.../a",
            "inc/..a/b",
            "inc\\..\\a",
            "inc/%2e%2e/a",
            "inc%2f..%2fa",
            "inc/a?b",
            "inc/a#b",
            "inc/\u{2025}/a",
            "inc/\u{2024}\u{2024}/a",
            "inc/\u{ff0e}\u{ff0e}/a",
            "inc/\u{fe52}./a",
            "inc/\u{2026}/a",
            "inc\u{ff0f}..\u{ff0f}a",
            "inc\u{2215}a",
            "inc\u{2044}a",
            "inc\u{29f8}a",
            "inc/\u{200b}../a",
            "inc/.\u{200d}./a",
            "inc/ ../a",
            "inc/a\u{0}",
            "en/a",
            "pt-BR/a",
            "de:/a",
            "de:",
            "de:x:y/a",
            "",
            "/",
        ] {
            let told = check_whole(bad).expect_err(bad);
            assert!(
                told.starts_with("could lead out of its first folder: "),
                "{told}"
            );
        }
    }

    /// The segments of a path once it is decoded, folded and resolved.
    fn resolved(path: &str) -> Vec<String> {
        let mut text = path.to_owned();
        for (code, sign) in [("%2e", "."), ("%2E", "."), ("%2f", "/"), ("%2F", "/")] {
            text = text.replace(code, sign);
        }
        let text = text.replace(['\\', '\u{2044}', '\u{2215}', '\u{29f8}', '\u{ff0f}'], "/");
        let text = text.replace(['\u{2024}', '\u{ff0e}', '\u{fe52}'], ".");
        let text = text.replace('\u{2025}', "..").replace('\u{200b}', "");
        let mut folders: Vec<String> = Vec::new();
        for segment in text.split('/') {
            match segment.trim().trim_end_matches('.') {
                "" if segment.contains("..") => drop(folders.pop()),
                "" => {}
                other => folders.push(other.to_owned()),
            }
        }
        folders
    }

    proptest! {
        #[test]
        fn whatever_is_accepted_leads_into_its_first_folder(
            rest in "([a-z]|/|\\.|\\.\\.|%2e|%2F|\\\\|\u{2044}|\u{2215}|\u{29f8}|\u{ff0f}|\u{2024}|\u{2025}|\u{ff0e}|\u{fe52}|\u{200b}| ){0,12}"
        ) {
            let path = format!("incidents/{rest}");
            if check_whole(&path).is_ok() {
                let folders = resolved(&path);
                prop_assert!(folders.len() > 1 && folders[0] == "incidents", "{path:?}: {folders:?}");
            }
        }
    }

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
