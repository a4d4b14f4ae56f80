//! `hookctl ping`, and the settings of the user's server as options: `hookctl hook` takes them too.

use std::ffi::OsString;

use clap::{Args, Subcommand};

/// What holds in place of what `server.json` says; checked like the file itself.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "In place of what server.json says")]
pub struct ServerArgs {
    /// Its address.
    #[arg(long, value_name = "URL")]
    pub server_url: Option<String>,
    /// How long one attempt may take.
    #[arg(long, value_name = "N")]
    pub timeout_ms: Option<String>,
    /// How often an attempt that failed is made again.
    #[arg(long, value_name = "N")]
    pub retry_count: Option<String>,
    /// The pause before each retry.
    #[arg(long, value_name = "N")]
    pub retry_delay_ms: Option<String>,
    /// How long everything may take.
    #[arg(long, value_name = "N")]
    pub deadline_ms: Option<String>,
    /// Does what it cannot be asked about go on?
    #[arg(long, value_name = "true|false")]
    pub fail_open: Option<String>,
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

/// `hookctl flush`.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:\n  0  all was sent\n  1  some waits\n  2  no such server")]
pub struct FlushArgs {
    /// The server's name in the config; none = all.
    pub name: Option<String>,
    /// What hooks start: silent, and not for servers that were down a moment ago.
    #[arg(long, hide = true, conflicts_with = "name")]
    pub quiet: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `hookctl memory`.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = include_str!("../help/memory.txt")
)]
pub struct MemoryArgs {
    /// What to do; none = list.
    #[command(subcommand)]
    pub command: Option<MemoryCommand>,
    /// Only sessions whose id begins so.
    #[arg(long, value_name = "ID", global = true)]
    pub session: Option<String>,
    /// Print a JSON list.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What `hookctl memory` does.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum MemoryCommand {
    /// List what is remembered.
    List,
    /// Forget it.
    Clear,
    /// List the marks of sessions: private data read, untrusted content met, something sent.
    Marks,
    /// Take the marks away (humans only).
    Unmark,
}

/// `hookctl ping`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/ping.txt"))]
pub struct PingArgs {
    /// The server's name in the config.
    #[arg(value_name = "NAME", default_value = "server")]
    pub name: String,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// The user's server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// `hookctl serve`: all of it is for the server's own program.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct ServeArgs {
    /// What `hookctl serve --help` lists.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub rest: Vec<OsString>,
}
