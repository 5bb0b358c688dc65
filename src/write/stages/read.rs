//! Makes the changes of a write from the pages as they are now.

use crate::audit::{CallId, Draft};
use crate::error::{Code, Failure};
use crate::gates::{ChangeSet, Policy};

use crate::write::caller::Caller;
use crate::write::context::WriteContext;
use crate::write::route::{Route, Warrant};
use crate::write::source::conflict::Stopped;
use crate::write::source::swap::by_temporary_places;
use crate::write::source::{ChangeSource, ComparedSet, Under, WriteCall, mismatch};

/// Makes the changes that a source asks for. With a confirmation, these are the shown changes, if
/// the source agrees with them and the pages are still as they were shown.
///
/// # Errors
/// Why they cannot be made, with the merged change, if there is one.
pub(in crate::write) async fn changes(
    (desk, policy): (&WriteContext, &Policy),
    caller: &Caller,
    id: CallId,
    source: &dyn ChangeSource,
    route: &Route,
    draft: Option<&Draft>,
) -> Result<ComparedSet, Stopped> {
    let session = &caller.session;
    let call = WriteCall {
        desk,
        policy,
        session,
        id,
        under: under(draft, route),
    };
    match route {
        Route::Send(Warrant::Person(approved)) => {
            let shown = approved.set().clone().under(id);
            is_same_note(caller, &shown)?;
            let again = source.shown_again(call, shown).await;
            again.map_err(ask_anew)
        }
        Route::Send(Warrant::Preview(token)) => {
            let shown = desk.memory.previewed(session, token)?.under(id);
            is_same_note(caller, &shown)?;
            source.shown_again(call, shown).await
        }
        Route::Send(Warrant::StaticToken)
        | Route::Preview
        | Route::Open
        | Route::Ask
        | Route::Join => {
            let mut read = source.made(call).await?;
            // An applied proposal keeps its proposer's note.
            if read.set.proposal().is_none() {
                read.set = read.set.noted(caller.note.clone());
            }
            read.set = by_temporary_places(&desk.wiki, policy, read.set).await?;
            Ok(read)
        }
    }
}

/// The base of changes: in a draft its other changes, and for sets that stay open the open ones.
const fn under<'a>(draft: Option<&'a Draft>, route: &Route) -> Under<'a> {
    match (draft, route) {
        (Some(draft), _) => Under::Draft(draft),
        (None, Route::Open) => Under::OpenSets,
        (None, Route::Preview | Route::Ask | Route::Join | Route::Send(_)) => Under::Wiki,
    }
}

/// A call that confirms a set may leave out the note. The note that was shown goes on record, and
/// no other one may replace it.
fn is_same_note(caller: &Caller, shown: &ChangeSet) -> Result<(), Failure> {
    let said = caller.note.as_ref();
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
    use super::{ask_anew, is_same_note, under};
    use crate::error::{Code, Failure};
    use crate::page::{Note, Whose};
    use crate::write::asker::Asker;
    use crate::write::route::{Route, Warrant};
    use crate::write::source::Under;
    use crate::write::source::conflict::Stopped;
    use crate::write::testing::{caller, set, update};

    #[test]
    fn only_what_stays_open_builds_on_what_is_open() {
        for (route, expected) in [
            (Route::Open, true),
            (Route::Preview, false),
            (Route::Ask, false),
            (Route::Join, false),
            (Route::Send(Warrant::StaticToken), false),
        ] {
            let under = under(None, &route);
            assert_eq!(matches!(under, Under::OpenSets), expected, "{under:?}");
            assert_eq!(matches!(under, Under::Wiki), !expected, "{under:?}");
        }
    }

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
            let mut caller = caller(Asker::Nobody);
            caller.note = said;
            let shown = set(update(1)).noted(shown);
            let found = is_same_note(&caller, &shown);
            assert_eq!(
                found.is_ok(),
                is_same,
                "{:?} {:?}",
                caller.note,
                shown.note()
            );
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
