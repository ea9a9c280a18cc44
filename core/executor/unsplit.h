#pragma once

// Evaluates the program operator by operator on whole tensors, without stages and batches. Verification, the debugger
// and export compare other results with these values. The evaluation shares only the Structure and the code that calls
// single operators with a run; it uses no blocks, frontiers, kernels, fusion or stores.

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "base/result.h"
#include "base/tensor.h"
#include "loader/loader.h"

namespace hopscope::executor {

// A row of a declared table and, for an edge, the rows at its two ends.
struct InputRow {
    ir::SpaceId table;
    std::int64_t row = 0;
    std::optional<std::pair<std::int64_t, std::int64_t>> ends;
};

// Returns the requested values, contiguous and owned by their views. Needs memory for these, and for each intermediate
// value until its last use. Fails with Input, Resources, Cancelled (checked between operators) or Internal.
base::Result<std::map<ir::ValueId, base::TensorView>>
evaluateUnsplit(const loader::Walk& walk, const analysis::Analysis& analysis, const base::TensorMap& inputs,
                const std::vector<ir::ValueId>& values, const std::string& folder, std::stop_token stop);

// Evaluates the program in the same way, one value at a time, and frees computed values that no later operator reads,
// except outputs.
class UnsplitValues {
public:
    // Checks the guards. Arguments passed by reference must outlive the object. Fails like evaluateUnsplit().
    static base::Result<UnsplitValues> create(const loader::Walk& walk, const analysis::Analysis& analysis,
                                              const base::TensorMap& inputs, const std::string& folder,
                                              std::stop_token stop);
    UnsplitValues(UnsplitValues&&) noexcept;
    UnsplitValues& operator=(UnsplitValues&&) = delete;
    ~UnsplitValues();

    // Returns whether value() provides this tensor: an output, an operator's result from which an output is computed,
    // or any tensor that no operator computes.
    [[nodiscard]] bool wanted(ir::ValueId value) const;
    // Returns a wanted value as a strided view that owns it. Values must be requested in the program's order, since
    // operands may be freed once an operator is evaluated.
    base::Result<base::TensorView> value(ir::ValueId value);
    // Returns the input row behind a row of a table; see executor/input_rows.h.
    base::Result<InputRow> inputRow(ir::SpaceId table, std::int64_t row);

private:
    struct State;
    explicit UnsplitValues(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

// Returns the number of rows that each mask over a table selects. These are the sizes of tables that do not follow from
// the sizes of the inputs. Computes no features. Fails like evaluateUnsplit().
base::Result<std::map<ir::SpaceId, std::int64_t>> countSelected(const loader::Walk& walk,
                                                                const analysis::Analysis& analysis,
                                                                const base::TensorMap& inputs,
                                                                const std::string& folder, std::stop_token stop);

}  // namespace hopscope::executor
