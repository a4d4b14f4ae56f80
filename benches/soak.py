#!/usr/bin/env python3
"""A soak: very many events, while everything around them changes. Nothing is executed but hookctl.

  soak.py BINARY [--events N] [--jobs 8] [--seconds S] [--seed N] [--keep]

Eight workers start hooks of two sessions with payloads of examples/ and tests/, and with broken and hostile ones.
Meanwhile the user's and the project's rule files change, some of them broken; two processes install and uninstall;
the user edits the settings between them; hooks, installs and uninstalls are killed half-way. What must hold:

  answers    exit status 0 or 2, standard output empty or one JSON object, and nothing that panicked
  verdicts   what shipped rules or the rules of every config in force deny is denied; what a config without that rule
             may have judged is left out
  settings   always whole JSON; every key and hook of the user is there at every look, and in the end every byte
  state      each journal line whole, no file beyond its bounds, no temporary file left once a day has passed, no lock
             that keeps anybody waiting

N is SOAK_EVENTS or 1,000,000. Prints what it counted; exit status 1 where something did not hold.
"""
import argparse
import collections
import glob
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RULE = '[rule.soak]\ncommand = "soak-forbidden"\ndeny = "The soak forbids it."\n'
# What any state may come to (src/journal.rs, src/remote/spool.rs, src/marks.rs, src/remote/questions.rs).
MEGABYTE = 1 << 20
STATE_BYTES = 64 * MEGABYTE

# name: (text, has the soak's rule; None = it cannot be read, so every call is asked about)
USER = {
    "plain": (RULE, True),
    "many": (RULE + "".join(f'[rule.n{i}]\ncommand = "never-{i} x"\nask = "n{i}"\n' for i in range(200)), True),
    "strict": ('profile = "strict"\n' + RULE, True),
    "autopilot": ("autopilot = true\n" + RULE, True),
    "run": (RULE + '[rule.after]\non = "PostToolUse"\ntool = "Write"\nrun = "true"\n'
            '[rule.when]\ncommand = "git commit"\nwhen = { run = "false" }\nask = "?"\n', True),
    "journal": ("[journal]\nmax_size_mb = 1\nkeep = 2\n" + RULE, True),
    "server": (RULE + '[remote.gone]\nurl = "http://127.0.0.1:9/hook"\ntimeout_ms = 200\nretry_count = 0\n'
               '[rule.asked]\ncommand = "git push"\nremote = "gone"\n'
               '[rule.told]\non = ["Stop", "Notification"]\nremote = "gone"\n', True),
    "broken": (RULE + "[rule.x\n", None),
    "no-text": ("\x00\x01", None),
    "one-bad-rule": (RULE + '[rule.bad]\ncomand = "x"\ndeny = "x"\n', True),
    "empty": ("", False),
    "absent": (None, False),
}
PROJECT = {
    "absent": None,
    "tightens": '[rule.p]\ncommand = "soak-project"\ndeny = "The project forbids it."\n',
    "loosens": '[rule.p]\ntool = "*"\nallow = "everything"\n[override.delete-root]\nenabled = false\n',
    "broken": "[[[",
    "runs": '[rule.p]\non = "PostToolUse"\nrun = "echo soak"\n',
}
# Denied by shipped rules whatever any of these files says.
ALWAYS = ["rm -rf /", "sudo rm -rf / --no-preserve-root", "cd / && rm -rf *", "bash -c 'rm -rf /'", "dd if=/dev/zero of=/dev/sda"]
# Denied where the user's file has the soak's rule.
RULED = ["soak-forbidden", "cd src && soak-forbidden --now", "bash -c 'soak-forbidden x'", "true | soak-forbidden"]
HOSTILE = [
    b"", b"{", b"[]", b"null", b"\xff\xfe\x00", b'{"hook_event_name":"PreToolUse"}', b'{"a":' * 5000,
    b"[" * 100000, b'{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"\xed\xa0\x80"}}',
    b'{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":7}}',
    b'{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":[]}',
    b'{"hook_event_name":"NoSuchEvent","tool_name":"Bash"}', b"{}" * 100, b" " * 100000,
    json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "x;" * 30000}}).encode(),
    json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "$(" * 5000}}).encode(),
    json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": "a", "content": "y" * MEGABYTE}}).encode(),
]


class World:
    """One home, one project, and what may be asked of them."""

    def __init__(self, binary, root):
        self.root = root
        self.home, self.project = os.path.join(root, "home"), os.path.join(root, "home/project")
        self.config = os.path.join(self.home, ".config/hookctl")
        self.state = os.path.join(self.home, ".local/state/hookctl")
        self.settings = os.path.join(self.home, ".claude/settings.json")
        for path in (self.config, self.project + "/.git", self.project + "/src", os.path.dirname(self.settings), root + "/bin"):
            os.makedirs(path)
        self.binary = os.path.join(root, "bin/hookctl")
        shutil.copy2(binary, self.binary)
        for name, text in ((".env", "KEY=1\n"), ("src/main.rs", "fn main() {}\n"), ("Makefile", "test:\n\ttrue\n"),
                           ("package.json", '{"scripts": {"test": "true"}}\n')):
            with open(os.path.join(self.project, name), "w", encoding="utf-8") as out:
                out.write(text)
        self.env = {"HOME": self.home, "PATH": os.environ["PATH"], "CLAUDE_PROJECT_DIR": self.project}

    def payloads(self):
        """Payloads of clients with their agent, moved into this world and into one of two sessions."""
        found = []
        for agent in [None, "claude", "codex", "cursor", "gemini", "copilot", "droid", "qwen", "vscode", "kiro", "windsurf", "cline", "opencode"]:
            where = "tests/payloads/" + agent if agent else "examples/payloads"
            for file in sorted(glob.glob(os.path.join(TREE, where, "*.json"))):
                if "schema" in file:
                    continue
                with open(file, encoding="utf-8", errors="surrogateescape") as read:
                    text = read.read().replace("/home/dev/project", self.project).replace("/home/dev", self.home)
                try:
                    event = json.loads(text)
                except ValueError:
                    continue
                if isinstance(event, dict):
                    found.append((agent or "claude", event))
        return found

    def call(self, command, session):
        return {"session_id": session, "transcript_path": self.home + "/t.jsonl", "cwd": self.project,
                "hook_event_name": "PreToolUse", "permission_mode": "default", "tool_name": "Bash",
                "tool_input": {"command": command}, "tool_use_id": "soak"}


def write(path, text, whole):
    """Puts a text there: in one step, or the way that many editors do. None takes it away."""
    if text is None:
        if os.path.exists(path):
            os.remove(path)
    elif whole:
        with open(path + ".new", "w", encoding="utf-8") as out:
            out.write(text)
        os.replace(path + ".new", path)
    else:
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)


def change_configs(world, shared, seed):
    """Changes the rule files until told to stop. `begun` is raised before a change, `done` behind it."""
    rng = random.Random(seed)
    names = sorted(USER)
    while not shared["stop"].value:
        name, whole = rng.choice(names), rng.random() < 0.7
        # While it is written in pieces, or removed, it may hold anything.
        at = names.index(name) if whole else len(names)
        with shared["lock"]:
            shared["next"].value = at
            shared["begun"].value += 1
        write(os.path.join(world.config, "config.toml"), USER[name][0], whole)
        with shared["lock"]:
            shared["now"].value = names.index(name)
            shared["done"].value += 1
        write(os.path.join(world.project, ".hookctl.toml"), PROJECT[rng.choice(sorted(PROJECT))], rng.random() < 0.7)
        time.sleep(rng.choice([0.02, 0.05, 0.3]))


def settings_now(shared):
    """What any hook that starts now may find: the change that is done, and the one that has begun."""
    with shared["lock"]:
        return shared["begun"].value, shared["done"].value, shared["now"].value, shared["next"].value


def wanted(before, after):
    """Must the soak's rule hold for a call between those two? deny, stop (it or a question), or None: nobody knows."""
    names = sorted(USER)
    if after[0] - before[0] > 1 or (before[0] != before[1] and after[0] != before[0]):
        return None
    states = {before[2], after[2]} | ({before[3]} if before[0] != before[1] else set()) | ({after[3]} if after[0] != after[1] or after[0] != before[0] else set())
    kinds = {USER[names[at]][1] if at < len(names) else False for at in states}
    if False in kinds:
        return None
    return "deny" if kinds == {True} else "stop"


def verdict(out):
    if not out.strip():
        return "silent"
    specific = json.loads(out).get("hookSpecificOutput", {})
    return specific.get("permissionDecision", "silent")


def work(world, shared, seed, share, results):
    """One of those that start hooks."""
    rng = random.Random(seed)
    payloads = world.payloads()
    counts, faults = collections.Counter(), []
    slowest = 0.0
    for number in range(share):
        if shared["stop"].value:
            break
        session = rng.choice(["soak-session-one", "soak-session-two"])
        kind = rng.choices(["payload", "always", "ruled", "hostile", "bent"], [60, 10, 15, 5, 10])[0]
        agent, expect = "claude", None
        if kind in ("always", "ruled"):
            expect = rng.choice(ALWAYS if kind == "always" else RULED)
            data = json.dumps(world.call(expect, session)).encode()
        elif kind == "hostile":
            data = rng.choice(HOSTILE)
        else:
            agent, event = rng.choice(payloads)
            event = dict(event)
            for key in ("session_id", "conversation_id", "sessionId"):
                if key in event:
                    event[key] = session
            if "tool_use_id" in event and rng.random() < 0.9:
                event["tool_use_id"] = f"toolu_{seed}_{number}"
            data = json.dumps(event).encode()
            if kind == "bent":
                data = bytearray(data)
                for _ in range(rng.randrange(1, 9)):
                    at = rng.randrange(len(data))
                    data[at:at + rng.randrange(3)] = bytes(rng.randrange(256) for _ in range(rng.randrange(3)))
                data = bytes(data)
        before, start = settings_now(shared), time.monotonic()
        hook = subprocess.Popen([world.binary, "hook", "--agent", agent, "--timeout", "30"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=world.project, env=world.env, close_fds=False)
        if rng.random() < 0.02:
            time.sleep(rng.random() * 0.004)
            hook.kill()
            hook.communicate(b"" if rng.random() < 0.5 else data)
            counts["killed"] += 1
            continue
        out, err = hook.communicate(data)
        slowest = max(slowest, time.monotonic() - start)
        counts["events"] += 1
        counts[kind] += 1
        if counts["events"] % 100 == 0:
            with shared["lock"]:
                shared["events"].value += 100

        def fault(what, data=data, out=out, err=err, agent=agent, status=hook.returncode):
            counts["faults"] += 1
            if len(faults) < 20:
                faults.append(f"{what}: {agent} status {status} in {data[:600]!r} out {out[:300]!r} err {err[:300]!r}")
        if hook.returncode not in (0, 2):
            fault("exit status")
        if b"panicked" in err:
            fault("panic")
        text = out.decode("utf-8", "replace").strip()
        if text:
            try:
                if not isinstance(json.loads(text), dict):
                    fault("no object")
                    continue
            except ValueError:
                fault("no JSON")
                continue
        if expect is not None:
            said = verdict(text)
            must = "deny" if kind == "always" else wanted(before, settings_now(shared))
            counts["must " + str(must)] += 1
            if must == "deny" and said != "deny" or must == "stop" and said not in ("deny", "ask"):
                fault(f"said {said}, must {must} {expect!r}, {before} {settings_now(shared)}")
    results.put((counts, faults, slowest))


def user_settings(number):
    """What the user has in the settings beside hookctl's entries; the number of edits is in it."""
    return {"model": "opus", "edits": number, "permissions": {"allow": ["Bash(ls:*)"], "deny": []},
            "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "/usr/bin/true #own"}]}]},
            "env": {"A": "ü"}}


def own_hooks(settings):
    groups = settings.get("hooks", {}).get("PreToolUse", [])
    return [entry["command"] for group in groups for entry in group.get("hooks", []) if "#own" in entry.get("command", "")]


def edit_settings(world, shared, seed, results):
    """Installs and uninstalls, two at a time and some killed, and lets the user edit between them."""
    rng = random.Random(seed)
    counts, faults = collections.Counter(), []
    edits = 0
    base = json.dumps(user_settings(edits), indent=2, ensure_ascii=False) + "\n"
    write(world.settings, base, True)

    def look(where):
        counts["looks"] += 1
        with open(world.settings, encoding="utf-8") as read:
            text = read.read()
        try:
            found = json.loads(text)
        except ValueError:
            faults.append(f"settings are no JSON {where}: {text[:300]!r}")
            return
        own = user_settings(edits)
        lost = [key for key in own if key != "hooks" and found.get(key) != own[key]]
        if lost or own_hooks(found) != own_hooks(own):
            faults.append(f"settings lost {lost or 'a hook'} {where}")

    def run(*args):
        return subprocess.Popen([world.binary, *args, "--agent", "claude"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, cwd=world.project, env=world.env, close_fds=False)
    while not shared["stop"].value:
        pair = [run(rng.choice(["install", "uninstall"])) for _ in range(rng.choice([1, 2]))]
        for one in pair:
            if rng.random() < 0.15:
                time.sleep(rng.random() * 0.03)
                one.kill()
                counts["killed"] += 1
            look("meanwhile")
        for one in pair:
            out = one.communicate(timeout=60)[0]
            counts["runs"] += 1
            if one.returncode not in (0, 1, -9) or b"panicked" in out:
                faults.append(f"{one.args[1]} exit status {one.returncode}: {out[:400]!r}")
        look("behind " + " and ".join(one.args[1] for one in pair))
        if rng.random() < 0.3:
            with open(world.settings, encoding="utf-8") as read:
                text = read.read()
            write(world.settings, text.replace(f'"edits": {edits}', f'"edits": {edits + 1}'), True)
            edits += 1
            counts["edits"] += 1
        time.sleep(rng.random() * 0.4)
    out = run("uninstall").communicate(timeout=60)[0]
    with open(world.settings, encoding="utf-8") as read:
        left = read.read()
    if left != base.replace('"edits": 0', f'"edits": {edits}'):
        faults.append(f"settings are not what they were: {left!r} {out!r}")
    results.put((counts, faults))


def state_files(world):
    found = {}
    for directory, _, names in os.walk(world.state):
        for name in names:
            path = os.path.join(directory, name)
            try:
                found[os.path.relpath(path, world.state)] = os.lstat(path)
            except FileNotFoundError:
                pass
    return found


def kinds_of(files):
    """How many of each sort: names without what differs."""
    kinds = collections.Counter()
    for name in files:
        head = name.split("/")
        one = head[0] if len(head) > 1 else head[-1]
        kinds["/".join([one] + [head[-1].split("-")[0]] * (one == "notes"))] += 1
    return dict(kinds)


def check_journal(world, faults):
    lines = 0
    for path in glob.glob(world.state + "/journal.jsonl*"):
        with open(path, "rb") as read:
            for line in read:
                lines += 1
                try:
                    whole = line.endswith(b"\n") and isinstance(json.loads(line), dict)
                except ValueError:
                    whole = False
                if not whole:
                    faults.append(f"half a journal line in {path}: {line[:200]!r}")
    return lines


def temporaries(world):
    found = []
    for top in (world.home, world.root):
        for directory, _, names in os.walk(top):
            found += [os.path.join(directory, name) for name in names if name.endswith((".tmp", ".new")) or name.startswith((".hookctl-", ".tmp"))]
    return sorted(set(found))


def settle(world, faults):
    """Nine days later: what nobody needs goes by itself, in some thousand events more."""
    old = time.time() - 9 * 86400
    for path in state_files(world):
        full = os.path.join(world.state, path)
        if os.path.basename(path) not in ("journal.jsonl", "trust.json", "installs.json"):
            os.utime(full, (old, old))
    for path in temporaries(world):
        os.utime(path, (old, old))
    write(os.path.join(world.config, "config.toml"), USER["run"][0], True)
    for number in range(3000):
        event = {"session_id": f"later-{number}", "cwd": world.project, "hook_event_name": "PostToolUse", "tool_name": "Write",
                 "tool_input": {"file_path": world.project + "/a", "content": ""}, "tool_response": {}, "tool_use_id": f"later-{number}"}
        subprocess.run([world.binary, "hook"], input=json.dumps(event).encode(), stdout=subprocess.DEVNULL, cwd=world.project, env=world.env, check=False)
    for verb in ("install", "uninstall"):
        done = subprocess.run([world.binary, verb, "--agent", "claude"], stdin=subprocess.DEVNULL, capture_output=True,
                              cwd=world.project, env=world.env, check=False, timeout=30)
        if done.returncode != 0:
            faults.append(f"{verb} in the end: {done.stdout!r} {done.stderr!r}")
    stale = [name for name, meta in state_files(world).items() if name.startswith("notes/") and meta.st_mtime < old + 86400]
    if stale:
        faults.append(f"{len(stale)} notes of last week are left, such as {stale[:3]}")
    left = temporaries(world)
    if left:
        faults.append(f"{len(left)} temporary files are left, such as {left[:3]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--events", type=int, default=int(os.environ.get("SOAK_EVENTS", "1000000")))
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    # Not below /tmp: what lies there is nobody's.
    root = os.path.join(os.path.expanduser("~"), ".cache", f"hookctl-soak-{os.getpid()}")
    world = World(options.binary, root)
    context = multiprocessing.get_context("fork")
    shared = {name: context.Value("q", 0, lock=False) for name in ("stop", "begun", "done", "now", "next", "events")}
    shared["lock"] = context.Lock()
    write(os.path.join(world.config, "config.toml"), USER["plain"][0], True)
    shared["now"].value = sorted(USER).index("plain")
    results, edited = context.Queue(), context.Queue()
    start = time.monotonic()
    workers = [context.Process(target=work, args=(world, shared, options.seed * 1000 + job, -(-options.events // options.jobs), results))
               for job in range(options.jobs)]
    others = [context.Process(target=change_configs, args=(world, shared, options.seed)),
              context.Process(target=edit_settings, args=(world, shared, options.seed, edited))]
    for one in workers + others:
        one.start()
    counts, faults, slowest, most, told = collections.Counter(), [], 0.0, collections.Counter(), start
    done = 0
    while done < len(workers):
        try:
            count, fault, slow = results.get(timeout=2)
            counts.update(count)
            faults += fault
            slowest = max(slowest, slow)
            done += 1
        except Exception as empty:  # queue.Empty
            if not any(one.is_alive() for one in workers) and results.empty():
                faults.append(f"a worker died: {empty!r}")
                break
        files = state_files(world)
        size = sum(meta.st_size for meta in files.values())
        most["files"], most["bytes"] = max(most["files"], len(files)), max(most["bytes"], size)
        if time.monotonic() - start > options.seconds:
            shared["stop"].value = 1
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(f"{told - start:.0f} s: {shared['events'].value} events, {len(files)} files, {size} bytes", flush=True)
    shared["stop"].value = 1
    edit_counts, edit_faults = edited.get(timeout=120)
    for one in workers + others:
        one.join(30)
    seconds = time.monotonic() - start
    faults += edit_faults
    lines = check_journal(world, faults)
    if most["bytes"] > STATE_BYTES:
        faults.append(f"the state took {most['bytes']} bytes")
    settle(world, faults)
    files = state_files(world)
    print(f"events: {dict(counts)} in {seconds:.0f} s, the slowest {slowest:.2f} s")
    print(f"settings: {dict(edit_counts)}")
    print(f"journal: {lines} lines that are left; state: at most {most['files']} files, {most['bytes']} bytes; "
          f"nine days later {len(files)} files, {sum(meta.st_size for meta in files.values())} bytes {kinds_of(files)}")
    for fault in faults[:40]:
        print("FAULT", fault)
    print(f"{counts['faults'] + len(edit_faults)} odd answers or lost settings, {len(faults)} faults told")
    if options.keep:
        print("kept:", root)
    else:
        shutil.rmtree(root, ignore_errors=True)
    return 1 if faults else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    sys.exit(main())
