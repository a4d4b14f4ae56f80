//! Shells, terminals and what starts a command: `su`, `screen`, `script`, `flock`, `eval`.

use super::packages::emit_fetched_program;
use super::{Invocation, wrap};
use crate::effect::Word;
use crate::effect::program::effects::{Call, Next, emit_role, join_words};
use crate::effect::program::guess;
use crate::effect::program::options::is_sub_command;
use crate::effect::program::table::{Language, Role, mark};
use crate::effect::program::twins::note_file;
use crate::effect::value::Value;

/// `script FILE CMD ...`, as other systems have it; else a shell.
pub(super) fn session(i: &mut Invocation) {
    if i.values.len() < 2 {
        return own_shell(i);
    }
    i.out.operand(Word::Write, &i.values[0]);
    i.next.push(Next::words(i.values[1..].to_vec()));
}

/// Without a command these start a shell on their standard input.
pub(super) fn own_shell(i: &mut Invocation) {
    let from = i.next.len();
    i.operands();
    if i.next.len() > from {
        return;
    }
    // `runuser -u bob -- CMD`; without -u it starts a shell, as `su` does.
    if i.call.name == "runuser" && i.call.has("-u") && !i.values.is_empty() {
        return i.next.push(Next::words(std::mem::take(&mut i.values)));
    }
    if let Some(text) = wrap::shell_text(&i.values) {
        return i.next.push(Next::script(text));
    }
    if !names_script(i.call) && !i.next.iter().any(|n| matches!(n, Next::Words { .. })) {
        i.next.push(Next::Stdin { lang: Language::Shell });
    }
}

/// Does an option say what runs? `at -f FILE` does, and `at -d JOB` runs nothing.
fn names_script(call: &Call) -> bool {
    let script = call.parsed.options.iter().any(|o| o.spec.is_some_and(|s| s.role == Role::Script));
    script || call.parsed.has_mark(mark::SPARE)
}

/// `flock FILE -c TEXT`, `flock FILE CMD`: the text is an option of the rest.
pub(super) fn flock(i: &mut Invocation) {
    let Some((file, rest)) = i.values.split_first() else { return };
    i.out.operand(Word::Write, file);
    match rest.first().map(|first| (first.plain_text(), rest.get(1))) {
        Some((Some("-c" | "--command"), text)) => i.next.extend(text.cloned().map(Next::script)),
        Some(_) => i.next.push(Next::words(rest.to_vec())),
        None => {}
    }
}

/// Behind `--`, or an option that says so, stands a command; else all that is there is one, or a shell starts.
pub(super) fn behind(i: &mut Invocation) {
    let call = i.call;
    let marked = |at: usize| {
        call.args[at].plain_text() == Some("--")
            || call
                .parsed
                .options
                .iter()
                .any(|o| o.at == at && o.spec.is_some_and(|spec| spec.marks & mark::SPARE != 0))
    };
    let words = match (0..call.args.len()).find(|at| marked(*at)) {
        Some(at) => call.args[at + 1..].to_vec(),
        // `nix develop .#ci`: what it names are packages.
        None if i.program.lang.is_some() => Vec::new(),
        None => match call.parsed.operands.get(call.parsed.subs) {
            Some(first) => call.args[*first..].to_vec(),
            None => Vec::new(),
        },
    };
    i.next.push(match &words[..] {
        [] if i.program.lang.is_some() => Next::Stdin { lang: i.program.language() },
        [] => return,
        [text] if text.known_start().contains(' ') => Next::script(text.clone()),
        _ => Next::words(words),
    });
}

/// Words that are shell text.
pub(super) fn eval(i: &mut Invocation) {
    if !i.values.is_empty() {
        i.next.push(join_words(&i.values));
    }
}

/// A file whose text the shell itself runs.
pub(super) fn source(i: &mut Invocation) {
    let lang = Some(Language::Shell);
    note_file(i.out, &i.values);
    i.next.extend(i.values.first().map(|file| Next::File { file: file.clone(), lang }));
}

/// The first operand is a file that runs, the others are its own.
pub(super) fn script_file(i: &mut Invocation) {
    match i.values.first() {
        Some(file) if file.plain_text() == Some("-") => i.reads_program(),
        Some(file) if emit_fetched_program(i.out, file) => {}
        // `pm2 start 'npm start'`
        Some(text) if text.known_start().contains(' ') => i.next.extend(guess::of_value(text)),
        Some(file) => {
            note_file(i.out, &i.values);
            i.next.push(Next::File { file: file.clone(), lang: i.program.lang });
        }
        None => {}
    }
}

/// `screen -X stuff TEXT` types it into a session.
pub(super) fn screen(i: &mut Invocation) {
    match i.call.parsed.has_mark(mark::SPARE) {
        true => i.next.extend(i.values.get(1..).filter(|v| !v.is_empty()).map(keys)),
        false => i.operands(),
    }
}

/// What tmux runs wherever it stands: the command behind a `;`, that of a format, `#(cmd)`, a command of its own
/// that another one is given, and what a setting names.
pub(super) fn multiplexed(call: &Call, next: &mut Vec<Next>) {
    let own = |text: &str, span| Next::script(Value::known(format!("tmux {text}"), span));
    for (at, arg) in call.args.iter().enumerate() {
        let Some(text) = arg.text() else { continue };
        let rest = call.args.get(at + 1..).unwrap_or_default();
        if text.ends_with(';') && !text.ends_with("\\;") && !rest.is_empty() {
            let tmux = Value::known("tmux", arg.span.clone());
            next.push(Next::words(std::iter::once(tmux).chain(rest.iter().cloned()).collect()));
        }
        for format in text.split("#(").skip(1) {
            let text = format[..closing(format)].replace("#{", "${");
            next.push(Next::script(Value::known(text, arg.span.clone())));
        }
        // `set-hook NAME 'run-shell cmd'`, `command-alias[9]=x='run cmd'`
        let inner = text.rsplit_once(['=', '{']).map_or(text, |(_, inner)| inner).trim_start();
        let name = inner.split(char::is_whitespace).next().unwrap_or_default();
        if at > 0 && name.len() < inner.len() && is_sub_command("tmux", name) {
            next.push(own(inner, arg.span.clone()));
        }
        if !text.starts_with('-')
            && !text.contains(char::is_whitespace)
            && guess::names_command(text.split('[').next().unwrap_or_default())
        {
            next.extend(rest.first().cloned().map(Next::script));
        }
    }
}

/// Where the bracket that is open before the text is closed.
fn closing(text: &str) -> usize {
    let mut open = 1;
    let closes = |(_, byte): &(usize, u8)| {
        open += i32::from(*byte == b'(') - i32::from(*byte == b')');
        open == 0
    };
    text.bytes().enumerate().find(closes).map_or(text.len(), |(at, _)| at)
}

/// `kitty @ send-text TEXT` types it into a window.
pub(super) fn typed(i: &mut Invocation) {
    if i.call.has("-H") {
        i.out.emit_unknown("keys that are typed by their numbers", i.call.span.clone());
    }
    i.next.extend((!i.values.is_empty()).then(|| keys(&i.values)));
}

/// `gdb --args PROGRAM ...`
pub(super) fn debugger(i: &mut Invocation) {
    if let Some(at) = i.call.args.iter().position(|arg| arg.plain_text() == Some("--")) {
        i.next.push(Next::words(i.call.args[at + 1..].to_vec()));
    }
    // The process that it is attached to stops.
    if i.call.has_any(&["-p", "-n"]) {
        i.call.does(i.out, Word::Process);
    }
    if i.call.has("--args") {
        return i.next.push(Next::words(std::mem::take(&mut i.values)));
    }
    i.operands();
    if !i.call.has("--batch") {
        i.reads_program();
    }
}

/// `start-stop-daemon`: a program, and the file that gets its number.
pub(super) fn daemon(i: &mut Invocation) {
    let call = i.call;
    if call.has("--stop") {
        return call.does(i.out, Word::Process);
    }
    if let Some(program) = call.value("--startas").or_else(|| call.value("--exec")) {
        let words = std::iter::once(program).chain(&i.values).cloned().collect();
        i.next.push(Next::words(words));
    }
    if let Some(file) = call.value("--pidfile").filter(|_| call.has("-m")) {
        emit_role(i.out, call, Role::Write, file, i.next);
    }
}

/// What is typed into a terminal, where escapes stand for the keys.
fn keys(values: &[Value]) -> Next {
    let unescaped = |v: &Value| match v.plain_text() {
        Some(text) => {
            // The names that tmux has for the key.
            let enter = matches!(text, "Enter" | "KPEnter" | "C-m" | "C-j");
            let text = if text == "Space" { "" } else { text };
            let text = text.replace("\\n", "\n").replace("\\r", "\n").replace("\\x0d", "\n");
            Value::known(if enter { "\n" } else { text.as_str() }, v.span.clone())
        }
        None => v.clone(),
    };
    join_words(&values.iter().map(unescaped).collect::<Vec<_>>())
}
