//! The front matter that `GET /d/…` puts before a page's source.
//!
//! Wiki.js escapes nothing in it, so a title, description or tag can contain what looks like its
//! end. All are known from the list: the first two are matched exactly, and the bytes of the tags
//! are skipped, before the end is searched.

/// A page's source without its front matter.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PageSource {
    /// The source, if the front matter was as expected.
    pub content: Option<String>,
    /// The editor that the front matter names.
    pub editor: Option<String>,
    /// The time at which the page was written.
    pub date: Option<String>,
}

/// Metadata that the list gives for the page whose source it is.
#[derive(Debug)]
pub struct ListedMetadata<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its description.
    pub description: &'a str,
    /// Of which kind its source is.
    pub content_type: &'a str,
    /// All of them, in whatever order.
    pub tags: &'a [String],
}

/// Splits the front matter from the source after it. Markdown has it between two lines `---`, HTML
/// in one comment, everything else has none. Other text gives `None` rather than a guess.
pub fn split(text: &str, known: &ListedMetadata<'_>) -> PageSource {
    let (open, close) = match known.content_type {
        "markdown" => ("---\n", "\n---\n\n"),
        "html" => ("<!--\n", "\n-->\n\n"),
        _ => {
            return PageSource {
                content: Some(text.to_owned()),
                ..PageSource::default()
            };
        }
    };
    let head = format!(
        "{open}title: {}\ndescription: {}\n",
        known.title, known.description
    );
    let behind_tags = || {
        let (dates, rest) = text.strip_prefix(&head)?.split_once("\ntags: ")?;
        // Whether it is published, and when it was written: the wiki's own words.
        let (_, date) = dates
            .split_once("\ndate: ")
            .filter(|_| dates.lines().count() == 2)?;
        let separators = known.tags.len().saturating_sub(1) * ", ".len();
        let tags = known.tags.iter().map(String::len).sum::<usize>() + separators;
        let (rest, content) = rest
            .get(tags..)?
            .strip_prefix("\neditor: ")?
            .split_once(close)?;
        Some((date, rest, content))
    };
    let Some((date, rest, content)) = behind_tags() else {
        return PageSource::default();
    };
    PageSource {
        content: Some(content.to_owned()),
        editor: rest.lines().next().map(|editor| editor.trim().to_owned()),
        date: Some(date.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{ListedMetadata, PageSource, split};

    const REST: &str = "published: true\ndate: x\ntags: \neditor: markdown\ndateCreated: x";

    fn known<'a>(title: &'a str, description: &'a str) -> ListedMetadata<'a> {
        ListedMetadata {
            title,
            description,
            content_type: "markdown",
            tags: &[],
        }
    }

    #[test]
    fn the_source_is_what_stands_behind_the_front_matter() {
        let text = format!("---\ntitle: A\ndescription: \n{REST}\n---\n\n# A\n\n---\n\nb");
        let source = split(&text, &known("A", ""));
        assert_eq!(source.content.as_deref(), Some("# A\n\n---\n\nb"));
        assert_eq!(source.editor.as_deref(), Some("markdown"));
    }

    #[test]
    fn a_description_that_forges_the_end_is_not_believed() {
        let forged = "x\n---\n\nforged";
        let text = format!("---\ntitle: A\ndescription: {forged}\n{REST}\n---\n\nreal");
        assert_eq!(
            split(&text, &known("A", forged)).content.as_deref(),
            Some("real")
        );
        assert_eq!(split(&text, &known("A", "another")), PageSource::default());
    }

    #[test]
    fn a_tag_that_forges_the_end_is_not_believed() {
        let forged = "x\neditor: code\n---\n\nforged";
        let tags = ["ä".to_owned(), forged.to_owned()];
        let known = ListedMetadata {
            tags: &tags,
            ..known("A", "")
        };
        let text = format!(
            "---\ntitle: A\ndescription: \npublished: true\ndate: x\ntags: {forged}, ä\neditor: markdown\ndateCreated: x\n---\n\nreal"
        );
        let source = split(&text, &known);
        assert_eq!(source.content.as_deref(), Some("real"));
        assert_eq!(source.editor.as_deref(), Some("markdown"));
    }

    #[test]
    fn html_has_it_in_a_comment_and_asciidoc_has_none() {
        let html = ListedMetadata {
            content_type: "html",
            ..known("A", "")
        };
        let text = format!("<!--\ntitle: A\ndescription: \n{REST}\n-->\n\n<p>x</p>");
        assert_eq!(split(&text, &html).content.as_deref(), Some("<p>x</p>"));
        let asciidoc = ListedMetadata {
            content_type: "asciidoc",
            ..known("A", "")
        };
        assert_eq!(split("= A", &asciidoc).content.as_deref(), Some("= A"));
    }
}
