//! Resolves the owner of memories that a command names.

use crate::cli::prelude::*;
use crate::config::ServeSettings;
use crate::memory::{MemoryLine, MemoryOwner};
use crate::server::http::TokensFile;

/// True if an owner is meant; without a name, every owner is.
pub(super) fn is_meant(owner: &MemoryOwner, name: Option<&str>) -> bool {
    name.is_none_or(|name| owner.is_called(name))
}

/// The one owner of this name or key, among those that remember something and the named clients
/// of a server over HTTP.
///
/// # Errors
/// That there is none, or several.
pub(super) fn one(all: &[MemoryLine], name: &str) -> Result<MemoryOwner, CommandError> {
    let mut owners: Vec<&MemoryOwner> = all.iter().map(|one| &one.client).collect();
    owners.dedup();
    let mut found = owners.iter().filter(|owner| owner.is_called(name));
    match (found.next(), found.next()) {
        (Some(owner), None) => return Ok((**owner).clone()),
        (Some(_), Some(_)) => {
            let fault = format!(
                "several clients are called {}; name the whole identity, as `wikijs-gate memory list --json` has it",
                print::harmless(name)
            );
            return Err(Exit::usage(fault));
        }
        (None, _) => {}
    }
    if let Some(owner) = named_client(name) {
        return Ok(owner);
    }
    if name == MemoryOwner::site().key || name.contains(['/', ':']) {
        let shown = name.rsplit('/').next().unwrap_or(name);
        return Ok(MemoryOwner::client(name, shown));
    }
    let fault = format!(
        "no client {} is known here; name a named client, one of `wikijs-gate memory list`, or a whole identity such as user:1000/claude-code",
        print::harmless(name)
    );
    Err(Exit::usage(fault))
}

/// The named client of a server over HTTP.
fn named_client(name: &str) -> Option<MemoryOwner> {
    let layers = start::layers().ok()?;
    let settings = ServeSettings::read(&layers.source()).ok()?;
    let clients = TokensFile::for_operator(settings.tokens_file?)
        .read()
        .ok()?;
    let client = clients.iter().find(|client| client.name == name)?;
    Some(MemoryOwner::client(&format!("client:{}", client.id), name))
}
