//! The canary of `status --verify`: the registered command line on two sample calls.
//!
//! The samples are JSON text for our own hook, as each agent sends it. Nothing in them is executed.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use super::gates;
use crate::agent::wiring::Form;
use crate::agent::{Agent, default_agent};
use crate::cli::log::SAMPLE_SESSION;
use crate::cli::{Context, scope};
use crate::env;
use crate::settings;
use crate::settings::survey::Own;
use crate::threads;

/// How long a probe may take.
const LIMIT: Duration = Duration::from_secs(5);

/// One sample and what came of it.
#[derive(Debug, Serialize)]
pub(super) struct Probe {
    /// What was sampled.
    pub(super) sample: String,
    /// What should come.
    expected: &'static str,
    /// What came.
    came: String,
    /// Is it as expected?
    pub(super) ok: bool,
    /// How long it took.
    milliseconds: u64,
}

impl Probe {
    /// For people.
    pub(super) fn describe_probe(&self) -> String {
        let Probe { sample, came, expected, milliseconds, ok } = self;
        match ok {
            true => format!("{sample}: {came} ({milliseconds} ms)"),
            false => format!("{sample}: {came}, expected {expected} ({milliseconds} ms)"),
        }
    }
}

/// An entry that is tried.
pub(super) struct Canary {
    agent: &'static dyn Agent,
    /// Its file, where that is what the client runs.
    script: Option<PathBuf>,
    own: Own,
}

/// The entry for the first event before a tool of every file of the agent's that has one; the same call once.
pub(super) fn find_canaries(context: &Context, agent: &'static dyn Agent) -> Vec<Canary> {
    let mut found: Vec<Canary> = Vec::new();
    let Some(event) = gates::sample_event(agent) else { return found };
    for place in scope::agent_files(context, agent).iter().filter(|one| scope::has_own_entry(one)) {
        let read = settings::read_settings(place).ok().flatten();
        let own = read.into_iter().flat_map(|read| read.survey.own);
        let Some(own) = own.into_iter().find(|own| own.seen && own.event == event) else {
            continue;
        };
        let script = matches!(place.form, Form::Scripts(_)).then(|| place.file.clone());
        let canary = Canary { agent, script, own };
        if found.iter().all(|other| !other.is_same_call(&canary)) {
            found.push(canary);
        }
    }
    found
}

impl Canary {
    fn is_same_call(&self, other: &Canary) -> bool {
        let call = |one: &Canary| {
            (
                one.own.command.clone(),
                one.own.args.clone(),
                one.own.tail.clone(),
                one.script.clone(),
            )
        };
        call(self) == call(other)
    }

    /// What the client sends before that shell command.
    fn payload(&self, context: &Context, call: &str) -> Value {
        let mut payload =
            serde_json::from_slice(self.agent.facts().sample.as_bytes()).unwrap_or_default();
        let cwd = context.cwd.to_string_lossy();
        let texts = [
            ("{event}", self.own.event.as_str()),
            ("{session}", SAMPLE_SESSION),
            ("{cwd}", &cwd),
            ("{command}", call),
        ];
        fill_in(&mut payload, &texts);
        payload
    }

    /// The entry as the client runs it.
    fn command(&self) -> Command {
        let own = &self.own;
        if let Some(script) = &self.script {
            return Command::new(script);
        }
        if own.shell {
            let line = own.entry.get("command").and_then(Value::as_str).unwrap_or_default();
            let mut command = Command::new("/bin/sh");
            command.arg("-c").arg(line);
            return command;
        }
        let mut command = Command::new(&own.command);
        command.args(&own.args);
        command
    }
}

/// Puts texts in the place of their names.
fn fill_in(value: &mut Value, texts: &[(&str, &str)]) {
    match value {
        Value::String(text) => {
            if let Some((_, new)) = texts.iter().find(|(name, _)| name == text) {
                *text = (*new).to_string();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill_in(item, texts)),
        Value::Object(members) => members.values_mut().for_each(|item| fill_in(item, texts)),
        _ => {}
    }
}

/// Runs version, harmless and dangerous sample through the entry's own program.
pub(super) fn run_probes(context: &Context, canary: &Canary) -> Vec<Probe> {
    let program = &canary.own.command;
    let who = match canary.agent.id() == default_agent().id() {
        true => String::new(),
        false => format!("{}: ", canary.agent.title()),
    };
    let mut version = Command::new(program);
    version.arg("--version");
    let mut probes = vec![probe(
        format!("{who}{program} --version"),
        concat!("hookctl ", env!("CARGO_PKG_VERSION")),
        version,
        String::new(),
        |answer, expected| {
            let came = answer.stdout.trim();
            (came == expected, if came.is_empty() { "nothing".into() } else { came.into() })
        },
    )];
    for (call, expected) in [("true", "no deny"), ("rm -rf /", "deny")] {
        let mut command = canary.command();
        command.env(env::CLAUDE_PROJECT_DIR, &context.root);
        let input = format!("{}\n", canary.payload(context, call));
        let sample = format!("{who}Bash `{call}`");
        probes.push(probe(sample, expected, command, input, decided));
    }
    probes
}

/// Is the decision the expected one, and what came?
fn decided(answer: &ProbeAnswer, expected: &str) -> (bool, String) {
    let (decision, came) = read_decision(answer);
    let denied = decision.as_deref() == Some("deny");
    (decision.is_some() && denied == (expected == "deny"), came)
}

/// Runs a command and holds what it answers against what is expected.
fn probe(
    sample: String,
    expected: &'static str,
    command: Command,
    input: String,
    holds: fn(&ProbeAnswer, &str) -> (bool, String),
) -> Probe {
    let started = Instant::now();
    let (ok, came) = match run_command(command, input) {
        Err(error) => (false, error),
        Ok(answer) => holds(&answer, expected),
    };
    let milliseconds = started.elapsed().as_millis() as u64;
    Probe { sample, expected, came, ok, milliseconds }
}

pub(super) struct ProbeAnswer {
    pub(super) status: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// The decision (`silent` where there is none, none where the client would not understand) and
/// what came, in words.
fn read_decision(answer: &ProbeAnswer) -> (Option<String>, String) {
    let text = answer.stdout.trim();
    let reason = |text: &str| text.lines().next().unwrap_or_default().to_string();
    if answer.status == Some(2) {
        return (Some("deny".into()), format!("exit 2: {}", reason(&answer.stderr)));
    }
    if answer.status != Some(0) {
        let status = answer.status.map_or("a signal".into(), |status| format!("exit {status}"));
        return (None, format!("{status}: {}", reason(&answer.stderr)));
    }
    if text.is_empty() {
        return (Some("silent".into()), "silent".into());
    }
    let Ok(value) = serde_json::from_slice::<Value>(text.as_bytes()) else {
        return (None, format!("not JSON: {}", reason(text)));
    };
    let decision = decision_in(&value).unwrap_or("silent").to_string();
    let why = REASONS.iter().find_map(|path| value.pointer(path)?.as_str()).map(reason);
    let came = why.map_or(decision.clone(), |why| format!("{decision}: {why}"));
    (Some(decision), came)
}

/// Where agents' answers have their decision: in words, or as a flag that refuses.
const WORDS: &[&str] =
    &["/hookSpecificOutput/permissionDecision", "/permissionDecision", "/permission", "/decision"];
const FLAGS: &[(&str, bool)] = &[("/cancel", true), ("/approve", false), ("/continue", false)];
/// Where they have its reason.
const REASONS: &[&str] = &[
    "/hookSpecificOutput/permissionDecisionReason",
    "/permissionDecisionReason",
    "/reason",
    "/agent_message",
    "/errorMessage",
    "/message",
];

/// The decision of an answer, in whatever agent's form.
fn decision_in(answer: &Value) -> Option<&str> {
    let refuses = |(path, off): &(&str, bool)| answer.pointer(path) == Some(&Value::Bool(*off));
    if FLAGS.iter().any(refuses) {
        return Some("deny");
    }
    let word = WORDS.iter().find_map(|path| answer.pointer(path)?.as_str())?;
    Some(if word == "block" { "deny" } else { word })
}

/// Runs it to its end or for [`LIMIT`].
pub(super) fn run_command(mut command: Command, input: String) -> Result<ProbeAnswer, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
    let (send, receive) = threads::channel();
    let reader = |name: &'static str, mut pipe: Box<dyn Read + Send>| {
        let send = send.clone();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What came before an error is still what came; the receiver may be gone by then.
            let _ = pipe.by_ref().take(1 << 20).read_to_end(&mut bytes);
            send.send((name, String::from_utf8_lossy(&bytes).into_owned()));
        });
    };
    if let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) {
        reader("stdout", Box::new(stdout));
        reader("stderr", Box::new(stderr));
    }
    if let Some(mut stdin) = child.stdin.take() {
        // A hook that answers without reading is fine.
        thread::spawn(move || stdin.write_all(input.as_bytes()));
    }
    let deadline = Instant::now() + LIMIT;
    let status = wait_for_child(&mut child, deadline)?;
    let mut answer = ProbeAnswer { status, stdout: String::new(), stderr: String::new() };
    for _ in 0..2 {
        let left = deadline.saturating_duration_since(Instant::now());
        match receive.recv_timeout(left) {
            Ok(("stdout", text)) => answer.stdout = text,
            Ok((_, text)) => answer.stderr = text,
            Err(_) => return Err("its output stays open after it ended".into()),
        }
    }
    Ok(answer)
}

fn wait_for_child(child: &mut Child, deadline: Instant) -> Result<Option<i32>, String> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.code()),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
            Ok(None) => {
                // It may end by itself just now; either way it is gone.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("no answer within {} s", LIMIT.as_secs()));
            }
            Err(error) => return Err(format!("cannot be waited for: {error}")),
        }
    }
}
