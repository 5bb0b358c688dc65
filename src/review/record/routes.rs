//! The addresses of the record, below `/review/record`.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use axum::routing::get;

use super::super::form::FormFields;
use super::super::markup::Frame;
use super::super::reply::{BrowserResponse, BrowserResult, page, plain, see_other, trouble};
use super::super::visitor::{Reviews, SentForm, Visitor, broken, failed};
use super::call::{self, RecordLinks};
use super::reader::RecordReadError;
use super::selection::Selection;
use super::{cells, check, list_page, reader};
use crate::audit::{CallHistory, CallId};

/// The longest time that a request for a check waits for its end, where several servers share the record.
/// Proxies mostly wait for a minute.
const CHECKED_WITHIN: Duration = Duration::from_secs(40);

type RecordRouteState = State<Arc<Reviews>>;

/// The routes of the record.
pub(crate) fn routes() -> Router<Arc<Reviews>> {
    Router::new()
        .route("/review/record", get(list))
        .route("/review/record/calls/{id}", get(one))
        .route("/review/record/check", get(show_check).post(begin_check))
        .route("/review/record/heads.txt", get(heads))
}

async fn list(State(reviews): RecordRouteState, visitor: Visitor, uri: Uri) -> BrowserResult {
    let query = FormFields::of_query(uri.query());
    let selection = Selection::new(&query);
    let before = match query.text("before") {
        "" => None,
        text => Some(text.parse::<CallId>().map_err(|_| nothing())?),
    };
    let frame = frame(&reviews, &visitor).await;
    let mut listed = reader::CallListPage::default();
    if selection.wrong.is_empty() {
        let reviewer = &visitor.reviewer;
        if let Some(before) = before {
            // One that may not be seen is no place to go on from.
            let from = reader::group(&reviews.readers, reviewer, &before.to_string()).await?;
            from.ok_or_else(nothing)?;
        }
        listed = reader::list(&reviews.readers, reviewer, &selection.filter, before).await?;
    }
    let status = if selection.wrong.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    let is = (before.is_none(), visitor.reviewer.sees_all);
    Ok(page(
        status,
        list_page::page(&listed, &selection, is, &frame),
    ))
}

async fn one(
    State(reviews): RecordRouteState,
    Path(id): Path<String>,
    visitor: Visitor,
) -> BrowserResult {
    let id: CallId = id.parse().map_err(|_| nothing())?;
    let reviewer = &visitor.reviewer;
    let group = reader::group(&reviews.readers, reviewer, &id.to_string()).await?;
    let group = group.ok_or_else(nothing)?;
    let changed = reader::changed(&reviews.readers, reviewer, &group).await?;
    let wiki = |call: &CallHistory| {
        let (locale, path) = cells::place_now(call)?;
        Some(reviewer.bench.wiki.page_url(locale, &path))
    };
    let links = RecordLinks {
        served: Some(reviewer.links()),
        wiki: &wiki,
    };
    let frame = frame(&reviews, &visitor).await;
    let body = call::group(&group, &changed, &links);
    Ok(page(StatusCode::OK, list_page::one(&group, &body, &frame)))
}

async fn show_check(State(reviews): RecordRouteState, visitor: Visitor) -> BrowserResult {
    let heads = heads_for(&visitor).await?;
    let frame = frame(&reviews, &visitor).await;
    let token = &visitor.session.form_token;
    let markup = check::page(&reviews.checks(&visitor).now(), &heads, token, frame);
    Ok(page(StatusCode::OK, markup))
}

async fn begin_check(
    State(reviews): RecordRouteState,
    SentForm { visitor, .. }: SentForm,
) -> BrowserResult {
    if !visitor.reviewer.sees_all {
        return Err(nothing());
    }
    let (checks, log) = (
        reviews.checks(&visitor),
        visitor.reviewer.bench.desk.audit(),
    );
    checks.begin(log);
    if !log.store().is_remote() {
        let links = visitor.reviewer.links();
        return Ok(see_other(&links.to("/review/record/check")));
    }
    // The next request may reach another server, which knows nothing of this check.
    checks.ended(CHECKED_WITHIN).await;
    show_check(State(reviews), visitor).await
}

async fn heads(visitor: Visitor) -> BrowserResult {
    let heads = heads_for(&visitor).await?;
    let lines = heads.iter().map(|head| format!("{head}\n"));
    Ok(plain(lines.collect::<String>()))
}

/// The heads of all runs, for whoever sees everything.
async fn heads_for(visitor: &Visitor) -> Result<Vec<crate::audit::FileHead>, BrowserResponse> {
    if !visitor.reviewer.sees_all {
        return Err(nothing());
    }
    let log = visitor.reviewer.bench.desk.audit().clone();
    let heads = crate::blocking::run(move || log.runs.heads()).await;
    let broken = || RecordReadError::Fault("the reading broke off".to_owned());
    Ok(heads.ok_or_else(broken)?.map_err(RecordReadError::from)?)
}

/// The frame of a page of the record.
async fn frame(reviews: &Reviews, visitor: &Visitor) -> Frame {
    Frame {
        is_record: true,
        ..reviews.frame(visitor).await
    }
}

impl From<RecordReadError> for BrowserResponse {
    fn from(why: RecordReadError) -> Self {
        match why {
            RecordReadError::Busy(failure) => failed(failure),
            RecordReadError::Fault(fault) => {
                broken(&format!("The record could not be read: {fault}."))
            }
        }
    }
}

fn nothing() -> BrowserResponse {
    trouble(
        StatusCode::NOT_FOUND,
        "Nothing is here",
        "There is no such call or set on record, or it is about pages that you do not decide about.",
        "",
    )
}
