//! `hookctl flush`: sends what servers are still to be told.

use anyhow::{Result, bail};

use super::args::FlushArgs;
use super::{Context, Exit, bridge, make_visible, print};
use crate::config::Config;
use crate::remote::sender::{self, SpoolReport};
use crate::remote::spool::Spool;
use crate::rule::file::Remote;

/// Sends it now, and says what came of it.
///
/// # Errors
/// Where no server of that name is configured, and nothing waits for one.
pub fn run(context: &Context, args: &FlushArgs) -> Result<Exit> {
    let mut spools = Spool::all_spools(&context.paths.spool());
    if args.quiet {
        sender::detach();
        sender::flush_spools(&context.paths, spools, false);
        return Ok(Exit::Ok);
    }
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
    if told.is_empty() {
        print("nothing waits\n")?;
    }
    for report in &told {
        print(&format!("{}: {}\n", report.remote, make_visible(&describe_report(report))))?;
    }
    Ok(if reports.iter().any(|report| report.kept > 0) { Exit::Found } else { Exit::Ok })
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
