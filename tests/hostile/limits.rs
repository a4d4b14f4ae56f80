//! Each limit of setrlimit: set before the program starts, and, where a loader could not live with it, once
//! the program waits for its event.

use crate::scene::{Expect, FORBIDDEN, In, Late, Pre, Row, Scene, Skip, attempt, can_start, row};

const MANY: u64 = 1 << 40;

/// A call whose analysis takes as long as it is let.
fn expensive(scene: &mut Scene) {
    let globs = "**/".repeat(3000);
    scene.call(&format!("{FORBIDDEN}; cat {globs}x; {}", "x=$x$x$x; ".repeat(2000)));
}

fn limited(scene: &mut Scene, pre: &[Pre]) -> Result<(), Skip> {
    can_start(pre)?;
    scene.pre.extend(pre.iter().cloned());
    Ok(())
}

pub fn rows() -> Vec<Row> {
    let mut rows = memory();
    rows.extend(descriptors());
    rows.extend(files_and_processes());
    rows.extend(time());
    let others = [
        ("CORE", libc::RLIMIT_CORE),
        ("MEMLOCK", libc::RLIMIT_MEMLOCK),
        ("SIGPENDING", libc::RLIMIT_SIGPENDING),
        ("MSGQUEUE", libc::RLIMIT_MSGQUEUE),
        ("RTPRIO", libc::RLIMIT_RTPRIO),
        ("NICE", libc::RLIMIT_NICE),
        ("LOCKS", libc::RLIMIT_LOCKS),
        ("RSS", libc::RLIMIT_RSS),
    ];
    for (name, which) in others {
        rows.push(attempt(format!("{name} is 0"), Expect::Deny, move |s| {
            limited(s, &[Pre::Limit(which, 0, 0)])
        }));
        rows.push(attempt(format!("{name} is 0, stdin silent"), Expect::Strict, move |s| {
            s.stdin = In::Open(Vec::new());
            limited(s, &[Pre::Limit(which, 0, 0)])
        }));
    }
    rows
}

fn memory() -> Vec<Row> {
    let mut rows = Vec::new();
    for megabytes in [0, 1, 4, 16, 64] {
        let late = Late::Memory(megabytes << 20);
        rows.push(row(
            format!("{megabytes} MB more of memory, a small call"),
            Expect::Strict,
            move |s| {
                s.late.push(late);
            },
        ));
        rows.push(row(
            format!("{megabytes} MB more of memory, 12 MiB of call"),
            Expect::Strict,
            move |s| {
                s.call(&format!("{FORBIDDEN}; echo {}", "x".repeat(12 << 20)));
                s.late.push(late);
            },
        ));
        rows.push(row(
            format!("{megabytes} MB more of memory, a costly call"),
            Expect::Strict,
            move |s| {
                expensive(s);
                s.late.push(late);
            },
        ));
        rows.push(row(
            format!("{megabytes} MB more of memory, 3 MiB of rules"),
            Expect::Strict,
            move |s| {
                let rule = "[rule.a0]\ncommand = \"x ** y\"\ndeny = \"a\"\n";
                let rules: String = (0..3 << 20)
                    .step_by(rule.len())
                    .map(|i| rule.replace("a0", &format!("a{i}")))
                    .collect();
                s.rules(&rules);
                s.late.push(late);
            },
        ));
        rows.push(row(
            format!("{megabytes} MB more of memory, stdin silent"),
            Expect::Strict,
            move |s| {
                s.stdin = In::Open(Vec::new());
                s.late.push(late);
            },
        ));
    }
    for (name, which) in [("AS", libc::RLIMIT_AS), ("DATA", libc::RLIMIT_DATA)] {
        for megabytes in [2, 4, 8, 16, 32, 64] {
            rows.push(attempt(format!("{name} is {megabytes} MB"), Expect::Strict, move |s| {
                limited(s, &[Pre::Limit(which, megabytes << 20, megabytes << 20)])
            }));
        }
    }
    for kilobytes in [128, 512, 1024] {
        let limit = Pre::Limit(libc::RLIMIT_STACK, kilobytes << 10, kilobytes << 10);
        let small = limit.clone();
        rows.push(row(format!("a stack of {kilobytes} KB"), Expect::Deny, move |s| {
            s.pre.push(small.clone());
        }));
        let nested = limit.clone();
        rows.push(row(format!("a stack of {kilobytes} KB, a nested call"), Expect::Strict, {
            move |s| {
                s.call(&format!("{FORBIDDEN}; {}x{}", "$(".repeat(8000), ")".repeat(8000)));
                s.pre.push(nested.clone());
            }
        }));
        rows.push(row(format!("a stack of {kilobytes} KB, nested rules"), Expect::Strict, {
            move |s| {
                s.project(format!("x = {}{}", "[".repeat(100_000), "]".repeat(100_000)));
                s.pre.push(limit.clone());
            }
        }));
    }
    rows.push(attempt("a stack without a bound, a nested call", Expect::Strict, |s| {
        s.call(&format!("{FORBIDDEN}; {}x{}", "$(".repeat(8000), ")".repeat(8000)));
        limited(s, &[Pre::Limit(libc::RLIMIT_STACK, libc::RLIM_INFINITY, libc::RLIM_INFINITY)])
    }));
    rows
}

fn descriptors() -> Vec<Row> {
    let mut rows = Vec::new();
    for count in [0, 1, 2, 3, 4, 5, 6, 8] {
        let late = Late::Limit(libc::RLIMIT_NOFILE, count);
        rows.push(row(format!("{count} descriptors"), Expect::Strict, move |s| s.late.push(late)));
        rows.push(row(format!("{count} descriptors, stdin silent"), Expect::Strict, move |s| {
            s.stdin = In::Open(Vec::new());
            s.late.push(late);
        }));
        rows.push(row(
            format!("{count} descriptors, a rule's command"),
            Expect::Strict,
            move |s| {
                s.rules("[rule.check]\ntool = \"Bash\"\nrun = \"false\"\ndeny = \"no\"\n");
                s.call("ls");
                s.late.push(late);
            },
        ));
        rows.push(row(format!("{count} descriptors, a server"), Expect::Strict, move |s| {
            s.rules("[remote.x]\nurl = \"http://127.0.0.1:9/\"\n\n[rule.r]\ntool = \"Bash\"\nremote = \"x\"\notherwise = \"deny\"\n");
            s.call("ls");
            s.late.push(late);
        }));
        rows.push(attempt(
            format!("{count} descriptors from the start"),
            Expect::Strict,
            move |s| limited(s, &[Pre::Limit(libc::RLIMIT_NOFILE, count, count)]),
        ));
    }
    rows
}

fn files_and_processes() -> Vec<Row> {
    let mut rows = vec![
        attempt("no process or thread, as nobody", Expect::Deny, |s| {
            limited(s, &[Pre::Nobody, Pre::Limit(libc::RLIMIT_NPROC, 0, 0)])
        }),
        attempt("no process or thread, as nobody, stdin silent", Expect::Strict, |s| {
            s.stdin = In::Open(Vec::new());
            limited(s, &[Pre::Nobody, Pre::Limit(libc::RLIMIT_NPROC, 0, 0)])
        }),
        attempt("no process or thread, as nobody, a costly call", Expect::Strict, |s| {
            expensive(s);
            limited(s, &[Pre::Nobody, Pre::Limit(libc::RLIMIT_NPROC, 0, 0)])
        }),
        attempt("no process or thread, as nobody, a rule's command", Expect::Deny, |s| {
            s.rules("[rule.check]\ntool = \"Bash\"\nrun = \"true\"\ndeny = \"no\"\n");
            s.call("ls");
            limited(s, &[Pre::Nobody, Pre::Limit(libc::RLIMIT_NPROC, 0, 0)])
        }),
        attempt("no process or thread, as nobody, a server", Expect::Deny, |s| {
            s.rules("[remote.x]\nurl = \"http://127.0.0.1:9/\"\n\n[rule.r]\ntool = \"Bash\"\nremote = \"x\"\notherwise = \"deny\"\n");
            s.call("ls");
            limited(s, &[Pre::Nobody, Pre::Limit(libc::RLIMIT_NPROC, 0, 0)])
        }),
        attempt("no process or thread, as nobody, a failing condition", Expect::Deny, |s| {
            s.rules("[rule.when]\ntool = \"Bash\"\nwhen = { run = \"false\" }\ndeny = \"no\"\n");
            s.call("ls");
            limited(s, &[Pre::Nobody, Pre::Limit(libc::RLIMIT_NPROC, 0, 0)])
        }),
    ];
    for size in [0, 1, 100] {
        let limit = Pre::Limit(libc::RLIMIT_FSIZE, size, size);
        let first = limit.clone();
        rows.push(row(format!("files of {size} bytes at most"), Expect::Deny, move |s| {
            s.pre.push(first.clone());
        }));
        let second = limit.clone();
        rows.push(row(
            format!("files of {size} bytes at most, a harmless call"),
            Expect::Passed,
            {
                move |s| {
                    s.call("ls");
                    s.pre.push(second.clone());
                }
            },
        ));
        let third = limit.clone();
        rows.push(row(format!("files of {size} bytes at most, a broken project"), Expect::Deny, {
            move |s| {
                s.project("x = [");
                s.pre.push(third.clone());
            }
        }));
        rows.push(row(format!("files of {size} bytes at most, a long value"), Expect::Deny, move |s| {
            s.rules("[rule.check]\ntool = \"Bash\"\nrun = \"test -n {command}; false\"\ndeny = \"no\"\n");
            s.call(&format!("echo {}", "x".repeat(200_000)));
            s.pre.push(limit.clone());
        }));
    }
    rows
}

fn time() -> Vec<Row> {
    let soft = |seconds| Pre::Limit(libc::RLIMIT_CPU, seconds, MANY);
    let limits = [("a second of CPU", soft(1)), ("two seconds of CPU", soft(2))];
    let mut rows = Vec::new();
    for (name, limit) in limits {
        let first = limit.clone();
        rows.push(attempt(name, Expect::Deny, move |s| limited(s, std::slice::from_ref(&first))));
        rows.push(attempt(format!("{name}, a costly call"), Expect::Strict, move |s| {
            expensive(s);
            limited(s, std::slice::from_ref(&limit))
        }));
    }
    rows.push(attempt("a second of CPU, costly rules of the project", Expect::Deny, move |s| {
        s.project(crate::rules::costly_commands());
        s.call(&format!("{FORBIDDEN}; x {}", "a ".repeat(2000)));
        limited(s, &[soft(1)])
    }));
    rows
}
