//! What a command is called beside the name that it was called by: `npm i` is `npm install`.

use super::options::{Parsed, parse_arguments, public_args};
use super::table::{Program, find_program};
use crate::effect::emitter::Emitter;
use crate::effect::path::split;
use crate::effect::value::Value;
use crate::effect::{SubCommand, Twin};
use crate::limits;

/// The command with all that its program's rows say it is called as well.
pub fn with_twins(mut command: SubCommand, parsed: &Parsed, own: &'static [Program]) -> SubCommand {
    let Some(root) = find_program(&command.name, own) else { return command };
    let synonyms = root.synonyms;
    // The program has another name, or a sub-command of it is a program.
    let sub = parsed.program.filter(|row| row.name != root.name && row.name.contains(' '));
    let means = [Some(root), sub].into_iter().flatten().filter(|row| !row.means.is_empty());
    if synonyms.is_empty() && means.clone().count() == 0 {
        return command;
    }
    let longest =
        synonyms.split(['\n', ',']).map(|name| name.split(' ').count()).max().unwrap_or(0);
    let said: Vec<&str> = command
        .operands
        .iter()
        .map_while(|at| command.args.get(*at)?.text.as_deref())
        .take(longest)
        .collect();
    let known = parsed.subs > 0;
    let named = |name: &str| {
        let words = name.split(' ').enumerate();
        // A word that could be anything is none that a row speaks of.
        let fits = |(at, word): (usize, &str)| {
            said.get(at).is_some_and(|own| *own == word || word == "*" && (at > 0 || !known))
        };
        words.clone().all(fits).then(|| words.count())
    };
    // Of `image ls` and `image` the longer one is meant, and of `run test` and `run *` the one that says more.
    let lines = synonyms.lines().flat_map(|line| {
        let names = line.split(',');
        names.filter_map(move |name| Some((named(name)?, !name.contains('*'), name, line)))
    });
    let mut twins = Vec::new();
    let found = lines.max_by_key(|(count, exact, ..)| (*count, *exact));
    if let Some((count, _, own, line)) = found {
        let any = own.split(' ').position(|word| word == "*").and_then(|at| said.get(at));
        for other in line.split(',').take(limits::SYNONYMS).filter(|other| *other != own) {
            let words =
                other.split(' ').map(|word| if word == "*" { any.unwrap_or(&word) } else { word });
            let words: Vec<&str> = words.collect();
            // `yarn build` runs the script of that name only where yarn has no such command.
            let same = other != "*" && own != "*";
            twins.push(Twin { command: command.in_words(&command.name, count, &words), same });
        }
    }
    for row in means {
        let subs = row.name.split(' ').skip(1).count().min(parsed.subs);
        for other in row.means.split(',') {
            let mut words = other.split(' ');
            let name = words.next().unwrap_or_default();
            let words: Vec<&str> = words.collect();
            twins.push(Twin { command: command.in_words(name, subs, &words), same: false });
        }
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
