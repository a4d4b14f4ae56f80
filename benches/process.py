#!/usr/bin/env python3
"""What a whole process costs: hookctl against /bin/true over many different calls (calls.py), interleaved in one run.

  process.py BINARY [--runs 9] [--rules 30 [200 1000]] [--changed 0] [--show 0] [--gate RATIO]
  process.py BINARY --agents [--runs 9]
  process.py BINARY --led [--runs 9]

Default config plus 30 user rules (or --rules, several numbers for several rounds), journal on. Each call runs as often as
--runs says, each time beside a /bin/true, both started with posix_spawn, the payload as stdin, from a file. Printed are the
median, the 95th and the 99th percentile and the maximum of the calls' own ratios: the median of a call's runs over the
median of /bin/true; and the same for the fastest run of each, which says more where other things run. --changed N also writes the rule file anew N times and times the first event after that. --show N lists
the slowest calls. --agents takes the captured payloads of every agent instead (tests/payloads), those with a command also
with a harmless one and one that is stopped, and prints a line for each agent, what passes and what is stopped apart. --led takes calls that run files of the
project instead: a makefile of 20 KB, package.json, scripts, and hostile ones, each with its ratio and its slowest run. With --gate a median above it is an error. (S3-48 asks for less than 100 ms.) Wall time on a busy machine says little: compare ratios, and
count instructions (instructions.py) for gates.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import calls  # noqa: E402
import fixture  # noqa: E402


def once(argv, env, stdin, answers=(0,)):
    actions = [(os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
               # No null device: an answer that nobody can read ends with another status.
               (os.POSIX_SPAWN_OPEN, 1, stdin + ".out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
               (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    start = time.perf_counter_ns()
    pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
    _, status = os.waitpid(pid, 0)
    took = time.perf_counter_ns() - start
    if os.waitstatus_to_exitcode(status) not in answers:
        raise SystemExit("%s ended with %d" % (argv[0], os.waitstatus_to_exitcode(status)))
    return took


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def percentiles(ratios):
    return "median %.2f  95th %.2f  99th %.2f  maximum %.2f" % (
        statistics.median(ratios), percentile(ratios, 0.95), percentile(ratios, 0.99), max(ratios))


class Bench:
    def __init__(self, root, binary, rules):
        self.home, self.project, self.env = fixture.make(root, rules)
        # A copy in one write, as install.sh makes one: what a linker has just written, or cp piece by piece, lies scattered
        # in the page cache, and every process that starts from it pays for that.
        self.binary = os.path.join(root, "hookctl")
        with open(binary, "rb") as source, open(self.binary, "wb", buffering=0) as copy:
            copy.write(source.read())
        os.chmod(self.binary, 0o755)
        self.true = [shutil.which("true", path="/bin:/usr/bin")]
        self.stdin = os.path.join(root, "stdin.json")
        self.rules, self.number = rules, 0
        os.chdir(self.project)

    def write(self, payload):
        self.number += 1
        with open(self.stdin, "w", encoding="utf-8") as f:
            f.write(payload.replace("{number}", "%012d" % self.number))

    def hook(self, agent):
        return [self.binary, "hook", "--agent", agent]

    def verdict(self, agent, payload):
        """What it answers, in a word, for the report."""
        self.write(payload)
        with open(self.stdin, "rb") as f:
            done = subprocess.run(self.hook(agent), stdin=f, env=self.env, capture_output=True, timeout=60)
        if done.returncode not in (0, 2):
            raise SystemExit("exit %d: %s\n%s" % (done.returncode, payload[:300], done.stderr.decode()))
        text = done.stdout.decode()
        words = ("deny", "block", "ask", "allow", "defer")
        if done.returncode == 2 or '"cancel":true' in text or '"approve":false' in text:
            return "deny"
        return next((word for word in words if '"%s"' % word in text), "other" if text.strip() else "silent")

    def measure(self, found, runs):
        """The ratios of each call, of medians and of fastest runs, and the median of /bin/true in nanoseconds."""
        base, ours = [[] for _ in found], [[] for _ in found]
        for turn in range(runs):
            for at, (_, agent, payload) in enumerate(found):
                self.write(payload)
                pair = [("true", self.true), ("hook", self.hook(agent))]
                for which, argv in pair if (turn + at) % 2 else reversed(pair):
                    took = once(argv, self.env, self.stdin, (0, 2))
                    (base if which == "true" else ours)[at].append(took)
        true = statistics.median(took for each in base for took in each)
        least = statistics.median(min(each) for each in base)
        return [statistics.median(took) / true for took in ours], [min(took) / least for took in ours], true

    def first_after_change(self, found, times):
        """Milliseconds of the first event after each change of the rule file, and of those behind them."""
        path = self.home + "/.config/hookctl/config.toml"
        with open(path, encoding="utf-8") as f:
            text = f.read()
        _, agent, payload = found[0]
        first, later = [], []
        for i in range(times):
            with open(path, "w", encoding="utf-8") as f:
                f.write("%s# changed %d\n" % (text, i))
            for into in (first, later):
                self.write(payload)
                into.append(once(self.hook(agent), self.env, self.stdin, (0, 2)) / 1e6)
        return first, later


def run(root, binary, rules, options):
    """Measures with that many rules of the user; returns the median ratio."""
    bench = Bench(root, binary, rules)
    found = calls.all_calls(bench.project, bench.home)
    verdicts = {}
    for _, agent, payload in found:  # this warms caches as well, and leaves the index
        word = bench.verdict(agent, payload)
        verdicts[word] = verdicts.get(word, 0) + 1
    ratios, fastest, true = bench.measure(found, options.runs)
    print("%5d rules: %s times /bin/true (%.0f us); %d calls, %d runs each" % (
        rules, percentiles(ratios), true / 1e3, len(found), options.runs))
    print("  fastest of: " + percentiles(fastest))
    for label in ("day", "packs", "own", "size", "agent"):
        part = [ratio for ratio, call in zip(ratios, found) if call[0].startswith(label + ":")]
        print("             %-6s %s  (%d)" % (label, percentiles(part), len(part)))
    print("             answers: " + ", ".join("%s %d" % item for item in sorted(verdicts.items())))
    for ratio, (name, _, _) in sorted(zip(ratios, found), reverse=True)[:options.show]:
        print("             %5.2f  %s" % (ratio, name))
    if options.changed:
        first, later = bench.first_after_change(found, options.changed)
        print("             first event after a change: median %.1f ms, at most %.1f ms; the next: median %.2f ms" % (
            statistics.median(first), max(first), statistics.median(later)))
    os.chdir("/")
    return statistics.median(ratios)


def run_agents(root, binary, options):
    """Measures the captured payloads: a line for each agent."""
    bench = Bench(root, binary, 30)
    found = list(calls.captured())
    words = [bench.verdict(agent, payload) for _, agent, payload in found]
    all_ratios, fastest, true = bench.measure(found, options.runs)
    print("/bin/true: %.0f us; %d payloads, %d runs each" % (true / 1e3, len(found), options.runs))
    rows = {}
    for (_, agent, _), word, ratio, least in zip(found, words, all_ratios, fastest):
        rows.setdefault((agent, "stopped" if word in ("deny", "block", "ask") else "passes"), []).append((ratio, least))
    for (agent, what), each in sorted(rows.items()):
        ratios, fastest = zip(*each)
        print("%-11s %-8s %s  (%d); fastest: median %.2f maximum %.2f" % (
            agent, what, percentiles(ratios), len(each), statistics.median(fastest), max(fastest)))
    for ratio, (name, agent, _) in sorted(zip(all_ratios, found), reverse=True)[:options.show]:
        print("%5.2f  %s %s" % (ratio, agent, name))
    os.chdir("/")


def led_files():
    """Files of a project: names and texts."""
    rule = "target%d: target%d\n\t@echo building %d\n\tcc $(FLAGS) -o build/x%d src/x%d.c\n"
    rules = "".join(rule % ((n, n + 1) + (n,) * 3) for n in range(230))
    many = "".join("t%d: t%d\n\trm -rf build/%d\n" % (n, n + 1, n) for n in range(10000))
    wide = "all: " + " ".join("t%d" % n for n in range(10000)) + "\n" + many
    return {
        "Makefile": "FLAGS = -O2\n.PHONY: test lint all\ntest: target227\n\tprove -r t\nall: target0\nlint:\n\truff check .\n" + rules,
        "package.json": '{"scripts": {"pretest": "eslint .", "test": "jest --ci", "loop": "npm run loop && npm run loop"}}',
        "build.sh": "#!/bin/sh\nset -e\nrm -rf build\nmkdir build\ncc -o build/x x.c\n",
        "many.mk": many, "wide.mk": wide,
        "values.mk": "V = $(V)$(W)$(W)\nW = $(V)$(V)$(V)\nall:\n\techo $(V)\n",
        "include.mk": "include include.mk a.mk\nall: b\n\techo $(A)\n", "a.mk": "include include.mk\ninclude a.mk\nb:\n\ttrue\n",
        "cycle.sh": ". ./cycle.sh\n./other.sh\n" * 20, "other.sh": "./cycle.sh\n. ./other.sh\n" * 20,
        "deep.sh": "(" * 5000 + "echo" + ")" * 5000, "text.sh": "echo a && echo b || rm x; " * 9000,
        "calls.py": "f(" * 3000 + ")" * 3000, "deep/package.json": '{"scripts": {"test": ' + "[" * 90000,
        "tox.ini": "[testenv]\ncommands =\n" + "    echo {posargs}\n" * 9000, "mise.toml": "[tasks.a]\ndepends = ['a']\nrun = ['" + "x" * 90000,
    }


def run_led(root, binary, options):
    """Measures calls that run files of the project."""
    bench = Bench(root, binary, 30)
    for name, text in led_files().items():
        path = os.path.join(bench.project, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    os.mkfifo("fifo.sh")
    os.symlink("/dev/zero", "zero.sh")
    with open("huge.sh", "wb") as f:
        f.truncate(100 << 20)
    usual = ["make test", "make lint", "npm test", "bash build.sh", "./build.sh"]
    hostile = ["make all", "make -f many.mk t0", "make -f wide.mk", "make -f values.mk", "make -f include.mk", "bash cycle.sh", "bash deep.sh",
               "bash text.sh", "python3 calls.py", "npm run loop", "npm --prefix deep test", "tox", "mise run a", "bash fifo.sh",
               "make -f fifo.sh", "bash zero.sh", "bash huge.sh", "make -f huge.sh", "xargs -a zero.sh rm", "bash text.sh; make -f wide.mk"]
    found = [(command, "claude", json.dumps({
        "session_id": "{number}", "cwd": bench.project, "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": command}})) for command in ["true"] + usual + hostile]
    words = [bench.verdict(agent, payload) for _, agent, payload in found]
    base, ours = [], {command: [] for command, _, _ in found}
    for _ in range(options.runs):
        for command, agent, payload in found:
            bench.write(payload)
            base.append(once(bench.true, bench.env, bench.stdin))
            ours[command].append(once(bench.hook(agent), bench.env, bench.stdin, (0, 2)))
    true = statistics.median(base)
    print("/bin/true: %.0f us; %d runs each" % (true / 1e3, options.runs))
    for (command, took), word in zip(ours.items(), words):
        print("%6.2f times, fastest %6.2f; %7.2f ms at most  %-7s %s" % (
            statistics.median(took) / true, min(took) / min(base), max(took) / 1e6, word, command))
    os.chdir("/")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("binary")
    ap.add_argument("--runs", type=int, default=9)
    ap.add_argument("--rules", type=int, nargs="+", default=[30])
    ap.add_argument("--changed", type=int, default=0)
    ap.add_argument("--show", type=int, default=0)
    ap.add_argument("--gate", type=float)
    ap.add_argument("--agents", action="store_true")
    ap.add_argument("--led", action="store_true")
    options = ap.parse_args()
    binary = os.path.abspath(options.binary)
    os.umask(0o022)
    if options.agents or options.led:
        with tempfile.TemporaryDirectory(prefix="hookctl-bench-") as root:
            return (run_agents if options.agents else run_led)(root, binary, options)
    medians = []
    for rules in options.rules:
        with tempfile.TemporaryDirectory(prefix="hookctl-bench-") as root:
            medians.append(run(root, binary, rules, options))
    if options.gate and max(medians) > options.gate:
        raise SystemExit("%.2f times /bin/true is more than %.2f" % (max(medians), options.gate))


if __name__ == "__main__":
    main()
