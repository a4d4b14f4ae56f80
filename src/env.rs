//! Every environment variable that hookctl reads, in one place.
//!
//! No variable loosens anything: a repository's settings can set variables for hooks
//! (contracts: a project's `env` block reaches the hook process), so each of these only says where
//! something is, who is there, or how to print. What could do more is read by commands for people
//! alone, never for an event.

use std::ffi::OsString;
use std::path::PathBuf;

/// Windows: what the machine is called.
#[cfg(windows)]
const COMPUTER_NAME: &str = "COMPUTERNAME";
/// The user's home. Agents keep the user's value even where a project sets variables.
pub const HOME: &str = "HOME";
/// Where programs are looked for: for commands of people, never for an event.
pub const PATH: &str = "PATH";
/// Windows: where programs of the user alone have their files. For `install`, never for an event.
pub const LOCALAPPDATA: &str = "LOCALAPPDATA";
/// Claude Code: the project's root.
pub const CLAUDE_PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";
/// Claude Code: where its settings are, instead of `~/.claude`.
pub const CLAUDE_CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";
/// Claude Code: a file whose `export` lines the agent's later commands see.
pub const CLAUDE_ENV_FILE: &str = "CLAUDE_ENV_FILE";
/// Claude Code: the plugin's root, passed on to commands that rules run.
pub const CLAUDE_PLUGIN_ROOT: &str = "CLAUDE_PLUGIN_ROOT";
/// Claude Code: "true" in remote runs.
pub const CLAUDE_CODE_REMOTE: &str = "CLAUDE_CODE_REMOTE";
/// Codex: where its settings are, instead of `~/.codex`.
pub const CODEX_HOME: &str = "CODEX_HOME";
/// Copilot CLI: where its settings are, instead of `~/.copilot`.
pub const COPILOT_HOME: &str = "COPILOT_HOME";
/// Where OpenCode's settings are, instead of `~/.config`. For its plugin alone: hookctl's own files never move by it.
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// Set by `status --live` for the clients that it starts: it ends by it what they leave running.
pub const LIVE_CHECK: &str = "HOOKCTL_LIVE_CHECK";
/// macOS: the identifier of the app that a process was started by.
pub const APP_BUNDLE: &str = "__CFBundleIdentifier";
/// How wide the terminal is, where that is not asked of it.
pub const COLUMNS: &str = "COLUMNS";
/// How high it is, the same.
pub const LINES: &str = "LINES";
/// What shows long texts page by page.
pub const PAGER: &str = "PAGER";
/// The time zone of the machine's people.
pub const TZ: &str = "TZ";
/// What the terminal is: `dumb` has no colours.
pub const TERM: &str = "TERM";
/// <https://no-color.org>: set and not empty = no colours.
pub const NO_COLOR: &str = "NO_COLOR";

/// The settings of `server.json`, for `hookctl ping` only: a repository that could set them for events
/// would send these to a server of its own, or go on where a dead server should stop it.
pub const SERVER: &[(&str, &str)] = &[
    ("HOOKCTL_SERVER_URL", "server_url"),
    ("HOOKCTL_TIMEOUT_MS", "timeout_ms"),
    ("HOOKCTL_RETRY_COUNT", "retry_count"),
    ("HOOKCTL_RETRY_DELAY_MS", "retry_delay_ms"),
    ("HOOKCTL_DEADLINE_MS", "deadline_ms"),
    ("HOOKCTL_FAIL_OPEN", "fail_open"),
];

/// Variables that only an agent's own child processes have: what loosens is refused beside them.
pub const AGENT_MARKS: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CURSOR_AGENT",
    "COPILOT_CLI",
    "GEMINI_CLI",
    "GEMINI_SESSION_ID",
    "QWEN_PROJECT_DIR",
    "FACTORY_PROJECT_DIR",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "CLINE_ACTIVE",
    "OPENCODE",
    "AMP_CURRENT_THREAD_ID",
    "AUGMENT_AGENT",
    "GOOSE_TERMINAL",
    "AI_AGENT",
];

/// The value, where it is set, not empty and valid Unicode.
pub fn get(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The value as a path.
pub fn get_path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The variables of our own whose names are wanted.
pub fn variables(wanted: impl Fn(&str) -> bool) -> Vec<(OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| wanted(&name.to_string_lossy())).collect()
}

/// Where temporary files are, as the system or a variable (TMPDIR) says.
pub fn temporary_directory() -> PathBuf {
    std::env::temp_dir()
}

/// The agent's mark that is in the environment, if this process was started by one.
pub fn agent_mark() -> Option<&'static str> {
    AGENT_MARKS.iter().copied().find(|name| std::env::var_os(name).is_some())
}

/// What this machine is called; empty where it has no name.
pub fn host_name() -> String {
    #[cfg(unix)]
    return rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(windows)]
    return std::env::var(COMPUTER_NAME).unwrap_or_default();
}
