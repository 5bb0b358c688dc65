//! Reads the tables of the settings file: their members, and every fault with its place.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::nearest::{did_you_mean, nearest};
use crate::page::Prefix;

/// A fault and its place in the file.
pub(in crate::config) type TableFault = (Option<Range<usize>>, String);

/// The name of a member, as the file has it.
type TableKey<'a> = Spanned<Cow<'a, str>>;

/// Reads the members of one table, and gathers their faults.
pub(super) struct TableReader<'a> {
    /// The word for such a table.
    pub(super) what: &'static str,
    table: &'a DeTable<'a>,
    at: Range<usize>,
    faults: &'a mut Vec<TableFault>,
    /// The number of faults that others have.
    before: usize,
}

impl<'a> TableReader<'a> {
    /// Reads the file itself.
    pub(super) fn of_file(table: &'a DeTable<'a>, faults: &'a mut Vec<TableFault>) -> Self {
        Self::new("file", table, 0..0, faults)
    }

    fn new(
        what: &'static str,
        table: &'a DeTable<'a>,
        at: Range<usize>,
        faults: &'a mut Vec<TableFault>,
    ) -> Self {
        let before = faults.len();
        Self {
            what,
            table,
            at,
            faults,
            before,
        }
    }

    /// True if a fault was found in it.
    pub(super) fn is_faulty(&self) -> bool {
        self.faults.len() > self.before
    }

    pub(super) fn span(&self) -> Range<usize> {
        self.at.clone()
    }

    /// Notes a fault of the table as a whole.
    pub(super) fn fault(&mut self, fault: impl Into<String>) {
        self.faults.push((Some(self.span()), fault.into()));
    }

    /// A table in it.
    pub(super) fn table(&mut self, name: &str, what: &'static str) -> Option<TableReader<'_>> {
        let (key, value) = self.member(name)?;
        let found = value.get_ref().as_table();
        if found.is_none() {
            let fault = format!("{name} must be a table");
            self.faults.push((Some(key.span()), fault));
        }
        Some(TableReader::new(what, found?, key.span(), self.faults))
    }

    /// The tables of an array in it, each read by a function, without those that have faults.
    pub(super) fn rows<T>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&mut TableReader<'_>) -> Option<T>,
    ) -> Vec<T> {
        let Some((key, value)) = self.member(name) else {
            return Vec::new();
        };
        let row = |item: &'a Spanned<DeValue<'a>>| Some((item.get_ref().as_table()?, item.span()));
        let items = value.get_ref().as_array();
        let rows: Option<Vec<_>> = items.and_then(|items| items.iter().map(row).collect());
        let rows = rows.unwrap_or_else(|| {
            let fault = format!("{name} must be tables, each under a line [[{name}]]");
            self.faults.push((Some(key.span()), fault));
            Vec::new()
        });
        let what = name.trim_end_matches('s');
        let one = |(table, at)| {
            let mut row = TableReader::new(what, table, at, self.faults);
            read(&mut row).filter(|_| !row.is_faulty())
        };
        rows.into_iter().filter_map(one).collect()
    }

    /// The same of tables that have names of their own, and of which there are at most so many.
    pub(super) fn named_rows<T>(
        &mut self,
        (name, what, most): (&'static str, &str, usize),
        mut read: impl FnMut(&mut TableReader<'_>) -> Option<T>,
        name_of: fn(&T) -> &String,
    ) -> Vec<T> {
        let mut names = HashSet::new();
        let rows = self.rows(name, |row| {
            let one = read(row)?;
            let name = name_of(&one);
            if !row.is_faulty() && !names.insert(name.clone()) {
                row.fault(format!("two {what} have the name {name:?}"));
            }
            Some(one)
        });
        if rows.len() > most {
            let fault = format!("there are more than {most} {what}");
            self.faults.push((None, fault));
        }
        rows
    }

    /// Notes each member that the schema does not have at this place.
    pub(super) fn unknown(&mut self, schema: &Value, place: &str) {
        let properties = schema.pointer(place).and_then(|it| it.get("properties"));
        let properties = properties.and_then(Value::as_object).into_iter().flatten();
        let known: Vec<&str> = properties.map(|(name, _)| name.as_str()).collect();
        let is_unknown = |key: &&TableKey<'_>| !known.contains(&&**key.get_ref());
        for key in self.table.keys().filter(is_unknown) {
            let name: &Cow<'_, str> = key.get_ref();
            let meant = did_you_mean(nearest(name, &known, 0.7));
            let fault = format!("{name:?} is no member of a {}{meant}", self.what);
            self.faults.push((Some(key.span()), fault));
        }
    }

    /// Notes each of these members that is missing.
    pub(super) fn needs(&mut self, members: &[&str]) {
        for member in members {
            if !self.has(member) {
                self.fault(format!("a {} needs {member}", self.what));
            }
        }
    }

    /// True if it has a member of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.member(name).is_some()
    }

    fn member(&self, name: &str) -> Option<(&'a TableKey<'a>, &'a Spanned<DeValue<'a>>)> {
        self.table.iter().find(|(key, _)| key.get_ref() == name)
    }

    /// A member by a function that reads its value; nothing if it is missing, or has a fault.
    pub(super) fn read<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&DeValue<'_>) -> Result<T, String>,
    ) -> Option<T> {
        let (_, value) = self.member(name)?;
        let read = read(value.get_ref()).map_err(|fault| {
            let fault = format!("{name} {fault}");
            self.faults.push((Some(value.span()), fault));
        });
        read.ok()
    }

    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        self.read(name, |value| {
            let text = value.as_str().ok_or("must be a text in quotes")?;
            Ok(text.to_owned())
        })
    }

    /// Reads a text by a function, to which all else is an empty text.
    pub(super) fn parsed<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        self.read(name, |value| parse(value.as_str().unwrap_or_default()))
    }

    pub(super) fn number(&mut self, name: &str, most: u64) -> Option<u64> {
        self.read(name, |value| {
            let number = whole_number(value).filter(|number| *number <= most);
            number.ok_or_else(|| format!("must be a whole number from 0 to {most}, without quotes"))
        })
    }

    pub(super) fn flag(&mut self, name: &str) -> bool {
        let flag = self.read(name, |value| {
            let fault = "must be true or false, without quotes";
            value.as_bool().ok_or_else(|| fault.to_owned())
        });
        flag.unwrap_or_default()
    }

    /// A list of texts, not empty; a function reads each text.
    pub(super) fn list<T>(
        &mut self,
        name: &str,
        mut each: impl FnMut(&str) -> Result<T, String>,
    ) -> Option<Vec<T>> {
        self.read(name, |value| {
            let texts = texts(value)?;
            texts.into_iter().map(&mut each).collect()
        })
    }

    /// One of some words.
    pub(super) fn word<T: Copy, const N: usize>(
        &mut self,
        name: &str,
        all: [(&'static str, T); N],
    ) -> Option<T> {
        self.parsed(name, |text| word(text, all))
    }

    /// A list of some words.
    pub(super) fn words<T: Copy, const N: usize>(
        &mut self,
        name: &str,
        all: [(&'static str, T); N],
    ) -> Option<Vec<T>> {
        self.list(name, |text| word(text, all))
    }
}

/// A whole number that is not negative.
pub(super) fn whole_number(value: &DeValue<'_>) -> Option<u64> {
    let number = value.as_integer()?;
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// The texts of an array, or one text.
fn texts<'a>(value: &'a DeValue<'_>) -> Result<Vec<&'a str>, String> {
    let texts: Option<Vec<&str>> = match (value.as_array(), value.as_str()) {
        (Some(items), _) => items.iter().map(|item| item.get_ref().as_str()).collect(),
        (None, one) => one.map(|text| vec![text]),
    };
    texts
        .filter(|texts| !texts.is_empty())
        .ok_or_else(|| "must be an array of texts that is not empty, or one text".to_owned())
}

/// One of some words; the fault names the most similar one.
pub(super) fn word<T: Copy, const N: usize>(
    text: &str,
    all: [(&'static str, T); N],
) -> Result<T, String> {
    if let Some((_, found)) = all.iter().find(|(name, _)| *name == text) {
        return Ok(*found);
    }
    let names = all.map(|(name, _)| name);
    let meant = did_you_mean(nearest(text, names, 0.7));
    let names = names.join(", ");
    Err(format!("has {text:?}, which is none of {names}{meant}"))
}

pub(super) fn prefix(text: &str) -> Result<Prefix, String> {
    Prefix::parse(text).map_err(|fault| format!("has {text:?}, which {fault}"))
}
