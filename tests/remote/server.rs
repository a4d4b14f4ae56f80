//! A small HTTP server that plays faults, and a home whose hookctl asks it.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// What is done with a connection.
#[derive(Clone)]
pub enum Play {
    /// A status, header lines, a body.
    Answer(u16, &'static str, String),
    /// The same after so many milliseconds.
    Slow(u64, String),
    /// Reads, and never answers.
    Stall,
    /// A byte every 20 ms, for ever.
    Drip,
    /// Goes on and on, without saying how long.
    Flood,
    /// Closes before it has read anything.
    ResetBefore,
    /// Closes when it has read the request's first bytes.
    ResetAfter,
    /// Closes in the middle of the headers.
    HalfHeaders,
    /// A proxy: lets through what it itself then answers.
    Proxy(String),
    /// An answer under TLS, with a certificate that only the test's own authority vouches for.
    Tls(String),
    /// Any bytes, without reading.
    Blurt(&'static [u8]),
    /// Any bytes.
    Raw(&'static [u8]),
}

pub fn ok(body: &str) -> Play {
    Play::Answer(200, "", body.into())
}

pub fn status(status: u16) -> Play {
    Play::Answer(status, "", r#"{"decision":"allow"}"#.into())
}

/// A request as it came.
#[derive(Clone)]
pub struct Seen {
    pub head: String,
    pub body: Vec<u8>,
    pub at: Instant,
}

impl Seen {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }
}

pub struct Server {
    pub url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Plays one after the other, the last for ever.
    pub fn start(plays: Vec<Play>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let log = Arc::clone(&seen);
        thread::spawn(move || {
            for (at, stream) in listener.incoming().flatten().enumerate() {
                let play = plays[at.min(plays.len() - 1)].clone();
                let log = Arc::clone(&log);
                thread::spawn(move || serve(stream, play, &log));
            }
        });
        Server { url, seen }
    }

    /// An address where nobody listens.
    pub fn nobody() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/hook", listener.local_addr().unwrap())
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, play: Play, log: &Mutex<Vec<Seen>>) {
    let at = Instant::now();
    let note = |head: String, body: Vec<u8>| log.lock().unwrap().push(Seen { head, body, at });
    match play {
        Play::ResetBefore => return note(String::new(), Vec::new()),
        Play::ResetAfter => {
            let _ = stream.read(&mut [0; 16]);
            return note(String::new(), Vec::new());
        }
        Play::Blurt(bytes) => {
            let _ = stream.write_all(bytes);
            thread::sleep(Duration::from_millis(100));
            return note(String::new(), Vec::new());
        }
        Play::Proxy(body) => {
            let (head, _) = request(&mut stream);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            let (_, sent) = request(&mut stream);
            note(head, sent);
            return answer(&mut stream, 200, "", &body);
        }
        Play::Tls(body) => {
            let mut server = rustls::ServerConnection::new(tls()).unwrap();
            let mut stream = rustls::Stream::new(&mut server, &mut stream);
            let (head, sent) = request(&mut stream);
            note(head, sent);
            return answer(&mut stream, 200, "", &body);
        }
        _ => {}
    }
    let (head, body) = request(&mut stream);
    note(head, body);
    match play {
        Play::Answer(status, headers, body) => answer(&mut stream, status, headers, &body),
        Play::Slow(ms, body) => {
            thread::sleep(Duration::from_millis(ms));
            answer(&mut stream, 200, "", &body);
        }
        Play::Stall => thread::sleep(Duration::from_secs(20)),
        Play::Drip => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n");
            while stream.write_all(b" ").is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
        }
        Play::Flood => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            while stream.write_all(&[b' '; 4096]).is_ok() {}
        }
        Play::HalfHeaders => drop(stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-le")),
        Play::Raw(bytes) => drop(stream.write_all(bytes)),
        _ => {}
    }
}

fn tls() -> Arc<rustls::ServerConfig> {
    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let certificate = CertificateDer::from_pem_slice(include_bytes!("tls/server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    Arc::new(config)
}

fn answer(stream: &mut impl Write, status: u16, headers: &str, body: &str) {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{headers}\r\n");
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body.as_bytes());
}

fn request(stream: &mut impl Read) -> (String, Vec<u8>) {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length").then(|| value.parse().ok())?
            });
            if bytes.len() >= end + 4 + length.unwrap_or(0) {
                return (head, bytes[end + 4..].to_vec());
            }
        }
        match stream.read(&mut chunk) {
            Ok(len @ 1..) => bytes.extend(&chunk[..len]),
            _ => return (String::new(), bytes),
        }
    }
}

/// A user with a config.
pub struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    pub fn new(config: &str) -> Home {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join(".config/hookctl");
        fs::create_dir_all(&at).unwrap();
        fs::create_dir_all(dir.path().join("project")).unwrap();
        fs::write(at.join("config.toml"), config).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::Permissions::from_mode(0o600);
            fs::set_permissions(at.join("config.toml"), mode).unwrap();
        }
        Home { dir }
    }

    pub fn path(&self) -> &std::path::Path {
        self.dir.path()
    }

    pub fn state(&self) -> std::path::PathBuf {
        self.path().join(".local/state/hookctl")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookctl"));
        command
            .args(args)
            .env("HOME", self.path())
            .env_remove("CLAUDE_PROJECT_DIR")
            .current_dir(self.path().join("project"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, args: &[&str], stdin: &str) -> Output {
        finish(self.command(args).spawn().unwrap(), stdin)
    }

    /// What the agent is answered; null = silence.
    pub fn hook(&self, payload: &Value) -> Value {
        let output = self.run(&["hook"], &payload.to_string());
        answer_of(&output)
    }

    pub fn journal(&self) -> String {
        fs::read_to_string(self.state().join("journal.jsonl")).unwrap_or_default()
    }

    /// What the last line of the journal says of its first server.
    pub fn remote(&self) -> Value {
        let journal = self.journal();
        let line: Value = serde_json::from_str(journal.lines().last().unwrap()).unwrap();
        line["remotes"][0].clone()
    }
}

pub fn finish(mut child: std::process::Child, stdin: &str) -> Output {
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

/// One JSON object or nothing, exit 0.
pub fn answer_of(output: &Output) -> Value {
    let stdout = String::from_utf8(output.stdout.clone()).unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stdout} {stderr}");
    if stdout.is_empty() {
        return Value::Null;
    }
    let answer: Value = serde_json::from_str(stdout.trim_end()).expect("one JSON object");
    assert!(answer.is_object(), "{stdout}");
    answer
}
