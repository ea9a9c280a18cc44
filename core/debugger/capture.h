#pragma once

// Private to debugger: copies the rows of a value from the batches of a run.

#include <ATen/core/Tensor.h>

#include "debugger/probes.h"
#include "debugger/tensor.h"

namespace hopscope::debugger {

// Returns an unchanged copy of a result.
SeenTensor seenNow(const analysis::Analysis& analysis, const executor::Probed& result, std::int64_t batch);

// Copies the rows in the first stage that computes the value, and stops the run when it has all requested rows.
class CaptureProbe final : public executor::Probe {
public:
    CaptureProbe(const analysis::Analysis& analysis, ir::ValueId value, const TensorRequest& request,
                 std::stop_source enough);

    [[nodiscard]] bool everyOperator() const override { return true; }
    void computed(const executor::Probed& result) override;

    [[nodiscard]] bool seen() const { return m_stage.has_value(); }
    [[nodiscard]] bool complete() const { return m_complete; }
    [[nodiscard]] bool empty() const { return m_rows.empty(); }
    SeenTensor take();  // its rows are in the order of their numbers

private:
    void add(const executor::Probed& result);
    [[nodiscard]] at::Tensor wanted(const executor::Probed& result, const at::Tensor& numbers);
    void finish();

    const analysis::Analysis& m_analysis;
    ir::ValueId m_value;
    const TensorRequest& m_request;
    std::stop_source m_enough;
    BatchCounter m_batches;
    std::vector<at::Tensor> m_rows, m_numbers;
    std::vector<bool> m_taken;  // by row number: batches share rows of their frontiers
    std::int64_t m_bytes = 0, m_mostBytes;
    std::optional<plan::StageId> m_stage;
    std::optional<schema::BatchPlace> m_batch;
    std::string m_words;
    bool m_complete = false;
};

}  // namespace hopscope::debugger
