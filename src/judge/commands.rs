//! The commands of matched rules: what each becomes for `sh -c`, and that none runs twice for two
//! registrations of hookctl.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{Judge, Pending, PendingEnd, RuleOutcome, told_reason};
use crate::act::{self, Job, Outcome};
use crate::agent;
use crate::effect::Analysis;
use crate::engine::Match;
use crate::env;
use crate::event::{Event, Kind};
use crate::files;
use crate::limits;
use crate::once::{self, Claim};
use crate::rule;
use crate::rule::template::PlaceholderName;
use crate::rule::{Action, Rule};
use crate::script::{self, Dialect, ScriptAnswer};
use crate::trust;
use crate::verdict::Verb;
use crate::watchdog;

/// A directory that there is none of.
const NOWHERE: &str = "/dev/null/nowhere";

impl Judge<'_> {
    /// Runs what the matched rules run. Returns what hook scripts said, and the rules whose `run`
    /// failed with its outcome.
    pub(super) fn run_actions<'r>(
        &mut self,
        matches: &[Match<'r>],
    ) -> (Vec<RuleOutcome<'r, ScriptAnswer>>, Vec<RuleOutcome<'r, Outcome>>) {
        let form = (self.event, self.analysis);
        let mut said = Vec::new();
        let mut jobs = Vec::new();
        // Whose each is: of the rule's `run`, or of one of its actions.
        let mut owners: Vec<(&'r Rule, Option<&'r Action>)> = Vec::new();
        for one in matches.iter().filter(|one| !one.observed) {
            let rule = one.rule;
            if let Some(command) = rule.verdict.awaited_command()
                && self.may_block(rule)
            {
                for path in self.run_paths(command, one) {
                    let mut job = self.make_job(form, command, one, path);
                    if self.is_dry() {
                        self.note_pending(one, &job, PendingEnd::Fails);
                    }
                    if self.event.kind == Kind::SessionEnd {
                        self.leave_alone(&mut job);
                    }
                    jobs.push(job);
                    owners.push((rule, None));
                }
            }
            for action in &rule.actions {
                if let Action::HookSettings { files, limit, .. } = action {
                    // Another rule's command stands for this one's, unless its failure would amount to less.
                    let stands = |other: &Rule| other.failure_fallback() >= rule.failure_fallback();
                    let known: Vec<&Job> = std::iter::zip(&jobs, &owners)
                        .filter_map(|(job, (other, _))| stands(other).then_some(job))
                        .collect();
                    let hooks = self.settings_jobs(rule, files, *limit, &known);
                    owners.extend(hooks.jobs.iter().map(|_| (rule, Some(action))));
                    jobs.extend(hooks.jobs);
                    let failed = |why| (rule, ScriptAnswer::failed(why));
                    said.extend(hooks.failures.into_iter().map(failed));
                    continue;
                }
                let Some(command) = action.command() else { continue };
                let mut job = self.make_job(form, command, one, None);
                if self.event.kind == Kind::SessionEnd && matches!(action, Action::Notify(_)) {
                    self.leave_alone(&mut job);
                }
                if let Action::Hook { dialect, .. } = action {
                    job.stdin = self.script_stdin(*dialect);
                }
                jobs.push(job);
                owners.push((rule, Some(action)));
            }
        }
        let outcomes = self.run_jobs(jobs, "act");
        let mut failed: Vec<(&Rule, Outcome)> = Vec::new();
        for ((rule, action), outcome) in owners.into_iter().zip(outcomes) {
            let Some(outcome) = outcome else { continue };
            match action {
                Some(Action::Hook { dialect, .. }) => {
                    said.push((rule, dialect.read_outcome(self.event, &outcome)));
                }
                Some(Action::HookSettings { .. }) => {
                    said.push((rule, Dialect::Claude.read_outcome(self.event, &outcome)));
                }
                None if !outcome.is_success() => failed.push((rule, outcome)),
                Some(_) if !outcome.is_success() => {
                    self.out.notes.push(format!(
                        "{}: {}",
                        rule.qualified_name(),
                        outcome.describe_end()
                    ));
                }
                Some(Action::Context(_)) => {
                    let text = Some(outcome.stdout.trim_end()).filter(|text| !text.is_empty());
                    self.out.answer.context.extend(text.map(str::to_string));
                }
                _ => {}
            }
        }
        self.add_messages(matches);
        (said, failed)
    }

    /// Notes that the rule's verdict hangs on that command, which nobody runs now.
    pub(super) fn note_pending(&mut self, one: &Match<'_>, job: &Job, end: PendingEnd) {
        let verb = one.verb();
        let values = self.match_values(one);
        let reason = told_reason(one.rule, verb.unwrap_or(Verb::Deny), &|name| match name {
            PlaceholderName::RunOutput => Some("(what it prints)".into()),
            PlaceholderName::Error => Some("(how it ends)".into()),
            _ => values(name),
        });
        drop(values);
        let (rule, command) = (one.rule.qualified_name(), job.describe_command());
        let pending = Pending { rule, verb, command, end, reason };
        if !self.out.pending.contains(&pending) {
            self.out.pending.push(pending);
        }
    }

    /// The distinct paths that a `run` is for; one run without a path where it names none.
    pub(super) fn run_paths(
        &self,
        command: &rule::Command,
        one: &Match<'_>,
    ) -> Vec<Option<String>> {
        if !command.script.uses_placeholder(&PlaceholderName::Path) {
            return vec![None];
        }
        let mut paths: Vec<Option<String>> = Vec::new();
        for at in &one.effects {
            if let Some(target) = &self.analysis.effects[*at].path {
                let path = Some(target.lexical.clone());
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        if paths.is_empty() { vec![None] } else { paths }
    }

    /// What the command becomes for a match of the call in that form.
    pub(super) fn make_job(
        &self,
        (event, analysis): (&Event, &Analysis),
        command: &rule::Command,
        one: &Match<'_>,
        path: Option<String>,
    ) -> Job {
        let values = self.values_of(event, analysis, one);
        let value = |name: &PlaceholderName| match (name, &path) {
            (PlaceholderName::Path, Some(path)) => Some(path.clone()),
            _ => values(name),
        };
        let (script, mut variables) = command.script.to_script(&value);
        for name in rule::template::VARIABLES {
            let name = &name[1..];
            let text = values(&PlaceholderName::Variable(name)).unwrap_or_default();
            variables.push((name.to_string(), text.replace('\0', "")));
        }
        variables.extend(self.event_variables());
        for (name, value) in &mut variables {
            if value.len() > limits::VARIABLE
                && let Some(path) = self.spill_value(name, value)
            {
                *value = path;
            }
        }
        let project = PathBuf::from(&self.place.project);
        let base = command.base.clone().unwrap_or_else(|| project.clone());
        Job {
            script: act::with_base(&script, &base),
            environment: command
                .keeps
                .as_ref()
                .map(|_| env::variables(|name| command.keeps_variable(name))),
            variables,
            dir: self.directory_of(command, one.rule, project),
            stdin: self.shared_payload(),
            limit: command.limit.unwrap_or(act::DEFAULT_LIMIT),
            background: None,
        }
    }

    /// Where the command runs. What is named and is not there, or leads out of a project that names it, is nowhere to
    /// run: then it cannot be started.
    fn directory_of(&self, command: &rule::Command, rule: &Rule, project: PathBuf) -> PathBuf {
        if command.dir.is_none() {
            return if project.is_dir() { project } else { PathBuf::from("/") };
        }
        let dir = command.directory(&project, Path::new(&self.place.home));
        let own = !rule.layer().is_project() || trust::stays_in(&project, &dir);
        if own { dir } else { PathBuf::from(NOWHERE) }
    }

    /// What event it is, in the words of rules, for every command.
    pub(super) fn event_variables(&self) -> [(String, String); 2] {
        [
            ("HOOKCTL_EVENT".into(), script::event_name(self.event).to_string()),
            ("HOOKCTL_TOOL".into(), self.event.tool.clone()),
        ]
    }

    /// The event for a hook script: as it came where Claude Code sent it, else as that would send it.
    pub(super) fn script_stdin(&self, dialect: Dialect) -> Arc<[u8]> {
        let (event, bytes) = match self.is_of_claude() {
            true => (self.event, &self.shared_payload()),
            false => {
                let (event, bytes) = self.told.get_or_init(|| told_event(self.event));
                (event, bytes)
            }
        };
        dialect.stdin_for(event, bytes).map_or_else(|| Arc::clone(bytes), Arc::from)
    }

    /// Did Claude Code itself send the event?
    pub(super) fn is_of_claude(&self) -> bool {
        self.event.agent == agent::default_agent().id()
    }

    /// The payload as it came: one copy for all commands, however many there are.
    pub(super) fn shared_payload(&self) -> Arc<[u8]> {
        Arc::clone(self.payload.get_or_init(|| Arc::from(self.world.stdin)))
    }

    /// Puts a value that is too large for a variable into a file: its path.
    pub(super) fn spill_value(&self, name: &str, value: &str) -> Option<String> {
        if self.is_dry() {
            return None;
        }
        let notes = self.world.paths.notes();
        let path =
            notes.join(format!("once-value-{name}-{}", &trust::sha256_hex(value.as_bytes())[..16]));
        files::replace_file(&path, value.as_bytes()).ok()?;
        path.to_str().map(str::to_string)
    }

    /// Nobody hears at a session's end how a command fared, and the agent waits for us to be gone: it is started, and
    /// ends itself at its limit.
    fn leave_alone(&self, job: &mut Job) {
        let stdin = self.spill_value("stdin", &String::from_utf8_lossy(&job.stdin));
        let Some(stdin) = stdin.filter(|_| cfg!(unix)) else { return };
        job.background = Some(PathBuf::from(stdin));
    }

    /// Claims what these parts name for this event, of all registrations of hookctl.
    pub(super) fn claim_once(&self, phase: &str, parts: &[&str]) -> Claim {
        let Event { session, name, .. } = self.event;
        let mut identity = Vec::new();
        for part in [session.as_bytes(), name.as_bytes(), self.world.stdin]
            .into_iter()
            .chain(parts.iter().map(|part| part.as_bytes()))
        {
            identity.extend_from_slice(part);
            identity.push(0);
        }
        let key = format!("{phase}-{}", &trust::sha256_hex(&identity)[..32]);
        // Without a call's id, the same payload may soon come again and mean another event.
        let named = self.event.call_id().is_some();
        let window = Duration::from_millis(if named { 5_000 } else { 700 });
        once::claim(&self.world.paths.notes(), &key, window, self.world.deadline)
    }

    /// Runs the jobs, or takes over what another registration of hookctl got for this event.
    pub(super) fn run_jobs(&mut self, jobs: Vec<Job>, phase: &str) -> Vec<Option<Outcome>> {
        if jobs.is_empty() {
            return Vec::new();
        }
        if self.is_dry() {
            for job in &jobs {
                self.out.notes.push(format!("would run: {}", job.describe_command()));
            }
            return vec![None; jobs.len()];
        }
        watchdog::begin_waiting();
        // A call of several operations is judged one by one, with the same payload.
        let input = self.event.input.to_string();
        let mut parts = vec![self.event.tool.as_str(), &input];
        parts.extend(jobs.iter().map(|job| job.script.as_str()));
        let count = jobs.len();
        let deadline = self.world.deadline;
        match self.claim_once(phase, &parts) {
            Claim::Done(bytes) => {
                let outcomes: Vec<Outcome> = serde_json::from_slice(&bytes).unwrap_or_default();
                self.out.notes.push("ran in another registration of hookctl already".into());
                let mut outcomes: Vec<Option<Outcome>> = outcomes.into_iter().map(Some).collect();
                outcomes.resize(count, None);
                outcomes
            }
            claim => {
                let outcomes = act::run_all(jobs, deadline);
                if let Ok(bytes) = serde_json::to_vec(&outcomes) {
                    claim.finish(&bytes);
                }
                outcomes.into_iter().map(Some).collect()
            }
        }
    }
}

/// The event as Claude Code would have sent it, and its bytes.
fn told_event(event: &Event) -> (Event, Arc<[u8]>) {
    let raw = script::to_claude(event);
    let bytes = serde_json::to_vec(&raw).unwrap_or_default();
    let mut event = Event { raw, ..event.clone() };
    event.name = script::event_name(&event).to_string();
    (event, Arc::from([bytes, vec![b'\n']].concat()))
}
