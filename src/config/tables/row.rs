//! Reads the tables of the settings file: their members, and every fault with its place.

use std::ops::Range;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::nearest::{did_you_mean, nearest};
use crate::page::Prefix;

/// A fault and its place in the file.
pub(in crate::config) type TableFault = (Option<Range<usize>>, String);

/// One table of an array of tables.
pub(super) struct ArrayTable<'a, 'b> {
    pub(super) what: &'static str,
    pub(super) table: &'a DeTable<'b>,
    at: Range<usize>,
}

pub(super) fn rows<'a, 'b>(
    table: &'a DeTable<'b>,
    name: &'static str,
    faults: &mut Vec<TableFault>,
) -> Vec<ArrayTable<'a, 'b>> {
    let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == name) else {
        return Vec::new();
    };
    let row = |item: &'a Spanned<DeValue<'b>>| {
        Some(ArrayTable {
            what: name.trim_end_matches('s'),
            table: item.get_ref().as_table()?,
            at: item.span(),
        })
    };
    let items = value.get_ref().as_array();
    let rows: Option<Vec<_>> = items.and_then(|items| items.iter().map(row).collect());
    rows.unwrap_or_else(|| {
        let fault = format!("{name} must be tables, each under a line [[{name}]]");
        faults.push((Some(key.span()), fault));
        Vec::new()
    })
}

/// One table of a name.
pub(super) fn table_of<'a, 'b>(
    table: &'a DeTable<'b>,
    name: &'static str,
    faults: &mut Vec<TableFault>,
) -> Option<ArrayTable<'a, 'b>> {
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == name)?;
    let found = value.get_ref().as_table();
    if found.is_none() {
        faults.push((Some(key.span()), format!("{name} must be a table")));
    }
    Some(ArrayTable {
        what: name,
        table: found?,
        at: key.span(),
    })
}

impl ArrayTable<'_, '_> {
    pub(super) fn span(&self) -> Range<usize> {
        self.at.clone()
    }

    /// A fault for each member that the schema does not have at this place.
    pub(super) fn unknown(&self, schema: &Value, place: &str) -> Vec<TableFault> {
        let properties = schema.pointer(place).and_then(|it| it.get("properties"));
        let properties = properties.and_then(Value::as_object).into_iter().flatten();
        let known: Vec<&str> = properties.map(|(name, _)| name.as_str()).collect();
        let unknown = self
            .table
            .keys()
            .filter(|key| !known.contains(&&**key.get_ref()));
        let fault = |key: &Spanned<_>| {
            let name: &std::borrow::Cow<'_, str> = key.get_ref();
            let near = nearest(name, &known, 0.7);
            let fault = format!(
                "{name:?} is no member of a {}{}",
                self.what,
                did_you_mean(near)
            );
            (Some(key.span()), fault)
        };
        unknown.map(fault).collect()
    }

    /// A fault for each of these members that is missing.
    pub(super) fn needs(&self, members: &[&str], faults: &mut Vec<TableFault>) {
        for member in members.iter().filter(|member| self.get(member).is_none()) {
            faults.push((Some(self.span()), format!("a {} needs {member}", self.what)));
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<(&DeValue<'_>, Range<usize>)> {
        let (_, value) = self.table.iter().find(|(key, _)| key.get_ref() == name)?;
        Some((value.get_ref(), value.span()))
    }

    pub(super) fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(&DeValue<'_>) -> Result<T, String>,
    ) -> Result<Option<T>, TableFault> {
        let Some((value, at)) = self.get(name) else {
            return Ok(None);
        };
        let read = read(value).map_err(|fault| (Some(at), format!("{name} {fault}")));
        read.map(Some)
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, TableFault> {
        self.read(name, |value| {
            let text = value.as_str().ok_or("must be a text in quotes")?;
            Ok(text.to_owned())
        })
    }

    /// Reads a text by a function, to which all else is an empty text.
    pub(super) fn parsed<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, TableFault> {
        self.read(name, |value| parse(value.as_str().unwrap_or_default()))
    }

    pub(super) fn number(&self, name: &str, most: u64) -> Result<Option<u64>, TableFault> {
        self.read(name, |value| {
            let number = value.as_integer();
            let number = number.and_then(|it| u64::from_str_radix(it.as_str(), it.radix()).ok());
            number
                .filter(|number| *number <= most)
                .ok_or_else(|| format!("must be a whole number from 0 to {most}, without quotes"))
        })
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, TableFault> {
        self.read(name, |value| {
            let fault = "must be true or false, without quotes";
            value.as_bool().ok_or_else(|| fault.to_owned())
        })
    }

    /// A list of texts, not empty; a function reads each text.
    pub(super) fn list<T>(
        &self,
        name: &str,
        mut each: impl FnMut(&str) -> Result<T, String>,
    ) -> Result<Option<Vec<T>>, TableFault> {
        self.read(name, |value| {
            let texts = texts(value)?;
            texts.into_iter().map(&mut each).collect()
        })
    }
}

/// The texts of an array, or one text.
pub(super) fn texts<'a>(value: &'a DeValue<'_>) -> Result<Vec<&'a str>, String> {
    let texts: Option<Vec<&str>> = match (value.as_array(), value.as_str()) {
        (Some(items), _) => items.iter().map(|item| item.get_ref().as_str()).collect(),
        (None, one) => one.map(|text| vec![text]),
    };
    texts
        .filter(|texts| !texts.is_empty())
        .ok_or_else(|| "must be an array of texts that is not empty, or one text".to_owned())
}

/// One of some words; the fault names the most similar one.
pub(super) fn word<T: Copy>(
    text: &str,
    all: impl IntoIterator<Item = (&'static str, T)>,
) -> Result<T, String> {
    let all: Vec<(&'static str, T)> = all.into_iter().collect();
    if let Some((_, found)) = all.iter().find(|(name, _)| *name == text) {
        return Ok(*found);
    }
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let near = nearest(text, &names, 0.7);
    Err(format!(
        "has {text:?}, which is none of {}{}",
        names.join(", "),
        did_you_mean(near)
    ))
}

pub(super) fn prefix(text: &str) -> Result<Prefix, String> {
    Prefix::parse(text).map_err(|fault| format!("has {text:?}, which {fault}"))
}

/// Gathers faults.
pub(super) struct Sift<'a>(pub(super) &'a mut Vec<TableFault>);

impl Sift<'_> {
    pub(super) fn take<T>(&mut self, read: Result<Option<T>, TableFault>) -> Option<T> {
        read.unwrap_or_else(|fault| {
            self.0.push(fault);
            None
        })
    }
}
