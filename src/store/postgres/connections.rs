//! Keeps a few connections to the database, and asks it: each question has an end.

use std::error::Error;
use std::fmt;
use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls, Row};
use tokio_rustls::TlsConnector;

use super::faults::{AskFault, NO_PASSWORD, with_causes};
use super::schema;
use super::statement::Statement;
use crate::private_files::{changeable_by_others, open_at_once};
use crate::store::address::{DatabaseAddress, ServerPlace};
use crate::store::local::fs::read_at_most;
use crate::store::{SecretSource, StoreError, StoreResult};

/// The most connections at a time.
const MOST: usize = 8;
/// Time between two tries of one question, which doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// The time for which a database may be away while questions wait for it.
const PATIENCE: Duration = Duration::from_secs(3);
/// The time between two tries to reach one that is away for longer.
const AWAY_PAUSE: Duration = Duration::from_secs(1);
/// The most bytes of a file of authorities.
const MOST_OF_AUTHORITIES: u64 = 1 << 20;
/// The end of getting a password: longer than its command may take.
pub(super) const PASSWORD: Duration = Duration::from_secs(11);
/// The end of taking back a question.
const CANCEL: Duration = Duration::from_secs(1);
/// The first message of a connection that is to be encrypted: its length and a code.
const ENCRYPT: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// The connections to one database.
pub(super) struct ConnectionPool {
    address: DatabaseAddress,
    password: Option<SecretSource>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    idle: Mutex<Vec<DatabaseConnection>>,
    permits: Semaphore,
    /// Those of urgent questions.
    urgent: Semaphore,
    away: Mutex<Option<Away>>,
}

impl fmt::Debug for ConnectionPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConnectionPool({:?})", self.address)
    }
}

/// Since when the database is away, when it was tried last, and what came of that.
#[derive(Debug, Clone, Copy)]
struct Away {
    since: Instant,
    tried: Instant,
    error: StoreError,
}

/// A connection; closed when dropped.
pub(super) struct DatabaseConnection {
    pub(super) client: Client,
    task: AbortHandle,
}

impl Drop for DatabaseConnection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ConnectionPool {
    /// Connects to nothing yet. The fault is a sentence's end.
    pub(super) fn new(
        address: DatabaseAddress,
        password: Option<SecretSource>,
    ) -> Result<Self, &'static str> {
        let tls = match &address.place {
            ServerPlace::Host(host, _) if !address.is_plain => {
                let name = ServerName::try_from(host.clone())
                    .map_err(|_| "names a host that no certificate can be for")?;
                Some((encryption(address.authorities.as_deref())?, name))
            }
            _ => None,
        };
        Ok(Self {
            address,
            password,
            tls,
            idle: Mutex::default(),
            permits: Semaphore::new(MOST),
            urgent: Semaphore::new(1),
            away: Mutex::default(),
        })
    }

    pub(super) const fn address(&self) -> &DatabaseAddress {
        &self.address
    }

    /// Our schema.
    pub(super) fn schema(&self) -> &str {
        &self.address.schema
    }

    /// Asks until there is an answer, on another connection if one breaks.
    pub(super) async fn ask(&self, statement: &Statement) -> StoreResult<Vec<Row>> {
        let deadline = Instant::now() + statement.limit;
        let sql = schema::in_schema(statement.sql, &self.address.schema);
        let mut pause = FIRST_PAUSE;
        loop {
            let asked = Box::pin(self.ask_once(&sql, statement, deadline)).await;
            match asked {
                Ok(rows) => return Ok(rows),
                Err(fault) if !fault.is_passing => return Err(fault.error),
                Err(fault) if Instant::now() + pause >= deadline || self.is_long_away() => {
                    return Err(fault.error);
                }
                Err(_) => sleep(pause).await,
            }
            pause *= 2;
        }
    }

    async fn ask_once(
        &self,
        sql: &str,
        statement: &Statement,
        mut deadline: Instant,
    ) -> Result<Vec<Row>, AskFault> {
        let too_late = |_| AskFault::lasting(StoreError::Unreachable);
        let permits = if statement.is_urgent {
            &self.urgent
        } else {
            &self.permits
        };
        let permit = timeout_at(deadline, permits.acquire()).await;
        let _permit = permit.map_err(too_late)?.map_err(|_| AskFault::AWAY)?;
        let open = match self.idle_connection() {
            Some(open) => open,
            None => self.connect(&mut deadline).await?,
        };
        let typed = statement.typed();
        match timeout_at(deadline, open.client.query_typed(sql, &typed)).await {
            Ok(Ok(rows)) => {
                self.idle.lock().push(open);
                Ok(rows)
            }
            Ok(Err(error)) => {
                let fault = AskFault::new(&error);
                if fault.keeps_connection && !open.client.is_closed() {
                    self.idle.lock().push(open);
                }
                Err(fault)
            }
            Err(late) => {
                tracing::error!(sql, "store: the database does not answer");
                // The others may be as dead: nobody waits for them before one is tried.
                self.idle.lock().clear();
                self.note_away(PATIENCE + AWAY_PAUSE);
                if timeout(CANCEL, self.take_back(&open)).await.is_err() {
                    tracing::debug!("store: a question could not be taken back");
                }
                Err(too_late(late))
            }
        }
    }

    fn idle_connection(&self) -> Option<DatabaseConnection> {
        let mut idle = self.idle.lock();
        idle.retain(|open| !open.client.is_closed());
        idle.pop()
    }

    /// Notes that the database is away, since this long.
    fn note_away(&self, since: Duration) {
        let tried = Instant::now();
        let since = tried.checked_sub(since).unwrap_or(tried);
        let error = StoreError::Unreachable;
        let away = Away {
            since,
            tried,
            error,
        };
        self.away.lock().get_or_insert(away);
    }

    /// True if it is no use to wait.
    fn is_long_away(&self) -> bool {
        let away = *self.away.lock();
        away.is_some_and(|away| away.since.elapsed() > PATIENCE)
    }

    /// A new connection to a database whose tables are ours.
    async fn connect(&self, deadline: &mut Instant) -> Result<DatabaseConnection, AskFault> {
        let away = *self.away.lock();
        let away = away.filter(|away| away.tried.elapsed() < AWAY_PAUSE);
        if let Some(away) = away.filter(|_| self.is_long_away()) {
            return Err(AskFault {
                error: away.error,
                ..AskFault::AWAY
            });
        }
        let connected = match self.connect_unchecked(deadline).await {
            Ok(open) => {
                let checked = timeout_at(*deadline, schema::check(&open.client, self.schema()));
                checked.await.unwrap_or(Err(AskFault::AWAY)).map(|()| open)
            }
            Err(fault) => Err(fault),
        };
        let mut away = self.away.lock();
        let error = connected.as_ref().err().map(|fault| fault.error);
        let is_away = |error: &StoreError| [StoreError::Unreachable, NO_PASSWORD].contains(error);
        if let Some(error) = error.filter(is_away) {
            let tried = Instant::now();
            if away.is_none() {
                tracing::error!(address = %self.address, "store: {error}");
            }
            let since = away.map_or(tried, |away| away.since);
            *away = Some(Away {
                since,
                tried,
                error,
            });
        } else if away.take().is_some() {
            tracing::warn!("store: the database can be reached again");
        }
        connected
    }

    /// A new connection, whatever tables there are. The time in which the password comes is not counted.
    pub(super) async fn connect_unchecked(
        &self,
        deadline: &mut Instant,
    ) -> Result<DatabaseConnection, AskFault> {
        let too_late = |_| AskFault::AWAY;
        let wire = timeout_at(*deadline, self.reach()).await;
        let wire = wire.map_err(too_late)?;
        let wire = wire.map_err(|error| self.cannot_connect(&error))?;
        let asked = Instant::now();
        let password = self.password().await?;
        *deadline += asked.elapsed();
        let open = timeout_at(*deadline, self.log_in(wire, password)).await;
        open.map_err(too_late)?
    }

    async fn password(&self) -> Result<Option<SecretString>, AskFault> {
        let Some(password) = &self.password else {
            return Ok(None);
        };
        let loaded = timeout(PASSWORD, password.load()).await;
        let loaded = loaded.unwrap_or_else(|_| Err("does not come".to_owned()));
        let loaded = loaded.map_err(|fault| {
            tracing::error!("store: the password of the database's user {fault}");
            AskFault::lasting(NO_PASSWORD)
        });
        loaded.map(Some)
    }

    /// Says so in the program's own log, once for each time that the database is away.
    fn cannot_connect(&self, error: &(dyn Error + 'static)) -> AskFault {
        let why = error.downcast_ref().and_then(unfit);
        let error = with_causes(error);
        if self.away.lock().is_none() {
            tracing::error!(%error, "store: cannot connect to the database");
        } else {
            tracing::debug!(%error, "store: cannot connect to the database");
        }
        why.map_or(AskFault::AWAY, |why| {
            AskFault::lasting(StoreError::NotReady(why))
        })
    }

    async fn reach(&self) -> io::Result<Box<dyn Wire>> {
        let mut stream = match &self.address.place {
            ServerPlace::Socket(path) => return Ok(Box::new(UnixStream::connect(path).await?)),
            ServerPlace::Host(host, port) => TcpStream::connect((host.as_str(), *port)).await?,
        };
        stream.set_nodelay(true)?;
        let Some((tls, name)) = &self.tls else {
            return Ok(Box::new(stream));
        };
        stream.write_all(&ENCRYPT).await?;
        if stream.read_u8().await? != b'S' {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "the server does not encrypt",
            ));
        }
        let encrypted = Box::pin(tls.connect(name.clone(), stream)).await?;
        Ok(Box::new(encrypted))
    }

    async fn log_in(
        &self,
        wire: Box<dyn Wire>,
        password: Option<SecretString>,
    ) -> Result<DatabaseConnection, AskFault> {
        let mut config = Config::new();
        config
            .ssl_mode(SslMode::Disable)
            .application_name("wikijs-gate")
            .user(&self.address.user)
            .dbname(&self.address.database);
        if let Some(password) = password {
            config.password(password.expose_secret());
        }
        let (client, connection) = Box::pin(config.connect_raw(wire, NoTls)).await.map_err(
            |error| match AskFault::new(&error) {
                fault if fault.is_passing => self.cannot_connect(&error),
                fault => fault,
            },
        )?;
        let task = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error = %with_causes(&error), "store: a connection ended");
            }
        });
        Ok(DatabaseConnection {
            client,
            task: task.abort_handle(),
        })
    }

    /// Asks the server to give up what a connection is at.
    async fn take_back(&self, open: &DatabaseConnection) -> Result<(), tokio_postgres::Error> {
        let token = open.client.cancel_token();
        match self.reach().await {
            Ok(wire) => token.cancel_query_raw(wire, NoTls).await,
            Err(_) => Ok(()),
        }
    }
}

/// A way to a server: a socket of this machine, or TCP, plain or encrypted.
trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Wire for T {}

/// Encryption with a server that an authority of this file vouches for, or without it one of this system.
fn encryption(authorities: Option<&Path>) -> Result<TlsConnector, &'static str> {
    let provider = Arc::new(default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|_| "cannot be encrypted by this program")?;
    let config = if let Some(file) = authorities {
        config.with_root_certificates(authorities_in(file)?)
    } else {
        let verifier = Verifier::new(provider).map_err(
            |_| "needs certificate authorities that could vouch for the server; name their file as ?sslrootcert=FILE, or install this system's trust store (ca-certificates)",
        )?;
        config
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
    };
    Ok(TlsConnector::from(Arc::new(config.with_no_client_auth())))
}

/// The authorities in a file that nobody else may change; it may be a link: containers get their files so.
fn authorities_in(file: &Path) -> Result<RootCertStore, &'static str> {
    const UNREAD: &str = "has an sslrootcert that cannot be read, is no file, or is too large";
    let file = open_at_once(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            "has an sslrootcert that is not there; name the file of the authority"
        }
        _ => UNREAD,
    })?;
    // A pipe is not read: whoever holds it open may never write.
    let found = file.metadata().ok().filter(Metadata::is_file);
    let found = found.ok_or(UNREAD)?;
    let pem = read_at_most(&file, MOST_OF_AUTHORITIES).ok().flatten();
    let pem = pem.ok_or(UNREAD)?;
    if changeable_by_others(&found).is_some() {
        return Err(
            "has an sslrootcert that others may change; let only its owner write it, who is this user or root",
        );
    }
    let mut roots = RootCertStore::empty();
    for one in CertificateDer::pem_slice_iter(&pem) {
        let added = one.ok().and_then(|one| roots.add(one).ok());
        added.ok_or(
            "has an sslrootcert with something that is no certificate; write it anew in PEM",
        )?;
    }
    if roots.is_empty() {
        return Err(
            "has an sslrootcert that holds no certificate in PEM (-----BEGIN CERTIFICATE-----)",
        );
    }
    Ok(roots)
}

/// The reason why a server that answers cannot be used, if there is one that an operator can mend.
fn unfit(error: &io::Error) -> Option<&'static str> {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    if let Some(rustls::Error::InvalidCertificate(why)) = inner {
        return Some(if format!("{why:?}").contains("CaUsedAsEndEntity") {
            "shows the certificate of an authority as its own: give it one with basicConstraints CA:FALSE"
        } else {
            "has a certificate that is not trusted here, or of another name: name the file of its authority in WIKI_STORE as ?sslrootcert=FILE, or correct the host there"
        });
    }
    (error.kind() == io::ErrorKind::Unsupported).then_some(
        "does not encrypt: switch its TLS on, or, on this machine alone, add ?sslmode=disable to WIKI_STORE",
    )
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use rustix::fs::{CWD, Mode, OFlags, mkfifoat, openat};
    use tempfile::TempDir;
    use tokio::net::UnixListener;

    use super::super::faults::NO_PASSWORD;
    use super::super::statement::Statement;
    use super::{
        ConnectionPool, DatabaseAddress, Duration, MOST_OF_AUTHORITIES, PATIENCE, SecretSource,
        encryption,
    };

    /// The pool of a database that is there.
    fn pool(dir: &TempDir, password: SecretSource) -> (ConnectionPool, UnixListener) {
        let there = UnixListener::bind(dir.path().join(".s.PGSQL.5432")).unwrap();
        let place = dir.path().to_str().unwrap().replace('/', "%2F");
        let address = DatabaseAddress::parse(&format!("postgres://gate@{place}/wikis")).unwrap();
        (ConnectionPool::new(address, Some(password)).unwrap(), there)
    }

    /// The database is there: it is the command of the password that fails.
    #[tokio::test]
    async fn a_password_that_cannot_be_read_is_told_as_such_however_long_it_lasts() {
        let dir = tempfile::tempdir().unwrap();
        let password = SecretSource::new(|| Err("cannot be read".to_owned()));
        let (pool, _there) = pool(&dir, password);
        for long in [Duration::ZERO, PATIENCE * 2] {
            if let Some(away) = &mut *pool.away.lock() {
                away.since -= long;
            }
            let asked = pool.ask(&Statement::new("SELECT 1")).await;
            assert_eq!(asked.unwrap_err(), NO_PASSWORD, "{long:?}");
        }
        assert!(pool.is_long_away());
    }

    /// It fails later than the question may take.
    #[tokio::test]
    async fn the_time_in_which_a_password_comes_is_not_that_of_the_question() {
        const LIMIT: Duration = Duration::from_millis(50);
        let dir = tempfile::tempdir().unwrap();
        let (_never, wait) = std::sync::mpsc::channel::<()>();
        let wait = parking_lot::Mutex::new(wait);
        let password = SecretSource::new(move || {
            let _ = wait.lock().recv_timeout(LIMIT * 3);
            Err("failed with exit code 3".to_owned())
        });
        let (pool, _there) = pool(&dir, password);
        let asked = pool.ask(&Statement::new("SELECT 1").within(LIMIT)).await;
        assert_eq!(asked.unwrap_err(), NO_PASSWORD);
    }

    #[test]
    fn a_file_of_authorities_that_cannot_be_used_is_named_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ca.pem");
        let of_mode = |text: &[u8], mode| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            encryption(Some(&path)).err()
        };
        let of = |text: &[u8]| of_mode(text, 0o644);
        assert!(encryption(Some(&path)).err().unwrap().contains("not there"));
        assert!(of(b"").unwrap().contains("holds no certificate"));
        assert!(of(b"nonsense").unwrap().contains("holds no certificate"));
        let broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(of(broken).unwrap().contains("no certificate; write"));
        let large = vec![b'\n'; usize::try_from(MOST_OF_AUTHORITIES).unwrap() + 1];
        assert!(of(&large).unwrap().contains("too large"));
        let name = vec!["db.example.com".to_owned()];
        let good = rcgen::generate_simple_self_signed(name).unwrap();
        let good = good.cert.pem();
        assert_eq!(of(good.as_bytes()), None);
        let open = of_mode(good.as_bytes(), 0o646);
        assert!(open.unwrap().contains("others may change"));
        let unread = || encryption(Some(&path)).err().unwrap();
        std::fs::remove_file(&path).unwrap();
        // Nobody ever writes into the pipe, not even who holds it open.
        mkfifoat(CWD, &path, Mode::RWXU).unwrap();
        assert!(unread().contains("cannot be read"));
        let _held = openat(CWD, &path, OFlags::RDWR, Mode::empty()).unwrap();
        assert!(unread().contains("cannot be read"));
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(unread().contains("cannot be read"));
    }
}
