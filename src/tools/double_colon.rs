//! Hints about `::`, which some clients write between the names of pages and sections.

use crate::error::Failure;

/// The same failure; if `text` has `::`, with a hint on how to name a page and its section.
pub(super) fn explain(failure: Failure, text: &str) -> Failure {
    match hint(text) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn hint(text: &str) -> Option<String> {
    let (page, last) = text.trim().rsplit_once("::")?;
    let page = page.replace("::", "/");
    Some(format!(
        "Name a section as path#section ({0}#{1}), a page below another one as {0}/{1}.",
        crate::page::escaped(&page, 200),
        crate::page::escaped(last, 200)
    ))
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn a_double_colon_is_explained_with_the_names_that_were_meant() {
        assert_eq!(
            hint("docs::install::Linux").as_deref(),
            Some(
                "Name a section as path#section (docs/install#Linux), a page below another one as docs/install/Linux."
            )
        );
        assert_eq!(hint("docs/install#Linux"), None);
    }
}
