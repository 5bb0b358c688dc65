//! Serves the bin: pages that somebody deleted, and parts of the wiki as they were. A restore that is
//! asked for here becomes an open set, on which people decide as on any other.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use axum::routing::get;
use maud::{Markup, html};
use serde_json::Value;

use super::form::FormFields;
use super::markup::{self, Frame, input, text, when};
use super::queue::place;
use super::reply::{BrowserResponse, BrowserResult, nothing_here, page, see_other, trouble};
use super::visitor::{Reviews, SentForm, Visitor, busy, failed};
use super::{Reviewer, fields};
use crate::audit::{AuditResult, TimeArg};
use crate::error::{Code, Failure, Result, sentence};
use crate::mirror::{BinList, BinPage, Mirror, MirrorTime, PartThen};
use crate::page::{Date, Field, NewPath, PageState, Prefix, ReadScope};
use crate::write::{Caller, PageRestore, RestorePart, WriteRequest};

/// Number of pages that are listed at once.
const AT_ONCE: usize = 50;
/// The most bytes of a text that are shown.
const MOST_BYTES: usize = 256 * 1024;

/// The routes of the bin.
pub(super) fn routes() -> Router<Arc<Reviews>> {
    Router::new()
        .route("/review/bin", get(list).post(restore_part))
        .route("/review/bin/{id}", get(show).post(restore))
}

async fn list(State(reviews): State<Arc<Reviews>>, visitor: Visitor, uri: Uri) -> BrowserResult {
    let query = FormFields::of_query(uri.query());
    let mirror = mirror(&visitor.reviewer)?;
    let narrowed = || {
        let prefix = asked(&query, "path").map(Prefix::sought).transpose()?;
        let since = asked(&query, "since").map(TimeArg::parse).transpose()?;
        Ok::<_, String>((prefix, since))
    };
    let (mut bin, mut incomplete, mut wrong) = (Vec::new(), Vec::new(), None);
    match narrowed() {
        Ok((prefix, since)) => {
            let list = self::bin(&reviews, &visitor.reviewer, prefix).await?;
            (incomplete, bin) = (list.incomplete(), list.pages);
            let by = asked(&query, "by");
            bin.retain(|one| {
                let is_since = since.is_none_or(|since| one.gone.missed.instant() >= since.begin());
                is_since && by.is_none_or(|by| one.page.author() == Some(by))
            });
        }
        Err(fault) => wrong = Some(fault),
    }
    let from = query.number("from").unwrap_or_default();
    let next = from.saturating_add(AT_ONCE);
    let next = (bin.len() > next).then_some(next);
    let mut pages: Vec<BinPage> = bin.into_iter().skip(from).take(AT_ONCE).collect();
    BinPage::count_links(&mut pages, &visitor.reviewer.bench.wiki).await;
    let looked = mirror
        .last_looked()
        .await
        .map_err(|error| failed(error.into()))?;
    let frame = frame(&reviews, &visitor).await;
    let body = html! {
        main #main {
            h1 { "Bin" }
            p.quiet {
                "Pages that somebody deleted, as they were seen last. "
                @if let Some(looked) = looked { "The wiki was looked at " (at(looked)) "." }
            }
            (filter_form(&query, &frame))
            @if let Some(wrong) = wrong { p.news.bad role="alert" { "The path or the time " (text(&wrong)) "." } }
            @for reason in &incomplete { p.news.bad role="alert" { (text(&sentence(reason))) } }
            @if !pages.is_empty() { (rows(&pages, &frame)) } @else if incomplete.is_empty() { p.empty { "No such page is in the bin." } }
            @if let Some(next) = next { p.more { button type="submit" form="filter" name="from" value=(next) { "Show older ones" } } }
            @if visitor.reviewer.may_decide { (part_form(&query, &visitor.session.form_token, &frame)) }
        }
    };
    Ok(page(StatusCode::OK, markup::page("Bin", &frame, &body)))
}

async fn show(
    State(reviews): State<Arc<Reviews>>,
    Path(id): Path<String>,
    visitor: Visitor,
) -> BrowserResult {
    let (one, restore) = found(&reviews, &visitor, &id, None).await?;
    let state = &restore.state;
    let frame = frame(&reviews, &visitor).await;
    let unseen: Vec<&str> = state.unknown.iter().map(|field| field.name()).collect();
    let body = html! {
        main #main.set {
            p.back { a href=(frame.links().to("/review/bin")) { "← Bin" } }
            h1 { (place_of(&one)) }
            p.quiet { "Page " (one.page.id) ", last seen " (at(one.gone.last_seen)) ", last changed by " (author(&one)) "." }
            @if !unseen.is_empty() { p.warning { "Not seen: " (unseen.join(", ")) "." } }
            @if !restore.seen.as_of.is_empty() { p.warning { "As seen before: " (restore.seen.seen_before()) "." } }
            @if visitor.reviewer.may_decide {
                form.search method="post" action=(address(&one, &frame)) data-once="" {
                    input type="hidden" name="form_token" value=(visitor.session.form_token);
                    (input("to", "Bring back to (its old place if empty)", "", "docs/other-place"))
                    div.act { button #restore type="submit" { "Restore" } }
                }
            }
            section.change { (fields_of(state)) }
        }
    };
    Ok(page(StatusCode::OK, markup::page("Bin", &frame, &body)))
}

async fn restore(
    State(reviews): State<Arc<Reviews>>,
    Path(id): Path<String>,
    SentForm { visitor, form }: SentForm,
) -> BrowserResult {
    decides(&visitor)?;
    let (_, restore) = found(&reviews, &visitor, &id, asked(&form, "to")).await?;
    propose(&reviews, &visitor, WriteRequest::Restore(Box::new(restore))).await
}

async fn restore_part(
    State(reviews): State<Arc<Reviews>>,
    SentForm { visitor, form }: SentForm,
) -> BrowserResult {
    let mirror = Arc::clone(mirror(&visitor.reviewer)?);
    let reviewer = decides(&visitor)?;
    let prefix = Prefix::parse(form.text("path")).map_err(|fault| not_so("The path", &fault))?;
    let at = TimeArg::parse(form.text("at").trim()).map_err(|fault| not_so("The time", &fault))?;
    let own = reviewer.prefixes.as_ref();
    if own.is_some_and(|own| !own.iter().any(|own| own.covers(&prefix))) {
        return Err(not_so("The path", "lies outside of your prefixes"));
    }
    let (at, by) = (at.begin(), asked(&form, "by").map(str::to_owned));
    let part = PartThen { prefix, at, by };
    let (scope, key) = told_to(reviewer);
    let wiki = Arc::clone(&reviewer.bench.wiki);
    let since = async move {
        if let Err(error) = Box::pin(mirror.look_back(&wiki, &part)).await {
            tracing::warn!(%error, "mirror: the history of the pages was not read to its end");
        }
        mirror.since(part, &scope, key.as_deref()).await
    };
    let (mut pages, more) = read(&reviews, since).await?;
    pages.retain(|page| {
        let mut states = page.states();
        states.all(|state| reviewer.decides_about(&state.locale, &state.path))
    });
    if pages.is_empty() {
        return Err(not_so("That part", "is as it was seen then"));
    }
    let pages = pages.into();
    let request = WriteRequest::RestorePart(RestorePart { pages, more });
    propose(&reviews, &visitor, request).await
}

/// Leaves a restore to people, and redirects to the set. Goes on if the browser hangs up.
async fn propose(reviews: &Reviews, visitor: &Visitor, request: WriteRequest) -> BrowserResult {
    let reviewer = &visitor.reviewer;
    let caller = Caller {
        proposes: true,
        ..reviewer.caller.clone()
    };
    let writer = Arc::clone(&reviewer.bench.writer);
    let left = to_its_end(async move { Box::pin(writer.write(caller, request, None)).await });
    let frame = frame(reviews, visitor).await;
    let what = match left.await {
        Ok(mut answer) => match answer.left_to_people() {
            Some((set, _)) => {
                return Ok(see_other(&frame.links().set(set)));
            }
            None => "It is as it was.".to_owned(),
        },
        Err(failure) => busy(&failure).map_or_else(|| Ok(text(&failure.to_string())), Err)?,
    };
    let markup = markup::trouble("It cannot be brought back", &frame, &what, "");
    Err(page(StatusCode::CONFLICT, markup))
}

/// The pages of the bin that a reviewer decides about.
async fn bin(
    reviews: &Reviews,
    reviewer: &Reviewer,
    part: Option<Prefix>,
) -> Result<BinList, BrowserResponse> {
    let mirror = Arc::clone(mirror(reviewer)?);
    let (scope, key) = told_to(reviewer);
    let bin = async move { mirror.bin(&scope, key.as_deref(), part.as_ref()).await };
    let mut bin = read(reviews, bin).await?;
    bin.pages
        .retain(|one| reviewer.decides_about(&one.page.place.locale, &one.page.place.path));
    Ok(bin)
}

/// The scope of what a reviewer is told, and the digest of the key whose looks count; an operator is told
/// what all keys saw, as by the command.
fn told_to(reviewer: &Reviewer) -> (ReadScope, Option<String>) {
    let wiki = &reviewer.bench.wiki;
    let key = wiki.key().digest_on_record().to_string();
    let is_client = reviewer.caller.client.id.is_some();
    (wiki.scope().clone(), is_client.then_some(key))
}

/// Reads all of a mirror in one of a few places for readers.
async fn read<T: Send + 'static>(
    reviews: &Reviews,
    reading: impl Future<Output = AuditResult<T>> + Send + 'static,
) -> Result<T, BrowserResponse> {
    let place = reviews.readers.place().await.map_err(failed)?;
    let read = to_its_end(async move {
        let read = reading.await;
        drop(place);
        Ok(read?)
    });
    read.await.map_err(failed)
}

/// Works to the end, also if the browser hangs up.
async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let broke_off = |_| Err(Failure::new(Code::InternalError, "It broke off."));
    tokio::spawn(work).await.unwrap_or_else(broke_off)
}

/// The name of a page of the bin in addresses. The id alone is not enough: a page that was deleted earlier may
/// have had the same one.
fn name(one: &BinPage) -> String {
    format!("{}-{}", one.page.id, i64::from(one.gone.missed))
}

fn address(one: &BinPage, frame: &Frame) -> String {
    frame.links().to(format_args!("/review/bin/{}", name(one)))
}

/// A page of the bin, and its restore to a place.
async fn found(
    reviews: &Reviews,
    visitor: &Visitor,
    id: &str,
    to: Option<&str>,
) -> Result<(BinPage, PageRestore), BrowserResponse> {
    let mirror = mirror(&visitor.reviewer)?;
    let bin = bin(reviews, &visitor.reviewer, None).await?;
    let damaged = bin.damaged.into_iter().next();
    let one = { bin.pages.into_iter() }
        .find(|one| name(one) == id || one.page.id.to_string() == id)
        .ok_or_else(|| damaged.map_or_else(nothing, |fault| failed(fault.into())))?;
    let to = to.map(NewPath::parse).transpose();
    let to = to.map_err(|fault| not_so("The new place", &fault))?;
    let restore = PageRestore::of(mirror, &one, to).await.map_err(failed)?;
    Ok((one, restore))
}

fn mirror(reviewer: &Reviewer) -> Result<&Arc<Mirror>, BrowserResponse> {
    reviewer.bench.mirror.as_ref().ok_or_else(nothing)
}

fn decides(visitor: &Visitor) -> Result<&Reviewer, BrowserResponse> {
    let says = "An auditor looks and brings nothing back.";
    let looks = || trouble(StatusCode::FORBIDDEN, "You do not decide here", says, "");
    let reviewer = &visitor.reviewer;
    reviewer.may_decide.then_some(reviewer).ok_or_else(looks)
}

fn nothing() -> BrowserResponse {
    nothing_here("The bin has no such page, or there is no bin here.")
}

fn not_so(what: &str, fault: &str) -> BrowserResponse {
    let (status, told) = (StatusCode::UNPROCESSABLE_ENTITY, format!("{what} {fault}."));
    trouble(status, "Not so", &text(&told), "Nothing was proposed.")
}

async fn frame(reviews: &Reviews, visitor: &Visitor) -> Frame {
    Frame {
        is_bin: true,
        ..reviews.frame(visitor).await
    }
}

fn asked<'a>(form: &'a FormFields, name: &'a str) -> Option<&'a str> {
    Some(form.text(name).trim()).filter(|text| !text.is_empty())
}

fn filter_form(query: &FormFields, frame: &Frame) -> Markup {
    html! {
        form.search #filter method="get" action="/review/bin" role="search" {
            (frame.links().member())
            (input("path", "Below", query.text("path"), "docs or de:docs"))
            (input("by", "Last changed by", query.text("by"), "name"))
            (input("since", "Missed since", query.text("since"), "7d or 2030-01-31"))
            div.act {
                button type="submit" { "Filter" }
                a href=(frame.links().to("/review/bin")) { "Show all" }
            }
        }
    }
}

fn rows(pages: &[BinPage], frame: &Frame) -> Markup {
    html! {
        table.fields.bin {
            tr { @for head in ["Page", "Title", "Last seen", "Last changed by", "Links"] { th scope="col" { (head) } } }
            @for one in pages {
                tr {
                    td {
                        a href=(address(one, frame)) { (place_of(one)) }
                        @if one.gone.is_hidden { span.quiet { " (hidden before)" } }
                        @if one.taken_by.is_some() { span.quiet { " (another page is there now)" } }
                    }
                    td data-head="Title" { (text(&one.page.title)) }
                    td data-head="Last seen" { (at(one.gone.last_seen)) }
                    td data-head="Last changed by" { (author(one)) }
                    td data-head="Links" { (one.links()) }
                }
            }
        }
    }
}

fn part_form(query: &FormFields, token: &str, frame: &Frame) -> Markup {
    html! {
        h2 { "A part of the wiki as it was" }
        p.quiet { "What was changed, deleted, moved or made there since becomes one set, which people decide on." }
        form.search method="post" action=(frame.links().to("/review/bin")) data-once="" {
            input type="hidden" name="form_token" value=(token);
            (input("path", "Below", query.text("path"), "docs"))
            (input("at", "As it was at (UTC)", query.text("at"), "3h or 2030-01-31 09:00"))
            (input("by", "Only what was changed by", query.text("by"), "anybody"))
            div.act { button type="submit" { "Propose" } }
        }
    }
}

/// The fields of a state that were seen, long texts as far as there is room for them.
fn fields_of(state: &PageState) -> Markup {
    let known = Field::ALL.into_iter().filter(|field| state.knows(*field));
    let (texts, values): (Vec<_>, Vec<_>) = known.partition(|field| state.text(*field).is_some());
    let values: Vec<(&str, Value)> = { values.into_iter() }
        .map(|field| (field.name(), state.value(field)))
        .collect();
    html! {
        (fields::table(values.iter().map(|(name, value)| (*name, None, Some(value)))))
        @for (field, words) in texts.iter().filter_map(|field| Some((field, state.text(*field)?))) {
            @let (shown, rest) = words.split_at(words.floor_char_boundary(MOST_BYTES));
            div.text {
                h4 { (field.name()) }
                pre.seen { @for line in shown.lines() { (text(line)) "\n" } }
                @if !rest.is_empty() { p.quiet { "… and " (rest.len()) " bytes more" } }
            }
        }
    }
}

fn author(one: &BinPage) -> String {
    text(one.page.author().unwrap_or("?"))
}

fn place_of(one: &BinPage) -> String {
    place(&one.page.place.locale, &one.page.place.path)
}

fn at(time: MirrorTime) -> Markup {
    when(&Date::from(time.to_string()))
}
