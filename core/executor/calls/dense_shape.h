#pragma once

// Private to executor, and to forecast: decides which products oneDNN computes on a CPU, and with how many rows.

#include <cstdint>
#include <optional>

#include "ir/program.h"

namespace hopscope::executor {

// The shape of a dense layer: a matrix maps rows of `columns` numbers to rows of `outputs` numbers.
struct DenseShape {
    std::int64_t columns = 0, outputs = 0;
};

// Returns whether oneDNN, and not MKL, computes products of this shape. The rule depends only on the shape of the
// layer, so results have the same bits in every run, for any batches and number of cores. Measured with LibTorch 2.13
// on tiles of 1024 rows on a core of Zen 5: MKL uses half of its vectors, and oneDNN needs 0.3 to 0.6 of MKL's time for
// products of about 1000 weights or more; for smaller ones, its calls cost more than they save. On Intel's cores with
// AVX-512, MKL is as fast, unless much of a last vector remains unused (47 columns: 1.4 to 1.7 times the time of
// oneDNN).
bool prefersOneDnn(const DenseShape& shape);

// The positions of the operands among the arguments of an operator. The weight has a row per column of the input; if
// `transposed`, one per output.
struct DenseArguments {
    std::size_t input = 0, weight = 1;
    std::optional<std::size_t> bias{};
    bool transposed = false;
};

// Returns the positions for aten::linear, mm, matmul, and addmm without scaling; nullopt for any other operator.
std::optional<DenseArguments> denseArguments(const ir::Op& op);

// Returns the shape of such an operator's product; nullopt if it is a different operator or its weight is not a matrix.
std::optional<DenseShape> denseShape(const ir::Program& program, const ir::Op& op);

// Returns the number of rows passed to oneDNN instead of `rows`. For each number of rows, oneDNN prepares a kernel,
// which takes a millisecond and half a MiB. Tiles of nodes, whose numbers are multiples of 64, have few different ones
// and are not padded; rows of edges, whose number varies from tile to tile, are padded by an eighth at most, in steps
// of at least 128; fewer than 64 rows are padded to the next power of two, at least 2. Results do not depend on the
// number of rows, except for a single row, which oneDNN sums up in a different order. The memory of a product follows
// from this number.
std::int64_t rowsInSteps(std::int64_t rows);

// Returns a different number, which is not linear in the rows: see MarkedProducts.
std::int64_t markedRows(std::int64_t rows);

}  // namespace hopscope::executor
