//! Servers as people see them: `status`, `log`, `check`, and what none of them may tell.

use std::fs;

use super::*;

fn report(home: &Home) -> Value {
    serde_json::from_str(&home.told(&["status", "--json"])).expect("one JSON object")
}

#[test]
fn sx_17_status_tells_up_down_and_wrong_protocol() {
    let up = Server::start(vec![ok("{}")]);
    let html = Server::start(vec![ok("<html></html>")]);
    let ssh = Server::start(vec![Play::Raw(b"SSH-2.0-x\r\n\r\n")]);
    let stalls = Server::start(vec![Play::Stall]);
    let human = Server::start(vec![ok("{}")]);
    let down = Server::nobody();
    let lost = Play::Answer(404, "", String::new());
    let (lost, busy) =
        (Server::start(vec![lost]), Server::start(vec![Play::Answer(503, "", String::new())]));
    let one = |name: &str, url: &str| format!("[remote.{name}]\nurl = \"{url}?key=k1\"\n");
    let config = [
        one("up", &up.url),
        one("html", &html.url),
        one("ssh", &ssh.url),
        one("stalls", &stalls.url),
        one("down", &down),
        one("lost", &lost.url),
        one("busy", &busy.url),
        one("human", &human.url) + "human = true\n",
        format!("[remote.two]\nurl = [\"{down}\", \"{}\"]\n", up.url),
    ];
    let home = Home::new(&config.concat());
    let start = Instant::now();
    let report = report(&home);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let found = |name: &str| {
        let servers = report["servers"].as_array().unwrap();
        servers.iter().find(|server| server["name"] == *name).unwrap().clone()
    };
    for (name, health, cause) in [
        ("up", "up", ""),
        ("html", "wrong-protocol", "invalid answer"),
        ("ssh", "wrong-protocol", "no HTTP"),
        ("stalls", "down", "no answer within"),
        ("down", "down", "connection refused"),
        ("lost", "wrong-protocol", "HTTP 404"),
        ("busy", "down", "HTTP 503"),
        ("human", "connects", "`hookctl ping human` asks the human there"),
        ("two", "up", ""),
    ] {
        let server = found(name);
        assert_eq!(server["health"], health, "{name}: {server}");
        let said = server["addresses"][0]["cause"].as_str().unwrap_or_default();
        assert!(name == "two" || said.contains(cause), "{name}: {server}");
        assert!(server["addresses"][0]["milliseconds"].is_u64(), "{server}");
        assert!(server["down_since"].is_null() && !server.to_string().contains("k1"), "{server}");
    }
    assert_eq!(found("two")["addresses"][0]["health"], "down");
    assert_eq!(found("human")["addresses"][0]["connect_only"], true);
    assert_eq!(up.seen()[0].json()["data"]["hookctl"]["test"], true);
    assert!(human.seen().iter().all(|seen| seen.head.is_empty()), "a human was bothered");
    let told = home.told(&["status"]);
    for part in ["up, ", "wrong protocol: invalid answer", "down: connection refused", "takes conn"]
    {
        assert!(told.contains(part), "{told}");
    }
    // The breaker has heard of nothing, and nobody is asked where that is not wanted.
    assert!(!home.state().exists());
    let seen = up.seen().len();
    let told = home.told(&["status", "--offline"]);
    assert!(told.contains(&up.url) && !told.contains("up, "), "{told}");
    assert_eq!(up.seen().len(), seen);
}

#[test]
fn sx_17_status_tells_what_events_saw_beside_what_is_now() {
    let server = Server::start(vec![Play::Answer(503, "", String::new()), ok("{}")]);
    let home = Home::new(&forward(&server.url, "retry_count = 0").replace("retry_count = 2\n", ""));
    home.hook(&bash("ls"));
    let report = report(&home);
    assert_eq!(report["servers"][0]["health"], "up");
    assert_eq!(report["servers"][0]["cause"], "HTTP 503");
    assert!(report["servers"][0]["down_since"].is_i64());
}

#[test]
fn s1_31_log_tells_which_servers_were_asked_and_what_came() {
    let (up, down) = (Server::start(vec![ok("{}")]), Server::nobody());
    let config = forward(&down, "") + &forward(&up.url, "").replace("remote.x", "remote.y");
    let home = Home::new(&config);
    home.hook(&bash("ls"));
    let told = home.told(&["log"]);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert!(lines[1].starts_with(&format!("    x  {down}  failed, 3 attempts, ")), "{told}");
    assert!(lines[1].ends_with(" ms: connection refused"), "{told}");
    assert!(lines[2].starts_with(&format!("    y  {}  answered, 1 attempt, ", up.url)), "{told}");
    assert_eq!(home.told(&["log", "--decision", "deny"]), "");
    assert_eq!(home.told(&["log", "--json"]).lines().count(), 1);
}

/// What a config may hold that nobody else should read.
const SECRETS: &[&str] =
    &["tok-sesame", "head-sesame", "proxy-sesame", "query-sesame", "env-sesame"];

#[test]
fn sx_07_nothing_that_is_printed_or_kept_tells_a_secret() {
    let plays =
        [vec![ok(r#"{"decision":"deny","reason":"no"}"#)], vec![status(401)], vec![ok("<html>")]];
    let servers: Vec<Server> = plays.into_iter().map(Server::start).collect();
    let urls = servers.iter().map(|server| server.url.clone());
    let far = "http://hooks.example.org/hook".to_string();
    for url in urls.chain([Server::nobody(), far]) {
        let more = "token_file = \"token\"\nfail_open = false\n\
            headers = { X-Key = \"head-sesame\", X-Env = \"$SECRET\" }\nallow_vars = \"SECRET\"\n\
            proxy = \"http://me:proxy-sesame@127.0.0.1:1\"";
        let home = Home::new(&forward(&format!("{url}?key=query-sesame"), more));
        home.put("token", "tok-sesame\n");
        let run = |args: &[&str], stdin: &str| {
            let mut command = home.command(args);
            command.env("SECRET", "env-sesame");
            let output = finish(command.spawn().unwrap(), stdin);
            for text in [output.stdout, output.stderr] {
                let text = String::from_utf8(text).unwrap();
                for secret in SECRETS {
                    assert!(!text.contains(secret), "{url} {args:?}: {text}");
                }
            }
        };
        let payload = bash("ls").to_string();
        run(&["hook", "--debug"], &payload);
        for args in [
            &["status"][..],
            &["status", "--json"],
            &["status", "--offline"],
            &["log"],
            &["log", "--json"],
            &["check"],
            &["check", "--json"],
            &["explain", "--tool", "Bash", "--", "ls"],
            &["explain", "--json", "--tool", "Bash", "--", "ls"],
            &["ping", "x"],
        ] {
            run(args, "");
        }
        run(&["explain"], &payload);
        let mut kept = String::new();
        collect(&home.state(), &mut kept);
        for secret in SECRETS.iter().filter(|secret| **secret != "query-sesame") {
            assert!(!kept.contains(secret), "{url}: {kept}");
        }
        assert!(!home.journal().contains("query-sesame"), "{}", home.journal());
    }
}

/// The text of all files below.
fn collect(dir: &std::path::Path, text: &mut String) {
    for path in fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
        match path.is_dir() {
            true => collect(&path, text),
            false => text.push_str(&String::from_utf8_lossy(&fs::read(&path).unwrap())),
        }
    }
}

/// Faults quote the line that they are about: that must not be how a secret gets out.
#[test]
fn sx_07_faults_of_a_config_tell_no_secret() {
    for (line, code) in [
        ("url = \"https://me:url-sesame@x.org\"", "bad-url"),
        ("url = \"https://x.org/ ?key=url-sesame\"", "bad-url"),
        ("url = \"https://x.org\"\nproxy = \"socks://me:url-sesame@p\"", "bad-url"),
        ("url = \"https://x.org\"\nheaders = { \"a b\" = \"url-sesame\" }", "bad-header"),
        ("url = \"http://x.org?key=url-sesame\"", "plain-http"),
    ] {
        let home = Home::new(&format!("[remote.x]\n{line}\n"));
        for args in [&["check"][..], &["check", "--json"], &["status"], &["status", "--json"]] {
            let told = home.told(args);
            assert!(args[0] == "status" || told.contains(code), "{line} {args:?}: {told}");
            assert!(!told.contains("url-sesame"), "{line} {args:?}: {told}");
        }
        assert!(!home.hook(&bash("ls")).to_string().contains("url-sesame"), "{line}");
        assert!(!home.journal().contains("url-sesame"), "{line}");
    }
}

#[test]
fn sx_05_several_protocols_at_once_and_a_local_rule() {
    let envelope = Server::start(vec![ok(r#"{"decision":"allow"}"#)]);
    let body = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"of http"}}"#;
    let http = Server::start(vec![ok(body)]);
    let config = forward(&envelope.url, "").replace("remote.x", "remote.envelope")
        + &forward(&http.url, "dialect = \"claude-http\"").replace("remote.x", "remote.http")
        + "[rule.local]\ncommand = \"make\"\nask = \"really?\"\n\
           [rule.never]\ncommand = \"make clean\"\ndeny = \"never\"\n";
    let home = Home::new(&config);
    // The strictest wins, whoever says it, and each is spoken to in its own words.
    assert_eq!(verdict(&home.hook(&bash("make"))), ("deny", "of http [user:remote.http]"));
    assert_eq!(envelope.seen()[0].json()["event"]["type"], "PreToolUse");
    assert_eq!(http.seen()[0].body, bash("make").to_string().as_bytes());
    let line: Value = serde_json::from_str(home.journal().lines().last().unwrap()).unwrap();
    let names = line["remotes"].as_array().unwrap().iter().map(|one| one["outcome"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["answered", "answered"]);
    // A local deny is final: neither hears of it.
    let mut clean = bash("make clean");
    clean["tool_use_id"] = "toolu_2".into();
    assert_eq!(verdict(&home.hook(&clean)), ("deny", "never [user:never]"));
    assert_eq!((envelope.seen().len(), http.seen().len()), (1, 1));
    // One that is dead takes nothing from what the other decides.
    let config = config.replace(&envelope.url, &Server::nobody());
    let home = Home::new(&config);
    assert_eq!(verdict(&home.hook(&bash("make"))), ("deny", "of http [user:remote.http]"));
}
