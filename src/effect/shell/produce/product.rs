//! What single programs print: the text itself, or the shape of its lines.

use super::super::state::StateKey;
use super::super::{Feed, Walker, listing};
use crate::effect::Extent;
use crate::effect::decode;
use crate::effect::emitter::Spot;
use crate::effect::guarded;
use crate::effect::path::{join, normalise_path, split};
use crate::effect::program::{code, special};
use crate::effect::value::{Printer, Text, Value};
use crate::glob;
use crate::limits::Cap;

/// Arguments as text; what is not known is empty.
fn known_texts(args: &[Value]) -> Vec<String> {
    args.iter().map(|a| a.text().unwrap_or_default().to_string()).collect()
}

impl Walker<'_> {
    /// What find prints, with the guarded files that are surely among it.
    fn found_by(&mut self, args: &[Value]) -> Option<Feed> {
        let feed = listing::find_listing(args)?;
        if self.frame.only_looked_at {
            return Some(feed);
        }
        let met = special::printed_guarded_files(&mut self.out, args);
        if met.is_empty() {
            return Some(feed);
        }
        let (some, names) = match feed {
            Feed::Lines(some) => (some, Vec::new()),
            Feed::Found(some, names) => (some, names),
            Feed::Whole(some, all) => (some, all.into_iter().collect()),
            Feed::Tree(start) => (start.unknown_below(), vec![start]),
            other => return Some(other),
        };
        Some(Feed::Found(some, names.into_iter().chain(met).collect()))
    }

    /// What a decoder prints is remembered: running it stays the one effect that nobody has read.
    fn decoded_feed(&mut self, text: Option<String>) -> Option<Feed> {
        let text = text?;
        if !text.trim().is_empty() && Cap::Decoded.admits(self.decodings.len() + 1) {
            self.decodings.push(text.trim().to_string());
        }
        Some(Feed::Text(text))
    }

    /// What one program prints, where its arguments and its input tell.
    pub(super) fn product_of(
        &mut self,
        words: &[Value],
        fed: &Feed,
        several: bool,
    ) -> Option<Feed> {
        let name = words.first()?.plain_text()?.rsplit('/').next()?.to_string();
        let args = &words[1..];
        let flag = |names: &[&str]| args.iter().any(|a| names.contains(&a.known_start()));
        let operands: Vec<&Value> =
            args.iter().filter(|a| !a.known_start().starts_with('-')).collect();
        let text = if let Feed::Text(text) = fed { Some(&**text) } else { None };
        match name.as_str() {
            "echo" => decode::echo_output(args).map(Feed::Text),
            "printf" if args.first().and_then(Value::plain_text) == Some("-v") => {
                Some(Feed::Text(String::new()))
            }
            "printf" => decode::printf_output(args).map(Feed::Text),
            "xargs" if args.is_empty() => passed_through(fed),
            "cat" | "tee" => {
                let files: Vec<&Value> =
                    args.iter().filter(|a| a.plain_text() != Some("-")).collect();
                match (name.as_str(), &files[..]) {
                    ("cat", [file]) if args.len() == 1 => self.file_text(file),
                    ("cat", [_, ..]) => None,
                    _ => passed_through(fed),
                }
            }
            "base64" if flag(&["-d", "-D", "--decode"]) && operands.is_empty() => {
                self.decoded_feed(text.and_then(decode::decode_base64))
            }
            "xxd" if flag(&["-r", "-rp"]) && flag(&["-p", "-rp", "-ps"]) && operands.is_empty() => {
                self.decoded_feed(text.and_then(decode::decode_hex))
            }
            "rev" if args.is_empty() => {
                let backwards = |line: &str| line.chars().rev().chain(['\n']).collect::<String>();
                self.decoded_feed(text.map(|text| text.lines().map(backwards).collect()))
            }
            "find" | "fd" | "fdfind" | "ls" | "grep" | "rg" | "egrep" | "ag" | "git"
                if args.iter().any(|a| a.text().is_none()) && name != "find" =>
            {
                None
            }
            "find" => self.found_by(args),
            // Cmdlets hand objects on; for what takes them they are paths.
            name if code::lists_here(name, &known_texts(args)) => Some(listing::anything_below()),
            name if code::passes_objects(name) => match fed {
                Feed::Lines(_) => Some(fed.clone()),
                _ => None,
            },
            "fd" | "fdfind" => listing::stays_below(args).then(listing::anything_below),
            "git" => self.git_prints(args),
            "ls" => self.ls_prints(args, &operands),
            "grep" | "rg" | "egrep" | "ag" if listing::names_files(&name, args) => {
                listing::stays_below(&args[1..]).then(listing::anything_below)
            }
            // In front of a count stands the file's name where there are several.
            "grep" | "egrep" | "fgrep"
                if flag(&["-c"])
                    && args.len() == operands.len() + 1
                    && operands.len() < 3
                    && operands.iter().all(|operand| operand.plain_text().is_some()) =>
            {
                Some(Feed::Numbers)
            }
            "sort" | "uniq" | "head" | "tail" | "grep" | "egrep" | "rg" | "shuf" | "tac" => {
                match fed {
                    _ if !listing::whole_lines(&name, args, &operands) => None,
                    Feed::Here | Feed::Whole(..) | Feed::Tree(_)
                        if matches!(name.as_str(), "sort" | "uniq" | "tac" | "shuf") =>
                    {
                        Some(fed.clone())
                    }
                    Feed::Here => Some(Feed::Names),
                    Feed::Whole(some, _) => Some(Feed::Lines(some.clone())),
                    Feed::Tree(start) => Some(Feed::Lines(start.unknown_below())),
                    Feed::Lines(_) | Feed::Found(..) | Feed::Names | Feed::Numbers => {
                        Some(fed.clone())
                    }
                    _ => None,
                }
            }
            "wc" if !operands.is_empty() => None,
            "wc" | "nproc" | "pidof" => Some(Feed::Numbers),
            "pgrep" if !flag(&["-l", "-a", "-al", "-la"]) => Some(Feed::Numbers),
            "seq"
                if args
                    .iter()
                    .all(|a| a.plain_text().is_some_and(|t| t.parse::<f64>().is_ok())) =>
            {
                Some(Feed::Numbers)
            }
            "id" if flag(&["-u", "-g"]) => Some(Feed::Numbers),
            "id" if !flag(&["-un"]) => None,
            "whoami" | "logname" | "id" => Some(self.user_name_feed()),
            "date" => args
                .iter()
                .all(|a| {
                    a.plain_text().is_some_and(|t| {
                        !t.contains("..") && !t.contains("%D") && !t.contains("%x")
                    }) && !a.known_start().contains('/')
                })
                .then_some(Feed::Names),
            "hostname" | "arch" | "uuidgen" if operands.is_empty() => Some(Feed::Names),
            "uname" if !flag(&["-a", "--all", "-o", "-v"]) => Some(Feed::Names),
            "pwd" => self.cwd().map(|cwd| Feed::Text(format!("{cwd}\n"))),
            "mktemp" => mktemp_output(args, self.out.place.directory_variable("TMPDIR")),
            // Its path: the name stands for it, unless it is cut at slashes.
            "which" | "-v" | "type" | "whence" | "where"
                if operands[..].iter().any(|one| one.plain_text() == Some(guarded::NAME))
                    && (name != "type" || flag(&["-p", "-P"])) =>
            {
                Some(Feed::Text(format!("{}\n", self.out.own_place())))
            }
            "readlink" | "realpath" if operands.len() == 1 => {
                let only = args.iter().all(|a| {
                    !a.known_start().starts_with('-')
                        || matches!(a.known_start(), "-f" | "-e" | "-m" | "-n" | "-s" | "-q" | "--")
                });
                let known = operands[0]
                    .plain_text()
                    .filter(|text| text.ends_with(&format!("/{}", guarded::NAME)));
                known.filter(|_| only).map(|text| Feed::Text(format!("{text}\n")))
            }
            "which" | "-v" if self.state.is_set(&StateKey::Splitting) => None,
            "which" | "-v" => match operands[..] {
                [one] if args.len() == 1 => one.plain_text().map(|t| Feed::Text(t.to_string())),
                _ => None,
            },
            "basename" => match operands[..] {
                _ if several => Some(Feed::Names),
                [one, ref suffix @ ..] if suffix.len() < 2 => match one.plain_text() {
                    Some(text) => {
                        let all = !text.is_empty() && text.bytes().all(|b| b == b'/');
                        let last = if all { "/" } else { split(text.trim_end_matches('/')).1 };
                        let suffix = suffix.first().map_or(Some(""), |s| s.plain_text());
                        match suffix {
                            Some(suffix) => Some(Feed::Text(
                                last.strip_suffix(suffix)
                                    .filter(|l| !l.is_empty())
                                    .unwrap_or(last)
                                    .to_string(),
                            )),
                            None => Some(Feed::Names),
                        }
                    }
                    None => Some(Feed::Names),
                },
                _ => Some(Feed::Names),
            },
            "dirname" => match operands[..] {
                [one] if !several => {
                    let text = match one.plain_text()? {
                        text if !text.is_empty() && text.bytes().all(|b| b == b'/') => {
                            return Some(Feed::Text("/".to_string()));
                        }
                        text => text.trim_end_matches('/'),
                    };
                    let dir = split(text).0;
                    Some(Feed::Text(if dir.is_empty() { "." } else { dir }.to_string()))
                }
                _ => None,
            },
            "realpath" | "readlink" => match operands[..] {
                [one]
                    if (name == "realpath" || flag(&["-f", "-e", "-m"]))
                        && !args.iter().any(|a| a.known_start().starts_with("--rel")) =>
                {
                    let cwd = self.cwd()?;
                    Some(Feed::Text(normalise_path(&join(&cwd, one.plain_text()?))))
                }
                _ => None,
            },
            _ => None,
        }
        .filter(|_| !self.state.is_set(&StateKey::Function(name)))
    }

    fn git_prints(&mut self, args: &[Value]) -> Option<Feed> {
        let plain: Vec<&str> = args.iter().map(Value::known_start).collect();
        match plain[..] {
            ["ls-files", ref rest @ ..] => {
                let listed = listing::stays_below(args).then(listing::anything_below)?;
                let plain = |a: &&&str| !a.starts_with('-') && !a.starts_with(':');
                let named: Vec<Value> =
                    rest.iter().filter(plain).flat_map(|a| self.guarded_like(a)).collect();
                let Feed::Lines(some) = listed else { return Some(listed) };
                Some(if named.is_empty() { Feed::Lines(some) } else { Feed::Found(some, named) })
            }
            // `git grep -l PATTERN`
            ["grep", ref rest @ ..]
                if listing::names_files("grep", &args[1..])
                    && !rest.iter().any(|a| a.starts_with("--no-index")) =>
            {
                Some(listing::anything_below())
            }
            ["diff", ..] if plain.contains(&"--name-only") && !plain.contains(&"--no-index") => {
                Some(listing::anything_below())
            }
            ["rev-parse", "--show-toplevel"] => {
                let project = self.out.place.project.clone();
                let inside = self
                    .cwd()
                    .is_some_and(|cwd| cwd == project || cwd.starts_with(&format!("{project}/")));
                (inside && !project.is_empty()).then_some(Feed::Text(project))
            }
            // Names of commits and branches hold no `..`.
            ["rev-parse", ref rest @ ..]
                if rest.iter().all(|a| {
                    *a == "HEAD"
                        || a.starts_with("--short")
                        || matches!(*a, "--abbrev-ref" | "--verify")
                }) && !rest.is_empty() =>
            {
                Some(Feed::Names)
            }
            ["branch", "--show-current"] | ["describe", ..] => Some(Feed::Names),
            _ => None,
        }
    }

    /// The guarded paths of this directory that a pattern names.
    fn guarded_like(&self, pattern: &str) -> Vec<Value> {
        let Some(cwd) = self.cwd() else { return Vec::new() };
        let path = normalise_path(&join(&cwd, pattern));
        let paths = self.out.place.guarded_paths().into_iter();
        let named = paths.filter(|own| glob::matches(&path, own));
        named.map(|own| Value::known(own, 0..0)).collect()
    }

    /// Of a directory the names; of a file its path, as it was given.
    fn ls_prints(&mut self, args: &[Value], operands: &[&Value]) -> Option<Feed> {
        let plain = args.iter().all(|a| {
            !a.known_start().starts_with('-')
                || matches!(
                    a.known_start(),
                    "-1" | "-d" | "--directory" | "-t" | "-r" | "-tr" | "-1t" | "-S"
                )
        });
        let itself = args.iter().any(|a| matches!(a.known_start(), "-d" | "--directory"));
        match operands {
            _ if !plain => None,
            [] if itself => Some(Feed::Text(".\n".into())),
            [] => Some(Feed::Here),
            [one] if itself => Some(Feed::Lines((*one).clone())),
            // Of directories it lists what is in them.
            [one] if one.is_glob() && one.known_start().ends_with('/') => None,
            [one] if one.is_glob() => Some(Feed::Lines((*one).clone())),
            [one] => match self.out.locate_value(one, Extent::Exact, false) {
                Spot::At(target) if self.out.resolver.is_dir(&target.resolved) => Some(Feed::Names),
                _ => listing::stays_below(args).then(listing::anything_below),
            },
            _ => None,
        }
    }

    fn user_name_feed(&self) -> Feed {
        match self.out.place.home.rsplit('/').next() {
            Some(name) if !name.is_empty() => Feed::Text(format!("{name}\n")),
            _ => Feed::Names,
        }
    }

    /// The text of a file: known if the call wrote it itself.
    fn file_text(&mut self, file: &Value) -> Option<Feed> {
        if let Text::Pipe(at) = file.text {
            return Some(self.pipe_feed(at));
        }
        match self.out.locate_value(file, Extent::Exact, false) {
            Spot::At(target) => match self.out.written.get(&target.resolved) {
                Some(Some(text)) => Some(Feed::Text(text.clone())),
                Some(None) => Some(Feed::Stream(Printer::Stranger)),
                None if target.extent == Extent::Exact => Some(Feed::File(file.clone())),
                None => Some(Feed::Stream(Printer::File)),
            },
            Spot::Stream => passed_through(&self.feed.clone()),
            Spot::Unknown => Some(Feed::Stream(Printer::File)),
        }
    }
}

/// What a command that copies its input prints.
fn passed_through(fed: &Feed) -> Option<Feed> {
    match fed {
        Feed::None => None,
        other => Some(other.clone()),
    }
}

/// A new name below a directory that is known.
fn mktemp_output(args: &[Value], usual: Option<String>) -> Option<Feed> {
    let mut dir = usual.unwrap_or_else(|| "/tmp".to_string());
    for (i, arg) in args.iter().enumerate() {
        let after = i > 0 && matches!(args[i - 1].plain_text(), Some("-p" | "--tmpdir"));
        let text = arg.plain_text().or(arg.prefix())?;
        if after {
            dir = text.to_string();
        } else if let Some(d) = text.strip_prefix("--tmpdir=") {
            dir = d.to_string();
        } else if !text.starts_with('-') {
            let inside = args.iter().any(|a| {
                matches!(a.plain_text(), Some("-t" | "--tmpdir"))
                    || a.known_start().starts_with("-p")
            });
            match text.rsplit_once('/') {
                Some(("", _)) => dir = "/".to_string(),
                Some((d, _)) => dir = d.to_string(),
                None if !inside => dir = ".".to_string(),
                None => {}
            }
        }
    }
    Some(Feed::Lines(Value::begins(format!("{}/", dir.trim_end_matches('/')), 0..0)))
}
