"""`ember export` of images of one channel, one row or one line, and of U-Nets.

Strides of dimensions of size 1 say nothing, so that programs and inputs name their dim
orders in different ways; convolutions before a join share their scale.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ember import cli, program
from ember.program import bundle

pytestmark = [pytest.mark.export, pytest.mark.slow]
HEAD = "import torch\nfrom torch import nn\ntorch.manual_seed(0)\n"
MODELS = {
    "page": """
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 10))
example_inputs = (torch.randn(1, 1, 8, 8),)
""",
    "sound": """
model = nn.Sequential(
    nn.Conv2d(1, 8, (10, 4), (2, 2), (5, 1)), nn.ReLU(),
    nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 12))
example_inputs = (torch.randn(1, 1, 49, 10),)
""",
    "series": """
model = nn.Sequential(
    nn.Conv1d(1, 8, 5), nn.ReLU(), nn.MaxPool1d(2), nn.Flatten(), nn.Linear(112, 4))
example_inputs = (torch.randn(1, 1, 32),)
""",
    "line": """
model = nn.Sequential(
    nn.Conv2d(3, 8, (1, 5), padding=(0, 2)), nn.ReLU(), nn.Conv2d(8, 1, 1))
example_inputs = (torch.randn(1, 3, 1, 20),)
""",
    "colours": """
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 1, 1))
example_inputs = (torch.randn(1, 3, 8, 8),)
""",
    "patches": """
model = nn.Sequential(nn.Conv2d(3, 8, 4, 4), nn.Flatten(2), nn.Linear(6, 5))
example_inputs = (torch.randn(1, 3, 8, 12),)
""",
    "patches_of_channels_last": """
model = nn.Sequential(nn.Conv2d(3, 8, 4, 4), nn.Flatten(2), nn.Linear(6, 5))
model = model.to(memory_format=torch.channels_last)
example_inputs = (torch.randn(1, 3, 8, 12).to(memory_format=torch.channels_last),)
""",
    "rows_of_an_image": """
class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(1, 8, 3), nn.Linear(6, 5)
    def forward(self, x):
        y = self.a(x.reshape(1, 1, 8, 10))
        return self.b(y.transpose(2, 3).reshape(64, 6)).view(8, 8, 5).unsqueeze(0)
model = Rows()
example_inputs = (torch.randn(80),)
""",
}
FLOWS = {
    "portable": ["--backend", "portable"],
    "cortex_m": ["--board", "mps3-an547", "--quantize", "int8"],
    "xnnpack": ["--board", "qemu-a64"],
    "xnnpack_int8": ["--board", "qemu-a64", "--quantize", "int8"],
}
UNET = """
class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Sequential(nn.Conv2d({channels}, 4, 3, padding=1), nn.ReLU())
        self.b = nn.Sequential(nn.Conv2d(4, 6, 3, padding=1), nn.ReLU6())
        self.up = nn.ConvTranspose2d(6, 4, {kernel}, 2, {padding})
        self.c = nn.Sequential(nn.Conv2d(8, 2, 3, padding=1), nn.Hardtanh())

    def forward(self, x):
        a = self.a(x)
        b = self.b(nn.functional.max_pool2d(a, 2))
        return self.c(torch.cat([self.up(b), a], 1))

model = UNet()
example_inputs = (torch.randn(1, {channels}, {height}, {width}),)
"""
UNETS = [(1, 2, 0, 8, 12), (1, 4, 1, 16, 4), (3, 2, 0, 8, 8)]


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("executorch")
    monkeypatch.chdir(tmp_path)


def exported(text: str, words: list[str]) -> bundle.Bundle:
    Path("model.py").write_text(HEAD + text, encoding="utf-8")
    assert cli.main(["export", "model.py", *words]) == 0
    return bundle.read(Path("model.bpte"))


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("model", MODELS)
def test_a_program_takes_the_inputs_that_it_is_tested_with(
    model: str, flow: str
) -> None:
    bundled = exported(MODELS[model], FLOWS[flow])
    (method,) = program.parse(bundled.program).methods
    for case in bundled.suites[0].cases:
        for given, declared in zip(case.inputs, method.input_tensors, strict=True):
            assert isinstance(given, bundle.BundledTensor)
            assert given.dim_order == declared.dim_order
    assert cli.main(["test", "model.bpte", "--board", "host"]) == 0


@pytest.mark.parametrize(("channels", "kernel", "padding", "height", "width"), UNETS)
def test_a_unet_in_int8(
    channels: int, kernel: int, padding: int, height: int, width: int
) -> None:
    text = UNET.format(
        channels=channels,
        kernel=kernel,
        padding=padding,
        height=height,
        width=width,
    )
    bundled = exported(text, FLOWS["cortex_m"])
    (method,) = program.parse(bundled.program).methods
    names = set(method.operator_names)
    assert "cortex_m::quantized_transpose_conv2d.out" in names
    assert "aten::convolution.out" not in names
    assert cli.main(["test", "model.bpte", "--board", "host"]) == 0
