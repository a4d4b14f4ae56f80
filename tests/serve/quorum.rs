//! Several humans have to say yes, whoever asks is none of them, and who a human is can come from a proxy.

use std::thread;

use serde_json::{Value, json};

use super::{Answer, Serve, bash, send};

/// A device that is that human's.
fn device_of(serve: &Serve, person: &str) -> String {
    let (status, text) = serve.run(&["pair", "--person", person]);
    assert_eq!(status, 0, "{text}");
    let code = text.split_once("/pair#").expect("a code").1.lines().next().unwrap();
    let paired = serve.exchange(code.trim(), "phone").json();
    paired["access_token"].as_str().unwrap().into()
}

fn answer_by(serve: &Serve, headers: &[(&str, &str)], id: &str, said: Value) -> Answer {
    let mut body = said;
    body["tool_use_id"] = id.into();
    let mut all = vec![("Content-Type", "application/json")];
    all.extend(headers);
    send(serve.address, "POST", "/api/answer", &all, &body.to_string())
}

fn allow_by(serve: &Serve, token: &str, id: &str) -> Answer {
    let bearer = format!("Bearer {token}");
    answer_by(serve, &[("Authorization", &bearer)], id, json!({ "decision": "allow" }))
}

#[test]
fn two_humans_have_to_agree() {
    let serve = Serve::new(&["--approvals", "2"]);
    let (ann, ann_too, bob) =
        (device_of(&serve, "ann"), device_of(&serve, "ann"), device_of(&serve, "bob"));
    let mut app = serve.connect();
    let hook = serve.ask(bash("s1", "t1", "git push"));
    let asked = serve.pending(1);
    assert_eq!(asked[0]["approvals"], json!({ "needed": 2, "given": [] }));
    app.event("pty_permission");
    // The page that was paired at this machine is the requester's own.
    let own = serve.answer("t1", "allow", "once", "");
    assert_eq!(own.status, 409);
    assert!(own.body.contains("your own request"), "{}", own.body);
    let first = allow_by(&serve, &ann, "t1").json();
    assert_eq!(first["approvals"]["needed"], 2);
    assert_eq!(first["approvals"]["given"].as_array().unwrap().len(), 1);
    // Everybody sees it.
    assert_eq!(app.event("pty_permission")["approvals"]["given"].as_array().unwrap().len(), 1);
    // The same human again, with another device, is one human.
    assert_eq!(
        allow_by(&serve, &ann_too, "t1").json()["approvals"]["given"].as_array().unwrap().len(),
        1
    );
    assert!(!hook.is_finished());
    let last = allow_by(&serve, &bob, "t1").json();
    assert_eq!(last["decision"], "allow");
    assert!(last.get("approvals").is_none());
    assert_eq!(hook.join().unwrap()["decision"], "allow");
    let by = serve.get("/api/history")["entries"][0]["by"].as_str().unwrap().to_string();
    assert!(by.contains("ann") && by.contains("bob"), "{by}");
    assert_eq!(allow_by(&serve, &bob, "t1").status, 409);
    let (_, audit) = serve.run(&["audit", "export"]);
    assert_eq!(audit.matches("\"kind\":\"approved\"").count(), 2, "{audit}");
    assert_eq!(serve.run(&["audit", "verify"]).0, 0);
}

#[test]
fn one_no_is_enough_and_a_session_takes_all() {
    let serve = Serve::new(&["--approvals", "2"]);
    let (ann, bob) = (device_of(&serve, "ann"), device_of(&serve, "bob"));
    let hook = serve.ask(bash("s1", "t1", "git push"));
    serve.pending(1);
    allow_by(&serve, &ann, "t1");
    // Even the requester's own: nobody needs leave to stop.
    assert_eq!(serve.answer("t1", "deny", "once", "not today").json()["decision"], "deny");
    assert_eq!(hook.join().unwrap()["message"], "not today");
    let for_session = |token: &str, id: &str| {
        let bearer = format!("Bearer {token}");
        let said = json!({ "decision": "allow", "scope": "session" });
        answer_by(&serve, &[("Authorization", &bearer)], id, said).json()
    };
    let hook = serve.ask(bash("s1", "t2", "git status"));
    serve.pending(1);
    for_session(&ann, "t2");
    allow_by(&serve, &bob, "t2");
    assert_eq!(hook.join().unwrap()["scope"], "once");
    let hook = serve.ask(bash("s1", "t3", "git status"));
    serve.pending(1);
    for_session(&ann, "t3");
    assert_eq!(for_session(&bob, "t3")["scope"], "session");
    assert_eq!(hook.join().unwrap()["scope"], "session");
}

#[test]
fn an_answer_from_before_counts_for_no_new_question() {
    let serve = Serve::new(&["--approvals", "2", "--answer-within", "1"]);
    let (ann, bob) = (device_of(&serve, "ann"), device_of(&serve, "bob"));
    let hook = serve.ask(bash("s1", "t1", "git push"));
    serve.pending(1);
    allow_by(&serve, &ann, "t1");
    assert_eq!(hook.join().unwrap()["decision"], "ask");
    let hook = serve.ask(bash("s1", "t1", "git push"));
    serve.pending(1);
    let second = allow_by(&serve, &bob, "t1").json();
    assert_eq!(second["approvals"]["given"].as_array().unwrap().len(), 1, "{second}");
    assert_eq!(hook.join().unwrap()["decision"], "ask");
}

#[test]
fn a_humans_hooks_elsewhere_ask_in_their_name() {
    let serve = Serve::new(&["--approvals", "2"]);
    let (ann, bob, eve) =
        (device_of(&serve, "ann"), device_of(&serve, "bob"), device_of(&serve, "eve"));
    let (status, token) = serve.run(&["token", "--person", "ann"]);
    assert_eq!(status, 0);
    let (address, bearer) = (serve.address, format!("Bearer {}", token.trim()));
    let hook = thread::spawn(move || {
        // As through a proxy: without a token this is refused.
        let headers = [("X-Forwarded-For", "10.0.0.9"), ("Authorization", bearer.as_str())];
        let body = bash("s1", "t1", "git push").to_string();
        send(address, "POST", "/api/hooks/permission-request", &headers, &body).json()
    });
    serve.pending(1);
    assert_eq!(allow_by(&serve, &ann, "t1").status, 409);
    allow_by(&serve, &bob, "t1");
    allow_by(&serve, &eve, "t1");
    assert_eq!(hook.join().unwrap()["decision"], "allow");
    let (status, said) = serve.run(&["pair", "--person", "ann, bob"]);
    assert_eq!((status, said.contains("--person: write a name")), (2, true), "{said}");
}

#[test]
fn a_proxy_names_humans_and_nobody_else_does() {
    let serve = Serve::new(&["--trust-header", "X-User"]);
    let path = serve.home.path().join(".local/state/hookctl/serve/proxy-token");
    let token = std::fs::read_to_string(&path).unwrap();
    let origin = format!("http://{}", serve.address);
    let proxy = ("X-Hookctl-Proxy", token.trim());
    let ann = [proxy, ("X-User", "ann"), ("Origin", origin.as_str())];
    let state = |headers: &[(&str, &str)]| send(serve.address, "GET", "/api/state", headers, "");
    assert_eq!(state(&ann).json()["device"]["name"], "ann");
    for wrong in [
        vec![("X-User", "ann")],
        vec![("X-Hookctl-Proxy", "0"), ("X-User", "ann")],
        vec![proxy],
        vec![proxy, ("X-User", "ann"), ("X-User", "bob")],
        vec![proxy, ("X-User", "a b")],
    ] {
        assert_eq!(state(&wrong).status, 401, "{wrong:?}");
    }
    let hook = serve.ask(bash("s1", "t1", "git push"));
    serve.pending(1);
    // A page of others has the proxy's cookie sent along, and is not this server's.
    let foreign = [proxy, ("X-User", "ann"), ("Origin", "http://evil.example")];
    assert_eq!(answer_by(&serve, &foreign, "t1", json!({ "decision": "allow" })).status, 403);
    assert_eq!(answer_by(&serve, &ann[..2], "t1", json!({ "decision": "allow" })).status, 403);
    assert_eq!(answer_by(&serve, &ann, "t1", json!({ "decision": "allow" })).status, 200);
    assert_eq!(hook.join().unwrap()["decision"], "allow");
    assert_eq!(serve.get("/api/history")["entries"][0]["by"], "ann");
    // Without the flag the header says nothing.
    let other = Serve::new(&[]);
    assert_eq!(send(other.address, "GET", "/api/state", &ann[..2], "").status, 401);
}
