//! What every kind of visitor gets at every route, and what hostile clients try: all refused, none of it visible.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;

use super::{Answer, PATIENCE, Serve, bash, command, read_answer, send};

/// What a route asks of its visitors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Nothing, not even the right name: it says only that the server is there.
    Nothing,
    /// The server's own name, and no page of others.
    OwnName,
    /// A secret in the body, which none of the visitors has.
    Code,
    /// To be a hook of this machine, or its token.
    Hook,
    /// A paired device.
    Device,
}

/// Every route: path as it is asked for, methods that it has, what it needs. `as_written` is the path in the source where
/// that differs.
const ROUTES: [(&str, &str, &str, Needs); 21] = [
    ("/", "/", "GET", Needs::OwnName),
    ("/pair", "/pair", "GET", Needs::OwnName),
    ("/app.js", "/app.js", "GET", Needs::OwnName),
    ("/view.js", "/view.js", "GET", Needs::OwnName),
    ("/style.css", "/style.css", "GET", Needs::OwnName),
    ("/health", "/health", "GET", Needs::Nothing),
    ("/api/paired", "/api/paired", "GET", Needs::OwnName),
    ("/api/pair", "/api/pair", "POST", Needs::Code),
    ("/api/auth/exchange", "/api/auth/exchange", "POST", Needs::Code),
    ("/api/auth/refresh", "/api/auth/refresh", "POST", Needs::Code),
    ("/api/hooks/session", "/api/hooks/{name}", "POST", Needs::Hook),
    ("/api/hooks/unheard-of", "/api/hooks/{name}", "POST", Needs::Hook),
    ("/hook", "/hook", "POST", Needs::Hook),
    ("/claude", "/claude", "POST", Needs::Hook),
    ("/api/state", "/api/state", "GET", Needs::Device),
    ("/api/history", "/api/history", "GET", Needs::Device),
    ("/api/counts", "/api/counts", "GET", Needs::Device),
    ("/api/answer", "/api/answer", "POST", Needs::Device),
    ("/ws", "/ws", "GET", Needs::Device),
    // The last two end the device that asks.
    ("/api/logout", "/api/logout", "POST", Needs::Device),
    ("/api/auth/revoke", "/api/auth/revoke", "POST", Needs::Device),
];

const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];

/// What an answer may be to whoever is not let in.
const REFUSED: [u16; 4] = [401, 403, 405, 429];

/// Every answer says this to browsers, also one that refuses.
#[track_caller]
fn is_hardened(answer: &Answer, what: &str) {
    for line in [
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
        "x-frame-options: deny",
        "referrer-policy: no-referrer",
        "cross-origin-resource-policy: same-origin",
        "cross-origin-opener-policy: same-origin",
        "cache-control: no-store",
    ] {
        assert!(answer.head.contains(line), "{what}: no {line}: {}", answer.head);
    }
    for never in ["access-control-allow", "server:", "x-powered-by"] {
        assert!(!answer.head.contains(never), "{what}: {never}");
    }
}

/// A browser's cookie and what its page keeps.
struct Browser {
    cookie: String,
    key: String,
    id: String,
}

fn new_code(serve: &Serve) -> String {
    let (_, text) = serve.run(&["pair"]);
    text.split("/pair#").nth(1).unwrap().split_whitespace().next().unwrap().into()
}

fn pair_browser(serve: &Serve, headers: &[(&str, &str)]) -> (Browser, Answer) {
    let body = json!({ "code": new_code(serve) }).to_string();
    let all = [headers, &[("Content-Type", "application/json")]].concat();
    let paired = send(serve.address, "POST", "/api/pair", &all, &body);
    assert_eq!(paired.status, 200, "{}", paired.body);
    let cookie = paired.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    let browser = Browser {
        cookie: cookie.split(';').next().unwrap().into(),
        key: paired.json()["key"].as_str().unwrap().into(),
        id: paired.json()["device"].as_str().unwrap().into(),
    };
    (browser, paired)
}

fn hook_token(serve: &Serve) -> String {
    let path = serve.home.path().join(".local/state/hookctl/serve/hook-token");
    std::fs::read_to_string(path).unwrap().trim().into()
}

#[test]
fn every_route_is_in_the_table() {
    let [server, page] =
        [include_str!("../../src/serve/server.rs"), include_str!("../../src/serve/page.rs")];
    let router = server.split("fn router(").nth(1).unwrap().split("\n}\n").next().unwrap();
    let mut written: BTreeSet<&str> =
        router.split(".route(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let assets = page.split("pub const ASSETS").nth(1).unwrap().split("];").next().unwrap();
    written.extend(assets.split("    (\"").skip(1).filter_map(|rest| rest.split('"').next()));
    let known: BTreeSet<&str> = ROUTES.iter().map(|(_, written, ..)| *written).collect();
    assert_eq!(written, known);
}

#[test]
fn every_visitor_gets_at_every_route_what_is_his() {
    let serve = Serve::new(&["--answer-within", "50"]);
    let asking = serve.ask(bash("s", "open", "echo marker-of-the-question"));
    serve.pending(1);
    let bearer = serve.bearer();
    let hook = format!("Bearer {}", hook_token(&serve));
    let (browser, _) = pair_browser(&serve, &[]);
    let (revoked, _) = pair_browser(&serve, &[]);
    assert_eq!(serve.run(&["devices", "revoke", &revoked.id]).0, 0);
    let own = format!("http://{}", serve.address);
    let (auth, cookie, key, origin) = ("Authorization", "Cookie", "X-Hookctl-Key", "Origin");
    let wrong_cookie = format!("hookctl_session={}.{}", browser.id, "0".repeat(64));
    let tossed = format!("hookctl_session=x; {}", browser.cookie);
    let proxied = ("X-Forwarded-For", "203.0.113.9");
    let visitors: &[(&str, &[(&str, &str)])] = &[
        ("nobody", &[]),
        ("wrong token", &[(auth, "Bearer wrong")]),
        ("empty token", &[(auth, "Bearer ")]),
        ("another scheme", &[(auth, "Basic aG9va2N0bA==")]),
        ("two tokens", &[(auth, bearer.as_str()), (auth, bearer.as_str())]),
        ("a made-up cookie", &[(cookie, "hookctl_session=a.b"), (key, &browser.key)]),
        ("a cookie of another's signature", &[(cookie, &wrong_cookie), (key, &browser.key)]),
        ("a planted cookie before the own", &[(cookie, &tossed), (key, &browser.key)]),
        ("a cookie without its page", &[(cookie, &browser.cookie), (origin, &own)]),
        (
            "a cookie with another's key",
            &[(cookie, &browser.cookie), (key, &revoked.key), (origin, &own)],
        ),
        (
            "a device that was shut out",
            &[(cookie, &revoked.cookie), (key, &revoked.key), (origin, &own)],
        ),
        ("a hook's token", &[(auth, &hook)]),
        ("a page of others", &[(origin, "http://evil.example"), (auth, &bearer)]),
        (
            "a page of others with the cookie",
            &[(origin, "http://evil.example"), (cookie, &browser.cookie), (key, &browser.key)],
        ),
        (
            "a page of another port",
            &[(origin, "http://127.0.0.1:3000"), (cookie, &browser.cookie), (key, &browser.key)],
        ),
        ("a page without an origin", &[(origin, "null"), (auth, &bearer)]),
        ("a rebound name", &[("Host", "evil.example"), (auth, &bearer)]),
        ("two names", &[("Host", "localhost"), ("Host", "evil.example"), (auth, &bearer)]),
        ("through a proxy", &[proxied]),
        ("through a proxy with a hook's token", &[proxied, (auth, &hook)]),
        ("the page", &[(cookie, &browser.cookie), (key, &browser.key), (origin, &own)]),
        ("a device", &[(auth, &bearer)]),
    ];
    let json = ("Content-Type", "application/json");
    let is_other = |name: &str| {
        ["a page of", "a page without", "a rebound", "two names"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    for (path, _, method, needs) in ROUTES {
        for (name, headers) in visitors {
            let headers = [headers, &[json][..]].concat();
            for tried in METHODS {
                let is_in = ["the page", "a device"].contains(name);
                // They would be in no longer.
                let ends = ["/api/logout", "/api/auth/revoke"].contains(&path) && tried == method;
                if is_in && ends {
                    continue;
                }
                let answer = send(serve.address, tried, path, &headers, "{}");
                let what = format!("{tried} {path} by {name}: {} {}", answer.status, answer.body);
                is_hardened(&answer, &what);
                let fits = tried == method || (tried == "HEAD" && method == "GET" && path != "/ws");
                let admitted = match needs {
                    Needs::Nothing => true,
                    _ if is_other(name) => false,
                    Needs::OwnName => true,
                    Needs::Code => false,
                    Needs::Hook => *name != "through a proxy",
                    Needs::Device => is_in,
                };
                // Who shows something wrong is told so even where nothing is needed, once it was too often.
                let guesses = path == "/api/paired" && answer.status == 429;
                assert_eq!(
                    !REFUSED.contains(&answer.status),
                    fits && admitted && !guesses,
                    "{what}"
                );
                if is_other(name) && needs != Needs::Nothing {
                    assert!([403, 405].contains(&answer.status), "{what}");
                }
                let shows = ["/api/state", "/ws"].contains(&path) && is_in;
                assert!(shows || !answer.body.contains("marker-of"), "{what}");
            }
        }
    }
    // None of all that answered it, and none of it asked anything.
    assert_eq!(serve.pending(1)[0]["tool_use_id"], "open");
    for path in ["/api/logout", "/api/auth/revoke"] {
        let headers: &[(&str, &str)] = match path {
            "/api/logout" => visitors[visitors.len() - 2].1,
            _ => visitors[visitors.len() - 1].1,
        };
        let headers = [headers, &[json][..]].concat();
        assert_eq!(send(serve.address, "POST", path, &headers, "{}").status, 200, "{path}");
        assert!(
            [401, 429].contains(&send(serve.address, "GET", "/api/state", &headers, "").status)
        );
    }
    drop(serve);
    let _ = asking.join();
}

#[test]
fn a_cookie_alone_is_what_every_port_of_the_host_is_sent() {
    let serve = Serve::new(&[]);
    // A cookie that somebody planted before is not taken up: the device is a new one.
    let planted = ("Cookie", "hookctl_session=planted.0");
    let (browser, paired) = pair_browser(&serve, &[planted]);
    assert_ne!(browser.id, "planted");
    let line = paired.head.lines().find(|line| line.starts_with("set-cookie")).unwrap();
    for flag in ["httponly", "samesite=strict", "path=/", "max-age="] {
        assert!(line.contains(flag), "{line}");
    }
    assert!(!line.contains("domain="), "{line}");
    let own = format!("http://{}", serve.address);
    let state =
        |headers: &[(&str, &str)]| send(serve.address, "GET", "/api/state", headers, "").status;
    let (cookie, key) = (("Cookie", browser.cookie.as_str()), browser.key.as_str());
    assert_eq!(state(&[cookie]), 401);
    assert_eq!(state(&[cookie, ("X-Hookctl-Key", key)]), 200);
    assert_eq!(state(&[("X-Hookctl-Key", key)]), 401, "nor the key alone");
    // The socket has no headers of its own, and so the key is a subprotocol.
    let upgrade = |protocols: &str| {
        let mut request = format!("ws://{}/ws", serve.address).into_client_request().unwrap();
        let headers = request.headers_mut();
        headers.insert("Cookie", browser.cookie.parse().unwrap());
        headers.insert("Origin", own.parse().unwrap());
        headers.insert("Sec-WebSocket-Protocol", protocols.parse().unwrap());
        let stream = TcpStream::connect(serve.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        tungstenite::client(request, stream).ok().map(|(_, answer)| {
            answer.headers()["Sec-WebSocket-Protocol"].to_str().unwrap().to_string()
        })
    };
    assert_eq!(upgrade(&format!("hookctl, {key}")).as_deref(), Some("hookctl"));
    assert_eq!(upgrade("hookctl"), None);
    assert_eq!(upgrade(&format!("hookctl, {}", "0".repeat(64))), None);
}

#[test]
fn what_a_human_looks_at_is_what_is_answered() {
    let serve = Serve::new(&[]);
    // The harmless call is shown, its hook goes away, and another call comes under the same id.
    let body = bash("s", "t1", "echo harmless").to_string();
    let mut stream = TcpStream::connect(serve.address).unwrap();
    write!(stream, "POST /api/hooks/permission-request HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    serve.pending(1);
    drop(stream);
    serve.pending(0);
    let other = serve.hook("permission-request", &bash("s", "t1", "echo harmful")).json();
    assert_eq!(other, json!({ "decision": "ask", "message": "duplicate_tool_use_id" }));
    assert_eq!(serve.answer("t1", "allow", "once", "").status, 409);
}

#[test]
fn a_device_that_is_shut_out_hears_nothing_more() {
    let serve = Serve::new(&[]);
    let mut app = serve.connect();
    assert_eq!(app.call("status/get", json!({}))["result"]["status"], "ok");
    let (_, devices) = serve.run(&["devices"]);
    let id = devices.split_whitespace().next().unwrap();
    assert_eq!(serve.run(&["devices", "revoke", id]).0, 0);
    thread::sleep(Duration::from_millis(1_100));
    serve.hook("tool-start", &bash("s", "t1", "echo marker-of-the-event"));
    let ask = json!({ "jsonrpc": "2.0", "id": 9, "method": "permission/request", "params": bash("s", "t2", "ls") });
    let _ = app.socket.send(tungstenite::Message::text(ask.to_string()));
    let end = Instant::now() + PATIENCE;
    while let Ok(message) = app.socket.read() {
        assert!(!message.to_string().contains("marker-of"), "{message}");
        assert!(Instant::now() < end, "the socket is open still");
    }
}

// ---- guesses

/// Resident memory of the server, in MiB.
#[cfg(target_os = "linux")]
fn memory(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1_024
}

/// Requests one after the other, over as few connections as the server lets them have: their statuses.
#[cfg(target_os = "linux")]
fn statuses(address: SocketAddr, requests: impl Iterator<Item = String>) -> Vec<u16> {
    let connect = || {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    };
    let mut stream = connect();
    let mut out = Vec::new();
    for request in requests {
        let status = exchange_once(&mut stream, &request).or_else(|| {
            stream = connect();
            exchange_once(&mut stream, &request)
        });
        out.push(status.expect("an answer"));
    }
    out
}

/// The status of one answer on a connection that stays; None where it was closed.
#[cfg(target_os = "linux")]
fn exchange_once(stream: &mut TcpStream, request: &str) -> Option<u16> {
    stream.write_all(request.as_bytes()).ok()?;
    let (mut got, mut piece) = (Vec::new(), [0; 4_096]);
    loop {
        let count = stream.read(&mut piece).ok().filter(|count| *count > 0)?;
        got.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&got).to_ascii_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.split("content-length: ").nth(1)?.split("\r\n").next()?;
        if body.len() >= length.parse().ok()? {
            return head[9..12].parse().ok();
        }
    }
}

/// A connection from another address of this machine.
#[cfg(target_os = "linux")]
fn connect_from(from: [u8; 4], to: SocketAddr) -> TcpStream {
    use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
    let fd = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&fd, &SocketAddr::from((from, 0))).unwrap();
    connect(&fd, &to).unwrap();
    TcpStream::from(fd)
}

#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_guesses_find_nothing() {
    let serve = Serve::new(&[]);
    let code = new_code(&serve);
    let before = memory(&serve.child);
    let own = format!("Host: {}\r\n", serve.address);
    let guess = |n: usize| {
        let body = json!({ "code": format!("GUESS{n:05}") }).to_string();
        format!(
            "POST /api/auth/exchange HTTP/1.1\r\n{own}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let tried = statuses(serve.address, (0..10_000).map(guess));
    // Of the twenty of this minute one was the device's own; another minute may have begun meanwhile.
    assert!(tried.iter().all(|status| [401, 429].contains(status)));
    assert!(tried.iter().filter(|status| **status == 401).count() <= 40);
    for header in ["Authorization: Bearer ", "Cookie: hookctl_session=00000000."] {
        let guess = |n: usize| format!("GET /api/state HTTP/1.1\r\n{own}{header}{n:064}\r\n\r\n");
        let tried = statuses(serve.address, (0..10_000).map(guess));
        assert!(tried.iter().all(|status| [401, 429].contains(status)), "{header}");
    }
    let guess = |n: usize| {
        format!(
            "POST /api/hooks/session HTTP/1.1\r\n{own}Via: x\r\nAuthorization: Bearer {n:064}\r\nContent-Length: 2\r\n\r\n{{}}"
        )
    };
    let tried = statuses(serve.address, (0..10_000).map(guess));
    assert!(tried.iter().all(|status| [401, 429].contains(status)));
    assert!(tried.ends_with(&[429, 429]));
    // Whoever has the right one is not held up, and the right code is taken from where nobody guessed.
    serve.get("/api/state");
    let body = json!({ "code": code, "name": "tablet" }).to_string();
    let mut stream = connect_from([127, 0, 0, 9], serve.address);
    write!(stream, "POST /api/auth/exchange HTTP/1.1\r\n{own}Connection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let paired = read_answer(&mut stream);
    assert_eq!(paired.status, 200, "{}", paired.body);
    assert!(memory(&serve.child) < before + 24, "{before} MiB, then {}", memory(&serve.child));
}

// ---- bodies, heads, frames

#[test]
fn what_is_no_request_is_refused() {
    let serve = Serve::new(&["--answer-within", "1"]);
    let host = format!("Host: {}\r\n", serve.address);
    let post = |rest: &str| format!("POST /api/hooks/session HTTP/1.1\r\n{host}{rest}");
    let smuggled = format!("GET /health HTTP/1.1\r\n{host}\r\n");
    for (what, request, statuses) in [
        ("two lengths", post("Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}"), &[400][..]),
        ("no number", post("Content-Length: +2\r\n\r\n{}"), &[400]),
        ("an unknown coding", post("Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"), &[400]),
        ("a blank before the colon", post("Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"), &[400]),
        (
            "two codings",
            post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"),
            &[400],
        ),
        // Chunks count, and the connection ends: what follows is nobody's request.
        (
            "chunks and a length",
            post(&format!(
                "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}"
            )),
            &[200, 400],
        ),
        ("a folded header", post("X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}"), &[400]),
        ("no name", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n".into(), &[400, 403]),
        ("an old client", "GET / HTTP/1.0\r\n\r\n".into(), &[403]),
        ("a huge header", post(&format!("X: {}\r\n\r\n", "y".repeat(70_000))), &[431]),
        ("many headers", post(&format!("{}\r\n", "X: y\r\n".repeat(200))), &[431]),
        ("a huge path", format!("GET /{} HTTP/1.1\r\n{host}\r\n", "y".repeat(70_000)), &[414, 431]),
    ] {
        let mut stream = TcpStream::connect(serve.address).unwrap();
        let _ = stream.write_all(request.as_bytes());
        let answer = read_answer(&mut stream);
        assert!(statuses.contains(&answer.status), "{what}: {} {}", answer.status, answer.body);
        assert!(!answer.body.contains("\"time\""), "{what}: two requests");
    }
    // A body without an end.
    let mut stream = TcpStream::connect(serve.address).unwrap();
    let chunk = format!("10000\r\n{}\r\n", "a".repeat(65_536));
    let _ = stream.write_all(post("Transfer-Encoding: chunked\r\n\r\n").as_bytes());
    let sent = (0..1_000).take_while(|_| stream.write_all(chunk.as_bytes()).is_ok()).count();
    assert!(sent < 1_000);
    // Deep JSON, what is no text, what is no object, and every path that reads one.
    let deep = format!("{{\"session_id\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    for body in [deep.as_str(), "\u{0}", "[]", "7", "\"x\"", "{\"a\":", ""] {
        let hook = send(serve.address, "POST", "/api/hooks/session", &[], body);
        assert_eq!((hook.status, hook.body.as_str()), (200, "{\"ok\":true}"));
        let asked = send(serve.address, "POST", "/api/hooks/permission-request", &[], body).json();
        assert_eq!(asked["decision"], "ask");
        for path in ["/hook", "/claude"] {
            assert_eq!(send(serve.address, "POST", path, &[], body).status, 400, "{path}");
        }
        let headers = [("Authorization", &*serve.bearer()), ("Content-Type", "application/json")];
        assert_eq!(send(serve.address, "POST", "/api/answer", &headers, body).status, 400);
    }
    for path in [
        "/../Cargo.toml",
        "/%2e%2e/Cargo.toml",
        "/..%2fCargo.toml",
        "//app.js",
        "/app.js/",
        "/app.js%00",
        "/src/serve/page/app.js",
    ] {
        assert_eq!(send(serve.address, "GET", path, &[], "").status, 404, "{path}");
    }
    serve.get("/api/state");
}

#[test]
fn much_text_is_not_asked_about_without_an_end() {
    let serve = Serve::new(&["--answer-within", "20"]);
    let all: Vec<_> = (0..12)
        .map(|n| {
            serve.ask(bash("s", &format!("t{n}"), &format!("echo {n} {}", "x".repeat(900_000))))
        })
        .collect();
    let end = Instant::now() + Duration::from_secs(60);
    while all.iter().filter(|one| one.is_finished()).count() < 3 {
        assert!(Instant::now() < end, "all are asked");
        thread::sleep(Duration::from_millis(100));
    }
    let open = serve.get("/api/state")["pending"].to_string().len();
    assert!(open < 40 << 20, "{open}");
    for n in 0..12 {
        serve.answer(&format!("t{n}"), "deny", "once", "");
    }
    let full = all.into_iter().map(|one| one.join().unwrap());
    assert!(full.filter(|one| one["message"] == "too_many_questions").count() >= 3);
}

/// The bytes of a masked frame, of a client.
fn frame(first: u8, length: u64, body: &[u8]) -> Vec<u8> {
    let mut out = vec![first, 0x80 | 127];
    out.extend(length.to_be_bytes());
    out.extend([0; 4]);
    out.extend(body);
    out
}

#[test]
fn frames_that_are_too_large_end_the_socket() {
    let serve = Serve::new(&[]);
    let is_closed = |app: &mut super::App| {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if app.socket.read().is_err() {
                return true;
            }
        }
        false
    };
    let mut app = serve.connect();
    app.socket.get_mut().write_all(&frame(0x81, 13 << 20, &[])).unwrap();
    assert!(is_closed(&mut app), "one that says so");
    // One that comes in pieces, and says no length at all.
    let mut app = serve.connect();
    let piece = vec![b'a'; 1 << 20];
    let mut sent = app.socket.get_mut().write_all(&frame(0x01, piece.len() as u64, &piece)).is_ok();
    for _ in 0..40 {
        sent &= app.socket.get_mut().write_all(&frame(0x00, piece.len() as u64, &piece)).is_ok();
    }
    assert!(!sent || is_closed(&mut app), "one in pieces");
    serve.get("/api/state");
}

#[cfg(target_os = "linux")]
#[test]
fn whoever_never_reads_is_let_go() {
    let serve = Serve::new(&[]);
    let deaf = serve.connect();
    // One that asks for the page again and again, and takes nothing of it.
    let mut greedy = TcpStream::connect(serve.address).unwrap();
    greedy.set_nonblocking(true).unwrap();
    let ask = format!("GET /app.js HTTP/1.1\r\nHost: {}\r\n\r\n", serve.address).repeat(200);
    while greedy.write(ask.as_bytes()).is_ok() {}
    let stalled = Instant::now();
    let before = memory(&serve.child);
    let mut event = bash("s", "t", "ls");
    event["tool_response"] = json!({ "stdout": "a".repeat(900_000) });
    for _ in 0..60 {
        serve.hook("tool-end", &event);
    }
    let grown = memory(&serve.child).saturating_sub(before);
    assert!(grown < 100, "{grown} MiB");
    let mut app = serve.connect();
    let end = Instant::now() + PATIENCE;
    while app.call("status/get", json!({}))["result"]["connected_clients"] != 1 {
        assert!(Instant::now() < end, "it is kept");
        thread::sleep(Duration::from_millis(200));
    }
    drop(deaf);
    greedy.set_nonblocking(false).unwrap();
    while stalled.elapsed() < Duration::from_secs(23) {
        thread::sleep(Duration::from_millis(200));
    }
    greedy.set_read_timeout(Some(PATIENCE)).unwrap();
    // What was sent before is still there to be read, and then the end.
    let (mut total, mut piece) = (0_usize, vec![0; 1 << 20]);
    let ended = loop {
        match greedy.read(&mut piece) {
            Ok(0) => break true,
            Ok(count) => total += count,
            Err(error) => break error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    };
    assert!(ended, "after {total} bytes it is served still");
}

// ---- what is kept

const KEY: &str = "AKIAQ3EGRS7TX2VWZ5NB";

#[test]
fn secrets_of_calls_are_nowhere() {
    let serve = Serve::new(&["--answer-within", "5"]);
    let mut app = serve.connect();
    let mut call = bash("s", "t1", &format!("curl -H 'X: {KEY}' https://x.example/?a={KEY}"));
    call["message"] = format!("the key is {KEY}").into();
    serve.hook("notification", &call);
    call["tool_response"] = json!({ "stdout": KEY });
    let told = app.event("claude_hook_permission");
    let state = serve.get("/api/state");
    let asking = serve.ask(call.clone());
    let open = serve.pending(1);
    serve.answer("t1", "allow", "session", "");
    asking.join().unwrap();
    serve.hook("tool-end", &call);
    let all = [told, state, open.into(), serve.get("/api/state"), serve.get("/api/history")];
    for one in &all {
        assert!(!one.to_string().contains(KEY), "{one}");
    }
    let (_, audit) = serve.run(&["audit", "export"]);
    assert!(!audit.contains(KEY), "{audit}");
    let directory = serve.home.path().join(".local/state/hookctl/serve");
    for file in std::fs::read_dir(directory).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(KEY.len()).any(|piece| piece == KEY.as_bytes()));
    }
}

#[cfg(unix)]
#[test]
fn files_are_its_users_alone_and_planted_ones_are_refused() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let serve = Serve::new(&[]);
    let directory = serve.home.path().join(".local/state/hookctl/serve");
    for file in std::fs::read_dir(&directory).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o077, 0, "{file:?}");
    }
    let home = tempfile::tempdir().unwrap();
    let refuses = |database: &std::path::Path, why: &str| {
        let arguments = ["--port", "0", "--database", database.to_str().unwrap()];
        let mut child = command(&home, &arguments).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        let end = Instant::now() + PATIENCE;
        while child.try_wait().unwrap().is_none() && Instant::now() < end {
            thread::sleep(Duration::from_millis(20));
        }
        let _ = child.kill();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
    };
    let place = tempfile::tempdir().unwrap();
    let target = place.path().join("target");
    std::fs::write(&target, "").unwrap();
    for ending in ["", "-wal", "-shm", "-journal"] {
        let link = place.path().join(format!("x.db{ending}"));
        symlink(&target, &link).unwrap();
        refuses(&place.path().join("x.db"), "is no file of this user's alone");
        std::fs::remove_file(&link).unwrap();
    }
    std::fs::hard_link(&target, place.path().join("x.db-wal")).unwrap();
    refuses(&place.path().join("x.db"), "is no file of this user's alone");
    let open = place.path().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    refuses(&open.join("x.db"), "can be written by others");
    assert_eq!(std::fs::read_dir(&open).unwrap().count(), 0);
    // The token of hooks: one that others could read, and one that lies elsewhere.
    let token = home.path().join(".local/state/hookctl/serve/hook-token");
    std::fs::create_dir_all(token.parent().unwrap()).unwrap();
    let database = place.path().join("y.db");
    std::fs::write(&token, "k".repeat(64)).unwrap();
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o644)).unwrap();
    refuses(&database, "can be read by others");
    std::fs::remove_file(&token).unwrap();
    symlink(&target, &token).unwrap();
    refuses(&database, "is no file of this user's alone");
}

#[test]
fn a_changed_audit_is_found() {
    let place = tempfile::tempdir().unwrap();
    let database = place.path().join("x.db").display().to_string();
    for (change, said) in [
        (
            "UPDATE audit SET body = replace(body, 'deny', 'allow') WHERE kind = 'answered'",
            "was changed",
        ),
        ("DELETE FROM audit WHERE seq = 2", "a gap"),
        ("DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)", "the end is missing"),
    ] {
        let mut serve = Serve::new(&["--database", &database]);
        let asking = serve.ask(bash("s", "t1", "npm test"));
        serve.pending(1);
        serve.answer("t1", "deny", "once", "no");
        asking.join().unwrap();
        serve.child.kill().unwrap();
        serve.child.wait().unwrap();
        assert_eq!(serve.run(&["--database", &database, "audit", "verify"]).0, 0);
        rusqlite::Connection::open(&database).unwrap().execute_batch(change).unwrap();
        let (status, text) = serve.run(&["--database", &database, "audit", "verify"]);
        assert!(status == 1 && text.contains(said), "{status} {text}");
        std::fs::remove_file(&database).unwrap();
        for ending in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{database}{ending}"));
        }
    }
}

// ---- logs, units, addresses

#[test]
fn nothing_that_was_sent_makes_a_line_of_the_log() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("log");
    let out = std::fs::File::create(&log).unwrap();
    let mut child =
        command(&home, &["--port", "0", "--answer-within", "1"]).stderr(out).spawn().unwrap();
    let read = || std::fs::read_to_string(&log).unwrap();
    let end = Instant::now() + PATIENCE;
    let address: SocketAddr = loop {
        if let Some(line) = read().lines().find(|line| line.contains("://")) {
            break line.split("://").nth(1).unwrap().trim().parse().unwrap();
        }
        assert!(Instant::now() < end);
        thread::sleep(Duration::from_millis(20));
    };
    let evil = "x\r\n2026-01-01T00:00:00Z  INFO forged\u{1b}[31m\u{202e}";
    let mut event = bash(evil, evil, evil);
    event["tool_name"] = evil.into();
    event["cwd"] = format!("/{evil}").into();
    for path in ["session", "permission-request", "x%0d%0a2026%20INFO%20forged%1b%5b31m"] {
        send(address, "POST", &format!("/api/hooks/{path}"), &[], &event.to_string());
    }
    send(
        address,
        "POST",
        "/api/pair",
        &[("Content-Type", "application/json")],
        &json!({ "code": evil, "name": evil }).to_string(),
    );
    child.kill().unwrap();
    child.wait().unwrap();
    let log = read();
    assert!(!log.contains('\u{1b}') && !log.contains('\u{202e}') && !log.contains('\r'), "{log:?}");
    assert!(
        log.lines().all(|line| line.starts_with("20") && !line.starts_with("2026-01-01")),
        "{log}"
    );
    assert!(log.contains("unknown path"), "{log}");
}

#[test]
fn a_unit_says_what_was_asked_for_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let install = |arguments: &[&str]| {
        let out = command(&home, arguments).output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let odd = home.path().join("a b%h$HOME\"x.toml");
    let (status, said) = install(&[
        "--rules",
        odd.to_str().unwrap(),
        "--answer-within",
        "7",
        "--stale-after",
        "8",
        "--heartbeat",
        "9",
        "--bridge=3050",
        "install",
    ]);
    assert_eq!(status, Some(0), "{said}");
    if cfg!(target_os = "linux") {
        let path = home.path().join(".config/systemd/user/hookctl-serve.service");
        let unit = std::fs::read_to_string(path).unwrap();
        let start = unit.lines().find(|line| line.starts_with("ExecStart=")).unwrap();
        assert!(start.contains("a b%%h$$HOME\\\"x.toml\""), "{start}");
        for part in [
            "\"--answer-within\" \"7\"",
            "\"--stale-after\" \"8\"",
            "\"--heartbeat\" \"9\"",
            "\"--bridge\" \"3050\"",
        ] {
            assert!(start.contains(part), "{part}: {start}");
        }
    }
    for bad in ["a\nExecStartPre=/bin/false", "a\rb", "a\u{1b}b", "a\tb"] {
        let (status, said) = install(&["--rules", bad, "install"]);
        assert!(status == Some(2) && said.contains("cannot stand in a unit"), "{bad:?}: {said}");
    }
}

#[test]
fn an_address_to_tell_is_checked_and_never_repeated() {
    let home = tempfile::tempdir().unwrap();
    for bad in [
        "//s3cr3t",
        "s3cr3t",
        "ftp://x/s3cr3t",
        "http:///s3cr3t",
        "http://x/s3 cr3t",
        "http://x/s3cr3t\n",
    ] {
        let out = command(&home, &["--port", "0", "--webhook", bad]).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(
            out.status.code() == Some(2) && !said.contains("s3cr3t") && !said.contains("cr3t"),
            "{said}"
        );
    }
}

#[test]
fn a_notice_follows_nobody_elsewhere() {
    let [first, second] = [(); 2].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let url = format!("http://user:s3cr3t@{}/hook", first.local_addr().unwrap());
    let elsewhere = second.local_addr().unwrap();
    let serve = Serve::new(&["--webhook", &url, "--answer-within", "2"]);
    let asking = serve.ask(bash("s", "t1", "secret-command"));
    let (mut stream, _) = first.accept().unwrap();
    let mut piece = [0; 4_096];
    let count = stream.read(&mut piece).unwrap();
    assert!(!String::from_utf8_lossy(&piece[..count]).contains("secret-command"));
    write!(stream, "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://{elsewhere}/\r\nContent-Length: 0\r\n\r\n").unwrap();
    second.set_nonblocking(true).unwrap();
    assert_eq!(asking.join().unwrap(), json!({ "decision": "ask", "message": "timeout" }) as Value);
    assert!(second.accept().is_err(), "it went there");
}
