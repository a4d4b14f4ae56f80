//! What one server tells its clients and the others on this database tell theirs. PostgreSQL alone has this table:
//! SQLite's server has no others.

use super::sql::{SqlResult, Tx, params};

/// How long the others have to read it, in milliseconds.
const KEPT: u64 = 60_000;

/// What another server told its clients.
#[derive(Debug)]
pub struct Shared {
    /// Its number: they grow in the order in which the events lasted.
    pub seq: u64,
    /// What: `pty_permission` ...
    pub name: String,
    /// The workspace.
    pub workspace: String,
    /// The notification, ready to be sent.
    pub frame: String,
}

/// Hands it to the others, and wakes them.
pub fn insert(
    tx: &Tx<'_>,
    server: &str,
    name: &str,
    workspace: &str,
    frame: &str,
    now: u64,
) -> SqlResult<()> {
    tx.execute(
        "INSERT INTO event (server, name, workspace, frame, at) VALUES ($1, $2, $3, $4, $5)",
        params![server, name, workspace, frame, now as i64],
    )?;
    tx.for_each("SELECT pg_notify($1, $2)", params![super::postgresql::CHANNEL, server], |_| Ok(()))
}

/// What the others told since that number, in order.
pub fn since(tx: &Tx<'_>, seq: u64, server: &str) -> SqlResult<Vec<Shared>> {
    let sql = "SELECT seq, name, workspace, frame FROM event WHERE seq > $1 AND server <> $2 ORDER BY seq";
    tx.query(sql, params![seq as i64, server], |row| {
        Ok(Shared {
            seq: row.number(0)?,
            name: row.text(1)?,
            workspace: row.text(2)?,
            frame: row.text(3)?,
        })
    })
}

/// The number of the newest.
pub fn last(tx: &Tx<'_>) -> SqlResult<u64> {
    let last =
        tx.query_first("SELECT coalesce(max(seq), 0) FROM event", &[], |row| row.number(0))?;
    Ok(last.unwrap_or_default())
}

/// Forgets what everybody has read.
pub fn prune(tx: &Tx<'_>, now: u64) -> SqlResult<usize> {
    tx.execute("DELETE FROM event WHERE at < $1", params![now.saturating_sub(KEPT) as i64])
}
