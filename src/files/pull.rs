//! Brings changes of the wiki into the folder. Changes made here stay: if both sides changed a
//! page, the changes are merged, and overlaps are marked as Git marks them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::base::{Base, FolderScope};
use super::init::begin;
use super::local_changes::{Local, LocalFolder, PulledPage, is_as_seen, put, remove};
use super::name::{decode, encode};
use super::remote_changes::RemotePages;
use super::status::scope_of;
use super::text::{PageFileKind, Texts, read, written};
use crate::change::merge_marked;
use crate::error::Failure;
use crate::files::{FilesError, Folder, Stage, Strange, UnreadablePage};
use crate::page::{LinkedSite, Moves, PagePath, PagePlace, PageState, mend_links};
use crate::wiki::Wiki;

const OURS: &str = "here";
const THEIRS: &str = "wiki";

/// The result of a pull.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pulled {
    /// Pages that are new here.
    pub new: Vec<String>,
    /// Pages that were changed.
    pub changed: Vec<String>,
    /// Pages that moved: from, to.
    pub moved: Vec<MovedPage>,
    /// Pages that are gone from the wiki and were removed here.
    pub removed: Vec<String>,
    /// Pages that changed on both sides and were merged.
    pub merged: Vec<String>,
    /// Pages with marked conflicts.
    pub conflicts: Vec<String>,
    /// Notes about what the pull could not simply apply.
    pub notes: Vec<String>,
    /// Files that belong to no page.
    #[serde(rename = "notPages")]
    pub strange: Vec<Strange>,
    /// Pages that this key cannot read whole.
    #[serde(rename = "unreadable")]
    pub unread: Vec<UnreadablePage>,
}

/// A page whose files moved, by their names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct MovedPage {
    /// The old name.
    pub from: String,
    /// The new name.
    pub to: String,
}

impl Pulled {
    fn sort(&mut self) {
        let pages = [&mut self.new, &mut self.changed, &mut self.removed];
        let more = [&mut self.merged, &mut self.conflicts, &mut self.notes];
        pages
            .into_iter()
            .chain(more)
            .for_each(|list| list.sort_unstable());
        self.moved.sort_unstable();
    }

    /// True if nothing was to be brought.
    pub fn is_nothing(&self) -> bool {
        let beside = Self {
            strange: self.strange.clone(),
            unread: self.unread.clone(),
            ..Self::default()
        };
        *self == beside
    }
}

/// The texts just pushed, by the names of the files. If the wiki stores a text in another form, the
/// wiki's form wins.
pub(super) type Pushed = BTreeMap<String, Texts>;

/// Brings changes of the wiki into the folder. An empty folder gets all pages at and below a path.
///
/// # Errors
/// See [`FilesError`]. The pages brought until then are whole, and the next pull continues.
pub async fn pull(
    wiki: &Wiki,
    folder: &Folder,
    path: Option<&PagePath>,
    far: impl Fn(Stage, usize, usize),
) -> Result<Pulled, FilesError> {
    let scope = match FolderScope::read(folder)? {
        Some(_) => {
            let scope = scope_of(wiki, folder)?;
            if path.is_some_and(|path| scope.path.as_ref() != Some(path)) {
                return Err(FilesError::OtherPart {
                    folder: scope.path.map(|path| path.to_string()),
                });
            }
            scope
        }
        None => begin(wiki, folder, path)?,
    };
    after_push(wiki, folder, &scope, &Pushed::new(), far).await
}

/// Like [`pull`], but after a push.
pub(super) async fn after_push(
    wiki: &Wiki,
    folder: &Folder,
    scope: &FolderScope,
    pushed: &Pushed,
    far: impl Fn(Stage, usize, usize),
) -> Result<Pulled, FilesError> {
    let here = LocalFolder::scan(folder)?;
    let there = RemotePages::fetch(wiki, folder, scope, &here, &far).await?;
    let moved = here.pages.values().filter_map(|known| {
        let places = (known.place.clone(), known.moves_to()?);
        Some((known.name_now().to_owned(), places))
    });
    let (standing, places): (BTreeSet<_>, Vec<_>) = moved.unzip();
    let mending = if places.is_empty() || there.changed.is_empty() {
        None
    } else {
        let site = wiki.linked_site().await.map_err(Failure::from)?;
        Some((places.into_iter().collect(), site))
    };
    let mut pull = Pull {
        folder,
        pushed,
        mending,
        here,
        waiting: BTreeSet::new(),
        left: BTreeMap::new(),
        standing,
        done: Pulled::default(),
    };
    pull.note_moves()?;
    let all = there.touched.len() + there.gone.len() + there.changed.len();
    let mut numbers = 1..;
    let mut is_written = || far(Stage::Written, numbers.next().unwrap_or(all), all);
    for (id, page) in there.touched {
        let done = pull.touched(id, page);
        pull.goes_on(done)?;
        is_written();
    }
    // Files are removed first, to make room for those that are added.
    for (id, outside) in there.gone {
        let done = pull.gone(id, outside);
        pull.goes_on(done)?;
        is_written();
    }
    pull.find_waiting(&there.changed)?;
    let stuck = pull.leave()?;
    for (id, page) in there.changed {
        if !stuck.contains(&id) {
            let done = pull.page(id, page);
            pull.goes_on(done)?;
        }
        is_written();
    }
    pull.done.sort();
    let strange = std::mem::take(&mut pull.here.strange);
    Ok(Pulled {
        unread: there.unread,
        strange,
        ..pull.done
    })
}

struct Pull<'a> {
    folder: &'a Folder,
    pushed: &'a Pushed,
    /// The moves made here, with which a push mends links.
    mending: Option<(Moves, LinkedSite)>,
    here: LocalFolder,
    /// The names of pages that the wiki moved and that stay where they are for now.
    waiting: BTreeSet<String>,
    /// The pages that the wiki moved and nobody edited, with their new names. Their files are removed
    /// first, so that another page may come to their place.
    left: BTreeMap<i64, String>,
    /// The names of files that stand where the wiki has not their pages: they were renamed here, or wait.
    standing: BTreeSet<String>,
    done: Pulled,
}

impl Pull<'_> {
    /// Notes what is in the way of a page's files, so that the pull goes on with the others.
    fn goes_on(&mut self, done: Result<(), FilesError>) -> Result<(), FilesError> {
        match done {
            Err(fault) if fault.is_in_the_way() => {
                let note =
                    format!("{fault}; this page was not brought: make room, then pull again");
                self.done.notes.push(note);
                Ok(())
            }
            done => done,
        }
    }

    /// Records where the files of moved pages are, so that neither a later edit nor another page at
    /// their old name hides the move.
    fn note_moves(&mut self) -> Result<(), FilesError> {
        let mut renamed = self.names_of_gone();
        for (id, known) in &self.here.pages {
            if known.name_now() != known.name {
                renamed.insert(*id, known.name_now().to_owned());
            }
        }
        for (id, name) in renamed {
            let base = Base::read(self.folder, id)?;
            if let Some(known) = self.here.pages.get_mut(&id)
                && known.local == Local::Gone
            {
                known.name.clone_from(&name);
            }
            Base { name, ..base }.keep(self.folder)?;
        }
        Ok(())
    }

    /// The pages that were moved here and then deleted, with the names of their places in the wiki:
    /// another page may come to where they were moved.
    fn names_of_gone(&mut self) -> BTreeMap<i64, String> {
        let is_away = |known: &PulledPage| {
            known.local == Local::Gone && decode(&known.name).as_ref() != Some(&known.place)
        };
        let away = self.here.pages.iter().filter(|(_, known)| is_away(known));
        let away: Vec<(i64, PagePlace)> =
            away.map(|(id, known)| (*id, known.place.clone())).collect();
        let mut names = BTreeMap::new();
        for (id, place) in away {
            let name = self.here.names.give(&place);
            let is_taken = self.here.pages.values().any(|known| known.name == name);
            if !is_taken && is_as_seen(self.folder, &name, &Texts::new()) {
                names.insert(id, name);
            }
        }
        names
    }

    /// A page that the wiki has as it was pulled. Files that say the same in other words, such as
    /// tags in another order, get the wiki's.
    fn touched(&mut self, id: i64, page: PageState) -> Result<(), FilesError> {
        let base = Base::read(self.folder, id)?;
        let local = self.here.pages.get(&id).map(|known| &known.local);
        let is_respelled = matches!(local, Some(Local::Changed(texts)) if self.is_said(texts, &page, Some(&base.page)));
        if is_respelled {
            return self.page(id, page);
        }
        let is_left = false;
        let base = Base {
            is_left,
            page,
            ..base
        };
        base.keep(self.folder)
    }

    /// A page that is gone from the wiki, or moved to a place that the folder has not.
    fn gone(&mut self, id: i64, outside: Option<PagePlace>) -> Result<(), FilesError> {
        let Some(known) = self.here.pages.remove(&id) else {
            return Ok(());
        };
        if !self.is_still(id, &known)? {
            return Ok(());
        }
        let moved = known.moves_to().is_some();
        let is_rest = self.is_rest(id, &known)?;
        match &known.local {
            Local::Gone | Local::Left => {}
            Local::Same | Local::Changed(_)
                if !moved && (known.local == Local::Same || is_rest) =>
            {
                remove(self.folder, &known.name)?;
                self.done.removed.push(known.name);
            }
            Local::Same | Local::Changed(_) => {
                let name = known.name_now().to_owned();
                let went = outside.map_or("deleted in the wiki,".to_owned(), |place| {
                    let place = encode(&place);
                    format!("moved in the wiki to {place}, which this folder has not, and")
                });
                self.done.notes.push(format!(
                    "{name}: {went} changed here; the file stays, as a new page"
                ));
                let texts = match known.local {
                    Local::Changed(texts) => texts,
                    Local::Same | Local::Gone | Local::Left => {
                        written(&Base::read(self.folder, id)?.page)
                    }
                };
                self.standing.remove(&name);
                self.here.new.insert(name, texts);
            }
        }
        Base::forget(self.folder, id)
    }

    /// True if a page's files are what a pull left that was killed while it removed them: nothing in
    /// them is new.
    fn is_rest(&self, id: i64, known: &PulledPage) -> Result<bool, FilesError> {
        let Local::Changed(texts) = &known.local else {
            return Ok(false);
        };
        if known.is_renamed() {
            return Ok(false);
        }
        let was = written(&Base::read(self.folder, id)?.page);
        Ok(texts.iter().all(|(part, text)| was.get(part) == Some(text)))
    }

    /// Handles a page that is new or changed in the wiki.
    fn page(&mut self, id: i64, page: PageState) -> Result<(), FilesError> {
        let place = page.place();
        let known = self.here.pages.remove(&id);
        let Some(known) = known.filter(|known| known.local != Local::Left) else {
            return self.come(page, &encode(&place));
        };
        if !self.left.contains_key(&id) && !self.is_still(id, &known)? {
            return Ok(());
        }
        let now = known.name_now().to_owned();
        let moves = known.moves_to().is_some();
        let name = if moves || known.place == place {
            now.clone()
        } else {
            self.here.names.give(&place)
        };
        if self.waiting.contains(&now) {
            self.done.notes.push(format!(
                "{now}: moved in the wiki to {name}, where another file is new or edited here; move that file, or pull again"
            ));
            return Ok(());
        }
        if moves && known.place != place && known.moves_to().as_ref() != Some(&place) {
            let theirs = encode(&place);
            self.done.notes.push(format!(
                "{now}: moved here, and in the wiki to {theirs}; it stays where it is here"
            ));
        }
        match &known.local {
            Local::Same | Local::Left => self.take(&known, &name, page),
            Local::Gone => {
                self.done.notes.push(format!(
                    "{name}: deleted here, changed in the wiki; it is back"
                ));
                put(self.folder, None, &name, &written(&page))?;
                Base::new(name, page).keep(self.folder)
            }
            Local::Changed(texts) => {
                let base = Base::read(self.folder, id)?.page;
                let has_source = |texts: &Texts| {
                    let mut parts = texts.keys();
                    parts.any(|part| matches!(part, PageFileKind::Source(_)))
                };
                if !has_source(texts) && self.is_rest(id, &known)? {
                    return self.take(&known, &name, page);
                }
                // A set may have been applied without this folder's knowledge: then the files say
                // what is in the wiki, perhaps in another form.
                if self.pushed.get(&now) == Some(texts) || self.is_said(texts, &page, Some(&base)) {
                    return self.take(&known, &name, page);
                }
                if known.is_in_conflict() {
                    self.done.notes.push(format!(
                        "{now}: changed in the wiki again; resolve the marked conflicts, then pull"
                    ));
                    self.done.conflicts.push(now);
                    return Ok(());
                }
                let merged = merged(&written(&base), texts, &written(&page));
                self.put_merged(&now, &name, merged, page)
            }
        }
    }

    /// Finds the pages that the wiki moved to where work of this folder stands, and those that they keep
    /// from their places. The others that nobody edited leave theirs.
    fn find_waiting(&mut self, changed: &BTreeMap<i64, PageState>) -> Result<(), FilesError> {
        let mut moving = Vec::new();
        let mut leaving = BTreeMap::new();
        for (id, page) in changed {
            let Some((now, name)) = self.moves_there(*id, page) else {
                continue;
            };
            let seen = match self.here.pages.get(id).map(|known| &known.local) {
                Some(Local::Same) => Some(written(&Base::read(self.folder, *id)?.page)),
                Some(Local::Gone) => Some(Texts::new()),
                Some(Local::Changed(_) | Local::Left) | None => None,
            };
            if seen.is_some_and(|seen| is_as_seen(self.folder, &now, &seen)) {
                leaving.insert(now.clone(), (*id, name.clone()));
            }
            let is_empty = is_as_seen(self.folder, &name, &Texts::new());
            moving.push((now, name, is_empty));
        }
        let mut before = None;
        while before != Some(self.waiting.len()) {
            before = Some(self.waiting.len());
            for (now, name, is_empty) in &moving {
                let is_free = *is_empty && !self.waiting.contains(name);
                if !is_free && !leaving.contains_key(name) {
                    self.waiting.insert(now.clone());
                    leaving.remove(now);
                }
            }
        }
        self.left.extend(leaving.into_values());
        self.standing.extend(self.waiting.iter().cloned());
        Ok(())
    }

    /// The present name and the new one of a page that the wiki moved, unless it was moved here.
    fn moves_there(&mut self, id: i64, page: &PageState) -> Option<(String, String)> {
        let place = page.place();
        let known = self.here.pages.get(&id)?;
        let is_moved = known.moves_to().is_none() && known.place != place;
        let now = is_moved.then(|| known.name_now().to_owned())?;
        let name = self.here.names.give(&place);
        (name != now).then_some((now, name))
    }

    /// Makes room, and gives the pages whose files cannot be removed. If the pull is killed, the next one
    /// brings the files back from the wiki: none stand at the new names yet, which could be taken for those
    /// of another page.
    fn leave(&mut self) -> Result<BTreeSet<i64>, FilesError> {
        let mut there = Vec::new();
        for id in self.left.keys() {
            let known = self.here.pages.get(id);
            let known = known.filter(|known| known.local == Local::Same);
            let is_left = known.is_some();
            there.extend(known.map(|known| (*id, known.name_now().to_owned())));
            let base = Base::read(self.folder, *id)?;
            Base { is_left, ..base }.keep(self.folder)?;
        }
        let mut stuck = BTreeSet::new();
        for (id, name) in there {
            let gone = remove(self.folder, &name);
            if gone.is_err() {
                self.left.remove(&id);
                stuck.insert(id);
                let base = Base::read(self.folder, id)?;
                // Files that all stay are the page's, whatever is written into them before the next pull.
                let is_left = !is_as_seen(self.folder, &name, &written(&base.page));
                Base { is_left, ..base }.keep(self.folder)?;
            }
            self.goes_on(gone)?;
        }
        for (id, name) in &self.left {
            let base = Base::read(self.folder, *id)?;
            let name = name.clone();
            Base { name, ..base }.keep(self.folder)?;
        }
        Ok(stuck)
    }

    /// Takes over a page that was not changed here.
    fn take(&mut self, known: &PulledPage, name: &str, page: PageState) -> Result<(), FilesError> {
        let old = known.name_now();
        // What left its place may be followed there by another page.
        let has_left = page.id.is_some_and(|id| self.left.contains_key(&id));
        let files = (!has_left).then_some(old);
        put(self.folder, files, name, &written(&page))?;
        if old == name {
            self.done.changed.push(name.to_owned());
        } else {
            let (from, to) = (old.to_owned(), name.to_owned());
            self.done.moved.push(MovedPage { from, to });
        }
        Base::new(name.to_owned(), page).keep(self.folder)
    }

    /// True if nobody edited a page's files since they were looked at; else a note says so and the
    /// next pull takes them.
    fn is_still(&mut self, id: i64, known: &PulledPage) -> Result<bool, FilesError> {
        let seen = match &known.local {
            Local::Same => written(&Base::read(self.folder, id)?.page),
            Local::Changed(texts) => texts.clone(),
            Local::Gone | Local::Left => Texts::new(),
        };
        Ok(self.is_untouched(known.name_now(), &seen))
    }

    fn is_untouched(&mut self, name: &str, seen: &Texts) -> bool {
        let is_untouched = is_as_seen(self.folder, name, seen);
        if !is_untouched {
            self.done
                .notes
                .push(format!("{name}: edited while this pull read; pull again"));
        }
        is_untouched
    }

    /// A page that was not pulled before.
    fn come(&mut self, page: PageState, plain: &str) -> Result<(), FilesError> {
        let theirs = written(&page);
        let place = page.place();
        let name = if self.here.new.contains_key(plain) {
            plain.to_owned()
        } else {
            self.here.names.give(&place)
        };
        let ours = self.here.new.remove(&name);
        if self.standing.contains(&name) {
            self.done.notes.push(format!(
                "{name}: new in the wiki, where the file of another page stands; move that file, then pull"
            ));
            return Ok(());
        }
        if !self.is_untouched(&name, ours.as_ref().unwrap_or(&Texts::new())) {
            return Ok(());
        }
        if let Some(ours) = ours {
            let is_same = ours == theirs
                || self.pushed.get(&name) == Some(&ours)
                || self.is_said(&ours, &page, None);
            if !is_same {
                let merged = merged(&Texts::new(), &ours, &theirs);
                return self.put_merged(&name, &name, merged, page);
            }
            put(self.folder, Some(&name), &name, &theirs)?;
            return Base::new(name, page).keep(self.folder);
        }
        put(self.folder, None, &name, &theirs)?;
        self.done.new.push(name.clone());
        Base::new(name, page).keep(self.folder)
    }

    /// True if the texts mean this page, as they are or with the links that a push of the moves mends.
    fn is_said(&self, texts: &Texts, page: &PageState, base: Option<&PageState>) -> bool {
        let Ok(mut own) = read(texts, &page.place(), base) else {
            return false;
        };
        let is_it = own.difference(page).is_empty();
        let Some((moves, site)) = self.mending.as_ref().filter(|_| !is_it) else {
            return is_it;
        };
        let place = base.unwrap_or(page).place();
        own.content = mend_links(&own.content, own.format(), &place, moves, site).text;
        own.difference(page).is_empty()
    }

    /// Writes what came of a merge, and notes if conflicts are marked in it.
    fn put_merged(
        &mut self,
        old: &str,
        name: &str,
        (texts, conflicts): (Texts, usize),
        page: PageState,
    ) -> Result<(), FilesError> {
        put(self.folder, Some(old), name, &texts)?;
        let is_marked = conflicts > 0;
        let sources = texts.keys();
        let sources = sources.filter(|part| matches!(part, PageFileKind::Source(_)));
        let has_two = sources.count() > 1;
        if has_two {
            self.done.notes.push(format!(
                "{name}: it has another editor in the wiki now, and your text is beside the wiki's: keep one of the two files"
            ));
        }
        let list = if is_marked || has_two {
            &mut self.done.conflicts
        } else {
            &mut self.done.merged
        };
        list.push(name.to_owned());
        let base = Base::new(name.to_owned(), page);
        Base { is_marked, ..base }.keep(self.folder)
    }
}

/// The texts of both sides' changes, and how many conflicts are marked in them. A file that one
/// side removed goes only if the other left it alone.
fn merged(base: &Texts, ours: &Texts, theirs: &Texts) -> (Texts, usize) {
    let parts: BTreeSet<PageFileKind> = ours.keys().chain(theirs.keys()).copied().collect();
    let (mut texts, mut conflicts) = (Texts::new(), 0);
    for part in parts {
        let was = base.get(&part);
        let text = match (ours.get(&part), theirs.get(&part)) {
            (Some(own), Some(their)) => {
                let was = was.map_or("", String::as_str);
                let merged = merge_marked(was, (OURS, own), (THEIRS, their));
                conflicts += merged.conflicts;
                Some(merged.text)
            }
            (Some(only), None) | (None, Some(only)) => (was != Some(only)).then(|| only.clone()),
            (None, None) => None,
        };
        if let Some(text) = text {
            texts.insert(part, text);
        }
    }
    (texts, conflicts)
}
