//! Stands in for `testing` in a build without that feature: nothing is recorded, and nothing interferes.

use std::future::{Ready, ready};
use std::time::Duration;

use async_graphql::parser::types::OperationDefinition;
use axum::http::HeaderMap;
use serde_json::Value;

use super::http::View;
use super::store::{PageRow, Store};
use super::views::Theme;
use crate::demo::Fault;

/// The place of what tests set.
#[derive(Default)]
pub(super) struct Testing;

/// The place of a recorded request.
pub(super) struct SeenRequest;

/// The place of something that tests let take time.
pub(super) struct UnderWay;

impl SeenRequest {
    pub(super) fn of_operation(_: &OperationDefinition, _: &Value) -> Self {
        Self
    }

    pub(super) fn of_upload(_: i64, _: &str) -> Self {
        Self
    }
}

#[expect(clippy::unused_self, reason = "the form of `testing`")]
impl Testing {
    pub(super) fn before<S>(&self, _: SeenRequest, _: &HeaderMap, _: S) -> Ready<UnderWay> {
        ready(UnderWay)
    }

    pub(super) fn before_source(&self) -> Ready<UnderWay> {
        ready(UnderWay)
    }

    pub(super) fn before_editor_view(&self, _: &mut Store) {}

    pub(super) fn before_tags(&self) -> Ready<()> {
        ready(())
    }

    pub(super) fn overlap(&self) -> Option<Duration> {
        None
    }

    pub(super) fn rebuild(&self, _: impl FnOnce()) -> Ready<Result<UnderWay, Fault>> {
        ready(Ok(UnderWay))
    }

    pub(super) fn is_blocked(&self, _: View) -> bool {
        false
    }

    pub(super) fn is_api_disabled(&self) -> bool {
        false
    }

    pub(super) fn has_row_ids(&self) -> bool {
        false
    }

    pub(super) fn theme(&self) -> Theme {
        Theme::default()
    }

    pub(super) fn cached_page(&self, _: &str, _: &str) -> Option<PageRow> {
        None
    }

    pub(super) fn comments_ahead(&self) -> Duration {
        Duration::ZERO
    }
}
