#pragma once

// Private to executor: decides which steps of a loop are computed in strips (kernels/strip.h), and which values a
// region of them needs from outside.

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "analysis/rows/classes.h"
#include "base/choices.h"
#include "executor/program/segment.h"
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
    // Segments of 64-bit numbers as well, by LibTorch's operators along the offsets of destinations; programs of strips
    // that the GPU's kernel takes; no sums of products along rows.
    bool gpu = false;

    [[nodiscard]] bool has(base::Fuse family) const;
    static Families of(const std::vector<base::Fuse>& chosen, bool gpu);
};

// An operand of a step that can be computed in a strip: a number, or a value on a row class (All: without rows).
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
        Own,      // the row of its destination for each edge
        Aggregate,
    };
    Kind kind = Compute;
    kernels::StripOp op = kernels::StripOp::Add;
    double parameter = 0;
    std::vector<StripArgument> arguments;
    kernels::Combine combine = kernels::Combine::Sum;
    double empty = 0;
};

// Returns a step in the form that strips compute; nullopt if the strip kernels do not support it in its dtype and
// shapes.
std::optional<StripAct> stripAct(const analysis::Analysis& analysis, const plan::Step& step, const StepUse& use);

// The steps that one instruction computes: aggregations of the same messages, steps on edges that only they need, and
// steps on destinations that lead from one aggregation to another.
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

// Returns the regions of a loop, which have no steps in common. Omits regions that the segment kernels compute equally
// fast. No step outside a region lies between two of its own. O(steps times the square of the aggregations).
std::vector<StripRegion> stripRegions(const StripRequest& request);

// Returns the loop's steps in an order in which all steps of a region are consecutive: by number, with each region
// after its last input. Without regions, this is the order of the plan. Quadratic in the steps.
std::vector<int> stepsWithRegions(const analysis::Analysis& analysis, const plan::Loop& loop,
                                  const std::vector<StepUse>& uses, const std::vector<StripRegion>& regions);

// A table that the program of a region reads.
struct StripTableSource {
    kernels::StripRows rows = kernels::StripRows::Single;
    ir::ValueId value;  // invalid: `number`
    ir::RowClass on;
    double number = 0;
    int gather = -1;  // Gathered: the step
    // The operand of the instruction. If Gathered, the next operand holds the row number of each edge. -1: the table is
    // a number, or is read in place.
    int operand = -1;
    Segment place{};  // Gathered: the location of the rows

    // Whether rows are gathered from a table where it lies.
    [[nodiscard]] bool inPlace() const { return rows == kernels::StripRows::Gathered && operand < 0; }
};

// A region as a program for the kernels.
struct StripPart {
    base::Fuse family = base::Fuse::Chain;
    kernels::StripProgram program;
    ir::RowClass messages;
    std::vector<StripTableSource> tables;
    std::vector<std::pair<ir::ValueId, int>> outputs;  // values that are needed outside, and their buffers
};

StripPart stripPart(const StripRequest& request, const StripRegion& region);

}  // namespace hopscope::executor
