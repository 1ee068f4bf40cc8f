#!/usr/bin/env bash
# Everything a change must pass. Runs every step, then names those that failed.
#   tools/check.sh fix           formats sources, and repairs what a tool can of lint
#   tools/check.sh [step...]     steps: format lint types tests coverage all_proofs fuzz
#                                sizes export_page; `proofs`: the quick form, for CI;
#                                `quick` is what `make quick` has in place of tests,
#                                `broad` what CI has besides `make test`
set -uo pipefail
cd "$(dirname "$0")/.."
[ -d .venv ] && PATH="$PWD/.venv/bin:$PATH"

sources() {
    git ls-files --cached --others --exclude-standard '*.c' '*.h' 2>/dev/null ||
        find backends examples kernels runtime_c tests tools -name '*.[ch]'
}

format() {
    sources | xargs clang-format-19 --dry-run --Werror &&
        ruff format --check --quiet sdk tests tools examples
}

fix() {
    sources | xargs clang-format-19 -i
    ruff check --quiet --fix-only sdk tests tools examples
    ruff format --quiet sdk tests tools examples
}

lint() {
    ruff check --quiet sdk tests tools examples
}

types() {
    mypy --no-error-summary
}

pytest() {
    python -m pytest -q -n $(($(nproc) + 1)) --dist loadfile --no-loadscope-reorder "$@"
}

tests() {
    pytest -m "not export" tests
}

broad() {
    pytest -m "broad and not export and not long" tests
}

# Without compilers of firmware and emulators.
quick() {
    pytest -m "not export and not broad and not long and not slow and not qemu" \
        tests/unit tests/ops tests/docs
}

# What C tests decide of the core; may only grow.
coverage() {
    tools/mcdc --least 100 100 | tail -2
}

# What is proved of the core: in CI up to short bounds, and up to all.
proofs() {
    tools/prove --quick
}

all_proofs() {
    tools/prove
}

fuzz() {
    python tests/fuzz/run.py --seconds 60
}

sizes() {
    python tools/bench core --check
    python tools/bench int8 --check
    python tools/bench cycles --check
}

export_page() {
    tools/check_export.sh
}

[ $# -gt 0 ] || set -- format lint types tests coverage all_proofs fuzz sizes export_page
failed=()
for step in "$@"; do
    echo "== $step"
    "$step" || failed+=("$step")
done
if [ ${#failed[@]} -gt 0 ]; then
    echo "check: failed: ${failed[*]} (again: tools/check.sh ${failed[*]})"
    exit 1
fi
echo "check: all passed"
