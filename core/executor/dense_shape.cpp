#include "executor/dense_shape.h"

#include <algorithm>
#include <bit>

namespace hopscope::executor {

namespace {

constexpr std::int64_t leastColumns = 16, leastOutputs = 8, leastWeights = 1024;
constexpr std::int64_t nodes = 64;       // that tiles are made of
constexpr std::int64_t leastStep = 128;  // rows

}  // namespace

bool prefersOneDnn(const DenseShape& shape)
{
    return shape.columns >= leastColumns && shape.outputs >= leastOutputs &&
           shape.columns * shape.outputs >= leastWeights;
}

std::optional<DenseShape> denseShape(const ir::Program& program, const ir::Op& op)
{
    const bool transposed = op.name == "aten::linear", added = op.name == "aten::addmm";
    if (!transposed && !added && op.name != "aten::mm" && op.name != "aten::matmul") return std::nullopt;
    const ir::ValueId* const weight = op.args.at(added ? 2 : 1).value();
    if (!weight || program.value(*weight).shape.size() != 2) return std::nullopt;
    const std::vector<std::int64_t>& shape = program.value(*weight).shape;
    return transposed ? DenseShape{shape[1], shape[0]} : DenseShape{shape[0], shape[1]};
}

std::int64_t rowsInSteps(std::int64_t rows)
{
    if (rows % nodes == 0) return rows;
    const auto octave = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(rows)));
    const std::int64_t step = std::max(octave / 8, leastStep);
    return (rows + step - 1) / step * step;
}

std::int64_t markedRows(std::int64_t rows) { return rows == 0 ? 0 : rows + 1 + rows * 7919 % 13; }

}  // namespace hopscope::executor
