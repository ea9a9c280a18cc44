#include <algorithm>
#include <cstring>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "executor/loop/table_stream.h"
#include "graph/safetensors.h"
#include "model_runs.h"

namespace hopscope::tests {

namespace {

struct Streamed {
    std::map<std::string, at::Tensor> outputs;
    std::int64_t windows = 0, bytes = 0;
    std::int64_t firstWrites = 0, lastReads = 0;  // bytes of the first stage's results; of files, by the last one
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
    made.firstWrites = report->stages.front().bytes.d2h;
    made.lastReads = report->stages.back().fileBytes;
    for (const executor::StoredTensor& o : report->outputs) made.outputs[o.name] = loader::toTensor(o.tensor).clone();
    return made;
}

bool onDisk(const base::TensorMap& data)
{
    return std::ranges::all_of(data, [](const auto& in) { return graph::fileBehind(in.second.data).has_value(); });
}

// nullopt, with a message, where there is no disk.
std::optional<Prepared> sageOnDisk()
{
    auto p = prepare(models(), "sage", base::Strategy::Depth);
    REQUIRE(p.has_value());
    if (onDisk(p->data)) return std::move(*p);
    MESSAGE("skipped: the folder for temporary files is in memory");
    return std::nullopt;
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
        for (const auto strategy : base::rules) {
            CAPTURE(name);
            const auto p = prepare(models(), name, strategy);
            REQUIRE(p.has_value());
            if (!onDisk(p->data)) {
                MESSAGE("skipped: the folder for temporary files is in memory");
                return;
            }
            const Streamed usual = runFromDisk(*p, p->data, std::nullopt, 2);
            CHECK(usual.windows == 0);
            for (const std::int64_t memory : {1, 700, 1500, 4000, 9000, 16000})
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
        const graph::RowSet left = kept.arrange(wanted, file.rowBytes);
        CHECK((left.count() > 0) == missing);
        const auto put = [&](std::int64_t first, std::int64_t end, const std::byte* from) {
            kept.put(first, end, from);
        };
        const std::int64_t read = executor::readRows(file, left, {}, put);
        CHECK((read > 0) == missing);
        const at::Tensor found = executor::rowsAt(kept.data(), wanted->count(), table);
        CHECK(at::equal(found, table.index_select(0, at::tensor(numbers, at::kLong))));
        CHECK(kept.arrange(wanted, file.rowBytes).count() == 0);
        CHECK(at::equal(found, table.index_select(0, at::tensor(numbers, at::kLong))));
    }
}

TEST_CASE("with less memory there are more windows and more is read; with enough there are none")
{
    const std::optional<Prepared> p = sageOnDisk();
    if (!p) return;
    const Streamed least = runFromDisk(*p, p->data, 1, 2), some = runFromDisk(*p, p->data, 1000, 2),
                   all = runFromDisk(*p, p->data, 1 << 20, 2);
    CHECK(least.windows == 18);  // each tile of 41 nodes in fives, in two stages
    CHECK(some.windows < least.windows);
    CHECK(some.windows >= 2);
    CHECK(some.bytes < least.bytes);
    CHECK(all.windows == 0);
    CHECK(all.bytes == 0);
}

TEST_CASE("rows that are handed on are those that were written, apart by who reads them")
{
    constexpr std::int64_t rows = 60'000, width = 100, piece = 700;
    const at::Tensor table = at::randn({rows, width});
    std::mt19937 random(11);
    for (const bool own : {true, false})
        for (const std::int64_t first : {std::int64_t{0}, std::int64_t{20'300}, rows - 1}) {
            const auto asked = std::make_shared<graph::RowSet>(rows);
            for (std::int64_t row = 0; row < rows; ++row)
                if (random() % 3 == 0) asked->add(row);
            asked->number();
            // Of another memory, whose content does not matter.
            const auto spare = std::make_shared<graph::SparePages>();
            const graph::PageMemory before = executor::unwrap(graph::PageMemory::allocate(20 << 20));
            std::memset(before.data(), 7, static_cast<std::size_t>(before.size()));
            CHECK(spare->give(before, 0, before.size()) > 0);
            auto others = std::make_shared<const graph::RowSet>(graph::RowSet::range(rows, 0, rows).without(*asked));
            executor::HandedRows handed(
                {.asked = asked, .own = own ? others : nullptr, .first = first, .rowBytes = width * 4}, 0, spare);
            std::vector<std::int64_t> pieces;
            for (std::int64_t at = first / piece * piece; at < rows; at += piece) pieces.push_back(at);
            std::shuffle(pieces.begin(), pieces.end(), random);
            for (const std::int64_t at : pieces) {
                CHECK_FALSE(handed.complete());
                const at::Tensor part = table.narrow(0, at, std::min(piece, rows - at));
                handed.put(at, part.size(0), static_cast<const std::byte*>(part.const_data_ptr()));
            }
            CHECK(handed.complete());
            executor::KeptRows kept = handed.takeAsked();
            const graph::RowSet missing = kept.arrange(asked, width * 4);
            CHECK(missing.count() == asked->countIn(0, first));
            std::optional<executor::KeptRows> keptOthers = handed.takeOwn();
            CHECK(keptOthers.has_value() == own);
            at::Tensor found = at::full({rows - first, width}, 0.5F);
            auto* const to = static_cast<std::byte*>(found.mutable_data_ptr());
            kept.take(first, rows, to);
            if (keptOthers) keptOthers->take(first, rows, to);
            for (std::int64_t row = first; row < rows; row += 97) {
                const bool there = own || asked->has(row);
                const at::Tensor expected = there ? table[row] : at::full({width}, 0.5F);
                CHECK(at::equal(found[row - first], expected));
            }
        }
}

// Each destination reads its own row, so that without it no stage would read less than the one before has written.
TEST_CASE("what the next loop reads stays in memory as far as there is room")
{
    const std::optional<Prepared> p = sageOnDisk();
    if (!p) return;
    const Streamed usual = runFromDisk(*p, p->data, std::nullopt, 2);
    bool less = false;
    for (std::int64_t memory = 1000; memory < 4000; memory += 100) {
        CAPTURE(memory);
        const Streamed streamed = runFromDisk(*p, p->data, memory, 2);
        checkSame(usual, streamed);
        less = less || (streamed.windows == 2 && streamed.lastReads < streamed.firstWrites);
    }
    CHECK(less);
}

}  // namespace hopscope::tests
