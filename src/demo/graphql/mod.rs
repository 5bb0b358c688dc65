//! The GraphQL API: the part of Wiki.js' schema that has to do with pages, their comments, and assets.

#![expect(
    clippy::unused_async,
    reason = "async-graphql takes async resolvers only, whether they wait or not"
)]

mod answer;
mod assets;
mod comments;
mod errors;
mod lists;
mod mutation;
mod operation;
mod page;
mod query;
mod scalars;
mod site;
mod users;
mod versions;

use std::sync::Arc;

use async_graphql::{EmptySubscription, Object, Schema};

pub(super) use answer::Answer;
pub(super) use operation::Operation;

use super::state::Shared;
use assets::{AssetMutation, AssetQuery};
use comments::{CommentMutation, CommentQuery};
use mutation::PageMutation;
use query::PageQuery;
use site::{LocalizationQuery, SearchQuery};
use users::UserQuery;

/// The schema, ready to run operations on one wiki.
pub(super) type WikiSchema = Schema<Query, Mutation, EmptySubscription>;

/// The schema of the wiki behind `shared`.
pub(super) fn schema(shared: Arc<Shared>) -> WikiSchema {
    Schema::build(Query, Mutation, EmptySubscription)
        .data(shared)
        .finish()
}

/// The root of all queries.
pub(super) struct Query;

#[Object]
impl Query {
    async fn pages(&self) -> Option<PageQuery> {
        Some(PageQuery)
    }

    async fn assets(&self) -> Option<AssetQuery> {
        Some(AssetQuery)
    }

    async fn comments(&self) -> Option<CommentQuery> {
        Some(CommentQuery)
    }

    async fn localization(&self) -> Option<LocalizationQuery> {
        Some(LocalizationQuery)
    }

    async fn search(&self) -> Option<SearchQuery> {
        Some(SearchQuery)
    }

    async fn users(&self) -> Option<UserQuery> {
        Some(UserQuery)
    }
}

/// The root of all mutations.
pub(super) struct Mutation;

#[Object]
impl Mutation {
    async fn pages(&self) -> Option<PageMutation> {
        Some(PageMutation)
    }

    async fn assets(&self) -> Option<AssetMutation> {
        Some(AssetMutation)
    }

    async fn comments(&self) -> Option<CommentMutation> {
        Some(CommentMutation)
    }
}
