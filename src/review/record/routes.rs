//! The addresses of the record, below `/review/record`.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::routing::get;

use super::super::form::FormFields;
use super::super::markup::{self, Frame};
use super::super::reply::{BrowserResponse, answer, page, plain, see_other};
use super::super::visitor::{Reviews, Visitor, broken, failed};
use super::call::{self, RecordLinks};
use super::reader::RecordReadError;
use super::selection::Selection;
use super::{cells, check_page, list_page, reader};
use crate::audit::{CallHistory, CallId};

type RecordRouteState = State<Arc<Reviews>>;

/// The routes of the record.
pub(crate) fn routes() -> Router<Arc<Reviews>> {
    Router::new()
        .route("/review/record", get(list))
        .route("/review/record/calls/{id}", get(one))
        .route("/review/record/check", get(show_check).post(check))
        .route("/review/record/heads.txt", get(heads))
}

async fn list(State(reviews): RecordRouteState, request: Request) -> BrowserResponse {
    let (request, _) = request.into_parts();
    answer(async {
        let visitor = reviews.enter(&request)?;
        let query = FormFields::of_query(request.uri.query());
        let selection = Selection::new(&query);
        let before = match query.text("before") {
            "" => None,
            text => Some(text.parse::<CallId>().map_err(|_| nothing())?),
        };
        let mut frame = reviews.frame(&visitor);
        frame.is_record = true;
        let mut listed = reader::CallListPage::default();
        if selection.wrong.is_empty() {
            let reviewer = &visitor.reviewer;
            if let Some(before) = before {
                // One that may not be seen is no place to go on from.
                let from = reader::group(&reviews.readers, reviewer, &before.to_string()).await;
                from.map_err(|fault| unread(&fault))?.ok_or_else(nothing)?;
            }
            let read = reader::list(&reviews.readers, reviewer, &selection.filter, before).await;
            listed = read.map_err(|fault| unread(&fault))?;
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
    })
    .await
}

async fn one(
    State(reviews): RecordRouteState,
    Path(id): Path<String>,
    request: Request,
) -> BrowserResponse {
    let (request, _) = request.into_parts();
    answer(async {
        let visitor = reviews.enter(&request)?;
        let id: CallId = id.parse().map_err(|_| nothing())?;
        let reviewer = &visitor.reviewer;
        let group = reader::group(&reviews.readers, reviewer, &id.to_string()).await;
        let group = group.map_err(|fault| unread(&fault))?.ok_or_else(nothing)?;
        let changed = reader::changed(&reviews.readers, reviewer, &group).await;
        let changed = changed.map_err(|fault| unread(&fault))?;
        let wiki = |call: &CallHistory| {
            let (locale, path) = cells::place_now(call)?;
            Some(reviewer.bench.wiki.page_url(locale, &path))
        };
        let links = RecordLinks {
            is_served: true,
            wiki: &wiki,
        };
        let mut frame = reviews.frame(&visitor);
        frame.is_record = true;
        let body = call::group(&group, &changed, &links);
        Ok(page(StatusCode::OK, list_page::one(&group, &body, &frame)))
    })
    .await
}

async fn show_check(State(reviews): RecordRouteState, request: Request) -> BrowserResponse {
    let (request, _) = request.into_parts();
    answer(async {
        let visitor = reviews.enter(&request)?;
        let heads = heads_for(&visitor).await?;
        let mut frame = reviews.frame(&visitor);
        frame.is_record = true;
        let token = &visitor.session.form_token;
        let markup = check_page::page(&reviews.checks(&visitor).now(), &heads, token, &frame);
        Ok(page(StatusCode::OK, markup))
    })
    .await
}

async fn check(State(reviews): RecordRouteState, request: Request) -> BrowserResponse {
    answer(async {
        let (visitor, _) = reviews.enter_by_form(request).await?;
        if !visitor.reviewer.sees_all {
            return Err(nothing());
        }
        reviews
            .checks(&visitor)
            .begin(visitor.reviewer.bench.desk.audit());
        Ok(see_other("/review/record/check"))
    })
    .await
}

async fn heads(State(reviews): RecordRouteState, request: Request) -> BrowserResponse {
    let (request, _) = request.into_parts();
    answer(async {
        let visitor = reviews.enter(&request)?;
        let heads = heads_for(&visitor).await?;
        Ok(plain(check_page::heads_text(&heads)))
    })
    .await
}

/// The heads of all runs, for whoever sees everything.
async fn heads_for(visitor: &Visitor) -> Result<Vec<crate::audit::FileHead>, BrowserResponse> {
    if !visitor.reviewer.sees_all {
        return Err(nothing());
    }
    let log = visitor.reviewer.bench.desk.audit().clone();
    let heads = tokio::task::spawn_blocking(move || log.heads()).await;
    match heads {
        Ok(Ok(heads)) => Ok(heads),
        Ok(Err(error)) => Err(unread(&error.into())),
        Err(_) => Err(unread(&RecordReadError::Fault(
            "the reading broke off".to_owned(),
        ))),
    }
}

fn unread(why: &RecordReadError) -> BrowserResponse {
    match why {
        RecordReadError::Busy(failure) => failed(failure),
        RecordReadError::Fault(fault) => broken(&format!("The record could not be read: {fault}.")),
    }
}

fn nothing() -> BrowserResponse {
    page(
        StatusCode::NOT_FOUND,
        markup::trouble(
            "Nothing is here",
            &Frame::none(),
            "There is no such call or set on record, or it is about pages that you do not decide about.",
            "",
        ),
    )
}
