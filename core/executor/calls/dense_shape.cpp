#include "executor/calls/dense_shape.h"

#include <algorithm>
#include <bit>

namespace hopscope::executor {

namespace {

constexpr std::int64_t leastColumns = 16, leastOutputs = 8, leastWeights = 1024;
constexpr std::int64_t nodes = 64;       // that tiles are made of
constexpr std::int64_t leastStep = 128;  // rows
constexpr std::int64_t fewest = 2;       // a single row is summed up in a different order

bool isOne(const ir::Arg& number)
{
    const double* const real = std::get_if<double>(&number.data);
    return real ? *real == 1 : number.integer() && *number.integer() == 1;
}

}  // namespace

bool prefersOneDnn(const DenseShape& shape)
{
    return shape.columns >= leastColumns && shape.outputs >= leastOutputs &&
           shape.columns * shape.outputs >= leastWeights;
}

std::optional<DenseArguments> denseArguments(const ir::Op& op)
{
    if (op.name == "aten::linear") return DenseArguments{.input = 0, .weight = 1, .bias = 2, .transposed = true};
    if (op.name == "aten::mm" || op.name == "aten::matmul") return DenseArguments{};
    const bool plain = op.name == "aten::addmm" && isOne(op.args.at(3)) && isOne(op.args.at(4));
    return plain ? std::optional(DenseArguments{.input = 1, .weight = 2, .bias = 0}) : std::nullopt;
}

std::optional<DenseShape> denseShape(const ir::Program& program, const ir::Op& op)
{
    const auto arguments = denseArguments(op);
    const ir::ValueId* const weight = arguments ? op.args.at(arguments->weight).value() : nullptr;
    if (!weight || program.value(*weight).shape.size() != 2) return std::nullopt;
    const std::vector<std::int64_t>& shape = program.value(*weight).shape;
    return arguments->transposed ? DenseShape{shape[1], shape[0]} : DenseShape{shape[0], shape[1]};
}

std::int64_t rowsInSteps(std::int64_t rows)
{
    if (rows % nodes == 0) return rows;
    if (rows < nodes)
        return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max(rows, fewest))));
    const auto octave = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(rows)));
    const std::int64_t step = std::max(octave / 8, leastStep);
    return (rows + step - 1) / step * step;
}

std::int64_t markedRows(std::int64_t rows) { return rows == 0 ? 0 : rows + 1 + rows * 7919 % 13; }

}  // namespace hopscope::executor
