//! Commands and the effects they must have: `tests/effects/*.toml`.
//!
//! A case is `run` (a command), `path` (a file tool's path), or `tool` with `input`, and lists:
//! `has` must all be there, `not` must not, `only` is the whole list. An effect is written
//! `word[mark] what [extent]`: mark `?` = possible, `!` = unknown; what = a path, a host, or the
//! sub-command's name. `commands` is the list of sub-commands, with `name(option option)`.

use hookctl::effect::{Analysis, Extent, Grade, Place, Word, analyse, shell};
use hookctl::event::{Event, Kind};

fn place(cwd: &str) -> Place {
    Place { cwd: cwd.into(), project: "/home/dev/project".into(), home: "/home/dev".into() }
}

fn render(analysis: &Analysis) -> Vec<String> {
    analysis
        .effects
        .iter()
        .map(|e| {
            let mut text = e.word.text().to_string();
            text.push_str(match e.grade {
                Grade::Certain => "",
                Grade::Possible => "?",
                Grade::Unknown => "!",
            });
            if let Some(path) = &e.path {
                text.push(' ');
                text.push_str(&path.lexical);
                if path.resolved != path.lexical {
                    text.push_str(" -> ");
                    text.push_str(&path.resolved);
                }
                text.push_str(match path.extent {
                    Extent::Exact => "",
                    Extent::Tree => " tree",
                    Extent::Children => " children",
                    Extent::Below => " below",
                    Extent::Glob => " glob",
                });
            } else if let Some(host) = &e.host {
                text.push(' ');
                text.push_str(host);
            } else if e.grade != Grade::Unknown
                && matches!(e.word, Word::Execute | Word::Process | Word::PipeToInterpreter)
                && let Some(command) = e.command.and_then(|i| analysis.commands.get(i))
            {
                text.push(' ');
                text.push_str(&command.name);
            }
            text
        })
        .collect()
}

fn commands(analysis: &Analysis) -> Vec<String> {
    analysis
        .commands
        .iter()
        .map(|c| {
            let options: Vec<&str> = c.options.iter().map(|o| o.name.as_str()).collect();
            if options.is_empty() {
                c.name.clone()
            } else {
                format!("{}({})", c.name, options.join(" "))
            }
        })
        .collect()
}

fn strings(case: &toml::Table, key: &str) -> Option<Vec<String>> {
    let list = case.get(key)?.as_array()?;
    Some(list.iter().filter_map(|v| v.as_str().map(str::to_string)).collect())
}

fn tool(name: &str, input: serde_json::Value, cwd: &str) -> Analysis {
    let event = Event {
        agent: "claude",
        kind: Kind::PreToolUse,
        name: "PreToolUse".into(),
        tool: name.into(),
        input,
        cwd: cwd.into(),
        session: String::new(),
        raw: serde_json::Map::new(),
    };
    analyse(&event, &place(cwd))
}

#[test]
fn cases() {
    let mut faults = Vec::new();
    let mut count = 0;
    let mut files: Vec<_> =
        std::fs::read_dir("tests/effects").unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    for file in files {
        let table: toml::Table = toml::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        for case in table["case"].as_array().unwrap() {
            let case = case.as_table().unwrap();
            let cwd = case.get("cwd").and_then(|v| v.as_str()).unwrap_or("/home/dev/project");
            let analysis = if let Some(run) = case.get("run").and_then(|v| v.as_str()) {
                shell::analyse(run, &place(cwd))
            } else {
                let json = case.get("input").and_then(|v| v.as_str()).unwrap_or("{}");
                tool(case["tool"].as_str().unwrap(), serde_json::from_str(json).unwrap(), cwd)
            };
            count += 1;
            let got = render(&analysis);
            let title =
                case.get("run").or(case.get("input")).map(ToString::to_string).unwrap_or_default();
            let mut fault = |text: String| {
                faults.push(format!(
                    "{}: {title}\n  {text}\n  got {got:?}\n  commands {:?}\n  notes {:?}",
                    file.display(),
                    commands(&analysis),
                    analysis.notes
                ))
            };
            if let Some(only) = strings(case, "only")
                && only != got
            {
                fault(format!("expected only {only:?}"));
            }
            for want in strings(case, "has").unwrap_or_default() {
                if !got.contains(&want) {
                    fault(format!("misses {want:?}"));
                }
            }
            for bad in strings(case, "not").unwrap_or_default() {
                if got.iter().any(|g| {
                    *g == bad || bad.ends_with('*') && g.starts_with(bad.trim_end_matches('*'))
                }) {
                    fault(format!("must not have {bad:?}"));
                }
            }
            if let Some(want) = strings(case, "commands")
                && want != commands(&analysis)
            {
                fault(format!("expected commands {want:?}"));
            }
            if let Some(want) = case.get("transparent").and_then(|v| v.as_bool())
                && want != analysis.commands.iter().all(|c| c.transparent)
            {
                fault(format!("transparent is not {want}"));
            }
            if let Some(want) = case.get("note").and_then(|v| v.as_str())
                && !analysis.notes.iter().any(|n| n.contains(want))
            {
                fault(format!("no note {want:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} of {count} cases\n{}", faults.len(), faults.join("\n"));
    println!("{count} cases");
    assert!(count >= 160, "only {count} cases");
}

/// `EFFECTS='rm x' cargo test --test effects show -- --nocapture` prints what is found; an
/// argument that begins with `@` is a file with one command per line.
#[test]
fn show() {
    let Ok(text) = std::env::var("EFFECTS") else { return };
    let lines = match text.strip_prefix('@') {
        Some(file) => {
            std::fs::read_to_string(file).unwrap().lines().map(|l| l.replace("\\n", "\n")).collect()
        }
        None => vec![text],
    };
    for line in lines {
        let start = std::time::Instant::now();
        let analysis = shell::analyse(&line, &place("/home/dev/project"));
        println!(
            "$ {line}\n  {:?}\n  {:?} {:?} {:?}",
            render(&analysis),
            commands(&analysis),
            analysis.notes,
            start.elapsed()
        );
    }
}
