//! hookctl: argv only; `hook` goes straight to the hook path, all else to clap.

fn main() -> std::process::ExitCode {
    hookctl::cli::main(std::env::args_os())
}
