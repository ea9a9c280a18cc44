#!/usr/bin/env bash
# Takes pictures of the window, without a display: start page, analysis, a changed plan, a run under way, one on a GPU (of an engine
# made up for tests), a finished run, the dark theme and 200 % scale. Every picture is checked while it is taken: no text clipped,
# nothing overlapping, legible colours. With --readme it takes the two that README.md shows instead.
#
#   packaging/screenshots.sh [--readme] [FOLDER] [BUILD]     FOLDER: default build/screenshots; BUILD: default build/dev
set -eu
. "$(dirname "$0")/common.sh"

readme=
if [ "${1:-}" = --readme ]; then readme=yes; shift; fi
folder=${1:-$root/build/screenshots}
build=${2:-$root/build/dev}
program=$build/bin/test_window
if [ ! -x "$program" ]; then fail "program not found: $program; build with tests first (cmake --preset dev; ninja -C build/dev)"; fi
mkdir -p "$folder"

export QT_QPA_PLATFORM=offscreen
if [ -n "$readme" ]; then
    cd "$root"
    for theme in light dark; do
        "$build/bin/hopscope" samples/digits/jknet.pt --data samples/digits/graph.safetensors --run --theme $theme \
            --screenshot docs/images/window-$theme.png
    done
    exit
fi
shots() { "$program" window_screenshots --folder "$folder" "$@"; }

say "At 100 %"
shots
say "At 200 %"
QT_SCALE_FACTOR=2 shots --suffix @200
say "Screenshots are in $folder"
ls -1 "$folder"
