//! Compiles `config/servers.toml` into one list: the words of servers, and the rows of their tools.

use toml::Table;

/// A pair for each server; a row that is none, or that has a part which is none, is a fault.
pub fn compile(text: &str) -> Result<String, String> {
    let file: Table = toml::from_str(text).map_err(|e| e.to_string())?;
    let servers = file.get("servers").and_then(|t| t.as_table()).ok_or("no table `servers`")?;
    let mut out = Vec::new();
    for (words, rows) in servers {
        let rows = rows.as_array().ok_or(format!("{words} has no rows"))?;
        let rows: Result<Vec<&str>, String> = rows
            .iter()
            .map(|row| row.as_str().filter(|r| is_row(r)).ok_or(format!("{row:?} is no row")))
            .collect();
        out.push(format!("({words:?}, &{:?})", rows?));
    }
    Ok(format!("&[{}]", out.join(", ")))
}

const ROLES: &[&str] = &[
    "read",
    "tree",
    "write",
    "write-tree",
    "edit",
    "delete",
    "move",
    "upload",
    "url",
    "send",
    "sql",
    "cwd",
    "text",
];

fn is_row(row: &str) -> bool {
    let Some((names, parts)) = row.split_once(" = ") else { return false };
    let name = |n: &str| {
        n == "*" || n.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    let parts = parts.split("$ ").next().unwrap_or_default();
    names.split(' ').all(name)
        && parts.split_whitespace().all(|part| match part.split_once(':') {
            Some((_, role)) => ROLES.contains(&role),
            None => !part.is_empty(),
        })
}
