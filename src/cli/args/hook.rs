//! What agents run, as far as people type it: `hookctl hook`, `hookctl claude-hook` and its kin.

use std::path::PathBuf;

use clap::ArgMatches;

use super::ServerArgs;
use super::table::{More, OptionRow, OptionValue, Options, ValueKind};

options! {
    /// `hookctl hook`: for its help only, the hook path reads its arguments by hand.
    pub struct HookArgs(AFTER = "hook.txt") {
        /// The agent, where its payload does not tell.
        agent: String = "NAME" [More::Default("claude")],
        /// The event, where the payload does not name it.
        event: Option<String> = "NAME",
        /// The agent's timeout for this entry; hookctl answers a second earlier.
        timeout: Option<String> = "SECONDS",
        /// Tell on stderr how the decision came about.
        debug: bool,
        /// Of an agent's plugin: what its settings start as well judges only once.
        plugin: bool,
        /// The user's server.
        server: ServerArgs,
    }
}

options! {
    /// `hookctl claude-hook`.
    pub struct BridgeArgs(AFTER = "bridge.txt") {
        /// Write the hook into the agent's settings of this user.
        enable: bool [More::Conflicts(&["disable", "status"])],
        /// Take it out again.
        disable: bool [More::Conflicts(&["status"])],
        /// Say whether it is there.
        status: bool,
        /// The port of the listener [default: 3043, or where from 3044 to 3053 one is].
        port: Option<u16> = "N",
        /// The directory for what the listener does not take [default: ~/.a24z/hooks].
        dir: Option<PathBuf> = "PATH",
        /// Print one JSON object.
        json: bool,
    }
}
