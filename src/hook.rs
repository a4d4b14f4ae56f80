//! The hook path on one page: read, parse, effects, decide, answer, journal.
//!
//! It never goes through clap, and touches network and TLS only for an event that a server is to be
//! asked about. Whatever happens, one JSON
//! object or nothing leaves on stdout, the exit status is 0 or 2, and both come before the agent's
//! timeout: nearly every agent runs the tool when its hook fails.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::agent::{self, Agent, EventSpec, Output};
use crate::bundle;
use crate::config::Config;
use crate::desktop;
use crate::dialect::{Ending, Note, Origin, Request};
use crate::effect::{Place, own, windows};
use crate::event::{Event, Kind, KindSet};
use crate::flags::HookOptions;
use crate::held;
use crate::journal;
use crate::judge::{self, JudgeContext, Judgement, Mode, Situation};
use crate::marks::Session;
use crate::paths::{self, Paths};
use crate::pause;
use crate::payload;
use crate::remote::told::Told;
use crate::remote::{heartbeat, sender};
use crate::rule::Layer;
use crate::rule::file::Remote;
use crate::rule::shipped;
use crate::settings::beside;
use crate::settings::place::settings_files;
use crate::stdin::{self, Input};
use crate::text;
use crate::turn::Turn;
use crate::verdict::Verb;
use crate::watchdog;

/// The largest payload that is judged, in bytes; more is read and dropped.
pub const LARGEST: usize = 16 << 20;

/// When a session's end is answered at the latest: the client is about to leave.
const END_OF_SESSION: Duration = Duration::from_millis(1100);

/// What an event takes beside a question to a server, all in all: a second for what comes before and behind it,
/// and the one that lies between our deadline and the agent's (`Options::deadline`).
const BESIDE_QUESTION: Duration = Duration::from_secs(2);

/// Runs the hook path for this process and returns its exit status.
pub fn main(args: impl IntoIterator<Item = std::ffi::OsString>) -> u8 {
    let start = Instant::now();
    watchdog::arm();
    let options = HookOptions::parse(args);
    if let Some(kind) = options.event.as_deref().map(agent::kind_of_name) {
        watchdog::expect_form(options.agent_or_default().failure_form(kind));
    }
    answer_panics();
    for what in &options.unknown {
        print_stderr(&format!("hookctl hook: not understood: {what}"));
    }
    let deadline = options.deadline(start);
    watchdog::set_deadline(options.last_moment(start));
    let bytes = stdin::read(deadline, LARGEST);
    let paths = Paths::discover(options.config.clone(), options.state.clone());
    let turn = paths
        .as_ref()
        .map_or(Turn::Alone, |paths| Turn::take(&options, paths, &bytes.bytes, deadline));
    if let Turn::Second(output) = &turn {
        return write_answer(output);
    }
    watchdog::begin_analysis();
    let Handled { output, mut line, journal, told, unread } =
        handle_input(&options, paths, &bytes, start, deadline);
    if options.debug {
        print_stderr(&format!("hookctl: {}", serde_json::to_string(&line).unwrap_or_default()));
    }
    turn.finish(&output, line.decision != "silent" || line.rewritten);
    let status = write_answer(&output);
    let unread = unread
        .and_then(|unread| Told::from_unreadable(bytes, unread.agent, unread.kind, &unread.paths));
    if let Some(told) = told.or(unread) {
        told.queue_messages(&mut line);
    }
    if let Some((path, config)) = journal {
        journal::append(&path, &config, line);
    }
    status
}

/// Prints it, and returns the exit status.
fn write_answer(output: &Output) -> u8 {
    let refusal = output.refusal.as_deref();
    watchdog::write_answer(&output.stdout, &output.stderr, output.status, refusal)
}

/// What came of an event.
struct Handled {
    output: Output,
    line: journal::Line,
    journal: Option<(PathBuf, crate::rule::file::JournalConfig)>,
    told: Option<Told>,
    unread: Option<Unread>,
}

/// Of whose event nothing more is known.
struct Unread {
    agent: &'static str,
    kind: Option<Kind>,
    paths: Paths,
}

fn handle_input(
    options: &HookOptions,
    paths: Result<Paths, String>,
    bytes: &Input,
    start: Instant,
    deadline: Instant,
) -> Handled {
    let (agent, parsed) = parse_input(options, bytes);
    let kind = parsed.as_ref().map_or_else(Unreadable::kind, |event| Some(event.kind));
    if let Some(kind) = kind {
        watchdog::expect_form(agent.failure_form(kind));
    }
    let (paths, event) = match (paths, parsed) {
        (Ok(paths), Ok(event)) => (paths, event),
        (Ok(paths), Err(bad)) => return failed(agent, start, &bad, Some(paths)),
        (Err(why), _) => return failed(agent, start, &Unreadable::Bad { kind, why }, None),
    };
    let mut place = session_place(&event, &paths);
    let mut config = Config::load_for(&paths, &place, Some(event.kind));
    if let Err(why) = config.override_server(&options.server) {
        config.broken.push((KindSet::ALL, format!("the registered command line: {why}")));
    }
    if let Some(why) = paths.check_config_directory(options.config.as_deref()) {
        config.broken.insert(0, (KindSet::ALL, why));
    }
    let deadline = match (event.kind, options.timeout) {
        (Kind::SessionEnd, _) => deadline.min(start + END_OF_SESSION),
        (_, Some(_)) => deadline,
        (_, None) => own_time(start, deadline, agent, &event, &config),
    };
    config.complete_place(&mut place);
    let paused = pause::paused_until(&paths).unwrap_or_else(|why| {
        config.notes.push(why);
        None
    });
    let whole = event.whole_if_split();
    let mut situations = Situation::of_operations((agent, event), place);
    let world = JudgeContext {
        paths: &paths,
        stdin: &bytes.bytes,
        deadline,
        mode: Mode::Live,
        paused: paused.is_some(),
        notifiers: desktop::DIRECTORIES,
    };
    let (decided, mut judgement) = judge::judge_operations(&situations, &config, &world);
    let situation = situations.swap_remove(decided);
    let Situation { event, place, .. } = &situation;
    if heartbeat::begins_session(agent, event) || config.lacks_managed {
        begin_session(&mut config, event, &paths);
    }
    judgement.notes.append(&mut config.notes);
    warn_once(&config, event, &paths, &mut judgement);
    mark_session(event, place, &mut judgement);
    if matches!(event.kind, Kind::ConfigChange | Kind::SessionStart)
        && agent.id() == agent::default_agent().id()
    {
        judgement.answer.notice.extend(duplicate_warnings(&mut config, &paths, place));
    }
    hold_context(agent, event, &paths, &mut judgement);
    let output = agent.render(whole.as_ref().unwrap_or(event), &judgement.answer);
    let told = verdict_notice(&situation, &judgement, &config, &world);
    let bundle = std::mem::take(&mut config.bundle);
    let line =
        journal::Line { bundle, ..journal_line(agent, event, judgement, world.paused, start) };
    let journal = Some((paths.journal(), config.journal.clone()));
    // The process ends soon: taking all of this apart would only cost time.
    std::mem::forget((situations, situation, config));
    Handled { output, line, journal, told, unread: None }
}

/// What comes of an event that cannot be judged.
fn failed(
    agent: &'static dyn Agent,
    start: Instant,
    bad: &Unreadable,
    paths: Option<Paths>,
) -> Handled {
    let mut line = new_line(agent, start);
    line.decision = "failed".into();
    line.notes.push(bad.why().into());
    let journal = paths.as_ref().map(|paths| (paths.journal(), Default::default()));
    let unread = paths.map(|paths| Unread { agent: agent.id(), kind: bad.kind(), paths });
    Handled { output: failure_output(agent, bad), line, journal, told: None, unread }
}

/// What servers are told of the verdict; None where none is to be told.
fn verdict_notice(
    situation: &Situation,
    judgement: &Judgement,
    config: &Config,
    world: &JudgeContext<'_>,
) -> Option<Told> {
    if judgement.told.is_empty() {
        return None;
    }
    let wanted = |(_, remote): &(Layer, &Remote)| judgement.told.contains(&remote.name);
    let remotes = config.remotes().filter(wanted).map(|(layer, remote)| (layer, remote.clone()));
    let mut ending = Ending {
        verb: judgement.answer.verb,
        paused: world.paused,
        bundle: config.bundle.clone(),
        origin: Origin::of_machine(&world.paths.home),
        ..Ending::default()
    };
    if ending.verb.is_some() {
        ending.rule.clone_from(&judgement.rule);
        ending.reason = text::make_visible(&journal::redact_and_cut(&judgement.answer.reason));
    }
    let bytes = world.stdin.to_vec();
    let request = Request::new(situation.event.clone(), bytes, world.deadline, world.paths);
    let request = Request { note: Note::Ended(ending), ..request };
    let root = PathBuf::from(&situation.place.project);
    Some(Told::new(request, remotes.collect(), root, world.paths.clone()))
}

/// The deadline where nobody said when the agent gives up: it gives up when it does of itself, and servers that
/// are asked have their own time before that.
fn own_time(
    start: Instant,
    deadline: Instant,
    agent: &dyn Agent,
    event: &Event,
    config: &Config,
) -> Instant {
    let asked =
        config.remotes().map(|(_, one)| one).filter(|one| one.dialect.is_asked_about(event.kind));
    let longest = asked.map(|one| one.deadline + BESIDE_QUESTION).max().unwrap_or_default();
    let patient =
        HookOptions::default().with_default_timeout(agent.spec_of(event), longest.as_secs_f64());
    let own = patient.deadline(start);
    if own != deadline {
        watchdog::until_rather(patient.last_moment(start));
    }
    own
}

const NOTHING: &str = "no event on stdin; pipe an event's JSON into `hookctl hook`, \
                       or see `hookctl explain --help`";

/// Why there is no event.
enum Unreadable {
    Nothing,
    Bad { kind: Option<Kind>, why: String },
}

impl Unreadable {
    fn kind(&self) -> Option<Kind> {
        match self {
            Unreadable::Nothing => None,
            Unreadable::Bad { kind, .. } => *kind,
        }
    }

    fn why(&self) -> &str {
        match self {
            Unreadable::Nothing => NOTHING,
            Unreadable::Bad { why, .. } => why,
        }
    }
}

fn parse_input(
    options: &HookOptions,
    input: &Input,
) -> (&'static dyn Agent, Result<Event, Unreadable>) {
    let flag = options.agent.as_deref();
    let unreadable = |why: String| {
        let (agent, kind) = sniff_origin(options, &input.bytes);
        (agent, Err(Unreadable::Bad { kind, why }))
    };
    if input.oversized {
        return unreadable(format!("the payload is larger than {} MiB", LARGEST >> 20));
    }
    match payload::parse(&input.bytes) {
        Ok(payload) => {
            let agent = agent::detect_agent(&payload, flag);
            (agent, Ok(agent::parse_event(agent, payload, options.event.as_deref())))
        }
        Err(payload::PayloadError::Empty) if options.event.is_none() => {
            (options.agent_or_default(), Err(Unreadable::Nothing))
        }
        Err(error) => unreadable(error.to_string()),
    }
}

/// Whose event, and which one, bytes are that cannot be read: by the fields that can be made out, then by the command
/// line.
fn sniff_origin(options: &HookOptions, bytes: &[u8]) -> (&'static dyn Agent, Option<Kind>) {
    let outline = payload::outline(bytes);
    let agent = agent::detect_agent(&outline, options.agent.as_deref());
    let known = |kind: &Kind| *kind != Kind::Other;
    let own = Some(agent.parse(outline, None).kind).filter(known);
    (agent, own.or_else(|| options.event.as_deref().map(agent::kind_of_name)))
}

/// What is answered when hookctl cannot judge: the agent's own answer for that event, or exit
/// status 2 where not even the event is known.
fn failure_output(agent: &dyn Agent, bad: &Unreadable) -> Output {
    match bad {
        Unreadable::Nothing => {
            Output { stderr: format!("hookctl: {NOTHING}\n"), ..Output::default() }
        }
        Unreadable::Bad { kind: Some(kind), why } => agent.failure_output(*kind, why),
        Unreadable::Bad { kind: None, why } => {
            let stderr = format!("hookctl: {}\n", text::make_visible(why));
            Output { stderr, status: 2, ..Output::default() }
        }
    }
}

/// Where the session is: the payload's directory, else the process's own. A call that runs in a directory of its
/// own is still the session's project's, whose rules hold for it.
pub fn session_place(event: &Event, paths: &Paths) -> Place {
    let cwd = if event.cwd.starts_with('/') || Path::new(&event.cwd).is_absolute() {
        PathBuf::from(&event.cwd)
    } else {
        std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"))
    };
    let session = event.str_field("cwd").map(Path::new).filter(|session| session.is_absolute());
    let project = paths::project_root(session.unwrap_or(&cwd), &paths.home);
    let text = windows::native_text;
    let session = Session::new(&paths.state, &event.session, event.agent, &text(&project));
    Place {
        cwd: text(&cwd),
        project: text(&project),
        home: text(&paths.home),
        guarded: shipped::guarded_files(paths),
        env: Some(crate::env::get),
        read: Some(crate::files::read),
        session: Some(session.into()),
        ..Place::default()
    }
}

/// Text for the model that this event cannot tell waits for the one after the tool, which can.
fn hold_context(agent: &dyn Agent, event: &Event, paths: &Paths, judgement: &mut Judgement) {
    let Some(spec) = agent.spec_of(event) else { return };
    let answer = &mut judgement.answer;
    let holds = |spec: &EventSpec| spec.holds_context;
    if holds(spec) && !answer.context.is_empty() {
        let texts = std::mem::take(&mut answer.context);
        if let Err(error) = held::keep_context(&paths.notes(), &event.session, &texts) {
            judgement.notes.push(format!("text for the model is lost: {error}"));
        }
    } else if event.kind == Kind::PostToolUse && spec.context && agent.events().iter().any(holds) {
        let mut texts = held::take_context(&paths.notes(), &event.session);
        texts.append(&mut answer.context);
        answer.context = texts;
    }
}

/// Keeps what the call does to the session, before the agent hears that it may be made: whatever is not refused may
/// happen, for of a question nobody tells what came of it. A failure changes no verdict.
fn mark_session(event: &Event, place: &Place, judgement: &mut Judgement) {
    let refused = matches!(judgement.answer.verb, Some(Verb::Deny | Verb::Halt));
    let Some(session) = place.session.as_ref().filter(|_| event.kind.is_tool()) else { return };
    let marks = std::mem::take(&mut judgement.marks);
    if refused || marks.is_empty() {
        return;
    }
    judgement.notes.extend(session.fault().map(str::to_string));
    match session.add(marks, || own::remote_hosts(place)) {
        Ok(new) => judgement.marks = new,
        Err(why) => judgement.notes.push(why),
    }
}

fn warn_once(config: &Config, event: &Event, paths: &Paths, judgement: &mut Judgement) {
    for warning in &config.warnings {
        if judge::is_first_warning(paths, event, warning) {
            judgement.answer.notice.push(warning.clone());
        }
    }
}

/// A session begins: people are told where the managed rules are stale, newer ones are looked for, and collectors that want
/// it are told how hookctl stands.
fn begin_session(config: &mut Config, event: &Event, paths: &Paths) {
    // Where none counts the config says so.
    let stale = bundle::describe_staleness(paths).filter(|_| !config.lacks_managed);
    // In the journal as well: not every agent tells its user what a hook says at the start.
    config.notes.extend(stale.clone());
    config.warnings.extend(stale.map(|why| format!("hookctl: {why}")));
    let begun = heartbeat::note_session(config, paths, event);
    #[cfg(feature = "tls")]
    let due = crate::remote::fleet::is_due(paths, config.lacks_managed);
    #[cfg(not(feature = "tls"))]
    let due = false;
    if (begun || due)
        && let Err(error) = sender::start_sender(paths)
    {
        config.notes.push(format!("no sender could be started: {error}"));
    }
}

/// What others do as well that a server does: they install themselves again, maybe while the session runs.
fn duplicate_warnings(config: &mut Config, paths: &Paths, place: &Place) -> Vec<String> {
    if !config.has_remotes() {
        return Vec::new();
    }
    config.read_remotes();
    let places = settings_files(
        agent::default_agent(),
        &paths.home,
        Path::new(&place.cwd),
        Path::new(&place.project),
    );
    beside::duplicate_warnings(&places, config)
}

fn new_line(agent: &dyn Agent, start: Instant) -> journal::Line {
    journal::Line {
        ms: (start.elapsed().as_secs_f64() * 1e6).round() / 1e3,
        ..journal::Line::new(agent.id())
    }
}

fn journal_line(
    agent: &dyn Agent,
    event: &Event,
    judgement: Judgement,
    paused: bool,
    start: Instant,
) -> journal::Line {
    let mut line = new_line(agent, start);
    line.event.clone_from(&event.name);
    line.session.clone_from(&event.session);
    line.cwd.clone_from(&event.cwd);
    line.tool.clone_from(&event.tool);
    line.what = event.call_summary().unwrap_or_default().to_string();
    line.decision = judgement.answer.verb.map_or("silent", Verb::name).to_string();
    line.rule = judgement.rule;
    if judgement.answer.verb.is_some() {
        line.reason.clone_from(&judgement.answer.reason);
    }
    line.rules = judgement.spoke;
    line.marks = judgement.marks.names();
    line.rewritten = judgement.answer.input.is_some() || judgement.answer.response.is_some();
    line.remotes = judgement.remotes;
    line.notes = judgement.notes;
    if paused {
        line.notes.push("paused".into());
    }
    if agent::by_id(agent.id()).is_none() {
        line.notes.push("an agent that is not known: judged by its command line".into());
    }
    line
}

/// Says it on stderr, where somebody listens.
fn print_stderr(text: &str) {
    watchdog::print_stderr(&text::make_visible(text));
}

/// A bug must neither let the tool run unasked nor print its own text: it becomes the answer for
/// what cannot be judged.
fn answer_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
        watchdog::give_up(&format!("an error inside hookctl{}", place.unwrap_or_default()));
    }));
}
