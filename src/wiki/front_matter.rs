//! The front matter that `GET /d/…` puts before a page's source.
//!
//! Wiki.js escapes nothing in it, so a title or description can hold what looks like its end.
//! Both are known from the list, and are matched to the letter before the end is looked for.

/// A page's source without its front matter.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Source {
    /// The source, if the front matter was what it must be.
    pub(super) content: Option<String>,
    /// The editor that the front matter names.
    pub(super) editor: Option<String>,
}

/// What the list says of the page whose source it is.
pub(super) struct Known<'a> {
    pub(super) title: &'a str,
    pub(super) description: &'a str,
    pub(super) content_type: &'a str,
}

/// Splits the front matter from the source behind it. Markdown has it between two lines
/// `---`, HTML in one comment, everything else has none. Other text gives nothing, rather than
/// a guess.
pub(super) fn split(text: &str, known: &Known<'_>) -> Source {
    let (open, close) = match known.content_type {
        "markdown" => ("---\n", "\n---\n\n"),
        "html" => ("<!--\n", "\n-->\n\n"),
        _ => {
            return Source {
                content: Some(text.to_owned()),
                editor: None,
            };
        }
    };
    let head = format!(
        "{open}title: {}\ndescription: {}\n",
        known.title, known.description
    );
    let Some((rest, content)) = text
        .strip_prefix(&head)
        .and_then(|text| text.split_once(close))
    else {
        return Source::default();
    };
    let editor = rest
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("editor: "))
        .map(|editor| editor.trim().to_owned());
    Source {
        content: Some(content.to_owned()),
        editor,
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, Source, split};

    const REST: &str = "published: true\ndate: x\ntags: a, b\neditor: markdown\ndateCreated: x";

    fn known<'a>(title: &'a str, description: &'a str) -> Known<'a> {
        Known {
            title,
            description,
            content_type: "markdown",
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
        assert_eq!(split(&text, &known("A", "another")), Source::default());
    }

    #[test]
    fn html_has_it_in_a_comment_and_asciidoc_has_none() {
        let html = Known {
            content_type: "html",
            ..known("A", "")
        };
        let text = format!("<!--\ntitle: A\ndescription: \n{REST}\n-->\n\n<p>x</p>");
        assert_eq!(split(&text, &html).content.as_deref(), Some("<p>x</p>"));
        let asciidoc = Known {
            content_type: "asciidoc",
            ..known("A", "")
        };
        assert_eq!(split("= A", &asciidoc).content.as_deref(), Some("= A"));
    }
}
