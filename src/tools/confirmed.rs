//! One rule for every confirmed write: beside `confirm` it names its page, and what else it says
//! must be as in the preview; what it leaves out is taken from there.

use serde_json::{Map, Value};

use super::arguments::Arguments;
use super::context::Context;
use super::tool::{Kind, Tool};
use crate::error::{Code, Failure};
use crate::gates::Asked;

/// The argument that confirms.
const CONFIRM: &str = "confirm";
/// Counts only where it is said: the previewed state is held against the page anyway, by its
/// fields.
const IF_UPDATED_AT: &str = "ifUpdatedAt";

/// A call of a write, completed by the preview that it confirms, if it confirms one.
#[derive(Default)]
pub(super) struct Completed {
    /// What is to be read.
    pub(super) arguments: Arguments,
    /// What is to be kept beside a preview's token.
    asked: Option<Asked>,
    /// Names of the arguments that are not as in the preview.
    differing: Vec<String>,
    /// Why the token counts for nothing, where the call is incomplete without it.
    fault: Option<Failure>,
}

impl Completed {
    /// Takes from a preview what a confirmed call leaves out.
    ///
    /// # Errors
    /// `CONFIRM_MISMATCH`, if the token was given by another tool: nothing may come of the call,
    /// whatever else it says.
    pub(super) fn of<T: Tool>(
        context: &Context,
        required: Option<&Value>,
        arguments: Arguments,
    ) -> Result<Self, Failure> {
        let plain = |arguments| Self {
            arguments,
            ..Self::default()
        };
        if T::KIND == Kind::Read {
            return Ok(plain(arguments));
        }
        let given = arguments.members();
        let Some(token) = given.get(CONFIRM).and_then(Value::as_str) else {
            let asked = Asked::new(T::NAME, given.clone());
            return Ok(Self {
                asked: Some(asked),
                ..plain(arguments)
            });
        };
        let asked = match context.desk.asked(&context.caller, token) {
            Ok(Some(asked)) => asked,
            Ok(None) => return Ok(plain(arguments)),
            Err(failure) => {
                let is_short = T::IN_PREVIEW.iter().any(|name| !arguments.has(name));
                return Ok(Self {
                    fault: Some(failure).filter(|_| is_short),
                    ..plain(arguments)
                });
            }
        };
        if asked.tool != T::NAME {
            let message = format!("The token was given for a preview of {}.", asked.tool);
            return Err(Failure::new(Code::ConfirmMismatch, message));
        }
        let is_required = |name: &String| is_among(required, name);
        let differs = |(name, value): &(&String, &Value)| {
            *name != CONFIRM && asked.arguments.get(*name) != Some(*value)
        };
        let differing = given.iter().filter(differs);
        let differing: Vec<String> = differing.map(|(name, _)| name.clone()).collect();
        let members = if differing.is_empty() && T::IN_PREVIEW.is_empty() {
            // It asks for what was previewed, to the letter: nothing needs to be made out anew.
            let is_kept =
                |name: &String| name == CONFIRM || name == IF_UPDATED_AT || is_required(name);
            let kept = given.iter().filter(|(name, _)| is_kept(name));
            kept.map(|(name, value)| (name.clone(), value.clone()))
                .collect()
        } else {
            let mut members: Map<String, Value> = (*asked.arguments).clone();
            members.shift_remove(IF_UPDATED_AT);
            // What names the page is said, never filled in.
            let may_be_left_out =
                |name: &String| T::IN_PREVIEW.contains(&name.as_str()) || !is_required(name);
            members.retain(|name, _| may_be_left_out(name));
            members.extend(given.clone());
            members
        };
        Ok(Self {
            arguments: arguments.with_members(members),
            differing,
            ..Self::default()
        })
    }

    /// What is kept beside the token of this call's preview.
    pub(super) fn take_asked(&mut self) -> Option<Asked> {
        self.asked.take()
    }

    /// Why the arguments cannot be read: a token that counts for nothing goes before what is
    /// missing beside it.
    pub(super) fn unread(&mut self, failure: Failure) -> Failure {
        self.fault.take().unwrap_or(failure)
    }

    /// A refusal, with the arguments that it is about.
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

/// Whether an argument is among those that a schema requires.
fn is_among(required: Option<&Value>, name: &str) -> bool {
    let required = required.and_then(Value::as_array);
    required.is_some_and(|names| names.contains(&name.into()))
}
