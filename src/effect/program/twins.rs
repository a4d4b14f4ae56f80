//! What a command is called beside the name that it was called by: `npm i` is `npm install`.

use super::options::{Parsed, parse_arguments, public_args};
use super::table::{Program, find_program};
use crate::effect::emitter::Emitter;
use crate::effect::path::split;
use crate::effect::value::Value;
use crate::effect::{SubCommand, Twin};

/// The command with all that its program's rows say it is called as well.
pub fn with_twins(
    mut command: SubCommand,
    parsed: &Parsed,
    own: &'static [Program],
) -> SubCommand {
    let synonyms = find_program(&command.name, own).map_or("", |row| row.synonyms);
    let means = parsed.program.map_or("", |row| row.means);
    if synonyms.is_empty() && means.is_empty() {
        return command;
    }
    let said: Vec<&str> =
        command.operands.iter().map_while(|at| command.args[*at].text.as_deref()).take(3).collect();
    let named = |name: &&str| {
        let mut count = 0;
        let all = name.split(' ').all(|word| {
            count += 1;
            said.get(count - 1) == Some(&word)
        });
        all.then_some(count)
    };
    // Of `image ls` and `image` the longer one is meant.
    let lines = synonyms.lines().flat_map(|line| {
        line.split(',').filter_map(move |name| named(&name).map(|count| (count, name, line)))
    });
    let mut twins = Vec::new();
    if let Some((count, own, line)) = lines.max_by_key(|(count, ..)| *count) {
        for other in line.split(',').filter(|other| *other != own) {
            let words: Vec<&str> = other.split(' ').collect();
            let command = command.in_words(&command.name, count, &words);
            twins.push(Twin { command, same: true });
        }
    }
    // What is called so stands for its program, or for a sub-command of it.
    let row = parsed.program.map_or("", |row| row.name);
    let subs = row.split(' ').skip(1).count().min(parsed.subs);
    for other in means.split(',').filter(|other| !other.is_empty()) {
        let mut words = other.split(' ');
        let name = words.next().unwrap_or_default();
        let words: Vec<&str> = words.collect();
        twins.push(Twin { command: command.in_words(name, subs, &words), same: false });
    }
    command.twins = twins;
    command
}

/// An interpreter runs a file: what speaks of that file by its name means this as well (`bash deploy.sh`).
pub fn note_file(out: &mut Emitter, values: &[Value]) {
    let own = out.place.programs;
    let Some((file, args)) = values.split_first() else { return };
    let Some(name) = file.plain_text().map(|text| split(text).1).filter(|name| !name.is_empty())
    else {
        return;
    };
    let Some(command) = out.own_command() else { return };
    let parsed = parse_arguments(name, args, own);
    let twin = SubCommand {
        name: name.to_string(),
        word: file.to_arg(),
        args: public_args(args),
        options: parsed.public_options(args),
        operands: parsed.operands.clone(),
        doubtful: parsed.doubtful.clone(),
        genuine: false,
        transparent: false,
        twins: Vec::new(),
        ..command.clone()
    };
    command.twins.push(Twin { command: twin, same: false });
}
