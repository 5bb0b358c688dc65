//! Compares a folder with its wiki.

use serde::Serialize;

use super::base::FolderScope;
use super::local_changes::{Local, LocalFolder, PulledPage, has_conflict};
use super::name::encode;
use super::remote_changes::RemotePages;
use crate::files::{FilesError, Folder, Stage, Strange, UnreadablePage};
use crate::page::PagePlace;
use crate::wiki::Wiki;
use crate::words::words;

words! {
    /// The kind of a page's change on one side.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum StatusKind: as_str {
        /// It was made.
        New = "new",
        /// Its fields or its content changed.
        Changed = "changed",
        /// It moved, and may have changed.
        Moved = "moved",
        /// It was deleted.
        Deleted = "deleted",
    }
}

/// One page that differs on one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatusEntry {
    /// The kind of its change.
    pub what: StatusKind,
    /// The name of its files, without the ending.
    pub page: String,
    /// The new name, if it moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// The differences between a folder and its wiki.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FolderStatus {
    /// Changes made here that the wiki lacks.
    pub ahead: Vec<StatusEntry>,
    /// Changes made in the wiki that the folder lacks.
    pub behind: Vec<StatusEntry>,
    /// Pages that changed on both sides.
    pub both: Vec<String>,
    /// Pages with marked conflicts.
    pub conflicts: Vec<String>,
    /// Files that belong to no page.
    pub strange: Vec<Strange>,
    /// Pages that this key cannot read whole.
    pub unread: Vec<UnreadablePage>,
}

impl FolderStatus {
    /// Compares a folder with its wiki.
    ///
    /// # Errors
    /// See [`FilesError`].
    pub async fn read(
        wiki: &Wiki,
        folder: &Folder,
        far: impl Fn(Stage, usize, usize),
    ) -> Result<Self, FilesError> {
        let scope = scope_of(wiki, folder)?;
        let here = LocalFolder::scan(folder)?;
        let there = RemotePages::fetch(wiki, folder, &scope, &here, far).await?;
        Ok(Self::between(&here, there))
    }

    fn between(here: &LocalFolder, there: RemotePages) -> Self {
        let mut standing = Self {
            strange: here.strange.clone(),
            ..Self::default()
        };
        for (name, texts) in &here.new {
            standing.ahead.push(line(StatusKind::New, name));
            if has_conflict(texts) {
                standing.conflicts.push(name.clone());
            }
        }
        for (id, known) in &here.pages {
            let own = own_line(known);
            let is_theirs = there.changed.contains_key(id) || there.gone.contains_key(id);
            if known.is_in_conflict() {
                standing.conflicts.push(known.name_now().to_owned());
            }
            match own {
                Some(_) if is_theirs => standing.both.push(known.name_now().to_owned()),
                Some(own) => standing.ahead.push(own),
                None => {}
            }
        }
        for (id, page) in &there.changed {
            let place = page.place();
            standing.behind.push(match here.pages.get(id) {
                None => {
                    let name = encode(&place);
                    if here.new.contains_key(&name) {
                        standing.both.push(name.clone());
                    }
                    line(StatusKind::New, &name)
                }
                Some(known) if known.place != place => moved(known, &place),
                Some(known) => line(StatusKind::Changed, &known.name),
            });
        }
        for (id, outside) in &there.gone {
            if let Some(known) = here.pages.get(id) {
                standing.behind.push(match outside {
                    None => line(StatusKind::Deleted, &known.name),
                    Some(place) => moved(known, place),
                });
            }
        }
        standing.unread = there.unread;
        let order = |one: &StatusEntry, other: &StatusEntry| {
            (&one.page, one.what).cmp(&(&other.page, other.what))
        };
        standing.ahead.sort_by(order);
        standing.behind.sort_by(order);
        standing
    }
}

fn line(what: StatusKind, page: &str) -> StatusEntry {
    StatusEntry {
        what,
        page: page.to_owned(),
        to: None,
    }
}

/// A page that the wiki moved.
fn moved(known: &PulledPage, place: &PagePlace) -> StatusEntry {
    StatusEntry {
        what: StatusKind::Moved,
        page: known.name.clone(),
        to: Some(encode(place)),
    }
}

/// The change made to a page here; `None` if there is none.
fn own_line(known: &PulledPage) -> Option<StatusEntry> {
    if known.moves_to().is_some() {
        return Some(StatusEntry {
            what: StatusKind::Moved,
            page: encode(&known.place),
            to: Some(known.name_now().to_owned()),
        });
    }
    match &known.local {
        Local::Same | Local::Left => None,
        Local::Gone => Some(line(StatusKind::Deleted, &known.name)),
        Local::Changed(_) => Some(line(StatusKind::Changed, &known.name)),
    }
}

/// Checks that a folder was made by a pull from this wiki.
///
/// # Errors
/// [`FilesError::NotOurs`], [`FilesError::OtherWiki`], or it cannot be read.
pub fn check_begun(wiki: &Wiki, folder: &Folder) -> Result<(), FilesError> {
    scope_of(wiki, folder).map(drop)
}

/// The scope of a folder that has pages of this wiki.
pub(super) fn scope_of(wiki: &Wiki, folder: &Folder) -> Result<FolderScope, FilesError> {
    let scope = FolderScope::read(folder)?.ok_or(FilesError::NotOurs)?;
    let settings = &wiki.settings().name;
    if &scope.wiki == settings {
        Ok(scope)
    } else {
        Err(FilesError::OtherWiki {
            folder: scope.wiki,
            settings: settings.clone(),
        })
    }
}
