//! Rewrites that start a command through another program, or feed its words to one.

use super::line::{Line, Rng, is_plain, single};
use super::rewrite::Rewrite;

/// Programs that start the command, and what stands before it.
pub const WRAPPERS: &[Rewrite] = &[
    ("sudo", |l, r| wrap(l, r, &["sudo", "sudo -u root", "sudo -n", "sudo -E --", "sudo A=b"])),
    ("doas", |l, r| wrap(l, r, &["doas", "doas -u root", "pkexec", "run0"])),
    ("env", |l, r| {
        wrap(l, r, &["env", "env A=b", "env -i", "env -u A", "env -i A=b C=d", "/usr/bin/env"])
    }),
    ("nice", |l, r| wrap(l, r, &["nice", "nice -n 5", "nice -5", "nice --adjustment=5"])),
    ("ionice", |l, r| wrap(l, r, &["ionice", "ionice -c3", "ionice -c 2 -n 7"])),
    ("timeout", |l, r| {
        wrap(l, r, &["timeout 5", "timeout -k 1 5", "timeout --signal=KILL 5s", "timeout -s9 1m"])
    }),
    ("nohup", |l, r| wrap(l, r, &["nohup", "setsid", "setsid -w", "setsid --fork"])),
    ("stdbuf", |l, r| wrap(l, r, &["stdbuf -oL", "stdbuf -i0 -o0", "unbuffer", "chronic"])),
    ("strace", |l, r| wrap(l, r, &["strace -f", "strace -f -o /tmp/trace", "ltrace -f"])),
    ("flock", |l, r| wrap(l, r, &["flock /tmp/lock", "flock -n /tmp/lock"])),
    ("taskset", |l, r| wrap(l, r, &["taskset -c 0", "chrt -b 0", "/usr/bin/time -p"])),
    ("busybox", busybox),
    ("watch", watch),
    ("xargs", xargs),
    ("shell words", shell_word),
];

/// What only a shell can run.
pub const BUILTINS: &[&str] = &[
    ".", "alias", "builtin", "cd", "command", "declare", "disown", "enable", "eval", "exec",
    "exit", "export", "hash", "history", "mapfile", "popd", "pushd", "read", "readonly", "set",
    "shopt", "source", "trap", "type", "typeset", "ulimit", "umask", "unset",
];

/// Starts one of the commands through a program.
fn wrap(line: &mut Line, rng: &mut Rng, ways: &[&str]) -> bool {
    let at = rng.below(line.stages.len());
    let way = rng.pick(ways).to_string();
    let stage = &mut line.stages[at];
    // What feeds xargs stays in front.
    let front = usize::from(stage.wrappers.first().is_some_and(|w| w.ends_with('|')));
    let outer = stage.wrappers.get(front).is_some_and(|w| OUTERMOST.contains(&w.as_str()));
    if BUILTINS.contains(&stage.name().as_str()) || outer || stage.wrappers.len() > 3 {
        return false;
    }
    stage.wrappers.insert(front, way);
    true
}

/// What only the shell itself understands.
const OUTERMOST: &[&str] = &[
    "command",
    "builtin command",
    "exec",
    "command -p",
    "A9=b",
    "LC_ALL=C",
    "exec -a x",
    "exec -c",
];

fn shell_word(line: &mut Line, rng: &mut Rng) -> bool {
    let way = rng.pick(OUTERMOST);
    if BUILTINS.contains(&line.stages[0].name().as_str()) {
        return false;
    }
    wrap(line, rng, &[way])
}

fn busybox(line: &mut Line, rng: &mut Rng) -> bool {
    const APPLETS: &[&str] = &[
        "rm", "chmod", "chown", "cp", "mv", "cat", "dd", "find", "sed", "tee", "head", "tail",
        "sh", "wget", "tar", "truncate", "unlink", "rmdir", "ln", "nc", "base64", "shred", "touch",
        "mkdir", "grep", "sort", "echo",
    ];
    let stage = &line.stages[0];
    let bare = stage.words[0].text == stage.words[0].value && stage.wrappers.is_empty();
    if line.stages.len() > 1 || !bare || !APPLETS.contains(&stage.name().as_str()) {
        return false;
    }
    wrap(line, rng, &["busybox", "toybox", "/bin/busybox"])
}

/// Are all words such that a second round of the shell changes nothing?
fn settled(line: &Line) -> bool {
    line.stages.len() == 1
        && line.stages[0].wrappers.is_empty()
        && line.stages[0].words.iter().all(|w| w.literal && is_plain(&w.value))
}

fn watch(line: &mut Line, rng: &mut Rng) -> bool {
    if !settled(line) {
        return false;
    }
    wrap(line, rng, &["watch", "watch -n1", "watch -n 1 -t", "env -S"])
}

/// `echo WORDS | xargs PROGRAM`
fn xargs(line: &mut Line, rng: &mut Rng) -> bool {
    if !settled(line)
        || line.stages[0].words.len() < 2
        || line.stages[0].redirects.iter().any(|(operator, _)| operator == "<")
        || BUILTINS.contains(&line.stages[0].name().as_str())
    {
        return false;
    }
    let stage = &mut line.stages[0];
    let from = 1 + rng.below(stage.words.len() - 1);
    let words: Vec<String> = stage.words.drain(from..).map(|w| w.value).collect();
    // echo would take an option for itself.
    let feeder = if words[0].starts_with('-') {
        let words: Vec<String> = words.iter().map(|w| single(w)).collect();
        format!("printf '%s\\n' {} |", words.join(" "))
    } else {
        format!("echo {} |", words.join(" "))
    };
    stage.wrappers.splice(0..0, [feeder, "xargs".to_string()]);
    true
}
