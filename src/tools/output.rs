//! The shapes of answers that several tools share.
//!
//! A member without a value is absent, never null. Default values (published, not private, empty,
//! false) are left out too. Whatever could not be read is named in `unavailable`, so an absent
//! member never means "unknown".

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::pending_answer::PendingAnswer;
use crate::audit::ProposalId;
use crate::change::Warning;
use crate::gates::{LeftOut, LinkLeft};
use crate::page::{Date, Field, Note, PageReading, escape_hidden};
use crate::wiki::Wiki;
use crate::write::{
    Applied, Joined, LinkedFrom, NotTakenBack, Notes, PendingSet, Preview, SetAnswer, SetLine,
    SetMember, WriteAnswer, WriteTarget,
};

/// The member that says who wrote a page last.
pub(super) const AUTHOR: &str = "authorName";

/// A page, flattened, without default values. Members that the key cannot read are absent and named
/// in `unavailable`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageSummary {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<i64>,
    pub(super) locale: String,
    pub(super) path: String,
    pub(super) title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tags: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) is_published: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) is_private: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) updated_at: Option<String>,
}

/// A page with its content and everything else that the key can read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WholePage {
    #[serde(flatten)]
    pub(super) page: PageSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) author_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) editor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) publish_start_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) publish_end_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) script_css: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) script_js: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<String>,
}

/// [`Write`] in a few words.
pub(super) const WRITE_ANSWER: &str = "A preview has dryRun true. Absent: false, 0, none.";

/// The effect of a write: previewed or applied.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Write {
    #[serde(skip_serializing_if = "is_default")]
    pub(super) dry_run: bool,
    pub(super) operation: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<&'static str>,
    pub(super) target: WriteTarget,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) changes: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) diff: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) changed: Option<Vec<&'static str>>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) lines_added: i64,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) lines_removed: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) updated_at: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unverified: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) linked_from: Vec<LinkedFrom>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) conflict_check: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) warnings: Vec<Warning>,
    /// The reason given, marked as the words of whoever asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) confirm: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) confirm_expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) proposal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) replaces: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) undoes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) draft: Option<InDraft>,
    pub(super) call_id: String,
}

/// The draft that a change joined.
#[derive(Debug, Serialize)]
pub(super) struct InDraft {
    name: String,
    id: String,
    /// Number of changes that the draft has now.
    pages: i64,
}

impl From<Joined> for InDraft {
    fn from(joined: Joined) -> Self {
        Self {
            name: joined.name.to_string(),
            id: joined.id.to_string(),
            pages: count(joined.changes),
        }
    }
}

/// True if a member has its default value and is therefore left out.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A count, absent if it is zero.
pub(super) fn some_count(count: usize) -> Option<i64> {
    (count > 0).then(|| i64::try_from(count).unwrap_or(i64::MAX))
}

impl PageSummary {
    pub(super) fn new(wiki: &Wiki, page: PageReading) -> Self {
        let PageReading {
            id,
            locale,
            path,
            title,
            description,
            tags,
            is_published,
            is_private,
            created_at,
            updated_at,
            // The following apply only to a whole page, or to no page.
            content: _,
            content_type: _,
            editor: _,
            publish_start_date: _,
            publish_end_date: _,
            script_css: _,
            script_js: _,
            author_name: _,
            keeps_styles: _,
        } = page;
        Self {
            url: Some(wiki.page_url(&locale, &path)),
            id,
            locale: locale.as_str().to_owned(),
            path: path.as_str().to_owned(),
            title: escape_hidden(&title),
            description: description.filter(|text| !text.is_empty()),
            tags: tags.filter(|tags| !tags.is_empty()),
            is_published: is_published.filter(|is_published| !is_published),
            is_private: is_private.filter(|is_private| *is_private),
            created_at: created_at.map(String::from),
            updated_at: updated_at.map(String::from),
        }
    }
}

impl WholePage {
    pub(super) fn new(wiki: &Wiki, mut page: PageReading) -> Self {
        let text = |date: Option<Date>| date.filter(Date::is_set).map(String::from);
        let code = |text: Option<String>| text.filter(|text| !text.is_empty());
        Self {
            author_name: page.author_name.take(),
            editor: page.editor.take(),
            publish_start_date: text(page.publish_start_date.take()),
            publish_end_date: text(page.publish_end_date.take()),
            script_css: code(page.script_css.take()),
            script_js: code(page.script_js.take()),
            content: page.content.take(),
            page: PageSummary::new(wiki, page),
        }
    }
}

/// Somebody's own words, marked as such.
fn said(note: Option<Note>) -> Option<String> {
    note.map(|note| note.to_string())
}

/// The answer about one change.
enum ChangeAnswer {
    Preview(Box<Preview>),
    Applied(Box<Applied>),
}

impl Write {
    /// The answer about one change; a set has a different shape.
    fn new(answer: ChangeAnswer) -> Self {
        let names = |fields: Vec<Field>| fields.into_iter().map(Field::name).collect();
        let unchecked = |notes: &Notes| notes.is_unchecked.then_some("none");
        let count = |lines: usize| i64::try_from(lines).unwrap_or(i64::MAX);
        match answer {
            ChangeAnswer::Preview(preview) => Self {
                dry_run: true,
                operation: preview.operation.as_str(),
                outcome: None,
                target: preview.target,
                changes: Some(preview.changes).filter(|changes| !changes.is_empty()),
                diff: preview.diff,
                changed: None,
                lines_added: count(preview.lines.added),
                lines_removed: count(preview.lines.removed),
                updated_at: None,
                unverified: Vec::new(),
                conflict_check: unchecked(&preview.notes),
                replaces: preview.notes.replaces.map(|id| id.to_string()),
                undoes: preview.notes.undoes.map(|id| id.to_string()),
                draft: preview.notes.joined.map(InDraft::from),
                linked_from: preview.notes.linked_from,
                warnings: preview.notes.warnings,
                note: said(preview.notes.note),
                confirm: preview
                    .confirm
                    .as_ref()
                    .map(|confirm| confirm.token.clone()),
                confirm_expires_at: preview.confirm.map(|confirm| confirm.expires_at),
                proposal: preview.proposal.map(|id| id.to_string()),
                call_id: preview.call.to_string(),
            },
            ChangeAnswer::Applied(applied) => Self {
                dry_run: false,
                operation: applied.operation.as_str(),
                outcome: Some(if applied.is_unchanged {
                    "unchanged"
                } else {
                    "applied"
                }),
                target: applied.target,
                changes: None,
                diff: String::new(),
                changed: Some(names(applied.changed))
                    .filter(|changed: &Vec<_>| !changed.is_empty()),
                lines_added: count(applied.lines.added),
                lines_removed: count(applied.lines.removed),
                updated_at: applied.updated_at,
                unverified: names(applied.unverified)
                    .into_iter()
                    .chain(applied.unreadable)
                    .collect(),
                conflict_check: unchecked(&applied.notes),
                replaces: None,
                undoes: applied.notes.undoes.map(|id| id.to_string()),
                draft: None,
                linked_from: applied.notes.linked_from,
                warnings: applied.notes.warnings,
                note: None,
                confirm: None,
                confirm_expires_at: None,
                proposal: None,
                call_id: applied.call.to_string(),
            },
        }
    }
}

/// The preview or outcome of a write of one change or of many.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum WriteOutput {
    One(Box<Write>),
    Preview(SetShown),
    Set(SetDone),
    /// It was left to people, and is not applied.
    Left(Box<PendingAnswer>),
}

/// The preview of a set of changes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetShown {
    dry_run: bool,
    /// Number of changes.
    pages: i64,
    changes: Vec<ChangeShown>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<PageLeftOut>,
    #[serde(flatten)]
    links_left: LinksLeft,
    #[serde(skip_serializing_if = "is_default")]
    lines_added: i64,
    #[serde(skip_serializing_if = "is_default")]
    lines_removed: i64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    linked_from: Vec<LinkedFrom>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirm: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirm_expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<String>,
    call_id: String,
}

/// The most links left that one answer names.
const MAX_LINKS_LEFT: usize = 100;

/// The links to moving pages that are not mended.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LinksLeft {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links_left: Vec<LinkShown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links_left_not_shown: Option<i64>,
}

#[derive(Debug, Serialize)]
struct LinkShown {
    id: i64,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    why: &'static str,
}

impl LinksLeft {
    fn new(left: Vec<LinkLeft>) -> Self {
        let not_shown = left.len().saturating_sub(MAX_LINKS_LEFT);
        let shown = left.into_iter().take(MAX_LINKS_LEFT).map(|left| {
            let (locale, path) = left.place;
            let (target, line) = left.link.unzip();
            LinkShown {
                id: left.id,
                path: format!("/{locale}/{path}"),
                line: line.map(count),
                link: target.map(|link| escape_hidden(&link)),
                why: left.why,
            }
        });
        Self {
            links_left: shown.collect(),
            links_left_not_shown: some_count(not_shown),
        }
    }
}

/// The preview of one change of a set.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChangeShown {
    operation: &'static str,
    target: WriteTarget,
    changed: Vec<&'static str>,
    /// Number of links that the change mends, if it does nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    links_mended: Option<i64>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    changes: Map<String, Value>,
    #[serde(skip_serializing_if = "String::is_empty")]
    diff: String,
    #[serde(skip_serializing_if = "is_default")]
    lines_added: i64,
    #[serde(skip_serializing_if = "is_default")]
    lines_removed: i64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

/// The outcome of a set.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetDone {
    outcome: &'static str,
    /// Number of changes, and of those that are applied.
    pages: i64,
    applied: i64,
    changes: Vec<ChangeDone>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<PageLeftOut>,
    #[serde(flatten)]
    links_left: LinksLeft,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    linked_from: Vec<LinkedFrom>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
    /// The open set that a person applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<String>,
    call_id: String,
}

/// The outcome of one change of a set.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ChangeDone {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<i64>,
    path: String,
    outcome: &'static str,
    call_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_taken_back: Option<NotTakenBack>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stands_at: Option<String>,
}

/// A page that was selected but that the set does not change.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PageLeftOut {
    /// `None` for a page that was to be created.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    why: Cow<'static, str>,
}

impl From<LeftOut> for PageLeftOut {
    fn from(page: LeftOut) -> Self {
        Self {
            id: page.id,
            path: page.path.map(|path| path.as_str().to_owned()),
            why: page.why,
        }
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl From<WriteAnswer> for WriteOutput {
    fn from(answer: WriteAnswer) -> Self {
        match answer {
            WriteAnswer::Preview(preview) => {
                Self::One(Box::new(Write::new(ChangeAnswer::Preview(preview))))
            }
            WriteAnswer::Applied(applied) => {
                Self::One(Box::new(Write::new(ChangeAnswer::Applied(applied))))
            }
            WriteAnswer::SetPreview(shown) => Self::Preview(SetShown {
                dry_run: true,
                pages: count(shown.pages),
                changes: shown.changes.into_iter().map(ChangeShown::from).collect(),
                left_out: shown.left_out.into_iter().map(PageLeftOut::from).collect(),
                links_left: LinksLeft::new(shown.links_left),
                lines_added: count(shown.lines.added),
                lines_removed: count(shown.lines.removed),
                linked_from: shown.notes.linked_from,
                warnings: shown.notes.warnings,
                note: said(shown.notes.note),
                confirm: shown.confirm.as_ref().map(|confirm| confirm.token.clone()),
                confirm_expires_at: shown.confirm.map(|confirm| confirm.expires_at),
                proposal: shown.proposal.map(|id| id.to_string()),
                call_id: shown.call.to_string(),
            }),
            WriteAnswer::Set(set) => Self::Set(SetDone::new(*set, None)),
        }
    }
}

impl WriteOutput {
    /// The outcome of a set that was left to people.
    pub(super) fn left_open(left: PendingSet, notes: Notes) -> Self {
        let id = left.proposal.id;
        match PendingAnswer::new(left, notes) {
            Ok(left) => Self::Left(Box::new(left)),
            Err(applied) => Self::Set(SetDone::new(applied, Some(id))),
        }
    }
}

impl SetDone {
    fn new(set: SetAnswer, proposal: Option<ProposalId>) -> Self {
        Self {
            outcome: set.outcome.as_str(),
            pages: count(set.members.len()),
            applied: count(set.members.iter().filter(|one| one.is_there()).count()),
            changes: set.members.iter().map(ChangeDone::new).collect(),
            left_out: set.left_out.into_iter().map(PageLeftOut::from).collect(),
            links_left: LinksLeft::new(set.links_left),
            linked_from: set.notes.linked_from,
            warnings: set.notes.warnings,
            proposal: proposal.map(|id| id.to_string()),
            call_id: set.call.to_string(),
        }
    }
}

impl From<SetLine> for ChangeShown {
    fn from(line: SetLine) -> Self {
        Self {
            operation: line.operation.as_str(),
            target: line.target,
            changed: line.changed.into_iter().map(Field::name).collect(),
            links_mended: line.only_mends.map(count),
            changes: line.values,
            diff: line.diff,
            lines_added: count(line.lines.added),
            lines_removed: count(line.lines.removed),
            warnings: line.warnings,
        }
    }
}

impl ChangeDone {
    fn new(member: &SetMember) -> Self {
        Self {
            id: member.target.id,
            path: member.target.path.clone(),
            outcome: member.word(),
            call_id: member.call.to_string(),
            not_taken_back: member.not_taken_back.clone(),
            stands_at: member.stands_at.clone(),
        }
    }
}
