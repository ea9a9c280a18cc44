#!/usr/bin/env bash
# Installs what Hopscope needs on Debian 12: packages by apt (as root or through sudo) and Python packages into .venv,
# LibTorch among them. Does nothing, at once, where everything is there; can be run again at any time.
#
#   packaging/setup.sh              everything: building, running, testing, regenerating the samples
#   packaging/setup.sh --no-tests   only what building and running needs
#   packaging/setup.sh --no-window  nothing for the window (build with -DHOPSCOPE_GUI=OFF)
#   packaging/setup.sh --no-apt     leaves the system alone (packages come by other ways, as with HOPSCOPE_DEPS_DIR)
#
# A LibTorch that is already there is used: HOPSCOPE_TORCH_ROOT=FOLDER (include/ and lib/), or else a torch 2.11 or newer of
# the active Python environment, with or without CUDA. With --no-tests .venv has the solver alone then; tests make
# their models with the torch in .venv. Where there is an NVIDIA GPU and no nvcc, NVIDIA's compiler comes into .venv, too.
set -eu
. "$(dirname "$0")/common.sh"

engine_packages="g++ cmake ninja-build ccache mold python3 python3-venv nlohmann-json3-dev libcli11-dev libexpected-dev
    libxxhash-dev zlib1g-dev libhwy-dev libseccomp-dev universal-ctags"
window_packages="qt6-base-dev qt6-svg-dev qt6-wayland libqcustomplot-dev libgraphviz-dev pkg-config fonts-inter
    fonts-dejavu-core libxcb-cursor0"
test_packages="doctest-dev clang-format clang-tidy util-linux xvfb xauth desktop-file-utils appstream
    shared-mime-info"
torch_package="torch==2.13.0"
solver_package="highsbox==1.15.1"
compiler_packages="nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime nvidia-cuda-cccl"
test_python="numpy torch_geometric==2.8.0 safetensors scikit-learn jsonschema scipy networkx pandas pyarrow tqdm mypy ruff
    ray==2.60.0 onnxruntime==1.32.0 mkdocs-material==9.8.2 reuse==6.2.0"

with_tests=yes
with_window=yes
with_apt=yes
for option in "$@"; do
    case $option in
    --no-tests) with_tests=no ;;
    --no-window) with_window=no ;;
    --no-apt) with_apt=no ;;
    *) fail "unknown option '$option': use --no-tests, --no-window or --no-apt" ;;
    esac
done

missing_packages() {
    command -v dpkg-query > /dev/null || fail "this is not Debian; install these packages yourself, or use --no-apt:" $1
    for package in $1; do
        dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2> /dev/null | grep -q '^.i' || echo "$package"
    done
}

apt_install() {
    local as_root=""
    if [ "$(id -u)" != 0 ]; then
        command -v sudo > /dev/null || fail "root privileges are required for: apt-get install $*"
        as_root=sudo
    fi
    say "Installing Debian packages: $*"
    $as_root apt-get update -q
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
}

# Names of those of the given requirements that .venv lacks (NAME or NAME==VERSION; +cpu and the like are ignored).
missing_python() {
    "$root/.venv/bin/python" - "$@" << 'PYTHON'
import sys
from importlib.metadata import PackageNotFoundError, version

for requirement in sys.argv[1:]:
    name, _, wanted = requirement.partition("==")
    try:
        found = version(name).split("+")[0]
    except PackageNotFoundError:
        found = None
    if found is None or (wanted and found != wanted):
        print(requirement)
PYTHON
}

pip_install() {
    local missing
    missing=$(missing_python "$@")
    if [ -n "$missing" ]; then
        say "Installing into .venv:" $missing
        # The default timeouts are short for a package of a gigabyte.
        "$root/.venv/bin/python" -m pip install -q --disable-pip-version-check --timeout 180 $missing
    fi
}

# "2.6 GB", what pip would download for the requirement; empty if it does not say (before 23.2 it would have to download
# everything to know).
download_size() {
    "$root/.venv/bin/python" - "$1" << 'PYTHON' 2> /dev/null || true
import json, os, subprocess, sys, urllib.parse, urllib.request
import pip

if tuple(map(int, pip.__version__.split(".")[:2])) < (23, 2):
    sys.exit()
command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--dry-run", "--report", "-", sys.argv[1]]
report = json.loads(subprocess.run(command, stdout=subprocess.PIPE, timeout=120, check=True).stdout)
total = 0
for item in report["install"]:
    url = item["download_info"]["url"]
    if url.startswith("file:"):
        total += os.path.getsize(urllib.parse.unquote(urllib.parse.urlsplit(url).path))
    else:
        request = urllib.request.Request(url, method="HEAD")
        total += int(urllib.request.urlopen(request, timeout=20).headers["Content-Length"])
print(f"{total / 1e9:.1f} GB")
PYTHON
}

gpu_is_there() {
    local device
    for device in /dev/nvidia[0-9]* /proc/driver/nvidia/gpus/*; do
        if [ -e "$device" ]; then return 0; fi
    done
    for device in /sys/bus/pci/devices/*; do
        if [ "$(cat "$device/vendor" 2> /dev/null)" = 0x10de ] && grep -qs '^0x03' "$device/class"; then return 0; fi
    done
    return 1
}

# Says what is about to be downloaded, which can be gigabytes, and how to do without.
announce_torch() {
    local size
    size=$(download_size "$torch_package")
    say "Downloading $torch_package, which contains LibTorch: ${size:-0.2 GB without CUDA, more than 2 GB with CUDA (default index)}"
    echo "To use an existing LibTorch instead, set HOPSCOPE_TORCH_ROOT=/path/to/torch or activate its Python environment."
    if ! gpu_is_there; then
        echo "No NVIDIA GPU found: for the smaller download, set PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu."
    fi
}

# The CUDA version of a torch package: "13.0"; empty without CUDA.
cuda_of() {
    sed -n "s/^cuda.*= '\([0-9.]*\)'.*/\1/p" "$1/version.py" 2> /dev/null ||
        sed -n 's/.*+cu\([0-9]*\)\([0-9]\)$/\1.\2/p' "$1/build-version" 2> /dev/null || true
}

# Where CMake looks (cmake/HopscopeNvcc.cmake).
nvcc_is_there() {
    local nvcc
    if command -v nvcc > /dev/null || [ -n "${CUDACXX:-}" ]; then return 0; fi
    for nvcc in "${CUDA_HOME:-/none}" "${CUDA_PATH:-/none}" /usr/local/cuda* /opt/cuda "$root"/.venv/cuda/nvidia/* \
        "$root"/.venv/lib/python3*/site-packages/nvidia/*; do
        if [ -x "$nvcc/bin/nvcc" ]; then return 0; fi
    done
    return 1
}

no_kernels() {
    say "CUDA kernels will not be built: $1"
    echo "Without them, runs on a GPU use LibTorch's general operators, which are slower and need more memory."
}

# NVIDIA's compiler as Python packages, in a folder of their own so that torch's stay as they are: some 0.1 GB.
install_compiler() {
    local folder=$root/.venv/cuda wanted=() name
    make_environment
    for name in $compiler_packages; do wanted+=("$name==13.0.*"); done
    say "Found an NVIDIA GPU but no nvcc: installing NVIDIA's compiler into .venv/cuda (some 0.1 GB)"
    rm -rf "$folder"
    if ! "$root/.venv/bin/python" -m pip install -q --disable-pip-version-check --timeout 180 --no-deps \
        --target "$folder" "${wanted[@]}"; then
        rm -rf "$folder"
        no_kernels "NVIDIA's compiler could not be installed. With a CUDA toolkit of your own, set CUDA_HOME."
        return
    fi
    # The compiler looks for its libraries in lib64.
    ln -sfn lib "$folder/nvidia/cu13/lib64"
}

compiler_for() {
    local cuda
    cuda=$(cuda_of "$1")
    case $cuda in
    13.*) install_compiler ;;
    "") say "LibTorch in $1 does not support CUDA: the GPU cannot be used. The default $torch_package does." ;;
    *) no_kernels "LibTorch in $1 was made for CUDA $cuda: install that CUDA toolkit, or set CUDA_HOME." ;;
    esac
}

packages=$engine_packages
if [ $with_window = yes ]; then packages="$packages $window_packages"; fi
if [ $with_tests = yes ]; then packages="$packages $test_packages"; fi
if [ $with_apt = yes ]; then
    missing=$(missing_packages "$packages")
    if [ -n "$missing" ]; then apt_install $missing; fi
fi

make_environment() {
    if "$root/.venv/bin/python" -c pass 2> /dev/null; then return; fi
    say "Creating the Python environment .venv"
    python3 -m venv --clear "$root/.venv"
}

if [ -n "$own_torch" ]; then say "Using LibTorch in $own_torch"; fi
make_environment
pip_install "$solver_package"
if [ $with_tests = yes ] || [ -z "$own_torch" ]; then
    # First and alone, so that no other package draws in another version of it.
    if [ -n "$(missing_python "$torch_package")" ]; then announce_torch; fi
    pip_install "$torch_package"
    if [ $with_tests = yes ]; then pip_install $test_python; fi
fi

if gpu_is_there && ! nvcc_is_there; then
    compiler_for "${own_torch:-$(torch_of "$root/.venv/bin/python")}"
fi
