//! The server in this user's session: a systemd user unit, or a launchd agent.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hookctl::cli::{self, Exit};
use hookctl::files;
use hookctl::paths::Paths;

use crate::options::Options;

/// What tells our file from another's.
const MARK: &str = "written by hookctl serve install";
/// The largest file that is looked at, in bytes.
const LARGEST: u64 = 64 << 10;

struct Unit {
    path: PathBuf,
    text: String,
    start: String,
    stop: String,
}

/// Runs what starts or stops it. Where there is no such session, say over ssh, a human has to.
fn run(commands: &str) -> bool {
    let null = std::process::Stdio::null;
    let mut shell = std::process::Command::new("/bin/sh");
    let done = shell.args(["-c", commands]).stdin(null()).stdout(null()).stderr(null()).status();
    done.is_ok_and(|status| status.success())
}

/// Writes the file, and starts the server, or says how.
///
/// # Errors
/// Where a file of somebody else is there, or it cannot be written.
pub fn install(paths: &Paths, options: &Options) -> Result<Exit> {
    let unit = unit(paths, &arguments(options)?)?;
    refuse_others(&unit)?;
    let directory = unit.path.parent().context("a file in a directory")?;
    std::fs::create_dir_all(directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    cli::write_private(&unit.path, unit.text.as_bytes())?;
    let started = match run(&unit.start) {
        true => "The server runs, and starts with every session of yours.".to_string(),
        false => format!("Start it: {}", unit.start),
    };
    cli::print(&format!("Wrote {}.\n{started}\n", unit.path.display()))
}

/// Stops the server, or says how, and takes the file away.
///
/// # Errors
/// Where it is somebody else's, or cannot be removed.
pub fn uninstall(paths: &Paths) -> Result<Exit> {
    let unit = unit(paths, &[])?;
    refuse_others(&unit)?;
    let stopped = run(&unit.stop);
    match std::fs::remove_file(&unit.path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return cli::print(&format!("{} is not there.\n", unit.path.display()));
        }
        removed => removed.with_context(|| format!("cannot remove {}", unit.path.display()))?,
    }
    let stopped = match stopped {
        true => "The server is stopped.".to_string(),
        false => format!("Stop the server: {}", unit.stop),
    };
    cli::print(&format!("Removed {}.\n{stopped}\n", unit.path.display()))
}

fn refuse_others(unit: &Unit) -> Result<()> {
    match files::read_text(&unit.path, LARGEST) {
        Ok(text) if !text.contains(MARK) => {
            bail!("{} is not hookctl's: left as it is", unit.path.display())
        }
        _ => Ok(()),
    }
}

/// The server's command line, as it was given here.
fn arguments(options: &Options) -> Result<Vec<String>> {
    let serving = &options.serving;
    let mut all = vec![as_text(&own_program()?)?];
    let mut add = |flag: &str, value: String| all.extend([flag.to_string(), value]);
    for (flag, path) in [
        ("--config", &options.config),
        ("--state", &options.state),
        ("--rules", &serving.rules),
        ("--tls-cert", &serving.tls_cert),
        ("--tls-key", &serving.tls_key),
    ] {
        if let Some(path) = path {
            add(flag, as_text(&absolute(path)?)?);
        }
    }
    if let Some(database) = &options.database {
        let is_url = database.contains("://");
        add(
            "--database",
            if is_url { database.clone() } else { as_text(&absolute(database.as_ref())?)? },
        );
    }
    for (flag, value) in [
        ("--port", serving.port.to_string()),
        ("--listen", serving.listen.to_string()),
        ("--approvals", serving.approvals.to_string()),
        ("--answer-within", serving.answer_within.to_string()),
        ("--stale-after", serving.stale_after.to_string()),
        ("--heartbeat", serving.heartbeat.to_string()),
    ] {
        add(flag, value);
    }
    for (flag, value) in [
        ("--public-url", &serving.public_url),
        ("--trust-header", &serving.trust_header),
        ("--ntfy", &serving.ntfy),
        ("--webhook", &serving.webhook),
    ] {
        if let Some(value) = value {
            add(flag, value.clone());
        }
    }
    if let Some(port) = serving.bridge {
        add_flag(&mut all, "--bridge", port.map(|port| port.to_string()));
    }
    if let Some(bad) = all.iter().find(|one| one.contains(char::is_control)) {
        bail!("{bad:?} cannot stand in a unit");
    }
    Ok(all)
}

fn add_flag(all: &mut Vec<String>, flag: &str, value: Option<String>) {
    all.push(flag.into());
    all.extend(value);
}

/// A path as a unit names it: one that is no text would be another there.
fn as_text(path: &Path) -> Result<String> {
    let text = path.to_str().with_context(|| format!("{path:?} cannot stand in a unit"))?;
    Ok(text.into())
}

fn unit(paths: &Paths, arguments: &[String]) -> Result<Unit> {
    Ok(match std::env::consts::OS {
        "macos" => launchd(paths, arguments),
        "windows" => {
            bail!("there is no service for Windows yet: start `hookctl serve` at login yourself")
        }
        _ => systemd(paths, arguments),
    })
}

fn systemd(paths: &Paths, arguments: &[String]) -> Unit {
    let command: Vec<String> = arguments.iter().map(|one| quote_for_systemd(one)).collect();
    Unit {
        path: paths.home.join(".config/systemd/user/hookctl-serve.service"),
        text: format!(
            "# {MARK}\n[Unit]\nDescription=hookctl approval server\n\n[Service]\nExecStart={}\nRestart=on-failure\n\
             RestartSec=2\nNoNewPrivileges=yes\n\n[Install]\nWantedBy=default.target\n",
            command.join(" ")
        ),
        start: "systemctl --user daemon-reload && systemctl --user enable --now hookctl-serve"
            .into(),
        stop: "systemctl --user disable --now hookctl-serve".into(),
    }
}

fn launchd(paths: &Paths, arguments: &[String]) -> Unit {
    let strings: String =
        arguments.iter().map(|one| format!("    <string>{}</string>\n", escape_xml(one))).collect();
    let path = paths.home.join("Library/LaunchAgents/io.hookctl.serve.plist");
    Unit {
        text: format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- {MARK} -->\n<plist version=\"1.0\">\n<dict>\n  \
             <key>Label</key>\n  <string>io.hookctl.serve</string>\n  <key>ProgramArguments</key>\n  <array>\n\
             {strings}  </array>\n  <key>RunAtLoad</key>\n  <true/>\n  <key>KeepAlive</key>\n  <true/>\n</dict>\n</plist>\n"
        ),
        start: format!("launchctl bootstrap gui/$(id -u) '{}'", path.display()),
        stop: "launchctl bootout gui/$(id -u)/io.hookctl.serve".into(),
        path,
    }
}

/// One word of ExecStart: `%` and `$` mean something there even in quotes.
fn quote_for_systemd(text: &str) -> String {
    let text =
        text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    format!("\"{text}\"")
}

fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// What the server says of itself to `install`.
fn own_program() -> Result<PathBuf> {
    std::env::current_exe().context("cannot tell where this program is")
}

/// Is it a path that stays?
fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("cannot tell where {} is", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stay_one_word_each() {
        let paths = Paths::below_home("/home/dev".into());
        let words = ["/opt/a b/hookctl-serve".to_string(), "100%$HOME\"<&".into()];
        let text = systemd(&paths, &words).text;
        assert!(
            text.contains("ExecStart=\"/opt/a b/hookctl-serve\" \"100%%$$HOME\\\"<&\"\n"),
            "{text}"
        );
        let text = launchd(&paths, &words).text;
        assert!(text.contains("<string>100%$HOME\"&lt;&amp;</string>"), "{text}");
    }
}
