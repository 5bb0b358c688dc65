//! Signs people in to the review page at their issuer, and asks about whoever signed in again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use time::OffsetDateTime;
use tokio::sync::Semaphore;
use url::Url;

use super::super::clients::client_record::ClientRecord;
use super::super::clients::person::person_at_page;
use super::super::clients::registry::ClientRegistry;
use super::seal::{Seal, page_secret};
use super::state::HttpState;
use crate::oauth::{CodeFault, CodeSecrets, IssuedClaims, OauthSettings, PageClient};
use crate::review::{
    BegunSignIn, FinishedSignIn, IssuerAnswer, IssuerDoor, IssuerRefusal, SignInBy, SignInRecord,
    SignedOut, digest, random,
};
use crate::store::Fence;

/// Seconds for which a sign-in that has begun counts.
const BEGUN: i64 = 600;
/// The most codes that are redeemed at a time.
const MOST_AT_ONCE: usize = 16;
/// The most sign-ins that are remembered to have ended.
const MOST_ENDED: usize = 1_000;
/// Time that a request waits for the issuer to be asked again.
const PATIENCE: Duration = Duration::from_secs(12);
/// The longest time between two tries while the issuer is away, in seconds.
const TRIED_AGAIN: i64 = 60;
/// Says that an answer belongs to no sign-in that is under way.
const OVER: &str =
    "This sign-in was not begun in this browser, was ended already, or took more than ten minutes.";
/// The purpose of the seal on the cookie of a sign-in.
const OF_SIGN_IN: &str = "sign-in";
/// The purpose of the seal in a kept sign-in.
const OF_REFRESH: &str = "refresh token";

/// A sign-in that has begun, as its cookie holds it.
#[derive(Serialize, Deserialize)]
struct BegunRecord {
    secrets: CodeSecrets,
    then: String,
    at: i64,
}

/// The people at a server's review page.
#[derive(Clone)]
pub(super) struct People {
    state: Arc<HttpState>,
    clients: Arc<ClientRegistry>,
    /// Seals until the end of the process, where no file holds a key.
    own: SecretString,
    places: Arc<Semaphore>,
    /// The states of sign-ins that were ended, the oldest first: each ends once.
    ended: Arc<Mutex<VecDeque<String>>>,
}

fn now() -> i64 {
    OffsetDateTime::now_utc().unix_timestamp()
}

impl People {
    /// Those of a server.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub(super) fn new(
        state: Arc<HttpState>,
        clients: Arc<ClientRegistry>,
    ) -> Result<Self, getrandom::Error> {
        Ok(Self {
            clients,
            own: random("")?.into(),
            places: Arc::new(Semaphore::new(MOST_AT_ONCE)),
            ended: Arc::default(),
            state,
        })
    }

    /// The settings of the page's sign-in, if it has one.
    pub(super) fn settings(&self) -> Option<Arc<OauthSettings>> {
        let (_, settings) = self.state.oauth()?;
        settings.review_client_id.is_some().then_some(settings)
    }

    /// The page as the issuer's client.
    fn page_client(&self) -> Result<PageClient, String> {
        let none = || "nobody signs in at an issuer here".to_owned();
        let (issuer, settings) = self.state.oauth().ok_or_else(none)?;
        let id = settings.review_client_id.clone().ok_or_else(none)?;
        Ok(PageClient {
            secret: page_secret(&settings)?,
            issuer,
            settings,
            id,
        })
    }

    /// The key that seals.
    fn seal(&self, settings: &OauthSettings) -> Result<Seal, String> {
        Seal::of_settings(settings, &self.own)
    }

    /// Checks what the settings name.
    ///
    /// # Errors
    /// One sentence about a file.
    fn ready(&self) -> Result<(PageClient, Seal), IssuerRefusal> {
        let ready = self.page_client().and_then(|client| {
            let seal = self.seal(&client.settings)?;
            Ok((client, seal))
        });
        ready.map_err(|fault| {
            tracing::error!("nobody signs in to the review page: {fault}");
            away("The server is not set up as it should be; its log says more.")
        })
    }

    /// Notes that a sign-in ends; `false` if it ended before.
    fn ends_first(&self, state: &str) -> bool {
        let mut ended = self.ended.lock();
        if ended.iter().any(|other| other == state) {
            return false;
        }
        if ended.len() >= MOST_ENDED {
            ended.pop_front();
        }
        ended.push_back(state.to_owned());
        true
    }

    /// The client of a sign-in, if it may come in: of a link's, as this server has it.
    fn client(&self, record: &SignInRecord) -> Result<Arc<ClientRecord>, SignedOut> {
        let Some(claims) = record.claims() else {
            let client = record.client().and_then(|id| self.clients.by_id(id));
            return client.ok_or(SignedOut::Over);
        };
        let settings = self.settings().ok_or(SignedOut::Over)?;
        let client = person_at_page(&claims, &settings, self.state.settings().person_limit);
        let why = match client {
            Err(none) => format!("You may not come in: {}.", none.message()),
            Ok(client) if client.role.signs_in() => return Ok(Arc::new(client)),
            Ok(_) => "Your grant is for a client at /mcp, and opens no review page.".to_owned(),
        };
        Err(SignedOut::Because(why))
    }

    /// True if a sign-in counts here: one at an issuer, if the issuer is ours and our key sealed it.
    fn counts(&self, record: &SignInRecord) -> bool {
        let SignInBy::Issuer { claims, key } = &record.by else {
            return true;
        };
        self.settings().is_some_and(|settings| {
            claims.issuer == settings.issuer
                && self.seal(&settings).is_ok_and(|seal| seal.id == *key)
        })
    }

    /// A session that is kept and counts here.
    fn kept(&self, name: &str) -> Option<SignInRecord> {
        let found = self.clients.sign_ins.session(name).ok()?;
        found.filter(|record| self.counts(record))
    }

    /// The client of a sign-in as it is now, and a sentence about the session that the person should know; asks
    /// the issuer first, if that is due.
    pub(super) async fn standing(
        &self,
        (name, record): (&str, &SignInRecord),
    ) -> Result<(Arc<ClientRecord>, Option<String>), SignedOut> {
        if !self.counts(record) {
            return Err(SignedOut::Over);
        }
        let mut record = record.clone();
        if self.is_due(&record) {
            let (own, of) = (self.clone(), name.to_owned());
            // Whoever hangs up must not lose the token that comes in place of the one that is used up.
            let asking = tokio::spawn(async move { own.ask_again(&of).await });
            record = match tokio::time::timeout(PATIENCE, asking).await {
                Ok(Ok(asked)) => asked?,
                _ => record.in_vain(now()),
            };
        }
        let until = record.bridged_until();
        let is_away = record.refresh.is_some() && record.tried > record.asked;
        if is_away && now() >= until {
            let why = "The issuer could not be asked about you for an hour. You come in again as soon as it answers.";
            return Err(SignedOut::Because(why.to_owned()));
        }
        let client = self.client(&record).inspect_err(|signed_out| {
            // A server whose file has the client not yet ends nothing.
            if matches!(signed_out, SignedOut::Because(_)) {
                self.end(name, Fence::default());
            }
        })?;
        let notice = is_away.then(|| {
            let until = OffsetDateTime::from_unix_timestamp(until).ok();
            let until = until.map_or_else(String::new, |at| {
                format!(" until {:02}:{:02} UTC", at.hour(), at.minute())
            });
            format!("The issuer does not answer. You stay signed in{until} at most.")
        });
        Ok((client, notice))
    }

    /// True if the issuer is to be asked again, or the use of a sign-in is to be noted.
    fn is_due(&self, record: &SignInRecord) -> bool {
        let pace = i64::try_from(self.state.limits.asked_again.as_secs()).unwrap_or(i64::MAX);
        // A clock that went back makes nothing wait until it is that late again.
        let since = |at: i64| match now().saturating_sub(at) {
            passed if passed < 0 => pace,
            passed => passed,
        };
        let is_late = since(record.asked.max(record.used)) >= pace
            || (record.tried > record.asked && since(record.tried) >= pace.min(TRIED_AGAIN));
        is_late && !record.is_unused()
    }

    /// Asks the issuer again, and keeps what it says.
    async fn ask_again(&self, name: &str) -> Result<SignInRecord, SignedOut> {
        let kept = &self.clients.sign_ins;
        let turn = kept.turn(name).await;
        let record = self.kept(name).ok_or(SignedOut::Over)?;
        let Ok(turn) = turn else {
            return Ok(record.in_vain(now()));
        };
        if !self.is_due(&record) {
            return Ok(record);
        }
        let asked = self.asked(&record).await;
        let renewed = match asked {
            Ok(renewed) => renewed,
            Err(CodeFault::Away(fault)) => {
                tracing::warn!(person = %record.name(), "the issuer could not be asked again: {fault}");
                record.in_vain(now())
            }
            Err(CodeFault::Refused(fault)) => {
                self.end(name, turn.fence());
                tracing::info!(person = %record.name(), "signed out: {fault}");
                let why = "Your issuer does not vouch for this session any more.";
                return Err(SignedOut::Because(why.to_owned()));
            }
        };
        // Whoever signed out meanwhile, without waiting for this turn, stays out.
        if matches!(kept.get(name), Ok(None)) {
            if let Ok(client) = self.page_client() {
                self.take_back(&Arc::new(client), renewed.refresh);
            }
            return Err(SignedOut::Over);
        }
        if let Err(fault) = kept.write(name, &renewed, turn.fence()) {
            tracing::error!("a sign-in cannot be kept: {fault}");
        }
        Ok(renewed)
    }

    /// The sign-in as the issuer has it now.
    async fn asked(&self, record: &SignInRecord) -> Result<SignInRecord, CodeFault> {
        let mut used = record.clone();
        used.used = now();
        let Some(sealed) = &record.refresh else {
            return Ok(used);
        };
        let client = self.page_client().map_err(CodeFault::Away)?;
        let seal = self.seal(&client.settings).map_err(CodeFault::Away)?;
        let refresh = seal.open(OF_REFRESH, sealed);
        let over = || CodeFault::Refused("its token was sealed with another key".to_owned());
        let refresh: SecretString = refresh.ok_or_else(over)?.into();
        let issued = client.ask_again(&refresh).await?;
        let mut renewed = match issued.claims {
            // Its keys could not be asked for: the token for the next time counts all the same.
            IssuedClaims::Unverified => record.clone().in_vain(now()),
            // It says nothing of the person: an hour after the sign-in that is not enough any more.
            IssuedClaims::None => {
                used.refresh = None;
                used
            }
            IssuedClaims::Of(claims)
                if record
                    .claims()
                    .is_some_and(|own| own.subject == claims.subject) =>
            {
                record.renewed(*claims, now())
            }
            IssuedClaims::Of(_) => {
                return Err(CodeFault::Refused("it names another person".to_owned()));
            }
        };
        if let (Some(next), Some(_)) = (&issued.refresh, &renewed.refresh) {
            let sealed = seal.seal(OF_REFRESH, next.expose_secret());
            renewed.refresh = Some(sealed.map_err(|fault| CodeFault::Away(fault.to_owned()))?);
        }
        Ok(renewed)
    }

    /// Takes a sealed refresh token back at the issuer. Nobody waits for it, and whoever hangs up does not
    /// stop it.
    fn take_back(&self, client: &Arc<PageClient>, sealed: Option<String>) {
        let sealed = sealed.zip(self.seal(&client.settings).ok());
        if let Some(refresh) = sealed.and_then(|(text, seal)| seal.open(OF_REFRESH, &text)) {
            let client = Arc::clone(client);
            tokio::spawn(async move {
                if let Err(fault) = client.revoke(&refresh.into()).await {
                    tracing::warn!("a token could not be taken back at the issuer: {fault:?}");
                }
            });
        }
    }

    fn end(&self, name: &str, turn: Fence) {
        if let Err(fault) = self.clients.sign_ins.end(name, turn) {
            tracing::error!("a sign-in cannot be ended: {fault}");
        }
    }
}

#[async_trait::async_trait]
impl IssuerDoor for People {
    fn name(&self) -> String {
        let settings = self.settings();
        let url = settings.and_then(|settings| Url::parse(&settings.issuer).ok());
        let host = url.as_ref().and_then(Url::host_str);
        host.unwrap_or("the issuer").to_owned()
    }

    async fn begin(&self, page: &str, then: &str) -> Result<BegunSignIn, IssuerRefusal> {
        let (client, seal) = self.ready()?;
        let secrets = CodeSecrets::new().map_err(|error| away(&error.to_string()))?;
        let at = client.sign_in_at(&secrets, &back(page)).await;
        let location = at.map_err(|fault| of_fault(&fault))?.into();
        let begun = BegunRecord {
            secrets,
            // It is read as the name of one of our own pages, and as nothing else.
            then: then.chars().take(64).collect(),
            at: now(),
        };
        let begun = serde_json::to_string(&begun).map_err(|error| away(&error.to_string()))?;
        let cookie = seal.seal(OF_SIGN_IN, &begun).map_err(away)?;
        Ok(BegunSignIn { location, cookie })
    }

    async fn finish(&self, answer: IssuerAnswer<'_>) -> Result<FinishedSignIn, IssuerRefusal> {
        let (client, seal) = self.ready()?;
        let begun = seal.open(OF_SIGN_IN, answer.cookie);
        let begun = begun.and_then(|text| serde_json::from_str::<BegunRecord>(&text).ok());
        let is_own = |begun: &BegunRecord| {
            let state = begun.secrets.state.as_bytes();
            now() < begun.at.saturating_add(BEGUN)
                && bool::from(state.ct_eq(answer.state.as_bytes()))
        };
        let over = || refusal(OVER);
        let begun = begun.filter(is_own).ok_or_else(over)?;
        let sender = client.check_sender(answer.issuer).await;
        sender.map_err(|fault| of_fault(&fault))?;
        if !answer.error.is_empty() || answer.code.is_empty() {
            return Err(of_error(answer.error));
        }
        // Each costs a request to the issuer.
        if !self.ends_first(&begun.secrets.state) {
            return Err(over());
        }
        let place = self.places.try_acquire();
        let _place = place.map_err(|_| away("Too many people sign in at this moment."))?;
        let issued = client
            .redeem(answer.code, &begun.secrets, &back(answer.page))
            .await;
        let issued = issued.map_err(|fault| of_fault(&fault))?;
        let IssuedClaims::Of(claims) = issued.claims else {
            return Err(refusal("The issuer did not say who you are."));
        };
        let (claims, key) = (*claims, seal.id.clone());
        let mut record = SignInRecord::new(SignInBy::Issuer { claims, key }, now());
        if let Some(refresh) = &issued.refresh {
            let sealed = seal.seal(OF_REFRESH, refresh.expose_secret());
            record.refresh = Some(sealed.map_err(away)?);
        }
        let signed_in = self
            .client(&record)
            .map_err(|signed_out| match signed_out {
                SignedOut::Over => over(),
                SignedOut::Because(why) => refusal(&why),
            })?;
        let cookie = random("").map_err(|error| away(&error.to_string()))?;
        let (kept, name) = (self.clients.sign_ins.clone(), digest(&cookie));
        let keep = move || kept.begin(&name, &record);
        let kept = crate::blocking::run(keep).await;
        let kept = kept.unwrap_or_else(|| Err("it broke off".to_owned()));
        kept.map_err(|fault| {
            tracing::error!("a sign-in cannot be kept: {fault}");
            away("The sign-in could not be kept; the server's log says more.")
        })?;
        Ok(FinishedSignIn {
            name: signed_in.name.clone(),
            cookie,
            then: begun.then,
        })
    }

    async fn leave(&self, name: &str) -> Option<String> {
        let ended = self.clients.sign_ins.sign_out(name).await;
        let record = ended.unwrap_or_else(|fault| {
            tracing::error!("a sign-in cannot be ended: {fault}");
            None
        });
        let record = record.filter(|record| self.counts(record));
        let client = Arc::new(self.page_client().ok()?);
        self.take_back(&client, record.and_then(|record| record.refresh));
        client.sign_out_at().await.map(Into::into)
    }
}

/// The address to which the issuer leads back.
fn back(page: &str) -> String {
    format!("{}/signed-in", page.trim_end_matches('/'))
}

fn refusal(why: &str) -> IssuerRefusal {
    IssuerRefusal {
        is_away: false,
        why: why.to_owned(),
    }
}

fn away(why: &str) -> IssuerRefusal {
    IssuerRefusal {
        is_away: true,
        why: why.to_owned(),
    }
}

/// The refusal for an error that an issuer answers (RFC 6749, 4.1.2.1), in words of our own.
fn of_error(error: &str) -> IssuerRefusal {
    let why = match error {
        "access_denied" => {
            "You did not agree at the issuer, or it does not let this account in here."
        }
        "temporarily_unavailable" | "server_error" => {
            "The issuer cannot sign anybody in at the moment."
        }
        "invalid_scope" => {
            "The issuer refuses the scopes that this page asks for: openid, profile, email, and groups and offline_access where it knows them. The operator allows them for its client there."
        }
        "invalid_request" | "unauthorized_client" | "unsupported_response_type" => {
            "The issuer does not take this page for its client. The operator looks at how the client is registered there."
        }
        _ => "The issuer did not sign you in.",
    };
    tracing::warn!("nobody was signed in to the review page: {why}");
    refusal(why)
}

/// The refusal that a person is told; the log says more.
fn of_fault(fault: &CodeFault) -> IssuerRefusal {
    tracing::warn!("nobody was signed in to the review page: {fault}");
    match fault {
        CodeFault::Away(_) => away("The issuer does not answer as it should."),
        CodeFault::Refused(why) => refusal(&format!(
            "The issuer does not vouch for this sign-in: {why}."
        )),
    }
}
