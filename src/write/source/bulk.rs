//! The same edit of many pages, as one set.

use std::sync::Arc;

use serde_json::json;

use crate::change::{Change, Edits, NewContent, NewTags, ReplaceAll, Warning};
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, LeftOut, SetChange};
use crate::page::{MovedPart, NewPath, PagePlace, PageState, check_content};
use crate::wiki::{Chosen, ListQuery, Right, Wiki, WikiError};
use crate::words::counted;

use super::present::{self, MAY_NOT_WRITE};
use super::whole_page::{self, ToWrite};
use super::{
    Agreed, ChangeSource, Made, WriteCall, a_few_at_once, checked, conflict, mending, tags_of,
    target,
};
use crate::write::links::wiki_links::{LinkPurpose, WikiLinks};

/// The most pages that a caller may ask for in a set.
pub const MAX_PAGES: usize = 200;
/// The hint if a page is not as it was shown.
const NEXT: &str = "Look at details.changes. For a new preview, repeat the call that gave this one, without confirm.";
/// The reason for leaving out a page of which nothing changes.
const AS_ASKED: &str = "it already is as asked for";
/// The reason for leaving out a page without the texts that are replaced.
const NO_TEXT: &str = "it has none of the texts to replace";
/// The reason for leaving out a page that the wiki would refuse without content.
const NO_CONTENT: &str = "it would be left without content";
/// The reason for leaving out a found page.
const NOT_ALLOWED: &str = "the page may not be written here";

/// The same edit of many pages.
#[derive(Debug, Clone)]
pub struct Bulk {
    /// The pages.
    pub which: PageSelection,
    /// Tags to add and to remove.
    pub tags: Option<NewTags>,
    /// Texts to replace everywhere, in order.
    pub replace_all: ReplaceAll,
    /// True if readers see the pages.
    pub is_published: Option<bool>,
    /// The move of them all, if they move; `which` then finds the pages of this part.
    pub move_to: Option<MovedPart>,
    /// The number of pages that the caller expects.
    pub expect_pages: Option<usize>,
    /// True if applied changes stay if a later one fails.
    pub keeps_on_failure: bool,
    /// The arguments that select the pages.
    pub selected_by: Vec<&'static str>,
    /// The number of pages that would be selected in other locales, if no locale was named.
    pub elsewhere: usize,
}

/// The selection of pages.
#[derive(Debug, Clone)]
pub enum PageSelection {
    /// These.
    Ids(Vec<i64>),
    /// All pages that a list finds; if a target is named, only those that link to it.
    Listed(Box<ListQuery>, Option<LinksTo>),
}

/// The page that pages link to.
#[derive(Debug, Clone)]
pub enum LinksTo {
    /// By its id.
    Id(i64),
    /// By its place, whether a page is there or not.
    Place(PagePlace),
}

impl LinksTo {
    /// The pages that link there, as far as the key may read them.
    async fn pages(&self, call: WriteCall<'_>) -> Result<Chosen> {
        let known = WikiLinks::whole(call.index, LinkPurpose::Linking).await?;
        let place = match self {
            Self::Place(place) => place.clone(),
            Self::Id(id) => {
                let mut pages = known.pages.iter();
                let page = pages.find(|page| page.id == Some(*id));
                let page = page.ok_or_else(|| Failure::from(WikiError::NotFound))?;
                (page.locale.clone(), page.path.clone())
            }
        };
        let ids = known.linking_to(place).await?;
        Ok(Chosen {
            by: String::new(),
            ids: Arc::new(ids.into_iter().collect()),
        })
    }
}

impl PageSelection {
    /// The ids of the existing pages, in order, each once.
    async fn found(&self, call: WriteCall<'_>) -> Result<Vec<i64>> {
        let mut ids: Vec<i64> = match self {
            Self::Ids(ids) => ids.clone(),
            Self::Listed(query, links_to) => {
                let mut query = query.as_ref().clone();
                if let Some(page) = links_to {
                    let linking = page.pages(call).await?;
                    query.chosen = Some(match query.chosen {
                        Some(chosen) => Chosen {
                            ids: Arc::new(&*chosen.ids & &*linking.ids),
                            ..chosen
                        },
                        None => linking,
                    });
                }
                let part = call.wiki().list(&query, MAX_PAGES + 1).await?;
                part.pages.iter().filter_map(|page| page.id).collect()
            }
        };
        ids.sort_unstable();
        ids.dedup();
        if ids.len() > MAX_PAGES {
            return Err(Failure::new(
                Code::TooLarge,
                format!("More than {MAX_PAGES} pages are meant; nothing was sent."),
            )
            .hint("Name fewer pages in one call, such as those below a longer path.")
            .detail("most", MAX_PAGES));
        }
        Ok(ids)
    }
}

impl Bulk {
    /// The ids of the pages; an error if their number is not the expected one.
    async fn pages(&self, call: WriteCall<'_>) -> Result<Vec<i64>> {
        let ids = self.which.found(call).await?;
        let is_expected = self
            .expect_pages
            .is_none_or(|expected| expected == ids.len());
        if ids.is_empty() {
            return Err(self.nothing_selected());
        }
        if !is_expected {
            let found = ids.len();
            return Err(Failure::of_argument(
                "expectPages",
                format!(
                    "{} found; nothing was sent.",
                    counted(found, "page was", "pages were")
                ),
            )
            .hint("Look with wikijs_list_pages at which pages these are; expectPages must be their number. Leave expectPages out to see in a preview which they are.")
            .detail("found", found));
        }
        Ok(ids)
    }

    /// The failure if no page is found, with what selects none.
    fn nothing_selected(&self) -> Failure {
        let by = &self.selected_by;
        let fields: Vec<_> = by.iter().map(|name| json!({ "path": name })).collect();
        let by = by.join(", ");
        let message = format!("No page was found by {by}; nothing was sent.");
        Failure::new(Code::InvalidInput, message)
            .hint(
                "wikijs_list_pages takes the same path, tags and links, and shows what they find.",
            )
            .detail("found", 0)
            .detail("fields", fields)
    }

    /// The same with tags as the wiki has them: a leading `#` of a new tag is dropped, unless the
    /// wiki has such a tag.
    async fn completed(&self, wiki: &Wiki) -> Result<Self> {
        let mut own = self.clone();
        if let Some(given) = own.tags.as_mut().map(NewTags::given_mut) {
            *given = wiki.without_hash(std::mem::take(given)).await?;
        }
        Ok(own)
    }

    /// The change of a page as it is, or why there is none.
    fn of(&self, before: PageState) -> Result<Change, &'static str> {
        let replaced = { &self.replace_all }.where_found(&before.content, &before.editor);
        let (content, has_text) = replaced?;
        if content != before.content && check_content(&content).is_err() {
            return Err(NO_CONTENT);
        }
        let path = match self.move_to.as_ref().map(|part| part.path_of(&before.path)) {
            None => None,
            Some(None) => return Err("it is no page of the part that moves"),
            Some(Some(path)) => match NewPath::parse(path.as_str()) {
                Ok(path) => Some(path),
                Err(_) => return Err("the wiki makes no page at its new path"),
            },
        };
        let edits = Edits {
            locale: self.move_to.as_ref().map(|part| part.to_locale.clone()),
            path,
            content: (content != before.content).then_some(NewContent::Whole(content)),
            tags: self.tags.clone(),
            is_published: self.is_published,
            ..Edits::default()
        };
        let change = Change::update(before, edits).map_err(|_| "it cannot be changed so")?;
        if change.is_empty() {
            return Err(if has_text { AS_ASKED } else { NO_TEXT });
        }
        if change.leaves_no_content() {
            return Err(NO_CONTENT);
        }
        Ok(change)
    }

    /// True if a page whose change is not allowed is left out: only if the page was found rather
    /// than named, and does not move. A part of the wiki always moves as a whole.
    fn leaves_out(&self, call: WriteCall<'_>, change: &Change) -> bool {
        matches!(self.which, PageSelection::Listed(..))
            && self.move_to.is_none()
            && call.policy.fault_of(change).is_some()
    }

    /// The set of all changes and of the changes that mend links; if there is nothing to do, its
    /// changes do nothing.
    async fn set(
        &self,
        call: WriteCall<'_>,
        pages: Vec<Result<ToWrite, LeftOut>>,
    ) -> Result<ChangeSet> {
        let (mut changes, mut left_out, mut idle) = (Vec::new(), Vec::new(), None);
        let mut denied = Vec::new();
        for page in pages {
            let page = match page {
                Ok(read) => read.page,
                Err(unread) => {
                    left_out.push(unread);
                    continue;
                }
            };
            match self.of(page.clone()) {
                Ok(change) if self.leaves_out(call, &change) => {
                    left_out.push(LeftOut::new(&page, NOT_ALLOWED));
                    denied.push(change);
                }
                Ok(change) => changes.push(change),
                Err(why) => {
                    left_out.push(LeftOut::new(&page, why));
                    idle = Some(page);
                }
            }
        }
        if changes.is_empty() && !denied.is_empty() {
            // No page is left, so the gate says why.
            left_out.retain(|page| page.why != NOT_ALLOWED);
            changes = denied;
        }
        if changes.is_empty() {
            let page = idle.ok_or_else(|| nothing_left(&left_out))?;
            changes.push(Change::between(page.clone(), page));
        }
        let moves = changes.iter().any(Change::moves);
        let set = if moves {
            let (changes, mending) = mending::with_links(call, changes, &[]).await?;
            ChangeSet::list(call.id, changes)
                .map(|set| set.with(|batch| batch.mending = Some(mending)))
        } else {
            let changes = changes.into_iter().map(SetChange::from).collect();
            ChangeSet::list(call.id, changes)
        };
        let set = set.ok_or_else(|| nothing_left(&left_out))?;
        Ok(set.with(|batch| {
            batch.left_out = left_out;
            batch.keeps_on_failure = self.keeps_on_failure;
        }))
    }

    /// True if it asks for the set that was shown, with the pages that it finds now.
    fn agrees_with(&self, shown: &ChangeSet, ids: &[i64]) -> bool {
        let is_same = |one: &SetChange| {
            let Some(before) = one.change.before() else {
                return false;
            };
            let asked = self.of(before.clone());
            asked.is_ok_and(|asked| mending::is_asked(asked, one, shown))
        };
        let asked = || shown.iter().filter(|one| shown.only_mends(one).is_none());
        let mut shown_ids: Vec<i64> = asked()
            .filter_map(|one| one.change.before()?.id)
            .chain(shown.batch().left_out.iter().filter_map(|page| page.id))
            .collect();
        shown_ids.sort_unstable();
        shown_ids.dedup();
        shown.is_list()
            && shown.proposal().is_none()
            && shown.batch().keeps_on_failure == self.keeps_on_failure
            && asked().all(is_same)
            && shown_ids == ids
    }
}

/// Reads a page, or says why it is left out: it exists, but not all of it can be read back.
async fn read(wiki: &Wiki, id: i64) -> Result<Result<ToWrite, LeftOut>> {
    match whole_page::to_write(wiki, id, &[]).await {
        Ok(read) => Ok(Ok(read)),
        Err(failure) => {
            let why = present::left_out(failure).map_err(|failure| failure.detail("id", id))?;
            Ok(Err(LeftOut::at(Some(id), None, why)))
        }
    }
}

impl ChangeSource for Bulk {
    async fn said(&self, _: WriteCall<'_>, set: &ChangeSet) -> Vec<Warning> {
        let tags = self.tags.as_ref();
        let tags = tags.and_then(|tags| tags.warning(&tags_of(set)));
        let pages = set.iter().filter_map(|one| one.change.before());
        let texts = pages.map(|page| (page.content.as_str(), page.editor.as_str()));
        let texts = self.replace_all.not_there(texts);
        let elsewhere = (self.elsewhere > 0).then(|| {
            let message = format!(
                "otherLocales: {}; as many pages of other locales match, too, and stay as they are; name locale, or \"*\" for all.",
                self.elsewhere
            );
            Warning::new("other_locales", message)
        });
        [tags, texts, elsewhere].into_iter().flatten().collect()
    }

    async fn made(&self, call: WriteCall<'_>) -> Made {
        let wiki = call.wiki();
        let own = self.completed(wiki).await?;
        let ids = own.pages(call).await?;
        let pages = a_few_at_once(ids, |id| read(wiki, id)).await?;
        let set = own.set(call, pages).await?;
        let in_code = |change: &Change| {
            let page = change.before()?;
            own.replace_all.warning(&page.content, &page.editor)
        };
        Ok(checked(set.warned_each(|change| {
            in_code(change).into_iter().collect()
        })))
    }

    async fn agrees(&self, call: WriteCall<'_>, shown: &ChangeSet) -> Agreed {
        let own = self.completed(call.wiki()).await?;
        let ids = own.pages(call).await?;
        Ok(own.agrees_with(shown, &ids))
    }
}

/// The failure if no page is left to change.
fn nothing_left(left_out: &[LeftOut]) -> Failure {
    if !left_out.is_empty() && left_out.iter().all(|page| page.why == MAY_NOT_WRITE) {
        let right = Right::WritePages.name();
        let pages: Vec<i64> = left_out.iter().filter_map(|page| page.id).collect();
        return Failure::new(
            Code::PermissionDenied,
            format!("This key may write none of these pages: it lacks {right} at each."),
        )
        .detail("right", right)
        .detail("ids", pages);
    }
    Failure::new(
        Code::FieldUnreadable,
        "This key cannot read back all fields of any of these pages.",
    )
}

/// A set that was shown, if each of its pages is still as it was shown.
pub(super) async fn still_so(wiki: &Wiki, shown: ChangeSet) -> Made {
    let changes: Vec<SetChange> = shown.iter().cloned().collect();
    let fresh = async |one: SetChange| {
        let change = one.change;
        let Some(before) = change.before().filter(|page| page.is_there()).cloned() else {
            let change = target::at_its_page(wiki, change).await?;
            return Ok(SetChange { change, ..one });
        };
        let read = target::as_now(wiki, &before, change.lost()).await;
        let named = |failure: Failure| failure.detail_if("id", before.id);
        let read = read.map_err(named)?;
        if read.lost != change.lost() || !before.difference(&read.page).is_empty() {
            let path = before.path.as_str().to_owned();
            let failure = named(conflict::since_shown(before.clone(), read.page, NEXT));
            return Err(failure.detail("path", path));
        }
        let change = change.on(read.page);
        Ok(SetChange { change, ..one })
    };
    let fresh = a_few_at_once(changes, fresh).await?;
    Ok(checked(shown.with_changes(fresh)))
}

#[cfg(test)]
mod tests {
    use super::{AS_ASKED, Bulk, NO_TEXT, PageSelection};
    use crate::audit::CallId;
    use crate::change::{Change, NewTags, ReplaceAll};
    use crate::gates::{ChangeSet, LeftOut, SetChange};
    use crate::page::{PageState, TextReplacement, testing};

    fn page(id: i64, content: &str) -> PageState {
        PageState {
            id: Some(id),
            content: content.to_owned(),
            tags: vec!["old".to_owned()],
            ..testing::page()
        }
    }

    fn bulk(old_text: &str, new_text: &str) -> Bulk {
        Bulk {
            which: PageSelection::Ids(vec![1, 2]),
            tags: None,
            replace_all: ReplaceAll {
                edits: vec![TextReplacement {
                    old_text: old_text.to_owned(),
                    new_text: new_text.to_owned(),
                }],
                outside_code: false,
            },
            is_published: None,
            move_to: None,
            expect_pages: None,
            keeps_on_failure: false,
            selected_by: vec!["ids"],
            elsewhere: 0,
        }
    }

    #[test]
    fn a_text_is_replaced_wherever_it_stands_and_a_page_without_it_is_left_out() {
        let own = bulk("x", "y");
        let change = own.of(page(1, "x and x")).unwrap();
        assert_eq!(change.after().unwrap().content, "y and y");
        assert_eq!(own.of(page(1, "z")), Err(NO_TEXT));
        let emptied = bulk("x", "").of(page(1, "x"));
        assert_eq!(emptied, Err("it would be left without content"));
    }

    #[test]
    fn tags_come_and_go_and_what_has_them_already_is_left_out() {
        let own = Bulk {
            replace_all: ReplaceAll::default(),
            tags: Some(NewTags::Some {
                add: vec!["new".to_owned()],
                remove: vec!["old".to_owned()],
            }),
            ..bulk("", "")
        };
        let change = own.of(page(1, "x")).unwrap();
        let after = change.after().unwrap().clone();
        assert_eq!(after.tags, ["new"]);
        assert_eq!(own.of(after), Err(AS_ASKED));
    }

    #[test]
    fn a_token_counts_for_the_same_edit_of_the_same_pages() {
        let call = CallId::new().unwrap();
        let own = bulk("x", "y");
        let change = |id| SetChange::from(own.of(page(id, "x")).unwrap());
        let shown = ChangeSet::list(call, vec![change(1), change(2)]).unwrap();
        assert!(own.agrees_with(&shown, &[1, 2]));
        assert!(!own.agrees_with(&shown, &[1]));
        assert!(!own.agrees_with(&shown, &[1, 2, 3]));
        assert!(!bulk("x", "z").agrees_with(&shown, &[1, 2]));
        let keeps = Bulk {
            keeps_on_failure: true,
            ..own.clone()
        };
        assert!(!keeps.agrees_with(&shown, &[1, 2]));
        // Left-out pages were asked for, too.
        let shown = ChangeSet::list(call, vec![change(1)]).unwrap();
        assert!(!own.agrees_with(&shown, &[1, 2]));
        let left_out = vec![LeftOut::new(&page(2, "z"), "why")];
        let shown = shown.with(|batch| batch.left_out = left_out);
        assert!(own.agrees_with(&shown, &[1, 2]));
        let single = ChangeSet::single(call, Change::delete(page(1, "x")));
        assert!(!own.agrees_with(&single, &[1]));
    }
}
