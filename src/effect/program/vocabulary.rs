//! The closed words of the program tables. The build, which packs the tables, reads this file too: a word that is
//! misspelt there stops it.

/// Words that stand for themselves in tables, and for a printable sign in packed rows.
macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident, $what:literal: $($(#[$own:meta])* $variant:ident = $text:literal),+ $(,)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$own])* #[doc = concat!("`", $text, "`")] $variant,)+ }

        impl $name {
            /// Every one by the name that tables use.
            pub const ALL: &'static [(&'static str, $name)] = &[$(($text, $name::$variant),)+];

            /// The one of that name.
            pub fn from_text(text: &str) -> Result<$name, Fault> {
                let found = $name::ALL.iter().find(|(name, _)| *name == text);
                found.map(|(_, own)| *own).ok_or_else(|| Fault::unknown($what, text, $name::ALL))
            }

            /// The sign that stands for it in packed rows.
            pub const fn sign(self) -> char {
                (FIRST_SIGN + self as u8) as char
            }

            /// The one that a sign of a packed row stands for.
            pub fn from_sign(sign: u8) -> Option<$name> {
                $name::ALL.get(usize::from(sign.wrapping_sub(FIRST_SIGN))).map(|(_, own)| *own)
            }
        }

        const _: () = assert!($name::ALL.len() <= SIGNS);
    };
}

/// The first printable sign, and how many there are.
const FIRST_SIGN: u8 = b'!';
const SIGNS: usize = (b'~' - FIRST_SIGN) as usize + 1;

/// Why a line of a table cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is not written as such lines are.
    Form(String),
    /// It holds a word that there is not.
    Unknown {
        /// What the word should be: `role`.
        what: &'static str,
        /// The word.
        word: String,
        /// Those that there are.
        known: Vec<&'static str>,
    },
}

impl Fault {
    fn unknown<T>(what: &'static str, word: &str, all: &'static [(&'static str, T)]) -> Fault {
        Fault::Unknown {
            what,
            word: word.into(),
            known: all.iter().map(|(name, _)| *name).collect(),
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Form(why) => f.write_str(why),
            Fault::Unknown { what, word, known } => {
                write!(f, "no such {what}: `{word}`; there are {}", known.join(", "))
            }
        }
    }
}

vocabulary! {
    /// What an operand or an option's value is to its program.
    #[derive(Default)]
    Role, "role":
    /// Text: no effect.
    #[default]
    Text = "text",
    /// A file that is read.
    Read = "read",
    /// A file that is read, and gets a second name.
    Link = "link",
    /// A directory read with everything below it.
    ReadTree = "read-tree",
    /// A path or a glob of git's own, read with everything below it.
    Pathspec = "pathspec",
    /// A directory read with everything below it that is not hidden.
    ReadVisible = "read-visible",
    /// Code or settings that the program runs, read with what is not hidden below it: from outside of
    /// the project it is nothing that an allow on the command speaks of.
    Runs = "runs",
    /// A name, or a glob, by which files are read at any depth.
    ReadNamed = "read-named",
    /// A file that is written.
    Write = "write",
    /// A directory in which something is written.
    WriteInto = "write-into",
    /// Where a program installs itself: in directories of usual names below.
    Prefix = "prefix",
    /// A file that is read and written.
    Edit = "edit",
    /// A file that is read and written, or a directory in which files are looked for that are.
    EditTree = "edit-tree",
    /// A file that is deleted.
    Delete = "delete",
    /// A path or a glob of git's own, whose files are deleted.
    DeletePathspec = "delete-pathspec",
    /// A directory deleted with everything below it.
    DeleteTree = "delete-tree",
    /// A path that is moved away: read and deleted with everything below it.
    Move = "move",
    /// Where cp, mv and install put things: the path, or a name inside it.
    Target = "target",
    /// A path whose mode or owner changes.
    Permission = "permission",
    /// A block device that is written or formatted.
    Device = "device",
    /// A host, `user@host`, `host:port`.
    Host = "host",
    /// A name that is asked for: where it is computed, what it is made of leaves with it.
    Query = "query",
    /// A URL that is contacted.
    Url = "url",
    /// A request's body: data leaves; `@file` is read.
    Body = "body",
    /// A file that is sent.
    Upload = "upload",
    /// A script file that the program runs.
    Run = "run",
    /// A program, by name or path, that the program starts.
    Program = "program",
    /// A program that the program starts with each of its own files.
    Filter = "filter",
    /// Shell text that is run.
    Script = "script",
    /// Text in the program's own language that is run.
    Code = "code",
    /// A program of jq, which another one applies to what it prints.
    Jq = "jq",
    /// The first word of a command; the rest of the words are its arguments.
    Command = "command",
    /// The same of a command of the program itself.
    OwnCommand = "own-command",
    /// Like `Command`, but the words are joined and read by a shell.
    Joined = "joined",
    /// A URL that is contacted, a path that is read with all below it, or just a name.
    Source = "source",
    /// A file, unless its first characters make it a text of the program's own: `|COMMAND`,
    /// `@FILE`, `\\macro`, `scheme:x`.
    Inline = "inline",
    /// The same of what is written.
    InlineTarget = "inline-target",
    /// A word that may be a path: read for certain, possibly written, if it looks like one.
    MaybePath = "maybe-path",
    /// A word that may be a path: read with what is not hidden below it, if it looks like one.
    MaybeRead = "maybe-read",
}

vocabulary! {
    /// The language of an inline program.
    Language, "lang":
    Python = "python", Node = "node", Perl = "perl", Ruby = "ruby", Php = "php", Lua = "lua", R = "r",
    Shell = "shell", Sed = "sed", Awk = "awk", Sql = "sql", Redis = "redis", Mongo = "mongo", Sftp = "sftp",
    Jq = "jq", Vim = "vim", Ed = "ed", Lisp = "lisp", Make = "make", Gdb = "gdb", AppleScript = "applescript",
    PowerShell = "powershell", Cmd = "cmd", Tcl = "tcl", Other = "other",
}

vocabulary! {
    /// The code that knows what no row of a program can say.
    Special, "special":
    Ansible = "ansible", Api = "api", Behind = "behind", Chattr = "chattr", Client = "client",
    ContainerRun = "container-run", Copy = "copy", CopyNear = "copy-near", Cpio = "cpio", Daemon = "daemon",
    Dd = "dd", Debugger = "debugger", Download = "download", Drive = "drive", Editor = "editor", Env = "env",
    Eval = "eval", Fd = "fd", Find = "find", FlagC = "flag-c", GhAlias = "gh-alias", GhClone = "gh-clone",
    GitCheckout = "git-checkout", GitClean = "git-clean", GitClone = "git-clone", GitFill = "git-fill", GitConfig = "git-config",
    GitContents = "git-contents", GitDiff = "git-diff", GitGc = "git-gc", GitOwn = "git-own", GitPull = "git-pull",
    GitPush = "git-push", GitRefs = "git-refs", GitRemote = "git-remote", GitRemoteRead = "git-remote-read",
    GitReset = "git-reset", GitRestore = "git-restore", GitTree = "git-tree", GitWorktree = "git-worktree",
    Gzip = "gzip", Httpie = "httpie", Inside = "inside", InsideOnly = "inside-only", Interpreter = "interpreter",
    Jq = "jq", Kill = "kill", KubectlDelete = "kubectl-delete", KubectlGet = "kubectl-get", Ln = "ln",
    Machine = "machine", Make = "make", Maven = "maven", Nc = "nc", Nested = "nested", NpmPkg = "npm-pkg",
    Open = "open", OwnShell = "own-shell", OwnText = "own-text", Packages = "packages", Pager = "pager",
    Parted = "parted", PackageConfig = "package-config", Piped = "piped", Ps = "ps", Redis = "redis", Reveals = "reveals",
    Robocopy = "robocopy", Runner = "runner", Scp = "scp", Screen = "screen", Script = "script",
    ScriptFile = "script-file", Session = "session", Setting = "setting", Sftp = "sftp",
    Shell = "shell", Socat = "socat", Source = "source", Ssh = "ssh", Start = "start", Tar = "tar", Test = "test",
    Transfer = "transfer", Typed = "typed", Unzip = "unzip", Verbs = "verbs", WindowsShell = "windows-shell",
    Xargs = "xargs", Zip = "zip",
}

vocabulary! {
    /// What a program is to others, beside what its calls do.
    Class, "class":
    /// It works for a model: another home or user has other settings, and no human is behind it.
    Agent = "agent",
    /// What it writes are programs of the project's.
    Compiler = "compiler",
    /// It makes a readable text of one that is not: nobody has read that.
    Decoder = "decoder",
    /// What it fetches lies where it runs, or where an option says: nobody has read that.
    Fetcher = "fetcher",
    /// Its commands may do harm, or run others: words of unknown programs that begin with it are tried.
    Grave = "grave",
    /// Projects install it: `yarn NAME` runs it.
    Installed = "installed",
    /// It runs the file that it is given first, or what it reads from standard input.
    Interpreter = "interpreter",
    /// It changes nothing, by whatever option.
    Looker = "looker",
    /// It runs the program that it is given first, which it may fetch.
    Runner = "runner",
    /// It fetches or computes what it prints: nobody has read that.
    Stranger = "stranger",
    /// A variable may name it (`PAGER=less`, `AR=ar`): it is what would run in any case.
    Usual = "usual",
}

impl Class {
    /// Its bit among those of a program.
    pub const fn bit(self) -> u32 {
        1 << self as u32
    }

    /// What the code of a program makes it.
    pub const fn from_special(special: Special) -> Option<Class> {
        match special {
            Special::Shell | Special::Interpreter => Some(Class::Interpreter),
            Special::Runner => Some(Class::Runner),
            Special::Pager | Special::Editor => Some(Class::Usual),
            _ => None,
        }
    }
}

macro_rules! marks {
    ($($(#[$doc:meta])* $name:ident = $text:literal $bit:literal),+ $(,)?) => {
        /// What an option does besides taking a value: a set of bits.
        pub mod mark {
            use super::Fault;

            $($(#[$doc])* pub const $name: u32 = 1 << $bit;)+

            /// Every mark by the name that tables use.
            pub const ALL: &[(&str, u32)] = &[$(($text, $name),)+];

            /// The mark of that name.
            pub fn from_text(text: &str) -> Result<u32, Fault> {
                let found = ALL.iter().find(|(name, _)| *name == text);
                found.map(|(_, bit)| *bit).ok_or_else(|| Fault::unknown("mark", text, ALL))
            }

            /// The signs that stand for them in packed rows.
            pub fn signs(bits: u32) -> String {
                let set = (0..u32::BITS as u8).filter(|bit| bits >> bit & 1 == 1);
                set.map(|bit| char::from(super::FIRST_SIGN + bit)).collect()
            }

            /// The marks that signs of a packed row stand for.
            pub fn from_signs(signs: &str) -> u32 {
                let bit = |sign: u8| 1u32.wrapping_shl(u32::from(sign.wrapping_sub(super::FIRST_SIGN)));
                signs.bytes().fold(0, |bits, sign| bits | bit(sign))
            }
        }
    };
}

marks! {
    /// The operands are meant with everything below them.
    TREE = "tree" 0,
    /// Nothing is written, deleted or sent.
    DRY = "dry" 1,
    /// May execute or write what no effect speaks of.
    UNSAFE = "unsafe" 2,
    /// Operands that are read are also written.
    INPLACE = "inplace" 3,
    /// The first operand of its own (a pattern, a program text) is then not there.
    NO_FIRST = "no-first" 4,
    /// Names the target, so that every operand is a source.
    TARGET = "target" 5,
    /// Operands are kept where they would be deleted.
    KEEP = "keep" 6,
    /// Results go to standard output: nothing is written.
    STDOUT = "stdout" 7,
    /// The first operand is shell text (`bash -c`).
    SCRIPT = "script" 8,
    /// What runs is named by the value (`python -m`), standard input is not a program.
    MODULE = "module" 9,
    /// The program text comes from standard input whatever the operands (`bash -s`).
    STDIN = "stdin" 11,
    /// Data leaves.
    SEND = "send" 12,
    /// What follows are operands.
    END = "end" 13,
    /// The environment is emptied.
    CLEAR = "clear" 14,
    /// The value is the directory that the program then works in.
    CHDIR = "chdir" 15,
    /// The value is split into words that stand in front of the operands (`env -S`).
    SPLITS = "splits" 16,
    /// Runs as somebody else.
    PRIVILEGE = "privilege" 17,
    /// A mark for the program's own code.
    SPARE = "spare" 18,
    /// Only tells something (`--help`): none of the program's effects happens.
    ONLY = "only" 19,
    /// Changes the machine's state.
    SYSTEM = "system" 20,
    /// Every name of the line is an option of its own, no spelling of the first.
    EACH = "each" 21,
    /// Changes what the program otherwise only reads: an allow on the plain command does not mean it.
    CHANGES = "changes" 22,
    /// Operands that are read get a second name.
    LINKS = "links" 23,
}
