#!/usr/bin/env python3
"""The plugins in the real clients, headless, as people install them: by the client's own command, from this
checkout's lists, with hookctl where install.sh puts it.

  plugin.py --client PATH/claude --hookctl PATH/hookctl [--agents DIR --node PATH/node] [NAME ...]

Claude Code: a call that is denied, one that is allowed, the program missing, beside a registration in the user's
settings (one judgement, counted in the journal), with a project that would switch it off, removal.
With --agents (the clients of tests/e2e/agents): the same plugins in Gemini CLI and Codex, as far as they run without a person.
Exit status: 0 all hold, 1 some do not, 3 the runs could not be made.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import e2e  # noqa: E402

RULES = """
[rule.no-marker]
command = "touch denied*"
deny = "no such markers"
[rule.marker]
command = "touch allowed*"
allow = "a marker"
"""
# Where the launcher looks beside HOME and PATH.
PLACES = ["/usr/local/bin", "/usr/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin", "/run/current-system/sw/bin"]
MISSING = "its plugin is on, but the program is not there"


class World:
    """A home, a project, and a copy of the lists and plugins."""

    def __init__(self, client, hookctl, present=True):
        self.client, self.root = client, os.path.realpath(tempfile.mkdtemp(prefix="hookctl-plugin-"))
        self.home, self.proj = self.root + "/home", self.root + "/project"
        for d in (self.home + "/.claude", self.proj + "/.claude", self.root + "/tmp", self.home + "/.local/bin"):
            os.makedirs(d)
        self.checkout = self.root + "/checkout"
        for name in (".claude-plugin", ".agents", "plugins"):
            shutil.copytree(os.path.join(TOP, name), os.path.join(self.checkout, name))
        self.hookctl = self.home + "/.local/bin/hookctl"
        if present:
            shutil.copy(hookctl, self.hookctl)
        e2e.write(self.home + "/.config/hookctl/config.toml", RULES)
        e2e.write(self.home + "/.claude/settings.json", {})
        # Where the user says so, the client's settings are elsewhere: here they are where everybody's are.
        self.env = e2e.clean_env(self.home, self.root)
        del self.env["CLAUDE_CONFIG_DIR"]

    def claude(self, *args):
        done = subprocess.run([self.client, "plugin", *args], cwd=self.proj, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60)
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        if done.returncode:
            raise e2e.CannotRun("claude plugin %s: %s" % (" ".join(args), said))
        return said

    def install_plugin(self):
        self.claude("validate", "--strict", self.checkout)
        self.claude("validate", "--strict", self.checkout + "/plugins/claude")
        self.claude("marketplace", "add", self.checkout)
        self.claude("install", "hookctl@hookctl")

    def install_settings(self):
        subprocess.run([self.hookctl, "install", "--agent", "claude"], cwd=self.proj, env=self.env, stdin=subprocess.DEVNULL,
                       capture_output=True, timeout=60, check=True)

    def project_settings(self, settings):
        e2e.write(self.proj + "/.claude/settings.json", settings)

    def run(self, command):
        """One Bash call; what came of it."""
        record = self.root + "/requests.jsonl"
        if os.path.exists(record):
            os.remove(record)
        sc = {"turns": [{"bash": command}, "done"], "subagent_turns": []}
        e2e.calls_of(sc)
        rc, timed_out, seconds, stream, requests, _ = e2e.run_client(self.client, sc, self.env, self.proj, self.root, 120)
        main = [r for r in requests if r.get("kind") == "main"]
        results = e2e.fake_anthropic.what_the_model_saw(main)[2]
        hooks = [s for s in stream if s.get("subtype") == "hook_response"]
        return {
            "rc": rc, "timed_out": timed_out, "seconds": seconds, "stream": json.dumps(stream),
            "error": " ".join(r["text"] for r in results if r["error"]),
            "started": sum(h.get("hook_event") == "PreToolUse" for h in hooks),
            "bad": [h for h in hooks if h.get("outcome") != "success"],
        }

    def judged(self, event="PreToolUse"):
        """The journal's lines of that event."""
        lines = e2e.read(self.home + "/.local/state/hookctl/journal.jsonl").splitlines()
        return [line for line in map(json.loads, lines) if line["event"] == event]

    def ran(self, name):
        return os.path.lexists(os.path.join(self.proj, name))

    def end(self):
        shutil.rmtree(self.root, ignore_errors=True)


def deny(world):
    world.install_plugin()
    out = world.run("touch denied")
    yield "the call is refused with the rule's reason", "no such markers" in out["error"]
    yield "nothing ran", not world.ran("denied")
    yield "judged once", len(world.judged()) == 1
    yield "the session ends well", out["rc"] == 0 and not out["bad"]


def allow(world):
    world.install_plugin()
    out = world.run("touch allowed")
    yield "it ran without a question", world.ran("allowed") and not out["error"]
    yield "judged once", len(world.judged()) == 1
    yield "no hook failed", not out["bad"]
    status = subprocess.run([world.hookctl, "status"], cwd=world.proj, env=world.env, capture_output=True, timeout=60)
    said = status.stdout.decode("utf-8", "replace")
    yield "status knows the plugin: %s" % said[-300:], status.returncode == 0 and "hookctl@hookctl" in said


def missing(world):
    world.install_plugin()
    world.run("true")  # nothing may depend on what the client makes at its first start
    out = world.run("touch allowed")
    yield "the call is refused", MISSING in out["error"]
    yield "nothing ran", not world.ran("allowed")
    yield "the user is told at the start", "every tool call is stopped" in out["stream"]
    yield "the session itself goes on: rc %s" % out["rc"], out["rc"] == 0 and not out["timed_out"]


def beside(world):
    world.install_plugin()
    world.install_settings()
    out = world.run("touch denied")
    yield "both are started: %d" % out["started"], out["started"] == 2
    yield "refused", "no such markers" in out["error"] and not world.ran("denied")
    yield "judged once: %d" % len(world.judged()), len(world.judged()) == 1
    out = world.run("touch allowed")
    yield "both are started again: %d" % out["started"], out["started"] == 2
    yield "allowed", world.ran("allowed") and not out["error"]
    yield "judged once: %d" % (len(world.judged()) - 1), len(world.judged()) == 2
    yield "no hook failed", not out["bad"]


def project(world):
    """What a repository may bring: registrations that judge and say nothing, and variables."""
    world.install_plugin()
    mute = {"type": "command", "command": "hookctl hook --agent claude --event PreToolUse >/dev/null"}
    late = {"type": "command", "command": "hookctl", "args": ["hook", "--agent", "claude"], "async": True}
    never = {"type": "command", "command": "hookctl hook --agent claude", "if": "Read(never)"}
    fake = "#!/bin/sh\ntouch %s/faked\n" % world.proj
    e2e.write(world.proj + "/bin/hookctl", fake)
    world.project_settings({
        "env": {"PATH": world.proj + "/bin:" + world.env["PATH"], "CLAUDE_CONFIG_DIR": world.proj, "XDG_CONFIG_HOME": world.proj},
        "hooks": {"PreToolUse": [{"hooks": [never]}, {"hooks": [late]}, {"hooks": [mute]}]},
    })
    e2e.write(world.proj + "/settings.json", {"hooks": {"PreToolUse": [{"hooks": [never]}]}})
    for _ in range(3):
        out = world.run("touch denied")
        yield "refused", "no such markers" in out["error"] and not world.ran("denied")


def switched(world):
    """What the client lets a repository do to a plugin, and status tells."""
    world.install_plugin()
    world.project_settings({"enabledPlugins": {"hookctl@hookctl": False}})
    out = world.run("touch denied")
    yield "the client itself lets a project switch it off", out["started"] == 0
    status = subprocess.run([world.hookctl, "status"], cwd=world.proj, env=world.env, capture_output=True, timeout=60)
    said = status.stdout.decode("utf-8", "replace")
    yield "status says so: %s" % said[-300:], status.returncode == 1 and "switch the plugin off" in said


def path(world):
    """A program of the project's in PATH is none, where there is no other."""
    world.install_plugin()
    e2e.write(world.proj + "/bin/hookctl", "#!/bin/sh\ntouch %s/faked\n" % world.proj)
    os.mkdir(world.proj + "/.git")
    world.project_settings({"env": {"PATH": world.proj + "/bin:" + world.env["PATH"]}})
    out = world.run("touch allowed")
    yield "refused", MISSING in out["error"] and not world.ran("allowed") and not world.ran("faked")


def gone(world):
    """The list that it was installed from has moved: the client loads nothing, and status says so."""
    world.install_plugin()
    os.rename(world.checkout, world.checkout + "-moved")
    out = world.run("touch denied")
    yield "no hook was started", out["started"] == 0
    status = subprocess.run([world.hookctl, "status"], cwd=world.proj, env=world.env, capture_output=True, timeout=60)
    said = status.stdout.decode("utf-8", "replace")
    yield "status says so: %s" % said[-300:], status.returncode == 1 and "does not load the plugin" in said and "is not where it was" in said


def removal(world):
    world.install_plugin()
    world.claude("uninstall", "hookctl@hookctl")
    out = world.run("touch denied")
    yield "no hook of ours is left", out["started"] == 0 and not world.judged()


AGENTS = {
    "gemini": "{bin} extensions install --consent {top}/plugins/gemini",
    # A person approves the hooks at Codex's start; a run without one is told to take them as they are.
    "codex": "sed -i 's/^plugins = false/plugins = true/' \"$HOME/.codex/config.toml\"\n"
             "{bin} plugin marketplace add {top}\n{bin} plugin add hookctl@hookctl",
}


def other_client(a, agent, root, steps, trust):
    """Another agent's client, by its own harness, after these steps of a shell: what the harness says of it, and on stderr."""
    e2e.write(root + "/install.sh", "set -e\n%s\n" % steps)
    done = subprocess.run(
        [sys.executable, HERE + "/agents/e2e_agents.py", "--agent", agent, "--client", os.path.abspath(a.agents), "--overlay", HERE + "/agents/rules",
         "--install", "/bin/sh %s/install.sh" % root, "--codex-trust", trust, "--keep", root + "/kept", "--scenario", "03_deny_shell"]
        + (["--node", os.path.abspath(a.node)] if a.node else []), capture_output=True, timeout=300)
    return done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")[-800:]


def elsewhere(a, agent, how):
    """A plugin in another agent's client, by its own harness: `alone`, `missing`, or `beside` what install writes."""
    root = tempfile.mkdtemp(prefix="hookctl-plugin-")
    clients = os.path.abspath(a.agents)
    client = os.path.join(clients, agent, "node_modules/.bin", agent)
    steps = AGENTS[agent].format(bin=client, top=TOP)
    if how != "missing":
        steps = "mkdir -p \"$HOME/.local/bin\"\ncp %s \"$HOME/.local/bin/hookctl\"\n%s" % (os.path.abspath(a.hookctl), steps)
    if how == "beside":
        steps += "\n\"$HOME/.local/bin/hookctl\" install --agent %s%s" % (agent, " --trust" if agent == "codex" else "")
    said, why = other_client(a, agent, root, steps, "bypass")
    try:
        verdict = json.loads(said)
        files, told = verdict["project_files"], " ".join(verdict["told"])
        journal = e2e.read(verdict["root"] + "/home/.local/state/hookctl/journal.jsonl").splitlines()
        calls = [line for line in map(json.loads, journal) if line["event"] in ("PreToolUse", "BeforeTool")]
        if how == "missing":
            yield "both calls are refused, and why: %s" % told[-200:], MISSING in told and not files
        else:
            yield "one call is refused, the other runs: %s %s" % (files, told[-200:]), files == ["second.txt"] and "demo: denied" in told
            yield "each judged once: %d" % len(calls), len(calls) == 2
        yield "the session ends well: %s" % verdict["rc"], verdict["rc"] == 0
    except (ValueError, KeyError) as error:
        yield "%s: %s" % (error, why), False
    finally:
        shutil.rmtree(root, ignore_errors=True)


SCENARIOS = {"deny": deny, "allow": allow, "missing": missing, "beside": beside, "project": project, "switched": switched, "path": path, "gone": gone, "removal": removal}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--client", required=True)
    ap.add_argument("--hookctl", required=True)
    ap.add_argument("--agents")
    ap.add_argument("--node")
    ap.add_argument("--keep", action="store_true")
    ap.add_argument("name", nargs="*")
    a = ap.parse_args()
    bad = 0
    more = ["%s-%s" % (agent, how) for agent in AGENTS for how in ("alone", "missing", "beside")] if a.agents else []
    names = a.name or list(SCENARIOS) + more
    for name in names:
        if name not in SCENARIOS:
            for what, holds in elsewhere(a, *name.split("-")):
                print("%-4s %s: %s" % ("ok" if holds else "FAIL", name, what), flush=True)
                bad += not holds
            continue
        world = World(os.path.abspath(a.client), os.path.abspath(a.hookctl), name not in ("missing", "path"))
        try:
            here = [d for d in PLACES + world.env["PATH"].split(":") if os.path.exists(os.path.join(d, "hookctl"))]
            if here and name in ("missing", "path"):
                print("%s: NOT CHECKED: this machine has a hookctl in %s" % (name, here))
                continue
            for what, holds in SCENARIOS[name](world):
                print("%-4s %s: %s" % ("ok" if holds else "FAIL", name, what), flush=True)
                bad += not holds
        except (OSError, ValueError, subprocess.SubprocessError, e2e.CannotRun) as error:
            print("plugin: %s: %s" % (name, error), file=sys.stderr)
            return 3
        finally:
            print("kept: %s" % world.root) if a.keep else world.end()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
