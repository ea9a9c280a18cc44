#!/usr/bin/env bash
# Tries the wheels of build_wheels.sh on a bare Debian, as root:
#
#   packaging/python/test_wheels.sh ROOT [DIR]
#
# ROOT is a folder for a new system, in which debootstrap installs Debian 12, or the one that HOPSCOPE_SUITE names, with Python and
# nothing more. DIR contains the wheels (default: dist/ beside this script). The new system uses this machine's configuration of pip.
# torch (HOPSCOPE_TORCH, default torch==2.13.0) is installed first. Then the script measures what pip adds for hopscope with its
# window, at most 180 seconds and 400 MB, opens a sample in the window (the screenshot is ROOT/src/window.png), and compares PyTorch
# Geometric's GCN with its own forward. Removing both packages has to leave nothing of them.
set -eu
. "$(dirname "$0")/../bare.sh"

[ $# -ge 1 ] || fail "usage: test_wheels.sh ROOT [DIR]"
system=$1
wheels=${2:-$root/packaging/python/dist}
suite=${HOPSCOPE_SUITE:-bookworm}
[ "$(id -u)" = 0 ] || fail "this script needs root"
command -v debootstrap > /dev/null || fail "debootstrap is missing: apt-get install debootstrap"
ls "$wheels"/hopscope-*.whl "$wheels"/hopscope_window-*.whl

mounted=()
unmount() { for place in "${mounted[@]}"; do umount "$place"; done; }
trap unmount EXIT
mount_in() { # PLACE ARGUMENT...
    mkdir -p "$system$1"
    mount "${@:2}" "$system$1"
    mounted+=("$system$1")
}

# Folders and files with packages or limits that pip's settings name; an index (simple/) refers to files beside it.
mount_packages() {
    local path
    for path in $(python3 -m pip config list | grep -oE "'/[^']*'|file://[^ ']*" | sed "s#'##g; s#file://##; s#/simple\$##" | sort -u); do
        if [ -f "$path" ]; then mkdir -p "$system$(dirname "$path")" && cp "$path" "$system$path"; fi
        if [ -d "$path" ]; then mount_in "$path" --bind -o ro "$path"; fi
    done
}

if [ ! -f "$system/usr/bin/python3" ]; then
    say "A bare system: $suite"
    bare_system "$system" "$suite" python3,python3-venv
fi
rm -rf "$system/src"
mkdir -p "$system/src"
cp "$wheels"/*.whl "$root/packaging/python/bare_check.py" "$system/src/"
cp -r "$root/samples" "$system/src/"
mount_in /proc -t proc proc
mount_packages
HOME=/root HOPSCOPE_TORCH="${HOPSCOPE_TORCH:-torch==2.13.0}" in_bare "$system" 'HOME|HOPSCOPE_TORCH|PIP_.*|SSL_.*|REQUESTS_.*' \
    python3 /src/bare_check.py
