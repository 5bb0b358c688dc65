//! `wikijs-gate rules test`: applies today's rules to the recorded writes.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use time::{Duration, OffsetDateTime};
use url::Url;

use super::tables;
use crate::audit::{
    AuditError, AuditEvent, AuditLog, CallHistory, CallId, CallOutcome, Client,
    ReconstructedChange, TimeArg,
};
use crate::change::{Operation, Surroundings};
use crate::cli::prelude::*;
use crate::cli::print::harmless;
use crate::rules::{ChangeFacts, Facts, RuleBook, Then};
use crate::words::behind;

/// The most calls that are shown.
const MOST_SHOWN: usize = 200;

/// Arguments of `rules test`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each write on record counts as a set of one, and each proposal with all its changes. Its warnings are\nthose on record and those that the checks of today give for the pages as they were kept. Rules are\nnot for takings back.\n\nExamples:\n  wikijs-gate rules test --since 30d\n  wikijs-gate rules test --since 2030-01-31 --json"
)]
pub(in crate::cli) struct Arguments {
    /// Begun at this time or later: a date, an RFC 3339 time, or how long ago (`7d`, `24h`, `30m`)
    #[arg(long, value_name = "WHEN", value_parser = TimeArg::parse)]
    since: Option<TimeArg>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// A call that a rule would have matched.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Met {
    call: CallId,
    time: String,
    client: String,
    operation: Option<Operation>,
    page: String,
    rule: String,
    then: Then,
}

#[derive(Debug, Default)]
struct RuleTestResult {
    writes: u64,
    /// By rule.
    met: BTreeMap<String, (u64, &'static str)>,
    /// The newest.
    calls: VecDeque<Met>,
    /// Calls whose pages are not kept any more: only their records were checked.
    without_pages: u64,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let (log, wiki) = (start::audit_log()?, start::audit_settings()?.base_url);
    let rules = tables()?.rules;
    let replay = Replay {
        log: &log,
        rules: &rules,
        wiki: &wiki,
        since: arguments.since.map(TimeArg::begin),
    };
    let found = replay.run()?;
    if arguments.json {
        let rules: Vec<_> = found
            .met
            .iter()
            .map(|(rule, (count, then))| json!({ "rule": rule, "then": then, "count": count }))
            .collect();
        let answer = json!({
            "writes": found.writes,
            "rules": rules,
            "calls": found.calls,
            "withoutPages": found.without_pages,
        });
        return print::json(&answer);
    }
    show(&found);
    Ok(Exit::Done)
}

struct Replay<'a> {
    log: &'a AuditLog,
    rules: &'a RuleBook,
    wiki: &'a Url,
    since: Option<OffsetDateTime>,
}

impl Replay<'_> {
    fn run(&self) -> Result<RuleTestResult, AuditError> {
        let mut found = RuleTestResult::default();
        let mut days = Days::default();
        let mut fault = None;
        self.log.calls.each(|call| {
            let ending = call.ending;
            // Each change of a set that was sent has a call of its own.
            let is_write = ending.is_write() && !call.is_set();
            let is_asked_for = is_write || ending == CallOutcome::Proposal;
            if !is_asked_for || fault.is_some() {
                return;
            }
            let began = call.began;
            let writes_of_day = if self.rules.counts_writes() {
                days.before(&call, is_write)
            } else {
                0
            };
            if call.latest(|record| record.undoes).is_some() {
                return;
            }
            if self.since.is_some_and(|since| began < Some(since)) {
                return;
            }
            if let Err(error) = self.hold(&call, writes_of_day, &mut found) {
                fault = Some(error);
            }
        })?;
        fault.map_or(Ok(found), Err)
    }

    /// Applies the rules to a call.
    fn hold(
        &self,
        call: &CallHistory,
        writes_of_day: u64,
        found: &mut RuleTestResult,
    ) -> Result<(), AuditError> {
        found.writes += 1;
        let (mut changes, mut has_lost) = (Vec::new(), false);
        if call.is_set() {
            // A proposed set has a record of each change.
            let previews = { call.records.iter() }.filter(|it| it.event == AuditEvent::Preview);
            for preview in previews {
                let alone = CallHistory::new(call.call, vec![preview.clone()], false);
                changes.extend(self.change(&alone, &mut has_lost)?);
            }
        } else {
            changes.extend(self.change(call, &mut has_lost)?);
        }
        found.without_pages += u64::from(has_lost);
        let facts = Facts {
            clients: names(call),
            people: call.caller().client.map(Client::people).unwrap_or_default(),
            writes_of_day,
            changes,
        };
        let Some(rule) = self.rules.verdict(&facts) else {
            return Ok(());
        };
        let (name, then) = (&rule.name, rule.then);
        let (count, _) = found
            .met
            .entry(name.to_owned())
            .or_insert((0, then.as_str()));
        *count += 1;
        found.calls.push_back(Met {
            call: call.call,
            time: call
                .records
                .first()
                .map_or_else(String::new, |record| record.time.clone()),
            client: call.caller().who().unwrap_or_default().to_owned(),
            operation: call.operation,
            page: match call.pages() {
                pages @ 2.. => format!("{pages} pages"),
                _ => page(call),
            },
            rule: name.to_owned(),
            then,
        });
        if found.calls.len() > MOST_SHOWN {
            found.calls.pop_front();
        }
        Ok(())
    }

    /// The facts of a change: by its states, else by its record alone.
    fn change(
        &self,
        call: &CallHistory,
        has_lost: &mut bool,
    ) -> Result<Option<ChangeFacts>, AuditError> {
        let kept = self.log.writes.kept_change_of(call)?;
        *has_lost |= !matches!(
            kept,
            ReconstructedChange::Change(_) | ReconstructedChange::NeverKept
        );
        let change = if let ReconstructedChange::Change(change) = kept {
            let lines = change.content_difference().counts();
            let around = Surroundings {
                wiki: self.wiki,
                pages: None,
                site: None,
                own: &[],
            };
            let warnings = change.check(lines, around);
            Some(ChangeFacts::new(&change, lines, &warnings))
        } else {
            of_record(call)
        };
        // Some checks ask the wiki or run the operator's commands: their warnings are on record.
        Ok(change.map(|mut facts| {
            for code in call.records.iter().flat_map(|record| &record.warnings) {
                if !facts.warnings.contains(code) {
                    facts.warnings.push(code.clone());
                }
            }
            facts
        }))
    }
}

/// The names that a caller goes by.
fn names(call: &CallHistory) -> Vec<String> {
    let client = call.caller().proposer.or(call.caller().client);
    client.map_or_else(Vec::new, Client::names)
}

fn page(call: &CallHistory) -> String {
    let locale = call.latest(|record| record.locale.as_ref());
    let path = call.place();
    match (locale, path) {
        (Some(locale), Some(path)) => format!("{locale}:{path}"),
        _ => String::new(),
    }
}

/// The facts of a change that its record alone has.
fn of_record(call: &CallHistory) -> Option<ChangeFacts> {
    let record = call.records.last()?;
    let locale = call.latest(|record| record.locale.clone())?;
    let path = call.latest(|record| record.path.clone());
    let new_path = call.latest(|record| record.new_path.clone());
    Some(ChangeFacts {
        operation: call.operation?,
        moves: new_path.is_some(),
        places: [path, new_path]
            .into_iter()
            .flatten()
            .map(|path| (locale.clone(), path))
            .collect(),
        fields: record.fields.clone(),
        lines_removed: record.lines_removed,
        ..ChangeFacts::empty()
    })
}

/// The writes of the last 24 hours, each with its client; counted as the server counts them.
#[derive(Default)]
struct Days(VecDeque<(OffsetDateTime, Client)>);

impl Days {
    /// The number of writes that the client of a call made in the 24 hours before it.
    fn before(&mut self, call: &CallHistory, is_write: bool) -> u64 {
        let Some(began) = call.began else {
            return 0;
        };
        let day = Duration::days(1);
        while self.0.front().is_some_and(|(time, _)| *time + day < began) {
            self.0.pop_front();
        }
        let caller = call.caller();
        let own = caller.proposer.or(caller.client);
        let is_own = |(_, client): &&(OffsetDateTime, Client)| {
            own.is_some_and(|own| own.is_counted_with(client))
        };
        let count = self.0.iter().filter(is_own).count();
        if let Some(client) = call.caller().client.filter(|_| is_write) {
            self.0.push_back((began, client.clone()));
        }
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

fn show(found: &RuleTestResult) {
    if !found.calls.is_empty() {
        let mut table = Table::new("time (UTC) | call | client | operation | page | rule | then");
        for met in found.calls.iter().rev() {
            let time = met.time.get(..19).unwrap_or(&met.time).replace('T', " ");
            let paint = match met.then {
                Then::Deny => Paint::Red,
                Then::Review | Then::Person => Paint::Yellow,
                Then::Preview => Paint::Dim,
            };
            table.row(vec![
                harmless(&time).into(),
                met.call.to_string().into(),
                harmless(&met.client).into(),
                met.operation.map_or("", Operation::as_str).into(),
                harmless(&met.page).into(),
                met.rule.clone().into(),
                Cell::painted(met.then.as_str(), paint),
            ]);
        }
        table.print();
    }
    let met: u64 = found.met.values().map(|(count, _)| count).sum();
    let each = { found.met.iter() }.map(|(rule, (count, then))| format!("{rule} ({then}) {count}"));
    let each = behind(": ", &separated(each, ", "));
    say!(
        "rules hold for {met} of {} writes and proposals on record{each}",
        found.writes
    );
    if found.without_pages > 0 {
        remark!(
            "of {} the pages are not kept any more: their tags were not looked at, nor today's checks",
            found.without_pages
        );
    }
}
