//! `hookctl install`: our entries into an agent's settings.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use serde_json::{Value, json};

use super::args::{InstallArgs, SettingsScope};
use super::managed::Managed;
use super::others;
use super::report::{Level, Report};
use super::terminal::{NARROWEST, columns, text_columns};
use super::{BOLD, Context, Exit, display_path, human, lasting, make_visible, scope, serve};
use crate::agent::{self, Agent, default_agent};
use crate::config::Config;
use crate::paths;
use crate::settings::beside::{
    self, InstalledProgram, install_command as again, uninstall_command,
};
use crate::settings::consent;
use crate::settings::hooks::{Change, WantedEntries};
use crate::settings::others::{Program, claiming_program};
use crate::settings::place::SettingsFile;
use crate::settings::program;
use crate::settings::survey::Own;
use crate::settings::{self, EditMode, EditOutcome, Error};

mod choice;

use choice::{Choice, choose_agents};

/// Does it for each agent that is meant, says what was done and what it means. One that cannot be done keeps no
/// other from being.
///
/// # Errors
/// Where it is not clear which are meant, or the only one's settings cannot be edited; they are then untouched.
pub(super) fn run(context: &Context, args: &InstallArgs, report: &mut Report) -> Result<Exit> {
    if args.managed {
        let InstallArgs { agent, root, dry_run, fail_closed, .. } = args;
        let managed = Managed {
            agents: agent,
            root: root.as_deref(),
            dry_run: *dry_run,
            fail_closed: *fail_closed,
        };
        return managed.install(context, report);
    }
    report.set("agents", json!([]));
    let home = &context.paths.home;
    if crate::files::is_root_elsewhere(home) {
        let home = home.display();
        report.say(
            Level::Warning,
            format!("you are root, and {home} is another user's, who cannot change what is made here: run it as that user"),
        );
    }
    let agents = match choose_agents(context, args, report)? {
        Choice::Agents(agents) => agents,
        Choice::Declined => return Ok(Exit::Found),
    };
    let agents = readers_last(agents);
    let alone = agents.len() == 1;
    let mut worst = Exit::Ok;
    let mut plan = Plan::default();
    for agent in agents {
        let mut row = AgentRow::new(agent, args);
        let exit = match install_agent(context, args, agent, report, &mut row, &mut plan) {
            Ok(exit) => exit,
            Err(error) => {
                let title = if alone { String::new() } else { format!("{}: ", agent.title()) };
                report.say(Level::Error, format!("{title}{error:#}"));
                row.outcome = Outcome::Failed;
                Exit::Failed
            }
        };
        report.push("agents", serde_json::to_value(&row)?);
        worst = if exit as u8 > worst as u8 { exit } else { worst };
    }
    report.tell(&plan.describe())?;
    match &args.serve {
        Some(at) if worst == Exit::Ok && !args.dry_run => serve::install(context, at, report),
        _ => Ok(worst),
    }
}

/// Those that read the hooks of others among them come behind these: it is known then what serves them.
fn readers_last(mut agents: Vec<&'static dyn Agent>) -> Vec<&'static dyn Agent> {
    let mut sorted = Vec::new();
    while !agents.is_empty() {
        let reads = |agent: &dyn Agent, other: &dyn Agent| {
            let wiring = agent.wiring();
            wiring.is_some_and(|wiring| wiring.reads.iter().any(|it| it.agent == other.id()))
        };
        let is_free = |agent: &&dyn Agent| !agents.iter().any(|other| reads(*agent, *other));
        let at = agents.iter().position(|agent| is_free(&&**agent)).unwrap_or_default();
        sorted.push(agents.remove(at));
    }
    sorted
}

/// What became of one agent, for programs; the keys are stable.
#[derive(Debug, Serialize)]
struct AgentRow {
    agent: &'static str,
    scope: &'static str,
    outcome: Outcome,
    /// The files that were written, or would be; with `--dry-run` each with its diff.
    files: Vec<Value>,
    /// The events that are registered then.
    events: Vec<&'static str>,
    /// Those that a person switched off one by one.
    off: Vec<String>,
    /// How many hooks wait for their user's approval.
    unapproved: usize,
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    /// The entries are there now.
    Installed,
    /// They were there.
    Unchanged,
    /// `--dry-run`: nothing was written.
    Planned,
    /// It runs the entries of another agent.
    Through,
    /// hookctl would not, or a person did not agree.
    Refused,
    /// Its settings cannot be edited.
    Failed,
}

impl AgentRow {
    /// Refused until it is known to be otherwise.
    fn new(agent: &dyn Agent, args: &InstallArgs) -> AgentRow {
        AgentRow {
            agent: agent.id(),
            scope: args.scope.name(),
            outcome: Outcome::Refused,
            files: Vec::new(),
            events: Vec::new(),
            off: Vec::new(),
            unapproved: 0,
        }
    }

    /// Takes in what was done, or would be.
    fn take(&mut self, outcome: Outcome, wanted: &WantedEntries, done: &Done) {
        self.outcome = outcome;
        self.events = wanted.events.iter().map(|event| event.name).collect();
        self.off.clone_from(&wanted.off);
        let planned = outcome == Outcome::Planned;
        self.files = done.all().filter(is_there).map(|one| edit_as_json(one, planned)).collect();
    }
}

/// Is the file there, before or after? A script of an event that nobody wants is not.
fn is_there(outcome: &&EditOutcome) -> bool {
    outcome.before.is_some() || outcome.after.is_some()
}

/// An edit for programs; the keys are stable. `planned`: with the diff, for nothing was written.
pub(super) fn edit_as_json(outcome: &EditOutcome, planned: bool) -> Value {
    let changes: Vec<String> = outcome.changes.iter().map(settings::describe_change).collect();
    let diff = (planned && outcome.has_changed()).then(|| unified_diff(outcome));
    json!({
        "file": outcome.target.named.display().to_string(),
        "changed": outcome.has_changed(),
        "changes": changes,
        "diff": diff,
    })
}

/// Does it for one agent.
///
/// # Errors
/// Where its settings cannot be edited; they are then untouched.
fn install_agent(
    context: &Context,
    args: &InstallArgs,
    agent: &'static dyn Agent,
    report: &mut Report,
    row: &mut AgentRow,
    plan: &mut Plan,
) -> Result<Exit> {
    let places = scope::scope_files(context, agent, args.scope)?;
    let mark = human::detect_agent();
    let mark = mark.as_deref();
    if let Some(why) = loosening(context, args).filter(|_| mark.is_some() && !args.dry_run) {
        return Ok(report.refuse(loosening_refusal(&why, mark)));
    }
    if let Some(why) = context.paths.check_config_directory(context.global.config.as_deref()) {
        bail!("{why}; `hookctl init --config DIR` makes it");
    }
    let wanted = wanted_entries(context, args, agent, &places)?;
    match judged_already(context, args, agent, &places) {
        None => {}
        Some(Already::Here(why)) => return Ok(report.refuse(why)),
        Some(Already::Through(how)) => {
            report.tell(&how)?;
            row.outcome = Outcome::Through;
            return Ok(Exit::Ok);
        }
    }
    let name = places[0].name;
    // Only Claude Code's settings are known to have entries of such programs.
    let known = agent.id() == default_agent().id();
    let config = Config::load(&context.paths, &context.root, None);
    let found = match known {
        true => beside::find_programs(&scope::all_scope_files(context), &config),
        false => Vec::new(),
    };
    let mut refused = false;
    for other in found.iter().filter(|one| !args.replace || !one.place.is_ours_to_edit()) {
        if let Some(warning) = other.conflict_warning(&again(name)) {
            report.refuse(warning);
            refused = true;
        }
    }
    if refused {
        return Ok(Exit::Found);
    }
    if let Some(why) = places.iter().find_map(|place| others::noted_elsewhere(context, place)) {
        bail!("{why}");
    }
    let take = if args.replace && known { beside::served_programs(&config) } else { Vec::new() };
    let edits = Edits { context, places: &places, wanted: &wanted, found: &found, take: &take };
    // Before anything is written it is known whether all can be, and what goes.
    let planned = edits.run(EditMode { dry_run: true, may_loosen: true })?;
    if args.dry_run {
        plan.take(context, agent, &planned);
        row.take(Outcome::Planned, &wanted, &planned);
        return Ok(Exit::Ok);
    }
    let displaced = displaced_agents(context, &places);
    let words = if args.replace { "install --replace" } else { "install" };
    if mark.is_none() && !confirm_losses(context, words, planned.all())? {
        return Ok(report.refuse_silently(human::DECLINED));
    }
    if let Some(told) = lasting::keep(context)? {
        report.say(Level::Note, told);
    }
    let done = match edits.run(EditMode { dry_run: false, may_loosen: mark.is_none() }) {
        Err(error) => match error.downcast::<Error>() {
            Ok(error @ Error::Loosens(_)) => {
                return Ok(report.refuse(loosening_refusal(&error, mark)));
            }
            Ok(error) => return Err(error.into()),
            Err(error) => return Err(error),
        },
        Ok(done) => done,
    };
    report.tell(&describe_done(context, args, agent, &edits, &done))?;
    let changed = done.all().any(EditOutcome::has_changed);
    row.take(if changed { Outcome::Installed } else { Outcome::Unchanged }, &wanted, &done);
    say_warnings(context, args, &wanted.command, &places, report)?;
    for other in displaced {
        report.say(
            Level::Note,
            format!(
                "{} reads this file as well: its events are judged by way of these entries, which stand \
                 in the place of its own",
                other.title()
            ),
        );
    }
    let consented = ask_consent(context, args, agent, &places, report, row)?;
    for other in found.iter().filter(|one| one.conflict().is_none()) {
        report.say(Level::Note, other.presence_note(&context.paths.user_config(), &again(name)));
    }
    for note in read_elsewhere(context, agent) {
        report.say(Level::Note, note);
    }
    Ok(consented)
}

/// Where the agent runs a hook only once its user approved it: does that with `--trust`, or says how.
fn ask_consent(
    context: &Context,
    args: &InstallArgs,
    agent: &dyn Agent,
    places: &[SettingsFile],
    report: &mut Report,
    row: &mut AgentRow,
) -> Result<Exit> {
    let Some(form) = agent.wiring().and_then(|wiring| wiring.consent.as_ref()) else {
        return Ok(Exit::Ok);
    };
    for place in places {
        let file = consent::consent_file(place, &context.paths.home, &context.cwd);
        let Some(file) = file else { continue };
        let wanted = consent::wanted_approvals(place)?;
        let missing = consent::missing_approvals(&file, &wanted);
        if missing.is_empty() {
            continue;
        }
        if !args.trust {
            row.unapproved += missing.len();
            report.tell(&format!(
                "NOT yet in effect: {} runs a hook only once you approved it, and skips it silently until \
                 then.\n{} of {} hooks wait: {}. `hookctl install --agent {} --trust` approves them in \
                 your name.\n",
                agent.title(),
                missing.len(),
                wanted.len(),
                form.review,
                agent.id(),
            ))?;
            continue;
        }
        if let Some(mark) = human::detect_agent() {
            row.unapproved += missing.len();
            return Ok(report.refuse(format!(
                "{mark} says that an agent started this, and consent is a human's: {}",
                form.review
            )));
        }
        let mode = EditMode { dry_run: false, may_loosen: true };
        consent::approve(&context.paths, &file, place, &missing, mode)?;
        let count = missing.len();
        report.tell(&format!("Approved in your name in {}: {count} hooks\n", file.display()))?;
    }
    Ok(Exit::Ok)
}

/// What of the command line may loosen, whatever the file says now.
fn loosening(context: &Context, args: &InstallArgs) -> Option<&'static str> {
    if !args.server.typed_settings().is_empty() || args.serve.is_some() {
        Some("a server may allow calls")
    } else if context.global.config.is_some() {
        Some("another --config may allow calls")
    } else if args.replace {
        Some("--replace takes out what may ask a human")
    } else {
        None
    }
}

/// What the entries of these files should be.
fn wanted_entries(
    context: &Context,
    args: &InstallArgs,
    agent: &'static dyn Agent,
    places: &[SettingsFile],
) -> Result<WantedEntries> {
    let mut server = args.server.typed_settings();
    if server.is_empty() {
        // What is there stays: without it, events would go unasked.
        let now = places.iter().filter_map(|place| settings::read_settings(place).ok().flatten());
        let mut typed = now.map(|read| read.survey.typed_server());
        server = typed.find(|typed| !typed.is_empty()).unwrap_or_default();
    }
    let closed = Some(args.fail_closed);
    let mut wanted =
        scope::wanted_entries(context, agent, &places[0], &args.events, closed, server)?;
    if args.events.is_empty() {
        wanted.switch_off(&scope::events_off(context, places));
    }
    if wanted.events.is_empty() {
        bail!("hookctl does not know the events of {} yet", agent.title());
    }
    let cuts =
        places.iter().any(|place| place.form.entries().is_some_and(|form| form.cuts_slashes));
    if cuts
        && wanted.arguments(None).iter().chain([&wanted.command]).any(|word| word.contains("//"))
    {
        let file = context.paths.config.join(paths::SERVER_FILE);
        bail!(
            "{} takes `//` in its settings for the beginning of a comment, so no address can stand there.\n\
             Write the server into {} instead, which counts for every agent, and install without --server-url \
             (`hookctl uninstall --agent {}` first, where its entries have one now).",
            agent.title(),
            display_path(context, &file),
            agent.id()
        );
    }
    if let Some(other) = claiming_program(&wanted.command) {
        bail!(
            "{} lies where {} puts its own, which takes every entry that runs something there along \
             when it goes: move hookctl",
            wanted.command,
            other.name
        );
    }
    Ok(wanted)
}

/// Who judges the agent's events already.
enum Already {
    /// Entries of another scope; why there should not be more.
    Here(String),
    /// Entries of another agent that it runs for every session; how.
    Through(String),
}

/// What would be judged twice: by entries of another scope, or of another agent whose settings this one reads for
/// every session.
fn judged_already(
    context: &Context,
    args: &InstallArgs,
    agent: &dyn Agent,
    places: &[SettingsFile],
) -> Option<Already> {
    let through = scope::read_files(context, agent);
    // In one file with them entries of its own would not stand beside theirs, but in their place.
    let shares = |file: &SettingsFile| places.iter().any(|place| place.file == file.file);
    if let Some((other, file)) = through.iter().find(|(_, file)| shares(file)) {
        return Some(Already::Through(format!(
            "{} reads the hooks of {} in {} as well: its events are judged by way of these.\n\
             Nothing was written: the file is one for both.\n",
            agent.title(),
            other.title(),
            file.file.display()
        )));
    }
    if args.also {
        return None;
    }
    let name = places[0].name;
    let all = scope::agent_files(context, agent);
    let mut others = all.iter().filter(|other| other.name != name && scope::has_ours(other));
    if let Some(other) = others.next() {
        return Some(Already::Here(format!(
            "{} ({} settings) already has it, every event would be judged twice.\n\
             Take it out there (`{}`), or say --also.",
            other.file.display(),
            other.name,
            uninstall_command(other.name),
        )));
    }
    let always = through.iter().find(|(_, file)| file.name == SettingsScope::User.name());
    let (other, file) = always.filter(|_| !places.iter().any(scope::has_own_entry))?;
    Some(Already::Through(format!(
        "{} reads the hooks of {} as well: its events are judged by way of {}.\n\
         Nothing was written; entries of its own would judge them twice (--also writes them).\n",
        agent.title(),
        other.title(),
        file.file.display()
    )))
}

/// The agents whose own entries these files have, and which will run the new ones.
fn displaced_agents(context: &Context, places: &[SettingsFile]) -> Vec<&'static dyn Agent> {
    let mut found: Vec<&'static dyn Agent> = Vec::new();
    for other in places.iter().flat_map(|place| scope::sharing_owners(context, place)) {
        if found.iter().all(|one| one.id() != other.id()) {
            found.push(other);
        }
    }
    found
}

/// What an agent reads of others for some sessions, and so has twice there.
fn read_elsewhere(context: &Context, agent: &dyn Agent) -> Vec<String> {
    let twice = |(other, file): (&dyn Agent, SettingsFile)| {
        format!(
            "{} reads the hooks of {} in {} as well: events there are judged twice",
            agent.title(),
            other.title(),
            file.file.display()
        )
    };
    scope::read_files(context, agent).into_iter().map(twice).collect()
}

/// What `--dry-run` tells: first what it comes to, then each edit.
#[derive(Debug, Default)]
struct Plan {
    changed: usize,
    lines: Vec<String>,
    diffs: String,
}

impl Plan {
    fn take(&mut self, context: &Context, agent: &dyn Agent, planned: &Done) {
        for outcome in planned.all().filter(is_there) {
            let changed = outcome.has_changed();
            self.changed += usize::from(changed);
            let what = match (&outcome.before, changed) {
                (_, false) => "nothing to do".to_string(),
                (None, _) => format!("new, {}", count_changes(outcome)),
                (Some(_), _) => count_changes(outcome),
            };
            let file = display_path(context, &outcome.target.named);
            self.lines.push(format!("  {:<14} {file}: {what}\n", agent.title()));
            if changed {
                // People see lines, whatever ends them.
                self.diffs += &format!("\n{}", unified_diff(outcome).replace("\r\n", "\n"));
            }
        }
    }

    fn describe(&self) -> String {
        let head = match (self.lines.is_empty(), self.changed) {
            (true, _) => return String::new(),
            (_, 0) => "Nothing would change.\n".to_string(),
            (_, 1) => "1 file would change; nothing was written.\n".to_string(),
            (_, many) => format!("{many} files would change; nothing was written.\n"),
        };
        format!("{head}{}{}", self.lines.concat(), self.diffs)
    }
}

/// How many entries an edit adds, replaces and takes out.
fn count_changes(outcome: &EditOutcome) -> String {
    type IsKind = fn(&Change) -> bool;
    let kinds: [(&str, IsKind); 4] = [
        ("added", |change| matches!(change, Change::Added(_) | Change::PutBack { .. })),
        ("replaced", |change| matches!(change, Change::Replaced { .. })),
        ("removed", |change| matches!(change, Change::Removed(_))),
        ("of other programs taken out", |change| matches!(change, Change::TakenOut { .. })),
    ];
    let mut text = String::new();
    for (what, is) in kinds {
        let count = outcome.changes.iter().filter(|change| is(change)).count();
        let name = if count == 1 { "entry" } else { "entries" };
        let _ = match (count, text.is_empty()) {
            (0, _) => Ok(()),
            (_, true) => write!(text, "{count} {name} {what}"),
            (_, false) => write!(text, ", {count} {what}"),
        };
    }
    if text.is_empty() { "its text".into() } else { text }
}

/// The edits of one install.
struct Edits<'e> {
    context: &'e Context,
    places: &'e [SettingsFile],
    wanted: &'e WantedEntries,
    found: &'e [InstalledProgram],
    take: &'e [&'e Program],
}

/// What they did, or would do.
struct Done {
    /// To the files of the scope.
    here: Vec<EditOutcome>,
    /// To other files, out of which other programs went.
    elsewhere: Vec<EditOutcome>,
}

impl Done {
    fn all(&self) -> impl Iterator<Item = &EditOutcome> {
        self.here.iter().chain(&self.elsewhere)
    }
}

impl Edits<'_> {
    fn run(&self, mode: EditMode) -> Result<Done> {
        let edit = |place| {
            settings::replace_entries(
                &self.context.paths,
                place,
                Some(self.wanted),
                self.take,
                mode,
            )
        };
        let here = self.places.iter().map(edit).collect::<Result<Vec<_>, Error>>()?;
        let elsewhere = replace_elsewhere(self, mode)?;
        Ok(Done { here, elsewhere })
    }
}

/// What was done, for people.
fn describe_done(
    context: &Context,
    args: &InstallArgs,
    agent: &dyn Agent,
    edits: &Edits<'_>,
    done: &Done,
) -> String {
    let mut text = String::new();
    let (wanted, places) = (edits.wanted, edits.places);
    let changed = done.here.iter().any(EditOutcome::has_changed);
    let verb = if changed { "Installed" } else { "Already installed" };
    let file = match places {
        [place] => place.file.display().to_string(),
        many => scope::describe_files(context, many),
    };
    let head = format!("{verb} for {} ({} settings): {file}", agent.title(), places[0].name);
    let _ = writeln!(text, "{}", context.paint(BOLD, &head));
    for outcome in done.here.iter().filter(|one| one.target.real != one.target.named) {
        let _ = writeln!(text, "  behind   {}", outcome.target.real.display());
    }
    let _ = writeln!(text, "  runs     {} hook", wanted.command);
    let events: Vec<&str> = wanted.events.iter().map(|event| event.name).collect();
    let _ = writeln!(text, "  events   {}", fold_words(&events, 80, "           "));
    if !wanted.off.is_empty() {
        let off = make_visible(&wanted.off.join(" "));
        let _ = writeln!(text, "  off      {off} (as `hookctl events disable` left it)");
    }
    let closed = places[0].form.entries().and_then(|form| form.fail_closed);
    if let Some(closed) = closed.filter(|_| args.fail_closed) {
        let events = wanted.events.iter().filter(|event| closed.kinds.contains(&event.kind));
        let events = events.map(|event| event.name).collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "  failing  blocks on {events}");
        if agent.id() == default_agent().id() {
            text.push_str("           (Claude Code 2.1.197 and older ignore this and go on)\n");
        }
    } else if args.fail_closed {
        let _ = writeln!(text, "  failing  {} has no way to block then: it goes on", agent.title());
    }
    let is_other = |change: &&Change| matches!(change, Change::TakenOut { .. });
    let changes = done.here.iter().flat_map(|outcome| &outcome.changes);
    for change in changes.filter(|change| change.loosens() && !is_other(change)) {
        let _ = writeln!(text, "  changed  {}", settings::describe_change(change));
    }
    let mut replaced = false;
    for one in done.all() {
        for (program, events) in by_program(one) {
            let file = one.target.named.display();
            let events = make_visible(&events.join(", "));
            let _ = writeln!(text, "  replaces {program} in {file}: {events}");
            replaced = true;
        }
    }
    if changed || replaced {
        let back = if replaced { ", which brings back what was replaced" } else { "" };
        let _ = writeln!(
            text,
            "{}Look: `hookctl status --verify`. Undo: `hookctl uninstall`{back}.",
            // What its user has to approve first is no matter of sessions: that is told below.
            match awaits_consent(context, args, places) {
                true => String::new(),
                false => describe_uptake(agent),
            }
        );
    }
    for note in agent.wiring().into_iter().flat_map(|wiring| wiring.notes) {
        let _ = writeln!(text, "{note}");
    }
    text
}

/// Which sessions of the agent heed what was written, as a line.
pub(super) fn describe_uptake(agent: &dyn Agent) -> String {
    let title = agent.title();
    match agent.wiring().and_then(|wiring| wiring.rereads) {
        Some(true) => {
            "Running sessions usually notice; new sessions pick it up for certain.\n".into()
        }
        Some(false) => format!("{title} reads that when it starts, and only then: restart it.\n"),
        None => {
            format!("New sessions of {title} pick it up; running ones may not: start those anew.\n")
        }
    }
}

/// Does the agent run nothing of it before its user approves?
fn awaits_consent(context: &Context, args: &InstallArgs, places: &[SettingsFile]) -> bool {
    !args.trust && places.iter().any(|place| scope::lacking_consent(context, place).is_some())
}

/// Does whoever is there agree, in these words, to what the edits drop?
pub(super) fn confirm_losses<'o>(
    context: &Context,
    words: &str,
    outcomes: impl Iterator<Item = &'o EditOutcome>,
) -> Result<bool> {
    let dropped: Vec<String> = outcomes
        .flat_map(|outcome| outcome.changes.iter().map(move |change| (outcome, change)))
        .filter(|(_, change)| change.loosens())
        .map(|(outcome, change)| {
            format!("{}: {}", outcome.target.named.display(), settings::describe_change(change))
        })
        .collect();
    if dropped.is_empty() {
        return Ok(true);
    }
    let lost = format!("This changes or takes away what guards:\n{}", dropped.join("\n"));
    human::confirms_if_attended(context, &lost, words)
}

/// What keeps the agent from telling us of calls, though our entries are there.
fn warnings_of_agent(
    context: &Context,
    args: &InstallArgs,
    places: &[SettingsFile],
) -> Vec<String> {
    let Some(agent) = places.first().and_then(|place| agent::by_id(place.agent)) else {
        return Vec::new();
    };
    let read = places.iter().filter_map(|place| settings::read_settings(place).ok()?);
    let own: Vec<Own> = read.flat_map(|read| read.survey.own).collect();
    let off = scope::switches_off(context, agent, &own);
    let mut all: Vec<String> = off.iter().map(ToString::to_string).collect();
    if !args.events.is_empty() && !own.iter().any(|own| agent.is_gate(&own.event)) {
        let title = agent.title();
        all.push(format!("no event before a tool of {title} is registered: calls pass unseen"));
    }
    all
}

/// Says what may keep the guard from working.
fn say_warnings(
    context: &Context,
    args: &InstallArgs,
    command: &str,
    places: &[SettingsFile],
    report: &mut Report,
) -> Result<()> {
    let mut warn = |text: String| report.say(Level::Warning, text);
    for place in places.iter().filter(|place| place.event.is_none()) {
        let file = place.file.as_path();
        let Some(read) = settings::read_settings(place)? else {
            warn(format!("{} is gone again: somebody else took it away", file.display()));
            return Ok(());
        };
        for invalid in read.survey.invalid {
            let cost = match invalid.fatal {
                true => "the agent drops this WHOLE file over what somebody else wrote",
                false => "the agent drops this entry of somebody else",
            };
            warn(format!("{cost}:\n{}", invalid.fault.render_for_people(file, &read.text)));
        }
    }
    warnings_of_agent(context, args, places).into_iter().for_each(&mut warn);
    if args.scope == SettingsScope::Project {
        if program::resolve_program(command).is_none() {
            warn("`hookctl` is not in PATH, where the project's entries look for it".into());
        }
        if context.global.config.is_some() || context.global.state.is_some() {
            let text = "a project's entries carry no --config and --state: each user's own";
            report.say(Level::Note, text);
        }
    } else if let Some(why) = lasting::why_it_goes(context, Path::new(command)) {
        warn(format!(
            "{command} {why}: every call would then pass unjudged. Install the program for yourself first \
             (./install.sh, or a package)."
        ));
    }
    Ok(())
}

/// Takes the entries of these programs out of the other files that the agent reads here.
fn replace_elsewhere(edits: &Edits<'_>, mode: EditMode) -> Result<Vec<EditOutcome>> {
    let Edits { context, places, found, take, .. } = edits;
    let mut files: Vec<&SettingsFile> = found.iter().map(|one| &one.place).collect();
    let elsewhere = |file: &Path| places.iter().all(|place| place.file != file);
    files.retain(|other| other.is_ours_to_edit() && elsewhere(&other.file) && !take.is_empty());
    files.dedup_by(|a, b| a.file == b.file);
    let edit = |other: &&SettingsFile| {
        settings::replace_entries(&context.paths, other, None, take, mode).with_context(|| {
            format!("{} keeps the entries of other programs", other.file.display())
        })
    };
    files.iter().map(edit).collect()
}

/// The events of other programs that were taken out or put back, by program.
pub(super) fn by_program(outcome: &EditOutcome) -> BTreeMap<&str, Vec<&str>> {
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for change in &outcome.changes {
        if let Change::TakenOut { event, program } | Change::PutBack { event, program } = change {
            let events = all.entry(program).or_default();
            if !events.contains(&event.as_str()) {
                events.push(event);
            }
        }
    }
    all
}

/// The entries of other programs that stay out, in words.
pub(super) fn left_out(outcome: &EditOutcome) -> Vec<String> {
    let left = |change: &Change| match change {
        Change::LeftOut { event, program, command } => {
            let text = format!("not brought back {program}: {event}: {command}, which is gone");
            Some(make_visible(&text))
        }
        _ => None,
    };
    outcome.changes.iter().filter_map(left).collect()
}

/// Why an edit that loosens is refused to an agent.
pub(super) fn loosening_refusal(error: &dyn Display, mark: Option<&str>) -> String {
    format!(
        "this would change or take away what guards: {error}.\n\
         Loosening is for humans, and {} says that an agent started this. Run it in a terminal of \
         your own.",
        mark.unwrap_or("the environment")
    )
}

/// The edit as a unified diff; one line where there is nothing to do.
pub(super) fn unified_diff(outcome: &EditOutcome) -> String {
    let name = outcome.target.named.display().to_string();
    if !outcome.has_changed() {
        return format!("{name}: nothing to do\n");
    }
    let side = |text: &Option<String>| match text {
        Some(_) => name.clone(),
        None => "/dev/null".to_string(),
    };
    let before = outcome.before.as_deref().unwrap_or_default();
    let after = outcome.after.as_deref().unwrap_or_default();
    diffy::DiffOptions::new()
        .set_original_filename(side(&outcome.before))
        .set_modified_filename(side(&outcome.after))
        .create_patch(before, after)
        .to_string()
}

/// Were entries of ours taken out?
pub(super) fn count_removed(outcome: &EditOutcome) -> usize {
    outcome.changes.iter().filter(|change| matches!(change, Change::Removed(_))).count()
}

/// Words in lines of that width behind the indent, or of what a narrower terminal has.
pub(super) fn fold_words(words: &[&str], width: usize, indent: &str) -> String {
    let room =
        columns().map_or(width, |columns| columns.saturating_sub(indent.len()).max(NARROWEST));
    let width = width.min(room);
    let mut text = String::new();
    let mut column = 0;
    for word in words {
        let taken = text_columns(word);
        if column > 0 && column + taken > width {
            text.push('\n');
            text.push_str(indent);
            column = 0;
        } else if column > 0 {
            text.push(' ');
        }
        text.push_str(word);
        column += taken + 1;
    }
    text
}
