//! The command line of `hookctl serve`.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Answer what rules ask from a browser or a phone.
#[derive(Debug, Parser)]
#[command(
    name = "hookctl serve",
    version,
    about,
    max_term_width = 100,
    args_conflicts_with_subcommands = false
)]
pub struct Options {
    /// Directory of the user's config.toml [default: ~/.config/hookctl].
    #[arg(long, global = true, value_name = "DIR")]
    pub config: Option<PathBuf>,
    /// Directory of journal, trust and the server's own files [default: ~/.local/state/hookctl].
    #[arg(long, global = true, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// The database: a file of SQLite, or postgres://... [default: serve/serve.db in the state directory].
    #[arg(long, global = true, value_name = "PATH|URL")]
    pub database: Option<String>,
    /// What the server does.
    #[command(flatten)]
    pub serving: Serving,
    /// What else can be done.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// How it serves.
#[derive(Debug, Clone, Args)]
pub struct Serving {
    /// The port.
    #[arg(long, value_name = "N", default_value_t = 16180, global = true)]
    pub port: u16,
    /// The address; others than this machine's own want a paired device, or --pair.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), global = true)]
    pub listen: IpAddr,
    /// Where browsers reach it, behind a proxy: https://HOST.
    #[arg(long, value_name = "URL", global = true)]
    pub public_url: Option<String>,
    /// Speak HTTPS with this certificate: PEM, the server's own first.
    #[arg(long, value_name = "FILE", requires = "tls_key", global = true)]
    pub tls_cert: Option<PathBuf>,
    /// The private key of that certificate, PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert", global = true)]
    pub tls_key: Option<PathBuf>,
    /// The only rules beside the shipped ones that say what asks [default: those of the user and of projects].
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Open the page, paired.
    #[arg(long)]
    pub open: bool,
    /// Print a code and a QR code that pair one device.
    #[arg(long)]
    pub pair: bool,
    /// Tell this topic of ntfy that somebody is asked: https://ntfy.sh/TOPIC.
    #[arg(long, value_name = "URL")]
    pub ntfy: Option<String>,
    /// Tell this address, by a POST of JSON.
    #[arg(long, value_name = "URL")]
    pub webhook: Option<String>,
    /// Listen for agent-hooks' event bridge as well [without a port: the first of 3043 to 3053 that is free].
    #[arg(long, value_name = "PORT", num_args = 0..=1)]
    pub bridge: Option<Option<u16>>,
    /// How long a hook waits for an answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=60))]
    pub answer_within: u64,
    /// After so long without an event a session is forgotten.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub stale_after: u64,
    /// Between two signs of life to every client; apps take 45 s without one for dead.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=40))]
    pub heartbeat: u64,
}

impl Serving {
    /// How addresses of the server begin.
    pub fn scheme(&self) -> &'static str {
        if self.tls_cert.is_some() { "https" } else { "http" }
    }
}

/// What else can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print a code and a QR code that pair one device with the server.
    Pair,
    /// The paired devices.
    Devices {
        /// What to do with them [default: list].
        #[command(subcommand)]
        action: Option<DevicesAction>,
    },
    /// What was asked and answered, by whom and when.
    Audit {
        /// What to do with it.
        #[command(subcommand)]
        action: AuditAction,
    },
    /// Start the server with this user's session: a systemd unit, or a launchd agent.
    Install,
    /// Take that away again.
    Uninstall,
}

/// `hookctl serve devices`.
#[derive(Debug, Clone, Subcommand)]
pub enum DevicesAction {
    /// List them.
    List,
    /// Shut one out.
    Revoke {
        /// Its id, as `list` has it.
        id: String,
    },
}

/// `hookctl serve audit`.
#[derive(Debug, Clone, Subcommand)]
pub enum AuditAction {
    /// Look for edits, gaps and a missing end.
    Verify,
    /// Print all of it.
    Export {
        /// As what.
        #[arg(long, value_enum, default_value_t = Format::Jsonl)]
        format: Format,
    },
}

/// How the audit is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One JSON object a line.
    Jsonl,
    /// A table.
    Csv,
}
