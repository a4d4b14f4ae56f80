//! hookctl: one small program that coding agents spawn at every hook event.
//!
//! The folders are the steps of the flow: `agent` parses the payload into an `event`, `effect`
//! reduces its tool call to effects, `rule` holds the rules of all layers, `engine` judges,
//! `act` runs what rules run, `agent` renders the answer, `journal` keeps a line of it.

pub mod agent;
pub mod cli;
pub mod effect;
pub mod env;
pub mod event;
pub mod paths;
pub mod settings;
pub mod verdict;
