#!/usr/bin/env bash
# The part of package.sh --check that needs the packages in dist/ and root.
set -eu
. "$(dirname "$0")/bare.sh"

archive=$(ls "$root"/dist/hopscope-*.tar.xz)
package=$(ls "$root"/dist/hopscope_*.deb)
work=$root/build/package-check
bare=$work/root
cora=${HOPSCOPE_CORA:-}
[ "$(id -u)" = 0 ] || fail "installing packages in a bare system needs root"

leave() {
    ! mountpoint -q "$bare/proc" || umount "$bare/proc"
    rm -rf --one-file-system "$bare"
}

# A Debian 12 with its package manager and xz. Files for the programs lie in /srv/given, their results in /srv/made.
make_bare() {
    leave
    bare_system "$bare" bookworm xz-utils
    ! ls /etc/apt/sources.list.d/*.sources > /dev/null 2>&1 || { : > "$bare/etc/apt/sources.list" && cp /etc/apt/sources.list.d/*.sources "$bare/etc/apt/sources.list.d/"; }
    mount -t proc proc "$bare/proc"
    mkdir "$bare/srv/given"
    mkdir -m 700 "$bare/srv/made"
    cp "$archive" "$package" "$bare/srv/given/"
    if [ -f "$cora/cora.safetensors" ]; then cp "$cora/cora.safetensors" "$cora/cora_models/gat_t.pt" "$bare/srv/given/"; fi
    inside "! command -v python3" || fail "a bare Debian has Python: what needs it would not be noticed"
}

# Runs a command in the bare system, without the variables of this one but for proxies.
inside() {
    HOME=/srv/made XDG_RUNTIME_DIR=/srv/made in_bare "$bare" 'HOME|XDG_RUNTIME_DIR' bash -euc "cd /srv/made && $1"
}

# Says how long a step took.
timed() {
    local started=$EPOCHREALTIME
    "${@:2}"
    printf -- '-- %s: %.1f s\n' "$1" "$(echo "$EPOCHREALTIME - $started" | bc)"
}

# All files of the bare system but those above.
files() { (cd "$bare" && find . -xdev \( -path ./proc -o -path ./srv \) -prune -o -print | sort); }

same_files() { # BEFORE AFTER
    diff "$work/$1" "$work/$2" || fail "removing left or took files (<: before installing, >: after removing)"
}

# Runs and verifies samples, and takes a picture of the window with a run in it. Picture NAME comes from the programs in PREFIX/bin.
try_programs() { # PREFIX NAME
    local bin="'$1'/bin" samples="'$1'/share/hopscope/samples" size
    inside "$bin/hopscope-engine --version && $bin/hopscope --version"
    timed "a sample, verified" inside "$bin/hopscope-engine run $samples/digits/jknet.pt --data $samples/digits/graph.safetensors -o digits-$2 --verify full"
    if [ -f "$bare/srv/given/cora.safetensors" ]; then
        timed "GAT on Cora, verified" inside "$bin/hopscope-engine run ../given/gat_t.pt --data ../given/cora.safetensors -o cora-$2 --verify full --trust"
    fi
    timed "a picture of the window" inside "$bin/hopscope $samples/digits/jknet.pt --data $samples/digits/graph.safetensors --run --perspective compare --screenshot $2.png"
    size=$(stat -c %s "$bare/srv/made/$2.png")
    [ "$size" -gt 50000 ] || fail "the picture of $size bytes can hold no window with a graph"
    cp "$bare/srv/made/$2.png" "$work/"
}

check_archive() {
    say "$(basename "$archive"), $(stat -c %s "$archive") bytes"
    files > "$work/before-archive"
    inside "mkdir '/opt/a folder'"
    timed "unpacking" inside "tar -xJf ../given/*.tar.xz -C '/opt/a folder'"
    du -sm "$bare/opt/a folder"
    inside "cd '/opt/a folder'/hopscope-* && export LD_LIBRARY_PATH=\$PWD/lib/hopscope && ldd bin/hopscope* && find lib -name '*.so*' -exec ldd {} +" > "$work/libraries"
    ! grep 'not found' "$work/libraries" || fail "the archive lacks libraries"
    inside "mv '/opt/a folder'/hopscope-* '/opt/a folder/hopscope'"
    try_programs "/opt/a folder/hopscope" archive
    inside "rm -r '/opt/a folder'"
    files > "$work/after-archive"
    same_files before-archive after-archive
}

check_package() {
    say "$(basename "$package"), $(stat -c %s "$package") bytes"
    inside "apt-get update -q > apt.log"
    timed "installing the dependencies" inside "apt-get satisfy -q -y --no-install-recommends '$(dpkg-deb -f "$package" Depends)' >> apt.log"
    grep -E '^(Need to get|After this operation)' "$bare/srv/made/apt.log"
    files > "$work/before-package"
    timed "installing" inside "dpkg -i ../given/*.deb >> apt.log"
    dpkg-deb -f "$package" Depends Installed-Size
    desktop-file-validate "$bare/usr/share/applications/org.hopscope.Hopscope.desktop"
    appstreamcli validate --no-net "$bare/usr/share/metainfo/org.hopscope.Hopscope.metainfo.xml"
    try_programs /usr package
    inside "dpkg -P hopscope >> apt.log"
    files > "$work/after-package"
    same_files before-package after-package
}

trap leave EXIT
say "lintian"
lintian --fail-on error "$package"
say "A bare Debian 12"
timed "making it" make_bare
check_archive
check_package
say "Both packages install, run and go away; pictures of the window: $work/archive.png, $work/package.png"
