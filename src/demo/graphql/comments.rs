//! `comments` of a query and of a mutation (W30 to W34).

use async_graphql::{Context, Object, Result, SimpleObject};

use super::errors::{gated, nullable, require, shared};
use super::mutation::{DefaultResponse, ResponseStatus, done};
use crate::demo::access::Access;
use crate::demo::clock::Date;
use crate::demo::store::CommentRow;

/// The permissions that allow reading the sources of comments.
const SOURCE: &[&str] = &["write:comments", "manage:comments"];
/// The account of all API keys.
const ACCOUNT: i32 = 1;

/// Everything about comments that can be read.
pub(super) struct CommentQuery;

/// A comment, with the gates that its fields have.
#[derive(SimpleObject)]
pub(super) struct CommentPost {
    id: i64,
    content: Result<String>,
    render: String,
    author_id: i32,
    author_name: String,
    author_email: Result<&'static str>,
    #[graphql(name = "authorIP")]
    author_ip: Result<&'static str>,
    created_at: Date,
    updated_at: Date,
}

impl CommentPost {
    /// A comment as somebody sees it, who has the permissions of some fields anywhere or not.
    fn new(row: CommentRow, access: &Access) -> Self {
        let is_manager = access.has(&["manage:system"]);
        Self {
            id: row.id,
            render: row.render(),
            content: gated(access.has(SOURCE), row.content),
            author_id: ACCOUNT,
            author_name: row.author,
            author_email: gated(is_manager, "api@localhost"),
            author_ip: gated(is_manager, "127.0.0.1"),
            created_at: Date(row.created_at),
            updated_at: Date(row.updated_at),
        }
    }
}

#[Object]
impl CommentQuery {
    async fn list(
        &self,
        ctx: &Context<'_>,
        locale: String,
        path: String,
    ) -> Result<Vec<Option<CommentPost>>> {
        let access = require(ctx, &["read:comments"])?;
        let found = shared(ctx).store().comments_at(&locale, &path, access)?;
        let shown = |row| Some(CommentPost::new(row, access));
        Ok(found.into_iter().map(shown).collect())
    }

    async fn single(&self, ctx: &Context<'_>, id: i32) -> Option<CommentPost> {
        let access = nullable(ctx, require(ctx, &["read:comments"]))?;
        let found = shared(ctx).store().comment(id.into(), access);
        nullable(ctx, found).map(|row| CommentPost::new(row, access))
    }
}

/// Everything that can be done to comments.
pub(super) struct CommentMutation;

/// The answer of a create.
#[derive(SimpleObject)]
pub(super) struct CommentCreateResponse {
    response_result: Option<ResponseStatus>,
    id: Option<i64>,
}

/// The answer of an update.
#[derive(SimpleObject)]
pub(super) struct CommentUpdateResponse {
    response_result: Option<ResponseStatus>,
    render: Option<String>,
}

#[Object]
impl CommentMutation {
    async fn create(
        &self,
        ctx: &Context<'_>,
        page_id: i32,
        reply_to: Option<i32>,
        content: String,
        guest_name: Option<String>,
        guest_email: Option<String>,
    ) -> Option<CommentCreateResponse> {
        // They count for guests alone.
        let _ = (guest_name, guest_email);
        // The limit comes before the right (W31).
        nullable(ctx, shared(ctx).take_comment())?;
        let access = nullable(ctx, require(ctx, &["write:comments"]))?;
        let (page, reply) = (page_id.into(), reply_to.unwrap_or_default().into());
        let result = shared(ctx).create_comment(page, reply, &content, access);
        Some(CommentCreateResponse {
            response_result: Some(ResponseStatus::of(
                &result,
                "New comment posted successfully",
            )),
            id: result.ok(),
        })
    }

    async fn update(
        &self,
        ctx: &Context<'_>,
        id: i32,
        content: String,
    ) -> Option<CommentUpdateResponse> {
        let access = nullable(ctx, require(ctx, SOURCE))?;
        let result = shared(ctx).change_comment(id.into(), &content, access);
        Some(CommentUpdateResponse {
            response_result: Some(ResponseStatus::of(&result, "Comment updated successfully")),
            render: result.ok(),
        })
    }

    async fn delete(&self, ctx: &Context<'_>, id: i32) -> Option<DefaultResponse> {
        let access = nullable(ctx, require(ctx, &["manage:comments"]))?;
        let result = shared(ctx).store().delete_comment(id.into(), access);
        done(&result, "Comment deleted successfully")
    }
}
