#!/usr/bin/env bash
# Makes tools/requirements*.lock again: the newest versions that pyproject.toml allows of
# what tools/setup.sh installs, for every platform, with the hashes of their files.
#   tools/lock.sh [PACKAGE...]     moves only these packages; without names, all
set -euo pipefail
cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place"
"$place/bin/pip" install --quiet --disable-pip-version-check uv

if [ $# -eq 0 ]; then
    moved=(--upgrade)
else
    moved=("${@/#/--upgrade-package=}")
fi

# lock FILE OPTION...
lock() {
    local file=$1
    shift
    "$place/bin/uv" pip compile --quiet --universal --python-version 3.11 \
        --generate-hashes --custom-compile-command tools/lock.sh "$@" "${moved[@]}" \
        pyproject.toml --output-file "$file"
}

lock tools/requirements.lock --extra flash --extra build
lock tools/requirements-dev.lock --extra dev --constraint tools/requirements.lock
lock tools/requirements-hexagon.lock --extra hexagon \
    --constraint tools/requirements.lock
lock tools/requirements-sweep.lock --extra sweep --constraint tools/requirements.lock
