//! Guesses the address of a wiki from one without a scheme, or from that of a page.

use url::Url;

/// The address of a wiki that somebody most likely meant by another one.
pub(super) enum MeantAddress {
    /// They left out its scheme.
    WithScheme(String),
    /// They gave the address of one of its pages.
    OfPage(String),
}

/// The address that somebody most likely meant; `None` if it is theirs, or unknown.
pub(super) fn meant(address: &str) -> Option<MeantAddress> {
    if address.contains("://") {
        return wiki_of_page(&Url::parse(address).ok()?).map(MeantAddress::OfPage);
    }
    let whole = format!("https://{address}");
    let url = Url::parse(&whole)
        .ok()
        .filter(|url| url.username().is_empty())?;
    Some(MeantAddress::WithScheme(
        wiki_of_page(&url).unwrap_or(whole),
    ))
}

/// The wiki's address, out of one that looks like a page's: its path has a locale with something
/// behind it.
fn wiki_of_page(page: &Url) -> Option<String> {
    let is_locale = |part: &&str| {
        let (language, region) = part.split_once('-').unwrap_or((part, "xx"));
        let is_code = |code: &str| code.len() == 2 && code.bytes().all(|b| b.is_ascii_lowercase());
        is_code(language) && is_code(region)
    };
    let parts: Vec<&str> = page.path_segments()?.collect();
    let at = parts.iter().position(is_locale)?;
    parts.get(at + 1).filter(|first| !first.is_empty())?;
    // A view has one letter before the locale, such as /e/en/home.
    let above = parts.iter().take(at).filter(|part| part.len() > 1);
    Some(
        above.fold(page.origin().ascii_serialization(), |address, part| {
            address + "/" + part
        }),
    )
}
