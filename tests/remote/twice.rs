//! cdev's own hook and hookctl both ask the phone about a call: each question is answered.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::*;

/// How long the human takes for a question that the phone shows.
const MOMENT: Duration = Duration::from_millis(500);
/// After that time nobody has answered.
const PATIENCE: Duration = Duration::from_millis(8_000);

/// The server's table of open questions: by the call's id, so that a second takes the first one's place.
#[derive(Default)]
struct Table {
    open: HashMap<String, usize>,
    answered: Vec<usize>,
    ids: Vec<String>,
}

fn cdev() -> (Server, Arc<Mutex<Table>>) {
    let table = Arc::new(Mutex::new(Table::default()));
    let own = Arc::clone(&table);
    let think = move |asked: &Value| {
        let id = asked["tool_use_id"].as_str().unwrap_or_default().to_string();
        let me = {
            let mut table = own.lock().unwrap();
            table.ids.push(id.clone());
            let me = table.ids.len();
            table.open.insert(id.clone(), me);
            me
        };
        let end = Instant::now() + PATIENCE;
        std::thread::sleep(MOMENT);
        // A tap on what the phone showed: the question that has the id by now.
        {
            let mut table = own.lock().unwrap();
            let one = table.open.remove(&id);
            table.answered.extend(one);
        }
        while !own.lock().unwrap().answered.contains(&me) {
            if Instant::now() > end {
                return Some(json!({"decision": "ask", "message": "timeout"}).to_string());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(json!({"decision": "allow", "pattern": "", "scope": "once"}).to_string())
    };
    (Server::start(vec![Play::Think(Arc::new(think))]), table)
}

fn home(server: &Server) -> Home {
    Home::new(&format!(
        "[remote.x]\nurl = \"{}\"\ndialect = \"cdev\"\nevents = [\"PreToolUse\"]\n",
        server.url
    ))
}

/// What cdev's own script posts, and what it is answered.
fn script(url: &str, payload: &Value) -> String {
    let address = url.trim_start_matches("http://").split('/').next().unwrap();
    let body = payload.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    let head = "POST /api/hooks/permission-request HTTP/1.1\r\nHost: x\r\nConnection: close";
    write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn put(file: PathBuf, text: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

const GROUP: &str = r#"{"hooks":{"PreToolUse":[{"_cdev_managed":true,"hooks":[{"command":"/h/.cdev/hooks/permission.sh","type":"command"}],"matcher":"*"}]}}"#;
const COMMAND: &str = r#"{"hooks":{"PreToolUse":[{"hooks":[{"command":"bash ~/.cdev/hooks/permission.sh","type":"command"}]}]}}"#;

#[test]
fn two_questions_about_a_call_are_both_answered() {
    for (file, text) in [
        (".claude/settings.json", GROUP),
        (".claude/settings.json", COMMAND),
        ("project/.claude/settings.json", GROUP),
        ("project/.claude/settings.local.json", COMMAND),
    ] {
        for script_first in [false, true] {
            let (server, table) = cdev();
            let home = home(&server);
            std::fs::create_dir_all(home.path().join("project/.git")).unwrap();
            put(home.path().join(file), text);
            let mut payload = bash("touch a");
            payload["cwd"] = home.path().join("project").to_str().unwrap().into();
            let start = Instant::now();
            let (theirs, ours) = std::thread::scope(|scope| {
                let (payload, home, url) = (&payload, &home, &server.url);
                let wait = |first: bool| {
                    let ms = if first { 0 } else { 150 };
                    std::thread::sleep(Duration::from_millis(ms));
                };
                let theirs = scope.spawn(move || {
                    wait(script_first);
                    script(url, payload)
                });
                let ours = scope.spawn(move || {
                    wait(!script_first);
                    verdict(&home.hook(payload)).0.to_string()
                });
                (theirs.join().unwrap(), ours.join().unwrap())
            });
            let ids = table.lock().unwrap().ids.clone();
            assert_eq!(ours, "allow", "{file} {script_first} {ids:?}");
            assert!(theirs.contains(r#""decision":"allow""#), "{file} {script_first}: {theirs}");
            assert!(start.elapsed() < PATIENCE, "{file} {script_first}: {:?}", start.elapsed());
            assert!(ids.iter().all(|id| id.starts_with("toolu_1")) && ids[0] != ids[1], "{ids:?}");
            assert!(home.journal().contains("cdev's own hooks ask about this call as well"));
        }
    }
}

/// Where nobody else asks, the question has the call's own id, by which an app knows its end.
#[test]
fn alone_a_question_has_the_calls_own_id() {
    for text in [
        "",
        "{}",
        r#"{"hooks":{"PreToolUse":[{"hooks":[{"command":"/opt/guard.sh","type":"command"}]}]}}"#,
    ] {
        let (server, table) = cdev();
        let home = home(&server);
        put(home.path().join(".claude/settings.json"), text);
        assert_eq!(verdict(&home.hook(&bash("touch a"))).0, "allow");
        assert_eq!(table.lock().unwrap().ids, ["toolu_1"]);
    }
}

/// Two registrations of hookctl beside cdev's own hook are still one question.
#[test]
fn beside_cdev_two_registrations_ask_once() {
    let (server, table) = cdev();
    let home = home(&server);
    put(home.path().join(".claude/settings.json"), GROUP);
    let payload = bash("touch a").to_string();
    let children: Vec<_> = (0..2).map(|_| home.command(&["hook"]).spawn().unwrap()).collect();
    let asked: Vec<_> = children
        .into_iter()
        .map(|child| {
            let payload = payload.clone();
            std::thread::spawn(move || answer_of(&finish(child, &payload)))
        })
        .collect();
    for answer in asked {
        assert_eq!(verdict(&answer.join().unwrap()).0, "allow");
    }
    assert_eq!(table.lock().unwrap().ids.len(), 1);
}
