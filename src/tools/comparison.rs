//! Compares two states of a page: a part of `wikijs_get_page_history`.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::context::ToolContext;
use super::output::{count, is_default};
use crate::change::{Warning, compare, cut, short};
use crate::error::{Code, Failure, Result};
use crate::page::{Date, Field, PageReading};
use crate::render_budget;
use crate::wiki::{Since, Version, aside};

/// The number of the newest versions that are searched for a time.
const MAX_VERSIONS: usize = 1_000;

/// The greatest id that the wiki gives to a version; a greater one is that of a seen state.
pub(super) const MAX_VERSION: i64 = 2_147_483_647;

/// The states to compare.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct Compare {
    /// A versionId, a time, or current.
    #[garde(custom(is_point))]
    #[serde(deserialize_with = "point")]
    from: String,
    /// Default current.
    #[garde(inner(custom(is_point)))]
    #[serde(default, deserialize_with = "some_point")]
    to: Option<String>,
}

/// Also accepts a versionId as a number, as a history shows it.
struct PointText;

impl serde::de::Visitor<'_> for PointText {
    type Value = String;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(A_POINT)
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_u64<E>(self, number: u64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_i64<E>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }
}

fn point<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    deserializer.deserialize_any(PointText)
}

fn some_point<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    point(deserializer).map(Some)
}

/// The ways to name a state of a page.
const A_POINT: &str =
    "a versionId, a time in ISO 8601, or current, such as 12 or 2026-01-31T09:00:00Z";

/// The differences between the two states.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct VersionComparison {
    from: ComparedVersion,
    to: ComparedVersion,
    #[serde(skip_serializing_if = "Map::is_empty")]
    changes: Map<String, Value>,
    /// Of the content.
    #[serde(skip_serializing_if = "String::is_empty")]
    diff: String,
    #[serde(skip_serializing_if = "is_default")]
    lines_added: i64,
    #[serde(skip_serializing_if = "is_default")]
    lines_removed: i64,
    /// Fields that are not known for both states.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_comparable: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ComparedVersion {
    /// Absent for the page as it is.
    version_id: Option<i64>,
    updated_at: Option<String>,
    /// True if tags, styles or scripts are as the mirror saw them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    seen_by_mirror: bool,
}

/// A state of a page, as a caller names it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Point {
    Current,
    Version(i64),
    Time(Date),
}

impl Point {
    fn parse(text: &str) -> Option<Self> {
        if text == "current" {
            return Some(Self::Current);
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            let id: i64 = text.parse().ok().filter(|id| *id > 0)?;
            return Some(Self::Version(id));
        }
        Date::parse(text).ok().filter(Date::is_set).map(Self::Time)
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "garde passes its context so"
)]
fn is_point(text: &str, _: &()) -> garde::Result {
    match Point::parse(text) {
        Some(_) => Ok(()),
        None => Err(garde::Error::new(format!("must be {A_POINT}"))),
    }
}

/// Compares two states of a page.
pub(super) async fn between(
    context: &ToolContext,
    id: i64,
    asked: &Compare,
) -> Result<VersionComparison> {
    render_budget::within(compared(context, id, asked)).await
}

async fn compared(context: &ToolContext, id: i64, asked: &Compare) -> Result<VersionComparison> {
    let point = |text: &str| Point::parse(text).unwrap_or(Point::Current);
    let (from, to) = (
        point(&asked.from),
        asked.to.as_deref().map_or(Point::Current, point),
    );
    // The current page also decides which of its past the caller may see.
    let now = context.wiki.page_by_id(id).await?;
    let from = state(context, id, from, &now).await?;
    let to = state(context, id, to, &now).await?;
    let compared = compare(&from.1, &to.1);
    let mut warnings = Vec::new();
    let bytes = compared.change.bytes();
    let (diff, lines) = aside(bytes, || compared.change.content_diff());
    Ok(VersionComparison {
        changes: short(compared.change.values(), &mut warnings),
        diff: cut(diff, &mut warnings),
        lines_added: count(lines.added),
        lines_removed: count(lines.removed),
        not_comparable: compared
            .not_comparable
            .into_iter()
            .map(Field::name)
            .collect(),
        from: from.0,
        to: to.0,
        warnings,
    })
}

async fn state(
    context: &ToolContext,
    id: i64,
    point: Point,
    now: &PageReading,
) -> Result<(ComparedVersion, PageReading)> {
    let version = match point {
        Point::Current => None,
        Point::Version(id) if id > MAX_VERSION => {
            let seen = seen_version(context, now, id).await?;
            let mut told = state_of(Some(id), &seen);
            told.seen_by_mirror = true;
            return Ok((told, seen));
        }
        Point::Version(version) => {
            let version = context.wiki.version(id, version).await?;
            Some(version.ok_or_else(|| not_found("The page has no such version."))?)
        }
        Point::Time(time) => at(context, id, &time, now).await?,
    };
    let Some(version) = version else {
        return Ok((state_of(None, now), now.clone()));
    };
    let version_id = version.id;
    let mut then = version.page;
    context.desk.past().remember(id, &mut then, now).await;
    let mut told = state_of(Some(version_id), &then);
    if let Some(mirror) = &context.mirror {
        let within = (now, context.wiki.scope());
        told.seen_by_mirror = mirror.complete(&mut then, within).await;
    }
    Ok((told, then))
}

/// A state of the page that the mirror saw, by its id.
pub(super) async fn seen_version(
    context: &ToolContext,
    now: &PageReading,
    id: i64,
) -> Result<PageReading> {
    let mirror = context.mirror()?;
    let versions = mirror.versions(now, context.wiki.scope()).await?;
    let seen = match versions.iter().find(|one| one.id == id) {
        Some(version) => mirror.seen(version).await?,
        None => None,
    };
    seen.ok_or_else(|| not_found("The page has no such version, and none was seen."))
}

/// The version that was current at a time; `None` if the page has not changed since.
async fn at(
    context: &ToolContext,
    id: i64,
    time: &Date,
    now: &PageReading,
) -> Result<Option<Version>> {
    let is_later = |date: &Date| date.instant() > time.instant();
    if !now.updated_at.as_ref().is_none_or(is_later) {
        return Ok(None);
    }
    if now.created_at.as_ref().is_some_and(is_later) {
        return Err(not_found("The page was not there yet at that time."));
    }
    match context.wiki.written_since(id, time, MAX_VERSIONS).await? {
        Since::Nothing => Ok(None),
        Since::Written(version) => Ok(Some(*version)),
        Since::Unknown => Err(not_found(
            "That time lies further back than the history is looked through.",
        )),
    }
}

fn not_found(message: &str) -> Failure {
    Failure::new(Code::VersionNotFound, message)
}

fn state_of(version_id: Option<i64>, page: &PageReading) -> ComparedVersion {
    ComparedVersion {
        version_id,
        updated_at: page.updated_at.clone().map(String::from),
        seen_by_mirror: false,
    }
}
