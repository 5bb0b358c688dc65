//! The page as its own editor loads it, in an HTML page: measured on 2.5.314.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::access::Access;
use super::css::beautify;
use super::head::{self, Theme, escape};
use super::store::PageRow;

/// The rights of which one shows a page in its editor.
pub(super) const RIGHTS: &[&str] = &["write:pages", "manage:pages"];

/// The view of a page that is there.
pub(super) fn update(page: &PageRow, access: &Access, theme: &Theme) -> String {
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
    let head = head::html(&title, description.unwrap_or_default(), &theme.css, "");
    html(&head, &editor)
}

/// The view of a place where no page is.
pub(super) fn create(
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
    html(&head::html("New Page", "", &theme.css, ""), &editor)
}

/// The page of refusal, for somebody who may not do this at the place.
pub(super) fn refusal(action: &str) -> String {
    let head = head::html("Unauthorized", "", "", "");
    format!(
        "{head}<div class=\"is-fullscreen\" id=\"root\"><unauthorized action=\"{action}\"></unauthorized></div></body></html>"
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

fn html(head: &str, editor: &str) -> String {
    format!("{head}<div id=\"root\">{editor}</div></body></html>")
}
