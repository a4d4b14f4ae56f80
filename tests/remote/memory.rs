//! What a human says for the session: nobody is asked again about what is like it, everybody about what does more.

use super::*;

const ONCE: &str = r#"{"decision":"allow","pattern":"","scope":"once"}"#;

fn config(url: &str, more: &str) -> String {
    let times = "timeout_ms = 1500\ndeadline_ms = 1800";
    format!(
        "[remote.x]\nurl = \"{url}\"\ndialect = \"cdev\"\nevents = [\"PreToolUse\", \"PermissionRequest\"]\n{times}\n{more}\n"
    )
}

/// As fast as a human may be.
fn session(decision: &str, pattern: &str) -> Play {
    let answer = json!({ "decision": decision, "pattern": pattern, "scope": "session" });
    Play::Slow(270, answer.to_string())
}

/// A call of its own.
fn call(id: usize, command: &str) -> Value {
    let mut payload = bash(command);
    payload["tool_use_id"] = format!("toolu_{id}").into();
    payload
}

fn tool(id: usize, tool: &str, input: Value) -> Value {
    let mut payload = call(id, "");
    payload["tool_name"] = tool.into();
    payload["tool_input"] = input;
    payload
}

/// The verdict, and whether the server was asked for it.
fn asked(home: &Home, server: &Server, payload: &Value) -> (String, bool) {
    let before = server.connections();
    let answer = home.hook(payload);
    (verdict(&answer).0.to_string(), server.connections() > before)
}

fn is(verb: &str, asked: bool) -> (String, bool) {
    (verb.to_string(), asked)
}

#[test]
fn s0_19_what_is_allowed_for_the_session_is_answered_at_once_and_without_a_request() {
    let server = Server::start(vec![session("allow", "Bash(npm test:*)")]);
    let home = Home::new(&config(&server.url, ""));
    assert_eq!(asked(&home, &server, &call(1, "npm test")), is("allow", true));
    assert_eq!(asked(&home, &server, &call(2, "npm test")), is("allow", false));
    assert_eq!(asked(&home, &server, &call(3, "npm test unit")), is("allow", false));
    assert_eq!(home.remote()["outcome"], "remembered");
    let reason = "Approved for this session: Bash(npm test:*) [user:remote.x]";
    assert_eq!(verdict(&home.hook(&call(4, "npm test"))).1, reason);
    // s0_20: the human is asked about what does more.
    assert_eq!(asked(&home, &server, &call(5, "npm test && rm -rf x")), is("allow", true));
    assert_eq!(asked(&home, &server, &call(6, "npm test $(cat x)")), is("allow", true));
    // Another session, another directory, another server of that name.
    let mut other = call(7, "npm test");
    other["session_id"] = "s-2".into();
    assert_eq!(asked(&home, &server, &other), is("allow", true));
    let mut elsewhere = call(8, "npm test");
    elsewhere["cwd"] = "/usr".into();
    assert!(asked(&home, &server, &elsewhere).1);
    let second = Server::start(vec![ok(ONCE)]);
    home.configure(&config(&second.url, ""));
    assert_eq!(asked(&home, &second, &call(9, "npm test")), is("allow", true));
}

/// What the server says in a human's time may still be its memory of what was said for the session: it is asked once more.
#[test]
fn after_an_answer_for_the_session_the_next_is_in_doubt_however_slow_it_comes() {
    let server = Server::start(vec![session("allow", "Bash(npm test:*)")]);
    let home = Home::new(&config(&server.url, "remember_s = 0"));
    assert_eq!(asked(&home, &server, &call(1, "npm test")), is("allow", true));
    assert_eq!(server.seen().len(), 1);
    assert_eq!(asked(&home, &server, &call(2, "npm test")), is("allow", true));
    assert_eq!(server.seen().len(), 3);
    // Of what was said once there is no such doubt.
    let server = Server::start(vec![ok(ONCE), session("allow", "Bash(npm test:*)")]);
    let home = Home::new(&config(&server.url, "remember_s = 0"));
    for (id, seen) in [(1, 1), (2, 2)] {
        assert_eq!(asked(&home, &server, &call(id, "npm test")), is("allow", true));
        assert_eq!(server.seen().len(), seen);
    }
}

#[test]
fn s0_17_what_is_said_once_holds_once() {
    for body in [ONCE, r#"{"decision":"allow"}"#, r#"{"decision":"deny","scope":"once"}"#] {
        let server = Server::start(vec![ok(body)]);
        let home = Home::new(&config(&server.url, ""));
        for id in 0..3 {
            assert!(asked(&home, &server, &call(id, "npm test")).1, "{body}");
        }
        assert_eq!(home.told(&["memory"]), "nothing is remembered\n");
    }
    // Nobody has looked, or nobody knew.
    for body in [
        r#"{"decision":"allow","scope":"session","message":"bypass_permissions"}"#,
        r#"{"decision":"ask","scope":"session"}"#,
    ] {
        let server = Server::start(vec![ok(body)]);
        let home = Home::new(&config(&server.url, ""));
        home.hook(&call(1, "npm test"));
        assert_eq!(home.told(&["memory"]), "nothing is remembered\n", "{body}");
    }
}

#[test]
fn a_no_for_the_session_is_remembered_and_comes_first() {
    let server = Server::start(vec![session("deny", "Bash(npm test:*)")]);
    let home = Home::new(&config(&server.url, ""));
    assert_eq!(asked(&home, &server, &call(1, "npm test")), is("deny", true));
    assert_eq!(asked(&home, &server, &call(2, "npm test -w a")), is("deny", false));
    assert!(home.told(&["memory"]).contains("deny   Bash(npm test:*)"));
    // A yes to the very same command does not lift it.
    let path = std::fs::read_dir(home.state().join("memory")).unwrap().next().unwrap().unwrap();
    let line = std::fs::read_to_string(path.path()).unwrap();
    let yes = line.replace("\"allow\":false", "\"allow\":true");
    std::fs::write(path.path(), format!("{line}{yes}")).unwrap();
    assert_eq!(asked(&home, &server, &call(3, "npm test")), is("deny", false));
}

/// A project with a few files, and what its human at the server is asked about a pair of calls.
struct Pairs {
    project: tempfile::TempDir,
    server: Server,
    home: Home,
}

impl Pairs {
    fn new() -> Pairs {
        let project = tempfile::tempdir().unwrap();
        for file in ["a.txt", "b.txt", "src/a.rs", ".github/a.yml"] {
            let path = project.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let server = Server::start(vec![session("allow", "")]);
        let home = Home::new(&config(&server.url, ""));
        Pairs { project, server, home }
    }

    /// Is the second asked about after a yes to the first, in a session of their own?
    fn asks(&self, session: usize, seen: &Value, then: &Value) -> bool {
        let (first, verb, again) = self.both(session, seen, then);
        assert!(first, "{seen}");
        // Before, what was seen is not asked about again, and nothing but a yes comes of it.
        assert!(again || verb == "allow", "{seen}, then {then}");
        again
    }

    /// Is the human asked about the first, what comes of the second, and are they asked about it?
    fn both(&self, session: usize, seen: &Value, then: &Value) -> (bool, String, bool) {
        let cwd = hookctl::files::real_path(self.project.path()).unwrap();
        let cwd = cwd.to_str().unwrap();
        let at = |payload: &Value| {
            let mut payload = payload.clone();
            payload["cwd"] = cwd.into();
            payload["session_id"] = format!("s-{session}").into();
            let input = payload["tool_input"].to_string().replace("@/", &format!("{cwd}/"));
            payload["tool_input"] = serde_json::from_str(&input).unwrap();
            asked(&self.home, &self.server, &payload)
        };
        let first = at(seen).1;
        let (verb, again) = at(then);
        (first, verb, again)
    }
}

/// Each of them in a session of its own, many at once: a human takes their time.
fn each<T: Send>(items: impl IntoIterator<Item = T>, check: impl Fn(&Pairs, usize, T) + Sync) {
    let items: Vec<(usize, T)> = items.into_iter().enumerate().collect();
    let items = std::sync::Mutex::new(items.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                let pairs = Pairs::new();
                loop {
                    let next = items.lock().unwrap().next();
                    let Some((n, item)) = next else { break };
                    check(&pairs, n, item);
                }
            });
        }
    });
}

/// The human has seen one call; a call like it that does more is another.
#[test]
fn s0_20_who_said_yes_to_less_is_asked_again() {
    let all = [
        // Another effect, another host, a path outside, a whole directory, what is hidden.
        ("rm a.txt", "rm -r src"),
        ("mv a.txt c.txt", "mv src c"),
        ("find . -name a", "find . -name a -delete"),
        ("find . -name a", "find . -exec x {} +"),
        ("sed -n 1p a.txt", "sed -n 1e a.txt"),
        ("sort a.txt", "sort --compress-program=x a.txt"),
        ("curl https://a.example/x", "curl https://b.example/x"),
        ("curl https://a.example/x", "curl --resolve a.example:443:192.0.2.1 https://a.example/x"),
        ("curl https://a.example/x", "curl -d a=b https://a.example/x"),
        ("curl -X POST https://a.example/x", "curl -X DELETE https://a.example/x"),
        ("scp a.txt h.example:x", "scp b.txt h.example:x"),
        ("cat a.txt", "cat /usr/share/x.txt"),
        ("cat a.txt", "cat ../b.txt"),
        ("cat a.txt", "cat .github/a.yml"),
        // A rule asks about it.
        ("git reset a.txt", "git reset --hard"),
        // What nobody knows.
        ("cat a.txt", "cat $FILE"),
        ("echo a", "echo $TOKEN"),
        ("npm test", "npm test --no-such-option=x"),
        ("npm test", "npm test $X"),
        ("npm test", "FOO=1 npm test"),
        ("npm test", "npm test --prefix /x"),
        ("npm test", "n\\pm test"),
        ("npm test", "\"npm\" test"),
        ("npm test", "npm test\u{a0}x"),
        ("npm test", "npm test\u{2028}x"),
        ("npm test", "npm test\rx"),
        ("npm test", "npm test\u{0}x"),
        ("npm test", "npm test # x\ny"),
        ("npm test", "./npm test"),
        ("python3 a.py", "\u{a0}python3 a.py"),
        ("git push", "git push --receive-pack=x origin"),
        ("git push", "git push /x main"),
        ("git push", "git -c core.sshCommand=x push"),
        ("git fetch", "git fetch --upload-pack=x origin"),
        ("go test ./...", "go test -exec=x ./..."),
        // Another sub-command, or one that no table knows.
        ("cargo test", "cargo no-such-command"),
        ("gh pr list", "gh extension install x"),
        ("apt-get update", "apt-get install x"),
        ("poetry show", "poetry run x"),
        ("git alias-of-mine a", "git alias-of-mine b"),
        ("npm audit", "npm audit fix"),
        // Only like itself.
        ("python3 a.py", "python3 b.py"),
        ("./deploy.sh staging", "./deploy.sh production"),
        ("yarn deploy staging", "yarn deploy production"),
        ("npm run build", "npm run deploy"),
        ("npm install", "npm install x"),
        ("pip install a", "pip install b"),
        ("npm rum build", "npm rum deploy"),
        ("make test", "make install"),
        ("ssh a.example ls", "ssh a.example id"),
    ];
    each(all, |pairs, n, (seen, more)| {
        assert!(pairs.asks(2 * n, &call(1, seen), &call(2, more)), "{seen}, then {more}");
        if !seen.contains("alias-of-mine") {
            assert!(!pairs.asks(2 * n + 1, &call(3, seen), &call(4, seen)), "{seen}");
        }
    });
}

#[test]
fn s0_20_so_it_is_with_other_tools() {
    let all = [
        (
            "Bash",
            json!({"command": "ls"}),
            json!({"command": "ls", "dangerouslyDisableSandbox": true}),
        ),
        ("shell", json!({"command": "ls"}), json!({"command": "rm a.txt"})),
        ("shell", json!({"command": "ls"}), json!({"command": "ls; x"})),
        ("mcp__x__eval", json!({"code": "1"}), json!({"code": "2"})),
        ("mcp__x__get", json!({"path": "@/a.txt"}), json!({"path": "/usr/a.txt"})),
        ("apply_patch", json!({"input": "a"}), json!({"input": "b"})),
        ("ExitPlanMode", json!({"plan": "a"}), json!({"plan": "b"})),
        ("WebFetch", json!({"url": "https://a.example"}), json!({"url": "https://b.example"})),
        ("Write", json!({"file_path": "@/a.yml"}), json!({"file_path": "@/.github/a.yml"})),
        ("Write", json!({"file_path": "@/a.py"}), json!({"file_path": "@/a.py/../../a.py"})),
        ("Read", json!({"file_path": "@/Makefile"}), json!({"file_path": "@/.git/config"})),
    ];
    each(all, |pairs, n, (name, seen, more)| {
        let (seen, more) = (tool(1, name, seen), tool(2, name, more));
        assert!(pairs.asks(n, &seen, &more), "{seen}, then {more}");
    });
}

/// The pairs of `pairs.toml`.
#[test]
fn s0_20_another_host_remote_refspec_or_text_to_run_is_another_call() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/remote/pairs.toml");
    let data: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    let made = |id: usize, what: &toml::Value| match what {
        toml::Value::String(command) => call(id, command),
        what => {
            let mut input = serde_json::to_value(what).unwrap();
            let name = input.as_object_mut().unwrap().remove("tool").unwrap();
            tool(id, name.as_str().unwrap(), input)
        }
    };
    let all = [("asked", true), ("alike", false)].into_iter().flat_map(|(key, asked)| {
        data[key].as_array().unwrap().iter().map(move |pair| (asked, pair.as_array().unwrap()))
    });
    let wrong = std::sync::Mutex::new(Vec::new());
    each(all, |pairs, session, (asked, pair)| {
        let (first, verb, again) = pairs.both(session, &made(1, &pair[0]), &made(2, &pair[1]));
        // A deny of ours asks nobody.
        if !first || asked != (again || verb == "deny") {
            let line = format!("{asked}: {first} {verb} {:?} then {:?}", pair[0], pair[1]);
            wrong.lock().unwrap().push(line);
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn who_said_yes_to_as_much_is_not_asked_again() {
    let all = [
        ("npm test", "npm test -- --watch"),
        ("npm test", "npm test src/a.test.js"),
        ("npm test", " npm\ttest\n"),
        ("cargo test", "cargo test foo"),
        ("cargo clippy", "cargo clippy --all-targets -- -D warnings"),
        ("go test ./...", "go test -run X ./pkg/..."),
        ("git push origin feature", "git push -u origin feature"),
        ("git add a.txt", "git add b.txt"),
        ("gh run list", "gh run list --limit 5"),
        ("cat a.txt", "cat -n src/a.rs"),
        ("rm -r src", "rm a.txt"),
        ("mv a.txt c.txt", "mv b.txt d.txt"),
        ("curl https://a.example/x", "curl -sS https://a.example/y"),
        ("pytest a.py", "pytest -x b.py"),
    ];
    each(all, |pairs, n, (seen, then)| {
        assert!(!pairs.asks(n, &call(1, seen), &call(2, then)), "{seen}, then {then}");
    });
}

#[cfg(unix)]
#[test]
fn s0_18_files_are_alike_below_the_sessions_directory_alone() {
    let project = tempfile::tempdir().unwrap();
    let cwd = hookctl::files::real_path(project.path()).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), cwd.join("link")).unwrap();
    let server = Server::start(vec![session("allow", "Write(*.py)")]);
    let home = Home::new(&config(&server.url, ""));
    let write = |id: usize, path: &str| {
        let path = if path.starts_with('/') { path.into() } else { cwd.join(path) };
        let mut payload = tool(id, "Write", json!({ "file_path": path, "content": "x" }));
        payload["cwd"] = cwd.to_str().unwrap().into();
        payload
    };
    assert_eq!(asked(&home, &server, &write(1, "a.py")), is("allow", true));
    assert_eq!(asked(&home, &server, &write(2, "src/b.py")), is("allow", false));
    for (id, path) in ["src/b.rs", "/usr/c.py", "../c.py", "link/c.py"].iter().enumerate() {
        assert!(asked(&home, &server, &write(10 + id, path)).1, "{path}");
    }
    // What lies outside is not remembered at all.
    for id in 20..22 {
        assert!(asked(&home, &server, &write(id, "/usr/c.txt")).1);
    }
}

#[test]
fn what_is_remembered_lifts_no_deny_and_no_question_of_the_administrators() {
    let server = Server::start(vec![session("allow", "Bash(cat:*)")]);
    let rule = "[rule.no]\ncommand = \"cat b.txt\"\ndeny = \"no\"\n";
    let home = Home::new(&format!("{}{rule}", config(&server.url, "")));
    assert_eq!(asked(&home, &server, &call(1, "cat a.txt")), is("allow", true));
    assert_eq!(asked(&home, &server, &call(2, "cat b.txt")), is("deny", false));
}

#[test]
fn it_holds_so_long_and_no_longer_than_the_session() {
    let server = Server::start(vec![session("allow", "Bash(npm test:*)")]);
    let home = Home::new(&config(&server.url, "remember_s = 1"));
    assert_eq!(asked(&home, &server, &call(1, "npm test")), is("allow", true));
    std::thread::sleep(Duration::from_millis(1_100));
    // The server has not forgotten, and is not believed.
    assert_eq!(asked(&home, &server, &call(2, "npm test")), is("allow", true));
    home.configure(&config(&server.url, "remember_s = 0"));
    for id in 3..5 {
        assert_eq!(asked(&home, &server, &call(id, "npm test")), is("allow", true));
    }
    home.configure(&config(&server.url, ""));
    assert_eq!(asked(&home, &server, &call(5, "npm test")), is("allow", true));
    assert_eq!(asked(&home, &server, &call(6, "npm test")), is("allow", false));
    home.hook(&event("SessionEnd", json!({ "reason": "other" })));
    assert_eq!(asked(&home, &server, &call(7, "npm test")), is("allow", true));
}

/// Any server where a human answers may say so; one where nobody does may not.
#[test]
fn s0_18_every_protocol_can_speak_for_the_session() {
    let answer = r#"{"decision":"allow","scope":"session"}"#;
    let http = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"},"scope":"session"}"#;
    for (dialect, more, body, again) in [
        ("hooks-server", "human = true\non_allow = \"allow\"", answer, false),
        ("claude-http", "human = true", http, false),
        ("claude-http", "", http, true),
        // Without that an allow of this protocol is none.
        ("hooks-server", "human = true", answer, true),
    ] {
        let server = Server::start(vec![Play::Slow(270, body.into())]);
        let text = config(&server.url, more).replace("cdev", dialect);
        let home = Home::new(&text);
        home.hook(&call(1, "npm test"));
        assert_eq!(asked(&home, &server, &call(2, "npm test")).1, again, "{dialect}, {more}");
    }
}

#[test]
fn fifty_at_once_lose_nothing() {
    let server = Server::start(vec![session("allow", "")]);
    let home =
        Home::new(&config(&server.url, "").replace("1500", "20000").replace("1800", "20000"));
    let command = |n: usize| format!("./step{n}.sh a");
    let children: Vec<_> = (0..50)
        .map(|n| {
            let mut child = home.command(&["hook"]).spawn().unwrap();
            let payload = call(n, &command(n)).to_string();
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), payload.as_bytes())
                .unwrap();
            child
        })
        .collect();
    for child in children {
        let answer = answer_of(&child.wait_with_output().unwrap());
        assert_eq!(verdict(&answer).0, "allow");
    }
    let listed: Value = serde_json::from_str(&home.told(&["memory", "list", "--json"])).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 50);
    let before = server.connections();
    for n in 0..50 {
        assert_eq!(verdict(&home.hook(&call(100 + n, &command(n)))).0, "allow", "{n}");
    }
    assert_eq!(server.connections(), before);
}

#[test]
fn of_a_session_the_newest_hundred_count() {
    let server = Server::start(vec![session("allow", "")]);
    let home = Home::new(&config(&server.url, ""));
    for n in 0..102 {
        home.hook(&call(n, &format!("./step{n}.sh")));
    }
    let listed: Value = serde_json::from_str(&home.told(&["memory", "--json"])).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 100);
    assert!(asked(&home, &server, &call(200, "./step0.sh")).1);
    assert!(!asked(&home, &server, &call(201, "./step101.sh")).1);
}

/// Whatever somebody makes of the file: humans are asked, events are answered.
#[test]
fn a_broken_memory_is_none() {
    let server = Server::start(vec![session("allow", "Bash(npm test:*)")]);
    let home = Home::new(&config(&server.url, ""));
    home.hook(&call(1, "npm test"));
    let dir = home.state().join("memory");
    let file = std::fs::read_dir(&dir).unwrap().next().unwrap().unwrap().path();
    let line = std::fs::read(&file).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
    }
    // Half a line counts for nothing and costs the others nothing.
    let torn = [b"{\"time\":1,\"un\n", &line[..], b"\xff\n"].concat();
    std::fs::write(&file, [&line[..line.len() / 2], b"\n", &line].concat()).unwrap();
    assert_eq!(asked(&home, &server, &call(2, "npm test")), is("allow", false));
    for bad in [torn, b"[]\n".to_vec(), vec![0; 3 << 20]] {
        std::fs::write(&file, bad).unwrap();
        let (verb, _) = asked(&home, &server, &call(3, "npm test"));
        assert_eq!(verb, "allow");
    }
    std::fs::remove_file(&file).unwrap();
    #[cfg(unix)]
    {
        // A pipe that nobody fills, and a link to what once was remembered.
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        assert_eq!(asked(&home, &server, &call(4, "npm test")), is("allow", true));
        assert_eq!(home.told(&["memory"]), "nothing is remembered\n");
        std::fs::remove_file(&file).unwrap();
        let other = home.path().join("other");
        std::fs::write(&other, &line).unwrap();
        std::os::unix::fs::symlink(&other, &file).unwrap();
        assert_eq!(asked(&home, &server, &call(5, "npm test")), is("allow", true));
        assert_eq!(std::fs::read(&other).unwrap(), line);
        std::fs::remove_file(&file).unwrap();
    }
    std::fs::create_dir(&file).unwrap();
    for id in 10..12 {
        assert_eq!(asked(&home, &server, &call(id, "npm test")), is("allow", true));
    }
    assert!(home.journal().contains("not remembered"));
    std::fs::remove_dir_all(&dir).unwrap();
    std::fs::write(&dir, "").unwrap();
    for id in 20..22 {
        assert_eq!(asked(&home, &server, &call(id, "npm test")), is("allow", true));
    }
}

#[test]
fn it_can_be_read_and_taken_away_and_holds_no_secret() {
    let server = Server::start(vec![session("allow", "")]);
    let home = Home::new(&config(&server.url, ""));
    assert_eq!(home.told(&["memory", "clear"]), "nothing was remembered\n");
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    home.hook(&call(1, &format!("./deploy.sh {secret}")));
    home.hook(&call(2, "npm test"));
    let mut other = call(3, "npm test");
    other["session_id"] = "t-1".into();
    home.hook(&other);
    let list = home.told(&["memory"]);
    assert!(list.contains("session s-1") && list.contains("session t-1"), "{list}");
    assert!(list.contains("allow  Bash(npm test:*)  x, in /, 60 min left"), "{list}");
    assert!(!home.kept().contains(&secret) && !list.contains(&secret), "{list}");
    assert!(!asked(&home, &server, &call(4, &format!("./deploy.sh {secret}"))).1);
    let some = home.told(&["memory", "clear", "--session", "t-"]);
    assert_eq!(some, "1 answer forgotten: the human is asked again\n");
    assert!(!home.told(&["memory"]).contains("t-1"));
    let rest = home.told(&["memory", "clear"]);
    assert_eq!(rest, "2 answers forgotten: the humans are asked again\n");
    assert!(asked(&home, &server, &call(5, "npm test")).1);
}
