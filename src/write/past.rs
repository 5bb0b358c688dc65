//! What our own records know of a page as it was, where the wiki's history does not.

use crate::page::{Field, PageReading};

use super::writer::Writer;

impl Writer {
    /// Adds to a page as it was what the wiki keeps of no version, where a write of ours found
    /// the page that way: tags, styles and scripts. Nothing is told that the caller cannot read
    /// of the page as it is, nor what stood at a place that its key may not read.
    pub async fn remember(&self, id: i64, then: &mut PageReading, now: &PageReading) {
        let Some(time) = then.updated_at.clone() else {
            return;
        };
        let (state, key) = match self.audit.found_at(id, &time).await {
            Ok(Some(found)) => found,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "the records of a page could not be read");
                return;
            }
        };
        match self.may_see(&state, key, now).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                tracing::warn!(%error, "whether a key may see a kept page could not be found out");
                return;
            }
        }
        // In states of before fields were named unknown, empty may also mean that the loss of
        // the text was accepted.
        let text = |text: String, now: &Option<String>| {
            now.as_ref().and(Some(text)).filter(|text| !text.is_empty())
        };
        let knows_css = state.knows(Field::ScriptCss);
        let knows_js = state.knows(Field::ScriptJs);
        then.tags = now.tags.as_ref().and(Some(state.tags));
        then.script_css = text(state.script_css, &now.script_css).filter(|_| knows_css);
        then.script_js = text(state.script_js, &now.script_js).filter(|_| knows_js);
    }
}
