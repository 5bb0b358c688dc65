//! Finds the pages that are nearest to words, or to another page, in meaning. Vectors of different models are never
//! compared.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rusqlite::params;

use super::embed::{in_words, other_numbers, pieces};
use super::store::{IndexResult, Store};
use super::vector::{numbers_of, product};
use super::vector_tables::numbers;
use super::{ContentIndex, EmbeddingsEndpoint};
use crate::page::{Locale, PagePath, PageReading};

/// The number of pages that are compared before other queries get a turn.
const COMPARED_AT_ONCE: usize = 1_000;
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
        let model = endpoint.model.clone();
        let known = of.asked(move |store| Ok(numbers(&store.db, &model)?)).await;
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
        let model = endpoint.model.clone();
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
            let (some, model) = (some.to_vec(), endpoint.model.clone());
            let vector = Arc::clone(&vector);
            let found = of.asked(move |store| compared(store, &model, &some, &vector));
            let (found, lacking) = found.await.map_err(in_words)?;
            missing += lacking;
            best.extend(found);
            // Of pages that are equally near the same ones are found each time.
            best.sort_by(|(one, _, a): &Nearest, (other, _, b)| {
                b.total_cmp(a).then(one.cmp(other))
            });
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
}

/// The ids of the pages that a search may find, ascending.
fn wanted(
    store: &Store,
    but_for: Option<i64>,
    is_wanted: &dyn Fn(&Locale, &PagePath) -> bool,
) -> IndexResult<Vec<i64>> {
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
) -> IndexResult<(Vec<Nearest>, usize)> {
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
fn own_vector(store: &Store, model: &str, id: i64) -> IndexResult<Vec<f32>> {
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
fn shown(index: &Store, (id, selector, score): Nearest) -> IndexResult<Option<NearPage>> {
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

#[cfg(test)]
mod tests {
    use super::compared;
    use crate::index::embed::{keep, lacking};
    use crate::index::store::{Home, Store};
    use crate::index::vector::stored;
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
        keep(store, model, (&pages, true)).unwrap();
        asked
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
}
