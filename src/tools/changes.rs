//! Lists who changed what on all pages since a given time: a part of `wikijs_get_page_history`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value};
use time::OffsetDateTime;

use super::output::some_count;
use super::page_view::shares;
use super::{ToolContext, input};
use crate::audit::CallId;
use crate::change::{Change, MAX_DIFF_BYTES, Warning, compare, cut_to, short_to};
use crate::error::Result;
use crate::page::{Date, Field, PageReading, escape_hidden};
use crate::render_budget;
use crate::wiki::{Before, ChangedPage, RIGHT_TO_AUTHOR, Version, aside};
use crate::write::{Deleted, Extent};

/// The most pages that are described in detail, and the most deletions, of one answer.
const MOST: usize = 20;
/// The most bytes of a field's value where differences are shown.
const MAX_VALUE: usize = 500;

/// The most bytes that are shown of a new page: a read shows all of it.
const MAX_NEW: usize = 1024;

/// Deletions that cannot be known: the wiki records none (W18).
const UNKNOWN_DELETIONS: &str = "of pages that this server neither read nor listed before they went, and that are not on its record; the wiki keeps no record of deletions";
/// The note on pages that went at an unknown time.
const GONE_SOMETIME: &str =
    "deleted without at: gone by now, and there at lastSeen; it may have gone before since.";

/// The note on deletions that no offset reaches.
const NOT_ASKED: &str = "moreDeleted counts pages that the wiki was not asked about: a call asks about 20 places. Name a path below which to look.";

/// The note where the content index could not be asked.
const INDEX_UNREAD: &str =
    "deleted lacks pages that only the content index knew: it could not be read.";

/// The note where differences are cut.
const CUT: &str = "The differences share 32 kB, and those with a warning are cut: compare with the page's id, from fromVersion, shows more of one; a created page with it was written again since, and one without it is to be read.";

/// Parts that could not be read, each with the right it needs or another reason.
type UnreadReasons = BTreeMap<&'static str, &'static str>;

/// The right needed to read histories.
const HISTORY: &str = "read:history";
/// The right needed to read the dates, which come with the whole page.
const ALL: &str = "manage:pages or delete:pages";
/// The reason why an earlier state of a page is unknown.
const TOO_FAR: &str = "further back than 50 versions; or they could not be read";

/// The pages that were changed or deleted.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecentChanges {
    pages: Vec<WrittenPage>,
    /// Number of pages that changed earlier and are not listed here.
    more: Option<i64>,
    /// The offset at which those pages, and more deletions, are listed.
    next_offset: Option<i64>,
    /// Number of pages that are left out because their date moved without a write.
    only_touched: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deleted: Vec<DeletedPage>,
    /// Number of deletions that are not listed here; as far as a note does not say otherwise, they
    /// are at the next offset.
    more_deleted: Option<i64>,
    /// Parts that are not known of every page, with the reasons.
    #[serde(skip_serializing_if = "UnreadReasons::is_empty")]
    unavailable: UnreadReasons,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<&'static str>,
}

/// A page that was changed.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenPage {
    id: Option<i64>,
    locale: String,
    path: String,
    title: String,
    updated_at: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    created: bool,
    /// The authors of the writes, the last first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    authors: Vec<String>,
    /// True if the last write is one of this server's, by its record.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ours: bool,
    by_call_id: Option<String>,
    writes: Option<i64>,
    changed: Option<Vec<&'static str>>,
    lines_added: Option<i64>,
    lines_removed: Option<i64>,
    moved_from: Option<String>,
    /// The version to compare from; of a created page its first state, if it was written again.
    from_version: Option<i64>,
    /// Other fields than the content, before and after, if differences are shown.
    #[serde(skip_serializing_if = "Map::is_empty")]
    changes: Map<String, Value>,
    /// Of the content.
    #[serde(skip_serializing_if = "String::is_empty")]
    diff: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

/// A page that is gone.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DeletedPage {
    id: i64,
    locale: String,
    path: String,
    at: Option<String>,
    /// The time at which the key or the record saw it last, if the time of the deletion is unknown.
    last_seen: Option<String>,
    /// The call that deleted it, which can be undone; absent if the page was merely found missing.
    call_id: Option<String>,
}

/// Lists who changed what since a given time, on all pages or on those at or below a path; with
/// differences, if the caller asks for all.
pub(super) async fn since(
    context: &ToolContext,
    since: &str,
    path: Option<&str>,
    offset: usize,
    limit: usize,
) -> Result<RecentChanges> {
    let listed = Box::pin(listed(context, since, path, offset, limit));
    if context.caller.extent == Extent::Brief {
        return listed.await;
    }
    let mut changes = render_budget::within(listed).await?;
    let wishes = changes.pages.iter().map(|page| page.diff.len());
    let shares = shares(MAX_DIFF_BYTES, wishes.collect());
    for (page, share) in changes.pages.iter_mut().zip(shares) {
        page.diff = cut_to(std::mem::take(&mut page.diff), share, &mut page.warnings);
    }
    if changes.pages.iter().any(|page| !page.warnings.is_empty()) {
        changes.notes.push(CUT);
    }
    Ok(changes)
}

async fn listed(
    context: &ToolContext,
    since: &str,
    path: Option<&str>,
    offset: usize,
    limit: usize,
) -> Result<RecentChanges> {
    let time = input::date("since", Some(since))?.and_then(|date| date.instant());
    let Some(time) = time else {
        return input::refuse("since", "must be a time");
    };
    let (locale, path) = input::place(&context.wiki, path, None)?;
    let is_wanted = |of: &crate::page::Locale, at: &crate::page::PagePath| {
        locale.as_ref().is_none_or(|locale| locale == of)
            && path.as_ref().is_none_or(|path| at.is_within(path))
    };
    let mut listed = context.wiki.dated_since(time).await?;
    listed.retain(|page| is_wanted(&page.locale, &page.path));
    let deletions = context.desk.deletions(time, is_wanted).await?;
    let limit = limit.min(MOST);
    let next = offset.saturating_add(limit);
    let rest = |all: usize| all.saturating_sub(next);
    let (more, more_deleted) = (rest(listed.len()), rest(deletions.pages.len()));
    let shown: Vec<_> = listed.into_iter().skip(offset).take(limit).collect();
    let deleted: Vec<Deleted> = { deletions.pages.into_iter() }
        .skip(offset)
        .take(limit)
        .collect();
    let changes = context.wiki.changes(shown, time).await?;
    let mut unavailable = UnreadReasons::new();
    let count = changes.len();
    let states = changes.iter().map(|changed| {
        let page = &changed.page;
        (
            page.id.unwrap_or_default(),
            page.updated_at.clone().unwrap_or_default(),
        )
    });
    let ours = context.desk.past().calls_that_left(states.collect()).await;
    let extent = context.caller.extent;
    let pages: Vec<WrittenPage> = changes
        .into_iter()
        .zip(ours)
        .filter_map(|(page, ours)| WrittenPage::new(page, ours, time, (&mut unavailable, extent)))
        .collect();
    unavailable.insert("deleted", UNKNOWN_DELETIONS);
    let mut notes = Vec::new();
    if deleted.iter().any(|page| page.at.is_none()) {
        notes.push(GONE_SOMETIME);
    }
    if deletions.more > 0 {
        notes.push(NOT_ASKED);
    }
    if deletions.is_index_unread {
        notes.push(INDEX_UNREAD);
    }
    if pages.iter().any(|page| page.changed.is_some()) {
        notes.push(
            "changed: no version keeps tags, styles or scripts, so their changes are not listed.",
        );
    }
    Ok(RecentChanges {
        more: some_count(more),
        next_offset: some_count(next).filter(|_| more > 0 || more_deleted > 0),
        only_touched: some_count(count.saturating_sub(pages.len())),
        pages,
        more_deleted: some_count(more_deleted.saturating_add(deletions.more)),
        deleted: deleted.iter().map(DeletedPage::new).collect(),
        unavailable,
        notes,
    })
}

impl WrittenPage {
    /// A changed page; `None` if its date moved without a write.
    fn new(
        changed: ChangedPage,
        ours: Option<CallId>,
        since: OffsetDateTime,
        (unavailable, extent): (&mut UnreadReasons, Extent),
    ) -> Option<Self> {
        let ChangedPage { page, past } = changed;
        let mut told = Self {
            id: page.id,
            locale: page.locale.as_str().to_owned(),
            path: page.path.as_str().to_owned(),
            title: escape_hidden(&page.title),
            updated_at: page.updated_at.clone().map(String::from),
            created: page
                .created_at
                .as_ref()
                .and_then(Date::instant)
                .is_some_and(|created| created >= since),
            ours: ours.is_some(),
            by_call_id: ours.map(|call| call.to_string()),
            ..Self::default()
        };
        let Some(past) = past else {
            unavailable.extend(["authors", "writes", "changed"].map(|name| (name, HISTORY)));
            return Some(told);
        };
        match &page.author_name {
            Some(last) => told.authors.push(last.clone()),
            None => {
                unavailable.insert("last author", RIGHT_TO_AUTHOR);
            }
        }
        told.authors.extend(past.authors);
        let mut seen = BTreeSet::new();
        told.authors.retain(|author| seen.insert(author.clone()));
        for author in &mut told.authors {
            *author = escape_hidden(author);
        }
        told.writes = some_count(past.writes);
        match past.before {
            Before::Same => return None,
            Before::Unknown => {
                unavailable.insert("changed", TOO_FAR);
            }
            Before::Absent(first) => {
                told.from_version = first;
                if page.content.is_some() {
                    let blank = PageReading {
                        content: Some(String::new()),
                        ..page.clone()
                    };
                    told.add_difference(&compare(&blank, &page).change, extent);
                    let diff = std::mem::take(&mut told.diff);
                    told.diff = cut_to(diff, MAX_NEW, &mut told.warnings);
                }
            }
            Before::Version(version) => {
                told.compared(*version, &page, (unavailable, extent));
            }
        }
        Some(told)
    }

    fn compared(
        &mut self,
        before: Version,
        now: &PageReading,
        (unavailable, extent): (&mut UnreadReasons, Extent),
    ) {
        self.from_version = Some(before.id);
        let then = before.page;
        if then.path != now.path || then.locale != now.locale {
            self.moved_from = Some(format!("{}/{}", then.locale, then.path));
        }
        let compared = compare(&then, now);
        let kept = Field::restorable();
        let unknown = kept.filter(|field| compared.not_comparable.contains(field));
        unavailable.extend(unknown.map(|field| (field.name(), right(field))));
        let fields = compared.change.fields();
        self.changed = Some(fields.into_iter().map(Field::name).collect());
        self.add_difference(&compared.change, extent);
    }

    fn add_difference(&mut self, change: &Change, extent: Extent) {
        let shows = extent != Extent::Brief;
        let (diff, lines) = aside(change.bytes(), || {
            let difference = change.content_difference();
            let diff = shows.then(|| difference.unified());
            (diff.unwrap_or_default(), difference.counts())
        });
        self.lines_added = some_count(lines.added);
        self.lines_removed = some_count(lines.removed);
        if shows {
            self.diff = diff;
            self.changes = short_to(change.values(), MAX_VALUE, &mut self.warnings);
        }
    }
}

/// The right needed to read a field that versions keep (W1, W2).
const fn right(field: Field) -> &'static str {
    match field {
        Field::Content => "read:source",
        _ => ALL,
    }
}

impl DeletedPage {
    fn new(page: &Deleted) -> Self {
        Self {
            id: page.id,
            locale: page.locale.as_str().to_owned(),
            path: page.path.as_str().to_owned(),
            at: page.at.and_then(Date::from_instant).map(String::from),
            last_seen: page
                .last_seen
                .and_then(Date::from_instant)
                .map(String::from),
            call_id: page.call.map(|call| call.to_string()),
        }
    }
}
