//! The user's approval of hooks, where an agent demands one for each: whether it is there, and how it is given in
//! the user's name.
//!
//! Codex notes it in `config.toml`, by the place of a hook in its file and by a hash of what the hook says
//! (observed with 0.169: an entry written here counts like one of its own review).

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use toml::de::{DeTable, DeValue};

use super::file::{SettingsTarget, sha256_hex};
use super::hooks::Change;
use super::place::SettingsFile;
use super::record::Record;
use super::survey::survey_hooks;
use super::{EditMode, EditOutcome, Error, edit_file, parse_document, read_text};
use crate::agent;
use crate::json::JsonFault;
use crate::paths::Paths;

/// What the client counts where an entry names no timeout, in seconds.
const USUAL: u32 = 600;
/// The tables of the file that note approvals.
const TABLES: [&str; 2] = ["hooks", "state"];
/// What they say of one hook.
const HASH: &str = "trusted_hash";

/// What would approve one of our hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The event.
    pub event: String,
    /// The hook by its place.
    key: String,
    /// What it says.
    hash: String,
}

/// The file that notes approvals for the hooks of that file; none = the agent demands none.
pub fn consent_file(place: &SettingsFile, home: &Path, cwd: &Path) -> Option<PathBuf> {
    let wiring = agent::by_id(place.agent)?.wiring()?;
    let consent = wiring.consent.as_ref()?;
    Some(wiring.user_directory(home, cwd).join(consent.file))
}

/// What would approve our hooks in that file.
///
/// # Errors
/// Where the file cannot be read or is not JSON.
pub fn wanted_approvals(place: &SettingsFile) -> Result<Vec<Approval>, Error> {
    let Some(form) = place.form.entries() else { return Ok(Vec::new()) };
    let target = SettingsTarget::follow_links(&place.file)?;
    let Some(text) = read_text(&target)? else { return Ok(Vec::new()) };
    let doc = parse_document(&target, &text, form)?;
    let depth = form.depth();
    let own = survey_hooks(&doc, form).own.into_iter().filter(|own| own.seen);
    let approval = |own: super::survey::Own| {
        let (group, at) = (own.path[depth + 1], own.path[depth + 3]);
        let matcher =
            doc.node_at(&own.path[..form.item_depth()]).and_then(|group| group.get("matcher"));
        let event = snake_case(&own.event);
        Approval {
            key: format!("{}:{event}:{group}:{at}", place.file.display()),
            hash: hook_hash(&event, &own.entry, matcher.map(|(_, node)| node.to_value())),
            event: own.event,
        }
    };
    Ok(own.map(approval).collect())
}

/// `PreToolUse` as `pre_tool_use`.
fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// The hash of what a hook says: compact JSON with its keys in order.
fn hook_hash(event: &str, entry: &Map<String, Value>, matcher: Option<Value>) -> String {
    let mut hook = Map::new();
    let said = |key: &str, usual: Value| entry.get(key).cloned().unwrap_or(usual);
    hook.insert("async".into(), said("async", false.into()));
    hook.insert("command".into(), said("command", "".into()));
    if let Some(message) = entry.get("statusMessage") {
        hook.insert("statusMessage".into(), message.clone());
    }
    hook.insert("timeout".into(), said("timeout", USUAL.into()));
    hook.insert("type".into(), said("type", "command".into()));
    let mut whole = Map::new();
    whole.insert("event_name".into(), event.into());
    whole.insert("hooks".into(), json!([hook]));
    if let Some(matcher) = matcher {
        whole.insert("matcher".into(), matcher);
    }
    format!("sha256:{}", sha256_hex(Value::Object(whole).to_string().as_bytes()))
}

/// Those of these hooks that the file does not approve, as they are now.
pub fn missing_approvals(file: &Path, wanted: &[Approval]) -> Vec<Approval> {
    let text = SettingsTarget::follow_links(file).and_then(|target| read_text(&target));
    missing_in(&text.ok().flatten().unwrap_or_default(), wanted)
}

/// The hash that is noted for a hook.
fn noted_hash<'t>(table: &'t DeTable<'_>, key: &str) -> Option<&'t str> {
    let mut at = table;
    for name in TABLES.into_iter().chain([key]) {
        at = at.get(name)?.get_ref().as_table()?;
    }
    match at.get(HASH)?.get_ref() {
        DeValue::String(hash) => Some(hash),
        _ => None,
    }
}

/// Notes the approval of these hooks, and changes nothing else in the file.
///
/// # Errors
/// Where the file is not TOML, or has approvals in a form that cannot be added to; it is then untouched.
pub fn approve(
    paths: &Paths,
    file: &Path,
    place: &SettingsFile,
    wanted: &[Approval],
    mode: EditMode,
) -> Result<EditOutcome, Error> {
    edit_file(paths, file, mode, |target, before, records| {
        let text = before.unwrap_or_default();
        check_toml(target, text)?;
        let key = target.record_key();
        let old = records.files.get(&key);
        let ours = |text: &str| sha256_hex(text.as_bytes());
        let noted = old.map(|old| old.events.as_slice()).unwrap_or_default();
        let original = match old.filter(|old| old.written_sha256 == ours(text)) {
            Some(old) => old.original.clone(),
            None => before.map(|text| without_blocks(text, noted)),
        };
        let missing = missing_in(text, wanted);
        let mut after =
            without_blocks(text, &missing.iter().map(|one| one.key.clone()).collect::<Vec<_>>());
        for one in &missing {
            if !after.is_empty() && !after.ends_with('\n') {
                after.push('\n');
            }
            after.push_str(&block(&one.key, &one.hash));
        }
        check_toml(target, &after)?;
        let mut keys = noted.to_vec();
        keys.extend(wanted.iter().map(|one| one.key.clone()).filter(|key| !noted.contains(key)));
        let record = Record {
            original_sha256: original.as_deref().map(ours),
            original,
            written_sha256: ours(&after),
            events: keys,
            scope: place.name.to_string(),
            agent: place.agent.to_string(),
            ..Record::default()
        };
        if missing.is_empty() {
            return Ok((before.map(String::from), Vec::new()));
        }
        records.files.insert(key, record);
        let changes = missing.iter().map(|one| Change::Added(one.event.clone())).collect();
        Ok((Some(after), changes))
    })
}

/// Takes back what [`approve`] noted in that file.
///
/// # Errors
/// Where it cannot be read or written.
pub fn withdraw(paths: &Paths, file: &Path, mode: EditMode) -> Result<EditOutcome, Error> {
    edit_file(paths, file, mode, |target, before, records| {
        let same = (before.map(String::from), Vec::new());
        let Some(record) = crate::order::take_entry(&mut records.files, &target.record_key())
        else {
            return Ok(same);
        };
        let Some(text) = before else { return Ok(same) };
        let untouched = record.written_sha256 == sha256_hex(text.as_bytes());
        let after = match record.intact_original() {
            Some(original) if untouched => original.map(String::from),
            _ => Some(without_blocks(text, &record.events)),
        };
        Ok((after, vec![Change::Removed("approval".into())]))
    })
}

fn missing_in(text: &str, wanted: &[Approval]) -> Vec<Approval> {
    let Ok(table) = DeTable::parse(text) else { return wanted.to_vec() };
    let lacks = |one: &&Approval| noted_hash(table.get_ref(), &one.key) != Some(one.hash.as_str());
    wanted.iter().filter(lacks).cloned().collect()
}

fn check_toml(target: &SettingsTarget, text: &str) -> Result<(), Error> {
    DeTable::parse(text).map(|_| ()).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let hint = "mend the TOML here, or approve the hooks in the agent itself";
        Error::refused(target, text, JsonFault::new(at, error.message().to_string(), hint))
    })
}

/// The table's head for a hook.
fn header(key: &str) -> String {
    // A basic string of TOML has the escapes of JSON.
    format!("[{}.{}]", TABLES.join("."), Value::from(key))
}

/// What approves one hook.
fn block(key: &str, hash: &str) -> String {
    format!("\n{}\n{HASH} = \"{hash}\"\n", header(key))
}

/// The text without the tables of these hooks, where they hold nothing but a hash.
fn without_blocks(text: &str, keys: &[String]) -> String {
    let mut text = text.to_string();
    for key in keys {
        let start = format!("\n{}\n{HASH} = \"", header(key));
        let Some(at) = text.find(&start).or_else(|| text.starts_with(&start[1..]).then_some(0))
        else {
            continue;
        };
        let rest = &text[at + 1..];
        let lines: usize = rest.split_inclusive('\n').take(2).map(str::len).sum();
        text.replace_range(at..at + 1 + lines, "");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_clients() {
        let entry = json!({"type": "command", "command": "/bin/true", "timeout": 20, "x": 1});
        let whole = r#"{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"/bin/true","timeout":20,"type":"command"}],"matcher":"*"}"#;
        let hash = hook_hash("pre_tool_use", entry.as_object().unwrap(), Some("*".into()));
        assert_eq!(hash, format!("sha256:{}", sha256_hex(whole.as_bytes())));
        assert_eq!(snake_case("SubagentStop"), "subagent_stop");
    }

    #[test]
    fn a_table_comes_and_goes_without_a_trace() {
        let key = "/h \"x\"/hooks.json:stop:0:0";
        for before in ["", "a = 1\n", "# c\n[features]\nhooks = true\n"] {
            let text = format!("{before}{}", block(key, "sha256:0"));
            let table = DeTable::parse(&text).unwrap();
            assert_eq!(noted_hash(table.get_ref(), key), Some("sha256:0"), "{text}");
            assert_eq!(without_blocks(&text, &[key.to_string()]), before);
            let more = format!("{text}[z]\nb = 2\n");
            assert_eq!(without_blocks(&more, &[key.to_string()]), format!("{before}[z]\nb = 2\n"));
        }
    }
}
