//! Command lines of clouds: their sub-commands are regular verbs, so one list understands them.

use std::borrow::Cow;

use super::super::effects::{Call, has_effect};
use super::super::table::Program;
use crate::effect::emitter::Emitter;
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Word};
use crate::names::cloud::{DELETES, READS, THINGS, WHOLES, WRITES};

#[derive(Clone, Copy, PartialEq)]
enum CloudVerb {
    Read,
    Delete,
    Write,
}

/// The words of a name: `delete-stack`, and `DeleteStack` as some vendors write it.
fn hyphenate(word: &str) -> Cow<'_, str> {
    if !word.starts_with(|c: char| c.is_ascii_uppercase()) {
        return Cow::Borrowed(word);
    }
    let end = word[1..].find(|c: char| c.is_ascii_uppercase()).map_or(word.len(), |at| at + 1);
    let (verb, noun) = if end > 1 { word.split_at(end) } else { (word, "") };
    let hyphen = if noun.is_empty() { "" } else { "-" };
    Cow::Owned(format!("{verb}{hyphen}{noun}").to_ascii_lowercase())
}

/// `delete`, `delete-stack`, `batch-delete-image`, `apps:destroy`, `instance-delete`, `DeleteInstance`.
fn classify_verb(word: &str) -> Option<CloudVerb> {
    let last = &*hyphenate(word.rsplit(':').next().unwrap_or(word));
    let mut parts = last.split('-');
    let mut first = parts.next().unwrap_or_default();
    if matches!(first, "batch" | "admin" | "bulk" | "begin" | "force") {
        first = parts.next().unwrap_or(first);
    }
    [(READS, CloudVerb::Read), (DELETES, CloudVerb::Delete), (WRITES, CloudVerb::Write)]
        .into_iter()
        .find(|(words, _)| words.contains(&first) || words.contains(&last))
        .map(|(_, verb)| verb)
        .or_else(|| parts.any(|part| DELETES.contains(&part)).then_some(CloudVerb::Delete))
}

/// Effects by the verbs, and by the row's own lines, which come first.
pub fn emit_verbs(out: &mut Emitter, call: &Call, program: &Program) {
    let cloud = |words: &[Word]| words.iter().any(|word| word.text().starts_with("cloud."));
    let own = call.parsed.verb.as_deref();
    let kind = if own.is_some() { None } else { emit_leading_verb(out, call) };
    let writes = has_effect(call, Word::Send)
        || cloud(program.effects)
        || own.is_some_and(cloud)
        || matches!(kind, Some(CloudVerb::Write | CloudVerb::Delete));
    if call.name == "aws" && !call.is_dry_run() {
        configures(out, call);
    }
    emit_files(out, call, writes && !call.is_dry_run());
}

/// `aws configure`: one of the user's own files is written.
fn configures(out: &mut Emitter, call: &Call) {
    let own = call.operands();
    let [first, verb, ..] = &own[..] else { return };
    let asks =
        matches!(verb.plain_text(), Some("get" | "list" | "list-profiles" | "export-credentials"));
    if first.plain_text() != Some("configure") || asks {
        return;
    }
    let key = own.get(2).map_or("", Value::known_start);
    let secret = ["access_key", "access-key", "session_token"].iter().any(|k| key.contains(k));
    let name = if secret { "credentials" } else { "config" };
    let file = format!("{}/.aws/{name}", out.place.home);
    out.own_path(Word::Write, &file, Extent::Exact, Grade::Certain, call.span.clone());
}

/// The verb among the first operands; a later one says more than the first (`deploy list-apps`),
/// unless the first deletes.
fn emit_leading_verb(out: &mut Emitter, call: &Call) -> Option<CloudVerb> {
    let operands = &call.parsed.operands[call.parsed.subs..];
    let mut first = None;
    let mut found = None;
    let mut words: Vec<&str> = Vec::new();
    let mut noun = "";
    let mut thing = false;
    for (i, at) in operands.iter().enumerate() {
        let Some(word) = call.args[*at].plain_text() else {
            // The verb may stand here: `aws ec2 "$verb"`.
            if i == 1 && first.is_none() {
                out.emit_unknown(
                    "a sub-command known only at run time",
                    call.args[*at].span.clone(),
                );
            }
            break;
        };
        words.push(word);
        let kind = classify_verb(word)
            .filter(|kind| *kind != CloudVerb::Read || !call.parsed.doubtful.contains(at));
        if i == 0 {
            first = kind;
            // `delete cluster NAME`: there the noun stands behind.
            noun = operands.get(1).and_then(|at| call.args[*at].plain_text()).unwrap_or_default();
        } else if kind.is_some() {
            // `app history rebuild-all`: a name.
            if thing && word.contains('-') {
                break;
            }
            found = kind;
            // `app versions delete v1`: what is asked for may be a thing that something is done to.
            thing = word.split('-').next().is_some_and(|noun| THINGS.contains(&noun));
            if !thing && (kind != Some(CloudVerb::Read) || !is_thing(word)) {
                break;
            }
        }
    }
    let kind = if first == Some(CloudVerb::Delete) { first } else { found.or(first) };
    let (name, grade) = match kind {
        Some(CloudVerb::Read) => return kind,
        Some(CloudVerb::Delete) if is_whole(&words, noun) => ("cloud.destroy", Grade::Certain),
        Some(CloudVerb::Delete) => ("cloud.delete", Grade::Certain),
        Some(CloudVerb::Write) => ("cloud.write", Grade::Certain),
        // `aws` alone prints its help.
        None if operands.is_empty() => return kind,
        None => ("cloud.write", Grade::Possible),
    };
    if !call.is_dry_run() {
        out.push(Word::Named(name), grade, Source::Program, call.span.clone());
    }
    kind
}

/// Does the word name things, though it may ask for them as well: `releases`, `versions`?
fn is_thing(word: &str) -> bool {
    word.len() > 2 && word.ends_with('s') && !word.contains(['-', ':'])
}

/// Is what is deleted a whole: `projects delete`, `delete-stack`, `apps:destroy`?
fn is_whole(words: &[&str], behind: &str) -> bool {
    let Some(at) = words.iter().position(|w| classify_verb(w) == Some(CloudVerb::Delete)) else {
        return false;
    };
    let word = &*hyphenate(words[at]);
    let noun = word.split_once('-').map_or("", |(_, noun)| noun);
    let group = word.split_once(':').map_or("", |(group, _)| group);
    let beside = match at {
        _ if !noun.is_empty() => "",
        0 => behind,
        _ => words[at - 1],
    };
    [noun, group, beside].iter().any(|n| WHOLES.contains(n))
}

/// Files that parameters name: `file://x`, `--template-file x`, `@x`.
fn emit_files(out: &mut Emitter, call: &Call, sends: bool) {
    let mut found: Vec<Value> = Vec::new();
    let uploads = |v: &Value| v.known_start().starts_with("upload");
    for (i, arg) in call.args.iter().enumerate() {
        let text = arg.known_start();
        let from = ["fileb://", "file://"].iter().find_map(|p| text.find(p).map(|at| at + p.len()));
        if let Some(from) = from {
            found.push(arg.skip_bytes(from));
        } else if text.len() > 1 && text.starts_with('@') {
            found.push(arg.skip_bytes(1));
        } else if text == "-f" && call.name == "az" && call.operands().iter().any(uploads) {
            found.extend(call.args.get(i + 1).cloned());
        } else if text.starts_with("--") {
            let (name, glued) = text.split_once('=').map_or((text, false), |(n, _)| (n, true));
            let file = ["file", "template", "source", "manifest"].iter().any(|t| name.ends_with(t))
                && !name.ends_with("profile");
            if file && glued {
                found.push(arg.skip_bytes(name.len() + 1));
            } else if file && let Some(value) = call.args.get(i + 1) {
                found.push(value.clone());
            }
        }
    }
    for value in &found {
        if value.known_start().contains("://") || value.known_start().starts_with('-') {
            continue;
        }
        let from = out.analysis.effects.len();
        out.operand(Word::Read, value);
        out.code_from_elsewhere(from);
        // What a parameter sends of a file is not what an allow on the verb means.
        let told = call.parsed.options.iter().map(|option| option.value.as_ref());
        let sent = told.map(|told| told.is_some_and(|told| told.span == value.span));
        let sent: Vec<bool> = sent.collect();
        if let Some(command) = out.own_command() {
            command
                .options
                .iter_mut()
                .zip(sent)
                .for_each(|(option, sent)| option.harmless &= !sent);
        }
    }
    if sends && !found.is_empty() && !has_effect(call, Word::Send) {
        call.does(out, Word::Send);
    }
}
