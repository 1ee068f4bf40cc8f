# SPDX-License-Identifier: Apache-2.0
"""Faults of ExecuTorch that `ember export` works around: each is there in the installed
version if, and only if, faults.py says so. Then without the workaround the export
stops, or the program is not what was asked for.

A new version makes some of these fail: such a fault is gone, and gets its `last`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from exporting import written

from ember import cli, program
from ember.export import faults
from ember.program import bundle

INT8 = ["--board", "mps3-an547", "--quantize", "int8"]
XNNPACK = ["--backend", "xnnpack"]
CADENCE = ["--backend", "cadence", "--quantize", "int8"]
LINE = (
    "self.a = nn.Conv2d(2, 3, (3, 2)); self.b = nn.Conv2d(2, 2, 3, groups=2)",
    "x = F.hardtanh(x).reshape(1, 2, 12, 9)\n"
    "        y = F.avg_pool2d(F.pad(x * 2, (0, 1, 2, 3)), (3, 2), padding=(1, 0))\n"
    "        return F.relu(self.a(x)), F.max_pool2d(x * 2, 2), self.b(y)",
    "torch.randn(1, 216)",
)


@dataclass(frozen=True)
class Trial:
    layers: str
    forward: str
    inputs: str
    words: list[str]
    most: float = 1e-5  # of the difference from PyTorch
    wanted: str = ""  # an operator of the program


CHANNELS_LAST = ".to(memory_format=torch.channels_last)"
TRIALS = {
    "states": Trial(
        "self.register_buffer('a', torch.full((2,), 3.0))",
        "self.a.mul_(-2); return self.a + x",
        "torch.ones(2)",
        [],
    ),
    "strides": Trial(
        "self.w = nn.Parameter(torch.randn(4, 1).expand(4, 3))",
        "return x @ self.w",
        "torch.randn(1, 4)",
        [],
    ),
    "reshapes": Trial(
        f"self.a = nn.Conv2d(3, 8, 4, 4){CHANNELS_LAST}; self.b = nn.Linear(6, 5)",
        "return self.b(self.a(x).flatten(2))",
        f"torch.randn(1, 3, 8, 12){CHANNELS_LAST}",
        ["--backend", "portable"],
    ),
    "pool strides": Trial(
        "self.a = nn.Conv2d(2, 3, 3)",
        "return F.max_pool2d(self.a(x), 2)",
        "torch.randn(1, 2, 12, 12)",
        CADENCE,
        0.3,
    ),
    "made constants": Trial(
        "self.layer = nn.Linear(4, 4)",
        "return self.layer(x) + torch.ones(1, 4), torch.full((3,), 0.5)",
        "torch.randn(1, 4)",
        INT8,
        0.06,
    ),
    "shared scales": Trial(
        "self.a, self.b = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 6, 3, padding=1);"
        " self.up, self.c = nn.ConvTranspose2d(6, 4, 2, 2), nn.Conv2d(8, 2, 3)",
        "a = F.relu(self.a(x)); b = F.relu6(self.b(F.max_pool2d(a, 2)))\n"
        "        return self.c(torch.cat([self.up(b), a], 1))",
        "torch.randn(1, 1, 8, 12)",
        INT8,
        0.1,
    ),
    "padding": Trial(
        "self.a = nn.Conv2d(1, 8, (16, 1), (2, 1)); self.b = nn.Conv2d(8, 4, (9, 1))",
        "x = F.pad(x[:, None, :, None], (0, 0, 7, 8))\n"
        "        x = F.max_pool2d(F.relu(self.a(x)), (2, 1))\n"
        "        return self.b(F.pad(x, (0, 0, 4, 5)))",
        "torch.randn(1, 64)",
        INT8,
        0.05,
    ),
    "dim orders": Trial(*LINE, INT8, 0.05),
    "images": Trial(
        "self.a = nn.Conv2d(1, 8, (3, 1)); self.b = nn.Conv2d(8, 4, (3, 1))",
        "return self.b(F.relu(self.a(x[:, None, :, None])))",
        "torch.randn(1, 16)",
        INT8,
        0.1,
        "cortex_m::quantized_conv2d.out",
    ),
    "prelu": Trial(
        "self.a = nn.Linear(4, 6); self.p = nn.PReLU(6)",
        "return self.p(self.a(x))",
        "torch.randn(3, 4)",
        XNNPACK,
    ),
    "addmm": Trial(
        "self.a = nn.Linear(4, 4); self.register_buffer('row', torch.ones(4))",
        "y = self.a(x); return torch.addmm(self.row, y, self.a.weight, alpha=-1)"
        " + torch.addmm(x, y, self.a.weight, beta=0.5)",
        "torch.randn(4, 4)",
        XNNPACK,
    ),
    "gelu": Trial(
        "self.a = nn.Linear(4, 4)",
        "return F.gelu(3 * self.a(x), approximate='tanh')",
        "torch.randn(3, 4)",
        XNNPACK,
    ),
    "pad types": Trial(*LINE, [*XNNPACK, "--quantize", "int8"], 0.05),
    "copies": Trial(
        "self.layer = nn.Linear(4, 4);"
        " self.register_buffer('count', torch.tensor(3));"
        " self.register_buffer('total', torch.zeros(4))",
        "self.count.add_(1); self.total.copy_(F.hardtanh(x[0]))\n"
        "        return self.layer(x) + self.total, self.count.clone()",
        "torch.randn(1, 4)",
        [*XNNPACK, "--quantize", "int8"],
        0.1,
    ),
    "constant outputs": Trial(
        "self.layer = nn.Linear(4, 4)",
        "return self.layer(x), self.layer.weight, self.layer.bias.clone()",
        "torch.randn(1, 4)",
        XNNPACK,
    ),
    "kept orders": Trial(
        "self.a = nn.Linear(2, 8)",
        "return self.a(F.adaptive_avg_pool2d(x, [3, 2])), x.mean(1, keepdim=True) * x",
        f"torch.randn(1, 3, 5, 6){CHANNELS_LAST}",
        XNNPACK,
    ),
    "signs": Trial(
        "self.layer = nn.Linear(4, 4)",
        "return self.layer(x)",
        "torch.randn(1, 4)",
        CADENCE,
        0.1,
    ),
    "constant methods": Trial(
        "self.layer = nn.Linear(4, 4)",
        "return self.layer(x)",
        "torch.randn(1, 4)",
        [*CADENCE, "--io", "int8"],
        0.1,
    ),
}


def is_right(trial: Trial) -> bool:
    """Whether the export gives a program that gives what PyTorch gives."""
    file = written(trial.layers, trial.forward, trial.inputs)
    if cli.main(["export", file, *trial.words, "--json", "facts.json"]) != 0:
        return False
    facts = json.loads(Path("facts.json").read_text(encoding="utf-8"))
    parsed = program.parse(bundle.read(Path("network.bpte")).program)
    names = [method.name for method in parsed.methods]
    if "int8" in trial.words[-1:] and "--io" in trial.words and len(names) == 1:
        return False
    if trial.wanted and trial.wanted not in parsed.methods[0].operator_names:
        return False
    passes = cli.main(["test", "network.bpte", "--board", "host"]) == 0
    return passes and facts["distance"] <= trial.most


@pytest.mark.export
@pytest.mark.slow
@pytest.mark.parametrize("name", TRIALS)
def test_the_installed_version_has_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("executorch")
    monkeypatch.chdir(tmp_path)
    trial, has = TRIALS[name], faults.has
    expected = has(name)
    assert is_right(trial)
    monkeypatch.setattr(faults, "has", lambda fault: fault != name and has(fault))
    assert is_right(trial) is not expected


@pytest.mark.export
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="it has typing.override")
def test_the_cadence_flow_imports_what_python_3_11_lacks() -> None:
    pytest.importorskip("executorch")
    text = "import executorch.backends.cadence.aot.compiler"
    done = subprocess.run(
        [sys.executable, "-c", text], check=False, capture_output=True
    )
    assert (done.returncode != 0) is faults.has("override")


def test_each_fault_is_tried() -> None:
    # XNNPACK refuses convolutions without results, Ember does not.
    assert {*TRIALS, "override", "no elements"} == faults.FAULTS.keys()
