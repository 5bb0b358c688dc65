//! One rule for every confirmed write: besides `confirm` it names its page, all other arguments
//! must match the preview, and omitted ones are taken from there.

use serde_json::{Map, Value};

use super::any_tool::AnyTool;
use super::{Arguments, ToolContext};
use crate::error::{Code, Failure, Result};
use crate::gates::Asked;

/// The argument that confirms.
pub(super) const CONFIRM: &str = "confirm";
/// Compared only if given: the page's fields are checked against the preview anyway.
const IF_UPDATED_AT: &str = "ifUpdatedAt";

/// A write call, completed from the preview that it confirms, if any.
#[derive(Default)]
pub(super) struct Completed {
    /// The arguments to read.
    pub(super) arguments: Arguments,
    /// The arguments to keep with the token of this call's preview.
    pub(super) asked: Option<Asked>,
    /// The call that the confirmed preview was given for.
    pub(super) shown: Option<Asked>,
    /// Names of the arguments that differ from the preview.
    differing: Vec<String>,
    /// The fault of the token, if the call is incomplete without it.
    fault: Option<Failure>,
}

impl Completed {
    /// Fills in from the preview what a confirmed call leaves out.
    ///
    /// # Errors
    /// `CONFIRM_MISMATCH` if another tool issued the token: the call is refused whatever else it
    /// says.
    pub(super) fn new(
        tool: &AnyTool,
        context: &ToolContext,
        required: Option<&Value>,
        arguments: Arguments,
    ) -> Result<Self> {
        let plain = |arguments| Self {
            arguments,
            ..Self::default()
        };
        if !tool.kind.writes() {
            return Ok(plain(arguments));
        }
        let given = &arguments.members;
        let Some(token) = given.get(CONFIRM).and_then(Value::as_str) else {
            // The caller's own call is shared, since its arguments may be large.
            let own = context.caller.asked.clone();
            let own = own.filter(|asked| asked.tool == tool.name);
            let asked = own.unwrap_or_else(|| Asked::new(tool.name, given.clone()));
            return Ok(Self {
                asked: Some(asked),
                ..plain(arguments)
            });
        };
        let asked = match context.desk.asked(&context.caller, token) {
            Ok(Some(asked)) => asked,
            Ok(None) => return Ok(plain(arguments)),
            Err(failure) => {
                let is_short = tool.in_preview.iter().any(|name| !arguments.has(name));
                return Ok(Self {
                    fault: Some(failure).filter(|_| is_short),
                    ..plain(arguments)
                });
            }
        };
        if asked.tool != tool.name {
            let message = format!("The token was given for a preview of {}.", asked.tool);
            return Err(Failure::new(Code::ConfirmMismatch, message));
        }
        let is_required = |name: &String| is_among(required, name);
        let differs = |(name, value): &(&String, &Value)| {
            *name != CONFIRM && asked.arguments.get(*name) != Some(*value)
        };
        let differing = given.iter().filter(differs);
        let differing: Vec<String> = differing.map(|(name, _)| name.clone()).collect();
        let members = if differing.is_empty() && tool.in_preview.is_empty() {
            // The call asks for exactly what was previewed: nothing needs to be filled in.
            let is_kept =
                |name: &String| name == CONFIRM || name == IF_UPDATED_AT || is_required(name);
            let kept = given.iter().filter(|(name, _)| is_kept(name));
            kept.map(|(name, value)| (name.clone(), value.clone()))
                .collect()
        } else {
            let mut members: Map<String, Value> = (*asked.arguments).clone();
            members.shift_remove(IF_UPDATED_AT);
            // The arguments that name the page must be given; they are never filled in.
            let may_be_left_out =
                |name: &String| tool.in_preview.contains(&name.as_str()) || !is_required(name);
            members.retain(|name, _| may_be_left_out(name));
            members.extend(given.clone());
            members
        };
        Ok(Self {
            arguments: arguments.with_members(members),
            shown: Some(asked),
            differing,
            ..Self::default()
        })
    }

    /// The failure if arguments cannot be read: an invalid token comes before missing arguments.
    pub(super) fn unread(&mut self, failure: Failure) -> Failure {
        self.fault.take().unwrap_or(failure)
    }

    /// A refusal that names the differing arguments.
    pub(super) fn refused(self, required: Option<&Value>, failure: Failure) -> Failure {
        if failure.code != Code::ConfirmMismatch || self.differing.is_empty() {
            return failure;
        }
        let names_page = |name: &String| is_among(required, name);
        let failure = if self.differing.iter().any(names_page) {
            failure
        } else {
            failure.hint("To write what was previewed, leave out details.differing; for a changed call, leave confirm out and look at its preview.")
        };
        failure.detail("differing", self.differing)
    }
}

/// True if a schema requires an argument.
fn is_among(required: Option<&Value>, name: &str) -> bool {
    let required = required.and_then(Value::as_array);
    required.is_some_and(|names| names.contains(&name.into()))
}
