//! The event bridge: what its listener gets, and what its files hold where there is none. What node makes of
//! the same values is in bridge/: see make.js there.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use super::*;

/// As an agent sends it: strange values, and blanks around them.
pub(super) const EVENT: &str = include_str!("bridge/event.txt");
pub(super) const TAKEN: &str =
    r#"{"success":true,"provider":"claude","duration":3,"message":"Event processed successfully"}"#;

/// A bridge that is told of every event.
pub(super) fn bridge(url: &str, more: &str) -> String {
    let url = url.trim_end_matches("/hook");
    format!("[remote.x]\nurl = \"{url}\"\ndialect = \"bridge\"\nevents = \"*\"\n{more}\n")
}

pub(super) fn call(number: usize) -> Value {
    let mut payload = bash(&format!("echo {number}"));
    payload["tool_use_id"] = format!("toolu_{number}").into();
    payload
}

pub(super) fn file(dir: &Path) -> PathBuf {
    dir.join("claude-hook-events.json")
}

pub(super) fn errors(dir: &Path) -> PathBuf {
    dir.join("claude-hook-events-errors.json")
}

pub(super) fn default_dir(home: &Home) -> PathBuf {
    home.path().join(".a24z/hooks")
}

/// The elements of a file, when there are so many: nobody waits for who writes them.
pub(super) fn elements(path: &Path, count: usize) -> Vec<Value> {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let text = fs::read_to_string(path).unwrap_or_default();
        let all: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
        if all.len() >= count || Instant::now() > end {
            assert_eq!(all.len(), count, "{}: {text}", path.display());
            return all;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A listener at a port of its own, as the contract has it. The one at 3046 is the lock of all tests that
/// are about ports as well: others wait until it is gone.
pub(super) struct Listener {
    seen: Arc<Mutex<Vec<String>>>,
    address: SocketAddr,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Listener {
    pub(super) fn bind(port: u16) -> TcpListener {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            match TcpListener::bind(("127.0.0.1", port)) {
                Ok(listener) => return listener,
                Err(error) => assert!(Instant::now() < end, "port {port}: {error}"),
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// `health` is what it answers to that question, and everything else with 200.
    pub(super) fn start(
        listener: TcpListener,
        health: &'static str,
        other: &'static str,
    ) -> Listener {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let over = Arc::new(AtomicBool::new(false));
        let (log, end) = (Arc::clone(&seen), Arc::clone(&over));
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                if end.load(Ordering::Relaxed) {
                    break;
                }
                let mut bytes = vec![0; 65536];
                let mut text = String::new();
                while !text.contains("\r\n\r\n") || text.starts_with("POST") && !text.ends_with('}')
                {
                    match stream.read(&mut bytes) {
                        Ok(len @ 1..) => text.push_str(&String::from_utf8_lossy(&bytes[..len])),
                        _ => break,
                    }
                }
                let body = if text.starts_with("GET /health ") { health } else { other };
                log.lock().unwrap().push(text);
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                let _ = stream.write_all(head.as_bytes());
                let _ = stream.write_all(body.as_bytes());
            }
        });
        Listener { seen, address, over, thread: Some(thread) }
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    pub(super) fn posts(&self, count: usize) -> Vec<String> {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let posts: Vec<String> =
                self.seen().into_iter().filter(|text| text.starts_with("POST")).collect();
            if posts.len() >= count || Instant::now() > end {
                assert_eq!(posts.len(), count, "{posts:?}");
                return posts;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn s3_09_s3_10_the_listener_gets_the_bytes_of_the_agent() {
    let server = Server::start(vec![ok(TAKEN), Play::Answer(201, "", String::new())]);
    let home = Home::new(&bridge(&server.url, "timeout_ms = 20000"));
    answer_of(&home.run(&["hook"], EVENT));
    home.hook(&call(2));
    let large = call(1).to_string().replace("echo", &"é\\n".repeat(1 << 20));
    answer_of(&home.run(&["hook"], &large));
    let seen = server.seen_when(3);
    assert!(seen[0].head.starts_with("POST /claude-hook "), "{}", seen[0].head);
    let head = seen[0].head.to_lowercase();
    assert!(head.contains("content-type: application/json"), "{head}");
    assert!(seen[0].body == EVENT.as_bytes(), "{}", String::from_utf8_lossy(&seen[0].body));
    assert!(seen[2].body == large.as_bytes(), "{} bytes", seen[2].body.len());
    assert_eq!(home.flush(), (0, "nothing waits\n".into()));
    assert!(!default_dir(&home).exists(), "who is answered needs no file");
}

#[test]
fn a_secret_does_not_leave_and_is_in_no_file() {
    let home = Home::new(&bridge(&Server::nobody(), "token_env = \"TOKEN\""));
    let payload = bash("curl -H 'Authorization: Bearer abcdef123456' x.org").to_string();
    let mut command = home.command(&["hook"]);
    command.env("TOKEN", "hunter2hunter2");
    answer_of(&finish(command.spawn().unwrap(), &payload));
    elements(&file(&default_dir(&home)), 1);
    for path in [file(&default_dir(&home)), errors(&default_dir(&home))] {
        let text = fs::read_to_string(path).unwrap();
        assert!(!text.contains("abcdef123456") && !text.contains("hunter2"), "{text}");
    }
}

#[test]
fn s3_11_s3_12_s3_13_nobody_listens_and_the_files_are_nodes() {
    let home = Home::new(&bridge(&Server::nobody(), ""));
    answer_of(&home.run(&["hook"], EVENT));
    let dir = default_dir(&home);
    // What nobody but JavaScript reads.
    let end = Instant::now() + Duration::from_secs(20);
    let mut text = String::new();
    while text.is_empty() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
        text = fs::read_to_string(file(&dir)).unwrap_or_default();
    }
    let event: Value = serde_json::from_str(&text.replace("\\ud800", "")).unwrap();
    let event = event[0].clone();
    let (iso, ms) = (event["__hook_timestamp"].as_str().unwrap(), &event["__hook_received"]);
    let wanted = include_str!("bridge/event.json").replace("@ISO@", iso);
    let wanted = wanted.replace("@MS@", &ms.to_string());
    assert_eq!(text, wanted);
    assert!(iso.len() == 24 && iso.ends_with('Z') && ms.as_u64().unwrap() > 1_700_000_000_000);
    let error = elements(&errors(&dir), 1).remove(0);
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("connect ECONNREFUSED 127.0.0.1:"), "{error}");
    assert_eq!(error["error"]["code"], "ECONNREFUSED");
    assert_eq!(error["context"], "http_send_failed");
    let length = EVENT.encode_utf16().count();
    assert_eq!(error["additionalData"], json!({ "path": "claude-hook", "dataLength": length }));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&file(&dir)), mode(&errors(&dir))), (0o700, 0o600, 0o600));
    }
}

#[test]
fn what_it_answers_beside_200_and_201_is_a_failure() {
    let statuses = [204, 301, 404, 500];
    let server = Server::start(statuses.map(status).into_iter().collect());
    let home = Home::new(&bridge(&server.url, ""));
    for (number, status) in statuses.iter().enumerate() {
        home.hook(&call(number));
        let error = elements(&errors(&default_dir(&home)), number + 1).remove(number);
        assert_eq!(error["error"]["message"], format!("HTTP {status}"));
        assert!(error["error"].get("code").is_none(), "{error}");
        elements(&file(&default_dir(&home)), number + 1);
    }
    assert_eq!(server.seen().len(), 4, "no retries");
}

#[test]
fn s3_14_it_neither_decides_nor_delays() {
    let server = Server::start(vec![Play::Stall]);
    let rule = "timeout_ms = 700\n[rule.no]\ncommand = \"rm\"\ndeny = \"not that\"";
    let home = Home::new(&bridge(&server.url, rule));
    let start = Instant::now();
    assert_eq!(verdict(&home.hook(&bash("rm x"))), ("deny", "not that [user:no]"));
    for number in 0..5 {
        assert_eq!(home.hook(&call(number)), Value::Null);
    }
    // Each would have waited.
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    // One hung; the others did not even try.
    let errors = elements(&errors(&default_dir(&home)), 6);
    assert!(errors.iter().all(|one| one["error"]["message"] == "Request timeout"), "{errors:?}");
    elements(&file(&default_dir(&home)), 6);
    assert_eq!(server.connections(), 1);
    let server = Server::start(vec![ok(r#"{"decision":"deny","continue":false}"#)]);
    let home = Home::new(&bridge(&server.url, ""));
    assert_eq!(home.hook(&bash("ls")), Value::Null);
    server.seen_when(1);
}

#[test]
fn s3_15_the_listener_is_found_where_it_moved_to() {
    let here = Listener::bind(3046);
    let health =
        r#"{"status":"ok","timestamp":1,"message":"m","processedEvents":0,"errors":0,"uptime":1}"#;
    let config = "[remote.x]\ndialect = \"bridge\"\nevents = \"*\"\n";
    let home = Home::new(config);
    // Others are there as well, and say so.
    let other = Listener::start(Listener::bind(3044), r#"{"status":"ok"}"#, "{}");
    let listener = Listener::start(here, health, TAKEN);
    home.hook(&call(1));
    let post = listener.posts(1).remove(0);
    assert!(post.starts_with("POST /claude-hook ") && post.contains("echo 1"), "{post}");
    assert!(other.seen().iter().all(|text| text.starts_with("GET /health ")), "{:?}", other.seen());
    // Something else has its own port.
    let page = Listener::start(Listener::bind(3043), "<html>", "<html>{}");
    home.hook(&call(2));
    listener.posts(2);
    assert_eq!(page.seen().len(), 1);
    home.flush();
    assert!(!default_dir(&home).exists());
    // An address that is named is the only one.
    home.configure(&bridge(&Server::nobody(), ""));
    home.hook(&call(3));
    elements(&file(&default_dir(&home)), 1);
    assert_eq!(listener.posts(2).len(), 2);
}

/// As root makes one: whoever makes a socket owns it.
#[cfg(target_os = "linux")]
#[test]
fn who_took_the_port_is_told_nothing() {
    let bound = std::thread::spawn(|| {
        let other = rustix::process::Uid::from_raw(12_345);
        rustix::thread::set_thread_res_uid(other, other, other).ok()?;
        Some(TcpListener::bind(("127.0.0.1", 0)).unwrap())
    });
    let Some(listener) = bound.join().unwrap() else { return };
    let url = format!("http://{}", listener.local_addr().unwrap());
    let thief = Listener::start(listener, "{}", TAKEN);
    let home = Home::new(&bridge(&url, ""));
    home.hook(&call(1));
    let kept = elements(&file(&default_dir(&home)), 1);
    assert_eq!(kept[0]["tool_input"]["command"], "echo 1");
    let why = elements(&errors(&default_dir(&home)), 1)[0]["error"]["message"].to_string();
    assert!(why.contains("it belongs to another user"), "{why}");
    home.flush();
    assert_eq!(thief.seen().concat(), "");
}

#[test]
fn s3_16_fifty_hooks_at_once_are_fifty_entries() {
    let home = Home::new(&bridge(&Server::nobody(), ""));
    let children: Vec<_> = (0..50).map(|_| home.command(&["hook"]).spawn().unwrap()).collect();
    let run = |(number, child)| {
        let payload = call(number).to_string();
        std::thread::spawn(move || answer_of(&finish(child, &payload)))
    };
    let threads: Vec<_> = children.into_iter().enumerate().map(run).collect();
    threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), Value::Null));
    let dir = default_dir(&home);
    let ids = |all: &[Value]| -> std::collections::BTreeSet<String> {
        all.iter().map(|one| one["tool_use_id"].to_string()).collect()
    };
    assert_eq!(ids(&elements(&file(&dir), 50)).len(), 50);
    elements(&errors(&dir), 50);
    // The listener is there again.
    let (code, said) = home.flush();
    assert!(code == 1 && said.starts_with("x: 50 kept: connect ECONNREFUSED"), "{said}");
    let server = Server::start(vec![ok(TAKEN), status(500), ok(TAKEN)]);
    home.configure(&bridge(&server.url, ""));
    assert_eq!(home.flush(), (1, "x: 49 sent, 1 kept: HTTP 500\n".into()));
    assert_eq!(home.flush(), (0, "x: 1 sent\n".into()));
    assert_eq!(home.flush(), (0, "nothing waits\n".into()));
    assert!(!file(&dir).exists());
    let sent: Vec<Value> = server.seen().iter().map(server::Seen::json).collect();
    assert_eq!((sent.len(), ids(&sent).len()), (51, 50));
    let times: Vec<u64> =
        sent[..50].iter().map(|one| one["__hook_received"].as_u64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
}

/// Two servers with the same files, each with a sender of its own.
#[test]
fn s3_16_two_senders_share_a_file() {
    let url = Server::nobody();
    let both = bridge(&url, "") + &bridge(&url, "").replace("remote.x", "remote.y");
    let home = Home::new(&both);
    let spawn =
        |number: usize| (home.command(&["hook"]).spawn().unwrap(), call(number).to_string());
    let children: Vec<_> = (0..10).map(spawn).collect();
    children.into_iter().for_each(|(child, payload)| drop(answer_of(&finish(child, &payload))));
    // Where one gave up waiting for the other, its events wait.
    let all = Instant::now() + Duration::from_secs(20);
    while !home.waiting().is_empty() && Instant::now() < all {
        std::thread::sleep(Duration::from_millis(50));
    }
    elements(&file(&default_dir(&home)), 20);
}

#[test]
fn port_and_directory_are_settings() {
    let server = Server::start(vec![ok(TAKEN)]);
    let home = Home::new(&bridge(&server.url, "dir = \"~/elsewhere\""));
    home.hook(&call(1));
    server.seen_when(1);
    home.configure(&bridge(&Server::nobody(), "dir = \"~/elsewhere\""));
    home.hook(&call(2));
    elements(&file(&home.path().join("elsewhere")), 1);
    assert!(!default_dir(&home).exists());
    let said = home.told(&["check"]);
    assert!(!said.contains("warning"), "{said}");
    home.configure(&bridge(&server.url, "dir = \"elsewhere\"\nretry_count = 3"));
    let said = home.told(&["check"]);
    assert!(said.contains("retry_count") && said.contains("into its file"), "{said}");
    assert!(home.told(&["ping", "x"]).contains("/claude-hook  up, HTTP 200"));
}

#[test]
fn where_a_directory_cannot_be_written_the_next_is() {
    let home = Home::new(&bridge(&Server::nobody(), ""));
    fs::write(home.path().join(".a24z"), "").unwrap();
    let temporary = home.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let hook = |number| {
        let mut command = home.command(&["hook"]);
        command.env("TMPDIR", &temporary);
        answer_of(&finish(command.spawn().unwrap(), &call(number).to_string()))
    };
    assert_eq!(hook(1), Value::Null);
    let dir = temporary.join(".a24z-hooks");
    elements(&file(&dir), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Somebody else could read it.
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(hook(2), Value::Null);
        let end = Instant::now() + Duration::from_secs(20);
        while !home.journal().contains("others can read") && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(home.journal().contains(".a24z-hooks: others can read or write it"));
        // It waits in the spool then.
        assert_eq!(home.waiting().len(), 1);
        elements(&file(&dir), 1);
    }
}

#[test]
fn a_file_of_somebody_else_is_taken_over_or_set_aside() {
    let home = Home::new(&bridge(&Server::nobody(), ""));
    let dir = default_dir(&home);
    fs::create_dir_all(&dir).unwrap();
    fs::write(file(&dir), "{\"a\":{}}").unwrap();
    home.hook(&call(1));
    assert_eq!(elements(&file(&dir), 2)[0], json!({ "a": {} }));
    fs::write(file(&dir), "[{\"a\":1},").unwrap();
    home.hook(&call(2));
    elements(&file(&dir), 1);
    let contexts: Vec<Value> =
        elements(&errors(&dir), 3).iter().map(|one| one["context"].clone()).collect();
    assert_eq!(contexts, ["http_send_failed", "http_send_failed", "fallback_file_read_error"]);
    let names = fs::read_dir(&dir).unwrap().flatten().map(|entry| entry.file_name());
    let aside = names.map(|name| name.into_string().unwrap()).find(|n| n.contains(".corrupt-"));
    assert_eq!(fs::read_to_string(dir.join(aside.unwrap())).unwrap(), "[{\"a\":1},");
}

/// The package's own hook takes no secret out.
#[test]
fn no_secret_of_another_programs_file_is_sent() {
    let server = Server::start(vec![ok(TAKEN)]);
    let home = Home::new(&bridge(&server.url, ""));
    fs::create_dir_all(default_dir(&home)).unwrap();
    let secret = "curl -H 'Authorization: Bearer abcdef123456' x.org";
    let deep = format!("{}\"{secret}\"{}", "{\"a\":".repeat(150), "}".repeat(150));
    let theirs = format!("[{},{deep},{{\"b\":1.0,\"a\":\"\\ud800\"}}]", bash(secret));
    fs::write(file(&default_dir(&home)), theirs).unwrap();
    assert_eq!(home.flush(), (0, "x: 3 sent\n".into()));
    let bodies: Vec<String> =
        server.seen().iter().map(|seen| String::from_utf8_lossy(&seen.body).into()).collect();
    assert!(bodies[..2].iter().all(|body| body.contains("x.org")), "{bodies:?}");
    assert!(!bodies.concat().contains("abcdef123456"), "{bodies:?}");
    assert_eq!(bodies[2], r#"{"b":1,"a":"\ud800"}"#);
}
