//! Where people decide on the sets that wait for a review.

use std::fmt::Display;
use std::sync::Arc;

use url::Url;

use crate::site::SiteName;

/// The address of the review page, if the operator named one. It signs nobody in, so an agent may
/// know it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewAddress {
    address: Option<Arc<str>>,
    /// The site that the sets belong to.
    site: Option<SiteName>,
}

impl ReviewAddress {
    /// Takes an address that ends in `/review`, without anything that could sign somebody in.
    ///
    /// # Errors
    /// One fragment about the address.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let url = Url::parse(text).map_err(|_| NOT_ONE)?;
        let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
        if !is_web || !url.path().trim_end_matches('/').ends_with("/review") {
            return Err(NOT_ONE);
        }
        let has_user = !url.username().is_empty() || url.password().is_some();
        if has_user || url.query().is_some() || url.fragment().is_some() {
            return Err("must hold no user, query or fragment: agents see it");
        }
        let text = url.as_str().trim_end_matches('/');
        Ok(Self {
            address: Some(text.into()),
            site: None,
        })
    }

    /// The same address, for the sets of a site.
    #[must_use]
    pub fn at(self, site: Option<SiteName>) -> Self {
        Self { site, ..self }
    }

    /// The page of one set; `None` without an address.
    #[must_use]
    pub fn page_of(&self, set: impl Display) -> Option<String> {
        let address = self.address.as_deref()?;
        let site = self.site.as_ref();
        let site = site.map_or_else(String::new, |site| format!("?site={site}"));
        Some(format!("{address}/sets/{set}{site}"))
    }

    /// Where a person decides on a set: its page, or the command that opens it.
    #[must_use]
    pub fn of(&self, set: impl Display) -> String {
        self.page_of(&set).unwrap_or_else(|| match &self.site {
            None => format!("wikijs-mcp review {set}"),
            Some(site) => format!("wikijs-mcp --site {site} review {set}"),
        })
    }
}

const NOT_ONE: &str = "must be the http or https address of the review page, ending in /review";

#[cfg(test)]
mod tests {
    use super::ReviewAddress;
    #[test]
    fn a_set_has_its_page_there_or_the_command_that_opens_it() {
        let set = "0123456789abcdef";
        for (text, page) in [
            (
                "https://mcp.example.org/review",
                "https://mcp.example.org/review/sets/0123456789abcdef",
            ),
            (
                "http://localhost:8765/wiki/review/",
                "http://localhost:8765/wiki/review/sets/0123456789abcdef",
            ),
        ] {
            let address = ReviewAddress::parse(text).unwrap();
            assert_eq!(address.of(set), page);
            assert_eq!(address.page_of(set).as_deref(), Some(page));
        }
        let none = ReviewAddress::default();
        assert_eq!(none.of(set), "wikijs-mcp review 0123456789abcdef");
        assert_eq!(none.page_of(set), None);
        let site = || Some("docs".parse().unwrap());
        assert_eq!(
            none.at(site()).of(set),
            "wikijs-mcp --site docs review 0123456789abcdef"
        );
        let address = ReviewAddress::parse("https://a.example/review").unwrap();
        assert_eq!(
            address.at(site()).of(set),
            "https://a.example/review/sets/0123456789abcdef?site=docs"
        );
    }

    #[test]
    fn an_address_that_could_sign_in_or_is_no_review_page_is_refused() {
        for text in [
            "",
            "review",
            "mailto:a@example.org/review",
            "file:///review",
            "https://mcp.example.org",
            "https://mcp.example.org/mcp",
            "https://mcp.example.org/preview",
            "https://anna:secret@mcp.example.org/review",
            "https://anna@mcp.example.org/review",
            "https://mcp.example.org/review?token=1",
            "https://mcp.example.org/review#token",
        ] {
            assert!(ReviewAddress::parse(text).is_err(), "{text}");
        }
    }
}
