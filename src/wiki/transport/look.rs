//! One request examined in detail: what an answer says besides its body, and what the layers below
//! say if there is no answer.

use std::error::Error as _;
use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, HeaderName, LOCATION};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use super::{RawAnswer, Transport};
use crate::wiki::error::WikiError;

/// The words for what the server says as it ends TLS.
pub(in crate::wiki) const ALERT: &str = "received fatal alert";

/// An answer with the headers that a look is worth.
#[derive(Debug)]
pub(in crate::wiki) struct ProbeResponse {
    pub(in crate::wiki) answer: RawAnswer,
    /// The answer's own date: the wiki's clock, in whole seconds.
    pub(in crate::wiki) date: Option<OffsetDateTime>,
    /// The address that it redirects to.
    pub(in crate::wiki) location: Option<String>,
}

/// The reason that there was no answer.
#[derive(Debug)]
pub(in crate::wiki) enum ProbeFailure {
    /// No connection was opened, or the server ended TLS; the message of the layers below, which must not be shown.
    NotConnected(String),
    /// The connection broke, or the limit of an answer was met.
    Broken(WikiError),
}

impl Transport {
    /// Sends one GraphQL request, once.
    pub(in crate::wiki) async fn look(
        &self,
        body: Vec<u8>,
        limit: Duration,
    ) -> Result<ProbeResponse, ProbeFailure> {
        let request = self.request(body);
        tokio::time::timeout(limit, async {
            let response = request.send().await.map_err(|error| {
                let causes = causes(&error);
                // What a client's certificate lacks is said once the connection counts as open.
                if error.is_connect() || causes.contains(ALERT) {
                    ProbeFailure::NotConnected(causes)
                } else {
                    ProbeFailure::Broken(WikiError::Cut)
                }
            })?;
            let (date, location) = (date(response.headers()), text(response.headers(), LOCATION));
            let too_late = Err(WikiError::Timeout { after: limit });
            let answer = self.read_to_end(response, None, limit).await;
            let answer = answer.unwrap_or(too_late).map_err(ProbeFailure::Broken)?;
            Ok(ProbeResponse {
                answer,
                date,
                location,
            })
        })
        .await
        .unwrap_or(Err(ProbeFailure::Broken(WikiError::Timeout {
            after: limit,
        })))
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// The date that an answer bears.
pub(super) fn date(headers: &HeaderMap) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(&text(headers, DATE)?, &Rfc2822).ok()
}

/// An error's causes, in one text.
pub(super) fn causes(error: &reqwest::Error) -> String {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    causes.join("\n")
}
