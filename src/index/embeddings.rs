//! Asks the operator's embeddings endpoint for the vectors of texts: bounded in time and size, and checked.

#![expect(
    clippy::disallowed_types,
    reason = "the operator's own address, never the wiki's"
)]

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use serde_json::json;
use url::Url;

use crate::store::SecretSource;
use crate::wiki::{Network, fetch, http_client};

/// The most texts of one request.
pub(super) const BATCH: usize = 32;
/// The longest wait for the vectors of a batch.
const BATCH_WAIT: Duration = Duration::from_secs(30);
/// The longest wait for the vector of a search, which waits for it.
const SEARCH_WAIT: Duration = Duration::from_secs(3);
/// The time for which an endpoint that failed is not asked again.
const PAUSE: Duration = Duration::from_secs(15);
/// The most bytes of an answer.
const MOST_BYTES: usize = 8 << 20;
/// The most numbers of a vector.
const MOST_NUMBERS: usize = 4096;

/// The endpoint that makes vectors of texts, in the form of `OpenAI`'s `/v1/embeddings`.
#[derive(Debug)]
pub struct EmbeddingsEndpoint {
    address: Url,
    /// The name of its model.
    pub model: String,
    /// The most texts that it gets in a day.
    pub(super) per_day: u32,
    key: Option<SecretSource>,
    network: Network,
    client: OnceLock<reqwest::Client>,
    failed: Mutex<Option<(Instant, String)>>,
}

/// The reason that there are no vectors, as the end of a sentence about the endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EmbedFault {
    /// It refused these texts: each by itself may be taken.
    Refused(String),
    /// It cannot be used now.
    Away(String),
}

#[derive(Deserialize)]
struct EmbeddingsAnswer {
    data: Vec<EmbeddingItem>,
}

#[derive(Deserialize)]
struct EmbeddingItem {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl EmbeddingsEndpoint {
    /// The endpoint at an address that holds no secret, its model, and the most texts in a day.
    pub fn new(
        address: Url,
        (model, per_day): (String, u32),
        key: Option<SecretSource>,
        network: Network,
    ) -> Self {
        Self {
            address,
            model,
            per_day,
            key,
            network,
            client: OnceLock::new(),
            failed: Mutex::default(),
        }
    }

    /// The vector of a search's words.
    pub(super) async fn of_search(&self, text: &str) -> Result<Vec<f32>, String> {
        match self.ask(&[text], SEARCH_WAIT).await {
            Ok(mut vectors) => vectors.pop().ok_or_else(|| "it sent no vector".to_owned()),
            Err(EmbedFault::Refused(why) | EmbedFault::Away(why)) => Err(why),
        }
    }

    /// Asks for the vector of one word; returns how many numbers it has.
    ///
    /// # Errors
    /// Why there is none, as the end of a sentence about the endpoint.
    pub async fn probe(&self) -> Result<usize, String> {
        self.of_search("test").await.map(|vector| vector.len())
    }

    /// The vectors of texts, in their order, each of length 1 and all of as many numbers.
    pub(super) async fn of_texts(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedFault> {
        self.ask(texts, BATCH_WAIT).await
    }

    async fn ask(&self, texts: &[&str], wait: Duration) -> Result<Vec<Vec<f32>>, EmbedFault> {
        if let Some(why) = self.paused() {
            return Err(EmbedFault::Away(why));
        }
        // The key's command counts, too.
        let asked = tokio::time::timeout(wait, self.send(texts, wait)).await;
        let late = || Err(EmbedFault::Away("it does not answer in time".to_owned()));
        let asked = asked.unwrap_or_else(|_| late());
        let failed = match &asked {
            Err(EmbedFault::Away(why)) => Some((Instant::now(), why.clone())),
            _ => None,
        };
        *self.failed.lock() = failed;
        asked
    }

    async fn send(&self, texts: &[&str], wait: Duration) -> Result<Vec<Vec<f32>>, EmbedFault> {
        let away = EmbedFault::Away;
        let key = match &self.key {
            Some(key) => Some(
                key.load()
                    .await
                    .map_err(|why| away(format!("its key {why}")))?,
            ),
            None => None,
        };
        let client = if let Some(client) = self.client.get() {
            client
        } else {
            let made = http_client(&self.address, &self.network);
            let made = made.map_err(|why| away(why.to_owned()))?;
            self.client.get_or_init(|| made)
        };
        let mut request = client
            .post(self.address.clone())
            .timeout(wait)
            .json(&json!({ "model": self.model, "input": texts }));
        if let Some(key) = key {
            request = request.bearer_auth(key.expose_secret());
        }
        let (status, body) = fetch(request, MOST_BYTES).await.map_err(away)?;
        let answered = || format!("it answered {}", status.as_u16());
        match status.as_u16() {
            200 => checked(&body, texts.len()).map_err(|why| away(why.to_owned())),
            400 | 413 | 422 => Err(EmbedFault::Refused(answered())),
            _ => Err(away(answered())),
        }
    }

    /// The reason that it is not asked for a while, if it failed a moment ago.
    pub(super) fn paused(&self) -> Option<String> {
        let failed = self.failed.lock();
        let recent = failed.as_ref().filter(|(at, _)| at.elapsed() < PAUSE);
        recent.map(|(_, why)| why.clone())
    }

    /// Notes that its answers cannot be used: it is not asked for a while.
    pub(super) fn fail(&self, why: &str) {
        *self.failed.lock() = Some((Instant::now(), why.to_owned()));
    }
}

/// The vectors of an answer to so many texts, each of length 1.
fn checked(body: &[u8], texts: usize) -> Result<Vec<Vec<f32>>, &'static str> {
    let answer: EmbeddingsAnswer =
        serde_json::from_slice(body).map_err(|_| "its answer holds no embeddings")?;
    if answer.data.len() != texts {
        return Err("it sent another number of vectors than of texts");
    }
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; texts];
    let numbers = answer.data.first().map_or(0, |item| item.embedding.len());
    for (at, item) in answer.data.into_iter().enumerate() {
        if item.embedding.len() != numbers || !(1..=MOST_NUMBERS).contains(&numbers) {
            return Err("its vectors have different numbers of dimensions, none, or too many");
        }
        let place = vectors.get_mut(item.index.unwrap_or(at));
        let place = place.filter(|place| place.is_none());
        let place = place.ok_or("its answer does not say which vector is of which text")?;
        *place = Some(of_length_1(item.embedding).ok_or("it sent a vector without a direction")?);
    }
    Ok(vectors.into_iter().flatten().collect())
}

fn of_length_1(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let largest = vector.iter().map(|number| number.abs());
    let largest = largest.fold(0.0, f32::max);
    if !vector.iter().all(|number| number.is_finite()) || largest < f32::MIN_POSITIVE {
        return None;
    }
    // Divided by the largest first, since squares may be too large for single precision.
    for number in &mut vector {
        *number /= largest;
    }
    let squares = vector.iter().map(|number| number * number);
    let length = squares.sum::<f32>().sqrt();
    for number in &mut vector {
        *number /= length;
    }
    Some(vector)
}

#[cfg(test)]
mod tests {
    use super::checked;

    #[test]
    fn an_answer_is_taken_only_if_it_fits_the_texts() {
        let good = br#"{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}]}"#;
        let vectors = checked(good, 2).unwrap();
        assert_eq!(vectors, [vec![0.6, 0.8], vec![0.0, 1.0]]);
        for (bad, why) in [
            ("{}", "no embeddings"),
            (r#"{"data":[{"embedding":[1]}]}"#, "another number"),
            (
                r#"{"data":[{"embedding":[1]},{"embedding":[1,2]}]}"#,
                "dimensions",
            ),
            (
                r#"{"data":[{"embedding":[]},{"embedding":[]}]}"#,
                "dimensions",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#,
                "which vector",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}"#,
                "which vector",
            ),
            (
                r#"{"data":[{"embedding":[1]},{"embedding":[0]}]}"#,
                "direction",
            ),
            (
                r#"{"data":[{"embedding":[1]},{"embedding":[1e39]}]}"#,
                "direction",
            ),
        ] {
            let told = checked(bad.as_bytes(), 2).unwrap_err();
            assert!(told.contains(why), "{bad}: {told}");
        }
        let large = checked(br#"{"data":[{"embedding":[3e30,4e30]}]}"#, 1).unwrap();
        assert!((large[0][0] - 0.6).abs() < 1e-6, "{large:?}");
    }
}
