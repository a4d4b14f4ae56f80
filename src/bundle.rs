//! Bundles: the rules of an organisation in one signed file, and the last good one that this user has.
//!
//! `managed.toml`, the administrator's, says where bundles come from and whose signature counts. The sender fetches and checks
//! them (`remote::fleet`). An event reads the one that holds and checks its signature; its rules are those of the managed layer.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use toml::de::DeTable;

use crate::files::{self, Refusal};
use crate::limits;
use crate::moment::Moment;
use crate::paths::{FLEET_FILE, Paths};
use crate::text::sha256_hex;

#[cfg(feature = "tls")]
pub mod minisign;

/// The form of what is written here.
const FORMAT: u64 = 1;
/// How a bundle that is written here begins.
pub const START: &str = "{\n  \"hookctl_bundle\": ";
/// What a signature or another small file of our own may have, in bytes.
const SMALL: usize = 64 << 10;
/// When somebody should have looked, in seconds.
const LONG_AGO: i64 = 7 * 24 * 3600;
/// A signature of minisign has so many lines.
const SIGNATURE_LINES: usize = 4;

/// What `managed.toml` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where the bundle is; its signature is at the same address with `.minisig` behind its path.
    pub url: String,
    /// The public key, in minisign's form.
    pub key: String,
    /// No bundle of a lower version counts.
    pub least: u64,
    /// The only authorities that the server's certificate may be from.
    pub ca: Option<PathBuf>,
}

impl Source {
    /// Reads the file; None where there is none.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(paths: &Paths) -> Result<Option<Source>, String> {
        let path = &paths.fleet;
        let fail = |why: &str| format!("{}: {why}", path.display());
        let bytes = match files::OpenFile::protected(path, limits::OWN_FILE)
            .and_then(|file| file.read())
        {
            Ok(_) if path == Path::new(FLEET_FILE) && !files::is_roots(path) => {
                return Err(fail("others than root can change it, or put another in its place"));
            }
            Ok(bytes) => bytes,
            Err(Refusal::Absent) if !files::leads_nowhere(path) => return Ok(None),
            Err(refusal) => return Err(refusal.describe_for(path)),
        };
        let text = String::from_utf8(bytes).map_err(|_| fail("it is not UTF-8"))?;
        let table = DeTable::parse(&text).map_err(|error| fail(error.message()))?;
        let managed = table.get_ref().get("managed").and_then(|table| table.get_ref().as_table());
        let managed = managed.ok_or_else(|| fail("there is no [managed] in it"))?;
        if let Some(key) =
            managed.keys().find(|key| !["url", "key", "least", "ca"].contains(&&**key.get_ref()))
        {
            return Err(fail(&format!(
                "`{}` is no key of [managed]: there are url, key, least and ca",
                key.get_ref()
            )));
        }
        let text = |name: &str| managed.get(name).and_then(|value| value.get_ref().as_str());
        let (url, key) =
            text("url").zip(text("key")).ok_or_else(|| fail("[managed] needs url and key"))?;
        let least = match managed.get("least").map(|value| value.get_ref().as_integer()) {
            None => 0,
            Some(least) => least
                .and_then(|least| least.as_str().parse().ok())
                .ok_or_else(|| fail("`least` is the version of a bundle"))?,
        };
        let ca = match managed.get("ca").map(|value| value.get_ref().as_str()) {
            None => None,
            Some(ca) => Some(PathBuf::from(ca.ok_or_else(|| fail("`ca` is the name of a file"))?)),
        };
        if let Some(key) = table.get_ref().keys().find(|key| key.get_ref() != "managed") {
            return Err(fail(&format!("`{}` stands outside of [managed]", key.get_ref())));
        }
        Ok(Some(Source { url: url.into(), key: key.into(), least, ca }))
    }

    /// # Errors
    /// Where the administrator wants a newer one.
    pub fn check_least(&self, bundle: &Bundle) -> Result<(), String> {
        let (version, least) = (bundle.version, self.least);
        match version < least {
            false => Ok(()),
            true => Err(format!("version {version} is older than {least}, the least that counts")),
        }
    }
}

/// A bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// Of two the one with the higher version counts.
    pub version: u64,
    /// When it should have been replaced.
    pub expires: Moment,
    /// The rule files, by name.
    pub files: Vec<(String, String)>,
}

impl Bundle {
    /// Should it have been replaced by now?
    pub fn has_expired(&self) -> bool {
        self.expires <= Moment::now()
    }

    /// Reads one.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(bytes: &[u8]) -> Result<Bundle, String> {
        let value: Value =
            serde_json::from_slice(bytes).map_err(|error| format!("it is no JSON: {error}"))?;
        let format = value.get("hookctl_bundle").and_then(Value::as_u64);
        if format != Some(FORMAT) {
            return Err(format!("it is no bundle of the form {FORMAT}"));
        }
        let version = value.get("version").and_then(Value::as_u64).ok_or("it has no version")?;
        let expires = value.get("expires").and_then(Value::as_str).and_then(Moment::parse);
        let expires = expires.ok_or("it does not say when it expires")?;
        let files = value.get("files").and_then(Value::as_object).ok_or("it has no files")?;
        if files.is_empty() || files.len() > limits::BUNDLE_FILES {
            return Err(format!("it has 1 to {} files", limits::BUNDLE_FILES));
        }
        let read = |(name, text): (&String, &Value)| -> Result<(String, String), String> {
            check_name(name)?;
            Ok((name.clone(), text.as_str().ok_or("a file is a text")?.to_string()))
        };
        let files = files.iter().map(read).collect::<Result<_, String>>()?;
        Ok(Bundle { version, expires, files })
    }

    /// As it is signed.
    pub fn to_text(&self) -> String {
        let files: Map<String, Value> =
            self.files.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect();
        let value = json!({ "hookctl_bundle": FORMAT, "version": self.version,
            "expires": self.expires.to_seconds_text(), "files": files });
        format!("{value:#}\n")
    }
}

/// The name of a rule file: it becomes one of a directory of ours.
///
/// # Errors
/// Why it cannot be one.
pub fn check_name(name: &str) -> Result<(), String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if name.len() > limits::BUNDLE_NAME {
        let shown = name.escape_default();
        return Err(format!("`{shown}`: a file's name has at most {} bytes", limits::BUNDLE_NAME));
    }
    let sound = name.bytes().all(plain) && !name.starts_with('.');
    match sound && name.ends_with(".toml") {
        true => Ok(()),
        false => Err(format!("`{}`: a file is called NAME.toml", name.escape_default())),
    }
}

/// The bundle that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// What it says.
    pub bundle: Bundle,
    /// SHA-256 of its text, in hex.
    pub hash: String,
}

impl Held {
    /// Version and hash, as the journal and servers are told them.
    pub fn mark(&self) -> String {
        format!("{}:{}", self.bundle.version, self.hash.get(..16).unwrap_or_default())
    }

    /// The one of this user; None where none has come yet. It lies where its user may write, so its signature is checked
    /// each time: without the administrator's key nobody changes a rule of it.
    ///
    /// # Errors
    /// Why it does not count.
    pub fn read(paths: &Paths, source: &Source) -> Result<Option<Held>, String> {
        let path = paths.bundle();
        let fail = |why: String| format!("{}: {why}: run `hookctl flush`", path.display());
        let bytes = match files::read_state(&path, (limits::BUNDLE + SMALL) as u64) {
            Ok(bytes) => bytes,
            Err(Refusal::Absent) => return Ok(None),
            Err(refusal) => return Err(fail(refusal.to_string())),
        };
        let (signature, text) = split_kept(&bytes).ok_or_else(|| fail("it is damaged".into()))?;
        check_signature(source, text, signature).map_err(fail)?;
        let bundle = Bundle::parse(text).map_err(fail)?;
        source.check_least(&bundle).map_err(fail)?;
        Ok(Some(Held { bundle, hash: sha256_hex(text) }))
    }
}

/// As it is kept: the four lines of its signature, and then its text, in one file, so that both change at once.
fn split_kept(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let mut ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let (end, _) = ends.nth(SIGNATURE_LINES - 1)?;
    let (signature, text) = bytes.split_at(end + 1);
    Some((std::str::from_utf8(signature).ok()?, text))
}

/// Is it signed by the key of the administrator?
///
/// # Errors
/// Why its signature does not hold.
pub fn check_signature(source: &Source, text: &[u8], signature: &str) -> Result<(), String> {
    #[cfg(feature = "tls")]
    return minisign::PublicKey::parse(&source.key)?.verify(text, signature).map(drop);
    #[cfg(not(feature = "tls"))]
    {
        let _ = (source, text, signature);
        Err("this build cannot check signatures".into())
    }
}

/// What holds for an event: None where this machine has no managed rules of a bundle.
///
/// # Errors
/// Why its rules are not there.
pub fn held_rules(paths: &Paths) -> Option<Result<Held, String>> {
    if paths.fleet.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        return None;
    }
    let missing = || "the managed rules have not come yet: run `hookctl flush`".to_string();
    let source = Source::read(paths).transpose()?;
    Some(source.and_then(|source| Held::read(paths, &source)?.ok_or_else(missing)))
}

/// Makes a bundle the one that holds, in one step: whoever is killed leaves the one before.
///
/// # Errors
/// Where the system refuses.
pub fn keep_bundle(paths: &Paths, text: &[u8], signature: &str) -> Result<(), String> {
    let path = paths.bundle();
    let lines: Vec<&str> = signature.lines().take(SIGNATURE_LINES).collect();
    let kept = [lines.join("\n").as_bytes(), b"\n", text].concat();
    // What is no file would stay in its place.
    let clear = || match path.is_dir() {
        true => files::remove_entry(&path),
        false => Ok(()),
    };
    files::private_dir(&paths.fleet_state())
        .and_then(|()| clear())
        .and_then(|()| files::replace_file(&path, &kept))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// What came of the last try to fetch one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tried {
    /// When, in seconds since 1970.
    pub at: i64,
    /// When one came last that was good.
    pub good: i64,
    /// Why the last try came to nothing; empty where it did not.
    pub why: String,
}

impl Tried {
    /// Of this user; nothing where nobody tried.
    pub fn read(paths: &Paths) -> Tried {
        let bytes = files::read_state(&paths.fetched(), SMALL as u64).unwrap_or_default();
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let number = |key: &str| value.get(key).and_then(Value::as_i64).unwrap_or_default();
        let why = value.get("why").and_then(Value::as_str).unwrap_or_default().to_string();
        Tried { at: number("at"), good: number("good"), why }
    }

    /// Notes it.
    ///
    /// # Errors
    /// Where the system refuses.
    pub fn write(&self, paths: &Paths) -> std::io::Result<()> {
        let value = json!({ "at": self.at, "good": self.good, "why": self.why });
        files::private_dir(&paths.fleet_state())?;
        files::replace_file(&paths.fetched(), value.to_string().as_bytes())
    }
}

/// That the rules which hold have expired; None where they have not.
pub fn describe_expiry(paths: &Paths) -> Option<String> {
    let bundle = held_rules(paths)?.ok()?.bundle;
    let (version, expires) = (bundle.version, &bundle.expires);
    bundle.has_expired().then(|| {
        format!(
            "version {version} of the managed rules holds, and expired on {}",
            expires.to_seconds_text()
        )
    })
}

/// What people are to know of the managed rules; None where all is as it should be.
pub fn describe_staleness(paths: &Paths) -> Option<String> {
    let held = match held_rules(paths)? {
        Ok(held) => held,
        Err(why) => {
            let tried = Tried::read(paths).why;
            return Some(if tried.is_empty() { why } else { format!("{why} ({tried})") });
        }
    };
    let bundle = held.bundle;
    let (tried, holds) = (Tried::read(paths), format!("version {} holds", bundle.version));
    let good = Moment::from_seconds(tried.good).map(Moment::to_seconds_text).unwrap_or_default();
    let mut said = Vec::new();
    if !tried.why.is_empty() {
        said.push(format!("no newer ones could be had since {good}: {}", tried.why));
    }
    let unseen = Moment::now().to_seconds().saturating_sub(tried.good) > LONG_AGO;
    if unseen && tried.why.is_empty() {
        said.push(format!("nobody has looked for newer ones since {good}"));
    }
    if bundle.has_expired() {
        said.push(format!("they expired on {}", bundle.expires.to_seconds_text()));
    }
    (!said.is_empty()).then(|| format!("the managed rules are stale, {holds}: {}", said.join("; ")))
}
