#!/bin/sh
# Puts hookctl into DIR/bin and, unless told otherwise, registers it with Claude Code. Takes the built program of a
# release where there is one, and builds it otherwise. It needs of others only what is in every system: tar (with the
# gzip that it starts), sha256sum or shasum, mkdir, mv, rm, uname.
set -eu

# Where the files of this release lie. Empty in a checkout, which takes it from Cargo.toml's `repository`; packaging
# writes it here.
release=

usage() {
    printf '%s\n' "\
usage: ./install.sh [--prefix DIR] [--from PLACE [--key KEY] | --build] [--serve] [--no-register]

Puts hookctl into DIR/bin: the built program of a release for this machine where one is beside this script, in PLACE,
or at the release's address, its checksum verified. Where there is none, it is built from this checkout.

  --prefix DIR     where to (default: ~/.local, so ~/.local/bin/hookctl)
  --from PLACE     a release's directory, its address (https://...), or one of its archives: nothing else is tried
  --key KEY        the public key that the release's checksums must be signed with; takes minisign
  --build          builds from this checkout, whatever there is
  --serve          the approval server as well: DIR/bin/hookctl-serve, for \`hookctl install --serve\`; builds both
  --no-register    only puts it there: Claude Code's settings are not touched
  -h, --help       this text

Afterwards, unless --no-register: \`hookctl install\` writes the hook entries, and a sample of a dangerous command (as
data: nothing is run) shows that it is denied. To undo: \`hookctl uninstall\`, then remove DIR/bin/hookctl.
On Linux the binary is static (musl) where rustup has that target, and otherwise built for this machine's own libc."
}

say() { printf '%s\n' "$*"; }
fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}
# quoted WORD: as it can be pasted into a shell.
quoted() {
    case $1 in
    *[!A-Za-z0-9_./:=@%+,-]*) ;;
    *)
        printf '%s' "$1"
        return
        ;;
    esac
    rest=$1
    printf "'"
    while :; do
        case $rest in
        *"'"*)
            printf "%s'\\\\''" "${rest%%"'"*}"
            rest=${rest#*"'"}
            ;;
        *) break ;;
        esac
    done
    printf "%s'" "$rest"
}
has() { command -v "$1" >/dev/null 2>&1; }

prefix=
from=
key=
build=no
register=yes
serve=no
option=
while [ $# -gt 0 ]; do
    case $1 in
    --prefix | --from | --key)
        option=$1
        [ $# -ge 2 ] || fail "$option needs a value"
        value=$2
        shift
        ;;
    --prefix=* | --from=* | --key=*)
        option=${1%%=*}
        value=${1#*=}
        ;;
    --build) build=yes ;;
    --serve)
        serve=yes
        build=yes
        ;;
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
    # A variable that is not set is no place: what else there is would be taken for it.
    case $option in
    '') continue ;;
    --prefix) prefix=$value ;;
    --from) from=$value ;;
    --key) key=$value ;;
    esac
    [ -n "$value" ] || fail "$option has nothing behind it"
    option=
done
[ -z "$from" ] || [ "$build" = no ] || fail "--from takes what is built, and --build and --serve build: say one"
[ -z "$key" ] || [ -n "$from" ] || fail "--key is said of a release: name it by --from"
# What root makes in a user's home, or writes into settings there, that user cannot change.
if { [ -z "$prefix" ] || [ "$register" = yes ]; } && [ -d "${HOME:-}" ] && [ ! -O "$HOME" ] && [ -O / ]; then
    fail "you are root, and HOME ($HOME) is another user's: run this as that user, or with --prefix /usr/local --no-register"
fi
if [ -z "$prefix" ]; then
    [ -n "${HOME:-}" ] || fail "HOME is not set: give --prefix DIR"
    prefix=$HOME/.local
fi
case $prefix in
/*) ;;
*) prefix=$(pwd)/$prefix ;;
esac
case $prefix in
?*/) prefix=${prefix%/} ;;
esac
bin=$prefix/bin

# Where this script lies. Piped into a shell it lies nowhere: what is in the directory that it happens to run in is
# nothing of a release then.
root=
case ${0##*/} in
install.sh)
    case $0 in
    */*) root=${0%/*} ;;
    *) root=. ;;
    esac
    # `/install.sh` lies in the root.
    root=$(CDPATH='' cd -- "${root:-/}" && pwd) || fail "cannot find my own directory"
    ;;
esac

# value_of KEY: what the checkout's Cargo.toml says of its package.
value_of() {
    while IFS= read -r line; do
        case $line in
        "$1 = \""*)
            line=${line#*\"}
            say "${line%%\"*}"
            return
            ;;
        esac
    done <"$root/Cargo.toml"
}
checkout=no
if [ -n "$root" ] && [ -f "$root/Cargo.toml" ] && [ "$(value_of name)" = hookctl ]; then
    checkout=yes
    repository=$(value_of repository)
    [ -n "$release" ] || [ -z "$repository" ] || release=$repository/releases/download/v$(value_of version)
fi

# The release's name of this machine; empty where a release has nothing for it.
system=$(uname -s)
machine=$(uname -m)
case $machine in
amd64) machine=x86_64 ;;
arm64) machine=aarch64 ;;
esac
case $system-$machine in
Linux-x86_64 | Linux-aarch64) platform=$machine-unknown-linux-musl ;;
Darwin-x86_64 | Darwin-aarch64) platform=$machine-apple-darwin ;;
*) platform= ;;
esac

new=
old_umask=$(umask)
# Beside the place that the program goes to, so that it gets there by a rename; for nobody else to write to.
make_directories() {
    [ -z "$new" ] || return 0
    mkdir -p "$bin" || fail "cannot make $bin"
    umask 077
    mkdir "$bin/.hookctl.new.$$" || fail "cannot write to $bin"
    new=$bin/.hookctl.new.$$
    umask "$old_umask"
}
# Here, for zsh takes one in a function for the function's own.
trap '[ -z "$new" ] || rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM

# install_program NAME BUILT: brought next to its place and renamed: an agent that starts it meanwhile finds the old one or the new one.
install_program() {
    [ -f "$2" ] || fail "there is no program $2"
    [ ! -d "$bin/$1" ] || fail "$bin/$1 is a directory"
    # Of what does not start, as half a file, nobody loses anything.
    was=
    [ ! -x "$bin/$1" ] || was=$("$bin/$1" --version 2>/dev/null </dev/null) || was=
    case $was in
    '') ;;
    "$1 "* | "hookctl "*) was=", which was $was" ;;
    *) fail "$bin/$1 is there and is no $1: move it away" ;;
    esac
    make_directories
    mkdir "$new/ready" || fail "cannot write to $bin"
    if has dd && has chmod; then
        # In one write: a file system that can then keeps it in few large pieces of memory, and each start has half the page faults.
        dd if="$2" of="$new/ready/$1" bs=16777216 2>/dev/null || fail "cannot write to $bin"
        chmod 755 "$new/ready/$1"
    else # as tar left it
        mv "$2" "$new/ready/$1" || fail "cannot write to $bin"
    fi
    version=$("$new/ready/$1" --version) || fail "the new binary does not start here: $bin keeps what it had"
    mv -f "$new/ready/$1" "$bin/$1" || fail "cannot write $bin/$1"
    rm -rf "$new/ready"
    [ "$was" != ", which was $version" ] || was=
    say "Installed $version: $bin/$1$was"
}

# Prints the checksum of a file.
sha256() {
    if has sha256sum; then
        sum=$(sha256sum <"$1") || return 1
    elif has shasum; then
        sum=$(shasum -a 256 <"$1") || return 1
    else
        fail "there is neither sha256sum nor shasum to verify the archive with"
    fi
    say "${sum%% *}"
}

# listed FILE: the name and the checksum, in $archive and $expected, of this machine's archive in a SHA256SUMS, or of
# the one called $wanted.
listed() {
    archive=
    return_mark=$(printf '\r')
    while IFS= read -r line || [ -n "$line" ]; do
        line=${line%"$return_mark"}
        name=${line#* }
        # A space, or a star: read as text, or as it is.
        name=${name#[ *]}
        name=${name#./}
        case ${wanted:-$name} in "$name") ;; *) continue ;; esac
        case $name in
        */*) continue ;;
        hookctl-*-"$platform".tar.gz) ;;
        *) continue ;;
        esac
        [ -z "$archive" ] || fail "$1 names $archive and $name: say which by --from ARCHIVE"
        archive=$name
        expected=${line%% *}
    done <"$1"
    [ -n "$archive" ]
}

# verify_list SHA256SUMS: by the key that was named, if one was.
verify_list() {
    [ -n "$key" ] || return 0
    has minisign || fail "minisign is missing, which verifies the signature of $1"
    signed=$(minisign -V -P "$key" -x "$1.minisig" -m "$1") ||
        fail "NOT SIGNED: $1 has no signature by the key $key. Nothing was installed."
    say "$signed"
}

# take_archive FILE: verified against $expected, unpacked, installed.
take_archive() {
    [ -r "$1" ] || fail "$1 cannot be read"
    has tar || fail "tar is missing, which unpacks $1"
    found=$(sha256 "$1") || fail "$1 cannot be read"
    if [ "$found" != "$expected" ]; then
        printf '%s\n' "install.sh: WRONG CHECKSUM: $1 is not the file that SHA256SUMS speaks of. Nothing was installed." \
            "  expected $expected" "  found    $found" >&2
        exit 1
    fi
    say "Checksum verified: ${1##*/}"
    make_directories
    name=${1##*/}
    name=${name%.tar.gz}
    # Only the program, wherever else an archive may want to write to.
    (cd "$new" && tar -xzof - "$name/hookctl") <"$1" || fail "$1 cannot be unpacked: its program could not be taken out"
    [ ! -h "$new/$name" ] && [ ! -h "$new/$name/hookctl" ] || fail "$1 holds a link in the place of the program"
    install_program hookctl "$new/$name/hookctl"
}

# fetch ADDRESS FILE
fetch() {
    check_address "$1"
    if has curl; then
        curl -fsSL --proto '=https,http' --proto-redir '=https' --connect-timeout 20 -o "$2" -- "$1"
    elif has wget; then
        wget -q -O "$2" -- "$1"
    else
        say "Neither curl nor wget is here to fetch with." >&2
        return 1
    fi
}

# check_address PLACE: nothing is fetched from elsewhere, nor is anything made for it.
check_address() {
    case $1 in
    https://* | http://127.0.0.1:* | http://localhost:*) ;;
    *) fail "$1: only https is taken" ;;
    esac
}

# take_from PLACE: says whether this machine's archive was there.
take_from() {
    place=$1
    wanted=
    case $place in
    *.tar.gz)
        wanted=${place##*/}
        case $place in
        */*) place=${place%/*} ;;
        *) place=. ;;
        esac
        ;;
    esac
    case $place in
    http://* | https://*)
        place=${place%/}
        check_address "$place"
        make_directories
        fetch "$place/SHA256SUMS" "$new/SHA256SUMS" || return 1
        [ -z "$key" ] || fetch "$place/SHA256SUMS.minisig" "$new/SHA256SUMS.minisig" || fail "$place has no signature"
        verify_list "$new/SHA256SUMS"
        listed "$new/SHA256SUMS" || return 1
        say "Fetching $place/$archive ..."
        fetch "$place/$archive" "$new/$archive" || fail "$place/$archive could not be fetched"
        take_archive "$new/$archive"
        return
        ;;
    esac
    [ -e "${place:-/}" ] || fail "$place is not there"
    [ -d "${place:-/}" ] || fail "$place is no release: name its directory, its address or its .tar.gz"
    place=$(CDPATH='' cd -- "${place:-/}" && pwd) || return 1
    if [ ! -f "$place/SHA256SUMS" ]; then
        for archive in "$place/hookctl-"*"-$platform.tar.gz"; do
            [ ! -f "$archive" ] || fail "$archive has no SHA256SUMS beside it to verify it with"
        done
        return 1
    fi
    verify_list "$place/SHA256SUMS"
    listed "$place/SHA256SUMS" || return 1
    [ -n "$wanted" ] || [ -f "$place/$archive" ] || return 1
    take_archive "$place/$archive"
}

# Takes what is built for this machine, or says that there is nothing.
take_built() {
    if [ -n "$from" ]; then
        [ -n "$platform" ] || fail "releases have no archive for $system on $machine"
        take_from "$from" || fail "$from has nothing for this machine ($platform)"
        return
    fi
    # An archive that was unpacked: the program lies beside this.
    if [ -n "$root" ] && [ "$checkout" = no ] && [ -f "$root/hookctl" ]; then
        install_copy
        return
    fi
    [ -n "$platform" ] || return 1
    [ -n "$root" ] && take_from "$root" && return
    [ -n "$release" ] || return 1
    take_from "$release" || {
        say "Nothing for this machine ($platform) could be had from $release."
        return 1
    }
}

# Of an unpacked archive, which keeps its own.
install_copy() {
    has dd && has chmod || fail "dd and chmod are needed to copy $root/hookctl"
    install_program hookctl "$root/hookctl"
}

build_it() {
    cd "$root"
    if ! has cargo; then
        if [ -x "${CARGO_HOME:-${HOME:-}/.cargo}/bin/cargo" ]; then
            PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
            export PATH
        else
            fail "cargo was not found. Get Rust from https://rustup.rs (or your system's packages), then run this again."
        fi
    fi
    rustc --version >/dev/null 2>&1 || fail "rustc does not start: \`rustc --version\` says why (with rustup: rustup default stable)"
    if ! has cc && ! has gcc; then
        fail "no C compiler was found, and linking needs one: install gcc (Debian: apt install gcc libc6-dev; macOS: xcode-select --install)."
    fi

    # Which binary: static on Linux if the target is there or can be fetched, else this machine's own.
    target=
    why="this machine's own target"
    if [ "$system" = Linux ]; then
        if [ -z "$platform" ]; then
            why="this machine's own target: no static build is known for $machine"
        elif ! has gcc; then
            why="this machine's own target: the static build needs gcc by that name"
        elif [ -d "$(rustc --print sysroot 2>/dev/null)/lib/rustlib/$platform/lib" ]; then
            target=$platform
            why="static, $platform"
        elif ! has rustup; then
            why="this machine's own target: $platform is not installed and there is no rustup to fetch it"
        elif rustup target add "$platform" >/dev/null 2>&1; then
            target=$platform
            why="static, $platform (fetched by rustup)"
        else
            why="this machine's own target: rustup could not fetch $platform"
        fi
    fi
    say "Building hookctl ($why) ..."

    hint="the build failed; its messages stand above"
    # A default target of the user's own configuration must not move the result elsewhere.
    host=$(rustc -vV | sed -n 's/^host: //p')
    # One after the other: what the server is built with is nothing of the hook's.
    built=$(sh packaging/build.sh "${target:-$host}") || fail "$hint"
    if [ "$serve" = yes ]; then
        # SQLite in it is C that wants the headers of the libc that it runs with.
        say "Building hookctl-serve (for this machine's own libc) ..."
        cargo build --profile serve --locked --target "$host" --features serve --bin hookctl-serve || fail "$hint"
    fi
    install_program hookctl "$built"
    [ "$serve" = no ] || install_program hookctl-serve "${built%/*/release/hookctl}/$host/serve/hookctl-serve"
}

if [ "$build" = yes ] || ! take_built; then
    [ "$checkout" = yes ] || fail "there is no release for $system on $machine here, and this is no checkout of hookctl to build it from"
    build_it
fi

case :${PATH:-}: in
*:"$bin":*) ;;
*) say "Note: $bin is not on your PATH. Add this to your shell's profile: export PATH=$(quoted "$bin"):\"\$PATH\"" ;;
esac
first=$(command -v hookctl 2>/dev/null) || first=
case $first in
'' | "$bin/hookctl") ;;
*) say "Note: \`hookctl\` is $first in your PATH, not this one." ;;
esac

if [ "$register" = no ]; then
    say "Nothing was registered. Next: $(quoted "$bin/hookctl") install"
    exit 0
fi

say
# Alone it shows what it would write for each agent that is here, and asks; nobody answers without a terminal.
if [ -t 0 ]; then set --; else set -- --agent claude; fi
say "\$ hookctl install${*:+ $*}"
"$bin/hookctl" install "$@" || fail "hookctl install failed; the binary is in place, so mend what it says and run: $(quoted "$bin/hookctl") install"

# The command below is text in an event; hookctl judges it and nobody runs it.
sample='{"session_id":"install-check","hook_event_name":"PreToolUse","cwd":"/","tool_name":"Bash","tool_input":{"command":"rm -rf /"},"tool_use_id":"install-check"}'
say
say "A dangerous event, as an agent would send it, and the answer:"
say "  $sample"
answer=$(printf '%s\n' "$sample" | "$bin/hookctl" hook --agent claude) || fail "hookctl hook failed (exit $?)"
say "  $answer"
case $answer in
*'"permissionDecision":"deny"'*) ;;
*) fail "this should have been denied: see $(quoted "$bin/hookctl") status" ;;
esac
# The program denies. Whether anybody asks it is another matter: a settings file may switch all hooks off.
if told=$("$bin/hookctl" status --offline 2>&1); then
    say "Denied: hookctl is on guard in every session that starts from now on."
else
    say "Denied, by the program. But this is what \`hookctl status\` says of your agents:"
    say
    say "$told"
    say
    fail "hookctl is in place and its entries are written, but it is NOT on guard yet. Mend what stands above (\`$(quoted "$bin/hookctl") doctor\` says how), then run: $(quoted "$bin/hookctl") status"
fi
