//! The differential test: generated command lines run in a real bash, and others in a real zsh, inside a jail, and every
//! program that ran and every file that a shell opened must be listed by the analysis, unless it
//! says that it does not know.
//!
//! `DIFFERENTIAL_LINES` how many (1,000; CI 20,000), `DIFFERENTIAL_ZSH_LINES` how many in zsh (300; CI 5,000),
//! `DIFFERENTIAL_SCRIPTS` how many of bash's are looked at once more as the file of `bash x.sh` (all of these),
//! `DIFFERENTIAL_SOUP` how many without a grammar (4,000; CI 100,000),
//! `DIFFERENTIAL_SEED` which (1), `DIFFERENTIAL_REQUIRED`
//! fails where no jail can be built or no zsh is found (else the test says so and is skipped), `DIFFERENTIAL_WITHOUT`
//! constructs to leave out, `DIFFERENTIAL_SHOW` one line to run in the jail and to explain (in zsh where `DIFFERENTIAL_ZSH` is set).
//! No line runs outside the jail: the only way to run one is `Jail::send`, and `jail/driver.c`
//! runs nothing before it has made sure where it is.
#![cfg(target_os = "linux")]

mod compare;
mod generate;
mod jail;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use hookctl::effect::{Analysis, Effect, Grade, Place, shell};
use hookctl::files::Refusal;

use generate::{Generator, soup};
use jail::{Jail, Shell};

fn analyse(line: &str) -> Analysis {
    let place = Place {
        cwd: jail::CWD.into(),
        project: jail::CWD.into(),
        home: jail::HOME.into(),
        ..Place::default()
    };
    shell::analyse_command(line, &place)
}

thread_local! {
    /// The text of the script that there is.
    static SCRIPT: RefCell<String> = const { RefCell::new(String::new()) };
}

fn read_script(path: &Path, _: u64) -> Result<Vec<u8>, Refusal> {
    match path.ends_with("x.sh") {
        true => Ok(SCRIPT.with_borrow(|text| text.clone().into_bytes())),
        false => Err(Refusal::Absent),
    }
}

/// The same line as the script of a call.
fn analyse_script(line: &str) -> Analysis {
    SCRIPT.set(line.to_string());
    let place = Place {
        cwd: jail::CWD.into(),
        project: jail::CWD.into(),
        home: jail::HOME.into(),
        read: Some(read_script),
        ..Place::default()
    };
    shell::analyse_command("bash x.sh", &place)
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(otherwise)
}

/// A jail; None where there can be none and none is asked for.
fn jail() -> Option<Jail> {
    match Jail::new() {
        Ok(jail) => Some(jail),
        Err(why) if std::env::var_os("DIFFERENTIAL_REQUIRED").is_some() => panic!("no jail: {why}"),
        Err(why) => {
            println!("SKIPPED: no jail can be made here ({why})");
            None
        }
    }
}

#[test]
fn nothing_happens_that_is_not_listed() {
    let Some(mut jail) = jail() else { return };
    compared(&mut jail, Shell::Bash, number("DIFFERENTIAL_LINES", 1_000));
}

#[test]
fn nothing_happens_in_zsh_that_is_not_told() {
    let Some(mut jail) = jail() else { return };
    if !jail.zsh {
        let required = std::env::var_os("DIFFERENTIAL_REQUIRED").is_some();
        assert!(!required, "no zsh on this machine");
        println!("SKIPPED: no zsh on this machine");
        return;
    }
    compared(&mut jail, Shell::Zsh, number("DIFFERENTIAL_ZSH_LINES", 300));
}

/// What a line does is told as well where it stands in a script that the call runs. What is not understood in a script
/// stays opaque, so only lines that are understood are tried; what is only read for a program's own sake is left out.
#[test]
fn nothing_happens_in_a_script_that_is_not_listed() {
    let Some(mut jail) = jail() else { return };
    let seed = number("DIFFERENTIAL_SEED", 1);
    let lines = number("DIFFERENTIAL_SCRIPTS", number("DIFFERENTIAL_LINES", 1_000));
    let (mut tried, mut ran) = (0, 0);
    let mut faults = Vec::new();
    for index in 0..lines {
        let line = Generator::line(Shell::Bash, seed, index, &[]);
        let told = analyse(&line);
        let open = |effect: &Effect| effect.grade == Grade::Unknown;
        if compare::gives_up(&told) || told.effects.iter().any(open) {
            continue;
        }
        let analysis = analyse_script(&line);
        if analysis.notes.iter().any(|why| why.contains("looked at")) {
            continue;
        }
        jail.send(Shell::Bash, &line).unwrap_or_else(|e| panic!("{e} at {line:?}"));
        let mut outcome = jail.receive().unwrap_or_else(|e| panic!("{e} at {line:?}"));
        outcome.records.retain(|record| record.kind != 'R');
        tried += 1;
        ran += outcome.records.len();
        let found = compare::unlisted(Shell::Bash, &analysis, &outcome);
        if !found.is_empty() {
            faults.push(format!("script {index}:\n{line}\n  -- {}", found.join("\n  -- ")));
        }
    }
    println!("scripts, seed {seed}: {lines} lines, {tried} tried, {ran} things happened");
    faults.iter().take(number("DIFFERENTIAL_FAULTS", 40) as usize).for_each(|f| println!("{f}\n"));
    assert!(faults.is_empty(), "{} scripts did what is not listed", faults.len());
    assert!(tried * 4 >= lines, "too few of the lines are understood");
}

/// Marks of a shell in any order: what runs is listed, or the line is not understood. Only lines of which the analysis
/// says that nothing of the kind runs are tried.
#[test]
fn nothing_runs_that_marks_of_a_shell_hide() {
    let Some(mut jail) = jail() else { return };
    let (seed, lines) = (number("DIFFERENTIAL_SEED", 1), number("DIFFERENTIAL_SOUP", 4_000));
    let mut shells = vec![Shell::Bash];
    shells.extend(jail.zsh.then_some(Shell::Zsh));
    let (mut tried, mut ran) = (0, 0);
    let mut faults = Vec::new();
    for index in 0..lines {
        let line = soup::line(seed, index);
        let analysis = analyse(&line);
        let mut commands = analysis.commands.iter();
        if !line.contains(soup::MARK) || commands.any(|c| c.name == "rm") {
            continue;
        }
        for shell in &shells {
            if compare::gives_up(&analysis) || compare::untold(*shell, &analysis) {
                continue;
            }
            tried += 1;
            jail.send(*shell, &line).unwrap_or_else(|e| panic!("{e} at {line:?}"));
            let outcome = jail.receive().unwrap_or_else(|e| panic!("{e} at {line:?}"));
            ran += usize::from(!outcome.records.is_empty());
            let hidden = |r: &&jail::Record| r.kind == 'X' && r.fields[0].ends_with("/rm");
            if let Some(record) = outcome.records.iter().find(hidden) {
                faults.push(format!("{shell:?} {index}: {line:?}\n  -- ran {:?}", record.fields));
            }
        }
    }
    println!("seed {seed}: {lines} lines, {tried} tried, {ran} of them ran something");
    faults.iter().take(number("DIFFERENTIAL_FAULTS", 40) as usize).for_each(|f| println!("{f}\n"));
    assert!(faults.is_empty(), "{} lines ran what is not listed", faults.len());
}

/// So many lines of the seed in that shell.
fn compared(jail: &mut Jail, shell: Shell, lines: u64) {
    let seed = number("DIFFERENTIAL_SEED", 1);
    let without: Vec<String> = std::env::var("DIFFERENTIAL_WITHOUT")
        .unwrap_or_default()
        .split(',')
        .map(str::to_string)
        .collect();
    let (mut ran, mut opened, mut late, mut unknown, mut untold, mut empty) =
        (0, 0, 0, 0_u64, 0_u64, 0);
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    let mut faults = Vec::new();
    for index in 0..lines {
        let line = Generator::line(shell, seed, index, &without);
        jail.send(shell, &line).unwrap_or_else(|e| panic!("{e} at {line:?}"));
        let analysis = analyse(&line);
        let outcome = jail.receive().unwrap_or_else(|e| panic!("{e} at {line:?}"));
        ran += outcome.records.iter().filter(|r| r.kind == 'X').count();
        opened += outcome.records.iter().filter(|r| matches!(r.kind, 'R' | 'W')).count();
        empty += u64::from(outcome.records.is_empty());
        late += u64::from(outcome.late);
        if compare::gives_up(&analysis) {
            unknown += 1;
            let why = analysis.notes.first().map_or("what a command prints is run", String::as_str);
            *reasons.entry(why.to_string()).or_default() += 1;
        } else {
            untold += u64::from(compare::untold(shell, &analysis));
        }
        let found = compare::unlisted(shell, &analysis, &outcome);
        if !found.is_empty() {
            faults.push(format!("line {index}:\n{line}\n  -- {}", found.join("\n  -- ")));
        }
    }
    let share = |count: u64| count as f64 * 100.0 / lines.max(1) as f64;
    println!(
        "{shell:?}, seed {seed}: {lines} lines, {ran} programs ran, {opened} files were opened, {empty} lines \
         did nothing, {late} took too long; {:.1} % not told, {:.1} % not known:",
        share(untold),
        share(unknown)
    );
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (why, count) in reasons.iter().take(12) {
        println!("  {count:6} {why}");
    }
    for fault in faults.iter().take(number("DIFFERENTIAL_FAULTS", 40) as usize) {
        println!("{fault}\n");
    }
    assert!(
        faults.is_empty(),
        "{} of {lines} lines of seed {seed} did what is not listed",
        faults.len()
    );
    // What is not known excuses everything: most lines must not be.
    let (most_unknown, most_untold) = match shell {
        Shell::Bash => (lines / 4, lines / 10),
        // A third of these lines is what only zsh has, and most words that it reads alone are left to people.
        Shell::Zsh => (lines / 4, lines / 2),
    };
    assert!(
        unknown <= most_unknown && untold <= most_untold,
        "the analysis knows too little of what is generated"
    );
}

/// `DIFFERENTIAL_SHOW='rm x' cargo test --test differential show -- --nocapture`; an argument that
/// begins with `@` is a file with one line each.
#[test]
fn show() {
    let Ok(text) = std::env::var("DIFFERENTIAL_SHOW") else { return };
    let Some(mut jail) = jail() else { return };
    let zsh = std::env::var_os("DIFFERENTIAL_ZSH").is_some();
    let shell = if zsh { Shell::Zsh } else { Shell::Bash };
    match text.strip_prefix('@') {
        Some(file) => {
            for line in std::fs::read_to_string(file).unwrap().lines() {
                show_one(&mut jail, shell, line);
            }
        }
        None => show_one(&mut jail, shell, &text),
    }
}

fn show_one(jail: &mut Jail, shell: Shell, line: &str) {
    println!("$ {line}");
    let analysis = analyse(line);
    jail.send(shell, line).unwrap();
    let outcome = jail.receive().unwrap();
    for record in &outcome.records {
        println!("{:?} {:?} in {}", record.kind, record.fields, record.cwd);
    }
    for command in &analysis.commands {
        let args: Vec<_> =
            command.args.iter().map(|a| (a.text.as_deref().unwrap_or("?"), a.glob)).collect();
        println!("command {:?} {args:?}", command.name);
    }
    for effect in &analysis.effects {
        println!("effect {:?} {:?} {:?}", effect.word, effect.grade, effect.path);
    }
    println!(
        "notes {:?}\nunlisted {:?}",
        analysis.notes,
        compare::unlisted(shell, &analysis, &outcome)
    );
}
