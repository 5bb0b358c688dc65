//! Models the operator's policy for writes.

use std::iter;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::{Authority, Fallback, Layer, PolicyLevel, SetBy, StaticToken, WritePolicy};
use crate::audit::{KeyDigest, LineHash, Pauses};
use crate::checks::CheckCommand;
use crate::error::{Code, Failure};
use crate::notify::ReviewAddress;
use crate::page::{Prefix, ReadScope, Trash};
use crate::rules::RuleBook;
use crate::site::SiteName;

/// The operator's policy for writes. The default allows nothing.
///
/// Only `config` makes another one, from the operator's settings (`tests/it/house/promises.rs`).
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Policy {
    /// The policy for writes.
    pub writes: WritePolicy,
    /// The line that set it.
    pub set_by: SetBy,
    /// The line that says what a client gets that cannot ask.
    pub fallback_set_by: SetBy,
    /// The line that lets clients only read, if there is one.
    pub read_only: Option<SetBy>,
    /// The operator's static token, if there is one, whatever the level.
    pub static_token: Option<StaticToken>,
    /// The party that takes writes through the gates.
    pub authority: Authority,
    /// The places that may be written; `None` allows every place.
    pub allowed: Option<Vec<Prefix>>,
    /// The places that may not be written; they win over `allowed`.
    pub denied: Vec<Prefix>,
    /// The pages that may be read: what is outside may not be written either.
    pub reads: ReadScope,
    /// The trash, if there is one: where removed pages go instead of being deleted.
    pub trash: Option<Trash>,
    /// The directory whose files may be uploaded by their names, if there is one.
    pub uploads: Option<PathBuf>,
    /// The place where a pause of all writes is looked for.
    pub pauses: Pauses,
    /// The operator's rules, which add to the gates.
    pub rules: Arc<RuleBook>,
    /// The operator's own checks of changes.
    pub checks: Arc<[CheckCommand]>,
    /// The address at which people decide on sets that were left to them.
    pub review: ReviewAddress,
}

impl Default for Policy {
    fn default() -> Self {
        let line = |name: &str| SetBy::new(name, Layer::Default);
        Self {
            writes: WritePolicy::Off,
            set_by: line("WIKI_MUTATIONS_ENABLED"),
            fallback_set_by: line("WIKI_CONFIRM_FALLBACK"),
            read_only: None,
            static_token: None,
            authority: Authority::Client,
            allowed: None,
            denied: Vec::new(),
            reads: ReadScope::default(),
            trash: None,
            uploads: None,
            pauses: Pauses::default(),
            rules: Arc::default(),
            checks: Arc::default(),
            review: ReviewAddress::default(),
        }
    }
}

impl Policy {
    /// The policy for the operator's own decision, which replaces the confirmation of every level
    /// but `off`, ends a dry run and passes a pause. Where it may be written is unchanged.
    pub fn for_operator(self) -> Self {
        self.for_authority(Authority::Operator)
    }

    /// The policy for a tool that the operator calls from the command line: as for a client that
    /// cannot ask.
    pub fn for_tool_call(self) -> Self {
        self.for_authority(Authority::ToolCall)
    }

    /// The policy for a command that asks nobody.
    pub fn for_unattended(self, passes_pause: bool) -> Self {
        self.for_authority(Authority::Unattended { passes_pause })
    }

    /// The policy for a command whose changes are left for people to decide.
    pub fn to_propose(self) -> Self {
        let asked = SetBy::new("--propose", Layer::Flag);
        self.for_unattended(false)
            .at_least(WritePolicy::DryRun, asked)
    }

    /// The policy for a call that leaves its change to people: no level may be passed by that.
    pub fn proposing(self) -> Self {
        self.at_least(WritePolicy::DryRun, SetBy::new("propose", Layer::Call))
    }

    pub(super) fn for_authority(self, authority: Authority) -> Self {
        let keeps_dry_run = self.writes.level() == PolicyLevel::DryRun && !authority.ends_dry_run();
        let is_decided =
            authority.decides() && self.writes.level() != PolicyLevel::Off && !keeps_dry_run;
        Self {
            // The preview that the person sees has a token, which never leaves the program.
            writes: if is_decided {
                WritePolicy::Preview
            } else {
                self.writes
            },
            pauses: if authority.passes_pause() {
                Pauses::default()
            } else {
                self.pauses
            },
            authority,
            ..self
        }
    }

    /// The same policy, stopped by these pauses.
    pub fn paused_by(self, pauses: Pauses) -> Self {
        Self { pauses, ..self }
    }

    /// Another policy, which takes this one's place: what pauses this one pauses that, and the
    /// review page stays where it is.
    pub fn continued_as(&self, new: Self) -> Self {
        Self {
            pauses: self.pauses.clone(),
            review: new.review.clone().served_as(&self.review),
            ..new
        }
    }

    /// True if it lets the same writes through the same gates. The address where people decide, and
    /// the lines of the settings, are no gates.
    pub fn has_gates_of(&self, other: &Self) -> bool {
        self.gates_alone() == other.gates_alone()
    }

    fn gates_alone(&self) -> Self {
        let none = Self::default();
        Self {
            review: none.review,
            read_only: self.read_only.as_ref().map(|_| none.set_by.clone()),
            set_by: none.set_by,
            fallback_set_by: none.fallback_set_by,
            ..self.clone()
        }
    }

    /// A digest of the gates, for who keeps what was given under them: another policy has another one,
    /// but for pauses and the static token.
    pub fn digest(&self, site: Option<&SiteName>, key: KeyDigest) -> LineHash {
        let gates = Self {
            pauses: Pauses::default(),
            static_token: None,
            ..self.gates_alone()
        };
        LineHash::new(format!("{gates:?} {site:?} {key}").as_bytes())
    }

    /// The policy for a caller that can or cannot ask a person.
    pub fn for_caller(self, can_ask: bool) -> Self {
        let asks_nobody = self.authority.asks_nobody();
        let fallback_set_by = self.fallback_set_by.clone();
        match (&self.writes, &self.read_only) {
            (_, Some(line)) if self.authority.heeds_read_only() => {
                let line = line.clone();
                self.at_least(WritePolicy::Off, line)
            }
            (WritePolicy::Person { fallback, .. }, _) if !can_ask => match fallback {
                Fallback::Preview => Self {
                    writes: WritePolicy::Preview,
                    set_by: fallback_set_by,
                    ..self
                },
                Fallback::Proposal => self.at_least(WritePolicy::DryRun, fallback_set_by),
                // What only a person may send is proposed by a command, which can ask nobody.
                Fallback::None if asks_nobody => {
                    let line = self.set_by.clone();
                    self.at_least(WritePolicy::DryRun, line)
                }
                Fallback::None => self,
            },
            _ => self,
        }
    }

    /// The same policy, if a write gets at most this, else with this in its place.
    pub(super) fn at_least(self, writes: WritePolicy, set_by: SetBy) -> Self {
        if !writes.is_stricter_than(&self.writes) {
            return self;
        }
        Self {
            writes,
            set_by,
            ..self
        }
    }

    /// A refusal of what this policy does not let a caller do: it names the level and the line that
    /// set it.
    pub fn refuse(&self, code: Code, message: impl Into<String>) -> Failure {
        Failure::new(code, message)
            .detail("level", self.writes.as_str())
            .detail("setBy", self.set_by.to_string())
    }

    /// The time that a person may think, if one is asked.
    pub const fn thinking(&self) -> Option<Duration> {
        match self.writes {
            WritePolicy::Person { limit, .. } => Some(limit),
            _ => None,
        }
    }

    /// The time that a client's call waits for the decision on what it left open; `None` if it
    /// answers at once.
    pub const fn waiting(&self) -> Option<Duration> {
        match (&self.writes, self.authority) {
            (WritePolicy::Review { limit }, Authority::Client) => Some(*limit),
            _ => None,
        }
    }

    /// True if anybody may send a write under this policy.
    pub const fn may_write(&self) -> bool {
        !matches!(self.writes, WritePolicy::Off | WritePolicy::DryRun)
    }

    /// The same policy, with a person's yes in place of a preview's token, as a rule demands.
    pub fn asking(&self, limit: Duration, rule: SetBy) -> Self {
        Self {
            writes: WritePolicy::Person {
                limit,
                fallback: Fallback::None,
            },
            set_by: rule,
            ..self.clone()
        }
    }

    /// The same policy with another time to think, if a person is asked or waited for.
    pub fn with_thinking(mut self, time: Duration) -> Self {
        if let WritePolicy::Person { limit, .. } | WritePolicy::Review { limit } = &mut self.writes
        {
            *limit = time;
        }
        self
    }

    /// The secrets of this server, which must not be in any text: the key of the wiki, and the static
    /// token.
    pub fn secrets_beside<'a>(&'a self, key: &'a str) -> Vec<&'a str> {
        let token = self.static_token.iter().map(StaticToken::expose);
        iter::once(key).chain(token).collect()
    }

    /// The number of wrong static tokens.
    pub fn wrong_tokens(&self) -> u64 {
        self.static_token.as_ref().map_or(0, StaticToken::wrong)
    }
}

#[cfg(test)]
mod tests;
