//! hookctl: argv only. `hook`, or no argument while stdin is no terminal, goes straight to the
//! hook path, `claude-hook` and its kin straight to a bridge; everything else goes through clap.

use std::io::IsTerminal as _;
use std::process::ExitCode;

#[cfg(target_env = "musl")]
mod alloc;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: alloc::Allocator = alloc::Allocator;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1).peekable();
    let hook = match args.peek() {
        // `hookctl hook --help` is a question of people.
        Some(first) => {
            first == "hook" && !std::env::args_os().any(|arg| arg == "--help" || arg == "-h")
        }
        None => !std::io::stdin().is_terminal(),
    };
    if hook {
        ExitCode::from(hookctl::hook::main(args.skip(1)))
    } else if let Some(agent) = hookctl::forward::agent(std::env::args_os().skip(1)) {
        ExitCode::from(hookctl::forward::main(agent, args.skip(1)))
    } else {
        hookctl::cli::main(std::env::args_os())
    }
}
