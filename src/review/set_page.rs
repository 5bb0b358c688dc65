//! Renders the page of a set: its changes, its warnings, and the forms that decide.

use maud::{Markup, html};

use super::difference::rows;
use super::fields::{self, FieldDiff};
use super::form::FormFields;
use super::markup::{self, Frame, asker, counted, text, when};
use super::queue::{marks, place, verb, what};
use super::rows::table;
use super::session::SignedIn;
use super::set_view::{SetPageModel, ShownChange, made};
use super::standing::{begun, conflict, hindrance, state};
use crate::audit::Proposal;
use crate::change::Operation;
use crate::error::capitalised;
use crate::gates::LinkLeft;
use crate::page::is_picture;
use crate::write::Review;

/// The page.
pub(super) fn page(shown: &SetPageModel, frame: &Frame) -> Markup {
    let sheet = shown.sheet;
    let proposal = &sheet.review.proposal;
    let body = html! {
        main #main.set data-set=(proposal.id) {
            (head(shown))
            @if let Some(wrong) = shown.given.wrong { p.news.bad role="alert" #wrong { (text(wrong)) } }
            @if let Some(why) = shown.left_to_others() { p.news.bad { (why) } }
            (begun(shown))
            (hindrance(shown))
            @if shown.can_decide() {
                @let address = frame.links().set(proposal.id);
                // A form of its own: Enter in the reason rejects, with scripts and without.
                form #rejecting method="post" action=(address) data-once="" { (hidden(shown)) }
                form #decide method="post" action=(address) data-once="" {
                    // Enter on a tick or in a field presses the first button of a form: this one only shows the set again.
                    button type="submit" name=(TURN) value=(format!("?from={}", shown.parts.start)) hidden {}
                    (hidden(shown))
                    (changes(shown))
                    (links_left(proposal))
                    (links_without(shown))
                    (decide(shown))
                }
            } @else {
                (changes(shown))
                (links_left(proposal))
            }
        }
    };
    let title = format!(
        "{} {}",
        verb(proposal.first.operation),
        place(&proposal.first.locale, &proposal.first.path)
    );
    markup::page(&title, frame, &body)
}

/// The hidden members of both forms.
fn hidden(shown: &SetPageModel) -> Markup {
    html! {
        input type="hidden" name="form_token" value=(shown.session.form_token);
        input type="hidden" name="digest" value=(shown.sheet.review.digest);
        input type="hidden" name="made" value=(made(shown.sheet.review));
    }
}

fn head(shown: &SetPageModel) -> Markup {
    let sheet = shown.sheet;
    let proposal = &sheet.review.proposal;
    let (asked, mending) = sheet.counts();
    html! {
        p.back { a href=(shown.reviewer.links().to("/review")) { "← Queue" } }
        h1 { (what(proposal)) }
        p.by {
            (asker(proposal)) " asks, " (when(&proposal.created))
            span.quiet { " · " (counted(asked, "change", "changes"))
                @if mending > 0 { ", and links mended on " (counted(mending, "page", "pages")) }
                " · " code { (proposal.id) }
            }
        }
        @if let Some(note) = &proposal.note {
            blockquote.note {
                p { (text(note.as_str())) }
                footer { "the words of " (asker(proposal)) ", which nobody checked" }
            }
        }
        @let risks = sheet.review.risks(shown.warnings);
        @if !risks.is_empty() { p.risks { (marks(&risks)) } }
        (state(shown))
        @if let Some(unseen) = &sheet.review.unseen {
            p.news.bad { "What it changes is not shown: " (text(&unseen.to_string())) }
        }
        @for one in shown.warnings {
            p.warning {
                @if one.is_rule() { b { "Rule: " } (text(&one.warning.message)) }
                @else { b { "Warning: " } (text(&one.warning.to_string())) }
                @if sheet.changes.len() > 1 && !one.changes.is_empty() {
                    " On " (shown.links(one.changes.iter().copied())) "."
                }
            }
        }
        @if let Some(told) = sheet.review.warned_before(shown.warnings) {
            p.warning { (text(&capitalised(&told))) "." }
        }
    }
}

fn changes(shown: &SetPageModel) -> Markup {
    let sheet = shown.sheet;
    let numbered = || sheet.changes.iter().enumerate();
    let is_list = sheet.changes.len() > 1;
    let mends = |change: &ShownChange| change.proposed.links_mended.is_some();
    html! {
        @if !sheet.parts.is_empty() {
            p.views {
                "Differences: "
                @if shown.session.kept.state.is_side_by_side {
                    (turn(shown, "?view=one", "", "one column")) " · " b { "two columns" }
                } @else {
                    b { "one column" } " · " (turn(shown, "?view=two", "", "two columns"))
                }
            }
        }
        h2.said { "Changes" }
        @for (number, change) in numbered().filter(|(_, change)| !mends(change)) {
            (one(shown, number, change, is_list))
        }
        @if numbered().any(|(_, change)| mends(change)) {
            h2 { "Links mended, nothing else" }
            @for (number, change) in numbered().filter(|(_, change)| mends(change)) {
                (one(shown, number, change, is_list))
            }
        }
        (more(shown))
    }
}

/// The member of a form that turns to another view of its set.
pub(super) const TURN: &str = "turn";

/// Leads to another view of the set. Of a list the form goes there, since it takes along what is left out.
fn turn(shown: &SetPageModel, view: &str, class: &str, words: &str) -> Markup {
    let links = shown.reviewer.links();
    html! {
        @if shown.sheet.changes.len() > 1 && shown.can_decide() {
            button class=(if class.is_empty() { "link" } else { class }) type="submit" name=(TURN) value=(view) {
                (words)
            }
        } @else {
            @let address = match view.strip_prefix('?') {
                Some(_) => links.to(view),
                None => links.set(format_args!("{}{view}", shown.sheet.review.proposal.id)),
            };
            a class=[Some(class).filter(|class| !class.is_empty())] href=(address) { (words) }
        }
    }
}

/// One change.
fn one(shown: &SetPageModel, number: usize, change: &ShownChange, is_list: bool) -> Markup {
    let proposed = &change.proposed;
    let id = format!("change-{number}");
    let (links, set) = (shown.reviewer.links(), shown.sheet.review.proposal.id);
    let is_left_out = shown
        .sheet
        .review
        .proposal
        .state
        .left_out()
        .contains(&number);
    html! {
        section.change.omitted[is_left_out] #(id) aria-labelledby=(format!("{id}-title")) {
            div.bar {
                h3 id=(format!("{id}-title")) {
                    @if is_list { span.number { (number + 1) ". " } }
                    @match proposed.links_mended {
                        Some(links) => { (counted(links, "link", "links")) " on " },
                        None => { (verb(proposed.operation)) " " },
                    }
                    span.path { (place(&proposed.locale, &proposed.path)) }
                    @if let Some(new) = &proposed.new_path { " → " span.path { (text(new.as_str())) } }
                    @if proposed.links_mended.is_none() {
                        " " span.quiet { "“" (text(&proposed.title)) "”" }
                    }
                    @if is_left_out { " " span.mark { "left out" } }
                }
                @if !change.texts.is_empty() && proposed.operation != Operation::UploadAsset {
                    (turn(shown, &format!("/new/{number}"), "link wiki", "as rendered"))
                }
                a.wiki href=(change.reviewed.change.target.url) rel="noopener noreferrer" target="_blank" { "in the wiki" }
                @if is_list && shown.can_decide() {
                    label.out {
                        input type="checkbox" name="leave_out" value=(number)
                            aria-describedby=(format!("{id}-title"))
                            checked[shown.given.left_out.contains(&number)];
                        " leave out"
                    }
                }
            }
            (conflict(change, (is_list, !shown.sheet.review.begun_by.is_empty())))
            @if proposed.undoes.is_some() { p.quiet { "takes back an earlier write" } }
            @if !change.values.is_empty() { (fields::table(change.values.iter().copied())) }
            @if proposed.operation == Operation::UploadAsset && is_picture(&proposed.path) {
                img.picture loading="lazy" alt=(format!("What is uploaded as {}", text(proposed.path.as_str())))
                    src=(links.set(format_args!("{set}/picture/{number}")));
            }
            @for (at, of) in change.texts.iter().enumerate() { (one_text(shown, number, at, *of)) }
        }
    }
}

/// The difference of one text, as far as this page shows it.
fn one_text(shown: &SetPageModel, change: usize, at: usize, (field, diff): FieldDiff) -> Markup {
    let own = shown.sheet.parts.iter().enumerate();
    let own = own.filter(|(_, part)| part.change == change && part.text == at);
    html! {
        div.text {
            @if field != "content" { h4 { (field) } }
            @for (number, part) in own {
                @if shown.parts.contains(&number) {
                    @let rows: Vec<_> = rows(diff, part.rows.clone()).collect();
                    @let name = format!("difference of {field}, change {}, part {}", change + 1, number + 1);
                    (table(&rows, shown.session.kept.state.is_side_by_side, &name))
                } @else {
                    @let lines = counted(part.changed, "changed line", "changed lines");
                    p.folded { (turn(shown, &format!("?from={number}#change-{change}"), "", &format!("Show {lines}"))) }
                }
            }
        }
    }
}

/// The link to the rest of the differences.
fn more(shown: &SetPageModel) -> Markup {
    let end = shown.parts.end;
    let Some(next) = shown.sheet.parts.get(end) else {
        return html! {};
    };
    let view = format!("?from={end}#change-{}", next.change);
    html! { p.more { (turn(shown, &view, "button", "Show the next differences")) } }
}

/// The links to what moves that stay as they are.
fn links_left(proposal: &Proposal) -> Markup {
    html! {
        @if !proposal.links_left.is_empty() {
            section.left {
                h2 { "Links that stay as they are" }
                ul {
                    @for left in &proposal.links_left {
                        li {
                            span.path { (place(&left.locale, &left.path)) }
                            @if let Some(line) = left.line { ", line " (line) }
                            ": " (text(&left.why))
                        }
                    }
                    @if proposal.links_left_not_kept > 0 {
                        li { "and " (proposal.links_left_not_kept) " more" }
                    }
                }
            }
        }
    }
}

/// The member of a form that says which links its page named as leading nowhere.
pub(super) const LINKS_LEFT: &str = "links_left";

/// Tells whether a form comes from the page that named these links.
pub(super) fn names_links(
    session: &SignedIn,
    review: &Review,
    links: &[LinkLeft],
    form: &FormFields,
) -> bool {
    session.is_token_for(&words_of_links(review, links), form.text(LINKS_LEFT))
}

/// All that the token of a page which names links is bound to.
fn words_of_links(review: &Review, links: &[LinkLeft]) -> [String; 4] {
    let named: Vec<_> = links
        .iter()
        .map(|left| (left.id, &left.place, &left.link))
        .collect();
    [
        "links".to_owned(),
        review.proposal.id.to_string(),
        review.digest.clone(),
        format!("{named:?}"),
    ]
}

/// The links that lead nowhere for what a person leaves out, before they decide.
fn links_without(shown: &SetPageModel) -> Markup {
    let links = shown.given.links;
    html! {
        @if !links.is_empty() {
            @let words = words_of_links(shown.sheet.review, links);
            input type="hidden" name=(LINKS_LEFT) value=(shown.session.token_for(&words));
            section.left {
                h2 { "Links that will lead nowhere" }
                ul {
                    @for left in links {
                        li {
                            span.path { (place(&left.place.0, &left.place.1)) }
                            @if let Some((address, line)) = &left.link {
                                ", line " (line) ": " code { (text(address)) }
                            }
                            ": " (text(&left.why))
                        }
                    }
                }
            }
        }
    }
}

/// The form with the decisions that a person can take.
fn decide(shown: &SetPageModel) -> Markup {
    let sheet = shown.sheet;
    let hindered = || {
        let changes = sheet.changes.iter().map(|change| change.reviewed);
        changes.filter(|change| change.hindrance.is_some())
    };
    let is_merged = hindered().any(|change| change.merged.is_some());
    // Of a set, a change that does not fit can be left out.
    let fits = sheet.changes.len() > 1 || hindered().all(|change| change.merged.is_some());
    let is_held = sheet.review.hindrance.is_some() && hindered().next().is_none();
    let can_apply = shown.reviewer.may_apply && sheet.review.unseen.is_none() && fits && !is_held;
    let deletes = sheet
        .changes
        .iter()
        .any(|change| change.proposed.operation.deletes());
    html! {
        div.decide role="group" aria-label="Your decision" {
            @if !shown.reviewer.may_apply {
                p.unseen { "The server is in a dry run: you can reject this, and not apply it." }
            }
            @if can_apply && shown.unseen.lines > 0 {
                p.unseen {
                    b { (counted(shown.unseen.lines, "changed line", "changed lines")) }
                    " not shown yet. "
                    @if let Some(first) = shown.unseen.first { (turn(shown, &format!("?from={first}"), "", "Show them")) }
                    label {
                        ", or type their number to apply unseen: "
                        input.number type="text" inputmode="numeric" name="unseen" size="6"
                            autocomplete="off";
                    }
                }
            }
            @if can_apply {
                @if is_merged { input type="hidden" name="merge" value="yes"; }
                // No key of its own and never the focus: it is pressed on purpose. What deletes is
                // asked for once more.
                button #apply.primary[!deletes].danger[deletes] type="submit" name="decision" value="apply" {
                    @if is_merged { "Apply merged" } @else { "Apply" }
                    @if deletes { "…" }
                }
            }
            label.why {
                span.label { "Reason" }
                input type="text" name="reason" form="rejecting" maxlength="500" autocomplete="off"
                    required pattern=".*\\S.*" title="Say why: the agent reads it"
                    placeholder="why not: the agent reads it"
                    value=[shown.given.reason] autofocus[shown.given.reason.is_some()]
                    aria-invalid=[shown.given.reason.map(|_| "true")]
                    aria-describedby=[shown.given.reason.map(|_| "wrong")];
            }
            button #reject type="submit" form="rejecting" name="decision" value="reject" {
                @if sheet.review.begun_by.is_empty() { "Reject" } @else { "Reject the rest" }
            }
            p.keys.quiet aria-hidden="true" {
                @if can_apply { kbd { "Ctrl" } "+" kbd { "Enter" } " applies, " }
                kbd { "r" } " goes to the reason, " kbd { "Enter" } " there rejects"
            }
        }
    }
}
