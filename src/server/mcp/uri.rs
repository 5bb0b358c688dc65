//! The address of a page as a resource: `wikijs://{locale}/{+path}`.

use url::Url;

use crate::page::{Locale, PagePath, percent_decoded_whole};

pub(super) const SCHEME: &str = "wikijs://";

/// The address of a page; special characters in its path are percent-encoded.
pub fn page_uri(locale: &Locale, path: &PagePath) -> String {
    let encoded = Url::parse(&format!("{SCHEME}x/"))
        .ok()
        .and_then(|mut address| {
            let segments = path.as_str().split('/');
            address
                .path_segments_mut()
                .ok()?
                .pop_if_empty()
                .extend(segments);
            Some(address.path().to_owned())
        });
    format!("{SCHEME}{locale}{}", encoded.unwrap_or_default())
}

/// The place that an address names, without query and fragment.
pub fn parse(uri: &str) -> Option<(Locale, PagePath)> {
    let place = uri.strip_prefix(SCHEME)?.split(['?', '#']).next()?;
    let (locale, path) = place.split_once('/')?;
    let path = PagePath::new(&percent_decoded_whole(path)?);
    (!path.as_str().is_empty()).then_some((Locale::parse(locale).ok()?, path))
}

#[cfg(test)]
mod tests {
    use super::{page_uri, parse};
    use crate::page::{Locale, PagePath};

    #[test]
    fn an_address_leads_back_to_its_page() {
        for path in [
            "docs/install",
            "会议/每周",
            "a b/c?d#e",
            "100%/x",
            "é+ü&=",
            "home",
        ] {
            let (locale, path) = (Locale::as_stored("pt-br"), PagePath::as_stored(path));
            let address = page_uri(&locale, &path);
            assert!(address.is_ascii() && !address.contains(' '), "{address}");
            assert_eq!(parse(&address), Some((locale, path)), "{address}");
        }
    }

    #[test]
    fn a_section_or_query_behind_an_address_is_no_part_of_it() {
        let place = parse("wikijs://en/docs/api#Errors");
        assert_eq!(place, parse("wikijs://en/docs/api?x=1"));
        assert_eq!(place, parse("wikijs://en/docs/api"));
    }

    #[test]
    fn what_is_no_address_names_no_page() {
        for bad in [
            "",
            "wikijs://",
            "wikijs://en",
            "wikijs://en/",
            "wikijs://guide/markdown",
            "https://en/docs",
            "wikijs://en/%",
            "wikijs://en/%+1",
            "wikijs://en/%FF",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
