//! Names that most tests use; a test file takes them with one `use`.

pub(crate) use serde_json::{Value, json};
pub(crate) use tempfile::TempDir;
pub(crate) use wikijs_gate::audit::{AuditEvent, Outcome, Record};
pub(crate) use wikijs_gate::demo::{
    DemoOptions, DemoWiki, Keys, OperationKind, PageRow, SeenRequest,
};
pub(crate) use wikijs_gate::server::http::Grant;

pub(crate) use crate::cli::process::Program;
pub(crate) use crate::command::{Command, Ended};
pub(crate) use crate::harness::*;
pub(crate) use crate::http::hosted::{Caller, Hosted, LIMITS, Names};
pub(crate) use crate::testkit::*;
pub(crate) use crate::wiki::faulty_wiki::{Fault, FaultyWiki, Reach, Reply};
