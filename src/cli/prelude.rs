//! Gathers what nearly every command needs, to be imported as one.

pub(super) use serde_json::{Value, json};

pub(super) use super::error::CommandError;
pub(super) use super::exit::Exit;
pub(super) use super::print::{self, Paint, remark, say};
pub(super) use super::start::RecordedCommand;
pub(super) use super::table::{Cell, Table};
pub(super) use super::when::{from_now, minute};
pub(super) use super::{CommandResult, JsonArgs, start};
pub(super) use crate::error::{Code, Failure, Result};
pub(super) use crate::server::App;
pub(super) use crate::tools::{extended, without_nulls};
pub(super) use crate::words::separated;
