//! The command line: every subcommand and option. What follows a command's options in its help stands in `help/`.
//!
//! Nothing here uses the rest of the crate: the build script includes this file to write the shell
//! completions and the man page from the same definitions.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

// The build script includes this file from elsewhere.
#[path = "args/hook.rs"]
mod hook;
#[path = "args/server.rs"]
pub mod server;

pub use self::hook::{BridgeArgs, HookArgs};
pub use self::server::{FlushArgs, MemoryArgs, PingArgs, ServeArgs, ServerArgs};

/// Rules for what coding agents may do, judged at every hook event.
#[derive(Debug, Parser)]
#[command(name = "hookctl", version, about, after_help = include_str!("help/hookctl.txt"), max_term_width = 100)]
pub struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub global: Global,
    /// The command; none = status.
    #[command(subcommand)]
    pub command: Option<CliCommand>,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Directory of the user's config.toml [default: ~/.config/hookctl].
    #[arg(long, global = true, value_name = "DIR")]
    pub config: Option<PathBuf>,
    /// Directory of journal, trust and backups [default: ~/.local/state/hookctl].
    #[arg(long, global = true, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Colours: `auto` is a terminal without NO_COLOR.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

/// When to print colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// In any case.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Judge one hook event on stdin (what agents run; not for people).
    Hook(HookArgs),
    /// Write hookctl into an agent's settings.
    Install(InstallArgs),
    /// Take hookctl out of an agent's settings again.
    Uninstall(UninstallArgs),
    /// Say whether the guard is in effect, and if not, why.
    Status(StatusArgs),
    /// List what keeps the guard from being in effect, with a fix for each.
    Doctor(DoctorArgs),
    /// What each agent can be told, and where its settings are.
    Agents(AgentsArgs),
    /// List the events of the agents, and switch single ones on and off.
    Events(EventsArgs),
    /// Find every fault in the rule files.
    Check(CheckArgs),
    /// Show how one call or event would be judged, and why.
    Explain(ExplainArgs),
    /// Run the tests that stand beside the rules, or hold the journal against today's rules.
    Test(TestArgs),
    /// Read a project's rule file and trust exactly its present content.
    Trust(TrustArgs),
    /// Let everything pass for a while (humans only).
    Pause(PauseArgs),
    /// End a pause.
    Resume(ResumeArgs),
    /// List the shipped rules: their packs, what each stops, what your files change.
    Packs(PacksArgs),
    /// Show past decisions.
    Log(LogArgs),
    /// Write a commented starter config.
    Init(InitArgs),
    /// See whether a configured server is there.
    Ping(PingArgs),
    /// Send what servers are still to be told.
    Flush(FlushArgs),
    /// What humans at servers said for a session: list it, or forget it.
    Memory(MemoryArgs),
    /// Start the approval server: answer what rules ask from a browser or a phone.
    #[command(hide = true)]
    Serve(ServeArgs),
    /// Take the hooks of one agent's settings over into another's.
    Migrate(MigrateArgs),
    /// Hand Claude Code's events to the listener of agent-hooks; without a flag, it is that hook.
    ClaudeHook(BridgeArgs),
    /// The same for Cline.
    #[command(hide = true)]
    ClineHook(BridgeArgs),
    /// The same for Gemini CLI.
    #[command(hide = true)]
    GeminiHook(BridgeArgs),
    /// The same for OpenCode.
    #[command(hide = true)]
    OpencodeHook(BridgeArgs),
    /// The same for Factory Droid.
    #[command(hide = true)]
    DroidHook(BridgeArgs),
    /// Whether each agent's events are handed on (`hookctl all status`).
    #[command(hide = true)]
    AllHook(BridgeArgs),
    /// Print the completions for a shell.
    Completions(CompletionsArgs),
    /// Print the man page.
    Man,
}

/// Where an agent keeps settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SettingsScope {
    /// Every session of this user: ~/.claude/settings.json and its like.
    User,
    /// Everybody who works on this project: .claude/settings.json and its like, to be committed.
    Project,
    /// This user in this project: .claude/settings.local.json (Claude Code alone).
    Local,
}

/// `hookctl install`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/install.txt"))]
pub struct InstallArgs {
    /// The agents [default: those that are here, after a question].
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', conflicts_with = "all")]
    pub agent: Vec<String>,
    /// Every agent that is here.
    #[arg(long)]
    pub all: bool,
    /// Which settings file.
    #[arg(long, value_enum, value_name = "SCOPE", default_value_t = SettingsScope::User)]
    pub scope: SettingsScope,
    /// Only these events [default: the usual ones and those that rules need].
    #[arg(long, value_name = "EVENT,...", value_delimiter = ',')]
    pub events: Vec<String>,
    /// Make the agent block when hookctl fails or is missing (Claude Code after 2.1.197).
    #[arg(long)]
    pub fail_closed: bool,
    /// Print the edit as a diff and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Install although another scope already has it.
    #[arg(long)]
    pub also: bool,
    /// Approve the hooks in your name, where the agent asks its user to (Codex).
    #[arg(long)]
    pub trust: bool,
    /// Take out the entries of other programs whose work a server in the config does.
    #[arg(long)]
    pub replace: bool,
    /// Have humans asked by `hookctl serve`, too: on this machine, at this address, or elsewhere.
    #[arg(long, value_name = "ADDRESS|URL", num_args = 0..=1, default_missing_value = "127.0.0.1")]
    pub serve: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// The user's server, for the entries' own command lines.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// `hookctl uninstall`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/uninstall.txt"))]
pub struct UninstallArgs {
    /// The agents [default: every one that has entries of hookctl].
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', conflicts_with = "all")]
    pub agent: Vec<String>,
    /// Every agent, as without --agent.
    #[arg(long)]
    pub all: bool,
    /// Which settings file [default: user, project and local].
    #[arg(long, value_enum, value_name = "SCOPE")]
    pub scope: Option<SettingsScope>,
    /// Remove the state directory too: journal, backups, trust. The config stays.
    #[arg(long)]
    pub purge: bool,
    /// Print the edit as a diff and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `hookctl status`.
#[derive(Debug, Default, Args)]
#[command(after_help = include_str!("help/status.txt"))]
pub struct StatusArgs {
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Run the registered command line on a harmless and on a dangerous sample call. Nothing of
    /// the samples is executed.
    #[arg(long)]
    pub verify: bool,
    /// Have the agents' own programs try a harmless command that a temporary rule denies, in the main thread and in
    /// a subagent. Uses your account with their models.
    #[arg(long, requires = "verify")]
    pub live: bool,
    /// With --live: only these agents, installed or not.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', requires = "live")]
    pub agent: Vec<String>,
    /// With --live: do not ask first.
    #[arg(long, short, requires = "live")]
    pub yes: bool,
    /// Contact no server: only tell which of them events last found down.
    #[arg(long)]
    pub offline: bool,
}

/// `hookctl doctor`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/doctor.txt"))]
pub struct DoctorArgs {
    /// Do what is safe: write outdated or missing entries anew, end a pause.
    #[arg(long)]
    pub fix: bool,
    /// Print a JSON list, one object for each finding.
    #[arg(long)]
    pub json: bool,
}

/// `hookctl migrate`.
#[derive(Debug, Args)]
pub struct MigrateArgs {
    /// Whose hooks: claude.
    #[arg(value_name = "FROM")]
    pub from: String,
    /// Into whose settings: cline (~/.cline/hooks.json, of the Cline that has Claude Code's hooks).
    #[arg(value_name = "TO")]
    pub to: String,
    /// Print the edit as a diff and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `hookctl agents`.
#[derive(Debug, Args)]
pub struct AgentsArgs {
    /// Only these agents: `codex`, `gemini`; without, all.
    #[arg(value_name = "AGENT")]
    pub names: Vec<String>,
    /// Print a JSON list, one object for each agent.
    #[arg(long)]
    pub json: bool,
}

/// `hookctl events`.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = include_str!("help/events.txt")
)]
pub struct EventsArgs {
    /// What to do; none = list.
    #[command(subcommand)]
    pub command: Option<EventsCommand>,
    /// The agents [default: every one that has entries of hookctl].
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', global = true)]
    pub agent: Vec<String>,
    /// Which settings file [default: each that has entries of hookctl].
    #[arg(long, value_enum, value_name = "SCOPE", global = true)]
    pub scope: Option<SettingsScope>,
    /// Print the edit as a diff and write nothing.
    #[arg(long, global = true)]
    pub dry_run: bool,
    /// Print one JSON object.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What `hookctl events` does.
#[derive(Debug, Subcommand)]
pub enum EventsCommand {
    /// List them: on, off, or not registered.
    List,
    /// Put hookctl's entries of these events in.
    Enable {
        /// The agent's own names, or Claude Code's.
        #[arg(value_name = "EVENT", required = true)]
        events: Vec<String>,
    },
    /// Take hookctl's entries of these events out, and keep later installs from putting them back.
    Disable {
        /// The agent's own names, or Claude Code's.
        #[arg(value_name = "EVENT", required = true)]
        events: Vec<String>,
    },
}

/// `hookctl check`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/check.txt"))]
pub struct CheckArgs {
    /// Rule files [default: every layer's].
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// How to print the findings: for people, as a JSON list, or as SARIF 2.1.0.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Human)]
    pub format: Format,
    /// The same as --format json.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// With the lines that are meant, for people.
    Human,
    /// A JSON list, one object for each finding.
    Json,
    /// SARIF 2.1.0, for what shows findings beside the code.
    Sarif,
}

/// `hookctl explain`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/explain.txt"))]
pub struct ExplainArgs {
    /// A command line, as of a Bash call; or a file with a payload; `-` is stdin [default: stdin].
    #[arg(value_name = "COMMAND|FILE", conflicts_with = "failures")]
    pub words: Vec<String>,
    /// The tool that is called [default: Bash].
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// The event; alone: what that event can do.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// The agent whose event it is [default: what the payload says, else claude].
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Show every rule that was considered, every effect, and the bytes of the answer.
    #[arg(short, long)]
    pub verbose: bool,
    /// End with a status that tells the verdict.
    #[arg(long)]
    pub exit_code: bool,
    /// Print what is answered when hookctl itself fails, event by event.
    #[arg(long)]
    pub failures: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// The same, where it begins with a dash or holds one.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// `hookctl test`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/test.txt"))]
pub struct TestArgs {
    /// Files or directories with tests; `-` is stdin [default: every layer's rule file].
    #[arg(value_name = "FILE", conflicts_with = "journal")]
    pub files: Vec<PathBuf>,
    /// Judge the journal's calls by today's rules and list what would change.
    #[arg(long)]
    pub journal: bool,
    /// Only this far back in the journal: 30m, 2h, 7d.
    #[arg(long, value_name = "DURATION", requires = "journal")]
    pub since: Option<String>,
    /// The project's root [default: that of the current directory].
    #[arg(long, value_name = "DIR", conflicts_with = "journal")]
    pub project: Option<PathBuf>,
    /// Judge with this profile, whatever the files say.
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub profile: Option<ProfileArg>,
    /// List the cases that hold as well.
    #[arg(short, long)]
    pub verbose: bool,
    /// Print one JSON object for each case.
    #[arg(long)]
    pub json: bool,
}

/// The profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProfileArg {
    /// Shipped rules are only journalled.
    Observe,
    /// The default.
    Guard,
    /// Asks about what is only possible, too.
    Strict,
}

/// `hookctl trust`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/trust.txt"))]
pub struct TrustArgs {
    /// The project's rule file or directory [default: here].
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Print what is trusted.
    #[arg(long, conflicts_with_all = ["path", "revoke"])]
    pub list: bool,
    /// Trust it no more.
    #[arg(long)]
    pub revoke: bool,
    /// Print the list as JSON.
    #[arg(long, requires = "list")]
    pub json: bool,
}

/// `hookctl pause`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/pause.txt"))]
pub struct PauseArgs {
    /// How long: 90s, 10m, 1h.
    #[arg(value_name = "DURATION", default_value = "10m")]
    pub duration: String,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `hookctl resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `hookctl packs`.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = include_str!("help/packs.txt")
)]
pub struct PacksArgs {
    /// What to show; none = list.
    #[command(subcommand)]
    pub command: Option<PacksCommand>,
    /// Print one JSON object.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What `hookctl packs` shows.
#[derive(Debug, Subcommand)]
pub enum PacksCommand {
    /// List the packs.
    List,
    /// Show a pack with its rules, or one rule.
    Show {
        /// A pack or a shipped rule.
        #[arg(value_name = "ID")]
        id: String,
    },
}

/// `hookctl log`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/log.txt"))]
pub struct LogArgs {
    /// Go on printing what comes.
    #[arg(short, long)]
    pub follow: bool,
    /// Print the journal's own lines.
    #[arg(long)]
    pub json: bool,
    /// The last so many; 0 = all [default: 20; with --since or --json all].
    #[arg(short = 'n', long, value_name = "N")]
    pub lines: Option<usize>,
    /// Only this far back: 30m, 2h, 7d, 1w.
    #[arg(long, value_name = "DURATION")]
    pub since: Option<String>,
    /// Only these: halt, deny, defer, ask, allow, silent, failed, rewritten; those that `observe` or a pause let
    /// pass count as well, and are `passed`.
    #[arg(long, value_name = "VERDICT")]
    pub decision: Option<String>,
    /// Only where this rule spoke.
    #[arg(long, value_name = "ID")]
    pub rule: Option<String>,
    /// Only calls of this tool: Bash, `mcp__github__*`.
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Only this project: its directory, or the name of it.
    #[arg(long, value_name = "DIR|NAME")]
    pub project: Option<String>,
    /// Say how long ago it was, not when.
    #[arg(long)]
    pub relative: bool,
}

/// `hookctl init`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/init.txt"))]
pub struct InitArgs {
    /// Write the project's .hookctl.toml instead of the user's config.toml.
    #[arg(long)]
    pub project: bool,
    /// Replace a file that is there.
    #[arg(long)]
    pub force: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `hookctl completions`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/completions.txt"))]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// The shells that completions are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Bash.
    Bash,
    /// Zsh.
    Zsh,
    /// Fish.
    Fish,
    /// PowerShell.
    Powershell,
    /// Elvish.
    Elvish,
}
