//! What is to be known of a set before it is shown or sent: whether it fits a request, whether new
//! places are free, and what is to be said of it.

use crate::change::Change;
use crate::gates::{ChangeSet, Gate, Refusal};
use crate::page::{Field, LineCounts};
use crate::wiki::Wiki;

use crate::write::answer::Notes;
use crate::write::new_place;
use crate::write::source::conflict::ConflictCheck;

/// What was found of a set.
#[derive(Debug)]
pub(in crate::write) struct Checked {
    /// What is to be said of it.
    pub(in crate::write) notes: Notes,
    /// The difference of the content.
    pub(in crate::write) diff: String,
    /// How many lines of it are added and removed.
    pub(in crate::write) lines: LineCounts,
}

/// Looks at a set whose places are allowed, of which its source has something to say.
///
/// # Errors
/// `TOO_LARGE`, `PAGE_EXISTS`, or what the wiki says.
pub(in crate::write) async fn look(
    wiki: &Wiki,
    set: &ChangeSet,
    conflict: ConflictCheck,
    said: Option<String>,
) -> Result<Checked, Refusal> {
    let at_change = |failure| Refusal::at(Gate::Change, failure);
    for one in set.iter() {
        Wiki::check_size(&one.change).map_err(|error| at_change(error.into()))?;
    }
    let mut notes = Notes {
        warnings: Vec::new(),
        is_unchecked: conflict == ConflictCheck::None,
        undoes: set.first().undoes,
        replaces: None,
    };
    for one in set.iter() {
        let there = new_place::look(wiki, &one.change)
            .await
            .map_err(at_change)?;
        notes.warnings.extend(there);
    }
    notes.warnings.extend(said);
    notes
        .warnings
        .extend(set.iter().flat_map(|one| warnings_of(&one.change)));
    let (diff, lines) = set.first().change.content_diff();
    Ok(Checked { notes, diff, lines })
}

/// What is to be said of a change wherever it is shown.
fn warnings_of(change: &Change) -> Vec<String> {
    let mut warnings = lost_by(change);
    warnings.extend(cannot_return(change));
    if change.has_literal_escapes() {
        warnings.push(
            r"literal_escapes: the new text has \n as two characters and no line break; where lines were meant, send it again with line breaks.".to_owned(),
        );
    }
    warnings
}

/// That a page leaves a place to which nothing brings it back (W28), said before it and after.
fn cannot_return(change: &Change) -> Option<String> {
    leaves_for_good(change).then(|| {
        "cannot_return: the wiki makes no page at this path any more, so undo can bring the page \
         back only at another path."
            .to_owned()
    })
}

/// Whether a page leaves a place to which nothing brings it back (W28).
pub(in crate::write) fn leaves_for_good(change: &Change) -> bool {
    let leaves = change.after().is_none() || change.moves();
    let before = change.before().filter(|_| leaves);
    before.is_some_and(|page| !page.path.can_be_made())
}

/// What a change loses for good, or cannot bring back, said before and after it.
fn lost_by(change: &Change) -> Vec<String> {
    let names = |fields: &[Field]| {
        let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
        names.join(", ")
    };
    let mut warnings = Vec::new();
    if !change.lost().is_empty() {
        warnings.push(format!(
            "loss_accepted: this key cannot read {}; what stands there is lost, and undo cannot bring it back.",
            names(change.lost())
        ));
    }
    if !change.left_alone().is_empty() {
        warnings.push(format!(
            "not_known: the write that this takes back could not read {}; it stays as it is.",
            names(change.left_alone())
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::{leaves_for_good, warnings_of};
    use crate::change::Change;
    use crate::page::{Field, PagePath, PageState};

    fn page() -> PageState {
        let page = r#"{"id":1,"locale":"en","path":"docs/a","title":"A","description":"","content":"x\n",
            "editor":"markdown","tags":[],"isPublished":true,"isPrivate":false,"publishStartDate":"",
            "publishEndDate":"","scriptCss":"","scriptJs":""}"#;
        serde_json::from_str(page).unwrap()
    }

    fn at(path: &str) -> PageState {
        PageState {
            path: PagePath::as_stored(path),
            ..page()
        }
    }

    #[test]
    fn a_page_leaves_for_good_where_the_wiki_makes_none_any_more() {
        let retitled = |page: PageState| PageState {
            title: "B".to_owned(),
            ..page
        };
        for (change, expected) in [
            (Change::delete(at("docs/a")), false),
            (Change::delete(at("docs/a.b")), true),
            (Change::between(at("docs/a.b"), at("docs/b")), true),
            (Change::between(at("docs/a"), at("docs/b")), false),
            (
                Change::between(at("docs/a.b"), retitled(at("docs/a.b"))),
                false,
            ),
            (Change::recreate(at("docs/a.b")), false),
        ] {
            assert_eq!(leaves_for_good(&change), expected, "{change:?}");
            let warns = warnings_of(&change)
                .iter()
                .any(|warning| warning.starts_with("cannot_return:"));
            assert_eq!(warns, expected, "{change:?}");
        }
    }

    #[test]
    fn what_is_lost_or_stays_is_named_by_field_and_nothing_else_is_said() {
        let change = || {
            let after = PageState {
                title: "B".to_owned(),
                ..page()
            };
            Change::between(page(), after)
        };
        assert_eq!(warnings_of(&change()), Vec::<String>::new());
        let fields = vec![Field::ScriptCss, Field::ScriptJs];
        let warnings = warnings_of(&change().with_loss_of(fields.clone()));
        assert_eq!(warnings.len(), 1);
        assert!(
            warnings[0].starts_with("loss_accepted: this key cannot read scriptCss, scriptJs;")
        );
        let warnings = warnings_of(&change().without(fields));
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].starts_with("not_known: "), "{warnings:?}");
        assert!(
            warnings[0].contains("scriptCss, scriptJs; it stays"),
            "{warnings:?}"
        );
    }

    #[test]
    fn a_line_break_that_is_two_characters_is_said() {
        let after = PageState {
            content: r"one\ntwo\nthree\nfour".to_owned(),
            ..page()
        };
        let change = Change::between(page(), after);
        let says = |change: &Change| {
            warnings_of(change)
                .iter()
                .any(|warning| warning.starts_with("literal_escapes:"))
        };
        assert_eq!(says(&change), change.has_literal_escapes());
        assert!(change.has_literal_escapes());
    }
}
