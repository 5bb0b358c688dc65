//! Resolves the settings about writing into one level, and names the line that set it.

use std::time::Duration;

use secrecy::SecretString;

use super::parse::{Origin, SettingError, SettingsSource};
use crate::gates::{Fallback, Layer, PolicyLevel, SetBy, StaticToken, WritePolicy};

const ENABLED: &str = "WIKI_MUTATIONS_ENABLED";
const DRY_RUN: &str = "WIKI_MUTATION_DRY_RUN";
const CONFIRM: &str = "WIKI_CONFIRM";
const TOKEN: &str = "WIKI_MUTATION_CONFIRM_TOKEN";
const FALLBACK: &str = "WIKI_CONFIRM_FALLBACK";
const READ_ONLY: &str = "WIKI_READ_ONLY";

/// The resolved settings about writing.
#[derive(Debug, Clone)]
pub struct ResolvedPolicy {
    /// The policy for writes.
    pub writes: WritePolicy,
    /// The line that set it.
    pub set_by: SetBy,
    /// The line that says what a client gets that cannot ask a person.
    pub fallback_set_by: SetBy,
    /// The line that lets clients only read, if there is one.
    pub read_only: Option<SetBy>,
    /// The static token, if there is one.
    pub static_token: Option<StaticToken>,
}

/// The settings from which the level is resolved, each with the line that set it.
struct PolicySettings {
    enabled: (bool, SetBy),
    dry_run: (bool, SetBy),
    /// The confirmation of a write that is neither off nor in a dry run.
    confirm: (WritePolicy, SetBy),
    fallback_set_by: SetBy,
    read_only: (bool, SetBy),
}

/// Resolves the settings of a server, or of a site within the server's.
///
/// # Errors
/// The setting that is bad, contradicts another one, or is wider than the server's.
pub(super) fn resolved(source: &SettingsSource<'_>) -> Result<ResolvedPolicy, SettingError> {
    let parts = if source.site.is_none() {
        PolicySettings::of_server(source)?
    } else {
        let server = source.of_server();
        let parts = PolicySettings::of_server(&server).map_err(|fault| server.placed(fault))?;
        parts.narrowed(source)?
    };
    Ok(parts.resolve())
}

impl PolicySettings {
    fn of_server(source: &SettingsSource<'_>) -> Result<Self, SettingError> {
        Ok(Self {
            enabled: (source.flag(ENABLED)?, line(source, ENABLED)),
            dry_run: (source.flag(DRY_RUN)?, line(source, DRY_RUN)),
            confirm: confirm(source)?,
            fallback_set_by: line(source, FALLBACK),
            read_only: (source.flag(READ_ONLY)?, line(source, READ_ONLY)),
        })
    }

    /// The same for a site: none of its settings may be wider than the server's.
    fn narrowed(self, site: &SettingsSource<'_>) -> Result<Self, SettingError> {
        let (confirm, fallback_set_by) = self.confirm_of(site)?;
        Ok(Self {
            enabled: at_most(ENABLED, self.enabled, true, site)?,
            dry_run: at_most(DRY_RUN, self.dry_run, false, site)?,
            confirm,
            fallback_set_by,
            read_only: if self.read_only.0 || !is_set(site, READ_ONLY)? {
                self.read_only
            } else {
                (site.flag(READ_ONLY)?, line(site, READ_ONLY))
            },
        })
    }

    /// The confirmation of a site's writes: as strict as on the server, or stricter. The server's
    /// static token is never inherited.
    fn confirm_of(
        &self,
        site: &SettingsSource<'_>,
    ) -> Result<((WritePolicy, SetBy), SetBy), SettingError> {
        let (server, set_by) = &self.confirm;
        let says = [CONFIRM, TOKEN, FALLBACK].map(|name| site.filled(name));
        if says.into_iter().any(|said| !matches!(said, Ok(None))) {
            let own = confirm(site)?;
            if !server.may_become(&own.0) {
                return Err(wider(CONFIRM, own.0.as_str(), server.as_str()));
            }
            return Ok((own, line(site, FALLBACK)));
        }
        let writes = match server {
            WritePolicy::Token(_) => {
                let fault = "is missing; the server's static token is never inherited, so give the site its own, or confirm = \"review\"";
                return Err(SettingError::new(TOKEN, fault));
            }
            WritePolicy::Person { fallback, .. } => WritePolicy::Person {
                limit: time_of_people(site)?,
                fallback: *fallback,
            },
            WritePolicy::Review { .. } => WritePolicy::Review {
                limit: time_of_people(site)?,
            },
            WritePolicy::Off | WritePolicy::DryRun | WritePolicy::Preview => server.clone(),
        };
        Ok(((writes, set_by.clone()), self.fallback_set_by.clone()))
    }

    /// The strictest of them holds.
    fn resolve(self) -> ResolvedPolicy {
        let (confirm, confirm_line) = self.confirm;
        let static_token = match &confirm {
            WritePolicy::Token(token) => Some(token.clone()),
            _ => None,
        };
        let (writes, set_by) = match (self.enabled, self.dry_run) {
            ((false, line), _) => (WritePolicy::Off, line),
            (_, (true, line)) => (WritePolicy::DryRun, line),
            _ => (confirm, confirm_line),
        };
        ResolvedPolicy {
            writes,
            set_by,
            fallback_set_by: self.fallback_set_by,
            read_only: self.read_only.0.then_some(self.read_only.1),
            static_token,
        }
    }
}

/// The confirmation of writes by a source's own settings, and the line that sets it.
///
/// # Errors
/// A setting that is bad, or two that contradict each other: the sentence names both.
fn confirm(source: &SettingsSource<'_>) -> Result<(WritePolicy, SetBy), SettingError> {
    let token = source
        .filled(TOKEN)?
        .map(SecretString::from)
        .map(StaticToken::new)
        .transpose()
        .map_err(|fault| SettingError::new(TOKEN, fault))?;
    let fallback = source.choice(FALLBACK)?.unwrap_or_default();
    let limit = time_of_people(source)?;
    let mode = source.choice(CONFIRM)?;
    let writes = match (mode, token) {
        (None | Some("token"), Some(token)) => WritePolicy::Token(token),
        (Some("token"), None) => {
            let fault = "is missing; WIKI_CONFIRM=token needs it";
            return Err(SettingError::new(TOKEN, fault));
        }
        (Some(mode), Some(_)) => {
            let fault = format!("is set beside WIKI_CONFIRM={mode}; leave one of them out");
            return Err(SettingError::new(TOKEN, fault));
        }
        (Some("person"), None) => WritePolicy::Person {
            limit,
            fallback: match fallback {
                "preview" => Fallback::Preview,
                "proposal" => Fallback::Proposal,
                _ => Fallback::None,
            },
        },
        (Some("review"), None) => WritePolicy::Review { limit },
        (None | Some(_), None) => WritePolicy::Preview,
    };
    if writes.level() != PolicyLevel::Person && is_set(source, FALLBACK)? {
        let fault = "is set without WIKI_CONFIRM=person; leave it out";
        return Err(SettingError::new(FALLBACK, fault));
    }
    let is_by_token = mode.is_none() && writes.level() == PolicyLevel::Token;
    let name = if is_by_token { TOKEN } else { CONFIRM };
    Ok((writes, line(source, name)))
}

/// A site's flag, which may only be the stricter one. Without a value it is the server's.
fn at_most(
    name: &'static str,
    server: (bool, SetBy),
    widest: bool,
    site: &SettingsSource<'_>,
) -> Result<(bool, SetBy), SettingError> {
    if !is_set(site, name)? {
        return Ok(server);
    }
    let own = site.flag(name)?;
    if own == widest && server.0 != widest {
        let word = |flag| if flag { "true" } else { "false" };
        return Err(wider(name, word(own), word(server.0)));
    }
    Ok((own, line(site, name)))
}

fn is_set(source: &SettingsSource<'_>, name: &'static str) -> Result<bool, SettingError> {
    Ok(source.filled(name)?.is_some())
}

fn wider(name: &'static str, own: &str, server: &str) -> SettingError {
    let fault = format!(
        "is {own} where the server's is {server}; a site's gates can only be narrower, so set it for the server, and narrower for the other sites"
    );
    SettingError::new(name, fault)
}

/// The time to wait for a person.
fn time_of_people(source: &SettingsSource<'_>) -> Result<Duration, SettingError> {
    let seconds = source.number("WIKI_PERSON_TIMEOUT_S")?;
    Ok(Duration::from_secs(seconds.into()))
}

/// The line that sets a value, by the setting's name in its layer.
fn line(source: &SettingsSource<'_>, name: &str) -> SetBy {
    let origin = source.origin(name);
    let named = origin.name_of(name);
    let layer = match origin {
        Origin::Default => Layer::Default,
        Origin::File { path, line, .. } => Layer::File { path, line },
        Origin::Environment => Layer::Environment,
        Origin::Flag => Layer::Flag,
    };
    SetBy::new(named, layer)
}

#[cfg(test)]
mod tests;
