#include <bit>
#include <cmath>
#include <utility>

#include <doctest/doctest.h>

#include <cuda_runtime.h>
#include <hwy/targets.h>

#include "kernels/host_cuda/strip_in_warps.h"
#include "kernels/host_cuda/strip_on_host.h"
#include "kernels/strip_case.h"
#include "kernels/strip_kept.h"
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

TEST_CASE("the kernel of each shape, the one that reads the steps, and the CPU agree bit for bit on random graphs")
{
    int hubs = 0, kept = 0, whole = 0;
    for (int shape = 0; shape < kShapeCount; ++shape)
        for (std::uint64_t seed = 0; seed < 80; ++seed) {
            Case cpu(seed, kShapes[shape]), read(seed, kShapes[shape]), known(seed, kShapes[shape]);
            CAPTURE(shape);
            CAPTURE(strip_case::describe(cpu));
            cpu.onCpu();
            for (Case* const c : {&read, &known}) c->forGpu();
            const StripLaunch launch = stripLaunch(known.program, known.arguments);
            REQUIRE(launch.shape == shape);
            REQUIRE(readStripOnHost(read.program, read.arguments) == 0);
            REQUIRE(stripOnHost(known.program, known.arguments, nullptr) == 0);
            for (Case* const c : {&read, &known}) {
                const auto wrong = strip_case::difference(cpu, *c);
                REQUIRE_MESSAGE(!wrong, wrong.value_or(""));
            }
            hubs += launch.pieceCount > 0 ? 1 : 0;
            kept += launch.edges[0].out || launch.edges[1].out ? 1 : 0;
            whole += launch.rows == 64 ? 1 : 0;
        }
    CHECK(hubs > 100);
    CHECK(kept > 50);
    CHECK(whole > 100);
}

TEST_CASE("other types, numbers of 64 bits, rows on the host, and steps that differ at all are of no shape")
{
    for (int shape = 0; shape < kShapeCount; ++shape) {
        CAPTURE(shape);
        Case c(1, kShapes[shape]);
        CHECK(shapeOf(c.program, c.arguments) == shape);
        StripArguments wideNumbers = c.arguments, divided = c.arguments;
        const std::int32_t place = 0;
        for (StripTable& t : wideNumbers.tables) t.columns = Index(c.columns.data());
        divided.tables.back().host.places = &place;
        for (const StripArguments* const a : {&wideNumbers, &divided}) CHECK(shapeOf(c.program, *a) == kNoShape);
        StripProgram half = c.program, longer = c.program, shorter = c.program;
        half.element = StripElement::Float16;
        longer.steps.push_back(longer.steps.back());
        shorter.steps.pop_back();
        for (const StripProgram* const p : {&half, &longer, &shorter}) CHECK(shapeOf(*p, c.arguments) != shape);
        for (StripStep& s : c.program.steps) {
            const auto differs = [&](auto& member, auto other) {
                const auto own = std::exchange(member, other);
                CHECK(shapeOf(c.program, c.arguments) != shape);
                member = own;
            };
            differs(s.op, StripOp::Abs);
            differs(s.to, 7);
            differs(s.perDestination, !s.perDestination);
            differs(s.a.at, 7);
            differs(s.a.inner, 2);
            if (s.op == StripOp::Aggregate) differs(s.combine, Combine::Mean);
        }
        for (StripRows& rows : c.program.tables) {
            const StripRows own = std::exchange(rows, rows == StripRows::Edges ? StripRows::Single : StripRows::Edges);
            CHECK(shapeOf(c.program, c.arguments) != shape);
            rows = own;
        }
    }
}

namespace {

constexpr std::int64_t wide = 64;

using From = StripOperand::From;

StripStep step(StripOp op, StripOperand a, StripOperand b, int to, std::int64_t width = 1)
{
    StripStep made;
    made.op = op, made.a = a, made.b = b, made.to = to, made.width = width;
    return made;
}

// The softmax of the sums of rows along edges, over rows of edges: 0 RowSum, 1 Max, 2 Sub, 3 Exp, 4 Sum, 5 Div, 6 Sum.
StripProgram attention()
{
    const StripOperand rows{From::Table, 0}, score{From::Edge, 0}, none;
    StripProgram p;
    p.steps = {step(StripOp::RowSum, rows, none, 0),
               step(StripOp::Aggregate, score, none, 0),
               step(StripOp::Sub, score, {From::Destination, 0}, 0),
               step(StripOp::Exp, score, none, 0),
               step(StripOp::Aggregate, score, none, 1),
               step(StripOp::Div, score, {From::Destination, 1}, 0),
               step(StripOp::Aggregate, rows, {From::Edge, 0, wide}, 2, wide)};
    p.steps[1].combine = Combine::Max;
    p.edges = {1};
    p.destinations = {1, 1, wide};
    p.tables = {StripRows::Edges};
    p.tableWidths = {wide};
    return p;
}

// The same over rows that are scaled by the sums before the exponential overwrites these.
StripProgram scaledAttention()
{
    StripProgram p = attention();
    p.steps.insert(p.steps.begin() + 2, step(StripOp::Mul, {From::Table, 0}, {From::Edge, 0, wide}, 1, wide));
    p.steps.back().a = {From::Edge, 1};
    p.edges.push_back(wide);
    return p;
}

// The results of the last aggregation for destinations of 5, 300 and 3,000 edges, on the CPU and by the CUDA kernels.
std::pair<std::vector<float>, std::vector<float>> onBoth(StripProgram p)
{
    REQUIRE(setPhases(p));
    const std::vector<std::int64_t> offsets{0, 5, 305, 3305};
    std::vector<float> rows(static_cast<std::size_t>(offsets.back() * wide));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = std::sin(static_cast<float>(i % 9973)) / 16;
    const std::vector<HubPiece> pieces = hubPieces(offsets.data(), 3);
    StripTable table;
    table.data = rows.data(), table.stride = wide;
    StripArguments a;
    a.offsets = offsets.data(), a.destinations = 3, a.edges = offsets.back(), a.tables = {table};
    a.pieces = pieces.data(), a.pieceCount = static_cast<std::int64_t>(pieces.size());
    std::vector<float> cpu(3 * wide), cuda(3 * wide);
    std::vector<std::byte> scratch(static_cast<std::size_t>(stripScratchBytes(p)) + 64);
    std::vector<std::byte> work(static_cast<std::size_t>(stripWorkBytes(p, a.pieceCount, a.edges)));
    void* aligned = scratch.data();
    std::size_t space = scratch.size();
    a.out = {nullptr, nullptr, cpu.data()};
    stripCpu(p, a, 0, 3, static_cast<std::byte*>(std::align(64, 1, aligned, space)));
    a.out.back() = cuda.data();
    a.work = work.data();
    REQUIRE(stripOnHost(p, a, nullptr) == 0);
    return {cpu, cuda};
}

}  // namespace

TEST_CASE("the scores of a softmax are kept from phase to phase: rows along edges are read for them once")
{
    StripProgram p = attention();
    REQUIRE(setPhases(p));
    CHECK(p.steps[0].phases == 7);
    const KeptRows kept = keptRows(p);
    CHECK(kept.kept == std::vector<bool>{true});
    CHECK(kept.phases == std::vector<std::uint32_t>{1, 1, 2, 2, 2, 4, 4});
    p.edges = {wide};
    CHECK(keptRows(p).kept == std::vector<bool>{false});
    const auto [cpu, cuda] = onBoth(attention());
    CHECK(cpu == cuda);
}

TEST_CASE("rows that are overwritten before a later phase reads them are not kept")
{
    StripProgram p = scaledAttention();
    REQUIRE(setPhases(p));
    CHECK(keptRows(p).phases == std::vector<std::uint32_t>{5, 1, 4, 6, 6, 2, 4, 4});
    const auto [cpu, cuda] = onBoth(scaledAttention());
    CHECK(cpu == cuda);
}

TEST_CASE("a warp fails if threads end, wait elsewhere or are not named")
{
    const auto everyone = [](unsigned) { __syncwarp(0xff); };
    CHECK(runWarp(8, false, everyone));
    CHECK(!runWarp(7, false, everyone));
    CHECK(!runWarp(8, true, [](unsigned t) {
        if (t > 0) __syncwarp(0xff);
    }));
    CHECK(!runWarp(8, false, [](unsigned t) { __syncwarp(t < 4 ? 0x0f : 0xff); }));
    CHECK(!runWarp(8, false, [](unsigned t) {
        if (t < 4) __syncwarp(0xff);
        else __shfl_down_sync(0xff, 1.0F, 1, 8);
    }));
    float sums[8] = {};
    CHECK(runWarp(8, true, [&](unsigned t) {
        const unsigned mask = t < 4 ? 0x0f : 0xf0;
        sums[t] = __shfl_down_sync(mask, static_cast<float>(t), 2, 4);
    }));
    CHECK(std::vector<float>(sums, sums + 8) == std::vector<float>{2, 3, 2, 3, 6, 7, 6, 7});
}

namespace {

void checkInWarps(Case& cpu, Case& cuda, int shape)
{
    CAPTURE(strip_case::describe(cpu));
    CAPTURE(shape);
    cpu.onCpu();
    cuda.forGpu();
    REQUIRE(stripInWarps(cuda.program, cuda.arguments, shape) == 0);
    const auto wrong = strip_case::difference(cpu, cuda);
    REQUIRE_MESSAGE(!wrong, wrong.value_or(""));
}

}  // namespace

TEST_CASE("strips have the bits of the CPU where the threads of a warp wait for each other and exchange sums")
{
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Case cpu(seed), cuda(seed);
        if (stripFits(cuda.program)) checkInWarps(cpu, cuda, kNoShape);
    }
    for (int shape = 0; shape < kShapeCount; ++shape)
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            Case cpu(seed, kShapes[shape]), cuda(seed, kShapes[shape]);
            checkInWarps(cpu, cuda, shape);
        }
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
