//! Programs whose arguments follow no common pattern: find, dd, tar, git's tree, shells, curl ...

mod files;
mod git;
mod remote;
mod wrap;

pub use files::found;
use files::{dd, fd, find, gzip, ln, tar};
use git::{git_config, git_settings};
use remote::{copy, docker_run, download, ssh, ssh_settings};
use wrap::{env, interpreter, parallel, shell, xargs};
pub use wrap::{fill, replace};

use super::effects::{Call, Next, joined, operands};
use super::table::{self, Program, Role};
use crate::effect::path::split;
use crate::effect::value::{Emitter, Value};
use crate::effect::{Extent, Grade, Source, Word};

/// Runs the program's own code; false = it has none, the row says everything.
pub fn run(
    out: &mut Emitter,
    call: &Call,
    program: &Program,
    dry: bool,
    next: &mut Vec<Next>,
) -> bool {
    let values = call.operands();
    if call.name == "git" {
        git_settings(out, call);
    }
    if matches!(call.name, "scp" | "sftp") {
        ssh_settings(out, call, &call.parsed.options);
    }
    if matches!(call.name, "make" | "gmake") {
        // The program that runs every line of the recipes.
        for value in &values {
            if let Some(shell) = value.plain().and_then(|t| t.strip_prefix("SHELL=")) {
                let text = Value::known(shell, value.span.clone());
                next.push(Next::Script { text, rest: Vec::new() });
            }
        }
    }
    match program.special {
        "" => return false,
        "find" => find(out, call, next),
        "fd" => fd(out, call, next),
        "dd" => dd(out, &values),
        "tar" => tar(out, call, &values, next),
        "shell" => shell(out, call, values, next),
        "interpreter" => interpreter(out, call, program, values, dry, next),
        "ln" => ln(out, call, &values),
        "xargs" if call.name == "parallel" => parallel(call, values, out, next),
        "xargs" => xargs(call, values, next),
        "env" => env(call, values, next, out),
        "copy" => copy(out, call, &values, dry),
        "gzip" => gzip(out, call, &values),
        "git-tree" => {
            operands(out, call, program, dry, next);
            if !dry {
                out.own_path(Word::Write, ".", Extent::Tree, Grade::Possible, call.span.clone());
            }
        }
        "git-restore" => {
            // Without --worktree, --staged leaves the files alone.
            let staged = call.parsed.option("--staged").is_some()
                && call.parsed.option("--worktree").is_none();
            operands(out, call, program, dry || staged, next);
        }
        "zip" => {
            operands(out, call, program, dry, next);
            if call.parsed.option("-m").is_some() {
                for value in values.iter().skip(1) {
                    out.path(Word::Delete, value, Extent::Tree, Grade::Certain, Source::Operand);
                }
            }
        }
        "own-shell" => {
            // Without a command these start a shell on their standard input.
            operands(out, call, program, dry, next);
            let named =
                call.parsed.options.iter().any(|o| o.spec.is_some_and(|s| s.role == Role::Script));
            // `su bob -- -c TEXT`, `runuser -u bob -- CMD`
            let flag = values.iter().position(|v| v.plain() == Some("-c"));
            if let Some(text) = flag.and_then(|at| values.get(at + 1)) {
                next.push(Next::Script { text: text.clone(), rest: Vec::new() });
                return true;
            }
            if call.name == "runuser" && call.parsed.option("-u").is_some() && !values.is_empty() {
                next.push(Next::Words { words: values, cwd: None, feeds: false });
                return true;
            }
            if !named && !next.iter().any(|n| matches!(n, Next::Words { .. })) {
                next.push(Next::Stdin { lang: "shell" });
            }
        }
        "git-clean" => {
            if !dry {
                if values.is_empty() {
                    out.own_path(
                        Word::Delete,
                        ".",
                        Extent::Tree,
                        Grade::Certain,
                        call.span.clone(),
                    );
                }
                for value in &values {
                    out.path(Word::Delete, value, Extent::Tree, Grade::Certain, Source::Operand);
                }
            }
        }
        "git-config" => git_config(out, call, &values),
        "git-clone" => {
            if let Some(url) = values.first() {
                if url.plain().is_some_and(|t| t.starts_with("ext::")) {
                    out.unknown("git's ext transport runs a command", url.span.clone());
                }
                if url.start().contains("://") || url.start().contains('@') || url.text.is_none() {
                    out.contact(url, false, Source::Operand);
                } else {
                    out.path(Word::Read, url, Extent::Tree, Grade::Certain, Source::Operand);
                }
                let name = url.plain().map(|t| {
                    split(t.trim_end_matches('/'))
                        .1
                        .trim_end_matches(".git")
                        .rsplit(':')
                        .next()
                        .unwrap_or_default()
                        .to_string()
                });
                let target = match (values.get(1), name) {
                    (Some(dir), _) => dir.clone(),
                    (None, Some(name)) => Value::known(name, url.span.clone()),
                    (None, None) => {
                        Value { prefix: Some("./".to_string()), ..Value::unknown(url.span.clone()) }
                    }
                };
                out.path(Word::Write, &target, Extent::Tree, Grade::Certain, Source::Operand);
            }
        }
        "git-bisect" => {
            if values.first().and_then(Value::plain) == Some("run") && values.len() > 1 {
                next.push(Next::Words { words: values[1..].to_vec(), cwd: None, feeds: false });
            }
            out.own_path(Word::Write, ".", Extent::Tree, Grade::Possible, call.span.clone());
        }
        "git-submodule" => {
            if let Some(at) = values.iter().position(|v| v.plain() == Some("foreach")) {
                next.push(joined(&values[at + 1..]));
            }
            out.own_path(Word::Write, ".", Extent::Tree, Grade::Possible, call.span.clone());
        }
        "git-filter" => out.unknown("git filter-branch runs its arguments", call.span.clone()),
        "kubectl-exec" => {
            let from = call.args.iter().position(|a| a.plain() == Some("--")).map(|at| at + 1);
            let words: Vec<Value> = match from {
                Some(from) => call.args[from..].to_vec(),
                None => values.iter().skip(1).cloned().collect(),
            };
            if !words.is_empty() {
                next.push(Next::Words { words, cwd: None, feeds: false });
            }
        }
        "unzip" => {
            if let Some(file) = values.first() {
                out.path(Word::Read, file, Extent::Exact, Grade::Certain, Source::Operand);
            }
            if !dry && call.parsed.option("-d").is_none() {
                out.own_path(Word::Write, ".", Extent::Tree, Grade::Certain, call.span.clone());
            }
        }
        "download" => download(out, call, &values, dry),
        "ssh" => ssh(out, call, values, next),
        "runuser" => {
            // With -u it starts a program, without it a shell as `su` does.
            if call.parsed.option("-u").is_some() {
                next.push(Next::Words { words: values, cwd: None, feeds: false });
            } else if call.parsed.option("-c").is_none() {
                next.push(Next::Stdin { lang: "shell" });
            }
        }
        "client" => {
            // Statements that no option and no operand names come from standard input.
            operands(out, call, program, dry, next);
            let named = call.parsed.options.iter().any(|o| {
                o.spec.is_some_and(|s| s.role == Role::Code)
                    || matches!(
                        o.name.as_str(),
                        "-f" | "--file" | "-l" | "--list" | "--queries-file"
                    )
            });
            if !named && (program.repeat != Role::Code || values.len() < 2) {
                next.push(Next::Stdin { lang: program.lang });
            }
        }
        "redis" => {
            super::code::redis(out, &values, &call.span);
            if values.is_empty() && !call.parsed.has(table::mark::UNSAFE) {
                next.push(Next::Stdin { lang: "redis" });
            }
        }
        "editor" => {
            // `vim +cmd FILE`; in `ex -s FILE` and `ed FILE` the commands come from standard input.
            for value in &values {
                match value.plain().and_then(|t| t.strip_prefix('+')) {
                    Some(text) if program.lang == "vim" => {
                        let text = Value::known(text, value.span.clone());
                        super::code::emit(out, program.lang, &text, next);
                    }
                    _ if value.plain() == Some("-") => {}
                    _ => super::effects::role(out, call, Role::Edit, value, dry, next),
                }
            }
            if call.name == "ed" || call.name == "ex" || call.parsed.option("-s").is_some() {
                next.push(Next::Stdin { lang: program.lang });
            }
        }
        "make" => {
            operands(out, call, program, dry, next);
            if call
                .parsed
                .option("-f")
                .is_some_and(|o| o.value.as_ref().and_then(Value::plain) == Some("-"))
            {
                next.push(Next::Stdin { lang: "make" });
            }
        }
        "flag-c" => {
            // `flock FILE -c TEXT`, `flock FILE CMD`: the text is an option of the rest.
            let Some(file) = values.first() else { return true };
            out.path(Word::Write, file, Extent::Exact, Grade::Certain, Source::Operand);
            let rest = &values[1..];
            match rest.first().and_then(Value::plain) {
                Some("-c" | "--command") => {
                    if let Some(text) = rest.get(1) {
                        next.push(Next::Script { text: text.clone(), rest: Vec::new() });
                    }
                }
                Some(_) | None if !rest.is_empty() => {
                    next.push(Next::Words { words: rest.to_vec(), cwd: None, feeds: false });
                }
                _ => {}
            }
        }
        "eval" => {
            if !values.is_empty() {
                next.push(joined(&values));
            }
        }
        "source" => {
            if let Some(file) = values.first() {
                next.push(Next::File { file: file.clone(), lang: "shell" });
            }
        }
        "alias" => {}
        "test" => {
            for pair in call.args.windows(2) {
                if pair[0].plain().is_some_and(|o| {
                    matches!(o, "-e" | "-f" | "-d" | "-r" | "-w" | "-x" | "-s" | "-L" | "-h")
                }) && pair[1].text.is_some()
                {
                    out.path(Word::Read, &pair[1], Extent::Exact, Grade::Certain, Source::Operand);
                }
            }
        }
        "kill" => out.push(Word::Process, Grade::Certain, Source::Program, call.span.clone()),
        // Every operand is a command line (hyperfine).
        "scripts" => {
            next.extend(values.iter().map(|v| Next::Script { text: v.clone(), rest: Vec::new() }))
        }
        "script-file" => {
            // The first operand is a file that runs, the others are its own.
            if let Some(file) = values.first() {
                next.push(Next::File { file: file.clone(), lang: program.lang });
            }
        }
        "busybox" => {
            if !values.is_empty() {
                next.push(Next::Words { words: values, cwd: None, feeds: false });
            }
        }
        "build" => {
            // make, npm run, cargo test: opaque, but a directory or file option was handled above.
        }
        "docker-run" => docker_run(out, call, &values, next),
        other => {
            debug_assert!(false, "no such special: {other}");
            out.unknown("a program table names code that does not exist", call.span.clone());
        }
    }
    true
}
