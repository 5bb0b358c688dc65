//! The operator's own tools of one server, and what is known of the wiki's schema.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::custom::{Customs, Schema, ToolFileFault};
use crate::tools::{DuplicateTool, Registry, ToolSelection, add_customs};
use crate::wiki::{NoSchema, Wiki};
use crate::words::separated;

/// Timeout for the wiki's schema: a start waits for it.
const PATIENCE: Duration = Duration::from_secs(5);
/// The least time between two questions.
const APART: Duration = Duration::from_secs(20);

/// The operator's own tools, and what is known of the wiki's schema.
#[derive(Debug, Default)]
pub(super) struct OwnTools {
    pub(super) surface: ToolSelection,
    customs: Customs,
    known: Mutex<SchemaState>,
}

#[derive(Debug, Default)]
struct SchemaState {
    schema: Option<Arc<Schema>>,
    /// The reason queries are not offered, if they are not.
    waits: Option<String>,
    asked: Option<Instant>,
}

/// The reason queries are not offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unasked {
    /// The wiki could not be asked; it is asked again later.
    Waits(String),
    /// They are wrong, or the wiki does not tell its schema.
    Wrong(String),
}

impl OwnTools {
    /// The tools of these settings, with the schema that was known before.
    pub(super) fn new(surface: ToolSelection, customs: Customs, before: Option<&Self>) -> Self {
        let schema = before.and_then(|before| before.known.lock().schema.clone());
        let schema = schema.filter(|_| customs.needs_schema());
        let known = SchemaState {
            schema,
            ..SchemaState::default()
        };
        Self {
            surface,
            customs,
            known: Mutex::new(known),
        }
    }

    /// All tools that need no wiki; queries only if a file holds the schema.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(super) fn registry(&self) -> Result<Registry, String> {
        self.with(self.customs.schema())
    }

    fn with(&self, schema: Option<&Schema>) -> Result<Registry, String> {
        let registry = Registry::new(&self.surface);
        let mut registry = registry.map_err(|error: DuplicateTool| error.to_string())?;
        let added = add_customs(&mut registry, &self.surface, &self.customs, schema);
        added.map_err(|faults| told(&faults)).map(|()| registry)
    }

    /// The names of all of them, whether they are offered yet or not.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.customs.names()
    }

    /// The reason queries are not offered, if they wait for the wiki.
    pub(super) fn wait(&self) -> Option<String> {
        self.known.lock().waits.clone()
    }

    /// True if it is time to ask the wiki again.
    pub(super) fn is_due(&self) -> bool {
        let known = self.known.lock();
        let asked = known.asked;
        known.waits.is_some() && asked.is_none_or(|asked| asked.elapsed() >= APART)
    }

    /// Asks the wiki for its schema where queries need it; the tools with them, if there are any.
    pub(super) async fn ask(&self, wiki: &Wiki) -> Result<Option<Registry>, Unasked> {
        if !self.customs.needs_schema() {
            return Ok(None);
        }
        self.known.lock().asked = Some(Instant::now());
        let asked = tokio::time::timeout(PATIENCE, wiki.schema()).await;
        let asked = asked.unwrap_or_else(|_| {
            Err(NoSchema {
                why: "the wiki was asked for its schema, and did not tell it in time".to_owned(),
                is_passing: true,
            })
        });
        let before = self.known.lock().schema.clone();
        match (asked.map(Arc::new), before) {
            // What was known before still helps where the wiki does not tell it again.
            (Ok(schema), _) | (Err(_), Some(schema)) => {
                let registry = self.with(Some(&schema));
                let mut known = self.known.lock();
                known.waits = None;
                let registry = registry.map_err(Unasked::Wrong)?;
                known.schema = Some(schema);
                Ok(Some(registry))
            }
            (Err(no), None) if no.is_passing => {
                self.known.lock().waits = Some(no.why.clone());
                Err(Unasked::Waits(no.why))
            }
            (Err(no), None) => {
                self.known.lock().waits = None;
                let todo = "put the schema into the directory as schema.graphql";
                Err(Unasked::Wrong(format!("{}; {todo}", no.why)))
            }
        }
    }
}

fn told(faults: &[ToolFileFault]) -> String {
    format!("WIKI_CUSTOM_TOOLS_DIR: {}", separated(faults, "; "))
}
