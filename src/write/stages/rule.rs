//! Applies the operator's rules to the route of a set: they can only make it stricter.

use time::OffsetDateTime;

use crate::audit::{AuditLog, AuditResult, Client};
use crate::change::Warning;
use crate::gates::{AllowedSet, Cleared, Gated, Policy, Ruled, WritePolicy, rules};
use crate::rules::{ChangeFacts, Facts, Then};

use crate::write::route::{Route, Stop, Warrant};

/// The further way of a set, by the rules.
pub(crate) enum Ruling<'p> {
    /// It is sent: the rules cleared it, and the warrant confirms it.
    Next(Cleared<'p>, Warrant),
    /// It ends before anything is sent.
    Stop(Stop, AllowedSet<'p>),
}

impl Ruling<'_> {
    /// The same, but for a set that has nothing to do: only a draft takes it, and a single one that
    /// would stay open is shown unless it was to be proposed.
    pub(crate) fn unless_nothing_to_do(self, proposes: bool) -> Self {
        let set = match &self {
            Self::Next(cleared, _) => cleared.set(),
            Self::Stop(_, allowed) => allowed.set(),
        };
        let (is_list, is_nothing) = (set.is_list(), set.is_nothing());
        match self {
            Self::Stop(Stop::AddToDraft, _) => self,
            Self::Stop(Stop::Propose, _) if !is_list && !proposes => self,
            Self::Stop(_, allowed) if is_nothing => Self::Stop(Stop::Unchanged, allowed),
            Self::Next(cleared, _) if is_nothing => {
                Self::Stop(Stop::Unchanged, cleared.into_allowed())
            }
            ruling => ruling,
        }
    }
}

/// The facts for the rules; none if no rule applies to the set, as with an undo.
///
/// # Errors
/// The record could not be read to count the client's writes.
pub(crate) async fn facts(
    audit: &AuditLog,
    policy: &Policy,
    client: &Client,
    changes: &[ChangeFacts],
) -> AuditResult<Facts> {
    if changes.is_empty() {
        return Ok(Facts::default());
    }
    let writes_of_day = if policy.rules.counts_writes() {
        let since = OffsetDateTime::now_utc() - time::Duration::days(1);
        audit.writes.count_since(client, since).await?
    } else {
        0
    };
    Ok(Facts {
        clients: client.names(),
        people: client.people(),
        writes_of_day,
        changes: changes.to_vec(),
    })
}

/// Applies the rules to a set; a warning names the rule that changed its way.
///
/// # Errors
/// `RULE_DENIED`.
pub(crate) fn apply<'p>(
    policy: &Policy,
    allowed: AllowedSet<'p>,
    facts: &Facts,
    route: Route,
    can_ask: bool,
) -> Gated<(Ruling<'p>, Option<Warning>)> {
    let (allowed, demand) = match rules(allowed, facts, met(policy, &route))? {
        Ruled::Cleared(cleared) => {
            return Ok(match route {
                Route::Send(warrant) => (Ruling::Next(cleared, warrant), None),
                Route::Stop(stop) => (Ruling::Stop(stop, cleared.into_allowed()), None),
            });
        }
        Ruled::Demands(allowed, demand) => (allowed, demand),
    };
    let warning = |message| Some(Warning::new("rule", message));
    let (rule, then) = (demand.rule, demand.then);
    if matches!(route, Route::Stop(Stop::AddToDraft)) {
        // The rules apply to the whole draft when it is submitted.
        let then = then.as_str();
        let message = format!("The rule {rule} asks for {then} when the draft is submitted.");
        return Ok((Ruling::Stop(Stop::AddToDraft, allowed), warning(message)));
    }
    let stop = stop(policy, &route, then, can_ask);
    let message = match stop {
        Stop::Propose if then != Then::Preview => {
            Some(format!("The rule {rule} leaves this to a person."))
        }
        Stop::Preview if then != Then::Preview && !policy.authority.decides() => Some(format!(
            "The rule {rule} leaves this to a person: nothing was sent, and confirm makes it a proposal."
        )),
        _ => None,
    };
    Ok((Ruling::Stop(stop, allowed), message.and_then(warning)))
}

/// The strictest demand of a rule that is met, by whoever saw this very set.
const fn met(policy: &Policy, route: &Route) -> Option<Then> {
    match route {
        Route::Send(_) if policy.authority.decides() => Some(Then::Review),
        Route::Send(Warrant::Person(_)) => Some(Then::Person),
        Route::Send(Warrant::Preview(_) | Warrant::Reviewer(_)) => Some(Then::Preview),
        Route::Send(Warrant::StaticToken) | Route::Stop(_) => None,
    }
}

/// The end of a set for which a rule demands more than was decided.
fn stop(policy: &Policy, route: &Route, then: Then, can_ask: bool) -> Stop {
    let is_preview = matches!(route, Route::Stop(Stop::Preview));
    match policy.writes.under_rule(then, can_ask) {
        // Whoever decides on it must see it first.
        _ if is_preview && policy.authority.decides() => Stop::Preview,
        WritePolicy::Preview => Stop::Preview,
        WritePolicy::Person { .. } => Stop::Ask,
        // A preview that nobody confirmed is no proposal.
        _ if is_preview => Stop::Preview,
        WritePolicy::Off
        | WritePolicy::DryRun
        | WritePolicy::Review { .. }
        | WritePolicy::Token(_) => Stop::Propose,
    }
}

#[cfg(test)]
mod tests;
