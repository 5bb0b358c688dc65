//! Finds anchors and pictures that pages name and that are not there.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use super::{BrokenLink, PlaceLinks};
use crate::error::Result;
use crate::index::IndexedLink;
use crate::page::{LinkBase, LinkedSite, PagePath, anchor_forms, is_picture};
use crate::tools::context::ToolContext;
use crate::wiki::{Wiki, WikiError};

/// The most anchors that one call looks for.
const MAX_ANCHORS: usize = 50_000;
/// The most folders of pictures that one call lists.
const MAX_FOLDERS: usize = 20;
/// The longest time for pictures.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most pictures, of those that no folder lists, that one call asks the wiki for.
const MAX_ASKED: usize = 50;

/// The missing ones, by the page that names each, and a note on those that were not looked for.
type Missing = (Vec<(i64, BrokenLink)>, Option<String>);

/// Without an index, nothing is known.
pub(super) async fn find(
    context: &ToolContext,
    known: &PlaceLinks,
    site: &LinkedSite,
) -> Result<Missing> {
    if !known.indexed.knows_pages() {
        return Ok((Vec::new(), None));
    }
    let (own, shown) = context.index.within_pages().await?;
    let mut missing = anchors(context, known, own).await?;
    let (pictures, left) = Box::pin(pictures(&context.wiki, shown, site)).await;
    missing.extend(pictures);
    let note = (left > 0).then(|| format!("{left} pictures could not be looked for."));
    Ok((missing, note))
}

/// Anchors of pages whose headings are known.
async fn anchors(
    context: &ToolContext,
    known: &PlaceLinks,
    own: Vec<IndexedLink>,
) -> Result<Vec<(i64, BrokenLink)>> {
    let places = known.ids_by_place();
    let (mut asked, mut found) = (Vec::new(), Vec::new());
    let mut ask = |from: i64, to: i64, link: &str, place: (&str, &str), line| {
        let Some((_, anchor)) = link.split_once('#') else {
            return;
        };
        if asked.len() >= MAX_ANCHORS {
            return;
        }
        let forms = anchor_forms(anchor);
        if !forms.is_empty() {
            asked.push((to, forms));
            let to = format!("/{}/{}#{anchor}", place.0, place.1);
            found.push((from, BrokenLink::new(Some(link), &to, line, Some("anchor"))));
        }
    };
    for link in &known.links {
        let to = places.get(&(&link.to.0, &link.to.1));
        if let (Some(to), Some(written)) = (to, &link.written) {
            let place = (link.to.0.as_str(), link.to.1.as_str());
            ask(link.from, *to, written, place, link.line);
        }
    }
    for link in &own {
        if places.contains_key(&(&link.locale, &link.path)) {
            let place = (link.locale.as_str(), link.path.as_str());
            ask(link.id, link.id, &link.target, place, Some(link.line));
        }
    }
    let lacks = context.index.lack_anchors(asked).await?;
    let found = found.into_iter().zip(lacks);
    Ok(found
        .filter_map(|(link, lacks)| lacks.then_some(link))
        .collect())
}

/// Pictures of the wiki that its lists lack and that it answers without, and the number of those
/// that were not looked for.
async fn pictures(
    wiki: &Wiki,
    shown: Vec<IndexedLink>,
    site: &LinkedSite,
) -> (Vec<(i64, BrokenLink)>, usize) {
    let mut folders: BTreeMap<String, BTreeMap<String, Vec<IndexedLink>>> = BTreeMap::new();
    for link in shown {
        let page = (link.locale.clone(), link.path.clone());
        let path = LinkBase::new(&page, site).file(&link.target, link.carrier);
        if let Some(path) = path.filter(is_picture) {
            let folder = folders.entry(path.folder().as_str().to_owned());
            let pictures = folder.or_default().entry(path.as_str().to_owned());
            pictures.or_default().push(link);
        }
    }
    let until = Instant::now() + PATIENCE;
    let (mut missing, mut left, mut asked) = (Vec::new(), 0, 0);
    for (number, (folder, pictures)) in folders.into_iter().enumerate() {
        let listed = if number < MAX_FOLDERS && Instant::now() < until {
            wiki.asset_folder(&PagePath::as_stored(folder)).await
        } else {
            Err(WikiError::NotFound)
        };
        let listed: HashSet<PagePath> = match listed {
            Ok(listed) => listed.assets.into_iter().map(|asset| asset.path).collect(),
            Err(WikiError::NoFolder) => HashSet::new(),
            Err(_) => {
                left += pictures.len();
                continue;
            }
        };
        for (path, links) in pictures {
            let path = PagePath::as_stored(path);
            if listed.contains(&path) {
                continue;
            }
            asked += 1;
            if asked > MAX_ASKED || Instant::now() >= until {
                left += 1;
            } else if matches!(wiki.asset_bytes(&path).await, Err(WikiError::NotFound)) {
                let to = format!("/{path}");
                let found = links.into_iter().map(|link| {
                    (
                        link.id,
                        BrokenLink::new(Some(&link.target), &to, Some(link.line), Some("image")),
                    )
                });
                missing.extend(found);
            }
        }
    }
    (missing, left)
}
