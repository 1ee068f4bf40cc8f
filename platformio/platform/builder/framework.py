# SPDX-License-Identifier: Apache-2.0
"""The framework `ember`: start-up code, semihosting and the board's linker script."""

from pathlib import Path

from SCons.Script import DefaultEnvironment

env = DefaultEnvironment()
board = env.BoardConfig()
folder = Path(env.PioPlatform().get_dir())

env.Append(
    CPPPATH=[str(folder / "framework" / "include")],
    LINKFLAGS=["-nostartfiles", "-Wl,--no-warn-rwx-segments"],
)
if not board.get("build.ldscript", ""):
    name = env.subst("$BOARD") + ".ld"
    env.Replace(LDSCRIPT_PATH=str(folder / "framework" / "scripts" / name))
sources = str(folder / "framework" / "port")
chosen = ["-<*>", *(f"+<{name}>" for name in board.get("ember.port"))]
env.BuildSources("$BUILD_DIR/framework", sources, src_filter=chosen)
