//! What is made at build time: the shipped rules and the program tables as static data, shell
//! completions and the man page.

use std::path::{Path, PathBuf};

#[path = "build/cli.rs"]
mod cli;
#[allow(dead_code)]
#[path = "src/glob.rs"]
mod glob;
#[allow(dead_code)]
#[path = "src/limits.rs"]
mod limits;
#[path = "build/names.rs"]
mod names;
#[path = "build/popular.rs"]
mod popular;
#[path = "build/programs.rs"]
mod programs;
#[path = "build/servers.rs"]
mod servers;
#[path = "build/shipped.rs"]
mod shipped;
#[path = "build/tokens.rs"]
mod tokens;
#[path = "build/variables.rs"]
mod variables;

/// Writes what a file of lists comes to into OUT_DIR: `config/NAME.toml` as `NAME.rs`, by `build/NAME.rs`.
fn generate(out: &Path, name: &str, compile: fn(&str) -> Result<String, String>) {
    let file = format!("config/{name}.toml");
    println!("cargo:rerun-if-changed={file}");
    println!("cargo:rerun-if-changed=build/{name}.rs");
    let text = std::fs::read_to_string(&file).expect("a readable list");
    let source = compile(&text).unwrap_or_else(|why| panic!("{file}: {why}"));
    std::fs::write(out.join(format!("{name}.rs")), source).expect("OUT_DIR is writable");
}

/// Where it is.
#[allow(clippy::disallowed_methods)]
fn linker_script(name: &str) -> String {
    let path = format!("build/{name}");
    println!("cargo:rerun-if-changed={path}");
    std::fs::canonicalize(path).expect("the linker scripts are there").display().to_string()
}

fn main() {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    cli::write().expect("completions and man page");
    generate(&out, "names", names::compile);
    generate(&out, "servers", servers::compile);
    popular::generate(&out);
    programs::generate();
    generate(&out, "tokens", tokens::compile);
    generate(&out, "variables", variables::compile);
    shipped::generate(&out);
    // Only where panics abort: the release profile says so, a debug build unwinds.
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    let musl = is("CARGO_CFG_TARGET_ENV", "musl");
    if musl && is("CARGO_CFG_TARGET_ARCH", "x86_64") {
        println!("cargo:rustc-link-arg={}", linker_script("ring.ld"));
    }
    if musl && is("PROFILE", "release") {
        // One mapping for code and constants instead of three: each costs the kernel time at start.
        println!("cargo:rustc-link-arg-bins=-Wl,-z,noseparate-code");
        for script in ["no-unwind.ld", "features.ld", "hot.ld"] {
            println!("cargo:rustc-link-arg-bins=-Wl,-T,{}", linker_script(script));
        }
    }
}
