//! Assignments: what they make known, and the names that change what later programs do.

use shuck_ast::{ArrayElem, Assignment, AssignmentValue, WordPart, WordPartNode};

use super::Walker;
use super::state::{Held, Key, unknown_var};
use super::word::{Atom, Quote};
use crate::effect::program;
use crate::effect::value::Value;
use crate::effect::{Grade, Source, Word};
use crate::limits;

/// Names whose value is a program or shell text.
const EXECUTABLE: &[&str] = &[
    "BROWSER",
    "CC",
    "CXX",
    "EDITOR",
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "LESSCLOSE",
    "LESSOPEN",
    "MANPAGER",
    "PAGER",
    "PROMPT_COMMAND",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "SHELL",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SUDO_EDITOR",
    "SYSTEMD_PAGER",
    "VISUAL",
    "MAKESHELL",
    "BASH_ENV",
    "PYTHONSTARTUP",
    "ENV",
    "BAT_PAGER",
    "DELTA_PAGER",
    "GH_PAGER",
    "GH_BROWSER",
    "GH_EDITOR",
    "KUBE_EDITOR",
    "FCEDIT",
];

/// Names that change what programs load or which programs run.
const MARKED: &[&str] = &[
    "PATH",
    "IFS",
    "CDPATH",
    "SHELLOPTS",
    "BASHOPTS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "MAVEN_OPTS",
    "GRADLE_OPTS",
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "CARGO_HOME",
    "CFLAGS",
    "LDFLAGS",
    "MAKEFLAGS",
    "GOFLAGS",
    "CLASSPATH",
    "LUA_INIT",
    "HOME",
    "GCONV_PATH",
    "ZDOTDIR",
    "XDG_CONFIG_HOME",
    "GNUPGHOME",
    "npm_config_script_shell",
    "DOCKER_HOST",
    "KUBECONFIG",
    "EXINIT",
    "VIMINIT",
    "TAR_OPTIONS",
    "GZIP",
    "GREP_OPTIONS",
    "LESS",
    "RIPGREP_CONFIG_PATH",
    "CURL_HOME",
    "WGETRC",
    "TERM_PROGRAM",
    "FPATH",
];

/// Names with these beginnings do as well.
const PREFIXES: &[&str] = &[
    "LD_",
    "DYLD_",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT",
    "BASH_FUNC_",
    "MALLOC_",
    "GLIBC_",
    "npm_config_",
    "NPM_CONFIG_",
    "PIP_",
    "UV_",
    "CARGO_BUILD_",
    "CARGO_TARGET_",
    "SSH_",
];

/// Where agents keep what guards them.
const GUARDS: &[&str] = &[
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "COPILOT_HOME",
    "CLINE_DIR",
    "CURSOR_CONFIG_DIR",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_DIR",
    "OPENCODE_CONFIG_CONTENT",
    "OPENCODE_PERMISSION",
    "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
    "GEMINI_CLI_HOME",
    "QWEN_CODE_SYSTEM_SETTINGS_PATH",
    "AMP_SETTINGS_FILE",
    "FACTORY_HOME_OVERRIDE",
];

/// Could it lead programs to code or settings elsewhere, so that nobody knows what they run?
fn hides(name: &str, value: Option<&str>) -> bool {
    if GUARDS.contains(&name) {
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

/// What an assignment to that name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    /// Nothing.
    No,
    /// Programs change.
    Yes,
    /// Its value is run.
    Runs,
    /// Nobody knows what runs.
    Hides,
}

/// Is the name marked, with that value?
pub fn marked(name: &str, value: Option<&str>) -> Marked {
    if name == "ENV" && value.is_some_and(|v| !v.contains('/')) {
        // A file for interactive shells; else the usual name of a stage ("production").
        return Marked::No;
    }
    if name.starts_with("BASH_FUNC_") {
        return Marked::Runs;
    }
    let runs = EXECUTABLE.contains(&name)
        || name.ends_with("_COMMAND")
        || name.ends_with("_PAGER")
        || name.ends_with("_EDITOR")
        || name.ends_with("_ASKPASS");
    if runs {
        return match value {
            // Agents switch pagers and prompts off all the time.
            Some(
                "" | "cat" | "true" | ":" | "less" | "less -F" | "more" | "echo" | "false"
                | "/bin/true" | "/bin/cat" | "none" | "vim" | "vi" | "nvim" | "nano" | "emacs"
                | "code --wait" | "ccache" | "sccache" | "gcc" | "g++" | "cc" | "c++" | "clang"
                | "clang++" | "musl-gcc" | "bash" | "zsh" | "/bin/sh" | "/bin/bash" | "/bin/zsh"
                | "/usr/bin/bash" | "/usr/bin/zsh",
            ) => Marked::No,
            _ => Marked::Runs,
        };
    }
    if matches!(name, "PS0" | "PS1" | "PS2" | "PS4") {
        // Prompts run the substitutions in them.
        let runs = value.is_none_or(|v| v.contains("$(") || v.contains('`'));
        return if runs { Marked::Runs } else { Marked::No };
    }
    if hides(name, value) {
        return Marked::Hides;
    }
    if MARKED.contains(&name) || PREFIXES.iter().any(|p| name.starts_with(p)) {
        return Marked::Yes;
    }
    Marked::No
}

/// The names that arithmetic text assigns to (roughly: every name in it).
pub fn arithmetic_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    if !text.contains('=') && !text.contains("++") && !text.contains("--") {
        return names;
    }
    for part in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
        if part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            names.push(part.to_string());
        }
    }
    names
}

/// Is it all that one command prints?
fn is_printed(value: &AssignmentValue) -> bool {
    let mut parts = match value {
        AssignmentValue::Scalar(word) => &word.parts[..],
        AssignmentValue::Compound(_) => return false,
    };
    if let [WordPartNode { kind: WordPart::DoubleQuoted { parts: inner, .. }, .. }] = parts {
        parts = inner;
    }
    matches!(parts, [WordPartNode { kind: WordPart::CommandSubstitution { .. }, .. }])
}

impl Walker<'_> {
    /// An assignment that holds for one command.
    pub(super) fn temporary(&mut self, assignment: &Assignment) -> bool {
        let name = assignment.target.name.as_str().to_string();
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => self.quietly(|w| w.expand_one(word, true)),
            AssignmentValue::Compound(_) => Value::default(),
        };
        let span = self.range(assignment.span);
        self.overridden(&name);
        self.evaluates_integer(&name, &value);
        self.out.analysis.environment.push(name.clone());
        self.mark_assignment(&name, value.plain(), span, false)
    }

    /// What the assignments of one command held before it, of what git looks at.
    pub(super) fn before(&self, assignments: &[Assignment]) -> Vec<(Key, Option<Held>)> {
        let names = assignments.iter().map(|a| a.target.name.as_str());
        let keys = names.filter(|n| program::names_git(n)).map(|n| Key::Git(n.to_string()));
        keys.map(|key| (key.clone(), self.state.get(&key).cloned())).collect()
    }

    /// A program may start git, whose settings then name programs.
    pub(super) fn may_start_git(&mut self, span: &std::ops::Range<usize>) {
        let redirects = |(name, value): &(String, Option<String>)| {
            program::redirects_git(name, value.as_deref())
        };
        if self.state.git().iter().any(redirects) {
            let why = "an assignment that leads programs to code or settings";
            self.out.unknown(why, span.clone());
        }
    }

    /// A shell that the command starts sees another value than this one's.
    pub(super) fn overridden(&mut self, name: &str) {
        if self.state.flag(&Key::Exported(name.to_string())) {
            self.forget(name);
        }
    }

    /// The value of an assignment, array elements apart.
    fn assigned(&mut self, assignment: &Assignment) -> Vec<Vec<Atom>> {
        match &assignment.value {
            AssignmentValue::Scalar(word) => vec![self.row(word, true)],
            AssignmentValue::Compound(array) => {
                let mut words = Vec::new();
                let plain = array.elements.iter().filter_map(|e| match e {
                    ArrayElem::Sequential(word) => Some(&word.word),
                    _ => None,
                });
                if super::doubt::side_by_side(plain).iter().any(|group| group.len() > 1) {
                    return vec![vec![Atom::blank(false)]];
                }
                for element in &array.elements {
                    match element {
                        ArrayElem::Sequential(word) => {
                            for field in self.expand(word) {
                                words.push(super::word::atoms_of(&field));
                            }
                        }
                        _ => words.push(vec![Atom::blank(false)]),
                    }
                }
                words
            }
        }
    }

    /// An assignment that lasts.
    pub fn assign(&mut self, assignment: &Assignment) {
        let name = assignment.target.name.as_str().to_string();
        let mut values = Vec::new();
        let mut alone = true;
        self.worlds(|w| {
            w.found.clear();
            let one = w.assigned(assignment);
            alone &= one.iter().all(|row| !row.contains(&Atom::Break));
            // `f=$(find . -name x)`: any of them.
            let found = w.found.drain(..).filter(|_| is_printed(&assignment.value));
            let found = found.map(|value| vec![super::word::atoms_of(&value)]);
            for one in std::iter::once(one).chain(found) {
                if !values.contains(&one) {
                    values.push(one);
                }
            }
        });
        if assignment.target.subscript.is_some() || !alone {
            values = unknown_var();
        }
        if assignment.append {
            let scalar = matches!(assignment.value, AssignmentValue::Scalar(_));
            values = match self.state.var(&name).map(Vec::as_slice) {
                Some([old]) if values.len() == 1 => {
                    let mut old = old.clone();
                    if scalar {
                        match old.first_mut() {
                            Some(first) => first.extend(values.remove(0).into_iter().flatten()),
                            None => old = values.remove(0),
                        }
                    } else {
                        old.extend(values.remove(0));
                    }
                    vec![old]
                }
                _ => unknown_var(),
            };
        }
        if values.iter().flatten().map(Vec::len).sum::<usize>() > limits::VALUE {
            values = unknown_var();
        }
        let plain = values.first().and_then(|v| v.first()).map(|row| super::word::value(row, 0..0));
        let text = plain.as_ref().and_then(Value::plain).map(str::to_string);
        if let Some(value) = &plain {
            let span = self.range(assignment.span);
            self.evaluates_integer(&name, &Value { span, ..value.clone() });
        }
        self.mark_assignment(&name, text.as_deref(), self.range(assignment.span), true);
        if name == "IFS" {
            self.state.set(Key::Splitting, Some(Held::Set));
        }
        let values =
            values.into_iter().map(|words| words.into_iter().map(quote).collect()).collect();
        self.state.set(Key::Var(name), Some(Held::Var(values)));
    }

    /// What a marked name does; `lasting` = for all commands that follow. True if it is marked.
    pub fn mark_assignment(
        &mut self,
        name: &str,
        value: Option<&str>,
        span: std::ops::Range<usize>,
        lasting: bool,
    ) -> bool {
        self.special_parameter(name, value, span.clone());
        if let Some(proxy) = value.filter(|v| !v.is_empty())
            && matches!(
                name.to_ascii_lowercase().as_str(),
                "http_proxy" | "https_proxy" | "all_proxy" | "ftp_proxy"
            )
        {
            // What programs fetch goes through that host.
            self.out.command = None;
            self.out.contact(&Value::known(proxy, span), false, Source::Assignment);
            return false;
        }
        if program::names_git(name) {
            let text = value.map(str::to_string);
            self.state.set(Key::Git(name.to_string()), Some(Held::Text(text)));
        }
        match marked(name, value) {
            Marked::No => return false,
            Marked::Hides => {
                self.out.command = None;
                self.out.unknown("an assignment that leads programs to code or settings", span);
            }
            Marked::Yes => {}
            Marked::Runs => {
                self.out.command = None;
                let grade = if value.is_some() { Grade::Certain } else { Grade::Unknown };
                self.out.push(Word::Execute, grade, Source::Assignment, span.clone());
                if let Some(text) = value {
                    // Prompts are expanded, the others are commands.
                    let text = match name.starts_with("PS") {
                        true => format!(": \"{}\"", text.replace('"', "\\\"")),
                        false => text.to_string(),
                    };
                    let mark = self.state.mark();
                    self.nested(&text, span, self.parent);
                    self.state.rollback(mark);
                }
            }
        }
        if lasting {
            self.state.set(Key::Tainted, Some(Held::Set));
        }
        true
    }
}

/// A stored value: its characters are no longer bare.
fn quote(row: Vec<Atom>) -> Vec<Atom> {
    row.into_iter()
        .map(|atom| match atom {
            Atom::Ch(c, Quote::Bare) => Atom::Ch(c, Quote::Quoted),
            other => other,
        })
        .collect()
}
