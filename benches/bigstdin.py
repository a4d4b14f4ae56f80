#!/usr/bin/env python3
"""Feeds 100 MB to `hookctl hook` through a pipe: how long it takes, how much memory, what it answers.
Then payloads of 16 MiB, the largest that are judged, in shapes that take as much of both as they can.

  bigstdin.py BINARY [--seconds 5] [--megabytes 64] [--judged-megabytes 256]
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


LARGEST = 16 * MB


def filled(head, part, tail, end=b""):
    """As many parts as fit; `end` closes each of them."""
    count = (LARGEST - len(head) - len(tail)) // len(part + end)
    return head + part * count + end * count + tail


def numbered(head, part, tail):
    """The same with another number in each part."""
    count = (LARGEST - len(head) - len(tail)) // (len(part) + 6)
    return head + b",".join(part % n for n in range(count)) + tail


def shapes(head, tail):
    """Values of 16 MiB, `head` and `tail` around them."""
    yield "empty arrays", filled(head + b"[[]", b",[]", b"]" + tail)
    yield "empty objects", filled(head + b"[{}", b",{}", b"]" + tail)
    yield "numbers", filled(head + b"[0", b",0", b"]" + tail)
    yield "short strings", filled(head + b'[""', b',""', b"]" + tail)
    yield "strings of a letter", filled(head + b'["a"', b',"a"', b"]" + tail)
    yield "objects of one key", filled(head + b'[{"a":{}}', b',{"a":{}}', b"]" + tail)
    yield "the same key", filled(head + b'{"a":0', b',"a":0', b"}" + tail)
    yield "many keys", numbered(head + b"{", b'"%07d":0', b"}" + tail)
    yield "keys of a token", numbered(head + b"{", b'"token%07d":"aaaa"', b"}" + tail)
    yield "100 levels", filled(head + b"[" * 100 + b"0", b",0", b"]" * 100 + tail)
    yield "too deep", filled(head, b"[", tail, b"]")
    yield "one string", filled(head + b'"', b"x", b'"' + tail)
    yield "escapes", filled(head + b'"', b"\\n", b'"' + tail)
    yield "escapes of code points", filled(head + b'"', b"\\u00e9", b'"' + tail)
    yield "lone surrogates", filled(head + b'"', b"\\ud800", b'"' + tail)
    yield "raw controls", filled(head + b'"', b"\x01", b'"' + tail)
    yield "not UTF-8", filled(head + b'"', b"\xff", b'"' + tail)
    yield "a long key", filled(head + b'{"', b"k", b'":0}' + tail)
    yield "words", filled(head + b'"', b"rm -rf a; ", b'"' + tail)
    yield "tokens", filled(head + b'"', b"token=abcd1234 ", b'"' + tail)
    yield "lines of secrets", filled(head + b'["x"', b',"password: hunter2"', b"]" + tail)
    yield "cut off", filled(head + b'["x"', b',"abc"', b"")


def judged(event, tool, field):
    start = b'{"session_id":"s","cwd":"/tmp","hook_event_name":"%s","tool_name":"%s","tool_use_id":"t",' % (event, tool)
    if event == b"UserPromptSubmit":
        return b'{"session_id":"s","cwd":"/tmp","hook_event_name":"UserPromptSubmit","prompt":', b"}"
    if event == b"PostToolUse":
        return start + b'"tool_input":{},"tool_response":', b"}"
    return start + b'"tool_input":{"file_path":"/tmp/x","%s":' % field, b"}}"


EVENTS = [
    (b"PreToolUse", b"Bash", b"command"),
    (b"PreToolUse", b"Write", b"content"),
    (b"PreToolUse", b"Edit", b"new_string"),
    (b"PreToolUse", b"mcp__x__run", b"arguments"),
    (b"PostToolUse", b"Bash", b""),
    (b"UserPromptSubmit", b"", b""),
]


def measure(binary, env, payload, out):
    """Seconds, megabytes, exit status and answer for one payload."""
    source = out + ".in"
    with open(source, "wb") as f:
        f.write(payload)
    actions = [(os.POSIX_SPAWN_OPEN, 0, source, os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 1, out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)]
    start = time.monotonic()
    pid = os.posix_spawn(binary, [binary, "hook", "--agent", "claude"], env, file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    took = time.monotonic() - start
    with open(out, encoding="utf-8", errors="replace") as f:
        answer = f.read()
    rss = usage.ru_maxrss / (MB if sys.platform == "darwin" else 1024)
    return took, rss, os.waitstatus_to_exitcode(status), answer


def hostile(binary, env, out, seconds, megabytes):
    """Every shape in every event; the first that takes too much ends it."""
    most, over = (0, 0, ""), []
    for event in EVENTS:
        for name, payload in shapes(*judged(*event)):
            what = "%s %s, %s" % (event[0].decode(), event[1].decode(), name)
            took, rss, code, answer = measure(binary, env, payload, out)
            del payload
            most = max(most, (rss, took, what))
            good = code == 2 or code == 0 and (not answer or isinstance(json.loads(answer), dict))
            if not good or took > seconds or rss > megabytes:
                over.append("%s: %.2f s, %.0f MB, exit %d: %s" % (what, took, rss, code, answer.strip()[:100]))
    print("16 MiB judged: %.0f MB and %.2f s at most where most memory is taken (%s)" % most)
    if over:
        raise SystemExit("over %g s or %g MB, or no answer:\n%s" % (seconds, megabytes, "\n".join(over)))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("binary")
    ap.add_argument("--seconds", type=float, default=5)
    ap.add_argument("--megabytes", type=float, default=64)
    ap.add_argument("--judged-megabytes", type=float, default=256)
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
        hostile(binary, env, out, a.seconds, a.judged_megabytes)
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
