//! A justfile: recipes with parameters, variables that are plain texts, and what a recipe needs first.

use std::collections::BTreeMap;

use super::{Request, Step, fill_braces, lines_of};

#[derive(Default)]
struct Recipe<'t> {
    parameters: Vec<&'t str>,
    needs: Vec<&'t str>,
    lines: Vec<(usize, &'t str)>,
}

#[derive(Default)]
struct File<'t> {
    first: Option<&'t str>,
    recipes: BTreeMap<&'t str, Recipe<'t>>,
    variables: BTreeMap<String, String>,
}

/// The commands of the recipe that is asked for: the words behind its name are its arguments.
pub(super) fn read_steps(text: &str, asked: &mut Request) -> Vec<Step> {
    let mut file = read_file(text);
    for (name, value) in asked.given {
        file.variables.insert(name.clone(), value.clone());
    }
    let mut steps = Vec::new();
    match (asked.goals.split_first(), file.first) {
        (Some((name, words)), _) => add_recipe(&file, name, words, 0, asked, &mut steps),
        (None, Some(name)) => add_recipe(&file, name, &[], 0, asked, &mut steps),
        (None, None) => {}
    }
    steps
}

fn unquote(text: &str) -> Option<&str> {
    let text = text.trim();
    ['\'', '"'].iter().find_map(|quote| {
        let inner = text.strip_prefix(*quote)?.strip_suffix(*quote)?;
        (!inner.contains([*quote, '\\'])).then_some(inner)
    })
}

fn read_file(text: &str) -> File<'_> {
    let mut file = File::default();
    let mut open = None;
    for (at, line) in lines_of(text) {
        if line.starts_with([' ', '\t']) {
            if let Some(recipe) = open.and_then(|name: &str| file.recipes.get_mut(name)) {
                recipe.lines.push((at, line.trim_start()));
            }
            continue;
        }
        let line = line.split(" #").next().unwrap_or_default();
        if line.trim().is_empty() || line.starts_with(['#', '[']) {
            continue;
        }
        open = None;
        let Some((head, tail)) = line.split_once(':') else { continue };
        if let Some(value) = tail.strip_prefix('=') {
            let name = head.trim().trim_start_matches("export ").trim();
            if let Some(value) = unquote(value) {
                file.variables.insert(name.to_string(), value.to_string());
            }
            continue;
        }
        let mut words = head.split_whitespace();
        let Some(name) = words.next().map(|name| name.trim_start_matches('@')) else { continue };
        if matches!(name, "set" | "alias" | "import" | "mod" | "export") {
            continue;
        }
        let needs = tail.split_whitespace().filter(|need| *need != "&&").collect();
        let recipe = Recipe { parameters: words.collect(), needs, lines: Vec::new() };
        file.first.get_or_insert(name);
        file.recipes.insert(name, recipe);
        open = Some(name);
    }
    file
}

fn add_recipe(
    file: &File,
    name: &str,
    words: &[String],
    depth: usize,
    asked: &mut Request,
    steps: &mut Vec<Step>,
) {
    let Some(recipe) = file.recipes.get(name) else { return };
    if !asked.has_room(depth, steps, 256 * (1 + file.variables.len())) {
        return;
    }
    recipe.needs.iter().for_each(|need| add_recipe(file, need, &[], depth + 1, asked, steps));
    let mut values = file.variables.clone();
    for (at, parameter) in recipe.parameters.iter().enumerate() {
        let (name, standard) = match parameter.split_once('=') {
            Some((name, standard)) => (name, unquote(standard)),
            None => (*parameter, None),
        };
        let (bare, many) = (name.trim_start_matches(['*', '+', '$']), name.starts_with(['*', '+']));
        let given = if many {
            words.get(at..).map(|words| words.join(" ")).filter(|words| !words.is_empty())
        } else {
            words.get(at).cloned()
        };
        let empty = (name.starts_with('*')).then(String::new);
        match given.or(standard.map(str::to_string)).or(empty) {
            Some(value) => values.insert(bare.to_string(), value),
            None => values.remove(bare),
        };
    }
    let value = |name: &str| unquote(name).map(str::to_string).or(values.get(name).cloned());
    let mut push = |text: String, from: usize, to: usize| {
        let step = Step { text, span: from..to, unsure: false, takes_words: false };
        steps.push(step);
    };
    if let Some((at, first)) = recipe.lines.first().filter(|(_, first)| first.starts_with("#!")) {
        let shell = first.split(['/', ' ']).any(|word| matches!(word, "sh" | "bash" | "zsh"));
        let lines: Vec<&str> = recipe.lines.iter().map(|(_, line)| *line).collect();
        if shell {
            push(fill_braces(&lines.join("\n"), &value), *at, at + first.len());
        }
        return;
    }
    let mut text = String::new();
    let mut from = 0;
    for (at, line) in &recipe.lines {
        if text.is_empty() {
            from = *at;
        }
        match line.strip_suffix('\\') {
            Some(part) => text.push_str(part),
            None => {
                text.push_str(line);
                let whole = std::mem::take(&mut text);
                push(
                    fill_braces(whole.trim_start_matches(['@', '-']), &value),
                    from,
                    at + line.len(),
                );
            }
        }
    }
}
