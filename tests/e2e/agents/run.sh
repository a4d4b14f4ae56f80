#!/bin/sh
# Every scenario in every client, wired by `hookctl install --agent X` with one rule file; then each again with
# /bin/true for a hook, where a scenario that needs one has to fail; then `hookctl status --verify --live`.
#   run.sh --clients DIR --hookctl PATH/hookctl [--node PATH/node] [--agents "codex gemini ..."]
# Two agents at a time; what each says is printed when it is done.
# The clients: npm install --prefix DIR/AGENT PACKAGE@VERSION, see clients.py.
set -eu
here=$(cd "$(dirname -- "$0")" && pwd)
agents="codex gemini copilot qwen cline opencode"
node=
while [ $# -gt 0 ]; do
    case $1 in
    --clients) clients=$2 ;;
    --hookctl) hookctl=$(realpath "$2") ;;
    --node) node=$2 ;;
    --agents) agents=$2 ;;
    *) echo "run.sh: not understood: $1" >&2; exit 2 ;;
    esac
    shift 2
done
failed=

case $agents in
*" "*)
    logs=$(mktemp -d)
    trap 'rm -rf "$logs"' EXIT
    export logs clients hookctl node
    self=$(realpath "$0")
    # shellcheck disable=SC2016
    printf '%s\n' $agents | xargs -P 2 -I AGENT sh -c '
        "$0" --clients "$clients" --hookctl "$hookctl" --node "$node" --agents "$1" >"$logs/$1" 2>&1 || echo "$1" >>"$logs/.failed"
        echo "=== $1"; cat "$logs/$1"' "$self" AGENT
    [ ! -e "$logs/.failed" ] || { echo "failed: $(tr '\n' ' ' <"$logs/.failed")"; exit 1; }
    exit 0
    ;;
esac

# run AGENT OVERLAY OPTION...
run() {
    agent=$1 overlay=$2
    shift 2
    # Qwen Code wants a newer node than the others.
    [ "$agent" = qwen ] && [ -n "$node" ] && set -- "$@" --node "$node"
    python3 "$here/e2e_agents.py" --agent "$agent" --client "$clients" --summary --overlay "$here/$overlay" "$@" ||
        failed="$failed $agent"
}

# wired AGENT OVERLAY OPTION...: by hookctl itself, which gives Codex its trust as well.
wired() {
    trust=
    [ "$1" = codex ] && trust=" --trust"
    run "$@" --install "$hookctl install --agent {{AGENT}}$trust" --codex-trust none --fallback
}

for agent in $agents; do
    # Whether a refusal is soft is a setting: that scenario has a rule file of its own.
    wired "$agent" rules --all --no-client-facts --without 04_soft_deny_shell
    [ "$agent" != cline ] || wired cline soft --scenario 04_soft_deny_shell
    run "$agent" rules --all --control
    # What a person sees of it, with the entries and without.
    run "$agent" rules --scenario 40_live_check --live "$hookctl"
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
