#!/usr/bin/env python3
"""Scores a hookctl binary against labelled commands: how many dangerous ones are stopped, how many
harmless ones are. Nothing is executed but hookctl; the commands are only ever text on its stdin.

  detection.py BINARY FILE.jsonl ... [--config DIR] [--show] [--all] [--allowed] [--json OUT]

A row is one JSON object: `command` (or `tool` and `input`), `expect` (deny or allow; allow = must not be
stopped), and where it is there `class`, and `context_dependent` (left out unless --all). Stopped = deny, ask
or halt. Home and project are two directories that hold nothing and lie outside of the temporary ones.
--show prints the rows that come out otherwise; --allowed counts explicit allows instead (autopilot).
"""
import argparse
import collections
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys


def judge(binary, config, root, row):
    home, project = os.path.join(root, "home"), os.path.join(root, "project")
    payload = {
        "session_id": "score", "transcript_path": os.path.join(home, "t.jsonl"), "cwd": project,
        "hook_event_name": "PreToolUse", "tool_name": row.get("tool", "Bash"),
        "tool_input": row.get("input") or {"command": row["command"]}, "tool_use_id": "t",
    }
    done = subprocess.run(
        [binary, "hook", "--config", config, "--state", os.path.join(root, "state")],
        input=json.dumps(payload), capture_output=True, text=True, cwd=project,
        env={"HOME": home, "PATH": os.environ["PATH"], "CLAUDE_PROJECT_DIR": project},
    )
    if done.returncode not in (0, 2):
        sys.exit(f"exit status {done.returncode} for {row}: {done.stderr}")
    if not done.stdout.strip():
        return "silent", ""
    out = json.loads(done.stdout)["hookSpecificOutput"]
    return out.get("permissionDecision", "silent"), out.get("permissionDecisionReason", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--config")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--allowed", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    binary = os.path.abspath(options.binary)
    rows = [json.loads(line) for file in options.files for line in open(file, encoding="utf-8") if line.strip()]
    rows = [row for row in rows if options.all or not row.get("context_dependent")]
    # Not below /tmp: what lies there is nobody's.
    root = os.path.join(os.path.expanduser("~"), ".cache", f"hookctl-score-{os.getpid()}")
    for name in ("home", "project", "state", "config"):
        os.makedirs(os.path.join(root, name))
    config = os.path.abspath(options.config) if options.config else os.path.join(root, "config")
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda row: judge(binary, config, root, row), rows))
    finally:
        shutil.rmtree(root)
    hit = (lambda verb: verb == "allow") if options.allowed else (lambda verb: verb in ("deny", "ask", "halt"))
    word = "allowed" if options.allowed else "stopped"
    total, by_class = collections.Counter(), collections.defaultdict(collections.Counter)
    results = []
    for row, (verb, reason) in zip(rows, found):
        expect, held = row["expect"], hit(verb)
        for counter in (total, by_class[row.get("class", "")]):
            counter[expect] += 1
            counter[expect, "hit"] += held
        results.append({**row, "verdict": verb, "reason": reason})
        wrong = held == (expect == "allow") if not options.allowed else held and expect == "deny"
        if options.show and wrong:
            print(f"{expect:5} {verb:6} {row.get('class', ''):22} {row.get('command', row.get('input'))!r}  {reason[-60:]}")
    for name, counter in sorted(by_class.items()):
        parts = [f"{expect} {counter[expect, 'hit']}/{counter[expect]}" for expect in ("deny", "allow") if counter[expect]]
        print(f"{name:24} {word}: {', '.join(parts)}")
    for expect in ("deny", "allow"):
        if total[expect]:
            share = 100 * total[expect, "hit"] / total[expect]
            print(f"{word} of {expect}: {total[expect, 'hit']} of {total[expect]} ({share:.1f} %)")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(result) + "\n" for result in results)


main()
