//! Configures the network between this program and the wiki: a proxy, certificates of one's own,
//! headers that a gateway asks for.

use std::fmt;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Identity, NoProxy};
use url::Url;

/// The network between this program and the wiki; nothing special, by default.
#[derive(Debug, Clone, Default)]
pub struct Network {
    /// The proxy through which requests go.
    pub proxy: Option<Proxy>,
    /// Authorities that may have signed the wiki's certificate, beside the system's own.
    pub authorities: Vec<Certificate>,
    /// The certificate that is shown to a wiki that asks for one.
    pub certificate: Option<ClientCertificate>,
    /// Headers of every request to the wiki. Their values are marked as secret.
    pub headers: HeaderMap,
}

/// A certificate with its key, which never shows.
#[derive(Clone)]
pub struct ClientCertificate {
    pub(in crate::wiki) identity: Identity,
    digest: String,
}

impl ClientCertificate {
    /// A certificate, with those that vouch for it, and its key, in PEM; the digest tells it from
    /// others.
    pub fn new(pem: &[u8], digest: String) -> Option<Self> {
        let identity = Identity::from_pem(pem).ok()?;
        Some(Self { identity, digest })
    }
}

impl fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientCertificate({})", self.digest)
    }
}

/// An HTTP proxy. The user and password in its address never show.
#[derive(Clone)]
pub struct Proxy {
    address: Url,
    except: Option<String>,
}

impl Proxy {
    /// Reads a proxy's address, such as `http://user:password@proxy.example.com:3128`, and the
    /// hosts that are reached without it, in the form of `NO_PROXY`.
    ///
    /// # Errors
    /// What is wrong with the address; nothing of it is in there.
    pub fn parse(text: &str, except: Option<String>) -> Result<Self, &'static str> {
        const ALLOWED: &str =
            "must be the address of an HTTP proxy, such as http://proxy.example.com:3128";
        // Without a scheme, as these variables often are, it is http.
        let address = if text.contains("://") {
            Url::parse(text)
        } else {
            Url::parse(&format!("http://{text}"))
        };
        address
            .ok()
            .filter(|address| {
                matches!(address.scheme(), "http" | "https")
                    && address.has_host()
                    && address.path() == "/"
                    && address.query().is_none()
                    && address.fragment().is_none()
            })
            .map(|address| Self { address, except })
            .ok_or(ALLOWED)
    }

    /// True if the connection to the proxy itself uses TLS.
    pub(in crate::wiki) fn is_tls(&self) -> bool {
        self.address.scheme() == "https"
    }

    /// The proxy as the HTTP client takes it.
    pub(in crate::wiki) fn to_client(&self) -> Option<reqwest::Proxy> {
        let except = self.except.as_deref().and_then(NoProxy::from_string);
        let proxy = reqwest::Proxy::all(self.address.clone()).ok()?;
        Some(proxy.no_proxy(except))
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.address.host_str().unwrap_or_default();
        write!(f, "{}://{host}", self.address.scheme())?;
        self.address
            .port()
            .map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({self})")
    }
}

/// Reads certificates in PEM.
///
/// # Errors
/// What is wrong with the text.
pub fn authorities(pem: &[u8]) -> Result<Vec<Certificate>, &'static str> {
    Certificate::from_pem_bundle(pem)
        .ok()
        .filter(|authorities| !authorities.is_empty())
        .ok_or("names a file that holds no certificate in PEM (-----BEGIN CERTIFICATE-----)")
}

/// Reads headers, one `Name: value` a line; empty lines and lines that begin with `#` are
/// passed over.
///
/// # Errors
/// The line and what is wrong with it; no value is in there.
pub fn headers(text: &str) -> Result<HeaderMap, String> {
    header_lines(text, is_ours)
}

/// The same of a file for others, with names that are not to be set there.
///
/// # Errors
/// The line and what is wrong with it; no value is in there.
pub fn header_lines(text: &str, is_taken: fn(&str) -> bool) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    let lines = (1..).zip(text.lines().map(str::trim));
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let header = line.split_once(':').and_then(|(name, value)| {
            let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
            let value = HeaderValue::from_str(value.trim()).ok()?;
            (!value.is_empty()).then_some((name, value))
        });
        let Some((name, mut value)) = header else {
            return Err(format!(
                "names a file whose line {number} is not of the form Name: value"
            ));
        };
        if is_taken(name.as_str()) {
            return Err(format!(
                "names a file whose line {number} sets {name}, which is not to be set there"
            ));
        }
        value.set_sensitive(true);
        if headers.insert(name, value).is_some() {
            return Err(format!("names a file whose line {number} repeats a header"));
        }
    }
    Ok(headers)
}

/// True if a header is ours, the connection's or a proxy's.
fn is_ours(name: &str) -> bool {
    const OURS: [&str; 11] = [
        "authorization",
        "host",
        "user-agent",
        "accept-encoding",
        "x-request-id",
        "connection",
        "keep-alive",
        "transfer-encoding",
        "te",
        "upgrade",
        "expect",
    ];
    OURS.contains(&name) || name.starts_with("content-") || name.starts_with("proxy-")
}

#[cfg(test)]
mod tests {
    use super::{Proxy, authorities, headers};

    #[test]
    fn a_proxy_shows_without_its_user_and_password() {
        for (text, shown) in [
            ("http://proxy.lan:3128", "http://proxy.lan:3128"),
            ("proxy.lan:3128", "http://proxy.lan:3128"),
            ("https://u:sesame@proxy.lan/", "https://proxy.lan"),
            ("u:sesame@[::1]:3128", "http://[::1]:3128"),
        ] {
            let proxy = Proxy::parse(text, None).expect(text);
            assert_eq!(proxy.to_string(), shown);
            assert_eq!(format!("{proxy:?}"), format!("Proxy({shown})"));
        }
    }

    #[test]
    fn what_is_no_http_proxy_is_refused_without_a_word_of_it() {
        for text in [
            "socks5://u:sesame@proxy.lan:1080",
            "http://u:sesame@proxy.lan/path",
            "http://u:sesame@proxy.lan?query",
            "http://u:sesame@",
            "sesame proxy",
            "",
        ] {
            let fault = Proxy::parse(text, None).expect_err(text);
            assert!(!fault.contains("sesame"), "{fault}");
        }
    }

    #[test]
    fn headers_are_lines_and_their_values_never_show() {
        let read = headers("# for the gateway\n\nCF-Access-Client-Id: a b\r\nX-Pass:sesame\n");
        let read = read.expect("headers");
        assert_eq!(read["cf-access-client-id"], "a b");
        assert_eq!(read["x-pass"], "sesame");
        let shown = format!("{read:?}");
        assert!(
            !shown.contains("sesame") && !shown.contains("a b"),
            "{shown}"
        );
    }

    #[test]
    fn a_header_that_cannot_be_or_is_ours_is_told_by_its_line_without_its_value() {
        for (line, told) in [
            ("X-Pass sesame", "line 2 is not of the form Name: value"),
            ("X Pass: sesame", "line 2 is not of the form"),
            (": sesame", "line 2 is not of the form"),
            ("X-Pass:", "line 2 is not of the form"),
            ("X-Pass: ses\u{7}ame", "line 2 is not of the form"),
            ("X-First: sesame", "line 2 repeats a header"),
            ("Authorization: sesame", "line 2 sets authorization"),
            ("HOST: sesame", "line 2 sets host"),
            ("Content-Length: sesame", "line 2 sets content-length"),
            (
                "Proxy-Authorization: sesame",
                "line 2 sets proxy-authorization",
            ),
            ("Transfer-Encoding: sesame", "line 2 sets transfer-encoding"),
        ] {
            let fault = headers(&format!("X-First: 1\n{line}\n")).expect_err(line);
            assert!(fault.contains(told), "{fault}");
            assert!(!fault.contains("sesame"), "{fault}");
        }
    }

    #[test]
    fn a_file_without_a_certificate_is_no_trust_store() {
        for text in ["", "no PEM", "-----BEGIN CERTIFICATE-----\n!\n"] {
            assert!(authorities(text.as_bytes()).is_err(), "{text}");
        }
    }
}
