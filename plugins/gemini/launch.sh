# How a hook of this plugin finds hookctl: launch.sh WHAT ARGUMENTS...
# WHAT is done where there is none, or it fails: `closed` stops the call, `told` says so to the user, `open` is silence,
# `empty` is `{}` for it. Each plugin has its own copy (UPDATE_DOCS=1 cargo test --test plugins).
what=$1
shift
# A relative one would be the project's.
case ${HOME:-} in
/*) home=$HOME ;;
*) home=/nonexistent ;;
esac

# fail WHY: nobody judged this call.
fail() {
    case $what in
    closed)
        echo "hookctl: its plugin is on, but $1, so this call is stopped. Install hookctl (install.sh, or a package), or take the plugin out." >&2
        exit 2
        ;;
    told)
        echo '{"systemMessage":"hookctl: its plugin is on, but '"$1"': every tool call is stopped. Install hookctl (install.sh, or a package), or take the plugin out."}'
        ;;
    empty) echo '{}' ;;
    esac
    exit 0
}

# run PROGRAM ARGUMENTS...: its answer is the hook's. What is started by env or node is none: there a project's variables
# say what runs. An empty file, or one of zeros, would be a script that says nothing.
run() {
    [ -f "$1" ] && [ -x "$1" ] && [ -s "$1" ] || return 0
    line=
    IFS= read -r line 2>/dev/null <"$1"
    case $line in
    '' | '#!'*env* | '#!'*node*) return 0 ;;
    esac
    "$@"
    status=$?
    case $status in
    0 | 2) exit "$status" ;;
    esac
    fail "the program failed (exit status $status)"
}

# run_of_npm DIRECTORY ARGUMENTS...: the program that npm's package brings, which its launcher would start by node.
run_of_npm() {
    modules=$1
    shift
    for program in "$modules"/hookctl/node_modules/@hookctl/*/bin/hookctl "$modules"/@hookctl/*/bin/hookctl; do
        run "$program" "$@"
    done
}

for dir in "$home/.local/bin" "$home/.cargo/bin" /usr/local/bin /usr/bin /opt/homebrew/bin \
    "$home/.linuxbrew/bin" /home/linuxbrew/.linuxbrew/bin "$home/.nix-profile/bin" /run/current-system/sw/bin; do
    run "$dir/hookctl" "$@"
done
run "$home/scoop/shims/hookctl.exe" "$@"
for dir in "$home/.npm-global/lib" /usr/local/lib /usr/lib /opt/homebrew/lib "$home/.volta/tools/image/packages/hookctl/lib"; do
    run_of_npm "$dir/node_modules" "$@"
done

# Of PATH no directory of the project: the outermost repository that we are in, and what the agent calls the project. A
# home, and what lies above it, is none. Nor a directory that depends on where we are.
own=$(CDPATH='' cd -P -- "$home" 2>/dev/null && pwd -P)
# project_of DIRECTORY: what may be called one.
project_of() {
    case $own/ in
    "${1%/}"/*) echo /nonexistent ;;
    *) echo "$1" ;;
    esac
}
root=$(pwd -P 2>/dev/null) || root=
case $root in
/*) ;;
*) fail "the directory of this session is gone" ;;
esac
project=$(project_of "$root")
while [ -n "$root" ] && [ "$root" != "$own" ]; do
    [ ! -e "$root/.git" ] || project=$root
    root=${root%/*}
done
named=${CLAUDE_PROJECT_DIR:-${GEMINI_PROJECT_DIR:-${CURSOR_PROJECT_DIR:-}}}
named=$(CDPATH='' cd -P -- "${named:-/nonexistent}" 2>/dev/null && pwd -P) || named=/nonexistent
named=$(project_of "$named")
set -f
IFS=:
for dir in ${PATH:-}; do
    case $dir in
    /*) ;;
    *) continue ;;
    esac
    dir=$(CDPATH='' cd -P -- "$dir" 2>/dev/null && pwd -P) || continue
    case $dir/ in
    "$project"/* | "$named"/*) ;;
    *)
        run "$dir/hookctl" "$@"
        run "$dir/hookctl.exe" "$@"
        set +f
        run_of_npm "${dir%/bin}/lib/node_modules" "$@"
        set -f
        ;;
    esac
done
fail "the program is not there"
