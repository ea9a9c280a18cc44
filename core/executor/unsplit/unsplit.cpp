#include "executor/unsplit.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "executor/exception_boundary.h"
#include "executor/input_rows.h"
#include "loader/tensors.h"

namespace hopscope::executor {

namespace {

using analysis::Analysis;
using ir::ValueId;

// The values and all others that they are computed from.
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

// Evaluates in the program's order, so that no operator calls for a long chain of others. Unwanted results of an
// operator with several are not kept.
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

struct UnsplitValues::State {
    State(const loader::Walk& walk, const Analysis& a, const base::TensorMap& inputs, const std::string& folder,
          std::stop_token stop)
        : analysis(a),
          structure(walk, a, inputs, folder, at::get_num_threads(), std::move(stop))
    {
        std::vector<ValueId> outputs;
        for (const ir::NamedValue& output : a.program.outputs) outputs.push_back(output.value);
        wanted = ancestors(a, outputs);
        structure.evaluateFeatures();
        structure.keep({outputs.begin(), outputs.end()});
        structure.checkGuards();
    }

    const Analysis& analysis;
    Structure structure;
    std::unordered_set<ValueId> wanted;
};

UnsplitValues::UnsplitValues(std::unique_ptr<State> state) : m_state(std::move(state)) {}
UnsplitValues::UnsplitValues(UnsplitValues&&) noexcept = default;
UnsplitValues::~UnsplitValues() = default;

namespace {

tl::unexpected<base::Error> unsplitOutOfMemory()
{
    return base::fail(base::ErrorCode::Resources, "out of memory in the unsplit model");
}

}  // namespace

base::Result<UnsplitValues> UnsplitValues::create(const loader::Walk& walk, const Analysis& analysis,
                                                  const base::TensorMap& inputs, const std::string& folder,
                                                  std::stop_token stop)
{
    const c10::InferenceMode inference;
    return catchAtBoundary(
        [&] { return UnsplitValues(std::make_unique<State>(walk, analysis, inputs, folder, std::move(stop))); },
        unsplitOutOfMemory);
}

bool UnsplitValues::wanted(ValueId value) const
{
    const ir::Value& v = m_state->analysis.program.value(value);
    return v.kind == ir::ValueKind::Tensor && (v.origin != ir::Origin::Op || m_state->wanted.contains(value));
}

base::Result<base::TensorView> UnsplitValues::value(ValueId value)
{
    const c10::InferenceMode inference;
    return catchAtBoundary([&] { return loader::toView(m_state->structure.value(value)); }, unsplitOutOfMemory);
}

base::Result<InputRow> UnsplitValues::inputRow(ir::SpaceId table, std::int64_t row)
{
    const c10::InferenceMode inference;
    return catchAtBoundary([&] { return executor::inputRow(m_state->structure, m_state->analysis, table, row); },
                           unsplitOutOfMemory);
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
