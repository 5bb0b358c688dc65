//! Turns changes made in the folder into changes of the wiki. They go the way of every write.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::base::{Base, FolderScope};
use super::error::TOO_LARGE;
use super::local_changes::{Local, LocalFolder, PulledPage, file_of, has_conflict};
use super::name::decode;
use super::pull::{Pushed, after_push};
use super::remote_changes::RemotePages;
use super::status::scope_of;
use super::text::{Texts, read, written};
use crate::audit::DraftChange;
use crate::error::Failure;
use crate::files::{FilesError, Folder, Pulled, Stage, Strange};
use crate::page::{Locale, NewPath, PagePlace, PageState};
use crate::wiki::Wiki;
use crate::write::unfit_field;

/// The most bytes of a file: Wiki.js takes no more (W19).
const MAX_BYTES: usize = 5_000_000;
/// The fault of a file with marks of a conflict, a pull's or Git's.
const IN_CONFLICT: &str =
    "has marked conflicts; resolve them first, or indent them if they are an example";
/// The most changes of one set.
pub const MAX_CHANGES: usize = 200;

/// The plan of a push.
#[derive(Debug, Default)]
pub struct Ready {
    /// The changes; deletes last.
    pub changes: Vec<DraftChange>,
    /// The faults that prevent the push, each with its file.
    pub faults: Vec<String>,
    /// Pages that were deleted here and stay in the wiki, since deletes were not asked for.
    pub kept: Vec<String>,
    /// Changes that are not pushed for another reason, in words.
    pub notes: Vec<String>,
    /// The files that belong to no page.
    pub strange: Vec<Strange>,
    /// The texts that are pushed, by the names of the files.
    pushed: Pushed,
}

impl Ready {
    /// Collects the changes made in a folder, and checks that the wiki still is as it was pulled.
    ///
    /// # Errors
    /// See [`FilesError`].
    pub async fn prepare(
        wiki: &Wiki,
        folder: &Folder,
        deletes: bool,
        far: impl Fn(Stage, usize, usize),
    ) -> Result<Self, FilesError> {
        let scope = scope_of(wiki, folder)?;
        let here = LocalFolder::with_unfit(folder)?;
        let mut ready = Self::default();
        let unfit = here.unfit.iter().map(ToString::to_string);
        ready.faults.extend(unfit);
        let there = if ready.faults.is_empty() {
            RemotePages::fetch(wiki, folder, &scope, &here, far).await?
        } else {
            // Nothing will be sent; what else is wrong here is found without the wiki.
            RemotePages::default()
        };
        let is_taken = |place: &PagePlace| {
            let mut changed = there.changed.values();
            changed.any(|page| page.place() == *place)
        };
        let standing =
            |place: Option<PagePlace>| place.and_then(|place| standing_at(&here, &place, deletes));
        let lacking = if ready.faults.is_empty() {
            lacking_locales(wiki, &here).await
        } else {
            HashMap::new()
        };
        let lacks = |place: Option<PagePlace>| place.and_then(|(locale, _)| lacking.get(&locale));
        let is_held_by = |stays: &PulledPage| {
            let name = &stays.name;
            format!("it is for the page of {name}, which the wiki has there; move this file")
        };
        for (id, known) in &here.pages {
            let name = known.name_now();
            let is_changed = known.local != Local::Same || known.moves_to().is_some();
            if known.is_in_conflict() {
                ready.fault(name, IN_CONFLICT);
            } else if is_changed && (there.changed.contains_key(id) || there.gone.contains_key(id))
            {
                ready.fault(name, "was changed in the wiki, too; pull first");
            } else if known.moves_to().is_some_and(|place| is_taken(&place)) {
                ready.fault(name, "another page is there in the wiki; move this file");
            } else if let Some(why) = lacks(known.moves_to()) {
                ready.fault(name, why);
            } else if let Some(stays) = standing(known.moves_to()) {
                ready.fault(name, &is_held_by(stays));
            } else if is_changed {
                ready.known(folder, &scope, *id, known, deletes)?;
            }
        }
        for (name, texts) in &here.new {
            if has_conflict(texts) {
                ready.fault(name, IN_CONFLICT);
            } else if decode(name).is_some_and(|place| is_taken(&place)) {
                ready.fault(name, "was made in the wiki, too; pull first");
            } else if let Some(why) = lacks(decode(name)) {
                ready.fault(name, why);
            } else {
                match standing(decode(name)) {
                    Some(stays) => ready.fault(name, &is_held_by(stays)),
                    None => ready.made_here(&scope, name, texts),
                }
            }
        }
        if deletes {
            for (name, Strange { file, why }) in here.lost_files(folder)? {
                let fault = format!(
                    "it would be deleted, but {file} may be its file, and {why}; rename or remove that file"
                );
                ready.fault(name, &fault);
            }
        }
        ready.strange = here.strange;
        // Deletes need not come first to free their paths: the set sees to that.
        ready.changes.sort_by_key(|change| change.after.is_none());
        Ok(ready)
    }

    fn fault(&mut self, name: &str, what: &str) {
        self.faults.push(format!("{name}: {what}"));
    }

    fn known(
        &mut self,
        folder: &Folder,
        scope: &FolderScope,
        id: i64,
        known: &PulledPage,
        deletes: bool,
    ) -> Result<(), FilesError> {
        let name = known.name_now();
        if !known.place.1.can_be_made() {
            self.notes.push(format!(
                "{name}: Wiki.js makes no page at this path, so this one could not come back; it is not pushed"
            ));
            return Ok(());
        }
        let base = Base::read(folder, id)?.page;
        let texts = match &known.local {
            Local::Gone if !deletes => {
                self.kept.push(name.to_owned());
                return Ok(());
            }
            Local::Gone => {
                self.changes.push(change(Some(base), None, false));
                return Ok(());
            }
            Local::Changed(texts) => texts.clone(),
            // What a killed pull left differs in the wiki, so it does not come here.
            Local::Same | Local::Left => written(&base),
        };
        let moves_to = known.moves_to();
        let place = moves_to.clone().unwrap_or_else(|| known.place.clone());
        if moves_to.is_some() && !self.is_place(scope, name, &place) {
            return Ok(());
        }
        if let Some(after) = self.page_of(name, &texts, &place, Some(&base)) {
            self.changes
                .push(change(Some(base), Some(after), moves_to.is_some()));
            self.pushed.insert(name.to_owned(), texts);
        }
        Ok(())
    }

    fn made_here(&mut self, scope: &FolderScope, name: &str, texts: &Texts) {
        let Some(place) = decode(name) else { return };
        if self.is_place(scope, name, &place)
            && let Some(after) = self.page_of(name, texts, &place, None)
        {
            self.changes.push(change(None, Some(after), false));
            self.pushed.insert(name.to_owned(), texts.clone());
        }
    }

    /// True if a page may be made at a place or moved there; notes a fault if not.
    fn is_place(&mut self, scope: &FolderScope, name: &str, place: &PagePlace) -> bool {
        if let Err(why) = NewPath::parse(place.1.as_str()) {
            self.fault(name, &format!("its path {why}"));
            return false;
        }
        if !scope.has(&place.1) {
            let path = scope.path.as_ref().map(ToString::to_string);
            let within = path.unwrap_or_default();
            self.fault(
                name,
                &format!("it lies outside of {within}, which this folder has"),
            );
            return false;
        }
        true
    }

    fn page_of(
        &mut self,
        name: &str,
        texts: &Texts,
        place: &PagePlace,
        base: Option<&PageState>,
    ) -> Option<PageState> {
        let is_too_large = |text: &&String| text.len() > MAX_BYTES;
        if let Some((part, _)) = texts.iter().find(|(_, text)| is_too_large(text)) {
            self.fault(&file_of(name, *part), TOO_LARGE);
            return None;
        }
        match read(texts, place, base) {
            Ok(page) => match unfit_field(base, &page) {
                None => Some(page),
                Some((field, fault)) => {
                    self.fault(name, &format!("its {field} {fault}"));
                    None
                }
            },
            Err(fault) => {
                let file = file_of(name, fault.part);
                self.faults
                    .push(format!("{file}:{}: {}", fault.line, fault.message));
                None
            }
        }
    }
}

/// The locales of new places that the wiki has not, each with what to say of it: the name of any directory
/// may have the form of a locale.
async fn lacking_locales(wiki: &Wiki, here: &LocalFolder) -> HashMap<Locale, String> {
    let new = here.new.keys().filter_map(|name| decode(name));
    let moved = here.pages.values().filter_map(PulledPage::moves_to);
    let locales: BTreeSet<Locale> = new.chain(moved).map(|(locale, _)| locale).collect();
    let mut lacking = HashMap::new();
    for locale in locales {
        if let Some(unknown) = wiki.unknown_locale(&locale).await {
            let why = Failure::from(unknown).message;
            lacking.insert(
                locale,
                format!("{why} Move the file to where a page can be"),
            );
        }
    }
    lacking
}

/// The pulled page that stays at a place. Its files may have another name, as where names differ only
/// in letter case.
fn standing_at<'a>(
    here: &'a LocalFolder,
    place: &PagePlace,
    deletes: bool,
) -> Option<&'a PulledPage> {
    here.pages.values().find(|known| {
        let leaves = known.moves_to().is_some() || (deletes && known.local == Local::Gone);
        known.place == *place && !leaves
    })
}

fn change(before: Option<PageState>, after: Option<PageState>, moves: bool) -> DraftChange {
    DraftChange {
        before,
        after,
        lost: Vec::new(),
        updates_links: moves,
        part_of: None,
        warnings: Vec::new(),
        shown: Vec::new(),
    }
}

/// Records in the folder that these changes are in the wiki, then pulls what the wiki made of them.
///
/// # Errors
/// See [`FilesError`]. The changes are in the wiki; the next pull continues.
pub async fn settled(
    wiki: &Wiki,
    folder: &Folder,
    ready: &Ready,
    applied: &[DraftChange],
    far: impl Fn(Stage, usize, usize),
) -> Result<Pulled, FilesError> {
    let scope = scope_of(wiki, folder)?;
    let names: Vec<(i64, String)> = LocalFolder::scan(folder)?
        .pages
        .iter()
        .map(|(id, known)| (*id, known.name_now().to_owned()))
        .collect();
    for change in applied {
        let Some(id) = change.page() else { continue };
        let name = names.iter().find(|(own, _)| *own == id);
        match (&change.after, name) {
            (None, _) => Base::forget(folder, id)?,
            (Some(after), Some((_, name))) => {
                let page = PageState {
                    updated_at: None,
                    ..after.clone()
                };
                Base::new(name.clone(), page).keep(folder)?;
            }
            (Some(_), None) => {}
        }
    }
    let ids: HashSet<i64> = applied.iter().filter_map(DraftChange::page).collect();
    let own = names.iter().filter(|(id, _)| ids.contains(id));
    let own: HashSet<&str> = own.map(|(_, name)| name.as_str()).collect();
    let made = applied.iter().filter(|change| change.page().is_none());
    let made: HashSet<PagePlace> = made.filter_map(DraftChange::place).collect();
    let of_applied =
        |name: &str| own.contains(name) || decode(name).is_some_and(|place| made.contains(&place));
    // The edits of another set, whose pages the wiki may have changed for this one, are still to
    // be pushed.
    let pushed = ready.pushed.iter().filter(|(name, _)| of_applied(name));
    let pushed: Pushed = pushed
        .map(|(name, texts)| (name.clone(), texts.clone()))
        .collect();
    after_push(wiki, folder, &scope, &pushed, far).await
}
