//! The addresses of the page, and who may ask for what.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{Extensions, HeaderMap, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::routing::{get, post};

use super::browser_state::BrowserState;
use super::deciding::{self, DECIDED};
use super::decision;
use super::form::FormFields;
use super::issuer;
use super::narrowing::QueueFilter;
use super::queue;
use super::record;
use super::rendered;
use super::reply::{
    self, BrowserResponse, BrowserResult, not_modified, page, picture, plain, see_other, set,
    trouble,
};
use super::set_view::{ReviewerInput, with_left_out};
use super::sign_in::{self, SignInTarget, SignInWays};
use super::undoing;
use super::visitor::{Reviews, SentForm, Visitor, broken, failed, no_set};
use super::{IssuerDoor, ReviewOrigin, SignInRecord, SignedOut, bin};
use crate::audit::ProposalId;
use crate::render_budget;
use crate::wiki::a_moment_ago;

/// All routes of the page, below `/review`.
pub fn router(reviews: Arc<Reviews>) -> Router {
    Router::new()
        .route("/review", get(show_queue))
        .route("/review/", get(async || see_other("/review")))
        .route("/review/sign-in", get(ask_sign_in).post(sign_in))
        .route(sign_in::AT_ISSUER, get(issuer::begin))
        .route(sign_in::BACK, get(issuer::finish))
        .route("/review/sign-out", post(sign_out))
        .route("/review/sets/{id}", get(show_set).post(deciding::decide))
        .route(
            "/review/sets/{id}/undo",
            get(undoing::ask).post(undoing::undo),
        )
        .route("/review/sets/{id}/new/{number}", get(show_new_text))
        .route("/review/sets/{id}/picture/{number}", get(show_picture))
        .route("/review/assets/{name}", get(asset))
        .route("/review/{*other}", get(nothing))
        .merge(bin::routes())
        .merge(record::routes())
        .layer(from_fn_with_state(Arc::clone(&reviews), admit))
        .with_state(reviews)
}

/// Answers a request that is meant for this page; what it compares has room until then.
async fn admit(State(reviews): ReviewRouteState, request: Request, next: Next) -> BrowserResponse {
    let query = FormFields::of_query(request.uri().query());
    let site = query.text("site").parse().ok();
    let answer = reply::at_site(site, async {
        match reviews.is_meant(request.headers()) {
            Ok(()) => next.run(request).await,
            Err(reply) => reply,
        }
    });
    render_budget::within(answer).await
}

type ReviewRouteState = State<Arc<Reviews>>;

async fn show_queue(
    State(reviews): ReviewRouteState,
    visitor: Visitor,
    uri: Uri,
    headers: HeaderMap,
) -> BrowserResult {
    let query = FormFields::of_query(uri.query());
    let mut queue = reviews.queue_of(&visitor).await?;
    let narrowing = QueueFilter::new(&query);
    let links = visitor.reviewer.links();
    let form = narrowing.form(&queue.waiting, links);
    queue.narrow(&narrowing);
    let proposals = visitor.reviewer.bench.desk.proposals();
    // An open page asks every few seconds.
    queue.standing = proposals.standing(queue.shown(), a_moment_ago()).await;
    if query.text("part") != "list" {
        let frame = reviews.frame(&visitor).await;
        return Ok(page(
            StatusCode::OK,
            queue::page(&queue, &form, &narrowing, &frame),
        ));
    }
    // What the page asks for by itself, every few seconds.
    let tag = format!("\"{}\"", queue.tag());
    let known = headers.get(header::IF_NONE_MATCH);
    if known.is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        return Ok(not_modified(&tag));
    }
    let mut reply = page(StatusCode::OK, queue::list(&queue, &narrowing, links));
    set(&mut reply, header::ETAG, &tag);
    Ok(reply)
}

async fn show_set(
    State(reviews): ReviewRouteState,
    Path(id): Path<String>,
    mut visitor: Visitor,
    uri: Uri,
) -> BrowserResult {
    let query = FormFields::of_query(uri.query());
    if let view @ ("one" | "two") = query.text("view") {
        let session = &mut visitor.session;
        let is_two = view == "two";
        // The address stays as it is while the page is loaded again and again.
        if session.kept.state.is_side_by_side != is_two {
            session.kept.state.is_side_by_side = is_two;
            let show = |state: &mut BrowserState| state.is_side_by_side = is_two;
            reviews.sessions.change(&session.name, show).await;
        }
    }
    if query.text("part") == "state" {
        let id = id.parse::<ProposalId>().map_err(|_| no_set())?;
        let state = decision::state(&visitor.reviewer, id).await;
        let state = state.map_err(|_| no_set())?;
        return Ok(match reviews.under_way.progress(id) {
            Some(far) => plain(format!("being applied, {} of {}", far.done, far.of)),
            None => plain(state),
        });
    }
    let seen = reviews.found(&visitor, &id).await?;
    let from = query.number("from").unwrap_or_default();
    let left_out: HashSet<usize> = query.numbers("leave_out").into_iter().collect();
    let mut after = undoing::after(&reviews, &visitor, &seen).await?;
    if let Some(after) = &mut after {
        after.has_focus = !query.text(DECIDED).is_empty();
    }
    let given = ReviewerInput {
        after: after.as_ref(),
        ..ReviewerInput::new(&left_out)
    };
    let markup = reviews.set(&visitor, &seen, from, given).await;
    Ok(page(StatusCode::OK, markup))
}

/// The new text of one change, about as it will look.
async fn show_new_text(
    State(reviews): ReviewRouteState,
    Path((id, number)): Path<(String, usize)>,
    visitor: Visitor,
    uri: Uri,
) -> BrowserResult {
    let seen = reviews.found(&visitor, &id).await?;
    let left_out = FormFields::of_query(uri.query()).numbers("leave_out");
    let back = with_left_out(&format!("{id}#change-{number}"), &left_out);
    let bench = &visitor.reviewer.bench;
    let new = bench
        .desk
        .new_state(&seen.review.proposal, number)
        .await
        .map_err(failed)?;
    let (one, after) = new.ok_or_else(no_set)?;
    let address = bench.wiki.page_url(&one.locale, &one.path);
    let base = address.clone();
    let shown =
        crate::blocking::run(move || rendered::rendered(&after.editor, &after.content, &base));
    let shown = shown
        .await
        .ok_or_else(|| broken("The text could not be rendered."))?;
    let frame = reviews.frame(&visitor).await;
    Ok(page(
        StatusCode::OK,
        rendered::page((&back, &one, &address), &shown, &frame),
    ))
}

/// The image that one change uploads.
async fn show_picture(
    State(reviews): ReviewRouteState,
    Path((id, number)): Path<(String, usize)>,
    visitor: Visitor,
) -> BrowserResult {
    let seen = reviews.found(&visitor, &id).await?;
    let desk = &visitor.reviewer.bench.desk;
    let found = desk
        .new_picture(&seen.review.proposal, number)
        .await
        .map_err(failed)?;
    let (mime, bytes) = found.ok_or_else(no_set)?;
    Ok(picture(mime, bytes.as_bytes().to_vec()))
}

async fn ask_sign_in(State(reviews): ReviewRouteState, uri: Uri) -> BrowserResult {
    let query = FormFields::of_query(uri.query());
    let secret = query.text("link");
    if secret.is_empty() {
        let ways = SignInWays {
            issuer: reviews.doors.issuer().map(IssuerDoor::name),
            then: SignInTarget::read(query.text("then")),
            sent_form: false,
        };
        return Ok(page(StatusCode::UNAUTHORIZED, sign_in::needed(&ways)));
    }
    let link = of_link(&reviews, secret).await?;
    let markup = sign_in::ask(link.name(), secret, query.text("then"));
    Ok(page(StatusCode::OK, markup))
}

async fn sign_in(State(reviews): ReviewRouteState, request: Request) -> BrowserResult {
    let (request, body) = request.into_parts();
    let is_own = ReviewOrigin::is_own(&request.headers);
    let form = FormFields::read(body).await?;
    let secret = form.text("link");
    of_link(&reviews, if is_own { secret } else { "" }).await?;
    let opened = reviews.sessions.take_link(secret).await;
    let opened = opened.map_err(|error| broken(&error))?;
    let (opened, session) = opened.ok_or_else(|| wrong_link(&reviews))?;
    tracing::info!(reviewer = %session.name(), "signed in to the review page");
    let mut reply = see_other(&SignInTarget::read(form.text("then")).address());
    let is_secure = reviews.place.is_secure_for(&request.extensions);
    let cookie = sign_in::cookie(&opened, is_secure);
    set(&mut reply, header::SET_COOKIE, &cookie);
    Ok(reply)
}

async fn sign_out(
    State(reviews): ReviewRouteState,
    extensions: Extensions,
    SentForm { visitor, .. }: SentForm,
) -> BrowserResult {
    let is_secure = reviews.place.is_secure_for(&extensions);
    let mut reply = see_other("/review/sign-in");
    let session = &visitor.session;
    let issuer = reviews.doors.issuer();
    if let Some(issuer) = issuer.filter(|_| session.kept.client().is_none()) {
        if let Some(there) = issuer.leave(&session.name).await {
            // A form must not lead to another site, and a link may.
            reply = page(StatusCode::OK, sign_in::signed_out(&issuer.name(), &there));
        }
    } else if let Err(error) = reviews.sessions.sign_out(&session.name).await {
        // The browser forgets it all the same.
        reply = broken(&error);
    }
    let cookie = sign_in::no_cookie(is_secure);
    set(&mut reply, header::SET_COOKIE, &cookie);
    Ok(reply)
}

async fn nothing() -> BrowserResponse {
    reply::nothing_here("What waits for a decision is at /review.")
}

async fn asset(Path(name): Path<String>) -> BrowserResult {
    reply::asset(&name)
}

/// The link of a secret, if it still signs in somebody who may come in. It is not used up.
async fn of_link(reviews: &Reviews, secret: &str) -> Result<SignInRecord, BrowserResponse> {
    let found = reviews.sessions.of_link(secret);
    let found = found.map_err(|error| broken(&error))?;
    let link = found.ok_or_else(|| wrong_link(reviews))?;
    let may = reviews.doors.still(("", &link), None).await;
    may.map_err(|signed_out| match signed_out {
        SignedOut::Over => wrong_link(reviews),
        SignedOut::Because(why) => trouble(
            StatusCode::FORBIDDEN,
            "This link does not sign in",
            &why,
            "Tell the operator.",
        ),
    })?;
    Ok(link)
}

fn wrong_link(reviews: &Reviews) -> BrowserResponse {
    let status = if reviews.wrong_links.count() {
        StatusCode::TOO_MANY_REQUESTS
    } else {
        StatusCode::UNAUTHORIZED
    };
    trouble(
        status,
        "This link does not sign in",
        "It was used before, is older than a day, or is no sign-in link.",
        "Ask the operator for a new one.",
    )
}
