# How a hook of this plugin finds hookctl: launch.sh WHAT ARGUMENTS...
# WHAT is done where there is none: `closed` stops the call, `told` says so to the user, `open` is silence, `empty` is `{}` for it.
# Each plugin has its own copy (UPDATE_DOCS=1 cargo test --test plugins). Known places come first: PATH may be a project's.
what=$1
shift
home=${HOME:-/nonexistent}

# Its answer is the hook's.
run() {
    [ ! -f "$1" ] || [ ! -x "$1" ] || exec "$@"
}

for dir in "$home/.local/bin" "$home/.cargo/bin" /usr/local/bin /usr/bin /opt/homebrew/bin \
    "$home/.linuxbrew/bin" /home/linuxbrew/.linuxbrew/bin "$home/.nix-profile/bin" /run/current-system/sw/bin \
    "$home/.npm-global/bin" "$home/.volta/bin"; do
    run "$dir/hookctl" "$@"
done
run "$home/scoop/shims/hookctl.exe" "$@"

# Of PATH no directory of the project that we are in: the outermost repository, a home aside.
root=$(pwd -P)
project=$root
own=$(CDPATH='' cd -P -- "$home" 2>/dev/null && pwd -P)
case $own/ in
"$root"/*) project=/nonexistent ;;
esac
while [ -n "$root" ] && [ "$root" != "$own" ]; do
    [ ! -e "$root/.git" ] || project=$root
    root=${root%/*}
done
set -f
IFS=:
for dir in $PATH; do
    dir=$(CDPATH='' cd -P -- "${dir:-.}" 2>/dev/null && pwd -P) || continue
    case $dir/ in
    "$project"/*) ;;
    *)
        run "$dir/hookctl" "$@"
        run "$dir/hookctl.exe" "$@"
        ;;
    esac
done

case $what in
closed)
    echo "hookctl: its plugin is on, but the program is not there, so this call is stopped. Install hookctl, or take the plugin out." >&2
    exit 2
    ;;
told)
    echo '{"systemMessage":"hookctl: its plugin is on, but the program is not there: every tool call is stopped. Install hookctl, or take the plugin out."}'
    ;;
empty) echo '{}' ;;
esac
exit 0
