#pragma once

// Private to kernels: a program of strips as a CUDA kernel takes it, in plain data of fixed size. (C++17: nvcc reads it.)

#include <cstddef>
#include <cstdint>

#include "kernels/strip.h"
#include "kernels/strip_shapes.h"

namespace hopscope::kernels {

constexpr int kLaunchSteps = 32, kLaunchTables = 24, kLaunchBuffers = 24;
constexpr int kLaunchThreads = 128;             // of a block, at most
constexpr std::int64_t kLaunchGroups = 256;     // of threads at the same time, if their memory is not shared memory
constexpr std::int64_t kLaunchWidth = 1 << 14;  // of a row, and of the rows of all buffers together

struct LaunchOperand {
    StripOperand::From from = StripOperand::From::None;
    std::uint8_t at = 0;
    std::int32_t width = 1, inner = 1;  // of the row; its elements are repeated `inner` times, then the row itself
};

struct LaunchStep {
    StripOp op = StripOp::Add;
    Combine combine = Combine::Sum;
    bool perDestination = false;
    std::uint8_t to = 0;
    std::int32_t width = 1;
    std::int32_t sums = 0;  // Aggregate: where its sums lie, in bytes
    std::uint32_t phases = 0;
    double parameter = 0, empty = 0;
    LaunchOperand a, b;
};

struct LaunchTable {
    const void* data = nullptr;
    std::int64_t stride = 0, first = 0;
    const void* columns = nullptr;  // Index::data, for `wide` numbers or not
    bool wide = true;
    StripRows rows = StripRows::Edges;
    std::int8_t host = -1;  // in StripLaunch::hosts; -1: all rows are on the device
};

struct LaunchBuffer {
    std::int32_t width = 1;
    std::int32_t at = 0;  // in bytes
    // Of destinations: the result; null: not wanted. Of edges: rows that are kept for later phases, from the first
    // position on; null: there are none.
    void* out = nullptr;
};

// A group of threads has memory of its own: rows of edges, sums, rows of destinations that are not wanted. Those of a
// hub's pieces and of the hub itself lie in `work`, by piece.
struct StripLaunch {
    StripElement element = StripElement::Float32;
    int shape = kNoShape;  // in kShapes; kNoShape: the kernel reads the steps
    int stepCount = 0;
    std::uint32_t phases = 0;  // of all steps
    LaunchStep steps[kLaunchSteps];
    LaunchTable tables[kLaunchTables];
    HostRows hosts[kStripHosts];
    LaunchBuffer edges[kLaunchBuffers], destinations[kLaunchBuffers];

    Index offsets;
    std::int64_t count = 0;  // destinations
    const HubPiece* pieces = nullptr;
    std::int64_t pieceCount = 0, pieceFirst = 0;

    int lanes = 32;  // threads of a group: a power of two
    int groups = 1;  // of a block
    int rows = 1;    // of edges in a strip
    bool shared = true;
    std::int32_t edgeBytes = 0, sumBytes = 0, rowBytes = 0;  // of a group's memory, in this order
    std::int64_t groupBytes = 0;                             // of all three
    std::int64_t hubBytes = 0;                               // of the pieces and hubs in `work`
    std::byte* work = nullptr;  // sums by piece, rows of hubs by their first piece, the memory of groups, kept rows
};
static_assert(sizeof(StripLaunch) <= 4096, "the parameters of a CUDA kernel");

// Returns the launch of a program that stripFits(), for the kernel of its shape. Fills in everything.
StripLaunch stripLaunch(const StripProgram& program, const StripArguments& arguments);
// The same for a kernel of this shape; kNoShape: for the one that reads the steps.
StripLaunch stripLaunch(const StripProgram& program, const StripArguments& arguments, int shape);

// Computes all destinations on the current device. Returns codes as segmentCuda().
int launchStrips(const StripLaunch& launch, void* stream);

}  // namespace hopscope::kernels
