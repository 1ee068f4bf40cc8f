# SPDX-License-Identifier: Apache-2.0
"""A case folder -> does ExecuTorch's own runtime give the outputs PyTorch gave?"""

from __future__ import annotations

from typing import Any

import torch
from executorch.extension.pybindings import portable_lib

from corpus.case import Exported, Run


def verdict(exported: Exported) -> str:
    """Return "agrees", or what went wrong. The outputs stay PyTorch's either way."""
    if not exported.runs:
        return _bundle_verdict(exported)
    data = [content for name, content in exported.files.items() if name.endswith("ptd")]
    if len(data) > 1:
        return "not tried: the Python runtime takes one .ptd"
    try:
        module = portable_lib._load_for_executorch_from_buffer(
            exported.files["model.pte"], *data
        )
        worst = max(_difference(module, run, exported) for run in exported.runs)
    except (RuntimeError, ValueError, TypeError) as error:
        return f"not run: {str(error).splitlines()[0]}"
    return "agrees" if worst == 0 else f"DIFFERS in {worst} outputs of a run"


def _bundle_verdict(exported: Exported) -> str:
    bundle = portable_lib._load_bundled_program_from_buffer(
        exported.files["model.bpte"]
    )
    try:
        bundle.verify_result_with_bundled_expected_output("forward", 0, 1e-4, 1e-5)
    except RuntimeError as error:
        return f"DIFFERS: {str(error).splitlines()[0]}"
    return "agrees"


def _difference(module: Any, run: Run, exported: Exported) -> int:
    got = module.run_method(run.method, tuple(run.inputs))
    pairs = list(zip(got, run.outputs, strict=True))
    return sum(not _same(a, b, exported) for a, b in pairs)


def _same(got: Any, want: Any, exported: Exported) -> bool:
    if not isinstance(want, torch.Tensor):
        return bool(got == want)
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    if not want.is_floating_point():
        return torch.equal(got, want)
    return torch.allclose(
        got, want, rtol=exported.rtol, atol=exported.atol, equal_nan=True
    )
