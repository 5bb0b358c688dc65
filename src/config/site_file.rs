//! Adds a site to a settings file or removes one. All other text stays exactly as it was.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::file::{File, first};
use super::{CommandLineSettings, InitFile, Layers, Settings, why_unread};
use crate::private_files;
use crate::site::SiteName;

/// A site to be added to a settings file, not written yet.
pub struct NewSite {
    path: PathBuf,
    name: SiteName,
    old: String,
}

impl NewSite {
    /// Begins a site for this file.
    ///
    /// # Errors
    /// The file cannot be read, has faults, or has this site already.
    pub fn begin(path: &Path, name: &SiteName) -> Result<Self, String> {
        let (path, old, file) = opened(path)?;
        if file.site(name).is_some() {
            return Err(format!(
                "the settings file has a site {name}; `wikijs-gate site remove {name}` takes it out"
            ));
        }
        Ok(Self {
            path,
            name: name.clone(),
            old,
        })
    }

    fn text(&self, draft: &InitFile) -> String {
        let gap = match self.old.as_str() {
            "" => "",
            old if old.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        [&self.old, gap, &draft.table_of(&self.name)].concat()
    }

    /// The settings that the site would have. Also checks that no other site has its address.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self, draft: &InitFile) -> Result<Settings, String> {
        let file = parse(&self.path, &self.text(draft))?;
        let given = CommandLineSettings {
            site: Some(self.name.clone()),
            ..CommandLineSettings::default()
        };
        let layers = Layers::of_file(file, &given)?;
        let settings = Settings::load(&layers).map_err(|faults| first(&faults))?;
        for other in layers.every() {
            if other.site() == Some(&self.name) {
                continue;
            }
            if Settings::wiki_name(&other).is_ok_and(|name| name == settings.wiki.name) {
                let other = other.site().map_or_else(
                    || "the wiki of no table".to_owned(),
                    |other| format!("the site {other}"),
                );
                return Err(format!("{other} has this address already"));
            }
        }
        Ok(settings)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// It cannot be written, or somebody changed it meanwhile.
    pub fn write(&self, draft: &InitFile) -> Result<(), String> {
        replace(&self.path, &self.old, &self.text(draft))
    }
}

/// Takes a site out of a settings file.
///
/// # Errors
/// The file cannot be read or written, the site is not in it, or the site has no table of its own.
pub fn remove_site(path: &Path, name: &SiteName) -> Result<(), String> {
    let (path, old, file) = opened(path)?;
    if file.site(name).is_none() {
        return Err(format!("the settings file has no site {name}"));
    }
    if file.default_site.as_ref() == Some(name) {
        return Err(format!(
            "default_site is {name}; name another one there, or take default_site out, first"
        ));
    }
    let by_hand = || format!("the site {name} is no table of its own; take it out by hand");
    let lines = lines_of(&old, name).ok_or_else(by_hand)?;
    let new: String = old
        .split_inclusive('\n')
        .enumerate()
        .filter(|(number, _)| !lines.contains(number))
        .map(|(_, line)| line)
        .collect();
    let without = parse(&path, &new).map_err(|_| by_hand())?;
    let kept = |file: &File| -> Vec<SiteName> {
        let names = file.sites.iter().map(|site| site.name.clone());
        names.filter(|other| other != name).collect()
    };
    if without.site(name).is_some() || kept(&file) != kept(&without) {
        return Err(by_hand());
    }
    replace(&path, &old, &new)
}

/// The lines of a site's table, with its header, counted from 0.
fn lines_of(text: &str, name: &SiteName) -> Option<Range<usize>> {
    let table = DeTable::parse(text).ok()?;
    let sites = table.get_ref().get("sites")?.get_ref().as_table()?;
    let (key, members) = sites
        .iter()
        .find(|(key, _)| key.get_ref() == name.as_str())?;
    let line_at = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count();
    let header = line_at(key.span().start);
    let is_header = |line: &str| {
        let line = line.trim_start();
        line.starts_with('[') && !line.starts_with("[[")
    };
    text.lines().nth(header).filter(|line| is_header(line))?;
    let members = members.get_ref().as_table()?;
    let ends = members.values().map(|value| line_at(value.span().end));
    let last = ends.max().unwrap_or(header).max(header);
    // A blank line after the table belongs to it.
    let is_blank = |line: &str| line.trim().is_empty();
    let after = text
        .lines()
        .nth(last.saturating_add(1))
        .is_some_and(is_blank);
    Some(header..last.saturating_add(1).saturating_add(usize::from(after)))
}

/// The file itself, behind all links, with its text and what that says.
fn opened(path: &Path) -> Result<(PathBuf, String, File), String> {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let text = read(&path)?;
    let file = parse(&path, &text)?;
    Ok((path, text, file))
}

fn read(path: &Path) -> Result<String, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(format!(
            "there is no settings file at {}; `wikijs-gate config init` writes one",
            path.display()
        )),
        Err(error) => Err(format!(
            "the settings file {} cannot be read: {}",
            path.display(),
            why_unread(error.kind())
        )),
    }
}

fn parse(path: &Path, text: &str) -> Result<File, String> {
    File::parse(path, text).map_err(|faults| first(&faults))
}

/// Replaces a file if it still has its old text. The old file stays until the new one is complete.
fn replace(path: &Path, old: &str, new: &str) -> Result<(), String> {
    let failed = |error: io::Error| format!("{} cannot be written: {error}", path.display());
    let _held = private_files::lock_to_replace(path).map_err(failed)?;
    if read(path)? != old {
        return Err("somebody changed the settings file meanwhile; try again".to_owned());
    }
    private_files::replace(path, new.as_bytes()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use tempfile::TempDir;

    use super::{InitFile, NewSite, remove_site};

    const FILE: &str = "# mine\nindex = \"off\"   # no index\n\n[sites.a]\nbase_url = \"https://a.example\"\napi_token = \"k\"\n# of b\n[sites.b]\nbase_url = \"https://b.example\"\napi_token = \"\"\"\nk\"\"\"\n\n[[rules]]\nname = \"x\"\nthen = \"deny\"\n";

    #[test]
    fn sites_that_are_added_at_once_are_all_there_or_refused() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("config.toml");
        fs::write(&path, FILE).unwrap();
        let add = |number: usize| {
            let name = format!("n{number}").parse().unwrap();
            let mut draft = InitFile::default();
            let address = format!("https://n{number}.example");
            draft.set("WIKI_BASE_URL", &address).unwrap();
            draft.set("WIKI_API_TOKEN", "key").unwrap();
            let new = NewSite::begin(&path, &name).unwrap();
            new.write(&draft).map(drop)
        };
        let added: Vec<Result<(), String>> = std::thread::scope(|scope| {
            let all: Vec<_> = { 0..16 }
                .map(|number| scope.spawn(move || add(number)))
                .collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let text = fs::read_to_string(&path).unwrap();
        assert!(added.iter().any(Result::is_ok), "{added:?}");
        for (number, added) in added.iter().enumerate() {
            let is_there = text.contains(&format!("[sites.n{number}]"));
            assert_eq!(is_there, added.is_ok(), "{added:?}");
            if let Err(why) = added {
                assert!(
                    why.starts_with("somebody changed the settings file"),
                    "{why}"
                );
            }
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_site_comes_and_goes_and_all_else_stays_to_the_letter() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("config.toml");
        fs::write(&path, FILE).unwrap();
        let name = "c".parse().unwrap();
        let new = NewSite::begin(&path, &name).unwrap();
        let mut draft = InitFile::default();
        draft.set("WIKI_BASE_URL", "https://a.example").unwrap();
        draft.set("WIKI_API_TOKEN", "key").unwrap();
        let taken = new.check(&draft).unwrap_err();
        assert_eq!(taken, "the site a has this address already");
        draft.unset("WIKI_BASE_URL");
        draft.set("WIKI_BASE_URL", "https://c.example").unwrap();
        assert_eq!(new.check(&draft).unwrap().wiki.name, "c.example");
        new.write(&draft).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(FILE), "{text}");
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert!(NewSite::begin(&path, &name).is_err());
        // A change based on an older text of the file writes nothing.
        assert!(new.write(&draft).unwrap_err().contains("meanwhile"));
        remove_site(&path, &name).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{FILE}\n"));
        remove_site(&path, &"b".parse().unwrap()).unwrap();
        remove_site(&path, &"a".parse().unwrap()).unwrap();
        let left = "# mine\nindex = \"off\"   # no index\n\n# of b\n[[rules]]\nname = \"x\"\nthen = \"deny\"\n\n";
        assert_eq!(fs::read_to_string(&path).unwrap(), left);
        assert!(remove_site(&path, &name).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_table_of_its_own_stays() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("config.toml");
        for text in [
            "sites.a.base_url = \"https://a.example\"\n",
            "sites = { a = { base_url = \"https://a.example\" } }\n",
            "default_site = \"a\"\n[sites.a]\nbase_url = \"https://a.example\"\n",
        ] {
            fs::write(&path, text).unwrap();
            assert!(remove_site(&path, &"a".parse().unwrap()).is_err(), "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
