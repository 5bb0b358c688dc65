//! The current named clients: the file is checked again while the server runs.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use time::OffsetDateTime;

use super::super::delegates::delegate::{DelegateBasis, DelegateRecord};
use super::super::delegates::kept::{DelegatesError, KeptDelegates};
use super::super::delegates::live::LiveDelegate;
use super::super::site::{Site, Sites};
use super::client_record::{ClientRecord, Unwelcome};
use super::last_uses::LastUses;
use super::person::PresentPeople;
use super::secret::{ClientToken, digest};
use super::tokens_fault::TokensFileError;
use super::tokens_file::TokensFile;
use crate::audit::{ClientId, StoreHome};
use crate::config::{FileStamp, ServeSettings, stamp_of};
use crate::oauth::{NoGrant, OauthSettings, PersonClaims};
use crate::review::SignIns;
use crate::wiki::in_words;

/// The least time between two looks at the file for tokens that are nobody's.
const UNKNOWN_APART: Duration = Duration::from_millis(100);
/// Time between two log entries on clients that expire soon.
const TOLD_APART: Duration = Duration::from_hours(24);
/// The most of them that are named there.
const MOST_TOLD: usize = 20;

/// Metadata that distinguish two states of the file, mode and owner included.
type ClientsFileStamp = Option<FileStamp>;

#[derive(Debug)]
struct ClientsState {
    clients: Arc<[Arc<ClientRecord>]>,
    stamp: ClientsFileStamp,
    looked: Instant,
    /// True if it must be read again, changed or not.
    is_stale: bool,
    thinking: Duration,
    fault: Option<TokensFileError>,
    /// The people who signed in.
    people: PresentPeople,
    /// The delegates of all servers, as they were looked at last, and the faults that were told.
    family: Arc<[Arc<DelegateRecord>]>,
    family_faults: Vec<DelegatesError>,
    /// The sites of the server, whose bounds those made over stdio are held to.
    sites: Weak<Sites>,
    /// Time at which clients that expire soon were last logged.
    told: Option<Instant>,
}

/// The current named clients.
#[derive(Debug)]
pub struct ClientRegistry {
    file: TokensFile,
    pub(in crate::server) delegates: KeptDelegates,
    fresh: Duration,
    state: Mutex<ClientsState>,
    uses: LastUses,
    /// The sign-ins of people at the review page.
    pub(in crate::server) sign_ins: SignIns,
    /// Time of the last look at the file for a token that is nobody's.
    looked_for_unknown: tokio::sync::Mutex<Option<Instant>>,
}

impl ClientRegistry {
    /// Reads the file.
    ///
    /// # Errors
    /// What is wrong with it: a server does not start with a file that it cannot read.
    pub fn open(
        file: TokensFile,
        home: &StoreHome,
        thinking: Duration,
        fresh: Duration,
    ) -> Result<Self, TokensFileError> {
        let state = ClientsState {
            stamp: stamp(&file.path),
            people: PresentPeople::default(),
            family: Arc::default(),
            family_faults: Vec::new(),
            sites: Weak::new(),
            clients: known(&file, thinking)?,
            looked: Instant::now(),
            is_stale: false,
            thinking,
            fault: None,
            told: None,
        };
        Ok(Self {
            file,
            delegates: KeptDelegates::new(home),
            fresh,
            state: Mutex::new(state),
            uses: LastUses::new(home),
            sign_ins: SignIns::new(home),
            looked_for_unknown: tokio::sync::Mutex::default(),
        })
    }

    /// Delegates that were made over stdio are let in as far as the bounds of these sites are those of their
    /// makers.
    pub(in crate::server) fn are_bounded_by(&self, sites: &Arc<Sites>) {
        self.state.lock().sites = Arc::downgrade(sites);
    }

    /// The limits of each client, in words.
    #[cfg(test)]
    pub(in crate::server) fn in_force(&self) -> Vec<String> {
        let clients = Arc::clone(&self.now().clients);
        let told = clients
            .iter()
            .map(|client| format!("{:?}", client.rights.narrowing));
        told.collect()
    }

    /// Number of clients.
    pub(in crate::server) fn count(&self) -> usize {
        self.now().clients.len()
    }

    /// The reason the present file is not in force, or admits nobody, if that is so.
    pub(in crate::server) fn fault(&self) -> Option<TokensFileError> {
        let now = self.now();
        let nobody = || now.clients.is_empty().then_some(TokensFileError::NoClient);
        now.fault.clone().or_else(nobody)
    }

    /// The client of a token. For one that is nobody's, the file is looked at once more first, so
    /// that a client is known from the moment that it is made.
    pub(in crate::server) async fn authenticate(
        &self,
        token: &str,
    ) -> Result<Arc<ClientRecord>, Unwelcome> {
        let digest = digest(token);
        if let Some(known) = self.find(&digest).await {
            return known;
        }
        if !ClientToken::is_like(token) {
            return Err(Unwelcome::Unknown);
        }
        self.look_for_unknown().await;
        self.find(&digest).await.unwrap_or(Err(Unwelcome::Unknown))
    }

    /// Lets a person in whose token was verified: their client for this call. The settings are asked for
    /// under the lock that [`Self::take_settings`] takes, so that no grant of before comes after that.
    ///
    /// # Errors
    /// [`NoGrant`].
    pub(in crate::server) fn admit(
        &self,
        claims: PersonClaims,
        settings: impl FnOnce() -> Option<Arc<OauthSettings>>,
    ) -> Result<Arc<ClientRecord>, NoGrant> {
        let mut state = self.now();
        let thinking = state.thinking;
        let settings = settings().filter(|it| it.issuer == claims.issuer);
        let settings = settings.ok_or(NoGrant::NoMatch)?;
        state.people.admit(claims, &settings, thinking)
    }

    /// Takes over how long people have to think, and other grants of people, which are in force already for
    /// whoever comes.
    pub(in crate::server) fn take_settings(
        &self,
        before: &ServeSettings,
        settings: &ServeSettings,
    ) {
        let mut state = self.state.lock();
        let thinking = settings.person_limit;
        state.is_stale |= state.thinking != thinking;
        state.thinking = thinking;
        let (before, now) = (before.oauth.as_deref(), settings.oauth.as_deref());
        state.people.follow(before, now, thinking);
    }

    /// Number of people whose tokens have not ended.
    pub(in crate::server) fn people(&self) -> usize {
        self.state.lock().people.clients().count()
    }

    /// The client or delegate whose token has this digest, as they were looked at last.
    async fn find(&self, digest: &str) -> Option<Result<Arc<ClientRecord>, Unwelcome>> {
        let (clients, is_listed) = {
            let now = self.now();
            let is_listed = now.family.iter().any(|member| member.digest() == digest);
            (Arc::clone(&now.clients), is_listed)
        };
        let found = clients
            .iter()
            .find_map(|client| client.takes(digest).map(|counts| (client, counts)));
        if let Some((client, counts)) = found {
            return Some(counts.map(|()| self.came(client)));
        }
        if !is_listed {
            return None;
        }
        // A delegate ends, and loses what its maker loses, at once.
        Some(match self.delegate(digest).await {
            Ok(member) if member.is_out_of_bounds() => Err(Unwelcome::OutOfBounds),
            Ok(member) => { member.standing() }
                .map(|client| self.came(client))
                .ok_or(Unwelcome::DelegateEnded),
            Err(error @ DelegatesError::Store(_)) => {
                tracing::error!("{error}");
                Err(Unwelcome::StoreAway)
            }
            // It is nobody's any more.
            Err(DelegatesError::Unknown) => return None,
            Err(_) => Err(Unwelcome::DelegateEnded),
        })
    }

    /// Looks at the file and the store, which may have the client of a token that is nobody's yet. All who
    /// come meanwhile wait for one look: ten a second are the most.
    async fn look_for_unknown(&self) {
        let came = Instant::now();
        let mut last = self.looked_for_unknown.lock().await;
        if last.is_some_and(|last| last >= came) {
            return;
        }
        if let Some(last) = *last {
            tokio::time::sleep_until((last + UNKNOWN_APART).into()).await;
        }
        *last = Some(Instant::now());
        // Under the lock: whoever waits for this look finds it done.
        self.family().await;
    }

    /// All delegates, those whose end is not settled included, as the store and the file have them at this
    /// moment; where the store cannot be read, as they were before.
    pub(in crate::server) async fn family(&self) -> Vec<LiveDelegate> {
        let looked = self.delegates.on(KeptDelegates::all).await;
        let mut state = self.within(Duration::ZERO);
        if let Ok((all, faults)) = looked {
            for fault in faults.iter().filter(|it| !state.family_faults.contains(it)) {
                tracing::error!("a delegate is not let in: {fault}");
            }
            state.family_faults = faults;
            state.family = all.into();
        }
        let live = state.family.iter().filter_map(|line| state.live(line));
        live.collect()
    }

    /// The delegate whose token has this digest, as it is at this moment.
    ///
    /// # Errors
    /// [`DelegatesError`].
    pub(in crate::server) async fn delegate(
        &self,
        digest: &str,
    ) -> Result<LiveDelegate, DelegatesError> {
        let digest = digest.to_owned();
        let line = self.delegates.on(move |all| all.find(&digest)).await?;
        let mut state = self.within(Duration::ZERO);
        let member = state.live(&line).ok_or(DelegatesError::Unknown)?;
        // The look of every second may not have found it yet.
        if !state.family.iter().any(|one| one.digest() == line.digest()) {
            let all = state.family.iter().chain([&line]).map(Arc::clone);
            let all: Arc<[_]> = all.collect();
            state.family = all;
        }
        Ok(member)
    }

    /// The client, person or delegate of an id as they may call at this moment, by the last look at the
    /// delegates, of which there is one a second. It counts as no use of theirs.
    pub(in crate::server) fn present(&self, id: ClientId) -> Option<Arc<ClientRecord>> {
        let state = self.within(Duration::ZERO);
        if let Some(client) = state.named_or_person(id) {
            return Some(client);
        }
        let own = state.family.iter().find(|line| line.id() == id)?;
        state.live(own)?.standing().cloned()
    }

    /// A client that came, which is noted.
    fn came(&self, client: &Arc<ClientRecord>) -> Arc<ClientRecord> {
        if client.person.is_none() {
            self.uses.note(client.id);
        }
        self.tell_ends();
        Arc::clone(client)
    }

    /// Number of clients that end soon.
    pub(in crate::server) fn ending(&self) -> usize {
        let clients = Arc::clone(&self.now().clients);
        let soon = clients.iter().filter(|client| client.ends_soon().is_some());
        soon.count()
    }

    /// Tells the log which clients end soon, once a day.
    pub(in crate::server) fn tell_ends(&self) {
        let mut state = self.now();
        let is_told = |told: Instant| told.elapsed() < TOLD_APART;
        if state.told.is_some_and(is_told) {
            return;
        }
        state.told = Some(Instant::now());
        let clients = Arc::clone(&state.clients);
        drop(state);
        let ends = |client: &Arc<ClientRecord>| Some((Arc::clone(client), client.ends_soon()?));
        for (client, end) in clients.iter().filter_map(ends).take(MOST_TOLD) {
            let left = in_words(end - OffsetDateTime::now_utc());
            tracing::warn!(client = %client.name, %left, "a client ends soon; `wikijs-gate token rotate` gives it another end");
        }
    }

    /// The client of an id, if it is there at this moment and has not ended. To be asked again
    /// with every request of whoever signed in.
    pub fn by_id(&self, id: ClientId) -> Option<Arc<ClientRecord>> {
        let client = self.within(Duration::ZERO).named_or_person(id);
        client.as_ref().map(|client| self.came(client))
    }

    fn now(&self) -> MutexGuard<'_, ClientsState> {
        self.within(self.fresh)
    }

    /// The state of the file, read again if it is older than this.
    fn within(&self, fresh: Duration) -> MutexGuard<'_, ClientsState> {
        let mut state = self.state.lock();
        if state.looked.elapsed() < fresh && !state.is_stale {
            return state;
        }
        state.looked = Instant::now();
        let now = stamp(&self.file.path);
        if now == state.stamp && !state.is_stale {
            return state;
        }
        state.stamp = now;
        state.is_stale = false;
        match known(&self.file, state.thinking) {
            Ok(clients) => {
                match clients.len() {
                    0 => tracing::warn!("{}", TokensFileError::NoClient),
                    clients => tracing::info!(clients, "the tokens file was read again"),
                }
                state.clients = clients;
                state.fault = None;
            }
            Err(error) => {
                tracing::error!(%error, "the tokens file is not in force; of the clients that were there before, those whose token it still has are");
                // A removed client is out even if the new file has faults.
                if let Ok((text, _)) = self.file.text() {
                    let text = text.to_lowercase();
                    let clients = state.clients.iter();
                    let kept = clients.filter(|client| client.stands_in(&text));
                    state.clients = kept.map(Arc::clone).collect();
                }
                state.fault = Some(error);
            }
        }
        state
    }
}

impl ClientsState {
    /// The client in the file, or the person who signed in, of this id, unless their time has ended.
    fn named_or_person(&self, id: ClientId) -> Option<Arc<ClientRecord>> {
        let named = self.clients.iter().filter(|client| !client.has_ended());
        let mut known = named.chain(self.people.clients());
        known.find(|client| client.id == id).cloned()
    }

    /// A delegate among the present clients.
    fn live(&self, line: &Arc<DelegateRecord>) -> Option<LiveDelegate> {
        let makers = self.clients.iter().chain(self.people.clients());
        let site = self.sites.upgrade();
        let site = site.and_then(|sites| sites.find(line.site.as_deref()));
        // It is for a wiki of other servers, which end it, too.
        let is_other = |site: &Arc<Site>| !line.is_of(site.app().desk.audit().wiki());
        if site.as_ref().is_some_and(is_other) {
            return None;
        }
        // The bounds cost a digest of the whole policy.
        let is_held = matches!(line.by, DelegateBasis::Bounds(_));
        let bounds = site.filter(|_| is_held).map(|site| site.bounds());
        let member = LiveDelegate::of(Arc::clone(line), makers, bounds.as_deref(), self.thinking);
        let fault = |fault: &String| tracing::debug!(delegate = %line.name(), %fault, "a delegate is not let in");
        member.inspect_err(fault).ok()
    }
}

fn known(
    file: &TokensFile,
    thinking: Duration,
) -> Result<Arc<[Arc<ClientRecord>]>, TokensFileError> {
    let clients = file.read()?;
    let checked = clients.iter().enumerate().map(|(line, client)| {
        let fault = |fault| TokensFileError::Line {
            line: line + 1,
            fault,
        };
        client.checked(thinking).map(Arc::new).map_err(fault)
    });
    checked.collect()
}

fn stamp(file: &Path) -> ClientsFileStamp {
    std::fs::metadata(file).ok().as_ref().map(stamp_of)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{ClientRegistry, TokensFile, UNKNOWN_APART, Unwelcome};
    use crate::audit::Role;
    use crate::gates::Grant;
    use crate::server::http::{ClientToken, NamedClient};

    #[tokio::test]
    async fn unknown_tokens_cause_ten_looks_a_second_and_a_new_client_is_known_all_the_same() {
        let dir = tempfile::TempDir::new().expect("a directory");
        let file = TokensFile::new(dir.path().join("tokens"));
        let add = |name: &str| {
            let token = ClientToken::new().expect("bits");
            let client = NamedClient::new(name, Role::Agent, Some(&token), Grant::default())
                .expect("a client");
            file.add(client).expect("added");
            token
        };
        add("first");
        // By itself it never looks again.
        let hours = Duration::from_hours(1);
        let clients = ClientRegistry::open(file.clone(), &dir.path().into(), Duration::ZERO, hours)
            .expect("clients");
        let unknown = ClientToken::new().expect("bits");
        // What cannot be a token causes no look.
        for text in ["", "wjs_guess", "wjl_x"] {
            assert_eq!(
                clients.authenticate(text).await.err(),
                Some(Unwelcome::Unknown)
            );
        }
        assert!(clients.looked_for_unknown.lock().await.is_none());
        let begun = Instant::now();
        for _ in 0..4 {
            let found = clients.authenticate(unknown.reveal()).await;
            assert_eq!(found.err(), Some(Unwelcome::Unknown));
        }
        assert!(begun.elapsed() >= UNKNOWN_APART * 3);
        // All who come meanwhile wait for one look, and not each for one of its own.
        let begun = Instant::now();
        let many = (0..100).map(|_| clients.authenticate(unknown.reveal()));
        futures_util::future::join_all(many).await;
        assert!(begun.elapsed() < UNKNOWN_APART * 50);
        for name in ["a", "b", "c"] {
            let token = add(name);
            let found = clients.authenticate(token.reveal()).await;
            assert_eq!(found.expect(name).name, name);
        }
    }
}
