//! Programs that list files: what their words say of where these lie.

use super::options::{Parsed, parse_arguments};
use super::table::{Program, mark};
use crate::effect::value::Value;

/// Does no argument lead out of the directory?
pub fn stays_below(args: &[Value]) -> bool {
    args.iter().all(|a| {
        a.text()
            .is_some_and(|t| !t.starts_with(['/', '~']) && !t.contains("=/") && !t.contains(".."))
    })
}

/// What lies at a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A directory.
    Directory,
    /// Anything else.
    File,
    /// Nobody knows.
    Unknown,
}

/// What a search prints by its options: `grep -l`, `rg -n`, `git grep -l`.
pub struct Search<'a> {
    name: &'a str,
    parsed: Parsed,
    /// Where it looks.
    pub paths: Vec<&'a Value>,
}

impl<'a> Search<'a> {
    /// The search that a program's arguments ask for.
    pub fn read(name: &'a str, args: &'a [Value], own: &'static [Program]) -> Option<Search<'a>> {
        let parsed = parse_arguments(name, args, own);
        let first = parsed.subs + usize::from(!parsed.has_mark(mark::NO_FIRST));
        let paths = parsed.operands.iter().skip(first).map(|at| &args[*at]).collect();
        parsed.program?;
        Some(Search { name, parsed, paths })
    }

    fn has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.parsed.find_option(name).is_some())
    }

    /// Are all of its options such as the table has?
    pub fn is_known(&self) -> bool {
        self.parsed.options.iter().all(|option| option.spec.is_some())
    }

    /// Does it print the names of files, and nothing else?
    pub fn lists(&self) -> bool {
        match self.name {
            // There `-L` follows links.
            "rg" => self.has(&["-l", "--files-without-match", "--files"]),
            _ => self.has(&["-l", "-L", "--name-only"]),
        }
    }

    /// Does it print nothing?
    pub fn is_quiet(&self) -> bool {
        self.has(&["-q"])
    }

    /// Has every line a number in front, behind the name if there is one?
    pub fn is_numbered(&self) -> bool {
        self.has(&["-n"])
    }

    /// Do its lines begin with the file's name and a colon, where there is a name?
    pub fn may_begin_with_names(&self) -> bool {
        let other = match self.name {
            "rg" => &["-I", "-A", "-B", "-C", "-0", "--json", "--heading", "-p", "--passthru"][..],
            "git" => &["-h", "-A", "-B", "-C", "-z", "--heading", "--break", "-p", "-W"],
            _ => &["-h", "-A", "-B", "-C", "-Z", "-T", "-v"],
        };
        self.is_known() && !self.is_quiet() && !self.has(other)
    }

    /// Is it sure that a name stands in front, or by a glob's will a number? Of one file alone none is printed.
    pub fn names_files(&self, fed: bool, kind: impl FnMut(&Value) -> Place) -> bool {
        // Without a path these read what they are fed.
        let reads = self.paths.is_empty() && fed;
        let trees = matches!(self.name, "rg" | "ag") && !reads || self.has(&["-r", "-R"]);
        let numbered = self.is_numbered();
        let mut places = self.paths.iter().copied().map(kind);
        let several = match self.paths[..] {
            [one] => one.is_glob() && numbered,
            _ => self.paths.len() > 1,
        };
        self.may_begin_with_names()
            && (self.name == "git"
                || self.has(&["-H"])
                || several
                || trees
                    && places.all(|place| {
                        place == Place::Directory || place == Place::Unknown && numbered
                    }))
    }

    /// Something below of where it looks.
    pub fn below(&self) -> Option<Value> {
        let below = |path: &&Value| stays_below(std::slice::from_ref(*path));
        match &self.paths[..] {
            paths if paths.iter().all(below) => Some(Value::known(".", 0..0).unknown_below()),
            [one] if one.plain_text().is_some() => Some(one.unknown_below()),
            _ => None,
        }
    }
}

/// Does git print nothing but one kind of line about the files that have changed (`git diff --name-only`)? `git show` tells of
/// the commit as well, unless it is told not to.
pub fn shows_only(verb: &str, rest: &[&str], option: &str) -> bool {
    let silent = ["--format=", "--pretty=", "--format=format:", "--pretty=format:"];
    let shows = match verb {
        "diff" | "diff-tree" | "diff-index" => true,
        "show" | "log" => rest.iter().any(|word| silent.contains(word)),
        "stash" => rest.first() == Some(&"show"),
        _ => false,
    };
    shows && rest.contains(&option) && !rest.contains(&"--no-index")
}

/// Does git print nothing but names of commits and branches, or dates without blanks? They hold no `..` and no quote.
pub fn names_only(words: &[&str]) -> bool {
    const PARTS: &[&str] =
        &["%H", "%h", "%T", "%t", "%at", "%ct", "%as", "%cs", "%aI", "%cI", "%(refname:short)"];
    let shaped = |word: &str| {
        let format = word.strip_prefix("--format=").or(word.strip_prefix("--pretty="));
        format.is_some_and(|f| PARTS.contains(&f.strip_prefix("format:").unwrap_or(f)))
    };
    let plain = |word: &str| {
        let chosen = ["--since=", "--until=", "--no-merges", "--merges", "--reverse", "--all"];
        !word.starts_with('-')
            || word == "--"
            || shaped(word)
            || word[1..].bytes().all(|b| b.is_ascii_digit() || b == b'n')
            || chosen.iter().any(|start| word.starts_with(start))
    };
    match words {
        ["rev-parse", rest @ ..] => {
            let plain = |a: &str| {
                !a.starts_with('-') && !a.contains("..")
                    || a.starts_with("--short")
                    || matches!(a, "--abbrev-ref" | "--verify")
            };
            !rest.is_empty() && rest.iter().all(|word| plain(word))
        }
        ["branch", "--show-current"] | ["describe", ..] | ["tag"] => true,
        ["merge-base" | "rev-list", rest @ ..] => rest.iter().all(|word| plain(word)),
        ["log" | "branch" | "for-each-ref", rest @ ..] => {
            rest.iter().any(|word| shaped(word)) && rest.iter().all(|word| plain(word))
        }
        _ => false,
    }
}

/// The directory below which all files lie whose names a command prints; None where it prints anything else.
pub fn listed_below(words: &[String], own: &'static [Program]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    let name = first.rsplit('/').next()?;
    let args: Vec<Value> = rest.iter().map(|word| Value::known(word.as_str(), 0..0)).collect();
    let plain: Vec<&str> = rest.iter().map(String::as_str).collect();
    let here = || Some(".".to_string());
    let other = |starts: &[&str]| plain.iter().any(|a| starts.iter().any(|own| a.starts_with(own)));
    match (name, &plain[..]) {
        ("git", ["ls-files", ..]) if stays_below(&args) && !other(&["-s", "--stage"]) => here(),
        ("git", [verb, more @ ..]) if shows_only(verb, more, "--name-only") => here(),
        ("fd" | "fdfind", _) if stays_below(&args) && !other(&["-x", "-X", "--exec"]) => here(),
        ("find", [start, tests @ ..])
            if !start.starts_with('-')
                && tests.first().is_none_or(|test| test.starts_with(['-', '(', '!']))
                && !other(&["-printf", "-exec", "-ok", "-ls", "-fls", "-files0", "-D"]) =>
        {
            Some((*start).to_string())
        }
        ("git", ["grep", ..]) | ("grep" | "egrep" | "fgrep" | "rg" | "ag", _) => {
            let search = Search::read(name, &args, own)?;
            let below = search.below().filter(|_| search.lists() && search.is_known())?;
            Some(below.prefix()?.to_string())
        }
        _ => None,
    }
}
