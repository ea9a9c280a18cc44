#pragma once

// Private to executor, and to forecast: which products of a CPU oneDNN computes, and how many rows it is given.

#include <cstdint>
#include <optional>

#include "ir/program.h"

namespace hopscope::executor {

// Of a dense layer: rows of `columns` numbers times a matrix, to rows of `outputs`.
struct DenseShape {
    std::int64_t columns = 0, outputs = 0;
};

// Whether oneDNN computes products of this shape, else MKL. The rule looks at the shape of the layer alone: results have the
// same bits in every run, whatever batches and cores. Measured with LibTorch 2.13 on tiles of 1024 rows on a core of Zen 5:
// MKL uses half of its vectors, and oneDNN needs 0.3 to 0.6 of MKL's time from a product of about 1000 weights on; below,
// its calls cost more than they save. On Intel's cores with AVX-512, MKL is as fast but where it leaves much of a last vector
// unused (47 columns: 1.4 to 1.7 times the time of oneDNN).
bool prefersOneDnn(const DenseShape& shape);

// Places among the arguments of an operator. The weight has a row per column of the input, `transposed` one per output.
struct DenseArguments {
    std::size_t input = 0, weight = 1;
    std::optional<std::size_t> bias{};
    bool transposed = false;
};

// Of aten::linear, mm, matmul, and of addmm where neither part is scaled. nullopt: something else.
std::optional<DenseArguments> denseArguments(const ir::Op& op);

// What such an operator multiplies. nullopt: it is none, or its weight is no matrix.
std::optional<DenseShape> denseShape(const ir::Program& program, const ir::Op& op);

// So many rows oneDNN is given instead of `rows`. It prepares a kernel for each number of rows, which takes a millisecond and
// half a MiB. Tiles of nodes, which are multiples of 64, have few different ones, and are left alone; rows of edges, as many as
// it happens in each tile, become an eighth more at most, in steps of at least 128; fewer than 64, the next power of two, at
// least 2. Results do not depend on the number of rows, but for that of a single row, which oneDNN sums up in another order. The
// memory of a product follows from them.
std::int64_t rowsInSteps(std::int64_t rows);

// Other numbers, not linear in the rows: see MarkedProducts.
std::int64_t markedRows(std::int64_t rows);

}  // namespace hopscope::executor
