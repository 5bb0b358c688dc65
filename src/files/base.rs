//! Keeps the base of a folder in `.wikijs/`: which wiki and which part of it the files come from,
//! and each page as it was pulled.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::folder::OWN;
use super::name::decode;
use crate::files::{FilesError, Folder};
use crate::hex;
use crate::page::{PagePath, PageState};

const VERSION: u32 = 1;
const SITE: &str = ".wikijs/site.json";
const PAGES: &str = ".wikijs/pages";
/// Enough for a page of 5 MB with its styles and scripts, as JSON.
const MAX_BYTES: u64 = 40_000_000;

/// The wiki, and the part of it, that a folder holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FolderScope {
    version: u32,
    /// The name under which the wiki's records are kept.
    pub(super) wiki: String,
    /// The pages at and below this path; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) path: Option<PagePath>,
}

impl FolderScope {
    /// The pages at or below a path of a wiki, or all of them.
    pub(super) fn new(wiki: String, path: Option<PagePath>) -> Self {
        Self {
            version: VERSION,
            wiki,
            path,
        }
    }

    /// True if a path lies in it.
    pub(super) fn has(&self, path: &PagePath) -> bool {
        self.path
            .as_ref()
            .is_none_or(|prefix| path.is_within(prefix))
    }

    /// The scope of a folder; `None` if the folder has none.
    pub(super) fn read(folder: &Folder) -> Result<Option<Self>, FilesError> {
        let Some(bytes) = folder
            .read(SITE, 100_000)
            .map_err(FilesError::for_file(SITE))?
        else {
            return Ok(None);
        };
        match serde_json::from_slice::<Self>(&bytes) {
            Ok(scope) if scope.version == VERSION => Ok(Some(scope)),
            _ => Err(FilesError::BadScope),
        }
    }

    pub(super) fn keep(&self, folder: &Folder) -> Result<(), FilesError> {
        let text = json(self)?;
        folder
            .write(SITE, &text)
            .map_err(FilesError::for_file(SITE))
    }
}

/// A page as it was pulled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Base {
    /// The name of its files.
    pub(super) name: String,
    /// True if conflicts were marked in its files; the marks may still be there.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub(super) is_marked: bool,
    /// True while a pull takes its files away from a place that the page left in the wiki.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub(super) is_left: bool,
    /// The page.
    pub(super) page: PageState,
}

/// A [`Base`] with its digest, as stored in its file.
#[derive(Serialize, Deserialize)]
struct StoredBase {
    sha256: String,
    #[serde(flatten)]
    base: Base,
}

impl Base {
    pub(super) fn new(name: String, page: PageState) -> Self {
        Self {
            name,
            is_marked: false,
            is_left: false,
            page,
        }
    }

    fn digest(&self) -> Result<String, FilesError> {
        Ok(hex::encode(&Sha256::digest(json(self)?)))
    }

    pub(super) fn keep(&self, folder: &Folder) -> Result<(), FilesError> {
        let id = self.page.id.ok_or(FilesError::BadScope)?;
        let name = file_of(id);
        let kept = StoredBase {
            sha256: self.digest()?,
            base: self.clone(),
        };
        folder
            .write(&name, &json(&kept)?)
            .map_err(FilesError::for_file(&name))
    }

    pub(super) fn read(folder: &Folder, id: i64) -> Result<Self, FilesError> {
        let name = file_of(id);
        let bytes = folder
            .read(&name, MAX_BYTES)
            .map_err(FilesError::for_file(&name))?;
        let kept = bytes.and_then(|bytes| serde_json::from_slice::<StoredBase>(&bytes).ok());
        // Whoever can write here can also make a matching digest, so the id and the name are
        // checked.
        let kept = kept.filter(|kept| {
            kept.base.page.id == Some(id)
                && decode(&kept.base.name).is_some()
                && kept.base.digest().is_ok_and(|own| own == kept.sha256)
        });
        kept.map(|kept| kept.base)
            .ok_or(FilesError::BadBase { file: name })
    }

    pub(super) fn forget(folder: &Folder, id: i64) -> Result<(), FilesError> {
        let name = file_of(id);
        folder.remove(&name).map_err(FilesError::for_file(&name))
    }

    /// The ids of all pages that were pulled.
    pub(super) fn ids(folder: &Folder) -> Result<Vec<i64>, FilesError> {
        let files = folder
            .files_below(PAGES)
            .map_err(FilesError::for_file(PAGES))?;
        let id = |name: &str| {
            let name = name.strip_prefix(PAGES)?.strip_prefix('/')?;
            name.strip_suffix(".json")?.parse().ok()
        };
        let mut ids: Vec<i64> = files.iter().filter_map(|(name, _)| id(name)).collect();
        ids.sort_unstable();
        Ok(ids)
    }
}

fn file_of(id: i64) -> String {
    format!("{OWN}/pages/{id}.json")
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, FilesError> {
    let mut text = serde_json::to_vec(value).map_err(|_| FilesError::BadScope)?;
    text.push(b'\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::Base;
    use crate::files::{FilesError, Folder};
    use crate::page::testing::page;

    #[test]
    fn a_base_that_names_other_files_than_a_pages_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        for (name, is_taken) in [
            ("en/docs/a", true),
            (".git/hooks/pre-commit", false),
            (".wikijs/pages/2", false),
            ("en/../../a", false),
            ("/etc/a", false),
            ("en/docs/CLAUDE", false),
        ] {
            Base::new(name.to_owned(), page()).keep(&folder).unwrap();
            match Base::read(&folder, 1) {
                Ok(base) => assert!(is_taken && base.name == name, "{name}"),
                Err(FilesError::BadBase { .. }) => assert!(!is_taken, "{name}"),
                Err(error) => panic!("{name}: {error}"),
            }
        }
    }
}
