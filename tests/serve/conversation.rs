//! A scripted conversation, with a server killed at every step of it: nothing is lost and nothing answered twice. On
//! PostgreSQL there are two servers, and either is killed; on SQLite there is one.
//!
//! `CONVERSATION_RUNS` says how many conversations there are; each has one kill. The kills go through all steps and servers,
//! at moments that differ from run to run.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Serve, bash, database, start};

const DEFAULT_RUNS: usize = 24;
/// What can be under way when a server dies.
const STEPS: [Step; 6] =
    [Step::Session, Step::Ask, Step::Wait, Step::Answer, Step::Hear, Step::ToolEnd];
/// A step that takes longer than this has lost something.
const LOST: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The agent says that it begins.
    Session,
    /// Its hook asks.
    Ask,
    /// The question is seen.
    Wait,
    /// Two humans answer, one yes and one no.
    Answer,
    /// The hook has heard the answer, or is about to.
    Hear,
    /// The tool has run.
    ToolEnd,
}

/// The servers that there are, and where they are now.
struct Servers {
    /// One for each home; the first one's home names the database.
    all: Vec<Mutex<Serve>>,
    addresses: Vec<Mutex<SocketAddr>>,
    database: Option<String>,
    token: String,
}

impl Servers {
    fn new(count: usize, on_postgres: bool) -> Servers {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("serve.db").display().to_string();
        let database = if on_postgres { database(&home) } else { Some(path) };
        let first = Serve::at(home, &arguments(database.as_deref()));
        let token = first.token.clone();
        let mut all = vec![first];
        for _ in 1..count {
            let home = tempfile::tempdir().unwrap();
            let (child, address, code) = start(&home, &arguments(database.as_deref()));
            all.push(Serve { home, child, address, token: token.clone(), code });
        }
        let addresses = all.iter().map(|one| Mutex::new(one.address)).collect();
        Servers { all: all.into_iter().map(Mutex::new).collect(), addresses, database, token }
    }

    /// `kill -9`, and another one in its place.
    fn kill(&self, which: usize) {
        let mut serve = self.all[which].lock().unwrap();
        serve.child.kill().unwrap();
        serve.child.wait().unwrap();
        let home: &TempDir = &serve.home;
        let (child, address, _) = start(home, &arguments(self.database.as_deref()));
        (serve.child, serve.address) = (child, address);
        *self.addresses[which].lock().unwrap() = address;
    }

    /// A request as a balancer's client makes it: where a server does not answer it is made again, at the next one.
    fn send(&self, first: usize, method: &str, path: &str, body: &Value) -> (u16, String) {
        let end = Instant::now() + LOST;
        for turn in first.. {
            let address = *self.addresses[turn % self.addresses.len()].lock().unwrap();
            if let Some(answer) = try_send(address, method, path, &self.token, &body.to_string()) {
                return answer;
            }
            assert!(Instant::now() < end, "{method} {path}: nobody answers: {body}");
            thread::sleep(Duration::from_millis(10));
        }
        unreachable!("turns do not end")
    }

    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let mut all = vec!["--database", self.database.as_deref().unwrap()];
        all.extend(arguments);
        self.all[0].lock().unwrap().run(&all)
    }
}

fn arguments(database: Option<&str>) -> Vec<&str> {
    database.map_or_else(Vec::new, |database| vec!["--database", database])
}

/// None where the connection broke before the whole answer was there.
fn try_send(
    address: SocketAddr,
    method: &str,
    path: &str,
    token: &str,
    body: &str,
) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(LOST)).ok()?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    let mut text = String::new();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    text.push_str(&String::from_utf8_lossy(&bytes));
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let length = head.to_ascii_lowercase();
    let length = length.split("content-length: ").nth(1)?.split("\r\n").next()?.parse::<usize>();
    (length.ok()? == body.len()).then(|| (status, body.to_string()))
}

/// Waits until the question is open where humans look.
fn see(servers: &Servers, first: usize, id: &str) {
    let end = Instant::now() + LOST;
    loop {
        let (status, body) = servers.send(first, "GET", "/api/state", &Value::Null);
        let state: Value = serde_json::from_str(&body).unwrap_or_default();
        let open = state["pending"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one["tool_use_id"] == id));
        if status == 200 && open {
            return;
        }
        assert!(Instant::now() < end, "the question {id} is lost: {body}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A human who taps until a server says what became of it.
fn answer(servers: &Servers, first: usize, id: &str, word: &str) -> u16 {
    let body = json!({ "tool_use_id": id, "decision": word, "reason": word });
    servers.send(first, "POST", "/api/answer", &body).0
}

/// One conversation, in which one server dies: what the hook heard.
fn converse(servers: &Arc<Servers>, run: usize) -> String {
    let count = servers.all.len();
    let (step, victim) = (STEPS[run % STEPS.len()], run / STEPS.len() % count);
    let (session, id) = (format!("s{}", run % 7), format!("t{run}"));
    // Another moment each time, within what a step takes.
    let delay = Duration::from_micros((run as u64 * 2_654_435_761) % 12_000);
    let mut killer = None;
    let mut reach = |now: Step| {
        if now == step {
            let servers = Arc::clone(servers);
            killer = Some(thread::spawn(move || {
                thread::sleep(delay);
                servers.kill(victim);
            }));
        }
    };
    reach(Step::Session);
    let (asked_at, answered_at) = (run % count, (run / 2) % count);
    let begin = json!({ "session_id": session, "cwd": "/home/dev/project" });
    assert_eq!(servers.send(asked_at, "POST", "/api/hooks/session", &begin).0, 200);
    reach(Step::Ask);
    let hook = {
        let (servers, call) = (Arc::clone(servers), bash(&session, &id, "npm test"));
        thread::spawn(move || {
            servers.send(asked_at, "POST", "/api/hooks/permission-request", &call)
        })
    };
    reach(Step::Wait);
    see(servers, answered_at, &id);
    reach(Step::Answer);
    let (yes, no) = thread::scope(|scope| {
        let yes = scope.spawn(|| answer(servers, answered_at, &id, "allow"));
        let no = scope.spawn(|| answer(servers, answered_at + 1, &id, "deny"));
        (yes.join().unwrap(), no.join().unwrap())
    });
    reach(Step::Hear);
    let (status, heard) = hook.join().unwrap();
    assert_eq!(status, 200, "{heard}");
    let heard: Value = serde_json::from_str(&heard).unwrap();
    let word = heard["decision"].as_str().unwrap().to_string();
    let case = format!("run {run}, {step:?}, server {victim}: yes {yes}, no {no}, heard {heard}");
    // Whoever was told that his answer was taken is the one whom the hook heard. A human whose server died may have been
    // first without a word, and is told then that it is over.
    match (yes, no) {
        (200, 409) => assert_eq!(word, "allow", "{case}"),
        (409, 200) => assert_eq!(word, "deny", "{case}"),
        (409, 409) => assert!(["allow", "deny"].contains(&word.as_str()), "{case}"),
        _ => panic!("{case}"),
    }
    reach(Step::ToolEnd);
    let mut end = bash(&session, &id, "npm test");
    end["tool_response"] = json!({ "stdout": "ok" });
    assert_eq!(servers.send(asked_at, "POST", "/api/hooks/tool-end", &end).0, 200);
    if let Some(killer) = killer {
        killer.join().unwrap();
    }
    word
}

fn converse_often(servers: Servers) {
    let runs = std::env::var("CONVERSATION_RUNS").ok().and_then(|runs| runs.parse().ok());
    let (runs, servers) = (runs.unwrap_or(DEFAULT_RUNS), Arc::new(servers));
    let heard: Vec<String> = (0..runs).map(|run| converse(&servers, run)).collect();
    let (code, text) = servers.run(&["audit", "verify"]);
    assert_eq!(code, 0, "{text}");
    // The audit has one answer to each question, and it is the one that the hook heard.
    let (_, lines) = servers.run(&["audit", "export"]);
    let records: Vec<Value> =
        lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for (run, word) in heard.iter().enumerate() {
        let own = records.iter().filter(|one| {
            one["kind"] == "answered" && one["body"]["tool_use_id"] == format!("t{run}")
        });
        let decisions: Vec<&Value> = own.map(|one| &one["body"]["decision"]).collect();
        assert_eq!(decisions, [word], "run {run}");
    }
    let (_, state) = servers.send(0, "GET", "/api/state", &Value::Null);
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["pending"], json!([]));
    println!("{runs} conversations, {runs} kills: 0 lost, 0 answered twice");
}

#[test]
fn conversation_with_two_servers_loses_nothing_when_either_is_killed() {
    if std::env::var_os("HOOKCTL_TEST_POSTGRES").is_none() {
        eprintln!("NOT CHECKED: HOOKCTL_TEST_POSTGRES names no database");
        return;
    }
    converse_often(Servers::new(2, true));
}

#[test]
fn conversation_with_one_server_loses_nothing_when_it_is_killed() {
    converse_often(Servers::new(1, false));
}
