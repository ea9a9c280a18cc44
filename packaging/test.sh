#!/usr/bin/env bash
# Installs what is missing, then builds and tests everything: the whole project with its tests, what needs no LibTorch
# again under AddressSanitizer + UndefinedBehaviorSanitizer, what of it starts threads under ThreadSanitizer, a configuration
# without the optional parts that takes its packages from a folder, clang-format and clang-tidy. Every step runs even if an
# earlier one failed; the last lines are CTest's summary of the main build. CI=true makes warnings errors.
#
# HOPSCOPE_TEST_MINUTES=N: where all of it would take longer, going by the time of the main build from an empty compiler cache,
# some of it is left to the next commits and said to be: of the tests with a label turn_0 to turn_3 all but those of this turn, and
# of the later steps what there is no time for. The time of the commit says whose turn it is, and which step comes first.
set -u
. "$(dirname "$0")/common.sh"

bash "$root/packaging/setup.sh" || exit 1
cd "$root" || exit 1
mkdir -p build

werror=OFF
if [ "${CI:-}" = true ]; then werror=ON; fi
failed=()
left_out=()
limit=$((60 * ${HOPSCOPE_TEST_MINUTES:-0}))
turn=$(($(git log -1 --format=%ct 2> /dev/null || date +%s) % 4))

# step NAME COMMAND...: runs it, says how long it took and remembers a failure.
step() {
    local name=$1 began=$SECONDS
    shift
    say "$name"
    if "$@"; then
        printf -- '-- %s: passed, %d s\n' "$name" $((SECONDS - began))
    else
        failed+=("$name")
        printf -- '-- %s: FAILED, %d s\n' "$name" $((SECONDS - began))
    fi
}

# Tests run beside each other: threads of one that wait for each other by spinning take the cores from the other (a quarter to
# a third of the processor time of test_models on 31 models, beside other programs).
export GOMP_SPINCOUNT=0
# One more than there are cores: windows and child processes are waited for.
test_jobs=$((jobs + 1))

main_build() {
    local began=$SECONDS
    configure dev -DHOPSCOPE_WERROR=$werror && build dev
    local ended=$?
    build_seconds=$((SECONDS - began))
    return $ended
}

# in_time PERCENT: whether what takes so much of the time of the main build would end in time.
in_time() { [ "$limit" -eq 0 ] || [ $((SECONDS + build_seconds * $1 / 100)) -le "$limit" ]; }

# What ctest is told to leave out: nothing, or the tests of other turns.
without=()
note_left_out() {
    if [ ${#without[@]} -eq 0 ]; then return; fi
    left_out+=("$(ctest --test-dir "build/$1" -N -L "${without[1]}" | sed -n 's/^Total Tests: //p') tests of $1 (${without[1]})")
}

# Tests take up to one and a half times as long as the main build, and what follows up to twice as long.
main_tests() {
    if ! in_time 350; then without=(-LE "turn_[^$turn]"); fi
    note_left_out dev
    ctest --test-dir build/dev --output-on-failure -j"$test_jobs" "${without[@]}" 2>&1 | tee build/ctest.log
    return "${PIPESTATUS[0]}"
}

# ThreadSanitizer of GCC 12 cannot place its shadow memory when the kernel spreads addresses widely.
without_address_spreading() {
    if setarch -R true 2> /dev/null; then setarch -R "$@"; else "$@"; fi
}

sanitized() {
    if ! configure "$1" -DHOPSCOPE_WERROR=$werror > "build/$1.configure.log" || ! build "$1"; then return 1; fi
    note_left_out "$1"
    without_address_spreading ctest --test-dir "build/$1" --output-on-failure -j"$test_jobs" "${without[@]}"
}

# Copies what the installed development packages consist of to build/deps, as if they had been unpacked there.
unpack_packages() {
    rm -rf build/deps
    mkdir -p build/deps
    dpkg -L nlohmann-json3-dev libcli11-dev libexpected-dev libxxhash-dev zlib1g-dev libhwy-dev libhwy1 doctest-dev \
        coinor-libcbc-dev coinor-libcbc3 coinor-libcgl-dev coinor-libcgl1 coinor-libclp-dev coinor-libclp1 \
        coinor-libcoinutils-dev coinor-libcoinutils3v5 coinor-libosi-dev coinor-libosi1v5 |
        grep -E '^/usr/(include|lib|share/cmake)/' | while read -r file; do
        if [ ! -d "$file" ] || [ -L "$file" ]; then
            mkdir -p "build/deps$(dirname "$file")" && cp -P "$file" "build/deps$file"
        fi
    done
}

without_optional_parts() {
    unpack_packages &&
        cmake -S . -B build/minimal -G Ninja $(unity build/minimal) -DHOPSCOPE_GUI=OFF -DHOPSCOPE_CUDA=OFF "${torch_args[@]}" \
            -DHOPSCOPE_DEPS_DIR="$root/build/deps" -DHOPSCOPE_WERROR=$werror "-DHOPSCOPE_TEST_FOLDERS=solver;optimiser" &&
        grep -q "HOPSCOPE_JSON_INCLUDE:PATH=$root/build/deps/" build/minimal/CMakeCache.txt &&
        grep -q "HOPSCOPE_CBC_INCLUDE:PATH=$root/build/deps/" build/minimal/CMakeCache.txt &&
        ninja -C build/minimal -j "$jobs" hopscope_json hopscope_graph test_core &&
        cmake -S . -B build/minimal -DHOPSCOPE_CBC=OFF && ninja -C build/minimal -j "$jobs" test_core &&
        ctest --test-dir build/minimal --output-on-failure -R '^(solver|optimiser)$'
}

sources() { find core widgets app tests -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' | sort; }

formatted() { sources | xargs clang-format --dry-run -Werror; }

tidied() { timeout "${HOPSCOPE_TIDY_LIMIT:-1800}" python3 packaging/tidy.py build/dev --jobs "$jobs"; }

# later NUMBER: one of the steps that may be left out, with its share of the time of the main build.
later() {
    local steps=(
        "62:AddressSanitizer and UndefinedBehaviorSanitizer:sanitized asan"
        "60:clang-tidy:tidied"
        "15:ThreadSanitizer:sanitized tsan"
        "15:Without the optional parts, packages from a folder:without_optional_parts"
    )
    local share name command
    IFS=: read -r share name command <<< "${steps[$1]}"
    if in_time "$share"; then step "$name" $command; else left_out+=("$name"); fi
}

step "Build" main_build
step "Tests" main_tests
step "Formatting" formatted
for number in 0 1 2 3; do later $(((number + turn) % 4)); done

if [ ${#left_out[@]} -gt 0 ]; then say "Left out, to end within $((limit / 60)) min:" "$(printf '%s; ' "${left_out[@]}")"; fi
if [ ${#failed[@]} -gt 0 ]; then say "Failed steps:" "$(printf '%s; ' "${failed[@]}")"; fi
say "Summary of the main build's tests (details in build/ctest.log; $((SECONDS / 60)) min in total)"
sed -n '/tests passed/,$p' build/ctest.log
[ ${#failed[@]} -eq 0 ]
