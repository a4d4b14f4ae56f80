"""What each agent client needs: its event names, tool calls, base settings, hook files, command line.

One class per agent; an object is made per run.  Paths: self.home (temp HOME), self.proj (working
directory), self.root (temp root), self.port (fake model server).  `configure` writes only what points
the client at the fake server and keeps it quiet; `install` writes the hook configuration.
"""
import hashlib, json, os, re, shlex, sys

import fake_chat, fake_gemini, fake_responses


def write(path, o, mode=None):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(o if isinstance(o, str) else json.dumps(o, indent=1))
    if mode:
        os.chmod(path, mode)


def read_json(path, default=None):
    try:
        with open(path) as f:
            return json.load(f)
    except (OSError, ValueError):
        return {} if default is None else default


class Client:
    agent = package = version = bin = ""
    wire = fake_chat
    # neutral event -> the client's own name
    events = {"session_start": "SessionStart", "prompt": "UserPromptSubmit", "pre_tool": "PreToolUse",
              "post_tool": "PostToolUse", "stop": "Stop"}
    hook_timeout = 20        # seconds, unless the scenario says otherwise
    live_options = {}        # options of a run of `hookctl status --live`

    def __init__(self, root, home, proj, port, opts):
        self.root, self.home, self.proj, self.port, self.opts = root, home, proj, port, opts
        self.base = "http://127.0.0.1:%d" % port

    def path(self, name):
        return os.path.join(self.proj, name)

    def tool(self, call):
        """{"shell": CMD} {"write": {path,text}} {"edit": {path,old,new}} {"read": PATH}
        {"mcp": {text}} {"native": BLOCK} -> block"""
        (kind, arg), = call.items()
        if kind == "native":
            return arg
        b = getattr(self, "call_" + kind)(arg)
        if b is None:
            raise ValueError("%s has no tool for %r" % (self.agent, kind))
        return b

    def call_read(self, path):
        return None

    def live_turn(self, messages, tools):
        """What the model does when `hookctl status --live` asks for its command, in either thread."""
        texts = [m["text"] for m in messages if m["role"] != "assistant"]
        asked = [c for t in texts for c in re.findall(r"mkdir hookctl-canary-[0-9a-f]+", t)]
        done = [m["text"] for m in messages if m["role"] == "tool"]
        if not asked:
            return "DONE"
        if done:
            return self.live_end(done, tools)
        if any("Start one subagent" in t for t in texts):
            return self.call_agent("Your task: run exactly `%s`." % asked[0])
        return self.call_shell(asked[0])

    def live_end(self, results, tools):
        return "DONE"

    def mcp_server(self):
        """command and args of the small MCP server "my-echo", if the scenario wants it"""
        here = os.path.dirname(os.path.abspath(__file__))
        return [sys.executable, os.path.join(here, "mcp_echo.py")] if self.opts.get("mcp") else None

    def mcp_map(self, **more):
        m = self.mcp_server()
        return {"mcpServers": {"my-echo": dict({"command": m[0], "args": m[1:]}, **more)}} if m else {}

    def configure(self):
        pass

    def env(self):
        return {}

    def after_install(self, install_mode):
        pass


class Codex(Client):
    agent, package, version, bin = "codex", "@openai/codex", "0.169.0", "codex"
    wire = fake_responses
    model = "gpt-5.5"

    def call_shell(self, cmd):
        return {"tool": "exec_command", "input": {"cmd": cmd, "login": False}}

    def patch(self, body):
        return {"tool": "apply_patch", "custom": True,
                "input": {"input": "*** Begin Patch\n%s*** End Patch\n" % body}}

    def call_write(self, a):
        return self.patch("*** Add File: %s\n%s" % (a["path"], "".join("+%s\n" % l for l in a["text"].splitlines())))

    def call_edit(self, a):
        return self.patch("*** Update File: %s\n@@\n-%s\n+%s\n" % (a["path"], a["old"], a["new"]))

    live_options = {"model": "gpt-5.4"}      # its tools for subagents need no search first

    def call_agent(self, prompt):
        return {"tool": "spawn_agent", "namespace": "multi_agent_v1", "input": {"message": prompt}}

    def live_end(self, results, tools):
        started = re.findall(r'"agent_id"\s*:\s*"([^"]+)"', results[0])
        if started and len(results) == 1:
            return {"tool": "wait_agent", "namespace": "multi_agent_v1", "input": {"targets": started}}
        return "DONE"

    def call_mcp(self, a):
        return {"tool": "say_it", "namespace": "mcp__my_echo", "input": a}

    @property
    def dir(self):
        return os.path.join(self.home, ".codex")

    def configure(self):
        write(self.dir + "/config.toml", """model = "%s"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
apps = false
plugins = false
enable_request_compression = false
[model_providers.fake]
name = "fake"
base_url = "%s/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0
""" % (self.opts.get("model", self.model), self.base) + ("""[mcp_servers.my-echo]
command = %s
args = %s
""" % (json.dumps(self.mcp_server()[0]), json.dumps(self.mcp_server()[1:])) if self.mcp_server() else ""))

    def install(self, commands, timeout):
        write(self.dir + "/hooks.json", {"hooks": {
            ev: [{"hooks": [{"type": "command", "command": c, "timeout": timeout}]}] for ev, c in commands.items()}})

    @staticmethod
    def snake(name):
        return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")

    def trust(self):
        """Does what the user does in the client's own hook review: one hash per hook in config.toml."""
        path, out = self.dir + "/hooks.json", ""
        for ev, groups in (read_json(path).get("hooks") or {}).items():
            for g, group in enumerate(groups):
                for i, h in enumerate(group.get("hooks") or []):
                    ent = {"async": bool(h.get("async", False)), "command": h.get("command", ""),
                           "timeout": h.get("timeout", 600), "type": h.get("type", "command")}
                    if h.get("statusMessage"):
                        ent["statusMessage"] = h["statusMessage"]
                    o = {"event_name": self.snake(ev), "hooks": [ent]}
                    if group.get("matcher") is not None:
                        o["matcher"] = group["matcher"]
                    text = json.dumps(o, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
                    out += '\n[hooks.state."%s:%s:%d:%d"]\ntrusted_hash = "sha256:%s"\n' % (
                        path, self.snake(ev), g, i, hashlib.sha256(text.encode()).hexdigest())
        with open(self.dir + "/config.toml", "a") as f:
            f.write(out)

    def trust_mode(self, install_mode):
        return self.opts.get("trust") or self.opts.get("codex_trust") or ("bypass" if install_mode else "hash")

    def after_install(self, install_mode):
        self.bypass = self.trust_mode(install_mode) == "bypass"
        if self.trust_mode(install_mode) == "hash":
            self.trust()

    def argv(self, client, prompt):
        return client + ["exec", "--skip-git-repo-check", "--json"] + (
            ["--dangerously-bypass-hook-trust"] if getattr(self, "bypass", False) else []) + [prompt]

    def env(self):
        return {"CODEX_HOME": self.dir, "FAKE_KEY": "dummy-not-a-key", "OPENAI_API_KEY": "dummy-not-a-key"}


class Gemini(Client):
    agent, package, version, bin = "gemini", "@google/gemini-cli", "0.61.0", "gemini"
    wire = fake_gemini
    events = {"session_start": "SessionStart", "prompt": "BeforeAgent", "pre_tool": "BeforeTool",
              "post_tool": "AfterTool", "stop": "AfterAgent"}

    def call_shell(self, cmd):
        return {"tool": "run_shell_command", "input": {"command": cmd, "description": "d"}}

    def call_write(self, a):
        return {"tool": "write_file", "input": {"file_path": self.path(a["path"]), "content": a["text"]}}

    def call_edit(self, a):
        return {"tool": "replace", "input": {"file_path": self.path(a["path"]), "old_string": a["old"],
                                             "new_string": a["new"], "instruction": "change it"}}

    def call_read(self, path):
        return {"tool": "read_file", "input": {"file_path": self.path(path)}}

    def call_agent(self, prompt):
        return {"tool": "invoke_agent", "input": {"agent_name": "generalist", "prompt": prompt}}

    def live_end(self, results, tools):
        # A subagent ends by a tool of its own.
        done = {"tool": "complete_task", "input": {"response": "refused", "result": {"response": "refused"}}}
        return done if "complete_task" in tools and len(results) == 1 else "DONE"

    def call_mcp(self, a):
        return {"tool": "mcp_my-echo_say_it", "input": a}

    @property
    def settings(self):
        return os.path.join(self.home, ".gemini/settings.json")

    def configure(self):
        write(self.settings, {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True, "disableUpdateNag": True, "enableAutoUpdate": False},
            "tools": {"shell": {"enableInteractiveShell": False}}, **self.mcp_map(trust=True)})

    def install(self, commands, timeout):
        s = read_json(self.settings)
        s["hooks"] = {}
        for ev, c in commands.items():
            group = {"hooks": [{"name": "hook-e2e", "type": "command", "command": c, "timeout": int(timeout * 1000)}]}
            if ev.endswith("Tool"):
                group["matcher"] = "*"
            s["hooks"][ev] = [group]
        write(self.settings, s)

    def argv(self, client, prompt):
        return client + ["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", prompt]

    def env(self):
        return {"GEMINI_API_KEY": "dummy-not-a-key", "GOOGLE_GEMINI_BASE_URL": self.base, "NO_BROWSER": "1",
                "GEMINI_CLI_NO_RELAUNCH": "1", "GEMINI_TELEMETRY_ENABLED": "false", "CI": "1"}


class Copilot(Client):
    agent, package, version, bin = "copilot", "@github/copilot", "1.0.102", "copilot"
    camel = {"session_start": "sessionStart", "prompt": "userPromptSubmitted", "pre_tool": "preToolUse",
             "post_tool": "postToolUse", "stop": "agentStop"}

    def __init__(self, *a):
        super().__init__(*a)
        if self.opts.get("copilot_style") == "camel":
            self.events = self.camel

    def call_shell(self, cmd):
        return {"tool": "bash", "input": {"command": cmd, "description": "d"}}

    def call_write(self, a):
        return {"tool": "create", "input": {"path": self.path(a["path"]), "file_text": a["text"]}}

    def call_edit(self, a):
        return {"tool": "edit", "input": {"path": self.path(a["path"]), "old_str": a["old"], "new_str": a["new"]}}

    def call_read(self, path):
        return {"tool": "view", "input": {"path": self.path(path)}}

    def call_agent(self, prompt):
        return {"tool": "task", "input": {"description": "d", "name": "n", "agent_type": "general-purpose",
                                          "prompt": prompt}}

    def call_mcp(self, a):
        return {"tool": "my-echo-say_it", "input": a}

    def configure(self):
        if self.mcp_server():
            write(os.path.join(self.home, ".copilot/mcp-config.json"), self.mcp_map(type="local", tools=["*"]))

    def install(self, commands, timeout):
        write(os.path.join(self.home, ".copilot/hooks/hook-e2e.json"), {"version": 1, "hooks": {
            ev: [{"type": "command", "bash": c, "timeoutSec": timeout}] for ev, c in commands.items()}})

    def argv(self, client, prompt):
        # --trust-folder: without it hooks kept in the repository are silently not loaded
        return client + ["--allow-all-tools", "--trust-folder", "--no-color", "-p", prompt]

    def env(self):
        return {"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "CI": "1",
                "COPILOT_PROVIDER_TYPE": "openai", "COPILOT_PROVIDER_WIRE_API": "completions",
                "COPILOT_PROVIDER_BASE_URL": self.base + "/v1", "COPILOT_PROVIDER_API_KEY": "dummy-not-a-key",
                "COPILOT_MODEL": "gpt-4.1"}


class Qwen(Client):
    agent, package, version, bin = "qwen", "@qwen-code/qwen-code", "0.24.4", "qwen"

    def call_shell(self, cmd):
        return {"tool": "run_shell_command", "input": {"command": cmd, "description": "d", "is_background": False}}

    def call_write(self, a):
        return {"tool": "write_file", "input": {"file_path": self.path(a["path"]), "content": a["text"]}}

    def call_edit(self, a):
        return {"tool": "edit", "input": {"file_path": self.path(a["path"]), "old_string": a["old"],
                                          "new_string": a["new"]}}

    def call_read(self, path):
        return {"tool": "read_file", "input": {"file_path": self.path(path)}}

    def call_agent(self, prompt):
        return {"tool": "agent", "input": {"description": "d", "subagent_type": "general-purpose", "prompt": prompt}}

    def call_mcp(self, a):
        return {"tool": "mcp__my-echo__say_it", "input": a}

    @property
    def settings(self):
        return os.path.join(self.home, ".qwen/settings.json")

    def configure(self):
        write(self.settings, {
            "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False, "disableAutoUpdate": True}, **self.mcp_map(trust=True)})

    def install(self, commands, timeout):
        s = read_json(self.settings)
        s["hooks"] = {ev: [{"hooks": [{"name": "hook-e2e", "type": "command", "command": c,
                                       "timeout": int(timeout * 1000)}]}] for ev, c in commands.items()}
        write(self.settings, s)

    def argv(self, client, prompt):
        return client + ["--auth-type", "openai", "--approval-mode", "yolo", "-p", prompt]

    def env(self):
        return {"OPENAI_API_KEY": "dummy-not-a-key", "OPENAI_BASE_URL": self.base + "/v1",
                "OPENAI_MODEL": "qwen3-coder-plus", "CI": "1", "QWEN_TELEMETRY_ENABLED": "false",
                "QWEN_CODE_NO_RELAUNCH": "1"}


class Cline(Client):
    agent, package, version, bin = "cline", "cline", "3.0.65", "cline"
    events = {"session_start": "TaskStart", "prompt": "UserPromptSubmit", "pre_tool": "PreToolUse",
              "post_tool": "PostToolUse", "stop": "TaskComplete"}

    def call_shell(self, cmd):
        return {"tool": "run_commands", "input": {"commands": [cmd]}}

    def call_write(self, a):
        return {"tool": "editor", "input": {"path": self.path(a["path"]), "new_text": a["text"]}}

    def call_edit(self, a):
        return {"tool": "editor", "input": {"path": self.path(a["path"]), "old_text": a["old"], "new_text": a["new"]}}

    def call_read(self, path):
        return {"tool": "read_files", "input": {"files": [{"path": self.path(path)}]}}

    def call_agent(self, prompt):
        return {"tool": "spawn_agent", "input": {"systemPrompt": "You do as you are told.", "task": prompt}}

    def call_mcp(self, a):
        return {"tool": "my-echo__say_it", "input": a}

    def configure(self):
        write(os.path.join(self.home, ".cline/data/settings/providers.json"), {
            "version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {"openai-compatible": {
                "settings": {"provider": "openai-compatible", "apiKey": "dummy-not-a-key", "model": "fake-model",
                             "baseUrl": self.base + "/v1"},
                "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}}})
        write(os.path.join(self.home, ".cline/data/settings/global-settings.json"),
              {"telemetryOptOut": True, "autoUpdateEnabled": False})
        if self.mcp_server():
            write(os.path.join(self.home, ".cline/data/settings/cline_mcp_settings.json"), self.mcp_map())

    def install(self, commands, timeout):
        for ev, c in commands.items():     # one regular file per event, no extension
            write(os.path.join(self.home, "Documents/Cline/Hooks", ev), "#!/bin/sh\n# hook-e2e\n%s\n" % c, 0o755)

    def argv(self, client, prompt):
        return client + ["--json", "-c", self.proj, prompt]

    def env(self):
        return {"CLINE_NO_AUTO_UPDATE": "1"}


class OpenCode(Client):
    agent, package, version, bin = "opencode", "opencode-ai", "1.18.33", "opencode"

    def call_shell(self, cmd):
        return {"tool": "bash", "input": {"command": cmd, "description": "d"}}

    def call_write(self, a):
        return {"tool": "write", "input": {"filePath": self.path(a["path"]), "content": a["text"]}}

    def call_edit(self, a):
        return {"tool": "edit", "input": {"filePath": self.path(a["path"]), "oldString": a["old"],
                                          "newString": a["new"]}}

    def call_read(self, path):
        return {"tool": "read", "input": {"filePath": self.path(path)}}

    def call_agent(self, prompt):
        return {"tool": "task", "input": {"description": "d", "subagent_type": "general", "prompt": prompt}}

    def call_mcp(self, a):
        return {"tool": "my-echo_say_it", "input": a}

    @property
    def dir(self):
        return os.path.join(self.home, ".config/opencode")

    def configure(self):
        write(self.dir + "/opencode.json", {
            "model": "fake/fake-model", "small_model": "fake/fake-model", "autoupdate": False, "share": "disabled",
            "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "Fake",
                                  "options": {"baseURL": self.base + "/v1", "apiKey": "dummy-not-a-key"},
                                  "models": {"fake-model": {"name": "Fake"}}}},
            "permission": {"edit": "allow", "bash": "allow", "webfetch": "allow"},
            **({"mcp": {"my-echo": {"type": "local", "command": self.mcp_server(), "enabled": True}}}
               if self.mcp_server() else {})})

    def install(self, commands, timeout):
        # No command hooks in this client: a small plugin calls the command, see opencode_shim.js
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "opencode_shim.js")) as f:
            js = f.read()
        conf = {"commands": commands, "timeoutMs": int(timeout * 1000)}
        write(self.dir + "/plugins/hook-e2e.js", "const CONFIG = %s;\n%s" % (json.dumps(conf), js))

    def argv(self, client, prompt):
        return client + ["run", "--format", "json", prompt]

    def env(self):
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "npm_config_registry": self.base + "/npm/",
                "npm_config_fetch_retries": "0", "BUN_CONFIG_REGISTRY": self.base + "/npm/"}


CLIENTS = {c.agent: c for c in (Codex, Gemini, Copilot, Qwen, Cline, OpenCode)}


def tapped(tap, log, event, command):
    return " ".join(map(shlex.quote, tap + [log, event, command]))


if __name__ == "__main__":     # what has to be installed, into which folder each
    for c in CLIENTS.values():
        print(c.agent, "%s@%s" % (c.package, c.version))
    print("node node@22")      # for Qwen Code
