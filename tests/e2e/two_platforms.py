#!/usr/bin/env python3
"""hookctl of another platform, run here: its answers beside those of this machine's own.

  platform.py --native PATH/hookctl --other PATH/hookctl.exe [--runner wine]

- every payload of examples/payloads gets the same exit status, stdout and stderr, the paths aside;
- a stdin that never closes is answered all the same;
- what a server is still to be told is taken there by a process of its own, which the agent does not wait for;
- with Wine: what `install` writes has no form of a path that other programs do not know, and cmd starts it.
"""
import argparse
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RULES = {
    "the shipped rules": "",
    "strict, with the autopilot": 'profile = "strict"\nautopilot = true\n',
    "rules of one's own": """[rule.no-list]
command = "ls"
ask = "listing {{command}} in {{cwd}}"

[rule.formats]
on = "PostToolUse"
tool = "Write|Edit"
context = "format what you wrote"

[rule.config]
tool = "Write"
path = "config.json"
deny = "by hand only"
""",
}
NEVER_CLOSED = 15  # seconds; hookctl itself waits five
SLOW = 4  # seconds that the server takes


class World:
    """A home with a project, for one hookctl."""

    def __init__(self, root, program, runner, rules):
        self.root, self.runner = root, shlex.split(runner)
        self.windows = runner.startswith("wine")
        self.program = os.path.realpath(program)
        self.home = os.path.join(root, "home")
        os.makedirs(os.path.join(self.home, "project/.git"))
        os.makedirs(os.path.join(self.home, "project/src"))
        os.makedirs(os.path.join(self.home, "config"))
        with open(os.path.join(self.home, "config/config.toml"), "w", encoding="utf-8") as file:
            file.write(rules)
        os.chmod(os.path.join(self.home, "config/config.toml"), 0o600)

    def path(self, path):
        """As this world's programs call it."""
        return "Z:" + path.replace("/", "\\") if self.windows else path

    def line(self, args):
        places = ["--config", self.path(self.home + "/config"), "--state", self.path(self.home + "/state")]
        if not self.windows:
            return [*self.runner, self.program, *places, *args]
        # Wine hands no USERPROFILE of another system on, and every word here is one for cmd too, in quotes.
        words = " ".join('"%s"' % word for word in [self.path(self.program), *places, *args])
        script = os.path.join(self.root, "run-%d.bat" % len(os.listdir(self.root)))
        with open(script, "w", encoding="utf-8", newline="\r\n") as file:
            file.write("@set USERPROFILE=%s\n@%s\n@exit /b %%ERRORLEVEL%%\n" % (self.path(self.home), words))
        return [*self.runner, "cmd", "/d", "/c", self.path(script)]

    def start(self, args, line=None):
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(("CLAUDE", "HOOKCTL")) and key != "AI_AGENT"}
        env["HOME" if not self.windows else "UNUSED"] = self.home
        return subprocess.Popen(line or self.line(args), cwd=os.path.join(self.home, "project"), env=env,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, args, stdin=b"", line=None):
        child = self.start(args, line)
        out, err = child.communicate(stdin, timeout=120)
        return child.returncode, self.plain(out), self.plain(err)

    def plain(self, output):
        """What was printed, without what differs between homes."""
        text = output.decode("utf-8", "replace").replace("\r\n", "\n")
        if self.windows:
            text = text.replace("\\\\", "/").replace("\\", "/")
        forms = {self.path(self.home).replace("\\", "/"), self.home, "/Z:" + self.home}
        for form in sorted(forms, key=len, reverse=True):
            text = text.replace(form, "HOME")
        return re.sub(r'"ms":\d+', '"ms":0', text)

    def payload(self, file):
        def moved(value):
            if isinstance(value, dict):
                return {key: moved(one) for key, one in value.items()}
            if isinstance(value, list):
                return [moved(one) for one in value]
            if isinstance(value, str) and value.startswith("/home/dev"):
                return self.path(self.home + value[len("/home/dev"):])
            return value
        with open(file, encoding="utf-8") as text:
            return json.dumps(moved(json.load(text))).encode()


def compare(worlds, failures):
    files = sorted(glob.glob("examples/payloads/*.json"))
    same = 0
    for file in files:
        answers = [world.run(["hook", "--agent", "claude"], world.payload(file)) for world in worlds]
        if answers[0] == answers[1]:
            same += 1
            continue
        failures.append("%s: here %r, there %r" % (os.path.basename(file), *answers))
    return same, len(files)


def never_closed(world, failures):
    child = world.start(["hook", "--agent", "claude"])
    child.stdin.write(world.payload("examples/payloads/bash-delete-root.json"))
    child.stdin.flush()
    start = time.monotonic()
    try:
        status = child.wait(NEVER_CLOSED)
        answer = child.stdout.read().decode()
        if status not in (0, 2) or (status == 0 and '"deny"' not in answer and '"ask"' not in answer):
            failures.append("a stdin that never closes: %r %r" % (status, answer))
    except subprocess.TimeoutExpired:
        failures.append("a stdin that never closes is waited for")
        child.kill()
    return time.monotonic() - start


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        time.sleep(SLOW)
        self.server.told += 1
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def sender(world, failures):
    """How long the agent waits, its pipes included, and whether the server was told in the end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.told = 0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with open(world.home + "/config/config.toml", "w", encoding="utf-8") as file:
        file.write('[remote.audit]\nurl = "http://127.0.0.1:%d/x"\ndialect = "webhook"\nevents = ["PreToolUse"]\n' % server.server_port)
    world.run(["hook", "--agent", "claude"], world.payload("examples/payloads/stop.json"))  # Wine itself is up
    start = time.monotonic()
    child = world.start(["hook", "--agent", "claude"])
    child.stdin.write(world.payload("examples/payloads/bash-list.json"))
    child.stdin.close()
    # Of the three, Wine itself hands its stderr on, whatever the handles of Windows are.
    answer = child.wait(60), child.stdout.read().decode()
    took = time.monotonic() - start
    if took > SLOW - 1:
        failures.append("the agent waits %.1f s for what is only told: %r" % (took, answer))
    end = time.monotonic() + 30
    while not server.told and time.monotonic() < end:
        time.sleep(0.1)
    if not server.told:
        failures.append("the server is never told: %r" % (answer,))
    server.shutdown()
    return took


def installed(world, failures):
    """The entry of an agent that takes a line, and of one that takes arguments, in a home with a blank in its name."""
    count = 0
    for agent in ["claude", "codex", "cursor", "gemini", "cline"]:
        code, out, err = world.run(["install", "--agent", agent])
        if code != 0:
            failures.append("install --agent %s: %d %s %s" % (agent, code, out, err))
    texts = {}
    for dir, _, names in os.walk(world.home):
        for name in names:
            path = os.path.join(dir, name)
            if "/state/" in path or "/config/" in path:
                continue
            with open(path, encoding="utf-8") as file:
                texts[path] = file.read()
    ours = {path: text for path, text in texts.items() if "hookctl" in text}
    for path, text in ours.items():
        if "?\\" in text or "//?/" in text:
            failures.append("%s: a verbatim path: %s" % (path, text[:300]))
    settings = json.loads(ours.get(world.home + "/.claude/settings.json", "{}") or "{}")
    lines = []
    for path, text in ours.items():
        if path.endswith(".json"):
            found = re.findall(r'"command": *("(?:[^"\\]|\\.)*hookctl(?:[^"\\]|\\.)* hook (?:[^"\\]|\\.)*")', text)
            lines += [json.loads(line) for line in found if "PreToolUse" in line or "BeforeTool" in line][:1]
    entry = settings.get("hooks", {}).get("PreToolUse", [{}])[0].get("hooks", [{}])[0]
    if "args" in entry:
        lines.append(" ".join('"%s"' % word for word in [entry["command"], *entry["args"]]))
    payload = world.payload("examples/payloads/bash-delete-root.json")
    for line in lines:
        script = os.path.join(world.root, "entry-%d.bat" % count)
        with open(script, "w", encoding="utf-8", newline="\r\n") as file:
            # As Node's `shell: true` hands a line to cmd.
            file.write('@set USERPROFILE=%s\n@cmd /d /s /c "%s"\n@exit /b %%ERRORLEVEL%%\n' % (world.path(world.home), line))
        answer = world.run([], payload, [*world.runner, "cmd", "/d", "/c", world.path(script)])
        count += 1
        if answer[0] not in (0, 2) or not re.search("den|refuse|block|stop", answer[1] + answer[2]):
            failures.append("cmd and %s: %r" % (line, answer))
    if not lines:
        failures.append("no entry was found in %s" % sorted(texts))
    return count, len(ours)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--native", required=True)
    parser.add_argument("--other", required=True)
    parser.add_argument("--runner", default="")
    args = parser.parse_args()
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    failures = []
    with tempfile.TemporaryDirectory(prefix="hookctl platform ") as root:
        for at, (name, rules) in enumerate(RULES.items()):
            worlds = [World("%s/%d-%s" % (root, at, which), program, runner, rules) for which, program, runner in
                      [("here", args.native, ""), ("there", args.other, args.runner)]]
            print("%s: %d of %d payloads answered alike" % (name, *compare(worlds, failures)))
        world = World(root + "/stdin", args.other, args.runner, "")
        print("a stdin that never closes: answered after %.1f s" % never_closed(world, failures))
        world = World(root + "/sender", args.other, args.runner, "")
        print("what is told takes %d s: the agent waited %.1f s" % (SLOW, sender(world, failures)))
        if world.windows:
            world = World(root + "/installed", args.other, args.runner, "")
            print("cmd started %d registered commands, %d files written" % installed(world, failures))
    for failure in failures:
        print("FAILED: " + failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
