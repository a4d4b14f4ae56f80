//! The same dangerous command in many spellings is stopped at least as hard by the shipped rules; as text
//! it is never stopped.
//!
//! The commands are those of the packs' own `[[test]]` tables that are stopped. `VERDICTS=100000 SEED=7 cargo test
//! --test metamorphic verdicts` draws that many rewrites.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use hookctl::config::Config;
use hookctl::effect::Guarded;
use hookctl::effect::{self, Place};
use hookctl::engine::{Match, RuleContext, strongest_match};
use hookctl::event::Kind;
use hookctl::paths::Paths;
use hookctl::rule::case::{self, CaseCall};
use hookctl::rule::concern::RuleQuery as Concerned;
use hookctl::rule::condition::Subject;
use hookctl::rule::path::Bases;
use hookctl::rule::{Rule, shipped};
use hookctl::trial::Ground;
use hookctl::verdict::Verb;
use hookctl::{dry, rule};

use super::line::Rng;
use super::{HOME, SHOWN, moved, number, place, project, rewritten, twins};

/// How many rewrites, and how many texts, are tried unless `VERDICTS` says otherwise.
const TRIED: usize = 10_500;
/// How many of a hundred rewrites may be no more than "not understood" where the command is denied.
const MOST_VAGUE: f64 = 2.0;
/// The rule on what is not understood.
const VAGUE: &str = "not-understood";
/// Rules that look for words in the raw text of a call, which another spelling does not have.
const TEXTUAL: &[&str] = &["editor-tasks"];

/// A command that the shipped rules stop.
struct Dangerous {
    text: String,
    /// Where it stands.
    at: String,
    cwd: Option<String>,
    verb: Option<Verb>,
    rule: String,
}

/// The shipped rules, read once.
struct Judge {
    rules: BTreeMap<&'static str, Rc<Rule>>,
}

impl Judge {
    fn new() -> Judge {
        let rules = shipped::RULES
            .iter()
            .filter(|one| !one.is_autopilot())
            .filter_map(|one| Some((one.id, one.rule()?)))
            .collect();
        Judge { rules }
    }

    /// The verdict on a command and the rule that gives it: what `judge` makes of shipped rules, which neither
    /// run nor rewrite anything.
    fn verdict(&self, command: &str, place: &Place) -> (Option<Verb>, String) {
        self.judge(command, place, |matches| match strongest_match(matches) {
            Some(found) => (found.verb(), found.rule.id.clone()),
            None => (None, String::new()),
        })
    }

    /// Is it asked about, among others, because it is not understood?
    fn is_vague(&self, command: &str, place: &Place) -> bool {
        self.judge(command, place, |matches| matches.iter().any(|one| one.rule.id == VAGUE))
    }

    fn judge<R>(&self, command: &str, place: &Place, read: impl FnOnce(&[Match]) -> R) -> R {
        let input = dry::tool_input("Bash", command, &str::to_string);
        let payload = dry::tool_call_payload(Kind::PreToolUse, "Bash", input, &place.cwd);
        let (_, event) = dry::parse_event(payload, None);
        let analysis = effect::analyse_event(&event, place);
        let bases = Bases::new(&place.home, &place.project);
        let subject = Subject { event: &event, analysis: &analysis, bases: &bases, place };
        let case = RuleContext { subject, profile: rule::Profile::default() };
        let call = Concerned { event: &event, analysis: &analysis, place, deep: false };
        let matches: Vec<_> = shipped::concerned_rules(&call, |_| false)
            .filter_map(|one| case.test_rule(self.rules.get(one.id)?))
            .filter(|found| !found.observed)
            .collect();
        read(&matches)
    }
}

/// Where a case is judged.
fn ground(cwd: Option<&str>) -> Place {
    let project = project();
    let project = Path::new(&project);
    let place = place(&cwd.map_or_else(
        || project.display().to_string(),
        |cwd| dry::absolute_path(cwd, project, Path::new(HOME)),
    ));
    Place { guarded: Guarded { names: shipped::GUARDED, moved: Vec::new() }, ..place }
}

/// Every command in the packs' tests that is stopped; with `check`, judged as `hookctl test` does as well.
fn dangerous(judge: &Judge, check: bool) -> Vec<Dangerous> {
    let paths = Paths::below_home(PathBuf::from(HOME));
    let mut found = Vec::new();
    for dir in ["tests/packs", "config/packs"] {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for path in files {
            let text = moved(&std::fs::read_to_string(&path).unwrap());
            let read = case::read_cases(&text, Path::new(dir));
            // What a file changes of the rules is no matter of spelling.
            if dir.starts_with("tests") && !read.alone {
                continue;
            }
            let config = Config::default();
            let whole = Ground::new(&paths, &config, &paths.home.join("project"), None);
            for case in &read.cases {
                let CaseCall::Main(tool, text) = &case.call else { continue };
                if tool != "Bash" || case.event.is_some_and(|event| event != Kind::PreToolUse) {
                    continue;
                }
                let (verb, rule) = judge.verdict(text, &ground(case.cwd.as_deref()));
                let at = format!("{}:{}", path.display(), case.line);
                if check {
                    let full = whole.run_case(case).verb;
                    assert_eq!(verb, full, "{at}: {text}: the whole judgement says otherwise");
                }
                // What `$1` is, and what a suffix is, hangs on who runs the line; a tilde beside quotes is another word to each shell.
                let open = ["alias -s", "$1", "$@", "$*", "$0", "${1", "''~", "\"\"~", "~'", "~\""];
                let settled = !open.iter().any(|word| text.contains(word));
                if settled
                    && !TEXTUAL.contains(&rule.as_str())
                    && verb.is_some_and(Verb::stops_call)
                {
                    found.push(Dangerous {
                        text: text.clone(),
                        at,
                        cwd: case.cwd.clone(),
                        verb,
                        rule,
                    });
                }
            }
        }
    }
    found
}

/// Rewritings in which nobody sees what the command prints.
const KEEPING: [&str; 6] = [
    "export A=$({}\n)",
    "A=$({}\n) true",
    "x=$({}\n)",
    "x=`{b}`",
    "test -z \"$({}\n)\" && echo no",
    "[ -n \"$({}\n)\" ]",
];

fn name(verb: Option<Verb>) -> &'static str {
    verb.map_or("silent", Verb::name)
}

/// The faults, the shortest first.
fn report(mut faults: Vec<String>) -> String {
    faults.sort_by_key(String::len);
    faults.into_iter().take(number("SHOWN", SHOWN)).collect::<Vec<_>>().join("\n")
}

#[test]
fn verdicts_never_get_weaker() {
    let mut rng = Rng(number("SEED", 1) as u64);
    let judge = Judge::new();
    let bases = dangerous(&judge, true);
    let wanted = number("VERDICTS", TRIED);
    let each = wanted.div_ceil(bases.len().max(1));
    let (mut tried, mut vague) = (0_usize, 0_usize);
    let (mut weaker, mut vagues) = (Vec::new(), Vec::new());
    let mut blamed: BTreeMap<String, usize> = BTreeMap::new();
    for base in &bases {
        let place = ground(base.cwd.as_deref());
        for _ in 0..each {
            // Spellings of a path start from the project.
            let (text, chain) = rewritten(&base.text, &mut rng, base.cwd.is_none());
            let (verb, rule) = judge.verdict(&text, &place);
            tried += 1;
            // What a variable keeps or `test` looks at is not shown.
            let kept = |name: &String| KEEPING.contains(&name.as_str());
            let by_showing = judge.rules[base.rule.as_str()].conditions.shown.is_some();
            // zsh splits no variable, whatever IFS says.
            let unsplit =
                base.text.contains("IFS=") && chain.iter().any(|name| name.starts_with("zsh "));
            if verb >= base.verb || by_showing && chain.iter().any(kept) || unsplit {
                continue;
            }
            // A deny for words of the raw text knows no other spelling.
            let honest =
                verb == Some(Verb::Ask) && (base.rule == VAGUE || judge.is_vague(&text, &place));
            for name in &chain {
                *blamed.entry(name.clone()).or_default() += 1;
            }
            let mut fault = format!(
                "{} {} became {} {rule}\n  base  {} ({})\n  chain {chain:?}\n  line  {text}",
                name(base.verb),
                base.rule,
                name(verb),
                base.text,
                base.at,
            );
            if std::env::var_os("NOTES").is_some() {
                let _ = write!(fault, "\n  got   {:?}", super::render(&super::analysed(&text)));
            }
            if honest {
                vague += 1;
                vagues.push(fault);
            } else {
                weaker.push(fault);
            }
        }
    }
    let share = 100.0 * vague as f64 / tried as f64;
    println!(
        "{tried} rewrites of {} commands, {} weaker, {vague} denies not understood ({share:.2} %)",
        bases.len(),
        weaker.len(),
    );
    let mut worst: Vec<_> = blamed.iter().collect();
    worst.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (name, count) in worst.iter().take(20) {
        println!("  {count:4} {name:?}");
    }
    if std::env::var_os("SHOWN").is_some() {
        println!("{}", report(vagues.clone()));
    }
    assert!(weaker.is_empty(), "{} of {tried} are weaker\n{}", weaker.len(), report(weaker));
    assert!(share <= MOST_VAGUE, "{share:.2} % are not understood\n{}", report(vagues));
    assert!(tried >= wanted, "only {tried} rewrites");
}

#[test]
fn verdicts_on_text_are_those_on_any_text() {
    let mut rng = Rng(number("SEED", 1) as u64);
    let judge = Judge::new();
    let bases = dangerous(&judge, false);
    let wanted = number("VERDICTS", TRIED);
    let place = ground(None);
    let plain: Vec<Option<Verb>> = twins::TWINS
        .iter()
        .map(|twin| judge.verdict(&twins::fill(twin, "hello").unwrap(), &place).0)
        .collect();
    let each = wanted.div_ceil(bases.len().max(1));
    let (mut tried, mut at) = (0_usize, 0_usize);
    let mut faults = Vec::new();
    while tried < wanted {
        for base in &bases {
            let text = match rng.below(2) {
                0 => base.text.clone(),
                _ => rewritten(&base.text, &mut rng, base.cwd.is_none()).0,
            };
            // The next few contexts, so that each is used as often as any other.
            for _ in 0..each {
                at = (at + 1) % twins::TWINS.len();
                let twin = twins::TWINS[at];
                let Some(line) = twins::fill(twin, &text) else { continue };
                let (verb, rule) = judge.verdict(&line, &place);
                tried += 1;
                // A token that the text holds is shown to whoever reads a message.
                if verb != plain[at] && rule != "secret-shown" {
                    let (got, not) = (name(verb), name(plain[at]));
                    faults.push(format!("{twin:?}: {got} {rule}, not {not}\n  line  {line}"));
                }
            }
        }
    }
    println!("{tried} texts of {} commands", bases.len());
    assert!(faults.is_empty(), "{} of {tried} texts\n{}", faults.len(), report(faults));
}
