//! The page as readers see it, in an HTML page: measured on 2.5.314.

use pulldown_cmark::{Options, Parser, html};

use super::access::Access;
use super::head::{self, Theme, escape};
use super::store::PageRow;

/// The HTML that the wiki makes of a page; what of it is the wiki's own, such as anchors of
/// headings and tabs, is not made.
pub(super) fn rendered(page: &PageRow) -> String {
    let content = &page.content;
    match page.content_type() {
        "markdown" => {
            let mut rendered = String::new();
            let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
            html::push_html(&mut rendered, Parser::new_ext(content, options));
            rendered
        }
        "html" => content.clone(),
        _ => format!("<pre>{}</pre>", escape(content)),
    }
}

/// The view of a page, for somebody who may read it. The site's styles and the page's, not
/// escaped, are in one element; the time is that of the last update's first step.
pub(super) fn of(
    page: &PageRow,
    html: &str,
    rendered_at: Option<&str>,
    access: &Access,
    theme: &Theme,
) -> String {
    let rights = access.effective(&page.path);
    let updated_at = rendered_at.unwrap_or(&page.updated_at);
    let attributes = [
        ("locale", page.locale.as_str()),
        ("path", &page.path),
        ("title", &page.title),
        ("updated-at", updated_at),
        (":page-id", &page.id.to_string()),
        ("effective-permissions", &rights),
    ];
    let attributes = attributes.map(|(name, value)| format!(" {name}=\"{}\"", escape(value)));
    let styles = match page.script_css.as_str() {
        "" => theme.css.clone(),
        css => format!("{}\n{css}", theme.css),
    };
    let description = page.description.as_deref().unwrap_or_default();
    let head = head::html(&page.title, description, &styles, &theme.head);
    format!(
        "{head}<div id=\"root\"><page{}><template slot=\"contents\"><div>{}</div></template><template slot=\"comments\"><div><comments></comments></div></template></page></div></body></html>",
        attributes.concat(),
        html
    )
}
