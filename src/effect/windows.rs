//! How Windows spells paths and programs, and the one form that the rest of the analysis knows.
//!
//! `C:\Users\x` is `C:/Users/x`, a device `\\.\NAME` is `/dev/NAME`, a share is `//server/share`,
//! a key of the registry `HKLM:/Software`. The disk is asked for nothing but whether a drive is there.

use std::ops::Range;
use std::path::Path;

use super::value::Value;
use crate::glob;
use crate::limits;
use crate::names::windows::VARIABLES;

/// Drives with more than one letter: PowerShell's own.
const PROVIDERS: &[&str] = &["HKLM:", "HKCU:", "HKCR:", "HKU:", "HKCC:", "CERT:", "WSMAN:"];
/// What a program's file name ends in.
const SUFFIXES: &[&str] = &[".exe", ".cmd", ".bat", ".com", ".ps1"];

/// What stands between the directories of PATH.
pub const LIST_SEPARATOR: char = if cfg!(windows) { ';' } else { ':' };

/// The length of what stands for a root in front of a path: `C:`, `HKLM:`.
fn root_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.len() >= 2 && bytes[1] == b':' && bytes[0].is_ascii_alphabetic() {
        return Some(2);
    }
    let own = |p: &&&str| text.get(..p.len()).is_some_and(|head| head.eq_ignore_ascii_case(p));
    PROVIDERS.iter().find(own).map(|p| p.len())
}

/// Does the text begin with a drive: `C:/x`, and `C:x` as well?
pub fn begins_on_drive(text: &str) -> bool {
    root_length(text).is_some()
}

/// Does the path, in its one form, lie on what only PowerShell has as a drive?
pub fn is_registry(path: &str) -> bool {
    path.find(':').is_some_and(|end| end > 1)
}

/// Does more than the root follow: `C:\x`, not `C:`?
fn is_below_root(text: &str) -> bool {
    root_length(text).is_some_and(|end| !text[end..].trim_start_matches(['\\', '/']).is_empty())
}

/// What stands behind the two separators that a device or a share begins with.
fn behind_share(text: &str) -> Option<&str> {
    // A POSIX shell reads two slashes as one.
    let slashes = || {
        let rest = text.strip_prefix("//").filter(|_| cfg!(windows))?;
        matches!(rest.as_bytes(), [b'.' | b'?', b'/', ..]).then_some(rest)
    };
    text.strip_prefix(r"\\").or_else(slashes)
}

/// The one form of an absolute Windows path; None = it is none.
pub fn canonical_path(text: &str) -> Option<String> {
    if let Some(rest) = behind_share(text) {
        let rest = rest.trim_start_matches(['\\', '/']);
        let (first, below) = rest.split_once(['\\', '/']).unwrap_or((rest, ""));
        let below = below.trim_start_matches(['\\', '/']);
        return match first {
            // `\\.\C:` is the volume, what follows it a file.
            "." if is_below_root(below) => canonical_path(below),
            "." => Some(join_root("/dev", below)),
            "?" if root_length(below).is_some() => canonical_path(below),
            "?" => Some(join_root("/", below.get(4..).unwrap_or_default())),
            "" => None,
            _ => Some(join_root("/", rest)),
        };
    }
    if cfg!(windows)
        && let Some((root, below)) = mounted_drive(text)
        // Else it is a switch, `/s`, or a directory of a container.
        && Path::new(&format!(r"{root}\")).exists()
    {
        return Some(join_root(&root, below));
    }
    let end = root_length(text)?;
    let rest = &text[end..];
    if !(rest.is_empty() || rest.starts_with(['\\', '/'])) {
        return None;
    }
    Some(join_root(&text[..end].to_ascii_uppercase(), rest))
}

/// A path of this system as the analysis knows it.
pub fn native_text(path: &Path) -> String {
    let text = path.to_string_lossy();
    if !cfg!(windows) {
        return text.into_owned();
    }
    canonical_path(&text).unwrap_or_else(|| text.replace('\\', "/"))
}

/// The drive in front of a path, where there are drives, and what follows it.
pub fn split_drive(path: &str) -> (&str, &str) {
    let length = match path.as_bytes() {
        [letter, b':', b'/', ..] if cfg!(windows) && letter.is_ascii_alphabetic() => 2,
        _ => 0,
    };
    path.split_at(length)
}

/// The drive that the POSIX shell of Git has as `/c`, and what lies below it.
fn mounted_drive(text: &str) -> Option<(String, &str)> {
    let rest = text.strip_prefix('/')?;
    let (drive, below) = rest.split_once('/').unwrap_or((rest, ""));
    match drive.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => {
            Some((format!("{}:", drive.to_ascii_uppercase()), below))
        }
        _ => None,
    }
}

/// A root and what lies below it, without `.`, `..` and doubled separators.
fn join_root(root: &str, rest: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split(['\\', '/']) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part if root == "/dev" => parts.push(part),
            part => parts.extend(Some(stored_name(part)).filter(|name| !name.is_empty())),
        }
    }
    if parts.is_empty() && root == "/dev" {
        return root.into();
    }
    format!("{root}/{}", parts.join("/"))
}

/// The name that Windows stores: without the stream behind it, and without dots and blanks at its end.
fn stored_name(part: &str) -> &str {
    // Brackets of a pattern hold colons of their own: `[[:alpha:]]`.
    if !cfg!(windows) || part.contains('[') {
        return part;
    }
    part.split(':').next().unwrap_or(part).trim_end_matches(['.', ' '])
}

/// Directories that only the POSIX shells of Windows have.
#[cfg(windows)]
const POSIX_ROOTS: &[&str] = &[
    "bin", "boot", "cygdrive", "dev", "etc", "home", "lib", "lib64", "media", "mingw64", "mnt",
    "opt", "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "var",
];

/// A path that has no root of its own here, as programs of Windows read it: both separators are one, `\x` lies on the
/// drive of this directory, and `C:x` in it.
#[cfg(windows)]
pub fn read_spelling<'t>(text: &'t str, cwd: &str) -> std::borrow::Cow<'t, str> {
    if !text.contains(['\\', '/', ':']) || canonical_path(text).is_some() {
        return text.into();
    }
    let text = text.replace('\\', "/");
    let (drive, _) = split_drive(cwd);
    if let Some((own, rest)) = root_length(&text).map(|end| text.split_at(end)) {
        let here = own.eq_ignore_ascii_case(drive);
        return if here { rest.to_string() } else { format!("{own}/{rest}") }.into();
    }
    let top = text.strip_prefix('/').map(|rest| rest.split('/').next().unwrap_or_default());
    let is_own = |top: &str| {
        let plain = |c: char| c.is_alphanumeric() || " ()-_.$~".contains(c);
        !top.is_empty() && top.chars().all(plain) && !POSIX_ROOTS.contains(&top)
    };
    match top {
        Some(top) if !drive.is_empty() && is_own(top) => format!("{drive}{text}").into(),
        _ => text.into(),
    }
}

/// Could a part of it be a short name: `PROGRA~1`?
#[cfg(windows)]
pub fn has_short_name(path: &str) -> bool {
    path.as_bytes().windows(2).any(|two| two[0] == b'~' && two[1].is_ascii_digit())
}

/// Does the text begin as a path does only on Windows?
pub fn is_path(text: &str) -> bool {
    if let Some(rest) = text.strip_prefix(r"\\") {
        // `\\.\PhysicalDrive0`: other words with two backslashes are regular expressions.
        let rest = rest.trim_start_matches('\\');
        let device = rest.strip_prefix(['.', '?']).map(|r| r.trim_start_matches('\\'));
        return device.is_some_and(|name| {
            root_length(name).is_some()
                || ["physicaldrive", "harddisk", "cdrom", "globalroot"]
                    .iter()
                    .any(|d| name.get(..d.len()).is_some_and(|n| n.eq_ignore_ascii_case(d)))
        });
    }
    match root_length(text) {
        Some(end) => text[end..].starts_with('\\'),
        None => leading_variable(text).is_some_and(|(value, _)| value.is_some()),
    }
}

/// The variable that the text begins with: its value, if every machine has it, and its length.
fn leading_variable(text: &str) -> Option<(Option<&'static str>, usize)> {
    let (name, length) = if let Some(rest) = text.strip_prefix('%') {
        let end = rest.find('%').filter(|end| *end > 0)?;
        (&rest[..end], end + 2)
    } else {
        let rest = text.strip_prefix('$')?;
        let (rest, brace) = rest.strip_prefix('{').map_or((rest, 0), |rest| (rest, 1));
        let scope = rest.get(..4).is_some_and(|s| s.eq_ignore_ascii_case("env:"));
        let from = if scope { 4 } else { 0 };
        let end = match brace {
            1 => rest.find('}')?,
            _ => rest[from..]
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .map_or(rest.len(), |end| from + end),
        };
        // `$HOME` is PowerShell's too; no other variable of its own names a place.
        let name = rest.get(from..end)?;
        if !scope && !name.eq_ignore_ascii_case("home") {
            return None;
        }
        (name, 1 + brace + end + brace)
    };
    let known = VARIABLES.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
    Some((known.map(|(_, value)| *value), length))
}

/// A word of cmd.exe or PowerShell as a path, a name or a text with `/` for its backslashes.
pub fn word_value(raw: &str, home: &str, span: Range<usize>) -> Value {
    if raw.contains("://") {
        return Value::known(raw, span);
    }
    let mut text = String::new();
    let mut rest = raw;
    if raw == "~" || raw.starts_with("~/") || raw.starts_with(r"~\") {
        text.push_str(home);
        rest = &raw[1..];
    }
    while let Some(at) = rest.find(['%', '$']) {
        text.push_str(&rest[..at]);
        let Some((Some(value), length)) = leading_variable(&rest[at..]) else {
            let percent = rest[at..].starts_with('%') && leading_variable(&rest[at..]).is_none();
            if percent || rest[at..].len() == 1 {
                text.push_str(&rest[at..=at]);
                rest = &rest[at + 1..];
                continue;
            }
            // Known up to here.
            let prefix = text.replace('\\', "/");
            return Value::begins(prefix, span).one();
        };
        match value.strip_prefix('~') {
            Some(below) => text.extend([home, below]),
            None => text.push_str(value),
        }
        rest = &rest[at + length..];
    }
    text.push_str(rest);
    let text = match canonical_path(&text) {
        Some(path) => path,
        None => text.replace('\\', "/"),
    };
    // `*.*` is every name.
    let text = match text.strip_suffix("*.*") {
        Some(head) if head.is_empty() || head.ends_with('/') => format!("{head}*"),
        _ => text,
    };
    let glob = glob::has_active(&text);
    Value::known(text, span).globbed(glob)
}

/// A program's name as tables have it, where it is spelt another way: in upper case, with a path
/// of backslashes, with its suffix.
pub fn program_name(word: &str) -> Option<String> {
    let upper = |b: u8| b.is_ascii_uppercase() || b == b'\\' || b == b'.';
    if !word.bytes().any(upper) || word.len() > limits::PATH_MAX {
        return None;
    }
    let base = word.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let name = SUFFIXES.iter().find_map(|suffix| base.strip_suffix(suffix)).unwrap_or(&base);
    (!name.is_empty() && name != word).then(|| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_form() {
        let form = |text: &str| canonical_path(text).unwrap_or_default();
        assert_eq!(form(r"c:\Users\.\x\..\y\"), "C:/Users/y");
        assert_eq!(form(r"C:\"), "C:/");
        assert_eq!(form("D:"), "D:/");
        assert_eq!(form(r"\\.\PhysicalDrive0"), "/dev/PhysicalDrive0");
        assert_eq!(form(r"\\?\C:\x"), "C:/x");
        assert_eq!(form(r"\\.\C:\x"), "C:/x");
        assert_eq!(form(r"\\.\C:"), "/dev/C:");
        assert_eq!(form(r"\\server\share\x"), "//server/share/x");
        assert_eq!(form(r"hklm:\Software"), "HKLM:/Software");
        for none in ["C:x", "src/x", "", "a", "::", r"\n", "http://x"] {
            assert_eq!(canonical_path(none), None, "{none}");
        }
    }

    #[test]
    fn a_drive_of_the_shell_of_git() {
        assert_eq!(mounted_drive("/c/Users/x"), Some(("C:".into(), "Users/x")));
        assert_eq!(mounted_drive("/d"), Some(("D:".into(), "")));
        for none in ["/", "//c/x", "/cd/x", "c/x", "/1/x"] {
            assert_eq!(mounted_drive(none), None, "{none}");
        }
    }

    #[test]
    #[cfg(windows)]
    fn spellings_of_one_file() {
        let form = |text: &str| {
            let read = read_spelling(text, "C:/Users/x");
            canonical_path(&read).or_else(|| canonical_path(&format!("C:/Users/x/{read}")))
        };
        for same in [
            r"\Users\x\a",
            "/Users/x/a",
            "a",
            r".\a",
            "C:a",
            "c:/users/../Users/x/a",
            "a. .",
            r"\\.\C:\Users\x\a",
            "//./C:/Users/x/a",
            "//?/C:/Users/x/a",
            "/c/Users/x/a",
        ] {
            assert_eq!(form(same).as_deref(), Some("C:/Users/x/a"), "{same}");
        }
        assert_eq!(form("D:a").as_deref(), Some("D:/a"));
        assert_eq!(form("ab::$DATA").as_deref(), Some("C:/Users/x/ab"));
        for posix in ["/", "/*", "/etc/passwd", "/tmp/x"] {
            assert_eq!(read_spelling(posix, "C:/Users/x"), posix);
        }
    }

    #[test]
    fn words() {
        let word = |raw: &str| word_value(raw, "/home/dev", 0..0);
        let text = |raw: &str| word(raw).known_start().to_string();
        assert_eq!(text(r"%USERPROFILE%\.ssh"), "/home/dev/.ssh");
        assert_eq!(text(r"$env:USERPROFILE\x"), "/home/dev/x");
        assert_eq!(text(r"${Env:windir}\System32"), "C:/Windows/System32");
        assert_eq!(text(r"%HOMEDRIVE%%HOMEPATH%"), "/home/dev");
        assert_eq!(text(r"src\main.rs"), "src/main.rs");
        assert_eq!(text("100%"), "100%");
        assert_eq!(text(r"C:\*.*"), "C:/*");
        assert_eq!(word(r"C:\Users\$name").prefix(), Some("C:/Users/"));
        assert_eq!(word("$x").text(), None);
    }

    #[test]
    fn programs() {
        assert_eq!(program_name("GIT").as_deref(), Some("git"));
        assert_eq!(program_name(r"C:\Program Files\Git\bin\git.exe").as_deref(), Some("git"));
        assert_eq!(program_name("git"), None);
        assert_eq!(program_name("x.sh"), None);
    }
}
