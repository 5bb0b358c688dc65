//! Tells the story of calls that belong together, in at most eight lines: who asked and with which
//! words; what the rules said; who decided, and what was left out; what changed; what was taken back.

use serde::Serialize;

use super::client::client;
use crate::audit::{
    Actor, AuditEvent, CallGroup, CallHistory, CallId, CallOutcome, Client, Record, SpentApproval,
};
use crate::page::{Whose, own_words};
use crate::words::{and_more, counted, first_of};

/// The most changes that are named; all are counted.
const MOST_NAMED: usize = 5;
/// The most codes of warnings that are named: more than there are checks of ours.
const MOST_CODES: usize = 32;

/// The story, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Story {
    /// Its lines, at most eight.
    pub lines: Vec<StoryLine>,
}

/// A line of a story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoryLine {
    /// What it is about, in a word or two: `asked`, `rules`, `warned of`, `decided`, `left out`, `changed`,
    /// `taken back`, `came to`.
    pub about: &'static str,
    /// What happened, in words of ours and, quoted, of others.
    pub says: String,
    /// The changes that it names, each with the call that has its difference.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<StoryChange>,
}

/// A change that a story names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoryChange {
    /// The call that made it.
    pub call: CallId,
    /// The page: locale and path, else its id.
    pub page: String,
    /// What came of it, where that is not what came of the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'static str>,
}

impl Story {
    /// Tells the story of a group of calls. `joint` stands between a page's locale and path: `:` at a
    /// terminal and in JSON, `/` on a page.
    pub fn new(group: &CallGroup, joint: char) -> Self {
        let lines = [
            asked(group),
            rules(group),
            warned(group.all()).map(|codes| line("warned of", codes)),
            decided(group),
            left_out(group, joint),
            changed(group, joint),
            taken_back(group, joint),
            came_to(group),
        ];
        Self {
            lines: lines.into_iter().flatten().collect(),
        }
    }
}

fn line(about: &'static str, says: String) -> StoryLine {
    StoryLine {
        about,
        says,
        changes: Vec::new(),
    }
}

/// The calls of a group, the oldest first.
fn in_order(group: &CallGroup) -> impl Iterator<Item = &CallHistory> {
    group.calls.iter().rev()
}

/// All records of a group without those of its changes, the oldest first.
fn records(group: &CallGroup) -> impl Iterator<Item = &Record> {
    in_order(group).flat_map(|call| &call.records)
}

/// Who asked for it first, with what, when, and why.
fn asked(group: &CallGroup) -> Option<StoryLine> {
    let first = in_order(group).next().or(group.changes.first())?;
    let caller = first.caller();
    let who = caller.proposer.or(caller.client).map(client);
    let who = who.or_else(|| caller.actor.map(|actor| actor.as_str().to_owned()));
    let mut says = who.unwrap_or_else(|| "somebody".to_owned());
    if let Some(tool) = first.latest(|record| record.tool.as_deref()) {
        says = format!("{says}, with {tool}");
    }
    if let Some(begun) = first.records.first() {
        let time = begun.time.replace('T', " ");
        says = format!("{says}, at {} UTC", time.get(..19).unwrap_or(&time));
    }
    let note = group.all().find_map(|call| {
        let note = call.latest(|record| record.note.as_deref())?;
        Some(own_words(whose(call), note))
    });
    if let Some(note) = note {
        says = format!("{says}; {note}");
    }
    Some(line("asked", says))
}

/// The codes of the warnings of calls, each once.
pub(crate) fn warned<'a>(calls: impl Iterator<Item = &'a CallHistory>) -> Option<String> {
    let mut codes: Vec<&str> = Vec::new();
    for code in calls
        .flat_map(|call| &call.records)
        .flat_map(|record| &record.warnings)
    {
        if !codes.contains(&&**code) && codes.len() < MOST_CODES {
            codes.push(code);
        }
    }
    (!codes.is_empty()).then(|| codes.join(", "))
}

/// What the operator's rules said, if they said anything.
fn rules(group: &CallGroup) -> Option<StoryLine> {
    let of_rules = |record: &&Record| {
        record.gate.as_deref() == Some("rules") || record.warnings.iter().any(|code| code == "rule")
    };
    let record = records(group).find(of_rules)?;
    let says = match (&record.reason, record.event) {
        (Some(reason), _) => reason.clone(),
        (None, AuditEvent::Refusal) => "a rule refused it".to_owned(),
        (None, _) => "a rule left it to a person".to_owned(),
    };
    Some(line("rules", says))
}

/// Who decided, and how.
fn decided(group: &CallGroup) -> Option<StoryLine> {
    let rejected = records(group).find(|record| record.is_rejection());
    if let Some(record) = rejected {
        let by = person(record.actor.as_ref(), record.client.as_ref());
        let why = record.reason.as_deref().unwrap_or("no reason");
        return Some(line("decided", format!("{by} rejected it: {why}")));
    }
    if let Some(call) = in_order(group).find(|call| call.ending == CallOutcome::Withdrawn) {
        let caller = call.caller();
        let by = person(caller.actor, caller.client);
        return Some(line("decided", format!("{by} withdrew it")));
    }
    let sent = in_order(group).chain(&group.changes);
    let mut sent = sent.filter(|call| call.confirmation().is_some());
    let call = sent.next()?;
    let caller = call.caller();
    let by = || person(caller.actor, caller.client);
    Some(line(
        "decided",
        match call.confirmation()? {
            SpentApproval::StaticToken => "the operator's static token confirmed it".to_owned(),
            SpentApproval::Preview(_) => format!("{} confirmed the preview", by()),
            SpentApproval::Yes(_) => "the person at the client said yes".to_owned(),
            SpentApproval::Standing(_, "page") => {
                "an earlier yes of a person to this page covered it".to_owned()
            }
            SpentApproval::Standing(..) => {
                "an earlier yes of a person to this kind of write covered it".to_owned()
            }
            SpentApproval::Proposal(_) => format!("{} applied it", by()),
        },
    ))
}

/// What the person who decided left out.
fn left_out(group: &CallGroup, joint: char) -> Option<StoryLine> {
    let left_out = group.left_out()?;
    let pages = left_out
        .records
        .iter()
        .filter_map(|record| place_of_record(record, joint));
    let pages: Vec<String> = pages.take(MOST_NAMED).collect();
    let mut says = format!("{} of {} changes", left_out.count, left_out.of);
    if !pages.is_empty() {
        let more = left_out.count.saturating_sub(pages.len());
        says = format!("{says}: {}{}", pages.join(", "), and_more(more));
    }
    Some(line("left out", says))
}

/// What was changed, each with its call.
fn changed(group: &CallGroup, joint: char) -> Option<StoryLine> {
    let own = in_order(group).filter(|call| call.sent.is_some() && !call.is_set());
    let sent: Vec<&CallHistory> = match group.changes.as_slice() {
        [] => own.collect(),
        changes => changes.iter().collect(),
    };
    let first = sent.first()?;
    let usual = first.ending;
    let named = sent.iter().take(MOST_NAMED).map(|call| StoryChange {
        call: call.call,
        page: place(call, joint),
        outcome: (call.ending != usual).then(|| call.ending.as_str()),
    });
    let count = group.of_changes.max(sent.len());
    let (added, removed) = group.lines();
    let pages = counted(count, "page", "pages");
    let mut says = format!("{pages}, lines +{added} -{removed}");
    let others = sent.iter().filter(|call| call.ending != usual).count();
    if others > 0 {
        says = format!("{says}; {others} of them ended otherwise");
    }
    Some(StoryLine {
        about: "changed",
        says,
        changes: named.collect(),
    })
}

/// What was taken back since.
fn taken_back(group: &CallGroup, joint: char) -> Option<StoryLine> {
    let undone = group.all().filter(|call| call.undone_by.is_some());
    let undone: Vec<&CallHistory> = undone.collect();
    let by = undone.first()?.undone_by?;
    let whole = undone.iter().any(|call| call.is_set()) || undone.len() == group.all().count();
    let is_unknown = |call: &CallHistory| {
        !call.is_set() && call.undone_by.is_none() && call.ending == CallOutcome::Unknown
    };
    Some(line(
        "taken back",
        if whole && group.all().any(is_unknown) {
            format!("all of it that is known to have been applied, by call {by}")
        } else if whole {
            format!("all of it, by call {by}")
        } else {
            let pages = undone.iter().filter(|call| !call.is_set());
            let pages: Vec<String> = pages.map(|call| place(call, joint)).collect();
            format!("{}, first by call {by}", first_of(&pages, MOST_NAMED))
        },
    ))
}

/// What came of it.
fn came_to(group: &CallGroup) -> Option<StoryLine> {
    let head = group.head()?;
    let ending = head.ending;
    let word = ending.as_str().replace('_', " ");
    let reason = head
        .records
        .last()
        .and_then(|record| record.reason.as_deref());
    let is_told = !matches!(ending, CallOutcome::Rejected | CallOutcome::Withdrawn);
    if reason.is_none() && group.all().count() == 1 {
        // Whoever shows one call says what came of it.
        return None;
    }
    Some(line(
        "came to",
        match reason.filter(|_| is_told) {
            Some(reason) => format!("{word}: {reason}"),
            None => word,
        },
    ))
}

pub(super) fn place(call: &CallHistory, joint: char) -> String {
    let place = call
        .records
        .iter()
        .rev()
        .find_map(|record| place_of_record(record, joint));
    let id = || call.id.map(|id| format!("page {id}"));
    place.or_else(id).unwrap_or_else(|| "no page".to_owned())
}

fn place_of_record(record: &Record, joint: char) -> Option<String> {
    let (locale, path) = (record.locale.as_ref()?, record.path.as_ref()?);
    let place = format!("{}{joint}{}", locale.as_str(), path.as_str());
    Some(match &record.new_path {
        Some(new) => format!("{place} → {}", new.as_str()),
        None => place,
    })
}

fn person(actor: Option<&Actor>, own: Option<&Client>) -> String {
    let actor = actor.map(|actor| actor.as_str().to_owned());
    let person = actor.or_else(|| own.map(client));
    person.unwrap_or_else(|| "somebody".to_owned())
}

/// The author of a call's note: the operator or an agent.
pub fn whose(call: &CallHistory) -> Whose {
    let caller = call.caller();
    match (caller.actor, caller.proposer) {
        (Some(_), None) => Whose::Operator,
        (None, _) | (_, Some(_)) => Whose::Agent,
    }
}
