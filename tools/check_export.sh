#!/usr/bin/env bash
# The tests marked `export` with the newest and the oldest ExecuTorch that Ember supports.
#   tools/check_export.sh           docs/export.md as a reader follows it, in a new virtual
#                                   environment (build/check-export, kept afterwards), then
#                                   tests of the export with what that installed, and with
#                                   the oldest, which replaces it there
#   tools/check_export.sh PYTHON    all of these tests, with the PyTorch, ExecuTorch and
#                                   pytest-xdist that this Python has
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-}
unit=tests/unit/python

tests() { # which, and files or folders
    "$python" -c 'import executorch.version as v; print("executorch", v.__version__)'
    PYTHONPATH=$PWD/sdk "$python" -m pytest -q -n auto --dist load -m "$@"
}

if [ -n "$python" ]; then
    tests "export and not long" tests
    exit
fi

place=$PWD/build/check-export
python=$place/venv/bin/python
oldest=$(sed -n 's/^ *"executorch>=\([0-9.]*\),.*/\1/p' pyproject.toml)
rm -rf "$place"
mkdir -p "$place"
python3 -m venv "$place/venv"
.venv/bin/python tools/follow.py docs/export.md --python "$python" --keep "$place/checkout"
"$python" -m pip install --quiet --disable-pip-version-check pytest pytest-xdist

tests "export and not long" $unit/test_export*.py $unit/test_operator_lists.py \
    $unit/test_debug_pytorch.py $unit/test_etdump_inspector.py $unit/test_damage.py
"$python" -m pip install --quiet --disable-pip-version-check "executorch==$oldest"
tests "export and not long and not slow" $unit/test_export*.py \
    $unit/test_operator_lists.py $unit/test_debug_pytorch.py
tests "export" $unit/test_export_faults.py
