//! Removes null members from a JSON answer.

use serde_json::Value;

/// An object without members that are null, and so on below it.
pub(super) fn without_nulls(mut value: Value) -> Value {
    if let Value::Object(members) = &mut value {
        members.retain(|_, member| {
            *member = without_nulls(member.take());
            !member.is_null()
        });
    }
    value
}
