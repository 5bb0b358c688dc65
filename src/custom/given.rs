//! Models the arguments that a recipe gives its tool: fixed values and templates.

use serde_json::{Map, Value};
use time::Date;
use toml::de::DeValue;

use super::read::{TomlTable, json as json_of};
use super::template::Template;

/// The arguments of our tools that are paths.
const PATHS: [&str; 5] = ["path", "paths", "moveTo", "linksTo", "relatedTo"];

/// Those that may be a path or a name alone.
const NAMES_OR_PATHS: [&str; 3] = ["file", "folder", "page"];

/// True if the value of an argument of one of our tools is a path.
fn is_path(argument: &str, text: Option<&str>) -> bool {
    let has_folder = || text.is_some_and(|text| text.contains('/'));
    PATHS.contains(&argument) || NAMES_OR_PATHS.contains(&argument) && has_folder()
}

/// A value for an argument of the tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ValueTemplate {
    Fixed(Value),
    /// A text with values in it; with `is_path` they are parts of a path.
    Text {
        template: Template,
        is_path: bool,
    },
    /// The value of an argument as it is, and nothing without one.
    Sole(Template),
    List(Vec<ValueTemplate>),
    Object(Vec<(String, ValueTemplate)>),
}

impl ValueTemplate {
    /// Reads the value of an argument of one of our tools; texts in it are templates.
    pub(super) fn of_argument(argument: &str, value: &DeValue<'_>) -> Result<Self, String> {
        Self::read(value, is_path(argument, value.as_str()))
    }

    fn read(value: &DeValue<'_>, is_path: bool) -> Result<Self, String> {
        match value {
            DeValue::String(text) => {
                let template = Template::parse(text)?;
                Ok(match template.fixed() {
                    Some(text) => Self::Fixed(text.into()),
                    None if !is_path && template.sole().is_some() => Self::Sole(template),
                    None => Self::Text { template, is_path },
                })
            }
            DeValue::Array(items) => {
                let items = items.iter();
                let items: Result<_, _> = items
                    .map(|item| Self::read(item.get_ref(), is_path))
                    .collect();
                items.map(Self::List)
            }
            DeValue::Table(table) => {
                let members = TomlTable::new("", table, 0..0).members().into_iter();
                let members: Result<_, _> = members
                    .map(|(name, value)| {
                        let given = Self::of_argument(name, value.get_ref())?;
                        Ok((name.to_owned(), given))
                    })
                    .collect();
                members.map(Self::Object)
            }
            other => json_of(other)
                .map(Self::Fixed)
                .ok_or_else(|| "must be a text, a number, a flag, a list or a table".to_owned()),
        }
    }

    /// Its templates, and whether each is a path.
    pub(super) fn templates(&self) -> Vec<(&Template, bool)> {
        match self {
            Self::Fixed(_) => Vec::new(),
            Self::Text { template, is_path } => vec![(template, *is_path)],
            Self::Sole(template) => vec![(template, false)],
            Self::List(items) => items.iter().flat_map(Self::templates).collect(),
            Self::Object(members) => {
                let values = members.iter().map(|(_, value)| value);
                values.flat_map(Self::templates).collect()
            }
        }
    }

    /// True if it is a path, as an argument of one of our tools.
    pub(super) fn is_place(&self, argument: &str) -> bool {
        match self {
            Self::Fixed(value) => is_path(argument, value.as_str()),
            Self::Text { is_path, .. } => *is_path,
            Self::List(items) => items.iter().any(|item| item.is_place(argument)),
            Self::Sole(_) | Self::Object(_) => false,
        }
    }

    /// True if it can have given this value, as far as its beginning tells.
    pub(super) fn could_be(&self, said: &Value) -> bool {
        match self {
            Self::Fixed(value) => value == said,
            Self::Text { template, .. } => {
                let said = said.as_str();
                said.is_some_and(|said| said.starts_with(template.beginning()))
            }
            Self::Sole(_) | Self::List(_) | Self::Object(_) => true,
        }
    }

    /// The value; `None` if it is left out.
    pub(super) fn put(&self, values: &Map<String, Value>, today: Date) -> Option<Value> {
        Some(match self {
            Self::Fixed(value) => value.clone(),
            Self::Text { template, .. } => template.text(values, today).into(),
            Self::Sole(template) => values.get(template.sole()?)?.clone(),
            Self::List(items) => {
                let items = items.iter().filter_map(|item| item.put(values, today));
                items.collect()
            }
            Self::Object(members) => {
                let put = |(name, value): &(String, Self)| {
                    Some((name.clone(), value.put(values, today)?))
                };
                Value::Object(members.iter().filter_map(put).collect())
            }
        })
    }
}
