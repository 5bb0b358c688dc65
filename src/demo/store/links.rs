//! `pages.links`: which page links to which, and the HTML that says so (W21).
//!
//! Measured on 2.5.314: both are made when a page is rendered, by a create or an update, where
//! it stands then; an update that moves renders before it moves. A move changes neither. What
//! the wiki repairs in the HTML of others it finds by the place where a page comes to be.

use async_graphql::SimpleObject;

use super::rows::Rendered;
use super::{PageRow, Store};
use crate::demo::anchors::{Anchored, anchored};
use crate::demo::{Access, views};

/// The links of one page.
#[derive(Debug, SimpleObject)]
#[graphql(name = "PageLinkItem")]
pub(in crate::demo) struct PageLinks {
    id: i64,
    path: String,
    title: String,
    links: Vec<Option<String>>,
}

/// An event at a place.
#[derive(Debug, Clone, Copy)]
pub(in crate::demo) enum Happened<'a> {
    /// A page came to be there.
    Created,
    /// A page came there from another place.
    MovedFrom(&'a str),
    /// The page there went.
    Deleted,
}

impl Store {
    /// The links of every page of a locale, oldest page first, as far as the caller may read
    /// both ends.
    pub(in crate::demo) fn links(&self, locale: &str, access: &Access) -> Vec<PageLinks> {
        let is_shown = |link: &String| {
            let path = link.split_once('/').map_or("", |(_, path)| path);
            access.may(&["read:pages"], path)
        };
        self.pages()
            .filter(|page| page.locale == locale && access.may(&["read:pages"], &page.path))
            .filter_map(|page| {
                let all = self.links_of(page);
                let is_without = all.is_empty();
                let links: Vec<_> = all.into_iter().filter(is_shown).map(Some).collect();
                (is_without || !links.is_empty()).then(|| PageLinks {
                    id: page.id,
                    path: format!("{}/{}", page.locale, page.path),
                    title: page.title.clone(),
                    links,
                })
            })
            .collect()
    }

    /// The HTML that the wiki has of a page.
    pub(in crate::demo) fn html(&self, page: &PageRow) -> String {
        self.shown(page).html
    }

    /// A page as it was rendered, or as it would be now if a test wrote it.
    fn shown(&self, page: &PageRow) -> Anchored {
        self.kept(page)
            .map_or_else(|| self.anchored(page), |kept| kept.made.clone())
    }

    fn kept(&self, page: &PageRow) -> Option<&Rendered> {
        let kept = self.shown.get(&page.id);
        kept.filter(|kept| kept.content == page.content && kept.editor == page.editor)
    }

    fn links_of(&self, page: &PageRow) -> Vec<String> {
        let may_link = ["](", "]:", "<"]
            .iter()
            .any(|mark| page.content.contains(mark));
        match self.kept(page) {
            Some(kept) => kept.made.links.clone(),
            None if may_link => anchored(page, &views::rendered(page), |_| false).links,
            None => Vec::new(),
        }
    }

    fn anchored(&self, page: &PageRow) -> Anchored {
        let html = views::rendered(page);
        anchored(page, &html, |place| {
            place
                .split_once('/')
                .is_some_and(|(locale, path)| self.page_at(locale, path).is_some())
        })
    }

    /// Renders a page where it stands. Links that it had already keep their order.
    pub(in crate::demo) fn render_links(&mut self, id: i64) {
        let Some(page) = self.page(id) else { return };
        let mut made = self.anchored(page);
        let (content, editor) = (page.content.clone(), page.editor.clone());
        if let Some(past) = self.shown.get(&id) {
            let mut links = past.made.links.clone();
            links.retain(|link| made.links.contains(link));
            let new = made
                .links
                .iter()
                .filter(|link| !past.made.links.contains(link));
            links.extend(new.cloned());
            made.links = links;
        }
        let rendered = Rendered {
            content,
            editor,
            made,
        };
        self.shown.insert(id, rendered);
    }

    /// Keeps how a page is shown before it changes its place, unless it is kept already.
    pub(super) fn keep_shown(&mut self, id: i64) {
        if let Some(page) = self.page(id) {
            let rendered = Rendered {
                made: self.shown(page),
                content: page.content.clone(),
                editor: page.editor.clone(),
            };
            self.shown.insert(id, rendered);
        }
    }

    /// Repairs the HTML of the pages that link to a place, as far as the wiki does.
    pub(in crate::demo) fn reconnect(&mut self, place: &str, happened: Happened<'_>) {
        let link = |place: &str, validity: &str| {
            format!("<a href=\"/{place}\" class=\"is-internal-link is-{validity}-page\">")
        };
        let (from, to) = match happened {
            Happened::Created => (link(place, "invalid"), link(place, "valid")),
            Happened::MovedFrom(old) => (link(old, "valid"), link(place, "valid")),
            Happened::Deleted => (link(place, "valid"), link(place, "invalid")),
        };
        for rendered in self.shown.values_mut() {
            if rendered.made.links.iter().any(|link| link == place) {
                rendered.made.html = rendered.made.html.replace(&from, &to);
            }
        }
    }
}
