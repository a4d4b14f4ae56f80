//! Build-time data.

#[path = "build/cli.rs"]
mod cli;

fn main() {
    cli::write().expect("completions and man page");
}
