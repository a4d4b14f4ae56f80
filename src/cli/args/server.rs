//! `hookctl ping`, and the settings of the user's server as options: `hookctl hook` takes them too.

use std::ffi::OsString;

use clap::ArgMatches;

use super::NoOptions;
use super::table::{CommandForm, CommandRow, More, OptionRow, OptionValue, Options, ValueKind};

options! {
    /// What holds in place of what `server.json` says; checked like the file itself.
    #[derive(Clone, Default)]
    pub struct ServerArgs(HEADING = "In place of what server.json says") {
        /// Its address.
        server_url: Option<String> = "URL",
        /// How long one attempt may take.
        timeout_ms: Option<String> = "N",
        /// How often an attempt that failed is made again.
        retry_count: Option<String> = "N",
        /// The pause before each retry.
        retry_delay_ms: Option<String> = "N",
        /// How long everything may take.
        deadline_ms: Option<String> = "N",
        /// Does what it cannot be asked about go on?
        fail_open: Option<String> = "true|false",
    }
}

impl ServerArgs {
    /// Each setting by its name, with what was typed for it.
    pub fn typed_settings(&self) -> Vec<(&'static str, String)> {
        let all = [
            ("server_url", &self.server_url),
            ("timeout_ms", &self.timeout_ms),
            ("retry_count", &self.retry_count),
            ("retry_delay_ms", &self.retry_delay_ms),
            ("deadline_ms", &self.deadline_ms),
            ("fail_open", &self.fail_open),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))).collect()
    }
}

options! {
    /// `hookctl flush`.
    pub struct FlushArgs(AFTER = "flush.txt") {
        /// The server's name in the config; none = all.
        name: Option<String> = "NAME" [More::Operand],
        /// What hooks start: silent, and not for servers that were down a moment ago.
        quiet: bool [More::Hidden, More::Conflicts(&["name"])],
        /// Print one JSON object.
        json: bool,
    }
}

options! {
    /// `hookctl memory`.
    pub struct MemoryArgs(AFTER = "memory.txt") {
        /// What to do; none = list.
        command: Option<MemoryCommand>,
        /// Only sessions whose id begins so.
        session: Option<String> = "ID" [More::Global],
        /// Print a JSON list.
        json: bool [More::Global],
    }
}

impl MemoryArgs {
    /// Is something taken away?
    pub fn edits(&self) -> bool {
        matches!(self.command, Some(MemoryCommand::Clear(_) | MemoryCommand::Unmark(_)))
    }
}

commands! {
    /// What `hookctl memory` does.
    pub enum MemoryCommand {
        /// List what is remembered.
        List(NoOptions) = "list" Listed,
        /// Forget it.
        Clear(NoOptions) = "clear" Listed,
        /// List the marks of sessions: private data read, untrusted content met, something sent.
        Marks(NoOptions) = "marks" Listed,
        /// Take the marks away (humans only).
        Unmark(NoOptions) = "unmark" Listed,
    }
}

options! {
    /// `hookctl ping`.
    pub struct PingArgs(AFTER = "ping.txt") {
        /// The server's name in the config.
        name: String = "NAME" [More::Operand, More::Default("server")],
        /// Print one JSON object.
        json: bool,
        /// The user's server.
        server: ServerArgs,
    }
}

options! {
    /// `hookctl serve`: all of it is for the server's own program.
    pub struct ServeArgs {
        /// What `hookctl serve --help` lists.
        rest: Vec<OsString> = "ARGUMENT" [More::Rest],
    }
}
