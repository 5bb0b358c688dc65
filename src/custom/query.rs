//! A query: one question to the wiki's API, checked against its schema.

use graphql_parser::Pos;
use graphql_parser::query::{
    Definition, FragmentDefinition, OperationDefinition, Query as AstQuery, Selection,
    SelectionSet, TypeCondition, parse_query,
};
use serde_json::{Map, Value};

use super::check::{Checker, writing_fragment};
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

/// The parts of a document.
struct DocumentParts<'a> {
    query: AstQuery<'a, String>,
    fragments: Vec<FragmentDefinition<'a, String>>,
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
        faults.extend(parts(file, text).err().into_iter().flatten());
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
        let parts = parts(&self.file, &self.text)?;
        let checker = Checker::new(schema, &parts.query, &parts.fragments);
        let touches_pages = checker.check().map_err(|faults| {
            let at = |(at, fault)| ToolFileFault::at(&self.file, at, fault);
            faults.into_iter().map(at).collect::<Vec<_>>()
        })?;
        let words = self.name.trim_start_matches(PREFIX).replace('_', " ");
        Ok(Query {
            file: self.file.clone(),
            name: self.name.clone(),
            title: parts.query.name.clone().unwrap_or(words),
            description: self.description.clone(),
            text: self.text.clone(),
            input: variables::input(schema, &parts.query.variable_definitions),
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

/// The one query of a document, and its fragments.
fn parts<'a>(file: &str, text: &'a str) -> Result<DocumentParts<'a>, Vec<ToolFileFault>> {
    let document = read(file, text, "a query", parse_query::<String>);
    let document = document.map_err(|fault| vec![fault])?;
    let (mut queries, mut fragments, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    let mut refuse = |at: Pos, what: &str| {
        let fault = format!("holds a {what}; a custom tool only reads, so it must be one query");
        faults.push(ToolFileFault::at(file, at.into(), fault));
    };
    for definition in document.definitions {
        match definition {
            Definition::Fragment(fragment) => fragments.push(fragment),
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
                refuse(it.position, "mutation");
            }
            Definition::Operation(OperationDefinition::Subscription(it)) => {
                refuse(it.position, "subscription");
            }
        }
    }
    let mut refuse = |at: Pos, on: &str| {
        faults.push(ToolFileFault::at(file, at.into(), writing_fragment(on)));
    };
    for fragment in &fragments {
        refuse_writing(
            fragment.position,
            Some(&fragment.type_condition),
            &mut refuse,
        );
    }
    let sets = queries.iter().map(|query| &query.selection_set);
    for set in sets.chain(fragments.iter().map(|fragment| &fragment.selection_set)) {
        refuse_writing_within(set, &mut refuse);
    }
    if let Some(second) = queries.get(1) {
        let fault = "holds a second query; it must be exactly one";
        faults.push(ToolFileFault::at(file, second.position.into(), fault));
    }
    match queries.pop() {
        Some(query) if faults.is_empty() => Ok(DocumentParts { query, fragments }),
        None if faults.is_empty() => Err(vec![ToolFileFault::new(file, "holds no query")]),
        _ => Err(faults),
    }
}

/// Refuses fragments on the types where mutations and subscriptions begin, whatever the schema.
fn refuse_writing(
    at: Pos,
    on: Option<&TypeCondition<'_, String>>,
    refuse: &mut impl FnMut(Pos, &str),
) {
    if let Some(TypeCondition::On(on)) = on
        && matches!(on.as_str(), "Mutation" | "Subscription")
    {
        refuse(at, on);
    }
}

/// The same for inline fragments, however deep.
fn refuse_writing_within(set: &SelectionSet<'_, String>, refuse: &mut impl FnMut(Pos, &str)) {
    for item in &set.items {
        match item {
            Selection::Field(field) => refuse_writing_within(&field.selection_set, refuse),
            Selection::InlineFragment(inline) => {
                refuse_writing(inline.position, inline.type_condition.as_ref(), refuse);
                refuse_writing_within(&inline.selection_set, refuse);
            }
            Selection::FragmentSpread(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
