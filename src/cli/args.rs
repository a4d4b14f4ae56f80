//! The command line: every subcommand and option. What follows a command's options in its help stands in `help/`.
//!
//! Nothing here uses the rest of the crate: the build script includes this file to write the shell
//! completions and the man page from the same definitions.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgMatches, Command};

// The build script includes this file from elsewhere.
#[macro_use]
#[path = "args/table.rs"]
mod table;
#[path = "args/bundle.rs"]
pub mod bundle;
#[path = "args/hook.rs"]
mod hook;
#[path = "args/past.rs"]
mod past;
#[path = "args/server.rs"]
pub mod server;

pub use self::bundle::BundleArgs;
pub use self::hook::{BridgeArgs, HookArgs};
pub use self::past::{ExactArgs, ImportArgs, PageArgs, ReplayArgs, StatsArgs, SuggestArgs};
pub use self::server::{FlushArgs, MemoryArgs, PingArgs, ServeArgs, ServerArgs};

pub use self::table::{CommandForm, CommandRow, More, OptionRow, Options, ValueKind};
use self::table::{OptionValue, Texts};

options! {
    /// Rules for what coding agents may do, judged at every hook event.
    pub struct Cli(AFTER = "hookctl.txt") {
        /// What holds for every command.
        global: Global,
        /// The command; none = status.
        command: Option<CliCommand>,
    }
}

impl Cli {
    /// What clap knows of it.
    pub fn command(texts: Texts) -> Command {
        let command = Command::new("hookctl")
            .version(env!("CARGO_PKG_VERSION"))
            .about(env!("CARGO_PKG_DESCRIPTION"))
            .after_help(texts(Cli::AFTER))
            .max_term_width(100);
        // They stand in the help of the whole alone.
        table::with_options(command, Cli::OPTIONS, texts)
            .mut_subcommands(|command| table::with_hidden(command, Global::OPTIONS))
    }

    /// What was typed.
    ///
    /// # Errors
    /// What is wrong with it, or the help or the version that was asked for.
    pub fn try_parse_from(
        args: impl IntoIterator<Item = OsString>,
        texts: Texts,
    ) -> Result<Cli, clap::Error> {
        Ok(Options::take(&mut Cli::command(texts).try_get_matches_from(args)?))
    }
}

options! {
    /// Options of every command.
    #[derive(Clone)]
    pub struct Global(HEADING = "Options of every command") {
        /// Directory of the user's config.toml [default: ~/.config/hookctl].
        config: Option<PathBuf> = "DIR" [More::Global],
        /// Directory of journal, trust and backups [default: ~/.local/state/hookctl].
        state: Option<PathBuf> = "DIR" [More::Global],
        /// Colours: `auto` (on a terminal without NO_COLOR), `always` or `never`.
        color: Color = "WHEN" [More::Global, More::Default("auto")],
    }
}

choice! {
    /// When to print colours.
    pub enum Color {
        /// On a terminal, unless NO_COLOR is set.
        Auto = "auto",
        /// In any case.
        Always = "always",
        /// Never.
        Never = "never",
    }
}

commands! {
    /// The commands.
    pub enum CliCommand {
        /// Judge one hook event on stdin (what agents run; not for people).
        Hook(HookArgs) = "hook" Listed,
        /// Write hookctl into an agent's settings.
        Install(InstallArgs) = "install" Listed,
        /// Take hookctl out of an agent's settings again.
        Uninstall(UninstallArgs) = "uninstall" Listed,
        /// Say whether the guard is in effect, and if not, why.
        Status(StatusArgs) = "status" Listed,
        /// List what keeps the guard from being in effect, with a fix for each.
        Doctor(DoctorArgs) = "doctor" Listed,
        /// What each agent can be told, and where its settings are.
        Agents(AgentsArgs) = "agents" Listed,
        /// List the events of the agents, and switch single ones on and off.
        Events(EventsArgs) = "events" Listed,
        /// Find every fault in the rule files.
        Check(CheckArgs) = "check" Listed,
        /// Show how one call or event would be judged, and why.
        Explain(ExplainArgs) = "explain" Listed,
        /// Run the tests that stand beside the rules, or hold the journal against today's rules.
        Test(TestArgs) = "test" Listed,
        /// Read a project's rule file and trust exactly its present content.
        Trust(TrustArgs) = "trust" Listed,
        /// Let everything pass for a while (humans only).
        Pause(PauseArgs) = "pause" Listed,
        /// End a pause.
        Resume(ResumeArgs) = "resume" Listed,
        /// List the shipped rules: their packs, what each stops, what your files change.
        Packs(PacksArgs) = "packs" Listed,
        /// Show past decisions.
        Log(LogArgs) = "log" Listed,
        /// Judge past calls by the rules of today, or by others.
        Replay(ReplayArgs) = "replay" Listed,
        /// Find rules that would have answered what you always said yes to.
        Suggest(SuggestArgs) = "suggest" Listed,
        /// Write an exact rule that allows the last stopped call (humans only).
        Allow(ExactArgs) = "allow" Listed,
        /// Write an exact rule that denies it (humans only).
        Deny(ExactArgs) = "deny" Listed,
        /// Count what was decided: by rule, program and project, and how long it took.
        Stats(StatsArgs) = "stats" Listed,
        /// Write the same as a page with charts.
        Report(PageArgs) = "report" Listed,
        /// Make rules of permission lists and of other guards' files.
        Import(ImportArgs) = "import" Listed,
        /// Write a commented starter config.
        Init(InitArgs) = "init" Listed,
        /// See whether a configured server is there.
        Ping(PingArgs) = "ping" Listed,
        /// Make, sign and verify bundles of rules for many machines.
        Bundle(BundleArgs) = "bundle" Listed,
        /// Send what servers are still to be told, and look for newer managed rules.
        Flush(FlushArgs) = "flush" Listed,
        /// What humans at servers said for a session: list it, or forget it.
        Memory(MemoryArgs) = "memory" Listed,
        /// Start the approval server: answer what rules ask from a browser or a phone.
        Serve(ServeArgs) = "serve" Foreign,
        /// Take the hooks of one agent's settings over into another's.
        Migrate(MigrateArgs) = "migrate" Listed,
        /// Hand Claude Code's events to the listener of agent-hooks; without a flag, it is that hook.
        ClaudeHook(BridgeArgs) = "claude-hook" Listed,
        /// The same for Cline.
        ClineHook(BridgeArgs) = "cline-hook" Hidden,
        /// The same for Gemini CLI.
        GeminiHook(BridgeArgs) = "gemini-hook" Hidden,
        /// The same for OpenCode.
        OpencodeHook(BridgeArgs) = "opencode-hook" Hidden,
        /// The same for Factory Droid.
        DroidHook(BridgeArgs) = "droid-hook" Hidden,
        /// Whether each agent's events are handed on (`hookctl all status`).
        AllHook(BridgeArgs) = "all-hook" Hidden,
        /// Say how to get a newer hookctl, in the way that this one was installed.
        Upgrade(UpgradeArgs) = "upgrade" Listed,
        /// What the shells' completions ask: what can stand at the end of a command line.
        Complete(CompleteArgs) = "complete" Foreign,
        /// Print the completions for a shell.
        Completions(CompletionsArgs) = "completions" Listed,
        /// Print the man page.
        Man(NoOptions) = "man" Listed,
    }
}

options! {
    /// Of a command that has none.
    pub struct NoOptions {}
}

choice! {
    /// Where an agent keeps settings.
    pub enum SettingsScope {
        /// Every session of this user: ~/.claude/settings.json and its like.
        User = "user",
        /// Everybody who works on this project: .claude/settings.json and its like, to be committed.
        Project = "project",
        /// This user in this project: .claude/settings.local.json (Claude Code alone).
        Local = "local",
    }
}

options! {
    /// `hookctl install`.
    pub struct InstallArgs(AFTER = "install.txt") {
        /// The agents [default: those that are here, after a question].
        agent: Vec<String> = "NAME,..." [More::Commas, More::Conflicts(&["all"])],
        /// Every agent that is here.
        all: bool,
        /// Which settings file.
        scope: SettingsScope = "SCOPE" [More::Default("user")],
        /// Only these events [default: the usual ones and those that rules need].
        events: Vec<String> = "EVENT,..." [More::Commas],
        /// Make the agent block when hookctl fails or is missing (Claude Code after 2.1.197).
        fail_closed: bool,
        /// Write the settings of the machine's administrator, which users cannot change: for root.
        managed: bool [More::Conflicts(&["all", "scope", "events", "also", "trust", "replace", "serve"])],
        /// Write them below this directory, as for the image of a machine.
        root: Option<PathBuf> = "DIR" [More::Requires("managed")],
        /// Print the edit as a diff and write nothing.
        dry_run: bool,
        /// Install although another scope already has it.
        also: bool,
        /// Approve the hooks in your name, where the agent asks its user to (Codex).
        trust: bool,
        /// Take out the entries of other programs whose work a server in the config does.
        replace: bool,
        /// Have humans asked by `hookctl serve`, too: on this machine, at this address, or elsewhere.
        serve: Option<String> = "ADDRESS|URL" [More::Missing("127.0.0.1")],
        /// Print one JSON object.
        json: bool,
        /// The user's server, for the entries' own command lines.
        server: ServerArgs,
    }
}

options! {
    /// `hookctl uninstall`.
    pub struct UninstallArgs(AFTER = "uninstall.txt") {
        /// The agents [default: every one that has entries of hookctl].
        agent: Vec<String> = "NAME,..." [More::Commas, More::Conflicts(&["all"])],
        /// Every agent, as without --agent.
        all: bool,
        /// Which settings file [default: user, project and local].
        scope: Option<SettingsScope> = "SCOPE",
        /// Remove the state directory too: journal, backups, trust. The config stays.
        purge: bool,
        /// Take it out of the settings of the machine's administrator.
        managed: bool [More::Conflicts(&["all", "scope", "purge"])],
        /// Where those are.
        root: Option<PathBuf> = "DIR" [More::Requires("managed")],
        /// Print the edit as a diff and write nothing.
        dry_run: bool,
        /// Print one JSON object.
        json: bool,
    }
}

options! {
    /// `hookctl status`.
    #[derive(Default)]
    pub struct StatusArgs(AFTER = "status.txt") {
        /// Print one JSON object.
        json: bool,
        /// Run the registered command line on a harmless and on a dangerous sample call. Nothing of
        /// the samples is executed.
        verify: bool,
        /// Have the agents' own programs try a harmless command that a temporary rule denies, in the main thread and in
        /// a subagent. Uses your account with their models.
        live: bool [More::Requires("verify")],
        /// With --live: only these agents, installed or not.
        agent: Vec<String> = "NAME,..." [More::Commas, More::Requires("live")],
        /// With --live: do not ask first.
        yes: bool [More::Short('y'), More::Requires("live")],
        /// Contact no server: only tell which of them events last found down.
        offline: bool,
    }
}

options! {
    /// `hookctl doctor`.
    pub struct DoctorArgs(AFTER = "doctor.txt") {
        /// Do what is safe: write outdated or missing entries anew, end a pause.
        fix: bool,
        /// Print a JSON list, one object for each finding.
        json: bool,
    }
}

options! {
    /// `hookctl migrate`.
    pub struct MigrateArgs {
        /// Whose hooks: claude.
        from: String = "FROM" [More::Operand, More::Required],
        /// Into whose settings: cline (~/.cline/hooks.json, of the Cline that has Claude Code's hooks).
        to: String = "TO" [More::Operand, More::Required],
        /// Print the edit as a diff and write nothing.
        dry_run: bool,
        /// Print one JSON object.
        json: bool,
    }
}

options! {
    /// `hookctl agents`.
    pub struct AgentsArgs {
        /// Only these agents: `codex`, `gemini`; without, all.
        names: Vec<String> = "AGENT" [More::Operand],
        /// Print a JSON list, one object for each agent.
        json: bool,
    }
}

options! {
    /// `hookctl events`.
    pub struct EventsArgs(AFTER = "events.txt") {
        /// What to do; none = list.
        command: Option<EventsCommand>,
        /// The agents [default: every one that has entries of hookctl].
        agent: Vec<String> = "NAME,..." [More::Commas, More::Global],
        /// Which settings file [default: each that has entries of hookctl].
        scope: Option<SettingsScope> = "SCOPE" [More::Global],
        /// Print the edit as a diff and write nothing.
        dry_run: bool [More::Global],
        /// Print one JSON object.
        json: bool [More::Global],
    }
}

impl EventsArgs {
    /// Are events switched?
    pub fn edits(&self) -> bool {
        !matches!(self.command, None | Some(EventsCommand::List(_)))
    }
}

commands! {
    /// What `hookctl events` does.
    pub enum EventsCommand {
        /// List them: on, off, or not registered.
        List(NoOptions) = "list" Listed,
        /// Put hookctl's entries of these events in.
        Enable(EventNames) = "enable" Listed,
        /// Take hookctl's entries of these events out, and keep later installs from putting them back.
        Disable(EventNames) = "disable" Listed,
    }
}

options! {
    /// Which events.
    pub struct EventNames {
        /// The agent's own names, or Claude Code's.
        events: Vec<String> = "EVENT" [More::Operand, More::Required],
    }
}

options! {
    /// `hookctl check`.
    pub struct CheckArgs(AFTER = "check.txt") {
        /// Rule files [default: every layer's].
        files: Vec<PathBuf> = "FILE" [More::Operand],
        /// How to print the findings: for people, as a JSON list, or as SARIF 2.1.0.
        format: Format = "FORMAT" [More::Default("human")],
        /// The same as --format json.
        json: bool [More::Conflicts(&["format"])],
    }
}

choice! {
    /// How findings are printed.
    pub enum Format {
        /// With the lines that are meant, for people.
        Human = "human",
        /// A JSON list, one object for each finding.
        Json = "json",
        /// SARIF 2.1.0, for what shows findings beside the code.
        Sarif = "sarif",
    }
}

options! {
    /// `hookctl explain`.
    pub struct ExplainArgs(AFTER = "explain.txt") {
        /// A command line, as of a Bash call; or a file with a payload; `-` is stdin [default: stdin].
        words: Vec<String> = "COMMAND|FILE" [More::Operand, More::Conflicts(&["failures"])],
        /// The tool that is called [default: Bash].
        tool: Option<String> = "NAME",
        /// The event; alone: what that event can do.
        event: Option<String> = "NAME",
        /// The agent whose event it is [default: what the payload says, else claude].
        agent: Option<String> = "NAME",
        /// The session whose marks stand [default: the payload's].
        session: Option<String> = "ID",
        /// Assume these marks of the session: private, untrusted, sent.
        marks: Vec<String> = "MARK,..." [More::Commas, More::Conflicts(&["session"])],
        /// Show every rule that was considered, every effect, and the bytes of the answer.
        verbose: bool [More::Short('v')],
        /// End with a status that tells the verdict.
        exit_code: bool,
        /// Print what is answered when hookctl itself fails, event by event.
        failures: bool,
        /// Print one JSON object.
        json: bool,
        /// The same, where it begins with a dash or holds one.
        command: Vec<String> = "COMMAND" [More::Last],
    }
}

options! {
    /// `hookctl test`.
    pub struct TestArgs(AFTER = "test.txt") {
        /// Files or directories with tests; `-` is stdin [default: every layer's rule file].
        files: Vec<PathBuf> = "FILE" [More::Operand, More::Conflicts(&["journal"])],
        /// Judge the journal's calls by today's rules and list what would change.
        journal: bool,
        /// Only this far back in the journal: 30m, 2h, 7d.
        since: Option<String> = "DURATION" [More::Requires("journal")],
        /// The project's root [default: that of the current directory].
        project: Option<PathBuf> = "DIR" [More::Conflicts(&["journal"])],
        /// Judge with this profile, whatever the files say.
        profile: Option<ProfileArg> = "PROFILE",
        /// List the cases that hold as well.
        verbose: bool [More::Short('v')],
        /// Print one JSON object for each case.
        json: bool,
    }
}

choice! {
    /// The profiles.
    pub enum ProfileArg {
        /// Shipped rules are only journalled.
        Observe = "observe",
        /// The default.
        Guard = "guard",
        /// Asks about what is only possible, too.
        Strict = "strict",
    }
}

options! {
    /// `hookctl trust`.
    pub struct TrustArgs(AFTER = "trust.txt") {
        /// The project's rule file or directory [default: here].
        path: Option<PathBuf> = "PATH" [More::Operand],
        /// Print what is trusted.
        list: bool [More::Conflicts(&["path", "revoke"])],
        /// Trust it no more.
        revoke: bool,
        /// With --list a JSON list, with --revoke one object.
        json: bool,
    }
}

options! {
    /// `hookctl pause`.
    pub struct PauseArgs(AFTER = "pause.txt") {
        /// How long: 90s, 10m, 1h.
        duration: String = "DURATION" [More::Operand, More::Default("10m")],
        /// Print one JSON object.
        json: bool,
    }
}

options! {
    /// `hookctl resume`.
    pub struct ResumeArgs {
        /// Print one JSON object.
        json: bool,
    }
}

options! {
    /// `hookctl upgrade`.
    pub struct UpgradeArgs {
        /// Print one JSON object.
        json: bool,
    }
}

options! {
    /// `hookctl packs`.
    pub struct PacksArgs(AFTER = "packs.txt") {
        /// What to show; none = list.
        command: Option<PacksCommand>,
        /// Print one JSON object.
        json: bool [More::Global],
    }
}

commands! {
    /// What `hookctl packs` shows.
    pub enum PacksCommand {
        /// List the packs.
        List(NoOptions) = "list" Listed,
        /// Show a pack with its rules, or one rule.
        Show(PackName) = "show" Listed,
    }
}

options! {
    /// Which pack.
    pub struct PackName {
        /// A pack or a shipped rule.
        id: String = "ID" [More::Operand, More::Required],
    }
}

options! {
    /// `hookctl log`.
    pub struct LogArgs(AFTER = "log.txt") {
        /// Go on printing what comes.
        follow: bool [More::Short('f')],
        /// Print the journal's own lines.
        json: bool,
        /// The last so many; 0 = all [default: 20; with --since or --json all].
        lines: Option<u32> = "N" [More::Short('n')],
        /// Only this far back: 30m, 2h, 7d, 1w.
        since: Option<String> = "DURATION",
        /// Only these: halt, deny, defer, ask, allow, silent, failed, rewritten; those that `observe` or a pause let
        /// pass count as well, and are `passed`.
        decision: Option<String> = "VERDICT",
        /// Only where this rule spoke.
        rule: Option<String> = "ID",
        /// Only calls of this tool: Bash, `mcp__github__*`.
        tool: Option<String> = "NAME",
        /// Only this project: its directory, or the name of it.
        project: Option<String> = "DIR|NAME",
        /// Say how long ago it was, not when.
        relative: bool,
        /// Check that no line was edited, removed, moved or added.
        verify: bool [More::Conflicts(&["follow"])],
    }
}

options! {
    /// `hookctl init`.
    pub struct InitArgs(AFTER = "init.txt") {
        /// Write the project's .hookctl.toml instead of the user's config.toml.
        project: bool,
        /// Replace a file that is there.
        force: bool,
        /// Print one JSON object.
        json: bool,
    }
}

options! {
    /// `hookctl complete`.
    pub struct CompleteArgs {
        /// The words up to the cursor, without the program's name; the last is what it is in, and may be empty.
        words: Vec<OsString> = "WORD" [More::Rest],
    }
}

options! {
    /// `hookctl completions`.
    pub struct CompletionsArgs(AFTER = "completions.txt") {
        /// The shell.
        shell: Shell = "SHELL" [More::Operand, More::Required],
    }
}

choice! {
    /// The shells that completions are made for.
    pub enum Shell {
        /// Bash.
        Bash = "bash",
        /// Zsh.
        Zsh = "zsh",
        /// Fish.
        Fish = "fish",
        /// PowerShell.
        Powershell = "powershell",
        /// Elvish.
        Elvish = "elvish",
    }
}
