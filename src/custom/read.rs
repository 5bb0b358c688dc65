//! Reads tables of TOML: their members, and every fault with its place.

use std::ops::Range;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A fault and the bytes at which it is.
pub(super) type TomlFault = (Range<usize>, String);

/// A table that is read member by member; what nobody asks for is a fault.
pub(super) struct TomlTable<'a, 'b> {
    /// Its name in texts, with a dot after it; empty for the file.
    pub(super) what: String,
    members: &'a DeTable<'b>,
    at: Range<usize>,
    asked: Vec<&'static str>,
}

impl<'a, 'b> TomlTable<'a, 'b> {
    pub(super) fn new(what: impl Into<String>, table: &'a DeTable<'b>, at: Range<usize>) -> Self {
        Self {
            what: what.into(),
            members: table,
            at,
            asked: Vec::new(),
        }
    }

    pub(super) fn at(&self) -> Range<usize> {
        self.at.clone()
    }

    /// Its members in the order of the file.
    pub(super) fn members(&self) -> Vec<(&'a str, &'a Spanned<DeValue<'b>>)> {
        let mut members: Vec<_> = self.members.iter().collect();
        members.sort_by_key(|(key, _)| key.span().start);
        let plain = members.into_iter();
        plain
            .map(|(key, value)| (&**key.get_ref(), value))
            .collect()
    }

    /// One member.
    pub(super) fn get(&mut self, name: &'static str) -> Option<&'a Spanned<DeValue<'b>>> {
        if !self.asked.contains(&name) {
            self.asked.push(name);
        }
        let mut members = self.members.iter();
        members
            .find(|(key, _)| key.get_ref() == name)
            .map(|(_, value)| value)
    }

    /// A member that a function reads.
    pub(super) fn read<T>(
        &mut self,
        name: &'static str,
        faults: &mut Vec<TomlFault>,
        wanted: &str,
        read: impl FnOnce(&DeValue<'b>) -> Option<T>,
    ) -> Option<T> {
        let value = self.get(name)?;
        let found = read(value.get_ref());
        if found.is_none() {
            let what = &self.what;
            faults.push((value.span(), format!("{what}{name} must be {wanted}")));
        }
        found
    }

    pub(super) fn text(
        &mut self,
        name: &'static str,
        faults: &mut Vec<TomlFault>,
    ) -> Option<String> {
        self.read(name, faults, "a text in quotes", |value| {
            value.as_str().map(str::to_owned)
        })
    }

    pub(super) fn flag(&mut self, name: &'static str, faults: &mut Vec<TomlFault>) -> Option<bool> {
        self.read(name, faults, "true or false", DeValue::as_bool)
    }

    pub(super) fn number(
        &mut self,
        name: &'static str,
        faults: &mut Vec<TomlFault>,
    ) -> Option<i64> {
        self.read(name, faults, "a whole number", integer)
    }

    /// A fault for each member that nobody asked for.
    pub(super) fn finish(self, faults: &mut Vec<TomlFault>) {
        let is_known = |key: &str| self.asked.contains(&key);
        for key in self.members.keys().filter(|key| !is_known(key.get_ref())) {
            let known = self.asked.join(", ");
            let (what, name) = (&self.what, &**key.get_ref());
            let fault = format!("{what}{name} is not known here; there are {known}");
            faults.push((key.span(), fault));
        }
    }
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// The JSON of a value; `None` for a date, or a number that is none in JSON.
pub(super) fn json(value: &DeValue<'_>) -> Option<Value> {
    Some(match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Boolean(is) => (*is).into(),
        DeValue::Integer(_) => integer(value)?.into(),
        DeValue::Float(number) => Value::Number(Number::from_f64(number.as_str().parse().ok()?)?),
        DeValue::Array(items) => {
            let items: Option<Vec<Value>> = items.iter().map(|item| json(item.get_ref())).collect();
            items?.into()
        }
        DeValue::Table(table) => {
            let members: Option<Map<String, Value>> = (table.iter())
                .map(|(key, value)| Some((key.get_ref().to_string(), json(value.get_ref())?)))
                .collect();
            members?.into()
        }
        DeValue::Datetime(_) => return None,
    })
}
