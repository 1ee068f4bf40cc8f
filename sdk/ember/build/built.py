"""What a build folder holds, as a record."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ember import program
from ember.boards import Board
from ember.build import folder as build_folder
from ember.build.jobs import Job, Options
from ember.model import Model
from ember.program import Method


@dataclass(frozen=True)
class Built:
    """Firmware of one model, or of several, for one board."""

    models: tuple[Model, ...]
    board: Board
    chosen: tuple[tuple[Method, ...], ...]  # methods of each model
    folder: Path
    selection: dict[str, Any]
    plan: dict[str, Any]
    certificate: dict[str, Any]
    sizes: dict[str, Any]  # size, memory
    images: tuple[Path, ...]  # flashable files
    options: Options = field(default_factory=Options)

    @property
    def model(self) -> Model:
        """The first one."""
        return self.models[0]

    @property
    def methods(self) -> tuple[Method, ...]:
        """Those of the first model."""
        return self.chosen[0]

    @property
    def name(self) -> str:
        return "_".join(model.name for model in self.models)

    def packed(self, name: str) -> Method:
        """A method of the first model as the firmware has it."""
        folder = self.folder / "4-package"
        if len(self.models) > 1:
            folder /= self.model.identifier
        method = program.read(folder / "model.pte").method(name)
        assert method is not None
        return method

    @property
    def firmware(self) -> Path:
        return self.folder / "5-firmware" / "firmware.elf"

    @property
    def traced(self) -> Path:
        """The same firmware with a mark around each node; made by trace()."""
        return self.folder / "5-firmware" / "firmware-traced.elf"


def read(folder: Path, job: Job) -> Built:
    sizes = build_folder.read_json(folder / "5-firmware" / "size.json")
    return Built(
        models=job.models,
        board=job.board,
        chosen=job.methods,
        folder=folder,
        selection=build_folder.read_json(folder / "2-selection.json"),
        plan=build_folder.read_json(folder / "3-plan.json"),
        certificate=build_folder.read_json(
            folder / "5-firmware" / build_folder.CERTIFICATE
        ),
        sizes=sizes,
        images=tuple(folder / "5-firmware" / name for name in sizes["images"]),
        options=job.options,
    )
