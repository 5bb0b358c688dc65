//! Liveness and readiness of the server.

use std::time::Instant;

use axum::body::Body;
use axum::http::{Response, StatusCode};
use serde_json::{Map, Value, json};
use time::format_description::well_known::Rfc3339;
use tokio::sync::Mutex;

use super::super::app::App;
use super::guard::Guard;
use super::live::LiveClients;
use super::refusal::respond;
use crate::wiki::{WikiError, in_words};

const JSON: &str = "application/json";

/// The last result and its time; one request at a time checks.
#[derive(Debug, Default)]
pub(super) struct Readiness(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    last: Option<(Instant, bool, Value)>,
    /// The fault that was last logged.
    logged: Option<String>,
}

/// The answer that the process is alive.
pub(super) fn alive() -> Response<Body> {
    respond(StatusCode::OK, JSON, json!({ "alive": true }).to_string())
}

impl Readiness {
    /// Whether calls can be served; a request by a name of this server also gets what is wrong.
    pub(super) async fn answer(&self, guard: &Guard, is_by_name: bool) -> Response<Body> {
        let mut known = self.0.lock().await;
        let fresh = guard.limits.fresh;
        let found = match known.last.take() {
            Some(found) if found.0.elapsed() < fresh => found,
            _ => {
                let found = look(guard).await;
                known.log(found.for_log());
                (Instant::now(), found.is_ready(), found.body(&guard.app))
            }
        };
        let (_, is_ready, body) = known.last.insert(found);
        let status = if *is_ready {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        };
        // A probe may use an address that this server does not know; it needs only the status.
        let status_alone = json!({ "ready": is_ready });
        let body = if is_by_name { body } else { &status_alone };
        respond(status, JSON, body.to_string())
    }
}

impl Known {
    /// Logs a change in one line; returns whether there was one.
    fn log(&mut self, fault: Option<String>) -> bool {
        if self.logged == fault {
            return false;
        }
        if let Some(fault) = &fault {
            tracing::error!("calls cannot be served: {fault}");
        } else {
            tracing::info!("calls can be served again");
        }
        self.logged = fault;
        true
    }
}

/// What is wrong, if anything.
struct Found {
    settings: Option<String>,
    wiki: Option<WikiError>,
    audit: Option<String>,
    /// A pause of writes, which does not stop calls from being served.
    paused: Option<String>,
    /// That heads are not anchored, which stops no write.
    anchors: Option<String>,
    /// How many named clients end soon.
    ending: usize,
}

async fn look(guard: &Guard) -> Found {
    let limits = guard.limits;
    let settings = guard.clients.as_deref().and_then(LiveClients::fault);
    guard.app.look_at_key().await;
    let wiki = guard.app.wiki.answers(limits.reached, limits.asked).await;
    let audit_log = guard.app.desk.audit();
    let audit = audit_log.probe().await.err();
    Found {
        settings: settings.map(|error| error.to_string()),
        wiki: wiki.err(),
        audit: audit.map(|error| error.to_string()),
        paused: guard.app.paused().map(|pause| pause.to_string()),
        anchors: audit_log.anchors_fault().map(|fault| fault.to_string()),
        ending: guard.clients.as_deref().map_or(0, LiveClients::ending),
    }
}

impl Found {
    fn is_ready(&self) -> bool {
        self.settings.is_none() && self.wiki.is_none() && self.audit.is_none()
    }

    fn body(&self, app: &App) -> Value {
        let word = |fault: Option<String>| fault.unwrap_or_else(|| "ok".to_owned());
        let checks = json!({
            "settings": word(self.settings.clone()),
            "wiki": word(self.wiki.as_ref().map(of_wiki)),
            "audit": word(self.audit.clone()),
        });
        let mut body = json!({ "ready": self.is_ready(), "checks": checks, "key": key(app) });
        for (name, told) in [("writesPaused", &self.paused), ("anchors", &self.anchors)] {
            if let (Some(told), Some(body)) = (told, body.as_object_mut()) {
                body.insert(name.to_owned(), told.as_str().into());
            }
        }
        if let (1.., Some(body)) = (self.ending, body.as_object_mut()) {
            body.insert("clientsEndingSoon".to_owned(), self.ending.into());
        }
        body
    }

    /// What is wrong, without faults of the key, which are in the log already.
    fn for_log(&self) -> Option<String> {
        let wiki = self.wiki.as_ref();
        let wiki = wiki.filter(|error| !error.is_about_the_key()).map(of_wiki);
        let faults = [
            ("settings", &self.settings),
            ("wiki", &wiki),
            ("audit", &self.audit),
        ];
        let told: Vec<String> = faults
            .into_iter()
            .filter_map(|(check, fault)| Some(format!("{check}: {}", fault.as_ref()?)))
            .collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}

/// What is wrong with the wiki, or with its key.
fn of_wiki(error: &WikiError) -> String {
    if error.is_about_the_key() {
        error.to_string()
    } else {
        format!("it does not answer: {error}")
    }
}

/// When the server's key expires, by its own claim, and other facts about it.
fn key(app: &App) -> Value {
    let key = app.wiki.key();
    let mut told = Map::new();
    if let (Some(at), Some(left)) = (key.expires(), key.left()) {
        let at = at.format(&Rfc3339).unwrap_or_default();
        told.insert("expiresAt".to_owned(), at.into());
        let left = if left.is_positive() {
            in_words(left)
        } else {
            "it has expired".to_owned()
        };
        told.insert("expiresIn".to_owned(), left.into());
    }
    if let Some(fault) = app.key_fault() {
        told.insert("notTaken".to_owned(), fault.into());
    }
    told.into()
}

#[cfg(test)]
mod tests {
    use super::{Found, Known, WikiError};

    #[test]
    fn a_change_is_logged_once_and_what_is_wrong_with_the_key_by_others() {
        let found = |wiki| Found {
            settings: None,
            wiki,
            audit: None,
            paused: None,
            anchors: None,
            ending: 0,
        };
        let mut known = Known::default();
        for (wiki, is_logged) in [
            (None, false),
            (Some(WikiError::NotConnected), true),
            (Some(WikiError::NotConnected), false),
            (None, true),
            (Some(WikiError::KeyRevoked), false),
            (None, false),
        ] {
            let found = found(wiki);
            assert_eq!(known.log(found.for_log()), is_logged, "{:?}", found.wiki);
        }
    }
}
