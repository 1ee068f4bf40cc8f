"""Operators of language models give what NumPy gives, for odd sizes, and refuse calls
that would leave the cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ember import boards, cases, kernels
from ember.cases import one_call
from ember.files.tensors import Array
from ember.run import testing
from ember.select import resolve

KNOWN = kernels.load()
RANDOM = np.random.default_rng(1)


def real(*sizes: int) -> Array:
    return RANDOM.standard_normal(sizes, dtype=np.float32)


def write(folder: Path, name: str, arguments: list[Any], results: list[Array]) -> None:
    op = f"llama::{name}.out"
    schema = KNOWN.operators[op].schema
    one_call.write(folder, op, schema, arguments, results, rtol=1e-4, atol=1e-5)


def passes(folder: Path) -> None:
    (outcome,) = testing.test(cases.find([folder]), [boards.load("host")], jobs=1)
    assert outcome.status == "passed", outcome.message


def refused(folder: Path) -> str:
    content = (folder / "model.pte").read_bytes()
    (method,) = resolve.resolve(content, (), boards.load("host"), [0]).methods
    (gap,) = method.calls
    assert gap.is_gap
    return gap.message


# ---- attention -----------------------------------------------------------------------


def attention(
    q: Array, k: Array, v: Array, start: int, mask: Array | None, causal: bool
) -> Array:
    tokens, keys = q.shape[1], k.shape[1]
    shared = q.shape[2] // k.shape[2]
    k, v = (np.repeat(heads, shared, axis=2) for heads in (k, v))
    weights = np.einsum("bthd,bkhd->bhtk", q, k) / np.sqrt(np.float32(q.shape[3]))
    at = np.arange(keys)
    ends = start + (np.arange(tokens)[:, None] + 1 if causal else tokens)
    weights += np.where(at < ends, 0, -np.inf) if mask is None else mask
    weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    result: Array = np.einsum("bhtk,bkhd->bthd", weights, v).astype(np.float32)
    return result


def call(q: Array, k: Array, start: int, mask: Array | None, causal: bool) -> list[Any]:
    return [q, k, k * 2, start, mask, 0.0, causal, None]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("tokens", "heads", "groups", "depth", "start"),
    [(1, 1, 1, 1, 0), (3, 4, 2, 7, 2), (5, 3, 1, 8, 1), (6, 2, 2, 3, 0)],
)
def test_attention_to_a_cache(
    tmp_path: Path,
    tokens: int,
    heads: int,
    groups: int,
    depth: int,
    start: int,
    causal: bool,
) -> None:
    q, k = real(2, tokens, heads, depth), real(2, 6, groups, depth)
    wanted = attention(q, k, k * 2, start, None, causal)
    write(tmp_path, "custom_sdpa", call(q, k, start, None, causal), [wanted])
    passes(tmp_path)


def test_a_mask_covers_the_whole_cache(tmp_path: Path) -> None:
    q, k, mask = real(1, 3, 2, 4), real(1, 6, 2, 4), real(3, 6)
    mask[0, 2:] = -np.inf
    mask[1] = -np.inf  # nothing is left to look at
    with np.errstate(invalid="ignore"):
        wanted = attention(q, k, k * 2, 0, mask, causal=False)
    assert np.isnan(wanted[0, 1]).all()
    write(tmp_path, "custom_sdpa", call(q, k, 5, mask, False), [wanted])
    passes(tmp_path)


@pytest.mark.parametrize(
    ("heads", "depth", "start", "mask", "causal", "said"),
    [
        (2, 4, 4, None, True, "outside of the cache"),
        (2, 4, -1, None, True, "out of range"),
        (3, 4, 0, None, True, "sizes do not fit"),
        (2, 5, 0, None, True, "sizes do not fit"),
        (2, 4, 0, (3, 6), True, "mask does not fit"),
        (2, 4, 0, (3, 5), False, "mask does not fit"),
        (2, 4, 0, (2, 6), False, "mask does not fit"),
    ],
)
def test_attention_is_refused(
    tmp_path: Path,
    heads: int,
    depth: int,
    start: int,
    mask: tuple[int, ...] | None,
    causal: bool,
    said: str,
) -> None:
    q, k = real(1, 3, heads, depth), real(1, 6, 2, 4)
    given = call(q, k, start, None if mask is None else real(*mask), causal)
    write(tmp_path, "custom_sdpa", given, [q])
    assert said in refused(tmp_path)


# ---- caches --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "start", "said"),
    [
        ((1, 2, 2, 3), 5, "outside of the cache"),
        ((1, 2, 2, 3), -1, "out of range"),
        ((1, 7, 2, 3), 0, "outside of the cache"),
        ((2, 2, 2, 3), 0, "sizes do not fit"),
        ((1, 2, 3, 2), 0, "sizes do not fit"),
    ],
)
def test_tokens_stay_in_the_cache(
    tmp_path: Path, value: tuple[int, ...], start: int, said: str
) -> None:
    given = [real(*value), real(1, 6, 2, 3), start]
    write(tmp_path, "update_cache", given, [np.zeros(1, np.float32)])
    assert said in refused(tmp_path)


# ---- linear attention ----------------------------------------------------------------


def delta_rule(
    query: Array, key: Array, value: Array, decay: Array, beta: Array, initial: Array
) -> tuple[Array, Array]:
    state, shared = initial.copy(), query.shape[1] // key.shape[1]
    y = np.zeros((*query.shape[:3], value.shape[3]), np.float32)
    for t in range(query.shape[2]):
        by = decay[:, :, t]
        state *= by[..., None] if decay.ndim == 4 else by[..., None, None]
        change = value[:, :, t] - np.einsum("bhk,bhkv->bhv", key[:, :, t], state)
        change *= beta[:, :, t, None]
        state += key[:, :, t, :, None] * change[:, :, None]
        seen = np.repeat(state, shared, axis=1)
        y[:, :, t] = np.einsum("bhk,bhkv->bhv", query[:, :, t], seen)
    return y, state


def rule(
    queries: int, tokens: int, rows: int, columns: int, scalar: bool
) -> list[Array]:
    sizes = (2, 3, tokens)
    return [
        *(real(2, 3 * queries, tokens, rows), real(*sizes, rows)),
        *(real(*sizes, columns), RANDOM.random(sizes if scalar else (*sizes, rows))),
        *(RANDOM.random(sizes), real(2, 3, rows, columns)),
    ]


@pytest.mark.parametrize("name", ["gated_delta_rule", "channelwise_gated_delta_rule"])
@pytest.mark.parametrize(
    ("queries", "tokens", "rows", "columns", "scalar"),
    [(1, 1, 1, 1, False), (2, 5, 3, 4, True), (1, 9, 5, 2, False), (3, 0, 2, 3, True)],
)
def test_a_state_takes_tokens(
    tmp_path: Path,
    name: str,
    queries: int,
    tokens: int,
    rows: int,
    columns: int,
    scalar: bool,
) -> None:
    given = [
        array.astype(np.float32)
        for array in rule(queries, tokens, rows, columns, scalar)
    ]
    query, key, value, decay, beta, initial = given
    wanted = delta_rule(query, key, value, decay, beta, initial)
    write(tmp_path, name, given, list(wanted))
    passes(tmp_path)


@pytest.mark.parametrize("wrong", range(6))
def test_a_state_of_other_sizes_is_refused(tmp_path: Path, wrong: int) -> None:
    given = [array.astype(np.float32) for array in rule(2, 3, 4, 5, False)]
    query, key, value, decay, beta, initial = given
    results = list(delta_rule(query, key, value, decay, beta, initial))
    given[wrong] = np.concatenate([given[wrong]] * 2)
    write(tmp_path, "gated_delta_rule", given, results)
    assert "do not fit" in refused(tmp_path) or "shape" in refused(tmp_path)
