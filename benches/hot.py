#!/usr/bin/env python3
"""Writes the functions that the hook path runs into a linker script, so that they lie side by side.

  hot.py UNSTRIPPED_BINARY build/hot.ld

The binary has some 700 pages of code, and a hook process touches functions all over it: each first touch of a stretch
of 64 KiB is a page fault, up to three microseconds. callgrind names what runs; the linker puts it into one place. A
list that is out of date costs nothing but some of that gain, so it is renewed by hand:

  CARGO_PROFILE_RELEASE_STRIP=none cargo build --release --target x86_64-unknown-linux-musl
  benches/hot.py target/x86_64-unknown-linux-musl/release/hookctl build/hot.ld
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fixture  # noqa: E402


def executed(binary, payload, env, cwd, out):
    run = ["valgrind", "--tool=callgrind", "--demangle=no", "--callgrind-out-file=" + out, binary, "hook",
           "--agent", "claude", "--timeout", "600"]
    subprocess.run(run, input=payload.encode(), env=env, cwd=cwd, stdout=subprocess.PIPE,
                   stderr=subprocess.DEVNULL, check=True)
    with open(out, encoding="utf-8") as f:
        return set(re.findall(r"^c?fn=\(\d+\) (\S+)", f.read(), re.M))


def main():
    binary, target = os.path.abspath(sys.argv[1]), sys.argv[2]
    names = set()
    with tempfile.TemporaryDirectory() as root:
        _, project, env = fixture.make(root)
        for _ in range(2):  # the second time with the index of rules in place
            for name in fixture.CALLS:
                payload = fixture.payload(name, project, 1)
                names |= executed(binary, payload, env, project, os.path.join(root, "callgrind"))
    # The hash at the end changes with every compiler; recursion has a mark of callgrind's own.
    names = {re.sub(r"17h[0-9a-f]{16}E.*$", "17h*", re.sub(r"'\d+$", "", name)) for name in names}
    names = sorted(n for n in names if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.$]*\*?", n))
    with open(target, "w", encoding="utf-8") as f:
        f.write("/* What the hook path runs, side by side; written by benches/hot.py. */\n")
        f.write("SECTIONS\n{\n  .text.hookpath :\n  {\n")
        for name in names:
            f.write("    *(.text.%s)\n" % name.replace("$", "?"))
        f.write("  }\n}\nINSERT BEFORE .text;\n")
    print("%d functions" % len(names))


if __name__ == "__main__":
    main()
