//! One scene: a home, a project, a process that is started as an agent starts it, and what came of it.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// The program under test; another build of it by `HOOKCTL_BIN`.
pub fn program() -> PathBuf {
    let other = std::env::var_os("HOOKCTL_BIN");
    other.map_or_else(|| env!("CARGO_BIN_EXE_hookctl").into(), PathBuf::from)
}

/// What `--timeout` says: hookctl answers before it.
pub const TIMEOUT: u64 = 4;
/// The user nobody, whom limits and modes bind.
const NOBODY: u32 = 65_534;

/// The user's rule that every row starts from, and the call that it denies.
pub const RULE: &str = "[rule.no]\ncommand = \"forbidden-thing\"\ndeny = \"no\"\n\n\
                        [rule.no-tool]\ntool = \"mcp__evil__*\"\ndeny = \"no\"\n";
pub const FORBIDDEN: &str = "forbidden-thing now";

/// What must come of a scene beside the laws of every answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expect {
    /// The call is refused: by the answer or by the exit status.
    Deny,
    /// It is refused or asked about.
    Strict,
    /// It is refused by the exit status: no answer can get out.
    Status2,
    /// No yes gets out.
    NotAllowed,
    /// Nothing stops the call.
    Passed,
    /// Nothing more than the laws.
    Lawful,
}

/// What makes a scene its own.
type Set = Box<dyn Fn(&mut Scene) -> Result<(), Skip> + Send + Sync>;

pub struct Row {
    pub name: String,
    pub expect: Expect,
    pub set: Set,
}

/// Why this machine cannot do it.
#[derive(Debug)]
pub struct Skip(pub String);

impl From<std::io::Error> for Skip {
    fn from(error: std::io::Error) -> Skip {
        Skip(error.to_string())
    }
}

pub fn row(
    name: impl Into<String>,
    expect: Expect,
    set: impl Fn(&mut Scene) + Send + Sync + 'static,
) -> Row {
    attempt(name, expect, move |scene| {
        set(scene);
        Ok(())
    })
}

/// A row that a machine may not be able to do.
pub fn attempt(
    name: impl Into<String>,
    expect: Expect,
    set: impl Fn(&mut Scene) -> Result<(), Skip> + Send + Sync + 'static,
) -> Row {
    Row { name: name.into(), expect, set: Box::new(set) }
}

/// What comes on stdin.
pub enum In {
    Bytes(Vec<u8>),
    /// The bytes, and then the other end stays open.
    Open(Vec<u8>),
    /// One piece after the other, with a pause behind each.
    Pieces(Vec<Vec<u8>>, Duration),
    /// The bytes, then this one for ever.
    Endless(Vec<u8>, u8),
    File(PathBuf),
    /// A descriptor that only takes.
    WriteOnly,
}

/// Where stdout or stderr goes.
pub enum Out {
    Read,
    /// A full pipe that nobody reads; the flag: writes do not wait.
    Full {
        nonblocking: bool,
    },
    /// An empty pipe of one page that nobody reads.
    Small,
    /// A pipe whose reader is gone.
    Broken,
    File(PathBuf),
    /// A descriptor that only gives.
    ReadOnly,
}

/// What is done between fork and exec.
#[derive(Clone)]
pub enum Pre {
    Limit(u32, u64, u64),
    Close(i32),
    Ignore(i32),
    Block(i32),
    BlockAll,
    Timer(i32, i64),
    Nobody,
    /// A file system of its own on this directory, of so many kilobytes.
    Tmpfs(CString, CString),
    ReadOnly(CString),
}

/// What is done to the process once it waits for its event.
#[derive(Clone, Copy)]
pub enum Late {
    Limit(u32, u64),
    /// The address space as it is, and so many bytes.
    Memory(u64),
}

pub struct Scene {
    pub dir: tempfile::TempDir,
    pub program: PathBuf,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub home: Option<String>,
    pub cwd: PathBuf,
    pub stdin: In,
    pub stdout: Out,
    pub stderr: Out,
    pub pre: Vec<Pre>,
    pub late: Vec<Late>,
    /// The directory it starts in goes away before the event comes.
    pub lose_cwd: bool,
    /// What must live as long as the process: writers of FIFOs, sockets.
    pub keep: Vec<Box<dyn std::any::Any + Send>>,
}

impl Scene {
    pub fn new() -> Scene {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir_all(dir.path().join("project/.git")).unwrap();
        let args = ["hook", "--agent", "claude", "--event", "PreToolUse", "--timeout"];
        let mut args: Vec<String> = args.map(String::from).to_vec();
        args.push(TIMEOUT.to_string());
        let cwd = dir.path().join("project");
        let home = Some(dir.path().join("home").to_string_lossy().into());
        let mut scene = Scene {
            dir,
            program: program(),
            args,
            env: Vec::new(),
            home,
            cwd,
            stdin: In::Bytes(Vec::new()),
            stdout: Out::Read,
            stderr: Out::Read,
            pre: Vec::new(),
            late: Vec::new(),
            lose_cwd: false,
            keep: Vec::new(),
        };
        scene.config(RULE);
        scene.call(FORBIDDEN);
        scene
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file below the scene's root, private as the user's files must be.
    pub fn put(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    pub fn config(&self, text: &str) {
        self.put("home/.config/hookctl/config.toml", text);
    }

    /// Adds to the user's rules.
    pub fn rules(&self, text: &str) {
        self.config(&format!("{RULE}\n{text}"));
    }

    pub fn project(&self, text: impl AsRef<[u8]>) {
        self.put("project/.hookctl.toml", text);
    }

    pub fn payload(&self, tool: &str, input: &Value) -> Vec<u8> {
        let payload = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": "toolu_1",
            "cwd": self.at("project"), "permission_mode": "default",
            "tool_name": tool, "tool_input": input,
        });
        payload.to_string().into_bytes()
    }

    /// The event is this command of the Bash tool.
    pub fn call(&mut self, command: &str) {
        self.stdin = In::Bytes(self.payload("Bash", &json!({ "command": command })));
    }

    pub fn tool(&mut self, tool: &str, input: &Value) {
        self.stdin = In::Bytes(self.payload(tool, input));
    }

    pub fn forbidden(&self) -> Vec<u8> {
        self.payload("Bash", &json!({ "command": FORBIDDEN }))
    }

    pub fn env(&mut self, name: &str, value: impl Into<String>) {
        self.env.push((name.into(), value.into()));
    }

    pub fn command(&mut self) -> Result<(Command, Option<File>), Skip> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        if let Some(home) = &self.home {
            command.env("HOME", home);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.current_dir(&self.cwd).process_group(0);
        command.stdin(match &self.stdin {
            In::File(path) => Stdio::from(File::open(path)?),
            In::WriteOnly => Stdio::from(OpenOptions::new().write(true).open("/dev/null")?),
            _ => Stdio::piped(),
        });
        let mut held = None;
        let stdout = self.out(&self.stdout, &mut held)?;
        let mut also = None;
        let stderr = self.out(&self.stderr, &mut also)?;
        self.keep.push(Box::new(also));
        command.stdout(stdout).stderr(stderr);
        if !self.pre.is_empty() {
            if self.pre.iter().any(|pre| matches!(pre, Pre::Nobody)) {
                give(self.dir.path())?;
            }
            let pre = self.pre.clone();
            // SAFETY: nothing but system calls on what was made before the fork.
            unsafe { command.pre_exec(move || pre.iter().try_for_each(Pre::act)) };
        }
        Ok((command, held))
    }

    fn out(&self, out: &Out, held: &mut Option<File>) -> Result<Stdio, Skip> {
        Ok(match out {
            Out::Read => Stdio::piped(),
            Out::File(path) => {
                Stdio::from(OpenOptions::new().write(true).create(true).truncate(false).open(path)?)
            }
            Out::ReadOnly => Stdio::from(File::open("/dev/null")?),
            Out::Broken => {
                let (reader, writer) = pipe()?;
                drop(reader);
                Stdio::from(writer)
            }
            Out::Small => {
                let (reader, writer) = pipe()?;
                // SAFETY: a descriptor of ours.
                unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETPIPE_SZ, 4096) };
                *held = Some(reader);
                Stdio::from(writer)
            }
            Out::Full { nonblocking } => {
                let (reader, mut writer) = pipe()?;
                // SAFETY: a descriptor of ours.
                unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
                for size in [4096, 1] {
                    while writer.write(&vec![b'x'; size]).is_ok() {}
                }
                if !nonblocking {
                    // SAFETY: a descriptor of ours.
                    unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, 0) };
                }
                *held = Some(reader);
                Stdio::from(writer)
            }
        })
    }
}

fn pipe() -> Result<(File, File), Skip> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, which nobody else owns.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]).into(), OwnedFd::from_raw_fd(ends[1]).into()))
    }
}

/// Everything of the scene becomes nobody's own.
fn give(path: &Path) -> Result<(), Skip> {
    std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY))
        .map_err(|error| Skip(format!("no other user: {error}")))?;
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path)? {
            give(&entry?.path())?;
        }
    }
    Ok(())
}

impl Pre {
    fn act(&self) -> std::io::Result<()> {
        // SAFETY: system calls on valid arguments, as one may between fork and exec.
        let done =
            unsafe {
                match self {
                    Pre::Limit(which, soft, hard) => {
                        let limit = libc::rlimit { rlim_cur: *soft, rlim_max: *hard };
                        libc::setrlimit(*which, &limit)
                    }
                    // A descriptor that is closed already is what was wanted.
                    Pre::Close(fd) => libc::close(*fd).max(0),
                    Pre::Ignore(signal) => {
                        if libc::signal(*signal, libc::SIG_IGN) == libc::SIG_ERR { -1 } else { 0 }
                    }
                    Pre::Block(signal) => {
                        let mut set = std::mem::zeroed();
                        libc::sigemptyset(&mut set);
                        libc::sigaddset(&mut set, *signal);
                        libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut())
                    }
                    Pre::BlockAll => {
                        let mut set = std::mem::zeroed();
                        libc::sigfillset(&mut set);
                        libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut())
                    }
                    Pre::Timer(which, milliseconds) => {
                        let once = libc::timeval { tv_sec: 0, tv_usec: milliseconds * 1000 };
                        let value = libc::itimerval { it_interval: once, it_value: once };
                        libc::syscall(libc::SYS_setitimer, *which, &value, 0) as i32
                    }
                    Pre::Nobody => {
                        libc::setgroups(0, std::ptr::null());
                        libc::setgid(NOBODY).min(libc::setuid(NOBODY))
                    }
                    Pre::Tmpfs(place, options) => own_mounts().min(libc::mount(
                        c"none".as_ptr(),
                        place.as_ptr(),
                        c"tmpfs".as_ptr(),
                        0,
                        options.as_ptr().cast(),
                    )),
                    Pre::ReadOnly(place) => {
                        let flags = libc::MS_BIND | libc::MS_REC;
                        let none = std::ptr::null();
                        let bound =
                            libc::mount(place.as_ptr(), place.as_ptr(), none, flags, none.cast());
                        let flags = libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY;
                        let fixed = libc::mount(none, place.as_ptr(), none, flags, none.cast());
                        bound.min(fixed)
                    }
                }
            };
        if done < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// Mounts that nobody else sees.
unsafe fn own_mounts() -> i32 {
    // SAFETY: system calls without memory of ours.
    unsafe {
        let none = std::ptr::null();
        let flags = libc::MS_REC | libc::MS_PRIVATE;
        let apart = libc::unshare(libc::CLONE_NEWNS);
        apart.min(libc::mount(none, c"/".as_ptr(), none, flags, none.cast()))
    }
}

/// Can this machine make mounts that nobody else sees?
pub fn mounts() -> Result<(), Skip> {
    let mut command = Command::new("/bin/true");
    // SAFETY: system calls only.
    unsafe {
        command.pre_exec(|| match own_mounts() {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    let status = command.status().map_err(|error| Skip(format!("no own mounts: {error}")))?;
    if status.success() { Ok(()) } else { Err(Skip("no own mounts".into())) }
}

/// Can the program be run by nobody at all, and under these limits? What the loader cannot do is not its fault.
pub fn can_start(pre: &[Pre]) -> Result<(), Skip> {
    let mut command = Command::new(program());
    command.arg("--version").env_clear().stdout(Stdio::null()).stderr(Stdio::null());
    let pre = pre.to_vec();
    // SAFETY: system calls only.
    unsafe { command.pre_exec(move || pre.iter().try_for_each(Pre::act)) };
    let status = command.status().map_err(|error| Skip(format!("cannot be started: {error}")))?;
    if status.success() { Ok(()) } else { Err(Skip(format!("cannot be loaded: {status}"))) }
}

/// A FIFO at this path.
pub fn fifo(path: &Path) -> Result<(), Skip> {
    let name = CString::new(path.to_string_lossy().as_bytes()).unwrap();
    // SAFETY: a string that ends in zero.
    match unsafe { libc::mkfifo(name.as_ptr(), 0o600) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error().into()),
    }
}

/// A writer of that FIFO, which does not wait for a reader.
pub fn writer(path: &Path) -> Result<File, Skip> {
    Ok(OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(path)?)
}
