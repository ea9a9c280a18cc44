#!/usr/bin/env bash
# Runs the tests of the Python package with every torch of packaging/torch.txt, and with the engine for it in the wheel:
#
#   packaging/python/test_torch.sh [DIR [MODULE]...]
#
# DIR contains the wheel (default: dist/ beside this script). Each torch has an environment of its own below build/wheels, which takes
# some 6 GB with CUDA. MODULE names modules of tests/python (default: all).
set -eu
. "$(dirname "$0")/../common.sh"

wheels=${1:-$root/packaging/python/dist}
[ $# -eq 0 ] || shift
packages="numpy torch_geometric==2.8.0 safetensors scikit-learn jsonschema scipy networkx pandas pyarrow tqdm onnxruntime==1.32.0"
failed=
for release in $torch_releases; do
    environment=$root/build/wheels/env-$release
    python=$environment/bin/python
    if ! "$python" -c 'import torch, torch_geometric' 2> /dev/null; then
        say "Installing torch $release"
        python3 -m venv --clear "$environment"
        "$python" -m pip install -q --disable-pip-version-check --timeout 180 "torch==$release" $packages
    fi
    "$python" -m pip install -q --disable-pip-version-check --no-index --no-deps --force-reinstall "$wheels"/hopscope-[0-9]*.whl
    say "$(cd / && "$python" -c 'import hopscope, torch; print("torch", torch.__version__, "with", hopscope.engine().path)')"
    bin=$(cd / && "$python" -c 'import hopscope, pathlib; print(pathlib.Path(hopscope.__file__).parent / "bin")')
    torch=$(cd / && "$python" -c 'import torch, pathlib; print(pathlib.Path(torch.__file__).parent / "lib")')
    HOPSCOPE_TRUST=/ HOPSCOPE_ROOT=$root HOPSCOPE_ENGINE=$bin/torch-${release%.*}/hopscope-engine LD_LIBRARY_PATH=$torch:$bin/lib \
        "$python" -B -W ignore "$root/tests/python/run_package.py" "$@" || failed="$failed $release"
done
[ -z "$failed" ] || fail "tests failed with torch$failed"
say "The tests passed with torch $(echo $torch_releases)"
