//! All custom tools of a directory.

use super::query::UncheckedQuery;
use crate::custom::{Query, Recipe, Schema, ToolFileFault, sdl};

/// The file that holds the wiki's schema, where the wiki does not tell it.
const SCHEMA: &str = "schema.graphql";

/// A file of the directory, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The custom tools of a directory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Customs {
    /// Its recipes.
    pub recipes: Vec<Recipe>,
    drafts: Vec<UncheckedQuery>,
    schema: Option<Schema>,
}

impl Customs {
    /// True if a file of this name is read.
    pub fn takes(name: &str) -> bool {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        !name.starts_with('.') && matches!(ending, Some("toml" | "graphql"))
    }

    /// Reads files: the tools of the good ones, and all faults of the others. Queries are
    /// not held against a schema yet.
    pub fn read(files: &[SourceFile]) -> (Self, Vec<ToolFileFault>) {
        let mut read = Self::default();
        let mut faults = Vec::new();
        for SourceFile { name, text } in files {
            if name == SCHEMA {
                match sdl::parse(name, text) {
                    Ok(schema) => read.schema = Some(schema),
                    Err(fault) => faults.push(fault),
                }
            } else if name.ends_with(".graphql") {
                match UncheckedQuery::parse(name, text) {
                    Ok(draft) => read.drafts.push(draft),
                    Err(found) => faults.extend(found),
                }
            } else {
                match Recipe::parse(name, text) {
                    Ok(recipe) => read.recipes.push(recipe),
                    Err(found) => faults.extend(found),
                }
            }
        }
        faults.extend(read.taken());
        (read, faults)
    }

    /// A fault for each name that two files say.
    fn taken(&self) -> Vec<ToolFileFault> {
        let recipes = self.recipes.iter().map(|it| (&it.name, &it.file));
        let drafts = self.drafts.iter().map(|it| (&it.name, &it.file));
        let names: Vec<(&String, &String)> = recipes.chain(drafts).collect();
        let second = |(place, (name, file)): (usize, &(&String, &String))| {
            let mut before = names.iter().take(place);
            let (_, other) = before.find(|(other, _)| other == name)?;
            Some(ToolFileFault::new(
                file,
                format!("its name {name} is taken by {other}"),
            ))
        };
        names.iter().enumerate().filter_map(second).collect()
    }

    /// The names of its queries.
    pub fn query_names(&self) -> impl Iterator<Item = &str> {
        self.drafts.iter().map(|draft| draft.name.as_str())
    }

    /// The names of all its tools.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let recipes = self.recipes.iter().map(|recipe| recipe.name.as_str());
        recipes.chain(self.query_names())
    }

    /// The schema, if a file holds it.
    pub const fn schema(&self) -> Option<&Schema> {
        self.schema.as_ref()
    }

    /// True if the wiki must be asked for its schema.
    pub fn needs_schema(&self) -> bool {
        self.schema.is_none() && !self.drafts.is_empty()
    }

    /// Its queries, held against a schema.
    ///
    /// # Errors
    /// All faults of all queries.
    pub fn queries(&self, schema: &Schema) -> Result<Vec<Query>, Vec<ToolFileFault>> {
        let (mut queries, mut faults) = (Vec::new(), Vec::new());
        for draft in &self.drafts {
            match draft.check(schema) {
                Ok(query) => queries.push(query),
                Err(found) => faults.extend(found),
            }
        }
        if faults.is_empty() {
            Ok(queries)
        } else {
            Err(faults)
        }
    }
}
