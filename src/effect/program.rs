//! What programs do: arguments taken apart by the program's table, and the effects that follow.
//!
//! Nothing here knows shell syntax: the input is words that are already expanded, and what has to
//! be run in turn (a wrapper's command, `-c` text) is handed back as [`Next`].

pub mod code;
pub mod effects;
pub mod options;
pub mod packed;
pub mod row;
pub mod special;
pub mod spelling;
pub mod table;
pub mod vocabulary;

pub use effects::{Call, Next, run};
pub use options::{Parsed, parse};
pub use special::{names_git, redirects_git};
