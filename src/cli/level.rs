//! Words the level of writes for the operator, with the line that set it.

use serde_json::{Value, json};

use crate::gates::{Policy, SetBy, WritePolicy};
use crate::tools::extended;

/// Names the level of a policy and the line that set it, as a part of a sentence.
pub(super) fn named(policy: &Policy) -> String {
    let (level, line) = (policy.writes.as_str(), policy.set_by.for_operator());
    format!("the level is {level}, set by {line}")
}

/// The level of clients' writes, and of the operator's own commands where they have another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Levels {
    clients: (&'static str, String),
    operators: Option<(&'static str, String)>,
}

impl Levels {
    /// The levels of a policy; `read_only` is the line that lets clients only read.
    pub(super) fn new(writes: &WritePolicy, set_by: &SetBy, read_only: Option<&SetBy>) -> Self {
        let own = (writes.as_str(), set_by.for_operator());
        match read_only {
            Some(line) if !matches!(writes, WritePolicy::Off) => Self {
                clients: (WritePolicy::Off.as_str(), line.for_operator()),
                operators: Some(own),
            },
            _ => Self {
                clients: own,
                operators: None,
            },
        }
    }

    /// One line.
    pub(super) fn in_words(&self) -> String {
        let told = |(level, line): &(&str, String)| format!("{level}, set by {line}");
        let clients = told(&self.clients);
        match &self.operators {
            None => format!("level: {clients}"),
            Some(own) => format!(
                "level: {clients}; of the operator's own commands: {}",
                told(own)
            ),
        }
    }

    /// The members of an answer for programs.
    pub(super) fn members(&self) -> Value {
        let (level, line) = &self.clients;
        let own = self.operators.as_ref();
        let own =
            own.map(|(level, line)| json!({ "operatorsLevel": level, "operatorsSetBy": line }));
        extended(json!({ "level": level, "setBy": line }), own)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Levels;
    use crate::gates::{Layer, SetBy, WritePolicy};

    #[test]
    fn the_level_is_told_with_the_line_that_set_it_for_clients_and_for_the_operator() {
        let file = Layer::File {
            path: "/c.toml".into(),
            line: 3,
        };
        let read_only = SetBy::new("read_only", file);
        let line = SetBy::new("WIKI_CONFIRM", Layer::Environment);
        let alone = Levels::new(&WritePolicy::Preview, &line, None);
        assert_eq!(
            alone.in_words(),
            "level: preview, set by WIKI_CONFIRM (environment)"
        );
        let reading = Levels::new(&WritePolicy::Preview, &line, Some(&read_only));
        assert_eq!(
            reading.in_words(),
            "level: off, set by read_only (/c.toml:3); of the operator's own commands: preview, set by WIKI_CONFIRM (environment)"
        );
        assert_eq!(
            reading.members(),
            json!({
                "level": "off",
                "setBy": "read_only (/c.toml:3)",
                "operatorsLevel": "preview",
                "operatorsSetBy": "WIKI_CONFIRM (environment)",
            })
        );
        let off = Levels::new(&WritePolicy::Off, &line, Some(&read_only));
        assert_eq!(off, Levels::new(&WritePolicy::Off, &line, None));
    }
}
