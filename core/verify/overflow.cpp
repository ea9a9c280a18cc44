#include "verify/overflow.h"

#include <algorithm>
#include <cmath>

#include "executor/unsplit.h"
#include "verify/compare.h"

namespace hopscope::verify {

namespace {

using Values = std::map<ir::ValueId, base::TensorView>;

std::vector<ir::ValueId> resultsOf(const analysis::Analysis& analysis)
{
    std::vector<ir::ValueId> results;
    for (const ir::Value& value : analysis.program.values) {
        const bool numbers = value.kind == ir::ValueKind::Tensor && base::isFloating(value.dtype);
        if (numbers && value.origin == ir::Origin::Op && !analysis.info(value.id).sparse) results.push_back(value.id);
    }
    return results;
}

bool finite(const Values& values, ir::ValueId value)
{
    const auto found = values.find(value);
    return found == values.end() || isFinite(found->second);
}

}  // namespace

bool overflows(const schema::Verification& verdict)
{
    return std::ranges::any_of(verdict.outputs, [](const auto& output) { return std::isinf(output.maxAbsolute); });
}

std::string firstOverflow(const loader::Walk& walk, const analysis::Analysis& analysis, const base::TensorMap& inputs,
                          const std::string& folder, std::stop_token stop)
{
    const auto values = executor::evaluateUnsplit(walk, analysis, inputs, resultsOf(analysis), folder, std::move(stop));
    if (!values) return {};
    for (const ir::Op& op : analysis.program.ops) {
        const auto infinite = std::ranges::find_if(op.outputs, [&](ir::ValueId v) { return !finite(*values, v); });
        if (infinite == op.outputs.end()) continue;
        return ir::describeOp(op) + " is the first whose result leaves the range of " +
               base::dtypeName(analysis.program.value(*infinite).dtype);
    }
    return {};
}

}  // namespace hopscope::verify
