//! Taskfile.yml: the plain subset of its tasks, by how far lines are indented.

use super::{Request, Step, fill_braces, lines_of};

/// One line of the file that says something.
struct Line<'t> {
    at: usize,
    indent: usize,
    text: &'t str,
}

/// The commands of the tasks that are asked for, and of those that they need.
pub(super) fn read_steps(text: &str, asked: &mut Request) -> Vec<Step> {
    let lines = read_lines(text);
    let mut steps = Vec::new();
    let Some(tasks) = lines.iter().position(|line| line.indent == 0 && line.text == "tasks:")
    else {
        return steps;
    };
    let tasks = below(&lines, tasks);
    let standard = ["default".to_string()];
    let goals = if asked.goals.is_empty() { &standard[..] } else { asked.goals };
    for goal in goals {
        add_task(tasks, goal, 0, asked, &mut steps);
    }
    steps
}

/// pre-commit: the project's own hooks that are asked for, or all of them.
pub(super) fn read_hooks(text: &str, asked: &mut Request) -> Vec<Step> {
    let lines = read_lines(text);
    let mut steps: Vec<Step> = Vec::new();
    let (mut local, mut wanted) = (false, false);
    for line in &lines {
        let item = line.text.strip_prefix("- ").unwrap_or(line.text);
        let Some((key, value)) = item.split_once(':') else { continue };
        match (key, plain(value)) {
            ("repo", repo) => local = repo == "local",
            ("id", id) => {
                wanted = asked.goals.is_empty() || asked.goals.iter().any(|goal| goal == id)
            }
            ("entry", entry) if local && wanted && asked.has_room(0, &steps, 64) => {
                push(&mut steps, line, entry);
            }
            ("args", args) if local && wanted => {
                for arg in args.trim_matches(['[', ']']).split(',') {
                    if let Some(step) = steps.last_mut() {
                        step.text.push_str(&format!(" {}", plain(arg)));
                    }
                }
            }
            _ => {}
        }
    }
    steps
}

/// The lines that say something.
fn read_lines(text: &str) -> Vec<Line<'_>> {
    let told = |(at, line): (usize, &'_ str)| {
        let text = line.trim_start();
        (!text.is_empty() && !text.starts_with('#')).then(|| (at, line.len() - text.len()))
    };
    lines_of(text)
        .filter_map(|(at, line)| {
            told((at, line)).map(|(at, indent)| Line {
                at,
                indent,
                text: line[indent..].trim_end(),
            })
        })
        .collect()
}

/// The lines that stand below that one.
fn below<'l, 't>(lines: &'l [Line<'t>], at: usize) -> &'l [Line<'t>] {
    let indent = lines[at].indent;
    let rest = &lines[at + 1..];
    // A list may stand as far left as its key.
    let inside =
        |line: &Line| line.indent > indent || line.indent == indent && line.text.starts_with("- ");
    &rest[..rest.iter().position(|line| !inside(line)).unwrap_or(rest.len())]
}

fn plain(text: &str) -> &str {
    let text = text.trim();
    let quoted = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    quoted('"').or(quoted('\'')).unwrap_or(text)
}

fn add_task(tasks: &[Line], name: &str, depth: usize, asked: &mut Request, steps: &mut Vec<Step>) {
    let Some(indent) = tasks.first().map(|line| line.indent) else { return };
    let is_task = |line: &Line| {
        let key = line.text.split_once(':').map(|(key, _)| plain(key));
        line.indent == indent
            && (key == Some(name) || line.text.strip_suffix(':').map(plain) == Some(name))
    };
    if !asked.has_room(depth, steps, 64 + tasks.len()) {
        return;
    }
    let Some(at) = tasks.iter().position(is_task) else { return };
    // `build: go build ./...`
    if let Some((_, text)) = tasks[at].text.split_once(": ") {
        return push(steps, &tasks[at], text);
    }
    let body = below(tasks, at);
    for (at, line) in body.iter().enumerate() {
        let item = line.text.strip_prefix("- ").unwrap_or(line.text).trim();
        let Some((key, rest)) = item.split_once(':').filter(|(key, _)| is_key(key)) else {
            if line.text.starts_with("- ") && key_above(body, at) == Some("deps") {
                add_task(tasks, plain(item), depth + 1, asked, steps);
            } else if line.text.starts_with("- ") && key_above(body, at) == Some("cmds") {
                add_text(steps, body, at, item);
            }
            continue;
        };
        match (key, rest.trim()) {
            ("task", other) => add_task(tasks, plain(other), depth + 1, asked, steps),
            ("deps" | "cmds", list) if list.starts_with('[') => {
                for one in list.trim_matches(['[', ']']).split(',').map(plain) {
                    match key {
                        "deps" => add_task(tasks, one, depth + 1, asked, steps),
                        _ => push(steps, line, one),
                    }
                }
            }
            ("cmd", text) => add_text(steps, body, at, text),
            _ => {}
        }
    }
}

fn is_key(key: &str) -> bool {
    matches!(key, "task" | "cmd" | "cmds" | "deps" | "vars" | "desc" | "sources" | "generates")
        || matches!(key, "silent" | "ignore_error" | "dir" | "env" | "status" | "preconditions")
}

/// The key of the list in which that line stands.
fn key_above<'t>(body: &[Line<'t>], at: usize) -> Option<&'t str> {
    let indent = body[at].indent;
    let above = body[..at]
        .iter()
        .rev()
        .find(|line| line.indent < indent || line.indent == indent && !line.text.starts_with("- "));
    above?.text.strip_suffix(':')
}

/// A text, or the block of lines behind `|`.
fn add_text(steps: &mut Vec<Step>, body: &[Line], at: usize, text: &str) {
    if !matches!(text, "|" | "|-" | ">" | ">-") {
        return push(steps, &body[at], text);
    }
    let lines: Vec<&str> = below(body, at).iter().map(|line| line.text).collect();
    push(steps, &body[at], &lines.join("\n"));
}

fn push(steps: &mut Vec<Step>, line: &Line, text: &str) {
    let text = fill_braces(plain(text), &|_| None);
    let span = line.at..line.at + line.indent + line.text.len();
    steps.push(Step { text, span, unsure: false, takes_words: false });
}
