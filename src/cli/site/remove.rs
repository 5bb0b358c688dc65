//! `wikijs-gate site remove`: takes a site out of the settings file. Its record stays.

use crate::audit::AuditLog;
use crate::cli::prelude::*;
use crate::config::{AuditSettings, file_place, remove_site};
use crate::site::SiteName;

/// Arguments of `site remove`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate site remove docs\n  wikijs-gate site remove docs --yes --json"
)]
pub(in crate::cli) struct Remove {
    /// The site
    name: SiteName,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Remove) -> CommandResult {
    let name = &arguments.name;
    let failed = |error: String| Exit::failed(print::harmless(&error));
    let layers = start::layers_of(name)?;
    let path = file_place(start::given());
    let path = path.ok_or_else(|| failed("there is no settings file".to_owned()))?;
    // Before it is out of the file.
    let record = AuditSettings::read(&layers.source()).ok();
    let record = record.map(|settings| AuditLog::new(settings.store, &settings.wiki));
    let record = record
        .filter(|log| log.runs.is_there())
        .map(|log| log.runs.dir());
    if !arguments.yes {
        if !print::can_ask() {
            return Err(Exit::usage("nobody can be asked here; pass --yes"));
        }
        if !print::ask(&format!(
            "Take the site {name} out of {}?",
            print::path(&path)
        )) {
            print::line("nothing was changed");
            return Ok(Exit::Done);
        }
    }
    remove_site(&path, name).map_err(failed)?;
    if arguments.json {
        return print::json(&json!({ "removed": name.as_str(), "record": record }));
    }
    say!("the site {name} is out of the settings file");
    if let Some(record) = record {
        remark!("its record stays at {}", print::path(&record));
    }
    Ok(Exit::Done)
}
