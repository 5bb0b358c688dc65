//! Sends a notification by POST.

#![expect(
    clippy::disallowed_types,
    reason = "the operator's own addresses, never the wiki's"
)]

use std::time::Duration;

use reqwest::Client;
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use secrecy::{ExposeSecret as _, SecretString};

/// Sends JSON to an address. The answer is not read.
///
/// # Errors
/// Why the JSON did not arrive, as a fragment without the address; and whether another try may
/// help.
pub(super) async fn post(
    address: &SecretString,
    json: String,
    most: Duration,
) -> Result<(), (String, bool)> {
    let client = Client::builder()
        // A redirect would carry the notification to another address.
        .redirect(Policy::none())
        .no_proxy()
        .timeout(most)
        .user_agent(concat!("wikijs-gate/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|_| {
            (
                "this system has no certificate authorities".to_owned(),
                false,
            )
        })?;
    let request = client
        .post(address.expose_secret())
        .header(CONTENT_TYPE, "application/json")
        .body(json);
    let answer = request.send().await.map_err(|error| {
        let why = if error.is_timeout() {
            "it did not answer in time"
        } else if error.is_connect() {
            "it cannot be reached"
        } else {
            "the request broke off"
        };
        (why.to_owned(), true)
    })?;
    let status = answer.status();
    if status.is_success() {
        return Ok(());
    }
    Err((
        format!("it answered {}", status.as_u16()),
        status.is_server_error(),
    ))
}
