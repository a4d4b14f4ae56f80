//! What variables mean to programs: which run, write, lead elsewhere or do no harm. Their names stand in `config/variables.toml`.

use crate::effect::path::is_temporary;
use crate::effect::path::split;
use crate::effect::program::table::{self, Class};

include!(concat!(env!("OUT_DIR"), "/variables.rs"));

/// Words one behind the other, sorted: where each begins, and the lists that have it.
struct Words {
    text: &'static str,
    index: &'static [(u16, u16)],
}

impl Words {
    fn word_at(&self, at: usize) -> &'static str {
        let end = self.index.get(at + 1).map_or(self.text.len(), |next| usize::from(next.0));
        &self.text[usize::from(self.index[at].0)..end]
    }

    /// The lists of that word.
    fn exact_lists(&self, name: &str) -> u16 {
        let (mut low, mut high) = (0, self.index.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.word_at(middle) < name { low = middle + 1 } else { high = middle }
        }
        let found = low < self.index.len() && self.word_at(low) == name;
        if found { self.index[low].1 } else { 0 }
    }

    /// The lists of all words that pass.
    fn matching_lists(&self, passes: impl Fn(&str) -> bool) -> u16 {
        let all = self.index.iter().enumerate().filter(|(at, _)| passes(self.word_at(*at)));
        all.fold(0, |lists, (_, (_, own))| lists | own)
    }
}

/// The lists that have the name: bits of `EXECUTABLE`, `WRITTEN` and the like.
fn variable_lists(name: &str) -> u16 {
    EXACT.exact_lists(name)
        | STARTS.matching_lists(|start| name.starts_with(start))
        | ENDS.matching_lists(|end| name.ends_with(end))
}

/// What an assignment to a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    /// Nothing.
    No,
    /// Programs change.
    Yes,
    /// They do where it is put into their environment: as a shell's own variable the name is anybody's.
    Exported,
    /// Its value is run.
    Runs,
    /// Its value is a file that is written.
    Writes,
    /// Nobody knows what runs.
    Hides,
}

/// Does the value only say whether, or how much?
fn is_switch(value: &str) -> bool {
    value.bytes().all(|b| b.is_ascii_digit())
        || matches!(
            value.to_ascii_lowercase().as_str(),
            "true" | "false" | "yes" | "no" | "on" | "off" | "auto" | "always" | "never" | "none"
        )
}

/// Is it, for that name, one of the values that everybody gives it?
fn is_usual(name: &str, value: &str) -> bool {
    let plain =
        |rest: &str| rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_=.+,:".contains(&b));
    let known = |list: &str, word: &str| {
        list.split_ascii_whitespace().any(|one| match one.strip_suffix('*') {
            Some(start) => word.strip_prefix(start).is_some_and(plain),
            None => one == word,
        })
    };
    VALUES.iter().any(|(names, list)| {
        names.split(' ').any(|own| own == name)
            && value.split_ascii_whitespace().all(|word| known(list, word))
    })
}

/// Does the value name a program that would run in any case, where a program is wanted?
fn is_usual_program(name: &str, value: &str) -> bool {
    let (program, rest) = value.split_once(' ').unwrap_or((value, ""));
    let (dir, program) = split(program);
    let known = |rest: &str| {
        ARGUMENTS
            .iter()
            .any(|(own, list)| *own == program && list.split(' ').any(|one| one == rest))
    };
    if !matches!(dir, "" | "/bin" | "/usr/bin") || !rest.is_empty() && !known(rest) {
        return false;
    }
    let Some(row) = table::find_row(program, &[]) else { return false };
    // A pager that is a shell runs what it is to show.
    let asked = matches!(name, "SHELL" | "MAKESHELL")
        || program.starts_with(name.to_ascii_lowercase().as_str());
    row.has_class(Class::Usual)
        || row.has_class(Class::Compiler)
        || row.has_class(Class::Interpreter) && asked
}

/// Is it the bare name of a program by which projects run or make what is theirs?
pub fn is_tool(program: &str) -> bool {
    table::find_row(program, &[]).is_some_and(|row| {
        [Class::Compiler, Class::Interpreter, Class::Usual]
            .into_iter()
            .any(|own| row.has_class(own))
    })
}

/// Does it say where an agent looks for its settings?
pub fn is_home(name: &str) -> bool {
    variable_lists(name) & HOMES != 0
}

/// Does every path of the value lie where the system keeps its own?
fn is_of_system(value: &str) -> bool {
    let own = ["/usr/", "/opt/", "/lib", "/etc/ssl/", "/Library/", "/System/", "/nix/store/"];
    !value.contains("..")
        && value.split(':').all(|path| own.iter().any(|start| path.starts_with(start)))
}

/// Could it lead programs to code or settings elsewhere, so that nobody knows what they run?
fn leads_elsewhere(lists: u16, name: &str, value: Option<&str>) -> bool {
    if lists & GUARDS != 0 {
        return value != Some("");
    }
    let Some(value) = value else { return false };
    let pathy = value.contains('/') || value.contains("data:");
    let own = ["/usr/lib", "/usr/local/lib", "/lib", "/opt/"];
    match name {
        "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" | "GIT_CONFIG" => {
            !matches!(value, "" | "/dev/null")
        }
        "GIT_EXEC_PATH" | "GIT_TEMPLATE_DIR" | "GIT_CONFIG_PARAMETERS" | "PERL5DB" => {
            !value.is_empty()
        }
        "LD_PRELOAD" | "LD_AUDIT" | "DYLD_INSERT_LIBRARIES" => value
            .split([':', ' '])
            .any(|file| file.contains('/') && !own.iter().any(|dir| file.starts_with(dir))),
        "NODE_OPTIONS" => {
            let loads = |word: &str| word.starts_with("-r") || word.starts_with("--");
            pathy
                && ["require", "import", "loader", "-r"].iter().any(|o| value.contains(o))
                && value.split_whitespace().any(loads)
        }
        "COPILOT_ALLOW_ALL" | "GEMINI_YOLO_MODE" | "CLAUDE_CODE_SIMPLE" => {
            !matches!(value, "" | "0" | "false")
        }
        "GOOSE_MODE" => value == "auto",
        "RUBYOPT" => pathy && value.contains("-r"),
        // `-MName=a,b` loads a module; what follows a `;` is code.
        "PERL5OPT" => value.contains([';', '`', '(', '{', '\'', '"', '/']),
        "JAVA_TOOL_OPTIONS" | "_JAVA_OPTIONS" | "JDK_JAVA_OPTIONS" => {
            ["-javaagent", "-agentpath", "OnError", "OnOutOfMemory"]
                .iter()
                .any(|o| value.contains(o))
        }
        _ => false,
    }
}

/// What does that name mean, with that value?
pub fn classify_variable(name: &str, value: Option<&str>) -> Marked {
    if name == "ENV" && value.is_some_and(|v| !v.contains('/')) {
        // A file for interactive shells; else the usual name of a stage ("production").
        return Marked::No;
    }
    if name.starts_with("BASH_FUNC_") {
        return Marked::Runs;
    }
    let lists = variable_lists(name);
    let among = |some: u16| lists & some != 0;
    if among(EXECUTABLE) {
        let tame =
            |v: &str| is_switch(v) || v == name.to_ascii_lowercase() || is_usual_program(name, v);
        return if value.is_some_and(tame) { Marked::No } else { Marked::Runs };
    }
    if PROMPTS.contains(&name) {
        // Prompts run the substitutions in them.
        let runs = value.is_none_or(|v| v.contains("$(") || v.contains('`'));
        return if runs { Marked::Runs } else { Marked::No };
    }
    if leads_elsewhere(lists, name, value) {
        return Marked::Hides;
    }
    if among(HARMLESS | PLAIN) {
        return Marked::No;
    }
    let has = |holds: fn(&str) -> bool| value.is_some_and(holds);
    if value.is_some_and(|value| is_usual(name, value)) {
        return Marked::No;
    }
    if among(WRITTEN) && name != "GIT_TRACE_REDACT" {
        return match value {
            Some(value) if is_switch(value) => Marked::No,
            Some(value) if !value.contains(':') => Marked::Writes,
            _ => Marked::Yes,
        };
    }
    if matches!(name, "TMPDIR" | "TMP" | "TEMP" | "TEMPDIR") {
        return if has(is_temporary) { Marked::No } else { Marked::Exported };
    }
    if name.ends_with("SAN_OPTIONS")
        && value.is_some_and(|v| !v.contains(['/', '@']) && !v.contains("path"))
    {
        return Marked::No;
    }
    if among(MARKED | STRICT) {
        return Marked::Yes;
    }
    if among(FAMILIES) {
        return if has(is_switch) { Marked::No } else { Marked::Yes };
    }
    if among(ENDINGS) {
        return if has(is_switch) || has(is_of_system) { Marked::No } else { Marked::Exported };
    }
    Marked::No
}

/// Prompts, whose substitutions run; what agents call `PROMPT` is mostly a text for a model.
pub const PROMPTS: &[&str] = &["PS0", "PS1", "PS2", "PS4", "RPS1", "RPS2", "RPROMPT", "RPROMPT2"];

/// Is it plain that the variable changes nothing of what a program runs, writes or asks? A shipped
/// allow takes no other.
pub fn is_harmless(name: &str, value: Option<&str>) -> bool {
    // Settings of programs are written in capitals; the exceptions are marked.
    let lists = variable_lists(name);
    let told = lists & HARMLESS != 0
        || !name.bytes().any(|b| b.is_ascii_uppercase()) && !name.starts_with("npm_");
    told || value.is_some_and(|value| {
        is_usual(name, value)
            || lists & WRITTEN != 0
                && is_switch(value)
                && classify_variable(name, Some(value)) == Marked::No
    })
}
