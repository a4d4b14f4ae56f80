//! Who prints what a program prints: nobody knows a stranger's text, a local program's is its own.

use super::super::state::StateKey;
use super::super::{Feed, Walker};
use crate::effect::emitter::Spot;
use crate::effect::program::table::{self, Class};
use crate::effect::value::{Printer, Text, Value};
use crate::effect::{Extent, Word};

/// Does jq make other text of what it reads than stands there?
fn decodes(args: &[Value]) -> bool {
    let words = ["@base64", "implode", "explode", "$ENV", "env", "input", "include", "import"];
    args.iter().any(|arg| match arg.plain_text() {
        Some(text) => {
            words.iter().any(|word| text.contains(word))
                || matches!(text, "-f" | "-L" | "--from-file")
        }
        None => true,
    })
}

impl Walker<'_> {
    /// Who prints what a program prints.
    pub(super) fn find_printer(&mut self, words: &[Value]) -> Printer {
        let Some(name) = words.first().and_then(Value::plain_text) else {
            return Printer::Stranger;
        };
        let name = name.rsplit('/').next().unwrap_or_default();
        let args = &words[1..];
        let mut by = args.iter().map(|a| a.by()).max().unwrap_or_default();
        let row = table::find_row(name, self.out.place.programs);
        let settings = row.and_then(|row| row.settings).is_some_and(|words| {
            let is = |word: &str| words.split(' ').any(|own| own == word);
            words.is_empty() || args.iter().filter_map(Value::plain_text).any(is)
        });
        let function = self.state.is_set(&StateKey::Function(name.to_string()));
        // A program of that name that lies elsewhere is another.
        let word = words[0].known_start();
        let own = !word.contains('/')
            || ["/usr/", "/bin/", "/opt/", "/home/linuxbrew/"].iter().any(|d| word.starts_with(d))
            || word.starts_with(&format!("{}/.", self.out.place.home));
        if settings && own && !function {
            return Printer::Settings;
        }
        let stranger = row.is_some_and(|row| {
            row.has_class(Class::Stranger)
                || row.has_class(Class::Decoder)
                || row.has_class(Class::Interpreter)
                || row.effects.contains(&Word::Network)
        });
        by = by.max(match name {
            "helm" if self.is_local_chart(args) => Printer::Local,
            "jq" if !decodes(args) => Printer::Local,
            _ if stranger => Printer::Stranger,
            "echo" | "printf" | "true" | ":" => Printer::Nobody,
            // A filter without files says nothing of its own.
            "xargs" if is_bare_xargs(args) => Printer::Nobody,
            "cat" | "head" | "tail" | "sort" | "uniq" | "cut" | "tac" | "tee"
                if !args
                    .iter()
                    .any(|a| !a.known_start().starts_with('-') || a.text().is_none()) =>
            {
                Printer::Nobody
            }
            "grep" if args.iter().filter(|a| !a.known_start().starts_with('-')).count() == 1 => {
                Printer::Nobody
            }
            "cat" | "head" | "tail" | "grep" | "sort" | "uniq" | "cut" => {
                let strange = |a: &Value| match a.text {
                    // Where it gives a file as it is, that is what is printed.
                    Text::Pipe(at) => !matches!(self.pipe_feed(at), Feed::File(_)),
                    _ => {
                        let text = a.plain_text().unwrap_or_default();
                        text.starts_with("/dev/fd/") || text.starts_with("/proc/self/fd/")
                    }
                };
                let strange = args.iter().any(strange)
                    || args.iter().any(|a| a.text().is_some() && self.was_written(a));
                if strange { Printer::Stranger } else { Printer::File }
            }
            _ => Printer::Local,
        });
        by
    }

    /// `helm template ./charts/x`: text of the project's, filled in here.
    fn is_local_chart(&mut self, args: &[Value]) -> bool {
        let mut texts = args.iter().map(|arg| arg.plain_text().unwrap_or("://"));
        texts.next() == Some("template")
            && !texts.any(|text| text.contains("://") || text.starts_with("--repo"))
            && args[1..].iter().any(|arg| {
                let text = arg.known_start();
                text == "."
                    || ["./", "../", "/"].iter().any(|start| text.starts_with(start))
                    || text.contains('/')
                        && matches!(self.out.locate_value(arg, Extent::Exact, false),
                            Spot::At(target) if self.out.resolver.is_dir(&target.resolved))
            })
    }

    /// Has the call itself written that file, and nobody knows what?
    fn was_written(&mut self, file: &Value) -> bool {
        matches!(self.out.locate_value(file, Extent::Exact, false),
            Spot::At(target) if self.out.written.get(&target.resolved) == Some(&None))
    }
}

/// `xargs -d '\n'`: does it hand on what it is fed, with no program of its own?
fn is_bare_xargs(args: &[Value]) -> bool {
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.plain_text() {
            Some("-d" | "-n" | "-L" | "-P" | "-s") => _ = words.next(),
            Some(word) if word.starts_with("-a") || word.starts_with("--arg-file") => return false,
            Some(word) if word.starts_with('-') => {}
            _ => return false,
        }
    }
    true
}
