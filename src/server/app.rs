//! What all connections of one server share.

use std::sync::{Arc, PoisonError, RwLock};

use rmcp::model::RequestStateCodec;

use crate::audit::{AuditLog, RunId};
use crate::config::Settings;
use crate::gates::Previews;
use crate::index::ContentIndex;
use crate::tools::Registry;
use crate::wiki::Wiki;
use crate::write::{Patience, Writer};

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
    registry: RwLock<Arc<Registry>>,
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
        let mut key = [0u8; RequestStateCodec::MIN_KEY_LENGTH];
        getrandom::fill(&mut key).map_err(|_| "the system gave no random numbers".to_owned())?;
        Ok(Self {
            index: Arc::new(ContentIndex::new(Arc::clone(&wiki), settings.index)),
            wiki,
            writer: Arc::new(writer),
            codec: RequestStateCodec::try_new(key).map_err(|error| error.to_string())?,
            registry: RwLock::new(Arc::new(registry)),
        })
    }

    /// The tools as they are now.
    #[must_use]
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Offers other tools from now on.
    pub fn offer(&self, registry: Registry) {
        *self
            .registry
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(registry);
    }
}
