"""A board and a model become a project that is ready to build.

cmake       CMakeLists.txt, a test for ctest; the model is packed when it is configured
platformio  platformio.ini, tests for `pio test`; .ember/ is generated for this host
zephyr      an application, and the model as a module in ember/
arduino     a sketch, and the model as a library in libraries/

Each has a README.md that says how it is built, and an ember.yaml.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ember import __version__, boards, output, paths, quoted, writing
from ember import model as models
from ember.boards import Board
from ember.errors import SdkError, UsageError
from ember.firmware import Options, check
from ember.packaging import manifests, platformio, sources

DEFAULT_BOARD = "mps2-an386"
_TEMPLATES = Path(__file__).parent / "templates" / "new"
_NAME = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True)
class NewProject:
    folder: Path
    name: str  # of targets and files
    board: Board
    model: Path  # in the project

    @property
    def application(self) -> Path:
        """What calls the model."""
        sketch = self.folder / self.name / f"{self.name}.ino"
        return sketch if sketch.is_file() else self.folder / "src" / "main.c"

    def add_main(self) -> None:
        target = paths.writable_folder(self.folder / "src") / "main.c"
        shutil.copyfile(paths.examples() / "firmware" / "once.c", target)

    def add_tests(self, *but: str) -> None:
        """The example's, without files whose names match these patterns."""
        tests = paths.examples() / "platformio" / "test"
        for file in sorted(tests.rglob("*")):  # copytree() hides why a write failed
            left_out = any(file.match(pattern) for pattern in ("*.pyc", *but))
            if file.is_file() and not left_out:
                target = self.folder / "test" / file.relative_to(tests)
                paths.writable_folder(target.parent)
                shutil.copy(file, target)

    def package(self, kind: str, folder: Path) -> None:
        options = Options()
        written = sources.write([self.model], self.board, folder, options)
        manifests.write(folder, [kind], written)

    def expand(self, template: str, **more: str) -> None:
        words = more | {
            "NAME": self.name,
            "VERSION": __version__,
            "BOARD": self.board.name,
            "MODEL": self.model.name,
            "ZEPHYR_BOARD": zephyr_board(self.board),
            "FPU": zephyr_fpu(self.board),
        }
        manifests.expand(_TEMPLATES / template, self.folder, words)


def _cmake(project: NewProject) -> Sequence[str]:
    project.expand("cmake")
    project.add_main()
    project.add_tests("*.py")
    output.write_text("build/\n", project.folder / ".gitignore")
    return (
        "cmake -B build -G Ninja",
        "cmake --build build",
        "ctest --test-dir build -V",
    )


def _platformio(project: NewProject) -> Sequence[str]:
    if not platformio.is_known(project.board):
        raise SdkError(
            f"PlatformIO's platform `ember` does not know {project.board.name}",
            hint=f"one of: {', '.join(platformio.known_boards())}",
        )
    platformio.write(project.folder / ".ember", [project.board])
    scons = platformio.has_scons(project.folder / ".ember")
    text = platformio.ini(
        [project.board], f"models/{project.model.name}", with_scons=scons
    )
    output.write_text(text, project.folder / "platformio.ini")
    _note_platformio(with_scons=scons)
    project.add_main()
    project.add_tests()
    output.write_text(".ember/\n.pio/\n", project.folder / ".gitignore")
    return ("pio run", "pio run -t upload", "pio test")


def _note_platformio(*, with_scons: bool) -> None:
    """Warn early of what would make `pio` fail later."""
    if not _has_platformio():
        output.note(
            "PlatformIO is not installed: there is no `pio` on the PATH",
            "pip install platformio scons",
        )
    elif not with_scons:
        output.note(
            "SCons is not installed beside PlatformIO: `pio run` downloads it, and"
            " without network it ends in an HTTPClientError",
            "pip install scons, into the environment of `pio`, then `ember new` again",
        )


def _has_platformio() -> bool:
    return shutil.which("pio") is not None or find_spec("platformio") is not None


def _zephyr(project: NewProject) -> Sequence[str]:
    project.package("zephyr", project.folder / "ember")
    project.expand("zephyr")
    project.add_main()
    name = zephyr_board(project.board)
    if name == UNKNOWN:
        output.note(
            f"Ember does not know what Zephyr calls {project.board.name}",
            "`west boards` lists its boards; put the name into sample.yaml",
        )
    return (f"west build -b {name}",)


def _arduino(project: NewProject) -> Sequence[str]:
    library = project.folder / "libraries" / "Ember"
    project.package("arduino", library)
    sketch = paths.writable_folder(project.folder / project.name)
    example = library / "examples" / "Once" / "Once.ino"
    shutil.copyfile(example, sketch / f"{project.name}.ino")
    words = "arduino-cli compile -b <board> --libraries libraries"
    return (f"{words} {project.name}",)


TEMPLATES: dict[str, Callable[[NewProject], Sequence[str]]] = {
    "cmake": _cmake,
    "platformio": _platformio,
    "zephyr": _zephyr,
    "arduino": _arduino,
}


def create(
    folder: Path, template: str, board_name: str, model: Path | None
) -> Sequence[str]:
    """Create the project in `folder` and return the commands that build it."""
    if template not in TEMPLATES:
        raise UsageError(
            f"there is no template '{template}'",
            hint=f"one of: {', '.join(TEMPLATES)}",
        )
    if folder.is_dir() and any(folder.iterdir()):
        raise SdkError(f"{folder} is not empty", hint="name a new folder")
    board = boards.load(board_name)
    given = model or paths.examples() / "models" / "digits" / "digits.pte"
    with writing.folder(folder) as place:  # claimed before the checks, which take long
        content = _buildable(given, board, template)
        model_name = _NAME.sub("_", given.stem if given.is_file() else given.name)
        target = place / "models" / f"{model_name}.pte"
        target.parent.mkdir()
        target.write_bytes(content)
        project = NewProject(place, _name_of(folder), board, target)
        commands = TEMPLATES[template](project)
        board_file = Path(board_name)
        words = {
            "BOARD_FILE": json.dumps(str(board_file.absolute()))
            if board_file.is_file()
            else board.name,
            "COMMANDS": "\n".join(commands),
            "SOURCE": project.application.relative_to(place).as_posix(),
        }
        project.expand("common", **words)
        return commands


def _buildable(given: Path, board: Board, template: str) -> bytes:
    """The program's bytes, checked against what the board and the template support."""
    part = None if template == "cmake" else sources.library_board(board)
    check([given], board, Options(), part=part)
    model = models.read(given)
    if model.data:
        raise SdkError(
            f"{given} has data files beside it, which templates do not support",
            hint="export the model with its weights inside",
        )
    return model.given


def _name_of(folder: Path) -> str:
    plain = _NAME.sub("_", folder.absolute().name).strip("_-")
    return quoted.target(plain if plain[:1].isalpha() else f"app_{plain}")


# ---- Zephyr --------------------------------------------------------------------------


UNKNOWN = "BOARD"
_NAMES = {
    "arduino-nano33ble": "arduino_nano_33_ble",
    "ek-ra8m1": "ek_ra8m1",
    "frdm-mcxn947": "frdm_mcxn947/mcxn947/cpu0",
    "microbit": "bbc_microbit",
    "mps2-an385": "mps2/an385",
    "mps2-an386": "mps2/an386",
    "mps2-an500": "mps2/an500",
    "mps3-an547": "mps3/corstone300/an547",
    "nrf52840-dk": "nrf52840dk/nrf52840",
    "nrf5340-dk": "nrf5340dk/nrf5340/cpuapp",
    "nrf54l15-dk": "nrf54l15dk/nrf54l15/cpuapp",
    "nucleo-f446re": "nucleo_f446re",
    "nucleo-f767zi": "nucleo_f767zi",
    "nucleo-g474re": "nucleo_g474re",
    "nucleo-h743zi2": "nucleo_h743zi",
    "nucleo-u575zi-q": "nucleo_u575zi_q",
    "rpi-pico": "rpi_pico",
    "rpi-pico2": "rpi_pico2/rp2350a/m33",
    "stm32vldiscovery": "stm32vl_disco",
}


def zephyr_board(board: Board) -> str:
    """The name for `west build -b`; UNKNOWN if Zephyr does not have the board."""
    return _NAMES.get(board.name, UNKNOWN)


def zephyr_fpu(board: Board) -> str:
    """The line of prj.conf that enables the core's floating-point unit, if any."""
    hard = board.core is not None and "-mfloat-abi=hard" in board.core.flags
    return "CONFIG_FPU=y" if hard else "# the core has no floating-point unit"
