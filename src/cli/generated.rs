//! The texts that the build packs, unpacked: completions and the man page, which it makes from the command
//! line's definitions, and a document.

use anyhow::{Context as _, Result};
use miniz_oxide::inflate::decompress_to_vec;

use super::args::Shell;

macro_rules! text {
    ($name:literal) => {
        decompress_text(include_bytes!(concat!(env!("OUT_DIR"), "/", $name)))
    };
}

/// The completions for that shell.
///
/// # Errors
/// Where the program itself is damaged.
pub(super) fn completions(shell: Shell) -> Result<String> {
    match shell {
        Shell::Bash => text!("hookctl.bash"),
        Shell::Zsh => text!("hookctl.zsh"),
        Shell::Fish => text!("hookctl.fish"),
        Shell::Powershell => text!("hookctl.ps1"),
        Shell::Elvish => text!("hookctl.elv"),
    }
}

/// The man page.
///
/// # Errors
/// Where the program itself is damaged.
pub(super) fn man() -> Result<String> {
    text!("hookctl.1")
}

/// docs/failures.md.
///
/// # Errors
/// Where the program itself is damaged.
pub(super) fn failures() -> Result<String> {
    text!("failures.md")
}

fn decompress_text(bytes: &[u8]) -> Result<String> {
    let text = decompress_to_vec(bytes).ok().and_then(|text| String::from_utf8(text).ok());
    text.context("this program is damaged: install it again")
}
