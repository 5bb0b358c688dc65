//! Holds a query against a schema: fields, arguments, variables, bounds and secrets.

use std::collections::{BTreeMap, BTreeSet};

use graphql_parser::Pos;
use graphql_parser::query::{
    Directive, Field as AstField, Query as AstQuery, Selection, SelectionSet, TypeCondition,
    Value as AstValue,
};

use super::literal::{Literals, NESTED, Variables};
use super::schema::{Of, SchemaMembers};
use super::sdl::type_reference;
use super::secrets::{is_secret, touches_pages};
use super::variables::schema_of;
use crate::custom::{LineColumn, Schema};
use crate::nearest::{did_you_mean, nearest};

/// The most fields.
const MOST_FIELDS: usize = 300;
/// The most aliases.
const MOST_ALIASES: usize = 30;
/// The most levels of nested fields.
const MOST_DEPTH: usize = 12;
/// The most variables.
const MOST_VARIABLES: usize = 20;
/// The most faults that are told of one file.
const MOST_FAULTS: usize = 20;

type QueryText = String;

/// The fault of a fragment that is called `what`.
pub(super) fn no_fragment(what: &str) -> String {
    format!("holds {what}; a custom tool has no fragments, so write the fields out in its place")
}

/// The field that a query asks for; a fragment in its place is refused, on whatever type.
pub(super) fn field_of<'a, 'b>(
    item: &'a Selection<'b, QueryText>,
) -> Result<&'a AstField<'b, QueryText>, (Pos, String)> {
    match item {
        Selection::Field(field) => Ok(field),
        Selection::FragmentSpread(spread) => {
            let what = format!("the fragment {}", spread.fragment_name);
            Err((spread.position, no_fragment(&what)))
        }
        Selection::InlineFragment(inline) => {
            let what = match &inline.type_condition {
                Some(TypeCondition::On(on)) => format!("a fragment on {on}"),
                None => "a fragment".to_owned(),
            };
            Err((inline.position, no_fragment(&what)))
        }
    }
}

/// The content of a response's member: a field, and its arguments as they stand.
type ResponseMember = (String, String);

pub(super) struct Checker<'a, 'b> {
    schema: &'a Schema,
    query: &'a AstQuery<'b, QueryText>,
    variables: Variables<'a>,
    used: BTreeSet<&'a str>,
    fields: usize,
    aliases: usize,
    is_over: bool,
    faults: Vec<(LineColumn, String)>,
    touches_pages: bool,
}

impl<'a, 'b> Checker<'a, 'b> {
    pub(super) const fn new(schema: &'a Schema, query: &'a AstQuery<'b, QueryText>) -> Self {
        Self {
            schema,
            query,
            variables: BTreeMap::new(),
            used: BTreeSet::new(),
            fields: 0,
            aliases: 0,
            is_over: false,
            faults: Vec::new(),
            touches_pages: false,
        }
    }

    /// True if the answer could have anything of pages, comments or assets.
    ///
    /// # Errors
    /// All faults, with their places.
    pub(super) fn check(mut self) -> Result<bool, Vec<(LineColumn, String)>> {
        self.check_variables();
        let query = self.query;
        self.no_directive(&query.directives);
        let root = self.schema.query.clone();
        self.selection(&query.selection_set, &root, 1, &mut BTreeMap::new());
        if !self.is_over {
            for variable in &query.variable_definitions {
                if !self.used.contains(variable.name.as_str()) {
                    self.fault(variable.position, format!("${} is not used", variable.name));
                }
            }
        }
        if self.faults.is_empty() {
            Ok(self.touches_pages)
        } else {
            Err(self.faults)
        }
    }

    fn fault(&mut self, at: Pos, fault: impl Into<String>) {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push((LineColumn::from(at), fault.into()));
        }
    }

    /// Ends the check: what follows would be as much again.
    fn over(&mut self, at: Pos, fault: String) {
        if !std::mem::replace(&mut self.is_over, true) {
            self.fault(at, fault);
        }
    }

    fn check_variables(&mut self) {
        let query = self.query;
        if query.variable_definitions.len() > MOST_VARIABLES {
            let fault = format!("there are more than {MOST_VARIABLES} variables");
            self.fault(query.position, fault);
        }
        for variable in &query.variable_definitions {
            let (name, at) = (variable.name.as_str(), variable.position);
            let of = type_reference(&variable.var_type);
            if schema_of(self.schema, &of).is_none() {
                let fault = match self.schema.types.get(of.name()) {
                    None => format!(
                        "${name} is of the type {}, which the wiki does not have",
                        of.name()
                    ),
                    Some(_) => format!(
                        "${name} is of the type {of}; a variable must be a scalar, an enum, or a list of them"
                    ),
                };
                self.fault(at, fault);
            } else if let Some(default) = &variable.default_value
                && let Err(fault) = self.literals().check(default, &of, 0, false)
            {
                self.fault(at, format!("the default of ${name} {fault}"));
            }
            let has_default = variable.default_value.is_some();
            if self.variables.insert(name, (of, has_default)).is_some() {
                self.fault(at, format!("there are two variables ${name}"));
            }
        }
    }

    fn selection(
        &mut self,
        set: &'a SelectionSet<'b, QueryText>,
        parent: &str,
        depth: usize,
        members: &mut BTreeMap<String, ResponseMember>,
    ) {
        for item in &set.items {
            self.fields += 1;
            let field = match field_of(item) {
                Ok(field) => field,
                Err((at, fault)) => {
                    self.over(at, fault);
                    return;
                }
            };
            let at = field.position;
            if self.fields > MOST_FIELDS {
                self.over(at, format!("it asks for more than {MOST_FIELDS} fields"));
            } else if depth > MOST_DEPTH {
                self.over(
                    at,
                    format!("its fields lie deeper than {MOST_DEPTH} in each other"),
                );
            }
            if self.is_over {
                return;
            }
            if let Err(fault) = self.field(field, parent, depth, members) {
                self.fault(at, fault);
            }
        }
    }

    fn field(
        &mut self,
        field: &'a AstField<'b, QueryText>,
        parent: &str,
        depth: usize,
        members: &mut BTreeMap<String, ResponseMember>,
    ) -> Result<(), String> {
        let (at, name, schema) = (field.position, field.name.as_str(), self.schema);
        self.no_directive(&field.directives);
        if field.alias.is_some() {
            self.aliases += 1;
            if self.aliases > MOST_ALIASES {
                self.over(at, format!("there are more than {MOST_ALIASES} aliases"));
                return Ok(());
            }
        }
        let shown = field.alias.as_deref().unwrap_or(name);
        let member = (name.to_owned(), format!("{:?}", field.arguments));
        let before = members.insert(shown.to_owned(), member.clone());
        if before.is_some_and(|before| before != member) {
            self.fault(
                at,
                format!("{shown} means two fields; give one of them an alias"),
            );
        }
        if name == "__typename" {
            return Ok(());
        }
        if name.starts_with("__") {
            return Err(format!(
                "{name} asks for the schema, which no custom tool does"
            ));
        }
        let Some(found) = schema.fields(parent).and_then(|fields| fields.get(name)) else {
            return Err(self.no_field(name, parent));
        };
        let (of, leads_to) = (&found.of, found.of.name());
        if is_secret(parent, name, leads_to) {
            return Err(format!(
                "{parent}.{name} holds secrets, which no custom tool reads"
            ));
        }
        self.touches_pages |= touches_pages(parent == schema.query, name, parent, leads_to);
        self.arguments(field, &found.arguments, parent);
        let set = &field.selection_set;
        match (schema.is_leaf(leads_to), set.items.is_empty()) {
            (true, true) => {}
            (true, false) => return Err(format!("{name} is a {of} and has no fields")),
            (false, true) => {
                return Err(format!(
                    "{name} is a {of}: say which of its fields, in braces"
                ));
            }
            (false, false) => self.selection(set, leads_to, depth + 1, &mut BTreeMap::new()),
        }
        Ok(())
    }

    fn no_field(&self, name: &str, parent: &str) -> String {
        let fields = self.schema.fields(parent);
        let meant = fields.and_then(|fields| nearest(name, fields.keys(), 0.8));
        format!("{parent} has no field {name}{}", did_you_mean(meant))
    }

    fn arguments(
        &mut self,
        field: &'a AstField<'b, QueryText>,
        known: &SchemaMembers,
        parent: &str,
    ) {
        let (at, of) = (field.position, format!("{parent}.{}", field.name));
        for (name, value) in &field.arguments {
            let Some(input) = known.get(name) else {
                self.fault(at, format!("{of} has no argument {name}"));
                continue;
            };
            let wanted = (&input.of, input.has_default);
            self.value(at, &format!("the argument {name} of {of}"), value, wanted);
        }
        let is_given = |name: &str| field.arguments.iter().any(|(given, _)| given == name);
        let missing: Vec<String> = (known.iter())
            .filter(|(name, input)| input.is_required() && !is_given(name))
            .map(|(name, input)| format!("{of} needs the argument {name}: {}", input.of))
            .collect();
        for fault in missing {
            self.fault(at, fault);
        }
    }

    fn value(
        &mut self,
        at: Pos,
        what: &str,
        value: &'a AstValue<'b, QueryText>,
        (wanted, has_default): (&Of, bool),
    ) {
        self.uses(value, 0);
        let literals = self.literals();
        if let Err(fault) = literals.check(value, wanted, 0, has_default) {
            self.fault(at, format!("{what} {fault}"));
        }
    }

    const fn literals(&self) -> Literals<'_> {
        Literals {
            schema: self.schema,
            variables: &self.variables,
        }
    }

    /// Notes the variables in a value.
    fn uses(&mut self, value: &'a AstValue<'b, QueryText>, depth: usize) {
        if depth > NESTED {
            return;
        }
        match value {
            AstValue::Variable(name) => {
                self.used.insert(name);
            }
            AstValue::List(items) => items.iter().for_each(|item| self.uses(item, depth + 1)),
            AstValue::Object(members) => {
                for value in members.values() {
                    self.uses(value, depth + 1);
                }
            }
            _ => {}
        }
    }

    /// No directive is known to leave an answer as it is.
    fn no_directive(&mut self, directives: &[Directive<'b, QueryText>]) {
        for directive in directives {
            let fault = format!("has @{}; a custom tool has no directives", directive.name);
            self.fault(directive.position, fault);
        }
    }
}
