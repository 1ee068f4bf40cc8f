"""Weights packed on the host and on the target: the same bytes."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from committed_cases import path_of

from ember import boards
from ember.cases import inputs
from ember.errors import SdkError
from ember.firmware import build
from ember.firmware.jobs import Options
from ember.model import Model
from ember.run import run
from ember.select import prepack
from ember.select.resolve import MethodNeeds
from ember.select.rules import Rules
from ember.toolchain import emulator

APP = Path(__file__).parent / "apps" / "packing.c"
LAYERS = (
    *("linear_f32", "linear_f16", "linear_qs8", "linear_qs8_tensor", "linear_qd8"),
    *("linear_qd8_f16", "linear_qc4", "linear_qb4_32", "linear_qb4_128"),
    *("conv_f32", "conv_f16", "conv_qs8", "conv_qs8_tensor", "conv_qd8"),
    *("pointwise_f32", "pointwise_qs8", "depthwise_f32", "depthwise_f16"),
    *("depthwise_qs8", "matmul_f32", "matmul_f16", "transposed_qs8"),
)
MODELS = [path_of(f"xnnpack_layer_{name}") for name in LAYERS]
MODELS += [path_of(f"xnnpack_{name}") for name in ("encoder_f16", "separable_static")]
MODELS += [path_of("xnnpack_rare_int4_odd"), path_of("xnnpack_mlp_bf16")]
_LINE = re.compile(r"^packed (.+) ([0-9a-f]{8}) ([0-9a-f]{8})$", re.MULTILINE)
pytestmark = [pytest.mark.qemu, pytest.mark.long]


@pytest.mark.parametrize(
    ("board", "forbid", "layouts"),
    [
        ("qemu-a64-sme", (), 10),  # SVL 512
        ("qemu-a64-sme-256", (), 10),
        ("qemu-a64-sme-128", (), 10),
        ("qemu-a64-i8mm", (), 8),
        ("qemu-a64", (), 7),
        ("qemu-a64", ("dot",), 3),
    ],
)
def test_host_and_device_pack_the_same_bytes(
    board: str,
    forbid: tuple[str, ...],
    layouts: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected: dict[str, tuple[int, int]] = {}
    pack = prepack.prepack

    def noted(model: Model, needs: Sequence[MethodNeeds]) -> None:
        packed = pack(model, needs)
        if packed is None:
            return
        for named in packed.program.named_data:
            if named.key in packed.sizes:
                expected[named.key] = (len(named.data), zlib.crc32(named.data))
        # The device packs itself.

    monkeypatch.setattr(prepack, "prepack", noted)
    options = Options(app=APP, messages=True, rules=Rules(forbid=forbid))
    built = build(MODELS, board, out=tmp_path / "built", options=options)
    said = emulator.run(built.board, built.firmware).check("packing").text
    printed = {
        name: (int(size, 16), int(check, 16))
        for name, size, check in _LINE.findall(said)
    }
    assert printed == expected
    names = {name.rsplit("/", 1)[1].partition(".")[0] for name in printed}
    print(sorted(names))
    assert len(names) >= layouts, sorted(names)


def test_an_image_for_another_core_is_one_sentence(tmp_path: Path) -> None:
    case = path_of("xnnpack_mlp_static")
    options = Options(messages=True)
    built = build(case, "qemu-a64-sme", out=tmp_path / "built", options=options)
    given = inputs.zeros(built.methods[0])
    for board, sentence in (
        ("qemu-a64-sme-256", "weights were packed for another board"),
        ("qemu-a64-sme-128", "built for a core with longer vectors"),
        ("qemu-a64", "built for a core with more instruction sets"),
    ):
        with pytest.raises(SdkError, match=sentence):
            run.run(replace(built, board=boards.load(board)), given, trace=False)
