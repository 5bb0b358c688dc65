//! Checks that requests are meant for the review page's own host and come from it.

use axum::http::header;
use axum::http::{Extensions, HeaderMap};

/// The origin of the review page, as browsers have it.
#[derive(Debug, Clone, Default)]
pub struct ReviewOrigin {
    /// The only `Host` that is answered, such as `k3j9.localhost:8123`; each one where the server
    /// before it has checked that.
    pub host: Option<String>,
    /// True if browsers reach it by TLS: the cookie then goes no other way. A server before the
    /// page may put a `ReviewOrigin` for one request into its extensions, which then counts.
    pub is_secure: bool,
    /// The address of the page, up to `/review`, where people sign in at an issuer.
    pub url: Option<String>,
}

impl ReviewOrigin {
    /// True if this request came by TLS.
    pub(super) fn is_secure_for(&self, request: &Extensions) -> bool {
        request.get::<Self>().unwrap_or(self).is_secure
    }

    /// The address of the page for this request.
    pub(super) fn url_for(request: &Extensions) -> Option<&str> {
        request.get::<Self>()?.url.as_deref()
    }

    /// True if a request was sent to this host.
    pub(super) fn is_meant(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST);
        let host = host.and_then(|host| host.to_str().ok());
        self.host
            .as_deref()
            .is_none_or(|own| host.is_some_and(|host| host.eq_ignore_ascii_case(own)))
    }

    /// True if a form was sent by a page of this origin: browsers name theirs, and a request that
    /// names none is not a browser's.
    pub(super) fn is_own(headers: &HeaderMap) -> bool {
        let text = |name| {
            headers
                .get(name)
                .and_then(|value: &header::HeaderValue| value.to_str().ok())
        };
        if let Some(site) = text("sec-fetch-site") {
            return site == "same-origin";
        }
        let Some(origin) = text("origin") else {
            return true;
        };
        let host = text("host").unwrap_or_default();
        let of = origin.split_once("://").map_or("", |(_, of)| of);
        !host.is_empty() && of.eq_ignore_ascii_case(host)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderName, HeaderValue};

    use super::ReviewOrigin;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn a_place_answers_under_its_own_name_alone() {
        let place = ReviewOrigin {
            host: Some("k3j9.localhost:8123".to_owned()),
            ..ReviewOrigin::default()
        };
        assert!(place.is_meant(&headers(&[("host", "K3J9.localhost:8123")])));
        for other in [
            "localhost:8123",
            "127.0.0.1:8123",
            "k3j9.localhost",
            "evil.example",
        ] {
            assert!(!place.is_meant(&headers(&[("host", other)])), "{other}");
        }
        assert!(!place.is_meant(&headers(&[])));
        assert!(ReviewOrigin::default().is_meant(&headers(&[("host", "wiki.example")])));
    }

    #[test]
    fn a_form_of_another_site_is_not_taken() {
        for (own, pairs) in [
            (true, &[("sec-fetch-site", "same-origin")][..]),
            (false, &[("sec-fetch-site", "cross-site")]),
            (false, &[("sec-fetch-site", "same-site")]),
            (false, &[("sec-fetch-site", "none")]),
            (
                true,
                &[
                    ("origin", "http://a.localhost:1"),
                    ("host", "a.localhost:1"),
                ],
            ),
            (
                false,
                &[
                    ("origin", "http://b.localhost:1"),
                    ("host", "a.localhost:1"),
                ],
            ),
            (false, &[("origin", "null"), ("host", "a.localhost:1")]),
            (true, &[("host", "a.localhost:1")]),
        ] {
            assert_eq!(ReviewOrigin::is_own(&headers(pairs)), own, "{pairs:?}");
        }
    }
}
