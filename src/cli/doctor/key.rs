//! Does the wiki know the key, and for how long?

use time::OffsetDateTime;

use super::report::Finding;
use crate::wiki::{Reached, Wiki, WikiError};

/// How many days before a key's end it is time for another.
const SOON: i64 = 30;
const NEW_KEY: &str =
    "Have an administrator of the wiki make a new key, and set it as WIKI_API_TOKEN.";

/// Where a new key belongs: the setting in use.
fn new_key(wiki: &Wiki) -> String {
    wiki.settings().key.setting().named_in(NEW_KEY)
}

/// Whether the key is good, and what there is to say of it.
pub(super) async fn found(wiki: &Wiki, reached: &Reached) -> (bool, Vec<Finding>) {
    match found_wrong(wiki, reached).await {
        Some(finding) => (false, vec![finding]),
        None => (true, found_good(wiki)),
    }
}

async fn found_wrong(wiki: &Wiki, reached: &Reached) -> Option<Finding> {
    match &reached.locales {
        Err(error @ WikiError::KeyRevoked) => {
            return Some(Finding::wrong(error.to_string(), new_key(wiki).as_str()));
        }
        Err(error @ WikiError::ApiDisabled) => {
            return Some(Finding::wrong(
                error.to_string(),
                "Have an administrator switch it on, under Administration, API Access.",
            ));
        }
        Ok(_) | Err(_) => {}
    }
    if let Some(expired) = wiki.expired() {
        return Some(Finding::wrong(expired.to_string(), new_key(wiki).as_str()));
    }
    match wiki.is_guest().await {
        Some(true) => Some(Finding::wrong(
            WikiError::Guest.to_string(),
            new_key(wiki).as_str(),
        )),
        Some(false) => None,
        None => Some(Finding::wrong(
            "whether the wiki knows the key could not be found out",
            "Look into the log of the wiki.",
        )),
    }
}

fn found_good(wiki: &Wiki) -> Vec<Finding> {
    let key = &wiki.settings().key;
    let days = key
        .expires()
        .map(|at| (at - OffsetDateTime::now_utc()).whole_days());
    let mut found = vec![match days {
        Some(days) if days < SOON => Finding::warning(
            format!("the wiki knows the key, which expires in {days} days"),
            new_key(wiki).as_str(),
        ),
        Some(days) => Finding::good(format!(
            "the wiki knows the key, which expires in {days} days"
        )),
        None => Finding::good("the wiki knows the key, which does not say when it expires"),
    }];
    if key.is_full_access() {
        found.push(Finding::warning(
            "the key has full access: more than any tool needs",
            "Make a key of a group that has the rights below and no more.",
        ));
    }
    found
}
