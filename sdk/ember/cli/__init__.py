"""The command `ember`: finds the verb's module, runs it, prints every error."""

from __future__ import annotations

import contextlib
import errno
import gc
import importlib
import io
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from typing import Any, TextIO

import typer

from ember import __version__, writing
from ember.errors import SdkError, UsageError

# One line a verb, in the order of work. Its module is ember/cli/<verb>.py with a
# function `command` whose annotated parameters are the command line; it returns None or
# an exit status. The module is imported only when its verb is used.
VERBS = {
    "doctor": "Show which tools are installed and how to get the missing ones.",
    "boards": "List the boards and their memories.",
    "export": "Turn a PyTorch model into an ExecuTorch program for a board.",
    "inspect": "Show what a .pte, .bpte or .ptd file contains.",
    "select": "List the kernels that models need, and what is missing.",
    "plan": "Show where a model goes in a board's memories, and whether it fits.",
    "build": "Build firmware for a board from models.",
    "run": "Run a model once on a board or its emulator.",
    "test": "Run test cases on boards and compare with the expected outputs.",
    "sweep": "Run programs x boards x options on many processors or computers.",
    "debug": "Name the first node of a case that differs from a reference.",
    "profile": "Show what each node and operator of a model costs on a board.",
    "compare": "Show what changed between two builds, or two profiles.",
    "history": "Show how the figures of programs changed between sweeps.",
    "keygen": "Make a key that signs models.",
    "sign": "Sign a model, so that devices can refuse others.",
    "flash": "Write firmware to a board, read it back, start it.",
    "probes": "List the probes, boot loaders and ports that are connected.",
    "new": "Start a project for CMake, PlatformIO, Zephyr or Arduino.",
    "pack": "Generate the sources and objects that your own project links.",
    "package": "Package models as a library for PlatformIO, Zephyr, Arduino and"
    " others.",
    "platformio": "Set up PlatformIO's platform `ember` for offline use.",
    "bindings": "Generate the kernel table for a selected_operators.yaml.",
    "cmake-dir": "Print the folder of Ember's CMake package.",
}

_PANEL_COLUMNS = 80  # least width at which help has panels
_STREAMS = 3
# Errors of files that are not Ember's fault.
_SURROUNDINGS = frozenset(
    {
        *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO),
        *(errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR),
        *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EISDIR),
        *(errno.ETXTBSY, errno.EBUSY, errno.EXDEV, errno.ESTALE, errno.ENXIO),
        *(errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOEXEC),
    }
)

# No command uses plugins of pydantic, and looking for them takes longer than most do.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
_OBJECTS = 100_000  # new ones before Python collects garbage
SUCCESS, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; the exit status."""
    _prepare_streams()
    gc.set_threshold(_OBJECTS)  # a command keeps most of what it makes
    words = list(sys.argv[1:] if arguments is None else arguments)
    given = words or _words_to_complete()
    verb = next((word for word in given if not word.startswith("-")), None)
    name = f"ember {verb}" if verb in VERBS else "ember"
    try:
        status = _status(_app(verb)(words, prog_name="ember", standalone_mode=False))
        sys.stdout.flush()  # a failure at exit would have no message
        if status == INTERRUPTED:  # Typer turns a KeyboardInterrupt into this
            _complain(name, "interrupted", None)
        return status
    except BrokenPipeError:
        _silence(sys.stdout)  # the reader (`head`, `less`) has gone: leave silently
        return FAILED
    except (Exception, KeyboardInterrupt) as error:
        status, what, hint = _outcome(name, error)
        _complain(name, what, hint)
        return status


def _words_to_complete() -> list[str]:
    """The words after `ember` that a shell asks to complete, if it does."""
    line = os.environ.get("_TYPER_COMPLETE_ARGS", os.environ.get("COMP_WORDS", ""))
    return line.split()[1:] if "_EMBER_COMPLETE" in os.environ else []


def _columns() -> int:
    return shutil.get_terminal_size().columns


def _outcome(name: str, error: BaseException) -> tuple[int, str, str | None]:
    """Exit status, what went wrong, and the remedy."""
    if isinstance(error, SdkError):
        status = WRONG_USAGE if isinstance(error, UsageError) else FAILED
        return status, error.what, "; ".join(filter(None, (error.hint, error.more)))
    if isinstance(error, typer.TyperException):
        said = error.format_message().rstrip(".")
        return WRONG_USAGE, said, f"see `{name} --help`"
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return INTERRUPTED, "interrupted", None
    if isinstance(error, MemoryError):
        return FAILED, "the host has too little memory", None
    if isinstance(error, OSError) and _is_of_surroundings(error):
        return FAILED, *_of_surroundings(error)
    return FAILED, f"this is a bug in Ember: {_describe(error)}", _keep(error)


def _is_of_surroundings(error: OSError) -> bool:
    return error.errno in _SURROUNDINGS or not _has_current_folder()


def _has_current_folder() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - asks only the system
    except OSError:
        return False
    return True


def _of_surroundings(error: OSError) -> tuple[str, str | None]:
    """What is wrong with the host, not with Ember; and the remedy."""
    if not _has_current_folder():
        return "the current folder no longer exists", "change to a folder that exists"
    where = os.fsdecode(error.filename) if error.filename else "a file"
    if not writing.is_full(error):
        return f"cannot use {where}: {writing.reason(error)}", None
    if not error.filename:
        _silence(sys.stdout)
        where = "the standard output or a temporary file"
    hint = "free some space, or set TMPDIR and EMBER_CACHE to other folders"
    return f"cannot write {where}: {writing.reason(error)}", hint


def _silence(stream: TextIO) -> None:
    """Discards all further output, also at the end of the process."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _prepare_streams() -> None:
    """File names that are not text can be printed, and a stream that was closed before
    the start does not become another file."""
    while (number := os.open(os.devnull, os.O_RDWR)) < _STREAMS:
        pass
    os.close(number)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115, PTH123
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115, PTH123
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _app(verb: str | None) -> typer.Typer:
    """All verbs for the help text; only `verb` is imported."""
    app = typer.Typer(
        name="ember",
        help="Turn ExecuTorch programs into firmware, run it, check it.",
        # Without panels, option names are not cut on narrow terminals.
        rich_markup_mode="rich" if _columns() >= _PANEL_COLUMNS else None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_start)
    for name, line in VERBS.items():
        function = _load(name) if name == verb else _not_loaded
        app.command(name, help=line)(function)
    return app


def _start(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Show the version."),
) -> None:
    if version:
        typer.echo(f"ember {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _load(verb: str) -> Callable[..., Any]:
    module = importlib.import_module(f"ember.cli.{verb.replace('-', '_')}")
    command: Callable[..., Any] = module.command
    return command


def _not_loaded() -> None:
    raise AssertionError("only the verb on the command line is ever called")


def _status(result: object) -> int:
    return result if isinstance(result, int) else SUCCESS


def _complain(name: str, what: str, hint: str | None) -> None:
    text = f"{name}: {what}" + (f"\n  hint: {hint}" if hint else "")
    # File names may not be text.
    print(text.encode(errors="backslashreplace").decode(), file=sys.stderr)  # noqa: T201


def _describe(error: BaseException) -> str:
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _keep(error: BaseException) -> str:
    """Writes the traceback to a file; a hint that says where."""
    text = "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="ember-traceback-", suffix=".txt", delete=False
        ) as file:
            file.write(text)
    except OSError:
        return "its traceback could not be written to the temporary folder"
    return f"please report it with the traceback in {file.name}"
