//! The schema of a wiki's API, as far as queries are checked against it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::page::escaped;

/// The most types of a schema.
const MOST_TYPES: usize = 3_000;
/// The most fields, arguments and values of a schema in all.
const MOST_MEMBERS: usize = 30_000;
/// The longest name, in bytes.
const MOST_NAME: usize = 200;
/// The most levels of nested lists and `!`.
const MOST_DEPTH: usize = 8;

/// The schema of a wiki's API.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schema {
    /// The type where queries begin.
    pub(super) query: String,
    /// The types where mutations and subscriptions begin.
    pub(super) writes: BTreeSet<String>,
    pub(super) types: BTreeMap<String, Type>,
}

/// A type with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    Scalar,
    Enum(BTreeSet<String>),
    /// An input object, by its fields.
    Input(SchemaMembers),
    /// An object or interface, by its fields; a union, which has none.
    Fields(SchemaMembers),
}

/// The fields of a type, or the arguments of a field, by their names.
pub(super) type SchemaMembers = BTreeMap<String, SchemaMember>;

/// A field; an argument, or a field of an input object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SchemaMember {
    pub(super) of: Of,
    /// The schema's description in one line; empty without one.
    pub(super) about: String,
    /// Of a field that is asked for.
    pub(super) arguments: SchemaMembers,
    /// Never of a field that is asked for.
    pub(super) has_default: bool,
}

impl SchemaMember {
    /// True if a value must be given.
    pub(super) fn is_required(&self) -> bool {
        matches!(self.of, Of::Some(_)) && !self.has_default
    }
}

/// The type of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Of {
    Named(String),
    List(Box<Of>),
    /// Not null.
    Some(Box<Of>),
}

impl Of {
    /// The name of the innermost type.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::List(of) | Self::Some(of) => of.name(),
        }
    }

    fn depth(&self) -> usize {
        match self {
            Self::Named(_) => 0,
            Self::List(of) | Self::Some(of) => of.depth() + 1,
        }
    }
}

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::List(of) => write!(f, "[{of}]"),
            Self::Some(of) => write!(f, "{of}!"),
        }
    }
}

/// The most characters of a description.
const MOST_ABOUT: usize = 150;

/// A description of a schema in one line, with what is hidden in it escaped.
pub(super) fn about(text: Option<&str>) -> String {
    escaped(text.unwrap_or_default().trim(), MOST_ABOUT)
}

/// Types that every schema has, whether it says them or not.
const SCALARS: [&str; 5] = ["Int", "Float", "String", "Boolean", "ID"];

impl Schema {
    /// This schema as it was read, if it is one and within bounds.
    ///
    /// # Errors
    /// A sentence without a subject.
    pub(super) fn checked(mut self) -> Result<Self, String> {
        for scalar in SCALARS {
            self.types.insert(scalar.to_owned(), Type::Scalar);
        }
        if self.types.len() > MOST_TYPES {
            return Err(format!("has more than {MOST_TYPES} types"));
        }
        if !matches!(self.types.get(&self.query), Some(Type::Fields(_))) {
            return Err("has no type where queries begin".to_owned());
        }
        let mut members = 0;
        for (name, found) in &self.types {
            check_name(name)?;
            match found {
                Type::Scalar => {}
                Type::Enum(values) => {
                    members += values.len();
                    values.iter().try_for_each(|name| check_name(name))?;
                }
                Type::Input(fields) | Type::Fields(fields) => {
                    members += self.check_members(fields)?;
                }
            }
            if members > MOST_MEMBERS {
                return Err(format!("has more than {MOST_MEMBERS} fields"));
            }
        }
        Ok(self)
    }

    /// How many members there are, with the members' own.
    fn check_members(&self, members: &SchemaMembers) -> Result<usize, String> {
        members.iter().try_fold(0, |count, (name, member)| {
            check_name(name)?;
            self.check_of(&member.of)?;
            Ok(count + 1 + self.check_members(&member.arguments)?)
        })
    }

    fn check_of(&self, of: &Of) -> Result<(), String> {
        if of.depth() > MOST_DEPTH {
            return Err(format!("has lists deeper than {MOST_DEPTH}"));
        }
        let name = of.name();
        check_name(name)?;
        let is_there = self.types.contains_key(name);
        is_there
            .then_some(())
            .ok_or_else(|| format!("names the type {name}, which it does not have"))
    }

    /// The fields of a type; `None` if it has none.
    pub(super) fn fields(&self, name: &str) -> Option<&SchemaMembers> {
        match self.types.get(name)? {
            Type::Fields(fields) => Some(fields),
            _ => None,
        }
    }

    /// True if values of a type are given without further fields.
    pub(super) fn is_leaf(&self, name: &str) -> bool {
        matches!(self.types.get(name), Some(Type::Scalar | Type::Enum(_)))
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let is_name = !name.is_empty()
        && name.len() <= MOST_NAME
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name
        .then_some(())
        .ok_or_else(|| "has a name that is none in GraphQL".to_owned())
}

#[cfg(test)]
pub(super) mod testing {
    use super::Schema;

    /// A part of the wiki's own schema, with one of each kind of secret.
    pub(in crate::custom) const WIKI: &str = include_str!("testing.graphql");

    pub(in crate::custom) fn wiki() -> Schema {
        super::super::sdl::parse("schema.graphql", WIKI).expect("a schema")
    }
}
