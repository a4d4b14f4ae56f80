#!/bin/sh
# Builds hookctl, puts it into DIR/bin and, unless told otherwise, registers it with Claude Code.
set -eu

usage() {
    cat <<'END'
usage: ./install.sh [--prefix DIR] [--serve] [--no-register]

Builds hookctl from this checkout and puts it into DIR/bin.

  --prefix DIR     where to (default: ~/.local, so ~/.local/bin/hookctl)
  --serve          the approval server as well: DIR/bin/hookctl-serve, for `hookctl install --serve`
  --no-register    only build and copy: Claude Code's settings are not touched
  -h, --help       this text

Afterwards, unless --no-register: `hookctl install` writes the hook entries, and a sample of a dangerous command (as
data: nothing is run) shows that it is denied. To undo: `hookctl uninstall`, then remove DIR/bin/hookctl.
On Linux the binary is static (musl) where rustup has that target, and otherwise built for this machine's own libc.
END
}

say() { printf '%s\n' "$*"; }
fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

prefix=
register=yes
serve=no
while [ $# -gt 0 ]; do
    case $1 in
    --prefix)
        [ $# -ge 2 ] || fail "--prefix needs a directory"
        prefix=$2
        shift
        ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --serve) serve=yes ;;
    --no-register) register=no ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        usage >&2
        fail "unknown argument: $1"
        ;;
    esac
    shift
done
if [ -z "$prefix" ]; then
    [ -n "${HOME:-}" ] || fail "HOME is not set: give --prefix DIR"
    prefix=$HOME/.local
fi
case $prefix in
/*) ;;
*) prefix=$(pwd)/$prefix ;;
esac
bin=$prefix/bin

# The checkout, wherever we are called from. Cargo reads .cargo/config.toml from there.
root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || fail "cannot find my own directory"
[ -f "$root/Cargo.toml" ] || fail "$root is not a checkout of hookctl: run install.sh where it lies"
cd "$root"

if ! command -v cargo >/dev/null 2>&1; then
    if [ -x "${CARGO_HOME:-${HOME:-}/.cargo}/bin/cargo" ]; then
        PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
        export PATH
    else
        fail "cargo was not found. Get Rust from https://rustup.rs (or your system's packages), then run this again."
    fi
fi
rustc --version >/dev/null 2>&1 || fail "rustc does not start: \`rustc --version\` says why (with rustup: rustup default stable)"
if ! command -v cc >/dev/null 2>&1 && ! command -v gcc >/dev/null 2>&1; then
    fail "no C compiler was found, and linking needs one: install gcc (Debian: apt install gcc libc6-dev; macOS: xcode-select --install)."
fi

# Which binary: static on Linux if the target is there or can be fetched, else this machine's own.
target=
why="this machine's own target"
system=$(uname -s)
machine=$(uname -m)
if [ "$system" = Linux ]; then
    case $machine in
    x86_64 | amd64) musl=x86_64-unknown-linux-musl ;;
    aarch64 | arm64) musl=aarch64-unknown-linux-musl ;;
    *) musl= ;;
    esac
    if [ -z "$musl" ]; then
        why="this machine's own target: no static build is known for $machine"
    elif ! command -v gcc >/dev/null 2>&1; then
        why="this machine's own target: the static build needs gcc by that name"
    elif [ -d "$(rustc --print sysroot 2>/dev/null)/lib/rustlib/$musl/lib" ]; then
        target=$musl
        why="static, $musl"
    elif ! command -v rustup >/dev/null 2>&1; then
        why="this machine's own target: $musl is not installed and there is no rustup to fetch it"
    elif rustup target add "$musl" >/dev/null 2>&1; then
        target=$musl
        why="static, $musl (fetched by rustup)"
    else
        why="this machine's own target: rustup could not fetch $musl"
    fi
fi
say "Building hookctl ($why) ..."

target_dir=$(cargo metadata --locked --no-deps --format-version 1 2>/dev/null |
    sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
[ -n "$target_dir" ] || target_dir=${CARGO_TARGET_DIR:-$root/target}
hint="the build failed; its messages stand above"
# A default target of the user's own configuration must not move the result elsewhere.
host=$(rustc -vV | sed -n 's/^host: //p')
if [ -n "$target" ]; then
    # TLS brings C code: gcc compiles it for musl as well.
    if [ "$target" = x86_64-unknown-linux-musl ]; then
        CC_x86_64_unknown_linux_musl=${CC_x86_64_unknown_linux_musl:-gcc}
        export CC_x86_64_unknown_linux_musl
    else
        CC_aarch64_unknown_linux_musl=${CC_aarch64_unknown_linux_musl:-gcc}
        export CC_aarch64_unknown_linux_musl
    fi
else
    target=$host
fi
# One after the other: what the server is built with is nothing of the hook's.
cargo build --release --locked --target "$target" || fail "$hint"
if [ "$serve" = yes ]; then
    # SQLite in it is C that wants the headers of the libc that it runs with.
    say "Building hookctl-serve (for this machine's own libc) ..."
    cargo build --profile serve --locked --target "$host" --features serve --bin hookctl-serve || fail "$hint"
fi

mkdir -p "$bin" || fail "cannot make $bin"
new=$bin/.hookctl.new.$$
trap 'rm -f "$new"' EXIT
trap 'exit 1' HUP INT TERM

# install_program NAME BUILT: copied next to its place and renamed: an agent that starts it meanwhile finds the old one or the new one.
install_program() {
    built=$2/$1
    [ -x "$built" ] || fail "the build left no $built"
    [ ! -d "$bin/$1" ] || fail "$bin/$1 is a directory"
    # In one write: a file system that can then keeps it in few large pieces of memory, and each start has half the page faults.
    dd if="$built" of="$new" bs=16777216 2>/dev/null || fail "cannot write to $bin"
    chmod 755 "$new"
    version=$("$new" --version) || fail "the new binary does not start here: $bin keeps what it had"
    mv -f "$new" "$bin/$1" || fail "cannot write $bin/$1"
    say "Installed $version: $bin/$1 ($(($(wc -c <"$bin/$1") / 1024)) KiB)"
}
install_program hookctl "$target_dir/$target/release"
[ "$serve" = no ] || install_program hookctl-serve "$target_dir/$host/serve"

case :${PATH:-}: in
*:"$bin":*) ;;
*) say "Note: $bin is not on your PATH. Add this to your shell's profile: export PATH=\"$bin:\$PATH\"" ;;
esac

if [ "$register" = no ]; then
    say "Nothing was registered. Next: $bin/hookctl install"
    exit 0
fi

say
# Alone it shows what it would write for each agent that is here, and asks; nobody answers without a terminal.
if [ -t 0 ]; then set --; else set -- --agent claude; fi
say "\$ hookctl install${*:+ $*}"
"$bin/hookctl" install "$@" || fail "hookctl install failed; the binary is in place, so mend what it says and run: $bin/hookctl install"

# The command below is text in an event; hookctl judges it and nobody runs it.
sample='{"session_id":"install-check","hook_event_name":"PreToolUse","cwd":"/","tool_name":"Bash","tool_input":{"command":"rm -rf /"},"tool_use_id":"install-check"}'
say
say "A dangerous event, as an agent would send it, and the answer:"
say "  $sample"
answer=$(printf '%s\n' "$sample" | "$bin/hookctl" hook --agent claude) || fail "hookctl hook failed (exit $?)"
say "  $answer"
case $answer in
*'"permissionDecision":"deny"'*) say "Denied: hookctl is on guard in every session that starts from now on." ;;
*) fail "this should have been denied: see $bin/hookctl status" ;;
esac
