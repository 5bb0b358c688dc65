//! Checks whether the embeddings endpoint answers; it gets one word.

use super::finding::DoctorFinding;
use crate::index::EmbeddingsEndpoint;

pub(super) async fn found(endpoint: &EmbeddingsEndpoint) -> DoctorFinding {
    let model = &endpoint.model;
    match endpoint.probe().await {
        Ok(numbers) => DoctorFinding::good(format!(
            "the endpoint answers for {model:?} with vectors of {numbers} numbers"
        )),
        Err(why) => DoctorFinding::warning(
            format!("the endpoint is of no use now: {why}"),
            "Look at WIKI_EMBEDDINGS_URL and its key; search goes by words alone meanwhile.",
        ),
    }
}
