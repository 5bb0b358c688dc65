//! `comments` of a query and of a mutation (W30 to W34).

use async_graphql::{Context, Object, Result, SimpleObject};

use super::errors::{access, nullable, require, shared};
use super::mutation::{DefaultResponse, ResponseStatus, done};
use crate::demo::clock::Date;
use crate::demo::fault::Fault;
use crate::demo::store::CommentRow;
use crate::demo::writes;

/// The permissions that allow reading the sources of comments.
const SOURCE: &[&str] = &["write:comments", "manage:comments"];
/// The account of all API keys.
const ACCOUNT: i32 = 1;

/// Everything about comments that can be read.
pub(super) struct CommentQuery;

/// A comment, with the gates that its fields have.
pub(super) struct CommentPost(CommentRow);

#[Object(rename_fields = "camelCase")]
impl CommentPost {
    async fn id(&self) -> i64 {
        self.0.id
    }

    async fn content(&self, ctx: &Context<'_>) -> Result<&str> {
        gated(ctx, SOURCE, &self.0.content)
    }

    async fn render(&self) -> String {
        self.0.render()
    }

    async fn author_id(&self) -> i32 {
        ACCOUNT
    }

    async fn author_name(&self) -> &str {
        &self.0.author
    }

    async fn author_email(&self, ctx: &Context<'_>) -> Result<&str> {
        gated(ctx, &["manage:system"], "api@localhost")
    }

    #[graphql(name = "authorIP")]
    async fn author_ip(&self, ctx: &Context<'_>) -> Result<&str> {
        gated(ctx, &["manage:system"], "127.0.0.1")
    }

    async fn created_at(&self) -> Date {
        Date::from(&self.0.created_at)
    }

    async fn updated_at(&self) -> Date {
        Date::from(&self.0.updated_at)
    }
}

/// A value for whoever has one of these permissions anywhere.
fn gated<'a>(ctx: &Context<'_>, permissions: &[&str], value: &'a str) -> Result<&'a str> {
    if access(ctx).has(permissions) {
        Ok(value)
    } else {
        Err(Fault::forbidden().into())
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
        Ok(found.into_iter().map(CommentPost).map(Some).collect())
    }

    async fn single(&self, ctx: &Context<'_>, id: i32) -> Option<CommentPost> {
        let access = nullable(ctx, require(ctx, &["read:comments"]))?;
        nullable(ctx, shared(ctx).store().comment(id.into(), access)).map(CommentPost)
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
        let result = writes::create_comment(shared(ctx), page, reply, &content, access);
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
        let result = writes::change_comment(shared(ctx), id.into(), &content, access);
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
