"""`dut` for tests in pytest, and the choice of tests that its board can run."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ember.hil.dut import Dut
    from ember.hil.targets import Choice, Target, Wanted

_MARKERS = (
    "board(name, ...): the test needs one of these boards; `dut` is that board",
    "hil: the test needs hardware, not an emulator",
    "fixture(name): the test needs a device with this entry under `fixtures` in the"
    " hardware map",
)
_OPTIONS = {
    "--target": ("ID", "qemu, an emulated board, or a device of the hardware map"),
    "--place": ("NAME", "a board that a labgrid coordinator lends"),
    "--hardware-map": ("FILE", "devices of the lab, as Zephyr's twister lists them"),
    "--firmware": ("FILE", "the ELF file that `dut` runs; the fixture `firmware`"),
}
_WAIT_S = 600.0  # for others to release a place
_choice: pytest.StashKey[Choice] = pytest.StashKey()
_target: pytest.StashKey[Target | Wanted] = pytest.StashKey()
_dut: pytest.StashKey[Dut] = pytest.StashKey()


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("ember", "hardware in the loop")
    for name, (metavar, text) in _OPTIONS.items():
        with contextlib.suppress(ValueError):  # another plugin has it: it is shared
            group.addoption(name, metavar=metavar, default=None, help=text)
    with contextlib.suppress(ValueError):
        group.addoption(
            "--require-hardware",
            action="store_true",
            help="fail tests whose hardware is missing instead of deselecting them",
        )


def pytest_configure(config: pytest.Config) -> None:
    for text in _MARKERS:
        config.addinivalue_line("markers", text)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    ours = [item for item in items if _wants_dut(item)]
    away = []
    for item in ours:
        wanted = _wanted(item)
        chosen = _choice_of(config).of(wanted)
        item.stash[_target] = chosen or wanted
        if chosen is None and not config.getoption("--require-hardware", None):
            away.append(item)
    if away:
        config.hook.pytest_deselected(items=away)
        items[:] = [item for item in items if item not in away]


def pytest_unconfigure(config: pytest.Config) -> None:
    choice = config.stash.get(_choice, None)
    if choice is not None and choice.place is not None:
        choice.place.close()


def _wants_dut(item: pytest.Item) -> bool:
    """Whether it uses our fixture `dut`, itself or by another one."""
    info = getattr(item, "_fixtureinfo", None)
    defined = info.name2fixturedefs.get("dut", ()) if info is not None else ()
    for definition in reversed(defined):  # the nearest first
        if definition.func.__module__ == __name__:
            return True
        if "dut" not in definition.argnames:  # it does not build on the next
            return False
    return False


def _wanted(item: pytest.Item) -> Wanted:
    from ember.hil.targets import Wanted

    near = item.get_closest_marker("board")  # a test's own, before its class's
    fixtures = [name for marker in item.iter_markers("fixture") for name in marker.args]
    return Wanted(
        boards=tuple(near.args) if near is not None else (),
        fixtures=tuple(fixtures),
        hardware=item.get_closest_marker("hil") is not None,
    )


def _choice_of(config: pytest.Config) -> Choice:
    from ember.errors import SdkError
    from ember.hil import targets
    from ember.hil.places import PlaceOrder
    from ember.hil.targets import Choice

    if _choice not in config.stash:
        lab = config.getoption("--hardware-map", None)
        name = config.getoption("--place", None)
        # Processes of xdist take turns: one that kept it would wait for the others.
        is_kept = not hasattr(config, "workerinput")
        try:
            order = PlaceOrder(name, _WAIT_S) if name is not None else None
            place = targets.lent(order, is_kept=is_kept) if order is not None else None
            target = config.getoption("--target", None)
            choice = Choice(target, Path(lab) if lab else None, place)
        except SdkError as error:
            raise pytest.UsageError(str(error)) from error
        config.stash[_choice] = choice
    return config.stash[_choice]


# ---- fixtures ------------------------------------------------------------------------


@pytest.fixture
def dut_board(request: pytest.FixtureRequest) -> str:
    """The name of the board that `dut` is, for fixtures that build its firmware."""
    from ember.hil.targets import Wanted

    item = request.node
    target = item.stash.get(_target, None)
    if target is None:  # it came by getfixturevalue()
        target = _choice_of(request.config).of(_wanted(item)) or _wanted(item)
        item.stash[_target] = target
    if isinstance(target, Wanted):
        pytest.fail(f"no hardware: the test needs {target}", pytrace=False)
    return str(target.board)


@pytest.fixture
def firmware(request: pytest.FixtureRequest) -> Path | None:
    """What `dut` runs: override it with a fixture that builds it."""
    given = request.config.getoption("--firmware", None)
    return Path(given) if given else None


@pytest.fixture
def dut(
    request: pytest.FixtureRequest, dut_board: str, firmware: Path | None
) -> Iterator[Dut]:
    """The running board, with `expect`, `expect_exact`, `write` and `wait`."""
    from ember.errors import SdkError

    target = request.node.stash[_target]
    with contextlib.ExitStack() as stack:
        try:
            opened = stack.enter_context(target.opened(firmware))
        except SdkError as error:
            hint = f" ({error.hint})" if error.hint else ""
            pytest.fail(f"{dut_board}: {error.what}{hint}", pytrace=False)
        request.node.stash[_dut] = opened
        yield opened


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure shows all that the board printed."""
    report = yield
    opened = item.stash.get(_dut, None)
    if opened is not None and report.failed:
        text = opened.output.decode("utf-8", "replace").replace("\r\n", "\n")
        report.sections.append((f"what {opened.name} said", text))
    return report
