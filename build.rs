//! What is made at build time: the shipped rules as static data, completions and the man page.

#[path = "build/cli.rs"]
mod cli;
#[path = "build/shipped.rs"]
mod shipped;

fn main() {
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    cli::write().expect("completions and man page");
    shipped::generate(&out);
}
