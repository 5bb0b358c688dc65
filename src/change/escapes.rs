//! Line breaks that were escaped once too often: `\n` as two characters where a line should end.

use super::plan::Change;
use crate::page::PageState;

/// The two characters.
const ESCAPED: &str = r"\n";

impl Change {
    /// True if the new text has `\n` as two characters and no line break, so that it was most
    /// likely meant to have lines. In code spans and fenced code these characters are intended.
    pub fn has_literal_escapes(&self) -> bool {
        let Some(after) = self.after() else {
            return false;
        };
        let before = self.before().map_or("", |page: &PageState| &page.content);
        let (lead, added, gone) = replaced(before, &after.content);
        !added.trim().contains('\n')
            && !gone.contains(ESCAPED)
            && outside_spans(added).any(|text| text.contains(ESCAPED))
            && !is_within_fence(lead)
    }
}

/// The common beginning of two texts, and the lines between it and their common end: of the second
/// and of the first.
fn replaced<'a>(before: &'a str, after: &'a str) -> (&'a str, &'a str, &'a str) {
    let lines = |text: &'a str| text.split_inclusive('\n');
    let lead = alike(lines(before).zip(lines(after)));
    let rest = |text: &'a str| text.get(lead..).unwrap_or_default();
    let tail = alike(lines(rest(before)).rev().zip(lines(rest(after)).rev()));
    let middle = |text: &'a str| text.get(lead..text.len() - tail).unwrap_or_default();
    (
        after.get(..lead).unwrap_or_default(),
        middle(after),
        middle(before),
    )
}

/// The bytes of the first pairs of lines that are alike.
fn alike<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> usize {
    let alike = pairs.take_while(|(one, other)| one == other);
    alike.map(|(line, _)| line.len()).sum()
}

/// The text outside of code spans.
fn outside_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').step_by(2)
}

/// True if a text ends within a fenced block of code.
fn is_within_fence(lead: &str) -> bool {
    let fences = lead.lines().filter(|line| {
        let line = line.trim_start();
        line.starts_with("```") || line.starts_with("~~~")
    });
    fences.count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::super::plan::Change;
    use crate::page::testing::with_content as page;

    #[test]
    fn escapes_are_found_where_lines_should_be() {
        for (before, after, is_found) in [
            ("", r"# Title\n\nText\n", true),
            ("", "# Title\n\nText\n", false),
            ("", "one line", false),
            ("", "# Title\n\nThe escape \\n ends a line.\n", false),
            ("", r"Write `\n` to end a line.", false),
            (
                "one\ntwo\nthree\n",
                "one\n## Two\\n\\n- a\\n- b\nthree\n",
                true,
            ),
            (
                "one\nsplit at \\n\nthree\n",
                "one\nsplit at \\n or so\nthree\n",
                false,
            ),
            (
                "```c\nputs(x);\n```\n",
                "```c\nprintf(\"x\\n\");\n```\n",
                false,
            ),
            ("one\n", "", false),
        ] {
            let change = Change::between(page(before), page(after));
            assert_eq!(change.has_literal_escapes(), is_found, "{after}");
        }
        assert!(!Change::delete(page(r"a\nb")).has_literal_escapes());
    }
}
