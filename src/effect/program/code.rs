//! Inline programs: `python -c`, `node -e`, `awk`, `sed`.
//!
//! They are not understood, only looked at: a small list of words per language says whether they
//! could execute, write, delete or send. Without such a word an inline program is code and nothing
//! more; with one it is also an execution that nobody understands.

use super::effects::Next;
use crate::effect::value::{Emitter, Value, looks_like_path};
use crate::effect::{Extent, Grade, Source, Word};

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

/// The effects of an inline program.
pub fn emit(out: &mut Emitter, lang: &str, value: &Value, next: &mut Vec<Next>) {
    let _ = next;
    let span = value.span.clone();
    if value.fed {
        out.push(Word::Code, Grade::Certain, Source::Operand, span.clone());
        out.push(Word::PipeToInterpreter, Grade::Certain, Source::Program, span);
        return;
    }
    let Some(text) = &value.text else {
        out.push(Word::Code, Grade::Certain, Source::Operand, span.clone());
        out.unknown("an inline program that is known only at run time", span);
        return;
    };
    match lang {
        "sed" => {
            if !sed(out, text, &span) {
                out.push(Word::Code, Grade::Certain, Source::Operand, span.clone());
                out.unknown("a sed program that may execute or write", span);
            }
            return;
        }
        "awk" => {
            if awk(text) {
                out.push(Word::Code, Grade::Certain, Source::Operand, span.clone());
                out.unknown("an awk program that may execute or write", span);
            }
            return;
        }
        // `:!cmd`, `:%!cmd`, not `:wq!`.
        "vim" if text.split('!').rev().skip(1).any(|t| !t.ends_with(char::is_alphabetic)) => {
            out.push(Word::Code, Grade::Certain, Source::Operand, span.clone());
            out.unknown("an editor's command that may start a program", span);
            return;
        }
        _ => {}
    }
    out.push(Word::Code, Grade::Certain, Source::Operand, span.clone());
    paths(out, text, &span);
    let mut rest = text.clone();
    for word in HARMLESS {
        if rest.contains(word) {
            rest = rest.replace(word, " ");
        }
    }
    if let Some(sign) = SIGNS.iter().find(|sign| rest.contains(**sign)) {
        out.unknown(
            &format!("an inline {lang} program that may execute or write ({})", sign.trim()),
            span,
        );
    }
}

/// String literals that look like paths: read for certain, possibly written.
pub fn paths(out: &mut Emitter, text: &str, span: &std::ops::Range<usize>) {
    let mut rest = text;
    let mut found = 0;
    while let Some(at) = rest.find(['"', '\'']) {
        let quote = rest.as_bytes()[at];
        let inner = &rest[at + 1..];
        let Some(end) = inner.bytes().position(|b| b == quote) else { break };
        let literal = &inner[..end];
        let shaped = literal.len() < 1024
            && !literal.contains([' ', '\n', '*', '%', '{', '<'])
            && looks_like_path(literal)
            && found < 50;
        if shaped {
            found += 1;
            let home = out.place.home.clone();
            let literal = match literal.strip_prefix("~/") {
                Some(rest) => format!("{home}/{rest}"),
                None => literal.to_string(),
            };
            let value = Value::known(literal, span.clone());
            out.path(Word::Read, &value, Extent::Exact, Grade::Certain, Source::Operand);
            out.path(Word::Write, &value, Extent::Exact, Grade::Possible, Source::Operand);
        }
        rest = &inner[end + 1..];
    }
}

/// Could an awk program execute, write or load anything?
fn awk(text: &str) -> bool {
    if ["system", "getline", "@", "/inet", "close("].iter().any(|w| text.contains(w)) {
        return true;
    }
    // Behind print and printf, outside strings and parentheses, `>` and `|` are redirections.
    let bytes = text.as_bytes();
    let (mut printing, mut quoted, mut depth) = (false, false, 0_usize);
    for (i, byte) in bytes.iter().enumerate() {
        match byte {
            b'"' if i == 0 || bytes[i - 1] != b'\\' => quoted = !quoted,
            _ if quoted => {}
            b'p' if text[i..].starts_with("print") => (printing, depth) = (true, 0),
            b';' | b'}' | b'\n' => printing = false,
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'>' if printing && depth == 0 => return true,
            b'|' if printing && depth == 0 => {
                let double = bytes.get(i + 1) == Some(&b'|') || i > 0 && bytes[i - 1] == b'|';
                if !double {
                    return true;
                }
            }
            _ => {}
        }
    }
    // An odd quote: strings were not where they seemed to be.
    quoted
}

/// Understands the plain part of sed; false = may execute or write. `r FILE` is a read.
fn sed(out: &mut Emitter, text: &str, span: &std::ops::Range<usize>) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    // Skips a delimited part; `at` stands on its first character.
    let skip = |mut at: usize, delimiter: char| -> Option<usize> {
        while at < chars.len() {
            match chars[at] {
                '\\' => at += 1,
                c if c == delimiter => return Some(at + 1),
                _ => {}
            }
            at += 1;
        }
        None
    };
    while at < chars.len() {
        match chars[at] {
            ' ' | '\t' | '\n' | ';' | '{' | '}' | ',' | '!' | '$' | '+' | '~' | '0'..='9' => {
                at += 1
            }
            '/' => match skip(at + 1, '/') {
                Some(end) => {
                    at = end;
                    while at < chars.len() && matches!(chars[at], 'I' | 'M') {
                        at += 1;
                    }
                }
                None => return false,
            },
            '\\' => {
                let Some(delimiter) = chars.get(at + 1) else { return false };
                let Some(end) = skip(at + 2, *delimiter) else { return false };
                at = end;
            }
            's' | 'y' => {
                let Some(&delimiter) = chars.get(at + 1) else { return false };
                let Some(end) = skip(at + 2, delimiter).and_then(|m| skip(m, delimiter)) else {
                    return false;
                };
                at = end;
                while at < chars.len() && !matches!(chars[at], ';' | '\n' | '}' | ' ') {
                    if !matches!(chars[at], 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') {
                        return false;
                    }
                    at += 1;
                }
            }
            'p' | 'd' | 'q' | 'Q' | 'n' | 'N' | '=' | 'g' | 'G' | 'h' | 'H' | 'x' | 'P' | 'D'
            | 'l' | 'F' | 'z' => at += 1,
            'a' | 'i' | 'c' | '#' => {
                while at < chars.len() && chars[at] != '\n' {
                    if chars[at] == '\\' {
                        at += 1;
                    }
                    at += 1;
                }
            }
            'b' | 't' | 'T' | ':' => {
                while at < chars.len() && !matches!(chars[at], ';' | '\n' | '}') {
                    at += 1;
                }
            }
            'r' | 'R' => {
                let start = at + 1;
                while at < chars.len() && chars[at] != '\n' {
                    at += 1;
                }
                let file: String = chars[start..at].iter().collect();
                out.path(
                    Word::Read,
                    &Value::known(file.trim(), span.clone()),
                    Extent::Exact,
                    Grade::Certain,
                    Source::Operand,
                );
            }
            _ => return false,
        }
    }
    true
}
