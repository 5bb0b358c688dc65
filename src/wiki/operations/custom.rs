//! Sends an operator's own queries, and reads the schema that they are checked against.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::super::transport::classify::{RawAnswer, read_own_query, read_query};
use super::super::{Wiki, WikiError, WikiResult};
use crate::custom::{QUESTION, Query, Schema, of_answer};

/// The most bytes of the answer to a query: its tree takes many times as much memory.
const MOST_BYTES: usize = 1 << 20;
/// The most bytes of a schema; that of Wiki.js 2.5.314 has 182,000.
const MOST_SCHEMA: usize = 4 << 20;

/// The reason that the wiki's schema is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoSchema {
    /// The reason, as a fragment.
    pub why: String,
    /// True if it may be known a moment later.
    pub is_passing: bool,
}

#[derive(Serialize)]
struct CustomQueryBody<'a> {
    query: &'a str,
    variables: &'a Map<String, Value>,
}

/// Data that is not read yet.
#[derive(Deserialize)]
#[serde(transparent)]
struct UnparsedData(Box<RawValue>);

impl Wiki {
    /// Asks a custom query, with retry.
    ///
    /// # Errors
    /// See [`WikiError`]. A query that may show pages finds nothing where reads are bounded, since
    /// its answer cannot be.
    pub async fn ask(&self, query: &Query, variables: &Map<String, Value>) -> WikiResult<Value> {
        if query.touches_pages && !self.scope().is_open() {
            return Err(WikiError::NotFound);
        }
        let body = CustomQueryBody {
            query: &query.text,
            variables,
        };
        let answer = self.read_by_post(&body, |answer| {
            within(answer, MOST_BYTES)?;
            read_own_query(answer)
        });
        answer.await.map_err(|error| match error {
            // What was guessed from the names of fields holds for our own queries alone.
            WikiError::Forbidden { .. } => {
                WikiError::forbidden("a right for one of the fields of this query")
            }
            error => error,
        })
    }

    /// Asks the wiki for its schema, with retry.
    ///
    /// # Errors
    /// Why it is not known.
    pub async fn schema(&self) -> Result<Schema, NoSchema> {
        let body = CustomQueryBody {
            query: QUESTION,
            variables: &Map::new(),
        };
        let answer = self.read_by_post(&body, |answer| {
            within(answer, MOST_SCHEMA)?;
            // Not in the key's bounds: names of types are no pages.
            read_query::<UnparsedData>(answer)
        });
        let UnparsedData(data) = answer.await.map_err(|error| told(&error))?;
        let schema = of_answer(data.get());
        schema.map_err(|fault| NoSchema {
            why: format!("the schema that the wiki tells {fault}"),
            is_passing: false,
        })
    }
}

/// Apollo's word for a query that it refuses.
const INVALID: &str = "GRAPHQL_VALIDATION_FAILED";

fn told(error: &WikiError) -> NoSchema {
    // Only the wiki's own API can say that there is no schema to be had; a gateway may pass.
    let is_final = matches!(
        error,
        WikiError::Internal { .. }
            | WikiError::Misunderstood
            | WikiError::Malformed { .. }
            | WikiError::AnswerTooLarge { .. }
    );
    let why = match error {
        WikiError::Misunderstood | WikiError::Internal { kind: INVALID } => {
            "the wiki does not tell its schema: introspection is off, as on many production servers"
                .to_owned()
        }
        error => format!("the wiki was asked for its schema: {error}"),
    };
    NoSchema {
        why,
        is_passing: !is_final,
    }
}

fn within(answer: &RawAnswer, limit: usize) -> WikiResult<()> {
    let fits = answer.body.len() <= limit;
    fits.then_some(())
        .ok_or(WikiError::AnswerTooLarge { limit })
}
