//! The file of named clients: a line of JSON each, 0600, replaced as a whole under a lock.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::client::NamedClient;
use super::secret::LinkSecret;
use crate::audit::ClientId;
use crate::config::{changeable_by_others, changeable_by_others_than_its_owner};
use crate::private_files;

/// The largest file that is read.
const MOST_BYTES: u64 = 1024 * 1024;

/// What is wrong with the file of named clients. No message has anything of what is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokensFileError {
    /// It cannot be read or written.
    #[error("the tokens file cannot be used: {0}")]
    Io(io::ErrorKind),
    /// Others could have written it.
    #[error("the tokens file {0}")]
    Foreign(&'static str),
    /// It is far too large.
    #[error("the tokens file is larger than a megabyte")]
    TooLarge,
    /// A line is no client.
    #[error("line {line} of the tokens file is no client: {fault}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        fault: String,
    },
    /// There is no client in it, or no file.
    #[error("the tokens file is missing or names no client: nobody may call")]
    NoClient,
    /// A client of this name is there already.
    #[error("a client of this name is there already; revoke it first")]
    Taken,
    /// There is no client of this name.
    #[error("there is no client of this name")]
    Unknown,
    /// Nobody signs in as this client.
    #[error("this client has a token; only reviewers and auditors sign in with a link")]
    HasNoLink,
}

impl From<io::Error> for TokensFileError {
    fn from(error: io::Error) -> Self {
        Self::Io(error.kind())
    }
}

/// The file of named clients.
#[derive(Debug, Clone)]
pub struct TokensFile {
    path: PathBuf,
    /// Whether a command looks after it for its owner.
    is_looked_after: bool,
}

impl TokensFile {
    /// A file that may not be there yet.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self {
            path,
            is_looked_after: false,
        }
    }

    /// The same for an operator's command: root may look after the file of a service's user.
    #[must_use]
    pub fn for_operator(path: PathBuf) -> Self {
        Self {
            path,
            is_looked_after: private_files::may_hand_over(),
        }
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All clients; none if there is no file.
    ///
    /// # Errors
    /// [`TokensFileError`]; one bad line spoils the whole file.
    pub fn read(&self) -> Result<Vec<NamedClient>, TokensFileError> {
        clients(&self.trusted()?)
    }

    /// What it says, if nobody else could have written it.
    fn trusted(&self) -> Result<String, TokensFileError> {
        match self.text()? {
            (_, Some(fault)) => Err(TokensFileError::Foreign(fault)),
            (text, None) => Ok(text),
        }
    }

    /// What it says, and why that may be another's word; nothing if there is no file.
    pub(super) fn text(&self) -> Result<(String, Option<&'static str>), TokensFileError> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Default::default()),
            file => file?,
        };
        let metadata = file.metadata()?;
        if metadata.len() > MOST_BYTES {
            return Err(TokensFileError::TooLarge);
        }
        let mut text = String::new();
        file.take(MOST_BYTES).read_to_string(&mut text)?;
        let fault = if self.is_looked_after {
            changeable_by_others_than_its_owner(&metadata)
        } else {
            changeable_by_others(&metadata)
        };
        Ok((text, fault))
    }

    /// Adds a client.
    ///
    /// # Errors
    /// [`TokensFileError`].
    pub fn add(&self, client: NamedClient) -> Result<(), TokensFileError> {
        let line = serde_json::to_string(&client).map_err(io::Error::from)?;
        self.change(move |text| {
            let known = clients(text)?;
            if known.iter().any(|other| other.name == client.name) {
                return Err(TokensFileError::Taken);
            }
            let kept = text.lines().map(str::to_owned);
            Ok(kept.chain([line]).collect())
        })
    }

    /// Removes a client; lines that are no clients stay as they are.
    ///
    /// # Errors
    /// [`TokensFileError`].
    pub fn remove(&self, name: &str) -> Result<(), TokensFileError> {
        self.change(|text| {
            let is_of = |line: &str| {
                let line: Option<Value> = serde_json::from_str(line).ok();
                line.is_some_and(|line| line.get("name").and_then(Value::as_str) == Some(name))
            };
            let (gone, kept): (Vec<_>, Vec<_>) = text
                .lines()
                .map(str::to_owned)
                .partition(|line| is_of(line));
            (!gone.is_empty())
                .then_some(kept)
                .ok_or(TokensFileError::Unknown)
        })
    }

    /// Gives a person another link to sign in with, in place of the one before.
    ///
    /// # Errors
    /// [`TokensFileError`].
    pub fn give_link(&self, name: &str, link: &LinkSecret) -> Result<(), TokensFileError> {
        self.change_one(
            |client| client.name == name,
            |client| {
                if client.role().signs_in() {
                    Ok(client.signing_in_with(link))
                } else {
                    Err(TokensFileError::HasNoLink)
                }
            },
        )
    }

    /// Uses up the link with this digest, and says whose it was: of all who come with one, in
    /// any process, the first alone is told.
    pub(super) fn use_up_link(&self, digest: &str) -> Result<Option<ClientId>, TokensFileError> {
        let mut whose = None;
        let used = self.change_one(
            |client| client.clone().signed_in(digest).is_some(),
            |client| {
                whose = Some(client.id());
                client.signed_in(digest).ok_or(TokensFileError::Unknown)
            },
        );
        match used {
            Ok(()) => Ok(whose),
            Err(TokensFileError::Unknown) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Changes the line of one client; all other lines stay as they are.
    fn change_one(
        &self,
        is_meant: impl Fn(&NamedClient) -> bool,
        change: impl FnOnce(NamedClient) -> Result<NamedClient, TokensFileError>,
    ) -> Result<(), TokensFileError> {
        self.change(move |text| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let client_of = |line: &String| serde_json::from_str::<NamedClient>(line).ok();
            let found = lines.iter_mut().find_map(|line| {
                let client = client_of(line).filter(&is_meant)?;
                Some((line, client))
            });
            let (line, client) = found.ok_or(TokensFileError::Unknown)?;
            *line = serde_json::to_string(&change(client)?).map_err(io::Error::from)?;
            Ok(lines)
        })
    }

    /// Changes the file while no other command does; whoever reads it sees it before or after.
    fn change(
        &self,
        change: impl FnOnce(&str) -> Result<Vec<String>, TokensFileError>,
    ) -> Result<(), TokensFileError> {
        let beside = |ending: &str| {
            let mut path = self.path.clone().into_os_string();
            path.push(ending);
            PathBuf::from(path)
        };
        let lock = private_files::open(&beside(".lock"))?;
        lock.lock()?;
        let lines = change(&self.trusted()?)?;
        let new = beside(".new");
        // One that an earlier command left behind may have another mode.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        // Root may change the file of a service, which must be able to read it still.
        let mut file = private_files::make_in_place_of(&self.path, &new)?;
        for line in &lines {
            writeln!(file, "{line}")?;
        }
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        let dir = self.path.parent().filter(|dir| !dir.as_os_str().is_empty());
        File::open(dir.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(())
    }
}

/// All clients of a file's text.
fn clients(text: &str) -> Result<Vec<NamedClient>, TokensFileError> {
    let (mut names, mut ids) = (HashSet::new(), HashSet::new());
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            let line_fault = |fault| TokensFileError::Line {
                line: number + 1,
                fault,
            };
            // serde's own message could repeat what is there.
            let client: NamedClient = serde_json::from_str(line).map_err(|_| {
                line_fault("it is not of the form that `token new` writes".to_owned())
            })?;
            client.checked(Duration::ZERO).map_err(line_fault)?;
            if !names.insert(client.name.clone()) {
                return Err(line_fault("its name is there twice".to_owned()));
            }
            if !ids.insert(client.id()) {
                return Err(line_fault("its id is there twice".to_owned()));
            }
            Ok(client)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::{TokensFile, TokensFileError};
    use crate::server::http::{Grant, NamedClient, Token};

    fn client(name: &str) -> NamedClient {
        NamedClient::new(name, &Token::new().expect("bits"), Grant::default()).expect("a client")
    }

    #[test]
    fn clients_come_and_go_and_the_file_is_private() {
        let dir = tempfile::TempDir::new().expect("a directory");
        let path = dir.path().join("tokens");
        let file = TokensFile::new(path.clone());
        assert_eq!(file.read(), Ok(vec![]));
        let (one, other) = (client("one"), client("other"));
        assert_eq!(file.add(one.clone()), Ok(()));
        assert_eq!(file.add(other.clone()), Ok(()));
        assert_eq!(file.add(client("one")), Err(TokensFileError::Taken));
        assert_eq!(file.read(), Ok(vec![one, other.clone()]));
        assert_eq!(file.remove("one"), Ok(()));
        assert_eq!(file.remove("one"), Err(TokensFileError::Unknown));
        assert_eq!(file.read(), Ok(vec![other]));
        let mode = fs::metadata(path).expect("the file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_others_may_write_is_neither_read_nor_changed() {
        let dir = tempfile::TempDir::new().expect("a directory");
        let path = dir.path().join("tokens");
        let file = TokensFile::new(path.clone());
        file.add(client("one")).expect("added");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o620)).expect("a mode");
        assert!(matches!(file.read(), Err(TokensFileError::Foreign(_))));
        let added = file.add(client("other"));
        assert!(matches!(added, Err(TokensFileError::Foreign(_))));
    }

    #[test]
    fn a_client_is_removed_beside_a_broken_line_that_stays() {
        let dir = tempfile::TempDir::new().expect("a directory");
        let path = dir.path().join("tokens");
        let file = TokensFile::new(path.clone());
        file.add(client("one")).expect("added");
        let one = fs::read_to_string(&path).expect("the file");
        fs::write(&path, format!("nonsense\n{one}{{\"name\": 1}}\n")).expect("written");
        assert_eq!(file.remove("other"), Err(TokensFileError::Unknown));
        assert_eq!(file.remove("one"), Ok(()));
        let left = fs::read_to_string(&path).expect("the file");
        assert_eq!(left, "nonsense\n{\"name\": 1}\n");
    }

    #[test]
    fn one_bad_line_spoils_the_file_and_is_not_repeated() {
        let dir = tempfile::TempDir::new().expect("a directory");
        let path = dir.path().join("tokens");
        let file = TokensFile::new(path.clone());
        file.add(client("one")).expect("added");
        let good = fs::read_to_string(&path).expect("the file");
        for bad in ["{\"name\":\"wjs_secret\"}", "nonsense wjs_secret", &good] {
            fs::write(&path, format!("{good}\n{bad}")).expect("written");
            let error = file.read().expect_err("a bad line").to_string();
            assert!(
                error.starts_with("line 3 ") && !error.contains("wjs_secret"),
                "{error}"
            );
        }
    }
}
