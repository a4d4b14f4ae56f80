//! Who may see and answer: devices by the hashes of their tokens, codes that pair one device each, and the
//! server's own secrets. No token and no code is kept itself.

use rusqlite::{OptionalExtension as _, Row, Transaction, params};

/// A browser, a phone, an app.
#[derive(Debug, Clone)]
pub struct Device {
    /// A short name of ours, for `devices revoke`.
    pub id: String,
    /// What its human calls it.
    pub name: String,
    /// When it was paired, in milliseconds since 1970.
    pub created: u64,
    /// Until when its token holds.
    pub expires: u64,
    /// When it was last here.
    pub last_seen: u64,
    /// Is it shut out?
    pub revoked: bool,
}

const COLUMNS: &str = "id, name, created, expires, last_seen, revoked";

fn from_row(row: &Row<'_>) -> rusqlite::Result<Device> {
    let time = |at: usize| row.get::<_, i64>(at).map(|time| time.max(0) as u64);
    Ok(Device {
        id: row.get(0)?,
        name: row.get(1)?,
        created: time(2)?,
        expires: time(3)?,
        last_seen: time(4)?,
        revoked: time(5)? != 0,
    })
}

/// Lets a device in by a token of that hash.
pub fn insert(tx: &Transaction<'_>, device: &Device, token: &str) -> rusqlite::Result<()> {
    tx.execute(
        "INSERT INTO device (id, name, token, created, expires, last_seen) VALUES ($1, $2, $3, $4, $5, $6)",
        params![
            device.id,
            device.name,
            token,
            device.created as i64,
            device.expires as i64,
            device.last_seen as i64
        ],
    )?;
    Ok(())
}

/// The device with a token of that hash, where it is let in.
pub fn by_token(tx: &Transaction<'_>, token: &str, now: u64) -> rusqlite::Result<Option<Device>> {
    admitted(tx, "token", token, now)
}

/// The device of that id, where it is let in.
pub fn by_id(tx: &Transaction<'_>, id: &str, now: u64) -> rusqlite::Result<Option<Device>> {
    admitted(tx, "id", id, now)
}

fn admitted(
    tx: &Transaction<'_>,
    column: &str,
    value: &str,
    now: u64,
) -> rusqlite::Result<Option<Device>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM device WHERE {column} = $1 AND revoked = 0 AND expires > $2"
    );
    let device = tx.query_row(&sql, params![value, now as i64], from_row).optional()?;
    // A write for each request would be too many.
    if let Some(device) = &device
        && device.last_seen.saturating_add(60_000) < now
    {
        tx.execute(
            "UPDATE device SET last_seen = $1 WHERE id = $2",
            params![now as i64, device.id],
        )?;
    }
    Ok(device)
}

/// Gives the device another token.
pub fn renew(tx: &Transaction<'_>, id: &str, token: &str, expires: u64) -> rusqlite::Result<()> {
    tx.execute(
        "UPDATE device SET token = $1, expires = $2 WHERE id = $3",
        params![token, expires as i64, id],
    )?;
    Ok(())
}

/// All of them, oldest first.
pub fn all(tx: &Transaction<'_>) -> rusqlite::Result<Vec<Device>> {
    let mut statement =
        tx.prepare(&format!("SELECT {COLUMNS} FROM device ORDER BY created, id"))?;
    statement.query_map([], from_row)?.collect()
}

/// Shuts a device out. False where there is none of that id that is let in.
pub fn revoke(tx: &Transaction<'_>, id: &str) -> rusqlite::Result<bool> {
    Ok(tx.execute("UPDATE device SET revoked = 1 WHERE id = $1 AND revoked = 0", [id])? > 0)
}

/// A code of that hash lets one device in until then.
pub fn insert_code(
    tx: &Transaction<'_>,
    code: &str,
    now: u64,
    expires: u64,
) -> rusqlite::Result<()> {
    tx.execute("DELETE FROM pairing WHERE expires < $1", [now as i64])?;
    tx.execute(
        "INSERT INTO pairing (code, created, expires) VALUES ($1, $2, $3)",
        params![code, now as i64, expires as i64],
    )?;
    Ok(())
}

/// Takes the code: true once.
pub fn take_code(tx: &Transaction<'_>, code: &str, now: u64) -> rusqlite::Result<bool> {
    let taken = tx.execute(
        "UPDATE pairing SET used = 1 WHERE code = $1 AND used = 0 AND expires > $2",
        params![code, now as i64],
    )?;
    Ok(taken > 0)
}

/// The server's secret of that name: `fresh` where there is none yet.
pub fn secret(tx: &Transaction<'_>, name: &str, fresh: &str) -> rusqlite::Result<String> {
    tx.execute(
        "INSERT INTO secret (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
        [name, fresh],
    )?;
    tx.query_row("SELECT value FROM secret WHERE name = $1", [name], |row| row.get(0))
}
