//! Mends links: if pages move, the same set writes every page that links to them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Instant;

use crate::change::Change;
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, LinkLeft, Mending, SetChange};
use crate::page::{
    LeftLink, LinkedSite, Moves, PagePlace, PageState, PartPage, SourceFormat, mend_links,
};
use crate::wiki::{LinksOfPage, Wiki};

use super::order::in_order_of_need;
use super::{WriteCall, a_few_at_once, whole_page};
use crate::write::links::wiki_links::{LOOKING, LinkPurpose, WikiLinks, busy};

/// The most pages in which a set only mends links.
pub(super) const MAX_MENDED: usize = 1_000;
/// The reason for leaving out a page that links to a moved one.
const NOT_ALLOWED: &str = "the page may not be written here";
const UNREADABLE: &str = "this key cannot read all of the page";
const UNSOURCED: &str = "this key cannot read the page's source";
const TOO_LARGE: &str = "the page is too large to be written";

/// The place of a new page, and the page of which it is a part.
pub(super) type NewPart = (PagePlace, i64);

/// Makes a set of moves and of the changes that mend the links to the moved pages, and to headings
/// that are in a page's parts now.
///
/// # Errors
/// Not all sources could be searched, or too many pages would be written.
pub(super) async fn with_links(
    call: WriteCall<'_>,
    asked: Vec<Change>,
    parted: &[NewPart],
) -> Result<(Vec<SetChange>, Mending)> {
    let moves = with_headings(moves(asked.iter()), &asked, parted);
    with_moves(call, asked, moves).await
}

/// The same for these moves, which may be those of pages that come back elsewhere.
pub(super) async fn with_moves(
    call: WriteCall<'_>,
    asked: Vec<Change>,
    moves: Moves,
) -> Result<(Vec<SetChange>, Mending)> {
    let of_new = of_new(&moves, asked.iter());
    let own: HashSet<i64> = asked.iter().filter_map(page_id).collect();
    let (pages, mut mending) = linking(call, moves.clone(), &own).await?;
    if pages.len() > MAX_MENDED {
        return Err(too_many(asked.len(), pages.len()));
    }
    let mut changes = Vec::new();
    for change in asked {
        let (change, left) = mended(change, (&moves, &of_new), &mending.site);
        mending.left.extend(left);
        changes.push(change);
    }
    let pages = pages.into_iter().collect();
    let read = a_few_at_once(pages, |page| linker(call, page, &moves, &mending.site)).await?;
    for (change, left) in read {
        mending.left.extend(left);
        if let Some((change, links)) = change {
            mending.alone.extend(page_id(&change).map(|id| (id, links)));
            changes.push(change);
        }
    }
    mending.left.sort_by(|a, b| {
        let line = |left: &LinkLeft| left.link.as_ref().map(|(_, line)| *line);
        (a.id, line(a)).cmp(&(b.id, line(b)))
    });
    let changes = in_order_of_need(changes).into_iter();
    Ok((changes.map(SetChange::from).collect(), mending))
}

/// True if a shown change is the one that is asked for now, apart from its mended links.
pub(super) fn is_asked(asked: Change, shown: &SetChange, set: &ChangeSet) -> bool {
    let asked = match &set.batch().mending {
        Some(mending) => {
            let moves = moves(set.iter().map(|one| &one.change));
            let of_new = of_new(&moves, set.iter().map(|one| &one.change));
            mended(asked, (&moves, &of_new), &mending.site).0
        }
        None => asked,
    };
    SetChange::from(asked).is_same_write(shown)
}

fn page_id(change: &Change) -> Option<i64> {
    change.before()?.id
}

/// The place of a change's page before and after.
fn ends_of(change: &Change) -> (PagePlace, PagePlace) {
    let target = change.target();
    (
        change.before().unwrap_or(target).place(),
        change.after().unwrap_or(target).place(),
    )
}

fn moves<'a>(changes: impl Iterator<Item = &'a Change>) -> Moves {
    changes.map(ends_of).collect()
}

/// True if a set takes headings out of a page that is parted.
pub(super) fn takes_headings(asked: &[Change], parted: &[NewPart]) -> bool {
    with_headings(Moves::default(), asked, parted).take_headings()
}

/// The moves, and the headings that go from each page to its parts.
fn with_headings(moves: Moves, asked: &[Change], parted: &[NewPart]) -> Moves {
    let is_markdown = |page: &&PageState| page.editor == "markdown";
    let new = asked.iter().filter(|change| change.before().is_none());
    let new: Vec<(PagePlace, &PageState)> = new
        .filter_map(|change| change.after().filter(is_markdown))
        .map(|page| (page.place(), page))
        .collect();
    asked.iter().fold(moves, |moves, change| {
        let ends = change.before().filter(is_markdown).zip(change.after());
        let Some((before, after)) = ends.filter(|(before, after)| before.content != after.content)
        else {
            return moves;
        };
        let is_part = |place: &PagePlace| {
            let mut parted = parted.iter();
            parted.any(|(part, of)| part == place && Some(*of) == before.id)
        };
        let parts = new.iter().filter(|(place, _)| is_part(place));
        let parts: Vec<_> = parts
            .map(|(place, page)| PartPage {
                place,
                title: &page.title,
                text: &page.content,
            })
            .collect();
        if parts.is_empty() {
            return moves;
        }
        moves.with_headings(&before.place(), (&before.content, &after.content), &parts)
    })
}

/// The moves as the text of a new page means them: a place that a new page takes is that page's.
fn of_new<'a>(moves: &Moves, changes: impl Iterator<Item = &'a Change>) -> Moves {
    let new = changes.filter(|change| change.before().is_none());
    let taken: HashSet<PagePlace> = new.filter_map(|one| Some(one.after()?.place())).collect();
    moves.without(&taken)
}

/// A change with the links of its text mended, and the links that were left. The second moves are
/// those for a new page.
fn mended(
    change: Change,
    (moves, of_new): (&Moves, &Moves),
    site: &LinkedSite,
) -> (Change, Vec<LinkLeft>) {
    let Some(after) = change.after() else {
        return (change, Vec::new());
    };
    let (page, moves) = match change.before() {
        Some(before) => (before, moves),
        None => (after, of_new),
    };
    let place = page.place();
    // The text of a page that comes back elsewhere was written for its old place.
    let back = change
        .before()
        .map_or_else(|| moves.source(&place), |_| None);
    let place = back.cloned().unwrap_or(place);
    let mended = mend_links(&after.content, after.format(), &place, moves, site);
    // A link that is left in a page to be is in the text that was asked for.
    let left = page.id.map(|id| left_of(id, &place, mended.left));
    let left = left.unwrap_or_default();
    if mended.mended.is_empty() {
        // The wiki has to render it anew for links that lead right only where it goes.
        return (change.rendered_anew(!mended.stale.is_empty()), left);
    }
    let after = PageState {
        content: mended.text,
        ..after.clone()
    };
    (change.with_after(after), left)
}

fn left_of(id: i64, place: &PagePlace, left: Vec<LeftLink>) -> Vec<LinkLeft> {
    let left = left.into_iter().map(|left| LinkLeft {
        id,
        place: place.clone(),
        why: left.why.words().into(),
        link: Some((left.link, left.line)),
    });
    left.collect()
}

/// The pages that link to moved pages, by their ids and places, and the plan with the links that cannot
/// be mended. Searches all sources, which needs a complete and current index.
async fn linking(
    call: WriteCall<'_>,
    moves: Moves,
    own: &HashSet<i64>,
) -> Result<(BTreeMap<i64, PagePlace>, Mending)> {
    let known = WikiLinks::whole(call.index, LinkPurpose::Mending).await?;
    let formats: HashMap<i64, SourceFormat> = known
        .pages
        .iter()
        .filter_map(|page| {
            let format = SourceFormat::detect(page.content_type.as_deref(), page.editor.as_deref());
            Some((page.id?, format))
        })
        .collect();
    let (rules, on, not) = (moves.clone(), known.site.clone(), own.clone());
    let look = move |id: i64, place: &PagePlace, text: &str| {
        if not.contains(&id) {
            return None;
        }
        // A page that is not in the list counts as missing.
        let format = *formats.get(&id)?;
        let mended = mend_links(text, format, place, &rules, &on);
        if mended.mended.is_empty() {
            let left = left_of(id, place, mended.left);
            return (!left.is_empty()).then_some((None, left));
        }
        // Its other links are told when it is read.
        Some((Some((id, place.clone())), Vec::new()))
    };
    let looked = call.index.in_sources(look, Instant::now() + LOOKING).await;
    let looked = looked.map_err(|_| busy())?;
    if !looked.is_whole {
        return Err(busy());
    }
    let unsourced: BTreeSet<i64> = looked.without.into_iter().collect();
    let (mends, left): (Vec<_>, Vec<_>) = looked.found.into_iter().unzip();
    let mut mending = Mending {
        left: of_graph(&known.graph, &unsourced, &moves, own),
        site: known.site,
        alone: HashMap::new(),
    };
    mending.left.extend(left.into_iter().flatten());
    Ok((mends.into_iter().flatten().collect(), mending))
}

/// The pages that link to moved pages by the wiki's own link graph, and whose source the key cannot
/// read.
fn of_graph(
    graph: &[LinksOfPage],
    unsourced: &BTreeSet<i64>,
    moves: &Moves,
    own: &HashSet<i64>,
) -> Vec<LinkLeft> {
    let linking = graph.iter().filter(|page| {
        let is_unread = unsourced.contains(&page.id) && !own.contains(&page.id);
        is_unread && page.to.iter().any(|to| moves.target(to).is_some())
    });
    linking
        .map(|page| LinkLeft {
            id: page.id,
            place: (page.locale.clone(), page.path.clone()),
            link: None,
            why: UNSOURCED.into(),
        })
        .collect()
}

/// Reads a page that links to moved pages, and makes its change, if it may be written, with the number
/// of links that it mends; and the links that are left.
async fn linker(
    call: WriteCall<'_>,
    (id, place): (i64, PagePlace),
    moves: &Moves,
    site: &LinkedSite,
) -> Result<(Option<(Change, usize)>, Vec<LinkLeft>)> {
    let stays = |place: PagePlace, why| {
        let left = LinkLeft {
            id,
            place,
            link: None,
            why: Cow::Borrowed(why),
        };
        (None, vec![left])
    };
    let page = match whole_page::to_write(call.wiki(), id, &[]).await {
        Ok(read) => read.page,
        Err(failure) => match failure.code {
            // Only keys that may write a page can read all of it (W2).
            Code::FieldUnreadable | Code::PermissionDenied => return Ok(stays(place, UNREADABLE)),
            // The page was deleted meanwhile, and its links with it.
            Code::PageNotFound => return Ok((None, Vec::new())),
            _ => return Err(failure.detail("id", id)),
        },
    };
    let place = page.place();
    let mended = mend_links(&page.content, page.format(), &place, moves, site);
    let left = left_of(id, &place, mended.left);
    if mended.mended.is_empty() {
        return Ok((None, left));
    }
    let after = PageState {
        content: mended.text,
        ..page.clone()
    };
    let change = Change::between(page, after);
    if call.policy.fault_of(&change).is_some() {
        return Ok(stays(place, NOT_ALLOWED));
    }
    if Wiki::check_size(&change).is_err() {
        return Ok(stays(place, TOO_LARGE));
    }
    Ok((Some((change, mended.mended.len())), left))
}

fn too_many(asked: usize, mended: usize) -> Failure {
    Failure::new(
        Code::TooLarge,
        format!("{asked} pages would move, and links of {mended} more be mended; at most {MAX_MENDED} are. Nothing was sent."),
    )
    .hint("Move fewer pages in one call, such as those below a longer path.")
    .detail("asked", asked)
    .detail("mended", mended)
    .detail("most", MAX_MENDED)
}
