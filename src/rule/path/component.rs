//! Patterns and paths as lists of components: does one name the other, lie above it, or meet it?

use super::FOLD;
use crate::effect::Extent;
use crate::glob;
use crate::limits;
use crate::rule::Truth;
use crate::rule::compiled::{Part, Parts};

pub(super) fn split_components(path: &str) -> Vec<&str> {
    let (mut parts, mut from) = (Vec::with_capacity(16), 0);
    // By the byte: a search for each slash takes longer than the names are.
    for (at, byte) in path.as_bytes().iter().enumerate() {
        if *byte == b'/' {
            if from < at {
                parts.push(&path[from..at]);
            }
            from = at + 1;
        }
    }
    if from < path.len() {
        parts.push(&path[from..]);
    }
    parts
}

/// The components of a path, which a glob's may be: adjacent `**` are one.
pub(super) fn split_glob(path: &str, extent: Extent) -> Vec<&str> {
    let mut parts = split_components(path);
    if extent == Extent::Glob {
        parts.dedup_by(|next, before| *next == "**" && *before == "**");
    }
    parts
}

/// Is the pattern written as the glob is?
pub(super) fn is_glob_of(mut parts: Parts<'_>, glob_path: &[&str]) -> bool {
    let same = |name: &&str| {
        parts.next().is_some_and(|part| match part {
            Part::Any => *name == "**",
            Part::Glob(text) => text == *name,
            Part::Literal(text) => text == *name && !glob::is_glob(name),
            Part::Folded(_) | Part::Damaged => false,
        })
    };
    glob_path.iter().all(same) && parts.is_empty()
}

pub(super) fn part_matches(part: &Part<'_>, name: &str) -> bool {
    match part {
        Part::Literal(text) => same_name(text, name),
        Part::Glob(text) => glob::matches_folded(text, name, FOLD),
        Part::Folded(text) => glob::matches_folded(text, name, true),
        Part::Any | Part::Damaged => true,
    }
}

pub(super) fn same_name(text: &str, name: &str) -> bool {
    if FOLD { text.eq_ignore_ascii_case(name) } else { text == name }
}

/// How many of the path's first components the pattern names at the least: the path itself where it is all of
/// them, a directory above it where it is fewer, nothing where it is none.
///
/// As globs are matched: what stands between two `**` is taken where it fits first, since more of the path can
/// only be named with more left of it.
pub(super) fn shortest_named(parts: Parts<'_>, path: &[&str], anywhere: bool) -> Option<usize> {
    let (mut left, mut at) = (parts, 0);
    // Where the pattern goes on behind the last `**`, and how far into the path that was tried.
    let mut gap = anywhere.then_some((parts, 0));
    while let Some((part, rest)) = left.split_first() {
        if part == Part::Damaged {
            return Some(path.len());
        }
        if part == Part::Any {
            // At the end it stands for one component or more.
            if rest.is_empty() {
                return (at < path.len()).then_some(at + 1);
            }
            left = rest;
            gap = Some((rest, at));
        } else if path.get(at).is_some_and(|name| part_matches(&part, name)) {
            left = rest;
            at += 1;
        } else {
            let (behind, tried) = gap.filter(|_| at < path.len())?;
            // Trying again costs no more than a pattern's components each time.
            if tried % 256 == 255 && !limits::spend_steps(256 * parts.count()) {
                return None;
            }
            gap = Some((behind, tried + 1));
            (left, at) = (behind, tried + 1);
        }
    }
    Some(at)
}

/// Can a path that the glob names be one of the pattern's? Two globs that only meet in some names
/// say no more than perhaps.
pub(super) fn overlap_globs(parts: &[Part<'_>], glob_path: &[&str], anywhere: bool) -> Truth {
    // What has no `**` on either side is compared from the front, and most of it ends there.
    if !anywhere && !parts.contains(&Part::Any) && !glob_path.contains(&"**") {
        return overlap_plainly(parts, glob_path);
    }
    let mut table = Table::new(parts);
    table.search = anywhere && glob_path.contains(&"**");
    if !anywhere {
        glob_path.iter().rev().for_each(|name| table.prepend_name(name));
        return table.match_all();
    }
    let mut best = Truth::from(glob_path.contains(&"**")).or(table.match_all()).and(Truth::Maybe);
    // Of the components from here on: are there globs, how many are none at the start, and how many are
    // nothing but stars.
    let (mut globs, mut literal, mut bare) = (false, 0, 0);
    let mut at_end = None;
    for (start, name) in glob_path.iter().enumerate().rev() {
        let length = glob_path.len() - start;
        table.prepend_name(name);
        let is_glob = glob::is_glob(name);
        globs |= is_glob;
        literal = if is_glob { 0 } else { literal + 1 };
        bare = if name.bytes().all(|b| b == b'*') { bare + 1 } else { 0 };
        if length == parts.len() {
            at_end = Some(table.match_all());
        }
        // That some directory on the way has the very name is far-fetched.
        let within = length > parts.len() && globs;
        // The glob's own words name it, or its end is the pattern's.
        let named = parts.len() <= literal || *name == "**" && at_end == Some(Truth::Yes);
        // `*` names all that is there: something of that name may be.
        let far = bare >= parts.len().min(length) || within && !named;
        best = best.or(if far { table.match_all().and(Truth::Maybe) } else { table.match_all() });
    }
    best
}

fn overlap_plainly(parts: &[Part<'_>], glob_path: &[&str]) -> Truth {
    if parts.len() > glob_path.len() {
        return Truth::No;
    }
    let mut truth = Truth::Yes;
    for (part, name) in parts.iter().zip(glob_path) {
        truth = truth.and(match_component(part, name));
        if truth == Truth::No {
            break;
        }
    }
    truth
}

/// Can what the glob's last components name be named by the pattern's last? One entry for each number of
/// parts that are left out at the start; a component more of the glob makes the next table.
struct Table<'p> {
    parts: &'p [Part<'p>],
    truths: Vec<Truth>,
    next: Vec<Truth>,
    /// The glob has a `**`, and the pattern's components lie anywhere: see [`is_by_chance`].
    search: bool,
}

impl<'p> Table<'p> {
    /// For no component.
    fn new(parts: &'p [Part]) -> Table<'p> {
        let mut truths = vec![Truth::No; parts.len() + 1];
        truths[parts.len()] = Truth::Yes;
        let next = truths.clone();
        Table { parts, truths, next, search: false }
    }

    /// All the parts.
    fn match_all(&self) -> Truth {
        self.truths[0]
    }

    fn meet(&self, part: &Part<'_>, name: &str) -> Truth {
        let met = match_component(part, name);
        if self.search && is_by_chance(part, name) { met.and(Truth::Maybe) } else { met }
    }

    /// One component of the glob more, at its front.
    fn prepend_name(&mut self, name: &str) {
        if !limits::spend_steps(self.parts.len()) {
            return;
        }
        let across = name == "**";
        // No part from here on is hidden, and the best of those that a `**` may leave out.
        let (mut open, mut skipped) = (true, Truth::No);
        for (i, part) in self.parts.iter().enumerate().rev() {
            let last = i + 1 == self.parts.len();
            // No more than `*` does `**` stand for names with a leading dot.
            let hidden = part.is_hidden();
            open &= !hidden;
            skipped = match hidden || last {
                true => self.truths[i],
                false => skipped.or(self.truths[i]),
            };
            self.next[i] = match part {
                Part::Any if last => Truth::Yes,
                Part::Any => self.next[i + 1].or(self.truths[i]),
                // A directory of that very name within it is far-fetched.
                _ if across => skipped.or(Truth::from(open).and(Truth::Maybe)),
                _ if self.truths[i + 1] == Truth::No => Truth::No,
                _ => self.truths[i + 1].and(self.meet(part, name)),
            };
        }
        std::mem::swap(&mut self.truths, &mut self.next);
    }
}

/// Can a name that the glob stands for be one of the pattern's component?
pub(super) fn match_component(part: &Part<'_>, name: &str) -> Truth {
    if surely_meets(part, name) {
        return Truth::Yes;
    }
    let meets = match part {
        part if is_left_out(part, name) => false,
        Part::Glob(text) => glob::may_intersect(name, text),
        Part::Folded(text) => {
            glob::may_intersect(&name.to_ascii_lowercase(), &text.to_ascii_lowercase())
        }
        Part::Literal(_) | Part::Any | Part::Damaged => false,
    };
    Truth::from(meets).and(Truth::Maybe)
}

/// Is it one of them beyond doubt?
fn surely_meets(part: &Part<'_>, name: &str) -> bool {
    let meets = match part {
        Part::Literal(text) => glob::matches_folded(name, text, FOLD),
        Part::Glob(text) => glob::matches(text, name),
        Part::Folded(text) => glob::matches(&text.to_ascii_lowercase(), &name.to_ascii_lowercase()),
        Part::Any | Part::Damaged => true,
    };
    meets && !is_left_out(part, name)
}

/// A leading dot is not matched by the shell's `*`; saying yes is the safe side only where the glob asks for the
/// dot itself.
fn is_left_out(part: &Part<'_>, name: &str) -> bool {
    part.is_hidden() && !name.starts_with(['.', '[', '{'])
}

/// Is a file of this certain name only by chance among all that end so, wherever they lie (`**/*.py`)? `*` alone names
/// all that is there.
pub(super) fn is_by_chance(part: &Part<'_>, name: &str) -> bool {
    matches!(part, Part::Literal(_)) && name.starts_with('*') && name.bytes().any(|b| b != b'*')
}

/// Does a glob with a `**` only perhaps meet what these components name at any depth? So it is unless one of its names
/// surely is the last of them, and that is told before the others are read.
pub(super) fn meets_at_most(parts: Parts<'_>, glob_path: &[&str]) -> bool {
    let mut last = None;
    for part in parts {
        if matches!(part, Part::Any | Part::Damaged) {
            return false;
        }
        last = Some(part);
    }
    let is_named = |last: &Part<'_>, name: &str| {
        name != "**" && !is_by_chance(last, name) && surely_meets(last, name)
    };
    glob_path.contains(&"**")
        && last.is_some_and(|last| !glob_path.iter().any(|name| is_named(&last, name)))
}

/// The pattern lies below the directory that is touched as a whole: certain for the directory's
/// direct children (its literal parent is named), for all of it where its content goes (`D/*`) or is named (`D/**`),
/// possible from further up.
pub(super) fn match_below(parts: Parts<'_>, dir: &[&str], extent: Extent) -> Truth {
    let mut parts = parts;
    for (at, name) in dir.iter().enumerate() {
        match parts.split_first() {
            // It stands for none of the directories, or for some.
            Some((Part::Any, _)) => {
                // One name at any depth may be there, or not.
                let all = names_all_below(parts, &dir[at..]);
                return if all { Truth::Yes } else { Truth::Maybe };
            }
            Some((part, rest)) if part_matches(&part, name) => parts = rest,
            _ => return Truth::No,
        }
    }
    if extent == Extent::Visible && names_only_hidden(parts) {
        return Truth::No;
    }
    let content = matches!(extent, Extent::Tree | Extent::Visible | Extent::Children);
    match parts.split_first() {
        Some((part, rest)) if content && rest.is_empty() && is_one_name(&part) => Truth::Yes,
        _ if names_whatever(parts) => Truth::Yes,
        _ => Truth::Maybe,
    }
}

/// Does a pattern with `**` name whatever lies behind these directories: can its last part be all that is left of it?
fn names_all_below(parts: Parts<'_>, dir: &[&str]) -> bool {
    let parts: Vec<Part<'_>> = parts.collect();
    let Some(last) = parts.len().checked_sub(1).filter(|last| is_whatever(&parts[*last])) else {
        return false;
    };
    // Where one may stand. `**` stands for no directory as well, and for one more.
    let step_over = |stands: &mut [bool]| {
        for at in (0..last).filter(|at| parts[*at] == Part::Any) {
            stands[at + 1] |= stands[at];
        }
    };
    let mut stands = vec![false; parts.len()];
    stands[0] = true;
    step_over(&mut stands);
    for name in dir {
        if !limits::spend_steps(parts.len()) {
            return false;
        }
        let mut next = vec![false; parts.len() + 1];
        for at in (0..parts.len()).filter(|at| stands[*at]) {
            match &parts[at] {
                Part::Any => next[at] = true,
                part => next[at + 1] |= part_matches(part, name),
            }
        }
        step_over(&mut next);
        stands = next;
    }
    stands[last]
}

/// Does what is left of a pattern name whatever lies in the directory?
fn names_whatever(parts: Parts<'_>) -> bool {
    parts.split_first().is_some_and(|(part, rest)| rest.is_empty() && is_whatever(&part))
}

/// Does a directory that is touched with all in it surely hold what the component names: one name, or whatever is there?
pub(super) fn is_surely_in(part: &Part<'_>) -> bool {
    is_whatever(part) || is_one_name(part)
}

/// Does the component stand for any name?
fn is_whatever(part: &Part<'_>) -> bool {
    matches!(part, Part::Any | Part::Glob("*"))
}

/// Does the component stand for a single name?
fn is_one_name(part: &Part<'_>) -> bool {
    match part {
        Part::Literal(_) => true,
        Part::Folded(text) => !glob::is_glob(text),
        Part::Glob(_) | Part::Any | Part::Damaged => false,
    }
}

/// Do these components name only what is hidden?
pub(super) fn names_only_hidden(mut parts: Parts<'_>) -> bool {
    parts.any(|part| match part {
        Part::Literal(text) | Part::Glob(text) | Part::Folded(text) => text.starts_with('.'),
        Part::Any | Part::Damaged => false,
    })
}
