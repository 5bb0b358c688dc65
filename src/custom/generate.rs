//! Writes the file of a query for a field of the schema, for the operator to read and to accept.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::query::UncheckedQuery;
use super::schema::{Of, SchemaMember};
use super::secrets::is_secret;
use super::variables::schema_of;
use crate::custom::{Schema, SourceFile};
use crate::nearest::{did_you_mean, nearest};
use crate::words::separated;

/// The levels of fields below the one that is asked for.
const MOST_DEPTH: usize = 3;
/// The most fields of the answer.
const MOST_FIELDS: usize = 80;
/// The most characters of the description.
const MOST_DESCRIPTION: usize = 900;
/// The fields that Wiki.js cannot tell in every query that the schema allows (seen on 2.5.314): a page's table of contents
/// is no string, and users that are searched have no activity.
const FAILING: [(&str, &str); 2] = [("Page", "toc"), ("UserMinimal", "isActive")];
/// The most lines about what was left out.
const MOST_LEFT_OUT: usize = 30;

/// The file of a query that passed the check of custom tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedQuery {
    /// The file: its name makes the name of the tool.
    pub file: SourceFile,
    /// True if it may show something of pages, comments or assets.
    pub touches_pages: bool,
}

/// Writes the query for a field below `Query`: `pages.list`.
///
/// # Errors
/// One sentence about why there is no such tool.
pub fn generate(schema: &Schema, path: &str) -> Result<GeneratedQuery, String> {
    let mut draft = QueryDraft {
        schema,
        variables: Vec::new(),
        above: vec![schema.query.clone()],
        left_out: Vec::new(),
        fields: 0,
    };
    let words: Vec<&str> = path.split('.').collect();
    let (mut calls, mut about) = (Vec::new(), "");
    for (place, name) in words.iter().enumerate() {
        let parent = draft.above.last().cloned().unwrap_or_default();
        let field = draft.field(&parent, name)?;
        let call = draft.call(name, field)?;
        let leads_to = field.of.name();
        if place + 1 < words.len() || !schema.is_leaf(leads_to) {
            if schema.fields(leads_to).is_none_or(BTreeMap::is_empty) {
                return Err(format!(
                    "{parent}.{name} is of the type {leads_to}, which has no fields"
                ));
            }
            draft.above.push(leads_to.to_owned());
        }
        calls.push(call);
        about = &field.about;
    }
    draft.written(path, &calls, about)
}

/// A query that is being written.
struct QueryDraft<'a> {
    schema: &'a Schema,
    /// Name, type and description of each.
    variables: Vec<(String, String, String)>,
    /// The types around the place that is written.
    above: Vec<String>,
    left_out: Vec<String>,
    fields: usize,
}

impl<'a> QueryDraft<'a> {
    /// A field of a type, unless it holds secrets.
    fn field(&self, parent: &str, name: &str) -> Result<&'a SchemaMember, String> {
        let fields = self.schema.fields(parent);
        let Some(field) = fields.and_then(|fields| fields.get(name)) else {
            let of_writes = |root: &String| {
                let fields = self.schema.fields(root);
                fields.is_some_and(|fields| fields.contains_key(name))
            };
            if parent == self.schema.query && self.schema.writes.iter().any(of_writes) {
                return Err(format!(
                    "{name} is no field of {parent}: it writes, and a custom tool only reads"
                ));
            }
            let near = fields.and_then(|fields| nearest(name, fields.keys(), 0.7).cloned());
            return Err(format!(
                "{parent} has no field of that name{}",
                did_you_mean(near)
            ));
        };
        if is_secret(parent, name, field.of.name()) {
            return Err(format!(
                "{parent}.{name} holds secrets, which no custom tool reads"
            ));
        }
        Ok(field)
    }

    /// A field with its arguments as variables.
    fn call(&mut self, name: &str, field: &SchemaMember) -> Result<String, String> {
        let mut given = Vec::new();
        for (argument, input) in &field.arguments {
            if schema_of(self.schema, &input.of).is_none() {
                if input.is_required() {
                    return Err(format!(
                        "{name} needs the argument {argument} of the type {}, which no caller can say",
                        input.of
                    ));
                }
                self.leave_out(&format!("argument {argument}: of the type {}", input.of));
                continue;
            }
            let is_taken = self.variables.iter().any(|(taken, ..)| taken == argument);
            let variable = if is_taken {
                format!("{name}_{argument}")
            } else {
                argument.clone()
            };
            // A default of the schema counts where the caller says nothing.
            let of = match (&input.of, input.has_default) {
                (Of::Some(of), true) => of.to_string(),
                (of, _) => of.to_string(),
            };
            given.push(format!("{argument}: ${variable}"));
            self.variables.push((variable, of, input.about.clone()));
        }
        let indent = self.above.len();
        Ok(format!("{name}{}", in_brackets(&given, indent)))
    }

    fn leave_out(&mut self, what: &str) {
        if self.left_out.len() < MOST_LEFT_OUT {
            self.left_out.push(what.to_owned());
        }
    }

    /// The fields of the innermost type that can be asked for without an argument.
    fn selection(&mut self, indent: usize, depth: usize) -> String {
        let schema = self.schema;
        let parent = self.above.last().cloned().unwrap_or_default();
        let mut text = String::new();
        for (name, field) in schema.fields(&parent).into_iter().flatten() {
            let leads_to = field.of.name();
            let needs = field.arguments.values().any(SchemaMember::is_required);
            let why = if is_secret(&parent, name, leads_to) {
                "holds secrets"
            } else if FAILING.contains(&(parent.as_str(), name.as_str())) {
                "Wiki.js 2.5 fails at it in some queries"
            } else if needs {
                "needs an argument"
            } else if self.fields >= MOST_FIELDS {
                "too many fields"
            } else if schema.is_leaf(leads_to) {
                self.fields += 1;
                let _ = writeln!(text, "{}{name}", "  ".repeat(indent));
                continue;
            } else if schema.fields(leads_to).is_none_or(BTreeMap::is_empty) {
                "has no fields"
            } else if self.above.iter().any(|above| above == leads_to) {
                "holds itself"
            } else if depth == 0 {
                "lies too deep"
            } else {
                self.fields += 1;
                self.above.push(leads_to.to_owned());
                let inner = self.selection(indent + 1, depth - 1);
                self.above.pop();
                if !inner.is_empty() {
                    let pad = "  ".repeat(indent);
                    let _ = write!(text, "{pad}{name} {{\n{inner}{pad}}}\n");
                }
                continue;
            };
            self.leave_out(&format!("{parent}.{name}: {why}"));
        }
        text
    }

    fn written(
        mut self,
        path: &str,
        calls: &[String],
        about: &str,
    ) -> Result<GeneratedQuery, String> {
        let name = snake_case(path);
        let levels = calls.len();
        let is_leaf = self.above.len() <= levels;
        let mut inner = if is_leaf {
            String::new()
        } else {
            self.selection(levels + 1, MOST_DEPTH)
        };
        if !is_leaf && inner.is_empty() {
            return Err(format!("{path} has no field that can be asked for"));
        }
        for (place, call) in calls.iter().enumerate().rev() {
            let pad = "  ".repeat(place + 1);
            inner = if inner.is_empty() {
                format!("{pad}{call}\n")
            } else {
                format!("{pad}{call} {{\n{inner}{pad}}}\n")
            };
        }
        let told = format!("Answers {path} of the wiki's API. {about}");
        let mut told = told.trim_end().to_owned();
        for (name, of, about) in &self.variables {
            let _ = write!(told, " {name} ({of})");
            if !about.is_empty() {
                let _ = write!(told, ": {about}");
            }
        }
        let told: String = told.chars().take(MOST_DESCRIPTION).collect();
        let variables = self.variables.iter();
        let variables = variables.map(|(name, of, _)| format!("${name}: {of}"));
        let variables = in_brackets(&variables.collect::<Vec<_>>(), 0);
        let left_out = self
            .left_out
            .iter()
            .map(|what| format!("# left out: {what}\n"));
        let left_out: String = left_out.collect();
        let text = format!(
            "# {}\n\n{left_out}query {name}{variables} {{\n{inner}}}\n",
            told.trim_end()
        );
        let file = format!("{name}.graphql");
        let query = UncheckedQuery::parse(&file, &text).and_then(|query| query.check(self.schema));
        let query = query.map_err(|faults| separated(faults, "; "))?;
        Ok(GeneratedQuery {
            touches_pages: query.touches_pages,
            file: SourceFile { name: file, text },
        })
    }
}

/// A list in brackets, of several items one a line; nothing of none.
fn in_brackets(items: &[String], indent: usize) -> String {
    match items {
        [] => String::new(),
        [item] => format!("({item})"),
        items => {
            let pad = "  ".repeat(indent);
            let lines = items.iter().map(|item| format!("{pad}  {item}\n"));
            format!("(\n{}{pad})", lines.collect::<String>())
        }
    }
}

/// A path of fields as the name of a file.
fn snake_case(path: &str) -> String {
    let mut name = String::new();
    for c in path.chars() {
        match c {
            '.' => name.push('_'),
            c if c.is_ascii_uppercase() => {
                name.push('_');
                name.push(c.to_ascii_lowercase());
            }
            c => name.push(c),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::generate;
    use crate::custom::schema::testing::wiki;
    use crate::custom::sdl;

    fn made(sdl: &str, path: &str) -> Result<String, String> {
        let schema = sdl::parse("schema.graphql", sdl).expect("a schema");
        generate(&schema, path).map(|made| made.file.text)
    }

    #[test]
    fn a_field_of_the_wiki_becomes_a_checked_query_or_is_refused_by_name() {
        let made = |path: &str| generate(&wiki(), path).map(|made| made.file.name);
        assert_eq!(made("system.info").as_deref(), Ok("system_info.graphql"));
        for (path, fault) in [
            (
                "authentication.apiKeys",
                "AuthenticationQuery.apiKeys holds secrets",
            ),
            ("mail", "Query.mail holds secrets"),
            ("pagez", "Query has no field of that name"),
            ("system.info.", "has no field of that name"),
            ("", "has no field of that name"),
            ("__schema", "has no field of that name"),
            ("../system", "has no field of that name"),
        ] {
            let told = made(path).expect_err(path);
            assert!(told.contains(fault), "{path}: {told}");
        }
    }

    #[test]
    fn arguments_are_variables_with_what_the_schema_says_of_them() {
        let text = made(
            r#"type Query { things: Things }
            type Things { "Finds\n# { evil }" find("What to\u0007 find" text: String!, "How many" limit: Int = 5, odd: In): [Thing] }
            input In { a: Int } union Any = Thing
            type Thing { id: Int! password: String any: Any again: Thing other: Other of(id: Int!): Int }
            type Other { name: String thing: Thing }"#,
            "things.find",
        );
        insta::assert_snapshot!(text.expect("a query"), @r"
        # Answers things.find of the wiki's API. Finds # { evil } limit (Int): How many text (String!): What to\u{7} find

        # left out: argument odd: of the type In
        # left out: Thing.again: holds itself
        # left out: Thing.any: has no fields
        # left out: Thing.of: needs an argument
        # left out: Other.thing: holds itself
        # left out: Thing.password: holds secrets
        query things_find(
          $limit: Int
          $text: String!
        ) {
          things {
            find(
              limit: $limit
              text: $text
            ) {
              id
              other {
                name
              }
            }
          }
        }
        ");
    }

    #[test]
    fn a_hostile_schema_gives_a_bounded_query_or_none() {
        let fields = |n: usize, of: &str| {
            let field = |i: usize| format!("f{i}: {of} s{i}: Int ").replace("{i}", &i.to_string());
            (0..n).map(field).collect::<Vec<_>>().concat()
        };
        let of_one = fields(40, "T{i}");
        let types = (0..40).map(|i| format!("type T{i} {{ {of_one} }}"));
        let types = types.collect::<Vec<_>>().concat();
        let wide = made(&format!("type Query {{ a: T0 }} {types}"), "a").expect("a query");
        assert!(wide.len() < 8_000, "{}", wide.len());
        let fields = fields(10_000, "Int");
        let flat =
            made(&format!("type Query {{ a: T }} type T {{ {fields} }}"), "a").expect("a query");
        assert!(flat.len() < 4_000, "{}", flat.len());
        for (sdl, fault) in [
            (
                "type Query { a: U } union U = T type T { b: Int }",
                "of the type U, which has no fields",
            ),
            (
                "type Query { a(b: In!): Int } input In { c: Int }",
                "needs the argument b",
            ),
            (
                "type Query { a: T } type T { a: T }",
                "no field that can be asked for",
            ),
            (
                "type Query { b: Int } type Mutation { a: Int }",
                "a custom tool only reads",
            ),
            ("type Query { a: Int } schema { query: Query }", ""),
        ] {
            let told = made(sdl, "a").err().unwrap_or_default();
            assert!(told.contains(fault), "{sdl}: {told}");
        }
        let long = "x".repeat(100);
        assert!(made(&format!("type Query {{ {long}: Int }}"), &long).is_err());
    }
}
