//! A small HTTP server that plays faults, and a home whose hookctl asks it.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::home;

/// What is done with a connection.
#[derive(Clone)]
#[cfg_attr(not(feature = "tls"), allow(dead_code))]
pub enum Play {
    /// A status, header lines, a body.
    Answer(u16, &'static str, String),
    /// The same after so many milliseconds.
    Slow(u64, String),
    /// Reads, and never answers.
    Stall,
    /// Never even reads.
    Deaf,
    /// Reads a little every 20 ms, for ever.
    Sip,
    /// The first, and then the second every 20 ms, for ever.
    Drip(&'static str, &'static str),
    /// The first, and then the second as fast as it goes, for ever.
    Flood(&'static str, &'static str),
    /// Closes before it has read anything.
    ResetBefore,
    /// Closes when it has read the request's first bytes.
    ResetAfter,
    /// Sends this, and resets the connection behind it.
    Cut(&'static str),
    /// A proxy: lets through what it itself then answers.
    Proxy(String),
    /// All that under TLS.
    Tls(Cert, Box<Play>),
    /// Any bytes, without reading.
    Blurt(&'static [u8]),
    /// Any bytes.
    Raw(&'static [u8]),
    /// What it thinks of the body; None = it never answers.
    Think(Thought),
    /// What is played for that head and body.
    By(Choice),
}

/// Which play a request gets.
pub type Choice = Arc<dyn Fn(&str, &Value) -> Play + Send + Sync>;

/// What is asked gets the one, what is told, and all else, the other: of cdev, or of who marks it with the verdict.
pub fn asked_or(asked: Play, told: Play) -> Play {
    Play::By(Arc::new(move |head: &str, body: &Value| {
        let marks = [&body["hookctl"], &body["data"]["hookctl"]];
        let marked = marks.iter().any(|mark| mark.get("verdict").is_some());
        let path = !head.contains("/api/hooks/") || head.contains("/permission-request ");
        if path && !marked { asked.clone() } else { told.clone() }
    }))
}

/// What a server answers to a body, however long that takes it.
pub type Thought = Arc<dyn Fn(&Value) -> Option<String> + Send + Sync>;

/// The certificate that a server shows: see tls/make.sh.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "tls"), allow(dead_code))]
pub enum Cert {
    Good,
    Expired,
    Elsewhere,
    /// A good one, and it wants to see the client's.
    Mutual,
}

/// An answer under TLS.
#[cfg(feature = "tls")]
pub fn tls(cert: Cert, body: &str) -> Play {
    Play::Tls(cert, Box::new(ok(body)))
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
    log: Log,
}

/// What has come.
#[derive(Clone, Default)]
struct Log {
    connections: Arc<AtomicUsize>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Plays one after the other, the last for ever.
    pub fn start(plays: Vec<Play>) -> Server {
        Server::come(TcpListener::bind("127.0.0.1:0").unwrap(), plays)
    }

    /// The same where nobody was before: an address of [`nobody`](Server::nobody).
    pub fn come_to(url: &str, plays: Vec<Play>) -> Server {
        let address = url.trim_start_matches("http://").trim_end_matches("/hook");
        held::release(address);
        // A process that is being started elsewhere has the socket for a moment more.
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            match TcpListener::bind(address) {
                Ok(listener) => return Server::come(listener, plays),
                Err(error) => assert!(Instant::now() < end, "{address}: {error}"),
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn come(listener: TcpListener, plays: Vec<Play>) -> Server {
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        Server { url, log: accept(move || listener.accept().unwrap().0, plays) }
    }

    /// The same at a Unix socket.
    #[cfg(unix)]
    pub fn at(socket: &std::path::Path, plays: Vec<Play>) -> Server {
        let listener = std::os::unix::net::UnixListener::bind(socket).unwrap();
        let url = "http://hooks.example.org/hook".to_string();
        Server { url, log: accept(move || listener.accept().unwrap().0, plays) }
    }

    /// An address where nobody listens.
    pub fn nobody() -> String {
        format!("http://{}/hook", held::address())
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.log.seen.lock().unwrap().clone()
    }

    /// How often somebody connected, whatever came of it.
    pub fn connections(&self) -> usize {
        self.log.connections.load(Ordering::Relaxed)
    }

    /// The same, when it is that many: nobody waits for who sends them.
    pub fn seen_when(&self, count: usize) -> Vec<Seen> {
        let end = Instant::now() + Duration::from_secs(20);
        while self.seen().len() < count && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
        let seen = self.seen();
        assert!(seen.len() >= count, "{} of {count} requests", seen.len());
        seen
    }
}

/// Addresses that are taken, so that no server of another test comes there, and no connection leaves from there.
#[cfg(target_os = "linux")]
mod held {
    use std::net::SocketAddr;
    use std::os::fd::OwnedFd;
    use std::sync::Mutex;

    use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};

    static HELD: Mutex<Vec<(SocketAddr, OwnedFd)>> = Mutex::new(Vec::new());

    pub fn address() -> SocketAddr {
        let (family, flags) = (AddressFamily::INET, SocketFlags::CLOEXEC);
        let socket = socket_with(family, SocketType::STREAM, flags, None).unwrap();
        bind(&socket, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = SocketAddr::try_from(getsockname(&socket).unwrap()).unwrap();
        HELD.lock().unwrap().push((address, socket));
        address
    }

    pub fn release(address: &str) {
        HELD.lock().unwrap().retain(|(held, _)| held.to_string() != address);
    }
}

#[cfg(not(target_os = "linux"))]
mod held {
    pub fn address() -> std::net::SocketAddr {
        std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
    }

    pub fn release(_: &str) {}
}

fn accept<S: Stream + 'static>(
    mut next: impl FnMut() -> S + Send + 'static,
    plays: Vec<Play>,
) -> Log {
    let kept = Log::default();
    let log = kept.clone();
    thread::spawn(move || {
        for at in 0.. {
            let mut stream = next();
            let play = plays[at.min(plays.len() - 1)].clone();
            log.connections.fetch_add(1, Ordering::Relaxed);
            let seen = Arc::clone(&log.seen);
            thread::spawn(move || serve(&mut stream, play, &seen));
        }
    });
    kept
}

pub trait Stream: Read + Write + Send {}

impl<T: Read + Write + Send> Stream for T {}

fn serve(stream: &mut dyn Stream, play: Play, log: &Mutex<Vec<Seen>>) {
    let at = Instant::now();
    let note = |head: String, body: Vec<u8>| log.lock().unwrap().push(Seen { head, body, at });
    match play {
        Play::ResetBefore => return note(String::new(), Vec::new()),
        Play::ResetAfter => {
            let _ = stream.read(&mut [0; 16]);
            return note(String::new(), Vec::new());
        }
        Play::Cut(text) => {
            let _ = stream.read(&mut [0; 16]);
            note(String::new(), Vec::new());
            let _ = stream.write_all(text.as_bytes());
            // What has come and was not read makes a reset of the end.
            return thread::sleep(Duration::from_millis(50));
        }
        Play::Deaf => {
            note(String::new(), Vec::new());
            return thread::sleep(Duration::from_secs(20));
        }
        Play::Sip => {
            note(String::new(), Vec::new());
            while stream.read(&mut [0; 512]).is_ok_and(|len| len > 0) {
                thread::sleep(Duration::from_millis(20));
            }
            return;
        }
        Play::Blurt(bytes) => {
            let _ = stream.write_all(bytes);
            thread::sleep(Duration::from_millis(100));
            return note(String::new(), Vec::new());
        }
        Play::Proxy(body) => {
            let (head, _) = request(stream);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            let (_, sent) = request(stream);
            note(head, sent);
            return answer(stream, 200, "", &body);
        }
        Play::Tls(cert, play) => {
            let mut server = rustls::ServerConnection::new(config(cert)).unwrap();
            let mut raw = stream;
            if server.complete_io(&mut raw).is_err() {
                return note(String::new(), Vec::new());
            }
            return serve(&mut rustls::Stream::new(&mut server, &mut raw), *play, log);
        }
        _ => {}
    }
    let (head, body) = request(stream);
    let asked = serde_json::from_slice(&body).unwrap_or_default();
    let play = match play {
        Play::By(choose) => choose(&head, &asked),
        other => other,
    };
    note(head, body);
    match play {
        Play::Think(thought) => match thought(&asked) {
            Some(body) => answer(stream, 200, "", &body),
            None => thread::sleep(Duration::from_secs(20)),
        },
        Play::Answer(status, headers, body) => answer(stream, status, headers, &body),
        Play::Slow(ms, body) => {
            thread::sleep(Duration::from_millis(ms));
            answer(stream, 200, "", &body);
        }
        Play::Stall => thread::sleep(Duration::from_secs(20)),
        Play::Drip(first, again) => {
            let _ = stream.write_all(first.as_bytes());
            while stream.write_all(again.as_bytes()).is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
        }
        Play::Flood(first, again) => {
            let _ = stream.write_all(first.as_bytes());
            let again = again.repeat(4096 / again.len() + 1);
            while stream.write_all(again.as_bytes()).is_ok() {}
        }
        Play::Raw(bytes) => drop(stream.write_all(bytes)),
        _ => {}
    }
}

fn config(cert: Cert) -> Arc<rustls::ServerConfig> {
    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let pem: &[u8] = match cert {
        Cert::Good | Cert::Mutual => include_bytes!("tls/server.pem"),
        Cert::Expired => include_bytes!("tls/expired.pem"),
        Cert::Elsewhere => include_bytes!("tls/elsewhere.pem"),
    };
    let chain = vec![CertificateDer::from_pem_slice(pem).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let config = match cert {
        Cert::Mutual => {
            let mut roots = rustls::RootCertStore::empty();
            let ca = CertificateDer::from_pem_slice(include_bytes!("tls/ca.pem")).unwrap();
            roots.add(ca).unwrap();
            let roots = Arc::new(roots);
            let verifier =
                rustls::server::WebPkiClientVerifier::builder_with_provider(roots, provider);
            config.with_client_cert_verifier(verifier.build().unwrap())
        }
        _ => config.with_no_client_auth(),
    };
    Arc::new(config.with_single_cert(chain, key).unwrap())
}

fn answer(stream: &mut dyn Stream, status: u16, headers: &str, body: &str) {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{headers}\r\n");
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body.as_bytes());
}

fn request(stream: &mut dyn Stream) -> (String, Vec<u8>) {
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
        Home { dir: home::make(config) }
    }

    /// A file of the user's config directory.
    pub fn put(&self, name: &str, text: &str) {
        home::put(self.path(), name, text);
    }

    pub fn path(&self) -> &std::path::Path {
        self.dir.path()
    }

    pub fn state(&self) -> std::path::PathBuf {
        self.path().join(".local/state/hookctl")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        home::command(self.path(), args)
    }

    pub fn run(&self, args: &[&str], stdin: &str) -> Output {
        finish(self.command(args).spawn().unwrap(), stdin)
    }

    /// What a command prints.
    pub fn told(&self, args: &[&str]) -> String {
        String::from_utf8(self.run(args, "").stdout).unwrap()
    }

    /// What the agent is answered; null = silence.
    pub fn hook(&self, payload: &Value) -> Value {
        let output = self.run(&["hook"], &payload.to_string());
        answer_of(&output)
    }

    pub fn journal(&self) -> String {
        fs::read_to_string(self.state().join("journal.jsonl")).unwrap_or_default()
    }

    /// All that hookctl has written anywhere but into its journal, and the copies of the config itself.
    pub fn kept(&self) -> String {
        let mut out = String::new();
        let mut dirs = vec![self.state()];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                match entry.path() {
                    path if path.ends_with("index") => {}
                    path if path.is_dir() => dirs.push(path),
                    path => {
                        out.push_str(&path.to_string_lossy());
                        out.push_str(&String::from_utf8_lossy(&fs::read(&path).unwrap()));
                    }
                }
            }
        }
        out
    }

    /// Writes another config.
    pub fn configure(&self, config: &str) {
        fs::write(self.path().join(".config/hookctl/config.toml"), config).unwrap();
    }

    /// Sends what waits, and waits for whoever sends already: exit status and what is said.
    pub fn flush(&self) -> (i32, String) {
        let output = self.run(&["flush"], "");
        assert!(output.stderr.is_empty(), "{output:?}");
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }

    /// The messages that wait.
    pub fn waiting(&self) -> Vec<std::path::PathBuf> {
        let spools = fs::read_dir(self.state().join("spool")).into_iter().flatten().flatten();
        let files = spools.flat_map(|dir| fs::read_dir(dir.path()).into_iter().flatten().flatten());
        let mut files: Vec<_> = files.map(|file| file.path()).collect();
        files.retain(|path| path.extension().is_some_and(|end| end == "json"));
        files.sort();
        files
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
