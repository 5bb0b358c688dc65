//! Gives the sections of pages their vectors: asks the endpoint for those that lack one, after each pass.
//!
//! A vector belongs to a model and a text: an unchanged section keeps its own. What goes to the endpoint is what the
//! index holds at that moment, under the same checks as what a search finds.

use std::sync::Arc;

use rusqlite::{OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use super::content_index::ContentIndex;
use super::embeddings::{BATCH, EmbedFault, EmbeddingsEndpoint};
use super::store::{IndexError, IndexResult, Store};
use super::vector::stored;
use super::vector_tables::{note_model, retire, spend};
use crate::page::{ReaderPart, SourceFormat, reader_parts};

/// The most pages whose sections are read at a time.
const PAGES_AT_ONCE: usize = 16;
/// The most sections of an index that get a vector.
const MOST_VECTORS: usize = 200_000;
/// One in so many texts of a day is left to searches.
const LEFT_TO_SEARCHES: u32 = 10;

/// A page whose sections get vectors.
#[derive(Debug)]
pub(super) struct MeantPage {
    id: i64,
    mark: Vec<u8>,
    pub(super) parts: Vec<MeantPart>,
}

impl MeantPage {
    /// The number of its pieces that have vectors.
    fn meant(&self) -> usize {
        let pieces = self.parts.iter();
        pieces.filter(|part| part.vector.is_some()).count()
    }

    fn is_whole(&self) -> bool {
        self.meant() == self.parts.len()
    }
}

/// A piece of a section, and its vector once there is one.
#[derive(Debug)]
pub(super) struct MeantPart {
    selector: String,
    digest: Vec<u8>,
    text: String,
    pub(super) vector: Option<Vec<u8>>,
}

impl ContentIndex {
    /// Takes so many texts of this day's, or as many as are left but for those that are left to others;
    /// returns how many.
    pub(super) async fn spend(
        self: &Arc<Self>,
        endpoint: &EmbeddingsEndpoint,
        texts: usize,
        left: u32,
    ) -> Result<usize, String> {
        let (per_day, wanted) = (endpoint.per_day, u32::try_from(texts).unwrap_or(u32::MAX));
        let most = per_day.saturating_sub(left);
        let spent = self.asked(move |store| Ok(Some(spend(&mut store.db, wanted, most)?)));
        match spent.await.map_err(in_words)? {
            None => Err("no page is indexed yet".to_owned()),
            Some(0) => Err(format!("the {per_day} texts of this day are used up")),
            Some(taken) => Ok(usize::try_from(taken).unwrap_or(texts).min(texts)),
        }
    }

    async fn spend_on_sections(
        self: &Arc<Self>,
        endpoint: &EmbeddingsEndpoint,
        texts: usize,
    ) -> Result<usize, String> {
        let left = endpoint.per_day.div_ceil(LEFT_TO_SEARCHES);
        self.spend(endpoint, texts, left).await
    }

    /// The reason why sections lack vectors, as the last task found it.
    pub fn why_not_embedded(self: &Arc<Self>) -> Option<String> {
        let own = self.whole.as_ref().unwrap_or(self);
        own.embedding.try_lock().ok()?.clone()
    }

    /// Gives vectors to all sections that lack one. At most one such task is under way.
    ///
    /// # Errors
    /// Why some still lack theirs, as a part of a sentence.
    pub async fn embed_missing(self: &Arc<Self>) -> Result<(), String> {
        let is_own = self.whole.is_none() && self.is_on();
        let Some(endpoint) = self.settings.embeddings.clone().filter(|_| is_own) else {
            return Ok(());
        };
        let Ok(mut told) = self.embedding.try_lock() else {
            return Ok(());
        };
        let done = self.embed_all(&endpoint).await;
        let why = done.as_ref().err();
        // Every search tries again: what lasts is told once.
        if let Some(why) = why.filter(|why| told.as_ref() != Some(*why)) {
            tracing::warn!("sections are not found by meaning yet: {why}");
        }
        *told = why.cloned();
        done
    }

    async fn embed_all(self: &Arc<Self>, endpoint: &EmbeddingsEndpoint) -> Result<(), String> {
        // Of several servers with one index on the disk, one asks.
        let lock = self.lock_beside(&self.wiki, "meaning");
        if self.is_on_disk() && lock.is_none() {
            return Ok(());
        }
        let generation = self.wiki.generation();
        let model = endpoint.model.clone();
        let retired = self
            .asked(move |store| Ok(retire(&store.db, &model)?))
            .await;
        retired.map_err(in_words)?;
        while self.wiki.generation() == generation {
            let model = endpoint.model.clone();
            let pages = self.asked(move |store| lacking(store, &model)).await;
            let mut pages = pages.map_err(in_words)?;
            if pages.is_empty() {
                break;
            }
            let known: Vec<usize> = pages.iter().map(MeantPage::meant).collect();
            let asked = self.embed(endpoint, &mut pages).await;
            let (model, is_done) = (endpoint.model.clone(), asked.is_ok());
            if !is_done {
                // What was given so far is kept, too: it is not asked for again.
                let mut known = known.into_iter();
                pages.retain(|page| known.next() != Some(page.meant()));
            }
            let kept = self.asked(move |store| keep(store, &model, (&pages, is_done)));
            let kept = kept.await;
            asked?;
            if !kept.map_err(in_words)? {
                break;
            }
        }
        drop(lock);
        Ok(())
    }

    /// Asks for the vectors that some pages lack; a text that the endpoint refuses stays without.
    async fn embed(
        self: &Arc<Self>,
        endpoint: &EmbeddingsEndpoint,
        pages: &mut [MeantPage],
    ) -> Result<(), String> {
        let lacking = pages.iter_mut().flat_map(|page| &mut page.parts);
        let mut lacking: Vec<&mut MeantPart> =
            lacking.filter(|part| part.vector.is_none()).collect();
        let mut rest = &mut *lacking;
        while !rest.is_empty() {
            let count = self.spend_on_sections(endpoint, rest.len().min(BATCH));
            let count = count.await?;
            let (parts, later) = rest.split_at_mut(count);
            rest = later;
            let texts: Vec<&str> = parts.iter().map(|part| &*part.text).collect();
            let (vectors, asked) = self.batch(endpoint, &texts).await;
            let numbers = vectors.iter().flatten().map(Vec::len).next();
            if let Some(numbers) = numbers {
                let model = endpoint.model.clone();
                let known = self.asked(move |store| Ok(note_model(&store.db, &model, numbers)?));
                let known = known.await.map_err(in_words)?;
                if known != numbers || vectors.iter().flatten().any(|one| one.len() != known) {
                    let why = other_numbers(numbers, known);
                    endpoint.fail(&why);
                    return Err(why);
                }
            }
            for (part, vector) in parts.iter_mut().zip(vectors) {
                part.vector = vector.map(|vector| stored(&vector));
            }
            asked?;
        }
        Ok(())
    }

    /// The vectors of the first of these texts, all of them if it ends well; none for one that is refused.
    async fn batch(
        self: &Arc<Self>,
        endpoint: &EmbeddingsEndpoint,
        texts: &[&str],
    ) -> (Vec<Option<Vec<f32>>>, Result<(), String>) {
        match endpoint.of_texts(texts).await {
            Ok(vectors) => return (vectors.into_iter().map(Some).collect(), Ok(())),
            Err(EmbedFault::Away(why)) => return (Vec::new(), Err(why)),
            Err(EmbedFault::Refused(_)) => {}
        }
        let (mut each, mut last) = (Vec::new(), String::new());
        for text in texts {
            if let Err(why) = self.spend_on_sections(endpoint, 1).await {
                return (each, Err(why));
            }
            match endpoint.of_texts(&[*text]).await {
                Ok(vectors) => each.extend(vectors.into_iter().map(Some)),
                Err(EmbedFault::Away(why)) => return (each, Err(why)),
                Err(EmbedFault::Refused(why)) => {
                    each.push(None);
                    last = why;
                }
            }
        }
        // What takes no text at all is set up wrong.
        if each.iter().all(Option::is_none) {
            endpoint.fail(&last);
            return (each, Err(last));
        }
        (each, Ok(()))
    }
}

/// The fault of the index, as a part of a sentence.
pub(super) fn in_words(error: IndexError) -> String {
    error.to_string()
}

/// The fault of vectors that are not as long as those in the index.
pub(super) fn other_numbers(now: usize, known: usize) -> String {
    format!(
        "its vectors have {now} numbers, and those in the index {known}: if the model is another one now, name it so"
    )
}

/// The next pages whose sections lack vectors, those changed last first; none beyond the most that are kept.
pub(super) fn lacking(store: &Store, model: &str) -> IndexResult<Vec<MeantPage>> {
    let kept: usize = store.db.query_row(
        "SELECT count(*) FROM meant WHERE model = ?1",
        [model],
        |row| row.get(0),
    )?;
    if kept >= MOST_VECTORS {
        return Ok(Vec::new());
    }
    let mut query = store.db.prepare(
        "SELECT page.id, mark, title, text, format FROM page JOIN content USING (id)
         WHERE missing = 0 AND has_content
           AND NOT EXISTS (SELECT 1 FROM meant_page WHERE meant_page.id = page.id AND model = ?1)
         ORDER BY updated DESC, page.id LIMIT ?2",
    )?;
    let rows = query.query_map(params![model, PAGES_AT_ONCE], |row| {
        let title: String = row.get(2)?;
        let format: String = row.get(4)?;
        let parts = parts(&title, &row.get::<_, String>(3)?, &format);
        Ok(MeantPage {
            id: row.get(0)?,
            mark: row.get(1)?,
            parts,
        })
    })?;
    let mut pages: Vec<MeantPage> = rows.collect::<Result<_, _>>()?;
    let mut known = store
        .db
        .prepare("SELECT vector FROM meant WHERE digest = ?1 AND model = ?2 LIMIT 1")?;
    for part in pages.iter_mut().flat_map(|page| &mut page.parts) {
        let found = known.query_row(params![part.digest, model], |row| row.get(0));
        part.vector = found.optional()?;
    }
    Ok(pages)
}

/// The pieces of a page as its readers see them, each below the titles that it stands under.
fn parts(title: &str, text: &str, format: &str) -> Vec<MeantPart> {
    let pieces = pieces(text, format).into_iter();
    let parts = pieces.map(|piece| {
        let text = [title, &piece.heading, &piece.text].map(str::trim);
        let text: Vec<&str> = text.into_iter().filter(|line| !line.is_empty()).collect();
        let text = text.join("\n");
        MeantPart {
            selector: piece.selector,
            digest: Sha256::digest(&text).iter().take(16).copied().collect(),
            text,
            vector: None,
        }
    });
    parts.filter(|part| !part.text.is_empty()).collect()
}

/// The pieces of a text. The parser panics on some texts; such a page is not found by meaning.
pub(super) fn pieces(text: &str, format: &str) -> Vec<ReaderPart> {
    let format = SourceFormat::detect(Some(format), None);
    std::panic::catch_unwind(|| reader_parts(text, format)).unwrap_or_default()
}

/// Keeps the vectors of pages that are still as they were; returns whether there were any.
pub(super) fn keep(
    store: &mut Store,
    model: &str,
    (pages, is_done): (&[MeantPage], bool),
) -> IndexResult<bool> {
    let change = store.db.transaction()?;
    let mut is_any = false;
    for page in pages {
        let query = "SELECT 1 FROM page WHERE id = ?1 AND mark = ?2 AND missing = 0";
        let same = change.query_row(query, params![page.id, page.mark], |_| Ok(()));
        if same.optional()?.is_none() {
            continue;
        }
        is_any = true;
        let of_page = params![page.id, model];
        change.execute("DELETE FROM meant WHERE id = ?1 AND model = ?2", of_page)?;
        if is_done || page.is_whole() {
            change.execute("REPLACE INTO meant_page VALUES (?1, ?2)", of_page)?;
        }
        let mut insert = change.prepare("INSERT INTO meant VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for part in &page.parts {
            let Some(vector) = &part.vector else { continue };
            insert.execute(params![page.id, model, part.selector, part.digest, vector])?;
        }
    }
    change.commit()?;
    Ok(is_any)
}
