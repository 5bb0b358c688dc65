//! Reads the settings of audit anchors: their destination and the signing key.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{SettingError, SettingsSource, read_secret};
use crate::audit::{AnchorSettings, AnchorsTo, SigningKey};
use crate::checks::CheckCommand;

const ANCHORS: &str = "WIKI_AUDIT_ANCHORS";
const KEY: &str = "WIKI_AUDIT_SIGNING_KEY";
/// The longest time for the anchor command.
const LIMIT: Duration = Duration::from_secs(10);

pub(super) fn anchors(source: &SettingsSource<'_>) -> Result<Option<AnchorSettings>, SettingError> {
    let key = source.path(KEY)?;
    let to = match source.array(ANCHORS) {
        Some(argv) => Some(AnchorsTo::Command(command(source, argv))),
        None => source.path(ANCHORS)?.map(AnchorsTo::File),
    };
    let Some(to) = to else {
        return match key {
            Some(_) => Err(SettingError::new(
                KEY,
                format!("is set, but {ANCHORS} is not: there is nothing to sign"),
            )),
            None => Ok(None),
        };
    };
    let key = key.map(|file| signing_key(&file)).transpose();
    let key = key.map_err(|fault| SettingError::new(KEY, fault))?;
    let key = key.map(Arc::new);
    Ok(Some(AnchorSettings { to, key }))
}

/// A warning if the anchors lie in the audit log's own directory.
pub(super) fn warning(anchors: &AnchorSettings, audit_dir: &Path) -> Option<String> {
    let AnchorsTo::File(file) = &anchors.to else {
        return None;
    };
    let is_inside = std::path::absolute(file)
        .ok()
        .zip(std::path::absolute(audit_dir).ok())
        .is_some_and(|(file, dir)| file.starts_with(dir));
    is_inside.then(|| {
        format!("{ANCHORS} lies in WIKI_AUDIT_DIR: whoever rewrites the log can rewrite it as well")
    })
}

fn command(source: &SettingsSource<'_>, argv: &[String]) -> CheckCommand {
    let mut argv = argv.to_vec();
    // The path already starts with the settings file's directory, which may be relative to ours.
    if let Some(program) = argv.first_mut().filter(|program| program.contains('/'))
        && let Ok(absolute) = std::path::absolute(&*program)
    {
        *program = absolute.to_string_lossy().into_owned();
    }
    CheckCommand {
        name: "anchors".to_owned(),
        argv,
        // Never the directory in which a client happens to start us.
        cwd: PathBuf::from("/"),
        environment: source.passed_on(),
        env: Vec::new(),
        paths: None,
        timeout: LIMIT,
    }
}

/// Reads the file of a signing key. Only the file's owner may have access to it.
///
/// # Errors
/// What is wrong with the file, without any of its contents.
pub fn signing_key(path: &Path) -> Result<SigningKey, String> {
    SigningKey::parse(&read_secret(path)?).map_err(|fault| fault.to_string())
}
