//! Narrows the queue by words, by who asked, by path and by risk, as its address says.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::form::FormFields;
use super::markup::{SiteLinks, input, text};
use crate::audit::Proposal;
use crate::change::Risk;
use crate::page::Prefix;

/// Selects sets of the queue; all of them if nothing is named.
#[derive(Debug, Default)]
pub(super) struct QueueFilter {
    words: String,
    client: String,
    path: String,
    below: Option<Prefix>,
    risk: Option<Risk>,
    /// Says which part of the address means nothing.
    wrong: Option<&'static str>,
}

impl QueueFilter {
    /// That of an address.
    pub(super) fn new(query: &FormFields) -> Self {
        let path = query.text("path").trim().to_owned();
        let below = (!path.is_empty()).then(|| Prefix::sought(&path));
        let risk = Some(query.text("risk")).filter(|risk| !risk.is_empty());
        let wrong = match (&below, risk.map(Risk::named)) {
            (Some(Err(_)), _) => Some("This is no path below which pages lie."),
            (_, Some(None)) => Some("There is no such risk."),
            _ => None,
        };
        Self {
            words: query.text("words").trim().to_owned(),
            client: query.text("client").to_owned(),
            path,
            below: below.and_then(Result::ok),
            risk: risk.and_then(Risk::named),
            wrong,
        }
    }

    /// True if it leaves anything out.
    pub(super) fn is_narrow(&self) -> bool {
        let texts = [&self.words, &self.client, &self.path];
        texts.iter().any(|text| !text.is_empty()) || self.risk.is_some() || self.wrong.is_some()
    }

    /// Tells whether a set is selected.
    pub(super) fn takes(&self, one: &Proposal) -> bool {
        self.wrong.is_none()
            && (self.client.is_empty() || one.client.shown() == self.client)
            && self.risk.is_none_or(|risk| one.risks().contains(&risk))
            && self.below.as_ref().is_none_or(|below| is_below(one, below))
            && self.says_all_words(one)
    }

    fn says_all_words(&self, one: &Proposal) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let told = words_of(one);
        let words = self.words.to_lowercase();
        words.split_whitespace().all(|word| told.contains(word))
    }

    /// The form that narrows, with how many of these sets have each client and risk.
    pub(super) fn form(&self, all: &[Proposal], links: SiteLinks) -> Markup {
        // A client without a name cannot be asked for by it.
        let named = all.iter().map(|one| one.client.shown());
        let clients = counted_each(named.filter(|name| !name.is_empty()).map(str::to_owned));
        let risks = counted_each(all.iter().flat_map(Proposal::risks));
        html! {
            form.search method="get" action="/review" role="search" {
                (links.member())
                (input("words", "Search", &self.words, "page, title, note"))
                label { span { "Agent" }
                    select name="client" {
                        option value="" { "all" }
                        @for (client, count) in &clients {
                            option value=(client) selected[*client == self.client] { (text(client)) " (" (count) ")" }
                        }
                        @if !self.client.is_empty() && !clients.contains_key(&self.client) {
                            option value=(self.client) selected { (text(&self.client)) " (0)" }
                        }
                    }
                }
                (input("path", "Below", &self.path, "docs or de:docs"))
                label { span { "Risk" }
                    select name="risk" {
                        option value="" { "all" }
                        @for risk in Risk::ALL {
                            @let count = risks.get(&risk).copied().unwrap_or_default();
                            option value=(risk.as_str()) selected[self.risk == Some(risk)] { (label(risk)) " (" (count) ")" }
                        }
                    }
                }
                div.act {
                    button type="submit" { "Filter" }
                    @if self.is_narrow() { a href=(links.to("/review")) { "Show all" } }
                }
            }
            @if let Some(wrong) = self.wrong { p.news.bad role="alert" { (wrong) } }
        }
    }
}

/// The words for a risk.
pub(super) fn label(risk: Risk) -> String {
    risk.as_str().replace('-', " ")
}

/// Each value once, in order, with how often it is there.
pub(super) fn counted_each<T: Ord>(all: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for one in all {
        *counts.entry(one).or_insert(0) += 1;
    }
    counts
}

fn is_below(one: &Proposal, below: &Prefix) -> bool {
    one.changes().any(|change| {
        let new = change.new_path.iter();
        { std::iter::once(&change.path).chain(new) }.any(|path| below.holds(&change.locale, path))
    })
}

/// All that can be searched of a set, in lower case.
fn words_of(one: &Proposal) -> String {
    let mut told = format!("{} {}", one.id, one.client.names().join(" "));
    if let Some(note) = &one.note {
        told.push(' ');
        told.push_str(note.as_str());
    }
    for change in one.changes() {
        let new = change
            .new_path
            .as_ref()
            .map_or("", crate::page::PagePath::as_str);
        let place = format!(" {}/{} {new} ", change.locale, change.path);
        told.push_str(&place);
        told.push_str(&change.title);
    }
    told.to_lowercase()
}
