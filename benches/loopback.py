#!/usr/bin/env python3
"""What asking a server costs: whole processes against a server on the loopback interface, interleaved in one run.

  loopback.py BINARY [--runs 200] [--events 100] [--realtime]

/bin/true, hookctl with no server, hookctl with one, and curl with the same request. The server answers a fixed text and
notes how long that took it, from the last byte of a request to the last of its answer; what hookctl costs over that is
(with a server) - (with none) - (the server's own time). For comparison the same for curl, less /bin/true, and a bare
connection from this process. Then what a dead server costs: so many events after the first that failed, against as many
with none. Each process waits for others here; on a busy machine that is nearly all of it. --realtime goes before what else runs (root).
"""
import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fixture  # noqa: E402
from process import once  # noqa: E402

ANSWER = b'{"version":"1.0","decision":"allow"}'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER)
REMOTE = """
[remote.bench]
url = "http://127.0.0.1:%d/hook"
events = "PreToolUse"
"""


def listen():
    s = socket.create_server(("127.0.0.1", 0), backlog=64)
    return s, s.getsockname()[1]


def serve(listener, times):
    """In a process of its own: one connection after the other; its time of each goes to the pipe."""
    while True:
        connection, _ = listener.accept()
        with connection:
            seen = b""
            while block := connection.recv(1 << 16):
                seen += block
                head, end, body = seen.partition(b"\r\n\r\n")
                length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                if end and len(body) >= int(length[0].split(b":")[1]):
                    start = time.perf_counter_ns()
                    connection.sendall(ANSWER)
                    os.write(times, b"%d\n" % (time.perf_counter_ns() - start))
                    break
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)  # the client closes as well


def stall(listener, kept):
    """Accepts and says nothing."""
    while True:
        try:
            kept.append(listener.accept()[0])
        except OSError:
            return


def bare(port, request):
    start = time.perf_counter_ns()
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.sendall(request)
        while s.recv(1 << 16):
            pass
    return time.perf_counter_ns() - start


class Bench:
    def __init__(self, root, binary):
        self.root, self.number = root, 0
        self.hook = [shutil.copy(binary, os.path.join(root, "hookctl")), "hook", "--agent", "claude"]
        self.stdin = os.path.join(root, "stdin.json")

    def home(self, name, config=""):
        """The environment of a home with the usual rules and that."""
        home, project, env = fixture.make(os.path.join(self.root, name))
        with open(home + "/.config/hookctl/config.toml", "a", encoding="utf-8") as f:
            f.write(config)
        os.chdir(project)
        return env

    def call(self, argv, env):
        self.number += 1
        with open(self.stdin, "w", encoding="utf-8") as f:
            f.write(fixture.payload("allowed", os.getcwd(), self.number))
        return once(argv, env, self.stdin)

    def requests(self, env):
        """The request that hookctl sends, as it left."""
        listener, port = listen()
        with listener:
            with open(self.stdin, "w", encoding="utf-8") as f:
                f.write(fixture.payload("allowed", os.getcwd(), 10**9))
            path = os.path.join(env["HOME"], ".config/hookctl/config.toml")
            with open(path, "a", encoding="utf-8") as f:
                f.write(REMOTE % port)
            with open(self.stdin, "rb") as f:
                child = subprocess.Popen(self.hook, stdin=f, env=env, stdout=subprocess.DEVNULL)
            connection, _ = listener.accept()
            with connection:
                seen = b""
                while not seen.endswith(b"}"):
                    seen += connection.recv(1 << 16)
                connection.sendall(ANSWER)
            child.wait()
        return seen


def round_trip(bench, runs):
    sample = bench.requests(bench.home("sample"))
    body = os.path.join(bench.root, "body.json")
    with open(body, "wb") as f:
        f.write(sample.partition(b"\r\n\r\n")[2])
    listener, port = listen()
    read, write = os.pipe()
    server = os.fork()
    if server == 0:
        serve(listener, write)
    os.close(write)
    listener.close()
    try:
        own = os.fdopen(read)
        true = [shutil.which("true", path="/bin:/usr/bin")]
        curl = shutil.which("curl")
        alone, asked = bench.home("alone"), bench.home("asked", REMOTE % port)
        ways = {"/bin/true": (true, alone), "no server": (bench.hook, alone), "a server": (bench.hook, asked)}
        if curl:
            ways["curl"] = ([curl, "-s", "-o", "/dev/null", "-H", "Content-Type: application/json", "--data-binary", "@" + body,
                             "http://127.0.0.1:%d/hook" % port], alone)
        took = {name: [] for name in [*ways, "bare"]}
        served = {name: [] for name in ("a server", "curl", "bare")}
        for i in range(runs + 10):
            order = list(ways) + ["bare"]
            for name in order[i % len(order):] + order[:i % len(order)]:
                ns = bare(port, sample) if name == "bare" else bench.call(*ways[name])
                own_ns = int(own.readline()) if name in served else 0
                if i >= 10:  # the first ones warm caches
                    took[name].append(ns)
                    if name in served:
                        served[name].append(own_ns)
    finally:
        os.kill(server, 9)
        os.waitpid(server, 0)
    with open(os.path.join(asked["HOME"], ".local/state/hookctl/journal.jsonl"), encoding="utf-8") as f:
        answered = sum('"outcome":"answered"' in line for line in f)
    if answered != runs + 10:
        raise SystemExit("only %d of %d were answered" % (answered, runs + 10))
    us = {name: statistics.median(all) / 1e3 for name, all in took.items()}
    own = {name: statistics.median(all) / 1e3 for name, all in served.items() if all}
    base = {"a server": us["no server"], "curl": us["/bin/true"], "bare": 0.0}
    print("%-11s %9s %9s %14s" % ("", "median", "fastest", "over server's"))
    for name, all in took.items():
        if not all:
            continue
        over = "%11.0f us" % (us[name] - base[name] - own[name]) if name in own else ""
        print("%-11s %6.0f us %6.0f us %s" % (name, us[name], min(all) / 1e3, over))
    print("medians of %d, interleaved; the server's own time: %.0f us" % (runs, own["a server"]))


def dead(bench, events):
    """What a server that is down costs so many events, the first aside."""
    for name, stalls in (("refuses", False), ("stalls", True)):
        listener, port = listen()
        kept = []
        if stalls:
            threading.Thread(target=stall, args=(listener, kept), daemon=True).start()
        else:
            listener.close()
        config = REMOTE % port + "timeout_ms = 300\nretry_count = 1\nretry_delay_ms = 50\n"
        alone, asked = bench.home("alone-" + name), bench.home("dead-" + name, config)
        first = bench.call(bench.hook, asked)
        bench.call(bench.hook, alone)
        took = {"alone": 0, "asked": 0}
        for _ in range(events):
            took["alone"] += bench.call(bench.hook, alone)
            took["asked"] += bench.call(bench.hook, asked)
        listener.close()
        print("a server that %s: the first event %.0f ms, then %d events %.0f ms, %+.0f ms against none (%d connections)" % (
            name, first / 1e6, events, took["asked"] / 1e6, (took["asked"] - took["alone"]) / 1e6, len(kept)))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("binary")
    ap.add_argument("--runs", type=int, default=200)
    ap.add_argument("--events", type=int, default=100)
    ap.add_argument("--realtime", action="store_true")
    a = ap.parse_args()
    binary = os.path.abspath(a.binary)
    os.umask(0o022)
    if a.realtime:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        except (AttributeError, OSError) as error:
            print("not realtime: %s" % error)
    with tempfile.TemporaryDirectory(prefix="hookctl-bench-") as root:
        bench = Bench(root, binary)
        round_trip(bench, a.runs)
        dead(bench, a.events)
        os.chdir("/")


if __name__ == "__main__":
    main()
