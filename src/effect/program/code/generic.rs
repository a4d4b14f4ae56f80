//! Inline programs in a language that is not known: only looked at.
//!
//! A list of words says whether they could execute, write, delete or send. Without such a word the
//! program is code and nothing more; with one it is also an execution that nobody understands.

use crate::effect::emitter::Emitter;
use crate::effect::value::{Value, looks_like_path};
use crate::effect::{Extent, Grade, Source, Word};
use crate::limits::{self, Cap};

/// Words that could execute, write, delete or send, in any of the general languages.
const SIGNS: &[&str] = &[
    "os.",
    "subprocess",
    "exec",
    "eval",
    "spawn",
    "system",
    "popen",
    "Popen",
    "unlink",
    "rmtree",
    "rmdir",
    "remove",
    "rename",
    "replace(",
    "chmod",
    "chown",
    "symlink",
    "write",
    "'w'",
    "\"w\"",
    "'a'",
    "\"a\"",
    "'wb'",
    "\"wb\"",
    "'w+'",
    "\"w+\"",
    "'ab'",
    "\"ab\"",
    "'r+'",
    "\"r+\"",
    "'x'",
    "\"x\"",
    "fetch",
    "requests",
    "urllib",
    "http",
    "socket",
    "net",
    "fs.",
    "child_process",
    "shutil",
    "__import__",
    "importlib",
    "getattr",
    "ctypes",
    "compile",
    "pty",
    "require(",
    "import(",
    "Function(",
    "process.",
    "delete",
    "truncate",
    "mkdir",
    "kill",
    "fork",
    "`",
    "%x",
    "syscall",
    "File.",
    "FileUtils",
    "IO.",
    "Kernel",
    "Dir.",
    "open(",
    "qx",
    "|",
    "<<",
    "fopen",
    "passthru",
    "proc_open",
    "shell",
    "include",
    "curl",
    "Deno.",
    "Bun.",
    "decode",
    "b64",
    "chr(",
    "globals",
    "builtins",
    "touch",
    "save",
    "dump(",
    "to_csv",
    "send",
    "connect",
    "constructor",
    "atob",
    "pack",
    "do ",
    "load",
    "rm(",
    "System.cmd",
    "Process.run",
    "FileManager",
    "run(`",
    "deleteDir",
    ".execute(",
];

/// What takes part in plain reading: blanked before the signs are looked for.
const HARMLESS: &[&str] = &[
    "json.load",
    "json.dumps",
    "json.loads",
    "os.path.",
    "os.getcwd",
    "os.environ",
    "sys.stdout.write",
    "sys.stderr.write",
    "process.env",
    "process.version",
    "process.argv",
    "process.stdout.write",
    "process.cwd",
    ".replace(",
    "require('./package.json')",
    "require(\"./package.json\")",
    "urllib.parse",
    "console.log",
    "||",
    "yaml.safe_load",
    "process.platform",
    "process.arch",
    "process.exit",
    "tomllib.load",
    "datetime",
];

/// Looks at a program in a language that nothing else here knows.
pub fn emit(out: &mut Emitter, text: &str, span: &std::ops::Range<usize>) {
    paths(out, text, span);
    let mut rest = text.to_string();
    for word in HARMLESS {
        if rest.contains(word) {
            rest = rest.replace(word, " ");
        }
    }
    if let Some(sign) = SIGNS.iter().find(|sign| rest.contains(**sign)) {
        let why = format!("an inline program that may execute or write: `{}`", sign.trim());
        out.unknown(&why, span.clone());
    }
}

/// String literals that look like paths: read for certain, possibly written.
fn paths(out: &mut Emitter, text: &str, span: &std::ops::Range<usize>) {
    let mut rest = text;
    let mut found = 0;
    while let Some(at) = rest.find(['"', '\'']) {
        let quote = rest.as_bytes()[at];
        let inner = &rest[at + 1..];
        let Some(end) = inner.bytes().position(|b| b == quote) else { break };
        let literal = &inner[..end];
        let shaped = literal.len() < limits::PATH_MAX
            && !literal.contains([' ', '\n', '*', '%', '{', '<'])
            && looks_like_path(literal)
            && Cap::Literals.holds(found + 1);
        if shaped {
            found += 1;
            let home = out.place.home.clone();
            let literal = match literal.strip_prefix("~/") {
                Some(rest) => format!("{home}/{rest}"),
                None => literal.to_string(),
            };
            let value = Value::known(literal, span.clone());
            out.path(Word::Read, &value, Extent::Exact, Grade::Certain, Source::Code);
            out.path(Word::Write, &value, Extent::Exact, Grade::Possible, Source::Code);
        }
        rest = &inner[end + 1..];
    }
}
