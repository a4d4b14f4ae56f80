use super::*;
use crate::rule::Layer;
use crate::rule::file;

/// A rule with that script, read from the project's file.
fn read(root: &Path, script: &str) -> (PathBuf, String, RuleFile) {
    let text = format!("[rule.x]\nhook = '''{script}'''\n");
    let path = root.join(".hookctl.toml");
    let read = file::read_rules(&text, &path, Layer::Project, None);
    assert!(read.faults.is_empty(), "{script}: {:?}", read.faults);
    (path, text, read)
}

fn fill(root: &Path, files: &[&str]) {
    for name in files {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), "exit 0").unwrap();
    }
}

/// What a rule with that script pins, in a project with these files.
fn pinned(files: &[&str], script: &str) -> TrustEntry {
    let dir = tempfile::tempdir().unwrap();
    let root = crate::files::real_path(dir.path()).unwrap();
    fill(&root, files);
    let (_, text, read) = read(&root, script);
    let mut entry = approval_entry(&root, &text, &read, String::new());
    let short = |name: String| match Path::new(&name).strip_prefix(&root) {
        Ok(rest) => rest.display().to_string(),
        Err(_) => name,
    };
    entry.programs = entry.programs.into_iter().map(|(name, hash)| (short(name), hash)).collect();
    entry.absent = entry.absent.into_iter().map(short).collect();
    for one in &mut entry.listings {
        one.dir = short(one.dir.clone());
    }
    entry
}

/// What a command runs is looked for where it runs, and that is in the project.
#[test]
fn s3_58_a_command_with_a_directory_pins_what_lies_there() {
    let dir = tempfile::tempdir().unwrap();
    let root = crate::files::real_path(dir.path()).unwrap();
    fill(&root, &["x.sh", "d/x.sh", "d/sub/y.sh"]);
    let read = |keys: &str| {
        let text = format!("[rule.x]\nhook = {{ {keys} }}\n");
        let read = file::read_rules(&text, &root.join(".hookctl.toml"), Layer::Project, None);
        (text, read)
    };
    for (keys, wanted) in [
        ("command = 'sh x.sh'", "x.sh"),
        ("command = 'sh x.sh', cwd = './d'", "d/x.sh"),
        ("command = 'sh y.sh', cwd = './d/sub/'", "d/sub/y.sh"),
        ("command = './x.sh', cwd = './d'", "x.sh"),
    ] {
        let (text, read) = read(keys);
        assert!(read.faults.is_empty(), "{keys}: {:?}", read.faults);
        let entry = approval_entry(&root, &text, &read, String::new());
        let names: Vec<&String> = entry.programs.keys().collect();
        assert_eq!(names, [&crate::effect::windows::native_text(&root.join(wanted))], "{keys}");
        assert!(entry.leads_out.is_empty(), "{keys}: {:?}", entry.leads_out);
    }
    for (keys, code) in [
        ("command = 'x', cwd = '/tmp'", "only-tightens"),
        ("command = 'x', cwd = '~/x'", "only-tightens"),
        ("command = 'x', cwd = './../x'", "bad-directory"),
        ("command = 'x', cwd = './/tmp'", "bad-directory"),
        (r"command = 'x', cwd = './d\..\..\x'", "bad-directory"),
    ] {
        let (_, read) = read(keys);
        assert!(read.faults.iter().any(|fault| fault.code == code), "{keys}: {:?}", read.faults);
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/tmp", root.join("out")).unwrap();
        let (text, read) = read("command = 'x', cwd = './out'");
        assert!(!approval_entry(&root, &text, &read, String::new()).leads_out.is_empty());
    }
}

#[test]
fn every_program_that_a_command_runs_is_pinned() {
    let files = ["x.sh", "a b", "d/y", "bin/tool", "h/1.sh", "h/2.txt", "M.mk", "tool"];
    for (script, wanted) in [
        ("sh x.sh", &["x.sh"][..]),
        ("./x.sh a", &["x.sh"]),
        ("\"$CLAUDE_PROJECT_DIR\"/x.sh", &["x.sh"]),
        ("$CLAUDE_PROJECT_DIR/x.sh", &["x.sh"]),
        ("\"$CLAUDE_PROJECT_DIR/x.sh\"", &["x.sh"]),
        ("${{CLAUDE_PROJECT_DIR}/x.sh", &["x.sh"]),
        ("$PWD/x.sh", &["x.sh"]),
        ("cd d && ./y", &["d/y"]),
        ("(cd d; sh ./y)", &["d/y"]),
        ("PATH=./bin:$PATH tool", &["bin/tool"]),
        ("PATH=\"$PWD/bin:$PATH\" tool", &["bin/tool"]),
        ("export PATH=bin:$PATH; tool", &["bin/tool"]),
        ("cd d && PATH=../bin:$PATH tool", &["bin/tool"]),
        ("env PATH=./bin:$PATH tool", &["bin/tool"]),
        ("PATH+=:./bin; tool", &["bin/tool"]),
        ("export PATH+=\":$PWD/bin\" && tool", &["bin/tool"]),
        ("MY_PATH=./bin tool", &[]),
        ("PATH=./bin:$PATH ./tool", &["tool"]),
        ("tool", &[]),
        ("bash -c './x.sh; sh d/y'", &["d/y", "x.sh"]),
        ("source x.sh", &["x.sh"]),
        (". ./x.sh", &["x.sh"]),
        ("python3 x.sh", &["x.sh"]),
        ("'./a b'", &["a b"]),
        ("./a\\ b", &["a b"]),
        ("sh < x.sh", &["x.sh"]),
        ("cat x.sh | sh", &["x.sh"]),
        ("eval \"$(cat x.sh)\"", &["x.sh"]),
        ("timeout 5 env ./x.sh", &["x.sh"]),
        ("echo $(./x.sh)", &["x.sh"]),
        ("true || exec ./x.sh", &["x.sh"]),
        ("f() { ./x.sh; }; f", &["x.sh"]),
        ("trap ./x.sh EXIT", &["x.sh"]),
        ("X=x.sh; sh \"$X\"", &["x.sh"]),
        ("./d/../x.sh", &["x.sh"]),
    ] {
        let entry = pinned(&files, script);
        let names: Vec<&str> = entry.programs.keys().map(String::as_str).collect();
        assert_eq!(names, wanted, "{script}: {entry:?}");
        assert!(entry.unpinned.is_empty(), "{script}: {entry:?}");
    }
}

#[test]
fn data_is_not_pinned() {
    for script in
        ["cat x.sh", "grep -q a x.sh", "test -f x.sh", "git status", "rustfmt {path}", "head -1 no"]
    {
        let entry = pinned(&["x.sh"], script);
        let nothing = entry.programs.is_empty()
            && entry.absent.is_empty()
            && entry.listings.is_empty()
            && entry.unpinned.is_empty();
        assert!(nothing, "{script}: {entry:?}");
    }
}

#[test]
fn what_is_not_there_and_what_lies_in_directories_is_pinned() {
    for script in
        ["./no", "sh no", "cd d && ../no", "PATH=$PWD:$PATH no", "[ -x no ] && ./no", "python no"]
    {
        let entry = pinned(&["d/y"], script);
        assert!(entry.absent.contains("no"), "{script}: {entry:?}");
    }
    for script in [
        "run-parts h",
        "./h/*.sh",
        "for f in h/*.sh; do sh \"$f\"; done",
        "find h -name '*.sh' -exec sh {{} \\;",
    ] {
        let entry = pinned(&["h/1.sh"], script);
        assert_eq!(entry.listings.len(), 1, "{script}: {entry:?}");
        assert_eq!(entry.listings[0].dir, "h", "{script}");
    }
}

#[test]
fn what_cannot_be_pinned_is_said() {
    for script in [
        "$(cat name)",
        "sh {path}",
        "sh \"$X\"",
        "eval \"$X\"",
        "python -m pkg",
        "make",
        "npm test",
        "cargo test",
        "LD_PRELOAD=./x.so ls",
        "$X/git status",
        "PATH=$X:$PATH tool",
        "python3 \"$X\"",
        "x=$(ls | head -1); ./$x",
        "curl -s http://x.org | sh",
        "./*/x.sh",
    ] {
        let entry = pinned(&["Makefile"], script);
        assert!(!entry.unpinned.is_empty(), "{script}: {entry:?}");
    }
}

#[cfg(unix)]
#[test]
fn what_changes_ends_the_trust() {
    use std::os::unix::fs::symlink;
    let over = |root: &Path, name: &str, target: &str| {
        fs::remove_file(root.join(name)).unwrap();
        symlink(target, root.join(name)).unwrap();
    };
    type Change<'a> = (&'a str, &'a dyn Fn(&Path));
    let changes: &[Change<'_>] = &[
        ("sh x.sh", &|root| fs::write(root.join("x.sh"), "evil").unwrap()),
        ("sh x.sh", &|root| fs::remove_file(root.join("x.sh")).unwrap()),
        ("./new", &|root| fs::write(root.join("new"), "").unwrap()),
        ("./new", &|root| symlink("nowhere", root.join("new")).unwrap()),
        ("./link", &|root| over(root, "link", "d/y")),
        ("./dirlink/y", &|root| over(root, "dirlink", "h")),
        ("run-parts d", &|root| fs::write(root.join("d/z"), "").unwrap()),
        ("run-parts d", &|root| fs::write(root.join("d/y"), "evil").unwrap()),
        // What a link in it leads to, and where it leads.
        ("run-parts l", &|root| fs::write(root.join("x.sh"), "evil").unwrap()),
        ("run-parts l", &|root| over(root, "l/run", "../h/y")),
        ("run-parts l", &|root| fs::remove_file(root.join("x.sh")).unwrap()),
        ("run-parts new.d", &|root| {
            fs::create_dir(root.join("new.d")).and(fs::write(root.join("new.d/x"), "")).unwrap()
        }),
        ("python3 d", &|root| fs::write(root.join("d/__main__.py"), "").unwrap()),
        ("./h/*.sh", &|root| fs::write(root.join("h/3.sh"), "").unwrap()),
        ("sh new.d/*.sh", &|root| {
            fs::create_dir(root.join("new.d")).and(fs::write(root.join("new.d/x.sh"), "")).unwrap()
        }),
        ("PATH=./d:./bin:$PATH tool", &|root| fs::write(root.join("d/tool"), "").unwrap()),
        ("make", &|root| fs::write(root.join("GNUmakefile"), "").unwrap()),
    ];
    for (script, change) in changes {
        let dir = tempfile::tempdir().unwrap();
        let root = &crate::files::real_path(dir.path()).unwrap();
        fill(root, &["x.sh", "d/y", "h/y", "h/1.sh", "bin/tool", "Makefile"]);
        symlink("x.sh", root.join("link")).unwrap();
        symlink("d", root.join("dirlink")).unwrap();
        fs::create_dir(root.join("l")).and(symlink("../x.sh", root.join("l/run"))).unwrap();
        let (path, text, read) = read(root, script);
        let mut store = Store::default();
        let entry = approval_entry(root, &text, &read, String::new());
        assert!(entry.leads_out.is_empty(), "{script}");
        store.files.insert(path.to_str().unwrap().into(), entry);
        fs::write(root.join("h/other.txt"), "data").unwrap();
        assert!(store.is_approved(&path, &text), "{script}");
        change(root);
        assert_eq!(store.approval_state(&path, &text), TrustState::Changed, "{script}");
    }
}

/// What becomes of the trust in a rule with that script, which may name the project, once something is changed in it.
#[cfg(windows)]
fn state_after(script: &str, change: &dyn Fn(&Path)) -> TrustState {
    let dir = tempfile::tempdir().unwrap();
    let root = &crate::files::real_path(dir.path()).unwrap();
    fill(root, &["x.sh", "x.bat", "x.ps1", "tool", "d/y", "bin/run.cmd", "a long name/y.sh"]);
    let slashed = windows::native_text(root);
    let script = script
        .replace("ROOT", &root.to_string_lossy())
        .replace("LOWER", &format!("c{}", &slashed[1..]))
        .replace("SHOUTED", &slashed.to_uppercase())
        .replace("MOUNTED", &format!("/c{}", &slashed[2..]));
    let (path, text, read) = read(root, &script);
    let mut store = Store::default();
    let entry = approval_entry(root, &text, &read, String::new());
    assert!(entry.leads_out.is_empty(), "{script}: {entry:?}");
    store.files.insert(file_key(&path).unwrap().into_owned(), entry);
    fs::write(root.join("other.txt"), "data").unwrap();
    assert!(store.is_approved(&path, &text), "{script}");
    change(root);
    store.approval_state(&path, &text)
}

/// However Windows and its shells spell the file.
#[cfg(windows)]
#[test]
fn what_changes_ends_the_trust_on_windows() {
    let evil = |name: &'static str| move |root: &Path| fs::write(root.join(name), "evil").unwrap();
    let scripts = [
        "./x.sh a",
        "./X.SH",
        "x='x.sh'; ./$x",
        r"'.\x.sh'",
        r#"".\x.sh""#,
        r".\\x.sh",
        r"'ROOT\x.sh'",
        r"'ROOT/x.sh'",
        "LOWER/x.sh",
        "'SHOUTED/X.SH'",
        "MOUNTED/x.sh",
        r"'\\?\ROOT\x.sh'",
        "./x.sh.",
        "./d/../x.sh",
        r"'d\..\x.sh'",
        "sh LOWER/x.sh",
        r"sh 'ROOT\x.sh'",
        "sh X.sh",
        "cd D && ../x.sh",
        "bash -c './x.sh'",
        r"env 'ROOT\x.sh'",
    ];
    let mut wrong = Vec::new();
    let mut check = |script: &str, name, wanted| {
        let found = state_after(script, &evil(name));
        if found != wanted {
            wrong.push(format!("{script}: {name}: {found:?}"));
        }
    };
    scripts.iter().for_each(|script| check(script, "x.sh", TrustState::Changed));
    for (script, name) in [
        // What completes the name is there first, or instead.
        ("./tool", "tool"),
        ("./tool", "tool.exe"),
        ("./tool", "TOOL.CMD"),
        ("./new", "new.bat"),
        ("./d/y", "d/y.com"),
        ("PATH=./bin:$PATH run", "bin/run.cmd"),
        ("PATH=./bin:$PATH run", "bin/run.exe"),
        ("PATH=LOWER/d:./bin run", "bin/run.cmd"),
        ("cmd /c tool", "tool.cmd"),
        ("cmd //c tool", "tool.cmd"),
        ("cmd.exe /d /c tool", "tool.cmd"),
        ("cmd /c git status", "git.bat"),
        (r"cmd /c '.\x.bat'", "x.bat"),
        ("cmd /c x.bat", "x.bat"),
        ("cmd /c call x.bat", "x.bat"),
        ("./x.bat", "x.bat"),
        (r"cmd /c 'bin\run.cmd'", "bin/run.cmd"),
        (r"cmd /c 'bin\run'", "bin/run.exe"),
        (r"cmd /c 'ROOT\bin\run.cmd x'", "bin/run.cmd"),
        (r"cmd /c 'cd bin & run'", "bin/run.cmd"),
        (r"cmd /c 'cd d & cd ..\bin & .\run'", "bin/run.cmd"),
        (r"powershell -Command 'bin\run.cmd'", "bin/run.cmd"),
        (r"powershell -Command '. ./x.ps1'", "x.ps1"),
        (r"powershell -Command 'echo a; ./x.ps1'", "x.ps1"),
        ("powershell -File x.ps1", "x.ps1"),
        (r"powershell -NoProfile -File '.\x.ps1'", "x.ps1"),
        ("pwsh ./x.ps1", "x.ps1"),
        (r"powershell -Command '& .\x.ps1'", "x.ps1"),
        ("'./a long name/y.sh'", "a long name/y.sh"),
        ("sh 'A LONG NAME/y.sh'", "a long name/y.sh"),
    ] {
        check(script, name, TrustState::Changed);
    }
    // Harmless twins.
    for script in ["cat x.sh", "git status", "cmd /c type x.bat", "./d/y"] {
        check(script, "x.sh", TrustState::Approved);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The session's directory comes with the drive's letter as the agent writes it.
#[cfg(windows)]
#[test]
fn a_drive_is_one_however_its_letter_is_written() {
    let key = |text: &str| file_key(Path::new(text)).map(Cow::into_owned);
    for same in [r"c:\p\.hookctl.toml", r"C:\p\.hookctl.toml", "c:/p/.hookctl.toml"] {
        assert_eq!(key(same).as_deref(), Some("C:/p/.hookctl.toml"), "{same}");
    }
}

/// Most Windows machines set no HOME.
#[cfg(windows)]
#[test]
fn a_home_is_where_the_system_has_it() {
    let entry = pinned(&[], "~/no.sh");
    let named: Vec<&String> = entry.absent.iter().collect();
    assert!(named.iter().any(|name| name.contains(":/") && name.ends_with("/no.sh")), "{entry:?}");
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_told() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let base = crate::files::real_path(dir.path()).unwrap();
    let root = base.join("project");
    fill(&base, &["project/x.sh", "else/x.sh"]);
    symlink("../else", root.join("out")).unwrap();
    symlink("/bin/sh", root.join("shell")).unwrap();
    symlink("x.sh", root.join("in")).unwrap();
    for (script, out) in [("./out/x.sh", 1), ("sh out/x.sh", 1), ("./shell x.sh", 0), ("./in", 0)] {
        let (_, text, read) = read(&root, script);
        let entry = approval_entry(&root, &text, &read, String::new());
        assert_eq!(entry.leads_out.len(), out, "{script}: {entry:?}");
    }
}

#[test]
fn an_entry_that_pinned_less_approves_nothing() {
    let old = r#"{"files":{"/p/.hookctl.toml":{"hash":"HASH","programs":{},"since":""}}}"#;
    let store: Store = serde_json::from_str(&old.replace("HASH", &sha256_hex(b"x"))).unwrap();
    let path = Path::new("/p/.hookctl.toml");
    assert_eq!(store.approval_state(path, "x"), TrustState::Outdated);
    assert_eq!(store.approval_state(path, "y"), TrustState::Changed);
    assert_eq!(store.approval_state(Path::new("/p"), "y"), TrustState::Unknown);
}

#[test]
fn a_path_in_the_home_is_pinned_there() {
    let entry = pinned(&[], "sh ~/.hookctl-no-such-directory/x.sh");
    let home = std::env::home_dir().unwrap();
    let wanted = crate::effect::windows::native_text(&home.join(".hookctl-no-such-directory/x.sh"));
    assert!(entry.absent.contains(&wanted), "{:?} {:?}", entry.absent, entry.programs);
}

#[test]
#[cfg(not(windows))]
fn only_cmd_of_windows_starts_what_lies_beside_it() {
    assert!(pinned(&["tool"], "cmd /c tool").programs.is_empty());
}
