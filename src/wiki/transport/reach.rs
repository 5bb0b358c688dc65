//! Checks step by step that the wiki can be reached: its name, the connection, TLS, and what
//! answers there.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use graphql_client::GraphQLQuery as _;
use time::OffsetDateTime;
use tokio::net::{TcpStream, lookup_host};

use super::super::client::{Wiki, encode};
use super::super::operations::generated::{LocalizationConfig, localization_config};
use super::classify::read_query;
use super::{ALERT, ProbeFailure, ProbeResponse};
use crate::wiki::{SiteLocales, WikiError, WikiResult};

/// Facts about a wiki that answers.
#[derive(Debug)]
pub struct Reached {
    /// The address of the peer.
    pub peer: SocketAddr,
    /// Duration of one request.
    pub took: Duration,
    /// Number of seconds that our clock is at least ahead of the wiki's (behind if negative);
    /// `None` if the answer has no date.
    pub ahead: Option<i64>,
    /// The locales of the site, or why the wiki does not tell them.
    pub locales: WikiResult<SiteLocales>,
}

/// The reason that the wiki was not reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreachable {
    /// The host's name has no address.
    NoSuchHost,
    /// Nobody listens there.
    Refused,
    /// No connection was opened in time.
    NoConnection {
        /// The limit.
        after: Duration,
    },
    /// The system opened none.
    NotConnected(io::ErrorKind),
    /// A connection, but no TLS.
    Tls(TlsFault),
    /// The answer is a redirect, which is never followed: the key must not travel.
    Redirected {
        /// The HTTP status.
        status: u16,
        /// The redirect's target, without what may be secret in it.
        to: Option<String>,
    },
    /// A web page or something else in the API's place.
    NotTheApi {
        /// The HTTP status.
        status: u16,
        /// True if it is HTML.
        is_html: bool,
    },
    /// Nothing is there, under this path.
    WrongPath,
    /// Anything else.
    Other(WikiError),
}

/// The fault of the wiki's certificate, or its TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsFault {
    /// Nobody whom this system trusts issued the certificate; it may be self-signed.
    UnknownIssuer,
    /// It has expired.
    Expired,
    /// It is not valid yet.
    NotYetValid,
    /// It is for another host.
    WrongHost,
    /// The server does not speak TLS.
    NotTls,
    /// The server ended it: it asks for a certificate, and did not get one that it takes.
    Ended,
    /// Anything else.
    Other,
}

impl TlsFault {
    /// Reads it from what the layers below say.
    pub(super) fn from_causes(causes: &str) -> Self {
        [
            ("UnknownIssuer", Self::UnknownIssuer),
            // Before the others, whose words a host's name may have.
            ("not valid for name", Self::WrongHost),
            ("NotValidForName", Self::WrongHost),
            ("expired", Self::Expired),
            ("not valid yet", Self::NotYetValid),
            ("InvalidContentType", Self::NotTls),
            // These alerts are no matter of a client's certificate; a server may send any other for one.
            ("alert: ProtocolVersion", Self::Other),
            ("alert: InsufficientSecurity", Self::Other),
            ("alert: UnrecognisedName", Self::Other),
            (ALERT, Self::Ended),
        ]
        .into_iter()
        .find_map(|(text, fault)| causes.contains(text).then_some(fault))
        .unwrap_or(Self::Other)
    }

    /// Says why a certificate that was shown is refused.
    pub(super) const fn distrust(self) -> &'static str {
        match self {
            Self::UnknownIssuer => "no authority that is known here has signed it",
            Self::WrongHost => "it is another host's",
            Self::Expired => "it has expired",
            Self::NotYetValid | Self::NotTls | Self::Ended | Self::Other => "it cannot be verified",
        }
    }
}

impl Wiki {
    /// Looks whether the wiki can be reached, once, within the time of one read.
    ///
    /// # Errors
    /// The first step that failed.
    pub async fn reach(&self) -> Result<Reached, Unreachable> {
        let limit = self.settings.time.read;
        let began = Instant::now();
        let peer = tokio::time::timeout(limit, self.connect())
            .await
            .unwrap_or(Err(Unreachable::NoConnection { after: limit }))?;
        let query = LocalizationConfig::build_query(localization_config::Variables);
        let body = encode(&query).map_err(Unreachable::Other)?;
        let (asked, clock) = (Instant::now(), OffsetDateTime::now_utc());
        let left = limit.saturating_sub(began.elapsed());
        let seen = self.transport.look(body, left).await;
        let seen = seen.map_err(|why| self.unanswered(why))?;
        let took = asked.elapsed();
        Ok(Reached {
            peer,
            took,
            ahead: seen
                .date
                .map(|date| ahead(clock, OffsetDateTime::now_utc(), date)),
            locales: self.understand(&seen)?,
        })
    }

    /// Opens a connection and closes it again.
    async fn connect(&self) -> Result<SocketAddr, Unreachable> {
        let address = &self.settings.base_url;
        let host = address.host_str().ok_or(Unreachable::NoSuchHost)?;
        let host = host.trim_matches(['[', ']']);
        let port = address.port_or_known_default().unwrap_or_default();
        let found = lookup_host((host, port)).await;
        let found: Vec<SocketAddr> = found.map_err(|_| Unreachable::NoSuchHost)?.collect();
        if found.is_empty() {
            return Err(Unreachable::NoSuchHost);
        }
        let stream = TcpStream::connect(found.as_slice()).await;
        stream
            .and_then(|stream| stream.peer_addr())
            .map_err(|error| match error.kind() {
                io::ErrorKind::ConnectionRefused => Unreachable::Refused,
                kind => Unreachable::NotConnected(kind),
            })
    }

    fn unanswered(&self, why: ProbeFailure) -> Unreachable {
        match why {
            // A connection was opened just now, so it is what comes after it.
            ProbeFailure::NotConnected(causes) if self.settings.base_url.scheme() == "https" => {
                Unreachable::Tls(TlsFault::from_causes(&causes))
            }
            ProbeFailure::NotConnected(_) => Unreachable::Other(WikiError::NotConnected),
            ProbeFailure::Broken(error) => Unreachable::Other(error),
        }
    }

    fn understand(&self, seen: &ProbeResponse) -> Result<WikiResult<SiteLocales>, Unreachable> {
        let status = seen.answer.status;
        match read_query(&seen.answer).and_then(SiteLocales::new) {
            Err(WikiError::Redirected { status }) => Err(Unreachable::Redirected {
                status,
                to: seen.location.as_deref().and_then(|to| self.target(to)),
            }),
            Err(WikiError::NotGraphQl { status: 404 | 405 }) => Err(Unreachable::WrongPath),
            Err(WikiError::NotGraphQl { .. } | WikiError::Malformed { .. }) => {
                Err(Unreachable::NotTheApi {
                    status,
                    is_html: is_html(&seen.answer.body),
                })
            }
            Err(
                error @ (WikiError::Unavailable { .. }
                | WikiError::TurnedAway { .. }
                | WikiError::RateLimited { .. }
                | WikiError::RequestTooLarge
                | WikiError::RefusedForSize),
            ) => Err(Unreachable::Other(error)),
            told => Ok(told),
        }
    }

    /// The target of a redirect, without parts that may be secret.
    fn target(&self, location: &str) -> Option<String> {
        let mut to = self.settings.base_url.join(location).ok()?;
        // Both fail for addresses that have neither.
        let _ = to.set_username("");
        let _ = to.set_password(None);
        to.set_query(None);
        to.set_fragment(None);
        Some(to.into())
    }
}

fn is_html(body: &[u8]) -> bool {
    let start = body.get(..body.len().min(1024)).unwrap_or(body);
    let start = String::from_utf8_lossy(start).to_lowercase();
    let start = start.trim_start();
    start.starts_with("<!doctype html") || start.contains("<html")
}

/// Seconds that a clock that showed `asked` and then `answered` is at least ahead of one that
/// showed `date` in between, cut to whole seconds.
fn ahead(asked: OffsetDateTime, answered: OffsetDateTime, date: OffsetDateTime) -> i64 {
    let last = date.saturating_add(time::Duration::SECOND);
    if asked > last {
        (asked - last).whole_seconds()
    } else if answered < date {
        (answered - date).whole_seconds()
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use rustls::AlertDescription;

    use super::{TlsFault, ahead, is_html};

    #[test]
    fn a_clock_is_ahead_or_behind_only_beyond_what_a_whole_second_hides() {
        let date = datetime!(2026-01-01 12:00:00 UTC);
        for (asked, answered, expected) in [
            (
                datetime!(2026-01-01 12:00:00.9 UTC),
                datetime!(2026-01-01 12:00:03 UTC),
                0,
            ),
            (
                datetime!(2026-01-01 11:59:57 UTC),
                datetime!(2026-01-01 12:00:00 UTC),
                0,
            ),
            (
                datetime!(2026-01-01 12:00:07 UTC),
                datetime!(2026-01-01 12:00:08 UTC),
                6,
            ),
            (
                datetime!(2026-01-01 11:59:50 UTC),
                datetime!(2026-01-01 11:59:51 UTC),
                -9,
            ),
        ] {
            assert_eq!(ahead(asked, answered, date), expected, "{asked}");
        }
    }

    #[test]
    fn html_is_told_from_json() {
        assert!(is_html(b"\n<!DOCTYPE HTML><p>"));
        assert!(is_html(b"<?xml version=\"1.0\"?><html>"));
        assert!(!is_html(b"{\"data\":{}}"));
        assert!(!is_html(b""));
    }

    #[test]
    fn what_nobody_knows_is_another_fault() {
        assert_eq!(TlsFault::from_causes("handshake failure"), TlsFault::Other);
    }

    #[test]
    fn a_word_in_the_name_of_a_host_is_no_fault_of_the_certificate() {
        let said = "certificate not valid for name \"expired.example\"";
        assert_eq!(TlsFault::from_causes(said), TlsFault::WrongHost);
    }

    #[test]
    fn an_alert_that_is_no_matter_of_a_certificate_does_not_ask_for_one() {
        let fault = |alert| TlsFault::from_causes(&rustls::Error::AlertReceived(alert).to_string());
        for alert in [
            AlertDescription::ProtocolVersion,
            AlertDescription::InsufficientSecurity,
            AlertDescription::UnrecognisedName,
        ] {
            assert_eq!(fault(alert), TlsFault::Other, "{alert:?}");
        }
        for alert in [
            AlertDescription::CertificateRequired,
            AlertDescription::HandshakeFailure,
        ] {
            assert_eq!(fault(alert), TlsFault::Ended, "{alert:?}");
        }
    }
}
