//! The answer of the two tools that read pages.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::metadata::Metadata;
use crate::error::Failure;
use crate::page::{HiddenText, PageInventory};
use crate::tools::output::WholePage;

/// One requested page, or several.
#[derive(Debug, Serialize)]
pub(in crate::tools) struct Output {
    #[serde(flatten)]
    pub(super) page: Option<PageView>,
    pub(super) pages: Option<Vec<PageResult>>,
}

/// One requested page.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct PageView {
    #[serde(flatten)]
    pub(super) page: WholePage,
    #[serde(flatten)]
    pub(super) metadata: Option<Metadata>,
    pub(super) rendered: Option<String>,
    pub(super) text: Option<String>,
    pub(super) outline: Option<PageInventory>,
    pub(super) version: Option<i64>,
    pub(super) part: Option<Excerpt>,
    /// Fields that were requested and could not be read, with the right each needs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) unavailable: BTreeMap<&'static str, &'static str>,
    /// Advice on these fields.
    pub(super) hint: Option<&'static str>,
    pub(super) hidden_text: Option<HiddenText>,
}

/// The part of a text that is answered.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Excerpt {
    /// Its selector, if one was given.
    pub(super) section: Option<String>,
    /// Its first and last line.
    pub(super) lines: String,
    /// Number of its bytes that follow this answer.
    pub(super) bytes_left: Option<usize>,
    /// The offset for the next bytes.
    pub(super) next_offset: Option<usize>,
    /// The parts below it, a line each, as in an outline.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<String>,
    /// Number of further parts.
    pub(super) parts_left: Option<usize>,
    /// Fields that are left out because of their size.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) left_out: Vec<&'static str>,
    /// The renderer of the HTML, if not the wiki.
    pub(super) rendered_by: Option<&'static str>,
}

/// One of several pages: answered, or refused on its own.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum PageResult {
    Page(Box<PageView>),
    Refused(Map<String, Value>),
}

impl PageResult {
    /// A refused page, under the name in the request.
    pub(super) fn refused(name: &'static str, asked: Value, failure: &Failure) -> Self {
        let members = [
            (name.to_owned(), asked),
            ("error".to_owned(), json!(failure)),
        ];
        Self::Refused(members.into_iter().collect())
    }
}
