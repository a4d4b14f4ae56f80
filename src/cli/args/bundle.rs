//! The command line of `hookctl bundle`.

use std::path::PathBuf;

use clap::ArgMatches;

use super::table::{CommandForm, CommandRow, More, OptionRow, OptionValue, Options, ValueKind};

options! {
    /// `hookctl bundle`.
    pub struct BundleArgs(AFTER = "bundle.txt") {
        /// What to do.
        command: Option<BundleCommand>,
        /// Print one JSON object.
        json: bool [More::Global],
    }
}

commands! {
    /// What `hookctl bundle` does.
    pub enum BundleCommand {
        /// Make a bundle of rule files.
        Build(BuildArgs) = "build" Listed,
        /// Sign it with a secret key of minisign that no password locks.
        Sign(SignArgs) = "sign" Listed,
        /// Say whether it counts: signature, day and rules.
        Verify(VerifyArgs) = "verify" Listed,
    }
}

options! {
    /// `hookctl bundle build`.
    pub struct BuildArgs {
        /// The rule files.
        files: Vec<PathBuf> = "FILE" [More::Operand, More::Required],
        /// The bundle that is written.
        output: PathBuf = "FILE" [More::Short('o'), More::Required],
        /// When it should have been replaced.
        expires: String = "DURATION" [More::Default("90d")],
        /// Its version; a machine takes no lower one than it has [default: seconds since 1970].
        number: Option<u32> = "N",
    }
}

options! {
    /// `hookctl bundle sign`.
    pub struct SignArgs {
        /// The bundle.
        file: PathBuf = "FILE" [More::Operand, More::Required],
        /// The secret key.
        key: PathBuf = "FILE" [More::Required],
    }
}

options! {
    /// `hookctl bundle verify`.
    pub struct VerifyArgs {
        /// The bundle.
        file: PathBuf = "FILE" [More::Operand, More::Required],
        /// The public key: its file, or its text.
        key: String = "FILE|TEXT" [More::Required],
    }
}
