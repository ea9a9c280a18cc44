#include <bit>

#include <doctest/doctest.h>

#include <cuda_runtime.h>
#include <hwy/targets.h>

#include "kernels/host_cuda/strip_on_host.h"
#include "kernels/strip_case.h"
#include "kernels/strip_launch.h"

// The CUDA source of strips as a C++ compiler and its sanitizers see it.

using namespace hopscope::kernels;
using strip_case::Case;

namespace {

std::int64_t phasesOf(const StripProgram& program)
{
    std::uint32_t all = 0;
    for (const StripStep& s : program.steps) all |= s.phases;
    return std::popcount(all);
}

struct Checked {
    std::int64_t pieces = 0;
    bool shared = true;  // rows of edges lie in shared memory
};

Checked checkSeed(std::uint64_t seed, bool divided = false)
{
    Case cuda(seed);
    CAPTURE(strip_case::describe(cuda));
    if (!stripFits(cuda.program)) return {};
    cuda.forGpu();
    if (divided) cuda.divideRows();
    REQUIRE(stripOnHost(cuda.program, cuda.arguments, nullptr) == 0);
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        CAPTURE(hwy::TargetName(target));
        Case cpu(seed);
        cpu.onCpu();
        const auto wrong = strip_case::difference(cpu, cuda);
        REQUIRE_MESSAGE(!wrong, wrong.value_or(""));
    }
    hwy::SetSupportedTargetsForTest(0);
    return {cuda.arguments.pieceCount, stripLaunch(cuda.program, cuda.arguments).shared};
}

}  // namespace

TEST_CASE("strips of every instruction set and of the CUDA kernels agree bit for bit on random programs")
{
    int hubs = 0, outside = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) hubs += checkSeed(seed).pieces > 0 ? 1 : 0;
    CHECK(hubs > 30);
    for (std::uint64_t seed = 60; outside < 2; seed += 61) outside += checkSeed(seed).shared ? 0 : 1;
}

TEST_CASE("strips agree bit for bit where some rows of their tables are on the host")
{
    for (std::uint64_t seed = 300; seed < 400; ++seed) checkSeed(seed, true);
}

TEST_CASE("strips without hubs are one launch, hubs take two more for each phase; the first failure ends them")
{
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        Case c(seed);
        CAPTURE(strip_case::describe(c));
        c.forGpu();
        const auto all = static_cast<int>(c.pieces.empty() ? 1 : 1 + 2 * phasesOf(c.program));
        for (int failing = 0; failing <= all; ++failing) {
            int stream = 0;
            hostCuda = {.failing = failing, .failure = static_cast<cudaError_t>(719)};
            CHECK(stripOnHost(c.program, c.arguments, &stream) == (failing == 0 ? 0 : 719));
            CHECK(hostCuda.launches == (failing == 0 ? all : failing));
            CHECK(hostCuda.stream == &stream);
        }
    }
    hostCuda = {};
    CHECK(stripOnHost({}, {}, nullptr) == 0);
    CHECK(hostCuda.launches == 0);
}

TEST_CASE("programs with more steps, tables or columns than a kernel takes do not fit")
{
    StripProgram p;
    p.steps.resize(kLaunchSteps);
    p.tables.resize(kLaunchTables);
    p.tableWidths.assign(kLaunchTables, 1);
    p.edges = {100};
    CHECK(stripFits(p));
    StripProgram longer = p, more = p, wider = p;
    longer.steps.emplace_back();
    more.tables.emplace_back();
    wider.edges = {kLaunchWidth + 1};
    for (const StripProgram* const q : {&longer, &more, &wider}) CHECK(!stripFits(*q));
}
