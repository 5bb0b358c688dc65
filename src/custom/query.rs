//! A query: one question to the wiki's API, checked against its schema.

use graphql_parser::Pos;
use graphql_parser::query::{
    Definition, OperationDefinition, Query as AstQuery, SelectionSet, parse_query,
};
use serde_json::{Map, Value};

use super::check::{Checker, field_of, no_fragment};
use super::name::PREFIX;
use super::sdl::read;
use crate::custom::{LineColumn, Schema, ToolFileFault, is_custom_name, variables};
use crate::words::separated;

/// The longest file, in bytes.
const MOST_TEXT: usize = 16 * 1024;
/// The longest description, in characters.
const DESCRIPTION: usize = 1_000;

/// A question to the wiki's API: exactly one query, checked against its schema. Only this room
/// makes one.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The file that says it.
    pub file: String,
    /// Its name as a tool.
    pub name: String,
    /// Its display name.
    pub title: String,
    /// The description: tells agents when to use it.
    pub description: String,
    /// The schema of its arguments.
    pub input: Map<String, Value>,
    /// Its text, as it is sent.
    pub text: String,
    /// True if it may show something of pages, comments or assets.
    pub touches_pages: bool,
}

/// The file of a query, read but not held against a schema yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UncheckedQuery {
    pub(super) file: String,
    pub(super) name: String,
    description: String,
    text: String,
}

impl UncheckedQuery {
    /// Reads a file, and checks what needs no schema.
    pub(super) fn parse(file: &str, text: &str) -> Result<Self, Vec<ToolFileFault>> {
        let mut faults = Vec::new();
        let stem = file.strip_suffix(".graphql").unwrap_or(file);
        let name = format!("{PREFIX}{stem}");
        if !is_custom_name(&name) {
            let fault = "its name becomes the tool's: a small letter, then small letters, digits and _, up to 57 characters, then .graphql";
            faults.push(ToolFileFault::new(file, fault));
        }
        if text.len() > MOST_TEXT {
            faults.push(ToolFileFault::new(
                file,
                format!("is larger than {MOST_TEXT} bytes"),
            ));
            return Err(faults);
        }
        let description = description(text);
        let length = description.chars().count();
        if length == 0 || length > DESCRIPTION {
            let fault = format!(
                "must begin with lines of comment that say when to use it, up to {DESCRIPTION} characters"
            );
            faults.push(ToolFileFault::at(
                file,
                LineColumn { line: 1, column: 1 },
                fault,
            ));
        }
        let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
        if let Some(at) = text.find(is_odd) {
            let fault = "has a control character";
            faults.push(ToolFileFault::at(file, LineColumn::new(text, at), fault));
        }
        faults.extend(only_query(file, text).err().into_iter().flatten());
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            file: file.to_owned(),
            name,
            description,
            text: text.to_owned(),
        })
    }

    /// Holds it against a schema.
    pub(super) fn check(&self, schema: &Schema) -> Result<Query, Vec<ToolFileFault>> {
        let query = only_query(&self.file, &self.text)?;
        let touches_pages = Checker::new(schema, &query).check().map_err(|faults| {
            let at = |(at, fault)| ToolFileFault::at(&self.file, at, fault);
            faults.into_iter().map(at).collect::<Vec<_>>()
        })?;
        let words = self.name.trim_start_matches(PREFIX).replace('_', " ");
        Ok(Query {
            file: self.file.clone(),
            name: self.name.clone(),
            title: query.name.clone().unwrap_or(words),
            description: self.description.clone(),
            text: self.text.clone(),
            input: variables::input(schema, &query.variable_definitions),
            touches_pages,
        })
    }
}

/// The comment that a text begins with.
fn description(text: &str) -> String {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let lines = lines.skip_while(|line| line.is_empty());
    let lines = lines.map_while(|line| line.strip_prefix('#'));
    let lines = lines.map(|line| line.trim_start_matches('#').trim());
    separated(lines.filter(|line| !line.is_empty()), " ")
}

/// The one query of a document, which has no fragments.
fn only_query<'a>(file: &str, text: &'a str) -> Result<AstQuery<'a, String>, Vec<ToolFileFault>> {
    let document = read(file, text, "a query", parse_query::<String>);
    let document = document.map_err(|fault| vec![fault])?;
    let (mut queries, mut faults) = (Vec::new(), Vec::new());
    let mut refuse = |at: Pos, fault: String| {
        faults.push(ToolFileFault::at(file, at.into(), fault));
    };
    for definition in document.definitions {
        match definition {
            Definition::Fragment(fragment) => {
                let what = format!("the fragment {}", fragment.name);
                refuse(fragment.position, no_fragment(&what));
            }
            Definition::Operation(OperationDefinition::Query(query)) => queries.push(query),
            Definition::Operation(OperationDefinition::SelectionSet(selection_set)) => {
                queries.push(AstQuery {
                    position: selection_set.span.0,
                    name: None,
                    variable_definitions: Vec::new(),
                    directives: Vec::new(),
                    selection_set,
                });
            }
            Definition::Operation(OperationDefinition::Mutation(it)) => {
                refuse(it.position, no_write("mutation"));
            }
            Definition::Operation(OperationDefinition::Subscription(it)) => {
                refuse(it.position, no_write("subscription"));
            }
        }
    }
    for query in &queries {
        refuse_fragments(&query.selection_set, &mut refuse);
    }
    if let Some(second) = queries.get(1) {
        let fault = "holds a second query; it must be exactly one";
        faults.push(ToolFileFault::at(file, second.position.into(), fault));
    }
    match queries.pop() {
        Some(query) if faults.is_empty() => Ok(query),
        None if faults.is_empty() => Err(vec![ToolFileFault::new(file, "holds no query")]),
        _ => Err(faults),
    }
}

/// The fault of an operation that is no query.
fn no_write(what: &str) -> String {
    format!("holds a {what}; a custom tool only reads, so it must be one query")
}

/// Refuses every fragment of a selection, however deep.
fn refuse_fragments(set: &SelectionSet<'_, String>, refuse: &mut impl FnMut(Pos, String)) {
    for item in &set.items {
        match field_of(item) {
            Ok(field) => refuse_fragments(&field.selection_set, refuse),
            Err((at, fault)) => refuse(at, fault),
        }
    }
}

#[cfg(test)]
mod tests;
