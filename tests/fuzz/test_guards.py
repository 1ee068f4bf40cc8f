"""Kernels between guards: what `run` uses beside what it was given is seen."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from ember import kernels

pytestmark = [pytest.mark.slow, pytest.mark.broad]
FUZZ = Path(__file__).parent
CONFORMANCE = FUZZ.parent / "conformance"

# Takes the place of a kernel: the sum of what it was given, and of a byte that it was
# not where WRONG says so.
WRONG = """
#include "ember/node.h"
typedef struct state {{
    uint8_t *x, *y, *scratch;
    size_t bytes;
}} state_t;
static ember_status_t prepare(ember_node_t *node, void *state) {{
    state_t *s = state;
    ember_tensor_t x, y;
    ember_node_tensor(node, 0, &x);
    ember_node_output_like(node, 1, &x, &y);
    *s = (state_t){{x.data, y.data, ember_node_scratch(node, 24), 0}};
    s->bytes = ember_tensor_bytes(&x);
    return ember_node_status(node) != EMBER_OK ? ember_node_status(node)
           : x.dtype != y.dtype || s->x == NULL ? EMBER_UNSUPPORTED : EMBER_OK;
}}
static int32_t run(void *state) {{
    state_t *s = state;
    volatile uint8_t *x = s->x, *y = s->y, *scratch = s->scratch, *own = state;
    for (size_t i = 0; i < s->bytes; i++) {{ y[i] = x[i]; }}
    for (size_t i = 0; i < 24; i++) {{ scratch[i] = 0; }}
    {statement};
    (void)own;
    return EMBER_OK;
}}
EMBER_KERNEL(abs, state_t);
"""
STATEMENTS = {
    "nothing": "",
    "reads behind": "y[0] = x[s->bytes]",
    "reads before": "y[0] = x[-1]",
    "reads far behind": "y[0] = x[s->bytes + 70000]",
    "writes behind": "y[s->bytes] = 1",
    "writes before": "y[-1] = 1",
    "scratch": "scratch[24] = 1",
    "state": "own[sizeof(state_t)] = 1",
}


def fuzz(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, FUZZ / "run.py", "--guards", *words]
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("what", STATEMENTS)
def test_what_a_kernel_was_not_given_is_seen(tmp_path: Path, what: str) -> None:
    source = tmp_path / "abs.c"
    source.write_text(WRONG.format(statement=STATEMENTS[what]))
    words = ["--own", source, "--pattern", "aten::abs.out #", "--mutations", "300"]
    done = fuzz(*words, "--jobs", "1", "--folder", tmp_path)
    assert (done.returncode == 0) == (what == "nothing"), done.stdout + done.stderr
    if what == "nothing":
        assert calls_of(done) > 20
    else:
        assert "AddressSanitizer" in done.stdout
        assert "in run" in done.stdout


def calls_of(done: subprocess.CompletedProcess[str]) -> int:
    match = re.search(r"(\d+) calls of \d+ kernels between guards", done.stdout)
    assert match, done.stdout
    return int(match[1])


# No seed of the fuzzer has arguments that these take; the plan makes rows and scratch.
SELDOM = {"rows", "rows_enter", "scratch"}
SELDOM |= {"adaptive_avg_pool2d_backward", "unbind_copy_strided"}
# Models of instruction sets: their kernels come before the portable ones.
SETS: dict[str, Sequence[str]] = {
    "portable": (),
    "dsp": ("fpu", "dsp"),
    "helium": ("mve",),
    "advanced simd": ("neon",),
    "hvx": ("hvx",),
}


def words_of(kind: str, tmp_path: Path) -> list[str | Path]:
    words: list[str | Path] = []
    for name in SETS[kind]:
        words += ["--isa", name]
    return [*words, "--cases", CONFORMANCE, "--folder", tmp_path, "--variants", "4"]


def ran(done: subprocess.CompletedProcess[str]) -> set[str]:
    """Kernels that ran with all that they use between guards."""
    assert done.returncode == 0, done.stdout + done.stderr
    return set(re.findall(r"^KERNEL (\w+) [1-9]", done.stdout, re.M))


@pytest.mark.parametrize("kind", SETS)
def test_kernels_use_what_they_were_given(kind: str, tmp_path: Path) -> None:
    """In all conformance cases, and in random calls of every operator."""
    words = words_of(kind, tmp_path)
    names = ran(fuzz(*words, "--seeds"))
    listed = kernels.load().all(SETS[kind])
    own = {name for found in listed.values() for name in found if of_set(name, kind)}
    assert own <= names | SELDOM, own - names
    done = fuzz(*words, "--mutations", "40000")
    assert done.returncode == 0, done.stdout + done.stderr
    assert calls_of(done) > 10_000


def of_set(name: str, kind: str) -> bool:
    return name.endswith(tuple(f"_{isa}" for isa in SETS[kind]))


def test_every_kernel_runs_between_guards(tmp_path: Path) -> None:
    """Also those that seldom get a call: each is tried first once."""
    words = words_of("portable", tmp_path)
    listed = kernels.load().all([])
    names: set[str] = set()
    for turn in range(max(map(len, listed.values()))):
        names |= ran(fuzz(*words, "--rotate", str(turn), "--seeds"))
    missed = {name for found in listed.values() for name in found} - names
    assert missed <= SELDOM, missed - SELDOM


@pytest.mark.long
@pytest.mark.parametrize("kind", SETS)
def test_a_million_random_calls_use_what_they_were_given(
    kind: str, tmp_path: Path
) -> None:
    calls = 0
    for turn in range(3):
        words = [*words_of(kind, tmp_path), "--rotate", str(turn)]
        done = fuzz(*words, "--mutations", "1000000")
        assert done.returncode == 0, done.stdout + done.stderr
        calls += calls_of(done)
    assert calls >= 1_000_000
