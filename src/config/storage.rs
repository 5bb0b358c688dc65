//! Reads the storage settings: the store, index, memory, retention.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use reqwest::header::HeaderMap;
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use super::network::network;
use super::{SettingError, SettingsSource, read_secret, token_command};
use crate::audit::{DatabaseSettings, Keep, SecretSource, StoreHome};
use crate::index::{
    CALLERS_BYTES, EmbeddingsEndpoint, IndexLoad, IndexMode, IndexSettings, MOST_PAGES, Pace,
};
use crate::memory::{MemoryMode, MemoryPeer};
use crate::mirror::MirrorSettings;
use crate::store::DatabaseAddress;
use crate::wiki::{Network, is_loopback, is_plain_place};

pub(super) fn audit_dir(source: &SettingsSource<'_>) -> Result<PathBuf, SettingError> {
    const NAME: &str = "WIKI_AUDIT_DIR";
    if let Some(dir) = source.path(NAME)? {
        return Ok(dir);
    }
    state_dir(source)?
        .map(|state| state.join("audit"))
        .ok_or_else(|| {
            SettingError::lacking(
                NAME,
                "is missing, and there is no home directory to put the audit log in; name a directory",
            )
        })
}

const STORE: &str = "WIKI_STORE";
/// The word for files in `WIKI_AUDIT_DIR`.
const LOCAL: &str = "local";
const PASSWORD_FILE: &str = "WIKI_STORE_PASSWORD_FILE";
const PASSWORD_COMMAND: &str = "WIKI_STORE_PASSWORD_COMMAND";

/// The place of all state: the directory, or the database that is set.
pub(super) fn store(source: &SettingsSource<'_>) -> Result<StoreHome, SettingError> {
    let (directory, database) = (audit_dir(source)?, database(source)?);
    StoreHome::open(directory, database.as_ref()).map_err(|fault| SettingError::new(STORE, fault))
}

/// The warning where a password is set and no database: whoever forgot it keeps a record of their own.
pub(super) fn warning(source: &SettingsSource<'_>, store: &StoreHome) -> Option<String> {
    let has_file = matches!(source.filled(PASSWORD_FILE), Ok(Some(_)));
    let has_password = has_file || !source.values(PASSWORD_COMMAND).is_empty();
    (has_password && !store.is_remote()).then(|| {
        "a password is set for a database, and store names none: this server keeps its state by itself, in WIKI_AUDIT_DIR".to_owned()
    })
}

/// The database that is set in place of the directory, if one is.
fn database(source: &SettingsSource<'_>) -> Result<Option<DatabaseSettings>, SettingError> {
    let set = source.filled(STORE)?.filter(|text| text != LOCAL);
    let Some(text) = set else {
        return Ok(None);
    };
    let address = DatabaseAddress::parse(&text).map_err(|fault| SettingError::new(STORE, fault))?;
    let password = secret(source, PASSWORD_FILE, PASSWORD_COMMAND)?;
    Ok(Some(DatabaseSettings { address, password }))
}

/// The secret of these two settings; its file is looked at now, its command is run at each use.
fn secret(
    source: &SettingsSource<'_>,
    file: &'static str,
    command: &'static str,
) -> Result<Option<SecretSource>, SettingError> {
    let argv = source.values(command).to_vec();
    match source.path(file)? {
        Some(_) if !argv.is_empty() => {
            let beside = source.origin(file).name_of(file);
            let fault = format!("is set beside {beside}; leave one of them out");
            Err(SettingError::new(command, fault))
        }
        Some(path) => {
            let secret = secret_in(path);
            let secret = secret.map_err(|fault| SettingError::new(file, fault))?;
            Ok(Some(secret))
        }
        None if argv.is_empty() => Ok(None),
        None => Ok(Some(SecretSource::new(move || {
            token_command::run(&argv, token_command::LIMIT).map(Into::into)
        }))),
    }
}

/// The secret in a file, which is looked at now and read anew each time.
fn secret_in(file: PathBuf) -> Result<SecretSource, String> {
    read_secret(&file)?;
    Ok(SecretSource::new(move || trimmed(&read_secret(&file)?)))
}

/// The store that a command names: a directory, or a database with the file of its password, whose indexes lie
/// in this one.
///
/// # Errors
/// A sentence that repeats nothing of the address.
pub fn store_at(
    text: &str,
    password_file: Option<PathBuf>,
    indexes: &Path,
) -> Result<StoreHome, String> {
    if text == LOCAL {
        return Err("local names no directory here; name the one of WIKI_AUDIT_DIR".to_owned());
    }
    if !text.contains("://") {
        return Ok(StoreHome::from(text));
    }
    let database = DatabaseSettings {
        address: DatabaseAddress::parse(text).map_err(|fault| format!("the address {fault}"))?,
        password: password_file.map(secret_in).transpose()?,
    };
    let opened = StoreHome::open(indexes.to_owned(), Some(&database));
    opened.map_err(|fault| format!("the address {fault}"))
}

/// A secret without the end of its line.
fn trimmed(read: &SecretString) -> Result<SecretString, String> {
    match read.expose_secret().trim() {
        "" => Err("is empty".to_owned()),
        secret => Ok(secret.into()),
    }
}

/// Our subdirectory of the user's state directory.
fn state_dir(source: &SettingsSource<'_>) -> Result<Option<PathBuf>, SettingError> {
    let absolute = |dir: PathBuf| dir.is_absolute().then_some(dir);
    let state = source
        .text("XDG_STATE_HOME")?
        .map(PathBuf::from)
        .and_then(absolute);
    let home = source.text("HOME")?.map(PathBuf::from).and_then(absolute);
    Ok(state
        .or_else(|| home.map(|home| home.join(".local").join("state")))
        .map(|state| state.join("wikijs-gate")))
}

pub(super) fn index(
    source: &SettingsSource<'_>,
    warnings: &mut Vec<String>,
) -> Result<IndexSettings, SettingError> {
    const NAME: &str = "WIKI_INDEX";
    const DIR: &str = "WIKI_INDEX_DIR";
    let mode = match source.choice(NAME)? {
        Some("disk") => IndexMode::Disk,
        Some("off") => IndexMode::Off,
        _ => IndexMode::Memory,
    };
    let mut dir = source.path(DIR)?;
    if dir.is_none() {
        dir = state_dir(source)?.map(|state| state.join("index"));
    }
    if mode == IndexMode::Disk && dir.is_none() {
        return Err(SettingError::new(
            DIR,
            "is missing, and there is no home directory to put the index in; name a directory",
        ));
    }
    let embeddings = embeddings(source, warnings)?;
    if embeddings.is_some() && mode == IndexMode::Off {
        warnings.push(
            "WIKI_EMBEDDINGS_URL is set, and WIKI_INDEX is off: no vectors are made, and search goes by words alone"
                .to_owned(),
        );
    }
    Ok(IndexSettings {
        mode,
        dir,
        most: MOST_PAGES,
        callers_bytes: CALLERS_BYTES,
        pace: Pace::new(IndexLoad::percent(source.number("WIKI_INDEX_LOAD")?)),
        embeddings: embeddings.map(Arc::new),
    })
}

/// The endpoint that makes vectors of sections, if one is set.
fn embeddings(
    source: &SettingsSource<'_>,
    warnings: &mut Vec<String>,
) -> Result<Option<EmbeddingsEndpoint>, SettingError> {
    const ADDRESS: &str = "WIKI_EMBEDDINGS_URL";
    const MODEL: &str = "WIKI_EMBEDDINGS_MODEL";
    let key = secret(
        source,
        "WIKI_EMBEDDINGS_KEY_FILE",
        "WIKI_EMBEDDINGS_KEY_COMMAND",
    )?;
    let per_day = source.number("WIKI_EMBEDDINGS_PER_DAY")?;
    let address = source.parsed(ADDRESS, |text| {
        let url = Url::parse(text).ok().filter(is_plain_place);
        url.ok_or(
            "must be an address such as http://127.0.0.1:8080/v1/embeddings, without a user, a password or a query",
        )
    })?;
    let Some(address) = address else {
        return Ok(None);
    };
    let missing = "is missing: it names the model at WIKI_EMBEDDINGS_URL";
    let model = source.filled(MODEL)?;
    let model = model.ok_or_else(|| SettingError::new(MODEL, missing))?;
    if address.scheme() == "http" && !is_loopback(&address) {
        warnings.push(format!(
            "{ADDRESS} is plain http: page text, searches and the key travel unprotected"
        ));
    }
    let network = Network {
        headers: HeaderMap::new(),
        certificate: None,
        ..network(source, Some(&address), &mut Vec::new())?
    };
    let model = (model, per_day);
    Ok(Some(EmbeddingsEndpoint::new(address, model, key, network)))
}

/// Reads the settings of the mirror; `None` if it is off.
pub(super) fn mirror(source: &SettingsSource<'_>) -> Result<Option<MirrorSettings>, SettingError> {
    let megabytes = source.number("WIKI_MIRROR_KEEP_MB")?;
    let settings = MirrorSettings {
        keep_days: source.number("WIKI_MIRROR_KEEP_DAYS")?,
        keep_bytes: u64::from(megabytes) << 20,
        apart: MirrorSettings::APART,
    };
    Ok((source.choice("WIKI_MIRROR")? == Some("on")).then_some(settings))
}

/// Reads the memory mode, and the peer with which a site's memories are exchanged.
pub(super) fn memory(source: &SettingsSource<'_>) -> Result<MemoryMode, SettingError> {
    const PEER: &str = "WIKI_MEMORY_PEER";
    let token = secret(
        source,
        "WIKI_MEMORY_PEER_TOKEN_FILE",
        "WIKI_MEMORY_PEER_TOKEN_COMMAND",
    )?;
    let mode = source.choice("WIKI_MEMORY")?;
    let peer = source.parsed(PEER, |address| MemoryPeer::new(address, token))?;
    match (mode, peer) {
        (Some("site"), peer) => Ok(MemoryMode::Site(peer.map(Arc::new))),
        (_, None) => Ok(MemoryMode::Client),
        (_, Some(_)) => Err(SettingError::new(
            PEER,
            "needs memory = \"site\": what goes to another server is shared by all clients of this one",
        )),
    }
}

pub(super) fn keep(source: &SettingsSource<'_>) -> Result<Keep, SettingError> {
    let megabytes = source.number("WIKI_AUDIT_KEEP_MB")?;
    Ok(Keep {
        days: source.number("WIKI_AUDIT_KEEP_DAYS")?,
        proposal_days: source.number("WIKI_PROPOSALS_KEEP_DAYS")?,
        bytes: u64::from(megabytes) << 20,
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::fs::PermissionsExt as _;

    use secrecy::ExposeSecret as _;

    use super::{DatabaseAddress, DatabaseSettings, database, store};
    use crate::config::SettingsSource;

    fn read(pairs: &[(&'static str, &str)]) -> Result<Option<DatabaseSettings>, String> {
        // The environment names no file of a password.
        let source = SettingsSource {
            flags: &{ pairs.iter() }
                .map(|(name, value)| (*name, (*value).to_owned()))
                .collect::<Vec<_>>(),
            ..SettingsSource::new(&|_| None)
        };
        database(&source).map_err(|error| error.to_string())
    }

    #[test]
    fn a_database_is_named_by_an_address_without_a_password_which_is_never_repeated() {
        for local in [&[][..], &[("WIKI_STORE", "local")]] {
            assert!(read(local).unwrap().is_none());
        }
        for good in [
            "postgres://gate@db.example:5433/wikis",
            "postgresql://gate@%2Frun%2Fpostgresql/wikis",
        ] {
            let found = read(&[("WIKI_STORE", good)]).unwrap().unwrap();
            assert_eq!(Ok(found.address), DatabaseAddress::parse(good));
            assert!(found.password.is_none());
        }
        for (bad, why) in [
            ("postgres://gate:sesame@db/wikis", "holds a password"),
            (
                "postgres://gate@db/wikis?password=sesame",
                "holds a password",
            ),
            ("postgres//gate:sesame@db/wikis", "must be local or"),
            ("mysql://gate@db/sesame", "must be local or"),
            ("postgres://db/sesame", "must name a user"),
            ("postgres://gate@db", "must name a database"),
            ("postgres://gate@db/wikis/sesame", "must name a database"),
            ("postgres://gate@db/wikis?sesame", "has a parameter"),
            ("sesame", "must be local or"),
        ] {
            let told = read(&[("WIKI_STORE", bad)]).unwrap_err();
            assert!(told.starts_with(&format!("WIKI_STORE {why}")), "{told}");
            assert!(
                !told.contains("sesame") && !told.contains("gate:"),
                "{told}"
            );
        }
    }

    #[test]
    fn a_password_is_read_from_its_file_each_time_and_only_if_it_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("password");
        let named = path.to_str().unwrap();
        let pairs = [
            ("WIKI_STORE", "postgres://gate@db/wikis"),
            ("WIKI_STORE_PASSWORD_FILE", named),
        ];
        let told = read(&pairs).unwrap_err();
        assert!(told.contains("it is not there"), "{told}");
        let may = |mode| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        std::fs::write(&path, "sesame\n").unwrap();
        may(0o644);
        let told = read(&pairs).unwrap_err();
        assert!(
            told.contains("chmod 600") && !told.contains("sesame"),
            "{told}"
        );
        may(0o600);
        let password = read(&pairs).unwrap().unwrap().password.unwrap();
        assert_eq!(password.read().unwrap().expose_secret(), "sesame");
        std::fs::write(&path, "another").unwrap();
        assert_eq!(password.read().unwrap().expose_secret(), "another");
        std::fs::write(&path, "\n").unwrap();
        assert_eq!(password.read().unwrap_err(), "is empty");
        assert!(!format!("{password:?}").contains("another"));
    }

    #[test]
    fn a_database_that_cannot_be_used_stops_a_start() {
        let told = |address: &'static str| {
            let get = move |name: &str| match name {
                "WIKI_AUDIT_DIR" => Some(OsString::from("/audit")),
                "WIKI_STORE" => Some(OsString::from(address)),
                _ => None,
            };
            store(&SettingsSource::new(&get)).map_err(|fault| fault.to_string())
        };
        let plain = "postgres://gate@db/wikis?sslmode=disable";
        if cfg!(feature = "postgres") {
            let told = told(plain).unwrap_err();
            assert!(told.starts_with("WIKI_STORE has sslmode=disable"), "{told}");
        } else {
            let told = told(plain).unwrap_err();
            assert!(told.contains("this build has no PostgreSQL"), "{told}");
        }
    }
}
