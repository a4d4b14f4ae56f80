//! `hookctl complete`: what the shells' completions ask. Each thing that can stand at the end of a command line on a line of its
//! own, with what it means behind a tab; nothing where a file is meant, which shells know better.
//!
//! It reads the same tables as the command line itself, and the rule files: ids of the user's own rules are known as well.

use std::path::PathBuf;

use anyhow::Result;

use super::args::{
    Cli, Color, CommandForm, CommandRow, CompleteArgs, Global, More, OptionRow, Options, ValueKind,
};
use super::log::DECISIONS;
use super::{Context, Exit, print};
use crate::agent::AGENTS;
use crate::config::Config;
use crate::event::Kind;
use crate::marks::Mark;
use crate::rule::shipped::{PACKS, RULES};
use crate::text::make_visible;

/// What can stand there, and what it means.
type Candidate = (String, String);

/// Names of tools that rules and the log speak of.
const TOOLS: &[&str] = &[
    "Bash",
    "Read",
    "Write",
    "Edit",
    "Glob",
    "Grep",
    "WebFetch",
    "WebSearch",
    "Agent",
    "Skill",
    "mcp__",
];
/// Times that people look back.
const TIMES: &[&str] = &["30m", "2h", "1d", "1w", "30d"];

/// Prints what can stand at the end of the words.
///
/// # Errors
/// Where stdout cannot be written.
pub(super) fn run(global: Global, args: &CompleteArgs) -> Result<Exit> {
    let mut words: Vec<String> =
        args.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut current = words.pop().unwrap_or_default();
    // Bash takes `--color=always` for three words, and some PowerShells drop an empty one.
    if matches!(&*current, "=" | "\"\"") {
        current.clear();
    }
    words.retain(|word| word != "=");
    let mut line = Line::new(global);
    for word in &words {
        line.read(word);
    }
    let found = line.candidates(&current);
    let fits = |(word, _): &&Candidate| word.starts_with(&current);
    let lines = found.iter().filter(fits).map(|(word, help)| {
        let help = help.lines().next().unwrap_or_default();
        format!("{}\t{}\n", make_visible(word), make_visible(help))
    });
    print(&lines.collect::<String>())
}

/// A command line as far as it is written.
struct Line {
    global: Global,
    /// The options and operands that hold here.
    rows: Vec<&'static OptionRow>,
    commands: &'static [CommandRow],
    /// The option whose value comes next.
    open: Option<&'static OptionRow>,
    operands: usize,
    /// Has there been a `--`?
    only_operands: bool,
}

impl Line {
    fn new(global: Global) -> Line {
        let mut line = Line {
            global,
            rows: Vec::new(),
            commands: &[],
            open: None,
            operands: 0,
            only_operands: false,
        };
        line.enter(Cli::OPTIONS);
        line
    }

    /// Takes in what a command can be told.
    fn enter(&mut self, rows: &'static [OptionRow]) {
        for row in rows {
            match row.kind {
                ValueKind::Group(_, rows) => self.enter(rows),
                ValueKind::Commands(commands) => self.commands = commands,
                _ => self.rows.push(row),
            }
        }
    }

    /// The option of that name, which is written with its dashes.
    fn option(&self, word: &str) -> Option<&'static OptionRow> {
        let short = |more: &More| matches!(more, More::Short(one) if word.chars().eq(['-', *one]));
        let is = |row: &&&OptionRow| match word.strip_prefix("--") {
            Some(name) => !is_operand(row) && row.id.replace('_', "-") == name,
            None => row.more.iter().any(short),
        };
        self.rows.iter().find(is).copied()
    }

    /// A whole word.
    fn read(&mut self, word: &str) {
        if let Some(row) = self.open.take() {
            self.take(row, word);
        } else if self.only_operands || !word.starts_with('-') || word == "-" {
            self.read_operand(word);
        } else if word == "--" {
            self.only_operands = true;
        } else {
            let (name, value) = word.split_once('=').map_or((word, None), |(n, v)| (n, Some(v)));
            match (self.option(name), value) {
                (Some(row), Some(value)) => self.take(row, value),
                (Some(row), None) if needs_value(row) => self.open = Some(row),
                _ => {}
            }
        }
    }

    fn read_operand(&mut self, word: &str) {
        let Some(command) = self.commands.iter().find(|row| row.name == word) else {
            self.operands += usize::from(word != "help");
            return;
        };
        self.rows.retain(|row| row.more.iter().any(|more| matches!(more, More::Global)));
        self.commands = &[];
        self.enter(command.options);
    }

    /// Where the rule files are that ids come from.
    fn take(&mut self, row: &OptionRow, value: &str) {
        match row.id {
            "config" => self.global.config = Some(PathBuf::from(value)),
            "state" => self.global.state = Some(PathBuf::from(value)),
            _ => {}
        }
    }

    fn candidates(self, current: &str) -> Vec<Candidate> {
        if let Some(row) = self.open {
            return self.values(row, "", current);
        }
        if current.starts_with('-') && !self.only_operands {
            return match current.split_once('=') {
                Some((name, value)) => match self.option(name) {
                    Some(row) => self.values(row, &format!("{name}="), value),
                    None => Vec::new(),
                },
                None => self.options(),
            };
        }
        let mut found: Vec<Candidate> = self
            .commands
            .iter()
            .filter(|row| row.form == CommandForm::Listed || row.name == "serve")
            .map(|row| (row.name.to_string(), sentence(row.about)))
            .collect();
        let operands: Vec<&OptionRow> =
            self.rows.iter().copied().filter(|row| is_operand(row)).collect();
        let last = operands.len().saturating_sub(1);
        match operands.get(self.operands.min(last)).copied() {
            Some(row) => found.extend(self.values(row, "", current)),
            None if found.is_empty() => found = self.options(),
            None => {}
        }
        found
    }

    fn options(&self) -> Vec<Candidate> {
        let shown = |row: &&&OptionRow| {
            !is_operand(row) && !row.more.iter().any(|more| matches!(more, More::Hidden))
        };
        let name = |row: &&OptionRow| format!("--{}", row.id.replace('_', "-"));
        let mut all: Vec<Candidate> =
            self.rows.iter().filter(shown).map(|row| (name(row), sentence(row.help))).collect();
        all.push(("--help".into(), "Print help".into()));
        all
    }

    /// What the option or operand can be; `before` is what stands in the same word.
    fn values(self, row: &OptionRow, before: &str, current: &str) -> Vec<Candidate> {
        let list = row.more.iter().any(|more| matches!(more, More::Commas));
        let comma = current.rfind(',').filter(|_| list).map_or(0, |at| at + 1);
        let before = format!("{before}{}", &current[..comma]);
        let words: Vec<Candidate> = match row.kind {
            ValueKind::Choice(words) => {
                words.iter().map(|(word, help)| ((*word).into(), sentence(help))).collect()
            }
            ValueKind::Text | ValueKind::Texts => self.named(row.id),
            _ => Vec::new(),
        };
        words.into_iter().map(|(word, help)| (format!("{before}{word}"), help)).collect()
    }

    /// What has a name: agents, events, rules, packs, servers.
    fn named(self, id: &str) -> Vec<Candidate> {
        match id {
            "agent" | "names" => {
                AGENTS.iter().map(|agent| (agent.id().into(), agent.title().into())).collect()
            }
            "event" | "events" => {
                Kind::ALL.iter().map(|kind| (kind.name().into(), String::new())).collect()
            }
            "decision" => plain(DECISIONS),
            "tool" => plain(TOOLS),
            "since" | "duration" => plain(TIMES),
            "marks" => {
                Mark::NAMES.iter().map(|(name, _)| ((*name).into(), String::new())).collect()
            }
            "from" => plain(&["claude"]),
            "to" => plain(&["cline"]),
            "id" => shipped_packs().chain(shipped_rules()).collect(),
            "rule" => self.own_names(own_rules).into_iter().chain(shipped_rules()).collect(),
            "name" => self.own_names(own_servers),
            _ => Vec::new(),
        }
    }

    /// What the rule files name; nothing where they cannot be read.
    fn own_names(self, names: fn(&Config) -> Vec<Candidate>) -> Vec<Candidate> {
        let global = Global { color: Color::Never, ..self.global };
        let Ok(context) = Context::from_global(global) else { return Vec::new() };
        names(&Config::load(&context.paths, &context.root, None))
    }
}

fn plain(words: &[&str]) -> Vec<Candidate> {
    words.iter().map(|word| ((*word).into(), String::new())).collect()
}

fn shipped_packs() -> impl Iterator<Item = Candidate> {
    PACKS.iter().map(|(name, sentence)| ((*name).into(), (*sentence).into()))
}

fn shipped_rules() -> impl Iterator<Item = Candidate> {
    RULES.iter().map(|rule| (rule.id.into(), format!("pack {}", rule.pack)))
}

fn own_rules(config: &Config) -> Vec<Candidate> {
    let each = config.sources.iter().flat_map(|source| {
        let layer = source.layer.name();
        source.file.rules.iter().map(move |rule| (rule.id.to_string(), format!("{layer} rule")))
    });
    each.collect()
}

fn own_servers(config: &Config) -> Vec<Candidate> {
    let all = config.sources.iter().flat_map(|source| &source.file.remotes);
    all.map(|remote| (remote.name.to_string(), "server".into())).collect()
}

fn is_operand(row: &OptionRow) -> bool {
    row.more.iter().any(|more| matches!(more, More::Operand | More::Last | More::Rest))
}

fn needs_value(row: &OptionRow) -> bool {
    !matches!(row.kind, ValueKind::Flag)
        && !row.more.iter().any(|more| matches!(more, More::Missing(_)))
}

/// What a comment says.
fn sentence(comment: &str) -> String {
    comment.trim().trim_end_matches('.').to_string()
}
