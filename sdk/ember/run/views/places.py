"""A firmware becomes the places of a method's tensors: memory, offset, address."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from ember.build import Built
from ember.files import documents
from ember.plan.regions import wanted
from ember.program import Method, Tensor
from ember.toolchain import elf

Place = dict[str, Any]  # memory, offset, address: of what is known, else null
NOWHERE: Place = {"memory": None, "offset": None, "address": None}


@dataclass(frozen=True)
class TensorPlaces:
    """Of a method as the firmware has it; without a build, only offsets are known."""

    method: Method
    built: Built | None = None

    def of_memory(self, number: int) -> Place:
        """Where a planned memory of the method begins."""
        return self._region(f"planned_{number}")

    def of_value(self, index: int) -> Place:
        """Where a tensor begins. A constant has no address: it is in the model."""
        tensor = self.method.values[index]
        assert isinstance(tensor, Tensor)
        if tensor.allocation is not None:
            return self._moved(tensor.allocation.memory_id, tensor.allocation.offset)
        if tensor.role in ("constant", "external"):
            return {**NOWHERE, "memory": self._model_memory}
        for what, values in (
            ("input", self.method.inputs),
            ("output", self.method.outputs),
        ):
            if index in values:
                return self._region(f"{what}_{values.index(index)}")
        return NOWHERE

    def _moved(self, number: int, offset: int) -> Place:
        memory = self.of_memory(number)
        address = None if memory["address"] is None else memory["address"] + offset
        return {"memory": memory["memory"], "offset": offset, "address": address}

    def _region(self, what: str) -> Place:
        for name in (f"{self._prefix}_{what}", f"shared_{what}"):
            if name in self._memories:
                symbol = self._elf.symbol(name) if self._elf else None
                address = symbol.address if symbol else None
                return {"memory": self._memories[name], "offset": 0, "address": address}
        return NOWHERE

    @functools.cached_property
    def _prefix(self) -> str:
        methods = self.built.methods if self.built else (self.method,)
        names = [method.name for method in methods]
        return wanted.prefixes(methods)[names.index(self.method.name)]

    @functools.cached_property
    def _memories(self) -> dict[str, str]:
        regions = self.built.plan["regions"] if self.built else ()
        return {region["name"]: region["memory"] for region in regions}

    @functools.cached_property
    def _elf(self) -> elf.Elf | None:
        return elf.read(self.built.firmware) if self.built else None

    @functools.cached_property
    def _model_memory(self) -> str | None:
        if self.built is None:
            return None
        path = self.built.folder / "4-package" / "manifest.json"
        memories = [file["memory"] for file in documents.read_json(path)["files"]]
        return memories[0] if memories else None
