//! The servers that are configured, and which of them were last found down.

use serde::Serialize;

use super::super::visible;
use super::now;
use crate::config::Config;
use crate::paths::Paths;
use crate::remote::breaker::Breaker;
use crate::rule::file::remote::Dialect;

/// A server; the keys are stable.
#[derive(Debug, Serialize)]
pub(super) struct Server {
    pub(super) name: String,
    /// Its addresses, without their queries.
    pub(super) urls: Vec<String>,
    /// Seconds since 1970; none = it answered when it was last asked, or never was.
    pub(super) down_since: Option<i64>,
    /// What was wrong.
    pub(super) cause: Option<String>,
}

impl Server {
    pub(super) fn line(&self) -> String {
        let urls = self.urls.join(", ");
        let state = match (self.down_since, &self.cause) {
            (Some(since), Some(cause)) => {
                let ago = super::show::ago(now() - since);
                format!(" (down, first seen {ago}: {cause}; tried every 30 s)")
            }
            _ => String::new(),
        };
        visible(&format!("{}: {urls}{state}", self.name))
    }
}

/// All of them. None is contacted.
pub(super) fn servers(config: &Config, paths: &Paths) -> Vec<Server> {
    let servers = config.remotes().map(|(_, remote)| {
        let note = Breaker::of(&paths.state, remote).note();
        Server {
            name: remote.name.clone(),
            urls: remote.urls.iter().map(|url| url.endpoint().to_string()).collect(),
            down_since: note.as_ref().map(|note| (note.since / 1000) as i64),
            cause: note.map(|note| note.cause),
        }
    });
    servers.collect()
}

/// What is doubtful about what they are sent, and where it goes on to.
pub(super) fn doubts(config: &Config) -> Vec<String> {
    let faults = config.faults().filter(|(source, fault)| {
        source.trusted && matches!(fault.code, "unlisted-variable" | "plain-http")
    });
    let faults =
        faults.map(|(s, fault)| visible(&fault.line(&s.path.display().to_string(), &s.text)));
    let logs = config.remotes().filter(|(_, remote)| remote.dialect == Dialect::Opa);
    let logs = logs.map(|(_, remote)| {
        let name = &remote.name;
        format!("[remote.{name}]: OPA's decision logs, where they are on, hold all that it is sent")
    });
    faults.chain(logs).collect()
}
