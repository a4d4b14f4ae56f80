//! hookctl: argv only. `hook`, or no command while stdin is no terminal, goes straight to the
//! hook path, `claude-hook` and its kin straight to a bridge; everything else goes through clap.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::process::ExitCode;

#[cfg(target_env = "musl")]
mod alloc;
#[cfg(all(target_env = "musl", target_arch = "x86_64", panic = "abort"))]
mod features;
#[cfg(all(target_env = "musl", target_arch = "x86_64"))]
mod memory;
#[cfg(all(target_env = "musl", panic = "abort"))]
mod unwind;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: alloc::Allocator = alloc::Allocator;

/// What every command takes, each with a value: they may stand before it.
const GLOBAL: [&str; 3] = ["--config", "--state", "--color"];

fn main() -> ExitCode {
    #[cfg(all(target_env = "musl", target_arch = "x86_64", panic = "abort"))]
    features::assume_none();
    let mut args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let at = command_index(&args);
    let rest = args.get(at..).unwrap_or_default();
    let hook = match rest.first() {
        // `hookctl hook --help` is a question of people.
        Some(first) => first == "hook" && !rest.iter().any(|arg| arg == "--help" || arg == "-h"),
        None => !std::io::stdin().is_terminal(),
    };
    let bridge = if hook { None } else { hookctl::forward::bridge_agent(rest.iter().cloned()) };
    if !hook && bridge.is_none() {
        return hookctl::cli::main(std::env::args_os());
    }
    if at < args.len() {
        args.remove(at);
    }
    ExitCode::from(match bridge {
        Some(agent) => hookctl::forward::main(agent, args),
        None => hookctl::hook::main(args),
    })
}

/// Where the command is among the arguments.
fn command_index(args: &[OsString]) -> usize {
    let mut at = 0;
    while let Some(arg) = args.get(at).and_then(|arg| arg.to_str()) {
        let flag = arg.split_once('=').map_or(arg, |(flag, _)| flag);
        if !GLOBAL.contains(&flag) {
            break;
        }
        at += if flag == arg { 2 } else { 1 };
    }
    at
}
