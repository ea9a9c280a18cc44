#!/usr/bin/env bash
# Builds the wheel of the Python package with the engine inside, into DIR (default: dist/ beside this script's pyproject.toml):
#
#   packaging/python/build_wheel.sh [--engine PROGRAM] [DIR]
#
# The engine is that of build/release, else of build/dev, if nothing is said; where neither is built, one is built in build/wheel,
# after setup.sh. Both its programs, hopscope-engine and hopscope-engine-torch beside it, are stripped and forget the folders of this
# machine. It brings along the libraries that it needs, each with its terms (bin/licenses), but for the system's own and LibTorch:
# that comes from the environment that the wheel is installed into, and has to be of the same minor version (bin/build.json says
# which).
set -eu
. "$(dirname "$0")/../common.sh"

here=$root/packaging/python
target=$here/dist
engine=
while [ $# -gt 0 ]; do
    case $1 in
    --engine)
        [ $# -gt 1 ] || fail "--engine needs a program"
        engine=$2
        shift
        ;;
    -*) fail "build_wheel.sh knows --engine, not '$1'" ;;
    *) target=$1 ;;
    esac
    shift
done
for preset in release dev wheel; do
    if [ -z "$engine" ] && [ -x "$root/build/$preset/bin/hopscope-engine" ]; then
        engine=$root/build/$preset/bin/hopscope-engine
    fi
done
if [ -z "$engine" ]; then
    bash "$root/packaging/setup.sh" --no-tests --no-window
    say "Building the engine"
    cmake -S "$root" -B "$root/build/wheel" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHOPSCOPE_GUI=OFF -DHOPSCOPE_TESTS=OFF \
        $(unity "$root/build/wheel") "${torch_args[@]}"
    nice ninja -C "$root/build/wheel" -j "$jobs" hopscope-engine
    engine=$root/build/wheel/bin/hopscope-engine
fi
torch_engine=$(dirname "$(readlink -f "$engine")")/hopscope-engine-torch
[ -x "$engine" ] && [ -x "$torch_engine" ] || fail "$engine is no program, or has no hopscope-engine-torch beside it"
python=$root/.venv/bin/python
[ -x "$python" ] || python=python3

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$here/pyproject.toml" "$here/README.md" "$here/src" "$root/LICENSE" "$root/THIRD-PARTY.md" \
    "$work/"
find "$work/src" -name __pycache__ -prune -exec rm -rf {} +
bin=$work/src/hopscope/bin
mkdir -p "$bin/lib" "$bin/licenses"

# "NAME PATH" of every library that the engine is started with.
libraries() { ldd "$1" | sed -n 's/^\s*\(\S*\) => \(\S*\) .*/\1 \2/p'; }

# The terms of a library, as Debian or HiGHS ship them with their packages.
copy_terms() { # PATH NAME
    local file package
    file=$(readlink -f "$1")
    if [ -f "${file%/lib/*}/share/doc/HIGHS/LICENSE.txt" ]; then
        cp "${file%/lib/*}/share/doc/HIGHS/LICENSE.txt" "$bin/licenses/$2.txt"
        return
    fi
    package=$(dpkg -S "$file" 2> /dev/null || dpkg -S "${file#/usr}" 2> /dev/null) || package=
    package=${package%%:*}
    [ -n "$package" ] && [ -f "/usr/share/doc/$package/copyright" ] || fail "$1: no package with a copyright file holds it"
    cp "/usr/share/doc/$package/copyright" "$bin/licenses/$2.txt"
}

torch_library=$(libraries "$torch_engine" | sed -n 's/^libtorch\.so //p')
[ -n "$torch_library" ] || fail "$torch_engine does not find its LibTorch"
torch_root=$(cd "$(dirname "$torch_library")/.." && pwd)
torch_version=$("$python" -c "
import pathlib, re, sys
root = pathlib.Path(sys.argv[1])
text = (root / 'version.py').read_text() if (root / 'version.py').is_file() else ''
found = re.search(r\"__version__ = '([^']+)'\", text)
print(found.group(1) if found else (root / 'build-version').read_text().strip())" "$torch_root")

say "The engine, without symbols and without this machine's folders"
strip -o "$bin/hopscope-engine" "$engine"
strip -o "$bin/hopscope-engine-torch" "$torch_engine"
printf 'file(RPATH_REMOVE FILE "%s")\n' "$bin/hopscope-engine-torch" > "$work/rpath.cmake"
cmake -P "$work/rpath.cmake"
libraries "$torch_engine" | while read -r name path; do
    case $name in
    libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.* | libstdc++.so.* | libgcc_s.so.*) continue ;;
    esac
    case $path in
    "$torch_root"/* | */site-packages/nvidia/*) continue ;;
    esac
    cp -L "$path" "$bin/lib/$name"
    chmod 755 "$bin/lib/$name"
    strip --strip-unneeded "$bin/lib/$name"
    copy_terms "$path" "$name"
done
printf '{"torch": "%s"}\n' "$torch_version" > "$bin/build.json"

say "The wheel, for torch $torch_version"
platform=linux_$(uname -m)
mkdir -p "$target"
alone=(--no-build-isolation --no-index)
"$python" -c 'import setuptools, sys; sys.exit(int(setuptools.__version__.split(".")[0]) < 77)' || alone=()
"$python" -m pip wheel -q --disable-pip-version-check --no-deps "${alone[@]}" \
    --config-settings=--build-option=--plat-name="$platform" -w "$target" "$work"
ls -l "$target"/hopscope-*-"$platform".whl
