//! The command lines of what looks at past calls.

use std::path::PathBuf;

use clap::ArgMatches;

use super::table::{More, OptionRow, OptionValue, Options, ValueKind};

options! {
    /// `hookctl replay`.
    pub struct ReplayArgs(AFTER = "replay.txt") {
        /// Transcripts, journals, or directories of them [default: ~/.claude/projects and the journal].
        paths: Vec<PathBuf> = "PATH" [More::Operand],
        /// Another rule file of the user, or its directory: list what it would change.
        against: Option<PathBuf> = "FILE",
        /// Only this far back: 30m, 2h, 7d.
        since: Option<String> = "DURATION",
        /// List every rule and every call, not only the first 20.
        verbose: bool [More::Short('v')],
        /// Print one JSON object.
        json: bool,
    }
}

options! {
    /// `hookctl suggest`.
    pub struct SuggestArgs(AFTER = "suggest.txt") {
        /// Transcripts, journals, or directories of them [default: ~/.claude/projects and the journal].
        paths: Vec<PathBuf> = "PATH" [More::Operand],
        /// Only this far back: 30m, 2h, 7d.
        since: Option<String> = "DURATION",
        /// How often the user must have said yes to what a rule covers.
        least: u16 = "N" [More::Default("3")],
        /// Ask for each rule whether it goes into the user's config.toml (humans only).
        accept: bool [More::Conflicts(&["json"])],
        /// Print one JSON object.
        json: bool,
    }
}

options! {
    /// `hookctl allow` and `hookctl deny`.
    pub struct ExactArgs(AFTER = "exact.txt") {
        /// The last call that was stopped or asked about.
        last: bool [More::Required],
    }
}

options! {
    /// `hookctl stats`.
    pub struct StatsArgs(AFTER = "stats.txt") {
        /// Only this far back: 30m, 2h, 7d.
        since: Option<String> = "DURATION",
        /// Print one JSON object.
        json: bool,
    }
}

options! {
    /// `hookctl report`.
    pub struct PageArgs(AFTER = "report.txt") {
        /// The page that is written; one that is there is replaced.
        output: PathBuf = "FILE" [More::Short('o'), More::Required],
        /// Only this far back: 30m, 2h, 7d.
        since: Option<String> = "DURATION",
        /// Print one JSON object.
        json: bool,
    }
}

options! {
    /// `hookctl import`.
    pub struct ImportArgs(AFTER = "import.txt") {
        /// Claude Code's settings, hook scripts, cc-safety-net's files [default: the settings of Claude Code that are here].
        files: Vec<PathBuf> = "FILE" [More::Operand],
        /// Append the rules to the user's config.toml (humans only); without, they are printed.
        write: bool [More::Conflicts(&["json"])],
        /// Print one JSON object.
        json: bool,
    }
}
