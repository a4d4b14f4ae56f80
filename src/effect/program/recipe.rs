//! Recipes: what the project's files tell `make`, `npm` and their kin to do, as shell text.
//!
//! Pure: a text goes in, the commands of what was asked for come out, in order. What is not understood is left out.

mod json;
mod just;
mod make;
mod sections;
mod task;

use std::ops::Range;
use std::rc::Rc;

use crate::limits;

/// One command of a recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Shell text.
    pub text: String,
    /// Where it stands in the file.
    pub span: Range<usize>,
    /// It may not run.
    pub unsure: bool,
    /// What the call was given stands behind it.
    pub takes_words: bool,
}

/// What is asked of a file.
pub struct Request<'a> {
    /// What is to be done, in order; nothing for what the file itself says.
    pub goals: &'a [String],
    /// `NAME=value` of the call.
    pub given: &'a [(String, String)],
    /// The directory.
    pub dir: &'a str,
    /// Does something of that name lie there?
    pub exists: &'a mut dyn FnMut(&str) -> bool,
    /// The text of another file of the project that it names.
    pub other: &'a mut dyn FnMut(&str) -> Option<Rc<str>>,
    /// A variable of the environment.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// Does a variable of that name change what programs do? One that is set already is handed to them.
    pub steers: &'a dyn Fn(&str) -> bool,
    /// A task is run without those that its name puts around it.
    pub alone: bool,
    /// There is more than was read.
    pub cut: bool,
    /// That is all that can come of it: no other file, no value from elsewhere and no condition says otherwise.
    pub closed: bool,
}

impl Request<'_> {
    /// Is there room for one more command, so far down, and for the work of finding it? Where there is not, the reader
    /// says so.
    fn has_room(&mut self, depth: usize, steps: &[Step], work: usize) -> bool {
        let room = depth < limits::RECIPE_DEPTH
            && steps.len() < limits::RECIPE_STEPS
            && limits::spend_steps(work);
        self.cut |= !room;
        room
    }
}

/// Reads the commands of what is asked for.
pub type RecipeReader = fn(&str, &mut Request) -> Vec<Step>;

/// The reader for files of that name.
pub fn reader_of(file: &str) -> Option<RecipeReader> {
    Some(match file {
        "GNUmakefile" | "makefile" | "Makefile" => make::read_steps,
        "package.json" | "composer.json" => |text, asked| json::read_steps(text, "scripts", asked),
        "deno.json" | "deno.jsonc" => |text, asked| json::read_steps(text, "tasks", asked),
        "justfile" | "Justfile" | ".justfile" => just::read_steps,
        "Taskfile.yml" | "Taskfile.yaml" => task::read_steps,
        ".pre-commit-config.yaml" => task::read_hooks,
        "tox.ini" => sections::read_tox,
        "mise.toml" => sections::read_mise,
        "noxfile.py" => sections::read_nox,
        _ => return None,
    })
}

/// A value that nobody knows, as shell text.
const UNKNOWN: &str = "${RECIPE_VALUE}";

/// The lines of a text, each with where it begins, without its end.
fn lines_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

/// Replaces `{{ ... }}` by what it stands for.
fn fill_braces(text: &str, value: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("{{") {
        let Some((name, after)) = behind.split_once("}}") else { break };
        out.push_str(before);
        match value(name.trim()) {
            Some(value) => out.push_str(&value),
            None => out.push_str(UNKNOWN),
        }
        rest = after;
    }
    out + rest
}
