//! From a plan to a change that the gates can look at, and to its preview.

use serde_json::{Map, Value};

use crate::audit::ProposalId;
use crate::change::{Change, NewContent, NewTags, Operation};
use crate::error::{Code, Failure};
use crate::gates::{Allowed, Previewed, Proposed, SessionId};
use crate::page::{Field, LineCounts, PagePath, PageReading, PageState};
use crate::wiki::{TreeNode, Wiki, WikiError};

use super::answer::{LinkedFrom, Notes, Preview, Target};
use super::conflict::{ConflictCheck, Stopped};
use super::faults::with_difference;
use super::plan::{Plan, Update};
use super::unseen::unseen;
use super::writer::Writer;

/// The most linking pages that the preview of a delete names.
const MAX_LINKING: usize = 20;

/// A page as it was read to be written.
pub(super) struct ToWrite {
    /// All that a write would overwrite.
    pub(super) page: PageState,
    /// The fields that could not be read and may be lost; empty in `page`.
    pub(super) lost: Vec<Field>,
    /// Who wrote it last.
    pub(super) author: Option<String>,
}

impl Writer {
    /// Makes the change that a plan asks for, of the page as it is now, if that still is the
    /// page that the caller knows.
    pub(super) async fn change(
        &self,
        session: &SessionId,
        plan: Plan,
    ) -> Result<(Proposed, ConflictCheck), Stopped> {
        if let Plan::Undo(undo) = plan {
            return Ok((self.undo(&undo).await?, ConflictCheck::Checked));
        }
        if let Plan::Proposal(apply) = plan {
            let proposed = self.change_of_proposal(apply).await?;
            return Ok((proposed, ConflictCheck::Checked));
        }
        let Some(id) = plan.id() else {
            return Ok((plain(plan.of(None, None)?), ConflictCheck::Checked));
        };
        let read = self.page_to_write(id, plan.accept_loss()).await?;
        if plan.says_styles() && !read.page.knows(Field::ScriptCss) && read.lost.is_empty() {
            let reading = self.wiki.page_by_id(id).await.map_err(Failure::from)?;
            return Err(unreadable(&reading).into());
        }
        let plan = self
            .with_known_tags(self.with_version(plan, &read.page).await?)
            .await?;
        let check = self.check_conflict(session, &plan, &read).await?;
        let change = plan.of(Some(read.page), self.policy.trash.as_ref())?;
        Ok((plain(change.with_loss_of(read.lost)), check))
    }

    /// Makes the change that a token was given for, if the plan agrees with it and the page
    /// still is as it was previewed.
    pub(super) async fn previewed_change(
        &self,
        plan: Plan,
        session: &SessionId,
        token: &str,
    ) -> Result<(Proposed, ConflictCheck), Stopped> {
        let proposed = self.previews.look(session, token)?;
        self.confirmed_change(plan, session, proposed).await
    }

    /// Makes the change that was shown, to whoever confirmed it, in the same way.
    pub(super) async fn confirmed_change(
        &self,
        plan: Plan,
        session: &SessionId,
        proposed: Proposed,
    ) -> Result<(Proposed, ConflictCheck), Stopped> {
        let Proposed {
            change: previewed,
            undoes,
            proposal,
        } = proposed;
        let takes_back = match &plan {
            // The last write is the one that was shown, whatever was written since.
            Plan::Undo(undo) if undo.call.is_last() => undoes,
            Plan::Undo(undo) => Some(self.undone(undo).await?.call),
            Plan::Proposal(_) => undoes,
            Plan::Create(_) | Plan::Update(_) | Plan::Delete { .. } => None,
        };
        let plan = match previewed.before() {
            Some(page) => {
                self.with_known_tags(self.with_version(plan, page).await?)
                    .await?
            }
            None => plan,
        };
        if takes_back != undoes
            || plan.proposal() != proposal
            || !plan.agrees_with(&previewed, self.policy.trash.as_ref())
        {
            return Err(Failure::new(
                Code::ConfirmMismatch,
                "This call asks for something else than the preview that the token was given for.",
            )
            .into());
        }
        let change = match previewed
            .before()
            .and_then(|page| Some((page.clone(), page.id?)))
        {
            None => previewed,
            Some((before, id)) => {
                let read = self.page_to_write(id, previewed.lost()).await?;
                if read.lost != previewed.lost() || !before.difference(&read.page).is_empty() {
                    return Err(conflict(before, read.page, &plan).into());
                }
                if plan.if_updated_at().is_some() {
                    self.check_conflict(session, &plan, &read).await?;
                }
                previewed.on(read.page)
            }
        };
        let proposed = Proposed {
            change,
            undoes,
            proposal,
        };
        Ok((proposed, ConflictCheck::Checked))
    }

    /// Tags that are to be added are meant without the `#` before them, unless the wiki has one
    /// that begins so.
    async fn with_known_tags(&self, mut plan: Plan) -> Result<Plan, Failure> {
        if let Plan::Update(Update {
            edits: Some(edits), ..
        }) = &mut plan
            && let Some(added) = edits.tags.as_mut().and_then(NewTags::added_mut)
        {
            *added = self.wiki.without_hash(std::mem::take(added)).await?;
        }
        Ok(plan)
    }

    /// A plan that says which version's text it means says what that text is.
    async fn with_version(&self, plan: Plan, page: &PageState) -> Result<Plan, Failure> {
        let Plan::Update(Update {
            id,
            from_version: Some(version),
            edits,
            accept_loss,
            if_updated_at,
        }) = plan
        else {
            return Ok(plan);
        };
        let version =
            self.wiki.version(id, version).await?.ok_or_else(|| {
                Failure::new(Code::VersionNotFound, "The page has no such version.")
            })?;
        if version.editor != page.editor {
            return Err(Failure::new(
                Code::EditNotApplicable,
                "The version was written with another editor than the page has now.",
            )
            .hint("An administrator can convert the page to the version's editor in the wiki.")
            .detail("editor", version.editor));
        }
        let mut edits = edits.unwrap_or_default();
        edits.content = Some(NewContent::Whole(version.content));
        edits.title.get_or_insert(version.title);
        edits.description.get_or_insert(version.description);
        Ok(Plan::Update(Update {
            id,
            edits: Some(edits),
            from_version: None,
            accept_loss,
            if_updated_at,
        }))
    }

    pub(super) async fn whole_page(&self, id: i64) -> Result<PageState, Failure> {
        Ok(self.page_to_write(id, &[]).await?.page)
    }

    /// Reads all of a page that a write would overwrite, but for what may be lost.
    pub(super) async fn page_to_write(
        &self,
        id: i64,
        accept_loss: &[Field],
    ) -> Result<ToWrite, Failure> {
        let reading = self.wiki.page_by_id(id).await?;
        if let Some(page) = reading.complete() {
            return Ok(ToWrite {
                page,
                lost: Vec::new(),
                author: reading.author_name,
            });
        }
        // A key that has expired reads as a guest does (W3): that is the cause to name.
        if let Some(expired) = self.wiki.expired() {
            return Err(expired.into());
        }
        let unread = reading.unreadable().into_keys();
        let lost = unread
            .filter(|field| accept_loss.contains(field))
            .collect::<Vec<_>>();
        match reading.complete_but_for(&lost) {
            Some(page) if !lost.is_empty() => Ok(ToWrite {
                page,
                lost,
                author: reading.author_name,
            }),
            _ => Err(unreadable(&reading)),
        }
    }

    /// Looks at the place where a page shall come to be.
    ///
    /// Returns warnings, or `PAGE_EXISTS` if the place is taken.
    pub(super) async fn look_at_new_place(&self, change: &Change) -> Result<Vec<String>, Failure> {
        let Some(after) = change
            .after()
            .filter(|_| change.before().is_none() || change.moves())
        else {
            return Ok(Vec::new());
        };
        let there = match self.wiki.pages_at(&after.locale, &after.path).await {
            Ok(there) => there,
            // A key that may not look finds out when the wiki refuses.
            Err(WikiError::Forbidden { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let is_own = |node: &TreeNode| change.before().is_some_and(|page| page.id == node.page_id);
        if let Some(node) = there
            .iter()
            .find(|node| node.path == after.path && !is_own(node))
        {
            let free = self.wiki.free_path(&after.locale, &after.path).await;
            return Err(taken(node, free));
        }
        Ok(there
            .iter()
            .filter(|node| !is_own(node))
            .map(|node| {
                let id = node.page_id.unwrap_or_default();
                format!("other_letter_case: page {id} stands at this path in other letter case.")
            })
            .collect())
    }

    /// Says what a change would do.
    pub(super) async fn preview(
        &self,
        call: crate::audit::CallId,
        allowed: &Allowed,
        (diff, lines): (String, LineCounts),
        mut notes: Notes,
        (confirm, proposal): (Option<Previewed>, Option<ProposalId>),
    ) -> Preview {
        let change = allowed.change();
        let mut linked_from = Vec::new();
        let warnings = &mut notes.warnings;
        warnings.extend(unseen(change));
        if change.operation() == Operation::Delete {
            warnings.push(
                "lost_for_good: the wiki keeps no history, comments or id of a deleted page; \
                 the audit log keeps the page itself."
                    .to_owned(),
            );
            linked_from = self.linking_pages(change.target(), warnings).await;
        }
        Preview {
            call,
            operation: change.operation(),
            target: target(&self.wiki, change.target()),
            changes: change.values(),
            diff,
            lines,
            linked_from,
            notes,
            confirm,
            proposal,
        }
    }

    async fn linking_pages(&self, page: &PageState, warnings: &mut Vec<String>) -> Vec<LinkedFrom> {
        let linking = match self.wiki.pages_linking_to(&page.locale, &page.path).await {
            Ok(linking) => linking,
            Err(error) => {
                warnings.push(format!(
                    "links_unknown: which pages link here could not be read ({error})."
                ));
                return Vec::new();
            }
        };
        if !linking.is_empty() {
            warnings.push(format!(
                "linked_from: {} pages of this locale link here.",
                linking.len()
            ));
        }
        linking
            .into_iter()
            .take(MAX_LINKING)
            .map(|page| LinkedFrom {
                id: page.id,
                path: page.path.as_str().to_owned(),
                title: page.title,
            })
            .collect()
    }
}

const fn plain(change: Change) -> Proposed {
    Proposed {
        change,
        undoes: None,
        proposal: None,
    }
}

/// The page that an answer is about.
pub(super) fn target(wiki: &Wiki, page: &PageState) -> Target {
    Target {
        id: page.id,
        locale: page.locale.as_str().to_owned(),
        path: page.path.as_str().to_owned(),
        title: page.title.clone(),
        url: wiki.page_url(&page.locale, &page.path),
    }
}

fn taken(node: &TreeNode, free: Option<PagePath>) -> Failure {
    let failure = Failure::new(Code::PageExists, "There already is a page at that path.")
        .detail("id", node.page_id)
        .detail("path", node.path.as_str())
        .detail("title", node.title.as_str());
    match free {
        Some(free) => failure
            .hint(
                "Choose another path (details.freePath is free), or update the page that is there.",
            )
            .detail("freePath", free.as_str()),
        None => failure,
    }
}

fn unreadable(reading: &PageReading) -> Failure {
    let missing = reading.unreadable();
    let fields: Vec<&str> = missing.keys().map(|field| field.name()).collect();
    let rights: Map<String, Value> = missing
        .iter()
        .map(|(field, right)| (field.name().to_owned(), (*right).into()))
        .collect();
    let failure = Failure::new(
        Code::FieldUnreadable,
        "This key cannot read back all fields of the page, and what it cannot read a write would overwrite.",
    )
    .detail("fields", fields)
    .detail("rights", rights);
    if reading.author_name.is_some() && missing.keys().eq([&Field::ScriptCss]) {
        return failure.hint("Nothing was sent. Only the view that readers see (/{locale}/{path}) shows the styles as they are stored, and it does not prove them here: tell the user to let that view through, or to give the key read:pages and read:history, or the rights in details.rights. acceptLoss with scriptCss loses them.");
    }
    // Whoever sees the author may write the page: the layer for such keys did not give the rest.
    if reading.author_name.is_some() && missing.contains_key(&Field::Editor) {
        failure.hint("Nothing was sent. The wiki's editor view (/e/…) of this page could not be read: tell the user to let it through where something before the wiki blocks it, or to give the key the rights in details.rights.")
    } else {
        failure
    }
}

fn conflict(previewed: PageState, fresh: PageState, plan: &Plan) -> Failure {
    let updated_at = fresh.updated_at.clone();
    let failure = Failure::new(
        Code::EditConflict,
        "The page was changed since this write was shown.",
    )
    .hint(match plan {
        Plan::Undo(_) | Plan::Proposal(_) => "Look at details.changes. For a new preview, repeat the call that gave this one, without confirm.",
        Plan::Create(_) | Plan::Update(_) | Plan::Delete { .. } => "Look at details.changes. For a new preview, repeat the call that gave this one: all its arguments, with ifUpdatedAt from details.updatedAt, without confirm.",
    });
    let failure = with_difference(failure, &Change::between(previewed, fresh));
    match updated_at {
        Some(at) => failure.detail("updatedAt", at.as_str()),
        None => failure,
    }
}
