//! Programs that talk to others in a syntax of their own: httpie, socat, databases' clients.

use super::super::code;
use super::super::effects::{Call, Next, emit_message, emit_role, is_held_address, join_words};
use super::super::table::{Role, mark};
use super::Invocation;
use crate::effect::emitter::Emitter;
use crate::effect::value::Value;
use crate::effect::{Grade, Source, Word};
use crate::limits;

/// httpie, xh: an optional method, the URL, then items: `k=v` and `k@file` are sent.
pub fn emit_httpie(out: &mut Emitter, call: &Call, values: &[Value]) {
    let method = |v: &Value| {
        v.plain_text().is_some_and(|t| {
            let usual = |own: &&str| t.eq_ignore_ascii_case(own);
            t.len() > 2 && t.bytes().all(|b| b.is_ascii_uppercase())
                || ["get", "post", "put", "patch", "delete"].iter().any(usual)
        })
    };
    let named = values.first().filter(|v| method(v));
    let rest = if named.is_some() { &values[1..] } else { values };
    let Some((url, items)) = rest.split_first() else { return };
    let mut kept = Vec::new();
    let mut send =
        named.is_some_and(|m| !matches!(m.plain_text(), Some("GET" | "HEAD" | "OPTIONS")));
    for item in items {
        let text = item.known_start();
        kept.push(item.plain_text().is_some_and(|text| !text.contains('@')));
        // The first sign says what the item is; of a query parameter and a header nothing more leaves.
        let Some(at) = text.find([':', '=', '@']) else { continue };
        let signs = ["==@", ":=@", ":@", "=@", "@", "==", ":=", "="];
        let sign = signs.into_iter().find(|sign| text[at..].starts_with(sign)).unwrap_or(":");
        if sign.ends_with('@') {
            out.code_path(Word::Read, &item.skip_bytes(at + sign.len()));
            send = true;
        }
        send |= matches!(sign, "=" | ":=");
    }
    // `:3000/x` is this machine.
    let local = url.text().filter(|text| text.starts_with([':', '/']));
    let local = local.map(|text| Value::known(format!("localhost{text}"), url.span.clone()));
    let method = named.and_then(Value::plain_text).or_else(|| call.value("-X")?.plain_text());
    let method = method.unwrap_or(if send { "POST" } else { "GET" });
    super::forge::request_by(out, call, url, method);
    super::web::emit_method(out, call, local.as_ref().unwrap_or(url), method);
    if send && is_held_address(url) && kept.iter().all(|kept| *kept) && !call.fed {
        return emit_message(out, url);
    }
    out.emit_contact(
        local.as_ref().unwrap_or(url),
        (send || call.parsed.has_mark(mark::SEND)) && !call.is_dry_run(),
        Source::Operand,
    );
}

/// nc: to a host, or for whoever comes; standard input leaves in both cases.
pub fn emit_nc(out: &mut Emitter, call: &Call, values: &[Value], next: &mut [Next]) {
    for item in next.iter_mut() {
        if let Next::Script { text, .. } = item {
            *item = Next::Fed { text: text.clone() };
        }
    }
    let listens = call.has("-l");
    match values.first() {
        _ if listens && call.is_dry_run() => {}
        _ if listens => call.does(out, Word::Send),
        Some(path) if call.has("-U") => {
            out.operand(Word::Write, path);
        }
        Some(host) => out.emit_contact(host, !call.is_dry_run(), Source::Operand),
        None => {}
    }
}

/// socat: two addresses, `TYPE:where,options`; `A!!B` reads from one and writes to the other.
pub fn emit_socat(out: &mut Emitter, values: &[Value], next: &mut Vec<Next>) {
    // It takes two: more are another program's words, or an option's that nobody knows.
    let (values, more) = values.split_at(values.len().min(limits::SOCKETS));
    if let Some(value) = more.first() {
        out.emit_unknown("more addresses than socat takes", value.span.clone());
    }
    for value in values {
        let Some(text) = value.text() else {
            // The type may still be plain: `TCP:$host:80`.
            emit_socat_address(out, value.known_start(), true, value, next);
            continue;
        };
        for part in text.split("!!") {
            emit_socat_address(out, part, false, value, next);
        }
    }
}

fn emit_socat_address(
    out: &mut Emitter,
    text: &str,
    cut: bool,
    value: &Value,
    next: &mut Vec<Next>,
) {
    let span = value.span.clone();
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    let (kind, options) = kind.split_once(',').unwrap_or((kind, rest));
    let kind = kind.to_ascii_uppercase();
    let own = rest.split(',').next().unwrap_or_default();
    let part = match cut {
        false => Value::known(own, span.clone()),
        true => Value::unknown(span.clone()),
    };
    let touch = |out: &mut Emitter, file: &Value| {
        // No allow on socat speaks of the files that it hands on.
        out.code_path(Word::Read, file);
        out.code_path(Word::Write, file);
    };
    match kind.split('-').next().unwrap_or_default() {
        "EXEC" | "SYSTEM" | "SHELL" => {
            let text = if own.is_empty() && !cut { Value::known("sh", span) } else { part };
            next.push(Next::Fed { text });
        }
        _ if kind.contains("LISTEN") || kind.contains("RECV") || kind.ends_with("-L") => {
            if kind.starts_with("UNIX") {
                out.operand(Word::Write, &part);
            } else {
                out.push(Word::Listen, Grade::Certain, Source::Operand, span);
            }
        }
        "TCP" | "TCP4" | "TCP6" | "UDP" | "UDP4" | "UDP6" | "UDPLITE" | "OPENSSL" | "SSL"
        | "SOCKS" | "SOCKS4" | "SOCKS4A" | "SOCKS5" | "PROXY" | "SCTP" | "DTLS" | "DCCP"
        | "VSOCK" => out.emit_contact(&part, true, Source::Operand),
        // Where a file lies, or what it is called, may be said in ways that are not read here.
        "UNIX" | "GOPEN" | "FILE" | "OPEN" | "CREATE" | "CREAT" | "PIPE" | "ABSTRACT"
            if options.contains("chdir") || own.contains(['"', '\'', '\\']) =>
        {
            out.emit_unknown("a socat address with quotes or a directory of its own", span);
        }
        "UNIX" | "GOPEN" | "FILE" | "OPEN" | "CREATE" | "CREAT" | "PIPE" | "ABSTRACT" => {
            if cut || !own.is_empty() {
                touch(out, &part);
            }
        }
        "STDIO" | "STDIN" | "STDOUT" | "STDERR" | "PTY" | "TUN" | "FD" => {}
        _ if !cut && (kind == "-" || kind.bytes().all(|b| b.is_ascii_digit())) => {}
        _ if !cut && rest.is_empty() => {
            touch(out, &Value::known(text.split(',').next().unwrap_or_default(), span));
        }
        _ => out.emit_unknown("a socat address that no table knows", span),
    }
}

/// Clients of databases: the operands by the row; without a program text of the call, standard
/// input is the program.
pub(super) fn emit_database_client(i: &mut Invocation) {
    let Invocation { out, call, program, values, next } = i;
    let mut told = call.parsed.options.iter().any(|o| {
        o.spec.is_some_and(|s| matches!(s.role, Role::Code | Role::Run) || s.marks & mark::DRY != 0)
    });
    for (at, value) in values.iter().enumerate() {
        let kind = program.before.get(at).copied().unwrap_or(program.repeat);
        if kind == Role::Edit && value.plain_text() == Some(":memory:") {
            continue;
        }
        if kind == Role::Code && program.repeat == Role::Code && program.before.is_empty() {
            // redis-cli: the operands are one command.
            told = true;
            if let Next::Script { text, .. } = join_words(&values[at..]) {
                code::emit_inline(out, program.language(), &text, next);
            }
            break;
        }
        told |= kind == Role::Code;
        let from = out.analysis.effects.len();
        emit_role(out, call, kind, value, next);
        if kind == Role::Host {
            out.code_from_elsewhere(from);
        }
    }
    if !told {
        i.reads_program();
    }
}
