//! Parses the query that selects calls, in the words of `audit list`.

use maud::{Markup, html};

use super::super::form::FormFields;
use super::super::markup::{SiteLinks, text};
use crate::audit::{CallFilter, CallOutcome, TimeArg};
use crate::change::Operation;
use crate::gates::Gate;
use crate::page::Prefix;
use crate::words::{one_of, words_of};

/// The words of the address, in the order of the form.
const NAMES: [&str; 10] = [
    "client",
    "path",
    "outcome",
    "operation",
    "tool",
    "gate",
    "since",
    "until",
    "set",
    "page",
];

/// The calls that are listed.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// The filter.
    pub filter: CallFilter,
    /// The faults of the query, in sentences.
    pub wrong: Vec<String>,
    /// The words as they were given.
    given: Vec<(&'static str, String)>,
}

impl Selection {
    /// Reads a query; a faulty value selects nothing and is reported.
    pub(super) fn new(query: &FormFields) -> Self {
        let mut selection = Self::default();
        for name in NAMES {
            let value = query.text(name).trim();
            if value.is_empty() {
                continue;
            }
            if let Err(fault) = selection.take(name, value) {
                let quoted = text(value);
                selection.wrong.push(format!("{name} “{quoted}” {fault}"));
            }
            selection.given.push((name, value.to_owned()));
        }
        selection
    }

    fn take(&mut self, name: &str, value: &str) -> Result<(), String> {
        let filter = &mut self.filter;
        match name {
            "client" => filter.client = Some(value.to_owned()),
            "tool" => filter.tool = Some(value.to_owned()),
            "path" => filter.path = Some(Prefix::sought(value)?),
            "since" => filter.since = Some(TimeArg::parse(value)?.begin()),
            "until" => filter.until = Some(TimeArg::parse(value)?.end()),
            "outcome" => {
                filter.ending = Some(one_of(value, &CallOutcome::ALL, CallOutcome::as_str)?);
            }
            "operation" => {
                filter.operation = Some(one_of(value, &Operation::ALL, Operation::as_str)?);
            }
            "gate" => {
                one_of(value, &Gate::ALL, Gate::as_str)?;
                filter.gate = Some(value.to_owned());
            }
            "set" => {
                let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
                if value.len() > 16 || !value.chars().all(is_hex) {
                    return Err("must be a set's id, or its first characters".to_owned());
                }
                filter.set = Some(value.to_owned());
            }
            _ => {
                let page = value.parse().map_err(|_| "must be a page's id".to_owned());
                filter.page = Some(page?);
            }
        }
        Ok(())
    }

    /// The page, if it selects by a page alone: then the list is the page's history.
    pub(super) fn page(&self) -> Option<i64> {
        self.filter.page.filter(|_| self.given.len() == 1)
    }

    /// True if it leaves anything out.
    pub(super) fn is_narrow(&self) -> bool {
        !self.given.is_empty()
    }

    /// The address that goes on from a call.
    pub(super) fn older(&self, before: &str) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(self.given.iter().map(|(name, value)| (*name, value)));
        query.append_pair("before", before);
        format!("/review/record?{}", query.finish())
    }

    /// The form, which works without a script.
    pub(super) fn form(&self, links: SiteLinks) -> Markup {
        html! {
            form.filters method="get" action="/review/record" role="search" aria-label="Select calls" {
                (links.member())
                (self.words("client", "Client or person", "claude-code", ""))
                (self.words("path", "Page or section", "docs", ""))
                (self.choice("outcome", "Outcome", &words_of(&CallOutcome::ALL, CallOutcome::as_str)))
                (self.choice("operation", "Write", &words_of(&Operation::ALL, Operation::as_str)))
                (self.words("since", "From (UTC)", "7d or 2030-01-31", ""))
                (self.words("until", "To (UTC)", "2030-01-31", ""))
                details.more-filters open[self.has_more()] {
                    summary { "More" }
                    div {
                        (self.words("tool", "Tool or command", "update_page", ""))
                        (self.choice("gate", "Gate", &words_of(&Gate::ALL, Gate::as_str)))
                        (self.words("set", "Set", "4f2a…", ""))
                        (self.words("page", "Page id", "7", "numeric"))
                    }
                }
                div.act {
                    button.primary type="submit" { "Show" }
                    @if self.is_narrow() { " " a href=(links.to("/review/record")) { "Show all" } }
                }
            }
        }
    }

    fn has_more(&self) -> bool {
        let names = ["tool", "gate", "set", "page"];
        self.given.iter().any(|(name, _)| names.contains(name))
    }

    fn value(&self, name: &str) -> Option<&str> {
        let given = self.given.iter().find(|(own, _)| *own == name);
        given.map(|(_, value)| value.as_str())
    }

    fn words(&self, name: &str, label: &str, example: &str, mode: &str) -> Markup {
        let mode = (!mode.is_empty()).then_some(mode);
        html! {
            label {
                span { (label) }
                input type="text" name=(name) value=[self.value(name)] placeholder=(example)
                    inputmode=[mode] autocomplete="off" spellcheck="false" maxlength="300";
            }
        }
    }

    fn choice(&self, name: &str, label: &str, words: &[&str]) -> Markup {
        let chosen = self.value(name);
        html! {
            label {
                span { (label) }
                select name=(name) {
                    option value="" { "all" }
                    @for word in words {
                        option value=(word) selected[chosen == Some(*word)] { (word.replace('_', " ")) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::form::FormFields;
    use super::super::super::markup::SiteLinks;
    use super::Selection;
    use crate::audit::CallOutcome;

    fn selected(query: &str) -> Selection {
        Selection::new(&FormFields::of_query(Some(query)))
    }

    #[test]
    fn the_words_are_those_of_the_list() {
        let found = selected(
            "client=anna&path=docs&outcome=applied&operation=move&since=2030-01-31&page=7&set=4f2a",
        );
        assert!(found.wrong.is_empty(), "{:?}", found.wrong);
        assert_eq!(found.filter.client.as_deref(), Some("anna"));
        assert_eq!(found.filter.ending, Some(CallOutcome::Applied));
        assert_eq!((found.filter.page, found.page()), (Some(7), None));
        assert_eq!(selected("page=7&x=1").page(), Some(7));
        assert_eq!(
            found.older("0a"),
            "/review/record?client=anna&path=docs&outcome=applied&operation=move&since=2030-01-31&set=4f2a&page=7&before=0a"
        );
    }

    #[test]
    fn what_is_wrong_is_said_and_hostile_text_is_text() {
        let found = selected("outcome=%3Cb%3E&page=x&since=soon&set=zz&gate=no&operation=eat");
        assert_eq!(found.wrong.len(), 6, "{:?}", found.wrong);
        let form = found.form(SiteLinks(None)).into_string();
        assert!(!form.contains("<b>"), "{form}");
        assert!(!selected("").is_narrow());
    }
}
