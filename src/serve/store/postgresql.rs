//! PostgreSQL: one connection of the store's thread, made anew when it breaks.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio_postgres::{AsyncMessage, Client, Config, NoTls};

use super::SCHEMA;
use super::sql::{SqlError, SqlResult, Tx};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(2);
/// How long a statement may take: PostgreSQL's own limits are shorter, this one is for a server that hangs.
const ANSWER: Duration = Duration::from_secs(6);
/// After a connection failed, whoever comes so soon is told the same.
const PAUSE: Duration = Duration::from_millis(300);
/// Transactions come one after the other, as they do with SQLite: whatever reads and then writes is then right
/// without more, on however many servers. A server that dies is let go of at once, one that hangs after a while.
const SETTINGS: &str = "SET statement_timeout = 5000; SET lock_timeout = 4000; SET idle_in_transaction_session_timeout = 5000;";
const BEGIN: &str =
    "BEGIN; SELECT pg_advisory_xact_lock(hashtext('hookctl-serve ' || current_schema()))";

/// What servers tell each other. The numbers are taken while the lock is held, so that they grow as transactions end.
const EVENTS: &str = "
CREATE TABLE IF NOT EXISTS event (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    server TEXT NOT NULL,
    name TEXT NOT NULL,
    workspace TEXT NOT NULL,
    frame TEXT NOT NULL,
    at BIGINT NOT NULL
)";
/// By what they wake each other.
pub const CHANNEL: &str = "hookctl_serve";

/// The database of that address.
pub struct PostgreSql {
    config: Config,
    runtime: Runtime,
    client: Option<Client>,
    failed: Option<(Instant, String)>,
}

/// A connection that works.
pub struct Session<'a> {
    runtime: &'a Runtime,
    /// Its statements.
    pub client: &'a Client,
}

impl fmt::Debug for PostgreSql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may have a password.
        f.write_str("PostgreSql")
    }
}

impl Session<'_> {
    /// Waits for the database, but not for ever.
    ///
    /// # Errors
    /// What it says, or that it says nothing.
    pub fn wait<T>(
        &self,
        work: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> SqlResult<T> {
        wait_in(self.runtime, work)
    }
}

fn wait_in<T>(
    runtime: &Runtime,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> SqlResult<T> {
    let result = runtime.block_on(async { tokio::time::timeout(ANSWER, work).await });
    Ok(result.map_err(|_| SqlError::Slow)??)
}

/// How the database is reached: the address, and what every connection has.
///
/// # Errors
/// Where the address is none.
pub fn read_address(url: &str) -> Result<Config, tokio_postgres::Error> {
    let mut config: Config = url.parse()?;
    config.connect_timeout(CONNECT).tcp_user_timeout(ANSWER).keepalives_idle(ANSWER);
    if config.get_application_name().is_none() {
        config.application_name("hookctl-serve");
    }
    if config.get_password().is_none()
        && let Ok(password) = std::env::var("PGPASSWORD")
    {
        config.password(password);
    }
    Ok(config)
}

impl PostgreSql {
    /// Connects, and makes the tables where they are not there.
    ///
    /// # Errors
    /// Where it cannot be reached, or refuses.
    pub fn open(config: Config) -> SqlResult<PostgreSql> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| SqlError::Unreachable(error.to_string()))?;
        let mut database = PostgreSql { config, runtime, client: None, failed: None };
        database.connect()?;
        Ok(database)
    }

    /// Does the work in one transaction.
    ///
    /// # Errors
    /// What the database says.
    pub fn in_transaction<T>(
        &mut self,
        work: impl FnOnce(&Tx<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        // A connection that broke while nobody used it is noticed here, before anything is done.
        if let Err(error) = self.batch(BEGIN) {
            self.check(&error);
            if self.client.is_some() {
                // It was the lock that could not be had.
                let _ = self.batch("ROLLBACK");
                return Err(error);
            }
            self.connect()?;
            self.batch(BEGIN)?;
        }
        let result = self.session().and_then(|session| {
            let result = work(&Tx::Postgres(&session))?;
            session.wait(session.client.batch_execute("COMMIT"))?;
            Ok(result)
        });
        if let Err(error) = &result {
            self.check(error);
            let _ = self.batch("ROLLBACK");
        }
        result
    }

    fn session(&self) -> SqlResult<Session<'_>> {
        let closed = || SqlError::Unreachable("the connection is closed".into());
        let client = self.client.as_ref().ok_or_else(closed)?;
        Ok(Session { runtime: &self.runtime, client })
    }

    fn batch(&self, sql: &str) -> SqlResult<()> {
        let session = self.session()?;
        session.wait(session.client.batch_execute(sql))
    }

    /// Lets a connection go that is of no use any more.
    fn check(&mut self, error: &SqlError) {
        let is_closed = self.client.as_ref().is_none_or(Client::is_closed);
        if is_closed || matches!(error, SqlError::Slow) {
            self.client = None;
        }
    }

    fn connect(&mut self) -> SqlResult<()> {
        if let Some((when, why)) = &self.failed
            && when.elapsed() < PAUSE
        {
            return Err(SqlError::Unreachable(why.clone()));
        }
        let result = self.try_connect();
        self.failed = result.as_ref().err().map(|error| (Instant::now(), error.to_string()));
        if result.is_err() {
            self.client = None;
        }
        result
    }

    fn try_connect(&mut self) -> SqlResult<()> {
        let (client, connection) = wait_in(&self.runtime, self.config.connect(NoTls))?;
        // It works while somebody waits for a statement, and tells its end to whoever waits.
        self.runtime.spawn(async move {
            let _ = connection.await;
        });
        self.client = Some(client);
        self.batch(SETTINGS)?;
        self.batch(&format!("{BEGIN};\n{SCHEMA};\n{EVENTS};\nCOMMIT"))
    }
}

/// Wakes whoever waits when a server tells something, on a connection of its own that is made anew when it breaks.
/// Whoever waits looks by itself as well: what is missed here comes a moment later.
pub async fn listen(config: &Config, woken: &Arc<Notify>) {
    loop {
        if let Ok((client, mut connection)) = config.connect(NoTls).await {
            let woken = Arc::clone(woken);
            let heard = tokio::spawn(async move {
                while let Some(Ok(message)) = poll_fn(|now| connection.poll_message(now)).await {
                    if matches!(message, AsyncMessage::Notification(_)) {
                        woken.notify_one();
                    }
                }
            });
            match client.batch_execute(&format!("LISTEN {CHANNEL}")).await {
                Ok(()) => drop(heard.await),
                Err(_) => heard.abort(),
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}
