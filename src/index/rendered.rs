//! Infers from the wiki's link graph how the wiki renders relative links.

use std::collections::{HashMap, HashSet};

use super::fact_queries::IndexedLink;
use crate::page::{LinkBase, LinkedSite, PagePlace};
use crate::wiki::LinksOfPage;

/// The site with `absoluteLinks` inferred from the link graph: the wiki does not tell whether it
/// resolves relative links from its root, but the graph shows where they lead.
pub fn as_rendered(site: LinkedSite, links: &[IndexedLink], graph: &[LinksOfPage]) -> LinkedSite {
    let graph: HashMap<i64, &LinksOfPage> = graph.iter().map(|page| (page.id, page)).collect();
    let rooted = LinkedSite {
        relative_from_root: true,
        ..site.clone()
    };
    let (mut from_page, mut from_root) = (0_usize, 0_usize);
    for links in links.chunk_by(|a, b| a.id == b.id) {
        let relative = |link: &&IndexedLink| {
            !link.target.starts_with('/') && !link.target.contains(['.', ':', '#'])
        };
        let mut relative = links.iter().filter(relative).peekable();
        let (Some(first), Some(known)) = (
            links.first(),
            links.first().and_then(|link| graph.get(&link.id)),
        ) else {
            continue;
        };
        if relative.peek().is_none() {
            continue;
        }
        // Of a page with very many links each is looked for.
        let known: HashSet<&PagePlace> = known.to.iter().collect();
        let page = (first.locale.clone(), first.path.clone());
        let (own, root) = (LinkBase::new(&page, &site), LinkBase::new(&page, &rooted));
        for link in relative {
            let is_known = |base: &LinkBase<'_>| {
                let place = base.place(&link.target, link.carrier);
                place.is_some_and(|place| known.contains(&place))
            };
            match (is_known(&own), is_known(&root)) {
                (true, false) => from_page += 1,
                (false, true) => from_root += 1,
                _ => {}
            }
        }
    }
    if from_root > from_page { rooted } else { site }
}

#[cfg(test)]
mod tests {
    use super::{IndexedLink, PagePlace, as_rendered};
    use crate::page::testing::linked_site;
    use crate::page::{Carrier, LinkedSite, Locale, PagePath};
    use crate::wiki::LinksOfPage;

    fn site() -> LinkedSite {
        linked_site("https://wiki.example.org".parse().unwrap())
    }

    fn place(path: &str) -> PagePlace {
        (Locale::as_stored("en"), PagePath::as_stored(path))
    }

    #[test]
    fn a_page_with_very_many_links_is_looked_at_in_time() {
        const MANY: usize = 50_000;
        let (locale, path) = place("docs/a");
        let link = IndexedLink {
            id: 7,
            locale: locale.clone(),
            path: path.clone(),
            line: 1,
            target: "beta".to_owned(),
            carrier: Carrier::Markdown,
        };
        let of_page = LinksOfPage {
            id: 7,
            locale,
            path,
            to: vec![place("gamma"); MANY],
        };
        let began = std::time::Instant::now();
        let seen = as_rendered(site(), &vec![link; MANY], &[of_page]);
        assert!(!seen.relative_from_root);
        let took = began.elapsed();
        assert!(took < std::time::Duration::from_secs(8), "{took:?}");
    }

    #[test]
    fn relative_links_lead_from_the_root_where_the_graph_shows_it() {
        for (target, graph, from_root) in [
            ("beta", Some("docs/a/beta"), false),
            ("beta", Some("beta"), true),
            ("beta", Some("gamma"), false),
            ("./beta", Some("beta"), false),
            ("/beta", Some("beta"), false),
            ("beta", None, false),
        ] {
            let (locale, path) = place("docs/a");
            let graph: Vec<LinksOfPage> = graph
                .map(|to| LinksOfPage {
                    id: 7,
                    locale: locale.clone(),
                    path: path.clone(),
                    to: vec![place(to)],
                })
                .into_iter()
                .collect();
            let link = IndexedLink {
                id: 7,
                locale,
                path,
                line: 1,
                target: target.to_owned(),
                carrier: Carrier::Markdown,
            };
            let seen = as_rendered(site(), &[link], &graph);
            assert_eq!(seen.relative_from_root, from_root, "{target} {graph:?}");
        }
    }
}
