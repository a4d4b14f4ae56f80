//! `hookctl suggest`: the fewest allow rules that would have answered what the user always said yes to.
//!
//! A rule is general only over what the autopilot would let pass as well: looking, building and testing in the
//! project. All else is allowed word by word. No rule may hold for a call that the user once rejected; what today's
//! rules stop stays stopped, since an allow never outweighs that.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::args::SuggestArgs;
use super::exact::{
    self, NewRule, exact_pattern, free_id, make_id, path_pattern, quote, test_toml,
};
use super::history::{Bench, PastCall, Reply, Sources};
use super::report::Report;
use super::{
    BOLD, Context, Exit, FAINT, flatten_lines, human, one_line, print, print_json, print_stderr,
};
use crate::agent;
use crate::config::Config;
use crate::effect::{Analysis, Grade, SubCommand, Word, windows};
use crate::env;
use crate::paths;
use crate::redact;
use crate::rule::case;
use crate::text;
use crate::trial::Ground;
use crate::verdict::Verb;

/// What may be allowed with any operands, beside what the autopilot takes for building, testing and looking.
const ALSO: &str = "autopilot = { also = [\"git commit\", \"git commit -m\"] }\n";
/// Two words that no program knows: what is allowed with them is allowed with any.
const ANY: &str = "hookctl-a hookctl-b";
/// So many first operands may be sub-commands.
const DEEPEST: usize = 2;
/// Tools whose writes are edits.
const EDITS: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];
/// So many tests, and calls of each sort, are shown for a rule.
const SHOWN: usize = 3;
/// So often rules are made narrower, each time that a rejected call would pass.
const ROUNDS: usize = 8;
/// Modes in which nobody is asked.
const UNASKED: [&str; 4] = ["bypassPermissions", "auto", "dontAsk", "plan"];

/// A call that was made once or often.
struct Seen {
    call: PastCall,
    root: String,
    times: usize,
}

/// What was read.
#[derive(Default)]
struct Evidence {
    /// By project, tool and text.
    index: HashMap<String, usize>,
    calls: Vec<Seen>,
    /// How often it was answered with yes after a prompt; of those below, never.
    asked: Vec<usize>,
    rejected: Vec<bool>,
}

/// What a rule is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    /// A program and its sub-command.
    Command(String),
    /// Edits by the agent's tools.
    Edits,
    /// What shell commands read in the project.
    Reads,
    Fetches,
    /// A tool of a server.
    Tool(String),
}

/// A rule in the making.
#[derive(Debug, Default, Clone)]
struct Draft {
    /// With any operands.
    general: Option<String>,
    /// Patterns, paths or hosts, with how often each was said yes to.
    exact: BTreeMap<String, usize>,
    /// Those that the general form does not cover.
    needed: BTreeSet<String>,
    roots: BTreeSet<String>,
}

/// A rule that is suggested.
struct Suggestion {
    rule: NewRule,
    general: bool,
    prompts: usize,
    covers: Vec<(usize, String)>,
    /// Other calls that it would allow: never asked about, or nobody knows.
    others: Vec<String>,
    also: String,
    tests: String,
    native: Vec<(&'static str, String)>,
}

/// Makes them and prints them, or asks for each.
///
/// # Errors
/// Where a file cannot be read or written.
pub(super) fn run(context: &Context, args: &SuggestArgs, report: &mut Report) -> Result<Exit> {
    if args.accept
        && let Some(why) = human::not_human()
    {
        return Ok(report.refuse(why));
    }
    let mut evidence = Evidence::default();
    let user = context.paths.user_config();
    let mut bench = Bench::new(context, user, "");
    let sources = Sources::find(context, &args.paths, args.since.as_deref())?;
    let tally = sources.read(|call| {
        evidence.add_call(&mut bench, call);
        Ok(())
    })?;
    tally.tell_faults();
    let mut maker =
        Maker { context, evidence, drafts: BTreeMap::new(), bench, least: args.least.into() };
    maker.draft_rules();
    let suggestions = maker.settle();
    let prompts = maker.evidence.asked.iter().sum::<usize>();
    if args.json {
        let all: Vec<Value> = suggestions.iter().map(Suggestion::to_json).collect();
        print_json(
            &json!({ "prompts": prompts, "answered": maker.answered(&suggestions), "suggestions": all }),
        )?;
    } else if prompts == 0 {
        print_stderr(
            "nothing to suggest yet: neither the journal nor Claude Code's transcripts tell of a prompt that you said \
             yes to. Come back after a day's work",
        );
    } else if suggestions.is_empty() {
        print_stderr(&format!(
            "nothing to suggest: of {prompts} prompts that you said yes to, none can be answered by a rule that \
             covers {} or more",
            args.least
        ));
    } else if args.accept {
        return accept(context, report, &suggestions);
    } else {
        print(&render_text(context, &suggestions, prompts, maker.answered(&suggestions)))?;
    }
    Ok(if suggestions.is_empty() { Exit::Found } else { Exit::Ok })
}

/// Asks for each.
fn accept(context: &Context, report: &mut Report, all: &[Suggestion]) -> Result<Exit> {
    let mut taken = 0;
    for (at, one) in all.iter().enumerate() {
        print(&format!("\n{} of {}\n{}\n", at + 1, all.len(), one.render_text(context)))?;
        let lost = format!("From now on this passes without a question: {}", one.also);
        let rules = format!("\n{}{}", one.rule.to_toml(), one.tests_toml());
        let words = format!("accept {}", one.rule.id);
        taken += usize::from(exact::append(context, report, &rules, (&lost, &words))?.is_none());
    }
    report.tell(&format!("{taken} of {} accepted. Then: `hookctl test`.\n", all.len()))?;
    Ok(if taken == 0 { Exit::Found } else { Exit::Ok })
}

impl Evidence {
    fn add_call(&mut self, bench: &mut Bench<'_>, call: PastCall) {
        let judged = bench.judge(&call);
        if judged.verb.is_some() || judged.open {
            return;
        }
        let root = windows::native_text(&bench.root(&call.cwd));
        let key = format!("{root}\0{}\0{}\0{}", call.cwd, call.tool, call.input);
        let at = *self.index.entry(key).or_insert_with(|| {
            self.calls.push(Seen { call: call.clone(), root, times: 0 });
            self.asked.push(0);
            self.rejected.push(false);
            self.calls.len() - 1
        });
        self.calls[at].times += 1;
        match call.reply {
            Reply::No => self.rejected[at] = true,
            Reply::Yes if call.asked.unwrap_or_else(|| was_asked(bench, &call)) => {
                self.asked[at] += 1;
            }
            Reply::Yes | Reply::Unknown => {}
        }
        if self.rejected[at] {
            self.asked[at] = 0;
        }
    }

    /// The calls that were asked about and always answered with yes.
    fn prompts(&self) -> impl Iterator<Item = usize> {
        (0..self.calls.len()).filter(|at| self.asked[*at] > 0)
    }
}

/// Does the client ask about such a call, as far as a transcript tells?
fn was_asked(bench: &mut Bench<'_>, call: &PastCall) -> bool {
    let edit = EDITS.contains(&call.tool.as_str());
    if UNASKED.contains(&call.mode.as_str()) || edit && call.mode == "acceptEdits" {
        return false;
    }
    if edit || call.tool == "WebFetch" || call.tool.starts_with("mcp__") {
        return true;
    }
    // Commands that only look in the project pass by themselves.
    let root = bench.root(&call.cwd);
    call.tool == "Bash" && !only_looks(&bench.analyse(call), &windows::native_text(&root))
}

fn only_looks(analysis: &Analysis, root: &str) -> bool {
    analysis.own_commands().iter().all(SubCommand::stands_for_itself)
        && analysis.own_effects().iter().all(|effect| match effect.word {
            Word::Execute => true,
            Word::Read => {
                effect.path.as_ref().is_some_and(|path| Path::new(&path.lexical).starts_with(root))
            }
            _ => false,
        })
}

/// Makes rules of the evidence.
struct Maker<'c> {
    context: &'c Context,
    evidence: Evidence,
    drafts: BTreeMap<Subject, Draft>,
    bench: Bench<'c>,
    least: usize,
}

impl<'c> Maker<'c> {
    fn draft_rules(&mut self) {
        let mut probe = Bench::new(self.context, self.context.paths.user_config(), ALSO);
        let mut known: HashMap<String, Option<String>> = HashMap::new();
        // By prompt, the patterns that would cover it.
        let mut of_prompt: Vec<(usize, Vec<(Subject, String)>)> = Vec::new();
        for at in self.evidence.prompts().collect::<Vec<_>>() {
            let Seen { call, root, .. } = &self.evidence.calls[at];
            let what = call.what();
            // What hides, or holds a secret, is written into no rule.
            let hides = text::make_visible(&what) != what || redact::mask_secrets(&what) != what;
            // Nothing holds by project where none can be.
            let place = Path::new(root);
            if hides
                || !place.is_absolute()
                || !paths::may_be_project(place, &self.context.paths.home)
            {
                continue;
            }
            let analysis = self.bench.analyse(call);
            let mut own = Vec::new();
            for (subject, exact) in parts(call, &analysis, root, self.context) {
                let (subject, general) = match &subject {
                    Subject::Command(words) => {
                        let key = format!("{root}\0{words}");
                        let found = known
                            .entry(key)
                            .or_insert_with(|| find_general(&mut probe, call, words));
                        let name = found.clone().unwrap_or_else(|| first_words(words));
                        (Subject::Command(name), found.clone())
                    }
                    _ => (subject, None),
                };
                own.push((subject.clone(), exact.clone()));
                let draft = self.drafts.entry(subject).or_default();
                draft.general = draft.general.take().or(general);
                draft.roots.insert(root.clone());
                if !exact.is_empty() {
                    *draft.exact.entry(exact).or_default() += self.evidence.asked[at];
                }
            }
            of_prompt.push((at, own));
        }
        self.drop_rejected();
        let all = self.drafts.keys().cloned().collect();
        let mut bench = self.bench_with(&self.write_rules(&all, &BTreeSet::new()));
        for (at, own) in of_prompt {
            if bench.judge(&self.evidence.calls[at].call).verb == Some(Verb::Allow) {
                continue;
            }
            for (subject, exact) in own {
                self.drafts.entry(subject).or_default().needed.insert(exact);
            }
        }
    }

    /// No rule says what was once rejected.
    fn drop_rejected(&mut self) {
        for at in (0..self.evidence.calls.len()).filter(|at| self.evidence.rejected[*at]) {
            let Seen { call, root, .. } = &self.evidence.calls[at];
            let analysis = self.bench.analyse(call);
            for (_, exact) in parts(call, &analysis, root, self.context) {
                for draft in self.drafts.values_mut() {
                    draft.exact.remove(&exact);
                }
            }
        }
    }

    /// Makes rules narrower until none holds for what was rejected, and leaves out those that answer too little.
    fn settle(&mut self) -> Vec<Suggestion> {
        let mut general: BTreeSet<Subject> = self.drafts.keys().cloned().collect();
        let mut dropped: BTreeSet<Subject> = BTreeSet::new();
        for _ in 0..ROUNDS {
            let mut rules = self.write_rules(&general, &dropped);
            let mut counts = self.count(&rules);
            let before = (general.len(), dropped.len());
            for (at, (subject, _, is_general)) in rules.iter().enumerate() {
                let count = &counts[at];
                if count.rejected && *is_general {
                    general.remove(subject);
                } else if count.rejected || count.prompts < self.least {
                    dropped.insert(subject.clone());
                }
            }
            if before == (general.len(), dropped.len()) {
                self.thin_out(&mut rules, &mut counts);
                let mut all: Vec<Suggestion> = rules
                    .into_iter()
                    .enumerate()
                    .map(|(at, (subject, rule, is_general))| {
                        self.finish(&subject, rule, is_general, std::mem::take(&mut counts[at]))
                    })
                    .collect();
                crate::order::sort_by_key(&mut all, |one| std::cmp::Reverse(one.prompts));
                return all;
            }
        }
        // What does not settle is not suggested.
        Vec::new()
    }

    fn write_rules(
        &self,
        general: &BTreeSet<Subject>,
        dropped: &BTreeSet<Subject>,
    ) -> Vec<(Subject, NewRule, bool)> {
        let mut taken = exact::taken_ids(self.context);
        let mut rules = Vec::new();
        for (subject, draft) in &self.drafts {
            if dropped.contains(subject) {
                continue;
            }
            let wide = general.contains(subject);
            let is_general = wide && (draft.general.is_some() || *subject == Subject::Reads);
            let Some(rule) = draft.write(subject, wide) else { continue };
            let id = free_id(&make_id(&rule.id), &mut taken);
            let rule = NewRule { id, ..rule };
            rules.push((subject.clone(), rule, is_general));
        }
        rules
    }

    /// What holds with these rules beside those of now.
    fn bench_with(&self, rules: &[(Subject, NewRule, bool)]) -> Bench<'c> {
        let text: String = rules.iter().map(|(_, rule, _)| rule.to_toml()).collect();
        Bench::new(self.context, self.context.paths.user_config(), &text)
    }

    /// Leaves out those without which the others answer nearly as much, the least useful first.
    fn thin_out(&self, rules: &mut Vec<(Subject, NewRule, bool)>, counts: &mut Vec<Count>) {
        let mut order: Vec<(usize, String)> = counts
            .iter()
            .zip(rules.iter())
            .map(|(count, (_, rule, _))| (count.prompts, rule.id.clone()))
            .collect();
        crate::order::sort(&mut order);
        for (_, id) in order {
            let Some(at) = rules.iter().position(|(_, rule, _)| rule.id == id) else { continue };
            let one = rules.remove(at);
            let mut bench = self.bench_with(rules);
            let lost = counts[at].covered.iter().filter(|at| {
                bench.judge(&self.evidence.calls[**at].call).verb != Some(Verb::Allow)
            });
            counts[at].prompts = lost.map(|at| self.evidence.asked[*at]).sum();
            if counts[at].prompts < self.least {
                counts.remove(at);
            } else {
                rules.insert(at, one);
            }
        }
    }

    /// What each rule does, all of them together.
    fn count(&mut self, rules: &[(Subject, NewRule, bool)]) -> Vec<Count> {
        let mut bench = self.bench_with(rules);
        let at_of: HashMap<String, usize> = rules
            .iter()
            .enumerate()
            .map(|(at, (_, rule, _))| (format!("user:{} allow", rule.id), at))
            .collect();
        let mut counts: Vec<Count> = rules.iter().map(|_| Count::default()).collect();
        for (at, seen) in self.evidence.calls.iter().enumerate() {
            let judged = bench.judge(&seen.call);
            if judged.verb != Some(Verb::Allow) {
                continue;
            }
            for rule in judged.spoke.iter().filter_map(|spoke| at_of.get(spoke)) {
                let count = &mut counts[*rule];
                count.rejected |= self.evidence.rejected[at];
                count.prompts += self.evidence.asked[at];
                match self.evidence.asked[at] {
                    0 => count.others.push(at),
                    _ => count.covered.push(at),
                }
            }
        }
        counts
    }

    fn finish(
        &self,
        subject: &Subject,
        rule: NewRule,
        general: bool,
        mut count: Count,
    ) -> Suggestion {
        let Maker { evidence, drafts, context, .. } = self;
        crate::order::sort_by_key(&mut count.covered, |at| std::cmp::Reverse(evidence.asked[*at]));
        let what = |at: &usize| evidence.calls[*at].call.what();
        let covers = count.covered.iter().map(|at| (evidence.asked[*at], what(at))).collect();
        let draft = &drafts[subject];
        let one_project = draft.roots.len() == 1;
        Suggestion {
            also: describe(subject, draft, general, one_project),
            tests: write_tests(context, evidence, subject, &rule, &count, one_project),
            native: native_lines(evidence, subject, draft, general, &count),
            prompts: count.prompts,
            covers,
            others: count.others.iter().map(what).collect(),
            general,
            rule,
        }
    }

    /// How many prompts all of them together would have answered.
    fn answered(&self, all: &[Suggestion]) -> usize {
        let text: String = all.iter().map(|one| one.rule.to_toml()).collect();
        let mut bench = Bench::new(self.context, self.context.paths.user_config(), &text);
        let evidence = &self.evidence;
        let allowed = evidence
            .prompts()
            .filter(|at| bench.judge(&evidence.calls[*at].call).verb == Some(Verb::Allow));
        allowed.map(|at| evidence.asked[at]).sum()
    }
}

/// What a rule would do to what was read.
#[derive(Debug, Default)]
struct Count {
    rejected: bool,
    prompts: usize,
    covered: Vec<usize>,
    others: Vec<usize>,
}

/// What has to be allowed for the call, each with the exact form; nothing where no rule may.
fn parts(
    call: &PastCall,
    analysis: &Analysis,
    root: &str,
    context: &Context,
) -> Vec<(Subject, String)> {
    let effects = analysis.own_effects();
    if effects.iter().any(|effect| effect.grade == Grade::Unknown) {
        return Vec::new();
    }
    let home = windows::native_text(&context.paths.home);
    let mut out = Vec::new();
    match call.tool.as_str() {
        "Bash" => {
            for (at, command) in analysis.own_commands().iter().enumerate() {
                let runs = |other: &SubCommand| other.parent == Some(at);
                if command.stands_for_itself() {
                    continue;
                }
                // What runs others is allowed by no rule of ours.
                let wraps = analysis.own_commands().iter().any(runs);
                if wraps || command.name.is_empty() {
                    return Vec::new();
                }
                let words = leading_words(command).join(" ");
                // What no pattern can say may still be covered by a general one.
                out.push((Subject::Command(words), exact_pattern(command).unwrap_or_default()));
            }
            let own = |at: usize| analysis.commands.get(at).is_some_and(|c| c.stands_for_itself());
            let read = effects
                .iter()
                .any(|effect| effect.word == Word::Read && effect.command.is_none_or(own));
            if read {
                out.push((Subject::Reads, "./".into()));
            }
        }
        tool if EDITS.contains(&tool) => {
            let paths = effects.iter().filter(|effect| effect.word == Word::Write);
            for path in paths.filter_map(|effect| effect.path.as_ref()) {
                // Below the project's root only, by its first directory.
                let Some(rest) = path.lexical.strip_prefix(root).and_then(|r| r.strip_prefix('/'))
                else {
                    return Vec::new();
                };
                let pattern = match rest.split_once('/') {
                    Some((top, _)) => path_pattern(&format!("{root}/{top}"), root, &home) + "/",
                    None => path_pattern(&path.lexical, root, &home),
                };
                out.push((Subject::Edits, pattern));
            }
        }
        "WebFetch" => {
            let hosts = effects.iter().filter_map(|effect| effect.host.as_deref());
            out.extend(hosts.map(|host| (Subject::Fetches, exact::escape_glob(host))));
        }
        tool if tool.starts_with("mcp__") => {
            let looks = |word: Word| matches!(word, Word::Read | Word::Network);
            if effects.iter().all(|effect| looks(effect.word)) {
                out.push((Subject::Tool(tool.into()), exact::escape_glob(tool)));
            }
        }
        _ => {}
    }
    out
}

/// The program with its first words, as far as they are plain.
fn leading_words(command: &SubCommand) -> Vec<&str> {
    let program = match command.file {
        Some(_) => command.word.text.as_deref().unwrap_or(&command.name),
        None => &command.name,
    };
    let plain = |text: &&str| {
        text.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
    };
    let operands = command.operands.iter().map(|at| command.args[*at].text.as_deref());
    let words = operands.map_while(|text| text.filter(plain)).take(DEEPEST);
    std::iter::once(program).chain(words).collect()
}

/// What rules about a command are grouped by that may be allowed word by word only.
fn first_words(words: &str) -> String {
    words.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

/// The shortest beginning of the command that the autopilot would let pass with any operands behind it.
fn find_general(probe: &mut Bench<'_>, call: &PastCall, words: &str) -> Option<String> {
    let ends = words.match_indices(' ').map(|(at, _)| at).chain([words.len()]);
    let mut starts = ends.map(|end| words[..end].to_string());
    starts.find(|start| {
        let call = PastCall {
            tool: "Bash".into(),
            input: json!({ "command": format!("{start} {ANY}") }),
            mode: String::new(),
            ..call.clone()
        };
        probe.judge(&call).verb == Some(Verb::Allow)
    })
}

impl Draft {
    fn write(&self, subject: &Subject, wide: bool) -> Option<NewRule> {
        let often: Vec<&String> =
            self.exact.iter().filter(|(_, times)| **times > 1).map(|(exact, _)| exact).collect();
        let rule = match subject {
            Subject::Command(name) => {
                let general = self.general.as_ref().filter(|_| wide);
                // Beside the general form those that it does not cover, for their options.
                let beside = often.iter().filter(|exact| self.needed.contains(**exact));
                let patterns: Vec<&String> = match general {
                    Some(general) => std::iter::once(general).chain(beside.copied()).collect(),
                    None => often,
                };
                if patterns.is_empty() {
                    return None;
                }
                NewRule::new(name).with("command", &patterns).with("within", &["./"])
            }
            _ if often.is_empty() => return None,
            Subject::Edits => NewRule::new("edits")
                .with("tool", &EDITS)
                .with("effect", &["read", "write"])
                .with("path", &often),
            Subject::Reads if !wide => return None,
            Subject::Reads => NewRule::new("reads")
                .with("tool", &["Bash"])
                .with("effect", &["read"])
                .with("path", &["./"]),
            Subject::Fetches => NewRule::new("fetches")
                .with("tool", &["WebFetch"])
                .with("effect", &["network"])
                .with("host", &often),
            Subject::Tool(name) => NewRule::new(name).with("tool", &often),
        };
        let rule = match self.roots.iter().next().filter(|_| self.roots.len() == 1) {
            Some(root) => rule.in_project(root),
            None => rule,
        };
        Some(rule.with("allow", &["You always said yes to it."]))
    }
}

/// What the rule allows beyond what was seen.
fn describe(subject: &Subject, draft: &Draft, general: bool, one_project: bool) -> String {
    let mut out = match subject {
        Subject::Command(_) if general => format!(
            "`{}` with any operands in the project and any options that are known as harmless; it may run the \
             project's own code",
            draft.general.as_deref().unwrap_or_default()
        ),
        Subject::Command(_) => {
            "these commands alone, with no other operand; what they run may be the project's own code".into()
        }
        Subject::Edits => "any change of the agent's tools to what lies there".into(),
        Subject::Reads => "any shell command that only reads in the project".into(),
        Subject::Fetches => "any page of these hosts".into(),
        Subject::Tool(_) => "this tool with any input".into(),
    };
    out.push_str(if one_project { ", in this project" } else { ", in every project" });
    out
}

/// Tests that hold: of what is covered, and of what was rejected.
fn write_tests(
    context: &Context,
    evidence: &Evidence,
    subject: &Subject,
    rule: &NewRule,
    count: &Count,
    one_project: bool,
) -> String {
    // In other projects nobody speaks.
    let verdict = if one_project { "passed" } else { "allow" };
    let covered = count.covered.iter().map(|at| (*at, verdict));
    let program = match subject {
        Subject::Command(name) => name.split(' ').next().unwrap_or_default(),
        _ => "",
    };
    let mut near: Vec<usize> = (0..evidence.calls.len())
        .filter(|at| evidence.rejected[*at] && !program.is_empty())
        .filter(|at| evidence.calls[*at].call.what().contains(program))
        .collect();
    // Those that are most like it.
    crate::order::sort_by_key(&mut near, |at| {
        let Subject::Command(name) = subject else { return true };
        !evidence.calls[*at].call.what().contains(name.as_str())
    });
    let rejected = near.into_iter().map(|at| (at, "not allow"));
    let mut out = Vec::new();
    for (at, verdict) in covered.take(SHOWN).chain(rejected.take(SHOWN - 1)) {
        let Seen { call, root, .. } = &evidence.calls[at];
        let cwd = call.cwd.strip_prefix(root.as_str()).map(|rest| rest.trim_start_matches('/'));
        let cwd = cwd.filter(|rest| !rest.is_empty()).map(|rest| format!("./{rest}"));
        let what = call.what();
        let test = match call.tool.as_str() {
            "Bash" => test_toml("command", &quote(&what), cwd.as_deref(), verdict),
            "WebFetch" => {
                let input = format!("{{ url = {} }}", quote(&what));
                format!("[[test]]\ntool = \"WebFetch\"\ninput = {input}\nverdict = \"{verdict}\"\n")
            }
            tool if EDITS.contains(&tool) => match Path::new(&what).strip_prefix(root) {
                Ok(rest) => test_toml("write", &quote(&rest.to_string_lossy()), None, verdict),
                Err(_) => continue,
            },
            _ => continue,
        };
        if !out.contains(&test) && test_holds(context, rule, &test, root, verdict) {
            out.push(test);
        }
    }
    out.join("\n")
}

/// Does the test hold, by the rules of now with that one beside them?
fn test_holds(context: &Context, rule: &NewRule, test: &str, root: &str, verdict: &str) -> bool {
    let root = Path::new(root);
    let mut config = Config::load(&context.paths, root, None);
    config.add_user_text(context.paths.user_config(), rule.to_toml());
    let ground = Ground::new(&context.paths, &config, root, Some(env::get));
    let cases = case::read_cases(test, root);
    let holds = |case: &case::Case| {
        let outcome = ground.run_case(case);
        outcome.passed && (verdict != "passed" || outcome.verb == Some(Verb::Allow))
    };
    cases.faults.is_empty() && !cases.cases.is_empty() && cases.cases.iter().all(holds)
}

/// Lines for the settings of clients that ignore a hook's allow, or do in some mode.
fn native_lines(
    evidence: &Evidence,
    subject: &Subject,
    draft: &Draft,
    general: bool,
    count: &Count,
) -> Vec<(&'static str, String)> {
    let Subject::Command(_) = subject else { return Vec::new() };
    let agents: BTreeSet<&'static str> =
        count.covered.iter().map(|at| evidence.calls[*at].call.agent).collect();
    let start = match draft.general.as_deref().filter(|_| general) {
        Some(general) => general.to_string(),
        None => return Vec::new(),
    };
    let ignores = |id: &&'static str| {
        let Some(agent) = agent::by_id(id) else { return false };
        let mut gates = agent.events().iter().filter(|spec| spec.kind.is_gate());
        !gates.any(|spec| spec.verbs.contains(&Verb::Allow)) || *id == agent::default_agent().id()
    };
    let line = |id: &'static str| match id {
        "claude" => Some(("claude", quote(&format!("Bash({start}:*)")))),
        "opencode" => Some(("opencode", format!("{}: \"allow\"", quote(&format!("{start} *"))))),
        "gemini" => Some(("gemini", quote(&format!("run_shell_command({start})")))),
        _ => None,
    };
    agents.into_iter().filter(ignores).filter_map(line).collect()
}

fn render_text(context: &Context, all: &[Suggestion], prompts: usize, answered: usize) -> String {
    let mut out = format!(
        "# {} rules would have answered {answered} of {prompts} prompts that you always said yes to.\n\
         # Take what you want into {}, or: `hookctl suggest --accept`.\n",
        all.len(),
        super::display_path(context, &context.paths.user_config()),
    );
    for one in all {
        out.push('\n');
        out.push_str(&one.render_text(context));
    }
    out
}

impl Suggestion {
    fn tests_toml(&self) -> String {
        if self.tests.is_empty() { String::new() } else { format!("\n{}", self.tests) }
    }

    /// As TOML, what is said of it in comments.
    fn render_text(&self, context: &Context) -> String {
        let mut out = String::new();
        let mut say = |sgr: u8, text: &str| {
            let line = format!("# {}", one_line(&flatten_lines(text), 160));
            let _ = writeln!(out, "{}", context.paint(sgr, &line));
        };
        say(BOLD, &format!("{} prompts", self.prompts));
        for (times, what) in self.covers.iter().take(SHOWN) {
            say(FAINT, &format!("  {times}x  {what}"));
        }
        if let Some(more @ 1..) = self.covers.len().checked_sub(SHOWN) {
            say(FAINT, &format!("  and {more} more"));
        }
        say(FAINT, &format!("it also allows: {}", self.also));
        if !self.others.is_empty() {
            let shown: Vec<String> =
                self.others.iter().take(SHOWN).map(|what| one_line(what, 50)).collect();
            let count = self.others.len();
            say(
                FAINT,
                &format!("  of past calls without a yes of yours {count}: {}", shown.join("; ")),
            );
        }
        for (agent, line) in &self.native {
            let why = match *agent {
                "claude" => {
                    "in Claude Code's auto mode, which ignores a hook's allow, permissions.allow"
                }
                _ => "which ignores a hook's allow, its own permissions",
            };
            say(FAINT, &format!("{agent}: {why}: {line}"));
        }
        out.push_str(&self.rule.to_toml());
        out.push_str(&self.tests_toml());
        out
    }

    fn to_json(&self) -> Value {
        let covers: Vec<Value> = self
            .covers
            .iter()
            .map(|(times, what)| json!({ "what": what, "times": times }))
            .collect();
        let native: Vec<Value> = self
            .native
            .iter()
            .map(|(agent, line)| json!({ "agent": agent, "line": line }))
            .collect();
        json!({
            "id": self.rule.id,
            "prompts": self.prompts,
            "general": self.general,
            "covers": covers,
            "also": self.also,
            "others": self.others,
            "rule": self.rule.to_toml(),
            "tests": self.tests,
            "native": native,
        })
    }
}
