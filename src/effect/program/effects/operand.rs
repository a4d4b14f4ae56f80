//! Operands and values of options by the roles that a row gives them.

use super::super::table::{self, Class, Language, Program, Role, mark};
use super::super::{code, options};
use super::maybe::{emit_source, maybe_path, maybe_read, without_selection};
use super::{Call, Next, emit_file_write, note_written, sends_data};
use crate::effect::emitter::{Emitter, Spot};
use crate::effect::host::decode_percent;
use crate::effect::path::{self, is_below, split};
use crate::effect::value::{BLANK, Printer, Value};
use crate::effect::{Extent, Grade, Source, Target, Word, look};
use crate::glob;
use crate::names::imagemagick::SCHEMES;

/// The operands by the roles of the row.
pub fn emit_operands(out: &mut Emitter, call: &Call, program: &Program, next: &mut Vec<Next>) {
    let mut values = call.operands();
    let mut before: &[Role] = program.before;
    if call.parsed.has_mark(mark::NO_FIRST) && !before.is_empty() {
        before = &before[1..];
    }
    let missing = values.len() <= before.len() && !program.default.is_empty();
    if missing && !before.contains(&Role::Command) {
        values.push(Value::known(program.default, call.span.clone()));
    }
    let last = program.last.filter(|_| !call.parsed.has_mark(mark::TARGET));
    for (i, value) in values.iter().enumerate() {
        let is_last = i + 1 == values.len() && i > before.len().saturating_sub(1);
        let last = || last.filter(|_| is_last).unwrap_or(program.repeat);
        let role = before.get(i).copied().unwrap_or_else(last);
        match role {
            Role::Command | Role::OwnCommand => {
                let cwd = out.cwd.clone().map(|c| Value::known(c, 0..0));
                let mut words = values[i..].to_vec();
                if role == Role::OwnCommand {
                    let own = program.name.split(' ').next().unwrap_or_default();
                    words.insert(0, Value::known(own, value.span.clone()));
                }
                return next.push(Next::Words { words, cwd, feeds: false });
            }
            Role::Joined => {
                // `tmux new -d \; send-keys x`: another command of its own begins there.
                let own = program.name.starts_with("tmux ");
                let ends = |value: &Value| own && value.plain_text() == Some(";");
                let words = values[i..].split(ends).next().unwrap_or_default();
                if !words.is_empty() {
                    next.push(join_words(words));
                    next.extend(keep_words_apart(words, &[]));
                }
                return;
            }
            Role::Target => emit_target(out, call, &values, value),
            Role::Code if program.lang == Some(Language::Sql) && call.is_dry_run() => {}
            Role::Code => {
                out.arguments = values[i + 1..].to_vec();
                code::emit_inline(out, program.language(), value, next);
            }
            kind => {
                let from = out.analysis.effects.len();
                emit_role(out, call, kind, value, next);
                if program.through {
                    out.code_from_elsewhere(from);
                }
                if is_looked_into(kind) && is_inplace(call, value) {
                    emit_edited(out, call, value);
                }
            }
        }
    }
    // `cargo clippy --fix`: all that lies here.
    let here = Value::known(".", call.span.clone());
    if values.is_empty() && is_looked_into(program.repeat) && is_inplace(call, &here) {
        emit_edited(out, call, &here);
    }
}

/// Are files looked for there, which an option may have written as well (`prettier --write src`)?
fn is_looked_into(kind: Role) -> bool {
    matches!(
        kind,
        Role::ReadVisible | Role::ReadTree | Role::MaybePath | Role::MaybeRead | Role::Runs
    )
}

/// Is what is read written too, as an option says?
fn is_inplace(call: &Call, value: &Value) -> bool {
    call.parsed.has_mark(mark::INPLACE) && !call.is_dry_run() && value.plain_text() != Some("-")
}

/// A file is written, or in a directory each that the program finds there. What nobody has to look for is named by the
/// operand: an allow on the command means all of it, and a rule on one of the files has to hear of that one.
fn emit_edited(out: &mut Emitter, call: &Call, value: &Value) {
    if call.parsed.has_mark(mark::STDOUT) {
        return;
    }
    // `go fmt ./...`
    let text = value.plain_text().unwrap_or_default();
    let dir = text.strip_suffix("/...").map(|dir| Value::known(dir, value.span.clone()));
    let deep = dir.is_some() || call.parsed.has_mark(mark::TREE);
    let value = dir.as_ref().unwrap_or(value);
    emit_file_write(out, value);
    let found = match out.locate_value(value, Extent::Exact, true) {
        // `prettier --write 'src/**/*.ts'`: it is the program that looks.
        Spot::At(_) if glob::has_active(text) => {
            let names = Value::glob(text, value.span.clone());
            match out.locate_value(&names, Extent::Glob, true) {
                Spot::At(target) => look::expand_glob(&target),
                _ => None,
            }
        }
        Spot::At(at) if at.extent == Extent::Exact && out.resolver.is_dir(&at.resolved) => {
            let files = call.parsed.program.map_or("", |program| program.files);
            let at_any_depth = |name: &str| match deep && !name.starts_with("**/") {
                true => format!("**/{name}"),
                false => name.to_string(),
            };
            let files: Vec<String> = files.split_whitespace().map(at_any_depth).collect();
            Some(look::find_edited(&at, &files))
        }
        _ => None,
    };
    let from = out.analysis.effects.len();
    for file in found.unwrap_or_default() {
        let span = value.span.clone();
        let source = Source::Operand;
        out.push_effect(Word::Write, Grade::Certain, Some(file), None, source, span);
    }
    out.keep(from);
}

/// Words that a shell reads as one line (ssh, watch, eval).
pub fn join_words(values: &[Value]) -> Next {
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
            Some(word) if value.is_glob() => text.push_str(&path::unescape_glob(word)),
            Some(word) => text.push_str(word),
            None => text.push(BLANK),
        }
    }
    let text = if known { Value::known(text, span) } else { Value::outlined(text, by, span) };
    Next::script(text)
}

/// The same words kept apart, as `parallel sh -c 'a b'` and `watch sh -c 'a b'` mean them: what joins
/// its words gives the shell only `a`, but whoever writes this means the whole text.
pub fn keep_words_apart(words: &[Value], items: &[Value]) -> Option<Next> {
    let blank = |w: &Value| w.known_start().contains(char::is_whitespace);
    if words.len() < 2 || blank(&words[0]) || !words[1..].iter().any(blank) {
        return None;
    }
    let token = words.iter().any(|w| w.known_start().contains("{}"));
    let mut words = words.to_vec();
    match items {
        [item, ..] if token => words = words.iter().map(|w| w.replace_token("{}", item)).collect(),
        _ => words.extend(items.iter().cloned()),
    }
    Some(Next::words(words))
}

fn operand_extent(call: &Call) -> Extent {
    if call.parsed.has_mark(mark::TREE) { Extent::Tree } else { Extent::Exact }
}

/// Of a tree in the project only the files of some names are read (`--include='*.rs'`), and each name ends in
/// letters that tell: what they are is possible.
fn narrows_to_names(out: &mut Emitter, call: &Call, value: &Value) -> bool {
    let named = |option: &&options::ParsedOption| {
        option.spec.is_some_and(|spec| spec.role == Role::ReadNamed)
    };
    let names: Vec<&str> = call
        .parsed
        .options
        .iter()
        .filter(named)
        .map(|option| option.value.as_ref().and_then(Value::plain_text).unwrap_or_default())
        .collect();
    let plain = |end: &str| end.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    let told =
        |name: &&str| name.strip_prefix("*.").is_some_and(|end| !end.is_empty() && plain(end));
    let Some(dir) = value.plain_text().filter(|_| !value.is_glob()) else { return false };
    let project = out.place.project.clone();
    let inside = out.locate_exact(value).is_some_and(|target| {
        [&target.lexical, &target.resolved]
            .into_iter()
            .all(|path| *path == project || is_below(path, &project))
    });
    if !call.parsed.has_mark(mark::TREE)
        || names.is_empty()
        || !inside
        || glob::has_active(dir)
        || !names.iter().all(told)
    {
        return false;
    }
    for name in names {
        let text = format!("{}/**/{name}", dir.trim_end_matches('/'));
        let files = Value::glob(text, value.span.clone());
        if let Spot::At(target) = out.locate_value(&files, Extent::Glob, false) {
            let span = value.span.clone();
            out.push_effect(Word::Read, Grade::Possible, Some(target), None, Source::Operand, span);
        }
    }
    true
}

/// A path or a glob as git reads it: with magic in front (`:(glob)`, `:/`), or as one to leave out.
fn emit_pathspec(out: &mut Emitter, call: &Call, value: &Value) {
    let text = value.known_start();
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
        _ => value.skip_bytes(skip),
    };
    out.operand_tree(Word::Read, &value);
    // What a name is that begins with a sign of a glob says little.
    let last = split(value.known_start()).1;
    let says = glob::has_active(value.known_start()) && !last.starts_with(['*', '?', '[']);
    let folds = magic.contains("icase") || call.has("--icase-pathspecs");
    let files = match value.text() {
        Some(text) if folds && !text.contains('[') => Some(ignore_case_glob(text)),
        text => text.filter(|_| says).map(str::to_string),
    };
    if let Some(text) = files {
        out.operand(Word::Read, &Value::glob(text, value.span));
    }
}

/// The same in any letter case, as a glob.
fn ignore_case_glob(text: &str) -> String {
    let both = |c: char| match c.is_ascii_alphabetic() {
        true => format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase()),
        false => c.to_string(),
    };
    text.chars().map(both).collect()
}

/// The effects of one value in one role.
pub fn emit_role(out: &mut Emitter, call: &Call, kind: Role, value: &Value, next: &mut Vec<Next>) {
    unseen(out, call, kind, value);
    match kind {
        Role::Text | Role::Command | Role::OwnCommand | Role::Joined => {}
        Role::Read | Role::Edit | Role::EditTree | Role::Write | Role::Upload
            if value.plain_text() == Some("-") => {}
        Role::Write
        | Role::WriteInto
        | Role::Prefix
        | Role::Edit
        | Role::EditTree
        | Role::Delete
        | Role::DeletePathspec
        | Role::DeleteTree
        | Role::Move
        | Role::Target
        | Role::Permission
        | Role::Device => changes(out, call, kind, value),
        Role::Query | Role::Host | Role::Url | Role::Body | Role::Upload => {
            talks(out, call, kind, value);
        }
        Role::Jq => code::emit_inline(out, Language::Jq, value, next),
        Role::Run
        | Role::Program
        | Role::Filter
        | Role::Script
        | Role::Code
        | Role::Inline
        | Role::InlineTarget => {
            runs(out, call, kind, value, next);
        }
        _ => reads(out, call, kind, value),
    }
}

/// Options, or code, that nobody sees stand in that file.
fn unseen(out: &mut Emitter, call: &Call, kind: Role, value: &Value) {
    let may = match kind {
        Role::Runs => matches!(value.plain_text(), Some("-" | "/dev/stdin")),
        Role::MaybePath | Role::MaybeRead => false,
        _ => return,
    };
    let lists =
        || value.known_start().starts_with('@') && call.parsed.program.is_some_and(|p| !p.complete);
    if may || lists() {
        out.push(Word::Code, Grade::Certain, Source::Code, value.span.clone());
    }
}

/// The roles of what is read.
fn reads(out: &mut Emitter, call: &Call, kind: Role, value: &Value) {
    let from = out.analysis.effects.len();
    match kind {
        Role::Link => {
            out.operand_tree(Word::Read, value);
            out.emit_second_names(from);
        }
        Role::Read | Role::ReadVisible if narrows_to_names(out, call, value) => {}
        Role::Read => {
            out.emit_path(Word::Read, value, operand_extent(call), Grade::Certain, Source::Operand);
            if call.parsed.has_mark(mark::LINKS) && !call.is_dry_run() {
                out.emit_second_names(from);
            }
            if is_inplace(call, value) {
                emit_file_write(out, value);
            }
        }
        Role::ReadTree => out.operand_tree(Word::Read, value),
        Role::Pathspec => emit_pathspec(out, call, value),
        Role::ReadVisible => {
            let extent =
                if call.parsed.has_mark(mark::TREE) { Extent::Tree } else { Extent::Visible };
            out.emit_path(Word::Read, value, extent, Grade::Certain, Source::Operand);
        }
        Role::Runs if is_addressed(value.known_start()) => {
            out.push(Word::Code, Grade::Certain, Source::Code, value.span.clone());
            if value.known_start().contains("://") && !value.known_start().starts_with("file:") {
                out.emit_contact(value, sends_data(call) && !call.is_dry_run(), Source::Operand);
                // `deno test https://x`
                if call.parsed.program.is_some_and(|program| program.lang.is_some()) {
                    out.emit_unknown("a program that is fetched runs", value.span.clone());
                }
            }
        }
        Role::Runs => {
            let file = without_selection(value);
            out.emit_path(Word::Read, &file, Extent::Visible, Grade::Certain, Source::Operand);
            out.code_from_elsewhere(from);
        }
        Role::ReadNamed => match value.at_any_depth(".") {
            Some(files) => out.operand(Word::Read, &files),
            // A rule on `*.pem` names all that this names.
            None if value.plain_text().is_some_and(|text| !text.starts_with('!')) => {
                out.operand(Word::Read, value);
            }
            None => {}
        },
        Role::MaybePath => maybe_path(out, value),
        Role::MaybeRead => maybe_read(out, value),
        _ => {
            emit_source(out, value);
            out.code_from_elsewhere(from);
        }
    }
}

/// The roles of what is changed; what only would be says what it reads.
fn changes(out: &mut Emitter, call: &Call, kind: Role, value: &Value) {
    match kind {
        Role::Edit => {
            out.emit_path(Word::Read, value, operand_extent(call), Grade::Certain, Source::Operand)
        }
        Role::EditTree => out.operand(Word::Read, value),
        Role::Move => out.operand_tree(Word::Read, value),
        _ => {}
    }
    // What a compiler makes is the project's own code, as if `make` had run.
    let foreign =
        kind == Role::Write && !table::has_class(call.name, Class::Compiler, out.place.programs);
    if !call.is_dry_run() {
        let (word, extent) = match kind {
            Role::Delete => return out.emit_deletion(value, operand_extent(call)),
            Role::DeletePathspec => {
                // All that git knows here.
                if matches!(value.plain_text(), Some("*" | "**" | "**/*")) {
                    let here = Value::known(".", value.span.clone());
                    return out.emit_deletion(&here, Extent::Tree);
                }
                let files = globbed_by_git(value);
                return out.emit_deletion(files.as_ref().unwrap_or(value), operand_extent(call));
            }
            Role::Prefix => return emit_installation(out, value),
            Role::EditTree => return emit_edited(out, call, value),
            Role::DeleteTree => return out.emit_deletion(value, Extent::Tree),
            Role::Target => return emit_target(out, call, &call.operands(), value),
            Role::Device => return emit_file_write(out, value),
            Role::Write => (Word::Write, Extent::Exact),
            Role::WriteInto => (Word::Write, Extent::Tree),
            Role::Move if is_file_by_name(out, value) => (Word::Delete, Extent::Exact),
            Role::Move => (Word::Delete, Extent::Tree),
            Role::Permission => (Word::Permission, operand_extent(call)),
            _ => (Word::Write, operand_extent(call)),
        };
        out.emit_path(word, value, extent, Grade::Certain, Source::Operand);
    }
    if foreign {
        note_written(out, value);
    }
}

/// What is put where a program installs itself. How its programs are called nobody says, so that its `bin` is left out.
fn emit_installation(out: &mut Emitter, prefix: &Value) {
    for part in ["lib", "include"] {
        let dir = prefix.map(|prefix| format!("{}/{part}", prefix.trim_end_matches('/')));
        out.emit_path(Word::Write, &dir, Extent::Tree, Grade::Certain, Source::Operand);
    }
}

/// A word that git itself reads as a glob, at any depth: a shell would have left nothing of it but names.
fn globbed_by_git(value: &Value) -> Option<Value> {
    let text =
        value.plain_text().filter(|text| glob::has_active(text) && !text.starts_with(':'))?;
    let deep = if text.contains('/') { text.to_string() } else { format!("./**/{text}") };
    Some(Value::glob(deep, value.span.clone()))
}

/// Does the ending say that it is one file of the person's, and nothing that lies there another thing?
fn is_file_by_name(out: &mut Emitter, value: &Value) -> bool {
    const DIRECTORIES: &[&str] = &["git", "app", "d", "bak", "old", "orig"];
    let ending = value.plain_text().and_then(|text| split(text).1.rsplit_once('.'));
    let ends = ending.is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=5).contains(&ending.len())
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.bytes().all(|b| b.is_ascii_alphanumeric())
            && !DIRECTORIES.contains(&ending)
    });
    let below = |dir: &str, path: &str| path.strip_prefix(dir).is_some_and(|r| r.starts_with('/'));
    let Some(target) = out.locate_exact(value).filter(|_| ends) else { return false };
    below(&out.place.home, &target.lexical)
        && !below(&out.place.project, &target.lexical)
        && !out.resolver.is_dir(&target.resolved)
}

/// The roles of what is contacted or sent.
fn talks(out: &mut Emitter, call: &Call, kind: Role, value: &Value) {
    let text = value.text();
    match kind {
        Role::Query => {
            // A name that is a variable as a whole is a name; what is put together may carry data.
            let glued = value.prefix().is_some()
                || value.outline().is_some_and(|outline| outline.chars().any(|c| c != BLANK));
            let computed = text.is_none() && (glued || value.by() >= Printer::Local);
            out.emit_contact(value, computed && !call.is_dry_run(), Source::Operand);
        }
        Role::Body => {
            let file = text.and_then(options::body_file);
            let file = file.map(|file| file.split(';').next().unwrap_or(file).trim_matches('"'));
            if let Some(file) = file.filter(|file| *file != "-") {
                out.operand(Word::Read, &Value::known(file, value.span.clone()));
            }
        }
        Role::Upload => out.operand(Word::Read, value),
        _ => match text.and_then(crate::effect::host::file_of) {
            Some(file) => out.operand(Word::Read, &Value::known(file, value.span.clone())),
            // A text browser shows files as well.
            None if kind == Role::Url && text.is_some_and(|t| t.starts_with(['/', '.'])) => {
                out.operand(Word::Read, value);
            }
            None => {
                out.emit_contact(value, sends_data(call) && !call.is_dry_run(), Source::Operand)
            }
        },
    }
}

/// Is only sent what stands in the call itself, to the address that a variable holds (`curl -d '{"text":"done"}' "$HOOK"`)?
pub fn is_message(call: &Call, url: &Value) -> bool {
    let literal =
        |value: &Value| value.plain_text().is_some_and(|text| options::body_file(text).is_none());
    let sent = call.parsed.options.iter().filter(|o| {
        o.spec.is_some_and(|s| {
            matches!(s.role, Role::Body | Role::Upload) || s.marks & mark::SEND != 0
        })
    });
    is_held_address(url) && sent.filter_map(|o| o.value.as_ref()).all(literal)
}

/// Is it a variable as a whole, that no command of the call filled?
pub fn is_held_address(url: &Value) -> bool {
    let whole = url.outline().is_none_or(|outline| outline.chars().all(|c| c == BLANK));
    url.text().is_none() && url.prefix().is_none() && whole && url.by() == Printer::Nobody
}

/// A message goes to an address that only the variable knows: that it leaves is certain, and what it says is there to read.
pub fn emit_message(out: &mut Emitter, url: &Value) {
    out.emit_contact(url, false, Source::Operand);
    out.push(Word::Send, Grade::Certain, Source::Operand, url.span.clone());
}

/// The roles of what runs.
fn runs(out: &mut Emitter, call: &Call, kind: Role, value: &Value, next: &mut Vec<Next>) {
    let lang = call.parsed.program.and_then(|program| program.lang);
    if lang == Some(Language::Sql) && call.is_dry_run() {
        return;
    }
    next.push(match kind {
        Role::Code => {
            out.arguments = call.operands();
            return code::emit_inline(out, lang.unwrap_or(Language::Other), value, next);
        }
        Role::Inline => return emit_inline_or_file(out, value, next),
        Role::InlineTarget => return emit_inline_target(out, call, value, next),
        // `psql -f -`
        Role::Run if value.plain_text() == Some("-") => {
            Next::Stdin { lang: lang.unwrap_or(Language::Shell) }
        }
        // `node --import 'data:text/javascript,...'`
        Role::Run if value.known_start().starts_with("data:") && lang.is_some() => {
            let text = decode_percent(value.known_start());
            let text = text.split_once(',').map_or("", |(_, text)| text);
            let value = Value::known(text, value.span.clone());
            return code::emit_inline(out, lang.unwrap_or(Language::Other), &value, next);
        }
        Role::Run => Next::File { file: value.clone(), lang },
        Role::Program => Next::words(vec![value.clone()]),
        Role::Filter => {
            let files = call.operands();
            Next::words(std::iter::once(value).chain(files.iter().skip(1)).cloned().collect())
        }
        _ => Next::script(value.clone()),
    });
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
fn emit_inline_or_file(out: &mut Emitter, value: &Value, next: &mut Vec<Next>) {
    let text = value.known_start();
    if !has_scheme(text) && !text.starts_with(['|', '@', '\\', '&']) {
        return maybe_path(out, value);
    }
    out.push(Word::Code, Grade::Certain, Source::Code, value.span.clone());
    match text.as_bytes().first() {
        Some(b'|') => next.push(Next::script(value.skip_bytes(1))),
        Some(b'@') => out.operand(Word::Read, &value.skip_bytes(1)),
        _ if text.contains("://") => out.emit_contact(value, false, Source::Operand),
        _ => {}
    }
}

/// The same of what is written: `|COMMAND`, or a file, be it with its format before the name (`png:x`).
fn emit_inline_target(out: &mut Emitter, call: &Call, value: &Value, next: &mut Vec<Next>) {
    let text = value.known_start();
    if has_scheme(text) || text.starts_with(['|', '@', '\\', '&']) {
        return emit_inline_or_file(out, value, next);
    }
    let format = text.split_once(':').map(|(scheme, _)| scheme.len() + 1);
    let file = format.map_or_else(|| value.clone(), |skip| value.skip_bytes(skip));
    if !matches!(file.plain_text(), Some("" | "-")) && !call.is_dry_run() {
        emit_file_write(out, &file);
    }
}

/// Does it begin with a scheme that is more than a format, or take a file by `@`?
fn has_scheme(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let word = scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    word && (rest.starts_with('@') || !SCHEMES.contains(&&*scheme.to_ascii_lowercase()))
}

/// Is it a directory by the way it is written?
pub fn is_directory(text: &str) -> bool {
    text.ends_with('/') || matches!(split(text).1, "." | "..") || text == "~"
}

/// A directory's content is put over that of another (`cp -r a/. b`, `cp -rT a b`), or the directory
/// itself into it.
fn laid_over(out: &mut Emitter, call: &Call, source: &Value, target: &Value) {
    let Some(text) = source.plain_text() else { return };
    let name = split(text.trim_end_matches('/')).1;
    let whole = matches!(name, "." | "..") || is_target_itself(call);
    match whole {
        true => out.emit_overlaid(source, target),
        false => {
            let inner = format!("{}/{name}", target.known_start().trim_end_matches('/'));
            out.emit_overlaid(source, &Value::known(inner, target.span.clone()));
        }
    }
}

/// Is the last operand what a source becomes, and no directory for it (`cp -T`)?
fn is_target_itself(call: &Call) -> bool {
    call.has("-T")
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
fn emit_target(out: &mut Emitter, call: &Call, operands: &[Value], value: &Value) {
    if call.is_dry_run() {
        return;
    }
    let into = call.parsed.has_mark(mark::TARGET);
    let sources = match into {
        true => operands,
        false => &operands[..operands.len().saturating_sub(1)],
    };
    let extent = operand_extent(call);
    let spot = out.locate_value(value, Extent::Exact, true);
    // Into a directory that is there a named source goes under its own name, and nothing else changes.
    // Windows' own programs put what a directory holds into another.
    let itself =
        is_target_itself(call) || call.parsed.program.is_some_and(|program| program.windows);
    let inside = !itself
        && (into || sources.len() > 1 || is_there(out, &spot))
        && sources.iter().all(is_named);
    let outer = if inside { Extent::Exact } else { extent };
    out.emit_path(Word::Write, value, outer, Grade::Certain, Source::Operand);
    let Spot::At(at) = spot else { return };
    if at.extent != Extent::Exact {
        return;
    }
    if extent == Extent::Tree && call.name != "install" {
        sources.iter().for_each(|source| laid_over(out, call, source, value));
    }
    let slash = value.text().is_some_and(is_directory);
    let parents = call.has("--parents");
    if into || slash || parents || sources.len() > 1 || out.resolver.is_dir(&at.resolved) {
        sources.iter().for_each(|source| put_into(out, source, value, &at, extent, parents));
    }
}

/// Is it a directory that is there? The home directory always is.
fn is_there(out: &mut Emitter, spot: &Spot) -> bool {
    let Spot::At(at) = spot else { return false };
    (at.lexical == out.place.home || out.resolver.is_dir(&at.resolved)) && !is_changed(out, at)
}

/// Does the source end with a name of its own, not with `.` or `..`?
fn is_named(source: &Value) -> bool {
    source.plain_text().is_some_and(|text| !matches!(split(text).1, "" | "." | ".."))
}

/// A source gets its name, or with `parents` its whole path, in a directory.
fn put_into(
    out: &mut Emitter,
    source: &Value,
    value: &Value,
    at: &Target,
    extent: Extent,
    parents: bool,
) {
    let span = value.span.clone();
    let Some(text) = source.text() else {
        let below = Some(Target { extent: Extent::Below, ..at.clone() });
        return out.push_effect(Word::Write, Grade::Certain, below, None, Source::Operand, span);
    };
    let whole = text.trim_end_matches('/');
    let last = if parents { whole.trim_start_matches('/') } else { split(whole).1 };
    if !matches!(last, "" | "." | "..") {
        let inner = Value::known(format!("{}/{last}", at.lexical), span).globbed(source.is_glob());
        out.emit_path(Word::Write, &inner, extent, Grade::Certain, Source::Operand);
    }
}
