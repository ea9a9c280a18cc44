#pragma once

// Random programs of strips with tables of their own, for stripCpu and for the CUDA kernels.

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kernels/divided_rows.h"
#include "kernels/strip.h"
#include "kernels/strip_shapes.h"

namespace strip_case {

using hopscope::kernels::Combine;
using hopscope::kernels::StripArguments;
using hopscope::kernels::StripElement;
using hopscope::kernels::StripOp;
using hopscope::kernels::StripOperand;
using hopscope::kernels::StripProgram;
using hopscope::kernels::StripRows;
using hopscope::kernels::StripStep;

// Everything follows from the seed: the element type, rows from 1 to 300 columns (or some thousands, more than shared
// memory holds), destinations without edges and hubs of several pieces, rows with gaps between them, numbers of 32 and
// 64 bits, NaN and infinities.
class Case {
public:
    explicit Case(std::uint64_t seed);
    // The same for a program of a shape that has a CUDA kernel (float32, row numbers of 32 bits).
    Case(std::uint64_t seed, const hopscope::kernels::Shape& shape);
    Case(const Case&) = delete;

    // Calls stripCpu(), on results that are poisoned before.
    void onCpu();
    // Poisons the results, and provides what only the GPU takes.
    void forGpu();
    // GPU: leaves some rows of the tables that are gathered from on the host.
    void divideRows();
    [[nodiscard]] std::int64_t destinations() const { return static_cast<std::int64_t>(offsets.size()) - 1; }

    std::uint64_t seed;
    std::int64_t width = 1, heads = 1;
    StripProgram program;
    StripArguments arguments;                 // pointers into the vectors below
    std::vector<std::vector<std::byte>> out;  // by buffer of destinations; empty: not wanted
    std::vector<std::vector<std::byte>> tables;
    std::vector<std::int64_t> offsets, columns;
    std::vector<std::int32_t> narrowOffsets, narrowColumns;
    std::vector<hopscope::kernels::HubPiece> pieces;
    std::vector<std::byte> work;
    std::deque<DividedRows> divided;

private:
    struct Value {
        StripOperand operand;
        std::int64_t width = 1;
    };

    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(m_random() % static_cast<std::uint64_t>(n)); }
    void makeGraph();
    void makeProgram();
    void makeSteps(const hopscope::kernels::Shape& shape);
    std::int64_t widthOf(const hopscope::kernels::Shape& shape, const hopscope::kernels::ShapeStep& step) const;
    StripOperand operandOf(const hopscope::kernels::ShapeOperand& known, std::int64_t wanted);
    void makeOutputs();
    void compute(bool perDestination);
    void sumRows();
    void aggregate(const Value& rows);
    void softmax();
    void put(StripStep step, const std::optional<Value>& over);
    Value table(StripRows rows, std::int64_t width);
    Value anyTable(std::int64_t width, bool perDestination);
    Value operand(bool perDestination, std::int64_t wanted, bool whole);
    std::vector<std::byte> elements(std::int64_t count);
    double number();
    void poison();

    std::mt19937_64 m_random;
    std::int64_t m_nodes = 1;
    std::vector<Value> m_edges, m_destinations;
};

std::string describe(const Case& c);

// A sentence about the first result that differs between two runs of a case: NaN may differ in its payload, and the
// sign of a zero may differ if the program takes extrema of rows of one, two or four elements.
std::optional<std::string> difference(const Case& want, const Case& made);

}  // namespace strip_case
