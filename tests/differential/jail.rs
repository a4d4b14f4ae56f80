//! The jail: a root directory that holds bash, the stubs and some files, and the process that runs lines in it.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The shell's directory at the start of every line.
pub const CWD: &str = "/home/dev/project";
/// The user's home.
pub const HOME: &str = "/home/dev";

/// Every program of the jail, in /usr/bin.
pub const PROGRAMS: &[&str] = &[
    "ash", "awk", "base64", "basename", "bash", "busybox", "cat", "chmod", "chown", "chronic",
    "cmp", "cp", "curl", "cut", "dash", "date", "dd", "diff", "dirname", "doas", "docker", "du",
    "echo", "env", "file", "find", "flock", "git", "grep", "head", "id", "install", "ionice", "ln",
    "ls", "make", "mkdir", "mktemp", "mv", "mytool", "nice", "node", "nohup", "nproc", "npm",
    "pkill", "printf", "ps", "pwd", "python3", "rev", "rm", "rmdir", "rsync", "runuser", "scp",
    "sed", "seq", "setsid", "sh", "shred", "sleep", "sort", "ssh", "stat", "stdbuf", "strace",
    "su", "sudo", "tac", "tail", "tar", "taskset", "tee", "time", "timeout", "touch", "tr", "tree",
    "truncate", "uname", "uniq", "unlink", "watch", "wc", "wget", "which", "whoami", "xargs",
    "yes", "zsh",
];

/// Programs elsewhere, and those of the project.
pub const ELSEWHERE: &[&str] = &["/opt/tools/deploy", "/usr/local/bin/mine", "/srv/bin/cleanup"];
/// Programs in directories that lines may change.
pub const OWN_PROGRAMS: &[&str] = &[
    "/home/dev/project/run.sh",
    "/home/dev/project/scripts/build",
    "/home/dev/bin/tool",
    "/tmp/d/prog",
];

/// Files and their text: what globs and `while read` find.
pub const FILES: &[(&str, &str)] = &[
    ("/home/dev/project/a.txt", "alpha\n"),
    ("/home/dev/project/b.txt", "beta one\nbeta two\n"),
    ("/home/dev/project/c.log", ""),
    ("/home/dev/project/1.txt", "1\n"),
    ("/home/dev/project/2.txt", "2\n"),
    ("/home/dev/project/two-words.txt", "x\n"),
    ("/home/dev/project/README.md", "# Read me\n"),
    ("/home/dev/project/.env", "KEY=value\n"),
    ("/home/dev/project/list.txt", "l1.txt\nl2.txt\nl 3.txt\n"),
    ("/home/dev/project/env.sh", "# nothing\n"),
    // Arithmetic on what this holds runs a program.
    ("/home/dev/project/stored", "path[$(mytool stored)]\n"),
    ("/home/dev/project/src/main.c", "int main;\n"),
    ("/home/dev/project/src/util.c", "int util;\n"),
    ("/home/dev/project/src/sub/x.h", "\n"),
    ("/home/dev/project/build/out.o", "\n"),
    ("/home/dev/notes", "note\n"),
    ("/home/dev/.ssh/id", "key\n"),
    ("/tmp/t1", "t\n"),
    ("/tmp/d/t2", "t\n"),
];
const FIXED: &[(&str, &str)] =
    &[("/srv/data/f1", "f\n"), ("/srv/data/f2", "f\n"), ("/etc/conf", "c\n")];

/// One thing that happened in the jail.
#[derive(Debug, Clone)]
pub struct Record {
    /// X = a program, R and W = a file opened by a shell to read or write, N = a host looked up.
    pub kind: char,
    /// Where.
    pub cwd: String,
    /// The program's path and its words from argv[0] on; or the path; or the host.
    pub fields: Vec<String>,
}

/// The shell that runs a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    Bash,
    Zsh,
}

/// What came of one line.
pub struct Outcome {
    /// In the order in which it was written down.
    pub records: Vec<Record>,
    /// It was ended because it took too long.
    pub late: bool,
}

/// A jail with its process.
pub struct Jail {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    _dir: tempfile::TempDir,
    /// This machine has a zsh, and the jail has it too.
    pub zsh: bool,
}

impl Jail {
    /// Builds and enters it; an error says why that is not possible here.
    pub fn new() -> Result<Jail, String> {
        let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
        let root = dir.path().join("root");
        let driver = dir.path().join("driver");
        let zsh = build(&root, &driver)?;
        let mut command = Command::new(&driver);
        command.arg(&root).stdin(Stdio::piped()).stdout(Stdio::piped()).env_clear();
        for name in ["LOUD", "TMPDIR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let mut child = command.spawn().map_err(|e| e.to_string())?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("no output")?;
        let mut jail = Jail { child, input, output, _dir: dir, zsh };
        // It stands if one harmless line runs in it and tells so.
        jail.send(Shell::Bash, "touch it")?;
        let probe = jail.receive()?;
        if probe.records.iter().any(|r| r.fields == ["/usr/bin/touch", "touch", "it"]) {
            Ok(jail)
        } else {
            Err(format!("the jail records {:?} for its first line", probe.records))
        }
    }

    /// Starts a line.
    pub fn send(&mut self, shell: Shell, line: &str) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("closed")?;
        let length = u32::try_from(line.len()).map_err(|e| e.to_string())?;
        input
            .write_all(&length.to_ne_bytes())
            .and_then(|()| input.write_all(if shell == Shell::Zsh { b"z" } else { b"b" }))
            .and_then(|()| input.write_all(line.as_bytes()))
            .and_then(|()| input.flush())
            .map_err(|e| format!("the jail is gone: {e}"))
    }

    /// What came of the line that was sent.
    pub fn receive(&mut self) -> Result<Outcome, String> {
        let mut head = [0_u8; 5];
        self.output.read_exact(&mut head).map_err(|e| format!("the jail is gone: {e}"))?;
        let length = u32::from_ne_bytes([head[1], head[2], head[3], head[4]]);
        let mut log = vec![0; length as usize];
        self.output.read_exact(&mut log).map_err(|e| format!("the jail is gone: {e}"))?;
        Ok(Outcome { records: parse(&log), late: head[0] != 0 })
    }
}

impl Drop for Jail {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

fn parse(mut log: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    while log.len() >= 10 {
        let length: usize = std::str::from_utf8(&log[2..10])
            .ok()
            .and_then(|t| t.parse().ok())
            .unwrap_or(usize::MAX);
        let Some(body) = log[10..].get(..length) else { break };
        let text = String::from_utf8_lossy(body);
        let mut fields = text.strip_suffix('\0').unwrap_or(&text).split('\0').map(str::to_string);
        records.push(Record {
            kind: log[1] as char,
            cwd: fields.next().unwrap_or_default(),
            fields: fields.collect(),
        });
        log = &log[10 + length..];
    }
    records
}

/// Is there a zsh in it?
fn build(root: &Path, driver: &Path) -> Result<bool, String> {
    let inside = |path: &str| root.join(path.trim_start_matches('/'));
    let fail = |what: &str, e: &dyn std::fmt::Display| format!("{what}: {e}");
    let make = |path: &str| std::fs::create_dir_all(inside(path)).map_err(|e| fail(path, &e));
    let write = |path: &str, text: &str| {
        let at = inside(path);
        if let Some(dir) = at.parent() {
            std::fs::create_dir_all(dir).map_err(|e| fail(path, &e))?;
        }
        std::fs::write(&at, text).map_err(|e| fail(path, &e))
    };
    for dir in ["/.real", "/usr/bin", "/dev", "/tmp", HOME] {
        make(dir)?;
    }
    for link in ["bin", "sbin"] {
        std::os::unix::fs::symlink("usr/bin", root.join(link)).map_err(|e| fail(link, &e))?;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/jail");
    compile(&source.join("driver.c"), driver, &["-static"])?;
    compile(&source.join("stub.c"), &inside("/.real/stub"), &["-static"])?;
    compile(&source.join("hook.c"), &inside("/.real/hook.so"), &["-shared", "-fPIC"])?;
    let Some(bash) = shell("bash") else { return Err("no bash on this machine".into()) };
    install(root, "bash", &bash)?;
    let zsh = shell("zsh");
    if let Some(zsh) = &zsh {
        install(root, "zsh", zsh)?;
        for module in modules(zsh)? {
            place(root, &module)?;
        }
        write("/.real/.zshenv", "command_not_found_handler() { /.real/missing \"$@\" }\n")?;
    }
    write("/etc/ld.so.preload", "/.real/hook.so\n")?;
    write("/.jail-of-the-differential-test", "")?;
    write("/.records-of-the-jail", "")?;
    for (path, text) in FIXED {
        write(path, text)?;
    }
    let stub = inside("/.real/stub");
    let elsewhere = ELSEWHERE.iter().map(|p| p.to_string());
    let usual = PROGRAMS.iter().map(|p| format!("/usr/bin/{p}"));
    for path in usual.chain(elsewhere).chain(["/.real/missing".to_string()]) {
        let at = inside(&path);
        if let Some(dir) = at.parent() {
            std::fs::create_dir_all(dir).map_err(|e| fail(&path, &e))?;
        }
        std::fs::hard_link(&stub, at).map_err(|e| fail(&path, &e))?;
    }
    // What the driver puts back after a line that wrote.
    let mut state = String::new();
    let mut dirs: Vec<String> = Vec::new();
    let own = OWN_PROGRAMS.iter().map(|p| (*p, "STUB"));
    for (path, text) in FILES.iter().copied().chain(own) {
        let parts: Vec<usize> = path.match_indices('/').map(|(at, _)| at).skip(1).collect();
        for at in parts {
            let dir = format!("{}/", &path[..at]);
            if !["/home/", "/home/dev/", "/tmp/"].contains(&dir.as_str()) && !dirs.contains(&dir) {
                state.push_str(&format!("{dir}\0\0"));
                dirs.push(dir);
            }
        }
        state.push_str(&format!("{path}\0{text}\0"));
    }
    write("/.state", &state)?;
    for (path, mode) in [("/.records-of-the-jail", 0o666), ("/tmp", 0o755), (HOME, 0o755)] {
        std::fs::set_permissions(inside(path), std::fs::Permissions::from_mode(mode))
            .map_err(|e| fail(path, &e))?;
    }
    Ok(zsh.is_some())
}

fn compile(source: &Path, out: &Path, flags: &[&str]) -> Result<(), String> {
    let done = Command::new("cc")
        .args(["-O1", "-Wall", "-o"])
        .arg(out)
        .args(flags)
        .arg(source)
        .output()
        .map_err(|e| format!("cc: {e}"))?;
    if done.status.success() {
        Ok(())
    } else {
        Err(format!("cc {}: {}", source.display(), String::from_utf8_lossy(&done.stderr)))
    }
}

/// The machine's shell of that name.
fn shell(name: &str) -> Option<PathBuf> {
    [format!("/usr/bin/{name}"), format!("/bin/{name}")]
        .into_iter()
        .map(PathBuf::from)
        .find(|path| path.exists())
}

/// A shell with the libraries that it names.
fn install(root: &Path, name: &str, path: &Path) -> Result<(), String> {
    std::fs::copy(path, root.join(".real").join(name)).map_err(|e| e.to_string())?;
    let listed = Command::new("ldd").arg(path).output().map_err(|e| format!("ldd: {e}"))?;
    String::from_utf8_lossy(&listed.stdout)
        .split_whitespace()
        .filter(|word| word.starts_with('/'))
        .try_for_each(|library| place(root, Path::new(library)))
}

/// The modules that zsh loads by itself when a line names what they hold.
fn modules(zsh: &Path) -> Result<Vec<PathBuf>, String> {
    let listed = Command::new(zsh)
        .args([
            "-fc",
            "print -rl -- $module_path[1]/zsh/{parameter,mapfile,zutil,system,main,datetime}.so(N)",
        ])
        .output()
        .map_err(|e| format!("zsh: {e}"))?;
    Ok(String::from_utf8_lossy(&listed.stdout).lines().map(PathBuf::from).collect())
}

/// The same file at the same place.
fn place(root: &Path, path: &Path) -> Result<(), String> {
    let to = root.join(path.strip_prefix("/").unwrap_or(path));
    if let Some(dir) = to.parent() {
        std::fs::create_dir_all(dir).map_err(|e| e.to_string())?;
    }
    std::fs::copy(path, to).map(drop).map_err(|e| format!("{}: {e}", path.display()))
}
