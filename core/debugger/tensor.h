#pragma once

// Returns tensors for inspection: the result of an operator while a plan runs, an input, or a weight.

#include <memory>
#include <utility>

#include "debugger/debugger.h"
#include "executor/unsplit.h"
#include "schema/tensor.h"

namespace hopscope::debugger {

struct TensorRequest {
    std::string place{};                // names one value; an operator stands for its first result
    std::vector<std::int64_t> nodes{};  // only the rows of these nodes, or of edges into them; empty: all
    std::optional<std::pair<std::int64_t, std::int64_t>> rows{};  // only rows with numbers in this half-open range
    std::optional<std::int64_t> batchOf{};  // only the results of the batch with this destination; no effect on values
                                            // that no batch computes
};

struct SeenTensor {
    schema::TensorSummary record;
    base::TensorView rows;              // with the dimension of the rows first
    std::vector<std::int64_t> numbers;  // of the rows, in the value's table; empty: consecutive from 0, and not chosen
    ir::SpaceId table;                  // invalid: the value has no rows
};

// Runs the plan on a CPU up to the requested value, one operator at a time. Values that no batch computes (those of the
// prologue, of reductions over all rows, and within other operators) are computed on whole tensors. Inputs and weights
// are not copied. Fails with Usage if `place` names no value or several (an operator counts as one) or if the value is a
// sparse matrix. Also fails with Usage if an input is not in the data or rows cannot be chosen as requested. Fails with Resources if
// the rows do not fit into memory.
base::Result<SeenTensor> seeTensor(const Subject& subject, const plan::Plan& plan, const TensorRequest& request,
                                   const Settings& settings, std::stop_token stop);

// Returns the bytes of the rows [begin, end) in C order.
std::vector<std::byte> rowBytes(const SeenTensor& tensor, std::int64_t begin, std::int64_t end);
// Returns the rows [begin, end), each with its input table and number, the ends of an edge, and its first `numbers`
// numbers (none if they are complex). `values` are those of the same model.
base::Result<std::vector<schema::TensorRow>> shownRows(const analysis::Analysis& analysis, const SeenTensor& tensor,
                                                       std::int64_t begin, std::int64_t end, std::int64_t numbers,
                                                       executor::UnsplitValues& values);
// Writes the rows to `file`, NAME.npy, and SeenTensor::numbers, unless they are empty, to NAME.rows.npy.
base::Status saveTensor(const SeenTensor& tensor, const std::string& file);

}  // namespace hopscope::debugger
