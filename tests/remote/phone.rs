//! An approval that nobody gave is none: cdev's server as it really is, with the memory that it answers from,
//! and a scripted human at a phone.

use std::sync::{Arc, Mutex};

use super::*;

/// What the human does with a question.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Tap {
    Once(&'static str),
    Session(&'static str),
    /// The hook is gone before.
    Never,
}

use Tap::{Never, Once, Session};

#[derive(Default)]
struct State {
    /// The server's own memory: session, pattern, what was said.
    memory: Vec<(String, String, String)>,
    /// What reached the phone: session and command.
    asked: Vec<(String, String)>,
    taps: Vec<Tap>,
}

struct Phone {
    server: Server,
    state: Arc<Mutex<State>>,
}

/// What the server remembers an answer by, and how it finds that again: by the first words.
fn pattern(command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    let two = ["git", "npm", "yarn", "pnpm", "go"].contains(&words[0]) && words.len() > 1;
    format!("Bash({}:*)", words[..if two { 2 } else { 1 }].join(" "))
}

fn answer(decision: &str, pattern: &str, scope: &str) -> String {
    json!({ "decision": decision, "pattern": pattern, "scope": scope }).to_string()
}

impl Phone {
    /// Where the human taps so in turn, the last for ever.
    fn new(taps: &[Tap]) -> Phone {
        let state = Arc::new(Mutex::new(State { taps: taps.to_vec(), ..State::default() }));
        let own = Arc::clone(&state);
        let think = move |asked: &Value| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
            let (session, mode) = (text(&asked["session_id"]), text(&asked["permission_mode"]));
            let command = text(&asked["tool_input"]["command"]);
            if mode == "bypassPermissions" {
                let bypass = json!({ "decision": "allow", "scope": "session", "message": "bypass_permissions" });
                return Some(bypass.to_string());
            }
            let (tap, known) = {
                let mut state = own.lock().unwrap();
                let known = state.memory.iter().rev().find(|(of, pattern, _)| {
                    let words = pattern.trim_start_matches("Bash(").trim_end_matches(":*)");
                    let words: Vec<&str> = words.split(' ').collect();
                    *of == session && command.split_whitespace().take(words.len()).eq(words)
                });
                if let Some((_, pattern, said)) = known {
                    (Never, Some(answer(said, pattern, "session")))
                } else {
                    state.asked.push((session.clone(), command.clone()));
                    let tap = state.taps[0];
                    if state.taps.len() > 1 {
                        state.taps.remove(0);
                    }
                    (tap, None)
                }
            };
            if known.is_some() {
                return known;
            }
            std::thread::sleep(Duration::from_millis(300));
            match tap {
                Never => None,
                Once(said) => Some(answer(said, "", "once")),
                Session(said) => {
                    own.lock().unwrap().memory.push((session, pattern(&command), said.into()));
                    Some(answer(said, &pattern(&command), "session"))
                }
            }
        };
        Phone { server: Server::start(vec![Play::Think(Arc::new(think))]), state }
    }

    /// Tapped when the hook is gone, or at cdev's own script.
    fn remembers(&self, session: &str, command: &str) {
        let known = (session.to_string(), pattern(command), "allow".to_string());
        self.state.lock().unwrap().memory.push(known);
    }

    fn asked(&self) -> usize {
        self.state.lock().unwrap().asked.len()
    }

    fn home(&self, more: &str) -> Home {
        Home::new(&self.config(more))
    }

    fn config(&self, more: &str) -> String {
        format!(
            "[remote.x]\nurl = \"{}\"\ndialect = \"cdev\"\nevents = [\"PreToolUse\"]\ntimeout_ms = 1800\ndeadline_ms = 5000\n{more}\n",
            self.server.url
        )
    }

    /// The verdict, and how many questions reached the phone for it.
    fn verdict(&self, home: &Home, payload: &Value) -> (String, usize) {
        let before = self.asked();
        let answer = home.hook(payload);
        (verdict(&answer).0.to_string(), self.asked() - before)
    }
}

fn call(id: usize, command: &str) -> Value {
    let mut payload = bash(command);
    payload["tool_use_id"] = format!("toolu_{id}").into();
    payload
}

fn is(verb: &str, questions: usize) -> (String, usize) {
    (verb.to_string(), questions)
}

const RM: &str = "rm -rf /srv/documents";

/// Each of the roads by which the server comes to remember what no human said of this call to us: the human
/// is asked then, and their no holds.
#[test]
fn what_the_server_remembers_is_asked_about_again() {
    type Road = fn(&Phone, &Home);
    let roads: &[(&str, Road)] = &[
        ("a tap after the hook's time was up", |phone, home| {
            assert_eq!(phone.verdict(home, &call(1, RM)).1, 1);
            phone.remembers("s-1", RM);
        }),
        ("an answer to cdev's own script", |phone, _| phone.remembers("s-1", RM)),
        ("after another setting", |phone, home| {
            assert_eq!(phone.verdict(home, &call(1, RM)).1, 1);
            phone.remembers("s-1", RM);
            home.configure(&phone.config("remember_s = 60"));
        }),
        ("where the server has another name", |phone, home| {
            assert_eq!(phone.verdict(home, &call(1, RM)).1, 1);
            phone.remembers("s-1", RM);
            let config = phone.config("").replace("remote.x", "remote.y");
            home.configure(&config.replace("127.0.0.1", "localhost"));
        }),
        ("with nothing remembered here", |phone, home| {
            home.configure(&phone.config("remember_s = 0"));
            assert_eq!(phone.verdict(home, &call(1, RM)).1, 1);
            phone.remembers("s-1", RM);
        }),
        ("after the memory was cleared", |phone, home| {
            assert_eq!(phone.verdict(home, &call(1, RM)).1, 1);
            phone.remembers("s-1", RM);
            home.told(&["memory", "clear"]);
        }),
        ("after the session was ended and resumed", |phone, home| {
            assert_eq!(phone.verdict(home, &call(1, RM)).1, 1);
            phone.remembers("s-1", RM);
            home.hook(&event("SessionEnd", json!({ "reason": "other" })));
        }),
        ("under other words", |phone, _| phone.remembers("s-1", "rm x")),
    ];
    for (road, take) in roads {
        let phone = Phone::new(&[Never, Once("deny")]);
        let home = phone.home("");
        take(&phone, &home);
        phone.state.lock().unwrap().taps = vec![Once("deny")];
        assert_eq!(phone.verdict(&home, &call(2, RM)), is("deny", 1), "{road}");
        phone.state.lock().unwrap().taps = vec![Once("allow")];
        assert_eq!(phone.verdict(&home, &call(3, RM)), is("allow", 1), "{road}");
        // Without anybody at the phone there is nothing but the question.
        phone.state.lock().unwrap().taps = vec![Never];
        assert_ne!(phone.verdict(&home, &call(4, RM)).0, "allow", "{road}");
    }
}

/// Where nothing can be noted, an allow for the session is nobody's; one for this call alone is.
#[cfg(unix)]
#[test]
fn without_a_record_an_allow_for_the_session_is_a_question() {
    let no_session = |_: &Home, payload: &mut Value| {
        payload["session_id"] = "".into();
    };
    let not_writable = |home: &Home, _: &mut Value| {
        std::fs::remove_dir_all(home.state().join("asked")).unwrap();
        std::fs::write(home.state().join("asked"), "").unwrap();
    };
    let full = |home: &Home, _: &mut Value| {
        let dir = home.state().join("asked");
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let line = std::fs::read_to_string(&path).unwrap();
            // Past the bound: just below it a short line may still fit.
            std::fs::write(&path, line.repeat((1 << 20) / line.len() + 1)).unwrap();
        }
    };
    let broken = |home: &Home, _: &mut Value| {
        let dir = home.state().join("asked");
        for entry in std::fs::read_dir(dir).unwrap() {
            std::fs::write(entry.unwrap().path(), "{\n").unwrap();
        }
    };
    type Spoil = fn(&Home, &mut Value);
    let cases: &[(&str, Spoil)] = &[
        ("no session", no_session),
        ("not writable", not_writable),
        ("full", full),
        ("broken", broken),
    ];
    for (case, spoil) in cases {
        for (tap, verb) in
            [(Session("allow"), "ask"), (Once("allow"), "allow"), (Session("deny"), "deny")]
        {
            let phone = Phone::new(&[Once("deny"), tap]);
            let home = phone.home("");
            let _ = phone.verdict(&home, &call(1, "ls"));
            let mut payload = call(2, RM);
            spoil(&home, &mut payload);
            assert_eq!(phone.verdict(&home, &payload).0, verb, "{case}, {tap:?}");
        }
    }
}

#[test]
fn a_yes_for_the_session_holds_from_the_tap_and_no_longer() {
    let phone = Phone::new(&[Session("allow")]);
    let home = phone.home("remember_s = 4");
    assert_eq!(phone.verdict(&home, &call(1, "npm test")), is("allow", 1));
    assert_eq!(phone.verdict(&home, &call(2, "npm test")), is("allow", 0));
    std::thread::sleep(Duration::from_millis(4_100));
    // The server has not forgotten, and is not believed.
    assert_eq!(phone.verdict(&home, &call(3, "npm test")), is("allow", 1));
    assert_eq!(phone.verdict(&home, &call(4, "npm test")), is("allow", 0));
    home.configure(&phone.config("remember_s = 0"));
    for id in 5..7 {
        assert_eq!(phone.verdict(&home, &call(id, "npm test")), is("allow", 1));
    }
    // Who trusts it may say so.
    home.configure(&phone.config("remember_s = 0\nguard = false"));
    assert_eq!(phone.verdict(&home, &call(8, "npm test")), is("allow", 0));
}

#[test]
fn after_a_compound_command_the_phone_is_asked_again_and_not_the_desktop() {
    let phone = Phone::new(&[Session("allow"), Session("allow"), Once("deny"), Once("allow")]);
    let home = phone.home("");
    let line = "npm test && rm -rf build";
    assert_eq!(phone.verdict(&home, &call(1, line)), is("allow", 1));
    assert_eq!(phone.verdict(&home, &call(2, line)), is("allow", 1));
    assert_eq!(phone.verdict(&home, &call(3, line)), is("deny", 1));
    assert_eq!(phone.verdict(&home, &call(4, "npm test")), is("allow", 1));
    let asked = phone.state.lock().unwrap().asked.clone();
    assert!(asked.iter().all(|(session, _)| session.starts_with("s-1")), "{asked:?}");
    assert_eq!(asked[0].0, "s-1");
}

#[test]
fn what_was_said_once_leaves_no_doubt_behind() {
    let phone = Phone::new(&[Once("allow"), Once("deny"), Session("allow")]);
    let home = phone.home("");
    assert_eq!(phone.verdict(&home, &call(1, "npm test")), is("allow", 1));
    assert_eq!(phone.verdict(&home, &call(2, "npm test")), is("deny", 1));
    assert_eq!(phone.verdict(&home, &call(3, "npm test")), is("allow", 1));
    assert_eq!(phone.verdict(&home, &call(4, "npm test")), is("allow", 0));
    assert_eq!(home.remote()["outcome"], "remembered");
}

#[test]
fn where_all_calls_pass_a_rule_asks_all_the_same() {
    let bypass = |id| {
        let mut payload = call(id, RM);
        payload["permission_mode"] = "bypassPermissions".into();
        payload
    };
    let rule = "[rule.rm]\ncommand = \"rm\"\nremote = \"x\"\notherwise = \"deny\"\n";
    let phone = Phone::new(&[Once("deny"), Once("allow"), Never]);
    let home = phone.home(rule);
    assert_eq!(phone.verdict(&home, &bypass(1)), is("deny", 1));
    assert_eq!(phone.verdict(&home, &bypass(2)), is("allow", 1));
    assert_eq!(phone.verdict(&home, &bypass(3)), is("deny", 1));
    // `events` alone promise nothing.
    let phone = Phone::new(&[Once("deny")]);
    let mut harmless = bypass(4);
    harmless["tool_input"]["command"] = "ls".into();
    assert_eq!(phone.verdict(&phone.home(""), &harmless), is("", 0));
}

#[test]
fn one_answer_is_for_one_call() {
    let phone = Phone::new(&[Once("allow"), Once("deny")]);
    let config = phone.config("").replace("PreToolUse", "PermissionRequest");
    let home = Home::new(&config.replace("timeout_ms = 1800", "timeout_ms = 5000"));
    let mut payload = bash(RM);
    payload["hook_event_name"] = "PermissionRequest".into();
    payload.as_object_mut().unwrap().remove("tool_use_id");
    // Two calls that look the same, at once.
    let two: Vec<_> = (0..2)
        .map(|_| {
            let mut child = home.command(&["hook"]).spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            std::io::Write::write_all(&mut stdin, payload.to_string().as_bytes()).unwrap();
            child
        })
        .collect();
    let mut said: Vec<String> = two
        .into_iter()
        .map(|child| answer_of(&child.wait_with_output().unwrap()))
        .map(|answer| answer["hookSpecificOutput"]["decision"]["behavior"].to_string())
        .collect();
    said.sort();
    assert_eq!(said, ["\"allow\"", "\"deny\""]);
    assert_eq!(phone.asked(), 2);
}

/// Who answered, in the journal and in words.
fn who(home: &Home) -> (String, String) {
    let by = home.remote()["by"].as_str().unwrap_or("-").to_string();
    let log = home.told(&["log"]);
    let last = log.lines().last().unwrap_or_default().trim().to_string();
    (by, last)
}

#[test]
fn the_journal_says_who_answered() {
    let is = |home: &Home, by: &str, words: &str| {
        let (found, line) = who(home);
        assert_eq!(found, by, "{line}");
        assert!(line.contains(words), "{line}");
    };
    let (human, nobody) = ("a human answered", "nobody answered");
    let memory = "a server's memory answered";
    let phone = Phone::new(&[Once("allow"), Once("deny"), Session("allow")]);
    let home = phone.home("");
    for id in 0..3 {
        phone.verdict(&home, &call(id, "npm test"));
        is(&home, "human", human);
    }
    assert_eq!(phone.verdict(&home, &call(3, "npm test")), ("allow".into(), 0));
    is(&home, "human-earlier", "remembered: a human answered earlier, 20");
    let noted = home.remote();
    let time = |key: &str| noted[key].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert_eq!((time("until") - time("since")).total(jiff::Unit::Second).unwrap(), 3600.0);
    let json = home.told(&["log", "--json"]);
    assert!(json.lines().last().unwrap().contains("\"by\":\"human-earlier\",\"since\":\"20"));
    // The server's memory, which is not believed: the human now.
    phone.remembers("s-1", RM);
    phone.state.lock().unwrap().taps = vec![Once("deny")];
    phone.verdict(&home, &call(4, RM));
    is(&home, "human", human);
    // Nobody at the phone.
    phone.state.lock().unwrap().taps = vec![Never];
    phone.verdict(&home, &call(5, RM));
    is(&home, "nobody", nobody);
    // The server's memory, which is believed.
    home.configure(&phone.config("remember_s = 0\nguard = false"));
    phone.verdict(&home, &call(6, RM));
    is(&home, "server-memory", memory);
    let mut bypass = call(7, RM);
    bypass["permission_mode"] = "bypassPermissions".into();
    phone.verdict(&home, &bypass);
    is(&home, "nobody", nobody);
}

/// Its relatives: what is no answer, what came too fast, and servers where no human is.
#[test]
fn what_is_no_humans_answer_is_not_told_as_one() {
    let session = r#"{"decision":"allow","scope":"session","pattern":"p","hookSpecificOutput":{"permissionDecision":"allow"}}"#;
    let explicit = r#"{"decision":"allow","hookSpecificOutput":{"permissionDecision":"allow"}}"#;
    let slow = |body: &str| Play::Slow(270, body.into());
    for (case, play, by, verb) in [
        ("a yes", slow(explicit), "human", "allow"),
        ("a no", slow(r#"{"decision":"block"}"#), "human", "deny"),
        ("ask the desktop", slow(r#"{"decision":"ask"}"#), "human", "ask"),
        ("for the session", slow(session), "human", "allow"),
        ("too fast", ok(session), "server-memory", "ask"),
        ("a no too fast", ok(r#"{"decision":"block"}"#), "server-memory", "deny"),
        ("nothing", slow(""), "nobody", ""),
        ("no sense", slow("<html>"), "nobody", ""),
        ("an error", status(500), "nobody", ""),
        ("no answer", Play::Stall, "nobody", ""),
        ("gone", Play::ResetAfter, "nobody", ""),
    ] {
        let server = Server::start(vec![play]);
        let human = format!("{}\nhuman = true", TIMES.replace("retry_count = 2", ""));
        let config = forward(&server.url, "").replace(TIMES, &human);
        let home = Home::new(&config);
        assert_eq!(verdict(&home.hook(&call(1, "rm a"))).0, verb, "{case}");
        assert_eq!(who(&home).0, by, "{case}");
        // The breaker is open: nobody is asked, and the rule's own `otherwise` holds.
        if case == "no answer" {
            let rule = "[rule.r]\ncommand = \"rm\"\nremote = \"x\"\notherwise = \"deny\"\n";
            home.configure(&format!("{}{rule}", config.replace("events = \"*\"", "")));
            assert_eq!(verdict(&home.hook(&call(2, "rm a"))).0, "deny");
            assert_eq!((who(&home).0, &home.remote()["attempts"]), ("nobody".into(), &json!(1)));
        }
        // Where none is, nothing is said of one.
        let home = Home::new(&config.replace("human = true", ""));
        home.hook(&call(3, "rm a"));
        assert_eq!(who(&home).0, "-", "{case}");
    }
    let human = format!("{}\nhuman = true", TIMES.replace("retry_count = 2", ""));
    let config = forward(&Server::nobody(), "").replace(TIMES, &human);
    let home = Home::new(&config);
    home.hook(&call(1, "rm a"));
    assert_eq!(who(&home).0, "nobody");
}

#[test]
fn explain_says_what_would_answer_a_remembered_call() {
    let phone = Phone::new(&[Session("allow"), Session("deny")]);
    let home = phone.home("");
    let explain = |payload: &Value| {
        let out = home.run(&["explain"], &payload.to_string());
        String::from_utf8(out.stdout).unwrap()
    };
    assert!(explain(&call(1, "npm test")).contains("would ask: [remote.x]"));
    phone.verdict(&home, &call(1, "npm test"));
    phone.verdict(&home, &call(2, "npm run x"));
    let text = explain(&call(3, "npm test"));
    assert!(text.contains("allow by user:remote.x"), "{text}");
    let note = "[remote.x] is not asked: a human's allow of 20";
    assert!(text.contains(note) && text.contains(" for Bash(npm test:*) holds until 20"), "{text}");
    let text = explain(&call(4, "npm run x"));
    assert!(text.contains("a human's deny of 20") && text.contains("deny by user:"), "{text}");
    // What does more is asked about, and so it is in another session.
    for other in [call(5, "npm test && rm x"), {
        let mut other = call(6, "npm test");
        other["session_id"] = "s-2".into();
        other
    }] {
        let text = explain(&other);
        assert!(text.contains("would ask") && !text.contains("is not asked"), "{text}");
    }
    // Of a call that nobody made: in which session.
    let mut command = home.command(&["explain", "--tool", "Bash", "--", "npm test"]);
    let text = command.current_dir("/").output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("would ask: [remote.x]"), "{text}");
    assert!(text.contains(&format!("in session s-1 {note}")), "{text}");
    let mut payload = call(7, "npm test");
    payload["session_id"] = "s-1".into();
    let out = home.run(&["explain", "--json"], &payload.to_string());
    let value: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(value["remotes"][0]["by"], "human-earlier");
    // Whoever else would be asked may still say no.
    let other = format!("[remote.y]\nurl = \"{}\"\nevents = [\"PreToolUse\"]\n", Server::nobody());
    home.configure(&phone.config(&other));
    let text = explain(&call(9, "npm test"));
    assert!(text.contains("would ask: [remote.y]") && text.contains(note), "{text}");
    assert!(text.contains("its answer decides"), "{text}");
    // Nothing of it contacts anybody, or changes what is remembered.
    assert_eq!(phone.asked(), 2);
    home.told(&["memory", "clear"]);
    assert!(!explain(&call(8, "npm test")).contains("is not asked"));
}

/// A yes to one call, once, is no answer to its twin: one after the other, or both at once.
#[test]
fn a_yes_to_one_is_no_yes_to_its_twin() {
    let phone = Phone::new(&[Once("allow"), Once("deny")]);
    let home = phone.home("");
    assert_eq!(phone.verdict(&home, &call(1, RM)), is("allow", 1));
    assert_eq!(phone.verdict(&home, &call(2, RM)), is("deny", 1));
    for answers in [[Once("allow"), Once("deny")], [Once("deny"), Session("allow")]] {
        let phone = Phone::new(&answers);
        let config = phone.config("").replace("timeout_ms = 1800", "timeout_ms = 5000");
        let home = Home::new(&config.replace("deadline_ms = 2500", "deadline_ms = 6000"));
        let children: Vec<_> = (0..2).map(|_| home.command(&["hook"]).spawn().unwrap()).collect();
        let asked = children.into_iter().enumerate().map(|(id, child)| {
            let payload = call(id, RM).to_string();
            std::thread::spawn(move || answer_of(&finish(child, &payload)))
        });
        let asked: Vec<_> = asked.collect();
        let mut said: Vec<String> =
            asked.into_iter().map(|one| verdict(&one.join().unwrap()).0.to_string()).collect();
        said.sort();
        assert_eq!(said, ["allow", "deny"], "{answers:?}");
        assert!(phone.asked() >= 2);
    }
}

/// Another remote or refspec is another call, whatever the server remembers by its two words.
#[test]
fn another_remote_is_another_call() {
    let phone = Phone::new(&[Session("allow"), Once("deny")]);
    let home = phone.home("");
    assert_eq!(phone.verdict(&home, &call(0, "git push origin topic")), is("allow", 1));
    assert_eq!(phone.verdict(&home, &call(1, "git push origin topic")), is("allow", 0));
    for (id, other) in [
        "git push evil topic",
        "git push origin topic:main",
        "git push origin main",
        "git push --force origin topic",
        "git push origin topic main",
        "git push https://evil.example/x topic",
        "git push",
        "git push --all origin",
        "git -C /srv push origin topic",
        "git push origin +topic",
        "git push origin :topic",
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(phone.verdict(&home, &call(10 + id, other)), is("deny", 1), "{other}");
    }
}

/// The reason says what is true: of what the server may have answered, and why that is not believed.
#[test]
fn the_reason_says_why_an_answer_is_not_believed() {
    let question = |home: &Home, payload: &Value| verdict(&home.hook(payload)).1.to_string();
    let instant = |body: Value| Server::start(vec![ok(&body.to_string())]);
    let session = json!({ "decision": "allow", "scope": "session", "pattern": "Bash(rm:*)" });
    let server = instant(session.clone());
    let config = |url: &str| {
        format!(
            "[remote.x]\nurl = \"{url}\"\ndialect = \"cdev\"\nevents = [\"PreToolUse\"]\ntimeout_ms = 1800\ndeadline_ms = 5000\n"
        )
    };
    let begin =
        "An allow for the session (`Bash(rm:*)`) came, but perhaps from no human for this call: ";
    let home = Home::new(&config(&server.url));
    let why = question(&home, &call(1, RM));
    assert_eq!(why, format!("{begin}it came in less than 250 ms. [user:remote.x]"));
    // Two questions went out, in two sessions.
    assert_eq!(server.seen().len(), 2);
    let other = json!({ "decision": "allow", "scope": "session", "pattern": "Bash(ls:*)\u{202e}" });
    let server = Server::start(vec![Play::Slow(270, other.to_string())]);
    let why = question(&Home::new(&config(&server.url)), &call(2, RM));
    assert!(why.contains("(`Bash(ls:*)\\u{202e}`)"), "{why}");
    assert!(why.ends_with("it is for another call than this one. [user:remote.x]"), "{why}");
    let mut unnamed = call(3, RM);
    unnamed["session_id"] = "".into();
    let server = Server::start(vec![Play::Slow(270, session.to_string())]);
    let why = question(&Home::new(&config(&server.url)), &unnamed);
    assert!(why.ends_with("no record of the question could be kept. [user:remote.x]"), "{why}");
    // What the human then says of the second question is the reason, and nothing of the first.
    let phone = Phone::new(&[Session("allow"), Once("deny")]);
    let home = phone.home("");
    phone.verdict(&home, &call(4, "npm test"));
    assert!(home.told(&["memory"]).contains("allow  Bash(npm test:*)"));
    assert!(
        home.told(&["memory", "clear"]).contains("1 answer forgotten: the human is asked again")
    );
    assert_eq!(question(&home, &call(5, "npm test")), "Denied by cdev [user:remote.x]");
    assert_eq!(phone.asked(), 2);
    let sessions: Vec<String> =
        phone.state.lock().unwrap().asked.iter().map(|(session, _)| session.clone()).collect();
    assert!(sessions[0] == "s-1" && sessions[1].starts_with("s-1-"), "{sessions:?}");
}
