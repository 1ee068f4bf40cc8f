"""The C half: first fit, exhaustive search, memories; compiled at first use."""

from __future__ import annotations

import ctypes
import functools
import itertools
from collections.abc import Sequence
from pathlib import Path

from ember.errors import SdkError
from ember.plan.offsets.buffers import Buffer, Sections, padded
from ember.toolchain import host_library

_FOLDER = Path(__file__).parent
_FOUND, _IMPOSSIBLE, _NO_MEMORY = 1, 0, -2
_Bytes = ctypes.c_int64
_Index = ctypes.c_int32


class _Problem(ctypes.Structure):
    """ember_lives_t of conflicts.h."""

    _fields_ = (
        ("buffers", _Index),
        ("sections", _Index),
        ("size", ctypes.POINTER(_Bytes)),
        ("align", ctypes.POINTER(_Bytes)),
        ("run", ctypes.POINTER(_Index)),
        ("first", ctypes.POINTER(_Index)),
        ("end", ctypes.POINTER(_Index)),
    )


@functools.cache
def _library() -> ctypes.CDLL:
    sources = sorted(_FOLDER.glob("*.c"))
    headers = sorted(_FOLDER.glob("*.h"))
    library = ctypes.CDLL(str(host_library.build("offsets", sources, headers)))
    library.ember_offsets_search.argtypes = (
        *(ctypes.POINTER(_Problem), ctypes.POINTER(_Index)),
        *(_Bytes, _Bytes, ctypes.POINTER(_Bytes)),
    )
    library.ember_offsets_first_fit.argtypes = (
        *(ctypes.POINTER(_Problem), ctypes.POINTER(_Index)),
        *(ctypes.c_int, ctypes.POINTER(_Bytes)),
    )
    library.ember_offsets_spread.argtypes = (
        *(ctypes.POINTER(_Problem), ctypes.POINTER(_Index), _Index),
        *(ctypes.POINTER(_Bytes), ctypes.POINTER(_Bytes), _Bytes),
        ctypes.POINTER(_Index),
    )
    return library


def _indices(numbers: Sequence[int]) -> ctypes.Array[_Index]:
    return (_Index * (len(numbers) + 1))(*numbers)


def _bytes(numbers: Sequence[int]) -> ctypes.Array[_Bytes]:
    return (_Bytes * (len(numbers) + 1))(*numbers)


class Problem:
    """Buffers that all have a section, as the C code takes them."""

    def __init__(self, buffers: Sequence[Buffer], where: Sections) -> None:
        self.buffers = buffers
        self.where = where
        runs = [run for moments in where.of for run in moments.runs]
        counts = (len(moments.runs) for moments in where.of)
        self._c = _Problem(
            len(buffers),
            where.count,
            _bytes([padded(buffer) for buffer in buffers]),
            _bytes([buffer.align for buffer in buffers]),
            _indices([0, *itertools.accumulate(counts)]),
            _indices([first for first, _ in runs]),
            _indices([end for _, end in runs]),
        )

    def first_fit(self, order: Sequence[int], *, best: bool) -> list[int]:
        """Offsets, each buffer of `order` in the lowest (or smallest) gap."""
        offsets = _bytes([-1 if b.fixed is None else b.fixed for b in self.buffers])
        success = _library().ember_offsets_first_fit(
            ctypes.byref(self._c), _indices(order), best, offsets
        )
        if not success:
            raise SdkError("not enough host memory to place buffers")
        return list(offsets)[:-1]

    def search(self, capacity: int, most_steps: int) -> list[int] | bool:
        """Offsets below `capacity`; False: there are none; True: it gave up."""
        offsets = _bytes([0] * len(self.buffers))
        starts = [moments.runs[0][0] for moments in self.where.of]
        order = sorted(range(len(starts)), key=starts.__getitem__)
        result = _library().ember_offsets_search(
            ctypes.byref(self._c), _indices(order), capacity, most_steps, offsets
        )
        if result == _NO_MEMORY:
            raise SdkError("not enough host memory to place buffers")
        if result == _FOUND:
            return list(offsets)[:-1]
        return bool(result != _IMPOSSIBLE)

    def spread(
        self,
        order: Sequence[int],
        capacities: Sequence[int],
        costs: Sequence[Sequence[int | None]],
        steps: int,
    ) -> list[int]:
        """A memory for each buffer, by its cost there; None: it may not lie there.

        The last memory takes all that may lie there.
        """
        where = _indices([0] * len(self.buffers))
        cells = [-1 if cost is None else cost for row in costs for cost in row]
        status = _library().ember_offsets_spread(
            *(ctypes.byref(self._c), _indices(order), len(capacities)),
            *(_bytes(capacities), _bytes(cells), steps, where),
        )
        if status != _FOUND:
            raise SdkError("not enough host memory to place buffers")
        return list(where)[:-1]
