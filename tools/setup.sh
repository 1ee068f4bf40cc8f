#!/usr/bin/env bash
# Makes a Debian 12 machine ready for Ember: system packages and .venv. Changes nothing,
# and takes about a second, when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
    python3 python3-venv        # the SDK
    gcc libc6-dev               # host board, emulator plugin
    cmake ninja-build           # builds of the C libraries
    gcc-arm-none-eabi libnewlib-arm-none-eabi # Cortex-M
    clang-19 lld-19 llvm-19     # Helium, Arm64, Hexagon
    clang-format-19 libclang-rt-19-dev # tools/check.sh: format, sanitizers
    qemu-system-arm qemu-user   # emulators
    openocd gdb-multiarch dfu-util stlink-tools # ember flash and its tests
)

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

install_packages() {
    local missing=() as_root=() package
    for package in "${packages[@]}"; do
        is_installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "setup: as root, run: apt-get install ${missing[*]}" >&2
            exit 1
        fi
        as_root=(sudo)
    fi
    echo "setup: installing ${missing[*]}"
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# .venv holds what tools/requirements.lock names, by its hashes, and the SDK; checksums
# tell when that changed. No torch: only the export of new programs needs it.
install_python() {
    local stamp=.venv/.ember-setup wanted
    wanted=$(sha256sum pyproject.toml tools/requirements.lock tools/setup.sh)
    if [ -x .venv/bin/python ] && [ "$(cat $stamp 2>/dev/null)" = "$wanted" ]; then
        return
    fi
    if [ ! -x .venv/bin/python ]; then
        python3 -m venv .venv
    fi
    echo "setup: installing Python packages into .venv"
    local pip=(.venv/bin/python -m pip --quiet --disable-pip-version-check install)
    "${pip[@]}" --require-hashes --requirement tools/requirements.lock
    "${pip[@]}" --no-deps --no-build-isolation --editable .
    echo "$wanted" >$stamp
}

# Compiled once, so that the first run does not wait for them.
build_caches() {
    .venv/bin/python -c '
from ember.toolchain import emulator, tools
emulator.plugin()
tools.hexagon_runtime()'
}

command -v apt-get >/dev/null && install_packages
install_python
build_caches
