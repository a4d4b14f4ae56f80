//! Where a process comes from: its parents, the leader of its session and whoever holds its terminal,
//! and whether an agent is among them.

use super::process::{self, Process};
use crate::effect::program::table::{self, Class};
use crate::env;

/// How many processes are looked at.
const MOST: usize = 512;

/// Directories of packages that are agents, a line each: these names follow each other in a path.
const PACKAGES: &str = include_str!("packages.txt");

/// Where terminals and logins of humans come from: the name of a program a line.
const TERMINALS: &str = include_str!("terminals.txt");

/// Where the walk ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// At a terminal or a login.
    Human,
    /// At a process that tells nothing: its name.
    Unknown(String),
}

/// What is known of where a process comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lineage {
    /// What says that an agent is behind it.
    pub(super) agent: Option<String>,
    /// Where the parents end.
    pub(super) origin: Origin,
}

impl Lineage {
    /// That of this process.
    pub(super) fn of_this() -> Lineage {
        Lineage::from_process(
            std::process::id(),
            &process::read_process,
            &process::related_processes(std::process::id()),
        )
    }

    /// That of a process. `beside` are processes that it belongs to and may not descend from: the leader of
    /// its session, the holder of its terminal.
    fn from_process(start: u32, look: &dyn Fn(u32) -> Option<Process>, beside: &[u32]) -> Lineage {
        let mut seen = Vec::new();
        let mut origin = Origin::Unknown("nothing is known of its parents".into());
        for (at, first) in std::iter::once(&start).chain(beside).enumerate() {
            let mut next = Some(*first);
            while let Some(pid) = next.filter(|pid| *pid > 0 && !seen.contains(pid)) {
                if seen.len() >= MOST {
                    break;
                }
                seen.push(pid);
                let Some(process) = look(pid) else { break };
                // What this process is, its caller has looked at.
                if pid != start
                    && let Some(agent) = of_agent(&process, at == 0)
                {
                    return Lineage { agent: Some(agent), origin };
                }
                if origin != Origin::Human {
                    origin = match is_terminal(&process.names) {
                        true => Origin::Human,
                        false if at == 0 => {
                            Origin::Unknown(format!("they end at {}", describe_process(&process)))
                        }
                        false => origin,
                    };
                }
                next = Some(process.parent);
            }
        }
        Lineage { agent: None, origin }
    }
}

/// What says that the process is an agent, or works for one.
fn of_agent(process: &Process, is_parent: bool) -> Option<String> {
    let kin = if is_parent { "the parent process" } else { "the terminal's process" };
    if let Some(name) = is_agent(&process.names).or_else(|| script_of(process)) {
        return Some(format!("{kin} {name} (PID {})", process.pid));
    }
    if process.candidate_paths().any(is_package) {
        return Some(format!("{kin} {}", describe_process(process)));
    }
    let mark = env::AGENT_MARKS.iter().find(|mark| process.variables.iter().any(|v| v == *mark))?;
    Some(format!("{mark} in the environment of {kin} {}", describe_process(process)))
}

fn describe_process(process: &Process) -> String {
    let name = process.names.first().map_or("?", String::as_str);
    format!("{} (PID {})", super::make_typeable(name), process.pid)
}

/// The agent that one of these is the name of.
fn is_agent(names: &[String]) -> Option<String> {
    names.iter().map(|name| name_stem(name).to_ascii_lowercase()).find_map(|stem| {
        let parts = stem.match_indices(['-', '_', '.']).map(|(at, _)| &stem[..at]);
        let built = parts.filter(|program| is_built_for(&stem, program));
        let mut known = std::iter::once(stem.as_str()).chain(built);
        known.find(|name| table::has_class(name, Class::Agent, &[])).map(String::from)
    })
}

/// Is one of these the name of a terminal or a login?
fn is_terminal(names: &[String]) -> bool {
    let is = |name: &str, known: &str| {
        name.eq_ignore_ascii_case(known) || is_built_for(&name.to_ascii_lowercase(), known)
    };
    names.iter().any(|name| TERMINALS.lines().any(|known| is(name_stem(name), known)))
}

/// The name without its directory, a login shell's dash and the ends of programs and scripts.
fn name_stem(name: &str) -> &str {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let base = base.strip_prefix('-').unwrap_or(base);
    let ends =
        [".exe", ".js", ".mjs", ".cjs", ".ts", ".py", ".sh", ".cmd", ".AppImage", "-wrapped"];
    let base = base.strip_prefix('.').filter(|rest| rest.ends_with("-wrapped")).unwrap_or(base);
    ends.iter().find_map(|end| base.strip_suffix(end)).unwrap_or(base)
}

/// `codex-x86_64-unknown-linux-musl`, `claude-linux-x64`; a process's short name may end within.
fn is_built_for(name: &str, program: &str) -> bool {
    const PLATFORMS: &[&str] = &["linux", "darwin", "win32", "x86_64", "aarch64", "x64", "arm64"];
    let rest = name.strip_prefix(program).and_then(|rest| rest.strip_prefix(['-', '_', '.']));
    rest.is_some_and(|rest| PLATFORMS.iter().any(|platform| rest.starts_with(platform)))
}

/// The agent whose script an interpreter runs.
fn script_of(process: &Process) -> Option<String> {
    let program = process.args.first()?;
    let interprets = |name: &str| {
        let name = name_stem(name).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        [Class::Interpreter, Class::Runner].iter().any(|class| table::has_class(name, *class, &[]))
    };
    if !interprets(program) && !process.names.iter().any(|name| interprets(name)) {
        return None;
    }
    // What stands behind an option may be its value, and the script the word behind that.
    let words: Vec<&String> = process.args.iter().skip(1).take(8).collect();
    let first = words.iter().position(|word| !word.starts_with('-'))?;
    let option = first.checked_sub(1).map_or("", |at| words[at].as_str());
    if matches!(option, "-c" | "-e" | "-p" | "-ic" | "-lc") {
        return None;
    }
    let most = if option.is_empty() { 1 } else { 2 };
    let words: Vec<String> =
        words[first..].iter().take(most).map(|word| word.to_string()).collect();
    is_agent(&words)
}

fn is_package(path: &str) -> bool {
    let path = format!("/{}/", path.replace('\\', "/"));
    PACKAGES.lines().any(|package| path.contains(&format!("/{package}/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The system keeps so many characters of a process's name.
    const LINUX_NAME: usize = 15;

    fn process(pid: u32, parent: u32, line: &str) -> Process {
        let args: Vec<String> = line.split(' ').map(String::from).collect();
        let names = vec![name_stem(&args[0]).chars().take(LINUX_NAME).collect()];
        Process { pid, parent, names, args, ..Process::default() }
    }

    fn agent_of(lines: &[&str]) -> Option<String> {
        let all: Vec<Process> =
            (1..).zip(lines).map(|(pid, line)| process(pid, pid.saturating_sub(1), line)).collect();
        let look = |pid: u32| all.iter().find(|one| one.pid == pid).cloned();
        Lineage::from_process(lines.len() as u32, &look, &[]).agent
    }

    #[test]
    fn agents_are_known_by_name_package_and_script() {
        for line in [
            "claude",
            "/home/x/.local/share/claude/versions/2.1.329",
            "node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js --resume",
            "node --no-warnings /usr/local/bin/gemini",
            "bun /x/node_modules/opencode-ai/bin/run",
            "codex",
            "/opt/codex-x86_64-unknown-linux-musl exec",
            "copilot",
            "/home/x/.local/share/cursor-agent/versions/1/node x.js",
            "python3.12 -m aider",
            "/usr/bin/python3 /home/x/.local/bin/aider",
            "sh /opt/claude",
            "goose session",
            "C:\\x\\claude.exe",
            "Claude",
            "kiro-cli chat",
            "windsurf",
            "droid",
            "amp",
            "qwen",
        ] {
            assert!(
                agent_of(&["sshd", "bash", line, "script -c x", "sh -c x", "hookctl"]).is_some(),
                "{line}"
            );
        }
    }

    #[test]
    fn others_are_not() {
        for line in [
            "-bash",
            "bash /home/claude/bin/x.sh",
            "vim claude.md",
            "bash -c claude",
            "make claude",
            "node /srv/app.js claude codex",
            "python3 -m http.server",
            "claudette",
            "code",
            "/home/codex/bin/tool",
        ] {
            assert_eq!(agent_of(&["sshd", line, "hookctl"]), None, "{line}");
        }
    }

    #[test]
    fn the_walk_ends_on_loops_and_says_where() {
        let look = |pid: u32| Some(process(pid, if pid == 9 { 7 } else { pid + 1 }, "bash"));
        let lineage = Lineage::from_process(7, &look, &[]);
        assert_eq!(lineage.agent, None);
        assert!(matches!(lineage.origin, Origin::Unknown(_)));
        let look = |pid: u32| Some(process(pid, pid - 1, if pid == 2 { "sshd" } else { "bash" }));
        assert_eq!(Lineage::from_process(5, &look, &[]).origin, Origin::Human);
    }

    #[test]
    fn marks_and_holders_of_the_terminal_count() {
        let mut marked = process(3, 1, "tmux: server");
        marked.variables = vec!["PATH".into(), "CLAUDECODE".into()];
        let all =
            [process(5, 1, "hookctl"), marked, process(4, 2, "node x"), process(2, 1, "codex")];
        let look = |pid: u32| all.iter().find(|one| one.pid == pid).cloned();
        assert_eq!(Lineage::from_process(5, &look, &[]).agent, None);
        let server = Lineage::from_process(5, &look, &[3]).agent.unwrap();
        assert!(server.starts_with("CLAUDECODE in the environment of the terminal's"), "{server}");
        assert!(Lineage::from_process(5, &look, &[4]).agent.unwrap().contains("codex (PID 2)"));
    }
}
