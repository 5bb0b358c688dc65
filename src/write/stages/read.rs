//! Makes the changes of a write from the pages as they are now.

use crate::error::{Code, Result};
use crate::gates::ChangeSet;
use crate::page::Note;

use crate::write::source::swap::by_temporary_places;
use crate::write::source::{Made, WriteCall, WriteRequest, mismatch};
use crate::write::{Route, Stopped, Warrant};

/// Makes the changes that a request asks for. With a confirmation, these are the shown changes, if
/// the request agrees with them and the pages are still as they were shown.
///
/// # Errors
/// Why they cannot be made, with the merged change, if there is one.
pub(crate) async fn changes(
    call: WriteCall<'_>,
    request: &WriteRequest,
    route: &Route,
    note: Option<&Note>,
) -> Made {
    match route {
        Route::Send(Warrant::Person(approved)) => {
            let shown = approved.set().clone().under(call.id);
            is_same_note(note, &shown)?;
            let again = Box::pin(request.shown_again(call, shown)).await;
            again.map_err(ask_anew)
        }
        Route::Send(Warrant::Preview(token)) => {
            let shown = call
                .memory
                .previews
                .look(call.session, token)?
                .under(call.id);
            is_same_note(note, &shown)?;
            Box::pin(request.shown_again(call, shown)).await
        }
        Route::Send(Warrant::StaticToken | Warrant::Reviewer(_)) | Route::Stop(_) => {
            let mut read = request.made(call).await?;
            // An applied proposal keeps its proposer's note.
            if read.set.proposal().is_none() {
                read.set = read.set.noted(note.cloned());
            }
            read.set = by_temporary_places(call.wiki(), call.policy, read.set).await?;
            Ok(read)
        }
    }
}

/// A call that confirms a set may leave out the note. The note that was shown goes on record, and
/// no other one may replace it.
fn is_same_note(said: Option<&Note>, shown: &ChangeSet) -> Result<()> {
    if said.is_none() || said == shown.note() {
        Ok(())
    } else {
        Err(mismatch())
    }
}

/// Adds the hint to ask again if the page is not as it was shown to the person.
fn ask_anew(stopped: Stopped) -> Stopped {
    if stopped.failure.code != Code::EditConflict {
        return stopped;
    }
    Stopped {
        failure: stopped.failure.hint(
            "Look at details.changes, then call again; the person is asked about the page as it is.",
        ),
        ..stopped
    }
}

#[cfg(test)]
mod tests {
    use super::{ask_anew, is_same_note};
    use crate::error::{Code, Failure};
    use crate::page::{Note, Whose};
    use crate::write::source::conflict::Stopped;
    use crate::write::testing::{set, update};

    #[test]
    fn a_call_that_confirms_repeats_the_note_that_was_shown_or_says_none() {
        let note = |text: &str| Some(Note::parse(text, Whose::Agent).unwrap());
        for (said, shown, is_same) in [
            (None, None, true),
            (None, note("a"), true),
            (note("a"), note("a"), true),
            (note("a"), note("b"), false),
            (note("a"), None, false),
        ] {
            let shown = set(update(1)).noted(shown);
            let found = is_same_note(said.as_ref(), &shown);
            assert_eq!(found.is_ok(), is_same, "{said:?} {:?}", shown.note());
            if let Err(failure) = found {
                assert_eq!(failure.code, Code::ConfirmMismatch);
            }
        }
    }

    #[test]
    fn who_was_asked_about_a_page_that_changed_is_told_to_ask_again_and_nobody_else() {
        let told = |code| {
            let failure = Failure::new(code, "Why.").hint("What to do.");
            ask_anew(Stopped::from(failure)).failure
        };
        assert!(
            told(Code::EditConflict)
                .hint
                .contains("the person is asked")
        );
        for code in [Code::PageNotFound, Code::ConfirmMismatch, Code::PageExists] {
            assert_eq!(told(code).hint, "What to do.", "{code:?}");
        }
    }
}
