#pragma once

// Declares strip kernels, which compute chains of element-wise operators and row sums on the rows of edges, between
// gathers and aggregations by destination, without a temporary for all edges. A strip is a run of destinations whose
// edges' rows stay in the cache while all steps are computed on them.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/segment.h"

namespace hopscope::kernels {

// The operators of strips. Softplus has beta 1 and threshold 20. RowSum adds up groups of adjacent elements of a row,
// one group for each element of the result.
enum class StripOp : std::uint8_t {
    Add,
    Sub,
    Mul,
    Div,
    Neg,
    Abs,
    Sqrt,
    Relu,
    LeakyRelu,
    Exp,
    Sigmoid,
    Tanh,
    Silu,
    Softplus,
    RowSum,
    Aggregate,
};

enum class StripElement : std::uint8_t { Float32, Float64, Float16, BFloat16 };

// A row that a step reads. To reach the width of the step's result, each element is repeated `inner` times, or the row
// `outer` times.
struct StripOperand {
    enum class From : std::uint8_t { None, Edge, Destination, Table };
    From from = From::None;
    int at = 0;  // the buffer of edges or destinations, or the table
    std::int64_t inner = 1, outer = 1;

    [[nodiscard]] bool plain() const { return inner == 1 && outer == 1; }
};

struct StripStep {
    StripOp op = StripOp::Add;
    StripOperand a, b;            // b: of Add, Sub, Mul, Div; of Aggregate a factor, or none
    bool perDestination = false;  // on rows of destinations. Aggregate leads from edges to destinations
    int to = 0;                   // buffer of edges, or of destinations
    std::int64_t width = 1;       // of the result
    double parameter = 0;         // LeakyRelu: slope
    Combine combine = Combine::Sum;
    double empty = 0;
    std::uint32_t phases = 0;  // bits, set by setPhases()
};

// The rows of a table: one per edge, one per destination, one for each number in `columns`, or a single one for all.
enum class StripRows : std::uint8_t { Edges, Destinations, Gathered, Single };

struct StripProgram {
    StripElement element = StripElement::Float32;
    std::vector<StripStep> steps;                   // each reads what earlier ones wrote
    std::vector<std::int64_t> edges, destinations;  // widths of buffers
    std::vector<StripRows> tables;
    std::vector<std::int64_t> tableWidths;
};

constexpr int kStripHosts = 8;

struct StripTable {
    const void* data = nullptr;
    std::int64_t stride = 0;  // elements from row to row
    std::int64_t first = 0;   // number of row 0 (Edges: its position); Gathered: position of the first column
    Index columns;            // Gathered
    HostRows host = {};       // Gathered, GPU only; of at most kStripHosts tables
};

// The arguments of stripCpu() and stripCuda(). As in SegmentArguments, destination d has positions
// [offsets[d], offsets[d + 1]).
struct StripArguments {
    Index offsets;
    std::vector<StripTable> tables;  // as the program's
    std::vector<void*> out;  // by buffer of destinations: the result, row 0 being destination 0; null: not wanted
    // GPU only: the number of destinations, and all of hubPieces as in SegmentArguments.
    std::int64_t destinations = 0;
    const HubPiece* pieces = nullptr;
    std::int64_t pieceCount = 0;
    std::int64_t pieceFirst = 0;
    std::int64_t edges = 0;     // offsets[destinations] - offsets[0]; 0: phases compute all rows of edges again
    std::byte* work = nullptr;  // stripWorkBytes() of memory, aligned to 16 bytes
};

// Sets the phases of each step. If edges use a value that depends on an aggregation, they do so in a later phase than
// the aggregation. Aggregations and steps on destinations belong to one phase; steps on edges belong to all phases that
// need them. Returns false if there are more than 32 phases.
bool setPhases(StripProgram& program);

// Returns the bytes of memory that stripCpu() needs besides its arguments. They do not depend on the graph.
std::int64_t stripScratchBytes(const StripProgram& program);

// Computes destinations [first, last) on the calling thread, with the best instruction set of the machine. `scratch`
// has stripScratchBytes() bytes and is aligned to 64 bytes.
//
// Arithmetic: each operator is computed in float32 (Float64: in float64) and rounded to the element type. Aggregations,
// with or without a factor, give the same bits as segmentCpu (Float64: as the same computation in float64), except for
// the sign of a zero in extrema of rows of one, two or four elements. The result for a destination depends only on its
// own edges, and not on [first, last) or on earlier results. Exp, Sigmoid, Silu, Softplus and Tanh have errors of a few
// units in the last place. All bits are the same for every instruction set and for stripCuda(), with the exceptions
// named above and that of the payload of NaN. NaN and infinities are treated as in LibTorch.
//
// A destination with more edges than a strip is computed in pieces, once for each phase, so that memory does not grow
// with degrees.
void stripCpu(const StripProgram& program, const StripArguments& arguments, std::int64_t first, std::int64_t last,
              std::byte* scratch);

// Returns whether stripCuda() takes the program: its kernel has room for a limited number of steps, tables and buffers,
// and for rows of a limited width.
bool stripFits(const StripProgram& program);

// Returns the bytes of device memory that stripCuda() needs besides its arguments, for so many pieces and edges as in
// StripArguments: those of hubs, and a few numbers for each edge that one phase computes and a later one needs.
std::int64_t stripWorkBytes(const StripProgram& program, std::int64_t pieceCount, std::int64_t edges);

// Computes all destinations on the current device, on `stream`, with the bits of stripCpu(). The same holds for pointers,
// launches and codes as for segmentCuda(). Rows of edges lie in shared memory, a few at a time for each group of
// threads, and hubs are divided into pieces, so that memory does not grow with degrees. Where a destination has more
// edges than that, narrow rows that later phases need are kept, so that these do not read the rows of tables again from
// which the narrow ones follow. Common programs in float32 have kernels of their own (strip_shapes.h).
int stripCuda(const StripProgram& program, const StripArguments& arguments, void* stream);

}  // namespace hopscope::kernels
