#!/usr/bin/env bash
# Makes packages that need no Python, in dist/, and tries them:
#
#   packaging/package.sh           builds in build/package, after setup.sh, and makes a .deb for Debian 12 and a .tar.xz that runs
#                                  from any folder
#   packaging/package.sh --check   installs each in a bare Debian 12, runs and verifies samples, takes pictures of the window, and
#                                  removes it again; as root. HOPSCOPE_CORA names a folder with cora.safetensors and cora_models
#
# The LibTorch in .venv, or the one that setup.sh is told of, has to be one without CUDA: that of CUDA takes gigabytes.
set -eu
. "$(dirname "$0")/common.sh"

need() { # PROGRAM PACKAGE
    command -v "$1" > /dev/null || fail "$1 is missing: apt-get install $2"
}

make_packages() {
    local build=$root/build/package torch=${own_torch:-}
    need patchelf patchelf
    need dpkg-shlibdeps dpkg-dev
    bash "$root/packaging/setup.sh" --no-tests
    [ -n "$torch" ] || torch=$(torch_of "$root/.venv/bin/python")
    [ ! -e "$torch/lib/libtorch_cuda.so" ] || fail "$torch is made for CUDA; install torch from https://download.pytorch.org/whl/cpu into .venv"
    say "Building"
    (cd "$root" && cmake --preset release -B "$build" $(unity "$build") -DHOPSCOPE_CUDA=OFF "${torch_args[@]}")
    nice ninja -C "$build" -j "$jobs"
    say "Making packages (compressing takes minutes)"
    rm -rf "$root/dist"
    (cd "$build" && cpack)
    rm -rf "$build/_CPack_Packages"
    (cd "$root/dist" && rm -rf _CPack_Packages && sha256sum hopscope* > SHA256SUMS && ls -l)
}

case ${1:-} in
"") make_packages ;;
--check)
    need debootstrap debootstrap
    need lintian lintian
    need appstreamcli appstream
    need desktop-file-validate desktop-file-utils
    bash "$root/packaging/check_packages.sh"
    ;;
*) fail "unknown option '$1': use --check or nothing" ;;
esac
