//! hookctl: argv only. `hook`, or no argument while stdin is no terminal, goes straight to the
//! hook path; everything else goes through clap.

use std::io::IsTerminal as _;
use std::process::ExitCode;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1).peekable();
    match args.peek() {
        Some(first) if first == "hook" => ExitCode::from(hookctl::hook::main(args.skip(1))),
        None if !std::io::stdin().is_terminal() => ExitCode::from(hookctl::hook::main(args)),
        _ => ExitCode::from(2),
    }
}
