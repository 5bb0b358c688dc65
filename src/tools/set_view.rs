//! Shows the changes of a set. In brief: what will happen to it, the warnings and the counts, then a
//! line for each change and a few differences; in full, each change with its values and difference.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::output::{count, is_default, some_count, without_nulls};
use crate::change::{Operation, Warning};
use crate::error::capitalised;
use crate::gates::{LeftOut, LinkLeft};
use crate::page::{Field, Note, escape_hidden};
use crate::view::{ChangeView, SAMPLES};
use crate::words::counted;
use crate::write::{Extent, LinkedFrom, PROPOSED, Preview, WAITS};

/// How to see the rest of a set.
const FULL_OF_SET: &str = "detail \"full\" shows each change with its difference and warnings; wikijs_get_change_set with id (previewId) and offset shows them in parts.";

/// The most lines of changes in a brief view.
const MAX_LINES: usize = 50;
/// The most bytes of such a line.
const MAX_LINE: usize = 110;
/// The room for the fields in it, and for the codes of its warnings.
const MAX_FIELDS: usize = 36;
/// The bytes of warnings, of pages and of links above which a brief view counts them by kind.
const MAX_WARNINGS: usize = 1_500;
const MAX_NAMED: usize = 600;
/// The most links left that one answer names.
const MAX_LINKS_LEFT: usize = 100;

/// The codes of warnings that the verdict repeats.
const OF_VERDICT: [&str; 3] = ["rule", PROPOSED, WAITS];

/// The preview of a set of changes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetShown {
    preview: bool,
    /// What will happen to it.
    verdict: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Grouped<Warning>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<Grouped<LeftOut>>,
    #[serde(flatten)]
    links_left: LinksLeft,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    linked_from: Vec<Grouped<LinkedFrom>>,
    #[serde(skip_serializing_if = "is_default")]
    lines_added: i64,
    #[serde(skip_serializing_if = "is_default")]
    lines_removed: i64,
    #[serde(flatten)]
    changes: ChangesView,
    note: Option<String>,
    confirm: Option<String>,
    confirm_expires_at: Option<String>,
    proposal: Option<String>,
    preview_id: String,
}

impl SetShown {
    pub(super) fn new(shown: Preview, extent: Extent) -> Self {
        let verdict = verdict(&shown);
        let mut warnings = shown.notes.warnings;
        if extent == Extent::Brief {
            warnings.retain(|warning| !OF_VERDICT.contains(&&*warning.code));
            warnings.extend(shown.changes.iter().flat_map(placed_warnings));
        }
        let mut changes = ChangesView::new(shown.changes, (0, shown.pages), extent);
        let warnings = group_warnings(warnings, extent);
        let left_out = grouped(shown.left_out, (extent, MAX_NAMED), |page| &page.why);
        let links_left = LinksLeft::new(shown.links_left, extent);
        let linked_from = grouped(shown.notes.linked_from, (extent, MAX_NAMED), |_| "");
        if is_counted(&warnings)
            || is_counted(&left_out)
            || is_counted(&links_left.links_left)
            || is_counted(&linked_from)
        {
            changes.hint = Some(FULL_OF_SET);
        }
        Self {
            preview: true,
            verdict,
            warnings,
            left_out,
            links_left,
            linked_from,
            lines_added: count(shown.lines.added),
            lines_removed: count(shown.lines.removed),
            changes,
            note: said(shown.notes.note),
            confirm: shown.confirm.as_ref().map(|confirm| confirm.token.clone()),
            confirm_expires_at: shown.confirm.map(|confirm| confirm.expires_at),
            proposal: shown.proposal.map(|id| id.to_string()),
            preview_id: shown.call.to_string(),
        }
    }
}

/// What will happen to a set, in sentences.
fn verdict(shown: &Preview) -> String {
    let warnings = shown.notes.warnings.iter();
    let told = warnings.filter(|warning| OF_VERDICT.contains(&&*warning.code));
    let mut sentences: Vec<String> = told.map(|warning| capitalised(&warning.message)).collect();
    // A rule that leaves it to people says what confirm does.
    if shown.confirm.is_some() && sentences.is_empty() {
        let changes = counted(shown.pages, "change", "changes");
        sentences.push(format!(
            "Nothing was sent; confirm sends this set of {changes}."
        ));
    } else if shown.confirm.is_none() && shown.proposal.is_none() {
        sentences.push("Nothing was sent.".to_owned());
    }
    sentences.extend(shown.draft.map(|(digest, is_as_joined)| {
        if is_as_joined {
            format!("It does exactly what joining the draft showed last (digest {digest}).")
        } else {
            format!("It differs from what joining the draft showed last (digest {digest}): changes that a page already has are left out, and links to moved pages are mended.")
        }
    }));
    sentences.join(" ")
}

/// The warnings about a change, each with its page.
pub(super) fn placed_warnings(line: &ChangeView) -> impl Iterator<Item = Warning> {
    let place = place(&line.target.locale, &line.target.path);
    { line.warnings.iter() }.map(move |warning| about(&place, warning))
}

/// A warning about a change of a set, with the place of its page.
pub(super) fn about(place: &str, warning: &Warning) -> Warning {
    Warning {
        message: format!("{place}: {}", warning.message),
        ..warning.clone()
    }
}

/// Somebody's own words, marked as such.
pub(super) fn said(note: Option<Note>) -> Option<String> {
    note.map(|note| note.to_string())
}

/// An item, and how many others of its kind there are.
#[derive(Debug, Serialize)]
pub(super) struct Grouped<T> {
    #[serde(flatten)]
    first: T,
    #[serde(skip_serializing_if = "is_default")]
    more: i64,
}

/// Items; in brief, if they take more than so many bytes, the first of each kind and the numbers of the
/// others.
fn grouped<T: Serialize>(
    items: Vec<T>,
    (extent, most): (Extent, usize),
    kind: impl Fn(&T) -> &str,
) -> Vec<Grouped<T>> {
    let is_many = extent == Extent::Brief && without_nulls(json!(items)).to_string().len() > most;
    let mut groups: Vec<Grouped<T>> = Vec::new();
    for first in items {
        let same = |group: &&mut Grouped<T>| is_many && kind(&group.first) == kind(&first);
        match groups.iter_mut().find(same) {
            Some(group) => group.more = group.more.saturating_add(1),
            None => groups.push(Grouped { first, more: 0 }),
        }
    }
    groups
}

/// Warnings; where a brief answer has no room for all, the first of each kind and the number of others.
pub(super) fn group_warnings(warnings: Vec<Warning>, extent: Extent) -> Vec<Grouped<Warning>> {
    grouped(warnings, (extent, MAX_WARNINGS), |warning| &warning.code)
}

/// True if others of a kind are only counted.
fn is_counted<T>(groups: &[Grouped<T>]) -> bool {
    groups.iter().any(|group| group.more > 0)
}

/// The changes of a set, from one of them on.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChangesView {
    /// Number of changes of the whole set.
    pages: i64,
    /// Number of links that are mended in pages of which nothing else changes, and of these pages.
    #[serde(skip_serializing_if = "is_default")]
    links_mended: i64,
    #[serde(skip_serializing_if = "is_default")]
    pages_mended: i64,
    #[serde(flatten)]
    changes: ChangeList,
    next_offset: Option<i64>,
    /// How to see what is not shown.
    hint: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ChangeList {
    Full {
        changes: Vec<ChangeView>,
    },
    Brief {
        lines: Vec<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        differences: Vec<ShownDifference>,
    },
}

/// The difference that one change of a set makes.
#[derive(Debug, Serialize)]
struct ShownDifference {
    path: String,
    #[serde(skip_serializing_if = "Map::is_empty")]
    changes: Map<String, Value>,
    #[serde(skip_serializing_if = "String::is_empty")]
    diff: String,
}

impl ChangesView {
    /// The changes of a set of so many, of which the first has this number.
    pub(super) fn new(
        lines: Vec<ChangeView>,
        (from, pages): (usize, usize),
        extent: Extent,
    ) -> Self {
        if extent == Extent::Brief {
            return Self::brief(lines, (from, pages));
        }
        let next = from.saturating_add(lines.len());
        Self {
            pages: count(pages),
            links_mended: 0,
            pages_mended: 0,
            // A set without differences to show has no further page of them.
            next_offset: (next > from && next < pages).then(|| count(next)),
            hint: None,
            changes: ChangeList::Full { changes: lines },
        }
    }

    fn brief(changes: Vec<ChangeView>, (from, pages): (usize, usize)) -> Self {
        let (mut lines, mut differences) = (Vec::new(), Vec::new());
        let (mut links_mended, mut pages_mended, mut next) = (0_usize, 0_usize, None);
        let mut is_part = false;
        for (number, change) in changes.into_iter().enumerate() {
            if let Some(links) = change.links_mended {
                links_mended = links_mended.saturating_add(links);
                pages_mended = pages_mended.saturating_add(1);
                continue;
            }
            if lines.len() == MAX_LINES {
                next = next.or(Some(from.saturating_add(number)));
                continue;
            }
            lines.push(line(&change));
            is_part |= change.is_cut;
            let is_empty = change.values.is_empty() && change.diff.is_empty();
            if lines.len() <= SAMPLES && !is_empty {
                differences.push(ShownDifference {
                    path: place(&change.target.locale, &change.target.path),
                    changes: change.values,
                    diff: change.diff,
                });
            }
        }
        is_part |= lines.len() > SAMPLES;
        if pages_mended > 0 {
            let pages = counted(pages_mended, "page", "pages");
            lines.push(format!("{pages}: links mended"));
        }
        Self {
            pages: count(pages),
            links_mended: count(links_mended),
            pages_mended: count(pages_mended),
            next_offset: next.map(count),
            changes: ChangeList::Brief { lines, differences },
            hint: is_part.then_some(FULL_OF_SET),
        }
    }
}

/// A change in a line: `update /en/docs/a (12): content +3 -1, tags !dead_link`.
fn line(change: &ChangeView) -> String {
    let target = &change.target;
    let id = match (target.comment, target.asset, target.id) {
        (Some(comment), _, _) => format!(" (comment {comment})"),
        (_, Some(asset), _) => format!(" (asset {asset})"),
        (None, None, Some(id)) => format!(" ({id})"),
        (None, None, None) => String::new(),
    };
    let operation = change.operation.as_str();
    let told = format!("{}{}", fields(change), codes(&change.warnings));
    let mut way = vec![place(&change.target.locale, &change.target.path)];
    if let Some((locale, path)) = &change.new_place {
        way.push(place(locale.as_str(), path.as_str()));
        let aside = change.aside.iter();
        way.extend(aside.map(|path| place(locale.as_str(), path.as_str())));
    }
    let joints = [" ", " to ", " by way of "];
    let words: usize = joints.iter().zip(&way).map(|(joint, _)| joint.len()).sum();
    let room = MAX_LINE.saturating_sub(operation.len() + id.len() + told.len() + words);
    let is_whole = way.iter().map(String::len).sum::<usize>() <= room;
    let each = if is_whole { room } else { room / way.len() };
    let mut way = joints.iter().zip(&way);
    let mut next = || {
        way.next()
            .map(|(joint, to)| [joint, &*ending(to, each)].concat())
    };
    let from = next().unwrap_or_default();
    let rest: String = std::iter::from_fn(next).collect();
    format!("{operation}{from}{id}{rest}{told}")
}

/// A page's place, as the tools that read pages take it.
pub(super) fn place(locale: &str, path: &str) -> String {
    format!("/{locale}/{}", escape_hidden(path))
}

/// The changed fields of a change and its lines, where these are not what the operation says.
fn fields(change: &ChangeView) -> String {
    let is_whole = matches!(change.operation, Operation::Create | Operation::Delete);
    let is_place = |field: &Field| matches!(field, Field::Path | Field::Locale);
    let told = change
        .changed
        .iter()
        .filter(|field| !is_whole && !is_place(field));
    let names: Vec<&str> = told.map(|field| field.name()).collect();
    let mut told = names.join(", ");
    if told.len() > MAX_FIELDS {
        told = format!("{} fields", names.len());
    }
    for (sign, lines) in [('+', change.lines_added), ('-', change.lines_removed)] {
        if lines > 0 {
            // Writing to a string cannot fail.
            let _ = write!(told, " {sign}{lines}");
        }
    }
    match told.trim_start() {
        "" => String::new(),
        told => format!(": {told}"),
    }
}

/// The codes of warnings at the end of a line, or their number.
fn codes(warnings: &[Warning]) -> String {
    let mut codes: Vec<&str> = warnings.iter().map(|warning| &*warning.code).collect();
    codes.dedup();
    match codes.join(" !") {
        _ if codes.is_empty() => String::new(),
        told if told.len() <= MAX_FIELDS => format!(" !{told}"),
        _ => format!(" !{} warnings", warnings.len()),
    }
}

/// The end of a text, which of a path says most.
fn ending(text: &str, room: usize) -> Cow<'_, str> {
    const MARK: char = '…';
    if text.len() <= room {
        return text.into();
    }
    let start = text
        .len()
        .saturating_sub(room.saturating_sub(MARK.len_utf8()));
    let kept = text.get(text.ceil_char_boundary(start)..);
    format!("{MARK}{}", kept.unwrap_or_default()).into()
}

/// The links to moving pages that are not mended.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LinksLeft {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links_left: Vec<Grouped<LinkShown>>,
    links_left_not_shown: Option<i64>,
}

#[derive(Debug, Serialize)]
struct LinkShown {
    id: i64,
    path: String,
    line: Option<i64>,
    link: Option<String>,
    why: Cow<'static, str>,
}

impl LinksLeft {
    /// These links: in brief by kind where there are many, else the first of them.
    pub(super) fn new(mut left: Vec<LinkLeft>, extent: Extent) -> Self {
        let mut not_shown = 0;
        if extent != Extent::Brief {
            not_shown = left.len().saturating_sub(MAX_LINKS_LEFT);
            left.truncate(MAX_LINKS_LEFT);
        }
        let shown = left.into_iter().map(|left| {
            let (locale, path) = left.place;
            let (target, line) = left.link.unzip();
            LinkShown {
                id: left.id,
                path: place(locale.as_str(), path.as_str()),
                line: line.map(count),
                link: target.map(|link| escape_hidden(&link)),
                why: left.why,
            }
        });
        Self {
            links_left: grouped(shown.collect(), (extent, MAX_NAMED), |link| &link.why),
            links_left_not_shown: some_count(not_shown),
        }
    }
}
