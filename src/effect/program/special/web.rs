//! Requests by hand to what has a command line of its own: clouds, platforms, clusters, databases.

use super::super::code;
use super::super::effects::{Call, sends_data};
use super::super::table::Role;
use crate::effect::emitter::Emitter;
use crate::effect::value::Value;
use crate::effect::{Grade, Source, Word};
use crate::glob;
use crate::names::forge::TALK;
use crate::names::web::{SERVICES, STATEMENTS, WHOLES};

/// The method of curl or wget, as their options say it; one that nobody knows may delete.
pub(super) fn method_of<'c>(call: &'c Call) -> &'c str {
    let named = ["-X", "--request", "--method"].iter().find_map(|name| call.value(name));
    match named {
        Some(method) => method.plain_text().unwrap_or("DELETE"),
        None if sends_data(call) => "POST",
        None => "GET",
    }
}

/// A request of curl or wget.
pub(super) fn emit_request(out: &mut Emitter, call: &Call, url: &Value) {
    emit_method(out, call, url, method_of(call));
}

/// What that method does at that address.
pub(super) fn emit_method(out: &mut Emitter, call: &Call, url: &Value, method: &str) {
    if call.is_dry_run() {
        return;
    }
    let start = url.known_start();
    let rest = start.split_once("://").map_or(start, |(_, rest)| rest);
    // `user:password@host`
    let address = match rest.split_once('@') {
        Some((user, host)) if !user.contains('/') => host,
        _ => rest,
    };
    if method.eq_ignore_ascii_case("DELETE") {
        let word = if WHOLES.iter().any(|(place, steps)| is_whole(address, place, steps)) {
            "database.delete-all"
        } else if is_service(address) {
            "cloud.delete"
        } else {
            return;
        };
        out.push(Word::Named(word), Grade::Certain, Source::Operand, url.span.clone());
    } else if STATEMENTS.iter().any(|place| glob::matches(place, address)) {
        emit_statements(out, call);
    }
}

/// Is it a thing of a service, and nothing that people say there?
fn is_service(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let talk = path.split('/').any(|part| TALK.contains(&part) || part == "comment");
    !talk && SERVICES.iter().any(|place| glob::matches(place, path))
}

/// Is it all of a collection, a table or a queue, of one that is no test's?
fn is_whole(address: &str, place: &str, steps: &str) -> bool {
    if !glob::matches(place, address) {
        return false;
    }
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let parts: Vec<&str> = path.split('/').skip(1).filter(|part| !part.is_empty()).collect();
    let steps: usize = steps.parse().unwrap_or_default();
    // `?id=eq.7` of PostgREST.
    let picks = query.split('&').filter_map(|pair| pair.split_once('='));
    let picked = picks.into_iter().any(|(_, value)| {
        ["eq.", "in.", "like.", "ilike.", "is."].iter().any(|sign| value.starts_with(sign))
    });
    let scratch = parts.last().is_some_and(|name| name.contains("test") || name.contains("tmp"));
    !parts.is_empty() && parts.len() <= steps && !picked && !scratch
}

/// Statements in the bodies: as they are, or in a field `sql` of JSON.
fn emit_statements(out: &mut Emitter, call: &Call) {
    for option in &call.parsed.options {
        let body = option.spec.is_some_and(|spec| spec.role == Role::Body);
        let Some(value) = option.value.as_ref().filter(|_| body) else { continue };
        let text = value.known_start();
        code::emit_embedded(out, statement_in(text).unwrap_or(text), &value.span);
    }
}

/// The text of a field `sql`, `query` or `statement`.
fn statement_in(text: &str) -> Option<&str> {
    let after =
        ["\"sql\"", "\"query\"", "\"statement\""].iter().find_map(|key| text.split_once(key));
    let (_, inner) = after?.1.split_once('"')?;
    inner.split('"').next()
}
