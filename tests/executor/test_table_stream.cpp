#include <fstream>
#include <numeric>
#include <random>

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "executor/table_stream.h"
#include "graph/safetensors.h"
#include "model_runs.h"

namespace hopscope::tests {

namespace {

struct Streamed {
    std::map<std::string, at::Tensor> outputs;
    std::int64_t windows = 0, bytes = 0;
};

// From files on a disk: those of a file system in memory are there anyway. Products round by where their operands lie, so
// that all runs read the same files.
Streamed runFromDisk(const Prepared& p, const base::TensorMap& data, std::optional<std::int64_t> memory, int threads)
{
    const TemporaryFolder folder;
    executor::Options options;
    options.tile = 5;
    options.threads = threads;
    options.folder = folder.path;
    options.tableMemory = memory;
    executor::Observer silent;
    const auto report = executor::run(p.walk, p.analysis, p.plan, data, options, silent, {});
    REQUIRE_MESSAGE(report.has_value(), (report ? std::string() : base::describe(report.error())));
    Streamed made;
    for (const executor::StageReport& s : report->stages) made.windows += s.windows, made.bytes += s.fileBytes;
    for (const executor::StoredTensor& o : report->outputs) made.outputs[o.name] = loader::toTensor(o.tensor).clone();
    return made;
}

bool onDisk(const base::TensorMap& data)
{
    return std::ranges::all_of(data, [](const auto& in) { return graph::fileBehind(in.second.data).has_value(); });
}

void checkSame(const Streamed& usual, const Streamed& streamed)
{
    for (const auto& [output, tensor] : usual.outputs) {
        CAPTURE(output);
        CHECK(at::allclose(streamed.outputs.at(output), tensor, 0, 0, true));
    }
}

}  // namespace

TEST_CASE("loops in windows give the same bits, however little memory there is for tables")
{
    int streamedModels = 0;
    for (const char* const name : {"sage", "gcn", "gat", "gated", "several", "reduced", "normed", "edges", "sparse",
                                   "wide", "hetero", "softmaxed_weights"})
        for (const auto strategy : {base::Strategy::Depth, base::Strategy::SourceRule}) {
            CAPTURE(name);
            const auto p = prepare(models(), name, strategy);
            REQUIRE(p.has_value());
            if (!onDisk(p->data)) {
                MESSAGE("skipped: the folder for temporary files is in memory");
                return;
            }
            const Streamed usual = runFromDisk(*p, p->data, std::nullopt, 2);
            CHECK(usual.windows == 0);
            for (const std::int64_t memory : {1, 700, 1500})
                for (const int threads : {1, 3}) {
                    CAPTURE(memory);
                    const Streamed streamed = runFromDisk(*p, p->data, memory, threads);
                    checkSame(usual, streamed);
                    if (memory == 1) streamedModels += streamed.windows > 0;
                }
        }
    CHECK(streamedModels >= 28);  // of 48: the other loops are not computed in tiles
}

TEST_CASE("rows that are in memory from the window before are moved, and only the others are read")
{
    constexpr std::int64_t rows = 5000, width = 300;  // numbers in a row
    const TemporaryFolder folder;
    const at::Tensor table = at::randn({rows, width});
    std::ofstream(folder.path + "/table").write(static_cast<const char*>(table.const_data_ptr()), table.nbytes());
    const executor::FileTable file{.value = ir::ValueId(0),
                                   .mapped = table,
                                   .file = executor::unwrap(graph::DirectFile::open(folder.path + "/table")),
                                   .offset = 0,
                                   .rowBytes = width * 4};
    executor::KeptRows kept(static_cast<std::int64_t>(table.nbytes()));
    std::mt19937 random(7);
    std::vector<bool> there(rows);
    for (const unsigned among : {2, 7, 1, 3, 50, 2}) {  // one row of so many
        const auto wanted = std::make_shared<graph::RowSet>(rows);
        std::vector<std::int64_t> numbers;
        for (std::int64_t row = 0; row < rows; ++row)
            if (random() % among == 0) wanted->add(row), numbers.push_back(row);
        const bool missing =
            std::ranges::any_of(numbers, [&](std::int64_t row) { return !there[static_cast<std::size_t>(row)]; });
        for (std::int64_t row = 0; row < rows; ++row) there[static_cast<std::size_t>(row)] = wanted->has(row);
        wanted->number();
        std::int64_t read = 0;
        const at::Tensor found = kept.change(file, wanted, read, {});
        CHECK(at::equal(found, table.index_select(0, at::tensor(numbers, at::kLong))));
        CHECK((read > 0) == missing);
        std::int64_t again = 0;
        CHECK(at::equal(kept.change(file, wanted, again, {}), found));
        CHECK(again == 0);
    }
}

TEST_CASE("with less memory there are more windows and more is read; with enough there are none")
{
    const auto p = prepare(models(), "sage", base::Strategy::Depth);
    REQUIRE(p.has_value());
    if (!onDisk(p->data)) {
        MESSAGE("skipped: the folder for temporary files is in memory");
        return;
    }
    const Streamed least = runFromDisk(*p, p->data, 1, 2), some = runFromDisk(*p, p->data, 1000, 2),
                   all = runFromDisk(*p, p->data, 1 << 20, 2);
    CHECK(least.windows == 18);  // each tile of 41 nodes in fives, in two stages
    CHECK(some.windows < least.windows);
    CHECK(some.windows >= 2);
    CHECK(some.bytes < least.bytes);
    CHECK(all.windows == 0);
    CHECK(all.bytes == 0);
}

}  // namespace hopscope::tests
