//! Bundles of managed rules: made, signed and checked here and by minisign, fetched from a server that does all it can, and
//! judged by. Whatever is wrong with what came, the last good one holds, and it is told.

#![cfg(all(unix, feature = "tls"))]

mod cli;

use std::collections::HashMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use cli::World;
use hookctl::bundle::{
    self, Tried,
    minisign::{self, PublicKey},
};
use hookctl::config::Config;
use hookctl::event::Kind;
use hookctl::judge::{self, JudgeContext, Mode, Situation};
use hookctl::paths::Paths;
use hookctl::remote::fleet::{self, Asker, Fetched};
use hookctl::verdict::Verb;

/// Of a key that `minisign -G -W` made for these tests: it guards nothing.
const PUBLIC: &str = "RWQjPU9wllxz34lfWJm+xzhprZGcpwpQmJTR54yAHboFaUE94k8oaEX0";
const SECRET: &str = "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIz1PcJZcc9+/e4kBC0F++sFWPDKrttI0gmbXig8JdQ41dOerp7JXG4lfWJm+xzhprZGcpwpQmJTR54yAHboFaUE94k8oaEX0AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const OTHER: &str = "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAxY51i+K4JDNINEJjrRYhkukLix3SlOygI5UrBZwLCtAkjubZA0f7A+DGCzW+VvARS8Fxa84Q3MD4x6b02/Cj96pHT54Czv/NAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

const RULES: &str =
    "[rule.no-push]\ncommand = \"git push\"\ndeny = \"by the bundle\"\nlock = true\n";

/// What becomes of `git push` in a pause.
fn judge_paused(config: &Config, paths: &Paths) -> Option<Verb> {
    let payload = serde_json::json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/",
        "tool_name": "Bash", "tool_input": { "command": "git push" } });
    let agent = hookctl::agent::default_agent();
    let event = agent.parse(payload.as_object().unwrap().clone(), None);
    let place = hookctl::hook::session_place(&event, paths);
    let world = JudgeContext {
        paths,
        stdin: &[],
        deadline: Instant::now() + Duration::from_secs(60),
        mode: Mode::Dry,
        paused: true,
        notifiers: &[],
    };
    let situations = Situation::of_operations((agent, event), place);
    judge::judge_operations(&situations, config, &world).1.answer.verb
}

/// What a server has, by path; a status in place of what is not there.
type Shelf = Arc<Mutex<HashMap<String, Vec<u8>>>>;

struct Fleet {
    world: World,
    shelf: Shelf,
    port: u16,
    paths: Paths,
}

impl Fleet {
    fn new() -> Fleet {
        let world = World::new();
        let shelf = Shelf::default();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let own = Arc::clone(&shelf);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream, &own);
            }
        });
        let paths = Paths::below_home(world.home());
        let fleet = Fleet { world, shelf, port, paths };
        fleet.settle(&format!("key = \"{PUBLIC}\""));
        fleet
    }

    fn settle(&self, more: &str) {
        let url = format!("http://127.0.0.1:{}/rules.bundle", self.port);
        self.world.write(&self.paths.fleet, &format!("[managed]\nurl = \"{url}\"\n{more}\n"));
    }

    fn put(&self, bundle: &str, signature: &str) {
        let mut shelf = self.shelf.lock().unwrap();
        shelf.insert("/rules.bundle".into(), bundle.into());
        shelf.insert("/rules.bundle.minisig".into(), signature.into());
    }

    fn publish(&self, version: u64, rules: &str) -> String {
        let text = bundle_text(version, "2999-01-01T00:00:00Z", rules);
        self.put(&text, &sign(&text, SECRET));
        text
    }

    fn fetch(&self) -> Fetched {
        fleet::fetch_bundle(&self.paths, Asker::Human)
    }

    fn held(&self) -> u64 {
        bundle::held_rules(&self.paths).unwrap().unwrap().bundle.version
    }

    fn config(&self) -> Config {
        Config::load(&self.paths, &self.world.project(), Some(Kind::PreToolUse))
    }

    /// It fails for that reason, the last good one holds, and all that is told.
    fn refuses(&self, why: &str, holds: u64) {
        let Fetched::Failed(said) = self.fetch() else { panic!("{why}") };
        assert!(said.contains(why), "{why}: {said}");
        assert_eq!(self.held(), holds, "{why}");
        let stale = bundle::describe_staleness(&self.paths).unwrap_or_default();
        assert!(
            stale.contains(why) && stale.contains(&format!("version {holds} holds")),
            "{stale}"
        );
        let journal = fs::read_to_string(self.paths.journal()).unwrap();
        assert!(journal.lines().last().unwrap().contains("could not be fetched"), "{journal}");
        let config = self.config();
        assert!(
            config.broken.is_empty() && config.bundle.starts_with(&format!("{holds}:")),
            "{config:?}"
        );
    }
}

fn answer(mut stream: std::net::TcpStream, shelf: &Shelf) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default();
    let body = shelf.lock().unwrap().get(path).cloned();
    let (status, body) = match body {
        Some(body) => ("200 OK", body),
        None => ("503 Service Unavailable", Vec::new()),
    };
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(&body);
}

fn bundle_text(version: u64, expires: &str, rules: &str) -> String {
    serde_json::json!({ "hookctl_bundle": 1, "version": version, "expires": expires,
        "files": { "base.toml": rules } })
    .to_string()
}

fn sign(text: &str, secret: &str) -> String {
    minisign::sign(secret, text.as_bytes(), "x").unwrap()
}

#[test]
fn a_bundle_is_fetched_judged_by_and_named() {
    let fleet = Fleet::new();
    let before = fleet.config();
    assert!(
        before.broken.iter().any(|(_, why)| why.contains("have not come yet")),
        "{:?}",
        before.broken
    );
    assert!(fleet::is_due(&fleet.paths, false));
    fleet.publish(7, RULES);
    assert_eq!(fleet.fetch(), Fetched::New(7));
    assert_eq!(fleet.fetch(), Fetched::Same(7));
    assert!(!fleet::is_due(&fleet.paths, false));
    assert_eq!(bundle::describe_staleness(&fleet.paths), None);
    let config = fleet.config();
    assert!(config.broken.is_empty(), "{:?}", config.broken);
    let source = &config.sources[0];
    assert_eq!((source.layer.name(), source.path.ends_with("base.toml")), ("managed", true));
    assert!(config.bundle.starts_with("7:") && config.bundle.len() == 18, "{}", config.bundle);
    let all = Config::load(&fleet.paths, &fleet.world.project(), None);
    assert!(
        all.rules.iter().any(|rule| rule.id == "no-push" && rule.stays),
        "{:?}",
        all.rules.len()
    );
    let journal = fs::read_to_string(fleet.paths.journal()).unwrap();
    assert!(journal.contains(&format!("\"bundle\":\"{}\"", config.bundle)), "{journal}");
    // A newer one takes its place.
    for version in 8..12 {
        fleet.publish(version, &format!("# {version}\n{RULES}"));
        assert_eq!(fleet.fetch(), Fetched::New(version));
    }
    assert!(fleet.config().bundle.starts_with("11:"));
    // Without the administrator's file its rules do not count.
    fs::remove_file(&fleet.paths.fleet).unwrap();
    assert_eq!(fleet.fetch(), Fetched::Nothing);
    let config = fleet.config();
    assert!(config.broken.is_empty() && config.bundle.is_empty() && config.sources.is_empty());
}

#[test]
fn whatever_comes_the_last_good_one_holds() {
    let fleet = Fleet::new();
    let good = fleet.publish(7, RULES);
    assert_eq!(fleet.fetch(), Fetched::New(7));
    let later = "2999-01-01T00:00:00Z";
    let next = bundle_text(8, later, RULES);
    let signature = sign(&next, SECRET);
    // Tampered, in every part.
    fleet.put(&next.replace("deny", "allow"), &signature);
    fleet.refuses("the signature is not of this content", 7);
    fleet.put(&next, &signature.replace("trusted comment: x", "trusted comment: y"));
    fleet.refuses("the signature's comment was changed", 7);
    fleet.put(&next, &sign(&good, SECRET));
    fleet.refuses("the signature is not of this content", 7);
    fleet.put(&next, "");
    fleet.refuses("the signature is damaged", 7);
    fleet.put(&next, &signature[..signature.len() / 2]);
    fleet.refuses("the signature is damaged", 7);
    // Half of it.
    fleet.put(&next[..next.len() / 2], &signature);
    fleet.refuses("the signature is not of this content", 7);
    // By another key.
    fleet.put(&next, &sign(&next, OTHER));
    fleet.refuses("it is signed by the key", 7);
    // One that says it is the right key.
    let id = |text: &str| text.lines().nth(1).unwrap()[..16].to_string();
    let forged = sign(&next, OTHER);
    fleet.put(&next, &forged.replacen(&id(&forged), &id(&signature), 1));
    fleet.refuses("the signature is not of this content", 7);
    // Expired.
    let old = bundle_text(8, "2020-01-01T00:00:00Z", RULES);
    fleet.put(&old, &sign(&old, SECRET));
    fleet.refuses("version 8 expired on 2020-01-01T00:00:00Z", 7);
    // Older, and another of the same number.
    fleet.publish(6, RULES);
    fleet.refuses("version 6 is older than 7", 7);
    fleet.publish(7, "[rule.x]\ncommand = \"x\"\ndeny = \"x\"\n");
    fleet.refuses("version 7 is not the one of that number", 7);
    // What cannot be read, and what leads elsewhere.
    fleet.publish(8, "[rule.x]\ncommnd = \"x\"\ndeny = \"x\"\n");
    fleet.refuses("base.toml:2", 7);
    for text in [
        "[]",
        "{}",
        "{\"hookctl_bundle\":2}",
        "{\"hookctl_bundle\":1,\"version\":8,\"expires\":\"2999-01-01T00:00:00Z\",\"files\":{\"../x.toml\":\"\"}}",
        "{\"hookctl_bundle\":1,\"version\":8,\"expires\":\"2999-01-01T00:00:00Z\",\"files\":{\"current\":\"\"}}",
        "{\"hookctl_bundle\":1,\"version\":8,\"expires\":\"2999-01-01T00:00:00Z\",\"files\":{}}",
        "{\"hookctl_bundle\":1,\"version\":-8,\"expires\":\"2999-01-01T00:00:00Z\",\"files\":{\"a.toml\":\"\"}}",
        "{\"hookctl_bundle\":1,\"version\":8,\"expires\":\"soon\",\"files\":{\"a.toml\":\"\"}}",
    ] {
        fleet.put(text, &sign(text, SECRET));
        fleet.refuses("", 7);
    }
    assert!(!fleet.paths.state.join("x.toml").exists());
    // Too large, down, not there.
    let large = bundle_text(8, later, &"# x\n".repeat(300_000));
    fleet.put(&large, &sign(&large, SECRET));
    fleet.refuses("larger than 1024 KiB", 7);
    fleet.shelf.lock().unwrap().clear();
    fleet.refuses("HTTP 503", 7);
    fleet.world.write(
        &fleet.paths.fleet,
        &format!("[managed]\nurl = \"http://127.0.0.1:1/x\"\nkey = \"{PUBLIC}\"\n"),
    );
    fleet.refuses("connection refused", 7);
    fleet.world.write(
        &fleet.paths.fleet,
        &format!("[managed]\nurl = \"http://example.org/x\"\nkey = \"{PUBLIC}\"\n"),
    );
    fleet.refuses("fetched over https", 7);
    // What the administrator wrote cannot be read: nobody knows whose rules count.
    for (text, why) in [
        ("[managed]\nkee = 1\n", "`kee` is no key"),
        ("[managed]\nurl = 1\n", "needs url and key"),
        ("[manage]\n", "no [managed]"),
        ("[managed\n", "fleet.toml"),
        (
            "least = 9\n[managed]\nurl = \"http://127.0.0.1:1/x\"\nkey = \"x\"\n",
            "outside of [managed]",
        ),
        (
            "[managed]\nurl = \"http://127.0.0.1:1/x\"\nkey = \"x\"\nca = [\"/x.pem\"]\n",
            "`ca` is the name",
        ),
    ] {
        fleet.world.write(&fleet.paths.fleet, text);
        let Fetched::Failed(said) = fleet.fetch() else { panic!("{why}") };
        assert!(said.contains(why), "{why}: {said}");
        assert!(fleet.config().broken[0].1.contains(why), "{why}");
        assert!(bundle::describe_staleness(&fleet.paths).unwrap().contains(why));
    }
    fleet.settle(&format!("key = \"{PUBLIC}\"\nleast = 9"));
    fleet.publish(8, RULES);
    let Fetched::Failed(said) = fleet.fetch() else { panic!() };
    assert!(said.contains("older than 9"), "{said}");
    assert!(fleet.config().broken[0].1.contains("older than 9"));
    fleet.settle(&format!("key = \"{PUBLIC}\""));
    assert_eq!(fleet.fetch(), Fetched::New(8));
}

#[test]
fn what_its_user_changes_does_not_count() {
    let fleet = Fleet::new();
    let old = fleet.publish(7, "[rule.x]\ncommand = \"x\"\ndeny = \"x\"\n");
    fleet.publish(8, RULES);
    assert_eq!(fleet.fetch(), Fetched::New(8));
    let path = fleet.paths.bundle();
    let good = fs::read(&path).unwrap();
    let broken = |bytes: &[u8], wanted: &str| {
        fs::write(&path, bytes).unwrap();
        let config = fleet.config();
        let why: Vec<&str> = config.broken.iter().map(|(_, why)| why.as_str()).collect();
        assert!(why.iter().any(|why| why.contains(wanted)), "{wanted}: {why:?}");
        assert!(config.bundle.is_empty() && config.sources.is_empty(), "{wanted}");
    };
    // Wherever it is cut off or bent. The first line is for people, and nobody signs it.
    let first = good.iter().position(|byte| *byte == b'\n').unwrap();
    for at in (0..good.len()).step_by(13) {
        broken(&good[..at], "run `hookctl flush`");
        let mut bent = good.clone();
        bent[at] ^= 1;
        if at >= first {
            broken(&bent, "run `hookctl flush`");
        }
    }
    broken(
        &String::from_utf8(good.clone()).unwrap().replace("deny", "deni").into_bytes(),
        "not of this content",
    );
    broken(&[good.as_slice(), b" "].concat(), "not of this content");
    let own = sign(&old, OTHER) + &old;
    broken(own.as_bytes(), "it is signed by the key");
    fs::remove_file(&path).unwrap();
    assert!(fleet.config().broken[0].1.contains("have not come yet"));
    // The next look brings it back.
    fs::write(&path, "x").unwrap();
    assert_eq!(fleet.fetch(), Fetched::New(8));
    assert!(fleet.config().broken.is_empty());
    // An older one that was signed once: the administrator says that it no longer counts.
    fs::write(&path, sign(&old, SECRET) + &old).unwrap();
    assert!(fleet.config().bundle.starts_with("7:"));
    fleet.settle(&format!("key = \"{PUBLIC}\"\nleast = 8"));
    broken((sign(&old, SECRET) + &old).as_bytes(), "older than 8");
    // No index of a file that the user may write stands in for its rules.
    assert_eq!(fleet.fetch(), Fetched::New(8));
    let names = |dir: &Path| -> Vec<String> {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    fleet.config();
    let mut found = names(&fleet.paths.fleet_state());
    found.sort();
    assert_eq!(found, ["bundle", "lock", "tried"]);
}

#[test]
fn a_sender_looks_where_it_is_time() {
    let fleet = Fleet::new();
    let look = || fleet::fetch_bundle(&fleet.paths, Asker::Sender);
    fleet.publish(7, RULES);
    assert_eq!(look(), Fetched::New(7));
    assert_eq!(look(), Fetched::Busy);
    // What came has gone: it is looked for again, but not at every event.
    fs::remove_file(fleet.paths.bundle()).unwrap();
    assert_eq!((fleet::is_due(&fleet.paths, true), look()), (false, Fetched::Busy));
    let tried = Tried::read(&fleet.paths);
    Tried { at: tried.at - 60, ..tried }.write(&fleet.paths).unwrap();
    assert_eq!((fleet::is_due(&fleet.paths, false), look()), (false, Fetched::New(7)));
    // A directory in its place gives way.
    fs::remove_file(fleet.paths.bundle()).unwrap();
    fs::create_dir(fleet.paths.bundle()).unwrap();
    assert_eq!(fleet.fetch(), Fetched::New(7));
    // While another looks, a human is told.
    let lock = fs::File::open(fleet.paths.fleet_lock()).unwrap();
    lock.lock().unwrap();
    assert_eq!((look(), fleet.fetch()), (Fetched::Busy, Fetched::Busy));
    drop(lock);
    // Where nobody has looked for long, that is told.
    let tried = Tried::read(&fleet.paths);
    Tried { good: tried.good - 8 * 86_400, ..tried }.write(&fleet.paths).unwrap();
    let said = bundle::describe_staleness(&fleet.paths).unwrap();
    assert!(said.contains("nobody has looked for newer ones since"), "{said}");
    // What cannot be noted is not looked for by a sender.
    fs::remove_dir_all(fleet.paths.fleet_state()).unwrap();
    fs::write(fleet.paths.fleet_state(), "").unwrap();
    assert_eq!(look(), Fetched::Busy);
}

#[test]
fn a_pause_does_not_switch_off_what_is_locked() {
    let fleet = Fleet::new();
    fleet.publish(7, RULES);
    assert_eq!(fleet.fetch(), Fetched::New(7));
    let judged = |fleet: &Fleet| {
        let config = Config::load(&fleet.paths, &fleet.world.project(), Some(Kind::PreToolUse));
        judge_paused(&config, &fleet.paths)
    };
    assert_eq!(judged(&fleet), Some(Verb::Deny));
    fs::remove_file(fleet.paths.bundle()).unwrap();
    assert_eq!(judged(&fleet), Some(Verb::Ask));
}

#[test]
fn one_that_ran_out_holds_on_and_is_told() {
    let fleet = Fleet::new();
    let text = bundle_text(7, "2020-01-01T00:00:00Z", RULES);
    bundle::keep_bundle(&fleet.paths, text.as_bytes(), &sign(&text, SECRET)).unwrap();
    assert!(fleet.config().broken.is_empty());
    assert_eq!(fleet.held(), 7);
    let said = bundle::describe_staleness(&fleet.paths).unwrap();
    assert!(said.contains("they expired on 2020-01-01"), "{said}");
    let said = bundle::describe_expiry(&fleet.paths).unwrap();
    assert!(said.contains("version 7") && said.contains("expired on 2020-01-01"), "{said}");
    let text = bundle_text(8, "2999-01-01T00:00:00Z", RULES);
    bundle::keep_bundle(&fleet.paths, text.as_bytes(), &sign(&text, SECRET)).unwrap();
    assert_eq!(bundle::describe_expiry(&fleet.paths), None);
}

#[test]
#[cfg(unix)]
fn what_no_event_would_read_is_not_said_to_hold() {
    use std::os::unix::fs::PermissionsExt as _;
    let fleet = Fleet::new();
    fleet.publish(7, RULES);
    assert_eq!(fleet.fetch(), Fetched::New(7));
    let mode = |mode| {
        fs::set_permissions(fleet.paths.fleet_state(), fs::Permissions::from_mode(mode)).unwrap()
    };
    mode(0o777);
    fleet.publish(8, RULES);
    let fetched = fleet.fetch();
    assert!(matches!(&fetched, Fetched::Failed(why) if why.contains("chmod go-w")), "{fetched:?}");
    mode(0o700);
    assert!(matches!(fleet.fetch(), Fetched::New(8) | Fetched::Same(8)));
}

fn minisign_is_there() -> bool {
    Command::new("minisign").arg("-v").output().is_ok()
}

fn run(dir: &Path, args: &[&str]) -> String {
    let done = Command::new("minisign").args(args).current_dir(dir).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn minisign_reads_what_is_signed_here_and_the_other_way_round() {
    if !minisign_is_there() {
        return eprintln!("skipped: minisign is not installed");
    }
    let world = World::new();
    let dir: PathBuf = world.project();
    run(&dir, &["-G", "-W", "-p", "rules.pub", "-s", "rules.key"]);
    world.write(&dir.join("base.toml"), RULES);
    let done = world.run(&["bundle", "build", "base.toml", "-o", "x.bundle", "--number", "3"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let done = world.run(&["bundle", "sign", "x.bundle", "--key", "rules.key"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let said = run(&dir, &["-V", "-p", "rules.pub", "-m", "x.bundle"]);
    assert!(said.contains("hookctl bundle version 3"), "{said}");
    let key = fs::read_to_string(dir.join("rules.pub")).unwrap();
    assert!(key.contains(&PublicKey::parse(&key).unwrap().id()), "{key}");
    let line = key.lines().nth(1).unwrap().to_string();
    for form in [&["-S", "-H"][..], &["-S", "-l"], &["-S"]] {
        let rest = ["-s", "rules.key", "-m", "x.bundle", "-t", "by minisign"];
        run(&dir, &[form, &rest].concat());
        for key in ["rules.pub", &line] {
            let done = world.run(&["bundle", "verify", "x.bundle", "--key", key, "--json"]);
            assert_eq!(
                (done.code, &done.json()["version"]),
                (0, &3.into()),
                "{form:?}: {}",
                done.out
            );
        }
    }
    let text = fs::read_to_string(dir.join("x.bundle")).unwrap();
    fs::write(dir.join("x.bundle"), text.replace("deny", "allow")).unwrap();
    let done = world.run(&["bundle", "verify", "x.bundle", "--key", &line]);
    assert!(done.code == 1 && done.err.contains("not of this content"), "{}", done.err);
}

#[test]
fn what_cannot_be_signed_or_built_is_said() {
    let world = World::new();
    let dir = world.project();
    let fails = |args: &[&str], why: &str| {
        let done = world.run(&[&["bundle"], args].concat());
        assert!(done.code == 2 && done.err.contains(why), "{args:?}: {}", done.err);
    };
    fails(&[], "build, sign or verify");
    world.write(&dir.join("bad.toml"), "[rule.x]\ncommnd = \"x\"\ndeny = \"x\"\n");
    fails(&["build", "bad.toml", "-o", "x"], "bad.toml:2");
    world.write(&dir.join("good.toml"), RULES);
    world.write(&dir.join("other/good.toml"), RULES);
    fails(&["build", "good.toml", "other/good.toml", "-o", "x"], "the same name");
    let long = format!("{}.toml", "x".repeat(59));
    world.write(&dir.join(&long), RULES);
    fails(&["build", &long, "-o", "x"], "at most 63 bytes");
    fails(&["build", "good.toml", "-o", "x", "--expires", "soon"], "no duration");
    fails(&["build", "good.toml", "-o", "x", "--expires", "0d"], "no duration");
    fails(&["sign", "good.toml", "--key", "good.toml"], "it is no JSON");
    assert_eq!(world.run(&["bundle", "build", "good.toml", "-o", "x"]).code, 0);
    fails(&["sign", "x", "--key", "good.toml"], "no secret key");
    fails(&["verify", "x", "--key", "RWQ"], "no public key of minisign");
    // What was not written by hookctl stays, its own input above all.
    for other in ["good.toml", "/dev/null", "none/x", "link"] {
        let _ = std::os::unix::fs::symlink("gone", dir.join("link"));
        fails(&["build", "good.toml", "-o", other], "");
    }
    assert_eq!(fs::read_to_string(dir.join("good.toml")).unwrap(), RULES);
    assert!(!dir.join("none").exists() && !dir.join("gone").exists());
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    // An empty file, as mktemp makes it, and an earlier bundle behind a link.
    world.write(&dir.join("empty"), "");
    std::os::unix::fs::symlink("empty", dir.join("current")).unwrap();
    for _ in 0..2 {
        assert_eq!(world.run(&["bundle", "build", "good.toml", "-o", "current"]).code, 0);
    }
    assert!(dir.join("current").is_symlink());
}
