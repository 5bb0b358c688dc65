//! The file of named clients: a line of JSON each, 0600, replaced as a whole under a lock.

use std::collections::HashSet;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::client::{NamedClient, Rotation};
use super::tokens_fault::TokensFileError;
use crate::private_files::{
    self, changeable_by_others, changeable_by_others_than_its_owner, open_at_once,
};

/// The largest file that is read.
const MOST_BYTES: u64 = 1024 * 1024;

/// The file of named clients.
#[derive(Debug, Clone)]
pub struct TokensFile {
    /// Its path.
    pub path: PathBuf,
    /// True if a command looks after it for its owner.
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

    /// All clients; none if there is no file.
    ///
    /// # Errors
    /// [`TokensFileError`]; one bad line spoils the whole file.
    pub fn read(&self) -> Result<Vec<NamedClient>, TokensFileError> {
        clients(&self.trusted()?)
    }

    /// Its text, if nobody else could have written it; nothing if there is no file.
    fn trusted(&self) -> Result<String, TokensFileError> {
        match self.text()? {
            (_, Some(fault)) => Err(TokensFileError::Foreign(fault)),
            (text, None) => Ok(text),
        }
    }

    /// Its text, and why others may have written it; `None` if there is no file.
    pub(in crate::server) fn text(
        &self,
    ) -> Result<(String, Option<&'static str>), TokensFileError> {
        let file = match open_at_once(&self.path) {
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

    /// Changes the lines while nobody else does; whoever reads the file sees it before or after.
    fn change(
        &self,
        change: impl FnOnce(&str) -> Result<Vec<String>, TokensFileError>,
    ) -> Result<(), TokensFileError> {
        let lock = private_files::open(&self.path.with_added_extension("lock"))?;
        lock.lock()?;
        let mut lines = change(&self.trusted()?)?;
        lines.push(String::new());
        let text = lines.join("\n");
        if u64::try_from(text.len()).is_ok_and(|length| length > MOST_BYTES) {
            return Err(TokensFileError::TooLarge);
        }
        Ok(private_files::replace(&self.path, text.as_bytes())?)
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
            let is_there = !gone.is_empty();
            is_there.then_some(kept).ok_or(TokensFileError::Unknown)
        })
    }

    /// Gives a client another token and another end, or a person another end. The token before
    /// counts on for `keep`, but not beyond the end that it had.
    ///
    /// # Errors
    /// [`TokensFileError`].
    pub fn rotate(&self, name: &str, rotation: &Rotation<'_>) -> Result<(), TokensFileError> {
        self.change(|text| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let found = lines.iter_mut().find_map(|line| {
                let client: Option<NamedClient> = serde_json::from_str(line).ok();
                Some((line, client.filter(|client| client.name == name)?))
            });
            let (line, client) = found.ok_or(TokensFileError::Unknown)?;
            let rotated = client.rotated(rotation)?;
            *line = serde_json::to_string(&rotated).map_err(io::Error::from)?;
            Ok(lines)
        })
    }
}

/// All clients of a file's text.
fn clients(text: &str) -> Result<Vec<NamedClient>, TokensFileError> {
    let (mut names, mut ids) = (HashSet::new(), HashSet::new());
    let mut client = |line: &str| {
        // serde's own message could repeat what is there.
        let client: NamedClient = serde_json::from_str(line)
            .map_err(|_| "it is not of the form that `token new` writes".to_owned())?;
        client.checked(Duration::ZERO)?;
        if !names.insert(client.name.clone()) {
            return Err("its name is there twice".to_owned());
        }
        if !ids.insert(client.id) {
            return Err("its id is there twice".to_owned());
        }
        Ok(client)
    };
    let lines = (1..).zip(text.lines());
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, text)| {
            let fault = |fault| TokensFileError::Line {
                line: number,
                fault,
            };
            client(text).map_err(fault)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::{TokensFile, TokensFileError};
    use crate::audit::Role;
    use crate::server::http::{ClientToken, Grant, NamedClient};

    fn client(name: &str) -> NamedClient {
        NamedClient::new(
            name,
            Role::Agent,
            Some(&ClientToken::new().expect("bits")),
            Grant::default(),
        )
        .expect("a client")
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
