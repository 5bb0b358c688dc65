//! The operations, one type each, generated from `graphql/` against `schema.graphql`.
#![expect(
    missing_docs,
    reason = "a variant's doc would turn a tool's enum into a oneOf"
)]

use graphql_client::GraphQLQuery;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::page::Date;

// The derive tracks only the files of operations; this makes a changed schema rebuild too.
const _: &str = include_str!("../../../schema.graphql");

/// What a list is ordered by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum PageOrderBy {
    Created,
    #[default]
    Id,
    Path,
    Title,
    Updated,
}

/// In which direction a list is ordered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum PageOrderByDirection {
    #[default]
    Asc,
    Desc,
}

/// Which nodes of the tree are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum PageTreeMode {
    Folders,
    Pages,
    #[default]
    All,
}

macro_rules! operations {
    ($($name:ident $file:tt)*) => {$(
        #[derive(GraphQLQuery)]
        #[graphql(
            schema_path = "../schema.graphql",
            query_path = $file,
            custom_scalars_module = "crate::wiki::operations::generated",
            extern_enums("PageOrderBy", "PageOrderByDirection", "PageTreeMode"),
            skip_serializing_none,
            variables_derives = "Debug, Clone, PartialEq",
            response_derives = "Debug, Clone, PartialEq"
        )]
        pub(in crate::wiki) struct $name;
    )*};
}

operations! {
    PageSingle "../graphql/page_single.graphql"
    PageSingleByPath "../graphql/page_single_by_path.graphql"
    PageRender "../graphql/page_render.graphql"
    PageConflictLatest "../graphql/page_conflict_latest.graphql"
    PageAuthor "../graphql/page_author.graphql"
    PageLatestAuthor "../graphql/page_latest_author.graphql"
    PageContent "../graphql/page_content.graphql"
    PageLatestContent "../graphql/page_latest_content.graphql"
    PageList "../graphql/page_list.graphql"
    PageSearch "../graphql/page_search.graphql"
    PageTree "../graphql/page_tree.graphql"
    PageTags "../graphql/page_tags.graphql"
    PageLinks "../graphql/page_links.graphql"
    PageHistory "../graphql/page_history.graphql"
    PageVersion "../graphql/page_version.graphql"
    UserProfile "../graphql/user_profile.graphql"
    LocalizationConfig "../graphql/localization_config.graphql"
    SearchEngines "../graphql/search_engines.graphql"
    AssetsList "../graphql/assets_list.graphql"
    AssetsFolders "../graphql/assets_folders.graphql"
    AssetFolderCreate "../graphql/asset_folder_create.graphql"
    AssetRename "../graphql/asset_rename.graphql"
    AssetDelete "../graphql/asset_delete.graphql"
    CommentsList "../graphql/comments_list.graphql"
    CommentsIds "../graphql/comments_ids.graphql"
    CommentsShown "../graphql/comments_shown.graphql"
    PageCreate "../graphql/page_create.graphql"
    PageUpdate "../graphql/page_update.graphql"
    PageMove "../graphql/page_move.graphql"
    PageDelete "../graphql/page_delete.graphql"
    CommentCreate "../graphql/comment_create.graphql"
    CommentUpdate "../graphql/comment_update.graphql"
    CommentDelete "../graphql/comment_delete.graphql"
}
