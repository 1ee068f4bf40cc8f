"""Firmware that loads its methods becomes the bytes that `--prepared` would save.

It is tried: built as `ember build --prepared` does, and linked. What was found is kept
with the build folder's key.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

from ember import kept
from ember.errors import SdkError
from ember.firmware import folder as build_folder
from ember.firmware import jobs
from ember.firmware.folder import Built
from ember.program import Tensor

_POINTER_BYTES = 4
_MOST = 300  # instructions of the methods: more of them take too long to try

Saved = dict[str, int]  # bytes by memory; negative: it takes more


def saved(built: Built) -> Saved:
    """Nothing where something speaks against it: it is prepared already, or cannot be,
    or takes as much."""
    if not _is_possible(built):
        return {}
    key = build_folder.held(built.folder) or ""
    less: Saved = kept.kept(f"--prepared of {built.folder}", key, lambda: _try(built))
    return less


def text(less: Saved) -> str:
    sizes = [
        f"{abs(size):,} bytes {'less' if size > 0 else 'more'} of {name}"
        for name, size in less.items()
    ]
    return f"--prepared: {', '.join(sizes)}, no loading"


def _is_possible(built: Built) -> bool:
    """As far as can be said without trying."""
    board, methods = built.board, list(itertools.chain(*built.all_methods))
    return (
        not built.options.prepared
        and board.pointer_bytes == _POINTER_BYTES
        and board.port != "host"
        and sum(len(method.instructions) for method in methods) <= _MOST
        and all(_has_tensors(method.values, method.inputs) for method in methods)
        and all(_has_tensors(method.values, method.outputs) for method in methods)
    )


def _has_tensors(values: tuple[object, ...], indices: tuple[int, ...]) -> bool:
    return all(isinstance(values[index], Tensor) for index in indices)


def _try(built: Built) -> Saved:
    from ember.firmware.pipeline import Pipeline  # what is kept needs no build

    options = replace(built.options, prepared=True)
    job = jobs.make(built.models, built.board, options, jobs.app_of(options.app))
    try:
        libs = jobs.libraries_of(job.board, options)
        after = Pipeline(job).linked(libs)
    except SdkError:  # a kernel that cannot be, or an application that loads by itself
        return {}
    used = {memory.memory: memory.used for memory in after.memories}
    less = {
        memory["name"]: memory["used"] - used.get(memory["name"], 0)
        for memory in built.sizes["memory"]
    }
    changed = {name: size for name, size in less.items() if size}
    return changed if after.fits and sum(changed.values()) > 0 else {}
