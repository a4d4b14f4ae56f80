//! What hookctl answers when something fails: one table, printed by `explain --failures` and
//! written to docs/failures.md.

use std::fmt::Write as _;

use serde::Serialize;

/// One thing that can fail and what then leaves hookctl.
#[derive(Debug, Serialize)]
pub struct Failure {
    /// What fails.
    pub what: &'static str,
    /// On PreToolUse: a call that has not happened yet.
    pub tool_call: &'static str,
    /// On PermissionRequest: a dialog that is about to open.
    pub dialog: &'static str,
    /// On every other event.
    pub other: &'static str,
}

const ASK: &str = "ask, naming the cause";
const DIALOG: &str = "silence: the dialog opens";
const NOTICE: &str = "notice to the user; the agent goes on";
const JUDGED: &str = "judged as usual";

const fn all(what: &'static str, outcome: &'static str) -> Failure {
    Failure { what, tool_call: outcome, dialog: outcome, other: outcome }
}

/// An event that cannot be judged.
const fn unjudged(what: &'static str) -> Failure {
    Failure { what, tool_call: ASK, dialog: DIALOG, other: NOTICE }
}

/// A file of rules that cannot be used: the other files and the shipped rules go on.
const fn unusable(what: &'static str) -> Failure {
    Failure {
        what,
        tool_call: "ask, naming file, line and fix; a deny of the other rules stays a deny",
        dialog: "judged by the other rules",
        other: "judged by the other rules; SessionStart tells the user",
    }
}

/// Every failure, in the order of the hook path.
pub static FAILURES: &[Failure] = &[
    unjudged("a panic: a bug in hookctl (the event is known by `--event`, which install writes)"),
    unjudged(
        "a crash (stack overflow, SIGSEGV and its like), memory or processor time that the system \
         does not give (not on Windows)",
    ),
    unjudged(
        "reading and judging need more than 2 s of processor time (not on Windows), or 10 s by the \
         clock because a file system does not answer",
    ),
    unjudged(
        "whatever it waits for: the answer has not left half a second before the agent's timeout \
         (a tenth of it, where that is less)",
    ),
    unjudged("stdin is no JSON object, is cut off, or is nested deeper than 128 levels"),
    unjudged(
        "stdin is larger than 16 MiB: it is read to its end and dropped; or has more than 200,000 values, or cannot be repaired within 24 MiB",
    ),
    unjudged("no home directory"),
    all(
        "one of these seven, and neither the payload nor `--event` says which event it is",
        "exit status 2, the cause on stderr: the call is blocked",
    ),
    Failure {
        what: "stdin is empty, with `--event`",
        tool_call: ASK,
        dialog: DIALOG,
        other: NOTICE,
    },
    all("stdin is empty, without `--event`: a person tried it out", "silence; a hint on stderr"),
    all(
        "stdin stays open, or reading it fails: after 5 s without a byte",
        "what has come so far is the payload",
    ),
    all("lone surrogates, invalid UTF-8, raw control characters, a BOM in the payload", JUDGED),
    all(
        "an event that this version does not know",
        "rules on `*` may tell the user something; nothing is blocked",
    ),
    all(
        "a payload of no agent that is known, with a command line in a tool's input",
        "judged by that; what denies or asks is exit status 2 with the reason on stderr, an allow is \
         silence",
    ),
    all("an unknown option of `hookctl hook`", "judged as usual; named on stderr"),
    unusable("the managed, user or a trusted file is not TOML"),
    Failure {
        what: "one rule of such a file has a fault",
        tool_call: "ask where the rule's events include PreToolUse; all other rules hold",
        dialog: "judged by the other rules",
        other: "judged by the other rules; SessionStart tells the user of a rule of its own",
    },
    unusable(
        "the managed or user file, or a project's file that was trusted, cannot be read, is no \
         regular file (a pipe, a device, a link to nowhere or into /proc), is not UTF-8, or is \
         larger than 4 MiB",
    ),
    unusable("the managed or user file, or its directory, can be written by others: refused"),
    unusable(
        "`--config` names no directory: nothing is there, or a file (the default one need not be \
         there)",
    ),
    all(
        "an untrusted project's file is broken, cannot be read, or is no regular file",
        "notice to the user once per session; its sound rules that deny or ask still hold",
    ),
    all(
        "the trust store cannot be read, or others could have written it",
        "nothing is trusted: such files only tighten; a note in the journal and in `status`",
    ),
    all(
        "the note of a pause cannot be read, others could have written it, it is of a later time, \
         or for more than 24 h",
        "not paused; a note in the journal and in `status`",
    ),
    all(
        "anything else in the state directory is no regular file, is damaged, or others could \
         have written it",
        "as if it were not there; nothing waits for it",
    ),
    all(
        "of two registrations of hookctl the one that ran the commands of the event was killed",
        "the other runs them at once",
    ),
    Failure {
        what: "a command that is not understood (parse error, computed program, a cap)",
        tool_call: "the shipped rule `not-understood`: ask, deny beside its danger words; never \
                    allow",
        dialog: "as for the call; an ask is silence: the dialog opens",
        other: "rules on certain effects only",
    },
    all(
        "`run` fails: exit status not 0, over its limit, or cannot be started",
        "beside deny, ask or block: that verdict; alone: its output is told to the model",
    ),
    all("`when.run` exits with another status than 0", "the rule does not hold"),
    all(
        "`when.run` runs over its limit, is killed, or cannot be started",
        "an allow does not hold, every other rule does",
    ),
    all(
        "the command of `unless = { when = { run } }` cannot answer",
        "the `unless` relaxes nothing, and an allow does not hold",
    ),
    all(
        "`hook` exits 2, as the client reads it",
        "deny, with its stderr; on PermissionRequest nothing",
    ),
    all(
        "`hook` fails otherwise: other status without JSON, over its limit, cannot be started; \
         Cupcake also where its policies cannot be evaluated or its answer is not JSON",
        "the rule's `otherwise`: silent (the default), ask or deny; a stop is blocked once",
    ),
    all("`context = { run }` or `{ file }` fails", "nothing is told; a note in the journal"),
    all("`notify = { run }` fails", "nothing; a note in the journal"),
    all(
        "a server that a rule asks (`remote`) cannot be asked, does not answer in time, or answers \
         what makes no sense",
        "the rule's `otherwise`: ask (the default), deny or silent",
    ),
    Failure {
        what: "the same with a server that is asked about whole `events`",
        tool_call: "`fail_open`: silence (the default), or deny",
        dialog: "`fail_open`: silence (the default), or deny",
        other: "`fail_open`: silence (the default), or block; a stop once; nothing where nothing \
                can be blocked",
    },
    all(
        "a server was down for a whole event",
        "the same at once, without asking; every 30 s one event tries it again",
    ),
    all(
        "a human at a server (`human`) was asked and does not answer",
        "the same; nobody is asked twice",
    ),
    all(
        "a server that is only told (webhook, otlp, `audit`) is down, slow, or answers what makes \
         no sense",
        "the same answer; the message waits, and goes out with a later event or `hookctl flush`",
    ),
    all("cdev is down or slow where it is told, not asked", "the same answer; the message is lost"),
    all(
        "a bridge's listener is not there, hangs, does not take an event, or is another user's",
        "the same answer; the event goes into the bridge's file, and to the listener with `hookctl flush`",
    ),
    all(
        "what servers are to be told cannot be kept: the directory is not writable, the disk full, \
         the message larger than 1 MiB",
        "the same answer; the server is not told, which the journal notes. Of a full spool the \
         oldest go",
    ),
    all(
        "hookctl's own deadline: a second before the agent's timeout (a fifth of it, where that is \
         less), at most 1.1 s on SessionEnd",
        "commands still running are killed and count as over their limit; servers count as not \
         answering 50 ms earlier",
    ),
    Failure {
        what: "the verdict is one that the event cannot express",
        tool_call: "every verdict can be expressed",
        dialog: "ask and defer: ask is silence, defer a deny; a rewrite without an allow is a deny",
        other: "ask and defer are a deny; allow is silence; where nothing can be refused the \
                reason is told",
    },
    Failure {
        what: "a stop is blocked again and again",
        tool_call: "-",
        dialog: "-",
        other: "`repeat` times in a row (1 unless the rule says so), at most 8: then it is let go",
    },
    all(
        "the journal cannot be written, the disk is full",
        "the same answer; the line is lost. Counts of stops start anew, warnings come each time",
    ),
    all(
        "stdout is closed, full, the null device, or nobody reads it",
        "exit status 2 and the reason on stderr where the answer stops something; else the same exit status",
    ),
    all(
        "no thread or process is to be had for a rule's command or a server",
        "that command or server has failed; all else holds",
    ),
    all(
        "hookctl is missing, killed, or cannot be started",
        "the agent goes on, unless installed with `--fail-closed` (Claude Code after 2.1.197)",
    ),
];

/// The table for a terminal.
pub fn text(bold: &dyn Fn(&str) -> String) -> String {
    let mut out = String::from(
        "What hookctl answers when something fails. Whatever happens: one JSON object or nothing \
         on\nstdout, exit status 0 or 2, before the agent's timeout.\n",
    );
    for failure in FAILURES {
        let _ = writeln!(out, "\n{}", bold(failure.what));
        if failure.tool_call == failure.dialog && failure.dialog == failure.other {
            let _ = writeln!(out, "  every event        {}", failure.other);
            continue;
        }
        for (event, outcome) in [
            ("PreToolUse", failure.tool_call),
            ("PermissionRequest", failure.dialog),
            ("other events", failure.other),
        ] {
            let _ = writeln!(out, "  {event:<18} {outcome}");
        }
    }
    out
}

/// The table as docs/failures.md.
#[cfg(test)]
fn markdown() -> String {
    let mut out = String::from(
        "# When things fail\n\n\
         What hookctl answers when something fails, with Claude Code. `hookctl explain --failures` \
         prints\nthe same table; it is `FAILURES` in `src/cli/explain/failures.rs`, and a test \
         keeps the two equal.\n\n\
         Whatever happens: one JSON object or nothing on stdout, exit status 0 or 2, before the \
         agent's\ntimeout. Nearly every agent runs the tool when its hook fails, so what cannot be \
         judged is asked\nabout. A notice is `systemMessage`: the user sees it, the model does \
         not. On MessageDisplay and\nWorktreeCreate even a notice is left out.\n\n\
         | what fails | PreToolUse | PermissionRequest | other events |\n|---|---|---|---|\n",
    );
    for failure in FAILURES {
        let Failure { what, tool_call, dialog, other } = failure;
        let _ = writeln!(out, "| {what} | {tool_call} | {dialog} | {other} |");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `HOOKCTL_WRITE_DOCS=1 cargo test` writes the file anew.
    #[test]
    fn the_document_is_this_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/failures.md");
        if std::env::var_os("HOOKCTL_WRITE_DOCS").is_some() {
            std::fs::write(path, markdown()).unwrap();
        }
        let document = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(document, markdown(), "run with HOOKCTL_WRITE_DOCS=1");
    }
}
