//! The wiki's HTML pages, and the source of a page as a file (W1): measured on 2.5.314.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pulldown_cmark::html::push_html;
use pulldown_cmark::{Options, Parser};
use serde_json::json;

use super::css::beautify;
use super::store::PageRow;
use crate::demo::Access;

/// The additions of an administrator to the pages of the site.
#[derive(Debug, Clone, Default)]
pub(super) struct Theme {
    /// Styles of every page, minified.
    pub(super) css: String,
    /// HTML at the end of the head of every page that readers see.
    pub(super) head: String,
}

/// A page's HTML up to its body. The editor is shown the site's styles and nothing else of the
/// theme, readers those of the page behind them.
fn head(title: &str, description: &str, styles: &str, behind: &str) -> String {
    let (title, description) = (escape(title), escape(description));
    let styles = match styles {
        "" => String::new(),
        styles => format!("<style type=\"text/css\">{styles}</style>"),
    };
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"UTF-8\"><title>{title} | Wiki.js</title>\
         <meta name=\"description\" content=\"{description}\">\
         <script>var siteConfig = {{\"title\":\"Wiki.js\",\"lang\":\"en\"}}\nvar siteLangs = []\n</script>\
         {styles}{behind}</head><body>"
    )
}

/// Nothing else is escaped; line breaks stand as they are.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// The HTML that the wiki makes of a page; what of it is the wiki's own, such as anchors of
/// headings and tabs, is not made.
pub(super) fn rendered(page: &PageRow) -> String {
    let content = &page.content;
    match page.content_type() {
        "markdown" => {
            let mut rendered = String::new();
            let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
            push_html(&mut rendered, Parser::new_ext(content, options));
            rendered
        }
        "html" => content.clone(),
        _ => format!("<pre>{}</pre>", escape(content)),
    }
}

/// A page as readers see it, for somebody who may read it. The site's styles and the page's, not
/// escaped, are in one element; the time is that of the last update's first step.
pub(super) fn reader(
    page: &PageRow,
    rendered: &str,
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
    let start = head(&page.title, description, &styles, &theme.head);
    format!(
        "{start}<div id=\"root\"><page{}><template slot=\"contents\"><div>{}</div></template><template slot=\"comments\"><div><comments></comments></div></template></page></div></body></html>",
        attributes.concat(),
        rendered
    )
}

/// The rights of which one shows a page in its editor.
pub(super) const EDITORS: &[&str] = &["write:pages", "manage:pages"];

/// A page in its editor.
pub(super) fn editor(page: &PageRow, access: &Access, theme: &Theme) -> String {
    let (id, tags) = (page.id.to_string(), json!(page.tags).to_string());
    let description = page.description.as_deref();
    let css = beautify(&page.script_css);
    let content = STANDARD.encode(&page.content);
    let permissions = access.effective(&page.path);
    let editor = element(&[
        (":page-id", Some(&id)),
        ("locale", Some(&page.locale)),
        ("path", Some(&page.path)),
        ("title", Some(&page.title)),
        ("description", description),
        (":tags", Some(&tags)),
        (":is-published", Some(&page.is_published.to_string())),
        ("publish-start-date", Some(&page.publish_start_date)),
        ("publish-end-date", Some(&page.publish_end_date)),
        ("script-css", Some(&css)),
        ("script-js", Some(&page.script_js)),
        ("init-mode", Some("update")),
        ("init-editor", Some(&page.editor)),
        ("init-content", Some(&content)),
        ("checkout-date", Some(&page.updated_at)),
        ("effective-permissions", Some(&permissions)),
    ]);
    let title = format!("Edit {}", page.title);
    let start = head(&title, description.unwrap_or_default(), &theme.css, "");
    html(&start, &editor)
}

/// A new page in the editor, at a place where none is.
pub(super) fn new_page(
    locale: &str,
    path: &str,
    now: &str,
    access: &Access,
    theme: &Theme,
) -> String {
    let permissions = access.effective(path);
    let editor = element(&[
        ("locale", Some(locale)),
        ("path", Some(path)),
        ("script-css", Some("")),
        ("script-js", Some("")),
        ("init-mode", Some("create")),
        ("checkout-date", Some(now)),
        ("effective-permissions", Some(&permissions)),
    ]);
    html(&head("New Page", "", &theme.css, ""), &editor)
}

/// The page of refusal, for somebody who may not do this at the place.
pub(super) fn refusal(action: &str) -> String {
    let start = head("Unauthorized", "", "", "");
    format!(
        "{start}<div class=\"is-fullscreen\" id=\"root\"><unauthorized action=\"{action}\"></unauthorized></div></body></html>"
    )
}

/// An element; what is null is left out.
fn element(attributes: &[(&str, Option<&str>)]) -> String {
    let attributes: Vec<String> = attributes
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}=\"{}\"", escape((*value)?))))
        .collect();
    format!("<editor {}></editor>", attributes.join(" "))
}

fn html(start: &str, editor: &str) -> String {
    format!("{start}<div id=\"root\">{editor}</div></body></html>")
}

/// The type of the file.
pub(super) fn source_type(page: &PageRow) -> &'static str {
    match page.content_type() {
        "html" => "text/html; charset=utf-8",
        "markdown" => "text/markdown; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    }
}

/// The file: what is known of the page, then its content; for `asciidoc` and plain text its
/// content alone. The values are
/// written bare, so a title with a line break breaks the front matter too.
pub(super) fn source(page: &PageRow) -> String {
    let tags = page.tags.join(", ");
    let published = page.is_published.to_string();
    let facts = [
        ("title", page.title.as_str()),
        (
            "description",
            page.description.as_deref().unwrap_or_default(),
        ),
        ("published", &published),
        ("date", &page.updated_at),
        ("tags", &tags),
        ("editor", &page.editor),
        ("dateCreated", &page.created_at),
    ];
    let lines: Vec<String> = facts
        .iter()
        .map(|(key, value)| format!("{key}: {value}"))
        .collect();
    let (open, close) = match page.content_type() {
        "markdown" => ("---", "---"),
        "html" => ("<!--", "-->"),
        // Other kinds of text have no front matter.
        _ => return page.content.clone(),
    };
    format!("{open}\n{}\n{close}\n\n{}", lines.join("\n"), page.content)
}
