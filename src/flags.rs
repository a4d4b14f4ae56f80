//! The flags of `hookctl hook`, as settings of agents name them and the hook path reads them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::agent::{self, Agent, EventSpec};
use crate::rule::file::server::{self, Typed};

/// So many seconds hookctl takes at most, unless the command line or a server's settings say more.
const USUAL: f64 = 60.0;

/// The flags of `hookctl hook`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookOptions {
    /// `--agent`: whose event it is, unless the payload itself says otherwise.
    pub agent: Option<String>,
    /// `--event`: which event, for payloads that do not name theirs.
    pub event: Option<String>,
    /// `--config`: the directory of the user's file.
    pub config: Option<PathBuf>,
    /// `--state`: the directory of the journal.
    pub state: Option<PathBuf>,
    /// `--timeout`: after how many seconds the agent gives up on us.
    pub timeout: Option<f64>,
    /// `--server-url` and its like: the user's server, whatever `server.json` says of it.
    pub server: Typed,
    /// `--debug`: tell on stderr what happens.
    pub debug: bool,
    /// `--plugin`: a plugin of the agent's started this, maybe beside its settings.
    pub plugin: bool,
    /// What was not understood of the command line.
    pub unknown: Vec<String>,
}

/// Those that have a value, beside the server's.
const OWN: [&str; 6] = ["--agent", "--event", "--config", "--state", "--timeout", "--color"];

/// A flag and the value that stands in the same word.
pub fn split(word: &str) -> (&str, Option<OsString>) {
    match word.split_once('=') {
        Some((flag, value)) => (flag, Some(value.into())),
        None => (word, None),
    }
}

impl HookOptions {
    /// Reads the flags, in either form. What is not known is noted, never fatal: a hook that dies
    /// of its command line lets every tool run.
    pub fn parse(args: impl IntoIterator<Item = OsString>) -> HookOptions {
        let mut options = HookOptions::default();
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let text = arg.to_string_lossy();
            let (flag, inline) = split(&text);
            if text == "--debug" {
                options.debug = true;
            } else if text == "--plugin" {
                options.plugin = true;
            } else if !OWN.contains(&flag) && server::of_flag(flag).is_none() {
                options.unknown.push(text.into_owned());
            } else if let Some(value) = inline.or_else(|| args.next()) {
                options.take(flag, value);
            } else {
                options.unknown.push(format!("{flag} without its value"));
                if flag == "--config" {
                    options.config = Some(PathBuf::new());
                }
            }
        }
        options
    }

    /// Takes in the value of a flag that is known.
    fn take(&mut self, flag: &str, value: OsString) {
        let text = value.to_string_lossy().into_owned();
        match flag {
            "--agent" => self.agent = Some(text),
            "--event" => self.event = Some(text),
            "--config" => self.config = Some(PathBuf::from(value)),
            "--state" => self.state = Some(PathBuf::from(value)),
            // Of every command; an answer has none.
            "--color" => {}
            "--timeout" => match text.parse::<f64>() {
                Ok(seconds) if seconds > 0.0 => self.timeout = Some(seconds),
                _ => self.unknown.push(format!("--timeout {text}")),
            },
            _ => self.server.extend(server::of_flag(flag).map(|setting| (setting, text))),
        }
    }

    /// The same where the command line names no time: `wanted` seconds are taken, or a minute, if the agent
    /// waits as long for such an event; None = an event that it does not have.
    pub fn with_default_timeout(&self, spec: Option<&EventSpec>, wanted: f64) -> HookOptions {
        let most = spec.map_or(USUAL, |spec| spec.patience.as_secs_f64());
        let timeout = self.timeout.or(Some(wanted.max(USUAL).min(most)));
        HookOptions { timeout, ..HookOptions::default() }
    }

    /// After how many seconds the agent gives up on us, and how long before that we are done: a
    /// second, or a fifth where it gives up soon.
    fn timeout_and_margin(&self) -> (f64, f64) {
        let seconds = match (self.timeout, &self.event) {
            (Some(seconds), _) => seconds.min(86_400.0),
            (None, Some(event)) => {
                let spec = self.agent_or_default().event_spec(agent::kind_of_name(event));
                return self.with_default_timeout(spec, USUAL).timeout_and_margin();
            }
            (None, None) => USUAL,
        };
        (seconds, 1.0_f64.min(seconds * 0.2))
    }

    /// Nothing that is waited for may take longer.
    pub fn deadline(&self, start: Instant) -> Instant {
        let (seconds, margin) = self.timeout_and_margin();
        start + Duration::from_secs_f64(seconds - margin)
    }

    /// When the watchdog speaks: what was waited for has had the time to be judged, and the agent still
    /// waits.
    pub fn last_moment(&self, start: Instant) -> Instant {
        let (seconds, margin) = self.timeout_and_margin();
        start + Duration::from_secs_f64(seconds - margin / 2.0)
    }

    /// The agent of the command line, or the default one.
    pub fn agent_or_default(&self) -> &'static dyn Agent {
        self.agent.as_deref().and_then(agent::by_id).unwrap_or(agent::default_agent())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Kind;

    fn seconds(options: &HookOptions) -> u64 {
        let start = Instant::now();
        (options.deadline(start) - start).as_secs()
    }

    #[test]
    fn an_entry_without_a_timeout_is_done_before_its_agent_gives_up() {
        for (event, timeout, wanted) in [
            (Some("UserPromptSubmit"), None, 29),
            (Some("UserPromptSubmit"), Some(45.0), 44),
            (Some("PreModelSwitch"), None, 29),
            (Some("SessionEnd"), None, 1),
            (Some("PreToolUse"), None, 59),
            (Some("NotKnown"), None, 59),
            (None, None, 59),
        ] {
            let event = event.map(str::to_string);
            let options = HookOptions { event, timeout, ..HookOptions::default() };
            assert_eq!(seconds(&options), wanted, "{options:?}");
        }
        let (agent, options) = (agent::default_agent(), HookOptions::default());
        for (kind, asked, wanted) in [
            (Kind::UserPromptSubmit, 67.0, 29),
            (Kind::PreToolUse, 67.0, 66),
            (Kind::PreToolUse, 5.0, 59),
            (Kind::PreToolUse, 9_000.0, 599),
        ] {
            assert_eq!(
                seconds(&options.with_default_timeout(agent.event_spec(kind), asked)),
                wanted,
                "{kind:?}"
            );
        }
    }
}
