# SPDX-License-Identifier: Apache-2.0
"""Builds firmware for a board of Ember's; `upload` runs it in QEMU, or flashes it."""

from SCons.Script import (
    COMMAND_LINE_TARGETS,
    AlwaysBuild,
    Builder,
    Default,
    DefaultEnvironment,
)

env = DefaultEnvironment()
board = env.BoardConfig()
TOOLS = {
    "AR": "gcc-ar",
    "AS": "gcc",
    "CC": "gcc",
    "CXX": "g++",
    "OBJCOPY": "objcopy",
    "RANLIB": "gcc-ranlib",
    "SIZETOOL": "size",
}
MACHINE = board.get("build.flags").split()

env.Replace(
    **{name: "arm-none-eabi-" + tool for name, tool in TOOLS.items()},
    ARFLAGS=["rc"],
    PROGNAME="firmware",
    PROGSUFFIX=".elf",
    SIZEPROGREGEXP=r"^(?:\.ember_vectors|\.vectors|\.text|\.rodata|\.data)\s+(\d+).*",
    SIZEDATAREGEXP=r"^(?:\.data|\.bss|\.stack)\s+(\d+).*",
    SIZECHECKCMD="$SIZETOOL -A -d $SOURCES",
    SIZEPRINTCMD="$SIZETOOL -B -d $SOURCES",
)
env.Append(
    ASFLAGS=MACHINE,
    CCFLAGS=[*MACHINE, "-Os", "-ffunction-sections", "-fdata-sections", "-Wall"],
    CXXFLAGS=["-fno-exceptions", "-fno-rtti"],
    LINKFLAGS=[*MACHINE, "-Os", "-Wl,--gc-sections"],
    LIBS=["m"],
    BUILDERS={
        "ElfToBin": Builder(
            action="$OBJCOPY -O binary $SOURCES $TARGET", suffix=".bin"
        ),
    },
)

program = env.BuildProgram()
binary = env.ElfToBin("$BUILD_DIR/${PROGNAME}", program)
AlwaysBuild(env.Alias("nobuild", program))
built = env.Alias("buildprog", [program, binary], program)
size = env.Alias(
    "size", program, env.VerboseAction("$SIZEPRINTCMD", "Calculating size $SOURCE")
)
AlwaysBuild(built, size)

if env.subst("$UPLOAD_PROTOCOL") != "custom":  # that brings an UPLOADCMD of its own
    script = env.PioPlatform().get_dir() + "/run.py"
    words = f'"$PYTHONEXE" "{script}" {env.subst("$BOARD")} "$SOURCE"'
    env.Replace(UPLOADCMD=words + " $UPLOAD_FLAGS")
upload = env.VerboseAction("$UPLOADCMD", "Uploading $SOURCE")
AlwaysBuild(env.Alias("upload", program, upload))

Default([built, size] if "upload" not in COMMAND_LINE_TARGETS else [built])
