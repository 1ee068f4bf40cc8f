# SPDX-License-Identifier: Apache-2.0
"""Graphs -> case folders, by the real exporter; kept in the cache by seed."""

from __future__ import annotations

import functools
import gc
import hashlib
import logging
import os
import shutil
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
warnings.filterwarnings("ignore")
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tools")]

import torch  # noqa: E402 - the paths and the log level must be set first
import torch._export.utils  # noqa: E402
from corpus.case import Exported, write_case  # noqa: E402
from corpus.exporting import eager_runs, lowered, program_files  # noqa: E402
from executorch.exir import memory  # noqa: E402
from generate import generated  # noqa: E402
from graph import Graph, Values  # noqa: E402
from torch.export import Dim, export  # noqa: E402

ATTEMPTS = 8


def start() -> None:
    """Make a process ready: quiet, one thread, and quicker at exporting."""
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    gc.freeze()
    gc.set_threshold(200_000, 50, 1000)
    # Two thirds of the exporter's time go into collecting the same operators, and into
    # annotations of nested functions, again and again.
    utils: Any = torch._export.utils
    name = "_collect_all_valid_cia_ops_for_namespace"
    setattr(utils, name, functools.cache(getattr(utils, name)))
    torch._ops.Callable = dict  # type: ignore[attr-defined]


def files(graph: Graph) -> Exported:
    """The program of a graph, and what eager PyTorch gives for each sample."""
    module = graph.module()
    samples = [tuple(sample) for sample in graph.samples]
    runs = eager_runs(module, samples)
    batch = Dim("batch", min=2, max=8)
    shapes = [{0: batch} if index in graph.batched else None for index in graph.inputs]
    dynamic = {"inputs": tuple(shapes)} if graph.batched else None
    program = lowered(export(module, samples[0], dynamic_shapes=dynamic))
    check(program, dynamic is not None, runs[0].outputs)
    content = program_files(program)
    content["graph.txt"] = graph.source().encode()
    return Exported(content, runs, graph.rtol, graph.atol)


def check(program: Any, dynamic: bool, outputs: Sequence[Any]) -> None:
    """Refuse a program that does not say what the module does."""
    edge = program.exported_program()
    nodes = {node.name: node for node in edge.graph.nodes}
    inputs = [nodes[name].meta["val"] for name in edge.graph_signature.user_inputs]
    # Lowering may make it a number, and still give the range of its symbol.
    sizes = [str(size) for one in inputs for size in one.shape]
    if dynamic and all(size.isdecimal() for size in sizes):
        raise ValueError("the exporter made the batch static")
    names = edge.graph_signature.user_outputs
    for name, value in zip(names, outputs, strict=True):
        # A number times a 0-d uint8 tensor becomes int64, for instance.
        if nodes[name].meta["val"].dtype != value.dtype:
            raise ValueError("the exporter changed the dtype of an output")
    if any(reads_strange_layout(node) for node in nodes.values()):
        raise ValueError("the exporter makes a view of channels_last without a copy")
    if any(depends_on_order(node) for node in nodes.values()):
        raise ValueError("a product of so many numbers depends on their order")


def depends_on_order(node: Any) -> bool:
    """Whether this is a product that overflows in one order and vanishes in another."""
    if "aten.prod" not in str(node.target):
        return False
    factors, product = node.args[0].meta["val"], node.meta["val"]
    many = factors.numel() > 100 * max(product.numel(), 1)
    return product.dtype.is_floating_point and bool(many)


def reads_strange_layout(node: Any) -> bool:
    """Whether this is a view, in order, of memory that holds another order.

    The exporter decomposes pixel_shuffle, stack and others into views, and says of all
    views that they are contiguous. It then drops those that copy nothing, so that what
    is channels_last is read as it lies in memory.
    """
    if node.target is not memory.view:
        return False
    viewed = node.args[0].meta["spec"]
    order = [d for d in viewed.dim_order if viewed.shape[d] != 1]
    return order != sorted(order)


def folder(cache: Path, seed: int) -> Path:
    return cache / FINGERPRINT / f"graph_{seed:06}"


def _fingerprint() -> str:
    """Changes with whatever changes the graphs."""
    names = "graph values builder picker generate elementwise reductions layers"
    digest = hashlib.sha256(torch.__version__.encode())
    for name in [*names.split(), "movement", "parts", "quantised"]:
        digest.update((HERE / f"{name}.py").read_bytes())
    return digest.hexdigest()[:12]


FINGERPRINT = _fingerprint()


def export_seed(cache: Path, seed: int) -> list[str]:
    """Write the case of a seed, if it is not there; why attempts were refused."""
    target = folder(cache, seed)
    if (target / "case.json").exists():
        return []
    refused = []
    for attempt in range(ATTEMPTS):
        graph, _ = program(seed, attempt)
        try:
            with torch.no_grad():
                content = files(graph)
        except Exception as bad:  # whatever the exporter does not take
            text = " ".join(f"{type(bad).__name__}: {bad}".split())
            refused.append(f"{seed}.{attempt}: {text}")
            continue
        unfinished = target.with_suffix(f".{os.getpid()}")
        write_case(content, unfinished)
        shutil.rmtree(target, ignore_errors=True)
        unfinished.rename(target)
        return refused
    return refused


def program(seed: int, attempt: int) -> tuple[Graph, list[Values]]:
    torch.manual_seed(seed)
    with torch.no_grad():
        return generated(seed, attempt)


def export_all(cache: Path, seeds: range, jobs: int) -> list[str]:
    """Export the graphs of all seeds; why some attempts were refused."""
    refused: list[str] = []
    with ProcessPoolExecutor(jobs, initializer=start) as pool:
        work = functools.partial(export_seed, cache)
        for done, found in enumerate(pool.map(work, seeds, chunksize=4), 1):
            refused += found
            if done % 100 == 0:
                print(f"exported {done} of {len(seeds)}", file=sys.stderr)
    return refused
