//! Names the line that set a level: for clients without a path, for the operator with it.

use std::fmt;
use std::path::PathBuf;

/// The line that set a level: what it is called, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetBy {
    name: String,
    layer: Layer,
}

/// The place of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layer {
    /// Nobody set it.
    Default,
    /// The settings file, at this line.
    File {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// The environment.
    Environment,
    /// The command line.
    Flag,
    /// The grant of a client.
    Grant,
    /// A rule of the operator.
    Rule,
    /// The call itself.
    Call,
}

impl SetBy {
    /// The setting, grant, rule or argument of this name, and its layer.
    pub fn new(name: impl Into<String>, layer: Layer) -> Self {
        let name = name.into();
        Self { name, layer }
    }

    /// A word of the client's own grant.
    pub(super) fn grant(word: &str) -> Self {
        Self::new(word, Layer::Grant)
    }

    /// The same for the operator: with the file and the line.
    pub fn for_operator(&self) -> String {
        match &self.layer {
            Layer::File { path, line } => format!("{} ({}:{line})", self.name, path.display()),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for SetBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layer = match self.layer {
            Layer::Default => "default",
            Layer::File { .. } => "settings file",
            Layer::Environment => "environment",
            Layer::Flag => "command line",
            Layer::Grant => "this client's grant",
            Layer::Rule => "rule",
            Layer::Call => "this call",
        };
        write!(f, "{} ({layer})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::{Layer, SetBy};

    #[test]
    fn only_the_operator_is_told_where_the_file_lies() {
        let line = SetBy::new(
            "sites.docs.confirm",
            Layer::File {
                path: "/etc/wikijs-gate.toml".into(),
                line: 7,
            },
        );
        assert_eq!(line.to_string(), "sites.docs.confirm (settings file)");
        assert_eq!(
            line.for_operator(),
            "sites.docs.confirm (/etc/wikijs-gate.toml:7)"
        );
        for (layer, told) in [
            (Layer::Default, "WIKI_CONFIRM (default)"),
            (Layer::Environment, "WIKI_CONFIRM (environment)"),
            (Layer::Flag, "WIKI_CONFIRM (command line)"),
            (Layer::Grant, "WIKI_CONFIRM (this client's grant)"),
            (Layer::Rule, "WIKI_CONFIRM (rule)"),
            (Layer::Call, "WIKI_CONFIRM (this call)"),
        ] {
            let line = SetBy::new("WIKI_CONFIRM", layer);
            assert_eq!(line.to_string(), told);
            assert_eq!(line.for_operator(), told);
        }
    }
}
