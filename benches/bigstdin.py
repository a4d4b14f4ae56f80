#!/usr/bin/env python3
"""Feeds 100 MB to `hookctl hook` through a pipe: how long it takes, how much memory, what it answers.

  bigstdin.py BINARY [--seconds 5] [--megabytes 64]
"""
import argparse
import json
import os
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fixture  # noqa: E402

MB = 1 << 20
unread = [True]


def feed(fd):
    try:
        with open(fd, "wb", buffering=0) as pipe:
            head = b'{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"content":"'
            for block in [head] + [b"x" * MB] * 100 + [b'"}}\n']:
                view = memoryview(block)
                while view:
                    view = view[pipe.write(view):]
        unread.clear()
    except BrokenPipeError:
        pass


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("binary")
    ap.add_argument("--seconds", type=float, default=5)
    ap.add_argument("--megabytes", type=float, default=64)
    a = ap.parse_args()
    binary = os.path.abspath(a.binary)
    os.umask(0o022)
    with tempfile.TemporaryDirectory(prefix="hookctl-bench-") as root:
        _, project, env = fixture.make(root)
        os.chdir(project)
        out = os.path.join(root, "answer")
        r, w = os.pipe()
        os.set_inheritable(w, False)
        actions = [(os.POSIX_SPAWN_DUP2, r, 0),
                   (os.POSIX_SPAWN_OPEN, 1, out, os.O_WRONLY | os.O_CREAT, 0o600)]
        start = time.monotonic()
        pid = os.posix_spawn(binary, [binary, "hook", "--agent", "claude"], env, file_actions=actions)
        os.close(r)
        feeder = threading.Thread(target=feed, args=(w,), daemon=True)
        feeder.start()
        _, status, usage = os.wait4(pid, 0)
        took = time.monotonic() - start
        feeder.join(5)
        code = os.waitstatus_to_exitcode(status)
        with open(out, encoding="utf-8") as f:
            answer = f.read()
    # Linux counts in KiB, macOS in bytes; what the child had before exec (ours) counts as well.
    rss = usage.ru_maxrss / (MB if sys.platform == "darwin" else 1024)
    print("100 MB: %.2f s, %.0f MB at most, exit %d, answer: %s" % (took, rss, code, answer.strip()[:300]))
    if unread:
        raise SystemExit("it stopped reading: the client would see a broken pipe")
    if code not in (0, 2) or code == 0 and not isinstance(json.loads(answer), dict):
        raise SystemExit("not an answer")
    if took > a.seconds or rss > a.megabytes:
        raise SystemExit("over %g s or %g MB" % (a.seconds, a.megabytes))


if __name__ == "__main__":
    main()
