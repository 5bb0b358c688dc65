//! Files beside the pages: their names, their types, and which of them Wiki.js takes as they are.

use std::sync::LazyLock;

use regex::Regex;

use super::locale::is_locale_like;
use crate::page::{MAX_PATH_CHARS, PagePath};

/// The most bytes of a file name, as of a folder's.
const MAX_NAME_BYTES: usize = 255;
/// The most bytes of an upload that Wiki.js takes by default (W37).
pub const MAX_ASSET_BYTES: usize = 5 * 1024 * 1024;
/// First parts of addresses that are the wiki's own (W42).
const OWN: [&str; 5] = ["_assets", "_userav", "graphql", "login", "verify"];
/// Number of bytes searched for the mark of an image's end, since some programs write something
/// behind it.
const MOST_BEHIND: usize = 256;
/// Ends of names, and the types that go with them.
const TYPES: [(&str, &str); 22] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("svg", "image/svg+xml"),
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("ico", "image/x-icon"),
    ("pdf", "application/pdf"),
    ("json", "application/json"),
    ("xml", "application/xml"),
    ("csv", "text/csv"),
    ("log", "text/plain"),
    ("yml", "text/yaml"),
    ("yaml", "text/yaml"),
    ("toml", "text/plain"),
    ("zip", "application/zip"),
    ("gz", "application/gzip"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("webm", "video/webm"),
];

/// The end of a path's name, behind its last dot, in lower case; empty if it has none.
pub fn extension(path: &PagePath) -> String {
    let name = path.last_segment();
    let parts = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
    parts.map_or_else(String::new, |(_, end)| end.to_lowercase())
}

/// The type that goes with a name.
pub fn mime_of(path: &PagePath) -> &'static str {
    let end = extension(path);
    let known = TYPES.iter().find(|(of, _)| *of == end);
    known.map_or("application/octet-stream", |(_, mime)| mime)
}

/// True if the wiki serves the bytes: it takes other paths for pages (W40), and no address names
/// two dots in a row (W42).
pub fn can_be_downloaded(path: &PagePath) -> bool {
    let path = path.as_str();
    let of_page = [".md", ".html", ".txt"];
    path.contains('.') && !path.contains("..") && !of_page.iter().any(|end| path.ends_with(end))
}

/// True for the name of an image that browsers and models show, and that cannot run anything.
pub fn is_picture(path: &PagePath) -> bool {
    matches!(
        extension(path).as_str(),
        "png" | "jpg" | "jpeg" | "gif" | "webp"
    )
}

/// True for the name of a web page.
pub fn is_web_page(path: &PagePath) -> bool {
    matches!(extension(path).as_str(), "htm" | "html" | "shtml")
}

/// True if `/<path>` is something else to the wiki, which takes its first part for a locale, for
/// nothing, or for its own (W42). Behind a locale it is the asset's address all the same.
pub fn needs_locale(path: &PagePath) -> bool {
    let first = path.as_str().split_once('/').map(|(first, _)| first);
    first.is_some_and(|first| {
        first.encode_utf16().count() == 1 || is_locale_like(first) || OWN.contains(&first)
    })
}

/// What the wiki takes out of names (W38).
static TAKEN_OUT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[\s,;#]+").ok());

/// A name as the wiki stores it: one `_` for each run of what it takes out.
fn stored(name: &str) -> String {
    let name = name.to_lowercase();
    match TAKEN_OUT.as_ref() {
        Some(taken_out) => taken_out.replace_all(&name, "_").into_owned(),
        None => name,
    }
}

/// True if Wiki.js would cut a segment, or keep nothing of it: it is longer than file names may be, or Windows calls a
/// device so.
fn is_cut(segment: &str) -> bool {
    let name = segment.split('.').next().unwrap_or_default();
    let device = name.get(..3).map(str::to_ascii_lowercase);
    let is_device = match (device.as_deref(), name.as_bytes().get(3..)) {
        (Some("con" | "prn" | "aux" | "nul"), Some([])) => true,
        (Some("com" | "lpt"), Some([digit])) => digit.is_ascii_digit(),
        _ => false,
    };
    is_device || segment.len() > MAX_NAME_BYTES
}

/// True if file names and addresses cannot contain a segment as it is.
fn is_unfit(segment: &str) -> bool {
    let is_odd = |c: char| {
        let is_sign = c.is_ascii() && !c.is_ascii_control() && !"\\\"|<>:*?%".contains(c);
        !c.is_alphanumeric() && !is_sign
    };
    segment.contains("..")
        || segment.ends_with('.')
        || segment.chars().any(is_odd)
        || segment.trim() != segment
}

/// The path of a file that somebody named: folders and a name.
///
/// # Errors
/// One sentence about what is wrong.
pub fn parse_asset_path(text: &str) -> Result<PagePath, String> {
    let path = PagePath::new(text);
    if path.climbs() || path.as_str().split('/').any(str::is_empty) {
        return Err("must be made of whole segments, without \"//\", \".\" or \"..\"".to_owned());
    }
    if path.as_str().chars().any(char::is_control) {
        return Err("must have no control characters".to_owned());
    }
    if path.as_str().chars().count() > MAX_PATH_CHARS {
        return Err(format!("must have {MAX_PATH_CHARS} characters at most"));
    }
    Ok(path)
}

/// Checks the path that a file shall have: one that the wiki takes as it is, and at which anybody
/// can read it.
///
/// # Errors
/// One sentence about what is wrong.
pub fn check_new_asset_path(path: &PagePath) -> Result<(), String> {
    let _ = parse_asset_path(path.as_str())?;
    let name = path.last_segment();
    let as_stored = stored(name);
    if as_stored != name {
        return Err(format!(
            "must be a name as the wiki stores files: use {as_stored:?}"
        ));
    }
    let mut folders = path.as_str().split('/').rev().skip(1);
    if folders.any(|folder| folder.to_lowercase() != folder) {
        return Err("must have its folders in lower case, as the wiki has them".to_owned());
    }
    if path.as_str().split('/').any(is_unfit) {
        return Err(
            "must be of letters, digits and plain signs, without \"..\", so that an address can say it"
                .to_owned(),
        );
    }
    if path.as_str().split('/').any(is_cut) {
        return Err(format!(
            "must have names of {MAX_NAME_BYTES} bytes at most, and none such as \"con\", \"nul\" or \"com1\": the wiki would cut them, or keep the file without a name"
        ));
    }
    if extension(path).is_empty() || !can_be_downloaded(path) {
        return Err("must end in an extension other than .md, .html and .txt: the wiki takes other names for pages, and nobody could download the file".to_owned());
    }
    Ok(())
}

/// Checks that a page could show a new file by its path. In a folder that is there already, files
/// are changed all the same.
///
/// # Errors
/// One sentence about what is wrong.
pub fn check_new_place(path: &PagePath) -> Result<(), String> {
    if needs_locale(path) {
        return Err("must not begin with a folder that is a locale's code, a single character or a part of the wiki's own addresses: a page could not show it by its path".to_owned());
    }
    Ok(())
}

/// The extensions that go with the first bytes of images.
fn kinds_of(bytes: &[u8]) -> Option<&'static [&'static str]> {
    const MARKS: [(&[u8], &[&str]); 6] = [
        (b"\x89PNG\r\n\x1a\n", &["png"]),
        (b"\xff\xd8\xff", &["jpg", "jpeg"]),
        (b"GIF87a", &["gif"]),
        (b"GIF89a", &["gif"]),
        (b"%PDF-", &["pdf"]),
        (b"\x00\x00\x01\x00", &["ico"]),
    ];
    let webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    if webp {
        return Some(&["webp"]);
    }
    let found = MARKS.iter().find(|(mark, _)| bytes.starts_with(mark));
    found.map(|(_, kinds)| *kinds)
}

/// Checks that bytes are what their name says, and whole as far as their form tells.
///
/// # Errors
/// One sentence about what is wrong.
pub fn check_asset(path: &PagePath, bytes: &[u8]) -> Result<(), String> {
    const KNOWN: [&str; 7] = ["png", "jpg", "jpeg", "gif", "webp", "pdf", "ico"];
    if bytes.is_empty() {
        return Err("must not be empty".to_owned());
    }
    if bytes.len() > MAX_ASSET_BYTES {
        let size = bytes.len();
        return Err(format!(
            "has {size} bytes; Wiki.js takes {MAX_ASSET_BYTES} at most"
        ));
    }
    let end = extension(path);
    let text = if end == "svg" { bytes } else { &[] };
    let text = std::str::from_utf8(text).unwrap_or_default();
    let is_lacking = KNOWN.contains(&end.as_str()) || end == "svg" && !text.contains("<svg");
    let other = match kinds_of(bytes) {
        Some(kinds) if !kinds.contains(&end.as_str()) => {
            kinds.first().map(|kind| (*kind).to_owned())
        }
        None if is_lacking => Some(format!("no {end}")),
        _ => None,
    };
    if let Some(kind) = other {
        let fault = "is of another type than its name says";
        return Err(format!("{fault}: it is {kind}"));
    }
    // A mark of the end can also be within, such as that of a thumbnail.
    let last = bytes.len().saturating_sub(MOST_BEHIND);
    let last = bytes.get(last..).unwrap_or_default();
    let is_whole = match end.as_str() {
        "png" => last.windows(4).any(|four| four == b"IEND"),
        "jpg" | "jpeg" => last.windows(2).any(|two| two == b"\xff\xd9"),
        "gif" => bytes.iter().rev().find(|byte| **byte != 0) == Some(&b';'),
        "webp" => {
            let size = bytes.get(4..8).and_then(<[u8]>::first_chunk);
            let size = size.copied().map_or(0, u32::from_le_bytes);
            usize::try_from(size).is_ok_and(|size| size.saturating_add(8) <= bytes.len())
        }
        "svg" => text.contains("</svg>") || text.trim_end().ends_with("/>"),
        _ => true,
    };
    let whole = is_whole.then_some(());
    whole.ok_or_else(|| format!("was cut: the end of a {end} is missing"))
}

#[cfg(test)]
mod tests {
    use super::{
        PagePath, check_asset, check_new_asset_path, check_new_place, extension, mime_of, stored,
    };

    #[test]
    fn a_new_path_is_one_that_the_wiki_stores_as_it_is_and_gives_out() {
        let fault = |path: &str| {
            let path = PagePath::new(path);
            let checked = check_new_asset_path(&path);
            checked.and_then(|()| check_new_place(&path)).err()
        };
        for path in [
            "a.png",
            "docs/my pics/a-b_c.tar.gz",
            "img/a.csv",
            "docs/en/plän_日本.csv",
            "abc/e/a+b(c).csv",
            "docs/cons/com.com10.png",
            &format!("{}.png", "ü".repeat(125)),
        ] {
            assert_eq!(fault(path), None, "{path}");
        }
        for (path, said) in [
            ("../a.png", "whole segments"),
            ("a//b.png", "whole segments"),
            ("My Logo.PNG", "my_logo.png"),
            ("a,,b;#.png", "a_b_.png"),
            ("Docs/a.png", "lower case"),
            ("docs/e\u{301}.png", "plain signs"),
            ("docs/\u{202e}a.png", "plain signs"),
            ("docs/a%20b.png", "plain signs"),
            ("docs/a\".png", "plain signs"),
            ("docs/a..b.png", "plain signs"),
            ("docs./a.png", "plain signs"),
            ("docs/con.png", "without a name"),
            ("docs/com1.tar.gz", "without a name"),
            ("nul/a.png", "without a name"),
            (&format!("{}.png", "ü".repeat(126)), "255 bytes"),
            ("docs/a.txt", "download"),
            ("docs/a", "download"),
            (".png", "download"),
            ("d/a.png", "own addresses"),
            ("日/a.png", "own addresses"),
            ("en/a.png", "own addresses"),
            ("zh-tw/a.png", "own addresses"),
            ("login/a.png", "own addresses"),
            ("a\u{7}.png", "control"),
        ] {
            let fault = fault(path).unwrap_or_default();
            assert!(fault.contains(said), "{path}: {fault}");
        }
    }

    #[test]
    fn names_are_stored_in_lower_case_with_one_mark_for_each_run() {
        assert_eq!(stored("My Logo, v2#final;x.PNG"), "my_logo_v2_final_x.png");
        assert_eq!(extension(&PagePath::new("a/B.TAR.GZ")), "gz");
        assert_eq!(mime_of(&PagePath::new("a.jpeg")), "image/jpeg");
        assert_eq!(mime_of(&PagePath::new("a.odd")), "application/octet-stream");
    }

    #[test]
    fn bytes_are_what_their_name_says_and_whole() {
        let fault = |path: &str, bytes: &[u8]| check_asset(&PagePath::new(path), bytes).err();
        let png = b"\x89PNG\r\n\x1a\n....IEND....";
        assert_eq!(fault("a.png", png), None);
        assert_eq!(fault("a.csv", b"a,b\n"), None);
        assert_eq!(fault("a.gif", b"GIF89a..;\0"), None);
        let thumbnail = [&b"\xff\xd8\xff..\xff\xd9"[..], &[b'.'; 300]].concat();
        assert_eq!(fault("a.svg", b"<svg><g/></svg>"), None);
        for (path, bytes, said) in [
            ("a.jpg", &png[..], "it is png"),
            ("a.zip", &png[..], "it is png"),
            ("a.png", b"<html>", "no png"),
            ("a.png", &png[..12], "cut"),
            ("a.jpg", &thumbnail, "cut"),
            ("a.gif", b"GIF89a;..", "cut"),
            ("a.svg", b"<html>", "no svg"),
            ("a.svg", b"<svg><g>", "cut"),
            ("a.webp", b"RIFF\xff\x00\x00\x00WEBP", "cut"),
            ("a.csv", b"", "empty"),
        ] {
            let fault = fault(path, bytes).unwrap_or_default();
            assert!(fault.contains(said), "{path}: {fault}");
        }
        let large = vec![b'a'; 5 * 1024 * 1024 + 1];
        assert!(fault("a.csv", &large).is_some_and(|fault| fault.contains("5242880 at most")));
    }
}
