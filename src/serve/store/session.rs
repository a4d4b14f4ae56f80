//! The tables of sessions and of their calls: who works where, and on what.

use super::sql::{Row, SqlResult, Tx, params};

/// A session, as its events leave it.
#[derive(Debug, Clone)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// Its directory.
    pub cwd: String,
    /// The base name of that.
    pub workspace: String,
    /// When it was first heard of, in milliseconds since 1970.
    pub start_time: u64,
    /// When it was last heard of.
    pub last_activity: u64,
    /// How many events came.
    pub events: u64,
    /// The tool that runs, empty where none does.
    pub current_tool: String,
    /// The agent asks its human on the desktop.
    pub notified: bool,
    /// What it says there.
    pub message: String,
    /// Is a question open here?
    pub asks: bool,
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct Call {
    /// The session.
    pub session: String,
    /// Its `tool_use_id`.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What it is called on, shortened.
    pub summary: String,
    /// When it began.
    pub started: u64,
    /// When it ended; 0 = it runs.
    pub ended: u64,
    /// The beginning of its result.
    pub output: String,
    /// Did it fail?
    pub is_error: bool,
}

const SESSION: &str = "SELECT id, cwd, workspace, start_time, last_activity, events, current_tool, notified, message,
    (SELECT count(*) FROM question WHERE question.session = session.id AND state = 'open' AND expires > $1)
    FROM session";

fn session_from_row(row: &Row<'_>) -> SqlResult<Session> {
    Ok(Session {
        id: row.text(0)?,
        cwd: row.text(1)?,
        workspace: row.text(2)?,
        start_time: row.number(3)?,
        last_activity: row.number(4)?,
        events: row.number(5)?,
        current_tool: row.text(6)?,
        notified: row.number(7)? != 0,
        message: row.text(8)?,
        asks: row.number(9)? != 0,
    })
}

/// An event came from that session.
pub fn touch(tx: &Tx<'_>, id: &str, cwd: &str, workspace: &str, now: u64) -> SqlResult<()> {
    tx.execute(
        "INSERT INTO session (id, cwd, workspace, start_time, last_activity, events) VALUES ($1, $2, $3, $4, $4, 1)
         ON CONFLICT (id) DO UPDATE SET last_activity = excluded.last_activity, events = session.events + 1,
         cwd = CASE WHEN excluded.cwd = '' THEN session.cwd ELSE excluded.cwd END,
         workspace = CASE WHEN excluded.cwd = '' THEN session.workspace ELSE excluded.workspace END",
        params![id, cwd, workspace, now as i64],
    )?;
    Ok(())
}

/// The agent asks its human itself, with that message; None = that is over.
pub fn set_notified(tx: &Tx<'_>, id: &str, message: Option<&str>) -> SqlResult<()> {
    tx.execute(
        "UPDATE session SET notified = $1, message = $2 WHERE id = $3",
        params![i64::from(message.is_some()), message.unwrap_or_default(), id],
    )?;
    Ok(())
}

/// That tool runs, or none.
pub fn set_tool(tx: &Tx<'_>, id: &str, tool: &str) -> SqlResult<()> {
    tx.execute("UPDATE session SET current_tool = $1 WHERE id = $2", params![tool, id])?;
    Ok(())
}

/// A call begins, or one that is known goes on.
pub fn start_call(tx: &Tx<'_>, call: &Call) -> SqlResult<()> {
    tx.execute(
        "INSERT INTO call (session, id, tool, summary, started) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (session, id) DO NOTHING",
        params![call.session, call.id, call.tool, call.summary, call.started as i64],
    )?;
    Ok(())
}

/// A call ends: the one of that id, also where nobody said that it began.
pub fn end_call(tx: &Tx<'_>, call: &Call) -> SqlResult<()> {
    tx.execute(
        "INSERT INTO call (session, id, tool, summary, started, ended, output, is_error)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (session, id) DO UPDATE SET ended = excluded.ended,
         output = excluded.output, is_error = excluded.is_error",
        params![
            call.session,
            call.id,
            call.tool,
            call.summary,
            call.started as i64,
            call.ended as i64,
            call.output,
            i64::from(call.is_error)
        ],
    )?;
    Ok(())
}

/// The sessions that were heard of since then, the latest first.
pub fn active(tx: &Tx<'_>, since: u64, now: u64) -> SqlResult<Vec<Session>> {
    let sql =
        format!("{SESSION} WHERE last_activity >= $2 ORDER BY last_activity DESC, id LIMIT 500");
    tx.query(&sql, params![now as i64, since as i64], session_from_row)
}

/// One of them.
pub fn find(tx: &Tx<'_>, id: &str, since: u64, now: u64) -> SqlResult<Option<Session>> {
    let sql = format!("{SESSION} WHERE last_activity >= $2 AND id = $3");
    tx.query_first(&sql, params![now as i64, since as i64, id], session_from_row)
}

/// The newest calls of a session, newest first.
pub fn calls(tx: &Tx<'_>, session: &str, most: usize) -> SqlResult<Vec<Call>> {
    let sql = "SELECT session, id, tool, summary, started, ended, output, is_error FROM call WHERE session = $1
         ORDER BY started DESC, id LIMIT $2";
    let read = |row: &Row<'_>| {
        Ok(Call {
            session: row.text(0)?,
            id: row.text(1)?,
            tool: row.text(2)?,
            summary: row.text(3)?,
            started: row.number(4)?,
            ended: row.number(5)?,
            output: row.text(6)?,
            is_error: row.number(7)? != 0,
        })
    };
    tx.query(sql, params![session, most as i64], read)
}

/// Takes away the sessions that were last heard of before that time: their ids.
pub fn take_stale(tx: &Tx<'_>, before: u64) -> SqlResult<Vec<String>> {
    let sql = "SELECT id FROM session WHERE last_activity < $1";
    let ids: Vec<String> = tx.query(sql, params![before as i64], |row| row.text(0))?;
    if !ids.is_empty() {
        tx.execute("DELETE FROM session WHERE last_activity < $1", params![before as i64])?;
    }
    Ok(ids)
}

/// Forgets the calls that began before that time.
pub fn prune(tx: &Tx<'_>, before: u64) -> SqlResult<usize> {
    tx.execute("DELETE FROM call WHERE started < $1", params![before as i64])
}
