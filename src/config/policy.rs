//! What may be written, how it is confirmed, and which tools are offered.

use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use super::parse::{SettingError, Source};
use super::storage;
use crate::audit::Pauses;
use crate::gates::{ConfirmMode, Fallback, Policy, StaticToken};
use crate::notify::ReviewAddress;
use crate::page::{Prefix, ReadRule, ReadScope, Trash};
use crate::tools::{Surface, Toolset};

const FALLBACK: &str = "WIKI_CONFIRM_FALLBACK";

pub(super) fn policy(source: &Source<'_>) -> Result<Policy, SettingError> {
    let tables = source.tables();
    Ok(Policy {
        is_enabled: source.flag("WIKI_MUTATIONS_ENABLED")?,
        is_dry_run: source.flag("WIKI_MUTATION_DRY_RUN")?,
        confirm: confirm(source)?,
        allowed: allowed(source)?,
        denied: source
            .prefixes("WIKI_DENIED_MUTATION_PATH_PREFIXES")?
            .unwrap_or_default(),
        reads: reads(source)?,
        trash: trash(source)?,
        pauses: Pauses::of(&storage::audit_dir(source)?),
        rules: Arc::new(tables.rules),
        checks: tables.checks.into(),
        review: review(source)?,
    })
}

fn review(source: &Source<'_>) -> Result<ReviewAddress, SettingError> {
    const NAME: &str = "WIKI_REVIEW_URL";
    let parse = |text: String| {
        ReviewAddress::parse(&text).map_err(|fault| SettingError::new(NAME, fault.to_owned()))
    };
    let address = source.filled(NAME)?.map(parse).transpose()?;
    Ok(address.unwrap_or_default())
}

pub(super) fn allowed(source: &Source<'_>) -> Result<Option<Vec<Prefix>>, SettingError> {
    source.prefixes("WIKI_ALLOWED_MUTATION_PATH_PREFIXES")
}

/// What may be read.
pub(super) fn reads(source: &Source<'_>) -> Result<ReadScope, SettingError> {
    const TAGS: &str = "WIKI_DENIED_READ_TAGS";
    let denied = source.prefixes("WIKI_DENIED_READ_PATH_PREFIXES")?;
    let tags = source.filled(TAGS)?.map(|text| {
        let tags = text.split(',').map(|tag| tag.trim().to_owned());
        tags.collect::<Vec<String>>()
    });
    let tags = tags.unwrap_or_default();
    if tags.iter().any(String::is_empty) {
        return Err(SettingError::new(TAGS, "has an empty tag".to_owned()));
    }
    Ok(ReadScope::of(&ReadRule::new(
        source.prefixes("WIKI_ALLOWED_READ_PATH_PREFIXES")?,
        denied.unwrap_or_default(),
        &tags,
    )))
}

fn trash(source: &Source<'_>) -> Result<Option<Trash>, SettingError> {
    const NAME: &str = "WIKI_TRASH_PREFIX";
    source
        .filled(NAME)?
        .map(|prefix| Trash::parse(&prefix).map_err(|fault| SettingError::new(NAME, fault)))
        .transpose()
}

fn confirm(source: &Source<'_>) -> Result<ConfirmMode, SettingError> {
    const NAME: &str = "WIKI_CONFIRM";
    const TOKEN: &str = "WIKI_MUTATION_CONFIRM_TOKEN";
    let person = person(source)?;
    let token = source
        .filled(TOKEN)?
        .map(SecretString::from)
        .map(StaticToken::new)
        .transpose()
        .map_err(|fault| SettingError::new(TOKEN, fault))?;
    let mode = match (source.choice(NAME)?, token) {
        (None | Some("token"), Some(token)) => ConfirmMode::Token(token),
        (Some("token"), None) => {
            return Err(SettingError::new(
                TOKEN,
                "is missing; WIKI_CONFIRM=token needs it",
            ));
        }
        (Some(mode), Some(_)) => {
            let fault = format!("is set beside WIKI_CONFIRM={mode}; leave one of them out");
            return Err(SettingError::new(TOKEN, fault));
        }
        (Some("person"), None) => return Ok(person),
        (Some("review"), None) => ConfirmMode::Review {
            limit: time_of_people(source)?,
        },
        (None | Some(_), None) => ConfirmMode::Preview,
    };
    match source.filled(FALLBACK)? {
        None => Ok(mode),
        Some(_) => Err(SettingError::new(
            FALLBACK,
            "is set without WIKI_CONFIRM=person; leave it out",
        )),
    }
}

/// How long people are waited for.
fn time_of_people(source: &Source<'_>) -> Result<Duration, SettingError> {
    let seconds = source.number("WIKI_PERSON_TIMEOUT_S")?;
    Ok(Duration::from_secs(seconds.into()))
}

/// How a person confirms.
fn person(source: &Source<'_>) -> Result<ConfirmMode, SettingError> {
    Ok(ConfirmMode::Person {
        limit: time_of_people(source)?,
        fallback: match source.choice(FALLBACK)? {
            Some("preview") => Fallback::Preview,
            Some("proposal") => Fallback::Proposal,
            _ => Fallback::None,
        },
    })
}

pub(super) fn surface(source: &Source<'_>) -> Result<Surface, SettingError> {
    const SETS: &str = "WIKI_TOOLSETS";
    const TOOLS: &str = "WIKI_TOOLS";
    const EXCLUDE: &str = "WIKI_EXCLUDE_TOOLS";
    const READ_ONLY: &str = "WIKI_READ_ONLY";
    let tools = source.filled(TOOLS)?;
    let sets = match &tools {
        Some(_) => source.filled(SETS)?,
        None => source.or_default(SETS)?,
    };
    let mut surface = match sets {
        Some(sets) => {
            let sets = Toolset::parse_list(&sets);
            Surface::of(&sets.map_err(|fault| SettingError::new(SETS, fault))?)
        }
        None => Surface::default(),
    };
    if let Some(tools) = tools {
        let added = surface.add(&tools);
        added.map_err(|fault| SettingError::new(TOOLS, fault))?;
    }
    let excluded = source.filled(EXCLUDE)?;
    if let Some(tools) = &excluded {
        let removed = surface.exclude(tools);
        removed.map_err(|fault| SettingError::new(EXCLUDE, fault))?;
    }
    if source.flag(READ_ONLY)? {
        surface.keep_reading();
    }
    if surface.is_empty() {
        let name = if excluded.is_some() {
            EXCLUDE
        } else {
            READ_ONLY
        };
        return Err(SettingError::new(
            name,
            "leaves no tool; leave it out or offer more tools",
        ));
    }
    Ok(surface)
}
