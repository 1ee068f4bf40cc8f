# SPDX-License-Identifier: Apache-2.0
"""What of a model becomes delegates of XNNPACK: where its exporter would be wrong, the
outputs are PyTorch's all the same, and a note says what stays outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from exporting import written

from ember import cli

STAY = "stay outside XNNPACK, which"
MODELS = {
    # name: layers, forward, inputs, notes
    "products_with_factors": (
        "self.a = nn.Linear(4, 4); self.register_buffer('row', torch.ones(4))",
        "y = self.a(x); return torch.addmm(self.row, y, self.a.weight, alpha=-1)"
        " + torch.addmm(x, y, self.a.weight, beta=0.5)"
        " + torch.addmm(self.row, y, self.a.weight)",
        "torch.randn(4, 4)",
        [f"2 addmm {STAY} adds a row to the product and scales nothing"],
    ),
    "gelu_by_tanh": (
        "self.a = nn.Linear(4, 4)",
        "return F.gelu(3 * self.a(x), approximate='tanh') + F.gelu(x)",
        "torch.randn(3, 4)",
        [f"1 GELU by tanh {STAY} has the exact one only"],
    ),
    "prelu_of_rows": (
        "self.a = nn.Linear(4, 6); self.p = nn.PReLU(6); self.q = nn.PReLU()",
        "return self.q(self.p(self.a(x)).unsqueeze(1))",
        "torch.randn(3, 4)",
        [f"2 PReLU {STAY} supports 4 dimensions only"],
    ),
    "pools_of_channels_last": (
        "self.a = nn.Linear(2, 8)",
        "return self.a(F.adaptive_avg_pool2d(x, [3, 2])),"
        " F.interpolate(F.avg_pool2d(x, 2, ceil_mode=True), scale_factor=3.0,"
        " mode='bilinear', align_corners=True), x.mean(1, keepdim=True) * x",
        "torch.randn(1, 3, 5, 6).to(memory_format=torch.channels_last)",
        [],
    ),
}


@pytest.mark.export
@pytest.mark.parametrize("name", MODELS)
def test_outputs_are_those_of_pytorch(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    layers, forward, inputs, notes = MODELS[name]
    words = [written(layers, forward, inputs), "--backend", "xnnpack"]
    assert cli.main(["export", *words, "--json", "facts.json"]) == 0
    facts = json.loads(Path("facts.json").read_text(encoding="utf-8"))
    assert facts["distance"] <= 1e-5  # to PyTorch's
    assert facts["notes"] == notes
    assert cli.main(["test", "network.bpte", "--board", "host"]) == 0
    capsys.readouterr()


@pytest.mark.export
def test_a_convolution_without_results_stays_outside() -> None:
    """ExecuTorch's runtime does not run it: no program to compare."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("executorch")
    from executorch.exir import EdgeCompileConfig

    from ember.export import xnnpack

    def delegates(kernel: tuple[int, int]) -> bool:
        layer = torch.nn.ConvTranspose2d(1, 4, kernel, stride=3, padding=1)
        graph = torch.export.export(layer.eval(), (torch.ones(3, 1, 1, 1),))
        config = EdgeCompileConfig()
        edge = xnnpack.delegated(graph, {}, config, dynamic=False, recorded=False)
        return "executorch_call_delegate" in str(edge.exported_program().graph)

    assert delegates((3, 3))
    assert not delegates((3, 2))
