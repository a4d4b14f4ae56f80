//! Writes the man page from the same definitions as the program's, and packs the documents that the program prints.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[allow(dead_code)]
#[path = "../src/cli/args.rs"]
mod args;

/// The texts that follow the options of commands.
const HELP: &str = "src/cli/help";

/// The scripts that shells read.
const SHELLS: &str = "src/cli/shells";

/// Into OUT_DIR, packed: `documents`, and `failures.md` and `hookctl.1`, which `src/cli/generated.rs` embeds.
pub fn write() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/cli/args.rs");
    println!("cargo::rerun-if-changed=src/cli/args");
    println!("cargo::rerun-if-changed=src/cli/help");
    println!("cargo::rerun-if-changed=src/cli/shells");
    println!("cargo::rerun-if-changed=build/cli.rs");
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let out = Path::new(&out);
    fs::write(out.join("documents"), packed(&documents()?))?;
    println!("cargo::rerun-if-changed=docs/failures.md");
    fs::write(out.join("failures.md"), packed(&fs::read("docs/failures.md")?))?;
    fs::write(out.join("hookctl.1"), packed(&man()?))
}

/// The text that follows a command's options.
fn help(name: &str) -> &'static str {
    fs::read_to_string(Path::new(HELP).join(name)).expect("a command's text").leak()
}

/// What `src/documents.rs` has: each name, then its text.
fn documents() -> io::Result<Vec<u8>> {
    let mut files: Vec<PathBuf> =
        vec!["config/starter.toml".into(), "src/agent/opencode/plugin.js".into()];
    for dir in [HELP, SHELLS] {
        for entry in fs::read_dir(dir)? {
            files.push(entry?.path());
        }
    }
    files.sort();
    let mut all = String::new();
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        all += &format!("{name}\0{}\0", fs::read_to_string(&file)?);
    }
    Ok(all.into_bytes())
}

fn packed(text: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec(text, 10)
}

/// One page: the program, then each command as a section of its own.
fn man() -> io::Result<Vec<u8>> {
    let mut command = args::Cli::command(help).disable_help_subcommand(true);
    command.build();
    let mut page = Vec::new();
    let whole = clap_mangen::Man::new(command.clone());
    whole.render_title(&mut page)?;
    whole.render_name_section(&mut page)?;
    whole.render_synopsis_section(&mut page)?;
    whole.render_description_section(&mut page)?;
    whole.render_options_section(&mut page)?;
    for sub in command.get_subcommands() {
        let title = format!("hookctl {}", sub.get_name()).to_uppercase();
        page.extend_from_slice(format!(".SH \"{title}\"\n").as_bytes());
        let man = clap_mangen::Man::new(sub.clone());
        let mut section = Vec::new();
        man.render_synopsis_section(&mut section)?;
        man.render_description_section(&mut section)?;
        man.render_options_section(&mut section)?;
        man.render_extra_section(&mut section)?;
        // Its sections become parts of this one.
        page.extend_from_slice(
            String::from_utf8_lossy(&section).replace(".SH ", ".SS ").as_bytes(),
        );
    }
    whole.render_extra_section(&mut page)?;
    Ok(page)
}
