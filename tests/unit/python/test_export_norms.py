# SPDX-License-Identifier: Apache-2.0
"""`ember export --quantize int8`: normalisation and PReLU as one operator each."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import integer_norms
import pytest
from exporting import written

from ember import cases, cli
from ember.program import KernelCall

pytestmark = pytest.mark.export


@pytest.fixture(autouse=True)
def torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return pytest.importorskip("torch", reason="pip install '.[export]'")


def exported(
    capsys: pytest.CaptureFixture[str],
    layers: str,
    forward: str,
    inputs: str,
    *words: str,
    board: str = "host",
) -> dict[str, Any]:
    """What the command says, once the program has given PyTorch's bits on a board."""
    file = written(layers, forward, f"torch.randn({inputs})")
    words = (file, "--board", "mps2-an386", "-o", "net.bpte", *words)
    code = cli.main(["export", *words, "--quantize", "int8", "--json", "-"])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    facts: dict[str, Any] = json.loads(printed.out)
    assert cli.main(["test", "net.bpte", "--board", board]) == 0
    return facts


def operators() -> list[str]:
    """Of all calls of the program but steps from and to float."""
    case = cases.read(cases.Found("net", Path("net.bpte")))
    [method] = [method for method in case.program.methods if method.name == "forward"]
    calls = [
        method.operators[call.op_index].full_name
        for chain in method.chains
        for call in chain.instructions
        if isinstance(call, KernelCall)
    ]
    return [name for name in calls if "quantize_per_tensor" not in name]


LAYER = "ember::quantized_layer_norm.out"
GROUP = "ember::quantized_group_norm.out"
PRELU = "ember::quantized_prelu.out"
TRAINED = "\n        for p in self.parameters(): p.data += 0.2 * torch.randn_like(p)"


@pytest.mark.parametrize(
    ("layer", "forward", "inputs", "operator"),
    [
        ("self.a = nn.LayerNorm(24)", "self.a(x)", "2, 5, 24", LAYER),
        ("self.a = nn.LayerNorm([3, 8], bias=False)", "self.a(x)", "4, 3, 8", LAYER),
        ("pass", "F.layer_norm(x, (16,))", "3, 16", LAYER),
        ("self.a = nn.RMSNorm(32)", "self.a(x)", "1, 6, 32", LAYER),
        ("self.a = nn.GroupNorm(3, 12)", "self.a(x)", "2, 12, 5, 5", GROUP),
        ("self.a = nn.GroupNorm(2, 8, affine=False)", "self.a(x)", "1, 8, 9", GROUP),
        ("self.a = nn.InstanceNorm2d(6)", "self.a(x)", "2, 6, 7, 5", GROUP),
        ("self.a = nn.PReLU()", "self.a(x)", "2, 9", PRELU),
        ("self.a = nn.PReLU(5)", "self.a(x)", "2, 5, 4, 4", PRELU),
    ],
)
def test_a_layer_is_one_operator(
    capsys: Any, layer: str, forward: str, inputs: str, operator: str
) -> None:
    facts = exported(capsys, layer + TRAINED, f"return {forward}", inputs)
    assert operators() == [operator]
    assert facts["distance"] < 0.5  # inputs reach further than those of calibration


BY_HAND = (
    "self.w = nn.Parameter(torch.rand(16) + 0.5)",
    "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)",
    "x / torch.sqrt((x * x).mean(2, keepdim=True) + 1e-6)",
)


@pytest.mark.parametrize("formula", BY_HAND[1:])
@pytest.mark.parametrize("weights", ["", " * self.w"])
def test_an_rms_norm_by_hand_is_one_operator(
    capsys: Any, formula: str, weights: str
) -> None:
    facts = exported(capsys, BY_HAND[0], f"return {formula}{weights}", "2, 3, 16")
    assert operators() == [LAYER]
    assert facts["distance"] < 0.5  # inputs reach further than those of calibration


CONVOLUTIONS = (
    "self.a = nn.Conv2d(3, 16, 3, padding=1)\n"
    "        self.b = nn.GroupNorm(4, 16)\n"
    "        self.c = nn.PReLU(16)\n"
    "        self.d = nn.Conv2d(16, 8, 3, padding=1)\n"
    "        self.e = nn.InstanceNorm2d(8, affine=True)\n"
    "        self.f = nn.LayerNorm([8, 6, 6])\n"
    "        self.g = nn.Conv2d(8, 4, 1)"
)


def test_images_keep_their_channels_last(capsys: Any) -> None:
    """The layer norm, which takes channels first, has copies around it."""
    forward = "return self.g(self.f(self.e(self.d(self.c(self.b(self.a(x)))))))"
    facts = exported(
        capsys, CONVOLUTIONS + TRAINED, forward, "2, 3, 6, 6", board="mps2-an386"
    )
    calls = operators()
    assert calls.count(GROUP) == 2 and calls.count(PRELU) == calls.count(LAYER) == 1
    assert calls.count("dim_order_ops::_clone_dim_order.out") == 2
    assert facts["distance"] < 1


def test_int8_comes_in_and_goes_out(capsys: Any) -> None:
    layers = "self.a = nn.LayerNorm(16)\n        self.b = nn.Linear(16, 16)"
    forward = "return x + self.b(self.a(x))"
    exported(capsys, layers + TRAINED, forward, "1, 4, 16", "--io", "int8")
    assert len(operators()) == 3


@pytest.mark.parametrize(
    ("layers", "forward"),
    [
        ("self.a = nn.Linear(8, 8)", "F.layer_norm(x, (8,), weight=self.a(x)[0, 0])"),
        ("self.a = nn.Linear(8, 8)", "F.prelu(x, self.a(x)[0, 0])"),
    ],
)
def test_weights_that_are_computed_stay_in_float(
    capsys: Any, layers: str, forward: str
) -> None:
    exported(capsys, layers, f"return {forward}", "1, 8, 8")
    assert not {LAYER, PRELU} & set(operators())


# ---- the operators in PyTorch --------------------------------------------------------


def numbers(torch: Any, shape: tuple[int, ...], kind: str) -> Any:
    if kind == "flat":
        return torch.randint(-128, 128, (*shape[:-1], 1)).expand(shape).to(torch.int8)
    if kind == "ends":
        return (torch.randint(0, 2, shape) * 255 - 128).to(torch.int8)
    return (torch.randn(shape) * 40 + 9).round().clamp(-128, 127).to(torch.int8)


def scales_of(torch: Any, count: int) -> Any:
    return torch.randint(-(2**31), 2**31, (2, count)).to(torch.int32)


@pytest.mark.parametrize("kind", ["", "flat", "ends"])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 32, 100, 1000])
def test_layer_norms_have_bits_of_kernels(torch: Any, count: int, kind: str) -> None:
    from ember.export.operators import norms

    torch.manual_seed(count)
    x, scales = numbers(torch, (4, count), kind), scales_of(torch, count)
    for epsilon, about in ((1, None), (2**62 - 1, -128), (3 * count**2, 9)):
        rms, zero = about is not None, about or 0
        y = norms.quantized_layer_norm(x, scales, epsilon, rms, zero)
        g, b = scales.tolist()
        assert y.tolist() == [
            integer_norms.layer_row(row, g, b, epsilon, about) for row in x.tolist()
        ]


@pytest.mark.parametrize("kind", ["", "flat", "ends"])
def test_group_norms_have_the_bits_of_kernels(torch: Any, kind: str) -> None:
    from ember.export.operators import norms

    torch.manual_seed(2)
    for channels, groups, shift in ((6, 2, 1), (5, 5, 14), (4, 1, 31)):
        x = numbers(torch, (2, channels, 3, 5), kind)
        scales = scales_of(torch, channels)
        each = channels // groups
        want = [
            integer_norms.group(
                image[c : c + each].flatten(1).tolist(),
                scales[0, c : c + each].tolist(),
                scales[1, c : c + each].tolist(),
                77,
                shift,
            )
            for image in x
            for c in range(0, channels, each)
        ]
        for form in (torch.contiguous_format, torch.channels_last):
            given = x.contiguous(memory_format=form)
            y = norms.quantized_group_norm(given, scales, groups, 77, shift)
            assert y.is_contiguous(memory_format=form)
            assert y.reshape(2 * groups, each, -1).tolist() == want


def test_prelu_has_the_bits_of_kernels(torch: Any) -> None:
    from ember.export.operators import norms

    torch.manual_seed(4)
    x = torch.randint(-128, 128, (2, 3, 50)).to(torch.int8)
    scales = torch.randint(-(2**22), 2**22, (4,)).to(torch.int32)
    for ends in ((-128, 0, 127), (5, 20, -7)):
        y = norms.quantized_prelu(x, scales, *ends)
        want = [
            integer_norms.prelu(q, int(scales[0]), int(scales[1 + c]), ends)
            for image in x.tolist()
            for c, line in enumerate(image)
            for q in line
        ]
        assert y.flatten().tolist() == want


@pytest.mark.parametrize("count", [2, 5, 32, 700, 40000])
def test_results_are_those_of_float_rounded(torch: Any, count: int) -> None:
    """But a few that are close to a half."""
    from ember.export.graph.norm_integers import Sides, of_groups, of_layer
    from ember.export.graph.recurrent_integers import Scale
    from ember.export.operators import norms

    torch.manual_seed(count)
    function = torch.nn.functional
    x, side = numbers(torch, (24, count), ""), Scale(0.03, 5)
    real = (x.double() - side.zero_point) * side.scale
    weight, bias = torch.rand(count) + 0.5, torch.randn(count)
    of_y = Scale(0.025 * math.sqrt(min(count, 9)), -3)
    call = {"normalized_shape": [count], "weight": weight, "bias": bias, "eps": 1e-5}
    sides = Sides(side, of_y)
    layer = of_layer({**call, "cudnn_enable": False}, x.shape, sides)
    norm = function.layer_norm(real, [count], weight.double(), bias.double(), 1e-5)
    assert_near(norms.quantized_layer_norm(x, layer.scales, *layer.words), norm, of_y)
    rms = of_layer({**call, "bias": None}, x.shape, sides)
    norm = function.rms_norm(real, [count], weight.double(), 1e-5)
    assert_near(norms.quantized_layer_norm(x, rms.scales, *rms.words), norm, of_y)
    call = {"num_groups": 3, "weight": weight[:1].expand(6), "bias": None, "eps": 1e-5}
    images = real.reshape(4, 6, -1)
    groups = of_groups(call, images.shape, sides)
    norm = function.group_norm(images, 3, call["weight"].double(), None, 1e-5)
    y = norms.quantized_group_norm(
        x.reshape(images.shape), groups.scales, *groups.words
    )
    assert_near(y, norm, of_y)


def assert_near(y: Any, want: Any, scale: Any) -> None:
    ideal = (want / scale.scale + scale.zero_point).clamp(-128, 127)
    distance = (y.double() - ideal).abs()
    assert distance.max() < 0.52
    assert (distance > 0.5).double().mean() < 0.02
