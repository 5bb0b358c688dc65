//! `wikijs-gate site`: the sites of the settings file.

mod add;
mod list;
mod remove;

use super::doctor;
use crate::cli::prelude::*;
use crate::site::SiteName;

#[derive(Debug, clap::Subcommand)]
pub(super) enum SiteCommand {
    /// Show every site: address, whether it answers, its key, index and open sets
    #[command(after_help = "Examples:\n  wikijs-gate site list\n  wikijs-gate site list --json")]
    List(JsonArgs),
    /// Check one site as `doctor` does
    #[command(
        after_help = "Examples:\n  wikijs-gate site status docs\n  wikijs-gate site status docs --json"
    )]
    Status {
        /// The site
        name: SiteName,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Add a site to the settings file, its address and key tested at the wiki
    Add(add::Add),
    /// Take a site out of the settings file; its record stays
    Remove(remove::Remove),
}

pub(super) async fn run(command: SiteCommand) -> CommandResult {
    match command {
        SiteCommand::List(arguments) => list::run(arguments.json).await,
        SiteCommand::Status { name, json } => doctor::of_site(name, json).await,
        SiteCommand::Add(arguments) => Box::pin(add::run(&arguments)).await,
        SiteCommand::Remove(arguments) => remove::run(&arguments),
    }
}
