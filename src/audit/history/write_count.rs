//! Counts the recent writes of a client.

use std::collections::HashSet;

use time::OffsetDateTime;

use super::super::{AuditEvent, AuditLayout, AuditResult, CallId, Client, runs, scan};

/// The writes on record, with the states of pages that they found and left.
#[derive(Debug, Clone)]
pub struct WriteReader {
    pub(in crate::audit) place: AuditLayout,
}

impl WriteReader {
    /// Number of writes attempted since a time by a client, and by all that are counted with it
    /// ([`Client::is_counted_with`]). Only runs that were written since are read.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub async fn count_since(&self, client: &Client, since: OffsetDateTime) -> AuditResult<u64> {
        let own = client.clone();
        self.place
            .on(move |place| {
                let is_meant = |client: &Client| own.is_counted_with(client);
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
    use crate::audit::{Client, ClientId};

    #[test]
    fn writes_are_counted_by_who_was_authenticated_and_not_by_what_a_program_calls_itself() {
        let [ada, ben] = ["ada", "ben"].map(|of| Some(ClientId::derived(of)));
        let client = |id, subject: &str| Client {
            name: "claude-code".to_owned(),
            id,
            subject: (!subject.is_empty()).then(|| subject.to_owned()),
            ..Client::default()
        };
        let named = |name: &str| Client {
            name: name.to_owned(),
            ..Client::default()
        };
        let delegate = Client {
            parent: ada,
            ..client(Some(ClientId::derived("d")), "ada/d")
        };
        for (one, other, together) in [
            (client(ada, "ada"), client(ada, "ada-renamed"), true),
            (client(ada, "ada"), client(ben, "ben"), false),
            (client(ada, "ada"), delegate.clone(), true),
            (delegate.clone(), delegate, true),
            (client(ada, "ada"), named("ada"), false),
            (client(None, "key:1"), client(None, "key:1"), true),
            (client(None, "key:1"), client(None, "key:2"), false),
            (client(None, "key:1"), named("claude-code"), false),
            (named("claude-code"), named("Claude-Code"), true),
            (named(""), named(""), true),
            (named(""), named("ci"), false),
        ] {
            assert_eq!(one.is_counted_with(&other), together, "{one:?} {other:?}");
            assert_eq!(other.is_counted_with(&one), together, "{one:?} {other:?}");
        }
    }
}
