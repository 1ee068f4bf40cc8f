"""Payloads of XNNPACK delegates in other forms run; those that lie are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import committed
import crafted_payloads
import payloads
import pytest

from ember import boards, cli, program
from ember.errors import SdkError
from ember.files import tensor_data
from ember.select import selection


@pytest.mark.parametrize(
    "crafted", [*crafted_payloads.crafted()], ids=lambda payload: payload.name
)
def test_payloads_that_lie_are_refused(crafted: crafted_payloads.Crafted) -> None:
    data = crafted.make()
    parsed = program.parse(data)
    host = boards.load("host")
    with pytest.raises(SdkError, match=crafted.says):
        selection.choose(parsed, data, (), host, parsed.methods, crafted.name)


@pytest.mark.parametrize(
    ("form", "case"),
    payloads.FORMS,
    ids=lambda value: getattr(value, "__name__", value),
)
def test_old_forms_have_the_same_numbers(
    form: Callable[[str], bytes],
    case: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = committed.copied(f"xnnpack_{case}", tmp_path / case)
    (folder / "model.pte").write_bytes(form(case))
    assert cli.main(["test", str(folder), "--board", "host"]) == 0, capsys.readouterr()


@pytest.mark.parametrize("case", ["mlp_static", "mlp_int4"])
def test_constants_may_be_in_a_data_file(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = committed.copied(f"xnnpack_{case}", tmp_path / case)
    parsed = program.read(folder / "model.pte")
    entries = tuple(
        tensor_data.Entry(each.key, bytes(each.data)) for each in parsed.named_data
    )
    (folder / "weights.ptd").write_bytes(
        tensor_data.write(tensor_data.TensorData(entries))
    )
    (folder / "model.pte").write_bytes(program.write(replace(parsed, named_data=())))
    assert cli.main(["test", str(folder), "--board", "host"]) == 0, capsys.readouterr()

    (folder / "weights.ptd").rename(tmp_path / "apart.ptd")
    assert cli.main(["run", str(folder / "model.pte"), "--board", "host"]) == 1
    assert "--data FILE.ptd" in capsys.readouterr().err
