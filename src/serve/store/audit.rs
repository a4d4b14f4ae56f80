//! The audit: what was asked, answered and paired, each record with the hash of the one before it. The last
//! record's hash is kept apart, so that a cut end is found as well as an edit or a gap.

use hookctl::dialect::format_time;
use hookctl::remote::breaker::unix_milliseconds;
use hookctl::trust::sha256_hex;
use serde_json::{Value, json};

use super::sql::{SqlResult, Tx, params};

/// What the first record has in the place of the hash before it.
const FIRST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its number, from 1 on.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// What happened: `asked`, `answered`, `paired` ...
    pub kind: String,
    /// The rest of it, as JSON.
    pub body: String,
    /// The hash of the record before.
    pub prev: String,
    /// SHA-256 of `prev`, number, time, kind and body, each on a line of its own.
    pub hash: String,
}

impl Record {
    fn expected_hash(&self) -> String {
        let Record { seq, at, kind, body, prev, .. } = self;
        sha256_hex(format!("{prev}\n{seq}\n{at}\n{kind}\n{body}").as_bytes())
    }

    /// The record as one object.
    pub fn to_json(&self) -> Value {
        let mut out = json!({ "seq": self.seq, "at": self.at, "time": format_time(self.at), "kind": self.kind });
        out["body"] = serde_json::from_str(&self.body).unwrap_or_else(|_| self.body.clone().into());
        out["prev"] = self.prev.clone().into();
        out["hash"] = self.hash.clone().into();
        out
    }
}

/// Adds a record of now.
pub fn append(tx: &Tx<'_>, kind: &str, body: &Value) -> SqlResult<()> {
    append_at(tx, kind, body, unix_milliseconds())
}

/// Adds a record of that time.
pub fn append_at(tx: &Tx<'_>, kind: &str, body: &Value, at: u64) -> SqlResult<()> {
    let (last, prev) = head(tx)?.unwrap_or((0, FIRST.into()));
    let mut record = Record {
        seq: last + 1,
        at,
        kind: kind.into(),
        body: body.to_string(),
        prev,
        hash: String::new(),
    };
    record.hash = record.expected_hash();
    tx.execute(
        "INSERT INTO audit (seq, at, kind, body, prev, hash) VALUES ($1, $2, $3, $4, $5, $6)",
        params![record.seq as i64, at as i64, record.kind, record.body, record.prev, record.hash],
    )?;
    tx.execute(
        "INSERT INTO audit_head (one, seq, hash) VALUES (1, $1, $2)
         ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
        params![record.seq as i64, record.hash],
    )?;
    Ok(())
}

fn head(tx: &Tx<'_>) -> SqlResult<Option<(u64, String)>> {
    tx.query_first("SELECT seq, hash FROM audit_head WHERE one = 1", &[], |row| {
        Ok((row.number(0)?, row.text(1)?))
    })
}

/// Shows every record to `each`, in order, and then what is wrong with the chain; None = nothing.
pub fn walk(tx: &Tx<'_>, mut each: impl FnMut(&Record)) -> SqlResult<Option<String>> {
    let (mut last, mut prev, mut wrong) = (0, FIRST.to_string(), None);
    let sql = "SELECT seq, at, kind, body, prev, hash FROM audit ORDER BY seq";
    tx.for_each(sql, &[], |row| {
        let record = Record {
            seq: row.number(0)?,
            at: row.number(1)?,
            kind: row.text(2)?,
            body: row.text(3)?,
            prev: row.text(4)?,
            hash: row.text(5)?,
        };
        if wrong.is_none() {
            wrong = fault(&record, last, &prev);
        }
        each(&record);
        (last, prev) = (record.seq, record.hash);
        Ok(())
    })?;
    let head = head(tx)?.unwrap_or((0, FIRST.into()));
    Ok(wrong.or_else(|| {
        (head != (last, prev)).then(|| {
            format!(
                "the end is missing: the last record was {}, there are records up to {last}",
                head.0
            )
        })
    }))
}

/// What is wrong with a record behind one of that number and hash.
fn fault(record: &Record, last: u64, prev: &str) -> Option<String> {
    let seq = record.seq;
    if seq != last + 1 {
        return Some(format!("a gap: record {seq} follows record {last}"));
    }
    if record.prev != prev {
        return Some(format!("record {seq} does not follow the one before it"));
    }
    (record.hash != record.expected_hash()).then(|| format!("record {seq} was changed"))
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::*;

    #[test]
    fn an_edit_a_gap_and_a_cut_end_are_found() {
        for (change, found) in [
            ("", None),
            ("UPDATE audit SET body = '{\"n\":7}' WHERE seq = 2", Some("record 2 was changed")),
            ("UPDATE audit SET at = at + 1 WHERE seq = 3", Some("record 3 was changed")),
            ("DELETE FROM audit WHERE seq = 2", Some("a gap: record 3 follows record 1")),
            ("DELETE FROM audit WHERE seq = 4", Some("the end is missing")),
            ("DELETE FROM audit", Some("the end is missing")),
            ("UPDATE audit SET prev = hash WHERE seq = 2", Some("record 2 does not follow")),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let store = Store::open(&dir.path().join("x.db")).unwrap();
            let wrong = store.run_blocking(move |tx| {
                for n in 1..=4 {
                    append(tx, "asked", &json!({ "n": n }))?;
                }
                if !change.is_empty() {
                    tx.execute(change, &[])?;
                }
                walk(tx, |_| {})
            });
            let wrong = wrong.unwrap();
            match found {
                None => assert_eq!(wrong, None),
                Some(found) => assert!(
                    wrong.as_ref().is_some_and(|w| w.contains(found)),
                    "{change}: {wrong:?}"
                ),
            }
        }
    }
}
