#include "resident_layers.h"

#include <functional>
#include <numeric>
#include <set>

#include <doctest/doctest.h>

#include "placement/strategy.h"

namespace hopscope::device_tests {

namespace {

// The value whose elements a view shows.
ir::ValueId viewed(const analysis::Analysis& a, ir::ValueId value)
{
    const ir::Value& v = a.program.value(value);
    if (v.origin != ir::Origin::Op || !a.info(v.producer).view) return value;
    return viewed(a, *a.program.op(v.producer).args.at(0).value());
}

}  // namespace

std::set<ir::ValueId> gathered(const analysis::Analysis& a)
{
    std::set<ir::ValueId> values;
    for (const ir::Op& op : a.program.ops)
        ir::forEachOperand(op, [&](ir::Slot slot, ir::ValueId v) {
            const analysis::Use use = a.info(op.id).use(slot).use;
            const bool picked = a.info(op.id).kind == analysis::OpKind::Gather && use == analysis::Use::Source;
            if (!picked && use != analysis::Use::SparseSource) return;
            const ir::ValueId base = viewed(a, v);
            if (a.program.value(base).origin == ir::Origin::Op && !a.info(base).structureOnly) values.insert(base);
        });
    return values;
}

namespace {

// Of features and parameters.
std::int64_t valueBytes(const Subject& s)
{
    std::int64_t bytes = 0;
    for (const auto& [name, view] : s.inputs)
        if (name != "edge_index") bytes += view.bytes();
    for (const ir::Value& v : s.prepared.analysis.program.values)
        if (v.origin == ir::Origin::Parameter)
            bytes += std::accumulate(v.shape.begin(), v.shape.end(), std::int64_t{4}, std::multiplies<>());
    return bytes;
}

}  // namespace

Subject resident(const Subject& s)
{
    Subject kept = s;
    const std::set<ir::ValueId> stored = gathered(s.prepared.analysis);
    auto plan = placement::evaluate(s.prepared.analysis, stored, stored);
    REQUIRE(plan.has_value());
    plan->device = "cuda:0";
    plan = models::withResidents(s.prepared, std::move(*plan), s.inputs, 1000);
    REQUIRE(plan.has_value());
    kept.plan = std::move(*plan);
    return kept;
}

Edges countEdges(const base::TensorMap& inputs, bool selfLoops)
{
    const base::TensorView& edges = inputs.at("edge_index");
    const std::int64_t count = edges.shape[1];
    const auto* const ends = reinterpret_cast<const std::int64_t*>(edges.data);
    std::vector<std::int64_t> degrees(static_cast<std::size_t>(inputs.at("x").shape[0]), selfLoops ? 1 : 0);
    for (std::int64_t e = 0; e < count; ++e)
        if (!selfLoops || ends[e] != ends[count + e]) ++degrees[static_cast<std::size_t>(ends[count + e])];
    Edges all;
    for (const std::int64_t degree : degrees) {
        all.count += degree;
        if (degree > kernels::kPiece) all.pieces += (degree + kernels::kPiece - 1) / kernels::kPiece;
    }
    return all;
}

std::int64_t bytesUp(const Subject& s, const Layer& layer)
{
    constexpr std::int64_t number = 4, piece = sizeof(kernels::HubPiece);
    const std::int64_t nodes = s.inputs.at("x").shape[0];
    const Edges edges = countEdges(s.inputs, layer.selfLoops);
    const std::int64_t structure = (nodes + 1 + edges.count) * number + edges.pieces * piece;
    return valueBytes(s) + structure + (layer.edgeValues * edges.count + layer.nodeValues * nodes) * number;
}

}  // namespace hopscope::device_tests
