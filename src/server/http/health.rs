//! Liveness and readiness of the server.

use std::sync::Arc;
use std::time::Instant;

use axum::http::StatusCode;
use axum::response::Response;
use parking_lot::Mutex as PlainMutex;
use serde_json::{Map, Value, json};
use time::format_description::well_known::Rfc3339;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::super::clients::registry::ClientRegistry;
use super::super::clients::tokens_fault::TokensFileError;
use super::super::metrics::SiteChecks;
use super::super::{App, Site};
use super::refusal::respond;
use super::state::HttpState;
use crate::site::SiteName;
use crate::tools::{extended, without_nulls};
use crate::wiki::{WikiError, in_words};

const JSON: &str = "application/json";

/// The last result and its time; one request at a time checks.
#[derive(Default)]
pub(super) struct Readiness {
    cache: Arc<Mutex<ReadinessCache>>,
    told: Arc<PlainMutex<Option<Arc<ReadinessReport>>>>,
}

#[derive(Default)]
struct ReadinessCache {
    last: Option<(Instant, Arc<ReadinessReport>)>,
    /// The fault that was last logged.
    logged: Option<String>,
}

/// The answer that the process is alive.
pub(super) fn alive() -> Response {
    respond(StatusCode::OK, JSON, json!({ "alive": true }).to_string())
}

impl Readiness {
    /// Answers if calls can be served; a request by a name of this server also gets the faults.
    pub(super) async fn answer(&self, state: &HttpState, is_by_name: bool) -> Response {
        let found = self.cache.lock().await.renewed(state).await;
        *self.told.lock() = Some(Arc::clone(&found));
        let is_ready = found.is_ready();
        let status = if is_ready {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        };
        // A probe may use an address that this server does not know; it needs only the status.
        let body = if is_by_name {
            found.body()
        } else {
            json!({ "ready": is_ready })
        };
        respond(status, JSON, body.to_string())
    }

    /// The findings for each of these sites, as the metrics show them: those of now if they come at once, else those
    /// of the last look that has ended, and `None` before the first has.
    pub(super) async fn checks(
        &self,
        state: &Arc<HttpState>,
        sites: &[Arc<Site>],
    ) -> Vec<Option<SiteChecks>> {
        let (told, asked) = (Arc::clone(&self.told), Arc::clone(state));
        let look = async {
            // Whoever waits for the look of another leaves no task behind.
            let mut cache = Arc::clone(&self.cache).lock_owned().await;
            let look = tokio::spawn(async move {
                let found = cache.renewed(&asked).await;
                *told.lock() = Some(found);
            });
            look.await
        };
        // It goes on.
        let _ = timeout(state.limits.told, look).await;
        let found = self.told.lock().clone();
        let of_site = |site: &Arc<Site>| {
            let found = found.as_ref()?;
            let mut all = found.sites.iter();
            let own = all.find(|it| it.name.as_ref() == site.name());
            Some(SiteChecks {
                are_ok: [
                    ("settings", found.clients.is_none()),
                    ("wiki", own.is_some_and(|own| own.wiki.is_none())),
                    ("audit", own.is_some_and(|own| own.audit.is_none())),
                ],
                is_paused: own.is_some_and(|own| own.paused.is_some()),
            })
        };
        sites.iter().map(of_site).collect()
    }
}

impl ReadinessCache {
    /// The report of the last look if it still counts, else of one now.
    async fn renewed(&mut self, state: &HttpState) -> Arc<ReadinessReport> {
        let found = match self.last.take() {
            Some(found) if found.0.elapsed() < state.limits.fresh => found,
            _ => {
                let found = look(state).await;
                self.log(found.for_log());
                (Instant::now(), Arc::new(found))
            }
        };
        Arc::clone(&self.last.insert(found).1)
    }

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

/// The faults that were found, if any.
struct ReadinessReport {
    clients: Option<String>,
    /// The reason the present settings are not in force, which does not stop calls from being
    /// served.
    settings: Option<String>,
    sites: Vec<OfSite>,
    /// Number of named clients that end soon.
    ending: usize,
    /// The reason why the issuer of people is away: those who are known are served on.
    issuer: Option<String>,
    /// The digest of the settings in force.
    digest: String,
}

/// The faults of one site.
struct OfSite {
    name: Option<SiteName>,
    wiki: Option<WikiError>,
    audit: Option<String>,
    /// A pause of writes, which does not stop calls from being served.
    paused: Option<String>,
    /// That heads are not anchored, which stops no write.
    anchors: Option<String>,
    key: Value,
}

async fn look(state: &HttpState) -> ReadinessReport {
    let limits = state.limits;
    let oauth = state.oauth();
    let clients = state.clients.as_deref().and_then(ClientRegistry::fault);
    // Where people sign in, no client need be named.
    let clients = clients.filter(|fault| oauth.is_none() || *fault != TokensFileError::NoClient);
    let issuer = async {
        match &oauth {
            Some((issuer, _)) => issuer.look().await,
            None => None,
        }
    };
    let all = state.sites.all();
    let sites = all.iter().map(|site| {
        let (name, app) = (site.name().cloned(), site.app());
        async move {
            app.look_at_key().await;
            let wiki = app.wiki.answers(limits.reached, limits.asked).await;
            let audit_log = app.desk.audit();
            let audit = audit_log.probe().await.err();
            OfSite {
                name,
                wiki: wiki.err(),
                audit: audit.map(|error| error.to_string()),
                paused: app.paused().map(|pause| pause.to_string()),
                anchors: audit_log.anchoring.fault().map(|fault| fault.to_string()),
                key: key(&app),
            }
        }
    });
    let (sites, issuer) = tokio::join!(futures_util::future::join_all(sites), issuer);
    ReadinessReport {
        clients: clients.map(|error| error.to_string()),
        settings: state.sites.fault(),
        sites,
        issuer,
        digest: state.sites.settings_digest(),
        ending: state.clients.as_deref().map_or(0, ClientRegistry::ending),
    }
}

impl OfSite {
    fn is_ready(&self) -> bool {
        self.wiki.is_none() && self.audit.is_none()
    }

    /// What is known of the site; `settings` is a check of the whole server.
    fn tell(&self, settings: Option<&Value>) -> Value {
        json!({
            "ready": self.is_ready(),
            "checks": {
                "settings": settings,
                "wiki": word(self.wiki.as_ref().map(of_wiki)),
                "audit": word(self.audit.clone()),
            },
            "key": self.key,
            "writesPaused": self.paused,
            "anchors": self.anchors,
        })
    }

    /// The faults, without those of the key, which are in the log already.
    fn for_log(&self) -> Vec<String> {
        let wiki = self.wiki.as_ref();
        let wiki = wiki.filter(|error| !error.is_about_the_key()).map(of_wiki);
        let name = self.name.as_ref();
        let of = name.map_or_else(String::new, |name| format!("{name}: "));
        [("wiki", wiki), ("audit", self.audit.clone())]
            .into_iter()
            .filter_map(|(check, fault)| Some(format!("{of}{check}: {}", fault?)))
            .collect()
    }
}

fn word(fault: Option<String>) -> Value {
    fault.unwrap_or_else(|| "ok".to_owned()).into()
}

impl ReadinessReport {
    /// True if calls can be served; of several sites, those of one at least: one that does not
    /// answer must not take the others with it.
    fn is_ready(&self) -> bool {
        self.clients.is_none() && self.sites.iter().any(OfSite::is_ready)
    }

    fn body(&self) -> Value {
        let settings = word(self.clients.clone());
        let body = match self.sites.as_slice() {
            [one] if one.name.is_none() => one.tell(Some(&settings)),
            sites => {
                let of_each = sites.iter().map(|site| {
                    let name = site.name.as_ref().map_or("", SiteName::as_str);
                    (name.to_owned(), site.tell(None))
                });
                let of_each: Map<String, Value> = of_each.collect();
                json!({ "checks": { "settings": settings }, "sites": of_each })
            }
        };
        let more = json!({
            "ready": self.is_ready(),
            "settingsDigest": self.digest,
            "settingsNotTaken": self.settings,
            "clientsEndingSoon": (self.ending > 0).then_some(self.ending),
            "issuerAway": self.issuer,
        });
        without_nulls(extended(body, more))
    }

    /// The faults, in one line.
    fn for_log(&self) -> Option<String> {
        let clients = self.clients.iter();
        let mut told: Vec<String> = clients.map(|fault| format!("settings: {fault}")).collect();
        told.extend(self.sites.iter().flat_map(OfSite::for_log));
        (!told.is_empty()).then(|| told.join("; "))
    }
}

/// The fault of the wiki, or of its key.
fn of_wiki(error: &WikiError) -> String {
    if error.is_about_the_key() {
        error.to_string()
    } else {
        format!("it does not answer: {error}")
    }
}

/// Time at which the server's key expires, by its own claim, and other facts about it.
fn key(app: &App) -> Value {
    let key = app.wiki.key();
    let ends = key.expires.zip(key.left());
    json!({
        "expiresAt": ends.map(|(at, _)| at.format(&Rfc3339).unwrap_or_default()),
        "expiresIn": ends.map(|(_, left)| {
            if left.is_positive() {
                in_words(left)
            } else {
                "it has expired".to_owned()
            }
        }),
        "notTaken": app.key_fault(),
    })
}

#[cfg(test)]
mod tests {
    use super::{OfSite, ReadinessCache, ReadinessReport, Value, WikiError};

    #[test]
    fn a_change_is_logged_once_and_what_is_wrong_with_the_key_by_others() {
        let found = |wiki| ReadinessReport {
            clients: None,
            settings: None,
            sites: vec![OfSite {
                name: None,
                wiki,
                audit: None,
                paused: None,
                anchors: None,
                key: Value::Null,
            }],
            ending: 0,
            issuer: None,
            digest: String::new(),
        };
        let mut known = ReadinessCache::default();
        for (wiki, is_logged) in [
            (None, false),
            (Some(WikiError::NotConnected), true),
            (Some(WikiError::NotConnected), false),
            (None, true),
            (Some(WikiError::KeyRevoked), false),
            (None, false),
        ] {
            let found = found(wiki);
            let wiki = &found.sites.first().expect("a site").wiki;
            assert_eq!(known.log(found.for_log()), is_logged, "{wiki:?}");
        }
    }
}
