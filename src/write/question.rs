//! What a person is asked: plain text in which nobody else can speak in our words.

use crate::audit::CallId;
use crate::change::Change;
use crate::gates::Scope;
use crate::page::{Field, LineCounts, PageState, is_invisible};

/// How much of the difference is shown.
const DIFF: Room = Room {
    lines: 40,
    bytes: 2_000,
};
/// How much of paths and values is shown, and how many lines of one value: none of them may
/// take the place of the difference.
const VALUES: Room = Room {
    lines: 40,
    bytes: 2_000,
};
const MAX_LINES_OF_VALUE: usize = 3;
/// The most characters of a line: a longer one would be broken by the client's window, and
/// what follows the break would bear no mark.
const MAX_CHARS: usize = 80;
/// What every line begins with that is not ours, and every line that continues one.
const MARK: &str = "| ";
const CONTINUED: &str = "|> ";

/// What a person is asked, and what may be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question, in plain text.
    pub message: String,
    /// How far a yes may go.
    pub scopes: &'static [Scope],
}

/// The question about a change.
pub(super) fn message(
    change: &Change,
    undoes: Option<CallId>,
    (diff, lines): (&str, LineCounts),
) -> String {
    let target = change.target();
    let mut text = Text::default();
    text.say("Shall this be written to the wiki?");
    text.say(&format!(
        "Lines that begin with \"{}\" are text of the page or of the model, not of this server.",
        MARK.trim_end()
    ));
    let id = target.id.map(|id| format!(", page {id}"));
    text.say(&format!(
        "Operation: {}{}",
        change.operation(),
        id.unwrap_or_default()
    ));
    if let Some(call) = undoes {
        text.say(&format!("Takes back: call {call}"));
    }
    let mut room = VALUES;
    let place = |page: &PageState| format!("{}/{}", page.locale.as_str(), page.path.as_str());
    text.say("Path:");
    text.quote(&place(target), VALUES.lines, &mut room);
    if let Some(after) = change.after().filter(|_| change.moves()) {
        text.say("New path:");
        text.quote(&place(after), VALUES.lines, &mut room);
    }
    let fields = change.fields();
    let names: Vec<&str> = fields.iter().copied().map(Field::name).collect();
    text.say(&format!("Fields: {}", names.join(", ")));
    if !change.lost().is_empty() {
        let lost: Vec<&str> = change.lost().iter().copied().map(Field::name).collect();
        text.say(&format!("Lost for good, unread: {}", lost.join(", ")));
    }
    let is_said = |field: &Field| matches!(field, Field::Content | Field::Path | Field::Locale);
    for field in fields.into_iter().filter(|field| !is_said(field)) {
        for (when, page) in [("before", change.before()), ("after", change.after())] {
            let is_unread = when == "before" && change.lost().contains(&field);
            if let Some(page) = page.filter(|_| !is_unread) {
                let value = page.value(field);
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                text.say(&format!("{} {when}:", field.name()));
                text.quote(&value, MAX_LINES_OF_VALUE, &mut room);
            }
        }
    }
    text.say(&format!(
        "Lines of content: {} added, {} removed",
        lines.added, lines.removed
    ));
    if !diff.is_empty() {
        text.quote(diff, DIFF.lines, &mut { DIFF });
    }
    text.said
}

/// How much text that is not ours may still follow.
struct Room {
    lines: usize,
    bytes: usize,
}

/// A text that is being put together.
#[derive(Default)]
struct Text {
    said: String,
}

impl Text {
    /// A line of ours.
    fn say(&mut self, line: &str) {
        if !self.said.is_empty() {
            self.said.push('\n');
        }
        self.said.push_str(line);
    }

    /// Text that is not ours: every line marked, short, and with nothing in it that hides or
    /// turns what is seen.
    fn quote(&mut self, foreign: &str, most_lines: usize, room: &mut Room) {
        let mut left = most_lines.min(room.lines);
        if foreign.is_empty() {
            self.say("(empty)");
        }
        for line in foreign.lines() {
            let line: Vec<String> = line.chars().map(shown).collect();
            let mut mark = MARK;
            for piece in pieces(&line) {
                let quoted = format!("{mark}{piece}");
                if left == 0 || room.bytes < quoted.len() {
                    return self.say("(cut here)");
                }
                left -= 1;
                room.lines -= 1;
                room.bytes -= quoted.len();
                self.say(&quoted);
                mark = CONTINUED;
            }
        }
    }
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

/// A character as it is seen: escaped if it cannot be, or if it is another space than the
/// plain one.
fn shown(c: char) -> String {
    if c == ' ' || !(c.is_control() || c.is_whitespace() || is_invisible(c)) {
        c.to_string()
    } else {
        c.escape_default().to_string()
    }
}

#[cfg(test)]
mod tests;
