//! Failures of edits: why a page's source cannot be changed as asked for.

use serde_json::{Value, json};

use crate::change::{Change, ContentFault, cut, short};
use crate::error::{Code, Failure, sentence};
use crate::page::{
    DiffersIn, EditFault, Field, Outline, PageState, PartFault, PartKind, PartSelector, PatchFault,
    SectionFault, Selector,
};

/// The most headings that a failure names if a selector is ambiguous.
const MAX_HEADINGS: usize = 100;
/// The most similar headings that a failure names.
const MAX_NEAREST: usize = 5;

/// The failure for a fault, with the section that was searched for, and in which text.
pub(super) fn content_failure(
    fault: ContentFault,
    sought: Option<(&PartSelector, &str)>,
) -> Failure {
    match fault {
        ContentFault::Edit(fault) => edit(fault),
        ContentFault::Patch(fault) => patch(fault),
        ContentFault::Part(PartFault::Section(fault)) => {
            let (selector, text) = sought.unzip();
            part_failure(fault, selector, text.unwrap_or_default())
        }
        ContentFault::Part(PartFault::Unfit(what)) => unfit(what),
        ContentFault::Unfit(what) => unfit(&what),
        ContentFault::NotMarkdown => not_applicable(
            "Only pages written with the Markdown editor have sections and frontMatter that can be changed.",
        )
        .hint("Use content, edits or patch."),
        ContentFault::Blank => {
            not_applicable("The page would be left without content, which Wiki.js refuses.")
                .hint("Leave some content; wikijs_delete_page deletes a page.")
        }
    }
}

/// The failure of an argument, with what is wrong with it as a fragment.
pub(super) fn bad_argument(
    argument: &str,
    message: impl Into<String>,
    fault: impl Into<Value>,
) -> Failure {
    let fields = json!([{ "path": argument, "message": fault.into() }]);
    Failure::new(Code::InvalidInput, message).detail("fields", fields)
}

fn unfit(what: &str) -> Failure {
    let message = "The content cannot be changed in this way; nothing was sent.";
    not_applicable(message).hint(sentence(what))
}

/// The failure for a part of a text that is not there once; of a block, with the blocks that are.
pub(super) fn part_failure(
    fault: SectionFault,
    selector: Option<&PartSelector>,
    text: &str,
) -> Failure {
    let outline = Outline::new(text);
    let section = selector.and_then(PartSelector::section);
    let is_block = matches!(
        selector.and_then(|selector| selector.steps.last()),
        Some(Selector::Nth(PartKind::Blocks(_), _))
    );
    let blocks = is_block.then(|| outline.blocks_in_lines(&(0..text.len())));
    section_failure(fault, section, &outline).detail_if("blocks", blocks)
}

/// The failure for a selector that names no part of a page, or several: with the most similar
/// headings, or all that it may mean.
pub fn section_failure(
    fault: SectionFault,
    selector: Option<&Selector>,
    outline: &Outline<'_>,
) -> Failure {
    let message = sentence(&fault.to_string());
    let (failure, left) = match fault {
        SectionFault::NotFound => {
            let first = Selector::Nth(PartKind::Sections, 1);
            let selector = selector.unwrap_or(&first);
            let nearest = outline.nearest_headings(selector, MAX_NEAREST);
            let left = outline.headings.len().saturating_sub(nearest.len());
            let mut failure = Failure::new(Code::SectionNotFound, message);
            if nearest.is_empty() {
                failure = failure.hint("No heading of this page is known; headings are found in Markdown and HTML. Read a part of it by lines or offset, and change it by edits.");
            }
            (failure.detail("headings", json!(nearest)), left)
        }
        SectionFault::Ambiguous { mut candidates } => {
            let left = candidates.len().saturating_sub(MAX_HEADINGS);
            candidates.truncate(MAX_HEADINGS);
            let failure = Failure::new(Code::AmbiguousSection, message);
            (failure.detail("candidates", json!(candidates)), left)
        }
    };
    failure.detail_if("notShown", Some(left).filter(|left| *left > 0))
}

/// Adds the difference between a page and the page that the caller knows.
pub(super) fn with_difference(failure: Failure, since: &Change) -> Failure {
    failure
        .detail("fields", Field::names(&since.fields()))
        .detail("changes", short(since.values(), &mut Vec::new()))
        .detail("diff", cut(since.content_diff().0, &mut Vec::new()))
}

/// Adds the page that a failure is about.
pub(super) fn with_page(failure: Failure, page: &PageState) -> Failure {
    failure
        .detail("id", page.id)
        .detail("locale", page.locale.as_str())
        .detail("path", page.path.as_str())
}

fn edit(fault: EditFault) -> Failure {
    match fault {
        EditFault::Empty { index } => Failure::of_argument(
            &format!("edits[{index}].oldText"),
            "The old text of an edit is empty.",
        ),
        EditFault::NotFound {
            index,
            differs_in,
            places,
            nearest,
        } => {
            let failure = differing(
                not_applicable("The old text of an edit is not in the page."),
                differs_in,
            )
            .detail("edit", index)
            .detail("places", json!(places));
            if nearest.is_empty() {
                return failure;
            }
            failure
                .hint("Copy oldText from the page as it is: details.nearest has the lines most like it.")
                .detail("nearest", json!(nearest))
        }
        EditFault::Ambiguous {
            index,
            places,
            more,
        } => not_applicable("The old text of an edit is in the page more than once.")
            .hint("Take more of the text around the right place into oldText.")
            .detail("edit", index)
            .detail("places", json!(places))
            .detail("morePlaces", more),
        EditFault::OnlyKept { index } => {
            not_applicable("The old text of an edit is in the page only in code.")
                .hint("outsideCode leaves code as it is: leave it out to change code, too.")
                .detail("edit", index)
        }
        EditFault::TooLarge { index } => Failure::new(
            Code::TooLarge,
            "The page would be larger than the wiki takes once this text is replaced everywhere.",
        )
        .detail("edit", index),
    }
}

fn patch(fault: PatchFault) -> Failure {
    match fault {
        PatchFault::Malformed { line, what } => {
            let fault = format!("line {line}: {what}");
            bad_argument("patch", "The patch is no unified diff.", fault)
        }
        PatchFault::DoesNotApply {
            hunk,
            header,
            line,
            found,
            nearest,
            differs_in,
        } => {
            let message = "A hunk of the patch does not fit the page; nothing of it was applied.";
            let failure = not_applicable(message);
            let failure = differing(failure, differs_in);
            let but = match differs_in {
                Some(DiffersIn::LineEndings) => ", but for its line endings",
                Some(DiffersIn::WhiteSpace) => ", but for white space",
                None => "",
            };
            let failure = match nearest.first() {
                Some(first) => failure
                    .hint(format!("The page is most like the hunk at line {}{but}: see details.nearest, and make the patch from the page as it is.", first.line))
                    .detail("nearest", json!(nearest)),
                None => failure,
            };
            failure
                .detail("hunk", hunk)
                .detail("header", header)
                .detail("line", line)
                .detail("found", json!(found))
        }
    }
}

fn not_applicable(message: &str) -> Failure {
    Failure::new(Code::EditNotApplicable, message)
}

/// Adds how the texts differ, if only in something small.
fn differing(failure: Failure, differs_in: Option<DiffersIn>) -> Failure {
    match differs_in {
        None => failure,
        Some(DiffersIn::LineEndings) => failure
            .hint("Only the line endings differ: the page has others at these places.")
            .detail("differsIn", "lineEndings"),
        Some(DiffersIn::WhiteSpace) => failure
            .hint("Only white space differs: copy it from the page as it is.")
            .detail("differsIn", "whiteSpace"),
    }
}
