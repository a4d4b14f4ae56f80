//! `hookctl flush`: sends what servers are still to be told.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::args::FlushArgs;
use super::report::Report;
use super::{Context, Exit, bridge, make_visible, status};
use crate::config::Config;
#[cfg(feature = "tls")]
use crate::remote::fleet::{self, Asker, Fetched};
use crate::remote::heartbeat;
use crate::remote::sender::{self, SpoolReport};
use crate::remote::spool::Spool;
use crate::rule::file::Remote;

/// Sends it now, and says what came of it.
///
/// # Errors
/// Where no server of that name is configured, and nothing waits for one.
pub(super) fn run(context: &Context, args: &FlushArgs, report: &mut Report) -> Result<Exit> {
    if args.quiet {
        sender::detach();
        send_quietly(context);
        return Ok(Exit::Ok);
    }
    report.set("servers", json!([]));
    let rules = if args.name.is_none() { refresh_rules(context, report)? } else { None };
    let more = heartbeat::queue_heartbeats(&context.paths, || status::describe_state(context));
    let mut spools = Spool::all_spools(&context.paths.spool());
    let config = Config::load(&context.paths, &context.root, None);
    // Those of the agents' settings beside those of the config.
    let hooks = bridge::enabled_bridges(context).into_iter();
    let hooks: Vec<Remote> = hooks.map(|(agent, hook)| hook.flags.to_remote(agent)).collect();
    let remotes = || config.remotes().map(|(_, remote)| remote).chain(&hooks);
    if let Some(name) = &args.name {
        spools.retain(|spool| spool.remote_name() == *name);
        if spools.is_empty() && remotes().all(|remote| remote.name != *name) {
            bail!("no server is called `{name}`, and nothing waits for one");
        }
    }
    // What is in files is older than what waits, and may take its place there.
    let wanted = |remote: &&Remote| {
        let named = args.name.as_ref().is_none_or(|name| remote.name == *name);
        named && remote.dialect.facts().keeps_files
    };
    let mut reports =
        sender::drain_bridges(remotes().filter(wanted), &context.paths, &context.root);
    reports.extend(sender::flush_spools(&context.paths, spools, true));
    let told: Vec<&SpoolReport> =
        reports.iter().filter(|report| !describe_report(report).is_empty()).collect();
    if told.is_empty() && rules.is_none() {
        report.tell("nothing waits\n")?;
    }
    for one in &told {
        let text = format!("{}: {}\n", one.remote, make_visible(&describe_report(one)));
        report.tell(&text)?;
        report.push("servers", report_as_json(one));
    }
    Ok(if more || rules == Some(Exit::Found) || reports.iter().any(|one| one.kept > 0) {
        Exit::Found
    } else {
        Exit::Ok
    })
}

/// So often a sender looks for heartbeats, with all else that waits sent in between.
const ROUNDS: usize = 64;

/// What a hook started: nobody waits for it, and nobody is told.
fn send_quietly(context: &Context) {
    let paths = &context.paths;
    let send = || sender::flush_spools(paths, Spool::all_spools(&paths.spool()), false);
    // A server of rules that does not answer keeps nobody's message waiting.
    send();
    #[cfg(feature = "tls")]
    fleet::fetch_bundle(paths, Asker::Sender);
    for _ in 0..ROUNDS {
        let more = heartbeat::queue_heartbeats(paths, || status::describe_state(context));
        let all = send().iter().all(|report| report.kept == 0);
        if !more || !all {
            return;
        }
    }
}

/// Looks for newer managed rules; None where this machine has none.
#[cfg(feature = "tls")]
fn refresh_rules(context: &Context, report: &mut Report) -> Result<Option<Exit>> {
    let (text, exit) = match fleet::fetch_bundle(&context.paths, Asker::Human) {
        Fetched::Nothing => return Ok(None),
        Fetched::Busy => ("another process is looking; try again".to_string(), Exit::Found),
        Fetched::Same(version) => (format!("version {version} is the newest"), Exit::Ok),
        Fetched::New(version) => (format!("version {version} holds now"), Exit::Ok),
        Fetched::Failed(why) => (format!("could not be fetched: {why}"), Exit::Found),
    };
    report.tell(&format!("managed rules: {text}\n"))?;
    report.set("managed_rules", text);
    Ok(Some(exit))
}

#[cfg(not(feature = "tls"))]
fn refresh_rules(_: &Context, _: &mut Report) -> Result<Option<Exit>> {
    Ok(None)
}

/// The same for programs; the keys are stable.
fn report_as_json(report: &SpoolReport) -> Value {
    json!({
        "name": report.remote,
        "sent": report.sent,
        "filed": report.filed,
        "dropped": report.dropped,
        "aside": report.aside,
        "kept": report.kept,
        "why": (report.kept > 0).then_some(&report.why),
    })
}

/// What came of it; empty = there was nothing.
fn describe_report(report: &SpoolReport) -> String {
    let mut parts = Vec::new();
    if report.sent > 0 {
        parts.push(format!("{} sent", report.sent));
    }
    if report.filed > 0 {
        parts.push(format!("{} not taken, and put into its file", report.filed));
    }
    if let Some(why) = report.dropped.last() {
        parts.push(format!("{} dropped ({why})", report.dropped.len()));
    }
    if report.aside > 0 {
        parts.push(format!("{} set aside, unreadable", report.aside));
    }
    if report.kept > 0 {
        parts.push(format!("{} kept: {}", report.kept, report.why));
    }
    parts.join(", ")
}
