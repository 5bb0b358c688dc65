//! A write with the operator's own yes: previewed, looked at, confirmed.

use crate::error::{Code, Failure};
use crate::server::App;
use crate::write::{Answer, Applied, Caller, Plan, Preview};

/// Previews a write and sends it if `says_yes` to the preview; nothing if it does not. A write
/// that has nothing to do asks nobody.
///
/// # Errors
/// Whatever stopped it.
pub(super) async fn confirmed(
    app: &App,
    caller: &Caller,
    plan: Plan,
    says_yes: impl FnOnce(&Preview) -> bool,
) -> Result<Option<Applied>, Failure> {
    let write = async |confirm| {
        let written = app
            .writer
            .write(caller.clone(), plan.clone(), confirm)
            .await;
        match written {
            Ok(answer) => Ok(answer),
            Err(failure) => Err(app.wiki.explained(failure).await),
        }
    };
    let preview = match write(None).await? {
        Answer::Preview(preview) => preview,
        Answer::Applied(applied) => return Ok(Some(*applied)),
    };
    if !says_yes(&preview) {
        return Ok(None);
    }
    match write(preview.confirm.map(|confirm| confirm.token)).await? {
        Answer::Applied(applied) => Ok(Some(*applied)),
        Answer::Preview(_) => Err(Failure::new(
            Code::InternalError,
            "The write ended as a preview.",
        )),
    }
}
