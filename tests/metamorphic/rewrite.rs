//! Rewrites that keep the meaning: of paths and options, of a word's spelling, wrappers, nesting.

use hookctl::effect::{Place, shell};

use super::line::{HOME, Line, Rng, Word, ansi, double, is_plain, single};

/// A rewrite of the words: its name, and whether it could be done here.
type Rewrite = (&'static str, fn(&mut Line, &mut Rng) -> bool);

/// Changes of values: they go first, for a respelled word is final.
pub const VALUES: &[Rewrite] = &[
    ("double slash", |l, r| path(l, r, |p, cut| Some(format!("{}//{}", &p[..cut], &p[cut + 1..])))),
    ("dot part", |l, r| path(l, r, |p, cut| Some(format!("{}/./{}", &p[..cut], &p[cut + 1..])))),
    ("parent part", |l, r| {
        path(l, r, |p, cut| Some(format!("{}/none/../{}", &p[..cut], &p[cut + 1..])))
    }),
    ("above the root", |l, r| path(l, r, |p, _| Some(format!("/../..{p}")))),
    ("trailing slash", trailing_slash),
    ("project path", project_path),
    ("cd first", cd_first),
    ("cd twice", cd_twice),
    ("home", home),
    ("option spelling", option_spelling),
    ("option order", option_order),
    ("end of options", end_of_options),
    ("program path", program_path),
];

/// Spellings of words that stay the same word.
pub const SPELLINGS: &[Rewrite] = &[
    ("single quotes", |l, r| respell(l, r, |w, _| Some(single(w)))),
    ("double quotes", |l, r| respell(l, r, |w, _| Some(double(w)))),
    ("backslashes", |l, r| {
        respell(l, r, |w, _| Some(w.chars().flat_map(|c| ['\\', c]).collect::<String>()))
    }),
    ("one backslash", |l, r| {
        respell(l, r, |w, r| {
            let (a, b) = cut(w, r);
            (is_plain(w) && !b.is_empty()).then(|| format!("{a}\\{b}"))
        })
    }),
    ("hexadecimal", |l, r| {
        respell(l, r, |w, _| Some(ansi(w, |c| Some(format!("\\x{:02x}", u32::from(c))))))
    }),
    ("octal", |l, r| {
        respell(l, r, |w, _| Some(ansi(w, |c| Some(format!("\\{:03o}", u32::from(c))))))
    }),
    ("code points", |l, r| {
        respell(l, r, |w, _| Some(ansi(w, |c| Some(format!("\\u{:04x}", u32::from(c))))))
    }),
    ("some hexadecimal", |l, r| {
        respell(l, r, |w, r| {
            Some(ansi(w, |c| (r.below(2) == 0).then(|| format!("\\x{:X}", u32::from(c)))))
        })
    }),
    ("split quotes", |l, r| {
        respell(l, r, |w, r| {
            let (a, b) = cut(w, r);
            Some(format!("{}{}", if r.below(2) == 0 { double(a) } else { single(a) }, single(b)))
        })
    }),
    ("empty quotes", |l, r| {
        respell(l, r, |w, r| {
            is_plain(w).then(|| {
                let (a, b) = cut(w, r);
                format!("{a}{}{b}", r.pick(&["''", "\"\"", "$''"]))
            })
        })
    }),
    ("line continuation", |l, r| {
        respell(l, r, |w, r| {
            is_plain(w).then(|| {
                let (a, b) = cut(w, r);
                format!("{a}\\\n{b}")
            })
        })
    }),
    ("locale quotes", |l, r| respell(l, r, |w, _| Some(format!("${}", double(w))))),
    ("substitution", |l, r| {
        respell(l, r, |w, r| {
            let word = single(w);
            Some(match r.below(4) {
                0 if is_plain(w) && !w.starts_with('-') => format!("$(echo {w})"),
                1 if is_plain(w) && !w.starts_with('-') => format!("`echo {w}`"),
                2 => format!("\"$(printf '%s' {word})\""),
                _ => format!("\"$(printf '%s\\n' {word})\""),
            })
        })
    }),
    ("default value", |l, r| {
        respell(l, r, |w, r| {
            is_plain(w)
                .then(|| format!("{}{w}}}", r.pick(&["${U9:-", "${U9-", "${U9:=", "\"${U9:-"])))
                .map(|t| if t.starts_with('"') { t + "\"" } else { t })
        })
    }),
    ("variable", |l, r| variable(l, r, |w, _| (String::new(), w.to_string(), String::new()))),
    ("variable prefix", |l, r| {
        variable(l, r, |w, r| {
            let (a, b) = cut(w, r);
            (String::new(), a.to_string(), b.to_string())
        })
    }),
    ("variable suffix", |l, r| {
        variable(l, r, |w, r| {
            let (a, b) = cut(w, r);
            (a.to_string(), b.to_string(), String::new())
        })
    }),
    ("brace expansion", braces),
];

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
    // find puts its own paths there.
    if template.starts_with("find") && line.contains("{}") {
        return None;
    }
    // Between double quotes a backslash is taken away twice; such lines are left alone.
    if template.contains("\"`{b}") && line.contains(['\\', '"', '`']) {
        return None;
    }
    let template = template.replace('§', &rng.below(10_000).to_string());
    let holes: [(&str, fn(&str) -> String); 5] = [
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

/// A word cut in two, neither part empty where that can be.
fn cut<'a>(word: &'a str, rng: &mut Rng) -> (&'a str, &'a str) {
    let ends: Vec<usize> = word.char_indices().map(|(i, _)| i).skip(1).collect();
    if ends.is_empty() { (word, "") } else { word.split_at(ends[rng.below(ends.len())]) }
}

/// One of the words for which `fit` holds.
fn choose<'a>(
    line: &'a mut Line,
    rng: &mut Rng,
    fit: impl Fn(&Word) -> bool,
) -> Option<&'a mut Word> {
    let mut words: Vec<&mut Word> =
        line.words().into_iter().map(|(_, word)| word).filter(|word| fit(word)).collect();
    if words.is_empty() {
        return None;
    }
    let at = rng.below(words.len());
    Some(words.swap_remove(at))
}

fn is_path(word: &Word) -> bool {
    word.literal && !word.quoted && word.value.starts_with('/')
}

/// Changes a path at one of its slashes.
fn path(line: &mut Line, rng: &mut Rng, change: fn(&str, usize) -> Option<String>) -> bool {
    // The root's own slash has nothing behind it.
    let at = rng.below(64);
    let Some(word) = choose(line, rng, |w| is_path(w) && w.value.len() > 1) else { return false };
    let slashes: Vec<usize> = word.value.match_indices('/').map(|(i, _)| i).collect();
    let cut = slashes[at % slashes.len()];
    // What a program makes of `/none/..` hangs on the disk; below the root nothing is changed.
    let Some(value) = change(&word.value, cut) else { return false };
    word.revalue(value);
    true
}

fn trailing_slash(line: &mut Line, rng: &mut Rng) -> bool {
    let name = line.stages[0].name();
    if !matches!(name.as_str(), "chmod" | "chown" | "chgrp" | "find" | "ls" | "rmdir")
        || line.before.contains("cd ")
    {
        return false;
    }
    let tree =
        name == "find" || name == "ls" || line.stages[0].words.iter().any(|w| w.value == "-R");
    let Some(word) = choose(line, rng, |w| is_path(w) && tree) else { return false };
    let value = format!("{}/", word.value);
    word.revalue(value);
    true
}

/// `.env` as `./.env`, `src/../.env`, `$PWD/.env`, and as a whole.
fn project_path(line: &mut Line, rng: &mut Rng) -> bool {
    const NAMES: &[&str] = &[
        ".env",
        ".git",
        "src",
        "tests",
        "app.db",
        "empty.txt",
        "Cargo.toml",
        "src/main.rs",
        "notes.txt",
        "payload.txt",
        "payload.b64",
        "payload.hex",
        "payload.gz",
        "payload.sh",
        "payload.py",
        ".claude/settings.json",
        "random.img",
        "evil.toml",
        "prod.yaml",
    ];
    if line.before.contains("cd ") {
        return false;
    }
    let way = rng.below(6);
    let Some(word) = choose(line, rng, |w| w.literal && NAMES.contains(&w.value.as_str())) else {
        return false;
    };
    let name = word.value.clone();
    match way {
        0 => word.revalue(format!("./{name}")),
        1 => word.revalue(format!("none/../{name}")),
        2 => word.revalue(format!("../project/{name}")),
        3 => word.revalue(format!("{HOME}/project/{name}")),
        4 => word.respell(format!("\"$PWD\"/{name}")),
        _ => word.respell(format!("\"$(pwd)/{name}\"")),
    }
    true
}

/// The line's only path, where nothing else hangs on the directory.
fn only_path(line: &mut Line) -> Option<&mut Word> {
    const FREE: &[&str] = &[
        "rm", "chmod", "chown", "chgrp", "shred", "wipefs", "cat", "head", "tail", "base64",
        "less", "unlink", "rmdir", "find", "touch", "truncate", "xxd", "mkswap",
    ];
    if !line.before.is_empty()
        || line.stages.len() > 1
        || !FREE.contains(&line.stages[0].name().as_str())
    {
        return None;
    }
    let mut words: Vec<&mut Word> = line.words().into_iter().map(|w| w.1).collect();
    let paths = words
        .iter()
        .filter(|w| w.value.contains('/') || w.value.starts_with('.') || !w.literal)
        .count();
    let at = words.iter().position(|w| is_path(w))?;
    // An operand that could be a name in the directory.
    let others = words
        .iter()
        .filter(|w| {
            matches!(w.value.as_str(), "src" | "tests" | "app.db" | "empty.txt" | "random.img")
        })
        .count();
    (paths == 1 && others == 0).then(|| words.swap_remove(at))
}

fn cd_first(line: &mut Line, rng: &mut Rng) -> bool {
    let way = rng.below(4);
    let Some(word) = only_path(line) else { return false };
    let value = word.value.trim_end_matches('/').to_string();
    let (dir, name) = value.rsplit_once('/').unwrap_or(("", "."));
    let name = if name.is_empty() { "." } else { name };
    let dir = if dir.is_empty() { "/" } else { dir };
    word.revalue(if way % 2 == 0 { name.to_string() } else { format!("./{name}") });
    line.before = format!("cd {dir}{}", if way < 2 { " && " } else { "\n" });
    true
}

fn cd_twice(line: &mut Line, rng: &mut Rng) -> bool {
    let back = rng.below(2) == 0;
    let Some(word) = only_path(line) else { return false };
    let value = word.value.clone();
    word.revalue(format!("..{value}"));
    line.before =
        if back { "cd / && cd tmp && cd ..; cd none; ".into() } else { "cd /; cd tmp; ".into() };
    true
}

/// The ways to write the home directory.
fn home(line: &mut Line, rng: &mut Rng) -> bool {
    let way = rng.below(10);
    let Some(word) = choose(line, rng, |w| is_path(w) && w.value.starts_with(HOME)) else {
        return false;
    };
    let rest = word.value[HOME.len()..].to_string();
    word.respell(match way {
        0 => format!("~{rest}"),
        1 => format!("$HOME{rest}"),
        2 => format!("\"$HOME{rest}\""),
        3 => format!("${{HOME}}{rest}"),
        4 => format!("\"${{HOME}}\"{rest}"),
        5 => format!("{HOME}{rest}"),
        6 => format!("${{HOME:-/root}}{rest}"),
        7 => format!("~/../dev{rest}"),
        8 => format!("$HOME/.{rest}"),
        _ => format!("\"$(echo ~)\"{rest}"),
    });
    true
}

/// Options in other spellings, from the program's table: the base's own analysis names them.
fn option_spelling(line: &mut Line, rng: &mut Rng) -> bool {
    let at = rng.below(line.stages.len());
    let stage = &mut line.stages[at];
    let name = stage.name();
    let plain: Vec<String> = stage.words.iter().map(|w| single(&w.value)).collect();
    let place = Place { cwd: "/".into(), project: "/".into(), home: HOME.into() };
    let analysis = shell::analyse(&plain.join(" "), &place);
    let Some(command) = analysis.commands.first() else { return false };
    let mut found = Vec::new();
    for (i, word) in stage.words.iter().enumerate().skip(1) {
        let Some(span) = command.args.get(i - 1).map(|a| a.span.clone()) else { continue };
        let here: Vec<_> = command
            .options
            .iter()
            .filter(|o| o.span.start >= span.start && o.span.end <= span.end)
            .collect();
        let letters = word.value.strip_prefix('-').map_or(0, |t| t.trim_start_matches('-').len());
        let exact = here.len() == 1 && here[0].name == word.value || here.len() == letters;
        let free = here.iter().all(|o| o.value.is_none() && !o.aliases.is_empty());
        if word.literal && !here.is_empty() && exact && free {
            let spellings: Vec<Vec<&str>> = here
                .iter()
                .map(|o| o.aliases.iter().copied().chain([o.name.as_str()]).collect())
                .collect();
            let chosen: Vec<String> = spellings
                .iter()
                .map(|ways| {
                    // `-` alone (env, su) is no spelling to bundle.
                    let ways: Vec<&str> = ways.iter().copied().filter(|w| w.len() > 1).collect();
                    rng.pick(&ways).to_string()
                })
                .collect();
            found.push((i, chosen));
        }
    }
    let gnu = matches!(name.as_str(), "rm" | "chmod" | "chown" | "chgrp" | "cp" | "mv" | "shred");
    for (i, chosen) in found.into_iter().rev() {
        let mut words = Vec::new();
        let mut bundle = String::new();
        for option in chosen {
            if option.len() == 2 && rng.below(2) == 0 && name != "find" {
                bundle.push_str(&option[1..]);
            } else if gnu && option.starts_with("--recursive") && rng.below(2) == 0 {
                words.push("--recursiv".to_string());
            } else if gnu && option == "--force" && rng.below(2) == 0 {
                words.push("--forc".to_string());
            } else {
                words.push(option);
            }
        }
        if !bundle.is_empty() {
            words.push(format!("-{bundle}"));
        }
        let words = words.into_iter().map(|text| Word {
            value: text.clone(),
            text,
            literal: true,
            quoted: false,
        });
        line.stages[at].words.splice(i..=i, words);
    }
    true
}

/// Programs that take options anywhere.
fn permutes(name: &str) -> bool {
    matches!(
        name,
        "rm" | "chmod"
            | "chown"
            | "chgrp"
            | "shred"
            | "wipefs"
            | "cp"
            | "mv"
            | "ln"
            | "mkdir"
            | "touch"
            | "rmdir"
    )
}

/// Is it an option that stands alone: no value behind it?
fn alone(word: &Word) -> bool {
    word.literal
        && matches!(
            word.value.as_str(),
            "-r" | "-f"
                | "-rf"
                | "-fr"
                | "-R"
                | "-p"
                | "-sf"
                | "-s"
                | "-a"
                | "-u"
                | "--recursive"
                | "--force"
                | "-x"
        )
        && word.value != "-s"
}

fn option_order(line: &mut Line, rng: &mut Rng) -> bool {
    let at = rng.below(line.stages.len());
    let stage = &mut line.stages[at];
    if !permutes(&stage.name())
        || stage.words.iter().any(|w| w.value == "--")
        || stage.name() == "chmod" && stage.words.iter().any(|w| w.value == "-x")
    {
        return false;
    }
    let Some(i) = stage.words.iter().position(alone) else { return false };
    let option = stage.words.remove(i);
    stage.words.push(option);
    true
}

fn end_of_options(line: &mut Line, rng: &mut Rng) -> bool {
    let at = rng.below(line.stages.len());
    let stage = &mut line.stages[at];
    let front = stage.words.iter().skip(1).take_while(|w| w.value.starts_with('-')).count();
    let later = stage.words.iter().skip(1 + front).any(|w| w.value.starts_with('-'));
    if !permutes(&stage.name())
        || later
        || stage.words.iter().skip(1).take(front).any(|w| !alone(w))
    {
        return false;
    }
    let dashes = Word { value: "--".into(), text: "--".into(), literal: true, quoted: false };
    stage.words.insert(1 + front, dashes);
    true
}

/// What only a shell can run.
const BUILTINS: &[&str] = &["source", "eval", "exec", "trap", "cd", "export"];

fn program_path(line: &mut Line, rng: &mut Rng) -> bool {
    let at = rng.below(line.stages.len());
    let dir = rng.pick(&[
        "/bin/",
        "/usr/bin/",
        "/usr/sbin/",
        "/./bin//",
        "/usr/../bin/",
        "/usr/local/bin/",
        "//usr/bin/./",
    ]);
    let stage = &mut line.stages[at];
    let word = &mut stage.words[0];
    if !word.literal || word.value.contains('/') || BUILTINS.contains(&word.value.as_str()) {
        return false;
    }
    let value = format!("{dir}{}", word.value);
    word.revalue(value);
    true
}

fn respell(line: &mut Line, rng: &mut Rng, spell: fn(&str, &mut Rng) -> Option<String>) -> bool {
    let at = rng.below(1 << 16);
    let mut words: Vec<&mut Word> =
        line.words().into_iter().map(|w| w.1).filter(|w| w.literal).collect();
    if words.is_empty() {
        return false;
    }
    // A quoted tilde is no home any more: such words are written out first.
    let at = at % words.len();
    let word = &mut words[at];
    let Some(text) = spell(&word.value, rng) else { return false };
    word.respell(text);
    true
}

fn variable(
    line: &mut Line,
    rng: &mut Rng,
    parts: fn(&str, &mut Rng) -> (String, String, String),
) -> bool {
    let name = format!("V{}", rng.below(1_000_000));
    let separator = rng.pick(&["; ", "\n", " && "]);
    let (way, declared) = (rng.below(5), rng.below(8));
    let mut random = Rng(rng.below(1 << 30) as u64);
    let Some(word) = choose(line, rng, |w| w.literal && !w.value.is_empty()) else { return false };
    let (head, held, tail) = parts(&word.value, &mut random);
    if held.is_empty() {
        return false;
    }
    let plain = is_plain(&word.value);
    let quoted = |text: &str| if text.is_empty() { String::new() } else { single(text) };
    let reference = match way {
        0 if plain => format!("${{{name}}}"),
        1 => format!("\"${{{name}#zz}}\""),
        2 => format!("\"${{{name}%%zz}}\""),
        3 => format!("\"${{{name}:-no}}\""),
        _ => format!("\"${name}\""),
    };
    word.respell(format!("{}{reference}{}", quoted(&head), quoted(&tail)));
    let declaration = match declared {
        0 => "export ",
        1 => "declare ",
        2 => "readonly ",
        _ => "",
    };
    line.before = format!("{declaration}{name}={}{separator}{}", single(&held), line.before);
    true
}

fn braces(line: &mut Line, rng: &mut Rng) -> bool {
    let fits =
        |w: &Word| w.literal && is_plain(&w.value) && !w.value.contains(',') && !w.value.is_empty();
    let at = rng.below(line.stages.len());
    let stage = &mut line.stages[at];
    let name = stage.name();
    let last = stage.words.len() - 1;
    if matches!(name.as_str(), "rm" | "cat" | "shred" | "chmod" | "unlink" | "wipefs")
        && rng.below(2) == 0
        && last > 0
        && fits(&stage.words[last])
        && !stage.words[last].value.starts_with('-')
    {
        let value = stage.words[last].value.clone();
        stage.words[last].respell(format!("{value}{{,.none}}"));
        return true;
    }
    if last == 0 || !stage.words.iter().all(fits) {
        return false;
    }
    let words: Vec<String> = stage.words.iter().map(|w| w.value.clone()).collect();
    stage.words[0].respell(format!("{{{}}}", words.join(",")));
    stage.words.truncate(1);
    true
}

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
