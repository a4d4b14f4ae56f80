#!/usr/bin/env python3
"""Counts instructions (valgrind's callgrind) of a dozen calls (chains, loops, what shipped rules
stop) and compares them with recorded numbers.

  instructions.py BINARY RECORD.toml             fails if a count is more than 5 % above its record
  instructions.py BINARY RECORD.toml --update    records the counts of now

The same binary, inputs and environment give the same count, whatever else the machine does: this is the gate.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fixture  # noqa: E402

SLACK = 1.05
HEAD = """# Instructions of one whole process, static musl release build on x86_64: see benches/instructions.py.
# A count may rise by 5 % before CI fails. After a change that is worth it: .ci/run record
"""


def count(binary):
    counts = {}
    with tempfile.TemporaryDirectory(prefix="hookctl-bench-") as root:
        _, project, env = fixture.make(root)
        for name, (_, _, want) in fixture.CALLS.items():
            seen = []
            for number in range(4):
                valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"] if number else []
                done = subprocess.run(
                    valgrind + [binary, "hook", "--agent", "claude"], cwd=project, env=env, capture_output=True,
                    input=fixture.payload(name, project, number).encode(), timeout=120)
                said = done.stderr.decode("utf-8", "replace")
                if done.returncode != 0 or want and want not in done.stdout.decode():
                    raise SystemExit("%s: exit %d, %r\n%s" % (name, done.returncode, done.stdout, said[-2000:]))
                if number:  # the first run, without valgrind, makes the files that later ones find
                    seen.append(int(re.search(r"Collected\s*:\s*(\d+)", said).group(1)))
            counts[name] = min(seen)
    return counts


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("binary")
    ap.add_argument("record")
    ap.add_argument("--update", action="store_true")
    a = ap.parse_args()
    os.umask(0o022)
    counts = count(os.path.abspath(a.binary))
    if a.update:
        with open(a.record, "w", encoding="utf-8") as f:
            f.write(HEAD + "".join("%s = %d\n" % item for item in counts.items()))
    try:
        with open(a.record, "rb") as f:
            record = tomllib.load(f)
    except FileNotFoundError:
        raise SystemExit("no record: run it once with --update")
    bad = []
    for name, n in counts.items():
        was = record.get(name)
        print("%-9s %12s instructions%s" % (
            name, format(n, ","), " %+.1f %% of %s" % (100 * (n / was - 1), format(was, ",")) if was else ""))
        if not was or n > was * SLACK:
            bad.append(name)
    if bad:
        raise SystemExit("more instructions than recorded (or no record): %s" % ", ".join(bad))


if __name__ == "__main__":
    main()
