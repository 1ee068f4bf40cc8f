"""What `ember run --etdump` writes, in ExecuTorch's own Inspector."""

# Modules of PyTorch are Any for mypy.
# mypy: allow-subclassing-any

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from committed_cases import path_of

from ember import cli

pytestmark = [pytest.mark.export, pytest.mark.qemu, pytest.mark.slow]

ROOT = Path(__file__).parents[3]
BOARD = "mps2-an386"
CALLS = ("OPERATOR_CALL", "DELEGATE_CALL", "MOVE_CALL", "JF_CALL", "FREE_CALL")


@pytest.fixture(scope="module")
def devtools() -> Any:
    return pytest.importorskip("executorch.devtools")


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(model: Path, *words: str) -> dict[str, Any]:
    line = ["run", str(model), "--board", BOARD, *words, "--json", "facts.json"]
    line += ["--etdump", "file.etdp", "--etdump-values", "values.bin"]
    assert cli.main(line) == 0
    return json.loads(Path("facts.json").read_text())  # type: ignore[no-any-return]


def inspector(devtools: Any, **words: Any) -> Any:
    from executorch.devtools.inspector import TimeScale

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return devtools.Inspector(
            etdump_path="file.etdp",
            debug_buffer_path="values.bin",
            source_time_scale=TimeScale.CYCLES,
            target_time_scale=TimeScale.CYCLES,
            **words,
        )


def took(block: Any, *names: str) -> list[float]:
    return [event.perf_data.raw[0] for event in block.events if event.name in names]


@pytest.mark.parametrize(
    "model",
    [
        "examples/models/digits/case",
        "examples/models/digits/digits_int8_m4.pte",
        "tests/cases/special_cond_two.bpte",  # control flow
        "tests/cases/special_scan.bpte",  # a loop
        "tests/cases/xnnpack_mlp_static.bpte",  # a delegate
        "tests/cases/special_delegate.bpte",
        "tests/cases/special_dynamic_dropout.bpte",  # a number is an output
        "tests/cases/special_many_dtypes.bpte",
        "tests/cases/op_add_bf16.bpte",
        "tests/cases/special_empty_tensor.bpte",
        "tests/cases/bundle_two_outputs.bpte",
    ],
)
def test_the_inspector_reads_it(devtools: Any, model: str) -> None:
    facts = run(ROOT / model)
    read = inspector(devtools)
    loading, executing = read.event_blocks
    assert took(loading, "Program::load_method") == [facts["instructions"]["load"]]
    assert took(executing, "Method::execute") == [facts["instructions"]["execute"]]
    counted = sum(node["instructions"] for node in facts["nodes"])
    assert sum(took(executing, *CALLS)) == counted
    executed = {node["origin"] for node in facts["nodes"] if node["executions"]}
    timed = {event._instruction_id for event in executing.events if event.perf_data}
    assert timed == executed | {-1}
    for output, expected in zip(executing.run_output, facts["outputs"], strict=True):
        numbers = expected["data"] if isinstance(expected, dict) else [expected]
        given = np.asarray(output).reshape(-1).tolist()
        assert given == pytest.approx(numbers, nan_ok=True)
    assert all(event.debug_data for event in loading.events[:-1])  # allocations
    table = read.to_dataframe()
    assert len(table) == len(loading.events) + len(executing.events)
    with Path("table.tsv").open("w") as file:
        read.save_data_to_tsv(file)


def test_delegates_nodes_are_its_events(devtools: Any) -> None:
    facts = run(path_of("xnnpack_mlp_static"))
    (_, block) = inspector(devtools).event_blocks
    nodes = [event for event in block.events if event.is_delegated_op]
    inside = [
        each
        for node in facts["nodes"]
        for each in sorted(node["inside"], key=lambda each: each["index"])
    ]
    assert len(nodes) == len(inside) > 1
    for event, each in zip(nodes, inside, strict=True):
        assert event.name.partition(" #")[0] == each["op"]
        assert event.perf_data.raw == [each["instructions"]]
        assert event.raw_delegate_debug_metadatas == [each["kernel"].encode()]
        assert len(event.debug_data) == 1


# ---- with an ETRecord --------------------------------------------------------------


def network() -> Any:
    import torch

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.convolution = torch.nn.Conv2d(1, 3, 3)
            self.norm = torch.nn.LayerNorm(6)
            self.linear = torch.nn.Linear(6, 4)

        def forward(self, x: Any) -> Any:
            first, second = torch.split(torch.relu(self.convolution(x)), [2, 1], 1)
            mixed = torch.cat([second, first], 1).sum(1)
            return self.linear(self.norm(mixed).flatten(0, 1) + 1.0)

    torch.manual_seed(0)
    return Network().eval(), (torch.randn(1, 1, 8, 8),), None


def channels_last() -> Any:
    import torch

    last = torch.channels_last
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2)
    )
    return (
        model.to(memory_format=last),
        (torch.randn(1, 3, 8, 8).to(memory_format=last),),
        None,
    )


def dynamic() -> Any:
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Softmax(-1))
    shapes = ({0: torch.export.Dim("n", min=1, max=8)},)
    return model, (torch.randn(5, 4),), shapes


def record(example: Any, delegated: bool) -> None:
    """model.pte, model.etrecord, x.npy"""
    import torch
    from executorch.exir import to_edge_transform_and_lower

    model, inputs, shapes = example
    parts = []
    if delegated:
        from executorch.backends.xnnpack.partition import xnnpack_partitioner

        parts.append(xnnpack_partitioner.XnnpackPartitioner())
    exported = torch.export.export(model, inputs, dynamic_shapes=shapes)
    edge = to_edge_transform_and_lower(
        exported, partitioner=parts, generate_etrecord=True
    )
    manager = edge.to_executorch()
    Path("model.pte").write_bytes(manager.buffer)
    kept = manager.get_etrecord()
    kept.update_representative_inputs(inputs)
    kept.save("model.etrecord")
    np.save("x.npy", inputs[0].numpy())


@pytest.mark.parametrize(
    ("make", "delegated", "rows"),
    [
        (network, False, 7),
        (network, True, 5),
        (channels_last, False, 3),
        (dynamic, False, 2),
        (dynamic, True, 1),
    ],
)
def test_with_an_etrecord(devtools: Any, make: Any, delegated: bool, rows: int) -> None:
    record(make(), delegated)
    run(Path("model.pte"), "--input", "x.npy")
    read = inspector(devtools, etrecord="model.etrecord")
    calls = [
        event
        for event in read.event_blocks[1].events
        if event.name in ("OPERATOR_CALL", "DELEGATE_CALL")
    ]
    assert all(event.debug_handles and event.op_types for event in calls)
    assert all(event.stack_traces for event in calls)
    backends = {event.delegate_backend_name for event in calls}
    assert ("XnnpackBackend" in backends) == delegated
    gaps = read.calculate_numeric_gap("MSE")
    assert len(gaps) == rows
    assert all(gap < 1e-10 for (gap,) in gaps["gap"])
    names = {name for names in gaps["runtime_ops"] for name in names}
    assert "native_call_scratch.out" not in names


def test_a_wrong_kernel_has_a_gap(devtools: Any) -> None:
    """Only in its own row and those behind it."""
    import planted

    record(network(), delegated=False)
    folder = planted.write(Path("kernels"), "aten::cat.out", "cat", "rounding")
    run(Path("model.pte"), "--input", "x.npy", "--kernels", str(folder))
    read = inspector(devtools, etrecord="model.etrecord")
    gaps = read.calculate_numeric_gap("MSE")
    by_name = {
        ops[0]: gap
        for ops, (gap,) in zip(gaps["runtime_ops"], gaps["gap"], strict=True)
    }
    assert by_name["native_call_cat.out"] > 1e-7
    assert by_name["native_call_relu.out"] < 1e-10


NETWORK = """\
import torch

torch.manual_seed(0)
layers = (torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2))
model = torch.nn.Sequential(*layers)
example_inputs = (torch.randn(1, 3, 8, 8),)
"""
CONTROL = """\
import torch

class Control(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x + 1.0, lambda x: x - 1.0, (x,))

model = Control()
example_inputs = (torch.randn(4),)
"""


def exported(source: str, *words: str) -> int:
    Path("net.py").write_text(source)
    line = ["export", "net.py", "-o", "net.bpte", "--etrecord", "net.etrecord", *words]
    return cli.main(line)


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ([], 3),
        (["--backend", "xnnpack"], 1),
        (["--board", BOARD, "--quantize", "int8"], None),  # the Inspector's own limits
    ],
)
def test_an_etrecord_of_ember_export(
    devtools: Any, words: list[str], rows: int | None
) -> None:
    assert exported(NETWORK, *words) == 0
    run(Path("net.bpte"))
    read = inspector(devtools, etrecord="net.etrecord")
    calls = [
        event
        for event in read.event_blocks[1].events
        if event.name in ("OPERATOR_CALL", "DELEGATE_CALL")
    ]
    assert calls and all(event.op_types for event in calls)
    if rows is not None:
        gaps = read.calculate_numeric_gap("MSE")
        assert len(gaps) == rows
        assert all(gap < 1e-10 for (gap,) in gaps["gap"])


@pytest.mark.parametrize(
    ("source", "words", "said"),
    [
        (CONTROL, [], "ExecuTorch cannot write an ETRecord of this model"),
        (NETWORK, ["--backend", "cadence"], "--etrecord is not for the Cadence flow"),
    ],
)
@pytest.mark.usefixtures("devtools")
def test_no_etrecord(
    source: str, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exported(source, *words) != 0
    assert said in capsys.readouterr().err
    assert not Path("net.etrecord").exists()
    assert not Path("net.bpte").exists()
