//! How much of a change an answer shows.

use serde_json::{Map, Value};

/// The most bytes of a difference that an answer holds.
const MAX_DIFF_BYTES: usize = 32 * 1024;
/// The most bytes of one field's value that an answer holds.
const MAX_VALUE_BYTES: usize = 8 * 1024;

/// Cuts values that are long texts, such as scripts; says so.
pub(crate) fn short(
    mut values: Map<String, Value>,
    warnings: &mut Vec<String>,
) -> Map<String, Value> {
    for (field, states) in &mut values {
        for state in states.as_object_mut().into_iter().flat_map(Map::values_mut) {
            if let Value::String(text) = state
                && text.len() > MAX_VALUE_BYTES
            {
                let end = text.floor_char_boundary(MAX_VALUE_BYTES);
                warnings.push(format!(
                    "value_cut: {end} of {} bytes of {field} are shown.",
                    text.len()
                ));
                text.truncate(end);
            }
        }
    }
    values
}

/// Cuts a difference at the end of a line; says so.
pub(crate) fn cut(mut diff: String, warnings: &mut Vec<String>) -> String {
    if diff.len() > MAX_DIFF_BYTES {
        let shown = diff
            .get(..diff.floor_char_boundary(MAX_DIFF_BYTES))
            .unwrap_or_default();
        let end = shown.rfind('\n').map_or(0, |at| at + 1);
        let whole = diff.len();
        diff.truncate(end);
        warnings.push(format!(
            "diff_cut: {end} of {whole} bytes of the difference are shown."
        ));
    }
    diff
}
