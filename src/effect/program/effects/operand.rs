//! Operands and values of options by the roles that a row gives them.

use super::super::table::{self, Class, Language, Program, Role, mark};
use super::super::{code, options};
use super::maybe::{maybe_path, maybe_read, source, without_selection};
use super::{Call, Next, device, sends, written};
use crate::effect::emitter::{Emitter, Spot};
use crate::effect::names::imagemagick::SCHEMES;
use crate::effect::path::{self, split};
use crate::effect::value::{BLANK, Printer, Value};
use crate::effect::{Extent, Grade, Source, Target, Word};
use crate::glob;

/// The operands by the roles of the row.
pub fn operands(out: &mut Emitter, call: &Call, program: &Program, next: &mut Vec<Next>) {
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
                next.extend(apart(&values[i..], &[]));
                return;
            }
            Role::Target => target(out, call, &values, value),
            Role::Code => {
                code::emit(out, program.language(), value, next);
            }
            _ => role(out, call, kind, value, next),
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
        by = by.max(value.by());
        known &= value.text().is_some();
        match value.text().or(value.outline()) {
            // A glob's escapes are taken away before the text is read again.
            Some(word) if value.is_glob() => text.push_str(&path::unescaped(word)),
            Some(word) => text.push_str(word),
            None => text.push(BLANK),
        }
    }
    let text = if known { Value::known(text, span) } else { Value::outlined(text, by, span) };
    Next::Script { text, rest: Vec::new() }
}

/// The same words kept apart, as `parallel sh -c 'a b'` and `watch sh -c 'a b'` mean them: what joins
/// its words gives the shell only `a`, but whoever writes this means the whole text.
pub fn apart(words: &[Value], items: &[Value]) -> Option<Next> {
    let blank = |w: &Value| w.start().contains(char::is_whitespace);
    if words.len() < 2 || blank(&words[0]) || !words[1..].iter().any(blank) {
        return None;
    }
    let token = words.iter().any(|w| w.start().contains("{}"));
    let mut words = words.to_vec();
    match items {
        [item, ..] if token => words = words.iter().map(|w| w.with("{}", item)).collect(),
        _ => words.extend(items.iter().cloned()),
    }
    Some(Next::Words { words, cwd: None, feeds: false })
}

fn tree(call: &Call) -> Extent {
    if call.parsed.has(mark::TREE) { Extent::Tree } else { Extent::Exact }
}

/// A path or a glob as git reads it: with magic in front (`:(glob)`, `:/`), or as one to leave out.
fn pathspec(out: &mut Emitter, call: &Call, value: &Value) {
    let text = value.start();
    let skip = match text.strip_prefix(':') {
        Some(rest) if rest.starts_with('(') => rest.find(')').map_or(text.len(), |at| at + 2),
        Some(rest) => text.len() - rest.trim_start_matches(['/', '!', '^']).len(),
        None => 0,
    };
    let magic = &text[..skip];
    let excludes = magic.contains(['!', '^']) || magic.contains("exclude");
    let value = match skip {
        0 => value.clone(),
        // All the rest, or the whole work tree.
        _ if excludes || skip >= text.len() => Value::known(".", value.span.clone()),
        _ => value.rest(skip),
    };
    out.path(Word::Read, &value, Extent::Tree, Grade::Certain, Source::Operand);
    // What a name is that begins with a sign of a glob says little.
    let last = split(value.start()).1;
    let says = glob::has_active(value.start()) && !last.starts_with(['*', '?', '[']);
    let folds = magic.contains("icase") || call.parsed.option("--icase-pathspecs").is_some();
    let files = match value.text() {
        Some(text) if folds && !text.contains('[') => Some(folded(text)),
        text => text.filter(|_| says).map(str::to_string),
    };
    if let Some(text) = files {
        let files = Value::glob(text, value.span);
        out.path(Word::Read, &files, Extent::Exact, Grade::Certain, Source::Operand);
    }
}

/// The same in any letter case, as a glob.
fn folded(text: &str) -> String {
    let both = |c: char| match c.is_ascii_alphabetic() {
        true => format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase()),
        false => c.to_string(),
    };
    text.chars().map(both).collect()
}

/// The effects of one value in one role.
pub fn role(out: &mut Emitter, call: &Call, kind: Role, value: &Value, next: &mut Vec<Next>) {
    let span = value.span.clone();
    let lang = call.parsed.program.and_then(|program| program.lang);
    let change = |out: &mut Emitter, word: Word, extent: Extent| {
        if !call.dry() {
            out.path(word, value, extent, Grade::Certain, Source::Operand);
        }
    };
    let lists_arguments = matches!(kind, Role::Runs | Role::MaybePath | Role::MaybeRead)
        && value.start().starts_with('@')
        && call.parsed.program.is_some_and(|p| !p.complete);
    let from_stdin = kind == Role::Runs && matches!(value.plain(), Some("-" | "/dev/stdin"));
    if lists_arguments || from_stdin {
        // Options, or code, that nobody sees stand in that file.
        out.push(Word::Code, Grade::Certain, Source::Code, span.clone());
    }
    match kind {
        Role::Text => {}
        Role::Read | Role::Edit if value.plain() == Some("-") => {}
        Role::Link => {
            let from = out.analysis.effects.len();
            out.path(Word::Read, value, Extent::Tree, Grade::Certain, Source::Operand);
            out.linked(from);
        }
        Role::Read => {
            let from = out.analysis.effects.len();
            out.path(Word::Read, value, tree(call), Grade::Certain, Source::Operand);
            if call.parsed.has(mark::LINKS) && !call.dry() {
                out.linked(from);
            }
            if call.parsed.has(mark::INPLACE) && !call.dry() {
                device(out, value);
            }
        }
        Role::ReadTree => {
            out.path(Word::Read, value, Extent::Tree, Grade::Certain, Source::Operand)
        }
        Role::Pathspec => pathspec(out, call, value),
        Role::ReadVisible => {
            let extent = if call.parsed.has(mark::TREE) { Extent::Tree } else { Extent::Visible };
            out.path(Word::Read, value, extent, Grade::Certain, Source::Operand);
        }
        Role::Runs if is_addressed(value.start()) => {
            out.push(Word::Code, Grade::Certain, Source::Code, span);
        }
        Role::Runs => {
            let from = out.analysis.effects.len();
            let file = without_selection(value);
            out.path(Word::Read, &file, Extent::Visible, Grade::Certain, Source::Operand);
            out.code_from_elsewhere(from);
        }
        Role::ReadNamed => {
            if let Some(files) = value.at_any_depth(".") {
                out.path(Word::Read, &files, Extent::Exact, Grade::Certain, Source::Operand);
            } else if value.plain().is_some_and(|text| !text.starts_with('!')) {
                // A rule on `*.pem` names all that this names.
                out.path(Word::Read, value, Extent::Exact, Grade::Certain, Source::Operand);
            }
        }
        Role::Write if value.plain() == Some("-") => {}
        Role::Write => {
            change(out, Word::Write, Extent::Exact);
            // What a compiler makes is the project's own code, as if `make` had run.
            if !table::is(call.name, Class::Compiler, out.place.programs) {
                written(out, value);
            }
        }
        Role::WriteInto => change(out, Word::Write, Extent::Tree),
        Role::Edit => {
            out.path(Word::Read, value, tree(call), Grade::Certain, Source::Operand);
            change(out, Word::Write, tree(call));
        }
        Role::Delete | Role::DeleteTree if call.dry() => {}
        Role::Delete => out.unlink(value, tree(call)),
        Role::DeleteTree => out.unlink(value, Extent::Tree),
        Role::Move => {
            out.path(Word::Read, value, Extent::Tree, Grade::Certain, Source::Operand);
            change(out, Word::Delete, Extent::Tree);
        }
        Role::Target => target(out, call, &call.operands(), value),
        Role::Permission => change(out, Word::Permission, tree(call)),
        Role::Device if call.dry() => {}
        Role::Device => device(out, value),
        Role::Query => {
            // A name that is a variable as a whole is a name; what is put together may carry data.
            let glued = value.prefix().is_some()
                || value.outline().is_some_and(|o| o.chars().any(|c| c != BLANK));
            let computed = value.text().is_none() && (glued || value.by() >= Printer::Local);
            out.contact(value, computed && !call.dry(), Source::Operand);
        }
        Role::Host | Role::Url => {
            let text = value.text().unwrap_or_default();
            if let Some(file) = text.strip_prefix("file://") {
                out.path(
                    Word::Read,
                    &Value::known(file, span),
                    Extent::Exact,
                    Grade::Certain,
                    Source::Operand,
                );
            } else {
                out.contact(value, sends(call) && !call.dry(), Source::Operand);
            }
        }
        Role::Body => {
            let file = value.text().and_then(options::body_file);
            let file = file.map(|file| file.split(';').next().unwrap_or(file).trim_matches('"'));
            if let Some(file) = file.filter(|file| *file != "-") {
                let file = Value::known(file, span);
                out.path(Word::Read, &file, Extent::Exact, Grade::Certain, Source::Operand);
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
        Role::Filter => {
            let files = call.operands();
            let words = std::iter::once(value).chain(files.iter().skip(1)).cloned().collect();
            next.push(Next::Words { words, cwd: None, feeds: false });
        }
        Role::Script => next.push(Next::Script { text: value.clone(), rest: Vec::new() }),
        Role::Code => code::emit(out, lang.unwrap_or(Language::Other), value, next),
        Role::Command | Role::Joined => {}
        Role::Inline => inline(out, value, next),
        Role::MaybePath => maybe_path(out, value),
        Role::MaybeRead => maybe_read(out, value),
        Role::Source => source(out, value),
    }
}

/// Does it come from a registry or an address: `npm:x`, `jsr:@a/b`, `https://x`, `data:...`?
fn is_addressed(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.len() > 1
            && (scheme.bytes().all(|b| b.is_ascii_alphabetic())
                || scheme.contains('@') && !scheme.contains('/'))
            && !rest.starts_with(|c: char| c == ':' || c.is_ascii_digit())
    })
}

/// A file's name, or a text that the program runs.
fn inline(out: &mut Emitter, value: &Value, next: &mut Vec<Next>) {
    let text = value.start();
    let scheme = text.split_once(':').map(|(scheme, rest)| {
        let word =
            scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        word && (rest.starts_with('@') || !SCHEMES.contains(&&*scheme.to_ascii_lowercase()))
    });
    if scheme != Some(true) && !text.starts_with(['|', '@', '\\', '&']) {
        return maybe_path(out, value);
    }
    out.push(Word::Code, Grade::Certain, Source::Code, value.span.clone());
    match text.as_bytes().first() {
        Some(b'|') => next.push(Next::Script { text: value.rest(1), rest: Vec::new() }),
        Some(b'@') => {
            out.path(Word::Read, &value.rest(1), Extent::Exact, Grade::Certain, Source::Operand);
        }
        _ if text.contains("://") => out.contact(value, false, Source::Operand),
        _ => {}
    }
}

/// Is it a directory by the way it is written?
pub fn is_directory(text: &str) -> bool {
    text.ends_with('/') || matches!(split(text).1, "." | "..") || text == "~"
}

/// A directory's content is put over that of another (`cp -r a/. b`, `cp -rT a b`), or the directory
/// itself into it.
fn laid_over(out: &mut Emitter, call: &Call, source: &Value, target: &Value) {
    let Some(text) = source.plain() else { return };
    let name = split(text.trim_end_matches('/')).1;
    let whole = matches!(name, "." | "..") || is_target_itself(call);
    match whole {
        true => out.brought(source, target),
        false => {
            let inner = format!("{}/{name}", target.start().trim_end_matches('/'));
            out.brought(source, &Value::known(inner, target.span.clone()));
        }
    }
}

/// Is the last operand what a source becomes, and no directory for it (`cp -T`)?
fn is_target_itself(call: &Call) -> bool {
    call.parsed.option("-T").is_some()
}

/// Does the call change the path before, or what it lies in: is it known no more what is there?
fn is_changed(out: &Emitter, target: &Target) -> bool {
    out.analysis.effects.iter().any(|effect| {
        matches!(effect.word, Word::Write | Word::Delete)
            && effect.path.as_ref().is_none_or(|path| {
                let holds =
                    |own: &str| own == target.lexical || path::is_below(&target.lexical, own);
                holds(&path.lexical) || holds(&path.resolved)
            })
    })
}

/// Where cp, mv, install and ln put things: the path itself, or a name in it.
fn target(out: &mut Emitter, call: &Call, operands: &[Value], value: &Value) {
    if call.dry() {
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
    let spot = out.spot(value, Extent::Exact, true);
    // Into a directory that is there a named source goes under its own name, and nothing else changes.
    let named = |source: &&Value| {
        source.plain().is_some_and(|text| !matches!(split(text).1, "" | "." | ".."))
    };
    let there = match &spot {
        Spot::At(at) => {
            (at.lexical == out.place.home || out.resolver.is_dir(&at.resolved))
                && !is_changed(out, at)
        }
        _ => false,
    };
    // Windows' own programs put what a directory holds into another.
    let itself =
        is_target_itself(call) || call.parsed.program.is_some_and(|program| program.windows);
    let inside = !itself && (into || sources.len() > 1 || there) && sources.iter().all(named);
    let outer = if inside { Extent::Exact } else { extent };
    out.path(Word::Write, value, outer, Grade::Certain, Source::Operand);
    let Spot::At(at) = spot else { return };
    if at.extent != Extent::Exact {
        return;
    }
    let slash = value.text().is_some_and(is_directory);
    if recursive && call.name != "install" {
        sources.iter().for_each(|source| laid_over(out, call, source, value));
    }
    let parents = call.parsed.option("--parents").is_some();
    if !(into || slash || parents || sources.len() > 1 || out.resolver.is_dir(&at.resolved)) {
        return;
    }
    for source in sources {
        let Some(text) = source.text() else {
            out.effect(
                Word::Write,
                Grade::Certain,
                Some(Target { extent: Extent::Below, ..at.clone() }),
                None,
                Source::Operand,
                value.span.clone(),
            );
            continue;
        };
        let whole = text.trim_end_matches('/');
        let last = if parents { whole.trim_start_matches('/') } else { split(whole).1 };
        if last.is_empty() || last == "." || last == ".." {
            continue;
        }
        let inner = Value::known(format!("{}/{last}", at.lexical), value.span.clone());
        let inner = inner.globbed(source.is_glob());
        out.path(Word::Write, &inner, extent, Grade::Certain, Source::Operand);
    }
}
