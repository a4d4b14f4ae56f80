//! The command line: every subcommand, option and help text.
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
pub use self::server::{FlushArgs, MemoryArgs, PingArgs, ServerArgs};

const TOP: &str = "Examples:\n  \
    hookctl install                       guard every session of this user\n  \
    hookctl status                        is the guard in effect?\n  \
    hookctl explain --tool Bash -- 'rm -rf ~'   what would be answered, and why\n  \
    hookctl check                         find every fault in the rule files\n  \
    hookctl packs                         the rules that ship, and what your files change\n\n\
    Without a command: `hookctl status` on a terminal, `hookctl hook` elsewhere.\n\n\
    Exit status:\n  \
    0  all is well\n  \
    1  something was found, or hookctl refused\n  \
    2  wrong usage, or it failed\n\
    (`hookctl hook` is different: 0 = answered, 2 = blocked.)";

/// Rules for what coding agents may do, judged at every hook event.
#[derive(Debug, Parser)]
#[command(name = "hookctl", version, about, after_help = TOP, max_term_width = 100)]
pub struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub global: Global,
    /// The command; none = status.
    #[command(subcommand)]
    pub command: Option<Command>,
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
pub enum Command {
    /// Judge one hook event on stdin (what agents run; not for people).
    Hook(HookArgs),
    /// Write hookctl into an agent's settings.
    Install(InstallArgs),
    /// Take hookctl out of an agent's settings again.
    Uninstall(UninstallArgs),
    /// Say whether the guard is in effect, and if not, why.
    Status(StatusArgs),
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
    Resume,
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
    /// Print the completions for a shell.
    Completions(CompletionsArgs),
    /// Print the man page.
    Man,
}

/// Where an agent keeps settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scope {
    /// Every session of this user: ~/.claude/settings.json.
    User,
    /// Everybody who works on this project: .claude/settings.json, to be committed.
    Project,
    /// This user in this project: .claude/settings.local.json.
    Local,
}

/// `hookctl install`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:\n  \
    hookctl install                         guard every session of this user\n  \
    hookctl install --dry-run               show the edit, write nothing\n  \
    hookctl install --fail-closed           block calls even when hookctl itself fails\n  \
    hookctl install --scope project         share the guard with the project\n\n\
A second install changes nothing. Everything else in the file stays byte for byte, and\n\
`hookctl uninstall` gives back the file as it was.\n\n\
Where cdev or agent-hooks has entries and the config names a server that does the same, install\n\
refuses: it would be done twice. --replace takes them out; uninstall brings them back.\n\n\
Exit status:\n  \
    0  installed, or already there\n  \
    1  refused: another scope has it, another program does the same, or an agent may not\n  \
    2  wrong usage, or the file cannot be edited (it is then untouched)")]
pub struct InstallArgs {
    /// The agent.
    #[arg(long, value_name = "NAME", default_value = "claude")]
    pub agent: String,
    /// Which settings file.
    #[arg(long, value_enum, value_name = "SCOPE", default_value_t = Scope::User)]
    pub scope: Scope,
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
    /// Take out the entries of other programs whose work a server in the config does.
    #[arg(long)]
    pub replace: bool,
    /// The user's server, for the entries' own command lines.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// `hookctl uninstall`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:\n  \
    hookctl uninstall                       out of the user's and this project's settings\n  \
    hookctl uninstall --scope local         out of one file\n  \
    hookctl uninstall --purge               and remove journal, backups and trust\n\n\
Where nobody else edited the file since, it gets its original bytes back; otherwise our\n\
entries go and nothing else. What `install --replace` took out comes back. Your rules stay.\n\n\
Exit status:\n  \
    0  it is out (or was not there)\n  \
    1  refused: started by an agent\n  \
    2  wrong usage, or a file cannot be edited (it is then untouched)")]
pub struct UninstallArgs {
    /// The agent.
    #[arg(long, value_name = "NAME", default_value = "claude")]
    pub agent: String,
    /// Which settings file [default: user, project and local].
    #[arg(long, value_enum, value_name = "SCOPE")]
    pub scope: Option<Scope>,
    /// Remove the state directory too: journal, backups, trust. The config stays.
    #[arg(long)]
    pub purge: bool,
    /// Print the edit as a diff and write nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// `hookctl status`.
#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:\n  \
    hookctl status                          for people\n  \
    hookctl status --json | jq .in_effect   for programs\n  \
    hookctl status --verify                 run the registered command on two sample calls\n\n\
Servers are asked how they are, for a second at most: a marked test event; only a connection\n\
where a human answers, or nothing does. Nothing of that changes the exit status.\n\n\
Exit status:\n  \
    0  the guard is in effect\n  \
    1  it is not, or not all of it\n  \
    2  wrong usage, or it failed")]
pub struct StatusArgs {
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Run the registered command line on a harmless and on a dangerous sample call. Nothing of
    /// the samples is executed.
    #[arg(long)]
    pub verify: bool,
    /// Contact no server: only tell which of them events last found down.
    #[arg(long)]
    pub offline: bool,
}

/// `hookctl check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:\n  \
    hookctl check                           the files of every layer that holds here\n  \
    hookctl check .hookctl.toml             one file\n  \
    hookctl check --json | jq -r '.[].code' for editors and scripts\n\n\
Exit status:\n  \
    0  no error (warnings may be)\n  \
    1  errors\n  \
    2  wrong usage, or a file cannot be read")]
pub struct CheckArgs {
    /// Rule files [default: every layer's].
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Print a JSON list, one object for each finding.
    #[arg(long)]
    pub json: bool,
}

/// `hookctl explain`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:\n  \
    hookctl explain --tool Bash -- 'git push --force && echo done'\n  \
    hookctl explain --tool Read -- .env     the value goes to the tool's main field\n  \
    hookctl explain payload.json\n  \
    hookctl explain < payload.json\n  \
    hookctl explain --event PreToolUse      its input, its outputs, what blocks\n  \
    hookctl explain --failures              what happens when something fails\n\n\
Exit status:\n  \
    0  explained\n  \
    2  wrong usage, or the payload cannot be read")]
pub struct ExplainArgs {
    /// A payload; `-` is stdin [default: stdin].
    #[arg(value_name = "FILE", conflicts_with_all = ["tool", "failures"])]
    pub file: Option<PathBuf>,
    /// The tool to be called with what comes after `--`.
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// The event; alone: what that event can do.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// Print what is answered when hookctl itself fails, event by event.
    #[arg(long)]
    pub failures: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// The command or file of the call.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// `hookctl test`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:\n  \
    hookctl test                            the tests in the rule files that hold here\n  \
    hookctl test .hookctl.toml tests/       files, or all *.toml files of a directory\n  \
    hookctl test --json rules.toml | jq -r 'select(.passed | not).what'\n  \
    hookctl test --journal --since 7d       which past calls would be judged otherwise today\n\n\
A file with rules of its own is judged by itself and the shipped rules, a file of tests only by\n\
the rules that hold here. Nothing is run, and no test writes into the journal.\n\n\
Exit status:\n  \
    0  all hold (or there is none); with --journal, nothing would change\n  \
    1  some do not, or a file has faults; with --journal, something would change\n  \
    2  wrong usage, or a file cannot be read")]
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
#[command(after_help = "\
Examples:\n  \
    hookctl trust                           read and approve this project's files\n  \
    hookctl trust --list                    what is trusted, and is it still the same?\n  \
    hookctl trust --revoke                  take it back\n\n\
Until then a project's rules hold only where they deny or ask on a tool call. Any change of the\n\
file, or of a program of the project that it names, ends the trust.\n\n\
Exit status:\n  \
    0  trusted (or listed, or revoked)\n  \
    1  refused: the answer was no, not on a terminal, started by an agent, or faults in the file\n  \
    2  wrong usage, or it failed")]
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
#[command(after_help = "\
Examples:\n  \
    hookctl pause                           ten minutes\n  \
    hookctl pause 1h30m\n  \
    hookctl resume                          end it now\n\n\
Exit status:\n  \
    0  paused\n  \
    1  refused: not on a terminal, or started by an agent\n  \
    2  wrong usage, or it failed")]
pub struct PauseArgs {
    /// How long: 90s, 10m, 1h.
    #[arg(value_name = "DURATION", default_value = "10m")]
    pub duration: String,
}

/// `hookctl packs`.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "\
Examples:\n  \
    hookctl packs                           every pack: on or off, its rules, who changed what\n  \
    hookctl packs show git                  the rules of a pack\n  \
    hookctl packs show force-push           one rule: its text, what files change, how to change it\n  \
    hookctl packs --json | jq '.packs[] | select(.enabled | not).id'\n\n\
Exit status:\n  \
    0  printed\n  \
    1  no pack and no rule has that name\n  \
    2  wrong usage, or it failed"
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
#[command(after_help = "\
Examples:\n  \
    hookctl log --since 1h --decision deny\n  \
    hookctl log -f\n  \
    hookctl log --json --rule no-force-push | jq .\n\n\
Exit status:\n  \
    0  printed\n  \
    1  nothing found\n  \
    2  wrong usage, or it failed")]
pub struct LogArgs {
    /// Go on printing what comes.
    #[arg(short, long)]
    pub follow: bool,
    /// Print the journal's own lines.
    #[arg(long)]
    pub json: bool,
    /// Only this far back: 30m, 2h, 7d.
    #[arg(long, value_name = "DURATION")]
    pub since: Option<String>,
    /// Only these decisions: halt, deny, defer, ask, allow, none; passed = would have been stopped, but for
    /// `observe` or a pause.
    #[arg(long, value_name = "VERDICT")]
    pub decision: Option<String>,
    /// Only where this rule spoke.
    #[arg(long, value_name = "ID")]
    pub rule: Option<String>,
}

/// `hookctl init`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:\n  \
    hookctl init                            ~/.config/hookctl/config.toml\n  \
    hookctl init --project                  .hookctl.toml at the project's root\n\n\
Exit status:\n  \
    0  written\n  \
    1  refused: there is a file already, or an agent would replace it\n  \
    2  wrong usage, or it failed")]
pub struct InitArgs {
    /// Write the project's .hookctl.toml instead of the user's config.toml.
    #[arg(long)]
    pub project: bool,
    /// Replace a file that is there.
    #[arg(long)]
    pub force: bool,
}

/// `hookctl completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:\n  \
    hookctl completions bash > ~/.local/share/bash-completion/completions/hookctl\n  \
    hookctl completions zsh > ~/.zfunc/_hookctl\n  \
    hookctl completions fish > ~/.config/fish/completions/hookctl.fish")]
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
