//! Checks values in a query against their expected types.

use std::collections::BTreeMap;

use graphql_parser::query::Value as AstValue;

use super::schema::{Of, SchemaMembers, Type};
use crate::custom::Schema;

/// The most levels of nested lists and objects.
pub(super) const NESTED: usize = 20;

/// The variables of a query: their types, and whether they have defaults.
pub(super) type Variables<'a> = BTreeMap<&'a str, (Of, bool)>;

/// Checks values against their expected types.
#[derive(Clone, Copy)]
pub(super) struct Literals<'a> {
    pub(super) schema: &'a Schema,
    pub(super) variables: &'a Variables<'a>,
}

impl Literals<'_> {
    /// Checks a value against a type, so many levels deep in another one; `has_default` if the place
    /// that it is for has a default of its own.
    ///
    /// # Errors
    /// A fragment that says what it must be.
    pub(super) fn check(
        &self,
        value: &AstValue<'_, String>,
        wanted: &Of,
        depth: usize,
        has_default: bool,
    ) -> Result<(), String> {
        if depth > NESTED {
            return Err("is nested too deep".to_owned());
        }
        if let AstValue::Variable(name) = value {
            let Some((of, own_default)) = self.variables.get(name.as_str()) else {
                return Err(format!("is ${name}, which is no variable of the query"));
            };
            let is_sure = *own_default || has_default;
            return fits(of, wanted, is_sure)
                .then_some(())
                .ok_or_else(|| format!("is ${name} of the type {of}, not {wanted}"));
        }
        let no = || Err(format!("must be {wanted}"));
        match (wanted, value) {
            (Of::Some(_), AstValue::Null) => no(),
            (Of::Some(inner), value) => self.check(value, inner, depth + 1, false),
            (_, AstValue::Null) => Ok(()),
            (Of::List(inner), AstValue::List(items)) => items
                .iter()
                .try_for_each(|item| self.check(item, inner, depth + 1, false)),
            // One value stands for a list of it.
            (Of::List(inner), value) => self.check(value, inner, depth + 1, false),
            (Of::Named(name), value) => match (self.schema.types.get(name), value) {
                (Some(Type::Enum(words)), AstValue::Enum(word)) if words.contains(word) => Ok(()),
                (Some(Type::Enum(words)), _) => {
                    let words: Vec<&str> = words.iter().take(20).map(String::as_str).collect();
                    Err(format!("must be one of {}", words.join(", ")))
                }
                (Some(Type::Scalar), value) => {
                    scalar(name, value).then_some(()).map_or_else(no, Ok)
                }
                (Some(Type::Input(fields)), AstValue::Object(members)) => {
                    self.object(fields, members, depth)
                }
                _ => no(),
            },
        }
    }

    fn object(
        &self,
        fields: &SchemaMembers,
        members: &BTreeMap<String, AstValue<'_, String>>,
        depth: usize,
    ) -> Result<(), String> {
        for (name, value) in members {
            let input = fields.get(name);
            let input = input.ok_or_else(|| format!("has no member {name}"))?;
            self.check(value, &input.of, depth + 1, input.has_default)
                .map_err(|fault| format!("has the member {name}, which {fault}"))?;
        }
        let missing = (fields.iter())
            .find(|(name, input)| input.is_required() && !members.contains_key(*name));
        missing.map_or(Ok(()), |(name, _)| Err(format!("needs the member {name}")))
    }
}

/// True if a literal can be of a scalar. The wiki's own scalars take any literal but an object,
/// list or enum value.
fn scalar(name: &str, value: &AstValue<'_, String>) -> bool {
    match (name, value) {
        ("Int", AstValue::Int(number)) => {
            number.as_i64().is_some_and(|it| i32::try_from(it).is_ok())
        }
        ("Float", AstValue::Int(_) | AstValue::Float(_))
        | ("String" | "ID", AstValue::String(_))
        | ("ID", AstValue::Int(_))
        | ("Boolean", AstValue::Boolean(_)) => true,
        ("Int" | "Float" | "String" | "ID" | "Boolean", _) => false,
        (_, value) => !matches!(
            value,
            AstValue::Object(_) | AstValue::List(_) | AstValue::Enum(_)
        ),
    }
}

/// True if a variable's type can stand where another is expected.
fn fits(of: &Of, wanted: &Of, has_default: bool) -> bool {
    match (of, wanted) {
        (Of::Some(of), Of::Some(wanted)) | (Of::List(of), Of::List(wanted)) => {
            fits(of, wanted, false)
        }
        (of, Of::Some(wanted)) => has_default && fits(of, wanted, false),
        (Of::Some(of), wanted) => fits(of, wanted, false),
        (Of::Named(of), Of::Named(wanted)) => of == wanted,
        _ => false,
    }
}
