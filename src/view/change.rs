//! Shows one change of a set: its page, comment or asset, and what becomes of it; in tools, at a
//! terminal and on the review page.

use std::mem::take;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::audit::{Outcome, ProposedChange};
use crate::change::{Change, Operation, Warning, cut, cut_to, short};
use crate::page::{Attached, Field, Locale, PagePath, PagePlace, PageState, escape_hidden};

/// The number of differences in a brief view of a set.
pub const SAMPLES: usize = 3;
/// The bytes that they share.
const SAMPLES_BYTES: usize = 1_500;

/// One change of a set: what a preview, a draft, a proposal or an answer shows of it. An answer has no
/// member that is null.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeView {
    /// The word for it.
    pub operation: Operation,
    /// Its outcome, once it was made or there was nothing to do.
    pub outcome: Option<Outcome>,
    /// The page as it is, or as it shall be created.
    pub target: WriteTarget,
    /// The fields that change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Field>,
    /// The number of links it mends, if it does nothing else.
    pub links_mended: Option<usize>,
    /// Its warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Each changed field with its values before and after, or their difference; the content left
    /// out.
    #[serde(rename = "changes", skip_serializing_if = "Map::is_empty")]
    pub values: Map<String, Value>,
    /// The difference of the content; empty if there was no room for it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
    /// The number of lines of content that are new.
    #[serde(skip_serializing_if = "is_none")]
    pub lines_added: usize,
    /// The number of lines of content that go.
    #[serde(skip_serializing_if = "is_none")]
    pub lines_removed: usize,
    /// The place to which it moves.
    #[serde(skip)]
    pub new_place: Option<PagePlace>,
    /// The temporary path by which it moves.
    #[serde(skip)]
    pub aside: Option<PagePath>,
    /// True if the difference was left out or cut for want of room.
    #[serde(skip)]
    pub is_cut: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_none(count: &usize) -> bool {
    *count == 0
}

impl ChangeView {
    /// A change of which no more than this is known.
    pub fn bare(operation: Operation, target: WriteTarget) -> Self {
        Self {
            operation,
            outcome: None,
            target,
            changed: Vec::new(),
            links_mended: None,
            warnings: Vec::new(),
            values: Map::new(),
            diff: String::new(),
            lines_added: 0,
            lines_removed: 0,
            new_place: None,
            aside: None,
            is_cut: false,
        }
    }

    /// A change without its difference, with the address of its page.
    pub fn new(change: &Change, url: String) -> Self {
        let moved_to = change.after().filter(|_| change.moves());
        Self {
            changed: change.fields(),
            values: change.values(),
            new_place: moved_to.map(|page| (page.locale.clone(), page.path.clone())),
            aside: change.aside().cloned(),
            ..Self::bare(change.operation(), WriteTarget::new(change.target(), url))
        }
    }

    /// A change by its proposal alone, without what stands on its page.
    pub fn proposed(one: &ProposedChange, url: String) -> Self {
        let target = WriteTarget {
            id: one.page,
            title: escape_hidden(&one.title),
            ..WriteTarget::at(&one.locale, &one.path, url)
        };
        Self {
            changed: one.fields.clone(),
            links_mended: one.links_mended,
            lines_added: one.lines_added,
            lines_removed: one.lines_removed,
            new_place: { one.new_path.clone() }.map(|path| (one.locale.clone(), path)),
            aside: one.aside.clone(),
            ..Self::bare(one.operation, target)
        }
    }

    /// Cuts the differences of the first changes, which share the room of a brief answer.
    pub fn sample(lines: &mut [Self]) {
        let mut left = SAMPLES_BYTES;
        let samples = lines.iter_mut().filter(|line| line.links_mended.is_none());
        for (taken, line) in samples.take(SAMPLES).enumerate() {
            let share = left / SAMPLES.saturating_sub(taken).max(1);
            let values = json!(line.values).to_string().len();
            line.is_cut = values > share;
            if line.is_cut {
                line.values = Map::new();
            } else {
                left -= values;
            }
            let share = left / SAMPLES.saturating_sub(taken).max(1);
            let diff = take(&mut line.diff);
            // The counts of its lines are in the answer.
            line.is_cut |= diff.len() > share;
            line.diff = cut_to(diff, share, &mut Vec::new());
            left = left.saturating_sub(line.diff.len());
        }
    }

    /// Leaves out what stands on its page.
    pub fn hide(&mut self) {
        (self.values, self.diff) = (Map::new(), String::new());
    }

    /// Cuts what is long, and takes the room that it needs; false if there is not enough.
    pub fn fits(&mut self, room: &mut usize) -> bool {
        self.values = short(take(&mut self.values), &mut self.warnings);
        self.diff = cut(take(&mut self.diff), &mut self.warnings);
        let bytes = self.diff.len() + json!(self.values).to_string().len();
        let left = room.checked_sub(bytes);
        *room = left.unwrap_or(*room);
        left.is_some()
    }
}

/// The page of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WriteTarget {
    /// Its id; `None` for a page that does not exist yet.
    pub id: Option<i64>,
    /// Its locale.
    pub locale: String,
    /// Its path.
    pub path: String,
    /// Its title, with what is hidden in it escaped.
    pub title: String,
    /// The address at which a person sees it.
    pub url: String,
    /// The comment that it is about, if not the page itself.
    pub comment: Option<i64>,
    /// The asset that it is about.
    pub asset: Option<i64>,
}

impl WriteTarget {
    /// A place alone, with its address.
    pub fn at(locale: &Locale, path: &PagePath, url: String) -> Self {
        Self {
            locale: locale.as_str().to_owned(),
            path: path.as_str().to_owned(),
            url,
            ..Self::default()
        }
    }

    /// The page of a state, at this address, and what of it the state is of.
    pub fn new(page: &PageState, url: String) -> Self {
        let (comment, asset) = match &page.thing {
            Some(Attached::Comment(comment)) => (comment.id, None),
            Some(Attached::Asset(asset)) => (None, asset.id),
            None => (None, None),
        };
        Self {
            id: page.id,
            title: escape_hidden(&page.title),
            comment,
            asset,
            ..Self::at(&page.locale, &page.path, url)
        }
    }
}
