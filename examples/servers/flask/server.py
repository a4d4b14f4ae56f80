"""A server of the Claude Hooks Server Protocol 1.0: allow, block, ask and modify, on each event that can.

PORT: where it listens on this machine (8080). HOOK_TOKEN: the bearer token that it wants (none).
"""
import hmac
import os
import re

from flask import Flask, abort, request

app = Flask(__name__)

# `rm -rf /` and `rm -r -f /*`, but not `rm -rf /tmp/x`. Text is all that it looks at: `echo "rm -rf /"` is one as well.
DANGEROUS = re.compile(r"""\brm\s+(-\S+\s+)+/(?=$|[\s*;&|)"'])""")


def allow():
    return {"decision": "allow"}


def block(reason):
    return {"decision": "block", "reason": reason}


def ask(reason):
    return {"decision": "ask", "reason": reason}


def modify(**data):
    """Only what changes: hookctl merges it into what the agent sent."""
    return {"decision": "modify", "modified_data": data}


def before_tool(data):
    if data["tool_name"] != "Bash":
        return allow()
    command = data["tool_input"].get("command", "")
    if DANGEROUS.search(command):
        return block("Dangerous command detected")
    if re.search(r"\bterraform (apply|destroy)\b", command):
        return ask("This changes the infrastructure")
    leased = re.sub(r"(\bgit push\b.*) --force(?!\S)", r"\1 --force-with-lease", command)
    if leased != command:
        return modify(tool_input={"command": leased})
    return allow()


def after_tool(data):
    response = data.get("tool_response")
    output = response.get("stdout", "") if isinstance(response, dict) else ""
    if re.search(r"\b[1-9]\d* failed\b", output):
        return block("Tests fail: fix them before you go on")
    masked = re.sub(r"\b[\w-]+\.internal\b", "[internal host]", output)
    if masked != output:
        return modify(tool_response={"stdout": masked})
    return allow()


def prompt(data):
    text = data["prompt"]
    if "production database" in text:
        return block("The production database is the on-call team's")
    linked = re.sub(r"\b(OPS-\d+)\b", r"\1 (https://tickets.example.org/\1)", text)
    # A prompt cannot be replaced: hookctl tells the model the new text beside the old one.
    return modify(prompt=linked) if linked != text else allow()


def stop(data):
    # The second time it may stop, or it never would.
    if not data["stop_hook_active"] and "TODO" in data.get("last_assistant_message", ""):
        return block("There is a TODO left: finish it")
    return allow()


def compact(data):
    instructions = data.get("custom_instructions", "")
    if "forget" in instructions:
        return block("Nothing is forgotten here")
    keep = "Keep the names of changed files."
    return allow() if keep in instructions else modify(custom_instructions=f"{instructions} {keep}".strip())


def notify(data):
    app.logger.warning("the agent says: %s", data["message"])
    return allow()


HANDLERS = {
    "PreToolUse": before_tool,
    "PermissionRequest": before_tool,
    "PostToolUse": after_tool,
    "UserPromptSubmit": prompt,
    "Stop": stop,
    "SubagentStop": stop,
    "PreCompact": compact,
    "Notification": notify,
}


@app.before_request
def check_token():
    token = os.environ.get("HOOK_TOKEN")
    given = request.headers.get("Authorization", "")
    if token and not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        abort(401)


@app.post("/hook")
def hook():
    try:
        body = request.get_json()
        handler = HANDLERS.get(body["event"]["type"], lambda data: allow())
        return {"version": "1.0", **handler(body["data"])}
    except (KeyError, TypeError, AttributeError):
        abort(400)


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=int(os.environ.get("PORT", "8080")))
