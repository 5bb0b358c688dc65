//! Counts the recent writes of a client.

use std::collections::HashSet;

use time::OffsetDateTime;

use super::super::{AuditEvent, AuditLayout, AuditResult, CallId, Client, runs, scan};

/// True if a client goes by one of these names; without names, if it has none either.
pub fn goes_by(client: &Client, names: &[String]) -> bool {
    let own = client.names();
    if names.is_empty() {
        return own.is_empty();
    }
    let is_its = |name: &String| own.iter().any(|own| own.eq_ignore_ascii_case(name));
    names.iter().any(is_its)
}

/// The writes on record, with the states of pages that they found and left.
#[derive(Debug, Clone)]
pub struct WriteReader {
    pub(in crate::audit) place: AuditLayout,
}

impl WriteReader {
    /// Number of writes attempted since a time by clients with one of these names, or without
    /// names, by clients that have none. Only runs that were written since are read.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub async fn count_since(&self, names: Vec<String>, since: OffsetDateTime) -> AuditResult<u64> {
        self.place
            .on(move |place| {
                let is_meant = |client: &Client| goes_by(client, &names);
                let mut calls: HashSet<CallId> = HashSet::new();
                for run in runs(place)? {
                    if OffsetDateTime::from(run.modified) < since {
                        continue;
                    }
                    scan([&run], &["\"attempt\""], |record, _| {
                        let is_attempt = record.event == AuditEvent::Attempt;
                        let is_since = record.instant().is_some_and(|at| at >= since);
                        if is_attempt
                            && is_since
                            && record.client.as_ref().is_some_and(is_meant)
                            && let Some(call) = record.call
                        {
                            calls.insert(call);
                        }
                    })?;
                }
                Ok(u64::try_from(calls.len()).unwrap_or(u64::MAX))
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::goes_by;
    use crate::audit::Client;

    #[test]
    fn a_client_is_known_by_its_own_name_its_authenticated_one_and_in_any_letter_case() {
        let client = Client {
            name: "Claude".to_owned(),
            subject: Some("ci/1".to_owned()),
            ..Client::default()
        };
        for (names, is_it) in [
            (&["claude"][..], true),
            (&["CI"], true),
            (&["ci/1"], true),
            (&["other", "ci"], true),
            (&["other"], false),
            (&[], false),
        ] {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(goes_by(&client, &names), is_it, "{names:?}");
        }
        assert!(goes_by(&Client::default(), &[]));
        assert!(!goes_by(&Client::default(), &["ci".to_owned()]));
    }
}
