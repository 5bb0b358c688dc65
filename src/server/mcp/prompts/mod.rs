//! Prompts that a user may ask for by name. Each is in `texts.rs`, and has one line in the list below.
//!
//! A prompt is offered if all tools that it names are; a writing one also needs that writes are
//! possible.

mod texts;

use std::collections::BTreeMap;

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, JsonObject, ListPromptsResult, PromptArgument,
    PromptMessage, Role,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use time::Duration;

use super::caller::CallerContext;
use super::elicit::can_ask;
use super::result;
use super::session_rules::{SessionRules, Writes};
use crate::audit::ProposalId;
use crate::page::{Date, Reference as PageReference, escape_hidden};
use crate::tools::SessionTools;
use crate::wiki::Wiki;
use crate::words::separated;

/// Every prompt, in the order in which they are listed.
const PROMPTS: &[Prompt] = &[
    texts::WHAT_CHANGED,
    texts::MEND_BROKEN_LINKS,
    texts::WRITE_PAGE_LIKE,
    texts::REVIEW_PROPOSAL,
];

/// The most characters of an argument.
const MOST_CHARS: usize = 2_000;

/// A prompt.
struct Prompt {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    arguments: &'static [PromptParameter],
    /// The tools that its text names.
    tools: &'static [&'static str],
    text: fn(&PromptArguments) -> String,
}

/// An argument of a prompt.
struct PromptParameter {
    name: &'static str,
    description: &'static str,
    kind: PromptArgumentKind,
    is_required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PromptArgumentKind {
    /// A path of pages, with its locale if it is not the configured one.
    Path,
    /// A time in ISO 8601.
    Time,
    /// The id of a proposal.
    Proposal,
    /// Any text.
    Text,
}

/// The arguments that were given, each of its kind.
struct PromptArguments {
    arguments: BTreeMap<&'static str, String>,
    /// Today, by the wiki's clock.
    today: time::Date,
}

impl PromptArguments {
    /// An argument as a JSON string, so that its end shows.
    fn quoted(&self, name: &str) -> Option<String> {
        let text = self.arguments.get(name)?;
        Some(Value::from(escape_hidden(text)).to_string())
    }

    /// The same of one that is required.
    fn required(&self, name: &str) -> String {
        self.quoted(name).unwrap_or_default()
    }
}

fn days_before(today: time::Date, days: i64) -> String {
    today.saturating_sub(Duration::days(days)).to_string()
}

impl PromptArgumentKind {
    const fn required(self, name: &'static str, description: &'static str) -> PromptParameter {
        PromptParameter {
            name,
            description,
            kind: self,
            is_required: true,
        }
    }

    const fn optional(self, name: &'static str, description: &'static str) -> PromptParameter {
        PromptParameter {
            is_required: false,
            ..self.required(name, description)
        }
    }

    /// The reason a text is not of this kind.
    fn fault(self, wiki: &Wiki, text: &str) -> Option<String> {
        match self {
            Self::Path => PageReference::place(text, &wiki.settings().base_url)
                .err()
                .map(str::to_owned),
            Self::Time => match Date::parse(text) {
                Ok(date) if date.is_set() => None,
                _ => Some("must be a date or time in ISO 8601, such as 2026-01-31 or 2026-01-31T09:00:00Z".to_owned()),
            },
            Self::Proposal => {
                let id: Result<ProposalId, _> = text.parse();
                id.is_err()
                    .then(|| "must be the id of a proposal: 16 hex digits".to_owned())
            }
            Self::Text => None,
        }
    }
}

/// The prompts of a session.
pub(in crate::server) struct Offer<'a> {
    /// The caller that the session belongs to.
    visit: &'a CallerContext,
    tools: SessionTools,
    /// True if any call can lead to a write.
    may_write: bool,
}

impl<'a> Offer<'a> {
    /// The prompts of the session of a request.
    pub(in crate::server) fn to(
        visit: &'a CallerContext,
        context: &RequestContext<RoleServer>,
    ) -> Self {
        let can_ask = can_ask(context, visit.session.lasts());
        let writes = SessionRules::new(visit, can_ask).writes;
        Self {
            visit,
            tools: visit.offered(),
            may_write: !matches!(writes, Writes::Refused(_)),
        }
    }

    fn prompts(&self) -> impl Iterator<Item = &'static Prompt> {
        let registry = self.visit.app.registry();
        let is_there = move |name: &&str| {
            let tool = registry.find(name);
            tool.is_some_and(|tool| self.tools.has(name) && (self.may_write || !tool.can_write()))
        };
        PROMPTS
            .iter()
            .filter(move |prompt| prompt.tools.iter().all(&is_there))
    }

    /// Lists the prompts.
    pub(in crate::server) fn list(&self) -> ListPromptsResult {
        let argument = |argument: &PromptParameter| {
            PromptArgument::new(argument.name)
                .with_description(argument.description)
                .with_required(argument.is_required)
        };
        let prompts = self.prompts().map(|prompt| {
            let arguments = prompt.arguments.iter().map(argument).collect();
            rmcp::model::Prompt::new(prompt.name, Some(prompt.description), Some(arguments))
                .with_title(prompt.title)
        });
        ListPromptsResult::with_all_items(prompts.collect()).with_ttl_ms(result::KEPT_MS)
    }

    /// The text of a prompt.
    pub(in crate::server) fn get(
        &self,
        request: GetPromptRequestParams,
    ) -> Result<GetPromptResult, ErrorData> {
        let prompt = self.find(&request.name)?;
        let wiki = &self.visit.app.wiki;
        let given = PromptArguments {
            arguments: read(wiki, prompt, request.arguments.unwrap_or_default())?,
            today: wiki.now().date(),
        };
        let text = (prompt.text)(&given);
        let text = PromptMessage::new_text(Role::User, self.tools.text(&text));
        Ok(GetPromptResult::new(vec![text]).with_description(prompt.description))
    }

    fn find(&self, name: &str) -> Result<&'static Prompt, ErrorData> {
        self.prompts()
            .find(|prompt| prompt.name == name)
            .ok_or_else(|| {
                let names = separated(self.prompts().map(|prompt| prompt.name), ", ");
                invalid(format!("there is no such prompt; there are: {names}"))
            })
    }
}

/// Reads the arguments of a prompt; reports all faults at once.
fn read(
    wiki: &Wiki,
    prompt: &Prompt,
    given: JsonObject,
) -> Result<BTreeMap<&'static str, String>, ErrorData> {
    let mut arguments = BTreeMap::new();
    let mut faults = Vec::new();
    for (name, value) in given {
        let Some(argument) = prompt.arguments.iter().find(|own| own.name == name) else {
            let names = separated(prompt.arguments.iter().map(|own| own.name), ", ");
            faults.push(format!("there is an argument beside {names}"));
            continue;
        };
        let fault = match value.as_str() {
            None => Some("must be a string".to_owned()),
            // Some clients send every argument, empty where nothing was typed.
            Some(text) if text.trim().is_empty() => continue,
            Some(text) if text.chars().count() > MOST_CHARS => {
                Some(format!("must have at most {MOST_CHARS} characters"))
            }
            Some(text) => argument.kind.fault(wiki, text.trim()),
        };
        match (fault, value) {
            (Some(fault), _) => faults.push(format!("{name} {fault}")),
            (None, Value::String(text)) => {
                arguments.insert(argument.name, text.trim().to_owned());
            }
            (None, _) => {}
        }
    }
    for argument in prompt.arguments.iter().filter(|own| own.is_required) {
        let is_faulty = faults.iter().any(|fault| fault.starts_with(argument.name));
        if !is_faulty && !arguments.contains_key(argument.name) {
            faults.push(format!("{} is required", argument.name));
        }
    }
    if faults.is_empty() {
        Ok(arguments)
    } else {
        Err(invalid(faults.join("; ")))
    }
}

fn invalid(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(message.into(), None)
}
