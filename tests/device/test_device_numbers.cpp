// Copies to a GPU, and row numbers of the host, where tables and adjacencies are resident.

#include <functional>
#include <numeric>
#include <set>

#include <doctest/doctest.h>

#include "device_runs.h"
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

// The values whose rows are gathered along edges.
std::set<ir::ValueId> gathered(const analysis::Analysis& a)
{
    std::set<ir::ValueId> values;
    for (const ir::Op& op : a.program.ops)
        ir::forEachOperand(op, [&](ir::Slot slot, ir::ValueId v) {
            if (a.info(op.id).kind != analysis::OpKind::Gather || a.info(op.id).use(slot).use != analysis::Use::Source)
                return;
            const ir::ValueId base = viewed(a, v);
            if (a.program.value(base).origin == ir::Origin::Op && !a.info(base).structureOnly) values.insert(base);
        });
    return values;
}

// With a store for all that is gathered, and everything resident that a GPU can keep.
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

constexpr std::int64_t pieceBytes = sizeof(kernels::HubPiece);

struct Edges {
    std::int64_t count = 0, pieces = 0;  // of the destinations with many edges
};

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

// What both layers of a convolution derive from the graph alone, and copy once.
struct Layer {
    std::string name;
    bool selfLoops = false;  // each node has one
    int edgeValues = 0;      // numbers for each edge: weights
    int nodeValues = 0;      // numbers for each node: degrees, for means and scalers
};

const std::vector<Layer> layers{{"sage", false, 0, 1}, {"gcn", true, 1, 0},          {"gat", true, 0, 0},
                                {"gatv2", true, 0, 0}, {"transformer", false, 0, 0}, {"resgated", false, 0, 1},
                                {"gine", false, 0, 0}, {"pna", false, 0, 2}};

}  // namespace

TEST_CASE_FIXTURE(Device, "Where all is resident, the host numbers nothing and copies everything once")
{
    for (const Layer& layer : layers)
        for (const std::int64_t batch : {0, 60}) {
            CAPTURE(layer.name);
            CAPTURE(batch);
            const Subject s = resident(convolution(layer.name));
            CHECK(s.plan.residentStructure);
            fake_device::resetCounts();
            const Attempt result = attempt(s, onGpu(batch));
            CHECK(result.unlessRight() == "");
            CHECK(result.report.rowNumbers == 0);
            const std::int64_t nodes = s.inputs.at("x").shape[0];
            const Edges edges = countEdges(s.inputs, layer.selfLoops);
            const std::int64_t least = valueBytes(s) + (nodes + 1) * 4 + edges.count * 4 + edges.pieces * pieceBytes +
                                       layer.edgeValues * edges.count * 4 + layer.nodeValues * nodes * 4;
            CHECK(static_cast<double>(fake_device::counts().bytesUp) ==
                  doctest::Approx(static_cast<double>(least)).epsilon(0.01));
        }
}

// Both convolutions of PNA multiply rows of edges by a matrix: these products have a row for each edge of a batch.
TEST_CASE_FIXTURE(Device, "Where all is resident, convolutions make no rows of features for edges, in a few launches")
{
    constexpr std::int64_t convolutions = 2, mostLaunches = 4;
    for (const Layer& layer : layers) {
        if (layer.name == "pna") continue;
        CAPTURE(layer.name);
        const Subject s = resident(convolution(layer.name));
        const base::TensorView& x = s.inputs.at("x");
        CHECK(attempt(s, onGpu(0)).unlessRight() == "");  // allocates what LibTorch keeps
        fake_device::resetCounts();
        CHECK(attempt(s, onGpu(0)).unlessRight() == "");
        const auto input = s.inputs.find("edge_attr");
        const std::int64_t onEdges = input == s.inputs.end() ? 0 : input->second.bytes();
        CHECK(fake_device::counts().largest <= std::max(4 * x.bytes() - 1, onEdges));
        CHECK(fake_device::counts().segments <= convolutions * mostLaunches);
        if (layer.name != "gatv2") continue;
        executor::Options apart = onGpu(0);
        apart.fuse = {};
        CHECK(attempt(s, apart).unlessRight() == "");
        CHECK(fake_device::counts().largest > 4 * x.bytes());
    }
}

TEST_CASE_FIXTURE(Device, "Numbers are right whatever is resident, with row numbers of the host as well")
{
    for (const Layer& layer : layers) {
        CAPTURE(layer.name);
        Subject s = resident(convolution(layer.name));
        CHECK(attempt(s, onGpu(60)).unlessRight() == "");
        s.plan.residentStructure = false;
        fake_device::resetCounts();
        const Attempt numbered = attempt(s, onGpu(60));
        CHECK(numbered.unlessRight() == "");
        CHECK(numbered.report.rowNumbers > 0);
        s.plan.resident.clear();
        CHECK(attempt(s, onGpu(60)).unlessRight() == "");
    }
}

}  // namespace hopscope::device_tests
