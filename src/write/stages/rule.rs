//! Applies the operator's rules to the route of a set: they can only make it stricter.

use time::OffsetDateTime;

use crate::change::Warning;
use crate::gates::{
    AllowedSet, ChangeSet, Cleared, Decided, Gate, Policy, Refusal, Ruled, WritePolicy, rules,
};
use crate::rules::{ChangeFacts, Facts, Then};

use super::check::SetCheck;
use crate::write::audit_entry::unavailable;
use crate::write::caller::Caller;
use crate::write::context::WriteContext;
use crate::write::route::{Route, Warrant};

/// The further way of a set, by the rules.
pub(in crate::write) enum RuledRoute<'p> {
    /// It is sent: the rules cleared it, and the warrant confirms it.
    Send(Cleared<'p>, Warrant),
    /// It is shown, with a token that confirms it.
    Preview(AllowedSet<'p>),
    /// It is left open for a person.
    Open(AllowedSet<'p>),
    /// A person is asked first, by the policy or by a rule.
    Ask(AllowedSet<'p>),
    /// It joins a draft.
    Join(AllowedSet<'p>),
}

impl RuledRoute<'_> {
    /// The set.
    pub(in crate::write) const fn set(&self) -> &ChangeSet {
        match self {
            Self::Send(cleared, _) => cleared.set(),
            Self::Preview(allowed)
            | Self::Open(allowed)
            | Self::Ask(allowed)
            | Self::Join(allowed) => allowed.set(),
        }
    }
}

/// Applies the rules to a set.
///
/// # Errors
/// `RULE_DENIED`, or the record could not be read to count the client's writes.
pub(in crate::write) async fn held<'p>(
    desk: &WriteContext,
    policy: &Policy,
    caller: &Caller,
    allowed: AllowedSet<'p>,
    checked: &mut SetCheck,
    route: Route,
) -> Result<RuledRoute<'p>, Refusal> {
    let facts = facts(desk, policy, caller, &checked.facts).await?;
    match rules(allowed, &facts, decided(policy, &route))? {
        Ruled::Cleared(cleared) => Ok(match route {
            Route::Send(warrant) => RuledRoute::Send(cleared, warrant),
            Route::Preview => RuledRoute::Preview(cleared.into_allowed()),
            Route::Open => RuledRoute::Open(cleared.into_allowed()),
            Route::Ask => RuledRoute::Ask(cleared.into_allowed()),
            Route::Join => RuledRoute::Join(cleared.into_allowed()),
        }),
        Ruled::Demands(allowed, demand) => {
            if matches!(route, Route::Join) {
                // The rules apply to the whole draft when it is submitted.
                let then = demand.then.as_str();
                let message = format!(
                    "The rule {} asks for {then} when the draft is submitted.",
                    demand.rule
                );
                checked.notes.warnings.push(Warning::new("rule", message));
                return Ok(RuledRoute::Join(allowed));
            }
            let way = way(policy, caller, allowed, &route, demand.then);
            if matches!(way, RuledRoute::Open(_)) && demand.then != Then::Preview {
                let message = format!("The rule {} leaves this to a person.", demand.rule);
                checked.notes.warnings.push(Warning::new("rule", message));
            }
            Ok(way)
        }
    }
}

/// The facts for the rules; `None` if no rule applies to the set, as with an undo.
async fn facts(
    desk: &WriteContext,
    policy: &Policy,
    caller: &Caller,
    changes: &[ChangeFacts],
) -> Result<Facts, Refusal> {
    if changes.is_empty() {
        return Ok(Facts::default());
    }
    let clients = caller.client.names();
    let writes_of_day = if policy.rules.counts_writes() {
        let since = OffsetDateTime::now_utc() - time::Duration::days(1);
        let counted = desk.audit.writes_since(clients.clone(), since).await;
        counted.map_err(|error| Refusal::at(Gate::Record, unavailable(&error)))?
    } else {
        0
    };
    Ok(Facts {
        clients,
        writes_of_day,
        changes: changes.to_vec(),
    })
}

/// The one who decided on this very set.
fn decided(policy: &Policy, route: &Route) -> Decided {
    match route {
        Route::Send(_) if policy.authority.decides() => Decided::Operator,
        Route::Send(Warrant::Person(_)) => Decided::Person,
        Route::Send(Warrant::Preview(_)) => Decided::Shown,
        Route::Send(Warrant::StaticToken)
        | Route::Preview
        | Route::Open
        | Route::Ask
        | Route::Join => Decided::Nobody,
    }
}

/// The way of a set for which a rule demands more than was decided.
fn way<'p>(
    policy: &Policy,
    caller: &Caller,
    allowed: AllowedSet<'p>,
    route: &Route,
    then: Then,
) -> RuledRoute<'p> {
    // Whoever decides on it must see it first.
    if policy.authority.decides() && matches!(route, Route::Preview) {
        return RuledRoute::Preview(allowed);
    }
    match policy.writes.under_rule(then, caller.asker.can_ask()) {
        WritePolicy::Preview => RuledRoute::Preview(allowed),
        WritePolicy::Person { .. } => RuledRoute::Ask(allowed),
        WritePolicy::Off
        | WritePolicy::DryRun
        | WritePolicy::Review { .. }
        | WritePolicy::Token(_) => RuledRoute::Open(allowed),
    }
}

#[cfg(test)]
mod tests;
