//! What a tool is given beside its arguments.

use std::sync::Arc;

use crate::error::Failure;
use crate::index::ContentIndex;
use crate::page::{Locale, PageReading};
use crate::wiki::Wiki;
use crate::write::{Answer, Caller, Plan, Sight, Writer};

/// What a tool is given beside its arguments: a wiki, the way to write to it, and who calls.
#[derive(Debug, Clone)]
pub struct Context {
    /// The wiki.
    pub wiki: Arc<Wiki>,
    /// The way of a write.
    pub writer: Arc<Writer>,
    /// What finds words in the wiki's pages.
    pub index: Arc<ContentIndex>,
    /// Who calls.
    pub caller: Caller,
}

impl Context {
    /// The locale that was said, or the configured one.
    pub(super) fn locale(&self, said: Option<&str>) -> Locale {
        said.map_or_else(
            || self.wiki.settings().default_locale.clone(),
            Locale::as_stored,
        )
    }

    /// The caller saw a page: its later change of the content is held against what it saw.
    pub(super) fn saw(&self, page: PageReading, sight: Sight) {
        self.writer.note_read(&self.caller.session, page, sight);
    }

    /// Takes a plan through the gates.
    pub(super) async fn write(
        self,
        plan: Plan,
        confirm: Option<String>,
    ) -> Result<Answer, Failure> {
        let answer = self.writer.write(self.caller, plan, confirm).await;
        // Whatever came of it: a search that follows shall see it.
        self.index.outdated();
        answer
    }
}
