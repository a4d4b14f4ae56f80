//! Where the walk stands: what is entered and left again, and what the walk may still cost.

use std::ops::Range;
use std::rc::Rc;

use super::{Feed, Walker};
use crate::effect::analysis::Secrets;
use crate::effect::value::Value;
use crate::limits::{self, Cap};

/// What one step costs of the event's budget.
const STEP: usize = 256;

/// Where the walk stands: whatever changes it enters a frame, and what was before is back behind it.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The text that is walked.
    pub source: Rc<str>,
    /// Where the simple command that runs stands in it.
    pub statement: Range<usize>,
    /// Where everything points that stands in nested text.
    pub fixed: Option<Range<usize>>,
    /// The command that runs the text.
    pub parent: Option<usize>,
    /// How many texts stand around this one.
    pub depth: usize,
    /// Inside text that stands nowhere in the call, or stands there once for several commands.
    pub computed: bool,
    /// The text is zsh's.
    pub zsh: bool,
    /// The text was fish's, and is what it comes to in a POSIX shell.
    pub fish: bool,
    /// Which of its values each variable with several has: name, index, count.
    pub choice: Vec<(String, usize, usize)>,
    /// A variable with several values is taken for one that nobody knows.
    pub blurred: bool,
    /// The functions that are being called.
    pub calls: Vec<String>,
    /// The aliases that are being expanded: an alias is not expanded in its own text.
    pub aliases: Vec<String>,
    /// Inside how many pipelines and background jobs.
    pub concurrent: usize,
    /// The same where the outermost function was called.
    pub bomb_base: usize,
    /// `IFS=, read ...`: how that one command splits.
    pub separators: Option<Value>,
    /// What the present stage of a pipeline prints is only looked at.
    pub only_looked_at: bool,
    /// A walk that only asks whether an item becomes shell text.
    pub probing: bool,
    /// What the unknown parts of the text may hold of secrets.
    pub secrets: Secrets,
}

/// How much a walk had found at some point.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// Effects.
    pub effects: usize,
    commands: usize,
    kept: usize,
    traps: usize,
}

impl Frame {
    /// The call's own text.
    pub fn new(source: &str) -> Frame {
        Frame {
            source: Rc::from(source),
            statement: 0..0,
            fixed: None,
            parent: None,
            depth: 0,
            computed: false,
            zsh: false,
            fish: false,
            choice: Vec::new(),
            blurred: false,
            calls: Vec::new(),
            aliases: Vec::new(),
            concurrent: 0,
            bomb_base: 0,
            separators: None,
            only_looked_at: false,
            probing: false,
            secrets: 0,
        }
    }
}

/// What the walk may still cost.
#[derive(Debug)]
pub struct Room {
    steps: usize,
    /// Where the stack stood at the beginning.
    anchor: usize,
    /// There is none left.
    pub stopped: bool,
}

impl Room {
    /// All of it.
    pub fn new() -> Room {
        Room { steps: 0, anchor: stack_position(), stopped: false }
    }

    /// All of it for a walk inside of another one: the stack is the same.
    pub fn within(outer: &Room) -> Room {
        Room { steps: 0, anchor: outer.anchor, stopped: false }
    }

    /// So many steps are taken that nothing asks for one by one.
    pub fn take_steps(&mut self, steps: usize) {
        self.steps += steps;
    }
}

/// About where the stack stands.
#[inline(never)]
fn stack_position() -> usize {
    let mark = 0_u8;
    std::ptr::from_ref(&mark) as usize
}

impl Walker<'_> {
    /// Walks something in a frame of its own.
    pub(super) fn in_frame<T>(
        &mut self,
        enter: impl FnOnce(&mut Frame),
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.frame.clone();
        enter(&mut self.frame);
        let result = run(self);
        self.frame = outer;
        result
    }

    /// Walks something that is fed so.
    pub(super) fn fed_with<T>(&mut self, feed: Feed, run: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.feed, feed);
        let result = run(self);
        self.feed = outer;
        result
    }

    /// Walks something with these `$0`, `$1` ...
    pub(super) fn with_positionals<T>(
        &mut self,
        words: Vec<Value>,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.positional_parameters();
        self.set_positional(Some(Rc::new(words)));
        let result = run(self);
        self.set_positional(outer);
        result
    }

    /// What was found so far, to come back to.
    pub(super) fn found_so_far(&self) -> Found {
        Found {
            effects: self.out.analysis.effects.len(),
            commands: self.out.analysis.commands.len(),
            kept: self.out.kept.len(),
            traps: self.traps.len(),
        }
    }

    /// Takes back what was found since: nothing is left that speaks of a command that is gone.
    pub(super) fn take_back(&mut self, to: Found) {
        self.out.analysis.effects.truncate(to.effects);
        self.out.analysis.commands.truncate(to.commands);
        self.out.kept.truncate(to.kept);
        self.traps.truncate(to.traps);
    }

    /// Nothing more is walked.
    pub(super) fn stop_walk(&mut self, why: &str) {
        if !self.room.stopped {
            self.room.stopped = true;
            self.out.command = None;
            self.out.emit_unknown(why, 0..self.out.analysis.text.len());
        }
    }

    /// Is there room to go on?
    pub(super) fn has_room(&mut self) -> bool {
        if self.room.stopped {
            return false;
        }
        self.room.steps += 1;
        if !Cap::Steps.admits(self.room.steps) {
            self.room.stopped = true;
        } else if stack_position().abs_diff(self.room.anchor) > limits::STACK {
            self.stop_walk("nested too deep");
        } else if !limits::spend_steps(STEP) {
            self.stop_walk(limits::spent_resource().map_or("", limits::Spent::describe_shortage));
        }
        !self.room.stopped
    }
}
