//! What a server learns of who asks: the configured headers, its bearer token, and the signature
//! of each request.

use std::path::PathBuf;
use std::sync::RwLock;
use std::time::{Instant, SystemTime};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use ureq::http;

use super::{Request, at_home};
use crate::act::{self, CommandEnd, Job};
use crate::env;
use crate::files;
use crate::rule::file::Remote;
use crate::rule::file::remote::{Secret, split_variables};

/// The header of the signature.
const SIGNATURE: &str = "X-Hookctl-Signature";

/// Held by each command that prints a token while it runs.
static RUNNING: RwLock<()> = RwLock::new(());

/// What goes out beside the body; without `Debug`, so that nothing prints it.
#[derive(Default)]
pub struct Credentials {
    headers: Vec<(String, String)>,
    key: Option<String>,
}

impl Credentials {
    /// Of that server, for all attempts of one event.
    ///
    /// # Errors
    /// What cannot be had or sent, without its value.
    pub fn for_remote(
        remote: &Remote,
        request: &Request,
        limit: Instant,
    ) -> Result<Credentials, String> {
        let mut headers = Vec::new();
        for (name, value) in &remote.headers {
            let mut filled = String::new();
            for (text, variable) in split_variables(value) {
                filled.push_str(text);
                let listed = variable.filter(|v| remote.allow_vars.iter().any(|known| known == v));
                filled.push_str(&listed.and_then(env::get).unwrap_or_default());
            }
            headers.push((name.clone(), filled));
        }
        let had = |from: &Option<Secret>, what: &str| {
            from.as_ref().map(|from| read_secret(from, what, request, limit)).transpose()
        };
        if let Some(token) = had(&remote.token, "token")? {
            headers.push(("Authorization".into(), format!("Bearer {token}")));
        }
        let key = had(&remote.hmac, "key to sign with")?;
        match headers.iter().find(|(_, value)| http::HeaderValue::from_str(value).is_err()) {
            Some((name, _)) => Err(format!("the value of the header {name} cannot be sent")),
            None => Ok(Credentials { headers, key }),
        }
    }

    /// The headers of a request with that body that is sent now.
    pub fn request_headers(&self, body: &[u8]) -> Vec<(String, String)> {
        let mut headers = self.headers.clone();
        if let Some(key) = &self.key {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            headers.push((SIGNATURE.into(), sign_body(key, now.as_secs(), body)));
        }
        headers
    }
}

/// A secret from where it is kept. `what` it is for, where it cannot be had.
fn read_secret(
    from: &Secret,
    what: &str,
    request: &Request,
    limit: Instant,
) -> Result<String, String> {
    let text = match from {
        Secret::Env(name) => {
            return env::get(name).ok_or_else(|| format!("${name}, its {what}, is not set"));
        }
        Secret::File(path) => {
            let path = at_home(path, &request.home);
            let text = files::read_text(&path, files::SMALL)
                .map_err(|refusal| format!("its {what}: {}", refusal.describe_for(&path)))?;
            text.trim().to_string()
        }
        Secret::Command(script) => printed_line(script, request, limit)
            .map_err(|why| format!("the command for its {what} failed, {why}"))?,
    };
    match text.is_empty() {
        true => Err(format!("its {what} is empty")),
        false => Ok(text),
    }
}

/// The first line that a command prints; nothing of its output is ever told.
fn printed_line(script: &str, request: &Request, limit: Instant) -> Result<String, String> {
    let _running = RUNNING.read();
    let left = limit.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err("there is no time left for it".into());
    }
    let job = Job {
        script: script.to_string(),
        environment: None,
        variables: vec![
            ("HOOKCTL_EVENT".into(), request.event.name.clone()),
            ("HOOKCTL_TOOL".into(), request.event.tool.clone()),
        ],
        // Not the project: what lies there is not asked for secrets.
        dir: if request.home.is_dir() { request.home.clone() } else { PathBuf::from("/") },
        stdin: Vec::new().into(),
        limit: left,
        background: None,
    };
    let outcomes = act::run_all(vec![job], limit);
    match outcomes.first() {
        Some(outcome) if outcome.is_success() => {
            Ok(outcome.stdout.lines().next().unwrap_or_default().trim().to_string())
        }
        Some(outcome) if matches!(outcome.end, CommandEnd::Timeout(_) | CommandEnd::Deadline) => {
            Err("killed: its time was up".into())
        }
        Some(outcome) => Err(outcome.describe_end()),
        None => Err("it did not run".into()),
    }
}

/// Waits until no command runs any more: each is killed at its limit, and the process must not
/// end before that.
pub fn wait_for_commands() {
    let _none = RUNNING.write();
}

/// `t=SECONDS,v1=HEX`: the HMAC-SHA256 of `SECONDS.BODY`.
fn sign_body(key: &str, seconds: u64, body: &[u8]) -> String {
    // A key may have any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else { return String::new() };
    mac.update(format!("{seconds}.").as_bytes());
    mac.update(body);
    let mut text = format!("t={seconds},v1=");
    for byte in mac.finalize().into_bytes() {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_that_openssl_makes() {
        // printf '1795183819.{"id":"evt_1"}' | openssl dgst -sha256 -hmac KEY
        let long = "k".repeat(131);
        for (key, body, hex) in [
            (
                "whsec_test_secret",
                r#"{"id":"evt_1"}"#,
                "c63e5560946d63c2fce706a319342acf5c1ed419d1298d05ee9cc814989bf43f",
            ),
            (
                "whsec_test_secret",
                "",
                "ad5b2bec1e6bb34da0cf6ca2eb60afa7d03beb9c9d4ed09e25344d9a798e7ab1",
            ),
            (
                &long,
                r#"{"id":"evt_1"}"#,
                "a770a6c545b644a045d77e31a7ba98f040488548c60842ea3d51030463ff1b4c",
            ),
        ] {
            let found = sign_body(key, 1_795_183_819, body.as_bytes());
            assert_eq!(found, format!("t=1795183819,v1={hex}"));
        }
    }
}
