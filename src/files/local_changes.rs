//! Compares the folder with the pulled pages: what was changed, made, moved and deleted here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use super::base::Base;
use super::folder::EntryKind;
use super::moved::{RemovedFiles, moved};
use super::name::{Names, decode, folded};
use super::text::{PageFileKind, Texts, written};
use crate::files::{FilesError, Folder};
use crate::page::{Date, Locale, PagePlace, SourceFormat};

/// The most bytes of a file that is read. Wiki.js takes less, but may have larger pages.
const MAX_BYTES: u64 = 40_000_000;

/// The folder as it is.
#[derive(Debug, Default)]
pub(super) struct LocalFolder {
    /// The pages that were pulled, by their ids.
    pub(super) pages: BTreeMap<i64, PulledPage>,
    /// Files of pages that were not pulled, by their names.
    pub(super) new: BTreeMap<String, Texts>,
    /// The files that belong to no page, and why.
    pub(super) strange: Vec<Strange>,
    /// The faults of files that cannot be used. Their pages are in no list.
    pub(super) unfit: Vec<FilesError>,
    /// All names that are taken.
    pub(super) names: Names,
}

/// A page that was pulled.
#[derive(Debug)]
pub(super) struct PulledPage {
    /// The name of its files at the last pull.
    pub(super) name: String,
    /// The place of the page in the wiki at that pull.
    pub(super) place: PagePlace,
    pub(super) updated_at: Option<Date>,
    pub(super) tags: Vec<String>,
    /// True if conflicts were marked in its files, by a pull or by a merge of Git's; the marks may still be there.
    is_marked: bool,
    /// The new name of its files, if they were moved since that pull.
    renamed: Option<String>,
    pub(super) local: Local,
}

/// The state of a page's files in the folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Local {
    Same,
    Changed(Texts),
    Gone,
    /// A pull removed the files, and was killed before it wrote them where the wiki had moved the page.
    Left,
}

/// A file that belongs to no page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Strange {
    /// Its name.
    pub file: String,
    /// The reason why it belongs to no page.
    pub why: &'static str,
}

impl LocalFolder {
    /// Looks through a folder of which every file can be used.
    pub(super) fn scan(folder: &Folder) -> Result<Self, FilesError> {
        let mut here = Self::with_unfit(folder)?;
        FilesError::all(std::mem::take(&mut here.unfit))?;
        Ok(here)
    }

    /// Looks through a folder, and notes the files that cannot be used.
    pub(super) fn with_unfit(folder: &Folder) -> Result<Self, FilesError> {
        let mut here = Self::default();
        let mut files = here.files(folder)?;
        for id in Base::ids(folder)? {
            let base = match Base::read(folder, id) {
                Ok(base) => base,
                Err(fault) => {
                    here.unfit.push(fault);
                    continue;
                }
            };
            here.names.keep(&base.name);
            let mut is_marked = base.is_marked;
            let local = match files.remove(&base.name) {
                None if base.is_left => Local::Left,
                None => Local::Gone,
                Some(parts) => {
                    let Some(texts) = here.texts(folder, &base.name, &parts) else {
                        continue;
                    };
                    let was = written(&base.page);
                    let local = Local::of(texts, &was);
                    is_marked |= local.has_new_conflict(&was);
                    if base.is_left && local != Local::Same {
                        // They are another page's, which came there since, or a new one's.
                        files.insert(base.name.clone(), parts);
                        Local::Left
                    } else {
                        local
                    }
                }
            };
            let known = PulledPage {
                place: base.page.place(),
                updated_at: base.page.updated_at.clone(),
                tags: base.page.tags,
                name: base.name,
                is_marked,
                renamed: None,
                local,
            };
            here.pages.insert(id, known);
        }
        for (name, parts) in files {
            here.names.keep(&name);
            if let Some(texts) = here.texts(folder, &name, &parts) {
                here.new.insert(name, texts);
            }
        }
        here.find_moved(folder)?;
        Ok(here)
    }

    /// The pages whose files are gone, each with a file that may be one of them and belongs to no page: it is in
    /// the way of theirs, or was renamed so that no page has its name.
    pub(super) fn lost_files(&self, folder: &Folder) -> Result<Vec<(&str, &Strange)>, FilesError> {
        let gone = self.gone(folder)?;
        if gone.is_empty() {
            return Ok(Vec::new());
        }
        let texts = self.strange.iter().filter_map(|one| {
            let bytes = folder.read(&one.file, MAX_BYTES).ok()??;
            let part = PageFileKind::Source(SourceFormat::Markdown);
            let text = String::from_utf8(bytes).ok()?;
            Some((one.file.clone(), Texts::from([(part, text)])))
        });
        let renamed = moved(&gone, &texts.collect());
        let lost = gone.iter().filter_map(|page| {
            let known = self.pages.get(&page.id)?;
            let is_it = |one: &&Strange| {
                let mut files = page.texts.keys().map(|part| file_of(&page.name, *part));
                files.any(|file| {
                    let (file, other) = (Path::new(&file), Path::new(&one.file));
                    file.starts_with(other) || other.starts_with(file)
                }) || renamed.contains(&(page.id, one.file.clone()))
            };
            Some((known.name_now(), self.strange.iter().find(is_it)?))
        });
        Ok(lost.collect())
    }

    /// The pages whose files are gone.
    fn gone(&self, folder: &Folder) -> Result<Vec<RemovedFiles>, FilesError> {
        let gone = self
            .pages
            .iter()
            .filter(|(_, known)| known.local == Local::Gone);
        let read = gone.map(|(id, _)| {
            let base = Base::read(folder, *id)?;
            Ok(RemovedFiles {
                id: *id,
                name: base.name,
                texts: written(&base.page),
            })
        });
        read.collect()
    }

    fn texts(
        &mut self,
        folder: &Folder,
        name: &str,
        parts: &BTreeSet<PageFileKind>,
    ) -> Option<Texts> {
        let texts = texts_of(folder, name, parts);
        texts.map_err(|fault| self.unfit.push(fault)).ok()
    }

    /// Every page's files by their name.
    fn files(
        &mut self,
        folder: &Folder,
    ) -> Result<BTreeMap<String, BTreeSet<PageFileKind>>, FilesError> {
        let mut files: BTreeMap<String, BTreeSet<PageFileKind>> = BTreeMap::new();
        let tops = folder.names().map_err(FilesError::for_file("."))?;
        // Outside of the locales' directories, a folder may hold whatever its owner likes.
        let locales = tops.into_iter().filter(|top| Locale::parse(top).is_ok());
        for top in locales {
            for (file, kind) in folder
                .files_below(&top)
                .map_err(FilesError::for_file(&top))?
            {
                let mut strange = |why| {
                    let file = file.clone();
                    self.strange.push(Strange { file, why });
                };
                if kind != EntryKind::File {
                    strange("it is a link or no plain file");
                    continue;
                }
                let named = file.rsplit_once('.');
                let part = named
                    .and_then(|(name, ending)| Some((name, PageFileKind::from_ending(ending)?)));
                match part {
                    Some((name, part)) if decode(name).is_some() => {
                        files.entry(name.to_owned()).or_default().insert(part);
                    }
                    Some(_) => strange("no page's file has such a name"),
                    None => strange("its ending is none of a page's files"),
                }
            }
        }
        Ok(files)
    }

    /// Takes new files for those of pages that moved.
    fn find_moved(&mut self, folder: &Folder) -> Result<(), FilesError> {
        if self.new.is_empty() {
            return Ok(());
        }
        let (gone, nothing) = (self.gone(folder)?, Texts::new());
        for (id, name) in moved(&gone, &self.new) {
            let (Some(texts), Some(known)) = (self.new.remove(&name), self.pages.get_mut(&id))
            else {
                continue;
            };
            let was = gone.iter().find(|page| page.id == id);
            let was = was.map_or(&nothing, |page| &page.texts);
            known.local = Local::of(texts, was);
            known.is_marked |= known.local.has_new_conflict(was);
            known.renamed = Some(name);
        }
        Ok(())
    }
}

fn texts_of(
    folder: &Folder,
    name: &str,
    parts: &BTreeSet<PageFileKind>,
) -> Result<Texts, FilesError> {
    let mut texts = Texts::new();
    for part in parts {
        let file = file_of(name, *part);
        let Some(bytes) = folder
            .read(&file, MAX_BYTES)
            .map_err(FilesError::for_file(&file))?
        else {
            continue;
        };
        let text = String::from_utf8(bytes).map_err(|_| FilesError::Io {
            name: file,
            error: std::io::Error::other("it is not UTF-8"),
        })?;
        texts.insert(*part, text);
    }
    Ok(texts)
}

/// The file of a page's part.
pub(super) fn file_of(name: &str, part: PageFileKind) -> String {
    format!("{name}.{}", part.ending())
}

/// Writes a page's files. Removes those that the page no longer has, and those of its old name.
pub(super) fn put(
    folder: &Folder,
    old: Option<&str>,
    name: &str,
    texts: &Texts,
) -> Result<(), FilesError> {
    // A file system may take both names for the same: removing the old files must come first, or it
    // would remove the new ones.
    let is_respelled = old.is_some_and(|old| old != name && folded(old) == folded(name));
    if is_respelled && let Some(old) = old {
        remove(folder, old)?;
    }
    for (part, text) in texts {
        let file = file_of(name, *part);
        let there = folder.read(&file, MAX_BYTES).ok().flatten();
        if there.as_deref() != Some(text.as_bytes()) {
            folder
                .write(&file, text.as_bytes())
                .map_err(FilesError::for_file(&file))?;
        }
    }
    let Some(old) = old else { return Ok(()) };
    if old != name && !is_respelled {
        let is_there = |part: &PageFileKind| folder.has(&file_of(old, *part));
        let first = PageFileKind::ALL.into_iter().find(is_there);
        let removed = remove(folder, old);
        // Beside old files that all stay, the new ones would be taken for those of another page.
        if removed.is_err() && first.as_ref().is_some_and(is_there) {
            remove(folder, name)?;
        }
        return removed;
    }
    remove_but(folder, name, texts)
}

/// True if a page's files are still as they were seen: an editor may save while a pull reads.
pub(super) fn is_as_seen(folder: &Folder, name: &str, seen: &Texts) -> bool {
    PageFileKind::ALL.into_iter().all(|part| {
        // A link that is in the way is no page's file.
        let now = folder.read(&file_of(name, part), MAX_BYTES).ok().flatten();
        now.as_deref() == seen.get(&part).map(String::as_bytes)
    })
}

/// Removes all files of a page.
pub(super) fn remove(folder: &Folder, name: &str) -> Result<(), FilesError> {
    remove_but(folder, name, &Texts::new())
}

/// Removes the files of a page that are none of these.
fn remove_but(folder: &Folder, name: &str, kept: &Texts) -> Result<(), FilesError> {
    let gone = PageFileKind::ALL.into_iter();
    for part in gone.filter(|part| !kept.contains_key(part)) {
        let file = file_of(name, part);
        folder.remove(&file).map_err(FilesError::for_file(&file))?;
    }
    Ok(())
}

/// True if marks of conflicts are still in the texts.
pub(super) fn has_marks(texts: &Texts) -> bool {
    let is_mark = |line: &str| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ");
    texts.values().any(|text| text.lines().any(is_mark))
}

/// True if a text has all marks of a conflict, in their order, as Git's own merge leaves them.
pub(super) fn has_conflict(texts: &Texts) -> bool {
    texts.values().any(|text| {
        let mut lines = text.lines();
        lines.any(|line| line.starts_with("<<<<<<< "))
            && lines.any(|line| line == "=======")
            && lines.any(|line| line.starts_with(">>>>>>> "))
    })
}

impl Local {
    fn of(texts: Texts, was: &Texts) -> Self {
        if texts == *was {
            Self::Same
        } else {
            Self::Changed(texts)
        }
    }

    /// True if they have a conflict, and the page of before had no marks of one, as a page about Git may.
    fn has_new_conflict(&self, was: &Texts) -> bool {
        let Self::Changed(texts) = self else {
            return false;
        };
        has_conflict(texts) && !has_marks(was)
    }
}

impl PulledPage {
    /// True if its files were moved since the last pull.
    pub(super) const fn is_renamed(&self) -> bool {
        self.renamed.is_some()
    }

    /// True if conflicts are marked in the page's files.
    pub(super) fn is_in_conflict(&self) -> bool {
        let is_there = |texts: &Texts| self.is_marked && has_marks(texts);
        matches!(&self.local, Local::Changed(texts) if is_there(texts))
    }

    /// The current name of its files.
    pub(super) fn name_now(&self) -> &str {
        self.renamed.as_ref().unwrap_or(&self.name)
    }

    /// The page's new place, if its files were moved here.
    pub(super) fn moves_to(&self) -> Option<PagePlace> {
        let place = decode(self.name_now())?;
        let is_there = !matches!(self.local, Local::Gone | Local::Left);
        (is_there && place != self.place).then_some(place)
    }
}
