#include <algorithm>
#include <atomic>
#include <limits>
#include <set>

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <doctest/doctest.h>

#include "executor/memory.h"
#include "executor/structure/same_values.h"
#include "model_runs.h"
#include "noted_chunks.h"

namespace hopscope::tests {

namespace {

executor::Options inTiles(std::int64_t rows, int threads)
{
    executor::Options options;
    options.tile = rows;
    options.threads = threads;
    return options;
}

Prepared prepared(const char* name)
{
    auto made = prepare(models(), name, base::Strategy::Depth);
    REQUIRE_MESSAGE(made.has_value(), (made ? std::string() : base::describe(made.error())));
    return std::move(*made);
}

void checkClose(const std::map<std::string, at::Tensor>& staged, const std::map<std::string, at::Tensor>& whole)
{
    for (const auto& [name, reference] : whole) {
        CAPTURE(name);
        CHECK(at::allclose(staged.at(name), reference, 1e-4, 1e-5, true));
    }
}

// Forwards to the allocator that was there, and fails once.
class FailingOnce final : public c10::Allocator {
public:
    explicit FailingOnce(c10::Allocator& inner) : m_inner(inner) {}

    c10::DataPtr allocate(std::size_t bytes) override
    {
        if (m_left > 0 && --m_left == 0) C10_THROW_ERROR(OutOfMemoryError, "no memory for a test");
        return m_inner.allocate(bytes);
    }
    c10::DeleterFnPtr raw_deleter() const override { return m_inner.raw_deleter(); }
    void copy_data(void* to, const void* from, std::size_t bytes) const override { m_inner.copy_data(to, from, bytes); }

    // The allocation after so many others; 0: none.
    void failAfter(std::int64_t allocations) { m_left = allocations; }

private:
    c10::Allocator& m_inner;
    std::atomic<std::int64_t> m_left = 0;
};

FailingOnce& failingOnce()
{
    executor::installCpuAllocator();
    static FailingOnce& allocator = *new FailingOnce(*c10::GetCPUAllocator());
    static const bool installed = (c10::SetCPUAllocator(&allocator, std::numeric_limits<std::uint8_t>::max()), true);
    REQUIRE(installed);
    return allocator;
}

// nullopt if there was no memory for the test's own copy of the results.
std::optional<base::Result<Outcome>> runWithFailure(const Prepared& p, std::int64_t allocations)
{
    FailingOnce& allocator = failingOnce();
    std::optional<base::Result<Outcome>> outcome;
    allocator.failAfter(allocations);
    try {
        outcome = runStaged(p, inTiles(5, 2));
    } catch (const c10::OutOfMemoryError&) {
        outcome.reset();
    }
    allocator.failAfter(0);
    return outcome;
}

struct Progress : executor::Observer {
    void batchFinished(const executor::BatchEvent& e) override
    {
        CHECK(e.batch == next++);
        destinations += e.destinations;
        CHECK(e.done <= e.total);
    }
    void stageStarted(const executor::StageEvent&) override { next = 0; }
    std::int64_t next = 0, destinations = 0;
};

// Operators that the report of a stage has times of, alone or in a pass with others.
std::set<ir::OpId> measured(const executor::StageReport& stage)
{
    std::set<ir::OpId> ops;
    for (const executor::OperatorTime& time : stage.operators) {
        if (time.op.valid()) ops.insert(time.op);
        ops.insert(time.fused.begin(), time.fused.end());
    }
    return ops;
}

std::set<ir::OpId> planned(const plan::Stage& stage)
{
    std::set<ir::OpId> ops;
    for (const plan::Loop& loop : stage.loops)
        for (const auto* const list : {&loop.steps, &loop.reductions})
            for (const plan::Step& step : *list) ops.insert(step.op);
    return ops;
}

void checkTimes(const Prepared& p, const executor::RunReport& report)
{
    for (std::size_t s = 0; s < report.stages.size(); ++s) {
        const executor::StageReport& stage = report.stages[s];
        const std::set<ir::OpId> ran = measured(stage), steps = planned(p.plan.stages[s]);
        // What follows from the structure alone may be made again on the rows of a batch.
        for (const ir::OpId op : ran) CHECK((steps.contains(op) || p.analysis.info(op).structureOnly));
        for (const ir::OpId op : steps)
            if (p.analysis.info(op).kind == analysis::OpKind::Aggregate) CHECK(ran.contains(op));
        double sum = 0;
        for (const executor::OperatorTime& time : stage.operators) sum += time.seconds;
        CHECK(sum > 0);
        CHECK(sum <= stage.seconds);
    }
}

}  // namespace

TEST_CASE("operators are measured one by one, those of a pass over the edges together")
{
    for (const char* const name : {"sage", "gcn", "gat", "reduced", "normed", "edges"}) {
        CAPTURE(name);
        const Prepared p = prepared(name);
        executor::Options batches;
        batches.batch = 7;
        batches.threads = 1;
        for (const executor::Options& options : {inTiles(5, 1), batches}) {
            const auto staged = runStaged(p, options);
            REQUIRE(staged.has_value());
            checkTimes(p, staged->report);
        }
    }
}

TEST_CASE("the result of an operator counts with the bytes of the largest batch")
{
    const Prepared p = prepared("sage");
    const auto staged = runStaged(p, inTiles(10, 1));
    REQUIRE(staged.has_value());
    const at::Tensor& out = staged->outputs.begin()->second;
    const ir::OpId last = p.analysis.program.value(p.analysis.program.outputs.front().value).producer;
    const auto& times = staged->report.stages.back().operators;
    const auto found = std::ranges::find(times, last, &executor::OperatorTime::op);
    REQUIRE(found != times.end());
    CHECK(found->bytes == 10 * out.size(1) * static_cast<std::int64_t>(out.element_size()));
}

TEST_CASE("tiles give the same bits on any number of threads, and what forward gives")
{
    for (const char* const name : {"sage", "gcn", "gat", "reduced", "normed", "readout", "edges", "sparse", "wide"}) {
        CAPTURE(name);
        const Prepared p = prepared(name);
        const auto whole = forward(p);
        const auto alone = runStaged(p, inTiles(5, 1));
        REQUIRE(alone.has_value());
        checkClose(alone->outputs, whole);
        for (const int threads : {2, 3}) {
            const auto together = runStaged(p, inTiles(5, threads));
            REQUIRE(together.has_value());
            for (const auto& [output, tensor] : alone->outputs) CHECK(at::equal(together->outputs.at(output), tensor));
        }
    }
}

TEST_CASE("a loop without a frontier is cut into tiles, each of which is counted")
{
    Prepared p = prepared("sage");
    const TemporaryFolder folder;
    executor::Options options = inTiles(10, 2);
    options.folder = folder.path;
    Progress progress;
    const auto report = executor::run(p.walk, p.analysis, p.plan, p.data, options, progress, {});
    REQUIRE(report.has_value());
    const auto& first = report->stages.front();
    CHECK(first.batches == 5);  // 41 nodes in tens
    CHECK(first.smallestBatch == 1);
    CHECK(first.largestBatch == 10);
    CHECK(first.frontierRows == 0);
    std::int64_t all = 0;
    for (const executor::StageReport& s : report->stages) all += s.destinations;
    CHECK(progress.destinations == all);
}

TEST_CASE("tiles of a run that goes on lie between the same nodes as those of a run from the start")
{
    const Prepared p = prepared("sage");
    const TemporaryFolder folder;
    executor::Observer silent;
    executor::Options batches, tiles = inTiles(5, 2);
    batches.batch = 7;
    NotedChunks before, after;
    for (auto& [options, journal] : {std::pair(&batches, &before), std::pair(&tiles, &after)}) {
        options->folder = folder.path;
        options->journal = journal;
    }
    REQUIRE(executor::run(p.walk, p.analysis, p.plan, p.data, batches, silent, {}).has_value());
    after.finished = {before.chunks.front()};
    const auto report = executor::run(p.walk, p.analysis, p.plan, p.data, tiles, silent, {});
    REQUIRE(report.has_value());
    REQUIRE(report->stages.front().destinations == 41);
    const executor::Chunk& first = after.chunks.front();
    CHECK(std::pair(first.first, first.count) == std::pair<std::int64_t, std::int64_t>(7, 3));
    for (std::size_t c = 1; c < after.chunks.size(); ++c) CHECK(after.chunks[c].first % 5 == 0);
    for (const executor::StoredTensor& o : report->outputs)
        CHECK(at::allclose(loader::toTensor(o.tensor), forward(p).at(o.name), 1e-4, 1e-5));
}

TEST_CASE("a tile that runs out of memory is computed again")
{
    int again = 0;
    for (const char* const name : {"sage", "normed"}) {
        const Prepared p = prepared(name);
        const auto whole = forward(p);
        for (std::int64_t allocations = 1; allocations < 400; allocations += 9) {
            CAPTURE(name);
            CAPTURE(allocations);
            const auto staged = runWithFailure(p, allocations);
            if (!staged) continue;
            if (!*staged) {
                CHECK(staged->error().code == base::ErrorCode::Resources);
                continue;
            }
            for (const executor::StageReport& s : (*staged)->report.stages) again += s.backOffs;
            checkClose((*staged)->outputs, whole);
        }
    }
    CHECK(again > 10);
}

TEST_CASE("layers that derive the same values from the edges share them")
{
    const Prepared p = prepared("gcn");
    const executor::SameValues same(p.analysis);
    int shared = 0;
    for (const ir::Value& v : p.analysis.program.values) {
        const ir::ValueId first = same.first(v.id);
        if (first == v.id) continue;
        ++shared;
        CHECK(same.first(first) == first);
        CHECK(p.analysis.info(v.id).structureOnly);
        CHECK(p.analysis.program.value(first).dtype == v.dtype);
        CHECK(p.analysis.program.value(first).shape == v.shape);
    }
    CHECK(shared > 0);
}

namespace {

executor::Options ordered(base::Reorder order, bool drop)
{
    executor::Options options = inTiles(16, 2);
    options.reorder = order;
    options.dropStores = drop;
    return options;
}

// Where the run says so, as for sums over all nodes, last bits may differ.
void checkSame(const at::Tensor& arranged, const at::Tensor& plain, bool rounds)
{
    CHECK(at::allclose(arranged, plain, 1e-4, 1e-5, true));
    CHECK((rounds || at::equal(arranged, plain)));
}

void checkOrder(const std::string& name, const Prepared& p, base::Reorder order, bool drop)
{
    const auto plain = runStaged(p, ordered(base::Reorder::None, drop)), arranged = runStaged(p, ordered(order, drop));
    REQUIRE((plain.has_value() && arranged.has_value()));
    REQUIRE(!arranged->report.orders.empty());
    CHECK(arranged->report.orders[0].used == order);
    // Products of so few columns round by where a row lies in its tile.
    const bool small = name.starts_with("sage") || name == "overwritten";
    const bool rounds = small || arranged->report.orders[0].reason.find("last bits") != std::string::npos;
    for (const auto& [output, tensor] : plain->outputs) checkSame(arranged->outputs.at(output), tensor, rounds);
    REQUIRE(arranged->report.checkpoints.size() == plain->report.checkpoints.size());
    if (name == "hops") CHECK(plain->report.checkpoints.empty() == drop);
    for (std::size_t c = 0; c < plain->report.checkpoints.size(); ++c)
        checkSame(loader::toTensor(arranged->report.checkpoints[c].tensor),
                  loader::toTensor(plain->report.checkpoints[c].tensor), rounds);
}

}  // namespace

TEST_CASE("in another order of the nodes results and checkpoints are the same, in the order of the input")
{
    for (const char* const name : {"hops", "sage", "sage_scripted", "gcn", "gat", "edges", "sparse", "wide",
                                   "overwritten", "reduced", "normed"}) {
        const Prepared p = prepared(name);
        for (const base::Reorder order : {base::Reorder::Community, base::Reorder::Degree, base::Reorder::Rcm})
            for (const bool drop : {false, true}) {
                CAPTURE(std::string(name));
                CAPTURE(static_cast<int>(order));
                CAPTURE(drop);
                checkOrder(name, p, order, drop);
            }
    }
}

}  // namespace hopscope::tests
