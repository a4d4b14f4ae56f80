#!/bin/sh
# Signs a release's SHA256SUMS, which speaks for every file beside it: packaging/sign.sh SHA256SUMS KEY
# What is signed with it tells the version, so that an older list is not taken for a newer one.
set -eu
[ $# = 2 ] || {
    echo "usage: packaging/sign.sh SHA256SUMS KEY" >&2
    exit 2
}
version=$(sed -n 's/^[0-9a-f]*  hookctl-\([0-9][^-]*\)-.*\.tar\.gz$/\1/p' "$1" | sort -u)
case $version in
'' | *[!0-9A-Za-z.+]*)
    echo "sign.sh: $1 is not of one version" >&2
    exit 1
    ;;
esac
minisign -S -s "$2" -m "$1" -t "hookctl $version"
