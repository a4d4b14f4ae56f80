#!/usr/bin/env python3
"""A stand-in for cdev's hook server, as its protocol has it, with a scripted human at the phone (loopback only, stdlib only).

  cdev_double.py [--port 16180] [--patience 60] [--refuse STATUS] [--refuse-told STATUS] [ANSWER ...]

The human's answers, in order, to the calls that reach the phone:
  once       Allow Once
  session    Allow for Session: similar calls of that session are allowed without a look at the phone
  refuse     Deny
  interrupt  Deny, and the turn ends
  late       Allow for Session, after `--patience` seconds
  never      nobody looks at the phone; so it is with every call after the last answer
`--refuse` is the status of every POST (401 without a token, 429 at the rate limit), `--refuse-told` that of all but questions; `/health` is open to all.
After `--patience` seconds nobody has answered. What is remembered is answered at once (within 4 ms; `--marked`: and says so), what a
human says after a moment. Of two questions with one id the second takes the first one's place: a tap answers the second, and the first waits
until nobody has answered. A question without an id nobody can answer.
`install` and `remove` put its own hooks into an agent's settings and take them out, as it does when it starts and stops. Every request is printed as a line of JSON.
"""
import argparse
import json
import os
import shutil
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWERS = ("once", "session", "refuse", "interrupt", "late", "never")
BASE = "/api/hooks/"
TOLD = ("session", "notification", "permission", "tool-start", "tool-end")
QUESTION = "permission-request"
BYPASS = ("bypassPermissions", "dangerouslySkipPermissions")
LARGEST = 1 << 20
# Nobody taps faster, in seconds.
MOMENT = 0.4
# Of these programs the second word belongs to what is remembered.
TWO_WORDS = ("git", "npm", "yarn", "pnpm", "go")


def pattern(tool, given):
    """What "for Session" remembers of a call."""
    if tool == "Bash":
        words = str(given.get("command", "")).split()
        if not words:
            return "Bash(*)"
        return "Bash(%s:*)" % " ".join(words[:2] if words[0] in TWO_WORDS else words[:1])
    if tool in ("Write", "Edit", "Read"):
        folder, _, name = str(given.get("file_path", "")).rpartition("/")
        if "." in name:
            return "%s(*.%s)" % (tool, name.rpartition(".")[2])
        return "%s(%s/*)" % (tool, folder) if folder else "%s(*)" % tool
    return "%s(*)" % tool


def matches(known, tool, given):
    """Does what is remembered cover the call? Of a command only the first words count."""
    name, _, rest = known.rstrip(")").partition("(")
    if name != tool:
        return False
    if rest == "*":
        return True
    if rest.endswith(":*"):
        words = rest[:-2].split()
        return str(given.get("command", "")).split()[:len(words)] == words
    path = str(given.get("file_path", ""))
    return path.endswith(rest[1:]) if rest.startswith("*.") else path.startswith(rest[:-1])


# cdev's own scripts, with Python in place of curl.
SCRIPT = """#!/usr/bin/env python3
import json, sys, urllib.request
url, told = "http://127.0.0.1:%d/api/hooks/", sys.argv[1:]
body = sys.stdin.buffer.read()
try:
    ask = urllib.request.Request(url + (told[0] if told else "permission-request"), body, {"Content-Type": "application/json"})
    said = json.load(urllib.request.urlopen(ask, timeout=65))
except OSError:
    sys.exit(0)
if not told and said.get("decision"):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": said["decision"],
                                             "permissionDecisionReason": "cdev's own hook"}}))
"""
# Its groups: event, script with argument, matcher.
GROUPS = (("SessionStart", "forward.sh session", "*"), ("Notification", "forward.sh notification", "permission_prompt"),
          ("PreToolUse", "permission.sh", "*"), ("PostToolUse", "forward.sh tool-end", "*"))


def install(home, port):
    """What cdev does at its start: its scripts, and its groups behind those of the user's settings, unless its marker is there."""
    hooks, settings = os.path.join(home, ".cdev/hooks"), os.path.join(home, ".claude/settings.json")
    if os.path.exists(os.path.join(hooks, ".installed")):
        return
    os.makedirs(hooks, exist_ok=True)
    for name in ("forward.sh", "permission.sh", ".installed"):
        with open(os.path.join(hooks, name), "w", encoding="utf-8") as f:
            f.write(SCRIPT % port if name.endswith(".sh") else "")
        os.chmod(os.path.join(hooks, name), 0o755)
    with open(settings, encoding="utf-8") as f:
        now = json.load(f)
    for event, script, matcher in GROUPS:
        entry = {"command": "%s/%s" % (hooks, script), "type": "command"}
        group = {"_cdev_managed": True, "hooks": [entry], "matcher": matcher}
        now.setdefault("hooks", {}).setdefault(event, []).append(group)
    with open(settings, "w", encoding="utf-8") as f:
        json.dump(now, f, indent=2)


def remove(home):
    """What it does at a clean stop: all groups that are its own go, and its directory with the marker."""
    hooks, settings = os.path.join(home, ".cdev/hooks"), os.path.join(home, ".claude/settings.json")
    with open(settings, encoding="utf-8") as f:
        now = json.load(f)
    own = lambda group: "_cdev_managed" in group or ".cdev/hooks/" in json.dumps(group)
    left = {event: [group for group in groups if not own(group)] for event, groups in now.get("hooks", {}).items()}
    now["hooks"] = {event: groups for event, groups in left.items() if groups}
    with open(settings, "w", encoding="utf-8") as f:
        json.dump(now, f, indent=2)
    shutil.rmtree(hooks, ignore_errors=True)


class Double(ThreadingHTTPServer):
    """`requests` holds what came, `human` what reached the phone, `faults` what no client may do. Listens once it is started."""

    daemon_threads = True

    def __init__(self, answers=(), patience=60.0, port=0, say=None, marked=False, refuse=0):
        unknown = set(answers) - set(ANSWERS)
        if unknown:
            raise ValueError("answers of the human are %s, not %s" % (", ".join(ANSWERS), sorted(unknown)))
        self.answers, self.patience, self.say = list(answers), patience, say
        self.marked, self.refuse, self.refuse_told = marked, refuse, None
        self.requests, self.human, self.faults = [], [], []
        self.pending, self.asked, self.memory = {}, set(), {}
        self.lock = threading.Lock()
        self.port, self.thread = port, None
        super().__init__(("127.0.0.1", port), Hooks, bind_and_activate=False)

    def start(self):
        self.server_bind()
        self.server_activate()
        self.port = self.server_address[1]
        self.thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        if self.thread:
            self.shutdown()
        self.server_close()

    def came(self, name):
        """The bodies that came to that path."""
        with self.lock:
            return [body for path, body in self.requests if path == name]

    def take(self, name, headers, raw):
        """Notes a request; its body, None if that is no object."""
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        faults = []
        if not isinstance(body, dict):
            faults.append("its body is no JSON object")
            body = None
        if len(raw) > LARGEST:
            faults.append("its body is larger than cdev reads")
        if headers.get("Origin"):
            faults.append("it has an Origin")
        if headers.get("Content-Type") != "application/json":
            faults.append("its content type is %s" % headers.get("Content-Type"))
        with self.lock:
            # What is refused may be told again.
            if (name, body) in self.requests and not self.refuse:
                faults.append("it came twice")
            # cdev's own script sends what it is given.
            own = headers.get("User-Agent", "").startswith("Python-urllib")
            if name == "tool-end" and body and not own and (
                    "tool_result" not in body or body["tool_result"] != body.get("tool_response")):
                faults.append("tool_result and tool_response differ")
            self.requests.append((name, body))
            self.faults += ["%s: %s" % (name, fault) for fault in faults]
        if self.say:
            self.say(json.dumps({"path": name, "body": body, "faults": faults}))
        return body

    def remembered(self, session, tool, given):
        known = self.memory.get(session, {})
        own = pattern(tool, given)
        found = own if own in known else next((one for one in known if matches(one, tool, given)), None)
        said = {"source": "memory"} if self.marked else {}
        return found and dict({"decision": known[found], "pattern": found, "scope": "session"}, **said)

    def question(self, body):
        """What the question is answered, after a human had their time for it."""
        if body is None:
            return {"decision": "ask", "message": "invalid_request"}
        if body.get("permission_mode") in BYPASS:
            return {"decision": "allow", "scope": "session", "message": "bypass_permissions"}
        session, tool = body.get("session_id", ""), body.get("tool_name", "")
        given, number = body.get("tool_input") or {}, body.get("tool_use_id")
        with self.lock:
            # The second of an id would take the first one's place in cdev, and nobody could answer it.
            if not number or number in self.asked:
                self.faults.append("permission-request: tool_use_id %r came twice or is none" % number)
            self.asked.add(number)
            known = self.remembered(session, tool, given)
            if known:
                return known
            self.human.append(body)
            mine = self.pending[number] = {"answer": "never", "said": threading.Event()}
            answer = self.answers.pop(0) if self.answers and number else "never"
        end = time.monotonic() + self.patience
        time.sleep(self.patience if answer in ("late", "never") else MOMENT)
        with self.lock:
            # A tap is for the question that has the id by then.
            shown = self.pending.pop(number, None)
            if shown:
                shown["answer"] = answer
                shown["said"].set()
        mine["said"].wait(max(0, end - time.monotonic()))
        answer = mine["answer"]
        with self.lock:
            if answer in ("late", "session"):
                own = pattern(tool, given)
                self.memory.setdefault(session, {})[own] = "allow"
                return {"decision": "allow", "pattern": own, "scope": "session"}
        return {
            "once": {"decision": "allow", "pattern": "", "scope": "once"},
            "refuse": {"decision": "deny", "pattern": "", "scope": "once"},
            "interrupt": {"decision": "deny", "pattern": "", "scope": "once", "interrupt": True},
            "never": {"decision": "ask", "message": "timeout"},
        }[answer]


class Hooks(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json"):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data)
        except OSError:
            pass  # nobody waits for it any more

    def do_GET(self):
        if self.path == "/health":
            return self.answer(200, {"status": "ok", "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())})
        self.answer(405 if self.path.startswith(BASE) else 404, "Method not allowed\n", "text/plain")

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.path.startswith(BASE):
            self.server.faults.append("%s: there is no such path" % self.path)
            return self.answer(404, "404 page not found\n", "text/plain")
        name = self.path.removeprefix(BASE)
        told = name != QUESTION and (self.server.refuse or self.server.refuse_told)
        if told:
            return self.answer(told, "Unauthorized\n", "text/plain")
        body = self.server.take(name, self.headers, raw)
        if name == QUESTION and self.server.refuse:
            return self.answer(self.server.refuse, "Unauthorized\n", "text/plain")
        if name == QUESTION:
            return self.answer(200, self.server.question(body))
        if name not in TOLD:
            self.server.faults.append("%s: cdev knows no such hook" % name)
        self.answer(200, {"ok": True})


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--port", type=int, default=16180)
    ap.add_argument("--patience", type=float, default=60)
    ap.add_argument("--marked", action="store_true")
    ap.add_argument("--refuse", type=int, default=0)
    ap.add_argument("--refuse-told", type=int)
    ap.add_argument("answer", nargs="*", choices=[*ANSWERS, []])
    a = ap.parse_args()
    with Double(a.answer, a.patience, a.port, lambda line: print(line, flush=True), a.marked, a.refuse) as double:
        double.refuse_told = a.refuse_told
        double.start()
        print("http://127.0.0.1:%d" % double.port, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
