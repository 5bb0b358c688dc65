//! The call for which a preview was given; it completes the call that confirms.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::audit::ArgumentDigest;

/// The arguments that are no part of what is asked for.
const NOT_ASKED: [&str; 2] = ["confirm", "note"];

/// The call for which a preview was given: the tool and its arguments.
#[derive(Debug, Clone)]
#[must_use]
pub struct Asked {
    /// The tool.
    pub tool: Cow<'static, str>,
    /// Its arguments, as they were given.
    pub arguments: Arc<Map<String, Value>>,
}

impl Asked {
    /// A call of a tool.
    pub fn new(tool: impl Into<Cow<'static, str>>, arguments: Map<String, Value>) -> Self {
        Self {
            tool: tool.into(),
            arguments: Arc::new(arguments),
        }
    }

    /// True if it gave the page's new content in full.
    pub fn says_whole_content(&self) -> bool {
        self.arguments.contains_key("content")
    }

    /// True if it is the same call, whatever the order of its arguments.
    pub fn is_same(&self, other: &Self) -> bool {
        self.tool == other.tool && self.arguments == other.arguments
    }

    /// The digest of each argument, but for those that confirm and that say why.
    pub fn digests(&self) -> BTreeMap<String, ArgumentDigest> {
        let counts = |(name, _): &(&String, &Value)| !NOT_ASKED.contains(&name.as_str());
        let counted = self.arguments.iter().filter(counts);
        counted
            .map(|(name, value)| (name.clone(), ArgumentDigest::new(value)))
            .collect()
    }

    pub(super) fn bytes(&self) -> usize {
        let members = self.arguments.iter();
        members
            .map(|(name, value)| name.len() + weight(value))
            .sum()
    }
}

/// About how much room a value takes.
fn weight(value: &Value) -> usize {
    let own = size_of::<Value>();
    own + match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| name.len() + weight(value))
            .sum(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Asked;

    fn asked(arguments: &Value) -> Asked {
        let arguments = arguments.as_object().expect("an object").clone();
        Asked::new("wikijs_update_page", arguments)
    }

    #[test]
    fn a_call_gives_the_whole_content_only_by_that_argument() {
        assert!(asked(&json!({ "content": "x" })).says_whole_content());
        assert!(!asked(&json!({ "edits": [], "title": "content" })).says_whole_content());
    }

    #[test]
    fn equal_arguments_have_equal_digests_and_the_confirmation_and_the_note_have_none() {
        let digests = |arguments| asked(&arguments).digests();
        let first = digests(json!({ "id": 7, "edits": [{ "a": 1, "b": [2] }], "confirm": "x" }));
        let again = digests(json!({ "note": "y", "edits": [{ "b": [2], "a": 1 }], "id": 7 }));
        assert_eq!(first, again);
        assert_eq!(first.keys().collect::<Vec<_>>(), ["edits", "id"]);
        for other in [
            json!({ "id": 8 }),
            json!({ "id": "7" }),
            json!({ "id": [7] }),
        ] {
            assert_ne!(digests(other)["id"], first["id"]);
        }
    }

    #[test]
    fn each_value_and_each_name_takes_room() {
        let own = size_of::<Value>();
        for (arguments, bytes) in [
            (json!({}), 0),
            (json!({ "id": 7 }), 2 + own),
            (json!({ "title": "abc" }), 5 + own + 3),
            (
                json!({ "tags": ["ab", "c"] }),
                4 + own + (own + 2) + (own + 1),
            ),
            (
                json!({ "a": { "bc": true }, "d": null }),
                1 + own + 2 + own + 1 + own,
            ),
        ] {
            assert_eq!(asked(&arguments).bytes(), bytes, "{arguments}");
        }
    }
}
