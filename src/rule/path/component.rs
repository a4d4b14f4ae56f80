//! Patterns and paths as lists of components: does one name the other, lie above it, or meet it?

use super::{FOLD, Part};
use crate::effect::Extent;
use crate::rule::{Truth, glob};

pub(super) fn split(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

pub(super) fn as_parts(path: &[&str]) -> Vec<Part> {
    path.iter()
        .map(|part| match *part {
            "**" => Part::Any,
            part if glob::is_glob(part) => Part::Glob(part.to_string()),
            part => Part::Literal(part.to_string()),
        })
        .collect()
}

pub(super) fn part_matches(part: &Part, name: &str) -> bool {
    match part {
        Part::Literal(text) if FOLD => text.eq_ignore_ascii_case(name),
        Part::Literal(text) => text == name,
        Part::Glob(text) => glob::matches_folded(text, name, FOLD),
        Part::Folded(text) => glob::matches_folded(text, name, true),
        Part::Any => true,
    }
}

/// Does the pattern name the path or a directory above it?
pub(super) fn prefix(parts: &[Part], path: &[&str], anywhere: bool) -> bool {
    if anywhere {
        return (0..=path.len()).any(|start| prefix(parts, &path[start..], false));
    }
    match parts.split_first() {
        None => true,
        Some((Part::Any, [])) => !path.is_empty(),
        Some((Part::Any, rest)) => (0..=path.len()).any(|skip| prefix(rest, &path[skip..], false)),
        Some((part, rest)) => match path.split_first() {
            Some((name, below)) => part_matches(part, name) && prefix(rest, below, false),
            None => false,
        },
    }
}

/// Can a path that the glob names be one of the pattern's? Two globs that only meet in some names
/// say no more than perhaps.
pub(super) fn overlap(parts: &[Part], glob_path: &[&str], anywhere: bool) -> Truth {
    if !anywhere {
        return overlap_at(parts, glob_path);
    }
    let crossing = Truth::from(glob_path.contains(&"**")).and(Truth::Maybe);
    (0..=glob_path.len()).fold(crossing, |truth, start| {
        let rest = &glob_path[start..];
        // That some directory on the way has the very name is far-fetched.
        let within = rest.len() > parts.len() && rest.iter().any(|part| glob::is_glob(part));
        // `*` names all that is there: something of that name may be.
        let bare = rest.iter().take(parts.len()).all(|part| part.bytes().all(|b| b == b'*'));
        let far = bare || within && !named_by_end(parts, rest);
        let here = overlap_at(parts, rest);
        truth.or(if far { here.and(Truth::Maybe) } else { here })
    })
}

/// Does the end of the glob meet the end of the pattern, or its own literal words name it?
pub(super) fn named_by_end(parts: &[Part], glob_path: &[&str]) -> bool {
    let literal = glob_path.iter().take_while(|part| !glob::is_glob(part)).count();
    parts.len() <= literal
        || glob_path.first() == Some(&"**")
            && overlap_at(parts, &glob_path[glob_path.len() - parts.len()..]) == Truth::Yes
}

pub(super) fn overlap_at(parts: &[Part], glob_path: &[&str]) -> Truth {
    let any = |starts: &mut dyn Iterator<Item = Truth>| starts.fold(Truth::No, Truth::or);
    match (parts.split_first(), glob_path.split_first()) {
        (None, _) => Truth::Yes,
        (Some((Part::Any, [])), _) => Truth::from(!glob_path.is_empty()),
        (Some((Part::Any, rest)), _) => {
            any(&mut (0..=glob_path.len()).map(|skip| overlap_at(rest, &glob_path[skip..])))
        }
        (Some(_), None) => Truth::No,
        (Some(_), Some((&"**", below))) => {
            // No more than `*` does it stand for names with a leading dot.
            let open = parts.iter().take_while(|part| !part.is_hidden()).count();
            // A directory of that very name within it is far-fetched.
            let whole = Truth::from(open == parts.len()).and(Truth::Maybe);
            let last = open.min(parts.len() - 1);
            any(&mut (0..=last).map(|skip| overlap_at(&parts[skip..], below))).or(whole)
        }
        (Some((part, rest)), Some((name, below))) => {
            let here = meet(part, name);
            if here == Truth::No { here } else { here.and(overlap_at(rest, below)) }
        }
    }
}

/// Can a name that the glob stands for be one of the pattern's component?
pub(super) fn meet(part: &Part, name: &str) -> Truth {
    let both = |text: &str, name: &str| {
        if glob::matches(text, name) {
            Truth::Yes
        } else {
            Truth::from(glob::intersect(name, text)).and(Truth::Maybe)
        }
    };
    match part {
        // A leading dot is not matched by the shell's `*`; saying yes is the safe side
        // only where the glob asks for the dot itself.
        part if part.is_hidden() && !name.starts_with(['.', '[', '{']) => Truth::No,
        Part::Literal(text) => Truth::from(glob::matches_folded(name, text, FOLD)),
        Part::Glob(text) => both(text, name),
        Part::Folded(text) => both(&text.to_ascii_lowercase(), &name.to_ascii_lowercase()),
        Part::Any => Truth::Yes,
    }
}

/// The pattern lies below the directory that is touched as a whole: certain for the directory's
/// direct children (its literal parent is named), for all of it where its content goes (`D/*`),
/// possible from further up.
pub(super) fn below(parts: &[Part], dir: &[&str], extent: Extent) -> Truth {
    let mut parts = parts;
    for name in dir {
        match parts.split_first() {
            Some((Part::Any, _)) => return Truth::Maybe,
            Some((part, rest)) if part_matches(part, name) => parts = rest,
            _ => return Truth::No,
        }
    }
    match (parts, extent) {
        (_, Extent::Visible) if hidden(parts) => Truth::No,
        ([Part::Literal(_)], Extent::Tree | Extent::Visible | Extent::Children) => Truth::Yes,
        ([Part::Folded(text)], Extent::Tree | Extent::Visible | Extent::Children)
            if !glob::is_glob(text) =>
        {
            Truth::Yes
        }
        _ => Truth::Maybe,
    }
}

/// Do these components name only what is hidden?
pub(super) fn hidden(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::Literal(text) | Part::Glob(text) | Part::Folded(text) => text.starts_with('.'),
        Part::Any => false,
    })
}
