//! The front matter that `GET /d/…` puts before a page's source.

/// A page's source without its front matter.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Source {
    /// The source, if the front matter was found where it must be.
    pub(super) content: Option<String>,
    /// The editor that the front matter names.
    pub(super) editor: Option<String>,
}

/// Splits the front matter that Wiki.js writes (between two lines `---`, or in one HTML
/// comment) from the source behind it. Other text gives nothing, rather than a guess.
pub(super) fn split(text: &str) -> Source {
    let parts = fenced(text, "---\n", "\n---\n\n").or_else(|| fenced(text, "<!--\n", "\n-->\n\n"));
    let Some((head, content)) = parts else {
        return Source::default();
    };
    let editor = head
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("editor: "))
        .map(|editor| editor.trim().to_owned());
    Source {
        content: Some(content.to_owned()),
        editor,
    }
}

fn fenced<'a>(text: &'a str, open: &str, close: &str) -> Option<(&'a str, &'a str)> {
    text.strip_prefix(open)?.split_once(close)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn the_source_is_what_stands_behind_the_front_matter() {
        let text = "---\ntitle: A\neditor: markdown\ndateCreated: x\n---\n\n# A\n\n---\n\nb";
        let source = split(text);
        assert_eq!(source.content.as_deref(), Some("# A\n\n---\n\nb"));
        assert_eq!(source.editor.as_deref(), Some("markdown"));
    }

    #[test]
    fn text_without_front_matter_gives_nothing() {
        assert_eq!(split("# A"), super::Source::default());
    }
}
