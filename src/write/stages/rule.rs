//! What the operator's rules make of the way of a set: they can only make it stricter.

use std::time::Duration;

use time::OffsetDateTime;

use crate::change::Warning;
use crate::gates::{ConfirmMode, Demand, Gate, Policy, Refusal, rules, undecided};
use crate::rules::{Facts, Then};

use super::check::Checked;
use crate::write::caller::Caller;
use crate::write::desk::Desk;
use crate::write::docket::unavailable;
use crate::write::route::{Route, Warrant};

/// How long a person may think who is asked since a rule wants it.
pub(in crate::write) const THINKING: Duration = Duration::from_secs(50);

/// The way that a set goes on, by the rules.
pub(in crate::write) enum Way {
    /// As it was, or left open.
    On(Route),
    /// A person is asked first, though the policy alone asks for none.
    Ask,
}

/// Holds the rules against a set on its way.
///
/// # Errors
/// `RULE_DENIED`, or that the record does not tell how much the client wrote.
pub(in crate::write) async fn held(
    desk: &Desk,
    policy: &Policy,
    caller: &Caller,
    checked: &mut Checked,
    route: Route,
) -> Result<Way, Refusal> {
    if checked.facts.is_empty() {
        return Ok(Way::On(route));
    }
    let clients = caller.client.names();
    let writes_of_day = if policy.rules.counts_writes() {
        let since = OffsetDateTime::now_utc() - time::Duration::days(1);
        let counted = desk.audit.writes_since(clients.clone(), since).await;
        counted.map_err(|error| Refusal::at(Gate::Record, unavailable(&error)))?
    } else {
        0
    };
    let facts = Facts {
        clients,
        writes_of_day,
        changes: checked.facts.clone(),
    };
    let demand = rules(&policy.rules, &facts, is_decided(policy, caller, &route))?;
    let Some(demand) = demand else {
        return Ok(Way::On(route));
    };
    let way = way(policy, caller, route, &demand)?;
    if matches!(way, Way::On(Route::Open)) && demand.then != Then::Preview {
        let message = format!("The rule {} leaves this to a person.", demand.rule);
        checked.notes.warnings.push(Warning::new("rule", message));
    }
    Ok(way)
}

/// Whether a person said yes to this very set.
fn is_decided(policy: &Policy, caller: &Caller, route: &Route) -> bool {
    match route {
        Route::Send(Warrant::Person(_)) => true,
        Route::Send(_) => matches!(policy.confirm, ConfirmMode::Operator) && caller.is_decided,
        Route::Preview | Route::Open | Route::Ask => false,
    }
}

fn way(policy: &Policy, caller: &Caller, route: Route, demand: &Demand) -> Result<Way, Refusal> {
    Ok(match (&policy.confirm, route, demand.then) {
        // Whoever applies it has it in sight, and decides then.
        (ConfirmMode::Operator, Route::Send(_), Then::Person | Then::Review | Then::Deny) => {
            return Err(undecided(demand));
        }
        // It is left open, or a person is asked anyway.
        (ConfirmMode::Operator, route, _) | (_, route @ (Route::Open | Route::Ask), _) => {
            Way::On(route)
        }
        // The token of a preview was given, or is to be.
        (ConfirmMode::Preview | ConfirmMode::Person { .. }, route, Then::Preview) => Way::On(route),
        (ConfirmMode::Preview, _, Then::Person) if caller.asker.can_ask() => Way::Ask,
        // A static token shows nobody anything.
        _ => Way::On(Route::Open),
    })
}
