#pragma once

// Tensors requested for inspection: the result of an operator while a plan runs, an input, or a weight.

#include <memory>
#include <utility>

#include "debugger/debugger.h"
#include "executor/unsplit.h"
#include "schema/tensor.h"

namespace hopscope::debugger {

struct TensorRequest {
    std::string place{};                // of one value; an operator stands for its first result
    std::vector<std::int64_t> nodes{};  // only rows of these or, on edges, of edges into them; empty: all
    std::optional<std::pair<std::int64_t, std::int64_t>> rows{};  // only those with these numbers, the end excluded
    std::optional<std::int64_t> batchOf{};                        // only the results of the batch with this destination
};

struct SeenTensor {
    schema::TensorSummary record;
    base::TensorView rows;              // the dimension of the rows first
    std::vector<std::int64_t> numbers;  // of the rows, in the value's table; empty: from 0
    ir::SpaceId table;                  // invalid: it has no rows
};

// Runs the plan on a CPU up to the requested value, one operator at a time. Values that no batch computes (before the
// first stage, reductions over all rows, parts of other operators) are computed on whole tensors. Inputs and weights
// are not copied. Fails with Usage if the place names no value or several, and with Resources if the rows do not fit
// into memory.
base::Result<SeenTensor> seeTensor(const Subject& subject, const plan::Plan& plan, const TensorRequest& request,
                                   const Settings& settings, std::stop_token stop);

// The rows [begin, end) in C order.
std::vector<std::byte> rowBytes(const SeenTensor& tensor, std::int64_t begin, std::int64_t end);
// Describes the rows readably, with the first `numbers` numbers of each. `values` are those of the same model.
base::Result<std::vector<schema::TensorRow>> shownRows(const analysis::Analysis& analysis, const SeenTensor& tensor,
                                                       std::int64_t begin, std::int64_t end, std::int64_t numbers,
                                                       executor::UnsplitValues& values);
// Writes FILE.npy and, unless the rows are all of their table, FILE.rows.npy with their numbers.
base::Status saveTensor(const SeenTensor& tensor, const std::string& file);

}  // namespace hopscope::debugger
