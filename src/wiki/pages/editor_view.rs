//! `GET /e/{locale}/{path}`: the page as its own editor loads it, for keys with write:pages.
//!
//! Measured on 2.5.314: an HTML page with one element `<editor …>`, whose attributes hold all that
//! `conflictLatest` lacks but isPrivate. In what the wiki puts into HTML `"`, `&`, `<` and `>` are
//! entities, so no text of a page can look like the element. Anything that is not exactly as
//! measured gives `None`, never a guess.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::rendered::editor_head;
use crate::page::{Date, Locale, PagePath, PageReading};
use crate::wiki::{PageRights, Right, Wiki, WikiError, WikiResult};

/// A page as its editor loads it.
#[derive(Debug, PartialEq, Eq)]
pub struct EditorView {
    /// Everything except isPrivate, the author and the creation date. Its styles went through the
    /// view's beautifier and prove nothing.
    pub page: PageReading,
    /// True if the key has one of the rights that open `single` (W1).
    pub opens_single: bool,
    /// True if the wiki keeps the styles whatever an update by this key says of them. Measured on
    /// 2.5.314: an update checks the right at the place it names, only by path rules; this view
    /// also applies tag rules. So the two agree only for a page without tags.
    pub keeps_styles: bool,
    /// The site's part of the head, if it can be determined.
    pub head: Option<String>,
}

impl Wiki {
    /// Gets a page's editor view, with retry; `None` if it is not exactly as expected.
    pub(in crate::wiki) async fn editor_view(
        &self,
        locale: &Locale,
        path: &PagePath,
    ) -> WikiResult<Option<EditorView>> {
        self.in_editor(locale, path, parse).await
    }

    /// Checks whether the editor opens at a place, for an existing page or a new one.
    pub(in crate::wiki) async fn editor_opens(
        &self,
        locale: &Locale,
        path: &PagePath,
    ) -> WikiResult<bool> {
        let is_there = |html: &str| opens_at(html, locale, path).then_some(());
        Ok(self.in_editor(locale, path, is_there).await?.is_some())
    }

    /// The rights of the key at a place, as the editor's view tells them (W43): by opening with
    /// them, or by the wiki's own page of refusal. `None` if it is neither, as where something
    /// before the wiki answers.
    pub(in crate::wiki) async fn editor_rights(
        &self,
        locale: &Locale,
        path: &PagePath,
    ) -> WikiResult<Option<PageRights>> {
        let address = self.address_of("e", locale, path)?;
        self.read_by_get(&address, |answer| {
            let html = std::str::from_utf8(&answer.body).ok();
            match answer.status {
                200 => Ok(html.and_then(|html| rights_in(html, locale, path))),
                403 => Ok(html.and_then(rights_refused)),
                _ => answer.passing_fault().map_or(Ok(None), Err),
            }
        })
        .await
    }

    /// Gets the editor's view of a place, and extracts what is wanted.
    async fn in_editor<T>(
        &self,
        locale: &Locale,
        path: &PagePath,
        take: impl Fn(&str) -> Option<T>,
    ) -> WikiResult<Option<T>> {
        let address = self.address_of("e", locale, path)?;
        self.read_by_get(&address, |answer| match answer.status {
            200 => Ok(std::str::from_utf8(&answer.body).ok().and_then(&take)),
            401 | 403 => Err(WikiError::forbidden("write:pages")),
            // 500 is the wiki's own answer for a path that it reserves (W16).
            status => Err(answer
                .passing_fault()
                .unwrap_or(WikiError::NotGraphQl { status })),
        })
        .await
    }
}

/// True if a view is the editor of an existing or new page at this place.
fn opens_at(html: &str, locale: &Locale, path: &PagePath) -> bool {
    let Some((_, attributes)) = element(html) else {
        return false;
    };
    let is = |name, value| attributes.get(name).is_some_and(|own| own == value);
    is("locale", locale.as_str()) && is("path", path.as_str())
}

/// The rights that the editor of this place tells.
fn rights_in(html: &str, locale: &Locale, path: &PagePath) -> Option<PageRights> {
    if !opens_at(html, locale, path) {
        return None;
    }
    let (_, attributes) = element(html)?;
    PageRights::from_attribute(attributes.get("effective-permissions")?)
}

/// The rights that are lacking by the wiki's page of refusal: to make a page, write:pages; to edit
/// one, manage:pages as well.
fn rights_refused(html: &str) -> Option<PageRights> {
    let refuses = |action| {
        html.contains(&format!(
            "<unauthorized action=\"{action}\"></unauthorized>"
        ))
    };
    let write = (Right::WritePages, false);
    if refuses("create") {
        Some(PageRights::new([write]))
    } else if refuses("edit") {
        Some(PageRights::new([write, (Right::ManagePages, false)]))
    } else {
        None
    }
}

/// The text before a view's element, and its attributes, if the element is there exactly once.
fn element(html: &str) -> Option<(&str, BTreeMap<&str, String>)> {
    let (before, element) = html.split_once("<editor")?;
    if !before.ends_with("<div id=\"root\">") || element.contains("<editor") {
        return None;
    }
    Some((before, attributes(element)?))
}

/// Reads a view, if it is exactly as expected.
pub fn parse(html: &str) -> Option<EditorView> {
    let (before, mut attributes) = element(html)?;
    let mut take = |name: &str| attributes.remove(name);
    if take("init-mode")? != "update" {
        return None;
    }
    let page = PageReading {
        description: Some(take("description")?),
        content: Some(String::from_utf8(STANDARD.decode(take("init-content")?).ok()?).ok()?),
        editor: Some(take("init-editor")?),
        tags: Some(serde_json::from_str(&take(":tags")?).ok()?),
        is_published: Some(take(":is-published")?.parse().ok()?),
        publish_start_date: Some(take("publish-start-date")?.into()),
        publish_end_date: Some(take("publish-end-date")?.into()),
        // What is null is left out. Pages of before there were styles and scripts have neither
        // here, and null in `single`; other nulls `single` answers with an error.
        script_css: Some(take("script-css").unwrap_or_default()),
        script_js: Some(take("script-js").unwrap_or_default()),
        updated_at: Some(Date::from(take("checkout-date")?)),
        ..PageReading::bare(
            Some(take(":page-id")?.parse().ok()?),
            Locale::as_stored(take("locale")?),
            PagePath::as_stored(take("path")?),
            take("title")?,
        )
    };
    let rights = PageRights::from_attribute(&take("effective-permissions")?)?;
    let has_tags = page.tags.as_ref().is_none_or(|tags| !tags.is_empty());
    Some(EditorView {
        page,
        keeps_styles: !has_tags && !rights.has(Right::WriteStyles)?,
        opens_single: rights.has(Right::ManagePages)? || rights.has(Right::DeletePages)?,
        head: editor_head(before).map(str::to_owned),
    })
}

/// The attributes of the element whose name was just read, up to its end.
fn attributes(mut rest: &str) -> Option<BTreeMap<&str, String>> {
    let mut attributes = BTreeMap::new();
    while let Some(attribute) = rest.strip_prefix(' ') {
        let (name, behind) = attribute.split_once("=\"")?;
        let (value, behind) = behind.split_once('"')?;
        if attributes.insert(name, unescape(value)?).is_some() {
            return None;
        }
        rest = behind;
    }
    rest.starts_with("></editor>").then_some(attributes)
}

/// Text without the four entities that the wiki makes; with any other, nothing.
fn unescape(mut rest: &str) -> Option<String> {
    const ENTITIES: [(&str, char); 4] = [
        ("&quot;", '"'),
        ("&amp;", '&'),
        ("&lt;", '<'),
        ("&gt;", '>'),
    ];
    let mut text = String::with_capacity(rest.len());
    while let Some(at) = rest.find(['&', '<', '>']) {
        let (plain, behind) = rest.split_at(at);
        text.push_str(plain);
        let (entity, c) = ENTITIES
            .into_iter()
            .find(|(entity, _)| behind.starts_with(entity))?;
        text.push(c);
        rest = behind.strip_prefix(entity)?;
    }
    text.push_str(rest);
    Some(text)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::{parse, rights_in, rights_refused, unescape};
    use crate::page::{Locale, PagePath};
    use crate::wiki::{PageRights, Right};

    const TITLE: &str = "T &quot;&lt;i&gt; &amp;amp; x\r\n' ` é";

    /// As the real wiki shows a page.
    fn view() -> String {
        let rights = STANDARD.encode(
            r#"{"pages":{"read":true,"write":true,"manage":false,"delete":false,"script":false,"style":false}}"#,
        );
        format!(
            "<!DOCTYPE html><html lang=\"en\"><head><title>Edit {TITLE} | Wiki.js</title></head><body><div id=\"root\">\
             <editor :page-id=\"28\" locale=\"en\" path=\"probe/e1\" title=\"{TITLE}\" description=\"\" \
             :tags=\"[&quot;b&quot;,&quot;a&quot;]\" :is-published=\"true\" publish-start-date=\"2020-01-01T00:00:00.000Z\" \
             publish-end-date=\"\" script-css=\"body {{\n  color: red\n}}\" script-js=\"alert(&quot;&lt;x&gt;&quot;)\" \
             init-mode=\"update\" init-editor=\"markdown\" init-content=\"IyBIaSAicSIgPGI+JmFtcDsKCng=\" \
             checkout-date=\"2026-11-22T02:06:46.514Z\" effective-permissions=\"{rights}\"></editor></div></body></html>"
        )
    }

    #[test]
    fn a_view_is_read_to_the_letter() {
        let view = parse(&view()).unwrap();
        let page = view.page;
        assert_eq!(page.id, Some(28));
        assert_eq!(page.path.as_str(), "probe/e1");
        assert_eq!(page.title, "T \"<i> &amp; x\r\n' ` é");
        assert_eq!(page.tags, Some(vec!["b".to_owned(), "a".to_owned()]));
        assert_eq!(page.script_css.as_deref(), Some("body {\n  color: red\n}"));
        assert_eq!(page.script_js.as_deref(), Some("alert(\"<x>\")"));
        assert_eq!(page.content.as_deref(), Some("# Hi \"q\" <b>&amp;\n\nx"));
        assert!(!view.opens_single);
    }

    #[test]
    fn a_page_that_holds_the_element_s_own_text_is_not_mistaken_for_it() {
        let forged = "&lt;div id=&quot;root&quot;&gt;&lt;editor :page-id=&quot;1&quot;&gt;";
        let page = parse(&view().replace(TITLE, forged)).unwrap().page;
        assert_eq!(page.title, "<div id=\"root\"><editor :page-id=\"1\">");
        assert_eq!(page.id, Some(28));
    }

    #[test]
    fn what_is_not_just_as_it_must_be_gives_nothing() {
        for (from, to) in [
            // Text that nobody escaped: which element is the wiki's cannot be told.
            (TITLE, "<editor :page-id=\"1\"></editor>"),
            ("<div id=\"root\"><editor", "<div><editor"),
            ("</div></body>", "<editor></editor></div></body>"),
            ("init-mode=\"update\"", "init-mode=\"create\""),
            (" init-mode=\"update\"", ""),
            (":page-id=\"28\"", ":page-id=\"x\""),
            ("path=\"probe/e1\"", "path=\"probe/e1\" path=\"probe/e2\""),
            ("path=\"probe/e1\"", "path='probe/e1'"),
            (
                "path=\"probe/e1\" title",
                "path=\"probe/e1\" x=\"y\"hidden title",
            ),
            ("&quot;b&quot;", "&#34;b&#34;"),
            ("&quot;b&quot;", "1"),
            ("description=\"\" :tags", "description=\"a & b\" :tags"),
            ("description=\"\" :tags", "description=\"a < b\" :tags"),
            (":is-published=\"true\"", ":is-published=\"1\""),
            (" publish-end-date=\"\"", ""),
            ("IyBIaSAicSIgPGI+JmFtcDsKCng=", "no base64"),
            // Not UTF-8.
            ("IyBIaSAicSIgPGI+JmFtcDsKCng=", "//79"),
            (" init-editor=\"markdown\"", ""),
            ("effective-permissions=\"", "effective-permissions=\"AAAA"),
            ("></editor>", ">"),
            ("></editor>", "/>"),
        ] {
            let view = view();
            let other = view.replacen(from, to, 1);
            assert_ne!(view, other, "{from}");
            assert_eq!(parse(&other), None, "{to}");
        }
        let whole = view();
        let end = whole.find("></editor>").unwrap();
        for (at, _) in whole.char_indices().take_while(|(at, _)| *at <= end) {
            assert_eq!(parse(whole.get(..at).unwrap()), None);
        }
    }

    #[test]
    fn a_page_without_styles_and_scripts_has_none() {
        let view = view();
        let (head, rest) = view.split_once(" script-css=").unwrap();
        let (_, rest) = rest.split_once(" init-mode").unwrap();
        let page = parse(&format!("{head} init-mode{rest}")).unwrap().page;
        assert_eq!(page.script_css.as_deref(), Some(""));
        assert_eq!(page.script_js.as_deref(), Some(""));
    }

    #[test]
    fn the_rights_of_a_place_are_read_from_its_editor_or_the_wiki_s_own_refusal() {
        let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("probe/e1"));
        let rights = rights_in(&view(), &locale, &path).unwrap();
        assert_eq!(rights.has(Right::WritePages), Some(true));
        assert_eq!(rights.has(Right::DeletePages), Some(false));
        assert_eq!(rights.has(Right::WriteAssets), None);
        let elsewhere = PagePath::as_stored("probe/e2");
        assert_eq!(rights_in(&view(), &locale, &elsewhere), None);

        let refusal = |action: &str| {
            rights_refused(&format!(
                "<body><div class=\"is-fullscreen\" id=\"root\"><unauthorized action=\"{action}\"></unauthorized></div></body>"
            ))
        };
        let (write, manage) = ((Right::WritePages, false), (Right::ManagePages, false));
        assert_eq!(refusal("create"), Some(PageRights::new([write])));
        assert_eq!(refusal("edit"), Some(PageRights::new([write, manage])));
        assert_eq!(refusal("view"), None);
        assert_eq!(rights_refused("<html>403 Forbidden</html>"), None);
    }

    #[test]
    fn an_entity_is_read_once() {
        assert_eq!(unescape("&amp;lt;").as_deref(), Some("&lt;"));
        assert_eq!(unescape("a&nbsp;b"), None);
    }
}
