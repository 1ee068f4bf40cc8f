"""Payloads that scratch takes the place of: which, where, and what must not be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from committed_cases import path_of

from ember import boards, program
from ember import model as models
from ember.errors import SdkError
from ember.firmware import jobs
from ember.firmware.jobs import Options
from ember.firmware.pipeline import Pipeline
from ember.firmware.placing import Assumed
from ember.model import Model
from ember.model.steering import Steering
from ember.plan import check as plan_check
from ember.plan import kernel_scratch
from ember.plan.improved import Chosen, Improved
from ember.program import Delegate, NamedData
from ember.select import selection
from ember.toolchain import linker

A64 = boards.load("qemu-a64")
RESNET = path_of("xnnpack_resnet8")
TWO = path_of("xnnpack_two_delegates")


def planned(path: Path, board: str = "qemu-a64", **options: Any) -> dict[str, Any]:
    on, asked = boards.load(board), Options(**options)
    job = jobs.make([models.read(path)], on, asked, None)
    return Pipeline(job).place(Assumed(linker.DEFAULT_STACK)).facts


def used(facts: dict[str, Any]) -> int:
    return sum(memory["used"] for memory in facts["memories"])


def written(model: Model, folder: Path, **changes: Any) -> Path:
    path = folder / "changed.pte"
    path.write_bytes(program.write(replace(model.program, **changes)))
    return path


@pytest.fixture(scope="module")
def two() -> Improved:
    return kernel_scratch.payloads_last(Improved.of(models.read(TWO)), "forward")


def payloads(model: Model) -> list[bytes]:
    return [each.data for each in model.program.methods[0].delegates]


def lent(model: Improved) -> kernel_scratch.Lending:
    methods = model.program.methods[:1]
    chosen = selection.choose(model.program, model.content, (), A64, methods, "two")
    return kernel_scratch.lending([Chosen(model, chosen)], A64, reload=False)


# ---- where it pays -------------------------------------------------------------------


def test_scratch_takes_the_payloads() -> None:
    (size,) = map(len, payloads(models.read(RESNET)))
    facts = planned(RESNET)
    kept = planned(RESNET, steering=Steering(reload=True))
    assert facts["scratch"] > size
    assert facts["payloads"]["reused"] == -(-size // 16) * 16
    saved = used(kept) - used(facts)
    # In another order, there are other gaps.
    assert abs(saved - facts["payloads"]["reused"]) < 128
    assert "reload" in kept["payloads"]["reason"]
    assert (kept["payloads"]["spare"], kept["payloads"]["reused"]) == (size, 0)


def test_scratch_that_is_smaller_lies_in_the_image() -> None:
    facts = planned(path_of("xnnpack_mlp_static"))
    assert 0 < facts["scratch"] < facts["payloads"]["spare"]
    assert facts["payloads"]["reused"] == facts["scratch"]


def test_several_delegates_lend_together(two: Improved) -> None:
    lending = lent(two)
    assert lending.spare == sum(map(len, payloads(two)))
    assert lending.start + lending.size == len(two.content)
    assert lending.size >= lending.spare
    tail = two.content[lending.start :]
    assert all(payload in tail for payload in payloads(two))


def test_delegates_with_one_payload_lend_it_once(two: Improved) -> None:
    (method,) = two.program.methods
    same = tuple(
        replace(delegate, data=payloads(two)[0]) for delegate in method.delegates
    )
    both = replace(two.program, methods=(replace(method, delegates=same),))
    content = program.write(both)
    start = content.rindex(payloads(two)[0])
    assert content.count(payloads(two)[0]) == 1
    assert list(plan_check.lent_problems(content, method.name, start)) == []


# ---- where it may not be -------------------------------------------------------------


def test_an_image_in_flash_keeps_them() -> None:
    facts = planned(RESNET, "mps2-an386")
    assert facts["payloads"]["spare"] > 0
    assert facts["payloads"]["reused"] == 0
    assert facts["payloads"]["reason"] == "the image is not in RAM"


def test_methods_that_share_scratch_keep_them(two: Improved, tmp_path: Path) -> None:
    (method,) = two.program.methods
    path = written(two, tmp_path, methods=(method, replace(method, name="other")))
    facts = planned(path, methods=("forward", "other"))
    assert facts["payloads"]["reused"] == 0
    assert "2 methods share scratch" in facts["payloads"]["reason"]
    assert planned(path)["payloads"]["spare"] == 0  # the other method has them, too


def test_a_method_that_is_not_built_keeps_its_own(
    two: Improved, tmp_path: Path
) -> None:
    (method,) = two.program.methods
    longer = tuple(
        replace(delegate, data=delegate.data + bytes(16))
        for delegate in method.delegates
    )
    other = replace(method, name="other", delegates=longer)
    for methods in ((method, other), (other, method)):
        facts = planned(written(two, tmp_path, methods=methods))["payloads"]
        assert facts["spare"] == sum(map(len, payloads(two)))
        assert facts["reused"] > 0


def test_a_payload_inside_of_the_tables_stays(two: Improved, tmp_path: Path) -> None:
    (method,) = two.program.methods
    inline = tuple(replace(delegate, inline=True) for delegate in method.delegates)
    path = written(two, tmp_path, methods=(replace(method, delegates=inline),))
    assert planned(path)["payloads"] == {"spare": 0, "reused": 0, "reason": ""}


def test_a_payload_that_is_named_data_too_stays(two: Improved) -> None:
    both = (*two.program.named_data, NamedData("again", payloads(two)[1]))
    changed = replace(two.program, named_data=both)
    lending = lent(replace(two, program=changed, content=program.write(changed)))
    assert lending.spare == len(payloads(two)[0])
    assert lending.size < lending.spare + 128


# ---- what the check finds ------------------------------------------------------------


def problems(model: Model, start: int, method: str = "forward") -> str:
    return "; ".join(plan_check.lent_problems(model.content, method, start))


def test_the_check_agrees_and_finds_one_byte_more(two: Improved) -> None:
    start = lent(two).start
    assert problems(two, start) == ""
    end_of_data = two.content.rindex(two.program.named_data[-1].data)
    end_of_data += len(two.program.named_data[-1].data)
    assert problems(two, end_of_data) == ""
    assert problems(two, end_of_data - 1) == "named data of the program"
    assert "malformed" in problems(two, 64) or "magic" in problems(two, 64)
    with pytest.raises(SdkError, match="named data of the program"):
        plan_check.check_lent(two.content, "forward", end_of_data - 1)


def test_the_check_finds_payloads_that_are_read(two: Improved) -> None:
    start = lent(two).start
    assert "delegate 0 of forward" in problems(two, start, method="other")
    (method,) = two.program.methods
    first, second = method.delegates
    foreign = Delegate("OtherBackend", second.data + b"more", False, ())
    for delegates in ((first, foreign), (foreign, second)):
        other = replace(method, delegates=delegates)
        changed = replace(two.program, methods=(other,))
        content = program.write(changed)
        message = problems(replace(two, content=content), start)
        assert message == f"delegate {delegates.index(foreign)} of forward"


def test_the_check_finds_constants_in_a_payload() -> None:
    mlp = kernel_scratch.payloads_last(
        Improved.of(models.read(path_of("xnnpack_mlp_static"))), "forward"
    )
    (method,) = mlp.program.methods
    (delegate,) = method.delegates
    # Names of constants that are no more: what they name is in the payload.
    bare = delegate.data
    for named in mlp.program.named_data:
        key = named.key.encode()
        size = len(key).to_bytes(4, "little")
        bare = bare.replace(size + key, bytes(5) + key[1:])
    other = replace(method, delegates=(replace(delegate, data=bare),))
    content = program.write(replace(mlp.program, methods=(other,)))
    start = content.rindex(bare)
    assert problems(replace(mlp, content=content), start) == "delegate 0 of forward"
