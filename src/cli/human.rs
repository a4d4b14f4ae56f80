//! Is it a human who asks for less guard? What is known of who started this process, and the words that
//! a human types before anything is loosened.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Read as _, Write as _};

use anyhow::{Context as _, Result};

use super::{Context, RED, make_visible, one_line, print_stderr};
use crate::env;

mod lineage;
mod process;

use lineage::{Lineage, Origin};

/// The longest line that is read as an answer, in bytes.
const LONGEST: u64 = 4096;

/// What is said where a person did not agree.
pub(super) const DECLINED: &str = "Nothing was changed.";

/// What says that an agent started this process: its own environment, or that of the processes that it
/// comes from, or one of those itself.
pub fn detect_agent() -> Option<String> {
    match env::agent_mark() {
        Some(mark) => Some(mark.to_string()),
        None => Lineage::of_this().agent,
    }
}

/// Why what loosens may not be done here: it is for a human at a terminal.
pub(super) fn not_human() -> Option<String> {
    if let Some(mark) = detect_agent() {
        return Some(format!(
            "{mark} says that an agent started this, and loosening is for humans: run it in a \
             terminal of your own"
        ));
    }
    let terminal =
        io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
    (!terminal).then(|| {
        "loosening is for humans: run it in a terminal, without pipes or redirections".to_string()
    })
}

/// Is anybody there to be asked? A script without a terminal is not.
pub(super) fn is_attended() -> bool {
    io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal()
}

/// Has a human typed exactly these words on the terminal, having read what is lost? They are read
/// from the terminal itself, whatever stdin is.
///
/// # Errors
/// Where there is no terminal to ask on.
pub(super) fn confirm_typed(context: &Context, lost: &str, words: &str) -> Result<bool> {
    if let Origin::Unknown(end) = Lineage::of_this().origin {
        print_stderr(&format!(
            "note: who started this cannot be told ({}): no terminal, login or sshd is among the \
             processes that it comes from. Go on only if you typed this yourself.",
            make_visible(&end)
        ));
    }
    let (mut out, input) = open_terminal().context("cannot open the terminal to ask")?;
    let lost = context.paint(RED, &make_visible(lost));
    write!(out, "{lost}\nType `{words}` to do it, anything else to leave it: ")?;
    out.flush()?;
    let mut answer = String::new();
    // What is no text is no answer.
    let _ = BufReader::new(input.take(LONGEST)).read_line(&mut answer);
    let yes = answer.split_whitespace().eq(words.split_whitespace());
    if !yes {
        writeln!(out, "{DECLINED}")?;
    }
    Ok(yes)
}

/// The same where somebody is there; what runs without a terminal and without an agent is a script of
/// the human's.
///
/// # Errors
/// As for [`confirm_typed`].
pub(super) fn confirms_if_attended(context: &Context, lost: &str, words: &str) -> Result<bool> {
    Ok(!is_attended() || confirm_typed(context, lost, words)?)
}

/// A name as one can type it.
pub(super) fn make_typeable(name: &str) -> String {
    one_line(name, 60).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(unix)]
fn open_terminal() -> io::Result<(File, File)> {
    let file = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    Ok((file.try_clone()?, file))
}

#[cfg(not(unix))]
fn open_terminal() -> io::Result<(File, File)> {
    let out = OpenOptions::new().write(true).open("CONOUT$")?;
    Ok((out, OpenOptions::new().read(true).write(true).open("CONIN$")?))
}
