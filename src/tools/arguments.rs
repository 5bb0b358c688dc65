//! The arguments of a call as they came: all of them, or as many as any tool could use.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Number, Value};

use crate::error::{Code, Failure, Result};

/// The most members of an object, or items of a list, that are kept: more than any tool takes.
const MOST_MEMBERS: usize = 1_000;
/// The most values that are kept in all: a value takes a hundred times more memory than its JSON.
const MOST_VALUES: usize = 20_000;

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    /// Those that were kept.
    pub(crate) members: Map<String, Value>,
    /// The number of members that were read and not kept.
    pub(super) left_out: usize,
    /// True if anything was read and not kept.
    is_cut: bool,
    /// True if processing them takes so long that it should not hold up other calls.
    pub(super) is_large: bool,
    refused: Option<ArgumentsRefusal>,
}

/// The reason why the arguments were not read at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentsRefusal {
    /// There are more bytes than are accepted.
    TooLarge,
    /// Other large calls left no room for them.
    NoRoom,
}

impl From<ArgumentsRefusal> for Arguments {
    fn from(refusal: ArgumentsRefusal) -> Self {
        Self {
            refused: Some(refusal),
            ..Self::default()
        }
    }
}

impl From<Map<String, Value>> for Arguments {
    fn from(members: Map<String, Value>) -> Self {
        Self {
            members,
            ..Self::default()
        }
    }
}

impl Arguments {
    /// Reads the JSON of a large object, in memory that does not grow with the number of values.
    ///
    /// # Errors
    /// It is no JSON object.
    pub fn read(json: &[u8]) -> serde_json::Result<Self> {
        if json.trim_ascii_start().first() != Some(&b'{') {
            // The reader's own error would repeat all of a text.
            return Err(serde_json::Error::custom("no object"));
        }
        let mut room = ValueBudget {
            values: MOST_VALUES,
            is_cut: false,
        };
        let mut left_out = 0;
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        let members = deserializer.deserialize_map(Members {
            room: &mut room,
            left_out: &mut left_out,
        })?;
        deserializer.end()?;
        Ok(Self {
            members,
            left_out,
            is_cut: room.is_cut,
            is_large: true,
            refused: None,
        })
    }

    /// The same call with other arguments.
    pub(super) fn with_members(self, members: Map<String, Value>) -> Self {
        Self { members, ..self }
    }

    /// True if an argument of this name was kept, or may be among those left out.
    pub(super) fn has(&self, name: &str) -> bool {
        self.left_out > 0 || self.members.contains_key(name)
    }

    /// Refuses arguments that were not read at all.
    ///
    /// # Errors
    /// `TOO_LARGE`, or `TIMEOUT` if other calls left no room for them.
    pub(super) fn check_size(&self) -> Result<()> {
        match self.refused {
            None => Ok(()),
            Some(ArgumentsRefusal::TooLarge) => Err(Failure::new(
                Code::TooLarge,
                "The message is larger than the 7 MB that this server accepts, or has more than 64 kB besides the arguments.",
            )),
            Some(ArgumentsRefusal::NoRoom) => Err(Failure::new(
                Code::Timeout,
                "Other large calls use all the memory that this server has for them; nothing was done.",
            )
            .hint("Call again in a few seconds, with one large call at a time.")),
        }
    }

    /// All arguments.
    ///
    /// # Errors
    /// `TOO_LARGE` if anything was not kept.
    pub(super) fn whole(self) -> Result<Map<String, Value>> {
        if self.is_cut {
            return Err(Failure::new(
                Code::TooLarge,
                "The arguments have more values than any tool takes.",
            ));
        }
        Ok(self.members)
    }
}

/// The number of values that may still be kept.
struct ValueBudget {
    values: usize,
    is_cut: bool,
}

impl ValueBudget {
    /// True if a list or object with so many values may keep one more.
    const fn takes(&self, has: usize) -> bool {
        has < MOST_MEMBERS && self.values > 0
    }
}

/// The members of an object, and how many were not kept.
struct Members<'a> {
    room: &'a mut ValueBudget,
    left_out: &'a mut usize,
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut kept = Map::new();
        // Duplicate members all count; the last one is kept.
        let mut seen = 0;
        loop {
            if self.room.takes(seen) {
                let Some(name) = members.next_key::<String>()? else {
                    return Ok(kept);
                };
                self.room.values -= 1;
                kept.insert(name, members.next_value_seed(Any(self.room))?);
                seen += 1;
            } else if members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                *self.left_out += 1;
                self.room.is_cut = true;
            } else {
                return Ok(kept);
            }
        }
    }
}

/// Any value; only as much as fits is kept.
struct Any<'a>(&'a mut ValueBudget);

impl<'de> DeserializeSeed<'de> for Any<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Any<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut kept = Vec::new();
        loop {
            if self.0.takes(kept.len()) {
                match items.next_element_seed(Any(self.0))? {
                    Some(item) => kept.push(item),
                    None => return Ok(kept.into()),
                }
                self.0.values = self.0.values.saturating_sub(1);
            } else if items.next_element::<IgnoredAny>()?.is_some() {
                self.0.is_cut = true;
            } else {
                return Ok(kept.into());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Value, A::Error> {
        let mut left_out = 0;
        let object = Members {
            room: self.0,
            left_out: &mut left_out,
        };
        object.visit_map(members).map(Value::Object)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Arguments, MOST_MEMBERS, MOST_VALUES};

    fn read(json: &str) -> Arguments {
        Arguments::read(json.as_bytes()).expect("an object")
    }

    #[test]
    fn what_fits_is_read_as_it_stands() {
        let given = json!({
            "a": [1, -2, 1.5, true, null, "\u{e4}\n", { "b": [[]] }],
            "n": u64::MAX,
            "full": vec![0; MOST_MEMBERS],
        });
        let read = read(&given.to_string());
        assert_eq!((read.left_out, read.is_large), (0, true));
        assert_eq!(read.whole().map(Value::Object), Ok(given));
        assert_eq!(
            self::read(r#"{"a": 1, "a": 2}"#).whole().map(Value::Object),
            Ok(json!({ "a": 2 }))
        );
    }

    #[test]
    fn beyond_what_any_tool_takes_values_are_counted_and_not_kept() {
        let many: Vec<String> = (0..5_000).map(|n| format!("\"a{n}\":1")).collect();
        let many = read(&format!("{{{}}}", many.join(",")));
        assert_eq!(many.members.len(), MOST_MEMBERS);
        assert_eq!(many.left_out, 5_000 - MOST_MEMBERS);
        assert!(many.has("id") && many.whole().is_err());
        let long = read(&json!({ "ids": vec![0; 5_000] }).to_string());
        assert_eq!(
            long.members["ids"].as_array().map(Vec::len),
            Some(MOST_MEMBERS)
        );
        assert!(long.left_out == 0 && long.whole().is_err());
        let wide = read(&json!({ "ids": vec![vec![0; 900]; 900] }).to_string());
        let rows = wide.members["ids"].as_array().expect("a list");
        assert!(rows.len() * 900 <= MOST_VALUES + 900, "{}", rows.len());
        assert!(wide.whole().is_err());
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for bad in ["", "[]", "1", "\"{}\"", "{", "{}x", "{\"a\":\u{1}}", "nul"] {
            assert!(Arguments::read(bad.as_bytes()).is_err(), "{bad:?}");
        }
        assert!(Arguments::read(b"{\"a\":\"\xff\"}").is_err());
        let deep = format!("{{\"a\":{}", "[".repeat(1 << 20));
        assert!(Arguments::read(deep.as_bytes()).is_err());
    }
}
