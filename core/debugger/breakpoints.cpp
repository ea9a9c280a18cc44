#include "debugger/breakpoints.h"

#include <ATen/ATen.h>

namespace hopscope::debugger {

using analysis::Analysis;
using ir::ValueId;

namespace {

// "stage 2": its number.
std::optional<plan::StageId> stageOf(const std::string& place)
{
    if (!place.starts_with("stage ") || place.size() > 12) return std::nullopt;
    const std::string digits = place.substr(6);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    return plan::StageId(std::stoi(digits));
}

bool isAt(const ResolvedBreakpoint& b, const executor::Probed& result)
{
    return b.stage ? *b.stage == result.stage : b.values.contains(result.value);
}

bool outside(const Breakpoint& b, const at::Tensor& tensor)
{
    if (tensor.numel() == 0 || tensor.is_complex()) return false;
    return tensor.lt(b.least).logical_or(tensor.gt(b.most)).any().item<bool>();
}

// True if the batch computes the row of the node; rows on edges belong to batches of their destinations.
bool contains(std::int64_t node, const executor::Probed& result)
{
    if (result.rows.kind != ir::RowKind::Batch)
        return node >= result.first && node < result.first + result.destinations;
    return result.rowNumbers().eq(node).any().item<bool>();
}

}  // namespace

std::set<ValueId> valuesAt(const Analysis& analysis, const analysis::ValueNames& names, const std::string& place)
{
    std::set<ValueId> found;
    for (const ir::Op& op : analysis.program.ops) {
        const std::string module = ir::modulePath(op.modules);
        const bool whole = place.empty() || place == ir::opName(op.id) || place == op.name || place == module ||
                           module.starts_with(place + ".");
        for (const ValueId v : op.outputs)
            if (whole || place == ir::valueName(v) || place == names[v]) found.insert(v);
    }
    return found;
}

tl::unexpected<base::Error> unknownPlace(const std::string& place)
{
    return base::fail(base::ErrorCode::Usage, "'" + place + "' names no operator of the model",
                      "inspect --json lists operators, values and modules; a breakpoint can also be a stage of the "
                      "plan, as in 'stage 2'");
}

base::Result<std::vector<ResolvedBreakpoint>> resolveBreakpoints(const Analysis& analysis, const plan::Plan& plan,
                                                                 const std::vector<Breakpoint>& breakpoints)
{
    const analysis::ValueNames names(analysis);
    std::vector<ResolvedBreakpoint> found;
    for (const Breakpoint& b : breakpoints) {
        ResolvedBreakpoint resolved{.breakpoint = b, .stage = stageOf(b.place), .values = {}};
        if (!resolved.stage) resolved.values = valuesAt(analysis, names, b.place);
        const bool stage = resolved.stage && resolved.stage->valid() &&
                           *resolved.stage <= plan::StageId(static_cast<int>(plan.stages.size()));
        if (!stage && resolved.values.empty()) return unknownPlace(b.place);
        found.push_back(std::move(resolved));
    }
    return found;
}

bool holds(const ResolvedBreakpoint& b, const executor::Probed& result)
{
    if (!isAt(b, result)) return false;
    switch (b.breakpoint.condition) {
    case Condition::Always: return true;
    case Condition::NotFinite: return result.tensor.is_floating_point() && !result.tensor.isfinite().all().item<bool>();
    case Condition::OutsideRange: return outside(b.breakpoint, result.tensor);
    case Condition::Node: return contains(b.breakpoint.node, result);
    }
    return false;
}

}  // namespace hopscope::debugger
