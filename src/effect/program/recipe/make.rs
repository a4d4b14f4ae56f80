//! A makefile: the recipes of the goals and of what they need, with the variables that are known.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{Request, Step, UNKNOWN, lines_of};
use crate::limits;

/// Variables that make has of itself.
const BUILT_IN: &[(&str, &str)] = &[
    ("MAKE", "make"),
    ("RM", "rm -f"),
    ("CC", "cc"),
    ("CXX", "c++"),
    ("CPP", "cc -E"),
    ("AR", "ar"),
    ("AS", "as"),
    ("LD", "ld"),
    ("FC", "f77"),
    ("SHELL", "/bin/sh"),
    ("INSTALL", "install"),
    ("MAKEFLAGS", ""),
    ("MFLAGS", ""),
    ("CFLAGS", ""),
    ("LDFLAGS", ""),
    ("CPPFLAGS", ""),
    ("CXXFLAGS", ""),
];

#[derive(Default)]
struct Rule {
    targets: Vec<String>,
    needs: Vec<String>,
    /// Where each line of the recipe stands, its text, and whether it stands in a branch.
    lines: Vec<(Range<usize>, String, bool)>,
}

#[derive(Default)]
struct File {
    /// Their texts as they are written; None = nobody knows.
    variables: BTreeMap<String, Option<String>>,
    rules: Vec<Rule>,
    of_target: BTreeMap<String, Vec<usize>>,
    phony: BTreeSet<String>,
    /// Something else may say more: an include, `$(eval ...)`.
    open: bool,
    /// What runs while the file is read.
    steps: Vec<Step>,
    /// Something may make another thing of it than its plain rules and variables say.
    loose: bool,
    /// Variables that may come from elsewhere.
    foreign: BTreeSet<String>,
    /// One of them was asked for.
    strayed: Cell<bool>,
}

/// What `$@` and its kin stand for.
#[derive(Default, Clone, Copy)]
struct Automatic<'r> {
    target: &'r str,
    needs: &'r [String],
}

/// A walk over what the goals need.
struct Walk<'f, 'a, 'r> {
    file: &'f File,
    asked: &'r mut Request<'a>,
    seen: BTreeSet<&'f str>,
    steps: Vec<Step>,
}

/// The commands that the goals come to.
pub(super) fn read_steps(text: &str, asked: &mut Request) -> Vec<Step> {
    let mut file = read_file(text, asked);
    let shell = file.expand("$(SHELL)", Automatic::default(), asked, 0).0;
    if !shell.ends_with("sh") || file.variables.contains_key(".RECIPEPREFIX") {
        return Vec::new();
    }
    let standard = match file.variables.get(".DEFAULT_GOAL") {
        Some(goal) => goal.clone(),
        None => {
            file.rules.iter().flat_map(|rule| rule.targets.first()).find(|t| is_goal(t)).cloned()
        }
    };
    let goals: Vec<String> = match asked.goals {
        [] => standard.into_iter().collect(),
        goals => goals.to_vec(),
    };
    let steps = std::mem::take(&mut file.steps);
    asked.closed = !file.loose && !file.open && asked.given.is_empty() && !goals.is_empty();
    file.strayed.set(false);
    let mut walk = Walk { file: &file, asked, seen: BTreeSet::new(), steps };
    goals.iter().for_each(|goal| walk.add_goal(goal, false, 0));
    let steps = walk.steps;
    asked.closed &= !file.strayed.get();
    steps
}

fn is_goal(target: &str) -> bool {
    !target.contains('%') && (!target.starts_with('.') || target.contains('/'))
}

/// Where something stands outside of `$(...)`.
fn find_bare(text: &str, wanted: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    text.bytes().enumerate().find_map(|(at, byte)| {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            _ if depth == 0 && wanted.contains(&byte) => return Some(at),
            _ => {}
        }
        None
    })
}

/// `NAME = value` taken apart: the name, the operator, the value.
fn split_assignment(line: &str) -> Option<(&str, &str, &str)> {
    let at = find_bare(line, b"=#")?;
    let (head, value) = (&line[..at], line[at..].strip_prefix('=')?);
    let name = head.trim_end_matches([':', '?', '+', '!']);
    let (operator, name) = (&head[name.len()..], name.trim());
    let name = ["export ", "override ", "private "]
        .iter()
        .fold(name, |name, word| name.strip_prefix(word).unwrap_or(name).trim_start());
    let plain = !name.is_empty() && !name.contains([':', ' ', '\t', '$', '%']);
    plain.then(|| (name, operator, value.split(" #").next().unwrap_or_default().trim()))
}

fn read_file(text: &str, asked: &mut Request) -> File {
    let mut file = File::default();
    file.read_text(text, None, 0, asked);
    for (name, value) in asked.given {
        file.variables.insert(name.clone(), Some(value.clone()));
    }
    file
}

impl File {
    /// Reads the text; `shown` = where in the first file another one is named, whose text it is.
    fn read_text(
        &mut self,
        text: &str,
        shown: Option<Range<usize>>,
        depth: usize,
        asked: &mut Request,
    ) {
        let file = self;
        let mut branches = 0_usize;
        let mut defining = false;
        let mut in_rule = false;
        let mut lines = lines_of(text).peekable();
        while let Some((at, first)) = lines.next() {
            let mut end = at + first.len();
            while text[..end].ends_with('\\')
                && let Some((next, line)) = lines.next()
            {
                end = next + line.len();
            }
            let raw = &text[at..end];
            let span = shown.clone().unwrap_or(at..end);
            if let Some(recipe) = raw.strip_prefix('\t').filter(|_| in_rule) {
                if let Some(rule) = file.rules.last_mut() {
                    rule.lines.push((span, recipe.to_string(), branches > 0));
                }
                continue;
            }
            let joined = match raw.contains('\n') {
                true => Cow::Owned(raw.replace("\\\r\n", " ").replace("\\\n", " ")),
                false => Cow::Borrowed(raw),
            };
            let line = joined.trim();
            let word = line.split([' ', '\t', '(']).next().unwrap_or_default();
            file.loose = file.loose || !line.starts_with('#') && !is_plain_line(line, word);
            match word {
                "endef" => defining = false,
                _ if defining => {}
                "" => {}
                _ if line.starts_with('#') => {}
                "define" => {
                    defining = true;
                    let name = line[6..].split([' ', '\t', '=', ':']).find(|name| !name.is_empty());
                    file.variables.insert(name.unwrap_or_default().to_string(), None);
                }
                "ifeq" | "ifneq" | "ifdef" | "ifndef" => branches += 1,
                "endif" => branches = branches.saturating_sub(1),
                "else" | "vpath" | "unexport" | "undefine" => {}
                "include" | "-include" | "sinclude" => {
                    file.open = true;
                    let names = file.expand(&line[word.len()..], Automatic::default(), asked, 0).0;
                    for name in names.split_whitespace() {
                        let room =
                            depth < limits::SCRIPT_DEPTH && asked.has_room(0, &file.steps, 256);
                        if let Some(other) = room.then(|| (asked.other)(name)).flatten()
                            && asked.has_room(0, &file.steps, other.len())
                        {
                            file.read_text(&other, Some(span.clone()), depth + 1, asked);
                        }
                    }
                    in_rule = false;
                }
                _ => {
                    in_rule =
                        file.read_line(line, span, branches > 0, asked) || in_rule && branches > 0
                }
            }
        }
    }
    /// An assignment or the head of a rule; true = recipes may follow.
    fn read_line(
        &mut self,
        line: &str,
        span: Range<usize>,
        unsure: bool,
        asked: &mut Request,
    ) -> bool {
        if let Some((name, operator, value)) = split_assignment(line) {
            self.assign(name, operator, value, unsure, asked, span);
            return false;
        }
        let Some(colon) = find_bare(line, b":") else {
            self.open |= line.contains("$(eval") || line.contains("$(call");
            return false;
        };
        let (targets, rest) = (&line[..colon], line[colon..].trim_start_matches(':'));
        if let Some((name, ..)) = split_assignment(rest) {
            // Of that target alone.
            self.variables.insert(name.to_string(), None);
            return false;
        }
        let (needs, recipe) = match rest.split_once(';') {
            Some((needs, recipe)) => (needs, Some(recipe)),
            None => (rest, None),
        };
        let words = |text: &str| -> Vec<String> {
            let text = self.expand(text, Automatic::default(), asked, 0).0;
            let words = text.split_whitespace().filter(|word| *word != "|");
            words.map(str::to_string).collect()
        };
        let (targets, needs) = (words(targets.trim_end_matches('&')), words(needs));
        if targets.iter().any(|target| target == ".PHONY") {
            self.phony.extend(needs);
            return false;
        }
        let place = self.rules.len();
        for target in &targets {
            self.of_target.entry(target.clone()).or_default().push(place);
        }
        let own = recipe.map(|recipe| (span, recipe.trim().to_string(), unsure));
        self.rules.push(Rule { targets, needs, lines: own.into_iter().collect() });
        true
    }

    fn assign(
        &mut self,
        name: &str,
        operator: &str,
        value: &str,
        unsure: bool,
        asked: &mut Request,
        span: Range<usize>,
    ) {
        let had = self.variables.get(name).cloned();
        let runs = operator == "!" || operator.starts_with(':') && value.contains("$(shell ");
        self.loose |= (asked.steers)(name);
        let held = had.is_some() && !self.foreign.contains(name);
        if operator == "?" || operator == "+" && !held {
            self.foreign.insert(name.to_string());
        }
        let new = match operator {
            "!" => Some(format!("$(shell {value})")),
            _ if operator.starts_with(':') => {
                Some(self.expand(value, Automatic::default(), asked, 0).0.replace('$', "$$"))
            }
            "+" => had.clone().unwrap_or_default().map(|old| format!("{old} {value}")),
            "?" if had.is_some() => return,
            "?" => Some((asked.env)(name).unwrap_or_else(|| value.to_string())),
            _ => Some(value.to_string()),
        };
        if runs && asked.has_room(0, &self.steps, 0) {
            let (text, _) =
                self.expand(new.as_deref().unwrap_or(value), Automatic::default(), asked, 0);
            // An assignment runs what is substituted, and nothing more.
            let text = format!("RECIPE_MADE=\"{text}\"");
            self.steps.push(Step { text, span, unsure, takes_words: false });
        }
        let known = new.filter(|new| !unsure || had == Some(Some(new.clone())));
        self.variables.insert(name.to_string(), known);
    }

    /// The text with its variables; true = one of them may be another, or nothing.
    fn expand(&self, text: &str, auto: Automatic, asked: &Request, depth: usize) -> (String, bool) {
        let mut out = String::new();
        let mut unsure = false;
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let Some(sign) = rest.chars().next() else { break };
            let (name, behind) = match sign {
                '$' => {
                    out.push('$');
                    rest = &rest[1..];
                    continue;
                }
                '(' | '{' => match closing(&rest[1..]) {
                    Some(end) => (&rest[1..=end], &rest[end + 2..]),
                    None => break,
                },
                other => rest.split_at(other.len_utf8()),
            };
            rest = behind;
            let room = depth < limits::RECIPE_VALUES
                && out.len() < limits::VALUE
                && limits::spend_steps(64);
            let value = if room { self.value(name, auto, asked, depth + 1) } else { None };
            match value {
                Some((value, perhaps)) => {
                    unsure |= perhaps;
                    out.push_str(&value);
                }
                None => out.push_str(UNKNOWN),
            }
        }
        out.push_str(rest);
        (out, unsure)
    }

    /// What stands between the brackets of `$(...)`; None = nobody knows.
    fn value(
        &self,
        name: &str,
        auto: Automatic,
        asked: &Request,
        depth: usize,
    ) -> Option<(String, bool)> {
        let sure = |text: &str| Some((text.to_string(), false));
        if let Some((function, argument)) = name.split_once([' ', '\t']) {
            let (argument, unsure) = self.expand(argument, auto, asked, depth);
            return match function {
                "shell" => Some((format!("$({argument})"), unsure)),
                "wildcard" | "strip" | "abspath" | "realpath" | "sort" => {
                    Some((argument.trim().to_string(), unsure))
                }
                _ => None,
            };
        }
        let (dir, base) = match auto.target.rsplit_once('/') {
            Some((dir, base)) => (dir, base),
            None => (".", auto.target),
        };
        match name {
            "@" => return sure(auto.target),
            "@D" => return sure(dir),
            "@F" => return sure(base),
            "<" => return sure(auto.needs.first().map_or("", String::as_str)),
            "^" | "+" => return sure(&auto.needs.join(" ")),
            "CURDIR" | "PWD" => return sure(asked.dir),
            _ if name.contains([':', '$']) || name.len() <= 2 && !is_name(name) => return None,
            _ => {}
        }
        let own = self.variables.contains_key(name) && !self.foreign.contains(name);
        if !own && name != "MAKE" {
            self.strayed.set(true);
        }
        if let Some(held) = self.variables.get(name) {
            return held.as_ref().map(|text| self.expand(text, auto, asked, depth));
        }
        if let Some(text) = (asked.env)(name) {
            return Some((text, true));
        }
        if let Some((_, text)) = BUILT_IN.iter().find(|(own, _)| *own == name) {
            return sure(text);
        }
        // Nothing, unless somebody sets it.
        (!self.open).then(|| (String::new(), true))
    }
}

/// A line outside of recipes that says one thing and nothing else: a variable, what a target needs.
fn is_plain_line(line: &str, first: &str) -> bool {
    const WORDS: &[&str] = &[
        "include", "-include", "sinclude", "define", "endef", "ifeq", "ifneq", "ifdef", "ifndef",
        "else", "endif", "vpath", "export", "unexport", "undefine", "override", "private", "load",
        "-load",
    ];
    const NAMES: &[&str] =
        &["SHELL", "VPATH", "PATH", "GNUMAKEFLAGS", "MFLAGS", "GNUmakefile", "ENV", "BASH_ENV"];
    let bytes = line.as_bytes();
    let calls = memchr::memchr_iter(b'$', bytes).any(|at| {
        let name = line[at + 1..].strip_prefix('(').and_then(|rest| rest.split_once(')'));
        name.is_none_or(|(name, _)| !is_name(name))
    });
    if calls || memchr::memchr2(b'%', b'\\', bytes).is_some() || WORDS.contains(&first) {
        return false;
    }
    let Some(at) = memchr::memchr2(b':', b'=', bytes) else { return line.is_empty() };
    let (head, tail) = (&line[..at], &line[at + 1..]);
    let name = head.trim().trim_end_matches(['?', '+', ':']);
    let assigns = bytes[at] == b'=' || tail.starts_with('=');
    let own = |name: &str| {
        let begins = |with: &str| {
            name.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with))
        };
        NAMES.contains(&name) || begins("make") || begins("npm_config_")
    };
    match assigns {
        true => {
            !own(name.trim())
                && !name.starts_with('.')
                && !head.contains('!')
                && is_name(name.trim())
        }
        false => {
            let mut targets = name.split_whitespace();
            name.trim() == ".PHONY"
                || !tail.contains(['=', ':'])
                    && targets.all(|t| !t.starts_with(['.', '$']) && !own(t) && !t.contains('&'))
        }
    }
}

fn is_name(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Where the bracket closes that opened before the text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.bytes().enumerate().find_map(|(at, byte)| {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' if depth == 0 => return Some(at),
            b')' | b'}' => depth -= 1,
            _ => {}
        }
        None
    })
}

impl<'f> Walk<'f, '_, '_> {
    fn add_goal(&mut self, goal: &str, unsure: bool, depth: usize) {
        let Some((goal, rules)) = self.file.of_target.get_key_value(goal) else {
            // A rule that make has of itself may speak of it.
            self.asked.closed = false;
            return;
        };
        if !self.asked.has_room(depth, &self.steps, 256) || !self.seen.insert(goal) {
            return;
        }
        // A file that is there may be new enough.
        let unsure = unsure || !self.file.phony.contains(goal) && (self.asked.exists)(goal);
        let has_lines = rules.iter().any(|place| !self.file.rules[*place].lines.is_empty());
        self.asked.closed &= has_lines || self.file.phony.contains(goal);
        for place in rules {
            let rule = &self.file.rules[*place];
            rule.needs.iter().for_each(|need| self.add_goal(need, unsure, depth + 1));
            let auto = Automatic { target: goal, needs: &rule.needs };
            let joined = self.file.of_target.contains_key(".ONESHELL");
            let mut whole = String::new();
            for (span, line, branch) in &rule.lines {
                if !self.asked.has_room(0, &self.steps, 0) {
                    return;
                }
                let (text, perhaps) = self.file.expand(line, auto, self.asked, 0);
                let text =
                    text.trim_start_matches(['@', '-', '+', ' ', '\t']).replace("\n\t", "\n");
                if joined {
                    whole.push_str(&text);
                    whole.push('\n');
                } else {
                    self.push(text, span.clone(), unsure || perhaps || *branch);
                }
            }
            if let Some((span, ..)) = rule.lines.first().filter(|_| joined) {
                self.push(whole, span.clone(), unsure);
            }
        }
    }

    fn push(&mut self, text: String, span: Range<usize>, unsure: bool) {
        if !text.trim().is_empty() {
            self.steps.push(Step { text, span, unsure, takes_words: false });
        }
    }
}
