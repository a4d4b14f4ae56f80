//! How tests write what an analysis found: one line of text per effect, one per sub-command.

#[allow(dead_code)] // Of the tests that write documents.
pub mod made;
pub mod nobody;

use hookctl::effect::{Analysis, Extent, Grade, Place, Word};

/// The world of every test: only the directory differs.
pub fn place(cwd: &str) -> Place {
    Place {
        cwd: cwd.into(),
        project: nobody::project(),
        home: nobody::HOME.into(),
        ..Place::default()
    }
}

/// The effects: `word[mark] what [extent]`, mark `?` = possible, `!` = unknown; what = a path, a host, or
/// the sub-command's name.
pub fn render(analysis: &Analysis) -> Vec<String> {
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
                    Extent::Visible => " visible",
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

/// The sub-commands: `name(option option)`.
#[allow(dead_code)] // Not of every test.
pub fn commands(analysis: &Analysis) -> Vec<String> {
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
