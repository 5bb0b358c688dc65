//! `wikijs-gate config check`: what `serve` checks at its start.

use crate::cli::prelude::*;
use crate::cli::{log, show_change};
use crate::config::{Layers, Settings, log_settings};
use crate::write::Timeouts;

pub(super) fn run(is_json: bool) -> CommandResult {
    let checked = Layers::load(start::given())
        .map_err(|faults| texts(&faults))
        .and_then(|layers| Ok((check(&layers)?, layers)));
    if is_json {
        print::value(&match &checked {
            Ok((warnings, _)) => json!({ "faults": [], "warnings": warnings }),
            Err(faults) => json!({ "faults": faults, "warnings": [] }),
        });
    }
    let (warnings, layers) = checked.map_err(|faults| Exit::usage(faults.join("\nerror: ")))?;
    if !is_json {
        print::lines(&show_change::warnings(&warnings));
        print::line(&match layers.file() {
            Some(file) => format!("the settings are good; file: {}", file.display()),
            None => "the settings are good; there is no file".to_owned(),
        });
    }
    Ok(Exit::Done)
}

/// The warnings of settings that can be started with, or all faults: of every site, unless one is
/// named.
fn check(layers: &Layers) -> Result<Vec<String>, Vec<String>> {
    let log = log_settings(&layers.source(), None)
        .map_err(|fault| fault.to_string())
        .and_then(log::start_on_stderr);
    let (settings, mut faults) = match Settings::load_these(layers, start::given().site.is_none()) {
        Ok(settings) => (settings, Vec::new()),
        Err(faults) => (Vec::new(), texts(&faults)),
    };
    faults.extend(log.err());
    // What is served over HTTP is the same for all of them.
    let serve = settings.first().map(|settings| &settings.serve);
    faults.extend(serve.and_then(|serve| start::check_http(serve).err()));
    let mut warnings = Vec::new();
    for settings in settings {
        warnings.extend(settings.warnings.iter().cloned());
        faults.extend(App::new(settings, Timeouts::default()).err());
    }
    if faults.is_empty() {
        Ok(warnings)
    } else {
        Err(faults)
    }
}

fn texts(faults: &[impl ToString]) -> Vec<String> {
    faults.iter().map(ToString::to_string).collect()
}
