//! The program's own help: its commands in groups, and the settings in one line or in full.

use std::fmt::Write as _;

use clap::Command;

use super::flags;

/// Groups of commands, in the order of the help.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Serve and use",
        &["serve", "demo", "tool", "files", "health"],
    ),
    (
        "Decide and undo",
        &[
            "review",
            "proposals",
            "approvals",
            "undo",
            "bin",
            "pause",
            "resume",
        ],
    ),
    ("Look back", &["audit", "memory", "mirror", "store"]),
    (
        "Set up",
        &[
            "config",
            "site",
            "token",
            "rules",
            "doctor",
            "index",
            "completions",
            "help",
        ],
    ),
];

/// The line of `-h` that leads to the settings.
const SETTINGS: &str = "Settings come from flags (see --help), variables (WIKI_…) and a file:
`config init` writes it, `config show` prints the settings in force.";

/// The command with this help. Only for rendering: the flags of settings are hidden in it.
pub(super) fn grouped(command: Command) -> Command {
    let mut command = flags::hidden(command);
    command.build();
    let width = command.get_subcommands().map(|one| one.get_name().len());
    let width = width.max().unwrap_or_default();
    let mut groups = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(groups, "{title}:");
        for name in names {
            // A build without the demo wiki has no `demo`.
            if let Some(one) = command.find_subcommand(name) {
                let about = one.get_about().map(ToString::to_string);
                let about = about.unwrap_or_default();
                let _ = writeln!(groups, "  {name:width$}  {about}");
            }
        }
        groups.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    );
    command
        .override_usage("wikijs-gate [OPTIONS] [COMMAND]")
        .help_template(template)
        .after_help(SETTINGS)
        .after_long_help(format!("Settings:\n{}", settings()))
}

/// The flags of settings with their whole help.
pub(super) fn settings() -> String {
    let command = flags::add_to(Command::new("settings").disable_help_flag(true));
    let help = command.help_template("{options}").render_long_help();
    help.to_string()
}

#[cfg(test)]
mod tests {
    use super::GROUPS;

    #[test]
    #[cfg(feature = "demo")]
    fn every_command_is_in_exactly_one_group() {
        let mut command = crate::cli::command();
        command.build();
        let mut commands: Vec<&str> = command
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        commands.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, commands);
    }
}
