//! hookctl-serve: the approval server. Agents' hooks ask it, humans answer from a browser or a phone.
//!
//! `store` owns what lasts, `questions` who waits for what, `access` who may do what. `hooks`, `protocol` and `bridge` are the side of agents,
//! `rpc` and `page` that of humans; `cdev` says how calls are told to them, and `judge` what hookctl sees in one.

use std::process::ExitCode;

mod access;
mod bridge;
mod bus;
mod cdev;
mod commands;
mod connect;
mod context;
mod hooks;
mod install;
mod judge;
mod listen;
mod notify;
mod options;
mod page;
mod protocol;
mod questions;
mod rpc;
mod server;
mod sessions;
mod store;

fn main() -> ExitCode {
    commands::main()
}
