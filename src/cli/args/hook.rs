//! What agents run, as far as people type it: `hookctl hook`, `hookctl claude-hook` and its kin.

use std::path::PathBuf;

use clap::Args;

use super::ServerArgs;

/// `hookctl hook`: for its help only, the hook path reads its arguments by hand.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/hook.txt"))]
pub struct HookArgs {
    /// The agent, where its payload does not tell.
    #[arg(long, value_name = "NAME", default_value = "claude")]
    pub agent: String,
    /// The event, where the payload does not name it.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// The agent's timeout for this entry; hookctl answers a second earlier.
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u32>,
    /// Tell on stderr how the decision came about.
    #[arg(long)]
    pub debug: bool,
    /// The user's server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// `hookctl claude-hook`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/bridge.txt"))]
pub struct BridgeArgs {
    /// Write the hook into the agent's settings of this user.
    #[arg(long, conflicts_with_all = ["disable", "status"])]
    pub enable: bool,
    /// Take it out again.
    #[arg(long, conflicts_with = "status")]
    pub disable: bool,
    /// Say whether it is there.
    #[arg(long)]
    pub status: bool,
    /// The port of the listener [default: 3043, or where from 3044 to 3053 one is].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,
    /// The directory for what the listener does not take [default: ~/.a24z/hooks].
    #[arg(long, value_name = "PATH")]
    pub dir: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}
