//! Reads the argument `propose` of every tool that writes: it leaves the change to people, whoever
//! could confirm it.

use serde_json::{Map, Value, json};

use super::confirm_args::CONFIRM;
use super::schema;
use super::{Arguments, input};
use crate::error::{Failure, Result};

/// The argument. Like `detail` it is no part of the change that is asked for.
pub(super) const PROPOSE: &str = "propose";

/// Adds the argument to a schema; false if an argument of that name is there. It is described where
/// `confirm` is: the other tools have no room for what these say.
pub(super) fn add_to(schema: &mut Map<String, Value>) -> bool {
    let is_told = { schema.get("properties") }
        .and_then(|known| known.get(CONFIRM)?.get("description"))
        .is_some();
    let told = if is_told {
        json!({ "type": "boolean", "description": "Leave it to people." })
    } else {
        json!({ "type": "boolean" })
    };
    schema::add_member(schema, PROPOSE, told)
}

/// Takes the argument from a call; a wrong value stays and is refused with the others.
pub(super) fn take(arguments: &mut Arguments, proposes: &mut bool) {
    if let Some(said) = arguments.members.get(PROPOSE).and_then(Value::as_bool) {
        arguments.members.shift_remove(PROPOSE);
        *proposes = said;
    }
}

/// Refuses a proposal that is confirmed in the same call.
///
/// # Errors
/// `INVALID_INPUT`.
pub(super) fn unconfirmed(arguments: &Arguments) -> Result<()> {
    if !arguments.members.contains_key(CONFIRM) {
        return Ok(());
    }
    input::refuse(
        PROPOSE,
        "leaves the change to people, and confirm sends it: give one of the two, propose with all other arguments of the change",
    )
}

/// The failure of a proposal of one change that joins a draft.
pub(super) fn of_draft() -> Failure {
    input::invalid_argument(
        PROPOSE,
        "is not for one change of a draft: leave it out here; wikijs_submit_draft with propose leaves the whole draft to people",
    )
}
