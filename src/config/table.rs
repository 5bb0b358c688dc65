//! The table of settings: lookup by name, and the tables of the documentation.

use std::fmt::Write as _;

use super::defaults::SETTINGS;
use super::setting::Setting;

impl Setting {
    /// The setting of a name in the environment.
    pub fn named(name: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.name == name)
    }
}

/// All settings as a table in Markdown.
pub fn table() -> String {
    let mut table = String::from("| name | default | in a site | meaning |\n|---|---|---|---|\n");
    for setting in SETTINGS {
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| `{}` | {} | {} | {} |",
            setting.usual_name(),
            setting.default,
            setting.in_site.word(),
            setting.meaning
        );
    }
    table
}
