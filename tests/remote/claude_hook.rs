//! `hookctl claude-hook`: the bridge's own hook, which only hands events on, and the entries that register it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use super::bridge::{EVENT, Listener, TAKEN, bridge, call, default_dir, elements, errors, file};
use super::*;

/// The port of an address that somebody listens at, or nobody.
pub(super) fn port(url: &str) -> String {
    url.trim_start_matches("http://127.0.0.1:").split('/').next().unwrap().into()
}

/// As an agent runs it: it says nothing, whatever happens.
pub(super) fn silent(output: &Output) {
    let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
    assert_eq!((output.status.code(), said.concat().as_str()), (Some(0), ""));
}

/// As a person runs it: exit status, stdout, stderr.
fn person(home: &Home, args: &[&str]) -> (i32, String, String) {
    let mut command = home.command(args);
    for mark in hookctl::env::AGENT_MARKS {
        command.env_remove(mark);
    }
    let output = finish(command.spawn().unwrap(), "");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn settings(home: &Home) -> PathBuf {
    home.path().join(".claude/settings.json")
}

fn json_of(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// What each entry of ours runs, event by event.
fn lines(home: &Home, event: &str) -> Vec<String> {
    let settings = json_of(&settings(home));
    let groups = settings["hooks"][event].as_array().into_iter().flatten();
    let entries = groups.flat_map(|group| group["hooks"].as_array().unwrap().clone());
    let line = |entry: Value| {
        let args = entry["args"].as_array().into_iter().flatten();
        args.map(|arg| arg.as_str().unwrap().to_string()).collect::<Vec<_>>().join(" ")
    };
    entries.map(line).collect()
}

#[test]
fn s3_08_the_listener_at_that_port_gets_the_bytes() {
    let server = Server::start(vec![ok(TAKEN)]);
    let home = Home::new("");
    let at = port(&server.url);
    silent(&home.run(&["claude-hook", "--port", &at], EVENT));
    for agent in ["cline", "gemini", "opencode", "droid"] {
        let hook = format!("{agent}-hook");
        let port = format!("--port={at}");
        silent(&home.run(&[&hook, &port], "{\"a\": 1}"));
    }
    let seen = server.seen_when(5);
    let of = |route: &str| {
        let head = format!("POST /{route} ");
        seen.iter().find(|seen| seen.head.starts_with(&head)).expect(route).body.clone()
    };
    assert!(of("claude-hook") == EVENT.as_bytes());
    for route in ["cline-hook", "gemini-hook", "opencode-hook", "droid-hook"] {
        assert_eq!(of(route), b"{\"a\": 1}", "{route}");
    }
    assert_eq!(home.flush(), (0, "nothing waits\n".into()));
    assert!(!default_dir(&home).exists());
}

#[test]
fn s3_08_what_is_not_taken_is_in_that_directory() {
    let home = Home::new("");
    let nobody = port(&Server::nobody());
    for (dir, wanted) in [("~/own", "own"), ("below", "project/below")] {
        let hook = ["claude-hook", "--port", &nobody, "--dir", dir];
        silent(&home.run(&hook, &call(1).to_string()));
        let dir = home.path().join(wanted);
        assert_eq!(elements(&file(&dir), 1)[0]["tool_use_id"], "toolu_1");
        assert_eq!(elements(&errors(&dir), 1)[0]["additionalData"]["path"], "claude-hook");
    }
    // Each agent has files of its own, one of them a place.
    silent(&home.run(&["gemini-hook", "--port", &nobody], "{}"));
    elements(&default_dir(&home).join("gemini-hook-events.json"), 1);
    silent(&home.run(&["cline-hook", "--port", &nobody], "{}"));
    elements(&home.path().join(".cline/hook-events/cline-hook-events.json"), 1);
}

#[test]
fn s3_08_without_a_port_the_listener_is_looked_for() {
    // Nobody else's test is about ports now.
    let moved = Listener::bind(3046);
    let health = r#"{"status":"ok","processedEvents":0}"#;
    let home = Home::new("");
    let moved = Listener::start(moved, health, TAKEN);
    silent(&home.run(&["claude-hook"], &call(1).to_string()));
    assert!(moved.posts(1)[0].starts_with("POST /claude-hook "));
    let own = Listener::start(Listener::bind(3043), health, TAKEN);
    silent(&home.run(&["claude-hook"], &call(2).to_string()));
    assert!(own.posts(1)[0].contains("echo 2"));
    // At a port that is named it is, or nowhere.
    silent(&home.run(&["claude-hook", "--port", &port(&Server::nobody())], &call(3).to_string()));
    elements(&file(&default_dir(&home)), 1);
    assert_eq!((moved.posts(1).len(), own.posts(1).len()), (1, 1));
}

#[test]
fn the_native_object_of_cline_gets_what_the_listener_wants() {
    let server = Server::start(vec![ok(TAKEN)]);
    let home = Home::new("");
    let event = r#"{"hookName":"PreToolUse","timestamp":"1795183888285","taskId":"t","preToolUse":{"toolName":"x","parameters":{"tool":1}}}"#;
    silent(&home.run(&["cline-hook", "--port", &port(&server.url)], event));
    let wanted = event
        .replace("\"1795183888285\"", "\"2026-11-20T14:11:28.285Z\"")
        .replace("\"toolName\":\"x\"", "\"toolName\":\"x\",\"tool\":\"x\"");
    assert_eq!(String::from_utf8_lossy(&server.seen_when(1)[0].body), wanted);
    // The command line's own is as it should be.
    let event = wanted.replace("{\"hookName\"", "{ \"hookName\"");
    silent(&home.run(&["cline-hook", "--port", &port(&server.url)], &event));
    assert_eq!(String::from_utf8_lossy(&server.seen_when(2)[1].body), event);
}

#[test]
fn no_agent_waits_for_a_listener() {
    let server = Server::start(vec![Play::Stall]);
    let home = Home::new("");
    let start = Instant::now();
    silent(&home.run(&["claude-hook", "--port", &port(&server.url)], EVENT));
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}

#[test]
fn the_same_event_many_times_at_once_is_there_so_often() {
    let home = Home::new("");
    let hook = ["claude-hook", "--port", &port(&Server::nobody())];
    let children: Vec<_> = (0..20).map(|_| home.command(&hook).spawn().unwrap()).collect();
    for child in children {
        silent(&finish(child, r#"{"hook_event_name":"Notification"}"#));
    }
    elements(&file(&default_dir(&home)), 20);
    elements(&errors(&default_dir(&home)), 20);
    // `flush` finds the listener where the registered hook says that it is.
    assert_eq!(home.flush(), (0, "nothing waits\n".into()));
    let server = Server::start(vec![ok(TAKEN)]);
    assert_eq!(person(&home, &["claude-hook", "--enable", "--port", &port(&server.url)]).0, 0);
    assert_eq!(home.flush(), (0, "@claude-hook: 20 sent\n".into()));
    assert_eq!(server.seen().len(), 20);
}

#[test]
fn no_secret_leaves_by_the_bridges_own_hook() {
    let home = Home::new("");
    let hook = ["claude-hook", "--port", &port(&Server::nobody())];
    let event = bash("curl -H 'Authorization: Bearer abcdef123456' x.org").to_string();
    silent(&home.run(&hook, &event));
    silent(&home.run(&hook, &format!("{event}, and more")));
    let dir = default_dir(&home);
    elements(&file(&dir), 2);
    elements(&errors(&dir), 3);
    let written = [file(&dir), errors(&dir)].map(|path| fs::read_to_string(path).unwrap()).concat();
    let all = written + &home.kept();
    assert!(!all.contains("abcdef123456"), "{all}");
}

/// The state directory cannot be made.
#[test]
fn what_cannot_wait_is_delivered_at_once() {
    let home = Home::new("");
    fs::write(home.path().join(".local"), "").unwrap();
    let server = Server::start(vec![ok(TAKEN)]);
    silent(&home.run(&["claude-hook", "--port", &port(&server.url)], EVENT));
    assert!(server.seen()[0].body == EVENT.as_bytes());
    silent(&home.run(&["claude-hook", "--port", &port(&Server::nobody())], &call(1).to_string()));
    elements(&file(&default_dir(&home)), 1);
}

/// Row B6 of the bridge's failures.
#[test]
fn b6_what_is_no_json_is_posted_as_it_is_or_kept_raw() {
    let server = Server::start(vec![ok(TAKEN)]);
    let home = Home::new("");
    let texts = ["", "not json", "{\"a\":"];
    for (at, text) in texts.iter().enumerate() {
        silent(&home.run(&["claude-hook", "--port", &port(&server.url)], text));
        assert_eq!(server.seen_when(at + 1)[at].body, text.as_bytes());
    }
    assert!(!default_dir(&home).exists());
    let nobody = port(&Server::nobody());
    for text in texts {
        silent(&home.run(&["claude-hook", "--port", &nobody], text));
    }
    raw(&home, &texts);
}

/// The files hold these texts, each with its errors.
fn raw(home: &Home, texts: &[&str]) {
    let entries = elements(&file(&default_dir(home)), texts.len());
    let kept: Vec<&str> = entries.iter().map(|e| e["__hook_raw"].as_str().unwrap()).collect();
    assert_eq!(kept, texts);
    let errors = elements(&errors(&default_dir(home)), texts.len() * 2);
    for (errors, text) in errors.chunks(2).zip(texts) {
        assert_eq!(errors[0]["context"], "http_send_failed");
        let length = json!({ "path": "claude-hook", "dataLength": text.len() });
        assert_eq!(errors[0]["additionalData"], length);
        assert_eq!(errors[1]["context"], "json_parse_error");
        assert_eq!(errors[1]["additionalData"], json!({ "rawDataPreview": text }));
    }
}

/// What is noted when stdin stays open: one error without more, and no event.
fn timed_out(home: &Home) {
    let error = elements(&errors(&default_dir(home)), 1).remove(0);
    assert_eq!(error["context"], "hook_fatal_error");
    assert_eq!(error["error"]["message"], "Timeout reading stdin");
    assert!(error.get("additionalData").is_none(), "{error}");
    assert!(!file(&default_dir(home)).exists());
}

/// Row B7.
#[test]
fn b7_a_stdin_that_stays_open_is_an_error_and_no_event() {
    use std::io::Write as _;
    let home = Home::new("");
    let mut child =
        home.command(&["claude-hook", "--port", &port(&Server::nobody())]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(EVENT.as_bytes()).unwrap();
    let start = Instant::now();
    silent(&child.wait_with_output().unwrap());
    assert!(start.elapsed() < Duration::from_secs(20));
    drop(stdin);
    timed_out(&home);
}

/// What the guard cannot read reaches its bridge too, and changes nothing of the answer.
#[test]
fn b6_b7_what_the_guard_cannot_read_reaches_the_bridge() {
    use std::io::Write as _;
    let texts = ["", "not json", "{\"hook_event_name\":\"PreToolUse\","];
    let home = Home::new(&bridge(&Server::nobody(), ""));
    let plain = Home::new("");
    for (at, text) in texts.iter().enumerate() {
        let (output, wanted) = (home.run(&["hook"], text), plain.run(&["hook"], text));
        assert_eq!(output, wanted, "{text}");
        assert_eq!(output.stdout.is_empty(), at < 2, "{output:?}");
        // One after the other: each has a sender of its own.
        elements(&file(&default_dir(&home)), at + 1);
    }
    raw(&home, &texts);
    assert!(plain.waiting().is_empty() && !default_dir(&plain).exists());

    let home = Home::new(&bridge(&Server::nobody(), ""));
    let mut child = home.command(&["hook", "--timeout", "2"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"hook_event_name\":\"Stop\"").unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    timed_out(&home);

    // Who is told only of some verdicts, or of other events, is not told of this.
    for more in ["verdicts = \"deny\"", "dir = \"~/x\""] {
        let config = bridge(&Server::nobody(), more);
        let home = Home::new(&config.replace("\"*\"", "\"Stop\""));
        home.run(&["hook"], texts[2]);
        assert!(home.waiting().is_empty() && !home.path().join("x").exists(), "{more}");
    }
}

#[test]
fn s3_05_s3_06_s3_07_enabled_looked_at_and_disabled() {
    let home = Home::new("");
    let theirs = "{\n\t\"hooks\": { \"Stop\": [ { \"hooks\": [ {\"type\": \"command\", \"command\": \"/opt/g\"} ] } ] },\n\t\"a\": 1.0\n}\n";
    fs::create_dir_all(home.path().join(".claude")).unwrap();
    fs::write(settings(&home), theirs).unwrap();
    let off = |text: &str| (1, text.to_string(), String::new());
    let on = || (0, "claude hooks: enabled (9 hooks)\n".to_string(), String::new());
    assert_eq!(person(&home, &["claude-hook", "--status"]), off("claude hooks: not enabled\n"));
    assert_eq!(person(&home, &["claude-hook", "--enable", "--port", "3050", "--dir", "~/x"]), on());
    assert_eq!(lines(&home, "Stop"), ["", "claude-hook --port 3050 --dir ~/x"]);
    let all = json_of(&settings(&home));
    let events: Vec<&String> = all["hooks"].as_object().unwrap().keys().collect();
    assert_eq!(events.len(), 9);
    for event in events {
        let group = all["hooks"][event].as_array().unwrap().last().unwrap();
        let entry = &group["hooks"][0];
        assert_eq!(group["matcher"], "*");
        assert!(Path::new(entry["command"].as_str().unwrap()).is_absolute(), "{entry}");
        assert_eq!(entry["timeout"], if event == "SessionEnd" { 5 } else { 30 });
    }
    let bytes = fs::read(settings(&home)).unwrap();
    assert_eq!(person(&home, &["claude-hook", "--enable", "--port", "3050", "--dir", "~/x"]), on());
    assert!(fs::read(settings(&home)).unwrap() == bytes);
    // Another port: in the same place.
    assert_eq!(person(&home, &["claude-hook", "--enable", "--port", "3051"]), on());
    assert_eq!(lines(&home, "Stop"), ["", "claude-hook --port 3051"]);
    assert_eq!(person(&home, &["claude-hook", "--status"]), on());
    let (code, said, _) = person(&home, &["claude-hook", "--status", "--json"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    let keys: Vec<&String> = said.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["success", "agent", "action", "configPath", "hookCount", "hookTypes"]);
    let path = settings(&home);
    assert_eq!((code, said["configPath"].as_str()), (0, path.to_str()));
    assert_eq!((&said["hookCount"], said["hookTypes"].as_array().unwrap().len()), (&json!(9), 9));
    // The later spelling.
    assert_eq!(person(&home, &["claude", "status"]), on());
    assert_eq!(person(&home, &["claude", "list"]), on());
    assert!(person(&home, &["status"]).1.contains("9 hooks hand events on"));
    assert_eq!(person(&home, &["claude", "disable"]).1, "claude hooks: not enabled\n");
    assert_eq!(fs::read_to_string(settings(&home)).unwrap(), theirs);
    let (code, said, _) = person(&home, &["claude-hook", "--disable", "--json"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &said["hookCount"], &said["action"]), (0, &json!(0), &json!("disable")));
    // Where there was nothing, nothing is left.
    fs::remove_dir_all(home.path().join(".claude")).unwrap();
    assert_eq!(person(&home, &["claude-hook", "--enable"]), on());
    assert_eq!(lines(&home, "Stop"), ["claude-hook"]);
    assert_eq!(person(&home, &["claude-hook", "--disable"]).0, 0);
    assert!(!home.path().join(".claude").exists());
}

/// What is registered runs, and reaches the listener.
#[test]
fn s3_05_the_registered_command_line_is_the_hook() {
    let server = Server::start(vec![ok(TAKEN)]);
    let home = Home::new("");
    person(&home, &["claude-hook", "--enable", "--port", &port(&server.url)]);
    let line = lines(&home, "Stop").remove(0);
    silent(&home.run(&line.split(' ').collect::<Vec<_>>(), EVENT));
    assert!(server.seen_when(1)[0].body == EVENT.as_bytes());
}

#[test]
fn s3_06_guard_and_bridge_come_and_go_in_any_order() {
    let originals =
        ["", "{}", "{\"a\":1}\n", "{\n  \"hooks\": {}\n}", "{ \"hooks\": { \"Stop\": [\n] } }"];
    const IN: [&[&str]; 2] = [&["install"], &["claude-hook", "--enable", "--port", "3050"]];
    const OUT: [&[&str]; 2] = [&["uninstall"], &["claude-hook", "--disable"]];
    for original in originals {
        for first in [0, 1] {
            let home = Home::new("");
            let put = |text: &str| {
                fs::create_dir_all(home.path().join(".claude")).unwrap();
                fs::write(settings(&home), text).unwrap();
            };
            let run = |args: &[&str]| assert_eq!(person(&home, args).0, 0, "{args:?}");
            let text = || fs::read_to_string(settings(&home)).unwrap();
            put(original);
            run(IN[first]);
            let alone = text();
            run(IN[1 - first]);
            let both = text();
            assert_eq!(lines(&home, "Stop").len(), 2, "{both}");
            // Neither changes what the other wrote.
            IN.iter().for_each(|args| run(args));
            assert_eq!(text(), both);
            if first == 0 {
                run(OUT[1]);
                assert_eq!(text(), alone, "as it was with the guard alone");
                run(IN[1]);
            } else {
                run(OUT[1]);
                assert!(lines(&home, "Stop")[0].starts_with("hook "), "{}", text());
                assert_eq!(person(&home, &["claude-hook", "--status"]).0, 1);
                // Another port of nothing is nothing: the guard is as it was.
                run(IN[0]);
                run(IN[1]);
            }
            // All that is ours goes at once.
            let (code, said, _) = person(&home, OUT[0]);
            assert!(
                code == 0 && said.contains("21 entries, 9 of them for the event bridge"),
                "{said}"
            );
            assert_eq!(text(), original, "{first}");
            // The last of both to go leaves it as it was.
            run(IN[first]);
            run(IN[1 - first]);
            run(OUT[1]);
            run(OUT[0]);
            assert_eq!(text(), original, "{first}");
            // Somebody else writes meanwhile: theirs stays.
            put("{\"a\":1}");
            run(IN[first]);
            run(IN[1 - first]);
            let mut settings = json_of(&settings(&home));
            settings["theirs"] = json!(2);
            put(&settings.to_string());
            run(OUT[1]);
            assert!(!text().contains("claude-hook") && text().contains("hookctl"));
            run(OUT[0]);
            assert_eq!(text(), "{\"a\":1,\"theirs\":2}");
        }
    }
}

#[test]
fn s3_05_refused_where_the_bridge_would_get_each_event_twice() {
    let home = Home::new(&bridge("http://localhost:3043", ""));
    // Without the guard that server gets nothing.
    assert_eq!(person(&home, &["claude-hook", "--enable"]).0, 0);
    assert_eq!(person(&home, &["install"]).0, 0);
    assert!(person(&home, &["status"]).1.contains("[remote.x]"));
    assert_eq!(person(&home, &["claude-hook", "--disable"]).0, 0);
    let before = fs::read(settings(&home)).unwrap();
    let (code, said, why) = person(&home, &["claude-hook", "--enable"]);
    assert!(code == 1 && said.is_empty() && why.contains("[remote.x]"), "{why}");
    assert!(fs::read(settings(&home)).unwrap() == before);
}

#[test]
fn s3_05_the_hook_of_the_npm_package_is_named() {
    let home = Home::new("");
    fs::create_dir_all(home.path().join(".claude")).unwrap();
    let theirs = r#"{"hooks":{"Stop":[{"matcher":"*","hooks":[{"type":"command","command":"npx @principal-ai/agent-hooks claude-hook --port 3043","timeout":30}]}]}}"#;
    fs::write(settings(&home), theirs).unwrap();
    assert_eq!(person(&home, &["claude-hook", "--status"]).0, 1, "that one is not ours");
    let (code, _, why) = person(&home, &["claude-hook", "--enable"]);
    assert!(
        code == 0 && why.contains("npx @principal-ai/agent-hooks claude-hook --disable"),
        "{why}"
    );
    assert_eq!(person(&home, &["claude-hook", "--disable"]).0, 0);
    assert_eq!(fs::read_to_string(settings(&home)).unwrap(), theirs);
}

#[test]
fn s3_06_an_agent_takes_nothing_out() {
    let home = Home::new("");
    let agent = |args: &[&str]| {
        let mut command = home.command(args);
        command.env("CLAUDECODE", "1");
        finish(command.spawn().unwrap(), "")
    };
    assert_eq!(agent(&["claude-hook", "--enable"]).status.code(), Some(0));
    let before = fs::read(settings(&home)).unwrap();
    for args in [&["claude-hook", "--disable"][..], &["claude-hook", "--enable", "--port", "1"]] {
        let output = agent(args);
        let why = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && why.contains("CLAUDECODE"), "{why}");
    }
    assert!(fs::read(settings(&home)).unwrap() == before);
}

#[test]
fn s3_05_s3_06_s3_07_the_bridges_of_the_other_agents_come_and_go() {
    let home = Home::new("");
    for agent in ["cline", "gemini", "opencode", "droid"] {
        let bridge = format!("{agent}-hook");
        let status = || person(&home, &[&bridge, "--status"]).1;
        let before = status();
        let (code, said, why) = person(&home, &[&bridge, "--enable"]);
        assert_eq!(code, 0, "{bridge}: {said}{why}");
        assert_ne!(status(), before, "{bridge}");
        assert_eq!(person(&home, &[&bridge, "--disable"]).0, 0, "{bridge}");
        assert_eq!(status(), before, "{bridge}");
        // The words of agent-hooks' own command line.
        assert_eq!(person(&home, &[agent, "enable"]).0, 0);
        assert_eq!(person(&home, &[agent, "disable"]).0, 0);
    }
    for args in
        [&["claude-hook", "--enable", "--disable"][..], &["claude-hook", "--status", "--port", "0"]]
    {
        assert_eq!(person(&home, args).0, 2, "{args:?}");
    }
}
