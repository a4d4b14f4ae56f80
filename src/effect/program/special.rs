//! Programs whose arguments follow no common pattern: find, dd, tar, git's tree, shells, curl ...

mod cloud;
mod containers;
mod files;
mod forge;
mod git;
mod machine;
mod network;
mod packages;
mod remote;
mod search;
mod windows;
mod wrap;

pub use files::{all, deletes, named, printed};
use files::{dd, fd, find, gzip, ln, tar, unzip};
pub use git::{names_git, redirects as redirects_git};
use remote::{copy, download, ssh, ssh_settings};
pub use wrap::fill;
use wrap::{env, interpreter, parallel, shell, xargs};

use super::effects::{Call, Next, joined, operands};
use super::table::{self, Language, Program, Role, Special, mark};
use crate::effect::emitter::Emitter;
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Word, secret};

/// What holds for every sub-command of a program, also for those that nobody knows; true = this is
/// all that there is to say.
pub fn common(out: &mut Emitter, call: &Call, next: &mut Vec<Next>) -> bool {
    matches!(call.name, "git" | "hub") && git::settings(out, call, next)
}

/// What holds where it runs: a directory that is itself laid out like a repository (such may be
/// committed, unlike `.git`) brings its own settings along, which name programs.
pub fn there(out: &mut Emitter, call: &Call) {
    if call.parsed.program.is_some_and(|row| row.name.contains("compose")) {
        containers::project(out, call);
    }
    if !matches!(call.name, "git" | "hub") {
        return;
    }
    let Some(cwd) = out.cwd.clone() else { return };
    let holds = |out: &mut Emitter, name: &str| out.resolver.exists(&format!("{cwd}/{name}"));
    if holds(out, "HEAD")
        && holds(out, "objects")
        && holds(out, "refs")
        && let Some(command) = out.command.and_then(|at| out.analysis.commands.get_mut(at))
    {
        command.transparent = false;
        command.genuine = false;
    }
}

/// What an allow on the program has to name to mean this call. `from` = its first effect.
pub fn scope(out: &mut Emitter, call: &Call, from: usize) {
    if matches!(call.name, "git" | "hub") {
        git::scope(out, call, from);
    }
    if matches!(call.name, "npm" | "pnpm" | "yarn") {
        packages::scope(out, call);
    }
}

/// Runs the program's own code; false = it has none, the row says everything.
pub fn run(out: &mut Emitter, call: &Call, program: &Program, next: &mut Vec<Next>) -> bool {
    let Some(special) = program.special else { return false };
    let values = call.operands();
    match special {
        Special::Find => find(out, call, next),
        Special::Fd => fd(out, call, next),
        Special::Dd => dd(out, &values),
        Special::Tar => tar(out, call, &values, next),
        Special::Shell => shell(out, call, values, next),
        Special::Interpreter => interpreter(out, call, program, values, next),
        Special::Ln => ln(out, call, &values),
        Special::Xargs if call.name == "parallel" => parallel(call, values, out, next),
        Special::Xargs => xargs(call, values, next),
        Special::Env => env(call, values, next, out),
        Special::Copy | Special::CopyNear => copy(out, call, &values),
        Special::Scp => {
            ssh_settings(out, call, &call.parsed.options);
            copy(out, call, &values);
        }
        Special::Gzip => gzip(out, call, &values),
        Special::Zip => {
            operands(out, call, program, next);
            if call.parsed.option("-m").is_some() {
                for value in values.iter().skip(1) {
                    out.path(Word::Delete, value, Extent::Tree, Grade::Certain, Source::Operand);
                }
            }
        }
        // `script FILE CMD ...`, as other systems have it.
        Special::Session if values.len() > 1 => {
            out.path(Word::Write, &values[0], Extent::Exact, Grade::Certain, Source::Operand);
            next.push(Next::Words { words: values[1..].to_vec(), cwd: None, feeds: false });
        }
        Special::OwnShell | Special::Session => {
            // Without a command these start a shell on their standard input.
            let from = next.len();
            operands(out, call, program, next);
            if next.len() > from {
                return true;
            }
            // `runuser -u bob -- CMD`; without -u it starts a shell, as `su` does.
            if call.name == "runuser" && call.parsed.option("-u").is_some() && !values.is_empty() {
                next.push(Next::Words { words: values, cwd: None, feeds: false });
                return true;
            }
            if let Some(text) = wrap::shell_text(&values) {
                next.push(Next::Script { text, rest: Vec::new() });
                return true;
            }
            let named =
                call.parsed.options.iter().any(|o| o.spec.is_some_and(|s| s.role == Role::Script));
            // `at -f FILE`, `at -d JOB`: nothing is read from there.
            let named = named || call.parsed.has(mark::SPARE);
            if !named && !next.iter().any(|n| matches!(n, Next::Words { .. })) {
                next.push(Next::Stdin { lang: Language::Shell });
            }
        }
        Special::Inside => containers::inside(call, &values, 1, next),
        Special::InsideOnly => {
            operands(out, call, program, next);
            containers::inside(call, &[], 0, next);
        }
        Special::KubectlDelete => containers::delete(out, call, &values),
        Special::KubectlGet => containers::get(out, call, &values),
        Special::ContainerRun => containers::run(out, call, &values, next),
        Special::Ansible => containers::ansible(out, call, next),
        Special::Verbs => cloud::verbs(out, call, program),
        Special::Httpie => network::httpie(out, call, &values),
        Special::Nc => network::nc(out, call, &values, next),
        Special::Socat => network::socat(out, &values, next),
        Special::Client => network::client(out, call, program, &values, next),
        Special::Unzip => {
            if let Some(file) = values.first() {
                out.path(Word::Read, file, Extent::Exact, Grade::Certain, Source::Operand);
            }
            if !call.dry() && call.parsed.option("-d").is_none() {
                out.own_path(Word::Write, ".", Extent::Tree, Grade::Certain, call.span.clone());
            }
            if !call.dry() {
                unzip(out, call, &values);
            }
        }
        Special::Api => forge::api(out, call, &values),
        Special::GhAlias => forge::alias(out, &values),
        Special::GhClone => forge::clone(out, &values),
        Special::Jq => files::jq(out, call, program, next),
        Special::Packages => {
            packages::packages(out, call, program, &values);
            packages::binary(call, next);
        }
        Special::Runner => packages::runner(out, program, &values, next),
        Special::Script => {
            packages::script(out, program, &values, next);
            packages::binary(call, next);
        }
        Special::NpmPkg => packages::fields(out, call, &values),
        Special::Reveals => {
            operands(out, call, program, next);
            out.reveals("what may hold secrets is printed", call.span.clone());
        }
        // A setting that is asked for; without a key all of them are.
        Special::Setting => {
            if values.is_empty() || values.iter().any(|key| secret::is_setting(key.start())) {
                out.reveals("settings that may hold secrets are printed", call.span.clone());
            }
        }
        Special::Ps => {
            let shows = |text: &str| text.contains('e') && !text.contains("pid");
            let format = call.parsed.options.iter().filter_map(|option| option.value.as_ref());
            if values.iter().any(|value| shows(value.start()))
                || format.into_iter().any(|value| value.start().contains("env"))
            {
                out.reveals("the environments of processes are printed", call.span.clone());
            }
        }
        Special::PackageConfig => packages::config(out, call, program, &values),
        Special::Maven => packages::build(out, call, &values),
        Special::Download => download(out, call, &values),
        Special::Ssh => ssh(out, call, values, next),
        Special::Redis => {
            super::code::redis(out, &values, &call.span);
            if values.is_empty() && !call.parsed.has(table::mark::UNSAFE) {
                next.push(Next::Stdin { lang: Language::Redis });
            }
        }
        Special::Editor => {
            // `vim +cmd FILE`; in `ex -s FILE` and `ed FILE` the commands come from standard input.
            for value in &values {
                match value.plain().and_then(|t| t.strip_prefix('+')) {
                    Some(text) if program.lang == Some(Language::Vim) => {
                        let text = Value::known(text, value.span.clone());
                        super::code::emit(out, program.language(), &text, next);
                    }
                    _ if value.plain() == Some("-") => {}
                    // `ed '!CMD'` edits what the command prints.
                    _ if program.lang == Some(Language::Ed) && value.start().starts_with('!') => {
                        next.push(Next::Script { text: value.rest(1), rest: Vec::new() });
                    }
                    _ => super::effects::role(out, call, Role::Edit, value, next),
                }
            }
            if call.name == "ed" || call.name == "ex" || call.parsed.option("-s").is_some() {
                next.push(Next::Stdin { lang: program.language() });
            }
        }
        Special::Make => {
            values.iter().for_each(|value| packages::variable(out, value, next));
            operands(out, call, program, next);
            match call.parsed.option("-f").and_then(|o| o.value.as_ref()) {
                Some(file) if matches!(file.plain(), Some("-" | "/dev/stdin")) => {
                    next.push(Next::Stdin { lang: Language::Make });
                }
                // `-f <(...)`
                Some(file) if file.is_pipe() => {
                    next.push(Next::File { file: file.clone(), lang: Some(Language::Make) });
                }
                _ => {}
            }
        }
        // `+!cmd` of less runs it, another `+` searches or jumps.
        Special::Pager => {
            for value in &values {
                match value.start().strip_prefix('+').map(|t| t.trim_start_matches('+')) {
                    Some(text) if text.starts_with(['!', '|', '#']) => {
                        let from = value.start().len() - text.len() + 1;
                        next.push(Next::Script { text: value.rest(from), rest: Vec::new() });
                    }
                    Some(_) => {}
                    None => super::effects::role(out, call, Role::Read, value, next),
                }
            }
        }
        Special::Sftp => {
            ssh_settings(out, call, &call.parsed.options);
            operands(out, call, program, next);
            if call.parsed.option("-b").is_none() {
                next.push(Next::Stdin { lang: Language::Sftp });
            }
        }
        Special::Transfer => {
            let Some((host, words)) = values.split_first() else { return true };
            out.contact(host, true, Source::Operand);
            let told: Vec<&str> = words.iter().map(Value::start).collect();
            super::code::transfer(out, &told, &call.span, next);
            if told.is_empty() {
                next.push(Next::Stdin { lang: Language::Sftp });
            }
        }
        Special::FlagC => {
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
        Special::Eval => {
            if !values.is_empty() {
                next.push(joined(&values));
            }
        }
        Special::Source => {
            if let Some(file) = values.first() {
                next.push(Next::File { file: file.clone(), lang: Some(Language::Shell) });
            }
        }
        Special::Test => {
            for pair in call.args.windows(2) {
                if pair[0].plain().is_some_and(|o| {
                    matches!(o, "-e" | "-f" | "-d" | "-r" | "-w" | "-x" | "-s" | "-L" | "-h")
                }) && pair[1].text().is_some()
                {
                    out.path(Word::Read, &pair[1], Extent::Exact, Grade::Certain, Source::Operand);
                }
            }
        }
        Special::Machine => machine::machine(out, call, &values),
        Special::Parted => machine::parted(out, call, &values),
        Special::Cpio => machine::cpio(out, call, &values),
        Special::Chattr => machine::chattr(out, call, &values, next),
        Special::Open => machine::open(out, &values),
        Special::Kill if call.name == "fuser" && !call.parsed.has(mark::SPARE) => {}
        Special::Kill => machine::kill(out, call, &values),
        Special::ScriptFile => {
            // The first operand is a file that runs, the others are its own.
            match values.first() {
                Some(file) if file.plain() == Some("-") => {
                    next.push(Next::Stdin { lang: program.language() });
                }
                Some(file) if packages::fetched(out, file) => {}
                Some(file) => next.push(Next::File { file: file.clone(), lang: program.lang }),
                None => {}
            }
        }
        // `screen -X stuff TEXT` types it into a session.
        Special::Screen => match call.parsed.has(mark::SPARE) {
            true => next.extend(values.get(1..).filter(|v| !v.is_empty()).map(typed)),
            false => operands(out, call, program, next),
        },
        // `kitty @ send-text TEXT` types it into a window.
        Special::Typed => next.extend((!values.is_empty()).then(|| typed(&values))),
        // `gdb --args PROGRAM ...`
        Special::Debugger => match call.parsed.option("--args") {
            Some(_) => next.push(Next::Words { words: values, cwd: None, feeds: false }),
            None => {
                operands(out, call, program, next);
                if call.parsed.option("--batch").is_none() {
                    next.push(Next::Stdin { lang: program.language() });
                }
            }
        },
        Special::Daemon => {
            if call.parsed.option("--stop").is_some() {
                out.push(Word::Process, Grade::Certain, Source::Program, call.span.clone());
                return true;
            }
            let value = |name| call.parsed.option(name).and_then(|option| option.value.clone());
            if let Some(program) = value("--startas").or_else(|| value("--exec")) {
                let words = std::iter::once(program).chain(values).collect();
                next.push(Next::Words { words, cwd: None, feeds: false });
            }
            if let Some(file) = value("--pidfile").filter(|_| call.parsed.option("-m").is_some()) {
                super::effects::role(out, call, table::Role::Write, &file, next);
            }
        }
        Special::Piped => windows::piped(out, call, program, &values, next),
        Special::Drive => windows::drive(out, call, &values),
        Special::Robocopy => windows::robocopy(out, call, program, &values, next),
        Special::Start => windows::start(call, values, next),
        Special::OwnText => windows::own_text(out, call, program, &values, next),
        Special::WindowsShell => windows::shell(out, call, program, next),
        Special::GitCheckout
        | Special::GitClean
        | Special::GitClone
        | Special::GitFill
        | Special::GitConfig
        | Special::GitContents
        | Special::GitDiff
        | Special::GitGc
        | Special::GitOwn
        | Special::GitPull
        | Special::GitPush
        | Special::GitRefs
        | Special::GitRemote
        | Special::GitRemoteRead
        | Special::GitReset
        | Special::GitRestore
        | Special::GitTree
        | Special::GitWorktree => git::run(out, call, program, special, &values, next),
    }
    true
}

/// What is typed into a terminal, where escapes stand for the keys.
fn typed(values: &[Value]) -> Next {
    let unescaped = |v: &Value| match v.plain() {
        Some(text) => {
            // The names that tmux has for the key.
            let enter = matches!(text, "Enter" | "KPEnter" | "C-m" | "C-j");
            let text = text.replace("\\n", "\n").replace("\\r", "\n").replace("\\x0d", "\n");
            Value::known(if enter { "\n" } else { text.as_str() }, v.span.clone())
        }
        None => v.clone(),
    };
    joined(&values.iter().map(unescaped).collect::<Vec<_>>())
}
