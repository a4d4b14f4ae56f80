//! What does not go together in one `[remote.NAME]`.

use std::ops::Range;

use super::{Remote, Url, split_variables};
use crate::rule::reader::Reader;

/// Notes it.
pub(super) fn check_remote(
    remote: &Remote,
    name: Range<usize>,
    at: &dyn Fn(&str) -> Option<Range<usize>>,
    r: &mut Reader<'_>,
) {
    let dialect = remote.dialect;
    let mut fault = |message: &str, hint: &str, span| {
        r.add_error("bad-remote", message, span).with_hint(hint);
    };
    if remote.urls.is_empty() {
        fault("a server has an address", "add url = \"https://...\"", name);
        return;
    }
    let bad = remote.urls.iter().find_map(|url| dialect.address_fault(url.path()));
    if let Some((what, hint)) = bad {
        fault(what, hint, at("url").unwrap_or(name.clone()));
    }
    if let Some(span) = at("human")
        && dialect.facts().is_human
        && !remote.human
    {
        let what = format!("a human answers at {}", dialect.scope_name());
        fault(&what, "take out human", span);
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
        r.add_warning(
            "plain-http",
            format!("everybody on the way to {} can read and change this", url.endpoint()),
            at("url").unwrap_or(name.clone()),
        )
        .with_hint("use https; `ca` takes a private authority");
    }
    let mut useless = |key: &str, is: bool, why: &str| {
        if let Some(span) = at(key).filter(|_| is) {
            r.add_warning("unused-key", format!("`{key}` has no effect: {why}"), span);
        }
    };
    let decides = dialect.facts().decides;
    for (key, is, why) in [
        (
            "on_allow",
            !dialect.facts().is_plain,
            "an answer of this dialect says itself what it allows",
        ),
        (
            "on_modify",
            !dialect.facts().is_plain,
            "an answer of this dialect says itself what it carries",
        ),
        ("fail_open", !decides, "nothing waits for this dialect's answer"),
        ("human", !decides, "nothing waits for this dialect's answer"),
        ("audit", !decides || dialect.facts().is_live, "this dialect has no word for it"),
        ("verdicts", decides, "this dialect is asked before the verdict"),
    ] {
        useless(key, is, why);
    }
    for (key, why) in dialect.facts().lacks {
        useless(key, true, why);
    }
    useless("remember_s", !remote.human, "no human answers there");
    let told_of_none = !decides && remote.events.is_empty();
    useless("verdicts", told_of_none, "it is for `events`; a rule that names it always tells");
    let tls = remote.urls.iter().any(|url| url.is_https());
    useless("client_cert", !tls, "there is no https address");
    useless("ca", !tls, "there is no https address");
    let here = remote.urls.iter().all(|url| url.loopback) || remote.socket.is_some();
    useless("proxy", here, "this machine needs none");
    useless("socket", cfg!(not(unix)), "there are no Unix sockets here");
    useless(
        "fail_open",
        decides && remote.events.is_empty(),
        "it is for `events`; rules have `otherwise`",
    );
    let long = remote.timeout > remote.deadline && at("deadline_ms").is_some();
    useless("timeout_ms", long, "deadline_ms is shorter");
    let named: Vec<&str> =
        remote.headers.iter().flat_map(|(_, v)| split_variables(v)).filter_map(|v| v.1).collect();
    let idle = remote.allow_vars.iter().all(|var| !named.contains(&var.as_str()));
    useless("allow_vars", idle, "no header names one of them");
    for var in named {
        if !remote.allow_vars.iter().any(|known| known == var) {
            r.add_warning(
                "unlisted-variable",
                format!("`${var}` is not in allow_vars: it stands for nothing"),
                at("headers").unwrap_or(name.clone()),
            )
            .with_hint(format!("allow_vars = [\"{var}\"]"));
        }
    }
}
