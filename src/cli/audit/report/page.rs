//! The page around the data.
//!
//! No text of the log or the wiki enters it as HTML: the data are in a script element of a type
//! that no browser runs, and the page's own script shows them as text. The content security policy
//! allows only that script and that style, by their hashes, and no other source.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The page before the data and after them.
pub(super) fn around() -> (String, String) {
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    let (begin, end) = PAGE.split_once("{{data}}").unwrap_or((PAGE, ""));
    (
        begin
            .replace("{{policy}}", &policy)
            .replace("{{style}}", STYLE),
        end.replace("{{script}}", SCRIPT),
    )
}

/// JSON in which no element of the page can begin or end.
pub(super) fn harmless(json: &str) -> String {
    json.replace('<', "\\u003c")
}

fn hash(text: &str) -> String {
    format!(
        "sha256-{}",
        STANDARD.encode(Sha256::digest(text.as_bytes()))
    )
}

#[cfg(test)]
mod tests {
    use super::{SCRIPT, STYLE, around, harmless};

    #[test]
    fn every_part_is_in_its_place_and_nothing_comes_from_elsewhere() {
        let (begin, end) = around();
        assert!(begin.contains(STYLE) && end.contains(SCRIPT));
        for part in [&begin, &end] {
            assert!(!part.contains("{{"));
            // The one address is the name of an XML namespace.
            let text = part.replace("'http://www.w3.org/2000/svg'", "");
            for bad in [
                "http:",
                "https:",
                "//cdn",
                "url(",
                "innerHTML",
                "src=",
                " style=",
            ] {
                assert!(!text.contains(bad), "{bad}");
            }
        }
    }

    #[test]
    fn no_element_begins_or_ends_in_the_data() {
        let json = harmless(r#"{"a":"</script><!--<img>"}"#);
        assert!(!json.contains('<'));
        let back: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(back["a"], "</script><!--<img>");
    }
}
