//! Which agents `hookctl install` is meant for.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::agent::{Agent, default_agent};
use crate::cli::args::InstallArgs;
use crate::cli::report::Report;
use crate::cli::{Context, display_path, human, scope};

/// What is to be done.
pub(super) enum Choice {
    /// Install for these.
    Agents(Vec<&'static dyn Agent>),
    /// Nobody agreed.
    Declined,
}

/// The agents that are named; with `--all` those that are here. With neither, the default agent where no other is
/// here, else those that are here, once a person has seen the files and said yes.
///
/// # Errors
/// Where there is nobody to ask, or none is here.
pub(super) fn choose_agents(
    context: &Context,
    args: &InstallArgs,
    report: &mut Report,
) -> Result<Choice> {
    if !args.agent.is_empty() {
        let mut agents: Vec<&'static dyn Agent> = Vec::new();
        for id in &args.agent {
            let agent = scope::find_agent(id)?;
            if agents.iter().all(|other| other.id() != agent.id()) {
                agents.push(agent);
            }
        }
        return Ok(Choice::Agents(agents));
    }
    let present = scope::present_agents(context);
    let others = present.iter().any(|(agent, _)| agent.id() != default_agent().id());
    let agents: Vec<&'static dyn Agent> = present.iter().map(|(agent, _)| *agent).collect();
    if args.all {
        if agents.is_empty() {
            bail!("no agent is here that hookctl knows: name one with --agent");
        }
        return Ok(Choice::Agents(agents));
    }
    if !others {
        return Ok(Choice::Agents(vec![default_agent()]));
    }
    let list = describe_agents(context, args, &present);
    if report.is_json() || !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        let ids: Vec<&str> = agents.iter().map(|agent| agent.id()).collect();
        bail!(
            "several agents are here, and nobody to ask which of them is meant:\n{list}\
             say `hookctl install --agent {}`, fewer of them, or --all",
            ids.join(",")
        );
    }
    report
        .tell(&format!("hookctl would write its hooks for these agents:\n{list}Do it? [y/N] "))?;
    let mut answer = String::new();
    // What is no text is no answer.
    let _ = io::stdin().lock().read_line(&mut answer);
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(Choice::Agents(agents));
    }
    report.tell(&format!("{}\n", human::DECLINED))?;
    Ok(Choice::Declined)
}

/// One line for each agent: what shows that it is here, and the file.
fn describe_agents(
    context: &Context,
    args: &InstallArgs,
    present: &[(&'static dyn Agent, PathBuf)],
) -> String {
    let mut text = String::new();
    for (agent, trace) in present {
        let files = match scope::scope_files(context, *agent, args.scope) {
            Ok(files) => scope::describe_files(context, &files),
            Err(error) => format!("nothing: {error}"),
        };
        let found = display_path(context, trace);
        let _ = writeln!(text, "  {:<12} {files} (found {found})", agent.id());
    }
    text
}
