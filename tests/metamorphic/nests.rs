//! Whole command lines put into others: groups, branches, substitutions, shells in shells, neighbours.

use super::line::{Rng, ansi, double, single};

/// Whole command lines: `{}` is the line (nothing may follow it on its last line if it ends in a
/// heredoc), `{q}` `{d}` `{a}` the line in single, double, ANSI-C quotes, `{b}` between backticks.
pub const NESTS: &[&str] = &[
    // Groups and branches.
    "( {}\n)",
    "{ {}\n}",
    "( ( {}\n) )",
    "f§() {\n{}\n}; f§",
    "function f§ { {}\n}\nf§",
    "function f§() ( {}\n)\nf§ x y",
    "if true; then\n{}\nfi",
    "if false; then :; else\n{}\nfi",
    "if {}\nthen :; fi",
    "for i in 1; do\n{}\ndone",
    "for i in 1 2 3; do {}\ndone",
    "for ((i = 0; i < 1; i++)); do\n{}\ndone",
    "while true; do\n{}\nbreak; done",
    "while {}\ndo break; done",
    "until false; do {}\nbreak; done",
    "case x in x) {}\n;; esac",
    "case x in\n(a|x)\n{}\n;;\n*) ;;\nesac",
    "[ -d /tmp ] && {\n{}\n}",
    "[[ -d /tmp ]] && ( {}\n)",
    "false || { {}\n}",
    "! { {}\n}",
    "coproc { {}\n}",
    "time ( {}\n)",
    // Output.
    "{ {}\n} 2>/dev/null",
    "( {}\n) >/dev/null 2>&1",
    "( {}\n) &> /dev/null &",
    "{ {}\n} | cat",
    "( {}\n) 2>&1 | tail -n 3",
    "echo $(\n{}\n)",
    "echo \"done: $({}\n)\"",
    "x=$({}\n)",
    "cat <( {}\n)",
    "echo \"`{b}`\"",
    "x=`{b}`",
    "echo ${U9:-$({}\n)}",
    "echo $(( $({}\n) + 1 ))",
    "cat <<END§\n$({}\n)\nEND§",
    "[ -n \"$({}\n)\" ]",
    "for i in $({}\n); do echo $i; done",
    "export A=$({}\n)",
    "test -z \"$({}\n)\" && echo no",
    "A=$({}\n) true",
    "a[$({}\n)]=1",
    "cat <<< \"$({}\n)\"",
    "echo x > \"/tmp/$({}\n)\"",
    // Neighbours.
    "true\n{}",
    "# a note\n{}",
    "{}\n# a note",
    "{}\n:",
    "\n\n\t{}\n",
    "set -e\n{}",
    "cd . && {}",
    "true && {}",
    "true; {}",
    "  {}",
    "echo a &\n{}",
    "echo 'a\nb'\n{}",
    "cat <<'END§'\ntext\nEND§\n{}",
    "A=1 B=2\n{}",
    "git status && ls -la; {}",
    "cd src && cd .. && {}",
    "echo \"it's\"; {}",
    "ls | while read -r f; do\n{}\ndone",
    // Shells in shells.
    "bash -c {q}",
    "sh -c {q}",
    "bash -c {d}",
    "bash -c {a}",
    "bash -lc {q}",
    "sh -ec {q}",
    "bash -euo pipefail -c {q}",
    "zsh -c {q}",
    "dash -c {q} x y",
    "/bin/sh -c {q}",
    "env bash -c {q}",
    "timeout 5 bash -c {q}",
    "nohup sh -c {q} &",
    "bash -c -- {q}",
    "bash -o pipefail -c {q}",
    "bash --norc -c {q}",
    "busybox sh -c {q}",
    "eval {q}",
    "eval {d}",
    "eval -- {q}",
    "X§={q}; eval \"$X§\"",
    "X§={q}; bash -c \"$X§\"",
    "X§={d}\neval '' \"$X§\"",
    "bash <<< {q}",
    "sh <<'EOF§'\n{}\nEOF§\n",
    "bash -s <<'EOF§'\n{}\nEOF§\n",
    "bash -s -- a b <<\\EOF§\n{}\nEOF§\n",
    "cat <<'EOF§' | bash\n{}\nEOF§\n",
    "bash /dev/stdin <<< {q}",
    "source /dev/stdin <<< {q}",
    ". /dev/stdin <<'EOF§'\n{}\nEOF§\n",
    "source <(echo {q})",
    "bash <(printf '%s\\n' {q})",
    "echo {q} | bash",
    "printf '%s\\n' {q} | sh",
    "echo {q} | tee /tmp/copy | bash",
    "trap {q} EXIT",
    "trap -- {q} INT TERM EXIT",
    "trap {q} ERR; false",
    "shopt -s expand_aliases\nalias zz§={q}\nzz§",
    "watch -n1 {q}",
    "script -qc {q} /dev/null",
    "flock /tmp/lock -c {q}",
    "su -m -c {q}",
    "exec bash -c {q}",
    "command bash -c {q}",
    "find . -maxdepth 0 -exec sh -c {q} ';'",
    "xargs -I__ sh -c {q} <<< a",
    "echo a | xargs -n1 bash -c {q}",
    "cat > /tmp/s§.sh <<'EOF§'\n{}\nEOF§\nbash /tmp/s§.sh",
    "printf '%s\\n' {q} > /tmp/s§.sh; sh /tmp/s§.sh",
    "echo {q} > /tmp/s§.sh && chmod +x /tmp/s§.sh && /tmp/s§.sh",
    "f§() { eval \"$1\"; }; f§ {q}",
    "run§() { \"$@\"; }; run§ bash -c {q}",
    "bash -c 'eval \"$1\"' _ {q}",
    "bash -c 'eval \"$0\"' {q}",
    "coproc bash -c {q}",
    "setsid -f bash -c {q}",
    "systemd-run bash -c {q}",
    "nice -n 5 sh -c {q}",
];

/// Additions behind a line that ends in no heredoc.
pub const TAILS: &[&str] = &[
    "{}; :",
    "{} ;",
    "{} && true",
    "{} || true",
    "{} &",
    "{} & wait",
    "{} | cat",
    "{} |& cat",
    "{} 2>/dev/null",
    "{} 2>&1",
    "{} >/dev/null 2>&1",
    "{} &>/dev/null",
    "{} 2>> /tmp/log",
    "{} 3>&1",
    "{}   ",
    "{}\t",
    "{} # a note",
    "{}; exit 0",
    "{} && echo done || echo failed",
    "2>/dev/null {}",
    "!  {}",
    "time {}",
    "time -p {}",
    "{}; ls -la | head",
    "{} || exit 1",
];

/// A mark in a template, and how a line is written there.
type Hole = (&'static str, fn(&str) -> String);

/// Puts a line into a template; None where the line does not fit there.
pub fn nest(template: &str, line: &str, rng: &mut Rng) -> Option<String> {
    if TAILS.contains(&template) {
        // A comment, a background job, a heredoc: nothing may follow on that line.
        let last = line.lines().last().unwrap_or_default().trim_end();
        if line.contains("<<") || last.contains('#') || last.ends_with(['&', ';']) {
            return None;
        }
        // In front of one simple command only.
        if !template.starts_with("{}")
            && (line.contains([';', '&', '\n', '(', '{', '#', '='])
                || PREFIXES.iter().any(|p| line.starts_with(p)))
        {
            return None;
        }
    }
    // What stands last and takes the end of the line away (`C:\`).
    if line.ends_with('\\') && !["{q}", "{d}", "{a}"].iter().any(|hole| template.contains(hole)) {
        return None;
    }
    // find puts its own paths there, xargs its words.
    if template.starts_with("find") && line.contains("{}")
        || template.contains("-I__") && line.contains("__")
    {
        return None;
    }
    // Between double quotes a backslash is taken away twice; such lines are left alone.
    if template.contains("\"`{b}") && line.contains(['\\', '"', '`']) {
        return None;
    }
    let template = template.replace('§', &rng.below(10_000).to_string());
    let holes: [Hole; 5] = [
        ("{q}", single),
        ("{d}", double),
        ("{a}", |line| ansi(line, |_| None)),
        ("{b}", |line| line.replace('\\', "\\\\").replace('`', "\\`")),
        ("{}", str::to_string),
    ];
    holes
        .iter()
        .find(|(hole, _)| template.contains(hole))
        .map(|(hole, fill)| template.replacen(hole, &fill(line), 1))
}

/// What a redirection, `!` or `time` cannot stand before.
const PREFIXES: &[&str] =
    &["!", "2>", "time", "for ", "if ", "while ", "until ", "case ", "coproc", "[["];
