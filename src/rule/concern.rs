//! Which calls a rule could concern, as one line of text: so that a rule is only read when the call
//! at hand could be its business.
//!
//! The build writes these lines for the shipped rules, the hook path for the files of users
//! (`index.rs`). A no is certain, a yes is not: what cannot be told cheaply is left empty, and
//! empty means any.

use std::cell::OnceCell;

use crate::effect::{Analysis, Effect, Extent, Grade, Place, SubCommand, Target, Word};
use crate::event::Event;

use super::needle;
use super::path::FOLD;
use super::signature::{ALL, ANY, Signature, bit, bits};
use super::{Certainty, Layer, Rule, Severity, Verdict};
use crate::limits;

/// What it costs of the event's budget to hold one line against one effect.
const STEP: usize = 16;

/// A call that rules are sought for.
#[derive(Debug, Clone, Copy)]
pub struct RuleQuery<'a> {
    /// The event.
    pub event: &'a Event,
    /// What it would do.
    pub analysis: &'a Analysis,
    /// Where home and project are.
    pub place: &'a Place,
    /// What may lie below a directory counts as well.
    pub deep: bool,
}

impl Signature {
    /// Of a call.
    pub fn of_call(call: &RuleQuery<'_>) -> Signature {
        let words = call.analysis.effects.iter().map(|effect| effect.word.text());
        let commands = call.analysis.commands.iter().flat_map(|command| command.readings(true));
        let programs = commands.map(bits_of_command);
        let programs = programs.fold(0, |all, bits| all | bits);
        let names = [call.event.kind.name(), name_of_tool(&call.event.tool)];
        let [on, tool] = names.map(|name| bits([name]));
        Signature([on, tool, bits(words), programs].map(|bits| bits | ANY))
    }
}

/// Of its name, and of that with each operand: what lists of programs could hold. Who runs what is not known could run any.
fn bits_of_command(command: &SubCommand) -> u64 {
    let name = command.name.as_str();
    let mut known = !name.is_empty();
    let bits = command.args.iter().fold(bits([name]), |bits, arg| {
        let text = arg.text.as_deref();
        known &= text.is_some_and(|text| !is_odd_path(text));
        bits | bit(name.bytes().chain([b' ']).chain(text.unwrap_or_default().bytes()))
    });
    if known { bits } else { ALL }
}

/// The line of a rule, taken apart. Lists are separated by commas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Concern<'t> {
    /// The events by name, `*` for all.
    pub on: &'t str,
    /// The tools, where all are plain names or of servers: see [`name_of_tool`].
    pub tools: &'t str,
    /// The words of `effect`.
    pub words: &'t str,
    /// The programs of `command`, where all are plain names, with their first operand: `git push`.
    pub programs: &'t str,
    /// `unknown` = only what is not understood; `shipped` = it does not fire on that; `keen` = that,
    /// but it fires on what is only possible; `reads` = an allow that also covers a call of nothing but executes.
    pub kind: &'t str,
    /// The longest literal part of each path pattern, as `needle.rs` packs them.
    pub needles: &'t str,
}

impl<'t> Concern<'t> {
    /// Takes a line apart: six fields with tabs between them; only the last may hold one.
    pub fn parse(line: &'t str) -> Option<Concern<'t>> {
        let mut rest = line;
        let mut field = || {
            let end = memchr::memchr(b'\t', rest.as_bytes())?;
            let field = &rest[..end];
            rest = &rest[end + 1..];
            Some(field)
        };
        let (on, tools, words) = (field()?, field()?, field()?);
        let (programs, kind) = (field()?, field()?);
        Some(Concern { on, tools, words, programs, kind, needles: rest })
    }

    /// What it is about, at a glance.
    pub fn signature(&self) -> Signature {
        // What is not understood could be any effect of any program.
        let effects = |list: &'t str| if self.kind == "unknown" { "" } else { list };
        Signature::of_lists([self.on, self.tools, effects(self.words), effects(self.programs)])
    }

    /// Could the rule speak of this call? What tells most rules apart from it is asked first.
    pub fn may_concern(&self, call: &RuleQuery<'_>) -> bool {
        self.could_do(call)
            && (self.tools.is_empty() || is_listed(self.tools, name_of_tool(&call.event.tool)))
            && (self.on == "*" || is_listed(self.on, call.event.kind.name()))
            && (self.programs.is_empty()
                || self.kind == "unknown"
                || call
                    .analysis
                    .commands
                    .iter()
                    .any(|command| command.readings(true).any(|reading| self.could_run(reading))))
    }

    /// Could it speak of one of the effects?
    fn could_do(&self, call: &RuleQuery<'_>) -> bool {
        let effects = &call.analysis.effects;
        if self.kind == "unknown" {
            return effects.iter().any(|effect| effect.grade == Grade::Unknown);
        }
        if self.words.is_empty() && self.needles.is_empty()
            || self.kind == "reads" && effects.iter().all(|effect| effect.word == Word::Execute)
        {
            return true;
        }
        // Most effects have the word of the one before them.
        let mut said = None;
        effects.iter().any(|effect| {
            let (_, says) = said.filter(|(word, _)| *word == effect.word).unwrap_or_else(|| {
                (effect.word, self.words.is_empty() || self.names_effect(effect.word))
            });
            said = Some((effect.word, says));
            // What cannot be told cheaply is any.
            !limits::spend_steps(STEP) || says && self.could_be(effect, call)
        })
    }

    fn could_be(&self, effect: &Effect, call: &RuleQuery<'_>) -> bool {
        if self.needles.is_empty() {
            return true;
        }
        match &effect.path {
            Some(target) => self.could_name(target, call),
            // What is sent is what the command reads.
            None if effect.word == Word::Send => true,
            None => effect.grade == Grade::Unknown && !matches!(self.kind, "shipped" | "keen"),
        }
    }

    /// Does `effect` name the word?
    pub fn names_effect(&self, word: Word) -> bool {
        is_listed(self.words, word.text())
            || matches!(word, Word::Named(name)
                if list_items(self.words).any(|own| own.strip_suffix('*').is_some_and(|d| name.starts_with(d))))
    }

    /// Each pattern's needle must fit the path. A target that is more than one path is only told
    /// from patterns that name another place outright.
    fn could_name(&self, target: &Target, call: &RuleQuery<'_>) -> bool {
        if FOLD {
            return true;
        }
        let (one, glob) = (target.extent == Extent::Exact, target.extent == Extent::Glob);
        let deep = call.deep || self.kind == "keen" || glob;
        let fits = |path: &str| {
            let path = ConcernPath::new(path, one, glob, call.place);
            let mut needles = needle::unpack_needles(self.needles);
            let fits =
                needles.any(|one| one.is_none_or(|(start, run)| path.may_match(start, run, deep)));
            // The longer the path, the longer is one looked for in it.
            fits || !limits::spend_steps(self.needles.len() / 8 * path.whole.len() / 8)
        };
        fits(&target.lexical) || target.lexical != target.resolved && fits(&target.resolved)
    }

    fn could_run(&self, command: &SubCommand) -> bool {
        command.name.is_empty()
            || list_items(self.programs).any(|item| {
                let program = if item.starts_with('*') { "*" } else { command.name.as_str() };
                item.strip_prefix(program).is_some_and(|rest| match rest.strip_prefix(' ') {
                    Some(word) => holds_word(command, program, word),
                    None => rest.is_empty(),
                })
            })
    }
}

/// A path that needles are held against: there are some hundred of them.
struct ConcernPath<'a> {
    whole: &'a [u8],
    /// Which two bytes stand side by side in it, as bits: see [`pair_bit`].
    pairs: OnceCell<[u64; 8]>,
    /// What stands behind the home directory and behind the project's, with its slash.
    home: Option<&'a [u8]>,
    project: Option<&'a [u8]>,
    /// It is that very path, and not more.
    one: bool,
}

impl<'a> ConcernPath<'a> {
    fn new(path: &'a str, one: bool, glob: bool, place: &Place) -> ConcernPath<'a> {
        // Of a glob, what stands before its first sign; of anything else such a sign is a letter.
        let end = if glob { path.find(['*', '?', '[']) } else { None };
        let whole = &path.as_bytes()[..end.unwrap_or(path.len())];
        let behind = |base: &str| whole.strip_prefix(base.trim_end_matches('/').as_bytes());
        ConcernPath {
            whole,
            pairs: OnceCell::new(),
            home: behind(&place.home),
            // Below one of several, it is not told which.
            project: behind(&place.project).filter(|_| place.other_roots.is_empty()),
            one,
        }
    }

    /// Could a pattern name it whose paths begin so and hold that run? `deep` = what may lie below counts.
    fn may_match(&self, start: &[u8], run: &[u8], deep: bool) -> bool {
        let (base, rest) = match start {
            [] => return !self.one && deep || self.holds(run),
            [b'~', rest @ ..] => (self.home, rest),
            [b'.', rest @ ..] => (self.project, rest),
            _ => (Some(self.whole), start),
        };
        let begins = match base {
            Some(path) => self.begins_with(path, rest, deep),
            // Every base lies below the root.
            None if !self.one && !deep && self.whole == b"/" => matches!(rest, b"" | b"/."),
            // The base may have another name, or lie below a target of many paths.
            None => !self.one || self.holds(rest),
        };
        begins && (!self.one || self.holds(run))
    }

    /// Does the run stand somewhere in it?
    fn holds(&self, run: &[u8]) -> bool {
        let [first, _, ..] = run else { return run.first().is_none_or(|b| self.whole.contains(b)) };
        let pairs = self.pairs.get_or_init(|| note_pairs(self.whole));
        // Nearly all are told by that.
        let known = |pair: &[u8; 2]| {
            let (at, bit) = pair_bit(pair);
            pairs[at] & bit != 0
        };
        run.array_windows().all(known)
            && self.whole.windows(run.len()).any(|part| part[0] == *first && part == run)
    }

    fn begins_with(&self, path: &[u8], start: &[u8], deep: bool) -> bool {
        let itself = start.strip_suffix(b"/.");
        let dir = itself.unwrap_or(start);
        // Most differ in their first bytes.
        let meets = path.iter().zip(dir).all(|(one, other)| one == other);
        match self.one {
            true if itself.is_some() => {
                meets
                    && path.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1)
                        == dir.len()
            }
            true => meets && path.len() >= dir.len(),
            false => meets && (deep || !lies_deep(path, dir)),
        }
    }
}

/// Does the directory lie below another one that the path holds? Then it is only possible that it is touched with the path.
fn lies_deep(path: &[u8], dir: &[u8]) -> bool {
    let left = dir.get(path.len()..).unwrap_or_default();
    left.strip_prefix(b"/").unwrap_or(left).contains(&b'/')
}

/// The pairs of bytes in a path.
fn note_pairs(path: &[u8]) -> [u64; 8] {
    let mut pairs = [0; 8];
    for pair in path.array_windows() {
        let (at, bit) = pair_bit(pair);
        pairs[at] |= bit;
    }
    pairs
}

/// Where two bytes that stand side by side are noted. Not every pair has a place of its own.
#[inline(always)]
fn pair_bit(pair: &[u8; 2]) -> (usize, u64) {
    let sum = usize::from(pair[0]) * 37 + usize::from(pair[1]);
    (sum / 64 % 8, 1 << (sum % 64))
}

/// Does a call of that program, `*` for any, hold the word that a pattern asks for: the operand, or
/// for any program the option? An operand that is not known could be it.
pub fn holds_word(command: &SubCommand, program: &str, word: &str) -> bool {
    if program == "*" {
        return command.options.iter().any(|opt| opt.name == word || opt.aliases.contains(&word));
    }
    let is_word = |text: &str| text == word || word.starts_with('/') && is_odd_path(text);
    command.args.iter().any(|arg| arg.text.as_deref().is_none_or(is_word))
}

/// Is it an absolute path that is not written in the plainest way?
pub fn is_odd_path(text: &str) -> bool {
    text.starts_with('/') && (text.contains("//") || text.contains("/."))
}

/// What lines call a tool: those of servers go by more names than their own, and all of them are one here.
pub fn name_of_tool(name: &str) -> &str {
    if name.starts_with(OF_SERVERS) { OF_SERVERS } else { name }
}

/// How the names of servers' tools begin.
const OF_SERVERS: &str = "mcp__";

fn is_listed(list: &str, name: &str) -> bool {
    let mut rest = list.as_bytes();
    loop {
        // By the byte: the items are short.
        if let Some(b"" | [b',', ..]) = rest.strip_prefix(name.as_bytes()) {
            return true;
        }
        let Some(at) = rest.iter().position(|byte| *byte == b',') else { return false };
        rest = &rest[at + 1..];
    }
}

fn list_items(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(list);
    std::iter::from_fn(move || {
        let list = rest?;
        let end = memchr::memchr(b',', list.as_bytes()).unwrap_or(list.len());
        rest = list.get(end + 1..);
        Some(&list[..end])
    })
}

/// What conditions say of the calls that they could hold for. An empty list means any.
#[derive(Debug, Default)]
pub struct ConcernLine {
    /// The tools as events name them.
    pub tools: Vec<String>,
    /// The words of `effect`.
    pub words: Vec<String>,
    /// The programs of `command`, with their first operand.
    pub programs: Vec<String>,
    /// The longest literal part of each path pattern.
    pub needles: Vec<String>,
}

/// The line of a rule.
pub fn concern_line(rule: &Rule) -> String {
    let on = if rule.on == crate::event::KindSet::ALL {
        "*".to_string()
    } else {
        join_items(rule.on.iter().map(|kind| kind.name().to_string()).collect())
    };
    let mut line = ConcernLine::default();
    rule.conditions.add_concerns(&mut line);
    let conditions = &rule.conditions;
    let allows = matches!(rule.verdict, Verdict::Allow { closed: false, .. });
    let reads = allows && conditions.effect.contains(&Word::Read);
    if reads || allows && !conditions.command.is_empty() {
        // An allow on reads covers a call that does nothing but run what is harmless as well, one on a command its being run.
        if !line.words.is_empty() {
            line.words.push(Word::Execute.text().to_string());
        }
        if !conditions.command.is_empty() {
            line.needles.clear();
        }
    }
    let kind = match (rule.certainty, rule.layer()) {
        _ if matches!(rule.verdict, Verdict::NotUnderstood { .. }) => "unknown",
        (Certainty::Possible, Layer::Pack) => "keen",
        (_, Layer::Pack) if rule.severity == Severity::Critical => "keen",
        (_, Layer::Pack) => "shipped",
        _ if reads => "reads",
        _ => "",
    };
    let ConcernLine { tools, words, programs, needles } = line;
    let [tools, words, programs] = [tools, words, programs].map(join_items);
    let needles = needle::pack_needles(unique(&needles));
    [on, tools, words, programs, kind.to_string(), needles].join("\t")
}

/// A list as one field; nothing where an item holds a separator.
fn join_items(items: Vec<String>) -> String {
    let clean = |item: &String| !item.contains([',', '\t', '\n', '\r']);
    if items.iter().all(clean) { unique(&items).join(",") } else { String::new() }
}

/// Each once.
fn unique(items: &[String]) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    for item in items {
        if !out.contains(&item.as_str()) {
            out.push(item);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Kind;
    use crate::rule::file;
    use crate::{dry, effect};

    #[test]
    fn needles_read_as_they_were_packed_or_as_damaged() {
        let long = format!("/{}", "x".repeat(300));
        let packed = needle::pack_needles(["/etc/.", "~/.ssh*id", "*.pem", long.as_str()]);
        let read: Vec<_> = needle::unpack_needles(&packed).flatten().collect();
        let wanted: [(&str, &str); 4] =
            [("/etc/.", ""), ("~/.ssh", "id"), ("", ".pem"), (&long[..127], "")];
        assert_eq!(read, wanted.map(|(start, run)| (start.as_bytes(), run.as_bytes())));
        let ends = [8, 18, 24, packed.len()];
        for end in (1..packed.len()).filter(|end| !ends.contains(end)) {
            let mut read = needle::unpack_needles(&packed[..end]);
            assert!(read.any(|one| one.is_none()), "cut at {end}");
        }
    }

    #[test]
    fn text_around_brackets_tells_a_pattern() {
        for (pattern, needle) in [
            ("audi[t]-*.jsonl", "*.jsonl"),
            ("rubygems_plugi[n].rb", "*rubygems_plugi"),
            ("./x/[]a]bcd/*", "./x*bcd"),
            ("a[b", "*a"),
            ("[ab]", "*"),
            ("id_rsa", "*id_rsa"),
            ("secrets/id_rsa", "*secrets"),
        ] {
            assert_eq!(needle::path_needle(pattern), needle, "{pattern}");
        }
    }

    #[test]
    fn what_is_cut_of_a_needle_says_less_and_nothing_else() {
        for name in 118..132 {
            let path = format!("/{}/.ssh/keys/{}/k", "x".repeat(name), "y".repeat(200));
            let packed = needle::pack_needles([path.as_str()]);
            let (start, run) = needle::unpack_needles(&packed).next().flatten().expect("a needle");
            let target = ConcernPath::new(&path, true, false, &Place::default());
            assert!(target.may_match(start, run, false), "{name}: {}", start.escape_ascii());
        }
    }

    #[test]
    fn a_path_concerns_only_rules_on_its_like() {
        // The path, whether it is but that one, how the rule's paths begin, whether what may lie below counts.
        for (path, one, start, deep, wanted) in [
            ("/etc/passwd", true, "/etc/", false, true),
            ("/etc/passwd", true, "/etc/shadow", false, false),
            ("/etc/passwd", true, "/usr/", true, false),
            ("/etc", true, "/etc/.", false, true),
            ("/etc/", true, "/etc/.", false, true),
            ("/etc/x", true, "/etc/.", false, false),
            ("/et", true, "/etc", false, false),
            ("/etc", false, "/etc/ssh", false, true),
            ("/etc", false, "/etc/ssh/keys", false, false),
            ("/etc", false, "/etc/ssh/keys", true, true),
            ("/etc", false, "/usr/", true, false),
            ("/etc", false, "/usr/lib/x", false, false),
        ] {
            let target = ConcernPath::new(path, one, false, &Place::default());
            let found = target.may_match(start.as_bytes(), b"", deep);
            assert_eq!(found, wanted, "{path} {one}: {start} {deep}");
        }
        let target = ConcernPath::new("/etc/passwd", true, false, &Place::default());
        for (run, wanted) in [("", true), ("s", true), ("ssw", true), ("sws", false), ("z", false)]
        {
            assert_eq!(target.may_match(b"", run.as_bytes(), false), wanted, "{run}");
        }
        // What rules name wherever it lies may lie below a directory, and not below a file.
        for (one, deep, wanted) in
            [(true, true, false), (true, false, false), (false, true, true), (false, false, false)]
        {
            let target = ConcernPath::new("/srv/data", one, false, &Place::default());
            assert_eq!(target.may_match(b"", b".env", deep), wanted, "{one} {deep}");
        }
    }

    /// What a line keeps from a call is never even read for it.
    #[test]
    fn a_call_concerns_each_rule_that_surely_speaks_of_it() {
        let place = Place {
            home: "/home/dev".into(),
            project: "/p".into(),
            cwd: "/p".into(),
            ..Place::default()
        };
        for (keys, command, wanted) in [
            // What lies right below goes with the directory.
            ("path = 'keys/id_rsa'", "rm -r /srv/keys", true),
            ("path = 'keys/id_rsa'", "rm /srv/keys/id_rsa", true),
            ("path = 'keys/id_rsa'", "rm -r /srv/locks", false),
            ("path = 'keys/**/id_rsa'", "rm /srv/keys/old/id_rsa", true),
            ("path = 'a/**/id_rsa'", "rm /srv/a/keys/id_dsa", false),
            // An operand that is a glob is no word to look for.
            ("command = 'git pu?h'", "git push", true),
            ("command = 'git p*'", "git push", true),
            ("command = 'git push'", "git push", true),
            ("command = 'git pull'", "git push", false),
            ("command = '* --yolo'", "x --yolo", true),
            ("command = '* --yo*'", "x --yolo", true),
        ] {
            let text = format!("[rule.a]\n{keys}\ndeny = 'x'\n");
            let file = file::read_rules(&text, std::path::Path::new("/f.toml"), Layer::User, None);
            let line = super::concern_line(&file.rules[0]);
            let input = serde_json::json!({ "command": command });
            let payload = dry::tool_call_payload(Kind::PreToolUse, "Bash", input, "/p");
            let (_, event) = dry::parse_event(payload, None);
            let analysis = effect::analyse_event(&event, &place);
            let call = RuleQuery { event: &event, analysis: &analysis, place: &place, deep: false };
            let found = Concern::parse(&line).expect("a line").may_concern(&call);
            // Where letter case does not count, no needle tells one path from another.
            let wanted = wanted || FOLD && keys.starts_with("path");
            assert_eq!(found, wanted, "{keys}: {command}");
        }
    }

    #[test]
    fn an_allow_on_reads_concerns_what_only_runs_something_and_reads_there() {
        let line = |text: &str| {
            let text = format!("[rule.a]\n{text}");
            let file = file::read_rules(&text, std::path::Path::new("/f.toml"), Layer::User, None);
            super::concern_line(&file.rules[0])
        };
        let concern = |line: &str| {
            let concern = Concern::parse(line).expect("a line");
            let needles = needle::unpack_needles(concern.needles).flatten();
            let needles: Vec<_> =
                needles.map(|(start, _)| String::from_utf8_lossy(start)).collect();
            [concern.words.to_string(), needles.join("|"), concern.kind.to_string()]
        };
        let allow = concern(&line("effect = 'read'\npath = './x'\nallow = 'x'"));
        assert_eq!(allow, ["read,execute", "./x", "reads"]);
        let command = "command = 'cat'\neffect = 'read'\npath = './x'\nallow = 'x'";
        assert_eq!(concern(&line(command)), ["read,execute", "", "reads"]);
        let deny = concern(&line("effect = 'read'\npath = './x'\ndeny = 'x'"));
        assert_eq!(deny, ["read", "./x", ""]);
    }
}
