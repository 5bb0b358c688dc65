//! Reads the storage settings: audit log, index, memory, retention.

use std::path::PathBuf;

use super::parse::{SettingError, SettingsSource};
use crate::audit::Keep;
use crate::index::{CALLERS_BYTES, IndexLoad, IndexMode, IndexSettings, MOST_PAGES, Pace};
use crate::memory::MemoryMode;

pub(super) fn audit_dir(source: &SettingsSource<'_>) -> Result<PathBuf, SettingError> {
    const NAME: &str = "WIKI_AUDIT_DIR";
    if let Some(dir) = source.filled(NAME)? {
        return Ok(PathBuf::from(dir));
    }
    state_dir(source)?
        .map(|state| state.join("audit"))
        .ok_or_else(|| {
            SettingError::new(
                NAME,
                "is missing, and there is no home directory to put the audit log in",
            )
        })
}

/// Our subdirectory of the user's state directory.
fn state_dir(source: &SettingsSource<'_>) -> Result<Option<PathBuf>, SettingError> {
    let absolute = |dir: PathBuf| dir.is_absolute().then_some(dir);
    let state = source
        .text("XDG_STATE_HOME")?
        .map(PathBuf::from)
        .and_then(absolute);
    let home = source.text("HOME")?.map(PathBuf::from).and_then(absolute);
    Ok(state
        .or_else(|| home.map(|home| home.join(".local").join("state")))
        .map(|state| state.join("wikijs-gate")))
}

pub(super) fn index(source: &SettingsSource<'_>) -> Result<IndexSettings, SettingError> {
    const NAME: &str = "WIKI_INDEX";
    const DIR: &str = "WIKI_INDEX_DIR";
    let mode = match source.choice(NAME)? {
        Some("disk") => IndexMode::Disk,
        Some("off") => IndexMode::Off,
        _ => IndexMode::Memory,
    };
    let dir = match source.filled(DIR)? {
        Some(dir) => Some(PathBuf::from(dir)),
        None => state_dir(source)?.map(|state| state.join("index")),
    };
    if mode == IndexMode::Disk && dir.is_none() {
        return Err(SettingError::new(
            DIR,
            "is missing, and there is no home directory to put the index in",
        ));
    }
    Ok(IndexSettings {
        mode,
        dir,
        most: MOST_PAGES,
        callers_bytes: CALLERS_BYTES,
        pace: Pace::new(IndexLoad::percent(source.number("WIKI_INDEX_LOAD")?)),
    })
}

/// Reads the memory mode.
pub(super) fn memory(source: &SettingsSource<'_>) -> Result<MemoryMode, SettingError> {
    Ok(match source.choice("WIKI_MEMORY")? {
        Some("site") => MemoryMode::Site,
        _ => MemoryMode::Client,
    })
}

pub(super) fn keep(source: &SettingsSource<'_>) -> Result<Keep, SettingError> {
    let megabytes = source.number("WIKI_AUDIT_KEEP_MB")?;
    Ok(Keep {
        days: source.number("WIKI_AUDIT_KEEP_DAYS")?,
        proposal_days: source.number("WIKI_PROPOSALS_KEEP_DAYS")?,
        bytes: u64::from(megabytes) << 20,
    })
}
