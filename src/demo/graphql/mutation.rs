//! `pages` of a mutation.

use async_graphql::{Context, MaybeUndefined, Object, SimpleObject};

use super::errors::{nullable, require, shared};
use super::page::{Page, SeenPage};
use crate::demo::store::{PageChange, PageRow};
use crate::demo::{Access, Date, Fault};

/// The permissions that allow beginning a write of a page.
const WRITERS: &[&str] = &["write:pages", "manage:pages"];

/// The outcome of a write.
#[derive(SimpleObject)]
pub(super) struct ResponseStatus {
    succeeded: bool,
    error_code: i32,
    slug: String,
    message: Option<String>,
}

impl ResponseStatus {
    pub(super) fn of<T>(result: &Result<T, Fault>, success: &str) -> Self {
        let (error_code, slug, message) = match result {
            Ok(_) => (0, "ok".to_owned(), success.to_owned()),
            Err(fault) => fault.told(),
        };
        Self {
            succeeded: result.is_ok(),
            error_code,
            slug,
            message: Some(message),
        }
    }
}

/// The answer of a create or an update.
#[derive(SimpleObject)]
pub(super) struct PageResponse {
    response_result: ResponseStatus,
    page: Option<Page>,
}

/// The answer of any other write.
#[derive(SimpleObject)]
pub(super) struct DefaultResponse {
    response_result: Option<ResponseStatus>,
}

/// The answer of a write that gives nothing back.
#[expect(clippy::unnecessary_wraps, reason = "nullable in the schema")]
pub(super) fn done(result: &Result<(), Fault>, success: &str) -> Option<DefaultResponse> {
    let response_result = Some(ResponseStatus::of(result, success));
    Some(DefaultResponse { response_result })
}

/// Everything that can be done to pages.
pub(super) struct PageMutation;

#[Object]
impl PageMutation {
    #[expect(clippy::too_many_arguments, reason = "the schema's arguments")]
    async fn create(
        &self,
        ctx: &Context<'_>,
        content: String,
        description: String,
        editor: String,
        is_published: bool,
        is_private: bool,
        locale: String,
        path: String,
        publish_end_date: Option<Date>,
        publish_start_date: Option<Date>,
        script_css: Option<String>,
        script_js: Option<String>,
        tags: Vec<Option<String>>,
        title: String,
    ) -> Option<PageResponse> {
        let access = nullable(ctx, require(ctx, WRITERS))?;
        let new = PageRow {
            locale,
            path,
            title,
            description: Some(description),
            content,
            editor,
            tags: texts(tags),
            is_published,
            is_private,
            publish_start_date: publish_start_date.unwrap_or_default().0,
            publish_end_date: publish_end_date.unwrap_or_default().0,
            script_css: script_css.unwrap_or_default(),
            script_js: script_js.unwrap_or_default(),
            ..PageRow::default()
        };
        let result = shared(ctx).create(&new, access).await;
        Some(answer(ctx, access, &result, "Page created successfully."))
    }

    #[expect(clippy::too_many_arguments, reason = "the schema's arguments")]
    async fn update(
        &self,
        ctx: &Context<'_>,
        id: i32,
        content: MaybeUndefined<String>,
        description: MaybeUndefined<String>,
        editor: Option<String>,
        is_private: Option<bool>,
        is_published: Option<bool>,
        locale: MaybeUndefined<String>,
        path: MaybeUndefined<String>,
        publish_end_date: Option<Date>,
        publish_start_date: Option<Date>,
        script_css: MaybeUndefined<String>,
        script_js: MaybeUndefined<String>,
        tags: MaybeUndefined<Vec<Option<String>>>,
        title: MaybeUndefined<String>,
    ) -> Option<PageResponse> {
        let access = nullable(ctx, require(ctx, WRITERS))?;
        // Taken and ignored, as the real server does (W13).
        let _ = (editor, is_private);
        let change = PageChange {
            content,
            title,
            description,
            is_published: is_published.unwrap_or_default(),
            publish_start_date: publish_start_date.unwrap_or_default().0,
            publish_end_date: publish_end_date.unwrap_or_default().0,
            script_css,
            script_js,
            tags: tags.map_value(texts),
            locale,
            path,
        };
        let result = shared(ctx)
            .update(id.into(), &change, "updated", access)
            .await;
        Some(answer(ctx, access, &result, "Page has been updated."))
    }

    #[graphql(name = "move")]
    async fn move_page(
        &self,
        ctx: &Context<'_>,
        id: i32,
        destination_path: String,
        destination_locale: String,
    ) -> Option<DefaultResponse> {
        let access = nullable(ctx, require(ctx, &["manage:pages"]))?;
        let (path, locale) = (&destination_path, &destination_locale);
        let result = shared(ctx).move_page(id.into(), path, locale, access).await;
        done(&result, "Page has been moved.")
    }

    async fn delete(&self, ctx: &Context<'_>, id: i32) -> Option<DefaultResponse> {
        let access = nullable(ctx, require(ctx, &["delete:pages"]))?;
        let result = shared(ctx).delete(id.into(), access).await;
        done(&result, "Page has been deleted.")
    }

    async fn restore(
        &self,
        ctx: &Context<'_>,
        page_id: i32,
        version_id: i32,
    ) -> Option<DefaultResponse> {
        let access = nullable(ctx, require(ctx, WRITERS))?;
        let (page, version) = (page_id.into(), version_id.into());
        let result = shared(ctx).restore(page, version, access).await;
        done(&result, "Page version restored successfully.")
    }
}

fn answer(
    ctx: &Context<'_>,
    access: &Access,
    result: &Result<PageRow, Fault>,
    success: &str,
) -> PageResponse {
    let store = &*shared(ctx).store();
    let written = |row: &PageRow| Page::written(SeenPage { store, row, access });
    PageResponse {
        response_result: ResponseStatus::of(result, success),
        page: result.as_ref().ok().map(written),
    }
}

/// Tags as texts: a null among them is an empty one.
fn texts(tags: Vec<Option<String>>) -> Vec<String> {
    tags.into_iter().map(Option::unwrap_or_default).collect()
}
