#pragma once

// Private to executor: computes reductions over all rows, accumulated over the batches of a loop. Floating-point sums
// are accumulated in double precision, so that the result does not depend on the number of batches.

#include <ATen/ATen.h>

#include "executor/calls/call.h"

namespace hopscope::executor {

// The contribution of a batch. It is merged only after the whole batch has succeeded, so that a batch can be redone.
struct Contribution {
    at::Tensor value;   // sum, extremum, sum of squares, mean
    at::Tensor spread;  // Var, Std: sum of squared deviations; Scatter mean, max, min: hits per slot
    double count = 0;
    bool empty = true;
};

class Reducer {
public:
    Reducer(const analysis::Analysis& analysis, ir::OpId op);

    // Returns the contribution of a batch of `rows` rows; `context` provides the operands on these rows.
    Contribution contribute(Caller& caller, const CallContext& context, std::int64_t rows) const;
    // Returns the total including `next`; the stored total does not change until replace().
    [[nodiscard]] Contribution merged(const Contribution& next) const;
    void replace(Contribution total) { m_total = std::move(total); }
    // Copies the total to the device on which finish() computes. In a run with a journal it is on the host until then.
    void moveTo(at::Device device);
    [[nodiscard]] const Contribution& total() const { return m_total; }
    // Returns the result. `initial` is the table to which a scatter adds; it is undefined for other reductions.
    at::Tensor finish(const at::Tensor& initial, at::Device device) const;
    [[nodiscard]] std::optional<ir::Slot> initialSlot() const;
    // Returns the bytes of the total, as counted by the allocator of its device.
    [[nodiscard]] std::int64_t heldBytes() const;

private:
    Contribution moments(const at::Tensor& x) const;
    struct SlotIndex {
        ir::Slot slot;
        ir::ValueId value;
        std::int64_t dim = 0;
    };
    SlotIndex slotIndex() const;
    Contribution scatter(const CallContext& context) const;
    Contribution scatterInto(const at::Tensor& zeros, std::int64_t dim, const at::Tensor& where,
                             const at::Tensor& rows) const;
    at::Tensor operand(const CallContext& context, int arg) const;
    at::Tensor emptyResult(at::Device device) const;
    at::Tensor finishScatter(const at::Tensor& initial) const;
    at::Tensor variance() const;
    bool isScatter() const;
    int argumentNamed(std::initializer_list<const char*> names) const;
    at::ScalarType wide() const;

    const ir::Op& m_op;
    const analysis::OpInfo& m_info;
    const ir::Value& m_result;
    Contribution m_total;
};

}  // namespace hopscope::executor
