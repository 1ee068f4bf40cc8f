"""`ember export --quantize int4`: PyTorch's module computes what the program does."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = [pytest.mark.export, pytest.mark.slow]


def test_the_module_has_the_scales_of_the_program() -> None:
    torch = pytest.importorskip("torch")
    from ember.export import flows, quantising
    from ember.export.source import Source

    torch.manual_seed(0)
    layers = torch.nn.Linear(64, 48), torch.nn.ReLU(), torch.nn.Linear(48, 32)
    model = torch.nn.Sequential(*layers).eval()
    samples = [(torch.randn(1, 64),) for _ in range(20)]
    module, left = quantising.in_groups(model)
    assert left == 1  # 48 inputs are not a multiple of 32
    source = Source(Path("model.py"), model, samples[0], ())
    with torch.no_grad():
        program = flows.lower(source, "xnnpack", "int4", "cortex-m55", samples[:1])
        outputs = program.outputs(samples)
        for sample, (output,) in zip(samples, outputs, strict=True):
            assert torch.allclose(module(*sample), output, rtol=0, atol=1e-5)
            assert not torch.allclose(model(*sample), output, rtol=0, atol=1e-3)
