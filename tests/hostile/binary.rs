//! The program itself under other names, made by earlier calls: links of both kinds and copies of the very binary.

use std::fs;
use std::os::unix::fs::symlink;

use crate::scene::{Expect, Row, Scene, Skip, attempt, program};

/// What runs is the copy in this scene's home, so that all of its names lie on one disk.
fn names(scene: &mut Scene) -> Result<(), Skip> {
    let own = scene.at("home/.local/bin/hookctl");
    fs::create_dir_all(own.parent().unwrap())?;
    fs::copy(program(), &own)?;
    symlink(&own, scene.at("project/soft"))?;
    symlink("soft", scene.at("project/twice"))?;
    fs::hard_link(&own, scene.at("project/hard"))?;
    fs::copy(&own, scene.at("project/copy"))?;
    fs::copy("/bin/true", scene.at("project/other"))?;
    scene.program = own;
    Ok(())
}

pub fn rows() -> Vec<Row> {
    let stopped = [
        "./soft pause",
        "./twice trust",
        "./copy uninstall",
        "./hard pause 24h",
        "./hard init --force",
        "cd ..; project/copy trust",
        "bash -c './hard pause'",
        "env -u CLAUDECODE ./copy pause",
        "script -qc './copy pause' /dev/null",
        "cp copy third; ./third pause",
        "ln hard third && ./third trust",
        "mv soft third; ./third pause",
        "f=./copy; $f pause",
        "find . -name copy -exec {} pause \\;",
        "cp /bin/true soft",
        ": > hard",
        "truncate -s 0 twice",
        "dd if=/dev/zero of=hard",
        "chmod 000 soft",
        "cat other > ~/.local/bin/hookctl",
    ];
    let passed = [
        "./soft status",
        "./twice check",
        "./copy log",
        "./other pause",
        "PATH=.:$PATH; other pause",
        "cp other third; ./third pause",
        "cp /bin/true other",
        ": > other",
        "chmod 755 other",
        "ls -l soft hard copy",
        "rm other",
    ];
    let row = |command: &'static str, expect| {
        attempt(command, expect, move |s: &mut Scene| {
            names(s)?;
            s.call(command);
            Ok(())
        })
    };
    stopped
        .map(|command| row(command, Expect::Strict))
        .into_iter()
        .chain(passed.map(|command| row(command, Expect::Passed)))
        .collect()
}
