//! gh and glab: requests by hand, aliases, clones.

use super::super::effects::Call;
use super::git::named_after;
use crate::effect::emitter::Emitter;
use crate::effect::host::host_of;
use crate::effect::value::Value;
use crate::effect::{Grade, Source, Word};
use crate::names::forge::{HOMES, INTERFACES, PATHS, TALK, WEIGHTY};

/// `gh api`: GET unless a method or fields say otherwise; a GraphQL query is a read, a mutation a
/// write.
pub fn emit_api(out: &mut Emitter, call: &Call, values: &[Value]) {
    let mut push = |word| call.does(out, word);
    push(Word::Network);
    let value = |name: &str| call.parsed.find_option(name).map(|o| o.value.as_ref());
    let fields = call.has_any(&["-f", "--input"]);
    let graphql = values.first().and_then(Value::plain_text) == Some("graphql");
    let reads = match value("-X") {
        _ if graphql => call.parsed.options.iter().filter_map(|o| o.value.as_ref()).all(|value| {
            value
                .plain_text()
                .is_some_and(|text| !text.contains("mutation") && !text.starts_with("query=@"))
        }),
        Some(method) => method.and_then(Value::plain_text).is_some_and(|method| {
            ["GET", "HEAD", "OPTIONS"].iter().any(|safe| method.eq_ignore_ascii_case(safe))
        }),
        None => !fields,
    };
    if reads {
        return;
    }
    push(Word::Send);
    let method = value("-X").flatten().and_then(Value::plain_text).unwrap_or("POST");
    let target = values.first().map_or("", Value::known_start);
    let mut texts =
        call.parsed.options.iter().filter_map(|o| Some(o.value.as_ref()?.known_start()));
    let mutates = graphql && !texts.any(only_talks);
    if mutates || !graphql && is_weighty(method, target) {
        push(WRITE);
    }
    let deletes = value("-X")
        .flatten()
        .and_then(Value::plain_text)
        .is_some_and(|method| method.eq_ignore_ascii_case("DELETE"));
    if deletes {
        push(Word::Named("cloud.delete"));
    }
}

const WRITE: Word = Word::Named("forge.write");

/// Mutations by which people talk.
const TALKS: &[&str] = &[
    "addComment",
    "addReaction",
    "addPullRequestReview",
    "addDiscussionComment",
    "resolveReviewThread",
    "minimizeComment",
    "requestReviews",
    "markPullRequestReadyForReview",
];

/// What changes more than talk does, wherever it stands in the query.
const GRAVE: &[&str] = &[
    "delete",
    "merge",
    "remove",
    "transfer",
    "archive",
    "createRe",
    "createCommit",
    "updateRe",
    "updateBranch",
    "enable",
    "disable",
];

/// Is that all that the query changes?
fn only_talks(query: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| query.contains(word));
    has(TALKS) && !has(GRAVE)
}

/// Does a request change what others rely on? A comment, a label or a review is everyday work.
fn is_weighty(method: &str, target: &str) -> bool {
    let path = target.split('?').next().unwrap_or_default();
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    match method.to_ascii_uppercase().as_str() {
        "GET" | "HEAD" | "OPTIONS" => false,
        "POST" => {
            WEIGHTY.contains(&last)
                || path.contains("/git/refs")
                || path.contains("/actions/runners")
        }
        // `gh pr edit`
        "PATCH" if path.contains("/pulls/") => !last.bytes().all(|b| b.is_ascii_digit()),
        "PATCH" | "PUT" => last == "merge" || !path.split('/').any(|part| TALK.contains(&part)),
        _ => true,
    }
}

/// A request by hand to the API of a forge (`curl -X DELETE https://api.github.com/repos/o/r`).
pub(super) fn emit_request(out: &mut Emitter, call: &Call, url: &Value) {
    request_by(out, call, url, super::web::method_of(call));
}

/// The same by whatever program, which names its method.
pub(super) fn request_by(out: &mut Emitter, call: &Call, url: &Value, method: &str) {
    let Some(path) = path_at_forge(url.known_start()).filter(|_| !call.is_dry_run()) else {
        return;
    };
    // What a mutation says stands in the request's body.
    let mutates = || {
        call.args
            .iter()
            .map(Value::known_start)
            .any(|text| text.contains("mutation") && !only_talks(text))
    };
    let graphql = path.split('?').next().is_some_and(|path| path.ends_with("graphql"));
    if is_weighty(method, path) || graphql && mutates() {
        call.does(out, WRITE);
    }
}

/// What of an address is asked of a forge's interface: of one that everybody knows, or of one's own by the shape of its paths.
fn path_at_forge(url: &str) -> Option<&str> {
    let bare = url.split_once("://").map_or(url, |(_, rest)| rest);
    INTERFACES
        .iter()
        .find_map(|start| url.strip_prefix(start).or_else(|| bare.strip_prefix(&start[8..])))
        .or_else(|| {
            // A server of this machine's is somebody's own work.
            let (host, path) = bare.split_at(bare.find('/')?);
            let away = host.contains('.') && !host.starts_with("127.") && !host.starts_with("0.");
            PATHS.iter().filter(|_| away).any(|start| path.starts_with(start)).then_some(path)
        })
}

/// A forge that the call names (`-R host/owner/name`, an address): of one that is not the program's own, an allow on the program does
/// not speak.
pub fn emit_forge(out: &mut Emitter, call: &Call) {
    let Some((_, own)) = HOMES.iter().find(|(name, _)| *name == call.name) else { return };
    let mut named = Vec::new();
    for option in &call.parsed.options {
        named.extend(match (option.name.as_str(), &option.value) {
            ("--hostname", Some(value)) => Some((value.clone(), host_of(value))),
            ("-R" | "--repo", Some(value)) => {
                Some((value.clone(), forge_of(value, call.name == "gh")))
            }
            _ => None,
        });
    }
    named.extend(call.operands().into_iter().map(|value| (value.clone(), forge_of(&value, false))));
    for (value, host) in named {
        let other = |host: &String| {
            host != own && !host.strip_suffix(own).is_some_and(|sub| sub.ends_with('.'))
        };
        if host.as_ref().is_some_and(other) {
            out.push_effect(
                Word::Network,
                Grade::Certain,
                None,
                host,
                Source::Code,
                value.span.clone(),
            );
        }
    }
}

/// The host of `host/owner/name`, of an address, of `git@host:owner/name`. `any` = its name needs no dot.
fn forge_of(value: &Value, any: bool) -> Option<String> {
    let text = value.known_start();
    let (first, rest) = text.split_once('/')?;
    let dotted = first.contains('.') && first.contains(|c: char| c != '.');
    let scp = first.contains('@') && first.contains(':');
    let parts = rest.matches('/').count() == 1 && (any || dotted);
    (text.contains("://") || scp || parts).then(|| host_of(value)).flatten()
}

/// `gh alias set NAME TEXT`: text behind `!` is run by a shell from then on.
pub fn emit_alias(out: &mut Emitter, values: &[Value]) {
    if let Some(text) =
        values.get(1).filter(|v| v.known_start().starts_with('!') || v.text().is_none())
    {
        out.emit_unknown("an alias that runs shell text", text.span.clone());
    }
}

/// `gh repo clone OWNER/NAME [DIR]`.
pub fn emit_clone(out: &mut Emitter, values: &[Value]) {
    let dir = match values {
        [_, dir, ..] => dir.clone(),
        [from] => {
            let last =
                from.plain_text().and_then(|t| t.trim_end_matches(".git").rsplit('/').next());
            named_after(from, last)
        }
        [] => return,
    };
    out.operand_tree(Word::Write, &dir);
    out.fetch_into(&dir);
}
