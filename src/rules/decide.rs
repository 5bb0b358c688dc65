//! Finds the rules that hold for a set of changes.

use super::{ChangeFacts, Facts, Rule, RuleBook, RuleCondition};
use crate::change::Operation;
use crate::page::{Locale, PagePath};

/// The match of a rule with a change that is known only in part, before it is made. Of several
/// conditions of a rule, the greatest value decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Could {
    /// It holds, whatever else the change is.
    Holds,
    /// It holds for some such changes.
    May,
    /// It holds for no such change.
    Never,
}

impl RuleBook {
    /// The strictest rule that holds; of several, the first.
    pub fn verdict(&self, facts: &Facts) -> Option<&Rule> {
        // Of equal rules, `max_by_key` takes the last.
        let all = self.all_that_hold(facts).into_iter().rev();
        all.max_by_key(|rule| rule.then)
    }

    /// All rules that hold, in their order.
    pub fn all_that_hold(&self, facts: &Facts) -> Vec<&Rule> {
        let holds = |rule: &&Rule| rule.when.holds(facts);
        self.rules().filter(holds).collect()
    }
}

impl RuleCondition {
    /// True if every condition holds for a set.
    fn holds(&self, facts: &Facts) -> bool {
        let is_over = |over: Option<u64>, count: usize| {
            over.is_none_or(|over| u64::try_from(count).is_ok_and(|count| count > over))
        };
        let is_busy = |over| facts.writes_of_day > over;
        let about = || facts.changes.iter().filter(|change| self.is_about(change));
        let asked_for = || about().filter(|change| change.is_asked_for);
        let deletes = || asked_for().filter(|change| change.operation == Operation::Delete);
        is_one_of(self.clients.as_ref(), &facts.clients)
            && is_one_of(self.people.as_ref(), &facts.people)
            && self.writes_per_day_over.is_none_or(is_busy)
            && about().next().is_some()
            && is_over(self.pages_over, asked_for().count())
            && is_over(self.deletes_over, deletes().count())
    }

    /// True if every condition on a single change holds for this change.
    fn is_about(&self, change: &ChangeFacts) -> bool {
        fn any<T>(wanted: Option<&Vec<T>>, is_it: impl Fn(&T) -> bool) -> bool {
            wanted.is_none_or(|wanted| wanted.iter().any(is_it))
        }
        any(self.paths.as_ref(), |prefix| {
            let mut places = change.places.iter();
            places.any(|(locale, path)| prefix.holds(locale, path))
        }) && any(self.operations.as_ref(), |operation| {
            change.operation == *operation || change.moves && *operation == Operation::Move
        }) && any(self.fields.as_ref(), |field| change.fields.contains(field))
            && any(self.tags.as_ref(), |tag| {
                change.tags.iter().any(|own| tag.matches(own))
            })
            && any(self.warnings.as_ref(), |code| {
                change.warnings.contains(code)
            })
            && self
                .lines_removed_over
                .is_none_or(|over| change.lines_removed > over)
            && (!self.grave_secret || change.adds_grave_secret)
    }
}

/// True if one of these names is wanted, whatever the letter case; `None` wants all.
fn is_one_of(wanted: Option<&Vec<String>>, names: &[String]) -> bool {
    wanted.is_none_or(|wanted| {
        let is_wanted = |name: &String| {
            let name = name.to_lowercase();
            wanted.iter().any(|wanted| wanted.to_lowercase() == name)
        };
        names.iter().any(is_wanted)
    })
}

impl Rule {
    /// Matches the rule with a change of which only these facts are known; `None` is unknown.
    pub fn could(
        &self,
        client: Option<&str>,
        place: Option<(Option<&Locale>, &PagePath)>,
        operation: Option<Operation>,
    ) -> Could {
        let when = &self.when;
        let is_it = |wanted: Option<&Vec<String>>| {
            client.is_some_and(|client| is_one_of(wanted, &[client.to_owned()]))
        };
        let of_client = match (&when.clients, client) {
            (None, _) => Could::Holds,
            (Some(_), Some(_)) if is_it(when.clients.as_ref()) => Could::Holds,
            (Some(_), Some(_)) => Could::Never,
            (Some(_), None) => Could::May,
        };
        // A rule may name a person by their subject, which is not known here.
        let of_person = match &when.people {
            Some(_) if !is_it(when.people.as_ref()) => Could::May,
            _ => Could::Holds,
        };
        let of_place = match (&when.paths, place) {
            (None, _) => Could::Holds,
            (Some(_), None) => Could::May,
            (Some(paths), Some((locale, path))) => paths
                .iter()
                .map(|prefix| match (locale, &prefix.locale) {
                    _ if !path.is_within(&prefix.path) => Could::Never,
                    (Some(locale), Some(own)) if locale != own => Could::Never,
                    (None, Some(_)) => Could::May,
                    _ => Could::Holds,
                })
                .min()
                // The other end of a move may lie below the rule's paths.
                .map_or(Could::Never, |could| match (could, operation) {
                    (Could::Never, None | Some(Operation::Move | Operation::Update)) => Could::May,
                    (could, _) => could,
                }),
        };
        let of_operation = match (&when.operations, operation) {
            (None, _) => Could::Holds,
            (Some(_), None) => Could::May,
            (Some(all), Some(wanted)) if all.contains(&wanted) => Could::Holds,
            // An update can move the page as well.
            (Some(all), Some(Operation::Update)) if all.contains(&Operation::Move) => Could::May,
            (Some(_), Some(_)) => Could::Never,
        };
        let asks_more = when.fields.is_some()
            || when.tags.is_some()
            || when.warnings.is_some()
            || when.lines_removed_over.is_some()
            || when.pages_over.is_some_and(|over| over > 0)
            || when.deletes_over.is_some()
            || when.writes_per_day_over.is_some()
            || when.grave_secret;
        let more = if asks_more { Could::May } else { Could::Holds };
        let all = [of_client, of_person, of_place, of_operation, more];
        all.into_iter().max().unwrap_or(Could::May)
    }
}

#[cfg(test)]
mod tests;
