//! Selects pages by links or properties, which the wiki's own list does not know.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{LinkFilter, unwritable};
use crate::error::Failure;
use crate::tools::context::ToolContext;
use crate::tools::input::invalid_argument;
use crate::tools::links::{BrokenLinks, PlaceLinks};
use crate::tools::search_pages::{Indexed, SWITCHED_OFF, Sought};
use crate::wiki::Chosen;

/// The selected pages, and how much of the wiki was looked at.
#[derive(Default)]
pub(super) struct Choice {
    /// The pages; `None` if the call selects by neither.
    pub(super) chosen: Option<Chosen>,
    broken: Option<BrokenLinks>,
    /// Coverage of the content index.
    pub(super) indexed: Option<Indexed>,
}

impl Choice {
    /// # Errors
    /// The wiki or the index cannot be asked, or the property filter is invalid.
    pub(super) async fn load(
        context: &ToolContext,
        links: Option<LinkFilter>,
        property: Option<&str>,
    ) -> Result<Self, Failure> {
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

    /// Names the broken links of a page, if they were asked for.
    pub(super) fn add_broken(
        &mut self,
        page: &mut Map<String, Value>,
        id: i64,
        shown_pages: usize,
    ) -> Result<(), Failure> {
        let Some(broken) = &mut self.broken else {
            return Ok(());
        };
        let (links, left) = broken.of_page(id, shown_pages);
        let links = serde_json::to_value(links).map_err(unwritable)?;
        page.insert("brokenLinks".to_owned(), links);
        if left > 0 {
            page.insert("brokenLinksLeft".to_owned(), left.into());
        }
        Ok(())
    }
}

/// The pages with a property: `status=review`, or `status` with any value.
async fn with_property(
    context: &ToolContext,
    property: &str,
) -> Result<(HashSet<i64>, Indexed), Failure> {
    let index = &context.index;
    if !index.is_on() {
        let fault = format!("needs the index: {SWITCHED_OFF}");
        return Err(invalid_argument("property", fault));
    }
    let (name, value) = match property.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim().to_owned())),
        None => (property.trim(), None),
    };
    if name.is_empty() {
        return Err(invalid_argument(
            "property",
            "must be a name, or name=value",
        ));
    }
    let covered = context.indexed().await?;
    let (pages, without_source) = index.with_property(name.to_owned(), value).await?;
    let indexed = Indexed::new(covered, Sought::Property);
    Ok((pages, indexed.lacking_sources(without_source)))
}
