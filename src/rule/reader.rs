//! The reader of values: TOML values to what rules are made of, with what is wrong with them noted.

use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use toml::de::DeValue;

use crate::event::{Kind, KindSet};
use crate::glob;
use crate::limits;

use super::command::CommandPattern;
use super::compiled::{self, Compile};
use super::condition::{FieldTest, NamePattern, ValueTest};
use super::fault::{Fault, Gravity, meant, position_at};
use super::list::PatternList;
pub use super::packed::{Item, Key, Table, TreeValue};
use super::path::PathList;
use super::{Command, Fields, Regex, Rule, Template, Text};

/// The keys of a command that is a table, and what each means.
pub const COMMAND_KEYS: &[(&str, &str)] = &[
    ("command", "a script for sh; placeholders become quoted variables"),
    ("env", "the variables that it keeps of hookctl's environment: globs over names, [] for none"),
    ("cwd", "where it runs: ./x in the project, ~/x or /x; a project's file only ./x"),
];

/// How the tables of a file begin, of which there is no list.
const HEADERS: &[(&str, &str)] = &[
    ("rule", "`[rule.NAME]`, each rule with a name of its own"),
    ("pack", "`[pack]`"),
    ("override", "`[override.RULE]`"),
    ("remote", "`[remote.NAME]`"),
    ("program", "`[program.NAME]`"),
    ("journal", "`[journal]`"),
];

/// Reads values and collects what is wrong with them.
pub struct Reader<'t> {
    pub(super) text: &'t str,
    /// Whose directory paths start from.
    pub(super) file: Option<&'t Path>,
    pub(super) only: Option<Kind>,
    pub(super) rule: Option<String>,
    /// The most time for the rule's commands.
    pub(super) limit: Option<Duration>,
    /// The file is a project's.
    pub(super) of_project: bool,
    /// It was read before, whole, and had no fault.
    pub(super) sound: bool,
    /// What is read may hold a key or a password.
    pub(super) private: bool,
    pub(super) faults: Vec<Fault>,
    /// How far lines were counted, and the line there.
    pub(super) counted: (usize, usize),
}

impl<'t> Reader<'t> {
    /// A reader of that text, for what is read outside of the hook path and has no directory.
    pub(super) fn new(text: &'t str) -> Reader<'t> {
        Reader {
            text,
            file: None,
            only: None,
            limit: None,
            of_project: false,
            sound: false,
            rule: None,
            private: false,
            faults: Vec::new(),
            counted: (0, 1),
        }
    }

    /// Notes an error, which may be given a hint then.
    pub fn add_error(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: Range<usize>,
    ) -> &mut Fault {
        let (message, hint, gravity) = (message.into(), None, Gravity::Error);
        let (rule, private) = (self.rule.clone(), self.private);
        self.faults.push_mut(Fault { code, gravity, message, hint, span, rule, private })
    }

    /// Notes what works, but probably not as it is meant.
    pub(super) fn add_warning(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: Range<usize>,
    ) -> &mut Fault {
        let fault = self.add_error(code, message, span);
        fault.gravity = Gravity::Warning;
        fault
    }

    /// The line of a byte. Rules come in file order, so each line is counted once.
    pub(super) fn line_number(&mut self, offset: usize) -> usize {
        if offset < self.counted.0 {
            return position_at(self.text, offset).line;
        }
        let between = &self.text.as_bytes()[self.counted.0..offset];
        let line = self.counted.1 + between.iter().filter(|byte| **byte == b'\n').count();
        self.counted = (offset, line);
        line
    }

    pub(super) fn has_fault_of_rule(&self) -> bool {
        self.faults.iter().any(|fault| fault.rule == self.rule)
    }

    /// Notes a key that does not exist.
    pub fn unknown_key<'a>(
        &mut self,
        key: &str,
        span: Range<usize>,
        known: impl IntoIterator<Item = &'a str>,
    ) {
        self.add_error("unknown-key", format!("unknown key `{key}`"), span).hint =
            meant(key, known);
    }

    /// Notes a word that does not exist.
    pub fn unknown_word<'a>(
        &mut self,
        what: &str,
        word: &str,
        span: Range<usize>,
        known: impl IntoIterator<Item = &'a str>,
    ) {
        let known: Vec<&str> = known.into_iter().collect();
        let hint = meant(word, known.iter().copied());
        self.add_error("unknown-word", format!("`{word}` is no {what}"), span)
            .with_hint(hint.unwrap_or_else(|| format!("there are {}", known.join(", "))));
    }

    pub(super) fn wrong_type(&mut self, value: &Item<'_>, wanted: &str) {
        let found = value.get_ref().type_str();
        self.add_error("wrong-type", format!("expected {wanted}, found {found}"), value.span());
    }

    /// A table.
    pub fn table<'v, 'i>(&mut self, value: &'v Item<'i>, what: &str) -> Option<&'v Table<'i>> {
        match value.get_ref() {
            TreeValue::Table(table) => Some(table),
            _ => {
                self.wrong_type(value, &format!("a table for `{what}`"));
                // `[[rule]]`: a list of tables.
                if let (Some((_, head)), Some(fault)) =
                    (HEADERS.iter().find(|(key, _)| *key == what), self.faults.last_mut())
                {
                    fault.with_hint(format!("write {head}"));
                }
                None
            }
        }
    }

    /// A string.
    pub fn string(&mut self, value: &Item<'_>) -> Option<(String, Range<usize>)> {
        match value.get_ref().as_str() {
            Some(text) => Some((text.to_string(), value.span())),
            None => {
                self.wrong_type(value, "a string");
                None
            }
        }
    }

    /// One string or a list of them.
    pub fn strings(&mut self, value: &Item<'_>) -> Vec<(String, Range<usize>)> {
        match value.get_ref() {
            TreeValue::String(text) => vec![(text.to_string(), value.span())],
            TreeValue::Array(items) => {
                if items.is_empty() {
                    self.add_error("empty-list", "an empty list holds for nothing", value.span())
                        .with_hint("leave the key out, or name something");
                }
                items[..self.count_within_limit(items.len(), value)]
                    .iter()
                    .filter_map(|item| self.string(item))
                    .collect()
            }
            _ => {
                self.wrong_type(value, "a string or a list of strings");
                Vec::new()
            }
        }
    }

    /// How many of a list's items are read: all, unless there are too many.
    fn count_within_limit(&mut self, items: usize, list: &Item<'_>) -> usize {
        if items > limits::LIST {
            self.add_error(
                "too-many",
                format!("a list of {items}: {} are the most", limits::LIST),
                list.span(),
            )
            .with_hint("make several rules of it, or say it with globs");
        }
        items.min(limits::LIST)
    }

    /// One string or a list, each read by `parse`.
    pub fn read_each<T>(
        &mut self,
        value: &Item<'_>,
        code: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Vec<T> {
        let mut out = Vec::new();
        for (text, span) in self.strings(value) {
            match parse(&text) {
                Ok(read) => out.push(read),
                Err(why) => {
                    self.add_error(code, format!("`{}`: {why}", clip_text(&text)), span);
                }
            }
        }
        out
    }

    /// Patterns, some of which may exclude: by `take` where they were compiled before, else one by one.
    fn read_patterns<L: Default>(
        &mut self,
        value: &Item<'_>,
        code: &'static str,
        compile: Compile,
        take: fn(&'static str, &'static str) -> Option<L>,
        push: fn(&mut L, bool, String),
    ) -> L {
        if let TreeValue::Patterns(compiled) = value.get_ref() {
            let lists = compiled::split_lists(compiled);
            return lists.and_then(|(named, excluded)| take(named, excluded)).unwrap_or_else(
                || {
                    self.add_error(code, "the patterns are damaged", value.span());
                    L::default()
                },
            );
        }
        let mut out = L::default();
        let read = |text: &str| {
            let (excludes, text) = compiled::split_exclusion(text);
            compile(text).map(|pattern| (excludes, pattern))
        };
        for (excludes, pattern) in self.read_each(value, code, read) {
            push(&mut out, excludes, pattern);
        }
        out
    }

    /// Path patterns.
    pub fn paths(&mut self, value: &Item<'_>) -> PathList {
        let take = |named, excluded| Some(PathList::from_compiled(named, excluded));
        let push = |list: &mut PathList, excludes, pattern: String| list.push(excludes, &pattern);
        self.read_patterns(value, "bad-path", compiled::compile_path, take, push)
    }

    /// Command patterns.
    pub fn commands(&mut self, value: &Item<'_>) -> PatternList<CommandPattern> {
        let take = |named, excluded| {
            let read = |list| {
                compiled::read_texts(list)
                    .map(|text| text.map(CommandPattern::from_compiled))
                    .collect::<Option<Vec<_>>>()
            };
            Some(PatternList::from_parts(read(named)?, read(excluded)?))
        };
        let push = |list: &mut PatternList<_>, excludes, pattern: String| {
            list.push(excludes, CommandPattern::from_compiled(pattern));
        };
        self.read_patterns(value, "bad-command", compiled::compile_command, take, push)
    }

    /// Globs over names.
    pub fn names(&mut self, value: &Item<'_>) -> PatternList<NamePattern> {
        let read = |text: &str| {
            let (excludes, text) = compiled::split_exclusion(text);
            match glob::find_fault(text) {
                Some(why) => Err(why.to_string()),
                None => Ok((excludes, NamePattern::parse_globs(text))),
            }
        };
        let mut out = PatternList::default();
        for (excludes, names) in self.read_each(value, "bad-glob", read) {
            names.into_iter().for_each(|name| out.push(excludes, name));
        }
        out
    }

    /// The matchers of a hook entry: nothing excludes there.
    pub fn matchers(&mut self, value: &Item<'_>) -> PatternList<NamePattern> {
        let mut out = PatternList::default();
        for (text, _) in self.strings(value) {
            NamePattern::parse_matcher(&text).into_iter().for_each(|name| out.push(false, name));
        }
        out
    }

    /// Regular expressions; whether they can be compiled is checked with the whole rule.
    pub fn regexes(&mut self, value: &Item<'_>) -> Vec<Regex> {
        self.strings(value).into_iter().map(|(text, _)| Regex::new(text)).collect()
    }

    /// true or false.
    pub fn boolean(&mut self, value: &Item<'_>) -> Option<bool> {
        match value.get_ref() {
            TreeValue::Boolean(flag) => Some(*flag),
            _ => {
                self.wrong_type(value, "true or false");
                None
            }
        }
    }

    pub(super) fn integer(&mut self, value: &Item<'_>, least: u64, most: u64) -> Option<u64> {
        let integer = match value.get_ref() {
            TreeValue::Other(other) => other.as_integer(),
            _ => None,
        };
        let Some(integer) = integer else {
            self.wrong_type(value, "a whole number");
            return None;
        };
        let number = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
        let good = number.filter(|n| (least..=most).contains(n));
        if good.is_none() {
            self.add_error(
                "out-of-range",
                format!("expected a number from {least} to {most}"),
                value.span(),
            );
        }
        good
    }

    /// Seconds as a number, or a text such as "90s", "5m", "500ms".
    pub(super) fn duration(&mut self, value: &Item<'_>) -> Option<Duration> {
        let parsed = match value.get_ref() {
            TreeValue::String(text) => parse_duration(text),
            TreeValue::Other(other) => match &**other {
                DeValue::Float(number) => {
                    let seconds = number.as_str().parse().ok();
                    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                }
                DeValue::Integer(_) => {
                    return self.integer(value, 1, 86_400).map(Duration::from_secs);
                }
                _ => None,
            },
            _ => None,
        };
        if parsed.is_none_or(|d| d.is_zero()) {
            self.add_error(
                "bad-duration",
                "expected seconds, or a text such as \"90s\", \"5m\", \"500ms\"",
                value.span(),
            );
        }
        parsed.filter(|d| !d.is_zero())
    }

    pub(super) fn one_of<T: Copy>(
        &mut self,
        what: &str,
        value: &Item<'_>,
        names: &[(&str, T)],
    ) -> Option<T> {
        let (text, span) = self.string(value)?;
        let found = names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        if found.is_none() {
            self.unknown_word(what, &text, span, names.iter().map(|(name, _)| *name));
        }
        found
    }

    pub(super) fn template(&mut self, value: &Item<'_>) -> Option<Template> {
        if self.sound {
            return value.get_ref().as_str().map(Template::from_checked);
        }
        let (text, span) = self.string(value)?;
        match Template::parse(&text) {
            Ok(template) => Some(template),
            Err(why) => {
                self.add_error("bad-template", why, span);
                None
            }
        }
    }

    /// A shell command: a string, or a table that says what it keeps of the environment and where it runs.
    pub fn command(&mut self, value: &Item<'_>) -> Option<Command> {
        let TreeValue::Table(table) = value.get_ref() else { return self.plain_command(value) };
        let (mut command, mut keeps, mut dir) = (None, None, None);
        for (key, value) in table {
            match key.get_ref() {
                "command" => command = self.plain_command(value),
                "env" => keeps = Some(self.kept_variables(value)),
                "cwd" => dir = self.directory(value),
                other => {
                    self.unknown_key(other, key.span(), COMMAND_KEYS.iter().map(|(key, _)| *key))
                }
            }
        }
        if table.get("command").is_none() {
            self.add_error("empty-command", "the table has no `command`", value.span()).with_hint(
                "write { command = \"...\", env = [\"PATH\", \"HOME\"], cwd = \"./x\" }",
            );
        }
        Some(Command { keeps, dir, ..command? })
    }

    fn plain_command(&mut self, value: &Item<'_>) -> Option<Command> {
        let script = self.template(value)?;
        if script.source().trim().is_empty() {
            self.add_error("empty-command", "the command is empty", value.span());
            return None;
        }
        let (limit, base) = (self.limit, self.directory_of_file());
        Some(Command { script, limit, base, keeps: None, dir: None })
    }

    /// The directory that paths start from; none in a project's file.
    pub(super) fn directory_of_file(&self) -> Option<PathBuf> {
        self.file.and_then(Path::parent).map(Path::to_path_buf)
    }

    /// Globs over the names of variables; none at all is a list as good as another.
    fn kept_variables(&mut self, value: &Item<'_>) -> Vec<String> {
        match value.get_ref() {
            TreeValue::Array(items) if items.is_empty() => Vec::new(),
            _ => self.read_each(value, "bad-glob", |text| match glob::find_fault(text) {
                Some(why) => Err(why.to_string()),
                None => Ok(text.to_string()),
            }),
        }
    }

    /// Where a command runs. A project's own never runs outside of it.
    fn directory(&mut self, value: &Item<'_>) -> Option<String> {
        let (text, span) = self.string(value)?;
        let below = Path::new(text.trim_start_matches("./"));
        // Of a root behind the dot, or a drive, joining would make another place.
        let inside = (text == "." || text.starts_with("./"))
            && below.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
        let elsewhere = below.has_root() && !text.starts_with('.') || text.starts_with("~/");
        let up = text.split(['/', '\\']).any(|part| part == "..");
        if up || !inside && !elsewhere {
            self.add_error(
                "bad-directory",
                format!("`{}` is no directory of a command", clip_text(&text)),
                span,
            )
            .with_hint("it begins with ./ (the project), ~/ or /, and has no ..");
            return None;
        }
        if elsewhere && self.of_project {
            self.add_error("only-tightens", "a project's command runs in the project", span)
                .with_hint("begin it with ./");
            return None;
        }
        Some(text)
    }

    pub(super) fn text_source(&mut self, value: &Item<'_>, files: bool) -> Option<Text> {
        let table = match value.get_ref() {
            TreeValue::Table(table) => table,
            _ => return self.template(value).map(Text::Plain),
        };
        let known: &[&str] = if files { &["file", "run"] } else { &["run"] };
        let mut out = None;
        for (key, value) in table {
            match key.get_ref() {
                "file" if files => {
                    out = self.string(value).map(|(text, _)| {
                        let path = PathBuf::from(text);
                        Text::File(
                            self.directory_of_file().map_or(path.clone(), |base| base.join(path)),
                        )
                    });
                }
                "run" => out = self.command(value).map(Text::Run),
                other => self.unknown_key(other, key.span(), known.iter().copied()),
            }
        }
        if table.is_empty() {
            self.add_error(
                "empty-table",
                format!("the table is empty: it takes {}", known.join(" or ")),
                value.span(),
            );
        }
        out
    }

    /// A table of field path to template, if there is anything in it; keys may be dotted.
    pub(super) fn fields(&mut self, value: &Item<'_>) -> Option<Fields> {
        let mut out = Vec::new();
        if let Some(table) = self.table(value, "field = text") {
            self.fields_below(table, &mut Vec::new(), &mut out);
        }
        (!out.is_empty()).then_some(out)
    }

    fn fields_below(&mut self, table: &Table<'_>, prefix: &mut Vec<String>, out: &mut Fields) {
        for (key, value) in table {
            let depth = prefix.len();
            prefix.extend(key.get_ref().split('.').map(str::to_string));
            match value.get_ref() {
                TreeValue::Table(below) => self.fields_below(below, prefix, out),
                _ => {
                    if let Some(template) = self.template(value) {
                        out.push((prefix.clone(), template));
                    }
                }
            }
            prefix.truncate(depth);
        }
    }

    /// A table of field path to what the value must be.
    pub fn field_tests(&mut self, value: &Item<'_>) -> Vec<FieldTest> {
        let Some(table) = self.table(value, "field = value") else { return Vec::new() };
        let mut out = Vec::new();
        for (key, value) in table {
            let field = key.get_ref().to_string();
            let tests = match value.get_ref() {
                TreeValue::Array(items) => items[..self.count_within_limit(items.len(), value)]
                    .iter()
                    .filter_map(|item| self.value_test(item))
                    .collect(),
                _ => self.value_test(value).into_iter().collect(),
            };
            out.push(FieldTest { field, tests });
        }
        out
    }

    fn value_test(&mut self, value: &Item<'_>) -> Option<ValueTest> {
        match value.get_ref() {
            TreeValue::String(text) => self.value_glob(text.to_string(), value),
            TreeValue::Table(table) => {
                let mut out = None;
                for (key, value) in table {
                    match key.get_ref() {
                        "equals" => out = to_json_value(value).map(ValueTest::Equals),
                        "glob" => {
                            out = self.string(value).and_then(|(t, _)| self.value_glob(t, value));
                        }
                        "regex" => {
                            out = self.string(value).map(|(t, _)| ValueTest::Regex(Regex::new(t)));
                        }
                        "exists" => out = self.boolean(value).map(ValueTest::Exists),
                        other => {
                            let known = ["equals", "glob", "regex", "exists"];
                            self.unknown_key(other, key.span(), known);
                        }
                    }
                }
                out
            }
            _ => to_json_value(value).map(ValueTest::Equals),
        }
    }

    fn value_glob(&mut self, text: String, value: &Item<'_>) -> Option<ValueTest> {
        if text.len() > limits::PATTERN {
            let message =
                format!("a glob of {} bytes: {} are the most", text.len(), limits::PATTERN);
            self.add_error("bad-glob", message, value.span()).with_hint("use `equals`");
            return None;
        }
        Some(ValueTest::Glob(text))
    }

    /// How many errors were noted so far.
    pub(super) fn error_count(&self) -> usize {
        self.faults.iter().filter(|fault| fault.gravity == Gravity::Error).count()
    }

    /// The events of `on`.
    pub(super) fn events(&mut self, value: &Item<'_>, rule: &mut Rule) {
        let named = self.kinds(value);
        rule.on_named = named.is_some();
        rule.on = named.unwrap_or(KindSet::ALL);
    }

    /// Event names, or `"*"`; None where none is named.
    pub(super) fn kinds(&mut self, value: &Item<'_>) -> Option<KindSet> {
        let mut out = None;
        for (text, span) in self.strings(value) {
            let set = out.get_or_insert(KindSet::EMPTY);
            match Kind::from_name(&text) {
                Kind::Other if text == "*" => *set = KindSet::ALL,
                Kind::Other => {
                    let names = Kind::ALL.iter().map(|kind| kind.name());
                    let others = || "`hookctl explain --event NAME` shows each".into();
                    self.add_error("unknown-event", format!("`{text}` is no event"), span)
                        .with_hint(meant(&text, names).unwrap_or_else(others));
                    // Which one was meant is not known, so all of them are asked about.
                    *set = KindSet::ALL;
                }
                kind => set.insert(kind),
            }
        }
        out
    }
}

/// A text for people: what is written, or how it begins.
pub(super) fn clip_text(text: &str) -> &str {
    &text[..text.floor_char_boundary(200)]
}

/// `90s`, `5m`, `2h`, `500ms`, or a bare number of seconds.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    match text[digits..].trim() {
        "ms" => Some(Duration::from_millis(number)),
        "" | "s" => Some(Duration::from_secs(number)),
        "m" | "min" => number.checked_mul(60).map(Duration::from_secs),
        "h" => number.checked_mul(3600).map(Duration::from_secs),
        "d" => number.checked_mul(86_400).map(Duration::from_secs),
        "w" => number.checked_mul(604_800).map(Duration::from_secs),
        _ => None,
    }
}

/// A TOML value as JSON.
pub(super) fn to_json_value(value: &Item<'_>) -> Option<Value> {
    Some(match value.get_ref() {
        TreeValue::String(text) => Value::String(text.to_string()),
        // They stand in no value of a field.
        TreeValue::Patterns(_) => return None,
        TreeValue::Boolean(flag) => Value::Bool(*flag),
        TreeValue::Other(other) => match &**other {
            DeValue::Integer(number) => {
                Value::from(i64::from_str_radix(number.as_str(), number.radix()).ok()?)
            }
            DeValue::Float(number) => Value::from(number.as_str().parse::<f64>().ok()?),
            other => Value::String(other.as_datetime()?.to_string()),
        },
        TreeValue::Array(items) => Value::Array(items.iter().filter_map(to_json_value).collect()),
        TreeValue::Table(table) => Value::Object(
            table
                .iter()
                .filter_map(|(key, value)| Some((key.get_ref().to_string(), to_json_value(value)?)))
                .collect(),
        ),
    })
}
