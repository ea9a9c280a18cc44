#include "executor/unsplit.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "executor/exception_boundary.h"
#include "executor/structure.h"
#include "loader/tensors.h"

namespace hopscope::executor {

namespace {

using analysis::Analysis;
using ir::ValueId;

std::unordered_set<ir::OpId> ancestors(const Analysis& a, const std::vector<ValueId>& values)
{
    std::unordered_set<ir::OpId> found;
    std::vector<ValueId> open = values;
    while (!open.empty()) {
        const ir::Value& value = a.program.value(open.back());
        open.pop_back();
        if (value.origin != ir::Origin::Op || !found.insert(value.producer).second) continue;
        ir::forEachOperand(a.program.op(value.producer), [&](ir::Slot slot, ValueId v) {
            if (a.info(value.producer).use(slot).use != analysis::Use::Shape) open.push_back(v);
        });
    }
    return found;
}

// In the program's order, so that no operator calls for a long chain of others.
std::map<ValueId, base::TensorView> evaluate(Structure& structure, const Analysis& a,
                                             const std::vector<ValueId>& values)
{
    structure.evaluateFeatures();
    structure.keep({values.begin(), values.end()});
    structure.checkGuards();
    const std::unordered_set<ir::OpId> wanted = ancestors(a, values);
    std::map<ValueId, base::TensorView> results;
    for (const ir::Op& op : a.program.ops)
        if (wanted.contains(op.id) && a.program.value(op.outputs.at(0)).kind == ir::ValueKind::Tensor)
            structure.value(op.outputs.at(0));
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

}  // namespace hopscope::executor
