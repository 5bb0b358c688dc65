//! `wikijs-gate config show`: every value and where it comes from.

use crate::cli::level::Levels;
use crate::cli::prelude::*;
use crate::cli::print::harmless;
use crate::config::{Origin, SettingView};
use crate::site::SiteName;

pub(super) fn run(is_json: bool) -> CommandResult {
    let layers = start::layers()?;
    // Settings that contradict each other are shown all the same.
    let levels = layers.write_policy().map(|found| {
        let read_only = found.read_only.as_ref();
        Levels::new(&found.writes, &found.set_by, read_only)
    });
    if is_json {
        let answer = match &levels {
            Ok(levels) => levels.members(),
            Err(fault) => json!({ "fault": fault.to_string() }),
        };
        let settings: Value = layers.shown().iter().map(as_json).collect();
        return print::json(&extended(answer, json!({ "settings": settings })));
    }
    print::line(&harmless(&match &levels {
        Ok(levels) => levels.in_words(),
        Err(fault) => format!("no server would start: {fault}"),
    }));
    let mut table = Table::new("setting | value | from");
    for shown in layers.shown() {
        let value = shown.value.as_ref().unwrap_or(&shown.without).clone();
        let value = match &shown.of_server {
            Some(of_server) => format!("{value} (and the server's: {of_server})"),
            None => value,
        };
        let from = match &shown.origin {
            Origin::Default => "default".to_owned(),
            Origin::File { path, line, .. } => format!("{}:{line}", path.display()),
            Origin::Environment => "environment".to_owned(),
            Origin::Flag => shown.origin.name_of(shown.setting.name),
        };
        let cell = |text: &str| match shown.origin {
            Origin::Default => Cell::painted(harmless(text), Paint::Dim),
            _ => harmless(text).into(),
        };
        table.row(vec![
            cell(&shown.setting.usual_name()),
            cell(&value),
            cell(&from),
        ]);
    }
    table.print();
    Ok(Exit::Done)
}

/// One setting for a program, without what it has not.
fn as_json(shown: &SettingView) -> Value {
    let (from, site, place) = match &shown.origin {
        Origin::Default => ("default", None, None),
        Origin::File { path, line, site } => ("file", site.as_ref(), Some((path, line))),
        Origin::Environment => ("environment", None, None),
        Origin::Flag => ("flag", None, None),
    };
    let (file, line) = place.unzip();
    without_nulls(json!({
        "name": shown.setting.usual_name(),
        "value": shown.value,
        // Where it holds together with the site's.
        "serverValue": shown.of_server,
        "from": from,
        "site": site.map(SiteName::as_str),
        "file": file,
        "line": line,
    }))
}
