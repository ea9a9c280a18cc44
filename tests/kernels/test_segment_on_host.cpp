#include <doctest/doctest.h>

#include <cuda_runtime.h>

#include "kernels/host_cuda/segment_on_host.h"
#include "kernels/segment_case.h"

// The CUDA source as a C++ compiler and its sanitizers see it.

using namespace hopscope::kernels;
using segment_case::Case;

namespace {

void checkSeed(std::uint64_t seed, bool spread, bool divided = false)
{
    Case c(seed);
    if (spread) c.usePieces();
    if (divided) c.divideRows();
    CAPTURE(segment_case::describe(c));
    CAPTURE(spread);
    const std::vector<std::uint32_t> want = segment_case::expected(c);
    REQUIRE(segmentOnHost(c.arguments, nullptr) == 0);
    const auto wrong = segment_case::difference(want, c);
    CHECK_MESSAGE(!wrong, wrong.value_or(""));
}

std::uint64_t seedWithHub()
{
    for (std::uint64_t seed = 0;; ++seed) {
        const Case c(seed);
        if (!hubPieces(c.arguments.offsets, c.arguments.destinations).empty()) return seed;
    }
}

}  // namespace

TEST_CASE("the CUDA kernels follow the definition bit for bit, hubs in one group of threads")
{
    for (std::uint64_t seed = 0; seed < 4 * segment_case::combinations; ++seed) checkSeed(seed, false);
}

TEST_CASE("the CUDA kernels follow the definition bit for bit, hubs in pieces")
{
    for (std::uint64_t seed = 0; seed < 8 * segment_case::combinations; ++seed) checkSeed(seed, true);
}

TEST_CASE("the CUDA kernels follow the definition bit for bit where some rows are on the host")
{
    for (std::uint64_t seed = 0; seed < 4 * segment_case::combinations; ++seed) checkSeed(seed, seed % 2 == 0, true);
}

TEST_CASE("the CPU and the CUDA kernels agree bit for bit")
{
    for (std::uint64_t seed = 1000000; seed < 1000000 + 4 * segment_case::combinations; ++seed) {
        Case cpu(seed), cuda(seed);
        cuda.usePieces();
        CAPTURE(segment_case::describe(cpu));
        segmentCpu(cpu.arguments, 0, cpu.arguments.destinations);
        REQUIRE(segmentOnHost(cuda.arguments, nullptr) == 0);
        std::vector<std::uint32_t> want;
        for (std::int64_t i = 0; i < cpu.out.count(); ++i) want.push_back(cpu.out.bits(i));
        const auto wrong = segment_case::difference(want, cuda);
        CHECK_MESSAGE(!wrong, wrong.value_or(""));
    }
}

TEST_CASE("the first launch that fails gives its error and no more are made; all are on the given stream")
{
    const std::uint64_t seed = seedWithHub();
    for (int failing = 0; failing <= 3; ++failing) {
        Case c(seed);
        c.usePieces();
        int stream = 0;
        hostCuda = {.last = cudaSuccess, .launches = 0, .failing = failing, .failure = static_cast<cudaError_t>(719)};
        CAPTURE(failing);
        CHECK(segmentOnHost(c.arguments, &stream) == (failing == 0 ? 0 : 719));
        CHECK(hostCuda.launches == (failing == 0 ? 3 : failing));
        CHECK(hostCuda.stream == &stream);
    }
    hostCuda = {};
}

TEST_CASE("a segment without hubs is one launch, one without destinations or width none")
{
    Case c(seedWithHub());
    hostCuda = {};
    CHECK(segmentOnHost(c.arguments, nullptr) == 0);
    CHECK(hostCuda.launches == 1);
    SegmentArguments none;
    CHECK(segmentOnHost(none, nullptr) == 0);
    none.destinations = 3;
    CHECK(segmentOnHost(none, nullptr) == 0);
    CHECK(hostCuda.launches == 1);
}

TEST_CASE("codes that mean that the kernels can never run are told from launches that failed")
{
    for (const int code : {kNoCuda, kNoImage, 35, 222}) CHECK(kernelsCannotRun(code));
    for (const int code : {0, 1, kOutOfMemory, 700, 719}) CHECK(!kernelsCannotRun(code));
    CHECK(std::string(errorTextOnHost(kNoCuda)) == "this build has no CUDA kernels");
    CHECK(std::string(errorTextOnHost(1)) == "an error");
}
