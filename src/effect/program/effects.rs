//! From a program's row and its arguments to effects.

use std::ops::Range;

use super::options::Parsed;
use super::table::{Program, Role, mark};
use super::{code, special};
use crate::effect::path::{self, split};
use crate::effect::value::{BLANK, Emitter, Printer, Spot, Value, host_of, looks_like_path};
use crate::effect::{Extent, Grade, Source, Word};

/// What has to be run in turn.
#[derive(Debug, Clone)]
pub enum Next {
    /// These words are a command. `remote` = elsewhere, `clean` = without a function or alias of
    /// the call, `cwd` = there.
    Words {
        /// The program and its arguments.
        words: Vec<Value>,
        /// The directory, where it is another one.
        cwd: Option<Value>,
        /// Its operands are repeated for what standard input names (xargs, parallel).
        feeds: bool,
    },
    /// These words are a command that runs for every line of standard input, which `token` stands
    /// for; without one they are shell text with parallel's own marks.
    Each {
        /// The program and its arguments.
        words: Vec<Value>,
        /// What is replaced.
        token: Option<String>,
    },
    /// Shell text, with its `$0`, `$1` ... where they are known.
    Script {
        /// The text.
        text: Value,
        /// `$0` and on.
        rest: Vec<Value>,
    },
    /// Shell text whose standard input comes from somebody else: `nc -e sh`, `socat TCP:h:1 EXEC:sh`.
    Fed {
        /// The text.
        text: Value,
    },
    /// An interpreter that reads its program from standard input.
    Stdin {
        /// Its language.
        lang: &'static str,
    },
    /// A script file that an interpreter runs.
    File {
        /// The file.
        file: Value,
        /// The interpreter's language, empty for the file itself.
        lang: &'static str,
    },
}

/// One program call.
#[derive(Debug)]
pub struct Call<'a> {
    /// The basename.
    pub name: &'a str,
    /// The arguments.
    pub args: &'a [Value],
    /// The same taken apart.
    pub parsed: &'a Parsed,
    /// Its bytes.
    pub span: Range<usize>,
    /// Does something come in on its standard input that does not stand in the call?
    pub fed: bool,
}

impl Call<'_> {
    /// The operands behind the sub-command.
    pub fn operands(&self) -> Vec<Value> {
        self.parsed.operands[self.parsed.subs..].iter().map(|i| self.args[*i].clone()).collect()
    }
}

/// Emits the effects of a call; what it runs in turn is handed back.
pub fn run(out: &mut Emitter, call: &Call) -> Vec<Next> {
    let mut next = Vec::new();
    special::common(out, call);
    let Some(program) = call.parsed.program else {
        let verb = call.parsed.subs.checked_sub(1).map(|at| &call.args[call.parsed.operands[at]]);
        if let Some(verb) = verb.filter(|verb| verb.text.is_none()) {
            out.unknown("a sub-command known only at run time", verb.span.clone());
        }
        opaque(out, call);
        return next;
    };
    if call.parsed.has(mark::ONLY) {
        return next;
    }
    if program.sub
        && let Some(at) = call.parsed.operands.get(call.parsed.subs)
        && call.args[*at].text.is_none()
    {
        out.unknown("a sub-command known only at run time", call.args[*at].span.clone());
    }
    let home = out.cwd.clone();
    let from = out.analysis.effects.len();
    for option in &call.parsed.options {
        let Some(spec) = option.spec else { continue };
        // tar names its archive from where it starts: it goes there itself.
        if spec.marks & mark::CHDIR != 0
            && program.special != "tar"
            && let Some(value) = &option.value
        {
            chdir(out, value);
        }
    }
    let dry = call.parsed.has(mark::DRY);
    for word in program.effects {
        if matches!(word, Word::Network | Word::Send) || dry && *word != Word::Execute {
            continue;
        }
        out.push(*word, Grade::Certain, Source::Program, call.span.clone());
    }
    for word in call.parsed.verb.iter().flatten() {
        let said = matches!(word, Word::Network | Word::Send);
        if !said && !dry {
            out.push(*word, Grade::Certain, Source::Program, call.span.clone());
        }
    }
    for (bit, word) in [(mark::PRIVILEGE, Word::Privilege), (mark::SYSTEM, Word::System)] {
        if call.parsed.has(bit) && !dry {
            out.push(word, Grade::Certain, Source::Program, call.span.clone());
        }
    }
    for option in &call.parsed.options {
        if let Some(word) = option.spec.and_then(|spec| spec.effect).filter(|_| !dry) {
            let span = call.args.get(option.at).map_or(call.span.clone(), |a| a.span.clone());
            out.push(word, Grade::Certain, Source::Program, span);
        }
        match (option.spec, &option.value) {
            (Some(spec), Some(value)) => {
                role(out, call, spec.role, value, dry, &mut next);
            }
            // An option that nobody knows: its value may be a path.
            (None, Some(value)) => maybe_path(out, value),
            _ => {}
        }
    }
    for at in &call.parsed.doubtful {
        if !program.free
            && !call.parsed.global.is_some_and(|p| p.free)
            && let Some(value) = call.args.get(*at)
            && value.text.as_deref().is_some_and(looks_like_path)
        {
            maybe_path(out, value);
        }
    }
    if !special::run(out, call, program, dry, &mut next) {
        operands(out, call, program, dry, &mut next);
    }
    // A host that is known says more than "some host", which would match every rule on hosts.
    for (word, there) in
        [(Word::Network, says(call, Word::Network)), (Word::Send, !dry && sends(call))]
    {
        if there && !out.analysis.effects[from..].iter().any(|e| e.word == word) {
            out.push(word, Grade::Certain, Source::Program, call.span.clone());
        }
    }
    out.cwd = home;
    next
}

/// Does data leave?
pub fn sends(call: &Call) -> bool {
    // With -G curl's data is the query of a GET; the content of a file leaves all the same.
    let file = |v: &Value| v.text.as_deref().is_none_or(|t| t.contains('@'));
    let query = call.name == "curl"
        && call.parsed.option("-G").is_some()
        && !call.parsed.options.iter().any(|o| o.value.as_ref().is_some_and(file));
    // With nothing on standard input it only shakes hands.
    let silent = !call.fed && call.parsed.program.is_some_and(|p| p.name == "openssl s_client");
    call.parsed.has(mark::SEND) && !query || says(call, Word::Send) && !silent
}

/// Does the row, or what it says of the first operands, name that effect?
pub fn says(call: &Call, word: Word) -> bool {
    call.parsed.program.is_some_and(|p| p.effects.contains(&word))
        || call.parsed.verb.as_ref().is_some_and(|verb| verb.contains(&word))
}

/// Goes to a directory, if it is known.
pub fn chdir(out: &mut Emitter, value: &Value) {
    out.cwd = match out.spot(value, Extent::Exact, false) {
        Spot::At(target) if target.extent == Extent::Exact => Some(target.lexical),
        _ => None,
    };
}

/// The operands by the roles of the row.
pub fn operands(
    out: &mut Emitter,
    call: &Call,
    program: &Program,
    dry: bool,
    next: &mut Vec<Next>,
) {
    let mut values = call.operands();
    let mut before: &[Role] = program.before;
    if call.parsed.has(mark::NO_FIRST) && !before.is_empty() {
        before = &before[1..];
    }
    if values.len() <= before.len()
        && !program.default.is_empty()
        && !before.contains(&Role::Command)
    {
        values.push(Value::known(program.default, call.span.clone()));
    }
    let last = if call.parsed.has(mark::TARGET) { None } else { program.last };
    let total = values.len();
    for (i, value) in values.iter().enumerate() {
        let kind = match before.get(i) {
            Some(role) => *role,
            None => match last {
                Some(last) if i + 1 == total && i > before.len().saturating_sub(1) => last,
                _ => program.repeat,
            },
        };
        match kind {
            Role::Command => {
                next.push(Next::Words {
                    words: values[i..].to_vec(),
                    cwd: out.cwd.clone().map(|c| Value::known(c, 0..0)),
                    feeds: false,
                });
                return;
            }
            Role::Joined => {
                next.push(joined(&values[i..]));
                return;
            }
            Role::Target => target(out, call, &values, value, dry),
            Role::Code => {
                code::emit(out, program.lang, value, next);
            }
            _ => role(out, call, kind, value, dry, next),
        }
    }
}

/// Words that a shell reads as one line (ssh, watch, eval).
pub fn joined(values: &[Value]) -> Next {
    let mut text = String::new();
    let span = match (values.first(), values.last()) {
        (Some(a), Some(b)) => a.span.start..b.span.end.max(a.span.start),
        _ => 0..0,
    };
    let mut known = true;
    let mut by = Printer::Nobody;
    for value in values {
        if !text.is_empty() {
            text.push(' ');
        }
        by = by.max(value.by);
        known &= value.text.is_some();
        match (&value.text, &value.outline) {
            // A glob's escapes are taken away before the text is read again.
            (Some(word), _) if value.glob => text.push_str(&path::unescaped(word)),
            (Some(word), _) | (None, Some(word)) => text.push_str(word),
            (None, None) => text.push(BLANK),
        }
    }
    let (text, outline) = if known { (Some(text), None) } else { (None, Some(text)) };
    let fed = by == Printer::Stranger;
    Next::Script {
        text: Value { text, outline, fed, by, span, ..Value::default() },
        rest: Vec::new(),
    }
}

fn tree(call: &Call) -> Extent {
    if call.parsed.has(mark::TREE) { Extent::Tree } else { Extent::Exact }
}

/// The effects of one value in one role.
pub fn role(
    out: &mut Emitter,
    call: &Call,
    kind: Role,
    value: &Value,
    dry: bool,
    next: &mut Vec<Next>,
) {
    let span = value.span.clone();
    let lang = call.parsed.program.map_or("", |p| p.lang);
    let change = |out: &mut Emitter, word: Word, extent: Extent| {
        if !dry {
            out.path(word, value, extent, Grade::Certain, Source::Operand);
        }
    };
    match kind {
        Role::Text => {}
        Role::Read | Role::Edit if value.plain() == Some("-") => {}
        Role::Read => {
            out.path(Word::Read, value, tree(call), Grade::Certain, Source::Operand);
            if call.parsed.has(mark::INPLACE) && !dry {
                device(out, value);
            }
        }
        Role::ReadTree => {
            out.path(Word::Read, value, Extent::Tree, Grade::Certain, Source::Operand)
        }
        Role::ReadVisible => {
            let extent = if call.parsed.has(mark::TREE) { Extent::Tree } else { Extent::Visible };
            out.path(Word::Read, value, extent, Grade::Certain, Source::Operand);
        }
        Role::Write if value.plain() == Some("-") => {}
        Role::Write => {
            change(out, Word::Write, Extent::Exact);
            written(out, value);
        }
        Role::WriteInto => change(out, Word::Write, Extent::Tree),
        Role::Edit => {
            out.path(Word::Read, value, tree(call), Grade::Certain, Source::Operand);
            change(out, Word::Write, tree(call));
        }
        Role::Delete | Role::DeleteTree if dry => {}
        Role::Delete => out.unlink(value, tree(call)),
        Role::DeleteTree => out.unlink(value, Extent::Tree),
        Role::Move => {
            out.path(Word::Read, value, Extent::Tree, Grade::Certain, Source::Operand);
            change(out, Word::Delete, Extent::Tree);
        }
        Role::Target => target(out, call, &call.operands(), value, dry),
        Role::Permission => change(out, Word::Permission, tree(call)),
        Role::Device if dry => {}
        Role::Device => device(out, value),
        Role::Host | Role::Url => {
            let text = value.text.as_deref().unwrap_or_default();
            if let Some(file) = text.strip_prefix("file://") {
                out.path(
                    Word::Read,
                    &Value::known(file, span),
                    Extent::Exact,
                    Grade::Certain,
                    Source::Operand,
                );
            } else {
                out.contact(value, sends(call) && !dry, Source::Operand);
            }
        }
        Role::Body => {
            if let Some(text) = value.text.as_deref() {
                let file = text
                    .strip_prefix('@')
                    .or_else(|| text.split_once("=@").map(|(_, f)| f))
                    .or_else(|| text.split_once("=<").map(|(_, f)| f));
                if let Some(file) = file {
                    let file = file.split(';').next().unwrap_or(file).trim_matches('"');
                    if file != "-" {
                        out.path(
                            Word::Read,
                            &Value::known(file, span.clone()),
                            Extent::Exact,
                            Grade::Certain,
                            Source::Operand,
                        );
                    }
                }
            }
        }
        Role::Upload => {
            if value.plain() != Some("-") {
                out.path(Word::Read, value, Extent::Exact, Grade::Certain, Source::Operand);
            }
        }
        Role::Run => {
            next.push(Next::File { file: value.clone(), lang });
        }
        Role::Program => {
            next.push(Next::Words { words: vec![value.clone()], cwd: None, feeds: false })
        }
        Role::Script => next.push(Next::Script { text: value.clone(), rest: Vec::new() }),
        Role::Code => code::emit(out, lang, value, next),
        Role::Command | Role::Joined => {}
        Role::MaybePath => maybe_path(out, value),
        Role::Source => source(out, value),
    }
}

/// A file is written; below `/dev` that is the machine's own state.
pub fn device(out: &mut Emitter, value: &Value) {
    let from = out.analysis.effects.len();
    out.path(Word::Write, value, Extent::Exact, Grade::Certain, Source::Operand);
    let disk = out.analysis.effects.get(from).and_then(|e| e.path.as_ref());
    let is_device = |path: &str| path.starts_with("/dev/");
    if disk.is_some_and(|t| is_device(&t.resolved) || is_device(&t.lexical)) {
        out.push(Word::System, Grade::Certain, Source::Program, value.span.clone());
    }
}

/// Remembers a file that the call writes with content nobody knows.
pub fn written(out: &mut Emitter, value: &Value) {
    if let Spot::At(target) = out.spot(value, Extent::Exact, false) {
        out.written.insert(target.resolved, None);
    }
}

/// Where cp, mv, install and ln put things: the path itself, or a name in it.
fn target(out: &mut Emitter, call: &Call, operands: &[Value], value: &Value, dry: bool) {
    if dry {
        return;
    }
    let into = call.parsed.has(mark::TARGET);
    let sources: Vec<&Value> = if into {
        operands.iter().collect()
    } else {
        operands[..operands.len().saturating_sub(1)].iter().collect()
    };
    let recursive = call.parsed.has(mark::TREE);
    let extent = if recursive { Extent::Tree } else { Extent::Exact };
    out.path(Word::Write, value, extent, Grade::Certain, Source::Operand);
    let Spot::At(at) = out.spot(value, Extent::Exact, true) else { return };
    if at.extent != Extent::Exact {
        return;
    }
    let slash = value.text.as_deref().is_some_and(|t| t.ends_with('/'));
    if !(into || slash || sources.len() > 1 || out.resolver.is_dir(&at.resolved)) {
        return;
    }
    for source in sources {
        let Some(text) = &source.text else {
            out.effect(
                Word::Write,
                Grade::Certain,
                Some(crate::effect::Target { extent: Extent::Below, ..at.clone() }),
                None,
                Source::Operand,
                value.span.clone(),
            );
            continue;
        };
        let (_, last) = split(text.trim_end_matches('/'));
        if last.is_empty() || last == "." || last == ".." {
            continue;
        }
        let inner = Value {
            text: Some(format!("{}/{last}", at.lexical)),
            glob: source.glob,
            span: value.span.clone(),
            ..Value::default()
        };
        out.path(Word::Write, &inner, extent, Grade::Certain, Source::Operand);
    }
}

/// A program that no table describes: words that look like paths are read, and maybe written.
fn opaque(out: &mut Emitter, call: &Call) {
    for found in &call.parsed.options {
        if let Some(value) = &found.value {
            maybe_path(out, value);
        } else if !found.name.starts_with("--")
            && found.name.len() > 2
            && let Some(slash) = found.name.find('/')
            && let Some(arg) = call.args.get(found.at)
        {
            // `-o/etc/x`: the value is glued to an option that nobody knows.
            maybe_path(out, &arg.rest(slash));
        }
    }
    for at in &call.parsed.operands[call.parsed.subs..] {
        maybe_path(out, &call.args[*at]);
    }
}

/// An unknown program may write what it is given.
fn possible_write(out: &mut Emitter, value: &Value, extent: Extent) {
    if let Spot::At(target) = out.spot(value, extent, true) {
        let span = value.span.clone();
        out.effect(Word::Write, Grade::Possible, Some(target), None, Source::Operand, span);
    }
}

/// A URL that is contacted, a path that is read, or a name.
fn source(out: &mut Emitter, value: &Value) {
    let text = value.start();
    if text.contains("://") {
        return out.contact(value, false, Source::Operand);
    }
    let here = text.len() < 256
        && !text.is_empty()
        && out.cwd.clone().is_some_and(|cwd| out.resolver.exists(&path::join(&cwd, text)));
    if text != "-" && (looks_like_path(text) || here) {
        out.path(Word::Read, value, Extent::Tree, Grade::Certain, Source::Operand);
    }
}

/// Read for certain, written possibly, if it looks like a path or is one.
pub fn maybe_path(out: &mut Emitter, value: &Value) {
    if value.pipe {
        return;
    }
    let Some(text) = &value.text else {
        if value.prefix.as_deref().is_some_and(|p| p.starts_with('-')) {
            return;
        }
        out.path(Word::Read, value, Extent::Exact, Grade::Certain, Source::Operand);
        if value.prefix.is_some() {
            possible_write(out, value, Extent::Below);
        }
        return;
    };
    if text.contains("://") {
        if !text.contains([' ', '\n']) && host_of(value).is_some() {
            out.effect(
                Word::Network,
                Grade::Possible,
                None,
                host_of(value),
                Source::Operand,
                value.span.clone(),
            );
        }
        return;
    }
    let shaped = looks_like_path(text)
        || (!text.is_empty()
            && text.len() < 256
            && !text.contains([' ', '\n', ':'])
            && out.cwd.clone().is_some_and(|cwd| out.resolver.exists(&path::join(&cwd, text))));
    if shaped {
        // `key=path` names the path as well.
        let value = match text.split_once('=') {
            Some((key, rest)) if !key.contains('/') && looks_like_path(rest) => {
                Value::known(rest, value.span.clone())
            }
            _ => value.clone(),
        };
        let extent = match out.spot(&value, Extent::Exact, false) {
            Spot::At(target)
                if target.extent == Extent::Exact && out.resolver.is_dir(&target.resolved) =>
            {
                Extent::Tree
            }
            _ => Extent::Exact,
        };
        out.path(Word::Read, &value, extent, Grade::Certain, Source::Operand);
        possible_write(out, &value, extent);
    }
}
