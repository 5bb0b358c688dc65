//! `comments` of a query and of a mutation (W30 to W34).

use async_graphql::{Context, Object, Result, SimpleObject};

use super::errors::{gated, nullable, require, shared};
use super::mutation::{DefaultResponse, ResponseStatus, done};
use crate::demo::store::CommentRow;
use crate::demo::{Access, Date, shape};

/// The permissions that allow reading the sources of comments.
const SOURCE: &[&str] = &["write:comments", "manage:comments"];
/// The permission that allows reading who sent a comment.
const MANAGER: &[&str] = &["manage:system"];
/// The account of all API keys.
const ACCOUNT: i32 = 1;

/// Everything about comments that can be read.
pub(super) struct CommentQuery;

shape! {
    /// A comment as somebody sees it: some of its fields have gates.
    CommentPost of seen: (CommentRow, &Access) {
        id: i64 = seen.0.id;
        render: String = seen.0.render();
        content: Result<String> = gated(seen.1.has(SOURCE), seen.0.content);
        author_id: i32 = ACCOUNT;
        author_name: String = seen.0.author;
        author_email: Result<&'static str> = gated(seen.1.has(MANAGER), "api@localhost");
        #[graphql(name = "authorIP")]
        author_ip: Result<&'static str> = gated(seen.1.has(MANAGER), "127.0.0.1");
        created_at: Date = Date(seen.0.created_at);
        updated_at: Date = Date(seen.0.updated_at);
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
        let shown = |row| Some(CommentPost::from((row, access)));
        Ok(found.into_iter().map(shown).collect())
    }

    async fn single(&self, ctx: &Context<'_>, id: i32) -> Option<CommentPost> {
        let access = nullable(ctx, require(ctx, &["read:comments"]))?;
        let found = shared(ctx).store().comment(id.into(), access);
        nullable(ctx, found).map(|row| CommentPost::from((row, access)))
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
