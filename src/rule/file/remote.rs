//! `[remote.NAME]`: a server that can be asked, and everything that can be wrong with what a file
//! says of it.

use std::net::IpAddr;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeString, DeValue};

use crate::event::KindSet;
use crate::rule::reader::Reader;

/// The keys of `[remote.NAME]`, and what each means.
pub const REMOTE_KEYS: &[(&str, &str)] = &[
    ("url", "where it is; of a list (up to 10) the next is asked when one fails"),
    ("dialect", "what it speaks: hooks-server or claude-http"),
    ("events", "ask it about all of these events, whatever the rules say"),
    ("timeout_ms", "how long one attempt may take"),
    ("retry_count", "how often an attempt that failed is made again"),
    ("retry_delay_ms", "the pause before each retry"),
    ("deadline_ms", "how long everything may take: attempts, pauses, all addresses"),
    ("fail_open", "for `events`: false = what it cannot be asked about is denied"),
    ("on_allow", "what its plain allow is: silent, or allow"),
    ("on_modify", "what its changed input carries: silent, allow or ask"),
    ("strict_data", "true = send the fields of the protocol and no others"),
    ("headers", "further request headers; $VAR stands for a variable of allow_vars"),
    ("allow_vars", "the environment variables that headers may name"),
    ("token_env", "the environment variable that holds its bearer token"),
    ("token_file", "the file that holds its bearer token"),
    ("ca", "a PEM file of the only authorities that its certificate may be from"),
    ("proxy", "the HTTP proxy to it"),
    ("human", "a human answers there: never asked twice, may allow what a rule asks about"),
    ("audit", "true = it is told of events that a local rule denied"),
];

/// How many addresses a server may have.
const MOST_URLS: usize = 10;
/// Headers that are hookctl's own to set.
const OWN_HEADERS: &[&str] =
    &["host", "content-length", "content-type", "transfer-encoding", "connection", "user-agent"];

/// What a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// The Claude Hooks Server Protocol 1.0.
    #[default]
    HooksServer,
    /// What Claude Code's own `http` hooks speak.
    ClaudeHttp,
}

/// What an answer amounts to that names no permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Amounts {
    /// To nothing: the call takes its normal way.
    #[default]
    Silent,
    /// To an allow.
    Allow,
    /// To an ask.
    Ask,
}

/// Where the bearer token comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// An environment variable.
    Env(String),
    /// A file.
    File(PathBuf),
}

/// An address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// As it is written.
    pub text: String,
    /// Its host is this machine.
    pub loopback: bool,
}

impl Url {
    /// Without the query, which may hold what nobody else should read.
    pub fn endpoint(&self) -> &str {
        self.text.split(['?', '#']).next().unwrap_or_default()
    }

    fn is_https(&self) -> bool {
        self.text.starts_with("https:")
    }

    fn parse(text: &str) -> Result<Url, String> {
        let (scheme, rest) = text.split_once("://").ok_or("an address begins with http(s)://")?;
        if !matches!(scheme, "http" | "https") {
            return Err("the scheme is http or https".into());
        }
        if !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err("an address has neither blanks nor other than ASCII characters".into());
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err("no names or passwords here: write token_env or token_file".into());
        }
        let (host, port) = match authority.strip_prefix('[').and_then(|a| a.split_once(']')) {
            Some((host, port)) => (host, port.strip_prefix(':')),
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        if host.is_empty() {
            return Err("the host is missing".into());
        }
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return Err("the port is no number up to 65535".into());
        }
        let loopback = host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        Ok(Url { text: text.to_string(), loopback })
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
    pub dialect: Dialect,
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
    /// Send the protocol's fields only.
    pub strict: bool,
    /// Further headers, variables not yet filled in.
    pub headers: Vec<(String, String)>,
    /// The variables that they may name.
    pub allow_vars: Vec<String>,
    /// The bearer token.
    pub token: Option<Token>,
    /// The only authorities that its certificate may be from.
    pub ca: Option<PathBuf>,
    /// The proxy to it; never used for this machine.
    pub proxy: Option<String>,
    /// A human answers there.
    pub human: bool,
    /// It is told of local denies.
    pub audit: bool,
}

/// Splits a header's value at its variables: text, and the name of the variable behind it.
pub fn variables(value: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let mut rest = value;
    std::iter::from_fn(move || {
        let mut from = 0;
        while let Some(at) = rest[from..].find('$').map(|at| at + from) {
            let tail = &rest[at + 1..];
            let braced =
                tail.strip_prefix('{').and_then(|t| t.split_once('}')).map(|(name, _)| name);
            let len = tail.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
            let (name, end) = match braced {
                Some(name) => (name, at + 3 + name.len()),
                None => (&tail[..len], at + 1 + len),
            };
            if !name.is_empty() {
                let text = &rest[..at];
                rest = &rest[end..];
                return Some((text, Some(name)));
            }
            from = at + 1;
        }
        (!rest.is_empty()).then(|| (std::mem::take(&mut rest), None))
    })
}

/// Reads one; None where it cannot be used.
pub(super) fn read_remote(
    name: &Spanned<DeString<'_>>,
    body: &Spanned<DeValue<'_>>,
    r: &mut Reader<'_>,
) -> Option<Remote> {
    let table = r.table(body, "remote")?;
    let before = r.errors();
    let mut out = Remote {
        name: name.get_ref().to_string(),
        urls: Vec::new(),
        dialect: Dialect::default(),
        events: KindSet::EMPTY,
        timeout: Duration::from_millis(5_000),
        retries: 3,
        delay: Duration::from_millis(1_000),
        deadline: Duration::from_millis(25_000),
        fail_open: true,
        on_allow: Amounts::Silent,
        on_modify: Amounts::Silent,
        strict: false,
        headers: Vec::new(),
        allow_vars: Vec::new(),
        token: None,
        ca: None,
        proxy: None,
        human: false,
        audit: false,
    };
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if out.name.is_empty() || !out.name.bytes().all(fits) {
        let message = format!("`{}` is no name of a server", out.name);
        r.fault("bad-name", message, Some("letters, digits, `-` and `_`".into()), name.span());
    }
    let mut spans: Vec<(&str, Range<usize>)> = Vec::new();
    for (key, value) in table {
        if let Some((known, _)) = REMOTE_KEYS.iter().find(|(known, _)| *known == key.get_ref()) {
            spans.push((known, key.span()));
            read_key(known, value, &mut out, r);
        } else {
            r.unknown_key(key.get_ref(), key.span(), REMOTE_KEYS.iter().map(|(key, _)| *key));
        }
    }
    let at = |key: &str| spans.iter().find(|(known, _)| *known == key).map(|(_, s)| s.clone());
    if r.errors() == before {
        check(&out, name.span(), &at, r);
    }
    (r.errors() == before).then_some(out)
}

fn read_key(key: &str, value: &Spanned<DeValue<'_>>, out: &mut Remote, r: &mut Reader<'_>) {
    let ms = |r: &mut Reader<'_>, least, most| {
        r.integer(value, least, most).map(Duration::from_millis).unwrap_or_default()
    };
    match key {
        "url" => {
            out.urls = r.each(value, "bad-url", Url::parse);
            if out.urls.len() > MOST_URLS {
                let message = format!("a server has at most {MOST_URLS} addresses");
                r.fault("out-of-range", message, None, value.span());
            }
            if let Some(url) = out.urls.iter().find(|url| !url.is_https() && !url.loopback) {
                r.warn(
                    "plain-http",
                    format!("everybody on the way to {} can read and change this", url.endpoint()),
                    Some("use https; `ca` takes a private authority".into()),
                    value.span(),
                );
            }
        }
        "dialect" => {
            const NAMES: &[(&str, Dialect)] =
                &[("hooks-server", Dialect::HooksServer), ("claude-http", Dialect::ClaudeHttp)];
            out.dialect = r.one_of("dialect", value, NAMES).unwrap_or_default();
        }
        "events" => out.events = r.kinds(value).unwrap_or_default(),
        "timeout_ms" => out.timeout = ms(r, 10, 600_000),
        "retry_count" => out.retries = r.integer(value, 0, 10).unwrap_or_default() as u32,
        "retry_delay_ms" => out.delay = ms(r, 0, 60_000),
        "deadline_ms" => out.deadline = ms(r, 10, 600_000),
        "fail_open" => out.fail_open = r.boolean(value).unwrap_or_default(),
        "on_allow" => {
            const NAMES: &[(&str, Amounts)] =
                &[("silent", Amounts::Silent), ("allow", Amounts::Allow)];
            out.on_allow = r.one_of("on_allow", value, NAMES).unwrap_or_default();
        }
        "on_modify" => {
            const NAMES: &[(&str, Amounts)] =
                &[("silent", Amounts::Silent), ("allow", Amounts::Allow), ("ask", Amounts::Ask)];
            out.on_modify = r.one_of("on_modify", value, NAMES).unwrap_or_default();
        }
        "strict_data" => out.strict = r.boolean(value).unwrap_or_default(),
        "headers" => {
            if let Some(table) = r.table(value, "headers") {
                for (name, value) in table {
                    read_header(name, value, out, r);
                }
            }
        }
        "allow_vars" => {
            out.allow_vars = r.strings(value).into_iter().map(|(text, _)| text).collect();
        }
        "token_env" => out.token = r.string(value).map(|(text, _)| Token::Env(text)),
        "token_file" => out.token = path(value, r).map(Token::File),
        "ca" => out.ca = path(value, r),
        "proxy" => {
            if let Some((text, span)) = r.string(value) {
                // A proxy may well want a name and a password.
                let bare = match (text.split_once("://"), text.rsplit_once('@')) {
                    (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
                    _ => text.clone(),
                };
                match Url::parse(&bare) {
                    Ok(_) => out.proxy = Some(text),
                    Err(why) => r.fault("bad-url", format!("the proxy: {why}"), None, span),
                }
            }
        }
        "human" => out.human = r.boolean(value).unwrap_or_default(),
        _ => out.audit = r.boolean(value).unwrap_or_default(),
    }
}

fn read_header(
    name: &Spanned<DeString<'_>>,
    value: &Spanned<DeValue<'_>>,
    out: &mut Remote,
    r: &mut Reader<'_>,
) {
    let text = name.get_ref().to_string();
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    let why = if text.is_empty() || !text.bytes().all(token) {
        Some("is no name of a header")
    } else if OWN_HEADERS.contains(&text.to_ascii_lowercase().as_str()) {
        Some("is a header that hookctl sets itself")
    } else {
        None
    };
    if let Some(why) = why {
        r.fault("bad-header", format!("`{text}` {why}"), None, name.span());
    }
    let Some((value, span)) = r.string(value) else { return };
    if value.chars().any(char::is_control) {
        let message = format!("the value of `{text}` has a control character");
        r.fault("bad-header", message, None, span);
    }
    out.headers.push((text, value));
}

/// A path: absolute, below the home directory, or beside the file.
fn path(value: &Spanned<DeValue<'_>>, r: &mut Reader<'_>) -> Option<PathBuf> {
    let (text, span) = r.string(value)?;
    let path = PathBuf::from(&text);
    if path.is_absolute() || text.starts_with("~/") {
        return Some(path);
    }
    match &r.base {
        Some(base) if !text.is_empty() => Some(base.join(path)),
        _ => {
            let message = format!("`{text}` is no absolute path");
            r.fault("bad-path", message, Some("begin it with / or ~/".into()), span);
            None
        }
    }
}

/// What does not go together.
fn check(
    remote: &Remote,
    name: Range<usize>,
    at: &dyn Fn(&str) -> Option<Range<usize>>,
    r: &mut Reader<'_>,
) {
    let mut fault = |message: &str, hint: &str, span| {
        r.fault("bad-remote", message.into(), Some(hint.into()), span);
    };
    if remote.urls.is_empty() {
        fault("a server has an address", "add url = \"https://...\"", name);
        return;
    }
    if let (Some(_), Some(span)) = (at("token_env"), at("token_file")) {
        fault("a server has one token", "token_env or token_file", span);
    }
    let authorization = |(name, _): &(String, String)| name.eq_ignore_ascii_case("authorization");
    if let (true, Some(span)) = (remote.token.is_some(), at("headers"))
        && remote.headers.iter().any(authorization)
    {
        fault("the token already is the Authorization header", "take one of them out", span);
    }
    if let Some(span) = at("retry_count")
        && remote.human
        && remote.retries > 0
    {
        fault("a human is not asked twice", "take out retry_count or human", span);
    }
    let mut useless = |key: &str, is: bool, why: &str| {
        if let Some(span) = at(key).filter(|_| is) {
            r.warn("unused-key", format!("`{key}` has no effect: {why}"), None, span);
        }
    };
    let claude = remote.dialect == Dialect::ClaudeHttp;
    useless("strict_data", claude, "this dialect sends what the agent sent");
    useless("on_allow", claude, "an allow of this dialect is a real one");
    useless("on_modify", claude, "an answer of this dialect says itself what it carries");
    useless("ca", remote.urls.iter().all(|url| !url.is_https()), "there is no https address");
    useless("proxy", remote.urls.iter().all(|url| url.loopback), "this machine needs none");
    useless("fail_open", remote.events.is_empty(), "it is for `events`; rules have `otherwise`");
    let long = remote.timeout > remote.deadline && at("deadline_ms").is_some();
    useless("timeout_ms", long, "deadline_ms is shorter");
    let named: Vec<&str> =
        remote.headers.iter().flat_map(|(_, v)| variables(v)).filter_map(|v| v.1).collect();
    let idle = remote.allow_vars.iter().all(|var| !named.contains(&var.as_str()));
    useless("allow_vars", idle, "no header names one of them");
    for var in named {
        if !remote.allow_vars.iter().any(|known| known == var) {
            r.warn(
                "unlisted-variable",
                format!("`${var}` is not in allow_vars: it stands for nothing"),
                Some(format!("allow_vars = [\"{var}\"]")),
                at("headers").unwrap_or(name.clone()),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Layer, file};
    use std::path::Path;

    fn codes(body: &str) -> Vec<&'static str> {
        let text = format!("[remote.x]\n{body}\n");
        let file = file::read(&text, Path::new("/etc/f.toml"), Layer::User, None);
        let sound = file.faults.iter().all(|f| f.gravity == crate::rule::fault::Gravity::Warning);
        assert_eq!(file.remotes.len(), usize::from(sound), "{body}");
        file.faults.iter().map(|fault| fault.code).collect()
    }

    #[test]
    fn s1_35_every_setting_is_checked() {
        let url = "url = \"http://localhost:8080/hook\"";
        assert!(codes(url).is_empty());
        for (body, code) in [
            ("", "bad-remote"),
            ("url = 3", "wrong-type"),
            ("url = \"ftp://x\"", "bad-url"),
            ("url = \"http://a b\"", "bad-url"),
            ("url = \"https://u:p@x.org\"", "bad-url"),
            ("url = \"https://x.org:99999\"", "bad-url"),
            ("url = \"http://x.org/hook\"", "plain-http"),
            ("url = []", "empty-list"),
        ] {
            assert!(codes(body).contains(&code), "{body}: {:?}", codes(body));
        }
        for (body, code) in [
            ("timeout = 3", "unknown-key"),
            ("timeout_ms = 1", "out-of-range"),
            ("retry_count = -1", "out-of-range"),
            ("events = \"PreTool\"", "unknown-event"),
            ("dialect = \"soap\"", "unknown-word"),
            ("on_allow = \"ask\"", "unknown-word"),
            ("headers = { \"a b\" = \"x\" }", "bad-header"),
            ("headers = { Host = \"x\" }", "bad-header"),
            ("headers = { X-Key = \"$KEY\" }", "unlisted-variable"),
            ("allow_vars = \"KEY\"", "unused-key"),
            ("token_env = \"A\"\ntoken_file = \"/b\"", "bad-remote"),
            ("token_env = \"A\"\nheaders = { authorization = \"b\" }", "bad-remote"),
            ("human = true\nretry_count = 2", "bad-remote"),
            ("dialect = \"claude-http\"\nstrict_data = true", "unused-key"),
            ("ca = \"/a.pem\"", "unused-key"),
            ("proxy = \"http://p:3128\"", "unused-key"),
            ("fail_open = false", "unused-key"),
            ("timeout_ms = 900\ndeadline_ms = 500", "unused-key"),
        ] {
            let found = codes(&format!("{url}\n{body}"));
            assert_eq!(found, [code], "{body}");
        }
    }

    #[test]
    fn sx_08_variables_of_a_header() {
        let all: Vec<_> = variables("Bearer $A-${B_1}$ $$C x").collect();
        let wanted = [("Bearer ", Some("A")), ("-", Some("B_1")), ("$ $", Some("C")), (" x", None)];
        assert_eq!(all, wanted);
    }
}
