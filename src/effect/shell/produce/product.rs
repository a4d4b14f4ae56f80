//! What single programs print: the text itself, or the shape of its lines.

use super::super::filter::{self, Columns, Handed, Sign};
use super::super::state::StateKey;
use super::super::{Feed, Walker, listing};
use crate::effect::Extent;
use crate::effect::decode;
use crate::effect::emitter::Spot;
use crate::effect::guarded;
use crate::effect::path::{join, normalise_path, split};
use crate::effect::program::listed::Place;
use crate::effect::program::{code, listed, parse_arguments, special};
use crate::effect::value::{Printer, Text, Value};
use crate::glob;
use crate::limits::{self, Cap};

/// Arguments as text; what is not known is empty.
fn known_texts(args: &[Value]) -> Vec<String> {
    args.iter().map(|a| a.text().unwrap_or_default().to_string()).collect()
}

/// What reads its last operand, or where that is missing its standard input.
const FILTERS: &[&str] =
    &["awk", "cat", "cut", "egrep", "grep", "head", "rg", "sed", "sort", "tac", "tail", "uniq"];

/// A call whose output is asked for.
struct Printing<'a> {
    name: &'a str,
    args: &'a [Value],
    /// Those of its arguments that are no options.
    operands: Vec<&'a Value>,
    /// What comes in on its standard input.
    fed: &'a Feed,
    /// It runs several times, each time with other operands.
    several: bool,
}

impl Printing<'_> {
    fn has(&self, names: &[&str]) -> bool {
        self.args.iter().any(|a| names.contains(&a.known_start()))
    }

    /// What it decodes of the text on its standard input.
    fn decoded(&self) -> Option<String> {
        let Feed::Text(text) = self.fed else { return None };
        let backwards = |line: &str| line.chars().rev().chain(['\n']).collect::<String>();
        match self.name {
            "rev" => self.args.is_empty().then(|| text.lines().map(backwards).collect()),
            _ if !self.operands.is_empty() => None,
            "base64" if self.has(&["-d", "-D", "--decode"]) => decode::decode_base64(text),
            "xxd" if self.has(&["-r", "-rp"]) && self.has(&["-p", "-rp", "-ps"]) => {
                decode::decode_hex(text)
            }
            _ => None,
        }
    }

    /// The lines of its standard input that it lets through.
    fn chosen_lines(&self) -> Option<Feed> {
        if !listing::whole_lines(self.name, self.args, &self.operands) {
            return None;
        }
        let all = matches!(self.name, "sort" | "uniq" | "tac" | "shuf");
        match self.fed {
            Feed::Here | Feed::Whole(..) | Feed::Tree(_) if all => Some(self.fed.clone()),
            // All but a few is as good as all.
            Feed::Here | Feed::Whole(..) if self.has(&["-v", "-vE", "-Ev", "--invert-match"]) => {
                Some(self.fed.clone())
            }
            fed => filter::some_of(fed),
        }
    }

    /// A path that leads to what guards this machine: whatever it leads through, the name stays.
    fn guarded_path(&self) -> Option<Feed> {
        let [one] = self.operands[..] else { return None };
        let plain = |option: &str| matches!(option, "-f" | "-e" | "-m" | "-n" | "-s" | "-q" | "--");
        let mut options = self.args.iter().map(Value::known_start).filter(|a| a.starts_with('-'));
        let text = one.plain_text()?;
        let leads = text.strip_suffix(guarded::NAME).is_some_and(|dir| dir.ends_with('/'));
        if leads && options.all(plain) { known(format!("{text}\n")) } else { None }
    }

    /// basename: the last part of a path, without an ending; None where it is not known.
    fn last_part(&self) -> Option<Feed> {
        let (one, suffix) = match self.operands[..] {
            [one] => (one, ""),
            [one, suffix] => (one, suffix.plain_text()?),
            _ => return None,
        };
        let text = one.plain_text().filter(|_| !self.several)?;
        let last = if is_root(text) { "/" } else { split(text.trim_end_matches('/')).1 };
        known(last.strip_suffix(suffix).filter(|l| !l.is_empty()).unwrap_or(last))
    }

    /// dirname: the parts in front of that.
    fn leading_part(&self) -> Option<Feed> {
        let [one] = self.operands[..] else { return None };
        let text = one.plain_text().filter(|_| !self.several)?;
        match split(text.trim_end_matches('/')).0 {
            _ if is_root(text) => known("/"),
            "" => known("."),
            dir => known(dir),
        }
    }

    /// Does it print numbers alone?
    fn prints_numbers(&self) -> bool {
        let plain = |a: &&Value| a.plain_text().is_some();
        match self.name {
            // In front of a count stands the file's name where there are several.
            "grep" | "egrep" | "fgrep" => {
                self.has(&["-c"])
                    && self.args.len() == self.operands.len() + 1
                    && self.operands.len() < 3
                    && self.operands.iter().all(plain)
            }
            "wc" => self.operands.is_empty(),
            "nproc" | "pidof" => true,
            "pgrep" => !self.has(&["-l", "-a", "-al", "-la"]),
            "seq" => {
                self.args.iter().all(|a| a.plain_text().is_some_and(|t| t.parse::<f64>().is_ok()))
            }
            "id" => self.has(&["-u", "-g"]),
            // Seconds since 1970, and parts of one.
            "date" => {
                let clock =
                    |a: &Value| matches!(a.plain_text(), Some("+%s" | "+%N" | "+%s%N" | "+%s.%N"));
                self.args.len() == 1 && self.args.iter().all(clock)
            }
            "stat" => match self.args {
                [option, format, _] => {
                    let format = format.plain_text();
                    let of_gnu =
                        matches!(option.plain_text(), Some("-c" | "--format" | "--printf"));
                    let of_bsd = option.plain_text() == Some("-f");
                    of_gnu && matches!(format, Some("%s" | "%Y" | "%X" | "%Z" | "%a" | "%h" | "%i"))
                        || of_bsd && matches!(format, Some("%z" | "%m" | "%a" | "%c"))
                }
                [option, _] => matches!(
                    option.plain_text(),
                    Some("-c%s" | "-c%Y" | "-f%z" | "-f%m" | "--format=%s" | "--printf=%s")
                ),
                _ => false,
            },
            _ => false,
        }
    }

    /// Does it print a name that holds no slash?
    fn prints_name(&self) -> bool {
        let apart = |t: &str| !["..", "%D", "%x", "/"].iter().any(|part| t.contains(part));
        match self.name {
            "date" => self.args.iter().all(|a| a.plain_text().is_some_and(apart)),
            "hostname" | "arch" | "uuidgen" => self.operands.is_empty(),
            "uname" => !self.has(&["-a", "--all", "-o", "-v"]),
            _ => false,
        }
    }

    /// Of those who print a name: may it hold blanks? A date does, but for one by a format without any.
    fn prints_blanks(&self) -> bool {
        let mut options = self.args.iter().map(Value::known_start);
        match self.name {
            "date" => !options.any(|text| {
                text.strip_prefix('+').is_some_and(is_whole_date)
                    || text.starts_with("-I")
                    || text.starts_with("--iso-8601")
            }),
            "uname" => self.args.len() > 1 || options.any(|o| o.len() > 2 && !o.starts_with("--")),
            "hostname" => !options.all(|o| matches!(o, "-f" | "-s" | "--fqdn" | "--short")),
            _ => false,
        }
    }
}

/// Does the format of `date` give one word? `%c` and `%r` hold blanks, `%e`, `%k` and `%l` begin with one.
fn is_whole_date(format: &str) -> bool {
    let mut parts = format.split('%').skip(1);
    let blank = |part: &str| {
        // Flags and a width may stand before the letter.
        let part = part.trim_start_matches(|c: char| c.is_ascii_digit() || "^#EO".contains(c));
        part.starts_with(['n', 't', 'c', 'r', '+', 'e', 'k', 'l', '_'])
    };
    !format.contains(char::is_whitespace) && !parts.any(blank)
}

/// A text that is printed, as it is known.
fn known(text: impl Into<String>) -> Option<Feed> {
    Some(Feed::Text(text.into()))
}

fn is_root(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b == b'/')
}

impl Walker<'_> {
    /// What find prints, with the guarded files that are surely among it.
    fn found_by(&mut self, args: &[Value]) -> Option<Feed> {
        let feed = listing::find_listing(args, self.out.place.programs)?;
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
        let (first, args) = words.split_first()?;
        let name = first.plain_text()?.rsplit('/').next()?;
        // `sort LIST`: a list that the call has written is as good as one that is piped.
        if let Some((file, rest)) = args.split_last().filter(|_| FILTERS.contains(&name))
            && let Some(list) = self.listed_in(file)
        {
            let words: Vec<Value> = [first].into_iter().chain(rest).cloned().collect();
            return self.product_of(&words, &list, several);
        }
        let operands = args.iter().filter(|a| !a.known_start().starts_with('-')).collect();
        let printed = self.feed_of(&Printing { name, args, operands, fed, several });
        printed.filter(|_| !self.state.is_set(&StateKey::Function(name.to_string())))
    }

    fn feed_of(&mut self, p: &Printing) -> Option<Feed> {
        let args = p.args;
        match p.name {
            "echo" => decode::echo_output(args).map(Feed::Text),
            "printf" if args.first().and_then(Value::plain_text) == Some("-v") => known(""),
            "printf" => decode::printf_output(args).map(Feed::Text).or_else(|| {
                let (format, words) = args.split_first()?;
                let each = listing::prints_each(format.known_start());
                listing::printed_words(words).filter(|_| each)
            }),
            "xargs" if args.is_empty() => passed_through(p.fed),
            "xargs" => self.handed_list(args, p.fed),
            "cat" | "tee" => self.copied_output(p),
            "yes" => {
                let said = known_texts(args).join(" ");
                known(format!("{}\n", if args.is_empty() { "y" } else { &said }).repeat(2))
            }
            "base64" | "xxd" | "rev" => self.decoded_feed(p.decoded()),
            "find" => self.found_by(args),
            "fd" | "fdfind" | "ls" | "grep" | "rg" | "egrep" | "ag" | "git"
                if args.iter().any(|a| a.text().is_none()) =>
            {
                None
            }
            // Cmdlets hand objects on; for what takes them they are paths.
            name if code::lists_here(name, &known_texts(args)) => Some(listing::anything_below()),
            name if code::passes_objects(name) => {
                matches!(p.fed, Feed::Lines(_)).then(|| p.fed.clone())
            }
            // What it starts may print anything.
            "fd" | "fdfind" if p.has(&["-x", "-X", "--exec", "--exec-batch"]) => self.fd_runs(args),
            "fd" | "fdfind" => {
                let own = parse_arguments(p.name, args, self.out.place.programs);
                listing::files_below(args, special::lasting_found(&own, args))
            }
            "git" => self.git_prints(args),
            "ls" => self.ls_prints(args, &p.operands),
            // What it names is the pull request's, below the project.
            "gh" if args.len() > 2 && p.has(&["--name-only"]) && is_pull_request(args) => {
                Some(listing::anything_below())
            }
            _ if p.prints_numbers() => Some(Feed::Numbers),
            "cut" | "awk" | "sed" | "tr" => {
                filter::filtered(p.name, args, p.fed, self.out.place.programs)
            }
            "sort" | "uniq" | "head" | "tail" | "grep" | "egrep" | "rg" | "shuf" | "tac" => {
                let programs = self.out.place.programs;
                let cut = || filter::filtered(p.name, args, p.fed, programs);
                let kept = p.chosen_lines().or_else(cut);
                let searches = matches!(p.name, "grep" | "egrep" | "rg");
                kept.or_else(|| self.searched(p.name, args, p.fed).filter(|_| searches))
            }
            "ag" | "fgrep" => self.searched(p.name, args, p.fed),
            "id" if !p.has(&["-un"]) => None,
            "whoami" | "logname" | "id" => Some(self.user_name_feed()),
            _ if p.prints_name() => Some(if p.prints_blanks() { Feed::Words } else { Feed::Names }),
            "pwd" => self.cwd().and_then(|cwd| known(format!("{cwd}\n"))),
            "mktemp" => mktemp_output(args, self.out.place.directory_variable("TMPDIR")),
            // Its path: the name stands for it, unless it is cut at slashes.
            "which" | "-v" | "type" | "whence" | "where"
                if p.operands.iter().any(|one| one.plain_text() == Some(guarded::NAME))
                    && (p.name != "type" || p.has(&["-p", "-P"])) =>
            {
                known(format!("{}\n", self.out.own_place()))
            }
            "readlink" | "realpath" => p.guarded_path().or_else(|| self.whole_path(p)),
            "which" | "-v" if self.state.is_set(&StateKey::Splitting) => None,
            "which" | "-v" => match p.operands[..] {
                [one] if args.len() == 1 => known(one.plain_text()?),
                _ => None,
            },
            "npm" | "pnpm" | "yarn" | "conda" | "mamba" | "brew" | "pyenv" => {
                self.own_prefix(p.name, &known_texts(args))
            }
            "basename" => p.last_part().or(Some(Feed::Names)),
            "dirname" => p.leading_part(),
            _ => None,
        }
    }

    /// Where a manager of installations says that it has them: its usual place, as with `$NVM_DIR`.
    fn own_prefix(&self, name: &str, words: &[String]) -> Option<Feed> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let home = &self.out.place.home;
        match (name, &words[..]) {
            ("conda" | "mamba", ["info", "--base"]) => known(format!("{home}/miniconda3")),
            ("npm" | "pnpm", ["root"]) => known("node_modules"),
            ("npm", ["prefix"]) => known("."),
            ("pyenv", ["root"]) => known(format!("{home}/.pyenv")),
            ("brew", ["--prefix"]) => known("/opt/homebrew"),
            ("brew", ["--prefix", formula]) if !formula.contains(['/', '.', '*']) => {
                known(format!("/opt/homebrew/opt/{formula}"))
            }
            _ => None,
        }
    }

    /// What cat and tee print.
    fn copied_output(&mut self, p: &Printing) -> Option<Feed> {
        let mut files = p.args.iter().filter(|a| a.plain_text() != Some("-"));
        match files.next() {
            Some(file) if p.name == "cat" && p.args.len() == 1 => {
                self.path_feed(file, p.fed).or_else(|| self.file_text(file))
            }
            Some(_) if p.name == "cat" => None,
            _ => passed_through(p.fed),
        }
    }

    fn git_prints(&mut self, args: &[Value]) -> Option<Feed> {
        let plain: Vec<&str> = args.iter().map(Value::known_start).collect();
        if listed::names_only(&plain) {
            return Some(Feed::Names);
        }
        match plain[..] {
            // All that git knows, or all of it below a directory.
            ["ls-files", ref rest @ ..] | ["ls-tree", ref rest @ ..]
                if whole_tree(rest, plain[0]).is_some() =>
            {
                let start = Value::known(whole_tree(rest, plain[0]).unwrap_or("."), 0..0);
                Some(Feed::Whole(start.unknown_below(), special::directory_glob(&start)))
            }
            ["ls-files", ref rest @ ..] => {
                let plain = |a: &&&str| !a.starts_with('-') && !a.starts_with(':');
                let patterns: Vec<&str> = rest.iter().filter(plain).copied().collect();
                let mut named: Vec<Value> =
                    patterns.iter().flat_map(|a| self.guarded_like(a)).collect();
                named.extend(listing::lasting(args));
                listing::files_below(args, named)
            }
            // `git grep -l PATTERN`
            ["grep", ref rest @ ..] if !rest.iter().any(|a| a.starts_with("--no-index")) => {
                self.searched("git", args, &Feed::None)
            }
            ["diff" | "diff-tree" | "diff-index" | "show" | "log" | "stash", ref rest @ ..] => {
                names_changed(plain[0], rest)
            }
            ["status", ref rest @ ..] => {
                let short = |a: &&str| {
                    matches!(*a, "--short" | "--porcelain" | "--porcelain=v1" | "--porcelain=1")
                        || a.starts_with("-s")
                };
                rest.iter().any(short).then(|| columns(Sign::Blank, &[2]))
            }
            ["rev-parse", "--show-toplevel"] => {
                let project = self.out.place.project.clone();
                let inside = self
                    .cwd()
                    .is_some_and(|cwd| cwd == project || cwd.starts_with(&format!("{project}/")));
                (inside && !project.is_empty()).then_some(Feed::Text(project))
            }
            ["rev-list", ref rest @ ..]
                if rest.contains(&"--count") && !rest.contains(&"--left-right") =>
            {
                Some(Feed::Numbers)
            }
            _ => None,
        }
    }

    /// What `grep -l` and its like print: names, or lines that begin with them.
    fn searched(&mut self, name: &str, args: &[Value], fed: &Feed) -> Option<Feed> {
        let search = listed::Search::read(name, args, self.out.place.programs)?;
        if search.lists() {
            let below = search.below()?;
            let lasting = listing::lasting(args);
            return Some(match lasting.is_empty() {
                true => Feed::Lines(below),
                false => Feed::Found(below, lasting),
            });
        }
        let kind = |path: &Value| match self.out.locate_exact(path) {
            Some(at) if self.out.resolver.is_dir(&at.resolved) => Place::Directory,
            Some(at) if self.out.resolver.exists(&at.resolved) => Place::File,
            _ => Place::Unknown,
        };
        let named = search.names_files(!matches!(fed, Feed::None), kind);
        let path = search.below().filter(|_| named)?;
        Some(Feed::Columns(Columns { sign: Sign::Colon, at: &[1], path }))
    }

    /// What a program prints that xargs hands a list.
    fn handed_list(&mut self, args: &[Value], fed: &Feed) -> Option<Feed> {
        let own = self.out.place.programs;
        let parsed = parse_arguments("xargs", args, own);
        if parsed.options.iter().any(|option| option.spec.is_none()) {
            return None;
        }
        let value = |name: &str| parsed.find_option(name).map(|option| option.value.clone());
        let fed = match value("-a") {
            Some(file) => self.file_text(&file?)?,
            None => fed.clone(),
        };
        let some = match &fed {
            Feed::Text(text) => {
                let items: Vec<Value> = text
                    .split([' ', '\t', '\n', '\0'])
                    .filter(|item| !item.is_empty())
                    .map(|item| Value::known(item, 0..0))
                    .take(limits::VALUES + 2)
                    .collect();
                listing::printed_words(&items)?
            }
            fed => filter::some_of(fed)?,
        };
        let Some(at) = parsed.operands.first() else { return Some(some) };
        let token = ["-I", "-i", "-J"].iter().find_map(|name| value(name));
        let token = token.map(|value| {
            value.map_or(Some("{}".to_string()), |value| value.plain_text().map(str::to_string))
        });
        let token = match token {
            Some(None) => return None,
            Some(token) => token,
            None => None,
        };
        match (filter::handed_on(&args[*at..], token.as_deref(), own)?, some) {
            (Handed::Paths, some) => Some(some),
            (Handed::Names, _) => Some(Feed::Names),
            (Handed::Lines, Feed::Lines(path)) => {
                Some(Feed::Columns(Columns { sign: Sign::Colon, at: &[1], path }))
            }
            _ => None,
        }
    }

    /// What fd prints where it starts a program that prints names.
    fn fd_runs(&mut self, args: &[Value]) -> Option<Feed> {
        let runs =
            |arg: &Value| matches!(arg.known_start(), "-x" | "-X" | "--exec" | "--exec-batch");
        let at = args.iter().position(runs)?;
        let own = self.out.place.programs;
        let run = &args[at + 1..];
        let token = run.iter().any(|arg| arg.plain_text() == Some("{}")).then_some("{}");
        let keeps = matches!(filter::handed_on(run, token, own)?, Handed::Paths);
        listing::files_below(&args[..at], Vec::new()).filter(|_| keeps)
    }

    /// The guarded paths of this directory that a pattern names: those that are there, or are made by the call, unless it
    /// names their directory.
    fn guarded_like(&mut self, pattern: &str) -> Vec<Value> {
        let Some(cwd) = self.cwd() else { return Vec::new() };
        let path = normalise_path(&join(&cwd, pattern));
        let paths = self.out.place.guarded_paths().into_iter();
        let anywhere = pattern.starts_with('*');
        let out = &mut self.out;
        let mut there = |own: &String| out.written.contains_key(own) || out.resolver.exists(own);
        let named =
            paths.filter(|own| glob::matches(&path, own)).filter(|own| !anywhere || there(own));
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
            [_, _, ..] if !itself && operands.iter().all(|one| one.is_glob()) => {
                let files = operands.iter().all(|one| !one.known_start().ends_with('/'));
                let words: Vec<Value> = operands.iter().map(|one| (*one).clone()).collect();
                listing::printed_words(&words).filter(|_| files)
            }
            [one] => match self.out.locate_exact(one) {
                Some(target) if self.out.resolver.is_dir(&target.resolved) => Some(Feed::Names),
                _ => listed::stays_below(args).then(listing::anything_below),
            },
            _ => None,
        }
    }

    /// The whole path of a name that is known.
    fn whole_path(&mut self, p: &Printing) -> Option<Feed> {
        let [one] = p.operands[..] else { return None };
        let flags = ["-f", "-e", "-m", "-s", "--"];
        let plain = p
            .args
            .iter()
            .all(|a| !a.known_start().starts_with('-') || flags.contains(&a.known_start()));
        // Without an option readlink tells what a link holds.
        if !plain || p.name == "readlink" && p.args.len() < 2 {
            return None;
        }
        let target = self.out.locate_exact(one)?;
        (target.extent == Extent::Exact).then_some(Feed::Text(format!("{}\n", target.lexical)))
    }

    fn user_name_feed(&self) -> Feed {
        match self.out.place.home.rsplit('/').next() {
            Some(name) if !name.is_empty() => Feed::Text(format!("{name}\n")),
            _ => Feed::Names,
        }
    }

    /// The list that the call itself has written into that file.
    pub(in super::super) fn listed_in(&mut self, file: &Value) -> Option<Feed> {
        if self.listed.is_empty() {
            return None;
        }
        let target = self.out.locate_exact(file)?;
        self.list_in(&target.resolved)
    }

    /// The text of a file: known if the call wrote it itself.
    pub(in super::super) fn file_text(&mut self, file: &Value) -> Option<Feed> {
        if let Text::Pipe(at) = file.text {
            return Some(self.pipe_feed(at));
        }
        if let Some(list) = self.listed_in(file) {
            return Some(list);
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

/// Lines of which those columns are paths of the project.
fn columns(sign: Sign, at: &'static [usize]) -> Feed {
    Feed::Columns(Columns { sign, at, path: Value::known(".", 0..0).unknown_below() })
}

/// `git diff --name-only`, and what stands in columns.
fn names_changed(verb: &str, rest: &[&str]) -> Option<Feed> {
    let shown = |option: &str| listed::shows_only(verb, rest, option);
    match () {
        () if shown("--name-only") => Some(listing::anything_below()),
        () if shown("--name-status") => Some(columns(Sign::Tab, &[2, 3])),
        () if shown("--numstat") => Some(columns(Sign::Tab, &[3])),
        () => None,
    }
}

/// `gh pr diff`
fn is_pull_request(args: &[Value]) -> bool {
    let mut words = args.iter().map(Value::known_start);
    words.next() == Some("pr") && words.next() == Some("diff")
}

/// The directory all of whose files `git ls-files` lists, or `git ls-tree -r HEAD`.
fn whole_tree<'a>(rest: &[&'a str], verb: &str) -> Option<&'a str> {
    let plain = |a: &&&str| !matches!(**a, "-z" | "-c" | "--cached" | "--" | "--full-name");
    let mut words = rest.iter().filter(plain).copied();
    if verb == "ls-tree" {
        let mut words = rest.iter().filter(|a| !matches!(**a, "-r" | "-z" | "--name-only"));
        return (words.next() == Some(&"HEAD") && words.next().is_none()).then_some(".");
    }
    let start = words.next().unwrap_or(".");
    let dir =
        start == "." || start.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-/".contains(&b));
    (dir && !start.starts_with(['-', '/']) && words.next().is_none()).then_some(start)
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
    Some(Feed::Lines(Value::known(dir, 0..0).unknown_below()))
}
