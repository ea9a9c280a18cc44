#!/usr/bin/env bash
# Builds the wheel of the Python package with engines inside, into DIR (default: dist/ beside this script's pyproject.toml):
#
#   packaging/python/build_wheel.sh [--engine PROGRAM]... [DIR]
#
# Each engine was built with another minor version of torch, and lies in bin/torch-MINOR; the package starts the one that fits the
# torch of its environment. Without --engine there is one, that of build/release, else of build/dev; where neither is built, one is
# built in build/wheel, after setup.sh. Its programs, hopscope-engine and hopscope-engine-torch beside it, are stripped and forget
# the folders of this machine. The wheel contains the libraries that they need (bin/lib) with their terms (bin/licenses), except for
# the system's own and LibTorch. build_wheels.sh makes the wheels that other machines can install.
set -eu
. "$(dirname "$0")/../common.sh"
. "$root/packaging/python/parts.sh"

target=$here/dist
engines=()
while [ $# -gt 0 ]; do
    case $1 in
    --engine)
        engines+=("$(value_of "$@")")
        shift
        ;;
    -*) fail "build_wheel.sh knows --engine, not '$1'" ;;
    *) target=$1 ;;
    esac
    shift
done
for preset in release dev wheel; do
    if [ ${#engines[@]} = 0 ] && [ -x "$root/build/$preset/bin/hopscope-engine" ]; then
        engines=("$root/build/$preset/bin/hopscope-engine")
    fi
done
if [ ${#engines[@]} = 0 ]; then
    bash "$root/packaging/setup.sh" --no-tests --no-window
    say "Building the engine"
    cmake -S "$root" -B "$root/build/wheel" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHOPSCOPE_GUI=OFF -DHOPSCOPE_TESTS=OFF \
        $(unity "$root/build/wheel") "${torch_args[@]}"
    nice ninja -C "$root/build/wheel" -j "$jobs" hopscope-engine
    engines=("$root/build/wheel/bin/hopscope-engine")
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$here/pyproject.toml" "$here/README.md" "$here/src" "$root/LICENSE" "$root/THIRD-PARTY.md" "$work/"
bin=$work/src/hopscope/bin
mkdir -p "$bin/lib" "$bin/licenses"

# All engines share the libraries besides LibTorch, which brings along its runtime of OpenMP.
add_libraries() { # PROGRAM
    local name path
    libraries "$1" > "$work/found"
    for name in $(needed "$1"); do
        path=$(sed -n "s/^$name //p" "$work/found")
        case $name in
        libtorch* | libc10* | libgomp.* | libz.*) continue ;;
        esac
        if [ -z "$path" ] || [ -e "$bin/lib/$name" ]; then continue; fi
        copy_stripped "$path" "$bin/lib/$name"
        copy_terms "$path" "$bin/licenses/$name.txt"
    done
}

add_engine() { # PROGRAM
    local folder minor program
    folder=$(dirname "$(readlink -f "$1")")
    [ -x "$1" ] && [ -x "$folder/hopscope-engine-torch" ] || fail "$1 is no program, or has no hopscope-engine-torch beside it"
    minor=$("$1" --version | sed -n 's/^torch \([0-9]*\.[0-9]*\).*/\1/p')
    [ -n "$minor" ] || fail "$1 does not name its torch"
    say "The engine for torch $minor"
    mkdir "$bin/torch-$minor"
    for program in hopscope-engine hopscope-engine-torch; do
        copy_stripped "$folder/$program" "$bin/torch-$minor/$program"
        add_libraries "$folder/$program"
    done
}

for engine in "${engines[@]}"; do add_engine "$engine"; done
say "The wheel"
pack_wheel "$work" "$target"
ls -l "$target"/hopscope-[0-9]*-"linux_$(uname -m)".whl
