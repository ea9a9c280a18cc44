#!/usr/bin/env bash
# Installs what Hopscope needs on Debian 12: packages by apt (as root or through sudo) and Python packages into .venv,
# LibTorch among them. Does nothing, at once, where everything is there; can be run again at any time.
#
#   packaging/setup.sh              everything: building, running, testing, regenerating the samples
#   packaging/setup.sh --no-tests   only what building and running needs
#   packaging/setup.sh --no-window  nothing for the window (build with -DHOPSCOPE_GUI=OFF)
#   packaging/setup.sh --no-apt     leaves the system alone (packages come by other ways, as with HOPSCOPE_DEPS_DIR)
#
# HOPSCOPE_TORCH_ROOT=FOLDER uses a LibTorch that is already there (include/ and lib/); with --no-tests no Python
# package is installed then.
set -eu
. "$(dirname "$0")/common.sh"

engine_packages="g++ cmake ninja-build ccache python3 python3-venv nlohmann-json3-dev libcli11-dev libexpected-dev
    libxxhash-dev zlib1g-dev libhwy-dev coinor-libcbc-dev"
window_packages="qt6-base-dev qt6-svg-dev qt6-wayland libqcustomplot-dev libgraphviz-dev pkg-config fonts-inter
    fonts-dejavu-core"
test_packages="doctest-dev clang-format clang-tidy universal-ctags util-linux xvfb xauth desktop-file-utils appstream
    shared-mime-info"
torch_package="torch==2.13.0"
test_python="numpy torch_geometric==2.8.0 safetensors scikit-learn jsonschema"

with_tests=yes
with_window=yes
with_apt=yes
for option in "$@"; do
    case $option in
    --no-tests) with_tests=no ;;
    --no-window) with_window=no ;;
    --no-apt) with_apt=no ;;
    *) fail "setup.sh knows --no-tests, --no-window and --no-apt, not '$option'" ;;
    esac
done

missing_packages() {
    command -v dpkg-query > /dev/null || fail "this is not Debian; install by hand (or use --no-apt):" $1
    for package in $1; do
        dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2> /dev/null | grep -q '^.i' || echo "$package"
    done
}

apt_install() {
    local as_root=""
    if [ "$(id -u)" != 0 ]; then
        command -v sudo > /dev/null || fail "root is needed once, for: apt-get install $*"
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

packages=$engine_packages
if [ $with_window = yes ]; then packages="$packages $window_packages"; fi
if [ $with_tests = yes ]; then packages="$packages $test_packages"; fi
if [ $with_apt = yes ]; then
    missing=$(missing_packages "$packages")
    if [ -n "$missing" ]; then apt_install $missing; fi
fi

if [ $with_tests = yes ] || [ -z "${HOPSCOPE_TORCH_ROOT:-}" ]; then
    if ! "$root/.venv/bin/python" -c pass 2> /dev/null; then
        say "Making the Python environment .venv"
        python3 -m venv --clear "$root/.venv"
    fi
    # First and alone, so that no other package draws in another version of it.
    pip_install "$torch_package"
    if [ $with_tests = yes ]; then pip_install $test_python; fi
fi
