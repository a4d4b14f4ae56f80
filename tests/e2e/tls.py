#!/usr/bin/env python3
"""The release binary's TLS with another implementation's, OpenSSL's: versions, curves, kinds of keys, and what must be refused.

  tls.py --hookctl PATH/hookctl

One server for each case answers `deny`. Where the handshake has to fail, the config says that an event is denied when nobody
answers, and the server says whether a request came through.
"""
import argparse
import json
import os
import ssl
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

REASON = "said over TLS"


def openssl(*words, cwd):
    subprocess.run(["openssl", *words], cwd=cwd, check=True, capture_output=True)


def authority(name, cwd):
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key", "-out", name + ".pem", "-days", "2",
            "-subj", "/CN=" + name, "-addext", "keyUsage=critical,keyCertSign", cwd=cwd)


def leaf(name, key, signed_by, subject, cwd):
    openssl("req", "-new", "-newkey", *key, "-nodes", "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + subject,
            cwd=cwd)
    with open(os.path.join(cwd, "ext"), "w", encoding="utf-8") as file:
        file.write("subjectAltName=DNS:%s\nextendedKeyUsage=serverAuth\n" % subject)
    openssl("x509", "-req", "-in", name + ".csr", "-CA", signed_by + ".pem", "-CAkey", signed_by + ".key", "-days", "2",
            "-extfile", "ext", "-out", name + ".pem", cwd=cwd)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests += 1
        body = json.dumps({"decision": "block", "reason": REASON}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(HTTPServer):
    requests = 0

    def handle_error(self, *_):
        pass


def serve(cwd, cert, version, curve, ciphers):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(cwd, cert + ".pem"), os.path.join(cwd, cert + ".key"))
    context.minimum_version = context.maximum_version = version
    if curve:
        context.set_ecdh_curve(curve)
    if ciphers:
        context.set_ciphers(ciphers)
    server = Server(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def ask(hookctl, cwd, port):
    home = tempfile.mkdtemp(dir=cwd)
    config = os.path.join(home, "config")
    os.mkdir(config)
    with open(os.path.join(config, "config.toml"), "w", encoding="utf-8") as file:
        file.write('[remote.x]\nurl = "https://localhost:%d/"\ndialect = "claude-http"\nevents = "*"\nfail_open = false\n'
                   'retry_count = 0\ntimeout_ms = 3000\nca = "%s/ca.pem"\n' % (port, cwd))
    event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s",
             "cwd": home, "transcript_path": home + "/t", "tool_use_id": "t"}
    done = subprocess.run([hookctl, "hook", "--config", config, "--state", os.path.join(home, "state")], input=json.dumps(event),
                          capture_output=True, text=True, env={"HOME": home, "PATH": "/usr/bin:/bin"}, cwd=home, check=False)
    return done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hookctl", required=True)
    hookctl = os.path.abspath(parser.parse_args().hookctl)
    new, old = ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2
    p256 = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    with tempfile.TemporaryDirectory() as cwd:
        authority("ca", cwd)
        authority("stranger", cwd)
        leaf("p256", p256, "ca", "localhost", cwd)
        leaf("p384", ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"], "ca", "localhost", cwd)
        leaf("rsa", ["rsa:2048"], "ca", "localhost", cwd)
        leaf("ed25519", ["ed25519"], "ca", "localhost", cwd)
        leaf("elsewhere", p256, "ca", "elsewhere.example", cwd)
        leaf("unknown", p256, "stranger", "localhost", cwd)
        cases = [(cert, version, curve, None, True)
                 for cert in ("p256", "p384", "rsa", "ed25519") for version in (new, old)
                 for curve in (None, "prime256v1", "secp384r1", "X25519")]
        cases += [("p256", old, None, "ECDHE-ECDSA-AES128-GCM-SHA256", True), ("rsa", old, None, "ECDHE-RSA-AES256-GCM-SHA384", True)]
        cases += [(cert, version, None, None, False) for cert in ("elsewhere", "unknown") for version in (new, old)]
        # No forward secrecy, and blocks chained: neither is taken.
        cases += [("rsa", old, None, "AES128-GCM-SHA256", False), ("rsa", old, None, "ECDHE-RSA-AES128-SHA", False)]
        wrong = 0
        for cert, version, curve, ciphers, good in cases:
            server = serve(cwd, cert, version, curve, ciphers)
            told = ask(hookctl, cwd, server.server_port)
            held = (REASON in told) == good and (server.requests == 1) == good and '"deny"' in told
            server.shutdown()
            server.server_close()
            if not held:
                wrong += 1
                print("WRONG", cert, version.name, curve, ciphers, "asked", server.requests, "told", told.strip()[:200])
    print("tls: %d of %d handshakes as they should be" % (len(cases) - wrong, len(cases)))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
