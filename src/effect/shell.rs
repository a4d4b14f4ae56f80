//! Shell text to effects: the only user of the shell parser.
//!
//! The text is parsed once, then walked the way a shell would run it, with an abstract state
//! (variables, functions, directory). Whatever runs in turn (`bash -c`, `eval`, a wrapper's
//! command, a heredoc fed to a shell) is walked in place. What cannot be followed becomes an
//! unknown effect, never nothing; every loop and recursion has a cap that does the same.

mod asked;
mod assign;
mod brace;
mod builtin;
mod call;
mod deep;
mod descriptor;
mod doubt;
mod ends;
mod evaluate;
pub mod fault;
mod files;
mod filter;
mod fish;
mod frame;
mod group;
mod heredoc;
mod input;
mod items;
mod lead;
mod leak;
mod list;
mod listing;
mod literal;
mod marks;
mod members;
mod nested;
mod parameter;
mod pattern;
mod produce;
mod redirect;
mod reread;
mod state;
mod stead;
mod unclosed;
mod visit;
mod windows;
mod word;
mod world;
mod zsh;

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use memchr::memchr2_iter;
use shuck_ast::Span;
use shuck_parser::parser::{Parser, ShellDialect};

use self::frame::{Frame, Room};
use self::lead::Leads;
use self::nested::ends_in_backslash;
use self::state::{ShellState, StateKey, StateValue};
use super::emitter::Emitter;
use super::flow::{self, Flow};
use super::value::{FORGED, Printer, Value, is_forged};
use super::{Analysis, Grade, Place, Source, SubCommand, Word};
use crate::limits::{self, Cap};

/// The option of `shopt` that lets a script use aliases; here they always may be in use.
const ALIASES: &str = "expand_aliases";

/// What a command reads from standard input.
#[derive(Debug, Clone)]
enum Feed {
    /// The terminal, or nothing.
    None,
    /// This text.
    Text(String),
    /// Lines of that shape: paths below a root (find), matches of a glob (ls).
    Lines(Value),
    /// The same, and what is known of their names (`find -name '.env*'`).
    Found(Value, Vec<Value>),
    /// The same, and together they are all that the glob matches (`find -type f`).
    Whole(Value, Option<Value>),
    /// A directory and every path below it (find without a test).
    Tree(Value),
    /// Every name in the current directory (ls).
    Here,
    /// Names without a slash, one per line (date).
    Names,
    /// Names, several on a line.
    Words,
    /// Numbers.
    Numbers,
    /// Lines in which a path is a column (`grep -n`).
    Columns(filter::Columns),
    /// This file's text.
    File(Value),
    /// What somebody prints.
    Stream(Printer),
}

/// What this command line would do.
pub fn analyse_command(text: &str, place: &Place) -> Analysis {
    let mut walker = walk_command(text, place, Flow::default());
    if let Some(flow) = walker.flow.behind_loads() {
        walker = walk_command(text, place, flow);
        walker.out.command = None;
        for path in walker.flow.shown_loads() {
            walker.out.push_effect(
                Word::Read,
                Grade::Certain,
                Some(path),
                None,
                Source::Program,
                0..0,
            );
        }
    }
    let Walker { out, leads, flow, .. } = walker;
    let mut analysis = out.finish();
    flow::settle(&mut analysis, &flow);
    leads.add_to(&mut analysis);
    analysis
}

fn walk_command<'a>(text: &str, place: &'a Place, flow: Flow) -> Walker<'a> {
    let mut walker = Walker { flow, ..Walker::new(place) };
    if is_forged(text) || is_forged(&place.cwd) {
        walker.out.emit_unknown(FORGED, 0..0);
    }
    walker.out.analysis.text = text.to_string();
    walker.extended = names_extended_globs(text);
    walker.as_zsh = walker.extended;
    let cwd = walker.out.cwd.clone();
    walker.walk_whole(text, cwd.clone());
    if std::mem::take(&mut walker.as_zsh) {
        // The agent's shell may be zsh: what it makes of the text comes on top.
        walker.state = ShellState::default();
        walker.frame = Frame { zsh: true, computed: true, ..Frame::new("") };
        walker.walk_whole(text, cwd);
    }
    walker
}

/// The part that is looked at: whole lines, where there are any.
fn cut_to_cap(text: &str) -> &str {
    let mut end = text.len().min(Cap::Text.limit());
    let mut marks = 0;
    let mut before = 0;
    let mut file = 0..0;
    for (at, byte) in text.bytes().take(end).enumerate() {
        if file.contains(&at) {
            continue;
        }
        let mark = match byte {
            b'<' if before == b'<' && file.end < at => {
                file = quoted_body(text, at + 1).unwrap_or(file);
                1
            }
            b';' | b'|' | b'&' | b'<' | b'>' | b'`' => 1,
            // A substitution is a parse of its own.
            b'(' if before == b'$' => 4,
            _ => 0,
        };
        before = byte;
        marks += mark;
        if mark > 0 && !Cap::Marks.admits(marks) {
            end = at;
            break;
        }
    }
    if end == text.len() {
        return text;
    }
    // What is cut off is loud.
    Cap::Text.admits(text.len());
    let head = &text[..text.floor_char_boundary(end)];
    head.rfind('\n').map_or(head, |at| &head[..at])
}

/// Does the text name zsh's option for extended globs, in any spelling that zsh takes, quotes in it included?
fn names_extended_globs(text: &str) -> bool {
    let text = text.as_bytes();
    memchr2_iter(b'x', b'X', text).any(|at| {
        let mut letters = text[at + 1..].iter().filter(|byte| !b"_\"'\\".contains(byte));
        b"tendedglob".iter().all(|own| letters.next().is_some_and(|b| b.eq_ignore_ascii_case(own)))
    })
}

/// The text of a heredoc with a quoted name, whose operator ends there, where `cat` or `tee` is given it: what
/// stands in it is no code.
fn quoted_body(text: &str, at: usize) -> Option<Range<usize>> {
    let line = text[..at].rsplit('\n').next()?;
    let plain = !line.contains(['\'', '"', '`', '$', '(', '#', '\\']);
    let copies = ["cat ", "tee "].iter().any(|name| line.trim_start().starts_with(name));
    let rest = text[at..].trim_start_matches('-');
    let quote = rest.chars().next().filter(|sign| plain && copies && "'\"".contains(*sign))?;
    let name = rest[1..].split(quote).next()?;
    let start = at + text[at..].find('\n')?;
    let mut end = start;
    for line in text[start + 1..].split('\n') {
        if line.trim_start_matches('\t') == name {
            return Some(start..end);
        }
        end += 1 + line.len();
    }
    None
}

/// A text that runs at the end.
struct Trap {
    text: Value,
    /// The command that says so.
    index: usize,
    /// The directory in which it was walked, if it was; and of a function what had happened by then: its variables may change.
    seen: Option<(Option<String>, Option<usize>)>,
}

/// The walk.
struct Walker<'a> {
    /// What is found.
    out: Emitter<'a>,
    /// What is known at this point of the text.
    state: ShellState,
    /// Where the walk stands.
    frame: Frame,
    /// What it may still cost.
    room: Room,
    /// What comes in on standard input.
    feed: Feed,
    /// What can be read from other descriptors that are open, by number or variable.
    descriptors: Vec<(String, Feed)>,
    /// How often `exec` has set it for all that follows.
    refed: usize,
    /// How many substitutions have been walked.
    substitutions: usize,
    /// Texts that a decoder has made in the call.
    decodings: Vec<String>,
    /// Files that hold lists which the call has written there, and how many effects there were by then.
    listed: BTreeMap<String, (Feed, usize)>,
    /// What the pipes of `<(cmd)` give.
    pipes: Vec<Feed>,
    /// What runs at the end.
    traps: Vec<Trap>,
    /// Functions that run by themselves, if they are defined.
    hooks: Vec<String>,
    /// Those that have run.
    hooked: Vec<String>,
    /// zsh reads something of the call's text in a way that makes other commands of it.
    as_zsh: bool,
    /// The text turns on zsh's extended globs.
    extended: bool,
    /// Names that the functions being called have made their own.
    locals: Vec<String>,
    /// What substitutions of the words at hand print by name, beside what they print at all.
    found: Vec<Value>,
    /// The last thing that was evaluated quietly has several values.
    several: bool,
    /// The text of the last heredoc, where the parts of it that are not known end no text in quotes.
    tame: Option<String>,
    /// Files that it runs.
    leads: Leads,
    /// A walk that only asks did find that an item becomes shell text.
    text_of_items: bool,
    /// What may hold a secret.
    flow: Flow,
}

/// What has a place in the text that is walked.
trait InSource {
    fn range_of(self, walker: &Walker) -> Range<usize>;
}

impl InSource for Range<usize> {
    fn range_of(self, _: &Walker) -> Range<usize> {
        self
    }
}

impl InSource for Span {
    fn range_of(self, walker: &Walker) -> Range<usize> {
        walker.source_range(self)
    }
}

impl<'a> Walker<'a> {
    fn new(place: &'a Place) -> Walker<'a> {
        Walker {
            out: Emitter::new(place),
            state: ShellState::default(),
            frame: Frame::new(""),
            room: Room::new(),
            feed: Feed::None,
            descriptors: Vec::new(),
            refed: 0,
            substitutions: 0,
            decodings: Vec::new(),
            found: Vec::new(),
            several: false,
            tame: None,
            listed: BTreeMap::new(),
            pipes: Vec::new(),
            traps: Vec::new(),
            hooks: Vec::new(),
            hooked: Vec::new(),
            as_zsh: false,
            extended: false,
            locals: Vec::new(),
            text_of_items: false,
            leads: Leads::default(),
            flow: Flow::default(),
        }
    }
}

impl Walker<'_> {
    fn source_range(&self, span: Span) -> Range<usize> {
        self.frame.fixed.clone().unwrap_or_else(|| span.start.offset()..span.end.offset())
    }

    /// Text whose commands are not seen: what holds it may run anything.
    fn emit_unseen(&mut self, why: &str, place: impl InSource) {
        let range = place.range_of(self);
        self.out.command = self.frame.parent;
        self.out.emit_unknown(why, range);
    }

    fn cwd(&self) -> Option<String> {
        match self.state.get(&StateKey::Cwd) {
            Some(StateValue::Cwd(cwd)) => cwd.clone(),
            _ => None,
        }
    }

    /// `$0`, `$1` ... where they are known.
    fn positional_parameters(&self) -> Option<Rc<Vec<Value>>> {
        match self.state.get(&StateKey::Positional) {
            Some(StateValue::Positional(values)) => values.clone(),
            _ => None,
        }
    }

    fn set_positional(&mut self, values: Option<Rc<Vec<Value>>>) {
        self.state.set(StateKey::Positional, Some(StateValue::Positional(values)));
    }

    /// Walks the call's own text, from the start.
    fn walk_whole(&mut self, text: &str, cwd: Option<String>) {
        self.out.cwd.clone_from(&cwd);
        self.state.set(StateKey::Cwd, Some(StateValue::Cwd(cwd)));
        self.walk_text(cut_to_cap(text));
        self.run_traps();
    }

    /// Parses a text and walks it, as the source of this frame.
    fn walk_text(&mut self, text: &str) {
        let mut text = self.cut_to_share(text);
        // A backslash at the end is a letter to bash, and to zsh nothing.
        if ends_in_backslash(text) {
            self.as_zsh |= !self.frame.zsh;
            text = if self.frame.zsh { &text[..text.len() - 1] } else { text };
        }
        if text.contains('\0') {
            self.out.emit_unknown("a NUL byte in the command", 0..0);
        }
        let Some(deep) = deep::why_not(text) else { return self.walk_parsed(text) };
        let span = self.frame.fixed.clone().unwrap_or(0..text.len());
        self.out.emit_unknown(deep.why, span.clone());
        // The lines around that one run nevertheless.
        for part in deep::readable_parts(text) {
            self.in_frame(|frame| frame.fixed = Some(span.clone()), |w| w.walk_parsed(part));
        }
    }

    fn walk_parsed(&mut self, text: &str) {
        // This word turns on the parser's own aliases, which lose their quotes and their places.
        let plain = text.contains(ALIASES).then(|| text.replace(ALIASES, "expand-aliases"));
        let read = plain.as_deref().unwrap_or(text);
        let mut result = match self.frame.zsh {
            true => Parser::with_dialect(read, ShellDialect::Zsh).parse(),
            false => Parser::new(read).parse(),
        };
        if !result.is_ok() && text.len() <= limits::RETRY {
            // The agent's shell may as well be zsh.
            let dialect = if self.frame.zsh { ShellDialect::Bash } else { ShellDialect::Zsh };
            let other = Parser::with_dialect(read, dialect).parse();
            if other.is_ok() {
                result = other;
            }
        }
        let mut text = text;
        let closed;
        let whole = self.frame.depth == 0 && plain.is_none() && text == self.out.analysis.text;
        if !result.is_ok()
            && whole
            && let Some(quote) = unclosed::unclosed_quote(text)
        {
            // A shell runs nothing of this. What was meant is judged, and nothing is allowed.
            closed = format!("{text}{quote}");
            let other = Parser::new(&closed).parse();
            if other.is_ok() {
                let why = "a quote that does not end: a shell runs nothing of this";
                self.out.emit_uncovered(why, 0..text.len());
                (result, text) = (other, &closed);
            }
        }
        self.frame.source = Rc::from(text);
        self.doubt_rest(&result.file.body);
        self.walk_list(&result.file.body);
        self.run_hooks();
        if !result.is_ok() {
            let at = result.diagnostics.first().map_or(0, |d| d.span.start.offset());
            let span = self.frame.fixed.clone().unwrap_or(at..text.len());
            let why = result.diagnostics.first().map_or("parse error", |d| d.message.as_str());
            self.out.command = self.frame.parent;
            self.out.emit_unknown(&format!("not understood at byte {at}: {why}"), span);
        }
    }

    /// Walks shell text that a command runs.
    fn walk_nested(&mut self, text: &str, span: Range<usize>, parent: Option<usize>) {
        if !Cap::Depth.admits(self.frame.depth + 1) || !self.has_room() {
            return;
        }
        let fish = self.is_fish(parent);
        let enter = |frame: &mut Frame| {
            frame.depth += 1;
            frame.fixed = Some(span);
            frame.parent = parent;
            frame.choice.clear();
            frame.computed = true;
            frame.fish = fish;
        };
        self.in_frame(enter, |w| match fish {
            true => w.decoded_text(&fish::as_posix(cut_to_cap(text))),
            false => w.decoded_text(text),
        });
    }

    /// Is what that command runs fish's text: its own, or what runs in turn in the same shell?
    fn is_fish(&self, parent: Option<usize>) -> bool {
        let name =
            parent.and_then(|at| self.out.analysis.commands.get(at)).map(|c| c.name.as_str());
        match name {
            Some("fish") => true,
            Some("eval" | "source" | "." | "trap") | None => self.frame.fish,
            Some(name) => self.frame.fish && !nested::is_shell(name, self.out.place.programs),
        }
    }

    /// Walks nested text; one that a decoder has made is an effect of its own.
    fn decoded_text(&mut self, text: &str) {
        // At its end a continued line goes on with nothing.
        let part = match cut_to_cap(text).strip_suffix("\\\n") {
            Some(rest) if !nested::ends_in_backslash(rest) => rest,
            _ => cut_to_cap(text),
        };
        if self.decodings.iter().any(|decoded| text.contains(decoded)) {
            self.out.command = self.frame.parent;
            let span = self.frame.fixed.clone().unwrap_or_default();
            self.out.push(Word::PipeToInterpreter, Grade::Certain, Source::Program, span);
        }
        self.walk_text(part);
    }

    /// A new sub-command; None when the cap is reached.
    fn push_command(&mut self, mut command: SubCommand) -> Option<usize> {
        // Two commands in the same bytes (find -exec from two places): neither can be replaced.
        let twin = self
            .out
            .analysis
            .commands
            .iter_mut()
            .rev()
            .find(|c| c.span == command.span && c.name == command.name);
        if let Some(twin) = twin {
            twin.quoted = true;
            command.quoted = true;
        }
        if !Cap::Commands.admits(self.out.analysis.commands.len() + 1) {
            self.room.stopped = true;
            return None;
        }
        self.out.analysis.commands.push(command);
        Some(self.out.analysis.commands.len() - 1)
    }

    fn fork_bomb(&mut self, span: Range<usize>) {
        if self.out.analysis.commands.iter().any(|c| c.name == "fork-bomb") {
            return;
        }
        let command = self.push_command(SubCommand {
            name: "fork-bomb".to_string(),
            span: span.clone(),
            parent: self.frame.parent,
            quoted: true,
            genuine: true,
            ..SubCommand::default()
        });
        self.out.command = command;
        self.out.push(Word::Process, Grade::Certain, Source::Program, span);
        self.out.add_note("fork bomb");
    }
}
