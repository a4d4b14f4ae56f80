//! Taking arguments apart: bundles, glued and separate values, abbreviations, `--`.

use super::table::{
    Arity, Known, OptSpec, PLAIN, Program, Role, Special, find_program as find, has_below, mark,
    packed,
};
use crate::effect::host::connection_host;
use crate::effect::value::{Value, looks_like_path};
use crate::effect::{Arg, Opt, Word};
use crate::names::options::WORDS;

/// An option as it was found.
#[derive(Debug, Clone)]
pub struct ParsedOption {
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
    pub options: Vec<ParsedOption>,
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

impl ParsedOption {
    /// Is it that option, in any of its spellings?
    pub fn is_option(&self, name: &str) -> bool {
        let name = name.as_bytes();
        self.name.as_bytes() == name
            || self.names.as_bytes().split(|b| *b == b',').any(|own| own == name)
    }
}

impl Parsed {
    /// Is an option with that mark there?
    pub fn has_mark(&self, bit: u32) -> bool {
        self.options.iter().any(|o| o.spec.is_some_and(|s| s.marks & bit != 0))
    }

    /// Is that option there, in any of its spellings?
    pub fn find_option(&self, name: &str) -> Option<&ParsedOption> {
        self.options.iter().find(|option| option.is_option(name))
    }

    /// The options in the shape that rules are matched against.
    pub fn public_options(&self, args: &[Value]) -> Vec<Opt> {
        self.options
            .iter()
            .map(|o| Opt {
                name: o.name.clone(),
                aliases: o.names.split(',').filter(|n| !n.is_empty()).collect(),
                value: o.value.as_ref().map(Value::to_arg),
                at: o.at,
                harmless: o.spec.is_some_and(|s| is_meant_by_program(&s, o.value.as_ref())),
                span: args.get(o.at).map_or(0..0, |a| a.span.clone()),
            })
            .collect()
    }
}

impl Program {
    /// Is every option of it harmless?
    fn is_harmless(&self) -> bool {
        self.option_lines().all(|(_, rest)| is_harmless_spec(&packed::unpack_option(rest)))
    }
}

fn is_harmless_spec(spec: &OptSpec) -> bool {
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
                | Role::OwnCommand
                | Role::Joined
        )
}

/// Does an allow on the bare program mean the option as well? Not what changes or sends what the
/// program otherwise only reads, and no request or settings that come from a file or a URL.
fn is_meant_by_program(spec: &OptSpec, value: Option<&Value>) -> bool {
    let text = value.map(|v| v.text());
    is_harmless_spec(spec)
        && spec.marks & (mark::INPLACE | mark::SEND) == 0
        && match (spec.role, text) {
            // A reporter by its name is the program's own, one by its path is code.
            (Role::MaybeRead, Some(Some(text))) if !looks_like_path(text) => true,
            _ if spec.marks & mark::CHANGES != 0 => false,
            (Role::Upload, _) | (Role::Body, Some(None)) => false,
            (Role::Read, Some(Some(text))) if text.contains("://") => false,
            (Role::Body, Some(Some(text))) => body_file(text).is_none(),
            (Role::Source, Some(text)) => {
                text.is_some_and(|text| !text.contains("://") && connection_host(text).is_none())
            }
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
pub fn parse_arguments(name: &str, args: &[Value], own: &'static [Program]) -> Parsed {
    let mut parsed = Parsed { program: find(name, own), harmless: true, ..Parsed::default() };
    parsed.windows = parsed.program.is_some_and(|p| p.windows);
    let mut at = 0;
    // The words so far, under the program's own name and under that of its family.
    let family = parsed.program.map_or("", |p| p.family);
    let mut names: Vec<String> =
        [name, family].iter().filter(|n| !n.is_empty()).map(|n| (*n).to_string()).collect();
    loop {
        let row = parsed.program;
        at = parse_program_part(&mut parsed, args, at, row.is_some_and(|p| p.stop || p.sub));
        if !row.is_some_and(|p| p.sub) || at >= args.len() {
            break;
        }
        // Where the program has operands of its own, `--` says that they begin.
        if row.is_some_and(|p| p.operands_known)
            && at > 0
            && args[at - 1].plain_text() == Some("--")
        {
            parsed.operands.extend(at..args.len());
            break;
        }
        // The first operand is the sub-command, the next one may be part of it.
        parsed.operands.push(at);
        at += 1;
        let word = args[at - 1].plain_text();
        for name in &mut names {
            name.push(' ');
            name.push_str(word.unwrap_or_default());
        }
        let cut_short =
            || row.filter(|p| p.abbreviate && p.stop).and_then(|_| first_beginning(&names));
        if let Some(found) =
            word.and_then(|_| names.iter().find_map(|n| find(n, own)).or_else(cut_short))
        {
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
            // `dotenv rm -rf x`: the word that is no sub-command begins what the program runs.
            if !row.is_some_and(|p| p.stop && p.operands_known) {
                at = parse_program_part(&mut parsed, args, at, row.is_some_and(|p| p.stop));
            }
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
            parsed.operands[parsed.subs..].iter().map(|i| args[*i].plain_text()).collect();
        parsed.verb = program.verb_words(&operands);
        if parsed.verb.is_none() && !operands.is_empty() && program.special != Some(Special::Verbs)
        {
            parsed.harmless = false;
        }
    }
    parsed
}

/// The first row whose name begins so: a sub-command that is cut short.
fn first_beginning(names: &[String]) -> Option<&'static Program> {
    names.iter().find_map(|name| packed::find_beginning(name))
}

/// Is that a sub-command of the program, be it cut short?
pub fn is_sub_command(program: &str, word: &str) -> bool {
    !word.is_empty() && packed::find_beginning(&format!("{program} {word}")).is_some()
}

/// Does an option that no row names say by its name that its value is a program, or code that is loaded? Such a one is no
/// harmless text.
fn names_program(name: &str) -> bool {
    name.starts_with("--") && name.rsplit(['-', '.']).any(|word| WORDS.contains(&word))
}

/// One program's own part; returns where it stopped.
fn parse_program_part(parsed: &mut Parsed, args: &[Value], from: usize, stop: bool) -> usize {
    let program = parsed.program;
    let mut at = from;
    let mut ended = false;
    let mut handed = false;
    while at < args.len() {
        let arg = &args[at];
        if ended || !is_option(program, arg.known_start()) {
            if !ended && may_hold_options(program, arg) {
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
        at += parse_option(parsed, program, args, at);
        if handed {
            // `cargo fmt -- --check`
            let writes = program.is_some_and(|p| matches!(p.repeat, Role::Edit | Role::EditTree));
            hand_on(parsed, before, if writes { mark::DRY } else { 0 });
        }
        let marks = parsed.options.last().and_then(|o| o.spec).map_or(0, |s| s.marks);
        if marks & mark::END != 0 {
            parsed.operands.extend(at..args.len());
            return args.len();
        }
        // `find -exec CMD ;`: the command's own words are not find's options.
        if marks & mark::SPARE != 0 && program.is_some_and(|p| p.special == Some(Special::Find)) {
            let ends = |arg: &Value| matches!(arg.plain_text(), Some(";" | "+"));
            let rest = args.get(at..).unwrap_or_default();
            at = rest.iter().position(ends).map_or(args.len(), |n| at + n + 1);
        }
    }
    at
}

/// Is the word one or several options to that program?
fn is_option(program: Option<&'static Program>, text: &str) -> bool {
    (text.starts_with('-') || text.starts_with(['+', '@']) && is_plus_option(program, text))
        && text != "-"
}

/// Does the text name a file or an address, whatever it is given to?
fn names_place(text: &str) -> bool {
    text.starts_with(['/', '~', '@', '.']) || text.contains("://") || text.contains("..")
}

/// A word of which nothing is known may be one option or several, unless any that there is does no harm.
fn may_hold_options(program: Option<&'static Program>, arg: &Value) -> bool {
    let any = || program.is_some_and(|p| p.complete && p.free && !p.sub && p.is_harmless());
    arg.text().is_none() && arg.known_start().is_empty() && !arg.is_pipe() && !any()
}

/// Options that a program hands on to what it runs are not its own: `--help` of the tests does not
/// stop `cargo test --` from building, `-C` leads nowhere. The mark `kept` holds behind `--` as well.
fn hand_on(parsed: &mut Parsed, from: usize, kept: u32) {
    for found in &mut parsed.options[from..] {
        let Some(spec) = &mut found.spec else { continue };
        // What such an option changes hangs on its value, which is looked at below.
        let by_value = if spec.role == Role::MaybeRead { mark::CHANGES } else { 0 };
        if spec.marks & !(mark::ONLY | mark::EACH | by_value | kept) == 0 && spec.effect.is_none() {
            spec.marks &= kept;
            // To what runs it may be a file, and code.
            if matches!(spec.role, Role::Text | Role::MaybeRead) {
                let value = found.value.as_ref().and_then(Value::plain_text);
                // Nobody names the root where a file is wanted.
                let code = value.is_some_and(|t| looks_like_path(t) && t != "/");
                spec.role = if code { Role::Runs } else { Role::MaybeRead };
            }
        } else {
            found.spec = None;
            parsed.harmless = false;
        }
    }
}

fn is_plus_option(program: Option<&'static Program>, text: &str) -> bool {
    program.is_some_and(|p| {
        p.option_lines().any(|(names, _)| names.split(',').any(|n| text.starts_with(n)))
    })
}

/// One argument that is an option or a bundle; returns how many arguments it takes.
fn parse_option(
    parsed: &mut Parsed,
    program: Option<&'static Program>,
    args: &[Value],
    at: usize,
) -> usize {
    let arg = &args[at];
    let taken = Taken { program, global: parsed.global, arg, next: args.get(at + 1), at };
    let text = arg.known_start();
    let single = taken.any(|row| row.single);
    let (name, glued) = match text.find('=') {
        Some(eq) if text.starts_with("--") || single || program.is_none() => {
            (&text[..eq], Some(eq + 1))
        }
        _ => (text, None),
    };
    // `@file`: more options stand there.
    if text.starts_with('@')
        && let Some(known) = taken.known("@")
    {
        taken.push(parsed, "@", Some(known), Some(arg.skip_bytes(1)));
        return 1;
    }
    let open = arg.text().is_none() && !text.contains('=');
    if glued.is_none() && (open || text.strip_prefix('-') == Some(crate::glob::SOME_NUMBER)) {
        // `-$x`, `-$PPID` or `--opt$x`: nobody knows which.
        taken.push(parsed, name, None, None);
        return 1;
    }
    // Go's flags take one dash or two.
    let shorter = || name.strip_prefix('-').filter(|n| single && n.len() > 2);
    let exact = taken.known(name).or_else(|| taken.known(shorter()?));
    // Sub-commands all have it, whether a table says so or not; nothing is allowed by that.
    let last = taken.next.is_none();
    if exact.is_none() && taken.is_sub(parsed) && (text == "--help" || text == "-h" && last) {
        let marks = mark::ONLY | mark::UNSAFE;
        taken.push(parsed, name, Some(Known { names: "", spec: OptSpec { marks, ..PLAIN } }), None);
        return 1;
    }
    let whole = text.starts_with("--") || single || program.is_none() && glued.is_some();
    match whole || exact.is_some() && glued.is_none() {
        true => taken.long(parsed, name, exact, glued),
        false => taken.bundle(parsed, text),
    }
}

/// An argument that is taken apart, and the rows that may name what stands in it.
struct Taken<'a> {
    program: Option<&'static Program>,
    global: Option<&'static Program>,
    arg: &'a Value,
    next: Option<&'a Value>,
    at: usize,
}

impl Taken<'_> {
    fn any(&self, says: fn(&Program) -> bool) -> bool {
        self.program.is_some_and(says) || self.global.is_some_and(says)
    }

    /// Does it stand behind a sub-command?
    fn is_sub(&self, parsed: &Parsed) -> bool {
        let verbs = |row: &Program| row.special == Some(Special::Verbs) || !row.verbs.is_empty();
        parsed.subs > 0 || self.any(verbs) && !parsed.operands.is_empty()
    }

    /// The option of that exact spelling.
    fn known(&self, name: &str) -> Option<Known> {
        let own = self.program.and_then(|row| row.find_option(name));
        own.or_else(|| self.global.and_then(|row| row.find_option(name)))
    }

    /// What an option that no row names is to a program that takes any.
    fn free(&self, name: &str) -> Option<Known> {
        let marks = if names_program(name) { mark::UNSAFE } else { 0 };
        let free = self.any(|row| row.free);
        free.then_some(Known { names: "", spec: OptSpec { marks, ..PLAIN } })
    }

    fn push(&self, parsed: &mut Parsed, name: &str, known: Option<Known>, value: Option<Value>) {
        let mut spec = known.map(|known| known.spec);
        // A value that becomes several words may bring options along.
        let splits = value.as_ref().is_some_and(|v| v.text().is_none() && v.may_be_several());
        // Where all else is told of a program with sub-commands, an option that no row names is text as long as its
        // value names no file and no address.
        let guessed = known.is_some_and(|known| known.names.is_empty())
            && self.any(|row| row.free && row.sub && row.complete)
            && value.as_ref().is_some_and(|value| names_place(value.known_start()));
        if let Some(spec) = spec.as_mut().filter(|_| guessed) {
            spec.marks |= mark::CHANGES;
        }
        if splits || spec.is_none_or(|s| !is_harmless_spec(&s)) {
            parsed.harmless = false;
        }
        let names = known.map_or("", |known| known.names);
        parsed.options.push(ParsedOption {
            name: name.to_string(),
            names,
            spec,
            value,
            at: self.at,
        });
    }

    /// The option takes the next argument, where there is one.
    fn push_next(&self, parsed: &mut Parsed, name: &str, known: Option<Known>) -> usize {
        self.push(parsed, name, known, self.next.cloned());
        1 + usize::from(self.next.is_some())
    }

    /// The next argument may be the value of an option that nobody knows.
    fn doubt(&self, parsed: &mut Parsed) {
        if self.next.is_some_and(|v| !v.known_start().starts_with('-')) {
            parsed.doubtful.push(self.at + 1);
        }
    }

    /// An option that is the whole argument, up to its `=`.
    fn long(
        &self,
        parsed: &mut Parsed,
        name: &str,
        exact: Option<Known>,
        glued: Option<usize>,
    ) -> usize {
        let long = self.program.filter(|_| name.starts_with("--"));
        let Some(known) = exact.or_else(|| long?.find_abbreviated(name)) else {
            self.strange(parsed, name, glued);
            return 1;
        };
        let value = glued.map(|n| self.arg.skip_bytes(n));
        // `--force=false`, `--dry-run=none`: as if it were not there.
        let off = matches!(value.as_ref().and_then(Value::plain_text), Some("false" | "none"));
        if off && (known.spec.arity == Arity::None || known.spec.marks & mark::DRY != 0) {
            return 1;
        }
        if known.spec.arity == Arity::Value && value.is_none() {
            return self.push_next(parsed, name, Some(known));
        }
        self.push(parsed, name, Some(known), value);
        1
    }

    /// One that no row has, but perhaps takes another back.
    fn strange(&self, parsed: &mut Parsed, name: &str, glued: Option<usize>) {
        if let Some(known) =
            self.program.and_then(|p| p.taken_back(name)).filter(|_| glued.is_none())
        {
            self.push(parsed, name, Some(Known { names: "", spec: PLAIN }), None);
            return parsed.options.retain(|o| o.names != known.names);
        }
        self.push(parsed, name, self.free(name), glued.map(|n| self.arg.skip_bytes(n)));
        if glued.is_none() {
            self.doubt(parsed);
        }
    }

    /// A bundle of letters.
    fn bundle(&self, parsed: &mut Parsed, text: &str) -> usize {
        let letters = || text.char_indices().skip(1);
        let sign = &text[..1];
        if self.program.is_none() && letters().nth(1).is_some() {
            self.push(parsed, text, None, None);
        }
        let free = self.free(text);
        for (offset, letter) in letters() {
            if text[1..offset].contains(letter) {
                // `-vvv` says one thing: each letter is told once, so that a bundle of thousands costs nothing.
                continue;
            }
            let name = format!("{sign}{letter}");
            let known = self.known(&name).or(free);
            let after = offset + letter.len_utf8();
            let arity = known.map_or(Arity::None, |known| known.spec.arity);
            if arity != Arity::None && (after < text.len() || self.arg.text().is_none()) {
                self.push(parsed, &name, known, Some(self.glued(text, after, arity)));
                return 1;
            }
            if arity == Arity::Value {
                return self.push_next(parsed, &name, known);
            }
            self.push(parsed, &name, known, None);
            if after == text.len() && known.is_none_or(|known| known.names.is_empty()) {
                self.doubt(parsed);
            }
        }
        1
    }

    /// The value behind a letter: `-o=x` is "=x" to getopt; both readings name the same file for a rule.
    fn glued(&self, text: &str, after: usize, arity: Arity) -> Value {
        let sign =
            arity == Arity::Value && text[after..].starts_with('=') && text.len() > after + 1;
        self.arg.skip_bytes(after + usize::from(sign))
    }
}

/// The arguments in the shape that rules are matched against.
pub fn public_args(args: &[Value]) -> Vec<Arg> {
    args.iter().map(Value::to_arg).collect()
}
