//! Selects pages by links or properties, which the wiki's own list does not know.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::LinkFilter;
use crate::error::{Code, Failure, Result};
use crate::tools::context::ToolContext;
use crate::tools::input::refuse;
use crate::tools::links::{BrokenLinks, PlaceLinks};
use crate::tools::output::written;
use crate::tools::search_pages::{Indexed, SWITCHED_OFF, Sought};
use crate::wiki::Chosen;

/// The selected pages, and how much of the wiki was looked at.
#[derive(Default)]
pub(in crate::tools) struct Choice {
    /// The pages; `None` if the call selects by neither.
    pub(in crate::tools) chosen: Option<Chosen>,
    broken: Option<BrokenLinks>,
    /// Coverage of the content index.
    pub(super) indexed: Option<Indexed>,
}

impl Choice {
    /// # Errors
    /// The wiki or the index cannot be asked, or the property filter is invalid.
    pub(in crate::tools) async fn load(
        context: &ToolContext,
        links: Option<LinkFilter>,
        property: Option<&str>,
    ) -> Result<Self> {
        let mut choice = Self::default();
        let mut ids: Option<HashSet<i64>> = None;
        if let Some(property) = property {
            let (pages, indexed) = with_property(context, property).await?;
            choice.indexed = indexed.if_lacking();
            ids = Some(pages);
        }
        if let Some(filter) = links {
            let sought = match filter {
                LinkFilter::Orphans => Sought::Orphans,
                LinkFilter::Broken => Sought::Broken,
            };
            let links = PlaceLinks::load(context, sought).await?;
            let pages = match filter {
                LinkFilter::Orphans => links.orphans(),
                LinkFilter::Broken => choice.broken.insert(links.broken()).pages(),
            };
            choice.indexed = links.indexed.if_lacking();
            ids = Some(match ids {
                Some(ids) => ids.intersection(&pages).copied().collect(),
                None => pages,
            });
        }
        choice.chosen = ids.map(|ids| Chosen {
            by: format!("{links:?} {property:?}"),
            ids: Arc::new(ids),
        });
        Ok(choice)
    }

    /// The same, to be written to: nothing of the index may be missing.
    ///
    /// # Errors
    /// Those of `load`, and `TIMEOUT` if not all pages are indexed.
    pub(in crate::tools) async fn whole(
        context: &ToolContext,
        links: Option<LinkFilter>,
        property: Option<&str>,
    ) -> Result<Option<Chosen>> {
        if !context.index.is_on() {
            let name = if links.is_some() { "links" } else { "property" };
            return refuse(name, format!("needs the index: {SWITCHED_OFF}"));
        }
        // What was written lately counts, too.
        context.index.outdated();
        let choice = Self::load(context, links, property).await?;
        if choice.indexed.is_some_and(|indexed| !indexed.complete) {
            let message = "Pages are chosen by links or property once all pages are indexed, and not all are; nothing was sent.";
            return Err(Failure::new(Code::Timeout, message)
                .hint("Call again in 30 s, or name the pages by ids."));
        }
        Ok(choice.chosen)
    }

    /// Names the broken links of a page, if they were asked for.
    pub(super) fn add_broken(
        &mut self,
        page: &mut Map<String, Value>,
        id: i64,
        shown_pages: usize,
    ) -> Result<()> {
        let Some(broken) = &mut self.broken else {
            return Ok(());
        };
        let (links, left) = broken.of_page(id, shown_pages);
        let links = written(links)?;
        page.insert("brokenLinks".to_owned(), links);
        if left > 0 {
            page.insert("brokenLinksLeft".to_owned(), left.into());
        }
        Ok(())
    }
}

/// The right form for a property that no page has and whose form means something else elsewhere.
fn misread(name: &str, value: Option<&str>) -> Option<String> {
    let value = value.unwrap_or_default();
    let signs = |c: char| c == '!' || c == '-';
    let right = if name.starts_with(signs) || name.ends_with('!') {
        "pages without a property or value are not listed; take name=value for each other value"
            .to_owned()
    } else if let Some((name, value)) = name.split_once(':') {
        format!("take {}={}", name.trim(), value.trim())
    } else if let Some(at) = name.find(['.', '[', '/']) {
        let top = name.get(..at).unwrap_or_default();
        format!("only keys of the block's top level are known: take {top}, and read these pages")
    } else if let Some(value) = value.strip_prefix('=') {
        format!("take {name}={}", value.trim())
    } else if value.contains('*') {
        format!("a value is compared whole, without *: take {name} for any value")
    } else {
        return None;
    };
    Some(format!("is of no indexed page; {right}"))
}

/// The pages with a property: `status=review`, or `status` with any value.
async fn with_property(context: &ToolContext, property: &str) -> Result<(HashSet<i64>, Indexed)> {
    let index = &context.index;
    if !index.is_on() {
        return refuse("property", format!("needs the index: {SWITCHED_OFF}"));
    }
    let (name, value) = match property.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim().to_owned())),
        None => (property.trim(), None),
    };
    if name.is_empty() {
        return refuse("property", "must be a name, or name=value");
    }
    let covered = context.indexed().await?;
    let asked = index.with_property(name.to_owned(), value.clone());
    let (pages, without_source) = asked.await?;
    if pages.is_empty()
        && let Some(fault) = misread(name, value.as_deref())
    {
        return refuse("property", fault);
    }
    let indexed = Indexed::new(covered, Sought::Property);
    Ok((pages, indexed.lacking_sources(without_source)))
}
