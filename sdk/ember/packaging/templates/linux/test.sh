#!/bin/sh
# Runs the program on the inputs in test/, and compares with the outputs there. The words
# of the command line come before it: sh test.sh qemu-aarch64 -cpu max
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$@" "${PROGRAM:-$here/bin/@NAME@}" "$here"/test/input*.bin || exit 1
for expected in "$here"/test/output*.bin; do
    cmp "$expected" "${expected##*/}" || exit 1
done
echo passed
