"""Faults published for kernels and delegates of ExecuTorch; crafted files have those of
its loader."""

from __future__ import annotations

from pathlib import Path

import committed
import numpy as np
import pytest

from ember import cli

OUTSIDE = (100, 2**31 - 1, -100, -(2**31))
# Cases, and which of their inputs are indices.
INDEXED = {
    "op_embedding": (0,),
    "op_embedding_s32": (0,),
    "op_embedding_byte_s8_f32_g1": (2,),
    "op_embedding_4bit_u8_f32_g1": (2,),
    "op_embedding_2bit_u8_f32_g1": (2,),
    "op_embedding_bag": (0, 1),
    "op_gather": (1,),
    "op_index_select": (1,),
}
ALTERED = [(name, number) for name, inputs in INDEXED.items() for number in inputs]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "number"), ALTERED)
def test_indices_outside_of_the_table(
    name: str, number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """pytorch/executorch #11375: embedding read wherever its index pointed."""
    for index in OUTSIDE:
        folder = committed.copied(name, tmp_path / f"{name}_{index}")
        file = folder / f"in{number}_0.npy"
        array = np.load(file)
        array.flat[array.size - 1] = index
        np.save(file, array)
    assert cli.main(["test", str(tmp_path), "--board", "host"]) == 1
    said = capsys.readouterr().out
    assert said.count("a value read from tensor data is out of range") == len(OUTSIDE)
