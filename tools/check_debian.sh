#!/usr/bin/env bash
# What is committed, on a bare Debian of another release: made by debootstrap below
# build/, used by chroot, removed at the end. Needs root, 8 GB and the host's network:
# its sources of apt, its certificates, its configuration of pip. Without root or
# debootstrap it says so, and succeeds.
#   tools/check_debian.sh RELEASE [TARGET...]   of make; default: demo quick
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -eq 0 ]; then
    echo "check_debian: name a release: tools/check_debian.sh trixie" >&2
    exit 2
fi
release=$1
shift
[ $# -gt 0 ] || set -- demo quick

leave_out() {
    echo "check_debian: $release is not tested: $*"
    exit 0
}

# shellcheck disable=SC1091
[ "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" != "$release" ] ||
    leave_out "this host is one"
[ "$(id -u)" -eq 0 ] || leave_out "only root can make it"
command -v debootstrap >/dev/null ||
    apt-get install -y -qq --no-install-recommends debootstrap >/dev/null 2>&1 ||
    leave_out "debootstrap cannot be installed"
unshare --mount true 2>/dev/null || leave_out "this host allows no mounts"

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Label: Debian' | head -n 1)
mkdir -p build
root=$(mktemp -d "$PWD/build/debian-XXXXXX")
chmod 755 "$root" # other users of the chroot need its root folder, too
trap 'rm -rf --one-file-system "$root"' EXIT
debootstrap --variant=minbase "$release" "$root" "$mirror" >"$root.log" 2>&1 ||
    leave_out "debootstrap failed: $(tail -n 1 "$root.log")"
rm "$root.log"

copy() {
    for file in "$@"; do
        [ -e "$file" ] || continue
        mkdir -p "$root$(dirname "$file")" # not by --parents, which fails for some folders
        cp --archive "$file" "$root$(dirname "$file")"
    done
}

copy /usr/local/share/ca-certificates
{ .venv/bin/python -m pip config debug 2>/dev/null || true; } |
    sed -n 's/^ *\(.*\), exists: True$/\1/p' |
    while read -r file; do # and what it names, as constraints, beside it
        case $file in */pip/*) copy "$(dirname "$file")" ;; *) copy "$file" ;; esac
    done
cp /etc/resolv.conf "$root/etc/resolv.conf"
apt-config dump | grep '^Acquire::https\?::' >"$root/etc/apt/apt.conf.d/90host" || true
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/force-unsafe-io"
# Tests look for the path in packages: it must be no part of an address.
git clone --quiet . "$root/srv/checkout-of-ember"

# What is mounted is gone with its namespace.
echo "check_debian: make $* on $release"
env -u EMBER_CACHE -u XDG_CACHE_HOME -u VIRTUAL_ENV -u TMPDIR HOME=/root \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin unshare --mount bash -euc '
        mount -t proc proc "$0/proc"
        mount --rbind /dev "$0/dev"
        exec chroot "$0" bash -euc "
            apt-get update -qq
            apt-get install -y -qq --no-install-recommends make git ca-certificates >/dev/null
            make --no-print-directory -C /srv/checkout-of-ember \"\$@\"" make "$@"' "$root" "$@"
