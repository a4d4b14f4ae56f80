//! Effects: the small vocabulary that every tool call of every agent is reduced to.
//!
//! `word.rs` and `analysis.rs` own the words and the shapes; `tool.rs` maps tools to them, `shell.rs`
//! walks shell commands, `program.rs` knows what programs do, `path.rs` makes paths absolute.

pub mod analysis;
pub mod archive;
pub mod decode;
pub mod emitter;
pub mod flow;
pub mod git_file;
pub mod guarded;
pub mod host;
pub mod look;
pub mod own;
pub mod patch;
pub mod path;
pub mod place;
pub mod program;
pub mod secret;
pub mod shell;
pub mod tool;
pub mod value;
mod variable;
pub mod windows;
pub mod word;

pub use self::analysis::{
    AllowScope, Analysis, Arg, Effect, Extent, Grade, Opt, Origin, Package, Source, SubCommand,
    Target, Twin,
};
pub use self::place::{Guarded, Place};
pub use self::word::Word;
use crate::event::Event;
use crate::limits::{self, Stage};

/// What would this event's tool call do? Events without a call have no effects.
pub fn analyse_event(event: &Event, place: &Place) -> Analysis {
    limits::begin_event();
    analyse_more(event, place)
}

/// The same for an event whose budget has begun: its call with another input.
pub fn analyse_more(event: &Event, place: &Place) -> Analysis {
    limits::enter_stage(Stage::Analysis);
    if event.kind.is_tool() { tool::analyse_tool_call(event, place) } else { Analysis::default() }
}
