//! The managed rules: fetched by the sender, checked, and kept where events find them.
//!
//! Whatever is wrong with what came, the last good bundle holds, and it is told.

use std::path::Path;
use std::thread;
use std::time::Duration;

use super::http;
use super::secret::Credentials;
use super::transport;
use crate::bundle::{self, Bundle, Held, Source, Tried};
use crate::config::Config;
use crate::files;
use crate::journal;
use crate::moment::Moment;
use crate::paths::Paths;
use crate::rule::Layer;
use crate::rule::fault::Gravity;
use crate::rule::file::remote::Url;
use crate::rule::file::{self, Remote};
use crate::text::{self, sha256_hex};

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How often a request is made again whose failure may pass, and after what pause.
const RETRIES: u32 = 2;
const PAUSE: Duration = Duration::from_millis(200);
/// How often and how far apart it is tried to be the one that looks.
const PATIENCE: u32 = 100;
const STEP: Duration = Duration::from_millis(20);
/// How often it is looked, in seconds: where all is well, after a failure, and where what came has gone.
const OFTEN: i64 = 3600;
const AGAIN: i64 = 300;
const SOON: i64 = 10;

/// What came of looking.
#[derive(Debug, PartialEq, Eq)]
pub enum Fetched {
    /// This machine has no managed rules of a bundle.
    Nothing,
    /// Another process looks, or this one looked a moment ago.
    Busy,
    /// The one that holds is the newest.
    Same(u64),
    /// This version holds now.
    New(u64),
    /// Why what there is could not be had, or does not count.
    Failed(String),
}

/// Who wants to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// A human, who waits for it.
    Human,
    /// The sender: only where it is time to look, and where that can be noted.
    Sender,
}

/// Is it time to look? `lacking`: no bundle that counts is here.
pub fn is_due(paths: &Paths, lacking: bool) -> bool {
    if paths.fleet.symlink_metadata().is_err() {
        return false;
    }
    let (tried, now) = (Tried::read(paths), Moment::now().to_seconds());
    let pause = match (tried.why.is_empty(), lacking) {
        (true, false) => OFTEN,
        (true, true) => SOON,
        (false, _) => AGAIN,
    };
    // A clock that was put back is no reason to wait for years.
    !(0..pause).contains(&(now - tried.at))
}

/// Looks for a newer bundle.
pub fn fetch_bundle(paths: &Paths, asker: Asker) -> Fetched {
    let source = match Source::read(paths) {
        Ok(Some(source)) => Ok(source),
        Ok(None) => return Fetched::Nothing,
        Err(why) => Err(why),
    };
    let lock = files::open_to_edit(&paths.fleet_lock());
    // One at a time; where it cannot be written a human is told when it is kept.
    let mut left = if asker == Asker::Human { PATIENCE } else { 0 };
    while lock.as_ref().is_ok_and(|lock| lock.try_lock().is_err()) {
        if left == 0 {
            return Fetched::Busy;
        }
        left -= 1;
        thread::sleep(STEP);
    }
    let before = Tried::read(paths);
    let now = Moment::now().to_seconds();
    if asker == Asker::Sender {
        let lacking = bundle::held_rules(paths).is_some_and(|held| held.is_err());
        // What cannot be noted would be looked for at every event.
        let noted = || Tried { at: now, ..before.clone() }.write(paths).is_ok();
        if lock.is_err() || !is_due(paths, lacking) || !noted() {
            return Fetched::Busy;
        }
    }
    let came = source.and_then(|source| look(paths, &source));
    let tried = match &came {
        Ok(_) => Tried { at: now, good: now, why: String::new() },
        Err(why) => Tried { at: now, good: before.good, why: why.clone() },
    };
    let _ = tried.write(paths);
    note_change(paths, &before, &came);
    came.unwrap_or_else(Fetched::Failed)
}

/// The journal has a line where something changed: not one each time.
fn note_change(paths: &Paths, before: &Tried, came: &Result<Fetched, String>) {
    let note = match came {
        Ok(Fetched::Same(version)) if !before.why.is_empty() => {
            format!("the managed rules could be fetched again: version {version} holds")
        }
        Ok(Fetched::New(version)) => {
            format!("the managed rules are those of version {version} now")
        }
        Err(why) if *why != before.why => format!("the managed rules could not be fetched: {why}"),
        _ => return,
    };
    let decision = if came.is_ok() { "silent" } else { "failed" };
    let line = journal::Line {
        event: "ManagedRules".into(),
        decision: decision.into(),
        notes: vec![note],
        bundle: bundle::held_rules(paths)
            .and_then(Result::ok)
            .map(|held| held.mark())
            .unwrap_or_default(),
        ..journal::Line::new("hookctl")
    };
    let config = Config::load(paths, Path::new("/"), None).journal;
    journal::append(&paths.journal(), &config, line);
}

fn look(paths: &Paths, source: &Source) -> Result<Fetched, String> {
    let url = Url::parse(&source.url)?;
    if !url.is_https() && !url.loopback {
        return Err("managed rules are fetched over https".into());
    }
    let text = get(paths, source, &url)?;
    let bytes = text.as_bytes();
    let signature = get(paths, source, &url.join(".minisig"))?;
    bundle::check_signature(source, bytes, &signature)?;
    let bundle = check_content(bytes)?;
    source.check_least(&bundle)?;
    // What is damaged here gives way to what is good.
    let held = Held::read(paths, source).ok().flatten();
    check_version(&bundle, &sha256_hex(bytes), held.as_ref())?;
    if held.is_some_and(|held| held.bundle.version == bundle.version) {
        return Ok(Fetched::Same(bundle.version));
    }
    bundle::keep_bundle(paths, bytes, &signature)?;
    // As an event will read it: a directory that others can write to would make it count for nothing.
    match Held::read(paths, source)? {
        Some(held) if held.bundle.version == bundle.version => Ok(Fetched::New(bundle.version)),
        _ => Err(format!("version {} was kept and is not there", bundle.version)),
    }
}

/// A bundle that has not expired, and whose rules can all be read.
///
/// # Errors
/// Why it does not count.
pub fn check_content(bytes: &[u8]) -> Result<Bundle, String> {
    let bundle = Bundle::parse(bytes)?;
    let (version, expires) = (bundle.version, bundle.expires);
    if bundle.has_expired() {
        return Err(format!("version {version} expired on {}", expires.to_seconds_text()));
    }
    check_rules(&bundle).map(|()| bundle)
}

/// # Errors
/// The first fault of its rule files: what half its rules mean nobody knows.
pub fn check_rules(bundle: &Bundle) -> Result<(), String> {
    for (name, text) in &bundle.files {
        let read = file::read_rules(text, Path::new(name), Layer::Managed, None);
        if let Some(fault) = read.faults.iter().find(|fault| fault.gravity == Gravity::Error) {
            return Err(fault.to_line(name, text));
        }
    }
    Ok(())
}

fn check_version(bundle: &Bundle, hash: &str, held: Option<&Held>) -> Result<(), String> {
    let version = bundle.version;
    match held {
        Some(held) if version < held.bundle.version => Err(format!(
            "version {version} is older than {}, which holds: it is refused",
            held.bundle.version
        )),
        Some(held) if version == held.bundle.version && hash != held.hash => Err(format!(
            "version {version} is not the one of that number which holds: give it a higher one"
        )),
        _ => Ok(()),
    }
}

fn get(paths: &Paths, source: &Source, url: &Url) -> Result<String, String> {
    let mut remote = Remote::new("managed", crate::dialect::default_dialect());
    remote.ca.clone_from(&source.ca);
    let ask = || {
        let answer = http::send(&remote, &paths.home, url, &Credentials::default(), None, TIMEOUT)?;
        transport::judge_status(remote.dialect, &answer)
    };
    let mut left = RETRIES;
    loop {
        match ask() {
            Err(failure) if failure.again && left > 0 => {
                left -= 1;
                thread::sleep(PAUSE);
            }
            answer => {
                let describe =
                    |why: &str| format!("{}: {}", url.endpoint(), text::make_visible(why));
                return answer.map_err(|failure| describe(&failure.cause));
            }
        }
    }
}
