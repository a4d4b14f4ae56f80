//! The command lines of what looks at past calls.

use std::path::PathBuf;

use clap::Args;

/// `hookctl replay`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/replay.txt"))]
pub struct ReplayArgs {
    /// Transcripts, journals, or directories of them [default: ~/.claude/projects and the journal].
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Another rule file of the user, or its directory: list what it would change.
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Only this far back: 30m, 2h, 7d.
    #[arg(long, value_name = "DURATION")]
    pub since: Option<String>,
    /// List every rule and every call, not only the first 20.
    #[arg(short, long)]
    pub verbose: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `hookctl suggest`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/suggest.txt"))]
pub struct SuggestArgs {
    /// Transcripts, journals, or directories of them [default: ~/.claude/projects and the journal].
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Only this far back: 30m, 2h, 7d.
    #[arg(long, value_name = "DURATION")]
    pub since: Option<String>,
    /// How often the user must have said yes to what a rule covers.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub least: usize,
    /// Ask for each rule whether it goes into the user's config.toml (humans only).
    #[arg(long, conflicts_with = "json")]
    pub accept: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `hookctl allow` and `hookctl deny`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/exact.txt"))]
pub struct ExactArgs {
    /// The last call that was stopped or asked about.
    #[arg(long, required = true)]
    pub last: bool,
}

/// `hookctl stats`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/stats.txt"))]
pub struct StatsArgs {
    /// Only this far back: 30m, 2h, 7d.
    #[arg(long, value_name = "DURATION")]
    pub since: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `hookctl report`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/report.txt"))]
pub struct PageArgs {
    /// The page that is written; one that is there is replaced.
    #[arg(short, long, value_name = "FILE", required = true)]
    pub output: PathBuf,
    /// Only this far back: 30m, 2h, 7d.
    #[arg(long, value_name = "DURATION")]
    pub since: Option<String>,
}

/// `hookctl import`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/import.txt"))]
pub struct ImportArgs {
    /// Claude Code's settings, hook scripts, cc-safety-net's files [default: the settings of Claude Code that are here].
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Append the rules to the user's config.toml (humans only); without, they are printed.
    #[arg(long, conflicts_with = "json")]
    pub write: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}
