#!/usr/bin/env python3
"""S1-01, S1-37: events through hookctl to the real example servers and back.

  servers.py --hookctl PATH/hookctl --cache DIR

Flask and Express come from their registries, the first time, into DIR. Each server is started as its README says; each
event is piped into hookctl with the example's own config; nothing of what an event speaks of is ever run.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import example_servers  # noqa: E402

PAYLOADS = os.path.join(example_servers.EXAMPLES, "../payloads")
TOKEN = "a-token-of-the-tests"
PACKS = os.listdir(os.path.join(HERE, "../../config/packs"))
# Without hookctl's own rules, which would answer before the server is asked.
ASIDE = "[pack]\n" + "".join("%s = false\n" % name.removesuffix(".toml") for name in sorted(PACKS))
ALLOWING = "on_modify = \"allow\"\n"


def bash(command, event="PreToolUse", **more):
    return dict({"hook_event_name": event, "tool_name": "Bash", "tool_input": {"command": command, "description": "d"}}, **more)


def file(tool, path, **more):
    return {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": dict({"file_path": path}, **more)}


def event(name, **fields):
    return dict(fields, hook_event_name=name)


def sample(name):
    with open(os.path.join(PAYLOADS, name), encoding="utf-8") as f:
        return json.load(f)


def specific(name, **fields):
    return {"hookSpecificOutput": dict(hookEventName=name, **fields)}


def said(decision, reason):
    return specific("PreToolUse", permissionDecision=decision, permissionDecisionReason=reason)


def blocked(reason):
    return {"decision": "block", "reason": reason}


DANGEROUS = "Dangerous command detected"
FORCED, LEASED = "git push --force origin topic", "git push --force-with-lease origin topic"
REFUSED = specific("PermissionRequest", decision={"behavior": "deny", "message": DANGEROUS})
RESULT = {"stdout": "db1.internal is up", "stderr": "", "interrupted": False}
BIG = "x" * 300_000

# What it is, the event, the answer, and what the config has besides the example's own keys.
FLASK = [
    ("S1-38: the seed's command", sample("bash-delete-root.json"), said("deny", DANGEROUS), ASIDE),
    ("only its text", bash("echo 'rm -rf /'"), said("deny", DANGEROUS), ""),
    ("nothing to object to", bash("ls -la src"), None, ""),
    ("another path", bash("ls /tmp/x # rm -rf /tmp/x"), None, ""),
    ("a question", bash("echo terraform apply"), said("ask", "This changes the infrastructure"), ""),
    ("a changed input, merged", bash(FORCED),
     specific("PreToolUse", updatedInput={"command": LEASED, "description": "d"}), ASIDE),
    ("another tool", file("Write", "/home/dev/a.txt", content="rm -rf /"), None, ""),
    ("permission: no objection", bash("ls", "PermissionRequest"), None, ""),
    ("permission: block", bash("echo 'rm -rf /'", "PermissionRequest"), REFUSED, ""),
    ("permission: the dialog is the question", bash("echo terraform apply", "PermissionRequest"), None, ""),
    ("permission: a change alone is no allow", bash(FORCED, "PermissionRequest"), None, ASIDE),
    ("permission: a change with an allow", bash(FORCED, "PermissionRequest"), specific("PermissionRequest", decision={
        "behavior": "allow", "updatedInput": {"command": LEASED, "description": "d"}}), ALLOWING + ASIDE),
    ("result: allow", bash("ls", "PostToolUse", tool_response=dict(RESULT, stdout="ok")), None, ""),
    ("result: block", bash("ls", "PostToolUse", tool_response=dict(RESULT, stdout="2 failed, 1 passed")),
     blocked("Tests fail: fix them before you go on"), ""),
    ("result: modify", bash("ls", "PostToolUse", tool_response=RESULT),
     specific("PostToolUse", updatedToolOutput=dict(RESULT, stdout="[internal host] is up")), ""),
    ("result: not an object", bash("ls", "PostToolUse", tool_response="db1.internal"), None, ""),
    ("prompt: allow", event("UserPromptSubmit", prompt="fix the build"), None, ""),
    ("prompt: block", event("UserPromptSubmit", prompt="drop the production database"),
     blocked("The production database is the on-call team's"), ""),
    ("prompt: modify", event("UserPromptSubmit", prompt="fix OPS-7"), specific(
        "UserPromptSubmit", additionalContext="Modified prompt: fix OPS-7 (https://tickets.example.org/OPS-7)"), ""),
    ("compact: allow", event("PreCompact", trigger="manual", custom_instructions="Keep the names of changed files."), None, ""),
    ("compact: block", event("PreCompact", trigger="manual", custom_instructions="forget it all"),
     blocked("Nothing is forgotten here"), ""),
    ("compact: modify", event("PreCompact", trigger="auto", custom_instructions=None), "Keep the names of changed files.", ""),
    ("a notification", sample("notification-permission.json"), None, ""),
    ("an event that the config does not name", sample("session-start.json"), None, ""),
]
for stop in ("Stop", "SubagentStop"):
    unfinished = event(stop, stop_hook_active=False, last_assistant_message="TODO: the rest")
    FLASK += [
        (stop + ": allow", dict(unfinished, last_assistant_message="done"), None, ""),
        (stop + ": block", unfinished, blocked("There is a TODO left: finish it"), ""),
        (stop + ": only once", dict(unfinished, stop_hook_active=True), None, ""),
    ]

EXPRESS = [
    ("S1-39: the path changes, the content stays", file("Write", "/tmp/a.txt", content="kept"),
     specific("PreToolUse", updatedInput={"file_path": "/safe/tmp/a.txt", "content": "kept"}), ""),
    ("a large file", file("Write", "/tmp/a.txt", content=BIG),
     specific("PreToolUse", updatedInput={"file_path": "/safe/tmp/a.txt", "content": BIG}), ""),
    ("an edit", file("Edit", "/tmp/a.txt", old_string="a", new_string="b"), specific("PreToolUse", updatedInput={
        "file_path": "/safe/tmp/a.txt", "old_string": "a", "new_string": "b"}), ""),
    ("a way out of /tmp", file("Write", "/tmp/../etc/motd", content=""), said("deny", "/etc/motd is the system's"), ASIDE),
    ("another path", file("Write", "src/a.txt", content=""), None, ""),
    ("another tool", bash("ls /tmp/"), None, ""),
]

INSTALL = {"command": "npm install left-pad", "description": "d"}
CLAUDE_HTTP = [
    ("deny", file("Read", "/home/dev/project/.env"), said("deny", "Reads of credential files are not allowed"), ASIDE),
    ("deny for its text", bash("echo 'curl x | sh'"), said("deny", "Do not run what was just downloaded"), ""),
    ("ask", bash("echo git push"), said("ask", "This leaves the machine"), ""),
    ("a real allow", bash("touch a.txt"), said("allow", "Harmless"), ""),
    ("the whole input", bash(INSTALL["command"]), specific("PreToolUse", updatedInput=dict(
        INSTALL, command="npm install left-pad --ignore-scripts")), ASIDE),
    ("nothing to say", bash("make all"), None, ""),
    ("permission: allow", bash("touch a.txt", "PermissionRequest"),
     specific("PermissionRequest", decision={"behavior": "allow"}), ""),
    ("permission: the dialog", bash("make all", "PermissionRequest"), None, ""),
    ("a text for the model", sample("post-write-rust.json"),
     specific("PostToolUse", additionalContext="Run the formatter when you are done"), ""),
    ("prompt: block", event("UserPromptSubmit", prompt="drop the production database"),
     blocked("The production database is the on-call team's"), ""),
    ("prompt: nothing", event("UserPromptSubmit", prompt="fix the build"), None, ""),
    ("stop: block", event("Stop", stop_hook_active=False, last_assistant_message="TODO: the rest"),
     blocked("There is a TODO left: finish it"), ""),
    ("stop: only once", event("Stop", stop_hook_active=True, last_assistant_message="TODO: the rest"), None, ""),
]
# Of each server: its cases, and an event that it denies.
SERVERS = {
    "flask": (FLASK, FLASK[1]),
    "express": (EXPRESS, ("", file("Write", "/etc/motd", content=""), EXPRESS[3][2], EXPRESS[3][3])),
    "claude-http": (CLAUDE_HTTP, CLAUDE_HTTP[1]),
}


class Home:
    """A home of its own with that config."""

    def __init__(self, root, hookctl, config, env=None):
        self.dir, self.hookctl = tempfile.mkdtemp(dir=root), hookctl
        self.config = os.path.join(self.dir, ".config/hookctl")
        self.env = dict({"HOME": self.dir, "PATH": os.environ.get("PATH", os.defpath)}, **(env or {}))
        os.makedirs(self.config)
        os.makedirs(os.path.join(self.dir, "project"))
        with open(os.path.join(self.config, "config.toml"), "w", encoding="utf-8") as f:
            f.write(config)

    def run(self, *argv, stdin=""):
        return subprocess.run(argv, cwd=self.dir, env=self.env, input=stdin.encode(), capture_output=True, timeout=60)

    def hook(self, payload, number=0):
        """What hookctl prints: None, an object, or a text."""
        payload = dict({"session_id": "s-1", "cwd": "/home/dev/project", "permission_mode": "default"}, **payload)
        if "tool_name" in payload:
            payload["tool_use_id"] = "toolu_%d" % number
        stdin = json.dumps(payload).replace("/home/dev", self.dir)
        done = self.run(self.hookctl, "hook", "--agent", "claude", stdin=stdin)
        if done.returncode or done.stderr:
            return "exit %d: %s" % (done.returncode, done.stderr.decode())
        text = done.stdout.decode().strip()
        return json.loads(text) if text.startswith("{") else text or None

    def journal(self):
        with open(os.path.join(self.dir, ".local/state/hookctl/journal.jsonl"), encoding="utf-8") as f:
            return f.read()


class Checks:
    def __init__(self):
        self.count, self.bad = 0, 0

    def same(self, what, found, wanted):
        self.count += 1
        if found != wanted:
            self.bad += 1
            print("FAIL %s\n     wanted %s\n     found  %s" % (what, str(wanted)[:1000], str(found)[:1000]), flush=True)


def signed(answer, name):
    """Reasons as they are printed: they end with who gave them."""
    if not isinstance(answer, dict):
        return answer
    told = ("reason", "message", "permissionDecisionReason")
    tail = " [user:remote.%s]" % name
    return {key: value + tail if key in told else signed(value, name) for key, value in answer.items()}


def closed(text):
    return re.sub(r"fail_open = true", "fail_open = false", text)


def with_token(text):
    return re.sub(r"# (token_env = )", r"\1", text)


def merged(config, more):
    """Keys of the server go to its table, other tables behind it."""
    keys, table, rest = more.partition("[")
    return config + keys + table + rest


def answers(name, cases, root, cache, hookctl, check):
    """Every decision of the server, and the line to try in its README."""
    with example_servers.Server(name, cache) as server:
        base = example_servers.config(name, server.port)
        homes = {}
        for number, (what, payload, wanted, more) in enumerate(cases):
            if more not in homes:
                homes[more] = Home(root, hookctl, merged(base, more))
            check.same("%s: %s" % (name, what), homes[more].hook(payload, number), signed(wanted, name))
        home = Home(root, hookctl, base)
        check.same("%s: ping" % name, home.run(hookctl, "ping", name).returncode, 0)
        with open(os.path.join(example_servers.EXAMPLES, name, "README.md"), encoding="utf-8") as f:
            readme = f.read()
        lines = re.findall(r"^    (\S.*\| hookctl hook .*)\n    (\S.*)$", readme, re.M)
        check.same("%s: README.md shows lines to try" % name, bool(lines), True)
        home.env["PATH"] = os.path.dirname(hookctl) + os.pathsep + home.env["PATH"]
        for line, shown in lines:
            line = line.replace("examples/servers/%s" % name, home.config)
            check.same("%s: %s" % (name, line), home.run("sh", "-c", line).stdout.decode().strip(), shown)


def faults(name, denied, root, cache, hookctl, check):
    """The server wants a token; and then it is down."""
    _, payload, wanted, more = denied
    wanted = signed(wanted, name)
    shut = signed(said("deny", "Server unavailable, failing closed"), name)
    with example_servers.Server(name, cache, {"HOOK_TOKEN": TOKEN}) as server:
        base = merged(example_servers.config(name, server.port), more)
        known = Home(root, hookctl, with_token(base), {"HOOK_TOKEN": TOKEN})
        check.same("%s: with its token" % name, known.hook(payload), wanted)
        check.same("%s: the token in the journal" % name, TOKEN in known.journal(), False)
        check.same("%s: the token in the server's log" % name, TOKEN in server.said(), False)
        for what, text, answer in (("open", base, None), ("closed", closed(base), shut)):
            home = Home(root, hookctl, text)
            check.same("%s: without its token, failing %s" % (name, what), home.hook(payload), answer)
            check.same("%s: 401 in the journal" % name, "401" in home.journal(), True)
    for what, text, answer in (("open", base, None), ("closed", closed(base), shut)):
        home = Home(root, hookctl, text)
        check.same("%s: down, failing %s" % (name, what), home.hook(payload), answer)
        check.same("%s: refused in the journal" % name, "connection refused" in home.journal(), True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--hookctl", required=True)
    ap.add_argument("--cache", required=True)
    a = ap.parse_args()
    os.umask(0o022)
    hookctl, check = os.path.abspath(a.hookctl), Checks()
    with tempfile.TemporaryDirectory(prefix="hookctl-servers-") as root:
        for name, (cases, denied) in SERVERS.items():
            before = check.count, check.bad
            answers(name, cases, root, a.cache, hookctl, check)
            faults(name, denied, root, a.cache, hookctl, check)
            print("%-12s `%s`: %d checks, %d fail" % (
                name, example_servers.command(name), check.count - before[0], check.bad - before[1]), flush=True)
    print("%d of %d hold" % (check.count - check.bad, check.count))
    return 1 if check.bad else 0


if __name__ == "__main__":
    sys.exit(main())
