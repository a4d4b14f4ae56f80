//! What the system tells of a process. Linux: /proc. macOS and other Unixes: `ps`, which tells names and
//! parents alone. Windows: nothing, so there the terminal and the typed words are all that is asked for.

/// One process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Process {
    /// Its number.
    pub(super) pid: u32,
    /// That of its parent, 0 where it has none.
    pub(super) parent: u32,
    /// What it is called: the system's short name, its program's, that of its first argument.
    pub(super) names: Vec<String>,
    /// Its program's path, where it is known.
    pub(super) program: Option<String>,
    /// Its arguments.
    pub(super) args: Vec<String>,
    /// The names of the variables that it was started with, where they are known.
    pub(super) variables: Vec<String>,
}

impl Process {
    /// The paths that may say what it is: of its program, and of a script.
    pub(super) fn candidate_paths(&self) -> impl Iterator<Item = &str> {
        let args = self.args.iter().take(4).map(String::as_str);
        self.program.as_deref().into_iter().chain(args)
    }
}

#[cfg(target_os = "linux")]
pub(super) use linux::{read_process, related_processes};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::path::Path;

    use super::Process;
    use crate::files;

    /// How much of a file below /proc is read, in bytes.
    const MOST: u64 = 1 << 20;
    /// The major numbers of pseudoterminals.
    const PTS: std::ops::RangeInclusive<u32> = 136..=143;

    /// The process of that number.
    pub(in super::super) fn read_process(pid: u32) -> Option<Process> {
        let dir = format!("/proc/{pid}");
        let stat = Stat::read_stat(pid)?;
        let program = fs::read_link(format!("{dir}/exe")).ok();
        let program = program.map(|path| path.to_string_lossy().into_owned());
        let args = split_nul(&read_kernel_file(&format!("{dir}/cmdline")));
        let variables = split_nul(&read_kernel_file(&format!("{dir}/environ")));
        let name = |text: &String| text.split('=').next().unwrap_or_default().to_string();
        let mut names = vec![stat.name];
        names.extend(program.clone().map(|path| path.trim_end_matches(" (deleted)").to_string()));
        names.extend(args.first().cloned());
        Some(Process {
            pid,
            parent: stat.parent,
            names,
            program,
            args,
            variables: variables.iter().map(name).collect(),
        })
    }

    /// The leader of its session, the leader of its terminal's foreground group, and the processes that
    /// hold the other end of its terminal.
    pub(in super::super) fn related_processes(pid: u32) -> Vec<u32> {
        let Some(stat) = Stat::read_stat(pid) else { return Vec::new() };
        let mut all = vec![stat.session];
        all.extend(u32::try_from(stat.foreground).ok());
        if PTS.contains(&major(stat.terminal)) {
            let number = (major(stat.terminal) - PTS.start()) * 256 + minor(stat.terminal);
            all.extend(terminal_holders(number));
        }
        all
    }

    fn major(device: u32) -> u32 {
        (device >> 8) & 0xfff
    }

    fn minor(device: u32) -> u32 {
        (device & 0xff) | ((device >> 12) & 0xfff00)
    }

    /// Who has the master of that pseudoterminal open.
    fn terminal_holders(number: u32) -> Vec<u32> {
        let Ok(all) = fs::read_dir("/proc") else { return Vec::new() };
        let pids = all.flatten().filter_map(|one| one.file_name().to_str()?.parse().ok());
        pids.filter(|pid| holds_terminal(*pid, number)).collect()
    }

    fn holds_terminal(pid: u32, number: u32) -> bool {
        let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        files.flatten().any(|file| {
            let master = |path: &Path| path.ends_with("ptmx");
            fs::read_link(file.path()).is_ok_and(|path| master(&path)) && {
                let name = file.file_name();
                let info =
                    read_kernel_file(&format!("/proc/{pid}/fdinfo/{}", name.to_string_lossy()));
                let info = String::from_utf8_lossy(&info).into_owned();
                let index = info.lines().find_map(|line| line.strip_prefix("tty-index:"));
                index.and_then(|index| index.trim().parse().ok()) == Some(number)
            }
        })
    }

    struct Stat {
        name: String,
        parent: u32,
        session: u32,
        terminal: u32,
        foreground: i64,
    }

    impl Stat {
        fn read_stat(pid: u32) -> Option<Stat> {
            let text = String::from_utf8_lossy(&read_kernel_file(&format!("/proc/{pid}/stat")))
                .into_owned();
            // The name may hold anything, brackets as well.
            let (head, rest) = text.rsplit_once(')')?;
            let name = head.split_once('(')?.1.to_string();
            let fields: Vec<&str> = rest.split_whitespace().collect();
            let number = |at: usize| fields.get(at)?.parse::<i64>().ok();
            Some(Stat {
                name,
                parent: u32::try_from(number(1)?).ok()?,
                session: u32::try_from(number(3)?).unwrap_or_default(),
                terminal: number(4)? as u32,
                foreground: number(5)?,
            })
        }
    }

    fn read_kernel_file(path: &str) -> Vec<u8> {
        // What cannot be read tells nothing.
        files::kernel_bytes(Path::new(path), MOST).unwrap_or_default()
    }

    fn split_nul(bytes: &[u8]) -> Vec<String> {
        let parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
    }
}

/// The process of that number.
#[cfg(all(unix, not(target_os = "linux")))]
pub(super) fn read_process(pid: u32) -> Option<Process> {
    use std::process::Command;
    process_of_ps(pid, |what| {
        let out =
            Command::new("/bin/ps").args(["-o", what, "-p", &pid.to_string()]).output().ok()?;
        Some(String::from_utf8_lossy(&out.stdout).into_owned())
    })
}

/// A process of that number as `ps -o WHAT` tells of it.
#[cfg(any(test, all(unix, not(target_os = "linux"))))]
fn process_of_ps(pid: u32, ps: impl Fn(&str) -> Option<String>) -> Option<Process> {
    let ask = |what| ps(what).map(|text| text.trim().to_string()).filter(|text| !text.is_empty());
    let parent = ask("ppid=")?.parse().ok()?;
    let program = ask("comm=");
    let args: Vec<String> =
        ask("args=").unwrap_or_default().split_whitespace().map(String::from).collect();
    let names = program.clone().into_iter().chain(args.first().cloned()).collect();
    Some(Process { pid, parent, names, program, args, variables: Vec::new() })
}

/// The leader of its session.
#[cfg(all(unix, not(target_os = "linux")))]
pub(super) fn related_processes(_pid: u32) -> Vec<u32> {
    let leader = rustix::process::getsid(None);
    leader.into_iter().map(|pid| pid.as_raw_nonzero().get() as u32).collect()
}

/// Nothing is known.
#[cfg(not(unix))]
pub(super) fn read_process(_pid: u32) -> Option<Process> {
    None
}

/// Nothing is known.
#[cfg(not(unix))]
pub(super) fn related_processes(_pid: u32) -> Vec<u32> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ps_of_macos_prints_is_a_process() {
        let ps = |what: &str| match what {
            "ppid=" => Some("  501\n".to_string()),
            "comm=" => Some("/Applications/A B.app/Contents/MacOS/claude\n".to_string()),
            "args=" => Some("node /usr/local/bin/claude -p x\n".to_string()),
            _ => None,
        };
        let process = process_of_ps(700, ps).unwrap();
        assert_eq!((process.pid, process.parent), (700, 501));
        let program = "/Applications/A B.app/Contents/MacOS/claude";
        assert_eq!(process.program.as_deref(), Some(program));
        assert_eq!(process.names, [program, "node"]);
        assert!(process.candidate_paths().any(|path| path == "/usr/local/bin/claude"));
        // Of one that has ended it prints nothing.
        assert_eq!(process_of_ps(700, |_| Some("\n".to_string())), None);
        assert_eq!(process_of_ps(700, |_| None), None);
    }
}
