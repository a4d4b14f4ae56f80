//! Programs of Windows whose arguments no row can say: shells, drives, what runs others.

use super::super::code;
use super::super::effects::{Call, Next, join_words};
use super::super::table::{Language, Program, Role, mark};
use super::Invocation;
use crate::effect::decode;
use crate::effect::emitter::Emitter;
use crate::effect::value::Value;
use crate::effect::{Grade, Source, Word, windows};

/// A cmdlet that takes what it acts on from its pipe where no operand names it.
pub(super) fn emit_piped(i: &mut Invocation) {
    let call = i.call;
    let acts = |role: Role| matches!(role, Role::Delete | Role::DeleteTree);
    let named = call.parsed.options.iter().any(|o| o.spec.is_some_and(|s| acts(s.role)));
    if i.values.is_empty() && !named {
        if call.is_dry_run() {
            return;
        }
        let name = Value::known(call.name, call.span.clone());
        let words = std::iter::once(name).chain(call.args.iter().cloned()).collect();
        i.next.push(Next::Words { words, cwd: None, feeds: true });
    } else {
        i.operands();
    }
}

/// format, Format-Volume: a drive loses what is on it. A word that is none may be another program's.
pub fn emit_drive(out: &mut Emitter, call: &Call, values: &[Value]) {
    let letters =
        call.parsed.options.iter().filter(|o| o.spec.is_some_and(|s| s.marks & mark::SPARE != 0));
    let letters = letters.filter_map(|o| o.value.as_ref()).map(|v| match v.plain_text() {
        Some(text) if text.len() == 1 => Value::known(format!("{text}:"), v.span.clone()),
        _ => v.clone(),
    });
    let mut found = false;
    for value in letters.chain(values.iter().cloned()) {
        let root =
            value.plain_text().and_then(windows::canonical_path).filter(|p| p.ends_with(":/"));
        if let Some(root) = root {
            let drive = Value::known(root, value.span.clone());
            out.operand_tree(Word::Delete, &drive);
            found = true;
        } else {
            super::super::effects::maybe_path(out, &value);
        }
    }
    if found {
        call.does(out, Word::System);
    }
}

/// robocopy: with /MIR and /PURGE what the source does not have is deleted.
pub(super) fn emit_robocopy(i: &mut Invocation) {
    i.operands();
    let has = |names: &[&str]| names.iter().any(|name| i.call.has(name));
    for (at, there) in [(1, has(&["-mir", "-purge"])), (0, has(&["-mov", "-move"]))] {
        if let Some(value) = i.values.get(at).filter(|_| there) {
            i.out.operand_tree(Word::Delete, value);
        }
    }
}

/// start, Start-Process: a program and its arguments, which may be one text.
pub(super) fn run_start(i: &mut Invocation) {
    let mut values = i.values.iter().cloned().peekable();
    // `start "title" program`
    if i.call.name == "start" && i.values.len() > 1 {
        values.next_if(|title| title.known_start().contains(' '));
    }
    let Some(file) = i.call.value("-filepath").cloned().or_else(|| values.next()) else { return };
    let mut words = vec![file];
    for value in i.call.value("-argumentlist").cloned().into_iter().chain(values) {
        match value.plain_text() {
            Some(text) => {
                // Quotes hold the words of one argument together.
                for (at, part) in text.split('"').enumerate() {
                    let apart = |c: char| at % 2 == 0 && (c.is_whitespace() || c == ',');
                    let list = part.split(apart).filter(|word| !word.is_empty());
                    words.extend(list.map(|word| Value::known(word, value.span.clone())));
                }
            }
            None => words.push(value),
        }
    }
    i.next.push(Next::words(words));
}

/// Text in the program's own language: its operands, or what comes in on standard input.
pub(super) fn own_text(i: &mut Invocation) {
    let named = i.call.parsed.options.iter().any(|o| o.spec.is_some_and(|s| s.role == Role::Code));
    if !i.values.is_empty() {
        emit_text(i.out, i.program.language(), &i.values, i.next);
    } else if !named {
        i.reads_program();
    }
}

fn emit_text(out: &mut Emitter, lang: Language, values: &[Value], next: &mut Vec<Next>) {
    if let Next::Script { text, .. } = join_words(values) {
        code::emit_inline(out, lang, &text, next);
    }
}

/// powershell, pwsh, cmd: `-Command TEXT`, `/c TEXT`, `-EncodedCommand`, a file, or standard input.
pub fn emit_windows_shell(out: &mut Emitter, call: &Call, program: &Program, next: &mut Vec<Next>) {
    let option = |name: &str| call.parsed.find_option(name);
    let glued = |at: usize| call.args.get(at + 1..).unwrap_or_default();
    if let Some(encoded) = option("-encodedcommand") {
        out.push(Word::Code, Grade::Certain, Source::Code, call.span.clone());
        let whole = glued(encoded.at).first();
        // UTF-16: of what is ASCII every other byte is zero.
        let text = whole.and_then(Value::plain_text).and_then(decode::decode_base64);
        if let Some(text) = text.map(|t| t.replace('\0', "")) {
            code::emit_inline(
                out,
                program.language(),
                &Value::known(text, call.span.clone()),
                next,
            );
        }
        // Nobody has read it.
        return out.emit_unknown("an encoded PowerShell command", call.span.clone());
    }
    let command = option("-command").or_else(|| option("-c")).or_else(|| option("-k"));
    let command = command.or_else(|| option("-r"));
    let words = match (command, option("-file")) {
        (Some(command), _) => glued(command.at),
        (None, Some(file)) => {
            let file = file.value.clone().unwrap_or_else(|| Value::unknown(call.span.clone()));
            return next.push(match file.plain_text() {
                Some("-") => Next::Stdin { lang: program.language() },
                _ => Next::File { file, lang: program.lang },
            });
        }
        (None, None) if call.name == "cmd" => &[],
        // The first operand and all behind it.
        (None, None) => match call.parsed.operands.get(call.parsed.subs) {
            Some(first) => &call.args[*first..],
            None => &[],
        },
    };
    let only = |end: &str| {
        words.len() == 1
            && words[0].plain_text().is_some_and(|t| t.to_ascii_lowercase().ends_with(end))
    };
    match words.first() {
        None => next.push(Next::Stdin { lang: program.language() }),
        Some(word) if words.len() == 1 && word.plain_text() == Some("-") => {
            next.push(Next::Stdin { lang: program.language() });
        }
        // Text that ends in a script's name runs more than that, or another: `rm x; ./y.ps1`, `& ./y.ps1`.
        Some(word) if only(".ps1") && !word.known_start().contains(is_part_of_code) => {
            next.push(Next::File { file: word.clone(), lang: program.lang });
        }
        Some(_) => emit_text(out, program.language(), words, next),
    }
}

/// What no path of one word has: more than a file's name is meant.
fn is_part_of_code(c: char) -> bool {
    c.is_whitespace() || ";|&(){}$`'\"<>@,".contains(c)
}
