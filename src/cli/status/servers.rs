//! The servers that are configured: how they are, and which of them were last found down.

use serde::Serialize;

use super::super::{Context, make_visible};
use super::health::{self, Address, Health};
use super::{fault_line, unix_now};
use crate::config::Config;
use crate::remote::breaker::Breaker;
use crate::remote::{is_asked_at_once, spool};
use crate::rule::file::Remote;

/// A server; the keys are stable.
#[derive(Debug, Serialize)]
pub(super) struct Server {
    pub(super) name: String,
    /// Its addresses, without their queries.
    pub(super) urls: Vec<String>,
    /// How the first of them is that is up, or the one that comes nearest; none = nobody looked.
    pub(super) health: Option<Health>,
    /// How each is; empty = nobody looked.
    pub(super) addresses: Vec<Address>,
    /// How many messages wait to be sent to it.
    pub(super) waiting: usize,
    /// Seconds since 1970; none = it answered when an event last asked it, or none ever did.
    pub(super) down_since: Option<i64>,
    /// What was wrong then.
    pub(super) cause: Option<String>,
    /// It is asked all the same.
    #[serde(skip)]
    at_once: bool,
    /// Why a server that is asked is told nothing for now.
    #[serde(skip)]
    told: Option<String>,
}

impl Server {
    pub(super) fn summary_line(&self) -> String {
        let states =
            self.addresses.iter().map(|one| format!("{} {}", one.url, one.describe_state()));
        let states = match self.addresses.is_empty() {
            true => self.urls.join(", "),
            false => states.collect::<Vec<_>>().join("; "),
        };
        let breaker = match (self.down_since, &self.cause) {
            (Some(since), Some(cause)) => {
                let ago = super::show::format_age(unix_now() - since);
                let tried = if self.at_once { "with every question" } else { "every 30 s" };
                format!(" (for events down, first seen {ago}: {cause}; tried {tried})")
            }
            _ => String::new(),
        };
        let waiting = match self.waiting {
            0 => String::new(),
            1 => " (1 message waits: hookctl flush)".into(),
            n => format!(" ({n} messages wait: hookctl flush)"),
        };
        let told = self.told.as_ref();
        let told = told.map(|why| format!(" (not told of events for now: {why})"));
        let told = told.unwrap_or_default();
        make_visible(&format!("{}: {states}{breaker}{told}{waiting}", self.name))
    }
}

/// All of them; none is contacted where `offline`.
pub(super) fn server_reports(context: &Context, config: &Config, offline: bool) -> Vec<Server> {
    let remotes: Vec<&Remote> = config.remotes().map(|(_, remote)| remote).collect();
    let mut looked = match offline {
        true => Vec::new(),
        false => health::check_servers(context, &remotes),
    }
    .into_iter();
    let server = |remote: &&Remote| {
        let state = &context.paths.state;
        let note = Breaker::for_questions(state, remote).read_note();
        let told = Breaker::for_messages(state, remote)
            .read_note()
            .filter(|_| remote.dialect.facts().decides);
        let addresses = looked.next().unwrap_or_default();
        Server {
            name: remote.name.clone(),
            urls: remote.urls.iter().map(|url| url.endpoint().to_string()).collect(),
            health: addresses.iter().map(|one| one.health).min(),
            addresses,
            waiting: spool::count_waiting(&context.paths.spool(), &remote.name),
            at_once: note.as_ref().is_some_and(|note| is_asked_at_once(remote, &note.cause)),
            told: told.map(|note| note.cause),
            down_since: note.as_ref().map(|note| (note.since / 1000) as i64),
            cause: note.map(|note| note.cause),
        }
    };
    remotes.iter().map(server).collect()
}

/// What is doubtful about what they are sent, and where it goes on to.
pub(super) fn privacy_warnings(config: &Config) -> Vec<String> {
    let faults = config.faults().filter(|(source, fault)| {
        source.trusted && matches!(fault.code, "unlisted-variable" | "plain-http")
    });
    let faults = faults.map(|(source, fault)| fault_line(source, fault));
    let logs = config.remotes().filter_map(|(_, remote)| {
        Some(format!("[remote.{}]: {}", remote.name, remote.dialect.facts().doubt?))
    });
    faults.chain(logs).collect()
}
