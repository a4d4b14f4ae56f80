//! Matching as it reads, by recursion: exponential in the number of `**`, and so only the oracle of what
//! matches in its place.

use proptest::prelude::*;

use super::component::{
    is_by_chance, match_below, match_component, names_only_hidden, part_matches, split_glob,
};
use super::*;

fn as_parts<'t>(path: &[&'t str]) -> Vec<Part<'t>> {
    path.iter()
        .map(|part| match *part {
            "**" => Part::Any,
            part if glob::is_glob(part) => Part::Glob(part),
            part => Part::Literal(part),
        })
        .collect()
}

/// Does the pattern name the path or a directory above it?
fn names_prefix(parts: &[Part<'_>], path: &[&str], anywhere: bool) -> bool {
    if anywhere {
        return (0..=path.len()).any(|start| names_prefix(parts, &path[start..], false));
    }
    match parts.split_first() {
        None => true,
        Some((Part::Any, [])) => !path.is_empty(),
        Some((Part::Any, rest)) => {
            (0..=path.len()).any(|skip| names_prefix(rest, &path[skip..], false))
        }
        Some((part, rest)) => match path.split_first() {
            Some((name, below)) => part_matches(part, name) && names_prefix(rest, below, false),
            None => false,
        },
    }
}

/// Can a path that the glob names be one of the pattern's? Two globs that only meet in some names
/// say no more than perhaps.
fn overlap_globs(parts: &[Part<'_>], glob_path: &[&str], anywhere: bool) -> Truth {
    if !anywhere {
        return overlap_at(parts, glob_path, false);
    }
    let crossing = Truth::from(glob_path.contains(&"**")).and(Truth::Maybe);
    (0..=glob_path.len()).fold(crossing, |truth, start| {
        let rest = &glob_path[start..];
        // That some directory on the way has the very name is far-fetched.
        let within = rest.len() > parts.len() && rest.iter().any(|part| glob::is_glob(part));
        // `*` names all that is there: something of that name may be.
        let bare = rest.iter().take(parts.len()).all(|part| part.bytes().all(|b| b == b'*'));
        let far = bare || within && !named_by_end(parts, rest);
        let here = overlap_at(parts, rest, glob_path.contains(&"**"));
        truth.or(if far { here.and(Truth::Maybe) } else { here })
    })
}

/// Does the end of the glob meet the end of the pattern, or its own literal words name it?
fn named_by_end(parts: &[Part<'_>], glob_path: &[&str]) -> bool {
    let literal = glob_path.iter().take_while(|part| !glob::is_glob(part)).count();
    parts.len() <= literal
        || glob_path.first() == Some(&"**")
            && overlap_at(parts, &glob_path[glob_path.len() - parts.len()..], true) == Truth::Yes
}

/// `search`: the glob has a `**` somewhere, and the pattern lies anywhere.
fn overlap_at(parts: &[Part<'_>], glob_path: &[&str], search: bool) -> Truth {
    let any = |starts: &mut dyn Iterator<Item = Truth>| starts.fold(Truth::No, Truth::or);
    match (parts.split_first(), glob_path.split_first()) {
        (None, _) => Truth::Yes,
        (Some((Part::Any, [])), _) => Truth::from(!glob_path.is_empty()),
        (Some((Part::Any, rest)), _) => {
            any(&mut (0..=glob_path.len()).map(|skip| overlap_at(rest, &glob_path[skip..], search)))
        }
        (Some(_), None) => Truth::No,
        (Some(_), Some((&"**", below))) => {
            // No more than `*` does it stand for names with a leading dot.
            let open = parts.iter().take_while(|part| !part.is_hidden()).count();
            // A directory of that very name within it is far-fetched.
            let whole = Truth::from(open == parts.len()).and(Truth::Maybe);
            let last = open.min(parts.len() - 1);
            any(&mut (0..=last).map(|skip| overlap_at(&parts[skip..], below, search))).or(whole)
        }
        (Some((part, rest)), Some((name, below))) => {
            let chance = search && is_by_chance(part, name);
            let here =
                match_component(part, name).and(if chance { Truth::Maybe } else { Truth::Yes });
            if here == Truth::No { here } else { here.and(overlap_at(rest, below, search)) }
        }
    }
}

fn names_path(own: &PathPattern<'_>, parts: &[Part<'_>], path: &[&str]) -> bool {
    let anywhere = own.base == Base::Anywhere;
    names_prefix(parts, path, anywhere)
        && (!own.itself || (0..path.len()).all(|len| !names_prefix(parts, &path[..len], anywhere)))
}

/// Calls `test` with the pattern's components made absolute, for each form of its base, until one holds.
fn any_absolute(
    own: &PathPattern<'_>,
    bases: &Bases,
    mut test: impl FnMut(&[Part<'_>]) -> bool,
) -> bool {
    let Some(parts) = own.parts.read_all() else { return false };
    bases.forms_of(own.base).iter().any(|base| {
        let above = base.names.iter().map(|name| Part::Literal(name));
        test(&above.chain(parts.iter().copied()).collect::<Vec<_>>())
    })
}

fn hits_form(own: &PathPattern<'_>, path: &str, extent: Extent, bases: &Bases) -> Truth {
    let path = split_glob(path, extent);
    let anywhere = own.base == Base::Anywhere;
    let mut best = Truth::No;
    any_absolute(own, bases, |parts| {
        let mut written = String::new();
        parts.iter().for_each(|part| compiled::write_part(part, &mut written));
        best = best.or(match extent {
            Extent::Exact => Truth::from(names_path(own, parts, &path)),
            Extent::Glob if own.itself && anywhere => match path.len().checked_sub(parts.len()) {
                Some(above) => overlap_at(parts, &path[above..], false),
                None => Truth::No,
            },
            Extent::Glob if own.itself && parts.len() != path.len() => Truth::No,
            Extent::Glob => overlap_globs(parts, &path, anywhere),
            Extent::Tree | Extent::Visible | Extent::Children | Extent::Below => {
                if names_path(own, parts, &path) {
                    // Below a directory is not the directory, unless the unknown part is empty.
                    let empty = own.itself && extent == Extent::Below;
                    if empty { Truth::Maybe } else { Truth::Yes }
                } else if anywhere {
                    // `.a` is named by `.a/x`, wherever it is; anything else of that name may
                    // lie below.
                    let may =
                        extent != Extent::Visible || !names_only_hidden(Parts::from_text(&written));
                    let truth = Truth::from(may).and(Truth::Maybe);
                    (0..path.len()).fold(truth, |truth, start| {
                        truth.or(match_below(Parts::from_text(&written), &path[start..], extent))
                    })
                } else {
                    match_below(Parts::from_text(&written), &path, extent)
                }
            }
        });
        best == Truth::Yes
    });
    best
}

fn covers_form(own: &PathPattern<'_>, path: &str, extent: Extent, bases: &Bases) -> bool {
    let mut path = split_glob(path, extent);
    match extent {
        // `D/*`: what is in D is covered when D is, or when the pattern ends in it.
        Extent::Exact | Extent::Tree | Extent::Visible | Extent::Children | Extent::Below => {}
        Extent::Glob => {
            let literal = path.iter().take_while(|part| !glob::is_glob(part)).count();
            // `*.rs` under the pattern `src/*.rs`: the same glob covers itown.
            if any_absolute(own, bases, |parts| parts == as_parts(&path)) {
                return true;
            }
            path.truncate(literal);
        }
    }
    if own.itself && (extent != Extent::Exact || path.is_empty()) {
        return false;
    }
    any_absolute(own, bases, |parts| names_path(own, parts, &path))
}

fn test_bases() -> Bases {
    Bases::new("/a", "/a/b")
}

/// Few names, so that they meet.
fn any_name() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        4 => Just("a"), 4 => Just("b"), 2 => Just(".a"), 1 => Just("C:"),
    ]
}

fn any_part() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        4 => any_name(), 3 => Just("**"), 2 => Just("*"), 1 => Just(".*"), 1 => Just("a*"), 1 => Just("*a"), 1 => Just("?"), 1 => Just("[ab]"),
    ]
}

fn any_pattern() -> impl Strategy<Value = String> {
    let start = prop_oneof![Just(""), Just("/"), Just("~/"), Just("./"), Just("?:/")];
    let end = prop_oneof![3 => Just(""), 1 => Just("/.")];
    (start, prop::collection::vec(any_part(), 0..6), end)
        .prop_map(|(start, parts, end)| format!("{start}{}{end}", parts.join("/")))
        .prop_filter("it can be meant", |text| PathPattern::parse(text).is_ok())
}

fn any_path(name: impl Strategy<Value = &'static str>) -> impl Strategy<Value = String> {
    prop::collection::vec(name, 0..7).prop_map(|parts| format!("/{}", parts.join("/")))
}

fn make_target(path: &str, extent: Extent) -> Target {
    Target { lexical: path.into(), resolved: path.into(), extent }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn matching_is_what_it_was(pattern in any_pattern(), plain in any_path(any_name()), glob in any_path(any_part())) {
        use Extent::{Below, Children, Exact, Glob, Tree, Visible};
        let own = PathPattern::parse(&pattern).unwrap();
        let bases = test_bases();
        for (path, extents) in [(&plain, &[Exact, Tree, Visible, Children, Below, Glob][..]), (&glob, &[Glob, Exact, Children])] {
            for extent in extents {
                let said = (own.match_target(&make_target(path, *extent), &bases), own.covers_target(&make_target(path, *extent), &bases));
                let wanted = (hits_form(&own, path, *extent, &bases), covers_form(&own, path, *extent, &bases));
                prop_assert_eq!(said, wanted, "{} on {} as {:?}", pattern, path, extent);
            }
        }
    }
}

#[test]
fn what_took_for_ever_takes_no_time() {
    let deep = "/a".repeat(4000);
    for pattern in ["/", "", "./", "~/"].map(|start| format!("{start}{}z", "**/a/".repeat(30))) {
        let own = PathPattern::parse(&pattern).unwrap();
        for extent in [Extent::Exact, Extent::Tree, Extent::Glob] {
            assert_ne!(
                own.match_target(&make_target(&deep, extent), &test_bases()),
                Truth::Yes,
                "{pattern}"
            );
            assert!(!own.covers_target(&make_target(&deep, extent), &test_bases()), "{pattern}");
        }
        for glob in ["/**/a", "/*/a", "/a/**/b*"].map(|part| part.repeat(3000)) {
            own.match_target(&make_target(&glob, Extent::Glob), &test_bases());
        }
    }
}

#[test]
fn adjacent_gaps_are_one_and_long_patterns_a_fault() {
    let long = PathPattern::parse(&format!("/{}z", "**/".repeat(50_000))).unwrap();
    assert_eq!(long, PathPattern::parse("/**/z").unwrap());
    assert!(PathPattern::parse(&"/a".repeat(64)).is_ok());
    assert_eq!(PathPattern::parse(&"/a".repeat(65)).unwrap_err(), "more than 64 components");
    assert!(PathPattern::parse(&"*a".repeat(3000)).is_err());
}
