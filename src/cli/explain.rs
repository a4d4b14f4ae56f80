//! `hookctl explain`: how one event would be judged, and why. Nothing is run and nothing written.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::Value;

use super::args::ExplainArgs;
use super::{BOLD, Context, Exit, generated, print, print_json, print_stderr, scope};
use crate::agent::{self, Agent};
use crate::config::Config;
use crate::dry::{self, Dry};
use crate::effect::Place;
use crate::event::{Event, Kind};
use crate::files;
use crate::hook;
use crate::marks::{Mark, Session};
use crate::pause;
use crate::payload;
use crate::rule::fault::did_you_mean;
use crate::text::quote_word;
use crate::verdict::Verb;

mod considered;
mod event;
mod failures;
mod report;
mod short;

/// Explains what was asked for.
///
/// # Errors
/// Where the payload cannot be read, or stdout not be written.
pub fn run(context: &Context, args: &ExplainArgs) -> Result<Exit> {
    if args.failures {
        let document = generated::failures()?;
        let rows = failures::rows(&document);
        return match args.json {
            true => print_json(&rows),
            false => print(&failures::render_text(&rows, &|text| context.paint(BOLD, text))),
        };
    }
    let agent =
        args.agent.as_deref().map_or_else(|| Ok(agent::default_agent()), scope::find_agent)?;
    let request = Request::of(args);
    if let (Some(name), Request::Nothing) = (args.event.as_deref(), &request) {
        return event::run(context, agent, name, args.json);
    }
    let bytes = match &request {
        Request::Call(words) => synthesise_payload(context, args, words)?,
        Request::Payload(file) => match read_payload(*file)? {
            Some(bytes) => bytes,
            None => bail!(
                "no call: say `hookctl explain 'COMMAND'`, name a file with a payload, or pipe one in"
            ),
        },
        Request::Nothing => match read_payload(None)? {
            // A pipe of nothing is nobody's event.
            Some(bytes) if !bytes.trim_ascii().is_empty() => bytes,
            _ => bail!(
                "no call: say `hookctl explain 'COMMAND'`, name a file with a payload, or pipe one in"
            ),
        },
    };
    let made = matches!(request, Request::Call(_));
    let parsed = match parse_payload(&bytes, made.then_some(agent), args) {
        Ok(parsed) => parsed,
        Err(error) => {
            print_stderr(&format!("error: {error}"));
            if let Some(answered) =
                unreadable_answer(agent, &bytes, args.event.as_deref(), &error.to_string())
            {
                print_stderr(&format!("the hook answers such an event so:\n{answered}"));
            }
            return Ok(Exit::Failed);
        }
    };
    let mut place = hook::session_place(&parsed.1, &context.paths);
    if let Some(session) = chosen_session(context, args, &place)? {
        place.session = Some(Arc::new(session));
    }
    let config = Config::load_for(&context.paths, &place, None);
    config.complete_place(&mut place);
    let paused = pause::paused_until(&context.paths).is_ok_and(|until| until.is_some());
    let dry = Dry::judge(parsed, place, &config, &context.paths, paused);
    let output = dry.render();
    let report = report::Explanation { dry: &dry, config: &config, output: &output };
    match args.json {
        true => print_json(&report.render_json())?,
        false => print(&report.render_text(context, args.verbose))?,
    };
    Ok(match report.strictest_verb() {
        _ if !args.exit_code => Exit::Ok,
        None | Some(Verb::Allow) => Exit::Ok,
        Some(Verb::Ask | Verb::Defer) => Exit::Asked,
        Some(Verb::Deny | Verb::Halt) => Exit::Stopped,
    })
}

/// What is to be explained.
enum Request<'a> {
    /// A call that nobody made: its words.
    Call(Vec<&'a str>),
    /// The payload of a file, `-` = stdin.
    Payload(Option<&'a Path>),
    /// Nothing is named: a payload on stdin, or the event as such.
    Nothing,
}

impl Request<'_> {
    fn of(args: &ExplainArgs) -> Request<'_> {
        let words = || args.words.iter().chain(&args.command).map(String::as_str).collect();
        match args.words.as_slice() {
            [] if args.command.is_empty() && args.tool.is_none() => Request::Nothing,
            [name] if args.command.is_empty() && args.tool.is_none() && is_payload_file(name) => {
                Request::Payload(Some(Path::new(name)))
            }
            _ => Request::Call(words()),
        }
    }
}

/// Is the word a file with a payload, or meant as one? All others are commands, programs of that name too.
fn is_payload_file(word: &str) -> bool {
    if word == "-" || word.ends_with(".json") && !word.contains(char::is_whitespace) {
        return true;
    }
    let path = Path::new(word);
    match files::read(path, hook::LARGEST as u64) {
        Ok(bytes) => bytes.trim_ascii_start().starts_with(b"{"),
        // What cannot be read is told of, but a directory is none in any case.
        Err(_) => path.symlink_metadata().is_ok() && !path.is_dir(),
    }
}

/// The session that the command line names, or of which it says what to assume.
fn chosen_session(context: &Context, args: &ExplainArgs, place: &Place) -> Result<Option<Session>> {
    for word in &args.marks {
        let words = Mark::NAMES.iter().map(|(name, _)| *name);
        if words.clone().all(|name| name != word) {
            let hint = did_you_mean(word, words.clone());
            let hint = hint.map(|hint| format!(", did you mean `{hint}`?")).unwrap_or_default();
            let all: Vec<&str> = words.collect();
            bail!("`{word}` is no mark{hint}: there are {}", all.join(", "));
        }
    }
    let marks = args.marks.iter().map(String::as_str);
    Ok(match &args.session {
        Some(id) => Some(Session::new(&context.paths.state, id, "", &place.project)),
        None if args.marks.is_empty() => None,
        None => Some(Session::assumed(marks.collect())),
    })
}

/// The payload's bytes; None where there is nobody to give them.
fn read_payload(file: Option<&Path>) -> Result<Option<Vec<u8>>> {
    if let Some(path) = file.filter(|path| *path != Path::new("-")) {
        let bytes = files::read(path, hook::LARGEST as u64);
        return bytes.map(Some).map_err(|refusal| anyhow!(refusal.describe_for(path)));
    }
    if file.is_none() && io::stdin().is_terminal() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    // One byte more than the hook takes tells that it would be too large.
    let limit = (hook::LARGEST + 1) as u64;
    io::stdin().take(limit).read_to_end(&mut bytes).context("cannot read stdin")?;
    Ok(Some(bytes))
}

/// The event of the payload; of one that `made` was made for, that agent's.
fn parse_payload(
    bytes: &[u8],
    made: Option<&'static dyn Agent>,
    args: &ExplainArgs,
) -> Result<(&'static dyn Agent, Event)> {
    if bytes.len() > hook::LARGEST {
        bail!("the payload is larger than {} MiB", hook::LARGEST >> 20);
    }
    let (payload, named) = (payload::parse(bytes)?, args.event.as_deref());
    Ok(match made {
        Some(agent) => dry::synthetic_event(payload, agent, named),
        None => {
            let agent = agent::detect_agent(&payload, args.agent.as_deref());
            (agent, agent::parse_event(agent, payload, named))
        }
    })
}

/// What the hook would answer to bytes that are no payload.
fn unreadable_answer(
    agent: &dyn Agent,
    bytes: &[u8],
    named: Option<&str>,
    why: &str,
) -> Option<String> {
    let known = |name: &str| Some(agent::kind_of_name(name)).filter(|kind| *kind != Kind::Other);
    let kind =
        payload::sniff_event(bytes).as_deref().and_then(known).or_else(|| named.and_then(known))?;
    let output = agent.failure_output(kind, why);
    Some(event::output_lines(&output).join("\n"))
}

/// A payload for a call that nobody made.
fn synthesise_payload(context: &Context, args: &ExplainArgs, words: &[&str]) -> Result<Vec<u8>> {
    let named = args.event.as_deref();
    // A bare text is a command line, where the event is one of a tool's.
    let bash = named.is_none_or(|name| agent::kind_of_name(name).is_tool());
    let tool = args.tool.as_deref().or(bash.then_some("Bash"));
    let tools = agent::default_agent().facts().tool_names;
    if let Some(tool) = tool.filter(|tool| !tools.contains(tool) && !tool.starts_with("mcp__")) {
        let hint = match did_you_mean(tool, tools.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "those of MCP servers are called mcp__SERVER__TOOL.".into(),
        };
        bail!("`{tool}` is no tool of Claude Code: {hint} For any other, pipe its payload in");
    }
    let value = match words {
        [whole] => whole.to_string(),
        // What the shell took apart: one word each.
        words => words.iter().map(|word| quote_word(word)).collect::<Vec<_>>().join(" "),
    };
    let name = named.unwrap_or(if tool.is_some() { "PreToolUse" } else { "" });
    let kind = agent::kind_of_name(name);
    let name = if kind == Kind::Other { name } else { kind.name() };
    let cwd = context.cwd.to_string_lossy();
    let mut payload = dry::synthetic_payload(name, &cwd);
    let mut put = |key: &str, value: Value| {
        payload.insert(key.to_string(), value);
    };
    match (tool, kind) {
        (Some(tool), kind) if kind.is_tool() => {
            // An object is taken as the whole input.
            let input = match serde_json::from_slice(value.as_bytes()) {
                Ok(Value::Object(whole)) => Value::Object(whole),
                _ => dry::tool_input(tool, &value, &|path| {
                    dry::absolute_path(path, &context.cwd, &context.paths.home)
                }),
            };
            payload = dry::tool_call_payload(kind, tool, input, &cwd);
        }
        (Some(tool), Kind::Other) => {
            bail!("`{name}` is no event: `hookctl explain --event` with --tool {tool} needs one");
        }
        (Some(_), _) => bail!("{name} has no tool call: leave --tool out"),
        (None, Kind::UserPromptSubmit | Kind::UserPromptExpansion) => put("prompt", value.into()),
        (None, Kind::Notification) => put("message", value.into()),
        (None, Kind::SessionStart | Kind::ConfigChange) => put("source", value.into()),
        (None, Kind::PreCompact | Kind::PostCompact | Kind::Setup) => put("trigger", value.into()),
        (None, _) => bail!("{name} has no place for a text: pipe a payload in"),
    }
    Ok(Value::Object(payload).to_string().into_bytes())
}
