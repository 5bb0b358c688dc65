//! Whether the server lives, and whether it can do its work.

use std::time::Instant;

use axum::body::Body;
use axum::http::{Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::guard::Guard;
use super::live::LiveClients;
use super::refusal::respond;

const JSON: &str = "application/json";

/// What was found out last, and when; one request at a time asks.
#[derive(Debug, Default)]
pub(super) struct Readiness(Mutex<Option<(Instant, bool, Value)>>);

/// The process answers.
pub(super) fn alive() -> Response<Body> {
    respond(StatusCode::OK, JSON, json!({ "alive": true }).to_string())
}

impl Readiness {
    /// Whether calls can be served, and, told to whoever asks by a name of this server, what is
    /// wrong if not.
    pub(super) async fn answer(&self, guard: &Guard, is_by_name: bool) -> Response<Body> {
        let mut known = self.0.lock().await;
        let fresh = guard.limits.fresh;
        let found = match known.take() {
            Some(found) if found.0.elapsed() < fresh => found,
            _ => {
                let (is_ready, checks) = look(guard).await;
                (Instant::now(), is_ready, checks)
            }
        };
        let (_, is_ready, checks) = known.insert(found);
        let status = if *is_ready {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        };
        // A probe asks for an address that this server may not know; it looks at the status alone.
        let body = if is_by_name {
            json!({ "ready": is_ready, "checks": checks })
        } else {
            json!({ "ready": is_ready })
        };
        respond(status, JSON, body.to_string())
    }
}

async fn look(guard: &Guard) -> (bool, Value) {
    let limits = guard.limits;
    let settings = guard.clients.as_ref().and_then(LiveClients::fault);
    let wiki = guard.app.wiki.answers(limits.reached, limits.asked).await;
    let audit = guard.app.writer.audit().probe().await.err();
    let is_ready = settings.is_none() && wiki && audit.is_none();
    let word = |fault: Option<String>| fault.unwrap_or_else(|| "ok".to_owned());
    let checks = json!({
        "settings": word(settings.map(|error| error.to_string())),
        "wiki": word((!wiki).then(|| "it does not answer".to_owned())),
        "audit": word(audit.map(|error| error.to_string())),
    });
    (is_ready, checks)
}
