//! Reads the argument `detail` of every tool that shows changes: how much of them its answer holds.

use std::mem::take;

use serde_json::{Map, Value, json};

use super::{Arguments, schema};
use crate::change::{BRIEF_DIFF, BRIEF_VALUE, cut_to, short_to};
use crate::error::Failure;
use crate::write::Extent;

/// How to see all of one change.
pub(super) const FULL_OF_ONE: &str = "detail \"full\" shows more of it.";

/// The argument. It is no part of what is asked for: it changes nothing of what a token confirms.
pub(super) const DETAIL: &str = "detail";

/// Adds the argument to a schema; false if an argument of that name is there.
pub(super) fn add_to(schema: &mut Map<String, Value>) -> bool {
    let words = json!({ "type": "string", "enum": ["brief", "full"] });
    schema::add_member(schema, DETAIL, words)
}

/// Takes `detail` from a call; a wrong value stays and is refused with the others. A person at a
/// terminal is shown all in any case.
pub(super) fn take_argument(arguments: &mut Arguments, shown: &mut Extent) {
    let said = arguments.members.get(DETAIL).and_then(Value::as_str);
    let extent = match said {
        Some("brief") => Extent::Brief,
        Some("full") => Extent::Bounded,
        _ => return,
    };
    arguments.members.shift_remove(DETAIL);
    if *shown != Extent::Whole {
        *shown = extent;
    }
}

/// Cuts the differences in a failure's details to those of a brief answer; true if any was too long.
pub(super) fn shorten(details: &mut Map<String, Value>) -> bool {
    let (mut cut, mut is_cut) = (Vec::new(), false);
    for (name, value) in details {
        match (name.as_str(), value) {
            ("changes", Value::Object(changes)) => {
                *changes = short_to(take(changes), BRIEF_VALUE, &mut cut);
            }
            ("diff" | "conflict", Value::String(diff)) => {
                *diff = cut_to(take(diff), BRIEF_DIFF, &mut cut);
            }
            (_, Value::Object(inner)) => is_cut |= shorten(inner),
            (_, Value::Array(items)) => {
                let inner = items.iter_mut().filter_map(Value::as_object_mut);
                is_cut |= inner.fold(false, |is_cut, inner| shorten(inner) | is_cut);
            }
            _ => {}
        }
    }
    is_cut | !cut.is_empty()
}

/// A failure as far as its caller is shown it.
pub(super) fn bounded(mut failure: Failure, extent: Extent) -> Failure {
    if extent == Extent::Brief && shorten(&mut failure.details) {
        failure.hint = [&*failure.hint, FULL_OF_ONE].join(" ");
    }
    failure
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{DETAIL, add_to, take_argument};
    use crate::tools::arguments::Arguments;
    use crate::tools::schema::has_member;
    use crate::write::Extent;

    /// The extent of a call with this argument, and what is left of its arguments.
    fn taken(detail: &Value, mut extent: Extent) -> (Extent, Value) {
        let given = json!({ "id": 1, "detail": detail });
        let mut arguments = Arguments::from(given.as_object().cloned().unwrap());
        take_argument(&mut arguments, &mut extent);
        (extent, Value::Object(arguments.members.clone()))
    }

    #[test]
    fn detail_says_how_much_is_shown_and_is_no_argument_of_the_write() {
        let rest = json!({ "id": 1 });
        for (word, before, after) in [
            ("full", Extent::Brief, Extent::Bounded),
            ("brief", Extent::Brief, Extent::Brief),
            ("brief", Extent::Bounded, Extent::Brief),
            ("brief", Extent::Whole, Extent::Whole),
            ("full", Extent::Whole, Extent::Whole),
        ] {
            assert_eq!(taken(&json!(word), before), (after, rest.clone()), "{word}");
        }
        for wrong in [json!("all"), json!(1)] {
            let left = json!({ "id": 1, "detail": wrong });
            assert_eq!(taken(&wrong, Extent::Brief), (Extent::Brief, left));
        }
    }

    #[test]
    fn an_argument_of_this_name_that_is_there_stays() {
        let mut schema = Map::new();
        assert!(!has_member(&schema, DETAIL));
        assert!(add_to(&mut schema) && has_member(&schema, DETAIL));
        assert!(!add_to(&mut schema));
    }
}
