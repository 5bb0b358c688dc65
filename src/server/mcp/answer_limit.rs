//! Bounds every answer and every error in its size.

use std::io;

use serde_json::Value;

/// The cuts of an answer, from the mildest: the lengths of texts and the numbers of items that
/// remain.
const CUTS: [(usize, usize); 5] = [(8_192, 100), (2_048, 50), (512, 20), (64, 5), (16, 1)];
/// The most members of an object that remain: more than our answers have.
const MOST_MEMBERS: usize = 40;

/// True if an answer has too many bytes, as text and as value together.
pub(in crate::server) fn is_over(text: &str, value: &Value, most: usize) -> bool {
    // Quoting at most doubles a text, and the text is longer than its value.
    text.len().saturating_mul(3) > most && quoted(text) + size(value) > most
}

/// The bytes of a text as a string of JSON.
fn quoted(text: &str) -> usize {
    let escaped = text
        .bytes()
        .filter(|byte| matches!(byte, b'"' | b'\\' | b'\n'));
    text.len() + escaped.count() + 2
}

/// The bytes of a value as JSON.
fn size(value: &Value) -> usize {
    struct ByteCounter(usize);
    impl io::Write for ByteCounter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = ByteCounter(0);
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// Cuts texts and lists of an answer until it certainly fits, as text and as a value.
pub(in crate::server) fn cut(value: &mut Value, most: usize) {
    for (chars, items) in CUTS {
        // Quoted again and indented, it has at most four times its bytes.
        if size(value).saturating_mul(5) <= most {
            return;
        }
        shorten(value, chars, items);
    }
}

fn shorten(value: &mut Value, chars: usize, most: usize) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(chars) {
                text.truncate(end);
                text.push('…');
            }
        }
        Value::Array(items) => {
            items.truncate(most);
            for item in items {
                shorten(item, chars, most);
            }
        }
        Value::Object(members) => {
            let mut kept = 0..MOST_MEMBERS;
            members.retain(|_, _| kept.next().is_some());
            for member in members.values_mut() {
                shorten(member, chars, most);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{cut, is_over};

    fn text(value: &Value) -> String {
        serde_json::to_string_pretty(value).expect("JSON")
    }

    #[test]
    fn what_is_over_is_cut_to_fit_and_keeps_its_short_members() {
        for large in [
            json!("\u{1}".repeat(1 << 20)),
            json!(vec!["x"; 100_000]),
            json!(vec![vec!["\"".repeat(100); 100]; 100]),
            json!({ "a": { "b": { "c": "\n".repeat(1 << 20) } } }),
        ] {
            let mut value = json!({ "code": "X", "details": { "callId": "1", "large": large } });
            assert!(is_over(&text(&value), &value, 256 << 10));
            cut(&mut value, 256 << 10);
            assert!(!is_over(&text(&value), &value, 256 << 10));
            assert_eq!(
                (&value["code"], &value["details"]["callId"]),
                (&json!("X"), &json!("1"))
            );
        }
    }

    #[test]
    fn the_bound_is_that_of_the_bytes_that_go_out() {
        let value = json!({ "text": "\"quoted\"\n\\".repeat(100), "list": [1, 2, 3] });
        let text = text(&value);
        let quoted = serde_json::to_string(&text).expect("JSON").len();
        let out = quoted + value.to_string().len();
        assert!(!is_over(&text, &value, out));
        assert!(is_over(&text, &value, out - 1));
    }
}
