//! Names that most tests use; a test file takes them with one `use`.

pub(crate) use std::collections::{BTreeMap, BTreeSet, HashMap};
pub(crate) use std::fmt::Write as _;
pub(crate) use std::fs;
pub(crate) use std::os::unix::fs::PermissionsExt as _;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::sync::Arc;
pub(crate) use std::time::{Duration, Instant};

pub(crate) use reqwest::StatusCode;
pub(crate) use rmcp::model::CallToolRequestParams;
pub(crate) use rmcp::serve_server;
pub(crate) use rmcp::service::{ClientLifecycleMode, RoleClient, Service};
pub(crate) use serde_json::{Value, json};
pub(crate) use tempfile::TempDir;
pub(crate) use wikijs_gate::audit::{AuditEvent, Outcome, Record};
pub(crate) use wikijs_gate::demo::{
    DemoOptions, DemoWiki, Keys, OperationKind, PageRow, SeenRequest,
};
pub(crate) use wikijs_gate::gates::SessionId;
pub(crate) use wikijs_gate::server::http::Grant;
pub(crate) use wikijs_gate::write::Timeouts;

pub(crate) use crate::cli::process::Program;
pub(crate) use crate::command::{Command, Ended};
pub(crate) use crate::harness::*;
pub(crate) use crate::house::docs::generated;
pub(crate) use crate::http::hosted::{Caller, Hosted, LIMITS, Names};
pub(crate) use crate::testkit::*;
pub(crate) use crate::wiki::faulty_wiki::{Fault, FaultyWiki, Reach, Reply};
pub(crate) use crate::wiki::wiki_client::WikiClient;
