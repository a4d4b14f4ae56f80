//! What lasts: one database, behind one thread. Who waits for it never holds up the threads that talk to hooks.
//!
//! It is SQLite, or PostgreSQL where several servers are to share it. The statements of `store/` are written once
//! for both: `$1` parameters in the order in which they first appear, `ON CONFLICT`, no function that only one of the
//! two has. One transaction at a time, whichever it is.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use anyhow::{Context as _, Result};
use hookctl::files;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{Notify, oneshot};

use postgresql::PostgreSql;
use sql::{SqlResult, Tx};

pub mod audit;
pub mod device;
pub mod event;
pub mod memory;
pub mod postgresql;
pub mod question;
pub mod session;
pub mod sql;

const SCHEMA: &str = include_str!("store/schema.sql");
/// How long a statement waits for another process that writes.
const BUSY: Duration = Duration::from_secs(5);

/// Work on the database, in a transaction of its own.
type Job = Box<dyn FnOnce(&mut Database) + Send>;

/// Where it all is.
#[derive(Debug)]
enum Database {
    Sqlite(Connection),
    PostgreSql(Box<PostgreSql>),
}

/// The database did not do what it was asked to.
#[derive(Debug, Clone)]
pub struct StoreError(String);

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StoreError {}

/// The database.
#[derive(Debug, Clone)]
pub struct Store {
    jobs: mpsc::Sender<Job>,
    /// How others on it are listened to, where there can be others.
    shared: Option<Arc<tokio_postgres::Config>>,
}

impl Store {
    /// Opens the file, and makes it where it is not there.
    ///
    /// # Errors
    /// Where it cannot be made, or is no database.
    pub fn open(path: &Path) -> Result<Store> {
        let connection = open_connection(path)
            .with_context(|| format!("cannot open the database {}", path.display()))?;
        Store::start(Database::Sqlite(connection), None)
    }

    /// Connects to PostgreSQL.
    ///
    /// # Errors
    /// Where the address is none, it cannot be reached, or the tables cannot be made.
    pub fn connect(url: &str) -> Result<Store> {
        let config =
            postgresql::read_address(url).context("--database: no address of PostgreSQL")?;
        let database = PostgreSql::open(config.clone()).context("cannot open the database")?;
        Store::start(Database::PostgreSql(Box::new(database)), Some(Arc::new(config)))
    }

    fn start(mut database: Database, shared: Option<Arc<tokio_postgres::Config>>) -> Result<Store> {
        let (jobs, todo) = mpsc::channel::<Job>();
        std::thread::Builder::new().name("store".into()).spawn(move || {
            while let Ok(job) = todo.recv() {
                job(&mut database);
            }
        })?;
        Ok(Store { jobs, shared })
    }

    /// Does the work in one transaction: all of it lasts, or nothing.
    ///
    /// # Errors
    /// What the database said.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> SqlResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.begin(work).await.map_err(|_| gone())?
    }

    /// The same for the commands that have nothing else to do.
    ///
    /// # Errors
    /// What the database said.
    pub fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> SqlResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.begin(work).blocking_recv().map_err(|_| gone())?
    }

    /// Does the work when its turn comes; nobody waits for it.
    pub fn post(&self, work: impl FnOnce(&Tx<'_>) -> SqlResult<()> + Send + 'static) {
        let job = move |database: &mut Database| {
            if let Err(error) = database.in_transaction(work) {
                tracing::warn!("not kept: {error}");
            }
        };
        let _ = self.jobs.send(Box::new(job));
    }

    /// Can other servers be on it?
    pub fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Wakes whoever waits as soon as another server tells something; where none can, never. Works until the
    /// process ends.
    pub async fn listen(&self, woken: &Arc<Notify>) {
        match &self.shared {
            Some(config) => postgresql::listen(config, woken).await,
            None => std::future::pending().await,
        }
    }

    fn begin<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> SqlResult<T> + Send + 'static,
    ) -> oneshot::Receiver<Result<T, StoreError>> {
        let (done, answer) = oneshot::channel();
        let job = move |database: &mut Database| {
            // Whoever asked and went away is not to find it done later.
            if done.is_closed() {
                return;
            }
            let result = database.in_transaction(work);
            // Whoever asked may be gone.
            let _ = done.send(result.map_err(|error| StoreError(error.to_string())));
        };
        // Where the thread is gone, so is the sender of the answer, and that is told.
        let _ = self.jobs.send(Box::new(job));
        answer
    }
}

fn gone() -> StoreError {
    StoreError("the database's thread has ended".into())
}

impl Database {
    fn in_transaction<T>(&mut self, work: impl FnOnce(&Tx<'_>) -> SqlResult<T>) -> SqlResult<T> {
        match self {
            Database::Sqlite(connection) => in_sqlite(connection, work),
            Database::PostgreSql(database) => database.in_transaction(work),
        }
    }
}

fn in_sqlite<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Tx<'_>) -> SqlResult<T>,
) -> SqlResult<T> {
    // A transaction that turns from reading to writing could fail half-way where another process writes.
    let tx = Tx::Sqlite(connection.transaction_with_behavior(TransactionBehavior::Immediate)?);
    let result = work(&tx)?;
    // Only what is SQLite's was made.
    if let Tx::Sqlite(transaction) = tx {
        transaction.commit()?;
    }
    Ok(result)
}

fn open_connection(path: &Path) -> Result<Connection> {
    let directory = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    if let Some(directory) = directory
        && !directory.exists()
    {
        files::private_dir(directory)?;
    }
    refuse_planted(path)?;
    make_private(path)?;
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // What is committed survives the server's own death; a machine that loses power has no hook that waits.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.execute_batch(SCHEMA)?;
    Ok(connection)
}

/// Whoever can put a file beside the database could write into it, and read it: SQLite takes what is there.
fn refuse_planted(path: &Path) -> Result<()> {
    let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    files::guarded_dir(parent.unwrap_or(Path::new(".")))
        .map_err(|refusal| anyhow::anyhow!("{refusal}"))?;
    for ending in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        refuse_foreign(Path::new(&name))?;
    }
    Ok(())
}

/// A file that is there must be this user's, and have no other name.
///
/// # Errors
/// Where it is a link, or somebody else's.
#[cfg(unix)]
pub fn refuse_foreign(path: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(meta) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !meta.is_file() || meta.uid() != rustix::process::geteuid().as_raw() || meta.nlink() > 1 {
        anyhow::bail!("{} is no file of this user's alone", path.display());
    }
    Ok(())
}

/// There are no owners to be asked for.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn refuse_foreign(_: &Path) -> Result<()> {
    Ok(())
}

/// Commands of agents are in it: SQLite would make it readable for all.
#[cfg(unix)]
fn make_private(path: &Path) -> Result<()> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    Ok(())
}

#[cfg(not(unix))]
fn make_private(_: &Path) -> Result<()> {
    Ok(())
}

/// Where the server keeps its own things.
#[derive(Debug, Clone)]
pub struct DataDirectory(pub PathBuf);

impl DataDirectory {
    /// The database that is used unless another is named.
    pub fn database(&self) -> PathBuf {
        self.0.join("serve.db")
    }

    /// Where the server was reached last.
    pub fn address(&self) -> PathBuf {
        self.0.join("address")
    }

    /// The token that an authenticating proxy shows.
    pub fn proxy_token(&self) -> PathBuf {
        self.0.join("proxy-token")
    }

    /// The token by which hooks on other machines post.
    pub fn hook_token(&self) -> PathBuf {
        self.0.join("hook-token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_half_way_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("x.db")).unwrap();
        let failed = store.run_blocking(|tx| {
            tx.execute("INSERT INTO secret (name, value) VALUES ('a', 'b')", &[])?;
            tx.execute("INSERT INTO missing VALUES (1)", &[])
        });
        assert!(failed.unwrap_err().to_string().contains("no such table"));
        let count =
            |tx: &Tx<'_>| tx.query_first("SELECT count(*) FROM secret", &[], |row| row.number(0));
        assert_eq!(store.run_blocking(count).unwrap(), Some(0));
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_reads_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("serve/x.db");
        let _store = Store::open(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            std::fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777,
            0o700
        );
    }
}
