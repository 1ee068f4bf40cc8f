# SPDX-License-Identifier: Apache-2.0
"""The pass batch_norm: given statistics become weights of convolutions."""

from __future__ import annotations

import numpy as np
import pytest
from committed_cases import path_of
from float_row_programs import PLANES, FloatNetwork
from row_programs import ORDER
from small_programs import KNOWN, here

from ember import model as models
from ember.firmware import jobs, project
from ember.firmware.repack import repack
from ember.model import Model
from ember.plan import passes
from ember.plan.passes import batch_norm, execute
from ember.plan.passes.execute import Executable, compare, scenarios
from ember.program import Method, edit, types

NORM = "aten::_native_batch_norm_legit_no_training"


def network(order: tuple[int, ...] = PLANES, seed: int = 1) -> Model:
    """Convolutions of each kind, each with a normalisation behind it."""
    net = FloatNetwork(seed, (1, 3, 11, 9), order)
    x = net.relu(net.norm(net.conv(net.input, 8)))
    x = net.relu(net.norm(net.conv(x, 8, depthwise=True)))
    x = net.norm(net.norm(net.conv(x, 6, 1)))  # two at once
    return net.model(net.relu(net.norm(net.turned(x, 4))))


def names(method: Method) -> list[str]:
    return [name.removesuffix(".out") for _, name, _ in method.kernel_calls()]


def folded(model: Model) -> list[edit.Draft]:
    return batch_norm.apply(edit.draft(model.program), here(), frozenset())


@pytest.mark.parametrize("order", [PLANES, ORDER])
def test_normalisations_are_folded_within_the_stated_rounding(
    order: tuple[int, ...],
) -> None:
    model = network(order)
    improved = repack(model, KNOWN, ("batch_norm",))
    assert [outcome.status for outcome in improved.passes] == ["used"]
    assert NORM not in names(improved.program.methods[0])
    old, new = Executable(model.program, model.content), Executable.of(improved.program)
    runs = scenarios(model)
    assert compare(here(), old, new, runs) == "different"  # it does round
    assert compare(here(), old, new, runs, execute.ROUNDING) == "same"
    assert compare(here(), old, new, runs, 1e-6) == "same"  # in fact by far less


def test_a_wrong_weight_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One filter is larger by a thousandth: the pass is dropped, the others stay."""
    scaled = batch_norm._Folding._scaled

    def wrong(*given: object) -> np.ndarray | None:
        weights = scaled(*given)  # type: ignore[arg-type]
        if weights is not None:
            weights = weights.copy()
            weights[0] *= np.float32(1.001)
        return weights

    monkeypatch.setattr(batch_norm._Folding, "_scaled", wrong)
    improved = repack(network(seed=2), KNOWN, passes.default("speed"))
    outcomes = {outcome.name: outcome for outcome in improved.passes}
    assert outcomes["batch_norm"].status == "dropped"
    assert outcomes["batch_norm"].reason == "the results differ"
    assert outcomes["in_place"].status == "used"
    assert names(improved.program.methods[0]).count(NORM) == 5


@pytest.mark.parametrize("used", ["twice", "output", "input"])
def test_a_result_that_somebody_else_reads_stays(used: str) -> None:
    net = FloatNetwork(3, (1, 4, 8, 8))
    x = net.input if used == "input" else net.conv(net.input, 4)
    y = net.norm(x)
    outputs = {"twice": [net.plus(x, y)], "output": [net.relu(y), x], "input": [y]}
    assert folded(net.model(*outputs[used])) == []


def test_statistics_that_are_computed_stay() -> None:
    net = FloatNetwork(4, (1, 4, 8, 8))
    y = net.norm(net.conv(net.input, 4))
    call = net.calls[-1]
    assert isinstance(call, types.KernelCall)
    net.values[call.args[6]] = types.Double(-1e9)  # of a variance below 0
    assert folded(net.model(net.relu(y))) == []


def test_only_a_build_that_is_optimised_rounds() -> None:
    plans = project.Project()
    asked = {
        optimize: jobs.options_of(plans, optimize).passes
        for optimize in ("size", "balanced", "speed")
    }
    assert asked["balanced"] == passes.DEFAULT
    assert "batch_norm" not in passes.DEFAULT
    assert asked["size"] == asked["speed"] == ("batch_norm", *passes.DEFAULT)
    left = jobs.options_of(plans, "speed", no_pass=["batch_norm"]).passes
    assert left == passes.DEFAULT
    assert jobs.options_of(plans, "speed", only_passes="fold").passes == ("fold",)


def test_an_exported_network_loses_its_normalisations() -> None:
    model = models.read(path_of("model_resnet8_small"))
    improved = repack(model, KNOWN, passes.default("speed"))
    assert NORM in names(model.program.methods[0])
    assert NORM not in names(improved.program.methods[0])
