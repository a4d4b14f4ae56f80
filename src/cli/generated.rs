//! The texts that the build packs, unpacked: the man page, which it makes from the command line's definitions, the
//! shells' completions, and a document.

use anyhow::{Context as _, Result};
use miniz_oxide::inflate::decompress_to_vec;

use super::args::Shell;
use crate::documents::document;

macro_rules! text {
    ($name:literal) => {
        decompress_text(include_bytes!(concat!(env!("OUT_DIR"), "/", $name)))
    };
}

/// The completions for that shell, which ask `hookctl complete`.
pub(super) fn completions(shell: Shell) -> &'static str {
    document(match shell {
        Shell::Bash => "completions.bash",
        Shell::Zsh => "completions.zsh",
        Shell::Fish => "completions.fish",
        Shell::Powershell => "completions.ps1",
        Shell::Elvish => "completions.elv",
    })
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
