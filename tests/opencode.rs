//! OpenCode's plugin, run as OpenCode runs it, where there is a node to run it with.

use std::process::{Command, Stdio};

use hookctl::agent::opencode::COMMAND_LINE;
use hookctl::documents::document;

mod home;

#[test]
fn the_plugin_does_what_the_answer_says() {
    if Command::new("node").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("no node: the plugin is not run");
        return;
    }
    let home = home::make("");
    let mut node = home::command(home.path(), &[]);
    let program = node.get_program().to_owned();
    let variables: Vec<_> = node
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    node = Command::new("node");
    node.env_clear().envs(variables).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    node.args(["tests/opencode/plugin.test.mjs", "src/agent/opencode/plugin.js"]);
    let output = node.arg(home.path()).arg(program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn install_has_one_line_to_write() {
    let lines: Vec<&str> =
        document("plugin.js").lines().filter_map(|line| line.strip_prefix(COMMAND_LINE)).collect();
    let [line] = lines[..] else { panic!("{lines:?}") };
    let command: Vec<String> = serde_json::from_str(line).unwrap();
    assert_eq!(command, ["hookctl", "hook", "--agent", "opencode"]);
}
