//! hookctl: one small program that coding agents spawn at every hook event.
//!
//! The folders are the steps of the flow: `payload` and `agent` turn bytes into an `event`,
//! `effect` reduces its tool call to effects, `config` and `rule` hold the rules of all layers,
//! `engine` judges, `judge` runs what rules run (`act`) and combines it, `agent` renders the
//! answer, `journal` keeps a line of it. `hook` is that flow on one page.

#[macro_use]
mod words;

pub mod act;
pub mod agent;
pub mod bundle;
pub mod cli;
pub mod config;
pub mod desktop;
pub mod dialect;
pub mod documents;
pub mod dry;
pub mod effect;
pub mod engine;
pub mod env;
pub mod event;
pub mod files;
pub mod flags;
pub mod forward;
pub mod glob;
pub mod held;
pub mod hook;
pub mod journal;
pub mod json;
pub mod judge;
pub mod limits;
pub mod marks;
pub mod moment;
mod names;
pub mod once;
pub mod order;
pub mod paths;
pub mod pause;
pub mod payload;
pub mod redact;
pub mod remote;
pub mod rule;
pub mod script;
pub mod settings;
pub mod stdin;
pub mod text;
pub mod threads;
mod tokens;
pub mod trial;
pub mod trust;
pub mod turn;
pub mod verdict;
pub mod watchdog;
