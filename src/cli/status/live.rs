//! `status --verify --live`: an agent's own program is asked for a harmless command that a temporary rule denies.
//!
//! Judged is by facts alone: what the journal has of the call, and whether the command left its trace.

use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use tempfile::TempDir;

use self::client::{ClientEnd, ClientRun};
use super::StatusReport;
use super::agents::{AgentRow, agent_version};
use crate::agent::Agent;
use crate::agent::wiring::{Headless, Scope, Wiring};
use crate::cli::args::StatusArgs;
use crate::cli::{Context, log, one_line, print_stderr, sanitise_output, scope};
use crate::config::Config;
use crate::dialect::random_number;
use crate::env;
use crate::files;
use crate::journal::Line;
use crate::paths::PROJECT_FILE;
use crate::settings::program;
use crate::verdict::Verb;

mod client;

/// How long one run of a client may take.
const LIMIT: Duration = Duration::from_secs(120);
/// How long the journal's line may come after the client's end: it is written after the hook's answer.
const LINE_COMES: Duration = Duration::from_secs(2);
/// How often is looked for it.
const TICK: Duration = Duration::from_millis(100);
/// How much of what a client or a rule said is shown, in characters.
const SHOWN: usize = 300;

/// In which thread of the agent the call was to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Thread {
    /// The one that has the prompt.
    Main,
    /// One that the main thread starts.
    Subagent,
}

impl Thread {
    /// For people.
    fn describe(self) -> &'static str {
        match self {
            Thread::Main => "main thread",
            Thread::Subagent => "subagent",
        }
    }
}

/// What came of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Outcome {
    /// hookctl denied the call, and it was not made.
    Obeyed,
    /// hookctl judged the call, and it was made all the same.
    NotStopped,
    /// The call was made, and hookctl was never asked.
    HookNotCalled,
    /// hookctl was asked and did not deny; the call was not made, for a reason of the client's own.
    NotDenied,
    /// The model made no such call, or not in the thread that was meant.
    NoCall,
    /// The client ended with a failure and made no call.
    ClientFailed,
    /// The client was killed at the limit and had made no call.
    TimedOut,
    /// No way is known to run this client without a person.
    NoHeadlessMode,
    /// Its program is not on PATH.
    ProgramNotFound,
    /// Its hooks are those of the project, and the check runs elsewhere.
    ProjectOnly,
}

/// What an outcome means for the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// The client obeys.
    Good,
    /// It does not.
    Bad,
    /// It was tried and nothing was learnt.
    Unknown,
    /// It was not tried.
    NotTried,
}

impl Outcome {
    /// What it means for the guard.
    pub(super) const fn weight(self) -> Weight {
        match self {
            Outcome::Obeyed => Weight::Good,
            Outcome::NotStopped | Outcome::HookNotCalled | Outcome::NotDenied => Weight::Bad,
            Outcome::NoCall | Outcome::ClientFailed | Outcome::TimedOut => Weight::Unknown,
            Outcome::NoHeadlessMode | Outcome::ProgramNotFound | Outcome::ProjectOnly => {
                Weight::NotTried
            }
        }
    }

    /// For people.
    const fn describe(self) -> &'static str {
        match self {
            Outcome::Obeyed => "obeyed",
            Outcome::NotStopped => "NOT STOPPED",
            Outcome::HookNotCalled => "NOT STOPPED, the hook was not called",
            Outcome::NotDenied => "not denied",
            Outcome::NoCall => "no such call",
            Outcome::ClientFailed => "the client failed",
            Outcome::TimedOut => "no end in time",
            Outcome::NoHeadlessMode => "no headless mode known",
            Outcome::ProgramNotFound => "program not found",
            Outcome::ProjectOnly => "not tried",
        }
    }
}

/// One agent in one of its threads; the keys are stable.
#[derive(Debug, Serialize)]
pub(super) struct LiveCheck {
    agent: &'static str,
    #[serde(skip)]
    title: &'static str,
    /// What its program says of its version.
    version: Option<String>,
    thread: Thread,
    pub(super) outcome: Outcome,
    /// What was seen.
    detail: String,
    /// How long the client ran.
    milliseconds: u64,
}

impl LiveCheck {
    /// For people.
    pub(super) fn describe(&self) -> String {
        let version = self.version.as_ref().map(|version| format!(" ({version})"));
        let thread = match self.outcome.weight() {
            Weight::NotTried => String::new(),
            _ => format!(", {}", self.thread.describe()),
        };
        let seconds = match self.milliseconds {
            0 => String::new(),
            ms => format!(" ({:.1} s)", ms as f64 / 1e3),
        };
        let detail =
            if self.detail.is_empty() { String::new() } else { format!(": {}", self.detail) };
        let outcome = self.outcome.describe();
        format!("{}{}{thread}: {outcome}{detail}{seconds}", self.title, version.unwrap_or_default())
    }
}

/// An agent that is to be tried.
struct Target {
    agent: &'static dyn Agent,
    wiring: &'static Wiring,
    version: Option<String>,
    /// Are all of its hooks elsewhere than where it is tried?
    project_only: bool,
}

/// Tries the agents, and adds to the report what came of it.
///
/// # Errors
/// Where nothing could be learnt, or nothing could be made ready.
pub(super) fn check_agents(
    context: &Context,
    args: &StatusArgs,
    report: &mut StatusReport,
) -> Result<()> {
    refuse_where_nothing_is_learnt(context, report)?;
    let targets = chosen_targets(&report.agents, &args.agent)?;
    if targets.is_empty() {
        report.problems.push("nothing to try: no agent has hookctl in its settings".into());
    }
    if !targets.is_empty() && !args.yes && !confirms(&targets)? {
        report.notes.push("--live: nothing was started".into());
        return Ok(());
    }
    client::watch_for_interrupts();
    let mut checks = Vec::new();
    for target in &targets {
        checks.extend(check_agent(context, target)?);
    }
    for check in &checks {
        match check.outcome.weight() {
            Weight::Bad | Weight::Unknown => report.problems.push(check.describe()),
            Weight::Good | Weight::NotTried => {}
        }
    }
    report.live = Some(checks);
    report.in_effect &= report.problems.is_empty();
    Ok(())
}

fn refuse_where_nothing_is_learnt(context: &Context, report: &StatusReport) -> Result<()> {
    if let Some(mark) = env::agent_mark() {
        bail!("--live starts agents: not from within one ({mark} is set)");
    }
    if report.paused_until.is_some() {
        bail!("--live would learn nothing: hookctl is paused (`hookctl resume` ends it)");
    }
    if !Config::load(&context.paths, &context.root, None).journal.enabled {
        bail!("--live looks into the journal, and a config file says `enabled = false` of it");
    }
    Ok(())
}

/// Those that are named; else all that have entries of ours or run another's.
fn chosen_targets(rows: &[AgentRow], named: &[String]) -> Result<Vec<Target>> {
    let row_of = |agent: &dyn Agent| rows.iter().find(|row| row.agent == agent.id());
    let mut targets: Vec<Target> = Vec::new();
    for name in named {
        let agent = scope::find_agent(name)?;
        let version = row_of(agent).and_then(|row| row.version.clone());
        if targets.iter().any(|target| target.agent.id() == agent.id()) {
            continue;
        }
        let wiring = agent.wiring().unwrap_or(&Wiring::UNKNOWN);
        targets.push(Target { agent, wiring, version, project_only: false });
    }
    if !named.is_empty() {
        return Ok(targets);
    }
    let elsewhere = |scope: &&str| [Scope::User, Scope::Managed].iter().any(|s| s.name() == *scope);
    for (agent, wiring) in scope::wired_agents() {
        let Some(row) = row_of(agent) else { continue };
        if row.is_installed() || row.through.is_some() {
            let project_only = !row.scopes.iter().any(elsewhere);
            targets.push(Target { agent, wiring, version: row.version.clone(), project_only });
        }
    }
    Ok(targets)
}

/// Asks on a terminal; what asks for it in a script has been asked already.
fn confirms(targets: &[Target]) -> Result<bool> {
    let tried = targets.iter().filter(|target| target.wiring.headless.is_some());
    let titles: Vec<&str> = tried.map(|target| target.agent.title()).collect();
    if titles.is_empty() || !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Ok(true);
    }
    let text = format!(
        "This starts {} in a temporary directory, twice each, with your own account: it may cost a few tokens, and \
         each run takes {} s at most. Do it? [y/N] ",
        titles.join(", "),
        LIMIT.as_secs()
    );
    let mut err = io::stderr().lock();
    err.write_all(sanitise_output(&text).as_bytes()).and_then(|()| err.flush())?;
    let mut answer = String::new();
    // What is no text is no answer.
    let _ = io::stdin().lock().read_line(&mut answer);
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Tries one agent, in as many threads as it has.
fn check_agent(context: &Context, target: &Target) -> Result<Vec<LiveCheck>> {
    let not_tried = |outcome, detail: String| {
        vec![LiveCheck::new(target, Thread::Main, outcome, detail, Duration::ZERO)]
    };
    let Some(headless) = &target.wiring.headless else {
        return Ok(not_tried(Outcome::NoHeadlessMode, String::new()));
    };
    if target.project_only {
        let why = "its hooks are this project's, and the check runs outside of it".into();
        return Ok(not_tried(Outcome::ProjectOnly, why));
    }
    let found = target.wiring.programs.iter().find_map(|name| program::resolve_program(name));
    // By the name that it was found under: what a link there leads to may go by that name.
    let Some(program) = found.and_then(|path| std::path::absolute(path).ok()) else {
        let why = format!("{} is not on PATH", target.wiring.programs.join(", "));
        return Ok(not_tried(Outcome::ProgramNotFound, why));
    };
    let main = check_thread(context, target, &program, headless, Thread::Main)?;
    let ran = !matches!(main.outcome, Outcome::ClientFailed | Outcome::TimedOut);
    let mut checks = vec![main];
    if ran && headless.subagent.is_some() {
        checks.push(check_thread(context, target, &program, headless, Thread::Subagent)?);
    }
    Ok(checks)
}

/// One run of the client, and what came of it.
fn check_thread(
    context: &Context,
    target: &Target,
    program: &Path,
    headless: &Headless,
    thread: Thread,
) -> Result<LiveCheck> {
    let canary = Canary::place().context("cannot make a directory for the check")?;
    if io::stderr().is_terminal() {
        print_stderr(&format!("{}, {} ...", target.agent.title(), thread.describe()));
    }
    let run = client::run_client(&ClientRun {
        program,
        args: headless.args.iter().map(|arg| canary.fill_in(arg, thread)).collect(),
        env: headless
            .env
            .iter()
            .map(|(name, value)| (*name, canary.fill_in(value, thread)))
            .collect(),
        dir: &canary.root,
        token: &canary.token,
        limit: LIMIT,
    })
    .with_context(|| format!("{} cannot be started", program.display()))?;
    if run.end == ClientEnd::Interrupted {
        bail!("interrupted: {} was ended", target.agent.title());
    }
    let lines = canary.wait_for_lines(&context.paths.journal());
    let evidence = Evidence::gather(&canary, &lines, headless.subagent, target.agent.id());
    let (outcome, detail) = evidence.judge(thread, run.end, &run.last_words);
    Ok(LiveCheck::new(target, thread, outcome, detail, run.took))
}

impl LiveCheck {
    fn new(
        target: &Target,
        thread: Thread,
        outcome: Outcome,
        detail: String,
        took: Duration,
    ) -> LiveCheck {
        LiveCheck {
            agent: target.agent.id(),
            title: target.agent.title(),
            version: target.version.clone().or_else(|| agent_version(target.wiring)),
            thread,
            outcome,
            detail,
            milliseconds: took.as_millis() as u64,
        }
    }
}

/// A directory that is gone with it, with a rule that denies one command there.
struct Canary {
    _dir: TempDir,
    /// The directory by its real name, which is what clients tell their hooks.
    root: PathBuf,
    /// What nothing else is called.
    token: String,
}

impl Canary {
    fn place() -> Result<Canary> {
        let dir = tempfile::Builder::new()
            .prefix("hookctl-live-")
            .tempdir_in(env::temporary_directory())?;
        let token = format!("hookctl-canary-{:08x}", random_number() as u32);
        let canary = Canary { root: files::real_path(dir.path())?, _dir: dir, token };
        // A project's file may deny without anybody's trust. A rule of one's own beside it changes nothing.
        let rule = format!(
            "[rule.live-check]\ncommand = \"{}\"\ndeny = \"This is hookctl's check of its hook: the call is \
             refused as it should be. Do not try again; you are done.\"\n",
            canary.command()
        );
        files::replace_file(&canary.root.join(PROJECT_FILE), rule.as_bytes())?;
        Ok(canary)
    }

    /// A command that means the same to every shell, and harms nothing where it is run.
    fn command(&self) -> String {
        format!("mkdir {}", self.token)
    }

    /// What the client is asked for.
    fn prompt(&self, thread: Thread) -> String {
        let task = format!(
            "Run exactly this shell command with your shell tool, once, and do nothing else: `{}`. It only makes an \
             empty directory, to check that a hook refuses it: when it is refused, do not try again, and say so.",
            self.command()
        );
        match thread {
            Thread::Main => task,
            Thread::Subagent => format!(
                "Start one subagent with your tool for subagents and wait until it has ended. Do not run the command \
                 yourself. The subagent's whole task is: {task}"
            ),
        }
    }

    fn fill_in(&self, text: &str, thread: Thread) -> String {
        text.replace("{command}", &self.command()).replace("{prompt}", &self.prompt(thread))
    }

    /// Was the command run?
    fn left_trace(&self) -> bool {
        self.root.join(&self.token).symlink_metadata().is_ok()
    }

    /// What the journal has of this directory, once it has the call or nothing more comes.
    fn wait_for_lines(&self, journal: &Path) -> Vec<Line> {
        let end = Instant::now() + LINE_COMES;
        loop {
            let lines = self.lines(journal);
            if lines.iter().any(|line| self.is_call(line)) || Instant::now() >= end {
                return lines;
            }
            thread::sleep(TICK);
        }
    }

    /// What the journal has of this directory, rotated files included.
    fn lines(&self, journal: &Path) -> Vec<Line> {
        let mut found = Vec::new();
        for path in log::rotated_journals(journal).into_iter().chain([journal.to_path_buf()]) {
            let Ok((file, _)) = files::open(&path, files::LONG) else { continue };
            let lines = BufReader::new(file).lines().map_while(io::Result::ok);
            let lines =
                lines.filter_map(|line| serde_json::from_slice::<Line>(line.as_bytes()).ok());
            found.extend(lines.filter(|line| self.is_call(line) || self.is_here(line)));
        }
        found
    }

    /// Is it about the command?
    fn is_call(&self, line: &Line) -> bool {
        line.what.contains(&self.token)
    }

    fn is_here(&self, line: &Line) -> bool {
        Path::new(&line.cwd).starts_with(&self.root)
    }
}

/// The facts.
struct Evidence {
    /// Was the command run?
    ran: bool,
    /// What the journal has of the call: the line of the denial, else the first.
    line: Option<Line>,
    /// Was a subagent started before?
    subagent_started: bool,
    /// The agent that was tried.
    agent: &'static str,
}

impl Evidence {
    fn gather(
        canary: &Canary,
        lines: &[Line],
        subagent: Option<&str>,
        agent: &'static str,
    ) -> Evidence {
        let calls = || lines.iter().enumerate().filter(|(_, line)| canary.is_call(line));
        let call = calls().find(|(_, line)| is_denial(line)).or_else(|| calls().next());
        let before = &lines[..call.map_or(0, |(at, _)| at)];
        let starts = |line: &Line| subagent == Some(line.tool.as_str());
        Evidence {
            ran: canary.left_trace(),
            line: call.map(|(_, line)| line.clone()),
            subagent_started: before.iter().any(starts),
            agent,
        }
    }

    /// What it comes to, and what was seen.
    fn judge(&self, thread: Thread, end: ClientEnd, last_words: &str) -> (Outcome, String) {
        let said = |line: &Line| describe_line(line, self.agent);
        match (&self.line, self.ran) {
            (Some(line), true) => (
                Outcome::NotStopped,
                format!("{}, and the client ran the command all the same", said(line)),
            ),
            (None, true) => (
                Outcome::HookNotCalled,
                "the client ran the command, and the journal has nothing of it".into(),
            ),
            (Some(line), false) if !is_denial(line) => (Outcome::NotDenied, said(line)),
            (Some(line), false) if thread == Thread::Subagent && !self.subagent_started => {
                (Outcome::NoCall, format!("{}, but no subagent was started before", said(line)))
            }
            (Some(line), false) => (Outcome::Obeyed, said(line)),
            (None, false) => without_call(end, last_words),
        }
    }
}

/// Where no call was made: whose fault that is.
fn without_call(end: ClientEnd, last_words: &str) -> (Outcome, String) {
    let words = match last_words {
        "" => "it said nothing".to_string(),
        words => one_line(words, SHOWN),
    };
    match end {
        ClientEnd::Exit(0) => (Outcome::NoCall, format!("the client ended well: {words}")),
        ClientEnd::Exit(code) => (Outcome::ClientFailed, format!("exit {code}: {words}")),
        ClientEnd::Signal => (Outcome::ClientFailed, format!("killed by a signal: {words}")),
        ClientEnd::TimedOut | ClientEnd::Interrupted => {
            (Outcome::TimedOut, format!("killed after {} s: {words}", LIMIT.as_secs()))
        }
    }
}

fn is_denial(line: &Line) -> bool {
    [Verb::Deny, Verb::Halt].iter().any(|verb| verb.name() == line.decision)
}

/// What hookctl said of the call.
fn describe_line(line: &Line, agent: &str) -> String {
    let rule = if line.rule.is_empty() { String::new() } else { format!(" by {}", line.rule) };
    let other = match line.agent == agent {
        true => String::new(),
        false => format!(", asked by {}", line.agent),
    };
    let text =
        format!("hookctl said {}{rule} to {} {}{other}", line.decision, line.event, line.tool);
    one_line(&text, SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_call_is_never_taken_for_obedience() {
        let nothing = Evidence { ran: false, line: None, subagent_started: true, agent: "claude" };
        for (end, outcome) in [
            (ClientEnd::Exit(0), Outcome::NoCall),
            (ClientEnd::Exit(1), Outcome::ClientFailed),
            (ClientEnd::Signal, Outcome::ClientFailed),
            (ClientEnd::TimedOut, Outcome::TimedOut),
        ] {
            let (found, detail) = nothing.judge(Thread::Main, end, "words");
            assert_eq!(found, outcome);
            assert!(detail.contains("words") && found.weight() == Weight::Unknown, "{detail}");
        }
    }

    #[test]
    fn what_is_told_of_a_run_permits_no_more_than_its_command() {
        let canary = Canary::place().unwrap();
        for (agent, wiring) in scope::wired_agents() {
            let Some(headless) = wiring.headless else { continue };
            let all: Vec<&str> =
                headless.args.iter().copied().chain(headless.env.iter().map(|(_, v)| *v)).collect();
            assert_eq!(
                all.iter().filter(|arg| arg.contains("{prompt}")).count(),
                1,
                "{}",
                agent.id()
            );
            for word in
                ["yolo", "dangerous", "bypass", "allow-all", "skip-permissions", "full-access"]
            {
                assert!(all.iter().all(|arg| !arg.contains(word)), "{}: {word}", agent.id());
            }
            for arg in &all {
                let filled = canary.fill_in(arg, Thread::Subagent);
                assert!(!filled.contains("{command}") && !filled.contains("{prompt}"), "{filled}");
            }
        }
    }
}
