//! Path patterns of rules, and when a target of an effect is one of theirs.
//!
//! Everything is compared by components, never by text: `/etc` is not the beginning of
//! `/etcetera`, and a pattern that names a directory covers what is below it.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::Path;

use crate::effect::look::TouchedLists;
use crate::effect::path::{Resolver, behind, is_below};
use crate::effect::{Extent, Place, Target, windows};
use crate::limits;
use crate::paths::may_be_project;

mod component;
#[cfg(test)]
mod oracle;

use self::component::{
    is_glob_of, is_surely_in, match_below, match_component, meets_at_most, names_only_hidden,
    overlap_globs, part_matches, same_name, shortest_named, split_components, split_glob,
};
use super::Truth;
use super::compiled::{self, Base, Part, Parts};
use super::list::best_match;
use super::needle::path_needle;
use super::packed::{Rest, write_text};
use crate::glob;

pub use crate::effect::path::FOLD;

/// One path pattern of a rule, as its list has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathPattern<'t> {
    base: Base,
    parts: Parts<'t>,
    /// `D/.`: the directory itself or its content as a whole, not what lies below it.
    itself: bool,
}

/// Path patterns with `!x` among them: any that is named, but none that is excluded. A list that only excludes names
/// everything else. They stay as `compiled.rs` has them: a list is asked once or twice in an event, and most of its patterns
/// are told from a path by their first bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathList {
    named: Cow<'static, str>,
    excluded: Cow<'static, str>,
}

impl Part<'_> {
    /// Does it name what begins with a dot, which the shell's globs leave out?
    fn is_hidden(&self) -> bool {
        matches!(self, Part::Literal(text) | Part::Glob(text) if text.starts_with('.'))
    }
}

/// The directories that patterns start from: each as it is called and with symlinks followed.
#[derive(Debug, Clone, Default)]
pub struct Bases {
    home: BaseDir,
    project: BaseDir,
    other_roots: Vec<BaseDir>,
    rooted: OnceCell<bool>,
    /// What lies where the event changes much.
    pub touched: TouchedLists,
}

/// One such directory. The disk is only asked when a pattern starts from it.
#[derive(Debug, Clone, Default)]
struct BaseDir {
    name: String,
    forms: OnceCell<Vec<BaseForm>>,
}

/// A path of a base.
#[derive(Debug, Clone)]
struct BaseForm {
    path: String,
    names: Vec<String>,
}

impl BaseForm {
    fn new(path: String) -> BaseForm {
        let names = split_components(&path).into_iter().map(str::to_string).collect();
        BaseForm { path, names }
    }
}

impl BaseDir {
    fn new(dir: &str) -> BaseDir {
        let name = windows::canonical_path(dir).unwrap_or_else(|| dir.to_string());
        BaseDir { name: name.trim_end_matches('/').to_string(), forms: OnceCell::new() }
    }

    fn all_forms(&self) -> &[BaseForm] {
        self.forms.get_or_init(|| {
            // As targets are resolved; what the C library does allocates and is slower.
            let real = Resolver::default().resolve(&self.name, &self.name);
            let real = (real != self.name).then_some(real);
            std::iter::once(self.name.clone()).chain(real).map(BaseForm::new).collect()
        })
    }
}

impl Bases {
    /// The bases for these two directories.
    pub fn new(home: &str, project: &str) -> Bases {
        let (home, project) = (BaseDir::new(home), BaseDir::new(project));
        Bases { home, project, ..Bases::default() }
    }

    /// Those of a place.
    pub fn of_place(place: &Place) -> Bases {
        let other_roots = place.other_roots.iter().map(|root| BaseDir::new(root)).collect();
        Bases { other_roots, ..Bases::new(&place.home, &place.project) }
    }

    /// Is the project one, and neither `/`, a home nor the system's? Else no allow and no `unless`
    /// speaks of all that lies below it.
    pub fn has_real_project(&self) -> bool {
        *self.rooted.get_or_init(|| {
            let homes = self.home.all_forms();
            self.project.all_forms().iter().all(|root| {
                let is_project =
                    |home: &BaseForm| may_be_project(Path::new(&root.path), Path::new(&home.path));
                homes.iter().all(is_project)
            })
        })
    }

    /// The same for a deny or an ask: what a project's rule says of it holds in a project within it, too.
    fn hit_forms_of(&self, base: Base) -> impl Iterator<Item = &BaseForm> {
        let others = if base == Base::Project { &self.other_roots[..] } else { &[] };
        self.forms_of(base).iter().chain(others.iter().flat_map(BaseDir::all_forms))
    }

    /// Does the project or the home lie there, or below?
    pub fn lie_in(&self, target: &Target) -> bool {
        let dirs = [target.lexical.as_str(), target.resolved.as_str()];
        [&self.home, &self.project].into_iter().filter(|base| !base.name.is_empty()).any(|base| {
            dirs.iter().any(|dir| behind(&base.name, dir.trim_end_matches('/')).is_some())
        })
    }

    /// Does it lie in a real project, links followed?
    pub fn holds_in_project(&self, target: &Target) -> bool {
        let below = |path: &String| {
            self.project.all_forms().iter().any(|root| behind(path, &root.path).is_some())
        };
        self.has_real_project() && below(&target.lexical) && below(&target.resolved)
    }

    /// What a pattern from this base starts from; nothing for the root and for patterns that start anywhere.
    fn forms_of(&self, base: Base) -> &[BaseForm] {
        const ROOT: &[BaseForm] = &[BaseForm { path: String::new(), names: Vec::new() }];
        match base {
            Base::Home => self.home.all_forms(),
            Base::Project => self.project.all_forms(),
            Base::Root | Base::Drive | Base::Anywhere => ROOT,
        }
    }
}

impl<'t> PathPattern<'t> {
    /// A pattern that was compiled before.
    pub fn from_compiled(compiled: &'t str) -> PathPattern<'t> {
        match compiled::read_base(compiled) {
            Some((base, itself, parts)) => PathPattern { base, parts, itself },
            // What cannot be read covers nothing and hits everything.
            None => PathPattern { base: Base::Anywhere, parts: Parts::DAMAGED, itself: false },
        }
    }

    /// Could the effect on this target be one on a path that the pattern names? For deny and ask:
    /// the lexical or the resolved form suffices. `Maybe` is what the design calls possible.
    pub fn match_target(&self, target: &Target, bases: &Bases) -> Truth {
        self.hits_forms(&Split::new(target), bases)
    }

    /// Where below a directory lies what the pattern names, if it names one place: a path, or all of a directory. Whether
    /// there is such a place, the disk knows.
    fn place_in<'b>(
        &'b self,
        target: &Target,
        bases: &'b Bases,
    ) -> impl Iterator<Item = Target> + 'b {
        let dirs = [target.lexical.clone(), target.resolved.clone()];
        let fixed = matches!(self.base, Base::Root | Base::Home | Base::Project) && !self.itself;
        let forms = bases.hit_forms_of(self.base).filter(move |_| fixed);
        forms.filter_map(move |base| {
            let (mut path, mut parts) = (base.path.clone(), self.parts);
            while let Some((Part::Literal(name), rest)) = parts.split_first() {
                path = format!("{path}/{name}");
                parts = rest;
            }
            let whole = match parts.split_first() {
                None => true,
                Some((part, rest)) => rest.is_empty() && is_surely_in(&part),
            };
            let below = dirs.iter().any(|dir| is_below(&path, dir.trim_end_matches('/')));
            (whole && below).then(|| Target {
                lexical: path.clone(),
                resolved: path,
                extent: Extent::Tree,
            })
        })
    }

    fn hits_forms(&self, target: &Split<'_>, bases: &Bases) -> Truth {
        let mut truth = Truth::No;
        for path in &target.forms {
            truth = truth.or(self.hits_form(path, target.extent, bases));
            if truth == Truth::Yes {
                break;
            }
        }
        truth
    }

    /// Does the pattern cover everything that the effect on this target can touch? For allow and
    /// unless: both forms must lie within.
    pub fn covers_target(&self, target: &Target, bases: &Bases) -> bool {
        self.covers_forms(&Split::new(target), bases)
    }

    fn covers_forms(&self, target: &Split<'_>, bases: &Bases) -> bool {
        target.forms.iter().all(|path| self.covers_form(path, target.extent, bases))
    }

    fn covers_form(&self, path: &SplitPath<'_>, extent: Extent, bases: &Bases) -> bool {
        if self.base == Base::Project && !bases.has_real_project() {
            return false;
        }
        limits::spend_steps(path.names.len() * 8);
        let covers = |rest: &[&str]| {
            // `*.rs` under the pattern `src/*.rs`: the same glob covers itself.
            if extent == Extent::Glob && is_glob_of(self.parts, rest) {
                return true;
            }
            // All else in D (`D/*`) is covered when D is, or when the pattern ends in it.
            let named = &rest[..path.literal_of(rest)];
            let whole = self.itself && (extent != Extent::Exact || path.names.is_empty());
            !whole && self.surely_names(named)
        };
        bases.forms_of(self.base).iter().any(|base| match relate_to_base(&base.names, path) {
            Inside::Below(rest) => !self.is_elsewhere(path, rest) && covers(rest),
            Inside::Above(_) | Inside::Elsewhere | Inside::Meets => false,
        })
    }

    /// Does every path that this glob names end in what the pattern names (`**/.env.example`)?
    fn ends_in_pattern(&self, target: &Split<'_>) -> bool {
        let ends = |path: &SplitPath<'_>| {
            limits::spend_steps(path.names.len() * 8);
            let literal = path.names.iter().rev().take_while(|part| !glob::is_glob(part)).count();
            self.surely_names(&path.names[path.names.len() - literal..])
        };
        let anywhere = self.base == Base::Anywhere && target.extent == Extent::Glob;
        anywhere && target.forms.iter().all(ends)
    }

    /// Is its last part this file's name, in more than wildcards?
    pub fn singles_out(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        match self.parts.last() {
            Some(Part::Literal(text)) => text == name,
            Some(Part::Glob(text) | Part::Folded(text)) => {
                text.contains(|c: char| c.is_alphanumeric()) && glob::matches(text, name)
            }
            Some(Part::Any | Part::Damaged) | None => false,
        }
    }

    /// What every path that the pattern names has in common: see [`super::needle::path_needle`].
    pub fn common_needle(&self) -> String {
        let text = |part| match part {
            Part::Literal(text) | Part::Glob(text) | Part::Folded(text) => text,
            Part::Any | Part::Damaged => "**",
        };
        let parts: Vec<&str> = self.parts.map(text).collect();
        let base = match self.base {
            Base::Root => "/",
            Base::Home => "~/",
            Base::Project => "./",
            Base::Drive | Base::Anywhere => "",
        };
        let end = match (self.itself, parts.is_empty()) {
            (true, false) => "/.",
            (true, true) => ".",
            _ => "",
        };
        path_needle(&format!("{base}{}{end}", parts.join("/")))
    }

    fn hits_form(&self, path: &SplitPath<'_>, extent: Extent, bases: &Bases) -> Truth {
        limits::spend_steps(path.names.len() * 8);
        let hits = |base: &BaseForm| match relate_to_base(&base.names, path) {
            Inside::Elsewhere => Truth::No,
            // Most of a long list lies below such a target: one look at the base tells it.
            Inside::Above([_, _, ..]) if matches!(extent, Extent::Tree | Extent::Children) => {
                Truth::Maybe
            }
            Inside::Above(left) => match_above(left, self.parts, extent),
            Inside::Below([]) if matches!(extent, Extent::Tree | Extent::Children) => {
                self.hits_within()
            }
            Inside::Below(rest) if self.is_elsewhere(path, rest) => {
                match (self.base, extent) {
                    // Whatever has its name may lie below.
                    (Base::Anywhere, Extent::Tree | Extent::Children | Extent::Below) => {
                        Truth::Maybe
                    }
                    (Base::Anywhere, Extent::Visible) => may_lie_below_visibly(self.parts),
                    _ => Truth::No,
                }
            }
            Inside::Below(rest) => self.hits_parts(rest, extent),
            Inside::Meets => self.hits_glob(&path.names, |parts| {
                base.names.iter().map(|name| Part::Literal(name)).chain(parts).collect()
            }),
        };
        bases.hit_forms_of(self.base).map(hits).fold(Truth::No, Truth::or)
    }

    /// Does the pattern surely name nothing of what is left of the path, by its first component? That is told
    /// before the others are read, and most patterns name other places.
    fn is_elsewhere(&self, path: &SplitPath<'_>, rest: &[&str]) -> bool {
        let (literal, globs) = rest.split_at(path.literal_of(rest));
        let (names, globs) = match self.base {
            Base::Anywhere if !globs.contains(&"**") => (literal, globs),
            Base::Anywhere => return false,
            _ if literal.is_empty() => return false,
            _ => (&literal[..1], &[][..]),
        };
        self.parts.split_first().is_some_and(|(first, _)| {
            !matches!(first, Part::Any | Part::Damaged)
                && !names.iter().any(|name| part_matches(&first, name))
                && !globs.iter().any(|name| match_component(&first, name) != Truth::No)
        })
    }

    /// Does it hit a directory that is touched with all in it, where that is the very one it starts from? Most of a long
    /// list starts from `/` or anywhere.
    fn hits_within(&self) -> Truth {
        match self.parts.split_first() {
            None | Some((Part::Damaged, _)) => Truth::Yes,
            Some((part, rest)) => {
                let direct = self.base != Base::Anywhere && rest.is_empty() && is_surely_in(&part);
                if direct { Truth::Yes } else { Truth::Maybe }
            }
        }
    }

    fn hits_parts(&self, path: &[&str], extent: Extent) -> Truth {
        match extent {
            Extent::Exact => Truth::from(self.names_path(path)),
            Extent::Glob if self.is_far_fetched(path) => Truth::Maybe,
            Extent::Glob => self.hits_glob(path, |parts| parts),
            Extent::Tree | Extent::Visible | Extent::Children | Extent::Below => {
                if self.names_path(path) {
                    // Below a directory is not the directory, unless the unknown part is empty.
                    let empty = self.itself && extent == Extent::Below;
                    if empty { Truth::Maybe } else { Truth::Yes }
                } else if self.base == Base::Anywhere {
                    // `.a` is named by `.a/x`, wherever it is; anything else of that name may
                    // lie below.
                    let truth = match extent {
                        Extent::Visible => may_lie_below_visibly(self.parts),
                        _ => Truth::Maybe,
                    };
                    (0..path.len()).fold(truth, |truth, start| {
                        truth.or(match_below(self.parts, &path[start..], extent))
                    })
                } else {
                    match_below(self.parts, path, extent)
                }
            }
        }
    }

    /// Is it one that could lie anywhere below such a glob, and no more than that?
    fn is_far_fetched(&self, path: &[&str]) -> bool {
        self.base == Base::Anywhere && !self.itself && meets_at_most(self.parts, path)
    }

    /// Does it meet the glob, with what is made of its components?
    fn hits_glob<'p>(
        &'p self,
        path: &[&str],
        place: impl FnOnce(Vec<Part<'p>>) -> Vec<Part<'p>>,
    ) -> Truth {
        match self.parts.read_all().map(place) {
            // What cannot be read could be any.
            None => Truth::Yes,
            // Anywhere it is what the glob's last components name.
            Some(parts) if self.itself && self.base == Base::Anywhere => path
                .len()
                .checked_sub(parts.len())
                .map_or(Truth::No, |above| overlap_globs(&parts, &path[above..], false)),
            Some(parts) if self.itself && parts.len() != path.len() => Truth::No,
            Some(parts) => overlap_globs(&parts, path, self.base == Base::Anywhere),
        }
    }

    /// Do its components name the path: it or, unless `D/.` is meant, a directory above it?
    fn names_path(&self, path: &[&str]) -> bool {
        shortest_named(self.parts, path, self.base == Base::Anywhere)
            .is_some_and(|named| !self.itself || named == path.len())
    }

    /// The same where it can be read.
    fn surely_names(&self, path: &[&str]) -> bool {
        self.names_path(path) && self.parts.clone().all(|part| part != Part::Damaged)
    }
}

/// May what these components name lie somewhere below a directory whose hidden files are left out?
fn may_lie_below_visibly(parts: Parts<'_>) -> Truth {
    Truth::from(!names_only_hidden(parts)).and(Truth::Maybe)
}

/// How a path lies to a directory.
enum Inside<'p> {
    /// There, or below it: what is left of the path.
    Below(&'p [&'p str]),
    /// Above it: what is left of the directory.
    Above(&'p [String]),
    /// Neither.
    Elsewhere,
    /// That takes more than a look: the path is a glob.
    Meets,
}

fn relate_to_base<'p>(base: &'p [String], path: &'p SplitPath<'p>) -> Inside<'p> {
    if base.is_empty() {
        return Inside::Below(&path.names);
    }
    let (literal, globs) = path.names.split_at(path.literal);
    let shared = base.iter().zip(literal).take_while(|(own, name)| same_name(own, name)).count();
    match (&base[shared..], &literal[shared..]) {
        ([], _) => Inside::Below(&path.names[shared..]),
        (left, []) if globs.is_empty() => Inside::Above(left),
        (_, []) => Inside::Meets,
        _ => Inside::Elsewhere,
    }
}

/// What lies above a pattern's base is touched: as `below` has it of what is left of both.
fn match_above(left: &[String], parts: Parts<'_>, extent: Extent) -> Truth {
    let child = left.len() == 1 && parts.is_empty();
    match extent {
        Extent::Exact | Extent::Glob => Truth::No,
        Extent::Visible
            if left.iter().any(|name| name.starts_with('.')) || names_only_hidden(parts) =>
        {
            Truth::No
        }
        Extent::Tree | Extent::Visible | Extent::Children if child => Truth::Yes,
        _ => Truth::Maybe,
    }
}

/// A target taken apart, once for all patterns of a list.
struct Split<'t> {
    /// As it is called and, where that is another, as it is resolved.
    forms: Vec<SplitPath<'t>>,
    extent: Extent,
}

impl<'t> Split<'t> {
    fn new(target: &'t Target) -> Split<'t> {
        let mut forms = vec![SplitPath::new(&target.lexical, target.extent)];
        if target.lexical != target.resolved {
            forms.push(SplitPath::new(&target.resolved, target.extent));
        }
        Split { forms, extent: target.extent }
    }
}

/// The components of a path or of a glob.
struct SplitPath<'t> {
    names: Vec<&'t str>,
    /// How many of the first ones stand for themselves.
    literal: usize,
}

impl<'t> SplitPath<'t> {
    fn new(path: &'t str, extent: Extent) -> SplitPath<'t> {
        let names = split_glob(path, extent);
        let plain = |name: &&&str| extent != Extent::Glob || !glob::is_glob(name);
        let literal = names.iter().take_while(plain).count();
        SplitPath { names, literal }
    }

    /// How many of the first ones of what is left of it stand for themselves.
    fn literal_of(&self, rest: &[&str]) -> usize {
        (self.literal + rest.len()).saturating_sub(self.names.len())
    }
}

/// The target that is exactly this file or directory.
pub fn exact_target(path: &str) -> Target {
    Target { lexical: path.to_string(), resolved: path.to_string(), extent: Extent::Exact }
}

impl PathList {
    /// A list that asks for nothing.
    pub const EMPTY: PathList = PathList { named: Cow::Borrowed(""), excluded: Cow::Borrowed("") };

    /// Lists that were compiled before: what is named, and what is excluded.
    pub fn from_compiled(named: &'static str, excluded: &'static str) -> PathList {
        PathList { named: named.into(), excluded: excluded.into() }
    }

    /// A list of one pattern.
    ///
    /// # Errors
    /// Why it cannot be meant.
    pub fn parse(text: &str) -> Result<PathList, String> {
        let mut list = PathList::default();
        list.push(false, &compiled::compile_path(text)?);
        Ok(list)
    }

    /// Adds a compiled pattern.
    pub fn push(&mut self, excludes: bool, compiled: &str) {
        let list = if excludes { &mut self.excluded } else { &mut self.named };
        write_text(compiled, list.to_mut());
    }

    /// Is nothing asked for?
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.excluded.is_empty()
    }

    /// What is named; nothing where everything is that is not excluded.
    pub fn named(&self) -> impl Iterator<Item = PathPattern<'_>> {
        read_list(&self.named)
    }

    /// What is excluded.
    pub fn excluded(&self) -> impl Iterator<Item = PathPattern<'_>> {
        read_list(&self.excluded)
    }

    /// The places below that directory that the list names, each a path or all of a directory.
    pub fn places_in(&self, target: &Target, bases: &Bases) -> Vec<Target> {
        self.named().flat_map(|path| path.place_in(target, bases).collect::<Vec<_>>()).collect()
    }

    /// Could the effect be on one of these paths? For deny and ask.
    pub fn match_target(&self, target: &Target, bases: &Bases) -> Truth {
        let target = Split::new(target);
        let excludes =
            |p: PathPattern<'_>| p.covers_forms(&target, bases) || p.ends_in_pattern(&target);
        match best_match(self.named().map(|p| p.hits_forms(&target, bases))) {
            Truth::No => Truth::No,
            _ if self.excluded().any(excludes) => Truth::No,
            best => best,
        }
    }

    /// Is the whole target on these paths: each form lies where some pattern says (`/tmp/x`, which is
    /// `/private/tmp/x`), and no exclusion could touch it? For allow and unless.
    pub fn covers_target(&self, target: &Target, bases: &Bases) -> bool {
        let target = Split::new(target);
        let lies = |path| self.named().any(|p| p.covers_form(path, target.extent, bases));
        (self.named.is_empty() || target.forms.iter().all(lies))
            && !self.excluded().any(|p| p.hits_forms(&target, bases) != Truth::No)
    }
}

/// The patterns of such a list. Written out, for an event may go through a thousand of them.
fn read_list(list: &str) -> impl Iterator<Item = PathPattern<'_>> {
    let mut rest = Rest::from_text(list);
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let text = rest.read_text().unwrap_or_else(|| {
            rest = Rest::from_text("");
            ""
        });
        Some(PathPattern::from_compiled(text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bases() -> Bases {
        Bases::new("/home/dev", "/home/dev/project")
    }

    fn target(path: &str, extent: Extent) -> Target {
        Target { lexical: path.into(), resolved: path.into(), extent }
    }

    impl PathPattern<'static> {
        /// Reads a pattern.
        pub(super) fn parse(text: &str) -> Result<PathPattern<'static>, String> {
            compiled::compile_path(text)
                .map(|compiled| PathPattern::from_compiled(Box::leak(compiled.into_boxed_str())))
        }
    }

    fn hits(pattern: &str, path: &str, extent: Extent) -> Truth {
        PathPattern::parse(pattern).unwrap().match_target(&target(path, extent), &bases())
    }

    #[test]
    fn components_not_text() {
        use Extent::Exact;
        assert_eq!(hits("/etc", "/etcetera", Exact), Truth::No);
        assert_eq!(hits("/etc", "/etc/passwd", Exact), Truth::Yes);
        assert_eq!(hits(".env", "/a/b/.env", Exact), Truth::Yes);
        assert_eq!(hits(".env", "/a/b/.envrc", Exact), Truth::No);
        assert_eq!(hits(".env.*", "/a/.env.local", Exact), Truth::Yes);
        assert_eq!(hits("~/.ssh/*", "/home/dev/.ssh/id", Exact), Truth::Yes);
        assert_eq!(hits("~/.ssh/*", "/home/dev/.ssh", Exact), Truth::No);
        assert_eq!(hits("src/*.rs", "/p/src/a.rs", Exact), Truth::Yes);
        assert_eq!(hits("src/*.rs", "/p/src/b/a.rs", Exact), Truth::No);
        assert_eq!(hits("src/**/*.rs", "/p/src/b/c/a.rs", Exact), Truth::Yes);
        assert_eq!(hits("./", "/home/dev/project/x", Exact), Truth::Yes);
        assert_eq!(hits("./", "/home/dev/projects", Exact), Truth::No);
        assert_eq!(hits("/", "/anything", Exact), Truth::Yes);
    }

    /// Where the session is in no project, nothing is allowed because it lies in that; what lies elsewhere is.
    #[test]
    fn what_is_no_project_covers_nothing() {
        let covers = |pattern: &str, path: &str, project: &str| {
            let bases = Bases::new("/home/dev", project);
            PathPattern::parse(pattern).unwrap().covers_target(&target(path, Extent::Exact), &bases)
        };
        assert!(covers("./", "/home/dev/p/x", "/home/dev/p"));
        for project in ["/home/dev/p", "/home/dev", "/"] {
            assert!(covers("/srv/", "/srv/x", project), "{project}");
            assert!(covers("~/notes/", "/home/dev/notes/x", project), "{project}");
            assert!(covers("*.md", "/srv/x.md", project), "{project}");
        }
        assert!(!covers("./", "/home/dev/x", "/home/dev"));
        assert!(!covers("./", "/x", "/"));
    }

    #[test]
    fn recursion() {
        assert_eq!(hits("~", "/home/dev", Extent::Tree), Truth::Yes);
        assert_eq!(hits("~/.ssh", "/home/dev", Extent::Tree), Truth::Yes);
        assert_eq!(hits(".a/b.json", "/x/.a", Extent::Tree), Truth::Yes);
        assert_eq!(hits(".a/b.json", "/x", Extent::Tree), Truth::Maybe);
        assert_eq!(hits("~/.ssh", "/home", Extent::Tree), Truth::Maybe);
        assert_eq!(hits("~/.ssh", "/srv", Extent::Tree), Truth::No);
        assert_eq!(hits(".env", "/home/dev/project", Extent::Tree), Truth::Maybe);
        assert_eq!(hits("~", "/home/dev", Extent::Children), Truth::Yes);
        // All that lies there, however it is said.
        for pattern in ["~/a/*", "~/a/**", "~/a/", "~/a/x"] {
            assert_eq!(hits(pattern, "/home/dev/a", Extent::Tree), Truth::Yes, "{pattern}");
            assert_eq!(hits(pattern, "/home/dev/a", Extent::Children), Truth::Yes, "{pattern}");
            assert_eq!(hits(pattern, "/home", Extent::Tree), Truth::Maybe, "{pattern}");
        }
        assert_eq!(hits("~/a/*.rs", "/home/dev/a", Extent::Tree), Truth::Maybe);
        assert_eq!(hits("~/a/*/*", "/home/dev/a", Extent::Tree), Truth::Maybe);
    }

    #[test]
    fn what_is_hidden_is_skipped() {
        assert_eq!(hits(".env", "/home/dev/project", Extent::Visible), Truth::No);
        assert_eq!(hits("~/.ssh/*", "/home/dev", Extent::Visible), Truth::No);
        assert_eq!(hits("~/.ssh/*", "/home/dev/.ssh", Extent::Visible), Truth::Yes);
        assert_eq!(hits("*.pem", "/home/dev", Extent::Visible), Truth::Maybe);
        assert_eq!(hits(".env", "/home/dev/.env", Extent::Visible), Truth::Yes);
    }

    #[test]
    fn the_directory_itself() {
        use Extent::{Below, Children, Exact, Tree};
        assert_eq!(hits("~/.", "/home/dev", Tree), Truth::Yes);
        assert_eq!(hits("~/.", "/home", Tree), Truth::Yes);
        assert_eq!(hits("~/.", "/home/dev/x", Tree), Truth::No);
        assert_eq!(hits("~/.", "/home/dev/x", Exact), Truth::No);
        assert_eq!(hits("~/.", "/home/dev", Children), Truth::Yes);
        assert_eq!(hits("~/.", "/home/dev", Below), Truth::Maybe);
        assert_eq!(hits("/.", "/", Tree), Truth::Yes);
        assert_eq!(hits("/.", "/", Children), Truth::Yes);
        assert_eq!(hits("/.", "/tmp/x", Tree), Truth::No);
    }

    #[test]
    fn globs_meet() {
        assert_eq!(hits("/p/.env", "/p/.e*", Extent::Glob), Truth::Yes);
        assert_eq!(hits("/p/.env", "/p/*.txt", Extent::Glob), Truth::No);
        assert_eq!(hits("id_rsa", "/p/src/*", Extent::Glob), Truth::Maybe);
        assert_eq!(hits("id_rsa", "/p/id_*", Extent::Glob), Truth::Yes);
        assert_eq!(hits("a/b/c", "/**", Extent::Glob), Truth::Maybe);
        assert_eq!(hits(".claude/hooks", "/p/**/__pycache__", Extent::Glob), Truth::Maybe);
        assert_eq!(hits("/p/.env", "/p/*", Extent::Glob), Truth::No);
        assert_eq!(hits("*.rs", "/p/src/*.rs", Extent::Glob), Truth::Yes);
    }

    #[test]
    fn what_a_glob_ends_in_is_excluded() {
        let mut patterns = PathList::parse(".env.*").unwrap();
        for excluded in [".env.example", ".env.*.example", "x/y"] {
            patterns.push(true, &compiled::compile_path(excluded).unwrap());
        }
        for (path, truth) in [
            ("/p/**/.env.example", Truth::No),
            ("/p/*/.env.a.example", Truth::No),
            ("/p/**/x/y/.env.a", Truth::No),
            ("/p/**/.env.e*", Truth::Yes),
            ("/p/**/.env.local", Truth::Yes),
            ("/p/.env.example/**/.env.local", Truth::No),
        ] {
            let target = target(path, Extent::Glob);
            assert_eq!(patterns.match_target(&target, &bases()), truth, "{path}");
        }
    }

    #[test]
    fn drives() {
        use Extent::{Children, Exact, Tree};
        for (path, extent) in [("C:/", Tree), ("D:/", Children), ("C:/", Exact)] {
            assert_eq!(hits("?:/.", path, extent), Truth::Yes, "{path}");
        }
        assert_eq!(hits("C:/Users/.", "C:/users", Tree), Truth::Yes);
        assert_eq!(hits("C:/Windows", "C:/WINDOWS/System32", Exact), Truth::Yes);
        assert_eq!(hits("C:/Users/.", "C:/", Tree), Truth::Yes);
        // Nothing of a drive lies below a directory of another system.
        assert_eq!(hits("?:/Users/.", "/home/dev", Tree), Truth::No);
    }

    #[test]
    fn covering_needs_both_forms() {
        let pattern = PathPattern::parse("./").unwrap();
        let mut t = target("/home/dev/project/link", Extent::Exact);
        assert!(pattern.covers_target(&t, &bases()));
        t.resolved = "/etc/passwd".into();
        assert!(!pattern.covers_target(&t, &bases()));
    }
}
