//! A flag for every setting but the secrets, for every command, made from the list of settings.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, ValueHint};

use crate::config::{CommandLineSettings, SETTINGS, Setting, SettingKind};
use crate::site::SiteName;

const HEADING: &str = "Settings";
const CONFIG: &str = "config";
const SITE: &str = "site";

/// The command with a flag for every setting.
pub(super) fn add_to(command: Command) -> Command {
    let config = Arg::new(CONFIG)
        .long(CONFIG)
        .value_name("FILE")
        .value_hint(ValueHint::FilePath)
        .value_parser(clap::value_parser!(PathBuf))
        .help("The settings file, in place of the one in the user's configuration directory");
    let site = Arg::new(SITE)
        .long(SITE)
        .value_name("NAME")
        .value_parser(clap::value_parser!(SiteName))
        .help("The site of the settings file ([sites.NAME]) that is meant");
    let settings = SETTINGS.iter().filter_map(flag);
    let flags = [config, site].into_iter().chain(settings);
    command.args(flags.map(|flag| {
        flag.global(true)
            .help_heading(HEADING)
            .hide_short_help(true)
            .hide_possible_values(true)
    }))
}

/// The command with these flags left out of its help.
pub(super) fn hidden(command: Command) -> Command {
    command.mut_args(|arg| {
        let is_one = arg.get_help_heading() == Some(HEADING);
        let is_hidden = is_one || arg.is_hide_set();
        arg.hide(is_hidden)
    })
}

/// The command with these flags in its own help, and in that of no subcommand: they are many, and
/// the same everywhere.
pub(super) fn only_at_the_top(mut command: Command) -> Command {
    fn hide(command: &mut Command) {
        for subcommand in command.get_subcommands_mut() {
            *subcommand = hidden(std::mem::take(subcommand));
            hide(subcommand);
        }
    }
    command.build();
    hide(&mut command);
    command
}

fn flag(setting: &Setting) -> Option<Arg> {
    let name = setting.flag()?;
    let help = match setting.default {
        "required" => setting.meaning.to_owned(),
        default => format!("{} [default: {default}]", setting.meaning),
    };
    let flag = Arg::new(setting.name)
        .long(name)
        .help(help.replace('`', ""));
    Some(match setting.kind {
        SettingKind::Flag => words(flag, &["true", "false"]),
        SettingKind::Choice(choices) => words(flag, choices),
        SettingKind::Number(..) => flag.value_name("NUMBER"),
        SettingKind::List => flag.value_name("LIST"),
        SettingKind::Path if setting.name == "WIKI_API_TOKEN_FILE" => flag
            .visible_alias("token-file")
            .value_name("FILE")
            .value_hint(ValueHint::FilePath),
        SettingKind::Path | SettingKind::PathOrCommand => {
            flag.value_name("PATH").value_hint(ValueHint::AnyPath)
        }
        SettingKind::Text | SettingKind::Secret | SettingKind::Command => flag.value_name("TEXT"),
    })
}

fn words(flag: Arg, words: &'static [&'static str]) -> Arg {
    flag.value_name(words.join("|"))
        .value_parser(PossibleValuesParser::new(words))
}

/// Reads the settings given as flags. A flag counts before and after a subcommand.
pub(super) fn given(matches: &ArgMatches) -> CommandLineSettings {
    let mut innermost = matches;
    while let Some((_, matches)) = innermost.subcommand() {
        innermost = matches;
    }
    let with_flag = SETTINGS.iter().filter(|setting| setting.flag().is_some());
    CommandLineSettings {
        config: innermost.get_one::<PathBuf>(CONFIG).cloned(),
        site: innermost.get_one::<SiteName>(SITE).cloned(),
        sites: Vec::new(),
        flags: with_flag
            .filter_map(|setting| {
                // `token new` has switches of its own in place of some of these.
                let value = innermost.try_get_one::<String>(setting.name).ok()??;
                Some((setting.name, value.clone()))
            })
            .collect(),
    }
}
