#!/usr/bin/env bash
# Installs dependencies, builds Hopscope and demonstrates it on a bundled sample, a model with three layers and skip
# connections on 1,797 handwritten digits: inspects the model, plans its stages, runs it layer by layer for all nodes in
# small batches and verifies every row against the model. Then the window opens with the graph, the plan and a finished
# run; without a display, a screenshot of the window is written. Takes the options of setup.sh, such as --no-apt.
set -eu
. "$(dirname "$0")/common.sh"

bash "$root/packaging/setup.sh" --no-tests "$@"
say "Building (takes minutes the first time)"
configure release
build release

cd "$root"
engine=build/release/bin/hopscope-engine
model=samples/digits/jknet.pt
data=samples/digits/graph.safetensors
out=build/demo
rm -rf $out
mkdir -p $out

step() {
    printf '\n$ %s\n' "$*"
    "$@"
}

say "What is in the model?"
step $engine inspect $model --data $data
say "What runs in which stage, and what is stored in between?"
step $engine plan $model --data $data --batch 100 -o $out/plan.json
say "Run it layer by layer, and compare every row with the model itself"
step $engine run $model --data $data --plan $out/plan.json -o $out/result --verify full
printf '\nThe outputs are in %s, the report of the run in %s.\n' $out/result/out.npy $out/result/report.json

window=(build/release/bin/hopscope $model --data $data --plan $out/plan.json --run --perspective compare)
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    say "The same in the window (close it to end)"
    step "${window[@]}"
else
    say "No display: writing a screenshot of the window instead"
    step "${window[@]}" --screenshot $out/window.png
    printf '\nThe screenshot is %s.\n' $out/window.png
fi
