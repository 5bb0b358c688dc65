//! The page as readers see it, in an HTML page: measured on 2.5.314.

use pulldown_cmark::{Options, Parser, html};

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
        _ => format!("<pre>{}</pre>", escaped(content)),
    }
}

/// The view of a page.
pub(super) fn of(page: &PageRow) -> String {
    let attributes = [
        ("locale", &page.locale),
        ("path", &page.path),
        ("title", &page.title),
        (":page-id", &page.id.to_string()),
    ];
    let attributes = attributes.map(|(name, value)| format!(" {name}=\"{}\"", escaped(value)));
    format!(
        "<!DOCTYPE html><html><body><div id=\"root\"><page{}><template slot=\"contents\"><div>{}</div></template><template slot=\"comments\"><div><comments></comments></div></template></page></div></body></html>",
        attributes.concat(),
        rendered(page)
    )
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
