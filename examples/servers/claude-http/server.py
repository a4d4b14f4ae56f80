"""A server for Claude Code's own `http` hooks: the body is the event, the answer what a command hook would print.

PORT: where it listens on this machine (9000). HOOK_TOKEN: the bearer token that it wants (none).
"""
import hmac
import json
import os
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LARGEST = 16 << 20
# Programs that may run unasked, with names and paths behind them, no options.
HARMLESS = re.compile(r"(ls|touch|git (status|diff|log)|npm test)( (?!-)[\w./-]+)*")


def about(event, **more):
    return {"hookSpecificOutput": {"hookEventName": event["hook_event_name"], **more}}


def decide(event, decision, reason):
    return about(event, permissionDecision=decision, permissionDecisionReason=reason)


def before_tool(event):
    tool, args = event["tool_name"], event["tool_input"]
    if tool == "Read" and os.path.basename(args["file_path"]).startswith(".env"):
        return decide(event, "deny", "Reads of credential files are not allowed")
    if tool != "Bash":
        return {}
    command = args["command"]
    if "curl" in command and re.search(r"\|\s*(ba)?sh\b", command):
        return decide(event, "deny", "Do not run what was just downloaded")
    if re.search(r"\bgit push\b", command):
        return decide(event, "ask", "This leaves the machine")
    if re.match(r"npm (install|ci)\b", command) and "--ignore-scripts" not in command:
        # The whole new input: what is left out is gone.
        return about(event, updatedInput={**args, "command": command + " --ignore-scripts"})
    if HARMLESS.fullmatch(command):
        return decide(event, "allow", "Harmless")
    return {}


def permission(event):
    """The dialog is about to appear: an answer here takes its place."""
    if HARMLESS.fullmatch(event["tool_input"].get("command", "")):
        return about(event, decision={"behavior": "allow"})
    return {}


def after_tool(event):
    if event["tool_name"] in ("Write", "Edit"):
        return about(event, additionalContext="Run the formatter when you are done")
    return {}


def prompt(event):
    if "production database" in event["prompt"]:
        return {"decision": "block", "reason": "The production database is the on-call team's"}
    return {}


def stop(event):
    # The second time it may stop, or it never would.
    if not event.get("stop_hook_active") and "TODO" in event.get("last_assistant_message", ""):
        return {"decision": "block", "reason": "There is a TODO left: finish it"}
    return {}


HANDLERS = {
    "PreToolUse": before_tool,
    "PermissionRequest": permission,
    "PostToolUse": after_tool,
    "UserPromptSubmit": prompt,
    "Stop": stop,
    "SubagentStop": stop,
}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        token = os.environ.get("HOOK_TOKEN")
        given = self.headers.get("Authorization", "")
        if token and not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            return self.send_error(401)
        try:
            length = int(self.headers.get("Content-Length", 0))
            if length > LARGEST:
                return self.send_error(413)
            event = json.loads(self.rfile.read(length))
            handler = HANDLERS.get(event["hook_event_name"], lambda event: {})
            answer = json.dumps(handler(event)).encode()
        except (ValueError, KeyError, TypeError, AttributeError):
            return self.send_error(400)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


if __name__ == "__main__":
    port = int(os.environ.get("PORT", "9000"))
    print(f"listening on http://127.0.0.1:{port}/hook", flush=True)
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
