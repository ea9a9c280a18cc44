// Copies to a GPU, and row numbers of the host, where tables and adjacencies are resident.

#include <cstdlib>
#include <functional>
#include <numeric>
#include <set>

#include <doctest/doctest.h>

#include "device_runs.h"
#include "pipeline/machine/machine.h"
#include "pipeline/planning/planner.h"
#include "placement/strategy.h"
#include "support/temporary_folder.h"

namespace hopscope::device_tests {

namespace {

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

namespace {

// A model as the engine plans it on a GPU.
class Planned {
public:
    explicit Planned(const Subject& s)
        : m_prepared{.model = loader::Model(nullptr),
                     .inputs = s.inputs,
                     .schema = s.prepared.schema,
                     .sample = {},
                     .walk = s.prepared.walk,
                     .analysis = s.prepared.analysis,
                     .sizes = {},
                     .hashes = {},
                     .dataArguments = {},
                     .files = {},
                     .notes = {}},
          m_predictor(m_prepared.walk, m_prepared.analysis, m_prepared.inputs, m_folder.path)
    {}

    plan::Plan byDefault()
    {
        pipeline::PlanRequest request;
        request.device = "cuda:0";
        auto answer = pipeline::planFor(m_prepared, m_predictor, request, {}, {});
        REQUIRE_MESSAGE(answer.has_value(), base::describe(answer.error()));
        return std::move(answer->plan);
    }

    // The optimum for the prices of a device on which nothing stays; what can stay does so all the same.
    plan::Plan asIfNothingStayed()
    {
        auto depth = placement::makePlan(m_prepared.analysis, base::Strategy::Depth);
        REQUIRE(depth.has_value());
        depth->device = "cuda:0";
        const auto rows = m_predictor.countRows(*depth, {}, {});
        REQUIRE(rows.has_value());
        const placement::CostModel costs(m_prepared.analysis, base::Objective::Time, pipeline::machineFor("cuda:0"),
                                         *rows);
        auto optimum = placement::optimise(m_prepared.analysis, costs, {}, {});
        REQUIRE(optimum.has_value());
        optimum->plan.device = "cuda:0";
        auto kept = m_predictor.keepOnDevice(std::move(optimum->plan), {}, {});
        REQUIRE(kept.has_value());
        return std::move(*kept);
    }

    double seconds(const plan::Plan& plan)
    {
        const auto forecast = pipeline::forecastOf(m_prepared, m_predictor, plan, {}, {});
        REQUIRE(forecast.has_value());
        return forecast->seconds();
    }

private:
    pipeline::Prepared m_prepared;
    test::TemporaryFolder m_folder;
    forecast::Predictor m_predictor;
};

// The rates of a GPU on which stages and calls cost nothing, as they hardly do on a large graph.
class LargeGraph {
public:
    LargeGraph()
    {
        ::setenv("XDG_CACHE_HOME", m_folder.path.c_str(), 1);
        plan::Machine rates = plan::typicalMachine("cuda:0");
        rates.call = rates.batch = 1e-12;
        REQUIRE(pipeline::keepMachine({.rates = rates, .measured = true}).has_value());
    }
    ~LargeGraph() { ::unsetenv("XDG_CACHE_HOME"); }
    LargeGraph(const LargeGraph&) = delete;
    LargeGraph& operator=(const LargeGraph&) = delete;

private:
    test::TemporaryFolder m_folder;
};

// Views are free, and need no numbers.
bool computesOnFrontiers(const analysis::Analysis& a, const plan::Plan& plan)
{
    const auto onFrontier = [&](const plan::Step& step) {
        return step.rows.kind == ir::RowKind::Frontier && !a.info(step.op).view;
    };
    return std::ranges::any_of(plan.stages, [&](const plan::Stage& stage) {
        return std::ranges::any_of(stage.loops,
                                   [&](const plan::Loop& loop) { return std::ranges::any_of(loop.steps, onFrontier); });
    });
}

}  // namespace

TEST_CASE_FIXTURE(Device, "The default plan of a GPU computes nothing on frontiers and numbers nothing")
{
    const LargeGraph rates;
    for (const Layer& layer : layers) {
        CAPTURE(layer.name);
        Subject s = convolution(layer.name);
        Planned planned(s);
        s.plan = planned.byDefault();
        CHECK_FALSE(computesOnFrontiers(s.prepared.analysis, s.plan));
        CHECK(s.plan.residentStructure);
        const Attempt result = attempt(s, onGpu(0));
        CHECK(result.unlessRight() == "");
        CHECK(result.report.rowNumbers == 0);
        const double now = planned.seconds(s.plan), before = planned.seconds(planned.asIfNothingStayed());
        MESSAGE(layer.name << ": " << now * 1e3 << " ms predicted, before " << before * 1e3);
        CHECK(now <= before * 1.001);
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
