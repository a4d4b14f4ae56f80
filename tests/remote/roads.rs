//! Roads on which an answer comes that no human gave to this call: beside those of `phone`, a hook that is killed,
//! an answer that is too fast for a human, one that says where it comes from, and calls without ids.

use std::sync::{Arc, Mutex};

use super::*;

const RM: &str = "rm -rf /srv/documents";
const PATTERN: &str = "Bash(rm:*)";

fn answer(decision: &str, scope: &str, more: Value) -> String {
    let pattern = if scope == "session" { PATTERN } else { "" };
    let mut answer = json!({ "decision": decision, "pattern": pattern, "scope": scope });
    answer.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    answer.to_string()
}

/// A server whose answers come after so many milliseconds: the nth to the nth question, the last for ever; and
/// what it was asked.
fn server(answers: &[(u64, String)]) -> (Server, Arc<Mutex<Vec<Value>>>) {
    let (answers, asked) = (answers.to_vec(), Arc::new(Mutex::new(Vec::new())));
    let seen = Arc::clone(&asked);
    let think = move |question: &Value| {
        let at = {
            let mut seen = seen.lock().unwrap();
            seen.push(question.clone());
            seen.len() - 1
        };
        let (ms, answer) = answers[at.min(answers.len() - 1)].clone();
        std::thread::sleep(Duration::from_millis(ms));
        Some(answer)
    };
    (Server::start(vec![Play::Think(Arc::new(think))]), asked)
}

fn home(server: &Server, more: &str) -> Home {
    Home::new(&format!(
        "[remote.x]\nurl = \"{}\"\ndialect = \"cdev\"\nevents = [\"PreToolUse\"]\ntimeout_ms = 3000\ndeadline_ms = 6000\n{more}\n",
        server.url
    ))
}

/// A human's answer to the second question, so that it shows whether there was one.
fn no() -> (u64, String) {
    (300, answer("deny", "once", json!({})))
}

#[test]
fn faster_than_a_human_is_no_human() {
    let yes = |more: Value| answer("allow", "session", more);
    let memory = json!({ "source": "memory" });
    for (ms, first, verb, questions) in [
        (0, yes(json!({})), "deny", 2),
        (4, yes(json!({})), "deny", 2),
        (100, yes(json!({})), "deny", 2),
        // Marked, however late it is, and whatever it holds for.
        (0, yes(memory.clone()), "deny", 2),
        (400, yes(memory.clone()), "deny", 2),
        (400, answer("allow", "once", memory.clone()), "deny", 2),
        // Near misses: a human's, of another source, and a no, which is one whoever said it.
        (400, yes(json!({})), "allow", 1),
        (400, yes(json!({ "source": "human" })), "allow", 1),
        (0, answer("deny", "session", memory.clone()), "deny", 1),
    ] {
        let (server, asked) = server(&[(ms, first.clone()), no()]);
        let home = home(&server, "");
        assert_eq!(verdict(&home.hook(&bash(RM))).0, verb, "{ms} {first}");
        assert_eq!(asked.lock().unwrap().len(), questions, "{ms} {first}");
        // Twice so, there is only the question, which says why.
        if questions == 2 {
            let (server, _) = self::server(&[(ms, first.clone())]);
            let home = self::home(&server, "");
            let said = home.hook(&bash(RM));
            assert_eq!(verdict(&said).0, "ask", "{ms} {first}");
            assert!(verdict(&said).1.contains("perhaps from no human"), "{said}");
        }
        // Who trusts it may say so.
        let (server, _) = self::server(&[(ms, first.clone()), no()]);
        let home = self::home(&server, "guard = false");
        let own = if first.contains("allow") { "allow" } else { "deny" };
        assert_eq!(verdict(&home.hook(&bash(RM))).0, own, "{ms} {first}");
    }
}

/// The hook is killed while the human looks; their yes for the session comes then, and is no yes to the next.
#[cfg(unix)]
#[test]
fn a_yes_to_a_killed_hook_is_none_to_the_next() {
    for name in ["PreToolUse", "PermissionRequest"] {
        let late = answer("allow", "session", json!({}));
        // What the server says to the second, it has from the tap on the first: after as long as the net likes.
        for ms in [0, 400] {
            let (server, asked) = server(&[(2_000, late.clone()), (ms, late.clone()), no()]);
            let home = Home::new(&format!(
                "[remote.x]\nurl = \"{}\"\ndialect = \"cdev\"\nevents = [\"{name}\"]\n",
                server.url
            ));
            let mut payload = bash(RM);
            payload["hook_event_name"] = name.into();
            if name == "PermissionRequest" {
                payload.as_object_mut().unwrap().remove("tool_use_id");
            }
            let mut child = home.command(&["hook"]).spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            std::io::Write::write_all(&mut stdin, payload.to_string().as_bytes()).unwrap();
            drop(stdin);
            let end = Instant::now() + Duration::from_secs(10);
            while asked.lock().unwrap().is_empty() && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(5));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            let said = home.hook(&payload).to_string();
            assert!(said.contains("deny"), "{name} {ms}: {said}");
            let asked = asked.lock().unwrap();
            assert_eq!(asked.len(), 3, "{name} {ms}");
            // Each is a question of its own, which the phone can answer.
            let ids: Vec<&str> =
                asked.iter().map(|one| one["tool_use_id"].as_str().unwrap()).collect();
            assert!(ids.iter().all(|id| !id.is_empty()), "{ids:?}");
            assert!(ids[2] != ids[0] && ids[2] != ids[1], "{ids:?}");
            assert_eq!(name == "PermissionRequest", ids[0] != ids[1], "{ids:?}");
        }
    }
}

/// A question without an id is one that nobody can answer: each has one, and no two of calls that look alike.
#[test]
fn questions_have_ids_whatever_the_call_has() {
    let (server, asked) = server(&[(0, answer("allow", "once", json!({})))]);
    let home = home(&server, "");
    for id in [Value::Null, "".into(), 7.into(), json!({}), json!(["toolu_1"])] {
        for _ in 0..2 {
            let mut payload = bash("ls");
            payload["tool_use_id"] = id.clone();
            home.hook(&payload);
        }
    }
    let mut payload = bash("ls");
    payload.as_object_mut().unwrap().remove("tool_use_id");
    home.hook(&payload);
    home.hook(&payload);
    let asked = asked.lock().unwrap();
    let ids: std::collections::BTreeSet<&str> =
        asked.iter().map(|one| one["tool_use_id"].as_str().unwrap()).collect();
    assert_eq!((asked.len(), ids.len()), (12, 12), "{ids:?}");
    assert!(ids.iter().all(|id| id.starts_with("hookctl-")), "{ids:?}");
}
