//! package.json, composer.json, deno.json: named commands in an object.

use super::{Request, Step};
use crate::json::{self, Data, Node};
use crate::limits;

/// The commands that have these names, with those that run before and after them.
pub(super) fn read_steps(text: &str, section: &str, asked: &mut Request) -> Vec<Step> {
    let mut steps = Vec::new();
    if let Some(file) = json::parse_manifest(text)
        && let Some((_, scripts)) = file.get(section)
    {
        asked.closed = !asked.goals.is_empty()
            && asked
                .goals
                .iter()
                .all(|goal| scripts.get(goal).is_some_and(|(_, script)| script.as_str().is_some()));
        for goal in asked.goals {
            add_script(scripts, goal, 0, asked, &mut steps);
        }
    }
    steps
}

fn add_script(
    scripts: &Node,
    name: &str,
    depth: usize,
    asked: &mut Request,
    steps: &mut Vec<Step>,
) {
    if !asked.has_room(0, steps, 64 + scripts.len()) {
        return;
    }
    let Some((_, script)) = scripts.get(name) else { return };
    let alone = asked.alone;
    let aside = |at: &str| {
        let named = || scripts.get(&format!("{at}{name}")).map(|(_, script)| script);
        (!alone).then(named).flatten()
    };
    let all = [(aside("pre"), false), (Some(script), true), (aside("post"), false)];
    for (script, main) in all {
        let Some(script) = script else { continue };
        match &script.data {
            Data::Array(items) => {
                items.iter().for_each(|one| add_command(scripts, one, false, depth, asked, steps));
            }
            Data::Object(_) => {
                if let Some((_, command)) = script.get("command") {
                    add_command(scripts, command, main, depth, asked, steps);
                }
            }
            _ => add_command(scripts, script, main, depth, asked, steps),
        }
    }
}

fn add_command(
    scripts: &Node,
    one: &Node,
    main: bool,
    depth: usize,
    asked: &mut Request,
    steps: &mut Vec<Step>,
) {
    let Some(text) = one.as_str().filter(|_| asked.has_room(0, steps, 0)) else { return };
    // composer: another of them.
    if let Some(other) = text.strip_prefix('@') {
        return match depth < limits::SCRIPT_DEPTH {
            true => add_script(scripts, other, depth + 1, asked, steps),
            false => asked.cut = true,
        };
    }
    let (text, span) = (text.to_string(), one.span.clone());
    steps.push(Step { text, span, unsure: false, takes_words: main });
}
