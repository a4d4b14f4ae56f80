#!/usr/bin/env python3
"""Writes the functions that the hook path runs into a linker script, so that they lie side by side.

  hot.py UNSTRIPPED_BINARY build/hot.ld

The binary has some 800 pages of code, and a hook process runs functions all over it: each first touch of a stretch of
64 KiB is a page fault that maps sixteen pages, some five microseconds with what it takes to unmap them. callgrind names
what runs in every fourth call of calls.py; the linker puts it into one place, what most calls run first. A list that is
out of date costs nothing but some of that gain, so it is renewed by hand:

  CARGO_PROFILE_RELEASE_STRIP=none cargo build --release --target x86_64-unknown-linux-musl
  benches/hot.py target/x86_64-unknown-linux-musl/release/hookctl build/hot.ld
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import calls  # noqa: E402
import fixture  # noqa: E402

EACH = 4


def executed(binary, agent, payload, env, cwd, out):
    run = ["valgrind", "--tool=callgrind", "--demangle=no", "--show-below-main=yes", "--callgrind-out-file=" + out,
           binary, "hook", "--agent", agent, "--timeout", "600"]
    subprocess.run(run, input=payload.encode(), env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with open(out, encoding="utf-8") as f:
        found = re.findall(r"^c?fn=\(\d+\) (\S+)", f.read(), re.M)
    return {re.sub(r"'\d+$", "", name) for name in found}  # recursion has a mark of callgrind's own


def stem(name):
    """The name without what changes: a hash with every compiler, the number of a copy with every build."""
    return re.sub(r"(?<=\.)\d+$", "*", re.sub(r"17h[0-9a-f]{16}E.*$", "17h*", name))


def main():
    binary, target = os.path.abspath(sys.argv[1]), sys.argv[2]
    users = {}
    with tempfile.TemporaryDirectory() as root:
        home, project, env = fixture.make(root)
        found = [("claude", fixture.payload(name, project, 1)) for name in fixture.CALLS] * 2  # the second time with an index
        found += [(agent, payload) for _, agent, payload in calls.all_calls(project, home)[::EACH]]
        for number, (agent, payload) in enumerate(found):
            payload = payload.replace("{number}", "%012d" % number)
            for name in executed(binary, agent, payload, env, project, os.path.join(root, "callgrind")):
                users.setdefault(name, []).append(number)
    # What as many calls run lies beside what the same calls run.
    names = sorted(users, key=lambda name: (-len(users[name]), users[name], name))
    # A hash tells functions apart that have one name: it stays where not all of them run.
    listed = subprocess.run(["nm", binary], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    idle = {stem(name) for name in listed if name not in users and "17h" in name}
    names = dict.fromkeys(name if stem(name) in idle else stem(name) for name in names)
    names = [name for name in names if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.$]*\*?", name)]
    with open(target, "w", encoding="utf-8") as f:
        f.write("/* What the hook path runs, side by side; written by benches/hot.py. */\n")
        f.write("SECTIONS\n{\n  .text.hookpath :\n  {\n")
        for name in names:
            f.write("    *(.text.%s)\n" % name.replace("$", "?"))
        f.write("  }\n}\nINSERT BEFORE .text;\n")
    print("%d functions" % len(names))


if __name__ == "__main__":
    main()
