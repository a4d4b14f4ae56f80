//! PowerShell, statement by statement: what variables hold, and what a pipe hands on.

use super::plain::Plain;
use super::statement::{POWERSHELL, Quoting, Statement, Table, block_variables};
use super::*;
use std::borrow::Cow;

use crate::effect::variable::{Marked, classify_variable};
use crate::names::powershell::{CHANGING, HARMLESS, OTHER_WAYS, READING, WRITING};

/// What a variable, `$_` or a pipe stands for: one after the other.
#[derive(Clone)]
enum Items {
    /// Texts as they are written.
    Texts(Vec<String>),
    /// What is known only at run time, as far as it is known.
    Value(Value),
    /// What a directory holds, or of that what was chosen.
    Listed { dir: String, chosen: bool },
}

impl Items {
    /// The texts of `"a","b"`.
    fn of_text(word: &str) -> Items {
        let texts = word.split(',').filter(|text| !text.is_empty());
        Items::Texts(texts.map(str::to_string).collect())
    }
}

struct Variable {
    /// In small letters.
    name: String,
    /// None = not known.
    items: Option<Items>,
    /// How often it is set.
    times: usize,
}

/// A block that is open.
struct Block {
    /// What `$_` is in it.
    item: Option<Items>,
    /// It makes something else of it.
    maps: bool,
}

/// What the block behind a keyword makes of `$_`.
#[derive(Clone, Copy)]
enum Keyword {
    /// `if (...) { }`: it is what it was.
    Tests,
    /// `else { }`: so it is there.
    Leads,
    /// `switch (...) { }`: it is something else.
    Binds,
}

/// The name of `$x` and `$script:x`, in small letters.
fn variable_name(word: &str) -> Option<String> {
    let name = word.strip_prefix('$')?.to_ascii_lowercase();
    Some(match name.split_once(':') {
        Some(("script" | "global" | "local" | "private" | "using", name)) => name.to_string(),
        _ => name,
    })
}

/// A path that begins with the directory that the shell is in, from there.
fn located(word: &str) -> Cow<'_, str> {
    for here in HERE {
        if let Some((start, rest)) = word.split_at_checked(here.len())
            && start.eq_ignore_ascii_case(here)
            && (rest.is_empty() || rest.starts_with(['/', '\\', ':']))
        {
            return format!(".{rest}").into();
        }
    }
    word.into()
}

/// `-Path:$HOME/x`: the option, and a value that begins with a directory or a variable. A switch is told yes or no.
fn colon_value(arg: &str) -> Option<(&str, &str)> {
    let (option, value) = arg.split_once(':')?;
    let name = option.strip_prefix('-').filter(|name| !name.is_empty())?;
    let says = ["$true", "$false", "$null"].iter().any(|own| own.eq_ignore_ascii_case(value));
    let named = name.bytes().all(|byte| byte.is_ascii_alphabetic());
    (named && !says && value.starts_with(['$', '~', '%'])).then_some((option, value))
}

/// How the directory that the shell is in is written.
const HERE: &[&str] =
    &["$pwd", "${pwd}", "$pwd.path", "$($pwd.path)", "$($pwd)", "$(pwd)", "$(get-location)"];

/// Does the sign set a variable to what follows, and not to more?
fn is_whole(sign: &str) -> bool {
    sign == "=" || sign.eq_ignore_ascii_case("in")
}

/// Properties that name the file which an object stands for.
const FILES: &[&str] = &["fullname", "path", "pspath", "literalpath", "name"];

/// `-ExpandProperty Directory`, `% Line`: something else than the file.
fn names_other(name: &str, args: &[String]) -> bool {
    let expands = args.iter().position(|arg| arg.to_ascii_lowercase().starts_with("-exp"));
    let property = match matches!(name, "foreach-object" | "foreach" | "%") {
        true => args.iter().find(|arg| !arg.starts_with('-')),
        false => expands.and_then(|at| args.get(at + 1)),
    };
    property.is_some_and(|own| !FILES.iter().any(|file| file.eq_ignore_ascii_case(own)))
}

/// Is the program an interpreter of a language?
fn found_language((_, found): &(String, Option<&'static Program>)) -> bool {
    found.is_some_and(|found| found.lang.is_some() && !found.windows)
}

/// Commands whose block makes something else of what they are given.
const MAPPING: &[&str] = &["foreach-object", "foreach", "%", "select-object", "select"];

/// Commands that hand on only some of what they are given.
const CHOOSING: &[&str] = &["where-object", "where", "?", "select-object"];

/// The option for what comes through a pipe.
const PIPED: &str = "-literalpath";

/// So deep may strings and what is computed in them stand in each other.
pub(super) const NESTED: usize = 8;

pub(super) struct Reader<'r, 'a, 'p> {
    sink: &'r mut Sink<'a, 'p>,
    /// In how many strings the text stands.
    depth: usize,
    /// Something came from the network.
    fetched: bool,
    cwd: Option<Value>,
    variables: Vec<Variable>,
    /// Variables that hold one thing here and another there, as a block or a text within the text sets them.
    unfollowed: Vec<String>,
    /// The variable that the next list is for.
    pending: Option<String>,
    blocks: Vec<Block>,
    /// The last command hands on what its block makes of what it is given.
    maps: bool,
    /// What the last command hands to the next through a pipe.
    piped: Option<Items>,
    /// The variables that stand for a block.
    block_names: Vec<String>,
    /// The last keyword, whose block is still to come.
    keyword: Option<Keyword>,
    /// The text that the last statement was.
    text: Option<String>,
    /// The variables that stand for options.
    tables: Vec<Table>,
    /// There is a clock that starts and stops.
    measures: bool,
}

impl<'r, 'a, 'p> Reader<'r, 'a, 'p> {
    pub(super) fn new(sink: &'r mut Sink<'a, 'p>) -> Self {
        Reader {
            sink,
            depth: 0,
            fetched: false,
            cwd: None,
            variables: Vec::new(),
            unfollowed: Vec::new(),
            pending: None,
            blocks: Vec::new(),
            maps: false,
            piped: None,
            block_names: Vec::new(),
            tables: Vec::new(),
            keyword: None,
            text: None,
            measures: false,
        }
    }

    pub(super) fn read_text(&mut self, text: &str) {
        if text.len() > NO_NAME
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b))
        {
            return self.sink.emit_hidden("an encoded PowerShell command");
        }
        let plain = Plain::new(text);
        let text = &plain.text[..];
        for part in computed_parts(text) {
            self.read_deeper(part);
        }
        let lower = text.to_ascii_lowercase();
        self.measures |= lower.contains("diagnostics.stopwatch");
        self.read_downloads(text, &lower);
        let statements = POWERSHELL.split(text);
        self.leave_unfollowed(&lower, &statements);
        if !OTHER_WAYS.iter().any(|way| way.contains("var") && lower.contains(way)) {
            self.block_names = block_variables(&statements);
            self.tables = Table::of(&statements);
        }
        for statement in statements {
            self.enter_blocks(&statement.between);
            self.read_files(&statement.files);
            if !statement.words.is_empty() {
                self.read_statement(&statement);
            }
        }
        self.read_statics(&plain);
    }

    /// A text within the text: what is computed in a string, or what `iex` runs.
    fn read_deeper(&mut self, text: &str) {
        if self.depth == NESTED {
            return self.sink.emit_hidden("PowerShell that is nested too deeply");
        }
        let mut inner = Reader::new(self.sink);
        (inner.depth, inner.fetched) = (self.depth + 1, self.fetched);
        inner.variables = std::mem::take(&mut self.variables);
        inner.unfollowed = std::mem::take(&mut self.unfollowed);
        inner.cwd.clone_from(&self.cwd);
        inner.read_text(text);
        let (fetched, variables, unfollowed) = (inner.fetched, inner.variables, inner.unfollowed);
        (self.fetched, self.variables, self.unfollowed) = (fetched, variables, unfollowed);
    }

    /// Which variables more than one place sets, one of them in a block, which may run again: all of them where the
    /// text has other ways to set one.
    fn leave_unfollowed(&mut self, lower: &str, statements: &[Statement]) {
        let lower = lower.replace(char::is_whitespace, " ");
        if OTHER_WAYS.iter().any(|way| lower.contains(way)) {
            return self.unfollowed.push("*".to_string());
        }
        let (mut depth, mut seen) = (0_usize, Vec::<(String, usize, bool)>::new());
        for statement in statements {
            for sign in statement.between.chars() {
                match sign {
                    '{' => depth += 1,
                    '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            let Some(name) = statement.target().and_then(variable_name) else { continue };
            match seen.iter_mut().find(|(own, ..)| *own == name) {
                Some((_, times, inside)) => (*times, *inside) = (*times + 1, *inside || depth > 0),
                None => seen.push((name, 1, depth > 0)),
            }
        }
        let several = seen.into_iter().filter(|(_, times, inside)| *times > 1 && *inside);
        self.unfollowed.extend(several.map(|(name, ..)| name));
    }

    /// Methods that fetch something. What a cmdlet fetches may stand behind what runs it.
    fn read_downloads(&mut self, text: &str, lower: &str) {
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        self.fetched |= has(&["iwr", "irm", "curl", "invoke-web", "invoke-rest"]);
        if !has(&["downloadstring", "downloadfile", "downloaddata", "openread("]) {
            return;
        }
        self.fetched = true;
        let texts = string_literals(text);
        let mut urls = texts.iter().filter(|text| text.contains("://")).peekable();
        if urls.peek().is_none() {
            self.sink.push(Word::Network);
        }
        for url in urls {
            let value = self.sink.text_value(url);
            self.sink.out.emit_contact(&value, false, Source::Code);
        }
    }

    /// What the signs in front of a statement do to `$_` and to the pipe.
    fn enter_blocks(&mut self, between: &str) {
        let mut before = None;
        for sign in between.chars() {
            match sign {
                '{' => {
                    let maps = std::mem::take(&mut self.maps);
                    let piped = self.piped.take();
                    let outer = || self.blocks.last().and_then(|block| block.item.clone());
                    let item = match self.keyword.take() {
                        Some(Keyword::Binds) => None,
                        Some(Keyword::Tests) if before == Some(')') => outer(),
                        Some(Keyword::Leads) if before.is_none() => outer(),
                        _ => piped,
                    };
                    self.blocks.push(Block { item, maps });
                }
                '}' => {
                    let block = self.blocks.pop();
                    self.piped = block.filter(|block| !block.maps).and_then(|block| block.item);
                }
                ';' | '\n' | '&' => self.piped = None,
                _ => {}
            }
            before = Some(sign).filter(|sign| *sign != '\n').or(before);
        }
    }

    /// `> file`
    fn read_files(&mut self, files: &[String]) {
        for file in files.iter().filter(|file| !file.eq_ignore_ascii_case("$null")) {
            for value in self.paths_of(file) {
                self.sink.out.code_path(Word::Write, &value);
            }
        }
    }

    fn read_statement(&mut self, statement: &Statement) {
        let pending = self.pending.take();
        // `$x = ...`, `[int]$x = ...`, `$x, $y = ...`, `$f in ...` of a loop.
        if let Some(sign) = statement.assignment() {
            self.read_environment(statement, sign);
            let value = self.read_value(statement, sign + 1);
            let Some(name) = statement.target().and_then(variable_name) else { return };
            match &statement.words[sign + 1..] {
                [] => self.pending = Some(name),
                [list] if list == "@" => self.pending = Some(name),
                _ => self.bind(&name, value.filter(|_| is_whole(&statement.words[sign]))),
            }
            return;
        }
        let value = self.read_value(statement, 0);
        self.text = match (&statement.words[..], &statement.quoted[..]) {
            ([text], [Quoting::Whole]) => Some(text.clone()),
            _ => None,
        };
        if let Some(name) = pending.filter(|_| statement.key.is_none()) {
            self.bind(&name, value.clone());
        }
        self.piped = value;
    }

    /// `$env:NAME = value`
    fn read_environment(&mut self, statement: &Statement, sign: usize) {
        let Some((scope, name)) = statement.words[sign - 1].split_at_checked(5) else { return };
        if !scope.eq_ignore_ascii_case("$env:") {
            return;
        }
        let text = match (&statement.words[sign + 1..], &statement.quoted[sign + 1..]) {
            ([text], [Quoting::Whole]) if !text.contains('$') => Some(text.as_str()),
            _ => None,
        };
        // Letter case does not count there.
        let tame = |name: &str| match classify_variable(name, text) {
            Marked::No => true,
            // A directory of the project, as `PYTHONPATH` names it.
            Marked::Yes => text.is_some_and(|text| {
                let inner = |c: char| c.is_ascii_alphanumeric() || "_-./\\".contains(c);
                text.chars().all(inner)
                    && !text.starts_with(['-', '/', '\\'])
                    && !text.contains("..")
            }),
            _ => false,
        };
        if !(tame(name) && tame(&name.to_ascii_uppercase())) {
            self.sink.emit_hidden("a variable that changes what programs do");
        }
    }

    fn bind(&mut self, name: &str, value: Option<Items>) {
        if self.depth > 0 {
            self.unfollowed.push(name.to_string());
        }
        let lost = self.unfollowed.iter().any(|own| own == name || own == "*");
        let value = value.filter(|_| !lost);
        if name == "_" {
            if let Some(block) = self.blocks.last_mut() {
                block.item = None;
            }
        } else if let Some(old) = self.variables.iter_mut().find(|old| old.name == name) {
            (old.items, old.times) = (value, old.times + 1);
        } else {
            self.variables.push(Variable { name: name.to_string(), items: value, times: 1 });
        }
    }

    /// What a variable stands for, and a file that a property of it names: `$f`, `$_.FullName`.
    fn items_of(&self, word: &str) -> Option<&Items> {
        let (name, property) = word.split_once('.').unwrap_or((word, ""));
        let files = ["", "fullname", "path", "pspath", "literalpath"];
        if !files.iter().any(|own| own.eq_ignore_ascii_case(property)) {
            return None;
        }
        match &variable_name(name)?[..] {
            "_" | "psitem" => self.blocks.last()?.item.as_ref(),
            name => self.variables.iter().find(|own| own.name == name)?.items.as_ref(),
        }
    }

    /// The paths that a word may be.
    fn paths_of(&self, word: &str) -> Vec<Value> {
        let path = |text: &str| self.sink.path_value(text);
        match self.items_of(word) {
            Some(items) => self.values_of(items, path),
            None => vec![path(&located(word))],
        }
    }

    /// What items stand for: a value for each text, and one for what is known only at run time.
    fn values_of(&self, items: &Items, text: impl Fn(&str) -> Value) -> Vec<Value> {
        let path = |text: &str| self.sink.path_value(text);
        vec![match items {
            Items::Texts(texts) => return texts.iter().map(|one| text(one)).collect(),
            Items::Value(value) => value.clone(),
            Items::Listed { dir, .. } if path(dir).is_glob() => path(dir),
            Items::Listed { dir, chosen: true } => path(dir).unknown_below(),
            Items::Listed { dir, chosen: false } => path(&format!("{dir}/*")),
        }]
    }

    /// Runs a statement from this word on, and tells what it hands on.
    fn read_value(&mut self, statement: &Statement, from: usize) -> Option<Items> {
        let words = &statement.words[from..];
        self.read_methods(words);
        let sourced = words.first().is_some_and(|word| word == ".")
            && statement.quoted[from] == Quoting::None;
        let between = &statement.between;
        if between.ends_with("&(") && !between.ends_with("&&(") || sourced && words.len() == 1 {
            self.sink.emit_hidden("a command that is computed");
        }
        let (word, args) = match &words[usize::from(sourced)..] {
            // The value of an assignment that stands in brackets.
            [] => return self.piped.clone(),
            [word, args @ ..] => (word, args),
        };
        let called = sourced || from == 0 && statement.between.ends_with('&');
        if called && word.starts_with('$') {
            return match self.items_of(word).cloned() {
                Some(Items::Texts(names)) => {
                    names.iter().for_each(|name| drop(self.read_command(name, args, statement)));
                    None
                }
                _ => {
                    // What stands in the block is read where it stands.
                    if !self.block_names.contains(&word.to_ascii_lowercase()) {
                        self.sink.emit_hidden("a command that stands in a variable");
                    }
                    None
                }
            };
        }
        if !called && (word.starts_with('$') || statement.quoted[from] != Quoting::None) {
            // A variable or a text is no command, and several are a list.
            let whole = |quoting: &Quoting| *quoting == Quoting::Whole;
            let list = (word.starts_with('$') || statement.quoted[from..].iter().all(whole))
                && words
                    .split_last()
                    .is_some_and(|(_, before)| before.iter().all(|w| w.ends_with(',')));
            let item = || self.items_of(word).cloned().unwrap_or(Items::of_text(&words.concat()));
            return list.then(item);
        }
        if word.to_ascii_lowercase().ends_with("path]::gettempfilename") {
            return Some(Items::Listed { dir: "$env:TEMP".to_string(), chosen: true });
        }
        // A method behind brackets, and what is given to it.
        let begins = |c: char| c.is_ascii_alphanumeric() || "./\\~_%?".contains(c);
        let number = word.chars().all(|c| c.is_ascii_digit() || c == '.');
        if is_member(word) || number || word.contains("://") || !word.starts_with(begins) {
            return None;
        }
        self.read_command(word, args, statement)
    }

    /// Methods of objects that change something: `(Get-Item x).Delete()`.
    fn read_methods(&mut self, words: &[String]) {
        let changes = |word: &&String| {
            let word = word.to_ascii_lowercase();
            let timing = |method: &str| self.measures && matches!(method, "start" | "stop");
            word.starts_with(['$', '.'])
                && word
                    .rsplit_once('.')
                    .is_some_and(|(_, method)| CHANGING.contains(&method) && !timing(method))
        };
        let Some(word) = words.iter().find(changes) else { return };
        let lower = word.to_ascii_lowercase();
        if lower.ends_with(".kill") || lower.ends_with(".terminate") {
            self.sink.push(Word::Process);
        } else {
            self.sink.emit_hidden("a method that changes what an object stands for");
        }
    }

    fn read_command(
        &mut self,
        word: &str,
        args: &[String],
        statement: &Statement,
    ) -> Option<Items> {
        let lower = word.to_ascii_lowercase();
        if KEYWORDS.contains(&&lower[..]) {
            self.keyword = match &lower[..] {
                "if" | "elseif" | "while" | "for" | "foreach" | "until" => Some(Keyword::Tests),
                "else" | "try" | "do" | "finally" | "begin" | "process" | "end" => {
                    Some(Keyword::Leads)
                }
                "switch" | "function" | "filter" | "catch" => Some(Keyword::Binds),
                _ => None,
            };
            // `return rm x`
            return match (&lower[..], args) {
                ("return" | "throw" | "exit", [word, args @ ..])
                    if !word.starts_with(['$', '-']) =>
                {
                    self.read_command(word, args, statement)
                }
                _ => self.piped.clone(),
            };
        }
        match &lower[..] {
            "cd" | "sl" | "chdir" | "set-location" | "push-location" | "pushd" => {
                self.cwd = Some(self.sink.changed_directory(args, self.cwd.as_ref()));
                // What was found lies where the shell was.
                self.variables.iter_mut().for_each(|variable| variable.items = None);
                return None;
            }
            "iex" | "invoke-expression" => {
                self.read_expression(args);
                return None;
            }
            "import-module" | "ipmo" | "add-type" => {
                let named = |arg: &String| arg.eq_ignore_ascii_case("-assemblyname");
                let told = lower != "add-type" || args.iter().any(named);
                if !told || statement.computed || args.iter().any(|arg| arg.contains('$')) {
                    self.sink.emit_hidden("PowerShell that runs text");
                }
                for file in args.iter().filter(|arg| arg.contains(['/', '\\'])) {
                    self.run(&file.replace('\\', "/"), &[], &[]);
                }
                return None;
            }
            _ => {}
        }
        let splat = |arg: &String| {
            arg.strip_prefix('@').is_some_and(|name| {
                !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            })
        };
        let piped = statement.between.ends_with('|') && !statement.between.ends_with("||");
        let text = self.text.take().filter(|_| piped);
        if piped && found_language(&self.sink.windows_program(word, true)) {
            // What a program is given to read may be its code.
            let quoted = |text: &String| format!("'{}'", text.replace('\'', "'\\''"));
            if let Some(text) = text {
                let words: Vec<String> = args.iter().map(quoted).collect();
                let line = format!("printf %s {} | {word} {}", quoted(&text), words.join(" "));
                self.sink.run_shell_text(&line);
                return None;
            }
            if args.last().is_none_or(|last| last == "-" || last == "-s") {
                self.sink.emit_hidden("code that comes through a pipe");
            }
        }
        let options = |arg: &String| {
            let named = |own: &&Table| own.name.eq_ignore_ascii_case(&arg[1..]);
            splat(arg).then(|| self.tables.iter().find(named).map(|own| own.options.clone()))
        };
        let options: Vec<_> = args.iter().map(options).collect();
        if options.contains(&Some(None)) {
            self.sink.emit_hidden("options that stand in a variable");
        }
        let word = match &lower[..] {
            "start" => "start-process",
            "sls" => "select-string",
            _ => word,
        };
        let (name, found) = self.sink.windows_program(word, true);
        self.fetched |= found.is_some_and(|p| p.effects.contains(&Word::Network));
        if lower == "sc" {
            // The program, or an older alias of that cmdlet.
            self.run("set-content", args, &[]);
        }
        if name != word {
            // Where there is no such alias it is the program of that name: pwsh on other systems.
            let (plain, own) = self.sink.windows_program(word, false);
            if own.is_some_and(|p| !p.windows) {
                self.run(&plain, args, &[]);
            }
        }
        let starts = ["start-process", "saps"].iter().any(|own| own.eq_ignore_ascii_case(word));
        // A text in quotes is no option.
        let from = statement.words.len() - args.len();
        let quoted = |at: usize| {
            found.is_some_and(|found| found.windows && found.lang.is_none())
                && args[at].starts_with(['-', '/'])
                && statement.quoted.get(from + at).is_some_and(|own| *own != Quoting::None)
        };
        let windows = found.is_some_and(|found| found.windows);
        let args = args.iter().zip(options).enumerate().flat_map(|(at, (arg, options))| {
            match options.flatten() {
                Some(options) => options,
                None if quoted(at) => vec![format!(" {arg}")],
                None => match colon_value(arg) {
                    Some((option, value)) if windows => vec![option.into(), value.into()],
                    _ => vec![arg.clone()],
                },
            }
        });
        // It makes one text of a list.
        let joined = |arg: String| if starts { arg.replace(',', " ") } else { arg };
        let args: Vec<String> = args.map(joined).collect();
        let args = &args[..];
        let given = match statement.computed && found.is_some_and(|p| p.windows) {
            true => vec![Items::Value(Value::unknown(self.sink.span.clone()))],
            false => found.and_then(|found| self.given_by_pipe(found, args)).unwrap_or_default(),
        };
        self.run(&name, args, &given);
        self.maps = MAPPING.contains(&&lower[..]);
        self.handed_on(&name, args, statement.computed)
    }

    /// The words that a cmdlet takes from its pipe: the paths that it reads, moves or deletes.
    fn given_by_pipe(&self, found: &Program, args: &[String]) -> Option<Vec<Items>> {
        let items = self.piped.clone()?;
        let role = found.find_option(PIPED)?.spec.role;
        let named = args.iter().any(|arg| {
            let arg = arg.to_ascii_lowercase();
            arg.starts_with("-p")
                || arg.starts_with("-lit")
                || !arg.starts_with('-') && role == Role::Delete
        });
        let taken = found.windows && role != Role::Write && !named;
        taken.then(|| vec![Items::Texts(vec![PIPED.to_string()]), items])
    }

    /// Runs a command once for each item that a variable in it, or its pipe, stands for.
    fn run(&mut self, name: &str, args: &[String], given: &[Items]) {
        let windows = find_program(name, self.sink.out.place.programs).is_some_and(|p| p.windows);
        let text = |text: &str| match windows && text.starts_with('-') {
            true => self.sink.word_of(name, &format!(" {text}")),
            false => self.sink.word_of(name, text),
        };
        let values = |items: &Items| self.values_of(items, text);
        let word = |arg: &String| match self.items_of(arg) {
            Some(items) => values(items),
            None => vec![self.sink.word_of(name, &located(arg))],
        };
        let words: Vec<Vec<Value>> =
            args.iter().map(word).chain(given.iter().map(values)).collect();
        let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let runs = words.iter().map(Vec::len).max().unwrap_or(1);
        for run in 0..runs {
            let words = words.iter().map(|word| word[run.min(word.len() - 1)].clone()).collect();
            self.sink.run_words(name, words, self.cwd.as_ref());
        }
    }

    /// What a command hands to the next, or to a variable.
    fn handed_on(&self, name: &str, args: &[String], computed: bool) -> Option<Items> {
        let below = |dir: &str| Some(Items::Listed { dir: dir.to_string(), chosen: true });
        match (&name.to_ascii_lowercase()[..], args) {
            ("join-path", [dir]) if computed => below(dir),
            _ if computed => None,
            ("join-path", [dir, rest @ ..]) => {
                let dir = if dir.eq_ignore_ascii_case("$pwd") { "." } else { dir };
                Some(Items::Texts(vec![format!("{dir}/{}", rest.join("/"))]))
            }
            ("get-item" | "gi" | "resolve-path" | "rvpa", [path]) if !path.starts_with('-') => {
                Some(self.items_of(path).cloned().unwrap_or_else(|| Items::of_text(path)))
            }
            ("select-string", _) => match self.piped.clone()? {
                Items::Listed { dir, .. } => Some(Items::Listed { dir, chosen: true }),
                _ => None,
            },
            ("new-temporaryfile", []) => below("$env:TEMP"),
            // Files of the project.
            ("git", [verb, ..])
                if verb == "ls-files" || args.iter().any(|a| a == "--name-only") =>
            {
                below(".")
            }
            (name, _) if passes_objects(name) && names_other(name, args) => None,
            (name, _) if passes_objects(name) => Some(match self.piped.clone()? {
                Items::Listed { dir, chosen } => {
                    Items::Listed { dir, chosen: chosen || CHOOSING.contains(&name) }
                }
                items => items,
            }),
            (name, args) => {
                let dir = listed_directory(name, args)?;
                let chosen = |arg: &String| {
                    let arg = arg.to_ascii_lowercase();
                    ["-fi", "-inc", "-exc", "-at"].iter().any(|option| arg.starts_with(option))
                };
                match self.items_of(dir) {
                    Some(Items::Texts(texts)) if texts.len() != 1 => None,
                    Some(Items::Texts(texts)) => below(&texts[0]),
                    Some(items) => Some(items.clone()),
                    None => Some(Items::Listed {
                        dir: dir.to_string(),
                        chosen: args.iter().any(chosen),
                    }),
                }
            }
        }
    }

    /// `iex TEXT`: text as it stands is read, as long as nothing was fetched before.
    fn read_expression(&mut self, args: &[String]) {
        match args {
            _ if self.fetched => self.sink.push(Word::PipeToInterpreter),
            [text] if !text.contains(['$', '`']) => self.read_deeper(text),
            _ => self.sink.emit_hidden("PowerShell that runs text"),
        }
    }

    /// `[IO.File]::Delete("x")`: what types of .NET do.
    fn read_statics(&mut self, plain: &Plain) {
        for call in static_calls(plain) {
            let Some(effects) = call.effects() else {
                return self.sink.emit_hidden("PowerShell that calls .NET");
            };
            // When it is called is not known.
            let set = |name: String| self.variables.iter().any(|v| v.name == name && v.times > 1);
            if !effects.is_empty() && variable_name(call.first).is_some_and(set) {
                return self.sink.emit_hidden("a file that stands in a variable");
            }
            for word in effects {
                for value in self.paths_of(call.first) {
                    self.sink.out.code_path(*word, &value);
                }
            }
        }
    }
}

/// A call of a type's own method.
pub(super) struct StaticCall<'t> {
    /// The type and the method, in small letters and without `System.`; None = not to be told.
    member: Option<String>,
    /// What is given first, without quotes.
    first: &'t str,
}

impl StaticCall<'_> {
    /// What is called.
    pub(super) fn name(&self) -> String {
        self.member.clone().unwrap_or_else(|| "::".to_string())
    }

    /// What it does to the file that is given first. None = it is not known.
    pub(super) fn effects(&self) -> Option<&'static [Word]> {
        let member = self.member.as_deref()?;
        let whole = member.rsplit_once('.').is_some_and(|(name, _)| HARMLESS.contains(&name));
        match member {
            member if whole || HARMLESS.contains(&member) => Some(&[]),
            member if READING.contains(&member) => Some(&[Word::Read]),
            member if WRITING.contains(&member) => Some(&[Word::Write]),
            "io.file.delete" => Some(&[Word::Delete]),
            _ => None,
        }
    }
}

/// Each `::` of a text's code.
pub(super) fn static_calls(plain: &Plain) -> impl Iterator<Item = StaticCall<'_>> {
    plain.code.match_indices("::").map(|(at, _)| {
        let (before, behind) = (&plain.code[..at], &plain.text[at + 2..]);
        let end = behind.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(behind.len());
        let name = before.strip_suffix(']').and_then(type_name);
        let member = name.map(|name| {
            let name = name.to_ascii_lowercase();
            let name = name.strip_prefix("system.").unwrap_or(&name);
            format!("{name}.{}", behind[..end].to_ascii_lowercase())
        });
        let given = behind[end..].strip_prefix('(').unwrap_or_default().trim_start();
        let first = match given.chars().next() {
            Some(quote @ ('"' | '\'')) => given[1..].split(quote).next(),
            _ => given.split([',', ')']).next(),
        };
        StaticCall { member, first: first.unwrap_or_default().trim() }
    })
}

/// The name of a type that stands last in a text, without the types that it holds: `[List[string`.
fn type_name(text: &str) -> Option<&str> {
    let whole = text.rfind(['[', ']']).filter(|at| text[*at..].starts_with('['));
    let name = match whole {
        Some(at) => &text[at + 1..],
        None => {
            let outer = text.strip_suffix(']')?;
            let inner = outer.rfind('[')?;
            let name = &outer[..inner];
            &name[name.rfind('[')? + 1..]
        }
    };
    Some(name)
}
