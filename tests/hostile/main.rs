//! The hook as a whole process, killed, stalled and starved: whatever is done to it, one JSON object or nothing
//! leaves on stdout, the exit status is 0 or 2, both in time, and the strict answer wherever a rule that would
//! deny could be read.
//!
//! Each row of a table is one scene with a name; `ROWS=fifo cargo test --test hostile` runs those whose name
//! holds that text. What a machine cannot do (namespaces, another user) is skipped, and said.

#![cfg(target_os = "linux")]
// Limits, masks and descriptors are set between fork and exec, where only system calls are allowed.
#![allow(unsafe_code)]

mod binary;
mod calls;
mod commands;
mod files;
mod limits;
mod play;
mod rules;
mod scene;
mod streams;
mod surroundings;

use play::run;

#[test]
fn every_kind_of_file_at_every_path_that_is_read() {
    run(files::rows());
}

#[test]
fn streams_that_are_closed_full_or_never_end() {
    run(streams::rows());
}

#[test]
fn limits_of_the_process() {
    run(limits::rows());
}

#[test]
fn signals_clocks_environments_and_disks() {
    run(surroundings::rows());
}

#[test]
fn commands_of_rules_that_do_not_behave() {
    run(commands::rows());
}

#[test]
fn rule_files_that_cost_too_much() {
    run(rules::rows());
}

#[test]
fn calls_that_cost_too_much() {
    run(calls::rows());
}

#[test]
fn the_binary_under_other_names() {
    run(binary::rows());
}
