//! Secrets on their way out, within one call: what may hold which, and what it means that one leaves for a host.
//!
//! The walk of shell text says what is looked up, printed, kept and handed on; here that is kept, a bit for each
//! origin, and settled in the end, when it is known what leaves for where. What most calls look up is no secret: that is
//! asked only of what reaches a command that sends.

use std::collections::BTreeMap;

use super::host::is_local;
use super::secret::{is_file, is_variable};
use super::value::{BLANK, Secrets, Value};
use super::analysis::Said;
use super::{Analysis, Effect, Extent, Grade, Opt, Source, SubCommand, Target, Word};
use crate::names::flow::{
    ADDRESSES, CODES, DNS, FEEDERS, GENERIC, HOMELESS, LISTERS, LOGINS, MUTES, OWNERS, PRINTERS,
    PUBLISHERS, RAW, SENDERS, SHELLS, USUAL,
};
use crate::tokens;

/// The last bit stands for all that no bit was left for.
const LAST: usize = Secrets::BITS as usize - 1;

/// How many names are kept before it is asked what they name.
const PLAIN: usize = 40;

/// Where something comes from that may be a secret.
#[derive(Debug, Clone, PartialEq)]
enum Origin {
    /// A variable of the agent's environment.
    Variable(String),
    /// What a command prints whose words say whose it is.
    Command(String),
    /// All variables.
    Environment,
    /// A file.
    File(String),
}

/// What may hold a secret at this point of the text.
#[derive(Debug, Clone, Default)]
pub struct Flow {
    origins: Vec<Origin>,
    /// In the words at hand.
    pub seen: Secrets,
    /// In what has been printed.
    pub printed: Secrets,
    /// In standard input.
    pub fed: Secrets,
    /// In what substitutions have printed.
    pub substituted: Secrets,
    variables: BTreeMap<String, Secrets>,
    files: BTreeMap<String, Secrets>,
    bodies: Vec<(usize, Secrets)>,
    /// The commands inside `>(...)` of the command at hand.
    pub outward: Vec<std::ops::Range<usize>>,
    /// The command that keeps a connection open on a descriptor.
    pub socket: Option<usize>,
    /// The command that leads all that the shell prints to such a one.
    pub stdout: Option<usize>,
}

impl Flow {
    /// The bit of an origin.
    fn bit(&mut self, origin: Origin) -> Secrets {
        let known = self.origins.iter().position(|own| *own == origin);
        let at = known.unwrap_or(self.origins.len());
        if known.is_none() {
            if at >= PLAIN && !origin.may_be_secret() {
                return 0;
            }
            if at < LAST + 1 {
                self.origins.push(origin);
            }
        }
        1 << at.min(LAST)
    }

    /// A variable is looked up; `told` = the call says all that it holds.
    pub fn look_up(&mut self, name: &str, told: bool) {
        let kept = self.variables.get(name).copied().unwrap_or_default();
        let outside = !told && is_shouted(name) && !USUAL.contains(&name);
        let own = if outside { self.bit(Origin::Variable(name.to_string())) } else { 0 };
        self.seen |= kept | own;
    }

    /// A variable gets what holds those.
    pub fn keep(&mut self, name: &str, secrets: Secrets) {
        if secrets != 0 {
            *self.variables.entry(name.to_string()).or_default() |= secrets;
        }
    }

    /// A file gets what holds those.
    pub fn write(&mut self, path: &Target, secrets: Secrets) {
        if secrets != 0 {
            *self.files.entry(path.resolved.clone()).or_default() |= secrets;
        }
    }

    /// What reading a file gives.
    pub fn read(&mut self, path: &Target) -> Secrets {
        let written = self.files.get(&path.resolved).copied().unwrap_or_default();
        written | self.bit(file_origin(path))
    }

    /// The same with what was written into those files, be it after they were read: a pipe with a name.
    fn with_files(&self, secrets: Secrets) -> Secrets {
        let written = |origin: &Origin| match origin {
            Origin::File(path) => self.files.get(path).copied().unwrap_or_default(),
            _ => 0,
        };
        let held = self.origins.iter().enumerate().filter(|(bit, _)| secrets >> bit & 1 != 0);
        held.fold(secrets, |all, (_, origin)| all | written(origin))
    }

    /// What the body of a substitution printed.
    pub fn note_body(&mut self, body: usize, printed: Secrets) {
        self.bodies.retain(|(own, _)| *own != body);
        if printed != 0 {
            self.bodies.push((body, printed));
            self.substituted |= printed;
        }
    }

    /// The same, when it is asked.
    pub fn body(&self, body: usize) -> Secrets {
        self.bodies.iter().find(|(own, _)| *own == body).map_or(0, |(_, printed)| *printed)
    }

    /// What a command prints of its own: a token, all variables.
    pub fn printed_by(&mut self, analysis: &Analysis, index: usize) -> Secrets {
        let Some(command) = analysis.commands.get(index) else { return 0 };
        if let Some(names) = listed_variables(command) {
            return names.iter().fold(0, |all, name| all | self.bit(Origin::Variable(name.clone())));
        }
        let stored = || {
            let own = analysis.effects.iter().rev().take_while(|e| e.command == Some(index));
            own.into_iter().any(|effect| effect.word == Word::Named("cloud.secret"))
        };
        if lists_all(command) {
            self.bit(Origin::Environment)
        } else if begins(command, PRINTERS).is_some() || stored() {
            self.bit(Origin::Command(command.name.clone()))
        } else {
            0
        }
    }

    /// What the text of an inline program looks up in its environment.
    pub fn looked_up_by(&mut self, text: &str) -> Secrets {
        let lower = text.to_ascii_lowercase();
        let mut all = 0;
        let mut from = 0;
        while let Some(at) = lower[from..].find("env").map(|at| at + from) {
            let rest = &text[at + 3..];
            from = at + 3;
            let rest = rest.strip_prefix("iron").unwrap_or(rest);
            let rest = rest.strip_prefix("b").unwrap_or(rest);
            let behind = rest.trim_start_matches(|c: char| "([{'\".?:)\\ ".contains(c) || c == BLANK);
            let behind = behind.strip_prefix("get").map_or(behind, |get| {
                get.trim_start_matches(|c: char| "([{'\"\\ ".contains(c))
            });
            let end = behind.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let name = &behind[..end.unwrap_or(behind.len())];
            let boundary = text[..at].chars().next_back();
            let whole = boundary.is_none_or(|c| !c.is_alphanumeric() && c != '_')
                || text[..at].ends_with("get");
            if is_shouted(name) && behind.len() < rest.len() {
                all |= self.bit(Origin::Variable(name.to_string()));
            } else if whole && takes_all(rest) {
                all |= self.bit(Origin::Environment);
            }
        }
        all
    }
}

/// Is the whole environment meant: `dict(os.environ)`, `JSON.stringify(process.env)`, `%ENV`?
fn takes_all(behind: &str) -> bool {
    let behind = behind.trim_start_matches('S');
    behind.is_empty() || behind.starts_with([')', ',', '}', ';', '\n', ' ']) || {
        [".items", ".copy", ".to_", ".inspect", ".map", ".each", ".values", ".to_h"]
            .iter()
            .any(|call| behind.starts_with(call))
    }
}

impl Origin {
    fn may_be_secret(&self) -> bool {
        match self {
            Origin::Variable(name) => is_secret_name(name),
            Origin::File(path) => is_file(path),
            Origin::Command(_) | Origin::Environment => true,
        }
    }

    /// As people are told of it, where a path would stand.
    fn name(&self) -> String {
        match self {
            Origin::Variable(name) => format!("${name}"),
            Origin::Command(name) => format!("what `{name}` prints"),
            Origin::Environment => "the environment".into(),
            Origin::File(path) => path.clone(),
        }
    }
}

fn file_origin(path: &Target) -> Origin {
    match path.lexical.starts_with("/proc/") && path.lexical.ends_with("/environ") {
        true => Origin::Environment,
        false => Origin::File(path.lexical.clone()),
    }
}

/// A name in capitals, as those of an environment are.
fn is_shouted(name: &str) -> bool {
    name.len() > 2
        && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        && !name.as_bytes()[0].is_ascii_digit()
}

/// Does a variable's name tell of a secret, and not of where one lies or who asks?
fn is_secret_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let about = ["_path", "_file", "_dir", "_name", "_id", "_region", "_sock", "_proxy", "_author"];
    is_variable(name)
        && !about.iter().any(|end| lower.ends_with(end))
        && !["keyboard", "author_", "xauthority", "keymap", "passed", "bypass", "tokenizer"]
            .iter()
            .any(|part| lower.contains(part))
        && !lower.ends_with("proxy")
}

/// `env`, `export -p`: are all variables printed?
fn lists_all(command: &SubCommand) -> bool {
    if !LISTERS.contains(&command.name.as_str()) {
        return false;
    }
    let option = |names: &[&str]| command.options.iter().any(|o| names.contains(&o.name.as_str()));
    match command.name.as_str() {
        "env" | "printenv" => command.operands.iter().all(|at| {
            command.args.get(*at).and_then(|a| a.text.as_deref()).is_some_and(|t| t.contains('='))
        }),
        "set" => command.args.is_empty(),
        _ => command.operands.is_empty() && (command.args.is_empty() || option(&["-p", "-x", "-px", "-xp"])),
    }
}

/// `printenv NAME`, `declare -p NAME`, `docker build --build-arg NAME`: which variables does it show by name?
fn listed_variables(command: &SubCommand) -> Option<Vec<String>> {
    let plain = |at: &usize| command.args.get(*at)?.text.clone();
    match command.name.as_str() {
        "printenv" | "declare" | "typeset" if !command.operands.is_empty() => {
            let shows = command.name == "printenv"
                || command.options.iter().any(|o| o.name == "-p")
                || command.args.first()?.text.as_deref() == Some("-p");
            shows.then(|| command.operands.iter().filter_map(plain).collect())
        }
        "docker" | "podman" | "buildah" | "nerdctl" => {
            let named = |o: &&Opt| matches!(o.name.as_str(), "--build-arg");
            let value = |o: &Opt| o.value.as_ref()?.text.clone();
            let names: Vec<String> = command.options.iter().filter(named).filter_map(value).collect();
            Some(names.into_iter().filter(|name| is_shouted(name)).collect())
        }
        _ => None,
    }
}

/// The row of a list whose words a command begins with: its program and its first operands.
fn begins(command: &SubCommand, list: &[&'static str]) -> Option<&'static str> {
    let operand = |at: usize| command.args.get(*command.operands.get(at)?)?.text.as_deref();
    list.iter().copied().find(|row| {
        let mut words = row.split(' ');
        words.next() == Some(command.name.as_str())
            && words.enumerate().all(|(at, word)| operand(at) == Some(word))
    })
}

/// Does the program print nothing of what it is given?
pub fn is_mute(name: &str) -> bool {
    MUTES.contains(&name)
}

/// Does a program read the text of another one among its words?
pub fn reads_code(name: &str) -> bool {
    CODES.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

/// What a command's words hold, and where.
pub fn words_said(command: &SubCommand, args: &[Value], fed: Secrets) -> Said {
    let mut said = Said::default();
    let name = command.name.as_str();
    for (at, arg) in args.iter().enumerate().filter(|(_, arg)| arg.secrets != 0) {
        let option = command.options.iter().find(|o| {
            o.at == at || o.at + 1 == at && o.value.is_some() && !command.operands.contains(&at)
        });
        let text = arg.text().or(arg.outline()).or(arg.prefix()).unwrap_or_default();
        match place_of(name, option.map(|o| o.name.as_str()), text) {
            Spot::Login => said.login |= arg.secrets,
            Spot::Address => {}
            Spot::Else => said.sent |= arg.secrets,
        }
    }
    let reads = !FEEDERS.contains(&name)
        || args.iter().any(|arg| {
            let text = arg.known_start();
            text == "-" || text.ends_with("@-") || text.contains("/dev/stdin") || text.ends_with("=-")
                || text.contains("/dev/fd/0")
                || matches!(text, "-T-" | "-T.") || arg.is_pipe()
        });
    said.sent |= if reads { fed } else { 0 };
    said
}

enum Spot {
    Login,
    /// The address itself.
    Address,
    Else,
}

fn place_of(name: &str, option: Option<&str>, text: &str) -> Spot {
    let lower = text.to_ascii_lowercase();
    // `$WEBHOOK_URL`, `https://$HOST/x`: nothing stands before it.
    let rest = lower.split_once("://").map_or(lower.as_str(), |(_, rest)| rest);
    if SHELLS.contains(&name) {
        return Spot::Login;
    }
    if CODES.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')) {
        let login = ["authorization", "headers", "auth=", "auth:"].iter().any(|w| lower.contains(w));
        return if login { Spot::Login } else { Spot::Else };
    }
    let header = |text: &str| {
        let name = text.split_once(':').map_or("", |(name, _)| name);
        is_variable(name) || matches!(name, "apikey" | "x-vault-token")
    };
    match option {
        Some("-H" | "--header" | "--headers") => {
            let text = lower.trim_start_matches("-h").trim_start_matches("--header=");
            if header(text) || text.starts_with(BLANK) { Spot::Login } else { Spot::Else }
        }
        Some(option) if LOGINS.contains(&option) => Spot::Login,
        Some(_) => Spot::Else,
        None if rest.split('/').next().is_some_and(|host| {
            host.split_once('@').is_some_and(|(user, _)| user.contains(BLANK))
        }) && lower.contains("://") => Spot::Login,
        None if matches!(name, "http" | "https" | "xh" | "xhs") && header(&lower) && !lower.contains("://") => {
            Spot::Login
        }
        None if rest.starts_with(BLANK) && !rest.starts_with(&format!("{BLANK}.")) || lower.is_empty() => {
            Spot::Address
        }
        None => Spot::Else,
    }
}

/// How something leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Road {
    /// To a host.
    Web,
    /// Where every server on the way sees it, or none asks who is there: a name that is looked up, a bare connection.
    Raw,
    /// To where others read it later.
    Shown,
}

/// Adds what leaves.
pub fn settle(analysis: &mut Analysis, flow: &Flow) {
    let mut found: Vec<Effect> = Vec::new();
    for (at, command) in analysis.commands.iter().enumerate() {
        let (sent, login) = (command.said.sent, command.said.login);
        let Some(road) = road_of(command) else { continue };
        let effects = analysis.effects.iter().filter(|e| e.command == Some(at));
        let leaves = |e: &&Effect| matches!(e.word, Word::Network | Word::Send);
        let uploads: Secrets = effects
            .clone()
            .filter(|e| e.word == Word::Send || road == Road::Shown && e.word == Word::Read)
            .filter_map(|e| flow.files.get(&e.path.as_ref()?.resolved))
            .fold(0, |all, one| all | one);
        let (sent, login) = (flow.with_files(sent | uploads), flow.with_files(login));
        let literal = literal_tokens(command);
        if sent | login == 0 && literal.is_empty() {
            continue;
        }
        let mut hosts: Vec<(Option<String>, Grade)> = Vec::new();
        for effect in effects.filter(leaves) {
            if !hosts.iter().any(|(host, _)| *host == effect.host) {
                hosts.push((effect.host.clone(), effect.grade));
            }
        }
        // A path of an upload has no host of its own where the others have.
        if hosts.iter().any(|(host, _)| host.is_some()) {
            hosts.retain(|(host, _)| host.is_some());
        }
        if road == Road::Shown {
            hosts = vec![(None, Grade::Certain)];
        }
        let said = flow.origins.iter().enumerate().flat_map(|(bit, origin)| {
            let place = |mask: Secrets, login| (mask >> bit & 1 != 0).then(|| (origin.clone(), login));
            [place(sent, false), place(login, true)].into_iter().flatten()
        });
        let said: Vec<(Origin, bool)> = said.chain(literal).collect();
        for (host, grade) in hosts {
            if host.as_deref().is_some_and(is_local) {
                continue;
            }
            for (origin, login) in &said {
                let Some((word, sure)) = judge(origin, host.as_deref(), road, *login) else {
                    continue;
                };
                let lexical = origin.name();
                let path = Target { resolved: lexical.clone(), lexical, extent: Extent::Exact };
                found.push(Effect {
                    word: Word::Named(word),
                    grade: if grade == Grade::Possible { Grade::Possible } else { sure },
                    path: Some(path),
                    host: host.clone(),
                    source: Source::Operand,
                    command: Some(at),
                    span: command.span.clone(),
                });
            }
        }
    }
    for effect in found {
        if !analysis.effects.contains(&effect) {
            analysis.effects.push(effect);
        }
    }
}

fn road_of(command: &SubCommand) -> Option<Road> {
    let name = command.name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if begins(command, PUBLISHERS).is_some() {
        Some(Road::Shown)
    } else if DNS.contains(&name) || RAW.contains(&name) {
        Some(Road::Raw)
    } else if SENDERS.contains(&name) || SHELLS.contains(&name) || CODES.contains(&name) {
        Some(Road::Web)
    } else {
        // A redirection to a host.
        Some(Road::Raw).filter(|_| command.connects)
    }
}

/// Tokens that stand in a command's words as they are, and whether they say who asks.
fn literal_tokens(command: &SubCommand) -> Vec<(Origin, bool)> {
    let mut out = Vec::new();
    for (at, arg) in command.args.iter().enumerate() {
        let Some(text) = arg.text.as_deref() else { continue };
        for token in tokens::named_tokens(text) {
            let option = command.options.iter().find(|o| {
                o.at == at || o.at + 1 == at && o.value.is_some() && !command.operands.contains(&at)
            });
            let masked = text.replacen(token, &BLANK.to_string(), 1);
            let login = matches!(
                place_of(&command.name, option.map(|o| o.name.as_str()), &masked),
                Spot::Login
            );
            let lead: String = token.chars().take_while(|c| c.is_ascii_alphanumeric()).take(4).collect();
            out.push((Origin::Variable(format!("{}_TOKEN", lead.to_ascii_uppercase())), login));
        }
    }
    out
}

/// What it is that a secret leaves there; None where it may.
fn judge(
    origin: &Origin,
    host: Option<&str>,
    road: Road,
    login: bool,
) -> Option<(&'static str, Grade)> {
    const SEND: &str = "secret.send";
    const LEND: &str = "secret.lend";
    const SHOW: &str = "secret.show";
    if !origin.may_be_secret() {
        return None;
    }
    if road == Road::Shown {
        return Some((SHOW, Grade::Certain));
    }
    let name = match origin {
        Origin::Environment => return Some((SEND, Grade::Certain)),
        Origin::File(path) => {
            let key = path.contains("/.ssh/") || path.ends_with(".pem") || path.ends_with(".key");
            return (!login || key).then_some((SEND, Grade::Certain));
        }
        Origin::Variable(name) | Origin::Command(name) => name.to_ascii_lowercase(),
    };
    let words: Vec<&str> = name.split(['_', '-']).filter(|word| word.len() > 1).collect();
    let owner = OWNERS.iter().find(|(own, _)| own.split(' ').any(|own| words.contains(&own)));
    if host.is_some_and(|host| belongs(host, owner.map(|(_, hosts)| *hosts), &words)) {
        return None;
    }
    let homeless = HOMELESS.iter().any(|own| match own.split_once('_') {
        Some(_) => name.contains(own),
        None => words.contains(own),
    });
    let stored = matches!(origin, Origin::Command(_)) && owner.is_none();
    match (owner.is_some(), login) {
        _ if (homeless || stored) && !login => Some((SEND, Grade::Certain)),
        _ if stored => None,
        (true, false) if host.is_some() || road == Road::Raw => Some((SEND, Grade::Certain)),
        (true, true) if host.is_some() => Some((LEND, Grade::Certain)),
        (true, false) => Some((LEND, Grade::Certain)),
        (true, true) => Some((LEND, Grade::Possible)),
        (false, false) if road == Road::Raw => Some((LEND, Grade::Certain)),
        (false, false) => Some((LEND, Grade::Possible)),
        (false, true) => None,
    }
}

/// Does a host belong to the owner of a secret, or tell of it by its name?
fn belongs(host: &str, hosts: Option<&str>, words: &[&str]) -> bool {
    let below = |end: &str| host == end || host.strip_suffix(end).is_some_and(|r| r.ends_with('.'));
    let Some(hosts) = hosts else {
        let own = |word: &&&str| word.len() > 2 && !GENERIC.contains(*word);
        return words.iter().filter(own).any(|word| host.contains(*word));
    };
    // Of what people run themselves the name stands at the front: `gitlab.corp.example`, not `github.com.example.org`.
    let kept = |name: &str| {
        host.split('.').next() == Some(name)
            && !hosts.split(' ').any(|h| host.contains(h.trim_start_matches('~')))
    };
    hosts.split(' ').any(|one| match one.strip_prefix('~') {
        Some(name) => kept(name),
        None => below(one),
    })
}

/// Are the words of an address what names it: `$WEBHOOK_URL`?
pub fn is_address(name: &str) -> bool {
    ADDRESSES.iter().any(|end| name.ends_with(end))
}
