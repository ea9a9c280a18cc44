# Shared by the scripts beside it; sourced, not run.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=${HOPSCOPE_JOBS:-$(nproc)}

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'hopscope: %s\n' "$*" >&2; exit 1; }

# Where this machine gets Debian's packages from.
debian_mirror() { apt-cache policy base-files | sed -nE 's#^ *[0-9]+ (https?://[^ ]*/debian) .*#\1#p' | head -1; }

# The oldest LibTorch that builds, and the releases of torch that the wheel supports, the oldest first.
oldest_torch=2.11
torch_releases=$(grep -v '^#' "$root/packaging/torch.txt")

# The torch package that a Python finds, if it is not older than that and can be built against; nothing else is imported.
torch_of() {
    (cd / && "$1" - $oldest_torch << 'PYTHON') 2> /dev/null || true
import importlib.util, pathlib, re, sys
spec = importlib.util.find_spec("torch")
if spec and spec.origin:
    folder = pathlib.Path(spec.origin).parent
    version = re.search(r"__version__ = '(\d+)\.(\d+)", (folder / "version.py").read_text())
    if version and tuple(map(int, version.groups())) >= tuple(map(int, sys.argv[1].split("."))) and (folder / "include/torch/script.h").is_file():
        print(folder)
PYTHON
}

# The LibTorch that is there already: HOPSCOPE_TORCH_ROOT=/path/to/libtorch, or else that of the active Python environment.
# Empty: the one in .venv.
own_torch=${HOPSCOPE_TORCH_ROOT:-$(torch_of python3)}
torch_args=()
if [ -n "$own_torch" ]; then torch_args=("-DHOPSCOPE_TORCH_ROOT=$own_torch"); fi

# unity FOLDER: the argument that makes a build folder compile sources together, if it is a new one and the tool is there.
unity() {
    if [ ! -f "$1/CMakeCache.txt" ] && ctags --version 2> /dev/null | grep -q Universal; then echo -DHOPSCOPE_UNITY=ON; fi
}

# configure PRESET [CMAKE ARGUMENT...]
configure() {
    local preset=$1
    shift
    (cd "$root" && cmake --preset "$preset" $(unity "build/$preset") "${torch_args[@]}" "$@")
}

# build PRESET
build() { nice ninja -C "$root/build/$1" -j "$jobs"; }
