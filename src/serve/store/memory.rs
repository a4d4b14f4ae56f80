//! What humans said for a session: it lives here, so that every server on this database knows it, and none
//! remembers what another forgot.

use hookctl::remote::memory::RememberedAnswer;

use super::sql::{SqlResult, Tx, params};

/// How many answers count for one session: the newest.
const MOST: i64 = 100;
/// No answer holds longer, in milliseconds.
const OLD: u64 = 86_400_000;

/// Keeps the answer to that call.
pub fn insert(tx: &Tx<'_>, call: &str, answer: &RememberedAnswer) -> SqlResult<()> {
    // Text, lists and numbers: nothing in it can fail to be written.
    let line = serde_json::to_string(answer).unwrap_or_default();
    tx.execute(
        "INSERT INTO memory (session, call, at, answer) VALUES ($1, $2, $3, $4)
         ON CONFLICT (session, call) DO UPDATE SET at = excluded.at, answer = excluded.answer",
        params![answer.session, call, answer.time as i64, line],
    )?;
    Ok(())
}

/// What was said in a session, oldest first; a line that is no answer counts for nothing.
pub fn of_session(tx: &Tx<'_>, session: &str) -> SqlResult<Vec<RememberedAnswer>> {
    let sql = "SELECT answer FROM memory WHERE session = $1 ORDER BY at DESC, call LIMIT $2";
    let lines = tx.query(sql, params![session, MOST], |row| row.text(0))?;
    Ok(lines.iter().rev().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// How many answers are remembered, and in how many sessions.
pub fn size(tx: &Tx<'_>, now: u64) -> SqlResult<(u64, u64)> {
    let sql = "SELECT count(*), count(DISTINCT session) FROM memory WHERE at > $1";
    let since = now.saturating_sub(OLD) as i64;
    let size = tx.query_first(sql, params![since], |row| Ok((row.number(0)?, row.number(1)?)))?;
    Ok(size.unwrap_or_default())
}

/// Forgets what holds no longer.
pub fn prune(tx: &Tx<'_>, now: u64) -> SqlResult<usize> {
    tx.execute("DELETE FROM memory WHERE at < $1", params![now.saturating_sub(OLD) as i64])
}
