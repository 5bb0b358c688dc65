//! The styles of a page, for keys that `single` is refused.
//!
//! Measured on 2.5.314: the editor's view shows styles without their local `@import`s and tells
//! nothing of it, so nothing that it shows proves what is stored, an empty field included. The
//! view that readers see has them to the letter, in the head, in one element with the site's
//! own: `<style type="text/css">`, the site's, a line break, the page's, `</style>`; none where
//! both are empty. The editor's view has the site's alone in the same place, and the two heads
//! are alike from the list of the site's languages up to there. Behind the element stands
//! whatever an administrator puts there.
//!
//! The readers' view comes from a cache that every update renews a moment late, with the time of
//! that update's first step, not the page's `updatedAt`. A version is dated by the `updatedAt`
//! that its update ended: a view that is dated later is of the page as it is.

use super::super::operations::generated::{PageHistory, PageTree, page_history};
use super::editor_view::EditorView;
use super::history::newest_version;
use super::rendered::{attribute, element, head};
use super::tree::{TreeNode, beside, nodes};
use crate::page::{Date, PageReading, StyleSheet};
use crate::wiki::{Wiki, WikiResult};

const OPENING: &str = "<style type=\"text/css\">";
const CLOSING: &str = "</style>";
/// Number of ends of a style element that are tried: a text of the page's may look like one.
const MAX_ENDS: usize = 16;

/// The readers' view, as far as it reveals a page's styles.
pub(in crate::wiki) struct ReaderView {
    head: String,
    updated_at: Date,
}

/// Facts about a page that only the tree and the history reveal.
pub(in crate::wiki) struct NodeAndNewest {
    /// The page's node; `None` if it was not found at once.
    pub(in crate::wiki) node: Option<TreeNode>,
    /// The date of its newest version, none for a page that was never updated; an error for a
    /// key without read:history.
    pub(in crate::wiki) newest: WikiResult<Option<Date>>,
}

impl Wiki {
    /// Reads what proves a page's styles, and its node.
    pub(in crate::wiki) async fn beside(
        &self,
        id: i64,
        page: &PageReading,
    ) -> (WikiResult<ReaderView>, WikiResult<NodeAndNewest>) {
        tokio::join!(
            // Boxed: the two side by side would make every read and write a large future.
            Box::pin(self.read_in_view(page, ReaderView::parse)),
            Box::pin(self.node_and_newest(id, page))
        )
    }

    async fn node_and_newest(&self, id: i64, page: &PageReading) -> WikiResult<NodeAndNewest> {
        let history = page_history::Variables {
            id,
            offset_page: Some(0),
            offset_size: Some(1),
        };
        let tree = beside(&page.locale, &page.path);
        let (tree, history) = self.pair::<PageTree, PageHistory>(tree, history).await?;
        let node = nodes(tree?).into_iter().find(|node| node.path == page.path);
        Ok(NodeAndNewest {
            node,
            newest: history.and_then(newest_version),
        })
    }
}

impl ReaderView {
    fn parse(html: &str, id: Option<i64>) -> Option<Self> {
        let (attributes, _) = element(html, id)?;
        let (before, _) = html.split_once("<div id=\"root\"><page ")?;
        Some(Self {
            head: head(before)?.to_owned(),
            updated_at: attribute(attributes, "updated-at")?.into(),
        })
    }

    /// True if it shows the current page, not a cached one.
    fn is_current(&self, page: &PageReading, newest: Option<&Date>) -> bool {
        let now = page.updated_at.as_ref();
        if now.is_some_and(|now| now.same(&self.updated_at)) {
            return true;
        }
        match newest {
            None => true,
            Some(newest) => match (self.updated_at.instant(), newest.instant()) {
                (Some(shown), Some(newest)) => shown > newest,
                _ => false,
            },
        }
    }
}

/// A page's exact stored styles; `None` if the views do not prove them.
pub(in crate::wiki) fn proven(
    page: &PageReading,
    editor: &EditorView,
    reader: &ReaderView,
    newest: Option<&Date>,
) -> Option<String> {
    let shown = editor.page.script_css.as_deref()?;
    let site = editor.head.as_deref()?;
    if !reader.is_current(page, newest) {
        return None;
    }
    stored(site, shown, &reader.head)
}

/// The page's styles in the readers' head: behind those of the site, or in an element of their
/// own where the site has none. An administrator's own element may follow instead, in the same
/// form: then only what the editor's view shows can tell whose it is.
fn stored(site: &str, shown: &str, reader: &str) -> Option<String> {
    if let Some(open) = site.strip_suffix(CLOSING)
        && let Some(behind) = reader.strip_prefix(open)
        && let Some(behind) = behind.strip_prefix('\n')
    {
        return to_the_letter(behind, shown);
    }
    let behind = reader.strip_prefix(site)?;
    let own = behind
        .strip_prefix(OPENING)
        .and_then(|own| own.strip_prefix('\n'));
    match own {
        Some(own) if !shown.is_empty() => to_the_letter(own, shown),
        // Stored rules are always shown: a rule that is not shown is not the page's.
        Some(own) => own
            .split(CLOSING)
            .next()
            .is_some_and(|own| StyleSheet::parse(own).has_blocks())
            .then(String::new),
        None => shown.is_empty().then(String::new),
    }
}

/// The text up to the end of the element that it stands in: it must be whole, and but for its
/// `@import`s mean what the editor's view shows.
fn to_the_letter(text: &str, shown: &str) -> Option<String> {
    let shown = StyleSheet::parse(shown);
    text.match_indices(CLOSING)
        .take(MAX_ENDS)
        .filter_map(|(end, _)| text.get(..end))
        .find(|css| {
            let sheet = StyleSheet::parse(css);
            sheet.is_closed && sheet.is_same_but_for_imports(&shown)
        })
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{OPENING, stored};

    const ANALYTICS: &str = "[]\n</script><style type=\"text/css\">x{}</style>";

    /// The styles proven by the two heads, for styles that are stored so and shown so.
    fn proven(site: &str, css: &str, shown: &str, behind: &str) -> Option<String> {
        let element = |css: &str| match css {
            "" => String::new(),
            css => format!("{OPENING}{css}</style>"),
        };
        let both = match css {
            "" => site.to_owned(),
            css => format!("{site}\n{css}"),
        };
        stored(
            &format!("{ANALYTICS}{}", element(site)),
            shown,
            &format!("{ANALYTICS}{}{behind}</head><body>", element(&both)),
        )
    }

    #[test]
    fn stored_styles_are_read_to_the_letter_beside_whatever_the_site_has() {
        for site in ["", "site{top:0}", "@import url(y.css);"] {
            for behind in [
                "",
                "<style>h{}</style>",
                "<style type=\"text/css\">\nh{top:0}</style>",
            ] {
                for (css, shown) in [
                    ("a{b:c}", "a {\n  b: c\n}"),
                    ("@import url(x.css);a{b:c}", "a {\n  b: c\n}"),
                    ("/*! </style> */a{b:c}", "/*! </style> */\na {\n  b: c\n}"),
                    ("a{b:\"</style>\"}", "a {\n  b: \"</style>\"\n}"),
                ] {
                    assert_eq!(
                        proven(site, css, shown, behind).as_deref(),
                        Some(css),
                        "{site}|{behind}"
                    );
                }
            }
        }
        assert_eq!(
            proven("site{top:0}", "@import url(x.css);", "", "<p>").as_deref(),
            Some("@import url(x.css);")
        );
    }

    #[test]
    fn no_styles_are_proven_where_nothing_could_be_theirs() {
        for site in ["", "site{top:0}"] {
            for behind in [
                "",
                "<style>h{}</style>",
                "<style type=\"text/css\">\nh{top:0}</style>",
            ] {
                assert_eq!(
                    proven(site, "", "", behind).as_deref(),
                    Some(""),
                    "{site}|{behind}"
                );
            }
        }
    }

    #[test]
    fn what_the_views_do_not_prove_is_not_guessed() {
        // An administrator's own element or the page's: both would look like this.
        let imports = format!("{OPENING}\n@import url(x.css);</style>");
        assert_eq!(proven("", "", "", &imports), None);
        assert_eq!(proven("", "@import url(x.css);", "", ""), None);
        // Rules that the editor's view does not have, or has beside them.
        assert_eq!(proven("s{top:0}", "a{b:c}", "", ""), None);
        assert_eq!(proven("s{top:0}", "a{b:c}", "a {\n  b: d\n}", ""), None);
        assert_eq!(proven("s{top:0}", "", "a {\n  b: c\n}", ""), None);
        // Another site's.
        assert_eq!(stored("s</style>", "", "t</style></head>"), None);
    }
}
