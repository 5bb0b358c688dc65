//! What all connections of one server share.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError, RwLock};

use futures_util::FutureExt;
use rmcp::model::RequestStateCodec;
use serde_json::Value;
use tokio::sync::watch;

use crate::audit::{AuditLog, RunId};
use crate::config::Settings;
use crate::error::{Code, Failure};
use crate::gates::Previews;
use crate::index::ContentIndex;
use crate::tools::{Arguments, Context, Progress, Registry};
use crate::wiki::{ApiKey, Wiki};
use crate::write::{Caller, Patience, Writer};

use super::metrics::Metrics;

/// What all connections of one server share: the wiki, the way to write to it, the tools.
#[derive(Debug)]
pub struct App {
    /// The wiki. One is configured now; several will be.
    pub wiki: Arc<Wiki>,
    /// The way of a write.
    pub writer: Arc<Writer>,
    /// Seals what a client must bring back unchanged.
    pub(super) codec: RequestStateCodec,
    /// What finds words in the wiki's pages.
    pub index: Arc<ContentIndex>,
    /// What happened so far, counted.
    pub metrics: Arc<Metrics>,
    registry: Arc<RwLock<Arc<Registry>>>,
}

impl App {
    /// Puts a server together; nothing is opened, sent or written yet.
    ///
    /// # Errors
    /// One sentence about what cannot be used.
    pub fn new(settings: Settings, patience: Patience) -> Result<Self, String> {
        let registry = Registry::of(&settings.surface).map_err(|error| error.to_string())?;
        let run = RunId::new().map_err(|error| error.to_string())?;
        let audit = Arc::new(AuditLog::new(&settings.audit_dir, &settings.wiki.name));
        let wiki = Arc::new(Wiki::new(settings.wiki, &run.to_string())?);
        let previews = Previews::new(Previews::LIFE);
        let writer = Writer::new(
            Arc::clone(&wiki),
            audit,
            settings.policy,
            previews,
            patience,
            settings.keep,
        );
        Ok(Self {
            index: Arc::new(ContentIndex::new(Arc::clone(&wiki), settings.index)),
            wiki,
            writer: Arc::new(writer),
            codec: codec()?,
            metrics: Arc::default(),
            registry: Arc::new(RwLock::new(Arc::new(registry))),
        })
    }

    /// The same server for whoever brings a key of their own: index, remembered reads, previews
    /// and approvals are separate; tools, log and counts are shared.
    ///
    /// # Errors
    /// One sentence about the key.
    pub fn for_key(&self, key: ApiKey) -> Result<Self, String> {
        let wiki = Arc::new(self.wiki.with_key(key)?);
        Ok(Self {
            writer: Arc::new(self.writer.for_key(Arc::clone(&wiki))),
            index: Arc::new(self.index.for_key(Arc::clone(&wiki))),
            wiki,
            codec: codec()?,
            metrics: Arc::clone(&self.metrics),
            registry: Arc::clone(&self.registry),
        })
    }

    /// The tools as they are now.
    #[must_use]
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls a tool, which tells its progress while it works; nothing if none of that name is offered.
    pub async fn call(
        &self,
        name: &str,
        caller: Caller,
        progress: watch::Sender<Progress>,
        arguments: Arguments,
    ) -> Option<Result<Value, Failure>> {
        let context = Context {
            wiki: Arc::clone(&self.wiki),
            writer: Arc::clone(&self.writer),
            index: Arc::clone(&self.index),
            caller,
            progress,
        };
        let registry = self.registry();
        // The registry catches what panics in a tool; this catches all that is left.
        let call = AssertUnwindSafe(async { Some(registry.call(name, context, arguments)?.await) });
        let Ok(answer) = call.catch_unwind().await else {
            let broke_off = Failure::new(Code::InternalError, "The call broke off.");
            return Some(Err(broke_off));
        };
        let failure = match answer? {
            Ok(value) => return Some(Ok(value)),
            Err(failure) => self.wiki.explained(failure).await,
        };
        if failure.code == Code::KeyRejected {
            // What the key once could read is nobody's any more.
            self.index.forget().await;
        }
        Some(Err(failure))
    }

    /// Offers other tools from now on.
    pub fn offer(&self, registry: Registry) {
        *self
            .registry
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(registry);
    }
}

fn codec() -> Result<RequestStateCodec, String> {
    let mut key = [0u8; RequestStateCodec::MIN_KEY_LENGTH];
    getrandom::fill(&mut key).map_err(|_| "the system gave no random numbers".to_owned())?;
    RequestStateCodec::try_new(key).map_err(|error| error.to_string())
}
