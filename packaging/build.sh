#!/bin/sh
# Builds the release binary: packaging/build.sh TARGET [CARGO OPTION...]; prints on stdout where it is.
# No path of this machine gets into it: it is the same, bit for bit, whatever directory and CARGO_HOME it is built in.
set -eu
[ $# -ge 1 ] || {
    echo "usage: packaging/build.sh TARGET [CARGO OPTION...]" >&2
    exit 2
}
target=$1
shift
cd "$(dirname -- "$0")/.."
root=$(pwd -P)
home=${CARGO_HOME:-$HOME/.cargo}
output=$(cargo metadata --locked --no-deps --format-version 1 | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
[ -n "$output" ] || output=${CARGO_TARGET_DIR:-$root/target}

# What it is built from has to lie there, for its directory to be known.
cargo fetch --quiet --locked --target "$target" >&2

# Options of cargo's configuration join those of .cargo/config.toml; RUSTFLAGS would take their place.
# rustc takes the last that fits: from the outer directories to the inner ones.
flags=
map() {
    flags="$flags${flags:+, }'--remap-path-prefix', '$1=$2'"
}
map "$root" .
map "$output" t
map "$home" c
for directory in "$home"/registry/src/*; do
    [ ! -d "$directory" ] || map "$directory" c
done

# TLS brings C code, which gcc compiles for musl as well.
case $target in
"$(uname -m)"-unknown-linux-musl)
    variable=CC_$(echo "$target" | tr - _)
    eval "export $variable=\"\${$variable:-gcc}\""
    ;;
esac
cargo build --release --locked --target "$target" --config "target.$target.rustflags = [$flags]" "$@" >&2
case $target in
*-windows-*) echo "$output/$target/release/hookctl.exe" ;;
*) echo "$output/$target/release/hookctl" ;;
esac
