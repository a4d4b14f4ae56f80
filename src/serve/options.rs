//! The command line of `hookctl serve`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::{Result, bail};
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
    #[arg(long, value_name = "N", default_value_t = Serving::PORT, global = true)]
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
    /// Believe an authenticating proxy: this header of its requests says who a human is (see docs/serve.md).
    #[arg(long, value_name = "HEADER", global = true)]
    pub trust_header: Option<String>,
    /// How many humans have to approve; who asks is not one of them.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=9))]
    pub approvals: u8,
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
    /// cdev's own port.
    pub const PORT: u16 = 16180;

    /// How addresses of the server begin.
    pub fn scheme(&self) -> &'static str {
        if self.tls_cert.is_some() { "https" } else { "http" }
    }

    /// Where hooks of this machine reach it.
    ///
    /// # Errors
    /// Where a certificate has a name that nobody has said.
    pub fn hooks_url(&self) -> Result<String> {
        match &self.public_url {
            Some(url) => Ok(url.trim_end_matches('/').into()),
            None if self.tls_cert.is_some() => {
                bail!("add --public-url https://NAME:{}, by the certificate's name", self.port)
            }
            None => {
                let host = match self.listen {
                    IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
                    IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
                    ip => ip,
                };
                Ok(format!("http://{}", SocketAddr::new(host, self.port)))
            }
        }
    }
}

/// What else can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print a code and a QR code that pair one device with the server.
    Pair {
        /// Whose device it is: the devices of one human approve once [default: somebody of its own].
        #[arg(long, value_name = "NAME")]
        person: Option<String>,
    },
    /// Print the token by which hooks on other machines post.
    Token {
        /// Whose hooks they are: that human's approval does not count for them.
        #[arg(long, value_name = "NAME")]
        person: Option<String>,
    },
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
    /// Start the server with this user's session, by a systemd unit or a launchd agent, and name it to the hooks.
    Install {
        /// Only name the server at this address to the hooks: it runs elsewhere.
        #[arg(long, value_name = "URL")]
        at: Option<String>,
    },
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
