"""Weights packed while a program is built: what the image holds, and what it needs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import committed
import pytest
from committed_cases import path_of

from ember import boards, cli, model, program
from ember.boards import Board
from ember.errors import SdkError
from ember.firmware import repack
from ember.model import Model
from ember.plan.improved import Improved
from ember.program import NamedData
from ember.select import selection
from ember.select.selection import Selection

SME = boards.load("qemu-a64-sme")


def chosen(source: Model, board: Board) -> Selection:
    methods = source.program.methods
    return selection.choose(
        source.program, source.content, source.data, board, methods, "mlp"
    )


@pytest.fixture(scope="module")
def mlp() -> Model:
    return model.read(path_of("xnnpack_mlp"))


@pytest.fixture(scope="module")
def packed(mlp: Model) -> Improved:
    return repack.with_weights_packed(Improved.of(mlp), chosen(mlp, SME))


def test_weights_are_in_the_image_once(mlp: Model, packed: Improved) -> None:
    before = {named.key: named.data for named in mlp.program.named_data}
    after = {
        named.key: named.data for named in program.parse(packed.content).named_data
    }
    weights = {name.partition("/")[0] for name in packed.packed}
    assert len(weights) == 2
    assert set(before) - set(after) == weights
    assert set(after) - set(before) == set(packed.packed)
    assert sum(map(len, after.values())) == sum(map(len, before.values()))


def test_the_arena_loses_them(mlp: Model, packed: Improved) -> None:
    (loading,), (built,) = chosen(mlp, SME).needs, chosen(packed, SME).needs
    assert loading.arena - built.arena >= sum(packed.packed.values())
    assert [n.kernel for n in built.delegates[0].nodes] == [
        n.kernel for n in loading.delegates[0].nodes
    ]
    assert repack.with_weights_packed(packed, chosen(packed, SME)) is packed


def test_a_board_with_other_vectors_is_refused(packed: Improved) -> None:
    with pytest.raises(SdkError, match="packed for another board"):
        chosen(packed, SME.model_copy(update={"svl": 256}))


def test_weights_that_others_read_stay(mlp: Model) -> None:
    (method,) = mlp.program.methods
    plain = replace(method, name="plain")  # not selected, so nothing is known of it
    both = replace(mlp.program, methods=(method, plain))
    shared = replace(Improved.of(mlp), program=both, content=program.write(both))
    selected = selection.choose(both, shared.content, (), SME, (method,), "mlp")
    packed = repack.with_weights_packed(shared, selected)
    keys = {each.key for each in packed.program.named_data}
    assert {each.key for each in mlp.program.named_data} < keys


def test_packed_weights_of_another_size_are_not_used(packed: Improved) -> None:
    short = tuple(
        NamedData(named.key, named.data[:-16]) if named.key in packed.packed else named
        for named in packed.program.named_data
    )
    damaged = replace(packed.program, named_data=short)
    with pytest.raises(SdkError, match="packed for another board"):
        chosen(replace(packed, program=damaged, content=program.write(damaged)), SME)


KINDS = (
    *("mlp_f16", "mlp_static", "mlp_qd8", "mlp_int4", "layer_linear_qc4"),
    "rare_int4_odd",
    "layer_pointwise_qs8",
    "layer_conv_qs8",
    "layer_depthwise_qs8",
    "resnet8",
)


def packed_for(name: str, board: Board) -> Improved:
    original = model.read(path_of(f"xnnpack_{name}"))
    return repack.with_weights_packed(Improved.of(original), chosen(original, board))


@pytest.mark.parametrize("board", ["qemu-a64-sme", "qemu-a64-i8mm", "qemu-a64"])
def test_what_was_packed_is_found(board: str) -> None:
    target = boards.load(board)
    packed = [packed_for(name, target) for name in KINDS]
    assert sum(bool(network.packed) for network in packed) >= len(KINDS) // 2
    for improved in packed:
        assert (
            repack.with_weights_packed(improved, chosen(improved, target)) is improved
        )


@pytest.mark.slow
def test_images_compute_what_loaded_programs_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in KINDS:
        folder = committed.copied(f"xnnpack_{name}", tmp_path / name)
        (folder / "model.pte").write_bytes(packed_for(name, SME).content)
    status = cli.main(["test", str(tmp_path), "--board", SME.name])
    assert status == 0, capsys.readouterr().out
