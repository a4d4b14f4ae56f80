//! What only zsh does with an assignment or a function: parameters that define functions, aliases and commands or say
//! where they are looked for, and functions that run on their own. The agent's shell may be zsh, so nothing behind one
//! is what it looks like.

use std::ops::Range;

use memchr::memchr_iter;
use shuck_ast::{Word as ShellWord, WordPart, WordPartNode};

use super::Walker;
use super::state::{StateKey, StateValue};
use super::word::Atom;
use crate::effect::value::Value;
use crate::names::zsh::{CHANGING, CODE, LEADING};

/// Functions that zsh calls on its own.
const HOOKS: &[&str] =
    &["chpwd", "precmd", "preexec", "periodic", "zshaddhistory", "zshexit", "zsh_directory_name"];

/// How `:` goes on behind a parameter where it changes the value: `$x:h`.
const MODIFIERS: &str = "aAcefFghlpPqQrstuwWx&";

/// What stands between `$` and a name where zsh expands the value in another way.
const FLAGS: [char; 4] = ['^', '~', '=', '+'];

/// Does zsh call a function of that name on its own?
pub(super) fn is_hook(name: &str) -> bool {
    HOOKS.contains(&name)
        || name.strip_prefix("TRAP").is_some_and(|signal| {
            !signal.is_empty()
                && signal.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        })
}

/// Does that, behind a variable, name the directory of what it holds: `$x:h`?
fn names_directory(text: &str) -> bool {
    let rest = text.strip_prefix(":h");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':']))
}

/// Is it an option of zsh by which a word that is no command leads to another directory?
fn leads_elsewhere(option: &Value) -> bool {
    let name = option.known_start().replace('_', "").to_ascii_lowercase();
    matches!(name.as_str(), "autocd" | "cdablevars")
}

/// Does the option of `print` say that its text is a prompt?
fn is_prompt(option: &Value) -> bool {
    option.known_start().strip_prefix('-').is_some_and(|letters| {
        letters.contains('P') && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
    })
}

impl Walker<'_> {
    /// A builtin that does in zsh what it does nowhere else.
    pub(super) fn zsh_builtin(&mut self, name: &str, args: &[Value], span: &Range<usize>) {
        let global = |arg: &Value| {
            let text = arg.known_start();
            text.starts_with(['-', '+']) && text.contains(['g', 's', 'm'])
        };
        let changes = match name {
            "alias" => args.iter().any(global),
            // `cd old new`: the directory with its name changed.
            "cd" | "chdir" | "pushd" => {
                args.iter().filter(|arg| !arg.known_start().starts_with('-')).count() > 1
            }
            "hash" => args.iter().any(|arg| arg.known_start().contains('=')),
            // `set -A x a b` fills an array, `set -y` splits words.
            "set" => args.iter().any(|arg| {
                let of_bash = |c: char| "abefhkmnoptuvxBCEHPT-".contains(c);
                let text = arg.known_start();
                text.len() > 1
                    && text.strip_prefix(['-', '+']).is_some_and(|rest| !rest.chars().all(of_bash))
            }),
            _ => CHANGING.contains(&name),
        };
        if matches!(name, "add-zsh-hook" | "add-zle-hook-widget" | "zle") {
            self.hooks.extend(args.iter().filter_map(Value::plain_text).map(String::from));
            self.run_hooks();
        }
        // `~` alone goes there.
        if name == "setopt" && args.iter().any(leads_elsewhere) {
            self.state.set(StateKey::Cwd, Some(StateValue::Cwd(None)));
        }
        // `print -P '$(cmd)'`, where prompts are expanded.
        if name == "print" && args.iter().any(is_prompt) {
            for text in args.iter().filter_map(Value::plain_text) {
                if text.contains("$(") || text.contains('`') {
                    self.walk_nested(&format!(": {text}"), span.clone(), self.frame.parent);
                }
            }
        }
        // `set -A functions x 'rm -rf y'`
        if name == "set"
            && args.get(1).and_then(Value::plain_text).is_some_and(|to| CODE.contains(&to))
        {
            for text in args[2..].iter().filter_map(Value::plain_text) {
                self.try_definition(text, span.clone());
            }
        }
        if changes {
            self.state.set(StateKey::Tainted, Some(StateValue::Set));
            self.emit_uncovered("a builtin that changes what zsh does", span.clone());
        }
    }

    /// The functions that a parameter tells zsh to call by itself: `precmd_functions+=(x)`.
    pub(super) fn note_hooks(&mut self, name: &str, values: &[Vec<Vec<Atom>>]) {
        if name.strip_suffix("_functions").is_some_and(|hook| HOOKS.contains(&hook)) {
            let text = |word: &Vec<Atom>| word.iter().filter_map(Atom::letter).collect();
            self.hooks.extend(values.iter().flatten().map(text));
        }
    }

    /// Does zsh call a function of that name by itself, as a hook or because the text said so?
    pub(super) fn is_hooked(&self, name: &str) -> bool {
        is_hook(name) || self.hooks.iter().any(|own| own == name)
    }

    /// Runs those that the text has defined before it said so, once.
    pub(super) fn run_hooks(&mut self) {
        for name in self.hooks.clone() {
            let defined = self.state.get(&StateKey::Function(name.clone())).is_some();
            if defined && !self.hooked.contains(&name) {
                self.hooked.push(name.clone());
                self.walk_nested(&name, 0..self.out.analysis.text.len(), self.frame.parent);
            }
        }
    }

    /// Text that zsh expands and bash does not: `=ls`, `$~x`, `$x:h`, `$"..."`.
    pub(super) fn zsh_text(&mut self, parts: &[WordPartNode], quoted: bool) {
        for (at, part) in parts.iter().enumerate() {
            let expands = match &part.kind {
                WordPart::DoubleQuoted { dollar, .. } => *dollar,
                WordPart::Literal(_) => {
                    let before = at.checked_sub(1).map(|at| &parts[at].kind);
                    let text = self.slice(part.span);
                    let leads = matches!(before, Some(WordPart::Variable(_)));
                    let names = leads && names_directory(text);
                    // Most long texts hold no sign of a variable.
                    let signs = memchr_iter(b'$', text.as_bytes());
                    let flags = signs.filter_map(|at| text.as_bytes().get(at + 1));
                    let splits = flags.into_iter().any(|flag| matches!(flag, b'=' | b'~'));
                    let expands = self.zsh_literal(text, before, quoted);
                    if names && self.frame.zsh {
                        self.emit_unseen("the directory of what a variable holds", part.span);
                    }
                    self.as_zsh |= splits || names && !self.frame.zsh;
                    expands
                }
                _ => false,
            };
            if expands {
                return self.emit_uncovered("text that zsh expands in another way", part.span);
            }
        }
    }

    fn zsh_literal(&self, text: &str, before: Option<&WordPart>, quoted: bool) -> bool {
        let name = |c: char| c.is_ascii_alphabetic() || c == '_';
        let modifies = match before {
            // `$#x` is the length of x.
            Some(WordPart::Variable(of)) if of.as_str() == "#" => text.starts_with(name),
            Some(WordPart::Variable(_)) => text
                .strip_prefix(':')
                .is_some_and(|rest| rest.starts_with(|c| MODIFIERS.contains(c))),
            None => !quoted && text.strip_prefix('=').is_some_and(|rest| rest.starts_with(name)),
            Some(_) => false,
        };
        modifies
            || text.split('$').skip(1).any(|rest| {
                rest.starts_with(FLAGS) && rest.trim_start_matches(FLAGS).starts_with(name)
            })
    }

    /// A word with a group in a group of zsh's globs: `((a|b)|c).txt`.
    pub(super) fn zsh_group(&mut self, word: &ShellWord) {
        let nested = |part: &WordPartNode| {
            let mut open = 0_usize;
            matches!(part.kind, WordPart::Literal(_))
                && self.slice(part.span).bytes().any(|byte| {
                    match byte {
                        b'(' => open += 1,
                        b')' => open = open.saturating_sub(1),
                        _ => {}
                    }
                    open > 1
                })
        };
        if word.parts.iter().any(nested) {
            self.emit_uncovered("a pattern of zsh with groups in groups", word.span);
        }
        let raw = self.slice(word.span);
        if raw.starts_with("{,") || raw.starts_with('{') && raw.ends_with(",}") {
            self.emit_uncovered("an empty word that zsh keeps", word.span);
        }
    }

    /// An element of a parameter that zsh makes up: a file's text, a function's.
    pub(super) fn special_element(&mut self, name: &str, span: Range<usize>) {
        if CODE.contains(&name) || matches!(name, "mapfile" | "commands" | "nameddirs" | "userdirs")
        {
            self.emit_uncovered("a parameter that the shell gives a meaning", span);
        }
    }

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
        self.state.set(StateKey::Tainted, Some(StateValue::Set));
        self.emit_uncovered("a parameter that the shell gives a meaning", span.clone());
        if let Some(text) = value.filter(|_| code) {
            self.try_definition(text, span);
        }
    }

    /// What a function or an alias of zsh is said to run.
    pub(super) fn try_definition(&mut self, text: &str, span: Range<usize>) {
        let text = text.trim_start_matches([' ', ';', '&', '|']);
        if text.contains(' ') {
            let mark = self.state.mark();
            self.walk_nested(text, span, self.frame.parent);
            self.state.rollback(mark);
        }
    }
}
