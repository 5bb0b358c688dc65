//! Asks for a second confirmation of deletions, on a page that names the pages to be deleted.
//!
//! The page's form carries a token that no other page holds, bound to the session, the set, what was
//! shown of it and what is left out: without it nothing that deletes is applied.

use std::collections::HashSet;

use maud::{Markup, html};

use super::decision::ReviewedSet;
use super::form::FormFields;
use super::markup::{self, Frame, counted, text};
use super::queue::{place, verb};
use super::session::SignedIn;
use super::set_page::LINKS_LEFT;
use super::set_view::with_left_out;
use crate::audit::ProposedChange;
use crate::change::{Operation, Risk};

/// The most deletions that are named.
const MOST_NAMED: usize = 200;
/// The member of the form that carries the token.
const TOKEN: &str = "deletes";

/// Lists the changes that delete, numbered from 0, without those left out.
pub(super) fn deletions(
    seen: &ReviewedSet,
    left_out: &HashSet<usize>,
) -> Vec<(usize, ProposedChange)> {
    let changes = seen.review.proposal.changes().enumerate();
    changes
        .filter(|(number, one)| one.operation.deletes() && !left_out.contains(number))
        .map(|(number, one)| (number, one.clone()))
        .collect()
}

/// Tells whether a form comes from the page that asked.
pub(super) fn is_confirmed(
    session: &SignedIn,
    seen: &ReviewedSet,
    left_out: &HashSet<usize>,
    form: &FormFields,
) -> bool {
    session.is_token_for(&words(seen, left_out), form.text(TOKEN))
}

/// All that the token is bound to.
fn words(seen: &ReviewedSet, left_out: &HashSet<usize>) -> Vec<String> {
    let mut numbers: Vec<usize> = left_out.iter().copied().collect();
    numbers.sort_unstable();
    let fixed = [
        "delete".to_owned(),
        seen.review.proposal.id.to_string(),
        seen.review.digest.clone(),
    ];
    let numbers = numbers.iter().map(ToString::to_string);
    fixed.into_iter().chain(numbers).collect()
}

/// The page that asks. Its link back has the focus.
pub(super) fn page(
    session: &SignedIn,
    seen: &ReviewedSet,
    left_out: &HashSet<usize>,
    form: &FormFields,
    frame: &Frame,
) -> Markup {
    let gone = deletions(seen, left_out);
    let proposal = &seen.review.proposal;
    let others = { proposal.changes().enumerate() }
        .filter(|(number, one)| !one.operation.deletes() && !left_out.contains(number))
        .count();
    let are_pages = gone
        .iter()
        .all(|(_, one)| one.operation == Operation::Delete);
    let (noun, nouns) = if are_pages {
        ("page", "pages")
    } else {
        ("thing", "things")
    };
    let title = format!("Delete {}?", counted(gone.len(), noun, nouns));
    let set = frame.links().set(proposal.id);
    let back = with_left_out(&set, left_out);
    let body = html! {
        main #main.narrow.deletion {
            h1 { @if let [(_, one)] = &*gone { (what(one)) "?" } @else { (title) } }
            ul.gone {
                @for (number, one) in gone.iter().take(MOST_NAMED) {
                    li {
                        (what(one)) @if one.operation.is_of_page() { " " span.quiet { "“" (text(&one.title)) "”" } }
                        @for warning in losses(seen, *number) { p.warning { (text(warning)) } }
                    }
                }
                @if gone.len() > MOST_NAMED { li { "and " (gone.len() - MOST_NAMED) " more" } }
            }
            @if others > 0 {
                p { "The set makes " (counted(others, "other change", "other changes")) " with it." }
            }
            form method="post" action=(set) data-once="" {
                @for (name, value) in [
                    ("form_token", &*session.form_token),
                    ("digest", &seen.review.digest),
                    ("merge", form.text("merge")),
                    ("unseen", form.text("unseen")),
                    (LINKS_LEFT, form.text(LINKS_LEFT)),
                    (TOKEN, &session.token_for(&words(seen, left_out))),
                ] { input type="hidden" name=(name) value=(value); }
                @for number in left_out { input type="hidden" name="leave_out" value=(number); }
                a.button href=(back) autofocus { "Back: delete nothing" }
                " "
                button #delete.danger type="submit" name="decision" value="apply" {
                    @if others == 0 { "Delete" } @else { "Apply and delete" }
                }
            }
        }
    };
    markup::page(&title, frame, &body)
}

fn what(one: &ProposedChange) -> Markup {
    html! { b { (verb(one.operation)) } " " span.path { (place(&one.locale, &one.path)) } }
}

/// The warnings about what of a deletion does not come back.
fn losses(seen: &ReviewedSet, number: usize) -> impl Iterator<Item = &str> {
    let is_loss = |code: &str| matches!(Risk::of_warning(code), Risk::Deletes | Risk::LosesForGood);
    seen.warnings
        .iter()
        .filter(move |one| one.changes.contains(&number) && is_loss(&one.warning.code))
        .map(|one| one.warning.message.as_str())
}
