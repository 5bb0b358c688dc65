//! The changes made in the folder, as differences.

use super::base::{Base, FolderScope};
use super::local_changes::{Local, LocalFolder, file_of};
use super::text::{PageFileKind, Texts, written};
use crate::files::{FilesError, Folder};
use crate::page::unified_diff;

/// The differences of all files that were changed here, sorted by name.
///
/// # Errors
/// See [`FilesError`].
pub fn differences(folder: &Folder) -> Result<Vec<String>, FilesError> {
    FolderScope::read(folder)?.ok_or(FilesError::NotOurs)?;
    let here = LocalFolder::scan(folder)?;
    let mut found = Vec::new();
    for (id, known) in &here.pages {
        if known.local == Local::Same && known.moves_to().is_none() {
            continue;
        }
        let base = Base::read(folder, *id)?;
        let was = written(&base.page);
        let old = super::name::encode(&known.place);
        let none = Texts::new();
        let (name, now) = match &known.local {
            Local::Same => (known.name_now(), &was),
            Local::Changed(texts) => (known.name_now(), texts),
            Local::Gone => (known.name_now(), &none),
            // The next pull brings it.
            Local::Left => continue,
        };
        found.push((name.to_owned(), of_page(&old, &was, name, now)));
    }
    for (name, texts) in &here.new {
        found.push((name.clone(), of_page(name, &Texts::new(), name, texts)));
    }
    found.sort();
    Ok(found.into_iter().flat_map(|(_, files)| files).collect())
}

fn of_page(old: &str, was: &Texts, name: &str, now: &Texts) -> Vec<String> {
    let mut parts: Vec<PageFileKind> = was.keys().chain(now.keys()).copied().collect();
    parts.sort_unstable();
    parts.dedup();
    let differing = parts
        .into_iter()
        .filter(|part| old != name || was.get(part) != now.get(part));
    differing
        .map(|part| {
            let side = |prefix: &str, name: &str, texts: &Texts| {
                let has = texts.contains_key(&part);
                let file = file_of(name, part);
                if has {
                    format!("{prefix}/{file}")
                } else {
                    "/dev/null".to_owned()
                }
            };
            let (a, b) = (side("a", old, was), side("b", name, now));
            let text = |texts: &Texts| texts.get(&part).cloned().unwrap_or_default();
            let (before, after) = (text(was), text(now));
            if before == after {
                return format!("--- {a}\n+++ {b}\n");
            }
            let (difference, _) = unified_diff(&before, &after);
            format!("--- {a}\n+++ {b}\n{difference}")
        })
        .collect()
}
