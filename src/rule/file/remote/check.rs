//! What does not go together in one `[remote.NAME]`.

use std::ops::Range;

use serde_json::Value;

use super::{Dialect, Remote, Url, variables};
use crate::rule::reader::Reader;
use crate::rule::template::{TOLD, Template};

/// The dialects that ask, and read what comes back.
const DECIDE: &[Dialect] = &[
    Dialect::HooksServer,
    Dialect::CchdV1,
    Dialect::CloudEvents,
    Dialect::ClaudeHttp,
    Dialect::Opa,
    Dialect::Cdev,
];
/// Those of them that can be told of what was denied without them.
const AUDIT: &[Dialect] = &[
    Dialect::HooksServer,
    Dialect::CchdV1,
    Dialect::CloudEvents,
    Dialect::ClaudeHttp,
    Dialect::Opa,
];
/// The dialects whose allow is no more than the absence of an objection.
const PLAIN: &[Dialect] =
    &[Dialect::HooksServer, Dialect::CchdV1, Dialect::CloudEvents, Dialect::Opa];

/// The dialects that are told of verdicts.
const TOLD_OF: &[Dialect] = &[Dialect::Webhook, Dialect::Otlp, Dialect::Bridge];
/// Keys that mean something in some dialects only, and why not in the others.
const ONLY: &[(&str, &[Dialect], &str)] = &[
    ("strict_data", &[Dialect::HooksServer], "this dialect says what it is sent"),
    ("on_allow", PLAIN, "an answer of this dialect says itself what it allows"),
    ("on_modify", PLAIN, "an answer of this dialect says itself what it carries"),
    ("fail_open", DECIDE, "nothing waits for this dialect's answer"),
    ("human", DECIDE, "nothing waits for this dialect's answer"),
    ("audit", AUDIT, "this dialect has no word for it"),
    ("verdicts", TOLD_OF, "this dialect is asked before the verdict"),
    ("body", &[Dialect::Webhook], "only a webhook has one"),
    ("dir", &[Dialect::Bridge], "only a bridge has files of its own"),
    ("input", &[Dialect::Opa], "it is for opa"),
    ("undefined", &[Dialect::Opa], "it is for opa"),
    ("show_decision_id", &[Dialect::Opa], "it is for opa"),
    ("text_as_context", &[Dialect::ClaudeHttp], "it is for claude-http"),
    ("merge_input", &[Dialect::ClaudeHttp], "the input is merged anyway"),
    ("tool_start", &[Dialect::Cdev], "it is for cdev"),
    ("guard", &[Dialect::Cdev], "it is for cdev"),
];

/// Notes it.
pub(super) fn check(
    remote: &Remote,
    name: Range<usize>,
    at: &dyn Fn(&str) -> Option<Range<usize>>,
    r: &mut Reader<'_>,
) {
    let mut fault = |message: &str, hint: &str, span| {
        r.fault("bad-remote", message.into(), Some(hint.into()), span);
    };
    if remote.urls.is_empty() {
        fault("a server has an address", "add url = \"https://...\"", name);
        return;
    }
    // There a policy would find no `input`, and have nothing to say about anything.
    let bare = |url: &Url| remote.dialect == Dialect::Opa && url.path().contains("/v0/");
    if remote.urls.iter().any(bare) {
        let span = at("url").unwrap_or(name.clone());
        fault("/v0 takes no `input`", "ask for /v1/data/PACKAGE/RULE", span);
    }
    let whole = |url: &Url| remote.dialect == Dialect::Cdev && url.path().contains("/api/hooks");
    if remote.urls.iter().any(whole) {
        let span = at("url").unwrap_or(name.clone());
        fault("the address of cdev is its base", "end it before /api/hooks", span);
    }
    if let Some(span) = at("human")
        && remote.dialect.is_human()
        && !remote.human
    {
        fault("a human answers at cdev", "take out human", span);
    }
    for (keys, what) in [
        (&["token_env", "token_file", "token_command"][..], "a server has one token"),
        (&["hmac_env", "hmac_file"], "a server has one key to sign with"),
    ] {
        if let Some(span) = keys.iter().filter_map(|key| at(key)).nth(1) {
            fault(what, &keys.join(" or "), span);
        }
    }
    for (key, other) in [("client_cert", "client_key"), ("client_key", "client_cert")] {
        if let (Some(span), None) = (at(key), at(other)) {
            fault("a certificate has a private key", &format!("add {other}"), span);
        }
    }
    let authorization = |(name, _): &(String, String)| name.eq_ignore_ascii_case("authorization");
    if let (true, Some(span)) = (remote.token.is_some(), at("headers"))
        && remote.headers.iter().any(authorization)
    {
        fault("the token already is the Authorization header", "take one of them out", span);
    }
    if let Some(span) = at("retry_count")
        && remote.human
        && remote.retries > 0
    {
        fault("a human is not asked twice", "take out retry_count or human", span);
    }
    let open = |url: &&Url| !url.is_https() && !url.loopback && remote.socket.is_none();
    if let Some(url) = remote.urls.iter().find(open) {
        r.warn(
            "plain-http",
            format!("everybody on the way to {} can read and change this", url.endpoint()),
            Some("use https; `ca` takes a private authority".into()),
            at("url").unwrap_or(name.clone()),
        );
    }
    let unknown = |text: &str| match Template::of(text, TOLD) {
        Ok(template) => template.regexes().find_map(|regex| regex.fault()),
        Err(why) => Some(why),
    };
    if let (Some(body), Some(span)) = (&remote.body, at("body"))
        && let Some(why) = texts(body).into_iter().find_map(unknown)
    {
        r.fault("bad-template", why, None, span);
    }
    let mut useless = |key: &str, is: bool, why: &str| {
        if let Some(span) = at(key).filter(|_| is) {
            r.warn("unused-key", format!("`{key}` has no effect: {why}"), None, span);
        }
    };
    for (key, dialects, why) in ONLY {
        useless(key, !dialects.contains(&remote.dialect), why);
    }
    useless("remember_s", !remote.human, "no human answers there");
    let told_of_none = !remote.dialect.decides() && remote.events.is_empty();
    useless("verdicts", told_of_none, "it is for `events`; a rule that names it always tells");
    for key in ["retry_count", "retry_delay_ms"] {
        let why = "what a bridge does not take goes into its file";
        useless(key, remote.dialect == Dialect::Bridge, why);
    }
    let tls = remote.urls.iter().any(|url| url.is_https());
    useless("client_cert", !tls, "there is no https address");
    useless("ca", !tls, "there is no https address");
    let here = remote.urls.iter().all(|url| url.loopback) || remote.socket.is_some();
    useless("proxy", here, "this machine needs none");
    useless("socket", cfg!(not(unix)), "there are no Unix sockets here");
    let decides = remote.dialect.decides();
    useless(
        "fail_open",
        decides && remote.events.is_empty(),
        "it is for `events`; rules have `otherwise`",
    );
    let long = remote.timeout > remote.deadline && at("deadline_ms").is_some();
    useless("timeout_ms", long, "deadline_ms is shorter");
    let named: Vec<&str> =
        remote.headers.iter().flat_map(|(_, v)| variables(v)).filter_map(|v| v.1).collect();
    let idle = remote.allow_vars.iter().all(|var| !named.contains(&var.as_str()));
    useless("allow_vars", idle, "no header names one of them");
    for var in named {
        if !remote.allow_vars.iter().any(|known| known == var) {
            r.warn(
                "unlisted-variable",
                format!("`${var}` is not in allow_vars: it stands for nothing"),
                Some(format!("allow_vars = [\"{var}\"]")),
                at("headers").unwrap_or(name.clone()),
            );
        }
    }
}

/// Every text in it.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(all) => all.iter().flat_map(texts).collect(),
        Value::Object(map) => map.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
