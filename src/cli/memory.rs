//! `hookctl memory`: what humans at servers said for a session. It can be read and taken away; only
//! their answers add to it.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};

use super::args::MemoryArgs;
use super::args::server::MemoryCommand;
use super::{Context, Exit, FAINT, GREEN, RED, flatten_lines, one_line, print, print_json};
use crate::remote::breaker::unix_milliseconds;
use crate::remote::memory::{self, RememberedAnswer};
use crate::verdict::Verb;

/// The width of a pattern.
const WIDTH: usize = 80;

/// Lists or clears it.
///
/// # Errors
/// Where a file cannot be removed, or stdout not written.
pub fn run(context: &Context, args: &MemoryArgs) -> Result<Exit> {
    let state = &context.paths.state;
    let mut all = memory::valid_answers(state);
    all.retain(|one| args.session.as_ref().is_none_or(|name| one.session.starts_with(name)));
    match &args.command {
        Some(MemoryCommand::Clear(_)) => clear_answers(context, args, &all),
        None | Some(MemoryCommand::List(_)) if args.json => print_json(&all),
        None | Some(MemoryCommand::List(_)) => print(&list_answers(context, &all)),
    }
}

fn clear_answers(context: &Context, args: &MemoryArgs, all: &[RememberedAnswer]) -> Result<Exit> {
    let state = &context.paths.state;
    let cleared = memory::clear_sessions(state, args.session.as_deref().unwrap_or_default());
    cleared.with_context(|| format!("cannot clear the memory in {}", state.display()))?;
    print(&match all.len() {
        0 => "nothing was remembered\n".to_string(),
        1 => "1 answer forgotten: the human is asked again\n".to_string(),
        count => format!("{count} answers forgotten: the humans are asked again\n"),
    })
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
