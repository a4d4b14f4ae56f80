//! What commands print, as far as the text tells: for pipes, `$(...)`, `<(...)` and written files.

use shuck_ast::{BinaryOp, Command, CompoundCommand, RedirectKind, Stmt, StmtSeq};

use super::word::{Atom, Blank, atoms_of, number, quoted};
use super::{Feed, Walker};
use super::{decode, listing};
use crate::effect::path::{join, normalise, split};
use crate::effect::program::table;
use crate::effect::value::{Printer, Spot, Value};
use crate::effect::{Extent, Word};

/// Programs that print settings for the shell that evaluates them, and the words that make them do so.
const SETTINGS: &[(&str, &[&str])] = &[
    ("aws_completer", &[]),
    ("brew", &["shellenv"]),
    ("conda", &["shell.bash", "shell.zsh", "shell.posix"]),
    ("dircolors", &[]),
    ("direnv", &["hook", "export"]),
    ("docker", &["completion"]),
    ("docker-machine", &["env"]),
    ("fnm", &["env", "completions"]),
    ("fzf", &["--bash", "--zsh"]),
    ("getopt", &[]),
    ("gh", &["completion"]),
    ("gpg-agent", &[]),
    ("helm", &["completion"]),
    ("jenv", &["init"]),
    ("keychain", &[]),
    ("kubectl", &["completion"]),
    ("lesspipe", &[]),
    ("lesspipe.sh", &[]),
    ("luarocks", &["path"]),
    ("micromamba", &["shell"]),
    ("minikube", &["docker-env", "podman-env", "completion"]),
    ("mise", &["activate", "env", "hook-env"]),
    ("nodenv", &["init"]),
    ("npm", &["completion"]),
    ("opam", &["env", "config"]),
    ("pip", &["completion"]),
    ("poetry", &["env"]),
    ("pyenv", &["init", "virtualenv-init"]),
    ("rbenv", &["init"]),
    ("resize", &[]),
    ("rustup", &["completions"]),
    ("ssh-agent", &[]),
    ("starship", &["init"]),
    ("tset", &[]),
    ("thefuck", &["--alias"]),
    ("zoxide", &["init"]),
];

/// Programs that fetch, decode or compute text: what comes out nobody has read.
const STRANGERS: &[&str] = &[
    "aria2c", "curl", "fetch", "ftp", "http", "https", "lynx", "w3m", "wget", "xh", "awk",
    "base32", "base64", "bunzip2", "bzcat", "deno", "gawk", "gpg", "gunzip", "gzip", "lz4",
    "lz4cat", "mawk", "nc", "ncat", "netcat", "node", "openssl", "perl", "php", "python",
    "python3", "rev", "ruby", "scp", "sed", "socat", "ssh", "tar", "tr", "unxz", "unzip",
    "uudecode", "xxd", "xz", "xzcat", "zcat", "zstd", "zstdcat", "docker", "kubectl", "strings",
    "dd", "aws", "gsutil", "gh", "git", "bash", "sh", "zsh", "dash", "eval", "od", "hexdump", "jq",
    "yq",
];

impl Walker<'_> {
    /// What a pipe of the call gives.
    pub(super) fn pipe(&self, value: &Value) -> Feed {
        self.pipes.get(value.feed).cloned().unwrap_or(Feed::Stream(Printer::Stranger))
    }

    /// What a statement prints.
    pub(super) fn product(&mut self, stmt: &Stmt) -> Feed {
        if !self.room() {
            return Feed::Stream(Printer::Stranger);
        }
        let fed = self.redirect_feed(stmt).unwrap_or_else(|| self.feed.clone());
        let elsewhere = stmt.redirects.iter().any(|r| {
            r.fd_var.is_none()
                && r.fd.is_none_or(|fd| fd == 1)
                && matches!(
                    r.kind,
                    RedirectKind::Output
                        | RedirectKind::Clobber
                        | RedirectKind::Append
                        | RedirectKind::OutputBoth
                        | RedirectKind::DupOutput
                )
        });
        match self.printed_by(stmt, fed) {
            // It prints somewhere else.
            Feed::Text(_) if elsewhere => Feed::Stream(Printer::Nobody),
            feed => feed,
        }
    }

    /// What a statement prints without its own redirections.
    fn printed_by(&mut self, stmt: &Stmt, fed: Feed) -> Feed {
        match &stmt.command {
            Command::Simple(simple) => {
                let words = self.quietly(|w| w.words_of(simple));
                let words = unwrapped(&words);
                let several = self.several;
                let product = self.product_of(words, &fed, several);
                self.several = several;
                if several && matches!(product, Some(Feed::Text(_))) {
                    return Feed::Stream(Printer::Stranger);
                }
                product.unwrap_or_else(|| {
                    let before = match fed {
                        Feed::None | Feed::Text(_) => Printer::Nobody,
                        Feed::File(_) => Printer::File,
                        Feed::Stream(Printer::Settings) => Printer::Local,
                        Feed::Stream(by) => by,
                        Feed::Lines(_) | Feed::Names | Feed::Numbers => Printer::Local,
                    };
                    Feed::Stream(self.printer(words).max(before))
                })
            }
            Command::Binary(binary) if matches!(binary.op, BinaryOp::Pipe | BinaryOp::PipeAll) => {
                let outer = std::mem::replace(&mut self.feed, fed);
                self.feed = self.product(&binary.left);
                let feed = self.product(&binary.right);
                self.feed = outer;
                feed
            }
            Command::Compound(
                CompoundCommand::BraceGroup(seq) | CompoundCommand::Subshell(seq),
            ) => {
                let outer = std::mem::replace(&mut self.feed, fed);
                let feed = self.handed(seq);
                self.feed = outer;
                feed
            }
            Command::Decl(_) | Command::Builtin(_) => Feed::Stream(Printer::Nobody),
            _ => Feed::Stream(Printer::Stranger),
        }
    }

    /// What a list prints.
    pub(super) fn handed(&mut self, body: &StmtSeq) -> Feed {
        if let [stmt] = &body.stmts[..] {
            return self.product(stmt);
        }
        let mut text = Some(String::new());
        let mut by = Printer::Nobody;
        for stmt in &body.stmts {
            match (self.product(stmt), &mut text) {
                (Feed::Text(more), Some(text)) if !self.several => text.push_str(&more),
                (Feed::Stream(more), _) => (text, by) = (None, by.max(more)),
                (Feed::File(_), _) => (text, by) = (None, by.max(Printer::File)),
                _ => (text, by) = (None, by.max(Printer::Local)),
            }
        }
        text.map_or(Feed::Stream(by), Feed::Text)
    }

    /// Who prints what a program prints.
    fn printer(&mut self, words: &[Value]) -> Printer {
        let Some(name) = words.first().and_then(Value::plain) else { return Printer::Stranger };
        let name = name.rsplit('/').next().unwrap_or_default();
        let args = &words[1..];
        let mut by = args.iter().map(|a| a.by).max().unwrap_or_default();
        let settings = SETTINGS.iter().any(|(program, subs)| {
            *program == name
                && (subs.is_empty()
                    || args.iter().any(|a| a.plain().is_some_and(|t| subs.contains(&t))))
        });
        let function = self.state.flag(&super::state::Key::Function(name.to_string()));
        // A program of that name that lies elsewhere is another.
        let word = words[0].start();
        let own = !word.contains('/')
            || ["/usr/", "/bin/", "/opt/", "/home/linuxbrew/"].iter().any(|d| word.starts_with(d))
            || word.starts_with(&format!("{}/.", self.out.place.home));
        if settings && own && !function {
            return Printer::Settings;
        }
        let stranger = STRANGERS.contains(&name)
            || table::program(name, self.out.place.programs)
                .is_some_and(|p| p.effects.contains(&Word::Network));
        by = by.max(match name {
            _ if stranger => Printer::Stranger,
            "echo" | "printf" | "true" | ":" => Printer::Nobody,
            // A filter without files says nothing of its own.
            "cat" | "head" | "tail" | "sort" | "uniq" | "cut" | "tac" | "tee" | "xargs"
                if !args.iter().any(|a| !a.start().starts_with('-') || a.text.is_none()) =>
            {
                Printer::Nobody
            }
            "grep" if args.iter().filter(|a| !a.start().starts_with('-')).count() == 1 => {
                Printer::Nobody
            }
            "cat" | "head" | "tail" | "grep" | "sort" | "uniq" | "cut" => {
                let strange = args.iter().any(|a| a.text.is_some() && self.was_written(a));
                if strange { Printer::Stranger } else { Printer::File }
            }
            _ => Printer::Local,
        });
        by
    }

    /// Has the call itself written that file, and nobody knows what?
    fn was_written(&mut self, file: &Value) -> bool {
        matches!(self.out.spot(file, Extent::Exact, false),
            Spot::At(target) if self.out.written.get(&target.resolved) == Some(&None))
    }

    /// What a decoder prints is remembered: running it stays the one effect that nobody has read.
    fn decoded(&mut self, text: Option<String>) -> Option<Feed> {
        let text = text?;
        if !text.trim().is_empty() && self.decodings.len() < 16 {
            self.decodings.push(text.trim().to_string());
        }
        Some(Feed::Text(text))
    }

    fn product_of(&mut self, words: &[Value], fed: &Feed, several: bool) -> Option<Feed> {
        let name = words.first()?.plain()?.rsplit('/').next()?.to_string();
        let args = &words[1..];
        let flag = |names: &[&str]| args.iter().any(|a| names.contains(&a.start()));
        let operands: Vec<&Value> = args.iter().filter(|a| !a.start().starts_with('-')).collect();
        match name.as_str() {
            "echo" => decode::echo(args).map(Feed::Text),
            "printf" if args.first().and_then(Value::plain) == Some("-v") => {
                Some(Feed::Text(String::new()))
            }
            "printf" => decode::printf(args).map(Feed::Text),
            "xargs" if args.is_empty() => passed(fed),
            "cat" | "tee" => {
                let files: Vec<&Value> = args.iter().filter(|a| a.plain() != Some("-")).collect();
                match (name.as_str(), &files[..]) {
                    ("cat", [file]) if args.len() == 1 => self.file_text(file),
                    ("cat", [_, ..]) => None,
                    _ => passed(fed),
                }
            }
            "base64" if flag(&["-d", "-D", "--decode"]) && operands.is_empty() => match fed {
                Feed::Text(text) => self.decoded(decode::base64(text)),
                _ => None,
            },
            "xxd" if flag(&["-r", "-rp"]) && flag(&["-p", "-rp", "-ps"]) && operands.is_empty() => {
                match fed {
                    Feed::Text(text) => self.decoded(decode::hex(text)),
                    _ => None,
                }
            }
            "rev" if args.is_empty() => match fed {
                Feed::Text(text) => self.decoded(Some(
                    text.lines()
                        .map(|l| l.chars().rev().chain(['\n']).collect::<String>())
                        .collect(),
                )),
                _ => None,
            },
            "find" | "fd" | "fdfind" | "ls" | "grep" | "rg" | "egrep" | "ag" | "git"
                if args.iter().any(|a| a.text.is_none()) && name != "find" =>
            {
                None
            }
            "find" => listing::find(args),
            "fd" | "fdfind" => listing::relative(args).then(listing::here),
            "git" => self.git_prints(args),
            "ls" => self.ls_prints(args, &operands),
            "grep" | "rg" | "egrep" | "ag" if listing::names_files(&name, args) => {
                listing::relative(&args[1..]).then(listing::here)
            }
            "sort" | "uniq" | "head" | "tail" | "grep" | "egrep" | "rg" | "shuf" | "tac" => {
                match fed {
                    Feed::Lines(_) | Feed::Names | Feed::Numbers
                        if listing::whole_lines(&name, args, &operands) =>
                    {
                        Some(fed.clone())
                    }
                    _ => None,
                }
            }
            "wc" if operands.is_empty() => Some(Feed::Numbers),
            "nproc" | "pidof" => Some(Feed::Numbers),
            "pgrep" if !flag(&["-l", "-a", "-al", "-la"]) => Some(Feed::Numbers),
            "seq" if args.iter().all(|a| a.plain().is_some_and(|t| t.parse::<f64>().is_ok())) => {
                Some(Feed::Numbers)
            }
            "id" if flag(&["-u", "-g"]) => Some(Feed::Numbers),
            "whoami" | "logname" => Some(self.user()),
            "id" if flag(&["-un"]) => Some(self.user()),
            "date" => args
                .iter()
                .all(|a| {
                    a.plain().is_some_and(|t| {
                        !t.contains("..") && !t.contains("%D") && !t.contains("%x")
                    }) && !a.start().contains('/')
                })
                .then_some(Feed::Names),
            "hostname" | "arch" | "uuidgen" if operands.is_empty() => Some(Feed::Names),
            "uname" if !flag(&["-a", "--all", "-o", "-v"]) => Some(Feed::Names),
            "pwd" => self.cwd().map(|cwd| Feed::Text(format!("{cwd}\n"))),
            "mktemp" => mktemp(args, self.out.place.dir("TMPDIR")),
            // Its path: the name stands for it, unless it is cut at slashes.
            "which" | "-v" if self.state.flag(&super::state::Key::Splitting) => None,
            "which" | "-v" => match operands[..] {
                [one] if args.len() == 1 => one.plain().map(|t| Feed::Text(t.to_string())),
                _ => None,
            },
            "basename" => match operands[..] {
                _ if several => Some(Feed::Names),
                [one, ref suffix @ ..] if suffix.len() < 2 => match one.plain() {
                    Some(text) => {
                        let all = !text.is_empty() && text.bytes().all(|b| b == b'/');
                        let last = if all { "/" } else { split(text.trim_end_matches('/')).1 };
                        let suffix = suffix.first().map_or(Some(""), |s| s.plain());
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
                    let text = match one.plain()? {
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
                        && !args.iter().any(|a| a.start().starts_with("--rel")) =>
                {
                    let cwd = self.cwd()?;
                    Some(Feed::Text(normalise(&join(&cwd, one.plain()?))))
                }
                _ => None,
            },
            _ => None,
        }
        .filter(|_| !self.state.flag(&super::state::Key::Function(name)))
    }

    fn git_prints(&mut self, args: &[Value]) -> Option<Feed> {
        let plain: Vec<&str> = args.iter().map(Value::start).collect();
        match plain[..] {
            ["ls-files", ..] => listing::relative(args).then(listing::here),
            // `git grep -l PATTERN`
            ["grep", ref rest @ ..]
                if listing::names_files("grep", &args[1..])
                    && !rest.iter().any(|a| a.starts_with("--no-index")) =>
            {
                Some(listing::here())
            }
            ["diff", ..] if plain.contains(&"--name-only") && !plain.contains(&"--no-index") => {
                Some(listing::here())
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

    /// Of a directory the names; of a file its path, as it was given.
    fn ls_prints(&mut self, args: &[Value], operands: &[&Value]) -> Option<Feed> {
        let plain = args.iter().all(|a| {
            !a.start().starts_with('-')
                || matches!(a.start(), "-1" | "-d" | "-t" | "-r" | "-tr" | "-1t" | "-S")
        });
        match operands {
            _ if !plain => None,
            [] => Some(Feed::Names),
            // Of directories it lists what is in them.
            [one]
                if one.glob
                    && one.start().ends_with('/')
                    && !args.iter().any(|a| a.start() == "-d") =>
            {
                None
            }
            [one] if one.glob => Some(Feed::Lines((*one).clone())),
            [one] => match self.out.spot(one, Extent::Exact, false) {
                Spot::At(target) if self.out.resolver.is_dir(&target.resolved) => Some(Feed::Names),
                _ => listing::relative(args).then(listing::here),
            },
            _ => None,
        }
    }

    fn user(&self) -> Feed {
        match self.out.place.home.rsplit('/').next() {
            Some(name) if !name.is_empty() => Feed::Text(format!("{name}\n")),
            _ => Feed::Names,
        }
    }

    /// The text of a file: known if the call wrote it itself.
    fn file_text(&mut self, file: &Value) -> Option<Feed> {
        if file.pipe {
            return Some(self.pipe(file));
        }
        match self.out.spot(file, Extent::Exact, false) {
            Spot::At(target) => match self.out.written.get(&target.resolved) {
                Some(Some(text)) => Some(Feed::Text(text.clone())),
                Some(None) => Some(Feed::Stream(Printer::Stranger)),
                None if target.extent == Extent::Exact => Some(Feed::File(file.clone())),
                None => Some(Feed::Stream(Printer::File)),
            },
            Spot::Stream => passed(&self.feed.clone()),
            Spot::Unknown => Some(Feed::Stream(Printer::File)),
        }
    }

    /// The text that a statement prints, if all of it is known.
    pub(super) fn printed_text(&mut self, stmt: &Stmt) -> Option<String> {
        match &stmt.command {
            Command::Simple(_) => {
                let fed = self.redirect_feed(stmt).unwrap_or_else(|| self.feed.clone());
                match self.printed_by(stmt, fed) {
                    Feed::Text(text) if !self.several => Some(text),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What `$(...)` becomes.
    pub(super) fn printed(&mut self, body: &StmtSeq) -> Vec<Atom> {
        match self.handed(body) {
            Feed::Text(text) if !self.several => loose(text.trim_end_matches('\n')),
            other => line(&other),
        }
    }
}

/// Text as atoms; what is not known of it may be several words.
pub(super) fn loose(text: &str) -> Vec<Atom> {
    quoted(text)
        .into_iter()
        .map(|a| if matches!(a, Atom::Unknown(_)) { Atom::blank(false) } else { a })
        .collect()
}

/// What is known of a line that is fed.
pub(super) fn line(feed: &Feed) -> Vec<Atom> {
    let by = match feed {
        Feed::File(_) => Printer::File,
        Feed::Stream(by) => *by,
        _ => Printer::Nobody,
    };
    shape(feed).unwrap_or_else(|| vec![Atom::Unknown(Blank { one: false, name: false, by })])
}

/// The shape of every line that is fed, where it has one.
pub(super) fn shape(feed: &Feed) -> Option<Vec<Atom>> {
    match feed {
        Feed::Lines(value) if value.text.is_some() || value.prefix.is_some() => {
            Some(atoms_of(value))
        }
        Feed::Names => Some(vec![Atom::name()]),
        Feed::Numbers => {
            let mut atoms = Vec::new();
            number(&mut atoms);
            Some(atoms)
        }
        _ => None,
    }
}

/// What a command that copies its input prints.
fn passed(fed: &Feed) -> Option<Feed> {
    match fed {
        Feed::None => None,
        other => Some(other.clone()),
    }
}

/// The words behind `sudo`, `command` and their like.
fn unwrapped(words: &[Value]) -> &[Value] {
    let mut words = words;
    while words.len() > 1
        && matches!(words[0].plain(), Some("command" | "builtin" | "sudo" | "nohup" | "time"))
        && !words[1].start().starts_with('-')
    {
        words = &words[1..];
    }
    match words {
        // `command -v rm` prints the program's name, as `which` does.
        [command, v, ..] if command.plain() == Some("command") && v.plain() == Some("-v") => {
            &words[1..]
        }
        _ => words,
    }
}

/// A new name below a directory that is known.
fn mktemp(args: &[Value], usual: Option<String>) -> Option<Feed> {
    let mut dir = usual.unwrap_or_else(|| "/tmp".to_string());
    for (i, arg) in args.iter().enumerate() {
        let after = i > 0 && matches!(args[i - 1].plain(), Some("-p" | "--tmpdir"));
        let text = match (arg.plain(), &arg.prefix) {
            (Some(text), _) => text,
            (None, Some(prefix)) => prefix,
            _ => return None,
        };
        if after {
            dir = text.to_string();
        } else if let Some(d) = text.strip_prefix("--tmpdir=") {
            dir = d.to_string();
        } else if !text.starts_with('-') {
            let inside = args.iter().any(|a| {
                matches!(a.plain(), Some("-t" | "--tmpdir")) || a.start().starts_with("-p")
            });
            match text.rsplit_once('/') {
                Some(("", _)) => dir = "/".to_string(),
                Some((d, _)) => dir = d.to_string(),
                None if !inside => dir = ".".to_string(),
                None => {}
            }
        }
    }
    let prefix = Some(format!("{}/", dir.trim_end_matches('/')));
    Some(Feed::Lines(Value { prefix, ..Value::default() }))
}
