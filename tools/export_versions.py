#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Export small programs by an older or newer ExecuTorch: its corpus.

    pip download --no-deps executorch==1.2.0 && unzip -d old executorch-1.2.0-*.whl
    PYTHONPATH=old:sdk tools/export_versions.py 1.2 --out tests/cases

The environment has the newest ExecuTorch with what it needs; the wheel comes first on
the path. That of 1.3 lacks its binding to CMSIS-NN: add the folder of it, library/
_cmsis_nn in a wheel of 1.4. Expected outputs of int8 are those of the dialect's
operators in Python, so they are exact; those of float32 are PyTorch's.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

warnings.filterwarnings("ignore")

import torch  # noqa: E402
from corpus.modules import Apply, Net  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.export import export  # noqa: E402

from ember.export import cases  # noqa: E402

F = nn.functional
_KEPT = ("linear", "hardsigmoid", "hardsigmoid_", "hardswish", "hardswish_")
_FLOW = "executorch.backends.cortex_m"
_PASSES, _OPS = "passes.cortex_m_pass_manager", "ops.operators"
_SAMPLES = 4


def network() -> nn.Module:
    """Convolutions of all kinds, a pool and a linear layer."""

    def forward(m: Any, x: Tensor) -> Tensor:
        x = F.relu(m.mixed(F.relu(m.each(F.relu(m.first(x))))))
        return m.head(F.avg_pool2d(x, 5).flatten(1))

    return Net(
        forward,
        first=nn.Conv2d(3, 8, 3, 2, 1),
        each=nn.Conv2d(8, 8, 3, 1, 1, groups=8),
        mixed=nn.Conv2d(8, 12, 1),
        head=nn.Linear(12, 5),
    )


def wider() -> nn.Module:
    """Down by a pool, up by a transposed convolution."""
    turned = nn.ConvTranspose2d(4, 6, 2, 2)
    return Net(lambda m, x: m.turned(F.max_pool2d(x, 2)), turned=turned)


def layers() -> nn.Module:
    """All that has images, in both directions."""

    def forward(m: Any, x: Tensor) -> Tensor:
        x = F.relu(m.each(F.relu(m.first(x))))
        return m.turned(F.avg_pool2d(F.max_pool2d(x, 3, 2, 1), 2, 1))

    return Net(
        forward,
        first=nn.Conv2d(3, 8, 3, 2, 1),
        each=nn.Conv2d(8, 8, 3, 1, 1, groups=8),
        turned=nn.ConvTranspose2d(8, 6, 2, 2),
    )


def means(x: Tensor) -> Tensor:
    """Windows that hang over the end of the image."""
    return F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False)


def residual() -> nn.Module:
    sides = {"one": nn.Conv2d(4, 6, 3, 1, 1), "other": nn.Conv2d(4, 6, 1)}
    return Net(lambda m, x: F.relu(m.one(x) + m.other(x)), **sides)


def bounds(a: Tensor, b: Tensor) -> Tensor:
    return torch.maximum(torch.minimum(a, b), a * b)


def gates() -> nn.Module:
    pair = {"gate": nn.Linear(9, 5), "value": nn.Linear(9, 5)}
    return Net(lambda m, x: torch.sigmoid(m.gate(x)) * torch.tanh(m.value(x)), **pair)


# ---- float32 -------------------------------------------------------------------------


def norms() -> nn.Module:
    return Net(
        lambda m, x: torch.log_softmax(F.gelu(m.layer(m.norm(x))), -1),
        norm=nn.LayerNorm(12),
        layer=nn.Linear(12, 7),
    )


def photo() -> nn.Module:
    def forward(m: Any, x: Tensor) -> Tensor:
        x = F.max_pool2d(F.relu(m.norm(m.conv(x))), 2, 2)
        return m.head(F.adaptive_avg_pool2d(x, 1).flatten(1))

    conv, norm = nn.Conv2d(3, 6, 3, 2, 1), nn.BatchNorm2d(6)
    return Net(forward, conv=conv, norm=norm, head=nn.Linear(6, 4))


def attention() -> nn.Module:
    def forward(m: Any, x: Tensor) -> Tensor:
        q, k, v = m.all(x).chunk(3, -1)
        return m.out(F.scaled_dot_product_attention(q, k, v))

    return Net(forward, all=nn.Linear(8, 24), out=nn.Linear(8, 8))


def memory() -> nn.Module:
    """Keeps a sum from call to call."""

    def forward(m: Any, x: Tensor) -> Tensor:
        m.sum.add_(x)
        return m.sum * 2

    return Net(forward, sum=torch.zeros(2, 3))


def views(a: Tensor, b: Tensor) -> Tensor:
    x = torch.cat((a.permute(1, 0), b[:, 1:4]), 1)
    return torch.stack((x, x.flip(0)))[..., ::2].reshape(2, -1)


def sums(x: Tensor) -> tuple[Tensor, ...]:
    return x.sum(0), x.mean((0, 1)), x.amax(1), x.argmax(-1), x.var(1)


def words() -> nn.Module:
    def forward(m: Any, ids: Tensor) -> Tensor:
        x = m.table(ids)
        chosen = torch.where((ids % 3 == 0).unsqueeze(-1), x, -x)
        return chosen.gather(1, ids.unsqueeze(-1) % 4)

    return Net(forward, table=nn.Embedding(11, 6))


def steps() -> nn.Module:
    cell = nn.GRU(5, 7, batch_first=True)
    return Net(
        lambda m, x: m.head(m.cell(x)[0][:, -1]), cell=cell, head=nn.Linear(7, 2)
    )


def image(*sizes: int) -> Callable[[], Tensor]:
    return lambda: torch.randn(sizes).contiguous(memory_format=torch.channels_last)


def plain(*sizes: int) -> Callable[[], Tensor]:
    return lambda: torch.randn(sizes)


def of(function: Callable[..., Any]) -> Callable[[], nn.Module]:
    return lambda: Apply(function)


Inputs = tuple[Callable[[], Tensor], ...]
PAIR: Inputs = (plain(3, 37), plain(3, 37))
# First version that lowers it by the Cortex-M flow, module, inputs.
PROGRAMS: dict[str, tuple[tuple[int, int], Callable[[], nn.Module], Inputs]] = {
    "sum": ((1, 0), of(torch.add), (plain(3, 7), plain(3, 7))),
    "pair": ((1, 1), of(lambda a, b: (a + b) * b), (plain(2, 21), plain(2, 21))),
    "network": ((1, 2), network, (image(1, 3, 10, 10),)),
    "wider": ((1, 2), wider, (image(1, 4, 6, 8),)),
    "product": ((1, 2), of(torch.bmm), (plain(2, 3, 5), plain(2, 5, 4))),
    "difference": ((1, 5), of(torch.sub), PAIR),
    "means": ((1, 5), of(means), (image(1, 5, 8, 6),)),
    "quotient": ((1, 5), of(lambda a, b: a / (b.abs() + 0.25)), PAIR),
    "ratio": ((1, 5), of(torch.div), PAIR),
    "layers": ((1, 5), layers, (plain(1, 3, 11, 14),)),
    "residual": ((1, 2), residual, (image(1, 4, 7, 6),)),
    "odds": ((1, 2), of(lambda x: torch.softmax(x, -1)), (plain(3, 11),)),
    "bounds": ((1, 2), of(bounds), (plain(4, 9), plain(4, 9))),
    "gates": ((1, 2), gates, (plain(2, 9),)),
}
# In float32, by the portable operators; by XNNPACK, too, where a name says so.
_FLOATS: dict[str, tuple[Callable[[], nn.Module], Inputs]] = {
    "norms": (norms, (plain(3, 12),)),
    "photo": (photo, (plain(2, 3, 12, 10),)),
    "attention": (attention, (plain(1, 5, 8),)),
    "memory": (memory, (plain(2, 3),)),
    "views": (of(views), (plain(4, 3), plain(3, 6))),
    "sums": (of(sums), (plain(3, 4, 5),)),
    "words": (words, (lambda: torch.randint(0, 11, (2, 5)),)),
    "steps": (steps, (plain(1, 2, 5),)),
    "bounded": (norms, (plain(3, 12),)),
    "xnnpack_norms": (norms, (plain(3, 12),)),
    "xnnpack_photo": (photo, (plain(2, 3, 12, 10),)),
    "xnnpack_attention": (attention, (plain(1, 5, 8),)),
    "xnnpack_steps": (steps, (plain(1, 4, 5),)),
}
PROGRAMS |= {name: ((1, 0), *rest) for name, rest in _FLOATS.items()}
_EXPLICIT = {"layers"}  # with use_explicit_layout
_INT16 = {"ratio"}


def tolerate() -> None:
    """Make what these versions name, and PyTorch no longer has."""
    library = torch.library.Library("aten", "FRAGMENT")
    library.define("transpose.Dimname(Tensor self) -> Tensor")
    globals()["_kept"] = library  # it is undefined when the library goes


def quantizer(version: tuple[int, int], name: str) -> Any:
    if name in _EXPLICIT | _INT16:
        options: dict[str, Any] = {"use_explicit_layout": name in _EXPLICIT}
        if name in _INT16:
            path = f"{_FLOW}.quantizer.quantization_configs"
            config = importlib.import_module(path).INT16_PER_TENSOR_CONFIG
            options["per_tensor_config"] = config
        module = importlib.import_module(f"{_FLOW}.quantizer.quantizer")
        return module.CortexMQuantizer(**options)
    if version < (1, 1):
        helpers = importlib.import_module(f"{_FLOW}.test.test_helpers_passes_utils")
        return helpers.AddQuantizer()
    return importlib.import_module(f"{_FLOW}.quantizer.quantizer").CortexMQuantizer()


def lowered(
    name: str, model: nn.Module, samples: list[Any], version: tuple[int, int]
) -> Any:
    from executorch import exir
    from torchao.quantization.pt2e import quantize_pt2e as pt2e

    passes = importlib.import_module(f"{_FLOW}.{_PASSES if version > (1, 0) else _OPS}")
    graph = export(model, samples[0]).module(check_guards=False)
    graph = pt2e.prepare_pt2e(graph, quantizer(version, name))
    for sample in samples:
        graph(*sample)
    graph = pt2e.convert_pt2e(graph)
    exported = export(graph, samples[0])
    aten = torch.ops.aten
    options: dict[str, Any] = {"_check_ir_validity": False}
    if version >= (1, 1):
        options["preserve_ops"] = [getattr(aten, name).default for name in _KEPT]
    if version >= (1, 2):
        options["_core_aten_ops_exception_list"] = [aten.max_pool2d.default]
    edge = exir.to_edge(exported, compile_config=exir.EdgeCompileConfig(**options))
    if version < (1, 1):
        path = f"{_FLOW}.passes"
        fuse = importlib.import_module(f"{path}.quantized_op_fusion_pass")
        turn = importlib.import_module(f"{path}.replace_quant_nodes_pass")
        return edge.transform(
            [fuse.QuantizedOpFusionPass(), turn.ReplaceQuantNodesPass()]
        )
    layout = {"use_explicit_layout": True} if name in _EXPLICIT else {}
    manager = passes.CortexMPassManager(edge.exported_program(), **layout)
    edge._edge_programs["forward"] = manager.transform()
    return edge


def float_lowered(name: str, model: nn.Module, sample: tuple[Any, ...]) -> Any:
    from executorch import exir

    most = torch.export.Dim("rows", min=1, max=8)
    shapes = (({0: most},),) if name == "bounded" else None
    exported = export(model, sample, dynamic_shapes=shapes)
    if not name.startswith("xnnpack"):
        return exir.to_edge(exported)
    path = "executorch.backends.xnnpack.partition.xnnpack_partitioner"
    partitioner = importlib.import_module(path).XnnpackPartitioner()
    return exir.to_edge_transform_and_lower(exported, partitioner=[partitioner])


def bundled(name: str, version: tuple[int, int]) -> bytes:
    _, factory, recipes = PROGRAMS[name]
    torch.manual_seed(zlib.crc32(name.encode()))
    model = factory().eval()
    samples = [tuple(recipe() for recipe in recipes) for _ in range(_SAMPLES)]
    if name in _FLOATS:
        content = bytes(float_lowered(name, model, samples[0]).to_executorch().buffer)
        return bundle(content, samples[-1:], model)
    if name not in _EXPLICIT and any(x.dim() == 4 for x in samples[0]):
        model = model.to(memory_format=torch.channels_last)
    edge = lowered(name, model, samples, version)
    reference = edge.exported_program().module()
    content = bytes(edge.to_executorch().buffer)
    return bundle(content, samples[-2:], reference)


def bundle(content: bytes, runs: list[Any], reference: Callable[..., Any]) -> bytes:
    lowering = SimpleNamespace(content=content, taken=lambda sample: sample)
    with torch.no_grad():
        outputs = [reference(*each) for each in runs]
    return cases.bundled(lowering, runs, outputs)  # type: ignore[arg-type]


def written_before(folder: Path, name: str, content: bytes) -> Path | None:
    """The file of a version that wrote the same bytes, which are kept once."""
    paths = sorted(folder.glob(f"executorch_*_{name}.bpte"))
    return next((path for path in paths if path.read_bytes() == content), None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", help="of the ExecuTorch on the path, such as 1.2")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    major, minor = map(int, options.version.split(".")[:2])
    version = (major, minor)
    if (1, 1) <= version < (1, 4):
        tolerate()
    failed = 0
    for name, (first, _, _) in PROGRAMS.items():
        if version < first:
            continue
        case = f"executorch_{major}_{minor}_{name}"
        try:
            content = bundled(name, version)
        except Exception as error:  # the exporter raises whatever it likes
            failed += 1
            what = f"{type(error).__name__}: {str(error)[:300]}"
            print(f"{case}: FAILED: {what}", flush=True)
            continue
        earlier = written_before(options.out, name, content)
        if earlier is None:
            (options.out / f"{case}.bpte").write_bytes(content)
        said = f"as {earlier.stem}" if earlier else f"{len(content):,} bytes"
        print(f"{case}: {said}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
