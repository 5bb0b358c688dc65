//! The operator's own tools: what there is, and whether the wiki's schema has what they ask.

use super::finding::DoctorFinding;
use crate::cli::print::counted;
use crate::custom::Customs;
use crate::tools::{Registry, ToolSelection, add_customs};
use crate::wiki::Wiki;
use crate::words::separated;

/// Findings about the tools of valid files; an invalid file is a fault of the settings.
pub(super) async fn found(
    wiki: &Wiki,
    surface: &ToolSelection,
    customs: &Customs,
    is_reached: bool,
) -> Vec<DoctorFinding> {
    let recipes = counted(customs.recipes.len(), "recipe", "recipes");
    let queries = counted(customs.query_names().count(), "query", "queries");
    let mut found = vec![DoctorFinding::good(format!(
        "{recipes} and {queries} are read"
    ))];
    if !customs.needs_schema() {
        return found;
    }
    if !is_reached {
        found.push(DoctorFinding::skipped("because of the address"));
        return found;
    }
    found.push(match wiki.schema().await {
        Ok(schema) => match Registry::new(surface) {
            Ok(mut registry) => match add_customs(&mut registry, surface, customs, Some(&schema)) {
                Ok(()) => DoctorFinding::good("the wiki has all that the queries ask".to_owned()),
                Err(faults) => {
                    let todo = "Correct the file; `wikijs-gate tool check` tests it.";
                    DoctorFinding::wrong(separated(faults, "; "), todo)
                }
            },
            Err(error) => DoctorFinding::wrong(error.to_string(), "Rename one of them."),
        },
        Err(no) => DoctorFinding::wrong(
            no.why,
            "Put the wiki's schema into the directory as schema.graphql.",
        ),
    });
    found
}
