//! The layers that settings come from: the settings file, the environment, the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use super::file::{File, SiteEntries};
use super::key_source::settings_of_key;
use super::setting::{InSite, Setting};
use super::{Origin, SETTINGS, SettingError, SettingsSource};
use crate::nearest::{did_you_mean, nearest};
use crate::site::SiteName;

/// The variable that names the settings file.
const CONFIG: &str = "WIKI_CONFIG";
const BASE_URL: &str = "WIKI_BASE_URL";

/// Settings from the command line.
#[derive(Debug, Clone, Default)]
pub struct CommandLineSettings {
    /// The settings file.
    pub config: Option<PathBuf>,
    /// The site to use.
    pub site: Option<SiteName>,
    /// The only sites that count among several; without them, all.
    pub sites: Vec<SiteName>,
    /// Settings, by their names in the environment.
    pub flags: Vec<(&'static str, String)>,
}

/// All sources of settings.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    flags: Vec<(&'static str, String)>,
    file: Option<File>,
    /// The site whose settings these are.
    site: Option<SiteName>,
    /// The only sites of [`Self::every`]; without them, all.
    only: Vec<SiteName>,
}

impl Layers {
    /// Reads the settings file, if there is one. Only the command line and `WIKI_CONFIG` can name
    /// it. Otherwise it lies in the user's configuration directory, never in the directory in which
    /// a client happens to start us.
    ///
    /// # Errors
    /// Every fault of the file that is found without the other layers, or a wrong choice of site.
    pub fn load(given: &CommandLineSettings) -> Result<Self, Vec<String>> {
        let asked_for = asked_for(given);
        if asked_for
            .as_ref()
            .is_some_and(|path| path.as_os_str().is_empty())
        {
            let fault = format!("{CONFIG} is set but empty; give it a value or leave it out");
            return Err(vec![fault]);
        }
        let file = match asked_for.clone().or_else(usual_file) {
            Some(path) => File::read(&path, asked_for.is_some())?,
            None => None,
        };
        let site = site_of(given, file.as_ref()).map_err(|fault| vec![fault])?;
        Ok(Self::new(given, file, site))
    }

    fn new(given: &CommandLineSettings, file: Option<File>, site: Option<SiteName>) -> Self {
        Self {
            flags: given.flags.clone(),
            file,
            site,
            only: given.sites.clone(),
        }
    }

    /// Reads as much as can be understood of a settings file that cannot be taken over; `None` if
    /// that is nothing. No site is chosen.
    pub fn load_in_part(given: &CommandLineSettings) -> Option<Self> {
        let asked_for = asked_for(given);
        let file = match asked_for.clone().or_else(usual_file) {
            Some(path) => File::read_in_part(&path, asked_for.is_some()).ok()?,
            None => None,
        };
        Some(Self::new(given, file.map(|(file, _)| file), None))
    }

    /// True if the key of any wiki comes from a command.
    pub fn runs_command(&self) -> bool {
        let mut every = self.every().into_iter();
        every.any(|layers| !layers.source().values("WIKI_TOKEN_COMMAND").is_empty())
    }

    /// True if they give the wiki an address.
    pub fn has_address(&self) -> bool {
        !matches!(self.source().filled(BASE_URL), Ok(None))
    }

    /// True if they give any wiki its address and its key.
    pub fn name_a_wiki(&self) -> bool {
        let has_key = |layers: &Self| !settings_of_key(&layers.source()).is_empty();
        let every = self.every();
        every.iter().any(|one| one.has_address() && has_key(one))
    }

    /// The same layers for a site, or for the wiki without a site table; `None` if the site is not
    /// there.
    pub fn at(&self, site: Option<&SiteName>) -> Option<Self> {
        let file = self.file.as_ref();
        let is_there = |name| file.and_then(|file| file.site(name)).is_some();
        site.is_none_or(is_there).then(|| Self {
            site: site.cloned(),
            ..self.clone()
        })
    }

    /// The layers with a file that is not written yet.
    pub(super) fn of_file(file: File, given: &CommandLineSettings) -> Result<Self, String> {
        let site = site_of(given, Some(&file))?;
        Ok(Self::new(given, Some(file), site))
    }

    /// The site whose settings these are; `None` for the wiki without a site table.
    pub const fn site(&self) -> Option<&SiteName> {
        self.site.as_ref()
    }

    /// The wikis of these layers, each with its own settings: the one without a site table, if any,
    /// then the sites.
    pub fn every(&self) -> Vec<Self> {
        let of = |site| Self {
            site,
            ..self.clone()
        };
        let unnamed = of(None);
        let is_there = unnamed.has_address() && self.only.is_empty();
        let is_meant = |name: &SiteName| self.only.is_empty() || self.only.contains(name);
        let sites = self.file.iter().flat_map(|file| &file.sites);
        let sites = sites.filter(|site| is_meant(&site.name));
        let sites = sites.map(|site| of(Some(site.name.clone())));
        let mut every: Vec<Self> = is_there.then_some(unnamed).into_iter().collect();
        every.extend(sites);
        every
    }

    /// True if the server is bound to some sites and the settings file has none of them.
    pub fn lack_their_sites(&self) -> bool {
        !self.only.is_empty() && self.every().is_empty()
    }

    /// True if these are the settings above the sites, and they name no wiki.
    pub(super) fn has_sites_alone(&self) -> bool {
        let has_sites = (self.file.as_ref()).is_some_and(|file| !file.sites.is_empty());
        self.site.is_none() && has_sites && !self.has_address()
    }

    /// The site that the address `/mcp` serves without a site's name.
    pub fn default_site(&self) -> Option<&SiteName> {
        self.file.as_ref()?.default_site.as_ref()
    }

    /// True if there are several sites, and `/mcp`, without a site's name, means none of them.
    pub fn lack_a_default(&self) -> bool {
        let every = self.every();
        every.len() > 1
            && every.iter().all(|one| one.site.is_some())
            && self.default_site().is_none()
    }

    /// The values, by name.
    pub fn source(&self) -> SettingsSource<'_> {
        SettingsSource {
            flags: &self.flags,
            get: &environment,
            file: self.file.as_ref(),
            site: (self.file.as_ref()).and_then(|file| file.site(self.site.as_ref()?)),
        }
    }

    /// The settings file that was read.
    pub fn file(&self) -> Option<&std::path::Path> {
        self.file.as_ref().map(|file| file.path.as_path())
    }

    /// Warnings about the sources of settings.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        let file = self.file.as_ref().and_then(|file| file.warning.clone());
        let unknown = names_in_environment().filter_map(|name| unknown_name(&name));
        let oauth = self.source().tables().oauth;
        let grants = oauth.map(|oauth| oauth.warnings()).unwrap_or_default();
        file.into_iter().chain(unknown).chain(grants)
    }
}

/// The site to use. If none is named, it is the only site or else the default one; `None` if a
/// layer sets an address outside of the sites.
fn site_of(given: &CommandLineSettings, file: Option<&File>) -> Result<Option<SiteName>, String> {
    let sites = file.map_or(&[][..], |file| &file.sites);
    let Some(name) = &given.site else {
        let is_unnamed = given.flags.iter().any(|(name, _)| *name == BASE_URL)
            || environment(BASE_URL).is_some()
            || file.is_some_and(|file| file.get(BASE_URL).is_some());
        let found = match sites {
            _ if is_unnamed => None,
            [one] => Some(&one.name),
            _ => file.and_then(|file| file.default_site.as_ref()),
        };
        if found.is_none()
            && !is_unnamed
            && !sites.is_empty()
            && let Some(flag) = flag_of_site(given)
        {
            return Err(format!(
                "{flag}: each site has its own in the settings file; leave the flag out"
            ));
        }
        return found.map(|name| without_flags(given, name)).transpose();
    };
    if !sites.iter().any(|site| site.name == *name) {
        let known = known(sites);
        return Err(format!("there is no site {name}; {known}"));
    }
    without_flags(given, name).map(Some)
}

/// The site, if no flag sets what only its own table may set: such a flag would change nothing.
fn without_flags(given: &CommandLineSettings, name: &SiteName) -> Result<SiteName, String> {
    match flag_of_site(given) {
        None => Ok(name.clone()),
        Some(flag) => Err(format!(
            "{flag}: the site {name} has its own in the settings file; leave the flag out"
        )),
    }
}

/// A flag that sets what only a site's own table may set.
fn flag_of_site(given: &CommandLineSettings) -> Option<String> {
    let own = |(name, _): &&(&str, String)| {
        Setting::named(name).is_some_and(|setting| setting.in_site == InSite::Own)
    };
    let (flag, _) = given.flags.iter().find(own)?;
    Some(Origin::Flag.name_of(flag))
}

/// The names of all sites, in words.
pub(super) fn known(sites: &[SiteEntries]) -> String {
    match sites {
        [] => "the settings file has no [sites.NAME]".to_owned(),
        sites => {
            let names: Vec<&str> = sites.iter().map(|site| site.name.as_str()).collect();
            format!("there are {}", names.join(", "))
        }
    }
}

/// The place of the settings file, whether it exists or not; `None` without a home directory.
pub fn file_place(given: &CommandLineSettings) -> Option<PathBuf> {
    asked_for(given).or_else(usual_file)
}

fn asked_for(given: &CommandLineSettings) -> Option<PathBuf> {
    let named = || environment(CONFIG).map(PathBuf::from);
    given.config.clone().or_else(named)
}

fn usual_file() -> Option<PathBuf> {
    let absolute = |name| {
        environment(name)
            .map(PathBuf::from)
            .filter(|dir| dir.is_absolute())
    };
    absolute("XDG_CONFIG_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".config")))
        .map(|dir| dir.join("wikijs-gate").join("config.toml"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the room that reads the environment"
)]
pub(super) fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// True if the user wants no colours (`NO_COLOR`, set to anything), or the terminal is not capable of any.
pub fn no_colour() -> bool {
    environment("NO_COLOR").is_some_and(|value| !value.is_empty()) || has_dumb_terminal()
}

/// True if the terminal takes text alone, and no codes.
pub fn has_dumb_terminal() -> bool {
    environment("TERM").is_some_and(|term| term == "dumb")
}

/// The program that shows a text longer than the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pager {
    /// A line for the shell, as `PAGER` has it.
    Line(OsString),
    /// The default where `PAGER` is not set.
    Usual,
}

/// The user's pager; `None` if `PAGER` is empty or the terminal is not capable of one.
pub fn pager() -> Option<Pager> {
    if has_dumb_terminal() {
        return None;
    }
    match environment("PAGER") {
        None => Some(Pager::Usual),
        Some(line) if line.is_empty() => None,
        Some(line) => Some(Pager::Line(line)),
    }
}

/// True if the user has set no options of `less` (`LESS`).
pub fn sets_no_less_options() -> bool {
    environment("LESS").is_none()
}

/// True if the program was started with this variable, which is no setting of its own.
pub fn was_given(name: &str) -> bool {
    environment(name).is_some()
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the room that reads the environment"
)]
fn names_in_environment() -> impl Iterator<Item = String> {
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok())
}

/// A warning for an unknown name that looks like one of our settings: a misspelt name could leave a
/// gate open that the operator thinks closed.
fn unknown_name(name: &str) -> Option<String> {
    if name == CONFIG || !name.starts_with("WIKI_") {
        return None;
    }
    match Setting::named(name) {
        Some(setting) if setting.is_in_environment() => None,
        Some(setting) => {
            let in_file = setting.file_name();
            let flag = setting.flag();
            let flag = flag.map_or_else(String::new, |flag| format!(", or --{flag}"));
            Some(format!(
                "{name} is not read from the environment: set {in_file} in the settings file{flag}"
            ))
        }
        None => {
            let meant = did_you_mean(meant_by(name));
            Some(format!("{name} is no setting of this version{meant}"))
        }
    }
}

/// The settings that the environment may set.
fn known_names() -> impl Iterator<Item = &'static str> {
    let settings = SETTINGS.iter();
    let settings = settings.filter(|setting| setting.is_in_environment());
    settings.map(|setting| setting.name)
}

/// The setting whose name is nearest to this one.
fn meant_by(name: &str) -> Option<&'static str> {
    nearest(name, known_names(), 0.85)
}

/// Names the variable that most likely means a missing setting, whose fault this is: then it is set
/// wrongly, and not left unset.
pub(super) fn with_misspelt(mut fault: SettingError) -> SettingError {
    if fault.lacks {
        let meant = |name: &String| meant_by(name) == Some(fault.name);
        let told = names_in_environment()
            .filter(meant)
            .find_map(|name| unknown_name(&name));
        if let Some(told) = told {
            fault.fault = format!("{}; {told}", fault.fault);
            fault.lacks = false;
        }
    }
    fault
}

#[cfg(test)]
mod tests {
    use super::{SETTINGS, unknown_name};

    #[test]
    fn a_misspelt_name_is_told_with_the_right_one() {
        let told = unknown_name("WIKI_ALLOWED_MUTATION_PATH_PREFIX").expect("a warning");
        assert!(
            told.ends_with("did you mean WIKI_ALLOWED_MUTATION_PATH_PREFIXES?"),
            "{told}"
        );
        for known in ["WIKI_BASE_URL", "WIKI_CONFIG", "HOME"] {
            assert_eq!(unknown_name(known), None);
        }
    }

    #[test]
    fn a_setting_that_the_environment_cannot_set_is_told_where_it_stands() {
        let of_file = SETTINGS.iter().filter(|one| !one.is_in_environment());
        let told: Vec<(&str, String)> = of_file
            .map(|one| (one.name, unknown_name(one.name).expect(one.name)))
            .collect();
        for (name, told) in &told {
            let in_file = name.trim_start_matches("WIKI_").to_lowercase();
            assert!(
                told.contains(&format!("set {in_file} in the settings file")),
                "{told}"
            );
            assert!(!told.contains("did you mean"), "{told}");
        }
        let of = |name| {
            told.iter()
                .find(|(own, _)| *own == name)
                .map(|(_, told)| &**told)
        };
        assert!(of("WIKI_UPLOAD_DIR").is_some_and(|told| told.ends_with(", or --upload-dir")));
        assert!(of("WIKI_TOKEN_COMMAND").is_some_and(|told| told.ends_with("settings file")));
    }
}
