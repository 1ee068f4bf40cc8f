#!/usr/bin/env bash
# docs/export.md as a reader follows it, in a new virtual environment, then the quick
# tests marked `export` in that environment.
#   tools/check_export.sh [FOLDER]     where the environment goes; kept for the next time
set -euo pipefail
cd "$(dirname "$0")/.."
place=$(realpath -m "${1:-build/check-export}")
rm -rf "$place"
mkdir -p "$place"

python3 -m venv "$place/venv"
.venv/bin/python tools/follow.py docs/export.md \
    --python "$place/venv/bin/python" --keep "$place/checkout"

"$place/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    pytest pytest-xdist
"$place/venv/bin/python" -m pytest -n auto --dist loadfile \
    -m "export and not long and not slow" \
    tests/unit/python/test_export.py tests/unit/python/test_export_models.py \
    tests/unit/python/test_export_layouts.py tests/unit/python/test_export_xnnpack.py \
    tests/unit/python/test_operator_lists.py \
    tests/unit/python/test_debug_pytorch.py
