//! Identifies the reviewer who sent a request, and renders sets for them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use parking_lot::Mutex;

use super::browser_state::BrowserState;
use super::decision::{self, ReviewedSet};
use super::form::FormFields;
use super::markup::{self, Frame};
use super::queue::ReviewQueue;
use super::record::{Checks, Readers};
use super::reply::{BrowserResponse, page, see_other, set, trouble};
use super::session::SignedIn;
use super::set_page;
use super::set_view::{ReviewerInput, SetPageModel, SetView};
use super::sign_in::{self, SignInTarget, SignInWays, WrongLinks};
use super::sign_ins::{SignIns, digest};
use super::under_way::RunningSets;
use super::{Authenticator, IssuerDoor, ReviewOrigin, Reviewer, SignedOut, part};
use crate::audit::ProposalId;
use crate::error::{Code, Failure};
use crate::site::SiteName;
use crate::wiki::aside;
use crate::words::counted;
use crate::write::Review;

/// Asked a second time by the page itself, since a browser that comes from elsewhere leaves a strict
/// cookie at home.
const AGAIN: &str = "own";

/// A page where people decide.
pub struct Reviews {
    pub(super) doors: Arc<dyn Authenticator>,
    pub(super) place: ReviewOrigin,
    pub(super) sessions: SignIns,
    pub(super) wrong_links: WrongLinks,
    /// The sets that are being applied now.
    pub(super) under_way: RunningSets,
    /// Limits the readers of the record.
    pub(super) readers: Readers,
    /// The last check of each record.
    checks: Mutex<HashMap<PathBuf, Checks>>,
}

/// A signed-in reviewer and their session.
pub(super) struct Visitor {
    pub(super) session: SignedIn,
    pub(super) reviewer: Reviewer,
}

impl FromRequestParts<Arc<Reviews>> for Visitor {
    type Rejection = BrowserResponse;

    async fn from_request_parts(
        request: &mut Parts,
        reviews: &Arc<Reviews>,
    ) -> Result<Self, BrowserResponse> {
        reviews.enter(request).await
    }
}

/// One of our forms, and the reviewer who sent it.
pub(super) struct SentForm {
    pub(super) visitor: Visitor,
    pub(super) form: FormFields,
}

impl FromRequest<Arc<Reviews>> for SentForm {
    type Rejection = BrowserResponse;

    async fn from_request(
        request: Request,
        reviews: &Arc<Reviews>,
    ) -> Result<Self, BrowserResponse> {
        let (request, body) = request.into_parts();
        let visitor = reviews.enter(&request).await?;
        let is_own = ReviewOrigin::is_own(&request.headers);
        let form = FormFields::read(body).await?;
        if is_own && visitor.session.is_own_form(form.text("form_token")) {
            return Ok(Self { visitor, form });
        }
        Err(trouble(
            StatusCode::FORBIDDEN,
            "This form is not yours",
            "It was sent by another page, or your session ended meanwhile. Nothing was decided.",
            "Open the set again from the queue.",
        ))
    }
}

impl Reviews {
    /// A page at a place. Whoever has one of these sign-ins may enter, if the doors let them in.
    pub fn new(doors: Arc<dyn Authenticator>, sessions: SignIns, place: ReviewOrigin) -> Self {
        Self {
            doors,
            place,
            sessions,
            wrong_links: WrongLinks::default(),
            under_way: RunningSets::default(),
            readers: Readers::default(),
            checks: Mutex::default(),
        }
    }

    /// Identifies the reviewer of a request; an error is the response to send.
    async fn enter(&self, request: &Parts) -> Result<Visitor, BrowserResponse> {
        let name = sign_in::cookie_name(self.place.is_secure_for(&request.extensions));
        let cookie = cookie(&request.headers, name);
        let query = FormFields::of_query(request.uri.query());
        let kept = cookie.map(|cookie| self.sessions.session(&digest(cookie)));
        let kept = kept
            .transpose()
            .map_err(|error| broken(&error.to_string()))?;
        if let Some((cookie, kept)) = cookie.zip(kept.flatten()) {
            let session = SignedIn::new(cookie, kept);
            let asked = Some(query.text("site")).filter(|site| !site.is_empty());
            let before = session.kept.state.site.as_deref();
            let of = (&*session.name, &session.kept);
            let still = self.doors.still(of, asked.or(before)).await;
            let reviewer = still.map_err(|signed_out| {
                let (status, markup) = match signed_out {
                    SignedOut::Over => (
                        StatusCode::UNAUTHORIZED,
                        sign_in::ended(&self.ways(request)),
                    ),
                    SignedOut::Because(why) => (
                        StatusCode::FORBIDDEN,
                        sign_in::how_to("You are signed out", &why, &self.ways(request)),
                    ),
                };
                page(status, markup)
            })?;
            if let Some(own) = reviewer.site.as_ref().filter(|_| request.method.is_safe()) {
                let shown = Some(own.as_str());
                if asked != shown {
                    // The session's site changes with every tab, so each address names the one that it shows.
                    return Err(see_other(&at_site(own, request)));
                }
                if before != shown && query.text("part").is_empty() {
                    let site = Some(own.to_string());
                    let look = |state: &mut BrowserState| state.site = site;
                    self.sessions.change(&session.name, look).await;
                }
            }
            return Ok(Visitor { session, reviewer });
        }
        let is_first = cookie.is_none() && query.text(AGAIN).is_empty();
        if is_first && request.method == Method::GET && is_from_elsewhere(request) {
            return Err(page(StatusCode::OK, again(request)));
        }
        let markup = match cookie {
            Some(_) => sign_in::ended(&self.ways(request)),
            None => sign_in::needed(&self.ways(request)),
        };
        Err(page(StatusCode::UNAUTHORIZED, markup))
    }

    /// The ways to sign in, for whoever asked for this page.
    fn ways(&self, request: &Parts) -> SignInWays {
        let set = request.uri.path().strip_prefix("/review/sets/");
        let set = set.and_then(|rest| rest.split('/').next());
        let query = FormFields::of_query(request.uri.query());
        SignInWays {
            issuer: self.doors.issuer().map(IssuerDoor::name),
            then: SignInTarget {
                set: set.and_then(|set| set.parse().ok()),
                site: query.text("site").parse().ok(),
            },
            sent_form: !request.method.is_safe(),
        }
    }

    /// Refuses a request that was sent to another host.
    pub(super) fn is_meant(&self, headers: &HeaderMap) -> Result<(), BrowserResponse> {
        if self.place.is_meant(headers) {
            return Ok(());
        }
        Err(trouble(
            StatusCode::FORBIDDEN,
            "Not here",
            "The page is not reached by this name.",
            "Use the address that `wikijs-gate review` told.",
        ))
    }

    pub(super) async fn frame(&self, visitor: &Visitor) -> Frame {
        let session = &visitor.session;
        let site = visitor.reviewer.site.as_ref().map(SiteName::as_str);
        let news = session.kept.state.news.clone();
        let news = news.filter(|news| news.site.as_deref() == site);
        if news.is_some() {
            // They are told once.
            let told = |state: &mut BrowserState| state.news = None;
            self.sessions.change(&session.name, told).await;
        }
        Frame {
            signed_in: Some((visitor.reviewer.name.clone(), session.form_token.clone())),
            wiki: Some(visitor.reviewer.bench.desk.audit().wiki().to_owned()),
            news,
            notice: visitor.reviewer.notice.clone(),
            has_bin: visitor.reviewer.bench.mirror.is_some(),
            site: visitor.reviewer.site.clone(),
            sites: visitor.reviewer.sites.clone(),
            ..Frame::default()
        }
    }

    /// A set that a visitor may see.
    pub(super) async fn found(
        &self,
        visitor: &Visitor,
        id: &str,
    ) -> Result<ReviewedSet, BrowserResponse> {
        let id = id.parse::<ProposalId>().map_err(|_| no_set())?;
        let seen = Box::pin(decision::look(&visitor.reviewer, id)).await;
        seen.map_err(|failure| {
            if failure.code == Code::InvalidInput {
                no_set()
            } else {
                failed(failure)
            }
        })
    }

    /// The last check of the record that a visitor reads.
    pub(super) fn checks(&self, visitor: &Visitor) -> Checks {
        let dir = visitor.reviewer.bench.desk.log_dir();
        let mut all = self.checks.lock();
        all.entry(dir).or_default().clone()
    }

    pub(super) async fn queue_of(&self, visitor: &Visitor) -> Result<ReviewQueue, BrowserResponse> {
        let mut all = visitor
            .reviewer
            .bench
            .desk
            .proposals()
            .all()
            .await
            .map_err(failed)?;
        let outside = visitor.reviewer.ids_outside(None).await.map_err(failed)?;
        all.retain(|one| decision::is_within(&visitor.reviewer, one, &outside));
        Ok(ReviewQueue::new(all))
    }

    /// True if a decision on a set is carried out from here, or somebody else decides on it at this moment.
    pub(super) fn is_being_decided(&self, review: &Review) -> bool {
        self.under_way.is(review.proposal.id) || review.is_held
    }

    /// A set as a page, from one of its parts on, which the session has seen then. While it is being decided,
    /// the page is loaded again and again, whatever led to it.
    pub(super) async fn set(
        &self,
        visitor: &Visitor,
        seen: &ReviewedSet,
        from: usize,
        given: ReviewerInput<'_>,
    ) -> maud::Markup {
        let review = &seen.review;
        let (id, digest) = (review.proposal.id, &review.digest);
        let is_being_decided = self.is_being_decided(review);
        let is_under_way = self.under_way.is(id);
        let mut frame = self.frame(visitor).await;
        frame.again_in = is_being_decided.then_some(1);
        let mut state = visitor.session.kept.state.clone();
        let (markup, parts, is_news) = aside(review.bytes(), || {
            let sheet = SetView::new(review);
            let parts = part::of_page(&sheet.parts, from);
            let is_news = state.saw(id, digest, parts.clone());
            let shown = SetPageModel {
                unseen: part::unseen(&sheet.parts, &state.seen(id, digest)),
                warnings: &seen.warnings,
                sheet: &sheet,
                parts: parts.clone(),
                session: &visitor.session,
                reviewer: &visitor.reviewer,
                given,
                is_under_way,
                is_being_decided,
                far: self.under_way.progress(id),
            };
            (set_page::page(&shown, &frame), parts, is_news)
        });
        if is_news {
            let saw = |state: &mut BrowserState| {
                state.saw(id, digest, parts);
            };
            self.sessions.change(&visitor.session.name, saw).await;
        }
        markup
    }
}

/// The value of a cookie of ours.
pub(super) fn cookie<'a>(headers: &'a HeaderMap, own: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter();
    all.filter_map(|cookies| cookies.to_str().ok())
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .find_map(|(name, value)| (name == own && !value.is_empty()).then_some(value))
}

/// True if a browser comes from a page of another site: then it sends no strict cookie.
fn is_from_elsewhere(request: &Parts) -> bool {
    let site = request.headers.get("sec-fetch-site");
    site.is_some_and(|site| matches!(site.as_bytes(), b"cross-site" | b"same-site"))
}

/// The address that was asked for, at this site. Of two that an address names the first counts.
fn at_site(site: &SiteName, request: &Parts) -> String {
    let path = request.uri.path();
    let rest = request.uri.query().map(|query| format!("&{query}"));
    format!("{path}?site={site}{}", rest.unwrap_or_default())
}

/// The same address again, this time from a page of ours.
fn again(request: &Parts) -> maud::Markup {
    let asked = request.uri.query().map(|query| format!("{query}&"));
    let address = format!(
        "{}?{}{AGAIN}=1",
        request.uri.path(),
        asked.unwrap_or_default()
    );
    let body = maud::html! {
        main.narrow {
            p { a href=(address) { "Go on" } }
        }
        meta http-equiv="refresh" content=(format!("0; url={address}"));
    };
    markup::page("One moment", &Frame::default(), &body)
}

/// Says why something did not work; of what may be tried again soon, when.
#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
pub(super) fn failed(failure: Failure) -> BrowserResponse {
    busy(&failure).unwrap_or_else(|| broken(&failure.to_string()))
}

/// Says of what may be tried again soon when that is; `None` of other failures.
pub(super) fn busy(failure: &Failure) -> Option<BrowserResponse> {
    let wait = failure.details.get("retryAfterSeconds");
    let wait = wait.filter(|_| failure.code == Code::RateLimited)?;
    let seconds = wait.as_u64()?;
    let mut reply = trouble(
        StatusCode::TOO_MANY_REQUESTS,
        "Too much at once",
        &failure.message,
        &format!("Try again in {}.", counted(seconds, "second", "seconds")),
    );
    set(&mut reply, header::RETRY_AFTER, &seconds.to_string());
    Some(reply)
}

/// Says that there is no such set, to whoever may not see it as well.
pub(super) fn no_set() -> BrowserResponse {
    trouble(
        StatusCode::NOT_FOUND,
        "There is no such set",
        "It is not there, it was purged, or it is about pages that you do not decide about.",
        "",
    )
}

/// Says that something did not work, and what.
pub(super) fn broken(what: &str) -> BrowserResponse {
    trouble(
        StatusCode::SERVICE_UNAVAILABLE,
        "That did not work",
        what,
        "Try again in a moment.",
    )
}

#[cfg(test)]
mod tests {
    use axum::http::{StatusCode, header};

    use super::busy;
    use crate::error::{Code, Failure};
    use crate::render_budget::RenderBudgetExceeded;

    #[test]
    fn a_decision_that_found_no_room_is_told_when_to_come_again_and_no_other() {
        let reply = busy(&RenderBudgetExceeded.into()).unwrap();
        assert_eq!(reply.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(reply.headers()[header::RETRY_AFTER], "5");
        for code in [Code::RateLimited, Code::NotApplied] {
            assert!(busy(&Failure::new(code, "No.")).is_none(), "{code:?}");
        }
        let conflict = Failure::new(Code::EditConflict, "No.").detail("retryAfterSeconds", 5);
        assert!(busy(&conflict).is_none());
    }
}
