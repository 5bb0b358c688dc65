//! `wikijs-gate site add`: one more site in the settings file, out of flags and answers.

use serde_json::json;
use tokio::runtime::Handle;

use super::super::config::{Interview, fill, is_whole, untested};
use super::super::doctor::test_connection;
use super::super::exit::Exit;
use super::super::{CommandResult, print, start};
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
    let test = async |draft: &InitFile| {
        let settings = site.check(draft)?;
        print::in_progress("asking the wiki", test_connection(settings.wiki)).await
    };
    if print::can_ask() {
        tokio::task::block_in_place(|| {
            Interview::connection(&mut draft, &path, &mut |draft| {
                if arguments.untested {
                    return Ok(None);
                }
                Handle::current().block_on(test(draft))
            })
        })
        .map_err(Exit::usage)?;
        site.check(&draft).map_err(Exit::usage)?;
    } else {
        is_whole(&draft).map_err(Exit::usage)?;
        site.check(&draft).map_err(Exit::usage)?;
        if !arguments.untested
            && let Some(found) = test(&draft).await.map_err(Exit::usage)?
        {
            return Err(untested(&found));
        }
    }
    site.write(&draft).map_err(Exit::failed)?;
    if arguments.json {
        print::line(&json!({ "added": name.as_str(), "file": path }).to_string());
        return Ok(Exit::Done);
    }
    print::line(&format!("the site {name} is in {}", print::path(&path)));
    print::note(&format!(
        "a running server takes it over within seconds, at /mcp/{name}; it writes what the server's gates allow, or less"
    ));
    Ok(Exit::Done)
}
