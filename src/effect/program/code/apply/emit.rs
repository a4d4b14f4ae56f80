//! From values to effects: paths, hosts, commands.

use super::*;
use crate::effect::path::in_home;
use crate::effect::program::code::val::NUMBER;
use crate::effect::value::SOME_VARIABLE;
use crate::limits::Cap;
use std::rc::Rc;

/// A number that nobody knows, in shell text.
const SOME_NUMBER: &str = "${#__hookctl_item}";

impl Scan<'_, '_> {
    pub(super) fn is_full(&mut self) -> bool {
        self.count += usize::from(!self.silent);
        self.silent || !Cap::CodeEffects.admits(self.count)
    }

    pub(super) fn push(&mut self, word: Word) {
        if !self.is_full() {
            let span = self.span.clone();
            self.out.push(word, Grade::Certain, Source::Code, span);
        }
    }

    pub(super) fn emit_path(&mut self, word: Word, val: &Val, extent: Extent) {
        let mut values = Vec::new();
        val.push_values(&self.span, &mut values);
        // Names alone say nothing of what a file holds.
        if self.keys_until > 0 && word == Word::Read {
            return;
        }
        for mut value in values {
            if self.is_full() {
                return;
            }
            let text = value.text().unwrap_or_default();
            if text == ":memory:" || text.starts_with("php://") || text.starts_with("data:") {
                continue;
            }
            if value.known_start().contains("://") && !text.starts_with("file:") {
                self.out.emit_contact(&value, word != Word::Read, Source::Code);
                continue;
            }
            // `~` alone is the home as well: a file of that name is rarer, and worth a question.
            if let Some(path) = in_home(text, &self.out.place.home) {
                value = value.map(|_| path);
            } else if let Some(rest) = crate::effect::host::file_of(text) {
                value = value.map(|_| rest.to_string());
            }
            self.out.emit_path(word, &value, extent, Grade::Certain, Source::Code);
        }
    }

    pub(super) fn emit_contact(&mut self, val: &Val, send: bool) {
        let mut values = Vec::new();
        // `axios.create({ baseURL }).post("/x")`
        let base = self.env.get(BASE).filter(|_| val.to_text().is_some_and(|t| t.starts_with('/')));
        let val = base.unwrap_or(val).clone();
        val.push_values(&self.span, &mut values);
        for value in values {
            if self.is_full() {
                return;
            }
            if let Some(file) = value.text().and_then(crate::effect::host::file_of) {
                let value = Value::known(file, self.span.clone());
                self.out.code_path(Word::Read, &value);
            } else {
                self.out.emit_contact(&value, send, Source::Code);
            }
        }
    }

    /// A template that a shell of the program's own reads (zx, Bun, dax, execa): it quotes each value that is put in.
    pub(super) fn runs_template(&mut self, call: &CallArguments) {
        for one in call.at(0).alternatives() {
            let text = one.to_text().filter(|text| !text.trim_start().starts_with(BLANK));
            let filled = text.map(|text| text.replace(BLANK, &format!("\"{SOME_VARIABLE}\"")));
            self.run_shell_text(&filled.map_or(one.clone(), |text| Val::text(&text)), call);
        }
    }

    /// Text that a shell runs.
    pub(super) fn run_shell_text(&mut self, val: &Val, call: &CallArguments) {
        for one in val.alternatives() {
            if self.is_full() {
                return;
            }
            let input = call.find_option("input");
            let value = match one.to_text() {
                _ if matches!(one, Val::Scalar) => continue,
                Some(text) if text.contains(BLANK) && text.trim_start().starts_with(BLANK) => {
                    one.to_value(&self.span)
                }
                Some(text) if text.contains(BLANK) => {
                    let (text, told) = shell_text(&one.part());
                    if !told {
                        self.emit_hidden("shell text of which a part is known only at run time");
                    }
                    Value::known(text, self.span.clone())
                }
                _ => one.to_value(&self.span),
            };
            let value = self.feed_input(value, input, call);
            if let Some(shell) = own_program(call).filter(|shell| !runs_stdin(shell)) {
                // Another program than a shell is given the text.
                let words =
                    [shell.as_ref(), "-c"].map(|word| Value::known(word, self.span.clone()));
                self.next.push(Next::words(words.into_iter().chain([value]).collect()));
                continue;
            }
            let set = self.settings(call);
            let value = match set.is_empty() {
                true => value,
                false => {
                    let quoted = set.iter().map(|(name, val)| {
                        format!("export {name}='{}'; ", val.replace('\'', "'\\''"))
                    });
                    let quoted: String = quoted.collect();
                    value.map(|text| format!("{quoted}{text}"))
                }
            };
            let cwd = self.working_directory(call);
            if cwd.is_some() && value.text().is_some() {
                let sh = |t: &str| Value::known(t, self.span.clone());
                let words = vec![sh("sh"), sh("-c"), value];
                self.next.push(Next::Words { words, cwd, feeds: false });
            } else {
                self.next.push(Next::script(value));
            }
        }
    }

    /// The directory that something runs in, where it is another one.
    pub(super) fn working_directory(&self, call: &CallArguments) -> Option<Value> {
        match call.find_option("cwd").or_else(|| call.find_option("chdir")) {
            Some(Val::Name(name))
                if matches!(name.as_ref(), "None" | "null" | "undefined" | "nil") =>
            {
                None
            }
            Some(cwd) => Some(cwd.to_value(&self.span)),
            None if self.moved => Some(match &self.out.cwd {
                Some(cwd) => Value::known(cwd.clone(), self.span.clone()),
                None => Value::unknown(self.span.clone()),
            }),
            None => None,
        }
    }

    /// A shell or interpreter without arguments runs what it is fed.
    pub(super) fn feed_input(
        &mut self,
        value: Value,
        input: Option<Val>,
        _call: &CallArguments,
    ) -> Value {
        let Some(text) = value.plain_text() else { return value };
        let fed = runs_stdin(text.trim());
        match input {
            Some(input) => match input.known_text() {
                Some(input) => {
                    let text = format!("{text} <<'__HOOKCTL__'\n{input}\n__HOOKCTL__\n");
                    Value::known(text, value.span)
                }
                None => {
                    if fed {
                        self.emit_hidden("an interpreter that is fed by the program");
                    }
                    value
                }
            },
            None => {
                if fed {
                    self.emit_hidden("an interpreter that is fed by the program");
                }
                value
            }
        }
    }

    /// Words that are a command.
    pub(super) fn run_words(&mut self, words: Vec<Val>, call: &CallArguments) {
        // One word with several values is several commands.
        let many = words.iter().position(|w| matches!(w, Val::Any(..)));
        if let Some(at) = many {
            for one in words[at].alternatives() {
                let mut words = words.clone();
                words[at] = if matches!(one, Val::Any(..)) { Val::Unknown } else { one };
                for (i, word) in words.iter_mut().enumerate() {
                    if i != at && matches!(word, Val::Any(..)) {
                        *word = Val::Unknown;
                    }
                }
                self.run_words(words, call);
            }
            return;
        }
        if self.is_full() {
            return;
        }
        let mut values: Vec<Value> = Vec::new();
        for word in &words {
            match word {
                Val::List(_, items) => values.extend(items.iter().map(|i| i.to_value(&self.span))),
                Val::Dict(..) => {}
                Val::Name(name) if matches!(name.as_ref(), "None" | "null" | "nil" | "undef") => {}
                word => values.push(word.to_value(&self.span)),
            }
        }
        if let [one] = &values[..] {
            let fed = self.feed_input(one.clone(), call.find_option("input"), call);
            if fed != *one {
                self.run_shell_text(
                    &Val::text(fed.text().unwrap_or_default()),
                    &CallArguments { pos: Vec::new(), opts: Vec::new() },
                );
                return;
            }
        } else if let (Some(input), Some(name)) = (call.find_option("input"), values.first())
            && runs_stdin(name.known_start())
        {
            // Whether it runs what it is fed, or a file of its own does, its words say.
            let known: Option<Vec<String>> =
                values.iter().map(|word| word.plain_text().map(quote_for_shell)).collect();
            match (known, input.known_text()) {
                (Some(words), input) if call.find_option("cwd").is_none() && !self.moved => {
                    let (mark, input) = match input {
                        Some(input) => ("'__HOOKCTL__'", input),
                        None => ("__HOOKCTL__", SOME_VARIABLE.into()),
                    };
                    let text = format!("{} <<{mark}\n{input}\n__HOOKCTL__\n", words.join(" "));
                    self.next.push(Next::script(Value::known(text, self.span.clone())));
                    return;
                }
                _ => self.emit_hidden("an interpreter that is fed by the program"),
            }
        }
        let shell = call.find_option("shell").and_then(|val| val.known_text());
        if let (Some(program), None) = (own_program(call), shell)
            && let Some(first) = values.first_mut()
        {
            *first = Value::known(program.as_ref(), first.span.clone());
        }
        let set = self.settings(call);
        if !set.is_empty() {
            let set = set.iter().map(|(name, val)| format!("{name}={val}"));
            let words = std::iter::once("env".to_string()).chain(set);
            let words = words.map(|word| Value::known(word, self.span.clone()));
            values = words.chain(values).collect();
        }
        let cwd = self.working_directory(call);
        self.next.push(Next::Words { words: values, cwd, feeds: false });
    }

    /// What a program that is started finds in its environment, as far as it matters.
    fn settings(&self, call: &CallArguments) -> Vec<(String, String)> {
        let set = self.env.iter().filter_map(|(name, val)| {
            let name =
                ENVIRONMENTS.iter().find_map(|own| name.strip_prefix(own)?.strip_prefix('.'))?;
            Some((name, val))
        });
        let table = |val: Option<Val>| match val {
            Some(Val::Dict(_, items)) => items.to_vec(),
            _ => Vec::new(),
        };
        let first = call.pos.first().filter(|_| self.lang == Lang::Ruby).cloned();
        let given = [table(call.find_option("env")), table(first)].concat();
        let given = given.iter().map(|(name, val)| (name.trim_start_matches(':'), val));
        let name = |name: &str| {
            name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        };
        let told = |(own, val): (&str, &Val)| {
            let text = val.known_text().filter(|_| name(own))?;
            Some((own.to_string(), text.to_string()))
        };
        set.chain(given).filter_map(told).collect()
    }
}

/// The program that an option names in place of the first word, or of the shell.
fn own_program(call: &CallArguments) -> Option<Rc<str>> {
    ["executable", "shell"].iter().find_map(|name| call.find_option(name)?.known_text())
}

/// A text for a shell with a variable that nobody sets for each part that is not known; is each of these surely no more than a
/// word where it stands?
fn shell_text(text: &str) -> (String, bool) {
    let (mut out, mut told) = (String::new(), true);
    let (mut quote, mut escaped) = (None, false);
    for c in text.chars() {
        let gap = match c {
            NUMBER => SOME_NUMBER,
            _ => SOME_VARIABLE,
        };
        match (c, quote) {
            (BLANK, _) | (QUOTED, Some(_)) => {
                told = false;
                out.push_str(SOME_VARIABLE);
            }
            (NUMBER | QUOTED | NAMED, None) => out.extend(["\"", gap, "\""]),
            (NUMBER | NAMED, Some('"')) => out.push_str(gap),
            (NUMBER | NAMED, Some(_)) => out.extend(["'\"", gap, "\"'"]),
            _ => {
                match (c, quote) {
                    _ if escaped => escaped = false,
                    ('\\', None | Some('"')) => escaped = true,
                    ('\'' | '"', None) => quote = Some(c),
                    (_, Some(open)) if open == c => quote = None,
                    _ => {}
                }
                out.push(c);
                continue;
            }
        }
        escaped = false;
    }
    (out, told)
}
