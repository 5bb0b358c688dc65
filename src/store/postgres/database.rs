//! Asks the database for callers that wait, on whatever thread, and keeps the one holder of this process.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use tokio::task::block_in_place;
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::connections::{ConnectionPool, PASSWORD};
use super::faults::AskFault;
use super::holder::{Holder, HolderTimes, keep_renewing};
use super::schema::{self, Migrated};
use super::statement::{Statement, column};
use crate::store::{DatabaseAddress, SecretSource, StoreError, StoreResult};

/// The time after its end within which a question may still be answered: that of a password is not counted.
const LATE: Duration = PASSWORD.saturating_add(Duration::from_secs(2));
/// The time to wait until something is given back; giving it back goes on after that.
const GIVING_BACK: Duration = Duration::from_millis(250);
/// The time between two tries to give something back.
const AGAIN: Duration = Duration::from_secs(2);
/// The end of making the tables, or of bringing them up.
const MIGRATION: Duration = Duration::from_mins(2);
/// The end of a question beside the tables.
const UNCHECKED: Duration = Duration::from_secs(10);
/// The end of giving back all that this process holds.
const FAREWELL: Duration = Duration::from_secs(1);

/// A database, with the connections of this process to it and a thread for them.
#[derive(Debug)]
pub struct Database {
    pool: Arc<ConnectionPool>,
    /// `None` when it is being dropped.
    runtime: Option<Runtime>,
    times: HolderTimes,
    holder: Mutex<Option<Arc<Holder>>>,
}

/// Those that are open in this process.
static OPEN: Mutex<Vec<Weak<Database>>> = Mutex::new(Vec::new());

/// Two are equal if they have one address.
impl PartialEq for Database {
    fn eq(&self, other: &Self) -> bool {
        self.pool.address() == other.pool.address()
    }
}

impl Eq for Database {}

impl Database {
    /// Its address.
    pub(in crate::store) fn address(&self) -> &DatabaseAddress {
        self.pool.address()
    }

    /// The one of an address, which all of this process share as long as one of them has it.
    pub fn shared(
        address: DatabaseAddress,
        password: Option<SecretSource>,
    ) -> Result<Arc<Self>, &'static str> {
        let mut open = OPEN.lock();
        open.retain(|database| database.strong_count() > 0);
        let found = open.iter().filter_map(Weak::upgrade);
        if let Some(found) = { found }.find(|found| *found.pool.address() == address) {
            return Ok(found);
        }
        let new = Arc::new(Self::new(address, password)?);
        open.push(Arc::downgrade(&new));
        Ok(new)
    }

    /// Connects to nothing yet. The fault is a sentence's end.
    pub fn new(
        address: DatabaseAddress,
        password: Option<SecretSource>,
    ) -> Result<Self, &'static str> {
        Self::with_times(address, password, HolderTimes::USUAL)
    }

    /// Like [`Self::new`], with leases that last for another time.
    pub(super) fn with_times(
        address: DatabaseAddress,
        password: Option<SecretSource>,
        times: HolderTimes,
    ) -> Result<Self, &'static str> {
        // First: a runtime may not be dropped within another one, as a fault would do.
        let pool = Arc::new(ConnectionPool::new(address, password)?);
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("store")
            .enable_all()
            .build()
            .map_err(|_| "cannot be used, since no thread can be started")?;
        Ok(Self {
            pool,
            runtime: Some(runtime),
            times,
            holder: Mutex::default(),
        })
    }

    /// Makes our tables, or brings them up to this version.
    pub fn migrate(&self) -> StoreResult<Migrated> {
        let pool = Arc::clone(&self.pool);
        let done = self.spawn(async move {
            let mut deadline = Instant::now() + MIGRATION;
            let open = pool.connect_unchecked(&mut deadline).await;
            let mut open = open.map_err(|fault| fault.error)?;
            let migrated = schema::migrate(&mut open.client, pool.schema()).await;
            migrated.map_err(|fault| fault.error)
        });
        answer(&done, MIGRATION + LATE)
    }

    /// The rights that this program needs and has not, each in words.
    pub fn missing_rights(&self) -> StoreResult<Vec<String>> {
        self.texts(schema::MISSING_RIGHTS)
    }

    /// True if it takes no changes: it is a standby, or begins transactions that only read.
    pub fn is_read_only(&self) -> StoreResult<bool> {
        Ok(!self.texts(schema::READ_ONLY)?.is_empty())
    }

    /// Says in a sentence's end that a failover may lose what was synced, if the database has standby servers and
    /// none is synchronous.
    pub fn failover_risk(&self) -> StoreResult<Option<String>> {
        let standbys = self.texts(schema::ASYNCHRONOUS_STANDBYS)?;
        Ok(standbys.first().map(|number| {
            format!(
                "has standby servers ({number}), and none of them is synchronous: a failover may lose the last records of writes that were sent. Name one in synchronous_standby_names"
            )
        }))
    }

    /// The texts that a statement about our schema gives, whatever tables and rights there are.
    fn texts(&self, sql: &'static str) -> StoreResult<Vec<String>> {
        let pool = Arc::clone(&self.pool);
        let asked = self.spawn(async move {
            let mut deadline = Instant::now() + UNCHECKED;
            let open = pool.connect_unchecked(&mut deadline).await;
            let open = open.map_err(|fault| fault.error)?;
            let schema = pool.schema();
            let rows = open.client.query_typed(sql, &[(&schema, Type::TEXT)]).await;
            let rows = rows.map_err(|error| AskFault::new(&error).error)?;
            rows.iter().map(|row| column(row, 0)).collect()
        });
        answer(&asked, UNCHECKED + LATE)
    }

    /// The names of the wikis that have runs, in order.
    pub fn wikis(&self) -> StoreResult<Vec<String>> {
        let sql = "SELECT DISTINCT wiki COLLATE \"C\" FROM @.run ORDER BY 1";
        let rows = self.ask(Statement::new(sql))?;
        rows.iter().map(|row| column(row, 0)).collect()
    }

    /// Asks, and waits for the answer up to the statement's end.
    pub(super) fn ask(&self, statement: Statement) -> StoreResult<Vec<Row>> {
        let (pool, limit) = (Arc::clone(&self.pool), statement.limit);
        let asked = self.spawn(async move { pool.ask(&statement).await });
        answer(&asked, limit + LATE)
    }

    /// Gives something of a holder back: tries until it is done or all of the holder's is free. Waits a while
    /// for it.
    pub(super) fn give_back(&self, holder: &Arc<Holder>, statement: Statement) {
        if holder.is_gone() {
            return;
        }
        let (pool, holder) = (Arc::clone(&self.pool), Arc::downgrade(holder));
        let given = self.spawn(async move {
            while holder.upgrade().is_some_and(|holder| !holder.is_gone()) {
                if pool.ask(&statement).await.is_ok() {
                    break;
                }
                tokio::time::sleep(AGAIN).await;
            }
            Ok(())
        });
        // It goes on.
        let _ = answer(&given, GIVING_BACK);
    }

    /// The holder of this process, a new one if others removed the last.
    pub(super) fn holder(&self) -> StoreResult<Arc<Holder>> {
        let mut holder = self.holder.lock();
        if let Some(holder) = holder.as_ref().filter(|holder| !holder.is_gone()) {
            return Ok(Arc::clone(holder));
        }
        let new = Arc::new(Holder::new(self.times)?);
        self.ask(new.begin())?;
        if let Some(runtime) = &self.runtime {
            runtime.spawn(keep_renewing(Arc::clone(&self.pool), Arc::downgrade(&new)));
        }
        *holder = Some(Arc::clone(&new));
        Ok(new)
    }

    /// Begins work on the thread of the connections.
    fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = StoreResult<T>> + Send + 'static,
    ) -> Receiver<StoreResult<T>> {
        let (give, take) = sync_channel(1);
        if let Some(runtime) = &self.runtime {
            runtime.spawn(async move {
                // Nobody waits for it any more if this fails.
                let _ = give.send(Box::pin(work).await);
            });
        }
        take
    }
}

/// The result of work, if it comes within this time.
fn answer<T>(work: &Receiver<StoreResult<T>>, within: Duration) -> StoreResult<T> {
    let wait = || {
        work.recv_timeout(within)
            .unwrap_or_else(|error| match error {
                RecvTimeoutError::Timeout => Err(StoreError::Unreachable),
                RecvTimeoutError::Disconnected => Err(StoreError::BrokenOff),
            })
    };
    // Whoever asks on a thread of a runtime lets other tasks go on elsewhere.
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(wait),
        _ => wait(),
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let holder = self.holder.get_mut().take();
        if let Some(holder) = holder.filter(|holder| !holder.is_gone()) {
            // Else others wait until its end.
            let _ = self.ask(holder.end().within(FAREWELL));
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
