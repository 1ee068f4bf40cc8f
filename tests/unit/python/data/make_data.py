"""Small models -> the .pte, .bpte and .ptd files beside this script.

Needs the extra `export`. The files are committed: tests that read them need no torch.
"""

# Modules of PyTorch are Any for mypy.
# mypy: allow-subclassing-any

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from executorch.devtools import BundledProgram
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.serialize import (
    serialize_from_bundled_program_to_flatbuffer,
)
from executorch.exir import (
    ExecutorchBackendConfig,
    ExecutorchProgramManager,
    to_edge,
)
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch import Tensor, nn
from torch.export import Dim, export

HERE = Path(__file__).parent


class Add(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return a + b


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x: Tensor) -> Tensor:
        return torch.softmax(self.layers(x), dim=-1)


class Conv(nn.Module):
    """Channels last, batch norm, cat and mean: lists and optional arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.conv(x).mean((2, 3)))
        return torch.cat([y, y * 2.0], dim=1)


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.tensor([3.0]))

    def forward(self, x: Tensor) -> Tensor:
        self.count.add_(1.0)
        return x + self.count


class Choose(nn.Module):
    def forward(self, x: Tensor, yes: Tensor) -> Tensor:
        return torch.cond(yes, lambda t: t + 1.0, lambda t: t * 2.0, (x,))


class Table(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        values, places = torch.topk(x, 2)
        return values.to(torch.float16), places


def without_places(data: bytes) -> bytes:
    """The same, as long, without the folders of the host."""
    for folder in (HERE.parents[3], sys.prefix):
        name = str(folder).encode()
        data = data.replace(name + b"/", b"/".ljust(len(name), b"x") + b"/")
    return data


def save(name: str, data: bytes) -> None:
    (HERE / name).write_bytes(data)
    print(f"{len(data):7} {name}")


def example(module: nn.Module) -> tuple[Tensor, ...]:
    torch.manual_seed(0)
    examples: dict[type[nn.Module], Callable[[], tuple[Tensor, ...]]] = {
        Add: lambda: (torch.randn(2, 3), torch.randn(2, 3)),
        Mlp: lambda: (torch.randn(2, 4),),
        Conv: lambda: (torch.randn(1, 2, 5, 5).to(memory_format=torch.channels_last),),
        Counter: lambda: (torch.randn(4),),
        Choose: lambda: (torch.randn(3), torch.tensor(True)),
        Table: lambda: (torch.randn(3, 5),),
    }
    return examples[type(module)]()


def converted(
    module: nn.Module, config: ExecutorchBackendConfig | None = None, **options: Any
) -> ExecutorchProgramManager:
    torch.manual_seed(0)
    exported = export(module.eval(), example(module), **options)
    return to_edge(exported).to_executorch(config or ExecutorchBackendConfig())


def mlp() -> Mlp:
    torch.manual_seed(1)
    return Mlp()


def conv() -> Conv:
    torch.manual_seed(2)
    return Conv()


def with_methods() -> bytes:
    programs = {
        "forward": export(mlp().eval(), example(Mlp())),
        "add": export(Add(), example(Add())),
    }
    return bytes(to_edge(programs).to_executorch().buffer)


def bundled() -> bytes:
    model = mlp().eval()
    cases = []
    for _ in range(2):
        x = torch.randn(2, 4)
        cases.append(MethodTestCase(inputs=[x], expected_outputs=[model(x)]))
    program = BundledProgram(converted(model), [MethodTestSuite("forward", cases)])
    return bytes(serialize_from_bundled_program_to_flatbuffer(program))


def delegated(*, inline: bool) -> bytes:
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import (
        XnnpackPartitioner,
    )
    from executorch.exir import to_edge_transform_and_lower

    lowered = to_edge_transform_and_lower(
        export(mlp().eval(), example(Mlp())), partitioner=[XnnpackPartitioner()]
    )
    config = ExecutorchBackendConfig(extract_delegate_segments=not inline)
    return bytes(lowered.to_executorch(config).buffer)


def main() -> int:
    torch.set_num_threads(1)
    save("add.pte", converted(Add()).buffer)
    save("mlp.pte", converted(mlp()).buffer)
    save("conv.pte", converted(conv()).buffer)
    save("choose.pte", converted(Choose()).buffer)
    save("table.pte", converted(Table()).buffer)
    save("methods.pte", with_methods())
    save("bundle.bpte", bundled())
    initial = InitializedMutableBufferPass(["count"])
    save(
        "counter.pte",
        converted(Counter(), ExecutorchBackendConfig(passes=[initial])).buffer,
    )
    traced = converted(mlp(), ExecutorchBackendConfig(emit_stacktrace=True)).buffer
    save("trace.pte", without_places(traced))
    aligned = ExecutorchBackendConfig(
        segment_alignment=256, constant_tensor_alignment=64
    )
    save("aligned.pte", converted(conv(), aligned).buffer)
    batch = {"x": {0: Dim("batch", min=1, max=6)}}
    save("dynamic.pte", converted(mlp(), dynamic_shapes=batch).buffer)
    external = converted(mlp(), ExecutorchBackendConfig(external_constants=True))
    save("external.pte", external.buffer)
    (name,) = external._tensor_data
    save("external.ptd", bytes(external._tensor_data[name]))
    save("delegate.pte", delegated(inline=False))
    save("delegate_inline.pte", delegated(inline=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
