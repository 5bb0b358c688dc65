//! Leaves out of an answer in JSON what is not known or not there.

use serde_json::Value;

/// An object without members that are null, and so on below it.
pub(super) fn known(mut value: Value) -> Value {
    if let Value::Object(members) = &mut value {
        members.retain(|_, member| !member.is_null());
        for member in members.values_mut() {
            *member = known(member.take());
        }
    }
    value
}
