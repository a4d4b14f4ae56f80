//! Servers as people see them: `status`, `log`, `check`, and what none of them may tell.

use std::fs;

use super::*;

fn status(home: &Home) -> Value {
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
    let report = status(&home);
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
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
        ("human", "up", ""),
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
    let report = status(&home);
    assert_eq!(report["servers"][0]["health"], "up");
    assert_eq!(report["servers"][0]["cause"], "HTTP 503");
    assert!(report["servers"][0]["down_since"].is_i64());
}
