//! The GraphQL API: the part of Wiki.js' schema that has to do with pages, their comments, and assets.

#![expect(
    clippy::unused_async,
    reason = "async-graphql takes async resolvers only, whether they wait or not"
)]

mod answer;
mod assets;
mod comments;
mod errors;
mod mutation;
mod objects;
mod operation;
mod page;
mod query;
mod site;

use std::sync::Arc;

use async_graphql::{EmptySubscription, Schema, SimpleObject};

pub(super) use answer::Answer;
pub(super) use operation::Operation;

use super::state::Shared;
use assets::{AssetMutation, AssetQuery};
use comments::{CommentMutation, CommentQuery};
use mutation::PageMutation;
use query::PageQuery;
use site::{LocalizationQuery, SearchQuery, UserQuery};

/// The schema, ready to run operations on one wiki.
pub(super) type WikiSchema = Schema<Query, Mutation, EmptySubscription>;

/// The schema of the wiki behind `shared`.
pub(super) fn schema(shared: Arc<Shared>) -> WikiSchema {
    let query = Query {
        pages: Some(PageQuery),
        assets: Some(AssetQuery),
        comments: Some(CommentQuery),
        localization: Some(LocalizationQuery),
        search: Some(SearchQuery),
        users: Some(UserQuery),
    };
    let mutation = Mutation {
        pages: Some(PageMutation),
        assets: Some(AssetMutation),
        comments: Some(CommentMutation),
    };
    let schema = Schema::build(query, mutation, EmptySubscription);
    schema.data(shared).finish()
}

/// The root of all queries.
#[derive(SimpleObject)]
pub(super) struct Query {
    pages: Option<PageQuery>,
    assets: Option<AssetQuery>,
    comments: Option<CommentQuery>,
    localization: Option<LocalizationQuery>,
    search: Option<SearchQuery>,
    users: Option<UserQuery>,
}

/// The root of all mutations.
#[derive(SimpleObject)]
pub(super) struct Mutation {
    pages: Option<PageMutation>,
    assets: Option<AssetMutation>,
    comments: Option<CommentMutation>,
}
