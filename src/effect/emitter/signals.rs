//! Whom a signal reaches whose processes are looked up by the call itself: the agent, a runtime that others run on, or all
//! processes of a user.

use super::Emitter;
use crate::effect::program::table::{Class, has_class};
use crate::effect::{Arg, Extent, Grade, Source, SubCommand, Word};
use crate::names::guard::FINDERS;

const AGENT: Word = Word::Named("process.agent");
const ALL: Word = Word::Named("process.all");
const RUNTIME: Word = Word::Named("process.runtime");

/// What matches every process.
fn holds_for_all(pattern: &str) -> bool {
    matches!(pattern, "" | "." | "^" | ".*" | ".+" | "[a-z]" | "*")
}

/// Is it, with signs of a pattern that stand for themselves, the name of an agent?
fn names_agent(text: &str) -> bool {
    let plain = text.replace(['[', ']', '^', '$', '\\'], "");
    let known = |word: &str| {
        has_class(
            word.strip_suffix(".exe").unwrap_or(word).to_lowercase().as_str(),
            Class::Agent,
            &[],
        )
    };
    plain.split(|c: char| c.is_whitespace() || c == '/').any(known)
}

/// What a command that finds processes finds.
fn found_by(command: &SubCommand, filtered: bool) -> Option<Word> {
    let texts = || command.args.iter().filter_map(|arg| arg.text.as_deref());
    let operands = || command.operands.iter().filter_map(|at| command.args[*at].text.as_deref());
    let has = |names: &[&str]| command.options.iter().any(|o| names.contains(&o.name.as_str()));
    match command.name.as_str() {
        "get-process" | "Get-Process" if command.args.is_empty() => Some(ALL),
        "ps" if texts().any(|text| text.contains("ppid=") && text.len() < 9) => Some(AGENT),
        "ps" if filtered || has(&["-p", "-C", "--pid", "--ppid"]) => None,
        "ps" => Some(ALL),
        "ls" if operands().any(|dir| dir.trim_end_matches('/') == "/proc") => Some(ALL),
        "lsof" if operands().any(|at| at == "/") => Some(ALL),
        "pgrep" | "pidof" if operands().any(names_agent) => Some(AGENT),
        "pgrep" if operands().any(holds_for_all) => Some(ALL),
        "pgrep" if has(&["-u", "-U", "--euid", "--uid"]) && command.operands.is_empty() => {
            Some(ALL)
        }
        "pgrep" | "pidof" if operands().any(|name| name == "node") => Some(RUNTIME),
        _ if FINDERS.contains(&command.name.as_str()) && !has(&["-v"]) => {
            operands().any(names_agent).then_some(AGENT)
        }
        _ => None,
    }
}

/// Does it pick some of what it is fed?
fn filters(command: &SubCommand) -> bool {
    let texts = || command.operands.iter().filter_map(|at| command.args[*at].text.as_deref());
    match command.name.as_str() {
        "grep" | "egrep" | "fgrep" | "rg" => {
            !command.options.iter().any(|o| o.name == "-v" || o.name == "--invert-match")
        }
        "awk" | "gawk" | "mawk" => texts().any(|text| text.contains(['/', '~', '='])),
        "sed" => texts().any(|text| text.contains('/')),
        "head" | "tail" => true,
        _ => false,
    }
}

impl Emitter<'_> {
    /// Of what is typed from here on the shell keeps no record.
    pub fn emit_history_end(&mut self, span: std::ops::Range<usize>) {
        let file = format!("{}/.bash_history", self.place.home);
        self.own_path(Word::Write, &file, Extent::Exact, Grade::Certain, span);
    }

    /// Signals to processes that the call looks up.
    pub fn settle_found_processes(&mut self) {
        let signals =
            |effect: &&crate::effect::Effect| effect.word == Word::Process && effect.path.is_none();
        let found: Vec<(Word, Option<usize>, std::ops::Range<usize>)> = self
            .analysis
            .effects
            .iter()
            .filter(signals)
            .filter_map(|effect| {
                let word = self.signalled(effect.command?)?;
                Some((word, effect.command, effect.span.clone()))
            })
            .collect();
        for (word, command, span) in found {
            self.command = command;
            self.push(word, Grade::Certain, Source::Operand, span);
        }
    }

    /// Whom a command signals, if that is more than what it names.
    fn signalled(&self, at: usize) -> Option<Word> {
        let commands = &self.analysis.commands;
        let command = &commands[at];
        let values = command.options.iter().filter_map(|option| option.value.as_ref());
        let own = command.operands.iter().map(|at| &command.args[*at]).chain(values);
        // `-$PPID`, a process group, looks like an option.
        let is_parent = |arg: &Arg| self.written_text(at, arg).contains("PPID");
        if command.args.iter().any(is_parent) {
            return Some(AGENT);
        }
        if matches!(command.name.as_str(), "pkill" | "killall" | "skill" | "slay") {
            let mut names = own.filter_map(|arg| arg.text.as_deref());
            return names.find_map(|name| match name {
                "node" | "nodejs" | "electron" => Some(RUNTIME),
                _ => names_agent(name).then_some(AGENT),
            });
        }
        if matches!(command.name.as_str(), "taskkill" | "stop-process" | "spps") {
            let named = command.options.iter().filter_map(|o| o.value.as_ref()?.text.as_deref());
            if named.chain(own.clone().filter_map(|arg| arg.text.as_deref())).any(names_agent) {
                return Some(AGENT);
            }
        }
        let hands = |by: usize| matches!(commands[by].name.as_str(), "xargs" | "parallel");
        let fed = self.analysis.with_wrappers(Some(at)).into_iter().any(hands)
            || command.name.eq_ignore_ascii_case("stop-process") && command.operands.is_empty();
        let open: Vec<&Arg> = own.filter(|arg| arg.text.is_none() || arg.glob).collect();
        if !fed && !open.iter().any(|arg| self.is_looked_up(self.written_text(at, arg))) {
            return None;
        }
        // What picks from a list is walked behind what finds it, and before what is fed.
        let picked = |finder: usize| {
            commands.get(finder + 1..at).is_some_and(|between| between.iter().any(filters))
        };
        let all: Vec<Word> = commands
            .iter()
            .enumerate()
            .filter(|(_, one)| !fed || !self.stands_alone(one))
            .filter_map(|(finder, one)| found_by(one, picked(finder)))
            .collect();
        [AGENT, ALL, RUNTIME].into_iter().find(|word| all.contains(word))
    }

    /// Is it a statement whose output nobody takes: `pgrep -fa node; ...`?
    fn stands_alone(&self, command: &SubCommand) -> bool {
        let text = self.analysis.text.as_str();
        let whole = text.get(command.span.clone()).unwrap_or("|");
        let before = text.get(..command.span.start).unwrap_or("|").trim_end_matches(' ');
        let behind = text.get(command.span.end..).unwrap_or("|").trim_start_matches(' ');
        (before.is_empty() || before.ends_with([';', '\n', '&']))
            && behind.starts_with([';', '\n', '&'])
            && !behind.starts_with("&>")
            && whole.starts_with(&command.name)
            && !whole.contains(['>', '|', '`', '('])
    }

    /// The bytes that an argument of the command is written as; in nested text those of the whole command.
    fn written_text(&self, command: usize, arg: &Arg) -> &str {
        let nested = self.signals.iter().find(|(at, _)| *at == command);
        let own = || self.analysis.text.get(arg.span.clone()).unwrap_or_default();
        nested.map_or_else(own, |(_, text)| text)
    }

    /// Is it what another command of the call prints, at once or by a variable?
    fn is_looked_up(&self, text: &str) -> bool {
        let assigned = |name: &str| {
            let signs = ["=$(", " in $(", "=\"$("];
            signs.iter().any(|sign| self.analysis.text.contains(&format!("{name}{sign}")))
        };
        let mut names = text.split('$').skip(1).map(|rest| {
            let rest = rest.strip_prefix('{').unwrap_or(rest);
            rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
        });
        text.contains(['(', '`']) || names.any(|name| !name.is_empty() && assigned(name))
    }
}
