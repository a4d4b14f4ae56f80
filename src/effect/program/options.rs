//! Taking arguments apart: bundles, glued and separate values, abbreviations, `--`.

use super::table::{
    Arity, Known, OptSpec, PLAIN, Program, Role, Special, has_below, mark, packed, program as find,
};
use crate::effect::names::options::WORDS;
use crate::effect::value::{Value, looks_like_path};
use crate::effect::{Arg, Opt, Word};

/// An option as it was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its name as spelled.
    pub name: String,
    /// All its spellings, separated by commas, where the table has it.
    pub names: &'static str,
    /// Its row, where the table has one.
    pub spec: Option<OptSpec>,
    /// Its value.
    pub value: Option<Value>,
    /// The argument it stands in.
    pub at: usize,
}

/// Arguments taken apart.
#[derive(Debug, Clone, Default)]
pub struct Parsed {
    /// The row that says most: of the sub-command, where there is one.
    pub program: Option<&'static Program>,
    /// The options in order.
    pub options: Vec<Found>,
    /// Indexes of operands.
    pub operands: Vec<usize>,
    /// How many of `operands` name the sub-command.
    pub subs: usize,
    /// The row above whose options may stand behind its sub-commands.
    pub global: Option<&'static Program>,
    /// What the table says that the first operands mean.
    pub verb: Option<Vec<Word>>,
    /// Operands that may be an unknown option's value.
    pub doubtful: Vec<usize>,
    /// The program is one of Windows.
    pub windows: bool,
    /// Every option is known and harmless, every argument that could be an option is known.
    pub harmless: bool,
}

impl Found {
    /// Is it that option, in any of its spellings?
    pub fn is(&self, name: &str) -> bool {
        let name = name.as_bytes();
        self.name.as_bytes() == name
            || self.names.as_bytes().split(|b| *b == b',').any(|own| own == name)
    }
}

impl Parsed {
    /// Is an option with that mark there?
    pub fn has(&self, bit: u32) -> bool {
        self.options.iter().any(|o| o.spec.is_some_and(|s| s.marks & bit != 0))
    }

    /// Is that option there, in any of its spellings?
    pub fn option(&self, name: &str) -> Option<&Found> {
        self.options.iter().find(|option| option.is(name))
    }

    /// The options in the shape that rules are matched against.
    pub fn public(&self, args: &[Value]) -> Vec<Opt> {
        self.options
            .iter()
            .map(|o| Opt {
                name: o.name.clone(),
                aliases: o.names.split(',').filter(|n| !n.is_empty()).collect(),
                value: o.value.as_ref().map(Value::arg),
                at: o.at,
                harmless: o.spec.is_some_and(|s| meant(&s, o.value.as_ref())),
                span: args.get(o.at).map_or(0..0, |a| a.span.clone()),
            })
            .collect()
    }
}

impl Program {
    /// Is every option of it harmless?
    fn is_harmless(&self) -> bool {
        self.lines().all(|(_, rest)| harmless(&packed::option(rest)))
    }
}

fn harmless(spec: &OptSpec) -> bool {
    // `--force` that is an effect of its own: an allow on the plain command does not mean it.
    spec.effect.is_none()
        && spec.marks & (mark::UNSAFE | mark::SCRIPT | mark::MODULE | mark::STDIN) == 0
        && !matches!(
            spec.role,
            Role::Program
                | Role::Filter
                | Role::Script
                | Role::Code
                | Role::Run
                | Role::Command
                | Role::Joined
        )
}

/// Does an allow on the bare program mean the option as well? Not what changes or sends what the
/// program otherwise only reads, and no request or settings that come from a file or a URL.
fn meant(spec: &OptSpec, value: Option<&Value>) -> bool {
    let text = value.map(|v| v.text());
    harmless(spec)
        && spec.marks & (mark::INPLACE | mark::SEND) == 0
        && match (spec.role, text) {
            // A reporter by its name is the program's own, one by its path is code.
            (Role::MaybeRead, Some(Some(text))) if !looks_like_path(text) => true,
            _ if spec.marks & mark::CHANGES != 0 => false,
            (Role::Upload, _) | (Role::Body, Some(None)) => false,
            (Role::Read, Some(Some(text))) if text.contains("://") => false,
            (Role::Body, Some(Some(text))) => body_file(text).is_none(),
            (Role::Source, Some(text)) => text.is_some_and(|text| !text.contains("://")),
            _ => true,
        }
}

/// The file that a request's body names: `@file`, `name=@file`, `name=<file`.
pub fn body_file(text: &str) -> Option<&str> {
    text.strip_prefix('@')
        .or_else(|| text.split_once("=@").map(|(_, f)| f))
        .or_else(|| text.split_once("=<").map(|(_, f)| f))
}

/// Takes the arguments of a program apart, its sub-commands included. `own`: the user's tables.
pub fn parse(name: &str, args: &[Value], own: &'static [Program]) -> Parsed {
    let mut parsed = Parsed { program: find(name, own), harmless: true, ..Parsed::default() };
    parsed.windows = parsed.program.is_some_and(|p| p.windows);
    let mut at = 0;
    // The words so far, under the program's own name and under that of its family.
    let family = parsed.program.map_or("", |p| p.family);
    let mut names: Vec<String> =
        [name, family].iter().filter(|n| !n.is_empty()).map(|n| (*n).to_string()).collect();
    loop {
        let row = parsed.program;
        at = piece(&mut parsed, args, at, row.is_some_and(|p| p.stop || p.sub));
        if !row.is_some_and(|p| p.sub) || at >= args.len() {
            break;
        }
        // Where the program has operands of its own, `--` says that they begin.
        if row.is_some_and(|p| p.operands_known) && at > 0 && args[at - 1].plain() == Some("--") {
            parsed.operands.extend(at..args.len());
            break;
        }
        // The first operand is the sub-command, the next one may be part of it.
        parsed.operands.push(at);
        at += 1;
        let word = args[at - 1].plain();
        for name in &mut names {
            name.push(' ');
            name.push_str(word.unwrap_or_default());
        }
        if let Some(found) = word.and_then(|_| names.iter().find_map(|n| find(n, own))) {
            parsed.subs = parsed.operands.len();
            parsed.global = row.filter(|p| p.global).or(parsed.global);
            parsed.program = Some(found);
        } else if word.is_none() || !names.iter().any(|n| has_below(n, own)) {
            // A row with operands speaks for the sub-commands that have no row.
            if row.is_none_or(|p| !p.operands_known) {
                parsed.subs = parsed.operands.len();
                parsed.program = None;
                parsed.harmless = false;
            }
            at = piece(&mut parsed, args, at, row.is_some_and(|p| p.stop));
            break;
        }
    }
    let Some(program) = parsed.program else { return parsed };
    // A stopped program's other words are operands as well.
    if program.stop && at < args.len() {
        parsed.operands.extend(at..args.len());
    }
    if !program.verbs.is_empty() {
        let operands: Vec<Option<&str>> =
            parsed.operands[parsed.subs..].iter().map(|i| args[*i].plain()).collect();
        parsed.verb = program.verb(&operands);
        if parsed.verb.is_none() && !operands.is_empty() && program.special != Some(Special::Verbs)
        {
            parsed.harmless = false;
        }
    }
    parsed
}

/// Does an option that no row names say by its name that its value is a program, or code that is loaded? Such a one is no
/// harmless text.
fn names_program(name: &str) -> bool {
    name.starts_with("--") && name.rsplit(['-', '.']).any(|word| WORDS.contains(&word))
}

/// One program's own part; returns where it stopped.
fn piece(parsed: &mut Parsed, args: &[Value], from: usize, stop: bool) -> usize {
    let program = parsed.program;
    let mut at = from;
    let mut ended = false;
    let mut handed = false;
    while at < args.len() {
        let arg = &args[at];
        let text = arg.start();
        if ended
            || !(text.starts_with('-') || text.starts_with(['+', '@']) && plus(program, text))
            || text == "-"
        {
            // A word known only at run time may be an option.
            let any = || program.is_some_and(|p| p.complete && p.free && p.is_harmless());
            if !ended && arg.text().is_none() && text.is_empty() && !arg.is_pipe() && !any() {
                parsed.harmless = false;
            }
            if stop {
                return at;
            }
            parsed.operands.push(at);
            at += 1;
            continue;
        }
        if arg.text() == Some("--") {
            handed = program.is_some_and(|p| p.through);
            ended = !handed;
            at += 1;
            if stop {
                return at;
            }
            continue;
        }
        let before = parsed.options.len();
        let used = one(parsed, program, args, at);
        if handed {
            hand_on(parsed, before);
        }
        if parsed.options.last().is_some_and(|o| o.spec.is_some_and(|s| s.marks & mark::END != 0)) {
            parsed.operands.extend(at + used..args.len());
            return args.len();
        }
        at += used;
        // `find -exec CMD ;`: the command's own words are not find's options.
        let command = parsed
            .options
            .last()
            .is_some_and(|o| o.spec.is_some_and(|s| s.marks & mark::SPARE != 0));
        if command && program.is_some_and(|p| p.special == Some(Special::Find)) {
            while at < args.len() {
                at += 1;
                if matches!(args[at - 1].plain(), Some(";" | "+")) {
                    break;
                }
            }
        }
    }
    at
}

/// Options that a program hands on to what it runs are not its own: `--help` of the tests does not
/// stop `cargo test --` from building, `-C` leads nowhere.
fn hand_on(parsed: &mut Parsed, from: usize) {
    for found in &mut parsed.options[from..] {
        let Some(spec) = &mut found.spec else { continue };
        if spec.marks & !(mark::ONLY | mark::EACH) == 0 && spec.effect.is_none() {
            spec.marks = 0;
            // To what runs it may be a file.
            if spec.role == Role::Text {
                spec.role = Role::MaybeRead;
            }
        } else {
            found.spec = None;
            parsed.harmless = false;
        }
    }
}

fn plus(program: Option<&'static Program>, text: &str) -> bool {
    program
        .is_some_and(|p| p.lines().any(|(names, _)| names.split(',').any(|n| text.starts_with(n))))
}

/// One argument that is an option or a bundle; returns how many arguments it takes.
fn one(parsed: &mut Parsed, program: Option<&'static Program>, args: &[Value], at: usize) -> usize {
    let arg = &args[at];
    let global = parsed.global;
    let text = arg.start().to_string();
    let single = program.is_some_and(|p| p.single) || global.is_some_and(|p| p.single);
    let (name, glued) = match text.find('=') {
        Some(eq) if text.starts_with("--") || single || program.is_none() => {
            (&text[..eq], Some(eq + 1))
        }
        _ => (text.as_str(), None),
    };
    let mut push = |name: &str, known: Option<Known>, value: Option<Value>| {
        let spec = known.map(|known| known.spec);
        // A value that becomes several words may bring options along.
        let splits = value.as_ref().is_some_and(|v| v.text().is_none() && v.several());
        if splits || spec.is_none_or(|s| !harmless(&s)) {
            parsed.harmless = false;
        }
        let names = known.map_or("", |known| known.names);
        parsed.options.push(Found { name: name.to_string(), names, spec, value, at });
    };
    let next = args.get(at + 1);
    let spelled = |name: &str| {
        program.and_then(|p| p.option(name)).or_else(|| global.and_then(|p| p.option(name)))
    };
    // `@file`: more options stand there.
    if text.starts_with('@')
        && let Some(known) = spelled("@")
    {
        push("@", Some(known), Some(arg.rest(1)));
        return 1;
    }
    // Go's flags take one dash or two.
    let exact = spelled(name)
        .or_else(|| name.strip_prefix('-').filter(|n| single && n.len() > 2).and_then(spelled));
    let free = program.is_some_and(|p| p.free) || global.is_some_and(|p| p.free);
    let marks = if names_program(name) { mark::UNSAFE } else { 0 };
    let free = free.then_some(Known { names: "", spec: OptSpec { marks, ..PLAIN } });
    let long = program.filter(|_| name.starts_with("--"));
    let whole = exact.or_else(|| long.and_then(|p| p.abbreviated(name)));
    if arg.text().is_none() && glued.is_none() && !text.contains('=') {
        // `-$x` or `--opt$x`: nobody knows which.
        push(name, None, None);
        return 1;
    }
    let apart = program.is_none() && glued.is_some();
    if text.starts_with("--") || single || apart || exact.is_some() && glued.is_none() {
        let Some(known) = whole else {
            let back = program.and_then(|p| p.taken_back(name)).filter(|_| glued.is_none());
            if let Some(known) = back {
                push(name, Some(Known { names: "", spec: PLAIN }), None);
                parsed.options.retain(|o| o.names != known.names);
                return 1;
            }
            push(name, free, glued.map(|n| arg.rest(n)));
            if glued.is_none() && next.is_some_and(|v| !v.start().starts_with('-')) {
                parsed.doubtful.push(at + 1);
            }
            return 1;
        };
        let value = glued.map(|n| arg.rest(n));
        // `--force=false`, `--dry-run=none`: as if it were not there.
        if value.as_ref().and_then(Value::plain).is_some_and(|v| matches!(v, "false" | "none"))
            && (known.spec.arity == Arity::None || known.spec.marks & mark::DRY != 0)
        {
            return 1;
        }
        if known.spec.arity == Arity::Value && value.is_none() {
            push(name, Some(known), next.cloned());
            return if next.is_some() { 2 } else { 1 };
        }
        push(name, Some(known), value);
        return 1;
    }
    // A bundle of letters.
    let letters: Vec<(usize, char)> = text.char_indices().skip(1).collect();
    let sign = &text[..1];
    if program.is_none() && letters.len() > 1 {
        push(&text, None, None);
    }
    for (i, (offset, letter)) in letters.iter().enumerate() {
        if text[1..*offset].contains(*letter) {
            // `-vvv` says one thing: each letter is told once, so that a bundle of thousands costs nothing.
            continue;
        }
        let name = format!("{sign}{letter}");
        let spec = spelled(&name).or(free);
        let after = offset + letter.len_utf8();
        let rest = after < text.len() || arg.text().is_none();
        match spec.map(|known| known.spec.arity) {
            Some(Arity::Value) if rest => {
                let glued = if text[after..].starts_with('=') && text.len() > after + 1 {
                    // `-o=x` is "=x" to getopt; both readings name the same file for a rule.
                    after + 1
                } else {
                    after
                };
                push(&name, spec, Some(arg.rest(glued)));
                return 1;
            }
            Some(Arity::Value) => {
                push(&name, spec, next.cloned());
                return if next.is_some() { 2 } else { 1 };
            }
            Some(Arity::Optional) if rest => {
                push(&name, spec, Some(arg.rest(after)));
                return 1;
            }
            _ => push(&name, spec, None),
        }
        let last = i + 1 == letters.len();
        let named = spec.is_some_and(|s| !s.names.is_empty());
        if last && !named && next.is_some_and(|v| !v.start().starts_with('-')) {
            parsed.doubtful.push(at + 1);
        }
    }
    1
}

/// The arguments in the shape that rules are matched against.
pub fn public_args(args: &[Value]) -> Vec<Arg> {
    args.iter().map(Value::arg).collect()
}
