//! The addresses of the page, and who may ask for what.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::routing::get;

use super::assets;
use super::decision::{self, Came, Decision, Seen};
use super::doors::{Doors, Reviewer};
use super::form::Form;
use super::markup::{self, Frame};
use super::part;
use super::place::Place;
use super::queue::{self, Queue};
use super::reply::{Reply, not_modified, page, see_other, set, text};
use super::session::{Sessions, SignedIn};
use super::set_page::{self, Shown};
use super::sheet::Sheet;
use super::sign_in::{self, COOKIE, WrongLinks};
use crate::audit::ProposalId;
use crate::error::{Code, Failure};
use crate::write::Review;

/// Asked a second time by the page itself, since a browser that comes from elsewhere leaves a strict
/// cookie at home.
const AGAIN: &str = "own";

/// A page where people decide.
#[derive(Debug)]
pub struct Reviews {
    doors: Arc<dyn Doors>,
    place: Place,
    sessions: Sessions,
    wrong_links: WrongLinks,
}

impl Reviews {
    /// A page at a place, for those whom the doors let in.
    #[must_use]
    pub fn new(doors: Arc<dyn Doors>, place: Place) -> Self {
        Self {
            doors,
            place,
            sessions: Sessions::default(),
            wrong_links: WrongLinks::default(),
        }
    }
}

/// All routes of the page, below `/review`.
pub fn router(reviews: Arc<Reviews>) -> Router {
    Router::new()
        .route("/review", get(show_queue))
        .route("/review/sign-in", get(ask_sign_in).post(sign_in))
        .route("/review/sign-out", axum::routing::post(sign_out))
        .route("/review/sets/{id}", get(show_set).post(decide))
        .route("/review/assets/{name}", get(asset))
        .with_state(reviews)
}

type Site = State<Arc<Reviews>>;

/// Whoever is signed in.
struct Visitor {
    session: SignedIn,
    reviewer: Reviewer,
}

impl Reviews {
    /// Who asks; else what they are answered.
    fn enter(&self, request: &Parts) -> Result<Visitor, Reply> {
        self.is_meant(&request.headers)?;
        let cookie = cookie(&request.headers);
        if let Some(session) = cookie.and_then(|cookie| self.sessions.of(cookie)) {
            let Some(reviewer) = self.doors.still(&session.reviewer) else {
                self.sessions.close(&session);
                return Err(page(StatusCode::UNAUTHORIZED, sign_in::needed()));
            };
            return Ok(Visitor { session, reviewer });
        }
        let query = Form::of_query(request.uri.query());
        let is_first = cookie.is_none() && query.text(AGAIN).is_empty();
        if is_first && request.method == Method::GET && is_from_elsewhere(request) {
            return Err(page(StatusCode::OK, again(request)));
        }
        Err(page(StatusCode::UNAUTHORIZED, sign_in::needed()))
    }

    /// Who sent a form of ours, and what it says; else what they are answered.
    async fn enter_by_form(&self, request: Request) -> Result<(Visitor, Form), Reply> {
        let (request, body) = request.into_parts();
        let visitor = self.enter(&request)?;
        let is_own = Place::is_own(&request.headers);
        let form = self.form(body).await?;
        if is_own && visitor.session.is_own_form(form.text("form_token")) {
            return Ok((visitor, form));
        }
        Err(page(
            StatusCode::FORBIDDEN,
            markup::trouble(
                "This form is not yours",
                &Frame::none(),
                "It was sent by another page, or your session ended meanwhile. Nothing was decided.",
                "Open the set again from the queue.",
            ),
        ))
    }

    async fn form(&self, body: Body) -> Result<Form, Reply> {
        Form::read(body).await.map_err(|(status, what)| {
            page(
                status,
                markup::trouble("Not taken", &Frame::none(), what, "Nothing was decided."),
            )
        })
    }

    fn is_meant(&self, headers: &HeaderMap) -> Result<(), Reply> {
        if self.place.is_meant(headers) {
            return Ok(());
        }
        Err(page(
            StatusCode::FORBIDDEN,
            markup::trouble(
                "Not here",
                &Frame::none(),
                "The page is not reached by this name.",
                "Use the address that `wikijs-mcp review` told.",
            ),
        ))
    }

    fn frame(&self, visitor: &Visitor) -> Frame {
        Frame {
            signed_in: Some((
                visitor.reviewer.name.clone(),
                visitor.session.form_token.clone(),
            )),
            news: self.sessions.take_news(&visitor.session),
            again_in: None,
        }
    }

    async fn queue_of(&self, visitor: &Visitor) -> Result<Queue, Reply> {
        let all = visitor.reviewer.bench.desk.proposals().all().await;
        let mut all = all.map_err(|failure| failed(&failure))?;
        all.retain(|one| decision::is_within(&visitor.reviewer, one));
        Ok(Queue::of(all))
    }

    /// A set as a page, from one of its parts on.
    fn set(
        &self,
        visitor: &Visitor,
        seen: &Seen,
        from: usize,
        said: (Option<&str>, &HashSet<usize>),
        frame: &Frame,
    ) -> maud::Markup {
        let review = &seen.review;
        let sheet = Sheet::of(review);
        let id = review.proposal.id;
        let parts = part::of_page(&sheet.parts, from);
        let shown = parts.clone().map(|part| (id, review.digest.clone(), part));
        self.sessions.saw(&visitor.session, shown);
        let shown_parts = self.sessions.seen(&visitor.session, id, &review.digest);
        let (wrong, left_out) = said;
        let shown = Shown {
            unseen: part::unseen(&sheet.parts, &shown_parts),
            warnings: &seen.warnings,
            sheet: &sheet,
            parts,
            is_side_by_side: visitor.session.is_side_by_side,
            form_token: &visitor.session.form_token,
            may_decide: visitor.reviewer.may_decide,
            may_apply: visitor.reviewer.may_apply,
            left_out,
            wrong,
        };
        set_page::page(&shown, frame)
    }
}

async fn show_queue(State(reviews): Site, request: Request) -> Reply {
    let (request, _) = request.into_parts();
    answer(async {
        let visitor = reviews.enter(&request)?;
        let queue = reviews.queue_of(&visitor).await?;
        let query = Form::of_query(request.uri.query());
        if query.text("part") != "list" {
            let frame = reviews.frame(&visitor);
            return Ok(page(StatusCode::OK, queue::page(&queue, &frame)));
        }
        // What the page asks for by itself, every few seconds.
        let tag = format!("\"{}\"", queue.tag());
        let known = request.headers.get(header::IF_NONE_MATCH);
        if known.is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
            return Ok(not_modified(&tag));
        }
        let mut reply = page(StatusCode::OK, queue::list(&queue));
        set(&mut reply, header::ETAG, &tag);
        Ok(reply)
    })
    .await
}

async fn show_set(State(reviews): Site, Path(id): Path<String>, request: Request) -> Reply {
    let (request, _) = request.into_parts();
    answer(async {
        let mut visitor = reviews.enter(&request)?;
        let query = Form::of_query(request.uri.query());
        if let view @ ("one" | "two") = query.text("view") {
            visitor.session.is_side_by_side = view == "two";
            reviews
                .sessions
                .show_side_by_side(&visitor.session, view == "two");
        }
        if query.text("part") == "state" {
            let state = id.parse::<ProposalId>().map_err(|_| no_set())?;
            let state = decision::state(&visitor.reviewer, state).await;
            return state.map(text).map_err(|_| no_set());
        }
        let seen = found(&visitor, &id).await?;
        let frame = reviews.frame(&visitor);
        let from = query.number("from").unwrap_or_default();
        let none = HashSet::new();
        let markup = reviews.set(&visitor, &seen, from, (None, &none), &frame);
        Ok(page(StatusCode::OK, markup))
    })
    .await
}

async fn decide(State(reviews): Site, Path(id): Path<String>, request: Request) -> Reply {
    answer(async {
        let (visitor, form) = reviews.enter_by_form(request).await?;
        let seen = found(&visitor, &id).await?;
        let review = &seen.review;
        let left_out: HashSet<usize> = form.numbers("leave_out").into_iter().collect();
        if !visitor.reviewer.may_decide {
            return Ok(page(
                StatusCode::FORBIDDEN,
                markup::trouble(
                    "You do not decide here",
                    &Frame::none(),
                    "An auditor looks and decides nothing.",
                    "",
                ),
            ));
        }
        let shown_again = |status, wrong: &str| {
            let frame = reviews.frame(&visitor);
            let said = (Some(wrong), &left_out);
            page(status, reviews.set(&visitor, &seen, 0, said, &frame))
        };
        if !review.proposal.is_open() {
            return Ok(shown_again(
                StatusCode::CONFLICT,
                "Somebody else decided it before you; what they decided stands below.",
            ));
        }
        if form.text("digest") != review.digest {
            return Ok(shown_again(
                StatusCode::CONFLICT,
                "It is not what you were shown any more. Look at it again.",
            ));
        }
        let decision = match of_form(&reviews, &visitor, review, &form, &left_out) {
            Ok(decision) => decision,
            Err(wrong) => return Ok(shown_again(StatusCode::UNPROCESSABLE_ENTITY, &wrong)),
        };
        if matches!(decision, Decision::Apply { .. }) && !visitor.reviewer.may_apply {
            return Ok(shown_again(
                StatusCode::FORBIDDEN,
                "The server is in a dry run: you can reject this, and not apply it.",
            ));
        }
        let queue = reviews.queue_of(&visitor).await?;
        let came = decision::carry_out(&visitor.reviewer, &review.proposal, decision).await;
        let came = match came {
            Ok(came) => came,
            Err(failure) => {
                let failure = failure.to_string();
                let seen = found(&visitor, &id).await?;
                let frame = reviews.frame(&visitor);
                let said = (Some(failure.as_str()), &left_out);
                let markup = reviews.set(&visitor, &seen, 0, said, &frame);
                return Ok(page(StatusCode::CONFLICT, markup));
            }
        };
        Ok(go_on(&reviews, &visitor, &queue, &id, came))
    })
    .await
}

/// What a form decides; a sentence where it decides nothing.
fn of_form(
    reviews: &Reviews,
    visitor: &Visitor,
    review: &Review,
    form: &Form,
    left_out: &HashSet<usize>,
) -> Result<Decision, String> {
    if form.text("decision") == "reject" {
        let reason = decision::reason(form.text("reason"))?;
        return Ok(Decision::Reject { reason });
    }
    if form.text("decision") != "apply" {
        return Err("Choose Apply or Reject.".to_owned());
    }
    let sheet = Sheet::of(review);
    let seen = reviews
        .sessions
        .seen(&visitor.session, review.proposal.id, &review.digest);
    let unseen = part::unseen(&sheet.parts, &seen);
    let is_counted = form.number("unseen") == Some(unseen.lines);
    if unseen.first.is_some() && unseen.lines > 0 && !is_counted {
        return Err(format!(
            "{} changed lines were not shown yet: look at them, or type their number.",
            unseen.lines
        ));
    }
    let mut wanted: Vec<usize> = left_out.iter().copied().collect();
    wanted.sort_unstable();
    let all = review.left_out_with(&wanted);
    let more: Vec<String> = all
        .iter()
        .filter(|number| !left_out.contains(number))
        .map(|number| (number + 1).to_string())
        .collect();
    if !more.is_empty() {
        return Err(format!(
            "What is left out takes more with it, which depends on it: {}. Leave that out, too.",
            more.join(", ")
        ));
    }
    Ok(Decision::Apply {
        digest: review.digest.clone(),
        leave_out: all,
        merge: form.text("merge") == "yes",
    })
}

/// After a decision the next set is shown.
fn go_on(reviews: &Reviews, visitor: &Visitor, queue: &Queue, id: &str, came: Came) -> Reply {
    reviews
        .sessions
        .tell(&visitor.session, (came.is_good, came.news));
    let next = if came.is_open {
        format!("/review/sets/{id}")
    } else {
        queue.next_after(id).map_or_else(
            || "/review".to_owned(),
            |next| format!("/review/sets/{}", next.id),
        )
    };
    see_other(&next)
}

async fn found(visitor: &Visitor, id: &str) -> Result<Seen, Reply> {
    let id = id.parse::<ProposalId>().map_err(|_| no_set())?;
    let seen = Box::pin(decision::look(&visitor.reviewer, id)).await;
    seen.map_err(|failure| {
        if failure.code == Code::InvalidInput {
            no_set()
        } else {
            failed(&failure)
        }
    })
}

fn no_set() -> Reply {
    page(
        StatusCode::NOT_FOUND,
        markup::trouble(
            "There is no such set",
            &Frame::none(),
            "It is not there, it was purged, or it is about pages that you do not decide about.",
            "",
        ),
    )
}

async fn ask_sign_in(State(reviews): Site, request: Request) -> Reply {
    let (request, _) = request.into_parts();
    answer(async {
        reviews.is_meant(&request.headers)?;
        let query = Form::of_query(request.uri.query());
        let secret = query.text("link");
        if secret.is_empty() {
            return Ok(page(StatusCode::UNAUTHORIZED, sign_in::needed()));
        }
        let reviewer = reviews
            .doors
            .of_link(secret)
            .ok_or_else(|| wrong_link(&reviews))?;
        let markup = sign_in::ask(&reviewer.name, secret, query.text("then"));
        Ok(page(StatusCode::OK, markup))
    })
    .await
}

async fn sign_in(State(reviews): Site, request: Request) -> Reply {
    let (request, body) = request.into_parts();
    answer(async {
        reviews.is_meant(&request.headers)?;
        let is_own = Place::is_own(&request.headers);
        let form = reviews.form(body).await?;
        let reviewer = if is_own {
            reviews.doors.take_link(form.text("link")).await
        } else {
            None
        };
        let reviewer = reviewer.ok_or_else(|| wrong_link(&reviews))?;
        let opened = reviews.sessions.open(&reviewer.id);
        let opened = opened.map_err(|error| broken(&error.to_string()))?;
        tracing::info!(reviewer = %reviewer.name, "signed in to the review page");
        // Only to one of our own sets.
        let then = form.text("then").parse::<ProposalId>().ok();
        let then = then.map_or_else(|| "/review".to_owned(), |id| format!("/review/sets/{id}"));
        let mut reply = see_other(&then);
        let cookie = sign_in::cookie(&opened, reviews.place.is_secure);
        set(&mut reply, header::SET_COOKIE, &cookie);
        Ok(reply)
    })
    .await
}

async fn sign_out(State(reviews): Site, request: Request) -> Reply {
    answer(async {
        let (visitor, _) = reviews.enter_by_form(request).await?;
        reviews.sessions.close(&visitor.session);
        let mut reply = see_other("/review/sign-in");
        let cookie = sign_in::no_cookie(reviews.place.is_secure);
        set(&mut reply, header::SET_COOKIE, &cookie);
        Ok(reply)
    })
    .await
}

async fn asset(State(reviews): Site, Path(name): Path<String>, headers: HeaderMap) -> Reply {
    let asset = reviews.is_meant(&headers).map(|()| assets::of_name(&name));
    match asset {
        Ok(Some(asset)) => asset,
        Ok(None) => page(
            StatusCode::NOT_FOUND,
            markup::trouble("There is nothing here", &Frame::none(), "", ""),
        ),
        Err(reply) => reply,
    }
}

/// An answer, whichever way it came about.
async fn answer(work: impl Future<Output = Result<Reply, Reply>>) -> Reply {
    // A handler's future is large where a write is made in it.
    Box::pin(work).await.unwrap_or_else(|reply| reply)
}

fn wrong_link(reviews: &Reviews) -> Reply {
    let status = if reviews.wrong_links.count() {
        StatusCode::TOO_MANY_REQUESTS
    } else {
        StatusCode::UNAUTHORIZED
    };
    page(
        status,
        markup::trouble(
            "This link does not sign in",
            &Frame::none(),
            "It was used before, is older than a day, or is no sign-in link.",
            "Ask the operator for a new one.",
        ),
    )
}

fn failed(failure: &Failure) -> Reply {
    broken(&failure.to_string())
}

fn broken(what: &str) -> Reply {
    page(
        StatusCode::SERVICE_UNAVAILABLE,
        markup::trouble(
            "That did not work",
            &Frame::none(),
            what,
            "Try again in a moment.",
        ),
    )
}

/// The value of our cookie.
fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter();
    all.filter_map(|cookies| cookies.to_str().ok())
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .find_map(|(name, value)| (name == COOKIE && !value.is_empty()).then_some(value))
}

/// Whether a browser comes from a page of another site: then it leaves a strict cookie at home.
fn is_from_elsewhere(request: &Parts) -> bool {
    let site = request.headers.get("sec-fetch-site");
    site.is_some_and(|site| matches!(site.as_bytes(), b"cross-site" | b"same-site"))
}

/// The same address again, this time from a page of ours.
fn again(request: &Parts) -> maud::Markup {
    let path = request.uri.path();
    let frame = Frame::none();
    let body = maud::html! {
        main.narrow {
            p { a href=(format!("{path}?{AGAIN}=1")) { "Go on" } }
        }
        meta http-equiv="refresh" content=(format!("0; url={path}?{AGAIN}=1"));
    };
    markup::page("One moment", &frame, &body)
}
