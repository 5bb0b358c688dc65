//! Takes a person's decision on a set from its page.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;

use super::browser_state::BrowserState;
use super::decision::{self, Came, ReviewDecision, ReviewedSet};
use super::deletion;
use super::form::FormFields;
use super::markup::{self, News};
use super::part;
use super::reply::{BrowserResponse, BrowserResult, page, see_other, trouble};
use super::set_page::{TURN, names_links};
use super::set_view::{ReviewerInput, SetView, made, with_left_out};
use super::visitor::{Reviews, SentForm, Visitor, busy, failed};
use crate::audit::{Proposal, ProposalId};
use crate::error::Code;
use crate::gates::LinkLeft;
use crate::render_budget;
use crate::site::SiteName;
use crate::words::separated;
use crate::write::Apply;

/// For how long a browser waits for what becomes of a set of many changes, before it is shown how
/// far that is.
const PATIENCE: Duration = Duration::from_secs(2);
/// The member of an address to which a decision led.
pub(super) const DECIDED: &str = "decided";

/// `POST /review/sets/{id}`
pub(super) async fn decide(
    State(reviews): State<Arc<Reviews>>,
    Path(id): Path<String>,
    SentForm { visitor, form }: SentForm,
) -> BrowserResult {
    let seen = reviews.found(&visitor, &id).await?;
    if let Some(view) = turned(&visitor, seen.review.proposal.id, &form) {
        return Ok(see_other(&view));
    }
    let left_out: HashSet<usize> = form.numbers("leave_out").into_iter().collect();
    let sent = SentDecision {
        reviews: &reviews,
        visitor: &visitor,
        seen: &seen,
        form: &form,
        left_out: &left_out,
    };
    let decision = match sent.asked_about_links(sent.wanted()).await? {
        Ok(decision) => decision,
        Err(stop) => return Ok(sent.reply(&stop).await),
    };
    let proposal = let_go(seen);
    let Some(failure) = carry_out(&reviews, &visitor, &proposal, decision).await? else {
        return Ok(see_other(&decided(&visitor, proposal.id)));
    };
    let seen = reviews.found(&visitor, &id).await?;
    let given = ReviewerInput {
        wrong: Some(&failure),
        ..ReviewerInput::new(&left_out)
    };
    let markup = reviews.set(&visitor, &seen, 0, given).await;
    Ok(page(StatusCode::CONFLICT, markup))
}

/// The other view of a set to which its form only turns, with what is left out.
fn turned(visitor: &Visitor, id: ProposalId, form: &FormFields) -> Option<String> {
    let view = form.text(TURN);
    let is_of_set = view.starts_with('?') || view.starts_with("/new/");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '?' | '=' | '#' | '-' | '/');
    (is_of_set && view.chars().all(is_plain)).then(|| {
        let view = with_left_out(view, &form.numbers("leave_out"));
        visitor.reviewer.links().set(format_args!("{id}{view}"))
    })
}

/// The reason why a form decides nothing.
enum Undecided {
    /// The person may not decide.
    Looks,
    /// A sentence over the set, which is shown again.
    Says(StatusCode, String),
    /// The same of a reason: the focus stays in it.
    Reason(&'static str),
    /// It deletes something, which is asked for once more.
    Deletes,
    /// These links lead nowhere for what is left out, which is said first.
    Links(Vec<LinkLeft>),
}

/// A decision on a set as its form was sent.
struct SentDecision<'a> {
    reviews: &'a Reviews,
    visitor: &'a Visitor,
    seen: &'a ReviewedSet,
    form: &'a FormFields,
    left_out: &'a HashSet<usize>,
}

impl SentDecision<'_> {
    /// The page that says why it decides nothing.
    async fn reply(&self, stop: &Undecided) -> BrowserResponse {
        let reviews = self.reviews;
        let told;
        let (status, wrong, reason) = match stop {
            Undecided::Looks => {
                let says = "An auditor looks and decides nothing.";
                return trouble(StatusCode::FORBIDDEN, "You do not decide here", says, "");
            }
            Undecided::Deletes => {
                let session = &self.visitor.session;
                let frame = reviews.frame(self.visitor).await;
                let markup = deletion::page(session, self.seen, self.left_out, self.form, &frame);
                return page(StatusCode::OK, markup);
            }
            Undecided::Says(status, wrong) => (*status, wrong.as_str(), None),
            Undecided::Links(links) => {
                told = format!(
                    "Without what you leave out, {} will lead nowhere: see below. Apply again to accept that, or leave out something else.",
                    markup::counted(links.len(), "link", "links")
                );
                (StatusCode::OK, told.as_str(), None)
            }
            Undecided::Reason(wrong) => (
                StatusCode::UNPROCESSABLE_ENTITY,
                *wrong,
                Some(self.form.text("reason")),
            ),
        };
        let given = ReviewerInput {
            wrong: Some(wrong),
            reason,
            links: match stop {
                Undecided::Links(links) => links,
                _ => &[],
            },
            ..ReviewerInput::new(self.left_out)
        };
        let markup = reviews.set(self.visitor, self.seen, 0, given);
        page(status, markup.await)
    }

    /// The decision that a form makes.
    fn wanted(&self) -> Result<ReviewDecision, Undecided> {
        let (review, form) = (&self.seen.review, self.form);
        let reviewer = &self.visitor.reviewer;
        let says = |status, what: &str| Err(Undecided::Says(status, what.to_owned()));
        if !reviewer.may_decide {
            return Err(Undecided::Looks);
        }
        if !review.proposal.is_open() {
            let what = "It was decided meanwhile; what was decided stands below.";
            return says(StatusCode::CONFLICT, what);
        }
        if self.reviews.is_being_decided(review) {
            let what = "It is being decided already; this form decides nothing.";
            return says(StatusCode::CONFLICT, what);
        }
        if let Some(what) = decision::own_family(reviewer, &review.proposal) {
            return says(StatusCode::FORBIDDEN, what);
        }
        if form.text("digest") != review.digest {
            let what = "It is not what you were shown any more. Look at it again.";
            return says(StatusCode::CONFLICT, what);
        }
        match form.text("decision") {
            "reject" => {
                let reason = decision::reason(form.text("reason")).map_err(Undecided::Reason)?;
                let made = made(review);
                let keeps_made = !made.is_empty() && form.text("made") == made;
                Ok(ReviewDecision::Reject { reason, keeps_made })
            }
            "apply" if !reviewer.may_apply => says(
                StatusCode::FORBIDDEN,
                "The server is in a dry run: you can reject this, and not apply it.",
            ),
            "apply" => self.applying(),
            _ => says(StatusCode::UNPROCESSABLE_ENTITY, "Choose Apply or Reject."),
        }
    }

    /// Stops a decision whose left out changes leave links that lead nowhere, unless its form comes from
    /// the page that named them. So do deletions, which are asked for after that.
    async fn asked_about_links(
        &self,
        wanted: Result<ReviewDecision, Undecided>,
    ) -> Result<Result<ReviewDecision, Undecided>, BrowserResponse> {
        let leave_out = match &wanted {
            Ok(ReviewDecision::Apply(apply)) => apply.leave_out.clone(),
            Err(Undecided::Deletes) => self.form.numbers("leave_out"),
            _ => return Ok(wanted),
        };
        if leave_out.is_empty() {
            return Ok(wanted);
        }
        let (desk, review) = (&self.visitor.reviewer.bench.desk, &self.seen.review);
        let links = desk.links_left_without(&review.proposal, &leave_out);
        let are_named =
            |links: &[LinkLeft]| names_links(&self.visitor.session, review, links, self.form);
        Ok(match links.await {
            Ok(links) if links.is_empty() || are_named(&links) => wanted,
            Ok(links) => Err(Undecided::Links(links)),
            // The decision itself says what is wrong with it.
            Err(failure) if failure.code == Code::InvalidInput => wanted,
            Err(failure) => return Err(failed(failure)),
        })
    }

    /// Decides to apply a set, if all its changes were shown and its deletions were confirmed.
    fn applying(&self) -> Result<ReviewDecision, Undecided> {
        let (seen, form, left_out) = (self.seen, self.form, self.left_out);
        let (review, session) = (&seen.review, &self.visitor.session);
        let wrong = |what| Err(Undecided::Says(StatusCode::UNPROCESSABLE_ENTITY, what));
        let sheet = SetView::new(review);
        let state = &session.kept.state;
        let shown = state.seen(review.proposal.id, &review.digest);
        let unseen = part::unseen(&sheet.parts, &shown);
        let is_counted = form.number("unseen") == Some(unseen.lines);
        if unseen.first.is_some() && unseen.lines > 0 && !is_counted {
            return wrong(format!(
                "{} changed lines were not shown yet: look at them, or type their number.",
                unseen.lines
            ));
        }
        let mut wanted: Vec<usize> = left_out.iter().copied().collect();
        wanted.sort_unstable();
        let all = review.left_out_with(&wanted);
        let more = all.iter().filter(|number| !left_out.contains(number));
        let more = separated(more.map(|number| number + 1), ", ");
        if !more.is_empty() {
            return wrong(format!(
                "What is left out takes more with it, which depends on it: {more}. Leave that out, too."
            ));
        }
        let deletes = !deletion::deletions(seen, left_out).is_empty();
        if deletes && !deletion::is_confirmed(session, seen, left_out, form) {
            return Err(Undecided::Deletes);
        }
        Ok(ReviewDecision::Apply(Apply {
            id: review.proposal.id,
            merge: form.text("merge") == "yes",
            leave_out: all,
            expects: Some(review.digest.clone()),
        }))
    }
}

/// The page of a set that was decided.
pub(super) fn decided(visitor: &Visitor, id: ProposalId) -> String {
    let links = visitor.reviewer.links();
    links.set(format_args!("{id}?{DECIDED}=1"))
}

/// Frees what was shown, which is not needed while a decision is carried out: that may take long.
pub(super) fn let_go(seen: ReviewedSet) -> Proposal {
    let proposal = seen.review.proposal.clone();
    drop(seen);
    render_budget::give_back();
    proposal
}

/// Carries a decision out; gives why it failed, or nothing: the page of the set then says what came
/// of it. After a while it stops waiting for the end: that page says how far it is, and the news
/// come with a later page.
///
/// # Errors
/// The response that says when it may be tried again.
pub(super) async fn carry_out(
    reviews: &Arc<Reviews>,
    visitor: &Visitor,
    proposal: &Proposal,
    decision: ReviewDecision,
) -> Result<Option<String>, BrowserResponse> {
    let mut work = decision::begin(&visitor.reviewer, proposal, decision, &reviews.under_way);
    let site = visitor.reviewer.site.as_ref().map(SiteName::to_string);
    let of = (visitor.session.name.clone(), site);
    let came = if proposal.others.is_empty() {
        decision::ended(work.await)
    } else if let Ok(ended) = tokio::time::timeout(PATIENCE, &mut work).await {
        decision::ended(ended)
    } else {
        let (reviews, of) = (Arc::clone(reviews), of.clone());
        tokio::spawn(async move { tell(&reviews, &of, decision::ended(work.await)).await });
        return Ok(None);
    };
    match came {
        Err(failure) => busy(&failure).map_or_else(|| Ok(Some(failure.to_string())), Err),
        came => {
            tell(reviews, &of, came).await;
            Ok(None)
        }
    }
}

/// Keeps what came of a decision for the session's next page of its site.
async fn tell(reviews: &Reviews, (session, site): &(String, Option<String>), came: Came) {
    let news = came.unwrap_or_else(|failure| {
        let text = failure.to_string();
        Some(News {
            text,
            ..News::default()
        })
    });
    if let Some(news) = news {
        let site = site.clone();
        let keep = |state: &mut BrowserState| state.news = Some(News { site, ..news });
        reviews.sessions.change(session, keep).await;
    }
}
