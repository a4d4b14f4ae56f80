//! What may stand in the stead of a call of `make` or `npm run`, for those who allow: the recipe's own commands, as text.
//!
//! Only where nothing else can come of it. Whatever could make another thing of the recipe (another file, shell, flag,
//! variable, program of that name) leaves the call as it is.

use std::path::Path;

use super::Walker;
use super::state::StateKey;
use crate::effect::Target;
use crate::effect::analysis::Stead;
use crate::effect::path::{join, split};
use crate::effect::program::Call;
use crate::effect::program::recipe::Step;
use crate::effect::program::table;
use crate::effect::value::Value;
use crate::env;
use crate::files::OpenFile;
use crate::limits;

/// Options that change nothing of what a recipe does.
const HARMLESS: &[&str] = &[
    "-s",
    "--silent",
    "-k",
    "--keep-going",
    "--no-print-directory",
    "-B",
    "-j",
    "--if-present",
    "--",
];
/// From what else make would make a makefile, or read it first.
const TWINS: &[&str] = &[
    "Makefile.sh",
    "makefile.sh",
    "GNUmakefile.sh",
    "Makefile.c",
    "Makefile.cc",
    "Makefile.C",
    "Makefile.cpp",
    "Makefile.p",
    "Makefile.f",
    "Makefile.F",
    "Makefile.m",
    "Makefile.r",
    "Makefile.s",
    "Makefile.S",
    "Makefile.mod",
    "Makefile.o",
    "Makefile.l",
    "Makefile.y",
    "Makefile.w",
    "Makefile.ch",
    "Makefile,v",
    "makefile,v",
    "s.Makefile",
    "s.makefile",
    "RCS",
    "SCCS",
];
/// What tells npm of another shell or of other commands, or is the shell that it finds first.
const SETTINGS: &[&str] = &[".npmrc", "node_modules/.hooks", "node_modules/.bin/sh"];
/// Words of the shell's grammar, which stand for no program.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "for", "while", "until",
    "select", "function", "time", "coproc", "in", "{", "}", "[[", "]]", "!", "exec", "eval",
    "source", "alias", "trap", "set",
];

/// What is known of a recipe that was read.
pub(super) struct Closed<'r> {
    /// The file.
    pub target: &'r Target,
    /// For people.
    pub name: &'r str,
    pub steps: &'r [Step],
    /// What is handed on.
    pub words: &'r [Value],
}

impl Walker<'_> {
    /// The text that may stand in the stead of that command.
    pub(super) fn stead_of(&mut self, call: &Call, index: usize, closed: &Closed) -> Option<Stead> {
        let command = self.out.analysis.commands.get(index)?;
        // Elsewhere npm starts another shell, and make may be another program.
        let plain = cfg!(any(target_os = "linux", target_os = "macos"))
            && command.parent.is_none()
            && !command.quoted
            && command.genuine;
        let dir = command.dir.clone()?;
        let steered = !self.out.analysis.environment.is_empty() || is_steered();
        if !plain || self.frame.depth > 0 || !self.state.is_untouched() || steered {
            return None;
        }
        let Closed { target, name, steps, words } = *closed;
        let (above, _) = split(&target.lexical);
        let own = above.trim_end_matches('/') == dir && target.lexical == target.resolved;
        let args = &call.args[..call.args.len() - words.len()];
        if !own || !args.iter().all(is_goal_or_harmless) {
            return None;
        }
        let lines: Vec<String> = steps
            .iter()
            .filter(|step| !step.text.starts_with('#') || step.text.contains('\n'))
            .map(|step| plain_line(step, words))
            .collect::<Option<_>>()?;
        let is_make = matches!(call.name, "make" | "gmake");
        let closed = match is_make {
            true => TWINS.iter().all(|twin| !self.lies_at(&dir, twin)),
            false => self.is_npm_closed(&dir, &lines),
        };
        // What others could have put there is nobody's word.
        let protected = || OpenFile::protected(Path::new(&target.resolved), u64::MAX).is_ok();
        if !closed || lines.is_empty() || !protected() {
            return None;
        }
        let lines: String = lines.iter().map(|line| format!("(\n{line}\n)\n")).collect();
        Some(Stead {
            command: index,
            text: format!("(\n{lines})"),
            file: target.lexical.clone(),
            way: name.to_string(),
        })
    }

    pub(super) fn lies_at(&mut self, dir: &str, name: &str) -> bool {
        self.out.resolver.exists(&join(dir, name))
    }

    /// Does npm run the lines with the shell that it has of itself, and the programs that their names stand for?
    fn is_npm_closed(&mut self, dir: &str, lines: &[String]) -> bool {
        let home = join(&self.out.place.home, ".npmrc");
        if self.out.place.read.is_some_and(|read| {
            read(Path::new(&home), limits::SCRIPT_BYTES as u64)
                .is_ok_and(|bytes| memchr::memmem::find(&bytes, b"shell").is_some())
        }) {
            return false;
        }
        let mut at = dir;
        loop {
            if SETTINGS.iter().any(|name| self.lies_at(at, name)) {
                return false;
            }
            let bin = join(at, "node_modules/.bin");
            if self.out.resolver.exists(&bin) {
                let words = lines.iter().flat_map(|line| line.split([' ', '\t', ';', '&', '|']));
                let mut programs = words
                    .map(|word| word.trim_matches(['"', '\'']))
                    .filter(|word| is_name(word) && !runs_project(word));
                if programs.any(|word| self.out.resolver.exists(&join(&bin, word))) {
                    return false;
                }
            }
            match split(at).0.trim_end_matches('/') {
                "" => return true,
                above => at = above,
            }
        }
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && !word.contains('/')
}

/// Does the program do what the project's files say, whichever of its name it is?
fn runs_project(name: &str) -> bool {
    table::find_row(name, &[]).is_some_and(|row| row.recipes == Some(""))
}

/// Is it what is asked for, or an option that changes nothing of what that does?
pub(super) fn is_goal_or_harmless(arg: &Value) -> bool {
    arg.plain_text().is_some_and(|text| match text.strip_prefix('-') {
        Some(_) => {
            HARMLESS.contains(&text)
                || text.strip_prefix("-j").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
        }
        None => !text.contains('='),
    })
}

/// Do variables of the agent's own tell make or npm to do otherwise?
fn is_steered() -> bool {
    let steers = |name: &str| {
        let name = name.to_ascii_lowercase();
        (name.starts_with("npm_config_") || name.starts_with("make") || name == "gnumakeflags")
            && name != "makelevel"
            || matches!(name.as_str(), "mflags" | "node_options" | "env" | "bash_env")
    };
    !env::variables(steers).is_empty()
}

/// A line that every shell reads alike wherever it stands, and that depends on nothing but what it says.
fn plain_line(step: &Step, words: &[Value]) -> Option<String> {
    let mut text = step.text.clone();
    if step.unsure || !is_plain(&text) {
        return None;
    }
    if step.takes_words {
        for word in words {
            let word = word.plain_text().filter(|word| !word.contains(['\'', '\n', '\\']))?;
            text.push_str(&format!(" '{word}'"));
        }
    }
    Some(text)
}

fn is_plain(text: &str) -> bool {
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (_, '\n' | '\r' | '\0' | '\\' | '$' | '`') => return false,
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | ')' | '<' | '#' | '{' | '}') => return false,
            (Some(open), _) if open == c => quote = None,
            _ if !c.is_ascii() => return false,
            _ => {}
        }
    }
    let mut words = text.split([' ', '\t', ';', '&', '|']);
    quote.is_none() && !words.any(|word| RESERVED.contains(&word))
}

impl super::state::ShellState {
    /// Did the call change nothing of it but the directory?
    fn is_untouched(&self) -> bool {
        self.has_only(|key| match key {
            StateKey::Cwd | StateKey::Positional => true,
            StateKey::Var(name) | StateKey::Exported(name) => {
                matches!(name.as_str(), "PWD" | "OLDPWD")
            }
            _ => false,
        })
    }
}
