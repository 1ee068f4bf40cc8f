"""`ember.frontends.streamed`: a network of recordings takes them a hop at a time."""

# Modules of PyTorch are Any for mypy.
# mypy: allow-subclassing-any

from __future__ import annotations

from typing import Any

import pytest

from ember.errors import SdkError

pytestmark = pytest.mark.export


@pytest.fixture(name="torch")
def _torch() -> Any:
    return pytest.importorskip("torch")


def compare(torch: Any, model: Any, recording: Any, axis: int, hop: int) -> None:
    """A recording at once, in hops, and in hops once more after a reset."""
    from ember.frontends import reset, streamed

    model = model.eval()
    hops = recording.split(hop, axis)
    with torch.no_grad():
        whole = model(recording)
        stream = streamed(model, hops[0])
        for _ in range(2):
            given = torch.cat([stream(each) for each in hops], axis)
            torch.testing.assert_close(given, whole, rtol=0, atol=2e-6)
            reset(stream)


@pytest.mark.parametrize("hop", [1, 3, 12])
def test_convolutions_of_one_dimension(torch: Any, hop: int) -> None:
    from ember.frontends import Causal

    nn = torch.nn
    model = nn.Sequential(
        Causal(nn.Conv1d(3, 6, 4, dilation=2)),
        nn.ReLU(),
        Causal(nn.Conv1d(6, 6, 3, groups=3)),
        Causal(nn.AvgPool1d(2, 1)),
        nn.Conv1d(6, 2, 1),
    )
    compare(torch, model, torch.randn(2, 3, 12), -1, hop)


@pytest.mark.parametrize("hop", [4, 8])
def test_strides_halve_the_frames(torch: Any, hop: int) -> None:
    from ember.frontends import Causal

    nn = torch.nn
    model = nn.Sequential(
        Causal(nn.Conv2d(1, 4, (5, 3), stride=(2, 1), padding=(0, 1))),
        nn.BatchNorm2d(4),
        Causal(nn.MaxPool2d((2, 1))),
    )
    frames = torch.randn(1, 1, 16, 6)
    first = model.eval()(frames)
    assert first.shape == (1, 4, 4, 6)
    compare(torch, model, frames, -2, hop)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_recurrent_layers_go_on(
    torch: Any, kind: str, batch_first: bool, bias: bool
) -> None:
    nn = torch.nn
    options = {"nonlinearity": "relu"} if kind == "RNN" else {}

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = getattr(nn, kind)(
                3, 5, num_layers=2, batch_first=batch_first, bias=bias, **options
            )

        def forward(self, x: Any) -> Any:
            return self.layer(x)[0]

    axis = 1 if batch_first else 0
    frames = torch.randn(2, 6, 3) if batch_first else torch.randn(6, 2, 3)
    compare(torch, Net(), frames, axis, 2)


def test_the_last_state_is_that_of_the_layer(torch: Any) -> None:
    from ember.frontends import streamed

    layer = torch.nn.LSTM(3, 5, num_layers=2, batch_first=True).eval()
    frames = torch.randn(1, 4, 3)
    with torch.no_grad():
        _, want = layer(frames)
        _, given = streamed(layer, frames)(frames)
    torch.testing.assert_close(given, want)


def test_the_model_itself_stays(torch: Any) -> None:
    from ember.frontends import Causal, streamed

    model = torch.nn.Sequential(Causal(torch.nn.Conv1d(1, 1, 3))).train()
    stream = streamed(model, torch.zeros(1, 1, 1))
    assert model.training and not stream.training
    assert isinstance(model[0], Causal)
    assert not list(model.buffers())


def test_what_is_no_layer_over_time_is_refused(torch: Any) -> None:
    from ember.frontends import Causal

    nn = torch.nn
    for layer, why in [
        (nn.Linear(2, 2), "Linear is not a convolution or pooling over time"),
        (nn.Conv1d(1, 1, 3, padding=1), "padding along time looks ahead"),
        (nn.Conv1d(1, 1, 3, padding="same"), "padding 'same' looks ahead"),
        (nn.AvgPool2d((2, 1), ceil_mode=True), "ceil_mode looks behind"),
    ]:
        with pytest.raises(SdkError, match=why):
            Causal(layer)


def test_what_looks_along_time_must_say_so(torch: Any) -> None:
    from ember.frontends import Causal, streamed

    nn = torch.nn
    for layer, why in [
        (nn.Conv2d(1, 1, (3, 1)), "layer 0, Conv2d, looks along time"),
        (nn.AdaptiveAvgPool2d(1), "layer 0, AdaptiveAvgPool2d, looks"),
        (nn.LSTM(2, 2, bidirectional=True), "LSTM in both directions"),
    ]:
        with pytest.raises(SdkError, match=why):
            streamed(nn.Sequential(layer), torch.zeros(1, 1, 2, 2))
    with pytest.raises(SdkError, match="a hop has 3 frames"):
        streamed(Causal(nn.Conv1d(1, 1, 3, stride=2)), torch.zeros(1, 1, 3))


def test_a_stream_has_no_start_of_the_caller(torch: Any) -> None:
    from ember.frontends import streamed

    stream = streamed(torch.nn.GRU(2, 2), torch.zeros(1, 1, 2))
    with pytest.raises(SdkError, match="keeps its own state"):
        stream(torch.zeros(1, 1, 2), torch.zeros(1, 1, 2))


def test_quantisation_does_not_depend_on_the_cut(torch: Any) -> None:
    """Only observers of states see what the last call leaves."""
    from ember.export.graph import states

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(1))

        def forward(self, x: Any) -> Any:
            self.total.add_(x)
            return self.total * 2

    explicit = states.explicit(Net(), (torch.ones(1),))
    seen = []

    class Watch(torch.nn.Module):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def forward(self, x: Any) -> Any:
            seen.append((self.name, float(x)))
            return x

        def calculate_qparams(self) -> None:  # what tells an observer
            raise NotImplementedError

    graph = explicit.graph
    for node in [n for n in graph.graph.nodes if n.op in ("placeholder", "output")]:
        if node.op == "placeholder":
            graph.add_submodule(f"watch_{node.name}", Watch(node.name))
            with graph.graph.inserting_after(node):
                watch = graph.graph.call_module(f"watch_{node.name}", ())
            node.replace_all_uses_with(watch)
            watch.args = (node,)
    graph.recompile()
    explicit.calibrate(graph, [(torch.ones(1),)] * 3)
    inputs = [value for name, value in seen if name.startswith("inputs")]
    totals = [value for name, value in seen if name.startswith("states")]
    assert inputs == [1, 1, 1]
    assert totals == [0, 1, 2, 3]
