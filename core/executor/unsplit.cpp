#include "executor/unsplit.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "executor/exception_boundary.h"
#include "executor/structure.h"
#include "loader/tensors.h"

namespace hopscope::executor {

namespace {

using analysis::Analysis;
using ir::ValueId;

// What the values are computed from, themselves included.
std::unordered_set<ValueId> ancestors(const Analysis& a, const std::vector<ValueId>& values)
{
    std::unordered_set<ValueId> found;
    std::vector<ValueId> open = values;
    while (!open.empty()) {
        const ir::Value& value = a.program.value(open.back());
        open.pop_back();
        if (value.origin != ir::Origin::Op || !found.insert(value.id).second) continue;
        ir::forEachOperand(a.program.op(value.producer), [&](ir::Slot slot, ValueId v) {
            if (a.info(value.producer).use(slot).use != analysis::Use::Shape) open.push_back(v);
        });
    }
    return found;
}

// In the program's order, so that no operator calls for a long chain of others. Of several results of an operator, those
// that nobody wants are not kept.
std::map<ValueId, base::TensorView> evaluate(Structure& structure, const Analysis& a,
                                             const std::vector<ValueId>& values)
{
    structure.evaluateFeatures();
    structure.keep({values.begin(), values.end()});
    structure.checkGuards();
    const std::unordered_set<ValueId> wanted = ancestors(a, values);
    std::map<ValueId, base::TensorView> results;
    for (const ir::Op& op : a.program.ops) {
        const auto one = std::ranges::find_if(op.outputs, [&](ValueId v) {
            return wanted.contains(v) && a.program.value(v).kind == ir::ValueKind::Tensor;
        });
        if (one != op.outputs.end()) structure.value(*one);
    }
    for (const ValueId v : values) results[v] = loader::toView(structure.value(v).contiguous());
    return results;
}

}  // namespace

base::Result<std::map<ValueId, base::TensorView>> evaluateUnsplit(const loader::Walk& walk, const Analysis& analysis,
                                                                  const base::TensorMap& inputs,
                                                                  const std::vector<ValueId>& values,
                                                                  const std::string& folder, std::stop_token stop)
{
    const c10::InferenceMode inference;
    return catchAtBoundary(
        [&] {
            Structure structure(walk, analysis, inputs, folder, at::get_num_threads(), std::move(stop));
            return evaluate(structure, analysis, values);
        },
        [] { return base::fail(base::ErrorCode::Resources, "out of memory in the unsplit model"); });
}

base::Result<std::map<ir::SpaceId, std::int64_t>> countSelected(const loader::Walk& walk, const Analysis& analysis,
                                                                const base::TensorMap& inputs,
                                                                const std::string& folder, std::stop_token stop)
{
    const c10::InferenceMode inference;
    return catchAtBoundary(
        [&] {
            Structure structure(walk, analysis, inputs, folder, at::get_num_threads(), std::move(stop));
            std::map<ir::SpaceId, std::int64_t> counts;
            for (std::size_t i = 0; i < analysis.tables.spaces.size(); ++i)
                if (analysis.tables.spaces[i].kind == analysis::SpaceKind::Filter)
                    counts[ir::SpaceId(i)] = structure.size(ir::SpaceId(i));
            return counts;
        },
        [] { return base::fail(base::ErrorCode::Resources, "out of memory while rows are counted"); });
}

}  // namespace hopscope::executor
