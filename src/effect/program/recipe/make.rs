//! A makefile: the recipes of the goals and of what they need, with the variables that are known.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use super::{Request, Step, UNKNOWN};
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

/// A part of one of the texts that are read. Of most rules nothing is asked: they stay as they are written.
#[derive(Clone, Copy)]
struct Piece {
    text: u32,
    start: u32,
    end: u32,
}

struct Rule {
    targets: Piece,
    needs: Piece,
    /// Where its head stands.
    head: Piece,
    /// What stands behind a semicolon in the head, and whether that is in a branch.
    own: Option<(Piece, bool)>,
    /// Which of the file's recipe lines are its own.
    lines: Range<usize>,
}

#[derive(Default)]
struct File<'t> {
    main: &'t str,
    /// Other texts, and where in the main one they are named: included files, lines put together, values.
    texts: Vec<(Rc<str>, Range<usize>)>,
    /// Their texts as they are written; None = nobody knows.
    variables: BTreeMap<String, Option<String>>,
    rules: Vec<Rule>,
    /// Where the lines of recipes begin, each in the text of its rule, and whether in a branch.
    lines: Vec<(u32, bool)>,
    phony: Vec<Piece>,
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

/// Which rules speak of which target: lists by the hashes of their names.
struct Targets {
    lists: Vec<u32>,
    entries: Vec<Entry>,
}

struct Entry {
    name: Piece,
    /// None = it is phony.
    rule: Option<u32>,
    next: u32,
}

/// The end of a list.
const NOTHING: u32 = u32::MAX;

/// What `$@` and its kin stand for.
#[derive(Default, Clone, Copy)]
struct Automatic<'r> {
    target: &'r str,
    needs: &'r str,
}

/// A walk over what the goals need.
struct Walk<'f, 'a, 'r> {
    file: &'f File<'f>,
    targets: &'f Targets,
    asked: &'r mut Request<'a>,
    seen: BTreeSet<u32>,
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
            let mut firsts = file.rules.iter().flat_map(|rule| file.words(rule.targets).next());
            firsts.find(|target| is_goal(target)).map(str::to_string)
        }
    };
    let goals: Vec<String> = match asked.goals {
        [] => standard.into_iter().collect(),
        goals => goals.to_vec(),
    };
    let steps = std::mem::take(&mut file.steps);
    asked.closed = !file.loose && !file.open && asked.given.is_empty() && !goals.is_empty();
    file.strayed.set(false);
    let targets = &Targets::of_file(&file);
    let mut walk = Walk { file: &file, targets, asked, seen: BTreeSet::new(), steps };
    goals.iter().for_each(|goal| walk.add_goal(goal, false, 0));
    let steps = walk.steps;
    asked.closed &= !file.strayed.get();
    steps
}

fn is_goal(target: &str) -> bool {
    !target.contains('%') && (!target.starts_with('.') || target.contains('/'))
}

/// Where one of the two stands outside of `$(...)`.
fn find_bare(text: &str, wanted: [u8; 2]) -> Option<usize> {
    let bytes = text.as_bytes();
    let first = memchr::memchr2(wanted[0], wanted[1], bytes)?;
    if memchr::memchr2(b'(', b'{', &bytes[..first]).is_none() {
        return Some(first);
    }
    let mut depth = 0_usize;
    bytes.iter().position(|byte| {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            _ => return depth == 0 && wanted.contains(byte),
        }
        false
    })
}

/// The line that begins there, with those that go on with it: where it ends, and where the next one begins.
fn line_at(text: &str, start: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let mut from = start;
    loop {
        let rest = &bytes[from..];
        let next = from + memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let mut end = next;
        while end > from && matches!(bytes[end - 1], b'\n' | b'\r') {
            end -= 1;
        }
        if next == bytes.len() || end == from || bytes[end - 1] != b'\\' {
            return (end, next);
        }
        from = next;
    }
}

/// Where the part stands in the text, if it was cut from it.
fn place_in(text: &str, part: &str) -> Option<usize> {
    let at = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    (at + part.len() <= text.len()).then_some(at)
}

/// `NAME = value` taken apart: the name, the operator, the value.
fn split_assignment(line: &str) -> Option<(&str, &str, &str)> {
    let at = find_bare(line, [b'=', b'#'])?;
    let (head, value) = (&line[..at], line[at..].strip_prefix('=')?);
    let name = head.trim_end_matches([':', '?', '+', '!']);
    let (operator, name) = (&head[name.len()..], name.trim());
    let name = ["export ", "override ", "private "]
        .iter()
        .fold(name, |name, word| name.strip_prefix(word).unwrap_or(name).trim_start());
    let plain = !name.is_empty() && !name.contains([':', ' ', '\t', '$', '%']);
    plain.then(|| (name, operator, value.split(" #").next().unwrap_or_default().trim()))
}

fn read_file<'t>(text: &'t str, asked: &mut Request) -> File<'t> {
    let mut file = File { main: text, ..File::default() };
    file.read_text(0, text, 0, asked);
    for (name, value) in asked.given {
        file.variables.insert(name.clone(), Some(value.clone()));
    }
    file
}

impl File<'_> {
    fn text(&self, piece: Piece) -> &str {
        let text = match piece.text.checked_sub(1) {
            Some(other) => &*self.texts[other as usize].0,
            None => self.main,
        };
        &text[piece.start as usize..piece.end as usize]
    }

    fn words(&self, piece: Piece) -> impl Iterator<Item = &str> {
        words_of(self.text(piece))
    }

    /// Where in the main text that stands, or is named.
    fn span_of(&self, piece: Piece) -> Range<usize> {
        match piece.text.checked_sub(1) {
            Some(other) => self.texts[other as usize].1.clone(),
            None => piece.start as usize..piece.end as usize,
        }
    }

    fn add_text(&mut self, text: Rc<str>, span: Range<usize>) -> Piece {
        let end = text.len() as u32;
        self.texts.push((text, span));
        Piece { text: self.texts.len() as u32, start: 0, end }
    }

    /// The part of a line with its variables; `head` = the line.
    fn keep(&mut self, part: &str, text: &str, head: Piece, asked: &Request) -> Piece {
        let part = match memchr::memchr(b'$', part.as_bytes()) {
            Some(_) => Cow::Owned(self.expand(part, Automatic::default(), asked, 0).0),
            None => Cow::Borrowed(part),
        };
        match place_in(text, &part) {
            Some(at) => {
                let (start, end) = (at as u32, (at + part.len()) as u32);
                Piece { start, end, ..head }
            }
            None => self.add_text(Rc::from(&*part), self.span_of(head)),
        }
    }

    /// Reads the text of that number.
    fn read_text(&mut self, number: u32, text: &str, depth: usize, asked: &mut Request) {
        let file = self;
        let mut branches = 0_usize;
        let mut defining = false;
        let mut in_rule = false;
        let mut next = 0;
        while next < text.len() {
            let start = next;
            let end;
            (end, next) = line_at(text, start);
            let raw = &text[start..end];
            if in_rule && raw.starts_with('\t') {
                file.lines.push((start as u32, branches > 0));
                if let Some(rule) = file.rules.last_mut() {
                    rule.lines.end = file.lines.len();
                }
                continue;
            }
            let joined = match memchr::memchr(b'\n', raw.as_bytes()) {
                Some(_) => Cow::Owned(raw.replace("\\\r\n", " ").replace("\\\n", " ")),
                None => Cow::Borrowed(raw),
            };
            let line = joined.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let word = line.bytes().position(|byte| matches!(byte, b' ' | b'\t' | b'('));
            let word = &line[..word.unwrap_or(line.len())];
            file.loose = file.loose || !line.starts_with('#') && !is_plain_line(line, word);
            let head = Piece { text: number, start: start as u32, end: end as u32 };
            match word {
                "endef" => defining = false,
                _ if defining => {}
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
                            let number = file.add_text(other.clone(), file.span_of(head)).text;
                            file.read_text(number, &other, depth + 1, asked);
                        }
                    }
                    in_rule = false;
                }
                _ => {
                    in_rule = file.read_line(line, text, head, branches > 0, asked)
                        || in_rule && branches > 0
                }
            }
        }
    }

    /// An assignment or the head of a rule; true = recipes may follow.
    fn read_line(
        &mut self,
        line: &str,
        text: &str,
        head: Piece,
        unsure: bool,
        asked: &mut Request,
    ) -> bool {
        if let Some((name, operator, value)) = split_assignment(line) {
            let span = self.span_of(head);
            self.assign(name, operator, value, unsure, asked, span);
            return false;
        }
        let Some(colon) = find_bare(line, [b':'; 2]) else {
            self.open |= line.contains("$(eval") || line.contains("$(call");
            return false;
        };
        let (targets, rest) = (&line[..colon], line[colon..].trim_start_matches(':'));
        if let Some((name, ..)) = split_assignment(rest) {
            // Of that target alone.
            self.variables.insert(name.to_string(), None);
            return false;
        }
        let semicolon = memchr::memchr(b';', rest.as_bytes());
        let needs = &rest[..semicolon.unwrap_or(rest.len())];
        let targets = self.keep(targets.trim_end_matches('&'), text, head, asked);
        let needs = self.keep(needs, text, head, asked);
        if self.words(targets).any(|target| target == ".PHONY") {
            self.phony.push(needs);
            return false;
        }
        let own = semicolon.map(|at| {
            let recipe = rest[at + 1..].trim();
            let piece = match place_in(text, recipe) {
                Some(at) => Piece { start: at as u32, end: (at + recipe.len()) as u32, ..head },
                None => self.add_text(Rc::from(recipe), self.span_of(head)),
            };
            (piece, unsure)
        });
        let lines = self.lines.len()..self.lines.len();
        self.rules.push(Rule { targets, needs, head, own, lines });
        true
    }

    /// The lines of a rule's recipe: where each stands, its text, and whether it stands in a branch.
    fn recipe<'f>(
        &'f self,
        rule: &'f Rule,
    ) -> impl Iterator<Item = (Range<usize>, &'f str, bool)> + 'f {
        let own = rule.own.iter();
        let own = own.map(|(piece, branch)| (self.span_of(rule.head), self.text(*piece), *branch));
        let lines = self.lines[rule.lines.clone()].iter().map(|(start, branch)| {
            let whole = match rule.head.text.checked_sub(1) {
                Some(other) => &*self.texts[other as usize].0,
                None => self.main,
            };
            let end = line_at(whole, *start as usize).0 as u32;
            let piece = Piece { start: *start, end, ..rule.head };
            (self.span_of(piece), &self.text(piece)[1..], *branch)
        });
        own.chain(lines)
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
        while let Some(at) = memchr::memchr(b'$', rest.as_bytes()) {
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
            "<" => return sure(words_of(auto.needs).next().unwrap_or_default()),
            "^" | "+" => return sure(&words_of(auto.needs).collect::<Vec<_>>().join(" ")),
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
    let begin = |name: &str| name.as_bytes().first().copied().unwrap_or_default();
    let lower = matches!(begin(first), b'-' | b'a'..=b'z');
    let word = || lower && !first.ends_with(':') && WORDS.contains(&first);
    if calls || memchr::memchr2(b'%', b'\\', bytes).is_some() || word() {
        return false;
    }
    let Some(at) = memchr::memchr2(b':', b'=', bytes) else { return line.is_empty() };
    let (head, tail) = (&line[..at], &line[at + 1..]);
    let name = head.trim_ascii().trim_end_matches(['?', '+', ':']).trim_ascii();
    let assigns = bytes[at] == b'=' || tail.starts_with('=');
    let own = |name: &str| {
        let begins = |with: &str| {
            name.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with))
        };
        // Few begin as one of these does.
        matches!(begin(name), b'A'..=b'Z' | b'm' | b'n')
            && (NAMES.contains(&name) || begins("make") || begins("npm_config_"))
    };
    match assigns {
        true => !own(name) && !name.starts_with('.') && !head.contains('!') && is_name(name),
        false => {
            let mut targets = name.split_ascii_whitespace();
            name == ".PHONY"
                || memchr::memchr2(b'=', b':', tail.as_bytes()).is_none()
                    && memchr::memchr(b'&', name.as_bytes()).is_none()
                    && targets.all(|t| !matches!(begin(t), b'.' | b'$') && !own(t))
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

/// Names between blanks; `|` is none.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split_ascii_whitespace().filter(|word| *word != "|")
}

impl Targets {
    fn of_file(file: &File) -> Targets {
        // Twice as many lists as most files have names.
        let size = (2 * file.rules.len() + 2).next_power_of_two();
        let mut all = Targets { lists: vec![NOTHING; size], entries: Vec::new() };
        for piece in &file.phony {
            all.add_names(file, *piece, None);
        }
        // The last comes first in its list.
        for (number, rule) in file.rules.iter().enumerate().rev() {
            all.add_names(file, rule.targets, Some(number as u32));
        }
        all
    }

    fn add_names(&mut self, file: &File, piece: Piece, rule: Option<u32>) {
        let text = file.text(piece);
        for name in words_of(text) {
            let start = piece.start + place_in(text, name).unwrap_or_default() as u32;
            let list = self.list_of(name);
            let entry = Entry {
                name: Piece { start, end: start + name.len() as u32, ..piece },
                rule,
                next: self.lists[list],
            };
            self.lists[list] = self.entries.len() as u32;
            self.entries.push(entry);
        }
    }

    fn list_of(&self, name: &str) -> usize {
        let hash = name
            .bytes()
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        (hash ^ hash >> 16) as usize & (self.lists.len() - 1)
    }

    /// What is said of that name, each with its number.
    fn find<'f>(
        &'f self,
        file: &'f File,
        name: &'f str,
    ) -> impl Iterator<Item = (u32, Option<u32>)> + 'f {
        let mut next = self.lists[self.list_of(name)];
        let all = std::iter::from_fn(move || {
            let number = next;
            let entry = self.entries.get(number as usize)?;
            next = entry.next;
            Some((number, entry))
        });
        all.filter(move |(_, entry)| file.text(entry.name) == name)
            .map(|(number, entry)| (number, entry.rule))
    }
}

impl Walk<'_, '_, '_> {
    fn add_goal(&mut self, goal: &str, unsure: bool, depth: usize) {
        let (file, targets) = (self.file, self.targets);
        let found = || targets.find(file, goal);
        let mut rules = found().filter_map(|(number, rule)| Some((number, rule?))).peekable();
        let Some((first, _)) = rules.peek().copied() else {
            // A rule that make has of itself may speak of it.
            self.asked.closed = false;
            return;
        };
        if !self.asked.has_room(depth, &self.steps, 256) || !self.seen.insert(first) {
            return;
        }
        let rules: Vec<&Rule> = rules.map(|(_, rule)| &file.rules[rule as usize]).collect();
        let phony = found().any(|(_, rule)| rule.is_none());
        // A file that is there may be new enough.
        let unsure = unsure || !phony && (self.asked.exists)(goal);
        self.asked.closed &= phony || rules.iter().any(|rule| file.recipe(rule).next().is_some());
        let joined = targets.find(file, ".ONESHELL").next().is_some();
        for rule in rules {
            file.words(rule.needs).for_each(|need| self.add_goal(need, unsure, depth + 1));
            let auto = Automatic { target: goal, needs: file.text(rule.needs) };
            let mut whole = String::new();
            let mut begin = None;
            for (span, line, branch) in file.recipe(rule) {
                if !self.asked.has_room(0, &self.steps, 0) {
                    return;
                }
                let (text, perhaps) = file.expand(line, auto, self.asked, 0);
                let text =
                    text.trim_start_matches(['@', '-', '+', ' ', '\t']).replace("\n\t", "\n");
                if joined {
                    whole.push_str(&text);
                    whole.push('\n');
                    begin.get_or_insert(span);
                } else {
                    self.push(text, span, unsure || perhaps || branch);
                }
            }
            if let Some(span) = begin {
                self.push(whole, span, unsure);
            }
        }
    }

    fn push(&mut self, text: String, span: Range<usize>, unsure: bool) {
        if !text.trim().is_empty() {
            self.steps.push(Step { text, span, unsure, takes_words: false });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands of a goal, each with the line that it stands in, `?` where it may not run.
    fn steps(text: &str, goal: &str) -> Vec<String> {
        let goals = [goal.to_string()];
        let mut request = Request {
            goals: &goals,
            given: &[],
            dir: "/p",
            exists: &mut |name| name == "there",
            other: &mut |name| (name == "a.mk").then(|| "inner: base\n\techo $@ of $^\n".into()),
            env: &|_| None,
            steers: &|_| false,
            alone: false,
            cut: false,
            closed: false,
        };
        let told = |step: Step| {
            let line = 1 + text[..step.span.start].matches('\n').count();
            format!("{line}{} {}", if step.unsure { "?" } else { "" }, step.text)
        };
        read_steps(text, &mut request).into_iter().map(told).collect()
    }

    #[test]
    fn a_rule_is_found_wherever_its_parts_stand() {
        let text = "N = x\n.PHONY: all \\\n   there\nall: one | two ; echo $^\n\techo a \\\n\t  b\n\
                    one: $(N)\r\n\techo $<\r\ninclude a.mk\nx two base:: ; echo $@\nall: inner\n\
                    \techo last\nifdef Q\nthere: ;echo there\nendif\nold: there\n\techo $(N)y";
        assert_eq!(
            steps(text, "all"),
            [
                "10 echo x",
                "8 echo x",
                "10 echo two",
                "4 echo one two",
                "5 echo a \\\n  b",
                "10 echo base",
                "9 echo inner of base",
                "12 echo last",
            ]
        );
        assert_eq!(steps(text, "old"), ["14? echo there", "17 echo xy"]);
        assert_eq!(steps(text, "none"), [""; 0]);
        assert_eq!(steps(".ONESHELL:\na:\n\tcd x\n\tls\n", "a"), ["3 cd x\nls\n"]);
        assert_eq!(steps("a b&: c\nc:\n\ttrue\n", "b"), ["3 true"]);
    }
}
