#!/usr/bin/env bash
# The proof that Hopscope works on this machine's NVIDIA GPU, and how far it is from what the machine allows. Sets up and
# builds what is needed, then runs in order, going on after failures: the list of devices; the tests of the CUDA kernels; the
# engine in its sandbox, the samples, the generated models and Cora on cuda:0 (and on cuda:1 if there is one), each against
# PyTorch's own results; `bench machine`; `hopscope-bench run`, on two GPUs as well; a graph of 2.4 million nodes and 120 million edges, with all of the GPU's memory and with
# 4 GiB of it, every row compared with a float64 reference; with --peers, PyG and others on the same graph and GPU, in turn;
# compute-sanitizer, if it is installed. Prints one table, in which
# runs stand beside their lower bound, and leaves a report to attach to an issue. The exit code is 0 only if every step
# passed or was skipped for a stated reason. See docs/guides/gpu.md.
#
#   packaging/gpu-check.sh [--out FOLDER] [--small | --full] [--peers] [--only STEP]...
#   packaging/gpu-check.sh --engine PROGRAM --bench PROGRAM --test-models PROGRAM [...]    with programs that are there; builds nothing
#
# --out: for the report and scratch files, build/gpu-check unless said; the large graph takes some 12 GB there for a while.
# --zoo FOLDER: generated models that are there already. --full: all generated models, not only those of the default
# tests. --small: sizes for a test of this script. --peers: tests/peers/bench_gpu.py, which may take an hour; for single models,
# other sizes and memory limits, start that by hand. --only: only this step, by its name in the table, as in --only run
# --only "peers with a memory limit".
#
# HOPSCOPE_BUILD=FOLDER takes a build that is there (with tests). Where nothing can be installed, HOPSCOPE_DEPS_DIR (unpacked
# Debian packages) and HOPSCOPE_TORCH_ROOT (a LibTorch with CUDA) say where things are, as in docs/dev/building.md; the window
# is never built. HOPSCOPE_PYTHON: a Python with torch and torch_geometric, which make the generated models and run the peers.
set -u
. "$(dirname "$0")/common.sh"

out=$root/build/gpu-check
build=${HOPSCOPE_BUILD:-}
engine=
bench=
test_models=
zoo=
peers=
more=()

while [ $# -gt 0 ]; do
    case $1 in
    --engine | --bench | --test-models | --out | --zoo | --only)
        if [ $# -lt 2 ]; then fail "$1 needs a value"; fi
        case $1 in
        --engine) engine=$2 ;;
        --bench) bench=$2 ;;
        --test-models) test_models=$2 ;;
        --out) out=$2 ;;
        --zoo) zoo=$2 ;;
        --only) more+=("$1" "$2") ;;
        esac
        shift 2
        ;;
    --small | --full | --peers)
        more+=("$1")
        if [ "$1" = --peers ]; then peers=yes; fi
        shift
        ;;
    *) fail "unknown option '$1': use --out, --small, --full, --peers, --only, --zoo, --engine, --bench or --test-models" ;;
    esac
done
if [ -n "$engine$bench$test_models" ] && { [ -z "$engine" ] || [ -z "$bench" ] || [ -z "$test_models" ]; }; then
    fail "--engine, --bench and --test-models must be used together"
fi

# Only what is run here; the kernels' tests are there if nvcc is.
build_for_gpu() {
    local targets=(hopscope-engine hopscope-bench test_models)
    build=$root/build/gpu
    if [ -n "${HOPSCOPE_DEPS_DIR:-}" ]; then
        torch_args+=("-DHOPSCOPE_DEPS_DIR=$HOPSCOPE_DEPS_DIR")
        say "Not installing anything: packages from $HOPSCOPE_DEPS_DIR, LibTorch from ${own_torch:-.venv}"
    else
        bash "$root/packaging/setup.sh" --no-window || fail "setup failed; use HOPSCOPE_DEPS_DIR to avoid installing"
    fi
    say "Building in $build (takes minutes)"
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHOPSCOPE_GUI=OFF \
        $(unity "$build") "${torch_args[@]}" ||
        fail "configuration failed"
    if ninja -C "$build" -t targets all | grep -q '^test_kernels_cuda:'; then targets+=(test_kernels_cuda); fi
    ninja -C "$build" -j "$jobs" "${targets[@]}" || fail "build failed"
}

# The first Python that has what the generated models are made with.
python_for_models() {
    local python
    for python in "${HOPSCOPE_PYTHON:-}" "$root/.venv/bin/python" python3; do
        if [ -n "$python" ] && "$python" -c 'import numpy, safetensors, torch, torch_geometric' 2> /dev/null; then
            printf '%s' "$python"
            return
        fi
    done
}

# LibTorch's own words for its version: a Python package has version.py, a download build-version.
torch_version() {
    local folder
    folder=$(sed -n 's/^HOPSCOPE_TORCH_ROOT:[A-Z]*=//p' "$build/CMakeCache.txt" 2> /dev/null)
    folder=${folder:-${own_torch:-$(torch_of "$root/.venv/bin/python")}}
    sed -n "s/^__version__ = '\(.*\)'/\1/p" "$folder/version.py" 2> /dev/null || cat "$folder/build-version" 2> /dev/null
}

nvcc_version() {
    local nvcc
    nvcc=$(sed -n 's/^CMAKE_CUDA_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt" 2> /dev/null)
    if [ -x "$nvcc" ]; then "$nvcc" --version | sed -n 's/^Cuda compilation tools, //p'; fi
}

if [ -z "$engine" ]; then
    if [ -z "$build" ]; then build_for_gpu; fi
    engine=$build/bin/hopscope-engine
    bench=$build/bin/hopscope-bench
    test_models=$build/bin/test_models
fi
for program in "$engine" "$bench" "$test_models"; do
    if [ ! -x "$program" ]; then fail "program not found: $program"; fi
done
if [ -n "$build" ]; then more+=(--build "$build"); fi
python=
if [ -z "$zoo" ] || [ -n "$peers" ]; then python=$(python_for_models); fi
if [ -n "$zoo" ]; then more+=(--zoo "$zoo"); fi
if [ -n "$python" ]; then more+=(--python "$python"); fi

say "Running the checks; each step prints its duration"
exec python3 -B "$root/packaging/gpu_check.py" --engine "$engine" --bench "$bench" --test-models "$test_models" --out "$out" \
    --torch "$(torch_version)" --nvcc "$(nvcc_version)" "${more[@]}"
