#!/usr/bin/env python3
"""A machine of a fleet, whole: managed rules come as a signed bundle, and with them the collector that is told of
every verdict and of every session. What it was told is counted where it ends up.

  fleet.py --hookctl BIN --python VENV/bin/python [--sessions 300] [--at-once 8]

The collector is rotel, which writes to ClickHouse; that is chdb, which has no server, so a page of this script takes
what rotel sends and hands it on as it came. Both are from PyPI, in VENV. minisign makes the key. The collector is stopped
and started again half-way. Everything runs in a mount namespace of its own, where /etc is a copy.
"""
import argparse
import base64
import collections
import concurrent.futures
import glob
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

# How rotel writes a row: these, in this order.
TEXT, MAP = "String", "Map(String, String)"
COLUMNS = {
    "Timestamp": "DateTime64(9)", "TraceId": TEXT, "SpanId": TEXT, "TraceFlags": "UInt8", "SeverityText": TEXT, "SeverityNumber": "UInt8",
    "ServiceName": TEXT, "Body": TEXT, "ResourceSchemaUrl": TEXT, "ResourceAttributes": MAP, "ScopeSchemaUrl": TEXT, "ScopeName": TEXT,
    "ScopeVersion": TEXT, "ScopeAttributes": MAP, "LogAttributes": MAP,
}
STRUCTURE = ", ".join("%s %s" % column for column in COLUMNS.items())
INSERT = "INSERT INTO otel_logs (%s) FORMAT RowBinary" % ",".join(COLUMNS)
# So many messages may wait before the next session begins: a spool has room for more.
MOST_WAITING = 400


sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import own_etc  # noqa: E402


class Failed(Exception):
    pass


def expect(holds, *what):
    if not holds:
        raise Failed(" ".join(str(one) for one in what))


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise Failed("nothing listens on port %d" % port)


class Pages(http.server.ThreadingHTTPServer):
    """The bundle and its signature by GET; what rotel inserts, by POST. It is kept, and goes into the database in large parts:
    of many small ones ClickHouse grows slow, and rotel would send again what was not answered in time."""
    PART = 4 << 20

    def __init__(self, database):
        super().__init__(("127.0.0.1", 0), Page)
        self.files, self.database, self.lock = {}, database, threading.Lock()
        self.rows, self.faults = bytearray(), []
        self.url = "http://127.0.0.1:%d" % self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def take(self, query, body):
        with self.lock:
            if query != INSERT:
                self.faults.append("an insert of another form: " + query)
            self.rows += body
            if len(self.rows) > self.PART:
                self.flush()

    def flush(self):
        if self.rows and (why := self.database.insert(bytes(self.rows))):
            self.faults.append(why)
        self.rows = bytearray()


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        body = self.server.files.get(self.path)
        self.answer(200 if body is not None else 404, body or b"")

    def read_chunks(self):
        out = b""
        while True:
            length = int(self.rfile.readline(), 16)
            out += self.rfile.read(length)
            self.rfile.readline()
            if not length:
                return out

    def do_POST(self):
        length = self.headers.get("Content-Length")
        body = self.rfile.read(int(length)) if length else self.read_chunks()
        query = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)["query"][0]
        self.server.take(query, body)
        self.answer(200)


class Database:
    """chdb, in a process of its own: it is no module of this Python."""

    CHILD = """
import base64, json, sys
from chdb.session import Session
session, structure = Session(sys.argv[1] + "/db"), sys.argv[2]
session.query("CREATE DATABASE IF NOT EXISTS otel")
session.query("CREATE TABLE otel.logs (%s) ENGINE = MergeTree ORDER BY Timestamp" % structure)
out = sys.stdout
for line in sys.stdin:
    kind, text = json.loads(line)
    try:
        if kind == "insert":
            path = sys.argv[1] + "/rows.bin"
            open(path, "wb").write(base64.b64decode(text))
            session.query("INSERT INTO otel.logs SELECT * FROM file('%s', RowBinary, '%s')" % (path, structure))
            answer = ["", ""]
        else:
            answer = ["", str(session.query(text, "JSONEachRow"))]
    except Exception as error:
        answer = [str(error), ""]
    print(json.dumps(answer), flush=True)
"""

    def __init__(self, python, base):
        self.child = subprocess.Popen([python, "-c", self.CHILD, base, STRUCTURE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, kind, text):
        self.child.stdin.write(json.dumps([kind, text]) + "\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())

    def insert(self, body):
        return self.ask("insert", base64.b64encode(body).decode())[0]

    def rows(self, query):
        why, text = self.ask("query", query)
        expect(not why, why)
        return [json.loads(line) for line in text.splitlines()]


class Collector:
    def __init__(self, python, base, clickhouse):
        self.program = glob.glob(os.path.join(os.path.dirname(python), "../lib/python3*/site-packages/rotel/rotel-agent"))[0]
        self.base, self.clickhouse, self.port = base, clickhouse, free_port()
        self.start()

    def start(self):
        with open(os.path.join(self.base, "rotel.log"), "a", encoding="utf-8") as log:
            self.child = subprocess.Popen(
                [self.program, "start", "--otlp-http-endpoint", "127.0.0.1:%d" % self.port,
                 "--otlp-grpc-endpoint", "127.0.0.1:%d" % free_port(), "--exporter", "clickhouse",
                 "--clickhouse-exporter-endpoint", self.clickhouse, "--clickhouse-exporter-compression", "none"],
                stdout=log, stderr=log)
        wait_for(self.port)

    def stop(self):
        # It hands on what it has, and ends.
        self.child.send_signal(signal.SIGTERM)
        self.child.wait(20)


class Machine:
    def __init__(self, args, base):
        self.args, self.base = args, base
        self.home = os.path.join(base, "home")
        self.project = os.path.join(self.home, "app")
        os.makedirs(os.path.join(self.project, ".git"))
        os.makedirs(os.path.join(self.home, ".claude"))
        self.bin = os.path.join(base, "hookctl")
        shutil.copy2(args.hookctl, self.bin)
        self.env = {"HOME": self.home, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        self.state = os.path.join(self.home, ".local/state/hookctl")

    def hookctl(self, *args, stdin="", codes=(0,)):
        done = subprocess.run([self.bin, *args], cwd=self.project, env=self.env, input=stdin, capture_output=True, text=True, timeout=120)
        expect(done.returncode in codes, args, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def event(self, session, **more):
        payload = {"session_id": session, "cwd": self.project, **more}
        return self.hookctl("hook", "--agent", "claude", stdin=json.dumps(payload))

    def call(self, session, number, command):
        return self.event(session, hook_event_name="PreToolUse", tool_name="Bash", tool_use_id="toolu_%d" % number,
                          tool_input={"command": command})

    def session(self, number):
        session = "session-%d" % number
        self.event(session, hook_event_name="SessionStart", source="startup")
        self.call(session, number, "ls" if number % 4 else "git push --force")

    def untold(self):
        return sum(name.startswith("heartbeat-") and "." not in name for name in os.listdir(os.path.join(self.state, "notes")))

    def waiting(self):
        return len(glob.glob(os.path.join(self.state, "spool/*/*.json")))


def publish(machine, pages, collector):
    key, secret = os.path.join(machine.base, "rules.pub"), os.path.join(machine.base, "rules.key")
    subprocess.run(["minisign", "-G", "-W", "-p", key, "-s", secret], check=True, capture_output=True)
    rules, bundle = os.path.join(machine.base, "base.toml"), os.path.join(machine.base, "hookctl.bundle")
    with open(rules, "w", encoding="utf-8") as f:
        f.write('[remote.audit]\nurl = "http://127.0.0.1:%d"\ndialect = "otlp"\nevents = ["PreToolUse"]\nheartbeat = true\n'
                'gen_ai = "1.41"\n[rule.no-force]\ncommand = "git push --force"\ndeny = "use a branch"\nlock = true\n' % collector.port)
    machine.hookctl("bundle", "build", rules, "-o", bundle, "--number", "7")
    machine.hookctl("bundle", "sign", bundle, "--key", secret)
    made = json.loads(machine.hookctl("bundle", "verify", bundle, "--key", key, "--json"))
    for name in ["", ".minisig"]:
        with open(bundle + name, "rb") as f:
            pages.files["/hookctl.bundle" + name] = f.read()
    with open(key, encoding="utf-8") as f:
        text = f.read().splitlines()[1]
    with open("/etc/hookctl/managed.toml", "w", encoding="utf-8") as f:
        f.write('[managed]\nurl = "%s/hookctl.bundle"\nkey = "%s"\n' % (pages.url, text))
    return "7:" + made["hash"][:16]


def run_sessions(machine, collector):
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(machine.args.at_once) as pool:
        running = collections.deque()
        for number in range(machine.args.sessions):
            if number == machine.args.sessions // 2:
                collector.stop()
                print("  the collector is down", flush=True)
            if number == machine.args.sessions // 2 + min(100, machine.args.sessions // 4):
                collector.start()
                print("  and up again: %d messages wait" % machine.waiting(), flush=True)
            running.append(pool.submit(machine.session, number))
            while len(running) > 2 * machine.args.at_once:
                running.popleft().result()
            end = time.monotonic() + 120
            while machine.waiting() > MOST_WAITING and time.monotonic() < end:
                time.sleep(0.05)
        for one in running:
            one.result()
    for _ in range(120):
        machine.hookctl("flush", codes=(0, 1))
        if not machine.waiting() and not machine.untold():
            break
        time.sleep(0.5)
    expect(not machine.waiting() and not machine.untold(), machine.waiting(), machine.untold(), "still wait")
    time.sleep(1)
    collector.stop()
    return time.monotonic() - start


def check(machine, database, mark):
    one = "LogAttributes['%s']"
    session, beat = one % "session.id", "startsWith(Body, 'heartbeat')"
    # What a heartbeat says of the machine it has from sample calls, which are told like any other.
    database.rows("CREATE VIEW otel.own AS SELECT * FROM otel.logs WHERE startsWith(%s, 'session-')" % session)
    counts = database.rows(
        "SELECT {b} AS heartbeat, count() AS records, uniqExact({u}) AS ids, uniqExact({s}) AS sessions FROM otel.own GROUP BY heartbeat ORDER BY heartbeat"
        .format(b=beat, u=one % "log.record.uid", s=session))
    for row in counts:
        print("  %s: %s records, %s ids, %s sessions" % ("heartbeats" if row["heartbeat"] else "verdicts", row["records"], row["ids"], row["sessions"]))
    want = machine.args.sessions
    for row in counts:
        expect([int(row[key]) for key in ("records", "ids", "sessions")] == [want] * 3, "not %d of each" % want)
    expect(len(counts) == 2, counts)
    other = database.rows("SELECT count() AS n FROM otel.own WHERE %s != '%s'" % (one % "hookctl.bundle", mark))
    expect(int(other[0]["n"]) == 0, "records name another bundle:", other)
    beats = database.rows("SELECT DISTINCT {v} AS verify, {a} AS agents, {u} AS who, ResourceAttributes['host.name'] AS host, "
                          "ResourceAttributes['service.version'] AS version FROM otel.own WHERE {b}"
                          .format(v=one % "hookctl.verify", a=one % "hookctl.agents", u=one % "enduser.id", b=beat))
    print("  a heartbeat:", beats[0])
    expect(len(beats) == 1 and beats[0]["verify"] == "ok" and "claude" in beats[0]["agents"], beats)
    expect(beats[0]["who"] == "home" and beats[0]["host"] == socket.gethostname(), beats)
    tools = database.rows("SELECT {o} AS operation, {t} AS tool, uniqExact({c}) AS calls, {d} AS decision FROM otel.own WHERE NOT {b} GROUP BY ALL ORDER BY decision"
                          .format(o=one % "gen_ai.operation.name", t=one % "gen_ai.tool.name", c=one % "gen_ai.tool.call.id", d=one % "hookctl.decision", b=beat))
    for row in tools:
        print("  verdicts:", row)
    denied = [int(row["calls"]) for row in tools if row["decision"] == "deny"]
    expect(denied == [(want + 3) // 4], "denied:", denied)
    expect(all((row["operation"], row["tool"]) == ("execute_tool", "Bash") for row in tools), tools)
    said = machine.hookctl("log", "--verify")
    print("  the journal:", said.strip().splitlines()[-1])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--hookctl", required=True)
    ap.add_argument("--python", required=True)
    ap.add_argument("--sessions", type=int, default=300)
    ap.add_argument("--at-once", type=int, default=8)
    args = ap.parse_args()
    args.hookctl, args.python = os.path.abspath(args.hookctl), os.path.abspath(args.python)
    own_etc.enter()
    with tempfile.TemporaryDirectory(prefix="hookctl-fleet-", ignore_cleanup_errors=True) as base:
        own_etc.mount(base)
        os.makedirs("/etc/hookctl", exist_ok=True)
        try:
            machine = Machine(args, base)
            database = Database(args.python, base)
            pages = Pages(database)
            collector = Collector(args.python, base, pages.url)
            mark = publish(machine, pages, collector)
            machine.hookctl("install", "--agent", "claude")
            first = machine.call("before", 0, "ls")
            expect("managed rules have not come yet" in first, "a call before the first bundle:", first)
            # That call had it fetched already, or the flush does.
            said = machine.hookctl("flush", codes=(0, 1)) + machine.hookctl("flush")
            expect("version 7 is the newest" in said, said)
            seconds = run_sessions(machine, collector)
            print("  %d sessions in %.0f s" % (args.sessions, seconds))
            pages.flush()
            expect(not pages.faults, pages.faults[:3])
            check(machine, database, mark)
            print("fleet: ok")
        except Failed as why:
            print("fleet: FAILED:", why)
            with open(os.path.join(base, "rotel.log"), encoding="utf-8", errors="replace") as f:
                print(f.read()[-2000:])
            return 1
        finally:
            own_etc.unmount()
    return 0


if __name__ == "__main__":
    sys.exit(main())
