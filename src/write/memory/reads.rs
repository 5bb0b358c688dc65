//! Remembers the state of each page that a session read. A change of content is compared with it,
//! and it is the base of a merge if the wiki's history cannot be read.
//!
//! A session that saw a part of a page knows only that part, as it was then. So a later change of
//! the whole text is compared with the oldest state in which any of it was seen.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::gates::SessionId;
use crate::page::{Date, PageReading};
use crate::share::evict_index;

/// The most pages whose times are remembered, over all sessions; beyond it, the oldest of the
/// heaviest owner is evicted.
const MAX_PAGES: usize = 1_000;
/// The most parts of a page whose times are remembered.
const MAX_PARTS: usize = 32;
/// The most bytes of pages that are kept whole, over all sessions; beyond it, the oldest of the
/// heaviest owner is evicted.
const MAX_BYTES: usize = 4 * 1024 * 1024;

type SessionPageKey = (SessionId, i64);

/// The extent of a page's text that was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadExtent {
    /// All of it.
    Whole,
    /// A range of bytes; consecutive pieces add up to the whole.
    Piece {
        /// The first byte.
        from: usize,
        /// The end of the range, exclusive.
        to: usize,
        /// The length of the text in bytes.
        of: usize,
    },
    /// A part, by its selector.
    Part(String),
}

/// The part of a page's text that a change concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Concerns {
    /// All of it.
    Whole,
    /// A part, by its selector.
    Part(String),
    /// Places that the change itself identifies by their text.
    Places,
}

/// A page as a session saw it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PageRead {
    /// The date of the newest state of which it saw anything.
    newest: Date,
    /// The date of the oldest state that it still relies on.
    since: Date,
    /// Parts that it saw in a newer state than `since`.
    parts: BTreeMap<String, Date>,
    /// The state whose text it reads from the beginning, and the end of the text read so far.
    paged: Option<(Date, usize)>,
    /// The newest state in full, as long as there is room.
    #[serde(skip)]
    pub(crate) page: Option<Arc<PageReading>>,
    /// The position of `page` in the order of texts.
    #[serde(skip)]
    place: u64,
}

impl PageRead {
    /// The state with which a change is compared.
    pub(crate) fn known(&self, concerns: &Concerns) -> &Date {
        match concerns {
            Concerns::Whole => &self.since,
            Concerns::Part(part) => self.parts.get(part).unwrap_or(&self.since),
            Concerns::Places => &self.newest,
        }
    }

    /// The date of the newest state of which it saw anything.
    pub(crate) const fn newest(&self) -> &Date {
        &self.newest
    }

    /// True if this is the newest state of which it saw anything.
    pub(crate) fn knows_of(&self, at: &Date) -> bool {
        self.newest == *at
    }

    fn see(&mut self, at: &Date, sight: ReadExtent) {
        at.clone_into(&mut self.newest);
        match sight {
            ReadExtent::Whole => self.see_whole(at),
            ReadExtent::Piece { from, to, of } => {
                let seen = match &self.paged {
                    _ if from == 0 => Some(to),
                    Some((of_state, end)) if of_state == at && from <= *end => Some(to.max(*end)),
                    _ => None,
                };
                match seen {
                    Some(end) if end >= of => self.see_whole(at),
                    Some(end) => self.paged = Some((at.clone(), end)),
                    None => {}
                }
            }
            // Without room, the part keeps its older date.
            ReadExtent::Part(part)
                if self.parts.len() < MAX_PARTS || self.parts.contains_key(&part) =>
            {
                self.parts.insert(part, at.clone());
            }
            ReadExtent::Part(_) => {}
        }
    }

    fn see_whole(&mut self, at: &Date) {
        at.clone_into(&mut self.since);
        self.parts.clear();
        self.paged = None;
    }
}

/// A session that will know a page as its own write left it.
#[derive(Debug, Clone)]
pub(crate) struct Knowing {
    pub(crate) session: SessionId,
    /// True if it gave the content in full.
    pub(crate) wrote_whole: bool,
}

impl Knowing {
    /// A session that did not give the content in full.
    pub(crate) fn in_part(session: &SessionId) -> Self {
        Self {
            session: session.clone(),
            wrote_whole: false,
        }
    }
}

/// Pages as sessions last saw them.
#[derive(Debug, Default)]
pub(super) struct Reads {
    all: Mutex<SessionReads>,
}

#[derive(Debug, Default)]
struct SessionReads {
    seen: HashMap<SessionPageKey, PageRead>,
    /// The oldest first.
    order: VecDeque<SessionPageKey>,
    /// The pages that are kept whole, the oldest first.
    texts: BTreeMap<u64, SessionPageKey>,
    bytes: usize,
    count: u64,
}

impl Reads {
    /// A session saw a page.
    pub(super) fn note(&self, session: &SessionId, page: PageReading, sight: ReadExtent) {
        let (Some(id), Some(at)) = (page.id, page.updated_at.clone()) else {
            return;
        };
        self.with(session, id, |all, key| {
            all.entry(key, &at).see(&at, sight);
            let kept = (bytes(&page) <= MAX_BYTES).then(|| Arc::new(page));
            all.put(key, kept);
        });
    }

    /// A session wrote a page, of which it knew the newest state that it saw or wrote all of the
    /// text itself.
    pub(super) fn note_written(&self, session: &SessionId, id: i64, at: &Date, is_whole: bool) {
        self.with(session, id, |all, key| {
            let seen = all.entry(key, at);
            if is_whole {
                seen.see(at, ReadExtent::Whole);
            }
            let before = seen.newest.clone();
            let times = [&mut seen.newest, &mut seen.since].into_iter();
            for time in times.chain(seen.parts.values_mut()) {
                if *time == before {
                    at.clone_into(time);
                }
            }
            all.put(key, None);
        });
    }

    /// The page as this session last saw it.
    pub(super) fn last(&self, session: &SessionId, page: i64) -> Option<PageRead> {
        let all = self.all.lock();
        all.seen.get(&(session.clone(), page)).cloned()
    }

    /// Replaces what a session knows of a page here by what it knew wherever it read it last. A text
    /// that was kept stays if it is the newest.
    pub(super) fn take_over(&self, session: &SessionId, id: i64, read: PageRead) {
        self.with(session, id, |all, key| {
            let here = all.entry(key, &read.newest);
            let is_newest = here.newest == read.newest;
            *here = PageRead {
                page: here.page.take(),
                place: here.place,
                ..read
            };
            if !is_newest {
                all.forget_text(key);
            }
        });
    }

    fn with(
        &self,
        session: &SessionId,
        id: i64,
        act: impl FnOnce(&mut SessionReads, &SessionPageKey),
    ) {
        if session.lasts() {
            let mut all = self.all.lock();
            act(&mut all, &(session.clone(), id));
        }
    }
}

impl SessionReads {
    /// The entry of a page; a new one starts with this state.
    fn entry(&mut self, key: &SessionPageKey, at: &Date) -> &mut PageRead {
        if !self.seen.contains_key(key) {
            if self.order.len() >= MAX_PAGES {
                self.forget_for(key);
            }
            self.order.push_back(key.clone());
        }
        self.seen.entry(key.clone()).or_insert_with(|| PageRead {
            newest: at.clone(),
            since: at.clone(),
            parts: BTreeMap::new(),
            paged: None,
            page: None,
            place: 0,
        })
    }

    /// Evicts a page for another one: the oldest of the heaviest owner.
    fn forget_for(&mut self, key: &SessionPageKey) {
        let held = self.order.iter().map(|(session, _)| (session.owner(), 1));
        if let Some(place) = evict_index(held, (key.0.owner(), 1))
            && let Some(gone) = self.order.remove(place)
        {
            self.forget_text(&gone);
            self.seen.remove(&gone);
        }
    }

    /// Keeps a page whole, in place of its earlier state, and evicts others for it. It is not kept
    /// if this page alone makes its owner the heaviest.
    fn put(&mut self, key: &SessionPageKey, page: Option<Arc<PageReading>>) {
        self.forget_text(key);
        let Some(page) = page else { return };
        let new = bytes(&page);
        while self.bytes + new > MAX_BYTES {
            let Some(gone) = self.text_evict_index((key.0.owner(), new)) else {
                return;
            };
            self.forget_text(&gone);
        }
        self.count += 1;
        self.bytes += new;
        if let Some(seen) = self.seen.get_mut(key) {
            seen.place = self.count;
            seen.page = Some(page);
            self.texts.insert(self.count, key.clone());
        }
    }

    fn text_evict_index(&self, newcomer: (&str, usize)) -> Option<SessionPageKey> {
        let length = |key| self.seen.get(key)?.page.as_deref().map(bytes);
        let texts = self.texts.values();
        let held = texts.map(|key| (key.0.owner(), length(key).unwrap_or(0)));
        let place = evict_index(held, newcomer)?;
        self.texts.values().nth(place).cloned()
    }

    fn forget_text(&mut self, key: &SessionPageKey) {
        if let Some(seen) = self.seen.get_mut(key)
            && let Some(page) = seen.page.take()
        {
            self.texts.remove(&seen.place);
            self.bytes = self.bytes.saturating_sub(bytes(&page));
        }
    }
}

/// About how much memory a page takes.
fn bytes(page: &PageReading) -> usize {
    [&page.content, &page.script_css, &page.script_js]
        .into_iter()
        .flatten()
        .map(String::len)
        .sum::<usize>()
        + 1_024
}

#[cfg(test)]
mod tests {
    use super::{Concerns, MAX_BYTES, MAX_PAGES, ReadExtent, Reads};
    use crate::gates::SessionId;
    use crate::page::testing::But as _;
    use crate::page::{Date, Locale, PagePath, PageReading};

    fn time(text: &str) -> Date {
        Date::from(text.to_owned())
    }

    fn page(id: i64, at: &str) -> PageReading {
        PageReading {
            updated_at: Some(time(at)),
            ..PageReading::bare(
                Some(id),
                Locale::as_stored("en"),
                PagePath::as_stored("p"),
                String::new(),
            )
        }
    }

    #[test]
    fn the_last_read_of_a_session_counts_and_the_oldest_pages_are_forgotten() {
        let reads = Reads::default();
        let (ours, theirs) = (SessionId::new("a"), SessionId::new("b"));
        let last = |session, page| {
            let seen = reads.last(session, page)?;
            Some(seen.known(&Concerns::Whole).clone())
        };
        reads.note(&ours, page(0, "1"), ReadExtent::Whole);
        reads.note(&ours, page(0, "2"), ReadExtent::Whole);
        assert_eq!(last(&ours, 0), Some(time("2")));
        assert_eq!(last(&theirs, 0), None);
        for id in 1..=MAX_PAGES {
            let id = i64::try_from(id).expect("small");
            reads.note(&ours, page(id, "1"), ReadExtent::Whole);
        }
        assert_eq!(last(&ours, 0), None);
        assert_eq!(last(&ours, 1), Some(time("1")));
    }

    #[test]
    fn who_reads_much_makes_nothing_forgotten_that_others_read() {
        let reads = Reads::default();
        let (few, much) = (SessionId::new("a"), SessionId::new("b"));
        reads.note(&few, page(0, "1"), ReadExtent::Whole);
        for id in 0..2 * MAX_PAGES {
            let id = i64::try_from(id).expect("small");
            reads.note(&much, page(id, "1"), ReadExtent::Whole);
        }
        assert!(reads.last(&few, 0).is_some());
        assert!(reads.last(&much, 0).is_none());
    }

    #[test]
    fn who_reads_large_pages_takes_no_text_away_that_others_read() {
        let reads = Reads::default();
        let few = SessionId::new("a/1").owned_by("a");
        let much = ["b/1", "b/2"].map(|name| SessionId::new(name).owned_by("b"));
        let with_text = |id, length| page(id, "1").but(|it| it.content = Some("x".repeat(length)));
        let has_text = |session, id| {
            let seen = reads.last(session, id);
            seen.is_some_and(|seen| seen.page.is_some())
        };
        reads.note(&few, with_text(0, 10), ReadExtent::Whole);
        for (id, session) in (1..).zip(&much) {
            reads.note(session, with_text(id, MAX_BYTES * 3 / 5), ReadExtent::Whole);
        }
        assert!(has_text(&few, 0) && !has_text(&much[0], 1) && has_text(&much[1], 2));
        // A page that leaves no room for others is not kept, and evicts nothing.
        let late = SessionId::new("c");
        reads.note(&late, with_text(3, MAX_BYTES - 2_000), ReadExtent::Whole);
        assert!(has_text(&few, 0) && has_text(&much[1], 2) && !has_text(&late, 3));
    }

    #[test]
    fn the_text_of_a_state_that_another_took_over_leaves_its_room() {
        let reads = Reads::default();
        let session = SessionId::new("a");
        let with_text = |id, length| page(id, "1").but(|it| it.content = Some("x".repeat(length)));
        let seen = |id| reads.last(&session, id).expect("seen");
        let elsewhere = Reads::default();
        elsewhere.note(&session, page(0, "2"), ReadExtent::Whole);
        let newer = elsewhere.last(&session, 0).expect("seen");
        reads.note(&session, with_text(0, MAX_BYTES / 2), ReadExtent::Whole);
        let same = seen(0);
        reads.take_over(&session, 0, same);
        assert!(seen(0).page.is_some());
        reads.take_over(&session, 0, newer);
        assert!(seen(0).page.is_none() && seen(0).knows_of(&time("2")));
        assert_eq!(reads.all.lock().bytes, 0);
        for id in 1..4 {
            reads.note(
                &session,
                with_text(id, MAX_BYTES - 2_000),
                ReadExtent::Whole,
            );
        }
        assert!(seen(3).page.is_some());
    }

    #[test]
    fn who_saw_a_part_knows_that_part_and_no_other() {
        let reads = Reads::default();
        let session = SessionId::new("a");
        let known = |concerns: &Concerns| {
            reads
                .last(&session, 0)
                .expect("seen")
                .known(concerns)
                .clone()
        };
        let part = |name: &str| ReadExtent::Part(name.to_owned());
        reads.note(&session, page(0, "1"), ReadExtent::Whole);
        reads.note(&session, page(0, "2"), part("B"));
        assert_eq!(known(&Concerns::Whole), time("1"));
        assert_eq!(known(&Concerns::Part("A".to_owned())), time("1"));
        assert_eq!(known(&Concerns::Part("B".to_owned())), time("2"));
        assert_eq!(known(&Concerns::Places), time("2"));

        // Its own write of that part does not change what it knows of the others.
        reads.note_written(&session, 0, &time("3"), false);
        assert_eq!(known(&Concerns::Part("B".to_owned())), time("3"));
        assert_eq!(known(&Concerns::Whole), time("1"));
        reads.note_written(&session, 0, &time("4"), true);
        assert_eq!(known(&Concerns::Whole), time("4"));
    }

    #[test]
    fn pieces_that_follow_one_another_are_the_whole() {
        let reads = Reads::default();
        let session = SessionId::new("a");
        let known = || {
            reads
                .last(&session, 0)
                .expect("seen")
                .known(&Concerns::Whole)
                .clone()
        };
        let see = |at, from, to| {
            let sight = ReadExtent::Piece { from, to, of: 30 };
            reads.note(&session, page(0, at), sight);
        };
        see("1", 0, 10);
        see("2", 10, 30);
        assert_eq!(known(), time("1"));
        see("2", 0, 10);
        see("2", 20, 30);
        assert_eq!(known(), time("1"));
        see("2", 10, 20);
        see("2", 20, 30);
        assert_eq!(known(), time("2"));
    }

    #[test]
    fn whole_pages_are_kept_as_far_as_there_is_room_the_newest_first() {
        let reads = Reads::default();
        let session = SessionId::new("a");
        let with_text = |id, length| page(id, "1").but(|it| it.content = Some("x".repeat(length)));
        let has_text = |id| {
            reads
                .last(&session, id)
                .is_some_and(|seen| seen.page.is_some())
        };
        for id in 0..4 {
            reads.note(&session, with_text(id, MAX_BYTES / 3), ReadExtent::Whole);
        }
        assert_eq!([0, 1, 2, 3].map(has_text), [false, false, true, true]);
        reads.note(&session, with_text(3, MAX_BYTES), ReadExtent::Whole);
        assert_eq!([2, 3].map(has_text), [true, false]);
    }
}
