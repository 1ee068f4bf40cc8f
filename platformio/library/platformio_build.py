# SPDX-License-Identifier: Apache-2.0
"""custom_ember_model of platformio.ini becomes C sources, compiled with the project.

custom_ember_model    .pte or .bpte files, relative to the project; several, one a line
custom_ember_sources  a folder that `ember package` wrote, instead of a model: needs no
                      Ember and no Python packages
custom_ember_board    a board of `ember boards`, or a YAML file; without it, what
                      PlatformIO knows of the board
custom_ember_options  more options of `ember package`, such as `--optimize speed`
custom_ember_python   the Python that has Ember; else that of pio, or $EMBER_PYTHON

Without any of them the library compiles the model that it came with.
"""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

Import("env", "pio_lib_builder")  # SCons gives them, and what is defined nowhere

VERSION = "@VERSION@"
WORK = ("method", "planned", "temp", "io")
SIMD_CORES = ("cortex-m4", "cortex-m7", "cortex-m33", "cortex-m35p", "cortex-m55")

project = Path(env.subst("$PROJECT_DIR"))
library = Path(pio_lib_builder.path)
main_env = DefaultEnvironment()


def fail(*lines):
    sys.stderr.write("\n".join(["Ember: " + lines[0], *lines[1:], ""]))
    env.Exit(1)


def option(name):
    return (env.GetProjectOption("custom_ember_" + name, "") or "").strip()


def paths(text):
    return [str(project / line.strip()) for line in text.splitlines() if line.strip()]


def sdk():
    """The interpreter that has Ember, and the environment that it needs."""
    for chosen in (option("python"), os.environ.get("EMBER_PYTHON")):
        if chosen:
            return chosen, os.environ
    record = library.parent / "python.json"  # of the computer that wrote this library
    if record.is_file():
        interpreter = json.loads(record.read_text())
        if Path(interpreter["python"]).is_file():
            return interpreter["python"], {
                **os.environ,
                "PYTHONPATH": interpreter["path"],
            }
    if importlib.util.find_spec("ember") is None:
        fail(
            "packing a model needs Ember; install it for this Python:",
            f"  {sys.executable} -m pip install ember-{VERSION}-py3-none-any.whl",
            "or name another: custom_ember_python in platformio.ini, or EMBER_PYTHON",
        )
    return sys.executable, os.environ


def memory(kind, base, size, access, holds):
    size = int(size) or 1 << 30  # unknown: the linker will check it
    return {
        "name": kind,
        "base": base,
        "size": size,
        "access": access,
        "kind": kind,
        "holds": holds,
    }


def board_word(folder):
    """A board of Ember's, or a description of PlatformIO's."""
    config = main_env.BoardConfig()
    name = option("board") or config.get("ember.board", "")
    if name:
        return str(project / name) if name.endswith(".yaml") else name
    cpu = config.get("build.cpu", "cortex-m0")
    read = config.get("upload.maximum_size", 0)
    write = config.get("upload.maximum_ram_size", 0)
    facts = {
        "name": main_env.subst("$BOARD"),
        "title": config.get("name", "a board"),
        "cpu": cpu,
        "isa": ["dsp"] if cpu in SIMD_CORES else [],
        "toolchains": ["arm-gnu"],
        "port": "library",
        "memories": [
            memory("flash", 0, read, "rx", ["vectors", "code", "rodata", "weights"]),
            memory("sram", 1 << 31, write, "rw", ["data", "stack", *WORK]),
        ],
        "console": "stderr",
        "runner": {"kind": "native", "counts": None},
    }
    board_file = folder / (facts["name"] + ".yaml")  # JSON is YAML
    text = json.dumps(facts, indent=2)
    if not board_file.is_file() or board_file.read_text() != text:
        board_file.write_text(text)
    return str(board_file)


def pack(models):
    """The folder of the models' sources, generated again if its inputs have changed."""
    folder = Path(env.subst("$BUILD_DIR"), "ember")
    folder.mkdir(parents=True, exist_ok=True)
    (interpreter, environment), board = sdk(), board_word(folder)
    words = [interpreter, "-m", "ember", "package", *models, "--board", board]
    words += ["--for", "sources", "--out", str(folder), *option("options").split()]
    digest = hashlib.sha256("\n".join([VERSION, *words]).encode())
    for path in [*models, *([board] if board.endswith(".yaml") else [])]:
        if not Path(path).is_file():
            fail(f"there is no {path}: see custom_ember_model in platformio.ini")
        digest.update(Path(path).read_bytes())
    stamp, key = folder / "stamp.txt", digest.hexdigest()
    if (
        not stamp.is_file()
        or stamp.read_text() != key
        or not Path(folder, "src").is_dir()
    ):
        done = subprocess.run(
            words,
            cwd=str(project),
            env=environment,
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            fail(
                "the model was not packed", done.stderr.strip(), "  " + " ".join(words)
            )
        stamp.write_text(key)
    return folder


def compile_folder(folder):
    """Compile a folder of sources instead of the library's own."""
    if not Path(folder, "src", "Ember.h").is_file():
        fail(f"{folder} was not written by `ember package`")
    source = str(Path(folder, "src"))
    env.Replace(SRC_FILTER=["-<*>"])
    for environment in (env, main_env):
        environment.Prepend(CPPPATH=[source])
    env.BuildSources(str(Path(env.subst("$BUILD_DIR"), "ember_objects")), source)


models = paths(option("model"))
given = paths(option("sources"))
if models:
    compile_folder(pack(models))
elif given:
    compile_folder(given[0])
