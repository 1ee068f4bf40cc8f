# SPDX-License-Identifier: Apache-2.0
"""The canonical form of a graph: the same results, and all of it in int8."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exporting import written

from ember import cli

pytestmark = pytest.mark.export

# layers, what the network computes, its input; operators behind it, in order
SPELLINGS = {
    "x @ parameter": (
        "self.w, self.b = (nn.Parameter(torch.randn(n)) for n in ((8, 4), (4,)))",
        "return x @ self.w + self.b",
        "2, 8",
        "linear",
    ),
    "parameter @ x": (
        "self.w = nn.Parameter(torch.randn(5, 6))",
        "return self.w @ x",
        "1, 6, 8",
        "transpose linear transpose",
    ),
    "addmm": (
        "self.w, self.b = (nn.Parameter(torch.randn(n)) for n in ((8, 4), (4,)))",
        "return torch.addmm(self.b, x, self.w, beta=0.5, alpha=2)",
        "2, 8",
        "linear",
    ),
    "einsum": (
        "self.w = nn.Parameter(torch.randn(8, 4))",
        "return torch.einsum('bi,io->bo', x, self.w)",
        "2, 8",
        None,
    ),
    "tied": (
        "self.a = nn.Linear(16, 8)",
        "return F.linear(self.a(x).relu(), self.a.weight.t())",
        "2, 16",
        "linear relu linear",
    ),
    "weight norm": (
        "self.a = nn.utils.parametrizations.weight_norm(nn.Linear(8, 4))",
        "return self.a(x)",
        "2, 8",
        "linear",
    ),
    "joined": (
        "self.a = nn.Linear(8, 3); self.b = nn.Linear(8, 2)",
        "return F.linear(x, torch.cat([self.a.weight, self.b.weight * 0.5]))",
        "2, 8",
        "linear",
    ),
    "numbers": (
        "self.a = nn.Linear(8, 4)",
        "return 1 - (self.a(x).reshape(2, 2, 2) * 3 + 1) / 2",
        "2, 8",
        "linear reshape",
    ),
    "norms of rows": (
        "N = nn.BatchNorm1d; self.a = N(8); self.b = nn.Linear(8, 4); self.c = N(4)",
        "return self.c(self.b(self.a(x)))",
        "3, 8",
        "linear",
    ),
    "a norm of images by itself": (
        "self.a = nn.BatchNorm2d(3); self.b = nn.Conv2d(3, 4, 3, padding=1)",
        "return self.b(F.relu(self.a(x)))",
        "1, 3, 6, 6",
        "conv2d relu conv2d",
    ),
    "factors of channels": (
        "self.m = torch.rand(3, 1, 1); self.a = nn.Conv2d(3, 4, 3, padding=1)",
        "return self.a((x - self.m) / (self.m + 1))",
        "1, 3, 6, 6",
        "conv2d conv2d",
    ),
    "a transposed convolution and its norm": (
        "self.a = nn.ConvTranspose2d(4, 6, 3, 2, 1, 1); self.b = nn.BatchNorm2d(6)",
        "return self.b(self.a(x))",
        "1, 4, 5, 6",
        "conv_transpose2d slice slice",
    ),
    "groups of a transposed convolution": (
        "self.a = nn.ConvTranspose2d(4, 6, 3, groups=2)",
        "return self.a(x)",
        "1, 4, 5, 6",
        "slice conv_transpose2d slice conv_transpose2d cat",
    ),
    "a series": (
        "self.a = nn.Conv1d(2, 4, 5, 2, 2); self.b = nn.BatchNorm1d(4);"
        " self.c = nn.Conv1d(4, 3, 3, padding='same')",
        "return self.c(F.max_pool1d(F.relu(self.b(self.a(x))), 2)).mean(-1)",
        "1, 2, 40",
        "unsqueeze clone conv2d relu max_pool2d conv2d avg_pool2d reshape",
    ),
    "a series with a skip": (
        "self.a = nn.Conv1d(2, 4, 4, 2); self.b = nn.ConvTranspose1d(4, 2, 4, 2)",
        "y = self.b(torch.tanh(self.a(F.pad(x, (2, 0)))))\n"
        "        return torch.cat([y[..., 2:], x], 1)",
        "1, 2, 20",
        None,
    ),
    "even windows of the same size": (
        "self.a = nn.Conv1d(2, 4, 4, padding='same', dilation=3)",
        "return self.a(x)",
        "1, 2, 20",
        None,
    ),
    "a series that becomes a sequence": (
        "self.a = nn.Conv1d(2, 4, 3); self.b = nn.Linear(4, 3)",
        "return self.b(F.glu(torch.cat([self.a(x)] * 2, 1), 1).transpose(1, 2))",
        "1, 2, 20",
        None,
    ),
    "means and sums": (
        "self.a = nn.Linear(8, 4)",
        "return self.a(x).mean(1), self.a(x).sum(2), self.a(x).amax((1, 2))",
        "1, 6, 8",
        None,
    ),
    "a softmax of channels": (
        "self.a = nn.Conv2d(3, 4, 1)",
        "return torch.softmax(self.a(x), 1)",
        "1, 3, 5, 5",
        "conv2d permute softmax permute",
    ),
    "pools with cut windows": (
        "self.a = nn.Conv2d(3, 4, 3)",
        "y = self.a(x)\n"
        "        return F.max_pool2d(y, 3, 2, 1, ceil_mode=True),"
        " F.max_pool2d(F.relu(y), 3, 2, ceil_mode=True)",
        "1, 3, 10, 11",
        None,
    ),
    "attention": (
        "self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3))",
        "q, k, v = (f(x).unflatten(-1, (2, 4)).transpose(1, 2)"
        " for f in (self.q, self.k, self.v))\n"
        "        return F.scaled_dot_product_attention(q, k, v, is_causal=True)",
        "1, 6, 8",
        None,
    ),
    "attention by hand": (
        "self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3));"
        " self.m = torch.ones(6, 6).triu(1).bool()",
        "s = self.q(x) @ self.k(x).transpose(-1, -2) * 8**-0.5\n"
        "        return s.masked_fill(self.m, -torch.inf).softmax(-1) @ self.v(x)",
        "1, 6, 8",
        None,
    ),
    "attention by where": (
        "self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3));"
        " self.m = torch.ones(6, 6).triu(1).bool()",
        "s = self.q(x) @ self.k(x).mT * 8**-0.5\n"
        "        return torch.where(self.m, -1e9, s).softmax(-1) @ self.v(x)",
        "1, 6, 8",
        None,
    ),
    "learned queries": (
        "self.a = nn.MultiheadAttention(8, 2, batch_first=True);"
        " self.q = nn.Parameter(torch.randn(1, 3, 8))",
        "return self.a(self.q, x, x, need_weights=False)[0]",
        "1, 6, 8",
        None,
    ),
    "the largest of a series": (
        "self.a = nn.Conv1d(3, 8, 3)",
        "return F.adaptive_max_pool1d(self.a(x), 2)",
        "1, 3, 10",
        None,
    ),
    "a gate of channels": (
        "self.a = nn.Conv2d(3, 8, 3); self.b = nn.Linear(8, 8)",
        "y = F.silu(self.a(x))\n"
        "        return torch.sigmoid(self.b(y.mean((2, 3))))[:, :, None, None] * y",
        "1, 3, 8, 8",
        None,
    ),
    "activations": (
        "self.a = nn.Conv2d(3, 8, 3)",
        "y = F.leaky_relu(self.a(x), 0.1)\n"
        "        y = F.elu(y * torch.sigmoid(1.5 * y) + 0.5)\n"
        "        return F.mish(y) - F.gelu(y)",
        "1, 3, 8, 8",
        None,
    ),
    "shuffled channels": (
        "self.a = nn.Conv2d(4, 4, 1)",
        "a, b = x.chunk(2, 1)\n"
        "        y = torch.cat([a, self.a(x)[:, :2]], 1).view(1, 2, 2, 6, 6)\n"
        "        return y.transpose(1, 2).reshape(1, 4, 6, 6)",
        "1, 4, 6, 6",
        None,
    ),
}


@pytest.fixture(autouse=True)
def torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return pytest.importorskip("torch", reason="pip install '.[export]'")


def network(layers: str, forward: str, sizes: str) -> tuple[Any, tuple[Any, ...]]:
    """The model, with batch norms that do something, and its inputs."""
    from ember.export import source

    layers += (
        "\n        for part in self.modules():\n"
        "            if hasattr(part, 'running_var'):\n"
        "                part.running_var.uniform_(0.5, 2); part.running_mean.normal_()"
    )
    file = Path(written(layers, forward, f"torch.randn({sizes})"))
    with file.open("a", encoding="utf-8") as more:  # its tests are in range
        more.write("calibration_inputs.append(example_inputs)\n")
    given = source.read(file)
    return given.model, given.inputs


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_results_stay(torch: Any, spelling: str) -> None:
    from ember.export.canonical import rewrite

    trees = torch.utils._pytree
    *text, operators = SPELLINGS[spelling]
    model, inputs = network(*text)
    graph = torch.export.export(model, inputs, strict=False).module(check_guards=False)
    with torch.no_grad():
        want = trees.tree_leaves(model(*inputs))
        rewrite(graph, inputs)
        results = trees.tree_leaves(graph(*inputs))
    for result, exact in zip(results, want, strict=True):
        assert torch.allclose(result, exact, rtol=1e-4, atol=1e-5)
    calls = [node for node in graph.graph.nodes if node.op == "call_function"]
    names = [str(node.target).removeprefix("aten.").split(".")[0] for node in calls]
    assert operators is None or names == operators.split()


@pytest.mark.slow
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_all_of_it_becomes_int8(
    torch: Any, capsys: pytest.CaptureFixture[str], spelling: str
) -> None:
    trees = torch.utils._pytree
    model, inputs = network(*SPELLINGS[spelling][:3])
    outputs = model(*inputs)
    largest = max(float(each.abs().max()) for each in trees.tree_leaves(outputs))
    words = ["--board", "mps2-an386", "--quantize", "int8", "-o", "net.bpte"]
    code = cli.main(["export", "network.py", *words, "--strict", "--json", "-"])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    facts = json.loads(printed.out)
    assert not facts["integers"]["float"]
    assert facts["distance"] < 0.1 * largest
    assert cli.main(["test", "net.bpte", "--board", "host"]) == 0


def test_a_mask_hides_without_infinity(torch: Any) -> None:
    from ember.export.canonical import attention, rewrite

    layers, forward, sizes, _ = SPELLINGS["attention by hand"]
    model, inputs = network(layers, forward, sizes)
    graph = torch.export.export(model, inputs).module(check_guards=False)
    rewrite(graph, inputs)
    held = [
        tensor for _, tensor in graph.named_buffers() if tensor.shape[-2:] == (6, 6)
    ]
    assert min(float(tensor.min()) for tensor in held[-1:]) == attention.HIDDEN
