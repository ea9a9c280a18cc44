#pragma once

// Private to executor: decides which steps of a loop are fused into a single segment instruction.

#include "executor/program/loop_program.h"
#include "executor/program/strips.h"

namespace hopscope::executor {

struct Fusion {
    int gather = -1, scale = -1;  // steps that are fused with the aggregation; -1: none
    ir::ValueId source, weight;   // weight invalid: none
    ir::Slot indexSlot;           // of the gather
    Segment shape;                // width, heads, combine, empty
};

// Returns a fusion without a gather if the step aggregates whole rows of floating-point numbers by destination,
// starting from 0 or another number; its source is the messages. Returns nullopt for any other step.
std::optional<Fusion> aggregationOf(const analysis::Analysis& analysis, const plan::Step& step, const StepUse& use);

// Returns whether the step gathers whole rows along the first dimension, by an index with one number per row.
bool gathersRows(const analysis::Analysis& analysis, const plan::Step& step, const StepUse& use);

class Fuser {
public:
    Fuser(const analysis::Analysis& analysis, const plan::Loop& loop, const std::vector<StepUse>& uses,
          const Families& families);

    // Returns the fusion for a step if it is an aggregation that the segment kernels support, otherwise nullptr.
    [[nodiscard]] const Fusion* at(int step) const;
    // Returns whether the step is part of a fusion or of a region.
    [[nodiscard]] bool vanished(int step) const { return m_vanished.contains(step); }
    // Returns the step that computes a product if this step adds it up along the last dimension of each row and nothing
    // else uses it; otherwise -1.
    [[nodiscard]] int productOf(int step) const;
    [[nodiscard]] int useCount(ir::ValueId value, const ir::RowClass& rows) const;
    [[nodiscard]] bool gathersRows(int step) const;
    [[nodiscard]] const std::vector<StripRegion>& regions() const { return m_regions; }
    [[nodiscard]] StripPart part(const StripRegion& region) const { return stripPart(request({}, {}), region); }

private:
    StripRequest request(const std::function<int(int)>& known, const Families& families) const
    {
        return {.analysis = m_analysis,
                .loop = m_loop,
                .uses = m_uses,
                .counts = m_counts,
                .known = known,
                .families = families};
    }
    std::optional<Fusion> aggregation(int step) const;
    std::optional<StripAct> rowAct(int step, kernels::StripOp op) const;
    void findProducts();
    void includeGather(Fusion& fusion) const;
    bool scaled(int step, Fusion& fusion) const;
    int soleProducer(ir::ValueId value, const ir::RowClass& rows) const;
    bool isRowGather(int step) const;
    bool isFloatRows(ir::ValueId value) const;       // of a type that segments support
    bool alike(ir::ValueId a, ir::ValueId b) const;  // in dtype
    const ir::Op& op(int step) const;

    const analysis::Analysis& m_analysis;
    const plan::Loop& m_loop;
    const std::vector<StepUse>& m_uses;
    std::map<std::pair<ir::ValueId, ir::RowClass>, int> m_counts, m_producers;
    std::map<int, Fusion> m_fusions;
    std::map<int, int> m_products;  // by the step that adds them up
    std::vector<StripRegion> m_regions;
    std::set<int> m_vanished;
    bool m_doubles;
};

// Returns whether a step multiplies a sparse matrix by a table.
bool isSparseProduct(const std::vector<analysis::OperandRows>& operands);

// Returns the value with the entries of a sparse matrix.
ir::ValueId entriesOf(const ir::Program& program, ir::ValueId matrix);

// Returns the shape of one row of the value.
std::vector<std::int64_t> rowShape(const analysis::Analysis& analysis, ir::ValueId value);

}  // namespace hopscope::executor
