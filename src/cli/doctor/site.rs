//! What the site is set to: locales and search engine.

use super::finding::Finding;
use crate::page::Locale;
use crate::wiki::{Reached, Wiki};

pub(super) fn locales(wiki: &Wiki, reached: &Reached) -> Finding {
    let own = &wiki.settings().default_locale;
    let site = match &reached.locales {
        Ok(site) => site,
        Err(error) if error.is_about_the_key() => {
            return Finding::skipped("because of the key");
        }
        Err(error) => {
            return Finding::wrong(error.to_string(), "Look into the log of the wiki.");
        }
    };
    let all: Vec<&str> = site.all.iter().map(Locale::as_str).collect();
    let seen = format!(
        "the wiki has pages in {}; {own} is the default here",
        all.join(", ")
    );
    if site.all.contains(own) {
        Finding::good(seen)
    } else {
        Finding::wrong(
            seen,
            format!("Set WIKI_DEFAULT_LOCALE to {}.", site.primary).as_str(),
        )
    }
}

pub(super) async fn search(wiki: &Wiki) -> Finding {
    match wiki.search_engine().await {
        Ok(Some(engine)) if engine == "db" => Finding::good(
            "the wiki's search engine is db, which looks at titles, descriptions and paths; content is searched by our own index",
        ),
        Ok(Some(engine)) => Finding::good(format!("the wiki's search engine is {engine}")),
        Ok(None) => Finding::warning(
            "the wiki has no search engine switched on",
            "Have an administrator switch one on, under Administration, Search Engine.",
        ),
        Err(error) if error.is_forbidden() => {
            Finding::skipped("because only a key with manage:system may ask")
        }
        Err(error) => Finding::warning(error.to_string(), "Look into the log of the wiki."),
    }
}
