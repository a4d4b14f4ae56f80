//! Secrets on their way out, within one call: what may hold which, and what it means that one leaves for a host.
//!
//! The walk of shell text says what is looked up, printed, kept and handed on; here that is kept, a bit for each
//! origin, and settled in the end, when it is known what leaves for where. What most calls look up is no secret: that is
//! asked only of what reaches a command that sends.

use std::collections::BTreeMap;

use super::analysis::{Said, Secrets};
use serde_json::Value as Json;

use super::host;
use super::secret::{is_file, is_setting, is_variable};
use super::value::{BLANK, Value};
use super::{Analysis, Effect, Extent, Grade, Opt, Source, SubCommand, Target, Word};
use crate::limits;
use crate::names::flow::{
    ADDRESSES, CODES, DNS, FEEDERS, GENERIC, HOMELESS, LISTERS, LOGINS, MUTES, NEAR, OWNERS,
    PRINTERS, PUBLISHERS, RAW, SENDERS, SHELLS, USUAL,
};
use crate::tokens;

/// The last bit stands for all that no bit was left for.
const LAST: usize = Secrets::BITS as usize - 1;

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
    /// In what `set --` was given.
    pub positional: Secrets,
    variables: BTreeMap<String, Secrets>,
    files: BTreeMap<String, Secrets>,
    bodies: Vec<(usize, Secrets)>,
    /// The commands inside `>(...)` of the command at hand.
    pub outward: Vec<std::ops::Range<usize>>,
    /// The command that keeps a connection open on a descriptor.
    pub socket: Option<usize>,
    /// Hosts that are told although a secret stands before them in the same word.
    hosts: BTreeMap<usize, String>,
    /// The command that leads all that the shell prints to such a one.
    pub stdout: Option<usize>,
}

impl Flow {
    /// The bit of an origin.
    fn bit(&mut self, origin: Origin) -> Secrets {
        let known = self.origins.iter().position(|own| *own == origin);
        let at = known.unwrap_or(self.origins.len());
        if known.is_none() {
            if at >= limits::PLAIN_NAMES && !origin.may_be_secret() {
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

    /// Whatever variable: nobody knows which is looked up.
    pub fn look_up_any(&mut self) {
        self.seen |= self.bit(Origin::Environment);
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

    /// What the call has written into a file, or below a directory.
    fn written_at(&self, path: &Target) -> Secrets {
        let below = |own: &str| {
            let rest = own.strip_prefix(path.resolved.as_str());
            rest.is_some_and(|rest| {
                rest.is_empty() || path.extent.is_wide() && rest.starts_with('/')
            })
        };
        self.files.iter().filter(|(own, _)| below(own)).fold(0, |all, (_, one)| all | one)
    }

    /// What a file holds that a command hands on.
    fn held_by(&self, path: &Target) -> Secrets {
        let written = self.written_at(path);
        let own = Origin::File(path.lexical.clone());
        let bit = self.origins.iter().position(|origin| *origin == own);
        written | bit.map_or(0, |bit| 1 << bit)
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

    /// `https://$TOKEN@host/x`, `$TOKEN.host`: whatever the secret is, the host stands behind it.
    pub fn note_hosts(&mut self, index: usize, name: &str, args: &[Value]) {
        for arg in args.iter().filter(|arg| arg.secrets != 0) {
            let text = arg.text().or(arg.outline()).unwrap_or_default();
            if reads_code(name) {
                // What is known of such a program only in part nobody reads.
                let behind = text.split_once("://").map_or("", |(_, rest)| rest);
                let end = behind.find(|c: char| !(c.is_ascii_alphanumeric() || "-.".contains(c)));
                let host = &behind[..end.unwrap_or(behind.len())];
                if host.contains('.') || host == "localhost" {
                    self.hosts.insert(index, host.to_ascii_lowercase());
                }
                continue;
            }
            let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let sign = if authority.contains('@') { '@' } else { BLANK };
            let Some((before, host)) = authority.rsplit_once(sign) else { continue };
            let host = host.trim_start_matches('.').split(':').next().unwrap_or_default();
            let named =
                host.contains('.') && !host.contains(BLANK) && !host.contains([' ', '@', '=']);
            if named && (sign == BLANK || before.contains(BLANK)) {
                self.hosts.insert(index, host.to_ascii_lowercase());
            }
        }
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
            return names
                .iter()
                .fold(0, |all, name| all | self.bit(Origin::Variable(name.clone())));
        }
        let stored = || {
            let own = analysis.effects.iter().rev().take_while(|e| e.command == Some(index));
            own.into_iter().any(|effect| effect.word == Word::Named("cloud.secret"))
        };
        if lists_all(command) {
            self.bit(Origin::Environment)
        } else if begins(command, PRINTERS).is_some_and(|row| prints_it(row, command))
            || prints_setting(command)
            || stored()
        {
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
            from = at + 3;
            let more = ["ironb", "iron"].iter().find(|more| lower[from..].starts_with(**more));
            let rest = &text[from + more.map_or(0, |more| more.len())..];
            let behind =
                rest.trim_start_matches(|c: char| "([{'\".?:)\\ ".contains(c) || c == BLANK);
            let call = ["get", "fetch"].iter().find_map(|call| behind.strip_prefix(call));
            let behind = call
                .map_or(behind, |get| get.trim_start_matches(|c: char| "([{'\"\\ ".contains(c)));
            let end = behind.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let name = &behind[..end.unwrap_or(behind.len())];
            let boundary = text[..at].chars().next_back();
            let whole = boundary.is_none_or(|c| !c.is_alphanumeric() && c != '_')
                || text[..at].ends_with("get");
            let kept = self.variables.get(name).copied().unwrap_or_default();
            if (is_shouted(name) || kept != 0) && behind.len() < rest.len() {
                let own = is_shouted(name) && kept == 0;
                all |= kept;
                all |= if own { self.bit(Origin::Variable(name.to_string())) } else { 0 };
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

    fn as_target(&self) -> Target {
        let lexical = self.name();
        Target { resolved: lexical.clone(), lexical, extent: Extent::Exact }
    }

    /// As people are told of it, where a path would stand.
    fn name(&self) -> String {
        match self {
            Origin::Variable(name) => format!("${name}"),
            Origin::Command(name) => format!("$({name} ...)"),
            Origin::Environment => "$environment".into(),
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

/// This machine, also as its containers call it.
fn is_local(host: &str) -> bool {
    host::is_local(host) || NEAR.contains(&host)
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
    match command.name.as_str() {
        "env" | "printenv" => command.operands.iter().all(|at| {
            command.args.get(*at).and_then(|a| a.text.as_deref()).is_some_and(|t| t.contains('='))
        }),
        "set" => command.args.is_empty(),
        _ => {
            let mut flags = command.args.iter().map(|a| a.text.as_deref().unwrap_or_default());
            flags.all(|flag| flag.starts_with('-') && flag.contains(['p', 'x']))
        }
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
            let names: Vec<String> =
                command.options.iter().filter(named).filter_map(value).collect();
            let names: Vec<String> = names.into_iter().filter(|name| is_shouted(name)).collect();
            (!names.is_empty()).then_some(names)
        }
        _ => None,
    }
}

/// The row of a list whose words a command begins with: its program and its first operands.
fn begins(command: &SubCommand, list: &[&'static str]) -> Option<&'static str> {
    let operand = |at: usize| command.args.get(*command.operands.get(at)?)?.text.as_deref();
    let option =
        |name: &str| command.options.iter().any(|o| o.name == name || o.aliases.contains(&name));
    list.iter().copied().filter(|row| row.starts_with(&command.name)).find(|row| {
        let mut words = row.split(' ');
        let mut at = 0;
        words.next() == Some(command.name.as_str())
            && words.all(|word| match word.starts_with('-') {
                true => option(word),
                false => {
                    at += 1;
                    operand(at - 1) == Some(word)
                }
            })
    })
}

/// `git config --get http.x.extraheader`, `npm config get //x/:_authToken`
fn prints_setting(command: &SubCommand) -> bool {
    let mut operands =
        command.operands.iter().filter_map(|at| command.args.get(*at)?.text.as_deref());
    matches!(command.name.as_str(), "git" | "npm" | "pnpm" | "yarn")
        && operands.next() == Some("config")
        && operands.any(is_setting)
}

/// `docker inspect -f '{{.State.Status}}'` prints no variables.
fn prints_it(row: &str, command: &SubCommand) -> bool {
    let form = |o: &&Opt| matches!(o.name.as_str(), "-f" | "--format");
    let value = |o: &Opt| o.value.as_ref()?.text.clone();
    let told = command.options.iter().find(form).and_then(value);
    !row.ends_with("inspect")
        || told.is_none_or(|told| told.contains("Env") || told.contains("json ."))
}

/// Does the program print nothing of what it is given?
pub fn is_mute(name: &str) -> bool {
    MUTES.contains(&name)
}

/// Does a program read the text of another one among its words?
pub fn reads_code(name: &str) -> bool {
    CODES.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

impl Flow {
    /// What a command's words hold, and where.
    pub fn words_said(&self, command: &SubCommand, args: &[Value]) -> Said {
        let mut said = Said::default();
        let name = command.name.as_str();
        for (at, arg) in args.iter().enumerate().filter(|(_, arg)| arg.secrets != 0) {
            let text = arg.text().or(arg.outline()).or(arg.prefix()).unwrap_or_default();
            match spot_at(command, at, text) {
                Spot::Login => said.login |= arg.secrets,
                Spot::Address => said.sent |= arg.secrets & !self.addresses(),
                Spot::Else => said.sent |= arg.secrets,
            }
        }
        said.sent |= if reads_stdin(name, args) { self.fed } else { 0 };
        said
    }

    /// The same of a program's text on standard input.
    pub fn text_said(&self, text: &str, code: Secrets) -> Said {
        match tells_caller(&text.to_ascii_lowercase()) {
            true => Said { login: code, sent: 0 },
            false => Said { login: 0, sent: code },
        }
    }

    /// Those that are addresses themselves: `$WEBHOOK_URL`.
    fn addresses(&self) -> Secrets {
        let is_address = |origin: &Origin| match origin {
            Origin::Variable(name) => {
                ADDRESSES.contains(&name.rsplit('_').next().unwrap_or_default())
            }
            Origin::Command(_) | Origin::Environment => true,
            Origin::File(_) => false,
        };
        let bits = self.origins.iter().enumerate().filter(|(_, origin)| is_address(origin));
        bits.fold(0, |all, (bit, _)| all | 1 << bit)
    }
}

/// Is it the value of an option that says who asks?
fn is_login(command: &SubCommand, span: &std::ops::Range<usize>) -> bool {
    let at = command.args.iter().position(|arg| arg.span == *span);
    let option = at.and_then(|at| option_at(command, at));
    option.is_some_and(|option| LOGINS.contains(&option))
}

/// The option whose value stands at that place.
fn option_at(command: &SubCommand, at: usize) -> Option<&str> {
    let own = |o: &&Opt| {
        o.at == at || o.at + 1 == at && o.value.is_some() && !command.operands.contains(&at)
    };
    command.options.iter().find(own).map(|option| option.name.as_str())
}

/// Does what stands on its standard input leave with the command?
fn reads_stdin(name: &str, args: &[Value]) -> bool {
    !FEEDERS.contains(&name)
        || args.iter().any(|arg| {
            let text = arg.known_start();
            arg.is_pipe()
                || matches!(text, "-" | "-T-" | "-T.")
                || ["@-", "=-", "<-"].iter().any(|end| text.ends_with(end))
                || ["/dev/stdin", "/dev/fd/0"].iter().any(|own| text.contains(own))
        })
}

enum Spot {
    Login,
    /// The address itself.
    Address,
    Else,
}

/// Where a word stands; what others read later tells no host who asks.
fn spot_at(command: &SubCommand, at: usize, text: &str) -> Spot {
    match place_of(&command.name, option_at(command, at), text) {
        Spot::Login if begins(command, PUBLISHERS).is_some_and(|row| row != "gh api") => Spot::Else,
        spot => spot,
    }
}

/// Does a program's text say who calls?
fn tells_caller(text: &str) -> bool {
    ["authorization", "headers", "auth=", "auth:"].iter().any(|word| text.contains(word))
}

fn place_of(name: &str, option: Option<&str>, text: &str) -> Spot {
    let lower = text.to_ascii_lowercase();
    // `$WEBHOOK_URL`, `https://$HOST/x`: nothing stands before it.
    let rest = lower.split_once("://").map_or(lower.as_str(), |(_, rest)| rest);
    if SHELLS.contains(&name) || name == "git" {
        return Spot::Login;
    }
    if CODES.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')) {
        let login = tells_caller(&lower);
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
        }) && lower.contains("://") =>
        {
            Spot::Login
        }
        None if matches!(name, "http" | "https" | "xh" | "xhs")
            && header(&lower)
            && !lower.contains("://") =>
        {
            Spot::Login
        }
        None if rest.starts_with(BLANK) && !rest.starts_with(&format!("{BLANK}."))
            || lower.is_empty() =>
        {
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
    let leaves = |e: &&Effect| matches!(e.word, Word::Network | Word::Send);
    let mut contacts = vec![false; analysis.commands.len()];
    for at in analysis.effects.iter().filter(leaves).filter_map(|effect| effect.command) {
        contacts.get_mut(at).into_iter().for_each(|contacts| *contacts = true);
    }
    let mut found: Vec<Effect> = Vec::new();
    for (at, command) in analysis.commands.iter().enumerate() {
        let Said { sent, login } = command.said;
        let publishes = begins(command, PUBLISHERS).is_some();
        if !contacts[at] && !publishes && !flow.hosts.contains_key(&at) {
            continue;
        }
        let road = if publishes { Some(Road::Shown) } else { road_of(command) };
        let Some(road) = road else { continue };
        let effects = analysis.effects.iter().filter(|e| e.command == Some(at));
        let uploads: Secrets = effects
            .clone()
            .filter(|e| matches!(e.word, Word::Send | Word::Read) && !is_login(command, &e.span))
            .filter_map(|e| e.path.as_ref())
            .map(|path| match road {
                Road::Shown => flow.written_at(path),
                Road::Web | Road::Raw => flow.held_by(path),
            })
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
        if let Some(told) = flow.hosts.get(&at) {
            if hosts.is_empty() {
                hosts.push((None, Grade::Certain));
            }
            hosts.iter_mut().filter(|(host, _)| host.is_none()).for_each(|(host, grade)| {
                (*host, *grade) = (Some(told.clone()), Grade::Certain);
            });
        }
        let said = flow.origins.iter().enumerate().flat_map(|(bit, origin)| {
            let place =
                |mask: Secrets, login| (mask >> bit & 1 != 0).then(|| (origin.clone(), login));
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
                    package: None,
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

/// The same of a tool's input, in which tokens stand as they are.
pub fn settle_input(analysis: &mut Analysis, input: &Json) {
    let leaves = |e: &&Effect| {
        e.command.is_none() && (e.word == Word::Network && e.host.is_some() || e.word == Word::Send)
    };
    let Some(effect) = analysis.effects.iter().find(leaves).cloned() else { return };
    if effect.host.as_deref().is_some_and(is_local) {
        return;
    }
    let mut texts = vec![input];
    let mut found = Vec::new();
    while let Some(value) = texts.pop() {
        match value {
            Json::String(text) => found.extend(tokens::named_tokens(text).map(origin_of_token)),
            Json::Array(list) => texts.extend(list),
            Json::Object(map) => texts.extend(map.values()),
            _ => {}
        }
    }
    for origin in found {
        if let Some((word, sure)) = judge(&origin, effect.host.as_deref(), Road::Web, false) {
            let path = origin.as_target();
            let word = Word::Named(word);
            let leak = Effect { word, grade: sure, path: Some(path), ..effect.clone() };
            if !analysis.effects.contains(&leak) {
                analysis.effects.push(leak);
            }
        }
    }
}

/// A token as the variable that would hold it.
fn origin_of_token(token: &str) -> Origin {
    let lead = token.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    // As long as the shortest head that tells a vendor (`AKIA`, `ghp`).
    let lead = lead.get(..4).unwrap_or(lead);
    Origin::Variable(format!("{}_TOKEN", lead.to_ascii_uppercase()))
}

/// How what the command sends leaves, where it publishes nothing.
fn road_of(command: &SubCommand) -> Option<Road> {
    let name = command.name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if DNS.contains(&name) || RAW.contains(&name) {
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
            let masked = text.replacen(token, &BLANK.to_string(), 1);
            let login = matches!(spot_at(command, at, &masked), Spot::Login);
            out.push((origin_of_token(token), login));
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
        return (!login).then_some((SHOW, Grade::Certain));
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
    let known = host.map(|host| belongs(host, owner.map(|(_, hosts)| *hosts), &words));
    match known {
        Some(Own::Sure) => return None,
        Some(Own::Likely) if login => return None,
        Some(Own::Likely) => return Some((LEND, Grade::Certain)),
        _ => {}
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

/// How surely a host belongs to the owner of a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Own {
    /// It does.
    Sure,
    /// People run it themselves, and this is how they call it.
    Likely,
    /// Nothing tells of it.
    No,
}

/// Does a host belong to the owner of a secret, or tell of it by its name?
fn belongs(host: &str, hosts: Option<&str>, words: &[&str]) -> Own {
    let below = |end: &str| host == end || host.strip_suffix(end).is_some_and(|r| r.ends_with('.'));
    let Some(hosts) = hosts else {
        let own = |word: &&&str| word.len() > 2 && !GENERIC.contains(*word);
        let named = words.iter().filter(own).any(|word| host.contains(*word));
        return if named { Own::Sure } else { Own::No };
    };
    // At the front, as in `gitlab.corp.example`, and not as in `github.com.example.org`.
    let first = host.split('.').next().unwrap_or_default();
    let forged = hosts.split(' ').any(|own| !own.starts_with('~') && host.contains(own));
    let kept = |own: &str| {
        let name = own.strip_prefix('~');
        !forged && name.is_some_and(|name| name == first || name == "*")
    };
    if hosts.split(' ').any(below) {
        Own::Sure
    } else if hosts.split(' ').any(kept) {
        Own::Likely
    } else {
        Own::No
    }
}
