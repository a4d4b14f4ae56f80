//! Rewrites of values that mean the same: paths, options, the program's own name.

use hookctl::effect::{Place, shell};

use super::line::{HOME, Line, Rng, Word, single};
use super::wrappers::BUILTINS;

/// A rewrite of the words: its name, and whether it could be done here.
pub type Rewrite = (&'static str, fn(&mut Line, &mut Rng) -> bool);

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

/// One of the words for which `fit` holds.
pub fn choose<'a>(
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
    // bash connects by these very names and no other spelling of them.
    let connects = ["/dev/tcp/", "/dev/udp/"].iter().any(|dir| word.value.contains(dir));
    !connects && word.literal && !word.quoted && word.value.starts_with('/')
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
    // Behind `-name` stands no path.
    let looks = line.stages.iter().any(|stage| matches!(stage.name().as_str(), "find" | "fd"));
    if line.before.contains("cd ") || looks {
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
    let first = words[0].value.clone();
    let operands = words.iter().skip(1).filter(|w| !is_path(w) && !w.value.starts_with('-'));
    let others = match first.as_str() {
        // What find is given beside its start is no name in the directory.
        "find" => 0,
        // A mode or an owner.
        "chmod" | "chown" | "chgrp" => operands.count().saturating_sub(1),
        _ => operands.filter(|w| !w.value.chars().all(|c| c.is_ascii_digit())).count(),
    };
    (paths == 1 && others == 0).then(|| words.swap_remove(at))
}

fn cd_first(line: &mut Line, rng: &mut Rng) -> bool {
    let way = rng.below(4);
    let Some(word) = only_path(line) else { return false };
    let value = word.value.trim_end_matches('/').to_string();
    let (dir, name) = value.rsplit_once('/').unwrap_or(("", "."));
    let name = if name.is_empty() { "." } else { name };
    let dir = if dir.is_empty() { "/" } else { dir };
    word.revalue(if way.is_multiple_of(2) { name.to_string() } else { format!("./{name}") });
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
        7 => format!("~/../{}{rest}", HOME.trim_start_matches("/home/")),
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
    let place =
        Place { cwd: "/".into(), project: "/".into(), home: HOME.into(), ..Place::default() };
    let analysis = shell::analyse_command(&plain.join(" "), &place);
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
