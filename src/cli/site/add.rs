//! `wikijs-gate site add`: one more site in the settings file, out of flags and answers.

use super::super::config::{completed, fill};
use crate::cli::prelude::*;
use crate::config::{InitFile, NewSite, file_place};
use crate::site::SiteName;

/// Arguments of `site add`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wikijs-gate site add docs
  pass docs-wiki | wikijs-gate site add docs --base-url https://docs.example.com --key-stdin
  wikijs-gate site add docs --base-url https://docs.example.com --api-token-file ~/.docs-key")]
pub(in crate::cli) struct Add {
    /// The name of the site: small letters, digits and hyphens
    name: SiteName,
    /// Read the key from standard input and keep it in the file
    #[arg(long)]
    key_stdin: bool,
    /// Write the file without testing address and key at the wiki
    #[arg(long)]
    untested: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: &Add) -> CommandResult {
    let name = &arguments.name;
    let path = file_place(start::given());
    let path = path.ok_or_else(|| Exit::usage("there is no settings file"))?;
    let site = NewSite::begin(&path, name).map_err(Exit::usage)?;
    let mut draft = InitFile::default();
    fill(&mut draft, arguments.key_stdin).map_err(Exit::usage)?;
    let check = |draft: &InitFile| site.check(draft);
    completed(&mut draft, &path, &check, arguments.untested, false).await?;
    site.write(&draft).map_err(Exit::failed)?;
    if arguments.json {
        return print::json(&json!({ "added": name.as_str(), "file": path }));
    }
    say!("the site {name} is in {}", print::path(&path));
    remark!(
        "a running server takes it over within seconds, at /mcp/{name}; it writes what the server's gates allow, or less"
    );
    Ok(Exit::Done)
}
