//! The HTML that the wiki made of a page.
//!
//! `single` gives it to a key with manage:pages or delete:pages (W1). To everybody who may read
//! the page, the view that readers see holds it, too: measured on 2.5.314, `GET
//! /{locale}/{path}` has one element `<page …>` with the HTML in its slot `contents`. What the
//! wiki puts into attributes is escaped, so no text of a page can look like the slot's beginning,
//! and the slot's end is the last one there.

use std::sync::atomic::Ordering;

use url::Url;

use super::super::operations::generated::{PageRender, page_render};
use crate::page::PageReading;
use crate::wiki::{Wiki, WikiError, WikiResult};

impl Wiki {
    /// The HTML that the wiki made of a page; empty if it never made any.
    ///
    /// # Errors
    /// [`WikiError::Forbidden`] if neither layer answers the key.
    pub async fn rendered(&self, page: &PageReading) -> WikiResult<String> {
        if let Some(id) = page
            .id
            .filter(|_| !self.keyed().is_writer.load(Ordering::Relaxed))
        {
            match self
                .query::<PageRender>(page_render::Variables { id })
                .await
            {
                Ok(data) => {
                    let page = data.pages.and_then(|pages| pages.single);
                    let page = page.ok_or(WikiError::NotFound)?;
                    return Ok(page.render.unwrap_or_default());
                }
                Err(error) if error.is_forbidden() => {}
                Err(error) => return Err(error),
            }
        }
        self.reader_view(page).await
    }

    pub(in crate::wiki) async fn reader_view(&self, page: &PageReading) -> WikiResult<String> {
        self.read_in_view(page, contents).await
    }

    /// Gets the readers' view of a page, and extracts what is wanted.
    pub(in crate::wiki) async fn read_in_view<T>(
        &self,
        page: &PageReading,
        take: impl Fn(&str, Option<i64>) -> Option<T>,
    ) -> WikiResult<T> {
        const REFUSED: WikiError = WikiError::forbidden("manage:pages or delete:pages");
        let address = Url::parse(&self.page_url(&page.locale, &page.path));
        // An address drops segments that climb, and would name another page.
        let address = address
            .ok()
            .filter(|_| !page.path.climbs())
            .ok_or(REFUSED)?;
        self.read_by_get(&address, |answer| match answer.status {
            200 => {
                let html = std::str::from_utf8(&answer.body).ok();
                html.and_then(|html| take(html, page.id)).ok_or(REFUSED)
            }
            // A path that the web interface cannot show (W16), or a view that is blocked.
            _ => Err(answer.passing_fault().unwrap_or(REFUSED)),
        })
        .await
    }
}

const ELEMENT: &str = "<div id=\"root\"><page ";

/// The text of an attribute that the wiki itself fills and never has to escape.
pub(in crate::wiki) fn attribute(attributes: &str, name: &str) -> Option<String> {
    let (_, value) = attributes.split_once(&format!(" {name}=\""))?;
    Some(value.split_once('"')?.0.to_owned())
}

/// The attributes of the element of a reader's view and what follows them, if the view is this
/// page's.
pub(in crate::wiki) fn element(html: &str, id: Option<i64>) -> Option<(&str, &str)> {
    // The page's raw styles precede the element and its HTML follows: if either contains a second
    // such element, the two cannot be distinguished.
    let (_, element) = html.split_once(ELEMENT)?;
    if element.contains(ELEMENT) {
        return None;
    }
    let (attributes, rest) = element.split_once("><template slot=\"contents\"><div>")?;
    let is_its = id.is_none_or(|id| attributes.contains(&format!(" :page-id=\"{id}\"")));
    (is_its && !attributes.contains('<')).then_some((attributes, rest))
}

/// The slot `contents` of a reader's view, if the view is this page's.
pub fn contents(html: &str, id: Option<i64>) -> Option<String> {
    let (_, rest) = element(html, id)?;
    [
        "</div></template><template slot=\"comments\">",
        "</div></template></page>",
    ]
    .iter()
    .find_map(|end| rest.rsplit_once(end))
    .map(|(contents, _)| contents.to_owned())
}

/// The part common to the heads of a reader's and an editor's view, from the list of the site's
/// languages on. Texts of pages before it are escaped.
pub(super) fn head(before_body: &str) -> Option<&str> {
    let (_, rest) = before_body.split_once("<script>var siteConfig = ")?;
    let (_, rest) = rest.split_once("var siteLangs = ")?;
    Some(rest)
}

/// The editor's head up to its end; nothing after it belongs to a page.
pub(super) fn editor_head(before_element: &str) -> Option<&str> {
    let (head, body) = head(before_element)?.split_once("</head><body>")?;
    (!body.contains("</head><body>")).then_some(head)
}

#[cfg(test)]
mod tests {
    use super::contents;

    #[test]
    fn a_text_that_forges_the_slot_s_end_is_not_believed() {
        let forged = "<p>a</p></div></template><template slot=\"comments\"><page ></template>b";
        let html = format!(
            "<body><div id=\"root\"><page locale=\"en\" :page-id=\"7\" x=\"&lt;\"><template slot=\"contents\"><div>{forged}</div></template><template slot=\"comments\"><div></div></template></page></body>"
        );
        assert_eq!(contents(&html, Some(7)).as_deref(), Some(forged));
        assert_eq!(contents(&html, Some(8)), None);
        assert_eq!(contents("<page >", None), None);
    }
}
