//! Patterns as they are kept for events: command and path patterns that have been taken apart, as a short text.
//!
//! Every fault is found where a pattern is compiled: by the build for the shipped rules, at the first event after a
//! change for a user's file. What is left at an event is a walk over the text. It is shared with the build.

use super::packed::{Rest, number, text};
use crate::{glob, limits};

/// Stands before an item of a list that excludes what it names, as it is written.
const EXCLUDES: char = '!';
/// Stand before items that are compiled; no written one that can be meant begins so.
const COMPILED: [&str; 2] = ["\0=", "\0!"];

/// An item of a list as written: whether it excludes, and its pattern.
#[inline]
pub fn item(written: &str) -> (bool, &str) {
    match written.strip_prefix(EXCLUDES) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, written),
    }
}

/// The same of an item that is compiled; None of one that is not.
pub fn compiled_item(text: &str) -> Option<(bool, &str)> {
    let [names, excludes] = COMPILED.map(|mark| text.strip_prefix(mark));
    names.map(|pattern| (false, pattern)).or(excludes.map(|pattern| (true, pattern)))
}

/// Compiles a pattern.
pub type Compile = fn(&str) -> Result<String, String>;

/// Compiles an item of a list; None where its pattern cannot be meant.
pub fn compile_item(written: &str, compile: Compile) -> Option<String> {
    let (excludes, pattern) = item(written);
    Some(format!("{}{}", COMPILED[usize::from(excludes)], compile(pattern).ok()?))
}

// ---- commands ---------------------------------------------------------------------------------

/// An operand of a command pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item<'t> {
    /// A glob over one operand.
    Operand(&'t str),
    /// `**`
    Gap,
}

/// An option of a command pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionPattern<'t> {
    /// As written, with its dashes.
    pub name: &'t str,
    /// Behind its `=`.
    pub value: Option<&'t str>,
}

/// One pattern without alternatives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Form<'t> {
    /// Its name.
    pub program: &'t str,
    /// The directory that is written before it, and the path pattern of that very file, compiled.
    pub file: Option<(&'t str, &'t str)>,
    /// Its operands.
    pub items: Vec<Item<'t>>,
    /// Its options.
    pub options: Vec<OptionPattern<'t>>,
    /// `$`: no more operands.
    pub closed: bool,
    /// No more options either: what Claude Code's exact `Bash(git status)` means.
    pub exact_options: bool,
}

/// Compiles a command pattern.
///
/// # Errors
/// Why it cannot be meant.
pub fn command(written: &str) -> Result<String, String> {
    let mut tokens = tokenize(written)?;
    let closed = tokens.last() == Some(&Token::Word("$"));
    if closed {
        tokens.pop();
    }
    if tokens.contains(&Token::Word("$")) {
        return Err("`$` stands for the end, so nothing may follow it".into());
    }
    groups_of(&expand(&tokens)?, closed, false)
}

/// Compiles the text inside Claude Code's `Bash(...)`: `git push:*`, `npm run *`, `git status`.
///
/// # Errors
/// Why it cannot be meant.
pub fn permission(written: &str) -> Result<String, String> {
    let written = written.trim();
    let open = written.strip_suffix(":*").or_else(|| written.strip_suffix(" *"));
    let body = open.unwrap_or(written);
    let exact = open.is_none() && written != "*";
    let mut words: Vec<&str> =
        body.split_whitespace().map(|word| if word == "*" { "**" } else { word }).collect();
    if words.is_empty() || body == "*" {
        words = vec!["*"];
    }
    groups_of(&[words], exact, exact)
}

/// The forms, those of one program that follow each other as one group: nearly all are another program's.
fn groups_of(forms: &[Vec<&str>], closed: bool, exact: bool) -> Result<String, String> {
    let mut out = String::new();
    for group in forms.chunk_by(|a, b| a.first() == b.first()) {
        let program = *group[0].first().ok_or("the pattern is empty")?;
        let mut body = String::new();
        let name = program_of(program, &mut body)?;
        for words in group {
            form(&words[1..], closed, exact, &mut body)?;
        }
        out.push(if glob::is_glob(name) { 'g' } else { 'n' });
        text(name, &mut out);
        text(&body, &mut out);
    }
    Ok(out)
}

/// Writes the very file of a program that has a directory; returns its name.
fn program_of<'p>(program: &'p str, out: &mut String) -> Result<&'p str, String> {
    if program.starts_with('-') {
        return Err(format!("`{program}` is an option: the program comes first"));
    }
    if program == "**" {
        return Err("the program comes first: `*` stands for any".into());
    }
    let (dir, name) = program.rsplit_once('/').map_or((None, program), |(d, n)| (Some(d), n));
    if let Some(why) = glob::fault(name) {
        return Err(format!("`{name}` {why}"));
    }
    optional(dir.map(|dir| if dir.is_empty() { "/" } else { dir }), out);
    if dir.is_some() {
        // Relative ones lie in the project.
        let based = ["/", "~/", "./"].iter().any(|base| program.starts_with(base));
        let base = if based { "" } else { "./" };
        text(&path(&format!("{base}{program}/."))?, out);
    }
    Ok(name)
}

fn form(words: &[&str], closed: bool, exact: bool, out: &mut String) -> Result<(), String> {
    if words.len() > limits::COMMAND_WORDS {
        return Err(format!("more than {} words", limits::COMMAND_WORDS));
    }
    let (mut items, mut options) = (Vec::new(), Vec::new());
    for word in words {
        if let Some(why) = glob::fault(word) {
            return Err(format!("`{word}` {why}"));
        }
        if *word == "**" {
            // What any operands follow may as well be one.
            if items.last() != Some(&Item::Gap) {
                items.push(Item::Gap);
            }
        } else if word.len() > 1 && word.starts_with('-') && *word != "--" {
            let (name, value) = word.split_once('=').map_or((*word, None), |(n, v)| (n, Some(v)));
            options.push(OptionPattern { name, value });
        } else {
            items.push(Item::Operand(word));
        }
    }
    let mut body = String::new();
    number(usize::from(closed) | usize::from(exact) << 1, &mut body);
    number(items.len(), &mut body);
    for item in items {
        optional(if let Item::Operand(word) = item { Some(word) } else { None }, &mut body);
    }
    number(options.len(), &mut body);
    for option in options {
        text(option.name, &mut body);
        optional(option.value, &mut body);
    }
    text(&body, out);
    Ok(())
}

/// The forms of one program.
#[derive(Debug)]
pub struct Group<'t> {
    name: &'t str,
    is_glob: bool,
    body: &'t str,
}

/// The groups of a compiled command pattern; None for one that is damaged.
pub fn groups(body: &str) -> impl Iterator<Item = Option<Group<'_>>> {
    each(Rest::of(body), |rest| {
        let is_glob = rest.byte()? == b'g';
        Some(Group { is_glob, name: rest.text()?, body: rest.text()? })
    })
}

impl<'t> Group<'t> {
    /// Are its forms of the program of that name?
    pub fn names(&self, program: &str) -> bool {
        if self.is_glob { glob::matches(self.name, program) } else { self.name == program }
    }

    /// Its forms; None for one that is damaged.
    pub fn forms(self) -> impl Iterator<Item = Option<Form<'t>>> {
        let mut rest = Rest::of(self.body);
        let file = match read_optional(&mut rest) {
            Some(Some(dir)) => rest.text().map(|file| Some((dir, file))),
            plain => plain.map(|_| None),
        };
        let program = self.name;
        each(rest, move |rest| Some(Form { program, file: file?, ..Form::read(rest.text()?)? }))
    }
}

/// What is read until nothing is left, or once None.
fn each<'t, T>(
    rest: Rest<'t>,
    read: impl Fn(&mut Rest<'t>) -> Option<T>,
) -> impl Iterator<Item = Option<T>> {
    let mut rest = Some(rest);
    std::iter::from_fn(move || {
        let left = rest.as_mut().filter(|rest| !rest.is_empty())?;
        let item = read(left);
        if item.is_none() {
            rest = None;
        }
        Some(item)
    })
}

impl<'t> Form<'t> {
    fn read(form: &'t str) -> Option<Form<'t>> {
        let mut rest = Rest::of(form);
        let flags = rest.number()?;
        let count = rest.number()?;
        let item = |_| Some(read_optional(&mut rest)?.map_or(Item::Gap, Item::Operand));
        let items = (0..count).map(item).collect::<Option<_>>()?;
        let count = rest.number()?;
        let option =
            |_| Some(OptionPattern { name: rest.text()?, value: read_optional(&mut rest)? });
        let options = (0..count).map(option).collect::<Option<_>>()?;
        let (closed, exact_options) = (flags & 1 != 0, flags & 2 != 0);
        let form = Form { items, options, closed, exact_options, ..Form::default() };
        rest.is_empty().then_some(form)
    }
}

/// Its length and one, or zero where there is none.
fn optional(value: Option<&str>, out: &mut String) {
    number(value.map_or(0, |value| value.len() + 1), out);
    out.push_str(value.unwrap_or_default());
}

fn read_optional<'t>(rest: &mut Rest<'t>) -> Option<Option<&'t str>> {
    match rest.number()?.checked_sub(1) {
        Some(length) => rest.cut(length).map(Some),
        None => Some(None),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Token<'t> {
    Word(&'t str),
    Group(Vec<Vec<&'t str>>),
}

/// Words, and brackets and bars, which stand alone even without blanks around them; `[a(]` is not a case worth
/// a grammar of its own.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
        .flat_map(|run| run.split_inclusive(['(', ')', '|']))
        .flat_map(|run| {
            let end = run.len() - usize::from(run.ends_with(['(', ')', '|']));
            [&run[..end], &run[end..]]
        })
        .filter(|word| !word.is_empty())
}

fn tokenize(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut out = Vec::new();
    let mut group: Option<Vec<Vec<&str>>> = None;
    for word in words(text) {
        match (word, &mut group) {
            ("(", None) => group = Some(vec![Vec::new()]),
            ("(", Some(_)) => return Err("alternatives cannot stand inside alternatives".into()),
            (")", Some(_)) => {
                let lists = group.take().unwrap_or_default();
                if lists.iter().any(Vec::is_empty) {
                    return Err("an alternative is empty".into());
                }
                out.push(Token::Group(lists));
            }
            (")", None) => return Err("`)` without its `(`".into()),
            ("|", Some(lists)) => lists.push(Vec::new()),
            ("|", None) => return Err("`|` stands outside of `( )`: write `(a | b)`".into()),
            (word, Some(lists)) => {
                if let Some(list) = lists.last_mut() {
                    list.push(word);
                }
            }
            (word, None) => out.push(Token::Word(word)),
        }
    }
    if group.is_some() {
        return Err("`(` without its `)`".into());
    }
    if out.is_empty() {
        return Err("the pattern is empty".into());
    }
    Ok(out)
}

/// Every way through the alternatives.
fn expand<'t>(tokens: &[Token<'t>]) -> Result<Vec<Vec<&'t str>>, String> {
    let mut lists: Vec<Vec<&str>> = vec![Vec::new()];
    for token in tokens {
        match token {
            Token::Word(word) => lists.iter_mut().for_each(|list| list.push(word)),
            Token::Group(ways) => {
                if lists.len() * ways.len() > limits::ALTERNATIVES {
                    return Err(format!("more than {} combinations", limits::ALTERNATIVES));
                }
                let with = |list: &Vec<&'t str>, way: &Vec<&'t str>| [&list[..], way].concat();
                lists = lists
                    .iter()
                    .flat_map(|list| ways.iter().map(move |way| with(list, way)))
                    .collect();
            }
        }
    }
    Ok(lists)
}

// ---- paths ------------------------------------------------------------------------------------

/// What a path pattern starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// `/x`
    Root,
    /// `~/x`
    Home,
    /// `./x`
    Project,
    /// `C:/x`, `?:/x`: on a drive.
    Drive,
    /// `x`: at any depth anywhere.
    Anywhere,
}

impl Base {
    const ALL: [Base; 5] = [Base::Root, Base::Home, Base::Project, Base::Drive, Base::Anywhere];

    /// What a pattern starts from, and what is written behind that.
    fn of(written: &str) -> (Base, &str) {
        let first = written.split('/').next().unwrap_or_default();
        match first {
            "~" => (Base::Home, &written[1..]),
            "." => (Base::Project, &written[1..]),
            "" => (Base::Root, written),
            _ if first.ends_with(':') => (Base::Drive, written),
            _ => (Base::Anywhere, written),
        }
    }
}

/// A component of a path pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'t> {
    /// That very name.
    Literal(&'t str),
    /// A glob over one name.
    Glob(&'t str),
    /// Text or a glob below a drive, where letter case never counts.
    Folded(&'t str),
    /// `**`: any number of components.
    Any,
}

/// Compiles a path pattern.
///
/// # Errors
/// Why it cannot be meant.
pub fn path(written: &str) -> Result<String, String> {
    if written.is_empty() {
        return Err("the path is empty".into());
    }
    if written.contains('\0') {
        return Err("the path holds a NUL".into());
    }
    let (base, rest) = Base::of(written);
    let mut parts: Vec<Part<'_>> = Vec::new();
    for part in rest.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            return Err("`..` has no meaning in a pattern: name the directory itself".into());
        }
        if let Some(why) = glob::fault(part) {
            return Err(format!("`{part}` {why}"));
        }
        // What any number of components follow may as well be one.
        if part == "**" && parts.last() == Some(&Part::Any) {
            continue;
        }
        if parts.len() == limits::PATH_PARTS {
            return Err(format!("more than {} components", limits::PATH_PARTS));
        }
        parts.push(match part {
            "**" => Part::Any,
            _ if base == Base::Drive => Part::Folded(part),
            _ if glob::is_glob(part) => Part::Glob(part),
            _ => Part::Literal(part),
        });
    }
    let mut out = String::new();
    let itself = rest.ends_with("/.");
    number(base as usize | usize::from(itself) << 3, &mut out);
    for part in parts {
        let (kind, name) = match part {
            Part::Literal(name) => ('l', name),
            Part::Glob(name) => ('g', name),
            Part::Folded(name) => ('f', name),
            Part::Any => ('a', ""),
        };
        out.push(kind);
        text(name, &mut out);
    }
    Ok(out)
}

/// What a compiled path pattern starts from, whether it ends in `/.`, and its components, still a text.
pub fn base(body: &str) -> Option<(Base, bool, &str)> {
    let mut rest = Rest::of(body);
    let number = rest.number()?;
    Some((*Base::ALL.get(number & 7)?, number & 8 != 0, rest.left()?))
}

/// The first component.
pub fn first_part(components: &str) -> Option<Part<'_>> {
    part(&mut Rest::of(components))
}

/// All components; None where they are damaged.
pub fn parts(components: &str) -> Option<Vec<Part<'_>>> {
    let mut rest = Rest::of(components);
    let mut parts = Vec::new();
    while !rest.is_empty() {
        parts.push(part(&mut rest)?);
    }
    Some(parts)
}

fn part<'t>(rest: &mut Rest<'t>) -> Option<Part<'t>> {
    let (kind, name) = (rest.byte()?, rest.text()?);
    Some(match kind {
        b'l' => Part::Literal(name),
        b'g' => Part::Glob(name),
        b'f' => Part::Folded(name),
        b'a' => Part::Any,
        _ => return None,
    })
}
