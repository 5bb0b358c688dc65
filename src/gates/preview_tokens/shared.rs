//! Shares previews among the servers of one database, so that each confirms what another has shown.
//!
//! A process keeps its previews in memory. Where others reach the same store from elsewhere, each preview is a
//! document too, and whoever removes that document has used the token up: nobody else can then.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::{ChangeSet, SessionId};
use super::token::{claimed, has_form};
use super::{Asked, PreviewEntry, Previews, SpentToken, counting};
use crate::audit::{CallId, LineHash};
use crate::error::{Code, Failure, Result};
use crate::store::{
    DocumentKind, LeaseMode, LeaseName, Store, StoreError, make_room, on, owner_in_name,
};

/// Raised with every change of the form; a preview of another version counts for nothing.
const VERSION: u32 = 1;
/// The kind of the documents.
const KIND: DocumentKind = DocumentKind::Preview;
/// The names of notes begin so, and no preview's.
const USED: &str = "used.";
/// The most previews of all servers together.
const MOST: usize = 1_000;

/// The store of previews, and the gates under which they are given: under others they do not count.
#[derive(Debug, Clone)]
pub struct PreviewStore {
    store: Arc<dyn Store>,
    gates: LineHash,
    /// The word for one of them.
    word: &'static str,
    /// The most documents.
    pub(super) most: usize,
}

/// A preview as a document.
#[derive(Debug, Serialize, Deserialize)]
struct SharedPreview {
    v: u32,
    /// Milliseconds for which it counts from the time of the document on.
    life: u64,
    session: LineHash,
    gates: LineHash,
    tool: String,
    arguments: Map<String, Value>,
    set: ChangeSet,
}

/// The call that used up a token, as a document.
#[derive(Debug, Serialize, Deserialize)]
struct UsedPreview {
    session: LineHash,
    call: CallId,
}

impl PreviewStore {
    /// The previews of a store; `None` where no other server reaches it from elsewhere.
    pub fn new(store: &Arc<dyn Store>, gates: impl FnOnce() -> LineHash) -> Option<Self> {
        store.is_remote().then(|| Self {
            store: Arc::clone(store),
            gates: gates(),
            word: "preview",
            most: MOST,
        })
    }

    /// The place of the questions to people, none of which counts as a preview.
    #[must_use]
    pub fn of_questions(self) -> Self {
        let gates = LineHash::new(format!("questions under {}", self.gates).as_bytes());
        Self {
            gates,
            word: "question",
            ..self
        }
    }

    async fn on<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T> {
        on(&self.store, work).await.map_err(|error: StoreError| {
            Failure::new(
                Code::AuditUnavailable,
                format!(
                    "The {}s that servers share cannot be reached: {error}.",
                    self.word
                ),
            )
        })
    }
}

/// Previews as one session has them.
#[derive(Debug)]
pub struct SessionPreviews<'a> {
    /// The session.
    pub session: &'a SessionId,
    /// The previews of this server.
    pub here: &'a Previews,
    /// The place where servers share them, if they do.
    pub place: Option<PreviewStore>,
}

impl SessionPreviews<'_> {
    /// Keeps the call for which a token was given, and both where other servers find them.
    pub async fn keep_asked(&self, token: &str, asked: Asked) {
        self.here.keep_asked(self.session, token, asked);
        self.share(token).await;
    }

    /// Keeps a preview, with the call for which it was given, where other servers find it. One that cannot
    /// be kept does not count any more: its document may be there all the same.
    pub(super) async fn share(&self, token: &str) {
        let Some(place) = &self.place else { return };
        let Some((preview, name)) = self.to_share(place, token) else {
            return;
        };
        // Others may find it from now on, whatever the answer is.
        if let Some(preview) = self.here.kept.lock().get_mut(token) {
            preview.is_shared = true;
        }
        let room = (place.most, self.here.life.saturating_mul(2));
        let owner = owner_in_name(self.session.owner());
        let kept = place.on(move |store| {
            make_room(store, KIND, &owner, room)?;
            store.write_document(KIND, &name, &preview)
        });
        if let Err(failure) = kept.await {
            let word = place.word;
            tracing::warn!(%failure.message, "a {word} could not be kept, and will not count");
        }
    }

    fn to_share(&self, place: &PreviewStore, token: &str) -> Option<(Vec<u8>, String)> {
        let kept = self.here.kept.lock();
        let preview = kept.get(token)?;
        let asked = preview.asked.as_ref()?;
        let left = preview.expires.saturating_duration_since(Instant::now());
        let shared = SharedPreview {
            v: VERSION,
            life: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            session: self.session.fingerprint(),
            gates: place.gates,
            tool: asked.tool.to_string(),
            arguments: (*asked.arguments).clone(),
            set: preview.set.clone(),
        };
        let name = document(preview, token);
        drop(kept);
        let json = serde_json::to_vec(&shared).ok()?;
        let is_fit = u64::try_from(json.len()).is_ok_and(|length| length <= KIND.most_bytes());
        is_fit.then_some((json, name))
    }

    /// Fetches the preview of a token that another server gave, so that it counts here, or the call by which
    /// another server used it up.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE` if the store cannot be asked.
    pub async fn fetch(&self, token: &str) -> Result<()> {
        let (here, session) = (self.here, self.session);
        let Some(place) = &self.place else {
            return Ok(());
        };
        if here.used_by(session, token).is_some() || !has_form(token) {
            return Ok(());
        }
        if self.used_elsewhere(place, token).await? || here.kept.lock().contains_key(token) {
            return Ok(());
        }
        let ending = ending(token);
        // Another session's note of what used it up is no preview.
        let is_it = move |name: &str| name.ends_with(&ending) && !name.starts_with(USED);
        match self.elsewhere(place, is_it).await? {
            Some(preview) => here.insert(token.to_owned(), preview),
            // It may have been used up between the two looks.
            None => self.used_elsewhere(place, token).await.map(drop),
        }
    }

    /// True if a call at another server used a token up, which is known here from then on.
    async fn used_elsewhere(&self, place: &PreviewStore, token: &str) -> Result<bool> {
        let (here, session) = (self.here, self.session);
        let name = used(session, token);
        let found = place.on(move |store| store.document(KIND, &name)).await?;
        let read = found.and_then(|bytes| serde_json::from_slice::<UsedPreview>(&bytes).ok());
        let read = read.filter(|read| read.session == session.fingerprint());
        if let Some(read) = &read {
            here.kept.lock().remove(token);
            here.note_used(session, token, read.call);
        }
        Ok(read.is_some())
    }

    /// The set that was shown to the session under this id, here or by another server.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE` if the store cannot be asked.
    pub async fn shown(&self, set: CallId) -> Result<Option<ChangeSet>> {
        let here = self.here.shown(self.session, set);
        let Some(place) = self.place.as_ref().filter(|_| here.is_none()) else {
            return Ok(here);
        };
        let beginning = format!("{set}.");
        let is_it = move |name: &str| name.starts_with(&beginning);
        let found = self.elsewhere(place, is_it).await?;
        Ok(found.map(|preview| preview.set))
    }

    /// The preview that another server gave this session under the same gates, by the name of its document.
    async fn elsewhere(
        &self,
        place: &PreviewStore,
        is_it: impl Fn(&str) -> bool + Send + 'static,
    ) -> Result<Option<PreviewEntry>> {
        let found = place.on(move |store| {
            let all = store.documents(KIND)?;
            let Some(one) = all.into_iter().find(|one| is_it(&one.name)) else {
                return Ok(None);
            };
            let found = store.document(KIND, &one.name)?;
            Ok(found.map(|bytes| (bytes, one.age())))
        });
        let Some((bytes, age)) = found.await? else {
            return Ok(None);
        };
        let Ok(shared) = serde_json::from_slice::<SharedPreview>(&bytes) else {
            tracing::warn!("a {} of another server cannot be read", place.word);
            return Ok(None);
        };
        let left = Duration::from_millis(shared.life).saturating_sub(age);
        let counts = shared.v == VERSION
            && shared.session == self.session.fingerprint()
            && shared.gates == place.gates
            && !left.is_zero();
        let asked = Asked::new(shared.tool, shared.arguments);
        let session = self.session.clone();
        Ok(counts.then(|| PreviewEntry::shared(session, shared.set, asked, left)))
    }

    /// Uses up a token, among all servers that share it. Of two concurrent calls with one token, one gets
    /// the proof.
    ///
    /// # Errors
    /// As for [`Previews::look`]; `AUDIT_UNAVAILABLE`.
    pub async fn spend(&self, token: &str) -> Result<SpentToken> {
        counting(&self.here.kept.lock(), self.session, token)?;
        if let Some(place) = &self.place
            && !self.claim(place, token).await?
        {
            self.here.kept.lock().remove(token);
            return Err(claimed());
        }
        self.here.take(self.session, token)
    }

    /// Leaves a document that names the call, and takes that of the token away; `false` if another server did so
    /// before, or does so now. In this order nobody finds neither. A preview that is kept here alone has none.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE` if the store cannot be asked: the token may be used up then.
    async fn claim(&self, place: &PreviewStore, token: &str) -> Result<bool> {
        let shared = {
            let kept = self.here.kept.lock();
            let preview = kept.get(token).filter(|preview| preview.is_shared);
            preview.map(|preview| (document(preview, token), preview.session.clone()))
        };
        let Some((name, session)) = shared else {
            return Ok(true);
        };
        let note = CallId::current().and_then(|call| {
            let session = session.fingerprint();
            serde_json::to_vec(&UsedPreview { session, call }).ok()
        });
        let used = used(&session, token);
        place
            .on(move |store| {
                let turn = LeaseName::document(KIND, &used);
                let Some(lease) = store.try_lease(&turn, LeaseMode::Alone)? else {
                    return Ok(false);
                };
                if store.document(KIND, &used)?.is_some() {
                    return Ok(false);
                }
                if let Some(note) = note {
                    store.write_held(lease.fence(), (KIND, &used), &note)?;
                }
                store.remove_held(lease.fence(), KIND, &name)
            })
            .await
    }
}

impl SessionId {
    /// A digest of all that tells it from others, which reveals nothing.
    pub fn fingerprint(&self) -> LineHash {
        LineHash::new(format!("{self:?}").as_bytes())
    }
}

/// The name of a preview's document: nobody who reads it learns the token.
fn document(preview: &PreviewEntry, token: &str) -> String {
    let owner = owner_in_name(preview.session.owner());
    format!("{}.{owner}{}", preview.set.id(), ending(token))
}

/// The name of the document that says which call used a token up.
fn used(session: &SessionId, token: &str) -> String {
    format!("{USED}{}{}", owner_in_name(session.owner()), ending(token))
}

/// The end of that name.
fn ending(token: &str) -> String {
    format!(".{}", LineHash::new(token.as_bytes()))
}
