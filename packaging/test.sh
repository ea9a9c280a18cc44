#!/usr/bin/env bash
# Installs what is missing, then builds everything and runs the tests of a tier.
#
#   packaging/test.sh          the default tier: what CI runs, and what has to pass before a change lands
#   packaging/test.sh --full   all tests: whole products of configurations, kills, Ray, all screenshots; then the sanitizers, a
#                              build without the optional parts, clang-tidy and the mutants. Takes hours.
#
# The options of setup.sh, such as --no-apt, may follow.
# The quick tier needs no script: ctest --preset quick. Every step runs even if an earlier one failed; the last lines are
# CTest's summary of the main build. CI=true makes warnings errors.
set -u
. "$(dirname "$0")/common.sh"

tier=default
case ${1:-} in
"" | --no-*) ;;
--full) tier=full && shift ;;
*) fail "unknown option '$1': use --full or nothing" ;;
esac

bash "$root/packaging/setup.sh" "$@" || exit 1
cd "$root" || exit 1
mkdir -p build

werror=OFF
if [ "${CI:-}" = true ]; then werror=ON; fi
failed=()

# step NAME COMMAND...: runs it, says how long it took on the clock and on processors, and remembers a failure.
step() {
    local name=$1 outcome=passed TIMEFORMAT="   %0R s, %0U + %0S s of processor time"
    shift
    say "$name"
    if ! time "$@"; then outcome=FAILED && failed+=("$name"); fi
    printf -- '-- %s: %s\n' "$name" "$outcome"
}

# One more than there are cores: windows and child processes are waited for.
test_jobs=$((jobs + 1))

main_build() { configure dev -DHOPSCOPE_WERROR=$werror && build dev; }

main_tests() {
    ctest --preset "$tier" -j"$test_jobs" 2>&1 | tee build/ctest.log
    return "${PIPESTATUS[0]}"
}

# ThreadSanitizer of GCC 12 cannot place its shadow memory when the kernel spreads addresses widely.
without_address_spreading() {
    if setarch -R true 2> /dev/null; then setarch -R "$@"; else "$@"; fi
}

sanitized() {
    if ! configure "$1" -DHOPSCOPE_WERROR=$werror > "build/$1.configure.log" || ! build "$1"; then return 1; fi
    without_address_spreading ctest --preset "$1" -j"$test_jobs"
}

# Copies what the installed development packages consist of to build/deps, as if they had been unpacked there.
unpack_packages() {
    rm -rf build/deps
    mkdir -p build/deps
    dpkg -L nlohmann-json3-dev libcli11-dev libexpected-dev libxxhash-dev zlib1g-dev libhwy-dev libhwy1 libseccomp-dev libseccomp2 doctest-dev |
        grep -E '^/usr/(include|lib|share/cmake)/' | while read -r file; do
        if [ ! -d "$file" ] || [ -L "$file" ]; then
            mkdir -p "build/deps$(dirname "$file")" && cp -P "$file" "build/deps$file"
        fi
    done
    cp -r .venv/lib/python3*/site-packages/highsbox/highs_dist/{include,lib} build/deps/usr/
}

without_optional_parts() {
    unpack_packages &&
        cmake -S . -B build/minimal -G Ninja $(unity build/minimal) -DHOPSCOPE_GUI=OFF -DHOPSCOPE_CUDA=OFF "${torch_args[@]}" \
            -DHOPSCOPE_DEPS_DIR="$root/build/deps" -DHOPSCOPE_WERROR=$werror "-DHOPSCOPE_TEST_FOLDERS=solver;optimiser" &&
        grep -q "HOPSCOPE_JSON_INCLUDE:PATH=$root/build/deps/" build/minimal/CMakeCache.txt &&
        grep -q "HOPSCOPE_HIGHS_INCLUDE:PATH=$root/build/deps/" build/minimal/CMakeCache.txt &&
        ninja -C build/minimal -j "$jobs" hopscope_json hopscope_graph test_core &&
        cmake -S . -B build/minimal -DHOPSCOPE_HIGHS=OFF && ninja -C build/minimal -j "$jobs" test_core &&
        ctest --test-dir build/minimal --output-on-failure -R '^(solver|optimiser)$'
}

sources() { find core widgets app tests tools -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' | sort; }

formatted() { sources | xargs clang-format --dry-run -Werror; }

tidied() { python3 packaging/tidy.py build/dev --jobs "$jobs"; }

step "Build" main_build
step "Tests of the $tier tier" main_tests
step "Formatting" formatted
if [ $tier = full ]; then
    step "AddressSanitizer and UndefinedBehaviorSanitizer" sanitized asan
    step "AddressSanitizer and UndefinedBehaviorSanitizer with LibTorch" sanitized asan-torch
    step "ThreadSanitizer" sanitized tsan
    step "Without the optional parts, packages from a folder" without_optional_parts
    step "clang-tidy" tidied
    step "Mutants" python3 -B tests/mutants.py
fi

if [ ${#failed[@]} -gt 0 ]; then say "Failed steps:" "$(printf '%s; ' "${failed[@]}")"; fi
say "Summary of the main build's tests (details in build/ctest.log; $((SECONDS / 60)) min in total)"
sed -n '/tests passed/,$p' build/ctest.log
[ ${#failed[@]} -eq 0 ]
