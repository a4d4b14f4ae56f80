//! `hookctl memory`: what humans at servers said for a session, and the marks of sessions. The answers can be read and
//! taken away by anybody; the marks only a human takes away, for rules that stop speak of them.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};

use super::args::MemoryArgs;
use super::args::server::MemoryCommand;
use super::report::Report;
use super::{Context, Exit, FAINT, GREEN, RED, flatten_lines, human, one_line, print, print_json};
use crate::marks;
use crate::moment::Moment;
use crate::remote::breaker::unix_milliseconds;
use crate::remote::memory::{self, RememberedAnswer};
use crate::verdict::Verb;

/// The width of a pattern.
const WIDTH: usize = 80;

/// Lists or clears it.
///
/// # Errors
/// Where a file cannot be removed, or stdout not written.
pub(super) fn run(context: &Context, args: &MemoryArgs, report: &mut Report) -> Result<Exit> {
    let state = &context.paths.state;
    let mut all = memory::valid_answers(state);
    all.retain(|one| args.session.as_ref().is_none_or(|name| one.session.starts_with(name)));
    match &args.command {
        Some(MemoryCommand::Marks(_)) => list_marks(context, args),
        Some(MemoryCommand::Unmark(_)) => take_marks(context, args, report),
        Some(MemoryCommand::Clear(_)) => clear_answers(context, args, &all, report),
        None | Some(MemoryCommand::List(_)) if args.json => print_json(&all),
        None | Some(MemoryCommand::List(_)) => print(&list_answers(context, &all)),
    }
}

fn list_marks(context: &Context, args: &MemoryArgs) -> Result<Exit> {
    let all = marks::all_marks(&context.paths.state, args.session.as_deref().unwrap_or_default());
    if args.json {
        return print_json(&all);
    }
    let mut text = String::new();
    for one in &all {
        let time = i64::try_from(one.time).ok().and_then(Moment::from_seconds);
        let time = time.map(Moment::to_seconds_text).unwrap_or_default().replace('T', " ");
        let session = if one.session.is_empty() { "(without a name)" } else { &one.session };
        let _ = writeln!(
            text,
            "{}  {:<9}  {}",
            context.paint(FAINT, &time),
            one.mark.name(),
            one_line(session, WIDTH)
        );
    }
    print(if all.is_empty() { "no session has marks\n" } else { &text })
}

fn take_marks(context: &Context, args: &MemoryArgs, report: &mut Report) -> Result<Exit> {
    if let Some(why) = human::not_human() {
        return Ok(report.refuse(why));
    }
    let state = &context.paths.state;
    let session = args.session.as_deref().unwrap_or_default();
    let lost =
        "What these sessions read and met no longer counts: rules that speak of it are silent.";
    if !human::confirm_typed(context, lost, "unmark")? {
        return Ok(report.refuse_silently(human::DECLINED));
    }
    let count = marks::all_marks(state, session).len();
    let cleared = marks::clear_marks(state, session);
    cleared.with_context(|| format!("cannot take away the marks in {}", state.display()))?;
    report.set("removed", count);
    report.tell(&format!("{count} marks taken away\n"))?;
    Ok(Exit::Ok)
}

fn clear_answers(
    context: &Context,
    args: &MemoryArgs,
    all: &[RememberedAnswer],
    report: &mut Report,
) -> Result<Exit> {
    let state = &context.paths.state;
    let cleared = memory::clear_sessions(state, args.session.as_deref().unwrap_or_default());
    cleared.with_context(|| format!("cannot clear the memory in {}", state.display()))?;
    report.set("removed", all.len());
    report.tell(&match all.len() {
        0 => "nothing was remembered\n".to_string(),
        1 => "1 answer forgotten: the human is asked again\n".to_string(),
        count => format!("{count} answers forgotten: the humans are asked again\n"),
    })?;
    Ok(Exit::Ok)
}

fn list_answers(context: &Context, all: &[RememberedAnswer]) -> String {
    if all.is_empty() {
        return "nothing is remembered\n".into();
    }
    let (mut text, now) = (String::new(), unix_milliseconds());
    let mut session = "";
    for one in all {
        if one.session != session {
            session = &one.session;
            let head = format!("session {}", flatten_lines(session));
            let _ = writeln!(text, "{}", context.paint(FAINT, &head));
        }
        let (colour, verb) = match one.verb() {
            Verb::Allow => (GREEN, "allow"),
            _ => (RED, "deny "),
        };
        let _ = writeln!(
            text,
            "  {}  {}  {}",
            context.paint(colour, verb),
            one_line(&one.pattern, WIDTH),
            context.paint(
                FAINT,
                &format!(
                    "{}, in {}, {} min left",
                    one.remote,
                    one_line(&one.cwd, WIDTH),
                    one.until.saturating_sub(now).div_ceil(60_000)
                )
            ),
        );
    }
    text
}
