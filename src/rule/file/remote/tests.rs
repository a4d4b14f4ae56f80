use crate::rule::{Layer, file};
use std::path::Path;

fn codes(body: &str) -> Vec<&'static str> {
    let text = format!("[remote.x]\n{body}\n");
    let file = file::read_rules(&text, Path::new("/etc/f.toml"), Layer::User, None);
    let sound = file.faults.iter().all(|f| f.gravity == crate::rule::fault::Gravity::Warning);
    assert_eq!(file.remotes.len(), usize::from(sound), "{body}");
    file.faults.iter().map(|fault| fault.code).collect()
}

#[test]
fn s1_35_every_setting_is_checked() {
    let url = "url = \"http://localhost:8080/hook\"";
    assert!(codes(url).is_empty());
    let socket = codes("url = \"http://x.org/hook\"\nsocket = \"/run/x\"");
    assert!(socket.is_empty() || cfg!(not(unix)), "{socket:?}");
    // Whose place is known.
    assert!(codes("dialect = \"bridge\"\ndir = \"~/hooks\"").is_empty());
    for (body, code) in [
        ("", "bad-remote"),
        ("url = 3", "wrong-type"),
        ("url = \"ftp://x\"", "bad-url"),
        ("url = \"http://a b\"", "bad-url"),
        ("url = \"https://u:p@x.org\"", "bad-url"),
        ("url = \"https://x.org:99999\"", "bad-url"),
        ("url = \"http://x.org/hook\"", "plain-http"),
        ("url = []", "empty-list"),
        ("url = \"http://localhost:1/api/hooks/session\"\ndialect = \"cdev\"", "bad-remote"),
        ("url = \"https://x.org\"\nclient_cert = \"/c.pem\"", "bad-remote"),
    ] {
        assert!(codes(body).contains(&code), "{body}: {:?}", codes(body));
    }
    for (body, code) in [
        ("timeout = 3", "unknown-key"),
        ("timeout_ms = 1", "out-of-range"),
        ("retry_count = -1", "out-of-range"),
        ("events = \"PreTool\"", "unknown-event"),
        ("dialect = \"soap\"", "unknown-word"),
        ("on_allow = \"ask\"", "unknown-word"),
        ("headers = { \"a b\" = \"x\" }", "bad-header"),
        ("headers = { Host = \"x\" }", "bad-header"),
        ("headers = { X-Key = \"$KEY\" }", "unlisted-variable"),
        ("allow_vars = \"KEY\"", "unused-key"),
        ("token_env = \"A\"\ntoken_file = \"/b\"", "bad-remote"),
        ("token_env = \"A\"\nheaders = { authorization = \"b\" }", "bad-remote"),
        ("token_command = \"t\"\ntoken_file = \"/b\"", "bad-remote"),
        ("token_command = \" \"", "empty-command"),
        ("hmac_env = \"A\"\nhmac_file = \"/b\"", "bad-remote"),
        ("client_cert = \"/c.pem\"\nclient_key = \"/k.pem\"", "unused-key"),
        ("human = true\nretry_count = 2", "bad-remote"),
        ("send = \"some\"", "unknown-word"),
        ("body = \"x\"", "unused-key"),
        ("dialect = \"webhook\"\nbody = 3", "wrong-type"),
        ("dialect = \"webhook\"\nbody = { text = [\"{path}\"] }", "bad-template"),
        ("dialect = \"webhook\"\nverdicts = [\"deny\"]", "unused-key"),
        ("dialect = \"webhook\"\nhuman = true", "unused-key"),
        ("dialect = \"otlp\"\nverdicts = [\"no\"]", "unknown-word"),
        ("dir = \"/x\"", "unused-key"),
        ("dialect = \"bridge\"\nretry_count = 2", "unused-key"),
        ("undefined = \"deny\"", "unused-key"),
        ("dialect = \"opa\"\nundefined = \"allow\"", "unknown-word"),
        ("merge_input = true", "unused-key"),
        ("dialect = \"claude-http\"\nstrict_data = true", "unused-key"),
        ("guard = false", "unused-key"),
        ("remember_s = 60", "unused-key"),
        ("human = true\nremember_s = 90000", "out-of-range"),
        ("tool_start = true", "unused-key"),
        ("dialect = \"cdev\"\nhuman = false", "bad-remote"),
        ("dialect = \"cdev\"\nretry_count = 1", "bad-remote"),
        ("dialect = \"cdev\"\non_allow = \"allow\"", "unused-key"),
        ("dialect = \"cdev\"\naudit = true", "unused-key"),
        ("ca = \"/a.pem\"", "unused-key"),
        ("proxy = \"http://p:3128\"", "unused-key"),
        ("fail_open = false", "unused-key"),
        ("timeout_ms = 900\ndeadline_ms = 500", "unused-key"),
    ] {
        let found = codes(&format!("{url}\n{body}"));
        assert_eq!(found, [code], "{body}");
    }
}

#[test]
fn a_key_of_another_dialect_says_whose_it_is() {
    let text = "[remote.x]\nurl = \"http://localhost:1\"\ndialect = \"opa\"\nguard = false\n";
    let file = file::read_rules(text, Path::new("/etc/f.toml"), Layer::User, None);
    let fault = &file.faults[0];
    assert_eq!(&text[fault.span.clone()], "guard");
    assert_eq!(fault.message, "`guard` has no effect: it is for cdev");
    assert_eq!(fault.hint.as_deref(), Some("leave it out, or write dialect = \"cdev\""));
}

#[test]
fn as_many_addresses_as_the_limit_says_are_no_fault() {
    let of = |count: usize| {
        let all: Vec<String> = (0..count).map(|at| format!("\"https://x{at}.org\"")).collect();
        codes(&format!("url = [{}]", all.join(", ")))
    };
    assert_eq!(of(crate::limits::ADDRESSES), [""; 0]);
    assert_eq!(of(crate::limits::ADDRESSES + 1), ["out-of-range"]);
}
