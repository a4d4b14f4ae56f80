//! Who may see and answer: devices by the hashes of their tokens, codes that pair one device each, and the
//! server's own secrets. No token and no code is kept itself.

use super::sql::{Row, SqlError, SqlResult, Tx, params};

/// A browser, a phone, an app.
#[derive(Debug, Clone)]
pub struct Device {
    /// A short name of ours, for `devices revoke`.
    pub id: String,
    /// What its human calls it.
    pub name: String,
    /// Whose it is: who several devices have can approve once.
    pub person: String,
    /// When it was paired, in milliseconds since 1970.
    pub created: u64,
    /// Until when its token holds.
    pub expires: u64,
    /// When it was last here.
    pub last_seen: u64,
    /// Is it shut out?
    pub revoked: bool,
}

impl Device {
    /// The browser of a human whom an authenticating proxy names.
    pub fn of_proxy(person: String) -> Device {
        Device {
            id: String::new(),
            name: person.clone(),
            person,
            created: 0,
            expires: u64::MAX,
            last_seen: 0,
            revoked: false,
        }
    }
}

const COLUMNS: &str = "id, name, person, created, expires, last_seen, revoked";

fn from_row(row: &Row<'_>) -> SqlResult<Device> {
    Ok(Device {
        id: row.text(0)?,
        name: row.text(1)?,
        person: row.text(2)?,
        created: row.number(3)?,
        expires: row.number(4)?,
        last_seen: row.number(5)?,
        revoked: row.number(6)? != 0,
    })
}

/// Lets a device in by a token of that hash.
pub fn insert(tx: &Tx<'_>, device: &Device, token: &str) -> SqlResult<()> {
    tx.execute(
        "INSERT INTO device (id, name, person, token, created, expires, last_seen)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        params![
            device.id,
            device.name,
            device.person,
            token,
            device.created as i64,
            device.expires as i64,
            device.last_seen as i64
        ],
    )?;
    Ok(())
}

/// The device with a token of that hash, where it is let in.
pub fn by_token(tx: &Tx<'_>, token: &str, now: u64) -> SqlResult<Option<Device>> {
    admitted(tx, "token", token, now)
}

/// The device of that id, where it is let in.
pub fn by_id(tx: &Tx<'_>, id: &str, now: u64) -> SqlResult<Option<Device>> {
    admitted(tx, "id", id, now)
}

fn admitted(tx: &Tx<'_>, column: &str, value: &str, now: u64) -> SqlResult<Option<Device>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM device WHERE {column} = $1 AND revoked = 0 AND expires > $2"
    );
    let device = tx.query_first(&sql, params![value, now as i64], from_row)?;
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
pub fn renew(tx: &Tx<'_>, id: &str, token: &str, expires: u64) -> SqlResult<()> {
    tx.execute(
        "UPDATE device SET token = $1, expires = $2 WHERE id = $3",
        params![token, expires as i64, id],
    )?;
    Ok(())
}

/// All of them, oldest first.
pub fn all(tx: &Tx<'_>) -> SqlResult<Vec<Device>> {
    tx.query(&format!("SELECT {COLUMNS} FROM device ORDER BY created, id"), &[], from_row)
}

/// Shuts a device out. False where there is none of that id that is let in.
pub fn revoke(tx: &Tx<'_>, id: &str) -> SqlResult<bool> {
    Ok(tx.execute("UPDATE device SET revoked = 1 WHERE id = $1 AND revoked = 0", params![id])? > 0)
}

/// A code of that hash lets one device in until then: that human's, or nobody's in particular.
pub fn insert_code(tx: &Tx<'_>, code: &str, person: &str, now: u64, expires: u64) -> SqlResult<()> {
    tx.execute("DELETE FROM pairing WHERE expires < $1", params![now as i64])?;
    tx.execute(
        "INSERT INTO pairing (code, person, created, expires) VALUES ($1, $2, $3, $4)",
        params![code, person, now as i64, expires as i64],
    )?;
    Ok(())
}

/// Is there a code that could still be used?
pub fn has_code(tx: &Tx<'_>, now: u64) -> SqlResult<bool> {
    let sql = "SELECT count(*) FROM pairing WHERE used = 0 AND expires > $1";
    Ok(tx.query_first(sql, params![now as i64], |row| row.number(0))?.unwrap_or(0) > 0)
}

/// Takes the code, and says whose it is: once.
pub fn take_code(tx: &Tx<'_>, code: &str, now: u64) -> SqlResult<Option<String>> {
    let taken = tx.execute(
        "UPDATE pairing SET used = 1 WHERE code = $1 AND used = 0 AND expires > $2",
        params![code, now as i64],
    )?;
    if taken == 0 {
        return Ok(None);
    }
    let sql = "SELECT person FROM pairing WHERE code = $1";
    tx.query_first(sql, params![code], |row| row.text(0))
}

/// The server's secret of that name: `fresh` where there is none yet.
pub fn secret(tx: &Tx<'_>, name: &str, fresh: &str) -> SqlResult<String> {
    tx.execute(
        "INSERT INTO secret (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
        params![name, fresh],
    )?;
    let sql = "SELECT value FROM secret WHERE name = $1";
    tx.query_first(sql, params![name], |row| row.text(0))?.ok_or(SqlError::NoRow)
}
