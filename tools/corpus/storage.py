# SPDX-License-Identifier: Apache-2.0
"""Programs that store or place their data in unusual ways."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from executorch.exir import ExecutorchBackendConfig
from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, naive
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch import Tensor, nn
from torch.export import export

from corpus.case import Case, Exported
from corpus.exporting import eager_runs, exported_module, lowered, program_files
from corpus.inputs import channels_last, f32, made, whole
from corpus.modules import Apply, Net
from corpus.networks import mlp
from corpus.state import counter_from


class Banks(MemoryPlanningPass):
    """Plans every other tensor into a second or third memory."""

    def __init__(self, banks: int) -> None:
        super().__init__()
        self.banks = banks

    def run(
        self, graph_module: torch.fx.GraphModule, graph_signature: Any = None
    ) -> Any:
        tensors = 0
        for node in graph_module.graph.nodes:
            for spec in _specs(node.meta.get("spec")):
                spec.mem_id = tensors % self.banks + 1
                tensors += 1
        return super().run(graph_module, graph_signature)


def _specs(tree: Any) -> list[Any]:
    specs = tree if isinstance(tree, list | tuple) else [tree]
    return [spec for spec in specs if spec is not None and not spec.const]


class Inside(MemoryPlanningPass):
    """Plans outputs of operators, the nth call of each, inside of others': a name and a
    number, those of the other, and an offset in bytes."""

    def __init__(self, *links: tuple[str, int, str, int, int]) -> None:
        super().__init__()
        self.links = links

    def run(
        self, graph_module: torch.fx.GraphModule, graph_signature: Any = None
    ) -> Any:
        calls = [n for n in graph_module.graph.nodes if n.op == "call_function"]
        for name, number, other, its, offset in self.links:
            inner, outer = (
                [c.meta["spec"] for c in calls if f"aten.{text}" in str(c.target)][at]
                for text, at in ((name, number), (other, its))
            )
            inner.storage_base, inner.storage_base_offset = outer, offset
        return super().run(graph_module, graph_signature)


def parts(x: Tensor) -> Tensor:
    inner = torch.cat([torch.relu(x), torch.tanh(x)])
    return torch.cat([torch.sigmoid(x), inner]) * 2


def replaced(x: Tensor) -> tuple[Tensor, Tensor]:
    y = torch.tanh(x)
    z = torch.slice_scatter(y, torch.relu(y[:2]) + 2, 0, 1, 3)
    return torch.sigmoid(z), z * 3


def banked() -> Exported:
    """Two memories of given sizes, with numbers that leave some out."""
    from executorch.exir import banked_memory_planning as banks  # since 1.5

    sizes = banks.Bank("fast", 64, 7), banks.Bank("slow", 4096, 3)
    planning = banks.banked_memory_planning_pass(banks.TargetMemoryMap(sizes))
    module = nn.Sequential(
        nn.Linear(6, 9), nn.Tanh(), nn.Linear(9, 2), counter_from(3.0)
    )
    config = ExecutorchBackendConfig(
        memory_planning_pass=planning, passes=[InitializedMutableBufferPass(["total"])]
    )
    return exported_module(module, *[(torch.randn(6),)] * 3, config=config)


def with_constants() -> nn.Module:
    """Constants of many dtypes, 0-d, empty, equal and unused ones."""

    def forward(m: Any, x: Tensor) -> tuple[Tensor, ...]:
        y = torch.where(m.mask, x * m.scale, x - m.again)
        return y + m.offset, m.table[:3], torch.cat([m.none, y])

    return Net(
        forward,
        offset=torch.tensor([1, -2, 3], dtype=torch.int32),
        scale=torch.tensor(0.5),
        again=torch.tensor(0.5),
        table=torch.arange(256, dtype=torch.uint8),
        mask=torch.tensor([True, False, True]),
        none=torch.zeros(0, 3),
        unused=torch.full((5,), 9.0),
    )


def image_network() -> nn.Module:
    """A channels_last network with a dim order change at its end."""
    body = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))

    def forward(m: Any, x: Tensor) -> Tensor:
        return m.head(m.body(x)).contiguous(memory_format=torch.contiguous_format)

    return Net(forward, body=body, head=nn.Conv2d(4, 2, 1))


def stored(
    name: str, factory: Callable[[], nn.Module], *recipes: Any, **options: Any
) -> Case:
    """A case named special_<name> with options of ExecutorchBackendConfig."""

    def build() -> Exported:
        config = ExecutorchBackendConfig(**options)
        sample = made(recipes)
        return exported_module(factory(), sample, sample, config=config)

    return Case(f"special_{name}", build)


def computed(
    name: str, function: Callable[..., Any], *recipes: Any, **options: Any
) -> Case:
    """The same of a function."""
    return stored(name, lambda: Apply(function), *recipes, **options)


def planned(name: str, **options: Any) -> Case:
    """A perceptron with options of the memory planning pass."""
    planning = MemoryPlanningPass(**options)
    return stored(name, small_mlp, ROW, memory_planning_pass=planning)


def by_layer(node: torch.fx.Node) -> str:
    """Return the .ptd for a constant: one file for each of two layers."""
    return "first" if "p_0" in node.name else "second"


def external_with_state() -> Exported:
    config = ExecutorchBackendConfig(
        external_constants=True, passes=[InitializedMutableBufferPass(["total"])]
    )
    module = nn.Sequential(nn.Linear(3, 2), counter_from(3.0))
    counted = exported_module(module, *[(torch.randn(3),)] * 3, config=config)
    again = replace(counted.runs[0], reset=True)
    return replace(counted, runs=[*counted.runs, again])


def stack_traced() -> Exported:
    """Paths in the traces begin at the package, so that no machine shows."""
    module, sample = small_mlp(), (torch.randn(1, 6),)
    program = export(module, sample)
    for node in program.graph.nodes:
        trace = node.meta.get("stack_trace", "")
        node.meta["stack_trace"] = re.sub(r'File ".*/(?=torch/)', 'File "', trace)
    manager = lowered(program, ExecutorchBackendConfig(emit_stacktrace=True))
    return Exported(program_files(manager), eager_runs(module, [sample]))


def small_mlp() -> nn.Module:
    return mlp(6, 5, 3)


ROW = f32(1, 6)
CASES = [
    computed("no_header", lambda x: x + x, f32(3)),
    computed("no_arguments", lambda: torch.full((3,), 2.5)),
    computed("scalar_tensor", torch.exp, f32()),
    computed("empty_tensor", lambda x: (x + 1, x.sum()), f32(0, 3)),
    computed("input_is_output", lambda x: (x, x + 1), f32(3)),
    computed("same_output_twice", lambda x: (x * 2,) * 2, f32(3)),
    computed("constant_output", lambda x: (x + 1, torch.tensor([1.0, 2.0])), f32(2)),
    stored("constants", with_constants, f32(2, 3)),
    stored("ptd", small_mlp, ROW, external_constants=True),
    stored("ptd_two_files", small_mlp, ROW, external_constants=by_layer),
    Case("special_ptd_state", external_with_state),
    stored("segment_alignment_16", small_mlp, ROW, segment_alignment=16),
    stored("segment_alignment_4096", small_mlp, ROW, segment_alignment=4096),
    stored("constant_alignment_64", small_mlp, ROW, constant_tensor_alignment=64),
    Case("special_stacktrace", stack_traced),
    stored("view_copies_kept", nn.Flatten, f32(1, 2, 3), remove_view_copy=False),
    stored("two_memories", small_mlp, ROW, memory_planning_pass=Banks(2)),
    stored("three_memories", small_mlp, ROW, memory_planning_pass=Banks(3)),
    Case("special_sparse_memories", banked),
    computed(
        "inside_chain",
        parts,
        f32(4, 8),
        memory_planning_pass=Inside(
            ("cat", 0, "cat", 1, 128),
            ("relu", 0, "cat", 0, 0),
            ("tanh", 0, "cat", 0, 128),
            ("sigmoid", 0, "cat", 1, 0),
        ),
    ),
    computed(
        "inside_written",
        replaced,
        f32(4, 8),
        memory_planning_pass=Inside(
            ("slice_scatter", 0, "tanh", 0, 0), ("add", 0, "slice_scatter", 0, 32)
        ),
    ),
    planned("inputs_unplanned", alloc_graph_input=False),
    planned("outputs_unplanned", alloc_graph_output=False),
    planned("io_unplanned", alloc_graph_input=False, alloc_graph_output=False),
    planned(
        "planned_naive",
        memory_planning_algo=MemoryPlanningAlgorithmSuite(algo_list=[naive]),
    ),
    planned("planned_alignment_64", alignment=64),
    stored(
        "channels_last",
        lambda: image_network().to(memory_format=torch.channels_last),
        channels_last(f32(1, 3, 6, 8)),
    ),
    stored("channels_last_input", image_network, channels_last(f32(1, 3, 6, 8))),
    computed(
        "many_dtypes",
        lambda a, b, c: (a + 1, b.to(torch.int32), c == 0, a > 0),
        whole(3, dtype=torch.int16),
        whole(3, low=0, high=9, dtype=torch.uint8),
        whole(4, low=0, high=2, dtype=torch.int8),
    ),
]
