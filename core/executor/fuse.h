#pragma once

// Private to executor: decides which steps of a loop are fused into a single segment instruction.

#include "executor/loop_program.h"

namespace hopscope::executor {

struct StepUse {
    std::vector<analysis::OperandRows> operands;  // of each step
};

struct Fusion {
    int gather = -1, scale = -1;  // steps that are fused with the aggregation; -1: none
    ir::ValueId source, weight;   // weight invalid: none
    ir::Slot indexSlot;           // of the gather
    Segment shape;                // width, heads, combination, empty
};

class Fuser {
public:
    Fuser(const analysis::Analysis& analysis, const plan::Loop& loop, const std::vector<StepUse>& uses);

    // The fusion for a step, if it is an aggregation that the segment kernels support; else nullptr.
    [[nodiscard]] const Fusion* at(int step) const;
    [[nodiscard]] bool vanished(int step) const { return m_vanished.contains(step); }
    [[nodiscard]] int useCount(ir::ValueId value, const ir::RowClass& rows) const;
    // Whether the step gathers whole rows along the first dimension, by an index of one number per row.
    [[nodiscard]] bool gathersRows(int step) const;

private:
    std::optional<Fusion> aggregation(int step) const;
    bool combination(const ir::Op& op, Segment& segment) const;
    void includeGather(Fusion& fusion) const;
    bool indexCovers(const ir::Op& op, ir::ValueId message) const;
    bool scaled(int step, Fusion& fusion) const;
    int soleProducer(ir::ValueId value, const ir::RowClass& rows) const;
    bool isRowGather(int step) const;
    bool isFloatRows(ir::ValueId value) const;
    bool alike(ir::ValueId a, ir::ValueId b) const;  // in dtype
    const ir::Op& op(int step) const;

    const analysis::Analysis& m_analysis;
    const plan::Loop& m_loop;
    const std::vector<StepUse>& m_uses;
    std::map<std::pair<ir::ValueId, ir::RowClass>, int> m_counts, m_producers;
    std::map<int, Fusion> m_fusions;
    std::set<int> m_vanished;
};

// The shape of one row of the value.
std::vector<std::int64_t> rowShape(const analysis::Analysis& analysis, ir::ValueId value);

}  // namespace hopscope::executor
