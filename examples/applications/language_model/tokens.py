# SPDX-License-Identifier: Apache-2.0
"""Text <-> tokens: bytes, and pairs of tokens that are one (byte-pair encoding).

firmware/tokens.h has the same pairs, firmware/tokenizer.h the same rules. Needs NumPy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

BYTES, WORDS = 256, 512  # tokens that are a byte; all of them
LONGEST = 64  # bytes of a token, TOKEN_BYTES of firmware/tokenizer.h
Ids = NDArray[np.int64]
Pairs = Sequence[tuple[int, int]]  # token BYTES + i is pair i

_HEADER = """// SPDX-License-Identifier: Apache-2.0
// Pairs of tokens: token 256 + i is pair i. Written by train.py.
#ifndef TOKENS_H
#define TOKENS_H

#include <stdint.h>

enum {{ BYTES = 256, PAIRS = {count} }};

// clang-format off
static const uint16_t pairs[PAIRS][2] = {{
{rows}}};
// clang-format on

#endif // TOKENS_H
"""


def learn(text: str) -> list[tuple[int, int]]:
    """The pairs that are most frequent, one after the other."""
    ids = _bytes(text)
    pairs: list[tuple[int, int]] = []
    while BYTES + len(pairs) < WORDS:
        codes = ids[:-1] * WORDS + ids[1:]
        best = int(np.bincount(codes, minlength=WORDS * WORDS).argmax())
        pairs.append((best // WORDS, best % WORDS))
        ids = _joined(ids, pairs[-1], BYTES + len(pairs) - 1)
    return pairs


def encode(text: str, pairs: Pairs) -> Ids:
    ids = _bytes(text)
    for number, pair in enumerate(pairs):
        ids = _joined(ids, pair, BYTES + number)
    return ids


def decode(ids: Sequence[int], pairs: Pairs) -> bytes:
    return b"".join(_of_token(token, pairs) for token in ids)


def header(pairs: Pairs) -> str:
    """tokens.h."""
    rows = [
        "    " + " ".join(f"{{{a}, {b}}}," for a, b in pairs[at : at + 6]) + "\n"
        for at in range(0, len(pairs), 6)
    ]
    return _HEADER.format(count=len(pairs), rows="".join(rows))


def write(path: Path, pairs: Pairs) -> None:
    longest = max(len(decode([token], pairs)) for token in range(WORDS))
    if longest > LONGEST:
        raise SystemExit(f"a token has {longest} bytes, the firmware takes {LONGEST}")
    path.write_text(header(pairs), encoding="utf-8")


def read(path: Path) -> list[tuple[int, int]]:
    """The pairs in a tokens.h."""
    pairs = re.findall(r"\{(\d+), (\d+)\}", path.read_text(encoding="utf-8"))
    return [(int(first), int(second)) for first, second in pairs]


def _bytes(text: str) -> Ids:
    return np.frombuffer(text.encode(), np.uint8).astype(np.int64)


def _joined(ids: Ids, pair: tuple[int, int], token: int) -> Ids:
    """`token` for each `pair`, from left to right."""
    at = np.flatnonzero((ids[:-1] == pair[0]) & (ids[1:] == pair[1]))
    if pair[0] == pair[1]:
        at = _apart(at)
    ids = ids.copy()
    ids[at] = token
    return np.delete(ids, at + 1)


def _apart(at: Ids) -> Ids:
    """Of positions one after the other, every second."""
    taken, last = [], -2
    for position in at.tolist():
        if position > last + 1:
            taken.append(position)
            last = position
    return np.array(taken, np.int64)


def _of_token(token: int, pairs: Pairs) -> bytes:
    if token < BYTES:
        return bytes([token])
    first, second = pairs[token - BYTES]
    return _of_token(first, pairs) + _of_token(second, pairs)
