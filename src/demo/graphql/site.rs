//! `localization`, `search` and `users` of a query: what the site is set to, and whose key it is.

use async_graphql::{Context, Object, SimpleObject};

use super::errors::{access, nullable, require};
use super::page::ADMINISTRATOR_ID;
use crate::demo::WikiError;
use crate::demo::sql::LOCALES;

/// The search engines that Wiki.js brings along.
const ENGINES: [&str; 9] = [
    "algolia",
    "aws",
    "azure",
    "db",
    "elasticsearch",
    "manticore",
    "postgres",
    "solr",
    "sphinx",
];
/// The one that is on (W9).
const ENABLED: &str = "db";

/// The locales of the site.
pub(super) struct LocalizationQuery;

/// The locales that pages can be in; the same for every demo wiki.
#[derive(SimpleObject)]
pub(super) struct LocalizationConfig {
    locale: &'static str,
    namespacing: bool,
    namespaces: Vec<Option<&'static str>>,
}

/// A locale that the wiki can have.
#[derive(SimpleObject)]
pub(super) struct LocalizationLocale {
    code: &'static str,
    is_installed: bool,
}

#[Object]
impl LocalizationQuery {
    /// Answers everybody, guests too (W46).
    async fn locales(&self) -> Option<Vec<Option<LocalizationLocale>>> {
        let installed = |code| {
            Some(LocalizationLocale {
                code,
                is_installed: true,
            })
        };
        Some(LOCALES.iter().copied().map(installed).collect())
    }

    /// Answers everybody, guests too.
    async fn config(&self) -> Option<LocalizationConfig> {
        Some(LocalizationConfig {
            locale: "en",
            namespacing: true,
            namespaces: vec![Some("en"), Some("de")],
        })
    }
}

/// The search engines of the site.
pub(super) struct SearchQuery;

/// A search engine.
#[derive(SimpleObject)]
pub(super) struct SearchEngine {
    key: &'static str,
    is_enabled: bool,
}

#[Object]
impl SearchQuery {
    async fn search_engines(&self, ctx: &Context<'_>) -> Option<Vec<Option<SearchEngine>>> {
        let found = require(ctx, &["manage:system"]).map(|_| {
            let engine = |key| {
                Some(SearchEngine {
                    key,
                    is_enabled: key == ENABLED,
                })
            };
            ENGINES.into_iter().map(engine).collect()
        });
        nullable(ctx, found)
    }
}

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
