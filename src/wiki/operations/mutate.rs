//! Sending one mutation, once. There is no loop here and there must be none.

use std::sync::Arc;

use graphql_client::GraphQLQuery;
use serde::de::DeserializeOwned;

use super::super::client::{Wiki, WikiSettings, encode};
use super::super::transport::classify::{RawAnswer, read_mutation, refusal};
use super::generated::{
    AssetDelete, AssetRename, CommentCreate, CommentDelete, CommentUpdate, PageCreate, PageDelete,
    PageMove, PageUpdate, asset_delete, asset_rename, comment_create, comment_delete,
    comment_update, page_create, page_delete, page_move, page_update,
};
use crate::change::{Change, Operation};
use crate::gates::SureStep;
use crate::page::{Attached, Date, Field, PageState};
use crate::wiki::{MAX_REQUEST_BYTES, WikiError, WikiResult};

/// The outcome of a mutation, as known right after it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MutationOutcome {
    /// The wiki says that it succeeded; for what comes to be, with its id.
    Succeeded {
        /// The new page's id, or that of what was added to one.
        id: Option<i64>,
    },
    /// The wiki says that it did not, which may be untrue (W12, W17, W19).
    Refused(WikiError),
    /// Nothing was sent.
    NotSent(WikiError),
    /// It may have been sent, and the wiki may still be working on it (W19).
    Open(WikiError),
}

impl Wiki {
    /// Checks that all requests of a change are within what the wiki takes (W19).
    ///
    /// # Errors
    /// [`WikiError::RequestTooLarge`].
    pub fn check_size(change: &Change) -> WikiResult<()> {
        for kind in change.steps() {
            if kind == Operation::UploadAsset {
                Self::check_upload(change)?;
            } else if request(kind, change)?.len() > MAX_REQUEST_BYTES {
                return Err(WikiError::RequestTooLarge);
            }
        }
        Ok(())
    }
}

/// Sends to a wiki. The writer alone owns a sender: who holds a [`Wiki`] can only read.
///
/// ```compile_fail,E0599
/// fn two(sender: &wikijs_gate_core::wiki::Sender) -> wikijs_gate_core::wiki::Sender {
///     sender.clone()
/// }
/// ```
///
/// ```compile_fail,E0599
/// async fn by_a_reader(wiki: &wikijs_gate_core::wiki::Wiki, step: wikijs_gate_core::gates::SureStep) {
///     wiki.send(step).await;
/// }
/// ```
#[derive(Debug)]
pub struct Sender {
    wiki: Arc<Wiki>,
}

/// Sends the steps of one write, with the key that was in use when it began.
///
/// A step comes of a record, and sending takes it, with its leases looked at; so a write is sent once, and on
/// record before:
///
/// ```
/// use wikijs_gate_core::audit::{AuditEntry, AuditLog};
/// use wikijs_gate_core::{gates::Permit, wiki::Sending};
///
/// async fn in_order(audit: &AuditLog, entry: AuditEntry, permit: &mut Permit, sending: &Sending) {
///     let on_record = audit.attempt(entry, &[]).await.unwrap();
///     let step = permit.next_step(on_record).unwrap();
///     sending.send(step.sure(&[]).unwrap()).await;
/// }
/// ```
///
/// The same lines, sent before it is on record, are no program:
///
/// ```compile_fail,E0425
/// use wikijs_gate_core::audit::{AuditEntry, AuditLog};
/// use wikijs_gate_core::{gates::Permit, wiki::Sending};
///
/// async fn swapped(audit: &AuditLog, entry: AuditEntry, permit: &mut Permit, sending: &Sending) {
///     let step = permit.next_step(on_record).unwrap();
///     sending.send(step.sure(&[]).unwrap()).await;
///     let on_record = audit.attempt(entry, &[]).await.unwrap();
/// }
/// ```
///
/// Nor are they where one step is sent twice, or one record stands for two steps:
///
/// ```compile_fail,E0382
/// async fn twice(step: wikijs_gate_core::gates::SureStep, sending: &wikijs_gate_core::wiki::Sending) {
///     sending.send(step).await;
///     sending.send(step).await;
/// }
/// ```
///
/// ```compile_fail,E0382
/// use wikijs_gate_core::{audit::OnRecord, gates::Permit};
///
/// fn two_of_one(on_record: OnRecord, permit: &mut Permit) {
///     let (one, two) = (permit.next_step(on_record), permit.next_step(on_record));
/// }
/// ```
#[derive(Debug)]
pub struct Sending {
    wiki: Wiki,
}

impl Sender {
    /// A wiki and what sends to it, for the writer of a server.
    ///
    /// # Errors
    /// One sentence about the setting that cannot be used.
    pub fn with_wiki(settings: WikiSettings, run: &str) -> Result<(Arc<Wiki>, Self), String> {
        let wiki = Arc::new(Wiki::new(settings, run)?);
        let sender = Self {
            wiki: Arc::new(wiki.unbounded()),
        };
        Ok((wiki, sender))
    }

    /// A sender to the same wiki with another key, for whoever holds one.
    #[must_use]
    pub fn for_key(&self, wiki: &Wiki) -> Self {
        let wiki = Arc::new(wiki.unbounded());
        Self { wiki }
    }

    /// A sender with the key that is in use now, whatever key comes after it.
    pub fn pinned(&self) -> Sending {
        let wiki = self.wiki.pinned();
        Sending { wiki }
    }
}

impl Sending {
    /// The same wiki with the same key, without read bounds: the outcome of a write must be
    /// determined even if the page may no longer be read.
    pub const fn wiki(&self) -> &Wiki {
        &self.wiki
    }

    /// Sends a step that the gates let through. It is used up by it, and nothing is retried.
    pub async fn send(&self, step: SureStep) -> MutationOutcome {
        let (wiki, step) = (&self.wiki, step.step());
        let kind = step.kind();
        tracing::info!(call = %step.call(), step = kind.as_str(), "a mutation is sent");
        let keyed = wiki.keyed();
        if kind == Operation::UploadAsset {
            let folder = wiki.folder_for_upload(step.change()).await;
            keyed.learn(&folder);
            let folder = match folder {
                Ok(folder) => folder,
                // Whatever became of the folder: the file was not sent.
                Err(error) => return MutationOutcome::NotSent(wiki.explain(error)),
            };
            let answer = wiki.upload(step.change(), folder).await;
            keyed.learn(&answer);
            return understood(answer.map_err(|error| wiki.explain(error)));
        }
        let body = match request(kind, step.change()) {
            Ok(body) => body,
            Err(error) => return MutationOutcome::NotSent(error),
        };
        if kind == Operation::AddComment {
            wiki.traffic().comment_sent();
        }
        match wiki.transport.post(body, wiki.settings.time.write).await {
            Ok(answer) => {
                let answer = succeeded(kind, &answer);
                keyed.learn(&answer);
                understood(answer.map_err(|error| wiki.explain(with_right_of(kind, error))))
            }
            Err(error) if error.was_not_sent() => MutationOutcome::NotSent(error),
            Err(error) => MutationOutcome::Open(error),
        }
    }
}

fn understood(answer: WikiResult<Option<i64>>) -> MutationOutcome {
    match answer {
        Ok(id) => MutationOutcome::Succeeded { id },
        Err(error) if error.was_not_sent() => MutationOutcome::NotSent(error),
        Err(error) if error.leaves_open() => MutationOutcome::Open(error),
        Err(error) => MutationOutcome::Refused(error),
    }
}

/// Outside the paths that a key may write, Wiki.js names the right of another operation.
fn with_right_of(kind: Operation, error: WikiError) -> WikiError {
    match error {
        WikiError::Forbidden { right } => WikiError::Forbidden {
            right: match kind {
                // It needs both, and the wiki says which is missing (W41).
                Operation::RenameAsset if right == "write:assets" => right,
                Operation::Create | Operation::Update => "write:pages",
                Operation::Aside | Operation::Move => "manage:pages",
                Operation::Delete => "delete:pages",
                Operation::AddComment => "write:comments",
                Operation::ChangeComment | Operation::DeleteComment => "manage:comments",
                Operation::UploadAsset => "write:assets",
                Operation::RenameAsset | Operation::DeleteAsset => "manage:assets",
            },
        },
        error => error,
    }
}

/// The request of one step, as it goes out.
fn request(kind: Operation, change: &Change) -> WikiResult<Vec<u8>> {
    let impossible = || WikiError::malformed("the change");
    let id = || {
        change
            .before()
            .and_then(|page| page.id)
            .ok_or_else(impossible)
    };
    let after = || change.after().ok_or_else(impossible);
    let thing = || {
        let thing = change.before().and_then(|page| page.thing.as_ref());
        thing.and_then(Attached::id).ok_or_else(impossible)
    };
    match kind {
        Operation::Create => body::<PageCreate>(create(after()?)),
        Operation::Update => body::<PageUpdate>(update(id()?, change, after()?)),
        Operation::Aside | Operation::Move => {
            let to = change.after_step(kind).ok_or_else(impossible)?;
            body::<PageMove>(page_move::Variables {
                id: id()?,
                destination_path: to.path.as_str().to_owned(),
                destination_locale: to.locale.as_str().to_owned(),
            })
        }
        Operation::Delete => body::<PageDelete>(page_delete::Variables { id: id()? }),
        Operation::AddComment => {
            let after = after()?;
            let Some(Attached::Comment(comment)) = &after.thing else {
                return Err(impossible());
            };
            body::<CommentCreate>(comment_create::Variables {
                page: after.id.ok_or_else(impossible)?,
                reply_to: comment.reply_to,
                content: after.content.clone(),
            })
        }
        Operation::ChangeComment => body::<CommentUpdate>(comment_update::Variables {
            id: thing()?,
            content: after()?.content.clone(),
        }),
        Operation::DeleteComment => {
            body::<CommentDelete>(comment_delete::Variables { id: thing()? })
        }
        Operation::RenameAsset => body::<AssetRename>(asset_rename::Variables {
            id: thing()?,
            filename: after()?.path.last_segment().to_owned(),
        }),
        Operation::DeleteAsset => body::<AssetDelete>(asset_delete::Variables { id: thing()? }),
        // It is no request to the API.
        Operation::UploadAsset => Err(impossible()),
    }
}

fn body<Q: GraphQLQuery>(variables: Q::Variables) -> WikiResult<Vec<u8>>
where
    Q::ResponseData: DeserializeOwned,
{
    encode(&Q::build_query(variables))
}

fn create(page: &PageState) -> page_create::Variables {
    let PageState {
        id: _,
        locale,
        path,
        title,
        description,
        content,
        editor,
        tags,
        is_published,
        is_private,
        publish_start_date,
        publish_end_date,
        script_css,
        script_js,
        updated_at: _,
        unknown: _,
        thing: _,
    } = page;
    page_create::Variables {
        content: content.clone(),
        description: description.clone(),
        editor: editor.clone(),
        is_published: *is_published,
        is_private: *is_private,
        locale: locale.as_str().to_owned(),
        path: path.as_str().to_owned(),
        publish_start_date: given_date(publish_start_date),
        publish_end_date: given_date(publish_end_date),
        script_css: given(script_css),
        script_js: given(script_js),
        tags: tags.iter().cloned().map(Some).collect(),
        title: title.clone(),
    }
}

/// Everything that `update` can write, since whatever is left out is lost (W12).
fn update(id: i64, change: &Change, page: &PageState) -> page_update::Variables {
    let fields = change.fields();
    // Whether the styles stay as they are is decided at the place that is named, too.
    let names_place = fields.iter().any(|field| field.is_code()) || !page.knows(Field::ScriptCss);
    let PageState {
        id: _,
        locale,
        path,
        title,
        description,
        content,
        // An update ignores it (W13).
        editor: _,
        tags,
        is_published,
        // An update ignores it (W13).
        is_private: _,
        publish_start_date,
        publish_end_date,
        script_css,
        script_js,
        updated_at: _,
        unknown: _,
        thing: _,
    } = page;
    page_update::Variables {
        id,
        content: content.clone(),
        description: description.clone(),
        is_published: *is_published,
        locale: names_place.then(|| locale.as_str().to_owned()),
        path: names_place.then(|| path.as_str().to_owned()),
        publish_start_date: publish_start_date.clone(),
        publish_end_date: publish_end_date.clone(),
        script_css: script_css.clone(),
        script_js: script_js.clone(),
        tags: tags.iter().cloned().map(Some).collect(),
        title: title.clone(),
    }
}

fn given(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn given_date(date: &Date) -> Option<Date> {
    date.is_set().then(|| date.clone())
}

fn no_answer() -> WikiError {
    WikiError::malformed("data.pages")
}

/// What a mutation answers, if it succeeded. Every mutation generates types of its own for one and
/// the same `ResponseStatus`, which the schema lets be absent from most.
macro_rules! answered {
    ($answer:expr, $query:ident, $group:ident . $mutation:ident $(, $absent:ident)?) => {{
        let data: $query::ResponseData = read_mutation($answer)?;
        let told = data.$group.and_then(|group| group.$mutation);
        let told = told.ok_or_else(no_answer)?;
        let status = &told.response_result$(.$absent().ok_or_else(no_answer)?)?;
        if !status.succeeded {
            let message = status.message.as_deref().unwrap_or_default();
            return Err(refusal(status.error_code, &status.slug, message));
        }
        told
    }};
}

/// Reads whether a mutation succeeded, and the id of what it made.
fn succeeded(kind: Operation, answer: &RawAnswer) -> WikiResult<Option<i64>> {
    match kind {
        Operation::Create => {
            let made = answered!(answer, page_create, pages.create).page;
            return Ok(made.map(|page| page.id));
        }
        Operation::AddComment => {
            return Ok(answered!(answer, comment_create, comments.create, as_ref).id);
        }
        Operation::Update => drop(answered!(answer, page_update, pages.update)),
        Operation::Aside | Operation::Move => {
            drop(answered!(answer, page_move, pages.move_, as_ref));
        }
        Operation::Delete => drop(answered!(answer, page_delete, pages.delete, as_ref)),
        Operation::ChangeComment => {
            drop(answered!(answer, comment_update, comments.update, as_ref));
        }
        Operation::DeleteComment => {
            drop(answered!(answer, comment_delete, comments.delete, as_ref));
        }
        Operation::RenameAsset => {
            drop(answered!(answer, asset_rename, assets.rename_asset, as_ref));
        }
        Operation::DeleteAsset => {
            drop(answered!(answer, asset_delete, assets.delete_asset, as_ref));
        }
        // It is no request to the API, and was sent in another way.
        Operation::UploadAsset => return Err(no_answer()),
    }
    Ok(None)
}
