#!/usr/bin/env python3
"""`hookctl install --managed` in the real clients, headless: what a machine's administrator writes holds, and a user
cannot switch it off. Everything runs in a mount namespace of its own, where /etc is a copy.

  managed.py --client PATH/claude --hookctl PATH/hookctl [--agents DIR --node PATH/node] [NAME ...]

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
sys.path.insert(0, HERE)
import e2e  # noqa: E402
import own_etc  # noqa: E402
import plugin  # noqa: E402

OFF = {"disableAllHooks": True}


class World(plugin.World):
    """Its program is where no user writes."""

    def __init__(self, client, hookctl):
        super().__init__(client, hookctl, present=False)
        self.hookctl = self.root + "/opt/hookctl"
        os.mkdir(self.root + "/opt")
        os.chmod(self.root, 0o755)  # every user starts it
        shutil.copy(hookctl, self.hookctl)

    def manage(self, command="install"):
        done = subprocess.run([self.hookctl, command, "--managed", "--agent", "claude"], cwd=self.proj, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        if done.returncode:
            raise e2e.CannotRun("hookctl %s --managed: %s" % (command, (done.stdout + done.stderr).decode()))
        return (done.stdout + done.stderr).decode("utf-8", "replace")

    def status(self):
        done = subprocess.run([self.hookctl, "status"], cwd=self.proj, env=self.env, capture_output=True, timeout=60)
        return done.returncode, done.stdout.decode("utf-8", "replace")


def alone(world):
    world.manage()
    out = world.run("touch denied")
    yield "refused with the rule's reason", "no such markers" in out["error"] and not world.ran("denied")
    yield "judged once", len(world.judged()) == 1
    out = world.run("touch allowed")
    yield "allowed without a question", world.ran("allowed") and not out["error"]
    yield "no hook failed", not out["bad"]
    code, said = world.status()
    yield "status knows it: %s" % said[:200], code == 0 and "50-hookctl.json" in said


def only(world):
    """The administrator's hooks alone run, which ours are."""
    world.manage()
    e2e.write("/etc/claude-code/managed-settings.json", {"allowManagedHooksOnly": True})
    out = world.run("touch denied")
    os.remove("/etc/claude-code/managed-settings.json")
    yield "refused", "no such markers" in out["error"] and not world.ran("denied")


def dropped(world):
    """Another file of the administrator's switches all hooks off: nobody says that the guard is in effect."""
    world.manage()
    more = "/etc/claude-code/managed-settings.d/60-other.json"
    e2e.write(more, OFF)
    out = world.run("touch denied")
    code, said = world.status()
    warned = world.manage()
    os.remove(more)
    yield "no hook was started", out["started"] == 0 and not world.judged()
    yield "status says so: %s" % said[:200], code == 1 and "60-other.json: no hook runs at all" in said
    yield "and install: %s" % warned[-200:], "60-other.json switches all hooks off" in warned


def off(world):
    """All that a user may write says no hooks."""
    world.manage()
    e2e.write(world.home + "/.claude/settings.json", OFF)
    world.project_settings(OFF)
    e2e.write(world.proj + "/.claude/settings.local.json", OFF)
    out = world.run("touch denied")
    yield "refused all the same", "no such markers" in out["error"] and not world.ran("denied")
    code, said = world.status()
    yield "status knows that it guards: %s" % said[:200], code == 0 and "in effect for Claude Code" in said


def beside(world):
    """A user who has hookctl as well is judged once."""
    world.manage()
    command = [world.hookctl, "install", "--agent", "claude"]
    more = {"cwd": world.proj, "env": world.env, "stdin": subprocess.DEVNULL, "capture_output": True, "timeout": 60}
    done = subprocess.run(command, **more)
    yield "a second registration is refused", done.returncode == 1 and not e2e.read(world.home + "/.claude/settings.json").count("PreToolUse")
    subprocess.run([*command, "--also"], check=True, **more)
    out = world.run("touch denied")
    yield "refused", "no such markers" in out["error"] and not world.ran("denied")
    yield "judged once: %d" % len(world.judged()), len(world.judged()) == 1


def removal(world):
    world.manage()
    world.manage("uninstall")
    out = world.run("touch denied")
    yield "no hook of ours is left", out["started"] == 0 and not world.judged()


# What a user may write to have no hooks.
SWITCHES = {
    "gemini": "python3 - <<'E'\nimport json, os\np = os.path.expanduser('~/.gemini/settings.json')\ns = json.load(open(p))\n"
              "s['hooksConfig'] = {'enabled': False}\ns['hooks'] = {'disabled': ['hookctl']}\njson.dump(s, open(p, 'w'))\nE",
    "codex": "sed -i 's/^\\[features\\]/[features]\\nhooks = false/' \"$HOME/.codex/config.toml\"\n"
             "grep -q '^hooks = false' \"$HOME/.codex/config.toml\"",
}


def elsewhere(a, agent, how):
    """The managed settings of another agent, by its own harness: `alone`, or with what a user may write to be rid of them, `off`."""
    root = tempfile.mkdtemp(prefix="hookctl-managed-")
    program = root + "/hookctl"
    os.chmod(root, 0o755)
    shutil.copy(os.path.abspath(a.hookctl), program)
    steps = "%s install --managed --agent %s" % (program, agent)
    if how == "off":
        steps += "\n" + SWITCHES[agent]
    said, why = plugin.other_client(a, agent, root, steps, "none")
    try:
        verdict = json.loads(said)
        files, told = verdict["project_files"], " ".join(verdict["told"])
        yield "one call is refused, the other runs: %s %s" % (files, told[-200:]), files == ["second.txt"] and "demo: denied" in told
        yield "the session ends well: %s" % verdict["rc"], verdict["rc"] == 0
    except (ValueError, KeyError) as error:
        yield "%s: %s" % (error, why), False
    finally:
        shutil.rmtree(root, ignore_errors=True)
        subprocess.run([a.hookctl, "uninstall", "--managed", "--agent", agent], stdin=subprocess.DEVNULL, capture_output=True)


SCENARIOS = {"alone": alone, "only": only, "dropped": dropped, "off": off, "beside": beside, "removal": removal}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--client", required=True)
    ap.add_argument("--hookctl", required=True)
    ap.add_argument("--agents")
    ap.add_argument("--node")
    ap.add_argument("name", nargs="*")
    a = ap.parse_args()
    own_etc.enter()
    bad = 0
    more = ["%s-%s" % (agent, how) for agent in SWITCHES for how in ("alone", "off")] if a.agents else []
    base = tempfile.mkdtemp(prefix="hookctl-etc-")
    own_etc.mount(base)
    try:
        for name in a.name or list(SCENARIOS) + more:
            if name in SCENARIOS:
                world = World(os.path.abspath(a.client), os.path.abspath(a.hookctl))
                found = list(SCENARIOS[name](world))
                world.manage("uninstall")
                world.end()
            else:
                found = elsewhere(a, *name.split("-"))
            for what, holds in found:
                print("%-4s %s: %s" % ("ok" if holds else "FAIL", name, what), flush=True)
                bad += not holds
    except (OSError, ValueError, subprocess.SubprocessError, e2e.CannotRun) as error:
        print("managed: %s" % error, file=sys.stderr)
        return 3
    finally:
        own_etc.unmount()
        shutil.rmtree(base, ignore_errors=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
