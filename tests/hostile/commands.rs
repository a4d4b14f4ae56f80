//! Commands of the user's own rules that hang, fork, flood, or hold on to what they were given.

use crate::scene::{Expect, FORBIDDEN, Late, Row, row};

/// What a command does, and that it is the verdict of a deny: none of these succeeds.
const RUNS: &[(&str, &str)] = &[
    ("sleeps", "sleep 9"),
    ("ignores what ends it", "trap '' TERM INT HUP PIPE ALRM; while :; do sleep 1; done"),
    ("forks for ever", "while :; do /bin/true; done"),
    ("forks for ever in the background", "while :; do sleep 0.02 & wait; done"),
    (
        "leaves 200 processes behind",
        "i=0; while [ $i -lt 200 ]; do sleep 9 & i=$((i+1)); done; exit 1",
    ),
    ("leaves a session behind that holds its streams", "setsid sleep 9 & exit 1"),
    ("leaves a process behind that holds its streams", "sleep 9 & exit 1"),
    ("writes for ever", "yes"),
    ("writes for ever to stderr", "yes >&2"),
    ("writes for ever in the background", "yes & exit 1"),
    ("writes zeros", "head -c 50000000 /dev/zero; exit 1"),
    ("writes one line of 50 MB", "head -c 50000000 /dev/zero | tr '\\\\0' x; exit 1"),
    ("writes escapes", "printf '\\\\033[2J\\\\377\\\\000'; exit 1"),
    ("closes its streams and stays", "exec 0<&- 1>&- 2>&-; sleep 9"),
    ("stops itself", "kill -STOP $$"),
    ("kills itself", "kill -9 $$"),
    ("dumps core", "kill -SEGV $$"),
    ("ends its own group", "kill -TERM 0; sleep 9"),
    ("hangs up its own group", "kill -HUP 0; sleep 9"),
    ("is not there", "/nonexistent/program"),
    ("is no program", "/"),
    ("is a broken script", "if then ((("),
    ("waits for its input without end", "cat >/dev/null; cat /dev/tty; sleep 9"),
    ("opens a FIFO", "mkfifo ./f 2>/dev/null; cat ./f"),
    ("goes to another directory and removes this one", "cd /; exit 1"),
    ("ends with 255", "exit 255"),
];

pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for &(what, run) in RUNS {
        // A fault of its rule, which then asks.
        let broken = what == "is a broken script";
        let told = if broken { Expect::Strict } else { Expect::Passed };
        let denied = if broken { Expect::Strict } else { Expect::Deny };
        for (how, limit) in [("", "limit = 1\n"), (", up to the deadline", "")] {
            rows.push(row(format!("a command {what}{how}"), denied, move |s| {
                s.rules(&format!(
                    "[rule.check]\ntool = \"Bash\"\nrun = \"{run}\"\ndeny = \"no\"\n{limit}"
                ));
                s.call("ls");
            }));
        }
        rows.push(row(format!("a script {what}"), denied, move |s| {
            s.rules(&format!(
                "[rule.old]\ntool = \"Bash\"\nhook = \"{run}\"\notherwise = \"deny\"\n"
            ));
            s.call("ls");
        }));
        rows.push(row(
            format!("a command {what}, alone, beside a plain deny"),
            Expect::Deny,
            move |s| {
                s.rules(&format!("[rule.check]\ntool = \"Bash\"\nrun = \"{run}\"\n"));
            },
        ));
        rows.push(row(format!("context comes from what {what}"), told, move |s| {
            s.rules(&format!("[rule.tell]\ntool = \"Bash\"\ncontext = {{ run = \"{run}\" }}\n"));
            s.call("ls");
        }));
    }
    rows.extend(conditions());
    rows.extend(answers());
    rows.extend(many());
    rows
}

fn conditions() -> Vec<Row> {
    let hangs =
        ["sleep 9", "kill -9 $$", "/nonexistent/program", "trap '' TERM; sleep 9", "kill -STOP $$"];
    let mut rows = Vec::new();
    for run in hangs {
        // The shell answers for a program that is not there: a status like any other.
        let expect = if run.starts_with('/') { Expect::Lawful } else { Expect::Deny };
        rows.push(row(format!("a deny under the condition `{run}`"), expect, move |s| {
            s.rules(&format!(
                "[rule.when]\ntool = \"Bash\"\nwhen = {{ run = \"{run}\" }}\ndeny = \"no\"\n"
            ));
            s.call("ls");
        }));
        rows.push(row(format!("an exception under the condition `{run}`"), Expect::Deny, move |s| {
            s.rules(&format!("[rule.un]\ntool = \"Bash\"\nunless = {{ when = {{ run = \"{run}\" }} }}\ndeny = \"no\"\n"));
            s.call("ls");
        }));
    }
    rows
}

/// Scripts that say yes and do not end properly: no answer of theirs counts.
fn answers() -> Vec<Row> {
    let allow = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'"#;
    let ends = [
        ("never ends", "sleep 9", Expect::Strict),
        ("is killed", "kill -9 $$", Expect::Strict),
        ("floods", "yes", Expect::Strict),
        ("closes its output and stays", "exec 1>&- 2>&-; sleep 9", Expect::Strict),
        ("ends with 1", "exit 1", Expect::NotAllowed),
        ("says it twice", "echo '{}'", Expect::NotAllowed),
        ("says half of it again", "printf '{'", Expect::NotAllowed),
    ];
    ends.iter()
        .map(|&(name, end, expect)| {
            row(format!("a script says yes and {name}"), expect, move |s| {
                s.put("home/.config/hookctl/yes.sh", format!("{allow}\n{end}\n"));
                s.rules(
                    "[rule.old]\ntool = \"Bash\"\nhook = \"sh ./yes.sh\"\notherwise = \"deny\"\n",
                );
                s.call("ls");
            })
        })
        .collect()
}

fn many() -> Vec<Row> {
    let hundreds = |count: usize, run: &str, verdict: &str| -> String {
        (0..count)
            .map(|i| format!("[rule.r{i}]\ntool = \"Bash\"\nrun = \"{run} # {i}\"\n{verdict}"))
            .collect()
    };
    vec![
        row("300 rules with a command that fails", Expect::Deny, move |s| {
            s.rules(&hundreds(300, "false", "deny = \"no\"\n"));
            s.call("ls");
        }),
        row("100 rules with a command that sleeps", Expect::Deny, move |s| {
            s.rules(&hundreds(100, "sleep 9", "deny = \"no\"\n"));
            s.call("ls");
        }),
        row("300 rules with a command, few descriptors", Expect::Deny, move |s| {
            s.rules(&hundreds(300, "true", "deny = \"no\"\n"));
            s.call("ls");
            s.late.push(Late::Limit(libc::RLIMIT_NOFILE, 40));
        }),
        row("100 commands that write for ever, beside a plain deny", Expect::Deny, move |s| {
            s.rules(&hundreds(100, "yes", ""));
        }),
        row("2,000 rules with a condition", Expect::Deny, move |s| {
            let rules: String = (0..2000)
                .map(|i| format!("[rule.w{i}]\ntool = \"Bash\"\nwhen = {{ run = \"true # {i}\" }}\ndeny = \"no\"\n"))
                .collect();
            s.rules(&rules);
            s.call("ls");
        }),
        row("a command for each of 5,000 paths", Expect::Strict, move |s| {
            s.rules("[rule.each]\neffect = \"write\"\npath = \"./\"\nrun = \"false {path}\"\ndeny = \"no\"\n");
            let paths: Vec<String> = (0..5000).map(|i| format!("f{i}")).collect();
            s.call(&format!("{FORBIDDEN}; touch {}", paths.join(" ")));
        }),
        row("4 MB for a command that does not read", Expect::Deny, move |s| {
            s.rules("[rule.check]\ntool = \"Write\"\nrun = \"exit 1\"\ndeny = \"no\"\n");
            let content = "x".repeat(4 << 20);
            s.tool("Write", &serde_json::json!({ "file_path": "a", "content": content }));
        }),
        row("4 MB for a command that neither reads nor ends", Expect::Deny, move |s| {
            s.rules("[rule.check]\ntool = \"Write\"\nrun = \"sleep 9\"\ndeny = \"no\"\n");
            let content = "x".repeat(4 << 20);
            s.tool("Write", &serde_json::json!({ "file_path": "a", "content": content }));
        }),
        row("a thousand servers that are not there", Expect::Strict, move |s| {
            let rules: String = (0..1000)
                .map(|i| {
                    format!(
                        "[remote.s{i}]\nurl = \"http://127.0.0.1:9/{i}\"\n\
                         [rule.s{i}]\ntool = \"Bash\"\nremote = \"s{i}\"\notherwise = \"deny\"\n"
                    )
                })
                .collect();
            s.rules(&rules);
            s.call("ls");
        }),
        row("a server that takes and says nothing", Expect::Deny, move |s| {
            let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let address = server.local_addr().unwrap();
            s.keep.push(Box::new(server));
            s.rules(&format!(
                "[remote.x]\nurl = \"http://{address}/\"\n\n\
                 [rule.r]\ntool = \"Bash\"\nremote = \"x\"\notherwise = \"deny\"\n"
            ));
            s.call("ls");
        }),
    ]
}
