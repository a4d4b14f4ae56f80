//! The programs that the commands of hooks run, as files: where they are, and whether they still are.
//! Nothing is run for that, and what only a shell could tell is not told.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::effect::program::table::{self, Class};
use crate::env;
use crate::files;
use crate::script::line::{is_assignment, split_words};

/// Words before a program that run what follows them.
const BEFORE: &[&str] = &["exec", "env", "command", "nohup"];
/// What the system itself looks for behind a program's name.
const ENDINGS: &[&str] = if cfg!(windows) { &["", ".exe", ".com", ".cmd", ".bat"] } else { &[""] };
/// What ends a word where no blank does.
const ENDS: [char; 5] = [';', '&', '|', '(', ')'];

/// The words of a command line that must be files for it to run: its program, the script of an
/// interpreter, and each word with one of these marks, in a line within the line too.
pub fn needed_files(line: &str, marks: &[&str]) -> Vec<String> {
    let all = split_words(line);
    let before = |word: &&String| is_assignment(word) || BEFORE.contains(&word.as_str());
    let mut rest = all.iter().skip_while(before);
    let program = rest.next();
    let name = program.map(|word| word.rsplit('/').next().unwrap_or(word));
    let interpreter = name.filter(|name| table::has_class(name, Class::Interpreter, &[]));
    let is_code = |word: &str| match interpreter.is_some_and(|name| name.ends_with("sh")) {
        true => !word.starts_with("--") && word.ends_with('c'),
        false => word.ends_with(['c', 'e', 'm', 'p']) || matches!(word, "--eval" | "--print"),
    };
    let script = interpreter.and_then(|_| {
        let mut rest = rest.take_while(|word| !(word.starts_with('-') && is_code(word)));
        rest.find(|word| !word.starts_with('-'))
    });
    let within = all.iter().filter(|word| word.contains(char::is_whitespace));
    let within: Vec<String> = within.flat_map(|line| split_words(line)).collect();
    let marked = |word: &&String| {
        let word = word.replace('\\', "/");
        word.contains('/') && marks.iter().any(|mark| word.contains(mark))
    };
    let marked = all.iter().chain(&within).filter(marked);
    let mut found: Vec<String> = Vec::new();
    for word in program.into_iter().chain(script).chain(marked) {
        let word = word.trim_matches(ENDS).to_string();
        if !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// What a word leads to.
#[derive(Debug, PartialEq, Eq)]
pub enum Lead {
    /// This file.
    File(PathBuf),
    /// Here, where no file is.
    Nothing(PathBuf),
    /// Only a shell could tell.
    Unknown,
}

/// What paths in the commands of a settings file start from.
#[derive(Debug, Clone)]
pub struct Roots {
    /// The user's home.
    pub home: PathBuf,
    /// The project's root, in which the client runs hooks.
    pub project: PathBuf,
}

impl Roots {
    /// Those of a settings file: it lies in a directory of its own below the project's root.
    pub fn for_settings(home: &Path, settings: &Path) -> Roots {
        let project = settings.parent().and_then(Path::parent).unwrap_or(home);
        Roots { home: home.to_path_buf(), project: project.to_path_buf() }
    }

    /// Where that word of a command leads. A bare name is looked for in PATH, which may be another for the
    /// client: not to find it says nothing.
    pub fn find_lead(&self, word: &str) -> Lead {
        if !word.contains(['/', std::path::MAIN_SEPARATOR]) {
            return resolve_program(word).map_or(Lead::Unknown, Lead::File);
        }
        let Some(path) = self.expand_word(word) else { return Lead::Unknown };
        match is_there(&path) {
            true => Lead::File(path),
            false => Lead::Nothing(path),
        }
    }

    /// The path with `~` and the variables that are known here; none where more is in it.
    fn expand_word(&self, word: &str) -> Option<PathBuf> {
        let (home, project) = (self.home.to_string_lossy(), self.project.to_string_lossy());
        let mut path = word
            .replace("${CLAUDE_PROJECT_DIR}", &project)
            .replace("$CLAUDE_PROJECT_DIR", &project)
            .replace("${HOME}", &home)
            .replace("$HOME", &home);
        if let Some(rest) = path.strip_prefix("~/") {
            path = format!("{home}/{rest}");
        }
        let shells = path.starts_with('~')
            || cfg!(windows) && path.contains('%')
            || path.contains(['$', '`', '*', '?', '[', '{', '<', '>', '"', '\'', '\n'])
            || path.contains(ENDS);
        (!shells).then(|| self.project.join(path))
    }
}

/// Is there a file? Where that cannot be looked at, there may be one.
pub fn is_there(file: &Path) -> bool {
    match file.metadata() {
        Ok(meta) => meta.is_file(),
        Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

/// The program as the agent will find it: bare names through PATH.
pub fn resolve_program(command: &str) -> Option<PathBuf> {
    let path = Path::new(command);
    if path.components().count() > 1 {
        return spellings(path).find(|path| path.exists());
    }
    let dirs = env::get_path(env::PATH)?;
    let mut files = std::env::split_paths(&dirs).flat_map(|dir| spellings(&dir.join(command)));
    files.find(|file| is_executable(file))
}

/// The files that a program of that name may be.
fn spellings(program: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let name = program.as_os_str().to_os_string();
    ENDINGS.iter().map(move |ending| {
        let mut name = name.clone();
        name.push(ending);
        name.into()
    })
}

/// Does this file begin as a program does? A shell runs any other as a script, and an empty one answers nothing.
pub fn begins_as_program(file: &Path) -> bool {
    // ELF, Mach-O of one and of several processors, what Windows runs, a script that names its interpreter.
    let starts: [&[u8]; 5] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ", b"#!"];
    files::read_head(file, 4).is_ok_and(|head| starts.iter().any(|start| head.starts_with(start)))
}

/// Can this file be run?
pub fn is_executable(file: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(file)
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    fs::metadata(file).is_ok_and(|meta| meta.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_needs_its_program_its_script_and_what_is_marked() {
        let marks = &[".cdev/hooks/"];
        for (line, words) in [
            ("/h/.cdev/hooks/p.sh session", &["/h/.cdev/hooks/p.sh"][..]),
            ("X=1 exec 'a b/x.sh' y", &["a b/x.sh"]),
            ("node --no-warnings /x/y.js z", &["node", "/x/y.js"]),
            (
                "/bin/bash -c '~/.cdev/hooks/p.sh; true'",
                &["/bin/bash", "~/.cdev/hooks/p.sh; true", "~/.cdev/hooks/p.sh"],
            ),
            ("[ -x ~/.cdev/hooks/p.sh ] && ~/.cdev/hooks/p.sh;", &["[", "~/.cdev/hooks/p.sh"]),
            // Behind code that stands in the line no word is a script.
            ("node --eval 'run()' x.js", &["node"]),
            ("node -p 'run()' x.js", &["node"]),
            ("python3 -Ic 'import x' x.py", &["python3"]),
            ("perl -e 'exec' x.pl", &["perl"]),
            ("env A=1 python3", &["python3"]),
            ("", &[]),
        ] {
            assert_eq!(needed_files(line, marks), words, "{line}");
        }
    }

    #[test]
    fn a_word_leads_where_it_can_be_known() {
        let roots = Roots { home: "/nowhere/h".into(), project: "/nowhere/p".into() };
        let nothing = |path: &str| Lead::Nothing(path.into());
        for (word, lead) in [
            ("~/x", nothing("/nowhere/h/x")),
            ("${HOME}/x", nothing("/nowhere/h/x")),
            ("$CLAUDE_PROJECT_DIR/x", nothing("/nowhere/p/x")),
            ("./x", nothing("/nowhere/p/./x")),
            ("/dev/null/x", nothing("/dev/null/x")),
            ("/dev", nothing("/dev")),
            ("/etc/passwd", Lead::File("/etc/passwd".into())),
            ("~root/x", Lead::Unknown),
            ("$X/x", Lead::Unknown),
            ("`pwd`/x", Lead::Unknown),
            ("/x;y", Lead::Unknown),
            ("no-such-program-anywhere", Lead::Unknown),
        ] {
            assert_eq!(roots.find_lead(word), lead, "{word}");
        }
    }
}
