//! How a server knows who asks: tokens, signatures, certificates; and the ways to it: sockets, TLS.

use super::*;
#[cfg(feature = "tls")]
use crate::server::{Cert, tls};

/// The lines of a request's head that begin so.
fn lines<'h>(head: &'h str, name: &str) -> Vec<&'h str> {
    let named = |line: &&str| line.to_lowercase().starts_with(&format!("{name}: "));
    head.lines().filter(named).map(|line| &line[name.len() + 2..]).collect()
}

#[test]
fn sx_07_every_request_is_signed() {
    use hmac::{Hmac, KeyInit as _, Mac as _};
    let server = Server::start(vec![status(503), ok("{}")]);
    for (more, stored) in [("hmac_file = \"key\"", true), ("hmac_env = \"MY_KEY\"", false)] {
        let home = Home::new(&forward(&server.url, more));
        if stored {
            std::fs::write(home.path().join(".config/hookctl/key"), "whsec_1\n").unwrap();
        }
        let child = home.command(&["hook"]).env("MY_KEY", "whsec_1").spawn().unwrap();
        finish(child, &bash("ls é").to_string());
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 3);
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    for one in seen {
        let [line] = lines(&one.head, "x-hookctl-signature")[..] else { panic!("{}", one.head) };
        let (time, hex) = line.strip_prefix("t=").unwrap().split_once(",v1=").unwrap();
        assert!(now - time.parse::<u64>().unwrap() < 60, "{line}");
        // As a server verifies it.
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(b"whsec_1").unwrap();
        mac.update(format!("{time}.").as_bytes());
        mac.update(&one.body);
        let bytes: Vec<u8> = (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect();
        mac.verify_slice(&bytes).unwrap();
    }
    // Without its key nothing is sent.
    let server = Server::start(vec![ok("{}")]);
    for more in ["hmac_file = \"none\"", "hmac_env = \"NOT_SET\""] {
        let home = Home::new(&forward(&server.url, &format!("{more}\nfail_open = false")));
        assert_eq!(verdict(&home.hook(&bash("ls"))).0, "deny");
        let cause = home.remote()["cause"].as_str().unwrap().to_string();
        assert!(cause.contains("key to sign with"), "{cause}");
    }
    assert!(server.seen().is_empty());
}

#[test]
#[cfg(unix)]
fn sx_07_a_command_prints_the_token_once_for_each_event() {
    let server = Server::start(vec![status(503), ok("{}")]);
    let script = "pwd >>runs; echo \" tok-$HOOKCTL_EVENT \"; echo more; echo no >&2";
    let home = Home::new(&forward(&server.url, &format!("token_command = '{script}'")));
    home.hook(&bash("ls"));
    for one in server.seen() {
        assert_eq!(lines(&one.head, "authorization"), ["Bearer tok-PreToolUse"]);
    }
    assert_eq!(server.seen().len(), 2);
    let runs = std::fs::read_to_string(home.path().join("runs")).unwrap();
    let dir = hookctl::files::real_path(home.path()).unwrap();
    assert_eq!(runs.lines().collect::<Vec<_>>(), [dir.to_str().unwrap()], "once, at home");
    // A relative program is meant from the file's directory.
    let home = Home::new(&forward(&server.url, "token_command = \"./tok a\""));
    let tool = home.path().join(".config/hookctl/tok");
    std::fs::write(&tool, "#!/bin/sh\necho \"tok-$1\"\n").unwrap();
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    home.hook(&bash("ls"));
    assert_eq!(lines(&server.seen()[2].head, "authorization"), ["Bearer tok-a"]);
}

#[test]
#[cfg(unix)]
fn sx_07_a_command_that_fails_is_a_failure_of_its_server() {
    let server = Server::start(vec![ok("{}")]);
    for (script, cause) in [
        ("echo tok-secret; echo tok-secret >&2; exit 3", "exit status 3"),
        ("true", "is empty"),
        ("echo; echo tok-secret", "is empty"),
        ("kill -9 $$", "killed by a signal"),
        ("/no/such/program", "exit status 127"),
        ("printf 'tok\\001'", "Authorization cannot be sent"),
    ] {
        let more =
            format!("token_command = \"{}\"\nfail_open = false", script.replace('\\', "\\\\"));
        let home = Home::new(&forward(&server.url, &more));
        let output = home.run(&["hook"], &bash("ls").to_string());
        assert_eq!(verdict(&answer_of(&output)).0, "deny");
        let remote = home.remote();
        assert!(remote["cause"].as_str().unwrap().contains(cause), "{script}: {remote}");
        assert_eq!(remote["attempts"], 0, "{remote}");
        let told = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        for text in told.iter().chain(&[home.journal(), home.kept()]) {
            assert!(!text.contains("tok-secret"), "{text}");
        }
    }
    assert!(server.seen().is_empty());
}

#[test]
#[cfg(unix)]
fn sx_07_no_command_outlives_the_deadline() {
    let server = Server::start(vec![ok("{}")]);
    for script in [
        "(sleep 5; touch late) & sleep 30",
        "trap '' TERM INT; while :; do sleep 4; touch late; done",
        "yes",
    ] {
        let more = format!("token_command = \"{script}\"\nfail_open = false\n");
        let home = Home::new(&forward(&server.url, &more).replace("1400", "500"));
        let start = Instant::now();
        assert_eq!(verdict(&home.hook(&bash("ls"))).0, "deny");
        assert!(start.elapsed() < Duration::from_millis(500 + 3000), "{:?}", start.elapsed());
        let remote = home.remote();
        // The deadline, and what killing takes on a busy machine.
        assert!(remote["ms"].as_u64().unwrap() <= 500 + 1500, "{remote}");
        assert_eq!(remote["attempts"], 0, "{remote}");
        assert!(remote["cause"].as_str().unwrap().contains("time"), "{remote}");
        std::thread::sleep(Duration::from_millis(6_000).saturating_sub(start.elapsed()));
        assert!(!home.path().join("late").exists(), "{script}");
    }
    assert!(server.seen().is_empty());
}

#[test]
#[cfg(unix)]
fn sx_06_a_unix_socket_takes_the_place_of_the_address() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("s");
    let server = Server::at(&socket, vec![ok(r#"{"decision":"deny","reason":"socket"}"#)]);
    let more = format!("socket = \"{}\"\nproxy = \"http://127.0.0.1:1\"", socket.display());
    let home = Home::new(&forward(&server.url, &more));
    let answer = home.hook(&bash("ls"));
    assert_eq!(verdict(&answer).1, "socket [user:remote.x]", "{}", home.journal());
    let seen = server.seen();
    assert!(seen[0].head.starts_with("POST /hook HTTP/1.1"), "{}", seen[0].head);
    assert_eq!(lines(&seen[0].head, "host"), ["hooks.example.org"]);
    assert_eq!(seen[0].json()["event"]["type"], "PreToolUse");
    // Nobody is on the way to it.
    let told = String::from_utf8(home.run(&["check"], "").stdout).unwrap();
    assert!(!told.contains("plain-http"), "{told}");
    let ping = String::from_utf8(home.run(&["ping", "x"], "").stdout).unwrap();
    assert!(ping.contains("up, HTTP 200"), "{ping}");
}

#[test]
#[cfg(feature = "tls")]
fn sx_06_a_private_authority_is_trusted_where_it_is_named() {
    let ca = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/remote/tls/ca.pem");
    let deny = r#"{"decision":"deny","reason":"under TLS"}"#;
    let run = |more: &str| {
        let server = Server::start(vec![tls(Cert::Good, deny)]);
        let url = server.url.replace("http://127.0.0.1", "https://localhost");
        let home = Home::new(&forward(&url, more));
        let answer = home.hook(&bash("ls"));
        (verdict(&answer).1.to_string(), home.remote())
    };
    assert_eq!(run(&format!("ca = \"{ca}\"")).0, "under TLS [user:remote.x]");
    // The public ones do not vouch for it, nor does a file that holds none.
    for more in ["", "ca = \"config.toml\"", "ca = \"/no/such/file\""] {
        let (reason, remote) = run(&format!("fail_open = false\n{more}"));
        assert!(reason.starts_with(CLOSED), "{more}: {reason}");
        assert!(remote["cause"].as_str().unwrap().starts_with("TLS"), "{more}: {remote}");
        assert_eq!(remote["attempts"], 1, "{more}: {remote}");
    }
}

#[test]
#[cfg(feature = "tls")]
fn sx_06_a_client_certificate_is_shown() {
    let pem = |name: &str| format!("{}/tests/remote/tls/{name}", env!("CARGO_MANIFEST_DIR"));
    let identity = |cert: &str, key: &str| {
        format!("client_cert = \"{}\"\nclient_key = \"{}\"", pem(cert), pem(key))
    };
    let run = |more: &str| {
        let deny = r#"{"decision":"deny","reason":"known"}"#;
        let server = Server::start(vec![tls(Cert::Mutual, deny)]);
        let url = server.url.replace("http://127.0.0.1", "https://localhost");
        let more = format!("ca = \"{}\"\nfail_open = false\n{more}", pem("ca.pem"));
        let home = Home::new(&forward(&url, &more));
        let answer = home.hook(&bash("ls"));
        let cause = home.remote()["cause"].as_str().unwrap_or_default().to_string();
        (verdict(&answer).1.to_string(), cause)
    };
    assert_eq!(run(&identity("client.pem", "client.key")).0, "known [user:remote.x]");
    let (reason, _) = run("");
    assert!(reason.starts_with(CLOSED), "{reason}");
    for (cert, key, named, why) in [
        ("client.pem", "server.key", "server.key", "is not the key of"),
        ("none.pem", "client.key", "none.pem", "No such file"),
        ("client.pem", "none.key", "none.key", "No such file"),
        ("client.key", "client.key", "client.key", "no certificate in it"),
        ("client.pem", "client.pem", "client.pem", "no private key in it"),
    ] {
        let (reason, cause) = run(&identity(cert, key));
        assert!(reason.starts_with(CLOSED), "{reason}");
        assert!(cause.contains(named) && cause.contains(why), "{cert}, {key}: {cause}");
    }
}
