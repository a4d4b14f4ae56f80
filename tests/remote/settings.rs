//! `server.json` and what is typed in its place.

use std::fs;

use super::*;

const PLAIN: &str = "profile = \"guard\"\n";

/// The settings of the seed, comment and all.
fn settings(url: &str, more: &str) -> String {
    format!(
        "{{\n  \"server_url\": \"{url}\",\n  \"timeout_ms\": 400,\n  \"retry_count\": 1,\n  \
         \"retry_delay_ms\": 20,{more}\n  \
         \"fail_open\": false  // If true, allow on server failure\n}}\n"
    )
}

fn with(config: &str, settings: &str) -> Home {
    let home = Home::new(config);
    home.put("server.json", settings);
    home
}

#[test]
fn s1_35_the_settings_of_the_seed_are_read_from_a_file() {
    let server = Server::start(vec![ok(r#"{"decision":"block","reason":"from a file"}"#)]);
    let home = with(PLAIN, &settings(&server.url, ""));
    assert_eq!(verdict(&home.hook(&bash("ls"))), ("deny", "from a file [user:remote.server]"));
    assert_eq!(server.seen()[0].json()["event"]["type"], "PreToolUse");
    let start = event("SessionStart", json!({"source": "startup"}));
    assert_eq!((home.hook(&start), server.seen().len()), (Value::Null, 1), "not of the protocol");
    // Without a config.toml as well.
    fs::remove_file(home.path().join(".config/hookctl/config.toml")).unwrap();
    let prompt = event("UserPromptSubmit", json!({"prompt": "p"}));
    assert_eq!(home.hook(&prompt)["decision"], "block");
    let told = home.told(&["check"]);
    assert!(told.contains("server.json: 1 server") && told.contains("no fault"), "{told}");
    assert!(home.told(&["install", "--dry-run"]).contains("Notification"));
    // What is down: two attempts, then what fail_open says.
    let home = with(PLAIN, &settings(&Server::nobody(), ""));
    assert_eq!(
        verdict(&home.hook(&bash("ls"))),
        ("deny", &*format!("{CLOSED} [user:remote.server]"))
    );
    assert_eq!(home.remote()["attempts"], 2);
}

#[test]
fn s1_35_a_broken_file_asks_and_names_the_fault() {
    let server = Server::start(vec![ok("{}")]);
    let url = &server.url;
    for (text, part) in [
        (settings(url, "\n  \"retries\": 3,"), "server.json:6:3: error[unknown-key]"),
        (settings(url, "\n  \"retry_count\": 2,"), "server.json:6:3: error[bad-remote]"),
        (settings(url, "\n  \"deadline_ms\": \"1 s\","), "server.json:6:18: error[wrong-type]"),
        (settings("ftp://x", ""), "server.json:2:17: error[bad-url]"),
        ("{".into(), "server.json:1:2: error[syntax]"),
    ] {
        let home = with(PLAIN, &text);
        let answer = home.hook(&bash("ls"));
        let (verb, reason) = verdict(&answer);
        assert!(verb == "ask" && reason.contains(part), "{text}: {reason}");
        let output = home.run(&["check"], "");
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(home.told(&["status"]).contains(part), "{text}");
    }
    // Two files that both say how to ask it.
    let home = with(&forward(url, "").replace("remote.x", "remote.server"), &settings(url, ""));
    let (verb, reason) = (verdict(&home.hook(&bash("ls"))).0.to_string(), home.told(&["check"]));
    assert!(verb == "ask" && reason.contains("config.toml has a [remote.server] too"), "{reason}");
}

#[test]
#[cfg(unix)]
fn s1_35_a_file_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = Server::start(vec![ok("{}")]);
    let home = with(PLAIN, &settings(&server.url, ""));
    let file = home.path().join(".config/hookctl/server.json");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let answer = home.hook(&bash("ls"));
    let (verb, reason) = verdict(&answer);
    assert!(verb == "ask" && reason.contains("chmod go-w"), "{reason}");
    assert!(server.seen().is_empty());
}

#[test]
fn s1_35_flags_of_the_registered_command_override_the_file() {
    let (other, server) = (Server::start(vec![ok("{}")]), Server::start(vec![status(503)]));
    let home = with(PLAIN, &settings(&other.url, ""));
    let flags = ["hook", "--server-url", &server.url, "--retry-count=0", "--fail-open", "true"];
    let output = home.run(&flags, &bash("ls").to_string());
    assert_eq!(answer_of(&output), Value::Null);
    assert_eq!((server.seen().len(), other.seen().len()), (1, 0));
    // What another registration was answered elsewhere is not the answer of the file's server.
    home.run(&["hook"], &bash("ls").to_string());
    assert_eq!((server.seen().len(), other.seen().len()), (1, 1));
    // Without a file they are a server of their own, and one that cannot be meant asks.
    let deny = Server::start(vec![ok(r#"{"decision":"deny"}"#)]);
    let home = Home::new(PLAIN);
    let output = home.run(&["hook", "--server-url", &deny.url], &bash("ls").to_string());
    assert_eq!(verdict(&answer_of(&output)).0, "deny");
    for (flags, part) in [
        (["hook", "--fail-open", "false"], "--server-url"),
        (["hook", "--server-url", "localhost"], "server_url: the address: "),
    ] {
        let answer = answer_of(&home.run(&flags, &bash("ls").to_string()));
        assert!(verdict(&answer).0 == "ask" && verdict(&answer).1.contains(part), "{answer}");
    }
}

#[test]
fn s1_35_variables_are_for_people_and_never_for_an_event() {
    let (file, set, typed) = (
        Server::start(vec![ok("{}")]),
        Server::start(vec![ok("{}")]),
        Server::start(vec![ok("{}")]),
    );
    let home = with(PLAIN, &settings(&file.url, ""));
    let run = |args: &[&str], stdin: &str| {
        let mut command = home.command(args);
        command.env("HOOKCTL_SERVER_URL", &set.url).env("HOOKCTL_FAIL_OPEN", "true");
        finish(command.spawn().unwrap(), stdin)
    };
    let seen = || (file.seen().len(), set.seen().len(), typed.seen().len());
    run(&["hook"], &bash("ls").to_string());
    assert_eq!(seen(), (1, 0, 0));
    assert_eq!(run(&["ping"], "").status.code(), Some(0));
    assert_eq!(seen(), (1, 1, 0));
    assert_eq!(run(&["ping", "--server-url", &typed.url], "").status.code(), Some(0));
    assert_eq!(seen(), (1, 1, 1));
    assert_eq!(home.run(&["ping"], "").status.code(), Some(0));
    assert_eq!(seen(), (2, 1, 1));
    let wrong = home.run(&["ping", "other", "--fail-open", "true"], "");
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("`server`"), "{wrong:?}");
    assert_eq!(wrong.status.code(), Some(2));
}
