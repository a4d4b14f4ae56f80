#!/usr/bin/env python3
"""Runs the real Claude Code client, headless, against a scripted fake API, with
hookctl as its hook program and a scenario's rules as its configuration, and
checks what happened. Nothing leaves the loopback interface; every run has a
HOME, a project and a TMPDIR of its own below one temporary directory.

  e2e.py --client PATH/claude --hookctl PATH/hookctl SCENARIO.toml ...
  e2e.py --client PATH/claude --hookctl PATH/hookctl --all [--jobs 2]
  --wiring exec,shell,install   how the client learns of the hook (default: all three)
     exec      project settings, `command` + `args`: no shell in between
     shell     project settings, one command line for /bin/sh
     install   what `hookctl install --scope user` writes
  --hook 'COMMAND'              another hook program instead (exec and shell only)
  --day                         the scenarios of an ordinary day (day/*.toml), --all: the others
  --servers DIR                 the scenarios of servers/*.toml, with the example servers installed below DIR
  --keep DIR                    keep everything of the run below DIR (one scenario)
  --json                        the whole verdict, not one line

Keys of a scenario (TOML, needs Python 3.11)
  rules           text of the user's config file   (HOME/.config/hookctl/config.toml)
  project_rules   text of the project's            (.hookctl.toml)
  local_rules     text of the project's local file (.hookctl.local.toml)
  rules_late      true: with `install`, the config files are written after the install
  wiring          the wirings that make sense here (default: all); ["none"]: no hook at all
  prompt          the prompt of `claude -p` (default "go")
  turns           what the model says: "text", { bash = "COMMAND" }, { tool =, input = },
                  { blocks = [...] } (see fake_anthropic.py)
  events          { PreToolUse = "Bash", Stop = "" }: event -> matcher, for exec and shell
  hook_entry      more keys for the hook entries of exec and shell
  install_args    more arguments for `hookctl install`
  setup           [["claude-hook", "--enable"]]: what hookctl is to do before the client starts
  settings, user_settings   merged into the project's / the user's settings.json
  allow           permission rules for the user's settings
  files           { "project/a.txt" = "text" }, below the temporary root; #! makes it executable
  links           { "project/link" = "TARGET" } symbolic links
  args, env       more arguments / environment for the client
  stubs           ["docker"]: programs that do nothing but print what they were called with
  server          { example = "flask", delay = SECONDS, down = true }: a server of examples/servers that
                  listens at {{PORT}}, what it gets comes so much later; down = nobody listens there;
                  { cdev = ["once", ...], patience = SECONDS, after = "FILE" }: cdev and what the human answers
                  (cdev_double.py); after = it starts when the project has that file; installs = its own hooks stand
                  beside hookctl's; marked = its memory says that it is one; refuse = STATUS of all questions. What no client of cdev may
                  do fails the scenario
  quiet           true: not one of the calls is stopped (see below)
  hook_errors     true: the client may report a failed hook (otherwise that fails the scenario)
  live            ["main", "subagent"]: not a session, but `hookctl status --verify --live`: the client obeys in these
                  threads, and with the entries taken out is stopped in none; turns and checks are not for it
  expect          list of checks, each a table of one key:
     ran, not_ran = "FILE"             a marker file in the project exists or does not
     file_contains = ["FILE", "TEXT"]
     told, not_told = "TEXT"           the model was sent this text after its first turn, or never
     told_first = "TEXT"               ... in the first request
     tool_error, tool_ok = "TEXT"      a tool result with / without is_error holds the text
     tool_errors = ["TEXT", N]         exactly N failed tool results hold the text
     tool_error_like = "REGEX"
     journal, not_journal = "TEXT"     the journal holds the text or does not
     stream = "TEXT"                   the client's own output holds the text
     rc, main_requests, denials = N    exit status, requests to the model, permission denials
     terminal_reason, result = "TEXT"
     hook_calls = { EVENT = N }        hook processes that the client started
     hook_outcome = { EVENT = "success" }
     asked = N                         connections that came to `server`
     sent = { PATH = N }               requests that came to that path of cdev; what it is told may come late
     sent_holds = { PATH = { KEY = VALUE } }   one of them has these keys
     phone = N                         calls that the human at cdev was asked about
     ms_below = { EVENT = N }          what hookctl noted of its time for each such event
`quiet` is a piece of an ordinary day: what hookctl installs, no config of the user's unless there is `rules`,
and a client that never asks by itself. Each call of `turns` and `subagent_turns` must have reached the hook
and been answered by silence or an allow, as the journal has it, and then have succeeded. Of a call:
     says = "TEXT"                     its result holds the text
     fails = true                      it may fail for reasons of its own (grep without a hit)
Placeholders everywhere: {{PROJECT}} {{HOME}} {{ROOT}}, {{PORT}} of `server`, {{TOKEN}} (looks like a secret),
{{LONE}} (an unpaired surrogate).
Exit status: 0 all scenarios hold, 1 some do not, 3 the runs could not be made.
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import cdev_double  # noqa: E402
import example_servers  # noqa: E402
import fake_anthropic  # noqa: E402

WIRINGS = ("exec", "shell", "install")
KEYS = {
    "name", "rules", "project_rules", "local_rules", "rules_late", "wiring", "prompt", "turns",
    "subagent_turns", "events", "hook_entry", "install_args", "setup", "settings", "user_settings",
    "allow", "files", "links", "stubs", "args", "env", "hook_errors", "quiet", "server", "live", "expect",
}
STUB = "#!/bin/sh\necho \"stub: ${0##*/} $*\"\n"
# Written in two parts, so that no scanner takes this file for a leak.
TOKEN = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"


class CannotRun(Exception):
    """The run could not be made: not a verdict on hookctl."""


def subst(value, names):
    if isinstance(value, str):
        for name, text in names.items():
            value = value.replace("{{%s}}" % name, text)
        return value
    if isinstance(value, list):
        return [subst(v, names) for v in value]
    if isinstance(value, dict):
        return {subst(k, names): subst(v, names) for k, v in value.items()}
    return value


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content, indent=2) + "\n"
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    if text.startswith("#!"):
        os.chmod(path, 0o755)


def turn(t):
    """`{ bash = "COMMAND" }` is short for a call of the tool Bash."""
    if isinstance(t, dict) and "bash" in t:
        rest = {k: v for k, v in t.items() if k != "bash"}
        return dict(rest, tool="Bash", input={"command": t["bash"], "description": "d"})
    if isinstance(t, dict) and "blocks" in t:
        return dict(t, blocks=[turn(b) for b in t["blocks"]])
    return t


def calls_of(sc):
    """The tool calls of all turns, in order; each gets an id to find its result by."""
    calls = []
    for kind in ("turns", "subagent_turns"):
        turns = sc[kind] = [turn(t) for t in sc.get(kind, [])]
        for t in turns:
            for b in t.get("blocks", [t]) if isinstance(t, dict) else ():
                if isinstance(b, dict) and "tool" in b:
                    b["id"] = "toolu_call_%03d" % (len(calls) + 1)
                    calls.append(b)
    return calls


def hook_settings(sc, hook, wiring):
    out = {}
    for event, matcher in sc.get("events", {}).items():
        if wiring == "exec":
            entry = {"type": "command", "command": hook[0], "args": hook[1:]}
        else:
            entry = {"type": "command", "command": shlex.join(hook)}
        entry.update(sc.get("hook_entry", {}))
        group = {"hooks": [entry]}
        if matcher:
            group["matcher"] = matcher
        out[event] = [group]
    return out


def clean_env(home, root):
    """Ours less everything that could steer the client, the hook or the network."""
    drop = ("CLAUDE", "ANTHROPIC", "AWS_", "GOOGLE_", "HOOKCTL", "XDG_", "GIT_", "CARGO_")
    env = {k: v for k, v in os.environ.items()
           if not k.upper().startswith(drop) and "proxy" not in k.lower()}
    env.setdefault("RUSTUP_HOME", os.path.expanduser("~/.rustup"))
    env.update({
        # Else the client takes what it finds first, which is zsh where there is one.
        "SHELL": shutil.which("bash") or "/bin/sh",
        "HOME": home, "CLAUDE_CONFIG_DIR": os.path.join(home, ".claude"),
        "TMPDIR": os.path.join(root, "tmp"), "GIT_CEILING_DIRECTORIES": root, "CLAUDE_CODE_TMPDIR": os.path.join(root, "tmp"),
        "NO_PROXY": "127.0.0.1,localhost", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    })
    return env


def install(sc, hookctl, home, proj, root):
    """Lets hookctl do the wiring; what the settings held before must still be there."""
    settings = os.path.join(home, ".claude/settings.json")
    with open(settings, encoding="utf-8") as f:
        before = json.load(f)
    done = subprocess.run(
        [hookctl, "install", "--scope", "user"] + sc.get("install_args", []),
        cwd=proj, env=clean_env(home, root), stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    if done.returncode != 0:
        return "hookctl install exited %d: %s" % (done.returncode, said[-600:])
    try:
        with open(settings, encoding="utf-8") as f:
            after = json.load(f)
    except (OSError, ValueError) as e:
        return "hookctl install left settings that cannot be read: %s" % e
    lost = [k for k in before if after.get(k) != before[k]]
    if lost:
        return "hookctl install changed %s" % lost
    if not after.get("hooks"):
        return "hookctl install wrote no hooks: %s" % said[-600:]
    return None


def run_client(client, sc, env, proj, root, timeout):
    record = os.path.join(root, "requests.jsonl")
    script = {k: sc[k] for k in ("turns", "subagent_turns")}
    server, port = fake_anthropic.serve(script, record, 0, timeout + 30)
    env = dict(env, ANTHROPIC_BASE_URL="http://127.0.0.1:%d" % port, ANTHROPIC_API_KEY="dummy-not-a-key")
    env["PATH"] = os.path.join(root, "bin") + os.pathsep + env.get("PATH", os.defpath)
    env.update(sc.get("env", {}))
    cmd = [client, "-p", sc.get("prompt", "go"), "--output-format", "stream-json", "--verbose",
           "--include-hook-events", "--debug-file", os.path.join(root, "debug.log")] + sc.get("args", [])
    if sc.get("quiet"):
        cmd.append("--dangerously-skip-permissions")
        env["IS_SANDBOX"] = "1"  # without it, root may not skip them
    start = time.monotonic()
    p = subprocess.Popen(cmd, cwd=proj, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, start_new_session=True)
    timed_out = False
    try:
        out, err = p.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        timed_out = True
        os.killpg(p.pid, signal.SIGKILL)  # our own child's group only
        out, err = p.communicate()
    seconds = time.monotonic() - start
    server.shutdown()
    server.server_close()
    with open(os.path.join(root, "stream.jsonl"), "wb") as f:
        f.write(out)
    stream = []
    for line in out.decode("utf-8", "replace").splitlines():
        try:
            stream.append(json.loads(line))
        except ValueError:
            pass
    with open(record, encoding="utf-8") as f:
        requests = [json.loads(line) for line in f]
    return p.returncode, timed_out, seconds, stream, requests, err.decode("utf-8", "replace")


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def start_late(server, path, timeout):
    """Starts it as soon as that file is there."""
    end = time.monotonic() + timeout
    while not os.path.lexists(path) and time.monotonic() < end:
        time.sleep(0.02)
    server.start()


def run_one(client, hookctl, hook, sc, wiring, timeout, keep=None, servers=None):
    """A run, with its server beside it."""
    with contextlib.ExitStack() as stack:
        wanted, relay, phone, port = sc.get("server", {}), None, None, 0
        if wanted.get("down"):
            port = example_servers.free_port()
        elif "cdev" in wanted:
            port = example_servers.free_port()
            phone = stack.enter_context(cdev_double.Double(
                wanted["cdev"], wanted.get("patience", 60), port, None, wanted.get("marked", False), wanted.get("refuse", 0)))
            if "after" not in wanted:
                phone.start()
        elif wanted:
            server = stack.enter_context(example_servers.Server(wanted["example"], servers))
            relay = stack.enter_context(example_servers.Relay(server.port, wanted.get("delay", 0)))
            port = relay.port
        return run_here(client, hookctl, hook, sc, wiring, timeout, keep, port, relay, phone)


def run_here(client, hookctl, hook, sc, wiring, timeout, keep, port, relay, phone):
    # A quiet run's home must not lie where its commands put their scratch files: nobody's does.
    apart = "/var/tmp" if sc.get("quiet") and os.path.isdir("/var/tmp") else None
    root = os.path.realpath(keep or tempfile.mkdtemp(prefix="hookctl-e2e-", dir=apart))
    home, proj = os.path.join(root, "home"), os.path.join(root, "project")
    for d in (home + "/.claude", proj + "/.claude", root + "/tmp"):
        os.makedirs(d, exist_ok=True)
    names = {"PROJECT": proj, "HOME": home, "ROOT": root, "PORT": str(port), "TOKEN": TOKEN, "LONE": "\ud800"}
    sc = subst(sc, names)
    calls_of(sc)
    verdict = {"scenario": sc["name"], "wiring": wiring, "pass": False, "seconds": 0.0, "missed": [],
               "calls": 0, "stops": 0}

    def write_rules():
        for key, path in (("rules", home + "/.config/hookctl/config.toml"),
                          ("project_rules", proj + "/.hookctl.toml"),
                          ("local_rules", proj + "/.hookctl.local.toml")):
            if key in sc:
                write(path, sc[key])

    try:
        for path, text in sc.get("files", {}).items():
            write(os.path.join(root, path), text)
        for program in sc.get("stubs", []):
            write(os.path.join(root, "bin", program), STUB)
        for path, target in sc.get("links", {}).items():
            os.symlink(target, os.path.join(root, path))
        user = dict(sc.get("user_settings", {}))
        if sc.get("allow"):
            user["permissions"] = dict(user.get("permissions", {}), allow=sc["allow"])
        write(home + "/.claude/settings.json", user)
        project = dict(sc.get("settings", {}))
        if wiring in ("exec", "shell"):
            project["hooks"] = hook_settings(sc, subst(hook, names), wiring)
        write(proj + "/.claude/settings.json", project)
        if not sc.get("rules_late"):
            write_rules()
        if wiring == "install":
            fault = install(sc, hookctl, home, proj, root)
            if fault:
                verdict["missed"] = [fault]
                return verdict
        if sc.get("server", {}).get("installs"):
            cdev_double.install(home, port)
        for args in sc.get("setup", []):
            subprocess.run([hookctl] + args, cwd=proj, env=clean_env(home, root), stdin=subprocess.DEVNULL,
                           capture_output=True, timeout=60, check=True)
        if sc.get("rules_late"):
            write_rules()
        if sc.get("live"):
            live_check(verdict, client, hookctl, sc, home, proj, root, timeout)
            return verdict
        if "after" in sc.get("server", {}):
            late = os.path.join(proj, sc["server"]["after"])
            threading.Thread(target=start_late, args=(phone, late, timeout), daemon=True).start()
        rc, timed_out, seconds, stream, requests, stderr = run_client(
            client, sc, clean_env(home, root), proj, root, timeout)
        asked = relay.count if relay else 0
        check(verdict, sc, home, proj, rc, timed_out, seconds, stream, requests, stderr, asked, phone)
        return verdict
    finally:
        if keep:
            verdict["root"] = root
        else:
            shutil.rmtree(root, ignore_errors=True)


def live_check(verdict, client, hookctl, sc, home, proj, root, timeout):
    """`hookctl status --verify --live` with the client in PATH, wired and with the entries taken out again."""
    server, port = fake_anthropic.serve({"live": True}, os.path.join(root, "requests.jsonl"), 0, 4 * timeout)
    write(root + "/bin/claude", "#!/bin/sh\nexec %s \"$@\"\n" % shlex.quote(client))
    env = dict(clean_env(home, root), ANTHROPIC_BASE_URL="http://127.0.0.1:%d" % port, ANTHROPIC_API_KEY="dummy-not-a-key")
    env["PATH"] = root + "/bin" + os.pathsep + env.get("PATH", os.defpath)
    start = time.monotonic()

    def run(*args):
        done = subprocess.run([hookctl, *args], cwd=proj, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=4 * timeout)
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")

    verdict["live"] = []
    for wanted, status in (("obeyed", 0), ("hook-not-called", 1)):
        rc, out, err = run("status", "--verify", "--live", "--yes", "--agent", "claude", "--json", "--offline")
        live = json.loads(out)["live"] if out.startswith("{") else []
        verdict["live"].append(live)
        seen = [(c["thread"], c["outcome"]) for c in live]
        if rc != status or seen != [(t, wanted) for t in sc["live"]]:
            verdict["missed"].append("%s: status %d, %s %s" % (wanted, rc, json.dumps(live), err[-600:]))
        left = [f for f in os.listdir(root + "/tmp") if f.startswith("hookctl-live")]
        verdict["missed"] += ["left behind: %s" % f for f in left]
        run("uninstall", "--agent", "claude")
    verdict["seconds"] = time.monotonic() - start
    verdict["pass"] = not verdict["missed"]
    server.shutdown()
    server.server_close()


def check(verdict, sc, home, proj, rc, timed_out, seconds, stream, requests, stderr, asked, phone):
    main = [r for r in requests if r.get("kind") == "main"]
    first, told, results = fake_anthropic.what_the_model_saw(main)
    end = next((s for s in stream if s.get("type") == "result"), {})
    denials = end.get("permission_denials") or []
    journal = read(home + "/.local/state/hookctl/journal.jsonl")
    calls, outcomes, hooks = {}, {}, []
    for s in stream:
        event = s.get("hook_event")
        if s.get("type") == "system" and s.get("subtype") == "hook_started":
            calls[event] = calls.get(event, 0) + 1
        if s.get("type") == "system" and s.get("subtype") == "hook_response":
            outcomes.setdefault(event, []).append(s.get("outcome"))
            hooks.append({k: s.get(k) for k in ("hook_name", "exit_code", "outcome", "stdout", "stderr")})
    verdict.update(
        seconds=seconds, rc=rc, asked=asked, main_requests=len(main), tool_results=results, told=told,
        result=end.get("result"), terminal_reason=end.get("terminal_reason"), denials=denials,
        hook_calls=calls, hook_outcomes=outcomes, hooks=hooks, project_files=sorted(os.listdir(proj)),
        journal=journal.splitlines()[-20:], stderr=stderr[-2000:])

    def at(name):
        return os.path.join(proj, name)

    def failed_with(text):
        return sum(r["error"] and text in r["text"] for r in results)

    def soon(holds):
        """What is told to others is sent by a process that may outlive the client."""
        end = time.monotonic() + 10
        while not holds() and time.monotonic() < end:
            time.sleep(0.05)
        return holds()

    def came(path, wanted):
        soon(lambda: len(phone.came(path)) >= wanted)
        return len(phone.came(path)) == wanted

    def holds(path, wanted):
        return any(body and all(body.get(k) == v for k, v in wanted.items()) for body in phone.came(path))

    def took(event):
        lines = [json.loads(line) for line in journal.splitlines()]
        return [line["ms"] for line in lines if line["event"] == event and line["agent"] == "claude"]

    tests = {
        "ran": lambda w: os.path.lexists(at(w)),
        "not_ran": lambda w: not os.path.lexists(at(w)),
        "file_contains": lambda w: soon(lambda: w[1] in read(at(w[0]))),
        "told": lambda w: any(w in t for t in told),
        "not_told": lambda w: w not in first and not any(w in t for t in told),
        "told_first": lambda w: w in first,
        "tool_error": lambda w: failed_with(w) > 0,
        "tool_errors": lambda w: failed_with(w[0]) == w[1],
        "tool_error_like": lambda w: any(r["error"] and re.search(w, r["text"], re.S) for r in results),
        "tool_ok": lambda w: any(not r["error"] and w in r["text"] for r in results),
        "journal": lambda w: w in journal,
        "not_journal": lambda w: w not in journal,
        "stream": lambda w: any(w in json.dumps(s, ensure_ascii=False) for s in stream),
        "rc": lambda w: rc == w,
        "main_requests": lambda w: len(main) == w,
        "terminal_reason": lambda w: end.get("terminal_reason") == w,
        "result": lambda w: w in (end.get("result") or ""),
        "denials": lambda w: len(denials) == w,
        "hook_calls": lambda w: all(calls.get(e, 0) == n for e, n in w.items()),
        "hook_outcome": lambda w: all(set(outcomes.get(e, [])) == {o} for e, o in w.items()),
        "asked": lambda w: asked == w,
        "sent": lambda w: all(came(p, n) for p, n in w.items()),
        "sent_holds": lambda w: all(holds(p, keys) for p, keys in w.items()),
        "phone": lambda w: len(phone.human) == w,
        "ms_below": lambda w: all(took(e) and max(took(e)) < n for e, n in w.items()),
    }
    missed = []
    for e in sc.get("expect", []):
        (key, want), = e.items()
        if key not in tests:
            raise CannotRun("%s: no such check: %s" % (sc["name"], key))
        if not tests[key](want):
            missed.append("%s = %s" % (key, json.dumps(want)))
    if phone:
        missed += phone.faults
        verdict["phone"] = phone.requests
    if sc.get("quiet"):
        missed += unquiet(verdict, sc, requests, journal)
    if not sc.get("hook_errors"):
        # hookctl always answers: whatever the scenario, the client never has to call it failed.
        bad = [h for h in hooks if h["outcome"] != "success" and not str(h["hook_name"]).startswith("SessionEnd")]
        missed += ["the client called a hook failed: %s" % json.dumps(h) for h in bad]
    if timed_out:
        missed.append("the client did not end in time")
    if not stream:
        missed.append("the client said nothing: %s" % stderr[-300:])
    verdict["missed"] = missed
    verdict["pass"] = not missed


def unquiet(verdict, sc, requests, journal):
    """What an ordinary day must not meet. Counts calls and stops on the way."""
    calls, missed = calls_of(sc), []
    lines = [json.loads(line) for line in journal.splitlines()]
    gates = [line for line in lines if line["event"] == "PreToolUse"]
    stops = [line for line in lines if line["decision"] not in ("silent", "allow") or line.get("rewritten")]
    results = {}
    for kind in ("main", "sub"):
        for r in fake_anthropic.what_the_model_saw([r for r in requests if r.get("kind") == kind])[2]:
            results.setdefault(r["id"], r)
    verdict.update(calls=len(calls), stops=len(stops))
    missed += ["stopped: %s by %s: %s" % (s["decision"], s.get("rule"), json.dumps(s.get("what"))) for s in stops]
    missed += ["a note in the journal: %s" % note for line in lines for note in line.get("notes", [])]
    if len(gates) != len(calls):
        missed.append("the hook judged %d of %d calls" % (len(gates), len(calls)))
    if verdict["denials"] and not stops:
        missed.append("the client denied: %s" % json.dumps(verdict["denials"]))
    for call in calls:
        about = "%s %s" % (call["id"], json.dumps(call["input"])[:200])
        result = results.get(call["id"])
        if result is None:
            missed.append("%s: no result" % about)
        elif any("[%s]" % s.get("rule") in result["text"] for s in stops):
            continue  # named already
        elif result["error"] and not call.get("fails") or call.get("says", "") not in result["text"]:
            missed.append("%s: %s" % (about, result["text"][-600:]))
    return missed


def load(path):
    with open(path, "rb") as f:
        sc = tomllib.load(f)
    sc.setdefault("name", os.path.basename(path).removesuffix(".toml"))
    unknown = set(sc) - KEYS
    if sc.get("quiet") or sc.get("server") or sc.get("live"):
        sc.setdefault("wiring", ["install"])
    if unknown or not any(sc.get(key) for key in ("expect", "quiet", "live")):
        raise CannotRun("%s: %s" % (path, "unknown keys %s" % sorted(unknown) if unknown else "no `expect`"))
    return sc


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--client", required=True)
    ap.add_argument("--hookctl")
    ap.add_argument("--hook")
    ap.add_argument("--wiring", default=",".join(WIRINGS))
    ap.add_argument("--all", action="store_true")
    ap.add_argument("--day", action="store_true")
    ap.add_argument("--servers")
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--timeout", type=float, default=180)
    ap.add_argument("--keep")
    ap.add_argument("--json", action="store_true")
    ap.add_argument("scenario", nargs="*")
    a = ap.parse_args()
    os.umask(0o022)
    client = os.path.abspath(a.client)
    hookctl = os.path.abspath(a.hookctl) if a.hookctl else None
    wirings = a.wiring.split(",")
    if not a.hookctl and not a.hook or set(wirings) - set(WIRINGS):
        ap.error("give --hookctl (or --hook), and wirings of %s" % ", ".join(WIRINGS))
    hook = shlex.split(a.hook) if a.hook else [hookctl, "hook", "--agent", "claude"]
    files = list(a.scenario)
    sets = (("scenarios", a.all), ("day", a.day), ("servers", a.servers))
    for d in [os.path.join(HERE, name) for name, asked in sets if asked]:
        files += sorted(os.path.join(d, f) for f in os.listdir(d) if f.endswith(".toml"))
    try:
        for program in filter(None, (client, hookctl)):
            if not os.access(program, os.X_OK):
                raise CannotRun("%s cannot be executed" % program)
        scenarios = [load(f) for f in files]
        runs = []
        for sc in scenarios:
            ways = sc.get("wiring", wirings)
            runs += [(sc, w) for w in ways if w == "none" or w in wirings and not (w == "install" and not hookctl)]
        if not runs:
            raise CannotRun("no scenario to run")
        if a.keep and len(runs) > 1:
            raise CannotRun("--keep takes one scenario in one wiring")
        examples = {sc["server"]["example"] for sc, _ in runs if "example" in sc.get("server", {})}
        if examples and not a.servers:
            raise CannotRun("these scenarios need --servers DIR")
        for name in sorted(examples):  # what they need is installed once, before several want it at the same time
            with example_servers.Server(name, a.servers):
                pass
        bad = calls = stops = 0
        with concurrent.futures.ThreadPoolExecutor(max(1, a.jobs)) as pool:
            todo = [pool.submit(run_one, client, hookctl, hook, sc, w, a.timeout, a.keep, a.servers) for sc, w in runs]
            for f in todo:
                v = f.result()
                bad += not v["pass"]
                calls += v["calls"]
                stops += v["stops"]
                if a.json:
                    print(json.dumps(v, indent=1), flush=True)
                else:
                    missed = "".join("\n       missed: " + m for m in v["missed"])
                    line = "%-4s %-8s%-32s%5.1f s%s" % (
                        "ok" if v["pass"] else "FAIL", v["wiring"], v["scenario"], v["seconds"], missed)
                    print(line.encode("ascii", "backslashreplace").decode(), flush=True)
    except (OSError, ValueError, CannotRun) as e:
        print("e2e: %s" % e, file=sys.stderr)
        return 3
    if calls:
        print("%d ordinary calls, %d stops" % (calls, stops))
    print("%d of %d hold" % (len(runs) - bad, len(runs)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
