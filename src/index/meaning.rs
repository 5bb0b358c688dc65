//! Finds pages by meaning: keeps the vectors of their sections beside their words, brings them up to date after each
//! pass, and finds the nearest.
//!
//! A vector belongs to a model and a text: an unchanged section keeps its own, another model's are never compared.
//! What goes to the endpoint is what the index holds at that moment, under the same checks as what a search finds.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rusqlite::{OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

use super::content_index::ContentIndex;
use super::embeddings::{BATCH, EmbedFault, EmbeddingsEndpoint};
use super::store::{IndexError, Store};
use crate::page::{Locale, PagePath, PageReading, ReaderPart, SourceFormat, reader_parts};

/// The most pages whose sections are read at a time.
const PAGES_AT_ONCE: usize = 16;
/// The number of pages that are compared before other queries get a turn.
const COMPARED_AT_ONCE: usize = 1_000;
/// The most sections of an index that get a vector.
const MOST_VECTORS: usize = 200_000;
/// One in so many texts of a day is left to searches.
const LEFT_TO_SEARCHES: u32 = 10;
/// Days after which the vectors of a model that nobody uses are removed.
const UNUSED_DAYS: i64 = 7;
/// The most bytes of a piece that a hit shows.
const MOST_SHOWN: usize = 240;

/// A page that is near to words or to another page in meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct NearPage {
    /// The page, as the list told of it.
    pub page: PageReading,
    /// The selector of its nearest section, if it has sections.
    pub section: Option<String>,
    /// The beginning of the nearest piece, in one line.
    pub snippet: Option<String>,
    /// The score; larger is better.
    pub score: f32,
}

/// The nearest pages, and how many pages have no vectors yet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NearPages {
    /// The pages, the nearest first.
    pub pages: Vec<NearPage>,
    /// The pages that cannot be found by meaning yet.
    pub missing: usize,
}

/// A page whose sections get vectors.
#[derive(Debug)]
struct MeantPage {
    id: i64,
    mark: Vec<u8>,
    parts: Vec<MeantPart>,
}

/// A piece of a section, and its vector once there is one.
#[derive(Debug)]
struct MeantPart {
    selector: String,
    digest: Vec<u8>,
    text: String,
    vector: Option<Vec<u8>>,
}

fn today() -> i64 {
    OffsetDateTime::now_utc()
        .unix_timestamp()
        .div_euclid(86_400)
}

impl ContentIndex {
    /// True if pages are found by meaning, too.
    pub fn finds_meaning(&self) -> bool {
        self.is_on() && self.settings.embeddings.is_some()
    }

    /// The index that has the vectors: a narrower view of the same key uses those of the whole one.
    fn with_vectors(self: &Arc<Self>) -> Result<Arc<Self>, String> {
        let Some(whole) = &self.whole else {
            return Ok(Arc::clone(self));
        };
        if whole.wiki.key().digest() != self.wiki.key().digest() {
            return Err("pages are compared for the server's own key alone".to_owned());
        }
        whole.begin();
        Ok(Arc::clone(whole))
    }

    /// The pages that are nearest to some words in meaning, among those that this index has.
    ///
    /// # Errors
    /// Why they cannot be found, as a part of a sentence that repeats nothing of the endpoint's answer.
    pub async fn near(
        self: &Arc<Self>,
        query: &str,
        is_wanted: impl Fn(&Locale, &PagePath) -> bool + Send + 'static,
        limit: usize,
    ) -> Result<NearPages, String> {
        let endpoint = self.endpoint()?;
        let of = self.with_vectors()?;
        let told = |why| format!("the embeddings endpoint is of no use now: {why}");
        if let Some(why) = endpoint.paused() {
            return Err(told(why));
        }
        of.spend(&endpoint, 1, 0).await?;
        let vector = endpoint.of_search(query).await.map_err(told)?;
        let model = endpoint.model().to_owned();
        let known = of.asked(move |store| numbers(store, &model)).await;
        if let Some(known) = known.map_err(in_words)?
            && known != vector.len()
        {
            let why = other_numbers(vector.len(), known);
            endpoint.fail(&why);
            return Err(told(why));
        }
        self.nearest(&of, &endpoint, (None, vector), is_wanted, limit)
            .await
    }

    /// The pages that are nearest to another page in meaning, among those that this index has.
    ///
    /// # Errors
    /// Why they cannot be found, as a part of a sentence.
    pub async fn near_page(
        self: &Arc<Self>,
        id: i64,
        is_wanted: impl Fn(&Locale, &PagePath) -> bool + Send + 'static,
        limit: usize,
    ) -> Result<NearPages, String> {
        let endpoint = self.endpoint()?;
        let of = self.with_vectors()?;
        let model = endpoint.model().to_owned();
        let own = of.asked(move |store| own_vector(store, &model, id)).await;
        let own = own.map_err(in_words)?;
        self.nearest(&of, &endpoint, (Some(id), own), is_wanted, limit)
            .await
    }

    fn endpoint(&self) -> Result<Arc<EmbeddingsEndpoint>, String> {
        let endpoint = self.settings.embeddings.clone();
        endpoint.ok_or_else(|| "it is not set".to_owned())
    }

    /// The nearest of the pages that this index has, by the vectors that it or the whole one keeps.
    async fn nearest(
        self: &Arc<Self>,
        of: &Arc<Self>,
        endpoint: &EmbeddingsEndpoint,
        (but_for, vector): (Option<i64>, Vec<f32>),
        is_wanted: impl Fn(&Locale, &PagePath) -> bool + Send + 'static,
        limit: usize,
    ) -> Result<NearPages, String> {
        let pages = self.asked(move |store| wanted(store, but_for, &is_wanted));
        let pages = pages.await.map_err(in_words)?;
        let (vector, mut best, mut missing) = (Arc::new(vector), Vec::new(), 0);
        for some in pages.chunks(COMPARED_AT_ONCE) {
            let (some, model) = (some.to_vec(), endpoint.model().to_owned());
            let vector = Arc::clone(&vector);
            let found = of.asked(move |store| compared(store, &model, &some, &vector));
            let (found, lacking) = found.await.map_err(in_words)?;
            missing += lacking;
            best.extend(found);
            best.sort_by(|(_, _, a): &(_, _, f32), (_, _, b)| b.total_cmp(a));
            best.truncate(limit);
        }
        let pages =
            self.asked(move |store| best.into_iter().map(|one| shown(store, one)).collect());
        let pages: Vec<Option<NearPage>> = pages.await.map_err(in_words)?;
        Ok(NearPages {
            pages: pages.into_iter().flatten().collect(),
            missing,
        })
    }

    /// Takes so many texts of this day's, of which some are left to others.
    async fn spend(
        self: &Arc<Self>,
        endpoint: &EmbeddingsEndpoint,
        texts: u32,
        left: u32,
    ) -> Result<(), String> {
        let most = endpoint.per_day().saturating_sub(left);
        let spent = self.asked(move |store| spend(store, texts, most).map(Some));
        match spent.await.map_err(in_words)? {
            Some(true) => Ok(()),
            None => Err("no page is indexed yet".to_owned()),
            Some(false) => {
                let most = endpoint.per_day();
                Err(format!("the {most} texts of this day are used up"))
            }
        }
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
        let Ok(_turn) = self.embedding.try_lock() else {
            return Ok(());
        };
        let done = self.embed_all(&endpoint).await;
        if let Err(why) = &done {
            tracing::warn!("sections are not found by meaning yet: {why}");
        }
        done
    }

    async fn embed_all(self: &Arc<Self>, endpoint: &EmbeddingsEndpoint) -> Result<(), String> {
        // Of several servers with one index on the disk, one asks.
        let lock = self.lock_beside(&self.wiki, "meaning");
        if self.is_on_disk() && lock.is_none() {
            return Ok(());
        }
        let generation = self.wiki.generation();
        let model = endpoint.model().to_owned();
        let retired = self.asked(move |store| retire(store, &model)).await;
        retired.map_err(in_words)?;
        while self.wiki.generation() == generation {
            let model = endpoint.model().to_owned();
            let pages = self.asked(move |store| lacking(store, &model)).await;
            let mut pages = pages.map_err(in_words)?;
            if pages.is_empty() {
                break;
            }
            self.embed(endpoint, &mut pages).await?;
            let model = endpoint.model().to_owned();
            let kept = self.asked(move |store| keep(store, &model, &pages)).await;
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
        for parts in lacking.chunks_mut(BATCH) {
            let texts: Vec<&str> = parts.iter().map(|part| &*part.text).collect();
            let vectors = self.batch(endpoint, &texts).await?;
            let numbers = vectors.iter().flatten().map(Vec::len).next();
            if let Some(numbers) = numbers {
                let model = endpoint.model().to_owned();
                let known = self.asked(move |store| note_model(store, &model, numbers));
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
        }
        Ok(())
    }

    async fn batch(
        self: &Arc<Self>,
        endpoint: &EmbeddingsEndpoint,
        texts: &[&str],
    ) -> Result<Vec<Option<Vec<f32>>>, String> {
        let left = endpoint.per_day() / LEFT_TO_SEARCHES;
        let count = u32::try_from(texts.len()).unwrap_or(u32::MAX);
        self.spend(endpoint, count, left).await?;
        match endpoint.of_texts(texts).await {
            Ok(vectors) => return Ok(vectors.into_iter().map(Some).collect()),
            Err(EmbedFault::Away(why)) => return Err(why),
            Err(EmbedFault::Refused(_)) => {}
        }
        let (mut each, mut last) = (Vec::new(), String::new());
        for text in texts {
            self.spend(endpoint, 1, left).await?;
            match endpoint.of_texts(&[*text]).await {
                Ok(vectors) => each.extend(vectors.into_iter().map(Some)),
                Err(EmbedFault::Away(why)) => return Err(why),
                Err(EmbedFault::Refused(why)) => {
                    each.push(None);
                    last = why;
                }
            }
        }
        // What takes no text at all is set up wrong.
        if each.iter().all(Option::is_none) {
            endpoint.fail(&last);
            return Err(last);
        }
        Ok(each)
    }
}

fn in_words(_: IndexError) -> String {
    "the content index cannot be used".to_owned()
}

fn other_numbers(now: usize, known: usize) -> String {
    format!(
        "its vectors have {now} numbers, and those in the index {known}: if the model is another one now, name it so"
    )
}

/// Takes so many texts of this day's, if that does not exceed the most. One statement, since servers share an index.
fn spend(store: &Store, texts: u32, most: u32) -> Result<bool, IndexError> {
    if texts > most {
        return Ok(false);
    }
    let taken = store.db.execute(
        "INSERT INTO meant_day VALUES (?1, ?2) ON CONFLICT (day) DO UPDATE
         SET texts = meant_day.texts + ?2 WHERE meant_day.texts + ?2 <= ?3",
        params![today(), texts, most],
    )?;
    let old = "DELETE FROM meant_day WHERE day < ?1";
    store.db.execute(old, [today()])?;
    Ok(taken == 1)
}

/// The numbers that a model's vectors have, if the index has any.
fn numbers(store: &Store, model: &str) -> Result<Option<usize>, IndexError> {
    let query = "SELECT numbers FROM meant_model WHERE model = ?1";
    let found = store
        .db
        .query_row(query, [model], |row| row.get::<_, i64>(0));
    Ok(found
        .optional()?
        .and_then(|numbers| usize::try_from(numbers).ok()))
}

/// Notes that a model is in use, and the numbers of its vectors unless they are known; returns the known ones.
fn note_model(store: &Store, model: &str, now: usize) -> Result<usize, IndexError> {
    let known = numbers(store, model)?.unwrap_or(now);
    let counted = i64::try_from(known).unwrap_or_default();
    store.db.execute(
        "REPLACE INTO meant_model VALUES (?1, ?2, ?3)",
        params![model, counted, today()],
    )?;
    Ok(known)
}

/// Removes the vectors of models that no server uses any more.
fn retire(store: &Store, model: &str) -> Result<(), IndexError> {
    let before = today() - UNUSED_DAYS;
    for table in ["meant", "meant_page", "meant_model"] {
        store.db.execute(
            &format!(
                "DELETE FROM {table} WHERE model IN
                 (SELECT model FROM meant_model WHERE used < ?1 AND model <> ?2)"
            ),
            params![before, model],
        )?;
    }
    let used = "UPDATE meant_model SET used = ?1 WHERE model = ?2";
    store.db.execute(used, params![today(), model])?;
    Ok(())
}

/// The next pages whose sections lack vectors, those changed last first; none beyond the most that are kept.
fn lacking(store: &Store, model: &str) -> Result<Vec<MeantPage>, IndexError> {
    let kept: i64 = store.db.query_row(
        "SELECT count(*) FROM meant WHERE model = ?1",
        [model],
        |row| row.get(0),
    )?;
    if usize::try_from(kept).is_ok_and(|kept| kept >= MOST_VECTORS) {
        return Ok(Vec::new());
    }
    let mut query = store.db.prepare(
        "SELECT page.id, mark, title, text, format FROM page JOIN content USING (id)
         WHERE missing = 0 AND has_content
           AND NOT EXISTS (SELECT 1 FROM meant_page WHERE meant_page.id = page.id AND model = ?1)
         ORDER BY updated DESC, page.id LIMIT ?2",
    )?;
    let most = i64::try_from(PAGES_AT_ONCE).unwrap_or_default();
    let rows = query.query_map(params![model, most], |row| {
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
fn pieces(text: &str, format: &str) -> Vec<ReaderPart> {
    let format = SourceFormat::detect(Some(format), None);
    std::panic::catch_unwind(|| reader_parts(text, format)).unwrap_or_default()
}

/// Keeps the vectors of pages that are still as they were; returns whether there were any.
fn keep(store: &mut Store, model: &str, pages: &[MeantPage]) -> Result<bool, IndexError> {
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
        change.execute("REPLACE INTO meant_page VALUES (?1, ?2)", of_page)?;
        let mut insert = change.prepare("INSERT INTO meant VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for part in &page.parts {
            let Some(vector) = &part.vector else { continue };
            insert.execute(params![page.id, model, part.selector, part.digest, vector])?;
        }
    }
    change.commit()?;
    Ok(is_any)
}

/// The ids of the pages that a search may find, ascending.
fn wanted(
    store: &Store,
    but_for: Option<i64>,
    is_wanted: &dyn Fn(&Locale, &PagePath) -> bool,
) -> Result<Vec<i64>, IndexError> {
    let query = "SELECT id, locale, path FROM page WHERE missing = 0 AND has_content ORDER BY id";
    let mut query = store.db.prepare(query)?;
    let mut rows = query.query([])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        let locale = Locale::as_stored(row.get::<_, String>(1)?);
        let path = PagePath::as_stored(row.get::<_, String>(2)?);
        let id: i64 = row.get(0)?;
        if Some(id) != but_for && is_wanted(&locale, &path) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// A page, the selector of its nearest section, and its score.
type Nearest = (i64, String, f32);

/// The nearest section of each of some pages, whose ids ascend, and how many of them have no vectors.
fn compared(
    store: &Store,
    model: &str,
    pages: &[i64],
    vector: &[f32],
) -> Result<(Vec<Nearest>, usize), IndexError> {
    let bounds = params![pages.first(), pages.last(), model];
    let of_model = "id BETWEEN ?1 AND ?2 AND model = ?3";
    let wanted: HashSet<i64> = pages.iter().copied().collect();
    let query = format!("SELECT id FROM meant_page WHERE {of_model}");
    let mut query = store.db.prepare(&query)?;
    let known = query.query_map(bounds, |row| row.get(0))?;
    let known: HashSet<i64> = known.collect::<Result<_, _>>()?;
    let known: HashSet<i64> = known.intersection(&wanted).copied().collect();
    let query = format!("SELECT id, vector, selector FROM meant WHERE {of_model}");
    let mut query = store.db.prepare(&query)?;
    let mut rows = query.query(bounds)?;
    let mut best: HashMap<i64, (String, f32)> = HashMap::new();
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let stored = row.get_ref(1)?.as_blob().unwrap_or_default();
        let near = product(stored, vector).filter(|_| known.contains(&id));
        let Some(near) = near else {
            continue;
        };
        if best.get(&id).is_none_or(|(_, before)| near > *before) {
            best.insert(id, (row.get(2)?, near));
        }
    }
    let found = best.into_iter();
    let found = found.map(|(id, (selector, score))| (id, selector, score));
    Ok((found.collect(), wanted.len() - known.len()))
}

/// The direction of a page: the sum of the vectors of its sections.
fn own_vector(store: &Store, model: &str, id: i64) -> Result<Vec<f32>, IndexError> {
    let mut query = store
        .db
        .prepare("SELECT vector FROM meant WHERE id = ?1 AND model = ?2")?;
    let rows = query.query_map(params![id, model], |row| row.get::<_, Vec<u8>>(0))?;
    let mut sum = Vec::new();
    for stored in rows {
        let stored = stored?;
        sum.resize(stored.len() / 2, 0.0);
        for (sum, number) in sum.iter_mut().zip(numbers_of(&stored)) {
            *sum += number;
        }
    }
    Ok(sum)
}

/// The page of a finding, as the list told of it.
fn shown(index: &Store, (id, selector, score): Nearest) -> Result<Option<NearPage>, IndexError> {
    let Some(page) = index.listed(id)? else {
        return Ok(None);
    };
    let content = index.content(id)?.unwrap_or_default();
    let pieces = pieces(&content.text, &content.format).into_iter();
    let mut pieces = pieces.filter(|piece| piece.selector == selector);
    let snippet = pieces.next().map(|piece| beginning(&piece.text));
    Ok(Some(NearPage {
        page,
        section: Some(selector).filter(|selector| !selector.is_empty()),
        snippet: snippet.filter(|text| !text.is_empty()),
        score,
    }))
}

/// The beginning of a text, in one line.
fn beginning(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() <= MOST_SHOWN {
        return line;
    }
    let cut = line.get(..line.floor_char_boundary(MOST_SHOWN));
    format!("{}…", cut.unwrap_or_default().trim_end())
}

/// A vector as it is stored: the upper half of each number, which ranks as well as the whole.
fn stored(vector: &[f32]) -> Vec<u8> {
    let halves = vector.iter().flat_map(|number| {
        let [_, _, low, high] = number.to_le_bytes();
        [low, high]
    });
    halves.collect()
}

fn numbers_of(stored: &[u8]) -> impl Iterator<Item = f32> {
    let halves = stored.as_chunks::<2>().0.iter();
    halves.map(|[low, high]| f32::from_le_bytes([0, 0, *low, *high]))
}

/// The product of two vectors of length 1: the larger, the nearer. `None` if they have not as many numbers.
fn product(stored: &[u8], vector: &[f32]) -> Option<f32> {
    if stored.len() != 2 * vector.len() {
        return None;
    }
    // Several sums at once, which a processor adds side by side.
    let mut sums = [0.0_f32; 8];
    let (stored, rest) = stored.as_chunks::<16>();
    let (vector, vector_rest) = vector.as_chunks::<8>();
    for (stored, vector) in stored.iter().zip(vector) {
        let (pairs, _) = stored.as_chunks::<2>();
        for ((sum, [low, high]), number) in sums.iter_mut().zip(pairs).zip(vector) {
            *sum += f32::from_le_bytes([0, 0, *low, *high]) * number;
        }
    }
    let rest = numbers_of(rest).zip(vector_rest);
    let rest: f32 = rest.map(|(a, b)| a * b).sum();
    Some(sums.iter().sum::<f32>() + rest)
}

#[cfg(test)]
mod tests {
    use super::{compared, keep, lacking, product, spend, stored};
    use crate::index::store::{Home, Store};
    use crate::page::{Locale, PagePath, PageReading};

    fn page(id: i64, content: &str) -> PageReading {
        let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("a/b"));
        PageReading {
            content: Some(content.to_owned()),
            ..PageReading::bare(Some(id), locale, path, "Title".to_owned())
        }
    }

    /// Gives each section that lacks one the vector of a direction.
    fn fill(store: &mut Store, model: &str, numbers: usize) -> usize {
        let mut pages = lacking(store, model).unwrap();
        let mut asked = 0;
        for (at, part) in pages
            .iter_mut()
            .flat_map(|page| &mut page.parts)
            .enumerate()
        {
            if part.vector.is_none() {
                let mut vector = vec![0.0; numbers];
                vector[at % numbers] = 1.0;
                part.vector = Some(stored(&vector));
                asked += 1;
            }
        }
        keep(store, model, &pages).unwrap();
        asked
    }

    #[test]
    fn a_product_is_that_of_the_whole_numbers_but_for_a_hundredth() {
        for count in [1, 7, 8, 16, 27, 384] {
            let numbers = (0..count).map(|at| f32::from(i16::from(at % 5 == 0)) / 4.0 + 0.1);
            let vector: Vec<f32> = numbers.collect();
            let whole: f32 = vector.iter().map(|number| number * number).sum();
            let found = product(&stored(&vector), &vector).unwrap();
            assert!(
                (found / whole - 1.0).abs() < 0.01,
                "{count}: {found} {whole}"
            );
        }
        assert_eq!(product(&[0; 4], &[0.0; 3]), None);
    }

    #[test]
    fn an_unchanged_section_keeps_its_vector_and_another_models_are_never_compared() {
        let mut store = Store::open(&Home::Memory).unwrap();
        store
            .put(&[page(1, "# A\n\none\n\n# B\n\ntwo\n"), page(2, "three")])
            .unwrap();
        assert_eq!(fill(&mut store, "m", 4), 3);
        assert_eq!(fill(&mut store, "m", 4), 0);
        store
            .put(&[page(1, "# A\n\none\n\n# B\n\nother\n")])
            .unwrap();
        // Until then the page is not found by what it said.
        let direction = [1.0, 0.0, 0.0, 0.0];
        let (found, missing) = compared(&store, "m", &[1, 2], &direction).unwrap();
        assert_eq!((found.len(), missing), (1, 1));
        assert_eq!(fill(&mut store, "m", 4), 1);
        // Two models with vectors of as many numbers, or of others, share the index.
        let (found, missing) = compared(&store, "n", &[1, 2], &direction).unwrap();
        assert_eq!((found.len(), missing), (0, 2));
        assert_eq!(fill(&mut store, "n", 4), 3);
        assert_eq!(fill(&mut store, "o", 8), 3);
        for model in ["m", "n"] {
            let (found, missing) = compared(&store, model, &[1, 2], &direction).unwrap();
            assert_eq!((found.len(), missing), (2, 0));
        }
        let (found, _) = compared(&store, "o", &[1, 2], &direction).unwrap();
        assert_eq!(found.len(), 0);
        // A page that is gone leaves nothing.
        for _ in 0..2 {
            store.look(&[2].into()).unwrap();
        }
        let count = "SELECT count(*) FROM meant WHERE id = 1";
        let left: i64 = store.db.query_row(count, [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0);
    }

    #[test]
    fn a_day_has_so_many_texts() {
        let store = Store::open(&Home::Memory).unwrap();
        assert!(spend(&store, 3, 4).unwrap());
        assert!(!spend(&store, 2, 4).unwrap());
        assert!(spend(&store, 1, 4).unwrap());
        assert!(!spend(&store, 1, 4).unwrap());
        store
            .db
            .execute("UPDATE meant_day SET day = day - 1", [])
            .unwrap();
        assert!(spend(&store, 4, 4).unwrap());
    }
}
