//! `hookctl ping`: a test event to a configured server, and what it makes of it.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use serde_json::json;

use super::args::PingArgs;
use super::report::Report;
use super::{Context, Exit, make_visible};
use crate::config::Config;
use crate::dialect::{Note, Request};
use crate::dry;
use crate::env;
use crate::event::Kind;
use crate::remote::secret::Credentials;
use crate::remote::{self, transport};
use crate::rule::file::Remote;
use crate::rule::file::server::{self, Typed};
use crate::verdict::{Answer, Verb};

/// How long a server may take to answer what no human is asked about.
const AT_ONCE: Duration = Duration::from_secs(2);
/// What an address gets at least, when those before it used up the server's time.
const LEAST: Duration = Duration::from_millis(100);

/// Sends a test event to every address of the server and says what came.
///
/// # Errors
/// Where no such server is configured, or what it is to be sent cannot be made.
pub(super) fn run(context: &Context, args: &PingArgs, report: &mut Report) -> Result<Exit> {
    report.set("server", args.name.as_str());
    report.set("addresses", json!([]));
    let mut config = Config::load(&context.paths, &context.root, None);
    apply_options(&mut config, args)?;
    let remotes: Vec<&Remote> = config.remotes().map(|(_, remote)| remote).collect();
    let Some(remote) = remotes.iter().find(|remote| remote.name == args.name) else {
        let known: Vec<&str> = remotes.iter().map(|remote| remote.name.as_str()).collect();
        if known.is_empty() {
            bail!(
                "no server is configured: add [remote.{}] with its url, or write --server-url URL",
                args.name
            );
        }
        bail!("no server is called `{}`: there are {}", args.name, known.join(", "));
    };
    let request = test_event(context, remote);
    // Before anybody is asked: a secret that cannot be had is an error of this command.
    Credentials::for_remote(remote, &request, request.deadline).map_err(|why| anyhow!(why))?;
    let quiet = remote.human && remote::unattended_question(remote, &request.event).is_some();
    let mut exit = Exit::Ok;
    let mut out = String::new();
    for url in &remote::agent_addresses(remote, request.event.agent) {
        let start = Instant::now();
        let left = request.deadline.saturating_duration_since(start).max(LEAST);
        let limit = start + if quiet { left.min(AT_ONCE) } else { left };
        let came = transport::send_test_event(remote, &request, url, limit)
            .map_err(|failure| failure.cause);
        let ms = start.elapsed().as_millis();
        let said = came.and_then(|(status, text)| {
            let said = match quiet {
                true => "it takes questions, and nobody was asked".into(),
                false => describe_reply(remote, &request, &text)?,
            };
            Ok((status, said))
        });
        let line = match &said {
            Ok((status, said)) => format!("up, HTTP {status} after {ms} ms: {said}"),
            Err(why) => format!("down after {ms} ms: {why}"),
        };
        out.push_str(&format!("{}  {}\n", url.endpoint(), make_visible(&line)));
        report.push(
            "addresses",
            json!({
                "url": url.endpoint().to_string(),
                "up": said.is_ok(),
                "ms": u64::try_from(ms)?,
                "status": said.as_ref().ok().map(|(status, _)| status),
                "said": said.as_ref().map_or_else(String::as_str, |(_, said)| said),
            }),
        );
        if said.is_err() {
            exit = Exit::Found;
        }
    }
    report.tell(&out)?;
    Ok(exit)
}

/// Options go before variables, and these before the file. All of them are about one server.
fn apply_options(config: &mut Config, args: &PingArgs) -> Result<()> {
    let typed = args.server.typed_settings();
    if args.name != server::NAME {
        if let Some((setting, _)) = typed.first() {
            let flag = server::flag_name(setting);
            bail!("{flag} is for the server called `{}`, not for `{}`", server::NAME, args.name);
        }
        return Ok(());
    }
    let set = env::SERVER.iter().filter_map(|(name, setting)| Some((*setting, env::get(name)?)));
    let typed: Typed = set.chain(typed).collect();
    config.override_server(&typed).map_err(|why| anyhow!(why))
}

/// A call that does nothing, marked as a test for the server; one that bothers nobody, where there is
/// such.
pub(super) fn test_event(context: &Context, remote: &Remote) -> Request {
    let cwd = context.cwd.to_string_lossy();
    let input = json!({ "command": "true", "description": "hookctl ping" });
    let mut payload = dry::tool_call_payload(Kind::PreToolUse, "Bash", input, &cwd);
    payload.insert("session_id".into(), "hookctl-ping".into());
    payload.insert("tool_use_id".into(), "toolu_hookctl_ping".into());
    let (_, event) = dry::parse_event(payload, None);
    let event = remote::unattended_question(remote, &event).unwrap_or(event);
    let bytes = serde_json::to_vec(&event.raw).unwrap_or_default();
    let deadline = Instant::now() + remote.deadline;
    let request = Request::new(event, bytes, deadline, &context.paths);
    Request { note: Note::Test, ..request }
}

/// The verdict, and what the agent would be answered if no rule had anything to say.
fn describe_reply(remote: &Remote, request: &Request, text: &str) -> Result<String, String> {
    let event = &request.event;
    if !remote.dialect.facts().decides {
        return Ok("it is only told, nothing is asked".into());
    }
    let reply = remote::read_reply(remote, request, text)?;
    let word = match (&reply.input, reply.verb) {
        (Some(_), verb) if verb.is_none_or(|verb| verb == Verb::Allow) => "modify",
        (_, Some(verb)) => verb.name(),
        (_, None) => "nothing to say",
    };
    let reply = reply.apply_settings(remote, event);
    let notes: String = reply.notes.iter().map(|note| format!(" ({note})")).collect();
    let answer = Answer {
        verb: reply.verb,
        reason: reply.reason,
        input: reply.input,
        context: reply.context,
        notice: reply.notice,
        ..Answer::default()
    };
    let agent = crate::agent::by_id(event.agent).ok_or("no such agent")?;
    let output = agent.render(event, &answer).stdout;
    let output = if output.is_empty() { "silence".into() } else { output };
    Ok(format!("{word}, answered with {output}{notes}"))
}
