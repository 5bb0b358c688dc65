//! Turns errors of delegates into failures for the caller.

use serde_json::json;

use super::kept::{DelegatesError, MOST_AT_ONCE};
use crate::error::{Code, Failure};
use crate::words::counted;
use crate::write::denied;

impl From<DelegatesError> for Failure {
    fn from(error: DelegatesError) -> Self {
        match error {
            DelegatesError::Unknown | DelegatesError::Ended => has_ended(),
            DelegatesError::TooMany => denied(
                &format!("You have {MOST_AT_ONCE} delegates, as many as there may be at once."),
                "too_many",
            )
            .hint("End one with wikijs_end_delegation, or wait until one ends."),
            DelegatesError::Spent(left) => denied(
                &format!(
                    "This delegate may make {}, and this is more.",
                    counted(left, "more change", "more changes")
                ),
                "writes",
            )
            .detail("writesLeft", left),
            DelegatesError::Damaged { .. } => {
                tracing::error!("a delegate is not let in: {error}");
                has_ended()
            }
            DelegatesError::Store(_) => {
                tracing::error!("{error}");
                denied(
                    "The delegates cannot be read or written now; the server's log says why.",
                    "store",
                )
            }
        }
    }
}

pub(in crate::server) fn has_ended() -> Failure {
    denied(
        "This delegate has ended, or its maker may not call any more.",
        "ended",
    )
}

pub(in crate::server) fn invalid(name: &str, fault: &str) -> Failure {
    let field = json!([{ "path": name, "message": fault }]);
    Failure::new(Code::InvalidInput, format!("{name} {fault}.")).detail("fields", field)
}
