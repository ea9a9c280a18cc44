#pragma once

// Private to executor: decides which steps of a loop are computed in strips (kernels/strip.h), and which values a
// region of them needs from outside.

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "analysis/rows/classes.h"
#include "base/choices.h"
#include "executor/segment.h"
#include "kernels/strip.h"
#include "plan/plan.h"

namespace hopscope::executor {

struct StepUse {
    std::vector<analysis::OperandRows> operands;  // of each step
};

// The patterns that are fused.
struct Families {
    bool chain = true, softmax = true, several = true;
    bool segments = true;  // gather, scale and aggregate by destination
    bool doubles = false;  // of 64 bits as well, by LibTorch's operators along the offsets of destinations

    [[nodiscard]] bool has(base::Fuse family) const;
    static Families of(const std::vector<base::Fuse>& chosen);
    static Families onGpu() { return {.chain = false, .softmax = false, .several = false, .doubles = true}; }
};

// An operand of a step that can be computed in a strip: a number, or a value on rows (All: without rows).
struct StripArgument {
    std::optional<double> number;
    ir::ValueId value;
    ir::RowClass rows;
    std::int64_t inner = 1, outer = 1;  // as in kernels::StripOperand
};

struct StripAct {
    enum Kind : std::uint8_t {
        Compute,  // an operator on each row; RowSum among them
        Alias,    // the operand's elements under a different shape
        Gather,   // rows of another class
        Own,      // for each edge the row of its destination
        Aggregate,
    };
    Kind kind = Compute;
    kernels::StripOp op = kernels::StripOp::Add;
    double parameter = 0;
    std::vector<StripArgument> arguments;
    kernels::Combine combine = kernels::Combine::Sum;
    double empty = 0;
};

// nullopt: the strip kernels do not support the step in its dtype and shapes.
std::optional<StripAct> stripAct(const analysis::Analysis& analysis, const plan::Step& step, const StepUse& use);

// Steps that one instruction computes: aggregations of the same messages, steps on edges that only they need, and steps
// on destinations that lead from one aggregation to another.
struct StripRegion {
    base::Fuse family = base::Fuse::Chain;
    ir::RowClass messages;
    std::vector<int> steps;  // ascending
};

struct StripRequest {
    const analysis::Analysis& analysis;
    const plan::Loop& loop;
    const std::vector<StepUse>& uses;                                   // by step
    const std::map<std::pair<ir::ValueId, ir::RowClass>, int>& counts;  // of the uses of values
    std::function<int(int)> known;  // aggregation -> steps that the segment kernels fuse, including it
    const Families& families;
};

// The regions of a loop, without common steps. Omits regions that the segment kernels compute equally fast. No step
// outside a region lies between two of its own. O(steps times the square of the aggregations).
std::vector<StripRegion> stripRegions(const StripRequest& request);

// The loop's steps in an order in which all steps of a region are consecutive: by number, with regions as late as their
// last input; without regions in the order of the plan. Quadratic in the steps.
std::vector<int> stepsWithRegions(const analysis::Analysis& analysis, const plan::Loop& loop,
                                  const std::vector<StepUse>& uses, const std::vector<StripRegion>& regions);

// A region as a program for the kernels.
struct StripTableSource {
    kernels::StripRows rows = kernels::StripRows::Single;
    ir::ValueId value;  // invalid: `number`
    ir::RowClass on;
    double number = 0;
    int gather = -1;  // Gathered: the step
    // The operand of the instruction; Gathered: the next operand holds the row number of each edge. -1: a number, or in
    // place.
    int operand = -1;
    Segment place{};  // Gathered: where the rows are
};

struct StripPart {
    base::Fuse family = base::Fuse::Chain;
    kernels::StripProgram program;
    ir::RowClass messages;
    std::vector<StripTableSource> tables;
    std::vector<std::pair<ir::ValueId, int>> outputs;  // values that are needed outside, and their buffers
};

StripPart stripPart(const StripRequest& request, const StripRegion& region);

}  // namespace hopscope::executor
