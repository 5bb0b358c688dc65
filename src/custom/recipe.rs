//! A recipe: a call of one of our tools with fixed and templated arguments.

use serde_json::{Map, Value, json};
use time::Date;
use toml::de::{DeTable, DeValue};

use super::argument::{ArgumentType, CONFIRM, RecipeArgument};
use super::given::ValueTemplate;
use super::path_part::check_whole;
use super::read::{TomlFault, TomlTable};
use super::template::{Template, TemplatePart};
use super::variables::schema_of_object;
use crate::custom::{LineColumn, NAME_FORM, ToolFileFault, is_custom_name};
use crate::error::capitalised;

/// The longest description, in characters.
const DESCRIPTION: usize = 1_000;
/// The longest title, in characters.
const TITLE: usize = 80;
/// The most arguments.
const ARGUMENTS: usize = 30;

/// A call of one of our tools with fixed and templated arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// The file that says it.
    pub file: String,
    /// Its name.
    pub name: String,
    /// Its display name.
    pub title: String,
    /// The description: tells agents when to use it.
    pub description: String,
    /// The tool that it calls.
    pub tool: String,
    arguments: Vec<RecipeArgument>,
    values: Vec<(String, ValueTemplate)>,
}

impl Recipe {
    /// Reads the file of a recipe.
    ///
    /// # Errors
    /// All its faults.
    pub fn parse(file: &str, text: &str) -> Result<Self, Vec<ToolFileFault>> {
        let root = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            vec![ToolFileFault::at(
                file,
                LineColumn::new(text, at),
                error.message(),
            )]
        })?;
        let mut faults: Vec<TomlFault> = Vec::new();
        let table = TomlTable::new("", root.get_ref(), 0..0);
        let read = Self::read(file, table, &mut faults);
        match read {
            Some(recipe) if faults.is_empty() => Ok(recipe),
            _ => Err(faults
                .into_iter()
                .map(|(at, fault)| ToolFileFault::at(file, LineColumn::new(text, at.start), fault))
                .collect()),
        }
    }

    fn read(file: &str, mut table: TomlTable<'_, '_>, faults: &mut Vec<TomlFault>) -> Option<Self> {
        let needed =
            |table: &mut TomlTable<'_, '_>, name: &'static str, faults: &mut Vec<TomlFault>| {
                let text = table.text(name, faults);
                let is_there = text.as_ref().is_some_and(|text| !text.trim().is_empty());
                if !is_there && table.get(name).is_none_or(|value| value.get_ref().is_str()) {
                    faults.push((
                        table.at(),
                        format!("{name} is missing: it must be a text in quotes"),
                    ));
                }
                text.filter(|_| is_there)
            };
        let name = needed(&mut table, "name", faults);
        let description = needed(&mut table, "description", faults);
        let tool = needed(&mut table, "tool", faults);
        let title = table.text("title", faults);
        let span =
            |value: Option<&toml::Spanned<DeValue<'_>>>| value.map_or(0..0, toml::Spanned::span);
        if let Some(name) = name.as_ref().filter(|name| !is_custom_name(name)) {
            let fault = format!("name is {name:?}; it must be {NAME_FORM}");
            faults.push((span(table.get("name")), fault));
        }
        for (word, text, most) in [
            ("description", &description, DESCRIPTION),
            ("title", &title, TITLE),
        ] {
            if text
                .as_ref()
                .is_some_and(|text| text.chars().count() > most)
            {
                let fault = format!("{word} must have at most {most} characters");
                faults.push((span(table.get(word)), fault));
            }
            let is_bad = |c: char| c.is_control() && c != '\n';
            if text.as_ref().is_some_and(|text| text.contains(is_bad)) {
                let fault = format!("{word} must have no control characters");
                faults.push((span(table.get(word)), fault));
            }
        }
        let arguments = arguments(&mut table, faults);
        let values = values(&mut table, &arguments, faults);
        table.finish(faults);
        let name = name?;
        Some(Self {
            file: file.to_owned(),
            title: title.unwrap_or_else(|| title_of(&name)),
            name,
            description: description?.trim().to_owned(),
            tool: tool?,
            arguments,
            values: values?,
        })
    }

    /// The schema of its arguments; with `confirm` for a tool that writes.
    pub fn schema(&self, writes: bool) -> Map<String, Value> {
        let arguments = self.arguments.iter();
        let mut properties: Map<String, Value> = arguments
            .map(|argument| (argument.name.clone(), argument.schema()))
            .collect();
        if writes {
            let confirm = json!({ "type": "string", "description": "From the preview, or the operator's token." });
            properties.insert(CONFIRM.to_owned(), confirm);
        }
        let required = self.arguments.iter().filter(|it| it.is_required);
        let required: Vec<&str> = required.map(|argument| argument.name.as_str()).collect();
        schema_of_object(properties, &required)
    }

    /// The arguments for the tool.
    ///
    /// # Errors
    /// Each argument that cannot be put in, and why.
    pub fn expand(
        &self,
        mut given: Map<String, Value>,
        today: Date,
    ) -> Result<Map<String, Value>, Vec<(String, String)>> {
        let confirm = given.shift_remove(CONFIRM);
        let mut faults = Vec::new();
        for argument in &self.arguments {
            let default = || argument.default.clone();
            let Some(value) = given.get(&argument.name).cloned().or_else(default) else {
                if argument.is_required {
                    faults.push((argument.name.clone(), "is required".to_owned()));
                }
                continue;
            };
            let checked = argument.check(&value).and_then(|()| {
                if self.is_in_path(&argument.name) {
                    argument.check_in_path(&value)
                } else {
                    Ok(())
                }
            });
            if let Err(fault) = checked {
                faults.push((argument.name.clone(), fault));
            }
            given.insert(argument.name.clone(), value);
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        for (name, value) in &self.values {
            let paths = value
                .templates()
                .into_iter()
                .filter(|(_, is_path)| *is_path);
            let wrong = paths.filter_map(|(path, _)| check_whole(&path.text(&given, today)).err());
            faults.extend(wrong.map(|fault| (name.clone(), fault)));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let put = |(name, value): &(String, ValueTemplate)| {
            Some((name.clone(), value.put(&given, today)?))
        };
        let mut expanded: Map<String, Value> = self.values.iter().filter_map(put).collect();
        expanded.extend(confirm.map(|token| (CONFIRM.to_owned(), token)));
        Ok(expanded)
    }

    /// A call as it could come, to try the recipe with.
    pub fn sample(&self) -> Map<String, Value> {
        let required = self.arguments.iter().filter(|it| it.is_required);
        required
            .map(|argument| (argument.name.clone(), argument.sample()))
            .collect()
    }

    /// The names of the arguments that it gives its tool.
    pub fn value_names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(name, _)| name.as_str())
    }

    /// True if it says where its tool works, so that only what stands there is meant.
    pub fn names_places(&self) -> bool {
        let mut values = self.values.iter();
        values.any(|(name, value)| value.is_place(name))
    }

    /// True if the tool's value for this argument depends on the call.
    pub fn is_templated(&self, argument: &str) -> bool {
        let value = self.values.iter().find(|(name, _)| name == argument);
        value.is_some_and(|(_, value)| !value.templates().is_empty())
    }

    /// True if a call of its tool can be one of its own, by its fixed values, the beginnings of its
    /// texts and the names of all.
    pub fn could_make(&self, call: &Map<String, Value>) -> bool {
        let mut values = self.values.iter();
        let is_as_said = values.all(|(name, value)| {
            let said = call.get(name);
            said.is_none_or(|said| value.could_be(said))
        });
        // The tool itself puts the page's id in place of its name, and a path in place of a folder.
        let is_own = |name: &String| {
            matches!(name.as_str(), "id" | "path") || self.value_names().any(|own| own == name)
        };
        is_as_said && call.keys().all(is_own)
    }

    fn is_in_path(&self, argument: &str) -> bool {
        let mut templates = self.values.iter().flat_map(|(_, value)| value.templates());
        templates
            .any(|(template, is_path)| is_path && template.arguments().any(|it| it == argument))
    }
}

fn title_of(name: &str) -> String {
    let words = name
        .trim_start_matches(super::name::PREFIX)
        .replace('_', " ");
    capitalised(&words)
}

fn arguments(table: &mut TomlTable<'_, '_>, faults: &mut Vec<TomlFault>) -> Vec<RecipeArgument> {
    let Some(found) = table.get("arguments") else {
        return Vec::new();
    };
    let Some(arguments) = found.get_ref().as_table() else {
        faults.push((
            found.span(),
            "arguments must be tables, each under a line [arguments.NAME]".to_owned(),
        ));
        return Vec::new();
    };
    let members = TomlTable::new("arguments.", arguments, found.span()).members();
    if members.len() > ARGUMENTS {
        let fault = format!("there are more than {ARGUMENTS} arguments");
        faults.push((found.span(), fault));
        return Vec::new();
    }
    let mut read = Vec::new();
    for (name, value) in members {
        match value.get_ref().as_table() {
            Some(table) => {
                let table = TomlTable::new(format!("arguments.{name}."), table, value.span());
                read.push(RecipeArgument::read(name, table, faults));
            }
            None => faults.push((value.span(), format!("arguments.{name} must be a table"))),
        }
    }
    read
}

fn values(
    table: &mut TomlTable<'_, '_>,
    arguments: &[RecipeArgument],
    faults: &mut Vec<TomlFault>,
) -> Option<Vec<(String, ValueTemplate)>> {
    let found = table.get("values");
    let Some((found, values)) = found.and_then(|it| Some((it, it.get_ref().as_table()?))) else {
        let fault = "values is missing: it must be a table, under a line [values]";
        faults.push((table.at(), fault.to_owned()));
        return None;
    };
    let mut read = Vec::new();
    let mut used: Vec<String> = Vec::new();
    for (name, value) in TomlTable::new("values.", values, found.span()).members() {
        if name == CONFIRM {
            let fault = format!("values.{name} cannot be set: the caller confirms");
            faults.push((value.span(), fault));
            continue;
        }
        let given = match ValueTemplate::of_argument(name, value.get_ref()) {
            Ok(given) => given,
            Err(fault) => {
                faults.push((value.span(), format!("values.{name} {fault}")));
                continue;
            }
        };
        for (template, is_path) in given.templates() {
            used.extend(template.arguments().map(str::to_owned));
            let wrong = template_faults(template, is_path, arguments);
            let told = wrong.into_iter();
            faults.extend(told.map(|fault| (value.span(), format!("values.{name} {fault}"))));
        }
        read.push((name.to_owned(), given));
    }
    for argument in arguments.iter().filter(|it| !used.contains(&it.name)) {
        let fault = format!("the argument {} is used in no value", argument.name);
        faults.push((found.span(), fault));
    }
    Some(read)
}

/// The faults of a template, given the arguments.
fn template_faults(
    template: &Template,
    is_path: bool,
    arguments: &[RecipeArgument],
) -> Vec<String> {
    let mut faults = Vec::new();
    for name in template.arguments() {
        let Some(argument) = arguments.iter().find(|it| it.name == name) else {
            faults.push(format!("has {{{{{name}}}}}, which is no argument"));
            continue;
        };
        if !is_path {
            continue;
        }
        if !argument.is_required && argument.default.is_none() {
            faults.push(format!(
                "has {{{{{name}}}}} in a path, so it needs a default or is required"
            ));
        }
        let words: Vec<Value> = match &argument.kind {
            ArgumentType::Choice(words) => words.iter().map(|word| word.as_str().into()).collect(),
            _ => argument.default.clone().into_iter().collect(),
        };
        for word in words {
            if let Err(fault) = argument.check_in_path(&word) {
                faults.push(format!("has {{{{{name}}}}}, whose value {word} {fault}"));
            }
        }
    }
    if !is_path {
        return faults;
    }
    if !begins_fixed(template, arguments) {
        // A first segment of the caller's could be a locale.
        faults.push(
            "must begin with a folder that callers do not choose, such as `incidents/`".to_owned(),
        );
    } else if faults.is_empty()
        && let Err(fault) = check_whole(&skeleton(template))
    {
        faults.push(fault);
    }
    faults
}

/// The path with a plain word in each place for a value: what of it is wrong is the operator's own.
fn skeleton(template: &Template) -> String {
    let parts = template.0.iter().map(|part| match part {
        TemplatePart::Text(text) => text,
        TemplatePart::Day(_) | TemplatePart::Argument(_) => "word",
    });
    parts.collect()
}

/// True if the first segment is the operator's own text.
fn begins_fixed(template: &Template, arguments: &[RecipeArgument]) -> bool {
    let mut before = String::new();
    for part in &template.0 {
        match part {
            TemplatePart::Text(text) => before.push_str(text.trim_start_matches('/')),
            TemplatePart::Day(word) => before.push_str(word),
            TemplatePart::Argument(name) => {
                if before.contains('/') {
                    return true;
                }
                let argument = arguments.iter().find(|it| it.name == *name);
                if !argument.is_some_and(|it| matches!(it.kind, ArgumentType::Choice(_))) {
                    return false;
                }
                before.push_str("choice");
            }
        }
    }
    true
}

#[cfg(test)]
mod tests;
