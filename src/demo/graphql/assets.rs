//! `assets` of a query and of a mutation (W35, W36, W41).

use async_graphql::{Context, Enum, Object};

use super::errors::{nullable, require, shared};
use super::mutation::{DefaultResponse, done};
use crate::demo::store::{AssetRow, FolderRow};
use crate::demo::{Date, shape};

const READERS: &[&str] = &["read:assets"];

/// The kind that an asset was uploaded as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum AssetKind {
    Image,
    Binary,
    All,
}

shape! {
    /// An asset in a list.
    AssetItem of row: AssetRow {
        id: i64 = row.id;
        filename: String = row.filename.clone();
        ext: String = row.ext().to_owned();
        kind: AssetKind = kind(&row);
        mime: String = row.mime;
        file_size: i64 = i64::try_from(row.sent).unwrap_or(i64::MAX);
        metadata: Option<String> = None;
        created_at: Date = Date(row.created_at);
        updated_at: Date = Date(row.updated_at);
    }
}

shape! {
    /// A folder in a list.
    AssetFolder of row: FolderRow {
        id: i64 = row.id;
        slug: String = row.slug.clone();
        name: Option<String> = Some(row.slug);
    }
}

fn kind(row: &AssetRow) -> AssetKind {
    if row.is_image() {
        AssetKind::Image
    } else {
        AssetKind::Binary
    }
}

/// Everything about assets that can be read.
pub(super) struct AssetQuery;

#[Object]
impl AssetQuery {
    #[graphql(name = "list")]
    async fn list(
        &self,
        ctx: &Context<'_>,
        folder_id: i32,
        #[graphql(name = "kind")] wanted: AssetKind,
    ) -> Option<Vec<Option<AssetItem>>> {
        let access = nullable(ctx, require(ctx, READERS))?;
        let found = shared(ctx).store().assets_in(folder_id.into(), access);
        let is_wanted = |row: &AssetRow| wanted == AssetKind::All || kind(row) == wanted;
        let found = found.into_iter().filter(is_wanted);
        Some(found.map(|row| Some(row.into())).collect())
    }

    async fn folders(
        &self,
        ctx: &Context<'_>,
        parent_folder_id: i32,
    ) -> Option<Vec<Option<AssetFolder>>> {
        let access = nullable(ctx, require(ctx, READERS))?;
        let store = shared(ctx).store();
        let found = store.folders_in(parent_folder_id.into(), access);
        Some(found.into_iter().map(|row| Some(row.into())).collect())
    }
}

/// The mutations of assets, but for uploads.
pub(super) struct AssetMutation;

#[Object]
impl AssetMutation {
    async fn create_folder(
        &self,
        ctx: &Context<'_>,
        parent_folder_id: i32,
        slug: String,
        name: Option<String>,
    ) -> Option<DefaultResponse> {
        // The name is always the slug.
        let _ = name;
        nullable(ctx, require(ctx, &["write:assets"]))?;
        let parent = parent_folder_id.into();
        let result = shared(ctx).store().create_folder(parent, &slug);
        done(&result, "Asset Folder has been created successfully.")
    }

    async fn rename_asset(
        &self,
        ctx: &Context<'_>,
        id: i32,
        filename: String,
    ) -> Option<DefaultResponse> {
        let access = nullable(ctx, require(ctx, &["manage:assets"]))?;
        let mut store = shared(ctx).store();
        let result = store.rename_asset(id.into(), &filename, access);
        done(&result, "Asset has been renamed successfully.")
    }

    async fn delete_asset(&self, ctx: &Context<'_>, id: i32) -> Option<DefaultResponse> {
        let access = nullable(ctx, require(ctx, &["manage:assets"]))?;
        let result = shared(ctx).store().delete_asset(id.into(), access);
        done(&result, "Asset has been deleted successfully.")
    }
}
