//! Files that the call itself made: copies of them, and those that become programs.

use super::{Feed, Walker};
use crate::effect::emitter::{Spot, is_kept};
use crate::effect::guarded;
use crate::effect::path::{normalise_path, split};
use crate::effect::program::table::{self, Class, Role};
use crate::effect::program::{Call, Next, special};
use crate::effect::value::{Printer, Text, Value, looks_like_path};
use crate::effect::variable::is_home;
use crate::effect::{Analysis, Effect, Extent, Grade, Opt, Source, Word, patch};
use crate::limits::Cap;
use crate::names::runner::{BUILDERS, CARRIERS, FETCHING};

/// `/proc/N/exe`, but of another process than the shell's own.
fn is_of_a_process(path: &str) -> bool {
    let rest = path.strip_prefix("/proc/").and_then(|rest| rest.strip_suffix("/exe"));
    rest.is_some_and(|process| !matches!(process, "self" | "thread-self"))
}

/// Programs that write what they are fed into files that their own text or words name.
const WRITERS: &[&str] = &["sed", "gsed", "awk", "gawk", "mawk", "nawk", "perl", "split"];

/// Does it name standard input?
fn is_input(arg: &Value) -> bool {
    let Some(name) = arg.plain_text() else { return false };
    name == "-"
        || name.starts_with('/')
            && matches!(&*normalise_path(name), "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

impl Walker<'_> {
    /// A file that is copied holds what the first one held; tee writes what it is fed.
    pub(super) fn note_copies(&mut self, name: &str, call: &Call, from: usize) {
        if self.out.unread && WRITERS.contains(&name) {
            // What comes in from who knows where lies in the file that the program writes.
            let writes = |e: &&Effect| e.word == Word::Write && e.grade == Grade::Certain;
            let own = self.out.analysis.effects[from..].iter().filter(writes);
            let files = own.filter_map(|e| e.path.as_ref().map(|path| path.resolved.clone()));
            let files: Vec<String> = files.collect();
            self.out.written.extend(files.into_iter().map(|file| (file, None)));
        }
        if !matches!(name, "cp" | "mv" | "install" | "ln" | "link" | "tee" | "rsync" | "ditto") {
            return;
        }
        let operands = call.operands();
        if name != "tee" {
            self.note_renames(call, &operands);
        }
        let spot =
            |w: &mut Self, value: &Value| w.out.locate_exact(value).map(|target| target.resolved);
        match (name, &operands[..]) {
            ("tee", files) => {
                if call.parsed.find_option("-a").is_some() {
                    return;
                }
                let Feed::Text(text) = self.feed.clone() else { return };
                for file in files {
                    if let Some(at) = spot(self, file) {
                        self.out.written.insert(at, Some(text.clone()));
                    }
                }
            }
            ("cp" | "install", [from, to]) if is_input(from) => {
                let held = match &self.feed {
                    Feed::Text(text) => Some(text.clone()),
                    _ if self.out.unread => None,
                    _ => return,
                };
                if let Some(to) = spot(self, to) {
                    self.out.written.insert(to, held);
                }
            }
            (_, [from, to]) => {
                if from.plain_text() == Some("/dev/null") {
                    self.out.emit_emptying(to);
                }
                if let (Some(from), Some(to)) = (spot(self, from), spot(self, to))
                    && let Some(held) = self.out.written.get(&from).cloned()
                {
                    self.out.written.insert(to, held);
                }
            }
            _ => {}
        }
    }

    /// Where copies, links and new names of files are from then on.
    fn note_renames(&mut self, call: &Call, operands: &[Value]) {
        let into = call.parsed.find_option("-t").and_then(|option| option.value.clone());
        let (sources, to) = match (&into, operands) {
            (Some(dir), sources) => (sources, dir.clone()),
            (None, [only]) => (std::slice::from_ref(only), Value::known(".", only.span.clone())),
            (None, [sources @ .., last]) => (sources, last.clone()),
            (None, []) => return,
        };
        let Spot::At(to) = self.out.locate_value(&to, Extent::Exact, true) else { return };
        for source in sources {
            // `cp $(which hookctl) x`: a bare name that no file of this directory has to have.
            let from = match source.plain_text() {
                Some(guarded::NAME) => guarded::NAME.to_string(),
                _ => match self.out.locate_exact(source) {
                    Some(from) => from.resolved,
                    _ => continue,
                },
            };
            let name = split(&from).1.to_string();
            for place in [to.resolved.clone(), format!("{}/{name}", to.resolved)] {
                if place != from {
                    self.out.copies.insert(place, from.clone());
                }
            }
        }
    }

    /// patch, `git apply`, `git am`, apply_patch: the files that the patch itself names, where its text is known.
    pub(super) fn emit_patched_files(&mut self, call: &Call) {
        let row = call.parsed.program.map_or("", |program| program.name);
        if call.is_dry_run() {
            return;
        }
        let value = |name: &str| call.parsed.find_option(name).and_then(|o| o.value.clone());
        let operands = call.operands();
        let (sources, strip) = match row {
            "apply_patch" | "applypatch" => return self.emit_applied_patch(call, &operands),
            // `patch FILE DIFF`
            "patch" => {
                let source = operands.get(1).cloned().or_else(|| value("-i"));
                (source.into_iter().collect(), None)
            }
            "git apply" | "git am" => (operands, Some(1)),
            _ => return,
        };
        let mut texts: Vec<String> = Vec::new();
        for source in sources.iter().filter(|source| !is_input(source)) {
            texts.extend(self.content_of(source));
        }
        if sources.iter().all(is_input) {
            texts.extend(self.fed_text());
        }
        let strip = value("-p").and_then(|v| v.plain_text()?.parse().ok()).or(strip);
        for path in texts.iter().flat_map(|text| patch::patched_files(text, strip)) {
            self.emit_patched(call, Word::Write, path);
        }
    }

    /// apply_patch: its one operand or its standard input is the patch. One that is not known may change any file.
    fn emit_applied_patch(&mut self, call: &Call, operands: &[Value]) {
        let text = match operands.first() {
            Some(patch) => patch.plain_text().map(str::to_string),
            None => self.fed_text(),
        };
        let Some(text) = text else {
            return self.out.push(Word::Write, Grade::Unknown, Source::Operand, call.span.clone());
        };
        for (word, path) in patch::applied_changes(&text) {
            self.emit_patched(call, word, path);
        }
    }

    fn emit_patched(&mut self, call: &Call, word: Word, path: String) {
        let path = Value::known(path, call.span.clone());
        self.out.emit_path(word, &path, Extent::Exact, Grade::Certain, Source::Operand);
    }

    /// The text on the call's standard input, where it is known.
    fn fed_text(&mut self) -> Option<String> {
        match self.feed.clone() {
            Feed::Text(text) => Some(text),
            Feed::File(file) => self.content_of(&file),
            _ => None,
        }
    }

    /// A file's text: what the call wrote there, else what the disk has, within bounds.
    fn content_of(&mut self, file: &Value) -> Option<String> {
        let target = self.out.locate_exact(file)?;
        if let Some(held) = self.out.written.get(&target.resolved) {
            return held.clone();
        }
        let bytes = self.out.read_whole(&target.resolved, Cap::Patch)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A program that no table describes is given hookctl with its words, or in a text behind `-c`: it
    /// may well start it (`daemonize hookctl pause`).
    pub(super) fn handed_to(&self, args: &[Value]) -> Option<Next> {
        if self.out.place.guarded.names.is_empty() {
            return None;
        }
        let is_own = |word: &str| split(word).1 == guarded::NAME;
        let at = args.iter().position(|arg| {
            arg.plain_text().and_then(|text| text.split_whitespace().next()).is_some_and(is_own)
        })?;
        let arg = &args[at];
        if arg.plain_text().is_some_and(|text| text.contains(' ')) {
            let before = at.checked_sub(1).map_or("", |at| args[at].known_start());
            let runs = matches!(before, "-c" | "-e" | "-x" | "--command" | "--exec" | "--");
            return runs.then(|| Next::Script { text: arg.clone(), rest: Vec::new() });
        }
        let rest = args[at + 1..].iter().skip_while(|arg| arg.plain_text() == Some("--"));
        let words = std::iter::once(arg).chain(rest).cloned().collect();
        Some(Next::Words { words, cwd: None, feeds: false })
    }

    /// An agent that is started with another home, or as somebody else, has other settings: nobody
    /// knows what guards it.
    pub(super) fn other_home(
        &mut self,
        name: &str,
        args: &[Value],
        index: usize,
        span: &std::ops::Range<usize>,
    ) {
        let analysis = &self.out.analysis;
        let homes = analysis.environment.iter().any(|name| is_home(name));
        let other = |at: usize| {
            let as_other =
                |effect: &Effect| effect.command == Some(at) && effect.word == Word::Privilege;
            let command = &analysis.commands[at];
            let named = |o: &Opt| o.name.starts_with("-u") || o.name == "--user";
            analysis.effects.iter().any(as_other)
                && (command.name == "su" || command.options.iter().any(named))
        };
        if !homes && !analysis.with_wrappers(Some(index)).into_iter().any(other) {
            return;
        }
        let own = self.out.place.programs;
        let is_agent = |word: &str| {
            let word = split(word).1;
            table::has_class(word.split('@').next().unwrap_or(word), Class::Agent, own)
        };
        let runs = || args.iter().take(4).any(|arg| is_agent(arg.known_start()));
        if is_agent(name) || table::has_class(name, Class::Runner, own) && runs() {
            self.out.emit_unknown("an agent that is started with another home", span.clone());
        }
    }

    /// Is the program that a word names hookctl by another name?
    pub(super) fn is_hookctl(
        &mut self,
        word: &Value,
        name: &str,
        args: &[Value],
        known: bool,
    ) -> bool {
        // As it is written: what Windows means by `./copy` is not what runs here.
        let dir = word.plain_text().map_or("", |text| split(text).0);
        if name == guarded::NAME || self.out.place.guarded.names.is_empty() {
            return false;
        }
        if dir.is_empty() {
            return !known && self.out.is_hookctl_in_path(name, args);
        }
        let Some(target) = self.out.locate_exact(word) else {
            return false;
        };
        if is_of_a_process(&target.lexical) {
            self.out.emit_unknown("a program that is told by its process", word.span.clone());
        }
        self.out.is_hookctl(&target.resolved)
    }

    /// `git clone URL/x && make -C x`, `curl -O URL/x.deb && dpkg -i x.deb`: what the call has fetched is built, installed or applied.
    pub(super) fn emit_unread_build(&mut self, name: &str, call: &Call, from: usize) {
        let row = call.parsed.program;
        let changes = |word: &Word| matches!(word, Word::System | Word::Named("container.write"));
        let installs = row.is_some_and(|row| row.effects.iter().any(changes))
            || self.out.analysis.effects[from..].iter().any(|e| changes(&e.word));
        let builds = BUILDERS.contains(&name)
            || table::find_program(name, &[]).is_some_and(|row| row.recipes.is_some());
        if !installs && !builds || call.parsed.has_mark(table::mark::ONLY) || call.is_dry_run() {
            return;
        }
        let stranger = |feed: &Feed| matches!(feed, Feed::Stream(Printer::Stranger));
        let printed = call.args.iter().any(|arg| match arg.text {
            Text::Pipe(at) => stranger(&self.pipe_feed(at)),
            _ => is_input(arg) && stranger(&self.feed),
        });
        // What was only made or changed here (`sed s/a/b/ x.yaml | kubectl apply -f -`) is no stranger's.
        let printed = printed && self.meets_strangers(name);
        let has = |word: Word| self.out.analysis.effects.iter().any(|effect| effect.word == word);
        let pulls = builds && self.pulls_from_stranger();
        let fetches = !self.out.fetched.is_empty() || has(Word::Network) && has(Word::Write);
        if !printed && !fetches && !pulls {
            return;
        }
        let doubtful = &["make", "cargo", "pip", "pip3", "go"];
        let looks = row.is_some_and(|row| row.complete || row.has_class(Class::Fetcher))
            || !doubtful.contains(&name)
                && call.parsed.operands.first().is_some_and(|at| {
                    call.args[*at].plain_text().is_some_and(|sub| FETCHING.contains(&sub))
                })
                && !installs;
        let here = self.cwd().is_some_and(|dir| self.is_fetched_tree(&dir));
        let touched: Vec<String> = self.out.analysis.effects[from..]
            .iter()
            .filter(|e| matches!(e.word, Word::Read | Word::Execute))
            .filter_map(|e| Some(e.path.as_ref()?.resolved.clone()))
            .collect();
        // A bare word (`npm test`) is no file of what was fetched here, unless it is a whole directory.
        let mut named: Vec<String> = Vec::new();
        for arg in call.args {
            let path = self.out.locate_exact(arg).map(|target| target.resolved);
            let told = arg.plain_text().is_none_or(looks_like_path);
            named.extend(path.filter(|path| {
                told || self.out.fetched.contains(path) || self.is_download(path, from)
            }));
        }
        let recipes = row.and_then(|row| row.recipes).unwrap_or_default().split(' ');
        let recipes = self
            .cwd()
            .into_iter()
            .flat_map(|dir| recipes.clone().map(move |name| format!("{dir}/{name}")));
        let touched: Vec<String> = touched.into_iter().chain(named).collect();
        // Other words of a runner name its data: `npx x data.json`.
        let words = touched.iter().filter(|_| BUILDERS.contains(&name)).cloned();
        // What the row says that it runs is none of its data: `pytest x.py`.
        let mut run: Vec<String> = Vec::new();
        let recipe = call.value("-f").filter(|_| matches!(name, "make" | "gmake" | "just"));
        for value in call.values_of(Role::Runs).into_iter().chain(recipe.cloned()) {
            run.extend(self.out.locate_exact(&value).map(|target| target.resolved));
        }
        let sources: Vec<String> = words.chain(recipes).chain(run).collect();
        let downloaded = sources.iter().any(|path| self.is_download(path, from));
        let unread = printed
            || builds
                && !looks
                && (here
                    || pulls
                    || downloaded
                    || touched.iter().any(|path| self.is_fetched_tree(path)))
            || installs && touched.iter().any(|path| self.is_download(path, from));
        if unread {
            call.does(&mut self.out, Word::Named("package.unread"));
        }
    }

    /// `git pull https://host/x main`: what is not of the project's own remotes lies in its work tree from then on.
    fn pulls_from_stranger(&self) -> bool {
        self.out.analysis.commands.iter().any(|command| {
            let mut words = command.operands.iter().map(|at| command.args[*at].text.as_deref());
            let pulls =
                command.name == "git" && matches!(words.next(), Some(Some("pull" | "fetch")));
            pulls && words.next().flatten().is_some_and(|from| from.contains("://"))
        })
    }

    /// `curl -o x.c URL && gcc x.c && ./a.out`: a program that is made of what the call has fetched is so itself.
    pub(super) fn note_compiled(&mut self, name: &str, call: &Call, from: usize) {
        if !table::has_class(name, Class::Compiler, self.out.place.programs) {
            return;
        }
        let operands = call.operands();
        let of_download = |w: &mut Self, value: &Value| {
            let target = w.out.locate_exact(value).map(|target| target.resolved);
            target.is_some_and(|path| w.is_download(&path, from))
        };
        // `curl URL | gcc -xc - -o x`
        let unread = self.out.unread;
        let came = |w: &mut Self, value: &Value| unread && is_input(value) || of_download(w, value);
        let Some(source) = operands.into_iter().find(|value| came(self, value)) else {
            return;
        };
        // `go run x.go`, `zig run x.zig`, `nim r x.nim`
        let runs = |arg: &Value| matches!(arg.plain_text(), Some("run" | "r" | "-r"));
        if call.args.iter().any(runs) {
            call.does(&mut self.out, Word::Named("package.unread"));
        }
        let stem = source.plain_text().and_then(|text| split(text).1.rsplit_once('.'));
        let made = [Some("a.out"), stem.map(|(stem, _)| stem)];
        let made = made.into_iter().flatten().map(|name| Value::known(name, source.span.clone()));
        let named = call.args.windows(2).filter(|pair| pair[0].plain_text() == Some("-o"));
        let named = named.map(|pair| pair[1].clone());
        made.chain(named).collect::<Vec<_>>().iter().for_each(|file| self.out.fetch_into(file));
    }

    /// Does another program of the call contact a host, or decode? What asks the very cluster that it changes is no stranger.
    fn meets_strangers(&self, name: &str) -> bool {
        let commands = &self.out.analysis.commands;
        let contacts = |effect: &Effect| {
            let by = effect.command.and_then(|at| commands.get(at));
            matches!(effect.word, Word::Network | Word::Listen)
                && by.is_none_or(|command| command.name != name)
        };
        self.out.analysis.effects.iter().any(contacts)
            || commands.iter().any(|command| {
                let row = table::find_row(&command.name, self.out.place.programs);
                row.is_some_and(|row| row.has_class(Class::Decoder))
            })
    }

    /// `cat dump.sql | psql`, `psql -f <(cat dump.sql)`: of what is piped into a client the client reads the files, as
    /// `psql < dump.sql` does.
    pub(super) fn emit_piped_files(&mut self, call: &Call, index: usize) {
        let pipes: Vec<_> =
            call.args.iter().filter(|arg| matches!(arg.text, Text::Pipe(_))).collect();
        if !call.fed && pipes.is_empty() || !special::is_client(call) {
            return;
        }
        let piped = match call.fed {
            true => self.flow.piped.clone(),
            false => 0..0,
        };
        let within = |e: &Effect| {
            pipes.iter().any(|pipe| pipe.span.start <= e.span.start && e.span.end <= pipe.span.end)
        };
        let effects = &mut self.out.analysis.effects;
        let reads = |e: &&Effect| {
            let command = e.command.filter(|command| *command != index);
            e.word == Word::Read && command.is_some_and(|at| piped.contains(&at) || within(e))
        };
        let read: Vec<Effect> = effects.iter().filter(reads).cloned().collect();
        effects.extend(read.into_iter().map(|e| Effect { command: Some(index), ..e }));
    }

    /// `./x & disown`: what was last put into the background goes on when the shell ends, as with nohup.
    pub(super) fn leave_behind(&mut self, index: usize) {
        let left = self.flow.left.take().and_then(|at| self.out.analysis.commands.get(at));
        let Some(left) = left else { return };
        let words = [&left.word].into_iter().chain(&left.args);
        let words = words.map(|arg| Value::known(arg.text.clone().unwrap_or_default(), 0..0));
        let words = std::iter::once(Value::known("nohup", left.span.clone())).chain(words);
        self.start_command(&words.collect::<Vec<_>>(), index);
    }

    /// Does it lie in, or is it, a directory that the call has fetched?
    fn is_fetched_tree(&mut self, path: &str) -> bool {
        let own = path != self.out.place.project && self.out.fetched.iter().any(|dir| dir == path);
        own || self.out.is_fetched(path) && !self.out.resolver.exists(path)
    }

    /// Has the call fetched that file, by what it did before that effect?
    pub(super) fn is_download(&self, path: &str, before: usize) -> bool {
        let effects = &self.out.analysis.effects[..before];
        effects.iter().any(|e| {
            e.word == Word::Write
                && e.grade == Grade::Certain
                && e.path.as_ref().is_some_and(|target| target.resolved == path)
                && !is_kept(&self.out.kept, e)
                && effects.iter().any(|net| net.word == Word::Network && net.command == e.command)
        })
    }

    /// The same of a word, by all that the call did so far.
    pub(super) fn is_downloaded(&mut self, file: &Value) -> bool {
        let target = self.out.locate_exact(file);
        target.is_some_and(|at| self.is_download(&at.resolved, self.out.analysis.effects.len()))
    }

    /// `scp h:x . && sh x`: a file that is not there, and that another program of the call names and brings.
    fn brings(&self, path: &str, command: usize) -> bool {
        let Analysis { commands, effects, .. } = &self.out.analysis;
        let name = split(path).1;
        let does = |word: Word| {
            effects.iter().any(|effect| effect.command == Some(command) && effect.word == word)
        };
        let names = |text: &str| {
            text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-' | '+'))
                .any(|part| part == name)
        };
        // A directory that is filled (`rsync -a h:x/ x/`), but for the one that the call is in.
        let fills = |effect: &Effect| {
            let dir = effect.path.as_ref().filter(|dir| dir.extent.is_wide());
            effect.command == Some(command)
                && effect.word == Word::Write
                && dir.is_some_and(|dir| {
                    let rest = path.strip_prefix(dir.resolved.as_str());
                    rest.is_some_and(|rest| rest.starts_with('/'))
                        && dir.resolved != self.out.place.cwd
                })
        };
        CARRIERS.contains(&commands[command].name.as_str())
            && does(Word::Network)
            && !does(Word::Send)
            && (effects.iter().any(fills)
                || commands[command].args.iter().any(|arg| arg.text.as_deref().is_some_and(names)))
    }

    /// `curl -o x.bat URL & x.bat`: Windows looks for a program where the call is first. In the text of cmd.exe and PowerShell the
    /// name has lost its end.
    pub(super) fn downloaded_here(&mut self, word: &Value, index: usize) -> Option<Value> {
        const ENDS: [&str; 5] = ["bat", "cmd", "exe", "ps1", "msi"];
        let name = word.plain_text()?;
        let commands = &self.out.analysis.commands;
        let shell = commands[index].parent.and_then(|at| commands.get(at));
        let names: Vec<String> = match name.rsplit_once('.') {
            Some((_, end)) if ENDS.contains(&end) => vec![name.to_string()],
            None if shell
                .is_some_and(|one| matches!(&*one.name, "cmd" | "powershell" | "pwsh")) =>
            {
                ENDS.iter().map(|end| format!("{name}.{end}")).collect()
            }
            _ => return None,
        };
        let before = self.out.analysis.effects.len();
        names.into_iter().map(|name| Value::known(format!("./{name}"), word.span.clone())).find(
            |file| {
                let target = self.out.locate_exact(file);
                target.is_some_and(|target| self.is_download(&target.resolved, before))
            },
        )
    }

    /// Does any of the other programs, but for those that run this one?
    pub(super) fn is_carried(&mut self, path: &str, index: usize) -> bool {
        let around = self.out.analysis.with_wrappers(Some(index));
        let mut others = (0..self.out.analysis.commands.len()).filter(|at| !around.contains(at));
        others.any(|at| self.brings(path, at)) && !self.out.resolver.exists(path)
    }

    /// `wget URL/x && chmod +x x`: what the call has fetched becomes a program.
    pub(super) fn made_executable(&mut self, name: &str, call: &Call) {
        let operands = call.operands();
        let Some((mode, files)) = operands.split_first().filter(|_| name == "chmod") else {
            return;
        };
        let mode = mode.known_start();
        let executable = match mode.bytes().all(|b| b.is_ascii_digit()) {
            true => mode.bytes().rev().take(3).any(|b| b % 2 == 1),
            false => mode.split(['+', '=']).skip(1).any(|part| part.contains(['x', 'X'])),
        };
        for file in files.iter().filter(|_| executable) {
            let Some(target) = self.out.locate_exact(file) else {
                continue;
            };
            if self.is_download(&target.resolved, self.out.analysis.effects.len()) {
                let why = "a program that the call itself fetched";
                self.out.emit_unknown(why, call.span.clone());
            }
        }
    }
}
