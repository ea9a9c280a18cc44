#pragma once

// Inspects the results of operators while a plan runs, for the debugger. Without a probe, a run only checks for a null
// pointer when it chooses fusions and after each instruction of a batch.

#include <ATen/core/Tensor.h>

#include <functional>

#include "ir/program.h"
#include "ir/rows.h"
#include "plan/stage_id.h"

namespace hopscope::executor {

// A result of one batch, valid during the call: operators may overwrite it afterwards.
struct Probed {
    plan::StageId stage{1};
    ir::SpaceId loop;                          // the table of the destinations
    std::int64_t first = 0, destinations = 0;  // of the batch
    ir::ValueId value;
    ir::RowClass rows;
    const at::Tensor& tensor;
    const std::function<at::Tensor()>& rowNumbers;  // in the value's table, one for each row of the tensor
    const std::function<at::Tensor()>& owners;      // the destination that each row belongs to; Batch and Owned only
};

// Receives results on the thread that runs the plan, on a CPU with a batch size. It may throw Failure, which ends the
// run.
class Probe {
public:
    virtual ~Probe() = default;
    // Returns whether each operator is to be computed separately and thus visible. Otherwise, fused operators show only
    // those results that are needed outside of them.
    [[nodiscard]] virtual bool everyOperator() const = 0;
    virtual void computed(const Probed& result) = 0;
};

}  // namespace hopscope::executor
