"""The servers of examples/servers, started as their READMEs say, and what may stand between them and hookctl."""
import filecmp
import os
import re
import shutil
import signal
import socket
import socketserver
import subprocess
import threading
import time

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/servers")
# The first start installs Flask or Express.
START = 300


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def command(name):
    """What the README says: the first line that is set off as code."""
    with open(os.path.join(EXAMPLES, name, "README.md"), encoding="utf-8") as f:
        return re.search(r"^    (\S.*)$", f.read(), re.M).group(1)


def config(name, port):
    """The example's own config, for the server at that port."""
    with open(os.path.join(EXAMPLES, name, "config.toml"), encoding="utf-8") as f:
        text, changed = re.subn(r"(?<=127\.0\.0\.1:)\d+", str(port), f.read())
    assert changed == 1, "%s/config.toml names no port" % name
    return text


def renew(source, target):
    """A shell may be reading the script at this moment: it is replaced at once, and only if it is another."""
    if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
        draft = "%s.%d" % (target, os.getpid())
        shutil.copy(source, draft)
        os.replace(draft, target)


class Server:
    """An example, copied below `cache`, where what it installs stays for the next time."""

    def __init__(self, name, cache, env=None):
        self.name, self.port = name, free_port()
        self.dir = os.path.join(cache, name)
        os.makedirs(cache, exist_ok=True)
        shutil.copytree(os.path.join(EXAMPLES, name), self.dir, dirs_exist_ok=True, copy_function=renew,
                        ignore=shutil.ignore_patterns(".venv", "node_modules"))
        self.log = os.path.join(self.dir, "log-%d" % self.port)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                ["sh", "-c", command(name)], cwd=self.dir, env=dict(os.environ, PORT=str(self.port), **(env or {})),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def __enter__(self):
        end = time.monotonic() + START
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.05)
        said = self.said()
        self.stop()
        raise OSError("%s: `%s` did not start a server:\n%s" % (self.name, command(self.name), said[-2000:]))

    def __exit__(self, *_):
        self.stop()

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()

    def stop(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # our own child's group only
        except ProcessLookupError:
            pass
        self.process.wait()
        if os.path.exists(self.log):
            os.remove(self.log)


class Relay(socketserver.ThreadingTCPServer):
    """A port of its own before a server: counts who comes, and lets them wait."""

    daemon_threads = True

    def __init__(self, port, delay=0.0):
        self.upstream, self.delay, self.count = port, delay, 0
        super().__init__(("127.0.0.1", 0), Hop)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def process_request(self, request, client_address):
        self.count += 1
        super().process_request(request, client_address)

    def handle_error(self, request, client_address):
        pass  # they need not wait for the answer

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Hop(socketserver.BaseRequestHandler):
    def handle(self):
        time.sleep(self.server.delay)
        with socket.create_connection(("127.0.0.1", self.server.upstream), 10) as upstream:
            back = threading.Thread(target=pump, args=(upstream, self.request), daemon=True)
            back.start()
            pump(self.request, upstream)
            back.join(60)


def pump(source, target):
    try:
        while block := source.recv(1 << 16):
            target.sendall(block)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
