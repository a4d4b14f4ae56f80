//! Programs whose operands are, or hold, text of their own: editors, pagers, jq, make, redis-cli.

use super::{Invocation, packages};
use crate::effect::program::effects::{Call, Next, emit_operands, emit_role};
use crate::effect::program::table::{Language, Role, mark};
use crate::effect::program::{Parsed, code};
use crate::effect::value::Value;

/// `vim +cmd FILE`; in `ex -s FILE` and `ed FILE` the commands come from standard input.
pub(super) fn editor(i: &mut Invocation) {
    for value in &std::mem::take(&mut i.values) {
        edited(i, value);
    }
    if matches!(i.call.name, "ed" | "ex") || i.call.has_any(&["-s", "-es"]) {
        i.reads_program();
    }
}

/// An operand of an editor: a command, or a file.
fn edited(i: &mut Invocation, value: &Value) {
    let lang = i.program.lang;
    match value.plain_text().and_then(|t| t.strip_prefix('+')) {
        Some(text) if lang == Some(Language::Vim) => {
            let text = Value::known(text, value.span.clone());
            code::emit_inline(i.out, i.program.language(), &text, i.next);
        }
        _ if value.plain_text() == Some("-") => {}
        // `ed '!CMD'` edits what the command prints.
        _ if lang == Some(Language::Ed) && value.known_start().starts_with('!') => {
            i.next.push(Next::script(value.skip_bytes(1)));
        }
        _ => emit_role(i.out, i.call, Role::Edit, value, i.next),
    }
}

/// `+!cmd` of less runs it, another `+` searches or jumps.
pub(super) fn pager(i: &mut Invocation) {
    for value in &i.values {
        match value.known_start().strip_prefix('+').map(|t| t.trim_start_matches('+')) {
            Some(text) if text.starts_with(['!', '|', '#']) => {
                let from = value.known_start().len() - text.len() + 1;
                i.next.push(Next::script(value.skip_bytes(from)));
            }
            Some(_) => {}
            None => emit_role(i.out, i.call, Role::Read, value, i.next),
        }
    }
}

/// jq's program and files.
pub(super) fn jq(i: &mut Invocation) {
    let parsed = without_handed(i);
    let Call { name, args, fed, .. } = *i.call;
    let call = &Call { name, args, parsed: &parsed, span: i.call.span.clone(), fed };
    for (at, value) in call.operands().iter().enumerate() {
        if at == 0 || value.text().is_some() {
            code::emit_inline(i.out, Language::Jq, value, i.next);
        }
    }
    emit_operands(i.out, call, i.program, i.next);
}

/// The arguments without what `--arg NAME VALUE` and `--args VALUE...` hand to the program.
fn without_handed(i: &mut Invocation) -> Parsed {
    let call = i.call;
    let mut parsed = call.parsed.clone();
    for option in &call.parsed.options {
        let file = option.is_option("--slurpfile") || option.is_option("--rawfile");
        let value = option.at + 2;
        if option.is_option("--args") || option.is_option("--jsonargs") {
            let first = parsed.operands.first().copied();
            parsed.operands.retain(|at| *at < option.at || Some(*at) == first);
        } else if (file || option.is_option("--arg") || option.is_option("--argjson"))
            && call.args.get(option.at..=value).is_some_and(|w| w.iter().all(Value::counts_once))
        {
            parsed.operands.retain(|at| *at != value);
            if file {
                emit_role(i.out, call, Role::Read, &call.args[value], i.next);
            }
        }
    }
    parsed
}

/// Variables that make runs, and a makefile that comes in on a pipe.
pub(super) fn make(i: &mut Invocation) {
    for value in &i.values {
        let started = i.next.len();
        packages::emit_make_variable(i.out, value, i.next);
        // Recipes get it in their environment; of what make itself starts all is told.
        if i.next.len() == started && value.known_start().contains('=') {
            i.next.push(Next::words(vec![value.clone()]));
        }
    }
    i.operands();
    match i.call.value("-f") {
        Some(file) if matches!(file.plain_text(), Some("-" | "/dev/stdin")) => {
            i.next.push(Next::Stdin { lang: Language::Make });
        }
        // `-f <(...)`
        Some(file) if file.is_pipe() => {
            i.next.push(Next::File { file: file.clone(), lang: Some(Language::Make) });
        }
        _ => {}
    }
}

/// redis-cli: the operands are one command, without any they come from standard input.
pub(super) fn redis(i: &mut Invocation) {
    code::emit_redis(i.out, &i.values, &i.call.span);
    if i.values.is_empty() && !i.call.parsed.has_mark(mark::UNSAFE) {
        i.next.push(Next::Stdin { lang: Language::Redis });
    }
}
