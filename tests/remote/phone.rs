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
            "[remote.x]\nurl = \"{}\"\ndialect = \"cdev\"\nevents = [\"PreToolUse\"]\ntimeout_ms = 900\ndeadline_ms = 2500\n{more}\n",
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
            std::fs::write(&path, line.repeat((1 << 20) / line.len())).unwrap();
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
    let home = phone.home("remember_s = 1");
    assert_eq!(phone.verdict(&home, &call(1, "npm test")), is("allow", 1));
    assert_eq!(phone.verdict(&home, &call(2, "npm test")), is("allow", 0));
    std::thread::sleep(Duration::from_millis(1_100));
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
    let home = Home::new(&config.replace("timeout_ms = 900", "timeout_ms = 5000"));
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
