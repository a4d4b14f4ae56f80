"""Load on `hookctl serve`: python3 benches/serve_load.py --serve BIN [--questions 1000] [--rate 200] [--seconds 60]

So many hooks wait for a human at once, so many events come each second, and a browser's socket hears them all. Told: the time from the
first byte of an event's POST to its frame on the socket, the server's resident memory, and whether it grows. Status 1 where the 99th
percentile is 20 ms or more, memory 100 MB or more, or it grows by a tenth after the first third. Nothing but Python's own library.
"""

import argparse, asyncio, base64, json, os, re, resource, signal, struct, subprocess, sys, tempfile, time


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", required=True)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=60)
    return parser.parse_args()


class Server:
    def __init__(self, program):
        self.home = tempfile.TemporaryDirectory(prefix="hookctl-load-")
        # Nothing of whoever runs this: an agent may not pair a device.
        environment = {"HOME": self.home.name, "PATH": "/usr/bin:/bin"}
        self.child = subprocess.Popen([program, "--port", "0", "--pair"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.child.stdout:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/pair#(\S+)", line):
                self.port, self.code = int(found[1]), found[2]
                return
        sys.exit("the server printed no code")

    def resident(self):
        """MB of memory."""
        with open(f"/proc/{self.child.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) * 1024 / 1e6


class Connection:
    """HTTP/1.1 requests one after the other."""

    @classmethod
    async def open(cls, port):
        self = cls()
        self.port = port
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        return self

    async def post(self, path, body, kind="application/json"):
        data = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n"
        self.writer.write(head.encode() + data)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(re.search(r"content-length: (\d+)", head)[1])
        return head, json.loads(await self.reader.readexactly(length))


async def listen(server, token, heard):
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1 << 24)
    key = base64.b64encode(os.urandom(16)).decode()
    writer.write(
        f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Key: {key}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    )
    answer = await reader.readuntil(b"\r\n\r\n")
    assert b" 101 " in answer, answer
    while True:
        first, length = await reader.readexactly(2)
        if length == 126:
            (length,) = struct.unpack(">H", await reader.readexactly(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", await reader.readexactly(8))
        text = await reader.readexactly(length)
        if first == 0x81:
            heard(text, time.perf_counter())


def call(session, number, kind):
    return {
        "session_id": session, "cwd": "/home/dev/project", "transcript_path": "/t.jsonl", "permission_mode": "default", "hook_event_name": kind,
        "tool_name": "Bash", "tool_use_id": number, "tool_input": {"command": f"npm run build -- --part {number}", "description": "Build a part"},
    }


async def wait_for_human(server, number, until):
    """A hook that asks, and asks anew where nobody answered in time."""
    asked = 0
    while time.perf_counter() < until:
        connection = await Connection.open(server.port)
        asked += 1
        try:
            _, answer = await connection.post("/api/hooks/permission-request", call(f"load-{number // 100}", f"q{number}-{asked}", "PreToolUse"))
            assert answer.get("message") == "timeout", answer
        except asyncio.CancelledError:
            connection.writer.close()
            raise
        connection.writer.close()


async def tell(server, rate, seconds, sent):
    connections = asyncio.Queue()
    for _ in range(32):
        connections.put_nowait(await Connection.open(server.port))
    begun, pending = time.perf_counter(), set()

    async def one(number):
        connection = await connections.get()
        kind = ["tool-start", "tool-end"][number % 2]
        event = call(f"busy-{number // 2 % 8}", f"e{number}", "PreToolUse" if number % 2 == 0 else "PostToolUse")
        if number % 2:
            event["tool_response"] = {"stdout": "done\n" * 20}
        sent[f"e{number}"] = time.perf_counter()
        await connection.post(f"/api/hooks/{kind}", event)
        connections.put_nowait(connection)

    for number in range(rate * seconds):
        await asyncio.sleep(max(0, begun + number / rate - time.perf_counter()))
        task = asyncio.create_task(one(number))
        pending.add(task)
        task.add_done_callback(pending.discard)
    await asyncio.gather(*pending)


async def main():
    args = parse()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    server = Server(args.serve)
    try:
        return await measure(server, args)
    finally:
        server.child.send_signal(signal.SIGKILL)
        server.child.wait()


async def measure(server, args):
    _, tokens = await (await Connection.open(server.port)).post("/api/auth/exchange", {"code": server.code, "name": "load"})
    sent, took, asked = {}, [], set()
    identity = re.compile(rb'"tool_use_id":"([eq][\d-]+)"')

    def heard(text, now):
        if not (found := identity.search(text)):
            return
        name = found[1].decode()
        if name[0] == "e":
            took.append((now - sent[name]) * 1000)
        elif b"event/pty_permission\"" in text:
            asked.add(name)

    listener = asyncio.create_task(listen(server, tokens["access_token"], heard))
    idle = server.resident()
    until = time.perf_counter() + args.seconds + 60
    hooks = []
    for number in range(args.questions):
        hooks.append(asyncio.create_task(wait_for_human(server, number, until)))
        await asyncio.sleep(0.005)
    end = time.perf_counter() + 60
    while len(asked) < args.questions and time.perf_counter() < end:
        await asyncio.sleep(0.1)
    print(f"{len(asked)} questions wait; memory {idle:.1f} MB before, {server.resident():.1f} MB now")
    memory = []

    async def watch():
        while True:
            memory.append(server.resident())
            await asyncio.sleep(1)

    watcher = asyncio.create_task(watch())
    await tell(server, args.rate, args.seconds, sent)
    await asyncio.sleep(1)
    watcher.cancel()
    failed = [hook.exception() for hook in hooks if hook.done() and hook.exception()]
    assert not failed, failed[:3]
    assert not listener.done(), "the socket was closed"
    took.sort()
    at = lambda share: took[min(len(took) - 1, int(len(took) * share))]
    third = max(memory[: max(1, len(memory) // 3)])
    print(f"{len(took)} of {len(sent)} events told; ms: median {at(0.5):.2f}, 99th percentile {at(0.99):.2f}, 99.9th {at(0.999):.2f}, most {took[-1]:.2f}")
    print(f"memory MB: first third at most {third:.1f}, after that {max(memory[len(memory) // 3:]):.1f}, end {memory[-1]:.1f}")
    for hook in hooks:
        hook.cancel()
    await asyncio.gather(*hooks, return_exceptions=True)
    await asyncio.sleep(5)
    print(f"memory when all hooks are gone: {server.resident():.1f} MB")
    good = len(took) == len(sent) and at(0.99) < 20 and max(memory) < 100 and memory[-1] < third * 1.1
    print("ok" if good else "NOT as wanted")
    return 0 if good else 1


sys.exit(asyncio.run(main()))
