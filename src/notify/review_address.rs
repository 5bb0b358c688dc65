//! Gives the address or command by which people decide on waiting sets.

use std::fmt::Display;
use std::sync::Arc;

use parking_lot::RwLock;
use url::Url;

use crate::site::SiteName;

/// The address of the review page: the one that the operator named, else the one at which a server
/// over HTTP has it. It signs nobody in, so an agent may know it.
#[derive(Debug, Clone, Default)]
pub struct ReviewAddress {
    named: Option<Arc<str>>,
    /// The page's address on a server; shared by all clones.
    served: Arc<RwLock<Option<Arc<str>>>>,
    /// The site that the sets belong to.
    site: Option<SiteName>,
}

/// Two are equal if the operator named the same; where they are served is no setting.
impl PartialEq for ReviewAddress {
    fn eq(&self, other: &Self) -> bool {
        (&self.named, &self.site) == (&other.named, &other.site)
    }
}

impl Eq for ReviewAddress {}

impl ReviewAddress {
    /// Takes an address whose path is `/review`, as in the page's own links, without anything that could sign
    /// somebody in.
    ///
    /// # Errors
    /// One fragment about the address.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let url = Url::parse(text).map_err(|_| NOT_ONE)?;
        let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
        if !is_web || url.path().trim_end_matches('/') != "/review" {
            return Err(NOT_ONE);
        }
        let has_user = !url.username().is_empty() || url.password().is_some();
        if has_user || url.query().is_some() || url.fragment().is_some() {
            return Err("must hold no user, query or fragment: agents see it");
        }
        let text = url.as_str().trim_end_matches('/');
        Ok(Self {
            named: Some(text.into()),
            ..Self::default()
        })
    }

    /// The address that the operator named, if they did.
    pub fn named(&self) -> Option<&str> {
        self.named.as_deref()
    }

    /// The same address, served where another one is.
    #[must_use]
    pub fn served_as(self, other: &Self) -> Self {
        let served = Arc::clone(&other.served);
        Self { served, ..self }
    }

    /// Notes where a server has the page.
    pub fn serve_at(&self, address: &str) {
        let mut served = self.served.write();
        *served = Some(address.into());
    }

    /// The address for a caller who reaches the page elsewhere, unless the operator named one.
    #[must_use]
    pub fn seen_from(&self, reached_at: Option<&Arc<str>>) -> Self {
        Self {
            named: self.named.clone().or_else(|| reached_at.cloned()),
            ..self.clone()
        }
    }

    fn address(&self) -> Option<Arc<str>> {
        let served = || {
            let served = self.served.read();
            served.clone()
        };
        self.named.clone().or_else(served)
    }

    /// The same address, for the sets of a site.
    #[must_use]
    pub fn at(self, site: Option<SiteName>) -> Self {
        Self { site, ..self }
    }

    /// The page of one set; `None` without an address.
    pub fn page_of(&self, set: impl Display) -> Option<String> {
        self.page(format_args!("sets/{set}"))
    }

    /// The page of one call on record; `None` without an address.
    pub fn page_of_call(&self, call: impl Display) -> Option<String> {
        self.page(format_args!("record/calls/{call}"))
    }

    fn page(&self, of: impl Display) -> Option<String> {
        let address = self.address()?;
        let site = self.site.as_ref();
        let site = site.map_or_else(String::new, |site| format!("?site={site}"));
        Some(format!("{address}/{of}{site}"))
    }

    /// The place where a person decides on a set: its page, or the command that opens it.
    pub fn for_set(&self, set: impl Display) -> String {
        self.page_of(&set).unwrap_or_else(|| match &self.site {
            None => format!("wikijs-gate review {set}"),
            Some(site) => format!("wikijs-gate --site {site} review {set}"),
        })
    }
}

const NOT_ONE: &str =
    "must be the http or https address of the review page, with /review alone behind the host";

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
                "http://localhost:8765/review/",
                "http://localhost:8765/review/sets/0123456789abcdef",
            ),
        ] {
            let address = ReviewAddress::parse(text).unwrap();
            assert_eq!(address.for_set(set), page);
            assert_eq!(address.page_of(set).as_deref(), Some(page));
        }
        let none = ReviewAddress::default();
        assert_eq!(none.for_set(set), "wikijs-gate review 0123456789abcdef");
        assert_eq!(none.page_of(set), None);
        let site = || Some("docs".parse().unwrap());
        assert_eq!(
            none.at(site()).for_set(set),
            "wikijs-gate --site docs review 0123456789abcdef"
        );
        let address = ReviewAddress::parse("https://a.example/review").unwrap();
        assert_eq!(
            address.at(site()).for_set(set),
            "https://a.example/review/sets/0123456789abcdef?site=docs"
        );
    }

    #[test]
    fn where_a_server_has_the_page_counts_unless_the_operator_named_an_address() {
        let set = "0123456789abcdef";
        let own = ReviewAddress::default();
        let later = ReviewAddress::default().served_as(&own);
        own.serve_at("http://127.0.0.1:8765/review");
        assert_eq!(
            later.for_set(set),
            "http://127.0.0.1:8765/review/sets/0123456789abcdef"
        );
        let seen = "https://mcp.example.org/review".into();
        let seen = later.seen_from(Some(&seen));
        assert_eq!(
            seen.for_set(set),
            "https://mcp.example.org/review/sets/0123456789abcdef"
        );
        let call = "https://mcp.example.org/review/record/calls/x";
        assert_eq!(seen.page_of_call("x").as_deref(), Some(call));
        let named = ReviewAddress::parse("https://a.example/review").unwrap();
        let other = "http://127.0.0.1/review".into();
        let named = named.served_as(&own).seen_from(Some(&other));
        assert_eq!(
            named.for_set(set),
            "https://a.example/review/sets/0123456789abcdef"
        );
        assert_eq!(own, ReviewAddress::default());
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
            "https://mcp.example.org/wiki/review",
            "https://anna:secret@mcp.example.org/review",
            "https://anna@mcp.example.org/review",
            "https://mcp.example.org/review?token=1",
            "https://mcp.example.org/review#token",
        ] {
            assert!(ReviewAddress::parse(text).is_err(), "{text}");
        }
    }
}
