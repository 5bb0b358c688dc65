//! `wikijs-gate audit key`: what signs anchors.

use std::io;
use std::path::PathBuf;

use secrecy::{ExposeSecret as _, SecretString};

use crate::audit::{PublicKey, SigningKey};
use crate::cli::file_faults;
use crate::cli::prelude::*;
use crate::config::signing_key;
use crate::private_files;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum AuditKeyCommand {
    /// Make a key that signs anchors (Ed25519) in a new file, and print its public key
    #[command(
        after_help = "Name the file in audit_signing_key, and keep the public key where the log is checked.\n\nExamples:\n  wikijs-gate audit key new /etc/wikijs-gate/audit.key"
    )]
    New(KeyFileArgs),
    /// Print the public key of a signing key
    #[command(after_help = "Examples:\n  wikijs-gate audit key show /etc/wikijs-gate/audit.key")]
    Show(KeyFileArgs),
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct KeyFileArgs {
    /// The file of the signing key, for its owner alone
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Answer in JSON: one object with `publicKey` and `id`
    #[arg(long)]
    json: bool,
}

pub(super) fn run(command: &AuditKeyCommand) -> CommandResult {
    let (key, is_json) = match command {
        AuditKeyCommand::New(one) => (made(one)?, one.json),
        AuditKeyCommand::Show(one) => {
            let key = signing_key(&one.file);
            let key = key.map_err(|fault| {
                let fault = format!("{} {fault}", print::path(&one.file));
                Exit::failed(fault)
            })?;
            (key.public(), one.json)
        }
    };
    let shown = key.to_string();
    print::answer(
        is_json,
        &json!({ "publicKey": shown, "id": key.id() }),
        &shown,
    )
}

fn made(one: &KeyFileArgs) -> Result<PublicKey, CommandError> {
    let (key, line) = SigningKey::generate()?;
    let line = SecretString::from(format!("{}\n", line.expose_secret()));
    let written = private_files::make_whole(&one.file, line.expose_secret().as_bytes());
    written.map_err(|error| {
        let told = match error.kind() {
            io::ErrorKind::AlreadyExists => format!(
                "{} is there already; a key is never written over",
                print::path(&one.file)
            ),
            kind => file_faults::unwritten(&one.file, kind),
        };
        Exit::failed(told)
    })?;
    Ok(key.public())
}
