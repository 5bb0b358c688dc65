//! Texts with `{{names}}`, each put in once: what is put in is never looked at again.

use serde_json::{Map, Value};
use time::Date;

use super::name::is_argument;

/// Words that stand for the day of the call, in UTC.
pub(super) const DAYS: [&str; 4] = ["date", "year", "month", "day"];

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TemplatePart {
    /// A fixed text.
    Text(String),
    /// One of [`DAYS`].
    Day(&'static str),
    /// The value of an argument.
    Argument(String),
}

/// A text with places for values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(pub(super) Vec<TemplatePart>);

impl Template {
    /// The fixed text at its beginning.
    pub(super) fn beginning(&self) -> &str {
        match self.0.first() {
            Some(TemplatePart::Text(text)) => text,
            _ => "",
        }
    }

    /// Reads a template.
    ///
    /// # Errors
    /// A fragment that says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else {
                return Err("has {{ without }}".to_owned());
            };
            let name = name.trim();
            if !before.is_empty() {
                parts.push(TemplatePart::Text(before.to_owned()));
            }
            parts.push(match DAYS.into_iter().find(|day| *day == name) {
                Some(day) => TemplatePart::Day(day),
                None if is_argument(name) => TemplatePart::Argument(name.to_owned()),
                None => return Err(format!("has {{{{{name}}}}}, which is no name")),
            });
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(TemplatePart::Text(rest.to_owned()));
        }
        Ok(Self(parts))
    }

    /// The names of the arguments in it.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            TemplatePart::Argument(name) => Some(name.as_str()),
            TemplatePart::Text(_) | TemplatePart::Day(_) => None,
        })
    }

    /// The fixed text, if nothing is put in.
    pub(super) fn fixed(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [TemplatePart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The argument, if the template is nothing else.
    pub(super) fn sole(&self) -> Option<&str> {
        match self.0.as_slice() {
            [TemplatePart::Argument(name)] => Some(name),
            _ => None,
        }
    }

    /// The text with the values; an argument that was not given is empty.
    pub(super) fn text(&self, values: &Map<String, Value>, today: Date) -> String {
        let parts = self.0.iter().map(|part| match part {
            TemplatePart::Text(text) => text.clone(),
            TemplatePart::Day(word) => day(word, today),
            TemplatePart::Argument(name) => values.get(name).map_or_else(String::new, plain),
        });
        parts.collect()
    }
}

/// A value as it stands in a text.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn day(word: &str, today: Date) -> String {
    let (year, month, day) = (today.year(), u8::from(today.month()), today.day());
    match word {
        "year" => format!("{year:04}"),
        "month" => format!("{month:02}"),
        "day" => format!("{day:02}"),
        _ => format!("{year:04}-{month:02}-{day:02}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use time::macros::date;

    use super::Template;

    fn put(template: &str, value: &str) -> String {
        let values = json!({ "name": value, "other": "OTHER" });
        let template = Template::parse(template).expect("a template");
        template.text(
            values.as_object().expect("an object"),
            date!(2026 - 03 - 04),
        )
    }

    #[test]
    fn a_value_is_put_in_once_and_stays_text() {
        for hostile in [
            "{{date}}",
            "{{other}}",
            "}}{{other}}{{",
            "{{{{name}}}}",
            "$1\\n",
            "",
        ] {
            assert_eq!(put("<{{name}}>", hostile), format!("<{hostile}>"));
            assert_eq!(
                put("{ {{name}}}{{ other }}", hostile),
                format!("{{ {hostile}}}OTHER")
            );
        }
        let large = "{{name}}".repeat(1 << 17);
        assert_eq!(put("{{name}}", &large), large);
    }

    #[test]
    fn the_day_can_be_put_in() {
        assert_eq!(
            put("{{date}} {{year}}/{{month}}/{{day}} }} {", ""),
            "2026-03-04 2026/03/04 }} {"
        );
    }

    #[test]
    fn what_is_no_template_is_refused() {
        for bad in [
            "{{",
            "a {{name",
            "{{}}",
            "{{a b}}",
            "{{{{name}}}}",
            "{{a-b}}",
        ] {
            assert!(Template::parse(bad).is_err(), "{bad}");
        }
    }
}
