//! Holds a query against a schema: fields, arguments, variables, fragments, bounds and secrets.

use std::collections::{BTreeMap, BTreeSet};

use graphql_parser::Pos;
use graphql_parser::query::{
    Directive, Field as AstField, FragmentDefinition, Query as AstQuery, Selection, SelectionSet,
    TypeCondition, Value as AstValue,
};

use super::literal::{Literals, NESTED, Variables};
use super::schema::{Of, SchemaMembers, Type};
use super::sdl::type_reference;
use super::secrets::{is_secret, touches_pages};
use super::variables::schema_of;
use crate::custom::{LineColumn, Schema};
use crate::nearest::{did_you_mean, nearest};

/// The most fields, with those of fragments counted wherever they are used.
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

/// The fault of a fragment on a type where mutations or subscriptions begin.
pub(super) fn writing_fragment(on: &str) -> String {
    format!("holds a fragment on {on}; a custom tool only reads, so it must be one query")
}

/// The content of a response's member: a field, and its arguments as they stand.
type ResponseMember = (String, String);

pub(super) struct Checker<'a, 'b> {
    schema: &'a Schema,
    query: &'a AstQuery<'b, QueryText>,
    fragments: BTreeMap<&'a str, &'a FragmentDefinition<'b, QueryText>>,
    variables: Variables<'a>,
    used: BTreeSet<&'a str>,
    spread: BTreeSet<&'a str>,
    /// The fragments around the place that is looked at.
    within: Vec<&'a str>,
    fields: usize,
    aliases: usize,
    is_over: bool,
    faults: Vec<(LineColumn, String)>,
    touches_pages: bool,
}

impl<'a, 'b> Checker<'a, 'b> {
    pub(super) fn new(
        schema: &'a Schema,
        query: &'a AstQuery<'b, QueryText>,
        fragments: &'a [FragmentDefinition<'b, QueryText>],
    ) -> Self {
        let mut checker = Self {
            schema,
            query,
            fragments: BTreeMap::new(),
            variables: BTreeMap::new(),
            used: BTreeSet::new(),
            spread: BTreeSet::new(),
            within: Vec::new(),
            fields: 0,
            aliases: 0,
            is_over: false,
            faults: Vec::new(),
            touches_pages: false,
        };
        for fragment in fragments {
            let name = fragment.name.as_str();
            if checker.fragments.insert(name, fragment).is_some() {
                checker.fault(fragment.position, format!("there are two fragments {name}"));
            }
        }
        checker
    }

    /// True if the answer could have anything of pages, comments or assets.
    ///
    /// # Errors
    /// All faults, with their places.
    pub(super) fn check(mut self) -> Result<bool, Vec<(LineColumn, String)>> {
        self.check_variables();
        let query = self.query;
        self.directives(&query.directives, query.position);
        let root = self.schema.query.clone();
        self.selection(&query.selection_set, &root, 1, &mut BTreeMap::new());
        if !self.is_over {
            for variable in &query.variable_definitions {
                if !self.used.contains(variable.name.as_str()) {
                    self.fault(variable.position, format!("${} is not used", variable.name));
                }
            }
            for (name, fragment) in self.fragments.clone() {
                if !self.spread.contains(name) {
                    let fault = format!("the fragment {name} is not used");
                    self.fault(fragment.position, fault);
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
        let found = (LineColumn::from(at), fault.into());
        // A fragment that is used twice has its faults once.
        if self.faults.len() < MOST_FAULTS && !self.faults.contains(&found) {
            self.faults.push(found);
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
            let at = match item {
                Selection::Field(field) => field.position,
                Selection::FragmentSpread(spread) => spread.position,
                Selection::InlineFragment(fragment) => fragment.position,
            };
            if self.fields > MOST_FIELDS {
                let fault =
                    format!("it asks for more than {MOST_FIELDS} fields, with those of fragments");
                self.over(at, fault);
            } else if depth > MOST_DEPTH {
                self.over(
                    at,
                    format!("its fields lie deeper than {MOST_DEPTH} in each other"),
                );
            }
            if self.is_over {
                return;
            }
            match item {
                Selection::Field(field) => {
                    if let Err(fault) = self.field(field, parent, depth, members) {
                        self.fault(at, fault);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    self.directives(&spread.directives, at);
                    let name = spread.fragment_name.as_str();
                    let Some(&fragment) = self.fragments.get(name) else {
                        self.fault(at, format!("there is no fragment {name}"));
                        continue;
                    };
                    self.spread.insert(name);
                    if self.within.contains(&name) {
                        self.fault(at, format!("the fragment {name} holds itself"));
                        continue;
                    }
                    self.directives(&fragment.directives, fragment.position);
                    let TypeCondition::On(on) = &fragment.type_condition;
                    self.within.push(name);
                    self.part(
                        &fragment.selection_set,
                        on,
                        parent,
                        (fragment.position, depth),
                        members,
                    );
                    self.within.pop();
                }
                Selection::InlineFragment(fragment) => {
                    self.directives(&fragment.directives, at);
                    let on = fragment.type_condition.as_ref();
                    let on = on.map_or(parent, |TypeCondition::On(on)| on);
                    self.part(&fragment.selection_set, on, parent, (at, depth), members);
                }
            }
        }
    }

    /// The fields of a fragment on a type.
    fn part(
        &mut self,
        set: &'a SelectionSet<'b, QueryText>,
        on: &str,
        parent: &str,
        (at, depth): (Pos, usize),
        members: &mut BTreeMap<String, ResponseMember>,
    ) {
        let schema = self.schema;
        let is_union = |name: &str| matches!(schema.types.get(name), Some(Type::Union));
        if schema.fields(on).is_none() && !is_union(on) {
            self.fault(at, format!("there is no type {on} with fields"));
            return;
        }
        if schema.writes.contains(on) {
            self.fault(at, writing_fragment(on));
            return;
        }
        if !schema.overlap(on, parent) {
            let fault = format!("{parent} is never a {on}, so this fragment can never apply");
            self.fault(at, fault);
        }
        // Which objects an interface or a union stands for is the wiki's to say.
        self.touches_pages |= touches_pages(false, "", on, parent);
        self.selection(set, on, depth + 1, members);
    }

    fn field(
        &mut self,
        field: &'a AstField<'b, QueryText>,
        parent: &str,
        depth: usize,
        members: &mut BTreeMap<String, ResponseMember>,
    ) -> Result<(), String> {
        let (at, name, schema) = (field.position, field.name.as_str(), self.schema);
        self.directives(&field.directives, at);
        if field.alias.is_some() {
            self.aliases += 1;
            if self.aliases > MOST_ALIASES {
                let fault =
                    format!("there are more than {MOST_ALIASES} aliases, with those of fragments");
                self.over(at, fault);
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
        let Some(fields) = self.schema.fields(parent) else {
            return format!("{parent} has no field {name} of its own; use a fragment");
        };
        let meant = did_you_mean(nearest(name, fields.keys(), 0.8));
        format!("{parent} has no field {name}{meant}")
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

    /// Only `@include` and `@skip` are known to leave an answer as it is or smaller.
    fn directives(&mut self, directives: &'a [Directive<'b, QueryText>], at: Pos) {
        for directive in directives {
            let name = directive.name.as_str();
            let [(argument, value)] = directive.arguments.as_slice() else {
                self.fault(at, format!("@{name} must have one argument, `if`"));
                continue;
            };
            if !matches!(name, "include" | "skip") || argument != "if" {
                let fault = format!(
                    "@{name}({argument}) is not known; there are @include(if) and @skip(if)"
                );
                self.fault(at, fault);
                continue;
            }
            let wanted = Of::Some(Box::new(Of::Named("Boolean".to_owned())));
            self.value(at, &format!("@{name}(if)"), value, (&wanted, false));
        }
    }
}
