//! Passes a person's answer on to the server that asked, where several have one store: within a session of
//! protocol 2025-11-25 or older the client sends it to any of them.

use std::collections::HashSet;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ClientResult, JsonRpcError, JsonRpcResponse, RequestId};
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::runtime::Handle;

use super::super::clients::secret::digest;
use super::super::mcp::shared_questions::{SharedQuestions, question_of};
use super::refusal::HttpRefusal;
use crate::store::{
    DocumentKind, PER_SESSION_ROOM, SESSION_ROOM, Store, StoreError, StoreResult, make_room, on,
    owner_in_name,
};

/// The kind of the documents.
const KIND: DocumentKind = DocumentKind::SessionRead;
/// The text of a document until the answer comes.
const ASKED: &[u8] = b"null";
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(500);
/// The looks for the question of an answer that came before it was noted.
const LOOKS: usize = 4;

/// The answers that servers of one store pass on to one another.
pub(super) struct SharedAnswers {
    store: Arc<dyn Store>,
    open: Arc<LocalSessionManager>,
    /// The documents of the questions that this server asked.
    asked: Mutex<HashSet<String>>,
    /// The number of questions that were noted.
    noted: AtomicUsize,
}

/// A session and its owner.
#[derive(Debug, Clone)]
pub(super) struct OwnedSession {
    pub(super) id: String,
    pub(super) owner: String,
}

/// The questions of a session.
#[derive(Debug)]
pub(super) struct SessionQuestions {
    pub(super) session: OwnedSession,
    pub(super) answers: Arc<SharedAnswers>,
}

/// A client's answer to a request of a server.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    id: RequestId,
    /// The question that it names. Who declines names none.
    question: Option<String>,
    message: ClientJsonRpcMessage,
}

impl Reply {
    /// The answer in a message, if it is one.
    pub(super) fn read(message: ClientJsonRpcMessage) -> Option<Self> {
        let (id, question) = match &message {
            ClientJsonRpcMessage::Response(answer) => {
                let question = match &answer.result {
                    ClientResult::ElicitResult(result) => question_of(result),
                    _ => None,
                };
                (answer.id.clone(), question)
            }
            ClientJsonRpcMessage::Error(error) => (error.id.clone()?, None),
            _ => return None,
        };
        Some(Self {
            id,
            question,
            message,
        })
    }
}

impl OwnedSession {
    /// The document of a question by its name.
    fn named(&self, question: &str) -> String {
        let (session, owner) = (digest(&self.id), owner_in_name(&self.owner));
        format!("{session}.{owner}.{}", digest(question))
    }

    /// The document of a question by the id of its request.
    fn requested(&self, id: &RequestId) -> String {
        self.named(&format!("request {id}"))
    }
}

impl fmt::Debug for SharedAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedAnswers").finish_non_exhaustive()
    }
}

impl SharedAnswers {
    /// The answers of servers of this store; `None` where no other server reaches it from elsewhere.
    pub(super) fn new(store: Arc<dyn Store>, open: Arc<LocalSessionManager>) -> Option<Self> {
        store.is_remote().then(|| Self {
            store,
            open,
            asked: Mutex::default(),
            noted: AtomicUsize::new(0),
        })
    }

    /// Leaves an answer to another server, if that asked; `false` if it is one to this server.
    ///
    /// # Errors
    /// The store did not say who asked, or did not take the answer: the client must send it again.
    pub(super) async fn passes_on(
        &self,
        session: &OwnedSession,
        reply: Reply,
    ) -> Result<bool, HttpRefusal> {
        let name = match &reply.question {
            Some(question) => session.named(question),
            None => session.requested(&reply.id),
        };
        if self.asked.lock().contains(&name) {
            return Ok(false);
        }
        // The answer to one question is none to another, whatever number that has here.
        let is_named = reply.question.is_some();
        let json = serde_json::to_vec(&reply.message).unwrap_or_default();
        if !u64::try_from(json.len()).is_ok_and(|length| length <= KIND.most_bytes()) {
            return Ok(is_named);
        }
        let lost = |error: StoreError| {
            tracing::warn!(%error, "a person's answer does not reach the server that asked");
            HttpRefusal::busy("the answer cannot be passed on; send it again")
        };
        for _ in 0..LOOKS {
            match self.document(&name).await.map_err(lost)? {
                Some(found) if found == ASKED => {
                    let kept = on(&self.store, move |store| {
                        store.write_document(KIND, &name, &json)
                    });
                    return kept.await.map(|()| true).map_err(lost);
                }
                // It has its answer.
                Some(_) => return Ok(true),
                None => tokio::time::sleep(LOOK).await,
            }
        }
        Ok(is_named)
    }

    async fn document(&self, name: &str) -> StoreResult<Option<Vec<u8>>> {
        let name = name.to_owned();
        on(&self.store, move |store| store.document(KIND, &name)).await
    }

    /// Notes a question that this server asked, until it has its answer or nobody waits for it.
    async fn note(
        self: &Arc<Self>,
        session: &OwnedSession,
        names: [String; 2],
    ) -> StoreResult<NotedQuestion> {
        self.asked.lock().extend(names.iter().cloned());
        let noted = NotedQuestion {
            names: names.clone(),
            answers: Arc::clone(self),
        };
        let owner = owner_in_name(&session.owner);
        let is_turn = self
            .noted
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(PER_SESSION_ROOM);
        let kept = on(&self.store, move |store| {
            let mut all = names.iter();
            all.try_for_each(|name| store.write_document(KIND, name, ASKED))?;
            if is_turn {
                make_room(store, KIND, &owner, SESSION_ROOM)?;
            }
            Ok(())
        });
        kept.await.map(|()| noted)
    }

    /// The answer that another server left.
    async fn left(&self, names: &[String]) -> StoreResult<Option<ClientJsonRpcMessage>> {
        for name in names {
            let found = self.document(name).await?;
            if let Some(answer) = found.filter(|found| found != ASKED) {
                return Ok(serde_json::from_slice(&answer).ok());
            }
        }
        Ok(None)
    }
}

/// An answer under the id that its request has here: that of a question of the same name.
fn to_request(answer: ClientJsonRpcMessage, id: &RequestId) -> ClientJsonRpcMessage {
    let id = id.clone();
    match answer {
        ClientJsonRpcMessage::Response(answer) => {
            ClientJsonRpcMessage::Response(JsonRpcResponse { id, ..answer })
        }
        ClientJsonRpcMessage::Error(error) => ClientJsonRpcMessage::Error(JsonRpcError {
            id: Some(id),
            ..error
        }),
        other => other,
    }
}

/// A question that is noted for the other servers.
struct NotedQuestion {
    names: [String; 2],
    answers: Arc<SharedAnswers>,
}

impl Drop for NotedQuestion {
    fn drop(&mut self) {
        let names = std::mem::take(&mut self.names);
        let mut asked = self.answers.asked.lock();
        for name in &names {
            asked.remove(name);
        }
        drop(asked);
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let store = Arc::clone(&self.answers.store);
        runtime.spawn(async move {
            let removed = on(&store, move |store| {
                let mut names = names.iter();
                names.try_for_each(|name| store.remove_document(KIND, name).map(drop))
            });
            if let Err(error) = removed.await {
                tracing::debug!(%error, "a question that has ended is still noted");
            }
        });
    }
}

impl SharedQuestions for SessionQuestions {
    fn watch<'a>(&'a self, question: &'a str, id: &'a RequestId) -> BoxFuture<'a, Infallible> {
        let watch = async move {
            let answers = &self.answers;
            let names = [self.session.named(question), self.session.requested(id)];
            let noted = answers.note(&self.session, names).await;
            let noted = noted.inspect_err(
                |error| tracing::warn!(%error, "only this server can take the person's answer"),
            );
            while let Ok(noted) = &noted {
                tokio::time::sleep(LOOK).await;
                match answers.left(&noted.names).await {
                    Ok(None) => {}
                    Ok(Some(answer)) => {
                        let answer = to_request(answer, id);
                        let session = self.session.id.as_str().into();
                        if let Err(error) = answers.open.accept_message(&session, answer).await {
                            tracing::warn!(%error, "a person's answer came too late");
                        }
                        break;
                    }
                    Err(error) => tracing::debug!(%error, "answers cannot be looked for"),
                }
            }
            std::future::pending().await
        };
        watch.boxed()
    }
}
