//! The fault matrix: every fault of a server against every way of failing. The documented verdict, the
//! documented number of requests, in time, with one id, and no secret in anything that is kept or told.

use std::collections::BTreeSet;
use std::sync::Mutex;

#[cfg(feature = "tls")]
use super::server::{Cert, tls};
use super::*;

/// In every place where a server's secrets can be.
const SECRET: &str = "tok-abcdefghij0123456789";

/// Where the fault is.
enum At {
    /// At the server.
    Server(Vec<Play>),
    /// At a server under TLS; that authority alone is trusted.
    #[cfg(feature = "tls")]
    Tls(&'static str, Vec<Play>),
    /// At the proxy.
    Proxy(Vec<Play>),
    /// No proxy listens.
    NoProxy,
    /// No server listens.
    Nobody,
    /// Its name is none.
    NoName,
    /// It never gets to accept a connection.
    #[cfg(target_os = "linux")]
    Full,
    /// At a Unix socket.
    #[cfg(unix)]
    Socket(Vec<Play>),
    /// There is no such socket.
    #[cfg(unix)]
    NoSocket,
    /// The queue at the socket is full.
    #[cfg(target_os = "linux")]
    FullSocket,
    /// Nobody listens at the socket any more.
    #[cfg(unix)]
    OldSocket,
}

/// A fault, how many requests it costs with two retries, and how the journal names it.
type Fault = (&'static str, At, usize, &'static str);

fn one(what: &'static str, play: Play, requests: usize, cause: &'static str) -> Fault {
    (what, At::Server(vec![play]), requests, cause)
}

const SLOW: &str = "no answer within";
const RESET: &str = "connection reset";
const INVALID: &str = "invalid answer";

/// With a status line, all that an answer needs.
const HEAD: &str = "HTTP/1.1 200 OK\r\n";

fn connections() -> Vec<Fault> {
    let later = |status, header| Play::Answer(status, header, String::new());
    let mut all = vec![
        ("nobody listens (F1)", At::Nobody, 3, "connection refused"),
        ("no such host", At::NoName, 3, "no such host"),
        one("stall (F2)", Play::Stall, 3, SLOW),
        one("reset before the request", Play::ResetBefore, 3, RESET),
        one("reset after the request", Play::ResetAfter, 3, RESET),
        one("half the headers (F15)", Play::Raw(b"HTTP/1.1 200 OK\r\ncontent-le"), 3, RESET),
        one("reset behind the headers", Play::Cut("HTTP/1.1 200 OK\r\n\r\n"), 3, RESET),
        ("no proxy", At::NoProxy, 3, "the proxy: connection refused"),
        ("the proxy says no", At::Proxy(vec![status(403)]), 3, "the proxy refused"),
        ("the proxy stalls", At::Proxy(vec![Play::Stall]), 3, SLOW),
        ("the proxy drips", At::Proxy(vec![Play::Drip(HEAD, "a: b\r\n")]), 3, ""),
        ("the proxy closes", At::Proxy(vec![Play::ResetAfter]), 3, ""),
        one("400 (F5)", status(400), 1, "HTTP 400"),
        one("401", status(401), 1, "HTTP 401"),
        one("403", status(403), 1, "HTTP 403"),
        one("404", status(404), 1, "HTTP 404"),
        one("408", status(408), 3, "HTTP 408"),
        one("425", status(425), 3, "HTTP 425"),
        one("429", status(429), 3, "HTTP 429"),
        one("429, later than there is time", later(429, "retry-after: 60\r\n"), 1, "HTTP 429"),
        one("429, at once", later(429, "retry-after: 0\r\n"), 3, "HTTP 429"),
        one("500 with an allow (F12)", status(500), 3, "HTTP 500"),
        one("503", status(503), 3, "HTTP 503"),
        one("503 for an hour (F4)", later(503, "Retry-After: 3600\r\n"), 1, "HTTP 503"),
        one("redirect", later(302, "location: http://127.0.0.1:1/\r\n"), 1, "redirect"),
        one("redirect 307", later(307, "location: /other\r\n"), 1, "redirect"),
    ];
    #[cfg(target_os = "linux")]
    all.extend([
        ("connecting hangs", At::Full, 3, SLOW),
        ("connecting to a socket hangs", At::FullSocket, 3, SLOW),
    ]);
    #[cfg(unix)]
    all.extend([
        ("no socket", At::NoSocket, 3, "not reachable"),
        ("an old socket", At::OldSocket, 3, "connection refused"),
        ("stall at a socket", At::Socket(vec![Play::Stall]), 3, SLOW),
        ("drip at a socket", At::Socket(vec![Play::Drip(HEAD, "a: b\r\n")]), 3, SLOW),
        ("503 at a socket", At::Socket(vec![status(503)]), 3, "HTTP 503"),
    ]);
    all
}

fn answers() -> Vec<Fault> {
    let mut bomb = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n".to_vec();
    bomb.extend(include_bytes!("bomb.gz"));
    let bomb: &'static [u8] = bomb.leak();
    let huge = format!("{{\"reason\":\"{}\"}}", "x".repeat(5 << 20));
    let long = "HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n";
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    vec![
        one("slow drip (F13)", Play::Drip(long, " "), 3, SLOW),
        one("slow chunks", Play::Drip(chunked, "1\r\n \r\n"), 3, SLOW),
        one("slow headers", Play::Drip(HEAD, "a: b\r\n"), 3, SLOW),
        one("endless headers", Play::Flood(HEAD, "a: b\r\n"), 1, INVALID),
        one("one endless header", Play::Flood(HEAD, "a"), 1, INVALID),
        one("slow 100s", Play::Drip("", "HTTP/1.1 100 Continue\r\n\r\n"), 3, SLOW),
        one("a flood of 100s", Play::Flood("", "HTTP/1.1 100 Continue\r\n\r\n"), 1, INVALID),
        one("a flood of 103s", Play::Flood("", "HTTP/1.1 103 Hints\r\n\r\n"), 1, INVALID),
        one("101", Play::Answer(101, "upgrade: x\r\n", String::new()), 1, "HTTP 101"),
        one("HTML (F6)", ok("<html></html>"), 1, INVALID),
        one("a list (F7)", ok("[]"), 1, INVALID),
        one("a text (F7)", ok("\"ok\""), 1, INVALID),
        one("null (F7)", ok("null"), 1, INVALID),
        one("broken JSON", ok("{\"decision\":"), 1, INVALID),
        one("two objects", ok("{\"decision\":\"allow\"}{}"), 1, INVALID),
        one("modify without data (F10)", ok(r#"{"decision":"modify"}"#), 1, INVALID),
        one("an unknown decision (F11)", ok(r#"{"decision":"maybe"}"#), 1, INVALID),
        one("5 MiB (F14)", ok(&huge), 1, "invalid answer: larger than"),
        one("gzip bomb", Play::Raw(bomb), 1, "invalid answer: it is not UTF-8"),
        one("no HTTP", Play::Raw(b"SSH-2.0-x\r\n\r\n"), 1, INVALID),
        one(
            "longer than it says",
            Play::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{\"decision\":\"allow\"}"),
            1,
            INVALID,
        ),
        one(
            "shorter than it says",
            Play::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"decision\":\"allow\"}"),
            3,
            RESET,
        ),
        one(
            "two lengths",
            Play::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{\"decision\":\"allow\"}"),
            1,
            INVALID,
        ),
        one(
            "a bad chunk",
            Play::Raw(
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
            ),
            1,
            INVALID,
        ),
        one(
            "half the chunks",
            Play::Raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n"),
            3,
            RESET,
        ),
        one(
            "HTTP/1.0, cut off",
            Play::Raw(b"HTTP/1.0 200 OK\r\n\r\n{\"decision\":\"allow\""),
            1,
            INVALID,
        ),
    ]
}

#[cfg(feature = "tls")]
fn under_tls() -> Vec<Fault> {
    let of = |what, play, requests, cause| (what, At::Tls("ca.pem", vec![play]), requests, cause);
    let inside = |play| Play::Tls(Cert::Good, Box::new(play));
    let allow = r#"{"decision":"allow"}"#;
    vec![
        (
            "TLS: unknown authority",
            At::Tls("stranger.pem", vec![tls(Cert::Good, allow)]),
            1,
            "TLS: invalid peer certificate",
        ),
        of("TLS: expired", tls(Cert::Expired, allow), 1, "TLS: invalid peer certificate"),
        of("TLS: wrong host", tls(Cert::Elsewhere, allow), 1, "TLS: invalid peer certificate"),
        of("TLS: none", Play::Blurt(b"HTTP/1.1 400 No\r\n\r\n"), 1, "TLS"),
        of("TLS: not a word", Play::Deaf, 3, SLOW),
        of("TLS: closed", Play::ResetAfter, 3, RESET),
        of("TLS: closed behind the handshake", inside(Play::ResetBefore), 3, RESET),
        of(
            "TLS: cut off behind the headers",
            inside(Play::Raw(b"HTTP/1.1 200 OK\r\n\r\n")),
            3,
            RESET,
        ),
        of("TLS: stall", inside(Play::Stall), 3, SLOW),
        of("TLS: slow drip", inside(Play::Drip(HEAD, "a: b\r\n")), 3, SLOW),
        of("TLS: 503", inside(status(503)), 3, "HTTP 503"),
    ]
}

/// All of them, a few at a time: each starts processes of its own, and time counts.
fn all(faults: Vec<Fault>) {
    let left = Mutex::new(faults.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(fault) = left.lock().unwrap().next() else { break };
                    hurts_nobody(&fault);
                }
            });
        }
    });
}

#[test]
fn s1_24_s1_25_s1_30_s1_31_s1_32_sx_07_no_connection_hurts() {
    all(connections());
}

#[test]
fn s1_27_s1_31_s1_32_s1_33_sx_07_no_answer_hurts() {
    all(answers());
}

#[test]
#[cfg(feature = "tls")]
fn sx_06_sx_07_nothing_under_tls_hurts() {
    all(under_tls());
}

/// What a fault takes: held as long as it is tested.
#[derive(Default)]
struct Stage {
    url: String,
    settings: String,
    server: Option<Server>,
    #[cfg(target_os = "linux")]
    _queue: Option<Box<dyn std::any::Any>>,
}

fn stage(at: &At, dir: &std::path::Path) -> Stage {
    let of = |server: Server, settings: String| Stage {
        url: server.url.clone(),
        settings,
        server: Some(server),
        ..Stage::default()
    };
    let bare =
        |url: &str, settings: String| Stage { url: url.into(), settings, ..Stage::default() };
    let proxied = |url: &str| {
        let address = url.trim_start_matches("http://").trim_end_matches("/hook");
        format!("proxy = \"http://me:{SECRET}@{address}\"\n")
    };
    let away = "https://hooks.example.org/hook";
    let socket = format!("socket = \"{}\"\n", dir.join("s").display());
    match at {
        At::Server(plays) => of(Server::start(plays.clone()), String::new()),
        #[cfg(feature = "tls")]
        At::Tls(ca, plays) => {
            let server = Server::start(plays.clone());
            let url = server.url.replace("http://127.0.0.1", "https://localhost");
            let ca = format!("{}/tests/remote/tls/{ca}", env!("CARGO_MANIFEST_DIR"));
            Stage { url, ..of(server, format!("ca = \"{ca}\"\n")) }
        }
        At::Proxy(plays) => {
            let server = Server::start(plays.clone());
            let settings = proxied(&server.url);
            Stage { url: away.into(), ..of(server, settings) }
        }
        At::NoProxy => bare(away, proxied(&Server::nobody())),
        At::Nobody => bare(&Server::nobody(), String::new()),
        // Too long for a name, so that nobody is asked for it.
        At::NoName => bare(&format!("https://{}.example.org/hook", "x".repeat(64)), String::new()),
        #[cfg(target_os = "linux")]
        At::Full => {
            let (url, queue) = full::tcp();
            Stage { _queue: Some(queue), ..bare(&url, String::new()) }
        }
        #[cfg(target_os = "linux")]
        At::FullSocket => {
            let queue = Some(full::socket(&dir.join("s")));
            Stage { _queue: queue, ..bare("http://hooks.example.org/hook", socket) }
        }
        #[cfg(unix)]
        At::Socket(plays) => of(Server::at(&dir.join("s"), plays.clone()), socket),
        #[cfg(unix)]
        At::NoSocket => bare("http://hooks.example.org/hook", socket),
        #[cfg(unix)]
        At::OldSocket => {
            drop(std::os::unix::net::UnixListener::bind(dir.join("s")).unwrap());
            bare("http://hooks.example.org/hook", socket)
        }
    }
}

/// Quick enough that a loaded machine makes all three attempts within the deadline.
const TIMES: &str = "timeout_ms = 300\nretry_count = 2\nretry_delay_ms = 30\ndeadline_ms = 1400";

fn hurts_nobody((what, at, requests, cause): &Fault) {
    let rule = "[rule.r]\ntool = \"Bash\"\nremote = \"x\"\n";
    let asked = "The server `x` cannot be asked";
    for (setting, forwarded, verb, reason) in [
        ("fail_open = true", true, "", ""),
        ("fail_open = false", true, "deny", CLOSED),
        ("", false, "ask", asked),
        ("otherwise = \"deny\"", false, "deny", asked),
        ("otherwise = \"silent\"", false, "", ""),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let stage = stage(at, dir.path());
        let base = format!(
            "[remote.x]\nurl = \"{}?key={SECRET}\"\n{TIMES}\ntoken_env = \"MY_TOKEN\"\n\
             hmac_env = \"MY_KEY\"\nallow_vars = \"MY_HEADER\"\nheaders = {{ X-A = \"$MY_HEADER\" }}\n{}",
            stage.url, stage.settings
        );
        let home = Home::new(&match forwarded {
            true => format!("{base}events = \"*\"\n{setting}\n"),
            false => format!("{base}{rule}{setting}\n"),
        });
        let start = Instant::now();
        let mut command = home.command(&["hook"]);
        for name in ["MY_TOKEN", "MY_KEY", "MY_HEADER"] {
            command.env(name, SECRET);
        }
        let output = finish(command.spawn().unwrap(), &bash("ls").to_string());
        let took = start.elapsed();
        let answer = answer_of(&output);
        let found = verdict(&answer);
        let remote = home.remote();
        assert_eq!(found.0, verb, "{what}, {setting}: {answer} {remote}");
        assert!(found.1.starts_with(reason), "{what}, {setting}: {answer}");
        assert!(took < Duration::from_millis(1400 + 1500), "{what}: {took:?}");
        assert!(remote["ms"].as_u64().unwrap() <= 1400 + 600, "{what}: {remote}");
        assert_eq!(remote["attempts"], *requests, "{what}: {remote}");
        assert_eq!(
            (&remote["name"], &remote["outcome"]),
            (&json!("x"), &json!("failed")),
            "{what}"
        );
        assert!(remote["cause"].as_str().unwrap().starts_with(cause), "{what}: {remote}");
        if let Some(server) = &stage.server {
            assert_eq!(server.connections(), *requests, "{what}, {setting}");
            let seen = server.seen();
            // S1-04: one id and one time for all attempts.
            let whole = seen.iter().filter(|one| !one.body.is_empty());
            let ids: BTreeSet<String> = whole.map(|one| one.json()["event"].to_string()).collect();
            assert!(ids.len() <= 1, "{what}: {ids:?}");
        }
        let told = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        for text in [home.journal(), home.kept()].iter().chain(&told) {
            assert!(!text.contains(SECRET), "{what}: {text}");
        }
    }
}

/// Listeners that never accept, with a full queue: the system lets nobody in as long as what is
/// returned is held.
#[cfg(target_os = "linux")]
pub mod full {
    use std::any::Any;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::time::Duration;

    pub fn tcp() -> (String, Box<dyn Any>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let addr = listener.local_addr().unwrap();
        let next = || TcpStream::connect_timeout(&addr, Duration::from_millis(100)).ok();
        let waiting: Vec<TcpStream> = std::iter::from_fn(next).take(8).collect();
        (format!("http://{addr}/hook"), Box::new((listener, waiting)))
    }

    pub fn socket(path: &std::path::Path) -> Box<dyn Any> {
        let listener = UnixListener::bind(path).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        Box::new((listener, UnixStream::connect(path).unwrap()))
    }
}

#[test]
fn half_open_connections_end_in_time() {
    // More than the system takes off our hands.
    let payload = json!({
        "session_id": "s", "cwd": "/", "hook_event_name": "PostToolUse", "tool_name": "x",
        "tool_input": {}, "tool_response": "y".repeat(8 << 20), "tool_use_id": "t"
    });
    for play in [Play::Deaf, Play::Sip] {
        let server = Server::start(vec![play]);
        // An event of that size takes its time where nothing is optimized.
        let config = forward(&server.url, "fail_open = false").replace("1400", "9000");
        let home = Home::new(&config);
        assert_eq!(home.hook(&payload)["decision"], "block");
        let remote = home.remote();
        assert!(remote["cause"].as_str().unwrap().starts_with(SLOW), "{remote}");
        assert_eq!(remote["attempts"], 3, "{remote}");
        assert_eq!(server.connections(), 3);
        let at: Vec<Instant> = server.seen().iter().map(|one| one.at).collect();
        for two in at.windows(2) {
            assert!(two[1] - two[0] < Duration::from_millis(430 + 1500), "{at:?}");
        }
    }
}

#[test]
fn what_is_framed_otherwise_is_an_answer_as_well() {
    for bytes in [
        &b"HTTP/1.0 200 OK\r\n\r\n{\"decision\":\"deny\"}"[..],
        b"HTTP/1.1 200 OK\r\n\r\n{\"decision\":\"deny\"}",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{\"decision\":\"deny\"}",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
          9\r\n{\"decisio\r\na;x=y\r\nn\":\"deny\"}\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 19\r\n\r\n{\"decision\":\"deny\"} and more",
    ] {
        let server = Server::start(vec![Play::Raw(bytes)]);
        let answer = Home::new(&forward(&server.url, "")).hook(&bash("ls"));
        assert_eq!(verdict(&answer).0, "deny", "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_human_is_never_asked_twice() {
    let second = || Server::start(vec![ok(r#"{"decision":"deny","reason":"second"}"#)]);
    // What may have reached somebody, and what cannot have.
    for (what, play, asked) in [
        ("503", Some(status(503)), true),
        ("stall", Some(Play::Stall), true),
        ("reset", Some(Play::ResetAfter), true),
        ("reset at once", Some(Play::ResetBefore), true),
        ("cut", Some(Play::Cut(HEAD)), true),
        ("HTML", Some(ok("<html>")), true),
        ("nobody", None, false),
    ] {
        let next = second();
        let first = play.map(|play| Server::start(vec![play]));
        let url = first.as_ref().map_or_else(Server::nobody, |first| first.url.clone());
        let config = format!(
            "[remote.x]\nurl = [\"{url}\", \"{}\"]\nevents = \"*\"\nhuman = true\nfail_open = false\n\
             timeout_ms = 900\nretry_delay_ms = 10\n",
            next.url
        );
        let home = Home::new(&config);
        let answer = home.hook(&bash("ls"));
        assert_eq!(verdict(&answer).0, "deny", "{what}");
        let counts = (first.map_or(0, |first| first.connections()), next.connections());
        assert_eq!(counts, if asked { (1, 0) } else { (0, 1) }, "{what}: {}", home.remote());
    }
    #[cfg(feature = "tls")]
    for play in [Play::ResetBefore, Play::ResetAfter, Play::Stall] {
        let (first, next) = (Server::start(vec![Play::Tls(Cert::Good, Box::new(play))]), second());
        let url = first.url.replace("http://127.0.0.1", "https://localhost");
        let ca = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/remote/tls/ca.pem");
        let config = format!(
            "[remote.x]\nurl = [\"{url}\", \"{}\"]\nevents = \"*\"\nhuman = true\nfail_open = false\n\
             timeout_ms = 900\nretry_delay_ms = 10\nca = \"{ca}\"\n",
            next.url
        );
        let home = Home::new(&config);
        assert!(verdict(&home.hook(&bash("ls"))).1.starts_with(CLOSED));
        assert_eq!((first.connections(), next.connections()), (1, 0), "{}", home.remote());
    }
}
