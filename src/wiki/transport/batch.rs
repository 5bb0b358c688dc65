//! One request with many reads of one kind, each under its own alias (W26).
//!
//! The operation is built from one that is checked against the schema: its one field below `pages`,
//! repeated for each id.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::super::{Wiki, WikiError, WikiResult};
use super::classify::read_named;

/// The most reads of one request.
pub(in crate::wiki) const MOST: usize = 50;

/// An operation that has no variables.
#[derive(Serialize)]
struct BatchBody {
    query: String,
}

/// Answers of many reads.
#[derive(Debug)]
pub(in crate::wiki) struct Answers<D> {
    /// The data of each, or the error that it gave.
    pub(in crate::wiki) each: Vec<WikiResult<D>>,
    /// Number of bytes received.
    pub(in crate::wiki) bytes: usize,
}

impl Wiki {
    /// Asks the one read of an operation for each of some ids, in one request; `D` is what the
    /// types generated of the operation have for it.
    ///
    /// # Errors
    /// Errors of the whole request; also that of a single read, if the schema lets none be absent.
    pub(in crate::wiki) async fn many<D: DeserializeOwned>(
        &self,
        operation: &str,
        ids: &[i64],
    ) -> WikiResult<Answers<D>> {
        let query = composed(operation, ids).ok_or_else(|| WikiError::malformed("the request"))?;
        let names: Vec<String> = ids.iter().map(|id| name(*id)).collect();
        self.read_by_post(&BatchBody { query }, |answer| {
            Ok(Answers {
                each: read_named(answer, &names)?,
                bytes: answer.body.len(),
            })
        })
        .await
    }
}

fn name(id: i64) -> String {
    format!("p{id}")
}

/// An operation with the one field that another has below `pages`, once for each id.
fn composed(operation: &str, ids: &[i64]) -> Option<String> {
    let (_, rest) = operation.split_once("pages {")?;
    let (rest, _) = rest.rsplit_once('}')?;
    let (field, _) = rest.rsplit_once('}')?;
    let field: Vec<&str> = field.split_whitespace().collect();
    let field = field.join(" ");
    let mut query = String::from("{ pages {");
    for id in ids {
        query.push(' ');
        query.push_str(&name(*id));
        query.push_str(": ");
        query.push_str(&field.replace("$id", &id.to_string()));
    }
    query.push_str(" } }");
    Some(query)
}

#[cfg(test)]
mod tests {
    use graphql_parser::query::{Definition, OperationDefinition, Selection, parse_query};

    use super::composed;
    use crate::wiki::operations::generated::{page_content, page_latest_content};

    /// The one field below `pages` of an operation, or those of one that has many.
    fn below_pages(query: &str) -> Vec<(Option<String>, String, String, String)> {
        let document = parse_query::<String>(query).expect("GraphQL");
        let [Definition::Operation(operation)] = &document.definitions[..] else {
            panic!("one operation: {query}");
        };
        let selected = match operation {
            OperationDefinition::Query(query) => &query.selection_set,
            OperationDefinition::SelectionSet(selected) => selected,
            other => panic!("a query: {other}"),
        };
        let [Selection::Field(pages)] = &selected.items[..] else {
            panic!("one field: {query}");
        };
        assert_eq!(pages.name, "pages");
        let fields = pages.selection_set.items.iter().map(|field| {
            let Selection::Field(field) = field else {
                panic!("a field: {query}");
            };
            let arguments: Vec<String> = field
                .arguments
                .iter()
                .map(|(name, value)| format!("{name}: {value}"))
                .collect();
            (
                field.alias.clone(),
                field.name.clone(),
                arguments.join(", "),
                field.selection_set.to_string(),
            )
        });
        fields.collect()
    }

    #[test]
    fn each_read_of_a_request_is_the_one_that_is_checked_against_the_schema() {
        for operation in [page_content::QUERY, page_latest_content::QUERY] {
            let [checked] = &below_pages(operation)[..] else {
                panic!("one read: {operation}");
            };
            let many = below_pages(&composed(operation, &[7, 81]).expect("a query"));
            let wanted: Vec<_> = [7, 81]
                .into_iter()
                .map(|id| {
                    let (_, name, arguments, selected) = checked.clone();
                    let arguments = arguments.replace("$id", &id.to_string());
                    (Some(format!("p{id}")), name, arguments, selected)
                })
                .collect();
            assert_eq!(many, wanted);
        }
    }
}
