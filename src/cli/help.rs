//! Writes the program's own help: its commands in groups, the settings in one line or in full, and
//! the reference, out of the definitions themselves.

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

/// The end of a fault that clap finds by the types of the program, and ours.
const FAULTS: [(&str, &str); 5] = [
    (
        "invalid socket address syntax",
        "must be an address and a port, such as 127.0.0.1:8765",
    ),
    ("invalid digit found in string", "must be a whole number"),
    (
        "cannot parse integer from empty string",
        "must be a whole number",
    ),
    (
        "number too large to fit in target type",
        "must be a smaller number",
    ),
    (
        "number too small to fit in target type",
        "must be a larger number",
    ),
];

/// What is wrong with the command line, in plain words.
pub(super) fn in_plain_words(text: &str) -> String {
    let worded = |line: &str| {
        let known = FAULTS
            .into_iter()
            .find_map(|(theirs, ours)| Some(format!("{}{ours}", line.strip_suffix(theirs)?)));
        let worded = known.or_else(|| in_range(line));
        worded.unwrap_or_else(|| line.to_owned())
    };
    let lines: Vec<String> = text.split('\n').map(worded).collect();
    lines.join("\n")
}

/// A number that "is not in 1..=9", in our words.
fn in_range(told: &str) -> Option<String> {
    let (told, range) = told.rsplit_once(" is not in ")?;
    let (told, _) = told.rsplit_once(": ")?;
    let (least, most) = range.split_once("..")?;
    let bound = most.trim_start_matches('=');
    // What somebody typed may say the same words.
    let is_of_numbers = least.parse::<i64>().is_ok() && bound.parse::<u64>().is_ok();
    is_of_numbers.then(|| {
        if bound == most {
            format!("{told}: must be a number from {least} up")
        } else {
            format!("{told}: must be a number from {least} to {bound}")
        }
    })
}

/// What is wrong with the command line, for a program: without the usage.
pub(super) fn in_one_line(text: &str) -> String {
    let is_of_the_fault =
        |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
    let lines = text.lines().take_while(is_of_the_fault).map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let told = lines.join(" ");
    told.strip_prefix("error: ").unwrap_or(&told).to_owned()
}

/// The flags of settings with their whole help.
fn settings() -> String {
    let command = flags::add_to(Command::new("settings").disable_help_flag(true));
    let help = command.help_template("{options}").render_long_help();
    help.to_string()
}

/// The whole help of every command, as Markdown; the flags of settings, which all commands
/// take, once.
pub fn reference() -> String {
    let mut text = String::new();
    let command = grouped(super::command()).bin_name("wikijs-gate");
    // The flags of settings come once, at the end.
    let mut command = command.after_long_help("");
    write(&mut command, &mut text);
    section(&mut text, "Flags of settings", &settings());
    text
}

fn write(command: &mut Command, text: &mut String) {
    let name = command.get_bin_name().unwrap_or_default().to_owned();
    let help = command.render_long_help().to_string();
    section(text, &name, &format!("$ {name} --help\n{help}"));
    for command in command.get_subcommands_mut() {
        if command.get_name() != "help" {
            write(command, text);
        }
    }
}

fn section(text: &mut String, title: &str, body: &str) {
    // Writing to a string cannot fail.
    let _ = write!(text, "## {title}\n\n```console\n");
    for line in body.trim_end().lines() {
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push_str("```\n\n");
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
