//! Faults in the form that the wiki's answers have.

use std::sync::Arc;

use async_graphql::{Context, Error, ErrorExtensions, Value, value};

use crate::demo::state::Shared;
use crate::demo::{Access, Fault};

/// The code of every error that an operation meets while it runs.
const CODE: &str = "INTERNAL_SERVER_ERROR";

/// An entry of `errors`: a fault of the wiki's own has its code in the exception.
impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let (code, _, message) = fault.told();
        let exception = match fault {
            Fault::Limited(_) => value!({"message": message.clone()}),
            Fault::Wiki(_) => value!({"code": code, "message": message.clone()}),
            Fault::Internal { .. } => value!({}),
        };
        with_exception(message, &exception)
    }
}

/// The error for a field that must have a value and has none.
pub(super) fn missing(field: &str) -> Error {
    let message = format!("Cannot return null for non-nullable field {field}.");
    with_exception(message, &value!({}))
}

fn with_exception(message: String, exception: &Value) -> Error {
    Error::new(message).extend_with(|_, extensions| {
        extensions.set("code", CODE);
        extensions.set("exception", exception.clone());
    })
}

/// The value of a field for whoever has the permission for it.
pub(super) fn gated<T>(may: bool, value: T) -> Result<T, Error> {
    let value = may.then_some(value);
    value.ok_or_else(|| Fault::forbidden().into())
}

/// The value of a field that may be null: a fault becomes an entry of `errors`
/// and leaves null.
pub(super) fn nullable<T>(ctx: &Context<'_>, result: Result<T, Fault>) -> Option<T> {
    let told = |fault: Fault| {
        let error = Error::from(fault).into_server_error(ctx.item.pos);
        ctx.add_error(ctx.set_error_path(error));
    };
    result.map_err(told).ok()
}

/// The wiki that the operation runs on.
pub(super) fn shared<'a>(ctx: &Context<'a>) -> &'a Arc<Shared> {
    ctx.data_unchecked::<Arc<Shared>>()
}

/// The rights of the caller.
pub(super) fn access<'a>(ctx: &Context<'a>) -> &'a Access {
    ctx.data_unchecked::<Access>()
}

/// The caller, if one of these permissions is among theirs.
pub(super) fn require<'a>(ctx: &Context<'a>, permissions: &[&str]) -> Result<&'a Access, Fault> {
    let access = access(ctx);
    if access.has_just_expired {
        // So is every field that asks for a permission (W3).
        Err(Fault::error("Unauthorized"))
    } else if access.has(permissions) {
        Ok(access)
    } else {
        Err(Fault::forbidden())
    }
}
