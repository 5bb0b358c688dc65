//! The apps for callers with their own key or narrower bounds: one for each key and rule. Nothing is
//! remembered across keys; what a session read and was shown is, across the rules of one key.

use std::sync::Arc;

use parking_lot::Mutex;
use secrecy::SecretString;

use super::super::app::App;
use super::super::clients::client_record::ClientRecord;
use crate::hex;
use crate::page::ReadRule;
use crate::share::evict_index;
use crate::wiki::ApiKey;

/// The longest key that is taken.
const MOST_BYTES: usize = 4096;

/// A key that a client brought.
#[derive(Debug)]
struct KeyedApp {
    client: String,
    digest: [u8; 32],
    app: Arc<App>,
}

/// The apps of keys, the last used at the end.
#[derive(Debug)]
pub(super) struct Apps {
    server: Mutex<Arc<App>>,
    most: usize,
    known: Mutex<Vec<KeyedApp>>,
    /// The apps of clients with narrower bounds, the last used at the end.
    narrower: Mutex<Vec<Narrower>>,
}

/// The app of clients with narrower bounds.
#[derive(Debug)]
struct Narrower {
    /// The client that needed it first.
    client: String,
    /// The app of the same key without these bounds.
    of: Arc<App>,
    rule: ReadRule,
    app: Arc<App>,
}

impl Apps {
    pub(super) const fn new(server: Arc<App>, most: usize) -> Self {
        Self {
            server: Mutex::new(server),
            most,
            known: Mutex::new(Vec::new()),
            narrower: Mutex::new(Vec::new()),
        }
    }

    /// The server's own app, as it is now. If it changed, the apps of callers follow it.
    pub(super) fn follow(&self, now: Arc<App>) -> Arc<App> {
        let mut server = self.server.lock();
        if Arc::ptr_eq(&server, &now) {
            return now;
        }
        let old = std::mem::replace(&mut *server, Arc::clone(&now));
        let mut known = self.known.lock();
        let mut narrower = self.narrower.lock();
        let mut followed = vec![(old, Arc::clone(&now))];
        known.retain_mut(|one| {
            let place = followed.iter().find(|(old, _)| Arc::ptr_eq(old, &one.app));
            let fresh = match place {
                Some((_, fresh)) => Some(Arc::clone(fresh)),
                None => now
                    .for_key(one.app.wiki.key())
                    .ok()
                    .map(|fresh| Arc::new(one.app.followed_by(fresh))),
            };
            let Some(fresh) = fresh else { return false };
            let old = std::mem::replace(&mut one.app, Arc::clone(&fresh));
            followed.push((old, fresh));
            true
        });
        narrower.retain_mut(|one| {
            let of = followed.iter().find(|(old, _)| Arc::ptr_eq(old, &one.of));
            let fresh = of.map(|(_, of)| (of, of.within(&one.rule)));
            let Some((of, fresh)) = fresh else {
                return false;
            };
            one.app = Arc::new(fresh);
            one.of = Arc::clone(of);
            true
        });
        now
    }

    /// The app of a client, which may read only within its rule. A client that makes ever more of them,
    /// by its delegates, pushes its own out.
    pub(super) fn within(&self, client: Option<&ClientRecord>, of: Arc<App>) -> Arc<App> {
        let Some(client) = client.filter(|client| !client.narrowing().reads.is_open()) else {
            return of;
        };
        let (rule, client) = (&client.narrowing().reads, &*client.counted().identity);
        let mut known = self.narrower.lock();
        let place = known
            .iter()
            .position(|other| Arc::ptr_eq(&other.of, &of) && other.rule == *rule);
        let found = match place {
            Some(place) => known.remove(place),
            None => Narrower {
                app: Arc::new(of.within(rule)),
                client: client.to_owned(),
                rule: rule.clone(),
                of,
            },
        };
        self.make_room(&mut known, client, |other| &other.client);
        let app = Arc::clone(&found.app);
        known.push(found);
        app
    }

    /// Evicts an entry of the client that holds the most, if there are too many.
    fn make_room<T>(&self, known: &mut Vec<T>, newcomer: &str, client: fn(&T) -> &str) {
        if known.len() >= self.most {
            let held = known.iter().map(|other| (client(other), 1));
            if let Some(place) = evict_index(held, (newcomer, 1)) {
                known.remove(place);
            }
        }
    }

    /// The app of a key that a client brought, by the word that tells keys apart, if it is still kept.
    pub(super) fn of_key(&self, word: &str) -> Option<Arc<App>> {
        let known = self.known.lock();
        let found = known.iter().find(|one| hex::encode(&one.digest) == word);
        found.map(|one| Arc::clone(&one.app))
    }

    /// The app of a client's key, and a word that tells keys apart; `None` if the text cannot be a
    /// key.
    pub(super) fn for_key(&self, client: &str, key: &str) -> Option<(Arc<App>, String)> {
        let is_key = (1..=MOST_BYTES).contains(&key.len())
            && key.bytes().all(|byte| byte.is_ascii_graphic());
        let key = is_key.then(|| ApiKey::new(SecretString::from(key)))?;
        let digest = key.digest();
        // Before the others are locked: `follow` locks in this order.
        let server = Arc::clone(&self.server.lock());
        let mut known = self.known.lock();
        // A key has one app, however many clients bring it.
        let found = known.iter().find(|other| other.digest == digest);
        let app = if let Some(other) = found {
            Arc::clone(&other.app)
        } else {
            Arc::new(server.for_key(key).ok()?)
        };
        known.retain(|other| other.digest != digest || other.client != client);
        self.make_room(&mut known, client, |other| &other.client);
        known.push(KeyedApp {
            client: client.to_owned(),
            digest,
            app: Arc::clone(&app),
        });
        Some((app, hex::encode(&digest)))
    }
}
