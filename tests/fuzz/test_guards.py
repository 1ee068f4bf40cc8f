"""Kernels between guards: what `run` uses beside what it was given is seen."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import committed_cases
import pytest

from ember import kernels
from ember.boards import isa

pytestmark = [pytest.mark.slow, pytest.mark.broad]
FUZZ = Path(__file__).parent

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
    words = ["--pattern", "aten::abs.out #", "--mutations", "300"]
    done = fuzz("--own", source, *words, "--jobs", "1", "--folder", tmp_path)
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
SELDOM = {"rows", "rows_dsp", "rows_enter", "rows_fed", "scratch"}
SELDOM |= {"adaptive_avg_pool2d_backward", "unbind_copy_strided"}
# Models of instruction sets: their kernels come before the portable ones.
SETS: dict[str, Sequence[str]] = {
    "portable": (),
    "dsp": ("fpu", "dsp"),
    "helium": ("mve",),
    "advanced simd": ("neon",),
    "hvx": ("hvx",),
}
# The same for kernels of XNNPACK's nodes.
NODES: dict[str, Sequence[str]] = {
    "portable": (),
    "advanced simd": ("neon",),
    "products of int8": ("neon", "dot"),
    "products of matrices": ("neon", "dot", "i8mm"),
    "products of float16": ("neon", "fhm"),
    "products of bfloat16": ("neon", "bf16mm"),
    "sme": ("neon", "dot", "i8mm", "fhm", "bf16mm", "sme"),
    "hvx": ("hvx",),
}


# The seeds' convolutions of this kind are small: portable C takes them.
SELDOM_NODES = {"xnnpack_conv_2d_qd8_qc8_hvx"}


def words_of(kind: str, tmp_path: Path) -> list[str | Path]:
    committed_cases.operators()
    words: list[str | Path] = ["--cases", committed_cases.BUILD, "--folder", tmp_path]
    return [*words, "--variants", "4", *_sets(SETS[kind])]


def nodes_of(kind: str, tmp_path: Path) -> list[str | Path]:
    words: list[str | Path] = ["--pattern", "xnnpack", "--folder", tmp_path]
    return [*words, *_sets(NODES[kind])]


def _sets(names: Sequence[str]) -> list[str]:
    return [word for name in names for word in ("--isa", name)]


def ran(done: subprocess.CompletedProcess[str]) -> set[str]:
    """Kernels that ran with all that they use between guards."""
    assert done.returncode == 0, done.stdout + done.stderr
    return set(re.findall(r"^KERNEL (\w+) [1-9]", done.stdout, re.M))


@pytest.mark.parametrize("kind", SETS)
def test_kernels_use_what_they_were_given(kind: str, tmp_path: Path) -> None:
    """In all cases of one call, and in random calls of every operator."""
    words = words_of(kind, tmp_path)
    names = ran(fuzz(*words, "--seeds"))
    listed = kernels.load().all(SETS[kind])
    every = {name for variants in listed.values() for name in variants}
    of_this_set = {name for name in every if of_set(name, kind)}
    assert of_this_set <= names | SELDOM, of_this_set - names
    done = fuzz(*words, "--mutations", "40000")
    assert done.returncode == 0, done.stdout + done.stderr
    assert calls_of(done) > 10_000


def of_set(name: str, kind: str) -> bool:
    return isa.of(name) in SETS[kind]


@pytest.mark.parametrize("kind", NODES)
def test_nodes_use_what_they_were_given(kind: str, tmp_path: Path) -> None:
    """Kernels of XNNPACK's nodes, each of them by itself."""
    words = nodes_of(kind, tmp_path)
    names = ran(fuzz(*words, "--seeds"))
    listed = kernels.load().backends["XnnpackBackend"].kernels
    last = NODES[kind][-1] if NODES[kind] else None
    of_this_set = {f"xnnpack_{name}" for name in listed if isa.of(name) == last}
    assert of_this_set
    assert of_this_set <= names | SELDOM_NODES, of_this_set - names
    done = fuzz(*words, "--mutations", "20000")
    assert done.returncode == 0, done.stdout + done.stderr
    assert calls_of(done) > 20_000


WRONG_NODE = """
#include "backends/xnnpack/graph/packing.h"
#include "backends/xnnpack/nodes/elements.h"
static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {{
    node->scratch = 24;
    return ember_xnn_unary_prepare(graph, node);
}}
static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {{
    volatile uint8_t *y = node->out[0]->data, *scratch = graph->work;
    const volatile uint8_t *x = node->in[0]->constant;
    const volatile uint32_t *params = node->params;
    for (uint32_t i = 0; i < node->out[0]->bytes; i++) {{ y[i] = x[i]; }}
    for (uint32_t i = 0; i < 24; i++) {{ scratch[i] = 0; }}
    {statement};
    (void)params;
}}
XNN_KERNEL(elu, NULL, ember_xnn_shape_same, XNN_KIND(ELU));
"""
NODE_STATEMENTS = {
    "nothing": "",
    "reads behind": "y[0] = x[node->in[0]->bytes]",
    "writes behind": "y[node->out[0]->bytes] = 1",
    "writes before": "y[-1] = 1",
    "scratch": "scratch[24] = 1",
    "parameters": "y[0] = (uint8_t)params[1]",
    "the graph": "y[0] = (uint8_t)graph->values[0].rank",
}


@pytest.mark.parametrize("what", NODE_STATEMENTS)
def test_what_a_node_was_not_given_is_seen(tmp_path: Path, what: str) -> None:
    source = tmp_path / "elu.c"
    source.write_text(WRONG_NODE.format(statement=NODE_STATEMENTS[what]))
    words = ["--pattern", " bent", "--seeds"]
    done = fuzz("--own", source, *words, "--folder", tmp_path)
    assert (done.returncode == 0) == (what == "nothing"), done.stdout + done.stderr
    if what == "nothing":
        assert "xnnpack_elu" in ran(done)
    else:
        assert re.search("Sanitizer|runtime error", done.stdout + done.stderr)


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


@pytest.mark.long
@pytest.mark.parametrize("kind", NODES)
def test_a_million_random_nodes_use_what_they_were_given(
    kind: str, tmp_path: Path
) -> None:
    done = fuzz(*nodes_of(kind, tmp_path), "--mutations", "650000")
    assert done.returncode == 0, done.stdout + done.stderr
    assert calls_of(done) >= 1_000_000
