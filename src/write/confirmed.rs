//! A write with a person's own yes: previewed, looked at, confirmed.

use crate::audit::CallId;
use crate::error::{Code, Failure};

use super::answer::{Answer, Applied, Preview, SetAnswer, SetOutcome, SetPreview};
use super::caller::Caller;
use super::door::Writer;
use super::source::Plan;

/// What a person is shown before they say yes.
#[derive(Debug)]
pub enum Shown {
    /// One change.
    One(Box<Preview>),
    /// A set of many.
    Set(Box<SetPreview>),
}

/// What was done.
#[derive(Debug)]
pub enum Done {
    /// One change, or nothing.
    One(Box<Applied>),
    /// A set of many.
    Set(Box<SetAnswer>),
}

impl Writer {
    /// Previews a write and sends it if `says_yes` to the preview; nothing if it does not. A write
    /// that has nothing to do asks nobody.
    ///
    /// # Errors
    /// Whatever stopped it.
    pub async fn confirmed(
        &self,
        caller: &Caller,
        plan: Plan,
        says_yes: impl FnOnce(&Shown) -> bool,
    ) -> Result<Option<Done>, Failure> {
        let write =
            async |confirm| match Box::pin(self.write(caller.clone(), plan.clone(), confirm)).await
            {
                Ok(answer) => Ok(answer),
                Err(failure) => Err(self.desk().wiki.explained(failure).await),
            };
        let shown = match write(None).await? {
            Answer::Preview(preview) => Shown::One(preview),
            Answer::SetPreview(preview) => Shown::Set(preview),
            Answer::Applied(applied) => return Ok(Some(Done::One(applied))),
            Answer::Set(set) => return Ok(Some(Done::Set(set))),
        };
        if !says_yes(&shown) {
            return Ok(None);
        }
        let confirm = match shown {
            Shown::One(preview) => preview.confirm,
            Shown::Set(preview) => preview.confirm,
        };
        match write(confirm.map(|confirm| confirm.token)).await? {
            Answer::Applied(applied) => Ok(Some(Done::One(applied))),
            Answer::Set(set) => Ok(Some(Done::Set(set))),
            Answer::Preview(_) | Answer::SetPreview(_) => Err(Failure::new(
                Code::InternalError,
                "The write ended as a preview.",
            )),
        }
    }
}

impl Done {
    /// The call that takes it back by its id; none where nothing was done.
    #[must_use]
    pub fn call(&self) -> Option<CallId> {
        match self {
            Self::One(applied) => (!applied.is_unchanged).then_some(applied.call),
            Self::Set(set) => (set.outcome == SetOutcome::Applied).then_some(set.call),
        }
    }
}
