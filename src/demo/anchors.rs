//! Rewrites the links of a page's HTML as rendering does: measured on 2.5.314, with namespacing.
//!
//! Full addresses of the wiki itself are taken for others' here: a demo wiki's address is not
//! known where pages are kept.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::store::PageRow;

/// A page's HTML with its links as readers get them, and the places that they lead to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Anchored {
    pub(super) html: String,
    /// Locale and path of each, in page order, repeated ones too.
    pub(super) links: Vec<String>,
}

/// Tags, whose values in quotes may have any sign, and comments.
static TAGS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?s)<!--.*?(?:-->|$)|<(?:"[^"]*"|'[^']*'|[^>"'])*>"#).ok());

/// The value of a link's `href` in its tag.
static HREF: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?s)^<a[ \n].*?href=(?:"([^"]*)"|'([^']*)'|([^ \n>]*))"#).ok());

/// Rewrites the links of a page's HTML; `exists` tells whether a page is at a place.
pub(super) fn anchored(page: &PageRow, html: &str, exists: impl Fn(&str) -> bool) -> Anchored {
    let mut links = Vec::new();
    let rewritten = |tag: &Captures<'_>| {
        let tag = tag.get(0).map_or("", |tag| tag.as_str());
        let found = HREF.as_ref().and_then(|href| href.captures(tag));
        let Some(value) = found.and_then(|found| found.iter().skip(1).flatten().next()) else {
            return tag.to_owned();
        };
        let (href, class, place) = of_href(page, value.as_str(), &exists);
        links.extend(place);
        let head = tag.get(..value.start()).unwrap_or_default();
        let tail = tag.get(value.end()..).unwrap_or_default();
        let tail = tail.strip_suffix('>').unwrap_or(tail);
        if class.is_empty() {
            return format!("{head}{href}{tail}>");
        }
        format!("{head}{href}{tail} class=\"{class}\">")
    };
    let html = TAGS
        .as_ref()
        .map(|tags| tags.replace_all(html, rewritten).into_owned());
    Anchored {
        html: html.unwrap_or_default(),
        links,
    }
}

/// The rewritten `href` of a link, its classes, and the place that it leads to.
fn of_href(
    page: &PageRow,
    href: &str,
    exists: &impl Fn(&str) -> bool,
) -> (String, &'static str, Option<String>) {
    let is_left = ["#", "mailto:", "tel:"]
        .iter()
        .any(|start| href.starts_with(start));
    if href.is_empty() || is_left {
        return (href.to_owned(), "", None);
    }
    if href.contains("://") {
        return (href.to_owned(), "is-external-link", None);
    }
    let mut bytes = href.bytes();
    let is_view = (
        bytes.next(),
        bytes.next().map(|byte| byte.is_ascii_alphabetic()),
    ) == (Some(b'/'), Some(true))
        && matches!(bytes.next(), None | Some(b'/'));
    if is_view {
        return (href.to_owned(), "is-system-link", None);
    }
    if href.contains('.') {
        return (href.to_owned(), "is-asset-link", None);
    }
    let PageRow { locale, path, .. } = page;
    let href = match (href.starts_with('/'), path.as_str()) {
        (true, _) if href.encode_utf16().nth(3) == Some(u16::from(b'/')) => href.to_owned(),
        (true, _) => format!("/{locale}{href}"),
        (false, "home") => format!("/{locale}/{href}"),
        (false, path) => format!("/{locale}/{path}/{href}"),
    };
    let place = href.split(['#', '?']).next().unwrap_or_default();
    let place = place.trim_matches('/').to_owned();
    let class = if exists(&place) {
        "is-internal-link is-valid-page"
    } else {
        "is-internal-link is-invalid-page"
    };
    (href, class, Some(place))
}

#[cfg(test)]
mod tests {
    use super::anchored;
    use crate::demo::store::PageRow;

    fn links(path: &str, hrefs: &[&str]) -> Vec<String> {
        let page = PageRow {
            path: path.to_owned(),
            ..PageRow::default()
        };
        let html: Vec<String> = hrefs
            .iter()
            .map(|href| format!("<p><a href=\"{href}\">x</a></p>"))
            .collect();
        anchored(&page, &html.concat(), |_| false).links
    }

    #[test]
    fn an_absolute_link_has_its_locale_or_the_page_s() {
        let hrefs = ["/en/docs/beta", "/docs/beta#top", "/de/start", "/gamma/"];
        let led = ["en/docs/beta", "en/docs/beta", "de/start", "en/gamma"];
        assert_eq!(links("docs/alpha", &hrefs), led);
    }

    #[test]
    fn a_relative_link_takes_the_page_for_a_folder() {
        assert_eq!(links("docs/alpha", &["beta"]), ["en/docs/alpha/beta"]);
        assert_eq!(links("home", &["beta"]), ["en/beta"]);
        assert!(links("docs/alpha", &["../gamma", "./delta", "e.md"]).is_empty());
    }

    #[test]
    fn anchors_views_and_other_sites_are_no_links_to_pages() {
        let hrefs = ["#top", "https://example.org/x", "/e/en/docs", "mailto:a"];
        assert!(links("docs/alpha", &hrefs).is_empty());
    }

    #[test]
    fn links_are_shown_as_what_they_are() {
        let page = PageRow {
            path: "docs/alpha".to_owned(),
            ..PageRow::default()
        };
        let html =
            "a < b <!-- <a href=\"/x\"> --> <a href='/docs/b' title=\">\">b</a> <a name=\"c\">";
        let made = anchored(&page, html, |place| place == "en/docs/b");
        assert_eq!(
            made.html,
            "a < b <!-- <a href=\"/x\"> --> <a href='/en/docs/b' title=\">\" class=\"is-internal-link is-valid-page\">b</a> <a name=\"c\">"
        );
    }
}
