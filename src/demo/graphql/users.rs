//! `users` of a query: whose key it is.

use async_graphql::{Context, Object, SimpleObject};

use super::errors::{access, nullable};
use super::page::ADMINISTRATOR_ID;
use crate::demo::fault::WikiError;

/// The one thing about users that the demo wiki knows.
pub(super) struct UserQuery;

/// The user that a key stands for.
#[derive(SimpleObject)]
pub(super) struct UserProfile {
    id: i32,
}

#[Object]
impl UserQuery {
    /// Every key is the administrator's (W4).
    async fn profile(&self, ctx: &Context<'_>) -> Option<UserProfile> {
        let found = if access(ctx).is_guest {
            Err(WikiError::AuthRequired.into())
        } else {
            Ok(UserProfile {
                id: ADMINISTRATOR_ID,
            })
        };
        nullable(ctx, found)
    }
}
