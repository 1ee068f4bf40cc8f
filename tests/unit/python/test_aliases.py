"""Views and state that lifetimes finds, against what the exporter knew.

The exporter gives every node a TensorSpec; a view that it leaves out has one that names
its base. Which value became of a spec is read from the exporter while it writes.
"""

# Modules of PyTorch are Any for mypy.
# mypy: allow-subclassing-any

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ember import kernels, program
from ember.plan import lifetimes

pytestmark = [pytest.mark.export, pytest.mark.slow]


def modules() -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Modules with sample inputs."""
    import torch
    from torch import nn

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.into, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

        def forward(self, x: Any) -> Any:
            q, k, v = self.into(x).view(8, 3, 4, 4).permute(1, 2, 0, 3).unbind()
            weights = torch.softmax(q @ k.transpose(1, 2), -1)
            mixed = (weights @ v).permute(1, 0, 2).reshape(8, 16)
            return x + self.out(mixed)

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(4, 6)

        def forward(self, x: Any) -> Any:
            return self.lstm(x.view(5, 1, 4))[0].flatten()

    class Cache(nn.Module):
        keys: Any
        count: Any

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("keys", torch.zeros(8, 4))
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x: Any, at: Any) -> Any:
            self.keys.index_put_((at,), x)
            self.count += 1
            return (self.keys.view(4, 8) * 2).flatten(), self.count + 1

    class Views(nn.Module):
        def forward(self, x: Any) -> Any:
            y = torch.relu(x).view(2, 3, 4).unsqueeze(0)
            z = torch.tanh(x).flatten()
            return y.squeeze(0) + 1, z.view(24), y.reshape(24) * z

    convolutions = nn.Sequential(
        *(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten()),
        *(nn.Linear(36, 10), nn.Unflatten(1, (2, 5)), nn.Softmax(-1)),
    )
    randn = torch.randn
    return {
        "attention": (nn.Sequential(Attention(), Attention()), (randn(8, 16),)),
        "recurrent": (Recurrent(), (randn(20),)),
        "cache": (Cache(), (randn(1, 4), torch.tensor([3]))),
        "views": (Views(), (randn(6, 4),)),
        "convolutions": (convolutions, (randn(1, 1, 8, 8),)),
    }


class Truth:
    """What the exporter knew of one program."""

    def __init__(self, module: Any, inputs: tuple[Any, ...], patch: Any) -> None:
        import torch
        from executorch.exir import EdgeCompileConfig, to_edge
        from executorch.exir.emit import _emitter

        states = []
        original = _emitter._Emitter._emit_spec

        def noting(emitter: Any, spec: Any) -> Any:
            states.append(emitter.emitter_state)
            return original(emitter, spec)

        patch.setattr(_emitter._Emitter, "_emit_spec", noting)
        exported = torch.export.export(module.eval(), inputs)
        edge = to_edge(
            exported, compile_config=EdgeCompileConfig(_check_ir_validity=False)
        )
        manager = edge.to_executorch()
        self.content = bytes(manager.buffer)
        self.ids = states[-1].spec2id_dict
        signature = manager.exported_program().graph_signature
        mutable = set(signature.buffers_to_mutate.values())
        names = signature.inputs_to_buffers
        self.mutable = {
            self.ids[node.meta["spec"]]
            for node in manager.exported_program().graph.nodes
            if node.op == "placeholder" and names.get(node.name) in mutable
        }

    def planned(self) -> Iterator[tuple[int, int]]:
        """Values with planned memory, and the value whose memory it really is."""
        for spec, value in self.ids.items():
            root = _root(spec)
            if not root.const and root.mem_id is not None:
                yield value, self.ids.get(root, value)


def _root(spec: Any) -> Any:
    while type(spec).__name__ == "_ViewSpec":
        spec = object.__getattribute__(spec, "_base")
    return spec


@pytest.mark.parametrize(
    "name", ["attention", "recurrent", "cache", "views", "convolutions"]
)
def test_views_and_state_are_those_of_the_exporter(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("executorch.exir")
    truth = Truth(*modules()[name], monkeypatch)
    (method,) = program.parse(truth.content).methods
    every_storage = lifetimes.of(method, kernels.load()).storages
    storages = {value: storage for storage in every_storage for value in storage.values}
    roots = {value: root for value, root in truth.planned() if value in storages}
    assert len(truth.mutable) == (2 if name == "cache" else 0)
    assert any(value != root for value, root in roots.items()) or name == "cache"
    for storage in every_storage:
        assert len({roots[value] for value in storage.values if value in roots}) == 1
        assert storage.is_state is bool(truth.mutable & storage.values.keys())
    for value, root in roots.items():
        if root in storages:
            assert storages[value] is storages[root]
            assert storages[value].values[value] == storages[root].values[root]
