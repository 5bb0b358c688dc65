//! Names the budgets that are known to be missed, each with its reason. The bench fails on them like on
//! any other; the list only says that somebody knows, and what is to come.

/// A figure, and why its budget is missed.
const MISSED: &[(&str, &str)] = &[
    (
        "added to a call of the wiki, median",
        "JSON is read and written twice, and each request is built anew",
    ),
    (
        "README's build: added to a call of the wiki, median",
        "it is built for size, and not linked as one",
    ),
    (
        "README's build: calls a second, pipelined",
        "it is built for size, and not linked as one",
    ),
    (
        "operations of a move",
        "it looks for pages that were written since the index last looked",
    ),
    (
        "operations of a delete",
        "it looks for pages that were written since the index last looked",
    ),
    (
        "one line of a page of 2 MB: own time",
        "links, hidden text and what runs are looked for in the whole page",
    ),
    (
        "code lines of src",
        "four renderings and 17 readers of the record become one each",
    ),
];

/// Why a figure's budget is known to be missed.
pub(crate) fn reason(what: &str) -> Option<&'static str> {
    let found = MISSED.iter().find(|(missed, _)| *missed == what);
    found.map(|(_, reason)| *reason)
}
