#!/usr/bin/env bash
# Makes a machine with Debian 12 or 13 ready for Ember: system packages and .venv.
# Changes nothing, and takes about a second, when all is there.
#   tools/setup.sh                 what users need, for every board but Hexagon's
#   tools/setup.sh dev hexagon sweep   also what tests and checks need; boards with a
#                                      Hexagon; ember sweep
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
    python3 python3-venv        # the SDK
    gcc libc6-dev               # host board, emulator plugin
    cmake ninja-build           # builds of the C libraries
    gcc-arm-none-eabi libnewlib-arm-none-eabi # Cortex-M
    clang-19 lld-19 llvm-19     # Helium, Arm64, Hexagon
    qemu-system-arm qemu-user   # emulators
    openocd gdb-multiarch dfu-util stlink-tools # ember flash and its tests
)

say() { echo "setup: $*"; }

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Copies one line of each ten that match a pattern, so that a pipe shows progress, too.
progress() {
    awk -v pattern="$1" '
        $0 ~ pattern && ++n % 10 == 1 { sub(/ \(from .*/, ""); print "setup:   " $0; fflush() }'
}

install_packages() {
    local missing=() as_root=() package
    for package in "$@"; do
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
    say "installing ${missing[*]}"
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}" |
        progress '^(Get:|Unpacking|Setting up)'
}

# Libraries of GCC have the version of their compiler in their names: 12, 14.
install_packages_dev() {
    local gcc
    gcc=$(/usr/bin/gcc -dumpversion)
    local packages=(
        clang-format-19 libclang-rt-19-dev # tools/check.sh: format, sanitizers
        libc6-dev-arm64-cross "libgcc-$gcc-dev-arm64-cross" # glibc, for packages for Linux
        libc6-dev-i386 "lib32gcc-$gcc-dev" "lib32stdc++-$gcc-dev" # tools/fuzz: 32-bit pointers
        libssl-dev libsodium-dev libmbedtls-dev # tests of signed models
        espeak-ng # examples/applications/keyword_spotting/train.py
    )
    install_packages "${packages[@]}"
}

pip() { .venv/bin/python -m pip --disable-pip-version-check install "$@"; }

# .venv holds what a lock file names, by its hashes; a checksum tells when that changed.
# No torch: only the export of new programs needs it.
install_locked() {
    local lock=$1 stamp wanted
    stamp=.venv/.ember-$(basename "$lock")
    wanted=$(sha256sum pyproject.toml "$lock" tools/setup.sh)
    [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && return
    say "installing the Python packages of $lock into .venv"
    pip --progress-bar off --require-hashes --requirement "$lock" |
        progress '^(Collecting|Downloading|Installing)'
    [ "$lock" != tools/requirements.lock ] ||
        pip --quiet --no-deps --no-build-isolation --editable .
    echo "$wanted" >"$stamp"
}

install_python() {
    if [ ! -x .venv/bin/python ]; then
        say "making .venv"
        python3 -m venv .venv
    fi
    install_locked tools/requirements.lock
}

for part in "$@"; do
    case $part in
        dev | hexagon | sweep) ;;
        *) echo "setup: unknown part '$part': dev, hexagon or sweep" >&2; exit 2 ;;
    esac
done
if command -v apt-get >/dev/null; then
    install_packages "${packages[@]}"
    [[ " $* " != *" dev "* ]] || install_packages_dev
fi
install_python
for part in "$@"; do
    install_locked "tools/requirements-$part.lock"
done

# Compiled once, so that the first run does not wait for them.
.venv/bin/python -c 'from ember.toolchain import emulator; emulator.plugin()'
if [[ " $* " == *" hexagon "* ]]; then
    .venv/bin/python -c 'from ember.toolchain import tools; tools.hexagon_runtime()'
fi
