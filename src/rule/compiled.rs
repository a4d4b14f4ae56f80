//! Patterns as they are kept for events: command and path patterns that have been taken apart, as a short text.
//!
//! Every fault is found where a pattern is compiled: by the build for the shipped rules, at the first event after a
//! change for a user's file. What is left at an event is a walk over the text. It is shared with the build.

use super::packed::{Rest, write_number, write_text};
use crate::{glob, limits};

/// Stands before an item of a list that excludes what it names, as it is written.
const EXCLUDES: char = '!';

/// An item of a list as written: whether it excludes, and its pattern.
#[inline]
pub fn split_exclusion(written: &str) -> (bool, &str) {
    match written.strip_prefix(EXCLUDES) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, written),
    }
}

/// Compiles a pattern.
pub type Compile = fn(&str) -> Result<String, String>;

/// A list of patterns: what is named, and what is excluded, each as [`read_texts`] reads it. None where it is damaged.
pub fn split_lists(compiled: &str) -> Option<(&str, &str)> {
    let mut rest = Rest::from_text(compiled);
    let lists = (rest.read_text()?, rest.read_text()?);
    rest.is_empty().then_some(lists)
}

/// Texts that stand one behind the other; None in place of what is damaged, and nothing behind it.
pub fn read_texts(run: &str) -> impl Iterator<Item = Option<&str>> {
    let mut rest = Rest::from_text(run);
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let text = rest.read_text();
        if text.is_none() {
            rest = Rest::from_text("");
        }
        Some(text)
    })
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

/// A word of a command pattern behind its program.
#[derive(Debug, Clone, Copy)]
pub enum Word<'t> {
    /// It stands in its place.
    Item(Item<'t>),
    /// It stands anywhere.
    Option(OptionPattern<'t>),
}

/// A pattern with one of each alternatives.
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

/// What may stand in one place of a command pattern: words, and more than one run of them where it has alternatives.
type Ways<'t> = Vec<Vec<&'t str>>;

/// Compiles a command pattern.
///
/// # Errors
/// Why it cannot be meant.
pub fn compile_command(written: &str) -> Result<String, String> {
    let (places, closed) = places(written)?;
    write_places(&places, closed, false)
}

/// Compiles the text inside Claude Code's `Bash(...)`: `git push:*`, `npm run *`, `git push*`, `git status`. A star stands for
/// any text there, so that one at an end is words as well.
///
/// # Errors
/// Why it cannot be meant.
pub fn compile_permission(written: &str) -> Result<String, String> {
    let written = written.trim();
    let open = written.strip_suffix(":*").or_else(|| written.strip_suffix(" *"));
    let body = open.unwrap_or(written);
    let exact = open.is_none() && !written.ends_with('*');
    let mut words: Vec<&str> =
        body.split_whitespace().map(|word| if word == "*" { "**" } else { word }).collect();
    // An option is meant with what follows it; of other words the star is a glob's.
    if let Some(option) = words.last_mut().filter(|word| word.starts_with('-')) {
        *option = option.trim_end_matches('*');
    }
    let head = match words.first().copied() {
        None => return write_places(&[vec![vec!["*"]]], false, false),
        Some(first) if first.starts_with('*') => first,
        Some(_) => return write_places(&[vec![words]], exact, exact),
    };
    let rest = head.trim_start_matches('*');
    let words = words.split_off(1);
    let later = match rest {
        "" => None,
        option if option.starts_with('-') => Some(option.trim_end_matches('*')),
        _ => Some(head),
    };
    let anywhere = ["*", "**"].into_iter().chain(later).chain(words.iter().copied()).collect();
    let program = if rest.is_empty() { "*" } else { head };
    let first = std::iter::once(program).chain(words.iter().copied()).collect();
    write_places(&[vec![first, anywhere]], exact, exact)
}

/// What follows the first place, once, then each way of the first: its program and the words behind it.
fn write_places(places: &[Ways<'_>], closed: bool, exact: bool) -> Result<String, String> {
    let (heads, tail) = places.split_first().ok_or("the pattern is empty")?;
    let combinations = places.iter().fold(1_usize, |n, ways| n.saturating_mul(ways.len()));
    if combinations > limits::ALTERNATIVES {
        return Err(format!("more than {} combinations", limits::ALTERNATIVES));
    }
    let longest = |ways: &Ways<'_>| ways.iter().map(Vec::len).max().unwrap_or_default();
    if places.iter().map(longest).sum::<usize>() > limits::COMMAND_WORDS + 1 {
        return Err(format!("more than {} words", limits::COMMAND_WORDS));
    }
    let mut body = String::new();
    write_number(usize::from(closed) | usize::from(exact) << 1, &mut body);
    for ways in tail {
        write_number(ways.len(), &mut body);
        for way in ways {
            write_text(&write_words(way)?, &mut body);
        }
    }
    let mut out = String::new();
    write_text(&body, &mut out);
    for head in heads {
        let (program, words) = head.split_first().ok_or("the pattern is empty")?;
        let mut body = String::new();
        let name = program_of(program, &mut body)?;
        body.push_str(&write_words(words)?);
        out.push(if glob::is_glob(name) { 'g' } else { 'n' });
        write_text(name, &mut out);
        write_text(&body, &mut out);
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
    if let Some(why) = glob::find_fault(name) {
        return Err(format!("`{name}` {why}"));
    }
    let dir = dir.map(|dir| if dir.is_empty() { "/" } else { dir });
    write_text(dir.unwrap_or_default(), out);
    if dir.is_some() {
        // Relative ones lie in the project.
        let based = ["/", "~/", "./"].iter().any(|base| program.starts_with(base));
        let base = if based { "" } else { "./" };
        write_text(&compile_path(&format!("{base}{program}/."))?, out);
    }
    Ok(name)
}

fn write_words(words: &[&str]) -> Result<String, String> {
    let mut out = String::new();
    for word in words {
        if let Some(why) = glob::find_fault(word) {
            return Err(format!("`{word}` {why}"));
        }
        write_text(word, &mut out);
    }
    Ok(out)
}

/// The forms of one program.
#[derive(Debug)]
pub struct Group<'t> {
    name: &'t str,
    is_glob: bool,
    head: &'t str,
    tail: &'t str,
}

/// The groups of a compiled command pattern, one at least; None for one that is damaged.
pub fn read_groups(body: &str) -> impl Iterator<Item = Option<Group<'_>>> {
    let mut rest = Rest::from_text(body);
    let tail = rest.read_text();
    let mut rest = Some(rest);
    std::iter::from_fn(move || {
        let left = rest.as_mut()?;
        let group = tail.and_then(|tail| Group::read(left, tail));
        if group.is_none() || left.is_empty() {
            rest = None;
        }
        Some(group)
    })
}

/// Could a form of the compiled pattern be of the program of that name? A no is certain, and told before the forms are read.
pub fn could_name(body: &str, program: &str) -> bool {
    let mut rest = Rest::from_text(body);
    if rest.text_bytes().is_none() {
        return true;
    }
    let mut is_other = || {
        let other = rest.byte()? == b'n' && rest.text_bytes()? != program.as_bytes();
        rest.text_bytes()?;
        Some((other, rest.is_empty()))
    };
    loop {
        match is_other() {
            Some((true, false)) => {}
            Some((true, true)) => return false,
            _ => return true,
        }
    }
}

/// The programs that a compiled command pattern names, each with its first operand where that is a plain word:
/// `git push`; for any program, with its first option: `* --yolo`. None where a form names a program by a glob.
pub fn programs(body: &str) -> Option<Vec<String>> {
    let name = |form: Option<Form<'_>>| {
        let form = form?;
        let program = form.program;
        match form.items.first() {
            _ if glob::is_glob(program) => {
                let option = form.options.first().filter(|o| !glob::is_glob(o.name))?;
                (program == "*").then(|| format!("* {}", option.name))
            }
            Some(Item::Operand(word)) if !glob::is_glob(word) => Some(format!("{program} {word}")),
            _ => Some(program.to_string()),
        }
    };
    let groups = read_groups(body).collect::<Option<Vec<_>>>()?;
    groups.iter().flat_map(|group| group.read_forms(|_| true)).map(name).collect()
}

impl<'t> Group<'t> {
    fn read(rest: &mut Rest<'t>, tail: &'t str) -> Option<Group<'t>> {
        let is_glob = rest.byte()? == b'g';
        Some(Group { is_glob, name: rest.read_text()?, head: rest.read_text()?, tail })
    }

    /// Are its forms of the program of that name?
    pub fn has_program(&self, program: &str) -> bool {
        if self.is_glob { glob::matches(self.name, program) } else { self.name == program }
    }

    /// Is it of any program?
    pub fn is_any(&self) -> bool {
        self.name == "*"
    }

    /// Every way through those alternatives whose words all could be meant; None for what is damaged.
    pub fn read_forms(&self, could_be: impl Fn(&Word<'t>) -> bool) -> Vec<Option<Form<'t>>> {
        let Some((head, places)) = self.split_parts(could_be) else { return vec![None] };
        let form = |mut number: usize| {
            let mut form = head.clone();
            for ways in &places {
                form.take(ways[number % ways.len()])?;
                number /= ways.len();
            }
            Some(form)
        };
        (0..places.iter().map(Vec::len).product()).map(form).collect()
    }

    /// The first place, and what may stand in each further one.
    fn split_parts(
        &self,
        could_be: impl Fn(&Word<'t>) -> bool,
    ) -> Option<(Form<'t>, Vec<Vec<&'t str>>)> {
        let could_hold =
            |run: &&'t str| read_words(run).all(|word| word.is_none_or(|word| could_be(&word)));
        let (mut head, mut tail) = (Rest::from_text(self.head), Rest::from_text(self.tail));
        let file = match head.read_text()? {
            "" => None,
            dir => Some((dir, head.read_text()?)),
        };
        let flags = tail.read_number()?;
        let (closed, exact_options) = (flags & 1 != 0, flags & 2 != 0);
        let form = Form { program: self.name, file, closed, exact_options, ..Form::default() };
        let first: Vec<&str> =
            Some(head.remaining_text()?).into_iter().filter(could_hold).collect();
        let (mut count, mut places) = (1, vec![first]);
        // Where one place could hold nothing that it says, nothing is left of all the ways.
        while !tail.is_empty() && places.last().is_some_and(|ways| !ways.is_empty()) {
            let written = tail.read_number()?;
            count *= written;
            if !(1..=limits::ALTERNATIVES).contains(&count) {
                return None;
            }
            let ways = (0..written).map(|_| tail.read_text()).collect::<Option<Vec<_>>>()?;
            places.push(ways.into_iter().filter(could_hold).collect());
        }
        Some((form, places))
    }
}

impl<'t> Form<'t> {
    /// Takes those words on.
    fn take(&mut self, words: &'t str) -> Option<()> {
        for word in read_words(words) {
            match word? {
                // What any operands follow may as well be one.
                Word::Item(Item::Gap) if self.items.last() == Some(&Item::Gap) => {}
                Word::Item(item) => self.items.push(item),
                Word::Option(option) => self.options.push(option),
            }
        }
        Some(())
    }
}

/// The words of a run; None in place of one that is damaged.
fn read_words(run: &str) -> impl Iterator<Item = Option<Word<'_>>> {
    read_texts(run).map(|word| word.map(Word::from_text))
}

impl<'t> Word<'t> {
    fn from_text(word: &'t str) -> Word<'t> {
        match word {
            "**" => Word::Item(Item::Gap),
            _ if word.len() > 1 && word.starts_with('-') && word != "--" => {
                let (name, value) =
                    word.split_once('=').map_or((word, None), |(n, v)| (n, Some(v)));
                Word::Option(OptionPattern { name, value })
            }
            _ => Word::Item(Item::Operand(word)),
        }
    }
}

/// Words, and brackets and bars, which stand alone even without blanks around them; `[a(]` is not a case worth
/// a grammar of its own.
fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
        .flat_map(|run| run.split_inclusive(['(', ')', '|']))
        .flat_map(|run| {
            let end = run.len() - usize::from(run.ends_with(['(', ')', '|']));
            [&run[..end], &run[end..]]
        })
        .filter(|word| !word.is_empty())
}

/// The places of a pattern as written, and whether `$` ends it.
fn places(text: &str) -> Result<(Vec<Ways<'_>>, bool), String> {
    let (mut places, mut closed): (Vec<Ways<'_>>, bool) = (Vec::new(), false);
    let mut group: Option<Ways<'_>> = None;
    for word in split_words(text) {
        if closed {
            return Err("`$` stands for the end, so nothing may follow it".into());
        }
        match (word, &mut group) {
            ("(", None) => group = Some(vec![Vec::new()]),
            ("(", Some(_)) => return Err("alternatives cannot stand inside alternatives".into()),
            (")", Some(ways)) => {
                if ways.iter().any(Vec::is_empty) {
                    return Err("an alternative is empty".into());
                }
                places.extend(group.take());
            }
            (")", None) => return Err("`)` without its `(`".into()),
            ("|", Some(ways)) => ways.push(Vec::new()),
            ("|", None) => return Err("`|` stands outside of `( )`: write `(a | b)`".into()),
            ("$", None) => closed = true,
            (word, _) => {
                let way = match (&mut group, places.last_mut().map(Vec::as_mut_slice)) {
                    (Some(ways), _) => ways.last_mut(),
                    // What has no alternatives is one place.
                    (None, Some([way])) => Some(way),
                    _ => {
                        places.push(vec![Vec::new()]);
                        places.last_mut().and_then(|ways| ways.last_mut())
                    }
                };
                way.into_iter().for_each(|way| way.push(word));
            }
        }
    }
    match group {
        Some(_) => Err("`(` without its `)`".into()),
        None => Ok((places, closed)),
    }
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
    fn split_base(written: &str) -> (Base, &str) {
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
    /// What cannot be read, and so could be any.
    Damaged,
}

/// The components of a path pattern, read as they are asked for: most patterns are told from a path by their first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts<'t>(Rest<'t>);

impl<'t> Parts<'t> {
    /// Of a text that is damaged.
    pub const DAMAGED: Parts<'static> = Parts(Rest::from_text("?"));

    /// Of components.
    pub const fn from_text(text: &'t str) -> Parts<'t> {
        Parts(Rest::from_text(text))
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first, and those behind it; behind a damaged one there are none.
    pub fn split_first(mut self) -> Option<(Part<'t>, Parts<'t>)> {
        if self.is_empty() {
            return None;
        }
        match read_part(&mut self.0) {
            Some(part) => Some((part, self)),
            None => Some((Part::Damaged, Parts::from_text(""))),
        }
    }

    /// All of them; None where one is damaged.
    pub fn read_all(self) -> Option<Vec<Part<'t>>> {
        self.map(|part| (part != Part::Damaged).then_some(part)).collect()
    }
}

impl<'t> Iterator for Parts<'t> {
    type Item = Part<'t>;

    fn next(&mut self) -> Option<Part<'t>> {
        let (part, rest) = self.split_first()?;
        *self = rest;
        Some(part)
    }
}

/// Compiles a path pattern.
///
/// # Errors
/// Why it cannot be meant.
pub fn compile_path(written: &str) -> Result<String, String> {
    if written.is_empty() {
        return Err("the path is empty".into());
    }
    if written.contains('\0') {
        return Err("the path holds a NUL".into());
    }
    let (base, rest) = Base::split_base(written);
    let mut parts: Vec<Part<'_>> = Vec::new();
    for part in rest.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            return Err("`..` has no meaning in a pattern: name the directory itself".into());
        }
        if let Some(why) = glob::find_fault(part) {
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
    write_number(base as usize | usize::from(itself) << 3, &mut out);
    parts.iter().for_each(|part| write_part(part, &mut out));
    Ok(out)
}

/// Writes a component.
pub fn write_part(part: &Part<'_>, out: &mut String) {
    let (kind, name) = match part {
        Part::Literal(name) => ('l', *name),
        Part::Glob(name) => ('g', *name),
        Part::Folded(name) => ('f', *name),
        Part::Any => ('a', ""),
        Part::Damaged => ('?', ""),
    };
    out.push(kind);
    write_text(name, out);
}

/// What a compiled path pattern starts from, whether it ends in `/.`, and its components.
pub fn read_base(body: &str) -> Option<(Base, bool, Parts<'_>)> {
    let mut rest = Rest::from_text(body);
    let number = rest.byte()?;
    let base = *Base::ALL.get(usize::from(number & 7))?;
    Some((base, number & 8 != 0, Parts(rest)))
}

fn read_part<'t>(rest: &mut Rest<'t>) -> Option<Part<'t>> {
    let (kind, name) = (rest.byte()?, rest.read_text()?);
    Some(match kind {
        b'l' => Part::Literal(name),
        b'g' => Part::Glob(name),
        b'f' => Part::Folded(name),
        b'a' => Part::Any,
        _ => return None,
    })
}
