//! What leaves with a command: settled when it is known what leaves for where.

use serde_json::Value as Json;

use super::super::analysis::{Said, Secrets};
use super::super::{Analysis, Effect, Grade, Source, SubCommand, Word, host};
use super::Flow;
use super::origin::{Origin, file_origin, origin_of_token};
use super::owner::judge;
use super::printer::begins;
use super::spot::{is_login, literal_tokens};
use crate::names::flow::{CODES, DNS, NEAR, PUBLISHERS, RAW, SENDERS, SHELLS};
use crate::tokens;

/// How something leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Road {
    /// To a host.
    Web,
    /// Where every server on the way sees it, or none asks who is there: a name that is looked up, a bare connection.
    Raw,
    /// To where others read it later.
    Shown,
}

/// Adds what leaves.
pub fn settle(analysis: &mut Analysis, flow: &Flow) {
    let mut contacts = vec![false; analysis.commands.len()];
    for at in analysis.effects.iter().filter(leaves).filter_map(|effect| effect.command) {
        contacts.get_mut(at).into_iter().for_each(|contacts| *contacts = true);
    }
    let mut found: Vec<Effect> = Vec::new();
    let mut left: Secrets = 0;
    for (at, command) in analysis.commands.iter().enumerate() {
        let publishes = begins(command, PUBLISHERS).is_some();
        if !contacts[at] && !publishes && !flow.hosts.contains_key(&at) {
            continue;
        }
        let Said { sent, login, redirected, .. } = command.said;
        left |= (sent | login | redirected) & flow.of_files();
        let road = if publishes { Some(Road::Shown) } else { road_of(command) };
        let Some(road) = road else { continue };
        let said = what_leaves(analysis, flow, at, road);
        if said.is_empty() {
            continue;
        }
        for (host, grade) in where_to(analysis, flow, at, road) {
            let leaks = said.iter().filter_map(|(origin, login)| {
                let (word, sure) = judge(origin, host.as_deref(), road, *login)?;
                left |= flow.known_bit(origin);
                Some(Effect {
                    word: Word::Named(word),
                    grade: if grade == Grade::Possible { grade } else { sure },
                    path: Some(origin.as_target()),
                    host: host.clone(),
                    package: None,
                    source: Source::Operand,
                    command: Some(at),
                    span: command.span.clone(),
                })
            });
            found.extend(leaks);
        }
    }
    found.into_iter().for_each(|effect| add(analysis, effect));
    note_kept(analysis, flow, left);
}

/// Of which commands does nothing that they look up get out?
fn note_kept(analysis: &mut Analysis, flow: &Flow, left: Secrets) {
    let out = flow.shown() | left;
    let followed = |effect: &Effect| match &effect.path {
        Some(path) if effect.word == Word::Read => flow.known_bit(&file_origin(path)) != 0,
        _ => effect.word != Word::Read,
    };
    for at in 0..analysis.commands.len() {
        let own = analysis.commands[at].said.own;
        let kept = own != 0
            && own & out == 0
            && analysis.effects.iter().filter(|e| e.command == Some(at)).all(followed);
        analysis.commands[at].said.kept = kept;
    }
}

fn leaves(effect: &&Effect) -> bool {
    matches!(effect.word, Word::Network | Word::Send)
}

fn add(analysis: &mut Analysis, effect: Effect) {
    if !analysis.effects.contains(&effect) {
        analysis.effects.push(effect);
    }
}

/// What leaves with a command, and whether it says who asks.
fn what_leaves(analysis: &Analysis, flow: &Flow, at: usize, road: Road) -> Vec<(Origin, bool)> {
    let command = &analysis.commands[at];
    let Said { sent, login, redirected, .. } = command.said;
    let uploads: Secrets = analysis
        .effects
        .iter()
        .filter(|e| e.command == Some(at))
        .filter(|e| matches!(e.word, Word::Send | Word::Read) && !is_login(command, &e.span))
        .filter_map(|e| e.path.as_ref())
        .map(|path| match road {
            Road::Shown => flow.written_at(path),
            Road::Web | Road::Raw => flow.held_by(path),
        })
        .fold(0, |all, one| all | one);
    let (sent, login) = (flow.with_files(sent | redirected | uploads), flow.with_files(login));
    let said = flow.origins.iter().enumerate().flat_map(|(bit, origin)| {
        let place = |mask: Secrets, login| (mask >> bit & 1 != 0).then(|| (origin.clone(), login));
        [place(sent, false), place(login, true)].into_iter().flatten()
    });
    said.chain(literal_tokens(command)).collect()
}

/// The hosts of others that a command contacts.
fn where_to(
    analysis: &Analysis,
    flow: &Flow,
    at: usize,
    road: Road,
) -> Vec<(Option<String>, Grade)> {
    let mut hosts: Vec<(Option<String>, Grade)> = Vec::new();
    for effect in analysis.effects.iter().filter(|e| e.command == Some(at)).filter(leaves) {
        if !hosts.iter().any(|(host, _)| *host == effect.host) {
            hosts.push((effect.host.clone(), effect.grade));
        }
    }
    // A path of an upload has no host of its own where the others have.
    if hosts.iter().any(|(host, _)| host.is_some()) {
        hosts.retain(|(host, _)| host.is_some());
    }
    if road == Road::Shown {
        hosts = vec![(None, Grade::Certain)];
    }
    if let Some(told) = flow.hosts.get(&at) {
        if hosts.is_empty() {
            hosts.push((None, Grade::Certain));
        }
        hosts.iter_mut().filter(|(host, _)| host.is_none()).for_each(|(host, grade)| {
            (*host, *grade) = (Some(told.clone()), Grade::Certain);
        });
    }
    hosts.retain(|(host, _)| !host.as_deref().is_some_and(is_local));
    hosts
}

/// The same of a tool's input, in which tokens stand as they are.
pub fn settle_input(analysis: &mut Analysis, input: &Json) {
    let leaves = |e: &&Effect| {
        e.command.is_none() && (e.word == Word::Network && e.host.is_some() || e.word == Word::Send)
    };
    let Some(effect) = analysis.effects.iter().find(leaves).cloned() else { return };
    if effect.host.as_deref().is_some_and(is_local) {
        return;
    }
    for origin in tokens_in(input) {
        if let Some((word, grade)) = judge(&origin, effect.host.as_deref(), Road::Web, false) {
            let (word, path) = (Word::Named(word), Some(origin.as_target()));
            add(analysis, Effect { word, grade, path, ..effect.clone() });
        }
    }
}

fn tokens_in(input: &Json) -> Vec<Origin> {
    let mut texts = vec![input];
    let mut found = Vec::new();
    while let Some(value) = texts.pop() {
        match value {
            Json::String(text) => found.extend(tokens::named_tokens(text).map(origin_of_token)),
            Json::Array(list) => texts.extend(list),
            Json::Object(map) => texts.extend(map.values()),
            _ => {}
        }
    }
    found
}

/// How what the command sends leaves, where it publishes nothing.
fn road_of(command: &SubCommand) -> Option<Road> {
    let name = command.name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if DNS.contains(&name) || RAW.contains(&name) {
        Some(Road::Raw)
    } else if SENDERS.contains(&name) || SHELLS.contains(&name) || CODES.contains(&name) {
        Some(Road::Web)
    } else {
        // A redirection to a host.
        Some(Road::Raw).filter(|_| command.connects)
    }
}

/// This machine, also as its containers call it.
fn is_local(host: &str) -> bool {
    host::is_local(host) || NEAR.contains(&host)
}
