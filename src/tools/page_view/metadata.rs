//! Shows a page's words, links and properties, beside its fields.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::index::{IndexedLink, as_rendered};
use crate::page::{
    LinkBase, LinkKind, LinkedSite, Locale, PageLink, PagePath, PageReading, Property,
    SourceFormat, can_be_linked, escaped, links, properties, word_count,
};
use crate::tools::output::some_count;
use crate::wiki::{AllPages, Wiki, WikiError};

/// The most links that are named in each direction.
const MAX_NAMED: usize = 40;
/// The most characters that are shown of a link or a property.
const MAX_CHARS: usize = 300;

/// The words, links and properties of a page.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata {
    words: Option<usize>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    properties: BTreeMap<String, Property>,
    /// The places on the wiki that it links to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<String>,
    links_left: Option<i64>,
    /// The pages that the wiki's link graph names as linking to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    linked_from: Vec<String>,
    linked_from_left: Option<i64>,
    /// The pages at its path in other locales.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    translations: Vec<String>,
}

/// The neighbours of some pages in the wiki's link graph.
#[derive(Debug, Default)]
pub(super) struct LinkNeighbours {
    to: HashMap<(Locale, PagePath), BTreeSet<String>>,
    from: HashMap<i64, BTreeSet<String>>,
}

impl LinkNeighbours {
    /// Reads the graph of the site's locales in one request. The site learns from it how it renders
    /// relative links.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub(super) async fn load(
        wiki: &Wiki,
        pages: &[&PageReading],
        site: &mut Option<LinkedSite>,
    ) -> Result<Self, WikiError> {
        let locales = wiki.locales().await;
        let locales = locales.iter().chain(pages.iter().map(|page| &page.locale));
        let graph = wiki.link_graph(&locales.collect()).await?;
        let sourced: Vec<IndexedLink> = pages.iter().flat_map(|page| sourced(page)).collect();
        *site = site.take().map(|site| as_rendered(site, &sourced, &graph));
        let mut around = Self::default();
        for page in graph {
            for place in page.to {
                let target = address(&place.0, &place.1);
                if pages.iter().any(|wanted| wanted.id == Some(page.id)) && can_be_linked(&place.1)
                {
                    around.from.entry(page.id).or_default().insert(target);
                }
                let is_wanted = |wanted: &&PageReading| {
                    wanted.locale == place.0 && wanted.path == place.1 && wanted.id != Some(page.id)
                };
                if pages.iter().any(is_wanted) {
                    let own = address(&page.locale, &page.path);
                    around.to.entry(place).or_default().insert(own);
                }
            }
        }
        Ok(around)
    }
}

impl Metadata {
    /// Names the pages at its path in other locales.
    pub(super) fn translated(self, page: &PageReading, all: &AllPages) -> Self {
        let is_translation =
            |other: &&PageReading| other.path == page.path && other.locale != page.locale;
        let found = all.iter().filter(is_translation);
        let found = found.map(|other| address(&other.locale, &other.path));
        Self {
            translations: bounded(&found.collect()).0,
            ..self
        }
    }

    /// Metadata from a page's source, if it could be read, and from the link graph. Without the
    /// site, the targets of the source's links are left out.
    pub(super) fn new(
        page: &PageReading,
        around: Option<&LinkNeighbours>,
        site: Option<&LinkedSite>,
    ) -> Self {
        let mut metadata = Self::default();
        let mut to = BTreeSet::new();
        if let Some(text) = page.content.as_deref() {
            let format = SourceFormat::detect(page.content_type.as_deref(), page.editor.as_deref());
            metadata.words = Some(word_count(text));
            if let Some(site) = site {
                let place = (page.locale.clone(), page.path.clone());
                let base = LinkBase::new(&place, site);
                let links = links(text, format).into_iter();
                let links = links.filter(|link| link.kind == LinkKind::Link);
                to.extend(
                    links
                        .filter_map(|link| base.page(&link.target, link.carrier))
                        .map(|(locale, path)| address(&locale, &path)),
                );
            }
            let shown = properties(text).into_iter();
            metadata.properties = shown
                .map(|(name, property)| (escaped(&name, MAX_CHARS), shown_property(property)))
                .collect();
        }
        if let Some(around) = around {
            let own = (page.locale.clone(), page.path.clone());
            to.extend(
                page.id
                    .and_then(|id| around.from.get(&id))
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
            let from = around.to.get(&own).into_iter().flatten().cloned();
            (metadata.linked_from, metadata.linked_from_left) = bounded(&from.collect());
        }
        (metadata.links, metadata.links_left) = bounded(&to);
        metadata
    }
}

/// The links in a page's source, as the index has them.
fn sourced(page: &PageReading) -> Vec<IndexedLink> {
    let format = SourceFormat::detect(page.content_type.as_deref(), page.editor.as_deref());
    let links = links(page.content.as_deref().unwrap_or_default(), format).into_iter();
    let indexed = |link: PageLink| {
        Some(IndexedLink {
            id: page.id?,
            locale: page.locale.clone(),
            path: page.path.clone(),
            line: i64::try_from(link.line).unwrap_or(i64::MAX),
            target: link.target,
            carrier: link.carrier,
        })
    };
    links.filter_map(indexed).collect()
}

fn address(locale: &Locale, path: &PagePath) -> String {
    format!("/{locale}/{path}")
}

fn bounded(all: &BTreeSet<String>) -> (Vec<String>, Option<i64>) {
    let left = some_count(all.len().saturating_sub(MAX_NAMED));
    let shown = all.iter().take(MAX_NAMED);
    (shown.map(|place| escaped(place, MAX_CHARS)).collect(), left)
}

fn shown_property(property: Property) -> Property {
    match property {
        Property::Text(text) => Property::Text(escaped(&text, MAX_CHARS)),
        Property::List(items) => {
            let items = items.iter().take(MAX_NAMED);
            Property::List(items.map(|item| escaped(item, MAX_CHARS)).collect())
        }
    }
}
