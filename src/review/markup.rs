//! Renders the frame of all pages, and small pieces that several pages use.

use std::fmt::Display;

use maud::{DOCTYPE, Markup, Render, html};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::audit::{CallId, Client, Proposal};
use crate::page::{Date, escape_hidden};
use crate::site::SiteName;
pub(super) use crate::words::counted;

/// Says what came of a decision, in a sentence that names its pages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct News {
    /// True if all of it is as it was decided.
    pub is_good: bool,
    /// The sentence.
    pub text: String,
    /// The call that has it on record.
    pub record: Option<CallId>,
    /// The site that it is about, where there are several: a page of that site tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
}

/// Addresses of the review page, each at the site that the page with the link is about: other tabs of the same
/// browser may look at other sites.
#[derive(Debug, Clone, Copy)]
pub(super) struct SiteLinks<'a>(pub(super) Option<&'a SiteName>);

impl SiteLinks<'_> {
    /// An address, or the rest of the page's own from its `?`.
    pub(super) fn to(self, address: impl Display) -> String {
        let address = address.to_string();
        let Some(site) = self.0 else {
            return address;
        };
        let at = address.find('#').unwrap_or(address.len());
        let (address, place) = address.split_at(at);
        let sign = if address.contains('?') { '&' } else { '?' };
        format!("{address}{sign}site={site}{place}")
    }

    /// The page of a set.
    pub(super) fn set(self, id: impl Display) -> String {
        self.to(format_args!("/review/sets/{id}"))
    }

    /// The page of a call on record.
    pub(super) fn call(self, call: CallId) -> String {
        self.to(format_args!("/review/record/calls/{call}"))
    }

    /// The member of a form that asks by its address.
    pub(super) fn member(self) -> Markup {
        html! { @if let Some(site) = self.0 { input type="hidden" name="site" value=(site); } }
    }
}

/// The surroundings of a page: sign-in, wiki, news and navigation. That of a page for nobody has none.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// The name of whoever is signed in, and the token of their forms.
    pub signed_in: Option<(String, String)>,
    /// The name of the wiki that it is about.
    pub wiki: Option<String>,
    /// The news of the last decision.
    pub news: Option<News>,
    /// A sentence about the session, for whoever is signed in.
    pub notice: Option<String>,
    /// After how many seconds the page is loaded again.
    pub again_in: Option<u32>,
    /// True if the page is one of the record.
    pub is_record: bool,
    /// True if it is one of the bin.
    pub is_bin: bool,
    /// True if there is a bin.
    pub has_bin: bool,
    /// The site that it is about, where there are several.
    pub site: Option<SiteName>,
    /// The sites that whoever is signed in sees.
    pub sites: Vec<SiteName>,
}

impl Frame {
    /// Links that stay at the page's site.
    pub(super) fn links(&self) -> SiteLinks<'_> {
        SiteLinks(self.site.as_ref())
    }
}

/// A field of a form for one line of text.
pub(super) fn input(name: &str, label: &str, value: &str, example: &str) -> Markup {
    html! {
        label { span { (label) }
            input type="text" name=(name) value=(value) placeholder=(example)
                maxlength="255" autocomplete="off" spellcheck="false";
        }
    }
}

/// A whole page.
pub(super) fn page(title: &str, frame: &Frame, body: &Markup) -> Markup {
    let links = frame.links();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                @if let Some(seconds) = frame.again_in {
                    meta http-equiv="refresh" content=(seconds);
                }
                title { (title) " · Review" }
                link rel="icon" href="/review/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/review/assets/review.css";
                script src="/review/assets/review.js" defer {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    a.home href=(links.to("/review")) { "Review" }
                    @if let Some(wiki) = &frame.wiki { span.wiki-name { bdi { (text(wiki)) } } }
                    @if let Some((name, token)) = &frame.signed_in {
                        nav aria-label="Pages" {
                            a href=(links.to("/review")) aria-current=[(!frame.is_record && !frame.is_bin).then_some("page")] { "Queue" }
                            " "
                            a href=(links.to("/review/record")) aria-current=[frame.is_record.then_some("page")] { "Record" }
                            @if frame.has_bin {
                                " "
                                a href=(links.to("/review/bin")) aria-current=[frame.is_bin.then_some("page")] { "Bin" }
                            }
                        }
                        @if let Some(site) = &frame.site { (sites(frame, site)) }
                        span.who { (name) }
                        form method="post" action="/review/sign-out" {
                            input type="hidden" name="form_token" value=(token);
                            button.link type="submit" { "Sign out" }
                        }
                    }
                }
                @if let Some(News { is_good, text: told, record, .. }) = &frame.news {
                    p.news.good[*is_good].bad[!*is_good] role="status" {
                        (text(told))
                        @if let Some(call) = record {
                            " " a href=(links.call(*call)) { "Its record" }
                        }
                    }
                }
                @if let Some(notice) = &frame.notice { p.news.bad role="status" { (notice) } }
                (body)
            }
        }
    }
}

/// Links to the other wikis, and the one that the page is about.
fn sites(frame: &Frame, own: &SiteName) -> Markup {
    let place = if frame.is_record {
        "/review/record"
    } else {
        "/review"
    };
    html! {
        nav.sites aria-label="Wikis" {
            @for site in &frame.sites {
                a href=(SiteLinks(Some(site)).to(place)) aria-current=[(site == own).then_some("true")] { (site) }
                " "
            }
        }
    }
}

/// A page that says what is wrong and what to do.
pub(super) fn trouble(title: &str, frame: &Frame, what: &str, then: &str) -> Markup {
    let body = html! {
        main #main.narrow {
            h1 { (title) }
            p { (what) }
            @if !then.is_empty() { p { (then) } }
            p { a href=(frame.links().to("/review")) { "To the queue" } }
        }
    };
    page(title, frame, &body)
}

/// A time, for people, in how long ago it was; programs and tooltips have it whole.
pub(super) fn when(date: &Date) -> Markup {
    let ago = date.instant().map(|at| OffsetDateTime::now_utc() - at);
    html! {
        time datetime=(date.as_str()) title=(date.as_str()) {
            @match ago {
                Some(ago) => (in_words(ago)),
                None => (date.as_str()),
            }
        }
    }
}

fn in_words(ago: time::Duration) -> String {
    let counted = |count: i64, unit: &str| {
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} {unit}{plural} ago")
    };
    match ago.whole_seconds() {
        ..60 => "just now".to_owned(),
        60..3_600 => counted(ago.whole_minutes(), "minute"),
        3_600..86_400 => counted(ago.whole_hours(), "hour"),
        _ => counted(ago.whole_days(), "day"),
    }
}

/// Names the proposer: the person who did it by a command of their own, or the client.
pub(super) fn asker(proposal: &Proposal) -> Markup {
    match &proposal.actor {
        Some(actor) => html! { strong { (text(actor.as_str())) } },
        None => client(&proposal.client),
    }
}

/// The client that proposed: the operator's name for it, else its name for itself.
pub(super) fn client(client: &Client) -> Markup {
    let own = text(&client.name);
    let is_named = !own.trim().is_empty();
    html! {
        @match &client.subject {
            Some(subject) => {
                strong { (text(subject)) }
                @if is_named { span.quiet { " (" (own) ")" } }
                @if client.parent.is_some() {
                    @let maker = subject.split('/').next().unwrap_or_default();
                    span.quiet { ", a delegate of " (text(maker)) }
                }
            },
            None if is_named => span title="the name that the client gave itself" { (own) },
            None => span { "an unnamed client" },
        }
    }
}

/// A text of others in one line: what would not be seen, or would turn the line round, is shown
/// escaped.
pub(super) fn text(text: &str) -> String {
    escape_hidden(text)
}

/// Counts the pages beside those that are named; nothing if there are none.
pub(super) fn more_pages(more: usize) -> Markup {
    html! { @if more > 0 { " and " (counted(more, "more page", "more pages")) } }
}

/// The lines added and removed.
pub(super) fn lines<T: Render + Default + PartialOrd + Copy>(added: T, removed: T) -> Markup {
    let none = T::default();
    html! {
        @if added > none { ins title="lines added" { "+" (added) } " " }
        @if removed > none { del title="lines removed" { "−" (removed) } }
    }
}

#[cfg(test)]
mod tests {
    use super::{client, in_words};
    use crate::audit::Client;

    #[test]
    fn only_a_client_without_any_name_is_unnamed() {
        let shown = |subject: Option<&str>, name: &str| {
            let shown = client(&Client {
                name: name.to_owned(),
                subject: subject.map(str::to_owned),
                ..Client::default()
            });
            shown.into_string().contains("unnamed")
        };
        assert!(shown(None, " "));
        assert!(!shown(Some("ci"), ""));
        assert!(!shown(None, "agent"));
    }

    #[test]
    fn times_are_told_in_the_largest_unit() {
        for (seconds, words) in [
            (-5, "just now"),
            (59, "just now"),
            (60, "1 minute ago"),
            (7_199, "1 hour ago"),
            (7_200, "2 hours ago"),
            (200_000, "2 days ago"),
        ] {
            assert_eq!(in_words(time::Duration::seconds(seconds)), words);
        }
    }
}
