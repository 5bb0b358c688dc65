//! Turns errors of delegates into failures for the caller.

use serde_json::json;

use super::file::{DelegatesError, MOST_AT_ONCE};
use crate::error::{Code, Failure};
use crate::write::denied;

/// Does what waits for a lock and for a disk.
pub(in crate::server) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, DelegatesError> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| told(&error)),
        Err(_) => Err(failed("The file of delegates could not be used.")),
    }
}

fn told(error: &DelegatesError) -> Failure {
    match error {
        DelegatesError::Unknown | DelegatesError::Ended => has_ended(),
        DelegatesError::TooMany => denied(
            &format!("You have {MOST_AT_ONCE} delegates, as many as there may be at once."),
            "too_many",
        )
        .hint("End one with wikijs_end_delegation, or wait until one ends."),
        DelegatesError::Spent(left) => denied(
            &format!("This delegate may make {left} more changes, and this is more."),
            "writes",
        )
        .detail("writesLeft", *left),
        DelegatesError::File(why) => {
            tracing::error!(%why, "the file of delegates cannot be used");
            denied(
                "The file of delegates cannot be used; the server's log says why.",
                "file",
            )
        }
    }
}

pub(in crate::server) fn has_ended() -> Failure {
    denied(
        "This delegate has ended, or its maker may not call any more.",
        "ended",
    )
}

pub(in crate::server) fn failed(message: &str) -> Failure {
    Failure::new(Code::InternalError, message)
}

pub(in crate::server) fn invalid(name: &str, fault: &str) -> Failure {
    let field = json!([{ "path": name, "message": fault }]);
    Failure::new(Code::InvalidInput, format!("{name} {fault}.")).detail("fields", field)
}
