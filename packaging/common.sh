# Shared by the scripts beside it; sourced, not run.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=${HOPSCOPE_JOBS:-$(nproc)}

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'hopscope: %s\n' "$*" >&2; exit 1; }

# CMake's arguments for a LibTorch of the user's own (HOPSCOPE_TORCH_ROOT=/path/to/libtorch).
torch_args=()
if [ -n "${HOPSCOPE_TORCH_ROOT:-}" ]; then torch_args=("-DHOPSCOPE_TORCH_ROOT=$HOPSCOPE_TORCH_ROOT"); fi

# configure PRESET [CMAKE ARGUMENT...]
configure() {
    local preset=$1
    shift
    (cd "$root" && cmake --preset "$preset" "${torch_args[@]}" "$@")
}

# build PRESET
build() { nice ninja -C "$root/build/$1" -j "$jobs"; }
