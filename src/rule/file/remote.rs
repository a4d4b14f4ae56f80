//! `[remote.NAME]`: a server that can be asked, and everything that can be wrong with what a file
//! says of it.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use crate::dialect::{self, Dialect, Setting, SettingKey, Settings, Takes};
use crate::event::{Kind, KindSet};
use crate::limits;
use crate::rule::reader::{Item, Key, Reader};
use crate::verdict::Verb;

mod check;
mod form;
mod header;
mod place;
mod url;

use self::header::read_header;

pub use self::header::split_variables;
use self::place::{read_command, read_path};
pub use self::url::Url;

/// The keys of any `[remote.NAME]`, and what each means.
const SHARED: &[(&str, &str)] = &[
    ("url", "where it is; of a list (up to 10) the next is asked when one fails"),
    ("dialect", "what it speaks"),
    ("events", "ask it about all of these events, or tell it of them, whatever the rules say"),
    ("timeout_ms", "how long one attempt may take"),
    ("retry_count", "how often an attempt that failed is made again"),
    ("retry_delay_ms", "the pause before each retry"),
    ("deadline_ms", "how long everything may take: attempts, pauses, all addresses"),
    ("fail_open", "for `events`: false = what it cannot be asked about is denied"),
    ("on_allow", "what its plain allow is: silent, or allow"),
    ("on_modify", "what its changed input carries: silent, allow or ask"),
    (
        "send",
        "how much of an event leaves: full, summary or hash; what looks like a secret never does",
    ),
    ("headers", "further request headers; $VAR stands for a variable of allow_vars"),
    ("allow_vars", "the environment variables that headers may name"),
    ("token_env", "the environment variable that holds its bearer token"),
    ("token_file", "the file that holds its bearer token"),
    ("token_command", "the command that prints its bearer token"),
    ("hmac_env", "the environment variable that holds the key which signs requests"),
    ("hmac_file", "the file that holds the key which signs requests"),
    ("ca", "a PEM file of the only authorities that its certificate may be from"),
    ("client_cert", "a PEM file with the certificate that hookctl shows it"),
    ("client_key", "a PEM file with that certificate's private key"),
    ("socket", "the Unix socket that it listens on; `url` then only says what is asked for"),
    ("proxy", "the HTTP proxy to it"),
    ("human", "a human answers there: never asked twice, may allow what a rule asks about"),
    (
        "remember_s",
        "how long an answer `for the session` of the human there holds, in seconds; 0 = never",
    ),
    ("audit", "true = it is told of events that a local rule denied"),
    ("verdicts", "webhook, otlp, bridge: of `events`, tell it only of those that ended so"),
];

/// The keys of `[remote.NAME]`, and what each means: those of any server, and each protocol's own.
pub fn remote_keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    let own = dialect::DIALECTS.iter().flat_map(|one| one.facts().keys);
    SHARED.iter().copied().chain(own.map(|key| (key.name, key.doc)))
}

/// How long an answer for the session holds, in seconds, and how long it may.
const REMEMBER: u64 = 3_600;
const LONGEST_REMEMBERED: u64 = 86_400;

words! {
    /// What an answer amounts to that names no permission.
    #[derive(Default)]
    Amounts {
        /// To nothing: the call takes its normal way.
        #[default]
        Silent = "silent",
        /// To an allow.
        Allow = "allow",
        /// To an ask, which a plain allow never is.
        Ask = "ask",
    }
}

/// Where a secret comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// An environment variable.
    Env(String),
    /// A file.
    File(PathBuf),
    /// What a command prints.
    Command(String),
}

words! {
    /// How much of an event leaves this machine.
    #[derive(Default)]
    Send {
        /// All but secrets.
        #[default]
        Full = "full",
        /// What was called on what, but no contents.
        Summary = "summary",
        /// Hashes in place of every text.
        Hash = "hash",
    }
}

/// A server that can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Its name.
    pub name: String,
    /// Where it is, in the order in which it is tried.
    pub urls: Vec<Url>,
    /// What it speaks.
    pub dialect: &'static dyn Dialect,
    /// What its file says of the protocol's own keys.
    pub own: Settings,
    /// The events that it is asked about, whatever the rules say.
    pub events: KindSet,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// Retries after the first attempt, for each address.
    pub retries: u32,
    /// The pause before each.
    pub delay: Duration,
    /// How long everything may take.
    pub deadline: Duration,
    /// What cannot be asked goes on, where `events` asked.
    pub fail_open: bool,
    /// What its plain allow amounts to.
    pub on_allow: Amounts,
    /// What its changed input amounts to.
    pub on_modify: Amounts,
    /// Further headers, variables not yet filled in.
    pub headers: Vec<(String, String)>,
    /// The variables that they may name.
    pub allow_vars: Vec<String>,
    /// The bearer token.
    pub token: Option<Secret>,
    /// The key that signs requests.
    pub hmac: Option<Secret>,
    /// The only authorities that its certificate may be from.
    pub ca: Option<PathBuf>,
    /// The certificate that hookctl shows it, and its private key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The Unix socket that it listens on.
    pub socket: Option<PathBuf>,
    /// The proxy to it; never used for this machine.
    pub proxy: Option<String>,
    /// A human answers there.
    pub human: bool,
    /// How long an answer holds that the human gives for the session.
    pub remember: Duration,
    /// It is told of local denies.
    pub audit: bool,
    /// How much of an event it gets.
    pub send: Send,
    /// Of `events`, it is told of those that ended so (None = no rule spoke); empty = of all.
    pub verdicts: Vec<Option<Verb>>,
    /// Nobody said where it is: it may have moved on from its own port.
    pub search: bool,
}

impl Remote {
    /// The events that may need it.
    pub fn kinds(&self) -> KindSet {
        match self.dialect.wants_heartbeat(&self.own) {
            true => self.events.union(KindSet::from_kinds(&Kind::BEGINNINGS)),
            false => self.events,
        }
    }

    /// A server of that name with everything as the protocol has it, and no address yet.
    pub fn new(name: &str, dialect: &'static dyn Dialect) -> Remote {
        let defaults = dialect.facts().defaults;
        Remote {
            name: name.to_string(),
            urls: Vec::new(),
            dialect,
            own: Settings::default(),
            events: KindSet::EMPTY,
            timeout: Duration::from_millis(defaults.timeout),
            retries: defaults.retries,
            delay: Duration::from_millis(defaults.delay),
            deadline: Duration::from_millis(defaults.deadline),
            fail_open: defaults.fail_open,
            on_allow: Amounts::Silent,
            on_modify: Amounts::Silent,
            headers: Vec::new(),
            allow_vars: Vec::new(),
            token: None,
            hmac: None,
            ca: None,
            identity: None,
            socket: None,
            proxy: None,
            human: dialect.facts().is_human,
            remember: Duration::from_secs(REMEMBER),
            audit: false,
            send: Send::Full,
            verdicts: Vec::new(),
            search: false,
        }
    }
}

/// Reads one; None where it cannot be used.
pub(super) fn read_remote(name: &Key<'_>, body: &Item<'_>, r: &mut Reader<'_>) -> Option<Remote> {
    let table = r.table(body, "remote")?;
    let before = r.error_count();
    // The other keys' defaults hang on it.
    let dialect = table.iter().find(|(key, _)| key.get_ref() == "dialect");
    let dialect = dialect.and_then(|(_, value)| {
        let names: Vec<_> = dialect::dialect_names().collect();
        r.one_of("dialect", value, &names)
    });
    let dialect = dialect.unwrap_or(dialect::default_dialect());
    let mut out = Remote::new(name.get_ref(), dialect);
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if out.name.is_empty() || !out.name.bytes().all(fits) {
        let message = format!("`{}` is no name of a server", out.name);
        r.add_error("bad-name", message, name.span()).with_hint("letters, digits, `-` and `_`");
    }
    let mut spans: Vec<(&str, Range<usize>)> = Vec::new();
    for (key, value) in table {
        let name = key.get_ref();
        let is_it = |one: &&SettingKey| one.name == name;
        if let Some((known, _)) = SHARED.iter().find(|(known, _)| *known == name) {
            spans.push((known, key.span()));
            read_key(known, value, &mut out, r);
        } else if let Some(own) = dialect.facts().keys.iter().find(is_it) {
            if let Some(setting) = read_own(own, value, r) {
                out.own.set(own, setting);
            }
        } else if let Some(other) = dialect::DIALECTS
            .iter()
            .find(|other| other.facts().keys.iter().any(|one| one.name == name))
        {
            let message = format!("`{name}` has no effect: it is for {}", other.scope_name());
            let hint = format!("leave it out, or write dialect = \"{}\"", other.scope_name());
            r.add_warning("unused-key", message, key.span()).with_hint(hint);
        } else {
            r.unknown_key(name, key.span(), remote_keys().map(|(key, _)| key));
        }
    }
    if let Some(port) = dialect.facts().port.filter(|_| !spans.iter().any(|(key, _)| *key == "url"))
    {
        out.urls = vec![Url::on_this_machine(port, "")];
        out.search = true;
    }
    out.urls.iter_mut().for_each(|url| url.private = dialect.facts().hides_path);
    if let Some(page) = dialect.facts().page {
        out.urls = out.urls.into_iter().map(|url| url.or_path(page)).collect();
    }
    let at = |key: &str| spans.iter().find(|(known, _)| *known == key).map(|(_, s)| s.clone());
    if r.error_count() == before {
        check::check_remote(&out, name.span(), &at, r);
    }
    (r.error_count() == before).then_some(out)
}

/// One key, which is known.
pub(super) fn read_key(key: &str, value: &Item<'_>, out: &mut Remote, r: &mut Reader<'_>) {
    match key {
        "url" => out.urls = addresses(value, r),
        "events" => out.events = r.kinds(value).unwrap_or_default(),
        "timeout_ms" => out.timeout = millis(value, 10, 600_000, r),
        "retry_count" => out.retries = r.integer(value, 0, 10).unwrap_or_default() as u32,
        "retry_delay_ms" => out.delay = millis(value, 0, 60_000, r),
        "deadline_ms" => out.deadline = millis(value, 10, 600_000, r),
        "fail_open" => out.fail_open = r.boolean(value).unwrap_or_default(),
        "on_allow" => out.on_allow = r.one_of(key, value, &Amounts::NAMES[..2]).unwrap_or_default(),
        "on_modify" => out.on_modify = r.one_of(key, value, Amounts::NAMES).unwrap_or_default(),
        "human" => out.human = r.boolean(value).unwrap_or_default(),
        "remember_s" => {
            let seconds = r.integer(value, 0, LONGEST_REMEMBERED).unwrap_or_default();
            out.remember = Duration::from_secs(seconds);
        }
        "audit" => out.audit = r.boolean(value).unwrap_or_default(),
        "send" => out.send = r.one_of(key, value, Send::NAMES).unwrap_or_default(),
        "verdicts" => out.verdicts = r.read_each(value, "unknown-word", verdict),
        _ => read_road(key, value, out, r),
    }
}

/// One of the keys that say how it is reached, and what it is shown: none of any other name is left.
fn read_road(key: &str, value: &Item<'_>, out: &mut Remote, r: &mut Reader<'_>) {
    match key {
        "headers" => {
            for (name, value) in r.table(value, key).into_iter().flatten() {
                read_header(name, value, out, r);
            }
        }
        "allow_vars" => {
            out.allow_vars = r.strings(value).into_iter().map(|(text, _)| text).collect();
        }
        "token_env" | "token_file" | "token_command" => out.token = secret(key, value, r),
        "hmac_env" | "hmac_file" => out.hmac = secret(key, value, r),
        "ca" => out.ca = read_path(value, r),
        "client_cert" | "client_key" => {
            let (cert, private) = out.identity.take().unwrap_or_default();
            out.identity = read_path(value, r).map(|path| match key {
                "client_cert" => (path, private),
                _ => (cert, path),
            });
        }
        "socket" => out.socket = read_path(value, r),
        "proxy" => {
            let Some((text, span)) = r.string(value) else { return };
            // A proxy may well want a name and a password.
            let bare = match (text.split_once("://"), text.rsplit_once('@')) {
                (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
                _ => text.clone(),
            };
            if address("the proxy", &bare, span, r).is_some() {
                out.proxy = Some(text);
            }
        }
        _ => {}
    }
}

fn addresses(value: &Item<'_>, r: &mut Reader<'_>) -> Vec<Url> {
    let texts = r.strings(value).into_iter();
    let urls: Vec<Url> =
        texts.filter_map(|(text, span)| address("the address", &text, span, r)).collect();
    if urls.len() > limits::ADDRESSES {
        let message = format!("a server has at most {} addresses", limits::ADDRESSES);
        r.add_error("out-of-range", message, value.span());
    }
    urls
}

/// Not by [`Reader::read_each`], whose faults quote the text.
fn address(what: &str, text: &str, span: Range<usize>, r: &mut Reader<'_>) -> Option<Url> {
    let url = Url::parse(text);
    if let Err(why) = &url {
        r.add_error("bad-url", format!("{what}: {why}"), span);
    }
    url.ok()
}

fn millis(value: &Item<'_>, least: u64, most: u64, r: &mut Reader<'_>) -> Duration {
    r.integer(value, least, most).map(Duration::from_millis).unwrap_or_default()
}

/// The secret from where the end of the key says that it is.
fn secret(key: &str, value: &Item<'_>, r: &mut Reader<'_>) -> Option<Secret> {
    match key.rsplit('_').next() {
        Some("env") => r.string(value).map(|(text, _)| Secret::Env(text)),
        Some("file") => read_path(value, r).map(Secret::File),
        _ => read_command(value, r).map(Secret::Command),
    }
}

fn verdict(text: &str) -> Result<Option<Verb>, String> {
    if text == "silent" {
        return Ok(None);
    }
    let found = Verb::ALL.iter().find(|verb| verb.name() == text);
    found.map(|verb| Some(*verb)).ok_or_else(|| format!("`{text}` is no verdict"))
}

/// What a file says under a protocol's own key.
fn read_own(key: &SettingKey, value: &Item<'_>, r: &mut Reader<'_>) -> Option<Setting> {
    match key.takes {
        Takes::Flag(_) => r.boolean(value).map(Setting::Flag),
        Takes::Word(words) => {
            let names: Vec<_> = words.iter().map(|word| (*word, *word)).collect();
            r.one_of(key.name, value, &names).map(Setting::Word)
        }
        Takes::Path => read_path(value, r).map(Setting::Path),
        Takes::Form(names) => form::read_form(value, names, r).map(Setting::Form),
    }
}

#[cfg(test)]
mod tests;
