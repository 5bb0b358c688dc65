//! Checks that the wiki knows the key, and how long the key is valid.

use time::Duration;

use super::finding::DoctorFinding;
use crate::wiki::{Reached, Wiki, WikiError, in_words};

/// The number of days before a key's end from which a new one is advised.
const SOON: i64 = 30;

fn new_key(advice: &str) -> String {
    format!("Have an administrator of the wiki make a new key; {advice}.")
}

/// True if the key is good, with the findings about it.
pub(super) async fn found(
    wiki: &Wiki,
    advice: &str,
    reached: &Reached,
) -> (bool, Vec<DoctorFinding>) {
    match found_wrong(wiki, advice, reached).await {
        Some(finding) => (false, vec![finding]),
        None => (true, found_good(wiki, advice)),
    }
}

async fn found_wrong(wiki: &Wiki, advice: &str, reached: &Reached) -> Option<DoctorFinding> {
    let wrong = |fault: String| Some(DoctorFinding::wrong(fault, new_key(advice).as_str()));
    match &reached.locales {
        Err(error @ WikiError::KeyRevoked) => {
            return wrong(error.to_string());
        }
        Err(error @ WikiError::ApiDisabled) => {
            return Some(DoctorFinding::wrong(
                error.to_string(),
                "Have an administrator switch it on, under Administration, API Access.",
            ));
        }
        Ok(_) | Err(_) => {}
    }
    if let Some(expired) = wiki.expired() {
        let ahead = Duration::seconds(reached.ahead.unwrap_or_default());
        let left = wiki.key().left();
        if left.is_some_and(|left| left.saturating_add(ahead).is_positive()) {
            return Some(DoctorFinding::wrong(
                "the key has expired by this machine's clock, which is ahead of the wiki's; by the wiki's it has not",
                "Set this machine's clock.",
            ));
        }
        return wrong(expired.to_string());
    }
    let limit = wiki.settings().time.read;
    match wiki.standing_within(limit).await {
        Some(standing) => wrong(wiki.fault_of(standing)?.to_string()),
        None => Some(DoctorFinding::wrong(
            "whether the wiki knows the key could not be found out",
            "Look into the log of the wiki.",
        )),
    }
}

fn found_good(wiki: &Wiki, advice: &str) -> Vec<DoctorFinding> {
    let key = wiki.key();
    let mut found = vec![match key.left() {
        Some(left) => {
            let seen = format!(
                "the wiki knows the key, which expires in {}",
                in_words(left)
            );
            if left.whole_days() < SOON {
                DoctorFinding::warning(seen, new_key(advice).as_str())
            } else {
                DoctorFinding::good(seen)
            }
        }
        None => DoctorFinding::good("the wiki knows the key, which does not say when it expires"),
    }];
    if key.is_full_access {
        found.push(DoctorFinding::warning(
            "the key has full access: more than any tool needs",
            "Make a key of a group that has the rights below and no more.",
        ));
    }
    found
}
