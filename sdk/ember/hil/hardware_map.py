"""A hardware map, in which Zephyr's twister describes a lab, becomes devices."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ember import boards
from ember.errors import SdkError, problem_list
from ember.files import documents

# Tools that both call by the same name; for others the board's first flasher is taken.
_FLASHERS = ("pyocd", "openocd", "jlink", "dfu-util", "uf2", "gdb", "st-flash")


class Device(BaseModel):
    """One board of the lab. Fields that are twister's alone are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)

    id: str
    platform: str | tuple[str, ...]
    product: str = ""
    runner: str = ""
    serial: str | None = None
    serial_pty: str | None = None  # a command that is the line, by a terminal
    baud: int | None = None
    probe_id: str | None = None
    connected: bool = True
    fixtures: tuple[str, ...] = ()
    pre_script: str | None = None
    post_flash_script: str | None = None
    post_script: str | None = None
    flash_timeout: int = 120
    flash_before: bool = False  # before the line is opened

    @property
    def flasher(self) -> str | None:
        return self.runner if self.runner in _FLASHERS else None

    @property
    def platforms(self) -> tuple[str, ...]:
        return (self.platform,) if isinstance(self.platform, str) else self.platform

    def is_a(self, name: str) -> bool:
        """Whether `name` is its id or one of its platforms, in Zephyr's spelling or
        in Ember's: nrf52840dk/nrf52840 is nrf52840-dk."""
        if name == self.id or name in self.platforms:
            return True
        return _plain(name) in {_plain(_named(platform)) for platform in self.platforms}

    @property
    def board(self) -> str:
        """Its name for Ember, or its file."""
        for platform in self.platforms:
            if _is_file(platform):
                return platform
        for name in boards.names():
            if self.is_a(name):
                return name
        raise SdkError(
            f"device {self.id}: no board is named {' or '.join(self.platforms)}",
            hint="see `ember boards`",
        )


def _is_file(platform: str) -> bool:
    return platform.endswith(".yaml")


def _named(platform: str) -> str:
    """The name that a platform has, which may be the file of a board."""
    return Path(platform).stem if _is_file(platform) else platform


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.split("/", maxsplit=1)[0].lower())


def read(path: Path) -> tuple[Device, ...]:
    """The devices of the file that are connected."""
    data = documents.read_yaml(path)
    try:
        devices = TypeAdapter(tuple[Device, ...]).validate_python(data or [])
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
            for problem in error.errors()
        ]
        raise SdkError(problem_list(str(path), problems)) from error
    connected = tuple(device for device in devices if device.connected)
    for device in connected:
        if device.serial is None and device.serial_pty is None:
            raise SdkError(f"{path}: device {device.id} has no `serial`")
    return connected
