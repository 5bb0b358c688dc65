//! The question to a person: plain text in which foreign text cannot pass for ours.

use std::iter;

use crate::audit::CallId;
use crate::change::{Change, Warning};
use crate::gates::ChangeSet;
use crate::page::{Field, LineCounts, Note, PageState, is_invisible};
use crate::words::counted;

/// The most of the difference that is shown.
const DIFF: ForeignTextBudget = ForeignTextBudget {
    lines: 40,
    bytes: 2_000,
};
/// The most of paths and values that is shown, and the most lines of one value, so that none of
/// them takes the room of the difference. A title or description of 255 characters takes four
/// lines.
const VALUES: ForeignTextBudget = ForeignTextBudget {
    lines: 40,
    bytes: 2_000,
};
const MAX_LINES_OF_VALUE: usize = 4;
/// The most characters of a line: the client's window would break a longer line, and the rest would
/// bear no mark.
const MAX_CHARS: usize = 80;
/// The beginning of every foreign line, and of every line that continues one.
const MARK: &str = "| ";
const CONTINUED: &str = "|> ";

/// The question about a change.
pub(crate) fn message(
    change: &Change,
    undoes: Option<CallId>,
    (diff, lines): (&str, LineCounts),
    (note, warnings): (Option<&Note>, &[Warning]),
) -> String {
    let target = change.target();
    let mut text = QuestionText::begun("Shall this be written to the wiki?");
    text.say(&format!(
        "Operation: {}{}",
        change.operation(),
        numbered(target)
    ));
    if let Some(call) = undoes {
        text.say(&format!("Takes back: call {call}"));
    }
    text.note(note);
    text.say("Path:");
    text.quote(&place(target), VALUES.lines);
    text.new_path(change);
    let fields = Field::names(&change.fields());
    text.say(&format!("Fields: {}", fields.join(", ")));
    if !change.lost().is_empty() {
        let lost = Field::names(change.lost()).join(", ");
        text.say(&format!("Lost for good, unread: {lost}"));
    }
    if let Some(why) = change.leaves_for_good() {
        text.say(&format!("Cannot return: {why}"));
    }
    text.values(change);
    for field in change.fields() {
        if let Some((diff, lines)) = change.code_diff(field) {
            text.differ(field.name(), &diff, lines);
        }
    }
    text.differ("content", diff, lines);
    if let Some(hidden) = change.hidden_text_added() {
        text.say(&hidden.to_string());
    }
    // Facts that the question states above are not repeated.
    let is_said =
        |code: &str| ["hidden_text_added", "cannot_return", "loss_accepted"].contains(&code);
    let warnings = warnings.iter().filter(|warning| !is_said(&warning.code));
    text.warn(warnings);
    text.said
}

/// A page's place, as a value.
fn place(page: &PageState) -> String {
    format!("{}/{}", page.locale.as_str(), page.path.as_str())
}

/// A page's id as the end of a line, if it has one.
fn numbered(page: &PageState) -> String {
    page.id.map(|id| format!(", page {id}")).unwrap_or_default()
}

/// The number of changes of a set that are described one by one.
const MOST_CHANGES: usize = 20;

/// The question about a set of many changes.
pub(crate) fn message_of_set(
    set: &ChangeSet,
    each: &[Vec<Warning>],
    warnings: &[Warning],
) -> String {
    let all = set.iter().count();
    let mut text = QuestionText::begun(&format!(
        "Shall {} be written to the wiki?",
        if all == 1 {
            "this change".to_owned()
        } else {
            format!("these {all} changes")
        }
    ));
    text.note(set.note());
    let (mut diffs, mut counts) = (String::new(), LineCounts::default());
    let each = each.iter().map(Vec::as_slice).chain(iter::repeat(&[][..]));
    for (number, (one, warnings)) in set.iter().zip(each).enumerate() {
        let change = &one.change;
        let only_mends = set.only_mends(one);
        if only_mends.is_none() {
            let (diff, lines) = change.content_diff();
            diffs.push_str(&diff);
            counts.added += lines.added;
            counts.removed += lines.removed;
        }
        if number >= MOST_CHANGES {
            continue;
        }
        let what = only_mends.map_or_else(
            || Field::names(&change.fields()).join(", "),
            |links| format!("{} mended, nothing else", counted(links, "link", "links")),
        );
        let (operation, target) = (change.operation(), change.target());
        text.say(&format!("{operation}{}: {what}", numbered(target)));
        text.quote(&place(target), VALUES.lines);
        text.new_path(change);
        text.warn(warnings);
    }
    text.warn(warnings);
    let mending = set.batch().mending.as_ref();
    let left = mending.map_or(0, |mending| mending.left.len());
    if left > 0 {
        text.say(&format!("Links to what moves that are not mended: {left}"));
    }
    if all > MOST_CHANGES {
        let more = all - MOST_CHANGES;
        let more = counted(more, "more change is", "more changes are");
        text.say(&format!("({more} not told here)"));
    }
    text.differ("content", &diffs, counts);
    text.said
}

/// The foreign text that may still follow.
struct ForeignTextBudget {
    lines: usize,
    bytes: usize,
}

/// A text under construction.
struct QuestionText {
    said: String,
    /// The room for paths and values that is left.
    room: ForeignTextBudget,
}

impl QuestionText {
    /// A text that begins with what is asked.
    fn begun(asked: &str) -> Self {
        let mut text = Self {
            said: asked.to_owned(),
            room: VALUES,
        };
        text.say(&format!(
            "Lines that begin with \"{}\" are text of the page or of the model, not of this server.",
            MARK.trim_end()
        ));
        text
    }

    /// Adds the new path of a page that moves.
    fn new_path(&mut self, change: &Change) {
        if let Some(after) = change.after().filter(|_| change.moves()) {
            self.say("New path:");
            self.quote(&place(after), VALUES.lines);
        }
    }

    /// Adds the changed values, but for the place and those that have a difference.
    fn values(&mut self, change: &Change) {
        let is_said = |field: &Field| {
            field.is_code() || matches!(field, Field::Content | Field::Path | Field::Locale)
        };
        for field in change.fields().into_iter().filter(|field| !is_said(field)) {
            for (when, page) in [("before", change.before()), ("after", change.after())] {
                let is_unread = when == "before" && change.lost().contains(&field);
                if let Some(page) = page.filter(|_| !is_unread) {
                    let value = page.value(field);
                    let value = value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned);
                    self.say(&format!("{} {when}:", field.name()));
                    self.quote(&value, MAX_LINES_OF_VALUE);
                }
            }
        }
    }

    /// Adds a line of ours.
    fn say(&mut self, line: &str) {
        self.said.push('\n');
        self.said.push_str(line);
    }

    /// Adds the note, as foreign text.
    fn note(&mut self, note: Option<&Note>) {
        if let Some(note) = note {
            self.say("Why:");
            self.quote(&note.to_string(), MAX_LINES_OF_VALUE);
        }
    }

    /// Adds the warnings of checks, as foreign text.
    fn warn<'a>(&mut self, warnings: impl IntoIterator<Item = &'a Warning>) {
        for warning in warnings {
            self.say("Warning:");
            self.quote(&warning.to_string(), MAX_LINES_OF_VALUE);
        }
    }

    /// Adds foreign text.
    fn quote(&mut self, foreign: &str, most_lines: usize) {
        let mut left = ForeignTextBudget {
            lines: most_lines.min(self.room.lines),
            ..self.room
        };
        let most = left.lines;
        if foreign.is_empty() {
            self.say("(empty)");
        }
        let is_whole = lines(foreign).all(|line| self.quote_line(line, &mut left));
        let shown = most - left.lines;
        if !is_whole {
            let all: usize = lines(foreign)
                .map(|line| pieces(&escaped(line)).len())
                .sum();
            self.say(&format!(
                "(cut here: {} of {all} lines are not shown)",
                all.saturating_sub(shown)
            ));
        }
        self.room.lines -= shown;
        self.room.bytes = left.bytes;
    }

    /// Adds a difference with its counts. Added and removed lines have separate room, so that
    /// neither can crowd out the other.
    fn differ(&mut self, what: &str, diff: &str, counts: LineCounts) {
        self.say(&format!(
            "Lines of {what}: {} added, {} removed",
            counts.added, counts.removed
        ));
        let lines = shortened(diff);
        let part = if counts.added > 0 && counts.removed > 0 {
            2
        } else {
            1
        };
        let room = || ForeignTextBudget {
            lines: DIFF.lines / part,
            bytes: DIFF.bytes / part,
        };
        let (mut for_added, mut for_rest) = (room(), room());
        let mut missing = 0_usize;
        for line in &lines {
            let room = if line.starts_with('+') {
                &mut for_added
            } else {
                &mut for_rest
            };
            if missing > 0 && room.lines == 0 {
                missing += 1;
            } else if !self.quote_line(line, room) {
                // Nothing more of this kind is shown, so that there are no hidden gaps.
                room.lines = 0;
                missing += 1;
                self.say("(cut here)");
            }
        }
        if missing > 0 {
            self.say(&format!(
                "{missing} of {} lines are not shown, or not whole.",
                lines.len()
            ));
        }
    }

    /// Adds one foreign line: marked, in short pieces, without characters that hide or reorder
    /// text. False if it had to be cut.
    fn quote_line(&mut self, line: &str, room: &mut ForeignTextBudget) -> bool {
        let mut mark = MARK;
        for piece in pieces(&escaped(line)) {
            let quoted = format!("{mark}{piece}");
            if room.lines == 0 || room.bytes < quoted.len() {
                return false;
            }
            room.lines -= 1;
            room.bytes -= quoted.len();
            self.say(&quoted);
            mark = CONTINUED;
        }
        true
    }
}

/// The lines of a text, with the carriage returns before their ends.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.strip_suffix('\n').unwrap_or(text).split('\n')
}

/// The lines of a difference. If one single line replaces another, their common beginning is left
/// out, so that the difference is visible.
fn shortened(diff: &str) -> Vec<String> {
    // A line end that is missing before and after is not a difference.
    let notes = lines(diff).filter(|line| line.starts_with('\\')).count();
    let is_line = |line: &&str| !(line.is_empty() || (notes == 2 && line.starts_with('\\')));
    let mut all: Vec<String> = lines(diff).filter(is_line).map(str::to_owned).collect();
    let kind = |line: Option<&String>| line.and_then(|line| line.chars().next());
    for at in 1..all.len() {
        let around = [at.checked_sub(2), at.checked_sub(1), Some(at), Some(at + 1)];
        let kinds = around.map(|at| kind(at.and_then(|at| all.get(at))));
        let [before, Some('-'), Some('+'), after] = kinds else {
            continue;
        };
        if before == Some('-') || after == Some('+') {
            continue;
        }
        if let Ok([old, new]) = all.get_disjoint_mut([at - 1, at]) {
            let pairs = old.chars().skip(1).zip(new.chars().skip(1));
            let same = pairs.take_while(|(old, new)| old == new).count();
            if let Some(cut) = same.checked_sub(MAX_CHARS / 2).filter(|cut| *cut > 1) {
                *old = format!("-…{}", old.chars().skip(1 + cut).collect::<String>());
                *new = format!("+…{}", new.chars().skip(1 + cut).collect::<String>());
            }
        }
    }
    all
}

/// A line's characters as they are shown.
fn escaped(line: &str) -> Vec<String> {
    line.chars().map(shown).collect()
}

/// A line in pieces that are short enough; at least one.
fn pieces(line: &[String]) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut width = 0;
    for shown in line {
        let more = shown.chars().count();
        if width + more > MAX_CHARS {
            pieces.push(String::new());
            width = 0;
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push_str(shown);
        }
        width += more;
    }
    pieces
}

/// A character as it is shown: escaped if it is invisible, or a space other than the plain one.
fn shown(c: char) -> String {
    if c == ' ' || !(c.is_control() || c.is_whitespace() || is_invisible(c)) {
        c.to_string()
    } else {
        c.escape_default().to_string()
    }
}

#[cfg(test)]
mod tests;
