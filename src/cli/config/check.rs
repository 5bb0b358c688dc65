//! `wikijs-mcp config check`: what `serve` checks at its start.

use serde_json::json;

use crate::cli::exit::Exit;
use crate::cli::{Outcome, log, print, show_change, start};
use crate::config::{Layers, Settings, log_settings};
use crate::server::App;
use crate::write::Patience;

/// Arguments of `config check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wikijs-mcp config check
  wikijs-mcp config check --config other.toml --json")]
pub(super) struct Arguments {
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let checked = Layers::load(start::given())
        .map_err(|faults| texts(&faults))
        .and_then(|layers| Ok((check(&layers)?, layers)));
    if arguments.json {
        let answer = match &checked {
            Ok((warnings, _)) => json!({ "faults": [], "warnings": warnings }),
            Err(faults) => json!({ "faults": faults, "warnings": [] }),
        };
        print::line(&answer.to_string());
    }
    let (warnings, layers) = checked.map_err(|faults| (Exit::Usage, faults.join("\nerror: ")))?;
    if !arguments.json {
        print::lines(&show_change::warnings(&warnings));
        print::line(&match layers.file() {
            Some(file) => format!("the settings are good; file: {}", file.display()),
            None => "the settings are good; there is no file".to_owned(),
        });
    }
    Ok(Exit::Done)
}

/// The warnings of settings that can be started with, or all faults.
fn check(layers: &Layers) -> Result<Vec<String>, Vec<String>> {
    let log = log_settings(&layers.source(), None)
        .map_err(|fault| fault.to_string())
        .and_then(|settings| log::start(&settings));
    let settings = Settings::load(layers).map_err(|faults| texts(&faults));
    let (settings, mut faults) = match settings {
        Ok(settings) => (Some(settings), Vec::new()),
        Err(faults) => (None, faults),
    };
    faults.extend(log.err());
    faults.extend(
        settings
            .as_ref()
            .and_then(|settings| start::check_http(&settings.serve).err()),
    );
    match settings {
        Some(settings) if faults.is_empty() => {
            let warnings = settings.warnings.clone();
            let app = App::new(settings, Patience::default());
            app.map(|_| warnings).map_err(|fault| vec![fault])
        }
        _ => Err(faults),
    }
}

fn texts(faults: &[impl ToString]) -> Vec<String> {
    faults.iter().map(ToString::to_string).collect()
}
