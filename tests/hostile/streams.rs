//! Standard streams that are closed, full, broken, slow, or never end.

use std::time::Duration;

use serde_json::json;

use crate::scene::{Expect, FORBIDDEN, In, Out, Pre, Row, Scene, row};

const LONG_REASON: usize = 9000;

/// Rules whose answer is longer than a page.
fn long_answer(scene: &mut Scene) {
    let reason = "because ".repeat(LONG_REASON / 8);
    scene.config(&format!("[rule.no]\ncommand = \"forbidden-thing\"\ndeny = \"{reason}\"\n"));
}

pub fn rows() -> Vec<Row> {
    let mut rows = stdin();
    rows.extend(stdout());
    rows.extend(large());
    rows
}

fn stdin() -> Vec<Row> {
    let second = Duration::from_secs(1);
    vec![
        row("stdin is closed", Expect::Strict, |s| s.pre.push(Pre::Close(0))),
        row("stdin is empty", Expect::Strict, |s| s.stdin = In::Bytes(Vec::new())),
        row("stdin stays open, silent", Expect::Strict, |s| s.stdin = In::Open(Vec::new())),
        row("stdin stays open behind the event", Expect::Deny, |s| {
            s.stdin = In::Open(s.forbidden());
        }),
        row("stdin stays open behind half an event", Expect::Strict, |s| {
            let bytes = s.forbidden();
            s.stdin = In::Open(bytes[..bytes.len() / 2].to_vec());
        }),
        row("stdin stays open behind 8 MiB", Expect::Strict, |s| {
            s.stdin = In::Open(vec![b'{'; 8 << 20]);
        }),
        row("stdin gives a byte a second", Expect::Strict, move |s| {
            let bytes = s.forbidden();
            s.stdin = In::Pieces(bytes.chunks(1).map(<[u8]>::to_vec).collect(), second);
        }),
        row("stdin gives an event and then a blank a second", Expect::Strict, move |s| {
            let mut pieces = vec![s.forbidden()];
            pieces.extend(vec![b" ".to_vec(); 100]);
            s.stdin = In::Pieces(pieces, second);
        }),
        row("stdin gives a byte a millisecond", Expect::Deny, |s| {
            let bytes = s.forbidden();
            let pause = Duration::from_millis(1);
            s.stdin = In::Pieces(bytes.chunks(1).map(<[u8]>::to_vec).collect(), pause);
        }),
        row("stdin comes in two halves, a second apart", Expect::Deny, move |s| {
            let bytes = s.forbidden();
            let (one, two) = bytes.split_at(bytes.len() / 2);
            s.stdin = In::Pieces(vec![one.to_vec(), two.to_vec()], second);
        }),
        row("stdin never ends, zeros", Expect::Strict, |s| {
            s.stdin = In::File("/dev/zero".into());
        }),
        row("stdin never ends, chance", Expect::Strict, |s| {
            s.stdin = In::File("/dev/urandom".into());
        }),
        row("stdin never ends, one long text", Expect::Strict, |s| {
            let start = br#"{"hook_event_name":"PreToolUse","x":""#;
            s.stdin = In::Endless(start.to_vec(), b'x');
        }),
        row("stdin never ends, blanks behind the event", Expect::Strict, |s| {
            s.stdin = In::Endless(s.forbidden(), b' ');
        }),
        row("stdin is a directory", Expect::Strict, |s| s.stdin = In::File("/".into())),
        row("stdin can only be written", Expect::Strict, |s| s.stdin = In::WriteOnly),
        row("stdin is the process's own memory", Expect::Strict, |s| {
            s.stdin = In::File("/proc/self/mem".into());
        }),
        row("stdin is a file of 8 GB", Expect::Strict, |s| {
            let path = s.put("large", "");
            std::fs::File::options().write(true).open(&path).unwrap().set_len(8 << 30).unwrap();
            s.stdin = In::File(path);
        }),
        row("stdin and stderr are closed", Expect::Strict, |s| {
            s.pre.extend([Pre::Close(0), Pre::Close(2)]);
        }),
        row("stdin is silent and stderr closed", Expect::Strict, |s| {
            s.stdin = In::Open(Vec::new());
            s.pre.push(Pre::Close(2));
        }),
    ]
}

fn stdout() -> Vec<Row> {
    let mut rows = vec![
        row("stdout is closed", Expect::Status2, |s| s.pre.push(Pre::Close(1))),
        row("stdout is closed, before a harmless call", Expect::Passed, |s| {
            s.call("ls");
            s.pre.push(Pre::Close(1));
        }),
        row("stderr is closed", Expect::Deny, |s| s.pre.push(Pre::Close(2))),
        row("stdout and stderr are closed", Expect::Status2, |s| {
            s.pre.extend([Pre::Close(1), Pre::Close(2)]);
        }),
        row("stdin and stdout are closed", Expect::Status2, |s| {
            s.pre.extend([Pre::Close(0), Pre::Close(1)]);
        }),
        row("all streams are closed", Expect::Status2, |s| {
            s.pre.extend([Pre::Close(0), Pre::Close(1), Pre::Close(2)]);
        }),
        row("stdin is silent and stdout closed", Expect::Status2, |s| {
            s.stdin = In::Open(Vec::new());
            s.pre.push(Pre::Close(1));
        }),
        row("stderr is full, and there is much to say on it", Expect::Deny, |s| {
            s.stderr = Out::Full { nonblocking: false };
            s.args.extend((0..100).map(|i| format!("--unknown-{i}")));
        }),
        row("stderr is full with --debug", Expect::Deny, |s| {
            s.stderr = Out::Full { nonblocking: false };
            s.args.push("--debug".into());
        }),
        row("stdout holds a page, the answer is longer", Expect::Status2, |s| {
            long_answer(s);
            s.stdout = Out::Small;
        }),
        row("stdout can hold no byte of a file", Expect::Status2, |s| {
            s.stdout = Out::File(s.at("answer"));
            s.pre.push(Pre::Limit(libc::RLIMIT_FSIZE, 0, 0));
        }),
        row("stdout can hold ten bytes of a file", Expect::Status2, |s| {
            s.stdout = Out::File(s.at("answer"));
            s.pre.push(Pre::Limit(libc::RLIMIT_FSIZE, 10, 10));
        }),
    ];
    type Make = fn() -> Out;
    let outs: [(&str, Make); 5] = [
        ("full and waits", || Out::Full { nonblocking: false }),
        ("full and does not wait", || Out::Full { nonblocking: true }),
        ("a pipe without a reader", || Out::Broken),
        ("/dev/full", || Out::File("/dev/full".into())),
        ("a descriptor that only gives", || Out::ReadOnly),
    ];
    for (name, out) in outs {
        rows.push(row(format!("stdout is {name}"), Expect::Status2, move |s| s.stdout = out()));
        rows.push(row(format!("stdout and stderr are {name}"), Expect::Status2, move |s| {
            s.stdout = out();
            s.stderr = out();
        }));
        rows.push(row(format!("stdout is {name}, stdin silent"), Expect::Status2, move |s| {
            s.stdin = In::Open(Vec::new());
            s.stdout = out();
        }));
        rows.push(row(format!("stdout is {name}, before a harmless call"), Expect::Passed, {
            move |s| {
                s.call("ls");
                s.stdout = out();
            }
        }));
    }
    rows
}

/// Payloads at the bounds of size and depth.
fn large() -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, size) in [("15 MiB", 15 << 20), ("17 MiB", 17 << 20), ("40 MiB", 40 << 20)] {
        rows.push(row(format!("a call of {name}"), Expect::Strict, move |s| {
            s.call(&format!("{FORBIDDEN}; echo {}", "x".repeat(size)));
        }));
        rows.push(row(format!("a file of {name} is written"), Expect::Lawful, move |s| {
            s.tool("Write", &json!({ "file_path": "a.txt", "content": "x".repeat(size) }));
        }));
    }
    rows.push(row("15 MiB of escapes beside a denied tool", Expect::Deny, |s| {
        s.tool("mcp__evil__do", &json!({ "text": "\u{1}\"".repeat(1_800_000) }));
    }));
    rows.push(row("a million fields beside a denied tool", Expect::Strict, |s| {
        let fields: serde_json::Map<_, _> =
            (0..1_000_000).map(|i| (i.to_string(), json!(0))).collect();
        s.tool("mcp__evil__do", &fields.into());
    }));
    rows.push(row("two million numbers beside a denied tool", Expect::Strict, |s| {
        s.tool("mcp__evil__do", &json!(vec![1; 2_000_000]));
    }));
    for (name, open, close) in [("lists", "[", "]"), ("objects", "{\"a\":", "}")] {
        rows.push(row(format!("a million nested {name}"), Expect::Strict, move |s| {
            let count = 1_000_000;
            let text = format!(
                "{{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{}1{}}}",
                open.repeat(count),
                close.repeat(count)
            );
            s.stdin = In::Bytes(text.into_bytes());
        }));
        rows.push(row(format!("a million {name} that nobody closes"), Expect::Strict, move |s| {
            s.stdin = In::Bytes(open.repeat(1_000_000).into_bytes());
        }));
    }
    rows
}
