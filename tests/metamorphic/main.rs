//! The same dangerous command in many spellings has the same effects; the same text as text has none.
//!
//! `bases.toml` holds the commands and the effects that must stay. Rewrites are drawn by a seeded row of numbers, up to
//! four on top of each other. `REWRITES=1000 SEED=7 cargo test --test metamorphic` draws that many for each command.

#[path = "../common/mod.rs"]
mod common;
mod considered;
mod line;
mod nests;
mod rewrite;
mod spellings;
mod twins;
mod verdicts;
mod wrappers;

use std::collections::BTreeMap;

use common::nobody::{moved, project};
use common::{commands, place, render};
use hookctl::effect::{Analysis, Grade, Word, shell};
use hookctl::rule::Truth;
use hookctl::rule::command::CommandPattern;
use line::{HOME, Line, Rng};
use nests::{NESTS, TAILS};
use rewrite::VALUES;
use serde::Deserialize;
use spellings::SPELLINGS;
use wrappers::WRAPPERS;

/// How many rewrites of each command are tried unless `REWRITES` says otherwise.
const REWRITES: usize = 70;
/// How many of a hundred may be answered with "not understood".
const MOST_UNKNOWN: f64 = 2.0;
/// The kind of rewrite that puts the whole line into another.
const NEST: usize = 7;
/// How many faults are shown in full.
const SHOWN: usize = 40;

#[derive(Deserialize)]
struct File {
    case: Vec<Base>,
}

#[derive(Deserialize)]
struct Base {
    run: String,
    #[serde(default)]
    key: Vec<String>,
    command: Option<String>,
}

/// How much of a base is left in a rewrite of it.
#[derive(PartialEq)]
enum Left {
    All,
    Unknown(String),
    Lost(String),
}

fn bases() -> Vec<Base> {
    let text = moved(&std::fs::read_to_string("tests/metamorphic/bases.toml").unwrap());
    toml::from_str::<File>(&text).unwrap().case
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn analysed(text: &str) -> Analysis {
    shell::analyse_command(text, &place(&project()))
}

/// Is something in it not understood, or run without anybody having read it?
fn unknown(analysis: &Analysis) -> bool {
    analysis.effects.iter().any(|e| {
        e.grade == Grade::Unknown && e.word.is_grave() || e.word == Word::PipeToInterpreter
    })
}

fn left(base: &Base, analysis: &Analysis) -> Left {
    let got = render(analysis);
    let holds = |key: &String| {
        got.iter().any(|g| {
            g == key || *g == key.replacen('?', "", 1) || g.starts_with(&format!("{key} -> "))
        })
            // The same files below a certain root.
            || got.iter().any(|g| g.strip_suffix(" tree") == key.strip_suffix(" below"))
                && key.ends_with(" below")
    };
    let mut missing: Vec<String> = base.key.iter().filter(|k| !holds(k)).cloned().collect();
    let mut maybe = false;
    if let Some(pattern) = &base.command {
        let parsed = CommandPattern::parse(pattern).unwrap();
        let hits = analysis.commands.iter().fold(Truth::No, |t, c| t.or(parsed.match_command(c)));
        // A rule on a command that may be meant speaks as on one that is not understood.
        maybe = hits == Truth::Maybe;
        if hits != Truth::Yes {
            missing.push(format!("a command like `{pattern}`"));
        }
    }
    match missing.is_empty() {
        true => Left::All,
        false if unknown(analysis) || maybe => Left::Unknown(missing.join(", ")),
        false => Left::Lost(missing.join(", ")),
    }
}

/// A rewrite of the base: its text, and the chain of rewrites that led there. `words` = single words may be
/// changed as well.
fn rewritten(base: &str, rng: &mut Rng, words: bool) -> (String, Vec<String>) {
    let mut line = Line::parse(base).filter(|_| words);
    let mut chain = Vec::new();
    let mut nests = 0;
    let mut kinds: Vec<usize> = (0..=rng.below(4)).map(|_| rng.below(8)).collect();
    kinds.sort_unstable();
    if line.is_none() {
        kinds.truncate(1 + rng.below(2));
        kinds.fill(NEST);
    }
    for kind in kinds {
        let list = match kind {
            0 | 1 => VALUES,
            2..=4 => SPELLINGS,
            5 => WRAPPERS,
            _ => {
                nests += 1;
                continue;
            }
        };
        let (name, apply) = list[rng.below(list.len())];
        if line.as_mut().is_some_and(|line| apply(line, rng)) {
            chain.push(name.to_string());
        }
    }
    if chain.is_empty() {
        nests = nests.max(1);
    }
    let mut text = line.map_or_else(|| base.to_string(), |line| line.render());
    for _ in 0..nests {
        let list = if rng.below(4) == 0 { TAILS } else { NESTS };
        let template = list[rng.below(list.len())];
        if let Some(next) = nests::nest(template, &text, rng) {
            text = next;
            chain.push(template.to_string());
        }
    }
    (text, chain)
}

#[test]
fn rewrites_keep_the_effects() {
    let mut rng = Rng(number("SEED", 1) as u64);
    let each = number("REWRITES", REWRITES);
    let (mut tried, mut vague) = (0_usize, 0_usize);
    let mut faults = Vec::new();
    let mut used: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for base in bases() {
        assert!(Line::parse(&base.run).is_some(), "no pipeline of words: {}", base.run);
        assert!(left(&base, &analysed(&base.run)) == Left::All, "the base itself: {}", base.run);
        for _ in 0..each {
            let (text, chain) = rewritten(&base.run, &mut rng, true);
            let analysis = analysed(&text);
            let left = left(&base, &analysis);
            tried += 1;
            let (word, what) = match &left {
                Left::All => ("", String::new()),
                Left::Unknown(what) => {
                    vague += 1;
                    ("not understood", what.clone())
                }
                Left::Lost(what) => ("LOST", what.clone()),
            };
            for name in &chain {
                let counts = used.entry(name.clone()).or_default();
                counts.0 += 1;
                counts.1 += usize::from(!word.is_empty());
            }
            if !word.is_empty() {
                faults.push(format!(
                    "{word}: {what}\n  base  {}\n  chain {chain:?}\n  line  {text}\n  got   {:?} {:?}\n  notes {:?}",
                    base.run,
                    render(&analysis),
                    commands(&analysis),
                    analysis.notes,
                ));
            }
        }
    }
    // What is lost first, then what is vague, the shortest chains first.
    faults.sort_by_key(|fault| (!fault.starts_with("LOST"), fault.len()));
    let lost = faults.iter().filter(|f| f.starts_with("LOST")).count();
    let share = 100.0 * vague as f64 / tried as f64;
    let mut worst: Vec<_> = used.iter().filter(|(_, c)| c.1 > 0).collect();
    worst.sort_by_key(|(_, c)| std::cmp::Reverse(c.1));
    println!("{tried} rewrites, {lost} lost, {vague} not understood ({share:.2} %)");
    for (name, (uses, bad)) in worst.iter().take(25) {
        println!("  {bad:4} of {uses:5} {name:?}");
    }
    let shown = number("SHOWN", SHOWN);
    let report = faults.iter().take(shown).cloned().collect::<Vec<_>>().join("\n");
    assert!(
        lost == 0 && share <= MOST_UNKNOWN,
        "{lost} lost, {share:.2} % not understood\n{report}"
    );
    if std::env::var_os("SHOWN").is_some() {
        println!("{report}");
    }
    assert!(tried >= 10_000 || each < REWRITES, "only {tried} rewrites");
    for (name, _) in VALUES.iter().chain(SPELLINGS).chain(WRAPPERS) {
        assert!(used.contains_key(*name) || each < REWRITES, "{name} was never used");
    }
    for name in NESTS.iter().chain(TAILS) {
        assert!(used.contains_key(*name) || each < REWRITES, "{name:?} was never used");
    }
}

#[test]
fn text_has_none_of_them() {
    let mut rng = Rng(number("SEED", 1) as u64);
    let mut faults = Vec::new();
    let mut tried = 0;
    let plain: Vec<Option<(Vec<String>, Vec<String>)>> = twins::TWINS
        .iter()
        .map(|twin| {
            let analysis = analysed(&twins::fill(twin, "hello")?);
            Some((render(&analysis), commands(&analysis)))
        })
        .collect();
    for base in bases() {
        let (text, _) = rewritten(&base.run, &mut rng, true);
        for (twin, plain) in twins::TWINS.iter().zip(&plain) {
            for text in [&base.run, &text] {
                let (Some(line), Some((effects, names))) = (twins::fill(twin, text), plain) else {
                    continue;
                };
                let analysis = analysed(&line);
                tried += 1;
                let mut found = render(&analysis);
                // A token that the text holds is shown to whoever reads a message.
                found.retain(|effect| !effect.starts_with("secret.show"));
                if twin.starts_with("python3") {
                    // A list of words is all that is known of inline programs: not to understand one is fair.
                    found.retain(|effect| effect != "execute!");
                } else if unknown(&analysis) {
                    found.push("something unknown".into());
                }
                if found != *effects || commands(&analysis) != *names {
                    faults.push(format!(
                        "{twin:?}\n  line  {line}\n  got   {:?} {:?}\n  not   {effects:?} {names:?}\n  notes {:?}",
                        render(&analysis),
                        commands(&analysis),
                        analysis.notes
                    ));
                }
            }
        }
    }
    faults.sort_by_key(String::len);
    let report = faults.iter().take(number("SHOWN", SHOWN)).cloned().collect::<Vec<_>>().join("\n");
    println!("{tried} texts");
    assert!(faults.is_empty(), "{} of {tried} texts\n{report}", faults.len());
}
