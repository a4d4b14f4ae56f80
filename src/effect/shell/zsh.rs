//! What only zsh does with an assignment or a function: parameters that define functions, aliases and commands or say
//! where they are looked for, and functions that run on their own. The agent's shell may be zsh, so nothing behind one
//! is what it looks like.

use std::ops::Range;

use super::Walker;
use super::state::{Held, Key};

/// Parameters whose elements are code, or the paths of programs.
const CODE: &[&str] = &[
    "functions",
    "dis_functions",
    "aliases",
    "dis_aliases",
    "galiases",
    "dis_galiases",
    "saliases",
    "dis_saliases",
];

/// Parameters that lead to other programs, files and settings.
const LEADING: &[&str] = &[
    "commands",
    "builtins",
    "dis_builtins",
    "reswords",
    "options",
    "parameters",
    "modules",
    "nameddirs",
    "userdirs",
    "dirstack",
    "path",
    "fpath",
    "cdpath",
    "manpath",
    "mailpath",
    "module_path",
    "mapfile",
    "NULLCMD",
    "READNULLCMD",
    "TMPPREFIX",
];

/// Functions that zsh calls on its own.
const HOOKS: &[&str] =
    &["chpwd", "precmd", "preexec", "periodic", "zshaddhistory", "zshexit", "zsh_directory_name"];

/// Does zsh call a function of that name on its own?
pub(super) fn is_hook(name: &str) -> bool {
    HOOKS.contains(&name)
        || name.strip_prefix("TRAP").is_some_and(|signal| {
            !signal.is_empty()
                && signal.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        })
}

impl Walker<'_> {
    /// A parameter gets a value, or one of its elements does (`functions[ls]`).
    pub(super) fn special_parameter(
        &mut self,
        name: &str,
        value: Option<&str>,
        span: Range<usize>,
    ) {
        let name = name.split(['[', '+']).next().unwrap_or_default();
        let code = CODE.contains(&name);
        if !code && !LEADING.contains(&name) && !name.ends_with("_functions") {
            return;
        }
        self.state.set(Key::Tainted, Some(Held::Set));
        self.untold(span.clone());
        if let Some(text) = value.filter(|text| code && text.contains(' ')) {
            let mark = self.state.mark();
            self.nested(text, span, self.parent);
            self.state.rollback(mark);
        }
    }
}
