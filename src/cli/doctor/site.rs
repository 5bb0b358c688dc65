//! Checks the settings of the site: locales and search engine.

use super::finding::DoctorFinding;
use crate::wiki::{Reached, Wiki};
use crate::words::separated;

pub(super) fn locales(wiki: &Wiki, reached: &Reached) -> DoctorFinding {
    let own = &wiki.settings().default_locale;
    let site = match &reached.locales {
        Ok(site) => site,
        Err(error) if error.is_about_the_key() => {
            return DoctorFinding::skipped("because of the key");
        }
        Err(error) => {
            return DoctorFinding::wrong(error.to_string(), "Look into the log of the wiki.");
        }
    };
    let all = separated(&site.all, ", ");
    let seen = format!("the wiki has pages in {all}; {own} is the default here");
    if site.all.contains(own) {
        DoctorFinding::good(seen)
    } else {
        DoctorFinding::wrong(
            seen,
            format!("Set WIKI_DEFAULT_LOCALE to {}.", site.primary).as_str(),
        )
    }
}

pub(super) async fn search(wiki: &Wiki) -> DoctorFinding {
    match wiki.search_engine().await {
        Ok(Some(engine)) if engine == "db" => DoctorFinding::good(
            "the wiki's search engine is db, which looks at titles, descriptions and paths; content is searched by our own index",
        ),
        Ok(Some(engine)) => DoctorFinding::good(format!("the wiki's search engine is {engine}")),
        Ok(None) => DoctorFinding::warning(
            "the wiki has no search engine switched on",
            "Have an administrator switch one on, under Administration, Search Engine.",
        ),
        Err(error) if error.is_forbidden() => {
            DoctorFinding::skipped("because only a key with manage:system may ask")
        }
        Err(error) => DoctorFinding::warning(error.to_string(), "Look into the log of the wiki."),
    }
}
